/* series.h -- which links a key stands for, how busy they are, and where two keys meet on a way. */
#ifndef SERIES_H
#define SERIES_H
#include "kernbench.h"
#include <stdbool.h>
#include <stddef.h>

/* The links of the machine as it is, and how busy they were. */
struct series {
    const kb_topology *topo;
    struct series_link *links; /* owned; in the order of kb_edges() */
    size_t n, room;
    struct series_link **by_ends; /* owned; the same, sorted by their ends */
};

/* The links whose bandwidth a key changes. */
struct series_key {
    uint8_t *has; /* owned; [link]; NULL: none */
    double busiest_pct;
};

void series_begin(struct series *s, const kb_topology *topo);
void series_free(struct series *s);

/* Takes the utilization of the links from a simulation that has ended. */
kb_status series_look(struct series *s, const kb_sim *sim);

/* What is different on `better`, a machine of the same shape. Give back its `has` with free(). */
void series_key(const struct series *s, const kb_topology *better, struct series_key *out);

enum {
    SERIES_NODE_BYTES = 80,
    SERIES_NAME_BYTES = 2 * SERIES_NODE_BYTES + 3, /* two nodes, and " > " */
};

/*
 * The busiest place where a link of `a` and one of `b` follow each other, "c1 > c2" or "c0.noc >
 * c0.xbar.pe1", in `name`. False: there is none that was used.
 */
bool series_meet(const struct series *s, const struct series_key *a, const struct series_key *b,
                 char name[SERIES_NAME_BYTES]);

#endif
