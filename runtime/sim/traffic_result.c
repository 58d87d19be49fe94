/* traffic_result.c -- results of traffic: warm-up cut off, means, percentiles, confidence.
 *
 * Input are simulations that differ in their seeds, each with sums and latencies by TRAFFIC_PARTS
 * parts of the time of issue (engine/traffic.c). In this order:
 *
 *   1. warm-up: how many parts at the beginning to leave out, by the marginal standard error rule.
 *      A machine starts empty, and its first transactions meet no queues.
 *   2. growth: does the mean still grow in what is left? Then the rate is above what the machine
 *      can serve, and mean and percentiles only tell how long the run was. The run is steady if it
 *      does not, and was long against the time in which a queue fills and empties: near saturation
 *      that takes thousands of transactions, and until then the mean is too small by an unknown
 *      amount. Three things tell: the warm-up is a small part of the run, the mean of one part
 *      says little of that of the next, and the measured time is long for waits of that size.
 *      The first two depend on luck: a short run that no long queue fell into looks steady.
 *   3. means and sums, exact; drain is the rest of the latency after all other terms.
 *   4. confidence: half of the 95 % interval of the mean. With several seeds their means are
 *      independent. Of one seed the means of its parts are used, which follow one another: a long
 *      queue in one part is still there in the next. Their correlation r of lag 1 makes the squared
 *      error larger by (1 + r) / (1 - r), that of an autoregressive process of order 1. Of n parts
 * r is found too small by about (1 + 3 r) / n (Kendall 1954), which is added.
 *   5. percentiles, nearest rank over all seeds; exact as long as latencies were kept.
 *
 * Example: 24 parts with a mean of 30 ns, a standard deviation of 0.4 ns and r = 0.22 + 1.66 / 24 =
 * 0.29: the error of the mean is 0.4 / sqrt(24) * sqrt(1.29 / 0.71) = 0.110, times t(23) = 2.069:
 * ci95_ns 0.23.
 *
 * `make steady` shows how often the interval holds the mean of an M/D/1 queue, which is known.
 */
#include <math.h>
#include <stdlib.h>
#include "base/percentiles.h"
#include "engine/traffic.h"
#include "machine/endpoint.h"

static const double MUCH_LARGER = 1.25;
static const double GROWTH =
    0.005; /* of latency, by time: as if so much more came than can be served */
static const double MEMORY_MOST = 0.5; /* the correlation of parts in a run that is long enough */
static const double TIMES_LEAST = 20;  /* the time in which a queue forgets, in such a run */
enum { WARMUP_MOST = TRAFFIC_PARTS / 4 };

/* Parts [from, TRAFFIC_PARTS) of several simulations, which differ in their seeds, as one. */
struct view {
    kb_sim *const *sims;
    size_t n_sims;
    uint32_t from;
};

/* -- warm-up -------------------------------------------------------------------------------- */

/* The mean latency of each part over all simulations; NAN: nothing was issued in it. */
static void part_means(const struct view *v, double mean[TRAFFIC_PARTS])
{
    for (uint32_t p = 0; p < TRAFFIC_PARTS; p++) {
        unsigned_sum sum = 0;
        uint64_t count = 0;

        for (size_t i = 0; i < v->n_sims; i++) {
            sum += v->sims[i]->traffic->parts[p].actual;
            count += v->sims[i]->traffic->parts[p].count;
        }
        mean[p] = count ? (double)sum / (double)count : NAN;
    }
}

/* Count, mean and sum of squared differences from the mean, of all that are numbers. */
struct spread {
    uint32_t n;
    double mean, squares;
};

static struct spread spread_of(const double *x, size_t n)
{
    struct spread s = {0};

    for (size_t i = 0; i < n; i++) /* Welford */
        if (!isnan(x[i])) {
            double d = x[i] - s.mean;

            s.n++;
            s.mean += d / s.n;
            s.squares += d * (x[i] - s.mean);
        }
    return s;
}

/* The squared error of the mean of all parts from `from` on, if they were independent; of one part
 * there is none. */
static double error_from(const double mean[TRAFFIC_PARTS], uint32_t from)
{
    struct spread s = spread_of(mean + from, TRAFFIC_PARTS - from);

    return s.n > 1 ? s.squares / ((double)s.n * s.n) : INFINITY;
}

/*
 * How many parts to leave out, at most half: those without which the error of the mean is
 * smallest, or so few that it is not much larger, for chance alone would often leave out many.
 *                                             White 1997, marginal standard error rule (MSER)
 */
