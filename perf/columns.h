/* columns.h -- the rows of a bench as columns, and the results of a run in columns. */
#ifndef BENCH_COLUMNS_H
#define BENCH_COLUMNS_H
#include "kernbench.h"
#include <stdbool.h>
#include <stdlib.h>

enum { COLUMNS_ENDS = 4096, COLUMNS_AT_ONCE = 1024 };

/* Requests as columns, made before anything is measured. All is owned. */
struct columns {
    kb_transaction_columns of;
    kb_endpoint *ends;
    uint32_t *src, *dst;
    uint64_t *nbytes;
    int64_t *issue_fs;
    uint8_t *op;
};

/* The endpoints of a SIP of at most 64 cubes with 16 units each have numbers of their own. */
static inline uint32_t columns_number(const kb_endpoint *end)
{
    return (uint32_t)end->kind % 4 << 10 | (end->cube % 64) << 4 | end->unit % 16;
}

static inline void columns_free(struct columns *c)
{
    free(c->ends);
    free(c->src);
    free(c->dst);
    free(c->nbytes);
    free(c->issue_fs);
    free(c->op);
}

static inline bool columns_new(const kb_transaction *rows, size_t n, struct columns *c)
{
    c->ends = calloc(COLUMNS_ENDS, sizeof *c->ends);
    c->src = calloc(n, sizeof *c->src);
    c->dst = calloc(n, sizeof *c->dst);
    c->nbytes = calloc(n, sizeof *c->nbytes);
    c->issue_fs = calloc(n, sizeof *c->issue_fs);
    c->op = calloc(n, sizeof *c->op);
    if (!c->ends || !c->src || !c->dst || !c->nbytes || !c->issue_fs || !c->op)
        return false;
    for (size_t i = 0; i < n; i++) {
        c->src[i] = columns_number(&rows[i].src);
        c->dst[i] = columns_number(&rows[i].dst);
        c->ends[c->src[i]] = rows[i].src;
        c->ends[c->dst[i]] = rows[i].dst;
        c->nbytes[i] = rows[i].nbytes;
        c->issue_fs[i] = rows[i].issue_fs;
        c->op[i] = (uint8_t)rows[i].op;
    }
    c->of = (kb_transaction_columns){.ends = c->ends,
                                     .n_ends = COLUMNS_ENDS,
                                     .src = c->src,
                                     .dst = c->dst,
                                     .nbytes = c->nbytes,
                                     .issue_fs = c->issue_fs,
                                     .op = c->op};
    return true;
}

/* Reads all times of all rows, so many at a time. */
static inline kb_status columns_read(const kb_sim *sim, size_t n)
{
    static int64_t room[sizeof(kb_result) / sizeof(int64_t)][COLUMNS_AT_ONCE];
    kb_result_columns all = {0};
    kb_status status = KB_OK;
    int64_t **to = &all.issue_fs;

    for (size_t i = 0; i < sizeof room / sizeof *room; i++)
        to[i] = room[i];
    for (size_t at = 0; status == KB_OK && at < n; at += COLUMNS_AT_ONCE)
        status = kb_sim_results(sim, at, n - at < COLUMNS_AT_ONCE ? n - at : COLUMNS_AT_ONCE, &all);
    return status;
}

#endif
