/*
 * channel_queues.c -- how long the queues of channels were, found after a run from the times of
 * rows.
 *
 * Where rows wait in the lists of their channels (engine/inorder.h) nothing counts them: a row is
 * in its list before it is issued. But its times tell when it waited: from its issue to its start.
 * A channel serves in order of (issue, id), so starts do not fall. Two cursors go through its rows:
 * one at the row that is issued, one at the first that has not started by then; what lies between
 * them waits. Rows that are listed wait for no others, so all of them are in s->order, if there is
 * one.
 *
 * Example: one channel, service 18 ns, issues at 0, 10, 12. Starts are 0, 18, 36. At 12 the first
 * that has not started is the second row: two wait.
 */
#include "explain/channel_queues.h"
#include <stdlib.h>

struct rows {
    const struct kb_sim *sim;
    uint32_t *order; /* owned; those of each channel behind one another, in order of issue */
    uint32_t *end;   /* owned; [channel]: behind its last one */
};

static uint32_t channel_of(const struct txn *x)
{
    return 2 * x->src + txn_writes(x);
}

static size_t n_channels(const struct kb_sim *s)
{
    return (size_t)2 * sim_cubes(s->topo) << s->topo->pe_bits;
}

/* When it takes its channel; a row that waits still: never. */
static int64_t start_fs(const struct kb_sim *s, uint32_t row)
{
    const struct txn *x = &s->txns[row];

    return x->stage == TXN_WAITING ? INT64_MAX : x->issue_fs + x->wait_fs;
}

/* The rows of each channel, in order of issue: counted, then put into their places. */
static void group(struct rows *r)
{
    const struct kb_sim *s = r->sim;
    uint32_t sum = 0;

    for (uint32_t row = 0; row < s->n_txns; row++)
        if (!txn_of_host(&s->txns[row]))
            r->end[channel_of(&s->txns[row])]++;
    for (size_t i = 0; i < n_channels(s); i++) {
        uint32_t n = r->end[i];

        r->end[i] = sum;
        sum += n;
    }
    for (uint32_t i = 0; i < s->n_txns; i++) {
        uint32_t row = s->order ? s->order[i] : i;

        if (!txn_of_host(&s->txns[row]))
            r->order[r->end[channel_of(&s->txns[row])]++] = row;
    }
}

static uint32_t longest(const struct kb_sim *s, const uint32_t *rows, uint32_t n, int64_t now_fs)
{
    uint32_t first = 0, most = 0;

    for (uint32_t k = 0; k < n && s->txns[rows[k]].issue_fs <= now_fs; k++) {
        int64_t issue_fs = s->txns[rows[k]].issue_fs;

        while (first <= k && start_fs(s, rows[first]) <= issue_fs)
            first++;
        if (k + 1 - first > most)
            most = k + 1 - first;
    }
    return most;
}

static void count(struct kb_sim *s, struct rows *r, int64_t now_fs)
{
    uint32_t begin = 0;

    group(r);
    for (size_t i = 0; i < n_channels(s); begin = r->end[i++])
        s->channels[i].queue_max = longest(s, r->order + begin, r->end[i] - begin, now_fs);
}

bool channel_queues(struct kb_sim *s, int64_t now_fs)
{
    struct rows r = {s, calloc(s->n_txns + 1ul, sizeof *r.order),
                     calloc(n_channels(s), sizeof *r.end)};
    bool ok = r.order && r.end;

    if (ok)
        count(s, &r, now_fs);
    free(r.order);
    free(r.end);
    return ok;
}
