/* pe_ipcq.c -- PEs that talk: queues of slots in the receiver's memory, and barriers. */
#include "machine/endpoint.h"
#include "kernels/service.h"
#include "data/host.h"
#include "kernels/kernel.h"
#include "kernels/observe.h"
#include <stdlib.h>
#include <string.h>

/* What lies in a slot. */
struct filled {
    uint64_t nbytes, all_bytes; /* of the piece, of its send */
    uint64_t free_fs;           /* when the sender knows that it is free; TAKEN */
    uint32_t id, free_id;       /* of the piece, of the credit */
    bool full;                  /* it has arrived, and is not taken yet */
    bool last;                  /* of its send */
    struct view sent;           /* owned; all of the send, at its first piece */
    tl_here here;               /* of the send */
    struct taken taken;         /* watched */
};

#define TAKEN UINT64_MAX

/* From one PE to another, under one tag. Counts are modulo 2^32. */
struct queue {
    uint32_t sender, receiver, tag;             /* PEs by number */
    uint32_t memory;                            /* where the slots lie, packed */
    uint64_t address;                           /* of the first */
    uint32_t n_slots, issued, taken;            /* the last two: pieces */
    int64_t credit_fs;                          /* from receiver to sender */
    struct command *sending;                    /* waits for a slot; NULL: none */
    struct command *receiving, *last_receiving; /* wait for pieces, in order */
    struct queue *next;                         /* of the same hash */
    struct filled slot[];
};

/* A group of PEs that wait for each other. */
struct barrier {
    uint32_t *pes; /* owned, ascending; NULL: those from `first` on */
    uint32_t first;
    size_t n, arrived;
    uint64_t last_fs; /* when the last word so far reaches the lowest PE */
    struct command *waiting, *last_waiting;
    struct command *last; /* whose word that is */
    struct barrier *next; /* of the same hash */
};

enum { ROWS_FIRST = 64, BARRIER_ROWS = 256 }; /* powers of two */

struct ipcq {
    struct queue **queues; /* owned; [row] */
    size_t n_queues, n_rows;
    struct barrier *barriers[BARRIER_ROWS];
    uint64_t *sram_bytes, *hbm_bytes; /* owned; [cube], [PE]: at their ends, of slots */
};

static void queue_free(struct queue *q)
{
    for (uint32_t i = 0; i < q->n_slots; i++)
        version_drop(q->slot[i].sent.v);
    free(q);
}

static void barriers_free(struct barrier *b)
{
    while (b) {
        struct barrier *next = b->next;

        free(b->pes);
        free(b);
        b = next;
    }
}

void ipcq_free(struct kernels *k)
{
    struct ipcq *x = k->ipcq;

    k->ipcq = NULL;
    if (!x)
        return;
    for (size_t i = 0; i < x->n_rows; i++) {
        while (x->queues[i]) {
            struct queue *q = x->queues[i];

            x->queues[i] = q->next;
            queue_free(q);
        }
    }
    for (int i = 0; i < BARRIER_ROWS; i++)
        barriers_free(x->barriers[i]);
    free(x->queues);
    free(x->sram_bytes);
    free(x->hbm_bytes);
    free(x);
}

static struct ipcq *ipcq_new(struct kernels *k, const struct kb_topology *t)
{
    struct ipcq *x = calloc(1, sizeof *x);

    if (!x)
        return NULL;
    k->ipcq = x;
    x->queues = calloc(ROWS_FIRST, sizeof *x->queues);
    x->sram_bytes = calloc(sim_cubes(t), sizeof *x->sram_bytes);
    x->hbm_bytes = calloc(k->n_pes, sizeof *x->hbm_bytes);
    x->n_rows = x->queues ? ROWS_FIRST : 0;
    if (x->queues && x->sram_bytes && x->hbm_bytes)
        return x;
    ipcq_free(k);
    return NULL;
}

/* Made for the first who needs it. NULL after a message. */
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

/* The memory that a PE receives in: where slots lie at the end, and what else does before. */
struct room {
    uint64_t size, used;
    uint64_t *taken; /* by slots */
    uint32_t memory; /* packed */
};

static struct room room_of(struct kb_sim *s, struct tl_ctx *pe)
{
    const struct kb_topology *t = s->topo;
    struct ipcq *x = s->kernels->ipcq;
    uint32_t cube = pe->number / t->pes, unit = pe->number % t->pes;
    struct room r;

    if (t->pe.ipcq_space == QUEUE_TCM) {
        r = (struct room){t->tcm_read.nbytes, 0, &pe->ring_bytes,
                          dst_pack(t, cube, t->pes + 1 + unit)};
        for (struct tcm_block *b = pe->blocks; b; b = b->next)
            r.used = b->offset + b->nbytes;
    } else if (t->pe.ipcq_space == QUEUE_SRAM) {
        r = (struct room){t->sram.nbytes, 0, &x->sram_bytes[cube], dst_pack(t, cube, t->pes)};
    } else {
        r = (struct room){t->hbm.nbytes, host_slice_used(s->host, pe->number), &x->hbm_bytes[pe->number],
                          dst_pack(t, cube, unit)};
    }
    return r;
}

