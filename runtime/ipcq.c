/* ipcq.c -- PEs that talk: queues of slots in the receiver's memory, and barriers. */
#include "end.h"
#include "hook.h"
#include "kernel.h"
#include "watch.h"
#include <stdlib.h>
#include <string.h>

/* What lies in a slot. */
struct filled {
    uint64_t nbytes;
    bool full;    /* it has arrived, and is not taken yet */
    bool last;    /* of its send */
    tl_here here; /* of the send */
};

/* From one PE to another, under one tag. Counts are modulo 2^32. */
struct queue {
    uint32_t sender, receiver, tag;             /* PEs by number */
    uint32_t memory;                            /* where the slots lie, packed */
    uint64_t address;                           /* of the first */
    uint32_t issued, taken;                     /* pieces */
    uint32_t credits;                           /* slots that are free, as the sender knows */
    int64_t credit_fs;                          /* from receiver to sender */
    struct command *sending;                    /* waits for a slot; NULL: none */
    struct command *receiving, *last_receiving; /* wait for pieces, in order */
    struct queue *next;                         /* of the same hash */
    struct filled slot[];
};

/* A group of PEs that wait for each other. */
struct barrier {
    uint32_t *pes; /* owned, ascending */
    size_t n, arrived;
    int64_t last_fs; /* when the last word so far reaches the lowest PE */
    struct command *waiting, *last_waiting;
    struct command *last; /* whose word that is */
    struct barrier *next; /* of the same hash */
};

enum { HASH_ROWS = 4096 };

struct ipcq {
    struct queue *queues[HASH_ROWS];
    struct barrier *barriers[HASH_ROWS];
    uint64_t *sram_bytes, *hbm_bytes; /* owned; [cube], [PE]: at their ends, of slots */
};

static struct ipcq *ipcq_of(struct kernels *k)
{
    if (!k->ipcq)
        k->ipcq = calloc(1, sizeof *k->ipcq);
    return k->ipcq;
}

void ipcq_clear(struct kernels *k)
{
    struct ipcq *x = k->ipcq;

    for (int i = 0; x && i < HASH_ROWS; i++) {
        while (x->queues[i]) {
            struct queue *q = x->queues[i];

            x->queues[i] = q->next;
            free(q);
        }
        while (x->barriers[i]) {
            struct barrier *b = x->barriers[i];

            x->barriers[i] = b->next;
            free(b->pes);
            free(b);
        }
    }
    if (x) {
        free(x->sram_bytes);
        free(x->hbm_bytes);
    }
    free(x);
    k->ipcq = NULL;
    for (uint32_t i = 0; i < k->n_pes; i++)
        k->pes[i].ring_bytes = 0;
}

/* -- queues --------------------------------------------------------------------------------- */

/* Wires and overheads from one PE to another.                                      design 5.1 */
static int64_t word_fs(const struct kb_sim *s, const struct tl_ctx *from, const struct tl_ctx *to)
{
    struct cost_row way;

    if (from == to)
        return 0;
    way = cost_of_pe(s->topo, from->src, to->tcm);
    return cost_way_fs(&s->mask, way.wire_fs, way.overhead_fs);
}

/* Room for the slots of a queue at the end of the memory that `pe` receives in. */
static bool place_slots(struct command *c, struct queue *q)
{
    struct kb_sim *s = c->pe->sim;
    const struct kb_topology *t = s->topo;
    struct tl_ctx *pe = &s->kernels->pes[q->receiver];
    struct ipcq *x = s->kernels->ipcq;
    uint32_t cube = pe->number / t->pes, unit;
    uint64_t nbytes = (uint64_t)t->pe.ipcq_slots * t->pe.ipcq_slot_bytes, *taken, size;

    nbytes = (nbytes + 63) / 64 * 64;
    if (t->pe.ipcq_space == QUEUE_TCM) {
        taken = &pe->ring_bytes;
        size = t->tcm_read.nbytes;
        unit = t->pes + 1 + pe->number % t->pes;
    } else if (t->pe.ipcq_space == QUEUE_SRAM) {
        taken = &x->sram_bytes[cube];
        size = t->sram.nbytes;
        unit = t->pes;
    } else {
        taken = &x->hbm_bytes[pe->number];
        size = t->hbm.nbytes;
        unit = pe->number % t->pes;
    }
    for (struct tcm_block *b = pe->blocks; b && t->pe.ipcq_space == QUEUE_TCM; b = b->next)
        if (b->offset + b->nbytes > size - *taken - nbytes)
            size = 0;
    if (nbytes > size || *taken > size - nbytes)
        return false;
    *taken += nbytes;
    q->memory = dst_pack(t, cube, unit);
    q->address = address_of(t, q->memory, size - *taken);
    return true;
}

