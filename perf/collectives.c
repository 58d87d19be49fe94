/*
 * collectives.c -- how long collectives take on each machine, by size.
 *
 * usage: collectives CSV SVG [BYTES]: rows go to CSV, the pictures of all_reduce to SVG: of each
 *        machine of tests/machines with links that queue and with ideal ones, on the same axes. How
 *        often algorithm=auto does not choose the fastest goes to stdout. BYTES is the longest
 *        vector, 4 MiB if it is not given.
 */
#include <kernbench.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "svg_axis.h"

enum { BYTES_LEAST = 64, BYTES_STEP = 4, ROWS_MOST = 2048 };

static int64_t bytes_most = 4 << 20;

extern const kb_bench bench_all_reduce, bench_broadcast;

static const kb_bench *const collectives[] = {&bench_all_reduce, &bench_broadcast};
static const char *const overs[] = {"pes", "cubes", "sips"};

/* A bench and its algorithm. */
struct way {
    const char *bench, *algorithm;
};

static const struct way ways[] = {
    {"all_reduce", "ring"}, {"all_reduce", "axes"},         {"all_reduce", "halving"},
    {"all_reduce", "tree"}, {"all_reduce", "axes_halving"}, {"all_reduce", "hierarchical"},
    {"broadcast", "ring"},  {"broadcast", "tree"},
};

enum { N_WAYS = sizeof ways / sizeof *ways };

/* A machine, with both kinds of links. */
struct machine {
    const char *name;
    const kb_topology *fifo, *ideal;
};

struct row {
    const kb_topology *topo;
    const char *topology, *links;
    const struct way *way;
    int over;
    int64_t ranks, bytes; /* of a rank's vector, as NCCL counts */
    int64_t count;        /* the argument */
    int64_t time_fs;      /* 0: it does not run */
};

static struct row rows[ROWS_MOST];
static size_t n_rows;

/* -- measuring ------------------------------------------------------------------------------ */

static void must(kb_status status, const kb_error *why)
{
    if (status == KB_OK)
        return;
    fprintf(stderr, "collectives: %s\n", why->text);
    exit(2);
}

static const kb_bench *bench_named(const char *name)
{
    size_t i = 0;

    while (strcmp(collectives[i]->name, name) != 0)
        i++;
    return collectives[i];
}

/* A run of the row's bench that has not begun; `algorithm` may be auto. */
static kb_bench_run *new_run(const struct row *r, const char *algorithm)
{
    char words[4][64];
    const char *const given[] = {words[0], words[1], words[2], words[3]};
    kb_bench_run *run;
    kb_error why = {""};

    snprintf(words[0], sizeof *words, "count=%lld", (long long)r->count);
    snprintf(words[1], sizeof *words, "over=%s", overs[r->over]);
    snprintf(words[2], sizeof *words, "inputs=same");
    snprintf(words[3], sizeof *words, "algorithm=%s", algorithm);
    must(kb_bench_new(bench_named(r->way->bench), r->topo, NULL, 0, given, 4, &run, &why), &why);
    return run;
}

static int64_t time_fs(const struct row *r)
{
    kb_bench_run *run = new_run(r, r->way->algorithm);
    kb_launch_result launch;
    kb_error why = {""};

    if (kb_sim_run(kb_bench_sim(run), 0, &why) == KB_KERNEL_ERROR) {
        kb_bench_free(run);
        return 0;
    }
    must(kb_launch_get(kb_bench_sim(run), 0, &launch), &why);
    kb_bench_free(run);
    return launch.last_end_fs - launch.start_fs;
}

/* Of PEs, of cubes or of SIPs. */
static int64_t ranks_over(const kb_topology *topo, int over)
{
    kb_info info;

    kb_topology_info(topo, &info);
    return over == 0   ? kb_pe_count(topo)
           : over == 1 ? (int64_t)info.sips * info.cubes_per_sip
                       : info.sips;
}

