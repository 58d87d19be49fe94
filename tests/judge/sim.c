/* sim.c -- transactions in time, after docs/model.md: an event for every node and wire. */
#include "l2.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Which stations there are: by node channels of a pe_dma and engines of an m_cpu, and memories; by
 * edge links, and, of those that exist one way only, the way back.
 */
enum where { READS, WRITES, MEMORIES, LINKS, RETURNS, N_WHERE };

/* A resource with `servers` of its kind; a transaction that finds all of them taken waits in a
 * line. */
struct station {
    enum where where;
    size_t index;
    uint32_t servers, taken;
    struct txn *first, *last; /* the line; txn.next leads through it */
    uint32_t in_line;
    struct judge_use use;
    uint64_t let_in;           /* the last that was let in */
    struct judge_banks *banks; /* of a memory that has them */
    struct judge_cache *cache; /* the same */
    struct judge_l2 *l2; /* or a slice's cache before `banks`, of which it has asked `asked` */
    struct judge_use asked;
    int64_t starts_fs; /* of a channel: none sets out earlier */
};

enum step_kind { DELAY, CHANNEL, ENGINE, LINK, MEMORY };

/* One step on a transaction's way. */
struct step {
    enum step_kind kind;
    int64_t fs;         /* a delay; how long a link or a memory stays taken */
    int64_t done_fs;    /* of a memory: how long until its last byte is there */
    struct station *at; /* unless it is a delay */
};

/* A part of a row; most rows have one. */
struct txn {
    uint64_t id, part;
    const struct judge_l2_child
        *child; /* owned; it is what an L2 asks, and `l2` the station of that */
    struct station *l2;
    uint64_t packet; /* that it is of */
    uint64_t nbytes;
    uint64_t offset;
    struct judge_stretch *runs; /* owned; of a tile; else NULL */
    size_t n_runs;
    uint64_t moved; /* bytes that its memory moves */
    bool write;
    struct step *steps;
    size_t n_steps, room;
    size_t now_at;    /* the step that comes next, or that it waits for */
    int64_t alone_fs; /* in a memory with banks: from arrival to done, alone */
    int64_t arrived_fs;
    uint64_t behind; /* the last that had been let in when it arrived */
    bool waits;
    struct txn *next;
    size_t *nodes, n_nodes; /* of a multicast: of its route */
    struct txn *trunk;      /* of a multicast: the part that it parts from ... */
    size_t fork; /* ... behind that step of the trunk, a link; its own are behind it, too */
    struct judge_result result;
};

/* The step of the event at which a packet sets out. */
#define SETS_OUT SIZE_MAX

/* A row: its parts, and how many of them have not ended. Part 0 takes the channel for all. */
struct row {
    struct txn *parts;
    struct txn **children; /* owned: what L2s have made for it */
    size_t n_children;
    uint32_t n_parts, n_left;
    struct judge_result *result; /* of the part that ended last */
    bool issued, ended;
};

struct sim {
    const struct judge_topo *t;
    const struct judge_row *rows;
    size_t n_rows;
    bool fifo, too_late;
    bool waits_for_rows; /* some row does */
    struct row *all;
    struct station **stations[N_WHERE]; /* by node or edge; NULL: not taken yet */
    struct judge_events events;
    int64_t now_fs, last_fs; /* last_fs: the last end so far */
    int64_t free_fs;         /* the last that was served */
    uint64_t now_id;         /* of the event */
    uint64_t fingerprint;
    struct judge_waits *waits; /* NULL: not asked for */
};

static int64_t add_fs(struct sim *s, int64_t a, int64_t b)
{
    return judge_add_fs(a, b, &s->too_late);
}

static int64_t transfer_fs(struct sim *s, uint64_t nbytes, double gbs)
{
    return judge_transfer_fs(nbytes, gbs, &s->too_late);
}

static void post(struct sim *s, int64_t after_fs, enum judge_class class, const struct txn *x,
                 size_t step)
{
    judge_post(&s->events, (struct judge_event){.fs = add_fs(s, s->now_fs, after_fs),
                                                .class = class,
                                                .id = x->id,
                                                .part = x->part,
                                                .step = step});
}

/* The address map: the id of a part is the row's + part * 2^48. */
static void record(struct sim *s, enum judge_class class, const struct txn *x)
{
    struct judge_event e = {
        .fs = s->now_fs, .class = class, .id = judge_record_number(x->id, x->part)};

    s->fingerprint = judge_fingerprint(s->fingerprint, &e);
}

/* The station of a node or an edge. */
static struct station *station_at(struct sim *s, enum where where, size_t index)
{
    struct station **at = &s->stations[where][index];

    if (*at)
        return *at;
    *at = judge_alloc(1, sizeof **at);
    (*at)->where = where;
    (*at)->index = index;
    (*at)->servers = 1;
    if (where == READS || where == WRITES)
        (*at)->servers = judge_servers(s->t, &s->t->nodes[index], where == WRITES);
    if (where == LINKS)
        (*at)->servers = s->t->edges[index].lanes;
    if (where == RETURNS)
        (*at)->servers = s->t->edges[index].back_lanes;
    return *at;
}

/* -- steps ---------------------------------------------------------------------------------- */

static void add_step(struct txn *x, enum step_kind kind, int64_t fs, struct station *at)
{
    if (x->n_steps == x->room) {
        x->room = x->room ? 2 * x->room : 16;
        x->steps = judge_grow(x->steps, x->room, sizeof *x->steps);
    }
    x->steps[x->n_steps++] = (struct step){.kind = kind, .fs = fs, .at = at};
}

