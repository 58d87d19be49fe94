/* explain_stations.c -- waits for stations, and services: behind which transaction each one waits.
 *
 * When a transaction comes to a station that is taken, its wait is opened, with the transaction
 * that holds the station at that moment. The four kinds of stations know their holder in different
 * ways:
 *
 *   channel, engine   several servers: the one that was let in last (channel_id, engine_id); the
 *                     station is free if it has an idle server, and a PE may issue by it
 *   memory, port      one server: memory_station.holder
 *   link              a transaction is let in as soon as it is known when it may enter, which may
 *                     be later: visitors.c has the one that has entered by now
 *   early memory      the same: it is a station like a link (network/turn.h). So is a port of a TCM
 *                     that is free early; with several servers the last visit that has begun counts
 *   port of a TCM     with links router: the last one that took its turn there, net_take_port()
 *
 * A service is told when it begins, with its end if that is known (a link, an early memory), and
 * when it ends. Inside a memory it is cut into overhead and drain; what comes behind, a latency and
 * the joining of data of a multicast, counts as overhead.
 */
#include "explain/router_paths.h"
#include "explain/server_pieces.h"
#include "machine/walk.h"

static kb_place place_of_station(const struct kb_sim *s, uint32_t slot, enum station_kind station)
{
    const struct txn *txn = &s->txns[slot];

    switch (station) {
    case STATION_CHANNEL:
        return place_of(KB_AT_CHANNEL, 2 * (uint64_t)txn->src + txn_writes(txn));
    case STATION_ENGINE:
        return place_of(KB_AT_ENGINE, 2 * (uint64_t)dst_cube(s->topo, txn->dst) + txn_writes(txn));
    case STATION_LINK:
        return spans_link(s, slot);
    case STATION_NODE:
    case STATION_MEMORY:
        break;
    }
    return spans_memory(s, slot);
}

kb_cause stations_wait(kb_place place, enum station_kind station)
{
    if (kb_place_kind_of(place) == KB_AT_PORT)
        return place_index(place) % 4 < PORT_GEMM ? KB_CAUSE_PORT_WAIT : KB_CAUSE_ENGINE_WAIT;
    return station == STATION_CHANNEL  ? KB_CAUSE_CHANNEL_WAIT
           : station == STATION_ENGINE ? KB_CAUSE_ENGINE_WAIT
           : station == STATION_LINK   ? KB_CAUSE_LINK_WAIT
                                       : KB_CAUSE_MEMORY_WAIT;
}

/* -- coming to a station ----------------------------------------------------------------------- */

/* A link, or a memory that is free early: what comes there stands in line. */
struct line {
    const struct link_station *station; /* NULL: another kind of station */
    struct visitors *visitors;
};

bool stations_free_early(const struct kb_sim *s, uint32_t slot, kb_place place)
{
    const struct txn *txn = &s->txns[slot];
    uint32_t number = (uint32_t)place_index(place);

    if (kb_place_kind_of(place) == KB_AT_PORT)
        return number % N_PORTS <= PORT_TCM_WRITE &&
               memory_frees_early(
                   pe_port(&s->kernels->pes[number / N_PORTS], (enum port)(number % N_PORTS)));
    return s->topo->early && memory_frees_early(cost_memory(s->topo, txn->dst, txn_writes(txn)));
}

static struct line line_at(const struct kb_sim *s, uint32_t slot, enum station_kind station,
                           kb_place place)
{
    const struct txn *txn = &s->txns[slot];
    uint64_t i = place_index(place);

    if (station == STATION_LINK)
        return (struct line){&s->links[i], &spans_of(s)->links[i]};
    if (station != STATION_MEMORY || spans_of(s)->net || !stations_free_early(s, slot, place))
        return (struct line){NULL, NULL};
    if (kb_place_kind_of(place) == KB_AT_PORT)
        return (struct line){&s->kernels->ports[i], &spans_of(s)->ports[i]};
    return (struct line){&s->early[txn->dst], &spans_of(s)->early[txn->dst]};
}

