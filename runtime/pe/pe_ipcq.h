/* pe_ipcq.h -- queues between PEs: rings of slots in the receiver's memory. */
#ifndef PE_IPCQ_H
#define PE_IPCQ_H
#include "engine/observer.h"
#include "kernels/kernels.h"

/* A slot, and what lies in it. */
struct filled {
    uint64_t nbytes, all_bytes; /* of the piece, of its send */
    uint64_t free_fs;           /* when the sender knows that it is free; TAKEN */
    uint32_t id, free_id;       /* of the piece, of the credit */
    bool full;                  /* it has arrived, and is not taken yet */
    bool last;                  /* of its send */
    struct view sent;           /* owned; all of the send, at its first piece */
    tl_here here;               /* of the send */
    struct taken taken;         /* observed */
};

#define TAKEN UINT64_MAX

/* From one PE to another, under one tag. Counts are modulo 2^32. */
struct queue {
    uint32_t sender, receiver, tag; /* PEs by number */
    uint32_t memory;                /* where the slots lie, packed */
    uint64_t address;               /* of the first */
    enum space space;               /* of its slots */
    uint32_t slot_bytes;
    uint32_t n_slots, issued, taken;            /* the last two: pieces */
    int64_t credit_fs;                          /* from receiver to sender */
    struct command *sending, *last_sending;     /* have pieces to send, in order */
    uint64_t lacks_fs;                          /* since then the first waits for a slot */
    struct command *receiving, *last_receiving; /* wait for pieces, in order */
    struct queue *next;                         /* of the same hash */
    struct slot_room *room;                     /* of the memory where the slots lie */
    struct filled slot[];
};

/* The queues of a launch. */
struct ipcq {
    struct queue **queues; /* owned; [row] */
    size_t n_queues, n_rows;
};

/* Wires and overheads from one PE to another: docs/kernels.md "PEs that talk". */
static inline int64_t word_fs(const struct kb_sim *s, const struct tl_ctx *from,
                              const struct tl_ctx *to)
{
    const struct trip trip = walk_trip(s->topo, from->src, to->tcm, 0, false, 0, false);
    struct cost_row way;

    if (from == to)
        return 0;
    way = cost_of_pe(s->topo, &trip);
    return cost_way_fs(&s->mask, way.wire_fs, way.overhead_fs);
}

/* Sets a command's queue and pieces. False after a message. */
KERNELS_OWN bool ipcq_find_queue(struct command *c, uint32_t sender, uint32_t receiver, int tag);
/* The queue, if there is one already; else NULL. */
KERNELS_OWN struct queue *ipcq_look_up(const struct ipcq *ipcq, uint32_t sender, uint32_t receiver,
                                       uint32_t tag);

/* A send joins its queue as it is issued; its pieces may set out from its start on. */
KERNELS_OWN void ipcq_join(struct command *c);
KERNELS_OWN void ipcq_send(struct kb_sim *s, uint64_t t, struct command *c, bool called);
KERNELS_OWN void ipcq_receive(struct kb_sim *s, uint64_t t, struct command *c);
/* The credit that the sender of `queue` has waited for is there. */
KERNELS_OWN void ipcq_credit(struct kb_sim *s, uint64_t t, struct queue *queue);
/* A piece is in its slot, or has been taken out of it. True: it was the command's last. */
KERNELS_OWN bool ipcq_piece_done(struct kb_sim *s, uint64_t t, const struct work *work);
/* What follows from that piece beside the command's end; gives back its token. */
KERNELS_OWN void ipcq_piece_left(struct kb_sim *s, uint64_t t, const struct work *work);

/* The record of a piece. */
KERNELS_OWN struct op ipcq_record(const struct work *work);
/* Sets what the record of a FETCH or DMA_READ out of a slot has beside its stage. */
KERNELS_OWN void ipcq_set_moved(struct op_token *record, const struct token *token);

/* Counts messages that were never received. */
KERNELS_OWN void ipcq_count_unreceived(const struct ipcq *ipcq, kb_launch_result *r);
/* Frees the queues of a launch, and the room that they had in memories. */
KERNELS_OWN void ipcq_free(struct ipcq *ipcq);

#endif
