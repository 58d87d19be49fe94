/* caches.c -- caches: that of a memory (`cube.hbm.cache`), a server in front of it, and of an L2
 * (`cube.l2`) what is the same; the rest is in network/l2.c.
 *
 * It holds        one transaction, for its bytes at the bandwidth of the cache
 * For how long    at the begin of that, s, all its lines are looked up. Where all are there a read
 *                 is done at s + latency + drain, and a write always. Else one child, a read of the
 *                 whole missing lines, comes to the memory at s + latency; the read is done no
 *                 earlier than it. Dirty lines that were dropped are written back by another child,
 *                 behind it, for which nothing waits
 * Goes first      first come, first served; children come in the order of their parents
 * Wait counted    queue_memory = done - arrival - what it takes alone, of an empty cache; it is
 *                 negative where lines are there (KB_WAIT_MEMORY)
 * Golden number   docs/model.md "A cache before a memory": 136 ns cold, 36 ns when all is there
 *
 * A line knows the read child that brought it in last. A read that finds a line whose child has not
 * ended ends no earlier than it. With `mshrs: k` a read that misses begins no earlier than the end
 * of the k-th last read child.
 *
 * What is behind a memory's cache is asked as the next of a chain, network/server.h. All that comes
 * there comes from the cache. So a memory that keeps order says at once when a child ends, and its
 * parent's end is known when that arrives; banks say it later, and the parent waits
 * (network/awaited.h). A child has events only where records are counted.
 *
 * Example: slice of 256 GB/s and 100 ns, cache of 1024 GB/s and 20 ns, a read of 4096 bytes at 0.
 * Its 32 lines are missing. The child comes to the memory at 20, and ends at 20 + 100 + 16 = 136.
 * The same read at 1 begins at 4, when the first has left the cache; it finds all lines, and their
 * child ends at 136: so does it.
 */
#include "base/larger.h"
#include "base/rows.h"
#include "engine/child_rows.h"
#include "network/awaited.h"
#include "network/l2.h"
#include "network/memory_behind.h"
#include "network/server.h"
#include "network/turn.h"
#include <stdlib.h>

#define LINES_MAX (UINT64_C(1) << 28)

/* -- what a run has -------------------------------------------------------------------------- */

static size_t n_memories(const struct kb_sim *s)
{
    return (size_t)sim_cubes(s->topo) << s->topo->unit_bits;
}

static bool caches_begin(struct kb_sim *s)
{
    s->caches = calloc(1, sizeof *s->caches);
    if (!s->caches)
        return false;
    s->child_will_end = l2_child_will_end;
    s->caches->by_memory = calloc(n_memories(s), sizeof(struct cache *));
    return s->caches->by_memory;
}

static void cache_free(struct cache *c)
{
    cache_tags_free(&c->tags);
    free(c->server.enter_fs);
    free(c->memory.enter_fs);
    free(c->fills.ends);
    free(c->waits);
    free(c);
}

static void caches_end(struct kb_sim *s)
{
    if (!s->caches)
        return;
    for (size_t i = 0; s->caches->by_memory && i < n_memories(s); i++)
        if (s->caches->by_memory[i])
            cache_free(s->caches->by_memory[i]);
    for (uint32_t slot = 0; s->caches->rows && slot < s->txns_cap; slot++)
        free(s->caches->rows[slot].pieces);
    free(s->caches->cut);
    free(s->caches->missing);
    free(s->caches->written);
    free(s->caches->by_memory);
    free(s->caches->rows);
    free(s->caches);
}

static bool caches_room(struct kb_sim *s, uint32_t n)
{
    return !s->caches || rows_widen(&s->caches->rows, s->txns_cap, n, sizeof *s->caches->rows);
}

static void caches_clear(struct kb_sim *s, uint32_t dst)
{
    struct cache *c = s->caches ? s->caches->by_memory[dst] : NULL;

    if (!c)
        return;
    cache_tags_clear(&c->tags);
    c->counts = (struct cache_counts){0};
    link_clear(&c->server);
    link_clear(&c->memory);
    c->fills.first = c->fills.next = 1;
    c->n_children = c->child_bytes = 0;
    c->waiting = (struct txn_list){TXN_NONE, TXN_NONE};
    c->n_waits = 0;
}

/* That of memory `dst`, made if it is new. NULL: the run has failed. */
static struct cache *cache_of(struct kb_sim *s, uint32_t dst)
{
    struct cache **at = &s->caches->by_memory[dst];
    const struct kind_row *kind = kind_at(s->topo, dst_cube(s->topo, dst));
    bool is_l2 = unit_is_l2(s->topo, dst_unit(s->topo, dst));
    const struct cache_row *row = is_l2 ? &kind->l2_cache : &kind->cache;

