/* emit_parts.h -- what the files that write m4 definitions share. */
#ifndef GEN_EMIT_PARTS_H
#define GEN_EMIT_PARTS_H
#include "base/text.h"
#include "nodes.h"

#define LENGTH(a) (sizeof(a) / sizeof *(a))

/* The shortest decimal that reads back equal, as a C constant. */
const char *emit_real(double x, char text[TEXT_DOUBLE_BYTES]);

void emit_define(FILE *out, const char *name, const char *value);

void emit_define_int(FILE *out, const char *name, uint64_t value);

/* A table is a macro that applies its argument to every row. Its rows are printed between these
 * calls. */
void emit_begin_map(FILE *out, const char *name);

void emit_end_map(FILE *out);

void emit_kinds(FILE *out, const struct routes *r);

/* Each number as a macro, for topo.h, and the initialiser of struct kb_topology. */
void emit_fields(FILE *out, const struct kb_topology *t);

/* A side of a mesh has a name, a port of a net its number.  emit_ways.c, as are those below */
const char *emit_exit_name(const struct routes *r, uint32_t exit);

/* Planes and the sides of IO chiplets; what is there and where routes lead; which nodes are
 * routers. */
void emit_planes(FILE *out, const struct routes *r);
void emit_gaps(FILE *out, const struct routes *r);
void emit_stops(FILE *out, const struct routes *r);

#endif