/* The source and id of the visit that has such a station at `t`. False: it is free. */
static bool find_in_line(uint64_t t, struct line line, kb_place *source, uint32_t *id)
{
    const struct visitor *front = NULL;

    if ((uint64_t)line.station->free_fs > t)
        front = visitors_front(line.visitors, (int64_t)t);
    else
        visitors_forget(line.visitors);
    if (!front)
        return false;
    *source = front->source;
    *id = front->id;
    return true;
}

/* Is it a port of a TCM that packets from routers take, too? engine/hop_way.c, serve_early() */
static bool is_shared_port(const struct kb_sim *s, uint32_t slot, kb_place place)
{
    return spans_of(s)->net && is_inside(s, slot) && kb_place_kind_of(place) == KB_AT_PORT &&
           place_index(place) % 4 < PORT_GEMM;
}

/* Takes its turn at such a port; false: it is free, and nothing is waited for. */
static bool join_port(struct kb_sim *s, uint64_t t, uint32_t slot, kb_place place, kb_place *source,
                      uint32_t *id)
{
    uint32_t dst = s->kernels->pes[place_index(place) / N_PORTS].tcm;
    struct net_other before = net_take_port(s, slot, dst, place_index(place) % 4 == PORT_TCM_WRITE);

    *source = before.source;
    *id = before.id;
    return (uint64_t)s->kernels->ports[place_index(place)].free_fs > t;
}

/* The source and id of the transaction that holds a station at `t`. False: the station is free. */
static bool find_holder(const struct kb_sim *s, uint64_t t, uint32_t slot,
                        enum station_kind station, kb_place place, kb_place *source, uint32_t *id)
{
    const struct txn *txn = &s->txns[slot];
    struct line line = line_at(s, slot, station, place);
    uint64_t i = place_index(place);
    uint32_t holder = TXN_NONE;

    if (line.station)
        return find_in_line(t, line, source, id);
    switch (station) {
    case STATION_CHANNEL:
    case STATION_ENGINE:
        *source = spans_source(txn); /* a PE's channels, and an M_CPU's engines, serve one */
        *id = (station == STATION_CHANNEL ? spans_of(s)->channel_id : spans_of(s)->engine_id)[i];
        if (station == STATION_CHANNEL && s->paces && s->paces[i] > t)
            return true;
        return (station == STATION_CHANNEL ? s->channels : s->engines)[i].idle == 0;
    case STATION_LINK:
    case STATION_NODE:
    case STATION_MEMORY:
        holder =
            sim_has_kernels(s) ? work_at(s, slot)->station->holder : s->memories[txn->dst].holder;
        break;
    }
    if (holder == TXN_NONE)
        return false;
    *source = spans_source(&s->txns[holder]);
    *id = s->txns[holder].id;
    return true;
}

bool stations_chooses(const struct kb_sim *s, uint32_t slot)
{
    return !is_inside(s, slot) && txn_queues(s, &s->txns[slot]);
}

/* What an L2 makes has no pieces, but is in the line that others are in. */
static void come_unseen(struct kb_sim *s, uint64_t t, uint32_t slot, struct line line)
{
    kb_place source;
    uint32_t id;

    if (spans_room(s, slot) && line.station)
        find_in_line(t, line, &source, &id);
}

void stations_come(struct kb_sim *s, uint64_t t, uint32_t slot, enum station_kind station)
{
    kb_place place = place_of_station(s, slot, station), behind;
    uint32_t id;

    if (is_child(s, slot)) {
        come_unseen(s, t, slot, line_at(s, slot, station, place));
        return;
    }
    spans_close(s, t, slot);
    if (station == STATION_MEMORY && stations_chooses(s, slot)) {
        server_pieces_come(s, t, slot, place);
        return;
    }
    if (is_shared_port(s, slot, place) ? !join_port(s, t, slot, place, &behind, &id)
                                       : !find_holder(s, t, slot, station, place, &behind, &id))
        return;
    spans_open_wait(s, t, slot, stations_wait(place, station), place, behind, id);
}

