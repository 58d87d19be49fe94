/* packed.c -- bytes that grow, for what goes from one process to another of the same program. */
#include "base/packed.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM_BYTES = 4096 };

void packed_put(struct packed *p, const void *bytes, size_t n)
{
    if (p->n + n > p->room) {
        size_t room = 2 * (p->n + n) + ROOM_BYTES;
        char *more = p->lost ? NULL : realloc(p->bytes, room);

        if (!more) {
            p->lost = true;
            return;
        }
        p->bytes = more;
        p->room = room;
    }
    if (n > 0)
        memcpy(p->bytes + p->n, bytes, n);
    p->n += n;
}

const char *packed_next(struct packed *p, size_t n)
{
    const char *bytes = p->bytes + p->at;

    p->lost = p->lost || n > p->n - p->at;
    if (p->lost)
        return NULL;
    p->at += n;
    return bytes;
}

void packed_take(struct packed *p, void *bytes, size_t n)
{
    const char *from = packed_next(p, n);

    if (!from)
        memset(bytes, 0, n);
    else if (n > 0)
        memcpy(bytes, from, n);
}

void packed_put_text(struct packed *p, const char *text)
{
    size_t n = text ? strlen(text) + 1 : 0;

    PACKED_PUT(p, n);
    packed_put(p, text, n);
}

char *packed_take_text(struct packed *p)
{
    const char *bytes;
    char *text;
    size_t n;

    PACKED_TAKE(p, n);
    bytes = n > 0 ? packed_next(p, n) : NULL;
    text = bytes ? malloc(n) : NULL;
    if (text)
        memcpy(text, bytes, n);
    p->lost = p->lost || (n > 0 && !text);
    return text;
}

void packed_free(struct packed *p)
{
    free(p->bytes);
    *p = (struct packed){0};
}
