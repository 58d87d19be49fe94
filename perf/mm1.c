/*
 * mm1.c -- events a second of the bare event core: a queue M/M/1, and nothing else.
 *
 * Customers come at random (Poisson) to one server, wait in a line, first come first served, and
 * are served for a random (exponential) time. An event is an arrival or the end of a service; each
 * is taken from the calendar of events (engine/calendar.h) and posts the next. The time that a
 * customer spends is measured from the time of arrival, which travels with the customer. Simulation
 * libraries are often compared by this model, with a load of 0.9 as here.
 *
 * usage: mm1 CUSTOMERS ROUNDS   samples to stdout (bench.h); ends with 1 if the mean time spent or
 *                               the mean number of customers is not what theory says
 */
#include "bench.h"
#include "engine/calendar.h"
#include "base/rng.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Means, in fs, and so a load of 0.9. */
#define SERVICE_FS  9e6
#define INTERVAL_FS 10e6

/* -- exponential numbers -------------------------------------------------------------------- */

/*
 * Marsaglia and Tsang's ziggurat (Journal of Statistical Software 5, 8, 2000) with 256 layers of
 * equal area: in 98.9 % of all cases one multiplication and one comparison.
 */
enum { LAYERS = 256 };

static struct {
    uint64_t inside; /* of 2^56, what surely lies below the curve */
    double scale;    /* width of a layer / 2^56 */
} layers[LAYERS];
static double heights[LAYERS]; /* exp(-x) at the layers' ends */

static void layers_init(void)
{
    const double area = 3.949659822581572e-3;
    double x = 7.69711747013104972, below = x;

    layers[0].inside = (uint64_t)(x * exp(-x) / area * 0x1p56);
    layers[0].scale = area / exp(-x) * 0x1p-56;
    layers[1].inside = 0;
    heights[0] = 1;
    layers[LAYERS - 1].scale = x * 0x1p-56;
    heights[LAYERS - 1] = exp(-x);
    for (int i = LAYERS - 2; i > 0; i--) {
        x = -log(area / below + exp(-below));
        layers[i + 1].inside = (uint64_t)(x / below * 0x1p56);
        below = x;
        heights[i] = exp(-x);
        layers[i].scale = x * 0x1p-56;
    }
}

/* Where one look is not enough: at the tail, or between curve and layer. Negative: again. */
static double exponential_slow(struct rng *r, uint32_t layer, double x)
{
    if (layer == 0)
        return 7.69711747013104972 - log(rng_unit(r));
    if (heights[layer] + rng_unit(r) * (heights[layer - 1] - heights[layer]) < exp(-x))
        return x;
    return -1;
}

/* Exponential, of mean 1. */
static inline double exponential(struct rng *r)
{
    for (;;) {
        uint64_t bits = rng_next(r);
        uint32_t layer = bits % LAYERS;
        double x = (double)(int64_t)(bits >> 8) * layers[layer].scale;

        if (__builtin_expect(bits >> 8 < layers[layer].inside, 1))
            return x;
        x = exponential_slow(r, layer, x);
        if (x >= 0)
            return x;
    }
}

/* -- the queue ------------------------------------------------------------------------------ */

/* Customers there are, by the time of their arrival: a ring that grows; the first is served. */
struct line {
    uint64_t *arrived_fs; /* owned */
    uint32_t first, n, size;
};

static bool line_grow(struct line *l)
{
    uint64_t *wider = malloc(2 * (size_t)l->size * sizeof *wider);

    if (!wider)
        return false;
    for (uint32_t i = 0; i < l->n; i++)
        wider[i] = l->arrived_fs[(l->first + i) & (l->size - 1)];
    free(l->arrived_fs);
    *l = (struct line){wider, 0, l->n, 2 * l->size};
    return true;
}

enum { NEXT_ARRIVAL, NEXT_END, N_ROWS };

struct mm1 {
    struct calendar calendar;
    struct txn rows[N_ROWS];
    struct rng rng;
    struct line line;
    uint64_t customers; /* to come */
    uint64_t events, served, end_fs;
    double spent_fs; /* in line and service, summed over those served */
};

