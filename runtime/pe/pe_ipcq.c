/* pe_ipcq.c -- pe_ipcq: queues of slots, by which PEs send tensors to each other.
 *
 * What it holds   a slot in the receiver's memory, one for each piece: cube.pe.pe_ipcq.slots of
 *                 slot_bytes, in its TCM, SRAM or HBM slice, for each (sender, receiver, tag)
 * For how long    from the issue of the piece until the sender knows that it has been taken
 * Lets in first   pieces in the order of their sends; receives in the order of their issues
 * Wait counted    queue_wait of --breakdown: a send for a slot, a receive for a piece
 * Golden number   docs/kernels.md "Worked: a ring": tl_recv() of 4096 bytes returns at 67.205 ns,
 *                 after wire 0.12, drain 32 and FETCH 8 of the sender's piece
 *
 * A message is cut into pieces of a slot, whole elements each. A piece is a write of the sender's
 * pe_dma to the slot; the receiver takes it by a FETCH on its own TCM (or a DMA read, where slots
 * lie in an SRAM or a slice). Then a *credit* travels back, wires and overheads but no station, and
 * the slot is free for the sender. This is credit-based flow control, as in a NoC: nothing is ever
 * dropped, and a fast sender is held up by the receiver.
 *
 *     issued, taken   count pieces modulo 2^32; slot i % n_slots has piece i
 *     free_fs         of a slot: TAKEN, or when its credit is with the sender
 *     full            the piece has arrived
 *
 * Invariants: taken <= issued <= taken + n_slots; only slots in between are in use; any number of
 * sends and receives wait, each in order. The first send waits for a slot, or for its start;
 * without tl_async() it is the only one, as its PE waits in it.
 *
 * A credit is no event unless a send waits for it. It is a time, `free_fs`: a send that finds it in
 * the past takes the slot at once. Only a send that waits for exactly this slot makes an event of
 * it: send_credit().
 *
 * A message is a reference. The slot has bytes in time only: the receiver's tensor gets the version
 * that was sent, and the MemoryStore is not asked. Both together took a message from 403 to 312 ns,
 * and a piece from 275 to 158.
 *
 * Example, in ns: the first step of the ring. A sends 4096 bytes to B in the other row. The send is
 * issued at 27.085, and its write has arrived at 59.205. B has posted its receive, so the FETCH
 * follows at once, and the receive ends at 67.205. The credit is back at 67.325. A sends again at
 * 73.205, when all four slots are free: with a single slot the ring would be as fast.
 *
 * Two PEs that both send more than all slots hold before either receives wait for each other:
 * deadlock.c.
 */
#include "pe/boxes.h"
#include <stdlib.h>
#include "kernels/error.h"
#include "kernels/observe.h"
#include "kernels/pool.h"
#include "kernels/requests.h"
#include "machine/address.h"
#include "pe/pe_ipcq.h"
#include "pe/pe_ipcq_queue.h"

/* The room of slots at the end of a memory is free again when no queue has slots there. */
static void leave_room(struct slot_room *room)
{
    if (--room->queues == 0)
        room->bytes = 0;
}

static void queue_free(struct queue *q)
{
    for (uint32_t i = 0; i < q->n_slots; i++)
        version_drop(q->slot[i].sent.v);
    leave_room(q->room);
    free(q);
}

void ipcq_free(struct ipcq *ipcq)
{
    if (!ipcq)
        return;
    for (size_t i = 0; i < ipcq->n_rows; i++) {
        while (ipcq->queues[i]) {
            struct queue *q = ipcq->queues[i];

            ipcq->queues[i] = q->next;
            queue_free(q);
        }
    }
    free(ipcq->queues);
    free(ipcq);
}

static struct ipcq *ipcq_new(void)
{
    struct ipcq *ipcq = calloc(1, sizeof *ipcq);

    if (ipcq)
        ipcq->queues = calloc(ROWS_FIRST, sizeof *ipcq->queues);
    if (!ipcq || !ipcq->queues) {
        free(ipcq);
        return NULL;
    }
    ipcq->n_rows = ROWS_FIRST;
    return ipcq;
}

/* Where slots do not lie in TCMs: counted by memory, for the whole run. */
static bool rooms_of(struct kernels *k, const struct kb_topology *t)
{
    if (!k->sram_room)
        k->sram_room = calloc(sim_cubes(t), sizeof *k->sram_room);
    if (!k->hbm_room)
        k->hbm_room = calloc(slice_indices(t), sizeof *k->hbm_room);
    return k->sram_room && k->hbm_room;
}

/* Made for the first queue of the launch. NULL after a message. */
struct ipcq *ipcq_of(struct command *c)
{
    struct launch *l = c->pe->launch;