/* docs/model.md "Links": data of a write flows along the edge, data of a read against it. */
static struct station *link_of(struct sim *s, const struct judge_hop *h, bool write)
{
    if (write)
        return station_at(s, LINKS, h->edge);
    return h->back == SIZE_MAX ? station_at(s, RETURNS, h->edge) : station_at(s, LINKS, h->back);
}

/* A part of a row, or a child of one. */
static struct txn *find(const struct sim *s, uint64_t id, uint64_t part)
{
    struct row *all = &s->all[id];

    if (part < all->n_parts)
        return &all->parts[part];
    for (size_t i = 0; i < all->n_children; i++)
        if (all->children[i]->part == part)
            return all->children[i];
    judge_die("there is no part %llu of %llu", (unsigned long long)part, (unsigned long long)id);
}

/* It is known when `x` is done: an L2 may wait for that. */
static void will_be_done(struct sim *s, const struct txn *x, int64_t fs)
{
    if (x->child && x->child->number)
        judge_l2_child_ends(x->l2->l2, x->id, x->child->maker, x->child->number, fs,
                            x->result.drain_fs, &s->too_late);
}

/* -- banks ---------------------------------------------------------------------------------- */

static void wake(void *arg, struct judge_banks *b, const struct judge_end *slice, uint32_t channel,
                 int64_t fs)
{
    struct sim *s = arg;

    judge_post(&s->events, (struct judge_event){.fs = fs,
                                                .class = JUDGE_ARBITRATION,
                                                .id = judge_channel_number(s->t, slice, channel),
                                                .step = channel,
                                                .banks = b});
}

/* A grant is recorded with the transaction that got it. */
static void granted(void *arg, const struct judge_access *access)
{
    struct sim *s = arg;

    record(s, JUDGE_ARBITRATION, find(s, access->id, access->part));
}

/* It is known when the access is done: what it has waited is what it would not alone. */
static void done_by_banks(void *arg, const struct judge_access *access, int64_t done_fs)
{
    struct sim *s = arg;
    struct txn *x = find(s, access->id, access->part);
    struct judge_result *r = &x->result;

    r->queue_memory_fs = done_fs - r->arrive_fs - x->alone_fs;
    r->service_fs = r->arrive_fs + r->queue_memory_fs;
    judge_post(
        &s->events,
        (struct judge_event){
            .fs = done_fs, .class = JUDGE_DONE, .id = x->id, .part = x->part, .step = x->n_steps});
    will_be_done(s, x, done_fs);
}

static struct judge_access access_of(const struct txn *x, int64_t now_fs)
{
    return (struct judge_access){.id = x->id,
                                 .part = x->part,
                                 .write = x->write,
                                 .arrive_fs = now_fs,
                                 .drain_fs = x->result.drain_fs,
                                 .offset = x->offset,
                                 .nbytes = x->nbytes,
                                 .runs = x->runs,
                                 .n_runs = x->n_runs};
}

/*
 * Part `x` goes to a slice with banks. Its overhead there is what it takes alone, except for its
 * drain; `memory_fs` is the overhead and the latency of the slice, a part of that.
 */
static void plan_banks(struct sim *s, struct txn *x, const struct judge_end *slice,
                       struct station *at, int64_t memory_fs)
{
    struct judge_access access = access_of(x, 0);
    struct judge_banks_user user = {s, wake, granted, done_by_banks, NULL};

    if (!at->banks)
        at->banks = judge_banks_new(s->t, slice, true, &user);
    x->alone_fs = judge_banks_alone_fs(s->t, slice, &access);
    x->result.overhead_fs += x->alone_fs - x->result.drain_fs - memory_fs;
}

/* -- caches --------------------------------------------------------------------------------- */

static void done_by_l2(void *arg, uint64_t id, uint64_t part, int64_t begin_fs, int64_t done_fs);

/* What the row `made` made on its last step, at the station that it stands at there. */
static struct txn *new_child(struct sim *s, const struct judge_l2_child *made)
{
    struct row *all = &s->all[made->id];
    const struct txn *maker = find(s, made->id, made->maker);
    struct judge_l2_child *child = judge_alloc(1, sizeof *child);
    struct txn *x = judge_alloc(1, sizeof *x);

    *child = *made;
    all->children = judge_grow(all->children, all->n_children + 1, sizeof *all->children);
    all->children[all->n_children++] = x;
    x->id = child->id;
    x->part = child->part;
    x->child = child;
    x->l2 = maker->steps[maker->n_steps - 1].at;
    x->nbytes = child->piece.nbytes;
    x->offset = child->piece.offset;
    x->write = child->write;
    x->runs = child->piece.runs;
    x->n_runs = child->piece.n_runs;
    return x;
}

/* A cache before banks asks them, at their own station. */
static void ask_banks(void *arg, struct judge_l2_child *made)
{
    struct sim *s = arg;
    struct txn *x = new_child(s, made);

    if (!made->write)
        x->result.drain_fs =
            transfer_fs(s, made->asked, find(s, made->id, made->maker)->result.bottleneck_gbs);
    add_step(x, MEMORY, 0, x->l2);
    x->l2->asked.count++;
    x->l2->asked.bytes += x->nbytes;
    post(s, made->depart_fs - s->now_fs, JUDGE_ARRIVAL, x, 0);
}