/* False after a message. */
static bool place_slots(struct command *c, struct queue *q)
{
    struct kb_sim *s = c->pe->sim;
    const struct pe_row *pe = &s->topo->pe;
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
    struct queue *q = calloc(1, sizeof *q + s->topo->pe.ipcq_slots * sizeof *q->slot);

    if (!q) {
        kernel_no_memory(c->pe);
        return NULL;
    }
    q->n_slots = s->topo->pe.ipcq_slots;
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
static bool more_rows(struct ipcq *x)
{
    size_t n = 2 * x->n_rows;
    struct queue **rows;

    if (x->n_queues < x->n_rows)
        return true;
    rows = calloc(n, sizeof *rows);
    if (!rows)
        return false;
    for (size_t i = 0; i < x->n_rows; i++) {
        while (x->queues[i]) {
            struct queue *q = x->queues[i];
            struct queue **row = &rows[hash_of(q->sender, q->receiver, q->tag) & (n - 1)];

            x->queues[i] = q->next;
            q->next = *row;
            *row = q;
        }
    }
    free(x->queues);
    x->queues = rows;
    x->n_rows = n;
    return true;
}

static struct queue *add_queue(struct command *c, struct ipcq *x, uint32_t sender,
                               uint32_t receiver, uint32_t tag)
{
    struct queue *q = queue_new(c, sender, receiver, tag);
    struct queue **row;

    if (!q)
        return NULL;
    if (!more_rows(x)) {
        kernel_no_memory(c->pe);
        free(q);
        return NULL;
    }
    row = &x->queues[hash_of(sender, receiver, tag) & (x->n_rows - 1)];
    q->next = *row;
    x->n_queues++;
    return *row = q;
}

/* NULL: there is none. */
static struct queue *look_up(const struct ipcq *x, uint32_t sender, uint32_t receiver, uint32_t tag)
{
    struct queue *q = x->queues[hash_of(sender, receiver, tag) & (x->n_rows - 1)];

    while (q && (q->sender != sender || q->receiver != receiver || q->tag != tag))
        q = q->next;
    return q;
}

/* NULL after a message. */
static struct queue *find_queue(struct command *c, uint32_t sender, uint32_t receiver, uint32_t tag)
{
    struct ipcq *x = ipcq_of(c);
    struct queue *q;

    if (!x)
        return NULL;
    q = look_up(x, sender, receiver, tag);
    return q ? q : add_queue(c, x, sender, receiver, tag);
}

/* What a slot holds, of whole elements; their bytes are a power of two. */
static uint64_t most_bytes(const struct command *c)
{
    uint64_t elem = dtype_bytes(c->op.in[0].dtype);

    return c->pe->sim->topo->pe.ipcq_slot_bytes & ~(elem - 1);
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
    x->fetch_bytes = piece_bytes(c, c->piece);
    return x;
}

/*
 * The next piece joins the sender's channel; `called`: in the event of the command's issue. Only
 * the first can, as the next is to come after what follows at once from the one before.
 */
static bool send_piece(struct kb_sim *s, uint64_t t, struct command *c, bool called)
{
    struct queue *q = c->queue;
    struct token *x = piece_new(s, c, q->issued);
    struct stage st = {.command = c, .token = x, .stage = STAGE_DMA_WRITE, .data_op = true};
    struct filled *filled = slot_of(q, q->issued);
    uint32_t slot;

    if (!x)
        return false;
    st.id = c->op.id + c->piece;
    slot = dma_slot(s, t, &st, q->memory, x->fetch_bytes);
    if (slot == TXN_NONE)
        return false;
    *filled = (struct filled){.nbytes = x->fetch_bytes,
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
    struct token *x = token_new(s->kernels);
    struct stage st = {.stage = STAGE_COMMAND, .id = next->free_id, .token = x};
    uint32_t slot;

    if (!x) {
        engine_fail(s, KB_NO_MEMORY);
        return;
    }
    *x = (struct token){.queue = q};
    slot = stage_slot(s, &st, NULL, false);
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

/* The credit that a sender has waited for is there; that of a slot behind has an event of its own.
 */
static void credit(struct kb_sim *s, uint64_t t, struct queue *q)
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

/* -- receiving ------------------------------------------------------------------------------ */

/* Is what lies in the slot what the command expects? */
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
                     (unsigned long long)nbytes, c->pe->sim->topo->pe.ipcq_slot_bytes);
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
    if (c->piece == 0)
        c->result->view = slot_of(q, q->taken)->sent;
    x->next_id = slot_of(q, q->taken)->id;
    c->result->maker = x->next_id; /* in the end that of the last */
    *slot_of(q, q->taken) = (struct filled){.free_fs = TAKEN};
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

    if (!place_result(c))
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

static void received(struct kb_sim *s, uint64_t t, struct command *c)
{
    c->result->hidden = true;
    pe_command_end(s, t, c);
}

/* A piece has been taken out of its slot: the sender will know. */
static void free_slot(struct kb_sim *s, uint64_t t, const struct work *w)
{
    struct queue *q = w->token->queue;
    struct filled *slot = slot_of(q, w->token->i);

    slot->free_fs = t + (uint64_t)q->credit_fs;
    slot->free_id = w->id;
    if (s->observer)
        slot->taken = observe_taken(s);
    if (q->sending && slot == slot_of(q, q->issued))
        send_credit(s, q);
}

/* A piece is in its slot. */
static void arrived(struct kb_sim *s, uint64_t t, const struct token *x)
{
    struct command *c = x->command;

    slot_of(x->queue, x->i)->full = true;
    slot_of(x->queue, x->i)->id = c->op.id + x->number;
    tally(s->kernels)->dma_write_bytes += x->fetch_bytes;
    if (--c->pieces_left == 0)
        pe_command_end(s, t, c);
    if (s->status == KB_OK)
        give_pieces(s, t, x->queue);
}

void ipcq_piece_done(struct kb_sim *s, uint64_t t, const struct work *w)
{
    struct token *x = w->token;
    struct command *c = x->command;

    if (c->task == TASK_SEND) {
        arrived(s, t, x);
    } else {
        free_slot(s, t, w);
        if (--c->pieces_left == 0)
            received(s, t, c);
    }
    token_free(s->kernels, x);
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
        op.in[0].address += piece_offset(x->command, x->number);
        op.in[0].view.offset += piece_offset(x->command, x->number);
        op.in[0].shape.rank = 1;
        op.in[0].shape.dim[0] = (uint32_t)(x->fetch_bytes / elem);
    }
    op.out.address = slot_address(s, x->queue, x->i);
    op.out.space = (uint8_t)address_space(op.out.address);
    return op;
}

static bool is_before(const struct queue *q, const struct queue *other)
{
    if (q->sender != other->sender)
        return q->sender < other->sender;
    return q->receiver != other->receiver ? q->receiver < other->receiver : q->tag < other->tag;
}

/* Adds those of a queue; its first, if the queue comes before `first`. */
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
    const struct ipcq *x = k->ipcq;
    struct queue *first = NULL;

    for (size_t i = 0; x && i < x->n_rows; i++)
        for (struct queue *q = x->queues[i]; q; q = q->next)
            count_queue(q, r, &first);
}

