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
 * Invariants: taken <= issued <= taken + n_slots; only slots in between are in use; at most one
 * send of a queue waits (`sending`), as a PE waits in it; any number of receives do, in order.
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
#include "pe/pe_ipcq.h"
#include "data/host.h"
#include "kernels/error.h"
#include "kernels/observe.h"
#include "kernels/pool.h"
#include "kernels/requests.h"
#include "machine/address.h"
#include "machine/endpoint.h"
#include "pe/boxes.h"
#include <stdlib.h>

enum { ROWS_FIRST = 64 }; /* a power of two */

static void queue_free(struct queue *q)
{
    for (uint32_t i = 0; i < q->n_slots; i++)
        version_drop(q->slot[i].sent.v);
    free(q);
}

void ipcq_free(struct kernels *k)
{
    struct ipcq *ipcq = k->ipcq;

    k->ipcq = NULL;
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
    free(ipcq->sram_bytes);
    free(ipcq->hbm_bytes);
    free(ipcq);
}

static struct ipcq *ipcq_new(struct kernels *k, const struct kb_topology *t)
{
    struct ipcq *ipcq = calloc(1, sizeof *ipcq);

    if (!ipcq)
        return NULL;
    k->ipcq = ipcq;
    ipcq->queues = calloc(ROWS_FIRST, sizeof *ipcq->queues);
    ipcq->sram_bytes = calloc(sim_cubes(t), sizeof *ipcq->sram_bytes);
    ipcq->hbm_bytes = calloc(slice_indices(t), sizeof *ipcq->hbm_bytes);
    ipcq->n_rows = ipcq->queues ? ROWS_FIRST : 0;
    if (ipcq->queues && ipcq->sram_bytes && ipcq->hbm_bytes)
        return ipcq;
    ipcq_free(k);
    return NULL;
}

/* Made for the first queue. NULL after a message. */
static struct ipcq *ipcq_of(struct command *c)
{
    struct kernels *k = c->pe->kernels;

    if (!k->ipcq && !ipcq_new(k, c->pe->sim->topo))
        kernel_no_memory(c->pe);
    return k->ipcq;
}

void ipcq_clear(struct kernels *k)
{
    ipcq_free(k);
    for (uint32_t i = 0; i < k->n_pes; i++)
        k->pes[i].ring_bytes = 0;
}

/* -- finding a queue -------------------------------------------------------------------------- */

/* The memory in which a PE receives: slots lie at its end, other things before them. */
struct room {
    uint64_t size, used;
    uint64_t *taken; /* by slots */
    uint32_t memory; /* packed */
};

static struct room room_of(struct kb_sim *s, struct tl_ctx *pe)
{
    const struct kb_topology *t = s->topo;
    struct ipcq *ipcq = s->kernels->ipcq;
    const struct kind_row *kind = pe_kind(pe);
    uint32_t cube = src_cube(t, pe->src);
    struct room r;

    if (kind->pe.ipcq_space == QUEUE_TCM) {
        r = (struct room){kind->tcm_read.nbytes, 0, &pe->ring_bytes, pe->tcm};
        for (struct tcm_block *b = pe->blocks; b; b = b->next)
            r.used = b->offset + b->nbytes;
    } else if (kind->pe.ipcq_space == QUEUE_SRAM) {
        r = (struct room){kind->sram.nbytes, 0, &ipcq->sram_bytes[cube],
                          dst_pack(t, cube, unit_of_sram(t))};
    } else {
        uint32_t slice = pe_slice(t, pe->src);

        r = (struct room){kind->hbm.nbytes, host_slice_used(s->host, slice),
                          &ipcq->hbm_bytes[slice_index(t, slice)], slice};
    }
    return r;
}

