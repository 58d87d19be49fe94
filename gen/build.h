/* build.h -- a machine made in memory, from its YAML and what is set: for kbgen and the library. */
#ifndef BUILD_H
#define BUILD_H
#include "arena.h"
#include "diag.h"
#include "routes.h"
#include "spec.h"

/* What a machine is made from. All is borrowed until it is made. */
struct source {
    const struct spec *base; /* what sets change; must outlive the call. NULL: a YAML has it */
    const char *file;        /* the path of that, or with `text` what messages call it */
    const char *text;        /* `len` bytes; NULL: they are read from `file` */
    size_t len;
    const char *const *sets; /* KEY=VALUE, in this order */
    size_t n_sets;
    const char *const *better; /* numbers that are made better, see better.h */
    size_t n_better;
    double factor;
};

/* A machine in the making. All zero except for `diag` before it begins. */
struct build {
    struct arena arena; /* all below is its, and the tables */
    struct diag diag;
    struct spec spec;
    struct routes routes;
    bool ended; /* before it was made: arena.stop() */
};

/*
 * The file and what is set into the spec, all of it even after a mistake, then the checks. False
 * after messages.
 */
bool build_read(struct build *b, const struct source *from);

/* The tables of what was read: routes.topo is the machine. False after messages. */
bool build_tables(struct build *b);

/* Both, as a step of build_guarded(). */
void build_all(struct build *b, void *source);

/* `step`, from which memory that lacks, or work that is to end (b->ended), leads back here: false
 * then, and nothing is left open. */
bool build_guarded(struct build *b, void (*step)(struct build *b, void *arg), void *arg);

#endif
