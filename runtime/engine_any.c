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

/* One of a run of kernels that nobody counts. */
static __attribute__((noinline)) void handle_kernels(struct kb_sim *s, ev e)
{
    handle(s, HOW_KERNELS, e);
}

static bool is_watched(const struct kb_sim *s)
{
    return s->options.engine == KB_HOP || sim_counts(s);
}

/* As run() does, but a kernel may run the events itself that lie between its own. */
static kb_status run_kernels(struct kb_sim *s, uint64_t budget)
{
    ev e = 0;

    for (; budget > 0; budget--) {
        ev next = s->kernels->wakes.next;
        bool starts = next < s->queue.first;

        e = starts ? next : s->queue.first;
        if (ev_time_fs(e) >= s->stop_fs)
            return stop(s, e);
        if (starts) {
            take_start(s, HOW_KERNELS, e);
        } else {
            ev_take(&s->queue);
            handle_kernels(s, e);
        }
    }
    s->now_fs = ev_time_fs(e);
    return s->status != KB_OK ? s->status : KB_AGAIN;
}

bool engine_until(struct kb_sim *s, uint32_t pe)
{
    struct kernels *k = s->kernels;

    if (is_watched(s))
        return false;
    for (; k->ahead > 0; k->ahead--) {
        ev next = k->wakes.next, e = s->queue.first;

        if (ev_time_fs(next < e ? next : e) >= s->stop_fs || (next < e && ev_slot(next) != pe))
            return false;
        if (next < e) {
            ev_advance(&s->queue, next);
            wakes_take(&k->wakes);
            k->now_fs = ev_time_fs(next);
            return true;
        }
        ev_take(&s->queue);
        handle_kernels(s, e);
    }
    return false;
}

kb_status engine_any(struct kb_sim *s, uint64_t budget)
{
    if (!s->kernels)
        return run_rows(s, budget);
    if (!is_watched(s))
        return run_kernels(s, budget);
    if (s->options.engine == KB_HOP)
        return run(s, HOW_KERNELS | HOW_HOP | HOW_COUNTED, budget);
    return run(s, HOW_KERNELS | HOW_COUNTED, budget);
}

/* -- what PEs ask of the engine ------------------------------------------------------------- */

void engine_issue(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    if (s->options.engine == KB_HOP)
        issue(s, HOW_KERNELS | HOW_HOP | HOW_COUNTED, t, slot);
    else if (sim_counts(s))
        issue(s, HOW_KERNELS | HOW_COUNTED, t, slot);
    else
        issue(s, HOW_KERNELS | HOW_CALLED, t, slot);
}

void engine_arrive(struct kb_sim *s, uint64_t t, enum txn_stage stage, uint32_t slot)
{
    s->txns[slot].stage = stage;
    post(s, t, EV_ARRIVE, slot);
}

void engine_fail(struct kb_sim *s, kb_status status)
{
    fail(s, status);
}