static void plan_chain(struct sim *s, const struct judge_end *slice, struct station *at)
{
    struct judge_banks_user banks = {s, wake, granted, done_by_banks, NULL};
    struct judge_l2_user cache = {s, ask_banks, done_by_l2};

    if (at->l2)
        return;
    at->l2 = judge_l2_new(s->t, slice, &cache);
    at->banks = judge_banks_new(s->t, slice, true, &banks);
}

/* As plan_banks(): alone a cache is empty. */
static void plan_cache(struct sim *s, struct txn *x, const struct judge_end *slice,
                       struct station *at, int64_t memory_fs)
{
    struct judge_access access = access_of(x, 0);

    if (judge_has_banks(s->t, slice))
        plan_chain(s, slice, at);
    else if (!at->cache)
        at->cache = judge_cache_new(s->t, slice);
    x->alone_fs =
        judge_cache_alone_fs(s->t, slice, &access, x->result.bottleneck_gbs, &s->too_late);
    x->result.overhead_fs += x->alone_fs - x->result.drain_fs - memory_fs;
}

/* `x` has come to a cache: all that becomes of it is known. */
static void come_to_cache(struct sim *s, struct txn *x, struct station *at)
{
    struct judge_access access = access_of(x, s->now_fs);
    struct judge_cached now =
        judge_cache_arrive(at->cache, &access, x->result.bottleneck_gbs, &s->too_late);
    struct judge_result *r = &x->result;

    at->use.count++;
    at->use.bytes += x->nbytes;
    judge_post_children(&s->events, x->id, &now);
    r->service_fs = now.begin_fs;
    r->queue_memory_fs = now.done_fs - r->arrive_fs - x->alone_fs;
    post(s, now.done_fs - s->now_fs, JUDGE_DONE, x, x->n_steps);
    will_be_done(s, x, now.done_fs);
}

/* -- multicasts ----------------------------------------------------------------------------- */

/* How many steps two parts have in common from the PE on, up to the last link of these. Part 0 has
 * a step more, its channel. */
static size_t common_steps(const struct txn *a, const struct txn *b)
{
    size_t more = a->steps[0].kind == CHANNEL, n = 0;

    for (size_t i = 0; i + more < a->n_steps && i < b->n_steps; i++) {
        const struct step *x = &a->steps[i + more], *y = &b->steps[i];

        if (x->kind != y->kind || x->fs != y->fs || x->at != y->at)
            break;
        if (x->kind == LINK)
            n = i + 1;
    }
    return n;
}

/* docs/model.md "Multicasts": each part goes alone from where no part before it goes. */
static void lay_over(struct row *all)
{
    for (uint32_t i = 1; i < all->n_parts; i++) {
        struct txn *x = &all->parts[i];
        size_t most = 0;

        for (uint32_t k = 0; k < i; k++) {
            size_t n = common_steps(&all->parts[k], x);

            if (n <= most)
                continue;
            most = n;
            x->trunk = &all->parts[k];
            x->fork = n - 1 + (x->trunk->steps[0].kind == CHANNEL);
        }
        x->now_at = most;
    }
}

/* Do two routes part behind node `i` of both? */
static bool part_behind(const struct txn *a, const struct txn *b, size_t i)
{
    if (i + 1 >= a->n_nodes || i + 1 >= b->n_nodes)
        return false;
    for (size_t k = 0; k <= i; k++)
        if (a->nodes[k] != b->nodes[k])
            return false;
    return a->nodes[i + 1] != b->nodes[i + 1];
}

static bool parts_somewhere(const struct row *all, const struct txn *x, size_t i)
{
    for (uint32_t k = 0; k < all->n_parts; k++)
        if (part_behind(x, &all->parts[k], i))
            return true;
    return false;
}

/* "cube.noc.reduce_ns: for each noc where the leaf's way forks, behind its service" */
static void join_data(struct sim *s, struct row *all)
{
    for (uint32_t i = 0; i < all->n_parts; i++) {
        struct txn *x = &all->parts[i];
        int64_t fs = 0;

        for (size_t k = 0; k < x->n_nodes; k++) {
            const char *name = s->t->nodes[x->nodes[k]].name;
            unsigned sip, cube, row, col;
            bool noc = s->t->nodes[x->nodes[k]].is_noc ||
                       sscanf(name, "sip%u.cube%u.r%uc%u", &sip, &cube, &row, &col) == 4;

            if (sscanf(name, "fabric.switch%u", &cube) == 1)
                sip = s->t->sips;
            else if (sscanf(name, "sip%u.cube%u.", &sip, &cube) != 2)
                continue;
            if (noc && parts_somewhere(all, x, k))
                fs += judge_ns(judge_cube_number(s->t, sip, cube, "cube.noc.reduce_ns"));
        }
        x->result.overhead_fs += fs;
        x->steps[x->n_steps - 1].done_fs += fs;
    }
}

/* -- ways ----------------------------------------------------------------------------------- */

static void plan_l2(struct sim *s, struct txn *x, const struct judge_row *row,
                    const struct judge_end *at, struct station *station);