    if (!l->ipcq && rooms_of(c->pe->kernels, c->pe->sim->topo))
        l->ipcq = ipcq_new();
    if (!l->ipcq)
        kernel_no_memory(c->pe);
    return l->ipcq;
}

/* -- sending ---------------------------------------------------------------------------------- */

/* A piece of a command, as a stage of its own. */
static struct token *piece_new(struct kb_sim *s, struct command *c, uint32_t in_queue)
{
    struct token *token = token_new(s->kernels);

    if (!token) {
        engine_fail(s, KB_NO_MEMORY);
        return NULL;
    }
    *token = (struct token){.command = c, .number = c->piece, .i = in_queue, .queue = c->queue};
    token->fetch_bytes = ipcq_piece_bytes(c, c->piece);
    return token;
}

/*
 * The next piece joins the sender's channel: at once if `called`, in the event of the command's
 * issue, else by an event. Only the first piece is `called`: the next ones come behind all that
 * follows at this instant from the one before.
 */
static bool send_piece(struct kb_sim *s, uint64_t t, struct command *c, bool called)
{
    struct queue *q = c->queue;
    struct token *token = piece_new(s, c, q->issued);
    struct stage stage = {.command = c, .token = token, .stage = STAGE_DMA_WRITE, .data_op = true};
    struct filled *filled = ipcq_slot_of(q, q->issued);
    uint32_t slot;

    if (!token)
        return false;
    token->joins_fs = t;
    stage.id = c->op.id + c->piece;
    slot =
        pe_dma_slot(s, t, &stage, q->memory, ipcq_slot_address(q, q->issued), token->fetch_bytes);
    if (slot == TXN_NONE)
        return false;
    *filled = (struct filled){.nbytes = token->fetch_bytes,
                              .all_bytes = c->nbytes,
                              .free_fs = TAKEN,
                              .last = c->piece + 1 == c->pieces,
                              .here = c->here};
    if (c->piece == 0)
        filled->sent = (struct view){version_keep(c->op.in[0].view.v), c->op.in[0].view.offset};
    q->issued++;
    c->piece++;
    if (called)
        engine_issue(s, t, slot);
    else
        engine_arrive(s, t, TXN_TO_CHANNEL, slot);
    return true;
}

/* The credit of the next slot is on its way, and the sender waits for it. */
static void send_credit(struct kb_sim *s, struct queue *q)
{
    const struct filled *next = ipcq_slot_of(q, q->issued);
    struct token *token = token_new(s->kernels);
    struct stage stage = {.stage = STAGE_COMMAND, .id = next->free_id, .token = token};
    uint32_t slot;

    if (!token) {
        engine_fail(s, KB_NO_MEMORY);
        return;
    }
    *token = (struct token){.queue = q};
    slot = slot_new(s, &stage, NULL, false);
    if (slot == TXN_NONE)
        return;
    s->txns[slot] = (struct txn){.id = next->free_id};
    if (s->observer && !observe_credit(s, slot, q->receiver, &next->taken))
        return;
    engine_send_word(s, next->free_fs, 0, slot);
}

static void wait_for_slot(struct kb_sim *s, uint64_t t, struct command *c)
{
    c->queue->sending = c;
    c->queue->lacks_fs = t;
    if (s->observer)
        observe_wait(s, c, c->op.id + c->piece, c->queue->receiver);
    if (ipcq_slot_of(c->queue, c->queue->issued)->free_fs != TAKEN)
        send_credit(s, c->queue);
}

void ipcq_join(struct command *c)
{
    struct queue *q = c->queue;

    c->behind = NULL;
    if (q->sending)
        q->last_sending->behind = c;
    else
        q->sending = c;
    q->last_sending = c;
}

/* All pieces of a send are under way: the kernel goes on if it has waited for that. */
static void sent(struct kb_sim *s, uint64_t t, struct command *c)
{
    struct tl_ctx *pe = c->pe;

    if (c->overlaps)
        return;
    c->async = true;
    if (s->observer)
        observe_go_on(s, t, c);
    if (pe->state != PE_WAITS || pe->current != c)
        return;
    pe->current = NULL;
    pe->state = PE_WAKES;
    wakes_add(&s->kernels->wakes, t, pe->number);
}

/*
 * Sends go on, in the order of their calls, as long as they have started and slots are free before
 * `end`: a credit of this instant has its own event, unless that is over.
 */
static void send_on(struct kb_sim *s, uint64_t t, struct queue *q, uint64_t end, bool called)
{
    struct command *c;

    while ((c = q->sending) && c->started) {
        while (c->piece < c->pieces && ipcq_slot_of(q, q->issued)->free_fs < end)
            if (!send_piece(s, t, c, called && c->piece == 0))
                return;
        if (c->piece < c->pieces) {
            wait_for_slot(s, t, c);
            return;
        }
        q->sending = c->behind;
        sent(s, t, c);
        called = false;
    }
}

