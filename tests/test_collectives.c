/*
 * test_collectives.c -- no collective takes less than its bound; auto takes the fastest.
 *
 * Every way of every bench, on machines whose numbers are powers of two and on one whose are not.
 */
#include "../benches/collective_bound.h"
#include "any_topology.h"
#include "rig.h"
#include "cube8.h"
#include "tray32.h"

extern const kb_bench bench_all_reduce, bench_reduce_scatter, bench_all_gather, bench_all_to_all,
    bench_broadcast;

static const kb_bench *const collectives[] = {&bench_all_reduce, &bench_reduce_scatter,
                                              &bench_all_gather, &bench_all_to_all,
                                              &bench_broadcast};
static const char *const overs[] = {"pes", "cubes", "sips"};

static const kb_bench *bench_named(const char *name)
{
    for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++)
        if (strcmp(collectives[i]->name, name) == 0)
            return collectives[i];
    fail_msg("there is no bench %s", name);
    return NULL;
}

/* How long its kernels take. */
static int64_t time_fs(const kb_topology *topo, const struct way *w, const char *over,
                       int64_t count, const char *dtype)
{
    char texts[5][64];
    const char *words[5];
    kb_bench_run *run;
    kb_error why = {""};
    kb_launch_result r;

    snprintf(texts[0], sizeof *texts, "count=%lld", (long long)count);
    snprintf(texts[1], sizeof *texts, "dtype=%s", dtype);
    snprintf(texts[2], sizeof *texts, "over=%s", over);
    snprintf(texts[3], sizeof *texts, "inputs=same");
    snprintf(texts[4], sizeof *texts, "algorithm=%s", w->algorithm ? w->algorithm : "");
    for (int i = 0; i < 5; i++)
        words[i] = texts[i];
    if (kb_bench_new(bench_named(w->bench), topo, NULL, 0, words, w->algorithm ? 5 : 4, &run, &why))
        fail_msg("%s: %s", w->bench, why.text);
    if (kb_sim_run(kb_bench_sim(run), 0, &why))
        fail_msg("%s: %s", w->bench, why.text);
    assert_int_equal(kb_launch_get(kb_bench_sim(run), 0, &r), KB_OK);
    kb_bench_free(run);
    return r.last_end_fs - r.start_fs;
}

static void hold_to_bound(const kb_topology *topo, int64_t count, const char *dtype)
{
    struct bound b = bound_new(topo, kb_dtype_parse(dtype));

    for (size_t i = 0; i < N_WAYS; i++) {
        for (int over = 0; over < 3; over++) {
            int64_t bound_fs = bound_of(&b, &ways[i], (enum over)over, count);
            int64_t fs = time_fs(topo, &ways[i], overs[over], count, dtype);

            if (bound_fs <= 0 || bound_fs > fs || getenv("KB_SHOW"))
                print_message("%s %s over %s of %s, %lld of %s: %.3f ns, bound %.3f ns, %.3f\n",
                              ways[i].bench, ways[i].algorithm ? ways[i].algorithm : "",
                              overs[over], b.info.name, (long long)count, dtype, (double)fs / 1e6,
                              (double)bound_fs / 1e6, (double)bound_fs / (double)fs);
            if (bound_fs <= 0 || bound_fs > fs)
                fail();
        }
    }
}

static void no_run_is_shorter_than_its_bound(void **state)
{
    (void)state;
    hold_to_bound(&cube8_topology, 1, "f16");
    hold_to_bound(&cube8_topology, 1000, "f32");
    hold_to_bound(&cube8_topology, 40000, "i8");
    hold_to_bound(&tray32_topology, 3, "f64");
    hold_to_bound(&tray32_topology, 1024, "f16");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_run_is_shorter_than_its_bound)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