static struct queue *queue_new(struct command *c, uint32_t sender, uint32_t receiver, uint32_t tag)
{
    struct kb_sim *s = c->pe->sim;
    struct kernels *k = s->kernels;
    uint32_t slots = s->topo->pe.ipcq_slots;
    struct queue *q = calloc(1, sizeof *q + slots * sizeof *q->slot);

    if (!q) {
        kernel_no_memory(c->pe);
        return NULL;
    }
    q->sender = sender;
    q->receiver = receiver;
    q->tag = tag;
    q->credits = slots;
    q->credit_fs = word_fs(s, &k->pes[receiver], &k->pes[sender]);
    if (place_slots(c, q))
        return q;
    kernel_error(c->pe, c->call, c->here,
                 "no room for the %u slots of %u bytes of a queue at the receiver", slots,
                 s->topo->pe.ipcq_slot_bytes);
    free(q);
    return NULL;
}

static bool make_rings(struct kernels *k, const struct kb_topology *t)
{
    struct ipcq *x = ipcq_of(k);

    if (!x)
        return false;
    if (!x->sram_bytes)
        x->sram_bytes = calloc(sim_cubes(t), sizeof *x->sram_bytes);
    if (!x->hbm_bytes)
        x->hbm_bytes = calloc(k->n_pes, sizeof *x->hbm_bytes);
    return x->sram_bytes && x->hbm_bytes;
}

/* NULL after a message. */
static struct queue *find_queue(struct command *c, uint32_t sender, uint32_t receiver, uint32_t tag)
{
    struct kernels *k = c->pe->kernels;
    uint64_t h = ((uint64_t)sender << 32 | receiver) * 16 + tag;
    struct queue **row;

    if (!make_rings(k, c->pe->sim->topo)) {
        kernel_no_memory(c->pe);
        return NULL;
    }
    row = &k->ipcq->queues[(h * UINT64_C(0x9e3779b97f4a7c15)) >> 52];
    for (struct queue *q = *row; q; q = q->next)
        if (q->sender == sender && q->receiver == receiver && q->tag == tag)
            return q;
    struct queue *q = queue_new(c, sender, receiver, tag);

    if (!q)
        return NULL;
    q->next = *row;
    return *row = q;
}

/* A slot holds whole elements. */
static uint64_t piece_bytes(const struct kb_sim *s, const struct command *c, uint32_t piece)
{
    uint64_t elem = dtype_bytes(c->op.in[0].dtype);
    uint64_t most = s->topo->pe.ipcq_slot_bytes / elem * elem;
    uint64_t rest = c->nbytes - piece * most;

    return rest < most ? rest : most;
}

static uint64_t piece_offset(const struct kb_sim *s, const struct command *c, uint32_t piece)
{
    uint64_t elem = dtype_bytes(c->op.in[0].dtype);

    return piece * (s->topo->pe.ipcq_slot_bytes / elem * elem);
}

static uint64_t slot_address(const struct kb_sim *s, const struct queue *q, uint32_t piece)
{
    return q->address + (uint64_t)(piece % s->topo->pe.ipcq_slots) * s->topo->pe.ipcq_slot_bytes;
}

/* -- sending -------------------------------------------------------------------------------- */

/* A piece of a command, as a stage of its own. */
static struct token *piece_new(struct kb_sim *s, struct command *c, uint32_t in_queue)
{
    struct token *x = token_new(s->kernels);

    if (!x) {
        engine_fail(s, KB_NO_MEMORY);
        return NULL;
    }
    *x = (struct token){.command = c, .number = c->piece, .i = in_queue, .queue = c->queue};
    x->fetch_bytes = piece_bytes(s, c, c->piece);
    return x;
}

