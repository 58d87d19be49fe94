/* sums.h -- rows of causes, added up by plain means, and what kb_breakdown_rows() has to say then.
 */
#ifndef SUMS_H
#define SUMS_H
#include "tape.h"

enum { MOST_SUMS = 16384 };

struct sums {
    kb_breakdown_row row[MOST_SUMS]; /* `of` apart */
    char of[MOST_SUMS][KB_PLACE_BYTES];
    size_t n, told;
    const struct tape *tape;
    kb_breakdown_row last; /* told */
    char last_of[KB_PLACE_BYTES];
};

static inline void sums_begin(struct sums *s, const struct tape *tape)
{
    s->n = s->told = 0;
    s->tape = tape;
}

/* The row like `x`; s->n: there is none. */
static inline size_t sums_find(const struct sums *s, kb_breakdown_by by, const char *of,
                               const kb_breakdown_row *x)
{
    size_t i = 0;

    while (i < s->n &&
           (s->row[i].by != by || s->row[i].cause != x->cause || s->row[i].place != x->place ||
            s->row[i].behind != x->behind || strcmp(s->of[i], of) != 0))
        i++;
    return i;
}

/* Adds count and time of `x` to the row that is like it. */
static inline void sum(struct sums *s, kb_breakdown_by by, const char *of,
                       const kb_breakdown_row *x)
{
    size_t i = sums_find(s, by, of, x);

    if (i == s->n) {
        assert_true(s->n < MOST_SUMS);
        s->row[s->n++] =
            (kb_breakdown_row){.by = by, .cause = x->cause, .place = x->place, .behind = x->behind};
        strcpy(s->of[i], of);
    }
    s->row[i].count += x->count;
    s->row[i].sum_fs += x->sum_fs;
}

/* By what it is of, then the largest first. */
static inline void assert_order(struct sums *s, const kb_breakdown_row *row)
{
    const kb_breakdown_row *last = &s->last;

    if (s->told > 0) {
        assert_true(row->by >= last->by);
        assert_true(row->by > last->by || row->all_fs <= last->all_fs);
        if (row->by == last->by && strcmp(row->of, s->last_of) == 0)
            assert_true(row->sum_fs <= last->sum_fs && row->all_fs == last->all_fs);
    }
    s->last = *row;
    snprintf(s->last_of, sizeof s->last_of, "%.135s", row->of);
}

static inline void assert_row(void *arg, const kb_breakdown_row *row)
{
    struct sums *s = arg;
    int64_t all_fs = 0;
    size_t i = sums_find(s, row->by, row->of, row);

    assert_order(s, row);
    if (i == s->n || s->row[i].count != row->count || s->row[i].sum_fs != row->sum_fs)
        fail_msg("seed %" PRIu64 ": %s of %s: %" PRIu64 ", %" PRId64 " fs", s->tape->seed,
                 kb_cause_name(row->cause), row->of, row->count, row->sum_fs);
    for (size_t k = 0; k < s->n; k++)
        if (s->row[k].by == row->by && strcmp(s->of[k], row->of) == 0)
            all_fs += s->row[k].sum_fs;
    assert_true(row->all_fs == all_fs);
    s->told++;
}

/* `why` tells these rows, and no others. */
static inline void assert_rows(struct sums *s, kb_breakdown *why)
{
    assert_int_equal(kb_breakdown_rows(why, assert_row, s), KB_OK);
    assert_true(s->told == s->n);
}

#endif
