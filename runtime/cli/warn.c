/* warn.c -- what stderr says about a result that is not what it seems. */
#include "warn.h"
#include <stdio.h>
#include <string.h>

/* Edges that carried more than they could have, and the worst of them. */
struct overload {
    int64_t end_fs;
    uint64_t n;
    double worst; /* of what the edge can carry: 1.0 is all */
    char from[KB_NODE_BYTES], to[KB_NODE_BYTES];
};

static void add_edge(void *arg, const kb_edge_use *use)
{
    struct overload *o = arg;
    double carried = (double)use->bytes * 1e6 / (use->gbs * (double)o->end_fs);

    if (!(carried > 1))
        return;
    o->n++;
    if (carried > o->worst) {
        o->worst = carried;
        memcpy(o->from, use->from, sizeof o->from);
        memcpy(o->to, use->to, sizeof o->to);
    }
}

void warn_of_ideal_links(const struct cli *cli, const kb_sim *sim)
{
    struct overload o = {.end_fs = kb_sim_end_fs(sim)};

    if (strcmp(cli->info.links, "ideal") != 0 || o.end_fs <= 0 ||
        kb_sim_edges(sim, add_edge, &o) != KB_OK || o.n == 0)
        return;
    fprintf(stderr,
            "warning: links are ideal, but %llu of them carried more than their bandwidth allows "
            "(worst: %s -> %s, %.1f %%): the result is optimistic; 'contention: {links: fifo}' "
            "would tell\n",
            (unsigned long long)o.n, o.from, o.to, 100 * o.worst);
}
