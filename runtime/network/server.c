/* server.c -- memories that choose: which of them it is. */
#include "network/server.h"
#include "network/network_queueing.h"

#define MODEL_SERVER(NAME, word, name) extern const struct memory_server name##_server;
MEMORY_MODELS(MODEL_SERVER)
extern const struct memory_server cache_server, in_order_server;

static const struct memory_server *const servers[] = {
#define MODEL_ROW(NAME, word, name) [MEMORY_##NAME] = &name##_server,
    [MEMORY_SERVER] = &in_order_server,
    MEMORY_MODELS(MODEL_ROW)[MEMORY_CACHE] = &cache_server,
    [MEMORY_QUEUEING] = &queue_server};

enum { N_MODELS = sizeof servers / sizeof *servers };

static bool is_model_of(const struct memory_row *memory, unsigned model)
{
    return memory->model == model || memory->behind == model;
}

/* Is any memory, or what stands behind a component, of `model`? */
static bool has_model(const struct kb_topology *t, unsigned model)
{
    for (uint32_t kind = 0; kind < t->n_kinds; kind++)
        if (is_model_of(&t->kinds[kind].hbm, model) || is_model_of(&t->kinds[kind].sram, model) ||
            is_model_of(&t->kinds[kind].l2, model))
            return true;
    return false;
}

bool servers_begin(struct kb_sim *s)
{
    bool begun = true;

    s->servers = servers;
    s->chooses = memories_choose(s->topo);
    for (unsigned i = MEMORY_SERVER + 1; i < N_MODELS; i++)
        if (has_model(s->topo, i))
            begun &= !servers[i]->begin || servers[i]->begin(s);
    return begun;
}

void servers_end(struct kb_sim *s)
{
    for (unsigned i = 0; i < N_MODELS; i++)
        if (servers[i]->end)
            servers[i]->end(s);
}

bool servers_room(struct kb_sim *s, uint32_t n)
{
    for (unsigned i = 0; s->chooses && i < N_MODELS; i++)
        if (servers[i]->room && !servers[i]->room(s, n))
            return false;
    return true;
}

void server_clear(struct kb_sim *s, uint32_t dst)
{
    for (unsigned i = 0; s->chooses && i < N_MODELS; i++)
        if (servers[i]->clear && is_model_of(cost_memory(s->topo, dst, false), i))
            servers[i]->clear(s, dst);
}

/* That of the memory that `slot` goes to. */
static const struct memory_server *server_of(const struct kb_sim *s, uint32_t slot)
{
    return servers[cost_memory(s->topo, s->txns[slot].dst, false)->model];
}

void server_arrive(struct kb_sim *s, int how, uint64_t t, uint32_t slot,
                   const struct delivery *part)
{
    if (is_told(s, how) && s->router)
        OBSERVE(s, serve, t, t, slot, part->number);
    server_of(s, slot)->arrive(s, how, t, slot, part);
}

bool server_expects(struct kb_sim *s, uint64_t t, int64_t drain_fs, uint32_t slot)
{
    const struct memory_server *server = server_of(s, slot);

    return server->expects && server->expects(s, t, drain_fs, slot);
}

void server_wake(struct kb_sim *s, int how, uint64_t t, uint32_t dst)
{
    const struct memory_row *memory = cost_memory(s->topo, dst, false);

    if (servers[memory->model]->wake)
        servers[memory->model]->wake(s, how, t, dst);
    if (memory->behind) /* behind another one: it comes last */
        servers[memory->behind]->wake(s, how, t, dst);
}

void server_leave(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    s->txns[slot].service_fs = (int64_t)t; /* its end: the begin is not defined */
}