/* False after a message. */
static bool place_slots(struct command *c, struct queue *q)
{
    struct kb_sim *s = c->pe->sim;
    const struct pe_row *pe = &pe_kind(&s->kernels->pes[q->receiver])->pe;
    struct room r = room_of(s, &s->kernels->pes[q->receiver]);
    uint64_t nbytes = ((uint64_t)pe->ipcq_slots * pe->ipcq_slot_bytes + 63) / 64 * 64;
    uint64_t left = r.size - r.used - *r.taken;
    kb_endpoint memory = endpoint_unpack_memory(s->topo, r.memory);
    char name[KB_ENDPOINT_BYTES];

    if (nbytes <= left) {
        *r.taken += nbytes;
        q->memory = r.memory;
        q->address = address_of(s->topo, r.memory, r.size - *r.taken);
        return true;
    }
    kb_endpoint_name(&memory, name);
    kernel_error(c->pe, c->call, c->here,
                 "no room for the %u slots of %u bytes of a queue: at the end of %s %llu of its "
                 "%llu bytes are free, others have %llu",
                 pe->ipcq_slots, pe->ipcq_slot_bytes, name, (unsigned long long)left,
                 (unsigned long long)r.size, (unsigned long long)*r.taken);
    return false;
}

static struct queue *queue_new(struct command *c, uint32_t sender, uint32_t receiver, uint32_t tag)
{
    struct kb_sim *s = c->pe->sim;
    struct kernels *k = s->kernels;
    const struct pe_row *row = &pe_kind(&k->pes[receiver])->pe;
    struct queue *q = calloc(1, sizeof *q + row->ipcq_slots * sizeof *q->slot);

    if (!q) {
        kernel_no_memory(c->pe);
        return NULL;
    }
    q->n_slots = row->ipcq_slots;
    q->slot_bytes = row->ipcq_slot_bytes;
    q->sender = sender;
    q->receiver = receiver;
    q->tag = tag;
    q->credit_fs = word_fs(s, &k->pes[receiver], &k->pes[sender]);
    if (place_slots(c, q))
        return q;
    free(q);
    return NULL;
}

static uint64_t hash_of(uint32_t sender, uint32_t receiver, uint32_t tag)
{
    uint64_t h = ((uint64_t)sender << 32 | receiver) * 16 + tag;

    h *= UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 32;
}

/* Twice the rows, once there are as many queues. False: no memory. */
static bool more_rows(struct ipcq *ipcq)
{
    size_t n = 2 * ipcq->n_rows;
    struct queue **rows;

    if (ipcq->n_queues < ipcq->n_rows)
        return true;
    rows = calloc(n, sizeof *rows);
    if (!rows)
        return false;
    for (size_t i = 0; i < ipcq->n_rows; i++) {
        while (ipcq->queues[i]) {
            struct queue *q = ipcq->queues[i];
            struct queue **row = &rows[hash_of(q->sender, q->receiver, q->tag) & (n - 1)];

            ipcq->queues[i] = q->next;
            q->next = *row;
            *row = q;
        }
    }
    free(ipcq->queues);
    ipcq->queues = rows;
    ipcq->n_rows = n;
    return true;
}

static struct queue *add_queue(struct command *c, struct ipcq *ipcq, uint32_t sender,
                               uint32_t receiver, uint32_t tag)
{
    struct queue *q = queue_new(c, sender, receiver, tag);
    struct queue **row;

    if (!q)
        return NULL;
    if (!more_rows(ipcq)) {
        kernel_no_memory(c->pe);
        free(q);
        return NULL;
    }
    row = &ipcq->queues[hash_of(sender, receiver, tag) & (ipcq->n_rows - 1)];
    q->next = *row;
    ipcq->n_queues++;
    return *row = q;
}

/* NULL: there is none. */
struct queue *ipcq_look_up(const struct ipcq *ipcq, uint32_t sender, uint32_t receiver,
                           uint32_t tag)
{
    struct queue *q = ipcq->queues[hash_of(sender, receiver, tag) & (ipcq->n_rows - 1)];

    while (q && (q->sender != sender || q->receiver != receiver || q->tag != tag))
        q = q->next;
    return q;
}

