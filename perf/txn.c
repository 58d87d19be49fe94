/*
 * txn.c -- ns per transaction of both engines: adding it, running it, reading its result, by
 * columns.
 *
 * In processor time, beside what the event queue alone takes.
 *
 * usage: txn ROWS ROUNDS [WORD...]; with words only the cases that have all of them in their names,
 * as in `txn 1000000 5 fused ideal local 256`. Samples go to stdout (bench.h), what is wrong to
 * stderr.
 */
#include "bench.h"
#include "bench_c4.h"
#include "bench_c64.h"
#include "bench_fifo.h"
#include "bench_fifo_c4.h"
#include "bench_fifo_c64.h"
#include "bench_v2.h"
#include "bench_v2_c4.h"
#include "bench_v2_c64.h"
#include "cube8.h"
#include "columns.h"
#include "hold.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { CUBES = CUBE8_CUBES_PER_SIP, PES = CUBE8_PES_PER_CUBE, ALL_PES = CUBES * PES };
enum { NBYTES = 4096, NAME_BYTES = 64, WORDS_MAX = 8 };

/* The hop engine runs one in so many of the rows that the fused engine runs, since it is slow. */
enum { HOP_PART = 5 };

enum { FUSED, HOP, LOADED, N_ENGINES }; /* loaded: fused, of tables made at run time */
enum { IDEAL, FIFO, SHIPPED, N_LINKS }; /* shipped: topologies/cube8.yaml, whose links are fifo */
enum { LOCAL, REMOTE, MIXED, HOT, HOST, N_PATTERNS };
enum { C1, C4, C64, N_WIDTHS };

/*
 * When rows are issued. at0: all at time 0, so that as many are outstanding as there are
 * channels. bursts: so many at once, and the next as soon as they have ended; for hosts, which
 * have no channels. open: in order of time, at half of what the machine can carry. shuffled: the
 * same times in no order.
 */
enum { AT0, BURSTS, OPEN, SHUFFLED, N_ISSUES };

static const char *const engine_names[] = {"fused", "hop", "loaded"};
static const char *const links_names[] = {"ideal", "fifo", "shipped"};
static const char *const pattern_names[] = {"local", "remote", "mixed", "hot", "host"};
static const char *const issue_names[] = {"at0", "bursts", "open", "shuffled"};
static const unsigned outstanding[] = {ALL_PES, 4 * ALL_PES, 64 * ALL_PES};

/* Topologies are not known before they are linked, so this is no table of constants. */
static const kb_topology *topology(int links, int width)
{
    const kb_topology *const t[N_LINKS][N_WIDTHS] = {
        {&cube8_topology, &bench_c4_topology, &bench_c64_topology},
        {&bench_fifo_topology, &bench_fifo_c4_topology, &bench_fifo_c64_topology},
        {&bench_v2_topology, &bench_v2_c4_topology, &bench_v2_c64_topology}};

    return t[links][width];
}

/* The same, made at run time; never freed. */
static const kb_topology *loaded(const kb_topology *compiled)
{
    static const kb_topology *from[N_LINKS * N_WIDTHS], *made[N_LINKS * N_WIDTHS];
    size_t i = 0;

    while (from[i] && from[i] != compiled)
        i++;
    from[i] = compiled;
    if (!made[i] &&
        kb_topology_load(&(kb_topology_source){.base = compiled}, &made[i], NULL) != KB_OK)
        exit(5);
    return made[i];
}

struct bench_case {
    int engine, links, pattern, width, issue;
};

/* What a run took, in ns per row, and what came of it. */
struct outcome {
    double add_ns, run_ns, result_ns;
    uint64_t done;
    int64_t end_fs;
};

/* "fused ideal local 256 at0"; a host's transactions at time 0 are all outstanding. */
static void name_of(const struct bench_case *c, char name[NAME_BYTES])
{
    char number[16] = "all";

    if (c->pattern != HOST || c->issue == BURSTS)
        snprintf(number, sizeof number, "%u", outstanding[c->width]);
    snprintf(name, NAME_BYTES, "%s %s %s %s %s", engine_names[c->engine], links_names[c->links],
             pattern_names[c->pattern], number, issue_names[c->issue]);
}

static _Noreturn void fail(const struct bench_case *c, const char *what)
{
    char name[NAME_BYTES];

    name_of(c, name);
    fprintf(stderr, "txn: %s: %s\n", name, what);
    exit(1);
}

/* -- rows to be run ------------------------------------------------------------------------- */

static kb_endpoint in_cube(kb_endpoint_kind kind, uint64_t number)
{
    return (kb_endpoint){kind, 0, (uint32_t)(number / PES % CUBES), (uint32_t)(number % PES)};
}

