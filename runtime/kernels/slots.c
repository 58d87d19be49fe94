/* slots.c -- slots of the engine for the stages of commands.
 *
 * The engine knows a transaction by its slot. Where a run has kernels, a slot is used again as soon
 * as its stage has ended, and k->work[slot] beside s->txns[slot] tells what the transaction is for:
 * its command or token, its stage, its station. A stage inside a PE (FETCH, GEMM, MATH, STORE) is a
 * transaction without a way: it comes to its port or engine at once, and its `hold_fs` is known.
 *
 * Free slots are a list through txn.next. Both arrays may move when a slot is made: no pointer into
 * them is kept across slot_new().
 */
#include "kernels/slots.h"
#include "kernels/hooks.h"
#include "engine/how.h"
#include "engine/split.h"
#include "kernels/requests.h"
#include <stdlib.h>

enum { WORK_FIRST = 256 };

/* Half as many slots again. */
static bool more_slots(struct kb_sim *s)
{
    struct kernels *k = s->kernels;
    uint32_t cap = k->slots_cap ? k->slots_cap + k->slots_cap / 2 : WORK_FIRST;
    struct work *work;

    if (cap > EV_MAX_SLOTS - 1 || !sim_room(s, cap))
        return false;
    work = realloc(k->work, cap * sizeof *work);
    if (!work)
        return false;
    k->work = work;
    k->slots_cap = cap;
    return true;
}

/* TXN_NONE: no memory. */
static uint32_t take_slot(struct kb_sim *s)
{
    struct kernels *k = s->kernels;
    uint32_t slot = k->free_slot;

    if (slot != TXN_NONE) {
        k->free_slot = s->txns[slot].next;
        if (s->splits)
            split_none(s, slot);
        return slot;
    }
    if (k->n_slots == k->slots_cap && !more_slots(s)) {
        engine_fail(s, KB_NO_MEMORY);
        return TXN_NONE;
    }
    return k->n_slots++;
}

void slot_free(struct kb_sim *s, uint32_t slot)
{
    s->txns[slot].next = s->kernels->free_slot;
    s->kernels->free_slot = slot;
}

uint32_t slot_new(struct kb_sim *s, const struct stage *stage, struct memory_station *station,
                  bool port)
{
    uint32_t slot = take_slot(s);

    if (slot != TXN_NONE)
        s->kernels->work[slot] = (struct work){.station = station,
                                               .command = stage->command,
                                               .token = stage->token,
                                               .stage = (uint8_t)stage->stage,
                                               .operand = stage->operand,
                                               .port = port,
                                               .id = stage->id,
                                               .data_op = stage->data_op};
    return slot;
}

/* What it writes may end later than the command that it is made for: it has none. */
uint32_t slot_of_child(struct kb_sim *s, uint32_t maker, uint32_t dst)
{
    uint32_t slot = take_slot(s);

    if (slot != TXN_NONE)
        s->kernels->work[slot] =
            (struct work){.station = &s->memories[dst], .stage = s->kernels->work[maker].stage};
    return slot;
}

/*
 * Stages that come to one port at the same instant are served in the order of their ids, so each
 * comes by an event. It needs none where no other can come: to an engine while its PE has one
 * command that uses engines, to a port of a TCM if, too, no transaction of this run goes to a TCM.
 * Where events are counted or watched, and where engines are components, all are events.
 */
static bool comes_alone(const struct kb_sim *s, const struct tl_ctx *pe, enum port port)
{
    const struct kernels *k = s->kernels;

    return engine_is_plain(s) && !s->topo->impls && pe->inside == 1 &&
           (port >= PORT_GEMM || (!k->reaches_tcms && !s->splits));
}

uint32_t stage_begin(struct kb_sim *s, uint64_t t, const struct stage *stage, enum port port,
                     int64_t hold_fs, uint64_t nbytes)
{
    struct tl_ctx *pe = stage->command->pe;
    uint32_t slot = slot_new(s, stage, &pe->port[port], true);

    if (slot == TXN_NONE)
        return slot;
    s->txns[slot] = (struct txn){
        .hold_fs = hold_fs, .nbytes = nbytes & TXN_MAX_BYTES, .id = stage->id, .src = pe->src};
    if (!stage->token && comes_alone(s, pe, port))
        engine_come_inside(s, t, slot);
    else
        engine_arrive(s, t, TXN_TO_MEMORY, slot);
    return slot;
}

bool stage_passes(struct kb_sim *s, uint64_t *t, const struct command *c, int64_t hold_fs)
{
    struct tl_ctx *pe = c->pe;
    struct link_station *port = &s->kernels->ports[pe->number * N_PORTS + PORT_TCM_READ];

    if (c != pe->current || c->async || pe->overlapped || s->log ||
        !comes_alone(s, pe, PORT_TCM_READ))
        return false;
    *t = later(engine_pass_inside(s, *t, port, hold_fs), hold_fs);
    if (STATS) {
        pe->port_bytes[PORT_TCM_READ] += c->fetch_bytes;
        pe->port_count[PORT_TCM_READ]++;
    }
    return true;
}

void engine_begin(struct kb_sim *s, uint64_t t, const struct stage *stage,
                  const struct engine_work *work)
{
    enum port port = stage->stage == STAGE_GEMM ? PORT_GEMM : PORT_MATH;
    uint32_t slot = stage_begin(s, t, stage, port, work->overhead_fs + work->cycles_fs, 0);
    const struct impls *impls = s->topo->impls;

    if (slot == TXN_NONE || !impls || !impls->engines)
        return;
    s->instances.served[slot] = (struct served){.m = work->m,
                                                .k = work->k,
                                                .n = work->n,
                                                .cycles = work->cycles,
                                                .cycles_fs = work->cycles_fs,
                                                .dtype_a = work->dtype_a,
                                                .dtype_b = work->dtype_b,
                                                .dtype_acc = work->dtype_acc};
}