static void measure(const char *name, const kb_topology *topo, const struct way *w, int over)
{
    int64_t ranks = ranks_over(topo, over);
    kb_info info;

    kb_topology_info(topo, &info);
    for (int64_t bytes = BYTES_LEAST; ranks > 1 && bytes <= bytes_most; bytes *= BYTES_STEP) {
        int64_t count = bytes / (int64_t)kb_dtype_bytes(KB_F16);
        struct row *r = &rows[n_rows];

        if (count == 0 || n_rows == ROWS_MOST)
            continue;
        *r = (struct row){topo, name, info.links, w, over, ranks, bytes, count, 0};
        r->time_fs = time_fs(r);
        n_rows += r->time_fs > 0;
    }
}

static void measure_both(const struct machine *m, int over)
{
    for (size_t way = 0; way < N_WAYS; way++)
        measure(m->name, m->fifo, &ways[way], over);
    for (size_t way = 0; way < N_WAYS; way++)
        measure(m->name, m->ideal, &ways[way], over);
}

/* -- rows ----------------------------------------------------------------------------------- */

static double algorithm_gbs(const struct row *r)
{
    return (double)r->bytes * 1e6 / (double)r->time_fs;
}

/* What each rank's link would carry at best: comparable between machines of any size. */
static double bus_gbs(const struct row *r)
{
    double others = (double)(r->ranks - 1) / (double)r->ranks;

    if (strcmp(r->way->bench, "broadcast") == 0)
        return algorithm_gbs(r);
    return algorithm_gbs(r) * others * 2;
}

/* The file when it is whole, or a message and false. */
static bool write_csv(const char *path)
{
    FILE *f = fopen(path, "w");

    if (!f) {
        perror(path);
        return false;
    }
    fputs("topology,links,collective,algorithm,over,ranks,dtype,message_bytes,latency_ns,"
          "alg_gbs,bus_gbs\n",
          f);
    for (size_t i = 0; i < n_rows; i++) {
        const struct row *r = &rows[i];

        fprintf(f, "%s,%s,%s,%s,%s,%lld,f16,%lld,%.6f,%.6f,%.6f\n", r->topology, r->links,
                r->way->bench, r->way->algorithm, overs[r->over], (long long)r->ranks,
                (long long)r->bytes, (double)r->time_fs / 1e6, algorithm_gbs(r), bus_gbs(r));
    }
    if (fclose(f) == 0)
        return true;
    perror(path);
    return false;
}

/* -- auto ----------------------------------------------------------------------------------- */

/* What algorithm=auto chose, for one bench and kind of links. */
struct choices {
    int n, trials, untried, slower; /* the cases; those without a trial; not the fastest */
    double worst;                   /* of those, times the fastest */
};

static bool is_same_case(const struct row *a, const struct row *b)
{
    return a->topo == b->topo && a->over == b->over && a->bytes == b->bytes &&
           strcmp(a->way->bench, b->way->bench) == 0;
}

static const char *chosen_by(const kb_bench_run *run, const kb_bench *bench)
{
    size_t i = 0;

    while (strcmp(bench->args[i].name, "algorithm") != 0)
        i++;
    return kb_bench_value(run, i);
}

/* Its trials are in its note: "halving takes 348.24 ns (about 301.20 ns), ring about ...". */
static int trials_of(const kb_bench_run *run)
{
    int n = 0;

    for (const char *at = kb_bench_notes(run); (at = strstr(at, " takes ")); at++)
        n++;
    return n;
}

/* The case that row `first` is of: its algorithms have been measured. */
static void add_choice(struct choices *c, const struct row *first)
{
    kb_bench_run *run = new_run(first, "auto");
    const char *chosen = chosen_by(run, bench_named(first->way->bench));
    int64_t least_fs = INT64_MAX, chosen_fs = 0;
    int trials = trials_of(run);

    for (size_t i = 0; i < n_rows; i++) {
        if (!is_same_case(&rows[i], first))
            continue;
        least_fs = rows[i].time_fs < least_fs ? rows[i].time_fs : least_fs;
        if (strcmp(rows[i].way->algorithm, chosen) == 0)
            chosen_fs = rows[i].time_fs;
    }
    kb_bench_free(run);
    c->n++;
    c->trials += trials;
    c->untried += trials == 0;
    c->slower += chosen_fs > least_fs;
    c->worst = fmax(c->worst, (double)chosen_fs / (double)least_fs);
}

