/* pool.c -- commands, tokens, tensors and TCM blocks of a run: made in chunks, used again.
 *
 * A run makes millions of these, and few are in use at a time. So each kind has a list of free
 * rows, which grows by 64, and nothing is given back to malloc() before the end: rows are cut from
 * chunks, each twice as large as the one before, up to a page of 2 MiB (base/rows.h). A row is not
 * cleared when it is used again: each *_new() sets the fields that its users rely on.
 *
 * Commands own references to versions and lists of ids, so all that were made are also linked,
 * through `made`: when a run ends early, those that are still in use are found and freed.
 *
 * Example: tl_load() of a row takes a command, a tensor and a TCM block. When the load ends, the PE
 * keeps the command for its next load of that shape (command_keep()); one of another kind goes back
 * to its list, and the next call of any PE takes the same row of memory, which is still cached. The
 * tensor and its block stay until tl_free(), tl_release() or the end of the kernel.
 *
 * Invariants:
 *   - A row is either in its list or in use, never both; a command that is kept is neither. The
 * link of the list lies in a field that is not used meanwhile (`behind` of a command, `older` of a
 *     tensor).
 *   - A command that is kept or in a list owns nothing: its views and dependencies were given back.
 *   - Rows never move: tokens, stations and kernels hold pointers to them.
 *   - A tensor belongs to one PE, in the order of its numbers from `newest` back, which is what
 *     tl_mark() and tl_release() need. Blocks are counted: tl_reshape() makes a second tensor of
 *     one.
 */
#include "kernels/pool.h"
#include "base/rows.h"
#include "kernels/acc.h"
#include <stdlib.h>

enum { CHUNK_ROWS = 64, CHUNK_MOST = 2 << 20, LINE = 64 };

struct chunk {
    struct chunk *next;
    size_t bytes, used; /* in all, this head included */
};

/* Twice as large as the one before, up to a huge page. False: no memory. */
static bool more_chunks(struct kernels *k, size_t bytes)
{
    size_t least = k->chunks ? 2 * k->chunks->bytes : 0, all = LINE + bytes;
    struct chunk *c;

    if (least > CHUNK_MOST)
        least = CHUNK_MOST;
    if (all < least)
        all = least;
    c = rows_resize(NULL, 0, all, 1);
    if (!c)
        return false;
    rows_use_all(c, 1, all);
    *c = (struct chunk){.next = k->chunks, .bytes = all, .used = LINE};
    k->chunks = c;
    return true;
}

/* Rows that live as long as the run, of which nothing is set; NULL: no memory. */
static void *chunk_new(struct kernels *k, size_t bytes)
{
    struct chunk *c = k->chunks;
    char *rows;

    if ((!c || c->bytes - c->used < bytes) && !more_chunks(k, bytes))
        return NULL;
    c = k->chunks;
    rows = (char *)c + c->used;
    c->used += (bytes + LINE - 1) / LINE * LINE;
    if (c->used > c->bytes)
        c->used = c->bytes;
    return rows;
}

/*
 * POOL(type, name, list, link): name_new() takes a row from k->list, which links through `link`,
 * or makes more; NULL: no memory.
 */
#define POOL(type, name, list, link)                                                               \
    static inline type *name##_take(struct kernels *k)                                             \
    {                                                                                              \
        type *x = k->list;                                                                         \
                                                                                                   \
        if (!x) {                                                                                  \
            x = chunk_new(k, CHUNK_ROWS * sizeof *x);                                              \
            if (!x)                                                                                \
                return NULL;                                                                       \
            for (int i = 0; i < CHUNK_ROWS; i++)                                                   \
                x[i].link = i + 1 < CHUNK_ROWS ? &x[i + 1] : NULL;                                 \
        }                                                                                          \
        k->list = x->link;                                                                         \
        return x;                                                                                  \
    }                                                                                              \
    static inline void name##_give(struct kernels *k, type *x)                                     \
    {                                                                                              \
        x->link = k->list;                                                                         \
        k->list = x;                                                                               \
    }

