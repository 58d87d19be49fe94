/* split.c -- the parts of transactions: counted, made, ended. */
#include "engine/split.h"
#include "engine/how.h"
#include "machine/alone.h"
#include "machine/endpoint.h"
#include "network/banks_state.h"
#include "network/caches.h"
#include "machine/address.h"
#include <stdlib.h>

bool split_begin(struct kb_sim *s)
{
    const struct kb_topology *t = s->topo;

    if (s->splits)
        return true;
    s->splits = malloc((s->txns_cap ? s->txns_cap : 1) * sizeof *s->splits);
    if (!s->more_parts)
        s->more_parts = calloc(2 * (size_t)sim_cubes(t) << t->pe_bits, sizeof *s->more_parts);
    if (!s->idle)
        s->idle = idle_new();
    if (s->options.live)
        s->slots = malloc((s->txns_cap ? s->txns_cap : 1) * sizeof *s->slots);
    for (uint32_t slot = 0; s->slots && slot < s->txns_cap; slot++)
        s->slots[slot] = slot; /* of rows of the call under way, too, which n_txns does not count */
    for (uint32_t slot = 0; s->splits && slot < s->txns_cap; slot++)
        split_none(s, slot);
    return s->splits && s->more_parts && s->idle && (s->slots || !s->options.live);
}

bool split_takes_tiles(const struct kb_topology *t)
{
    for (uint32_t kind = 0; kind < t->n_kinds; kind++)
        if (t->kinds[kind].tiles == TILES_RUNS)
            return true;
    return false;
}

static bool has_caches(const struct kb_topology *t)
{
    for (uint32_t kind = 0; kind < t->n_kinds; kind++)
        if (t->kinds[kind].cache.sets)
            return true;
    return false;
}

bool split_sees_runs(const struct kb_topology *t)
{
    for (uint32_t kind = 0; kind < t->n_kinds; kind++)
        if (t->kinds[kind].tiles == TILES_RUNS &&
            (t->splits || t->banked || t->impls || t->kinds[kind].run_fs || has_caches(t)))
            return true;
    return false;
}

/* -- cutting -------------------------------------------------------------------------------- */

/* A transaction while it is cut. */
struct cut {
    struct kb_sim *s;
    const struct txn *of;
    const struct bytes_at *bytes;
    uint32_t next;              /* run */
    uint64_t run_at;            /* where the run begins ... */
    struct address_range range; /* ... that this is what is left of */
    uint64_t run_bytes;
    struct {
        uint64_t begin, nbytes; /* addresses; nbytes 0: none yet */
        uint32_t dst;
    } memory; /* in which the last run lies, if its addresses do not go round slices */
};

/* What packets of `of` have. */
static uint64_t packet_of(const struct kb_topology *t, const struct txn *of)
{
    uint64_t packet = txn_of_host(of) ? 0 : kind_at(t, src_cube(t, of->src))->packet_bytes;

    return packet ? packet : ADDRESS_WHOLE;
}

/* The memory at c->run_at, whose addresses do not go round slices. False: there is none. */
static bool find_memory(struct cut *c)
{
    const struct kb_topology *t = c->s->topo;
    uint64_t offset;

    if (c->run_at - c->memory.begin < c->memory.nbytes)
        return true;
    if (!address_find(t, c->run_at, &c->memory.dst, &offset))
        return false;
    c->memory.begin = c->run_at - offset;
    c->memory.nbytes =
        address_memory_bytes(t, dst_cube(t, c->memory.dst), address_space(t, c->run_at));
    return true;
}

/* The next run is cut, its packet goes on. False: it leaves its cube, or its SIP. */
static bool cut_run(struct cut *c, struct run run)
{
    const struct kb_topology *t = c->s->topo;
    uint64_t packet = c->range.packet, left = c->range.left;

    c->run_at = c->bytes->at + run.at;
    c->run_bytes = run.nbytes;
    if (!c->bytes->by_address) {
        c->memory.nbytes = UINT64_MAX;
        c->memory.dst = c->of->dst;
        c->range = address_in_memory(c->of->dst, c->run_at, run.nbytes);
    } else if (address_is_interleaved(t, c->run_at)) {
        if (!address_range(t, c->run_at, run.nbytes, &c->range))
            return false;
    } else if (find_memory(c))
        c->range = address_in_memory(c->memory.dst, c->run_at - c->memory.begin, run.nbytes);
    else
        return false;
    c->range.packet = packet;
    c->range.left = left;
    return true;
}

/* Does what is cut go to the L2 of its cube, for bytes of memory `dst`? */
static bool goes_to_l2(const struct cut *c, uint32_t dst)
{
    return !txn_of_host(c->of) && !c->bytes->past_l2 &&
           dst_or_l2(c->s->topo, c->of->src, dst) != dst;
}

