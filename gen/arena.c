/* arena.c -- memory of one machine in the making, which is freed in one go. */
#include "arena.h"
#include "base/text.h"
#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 64 * 1024 };

struct arena_block {
    struct arena_block *older; /* owned */
    alignas(max_align_t) char bytes[];
};

static void grow(struct arena *a, size_t size)
{
    size_t room = size > BLOCK_BYTES ? size : BLOCK_BYTES;
    struct arena_block *b = malloc(sizeof(*b) + room);

    if (!b)
        arena_lacks(a);
    b->older = a->blocks;
    a->blocks = b;
    a->next = b->bytes;
    a->left = room;
}

void *arena_alloc(struct arena *a, size_t size)
{
    const size_t step = alignof(max_align_t);
    void *p;

    arena_pause(a);
    if (size > SIZE_MAX / 2)
        arena_lacks(a);
    size = size ? (size + step - 1) / step * step : step;
    if (size > a->left)
        grow(a, size);
    p = a->next;
    a->next += size;
    a->left -= size;
    return memset(p, 0, size);
}

char *arena_copy(struct arena *a, const char *text, size_t len)
{
    char *copy = arena_alloc(a, len + 1);

    memcpy(copy, text, len);
    return copy;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list args;
    char *text;
    int len;

    va_start(args, fmt);
    len = text_vformat(NULL, 0, fmt, args);
    va_end(args);
    if (len < 0)
        arena_lacks(a);
    text = arena_alloc(a, (size_t)len + 1);
    va_start(args, fmt);
    text_vformat(text, (size_t)len + 1, fmt, args);
    va_end(args);
    return text;
}

void arena_lacks(const struct arena *a)
{
    longjmp(*a->without, ARENA_LACKS);
}

void arena_pause(const struct arena *a)
{
    if (a->stop && a->stop(a->stop_arg))
        longjmp(*a->without, ARENA_ENDS);
}

void arena_release(struct arena *a)
{
    while (a->blocks) {
        struct arena_block *b = a->blocks;

        a->blocks = b->older;
        free(b);
    }
    *a = (struct arena){0};
}
