/* engine_any.c -- the engines for any topology: hop, fused when its events are counted, kernels. */
#include "engine.h"
#include "engine.c"

/* A run without kernels. */
static kb_status run_rows(struct kb_sim *s, uint64_t budget)
{
    if (s->options.engine == KB_HOP)
        return run(s, HOW_HOP | HOW_COUNTED, budget);
    return sim_counts(s) ? run(s, HOW_COUNTED, budget) : run(s, 0, budget);
}

kb_status engine_any(struct kb_sim *s, uint64_t budget)
{
    if (!s->kernels)
        return run_rows(s, budget);
    if (s->options.engine == KB_HOP)
        return run(s, HOW_KERNELS | HOW_HOP | HOW_COUNTED, budget);
    return sim_counts(s) ? run(s, HOW_KERNELS | HOW_COUNTED, budget) : run(s, HOW_KERNELS, budget);
}

/* -- what PEs ask of the engine ------------------------------------------------------------- */

void engine_issue(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    if (s->options.engine == KB_HOP)
        issue(s, HOW_KERNELS | HOW_HOP | HOW_COUNTED, t, slot);
    else if (sim_counts(s))
        issue(s, HOW_KERNELS | HOW_COUNTED, t, slot);
    else
        issue(s, HOW_KERNELS, t, slot);
}

void engine_arrive(struct kb_sim *s, uint64_t t, enum txn_stage stage, uint32_t slot)
{
    s->txns[slot].stage = stage;
    post(s, t, EV_ARRIVE, slot);
}

void engine_wake(struct kb_sim *s, uint64_t t, int64_t delay_fs, uint32_t pe)
{
    if (!ev_push(&s->queue, ev_make(after(t, delay_fs), EV_KERNEL, pe, pe)))
        fail(s, KB_NO_MEMORY);
}

void engine_fail(struct kb_sim *s, kb_status status)
{
    fail(s, status);
}