/* Bytes of a slice, at the L2: block by block if addresses go round slices. A run is one piece
 * there, however many slices it lies in. */
static bool add_to_l2(const struct cut *c, const struct address_part *piece, uint64_t address,
                      uint32_t first)
{
    const struct kb_topology *t = c->s->topo;
    uint32_t l2 = dst_pack(t, src_cube(t, c->of->src), unit_of_l2(t));
    struct split_part *part = split_part_in(c->s, first, l2), before;
    uint64_t n;

    if (!part)
        return false;
    before = *part;
    part->dst = l2;
    for (uint64_t done = 0; done < piece->nbytes; done += n) {
        uint64_t at = piece->offset + done, global = address_of(t, piece->dst, at);

        n = piece->nbytes - done;
        if (t->granule && t->granule - at % t->granule < n)
            n = t->granule - at % t->granule;
        if (!split_add_piece(c->s, part, global, global, n, true))
            return false;
    }
    part->pieces = before.pieces + (!before.pieces || address == c->run_at);
    part->last_bytes = piece->nbytes + (part->pieces == before.pieces ? before.last_bytes : 0);
    return true;
}

static bool add_piece(const struct cut *c, const struct address_part *piece, uint64_t address,
                      uint32_t first)
{
    bool listed = c->bytes->tile.n > 1;
    struct split_part *part;

    if (goes_to_l2(c, piece->dst))
        return add_to_l2(c, piece, address, first);
    part = listed ? split_part_in(c->s, first, piece->dst) : split_new_part(c->s);
    if (!part)
        return false;
    part->dst = piece->dst;
    return split_add_piece(c->s, part, address, piece->offset, piece->nbytes, listed);
}

/* The parts of a packet, from `first` on, are in order of their addresses. */
static void end_packet(struct split_parts *parts, uint32_t first)
{
    split_in_order(parts, first);
    if (first < parts->n)
        parts->rows[first].begins = true;
}

/* Takes all pieces of a run off it. */
static kb_status cut_pieces(struct cut *c, uint32_t *first)
{
    struct split_parts *parts = &c->s->parts;

    while (c->range.nbytes) {
        uint64_t address = c->run_at + c->run_bytes - c->range.nbytes;
        struct address_part piece = address_part(c->s->topo, &c->range);

        if (piece.begins) {
            end_packet(parts, *first);
            *first = parts->n;
        }
        if (!add_piece(c, &piece, address, *first))
            return KB_NO_MEMORY;
        if (parts->n > SPLIT_PARTS_MAX)
            return KB_BAD_REQUEST;
    }
    return KB_OK;
}

/* Does a memory get the pieces of a part one by one, and not only their bytes? */
static bool sees_pieces(const struct cut *c, uint32_t dst)
{
    const struct kb_topology *t = c->s->topo;
    const struct kind_row *kind = kind_at(t, dst_cube(t, dst));

    return cost_memory(t, dst, false)->model != MEMORY_SERVER ||
           (unit_is_slice(t, dst_unit(t, dst)) &&
            (kind->hbm.model != MEMORY_SERVER || kind->hbm.access_bytes)) ||
           goes_to_l2(c, dst);
}

/*
 * The runs behind one that was cut: as long as they lie in its memory, and that takes bytes alone,
 * they are added at once. Tiles of hundreds of rows are mostly so.
 */
static void add_alike(struct cut *c, uint32_t first)
{
    const struct tile *tile = &c->bytes->tile;
    struct split_part *part;
    struct run run;

    if (tile->n < 2 || c->range.packet != ADDRESS_WHOLE || !c->memory.nbytes ||
        sees_pieces(c, c->memory.dst))
        return;
    part = split_part_in(c->s, first, c->memory.dst);
    for (uint32_t next = c->next; next < tile->n; c->next = next) {
        run = tile_next(tile, &next);
        run.at += c->bytes->at;
        if (run.at - c->memory.begin >= c->memory.nbytes)
            return;
        part->low = run.at < part->low ? run.at : part->low;
        part->nbytes += run.nbytes;
        part->last_bytes = run.nbytes;
        part->pieces++;
    }
}

/* A multicast has a part for each of its targets. */
static kb_status cut_branches(struct kb_sim *s, const struct txn *of, const struct bytes_at *bytes)
{
    for (uint32_t i = 0; i < bytes->targets->n; i++) {
        struct split_part *part = split_new_part(s);

        if (!part)
            return KB_NO_MEMORY;
        *part = (struct split_part){.offset = bytes->targets->of[i].offset,
                                    .nbytes = of->nbytes,
                                    .dst = bytes->targets->of[i].dst,
                                    .pieces = 1,
                                    .begins = i == 0};
        split_add_blocks(s, part, part->offset, of->nbytes);
    }
    s->parts.branches = true;
    return KB_OK;
}

