/* engine.c -- runs of kernels over stations that serve in order, for any topology.
 *
 * The steps of a transaction are those of engine/inorder_steps.h, compiled here once more with the
 * calls of kernels/heard.h. There are two loops. run_kernels() is the fast one: nothing is counted,
 * and a kernel may run events itself, on its own stack, until its own is next: engine_until().
 * run_counted() serves fingerprints and bounds; there all events run in the loop. What else there
 * is, engine/hop.c and kernels/by_steps.c run.
 *
 * Both choose between the calendar and k->wakes by the key (time, class, id): an event of class 4
 * comes after all others of its instant.
 */
#include "engine/hop.h"
#include "kernels/engine.h"
#include "kernels/heard.h"
#include "engine/inorder_loop.h"

/* -- for engines that are compiled apart ------------------------------------------------------ */

static ev first_wake(const struct kb_sim *s)
{
    return s->kernels->wakes.next;
}

static void take_wake(struct kb_sim *s, ev e)
{
    wakes_take(&s->kernels->wakes);
    kernel_event(s, ev_time_fs(e), ev_slot(e));
}

static const struct heard heard = {.station = kernels_station,
                                   .inside = kernels_inside_pe,
                                   .engine = kernels_engine_box,
                                   .pe = kernels_pe_number,
                                   .port_free = kernels_port_free,
                                   .begin = kernels_begin_service,
                                   .end = kernels_end_service,
                                   .part = kernels_end_part,
                                   .data = kernels_data_served,
                                   .word = kernels_word_arrived,
                                   .next = first_wake,
                                   .wake = take_wake};

/* -- the loops -------------------------------------------------------------------------------- */

/* One event of a run in which events are not counted. */
static __attribute__((noinline)) void handle_kernels(struct kb_sim *s, uint32_t slot)
{
    go_all(s, IN_KERNELS, handle(s, IN_KERNELS, slot));
}

static __attribute__((noinline)) void handle_counted(struct kb_sim *s, uint32_t slot)
{
    go_all(s, IN_KERNELS | IN_COUNTED, handle(s, IN_KERNELS | IN_COUNTED, slot));
}

/*
 * Events that come soon are known before this one is handled: ends of loads, whose channels and
 * commands are in no cache where there are thousands of PEs.
 */
static inline void prefetch_soon(struct kb_sim *s)
{
    const struct calendar *c = &s->inorder->calendar;
    uint32_t slot = calendar_soon(c, 3);
    const struct work *work;

    if (slot == TXN_NONE)
        return;
    if (s->txns[slot].class != EV_DONE)
        return;
    work = &s->kernels->work[slot];
    __builtin_prefetch(&s->channels[2 * (size_t)s->txns[slot].src]);
    prefetch_lines(work->command, 5);
}

/* The first event of the calendar, unless it is later than the first wake. */
static inline ev first_event(struct kb_sim *s)
{
    return calendar_first(&s->inorder->calendar, s->txns, ev_time_fs(s->kernels->wakes.next));
}

static ALWAYS_INLINE kb_status run_kernels(struct kb_sim *s, int how, uint64_t budget)
{
    struct kernels *k = s->kernels;
    ev e = 0;

    for (; budget > 0; budget--) {
        ev next = k->wakes.next, first = first_event(s);
        uint32_t slot;

        e = next < first ? next : first;
        if (ev_time_fs(e) >= s->stop_fs)
            return stop(s, ev_time_fs(e));
        if (how & IN_COUNTED && sim_has_counted_all(s))
            return KB_STOPPED;
        if (next < first) {
            take_wake(s, e);
            continue;
        }
        slot = calendar_take(&s->inorder->calendar, s->txns);
        if (k->many)
            prefetch_soon(s);
        if (how & IN_COUNTED)
            handle_counted(s, slot);
        else
            handle_kernels(s, slot);
    }
    return paused(s, ev_time_fs(e));
}

bool engine_until(struct kb_sim *s, uint32_t pe)
{
    struct kernels *k = s->kernels;

    if (k->watched)
        return false;
    if (!s->inorder)
        return by_steps_until(s, pe);
    for (; k->ahead > 0; k->ahead--) {
        ev next = k->wakes.next, e = first_event(s);

        if (ev_time_fs(next < e ? next : e) >= s->stop_fs || (next < e && ev_slot(next) != pe))
            return false;
        if (next < e) {
            wakes_take(&k->wakes);
            k->now_fs = ev_time_fs(next);
            return true;
        }
        handle_kernels(s, calendar_take(&s->inorder->calendar, s->txns));
    }
    return false;
}

bool engine_skip_to(struct kb_sim *s, ev e)
{
    struct kernels *k = s->kernels;

    if (k->watched || !k->ahead || e > k->wakes.next || ev_time_fs(e) >= s->stop_fs)
        return false;
    if (s->inorder ? e > calendar_first(&s->inorder->calendar, s->txns, ev_time_fs(e))
                   : e > s->queue.first)
        return false;
    k->ahead--;
    if (!s->inorder)
        ev_advance(&s->queue, e);
    k->now_fs = ev_time_fs(e);
    return true;
}

static __attribute__((noinline)) kb_status run_counted(struct kb_sim *s, uint64_t budget)
{
    return run_kernels(s, IN_KERNELS | IN_COUNTED, budget);
}

kb_status engine_kernels(struct kb_sim *s, uint64_t budget)
{
    s->kernels->watched = sim_is_watched(s);
    s->heard = &heard;
    if (s->options.engine == KB_HOP)
        return hop_run(s, budget);
    if (!inorder_serves(s))
        return by_steps_run(s, budget);
    if (!inorder_begin(s))
        return KB_NO_MEMORY;
    return s->kernels->watched ? run_counted(s, budget) : run_kernels(s, IN_KERNELS, budget);
}
