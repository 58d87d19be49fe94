/* provenance.h -- what a result, or a file of a cache, was made of: one record for all of them. */
#ifndef PROVENANCE_H
#define PROVENANCE_H
#include "base/digest.h"

/*
 * The parts, each with what it is called where it differs. The machine is its resolved YAML; the
 * components are those of the machine, so their hash has the machine in it, too.
 */
#define PROVENANCE_PARTS(PART)                                                                     \
    PART(MACHINE, machine)                                                                         \
    PART(COMPONENTS, components)                                                                   \
    PART(BENCH, bench) /* the object's bytes */                                                    \
    PART(INPUTS, inputs)                                                                           \
    PART(COMMAND, command)                                                                         \
    PART(PROGRAM, program)                                                                         \
    PART(COMPILER, compiler)

enum provenance_part {
#define PART(NAME, name) PROVENANCE_##NAME,
    PROVENANCE_PARTS(PART)
#undef PART
        N_PROVENANCE
};

/* A digest for each part; "": there is no such thing. All zero is no record. */
struct provenance {
    char of[N_PROVENANCE][DIGEST_CHARS + 1];
};

enum { PROVENANCE_BYTES = N_PROVENANCE * (DIGEST_CHARS + 16), PROVENANCE_NAMES_BYTES = 128 };

/* One line, "machine=0a1b... bench=- ...": all parts in their order. */
void provenance_write(const struct provenance *p, char text[PROVENANCE_BYTES]);

/* False: `text` is no such line, and `p` no record. */
bool provenance_read(const char *text, struct provenance *p);

/* A bit for each part in which they differ; 0: they are equal. */
unsigned provenance_differs(const struct provenance *a, const struct provenance *b);

/* The names of these parts: "machine, bench and program". */
void provenance_names(unsigned parts, char text[PROVENANCE_NAMES_BYTES]);

#endif
