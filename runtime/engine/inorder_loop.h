/*
 * inorder_loop.h -- the loops of engine/inorder_steps.h: events of rows, one after the other, and
 * between them those of what else decides: kernels, memories that choose, ports of routers.
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
    if (s->calendar.no_memory)
        fail(s, KB_NO_MEMORY);
    if (s->status != KB_OK)
        return s->status;
    s->now_fs = s->stop_fs - 1;
    s->over = t == UINT64_MAX;
    if (s->over)
        return KB_OK;
    return t == EV_PAST ? KB_TIME_RANGE : KB_STOPPED;
}

/* What sets out first of `list`, of a channel or of an engine. */
static ALWAYS_INLINE struct goer first_of_list(struct kb_sim *s, int how, struct station *list,
                                               bool of_engine)
{
    return of_engine ? next_of_engine(s, how, list, 0) : next_listed(s, list, 0);
}

/* The run begins with the first of all lists: by these, or by rows where these are fewer, as in
 * points of a sweep. That is once a run, so one text, which asks, does for all loops. */
static __attribute__((noinline)) void begin_lists(struct kb_sim *s, int how)
{
    size_t n_channels = (size_t)2 * sim_cubes(T) << T->pe_bits;
    size_t n_lists = n_channels + s->inorder->engine_lists * (size_t)2 * sim_cubes(T);
    bool by_rows = !s->traffic && s->n_txns < n_lists;

    s->inorder->fresh = false;
    for (size_t i = 0; i < (by_rows ? s->n_txns : n_lists); i++) {
        const struct txn *x = &s->txns[i];
        bool of_engine = by_rows ? txn_of_host(x) : i >= n_channels;
        struct station *list = !by_rows ? of_engine ? &s->engines[i - n_channels] : &s->channels[i]
                               : of_engine ? engine_of(s, x)
                                           : channel_of(s, x);

        if (list->idle && (!by_rows || list->queue.head == i))
            go_all(s, how, first_of_list(s, how, list, of_engine));
    }
}

/* Is the next event, which stays, at pause_fs or later? */
static inline bool is_paused(struct kb_sim *s)
{
    ev first;

    if (s->pause_fs == UINT64_MAX)
        return false;
    first = calendar_first(&s->calendar, s->txns, s->pause_fs);
    if (first == EV_NONE)
        return calendar_least_fs(&s->calendar) != UINT64_MAX;
    return ev_time_fs(first) >= s->pause_fs;
}

/* Takes the first event of a row; its slot. */
static ALWAYS_INLINE uint32_t take_row(struct kb_sim *s, int how)
{
    return how & IN_CHOOSES ? rows_take(s) : calendar_take(&s->calendar, s->txns);
}

static ALWAYS_INLINE kb_status run_as(struct kb_sim *s, int how, uint64_t budget)
{
    uint64_t t = 0;

    if (how & IN_LISTED && s->inorder->fresh)
        begin_lists(s, how);
    for (; budget > 0; budget--) {
        if (how & IN_COUNTED && is_paused(s))
            return sim_paused(s, s->pause_fs);
        uint32_t slot = take_row(s, how);

        if (time_of(s, slot) >= s->stop_fs)
            return stop(s, time_of(s, slot));
        if (how & IN_COUNTED && sim_has_counted_all(s))
            return KB_STOPPED;
        t = s->txns[slot].at_fs;
        go_all(s, how, handle(s, how, slot));
        if (how & IN_COUNTED && sim_pauses(s))
            return sim_paused(s, t);
    }
    return sim_paused(s, t);
}

/* -- several agendas -------------------------------------------------------------------------- */

/*
 * Beside events of rows there are wakes of kernels, k->wakes; wakes of memories that choose, which
 * are in the queue; and ports of routers, which have an agenda of their own. All have keys, and
 * the least goes first: kernels behind all rows of an instant, memories and ports behind these.
 *
 * Behind routers the data of a kernel's read are those at the end of its service, while its row has
 * the event of its end: that of its data is in the queue, too.
 */
static inline ev first_of_queue(const struct kb_sim *s)
{
    return ev_least(ev_least(ev_first(&s->queue), s->inorder->soon), children_first(&s->children));
}

static inline ev first_of_ports(struct kb_sim *s)
{
    return ev_make(router_next_fs(s->router), EV_ARBITER, UINT32_MAX, EV_MAX_SLOTS - 1);
}

/* Of kernels and the queue. */
static ALWAYS_INLINE ev first_of_others(const struct kb_sim *s, int how)
{
    ev first = how & IN_KERNELS ? kernels_next(s) : EV_NONE;

    return how & IN_CHOOSES ? ev_least(first, first_of_queue(s)) : first;
}

