/* pair.c -- hbm_ctrl with `model: pair`, for own_box.sh: two servers, in order of arrival.
 *
 * It holds        two transactions at most; others wait in the order in which they came
 * For how long    overhead, latency and the drain of the route
 * Goes first      the one that came first, at the server that is free first
 * Wait counted    queue_memory = end - arrival - what it takes alone
 */
#include "network/server.h"
#include <stdlib.h>

/* Of one memory. */
struct pair {
    uint64_t free_fs[2];
};

static bool begin(struct kb_sim *s)
{
    s->pair = calloc((size_t)sim_cubes(s->topo) << s->topo->unit_bits, sizeof *s->pair);
    return s->pair;
}

static void end(struct kb_sim *s)
{
    free(s->pair);
}

static void clear(struct kb_sim *s, uint32_t dst)
{
    s->pair[dst] = (struct pair){{0, 0}};
}

static void arrive(struct kb_sim *s, int how, uint64_t t, uint32_t slot,
                   const struct delivery *part)
{
    uint64_t *free_fs = s->pair[s->txns[slot].dst].free_fs;
    uint64_t *next = &free_fs[free_fs[1] < free_fs[0]];

    (void)how, (void)part;
    *next = after(*next > t ? *next : t, s->txns[slot].hold_fs);
    serving_end(s, *next, slot);
}

static void wake(struct kb_sim *s, int how, uint64_t t, uint32_t dst)
{
    (void)s, (void)how, (void)t, (void)dst; /* all ends are known at once */
}

const struct memory_server pair_server = {
    .begin = begin, .end = end, .clear = clear, .arrive = arrive, .wake = wake};