/* NULL after a message. */
static struct queue *find_queue(struct command *c, uint32_t sender, uint32_t receiver, uint32_t tag)
{
    struct ipcq *ipcq = ipcq_of(c);
    struct queue *q;

    if (!ipcq)
        return NULL;
    q = ipcq_look_up(ipcq, sender, receiver, tag);
    return q ? q : add_queue(c, ipcq, sender, receiver, tag);
}

/* The bytes of whole elements that a slot holds; the bytes of an element are a power of two. */
static uint64_t most_bytes(const struct command *c)
{
    uint64_t elem = dtype_bytes(c->op.in[0].dtype);

    return c->slot_bytes & ~(elem - 1);
}

static uint64_t piece_offset(const struct command *c, uint32_t piece)
{
    return piece * most_bytes(c);
}

static uint64_t piece_bytes(const struct command *c, uint32_t piece)
{
    uint64_t rest = c->nbytes - piece_offset(c, piece), most = most_bytes(c);

    return rest < most ? rest : most;
}

static struct filled *slot_of(struct queue *q, uint32_t piece)
{
    return &q->slot[piece % q->n_slots];
}

static uint64_t slot_address(const struct queue *q, uint32_t piece)
{
    return q->address + (uint64_t)(piece % q->n_slots) * q->slot_bytes;
}

