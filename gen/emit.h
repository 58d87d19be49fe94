/* emit.h -- writes a topology as m4 definitions, which the templates turn into C. */
#ifndef EMIT_H
#define EMIT_H
#include <stdio.h>
#include "routes.h"

/* Writes all definitions to `out`; `input` is the YAML's name without folders. False if `out`
 * failed. */
bool emit(const struct routes *r, const char *input, FILE *out);

#endif