static inline bool post(struct mm1 *m, uint64_t now_fs, double mean_fs, enum ev_class class)
{
    uint64_t delay_fs = (uint64_t)(int64_t)(mean_fs * exponential(&m->rng));

    return calendar_post(&m->calendar, m->rows, class == EV_DONE ? NEXT_END : NEXT_ARRIVAL,
                         now_fs + delay_fs, class);
}

static inline bool arrive(struct mm1 *m, uint64_t now_fs)
{
    struct line *l = &m->line;

    if (l->n == l->size && !line_grow(l))
        return false;
    l->arrived_fs[(l->first + l->n++) & (l->size - 1)] = now_fs;
    if (l->n == 1 && !post(m, now_fs, SERVICE_FS, EV_DONE))
        return false;
    return --m->customers == 0 || post(m, now_fs, INTERVAL_FS, EV_ARRIVE);
}

static inline bool leave(struct mm1 *m, uint64_t now_fs)
{
    struct line *l = &m->line;

    m->spent_fs += (double)(int64_t)(now_fs - l->arrived_fs[l->first]);
    m->served++;
    l->first = (l->first + 1) & (l->size - 1);
    return --l->n == 0 || post(m, now_fs, SERVICE_FS, EV_DONE);
}

/* False if there is no memory. */
static bool run(struct mm1 *m)
{
    bool ok = post(m, 0, INTERVAL_FS, EV_ARRIVE);
    uint64_t now_fs = 0, events = 0;

    for (uint32_t row; ok && (row = calendar_take(&m->calendar, m->rows)) != TXN_NONE;) {
        now_fs = m->rows[row].at_fs;
        events++;
        ok = row == NEXT_END ? leave(m, now_fs) : arrive(m, now_fs);
    }
    m->events = events;
    m->end_fs = now_fs;
    return ok;
}

/* -- what theory says ----------------------------------------------------------------------- */

/*
 * Mean time 1 / (1 / service - 1 / interval), mean number load / (1 - load). At this load one
 * customer's time says much about the next one's, so a mean over n of them has a relative error of
 * sqrt(2 (1 + load) / load / n) / (1 - load): five of those are allowed.
 */
static bool as_theory_says(const struct mm1 *m, double mean_fs, double number)
{
    const double load = SERVICE_FS / INTERVAL_FS;
    double allowed = 5 * sqrt(2 * (1 + load) / load / (double)m->served) / (1 - load);

    return fabs(mean_fs / (SERVICE_FS / (1 - load)) - 1) < allowed &&
           fabs(number / (load / (1 - load)) - 1) < allowed;
}

static bool report(const struct mm1 *m, double ns, int round)
{
    double mean_fs = m->spent_fs / (double)m->served, number = m->spent_fs / (double)m->end_fs;

    bench_sample("mm1", "event", "ns", round, ns / (double)m->events);
    bench_sample("mm1", "time", "ns", round, mean_fs / 1e6);
    bench_sample("mm1", "number", "customers", round, number);
    if (as_theory_says(m, mean_fs, number))
        return true;
    fprintf(stderr, "mm1: mean time %g ns, mean number %g: not what theory says\n", mean_fs / 1e6,
            number);
    return false;
}

int main(int argc, char **argv)
{
    uint64_t customers = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
    int rounds = argc == 3 ? atoi(argv[2]) : 0;

    if (customers == 0 || rounds < 1) {
        fprintf(stderr, "usage: mm1 CUSTOMERS ROUNDS\n");
        return 2;
    }
    layers_init();
    for (int round = 0; round < rounds; round++) {
        static struct mm1 m;

        m = (struct mm1){.rng = rng_new((uint64_t)round, "mm1"), .customers = customers};
        m.line = (struct line){.arrived_fs = malloc(64 * sizeof(uint64_t)), .size = 64};
        calendar_clear(&m.calendar);
        if (!m.line.arrived_fs)
            return 5;
        double begin_ns = bench_processor_ns();
        if (!run(&m))
            return 5;
        double ns = bench_processor_ns() - begin_ns;
        calendar_free(&m.calendar);
        free(m.line.arrived_fs);
        if (!report(&m, ns, round))
            return 1;
    }
    return 0;
}