/* Bursts are all alike: each slice once in every ALL_PES rows, in an order without a pattern. */
static kb_transaction row_of(const struct bench_case *c, size_t i, uint64_t *seed)
{
    kb_transaction r = {
        .op = KB_READ, .src = in_cube(KB_PE, i), .dst = in_cube(KB_SLICE, i), .nbytes = NBYTES};

    if (c->pattern == REMOTE || c->pattern == MIXED)
        r.dst = in_cube(KB_SLICE, bench_random(seed));
    if (c->pattern == MIXED)
        r.op = bench_random(seed) % 2 ? KB_READ : KB_WRITE;
    if (c->pattern == HOT)
        r.dst = in_cube(KB_SLICE, 0);
    if (c->pattern == HOST) {
        r.op = KB_H2D;
        r.src = (kb_endpoint){.kind = KB_HOST};
        r.dst = in_cube(KB_SLICE, c->issue == BURSTS ? i * 37 : bench_random(seed));
    }
    return r;
}

/* Half as many as the slices (for hosts, the engines) could serve. */
static void issue_open(const struct bench_case *c, kb_transaction *rows, size_t n, uint64_t *seed)
{
    static const uint64_t gap_fs[] = {[LOCAL] = 500000,
                                      [REMOTE] = 1000000,
                                      [MIXED] = 1000000,
                                      [HOT] = 64000000,
                                      [HOST] = 10000000};
    int64_t t = 0;

    for (size_t i = 0; i < n; i++) {
        t += (int64_t)(bench_random(seed) % (2 * gap_fs[c->pattern]));
        rows[i].issue_fs = t;
    }
}

static void shuffle_issues(kb_transaction *rows, size_t n, uint64_t *seed)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = bench_random(seed) % i;
        int64_t t = rows[i - 1].issue_fs;

        rows[i - 1].issue_fs = rows[j].issue_fs;
        rows[j].issue_fs = t;
    }
}

static struct outcome run(const struct bench_case *c, const kb_transaction *rows, size_t n);

static void issue_bursts(const struct bench_case *c, kb_transaction *rows, size_t n)
{
    size_t size = outstanding[c->width];
    int64_t period_fs = run(c, rows, n < size ? n : size).end_fs;

    for (size_t i = 0; i < n; i++)
        rows[i].issue_fs = (int64_t)(i / size) * period_fs;
}

static void fill(const struct bench_case *c, kb_transaction *rows, size_t n)
{
    uint64_t seed = 7;

    for (size_t i = 0; i < n; i++)
        rows[i] = row_of(c, i, &seed);
    if (c->issue == BURSTS)
        issue_bursts(c, rows, n);
    if (c->issue == OPEN || c->issue == SHUFFLED)
        issue_open(c, rows, n, &seed);
    if (c->issue == SHUFFLED)
        shuffle_issues(rows, n, &seed);
}

/* -- a run ---------------------------------------------------------------------------------- */

static struct outcome run(const struct bench_case *c, const kb_transaction *rows, size_t n)
{
    kb_options options = {.engine = c->engine == HOP ? KB_HOP : KB_FUSED};
    const kb_topology *topo = topology(c->links, c->width);
    kb_error why = {""};
    struct columns columns;
    struct outcome out;
    kb_sim *sim;

    if (!columns_new(rows, n, &columns))
        exit(5);
    if (c->engine == LOADED)
        topo = loaded(topo);
    if (kb_sim_new(topo, &options, &sim) != KB_OK)
        fail(c, "out of memory");
    out.add_ns = bench_processor_ns();
    if (kb_sim_add_many(sim, &columns.of, n, NULL, &why) != KB_OK)
        fail(c, why.text);
    out.run_ns = bench_processor_ns();
    if (kb_sim_run(sim, 0, &why) != KB_OK)
        fail(c, why.text);
    out.result_ns = bench_processor_ns();
    if (columns_read(sim, n) != KB_OK)
        fail(c, "a result is missing");
    double end_ns = bench_processor_ns();

    out.done = kb_sim_done(sim);
    out.end_fs = kb_sim_end_fs(sim);
    kb_sim_free(sim);
    columns_free(&columns);
    out.add_ns = (out.run_ns - out.add_ns) / (double)n;
    out.run_ns = (out.result_ns - out.run_ns) / (double)n;
    out.result_ns = (end_ns - out.result_ns) / (double)n;
    return out;
}

static void sample_case(const struct bench_case *c, kb_transaction *rows, size_t n, int round)
{
    char name[NAME_BYTES];
    struct outcome out;

    name_of(c, name);
    if (c->engine == HOP)
        n /= HOP_PART;
    fill(c, rows, n);
    out = run(c, rows, n);
    bench_sample(name, "add", "ns", round, out.add_ns);
    bench_sample(name, "run", "ns", round, out.run_ns);
    bench_sample(name, "result", "ns", round, out.result_ns);
}

