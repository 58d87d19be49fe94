/* wakes.h -- when each kernel goes on: the events of class 4, kept apart from all others.
 *
 * All other events lie in a calendar queue (engine/ev.h). The events of kernels need none, because
 * of how they come about:
 *
 *   line   A command is issued a fixed time after its call (3 ns on cube8), and kernels call in
 *          order of time. So issues come out in the order in which they went in: a ring buffer.
 *          Where the fixed time is 0, calls of one instant go in by their PEs: wakes_append().
 *   set    A kernel that has waited wakes at the time of the event that wakes it, which is now. So
 *          all that wait to wake have the same time, and only the PE decides: a set of bits, of
 *          which the lowest is first. `filled` has a bit for each word of it that is not 0, so that
 *          wakes_lowest() looks at one word in 4096 PEs.
 *
 * Invariants. `next` is the smaller of `in_line` and `in_set`, each EV_NONE when it is empty. The
 * line is sorted. The set is emptied before time goes on: all other events of an instant (classes 0
 * to 3) come before class 4, and none of them can be earlier than `set_fs`.
 *
 * Example, in ns, with PEs 0 to 2. At 21.085 the loads of PE 2 and PE 0 end: the set is {0, 2}. PE
 * 0 goes first, and calls a dot; its issue goes into the line, at 24.085. PE 2 goes, and calls too:
 * the line is (24.085, 0), (24.085, 2). Neither went through the queue.
 *
 * A load took 205 ns with these events in the queue, and 150 with this and with kernels that run
 * the events between their own (pe/pe_cpu.c). To keep `next` up to date is faster than to look for
 * it when it is asked for: 105 -> 96.
 */
#ifndef WAKES_H
#define WAKES_H
#include "engine/ev.h"
#include <stdlib.h>

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
static inline bool wakes_init(struct wakes *w, uint32_t n)
{
    uint32_t rows = 1;

    while (rows < n)
        rows *= 2;
    *w = (struct wakes){.next = EV_NONE, .in_line = EV_NONE, .in_set = EV_NONE, .mask = rows - 1};
    w->line = malloc(rows * sizeof *w->line);
    w->set = calloc(n / 64 + 1, sizeof *w->set);
    w->filled = calloc(n / 4096 + 1, sizeof *w->filled);
    return w->line && w->set && w->filled;
}

static inline void wakes_free(struct wakes *w)
{
    free(w->line);
    free(w->set);
    free(w->filled);
}

static inline ev wakes_event(uint64_t time_fs, uint32_t pe)
{
    return ev_make(time_fs, EV_KERNEL, pe, pe);
}

/* Adds to the line: at its end, or before events that are later. */
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

/* Adds to the set. `time_fs` is the time of the event that runs now. */
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
