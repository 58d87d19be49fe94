/*
 * calendar.h -- which transaction has the next event, where each has one at most.
 *
 * The event of a transaction lies in its own row: a time, a class, and a row behind it in the same
 * list. So nothing is allocated for an event, and nothing is copied to post one.
 *
 * Time is cut into buckets of 2^width fs, and CALENDAR_BUCKETS of them are a window. A bucket of
 * the present window has a list; so has each of as many windows ahead, whose buckets are not told
 * apart yet; what lies behind them all is in one list, `far`. Bitmaps of two levels find the next
 * list that is not empty by two instructions.
 *
 * A list is in no order. When its bucket is due, it is sorted by (time, class, id, slot), which is
 * all that the order of events may depend on (docs/model.md "Order of events"); a bucket with one
 * event, as most are, is not even looked at. What is posted into the bucket that is due, by one of
 * its own events, goes to a heap, `late`, and the next event is the earlier of the two.
 *
 * The width follows the density. At the edge of a window nothing is near, so a review there may
 * choose another width and post again whatever lies ahead. It counts instants, not events, because
 * events of one instant cannot be told apart by any width:
 *
 *     more than 6 instants in 4 buckets that are used      half as wide, or a quarter
 *     a sixteenth of all buckets used, by one instant      twice as wide, or four times
 *     an eighth of what is posted lies far                 sixteen times as wide
 *
 * A width stays for as many instants as there were events when it was chosen. So each event is
 * posted again about once, even if thousands lie ahead and each width looks wrong: of 20,000 reads
 * that are under way at once, some end far behind the others, and those that end next are dense.
 *
 * No width changes the order, only the time that it takes.
 *
 * Invariants
 *   - No event is posted before the time of the one taken last; so no list is behind `now`, the
 *     number of the bucket that is due, counted from time 0.
 *   - A list of a window ahead has buckets of that window only. Windows ahead are those that differ
 *     from the present one by less than CALENDAR_BUCKETS: two never share a list.
 *   - `far` may contain events of a window that is ahead by now. far_window says which window the
 *     first of them is of; it is spread over the lists before that window opens.
 *
 * Example: width 19, a bucket is 0.524 ns, a window 2.147 us. At 0 three arrivals are posted, of
 * ids 7, 5 and 6 at 18.3, 18.3 and 4.1 ns. The first two lie in bucket 34, the list 5 -> 7; the
 * third is alone in bucket 7. Bucket 7 is due: its event is taken as it is, and posts an arrival
 * for 4.1 ns + 0: bucket 7 is due, so it goes to `late`, and is taken next. Then bucket 34 is due:
 * its list is sorted, 5 before 7.
 */
#ifndef CALENDAR_H
#define CALENDAR_H
#include "engine/ev.h"
#include "engine/txn.h"

enum {
    CALENDAR_BITS = 12,
    CALENDAR_BUCKETS = 1 << CALENDAR_BITS,
    CALENDAR_WORDS = CALENDAR_BUCKETS / 64
};

/*
 * A list of rows, the last that was put there first: its first four, as ~ of their numbers, of
 * which the lower 32 bits of `young` are the first; 0: there is no such row. A row says which
 * one lies four places behind it (txn.next): the rows of thousands of transactions are not in the
 * cache, and so four of them are waited for at a time, not each for the one before it.
 */
struct calendar_list {
    uint64_t young, old;
};

/* Lists, and which of them are not empty. */
struct calendar_lists {
    uint64_t any;                   /* words that are not 0 */
    uint64_t words[CALENDAR_WORDS]; /* lists that are not empty */
    struct calendar_list rows[CALENDAR_BUCKETS];
};

