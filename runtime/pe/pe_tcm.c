/* pe_tcm.c -- pe_tcm: the PE's own memory: its room, its ports, and when other PEs see its
 * contents.
 *
 * What it holds   one service at each of two ports: reads (FETCH, loads of other PEs) and writes
 *                 (STORE, stores and messages of other PEs). The station is pe->port[].
 * For how long    bytes / read_gbs or bytes / write_gbs: pe_fetch_store.c. A DMA of another PE
 *                 holds it for its whole drain.
 * Lets in first   first come, first served
 * Wait counted    port_wait of --breakdown
 * Golden number   docs/kernels.md "Worked: four commands": FETCH of 8192 bytes takes 16 ns
 *
 * Room. A result gets the lowest range that fits, 64-byte aligned, at the issue of its command.
 * Ranges are a ring by offset, shared by a tensor and its views; kernels/gaps.h has the gaps
 * between them. From the end grow the slots of queues to
 * this PE (pe_ipcq.c): no range reaches into the last `slot_room.bytes`, or into those that the
 * kernel holds for slots that are to come. Where none is free, but
 * tensors are dead whose room is to come back (kernels/flight.h), the issue waits for that. With a
 * tensor of 100 bytes at offset 0 and one of 64 at offset 256, the next tensor of 128 bytes lies at
 * offset 128; one of 129 at 320.
 *
 * Contents. The PE finds its own tensors by their handles, each with a view of its version, so
 * nothing is written to the MemoryStore when a result is made: the tensor is `hidden`. The store
 * learns what a TCM holds when another PE is about to look (tcm_look_at()), and when the kernel
 * ends (tcm_show()). A tensor that was given back before is not written at all. To write every
 * result at once was slower: a load took 148 ns instead of 127.
 */
#include "base/larger.h"
#include "kernels/error.h"
#include "kernels/pool.h"
#include "pe/boxes.h"
#include <stdio.h>

enum { TCM_ALIGN = 64 };

/* What slots of queues have of it, or may come to have. */
static uint64_t bytes_of_slots(const struct tl_ctx *pe)
{
    return larger(pe->slot_room.bytes, pe->held_for_slots);
}

/* What is free behind the last range. */
static uint64_t room_at_end(const struct tl_ctx *pe)
{
    uint64_t size = pe_kind(pe)->tcm_read.nbytes - bytes_of_slots(pe), end = pe->room.before->end;

    return end < size ? size - end : 0;
}

enum tcm_result tcm_alloc(struct tl_ctx *pe, struct tl_tensor *tensor)
{
    uint64_t line = pe_kind(pe)->pe.line_bytes, align = line > TCM_ALIGN ? line : TCM_ALIGN;
    struct tcm_block *before = gaps_first(&pe->gaps, tensor->nbytes), *b;
    uint64_t offset;

    if (!before && room_at_end(pe) >= tensor->nbytes)
        before = pe->room.before;
    if (!before)
        return TCM_FULL;
    b = tcm_block_new(pe->kernels);
    if (!b)
        return TCM_NO_MEMORY;
    offset = before->end;
    *b = (struct tcm_block){.offset = offset,
                            .nbytes = tensor->nbytes,
                            .end = (offset + tensor->nbytes + align - 1) / align * align,
                            .refs = 1};
    tcm_block_add(pe, before, b);
    tensor->block = b;
    tensor->address = pe->tcm_address + offset;
    return TCM_OK;
}

static __attribute__((noinline, cold)) void say_full(struct tl_ctx *pe, const char *call,
                                                     tl_here here, uint64_t nbytes)
{
    char slots[64] = "";

    if (bytes_of_slots(pe))
        snprintf(slots, sizeof slots, ", of which slots of queues have %llu",
                 (unsigned long long)bytes_of_slots(pe));
    kernel_error(
        pe, call, here, "the TCM is exhausted: no %llu bytes in one piece are free of its %llu%s",
        (unsigned long long)nbytes, (unsigned long long)pe_kind(pe)->tcm_read.nbytes, slots);
}

bool tcm_may_have_room(struct tl_ctx *pe, enum tcm_result result, const char *call, tl_here here,
                       uint64_t nbytes)
{
    if (result == TCM_NO_MEMORY)
        kernel_no_memory(pe);
    else if (!pe->give_backs)
        say_full(pe, call, here, nbytes);
    else
        return true;
    return false;
}

bool tcm_show(struct tl_ctx *pe)
{
    struct mem *m = pe->kernels->mem;

    for (struct tl_tensor *tensor = pe->newest; tensor; tensor = tensor->older) {
        if (!tensor->hidden || !tensor->view.v || tensor->dead)
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
    if (!unit_is_tcm(pe->sim->topo, dst_unit(pe->sim->topo, dst)) ||
        tcm_show(pe_of_tcm(pe->sim, dst)))
        return true;
    kernel_no_memory(pe);
    return false;
}

/* A FETCH or a STORE uses the ports of its own PE, a DMA those of the TCM that it reads or writes.
 */
void tcm_count_port(struct kb_sim *s, const struct work *work, const struct txn *txn)
{
    struct tl_ctx *pe = work_is_dma(work) ? pe_of_tcm(s, txn->dst) : work->command->pe;

    pe->port_bytes[work->station - pe->port] += txn->nbytes;
    pe->port_count[work->station - pe->port]++;
}
