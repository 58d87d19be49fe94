/* queueing.c -- the calls of a queueing component: kb_wake_at() and kb_done(). */
#include "machine/queueing.h"
#include <stdlib.h>
#include <string.h>

static bool comes_first(const struct due *a, const struct due *b)
{
    return a->t_fs < b->t_fs || (a->t_fs == b->t_fs && a->id < b->id);
}

/* A row more at the end. False without memory. */
static bool append(struct dues *d, struct due row)
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
    while (q->wakes.n && !comes_first(&first, &q->wakes.rows[0]));
    return first;
}

/* Only the first fault is told. */
static void note(struct queueing *q, enum queueing_fault fault, uint64_t id, int64_t t_fs)
{
    if (q->fault != QUEUEING_OK)
        return;
    q->fault = fault;
    q->wrong = (struct due){t_fs, id};
}

static void wake_at(struct kb_handle *h, uint64_t id, int64_t t_fs)
{
    struct queueing *q = (struct queueing *)h;

    if (t_fs <= q->now_fs)
        note(q, QUEUEING_WAKE, id, t_fs);
    else if (t_fs == INT64_MAX)
        return; /* never */
    else if (append(&q->wakes, (struct due){t_fs, id}))
        sift_up(&q->wakes);
    else
        note(q, QUEUEING_NO_MEMORY, id, t_fs);
}

static void done(struct kb_handle *h, uint64_t id, int64_t t_fs)
{
    struct queueing *q = (struct queueing *)h;

    if (t_fs <= q->now_fs)
        note(q, QUEUEING_DONE, id, t_fs);
    else if (t_fs != INT64_MAX && !append(&q->ends, (struct due){t_fs, id}))
        note(q, QUEUEING_NO_MEMORY, id, t_fs);
}

void queueing_begin(struct queueing *q)
{
    struct due *wakes = q->wakes.rows, *ends = q->ends.rows;

    *q = (struct queueing){
        .h = {wake_at, done}, .wakes = {wakes, 0, q->wakes.cap}, .ends = {ends, 0, q->ends.cap}};
}

void queueing_free(struct queueing *q)
{
    free(q->wakes.rows);
    free(q->ends.rows);
}

/* The wakes of a component until it has said an end, or never will. */
static void wake_until_done(struct queueing *q, const struct impl *impl, void *state)
{
    for (uint32_t i = 0; i < QUEUEING_WAKES_MAX && !q->ends.n && q->wakes.n && !q->fault; i++) {
        struct due wake = queueing_take(q);

        q->now_fs = wake.t_fs;
        impl->wake(state, wake.id, wake.t_fs, &q->h);
    }
}

int64_t queueing_alone_fs(const struct impl *impl, const struct kb_request *asked)
{
    _Alignas(16) unsigned char state[IMPL_BYTES_MAX];
    struct queueing q = {.now_fs = 0};
    int64_t end_fs = INT64_MAX;

    memset(state, 0, impl->bytes);
    impl->init(state);
    queueing_begin(&q);
    impl->arrive(state, asked, 0, &q.h);
    wake_until_done(&q, impl, state);
    if (q.ends.n && !q.fault)
        end_fs = q.ends.rows[0].t_fs;
    queueing_free(&q);
    return end_fs;
}
