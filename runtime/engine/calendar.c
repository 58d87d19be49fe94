/* calendar.c -- buckets that become due, windows that open, and how wide they are. */
#include "engine/calendar.h"
#include "base/rows.h"
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH_FIRST = 19, /* half a nanosecond */
    WIDTH_LEAST = 8,
    WIDTH_MOST = 44,
    SORTED_BY_STEPS = 16,
    REVIEW_INSTANTS = 64, /* fewer say nothing about the density */
    CROWDED = 6,          /* instants in four buckets that are used */
    REVIEW_WINDOWS = 16,  /* after so many its counts begin again */
    FULL = 8              /* more instants than buckets: no edge of a window is waited for */
};

/* -- lists ------------------------------------------------------------------------------------ */

static void empty(struct calendar_lists *l)
{
    while (l->any)
        calendar_take_list(l, calendar_first_list(l));
}

static void count_again(struct calendar *c)
{
    c->n_shared = c->n_buckets = c->n_windows = c->n_far = 0;
}

void calendar_clear(struct calendar *c)
{
    empty(&c->near);
    empty(&c->windows);
    c->now = 0;
    c->width = WIDTH_FIRST;
    c->n_due = c->i_due = c->n_late = 0;
    c->far = (struct calendar_list){0};
    c->far_window = UINT64_MAX;
    c->n_moved = 0;
    count_again(c);
    c->no_memory = false;
}

void calendar_free(struct calendar *c)
{
    free(c->due);
    free(c->late);
}

/* Room for one more than `n`. Without memory that is noted, and the event is lost. */
static bool room_for(struct calendar *c, ev **rows, uint32_t *room, uint32_t n)
{
    if (n < *room)
        return true;
    c->no_memory |= !rows_grow(rows, room, n + 1, sizeof **rows);
    return n < *room;
}

/* -- the heap of what came late -------------------------------------------------------------- */

bool calendar_post_late(struct calendar *c, ev e)
{
    uint32_t i = c->n_late;

    if (!room_for(c, &c->late, &c->late_room, c->n_late))
        return false;
    for (; i && c->late[(i - 1) / 2] > e; i = (i - 1) / 2)
        c->late[i] = c->late[(i - 1) / 2];
    c->late[i] = e;
    c->n_late++;
    return true;
}

uint32_t calendar_take_late(struct calendar *c)
{
    ev first = c->late[0], last = c->late[--c->n_late];
    uint32_t i = 0;

    for (uint32_t child = 1; child < c->n_late; i = child, child = 2 * child + 1) {
        child += child + 1 < c->n_late && c->late[child + 1] < c->late[child];
        if (c->late[child] >= last)
            break;
        c->late[i] = c->late[child];
    }
    c->late[i] = last;
    return ev_slot(first);
}

/* -- windows ahead ---------------------------------------------------------------------------- */

/* The first from `k` on, and then from 0 on. */
static uint32_t first_list_from(const struct calendar_lists *l, uint32_t k)
{
    uint64_t bits = l->words[k / 64] >> k % 64 << k % 64;
    uint64_t later = k / 64 < 63 ? l->any >> (k / 64 + 1) << (k / 64 + 1) : 0;
    uint32_t word = k / 64;

    if (!bits) {
        word = (uint32_t)__builtin_ctzll(later ? later : l->any);
        bits = l->words[word];
    }
    return word * 64 + (uint32_t)__builtin_ctzll(bits);
}

void calendar_post_ahead(struct calendar *c, struct txn *txns, uint32_t slot)
{
    uint64_t window = txns[slot].at_fs >> c->width >> CALENDAR_BITS;

    if (window - (c->now >> CALENDAR_BITS) < CALENDAR_BUCKETS) {
        calendar_put(&c->windows, window % CALENDAR_BUCKETS, txns, slot);
        return;
    }
    calendar_add(&c->far, txns, slot);
    c->n_far++;
    if (window < c->far_window)
        c->far_window = window;
}

/* Posts again what is in a list; returns how many. */
static uint64_t post_list(struct calendar *c, struct txn *txns, struct calendar_list list)
{
    uint64_t n = 0;

    for (; list.young; n++) {
        uint32_t slot = calendar_take_first(&list, txns);

        calendar_post(c, txns, slot, txns[slot].at_fs, (enum ev_class)txns[slot].class);
    }
    return n;
}

/* -- the width -------------------------------------------------------------------------------- */