static void print_choices(const char *bench, const char *links)
{
    struct choices c = {0};

    for (size_t i = 0; i < n_rows; i++) {
        bool first = true;

        for (size_t k = 0; k < i; k++)
            first = first && !is_same_case(&rows[k], &rows[i]);
        if (first && strcmp(rows[i].way->bench, bench) == 0 && strcmp(rows[i].links, links) == 0)
            add_choice(&c, &rows[i]);
    }
    printf("%-12s%-8s%5d%9d%11d%17d%17.3f\n", bench, links, c.n, c.trials, c.untried, c.slower,
           c.worst);
}

static void print_all_choices(void)
{
    puts("algorithm=auto, over all machines, ranks and sizes\n"
         "collective  links   cases   trials  untried  not the fastest  times the fastest");
    print_choices("all_reduce", "ideal");
    print_choices("all_reduce", "fifo");
    print_choices("broadcast", "ideal");
    print_choices("broadcast", "fifo");
}

/* -- pictures ------------------------------------------------------------------------------- */

enum { PLOT_W = 430, PLOT_H = 330, LEFT = 78, RIGHT = 24, TOP = 62, BOTTOM = 58, KEYS_H = 56 };

/* One plot: the rows of all_reduce on one machine, with its links, over one kind of ranks. */
struct plot {
    const char *topology, *links;
    int over;
    bool bus; /* else latency */
    struct svg_axis x, y;
};

static double value_of(const struct plot *p, const struct row *r)
{
    return p->bus ? bus_gbs(r) : (double)r->time_fs / 1e6;
}

/* On that machine, whichever its links: both plots have the same axes. */
static bool is_beside(const struct plot *p, const struct row *r)
{
    return strcmp(r->way->bench, "all_reduce") == 0 && strcmp(r->topology, p->topology) == 0 &&
           r->over == p->over;
}

static bool is_in(const struct plot *p, const struct row *r)
{
    return is_beside(p, r) && strcmp(r->links, p->links) == 0;
}

/* Three colours, and dashes for the others. */
static void begin_curve(struct svg *g, size_t way)
{
    svg_start(g, "g", NULL);
    svg_attr(g, "data-curve", ways[way].algorithm);
    if (way > 2)
        svg_attr(g, "stroke-dasharray", "6 3");
    svg_inside(g);
}

static const char *line_class(size_t way)
{
    static const char *const classes[] = {"s1", "s2", "s3"};

    return classes[way % 3];
}

static const char *dot_class(size_t way)
{
    static const char *const classes[] = {"f1", "f2", "f3"};

    return classes[way % 3];
}

static void put_curve(struct svg *g, const struct plot *p, size_t way)
{
    struct svg_point last = {0}, at;
    bool any = false;

    begin_curve(g, way);
    for (size_t i = 0; i < n_rows; i++) {
        if (!is_in(p, &rows[i]) || rows[i].way != &ways[way])
            continue;
        at = (struct svg_point){svg_axis_at(&p->x, (double)rows[i].bytes),
                                svg_axis_at(&p->y, value_of(p, &rows[i]))};
        if (any)
            svg_line(g, line_class(way), last.x, last.y, at.x, at.y);
        svg_dot(g, dot_class(way), at.x, at.y, 2.5);
        any = true;
        last = at;
    }
    svg_close(g, "g");
}

static void put_plot(struct svg *g, struct plot *p, double x, double y)
{
    double low = INFINITY, high = 0;
    char title[128];

    for (size_t i = 0; i < n_rows; i++) {
        if (!is_beside(p, &rows[i]))
            continue;
        low = fmin(low, value_of(p, &rows[i]));
        high = fmax(high, value_of(p, &rows[i]));
    }
    p->x = (struct svg_axis){"bytes of a rank", true, x + LEFT, x + PLOT_W - RIGHT, 0, 0};
    p->y = (struct svg_axis){
        p->bus ? "bus bandwidth, GB/s" : "latency, ns", true, y + PLOT_H - BOTTOM, y + TOP, 0, 0};
    svg_axis_fit(&p->x, BYTES_LEAST, (double)bytes_most);
    svg_axis_fit(&p->y, low, high);
    snprintf(title, sizeof title, "%s, over %s, links %s", p->topology, overs[p->over], p->links);
    svg_text(g, "strong", x + LEFT, y + TOP - 14, SVG_START, title);
    svg_axis_x(g, &p->x, y + PLOT_H - BOTTOM, y + TOP);
    svg_axis_y(g, &p->y, x + LEFT, x + PLOT_W - RIGHT);
    for (size_t way = 0; way < N_WAYS; way++)
        if (strcmp(ways[way].bench, "all_reduce") == 0)
            put_curve(g, p, way);
}

