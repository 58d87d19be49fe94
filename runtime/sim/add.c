/* add.c -- adds transactions: one request, or columns of them.
 *
 * Both ways are one. A row names two endpoints that are checked and packed once, however many rows
 * name them; all other rules of a row are in check_row(). It is then written behind the rows that
 * count, and counts when all of its call are right, so that a call that fails changes nothing.
 *
 * Example: the columns src 0 1 0, dst 2 2 2 with ends c0.pe0, c0.pe1, c0.slice0 pack three
 * endpoints, 0, 1 and 0, and write three rows of 64 bytes. If row 1 moved no bytes, row 0 would
 * have been written, too, but would not count.
 */
#include "sim/sim.h"
#include "sim/destination.h"
#include "engine/inorder.h"
#include "engine/split.h"
#include "engine/traffic.h"
#include "machine/endpoint.h"
#include "machine/walk.h"
#include "network/banks_state.h"
#include "network/caches.h"
#include <stdlib.h>

_Static_assert(KB_TRANSACTIONS_MAX < EV_MAX_SLOTS, "each has a slot");

enum { TXNS_FIRST = 64 };

/* A row is a few dozen instructions, and they are few only where all of them stand in one place. */
#define INLINE              static inline __attribute__((always_inline))
#define UNLIKELY(condition) __builtin_expect(condition, false)

/* An endpoint that rows name. */
struct end {
    const kb_endpoint *at; /* borrowed */
    uint64_t nbytes;       /* of a memory; 0: of what is none */
    uint32_t packed;
    bool is_packed;        /* and the fields above are set */
    bool is_pe, is_memory; /* the same; a memory that PEs reach without more being asked */
};

struct row {
    int64_t issue_fs;
    struct end *src, *dst;
    uint64_t offset, nbytes;
    uint64_t address; /* by_address: of its target; dst is where that begins */
    kb_transaction_op op;
    uint32_t plane, prio, rows;
    uint64_t stride;
    bool by_address, interleaved;
    struct tile tile;
    const struct targets *targets;
};

/* Rows that are being added: what the simulation becomes when all are right. */
struct adding {
    struct kb_sim *sim;
    bool closed;     /* it takes no transactions */
    int64_t from_fs; /* no row may be issued before that */
    uint32_t n_txns;
    uint32_t n_parts; /* rows of parts that lie between those of transactions */
    int64_t last_issue_fs;
    bool sorted;
    uint8_t ways;
    bool plain;           /* of columns: a row is no more than its ends, bytes and time */
    kb_endpoint found_at; /* of a row by address */
    struct end found;
    kb_endpoint *targets; /* owned: of a multicast in columns; NULL: there was none so far */
    size_t next_target;   /* in columns */
};

/* -- room ------------------------------------------------------------------------------------ */

/* Room for `n` more; half as many again as there was, so that nothing is copied often. */
static __attribute__((noinline)) kb_status more_room(struct kb_sim *s, size_t n, kb_error *why)
{
    uint32_t cap = s->txns_cap ? s->txns_cap + s->txns_cap / 2 : TXNS_FIRST;
    uint32_t rows = s->n_txns + s->n_parts;

    if (n > KB_TRANSACTIONS_MAX - rows)
        return endpoint_error(why, "a simulation takes at most %u transactions",
                              KB_TRANSACTIONS_MAX);
    if (cap < rows + n)
        cap = rows + (uint32_t)n;
    if (cap > KB_TRANSACTIONS_MAX)
        cap = KB_TRANSACTIONS_MAX;
    if (sim_room(s, cap))
        return KB_OK;
    endpoint_error(why, "out of memory after %u transactions", s->n_txns);
    return KB_NO_MEMORY;
}

INLINE kb_status room_for(struct kb_sim *s, size_t n, kb_error *why)
{
    return n <= s->txns_cap - s->n_txns - s->n_parts ? KB_OK : more_room(s, n, why);
}

/* -- what a row may be ----------------------------------------------------------------------- */

