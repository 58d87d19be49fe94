/*
 * inorder_loop.h -- the loops of engine/inorder_steps.h: events of rows, one after the other, and
 * between them instants at which ports of routers decide.
 */
#ifndef INORDER_LOOP_H
#define INORDER_LOOP_H
#include "engine/inorder_steps.h"

/* When the event in the row of `slot` is; UINT64_MAX: there is none. */
static ALWAYS_INLINE uint64_t time_of(const struct kb_sim *s, uint32_t slot)
{
    return slot == TXN_NONE ? UINT64_MAX : s->txns[slot].at_fs;
}

/* The next event, at `t`, lies behind the last that may run; UINT64_MAX: there is none. */
static kb_status stop(struct kb_sim *s, uint64_t t)
{
    if (s->inorder->several)
        inorder_give_back_ends(s);
    if (s->inorder->calendar.no_memory)
        fail(s, KB_NO_MEMORY);
    if (s->status != KB_OK)
        return s->status;
    s->now_fs = s->stop_fs - 1;
    s->inorder->over = t == UINT64_MAX;
    if (s->inorder->over)
        return KB_OK;
    return t == EV_PAST ? KB_TIME_RANGE : KB_STOPPED;
}

/* The run begins: the first rows of a list set out. */
static ALWAYS_INLINE void begin_list(struct kb_sim *s, int how, struct station *channel)
{
    struct goer goer = how & IN_SEVERAL ? next_of_several(s, channel) : next_listed(s, channel, 0);

    go_all(s, how, goer);
}

/* All lists: by channels, or by rows where these are fewer, as in points of a sweep. */
static ALWAYS_INLINE void begin_lists(struct kb_sim *s, int how)
{
    size_t n_channels = (size_t)2 * sim_cubes(T) << T->pe_bits;
    bool by_rows = !s->traffic && s->n_txns < n_channels;

    s->inorder->fresh = false;
    for (size_t i = 0; !by_rows && i < n_channels; i++)
        begin_list(s, how, &s->channels[i]);
    for (uint32_t slot = 0; by_rows && slot < s->n_txns; slot++) {
        struct station *channel = channel_of(s, &s->txns[slot]);

        if (channel->queue.head == slot && channel->idle)
            begin_list(s, how, channel);
    }
}

/* It has been as many events as it might; the last was at `t`. */
static kb_status paused(struct kb_sim *s, uint64_t t)
{
    s->now_fs = t;
    return s->status != KB_OK ? s->status : KB_AGAIN;
}

static ALWAYS_INLINE kb_status run_as(struct kb_sim *s, int how, uint64_t budget)
{
    uint64_t t = 0;

    if (how & IN_LISTED && s->inorder->fresh)
        begin_lists(s, how);
    for (; budget > 0; budget--) {
        uint32_t slot = calendar_take(&s->inorder->calendar, s->txns);

        if (time_of(s, slot) >= s->stop_fs)
            return stop(s, time_of(s, slot));
        if (how & IN_COUNTED && sim_has_counted_all(s))
            return KB_STOPPED;
        t = s->txns[slot].at_fs;
        go_all(s, how, handle(s, how, slot));
    }
    return paused(s, t);
}

/* Memories that choose have said when some are done. */
static inline void take_ends(struct kb_sim *s, int how)
{
    while (s->inorder->known_ends != TXN_NONE) {
        uint32_t slot = s->inorder->known_ends;

        s->inorder->known_ends = s->txns[slot].next;
        go_all(s, how, served(s, how, s->txns[slot].at_fs, slot, 0));
    }
}

/* Memory `e` wakes. */
static inline void wake_memory(struct kb_sim *s, int how, ev e)
{
    if (e == s->inorder->soon)
        s->inorder->soon = EV_NONE;
    else
        ev_take(&s->queue);
    server_wake(s, how & IN_COUNTED, ev_time_fs(e), ev_id(e));
}

/* Memories that choose wake behind all else of an instant; their wakes are in the queue. */
static ALWAYS_INLINE kb_status run_choosing_as(struct kb_sim *s, int how, uint64_t budget)
{
    struct calendar *calendar = &s->inorder->calendar;
    uint64_t t = 0;

    if (how & IN_LISTED && s->inorder->fresh)
        begin_lists(s, how);
    for (; budget > 0; budget--) {
        ev wake = s->queue.first < s->inorder->soon ? s->queue.first : s->inorder->soon;
        ev of_row = calendar_first(calendar, s->txns, ev_time_fs(wake));

        t = ev_time_fs(wake < of_row ? wake : of_row);
        if (t >= s->stop_fs)
            return stop(s, t);
        if (how & IN_COUNTED && sim_has_counted_all(s))
            return KB_STOPPED;
        if (wake < of_row)
            wake_memory(s, how, wake);
        else
            go_all(s, how, handle(s, how, calendar_take(calendar, s->txns)));
        take_ends(s, how);
    }
    return paused(s, t);
}

/*
 * Routers have an agenda of their own: of ports, which decide behind all else of an instant. Where
 * events are counted all decisions of an instant are one.
 */
static ALWAYS_INLINE kb_status run_routed_as(struct kb_sim *s, int how, uint64_t budget)
{
    struct calendar *calendar = &s->inorder->calendar;
    uint64_t t = 0;

    if (how & IN_LISTED && s->inorder->fresh)
        begin_lists(s, how);
    for (; budget > 0; budget--) {
        uint64_t of_ports = router_next_fs(s->router);
        ev first = calendar_first(calendar, s->txns, of_ports);
        uint64_t of_rows = first == EV_NONE ? calendar_least_fs(calendar) : ev_time_fs(first);

        t = of_rows <= of_ports ? of_rows : of_ports;
        if (t >= s->stop_fs)
            return stop(s, t);
        if (how & IN_COUNTED && sim_has_counted_all(s))
            return KB_STOPPED;
        if (of_ports < of_rows && how & IN_COUNTED)
            router_run(s, t);
        else if (of_ports < of_rows)
            budget -= router_run_until(s, of_rows < s->stop_fs ? of_rows : s->stop_fs, budget) - 1;
        else
            go_all(s, how, handle(s, how, calendar_take(calendar, s->txns)));
    }
    return paused(s, t);
}

#endif