/* Takes out all of `lists`, into the list `all`. */
static void take_lists(struct calendar_lists *lists, struct txn *txns, struct calendar_list *all)
{
    while (lists->any) {
        struct calendar_list list = calendar_take_list(lists, calendar_first_list(lists));

        while (list.young)
            calendar_add(all, txns, calendar_take_first(&list, txns));
    }
}

static struct calendar_list take_all(struct calendar *c, struct txn *txns)
{
    struct calendar_list all = c->far;

    c->far = (struct calendar_list){0};
    c->far_window = UINT64_MAX;
    take_lists(&c->windows, txns, &all);
    take_lists(&c->near, txns, &all);
    return all;
}

/* Nothing is due: all that lies ahead is posted again. */
static void set_width(struct calendar *c, struct txn *txns, unsigned width)
{
    uint64_t now_fs = c->now << c->width; /* no event lies before it */
    struct calendar_list all = take_all(c, txns);

    c->width = width < WIDTH_LEAST ? WIDTH_LEAST : width > WIDTH_MOST ? WIDTH_MOST : width;
    c->now = now_fs >> c->width;
    c->n_moved = post_list(c, txns, all);
}

/* `list` is due, and lists are long: narrower buckets, at once. */
static void narrow(struct calendar *c, struct txn *txns, struct calendar_list list)
{
    unsigned width = c->width;

    for (uint64_t shared = c->n_shared; shared > c->n_buckets && width > WIDTH_LEAST; shared /= 2)
        width--;
    count_again(c);
    set_width(c, txns, width);
    post_list(c, txns, list);
}

/* A window has ended: are its buckets as wide as they should be? */
static void review(struct calendar *c, struct txn *txns)
{
    uint64_t used = c->n_buckets, instants = used + c->n_shared;
    unsigned width = c->width;

    c->n_windows++;
    if (instants < REVIEW_INSTANTS || (c->n_windows < 2 && c->n_far == 0))
        return;
    if (instants + c->n_far < c->n_moved)
        return;
    if (c->n_far * 8 > instants)
        width += 4;
    else if (4 * instants > CROWDED * used)
        width -= instants > 8 * used ? 2 : 1;
    else if (used < CALENDAR_BUCKETS / 16 * c->n_windows && instants < used + used / 8)
        width += used < CALENDAR_BUCKETS / 64 * c->n_windows ? 2 : 1;
    else if (c->n_windows < REVIEW_WINDOWS)
        return;
    count_again(c);
    if (width != c->width)
        set_width(c, txns, width);
}

/* -- windows ---------------------------------------------------------------------------------- */

/* The next window that has a list; UINT64_MAX: none has. */
static uint64_t next_window(const struct calendar *c)
{
    uint64_t window = (c->now >> CALENDAR_BITS) + 1;

    if (!c->windows.any)
        return UINT64_MAX;
    return window +
           (first_list_from(&c->windows, window % CALENDAR_BUCKETS) - window) % CALENDAR_BUCKETS;
}

/*
 * Moves on to `window`, the next that has a list, or to that of the first in `far`, if it is not
 * later. What lies in the first bucket is due at once.
 */
static void open_window(struct calendar *c, struct txn *txns, uint64_t window)
{
    uint64_t opens = window < c->far_window ? window : c->far_window;
    struct calendar_list list = {0}, far = {0};

    if (opens == window)
        list = calendar_take_list(&c->windows, window % CALENDAR_BUCKETS);
    if (opens == c->far_window) {
        far = c->far;
        c->far = (struct calendar_list){0};
        c->far_window = UINT64_MAX;
    }
    c->now = opens << CALENDAR_BITS;
    post_list(c, txns, list);
    post_list(c, txns, far);
}

/* Nothing is near. False: nothing is left at all. */
static bool next_near(struct calendar *c, struct txn *txns)
{
    uint64_t window;

    c->now |= CALENDAR_BUCKETS - 1;
    review(c, txns);
    if (c->near.any || c->n_late)
        return true;
    window = next_window(c);
    if (window == UINT64_MAX && !c->far.young)
        return false;
    open_window(c, txns, window);
    return true;
}

/* -- the bucket that is due ------------------------------------------------------------------- */

static void sort_few(ev *rows, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        ev row = rows[i];
        uint32_t k = i;

        for (; k > 0 && rows[k - 1] > row; k--)
            rows[k] = rows[k - 1];
        rows[k] = row;
    }
}

static bool is_sorted(const ev *rows, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (rows[i - 1] > rows[i])
            return false;
    return true;
}