/* Both engines complete every row, and at the same time. */
static void compare_engines(struct bench_case c, kb_transaction *rows, size_t n)
{
    struct outcome out[N_ENGINES];

    fill(&c, rows, n);
    for (c.engine = 0; c.engine < N_ENGINES; c.engine++)
        out[c.engine] = run(&c, rows, n);
    for (int i = 0; i < N_ENGINES; i++)
        if (out[i].done != n || out[i].end_fs != out[FUSED].end_fs)
            fail(&c, "the engines disagree");
}

/* -- all cases ------------------------------------------------------------------------------ */

static size_t list_cases(struct bench_case *list)
{
    size_t n = 0;

    for (int engine = 0; engine < N_ENGINES; engine++)
        for (int links = 0; links < N_LINKS; links++)
            for (int pattern = 0; pattern < N_PATTERNS; pattern++)
                for (int width = 0; width < N_WIDTHS; width++)
                    list[n++] = (struct bench_case){engine, links, pattern, width,
                                                    pattern == HOST ? BURSTS : AT0};
    for (int pattern = 0; pattern < N_PATTERNS; pattern++)
        for (int issue = AT0; issue < N_ISSUES; issue++)
            if (issue != BURSTS && (issue != AT0 || pattern == HOST))
                list[n++] = (struct bench_case){FUSED, IDEAL, pattern, C4, issue};
    for (int pattern = 0; pattern < N_PATTERNS; pattern++)
        for (int issue = OPEN; issue < N_ISSUES; issue++)
            list[n++] = (struct bench_case){FUSED, SHIPPED, pattern, C1, issue};
    return n;
}

enum { CASES_MAX = N_ENGINES * N_LINKS * N_PATTERNS * N_WIDTHS + 2 * N_PATTERNS * N_ISSUES };

static bool has_word(const char *name, const char *word)
{
    char spaced[NAME_BYTES + 2], wanted[NAME_BYTES];

    snprintf(spaced, sizeof spaced, " %s ", name);
    snprintf(wanted, sizeof wanted, " %s ", word);
    return strstr(spaced, wanted);
}

/* Keeps the cases that have all `words` in their names. */
static size_t keep_cases(struct bench_case *list, size_t n, char **words)
{
    char name[NAME_BYTES];
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        char **word = words;

        name_of(&list[i], name);
        while (*word && has_word(name, *word))
            word++;
        if (!*word)
            list[kept++] = list[i];
    }
    return kept;
}

/* Both queues in turn; they have to give out the same events in the same order. */
static void sample_hold(enum hold_delays delays, size_t pending, int round)
{
    uint64_t order[N_HOLD_QUEUES];
    char name[NAME_BYTES];

    for (int queue = 0; queue < N_HOLD_QUEUES; queue++) {
        double ns = hold_ns(queue, delays, pending, &order[queue]);

        snprintf(name, sizeof name, "hold %s %s", hold_queue_names[queue],
                 hold_delays_names[delays]);
        snprintf(name + strlen(name), sizeof name - strlen(name), " %zu", pending);
        printf("%s,ns,%d,%.4f\n", name, round, ns);
    }
    if (order[HOLD_HEAP] != order[HOLD_CALENDAR]) {
        fprintf(stderr, "txn: %s: the queues disagree at %zu pending\n", name, pending);
        exit(1);
    }
}

static void sample_holds(int round)
{
    static const size_t pending[] = {16, 64, 256, 4096, 65536};

    for (size_t i = 0; i < sizeof pending / sizeof *pending; i++)
        for (int delays = 0; delays < N_HOLD_DELAYS; delays++)
            sample_hold(delays, pending[i], round);
}

int main(int argc, char **argv)
{
    struct bench_case list[CASES_MAX];
    size_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    int rounds = argc > 2 ? atoi(argv[2]) : 0;
    bool whole = argc == 3;

    if (n < HOP_PART || rounds < 1) {
        fprintf(stderr, "usage: txn ROWS ROUNDS [WORD...]\n");
        return 2;
    }
    kb_transaction *rows = malloc(n * sizeof *rows);
    size_t n_cases = keep_cases(list, list_cases(list), argv + 3);

    if (!rows)
        return 5;
    for (size_t i = 0; whole && i < n_cases; i++)
        if (list[i].engine == FUSED)
            compare_engines(list[i], rows, n / HOP_PART);
    for (int round = 0; round < rounds; round++) {
        for (size_t i = 0; i < n_cases; i++)
            sample_case(&list[i], rows, n, round);
        if (whole)
            sample_holds(round);
    }
    free(rows);
    return 0;
}
