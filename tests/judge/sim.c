/* sim.c -- transactions in time, after design 1, 3 and 3.1: an event for every node and wire. */
#include "judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum class { DONE, HOP, ARRIVAL, ISSUE };

/* Something of which there are `servers`; who finds all of them taken waits in a line. */
struct station {
    uint32_t servers, taken;
    struct txn *first, *last; /* the line; txn.next leads through it */
};

enum step_kind { DELAY, CHANNEL, ENGINE, LINK, MEMORY };

/* One step on a transaction's way. */
struct step {
    enum step_kind kind;
    int64_t fs;         /* a delay; how long a link or a memory stays taken */
    struct station *at; /* but for a delay */
};

struct txn {
    uint64_t id;
    struct step *steps;
    size_t n_steps, room;
    size_t now_at; /* the step that comes next, or that it waits for */
    int64_t arrived_fs;
    struct txn *next;
    struct judge_result *result;
};

/*
 * design 1: (time, class, id). One transaction may give back several links at one instant; the
 * step keeps even those apart, though nothing can depend on their order: nobody records them,
 * and what they let go on comes in later classes.
 */
struct event {
    int64_t fs;
    enum class class;
    uint64_t id;
    size_t step; /* DONE: what is given back; ARRIVAL: where */
};

struct sim {
    const struct judge_topo *t;
    const struct judge_row *rows;
    bool fifo, too_late;
    struct txn *txns;
    struct station *reads, *writes; /* by node: channels of a pe_dma, engines of an m_cpu */
    struct station *memories;       /* by node */
    struct station *links;          /* by edge */
    struct station *returns;        /* by edge that exists one way only: the way back */
    struct event *heap;
    size_t n_events, heap_room;
    int64_t now_fs;
    uint64_t fingerprint;
};

/* -- time ----------------------------------------------------------------------------------- */

static int64_t add_fs(struct sim *s, int64_t a, int64_t b)
{
    int64_t sum;

    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    s->too_late = true;
    return INT64_MAX;
}

/* llround(nbytes * 1e6 / gbs) */
static int64_t transfer_fs(struct sim *s, uint64_t nbytes, double gbs)
{
    double fs = (double)nbytes * 1e6 / gbs;

    if (fs < 9223372036854775807.0)
        return llround(fs);
    s->too_late = true;
    return INT64_MAX;
}

/* -- events --------------------------------------------------------------------------------- */

static bool before(const struct event *a, const struct event *b)
{
    if (a->fs != b->fs)
        return a->fs < b->fs;
    if (a->class != b->class)
        return a->class < b->class;
    if (a->id != b->id)
        return a->id < b->id;
    return a->step < b->step;
}

static void swap(struct event *a, struct event *b)
{
    struct event kept = *a;

    *a = *b;
    *b = kept;
}

static void post(struct sim *s, int64_t after_fs, enum class class, uint64_t id, size_t step)
{
    struct event *h;
    size_t i = s->n_events++;

    if (i == s->heap_room) {
        s->heap_room = s->heap_room ? 2 * s->heap_room : 256;
        s->heap = judge_grow(s->heap, s->heap_room, sizeof *s->heap);
    }
    h = s->heap;
    h[i] = (struct event){add_fs(s, s->now_fs, after_fs), class, id, step};
    for (; i > 0 && before(&h[i], &h[(i - 1) / 2]); i = (i - 1) / 2)
        swap(&h[i], &h[(i - 1) / 2]);
}

static struct event next_event(struct sim *s)
{
    struct event *h = s->heap, first = h[0];
    size_t n = --s->n_events, i = 0;

    h[0] = h[n];
    for (;;) {
        size_t least = i;

        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < n; child++) {
            if (before(&h[child], &h[least]))
                least = child;
        }
        if (least == i)
            return first;
        swap(&h[i], &h[least]);
        i = least;
    }
}

static void record(struct sim *s, enum class class, uint64_t id)
{
    unsigned char bytes[17];

    for (unsigned i = 0; i < 8; i++) {
        bytes[i] = (unsigned char)((uint64_t)s->now_fs >> (8 * i));
        bytes[9 + i] = (unsigned char)(id >> (8 * i));
    }
    bytes[8] = (unsigned char)class;
    for (unsigned i = 0; i < 17; i++)
        s->fingerprint = (s->fingerprint ^ bytes[i]) * UINT64_C(0x100000001b3);
}

/* -- ways ----------------------------------------------------------------------------------- */