/* -- barriers ------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* A group as it is looked for: NULL and the first, or the PEs in ascending order. */
struct group {
    uint32_t *pes; /* owned */
    uint32_t first;
    size_t n;
};

/* False after a message. */
static bool sort_group(struct command *c, const tl_group *from, struct group *g)
{
    *g = (struct group){.first = from->first, .n = from->n};
    if (g->n > c->pe->kernels->n_pes) {
        kernel_error(c->pe, c->call, c->here, "a group of %zu PEs, where there are only %u", g->n,
                     c->pe->kernels->n_pes);
        return false;
    }
    if (!from->pes || from->n == 0)
        return true;
    g->pes = malloc(g->n * sizeof *g->pes);
    if (!g->pes) {
        kernel_no_memory(c->pe);
        return false;
    }
    memcpy(g->pes, from->pes, g->n * sizeof *g->pes);
    qsort(g->pes, g->n, sizeof *g->pes, by_number);
    g->first = g->pes[0];
    return true;
}

static bool has_member(const struct group *g, uint32_t pe)
{
    if (!g->pes)
        return pe >= g->first && pe - g->first < g->n;
    return bsearch(&pe, g->pes, g->n, sizeof pe, by_number);
}

/* The first member that is no PE; UINT32_MAX: all are. */
static uint32_t no_member(const struct group *g, uint32_t n_pes)
{
    uint32_t first = g->first < n_pes ? n_pes : g->first;

    if (!g->pes)
        return (uint64_t)g->first + g->n > first ? first : UINT32_MAX;
    for (size_t i = 0; i < g->n; i++)
        if (g->pes[i] >= n_pes)
            return g->pes[i];
    return UINT32_MAX;
}

