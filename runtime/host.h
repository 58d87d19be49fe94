/* host.h -- stub */
#ifndef HOST_H
#define HOST_H
#include "sim.h"
#include "mem.h"
#include <stdlib.h>
struct host {
    struct mem *mem;
};
static inline void host_free(struct host *h)
{
    if (h) {
        mem_free(h->mem);
        free(h);
    }
}
static inline struct mem *host_mem(struct kb_sim *s)
{
    if (!s->host) {
        s->host = calloc(1, sizeof *s->host);
        s->host->mem = mem_new(sim_cubes(s->topo) << s->topo->unit_bits);
    }
    return s->host->mem;
}
#endif
