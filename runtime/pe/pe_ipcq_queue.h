/* pe_ipcq_queue.h -- queues between PEs, as sending and receiving find them. */
#ifndef PE_PE_IPCQ_QUEUE_H
#define PE_PE_IPCQ_QUEUE_H
#include "pe/pe_ipcq.h"

enum { ROWS_FIRST = 64 }; /* a power of two */

/* Made for the first queue. NULL after a message. */
KERNELS_OWN struct ipcq *ipcq_of(struct command *c);

KERNELS_OWN uint64_t ipcq_piece_offset(const struct command *c, uint32_t piece);

KERNELS_OWN uint64_t ipcq_piece_bytes(const struct command *c, uint32_t piece);

KERNELS_OWN struct filled *ipcq_slot_of(struct queue *q, uint32_t piece);

KERNELS_OWN uint64_t ipcq_slot_address(const struct queue *q, uint32_t piece);

#endif
