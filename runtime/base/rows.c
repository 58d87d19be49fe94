/* rows.c -- rows that grow: by the million they lie on pages of 2 MiB, and are moved without a
 * copy.
 *
 * A row that is added is written once. On small pages most of the time of that is the system's,
 * which has to clear a page for every 70 rows; 56 MB are 14,000 pages, or 28 large ones. malloc()
 * does not say where its memory lies on a large page, and realloc() then moves small ones. So rows
 * of 256 KiB and more have a mapping of their own that begins where a large page does, and mremap()
 * moves it page by page. From 2 MiB on the pages are large ones.
 *
 * Fewer rows come from malloc(), and each move leaves a hole in the heap. What is allocated later
 * may fit into it or be a few bytes too large for it, which depends on such things as the length of
 * a path. With 256 KiB as the most, such holes are small ones.
 *
 * Measured, a million rows of 56 bytes: one by one 35 ns a row with realloc(), 14 ns so.
 */
#include "base/rows.h"
#include "base/shelf.h"
#include <stdint.h>

/* Fewer bytes are cleared in less time than the system takes to map them. */
enum { OWN_LEAST = 1 << 18 };

static size_t in_pages(size_t bytes)
{
    return (bytes + ROWS_PAGE - 1) / ROWS_PAGE * ROWS_PAGE;
}

/* Address space from the begin of a large page on, of which nothing is used yet. NULL: there is
 * none. */
static char *map(size_t bytes)
{
    size_t all = bytes + ROWS_PAGE, before;
    char *at = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        return NULL;
    before = in_pages((uintptr_t)at) - (uintptr_t)at;
    if (before)
        munmap(at, before);
    if (before < ROWS_PAGE)
        munmap(at + before + bytes, ROWS_PAGE - before);
    return at + before;
}

/* Fewer bytes would leave the most of a large page empty. */
static void advise_large(void *rows, size_t bytes)
{
    if (bytes > ROWS_PAGE)
        rows_advise(rows, bytes);
}

/* Rows of the heap, or none, into a mapping of their own. */
static void *move_out(void *rows, size_t bytes, size_t more)
{
    char *to = shelf_take(more, false);

    if (!to) {
        to = map(more);
        if (!to)
            return NULL;
        advise_large(to, more);
    }
    if (bytes)
        memcpy(to, rows, bytes);
    free(rows);
    return to;
}

/* Rows of a mapping into a larger one, or the same. */
static void *move_pages(void *rows, size_t bytes, size_t more)
{
    char *to = bytes < more ? map(more) : rows;

    if (to && to != rows &&
        mremap(rows, bytes, more, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED) {
        munmap(to, more);
        return NULL;
    }
    if (to && to != rows)
        advise_large(to, more);
    return to;
}

/* Rows of the heap to another place there, on lines of the cache. */
static void *move_lines(void *rows, size_t bytes, size_t more)
{
    enum { LINE = 64 };
    void *to = aligned_alloc(LINE, (more + LINE - 1) / LINE * LINE);

    if (!to)
        return NULL;
    if (bytes)
        memcpy(to, rows, bytes);
    free(rows);
    return to;
}

void *rows_resize(void *rows, size_t n, size_t more, size_t row_bytes)
{
    size_t bytes = n * row_bytes, wanted = more * row_bytes;

    if (wanted < OWN_LEAST)
        return move_lines(rows, bytes, wanted);
    return bytes < OWN_LEAST ? move_out(rows, bytes, in_pages(wanted))
                             : move_pages(rows, in_pages(bytes), in_pages(wanted));
}

void rows_release(void *rows, size_t n, size_t row_bytes)
{
    if (n * row_bytes < OWN_LEAST)
        free(rows);
    else
        shelf_put(rows, in_pages(n * row_bytes), SHELF_ANY);
}

/* -- reserved rows --------------------------------------------------------------------------- */

void *rows_reserve(size_t n, size_t row_bytes)
{
    size_t bytes = n * row_bytes;
    void *kept;

    if (bytes < OWN_LEAST)
        return rows_new(n, row_bytes);
    kept = shelf_take(in_pages(bytes), true);
    return kept ? kept : map(in_pages(bytes));
}

void rows_use_all(void *rows, size_t n, size_t row_bytes)
{
    if (n * row_bytes >= ROWS_PAGE)
        rows_advise(rows, in_pages(n * row_bytes));
}

void rows_unreserve(void *rows, size_t n, size_t row_bytes, enum rows_left left)
{
    if (!rows || n * row_bytes < OWN_LEAST)
        free(rows);
    else if (left ==
             ROWS_LARGE) /* where one row is used next, no large page is to be cleared for it */
        munmap(rows, in_pages(n * row_bytes));
    else
        shelf_put(rows, in_pages(n * row_bytes), left == ROWS_ZERO ? SHELF_ZERO : SHELF_TO_ZERO);
}

/* -- memory for free() ------------------------------------------------------------------------ */

enum { ROOM_FIRST = 8 };

static char *rows_at(const void *rows)
{
    char *at;

    memcpy(&at, rows, sizeof at);
    return at;
}

bool rows_widen(void *rows, size_t had, size_t n, size_t row_bytes)
{
    char *moved = realloc(rows_at(rows), n * row_bytes);

    if (!moved)
        return false;
    memset(moved + had * row_bytes, 0, (n - had) * row_bytes);
    memcpy(rows, &moved, sizeof moved);
    return true;
}

bool rows_more(void *rows, uint32_t *room, size_t n, size_t row_bytes)
{
    size_t more = *room ? *room : ROOM_FIRST;

    while (more < n)
        more *= 2;
    if (more > UINT32_MAX || !rows_widen(rows, *room, more, row_bytes))
        return false;
    *room = (uint32_t)more;
    return true;
}

bool ring_grow(void *rows, uint32_t *room, uint32_t first, uint32_t n, size_t row_bytes)
{
    uint32_t more = *room ? 2 * *room : ROOM_FIRST;
    char *from = rows_at(rows), *to = calloc(more, row_bytes);

    if (!to)
        return false;
    for (uint32_t i = first; i != first + n; i++)
        memcpy(to + (i & (more - 1)) * row_bytes, from + (i & (*room - 1)) * row_bytes, row_bytes);
    free(from);
    memcpy(rows, &to, sizeof to);
    *room = more;
    return true;
}