static void add_step(struct txn *x, enum step_kind kind, int64_t fs, struct station *at)
{
    if (x->n_steps == x->room) {
        x->room = x->room ? 2 * x->room : 16;
        x->steps = judge_grow(x->steps, x->room, sizeof *x->steps);
    }
    x->steps[x->n_steps++] = (struct step){kind, fs, at};
}

/* design 3.1: data of a write flows along the edge, data of a read against it. */
static struct station *link_of(struct sim *s, size_t edge, bool write)
{
    const struct judge_edge *e = &s->t->edges[edge];
    size_t back;

    if (write)
        return &s->links[edge];
    back = judge_find_edge(s->t, e->to, e->from);
    return back == SIZE_MAX ? &s->returns[edge] : &s->links[back];
}

/* The steps of one row: its route, and what it takes on the way. */
static void plan(struct sim *s, struct txn *x, const struct judge_row *row,
                 const struct judge_route *r)
{
    bool host = row->op == JUDGE_H2D || row->op == JUDGE_D2H;
    bool write = row->op == JUDGE_WRITE || row->op == JUDGE_H2D;
    struct station *dma = write ? s->writes : s->reads;
    const struct judge_hop *memory = &r->hops[r->n - 1];

    if (!host)
        add_step(x, CHANNEL, 0, &dma[r->hops[0].node]);
    for (size_t i = 0; i < r->n; i++) {
        const struct judge_hop *h = &r->hops[i];

        if (i > 0 && s->fifo)
            add_step(x, LINK, transfer_fs(s, row->nbytes, h->edge_gbs), link_of(s, h->edge, write));
        add_step(x, DELAY, h->wire_fs, NULL);
        if (h == memory)
            break;
        add_step(x, DELAY, h->overhead_fs, NULL);
        if (strstr(h->name, ".m_cpu"))
            add_step(x, ENGINE, 0, &dma[h->node]);
    }
    add_step(x, MEMORY, add_fs(s, memory->overhead_fs, x->result->drain_fs),
             &s->memories[memory->node]);
}

static bool prepare(struct sim *s, size_t id, struct judge_result *out)
{
    const struct judge_row *row = &s->rows[id];
    struct judge_route r = {0};
    struct txn *x = &s->txns[id];

    if (!judge_route(s->t, row->op, &row->src, &row->dst, &r)) {
        fprintf(stderr, "judge: row %zu has no route\n", id);
        return false;
    }
    memset(out, 0, sizeof *out);
    out->issue_fs = row->issue_fs;
    out->wire_fs = r.wire_fs;
    out->overhead_fs = r.overhead_fs;
    out->response_fs = r.response_fs;
    out->bottleneck_gbs = r.bottleneck_gbs;
    out->drain_fs = transfer_fs(s, row->nbytes, r.bottleneck_gbs);
    x->id = id;
    x->result = out;
    plan(s, x, row, &r);
    judge_route_clear(&r);
    return true;
}

/* -- transactions --------------------------------------------------------------------------- */

/* On to the next step: later if it is a delay, as an arrival if it is a station. */
static void go_on(struct sim *s, struct txn *x)
{
    const struct step *next = &x->steps[x->now_at];

    if (next->kind == DELAY)
        post(s, next->fs, HOP, x->id, x->now_at);
    else
        post(s, 0, ARRIVAL, x->id, x->now_at);
}

/* `x` has the station that it came for. */
static void take(struct sim *s, struct txn *x)
{
    const struct step *here = &x->steps[x->now_at];
    int64_t waited_fs = s->now_fs - x->arrived_fs;

    if (++here->at->taken > here->at->servers)
        judge_die("a station is more than full");
    if (here->kind == CHANNEL) {
        x->result->start_fs = s->now_fs;
        x->result->queue_channel_fs = waited_fs;
    } else if (here->kind == ENGINE) {
        x->result->queue_engine_fs = waited_fs;
    } else if (here->kind == LINK) {
        x->result->queue_link_fs += waited_fs;
        post(s, here->fs, DONE, x->id, x->now_at);
    } else {
        x->result->service_fs = s->now_fs;
        x->result->queue_memory_fs = waited_fs;
        post(s, here->fs, DONE, x->id, x->now_at);
        return;
    }
    x->now_at++;
    go_on(s, x);
}

static void arrive(struct sim *s, struct txn *x)
{
    const struct step *here = &x->steps[x->now_at];
    struct station *at = here->at;

    record(s, ARRIVAL, x->id);
    x->arrived_fs = s->now_fs;
    if (here->kind == MEMORY)
        x->result->arrive_fs = s->now_fs;
    if (at->taken < at->servers) {
        take(s, x);
        return;
    }
    x->next = NULL;
    if (at->first)
        at->last->next = x;
    else
        at->first = x;
    at->last = x;
}

