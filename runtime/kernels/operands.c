/* operands.c -- operands get the versions that lie at their addresses; results become versions.
 *
 * A dot or math command sees its operands as they are at its start: what is written to their
 * addresses later makes new versions (data/mem.h). The versions' makers join the command's
 * dependencies for the op log.
 */
#include "kernels/operands.h"
#include "kernels/error.h"
#include "machine/address.h"
#include "machine/endpoint.h"
#include "pe/boxes.h"
#include <stdio.h>

enum { ROW_BYTES = 64 };

/* "row 3, of index 17: " of rows by index, whose addresses say little; else "". */
static void name_row(const struct command *c, uint32_t dst, uint64_t address, char text[ROW_BYTES])
{
    *text = '\0';
    for (uint32_t i = 0; c->by_index && i < c->op.n_runs; i++) {
        const struct run *run = &c->runs[i];

        if (run->area != dst || address - run->at >= run->nbytes)
            continue;
        if (c->row_stride)
            snprintf(text, ROW_BYTES, "row %u, of index %lld: ", i,
                     (long long)((int64_t)(run->at - c->row_base) / c->row_stride));
        return;
    }
}

void operand_absent(struct command *c, uint32_t dst, const uint64_t range[2])
{
    const struct kb_topology *t = c->pe->sim->topo;
    uint64_t area_bytes = address_area_bytes(t, dst_cube(t, dst), address_space(t, range[0]));
    char name[KB_ENDPOINT_BYTES], row[ROW_BYTES];

    endpoint_area_name(t, dst, name);
    name_row(c, dst, range[0], row);
    kernel_error(c->pe, c->call, c->here,
                 "%sbytes %llu..%llu of %s (address %llu) were never written", row,
                 (unsigned long long)(address_offset(t, range[0]) % area_bytes),
                 (unsigned long long)(address_offset(t, range[1] - 1) % area_bytes), name,
                 (unsigned long long)range[0]);
}

enum mem_err place_read(struct tl_ctx *pe, const struct tl_tensor *x, uint32_t dst,
                        struct view *out, struct op_ids *writers, uint64_t range[2])
{
    struct strided s = tensor_elements(x);

    if (x->apart)
        return mem_read_strided(pe->kernels->mem, dst, x->address, &s, out, writers, range);
    return mem_read(pe->kernels->mem, dst, x->address, x->nbytes, out, writers, range);
}

/* The bytes that lie at an operand's address now; the commands that wrote them join c->op.depends.
 */
static bool bind_place(struct command *c, struct op_tensor *tensor, const struct tl_tensor *x)
{
    struct tl_ctx *pe = c->pe;
    struct op_ids writers = {0};
    uint64_t range[2];
    uint32_t dst;
    uint64_t offset;
    enum mem_err err;
    bool ok = true;

    if (!address_find_area(pe->sim->topo, tensor->address, &dst, &offset) || !tcm_look_at(pe, dst))
        return false;
    if (op_tensor_bytes(tensor) == x->nbytes)
        err = place_read(pe, x, dst, &tensor->view, &writers, range);
    else /* one element, for tl_value() */
        err = mem_read(pe->kernels->mem, dst, tensor->address, op_tensor_bytes(tensor),
                       &tensor->view, &writers, range);
    if (err == MEM_ABSENT)
        operand_absent(c, dst, range);
    else if (err == MEM_NO_MEMORY)
        kernel_no_memory(pe);
    tensor->maker = writers.n == 1 ? op_ids_list(&writers)[0] : OP_NONE;
    for (uint32_t i = 0; ok && i < writers.n; i++)
        ok = op_ids_add(&c->op.depends, op_ids_list(&writers)[i]);
    if (!ok)
        kernel_no_memory(pe);
    op_ids_clear(&writers);
    return ok && err == MEM_OK;
}

/* The operand `to` gets what `tensor` holds now. False after a message. */
static bool bind(struct command *c, struct op_tensor *to, const struct tl_tensor *tensor)
{
    if (to->is_scalar || to->space == SPACE_ACC) /* bound as it was issued: kernels/acc.c */
        return true;
    to->maker = tensor->maker;
    if (tensor->kind == TENSOR_PLACE)
        return bind_place(c, to, tensor);
    to->view = tensor->view;
    version_keep(to->view.v);
    if (!c->pe->sim->log || op_ids_add(&c->op.depends, tensor->maker))
        return true;
    kernel_no_memory(c->pe);
    return false;
}

bool operands_bind(struct command *c)
{
    struct op *op = &c->op;
    uint32_t n = 0;

    for (uint32_t i = 0; i < op->n_in; i++, n++)
        if (!bind(c, &op->in[i], c->operand[n]))
            return false;
    for (uint32_t e = 0; e < op->n_epilogues; e++)
        for (uint32_t i = 0; i < op->epilogue[e].n_operands; i++, n++)
            if (!bind(c, &op->epilogue[e].operand[i], c->operand[n]))
                return false;
    return true;
}

bool result_publish(struct command *c, uint32_t dst, const struct op_tensor *tensor)
{
    struct tl_ctx *pe = c->pe;

    if (mem_write(pe->kernels->mem, dst, tensor->address, op_tensor_bytes(tensor), tensor->view,
                  c->op.id) == MEM_OK)
        return true;
    kernel_no_memory(pe);
    return false;
}

bool result_replace(struct command *c)
{
    struct tl_ctx *pe = c->pe;
    uint64_t at;
    const struct strided part = op_replaces(&c->op, &at);
    uint64_t nbytes = (uint64_t)part.dim[1] * part.elem_bytes;
    struct view from = c->op.out.view;

    for (int64_t i = 0; i < part.dim[0]; i++, at += (uint64_t)part.stride[0]) {
        from.offset = at;
        if (mem_write(pe->kernels->mem, pe->tcm, c->op.out.address + at, nbytes, from, c->op.id) ==
            MEM_OK)
            continue;
        kernel_no_memory(pe);
        return false;
    }
    return true;
}

bool result_new(struct command *c, uint64_t nbytes)
{
    c->op.out.view = (struct view){version_new_result(nbytes, c->op.id), 0};
    if (c->op.out.view.v)
        return true;
    kernel_no_memory(c->pe);
    return false;
}

bool result_begin(struct command *c)
{
    struct tl_tensor *tensor = c->result;

    if (!result_new(c, tensor->nbytes))
        return false;
    tensor->hidden = true;
    version_drop(tensor->view.v); /* of an update */
    tensor->view = c->op.out.view;
    version_keep(tensor->view.v);
    return true;
}
