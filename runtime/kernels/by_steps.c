/* by_steps.c -- runs of kernels by the steps of engine/steps.h: those of the hop engine, those that
 * are observed, and machines with nodes that are components.
 */
#include "kernels/by_steps.h"

/* One event of a run of kernels in which events are not counted. */
static __attribute__((noinline)) void handle_kernels(struct kb_sim *s, ev e)
{
    handle(s, HOW_KERNELS, e);
}

static __attribute__((noinline)) kb_status run_watched(struct kb_sim *s, int how, uint64_t budget)
{
    return run(s, how, budget);
}

/*
 * The next event is known before this one is handled: mostly the end of the next PE's load, whose
 * transaction, stations and command are in no cache.
 */
static inline void prefetch_event(struct kb_sim *s, ev e)
{
    uint32_t slot = ev_slot(e);
    const struct work *work = &s->kernels->work[slot];
    const struct txn *txn = &s->txns[slot];

    if (slot >= s->kernels->n_slots)
        return;
    __builtin_prefetch(work + 2);
    __builtin_prefetch(txn + 2);
    __builtin_prefetch(work->station);
    __builtin_prefetch(&s->channels[2 * (size_t)txn->src]);
    prefetch_lines(work->command, 5);
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
            if (s->kernels->many)
                prefetch_event(s, s->queue.first);
            handle_kernels(s, e);
        }
    }
    s->now_fs = ev_time_fs(e);
    return s->status != KB_OK ? s->status : KB_AGAIN;
}

bool by_steps_until(struct kb_sim *s, uint32_t pe)
{
    struct kernels *k = s->kernels;

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

kb_status by_steps_run(struct kb_sim *s, uint64_t budget)
{
    return s->kernels->watched ? run_watched(s, how_watched(s), budget) : run_kernels(s, budget);
}
