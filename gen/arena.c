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
    bool alone;                /* what is in it has it for itself */
    alignas(max_align_t) char bytes[];
};

static struct arena_block *new_block(struct arena *a, size_t room, bool alone)
{
    struct arena_block *b = malloc(sizeof(*b) + room);

    if (!b)
        arena_lacks(a);
    b->older = a->blocks;
    b->alone = alone;
    a->blocks = b;
    return b;
}

void *arena_alloc(struct arena *a, size_t size)
{
    const size_t step = alignof(max_align_t);
    void *p;

    arena_pause(a);
    if (size > SIZE_MAX / 2)
        arena_lacks(a);
    size = size ? (size + step - 1) / step * step : step;
    if (size > BLOCK_BYTES)
        return memset(new_block(a, size, true)->bytes, 0, size);
    if (size > a->left) {
        a->next = new_block(a, BLOCK_BYTES, false)->bytes;
        a->left = BLOCK_BYTES;
    }
    p = a->next;
    a->next += size;
    a->left -= size;
    return memset(p, 0, size);
}

void arena_drop(struct arena *a, const void *p)
{
    for (struct arena_block **at = &a->blocks; *at; at = &(*at)->older)
        if ((*at)->alone && (*at)->bytes == p) {
            struct arena_block *b = *at;

            *at = b->older;
            free(b);
            return;
        }
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
