/* races.h -- what tests of races share: a run that is looked at, and what was found. */
#ifndef RACES_H
#define RACES_H
#include "kernels.h"

enum { RACES_MAX = 512 };

struct races {
    kb_race race[RACES_MAX];
    size_t n;
    kb_race_counts checked;
};

static inline void keep_race(void *arg, const kb_race *race)
{
    struct races *r = arg;

    assert_true(r->n < RACES_MAX);
    r->race[r->n++] = *race;
}

/* Of what has run. */
static inline struct races *races_of(const kb_sim *sim)
{
    struct races *r = calloc(1, sizeof *r);

    assert_non_null(r);
    assert_int_equal(kb_sim_races(sim, keep_race, r), KB_OK);
    assert_int_equal(kb_sim_race_counts(sim, &r->checked), KB_OK);
    assert_true(r->checked.races == r->n);
    return r;
}

/* A kernel on PEs 0..n-1 of cube8, twice launched if `again`; to be freed. */
static inline struct races *races_in(kb_kernel kernel, const void *user, size_t n, bool again,
                                     kb_engine engine)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){.engine = engine});
    kb_error why = {""};
    struct races *r;

    assert_int_equal(fill_slices(sim, &why), KB_OK);
    assert_int_equal(kb_sim_check_races(sim, &why), KB_OK);
    for (int i = 0; i <= again; i++)
        assert_int_equal(launch(sim, kernel, user, n, &why), KB_OK);
    run_launched(sim, 0);
    r = races_of(sim);
    kb_sim_free(sim);
    return r;
}

#endif
