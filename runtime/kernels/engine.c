/* engine.c -- the engines of kernels for any topology, and what PEs ask of them. */
#include "kernels/engine.h"
#include "engine/engine.h"
#include "kernels/observe.h"
#include "kernels/service.h"

/* -- what the engine asks of kernels: engine/no_kernels.h tells each call ------------------- */

#define CALLS_KERNELS

static inline struct memory_station *kernels_station(struct kb_sim *s, uint32_t slot)
{
    return s->kernels->work[slot].station;
}

static inline bool kernels_inside_pe(const struct kb_sim *s, uint32_t slot)
{
    return !work_is_dma(&s->kernels->work[slot]);
}

static inline int64_t kernels_least_way_fs(const struct kb_sim *s, uint32_t unit)
{
    return s->kernels->least_way_fs[unit];
}

static inline void kernels_begin_service(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    service_begin(&s->kernels->work[slot], t);
}

static inline void kernels_end_service(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    pe_data_arrived(s, slot);
    service_end(s, &s->kernels->work[slot], t);
    pe_stage_done(s, t, slot);
}

static inline void kernels_word_arrived(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    pe_word_arrived(s, t, slot);
}

static inline ev kernels_next(const struct kb_sim *s)
{
    return s->kernels->wakes.next;
}

static inline void kernels_take(struct kb_sim *s, ev e)
{
    wakes_take(&s->kernels->wakes);
    kernel_event(s, ev_time_fs(e), ev_slot(e));
}

#include "engine/steps.h"

/* -- runs ----------------------------------------------------------------------------------- */

/* One event of a run of kernels that nobody counts. */
static __attribute__((noinline)) void handle_kernels(struct kb_sim *s, ev e)
{
    handle(s, HOW_KERNELS, e);
}

/* Who watches kernels has time: one engine asks at every step how it is run, for both. */
static int how_watched(const struct kb_sim *s)
{
    return HOW_KERNELS | HOW_COUNTED | (s->options.engine == KB_HOP ? HOW_HOP : 0);
}

static __attribute__((noinline)) kb_status run_watched(struct kb_sim *s, int how, uint64_t budget)
{
    return run(s, how, budget);
}

static __attribute__((noinline)) void issue_watched(struct kb_sim *s, int how, uint64_t t,
                                                    uint32_t slot)
{
    issue(s, how, t, slot);
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

/* -- what PEs ask of the engine ------------------------------------------------------------- */

void engine_issue(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    if (sim_is_watched(s))
        issue_watched(s, how_watched(s), t, slot);
    else
        issue(s, HOW_KERNELS | HOW_CALLED, t, slot);
}

void engine_arrive(struct kb_sim *s, uint64_t t, enum txn_stage stage, uint32_t slot)
{
    s->txns[slot].stage = stage;
    if (s->observer && !observe_issue(s, t, slot))
        return;
    post(s, t, EV_ARRIVE, slot);
}

void engine_send_word(struct kb_sim *s, uint64_t t, int64_t way_fs, uint32_t slot)
{
    s->txns[slot].stage = TXN_CREDIT;
    post(s, after(t, way_fs), EV_HOP, slot);
}

void engine_fail(struct kb_sim *s, kb_status status)
{
    fail(s, status);
}
