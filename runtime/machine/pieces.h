/* pieces.h -- bytes of a memory, piece by piece: of a tile, or those that a cache asks for.
 *
 * Example: pieces of 64 bytes at 0 and at 64, lines of 128: the walk has line 0 once, of which 128
 * bytes are wanted.
 */
#ifndef PIECES_H
#define PIECES_H
#include "machine/tile.h"

/* A list in its own order; `at` counts from the begin of the memory. */
struct pieces {
    uint32_t n, cap;
    struct run of[];
};

/* One more, joined to the last one if it touches that. `*list` is made if it is NULL. False without
 * memory; free() gives a list back. */
bool pieces_add(struct pieces **list, uint64_t at, uint64_t nbytes);

/* The lines of 2^bits bytes of `n` pieces, in order; one that two neighbours share is one. */
struct lines_walk {
    const struct run *of;
    uint32_t n;
    unsigned bits;
    uint64_t at; /* of[0]: where the next line begins */
};

static inline struct lines_walk lines_walk(const struct run *of, uint32_t n, unsigned bits)
{
    return (struct lines_walk){of, n, bits, of->at};
}

/* The next line, and how many bytes of the pieces are in it. False: there is none. */
static inline bool lines_next(struct lines_walk *w, uint64_t *number, uint64_t *bytes)
{
    if (!w->n)
        return false;
    *number = w->at >> w->bits;
    *bytes = 0;
    while (w->n && w->at >> w->bits == *number) {
        uint64_t line_end = (*number + 1) << w->bits, end = w->of->at + w->of->nbytes;

        *bytes += (line_end < end ? line_end : end) - w->at;
        w->at = line_end;
        if (end > line_end)
            return true;
        w->n--;
        w->of++;
        w->at = w->n ? w->of->at : 0;
    }
    return true;
}

/* What a memory moves for pieces: whole blocks. All zero: nothing. */
struct moved {
    uint64_t bytes; /* of its blocks */
    uint64_t block; /* the last one + 1 */
    uint64_t all;   /* of the pieces */
};

/* One more piece, of a memory that moves blocks of `access` bytes, 0: bytes. A block that it shares
 * with the piece before is moved once. */
static inline void moved_add(struct moved *m, uint64_t access, uint64_t at, uint64_t nbytes)
{
    uint64_t first, end;

    m->all += nbytes;
    if (!access) {
        m->bytes += nbytes;
        return;
    }
    first = at / access;
    end = (at + nbytes - 1) / access + 1;
    m->bytes += (end - first - (m->block == first + 1)) * access;
    m->block = end;
}

#endif
