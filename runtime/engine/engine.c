/* engine.c -- the engines for any topology: hop, and fused when each event is counted. */
#include "engine/engine.h"
#include "engine/steps.h"

/* A run that is watched may be slow: one engine serves all, and tests `how` at each step. */
static kb_status engine_any(struct kb_sim *s, uint64_t budget)
{
    int how = s->options.engine == KB_HOP ? HOW_HOP | HOW_COUNTED : sim_counts(s) ? HOW_COUNTED : 0;

    return run(s, how, budget);
}

/* An observer that hears of stations alone: each arrival has an event, nodes and wires have none. */
static kb_status engine_told(struct kb_sim *s, uint64_t budget)
{
    return run(s, HOW_COUNTED | HOW_TOLD, budget);
}

kb_status engine_run(struct kb_sim *s, uint64_t budget)
{
    bool any = sim_is_watched(s) || !s->topo->run, told = s->observer && !sim_is_watched(s);
    kb_status status;

    s->started = true;
    status = (told ? engine_told : any ? engine_any : s->topo->run)(s, budget);
    if (status == KB_OK && s->n_done < s->n_txns)
        status = KB_STOPPED; /* a response comes after until_fs */
    if (status != KB_AGAIN)
        s->status = status;
    return status;
}
