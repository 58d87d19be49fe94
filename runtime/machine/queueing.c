/* queueing.c -- the calls of a queueing component: kb_wake_at() and kb_done(). */
#include "machine/queueing.h"
#include <stdlib.h>

static bool comes_first(const struct due *a, const struct due *b)
{
    if (a->t_fs != b->t_fs)
        return a->t_fs < b->t_fs;
    return a->kind < b->kind || (a->kind == b->kind && a->id < b->id);
}

bool queueing_append(struct dues *d, struct due row)
{
    if (d->n == d->cap) {
        size_t cap = d->cap ? 2 * d->cap : 8;
        struct due *moved = realloc(d->rows, cap * sizeof *moved);

        if (!moved)
            return false;
        d->rows = moved;
        d->cap = cap;
    }
    d->rows[d->n++] = row;
    return true;
}

/* The last row goes up to its place in the heap. */
static void sift_up(struct dues *d)
{
    struct due row = d->rows[d->n - 1];
    size_t i = d->n - 1;

    for (; i > 0 && comes_first(&row, &d->rows[(i - 1) / 2]); i = (i - 1) / 2)
        d->rows[i] = d->rows[(i - 1) / 2];
    d->rows[i] = row;
}

/* The first row is taken: the last one goes down from its place. */
static void take_first(struct dues *d)
{
    struct due row = d->rows[--d->n];
    size_t i = 0, child;

    while ((child = 2 * i + 1) < d->n) {
        if (child + 1 < d->n && comes_first(&d->rows[child + 1], &d->rows[child]))
            child++;
        if (!comes_first(&d->rows[child], &row))
            break;
        d->rows[i] = d->rows[child];
        i = child;
    }
    d->rows[i] = row;
}

struct due queueing_take(struct queueing *q)
{
    struct due first = q->wakes.rows[0];

    do
        take_first(&q->wakes);
    while (first.kind == DUE_WAKE && q->wakes.n && !comes_first(&first, &q->wakes.rows[0]));
    return first;
}

/* Only the first fault is told. */
static void note(struct queueing *q, enum queueing_fault fault, uint64_t id, int64_t t_fs)
{
    if (q->fault != QUEUEING_OK)
        return;
    q->fault = fault;
    q->wrong = (struct due){.t_fs = t_fs, .id = id};
}

/* Into the heap. */
static void push(struct queueing *q, struct due row)
{
    if (queueing_append(&q->wakes, row))
        sift_up(&q->wakes);
    else
        note(q, QUEUEING_NO_MEMORY, row.id, row.t_fs);
}

static void wake_at(struct kb_handle *h, uint64_t id, int64_t t_fs)
{
    struct queueing *q = (struct queueing *)h;

    if (t_fs <= q->now_fs)
        note(q, QUEUEING_WAKE, id, t_fs);
    else if (t_fs == INT64_MAX)
        return; /* never */
    else
        push(q, (struct due){.t_fs = t_fs, .id = id, .kind = DUE_WAKE});
}

static void done(struct kb_handle *h, uint64_t id, int64_t t_fs)
{
    struct queueing *q = (struct queueing *)h;

    if (t_fs <= q->now_fs)
        note(q, QUEUEING_DONE, id, t_fs);
    else if (t_fs != INT64_MAX && !queueing_append(&q->ends, (struct due){.t_fs = t_fs, .id = id}))
        note(q, QUEUEING_NO_MEMORY, id, t_fs);
}

/* To the memory behind. */
static void send(struct queueing *q, struct due row)
{
    if (row.t_fs < q->now_fs || row.t_fs == INT64_MAX || !q->fronts ||
        (row.kind == DUE_REQUEST && (!row.bytes || row.op > KB_OP_WRITE))) {
        note(q, QUEUEING_REQUEST, row.id, row.t_fs);
        return;
    }
    q->sent++;
    push(q, row);
}

static void request_to(struct kb_handle *h, const struct kb_request *r, int64_t t_fs)
{
    send((struct queueing *)h, (struct due){.t_fs = t_fs,
                                            .id = r->id,
                                            .offset = r->offset,
                                            .bytes = r->bytes,
                                            .kind = DUE_REQUEST,
                                            .op = r->op});
}

static void pass_on(struct kb_handle *h, uint64_t id, int64_t t_fs)
{
    send((struct queueing *)h, (struct due){.t_fs = t_fs, .id = id, .kind = DUE_PASSED});
}

bool queueing_comes(struct queueing *q, uint64_t number, int64_t t_fs)
{
    push(q, (struct due){.t_fs = t_fs, .id = number, .kind = DUE_COMES});
    return q->fault != QUEUEING_NO_MEMORY;
}

bool queueing_ends(struct queueing *q, uint64_t id, int64_t t_fs)
{
    push(q, (struct due){.t_fs = t_fs, .id = id, .kind = DUE_ENDED});
    return q->fault != QUEUEING_NO_MEMORY;
}

void queueing_begin(struct queueing *q)
{
    struct due *wakes = q->wakes.rows, *ends = q->ends.rows;

    *q = (struct queueing){.h = {wake_at, done, request_to, pass_on},
                           .wakes = {wakes, 0, q->wakes.cap},
                           .ends = {ends, 0, q->ends.cap}};
}

void queueing_free(struct queueing *q)
{
    free(q->wakes.rows);
    free(q->ends.rows);
}
