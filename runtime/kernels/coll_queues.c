/* coll_queues.c -- queues that a member of a collective has, and the room for them. */
#include "base/larger.h"
#include "kernels/coll.h"

uint64_t coll_tcm_bytes(const struct coll *c)
{
    return kb_memory_bytes(tl_topology(c->tl), &(kb_endpoint){.kind = KB_TCM});
}

/* A parent and two children in each of two trees. */
enum { KIN_MOST = 6 };

/* How many send to a member. */
static int64_t senders(const struct coll *c)
{
    int64_t n = c->group.n, of_tree = 0;

    for (int64_t by = 1; by < n; by *= 2)
        of_tree++;
    if (c->direct && !c->writes)
        return n - 1;
    if (c->halves)
        return smaller(n - 1, KIN_MOST);
    return c->writes || (c->tree && c->deal != DEAL_ROOT) ? of_tree : smaller(n - 1, 2);
}

/* What their queues take. */
static uint64_t bytes_of_queues(const kb_limits *limits, int64_t n)
{
    uint64_t each = ((uint64_t)limits->queue_slots * limits->queue_slot_bytes + 63) / 64 * 64;

    return (uint64_t)n * each;
}

/* The memory of that kind that the own PE has. */
static kb_endpoint own_memory(const struct coll *c, kb_endpoint_kind kind)
{
    kb_endpoint at;

    kb_pe_get(tl_topology(c->tl), tl_pe(c->tl), &at);
    at.kind = kind;
    if (kind == KB_SRAM)
        at.unit = 0;
    if (kind == KB_SLICE)
        kb_pe_slice(tl_topology(c->tl), tl_pe(c->tl), &at);
    return at;
}

/* What a PE has for them, and leaves for tensors: in an SRAM its share. */
static uint64_t room_for_queues(const struct coll *c, const kb_limits *limits)
{
    const struct kb_topology *t = tl_topology(c->tl);
    kb_endpoint at = own_memory(c, limits->queue_memory);
    uint64_t bytes = kb_memory_bytes(t, &at);

    if (limits->queue_memory == KB_SRAM)
        bytes /= cube_pe_count(t, pe_cube(t, tl_pe(c->tl)));
    return bytes / 8 * 7;
}

uint64_t coll_queues_bytes(const struct coll *c)
{
    kb_limits limits;

    kb_topology_limits(tl_topology(c->tl), &limits);
    return bytes_of_queues(&limits, senders(c));
}

bool coll_queues_fit(const struct coll *c, int64_t more)
{
    kb_limits limits;

    kb_topology_limits(tl_topology(c->tl), &limits);
    return bytes_of_queues(&limits, senders(c) + more) <= room_for_queues(c, &limits);
}
