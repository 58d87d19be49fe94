/* router.c -- transactions in time where links have routers: segment by segment; docs/network.md.
 */
#include "cache.h"
#include "network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Every segment of every packet is a thing of its own that moves from channel to channel. Events
 * of classes 0 to 4 only put segments where they are now; when all events of an instant are over,
 * every output port with something to send decides once, in the order of their numbers. An event
 * "wake" does nothing but make an instant at which ports decide.
 */

enum class { REQUEST, RESPONSE, N_CLASSES };
enum { VCS_MAX = 64, SPEEDUP_MAX = 4 };
#define NEVER INT64_MAX

struct flow;

struct segment {
    struct flow *flow;
    uint64_t number, packet, b0, b1; /* bytes b0 to b1 of the transaction */
    bool first, last;                /* of its packet */
    size_t leg, at;                  /* where it is: before link `at` of a leg of its flow */
    uint32_t vc;                     /* the one it lies in, of the channel that it came by */
    int64_t ready_fs;
    int64_t packet_fs; /* in a source: when its packet could leave */
    int64_t taken_fs;  /* by its last channel: how long its bytes take */
    bool held_room;    /* of the channel that it came by */
    struct port *port; /* of banks: that channel's, while it keeps room there */
    int64_t tail_fs;   /* of it */
};

/* What moves one way: a write's data, a read's command, or its data. */
struct flow {
    struct txn *txn;
    enum class class;
    bool command;
    uint64_t nbytes;
    struct judge_path legs[2]; /* two, if an m_cpu lies between */
    size_t n_legs;
    struct segment *segments;
    size_t n_segments, n_in;
    int64_t first_fs, last_tail_fs;
    int64_t *packet_fs; /* by packet: when it could leave an m_cpu, or its service began */
};

/* An output port, and the input port at the other end of its channel. */
struct port {
    struct judge_channel *channel;
    int64_t free_fs, credits[VCS_MAX];
    struct {
        const struct flow *flow; /* NULL: no owner */
        uint64_t packet;
        int64_t until_fs;
    } owner[VCS_MAX];
    size_t last_turn, last_vc; /* of rr */
    bool served;
    size_t waiting; /* segments that want to leave by it */
    /* before it, if its channel begins at a source */
    struct segment **source;
    size_t n_source;
    const struct flow *open_flow;
    uint64_t open_packet, open_next;
    int64_t source_from_fs;
    /* at the other end */
    struct {
        struct segment **line;
        size_t n;
        int64_t from_fs; /* the front is a candidate from then on */
        int64_t gate_fs; /* what the packet that comes waits for in a node that is a gate */
    } input[VCS_MAX];
    int64_t server_fs[SPEEDUP_MAX];
    struct judge_vc counted[VCS_MAX];
    size_t turn;
    struct port *next_in; /* another input port of the same node */
};

struct memory {
    int64_t free_fs;
    struct judge_banks *banks; /* of one that has them */
    struct judge_cache *cache; /* the same */
};

/* A channel with banks that decides at the end of this instant. */
struct asked {
    size_t node;
    uint32_t channel;
};

/* Channels of a pe_dma, engines of an m_cpu. */
struct station {
    uint32_t servers, taken;
    struct txn **line;
    size_t n;
    int64_t starts_fs; /* of a channel: none sets out earlier */
};

struct txn {
    uint64_t id;
    uint32_t part;
    const struct judge_row *row;
    struct judge_piece piece;
    struct judge_result result;
    struct flow to, back;
    size_t source, memory, m_cpu; /* nodes; SIZE_MAX: no m_cpu */
    int64_t m_cpu_overhead_fs, source_overhead_fs;
    int64_t memory_overhead_fs, latency_fs;
    int64_t request_fs[2]; /* of a request that is a delay: to the m_cpu, and on */
    double held_gbs;       /* the memory serves at this rate */
    bool engine_asked, has_engine;
    int64_t engine_from_fs, engine_at_fs;
    int64_t last_free_fs;
    /* of a memory with banks */
    bool banked;
    int64_t *ends_fs;   /* of a read, by burst: 0 is not known yet */
    int64_t *leaves_fs; /* by packet: it needs no room any more; 0: not known yet */
    uint64_t burst_bytes;
    int64_t burst_fs, alone_fs, first_burst_fs, accepted_fs;
    bool posted;
    size_t packets_left, n_known; /* packets that it has not ended; segments that are ready */
    bool cached;
    int64_t begin_fs; /* at a cache: its first lookup */
};

struct row {
    struct txn *parts;
    uint32_t n_parts, n_left;
    int64_t channel_from_fs;
    bool issued, ended;
    int64_t end_fs;
};

enum what {
    WAKE,
    ARRIVES,
    LEFT,
    CREDIT,
    LEAVES_SOURCE,
    AT_ENGINE,
    AT_MEMORY,
    DATA,
    DONE,
    ISSUED,
    SETS_OUT,
    CHANNEL_DECIDES
};

/* What an event is about. */
struct thing {
    enum what what;
    struct segment *segment;
    struct txn *txn;
    struct port *port;
    uint32_t vc;
    int64_t bytes;
    bool of_memory; /* a credit */
    struct asked channel;
};

struct sim {
    const struct judge_topo *t;
    struct judge_network net;
    const struct judge_row *rows;
    struct judge_result *results;
    struct row *all;
    size_t n_rows;
    struct port *ports;          /* by number */
    struct port **inputs;        /* by node */
    struct memory *memories;     /* by node */
    struct station *stations[2]; /* by node: of reads, of writes */
    struct judge_events events;
    struct thing *things;
    size_t n_things, things_room;
    int64_t now_fs;
    uint64_t fingerprint;
    bool too_late;
    struct asked *asked;
    size_t n_asked;
    struct judge_vc **changed; /* buffers that something entered or left at this instant */
    size_t n_changed;
    uint32_t vcs[N_CLASSES], prios, speedup;
    uint64_t segment_bytes, packet_bytes, command_bytes;
    int64_t buffer_bytes, credit_fs, alloc_fs;
    int64_t *gates, interval_fs; /* by node: its next may go then; so long behind the last */
    bool by_turns;
};

/* -- events ---------------------------------------------------------------------------------- */

static void post(struct sim *s, int64_t fs, enum judge_class class, const struct txn *x,
                 struct thing thing)
{
    if (s->n_things == s->things_room) {
        s->things_room = s->things_room ? 2 * s->things_room : 1024;
        s->things = judge_grow(s->things, s->things_room, sizeof *s->things);
    }
    s->things[s->n_things] = thing;
    judge_post(&s->events,
               (struct judge_event){.fs = fs,
                                    .class = class,
                                    .id = x ? x->id : 0,
                                    .part = x ? x->part : 0,
                                    .packet = thing.what == ARRIVES ? thing.segment->packet : 0,
                                    .step = s->n_things++});
}

static int64_t add_fs(struct sim *s, int64_t a, int64_t b)
{
    return judge_add_fs(a, b, &s->too_late);
}