static __attribute__((noinline)) bool pack(const struct kb_topology *t, struct end *end,
                                           kb_error *why)
{
    if (!endpoint_pack(t, end->at, &end->packed, why))
        return false;
    end->nbytes = kb_memory_bytes(t, end->at);
    end->is_pe = end->at->kind == KB_PE;
    end->is_memory = end->at->kind == KB_SLICE || end->at->kind == KB_SRAM;
    return end->is_packed = true;
}

static struct destination destination_of(const struct row *r)
{
    return (struct destination){.by_address = r->by_address,
                                .interleaved = r->interleaved,
                                .address = r->address,
                                .offset = r->offset,
                                .nbytes = r->nbytes,
                                .tile = r->tile,
                                .targets = r->targets};
}

/* Bytes from the first one of a row to the last. */
INLINE uint64_t reach_of(const struct row *r)
{
    const struct destination to = destination_of(r);

    return UNLIKELY(r->tile.n > 1) ? destination_reach(&to) : r->nbytes;
}

static __attribute__((noinline)) kb_status refuse_size(const struct row *r, kb_error *why)
{
    char name[KB_ENDPOINT_BYTES];

    if (r->nbytes == 0)
        return endpoint_error(why, "a transaction moves at least one byte");
    kb_endpoint_name(r->dst->at, name);
    return endpoint_error(why, "offset %llu + %llu bytes pass the end of %s, which holds %llu",
                          (unsigned long long)r->offset, (unsigned long long)reach_of(r), name,
                          (unsigned long long)r->dst->nbytes);
}

static __attribute__((noinline)) kb_status refuse_all(const struct kb_sim *s, kb_error *why)
{
    if (s->kernels)
        return endpoint_error(why, "the simulation has kernels, it takes no transactions");
    if (s->traffic)
        return endpoint_error(why, "the simulation has traffic, it takes no transactions");
    return endpoint_error(why, "the simulation has begun, it takes no more transactions");
}

static __attribute__((noinline)) kb_status check_extras(const struct kb_topology *t,
                                                        const struct row *r, kb_error *why)
{
    if (r->plane > 0 && t->plane_choice != PLANE_BY_COLUMN)
        return endpoint_error(why, "a transaction has no plane of its own here: set sip.plane to "
                                   "column");
    if (r->plane > t->planes)
        return endpoint_error(why, "plane %u: there are %u planes, from 1 on", r->plane, t->planes);
    if (r->prio > 0 && (t->links != MODE_ROUTER || r->prio > 3))
        return endpoint_error(why, "a priority is 0 to 3, and 0 but with contention.links: router");
    return KB_OK;
}

/* By address it has the size that destination_find() has checked. */
INLINE bool has_size(const struct row *r)
{
    return r->nbytes > 0 && (r->by_address || (r->offset <= r->dst->nbytes &&
                                               reach_of(r) <= r->dst->nbytes - r->offset));
}

INLINE kb_status check_ends(const struct kb_topology *t, const struct row *r, kb_error *why)
{
    if (UNLIKELY(endpoint_check_op(r->op, why) != KB_OK) ||
        (UNLIKELY(!r->src->is_packed) && !pack(t, r->src, why)) ||
        (UNLIKELY(!r->dst->is_packed) && !pack(t, r->dst, why)))
        return KB_BAD_REQUEST;
    return endpoint_check_route(r->op, r->src->at, r->dst->at, why);
}

static __attribute__((noinline)) kb_status refuse_time(const struct adding *a, kb_error *why)
{
    if (a->from_fs == 0)
        return endpoint_error(why, "a transaction cannot be issued before time 0");
    if (a->from_fs == INT64_MAX)
        return endpoint_error(why, "the simulation runs to its end, by kb_sim_run(): it takes no "
                                   "more transactions");
    return endpoint_error(why,
                          "the simulation has come to %.6f ns: a transaction cannot be issued "
                          "before",
                          (double)a->from_fs / KB_FS_PER_NS);
}