    if (*at)
        return *at;
    *at = row->sets <= LINES_MAX / row->ways ? calloc(1, sizeof **at) : NULL;
    if (!*at || !cache_tags_begin(&(*at)->tags, row)) {
        fail(s, KB_NO_MEMORY);
        return NULL;
    }
    (*at)->gbs = cost_memory(s->topo, dst, false)->own_gbs;
    (*at)->access = is_l2 ? 0 : kind->cached.access_bytes;
    (*at)->is_l2 = is_l2;
    (*at)->lists =
        is_l2 || kind->cached.model != MEMORY_SERVER || kind->cached.hold == HOLD_BY_COMPONENT;
    caches_clear(s, dst);
    return *at;
}

void caches_warm(struct kb_sim *s, const struct kb_sim *from)
{
    for (size_t i = 0; s->caches && i < n_memories(s); i++) {
        const struct cache *other = from->caches->by_memory[i];
        struct cache *c = other ? cache_of(s, (uint32_t)i) : NULL;

        if (c)
            cache_tags_copy(&c->tags, &other->tags);
    }
}

/* -- lookups ---------------------------------------------------------------------------------- */

/* What came of the lookup of a transaction. */
struct found {
    struct moved missing,
        written;        /* of a memory's cache; an L2 has its missing lines in s->parts */
    uint64_t asked;     /* bytes of the transaction in the missing lines */
    int64_t pending_fs; /* the last end of children of others; 0: none */
};

/* Where a lookup stands. */
struct lookup {
    struct kb_sim *s;
    struct cache *cache;
    uint32_t slot;
    bool writes, through;
    int64_t ready_fs;    /* s + latency */
    uint64_t access;     /* of the memory behind */
    uint32_t first_fill; /* children from this number on are its own */
    /* Where it lies: what will be read; be written. NULL: it is not asked for. */
    struct pieces **missing, **list;
};

/* Bytes from `at` on will be written to what is behind. */
static void will_be_written(const struct lookup *l, uint64_t at, uint64_t nbytes,
                            struct found *found)
{
    moved_add(&found->written, l->access, at, nbytes);
    if (l->list && !pieces_add(l->list, at, nbytes))
        fail(l->s, KB_NO_MEMORY);
}

static void drop(const struct lookup *l, const struct cache_line *dropped, struct found *found)
{
    struct cache *c = l->cache;
    unsigned bits = c->tags.row->line_bits;

    if (!dropped->tag)
        return;
    c->counts.evictions++;
    if (!dropped->dirty)
        return;
    c->counts.written_back++;
    will_be_written(l, (dropped->tag - 1) << bits, UINT64_C(1) << bits, found);
}

/* A line is missing, `asked` of whose bytes are wanted. The number of the child that reads it. */
static uint32_t will_be_read(const struct lookup *l, uint64_t number, uint64_t asked,
                             struct found *found)
{
    struct cache *c = l->cache;
    unsigned bits = c->tags.row->line_bits;

    found->asked += asked;
    if (c->is_l2)
        return l2_reads(l->s, c, number << bits, UINT64_C(1) << bits, asked);
    moved_add(&found->missing, l->access, number << bits, UINT64_C(1) << bits);
    if (l->missing && !pieces_add(l->missing, number << bits, UINT64_C(1) << bits))
        fail(l->s, KB_NO_MEMORY);
    return c->fills.next;
}

/* A line is there that child `number` has brought in, or will. */
static void is_there(const struct lookup *l, uint32_t number, struct found *found)
{
    int64_t end = number - l->first_fill < UINT32_MAX / 2 ? 0 : fill_end(&l->cache->fills, number);

    if (end == NOT_YET) {
        await_line(l->s, l->cache, number, l->slot);
        return;
    }
    l->cache->counts.pending += end > l->ready_fs;
    found->pending_fs = end > found->pending_fs ? end : found->pending_fs;
}

/* Line `number`, `asked` of whose bytes are wanted. */
static void look_up(const struct lookup *l, uint64_t number, uint64_t asked, struct found *found)
{
    struct cache *c = l->cache;
    struct cache_line *line = cache_tags_find(&c->tags, number), dropped;

    c->counts.hits += line != NULL;
    c->counts.misses += !line;
    if (!line && !l->through) {
        line = cache_tags_bring_in(&c->tags, number, &dropped);
        drop(l, &dropped, found);
        line->fill = l->writes ? 0 : will_be_read(l, number, asked, found);
    } else if (!l->writes && line->fill) {
        is_there(l, line->fill, found);
    }
    if (l->writes && !l->through)
        line->dirty = true;
}