/* -- taking it --------------------------------------------------------------------------------- */

/*
 * If the wait was for another tile of the same composite, what led to the end of that one's service
 * has led here. If another command of the same PE had its own channel or engine, that command's
 * stretch has (messages.c), and the wait is on no path.
 */
void stations_follow(struct kb_sim *s, uint64_t t, uint32_t slot, bool own)
{
    struct chain *chain = &spans_of(s)->slots[slot].chain;
    const struct leaving *from = &spans_of(s)->leaving;

    if (chain->command == KB_NO_ID || from->chain.command == KB_NO_ID || from->end_fs != (int64_t)t)
        return;
    if (from->chain.command == chain->command) {
        chain_copy(s, chain, &from->chain);
    } else if (own && from->chain.pe == chain->pe) {
        chain_follow(chain, messages_leaving(s), (int64_t)t);
    }
}

/* A wait has ended. In a line nothing ends when the next one enters; nor does anything when a PE
 * may issue again. */
static void end_wait(struct kb_sim *s, uint64_t t, uint32_t slot, bool in_line)
{
    const struct progress *at = &spans_of(s)->slots[slot];
    kb_cause cause = (kb_cause)at->cause;

    if (!at->open || !kb_cause_is_wait(cause))
        return;
    spans_close(s, t, slot);
    if (!in_line)
        stations_follow(s, t, slot,
                        cause == KB_CAUSE_CHANNEL_WAIT || cause == KB_CAUSE_ENGINE_WAIT);
}

/*
 * Of a service by a component, which begins at `t`, what is more than the drain: shown as overhead,
 * as the result has it. If it is less, there is none.
 */
static int64_t component_overhead_fs(const struct kb_sim *s, uint64_t t, uint32_t slot,
                                     int64_t *length_fs)
{
    const struct txn *txn = &s->txns[slot];
    const struct memory_row *row = cost_memory(s->topo, txn->dst, txn_writes(txn));
    int64_t drain = txn->hold_fs - cost_in_memory_fs(&s->mask, row);

    *length_fs = s->instances.served[slot].done_fs - (int64_t)t;
    return *length_fs > drain ? *length_fs - drain : 0;
}

int64_t stations_inside(const struct kb_sim *s, uint32_t slot, kb_cause *cause)
{
    enum op_stage stage = (enum op_stage)work_at(s, slot)->stage;
    const struct pe_row *pe = &pe_kind(work_at(s, slot)->command->pe)->pe;

    *cause = stage == STAGE_GEMM || stage == STAGE_MATH ? KB_CAUSE_COMPUTE : KB_CAUSE_PORT;
    return (stage == STAGE_GEMM   ? pe->gemm_overhead_fs
            : stage == STAGE_MATH ? pe->math_overhead_fs
                                  : 0) &
           s->mask.overhead;
}

/* Opens the pieces of a service: the overhead, then the drain; inside a PE, port or engine. */
static void begin_service(struct kb_sim *s, uint64_t t, uint32_t slot, kb_place place)
{
    const struct kb_topology *topo = s->topo;
    const struct txn *txn = &s->txns[slot];
    kb_cause cause = KB_CAUSE_DRAIN;
    int64_t overhead_fs, length_fs = txn->hold_fs;

    if (is_inside(s, slot)) {
        overhead_fs = stations_inside(s, slot, &cause);
    } else {
        const struct memory_row *row = cost_memory(topo, txn->dst, txn_writes(txn));
        int64_t late_fs = branch_late_fs(s, slot);

        overhead_fs = ((row->overhead_fs + row->latency_fs) & s->mask.overhead) + late_fs;
        length_fs += late_fs;
    }
    if (!is_inside(s, slot) && memory_is_component(topo, txn->dst))
        overhead_fs = component_overhead_fs(s, t, slot, &length_fs);
    if (overhead_fs) {
        spans_open(s, t, slot, KB_CAUSE_OVERHEAD, place);
        t += (uint64_t)overhead_fs;
        spans_close(s, t, slot);
    }
    if (length_fs > overhead_fs)
        spans_open(s, t, slot, cause, place);
}

