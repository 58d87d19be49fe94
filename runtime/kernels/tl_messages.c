/* tl_messages.c -- messages to other PEs, and barriers.
 *
 * The calls check and make commands. What they cost: pe/pe_ipcq.c, kernels/barrier.c.
 *
 * A message has a queue by sender, receiver and tag (ipcq_find_queue(): made at its first use,
 * with its slots at the end of the receiver's TCM, SRAM or slice). The first of both PEs that
 * names a queue makes it, so its check of room may end the run in either call. A barrier is found
 * by its group, and tl_cube(), tl_sip() and tl_all() are groups that need no list: first PE and
 * number of PEs.
 */
#include "kernels/barrier.h"
#include "kernels/tl_call.h"
#include "pe/pe_ipcq.h"

/* The other PE, and the tag. */
static void check_peer(const struct call *call, uint32_t pe, int tag)
{
    if (pe >= call->pe->kernels->n_pes)
        BAD(call, "there is no PE %u, only 0..%u", pe, call->pe->kernels->n_pes - 1);
    if (pe == call->pe->number)
        BAD(call, "a PE does not send to itself");
    if (tag < 0 || tag >= TL_TAGS)
        BAD(call, "tag %d is none of 0..%d", tag, TL_TAGS - 1);
}

void tl_send_at(tl_here here, tl_ctx *tl, uint32_t pe, int tag, tl_tensor *tensor)
{
    struct call call = begin_call(tl, "tl_send", here);
    struct command *c;

    check_operand(&call, tensor);
    if (tensor->kind == TENSOR_SCALAR)
        BAD(&call, "a scalar cannot be sent, make a tensor of it by tl_full()");
    check_peer(&call, pe, tag);
    c = new_whole_command(&call, OP_DMA_WRITE);
    c->task = TASK_SEND;
    c->nbytes = tensor->nbytes;
    add_operand(c, tensor);
    if (!ipcq_find_queue(c, tl->number, pe, tag))
        kernel_leave(tl);
    do_command(c);
}

tl_tensor *tl_recv_at(tl_here here, tl_ctx *tl, uint32_t pe, int tag, kb_dtype dtype,
                      kb_shape shape, bool async)
{
    struct call call = begin_call(tl, async ? "tl_recv_async" : "tl_recv", here);
    struct dims d;
    uint64_t cell = check_dtype(&call, dtype), n = check_shape(&call, &shape, &d);
    struct command *c;
    struct tl_tensor *tensor;

    check_peer(&call, pe, tag);
    c = new_whole_command(&call, OP_DMA_READ);
    c->task = TASK_RECV;
    c->async = async;
    check_cells(&call, dtype, &d);
    c->nbytes = n * cell / dtype_of_cell(dtype);
    tensor = new_tensor(&call, TENSOR_VALUE, dtype, &d, c->nbytes);
    tensor->space = SPACE_TCM;
    tensor->loads = async || tl->overlaps;
    c->result = tensor;
    set_operand(&c->op.in[0], tensor, 0, SPACE_TCM);
    c->op.out.space = SPACE_TCM;
    if (!ipcq_find_queue(c, pe, tl->number, tag))
        kernel_leave(tl);
    return do_command(c);
}

tl_group tl_cube(const tl_ctx *tl)
{
    const struct kb_topology *t = tl->sim->topo;
    uint32_t cube = src_cube(t, tl->src);

    return (tl_group){.first = cube_first_pe(t, cube), .n = cube_pe_count(t, cube)};
}

tl_group tl_sip(const tl_ctx *tl)
{
    const struct kb_topology *t = tl->sim->topo;
    uint32_t sip = src_cube(t, tl->src) / t->cubes, first = cube_first_pe(t, sip * t->cubes);

    return (tl_group){.first = first, .n = cube_first_pe(t, (sip + 1) * t->cubes) - first};
}

tl_group tl_all(const tl_ctx *tl)
{
    return (tl_group){.n = tl->kernels->n_pes};
}

void tl_barrier_at(tl_here here, tl_ctx *tl, tl_group group)
{
    struct call call = begin_call(tl, "tl_barrier", here);
    struct command *c = new_command(&call, OP_DMA_READ);

    c->task = TASK_BARRIER;
    if (!barrier_find(c, &group))
        kernel_leave(tl);
    do_command(c);
}