/* The next piece joins the sender's channel; `called`: in the event of the command's issue. */
static bool send_piece(struct kb_sim *s, uint64_t t, struct command *c, bool called)
{
    struct queue *q = c->queue;
    struct token *x = piece_new(s, c, q->issued);
    struct stage st = {.command = c, .token = x, .stage = STAGE_DMA_WRITE, .data_op = true};
    struct view part = c->op.in[0].view;
    uint32_t slot;

    if (!x)
        return false;
    st.id = c->op.id + c->piece;
    part.offset += piece_offset(s, c, c->piece);
    if (mem_write(s->kernels->mem, q->memory, slot_address(s, q, q->issued), x->fetch_bytes, part,
                  st.id) != MEM_OK) {
        kernel_no_memory(c->pe);
        return false;
    }
    slot = dma_slot(s, t, &st, q->memory, x->fetch_bytes);
    if (slot == TXN_NONE)
        return false;
    q->slot[q->issued % s->topo->pe.ipcq_slots] = (struct filled){
        .nbytes = x->fetch_bytes, .last = c->piece + 1 == c->pieces, .here = c->here};
    q->issued++;
    q->credits--;
    c->piece++;
    if (called)
        engine_issue(s, t, slot);
    else
        engine_arrive(s, t, TXN_TO_CHANNEL, slot);
    return true;
}

void ipcq_send(struct kb_sim *s, uint64_t t, struct command *c)
{
    struct queue *q = c->queue;

    while (c->piece < c->pieces && q->credits > 0)
        if (!send_piece(s, t, c, true))
            return;
    c->async = c->piece == c->pieces;
    if (!c->async)
        q->sending = c;
    else if (s->watch)
        watch_go_on(s, t, c);
}

/* A slot is free again, and the sender knows. */
static void credit(struct kb_sim *s, uint64_t t, struct queue *q)
{
    struct command *c = q->sending;

    q->credits++;
    if (!c || !send_piece(s, t, c, false) || c->piece < c->pieces)
        return;
    q->sending = NULL;
    c->async = true;
    if (s->watch)
        watch_go_on(s, t, c);
    c->pe->current = NULL;
    c->pe->state = PE_WAKES;
    wakes_add(&s->kernels->wakes, t, c->pe->number);
}

/* -- receiving ------------------------------------------------------------------------------ */

/* Is what lies in the slot what the command expects? */
static bool fits(struct command *c, const struct filled *slot, uint64_t nbytes)
{
    bool last = c->piece + 1 == c->pieces;

    if (slot->nbytes == nbytes && slot->last == last)
        return true;
    kernel_error(c->pe, c->call, c->here,
                 "what was sent at %s:%d does not have the %llu bytes that are expected",
                 slot->here.file, slot->here.line, (unsigned long long)c->nbytes);
    return false;
}

static void take_piece(struct kb_sim *s, uint64_t t, struct command *c)
{
    struct queue *q = c->queue;
    bool tcm = s->topo->pe.ipcq_space == QUEUE_TCM;
    struct token *x = piece_new(s, c, q->taken);
    struct stage st = {
        .command = c, .token = x, .stage = tcm ? STAGE_FETCH : STAGE_DMA_READ, .data_op = true};

    if (!x)
        return;
    st.id = c->op.id + 1 + c->piece;
    q->slot[q->taken % s->topo->pe.ipcq_slots].full = false;
    q->taken++;
    c->piece++;
    if (tcm)
        begin_inside(s, t, &st, PORT_TCM_READ, fetch_fs(s, x->fetch_bytes), x->fetch_bytes);
    else
        begin_dma(s, t, &st, q->memory, x->fetch_bytes);
}

/* Gives the pieces that have come to those who wait for them. */
static void give_pieces(struct kb_sim *s, uint64_t t, struct queue *q)
{
    struct command *c;

    while ((c = q->receiving) && q->taken != q->issued) {
        const struct filled *slot = &q->slot[q->taken % s->topo->pe.ipcq_slots];

        if (!slot->full || !fits(c, slot, piece_bytes(s, c, c->piece)))
            return;
        take_piece(s, t, c);
        if (c->piece == c->pieces)
            q->receiving = c->behind;
    }
}

void ipcq_receive(struct kb_sim *s, uint64_t t, struct command *c)
{
    struct queue *q = c->queue;

    if (!place_result(c))
        return;
    c->behind = NULL;
    if (q->receiving)
        q->last_receiving->behind = c;
    else
        q->receiving = c;
    q->last_receiving = c;
    give_pieces(s, t, q);
}

