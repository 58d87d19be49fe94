/* endpoint_names.h -- the names of endpoints, each made once and kept. */
#ifndef ENDPOINT_NAMES_H
#define ENDPOINT_NAMES_H
#include "kernbench.h"

struct endpoint_name;

/* All zero: none yet. */
struct endpoint_names {
    struct endpoint_name *slots; /* owned, the names too; by their hash */
    size_t n, n_slots;           /* the latter a power of two */
};

/* "c0.pe3"; it stays until endpoint_names_free(). */
const char *endpoint_names_find(struct endpoint_names *names, const kb_endpoint *end);
void endpoint_names_free(struct endpoint_names *names);

#endif
