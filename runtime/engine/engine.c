/* engine.c -- the engines of transactions for any topology: hop, and fused when all is counted.
 */
#include "engine/engine.h"
#include "engine/steps.h"

/* Who watches has time: one engine asks at every step how it is run, for all. */
static kb_status engine_any(struct kb_sim *s, uint64_t budget)
{
    int how = s->options.engine == KB_HOP ? HOW_HOP | HOW_COUNTED : sim_counts(s) ? HOW_COUNTED : 0;

    return run(s, how, budget);
}

kb_status engine_run(struct kb_sim *s, uint64_t budget)
{
    bool any = sim_is_watched(s) || !s->topo->run;
    kb_status status;

    s->started = true;
    status = (any ? engine_any : s->topo->run)(s, budget);
    if (status == KB_OK && s->n_done < s->n_txns)
        status = KB_STOPPED; /* a response comes after until_fs */
    if (status != KB_AGAIN)
        s->status = status;
    return status;
}