INLINE kb_status check_row(const struct adding *a, const struct row *r, kb_error *why)
{
    const struct kb_topology *t = a->sim->topo;

    if (UNLIKELY(check_ends(t, r, why) != KB_OK))
        return KB_BAD_REQUEST;
    if (UNLIKELY(r->dst->at->kind == KB_TCM))
        return endpoint_error(why, "a TCM is reached by kernels only");
    if (UNLIKELY(r->plane | r->prio) && check_extras(t, r, why) != KB_OK)
        return KB_BAD_REQUEST;
    if (UNLIKELY(r->issue_fs < a->from_fs))
        return refuse_time(a, why);
    if (UNLIKELY(a->closed))
        return refuse_all(a->sim, why);
    return UNLIKELY(!has_size(r)) ? refuse_size(r, why) : KB_OK;
}

/* -- a row ----------------------------------------------------------------------------------- */

/* Where the row that comes next lies. */
INLINE uint32_t next_slot(const struct adding *a)
{
    return a->n_txns + a->n_parts;
}

/* The memory where the first byte of a row by address lies. */
static kb_status find_target(struct adding *a, struct row *r, kb_error *why)
{
    struct destination to = destination_of(r);
    kb_status status = destination_find(a->sim->topo, &to, why);

    a->found_at = to.dst;
    a->found = (struct end){.at = &a->found_at};
    r->dst = &a->found;
    r->offset = to.offset;
    r->interleaved = to.interleaved;
    return status;
}

/* The row is a tile. */
static __attribute__((noinline)) kb_status find_tile(struct adding *a, struct row *r, kb_error *why)
{
    struct destination to = destination_of(r);
    kb_status status = destination_tile(a->sim->topo, r->src->at, r->rows, r->stride, &to, why);

    r->tile = to.tile;
    if (status != KB_OK || r->tile.n < 2 || split_begin(a->sim))
        return status;
    endpoint_error(why, "out of memory to cut a transaction into parts");
    return KB_NO_MEMORY;
}

/* On the plane that it asks for, or else on the course of its op or id. */
static kb_status find_trip(const struct adding *a, const struct row *r, struct trip *trip,
                           kb_error *why)
{
    const struct kb_topology *t = a->sim->topo;
    const uint32_t ends[] = {r->src->packed, r->dst->packed};
    uint32_t plane = r->plane > 0 ? r->plane - 1 : endpoint_plane(t, r->op, a->n_txns);
    kb_status status = endpoint_trip(t, r->op, r->src->at, ends, plane, trip, why);

    if (status == KB_OK && t->paths > 1 && !r->targets)
        trip->way = (uint8_t)endpoint_course(t, r->op, ends[0], ends[1], a->n_txns, 0);
    return status;
}

/* Writes a row that is right behind those that are there. */
INLINE void put_row(struct adding *a, const struct row *r, const struct trip *trip)
{
    struct kb_sim *s = a->sim;
    uint32_t slot = next_slot(a);
    struct txn *txn = &s->txns[slot];

    *txn = (struct txn){.issue_fs = r->issue_fs,
                        .nbytes = r->nbytes & TXN_MAX_BYTES,
                        .op = r->op,
                        .stage = TXN_WAITING,
                        .course = (trip->plane | trip->way) & 63u,
                        .chiplet = trip->chiplet & 3u,
                        .prio = r->prio & 3u,
                        .src = r->src->packed,
                        .dst = r->dst->packed,
                        .id = a->n_txns,
                        .next = TXN_NONE};
    if (s->banks)
        banks_place(s, slot, r->offset);
    caches_place(s, slot, r->offset);
    instance_place(&s->instances, slot, r->offset);
    a->sorted = a->sorted && r->issue_fs >= a->last_issue_fs;
    a->last_issue_fs = r->issue_fs;
    a->ways |= txn_way(txn);
}