bool ipcq_find_queue(struct command *c, uint32_t sender, uint32_t receiver, int tag)
{
    uint64_t most;

    c->slot_bytes = pe_kind(&c->pe->kernels->pes[receiver])->pe.ipcq_slot_bytes;
    most = most_bytes(c);
    if (most == 0) {
        kernel_error(c->pe, c->call, c->here,
                     "an element of %llu bytes is larger than a slot of %u",
                     (unsigned long long)dtype_bytes(c->op.in[0].dtype), c->slot_bytes);
        return false;
    }
    c->pieces = c->nbytes <= most ? 1 : (uint32_t)parts_of(c->nbytes, most);
    c->pieces_left = c->pieces;
    c->piece = 0;
    c->queue = find_queue(c, sender, receiver, (uint32_t)tag);
    return c->queue;
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
    token->fetch_bytes = piece_bytes(c, c->piece);
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
    struct filled *filled = slot_of(q, q->issued);
    uint32_t slot;

    if (!token)
        return false;
    stage.id = c->op.id + c->piece;
    slot = pe_dma_slot(s, t, &stage, q->memory, slot_address(q, q->issued), token->fetch_bytes);
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
    const struct filled *next = slot_of(q, q->issued);
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

static void wait_for_slot(struct kb_sim *s, struct command *c)
{
    c->queue->sending = c;
    if (s->observer)
        observe_wait(s, c, c->op.id + c->piece, c->queue->receiver);
    if (slot_of(c->queue, c->queue->issued)->free_fs != TAKEN)
        send_credit(s, c->queue);
}

void ipcq_send(struct kb_sim *s, uint64_t t, struct command *c)
{
    while (c->piece < c->pieces && slot_of(c->queue, c->queue->issued)->free_fs <= t)
        if (!send_piece(s, t, c, c->piece == 0))
            return;
    c->async = c->piece == c->pieces;
    if (!c->async)
        wait_for_slot(s, c);
    else if (s->observer)
        observe_go_on(s, t, c);
}

/* Pieces go on as long as slots are free before `t`: a credit of this instant has its own event. */
void ipcq_credit(struct kb_sim *s, uint64_t t, struct queue *q)
{
    struct command *c = q->sending;

    do {
        if (!send_piece(s, t, c, false))
            return;
    } while (c->piece < c->pieces && slot_of(q, q->issued)->free_fs < t);
    if (c->piece < c->pieces) {
        wait_for_slot(s, c);
        return;
    }
    q->sending = NULL;
    c->async = true;
    if (s->observer)
        observe_go_on(s, t, c);
    c->pe->current = NULL;
    c->pe->state = PE_WAKES;
    wakes_add(&s->kernels->wakes, t, c->pe->number);
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
        c->result->view = slot_of(q, q->taken)->sent;
    token->next_id = slot_of(q, q->taken)->id;
    c->result->maker = token->next_id; /* in the end that of the last */
    *slot_of(q, q->taken) = (struct filled){.free_fs = TAKEN};
    q->taken++;
    c->piece++;
    if (tcm)
        pe_fetch(s, t, &stage, token->fetch_bytes);
    else
        pe_dma_begin(s, t, &stage, q->memory, slot_address(q, q->taken - 1), token->fetch_bytes);
}

/* Gives the pieces that have come to the receives that wait for them. */
static void give_pieces(struct kb_sim *s, uint64_t t, struct queue *q)
{
    struct command *c;

    while ((c = q->receiving) && q->taken != q->issued) {
        const struct filled *slot = slot_of(q, q->taken);

        if (!slot->full || !fits(c, slot, piece_bytes(c, c->piece)))
            return;
        take_piece(s, t, c);
        if (c->piece == c->pieces)
            q->receiving = c->behind;
    }
}

void ipcq_receive(struct kb_sim *s, uint64_t t, struct command *c)
{
    struct queue *q = c->queue;

    if (!tcm_place_result(c))
        return;
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
    struct filled *slot = slot_of(q, work->token->i);

    slot->free_fs = t + (uint64_t)q->credit_fs;
    slot->free_id = work->id;
    if (s->observer)
        slot->taken = observe_taken(s);
    if (q->sending && slot == slot_of(q, q->issued))
        send_credit(s, q);
}

/* A piece is in its slot. */
static void arrived(struct kb_sim *s, const struct token *token)
{
    struct filled *slot = slot_of(token->queue, token->i);

    slot->full = true;
    slot->id = token->command->op.id + token->number;
    current_result(s->kernels)->dma_write_bytes += token->fetch_bytes;
}

bool ipcq_piece_done(struct kb_sim *s, uint64_t t, const struct work *work)
{
    struct command *c = work->command;

    if (c->task == TASK_SEND)
        arrived(s, work->token);
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
    r->address = slot_address(token->queue, token->i);
    r->space = (uint8_t)address_space(r->address);
}

struct op ipcq_record(const struct work *work)
{
    const struct token *token = work->token;
    struct op op = token->command->op;
    uint64_t elem = dtype_bytes(op.in[0].dtype);

    op.id = work->id;
    op.ipcq = true;
    if (token->command->pieces > 1) {
        op.in[0].address += piece_offset(token->command, token->number);
        op.in[0].view.offset += piece_offset(token->command, token->number);
        op.in[0].shape.rank = 1;
        op.in[0].shape.dim[0] = (uint32_t)(token->fetch_bytes / elem);
    }
    op.out.address = slot_address(token->queue, token->i);
    op.out.space = (uint8_t)address_space(op.out.address);
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
        r->unreceived += slot_of(q, i)->last;
    if (*first && is_before(*first, q))
        return;
    *first = q;
    r->unreceived_from = q->sender;
    r->unreceived_to = q->receiver;
    r->unreceived_tag = q->tag;
    r->unreceived_file = slot_of(q, q->taken)->here.file;
    r->unreceived_line = slot_of(q, q->taken)->here.line;
}

void ipcq_count_unreceived(const struct kernels *k, kb_launch_result *r)
{
    const struct ipcq *ipcq = k->ipcq;
    struct queue *first = NULL;

    for (size_t i = 0; ipcq && i < ipcq->n_rows; i++)
        for (struct queue *q = ipcq->queues[i]; q; q = q->next)
            count_queue(q, r, &first);
}