static ALWAYS_INLINE ev first_of_all(struct kb_sim *s, int how)
{
    ev first = first_of_others(s, how);

    if (how & IN_ROUTED)
        first = ev_least(first, first_of_ports(s));
    return ev_least(first, calendar_first(&s->calendar, s->txns, ev_time_fs(first)));
}

/* Memories that choose have said when some are done, which need be no event. */
static inline void take_ends(struct kb_sim *s, int how)
{
    while (s->inorder->known_ends != TXN_NONE) {
        uint32_t slot = s->inorder->known_ends;

        s->inorder->known_ends = s->txns[slot].next;
        go_all(s, how, served(s, how, s->txns[slot].at_fs, slot, 0));
    }
}

/* A child of a transaction comes to its memory, or ends: that is a record, and no more. */
static inline void take_child(struct kb_sim *s, int how)
{
    const struct child_record record = children_take(&s->children);

    seen(s, how, ev_time_fs(record.at), ev_class(record.at), child_record_id(&record));
}

/* A memory wakes, the data of a read are there, or a packet comes to a component. */
static inline void take_of_queue(struct kb_sim *s, int how, ev e)
{
    if (e == s->inorder->soon)
        s->inorder->soon = EV_NONE;
    else
        ev_take(&s->queue);
    if (ev_class(e) == EV_DONE)
        kernels_data_served(s, ev_slot(e));
    else if (ev_class(e) == EV_HOP)
        router_take_note(s, e);
    else
        server_wake(s, how, ev_time_fs(e), ev_id(e));
}

/* All that decide at `t` do, channels of banks among them: where events are counted they are one.
 */
static inline void decide_all(struct kb_sim *s, int how, uint64_t t)
{
    uint32_t index;

    while ((index = router_run(s, t)) != NO_CHANNEL)
        server_wake(s, how, t, memory_of_wake(index));
}

/* Ports decide at `t`, and on until anything else happens: `most` of them. Returns how many. */
static inline uint64_t run_ports(struct kb_sim *s, int how, uint64_t t, uint64_t most)
{
    struct calendar *calendar = &s->calendar;
    ev row = calendar_first(calendar, s->txns, t);
    uint64_t until = row == EV_NONE ? calendar_least_fs(calendar) : ev_time_fs(row);
    uint64_t of_others = ev_time_fs(first_of_others(s, how));

    if (how & IN_COUNTED) {
        decide_all(s, how, t);
        return 1;
    }
    until = of_others < until ? of_others : until;
    return router_run_until(s, until < s->stop_fs ? until : s->stop_fs, most);
}

/* Is `e`, the first of all, in the queue? Of all else only ports decide in events of its last
 * class.
 */
static ALWAYS_INLINE bool is_of_queue(const struct kb_sim *s, int how, ev e)
{
    if (how & IN_ROUTED)
        return e == first_of_queue(s);
    return how & IN_CHOOSES && ev_class(e) == EV_ARBITER;
}

/* Takes `e`, the first of all; of ports `most` decisions. Returns how many events that were. */
static ALWAYS_INLINE uint64_t take_first(struct kb_sim *s, int how, ev e, uint64_t most)
{
    uint64_t n = 1;

    if (how & IN_CHOOSES && how & IN_COUNTED && e == children_first(&s->children))
        take_child(s, how);
    else if (how & IN_KERNELS && ev_class(e) == EV_KERNEL)
        kernels_take(s, e);
    else if (is_of_queue(s, how, e))
        take_of_queue(s, how, e);
    else if (how & IN_ROUTED && ev_class(e) == EV_ARBITER)
        n = run_ports(s, how, ev_time_fs(e), most);
    else
        go_all(s, how, handle(s, how, take_row(s, how)));
    if (how & IN_CHOOSES && how & (IN_AHEAD | IN_WATCHED))
        take_ends(s, how);
    return n;
}

/* `take` is take_first(), or a call of it. */
static ALWAYS_INLINE kb_status run_agendas(struct kb_sim *s, int how, uint64_t budget,
                                           uint64_t (*take)(struct kb_sim *s, int how, ev e,
                                                            uint64_t most))
{
    uint64_t t = 0;

    if (how & IN_LISTED && s->inorder->fresh)
        begin_lists(s, how);
    while (budget > 0) {
        ev e = first_of_all(s, how);

        t = ev_time_fs(e);
        if (t >= s->stop_fs)
            return stop(s, t);
        if (how & IN_COUNTED && sim_has_counted_all(s))
            return KB_STOPPED;
        if (how & IN_COUNTED && t >= s->pause_fs)
            return sim_paused(s, s->pause_fs);
        budget -= take(s, how, e, budget);
        if (how & IN_COUNTED && sim_pauses(s))
            return sim_paused(s, t);
    }
    return sim_paused(s, t);
}

static ALWAYS_INLINE kb_status run_all_as(struct kb_sim *s, int how, uint64_t budget)
{
    return run_agendas(s, how, budget, take_first);
}

#endif
