/* host.h -- what the host of a simulation holds: its memories' content, and tensors in its HBM. */
#ifndef HOST_H
#define HOST_H
#include "data/mem.h"
#include "machine/tables.h"

/*
 * The host exists from the first use on: functions that take `struct host **` make it. A host that
 * is NULL holds nothing.
 */
struct host;

/* The memories of the machine, area dst_pack(); NULL: no memory. */
struct mem *host_mem(struct host **host, const struct kb_topology *topo);

/* kb_tensor_new() of a simulation that has *host and `topo`. */
kb_status host_tensor_new(struct host **host, const struct kb_topology *topo, const char *name,
                          kb_dtype dtype, kb_shape shape, kb_placement placement, kb_tensor **out,
                          kb_error *why);

/*
 * Finds the first PE from number *next on whose copy of a replicated part is not what `bytes`, the
 * whole tensor, have there, and writes its copy to them. *next is then one past that PE, *of its
 * name; *found is false if there is none.
 *
 * returns  as kb_tensor_read(), of that copy
 */
kb_status host_next_copy(const kb_tensor *tensor, uint32_t *next, void *bytes, kb_endpoint *of,
                         bool *found, kb_error *why);

/* Kernels begin to run, or have ended: the host waits, and refuses to make or write tensors. */
void host_wait(struct host *h, bool waits);

/* From now on tensors are filled at once, not when they are first read: for Phase 2. */
void host_fill_now(struct host *h);

/* Makes what was not read yet, for threads that must find all of it. False without memory. */
bool host_make_fills(struct host *h);

/*
 * The tensor that lies at a global address, and the index of the element there; NULL: none.
 */
const struct kb_tensor *host_tensor_at(const struct host *h, uint64_t address,
                                       int64_t index[KB_RANK_MAX]);

/* Bytes of a PE's slice, from its first on, that tensors take. */
uint64_t host_slice_used(const struct host *h, uint32_t slice);

void host_free(struct host *h);

#endif