struct calendar {
    uint64_t now;   /* the bucket that is due */
    unsigned width; /* a bucket lasts 2^width fs */
    bool no_memory; /* an event has been lost: the run has to end */
    /* Of the bucket that is due: in order, taken up to i_due; and a heap of what came since. */
    ev *due, *late; /* owned */
    uint32_t n_due, i_due, n_late, due_room, late_room;
    struct calendar_list far;
    uint64_t far_window; /* of the first in it; UINT64_MAX: it is empty */
    /* Since the last review: buckets that were due, instants beside one each, windows, posts to
     * `far`. */
    uint64_t n_buckets, n_shared, n_windows, n_far;
    uint64_t n_moved; /* events that the last width was chosen with */
    struct calendar_lists near, windows;
};

/* Empty, at time 0: of one that is zeroed, or was made by this. It keeps the room that it had. */
void calendar_clear(struct calendar *c);
void calendar_free(struct calendar *c);

/* Of a bucket that is due; of a window ahead, or behind all.  False: no memory. */
bool calendar_post_late(struct calendar *c, ev e);
void calendar_post_ahead(struct calendar *c, struct txn *txns, uint32_t slot);

/* Goes on to the next window that has events, and returns its first; TXN_NONE: there is none. */
uint32_t calendar_turn(struct calendar *c, struct txn *txns);

/* The first event of the bucket that is due, which has `list`. */
uint32_t calendar_take_due(struct calendar *c, struct txn *txns, struct calendar_list list);
uint32_t calendar_take_late(struct calendar *c);

/* Nothing is due: goes on to the next bucket, unless it begins behind `until_fs`. False: so it is,
 * or there is none. */
bool calendar_look(struct calendar *c, struct txn *txns, uint64_t until_fs);

/* Nothing is due: the earliest time at which an event may be; UINT64_MAX: there is none. */
uint64_t calendar_least_fs(const struct calendar *c);

static inline ev calendar_key(const struct txn *txns, uint32_t slot)
{
    const struct txn *x = &txns[slot];

    return ev_make(x->at_fs, (enum ev_class)x->class, x->id, slot);
}

static inline void calendar_add(struct calendar_list *l, struct txn *txns, uint32_t slot)
{
    txns[slot].next = ~(uint32_t)(l->old >> 32);
    l->old = l->old << 32 | l->young >> 32;
    l->young = l->young << 32 | ~slot;
}

static inline uint32_t calendar_first_of(const struct calendar_list *l)
{
    return ~(uint32_t)l->young;
}

/* Takes out the first row of a list, which is not empty. */
static inline uint32_t calendar_take_first(struct calendar_list *l, const struct txn *txns)
{
    uint32_t slot = calendar_first_of(l);

    l->young = l->young >> 32 | l->old << 32;
    l->old = l->old >> 32 | (uint64_t)~txns[slot].next << 32;
    return slot;
}

static inline void calendar_put(struct calendar_lists *l, uint32_t k, struct txn *txns,
                                uint32_t slot)
{
    uint64_t *word = &l->words[k / 64], bit = UINT64_C(1) << k % 64;

    calendar_add(&l->rows[k], txns, slot);
    *word |= bit;
    l->any |= UINT64_C(1) << k / 64;
}

/* The event in the row of `slot`, which has none: at `at_fs`. False: no memory. */
static inline __attribute__((always_inline)) bool calendar_post(struct calendar *c,
                                                                struct txn *txns, uint32_t slot,
                                                                uint64_t at_fs, enum ev_class class)
{
    uint64_t bucket = at_fs >> c->width;

    txns[slot].at_fs = at_fs;
    txns[slot].class = class;
    if (bucket <= c->now && !c->n_late && c->late_room) {
        c->late[c->n_late++] = calendar_key(txns, slot);
        return true;
    }
    if (bucket <= c->now)
        return calendar_post_late(c, calendar_key(txns, slot));
    if ((bucket ^ c->now) >> CALENDAR_BITS == 0)
        calendar_put(&c->near, bucket % CALENDAR_BUCKETS, txns, slot);
    else
        calendar_post_ahead(c, txns, slot);
    return true;
}

