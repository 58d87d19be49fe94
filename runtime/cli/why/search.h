/* search.h -- `why --by key`: the machines that were tried, and what their runs took. */
#ifndef SEARCH_H
#define SEARCH_H
#include "cli/why/rerun.h"
#include "cli/why/series.h"

enum {
    CANDIDATES_MAX = 8,
    SET_MAX = CANDIDATES_MAX,
    NAME_BYTES = 64,
};

/* A key, or an item of one. */
struct number {
    char name[NAME_BYTES];
    double value, better_value;
    bool is_whole; /* takes whole numbers alone */
    struct series_key links;
};

/* A machine with some numbers better, and its run. The first is the machine as it is. */
struct variant {
    size_t numbers[SET_MAX]; /* ascending */
    size_t n;
    struct outcome outcome;
    char *mistake; /* owned: why there is no such machine, or no such run; NULL: there is */
};

struct search {
    struct rerun *rerun;
    const struct cli *cli;
    double factor;
    struct series series;
    kb_status looked;       /* at the utilization of the first run */
    struct number *numbers; /* owned */
    size_t n_numbers, numbers_room;
    struct variant *variants; /* owned; moves only between steps */
    size_t n_variants, variants_room;
    size_t begin;                 /* of the step that runs: its first variant */
    const struct outcome *failed; /* the run that ends the search; NULL: none */
    size_t n_given; /* variants whose runs are over: all before, if it was interrupted */
    size_t candidates[CANDIDATES_MAX];
    size_t n_candidates;
    bool whole; /* all pairs are run, not those of candidates only */
};

/* Prints what is known: all, or what was complete before Ctrl-C. */
void search_print(const struct search *s, struct sink *sink);

static inline uint64_t search_n_pairs(const struct search *s)
{
    return (uint64_t)s->n_numbers * (s->n_numbers - (s->n_numbers > 0)) / 2;
}

/* How many of these were run. */
uint64_t search_pairs_run(const struct search *s);

/* A sentence that says so, into `text`, which is returned. */
enum { SEARCH_PAIRS_BYTES = 256 };
const char *search_tell_pairs(const struct search *s, char text[SEARCH_PAIRS_BYTES]);

static inline int64_t search_judged_fs(const struct search *s, size_t v)
{
    return rerun_judged_fs(s->rerun, &s->variants[v].outcome);
}

static inline bool is_known(const struct search *s, size_t v)
{
    return s->variants[v].outcome.ended && !s->variants[v].mistake;
}

/* What a variant gains, in per cent of the time of the first run; of one that failed 0. */
static inline double gain_pct(const struct search *s, size_t v)
{
    int64_t before_fs = search_judged_fs(s, 0);

    if (!is_known(s, v) || before_fs == 0)
        return 0;
    return 100 * (double)(before_fs - search_judged_fs(s, v)) / (double)before_fs;
}

static inline double gain_alone(const struct search *s, size_t number)
{
    return gain_pct(s, 1 + number);
}

static inline bool variant_has(const struct variant *v, size_t number)
{
    for (size_t k = 0; k < v->n; k++)
        if (v->numbers[k] == number)
            return true;
    return false;
}

#endif
