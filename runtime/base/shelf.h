/*
 * shelf.h -- mappings that are not in use any more, kept for the next caller that maps as much.
 *
 * A process that makes one simulation after the other asks the system for the same mappings again
 * and again, and most of the time of a small run is then the system's: it clears pages, and makes
 * and drops tables of pages. So a mapping that is given back stays, up to SHELF_BYTES in all, and
 * the oldest go when there are more. Rows whose contents are not defined keep their pages, which
 * are not cleared again; of rows that have to be zero only the address space is kept, and the
 * tables of its pages. All threads have one shelf.
 */
#ifndef SHELF_H
#define SHELF_H
#include <stdbool.h>
#include <stddef.h>

enum { SHELF_PLACES = 64, SHELF_BYTES = 128 << 20 };

/* A mapping of just so many bytes; `zeroed`: all of them are 0. NULL: none is kept. */
void *shelf_take(size_t bytes, bool zeroed);

/* Takes a mapping, to be kept or unmapped: its contents are of no use, or they are all 0, or they
 * are dropped so that they are. */
enum shelf_contents { SHELF_ANY, SHELF_ZERO, SHELF_TO_ZERO };
void shelf_put(void *at, size_t bytes, enum shelf_contents contents);

/* Unmaps all that is kept. So does the unloading of the library. */
void shelf_clear(void);

#endif
