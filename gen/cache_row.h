/* cache_row.h -- the numbers of a cache of a memory: struct cache_row. */
#ifndef CACHE_ROW_H
#define CACHE_ROW_H
#include "machine/tables.h"
#include "spec.h"

/* If `spec` has a cache, slices of `kind` become it, and their memory is behind it. */
void cache_add(const struct spec *spec, struct kind_row *kind);

#endif