static void put_keys(struct svg *g)
{
    double x = LEFT;

    svg_text(g, "title", LEFT, 26, SVG_START, "all_reduce: latency and bus bandwidth");
    for (size_t way = 0; way < N_WAYS; way++) {
        if (strcmp(ways[way].bench, "all_reduce") != 0)
            continue;
        begin_curve(g, way);
        svg_line(g, line_class(way), x, 44, x + 28, 44);
        svg_dot(g, dot_class(way), x + 14, 44, 2.5);
        svg_close(g, "g");
        svg_text(g, NULL, x + 36, 48, SVG_START, ways[way].algorithm);
        x += 60 + svg_text_width(ways[way].algorithm, 11);
    }
}

/* Latency and bandwidth, each with links that queue and with ideal ones. */
static void put_line(struct svg *g, const struct row *r, double y)
{
    static const char *const links[] = {"fifo", "ideal"};

    for (int i = 0; i < 4; i++) {
        struct plot p = {
            .topology = r->topology, .links = links[i % 2], .over = r->over, .bus = i >= 2};

        put_plot(g, &p, i * PLOT_W, y);
    }
}

/* Rows of a machine and a kind of ranks follow each other: each such group is a line of plots. */
static bool begins_group(size_t i)
{
    struct plot p;

    if (i == 0)
        return true;
    p = (struct plot){.topology = rows[i - 1].topology, .over = rows[i - 1].over};
    return strcmp(rows[i].topology, p.topology) != 0 || rows[i].over != p.over;
}

static bool write_svg(const char *path)
{
    struct sink s = {0};
    struct svg g = {.s = &s, .prefix = "collectives", .width = 4.0 * PLOT_W, .height = KEYS_H};

    if (sink_open(&s, "collectives", path))
        return false;
    for (size_t i = 0; i < n_rows; i++)
        g.height += begins_group(i) ? PLOT_H : 0;
    svg_begin(&g, "all_reduce: latency and bus bandwidth");
    svg_axis_style(&g);
    put_keys(&g);
    double y = KEYS_H - 20;
    for (size_t i = 0; i < n_rows; i++) {
        if (!begins_group(i))
            continue;
        put_line(&g, &rows[i], y);
        y += PLOT_H;
    }
    svg_end(&g);
    return sink_close(&s, "collectives", true) == EXIT_OK;
}

/* It stays until the program ends. */
static const kb_topology *machine_load(const char *name, const char *links)
{
    char file[64];
    kb_topology_source source = {.file = file, .sets = &links, .n_sets = 1};
    const kb_topology *topo;
    char *messages;

    snprintf(file, sizeof file, "tests/machines/%s.yaml", name);
    if (kb_topology_load(&source, &topo, &messages) == KB_OK) {
        free(messages);
        return topo;
    }
    fputs(messages ? messages : "collectives: no memory\n", stderr);
    exit(2);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"cube8", "cube16", "tray32"};

    if (argc < 3 || argc > 4) {
        fputs("usage: collectives CSV SVG [BYTES]\n", stderr);
        return 2;
    }
    if (argc == 4)
        bytes_most = strtoll(argv[3], NULL, 10);
    for (size_t m = 0; m < sizeof names / sizeof *names; m++) {
        struct machine machine = {names[m], machine_load(names[m], "contention.links=fifo"),
                                  machine_load(names[m], "contention.links=ideal")};

        for (int over = 0; over < 3; over++)
            measure_both(&machine, over);
    }
    if (!write_csv(argv[1]) || !write_svg(argv[2]))
        return 5;
    print_all_choices();
    return 0;
}