static uint32_t find_warmup(const double mean[TRAFFIC_PARTS])
{
    double least = INFINITY;
    uint32_t from;

    for (from = 0; from <= TRAFFIC_PARTS / 2; from++)
        least = fmin(least, error_from(mean, from));
    for (from = 0; error_from(mean, from) > MUCH_LARGER * least; from++)
        ;
    return from;
}

/*
 * Does the mean latency still grow? In a machine that cannot keep up it grows with the time, by
 * what is issued and not served. Growth within three standard errors counts as none.
 */
static bool is_growing(const double mean[TRAFFIC_PARTS], uint32_t from, double part_fs)
{
    uint32_t half = (TRAFFIC_PARTS - from) / 2;
    struct spread a = spread_of(mean + from, half), b = spread_of(mean + from + half, half);
    double error, grown = b.mean - a.mean;

    if (a.n < 2 || b.n < 2)
        return true;
    error = sqrt(a.squares / ((double)a.n * (a.n - 1)) + b.squares / ((double)b.n * (b.n - 1)));
    return grown > 3 * error && grown > GROWTH * half * part_fs;
}

/* The sum of products of neighbours' differences from the mean. */
static double products(const double *x, size_t n, const struct spread *s)
{
    double sum = 0;

    for (size_t i = 1; i < n; i++)
        if (!isnan(x[i - 1]) && !isnan(x[i]))
            sum += (x[i - 1] - s->mean) * (x[i] - s->mean);
    return sum;
}

/*
 * Is the run long against the time in which queues fill and empty? The correlation of neighbouring
 * parts is taken over all simulations, each around its own mean. With 0.5 the measured time is
 * about twenty times as long as the memory of an M/D/1 queue.
 */
static bool is_long(const struct view *v)
{
    double both = 0, squares = 0;

    for (size_t i = 0; i < v->n_sims; i++) {
        const struct view one = {v->sims + i, 1, v->from};
        double mean[TRAFFIC_PARTS];
        struct spread s;

        part_means(&one, mean);
        s = spread_of(mean + v->from, TRAFFIC_PARTS - v->from);
        both += products(mean + v->from, TRAFFIC_PARTS - v->from, &s);
        squares += s.squares;
    }
    return v->from <= WARMUP_MOST && both <= MEMORY_MOST * squares;
}

/*
 * The same by the size of the waits, which chance changes less. A queue with a service of s and a
 * mean wait of w forgets what it was in about 8 w^2 / s: in heavy traffic the drift is 1 - rho, the
 * variance rho s a unit of time, their time constant 2 rho s / (1 - rho)^2, and w of an M/D/1 queue
 * rho s / (2 (1 - rho)). For s the latency without any wait is taken.
 *
 * Example: s = 18.085, rho 0.85: w = 51.2 ns, 1,161 ns. With 100,000 transactions of 64 PEs a run
 * is 28 times as long, with 20,000 it is 5 times as long, and its interval holds in 73 % of runs.
 */
static bool is_long_for_its_waits(const struct view *v, const kb_traffic_result *r)
{
    double time_fs = (TRAFFIC_PARTS - v->from) / v->sims[0]->traffic->parts_per_fs, wait_fs = 0;

    for (int w = 0; w < KB_N_WAITS; w++)
        wait_fs += (double)r->wait_fs[w];
    return time_fs * ((double)r->mean_fs - wait_fs) >= TIMES_LEAST * 8 * wait_fs * wait_fs;
}

/* -- confidence ----------------------------------------------------------------------------- */

