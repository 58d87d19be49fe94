/* breakdowns.h -- all of a breakdown as text, to be compared. */
#ifndef BREAKDOWNS_H
#define BREAKDOWNS_H
#include "support/rig.h"

static inline void put_breakdown_row(void *arg, const kb_breakdown_row *row)
{
    fprintf(arg, "%d %s %d %" PRIx64 " %" PRIx64 " %" PRIu64 " %" PRId64 " %" PRId64 "\n",
            (int)row->by, row->of, (int)row->cause, row->place, row->behind, row->count,
            row->sum_fs, row->all_fs);
}

static inline void put_breakdown_step(void *arg, const kb_breakdown_step *step)
{
    fprintf(arg, "step %u %u %" PRId64 " %" PRId64 ":", step->pe, step->id, step->begin_fs,
            step->end_fs);
    for (size_t i = 0; i < step->n_shares; i++)
        fprintf(arg, " %d %" PRIx64 " %" PRIu64 " %" PRId64 " %" PRId64 " %" PRIx64 " %u",
                (int)step->share[i].cause, step->share[i].place, step->share[i].count,
                step->share[i].sum_fs, step->share[i].longest_fs, step->share[i].behind,
                step->share[i].behind_id);
    fputc('\n', arg);
}

/* All rows and the critical path of `why`, which is freed. */
static inline char *breakdown_text(kb_breakdown *why)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    assert_non_null(f);
    assert_int_equal(kb_breakdown_rows(why, put_breakdown_row, f), KB_OK);
    assert_int_equal(kb_breakdown_path(why, put_breakdown_step, f), KB_OK);
    fclose(f);
    kb_breakdown_free(why);
    return text;
}

/* Fails with the first line in which two texts differ. */
static inline void assert_same_lines(uint64_t seed, const char *is, const char *should)
{
    size_t same = 0;

    if (strcmp(is, should) == 0)
        return;
    while (is[same] == should[same])
        same++;
    while (same > 0 && is[same - 1] != '\n')
        same--;
    fail_msg("seed %" PRIu64 ":\n%.*s\nnot\n%.*s", seed, (int)strcspn(is + same, "\n"), is + same,
             (int)strcspn(should + same, "\n"), should + same);
}

#endif
