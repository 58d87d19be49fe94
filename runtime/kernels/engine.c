/* engine.c -- the engines of runs with kernels, for any topology. */
#include "kernels/engine.h"
#include "kernels/steps.h"

/* One event of a run of kernels that nobody counts. */
static __attribute__((noinline)) void handle_kernels(struct kb_sim *s, ev e)
{
    handle(s, HOW_KERNELS, e);
}

static __attribute__((noinline)) kb_status run_watched(struct kb_sim *s, int how, uint64_t budget)
{
    return run(s, how, budget);
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

    if (sim_is_watched(s))
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

kb_status engine_kernels(struct kb_sim *s, uint64_t budget)
{
    return sim_is_watched(s) ? run_watched(s, how_watched(s), budget) : run_kernels(s, budget);
}
