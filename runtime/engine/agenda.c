/* agenda.c -- decisions to come: buckets that become due, and the heap beside them. */
#include "engine/agenda.h"
#include <stdlib.h>
#include <string.h>

enum { WIDTH_FIRST = 16, SORTED_BY_STEPS = 64, A_FEW = 16, BUCKETS_OF_ONE = 32 };

/* -- rows ------------------------------------------------------------------------------------- */

void agenda_free(struct agenda *a)
{
    free(a->due);
    free(a->other);
    free(a->heap);
    free(a->rows);
}

static void free_rows(struct agenda *a, uint32_t from)
{
    for (uint32_t i = a->n_rows; i-- > from;) {
        a->rows[i].next = a->free_row;
        a->free_row = i;
    }
}

void agenda_clear(struct agenda *a)
{
    memset(a->words, 0, sizeof a->words);
    memset(a->heads, 0, sizeof a->heads);
    a->any = a->now = 0;
    a->n_due = a->i_due = a->n_heap = a->free_row = 0;
    a->width = WIDTH_FIRST;
    free_rows(a, 1);
}

void agenda_set_width(struct agenda *a, uint64_t fs)
{
    unsigned width = 0;

    while (width < 40 && fs >> width > BUCKETS_OF_ONE)
        width++;
    a->width = width;
}

static bool widen(struct asked **rows, uint32_t n)
{
    struct asked *more = realloc(*rows, n * sizeof *more);

    if (more)
        *rows = more;
    return more;
}

/* More rows, and as much room in what is due and in the heap: so a decision is lost here or never.
 * What is due stays where it is, and is the end of its rows only when they are filled again. */
static bool grow(struct agenda *a)
{
    enum { FIRST = 256 };
    uint32_t had = a->n_rows ? a->n_rows : 1, n = a->n_rows ? 2 * a->n_rows : FIRST;

    if (!widen(&a->due, n + 1) || !widen(&a->other, n + 1) || !widen(&a->heap, n) ||
        !widen(&a->rows, n))
        return false;
    a->n_rows = n;
    free_rows(a, had);
    return true;
}

/* -- the heap --------------------------------------------------------------------------------- */

static void add_to_heap(struct agenda *a, struct asked row)
{
    uint32_t i = a->n_heap++;

    for (; i && a->heap[(i - 1) / 2].key > row.key; i = (i - 1) / 2)
        a->heap[i] = a->heap[(i - 1) / 2];
    a->heap[i] = row;
}

/* If nothing but the heap is left, buckets are counted from there. */
void agenda_take_heap(struct agenda *a)
{
    struct asked last = a->heap[--a->n_heap];
    uint64_t bucket = ev_time_fs(a->heap[0].key) >> a->width;
    uint32_t i = 0, free_row = a->heap[0].next;

    if (a->i_due == a->n_due && !a->any && bucket > a->now)
        a->now = bucket;
    for (uint32_t child = 1; child < a->n_heap; i = child, child = 2 * child + 1) {
        child += child + 1 < a->n_heap && a->heap[child + 1].key < a->heap[child].key;
        if (a->heap[child].key >= last.key)
            break;
        a->heap[i] = a->heap[child];
    }
    a->heap[i] = last;
    a->rows[free_row].next = a->free_row;
    a->free_row = free_row;
}

bool agenda_add_slow(struct agenda *a, ev key, uint32_t index)
{
    uint32_t row;

    if (!a->free_row && !grow(a))
        return false;
    if ((ev_time_fs(key) >> a->width) - a->now - 1 < AGENDA_BUCKETS - 1)
        return agenda_add(a, key, index);
    row = a->free_row;
    a->free_row = a->rows[row].next;
    add_to_heap(a, (struct asked){key, index, row});
    return true;
}

/* -- the bucket that is due ------------------------------------------------------------------- */

/* A few rows, mostly in order. */
static void sort_few(struct asked *rows, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        struct asked row = rows[i];
        uint32_t k = i;

        for (; k > 0 && rows[k - 1].key > row.key; k--)
            rows[k] = rows[k - 1];
        rows[k] = row;
    }
}

/* `n` rows and the `more` behind them, both in order, into `to`. Which comes next is as good as
 * random, so no branch depends on it. */
static void merge(const struct asked *rows, uint32_t n, uint32_t more, struct asked *to)
{
    const struct asked *a = rows, *b = rows + n, *end_a = b, *end_b = b + more;

    while (a < end_a && b < end_b) {
        bool second = b->key < a->key;

        *to++ = *(second ? b : a);
        a += !second;
        b += second;
    }
    memcpy(to, a, (size_t)(end_a - a) * sizeof *a);
    memcpy(to + (end_a - a), b, (size_t)(end_b - b) * sizeof *b);
}

static void exchange(struct agenda *a)
{
    struct asked *due = a->due;

    a->due = a->other;
    a->other = due;
}

/*
 * Puts what is due in order. Of many rows, as ports of a large machine have at one instant, a few
 * are put in order at a time, then twice as many, until it is all.
 */
static void sort_due(struct agenda *a)
{
    uint32_t first = a->i_due, n = a->n_due - first, few = n > SORTED_BY_STEPS ? A_FEW : n;

    for (uint32_t i = 0; i < n; i += few)
        sort_few(a->due + first + i, n - i < few ? n - i : few);
    for (uint32_t width = few; width < n; width *= 2) {
        for (uint32_t i = 0; i < n; i += 2 * width) {
            uint32_t left = n - i, some = left < width ? left : width;

            left -= some;
            merge(a->due + first + i, some, left < width ? left : width, a->other + first + i);
        }
        exchange(a);
    }
}

/* The first list behind what is due; some list is not empty. */
static uint64_t next_bucket(const struct agenda *a)
{
    uint64_t from = a->now + 1, at = from % AGENDA_BUCKETS;
    uint64_t bits = a->words[at / 64] >> at % 64 << at % 64, later;
    uint64_t word = at / 64;

    if (!bits) {
        later = word < AGENDA_WORDS - 1 ? a->any >> (word + 1) << (word + 1) : 0;
        word = (uint64_t)__builtin_ctzll(later ? later : a->any);
        bits = a->words[word];
    }
    return from + (word * 64 + (uint64_t)__builtin_ctzll(bits) - at) % AGENDA_BUCKETS;
}

void agenda_turn(struct agenda *a)
{
    uint32_t at, row, next;

    a->now = next_bucket(a);
    at = a->now % AGENDA_BUCKETS;
    a->i_due = a->n_due = a->n_rows;
    for (row = a->heads[at]; row; row = next) { /* from the last to the first: mostly in order */
        next = a->rows[row].next;
        a->due[--a->i_due] = a->rows[row];
        a->rows[row].next = a->free_row;
        a->free_row = row;
    }
    a->heads[at] = 0;
    a->words[at / 64] &= ~(UINT64_C(1) << at % 64);
    if (!a->words[at / 64])
        a->any &= ~(UINT64_C(1) << at / 64);
    sort_due(a);
}
