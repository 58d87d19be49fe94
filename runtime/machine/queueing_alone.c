/*
 * queueing_alone.c -- a request alone in a queueing component, and what that sends to the memory
 * behind it: the same models, on an idle copy.
 *
 * Refreshes are left out, as in bank_alone.h.
 */
#include "machine/bank_behind.h"
#include "machine/bank_rules.h"
#include "machine/queueing.h"
#include <stdlib.h>
#include <string.h>

struct lonely {
    struct queueing q;
    const struct impl *impl;
    const struct cost_mask *m;
    const struct kb_request *asked;
    void *state;
    const struct memory_row *memory; /* behind it, */
    int64_t free_fs;                 /* which is free then; or with banks: */
    struct bank_view view;
    struct bank_channel *channels; /* owned; NULL until something comes to them */
    struct bank_pool pool;
};

/* -- banks behind it -------------------------------------------------------------------------- */

static bool make_channels(struct lonely *l)
{
    uint32_t n = bank_channels(l->view.row);
    size_t banks = bank_count(l->view.row);
    struct bank *rows = calloc(n * banks, sizeof *rows);

    bank_pool_begin(&l->pool);
    l->channels = calloc(n, sizeof *l->channels);
    if (!rows || !l->channels) {
        free(rows);
        free(l->channels);
        l->channels = NULL;
        return false;
    }
    for (uint32_t i = 0; i < n; i++)
        bank_begin_alone(&l->view, &l->channels[i], rows + i * banks);
    return true;
}

static void free_channels(struct lonely *l)
{
    if (!l->channels)
        return;
    free(l->channels->banks);
    free(l->channels);
    bank_pool_free(&l->pool);
}

/* The first instant at which a channel decides. */
static int64_t next_decision_fs(const struct lonely *l)
{
    int64_t next = BANK_NEVER_FS;

    for (uint32_t i = 0; l->channels && i < bank_channels(l->view.row); i++)
        next = l->channels[i].next_fs < next ? l->channels[i].next_fs : next;
    return next;
}

/* What has come to the banks is done at `t`: of the row of `slot` it is told, else that has ended.
 */
static void end_behind(struct lonely *l, bool passed, uint64_t id, int64_t t)
{
    if (!passed)
        queueing_ends(&l->q, id, t);
    else if (!queueing_append(&l->q.ends, (struct due){.t_fs = t, .id = id}))
        l->q.fault = QUEUEING_NO_MEMORY;
}

/* All channels that decide at `t` do. */
static void decide(struct lonely *l, int64_t t)
{
    struct bank_pool *pool = &l->pool;

    for (uint32_t i = 0; i < bank_channels(l->view.row); i++)
        if (l->channels[i].next_fs <= t)
            bank_decide(&l->view, &l->channels[i], pool, i, t, NULL);
    for (; pool->ended != BANK_NONE; pool->ended = pool->accesses[pool->ended].next)
        end_behind(l, pool->packets[pool->ended].slot == DUE_PASSED, pool->accesses[pool->ended].id,
                   pool->accesses[pool->ended].done_fs + cost_in_memory_fs(l->m, l->memory));
    if (pool->lost)
        l->q.fault = QUEUEING_NO_MEMORY;
}

/* Its pieces, of all channels. */
static void come_to_banks(struct lonely *l, const struct due *due, bool writes, uint64_t offset,
                          uint64_t bytes, int64_t drain)
{
    struct bank_range range = bank_range(l->view.row, offset, bytes);
    uint32_t row = BANK_NONE;

    if (l->channels || make_channels(l))
        row = bank_new_packet(&l->pool, l->view.row, range, writes);
    if (row == BANK_NONE) {
        l->q.fault = QUEUEING_NO_MEMORY;
        return;
    }
    l->pool.packets[row].slot = due->kind;
    l->pool.accesses[row].id = due->id;
    l->pool.accesses[row].drain_fs = drain;
    l->pool.accesses[row].arrive_fs = due->t_fs;
    for (uint32_t i = 0; i < bank_channels(l->view.row); i++) {
        uint64_t burst = bank_next(l->view.row, range.at, range.at, i);

        if (burst >= range.end)
            continue;
        if (l->pool.free_piece == BANK_NONE && !bank_more_pieces(&l->pool)) {
            l->q.fault = QUEUEING_NO_MEMORY;
            return;
        }
        bank_add_piece(&l->channels[i], &l->pool, row, burst);
        l->channels[i].next_fs = due->t_fs;
    }
}

/* -- what happens ----------------------------------------------------------------------------- */

/* A request comes to the memory behind. */
static void come_to_back(struct lonely *l, const struct due *due)
{
    const struct kb_request *r = l->asked;
    bool passed = due->kind == DUE_PASSED;
    uint64_t bytes = passed ? r->bytes : due->bytes;
    bool writes = passed ? r->op == KB_OP_WRITE || r->op == KB_OP_H2D : due->op == KB_OP_WRITE;
    int64_t drain = passed ? r->drain_fs : drain_fs(bytes, cost_own_gbs(l->m, l->memory));

    if (l->memory->behind == MEMORY_BANKS)
        come_to_banks(l, due, writes, passed ? r->offset : due->offset, bytes, drain);
    else
        end_behind(l, passed, due->id,
                   behind_done_fs(l->m, l->memory, &l->free_fs, bytes, drain, due->t_fs));
}

/* What is due, at its time; banks decide behind all else of theirs. */
static void go_on(struct lonely *l)
{
    int64_t t = next_decision_fs(l);
    struct due due;

    if (t < queueing_next_fs(&l->q)) {
        decide(l, t);
        return;
    }
    due = queueing_take(&l->q);
    l->q.now_fs = due.t_fs;
    if (due.kind == DUE_ENDED)
        l->impl->ended(l->state, due.id, due.t_fs, &l->q.h);
    else if (due.kind == DUE_WAKE)
        l->impl->wake(l->state, due.id, due.t_fs, &l->q.h);
    else
        come_to_back(l, &due);
}

static bool goes_on(const struct lonely *l)
{
    return !l->q.ends.n && !l->q.fault && (l->q.wakes.n || next_decision_fs(l) != BANK_NEVER_FS);
}

int64_t queueing_alone_fs(const struct impl *impl, const struct cost_mask *m,
                          const struct memory_row *memory, const struct bank_row *banks,
                          const struct kb_request *asked)
{
    _Alignas(16) unsigned char state[IMPL_BYTES_MAX];
    struct lonely l = {.impl = impl, .m = m, .asked = asked, .state = state, .memory = memory};
    int64_t end_fs = INT64_MAX;

    memset(state, 0, impl->bytes);
    impl->init(state);
    queueing_begin(&l.q);
    l.q.fronts = impl->ended;
    if (memory->behind == MEMORY_BANKS)
        l.view = bank_view_of(m, banks);
    l.view.routed = true;
    impl->arrive(state, asked, 0, &l.q.h);
    for (uint32_t i = 0; i < QUEUEING_WAKES_MAX && goes_on(&l); i++)
        go_on(&l);
    if (l.q.ends.n && !l.q.fault)
        end_fs = l.q.ends.rows[0].t_fs;
    queueing_free(&l.q);
    free_channels(&l);
    return end_fs;
}
