/* pool.c -- commands, tiles, tensors and TCM blocks of a run: made in chunks, used again. */
#include "kernels/kernel.h"
#include <stdlib.h>
#include <string.h>

enum { CHUNK_ROWS = 64 };

struct chunk {
    struct chunk *next;
    max_align_t rows[];
};

/* Zeroed rows that live as long as the run; NULL: no memory. */
static void *chunk_new(struct kernels *k, size_t bytes)
{
    struct chunk *c = calloc(1, sizeof *c + bytes);

    if (!c)
        return NULL;
    c->next = k->chunks;
    k->chunks = c;
    return c->rows;
}

/*
 * POOL(type, name, list, link): name_new() takes a row from k->list, which links through `link`,
 * or makes more; NULL: no memory.
 */
#define POOL(type, name, list, link)                                                               \
    static type *name##_take(struct kernels *k)                                                    \
    {                                                                                              \
        type *x = k->list;                                                                         \
                                                                                                   \
        if (!x) {                                                                                  \
            x = chunk_new(k, CHUNK_ROWS * sizeof *x);                                              \
            if (!x)                                                                                \
                return NULL;                                                                       \
            for (int i = 0; i + 1 < CHUNK_ROWS; i++)                                               \
                x[i].link = &x[i + 1];                                                             \
        }                                                                                          \
        k->list = x->link;                                                                         \
        return x;                                                                                  \
    }                                                                                              \
    static void name##_give(struct kernels *k, type *x)                                            \
    {                                                                                              \
        x->link = k->list;                                                                         \
        k->list = x;                                                                               \
    }

POOL(struct token, token, free_tokens, next_free)
POOL(struct tl_tensor, tensor, free_tensors, older)
POOL(struct tcm_block, block, free_blocks, next)

void pool_free(struct kernels *k)
{
    while (k->chunks) {
        struct chunk *next = k->chunks->next;

        free(k->chunks);
        k->chunks = next;
    }
}

/* -- commands ------------------------------------------------------------------------------- */

/* Commands own what others count, so all there are can be found: through `made`. */
static bool more_commands(struct kernels *k)
{
    struct command *rows = chunk_new(k, CHUNK_ROWS * sizeof *rows);

    for (int i = 0; rows && i < CHUNK_ROWS; i++) {
        rows[i].behind = k->free_commands;
        k->free_commands = &rows[i];
        rows[i].made = k->commands;
        k->commands = &rows[i];
    }
    return rows;
}

struct command *command_new(struct kernels *k)
{
    struct command *c;

    if (!k->free_commands && !more_commands(k))
        return NULL;
    c = k->free_commands;
    k->free_commands = c->behind;
    c->live = true;
    c->result = NULL;
    c->n_operands = 0;
    c->op.n_in = c->op.n_epilogues = 0;
    c->op.composite = c->op.strided = c->op.ipcq = false;
    c->task = TASK_PLAIN;
    c->op.out.view.v = NULL;
    c->op.depends = (struct op_ids){0};
    return c;
}

static void drop_view(struct op_tensor *x)
{
    version_drop(x->view.v);
    x->view.v = NULL;
}

void command_free(struct kernels *k, struct command *c)
{
    struct op *op = &c->op;

    for (uint32_t i = 0; i < op->n_in; i++)
        drop_view(&op->in[i]);
    for (uint32_t e = 0; e < op->n_epilogues; e++)
        for (uint32_t i = 0; i < op->epilogue[e].n_operands; i++)
            drop_view(&op->epilogue[e].operand[i]);
    drop_view(&op->out);
    op_ids_clear(&op->depends);
    c->live = false;
    c->behind = k->free_commands;
    k->free_commands = c;
}

void commands_free_all(struct kernels *k)
{
    for (struct command *c = k->commands; c; c = c->made)
        if (c->live)
            command_free(k, c);
}

struct token *token_new(struct kernels *k)
{
    return token_take(k);
}

void token_free(struct kernels *k, struct token *x)
{
    token_give(k, x);
}

/* -- tensors -------------------------------------------------------------------------------- */

struct tl_tensor *tensor_new(struct tl_ctx *pe, enum tensor_kind kind)
{
    struct tl_tensor *x = tensor_take(pe->kernels);

    if (!x)
        return NULL;
    x->kind = (uint8_t)kind;
    x->wait = WAIT_NONE;
    x->loads = x->hidden = false;
    x->maker = OP_NONE;
    x->owner = pe->number;
    x->view.v = NULL;
    x->block = NULL;
    x->number = pe->tensors++;
    x->older = pe->newest;
    x->newer = NULL;
    if (x->older)
        x->older->newer = x;
    pe->newest = x;
    return x;
}

static void block_drop(struct tl_ctx *pe, struct tcm_block *b)
{
    struct tcm_block **link = &pe->blocks;

    if (--b->refs)
        return;
    while (*link != b)
        link = &(*link)->next;
    *link = b->next;
    block_give(pe->kernels, b);
}

void tensor_free(struct tl_ctx *pe, struct tl_tensor *x)
{
    if (x->newer)
        x->newer->older = x->older;
    else
        pe->newest = x->older;
    if (x->older)
        x->older->newer = x->newer;
    if (x->block)
        block_drop(pe, x->block);
    version_drop(x->view.v);
    x->view.v = NULL;
    x->kind = TENSOR_FREE;
    tensor_give(pe->kernels, x);
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

bool tcm_show(struct tl_ctx *pe)
{
    struct mem *m = pe->kernels->mem;

    for (struct tl_tensor *x = pe->newest; x; x = x->older) {
        if (!x->hidden || !x->view.v)
            continue;
        if (mem_write(m, pe->tcm, x->address, x->nbytes, x->view, x->maker) != MEM_OK)
            return false;
        x->hidden = false;
    }
    return true;
}

void tensors_free_all(struct tl_ctx *pe)
{
    while (pe->newest)
        tensor_free(pe, pe->newest);
}

enum { TCM_ALIGN = 64 };

enum tcm_result tcm_alloc(struct tl_ctx *pe, struct tl_tensor *x)
{
    const struct kb_topology *t = pe->sim->topo;
    uint64_t offset = 0, size = t->tcm_read.nbytes - pe->ring_bytes;
    struct tcm_block **link = &pe->blocks, *b;

    for (; *link && (*link)->offset - offset < x->nbytes; link = &(*link)->next)
        offset = ((*link)->offset + (*link)->nbytes + TCM_ALIGN - 1) / TCM_ALIGN * TCM_ALIGN;
    if (offset > size || x->nbytes > size - offset)
        return TCM_FULL;
    b = block_take(pe->kernels);
    if (!b)
        return TCM_NO_MEMORY;
    *b = (struct tcm_block){.offset = offset, .nbytes = x->nbytes, .refs = 1, .next = *link};
    *link = b;
    x->block = b;
    x->address = pe->tcm_address + offset;
    return TCM_OK;
}
