/* rows.h -- zeroed rows on lines of the cache, and on huge pages where there are many. */
#ifndef ROWS_H
#define ROWS_H
#include <stddef.h>
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

#endif