/* The steps of one part: its route to `to`, and what it takes on the way. */
static void plan(struct sim *s, struct txn *x, const struct judge_row *row,
                 const struct judge_end *to, const struct judge_route *r)
{
    bool host = row->op == JUDGE_H2D || row->op == JUDGE_D2H;
    bool write = row->op == JUDGE_WRITE || row->op == JUDGE_H2D;
    enum where dma = write ? WRITES : READS;
    const struct judge_hop *memory = &r->hops[r->n - 1];

    if (!host && x->part == 0 && !x->child)
        add_step(x, CHANNEL, 0, station_at(s, dma, r->hops[0].node));
    for (size_t i = 0; i < r->n; i++) {
        const struct judge_hop *h = &r->hops[i];

        if (i > 0 && s->fifo)
            add_step(x, LINK, transfer_fs(s, x->nbytes, h->edge_gbs), link_of(s, h, write));
        add_step(x, DELAY, h->wire_fs, NULL);
        if (h == memory)
            break;
        add_step(x, DELAY, h->overhead_fs, NULL);
        if (strstr(h->name, ".m_cpu"))
            add_step(x, ENGINE, 0, station_at(s, dma, h->node));
    }
    add_step(x, MEMORY,
             judge_held_fs(s->t, to, x->moved, write, memory->overhead_fs - r->latency_fs,
                           x->result.drain_fs, &s->too_late),
             station_at(s, MEMORIES, memory->node));
    x->steps[x->n_steps - 1].done_fs = add_fs(s, memory->overhead_fs, x->result.drain_fs);
    if (judge_has_banks(s->t, to) && !judge_has_cache(s->t, to))
        plan_banks(s, x, to, x->steps[x->n_steps - 1].at, memory->overhead_fs);
    if (judge_has_cache(s->t, to))
        plan_cache(s, x, to, x->steps[x->n_steps - 1].at, memory->overhead_fs);
    if (to->kind == JUDGE_L2)
        plan_l2(s, x, row, to, x->steps[x->n_steps - 1].at);
}

/* -- what an L2 asks -------------------------------------------------------------------------- */

/* The course of a child of a row. */
static uint32_t course_of_child(const struct sim *s, const struct judge_row *row,
                                const struct judge_l2_child *child)
{
    enum judge_op op = child->write ? JUDGE_WRITE : JUDGE_READ;

    if (!s->t->net && strcmp(judge_text(s->t, "sip.plane"), "column") == 0)
        return row->plane ? row->plane - 1 : judge_plane_of(s->t, row->op, 0);
    return judge_course_of(s->t, op, &row->src, &child->piece.memory, child->id + row->plus,
                           child->part);
}

static void make_child(void *arg, struct judge_l2_child *made)
{
    struct sim *s = arg;
    const struct judge_row *row = &s->rows[made->id];
    struct judge_end l2 = {.kind = JUDGE_L2, .sip = row->src.sip, .cube = row->src.cube};
    struct txn *x = new_child(s, made);
    struct judge_row as = {.op = made->write ? JUDGE_WRITE : JUDGE_READ};
    struct judge_route r = {0};
    double gbs = judge_l2_gbs(s->t, &l2);

    if (!judge_route_on(s->t, course_of_child(s, row, made), as.op, &l2, &made->piece.memory, &r))
        judge_die("an L2 has no way to a slice");
    x->moved = judge_moved_bytes(s->t, &made->piece);
    x->result.bottleneck_gbs = r.bottleneck_gbs < gbs ? r.bottleneck_gbs : gbs;
    x->result.drain_fs =
        judge_child_drain_fs(s->t, &l2, made, x->result.bottleneck_gbs, &s->too_late);
    plan(s, x, &as, &made->piece.memory, &r);
    judge_route_clear(&r);
    judge_post(&s->events, (struct judge_event){.fs = made->depart_fs,
                                                .class = JUDGE_HOP,
                                                .id = x->id,
                                                .part = x->part,
                                                .step = SETS_OUT});
}

static void done_by_l2(void *arg, uint64_t id, uint64_t part, int64_t begin_fs, int64_t done_fs)
{
    struct sim *s = arg;
    struct txn *x = find(s, id, part);

    x->result.service_fs = begin_fs;
    x->result.queue_memory_fs = done_fs - x->result.arrive_fs - x->alone_fs;
    post(s, done_fs - s->now_fs, JUDGE_DONE, x, x->n_steps);
    will_be_done(s, x, done_fs);
}

/* As plan_banks(). The wires of the child that ends last alone are wires of the part. */
static void plan_l2(struct sim *s, struct txn *x, const struct judge_row *row,
                    const struct judge_end *at, struct station *station)
{
    struct judge_access access = access_of(x, 0);
    struct judge_l2_user user = {s, make_child, done_by_l2};
    uint32_t plane = s->t->hashed_planes ? 0
                     : row->plane        ? row->plane - 1
                                         : judge_plane_of(s->t, row->op, 0);
    int64_t wire_fs,
        latency_fs = judge_ns(judge_cube_number(s->t, at->sip, at->cube, "cube.l2.latency_ns"));

    if (!station->l2)
        station->l2 = judge_l2_new(s->t, at, &user);
    x->alone_fs = judge_l2_alone_fs(s->t, at, &access, plane, &wire_fs, &s->too_late);
    x->result.wire_fs += wire_fs;
    x->result.overhead_fs += x->alone_fs - x->result.drain_fs - latency_fs - wire_fs;
}