POOL(struct token, token, free_tokens, next_free)
POOL(struct tl_tensor, tensor, free_tensors, older)
POOL(struct tcm_block, block, free_blocks, next)
POOL(struct tl_acc, acc, free_accs, next)

void pool_free(struct kernels *k)
{
    while (k->chunks) {
        struct chunk *next = k->chunks->next;

        rows_release(k->chunks, k->chunks->bytes, 1);
        k->chunks = next;
    }
}

/* -- commands --------------------------------------------------------------------------------- */

/* Rows of commands that were never used: what their users clear when one is given back is 0. What
 * counts say is not used yet, most of the bytes of a whole one, is not touched. */
static bool more_commands(struct kernels *k, bool whole)
{
    size_t bytes = whole ? sizeof(struct command) : COMMAND_SHORT;
    char *rows = chunk_new(k, CHUNK_ROWS * bytes);

    for (int i = 0; rows && i < CHUNK_ROWS; i++) {
        struct command *c = (struct command *)(void *)(rows + (size_t)i * bytes);

        memset(c, 0, COMMAND_SHORT);
        if (whole)
            memset(c->in_hbm, 0, sizeof *c - offsetof(struct command, in_hbm));
        c->whole_row = whole;
        c->behind = k->free_commands[whole];
        k->free_commands[whole] = c;
        c->made = k->commands;
        k->commands = c;
        k->n_commands++;
    }
    return rows;
}

struct command *command_new(struct kernels *k, bool whole)
{
    struct command *c;

    if (!k->free_commands[whole] && !more_commands(k, whole))
        return NULL;
    c = k->free_commands[whole];
    k->free_commands[whole] = c->behind;
    c->live = true;
    c->reads = c->waited = c->late = c->started = c->joined = c->by_index = false;
    c->readers = 0;
    c->result = NULL;
    c->n_operands = 0;
    c->op.n_in = c->op.n_epilogues = 0;
    c->op.composite = c->op.strided = c->op.ipcq = c->op.atomic = c->op.sums = false;
    c->op.n_runs = 0;
    c->runs = NULL;
    c->to_all = false;
    c->task = TASK_PLAIN;
    return c;
}

static void drop_view(struct op_tensor *tensor)
{
    version_drop(tensor->view.v);
    tensor->view.v = NULL;
}

static void drop_runs(struct command *c)
{
    if (__builtin_expect(!c->runs, true))
        return;
    free(c->runs);
    c->runs = NULL;
    c->op.n_runs = 0;
    c->to_all = c->op.sums = false;
}

/*
 * Gives back what the command refers to, versions and dependencies, and then its row. After that
 * the bytes that it read may be freed, unless the op log has kept them for Phase 2.
 */
void command_free(struct kernels *k, struct command *c)
{
    struct op *op = &c->op;

    drop_runs(c);
    for (uint32_t i = 0; i < op->n_in; i++)
        drop_view(&op->in[i]);
    for (uint32_t e = 0; e < op->n_epilogues; e++)
        for (uint32_t i = 0; i < op->epilogue[e].n_operands; i++)
            drop_view(&op->epilogue[e].operand[i]);
    drop_view(&op->out);
    if (op->depends.n)
        op_ids_clear(&op->depends);
    c->live = false;
    c->behind = k->free_commands[c->whole_row];
    k->free_commands[c->whole_row] = c;
}

/*
 * The end of a load. The PE's next load of that shape needs another address and another result;
 * all else is in this command, and was checked. One that was kept before goes.
 */
void command_keep(struct kernels *k, struct command *c)
{
    struct command *before = c->pe->kept;

    drop_runs(c);
    drop_view(&c->op.out);
    if (c->op.depends.n)
        op_ids_clear(&c->op.depends);
    c->live = false;
    c->pe->kept = c;
    if (before)
        command_free(k, before);
}

void commands_free_all(struct kernels *k)
{
    for (struct command *c = k->commands; c; c = c->made)
        if (c->live)
            command_free(k, c);
}

const struct op *kernels_op_under_way(const struct kernels *k, uint32_t id)
{
    for (const struct command *c = k->commands; c; c = c->made)
        if (c->live && c->started && c->op.id == id)
            return &c->op;
    return NULL;
}

