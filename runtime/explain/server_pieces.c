/* server_pieces.c -- the pieces of a transaction's time at a memory that chooses, and what the
 * buses of banks serve.
 *
 * They are known when its end is, and follow one another in the order of enum stay. At a slice with
 * banks they are those of the segment that ended last:
 *
 *     memory_wait    from its arrival until that segment is the current one of its bank
 *     refresh_wait   by which refreshes made its row ready later
 *     row_wait       until its row is ready, less what that takes alone: an open row makes it
 *                    negative
 *     bus_wait       the rest
 *
 * At a slice with a cache they are
 *
 *     cache_wait     from its arrival until the cache looks its lines up
 *     pending_wait   by which children of others, which bring its lines in, end it later
 *     memory_wait    the rest: what its own child waits for the memory; lines that were there make
 *                    it negative
 *
 * What it would have taken alone is overhead and drain, as in its row: all pieces together are its
 * time. A posted write waits for nothing but a place in the queue: memory_wait. That is all that is
 * known of a component that queues, too.
 *
 * Example: a read of 64 bytes comes to an open row. Alone it takes 30 ns, of which its row
 * takes 14. Now it takes 16: row_wait is -14, and overhead 28 and drain 2 are as ever.
 */
#include "explain/server_pieces.h"
#include "engine/split.h"
#include "machine/alone.h"
#include "network/caches.h"

/* -- how long ------------------------------------------------------------------------------- */

/* What it has waited for its slice in all is `wait_fs`. */
static void split_wait(const struct kb_sim *s, uint32_t slot, int64_t wait_fs, struct stays *in)
{
    const struct bank_access *access = &s->banks->accesses[slot];
    const struct txn *x = &s->txns[slot];

    in->fs[STAY_MEMORY] = wait_fs;
    if (access->writes && kind_at(s->topo, dst_cube(s->topo, x->dst))->banks.ack == ACK_ACCEPTED)
        return;
    in->fs[STAY_MEMORY] = access->prepared_fs - access->arrive_fs;
    in->fs[STAY_REFRESH] = access->delay_fs;
    in->fs[STAY_ROW] = access->ready_fs - access->prepared_fs - access->delay_fs -
                       sim_alone(s, slot, access->drain_fs).row_fs;
    in->fs[STAY_BUS] = wait_fs - in->fs[STAY_MEMORY] - in->fs[STAY_REFRESH] - in->fs[STAY_ROW];
}

static struct stays in_banks(const struct kb_sim *s, int64_t t_fs, uint32_t slot)
{
    const struct bank_access *access = &s->banks->accesses[slot];
    int64_t alone_fs = sim_alone(s, slot, access->drain_fs).fs;
    struct stays in = {
        .fs = {[STAY_OVERHEAD] = alone_fs - access->drain_fs, [STAY_DRAIN] = access->drain_fs}};

    split_wait(s, slot, t_fs - access->arrive_fs - alone_fs, &in);
    return in;
}

static struct stays in_queue(const struct kb_sim *s, int64_t t_fs, uint32_t slot)
{
    const struct txn *x = &s->txns[slot];
    struct kb_cost c = sim_cost(s, x);
    int64_t alone_fs = c.memory_overhead_fs + c.drain_fs;
    int64_t overhead_fs = c.memory_overhead_fs > 0 ? c.memory_overhead_fs : 0;

    return (struct stays){.fs = {[STAY_MEMORY] = t_fs - x->arrive_fs - alone_fs,
                                 [STAY_OVERHEAD] = overhead_fs,
                                 [STAY_DRAIN] = alone_fs - overhead_fs}};
}

static struct stays in_cache(const struct kb_sim *s, int64_t t_fs, uint32_t slot)
{
    const struct cached *row = &s->caches->rows[slot];
    struct stays in = in_queue(s, t_fs, slot);

    in.fs[STAY_CACHE] = row->start_fs - s->txns[slot].arrive_fs;
    in.fs[STAY_PENDING] = row->pending_fs;
    in.fs[STAY_MEMORY] -= in.fs[STAY_CACHE] + in.fs[STAY_PENDING];
    return in;
}

struct stays server_stays(const struct kb_sim *s, uint64_t t, uint32_t slot)
{
    const struct txn *x = &s->txns[slot];

    return (banks_has(s, x)     ? in_banks
            : caches_have(s, x) ? in_cache
                                : in_queue)(s, (int64_t)t, slot);
}

/* -- pieces --------------------------------------------------------------------------------- */

static int64_t tell(struct kb_sim *s, uint32_t slot, kb_place place, int64_t at_fs,
                    const struct stays *in)
{
    for (unsigned i = STAY_CACHE; i <= STAY_DRAIN; i++) {
        if (in->fs[i])
            spans_piece(s, slot, stay_cause(i), place, at_fs, in->fs[i]);
        at_fs += in->fs[i];
    }
    return at_fs;
}

void server_pieces_come(struct kb_sim *s, uint64_t t, uint32_t slot, kb_place place)
{
    spans_show(s, slot, place, (int64_t)t, -1);
}

int64_t bank_pieces_wait(struct kb_sim *s, uint32_t slot, kb_place place, int64_t at_fs,
                         int64_t wait_fs)
{
    struct stays in = {{0}};

    split_wait(s, slot, wait_fs, &in);
    return tell(s, slot, place, at_fs, &in);
}

void server_pieces_leave(struct kb_sim *s, uint64_t t, uint32_t slot, kb_place place)
{
    const struct stays in = server_stays(s, t, slot);
    int64_t arrive_fs = s->txns[slot].arrive_fs;

    spans_show(s, slot, place, arrive_fs, (int64_t)t);
    tell(s, slot, place, arrive_fs, &in);
}

/* -- the bus ---------------------------------------------------------------------------------- */

/* Another transaction may have the slot of a posted write by now. */
static kb_service service_of(const struct kb_sim *s, const struct bank_slice *slice,
                             const struct bank_segment *segment)
{
    uint32_t slot = segment->access;

    if (slice->rows && (!segment->writes || slice->view.row->ack == ACK_WRITTEN))
        slot = s->banks->pool.packets[slot].slot;
    if (!segment->writes || slice->view.row->ack == ACK_WRITTEN)
        return spans_service(s, slot, KB_NOWHERE, 0, 0);
    return (kb_service){.id = (uint32_t)segment->id,
                        .command = KB_NO_ID,
                        .token = KB_NO_ID,
                        .message = KB_NO_ID,
                        .what = "write",
                        .part = (uint32_t)(segment->id >> PART_RECORD_BIT)};
}

void bank_pieces_bus(struct kb_sim *s, const struct bank_slice *slice, uint32_t channel,
                     const struct bank_segment *segment)
{
    static const char *const found[BANK_KINDS] = {"row hit", "row miss", "row conflict"};
    const struct bank_view *v = &slice->view;
    kb_service service;

    if (!spans_of(s)->services)
        return;
    service = service_of(s, slice, segment);
    service.place = place_banks(slice->memory, channel);
    service.nbytes = (uint64_t)segment->n << v->row->burst_bits;
    service.end_fs = slice->channels[channel].counts.until_fs;
    service.begin_fs = service.end_fs - segment->n * v->burst_fs;
    service.found = found[segment->kind];
    service.bank = segment->bank;
    service.row = segment->row;
    TELL(spans_of(s), take, &service);
}
