/* wakes.h -- which kernels go on when: the events of class 4, apart from all others. */
#ifndef WAKES_H
#define WAKES_H
#include "engine/ev.h"

/*
 * Two kinds of events need no queue. A command is issued a fixed time after its call, and kernels
 * call in order of time: those form a line. A kernel that wakes does so at the time of the event
 * that wakes it: those are a set of PEs, of which the lowest is first.
 */
struct wakes {
    ev next;            /* the first of all; EV_NONE: none */
    ev in_line, in_set; /* the first of each */
    ev *line;           /* owned; [mask + 1], from `head` to before `tail` */
    uint32_t head, tail, mask;
    uint32_t n_set;
    uint64_t set_fs;  /* when those of the set wake */
    uint64_t *set;    /* owned; a bit for each PE */
    uint64_t *filled; /* owned; a bit for each word of the set that is not 0 */
};

/* For PEs 0..n-1. False if there is no memory. */
bool wakes_init(struct wakes *w, uint32_t n);
void wakes_free(struct wakes *w);

static inline ev wakes_event(uint64_t time_fs, uint32_t pe)
{
    return ev_make(time_fs, EV_KERNEL, pe, pe);
}

/* Behind all others in the line; when calls take no time, behind those that are not later. */
static inline void wakes_append(struct wakes *w, uint64_t time_fs, uint32_t pe)
{
    ev e = wakes_event(time_fs, pe);
    uint32_t at = w->tail++;

    for (; at != w->head && w->line[(at - 1) & w->mask] > e; at--)
        w->line[at & w->mask] = w->line[(at - 1) & w->mask];
    w->line[at & w->mask] = e;
    if (e < w->in_line)
        w->in_line = e;
    if (e < w->next)
        w->next = e;
}

/* `time_fs` is that of the event at work. */
static inline void wakes_add(struct wakes *w, uint64_t time_fs, uint32_t pe)
{
    ev e = wakes_event(time_fs, pe);

    w->set[pe / 64] |= UINT64_C(1) << pe % 64;
    w->filled[pe / 4096] |= UINT64_C(1) << pe / 64 % 64;
    w->set_fs = time_fs;
    w->n_set++;
    if (e < w->in_set)
        w->in_set = e;
    if (e < w->next)
        w->next = e;
}

/* The lowest of a set that is not empty. */
static inline uint32_t wakes_lowest(const struct wakes *w)
{
    uint32_t f = 0, word;

    while (!w->filled[f])
        f++;
    word = f * 64 + (uint32_t)__builtin_ctzll(w->filled[f]);
    return word * 64 + (uint32_t)__builtin_ctzll(w->set[word]);
}

/* Takes the first. */
static inline void wakes_take(struct wakes *w)
{
    uint32_t pe = ev_slot(w->next);

    if (w->next == w->in_line) {
        w->head++;
        w->in_line = w->head != w->tail ? w->line[w->head & w->mask] : EV_NONE;
    } else {
        w->set[pe / 64] &= ~(UINT64_C(1) << pe % 64);
        if (!w->set[pe / 64])
            w->filled[pe / 4096] &= ~(UINT64_C(1) << pe / 64 % 64);
        w->in_set = --w->n_set ? wakes_event(w->set_fs, wakes_lowest(w)) : EV_NONE;
    }
    w->next = w->in_line < w->in_set ? w->in_line : w->in_set;
}

#endif
