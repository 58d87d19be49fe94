/* hold.c -- the hold model: take the first event, push it again a delay later, over and over. */
#include "hold.h"
#include "bench.h"
#include "engine/calendar.h"
#include <stdlib.h>

enum { N_DELAYS = 65536, HOLDS = 500000, WARM_UP = HOLDS / 4 };

const char *const hold_queue_names[] = {[HOLD_HEAP] = "heap", [HOLD_CALENDAR] = "calendar"};
const char *const hold_delays_names[] = {[HOLD_UNIFORM] = "uniform", [HOLD_MODEL] = "model"};

/* -- the textbook's heap, 4-ary, of the keys that the event queue has ----------------------- */

struct heap {
    ev *rows;
    size_t n;
};

static void heap_push(struct heap *h, ev e)
{
    size_t i = h->n++;

    while (i > 0 && e < h->rows[(i - 1) / 4]) {
        h->rows[i] = h->rows[(i - 1) / 4];
        i = (i - 1) / 4;
    }
    h->rows[i] = e;
}

/* Of four children in two rounds, as in a tournament: this leaves nothing to guess wrong. */
static inline size_t heap_least_child(const struct heap *h, size_t i)
{
    const ev *rows = h->rows;
    size_t c = 4 * i + 1, least = c;

    if (c + 3 < h->n) {
        size_t a = c + (rows[c + 1] < rows[c]), b = c + 2 + (rows[c + 3] < rows[c + 2]);

        return rows[b] < rows[a] ? b : a;
    }
    while (++c < h->n)
        if (rows[c] < rows[least])
            least = c;
    return least;
}

static ev heap_pop(struct heap *h)
{
    ev first = h->rows[0], last = h->rows[--h->n];
    size_t i = 0;

    while (4 * i + 1 < h->n) {
        size_t c = heap_least_child(h, i);

        if (last <= h->rows[c])
            break;
        h->rows[i] = h->rows[c];
        i = c;
    }
    h->rows[i] = last;
    return first;
}

/* -- holds ---------------------------------------------------------------------------------- */

static uint64_t delay_fs(enum hold_delays delays, uint64_t *seed)
{
    static const uint64_t model[] = {10000,   25000,   90000,    250000,   1000000,
                                     2000000, 5000000, 10000000, 16000000, 32000000};

    if (delays == HOLD_MODEL)
        return model[bench_random(seed) % (sizeof model / sizeof *model)];
    return bench_random(seed) % 20000000;
}

/* The same event again, `delay_fs` later. */
static inline ev later(ev e, uint64_t delay_fs)
{
    return e + ((ev)delay_fs << 64);
}

static double hold_heap(struct heap *h, const uint64_t *delays, uint64_t *order)
{
    double begin = 0;

    for (int i = -WARM_UP; i < HOLDS; i++) {
        if (i == 0)
            begin = bench_processor_ns();
        ev e = heap_pop(h);
        *order = *order * 31 + (uint64_t)e + ev_time_fs(e);
        heap_push(h, later(e, delays[(unsigned)i % N_DELAYS]));
    }
    return (bench_processor_ns() - begin) / HOLDS;
}

static double hold_calendar(struct calendar *c, struct txn *txns, const uint64_t *delays,
                            uint64_t *order)
{
    double begin = 0;

    for (int i = -WARM_UP; i < HOLDS; i++) {
        if (i == 0)
            begin = bench_processor_ns();
        uint32_t slot = calendar_take(c, txns);
        uint64_t at_fs = txns[slot].at_fs;
        *order = *order * 31 + (uint64_t)calendar_key(txns, slot) + at_fs;
        if (!calendar_post(c, txns, slot, at_fs + delays[(unsigned)i % N_DELAYS], EV_ARRIVE))
            return -1;
    }
    return (bench_processor_ns() - begin) / HOLDS;
}

static double fill_and_hold_heap(const uint64_t *delays, size_t pending, uint64_t *order)
{
    struct heap h = {.rows = malloc(pending * sizeof *h.rows)};
    double ns = -1;

    if (h.rows) {
        for (uint32_t i = 0; i < pending; i++)
            heap_push(&h, ev_make(delays[i % N_DELAYS], EV_ARRIVE, i, i));
        ns = hold_heap(&h, delays, order);
    }
    free(h.rows);
    return ns;
}

static double fill_and_hold_calendar(const uint64_t *delays, size_t pending, uint64_t *order)
{
    static struct calendar c;
    struct txn *txns = calloc(pending, sizeof *txns);
    bool ok = txns != NULL;
    double ns = -1;

    calendar_clear(&c);
    for (uint32_t i = 0; ok && i < pending; i++) {
        txns[i].id = i;
        ok = calendar_post(&c, txns, i, delays[i % N_DELAYS], EV_ARRIVE);
    }
    if (ok)
        ns = hold_calendar(&c, txns, delays, order);
    calendar_free(&c);
    c = (struct calendar){0};
    free(txns);
    return ns;
}

double hold_ns(enum hold_queue queue, enum hold_delays delays, size_t pending, uint64_t *order)
{
    static uint64_t list[N_DELAYS];
    uint64_t seed = 42;

    for (size_t i = 0; i < N_DELAYS; i++)
        list[i] = delay_fs(delays, &seed);
    *order = 0;
    return queue == HOLD_HEAP ? fill_and_hold_heap(list, pending, order)
                              : fill_and_hold_calendar(list, pending, order);
}
