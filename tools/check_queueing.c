/*
 * check_queueing.c -- sends a queueing component two thousand requests, by itself, and holds what
 * it asks for and answers to the contract.
 *
 * tools/check_component.sh compiles it as check_component.c; with -DFRONT it has a memory behind
 * it, which takes some time for each request. Two equal states get the same calls, and must ask for
 * the same. At the end nothing comes any more, and all must be done.
 */
#include "check_draw.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include COMPONENT_FILE

enum { CALLS_MAX = 1 << 22, WAKES_MAX = 1 << 16, BURST = 8, BEHIND_FS = 50000000 };

/* One state, and what it has asked for. */
struct queue {
    struct kb_handle h; /* first */
    void *state;
    int64_t now_fs;
    struct {
        int64_t t_fs;
        uint64_t id;
        bool ended; /* not a wake, but a request of its own that ends */
    } wakes[WAKES_MAX];
    int n_wakes;
    bool waits[REQUESTS];
    int n_waiting;
    uint64_t told; /* a hash of all that it has asked for */
};

static int failed;

static void wrong(const char *what, uint64_t id, int64_t t_fs, int64_t now_fs)
{
    if (!failed)
        printf("id %llu, for %lld fs, at %lld fs: %s\n", (unsigned long long)id, (long long)t_fs,
               (long long)now_fs, what);
    failed = 1;
}

static void tell(struct queue *q, uint64_t word, uint64_t id, int64_t t_fs)
{
    q->told = (q->told ^ word) * UINT64_C(0x100000001b3);
    q->told = (q->told ^ id) * UINT64_C(0x100000001b3);
    q->told = (q->told ^ (uint64_t)t_fs) * UINT64_C(0x100000001b3);
}

static void wake_at(struct kb_handle *h, uint64_t id, int64_t t_fs)
{
    struct queue *q = (struct queue *)h;

    tell(q, 1, id, t_fs);
    if (t_fs <= q->now_fs)
        wrong("a wake lies ahead", id, t_fs, q->now_fs);
    else if (q->n_wakes == WAKES_MAX)
        wrong("more than 65536 wakes are asked for at once", id, t_fs, q->now_fs);
    else if (t_fs != INT64_MAX) {
        q->wakes[q->n_wakes].ended = false;
        q->wakes[q->n_wakes].t_fs = t_fs;
        q->wakes[q->n_wakes++].id = id;
    }
}

static void done(struct kb_handle *h, uint64_t id, int64_t t_fs)
{
    struct queue *q = (struct queue *)h;

    tell(q, 2, id, t_fs);
    if (t_fs <= q->now_fs)
        wrong("an end lies ahead", id, t_fs, q->now_fs);
    else if (id >= REQUESTS || !q->waits[id])
        wrong("it is done with a request that does not wait", id, t_fs, q->now_fs);
    else if (t_fs == INT64_MAX)
        wrong("it is never done", id, t_fs, q->now_fs);
    else {
        q->waits[id] = false;
        q->n_waiting--;
    }
}

/* A memory behind it that is far, and never busy. */
static void request_to(struct kb_handle *h, const struct kb_request *r, int64_t t_fs)
{
    struct queue *q = (struct queue *)h;

    tell(q, 3, r->id, t_fs);
    if (t_fs < q->now_fs || !r->bytes || r->op > KB_OP_WRITE) {
        wrong("a request is a read or a write of some bytes, from now on", r->id, t_fs, q->now_fs);
        return;
    }
    wake_at(h, r->id, t_fs + BEHIND_FS + (int64_t)r->bytes);
    q->wakes[q->n_wakes - 1].ended = true;
}

static void pass_on(struct kb_handle *h, uint64_t id, int64_t t_fs)
{
    if (t_fs < ((struct queue *)h)->now_fs)
        wrong("what is passed on goes from now on", id, t_fs, ((struct queue *)h)->now_fs);
    else
        done(h, id, t_fs + BEHIND_FS);
}

/* The place of the first wake by (time, id); -1: there is none. */
static int first_wake(const struct queue *q)
{
    int first = -1;

    for (int i = 0; i < q->n_wakes; i++)
        if (first < 0 || q->wakes[i].t_fs < q->wakes[first].t_fs ||
            (q->wakes[i].t_fs == q->wakes[first].t_fs && q->wakes[i].id < q->wakes[first].id))
            first = i;
    return first;
}

/* All wakes before `until_fs`, while something waits if it is INT64_MAX. */
static void run(struct queue *q, int64_t until_fs)
{
    for (int calls = 0; !failed && (until_fs != INT64_MAX || q->n_waiting); calls++) {
        int i = first_wake(q);
        int64_t t_fs;
        uint64_t id;

        if (i < 0 || q->wakes[i].t_fs >= until_fs)
            break;
        if (calls == CALLS_MAX)
            wrong("it wakes without end", q->wakes[i].id, q->wakes[i].t_fs, q->now_fs);
        t_fs = q->wakes[i].t_fs;
        id = q->wakes[i].id;
        bool ended = q->wakes[i].ended;
        q->wakes[i] = q->wakes[--q->n_wakes];
        while (!ended && (i = first_wake(q)) >= 0 && q->wakes[i].t_fs == t_fs &&
               q->wakes[i].id == id && !q->wakes[i].ended)
            q->wakes[i] = q->wakes[--q->n_wakes]; /* equal ones are one */
        q->now_fs = t_fs;
#ifdef FRONT
        if (ended) {
            CALL(COMPONENT, _ended)(q->state, id, t_fs, &q->h);
            continue;
        }
#endif
        CALL(COMPONENT, _wake)(q->state, id, t_fs, &q->h);
    }
}

static void send(struct queue *q, const struct kb_request *r, int64_t now_fs)
{
    struct kb_request gone = *r;

    run(q, now_fs);
    q->now_fs = now_fs;
    q->waits[r->id] = true;
    q->n_waiting++;
    if (!failed)
        CALL(COMPONENT, _arrive)(q->state, &gone, now_fs, &q->h);
    memset(&gone, 0xff, sizeof gone);
}

static struct queue queues[2];

int main(void)
{
    int64_t now_fs = 0;

    for (int i = 0; i < 2; i++) {
        queues[i].h = (struct kb_handle){wake_at, done, request_to, pass_on};
        queues[i].state = calloc(1, sizeof(struct COMPONENT));
        CALL(COMPONENT, _init)(queues[i].state);
    }
    for (uint64_t id = 0; id < REQUESTS && !failed; id++) {
        struct kb_request r = draw_request(id);

        for (int i = 0; i < 2; i++)
            send(&queues[i], &r, now_fs);
        if (draw(BURST) == 0) /* some come at one instant, some after a long time */
            now_fs += (int64_t)draw(1000000000) * (draw(BURST) == 0 ? 100 : 1);
    }
    for (int i = 0; i < 2; i++) {
        run(&queues[i], INT64_MAX);
        if (!failed && queues[i].n_waiting)
            wrong("requests are never done", (uint64_t)queues[i].n_waiting, 0, queues[i].now_fs);
        free(queues[i].state);
    }
    if (!failed && queues[0].told != queues[1].told)
        wrong("two equal states answer differently", 0, 0, now_fs);
    return failed;
}