/* Student's t for 95 %, two-sided, with `n` > 0 degrees of freedom. */
static double student_t(uint32_t n)
{
    static const double t[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                               2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                               2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                               2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
    uint32_t most = sizeof t / sizeof *t;

    return n <= most ? t[n - 1] : 1.960 + 2.4 / n; /* within 0.001 of the tables */
}

/* How much one value tells of the next, 0..0.9: the autocorrelation of lag 1. */
static double correlation(const double *x, size_t n, const struct spread *s)
{
    double r = s->squares > 0 ? products(x, n, s) / s->squares : 0;

    return fmin(fmax(r + (1 + 3 * r) / s->n, 0), 0.9);
}

/*
 * Half of the interval around the mean of `n` means, -1 if there are too few. Those that follow
 * one another in time tell less than as many of their own: their error is that of an
 * autoregressive process of order 1.
 */
static int64_t interval_fs(const double *mean, size_t n, bool follow)
{
    struct spread s = spread_of(mean, n);
    double r;

    if (s.n < 2)
        return -1;
    r = follow ? correlation(mean, n, &s) : 0;
    return llround(student_t(s.n - 1) * sqrt(s.squares / (s.n - 1) / s.n * ((1 + r) / (1 - r))));
}

static double mean_of_sim(const struct traffic *tr, uint32_t from)
{
    unsigned_sum sum = 0;
    uint64_t count = 0;

    for (uint32_t p = from; p < TRAFFIC_PARTS; p++) {
        sum += tr->parts[p].actual;
        count += tr->parts[p].count;
    }
    return count ? (double)sum / (double)count : NAN;
}

/* Of several simulations that of their means; of one that of its parts' means. */
static kb_status set_confidence(const struct view *v, const double part_mean[TRAFFIC_PARTS],
                                kb_traffic_result *r)
{
    double *mean;

    if (v->n_sims == 1) {
        r->ci95_fs = interval_fs(part_mean + v->from, TRAFFIC_PARTS - v->from, true);
        return KB_OK;
    }
    mean = malloc(v->n_sims * sizeof *mean);
    if (!mean)
        return KB_NO_MEMORY;
    for (size_t i = 0; i < v->n_sims; i++)
        mean[i] = mean_of_sim(v->sims[i]->traffic, v->from);
    r->ci95_fs = interval_fs(mean, v->n_sims, false);
    free(mean);
    return KB_OK;
}

/* -- percentiles ---------------------------------------------------------------------------- */

/* Adds what one simulation has measured to `buckets`; returns whether its latencies are exact. */
static bool add_histogram(const struct traffic *tr, uint32_t from, uint64_t *buckets)
{
    for (uint32_t p = from; tr->buckets && p < TRAFFIC_PARTS; p++)
        for (uint32_t b = 0; b < BUCKETS; b++)
            buckets[b] += tr->buckets[p * (size_t)BUCKETS + b];
    for (uint64_t i = 0; !tr->buckets && i < tr->n_exact; i++)
        if (tr->part_of[i] >= from)
            buckets[bucket_of(tr->actual_fs[i])]++;
    return !tr->buckets;
}

/* All latencies in one bucket, sorted; NULL without memory. */
static int64_t *values_in(const struct view *v, uint32_t bucket, uint64_t n)
{
    int64_t *values = malloc(n * sizeof *values);
    uint64_t at = 0;

    for (size_t s = 0; values && s < v->n_sims; s++) {
        const struct traffic *tr = v->sims[s]->traffic;

        for (uint64_t i = 0; i < tr->n_exact; i++)
            if (tr->part_of[i] >= v->from && bucket_of(tr->actual_fs[i]) == bucket)
                values[at++] = tr->actual_fs[i];
    }
    if (values)
        percentile_sort(values, n);
    return values;
}

/* The latency of that rank: in its bucket the exact one, or the middle. False without memory. */
static bool percentile(const struct view *v, const uint64_t *buckets, unsigned per_mille,
                       const kb_traffic_result *r, int64_t *out_fs)
{
    uint64_t rank = percentile_rank(r->count, per_mille);
    uint32_t b = 0;
    int64_t *values;

    for (; rank >= buckets[b]; b++)
        rank -= buckets[b];
    if (!r->exact) {
        *out_fs = bucket_value(b) < r->max_fs ? bucket_value(b) : r->max_fs;
        return true;
    }
    values = values_in(v, b, buckets[b]);
    if (!values)
        return false;
    *out_fs = values[rank];
    free(values);
    return true;
}

static kb_status set_percentiles(const struct view *v, kb_traffic_result *r)
{
    uint64_t *buckets = calloc(BUCKETS, sizeof *buckets);
    bool ok = buckets != NULL;

    r->exact = true;
    for (size_t i = 0; ok && i < v->n_sims; i++)
        r->exact &= add_histogram(v->sims[i]->traffic, v->from, buckets);
    ok = ok && percentile(v, buckets, 500, r, &r->p50_fs) &&
         percentile(v, buckets, 990, r, &r->p99_fs) && percentile(v, buckets, 999, r, &r->p999_fs);
    free(buckets);
    return ok ? KB_OK : KB_NO_MEMORY;
}

/* -- sums ----------------------------------------------------------------------------------- */

static void add_part(struct part *all, const struct part *p)
{
    all->count += p->count;
    all->completed += p->completed;
    all->max_fs = p->max_fs > all->max_fs ? p->max_fs : all->max_fs;
    all->actual += p->actual;
    all->wire += p->wire;
    all->overhead += p->overhead;
    all->channel += p->channel;
    all->link += p->link;
    all->back += p->back;
    all->memory += p->memory;
    all->packets += p->packets;
}

/* Of a sum that may be below 0, as the wait for banks with an open row is; half is rounded away
 * from 0. */
static int64_t mean(unsigned_sum sum, uint64_t n)
{
    wait_sum value = (wait_sum)sum, half = value < 0 ? -(wait_sum)(n / 2) : (wait_sum)(n / 2);

    return n ? (int64_t)((value + half) / (wait_sum)n) : 0;
}

static void set_sums(const struct view *v, kb_traffic_result *r)
{
    const struct traffic *first = v->sims[0]->traffic;
    double part_fs = 1 / first->parts_per_fs;
    double time_fs = part_fs * (TRAFFIC_PARTS - v->from) * (double)v->n_sims;
    struct part all = {0};

    for (size_t i = 0; i < v->n_sims; i++) {
        r->issued += v->sims[i]->traffic->n_issued;
        for (uint32_t p = v->from; p < TRAFFIC_PARTS; p++)
            add_part(&all, &v->sims[i]->traffic->parts[p]);
    }
    r->count = all.count;
    r->max_fs = all.max_fs;
    r->mean_fs = mean(all.actual, all.count);
    r->wire_fs = mean(all.wire, all.count);
    r->overhead_fs = mean(all.overhead, all.count);
    r->return_fs = mean(all.back, all.count);
    r->drain_fs =
        mean(all.actual - all.wire - all.overhead - all.channel - all.link - all.memory - all.back,
             all.count);
    r->wait_fs[KB_WAIT_CHANNEL] = mean(all.channel, all.count);
    r->wait_fs[KB_WAIT_LINK] = mean(all.link, all.count);
    r->wait_fs[KB_WAIT_MEMORY] = mean(all.memory, all.count);
    r->formula_fs = r->wire_fs + r->overhead_fs + r->drain_fs + r->return_fs;
    r->formula_fs += mean((unsigned_sum)all.packets, all.count);
    r->warmup_fs = llround(part_fs * v->from);
    r->offered_gbs = (double)all.count * (double)first->request.nbytes * 1e6 / time_fs;
    r->accepted_gbs = (double)all.completed * (double)first->request.nbytes * 1e6 / time_fs;
}

/* The same traffic, except for the seed. */
static bool is_same(const struct traffic *a, const struct traffic *b)
{
    return a->horizon_fs == b->horizon_fs && a->request.pattern == b->request.pattern &&
           a->request.op == b->request.op && a->request.writes == b->request.writes &&
           a->request.nbytes == b->request.nbytes && a->request.rate == b->request.rate &&
           a->request.fixed == b->request.fixed;
}

static kb_status check(kb_sim *const *sims, size_t n)
{
    if (n == 0)
        return KB_BAD_REQUEST;
    for (size_t i = 0; i < n; i++) {
        const struct traffic *tr = sims[i]->traffic;

        if (!tr || !is_same(tr, sims[0]->traffic))
            return KB_BAD_REQUEST;
        if (sims[i]->status != KB_OK)
            return sims[i]->status;
        if (!sims[i]->started || sims[i]->n_done < tr->n_issued)
            return KB_PENDING;
    }
    return KB_OK;
}

kb_status kb_sim_traffic_result(kb_sim *const *sims, size_t n, kb_traffic_result *r)
{
    REFUSE_NULL(sims && r, "sims, out", NULL);
    struct view v = {sims, n, 0};
    double mean[TRAFFIC_PARTS];
    kb_status status = check(sims, n);

    if (status != KB_OK)
        return status;
    *r = (kb_traffic_result){.ci95_fs = -1, .exact = true};
    part_means(&v, mean);
    v.from = find_warmup(mean);
    r->growing = is_growing(mean, v.from, 1 / sims[0]->traffic->parts_per_fs);
    set_sums(&v, r);
    if (r->count == 0)
        return KB_OK;
    status = set_confidence(&v, mean, r);
    r->steady =
        !r->growing && is_long(&v) && is_long_for_its_waits(&v, r) && r->ci95_fs <= r->mean_fs;
    return status == KB_OK ? set_percentiles(&v, r) : status;
}
