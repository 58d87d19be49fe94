/* flow.c -- the counters of traffic by route, made, cleared and freed. */
#include "engine/flow.h"
#include <stdlib.h>
#include <string.h>

enum { N_FLOW_TABLES = sizeof(struct flows) / sizeof(struct flow *) };

/* Table `i` of `f`, in the order of the struct, and its rows. */
static struct flow **table(struct flows *f, const struct kb_topology *t, uint32_t i, size_t *n)
{
    size_t cubes = sim_cubes(t), pes = cubes << t->pe_bits;
    struct flow **tables[N_FLOW_TABLES] = {&f->local, &f->out, &f->turn, &f->in, &f->host};
    size_t rows[N_FLOW_TABLES] = {pes * t->n_units, pes * N_ROW_WAYS,
                                  cubes * N_ROW_WAYS * N_COL_WAYS, cubes * t->n_units * N_COL_WAYS,
                                  cubes * t->n_units};

    *n = rows[i];
    return tables[i];
}

bool flows_init(struct flows *f, const struct kb_topology *t)
{
    for (uint32_t i = 0; i < N_FLOW_TABLES; i++) {
        size_t n;
        struct flow **rows = table(f, t, i, &n);

        *rows = calloc(n, sizeof **rows);
        if (!*rows)
            return false;
    }
    return true;
}

void flows_clear(struct flows *f, const struct kb_topology *t)
{
    for (uint32_t i = 0; i < N_FLOW_TABLES; i++) {
        size_t n;
        struct flow **rows = table(f, t, i, &n);

        memset(*rows, 0, n * sizeof **rows);
    }
}

void flows_free(struct flows *f)
{
    free(f->local);
    free(f->out);
    free(f->turn);
    free(f->in);
    free(f->host);
}