static bool prepare_part(struct sim *s, struct txn *x, const struct judge_piece *part)
{
    const struct judge_row *row = &s->rows[x->id];
    struct judge_route r = {0};
    uint32_t course = row->plane ? row->plane - 1
                                 : judge_course_of(s->t, row->op, &row->src, &part->memory,
                                                   x->id + row->plus, x->part);

    if (s->t->net && (row->n_targets || part->memory.kind == JUDGE_L2))
        course = 0; /* multicasts go the first way */
    if (!judge_route_on(s->t, course, row->op, &row->src, &part->memory, &r)) {
        fprintf(stderr, "judge: row %llu has no route\n", (unsigned long long)x->id);
        return false;
    }
    x->nbytes = part->nbytes;
    x->packet = part->packet;
    x->offset = part->offset;
    x->write = row->op == JUDGE_WRITE || row->op == JUDGE_H2D;
    x->result.issue_fs = row->issue_fs;
    x->result.wire_fs = r.wire_fs;
    x->result.overhead_fs = r.overhead_fs;
    x->result.response_fs = r.response_fs;
    x->result.bottleneck_gbs = r.bottleneck_gbs;
    x->moved = judge_moved_bytes(s->t, part);
    x->runs = part->runs;
    x->n_runs = part->n_runs;
    x->result.drain_fs =
        judge_drain_fs(s->t, row->op == JUDGE_H2D || row->op == JUDGE_D2H ? NULL : &row->src,
                       x->write, part, r.bottleneck_gbs, &s->too_late);
    plan(s, x, row, &part->memory, &r);
    x->n_nodes = row->n_targets ? r.n : 0;
    x->nodes = judge_alloc(x->n_nodes + 1, sizeof *x->nodes);
    for (size_t i = 0; i < x->n_nodes; i++)
        x->nodes[i] = r.hops[i].node;
    judge_route_clear(&r);
    return true;
}

static bool prepare(struct sim *s, size_t id, struct judge_result *out)
{
    const struct judge_row *row = &s->rows[id];
    struct row *all = &s->all[id];
    struct judge_piece *parts;
    size_t n = judge_cut_row(s->t, row, &parts);
    bool ok = n > 0;

    memset(out, 0, sizeof *out);
    all->parts = judge_alloc(n, sizeof *all->parts);
    all->n_parts = all->n_left = (uint32_t)n;
    all->result = out;
    for (size_t i = 0; i < n && ok; i++) {
        all->parts[i].id = id;
        all->parts[i].part = i;
        ok = prepare_part(s, &all->parts[i], &parts[i]);
        parts[i].runs = NULL; /* the part's now */
    }
    judge_free_parts(parts, n);
    if (ok && row->n_targets)
        lay_over(all);
    if (ok && row->n_targets && row->op == JUDGE_READ)
        join_data(s, all);
    return ok;
}

/* -- transactions --------------------------------------------------------------------------- */

/* On to the next step: later if it is a delay, as an arrival if it is a station. */
static void go_on(struct sim *s, struct txn *x)
{
    const struct step *next = &x->steps[x->now_at];

    if (next->kind == DELAY)
        post(s, next->fs, JUDGE_HOP, x, x->now_at);
    else
        post(s, 0, JUDGE_ARRIVAL, x, x->now_at);
}

/* The parts of a packet set out, the first of which is `x`. */
static void set_out(struct sim *s, struct txn *x)
{
    struct row *all = &s->all[x->id];

    if (x->child)
        go_on(s, x);
    for (uint64_t i = x->part; i < all->n_parts && all->parts[i].packet == x->packet; i++)
        if (!all->parts[i].trunk)
            go_on(s, &all->parts[i]);
}

/* `x` has left step `from`, a link: parts that part from it there set out, as late as it is. */
static void set_out_from(struct sim *s, const struct txn *x, size_t from)
{
    struct row *all = &s->all[x->id];

    for (uint64_t i = x->part + 1; i < all->n_parts; i++) {
        struct txn *other = &all->parts[i];

        if (other->trunk != x || other->fork != from)
            continue;
        other->result.queue_link_fs = x->result.queue_link_fs;
        go_on(s, other);
    }
}

/*
 * docs/model.md "Packets": row `id` sets out at `start_fs`, packet by packet; each no earlier than
 * its PE's pace after the one before, and with ideal links no earlier than that has drained.
 * Returns when the last one does.
 */
static int64_t send_packets(struct sim *s, uint64_t id, int64_t start_fs, int64_t pace_fs)
{
    struct row *all = &s->all[id];
    int64_t drained_fs = 0;

    for (uint32_t i = 0; i < all->n_parts; i++) {
        struct txn *x = &all->parts[i];
        struct judge_result *r = &x->result;
        int64_t end_fs;

        if (i > 0 && x->packet != x[-1].packet) {
            start_fs = add_fs(s, start_fs, pace_fs);
            if (!s->fifo && drained_fs > start_fs)
                start_fs = drained_fs;
        }
        r->start_fs = start_fs;
        r->queue_channel_fs = start_fs - r->issue_fs;
        end_fs = add_fs(s, start_fs, r->drain_fs);
        drained_fs = end_fs > drained_fs ? end_fs : drained_fs;
        if (i > 0 && x->packet == x[-1].packet)
            continue;
        if (start_fs == s->now_fs)
            set_out(s, x);
        else
            post(s, start_fs - s->now_fs, JUDGE_HOP, x, SETS_OUT);
    }
    return start_fs;
}

static void name_station(const struct sim *s, const struct station *at,
                         char text[2 * JUDGE_NAME_BYTES])
{
    static const char *const ways[] = {".read", ".write", ""};
    const struct judge_edge *edges = s->t->edges;

    if (at->where == LINKS)
        judge_name_link(s->t, edges[at->index].from, edges[at->index].to, text);
    else if (at->where == RETURNS)
        judge_name_link(s->t, edges[at->index].to, edges[at->index].from, text);
    else
        judge_name_station(s->t, at->index, ways[at->where], text);
}

