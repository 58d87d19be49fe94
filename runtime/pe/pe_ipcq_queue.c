/* pe_ipcq_queue.c -- finds the queue from a PE to another with a tag, and the one that both have
 * taken a slot of. */
#include <stdlib.h>
#include "data/host.h"
#include "kernels/error.h"
#include "machine/address.h"
#include "machine/endpoint.h"
#include "pe/pe_ipcq_queue.h"

/* The memory in which a PE receives: slots lie at its end, other things before them. */
struct room {
    uint64_t size, used;
    struct slot_room *taken; /* by slots */
    uint32_t memory;         /* packed */
};

static struct room room_of(struct kb_sim *s, struct tl_ctx *pe)
{
    const struct kb_topology *t = s->topo;
    struct kernels *k = s->kernels;
    const struct kind_row *kind = pe_kind(pe);
    uint32_t cube = src_cube(t, pe->src);
    struct room r;

    if (kind->pe.ipcq_space == QUEUE_TCM) {
        r = (struct room){kind->tcm_read.nbytes, 0, &pe->slot_room, pe->tcm};
        r.used = pe->room.before->offset + pe->room.before->nbytes;
    } else if (kind->pe.ipcq_space == QUEUE_SRAM) {
        r = (struct room){kind->sram.nbytes, 0, &k->sram_room[cube],
                          dst_pack(t, cube, unit_of_sram(t))};
    } else {
        uint32_t slice = pe_slice(t, pe->src);

        r = (struct room){kind_at(t, dst_cube(t, slice))->hbm.nbytes,
                          host_slice_used(s->host, slice), &k->hbm_room[slice_index(t, slice)],
                          slice};
    }
    return r;
}

/* Is there a memory of that kind at all? */
static bool has_slot_memory(const struct kb_topology *t, const struct pe_row *pe, uint32_t src)
{
    return pe->ipcq_space != QUEUE_HBM || pe_slice(t, src) != NO_SLICE;
}

/* False after a message. */
static bool place_slots(struct command *c, struct queue *q)
{
    struct kb_sim *s = c->pe->sim;
    const struct pe_row *pe = &pe_kind(&s->kernels->pes[q->receiver])->pe;
    uint64_t nbytes = ((uint64_t)pe->ipcq_slots * pe->ipcq_slot_bytes + 63) / 64 * 64, left;
    kb_endpoint memory;
    char name[KB_ENDPOINT_BYTES];
    struct room r;

    if (!has_slot_memory(s->topo, pe, s->kernels->pes[q->receiver].src)) {
        kernel_error(c->pe, c->call, c->here,
                     "no room for the slots of a queue: cube.pe.pe_ipcq.space is hbm, and no cube "
                     "of the receiver's SIP has slices");
        return false;
    }
    r = room_of(s, &s->kernels->pes[q->receiver]);
    left = r.size - r.used - r.taken->bytes;
    if (nbytes <= left) {
        r.taken->bytes += nbytes;
        r.taken->queues++;
        q->room = r.taken;
        q->memory = r.memory;
        q->address = address_of(s->topo, r.memory, r.size - r.taken->bytes);
        q->space = address_space(s->topo, q->address);
        return true;
    }
    memory = endpoint_unpack_memory(s->topo, r.memory);
    kb_endpoint_name(&memory, name);
    kernel_error(c->pe, c->call, c->here,
                 "no room for the %u slots of %u bytes of a queue: at the end of %s %llu of its "
                 "%llu bytes are free, others have %llu",
                 pe->ipcq_slots, pe->ipcq_slot_bytes, name, (unsigned long long)left,
                 (unsigned long long)r.size, (unsigned long long)r.taken->bytes);
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
    uint64_t elem = dtype_cell(c->op.in[0].dtype);

    return c->slot_bytes & ~(elem - 1);
}

uint64_t ipcq_piece_offset(const struct command *c, uint32_t piece)
{
    return piece * most_bytes(c);
}

uint64_t ipcq_piece_bytes(const struct command *c, uint32_t piece)
{
    uint64_t rest = c->nbytes - ipcq_piece_offset(c, piece), most = most_bytes(c);

    return rest < most ? rest : most;
}

struct filled *ipcq_slot_of(struct queue *q, uint32_t piece)
{
    return &q->slot[piece % q->n_slots];
}

uint64_t ipcq_slot_address(const struct queue *q, uint32_t piece)
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
                     (unsigned long long)dtype_cell(c->op.in[0].dtype), c->slot_bytes);
        return false;
    }
    c->pieces = c->nbytes <= most ? 1 : (uint32_t)parts_of(c->nbytes, most);
    c->pieces_left = c->pieces;
    c->piece = 0;
    c->queue = find_queue(c, sender, receiver, (uint32_t)tag);
    return c->queue;
}