kb_status split_cut(struct kb_sim *s, const struct txn *of, const struct bytes_at *bytes)
{
    uint64_t packet = packet_of(s->topo, of);
    struct cut c = {.s = s, .of = of, .bytes = bytes, .range = {.packet = packet, .left = packet}};
    const struct run one = {.nbytes = of->nbytes};
    kb_status status = KB_OK;
    uint32_t first = 0;

    split_drop(s);
    if (bytes->targets)
        return cut_branches(s, of, bytes);
    do {
        struct run run = one;

        if (bytes->tile.n > 1)
            run = tile_next(&bytes->tile, &c.next);
        if (!cut_run(&c, run)) {
            split_drop(s);
            return KB_BAD_REQUEST;
        }
        status = cut_pieces(&c, &first);
        if (status == KB_OK)
            add_alike(&c, first);
    } while (status == KB_OK && bytes->tile.n > 1 && c.next < bytes->tile.n);
    end_packet(&s->parts, first);
    return status;
}

void split_free(struct kb_sim *s)
{
    split_drop(s);
    free(s->parts.rows);
    free(s->splits);
    free(s->places);
    for (struct targets *next; s->targets; s->targets = next) {
        next = s->targets->next;
        free(s->targets);
    }
    branches_free(s);
    free(s->slots);
    free(s->more_parts);
}

/* -- making --------------------------------------------------------------------------------- */

void split_place(struct kb_sim *s, uint32_t slot, uint64_t offset)
{
    const struct txn *x = &s->txns[slot];
    struct split_part part = {.offset = offset, .nbytes = x->nbytes, .dst = x->dst, .pieces = 1};

    banks_place(s, slot, offset);
    caches_place(s, slot, offset);
    instance_place(&s->instances, slot, offset);
    if (!s->splits)
        return;
    split_add_blocks(s, &part, offset, x->nbytes);
    split_set_service(s, slot, &part);
}

void split_place_cut(struct kb_sim *s, uint32_t slot)
{
    s->txns[slot].dst = s->parts.rows[0].dst;
    split_place_part(s, slot, &s->parts.rows[0]);
}

/* The course of a part like `x`; all of a multicast go the first way of a net. */
static uint32_t course_of(const struct kb_sim *s, const struct txn *x, uint32_t number)
{
    if (T->paths > 1 && s->parts.branches)
        return 0;
    if (T->paths > 1 || T->plane_choice == PLANE_BY_HASH)
        return endpoint_course(T, (kb_transaction_op)x->op, x->src, x->dst, x->id, number);
    return x->course;
}

void split_make(struct kb_sim *s, uint32_t whole, uint32_t first, const uint32_t *slots)
{
    const struct txn *of = &s->txns[whole];
    uint32_t *link = &s->splits[whole].next;

    for (uint32_t number = 0; number < s->parts.n; number++) {
        struct split_part *part = &s->parts.rows[number];
        uint32_t slot = slots ? slots[number] : first + number;

        s->txns[slot] = *of;
        s->txns[slot].dst = part->dst;
        s->txns[slot].nbytes = part->nbytes & TXN_MAX_BYTES;
        s->txns[slot].course = course_of(s, &s->txns[slot], number) & 63u;
        s->txns[slot].stage = TXN_WAITING;
        s->splits[slot] = (struct split){.whole = whole,
                                         .next = TXN_NONE,
                                         .number = (uint16_t)number,
                                         .begins = part->begins,
                                         .maker = TXN_NONE};
        branches_none(s, slot);
        split_place_part(s, slot, part);
        *link = slot;
        link = &s->splits[slot].next;
    }
    s->splits[whole].left = s->parts.n;
    if (s->parts.branches && !branches_lay_over(s, s->splits[whole].next))
        fail(s, KB_NO_MEMORY);
}

void split_take_places(struct kb_sim *s, uint64_t t, uint32_t whole)
{
    const struct txn *of = &s->txns[whole];
    int64_t drain_fs = 0; /* of the packet, the longest of its parts */

    for (uint32_t part = s->splits[whole].next; part != TXN_NONE; part = s->splits[part].next) {
        struct txn *x = &s->txns[part];

        if (s->splits[part].begins && s->splits[part].number) {
            t = take_pace(s, of, after(t, drain_fs));
            drain_fs = 0;
        }
        x->issue_fs = of->issue_fs;
        x->wait_fs = (int64_t)t - of->issue_fs;
        if (T->links == MODE_IDEAL) {
            const struct trip trip = txn_trip(T, x);
            int64_t fs = cost_by_tables(T, &s->mask, x->op, &trip, x->nbytes).drain_fs;

            fs = split_drain(s, part, fs);
            drain_fs = fs > drain_fs ? fs : drain_fs;
        }
    }
}