static void tell_wait(struct sim *s, struct txn *x, const struct station *at, int64_t end_fs)
{
    struct judge_wait wait = {.id = x->id,
                              .behind = x->behind,
                              .given_by = s->now_id,
                              .begin_fs = x->arrived_fs,
                              .end_fs = end_fs};

    if (x->waits && s->waits) {
        name_station(s, at, wait.at);
        judge_add_wait(s->waits, &wait);
    }
    x->waits = false;
}

/* From one set-out of the PE of `x` to the next, reads and writes each. */
static int64_t pace_fs(const struct sim *s, const struct txn *x)
{
    const struct judge_end *pe = &s->rows[x->id].src;

    return llround(judge_cube_number(s->t, pe->sip, pe->cube, "cube.pe.pe_dma.issue_ns") * 1e6);
}

/* `x` has the station that it came for. */
static void take(struct sim *s, struct txn *x)
{
    const struct step *here = &x->steps[x->now_at];
    int64_t begin_fs = s->now_fs, waited_fs;

    if (here->kind == CHANNEL && here->at->starts_fs > begin_fs)
        begin_fs = here->at->starts_fs; /* docs/model.md "Channels" */
    waited_fs = begin_fs - x->arrived_fs;

    if (++here->at->taken > here->at->servers)
        judge_die("a station is more than full");
    here->at->use.count++;
    here->at->use.bytes += here->kind == CHANNEL ? s->rows[x->id].nbytes : x->nbytes;
    here->at->use.wait_fs += waited_fs;
    here->at->use.busy_fs -= begin_fs; /* give_back() adds when it ends */
    if (begin_fs > s->now_fs && !x->waits) {
        x->waits = true;
        x->behind = here->at->let_in;
    }
    tell_wait(s, x, here->at, begin_fs);
    here->at->let_in = x->id;
    if (here->kind == CHANNEL) {
        x->now_at++;
        begin_fs = send_packets(s, x->id, begin_fs, pace_fs(s, x));
        here->at->starts_fs = add_fs(s, begin_fs, pace_fs(s, x));
        return;
    }
    if (here->kind == MEMORY) {
        x->result.service_fs = s->now_fs;
        x->result.queue_memory_fs = waited_fs;
        post(s, here->fs, JUDGE_DONE, x, x->now_at); /* it is free again */
        post(s, here->done_fs, JUDGE_DONE, x, x->n_steps);
        will_be_done(s, x, add_fs(s, s->now_fs, here->done_fs));
        return;
    }
    if (here->kind == ENGINE) {
        x->result.queue_engine_fs = waited_fs;
    } else {
        x->result.queue_link_fs += waited_fs;
        post(s, here->fs, JUDGE_DONE, x, x->now_at);
    }
    x->now_at++;
    set_out_from(s, x, x->now_at - 1);
    go_on(s, x);
}

/* Is `x` what the cache at this station asks of the memory behind? */
static bool is_behind(const struct txn *x, const struct station *at)
{
    return x->child && x->l2 == at;
}

static void arrive(struct sim *s, struct txn *x)
{
    const struct step *here = &x->steps[x->now_at];
    struct station *at = here->at;

    record(s, JUDGE_ARRIVAL, x);
    x->arrived_fs = s->now_fs;
    if (here->kind == MEMORY)
        x->result.arrive_fs = s->now_fs;
    if (at->cache) {
        come_to_cache(s, x, at);
        return;
    }
    if (at->l2 && !is_behind(x, at)) {
        struct judge_access access = access_of(x, s->now_fs);

        at->use.count++;
        at->use.bytes += x->nbytes;
        judge_l2_arrive(at->l2, &access, &s->too_late);
        return;
    }
    if (at->banks) {
        struct judge_access access = access_of(x, s->now_fs);

        at->use.count += !at->l2;
        at->use.bytes += at->l2 ? 0 : x->nbytes;
        judge_banks_arrive(at->banks, &access);
        return;
    }
    if (at->taken < at->servers) {
        take(s, x);
        return;
    }
    x->waits = true;
    x->behind = at->let_in;
    x->next = NULL;
    if (at->first)
        at->last->next = x;
    else
        at->first = x;
    at->last = x;
    if (++at->in_line > at->use.longest)
        at->use.longest = at->in_line;
}

/* A server is free again: the first in the line gets it. */
static void give_back(struct sim *s, struct station *at)
{
    struct txn *x = at->first;

    at->taken--;
    at->use.busy_fs += s->now_fs;
    if (!x)
        return;
    at->first = x->next;
    at->in_line--;
    take(s, x);
}

/* -- rows that wait for others -------------------------------------------------------------- */

/* When all that row `id` waits for has ended, and it has thought; -1: not known yet. */
static int64_t issue_fs_of(struct sim *s, size_t id)
{
    const struct judge_row *row = &s->rows[id];
    int64_t last_fs = row->issue_fs;

    for (size_t i = 0; i < row->n_after; i++) {
        const struct row *other = &s->all[row->after[i]];
        int64_t fs;

        if (!other->ended)
            return -1;
        fs = add_fs(s, other->result->end_fs, row->think_fs);
        last_fs = fs > last_fs ? fs : last_fs;
    }
    return last_fs;
}

/* Row `id` is issued at `fs`. */
static void issue_at(struct sim *s, size_t id, int64_t fs)
{
    struct row *all = &s->all[id];

    all->issued = true;
    for (uint32_t i = 0; i < all->n_parts; i++)
        all->parts[i].result.issue_fs = fs;
    judge_post(&s->events, (struct judge_event){.fs = fs, .class = JUDGE_ISSUE, .id = id});
}

