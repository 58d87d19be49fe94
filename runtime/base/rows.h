/* rows.h -- rows of memory: on lines of the cache, and on large pages where there are many. */
#ifndef ROWS_H
#define ROWS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ROWS_PAGE = 2 << 20 }; /* a large page */

/* A hint, which may be refused: `rows` lie on large pages, from the begin of one on. */
static inline void rows_advise(void *rows, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    madvise(rows, bytes, MADV_HUGEPAGE);
#else
    (void)rows, (void)bytes;
#endif
}

/*
 * Room for `more` rows in place of `n`, as many or fewer (0: `rows` is NULL), which are kept; what
 * is behind them is not defined. The first begins on a line of the cache. For rows_release(). NULL:
 * no memory, and `rows` are as they were.
 */
void *rows_resize(void *rows, size_t n, size_t more, size_t row_bytes);
void rows_release(void *rows, size_t n, size_t row_bytes);

/*
 * `n` zeroed rows, for rows_unreserve(), of which only what is used takes memory and time; NULL: no
 * memory. rows_use_all(): all of them are going to be used, so large pages pay. rows_unreserve() is
 * told what it takes back: rows that may have changed, rows on large pages, or rows that are 0
 * again. The last are the cheapest to reserve again, as they keep the pages that were used.
 */
enum rows_left { ROWS_CHANGED, ROWS_LARGE, ROWS_ZERO };
void *rows_reserve(size_t n, size_t row_bytes);
void rows_use_all(void *rows, size_t n, size_t row_bytes);
void rows_unreserve(void *rows, size_t n, size_t row_bytes, enum rows_left left);

/*
 * Of memory for free(). `rows` is the address of the pointer to it, which may be NULL. Each says
 * false without memory, and then nothing has changed.
 *
 * rows_widen() gives `n` rows in place of `had`, and zeroes those behind them.
 *
 * rows_grow() gives room for `n` rows at least, doubled while that is less. rows_more() is its part
 * that is rare.
 *
 * ring_grow() doubles the room of a ring, a power of two. Of the `n` rows from `first` on, row i
 * stays at i modulo the room.
 */
bool rows_widen(void *rows, size_t had, size_t n, size_t row_bytes);
bool rows_more(void *rows, uint32_t *room, size_t n, size_t row_bytes);
static inline bool rows_grow(void *rows, uint32_t *room, size_t n, size_t row_bytes)
{
    return n <= *room || rows_more(rows, room, n, row_bytes);
}
bool ring_grow(void *rows, uint32_t *room, uint32_t first, uint32_t n, size_t row_bytes);

/*
 * `n` zeroed rows, for free(); NULL: no memory. From 2 MiB on they lie on pages of 2 MiB: else each
 * row of thousands of PEs would need an entry of the TLB to itself.
 */
static inline void *rows_new(size_t n, size_t row_bytes)
{
    size_t line = 64, bytes = n * row_bytes;
    size_t align = bytes < ROWS_PAGE ? line : ROWS_PAGE;
    void *rows;

    bytes = bytes ? (bytes + align - 1) / align * align : line;
    rows = aligned_alloc(align, bytes);
    if (!rows)
        return NULL;
    if (align == ROWS_PAGE)
        rows_advise(rows, bytes);
    return memset(rows, 0, bytes);
}

#endif