/* The piece becomes a part of the result. */
static bool keep_piece(struct kb_sim *s, struct command *c, const struct token *x)
{
    struct mem *m = s->kernels->mem;
    uint64_t to = c->result->address + piece_offset(s, c, x->number);
    struct op_ids writers = {0};
    struct view view = {NULL, 0};
    uint64_t range[2];
    bool ok = mem_read(m, c->queue->memory, slot_address(s, c->queue, x->i), x->fetch_bytes, &view,
                       &writers, range) == MEM_OK &&
              mem_write(m, c->pe->tcm, to, x->fetch_bytes, view,
                        writers.n ? op_ids_list(&writers)[0] : OP_NONE) == MEM_OK;

    version_drop(view.v);
    op_ids_clear(&writers);
    if (!ok)
        kernel_no_memory(c->pe);
    return ok;
}

/* All pieces are there: the tensor is what they make. */
static void received(struct kb_sim *s, uint64_t t, struct command *c)
{
    struct op_ids writers = {0};
    uint64_t range[2];

    if (mem_read(s->kernels->mem, c->pe->tcm, c->result->address, c->nbytes, &c->result->view,
                 &writers, range) != MEM_OK)
        kernel_no_memory(c->pe);
    c->result->maker = writers.n ? op_ids_list(&writers)[0] : OP_NONE;
    op_ids_clear(&writers);
    pe_command_end(s, t, c);
}

static void send_credit(struct kb_sim *s, uint64_t t, struct queue *q, uint32_t id)
{
    struct token *x = token_new(s->kernels);
    struct stage st = {.stage = STAGE_COMMAND, .id = id, .token = x};
    uint32_t slot;

    if (!x) {
        engine_fail(s, KB_NO_MEMORY);
        return;
    }
    *x = (struct token){.queue = q};
    slot = stage_slot(s, &st, NULL, false);
    if (slot == TXN_NONE)
        return;
    s->txns[slot] = (struct txn){.id = id};
    if (s->watch && !watch_credit(s, slot))
        return;
    engine_send_word(s, t, q->credit_fs, slot);
}

void ipcq_piece_done(struct kb_sim *s, uint64_t t, const struct work *w)
{
    struct token *x = w->token;
    struct command *c = x->command;
    struct queue *q = c->queue;
    bool sent = c->task == TASK_SEND;
    uint32_t id = w->id;

    if (sent) {
        q->slot[x->i % s->topo->pe.ipcq_slots].full = true;
        tally(s->kernels)->dma_write_bytes += x->fetch_bytes;
    } else if (!keep_piece(s, c, x)) {
        return;
    }
    token_free(s->kernels, x);
    if (!sent)
        send_credit(s, t, q, id);
    if (--c->pieces_left == 0 && sent)
        pe_command_end(s, t, c);
    else if (c->pieces_left == 0)
        received(s, t, c);
    if (sent && s->status == KB_OK)
        give_pieces(s, t, q);
}

void ipcq_set_moved(struct op_token *r, const struct token *x)
{
    struct kb_sim *s = x->command->pe->sim;

    r->token = x->number;
    r->nbytes = x->fetch_bytes;
    r->address = slot_address(s, x->queue, x->i);
    r->space = (uint8_t)address_space(r->address);
}

struct op ipcq_record(const struct work *w)
{
    const struct token *x = w->token;
    struct op op = x->command->op;
    struct kb_sim *s = x->command->pe->sim;
    uint64_t elem = dtype_bytes(op.in[0].dtype);

    op.id = w->id;
    op.ipcq = true;
    if (x->command->pieces > 1) {
        op.in[0].address += piece_offset(s, x->command, x->number);
        op.in[0].shape.rank = 1;
        op.in[0].shape.dim[0] = (uint32_t)(x->fetch_bytes / elem);
    }
    op.out.address = slot_address(s, x->queue, x->i);
    op.out.space = (uint8_t)address_space(op.out.address);
    return op;
}

/* -- barriers ------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* NULL after a message. */
static struct barrier *barrier_new(struct command *c, uint32_t *pes, size_t n)
{
    struct barrier *b = calloc(1, sizeof *b);

    if (!b) {
        free(pes);
        kernel_no_memory(c->pe);
        return NULL;
    }
    b->pes = pes;
    b->n = n;
    return b;
}

/* The PEs of a group in ascending order; NULL after a message. */
static uint32_t *sorted(struct command *c, const tl_group *g)
{
    uint32_t *pes = malloc((g->n + 1) * sizeof *pes);

    if (!pes) {
        kernel_no_memory(c->pe);
        return NULL;
    }
    for (size_t i = 0; i < g->n; i++)
        pes[i] = g->pes ? g->pes[i] : g->first + (uint32_t)i;
    if (g->pes)
        qsort(pes, g->n, sizeof *pes, by_number);
    return pes;
}