struct targets *targets_new(struct kb_sim *s, uint32_t n)
{
    struct targets *targets = malloc(sizeof *targets + n * sizeof targets->of[0]);

    if (!targets)
        return NULL;
    targets->next = s->targets;
    targets->n = n;
    return s->targets = targets;
}

/* Is it one run, to one target? All zero is. */
static bool is_plain(const struct bytes_at *bytes)
{
    return bytes->tile.n < 2 && !bytes->targets;
}

bool split_later(struct kb_sim *s, uint32_t slot, const struct bytes_at *bytes)
{
    if (!is_plain(bytes) && !s->places)
        s->places = calloc(s->txns_cap, sizeof *s->places);
    if (!is_plain(bytes) && !s->places)
        return false;
    s->txns[slot].stage = TXN_SPLIT;
    s->txns[slot].address = bytes->at;
    s->splits[slot].by_address = bytes->by_address;
    if (s->places)
        s->places[slot] = *bytes;
    return true;
}

struct bytes_at split_bytes(const struct kb_sim *s, uint32_t slot)
{
    if (s->places && !is_plain(&s->places[slot]))
        return s->places[slot];
    return (struct bytes_at){.by_address = s->splits[slot].by_address, .at = s->txns[slot].address};
}

/* Cuts a row that will have parts. */
static kb_status cut_row(struct kb_sim *s, uint32_t row)
{
    const struct bytes_at bytes = split_bytes(s, row);

    return split_cut(s, &s->txns[row], &bytes);
}

/* Parts of the rows from `first` to `end` that will have some. False without memory. */
static bool count_all(struct kb_sim *s, uint32_t first, uint32_t end, uint64_t *n)
{
    *n = 0;
    for (uint32_t row = first; row < end; row++) {
        if (s->txns[row].stage != TXN_SPLIT)
            continue;
        if (cut_row(s, row) == KB_NO_MEMORY)
            return false;
        *n += s->parts.n;
    }
    return true;
}

/* Makes the parts of `row` from slot *at on. False without memory. */
static bool split_row(struct kb_sim *s, uint32_t row, uint32_t *at)
{
    if (cut_row(s, row) != KB_OK)
        return false;
    s->txns[row].stage = TXN_WAITING;
    split_make(s, row, *at, NULL);
    *at += s->splits[row].left;
    return true;
}

kb_status split_all(struct kb_sim *s, uint32_t first, uint32_t end, kb_error *why)
{
    uint64_t n = 0;
    uint32_t at = end;

    if (s->splits && !count_all(s, first, end, &n))
        return KB_NO_MEMORY;
    if (n == 0)
        return KB_OK;
    if (n > EV_MAX_SLOTS - 1 - end)
        return endpoint_error(why, "all transactions together have %llu parts, too many",
                              (unsigned long long)(s->n_parts + n));
    if (!sim_room(s, end + (uint32_t)n))
        return KB_NO_MEMORY;
    for (uint32_t row = first; row < end; row++)
        if (s->txns[row].stage == TXN_SPLIT && !split_row(s, row, &at))
            return KB_NO_MEMORY;
    s->n_parts += (uint32_t)n;
    return KB_OK;
}

const struct txn *split_last(const struct kb_sim *s, uint32_t slot)
{
    const struct txn *last;

    if (!is_split(s, slot))
        return &s->txns[slot];
    last = &s->txns[s->splits[slot].next];
    for (uint32_t part = s->splits[slot].next; part != TXN_NONE; part = s->splits[part].next)
        if (s->txns[part].issue_fs > last->issue_fs)
            last = &s->txns[part];
    return last;
}

uint64_t split_ended(struct kb_sim *s, uint32_t slot, uint64_t end)
{
    uint32_t whole = s->splits[slot].whole;

    s->txns[slot].issue_fs = (int64_t)end;
    s->txns[slot].stage = TXN_DONE;
    return s->splits[whole].left == 0 ? (uint64_t)split_last(s, whole)->issue_fs : SPLIT_GOES_ON;
}

void split_count_more(struct kb_sim *s, uint32_t slot)
{
    const struct txn *x = &s->txns[slot];
    struct flow_sum *more = &s->more_parts[2 * (size_t)x->src + txn_writes(x)];

    more->count++;
    if (!is_branch(s, slot))
        return;
    more->bytes += x->nbytes;
    branch_uncount(s, slot);
}