/* Issues every row that waits for `id`, if it was the last: by looking at all rows. */
static void issue_others(struct sim *s, size_t id)
{
    for (size_t other = 0; s->waits_for_rows && other < s->n_rows; other++) {
        const struct judge_row *row = &s->rows[other];
        bool waits = false;
        int64_t fs;

        for (size_t i = 0; i < row->n_after; i++)
            waits |= row->after[i] == id;
        if (!waits || s->all[other].issued || (fs = issue_fs_of(s, other)) < 0)
            continue;
        issue_at(s, other, fs);
    }
}

/* All rows that wait are issued some day: those that are not wait for each other. */
static bool check_after(struct sim *s)
{
    bool *ends = judge_alloc(s->n_rows, sizeof *ends), more = true, all = true;

    for (size_t i = 0; i < s->n_rows; i++)
        for (size_t k = 0; k < s->rows[i].n_after; k++) {
            all &= s->rows[i].after[k] < s->n_rows;
            s->waits_for_rows = true;
        }
    while (all && more) {
        more = false;
        for (size_t i = 0; i < s->n_rows; i++) {
            bool may = !ends[i];

            for (size_t k = 0; k < s->rows[i].n_after; k++)
                may &= ends[s->rows[i].after[k]];
            ends[i] |= may;
            more |= may;
        }
    }
    for (size_t i = 0; i < s->n_rows; i++)
        all &= ends[i];
    free(ends);
    if (!all)
        fprintf(stderr, "judge: rows wait for each other, or for what is not there\n");
    return all;
}

/* ------------------------------------------------------------------------------------------- */

static void check_sums(const struct judge_result *r, uint64_t id)
{
    int64_t formula = r->wire_fs + r->overhead_fs + r->drain_fs + r->response_fs;
    int64_t queues =
        r->queue_channel_fs + r->queue_engine_fs + r->queue_link_fs + r->queue_memory_fs;

    if (r->formula_fs != formula || r->actual_fs != formula + queues)
        judge_die("the times of transaction %llu do not add up", (unsigned long long)id);
}

/* All parts have ended, `x` as the last: the channel is free, and the row has its times. */
static void finish_row(struct sim *s, struct txn *x)
{
    struct row *all = &s->all[x->id];
    const struct txn *last = &all->parts[0];

    for (uint32_t i = 1; i < all->n_parts; i++)
        if (all->parts[i].result.end_fs > last->result.end_fs)
            last = &all->parts[i];
    *all->result = last->result;
    for (uint32_t i = 0; s->rows[x->id].n_targets && i < all->n_parts; i++)
        if (all->parts[i].result.formula_fs > all->result->formula_fs)
            all->result->formula_fs = all->parts[i].result.formula_fs;
    all->ended = true;
    if (all->parts[0].steps[0].kind == CHANNEL)
        give_back(s, all->parts[0].steps[0].at);
    issue_others(s, x->id);
}

/* The memory has served `x`: what it still holds becomes free, and a host's response sets out. */
static void finish(struct sim *s, struct txn *x)
{
    struct judge_result *r = &x->result;

    record(s, JUDGE_DONE, x);
    if (!is_behind(x, x->steps[x->n_steps - 1].at))
        s->free_fs = s->now_fs; /* of what an L2 asks, too */
    if (x->child)
        return;
    r->done_fs = s->now_fs;
    r->end_fs = add_fs(s, s->now_fs, r->response_fs);
    s->last_fs = r->end_fs > s->last_fs ? r->end_fs : s->last_fs;
    r->formula_fs = r->wire_fs + r->overhead_fs + r->drain_fs + r->response_fs;
    r->actual_fs = r->end_fs - r->issue_fs;
    if (!s->too_late)
        check_sums(r, x->id);
    for (size_t i = 0; i < x->n_steps; i++)
        if (x->steps[i].kind == ENGINE)
            give_back(s, x->steps[i].at);
    if (--s->all[x->id].n_left == 0)
        finish_row(s, x);
}

static void run_event(struct sim *s, const struct judge_event *e)
{
    struct txn *x;

    if (e->class == JUDGE_ARBITRATION) {
        judge_banks_decide(e->banks, (uint32_t)e->step, e->fs);
        return;
    }
    if (e->step == JUDGE_OF_A_CHILD) {
        s->fingerprint = judge_record_child(s->fingerprint, e);
        return;
    }
    x = find(s, e->id, e->part);
    s->now_id = e->id;
    switch (e->class) {
    case JUDGE_DONE:
        if (e->step == x->n_steps)
            finish(s, x);
        else
            give_back(s, x->steps[e->step].at);
        break;
    case JUDGE_HOP:
        if (e->step == SETS_OUT) {
            set_out(s, x);
            break;
        }
        x->now_at++;
        go_on(s, x);
        break;
    case JUDGE_ARRIVAL:
        arrive(s, x);
        break;
    case JUDGE_ISSUE:
        if (x->steps[0].kind == CHANNEL)
            go_on(s, x);
        else
            send_packets(s, e->id, s->now_fs, 0);
        break;
    case JUDGE_START:
    case JUDGE_ARBITRATION:
        judge_die("a replay has no kernels");
    }
}

/* -- a run ---------------------------------------------------------------------------------- */

