/* engine.c -- the engines of runs with kernels, for any topology.
 *
 * The steps of a transaction are those of engine/steps.h, compiled here once more with the calls
 * that kernels/steps.h defines. There are two loops. run_kernels() is the fast one: nothing is
 * counted or observed, and a kernel may run events itself, on its own stack, until its own is next:
 * engine_until(). run_watched() serves the hop engine, fingerprints and bounds: it tests `how` at
 * every step, and all events run in the loop.
 *
 * Both choose between the queue and k->wakes by the key (time, class, id): an event of class 4
 * comes after all others of its instant.
 */
#include "kernels/engine.h"
#include "kernels/steps.h"

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

bool engine_until(struct kb_sim *s, uint32_t pe)
{
    struct kernels *k = s->kernels;

    if (k->watched)
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

bool engine_skip_to(struct kb_sim *s, ev e)
{
    struct kernels *k = s->kernels;

    if (e > k->wakes.next || e > s->queue.first || ev_time_fs(e) >= s->stop_fs || !k->ahead ||
        k->watched)
        return false;
    k->ahead--;
    ev_advance(&s->queue, e);
    k->now_fs = ev_time_fs(e);
    return true;
}

kb_status engine_kernels(struct kb_sim *s, uint64_t budget)
{
    s->kernels->watched = sim_is_watched(s);
    return s->kernels->watched ? run_watched(s, how_watched(s), budget) : run_kernels(s, budget);
}
