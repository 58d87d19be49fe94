/* warn.c -- what stderr says about a result that is not what it seems. */
#include "warn.h"
#include <stdio.h>
#include <string.h>

/* Edges that carried more than they could have, and the worst of them. */
struct overload {
    uint64_t n;
    double worst_pct; /* of what the edge can carry: 100 is all */
    char name[KB_PLACE_BYTES];
};

static void add_link(void *arg, const kb_use *use)
{
    struct overload *o = arg;

    if (use->kind != KB_AT_LINK || !(use->util_pct > 100))
        return;
    o->n++;
    if (use->util_pct > o->worst_pct) {
        o->worst_pct = use->util_pct;
        memcpy(o->name, use->name, sizeof o->name);
    }
}

void warn_of_ideal_links(const struct cli *cli, const kb_sim *sim)
{
    struct overload o = {0};

    if (strcmp(cli->info.links, "ideal") != 0 || kb_sim_usage(sim, add_link, &o) != KB_OK ||
        o.n == 0)
        return;
    fprintf(stderr,
            "warning: links are ideal, but %llu of them carried more than their bandwidth allows "
            "(worst: %s, %.1f %%): the result is optimistic; 'contention: {links: fifo}' "
            "would tell\n",
            (unsigned long long)o.n, o.name, o.worst_pct);
}