/* Takes out list `k`, which is not empty. */
static inline struct calendar_list calendar_take_list(struct calendar_lists *l, uint32_t k)
{
    struct calendar_list list = l->rows[k];

    l->words[k / 64] &= ~(UINT64_C(1) << k % 64);
    l->any &= ~((uint64_t)!l->words[k / 64] << k / 64);
    l->rows[k] = (struct calendar_list){0};
    return list;
}

/* The first list that is not empty; some is. */
static inline uint32_t calendar_first_list(const struct calendar_lists *l)
{
    uint32_t word = (uint32_t)__builtin_ctzll(l->any);

    return word * 64 + (uint32_t)__builtin_ctzll(l->words[word]);
}

/* Goes on to the next bucket of this window, which has some, and takes its first event. */
static inline uint32_t calendar_next_bucket(struct calendar *c, struct txn *txns)
{
    uint32_t k = calendar_first_list(&c->near);
    struct calendar_list list = calendar_take_list(&c->near, k);

    c->now = (c->now & ~(uint64_t)(CALENDAR_BUCKETS - 1)) + k;
    c->n_buckets++;
    return __builtin_expect(list.young >> 32 == 0, true) ? calendar_first_of(&list)
                                                         : calendar_take_due(c, txns, list);
}

/* Takes the next event, which lies in the row returned; TXN_NONE: there is none. */
static inline uint32_t calendar_take(struct calendar *c, struct txn *txns)
{
    if (c->i_due < c->n_due && (!c->n_late || c->due[c->i_due] < c->late[0]))
        return ev_slot(c->due[c->i_due++]);
    if (c->n_late == 1)
        return ev_slot(c->late[--c->n_late]);
    if (c->n_late)
        return calendar_take_late(c);
    return c->near.any ? calendar_next_bucket(c, txns) : calendar_turn(c, txns);
}

/*
 * The first event, which stays; a later one than any if it lies behind `until_fs`. Time may stand
 * before it: what lies between comes from elsewhere, and posts events of its own.
 */
static inline ev calendar_first(struct calendar *c, struct txn *txns, uint64_t until_fs)
{
    ev late, due;

    if (c->i_due == c->n_due && !c->n_late && !calendar_look(c, txns, until_fs))
        return EV_NONE;
    late = c->n_late ? c->late[0] : EV_NONE;
    due = c->i_due < c->n_due ? c->due[c->i_due] : EV_NONE;
    return due < late ? due : late;
}

/* The list of the next bucket of this window that has one; NULL: none has. */
static inline const struct calendar_list *calendar_next_list(const struct calendar *c)
{
    return c->near.any ? &c->near.rows[calendar_first_list(&c->near)] : NULL;
}

/* A row that will have an event soon, mostly the next; TXN_NONE: none is known without a search. */
static inline uint32_t calendar_near(const struct calendar *c)
{
    const struct calendar_list *next;

    if (c->i_due < c->n_due)
        return ev_slot(c->due[c->i_due]);
    next = calendar_next_list(c);
    return next ? calendar_first_of(next) : TXN_NONE;
}

/* The list behind calendar_next_list(), which is one; NULL: there is none. */
static inline const struct calendar_list *calendar_second_list(const struct calendar *c)
{
    const struct calendar_lists *l = &c->near;
    uint32_t word = (uint32_t)__builtin_ctzll(l->any);
    uint64_t in_word = l->words[word], any = l->any & (l->any - 1);

    in_word &= in_word - 1;
    if (!in_word && !any)
        return NULL;
    if (!in_word) {
        word = (uint32_t)__builtin_ctzll(any);
        in_word = l->words[word];
    }
    return &l->rows[word * 64 + (uint32_t)__builtin_ctzll(in_word)];
}

/* The row of the event that is `ahead` behind the next, if it is known by now; else of none. */
static inline uint32_t calendar_soon(const struct calendar *c, uint32_t ahead)
{
    return c->n_due - c->i_due > ahead ? ev_slot(c->due[c->i_due + ahead]) : TXN_NONE;
}

#endif
