/* bank_pieces.c -- the pieces of a transaction's time at a slice with banks, and what its buses
 * serve.
 *
 * They are known when it has been served, and are those of the segment that ended last:
 *
 *     memory_wait    from its arrival until that segment is the current one of its bank
 *     refresh_wait   by which refreshes made its row ready later
 *     row_wait       until its row is ready, less what that takes alone: an open row makes it
 *                    negative
 *     bus_wait       the rest
 *
 * What it would have taken alone is overhead and drain, as in its row: all pieces together are its
 * time. A posted write waits for nothing but a place in the queue: memory_wait.
 *
 * Example: a read of 64 bytes comes to an open row. Alone it takes 30 ns, of which its row
 * takes 14. Now it takes 16: row_wait is -14, and overhead 28 and drain 2 are as ever.
 */
#include "explain/bank_pieces.h"
#include "engine/split.h"

void bank_pieces_come(struct kb_sim *s, uint64_t t, uint32_t slot, kb_place place)
{
    spans_show(s, slot, place, (int64_t)t, -1);
}

/* Its pieces follow one another. */
struct pieces {
    struct kb_sim *sim;
    uint32_t slot;
    kb_place place;
    int64_t at_fs;
};

static void add(struct pieces *p, kb_cause cause, int64_t fs)
{
    if (fs)
        spans_piece(p->sim, p->slot, cause, p->place, p->at_fs, fs);
    p->at_fs += fs;
}

/* What it has waited in all is `wait_fs`. */
static void add_waits(struct pieces *p, const struct bank_access *access, int64_t wait_fs)
{
    const struct kb_topology *t = p->sim->topo;
    const struct txn *txn = &p->sim->txns[p->slot];
    int64_t memory_fs = access->prepared_fs - access->arrive_fs, row_fs;

    if (access->writes && kind_at(t, dst_cube(t, txn->dst))->banks.ack == ACK_ACCEPTED) {
        add(p, KB_CAUSE_MEMORY_WAIT, wait_fs);
        return;
    }
    row_fs = access->ready_fs - access->prepared_fs - access->delay_fs -
             banks_alone(p->sim, p->slot, access->drain_fs).row_fs;
    add(p, KB_CAUSE_MEMORY_WAIT, memory_fs);
    add(p, KB_CAUSE_REFRESH_WAIT, access->delay_fs);
    add(p, KB_CAUSE_ROW_WAIT, row_fs);
    add(p, KB_CAUSE_BUS_WAIT, wait_fs - memory_fs - access->delay_fs - row_fs);
}

int64_t bank_pieces_wait(struct kb_sim *s, uint32_t slot, kb_place place, int64_t at_fs,
                         int64_t wait_fs)
{
    struct pieces p = {s, slot, place, at_fs};

    add_waits(&p, &s->banks->accesses[slot], wait_fs);
    return p.at_fs;
}

void bank_pieces_leave(struct kb_sim *s, uint64_t t, uint32_t slot, kb_place place)
{
    const struct bank_access *access = &s->banks->accesses[slot];
    const struct txn *txn = &s->txns[slot];
    int64_t behind_fs = cost_in_memory_fs(&s->mask, cost_memory(s->topo, txn->dst, access->writes));
    int64_t alone_fs = banks_alone(s, slot, access->drain_fs).fs;
    struct pieces p = {s, slot, place, access->arrive_fs};

    spans_show(s, slot, place, access->arrive_fs, (int64_t)t);
    add_waits(&p, access, (int64_t)t - behind_fs - access->arrive_fs - alone_fs);
    add(&p, KB_CAUSE_OVERHEAD, alone_fs - access->drain_fs + behind_fs);
    add(&p, KB_CAUSE_DRAIN, access->drain_fs);
}

/* -- the bus ---------------------------------------------------------------------------------- */

/* Another transaction may have the slot of a posted write by now. */
static kb_service service_of(const struct kb_sim *s, const struct bank_slice *slice,
                             const struct bank_segment *segment)
{
    uint32_t slot = segment->access;

    if (slice->view.routed && (!segment->writes || slice->view.row->ack == ACK_WRITTEN))
        slot = s->banks->pool.packets[slot].slot;
    if (!segment->writes || slice->view.row->ack == ACK_WRITTEN)
        return spans_service(s, slot, KB_NOWHERE, 0, 0);
    return (kb_service){.id = (uint32_t)segment->id,
                        .command = KB_NO_ID,
                        .token = KB_NO_ID,
                        .message = KB_NO_ID,
                        .what = "write",
                        .part = (uint32_t)(segment->id >> SPLIT_NUMBER_BIT)};
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