static size_t count_of(const struct sim *s, enum where where)
{
    return where == LINKS || where == RETURNS ? s->t->n_edges : s->t->n_nodes;
}

static void build(struct sim *s)
{
    for (enum where w = READS; w < N_WHERE; w++)
        s->stations[w] = judge_alloc(count_of(s, w), sizeof *s->stations[w]);
    s->fifo = strcmp(judge_text(s->t, "contention.links"), "fifo") == 0;
}

/* -- what was used -------------------------------------------------------------------------- */

static struct judge_use *collect(const struct sim *s, size_t *n)
{
    int64_t until_fs = s->free_fs > s->last_fs ? s->free_fs : s->last_fs;
    struct judge_use *uses = NULL;

    *n = 0;
    for (enum where w = READS; w < N_WHERE; w++)
        for (size_t i = 0; i < count_of(s, w); i++) {
            const struct station *at = s->stations[w][i];

            if (!at || !at->use.count)
                continue;
            judge_add_use(&uses, n, &at->use);
            name_station(s, at, uses[*n - 1].name);
            if (at->cache)
                judge_cache_add_uses(at->cache, until_fs, NULL, &uses, n);
            if (at->l2)
                judge_cache_add_uses(judge_l2_cache(at->l2), until_fs,
                                     at->banks ? &at->asked : NULL, &uses, n);
            if (at->banks && (!at->l2 || at->asked.count))
                judge_banks_add_uses(at->banks, &uses, n);
        }
    return uses;
}

static void tear_down(struct sim *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (uint32_t p = 0; p < s->all[i].n_parts; p++) {
            free(s->all[i].parts[p].steps);
            free(s->all[i].parts[p].nodes);
            free(s->all[i].parts[p].runs);
        }
        free(s->all[i].parts);
        for (size_t k = 0; k < s->all[i].n_children; k++) {
            free(s->all[i].children[k]->steps);
            free(s->all[i].children[k]->runs);
            free((void *)(uintptr_t)s->all[i].children[k]->child);
            free(s->all[i].children[k]);
        }
        free(s->all[i].children);
    }
    free(s->all);
    for (enum where w = READS; w < N_WHERE; w++) {
        for (size_t i = 0; i < count_of(s, w); i++) {
            if (s->stations[w][i]) {
                judge_banks_free(s->stations[w][i]->banks);
                judge_cache_free(s->stations[w][i]->cache);
                judge_l2_free(s->stations[w][i]->l2);
            }
            free(s->stations[w][i]);
        }
        free(s->stations[w]);
    }
    free(s->events.heap);
}

bool judge_runs_alone(const struct judge_topo *t, const struct judge_row *row)
{
    struct judge_piece *parts = NULL;
    size_t n = 0;

    if ((row->op == JUDGE_READ || row->op == JUDGE_WRITE) && !row->n_targets &&
        judge_packet_bytes(t, &row->src) > 0)
        n = judge_cut_row(t, row, &parts);
    judge_free_parts(parts, n);
    return n > 1 || (n > 0 && judge_is_tile(row));
}

int64_t judge_alone_fs(const struct judge_topo *t, const struct judge_row *row, uint64_t number)
{
    struct judge_row alone = *row;
    struct judge_result result;
    uint64_t fingerprint;

    alone.issue_fs = 0;
    alone.n_after = 0;
    alone.plus = number;
    if (!judge_replay(t, &alone, 1, &result, &fingerprint))
        judge_die("row %llu does not run alone", (unsigned long long)number);
    return result.actual_fs;
}

bool judge_replay_watched(const struct judge_topo *t, const struct judge_row *rows, size_t n,
                          struct judge_result *results, uint64_t *fingerprint,
                          struct judge_use **uses, size_t *n_uses, struct judge_waits *waits)
{
    struct sim s = {
        .t = t, .rows = rows, .n_rows = n, .fingerprint = JUDGE_NO_EVENTS, .waits = waits};
    bool ok = true;

    s.all = judge_alloc(n, sizeof *s.all);
    build(&s);
    ok = check_after(&s);
    if (ok && t->is_router) {
        tear_down(&s, 0);
        if (uses)
            *uses = NULL;
        if (uses)
            *n_uses = 0;
        return judge_replay_routers(t, rows, n, NULL, NULL, results, fingerprint);
    }
    for (size_t i = 0; i < n && ok; i++) {
        ok = prepare(&s, i, &results[i]);
        if (ok && rows[i].n_after == 0)
            issue_at(&s, i, rows[i].issue_fs);
    }
    while (ok && !s.too_late && s.events.n > 0) {
        struct judge_event e = judge_next(&s.events);

        if (e.fs < s.now_fs)
            judge_die("time runs backwards");
        s.now_fs = e.fs;
        run_event(&s, &e);
    }
    if (s.too_late)
        fprintf(stderr, "judge: simulated time has passed 2^63 fs\n");
    for (size_t i = 0; ok && i < n; i++)
        if (judge_runs_alone(t, &rows[i]))
            results[i].formula_fs =
                n == 1 ? results[i].actual_fs : judge_alone_fs(t, &rows[i], i + rows[i].plus);
    if (uses)
        *uses = collect(&s, n_uses);
    tear_down(&s, n);
    *fingerprint = s.fingerprint;
    return ok && !s.too_late;
}

bool judge_replay(const struct judge_topo *t, const struct judge_row *rows, size_t n,
                  struct judge_result *results, uint64_t *fingerprint)
{
    return judge_replay_watched(t, rows, n, results, fingerprint, NULL, NULL, NULL);
}
