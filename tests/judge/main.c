/* main.c -- the judge's command line. */
#include "kernel.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int usage(void)
{
    fputs(
        "usage: judge replay TOPO.yaml FILE.csv    results on stdout, fingerprint on stderr\n"
        "       judge routes TOPO.yaml [SOURCE]...  SOURCE: c0, s1.c3, c0.pe2, host; default all\n"
        "       judge info TOPO.yaml\n"
        "       judge topo SEED [KIND]              a random topology: plain, any, banks,\n"
        "                                           kernels, any_kernels, routers,\n"
        "                                           router_banks, detours\n"
        "       judge rows SEED TOPO.yaml N         a random replay file for it\n"
        "       judge kernels TOPO.yaml SEED        a random program for it, and its times\n",
        stderr);
    return 2;
}

/* -- replay --------------------------------------------------------------------------------- */

static int replay(const struct judge_topo *t, const char *path)
{
    struct judge_row *rows;
    struct judge_result *results;
    uint64_t fingerprint;
    size_t n;
    bool ok;

    if (!judge_read_rows(t, path, &rows, &n))
        return 3;
    results = judge_alloc(n, sizeof *results);
    ok = judge_replay(t, rows, n, results, &fingerprint);
    if (ok) {
        judge_print_results(stdout, t, rows, results, n);
        fprintf(stderr, "fingerprint %016" PRIx64 "\n", fingerprint);
    }
    free(rows);
    free(results);
    return ok ? 0 : 3;
}

/* -- routes --------------------------------------------------------------------------------- */

/* A source is wanted if it, or the start of its name up to a point, is in the list. */
static bool wanted(const char *name, char *const *list, int n)
{
    for (int i = 0; i < n; i++) {
        size_t len = strlen(list[i]);

        if (strncmp(name, list[i], len) == 0 && (name[len] == 0 || name[len] == '.'))
            return true;
    }
    return n == 0;
}

static void print_route(const struct judge_topo *t, const struct judge_end *src,
                        const struct judge_end *dst)
{
    enum judge_op op = src->kind == JUDGE_HOST ? JUDGE_H2D : JUDGE_WRITE;
    char from[JUDGE_NAME_BYTES], to[JUDGE_NAME_BYTES];
    struct judge_route r = {0};

    if (!judge_route(t, op, src, dst, &r))
        return;
    judge_end_name(src, from);
    judge_end_name(dst, to);
    printf("%s,%s,", from, to);
    judge_print_ns(stdout, r.wire_fs);
    putchar(',');
    judge_print_ns(stdout, r.overhead_fs);
    printf(",%.17g,", r.bottleneck_gbs);
    for (size_t i = 0; i < r.n; i++)
        printf("%s%s", i > 0 ? ">" : "", r.hops[i].name);
    putchar('\n');
    judge_route_clear(&r);
}

/* Calls `each` for every endpoint of a kind that is there, SIP by SIP and cube by cube. */
static void each_end(const struct judge_topo *t, enum judge_kind kind, const void *arg,
                     void (*each)(const struct judge_topo *t, const struct judge_end *end,
                                  const void *arg))
{
    uint32_t cubes = kind == JUDGE_HOST ? 1 : t->cubes;

    for (uint32_t s = 0; s < t->sips; s++) {
        for (uint32_t c = 0; c < cubes; c++) {
            for (uint32_t u = 0; u < 64; u++) {
                struct judge_end end = {kind, s, c, u};

                if (judge_is_there(t, &end))
                    each(t, &end, arg);
            }
        }
    }
}

static void route_to(const struct judge_topo *t, const struct judge_end *dst, const void *src)
{
    print_route(t, src, dst);
}

struct filter {
    char *const *list;
    int n;
};

static void routes_from(const struct judge_topo *t, const struct judge_end *src, const void *arg)
{
    const struct filter *f = arg;
    char name[JUDGE_NAME_BYTES];

    judge_end_name(src, name);
    if (!wanted(name, f->list, f->n))
        return;
    each_end(t, JUDGE_SLICE, src, route_to);
    each_end(t, JUDGE_SRAM, src, route_to);
    each_end(t, JUDGE_TCM, src, route_to);
}

static int routes(const struct judge_topo *t, char *const *list, int n)
{
    const struct filter f = {list, n};

    each_end(t, JUDGE_PE, &f, routes_from);
    each_end(t, JUDGE_HOST, &f, routes_from);
    return 0;
}

/* ------------------------------------------------------------------------------------------- */

/* The random program of a seed, and its times. */
static int kernels(const struct judge_topo *t, uint64_t seed)
{
    struct judge_program p = {0};
    struct judge_run run;
    bool ok;

    judge_random_program(t, seed, &p);
    judge_print_program(stdout, &p);
    ok = judge_kernels(t, &p, &run);
    if (ok)
        judge_print_run(stdout, &p, &run);
    judge_run_clear(&run);
    judge_program_clear(&p);
    return ok ? 0 : 3;
}

static int info(const struct judge_topo *t)
{
    printf("name %s\nnodes %zu\nedges %zu\n", judge_text(t, "name"), t->n_nodes, t->n_edges);
    return 0;
}

/* A random topology, by default a plain one. */
static int topo(const char *seed, const char *kind)
{
    static const struct {
        const char *name;
        void (*print)(FILE *out, uint64_t seed);
    } kinds[] = {{"plain", judge_random_topo},
                 {"any", judge_random_shape},
                 {"net", judge_random_net},
                 {"banks", judge_random_banks},
                 {"caches", judge_random_caches},
                 {"kernels", judge_random_kernel_topo},
                 {"any_kernels", judge_random_kernel_shape},
                 {"kernel_banks", judge_random_kernel_banks},
                 {"l2", judge_random_l2},
                 {"kernel_caches", judge_random_kernel_caches},
                 {"kernel_l2", judge_random_kernel_l2},
                 {"routers", judge_random_routers},
                 {"router_banks", judge_random_router_banks},
                 {"router_caches", judge_random_router_caches},
                 {"detours", judge_random_detours},
                 {"router_nets", judge_random_router_nets}};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kind, kinds[i].name) == 0) {
            kinds[i].print(stdout, strtoull(seed, NULL, 10));
            return 0;
        }
    }
    return usage();
}

int main(int argc, char **argv)
{
    const char *command = argc > 1 ? argv[1] : "";
    struct judge_topo *t;
    int status;

    if (strcmp(command, "topo") == 0 && (argc == 3 || argc == 4))
        return topo(argv[2], argc == 4 ? argv[3] : "plain");
    if (!(strcmp(command, "replay") == 0 && argc == 4) &&
        !(strcmp(command, "routes") == 0 && argc >= 3) &&
        !(strcmp(command, "info") == 0 && argc == 3) &&
        !(strcmp(command, "kernels") == 0 && argc == 4) &&
        !(strcmp(command, "rows") == 0 && argc == 5))
        return usage();
    t = judge_load(strcmp(command, "rows") == 0 ? argv[3] : argv[2]);
    if (!t)
        return 3;
    if (strcmp(command, "replay") == 0)
        status = replay(t, argv[3]);
    else if (strcmp(command, "routes") == 0)
        status = routes(t, argv + 3, argc - 3);
    else if (strcmp(command, "info") == 0)
        status = info(t);
    else if (strcmp(command, "kernels") == 0)
        status = kernels(t, strtoull(argv[3], NULL, 10));
    else {
        judge_random_rows(stdout, t, strtoull(argv[2], NULL, 10), strtoull(argv[4], NULL, 10));
        status = 0;
    }
    judge_free(t);
    return status;
}