/* The row that comes next may go in parts, or its memory moves blocks. */
static __attribute__((noinline)) kb_status find_parts(const struct adding *a, const struct row *r,
                                                      kb_error *why)
{
    struct kb_sim *s = a->sim;
    uint32_t slot = next_slot(a);
    struct destination to = destination_of(r);
    struct bytes_at bytes = destination_bytes(&to);
    kb_status status = destination_parts(s, &s->txns[slot], &to, why);

    if (s->slots)
        s->slots[a->n_txns] = slot;
    split_none(s, slot);
    split_place(s, slot, r->offset);
    if (status == KB_OK && !to.splits && topology_has_l2(s->topo))
        split_place_cut(s, slot);
    if (status == KB_OK && to.splits && !split_later(s, slot, &bytes))
        return KB_NO_MEMORY;
    return status;
}

INLINE kb_status add_row(struct adding *a, struct row *r, kb_error *why)
{
    struct trip trip = {0};
    kb_status status = UNLIKELY(r->rows > 1 || r->stride) ? find_tile(a, r, why) : KB_OK;

    if (UNLIKELY(r->by_address) && status == KB_OK)
        status = find_target(a, r, why);
    if (status == KB_OK)
        status = check_row(a, r, why);
    if (status == KB_OK && (UNLIKELY(!a->sim->topo->regular) || r->plane > 0))
        status = find_trip(a, r, &trip, why);
    if (status != KB_OK)
        return status;
    put_row(a, r, &trip);
    if (UNLIKELY(a->sim->splits != NULL))
        status = find_parts(a, r, why);
    a->n_txns++;
    return status;
}

/* -- calls ----------------------------------------------------------------------------------- */

/* Makes room for `n` rows, if the simulation takes any; that it does not is a mistake of a row. */
INLINE kb_status begin(struct adding *a, struct kb_sim *s, size_t n, kb_error *why)
{
    *a = (struct adding){.sim = s,
                         .closed = s->kernels || s->traffic || (s->started && !s->options.live),
                         .from_fs = s->from_fs < INT64_MAX ? (int64_t)s->from_fs : INT64_MAX,
                         .n_txns = s->n_txns,
                         .n_parts = s->n_parts,
                         .last_issue_fs = s->last_issue_fs,
                         .sorted = s->sorted,
                         .ways = s->ways};
    return a->closed ? KB_OK : room_for(s, n, why);
}

/* Rows that come while time runs are events at once, from slot `first` to `end`. */
static __attribute__((noinline)) kb_status issue_rows(struct kb_sim *s, uint32_t first,
                                                      uint32_t end)
{
    for (uint32_t slot = first; slot < end; slot++)
        if (!inorder_issue(s, slot))
            return s->status = KB_NO_MEMORY;
    return KB_OK;
}

INLINE kb_status end(const struct adding *a, kb_error *why)
{
    struct kb_sim *s = a->sim;
    uint32_t first = s->n_txns + a->n_parts, end = next_slot(a);
    kb_status status = UNLIKELY(s->started) ? split_all(s, first, end, why) : KB_OK;

    if (status != KB_OK)
        return status;
    s->n_txns = a->n_txns;
    s->last_issue_fs = a->last_issue_fs;
    s->sorted = a->sorted;
    s->ways = a->ways;
    return UNLIKELY(s->started) ? issue_rows(s, first, end) : KB_OK;
}

kb_status kb_sim_add(kb_sim *s, const kb_transaction *request, kb_error *why)
{
    REFUSE_NULL(s && request, "sim, request", why);
    struct end src = {.at = &request->src}, dst = {.at = &request->dst};
    struct row row = {.issue_fs = request->issue_fs,
                      .src = &src,
                      .dst = &dst,
                      .offset = request->offset,
                      .nbytes = request->nbytes,
                      .address = request->address,
                      .op = request->op,
                      .plane = request->plane,
                      .prio = request->prio,
                      .rows = request->rows,
                      .stride = request->stride,
                      .by_address = request->by_address};
    struct adding a;
    kb_status status = begin(&a, s, 1, why);

    if (status == KB_OK && !a.closed && UNLIKELY(request->n_targets > 0)) {
        status = destination_targets(s, request, s->n_txns, &row.targets, why);
        dst.at = request->targets;
    }
    if (status == KB_OK)
        status = add_row(&a, &row, why);
    if (status == KB_OK)
        status = end(&a, why);
    return status;
}