/* The bytes of a packet among those of a tile. */
static const struct pieces *cut_pieces(struct kb_sim *s, const struct pieces *all,
                                       const struct delivery *part)
{
    uint64_t left = part->nbytes, skip = part->from;

    if (s->caches->cut)
        s->caches->cut->n = 0;
    for (uint32_t i = 0; i < all->n && left; i++) {
        uint64_t n = all->of[i].nbytes > skip ? all->of[i].nbytes - skip : 0;

        n = n < left ? n : left;
        if (n && !pieces_add(&s->caches->cut, all->of[i].at + skip, n)) {
            fail(s, KB_NO_MEMORY);
            return all;
        }
        skip -= n ? skip : all->of[i].nbytes;
        left -= n;
    }
    return s->caches->cut;
}

/* The pieces of a part of the transaction in `slot`: of a tile, or one, which is put into `*one`.
 */
static const struct run *pieces_of(struct kb_sim *s, uint32_t slot, const struct delivery *part,
                                   struct run *one, uint32_t *n)
{
    const struct cached *row = &s->caches->rows[slot];
    const struct pieces *pieces = row->pieces;

    *one = (struct run){.at = row->offset + part->from, .nbytes = part->nbytes};
    *n = 1;
    if (!pieces)
        return one;
    if (part->nbytes < s->txns[slot].nbytes)
        pieces = cut_pieces(s, pieces, part);
    *n = pieces->n;
    return pieces->of;
}

static void look_up_all(const struct lookup *l, const struct run *of, uint32_t n,
                        struct found *found)
{
    struct lines_walk walk = lines_walk(of, n, l->cache->tags.row->line_bits);
    uint64_t number, asked;

    while (lines_next(&walk, &number, &asked))
        look_up(l, number, asked, found);
    for (uint32_t i = 0; l->through && i < n; i++)
        will_be_written(l, of[i].at, of[i].nbytes, found);
}

/* Is any line not there? No line is touched. */
static bool misses(const struct cache_tags *tags, const struct run *of, uint32_t n)
{
    struct lines_walk walk = lines_walk(of, n, tags->row->line_bits);
    uint64_t number, asked;

    while (lines_next(&walk, &number, &asked))
        if (!cache_tags_has(tags, number))
            return true;
    return false;
}

/* -- children of a memory's cache ---------------------------------------------------------------
 */

static void record(struct kb_sim *s, int how, uint64_t t, enum ev_class class, uint32_t id,
                   uint64_t part)
{
    if (how & HOW_COUNTED && !children_post(&s->children, t, class, id, part))
        fail(s, KB_NO_MEMORY);
}

/* A child of the transaction in `slot`, the k-th of its direction, of the bytes `moved`, comes to
 * the memory at `t`. Returns when it ends; NOT_YET: that is not known. */
static int64_t make_child(struct kb_sim *s, int how, struct cache *c, uint32_t slot, uint32_t k,
                          const struct moved *moved, uint64_t t, int64_t drain, bool writes)
{
    const struct txn *txn = &s->txns[slot];
    const struct pieces *of = writes ? s->caches->written : s->caches->missing;
    struct behind_asked asked = {.t_fs = t,
                                 .drain_fs = drain,
                                 .number = writes && !s->mask.caches_off ? 0 : c->fills.next,
                                 .part = child_part(part_number(s, slot), k, writes),
                                 .slot = slot,
                                 .writes = writes,
                                 .bytes = *moved,
                                 .of = c->lists ? of : NULL};
    int64_t end;

    c->n_children++;
    c->child_bytes += moved->all;
    record(s, how, t, EV_ARRIVE, txn->id, asked.part);
    end = server_ask(s, how, txn->dst, &asked);
    if (end != NOT_YET)
        record(s, how, (uint64_t)end, EV_DONE, txn->id, asked.part);
    return end;
}

/* For how long the bytes of the row in `slot` that were missing drain on its way; a tile's own
 * drain may be longer, by what its PE takes from run to run. */
static int64_t missing_drain(const struct kb_sim *s, uint32_t slot, uint64_t bytes, int64_t drain)
{
    const struct txn *txn = &s->txns[slot];
    const struct trip trip = txn_trip(s->topo, txn);
    struct cost_row way;

    if (is_child(s, slot))
        return drain_fs(bytes, child_gbs(s, txn));
    if (bytes == txn->nbytes && !s->caches->rows[slot].pieces)
        return drain;
    way = txn_of_host(txn) ? cost_of_host(s->topo, &trip) : cost_of_pe(s->topo, &trip);
    return drain_fs(
        bytes, cost_bottleneck_gbs(&s->mask, way.link_gbs, cost_memory(s->topo, txn->dst, false)));
}