void ipcq_send(struct kb_sim *s, uint64_t t, struct command *c, bool called)
{
    if (c->queue->sending == c)
        send_on(s, t, c->queue, t + called, called);
}

void ipcq_credit(struct kb_sim *s, uint64_t t, struct queue *q)
{
    pe_result(q->sending->pe)->slot_wait_fs += (int64_t)(t - q->lacks_fs);
    if (send_piece(s, t, q->sending, false))
        send_on(s, t, q, t, false);
}

/* -- receiving -------------------------------------------------------------------------------- */

/* Does the slot hold what the command expects? */
static bool fits(struct command *c, const struct filled *slot, uint64_t nbytes)
{
    bool last = c->piece + 1 == c->pieces;

    if (slot->nbytes == nbytes && slot->last == last)
        return true;
    if (slot->all_bytes != c->nbytes)
        kernel_error(c->pe, c->call, c->here,
                     "what was sent at %s:%d has %llu bytes, not the %llu that are expected",
                     slot->here.file, slot->here.line, (unsigned long long)slot->all_bytes,
                     (unsigned long long)c->nbytes);
    else
        kernel_error(c->pe, c->call, c->here,
                     "what was sent at %s:%d came in pieces of %llu bytes, not of %llu: a slot of "
                     "%u has whole elements",
                     slot->here.file, slot->here.line, (unsigned long long)slot->nbytes,
                     (unsigned long long)nbytes, c->slot_bytes);
    return false;
}

static void take_piece(struct kb_sim *s, uint64_t t, struct command *c)
{
    struct queue *q = c->queue;
    bool tcm = pe_kind(c->pe)->pe.ipcq_space == QUEUE_TCM;
    struct token *token = piece_new(s, c, q->taken);
    struct stage stage = {
        .command = c, .token = token, .stage = tcm ? STAGE_FETCH : STAGE_DMA_READ, .data_op = true};

    if (!token)
        return;
    stage.id = c->op.id + 1 + c->piece;
    if (c->piece == 0)
        c->result->view = ipcq_slot_of(q, q->taken)->sent;
    token->next_id = ipcq_slot_of(q, q->taken)->id;
    c->result->maker = token->next_id; /* in the end that of the last */
    *ipcq_slot_of(q, q->taken) = (struct filled){.free_fs = TAKEN};
    q->taken++;
    c->piece++;
    if (tcm)
        pe_fetch(s, t, &stage, token->fetch_bytes);
    else
        pe_dma_begin(s, t, &stage, q->memory, ipcq_slot_address(q, q->taken - 1),
                     token->fetch_bytes);
}

/* Gives the pieces that have come to the receives that wait for them. */
static void give_pieces(struct kb_sim *s, uint64_t t, struct queue *q)
{
    struct command *c;

    while ((c = q->receiving) && q->taken != q->issued) {
        const struct filled *slot = ipcq_slot_of(q, q->taken);

        if (!slot->full || !fits(c, slot, ipcq_piece_bytes(c, c->piece)))
            return;
        take_piece(s, t, c);
        if (c->piece == c->pieces)
            q->receiving = c->behind;
    }
}

void ipcq_receive(struct kb_sim *s, uint64_t t, struct command *c)
{
    struct queue *q = c->queue;

    c->behind = NULL;
    if (q->receiving)
        q->last_receiving->behind = c;
    else
        q->receiving = c;
    q->last_receiving = c;
    give_pieces(s, t, q);
    if (s->observer && s->status == KB_OK && c->piece < c->pieces)
        observe_wait(s, c, c->op.id + 1 + c->piece, q->sender);
}

/* A piece has been taken out of its slot: the credit for the sender sets out. */
static void free_slot(struct kb_sim *s, uint64_t t, const struct work *work)
{
    struct queue *q = work->token->queue;
    struct filled *slot = ipcq_slot_of(q, work->token->i);

    slot->free_fs = t + (uint64_t)q->credit_fs;
    slot->free_id = work->id;
    if (s->observer)
        slot->taken = observe_taken(s);
    if (q->sending && q->sending->started && slot == ipcq_slot_of(q, q->issued))
        send_credit(s, q);
}

/* A piece waited for a channel from joining it to its start. Many wait at once: only what no piece
 * before it has waited counts. */
static void count_channel_wait(struct tl_ctx *pe, int64_t joins_fs, int64_t start_fs)
{
    int64_t from = joins_fs > pe->waited_fs ? joins_fs : pe->waited_fs;

    if (start_fs <= from)
        return;
    pe_result(pe)->channel_wait_fs += start_fs - from;
    pe->waited_fs = start_fs;
}