kb_status kb_sim_warm(kb_sim *s, const kb_sim *from, kb_error *why)
{
    REFUSE_NULL(s && from, "sim, from", why);
    if (s->topo != from->topo)
        return endpoint_error(why, "caches are warmed by a simulation of the same machine");
    if (s->started || s->kernels || s->traffic)
        return endpoint_error(why, "the simulation has begun, its caches are not warmed any more");
    caches_warm(s, from);
    return s->status;
}

/* The endpoints that columns name, none of them packed. NULL without memory. */
static struct end *ends_new(const kb_transaction_columns *c)
{
    struct end *ends = calloc(c->n_ends + 1, sizeof *ends);

    for (size_t i = 0; ends && i < c->n_ends; i++)
        ends[i].at = &c->ends[i];
    return ends;
}

static __attribute__((noinline)) kb_status refuse_number(const kb_transaction_columns *c, size_t i,
                                                         kb_error *why)
{
    bool src = c->src[i] >= c->n_ends;

    return endpoint_error(why, "%s is endpoint %u, and there are %zu", src ? "src" : "dst",
                          src ? c->src[i] : c->dst[i], c->n_ends);
}

/* Row `i` of columns is a multicast: its targets come next. */
static __attribute__((noinline)) kb_status take_targets(struct adding *a,
                                                        const kb_transaction_columns *c, size_t i,
                                                        struct end *ends, struct row *r,
                                                        kb_error *why)
{
    const uint32_t *number = &c->targets[a->next_target];
    uint32_t n = c->n_targets[i];
    kb_transaction q = {.op = r->op,
                        .src = *r->src->at,
                        .offset = r->offset,
                        .nbytes = r->nbytes,
                        .plane = r->plane,
                        .rows = r->rows,
                        .stride = r->stride,
                        .n_targets = n};

    if (a->closed)
        return refuse_all(a->sim, why);
    a->next_target += n;
    if (!a->targets)
        a->targets = calloc(KB_TARGETS_MAX, sizeof *a->targets);
    if (!a->targets) {
        endpoint_error(why, "out of memory for the targets of a multicast");
        return KB_NO_MEMORY;
    }
    for (uint32_t k = 0; k < n && n <= KB_TARGETS_MAX; k++) {
        if (number[k] >= c->n_ends)
            return endpoint_error(why, "a target is endpoint %u, and there are %zu", number[k],
                                  c->n_ends);
        a->targets[k] = c->ends[number[k]];
    }
    q.targets = a->targets;
    r->dst = &ends[number[0]];
    return destination_targets(a->sim, &q, a->n_txns, &r->targets, why);
}

/* Row `i` of columns, which may have no column for what is 0 in all of them. */
INLINE kb_status take_row(const kb_transaction_columns *c, size_t i, struct end *ends,
                          struct row *r, kb_error *why)
{
    bool many = c->n_targets && c->n_targets[i];
    bool by_address = c->address && !many && c->dst[i] == KB_BY_ADDRESS;

    if (UNLIKELY(c->src[i] >= c->n_ends || (!many && c->dst[i] >= c->n_ends && !by_address)))
        return refuse_number(c, i, why);
    *r = (struct row){.issue_fs = c->issue_fs ? c->issue_fs[i] : 0,
                      .src = &ends[c->src[i]],
                      .dst = by_address || many ? NULL : &ends[c->dst[i]],
                      .offset = c->offset ? c->offset[i] : 0,
                      .nbytes = c->nbytes[i],
                      .address = by_address ? c->address[i] : 0,
                      .op = c->op ? c->op[i] : KB_READ,
                      .plane = c->plane ? c->plane[i] : 0,
                      .prio = c->prio ? c->prio[i] : 0,
                      .rows = c->rows ? c->rows[i] : 0,
                      .stride = c->stride ? c->stride[i] : 0,
                      .by_address = by_address};
    return KB_OK;
}