static bool is_group(struct command *c, const uint32_t *pes, size_t n)
{
    bool member = false;

    for (size_t i = 0; i < n; i++) {
        member = member || pes[i] == c->pe->number;
        if (pes[i] >= c->pe->kernels->n_pes || (i > 0 && pes[i] == pes[i - 1])) {
            kernel_error(c->pe, c->call, c->here, "PE %u of the group %s", pes[i],
                         i > 0 && pes[i] == pes[i - 1] ? "comes twice" : "does not exist");
            return false;
        }
    }
    if (!member)
        kernel_error(c->pe, c->call, c->here, "the PE itself is not in the group");
    return member;
}

bool ipcq_find_barrier(struct command *c, const tl_group *g)
{
    struct kernels *k = c->pe->kernels;
    uint64_t h = g->n;
    uint32_t *pes = make_rings(k, c->pe->sim->topo) ? sorted(c, g) : NULL;
    struct barrier **row;

    if (!pes || !is_group(c, pes, g->n)) {
        free(pes);
        return false;
    }
    for (size_t i = 0; i < g->n; i++)
        h = (h ^ pes[i]) * UINT64_C(0x9e3779b97f4a7c15);
    row = &k->ipcq->barriers[h >> 52];
    for (c->barrier = *row; c->barrier; c->barrier = c->barrier->next)
        if (c->barrier->n == g->n && memcmp(c->barrier->pes, pes, g->n * sizeof *pes) == 0)
            break;
    if (c->barrier) {
        free(pes);
        return true;
    }
    c->barrier = barrier_new(c, pes, g->n);
    if (!c->barrier)
        return false;
    c->barrier->next = *row;
    *row = c->barrier;
    return true;
}

bool ipcq_find_queue(struct command *c, uint32_t sender, uint32_t receiver, int tag)
{
    uint64_t elem = dtype_bytes(c->op.in[0].dtype), most = c->pe->sim->topo->pe.ipcq_slot_bytes;

    if (most < elem) {
        kernel_error(c->pe, c->call, c->here, "an element of %llu bytes passes a slot of %llu",
                     (unsigned long long)elem, (unsigned long long)most);
        return false;
    }
    most = most / elem * elem;
    c->pieces = c->pieces_left = (uint32_t)parts_of(c->nbytes, most);
    c->piece = 0;
    c->queue = find_queue(c, sender, receiver, (uint32_t)tag);
    return c->queue;
}

/* Release at the lowest PE, then the way back to each.                              design 5.1 */
static void release(struct kb_sim *s, struct barrier *b)
{
    struct tl_ctx *lowest = &s->kernels->pes[b->pes[0]];

    while (b->waiting) {
        struct command *c = b->waiting;
        struct stage st = {.command = c, .stage = STAGE_COMMAND, .id = c->op.id};
        uint32_t slot = stage_slot(s, &st, NULL, false);

        b->waiting = c->behind;
        if (slot == TXN_NONE)
            return;
        s->txns[slot] = (struct txn){.id = c->op.id};
        if (s->watch && !watch_release_word(s, b->last_fs, slot, b->last, b->pes[0]))
            return;
        engine_send_word(s, (uint64_t)b->last_fs, word_fs(s, lowest, c->pe), slot);
    }
    b->arrived = 0;
    b->last_fs = 0;
    b->last = NULL;
}

void ipcq_join(struct kb_sim *s, uint64_t t, struct command *c)
{
    struct barrier *b = c->barrier;
    int64_t there_fs = (int64_t)t + word_fs(s, c->pe, &s->kernels->pes[b->pes[0]]);

    c->behind = NULL;
    if (b->waiting)
        b->last_waiting->behind = c;
    else
        b->waiting = c;
    b->last_waiting = c;
    if (!b->last || there_fs > b->last_fs) {
        b->last = c;
        b->last_fs = there_fs;
    }
    if (++b->arrived == b->n)
        release(s, b);
}

void pe_word_arrived(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct work w = s->kernels->work[slot];

    if (s->watch)
        watch_word(s, slot);
    slot_free(s, slot);
    if (w.token) {
        struct queue *q = w.token->queue;

        token_free(s->kernels, w.token);
        credit(s, t, q);
    } else {
        pe_command_end(s, t, w.command);
    }
    if (s->watch)
        watch_left(s);
}