/*
 * When has the piece, which is in its slot at t, come to the ports of the receiver, if that was
 * idle? It has come to the first of them no longer before t than its whole way takes alone:
 * whatever it has waited for, it has waited for before that, or behind another that has come
 * before.
 */
static void meet(const struct kb_sim *s, int64_t t, const struct work *work)
{
    const struct queue *q = work->token->queue;
    struct tl_ctx *pe = &s->kernels->pes[q->receiver];

    if (t <= pe->idle_begin_fs || work->start_fs >= pe->idle_end_fs)
        return;
    const struct trip trip =
        walk_trip(s->topo, work->command->pe->src, q->memory, 0, false, 0, false);
    const struct kb_cost way =
        cost_beside_routers(s->topo, &s->mask, KB_WRITE, &trip, work->token->fetch_bytes, NULL);
    bool is_known = s->topo->paths == 1 && s->topo->planes == 1;
    int64_t came_fs = is_known ? t - cost_formula_fs(&way) : work->start_fs;
    pe->met_fs = came_fs < pe->met_fs ? came_fs : pe->met_fs;
}

/* A piece is in its slot. */
static void arrived(const struct kb_sim *s, uint64_t t, const struct work *work)
{
    const struct token *token = work->token;
    struct filled *slot = ipcq_slot_of(token->queue, token->i);

    count_channel_wait(token->command->pe, (int64_t)token->joins_fs, work->start_fs);
    meet(s, (int64_t)t, work);
    slot->full = true;
    slot->id = token->command->op.id + token->number;
    pe_result(token->command->pe)->dma_write_bytes += token->fetch_bytes;
}

bool ipcq_piece_done(struct kb_sim *s, uint64_t t, const struct work *work)
{
    struct command *c = work->command;

    if (c->task == TASK_SEND)
        arrived(s, t, work);
    else
        free_slot(s, t, work);
    if (--c->pieces_left > 0)
        return false;
    if (c->task == TASK_RECV)
        c->result->hidden = true;
    return true;
}

void ipcq_piece_left(struct kb_sim *s, uint64_t t, const struct work *work)
{
    struct token *token = work->token;

    if (work->stage == STAGE_DMA_WRITE && s->status == KB_OK)
        give_pieces(s, t, token->queue);
    token_free(s->kernels, token);
}

/* -- records ---------------------------------------------------------------------------------- */

void ipcq_set_moved(struct op_token *r, const struct token *token)
{
    r->token = token->number;
    r->nbytes = token->fetch_bytes;
    r->address = ipcq_slot_address(token->queue, token->i);
    r->space = (uint8_t)token->queue->space;
}

struct op ipcq_record(const struct work *work)
{
    const struct token *token = work->token;
    struct op op = token->command->op;
    uint64_t cell = dtype_cell(op.in[0].dtype), n = token->fetch_bytes / cell;

    op.id = work->id;
    op.ipcq = true;
    if (token->command->pieces > 1) {
        op.in[0].address += ipcq_piece_offset(token->command, token->number);
        op.in[0].view.offset += ipcq_piece_offset(token->command, token->number);
        op.in[0].shape.rank = 1;
        op.in[0].shape.dim[0] = (uint32_t)(n * dtype_of_cell(op.in[0].dtype));
    }
    op.out.address = ipcq_slot_address(token->queue, token->i);
    op.out.space = (uint8_t)token->queue->space;
    return op;
}

static bool is_before(const struct queue *q, const struct queue *other)
{
    if (q->sender != other->sender)
        return q->sender < other->sender;
    return q->receiver != other->receiver ? q->receiver < other->receiver : q->tag < other->tag;
}

/* Adds the messages of a queue. Keeps in *first the queue that comes first. */
static void count_queue(struct queue *q, kb_launch_result *r, struct queue **first)
{
    if (q->taken == q->issued)
        return;
    for (uint32_t i = q->taken; i != q->issued; i++)
        r->unreceived += ipcq_slot_of(q, i)->last;
    if (*first && is_before(*first, q))
        return;
    *first = q;
    r->unreceived_from = q->sender;
    r->unreceived_to = q->receiver;
    r->unreceived_tag = q->tag;
    r->unreceived_file = ipcq_slot_of(q, q->taken)->here.file;
    r->unreceived_line = ipcq_slot_of(q, q->taken)->here.line;
}

void ipcq_count_unreceived(const struct ipcq *ipcq, kb_launch_result *r)
{
    struct queue *first = NULL;

    for (size_t i = 0; ipcq && i < ipcq->n_rows; i++)
        for (struct queue *q = ipcq->queues[i]; q; q = q->next)
            count_queue(q, r, &first);
}