struct token *token_new(struct kernels *k)
{
    return token_take(k);
}

void token_free(struct kernels *k, struct token *token)
{
    token_give(k, token);
}

/* -- tensors ---------------------------------------------------------------------------------- */

struct tl_tensor *tensor_new(struct tl_ctx *pe, enum tensor_kind kind)
{
    struct tl_tensor *tensor = tensor_take(pe->kernels);

    if (!tensor)
        return NULL;
    tensor->kind = (uint8_t)kind;
    tensor->wait = WAIT_NONE;
    tensor->loads = tensor->hidden = tensor->kept = tensor->dead = tensor->viewed = false;
    tensor->persists = false;
    tensor->sliced = tensor->cut = tensor->apart = false;
    tensor->parent = NULL;
    tensor->users = 0;
    tensor->maker = tensor->made_by = OP_NONE;
    tensor->making = NULL;
    tensor->made_fs = -1;
    tensor->owner = pe->number;
    tensor->view.v = NULL;
    tensor->block = NULL;
    tensor->number = pe->tensors++;
    tensor->older = pe->newest;
    tensor->newer = NULL;
    if (tensor->older)
        tensor->older->newer = tensor;
    pe->newest = tensor;
    return tensor;
}

struct tcm_block *tcm_block_new(struct kernels *k)
{
    return block_take(k);
}

struct tl_acc *acc_row_new(struct kernels *k)
{
    return acc_take(k);
}

void acc_row_free(struct kernels *k, struct tl_acc *acc)
{
    acc_give(k, acc);
}

void tcm_blocks_begin(struct tl_ctx *pe, uint64_t tcm_bytes)
{
    pe->room = (struct tcm_block){.next = &pe->room, .before = &pe->room};
    gaps_begin(&pe->gaps, tcm_bytes);
}

void tcm_block_add(struct tl_ctx *pe, struct tcm_block *before, struct tcm_block *b)
{
    gap_take(&pe->gaps, before);
    b->before = before;
    b->next = before->next;
    before->next = b->next->before = b;
    if (b->next != &pe->room && b->next->offset > b->end)
        gap_put(&pe->gaps, b);
}

/* The range before one that is given back has a gap now, unless it is the last. */
void block_drop(struct tl_ctx *pe, struct tcm_block *b)
{
    struct tcm_block *before = b->before;

    if (--b->refs)
        return;
    gap_take(&pe->gaps, b);
    before->next = b->next;
    b->next->before = before;
    if (b->next == &pe->room)
        gap_take(&pe->gaps, before);
    else
        gap_put(&pe->gaps, before);
    block_give(pe->kernels, b);
}

void tensor_free(struct tl_ctx *pe, struct tl_tensor *tensor)
{
    if (tensor->newer)
        tensor->newer->older = tensor->older;
    else
        pe->newest = tensor->older;
    if (tensor->older)
        tensor->older->newer = tensor->newer;
    if (tensor->block)
        block_drop(pe, tensor->block);
    version_drop(tensor->view.v);
    tensor->view.v = NULL;
    tensor->kind = TENSOR_FREE;
    tensor_give(pe->kernels, tensor);
}

void tensors_free_all(struct tl_ctx *pe)
{
    while (pe->newest)
        tensor_free(pe, pe->newest);
}

/* -- memory of the host ----------------------------------------------------------------------- */

struct host_bytes {
    struct host_bytes *next;
    max_align_t bytes[];
};

void *host_bytes_new(struct tl_ctx *pe, size_t nbytes)
{
    struct host_bytes *b = nbytes < SIZE_MAX - sizeof *b ? calloc(1, sizeof *b + nbytes) : NULL;

    if (!b)
        return NULL;
    b->next = pe->host_bytes;
    pe->host_bytes = b;
    return b->bytes;
}

void host_bytes_free_all(struct tl_ctx *pe)
{
    while (pe->host_bytes) {
        struct host_bytes *next = pe->host_bytes->next;

        free(pe->host_bytes);
        pe->host_bytes = next;
    }
}