/* Does every member exist, and come once? */
static bool is_group(struct command *c, const struct group *g)
{
    uint32_t missing = no_member(g, c->pe->kernels->n_pes);

    for (size_t i = 1; g->pes && i < g->n; i++) {
        if (g->pes[i] == g->pes[i - 1]) {
            kernel_error(c->pe, c->call, c->here, "PE %u of the group comes twice", g->pes[i]);
            return false;
        }
    }
    if (missing != UINT32_MAX)
        kernel_error(c->pe, c->call, c->here, "PE %u of the group does not exist", missing);
    else if (!has_member(g, c->pe->number))
        kernel_error(c->pe, c->call, c->here, "the PE itself is not in the group");
    else
        return true;
    return false;
}

/* PEs that follow each other are a range, however they were given. */
static void make_range(struct group *g)
{
    if (g->pes && g->pes[g->n - 1] - g->first == g->n - 1) {
        free(g->pes);
        g->pes = NULL;
    }
}

static struct barrier **row_of_group(struct ipcq *x, const struct group *g)
{
    uint64_t h = (uint64_t)g->first << 32 ^ g->n;

    for (size_t i = 0; g->pes && i < g->n; i++)
        h = (h ^ g->pes[i]) * UINT64_C(0x9e3779b97f4a7c15);
    h *= UINT64_C(0x9e3779b97f4a7c15);
    return &x->barriers[h >> 32 & (BARRIER_ROWS - 1)];
}

static bool is_of(const struct barrier *b, const struct group *g)
{
    return b->n == g->n && b->first == g->first && !b->pes == !g->pes &&
           (!b->pes || memcmp(b->pes, g->pes, g->n * sizeof *g->pes) == 0);
}

/* Takes what the group owns. NULL after a message. */
static struct barrier *find_barrier(struct command *c, struct ipcq *x, struct group *g)
{
    struct barrier **row = row_of_group(x, g), *b = *row;

    while (b && !is_of(b, g))
        b = b->next;
    if (b) {
        free(g->pes);
        return b;
    }
    b = calloc(1, sizeof *b);
    if (!b) {
        free(g->pes);
        kernel_no_memory(c->pe);
        return NULL;
    }
    *b = (struct barrier){.pes = g->pes, .first = g->first, .n = g->n, .next = *row};
    return *row = b;
}

bool ipcq_find_barrier(struct command *c, const tl_group *from)
{
    struct ipcq *x = ipcq_of(c);
    struct group g;

    c->barrier = NULL;
    if (!x || !sort_group(c, from, &g))
        return false;
    if (!is_group(c, &g)) {
        free(g.pes);
        return false;
    }
    make_range(&g);
    c->barrier = find_barrier(c, x, &g);
    return c->barrier;
}

bool ipcq_find_queue(struct command *c, uint32_t sender, uint32_t receiver, int tag)
{
    uint64_t most = most_bytes(c);

    if (most == 0) {
        kernel_error(c->pe, c->call, c->here,
                     "an element of %llu bytes is larger than a slot of %u",
                     (unsigned long long)dtype_bytes(c->op.in[0].dtype),
                     c->pe->sim->topo->pe.ipcq_slot_bytes);
        return false;
    }
    c->pieces = c->nbytes <= most ? 1 : (uint32_t)parts_of(c->nbytes, most);
    c->pieces_left = c->pieces;
    c->piece = 0;
    c->queue = find_queue(c, sender, receiver, (uint32_t)tag);
    return c->queue;
}

/* Release at the lowest PE, then the way back to each.                              design 5.1 */
static void release(struct kb_sim *s, struct barrier *b)
{
    struct tl_ctx *lowest = &s->kernels->pes[b->first];

    while (b->waiting) {
        struct command *c = b->waiting;
        struct stage st = {.command = c, .stage = STAGE_COMMAND, .id = c->op.id};
        uint32_t slot = stage_slot(s, &st, NULL, false);

        b->waiting = c->behind;
        if (slot == TXN_NONE)
            return;
        s->txns[slot] = (struct txn){.id = c->op.id};
        if (s->observer && !observe_release_word(s, (int64_t)b->last_fs, slot, b->last, b->first))
            return;
        engine_send_word(s, b->last_fs, word_fs(s, lowest, c->pe), slot);
    }
    b->arrived = 0;
    b->last_fs = 0;
    b->last = NULL;
}

void ipcq_join(struct kb_sim *s, uint64_t t, struct command *c)
{
    struct barrier *b = c->barrier;
    uint64_t there_fs = t + (uint64_t)word_fs(s, c->pe, &s->kernels->pes[b->first]);

    c->behind = NULL;
    if (b->waiting)
        b->last_waiting->behind = c;
    else
        b->waiting = c;
    b->last_waiting = c;
    if (s->observer)
        observe_wait(s, c, c->op.id, KB_NO_ID);
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

    if (s->observer)
        observe_word(s, slot);
    slot_free(s, slot);
    if (w.token) {
        struct queue *q = w.token->queue;

        token_free(s->kernels, w.token);
        credit(s, t, q);
    } else {
        pe_command_end(s, t, w.command);
    }
    if (s->observer)
        observe_left(s);
}
