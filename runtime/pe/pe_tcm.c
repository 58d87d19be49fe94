/* pe_tcm.c -- TCM */
#include "kernels/error.h"
#include "kernels/pool.h"
#include "pe/boxes.h"
#include <stdio.h>

enum { TCM_ALIGN = 64 };

enum tcm_result tcm_alloc(struct tl_ctx *pe, struct tl_tensor *tensor)
{
    const struct kb_topology *t = pe->sim->topo;
    uint64_t offset = 0, size = t->tcm_read.nbytes - pe->ring_bytes;
    struct tcm_block **link = &pe->blocks, *b;

    for (; *link && (*link)->offset - offset < tensor->nbytes; link = &(*link)->next)
        offset = ((*link)->offset + (*link)->nbytes + TCM_ALIGN - 1) / TCM_ALIGN * TCM_ALIGN;
    if (offset > size || tensor->nbytes > size - offset)
        return TCM_FULL;
    b = tcm_block_new(pe->kernels);
    if (!b)
        return TCM_NO_MEMORY;
    *b = (struct tcm_block){.offset = offset, .nbytes = tensor->nbytes, .refs = 1, .next = *link};
    *link = b;
    tensor->block = b;
    tensor->address = pe->tcm_address + offset;
    return TCM_OK;
}

void tcm_say_full(struct tl_ctx *pe, const char *call, tl_here here, uint64_t nbytes)
{
    char slots[64] = "";

    if (pe->ring_bytes)
        snprintf(slots, sizeof slots, ", of which slots of queues have %llu",
                 (unsigned long long)pe->ring_bytes);
    kernel_error(
        pe, call, here, "the TCM is exhausted: no %llu bytes in one piece are free of its %llu%s",
        (unsigned long long)nbytes, (unsigned long long)pe->sim->topo->tcm_read.nbytes, slots);
}

/* Room in the TCM for the result; its address is known then. */
bool tcm_place_result(struct command *c)
{
    struct tl_ctx *pe = c->pe;
    struct tl_tensor *tensor = c->result;
    enum tcm_result r = tcm_alloc(pe, tensor);

    if (r == TCM_FULL)
        tcm_say_full(pe, c->call, c->here, tensor->nbytes);
    else if (r == TCM_NO_MEMORY)
        kernel_no_memory(pe);
    tensor->maker = c->op.id;
    c->op.out.address = tensor->address;
    c->op.out.maker = c->op.id;
    return r == TCM_OK;
}

bool tcm_show(struct tl_ctx *pe)
{
    struct mem *m = pe->kernels->mem;

    for (struct tl_tensor *tensor = pe->newest; tensor; tensor = tensor->older) {
        if (!tensor->hidden || !tensor->view.v)
            continue;
        if (mem_write(m, pe->tcm, tensor->address, tensor->nbytes, tensor->view, tensor->maker) !=
            MEM_OK)
            return false;
        tensor->hidden = false;
    }
    return true;
}

bool tcm_look_at(struct tl_ctx *pe, uint32_t dst)
{
    const struct kb_topology *t = pe->sim->topo;
    uint32_t unit = dst_unit(t, dst);

    if (unit <= t->pes ||
        tcm_show(&pe->kernels->pes[dst_cube(t, dst) * t->pes + unit - t->pes - 1]))
        return true;
    kernel_no_memory(pe);
    return false;
}

/* Bytes that have passed a port of a TCM: of a FETCH or a STORE, or of a DMA from or to it. */
void tcm_count_port(struct kb_sim *s, const struct work *work, const struct txn *txn)
{
    const struct kb_topology *t = s->topo;
    struct tl_ctx *pe = work->command->pe;

    if (work_is_dma(work))
        pe = &s->kernels->pes[dst_cube(t, txn->dst) * t->pes + dst_unit(t, txn->dst) - t->pes - 1];
    pe->port_bytes[work->station - pe->port] += txn->nbytes;
}
