/* persist.c -- tensors that a PE keeps from one launch to the next, by name.
 *
 * While a kernel runs, what is kept is a tensor like others; a row has its name. As the kernel ends
 * the row takes over what a later tensor needs: type, shape, version and the range of the TCM,
 * which stays taken, whether a launch asks for it or not. tl_persisted() makes a tensor of the row
 * again, the first time in a launch.
 *
 * Example: launch 0 loads weights and keeps them as "w"; launch 1 has something else in the rest of
 * the TCM; launch 2 asks for "w" and multiplies by it. The bytes moved once.
 */
#include "kernels/persist.h"
#include "kernels/pool.h"
#include <stdlib.h>
#include <string.h>

struct persisted {
    struct persisted *next;
    struct tl_tensor *tensor; /* of this launch; NULL: none, and what follows is its content */
    uint8_t dtype;
    uint32_t maker;
    uint64_t address, nbytes;
    struct view view;        /* owned */
    struct tcm_block *block; /* a reference is owned */
    struct dims shape;
    char name[];
};

struct persisted *persist_find(struct tl_ctx *pe, const char *name)
{
    struct persisted *p = pe->persisted;

    while (p && strcmp(p->name, name) != 0)
        p = p->next;
    return p;
}

/* For the message of a call that gets NULL in place of it. Without memory nothing is noted. */
void persist_note_absent(struct tl_ctx *pe, const char *name)
{
    free(pe->not_kept);
    pe->not_kept = strdup(name);
}

/* Lets go of what it is of. */
static void let_go_of(struct tl_ctx *pe, struct persisted *p)
{
    if (p->tensor) {
        p->tensor->persists = false;
    } else {
        version_drop(p->view.v);
        block_drop(pe, p->block);
    }
}

static void drop(struct tl_ctx *pe, struct persisted **link)
{
    struct persisted *p = *link;

    *link = p->next;
    let_go_of(pe, p);
    free(p);
}

void persist_forget(struct tl_ctx *pe, const struct tl_tensor *tensor)
{
    struct persisted **link = &pe->persisted;

    while (*link && (*link)->tensor != tensor)
        link = &(*link)->next;
    if (*link)
        drop(pe, link);
}

bool persist_keep(struct tl_ctx *pe, const char *name, struct tl_tensor *tensor)
{
    struct persisted *p;

    if (tensor->persists)
        persist_forget(pe, tensor);
    p = persist_find(pe, name);
    if (p) {
        let_go_of(pe, p);
    } else {
        p = calloc(1, sizeof *p + strlen(name) + 1);
        if (!p)
            return false;
        strcpy(p->name, name);
        p->next = pe->persisted;
        pe->persisted = p;
    }
    p->tensor = tensor;
    tensor->persists = true;
    return true;
}

struct tl_tensor *persist_tensor(struct tl_ctx *pe, struct persisted *p)
{
    struct tl_tensor *tensor = p->tensor;

    if (tensor)
        return tensor;
    tensor = tensor_new(pe, TENSOR_VALUE);
    if (!tensor)
        return NULL;
    tensor->dtype = p->dtype;
    tensor->space = SPACE_TCM;
    tensor->maker = p->maker;
    tensor->address = p->address;
    tensor->nbytes = p->nbytes;
    tensor->shape = p->shape;
    tensor->view = p->view;
    tensor->block = p->block;
    tensor->persists = true;
    p->tensor = tensor;
    return tensor;
}

void persist_end(struct tl_ctx *pe)
{
    for (struct persisted *p = pe->persisted; p; p = p->next) {
        const struct tl_tensor *tensor = p->tensor;

        if (!tensor)
            continue;
        p->dtype = tensor->dtype;
        p->maker = tensor->maker;
        p->address = tensor->address;
        p->nbytes = tensor->nbytes;
        p->shape = tensor->shape;
        p->view = tensor->view;
        version_keep(p->view.v);
        p->block = tensor->block;
        p->block->refs++;
        p->tensor = NULL;
    }
}

bool persist_show(struct tl_ctx *pe)
{
    for (const struct persisted *p = pe->persisted; p; p = p->next)
        if (mem_write(pe->kernels->mem, pe->tcm, p->address, p->nbytes, p->view, p->maker) !=
            MEM_OK)
            return false;
    return true;
}

void persist_free_all(struct tl_ctx *pe)
{
    while (pe->persisted)
        drop(pe, &pe->persisted);
    free(pe->not_kept);
    pe->not_kept = NULL;
}