/* Notes which transaction has the station since when, for later ones and for its release. */
static void note_take(struct kb_sim *s, uint64_t t, uint32_t slot, enum station_kind station,
                      kb_place place)
{
    struct spans *w = spans_of(s);
    struct line line = line_at(s, slot, station, place);

    const struct txn *txn = &s->txns[slot];
    struct visitor next = {(int64_t)t, spans_source(txn), txn->id, slot};

    if (line.station && !visitors_join(line.visitors, next))
        spans_stop(s, KB_NO_MEMORY);
    switch (station) {
    case STATION_CHANNEL:
        w->channel_id[place_index(place)] = s->txns[slot].id;
        break;
    case STATION_ENGINE:
        w->slots[slot].engine_since_fs = (int64_t)t;
        w->engine_id[place_index(place)] = s->txns[slot].id;
        break;
    case STATION_MEMORY:
        w->slots[slot].memory_since_fs = (int64_t)t;
        break;
    case STATION_LINK:
    case STATION_NODE:
        break;
    }
}

/* When the station is free of what takes it now; -1: not known yet. */
static int64_t known_end_fs(const struct kb_sim *s, uint32_t slot, struct line line, kb_place place)
{
    if (is_shared_port(s, slot, place))
        return link_last_fs(&s->kernels->ports[place_index(place)]);
    return line.station ? link_last_fs(line.station) : -1;
}

void stations_take(struct kb_sim *s, uint64_t t, uint32_t slot, enum station_kind station)
{
    struct spans *w = spans_of(s);
    kb_place place = place_of_station(s, slot, station);
    struct line line = line_at(s, slot, station, place);
    kb_service service;

    if (is_child(s, slot)) {
        note_take(s, t, slot, station, place);
        return;
    }
    end_wait(s, t, slot, line.station || is_shared_port(s, slot, place));
    note_take(s, t, slot, station, place);
    if (w->services) {
        service = spans_service(s, slot, place, (int64_t)t, known_end_fs(s, slot, line, place));
        TELL(w, take, &service);
    }
    if (station == STATION_MEMORY)
        begin_service(s, t, slot, place);
}

/* -- leaving it -------------------------------------------------------------------------------- */

void stations_leaves(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct leaving *leaving = &spans_of(s)->leaving;

    chain_swap(&leaving->chain, &spans_of(s)->slots[slot].chain);
    leaving->end_fs = (int64_t)t;
    leaving->stretch = KB_NO_ID;
}

void stations_leave(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct spans *w = spans_of(s);
    kb_place place = spans_memory(s, slot);
    kb_service service;

    spans_close(s, t, slot);
    if (w->net && !is_inside(s, slot))
        net_leave(s, t, slot, place);
    else if (stations_chooses(s, slot))
        server_pieces_leave(s, t, slot, place);
    else if (w->services && !line_at(s, slot, STATION_MEMORY, place).station &&
             !is_shared_port(s, slot, place)) {
        service = spans_service(s, slot, place, w->slots[slot].memory_since_fs, (int64_t)t);
        TELL(w, release, &service);
    }
    stations_leaves(s, t, slot);
}

void stations_left(struct kb_sim *s)
{
    spans_of(s)->leaving.chain.command = KB_NO_ID;
}

void stations_release(struct kb_sim *s, uint64_t t, uint32_t slot, enum station_kind station)
{
    const struct txn *txn = &s->txns[slot];
    int64_t since_fs = station == STATION_CHANNEL ? txn->issue_fs + txn->wait_fs
                                                  : spans_of(s)->slots[slot].engine_since_fs;
    kb_service service;

    if (!spans_of(s)->services)
        return;
    service = spans_service(s, slot, place_of_station(s, slot, station), since_fs, (int64_t)t);
    TELL(spans_of(s), release, &service);
}