/* The transaction in `slot` is done no earlier than a child of its own, which ends at `end`. */
static void await_child(struct kb_sim *s, struct cache *c, uint32_t slot, int64_t end)
{
    struct cached *row = &s->caches->rows[slot];

    if (end == NOT_YET)
        await_own(s, c, c->fills.next, slot);
    else
        row->done_fs = end > row->done_fs ? end : row->done_fs;
    fills_add(s, &c->fills, end);
}

/* What was found by the lookup of a part is behind, `t` being s + latency. */
static void go_behind(struct kb_sim *s, int how, struct cache *c, uint32_t slot,
                      const struct delivery *part, const struct found *found, uint64_t t,
                      int64_t drain)
{
    struct cached *row = &s->caches->rows[slot];

    row->done_fs = (int64_t)after(t, drain);
    row->first_fs = NOT_YET;
    row->others_fs = found->pending_fs;
    if (found->missing.all)
        await_child(s, c, slot,
                    make_child(s, how, c, slot, part->number, &found->missing, t,
                               missing_drain(s, slot, found->asked, drain), false));
    if (found->written.all)
        make_child(s, how, c, slot, part->number, &found->written, t, 0, true);
}

/*
 * Behind routers a part of a write ends as in a memory that keeps order, for its bytes at the
 * bandwidth of the cache; data of a read set out so that they end when they would without routers.
 */
static void end_behind_routers(struct kb_sim *s, int how, uint32_t slot,
                               const struct delivery *part, struct turn *turn, int64_t drain)
{
    struct txn *txn = &s->txns[slot];
    int64_t end = awaited_end(s, slot);

    turn->end_fs = (uint64_t)(end - drain);
    if (txn_writes(txn) && s->mask.caches_off) {
        turn->end_fs = (uint64_t)end;
    } else if (txn_writes(txn)) {
        turn->end_fs = after(turn->start_fs, (int64_t)turn->hold_fs);
        if (!part->from)
            turn->end_fs =
                (uint64_t)larger((int64_t)turn->end_fs, (int64_t)after(turn->start_fs, drain));
        turn->end_fs = after(turn->end_fs, turn->behind_fs);
    } else {
        txn->service_fs = end;
    }
    end_part_behind(s, how, slot, part, turn);
}

/* A child ends; number 0: nothing waits for it. */
static void cache_hears(struct kb_sim *s, int how, uint32_t dst, const struct behind_ended *child)
{
    struct cache *c = s->caches->by_memory[dst];

    record(s, how, child->t_fs, EV_DONE, child->id, child->part);
    if (!child->number)
        return;
    fills_set(&c->fills, (uint32_t)child->number, (int64_t)child->t_fs);
    awaited_ends(s, c, (uint32_t)child->number, (int64_t)child->t_fs);
}

/* -- arrivals --------------------------------------------------------------------------------- */

/* With mshrs a read that misses begins no earlier than the end of the k-th last read child. False:
 * that is not known yet. */
static bool has_mshr(struct cache *c, const struct txn *txn, const struct run *of, uint32_t n)
{
    uint32_t mshrs = c->tags.row->mshrs;
    int64_t end;

    if (!mshrs || txn_writes(txn) || !misses(&c->tags, of, n))
        return true;
    end = fill_end(&c->fills, c->fills.next - mshrs);
    if (end == NOT_YET)
        return false;
    c->server.free_fs = end > c->server.free_fs ? end : c->server.free_fs;
    return true;
}

static void lists_clear(struct caches *all)
{
    if (all->missing)
        all->missing->n = 0;
    if (all->written)
        all->written->n = 0;
}

/* The drain of its way. */
static int64_t drain_of(const struct kb_sim *s, uint32_t slot, int64_t latency)
{
    return s->router ? way_drain_fs(s, slot) : s->txns[slot].hold_fs - latency;
}

