/* rows.h -- zeroed rows on lines of the cache, and on huge pages where there are many. */
#ifndef ROWS_H
#define ROWS_H
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/*
 * `n` zeroed rows, for free(); NULL: no memory. From 2 MiB on they lie on pages of 2 MiB: else each
 * row of thousands of PEs would need an entry of the TLB to itself.
 */
static inline void *rows_new(size_t n, size_t row_bytes)
{
    size_t huge = (size_t)2 << 20, line = 64, bytes = n * row_bytes;
    size_t align = bytes < huge ? line : huge;
    void *rows;

    bytes = bytes ? (bytes + align - 1) / align * align : line;
    rows = aligned_alloc(align, bytes);
    if (!rows)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (align == huge)
        madvise(rows, bytes, MADV_HUGEPAGE); /* a hint; it may be refused */
#endif
    return memset(rows, 0, bytes);
}

/*
 * Rows on lines of the cache that grow: more of them, the first `n_old` as they were. What malloc()
 * gave is noted before the first row. NULL: no memory, and the rows stay.
 */
static inline void *lined_rows_grow(void *rows, size_t n_old, size_t n, size_t row_bytes)
{
    enum { LINE = 64 }; /* malloc() gives multiples of 16, so there is room for a pointer */
    char *had = rows ? ((char **)rows)[-1] : NULL;
    size_t shift = rows ? (size_t)((char *)rows - had) : 0;
    char *more = realloc(had, n * row_bytes + LINE), *first;

    if (!more)
        return NULL;
    first = more + LINE - (uintptr_t)more % LINE;
    if (rows && more + shift != first)
        memmove(first, more + shift, n_old * row_bytes);
    ((char **)(void *)first)[-1] = more;
    return first;
}

static inline void lined_rows_free(void *rows)
{
    if (rows)
        free(((char **)rows)[-1]);
}

#endif