static int64_t max_fs(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void wake(struct sim *s, int64_t fs)
{
    if (fs > s->now_fs)
        post(s, fs, JUDGE_HOP, NULL, (struct thing){.what = WAKE});
}

static void record(struct sim *s, enum judge_class class, const struct txn *x)
{
    struct judge_event e = {
        .fs = s->now_fs, .class = class, .id = x->id + ((uint64_t)x->part << 48)};

    s->fingerprint = judge_fingerprint(s->fingerprint, &e);
}

/* The time of bytes b0 to b1 at a bandwidth: parts of a whole. */
static int64_t part_fs(struct sim *s, uint64_t b0, uint64_t b1, double gbs)
{
    return judge_transfer_fs(b1, gbs, &s->too_late) - judge_transfer_fs(b0, gbs, &s->too_late);
}

/* -- preparing ------------------------------------------------------------------------------- */

static void cut(struct sim *s, struct flow *f)
{
    uint64_t segment = s->segment_bytes, packet = s->packet_bytes ? s->packet_bytes : UINT64_MAX;

    f->n_segments = (f->nbytes + segment - 1) / segment;
    f->segments = judge_alloc(f->n_segments, sizeof *f->segments);
    f->packet_fs = judge_alloc(f->nbytes / packet + 1, sizeof *f->packet_fs);
    for (size_t i = 0; i < f->n_segments; i++) {
        struct segment *g = &f->segments[i];

        g->flow = f;
        g->number = i;
        g->b0 = i * segment;
        g->b1 = g->b0 + segment < f->nbytes ? g->b0 + segment : f->nbytes;
        g->packet = g->b0 / packet;
        g->first = g->b0 % packet == 0;
        g->last = g->b1 == f->nbytes || g->b1 % packet == 0;
    }
}

static void find_legs(struct sim *s, struct flow *f, const struct judge_route *r, size_t m_cpu,
                      bool backwards, uint64_t number)
{
    size_t n = r->n - 1;

    f->n_legs = m_cpu == SIZE_MAX ? 1 : 2;
    if (m_cpu == SIZE_MAX) {
        f->legs[0] = judge_find_path(s->t, &s->net, r, 0, n, backwards, number);
    } else {
        f->legs[backwards] = judge_find_path(s->t, &s->net, r, 0, m_cpu, backwards, number);
        f->legs[!backwards] = judge_find_path(s->t, &s->net, r, m_cpu, n, backwards, number);
    }
}

static bool is_read(const struct txn *x)
{
    return x->row->op == JUDGE_READ || x->row->op == JUDGE_D2H;
}

static bool is_host(const struct txn *x)
{
    return x->row->op == JUDGE_H2D || x->row->op == JUDGE_D2H;
}

/* The terms of a transaction that meets no other, whose request goes by `r`, its data at `gbs`. */
static void find_terms(struct sim *s, struct txn *x, const struct judge_route *r, double gbs,
                       const struct flow *way)
{
    struct judge_result *q = &x->result;

    q->overhead_fs = r->overhead_fs;
    q->drain_fs = judge_drain_fs(s->t, is_host(x) ? NULL : &x->row->src, !is_read(x), &x->piece,
                                 gbs, &s->too_late);
    q->bottleneck_gbs = gbs;
    q->wire_fs = x->source_overhead_fs;
    for (size_t leg = 0; leg < way->n_legs; leg++)
        q->wire_fs += way->legs[leg].head_fs + (leg > 0 ? x->m_cpu_overhead_fs : 0);
    for (size_t i = 0; i + 1 < r->n; i++)
        q->wire_fs -= r->hops[i].overhead_fs;
    if (is_read(x))
        for (size_t leg = 0; leg < x->back.n_legs; leg++)
            q->return_fs += x->back.legs[leg].head_fs + (leg > 0 ? x->m_cpu_overhead_fs : 0);
    else
        q->response_fs = r->response_fs;
}

/* At which rate the memory serves: its own, or that of the route. */
static double held_gbs(const struct sim *s, const struct judge_end *at, double route_gbs)
{
    uint32_t sip = at->sip, cube = at->cube;
    double gbs;

    if (judge_has_cache(s->t, at)) {
        gbs = judge_cube_number(s->t, sip, cube, "cube.hbm.cache.bw_gbs");
        return gbs > 0 ? gbs : judge_own_gbs(s->t, at, false);
    }
    if (at->kind == JUDGE_SLICE) {
        if (strcmp(judge_cube_text(s->t, sip, cube, "cube.hbm.hold"), "own") != 0)
            return route_gbs;
        return judge_cube_number(s->t, sip, cube, "cube.hbm.bw_gbs") *
               judge_cube_number(s->t, sip, cube, "cube.hbm.efficiency");
    }
    if (strcmp(judge_cube_text(s->t, sip, cube, "cube.sram.hold"), "own") != 0)
        return route_gbs;
    gbs = judge_cube_number(s->t, sip, cube, "cube.sram.bw_gbs");
    return gbs > 0.0 ? gbs : judge_cube_number(s->t, sip, cube, "cube.noc.bw_gbs");
}

/* -- banks ----------------------------------------------------------------------------------- */

/*
 * Segments that are ready at the begin of a flow's way at `ready_fs[k]`, and meet nothing: the
 * grant of segment k on channel h is g[k][h] = max(g[k][h-1] + max(1, wire) + overhead,
 * g[k-1][h] + d[k-1][h]). When each is at the end, and its tail.
 */
static void go_alone(struct sim *s, const struct txn *x, const struct flow *f,
                     const int64_t *ready_fs, int64_t *arrive_fs, int64_t *tail_fs)
{
    size_t n = f->legs[0].n + (f->n_legs > 1 ? f->legs[1].n : 0);
    int64_t *free_fs = judge_alloc(n, sizeof *free_fs);

    for (size_t k = 0; k < f->n_segments; k++) {
        const struct segment *g = &f->segments[k];
        int64_t at = ready_fs[k], d = 0;
        size_t h = 0;

        for (size_t leg = 0; leg < f->n_legs; leg++)
            for (size_t i = 0; i < f->legs[leg].n; i++, h++) {
                const struct judge_channel *c = f->legs[leg].links[i].channel;
                double gbs = c->gbs;

                if (i > 0 && f->legs[leg].links[i - 1].channel->gbs < gbs)
                    gbs = f->legs[leg].links[i - 1].channel->gbs;
                if (i > 0)
                    at += f->legs[leg].links[i].delay_fs;
                else if (leg > 0)
                    at += x->m_cpu_overhead_fs;
                at = max_fs(at, free_fs[h]);
                d = part_fs(s, g->b0, g->b1, gbs);
                free_fs[h] = at + d;
                at += c->wire_fs > 1 ? c->wire_fs : 1;
            }
        arrive_fs[k] = at;
        tail_fs[k] = at + d;
    }
    free(free_fs);
}

/* When all data of a read would be there if they had the way back for themselves. */
static int64_t read_alone_fs(struct sim *s, const struct txn *x, const int64_t *ready_fs)
{
    size_t n = x->back.n_segments;
    int64_t *arrive_fs = judge_alloc(n, sizeof *arrive_fs), *tail_fs = judge_alloc(n, sizeof n);
    int64_t fs;

    go_alone(s, x, &x->back, ready_fs, arrive_fs, tail_fs);
    fs = arrive_fs[0] + x->result.drain_fs;
    for (size_t k = 0; k < n; k++)
        fs = max_fs(fs, tail_fs[k]);
    free(arrive_fs);
    free(tail_fs);
    return fs;
}

static uint64_t first_burst(const struct txn *x)
{
    return x->piece.offset / x->burst_bytes;
}

/* When segment `k` of the data is ready, by the ends of all bursts up to its last; -1: not known.
 */
static int64_t data_ready_fs(const struct txn *x, size_t k)
{
    uint64_t last = (x->piece.offset + x->back.segments[k].b1 - 1) / x->burst_bytes;
    int64_t fs = 0;

    for (uint64_t b = first_burst(x); b <= last; b++) {
        if (!x->ends_fs[b - first_burst(x)])
            return -1;
        fs = max_fs(fs, x->ends_fs[b - first_burst(x)]);
    }
    return fs + x->memory_overhead_fs + x->latency_fs;
}

static void note_burst(void *arg, const struct judge_access *access, uint64_t number,
                       int64_t end_fs)
{
    struct txn *x = arg;

    (void)access;
    if (x->ends_fs)
        x->ends_fs[number - first_burst(x)] = end_fs;
    if (!x->first_burst_fs || end_fs < x->first_burst_fs)
        x->first_burst_fs = end_fs;
}

static void note_done(void *arg, const struct judge_access *access, int64_t done_fs)
{
    struct txn *x = arg;

    (void)access;
    x->accepted_fs = max_fs(x->accepted_fs, done_fs - x->memory_overhead_fs - x->latency_fs);
}

static struct judge_access access_of(const struct txn *x, const struct segment *g, uint64_t packet)
{
    struct judge_access access = {.id = x->id,
                                  .part = x->part,
                                  .write = g != NULL,
                                  .offset = x->piece.offset,
                                  .nbytes = x->piece.nbytes};

    for (size_t i = 0; g && i < x->to.n_segments; i++)
        if (x->to.segments[i].packet == packet) {
            if (x->to.segments[i].first)
                access.offset = x->piece.offset + x->to.segments[i].b0;
            access.nbytes = x->piece.offset + x->to.segments[i].b1 - access.offset;
            access.packet = packet;
        }
    return access;
}

/* From its last tail, its packets and its drain: when a write is done, without what is behind. */
static int64_t written_fs(const struct txn *x, int64_t arrive_fs, int64_t tail_fs)
{
    int64_t fs = max_fs(max_fs(tail_fs, x->accepted_fs), arrive_fs + x->result.drain_fs);

    if (x->posted)
        return fs;
    return max_fs(fs, x->first_burst_fs + x->result.drain_fs - x->burst_fs);
}

/* What a read takes alone of a memory with banks, from its arrival on, without the way back. */
static int64_t read_in_banks_fs(struct sim *s, struct txn *x)
{
    struct judge_banks_user user = {x, NULL, NULL, note_done, note_burst};
    struct judge_access access = access_of(x, NULL, 0);
    int64_t *ready_fs = judge_alloc(x->back.n_segments, sizeof *ready_fs), fs;

    judge_banks_alone(s->t, &x->piece.memory, &access, 1, &user);
    for (size_t k = 0; k < x->back.n_segments; k++)
        ready_fs[k] = data_ready_fs(x, k);
    fs = read_alone_fs(s, x, ready_fs) - x->result.return_fs;
    free(ready_fs);
    return fs;
}

/* The same of a write, from the arrival of its first segment on. */
static int64_t write_in_banks_fs(struct sim *s, struct txn *x)
{
    struct judge_banks_user user = {x, NULL, NULL, note_done, note_burst};
    size_t n = x->to.n_segments, packets = 0;
    struct judge_access *accesses = judge_alloc(n, sizeof *accesses);
    int64_t *ready_fs = judge_alloc(n, sizeof *ready_fs), *tail_fs = judge_alloc(n, sizeof n);
    int64_t *arrive_fs = judge_alloc(n, sizeof n), fs, last_fs = 0;

    go_alone(s, x, &x->to, ready_fs, arrive_fs, tail_fs);
    for (size_t k = 0; k < n; k++) {
        last_fs = max_fs(last_fs, tail_fs[k] - arrive_fs[0]);
        if (!x->to.segments[k].first)
            continue;
        accesses[packets] = access_of(x, &x->to.segments[k], x->to.segments[k].packet);
        accesses[packets++].arrive_fs = arrive_fs[k] - arrive_fs[0];
    }
    x->packets_left = packets;
    judge_banks_alone(s->t, &x->piece.memory, accesses, packets, &user);
    fs = written_fs(x, 0, last_fs) + x->memory_overhead_fs + x->latency_fs;
    free(accesses);
    free(ready_fs);
    free(tail_fs);
    free(arrive_fs);
    return fs;
}

/* Runs of the bytes from `from` to `to` of a piece, as a list of its own. */
static size_t cut_runs(const struct txn *x, uint64_t from, uint64_t to, struct judge_stretch **runs)
{
    uint64_t at = 0;
    size_t n = 0;

    *runs = NULL;
    for (size_t i = 0; i < x->piece.n_runs; i++) {
        const struct judge_stretch *run = &x->piece.runs[i];
        uint64_t begin = from > at ? from : at, end = to < at + run->nbytes ? to : at + run->nbytes;

        if (begin < end) {
            *runs = judge_grow(*runs, n + 1, sizeof **runs);
            (*runs)[n++] = (struct judge_stretch){run->at + begin - at, end - begin};
        }
        at += run->nbytes;
    }
    return n;
}

/* All of a read, or the packet of `g`, at a cache. Its runs are to be freed. */
static struct judge_access to_cache(const struct txn *x, const struct segment *g)
{
    struct judge_access access = {.id = x->id,
                                  .part = x->part,
                                  .write = g != NULL,
                                  .nbytes = x->piece.nbytes,
                                  .drain_fs = x->result.drain_fs};
    const struct flow *f = &x->to;

    for (size_t i = g ? g->number : 0; g && i < f->n_segments && f->segments[i].packet == g->packet;
         i++) {
        access.packet = g->packet;
        access.from = g->b0;
        access.nbytes = f->segments[i].b1 - g->b0;
    }
    access.offset = x->piece.offset + access.from;
    access.n_runs = cut_runs(x, access.from, access.from + access.nbytes, &access.runs);
    return access;
}

/* Of a write at an idle cache, from the arrival of its first segment on. */
static int64_t write_in_cache_fs(struct sim *s, struct txn *x)
{
    size_t n = x->to.n_segments;
    int64_t *ready_fs = judge_alloc(n, sizeof *ready_fs), *tail_fs = judge_alloc(n, sizeof n);
    int64_t *arrive_fs = judge_alloc(n, sizeof n), free_fs = 0, done_fs = x->result.drain_fs;

    go_alone(s, x, &x->to, ready_fs, arrive_fs, tail_fs);
    for (size_t k = 0, i; k < n; k++) {
        const struct segment *g = &x->to.segments[k];

        done_fs = max_fs(done_fs, tail_fs[k] - arrive_fs[0]);
        if (!g->first)
            continue;
        for (i = k; i + 1 < n && x->to.segments[i + 1].packet == g->packet; i++)
            ;
        free_fs = add_fs(s, max_fs(free_fs, arrive_fs[k] - arrive_fs[0]),
                         part_fs(s, g->b0, x->to.segments[i].b1, x->held_gbs));
        done_fs = max_fs(done_fs, free_fs);
    }
    free(ready_fs);
    free(tail_fs);
    free(arrive_fs);
    return done_fs + x->latency_fs;
}

static int64_t read_in_cache_fs(struct sim *s, struct txn *x)
{
    struct judge_access access = to_cache(x, NULL);
    int64_t fs = judge_cache_alone_fs(s->t, &x->piece.memory, &access, x->result.bottleneck_gbs,
                                      &s->too_late);

    free(access.runs);
    return fs;
}

/* What it takes alone stands in its overhead. */
static void find_alone(struct sim *s, struct txn *x)
{
    const struct judge_end *m = &x->piece.memory;
    uint64_t bursts;

    x->banked = judge_has_banks(s->t, m);
    x->cached = judge_has_cache(s->t, m);
    if (x->cached) {
        x->result.overhead_fs -= x->memory_overhead_fs + x->latency_fs + x->result.drain_fs;
        x->memory_overhead_fs = 0; /* the cache has none */
        x->latency_fs =
            judge_ns(judge_cube_number(s->t, m->sip, m->cube, "cube.hbm.cache.latency_ns"));
        x->alone_fs = is_read(x) ? read_in_cache_fs(s, x) : write_in_cache_fs(s, x);
        x->result.overhead_fs += x->alone_fs;
    }
    if (!x->banked)
        return;
    x->burst_bytes = (uint64_t)judge_cube_number(s->t, m->sip, m->cube, "cube.hbm.burst_bytes");
    x->burst_fs =
        judge_transfer_fs(x->burst_bytes,
                          judge_cube_number(s->t, m->sip, m->cube, "cube.hbm.bw_gbs") *
                              judge_cube_number(s->t, m->sip, m->cube, "cube.hbm.efficiency") /
                              judge_cube_number(s->t, m->sip, m->cube, "cube.hbm.channels"),
                          &s->too_late);
    x->posted =
        strcmp(judge_cube_text(s->t, m->sip, m->cube, "cube.hbm.write_ack"), "accepted") == 0;
    bursts = (x->piece.offset + x->piece.nbytes - 1) / x->burst_bytes - first_burst(x) + 1;
    if (is_read(x))
        x->ends_fs = judge_alloc(bursts, sizeof *x->ends_fs);
    x->leaves_fs = judge_alloc(x->to.n_segments, sizeof *x->leaves_fs);
    x->alone_fs = is_read(x) ? read_in_banks_fs(s, x) : write_in_banks_fs(s, x);
    x->result.overhead_fs +=
        x->alone_fs - x->result.drain_fs - x->memory_overhead_fs - x->latency_fs;
    if (is_read(x))
        memset(x->ends_fs, 0, bursts * sizeof *x->ends_fs);
    x->first_burst_fs = x->accepted_fs = 0;
}

/* -- ways ------------------------------------------------------------------------------------ */

/* Where a host's route has its m_cpu; SIZE_MAX: a PE's. */
static size_t m_cpu_of(const struct txn *x, const struct judge_route *r)
{
    for (size_t i = 0; i < r->n; i++)
        if (is_host(x) && strstr(r->hops[i].name, ".m_cpu"))
            return i;
    return SIZE_MAX;
}

/* What goes to the memory, by `to`, and what comes back against `back`. */
static void find_flows(struct sim *s, struct txn *x, const struct judge_route *to,
                       const struct judge_route *back, bool one_way)
{
    struct flow delay = {0};
    bool read = is_read(x), is_delay = read && (!s->command_bytes || one_way);
    struct flow *way = is_delay ? &delay : &x->to;

    x->to.txn = x->back.txn = x;
    x->to.class = REQUEST;
    x->back.class = RESPONSE;
    if (read) {
        x->back.nbytes = x->piece.nbytes;
        find_legs(s, &x->back, back, m_cpu_of(x, back), true, x->id + x->row->plus + x->part);
        cut(s, &x->back);
    }
    find_legs(s, way, to, m_cpu_of(x, to), false, x->id + x->row->plus + x->part);
    find_terms(s, x, to, back->bottleneck_gbs, way);
    for (size_t leg = 0; leg < delay.n_legs; leg++) {
        x->request_fs[leg] = delay.legs[leg].head_fs;
        free(delay.legs[leg].links);
    }
    if (is_delay)
        return;
    x->to.command = read;
    x->to.nbytes = read ? s->command_bytes : x->piece.nbytes;
    if (read && x->to.nbytes > s->segment_bytes)
        x->to.nbytes = s->segment_bytes;
    cut(s, &x->to);
}

static void find_nodes(struct sim *s, struct txn *x, const struct judge_route *r)
{
    size_t m_cpu = m_cpu_of(x, r);
    uint64_t moved;

    x->m_cpu = m_cpu == SIZE_MAX ? SIZE_MAX : r->hops[m_cpu].node;
    x->m_cpu_overhead_fs = m_cpu == SIZE_MAX ? 0 : r->hops[m_cpu].overhead_fs;
    x->source = r->hops[0].node;
    x->memory = r->hops[r->n - 1].node;
    x->source_overhead_fs = r->hops[0].overhead_fs;
    x->latency_fs = r->latency_fs;
    x->memory_overhead_fs = r->hops[r->n - 1].overhead_fs - r->latency_fs;
    x->held_gbs = held_gbs(s, &x->piece.memory, r->bottleneck_gbs);
    moved = judge_moved_bytes(s->t, &x->piece);
    if (moved != x->piece.nbytes && !judge_has_cache(s->t, &x->piece.memory)) {
        double own = judge_own_gbs(s->t, &x->piece.memory, !is_read(x)) * (double)x->piece.nbytes /
                     (double)moved;

        x->held_gbs = own < x->held_gbs ? own : x->held_gbs;
    }
}

static bool prepare_part(struct sim *s, struct txn *x)
{
    struct judge_route to = {0}, back = {0};
    const struct judge_end *src = &x->row->src, *memory = &x->piece.memory;
    uint32_t course = x->row->plane ? x->row->plane - 1
                                    : judge_course_of(s->t, x->row->op, src, memory,
                                                      x->id + x->row->plus, x->part);

    if (!judge_request_on(s->t, course, x->row->op, src, memory, &to) ||
        !judge_route_on(s->t, course, x->row->op, src, memory, &back)) {
        fprintf(stderr, "judge: row %llu has no route\n", (unsigned long long)x->id);
        judge_route_clear(&to);
        return false;
    }
    find_nodes(s, x, &back);
    find_flows(s, x, &to, &back,
               s->t->net ? judge_goes_one_way(s->t, src, memory) : s->t->plane[course].one_way);
    find_alone(s, x);
    judge_route_clear(&to);
    judge_route_clear(&back);
    return true;
}

static bool prepare(struct sim *s, size_t id)
{
    const struct judge_row *row = &s->rows[id];
    struct judge_piece *parts = NULL;
    size_t n = judge_cut_row(s->t, row, &parts);
    struct row *all = &s->all[id];
    bool ok = n > 0;

    all->parts = judge_alloc(n, sizeof *all->parts);
    all->n_parts = all->n_left = (uint32_t)n;
    for (size_t i = 0; i < n && ok; i++) {
        struct txn *x = &all->parts[i];

        x->id = id;
        x->part = (uint32_t)i;
        x->row = row;
        x->piece = parts[i];
        parts[i].runs = NULL; /* the part's now */
        ok = prepare_part(s, x);
    }
    judge_free_parts(parts, n);
    return ok;
}

/* -- where segments are ---------------------------------------------------------------------- */

static const struct judge_path *path_of(const struct segment *g)
{
    return &g->flow->legs[g->leg];
}

static struct port *next_port(const struct segment *g)
{
    return path_of(g)->links[g->at].channel->port;
}

/* Its channel ends at its memory, its m_cpu or its source. */
static bool ends_behind(const struct segment *g)
{
    return g->at + 1 == path_of(g)->n;
}

/* Of the queue of a source: by (when its packet may leave, id, part, packet, segment). */
static bool before(const struct segment *a, const struct segment *b)
{
    const struct txn *x = a->flow->txn, *y = b->flow->txn;

    if (a->packet_fs != b->packet_fs)
        return a->packet_fs < b->packet_fs;
    if (x->id != y->id)
        return x->id < y->id;
    if (x->part != y->part)
        return x->part < y->part;
    if (a->flow->class != b->flow->class)
        return a->flow->class == RESPONSE;
    return a->number < b->number;
}

static void into_source(struct sim *s, struct segment *g, int64_t ready_fs, int64_t packet_fs)
{
    struct port *p = next_port(g);
    size_t i = p->n_source++;

    g->ready_fs = ready_fs;
    g->packet_fs = packet_fs;
    p->waiting++;
    p->source = judge_grow(p->source, p->n_source, sizeof(struct segment *));
    for (; i > 0 && before(g, p->source[i - 1]); i--)
        p->source[i] = p->source[i - 1];
    p->source[i] = g;
    wake(s, ready_fs);
}

/* All packets of a flow may leave its source at `fs`. */
static void send_all(struct sim *s, struct flow *f, int64_t fs)
{
    for (size_t i = 0; i < f->n_segments; i++)
        into_source(s, &f->segments[i], fs, fs);
}

/* The segment that may leave a source next; NULL: none, or it is not there yet. */
static struct segment *front_of_source(const struct port *p)
{
    if (!p->open_flow)
        return p->n_source ? p->source[0] : NULL;
    for (size_t i = 0; i < p->n_source; i++)
        if (p->source[i]->flow == p->open_flow && p->source[i]->packet == p->open_packet &&
            p->source[i]->number == p->open_next)
            return p->source[i];
    return NULL;
}

static void leave_source(struct sim *s, struct port *p, struct segment *g)
{
    size_t i = 0;

    while (p->source[i] != g)
        i++;
    memmove(&p->source[i], &p->source[i + 1], (--p->n_source - i) * sizeof(struct segment *));
    p->open_flow = g->last ? NULL : g->flow;
    p->open_packet = g->packet;
    p->open_next = g->number + 1;
    p->source_from_fs = s->now_fs + 1;
}

/* -- virtual channels ------------------------------------------------------------------------ */

/* The VCs that a packet may own of its next channel: *low up to, without, the result. */
static uint32_t allowed_vcs(const struct sim *s, const struct segment *g, uint32_t *low)
{
    enum class class = g->flow->class;
    uint32_t size = s->vcs[class] / s->prios, prio = g->flow->txn->row->prio, first, end;

    first =
        (class == RESPONSE ? s->vcs[REQUEST] : 0) + size * (prio < s->prios ? prio : s->prios - 1);
    end = judge_vcs_of(s->t, path_of(g)->links[g->at].share, size, low);
    *low += first;
    return first + end;
}

/* Bytes of room at the other end for each VC; NEVER: without bound. */
static int64_t room_behind(const struct sim *s, const struct segment *g)
{
    const struct txn *x = g->flow->txn;
    double queue = 0.0;

    if (!ends_behind(g))
        return s->buffer_bytes ? s->buffer_bytes : NEVER;
    if (g->flow->class == REQUEST && g->leg + 1 == g->flow->n_legs &&
        x->piece.memory.kind == JUDGE_SLICE)
        queue = judge_cube_number(s->t, x->piece.memory.sip, x->piece.memory.cube,
                                  "cube.hbm.queue_bytes");
    return queue > 0.0 ? (int64_t)queue : NEVER;
}

static bool has_room(const struct sim *s, const struct port *p, const struct segment *g,
                     uint32_t vc)
{
    int64_t room = room_behind(s, g);

    return room == NEVER || room + p->credits[vc] >= (int64_t)(g->b1 - g->b0);
}

/* The VC of `p` that a segment may take now; UINT32_MAX: none. From a buffer, a packet gets a VC so
 * long after its last owner has left it. */
static uint32_t vc_for(const struct sim *s, const struct port *p, const struct segment *g,
                       bool of_source)
{
    uint32_t low, end = allowed_vcs(s, g, &low);
    int64_t behind_fs = g->first && !of_source ? s->alloc_fs : 0;

    for (uint32_t vc = low; vc < end; vc++) {
        bool owned = p->owner[vc].flow && p->owner[vc].until_fs > s->now_fs - behind_fs;

        if (g->first ? owned
                     : !owned || p->owner[vc].flow != g->flow || p->owner[vc].packet != g->packet)
            continue;
        if (has_room(s, p, g, vc))
            return vc;
        if (!g->first)
            return UINT32_MAX;
    }
    return UINT32_MAX;
}

/* -- counts of buffers ------------------------------------------------------------------------ */

/* `bytes` more are in the buffer, from now on. */
static void hold(struct sim *s, struct judge_vc *vc, int64_t bytes)
{
    vc->changes = judge_grow(vc->changes, vc->n_changes + 1, sizeof *vc->changes);
    vc->changes[vc->n_changes++] = (struct judge_change){s->now_fs, bytes};
    vc->now_held = (uint64_t)((int64_t)vc->now_held + bytes);
    s->changed = judge_grow(s->changed, s->n_changed + 1, sizeof *s->changed);
    s->changed[s->n_changed++] = vc;
}

/* All of this instant has happened. */
static void note_most(struct sim *s)
{
    for (size_t i = 0; i < s->n_changed; i++)
        if (s->changed[i]->now_held > s->changed[i]->most)
            s->changed[i]->most = s->changed[i]->now_held;
    s->n_changed = 0;
}

static void note_credits(struct sim *s, struct port *p, uint32_t vc)
{
    struct judge_vc *counted = &p->counted[vc];

    counted->credits =
        judge_grow(counted->credits, counted->n_credits + 1, sizeof *counted->credits);
    counted->credits[counted->n_credits++] = (struct judge_credits){s->now_fs, p->credits[vc]};
}

/* A segment goes that has been ready in front since `from_fs`: for how long had it no credit? */
static void count_going(struct sim *s, struct port *p, uint32_t number, const struct segment *g,
                        int64_t from_fs, int64_t taken_fs)
{
    struct judge_vc *vc = &p->counted[number];
    int64_t bytes = (int64_t)(g->b1 - g->b0), room = room_behind(s, g), enough_fs = 0;

    for (size_t i = vc->n_credits; i > 0 && room + vc->credits[i - 1].credits >= bytes; i--)
        enough_fs = vc->credits[i - 1].fs;
    if (vc->segments && room != NEVER && from_fs < vc->sent_fs)
        from_fs = vc->sent_fs;
    if (vc->segments && room != NEVER && enough_fs > from_fs)
        vc->stalled_fs += enough_fs - from_fs;
    vc->segments++;
    vc->bytes += (uint64_t)bytes;
    vc->busy_fs += taken_fs;
    vc->sent_fs = s->now_fs;
    vc->until_fs = s->now_fs + taken_fs;
    vc->n_credits = 0;
}

/* -- decisions of a port --------------------------------------------------------------------- */

/* A segment that a port may send: where it lies, and which VC it takes. */
struct candidate {
    struct segment *segment;
    struct port *from; /* the input port; NULL: its source */
    uint32_t from_vc, vc;
    size_t turn;
};

static bool is_older(const struct segment *a, const struct segment *b)
{
    const struct txn *x = a->flow->txn, *y = b->flow->txn;

    if (x->row->prio != y->row->prio)
        return x->row->prio > y->row->prio;
    if (a->ready_fs != b->ready_fs)
        return a->ready_fs < b->ready_fs;
    if (a->flow->class != b->flow->class)
        return a->flow->class == RESPONSE;
    if (x->id != y->id)
        return x->id < y->id;
    if (x->part != y->part)
        return x->part < y->part;
    return a->number < b->number;
}

/* How far behind the last served (turn, VC) a candidate is; all of this instant's have their own.
 */
static bool is_sooner(const struct port *p, const struct candidate *a, const struct candidate *b)
{
    bool a_later = !p->served || a->turn > p->last_turn ||
                   (a->turn == p->last_turn && a->from_vc > p->last_vc);
    bool b_later = !p->served || b->turn > p->last_turn ||
                   (b->turn == p->last_turn && b->from_vc > p->last_vc);

    if (a_later != b_later)
        return a_later;
    return a->turn != b->turn ? a->turn < b->turn : a->from_vc < b->from_vc;
}

static void consider(const struct sim *s, const struct port *p, struct candidate new,
                     struct candidate *best)
{
    if (!new.segment || new.segment->ready_fs > s->now_fs || next_port(new.segment) != p)
        return;
    new.vc = vc_for(s, p, new.segment, !new.from);
    if (new.vc == UINT32_MAX)
        return;
    if (!best->segment ||
        (s->by_turns ? is_sooner(p, &new, best) : is_older(new.segment, best->segment)))
        *best = new;
}

static struct candidate choose(const struct sim *s, const struct port *p)
{
    struct candidate best = {0};

    if (p->n_source && p->source_from_fs <= s->now_fs)
        consider(s, p, (struct candidate){.segment = front_of_source(p)}, &best);
    for (struct port *in = s->inputs[p->channel->nodes[0]]; in; in = in->next_in) {
        bool free_server = false;

        for (uint32_t i = 0; i < s->speedup; i++)
            free_server |= in->server_fs[i] <= s->now_fs;
        for (uint32_t vc = 0; vc < s->vcs[REQUEST] + s->vcs[RESPONSE] && free_server; vc++)
            if (in->input[vc].n && in->input[vc].from_fs <= s->now_fs)
                consider(s, p,
                         (struct candidate){.segment = in->input[vc].line[0],
                                            .from = in,
                                            .from_vc = vc,
                                            .turn = in->turn},
                         &best);
    }
    return best;
}

/* The segment leaves its input port: its place there is free when its last byte has left. */
static void leave_input(struct sim *s, struct port *in, struct segment *g, int64_t taken_fs)
{
    int64_t back_fs = add_fs(s, s->now_fs + taken_fs, in->channel->wire_fs + s->credit_fs);
    size_t n = --in->input[g->vc].n, server = 0;

    memmove(in->input[g->vc].line, in->input[g->vc].line + 1, n * sizeof(struct segment *));
    in->input[g->vc].from_fs = s->now_fs + 1;
    if (g->last && s->alloc_fs) { /* the first of a packet stands in front, and gets its VC */
        in->input[g->vc].from_fs = add_fs(s, s->now_fs + taken_fs, s->alloc_fs);
        wake(s, in->input[g->vc].from_fs);
    }
    while (in->server_fs[server] > s->now_fs)
        server++;
    in->server_fs[server] = s->now_fs + taken_fs;
    post(s, s->now_fs + taken_fs, JUDGE_HOP, NULL,
         (struct thing){.what = LEFT, .port = in, .vc = g->vc, .bytes = (int64_t)(g->b1 - g->b0)});
    if (g->held_room)
        post(s, back_fs, JUDGE_HOP, NULL,
             (struct thing){
                 .what = CREDIT, .port = in, .vc = g->vc, .bytes = (int64_t)(g->b1 - g->b0)});
}

static void grant(struct sim *s, struct port *p, const struct candidate *c)
{
    struct segment *g = c->segment;
    double gbs = p->channel->gbs;
    bool to_memory =
        ends_behind(g) && g->leg + 1 == g->flow->n_legs && g->flow->class == REQUEST && g->first;
    int64_t wire_fs = p->channel->wire_fs > 1 ? p->channel->wire_fs : 1, taken_fs;

    if (c->from && c->from->channel->gbs < gbs)
        gbs = c->from->channel->gbs;
    taken_fs = part_fs(s, g->b0, g->b1, gbs);
    p->free_fs = s->now_fs + taken_fs;
    count_going(
        s, p, c->vc, g,
        max_fs(g->ready_fs, c->from ? c->from->input[c->from_vc].from_fs : p->source_from_fs),
        taken_fs);
    if (c->from)
        leave_input(s, c->from, g, taken_fs);
    else
        leave_source(s, p, g);
    p->waiting--;
    p->served = true;
    p->last_turn = c->turn;
    p->last_vc = c->from_vc;
    g->held_room = room_behind(s, g) != NEVER;
    if (g->held_room)
        p->credits[c->vc] -= (int64_t)(g->b1 - g->b0);
    note_credits(s, p, c->vc);
    p->owner[c->vc].flow = g->flow;
    p->owner[c->vc].packet = g->packet;
    p->owner[c->vc].until_fs = g->last ? s->now_fs + taken_fs : NEVER;
    g->vc = c->vc;
    g->taken_fs = taken_fs;
    record(s, JUDGE_ARBITRATION, g->flow->txn);
    post(s, add_fs(s, s->now_fs, wire_fs), to_memory ? JUDGE_ARRIVAL : JUDGE_HOP, g->flow->txn,
         (struct thing){.what = ARRIVES, .segment = g, .port = p});
    wake(s, s->now_fs + 1);
    wake(s, s->now_fs + taken_fs);
    if (g->last && s->alloc_fs)
        wake(s, add_fs(s, s->now_fs + taken_fs, s->alloc_fs));
}

static int by_asked(const void *a, const void *b, void *arg)
{
    const struct asked *x = a, *y = b;
    const size_t *order = arg;

    if (x->node != y->node)
        return order[x->node] < order[y->node] ? -1 : 1;
    return (x->channel > y->channel) - (x->channel < y->channel);
}

/* Channels with banks that were asked for this instant, of nodes before `end`. */
static void decide_channels(struct sim *s, size_t *next, size_t end)
{
    for (; *next < s->n_asked && s->net.order[s->asked[*next].node] < end; ++*next)
        judge_banks_decide(s->memories[s->asked[*next].node].banks, s->asked[*next].channel,
                           s->now_fs);
}

/* All ports that have something to send, in the order of their numbers; a node's ports are before
 * its channels. */
static void decide(struct sim *s)
{
    size_t next = 0;

    if (s->n_asked)
        qsort_r(s->asked, s->n_asked, sizeof *s->asked, by_asked, s->net.order);
    for (size_t i = 0; i < s->net.n; i++) {
        struct port *p = &s->ports[i];

        if (next < s->n_asked)
            decide_channels(s, &next, s->net.order[p->channel->nodes[0]]);
        if (p->waiting && p->free_fs <= s->now_fs) {
            struct candidate c = choose(s, p);

            if (c.segment)
                grant(s, p, &c);
        }
    }
    decide_channels(s, &next, SIZE_MAX);
    s->n_asked = 0;
}

/* -- stations -------------------------------------------------------------------------------- */

static void engine_taken(struct sim *s, struct txn *x);

static void part_sets_out(struct sim *s, struct txn *x)
{
    int64_t fs = add_fs(s, s->now_fs, x->source_overhead_fs);

    x->result.start_fs = s->now_fs;
    x->result.queue_channel_fs = s->now_fs - x->result.issue_fs;
    if (x->to.segments) {
        send_all(s, &x->to, fs);
        return;
    }
    fs = add_fs(s, fs, x->request_fs[0]);
    if (x->m_cpu != SIZE_MAX)
        post(s, add_fs(s, fs, x->m_cpu_overhead_fs), JUDGE_ARRIVAL, x,
             (struct thing){.what = AT_ENGINE, .txn = x});
    else
        post(s, fs, JUDGE_ARRIVAL, x, (struct thing){.what = AT_MEMORY, .txn = x});
}

/* The parts of a packet set out, the first of which is `x`. */
static void set_out(struct sim *s, const struct txn *x)
{
    struct row *all = &s->all[x->id];

    for (uint32_t i = x->part; i < all->n_parts && all->parts[i].piece.packet == x->piece.packet;
         i++)
        part_sets_out(s, &all->parts[i]);
}

/* docs/model.md "Channels", "Packets": it has its channel, and sets out when its PE may issue it,
 * packet by packet. */
static void channel_taken(struct sim *s, struct txn *first)
{
    struct station *at = &s->stations[!is_read(first)][first->source];
    const struct judge_end *pe = &s->rows[first->id].src;
    int64_t pace_fs =
        llround(judge_cube_number(s->t, pe->sip, pe->cube, "cube.pe.pe_dma.issue_ns") * 1e6);
    struct row *all = &s->all[first->id];

    for (uint32_t i = 0; i < all->n_parts; i++) {
        struct txn *x = &all->parts[i];
        int64_t fs = max_fs(s->now_fs, at->starts_fs);

        if (i > 0 && x->piece.packet == x[-1].piece.packet)
            continue;
        at->starts_fs = add_fs(s, fs, pace_fs);
        if (fs > s->now_fs)
            post(s, fs, JUDGE_HOP, x, (struct thing){.what = SETS_OUT, .txn = x});
        else
            set_out(s, x);
    }
}

static void taken(struct sim *s, struct txn *x, bool engine)
{
    if (engine)
        engine_taken(s, x);
    else
        channel_taken(s, x);
}

/* `x` has come to its channel or its engine. */
static void ask(struct sim *s, struct txn *x, bool engine)
{
    struct station *at = &s->stations[!is_read(x)][engine ? x->m_cpu : x->source];

    record(s, JUDGE_ARRIVAL, x);
    if (at->taken < at->servers) {
        at->taken++;
        taken(s, x, engine);
        return;
    }
    at->line = judge_grow(at->line, at->n + 1, sizeof(struct txn *));
    at->line[at->n++] = x;
}

static void give_back(struct sim *s, const struct txn *x, bool engine)
{
    struct station *at = &s->stations[!is_read(x)][engine ? x->m_cpu : x->source];

    if (at->n == 0) {
        at->taken--;
        return;
    }
    struct txn *next = at->line[0];

    memmove(at->line, at->line + 1, --at->n * sizeof(struct txn *));
    taken(s, next, engine);
}

/* -- m_cpu ----------------------------------------------------------------------------------- */

/* A segment in an m_cpu that is ready, of a transaction that has its engine. */
static void leave_m_cpu(struct sim *s, struct segment *g)
{
    struct flow *f = g->flow;

    if (g->first)
        f->packet_fs[g->packet] = s->now_fs;
    into_source(s, g, s->now_fs, f->packet_fs[g->packet]);
}

static void engine_taken(struct sim *s, struct txn *x)
{
    x->has_engine = true;
    x->result.queue_engine_fs = s->now_fs - x->engine_from_fs;
    if (!x->to.segments) {
        post(s, add_fs(s, s->now_fs, x->request_fs[1]), JUDGE_ARRIVAL, x,
             (struct thing){.what = AT_MEMORY, .txn = x});
        return;
    }
    for (size_t i = 0; i < x->to.n_segments; i++)
        if (x->to.segments[i].leg == 1 && x->to.segments[i].ready_fs <= s->now_fs &&
            x->to.segments[i].ready_fs >= 0)
            leave_m_cpu(s, &x->to.segments[i]);
}

/* It has come to the m_cpu, and is ready after its overhead. */
static void into_m_cpu(struct sim *s, struct segment *g)
{
    struct txn *x = g->flow->txn;
    int64_t fs = add_fs(s, s->now_fs, x->m_cpu_overhead_fs);

    g->leg = 1;
    g->at = 0;
    g->ready_fs = -1; /* not yet */
    post(s, fs, JUDGE_HOP, x, (struct thing){.what = LEAVES_SOURCE, .segment = g});
    if (g->flow->class == REQUEST && !x->engine_asked) {
        x->engine_asked = true;
        post(s, fs, JUDGE_ARRIVAL, x, (struct thing){.what = AT_ENGINE, .txn = x});
    }
}

/* It is ready now. */
static void ready_in_m_cpu(struct sim *s, struct segment *g)
{
    g->ready_fs = s->now_fs;
    if (g->flow->class == RESPONSE || g->flow->txn->has_engine)
        leave_m_cpu(s, g);
}

/* -- memories -------------------------------------------------------------------------------- */

static void wake_banks(void *arg, struct judge_banks *b, const struct judge_end *slice,
                       uint32_t channel, int64_t fs)
{
    struct sim *s = arg;
    struct asked asked = {0, channel};

    (void)slice;
    while (s->memories[asked.node].banks != b)
        asked.node++;
    if (fs > s->now_fs) {
        post(s, fs, JUDGE_HOP, NULL, (struct thing){.what = CHANNEL_DECIDES, .channel = asked});
        return;
    }
    s->asked = judge_grow(s->asked, s->n_asked + 1, sizeof *s->asked);
    s->asked[s->n_asked++] = asked;
}

static void granted_bus(void *arg, const struct judge_access *access)
{
    struct sim *s = arg;

    record(s, JUDGE_ARBITRATION, &s->all[access->id].parts[access->part]);
}

/* Data of a read whose bursts all have ends, and those before them, wait for the way back. */
static void burst_ends(void *arg, const struct judge_access *access, uint64_t number,
                       int64_t end_fs)
{
    struct sim *s = arg;
    struct txn *x = &s->all[access->id].parts[access->part];
    struct flow *f = &x->back;

    note_burst(x, access, number, end_fs);
    if (!is_read(x))
        return;
    for (; x->n_known < f->n_segments && data_ready_fs(x, x->n_known) >= 0; x->n_known++) {
        struct segment *g = &f->segments[x->n_known];
        int64_t ready_fs = data_ready_fs(x, x->n_known);

        if (g->first)
            f->packet_fs[g->packet] = ready_fs;
        into_source(s, g, ready_fs, f->packet_fs[g->packet]);
    }
}

/* The room of a segment in the memory's queue is free again. */
static void post_room(struct sim *s, struct segment *g, struct port *p, int64_t served_fs)
{
    if (g->held_room)
        post(s, max_fs(g->tail_fs, served_fs), JUDGE_HOP, NULL,
             (struct thing){.what = CREDIT,
                            .port = p,
                            .vc = g->vc,
                            .bytes = (int64_t)(g->b1 - g->b0),
                            .of_memory = true});
}

/* Room at banks: of a packet until it has been accepted or written, of a command until the last
 * burst of its read has ended. */
static void keep_room(struct sim *s, struct segment *g, struct port *p)
{
    int64_t leaves_fs = g->flow->txn->leaves_fs[g->packet];

    if (leaves_fs > 0)
        post_room(s, g, p, leaves_fs);
    else
        g->port = p;
}

static void leave_room(struct sim *s, struct txn *x, uint64_t packet, int64_t fs)
{
    x->leaves_fs[packet] = fs;
    for (size_t i = 0; i < x->to.n_segments; i++)
        if (x->to.segments[i].packet == packet && x->to.segments[i].port)
            post_room(s, &x->to.segments[i], x->to.segments[i].port, fs);
}

/* All is in, and has been accepted or written. */
static void finish_banked(struct sim *s, struct txn *x)
{
    struct judge_result *r = &x->result;
    int64_t came_fs = max_fs(x->to.last_tail_fs, r->arrive_fs + r->drain_fs);
    int64_t done_fs =
        written_fs(x, r->arrive_fs, x->to.last_tail_fs) + x->memory_overhead_fs + x->latency_fs;

    r->queue_memory_fs = done_fs - came_fs - (x->alone_fs - r->drain_fs);
    r->service_fs = r->arrive_fs + r->queue_memory_fs;
    post(s, done_fs, JUDGE_DONE, x, (struct thing){.what = DONE, .txn = x});
}

/* A packet has ended; of a read all bursts have ends. */
static void access_ends(void *arg, const struct judge_access *access, int64_t done_fs)
{
    struct sim *s = arg;
    struct txn *x = &s->all[access->id].parts[access->part];
    struct judge_result *r = &x->result;
    int64_t *ready_fs;

    note_done(x, access, done_fs);
    leave_room(s, x, access->packet, done_fs - x->memory_overhead_fs - x->latency_fs);
    if (!is_read(x)) {
        if (--x->packets_left == 0 && x->to.n_in == x->to.n_segments)
            finish_banked(s, x);
        return;
    }
    ready_fs = judge_alloc(x->back.n_segments, sizeof *ready_fs);
    for (size_t k = 0; k < x->back.n_segments; k++)
        ready_fs[k] = data_ready_fs(x, k);
    r->queue_memory_fs = read_alone_fs(s, x, ready_fs) - r->return_fs - r->arrive_fs - x->alone_fs;
    r->service_fs = r->arrive_fs + r->queue_memory_fs;
    free(ready_fs);
}

/* A read, or a packet whose first segment is `g`, comes to its banks. */
static void into_banks(struct sim *s, struct txn *x, const struct segment *g)
{
    struct memory *m = &s->memories[x->memory];
    struct judge_banks_user user = {s, wake_banks, granted_bus, access_ends, burst_ends};
    struct judge_access access = access_of(x, g, g ? g->packet : 0);

    if (!m->banks)
        m->banks = judge_banks_new(s->t, &x->piece.memory, true, &user);
    record(s, JUDGE_ARRIVAL, x);
    if (!g || g->packet == 0)
        x->result.arrive_fs = s->now_fs;
    access.arrive_fs = s->now_fs;
    judge_banks_arrive(m->banks, &access);
}

/* A read, or a packet whose first segment is `g`, comes to its cache. */
static struct judge_cached into_cache(struct sim *s, struct txn *x, const struct segment *g)
{
    struct memory *m = &s->memories[x->memory];
    struct judge_access access = to_cache(x, g);
    struct judge_cached now;

    if (!m->cache)
        m->cache = judge_cache_new(s->t, &x->piece.memory);
    record(s, JUDGE_ARRIVAL, x);
    access.arrive_fs = s->now_fs;
    now = judge_cache_arrive(m->cache, &access, x->result.bottleneck_gbs, &s->too_late);
    judge_post_children(&s->events, x->id, &now);
    if (!g || g->packet == 0) {
        x->result.arrive_fs = s->now_fs;
        x->result.service_fs = x->begin_fs = now.begin_fs;
    }
    free(access.runs);
    return now;
}

/* A read's request is in: it has the memory when those before it are served. */
static void serve_read(struct sim *s, struct txn *x)
{
    struct memory *m = &s->memories[x->memory];
    struct judge_result *r = &x->result;
    int64_t own_fs = part_fs(s, 0, x->piece.nbytes, x->held_gbs);

    if (x->banked) {
        into_banks(s, x, NULL);
        return;
    }
    if (x->cached) {
        int64_t done_fs = into_cache(s, x, NULL).done_fs;

        r->queue_memory_fs = done_fs - s->now_fs - x->alone_fs;
        post(s, done_fs - r->drain_fs, JUDGE_HOP, x, (struct thing){.what = DATA, .txn = x});
        return;
    }
    record(s, JUDGE_ARRIVAL, x);
    r->arrive_fs = s->now_fs;
    r->service_fs = max_fs(s->now_fs, m->free_fs);
    r->queue_memory_fs = r->service_fs - s->now_fs;
    m->free_fs = add_fs(s, r->service_fs, x->memory_overhead_fs + own_fs);
    post(s, add_fs(s, r->service_fs, x->memory_overhead_fs + x->latency_fs), JUDGE_HOP, x,
         (struct thing){.what = DATA, .txn = x});
}

/* A packet's first segment is in: it has the memory when those before it are served. */
static void serve_packet(struct sim *s, struct segment *g)
{
    struct flow *f = g->flow;
    struct txn *x = f->txn;
    struct memory *m = &s->memories[x->memory];
    uint64_t end = g->b1;
    int64_t begin_fs = max_fs(s->now_fs, m->free_fs);

    for (size_t i = g->number; i < f->n_segments && f->segments[i].packet == g->packet; i++)
        end = f->segments[i].b1;
    if (x->cached) {
        begin_fs = into_cache(s, x, g).begin_fs;
        f->packet_fs[g->packet] = begin_fs;
        x->last_free_fs =
            max_fs(x->last_free_fs, add_fs(s, begin_fs, part_fs(s, g->b0, end, x->held_gbs)));
        return;
    }
    record(s, JUDGE_ARRIVAL, x);
    f->packet_fs[g->packet] = begin_fs;
    if (g->packet == 0) {
        x->result.arrive_fs = s->now_fs;
        x->result.service_fs = begin_fs;
        x->result.queue_memory_fs = begin_fs - s->now_fs;
        begin_fs = add_fs(s, begin_fs, x->memory_overhead_fs);
    }
    m->free_fs = add_fs(s, begin_fs, part_fs(s, g->b0, end, x->held_gbs));
    x->last_free_fs = max_fs(x->last_free_fs, m->free_fs);
}

static void into_memory(struct sim *s, struct segment *g, struct port *p)
{
    struct flow *f = g->flow;
    struct txn *x = f->txn;
    const struct judge_result *r = &x->result;
    uint64_t packet_begin = s->packet_bytes ? g->packet * s->packet_bytes : 0;
    int64_t served_fs, done_fs;

    g->tail_fs = add_fs(s, s->now_fs, g->taken_fs);
    if (g->held_room)
        hold(s, &p->counted[g->vc], (int64_t)(g->b1 - g->b0));
    if (x->banked)
        keep_room(s, g, p);
    if (f->command) {
        serve_read(s, x);
        if (!x->banked)
            post_room(s, g, p, r->service_fs);
        return;
    }
    if (x->banked) {
        if (g->first)
            into_banks(s, x, g);
        f->last_tail_fs = max_fs(f->last_tail_fs, add_fs(s, s->now_fs, g->taken_fs));
        if (++f->n_in == f->n_segments && x->packets_left == 0)
            finish_banked(s, x);
        return;
    }
    if (g->first)
        serve_packet(s, g);
    served_fs = f->packet_fs[g->packet] + (g->packet == 0 ? x->memory_overhead_fs : 0) +
                part_fs(s, packet_begin, g->b1, x->held_gbs);
    post_room(s, g, p, served_fs);
    f->last_tail_fs = max_fs(f->last_tail_fs, add_fs(s, s->now_fs, g->taken_fs));
    if (++f->n_in < f->n_segments)
        return;
    done_fs = max_fs(f->last_tail_fs, x->last_free_fs);
    done_fs = max_fs(done_fs, add_fs(s, r->service_fs, x->memory_overhead_fs + r->drain_fs));
    if (x->cached)
        x->result.queue_memory_fs = done_fs + x->latency_fs -
                                    max_fs(f->last_tail_fs, r->arrive_fs + r->drain_fs) -
                                    (x->alone_fs - r->drain_fs);
    post(s, add_fs(s, done_fs, x->latency_fs), JUDGE_DONE, x,
         (struct thing){.what = DONE, .txn = x});
}

/* A part of a read's data is at the end of its way. */
static void into_reader(struct sim *s, struct segment *g)
{
    struct flow *f = g->flow;
    struct txn *x = f->txn;

    if (g->number == 0)
        f->first_fs = s->now_fs;
    f->last_tail_fs = max_fs(f->last_tail_fs, add_fs(s, s->now_fs, g->taken_fs));
    if (++f->n_in == f->n_segments)
        post(s, max_fs(f->last_tail_fs, add_fs(s, f->first_fs, x->result.drain_fs)), JUDGE_DONE, x,
             (struct thing){.what = DONE, .txn = x});
}

/*
 * A node may be a gate: "it lets one transaction through in an interval, the others wait", and "a
 * node is asked when the head of a packet is there". What is behind the head takes as long.
 */
static void pass_gate(struct sim *s, struct segment *g, struct port *p)
{
    int64_t *next_fs = &s->gates[path_of(g)->links[g->at].node];
    int64_t *wait_fs = &p->input[g->vc].gate_fs;
    size_t n = p->input[g->vc].n;

    if (g->first) {
        *wait_fs = max_fs(*next_fs - s->now_fs, 0);
        *next_fs = s->now_fs + *wait_fs + s->interval_fs;
        if (g->number == 0)
            g->flow->txn->result.overhead_fs += *wait_fs;
    }
    g->ready_fs = add_fs(s, g->ready_fs, *wait_fs);
    if (n > 0)
        g->ready_fs = max_fs(g->ready_fs, p->input[g->vc].line[n - 1]->ready_fs);
}

/* How long a node takes: where it is a router that is no gate, what is behind the first of a packet
 * needs no VC. */
static int64_t after_alloc(const struct sim *s, const struct segment *g)
{
    const struct judge_link *link = &path_of(g)->links[g->at];

    if (g->first || s->t->is_gate[link->node])
        return link->delay_fs;
    return max_fs(link->delay_fs - s->alloc_fs, 0);
}

/* A segment has come to the end of its channel. */
static void arrive(struct sim *s, struct segment *g, struct port *p)
{
    if (!ends_behind(g)) {
        g->at++;
        g->ready_fs = add_fs(s, s->now_fs, after_alloc(s, g));
        if (s->t->is_gate[path_of(g)->links[g->at].node])
            pass_gate(s, g, p);
        p->input[g->vc].line =
            judge_grow(p->input[g->vc].line, p->input[g->vc].n + 1, sizeof(struct segment *));
        p->input[g->vc].line[p->input[g->vc].n++] = g;
        hold(s, &p->counted[g->vc], (int64_t)(g->b1 - g->b0));
        next_port(g)->waiting++;
        wake(s, g->ready_fs);
    } else if (g->leg + 1 < g->flow->n_legs) {
        into_m_cpu(s, g);
    } else if (g->flow->class == REQUEST) {
        into_memory(s, g, p);
    } else {
        into_reader(s, g);
    }
}

/* -- rows ------------------------------------------------------------------------------------ */

static void issue_at(struct sim *s, size_t id, int64_t fs)
{
    struct row *all = &s->all[id];

    all->issued = true;
    for (uint32_t i = 0; i < all->n_parts; i++)
        all->parts[i].result.issue_fs = fs;
    post(s, fs, JUDGE_ISSUE, &all->parts[0], (struct thing){.what = ISSUED, .txn = all->parts});
}

/* Issues every row that waits for others, if all of these have ended. */
static void issue_others(struct sim *s, size_t ended)
{
    for (size_t id = 0; id < s->n_rows; id++) {
        const struct judge_row *row = &s->rows[id];
        bool waits = false, may = !s->all[id].issued;
        int64_t fs = row->issue_fs;

        for (size_t i = 0; i < row->n_after; i++) {
            const struct row *other = &s->all[row->after[i]];

            waits |= row->after[i] == ended;
            may &= other->ended;
            if (other->ended)
                fs = max_fs(fs, add_fs(s, other->end_fs, row->think_fs));
        }
        if (waits && may)
            issue_at(s, id, fs);
    }
}

static void check_sums(const struct sim *s, const struct txn *x)
{
    const struct judge_result *r = &x->result;

    if (s->too_late)
        return;
    if (r->queue_link_fs < 0 && !x->banked && !x->cached)
        judge_die("transaction %llu is faster than its formula", (unsigned long long)x->id);
}

static void finish_row(struct sim *s, struct row *all)
{
    const struct txn *last = &all->parts[0];

    for (uint32_t i = 1; i < all->n_parts; i++)
        if (all->parts[i].result.end_fs > last->result.end_fs)
            last = &all->parts[i];
    s->results[last->id] = last->result;
    all->ended = true;
    all->end_fs = last->result.end_fs;
    if (!is_host(last))
        give_back(s, last, false);
    issue_others(s, last->id);
}

/*
 * Banks may be faster than alone, where a row was open. "Neither wait is negative": the memory has
 * what is left of its wait behind that for links, and what was no wait at all makes the overhead
 * less.
 */
static void divide_waits(struct judge_result *r)
{
    int64_t together_fs = r->queue_link_fs + r->queue_memory_fs;

    if (together_fs < 0) {
        r->overhead_fs += together_fs;
        together_fs = 0;
    }
    if (r->queue_memory_fs < 0)
        r->queue_memory_fs = 0;
    if (r->queue_memory_fs > together_fs)
        r->queue_memory_fs = together_fs;
    r->queue_link_fs = together_fs - r->queue_memory_fs;
    r->service_fs = r->arrive_fs + r->queue_memory_fs;
}

static void finish(struct sim *s, struct txn *x)
{
    struct judge_result *r = &x->result;

    record(s, JUDGE_DONE, x);
    r->done_fs = s->now_fs;
    r->end_fs = add_fs(s, s->now_fs, r->response_fs);
    r->formula_fs = r->wire_fs + r->overhead_fs + r->drain_fs + r->return_fs + r->response_fs;
    r->actual_fs = r->end_fs - r->issue_fs;
    r->queue_link_fs = r->actual_fs - r->formula_fs - r->queue_channel_fs - r->queue_engine_fs -
                       r->queue_memory_fs;
    check_sums(s, x);
    if (x->banked || x->cached)
        divide_waits(r);
    if (x->cached)
        r->service_fs = x->begin_fs;
    if (x->m_cpu != SIZE_MAX)
        give_back(s, x, true);
    if (--s->all[x->id].n_left == 0)
        finish_row(s, &s->all[x->id]);
}

static void run_event(struct sim *s, const struct judge_event *e)
{
    struct thing it;

    if (e->step == JUDGE_OF_A_CHILD) {
        s->fingerprint = judge_record_child(s->fingerprint, e);
        return;
    }
    it = s->things[e->step];
    switch (it.what) {
    case WAKE:
        break;
    case CHANNEL_DECIDES:
        s->asked = judge_grow(s->asked, s->n_asked + 1, sizeof *s->asked);
        s->asked[s->n_asked++] = it.channel;
        break;
    case ARRIVES:
        arrive(s, it.segment, it.port);
        break;
    case LEFT:
        hold(s, &it.port->counted[it.vc], -it.bytes);
        break;
    case CREDIT:
        it.port->credits[it.vc] += it.bytes;
        note_credits(s, it.port, it.vc);
        if (it.of_memory)
            hold(s, &it.port->counted[it.vc], -it.bytes);
        break;
    case SETS_OUT:
        set_out(s, it.txn);
        break;
    case LEAVES_SOURCE:
        ready_in_m_cpu(s, it.segment);
        break;
    case AT_ENGINE:
        it.txn->engine_from_fs = s->now_fs;
        ask(s, it.txn, true);
        break;
    case AT_MEMORY:
        serve_read(s, it.txn);
        break;
    case DATA:
        send_all(s, &it.txn->back, s->now_fs);
        break;
    case DONE:
        finish(s, it.txn);
        break;
    case ISSUED:
        if (e->class == JUDGE_ARRIVAL)
            ask(s, it.txn, false);
        else if (is_host(it.txn))
            set_out(s, it.txn);
        else
            post(s, s->now_fs, JUDGE_ARRIVAL, it.txn, it);
        break;
    }
}

/* -- a run ----------------------------------------------------------------------------------- */

static int by_turn(const void *a, const void *b)
{
    const struct port *x = *(struct port *const *)a, *y = *(struct port *const *)b;

    if (x->turn != y->turn)
        return x->turn < y->turn ? -1 : 1;
    return (x->channel->number > y->channel->number) - (x->channel->number < y->channel->number);
}

/* Ports of all channels; the input ports of a node have turns of their own, from 1. */
static void build_ports(struct sim *s)
{
    struct port **sorted = judge_alloc(s->net.n, sizeof(struct port *));

    judge_number_channels(s->t, &s->net);
    s->ports = judge_alloc(s->net.n, sizeof *s->ports);
    s->inputs = judge_alloc(s->t->n_nodes, sizeof(struct port *));
    for (size_t i = 0; i < s->net.n; i++) {
        struct judge_channel *c = s->net.channels[i];

        c->port = sorted[i] = &s->ports[i];
        s->ports[i].channel = c;
        s->ports[i].turn = judge_turn(s->t, &s->net, c);
    }
    if (s->net.n)
        qsort(sorted, s->net.n, sizeof(struct port *), by_turn);
    for (size_t i = 0; i < s->net.n; i++) {
        size_t node = sorted[i]->channel->nodes[sorted[i]->channel->n_edges];

        sorted[i]->turn = i + 1;
        sorted[i]->next_in = s->inputs[node];
        s->inputs[node] = sorted[i];
    }
    free(sorted);
}

static void read_values(struct sim *s)
{
    s->segment_bytes = judge_count(s->t, "contention.segment_bytes");
    s->packet_bytes = judge_count(s->t, "contention.packet_bytes");
    s->buffer_bytes = judge_count(s->t, "contention.buffer_bytes");
    s->command_bytes = judge_count(s->t, "contention.command_bytes");
    s->vcs[REQUEST] = judge_count(s->t, "contention.vcs.0");
    s->vcs[RESPONSE] = judge_count(s->t, "contention.vcs.1");
    s->prios = judge_count(s->t, "contention.prios");
    s->speedup = judge_count(s->t, "contention.input_speedup");
    s->credit_fs = judge_ns(judge_number(s->t, "contention.credit_ns"));
    s->alloc_fs = judge_ns(judge_number(s->t, "contention.vc_alloc_ns"));
    s->by_turns = strcmp(judge_text(s->t, "contention.arbiter"), "rr") == 0;
    if (s->vcs[REQUEST] + s->vcs[RESPONSE] > VCS_MAX || s->speedup > SPEEDUP_MAX)
        judge_die("too many VCs or input servers");
    s->interval_fs = judge_ns(judge_number(s->t, "cube.noc.gate.interval_ns"));
    s->gates = judge_alloc(s->t->n_nodes, sizeof *s->gates);
    s->memories = judge_alloc(s->t->n_nodes, sizeof *s->memories);
    for (int write = 0; write < 2; write++) {
        s->stations[write] = judge_alloc(s->t->n_nodes, sizeof *s->stations[write]);
        for (size_t i = 0; i < s->t->n_nodes; i++)
            s->stations[write][i].servers = judge_servers(s->t, &s->t->nodes[i], write);
    }
}

static void clear_flow(struct flow *f)
{
    free(f->segments);
    free(f->packet_fs);
    free(f->legs[0].links);
    free(f->legs[1].links);
}

static void tear_down(struct sim *s)
{
    for (size_t i = 0; i < s->n_rows; i++) {
        for (uint32_t p = 0; p < s->all[i].n_parts; p++) {
            clear_flow(&s->all[i].parts[p].to);
            clear_flow(&s->all[i].parts[p].back);
            free(s->all[i].parts[p].ends_fs);
            free(s->all[i].parts[p].piece.runs);
            free(s->all[i].parts[p].leaves_fs);
        }
        free(s->all[i].parts);
    }
    for (size_t i = 0; s->ports && i < s->net.n; i++) {
        free(s->ports[i].source);
        for (size_t vc = 0; vc < VCS_MAX; vc++) {
            free(s->ports[i].input[vc].line);
            free(s->ports[i].counted[vc].credits);
            free(s->ports[i].counted[vc].changes);
        }
    }
    for (int write = 0; write < 2; write++) {
        for (size_t i = 0; i < s->t->n_nodes; i++)
            free(s->stations[write][i].line);
        free(s->stations[write]);
    }
    for (size_t i = 0; i < s->t->n_nodes; i++)
        judge_banks_free(s->memories[i].banks);
    for (size_t i = 0; i < s->t->n_nodes; i++)
        judge_cache_free(s->memories[i].cache);
    judge_network_clear(&s->net);
    free(s->asked);
    free(s->changed);
    free(s->all);
    free(s->ports);
    free(s->inputs);
    free(s->memories);
    free(s->gates);
    free(s->things);
    free(s->events.heap);
}

/* Nothing waits, and all rooms are as they were. */
static void check_end(const struct sim *s)
{
    for (size_t i = 0; i < s->net.n; i++) {
        const struct port *p = &s->ports[i];

        if (p->waiting || p->n_source)
            judge_die("segments wait at a port where nothing moves");
        for (size_t vc = 0; vc < VCS_MAX; vc++)
            if (p->input[vc].n || p->credits[vc])
                judge_die("a segment or a credit is lost");
    }
    for (size_t i = 0; i < s->n_rows; i++)
        if (!s->all[i].ended)
            judge_die("row %zu does not end", i);
}

static void run(struct sim *s)
{
    while (!s->too_late && s->events.n > 0) {
        struct judge_event e = judge_next(&s->events);

        if (e.fs < s->now_fs)
            judge_die("time runs backwards");
        s->now_fs = e.fs;
        run_event(s, &e);
        if (s->events.n == 0 || s->events.heap[0].fs > s->now_fs) {
            note_most(s);
            decide(s);
        }
    }
    if (!s->too_late)
        check_end(s);
}

/* Those of all ports. */
static struct judge_vc *counted_vcs(const struct sim *s, size_t *n)
{
    uint32_t each = s->vcs[REQUEST] + s->vcs[RESPONSE];
    struct judge_vc *vcs = judge_alloc(s->net.n * each + 1, sizeof *vcs);

    *n = 0;
    for (size_t i = 0; i < s->net.n; i++)
        for (uint32_t vc = 0; vc < each; vc++)
            if (s->ports[i].counted[vc].segments) {
                vcs[(*n)++] = s->ports[i].counted[vc];
                s->ports[i].counted[vc].changes = NULL;
            }
    return vcs;
}

static bool has_gates(const struct judge_topo *t)
{
    for (size_t i = 0; i < t->n_nodes; i++)
        if (t->is_gate[i])
            return true;
    return false;
}

bool judge_replay_routers(const struct judge_topo *t, const struct judge_row *rows, size_t n,
                          struct judge_vc **vcs, size_t *n_vcs, struct judge_result *results,
                          uint64_t *fingerprint)
{
    struct sim s = {
        .t = t, .rows = rows, .results = results, .n_rows = n, .fingerprint = JUDGE_NO_EVENTS};
    bool ok = true;

    s.all = judge_alloc(n, sizeof *s.all);
    read_values(&s);
    for (size_t i = 0; i < n && ok; i++)
        ok = prepare(&s, i);
    if (ok) {
        build_ports(&s);
        for (size_t i = 0; i < n; i++)
            if (rows[i].n_after == 0)
                issue_at(&s, i, rows[i].issue_fs);
        run(&s);
    }
    if (s.too_late)
        fprintf(stderr, "judge: simulated time has passed 2^63 fs\n");
    for (size_t i = 0; ok && i < n; i++)
        if (has_gates(t) || judge_runs_alone(t, &rows[i]))
            results[i].formula_fs =
                n == 1 ? results[i].actual_fs : judge_alone_fs(t, &rows[i], i + rows[i].plus);
    if (vcs)
        *vcs = counted_vcs(&s, n_vcs);
    tear_down(&s);
    *fingerprint = s.fingerprint;
    return ok && !s.too_late;
}