/* As if there were no cache: the part in `slot` goes to what is behind as it comes, at `t`. */
static void pass_on(struct kb_sim *s, int how, struct cache *c, uint64_t t, uint32_t slot,
                    const struct delivery *part, const struct run *of, uint32_t n)
{
    struct cached *row = &s->caches->rows[slot];
    bool writes = txn_writes(&s->txns[slot]);
    struct turn turn = {.start_fs = t, .gbs = INFINITY};
    int64_t drain = drain_of(
        s, slot, cost_in_memory_fs(&s->mask, cost_memory(s->topo, s->txns[slot].dst, false)));
    struct pieces **list = writes ? &s->caches->written : &s->caches->missing;
    struct moved moved = {0};

    for (uint32_t i = 0; i < n; i++) {
        moved_add(&moved, c->access, of[i].at, of[i].nbytes);
        if (c->lists && !pieces_add(list, of[i].at, of[i].nbytes))
            fail(s, KB_NO_MEMORY);
    }
    row->done_fs = row->ready_fs = (int64_t)t;
    row->first_fs = NOT_YET;
    row->others_fs = 0;
    await_child(
        s, c, slot,
        make_child(s, how, c, slot, part->number, &moved, t, part->from ? 0 : drain, writes));
    if (s->router)
        end_behind_routers(s, how, slot, part, &turn, drain);
    else if (!row->left)
        awaited_all(s, slot);
}

/* The lookup of a part of the transaction in `slot`, which came at `t`. False: it has to wait. */
static bool serve(struct kb_sim *s, int how, struct cache *c, uint64_t t, uint32_t slot,
                  const struct delivery *part)
{
    const struct txn *txn = &s->txns[slot];
    const struct memory_row *memory = cost_memory(s->topo, txn->dst, false);
    struct cached *row = &s->caches->rows[slot];
    int64_t latency = cost_in_memory_fs(&s->mask, memory), drain = drain_of(s, slot, latency);
    double gbs = memory->own_gbs + s->mask.memory_gbs;
    struct lookup l = {.s = s,
                       .cache = c,
                       .slot = slot,
                       .writes = txn_writes(txn),
                       .through = txn_writes(txn) && c->tags.row->write == WRITES_THROUGH,
                       .access = c->access,
                       .missing = c->lists ? &s->caches->missing : NULL,
                       .list = c->lists ? &s->caches->written : NULL};
    struct turn turn = {.gbs = gbs, .behind_fs = latency};
    struct found found = {0};
    struct run one;
    uint32_t n;
    const struct run *of = pieces_of(s, slot, part, &one, &n);

    if (!part->from) {
        row->start_fs = (int64_t)t;
        row->pending_fs = 0;
    }
    row->left = 0;
    lists_clear(s->caches);
    if (s->mask.caches_off) {
        if (c->is_l2)
            l2_pass_on(s, c, slot, t, of, n);
        else
            pass_on(s, how, c, t, slot, part, of, n);
        return true;
    }
    if (!s->mask.caches_hit && !has_mshr(c, txn, of, n))
        return false;
    turn.hold_fs = (uint64_t)part_fs(part->from, part->nbytes, gbs);
    turn.start_fs = take_turn(s, &c->server, (int64_t)turn.hold_fs, t);
    fills_forget(&c->fills, (int64_t)turn.start_fs);
    if (!part->from)
        row->start_fs = (int64_t)turn.start_fs;
    l.ready_fs = (int64_t)after(turn.start_fs, latency);
    l.first_fill = c->fills.next;
    row->ready_fs = l.ready_fs;
    if (c->is_l2)
        l2_begin(s, slot, l.ready_fs, drain);
    if (!s->mask.caches_hit)
        look_up_all(&l, of, n, &found);
    if (c->is_l2) {
        l2_go_behind(s, c, slot, found.asked, found.pending_fs);
        return true;
    }
    go_behind(s, how, c, slot, part, &found, (uint64_t)l.ready_fs, drain);
    if (s->router)
        end_behind_routers(s, how, slot, part, &turn, drain);
    else if (!row->left)
        awaited_all(s, slot);
    return true;
}

static void cache_arrive(struct kb_sim *s, int how, uint64_t t, uint32_t slot,
                         const struct delivery *part)
{
    struct cache *c = cache_of(s, s->txns[slot].dst);

    if (c && (c->waiting.head != TXN_NONE || !serve(s, how, c, t, slot, part)))
        txn_append(&c->waiting, s->txns, slot);
}

void caches_go_on(struct kb_sim *s, struct cache *c)
{
    for (uint32_t slot = c->waiting.head, next; slot != TXN_NONE; slot = next) {
        const struct delivery whole = whole_delivery(&s->txns[slot]);

        next = s->txns[slot].next; /* before it has an event */
        if (!serve(s, 0, c, (uint64_t)s->txns[slot].arrive_fs, slot, &whole))
            return;
        c->waiting.head = next;
    }
}

const struct memory_server cache_server = {.begin = caches_begin,
                                           .end = caches_end,
                                           .room = caches_room,
                                           .clear = caches_clear,
                                           .arrive = cache_arrive,
                                           .hears = cache_hears};