/* A server is free again: the first in the line gets it. */
static void give_back(struct sim *s, struct station *at)
{
    struct txn *x = at->first;

    at->taken--;
    if (!x)
        return;
    at->first = x->next;
    take(s, x);
}

static void check_sums(const struct judge_result *r, uint64_t id)
{
    int64_t formula = r->wire_fs + r->overhead_fs + r->drain_fs + r->response_fs;
    int64_t queues =
        r->queue_channel_fs + r->queue_engine_fs + r->queue_link_fs + r->queue_memory_fs;

    if (r->formula_fs != formula || r->actual_fs != formula + queues)
        judge_die("the times of transaction %llu do not add up", (unsigned long long)id);
}

/* The memory has served `x`: all that it held becomes free, and a host's response sets out. */
static void finish(struct sim *s, struct txn *x)
{
    struct judge_result *r = x->result;

    record(s, DONE, x->id);
    r->done_fs = s->now_fs;
    r->end_fs = add_fs(s, s->now_fs, r->response_fs);
    r->formula_fs = r->wire_fs + r->overhead_fs + r->drain_fs + r->response_fs;
    r->actual_fs = r->end_fs - r->issue_fs;
    if (!s->too_late)
        check_sums(r, x->id);
    for (size_t i = 0; i < x->n_steps; i++) {
        enum step_kind kind = x->steps[i].kind;

        if (kind == CHANNEL || kind == ENGINE || kind == MEMORY)
            give_back(s, x->steps[i].at);
    }
}

static void run_event(struct sim *s, const struct event *e)
{
    struct txn *x = &s->txns[e->id];

    switch (e->class) {
    case DONE:
        if (x->steps[e->step].kind == MEMORY)
            finish(s, x);
        else
            give_back(s, x->steps[e->step].at);
        break;
    case HOP:
        x->now_at++;
        go_on(s, x);
        break;
    case ARRIVAL:
        arrive(s, x);
        break;
    case ISSUE:
        x->result->start_fs = s->now_fs;
        go_on(s, x);
        break;
    }
}

/* -- a run ---------------------------------------------------------------------------------- */

static struct station *stations(size_t n, uint32_t servers)
{
    struct station *all = judge_alloc(n, sizeof *all);

    for (size_t i = 0; i < n; i++)
        all[i].servers = servers;
    return all;
}

static void build(struct sim *s)
{
    const struct judge_topo *t = s->t;

    s->reads = stations(t->n_nodes, judge_count(t, "cube.pe.pe_dma.read_channels"));
    s->writes = stations(t->n_nodes, judge_count(t, "cube.pe.pe_dma.write_channels"));
    for (size_t i = 0; i < t->n_nodes; i++) {
        if (!strstr(t->nodes[i].name, ".m_cpu"))
            continue;
        s->reads[i].servers = judge_count(t, "cube.m_cpu.dma_read");
        s->writes[i].servers = judge_count(t, "cube.m_cpu.dma_write");
    }
    s->memories = stations(t->n_nodes, 1);
    s->links = stations(t->n_edges, 1);
    s->returns = stations(t->n_edges, 1);
    s->fifo = strcmp(judge_text(t, "contention.links"), "fifo") == 0;
}

static void tear_down(struct sim *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(s->txns[i].steps);
    free(s->txns);
    free(s->reads);
    free(s->writes);
    free(s->memories);
    free(s->links);
    free(s->returns);
    free(s->heap);
}

bool judge_replay(const struct judge_topo *t, const struct judge_row *rows, size_t n,
                  struct judge_result *results, uint64_t *fingerprint)
{
    struct sim s = {.t = t, .rows = rows, .fingerprint = UINT64_C(0xcbf29ce484222325)};
    bool ok = true;

    s.txns = judge_alloc(n, sizeof *s.txns);
    build(&s);
    for (size_t i = 0; i < n && ok; i++) {
        ok = prepare(&s, i, &results[i]);
        post(&s, rows[i].issue_fs, ISSUE, i, 0);
    }
    while (ok && !s.too_late && s.n_events > 0) {
        struct event e = next_event(&s);

        if (e.fs < s.now_fs)
            judge_die("time runs backwards");
        s.now_fs = e.fs;
        run_event(&s, &e);
    }
    if (s.too_late)
        fprintf(stderr, "judge: simulated time has passed 2^63 fs\n");
    tear_down(&s, n);
    *fingerprint = s.fingerprint;
    return ok && !s.too_late;
}