/* The last that was posted comes first in a list, and most are posted in order: so it is turned. */
static void turn_over(ev *rows, uint32_t n)
{
    for (uint32_t i = 0; i < n / 2; i++) {
        ev row = rows[i];

        rows[i] = rows[n - 1 - i];
        rows[n - 1 - i] = row;
    }
}

/* Merges two lists that are in order, `n_a` rows and those behind them up to `n`, into `out`. */
static void merge(const ev *rows, uint32_t n_a, uint32_t n, ev *out)
{
    uint32_t a = 0, b = n_a;

    for (uint32_t i = 0; i < n; i++)
        out[i] = b == n || (a < n_a && rows[a] < rows[b]) ? rows[a++] : rows[b++];
}

/* Pieces of a few rows, then two of them at a time; behind the rows there is room for as many. */
static void sort_many(ev *rows, uint32_t n)
{
    ev *from = rows, *to = rows + n, *last;

    for (uint32_t i = 0; i < n; i += SORTED_BY_STEPS)
        sort_few(rows + i, n - i < SORTED_BY_STEPS ? n - i : SORTED_BY_STEPS);
    for (uint32_t piece = SORTED_BY_STEPS; piece < n; piece *= 2) {
        for (uint32_t i = 0; i < n; i += 2 * piece) {
            uint32_t left = n - i;

            merge(from + i, left < piece ? left : piece, left < 2 * piece ? left : 2 * piece,
                  to + i);
        }
        last = from;
        from = to;
        to = last;
    }
    if (from != rows)
        memcpy(rows, from, n * sizeof *rows);
}

static void sort_due(ev *rows, uint32_t n)
{
    turn_over(rows, n);
    if (n <= SORTED_BY_STEPS)
        sort_few(rows, n);
    else if (!is_sorted(rows, n))
        sort_many(rows, n);
}

/* Its list in order. Without memory there is no next event. */
static void make_due(struct calendar *c, const struct txn *txns, struct calendar_list list)
{
    c->i_due = c->n_due = 0;
    while (list.young) {
        if (!room_for(c, &c->due, &c->due_room, c->n_due))
            return;
        c->due[c->n_due++] = calendar_key(txns, calendar_take_first(&list, txns));
    }
    if (!room_for(c, &c->due, &c->due_room, 2 * c->n_due))
        return;
    sort_due(c->due, c->n_due);
    for (uint32_t i = 1; i < c->n_due; i++)
        c->n_shared += ev_time_fs(c->due[i]) != ev_time_fs(c->due[i - 1]);
}

uint32_t calendar_take_due(struct calendar *c, struct txn *txns, struct calendar_list list)
{
    if (c->n_shared > FULL * c->n_buckets && c->n_shared > FULL * REVIEW_INSTANTS &&
        c->width > WIDTH_LEAST) {
        narrow(c, txns, list);
        return calendar_take(c, txns);
    }
    make_due(c, txns, list);
    return c->no_memory ? TXN_NONE : ev_slot(c->due[c->i_due++]);
}

uint32_t calendar_turn(struct calendar *c, struct txn *txns)
{
    while (!c->near.any) {
        if (c->no_memory || !next_near(c, txns))
            return TXN_NONE;
        if (c->n_late) /* of the first bucket of a window */
            return calendar_take_late(c);
    }
    return calendar_next_bucket(c, txns);
}

/* The number of the next bucket that may have events; one of a window ahead is its first. */
static uint64_t next_bucket(const struct calendar *c)
{
    uint64_t window;

    if (c->near.any)
        return (c->now & ~(uint64_t)(CALENDAR_BUCKETS - 1)) + calendar_first_list(&c->near);
    window = next_window(c);
    if (c->far_window < window)
        window = c->far_window;
    return window == UINT64_MAX ? UINT64_MAX : window << CALENDAR_BITS;
}

uint64_t calendar_least_fs(const struct calendar *c)
{
    uint64_t bucket = next_bucket(c);

    return bucket == UINT64_MAX ? UINT64_MAX : bucket << c->width;
}

bool calendar_look(struct calendar *c, struct txn *txns, uint64_t until_fs)
{
    uint32_t slot;

    if (next_bucket(c) > until_fs >> c->width)
        return false;
    c->i_due = c->n_due = 0;
    slot = c->near.any ? calendar_next_bucket(c, txns) : calendar_turn(c, txns);
    if (c->i_due) { /* the first of several */
        c->i_due--;
        return true;
    }
    return slot != TXN_NONE && calendar_post_late(c, calendar_key(txns, slot));
}