/* May rows of these columns be plain? */
static bool may_be_plain(const struct kb_sim *s, const kb_transaction_columns *c)
{
    return s->topo->regular && !s->splits && !s->banks && !s->caches && !s->instances.served &&
           !c->n_targets && !c->plane && !c->prio && !c->rows && !c->stride;
}

/*
 * Adds row `i`, if it is plain and right: a PE reads or writes a slice or an SRAM, both of which
 * are packed. All else is for add_row(), which takes twice as long, and says what is wrong.
 */
INLINE bool add_plain(struct adding *a, const kb_transaction_columns *c, size_t i,
                      const struct end *ends)
{
    uint64_t offset = c->offset ? c->offset[i] : 0, nbytes = c->nbytes[i];
    kb_transaction_op op = c->op ? c->op[i] : KB_READ;
    int64_t issue_fs = c->issue_fs ? c->issue_fs[i] : 0;
    const struct end *src, *dst;
    struct txn *txn = &a->sim->txns[next_slot(a)];

    if (c->src[i] >= c->n_ends || c->dst[i] >= c->n_ends)
        return false;
    src = &ends[c->src[i]];
    dst = &ends[c->dst[i]];
    if (!src->is_pe || !dst->is_memory || op > KB_WRITE || issue_fs < a->from_fs || nbytes == 0 ||
        offset > dst->nbytes || nbytes > dst->nbytes - offset)
        return false;
    *txn = (struct txn){.issue_fs = issue_fs,
                        .nbytes = nbytes & TXN_MAX_BYTES,
                        .op = op,
                        .stage = TXN_WAITING,
                        .src = src->packed,
                        .dst = dst->packed,
                        .id = a->n_txns++,
                        .next = TXN_NONE};
    a->sorted &= issue_fs >= a->last_issue_fs;
    a->last_issue_fs = issue_fs;
    a->ways |= txn_way(txn);
    return true;
}

/* Adds `n` rows, or as many as are right before one that is not: so many are left in `*n`. */
static kb_status add_rows(struct adding *a, const kb_transaction_columns *c, struct end *ends,
                          size_t *n, kb_error *why)
{
    kb_status status = KB_OK;
    struct row row;
    size_t i = 0;

    for (; i < *n; i++) {
        if (a->plain && add_plain(a, c, i, ends))
            continue;
        status = take_row(c, i, ends, &row, why);
        if (status == KB_OK && UNLIKELY(c->n_targets && c->n_targets[i]))
            status = take_targets(a, c, i, ends, &row, why);
        if (status == KB_OK)
            status = add_row(a, &row, why);
        if (status != KB_OK)
            break;
    }
    *n = i;
    return status;
}

kb_status kb_sim_add_many(kb_sim *s, const kb_transaction_columns *c, size_t n, size_t *bad,
                          kb_error *why)
{
    REFUSE_NULL(s && c, "sim, columns", why);
    REFUSE_NULL(n == 0 || (c->ends && c->src && c->dst && c->nbytes), "ends, src, dst, nbytes",
                why);
    REFUSE_NULL(!c->n_targets || c->targets, "targets", why);
    struct adding a;
    size_t right = n;
    struct end *ends;
    kb_status status = begin(&a, s, n, why);

    if (status == KB_OK) {
        a.plain = !a.closed && may_be_plain(s, c);
        ends = ends_new(c);
        status = ends ? add_rows(&a, c, ends, &right, why) : KB_NO_MEMORY;
        free(ends);
        free(a.targets);
    }
    if (status == KB_OK)
        return end(&a, why);
    if (bad)
        *bad = status == KB_NO_MEMORY ? n : right;
    return status;
}
