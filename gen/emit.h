/* emit.h -- writes a topology as m4 definitions, which the templates turn into C. */
#ifndef EMIT_H
#define EMIT_H
#include <stdio.h>
#include "route.h"

/* What is emitted beside the tables. */
struct emit_head {
    const char *input;  /* the YAML's name without folders */
    const char *config; /* the resolved YAML */
    const char *hash;   /* its xxHash64, 16 hexadecimal digits */
};

/* Writes all definitions to `out`; false if `out` failed. */
bool emit(const struct routes *r, const struct emit_head *head, FILE *out);

#endif
