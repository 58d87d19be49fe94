/*
 * failing.h -- malloc and its kin, which fail when a test wants it and count what is given back.
 *
 * For one file of a test that names all of them in its link: see test_no_memory.c.
 */
#ifndef FAILING_H
#define FAILING_H
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* By --wrap the linker leads every call of the program's own objects here. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
void __real_free(void *p);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);
void __wrap_free(void *p);

static uint64_t blocks_left = UINT64_MAX; /* allocations that succeed */
static bool fails_once;                   /* the next one does again */
static int64_t owned;                     /* blocks not given back */
static int64_t most_owned;                /* of them, so far */

static bool fails(void)
{
    if (blocks_left == UINT64_MAX)
        return false;
    if (blocks_left == 0) {
        errno = ENOMEM;
        blocks_left = fails_once ? UINT64_MAX : 0;
        return true;
    }
    blocks_left--;
    return false;
}

static void *counted(void *p)
{
    owned += p != NULL;
    most_owned = owned > most_owned ? owned : most_owned;
    return p;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : counted(__real_calloc(n, size));
}

void *__wrap_realloc(void *old, size_t size)
{
    void *p = fails() ? NULL : __real_realloc(old, size);

    owned += p && !old;
    most_owned = owned > most_owned ? owned : most_owned;
    return p;
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
    return fails() ? NULL : counted(__real_aligned_alloc(align, size));
}

void __wrap_free(void *p)
{
    owned -= p != NULL;
    __real_free(p);
}

#endif
