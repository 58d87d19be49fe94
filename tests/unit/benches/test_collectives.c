/*
 * test_collectives.c -- benches of collectives compute what their references do, by each algorithm;
 * auto takes the fastest.
 *
 * On machines with powers of two of PEs, cubes and SIPs, and others.
 *
 * link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=free
 */
#include <kernbench.h>
#include <stdio.h>
#include <stdlib.h>
#include "support/any_topology.h"
#include "support/failing.h"
#include "support/rig.h"
#include "cube8.h"
#include "tray32.h"

extern const kb_bench bench_all_reduce, bench_reduce_scatter, bench_all_gather, bench_all_to_all,
    bench_broadcast, bench_copy, bench_gemm, bench_qkv_gemm, bench_mlp_tp, bench_attention_ring;

static const struct {
    const kb_bench *bench;
    const char *algorithms[11]; /* beside auto, which comes last */
} collectives[] = {
    {&bench_all_reduce,
     {"ring", "one_way", "line", "axes", "halving", "axes_halving", "tree", "double_tree", "auto"}},
    {&bench_broadcast, {"ring", "one_way", "line", "tree", "auto"}},
    {&bench_all_gather, {"ring", "one_way", "line", "axes", "hierarchical", "auto"}},
    {&bench_reduce_scatter, {"ring", "one_way", "line", "axes", "hierarchical", "auto"}},
    {&bench_all_to_all, {""}},
};
static const char *const overs[] = {"pes", "cubes", "sips"};

enum { REDUCE, BROADCAST };

/* How long its kernels take. */
static int64_t time_fs(const kb_topology *topo, const kb_bench *bench, const char *algorithm,
                       const char *over, int64_t count)
{
    char texts[4][64];
    const char *words[4];
    kb_bench_run *run;
    kb_error why = {""};
    kb_launch_result r;

    snprintf(texts[0], sizeof *texts, "count=%lld", (long long)count);
    snprintf(texts[1], sizeof *texts, "over=%s", over);
    snprintf(texts[2], sizeof *texts, "inputs=same");
    snprintf(texts[3], sizeof *texts, "algorithm=%s", algorithm);
    for (int i = 0; i < 4; i++)
        words[i] = texts[i];
    if (kb_bench_new(bench, topo, NULL, 0, words, 4, &run, &why) ||
        kb_sim_run(kb_bench_sim(run), 0, &why))
        fail_msg("%s: %s", bench->name, why.text);
    assert_int_equal(kb_launch_get(kb_bench_sim(run), 0, &r), KB_OK);
    kb_bench_free(run);
    return r.last_end_fs - r.start_fs;
}

/* Numbers that are no powers of two, and a TCM that what is long passes in pieces. */
#define ODD(links, channels, slots, space)                                                         \
    "kernbench: 1\ncontention: {links: " links "}\nname: odd\nsips: 3\n"                           \
    "sip:\n  cube_mesh: {w: 3, h: 2}\n"                                                            \
    "cube:\n  pes: 6\n  pe:\n    pe_tcm: {size_mb: 1}\n"                                           \
    "    pe_dma: {overhead_ns: 0.5, read_channels: 1, write_channels: " channels "}\n"             \
    "    pe_ipcq: {slots: " slots ", slot_bytes: 1000, space: " space "}\n"

/* -- joined ends ---------------------------------------------------------------------------- */

/* Rows, columns or both are rings, of odd and of even lengths; one-way planes; a grid of SIPs. */
#define JOINED(w, h, wrap, planes, fabric)                                                         \
    "kernbench: 2\nname: joined\nsip:\n"                                                           \
    "  cube_mesh: {w: " w ", h: " h ", wrap: " wrap "}\n" planes "cube: {pes: 2}\n" fabric
#define ONE_WAY                                                                                    \
    "  planes: [{name: a, dirs: [N, W], order: yx}, {name: b, dirs: [E, S], order: xy}]\n"
#define GRID "sips: 6\nfabric: {shape: grid, grid: {w: 3, h: 2}, wrap: xy}\n"

static const char *const joined[] = {
    JOINED("3", "3", "x", "", ""),       JOINED("3", "3", "y", "", ""),
    JOINED("4", "3", "xy", "", ""),      JOINED("5", "1", "x", "", ""),
    JOINED("3", "4", "xy", ONE_WAY, ""), JOINED("2", "1", "none", "", GRID),
};

/* A run with results, which are at most that far from the reference. */
static void assert_right(const kb_topology *topo, const kb_bench *bench, const char *const *words,
                         size_t n_words, double most)
{
    kb_options options = {.phase2 = true};
    kb_bench_run *run;
    double worst;
    kb_error why = {""};

    if (kb_bench_new(bench, topo, &options, 3, words, n_words, &run, &why) ||
        kb_sim_run(kb_bench_sim(run), 0, &why) || kb_compute(kb_bench_sim(run), NULL, &why) ||
        kb_bench_verify(run, &worst, &why) || worst > most)
        fail_msg("%s: %s", bench->name, why.text);
    kb_bench_free(run);
}

static void assert_exact(const kb_topology *topo, const kb_bench *bench, const char *algorithm,
                         const char *over)
{
    char texts[4][64];
    const char *words[4] = {texts[0], texts[1], texts[2], texts[3]};

    snprintf(texts[0], sizeof *texts, "count=37");
    snprintf(texts[1], sizeof *texts, "dtype=bf16");
    snprintf(texts[2], sizeof *texts, "over=%s", over);
    snprintf(texts[3], sizeof *texts, "algorithm=%s", algorithm ? algorithm : "");
    assert_right(topo, bench, words, algorithm ? 4 : 3, 0);
}

/* All ways, over all kinds of ranks. */
static void assert_verified(const kb_topology *topo)
{
    for (int over = 0; over < 3; over++)
        for (size_t k = 0; k < LENGTH(collectives); k++)
            for (const char *const *a = collectives[k].algorithms; *a; a++)
                assert_exact(topo, collectives[k].bench, **a ? *a : NULL, overs[over]);
}

static void benches_compute_what_their_references_do(void **state)
{
    static const char *const machines[] = {
        ODD("ideal", "1", "2", "tcm"), ODD("fifo", "1", "3", "tcm"), ODD("ideal", "3", "4", "tcm"),
        ODD("ideal", "1", "2", "sram"), ODD("fifo", "2", "4", "hbm")};

    (void)state;
    for (size_t i = 0; i < LENGTH(machines); i++) {
        const kb_topology *topo = any_topology(machines[i]);

        assert_non_null(topo);
        assert_verified(topo);
        any_topology_free(topo);
    }
}

static void rings_of_joined_ends_do(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(joined); i++) {
        const kb_topology *topo = any_topology(joined[i]);

        assert_verified(topo);
        any_topology_free(topo);
    }
}

/* -- axes at once --------------------------------------------------------------------------- */

#define TORUS(cubes, dims)                                                                         \
    "kernbench: 3\nname: torus\nlinks: {l: {bw_gbs: 10.0, latency_ns: 100.0}}\n"                   \
    "sip: {cubes: " cubes ", net: [{torus: [" dims "], link: l}]}\n"                               \
    "cube: {pes: 1, noc: {bw_gbs: 1000.0}, xbar: {pe_gbs: 1000.0}, hbm: {bw_gbs: 1000.0}, pe: "    \
    "{pe_dma: {read_channels: 8, write_channels: 8}, pe_tcm: {size_mb: 64, read_gbs: 4000.0, "     \
    "write_gbs: 4000.0}, pe_math: {lanes: 4096}, pe_ipcq: {slots: 8, slot_bytes: 262144}}}\n"

/* An all_gather and a reduce_scatter, each half of an all_reduce: `count` elements of a rank. */
static void assert_gathering_is_near(const kb_topology *topo, double least_ns, double most_ns,
                                     int64_t count)
{
    static const kb_bench *const benches[] = {&bench_all_gather, &bench_reduce_scatter};

    for (int i = 0; i < 2; i++) {
        double ns = (double)time_fs(topo, benches[i], "axes", "pes", count) / 1e6;

        if (ns < least_ns || ns > most_ns)
            fail_msg("%s takes %f ns, where links take %f", benches[i]->name, ns, least_ns);
    }
}

/*
 * An all_reduce of V bytes, of n chips in a torus of A axes: each chip gives and takes V (n - 1) /
 * n twice, over 2 A links of 10 GB/s. One axis after the other takes about A
 * times that; rings of
 * 4 have two steps up and one down, and where axes are not as long, some links wait for others.
 */
static void axes_carry_parts_at_once(void **state)
{
    static const struct {
        const char *yaml;
        double n, axes;
        double most;
    } cases[] = {{TORUS("64", "8, 8"), 64, 2, 1.3},
                 {TORUS("24", "4, 3, 2"), 24, 3, 2.8},
                 {TORUS("64", "4, 4, 4"), 64, 3, 2.2}};
    static const char *const types[] = {"dtype=i32", "dtype=f16", "dtype=bf16", "dtype=f64",
                                        "dtype=u8"};
    const char *words[] = {"count=30011", "", "algorithm=axes"};
    int64_t count = 4 << 20;

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const kb_topology *topo = any_topology(cases[i].yaml);
        double links = cases[i].axes * 2 * 10, n = cases[i].n;
        double least_ns = 2 * (n - 1) / n * 2 * (double)count / links;
        double ns = (double)time_fs(topo, &bench_all_reduce, "axes", "pes", count) / 1e6;

        if (ns < least_ns || ns > cases[i].most * least_ns)
            fail_msg("%s%f ns, where links take %f", cases[i].yaml, ns, least_ns);
        assert_gathering_is_near(topo, least_ns / 2, 1.1 * cases[i].most * least_ns / 2,
                                 count / (int64_t)n);
        for (size_t k = 0; k < LENGTH(types); k++) {
            words[1] = types[k];
            assert_right(topo, &bench_all_reduce, words, LENGTH(words), 0);
        }
        any_topology_free(topo);
    }
}

/* -- cubes without PEs ---------------------------------------------------------------------- */

#define MEMORIES_APART                                                                             \
    "kernbench: 3\nname: apart\nlinks: {l: {bw_gbs: 100.0}}\n"                                     \
    "kinds: {mem: {pes: 0, hbm: {slices: 2}}, pes: {pes: 3, hbm: {slices: 0}}}\n"                  \
    "sip: {cubes: 6, net: [{mesh: [2, 1], of: \"c[0-1]\", link: l},"                               \
    " {each: [\"c[0-1]\", \"c[2-5]\"], groups: 2, link: l}]}\n"                                    \
    "cubes: {\"c[0-1]\": mem, \"c[2-5]\": pes}\n"

/* Memories of their own, interleaved and not; a cube that is missing from a mesh, and from a torus
 * of each SIP. */
static const char *const holes[] = {
    MEMORIES_APART,
    MEMORIES_APART "addressing: {granule: 4096, over: sip}\n",
    "kernbench: 2\nname: gap\nmissing: [c4]\nsip: {cube_mesh: {w: 3, h: 2}}\ncube: {pes: 4}\n",
    "kernbench: 2\nname: gaps\nsips: 2\nmissing: [s0.c1, s1.c2]\n"
    "sip: {cube_mesh: {w: 3, h: 2, wrap: xy}}\ncube: {pes: 2}\n",
};

static void cubes_without_pes_are_left_out(void **state)
{
    static const kb_bench *const others[] = {&bench_copy, &bench_gemm, &bench_qkv_gemm,
                                             &bench_mlp_tp, &bench_attention_ring};

    (void)state;
    for (size_t i = 0; i < LENGTH(holes); i++) {
        const kb_topology *topo = any_topology(holes[i]);

        assert_non_null(topo);
        assert_verified(topo);
        for (size_t k = 0; k < LENGTH(others); k++)
            assert_right(topo, others[k], (const char *const[1]){NULL}, 0, 1e-2);
        any_topology_free(topo);
    }
}

static void uneven_machines_are_refused(void **state)
{
    static const struct {
        const char *yaml, *says;
    } cases[] = {
        {"kernbench: 2\nname: x\nsip: {cube_mesh: {w: 4, h: 4}}\ncubes: {c3: {pes: 4}}\n",
         "copy needs as many PEs in every cube that has PEs: sip0.cube3 has 4, the first 8"},
        {"kernbench: 2\nname: x\nsips: 2\nsip: {cube_mesh: {w: 4, h: 4}}\nmissing: [s1.c3]\n",
         "copy needs as many cubes with PEs in every SIP: SIP 0 has 16"},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const kb_topology *topo = any_topology(cases[i].yaml);
        const char *words[1];
        kb_bench_run *run;
        kb_error why = {""};

        assert_int_not_equal(kb_bench_new(&bench_copy, topo, NULL, 0, words, 0, &run, &why), KB_OK);
        assert_string_equal(why.text, cases[i].says);
        any_topology_free(topo);
    }
}

/* docs/kernels.md "Rings where ends are joined": fs, with no ends joined, with those of rows, all
 */
static void joined_ends_gain_what_the_documents_say(void **state)
{
    static const char *const wraps[] = {"none", "x", "xy"};
    static const struct {
        const char *algorithm;
        int over;
        int64_t count, fs[3];
    } cases[] = {
        {"ring", 0, 512, {2948625625, 2948625625, 2948625625}},
        {"ring", 1, 8192, {386080000, 386080000, 386080000}},
        {"axes", 0, 512, {398920000, 374580000, 352155625}},
        {"axes", 1, 131072, {4104640000, 2548092500, 2418607500}},
    };

    (void)state;
    for (size_t wrap = 0; wrap < LENGTH(wraps); wrap++) {
        char yaml[128];

        snprintf(yaml, sizeof yaml,
                 "kernbench: 2\nname: four\nsip: {cube_mesh: {w: 4, h: 4, wrap: %s}}\n",
                 wraps[wrap]);
        const kb_topology *topo = any_topology(yaml);

        for (size_t i = 0; i < LENGTH(cases); i++) {
            int64_t fs = time_fs(topo, &bench_all_reduce, cases[i].algorithm, overs[cases[i].over],
                                 cases[i].count);

            assert_int_equal(fs, cases[i].fs[wrap]);
        }
        any_topology_free(topo);
    }
}

/* -- queues --------------------------------------------------------------------------------- */

/* Six PEs, of which each receives from five: queues of 1 MiB, or less by a slot. */
#define SIX(slots, space, sram)                                                                    \
    "kernbench: 1\nname: six\nsip:\n  cube_mesh: {w: 1, h: 1}\n"                                   \
    "cube:\n  pes: 6\n  sram: {size_mb: " sram "}\n  pe:\n    pe_tcm: {size_mb: 5}\n"              \
    "    pe_ipcq: {slots: " slots ", slot_bytes: 262144, space: " space "}\n"

/* Those of five others take 5 MB of a TCM, 30 of a cube's SRAM; of slots 3, 15/16 of a TCM. */
static void all_to_all_runs_where_its_queues_do_not_fit(void **state)
{
    static const char *const machines[] = {SIX("3", "tcm", "1"), SIX("4", "tcm", "1"),
                                           SIX("4", "sram", "30"), SIX("4", "sram", "29"),
                                           SIX("4", "hbm", "1")};
    static const char *const words[] = {"count=1"};

    (void)state;
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        const kb_topology *topo = any_topology(machines[i]);
        kb_bench_run *run = NULL;
        kb_error why = {""};

        assert_int_equal(kb_bench_new(&bench_all_to_all, topo, NULL, 0, words, 1, &run, &why),
                         KB_OK);
        assert_int_equal(kb_sim_run(kb_bench_sim(run), 0, &why), KB_OK);
        kb_bench_free(run);
        any_topology_free(topo);
    }
}

/* -- auto ----------------------------------------------------------------------------------- */

static const char *value_of(const kb_bench_run *run, const kb_bench *bench, const char *name)
{
    size_t i = 0;

    while (strcmp(bench->args[i].name, name) != 0)
        i++;
    return kb_bench_value(run, i);
}

static kb_status choose(const kb_topology *topo, int bench, int over, int64_t count,
                        kb_bench_run **run)
{
    char texts[2][64];
    const char *const words[] = {texts[0], texts[1]};
    kb_error why;

    snprintf(texts[0], sizeof *texts, "count=%lld", (long long)count);
    snprintf(texts[1], sizeof *texts, "over=%s", overs[over]);
    return kb_bench_new(collectives[bench].bench, topo, NULL, 0, words, 2, run, &why);
}

/* How often it is there. */
static int times(const char *text, const char *part)
{
    int n = 0;

    for (; (text = strstr(text, part)); text++)
        n++;
    return n;
}

/* The note names the algorithm that is chosen, with its time if it was tried, as it is; none is
 * faster by more than a tenth. */
static void check_choice(const kb_topology *topo, int bench, int over, int64_t count)
{
    const kb_bench *b = collectives[bench].bench;
    char said[64];
    kb_bench_run *run;
    int64_t chosen_fs = 0, least_fs = INT64_MAX;
    int tried;

    assert_int_equal(choose(topo, bench, over, count, &run), KB_OK);
    for (const char *const *a = collectives[bench].algorithms; a[1]; a++) {
        int64_t fs = time_fs(topo, b, *a, overs[over], count);

        least_fs = fs < least_fs ? fs : least_fs;
        if (strcmp(*a, value_of(run, b, "algorithm")) == 0)
            chosen_fs = fs;
    }
    tried = times(kb_bench_notes(run), " takes ");
    if (chosen_fs && chosen_fs > least_fs / 10 * 11)
        fail_msg("%s of %d over %s takes %f, not %f: %s", b->name, (int)count, overs[over],
                 (double)chosen_fs / 1e6, (double)least_fs / 1e6, kb_bench_notes(run));
    snprintf(said, sizeof said, ": %s", value_of(run, b, "algorithm"));
    assert_non_null(strstr(kb_bench_notes(run), said));
    snprintf(said, sizeof said, "%s takes", value_of(run, b, "algorithm"));
    assert_int_equal(strstr(kb_bench_notes(run), said) != NULL, tried > 0);
    assert_true(tried != 1 && tried <= 3);
    assert_true(times(kb_bench_notes(run), " about ") + tried > (bench == REDUCE ? 5 : 3));
    assert_int_equal(kb_sim_end_fs(kb_bench_sim(run)), 0); /* tried in simulations of their own */
    kb_bench_free(run);
}

static void auto_takes_the_fastest(void **state)
{
    const kb_topology *fifo = any_topology(ODD("fifo", "1", "3", "tcm"));

    (void)state;
    for (int over = 0; over < 2; over++) {
        check_choice(&cube8_topology, REDUCE, over, 1);
        check_choice(&cube8_topology, REDUCE, over, 2000);
        check_choice(&cube8_topology, REDUCE, over, 100000);
        check_choice(&cube8_topology, BROADCAST, over, 3);
        check_choice(&cube8_topology, BROADCAST, over, 300000);
    }
    check_choice(fifo, REDUCE, 0, 3000);
    check_choice(fifo, REDUCE, 1, 3000);
    check_choice(fifo, BROADCAST, 1, 30000);
    any_topology_free(fifo);
    check_choice(&tray32_topology, REDUCE, 0, 700);
    check_choice(&tray32_topology, REDUCE, 2, 7);
}

/* A line of 256 cubes of one PE, whose TCM has room for the queues of three others. */
#define FEW_QUEUES                                                                                 \
    "kernbench: 1\nname: few\nsip:\n  cube_mesh: {w: 256, h: 1}\n"                                 \
    "cube:\n  pes: 1\n  pe:\n    pe_tcm: {size_mb: 1}\n"                                           \
    "    pe_ipcq: {slots: 5, slot_bytes: 65536, space: tcm}\n"

/* On a tree, and by halving, a PE receives from eight others. */
static void what_cannot_run_is_not_chosen(void **state)
{
    const kb_topology *topo = any_topology(FEW_QUEUES);
    kb_bench_run *run;
    kb_error why = {""};

    (void)state;
    assert_int_equal(choose(topo, REDUCE, 0, 1000, &run), KB_OK);
    assert_non_null(strstr(kb_bench_notes(run), "ring about"));
    assert_null(strstr(kb_bench_notes(run), "halving"));
    assert_null(strstr(kb_bench_notes(run), "tree"));
    assert_int_equal(kb_sim_run(kb_bench_sim(run), 0, &why), KB_OK);
    kb_bench_free(run);
    any_topology_free(topo);
}

/* 32 packages of 64 PEs, twice: a trial would take as long as the run, so the estimates decide. */
static void many_pes_are_not_tried(void **state)
{
    const kb_topology *topo =
        any_topology("kernbench: 2\nname: many\nsips: 2\nsip: {cube_mesh: {w: 8, h: 4}}"
                     "\ncube: {pes: 64}\n");

    (void)state;
    for (int over = 0; over < 2; over++) {
        kb_bench_run *run;

        assert_int_equal(choose(topo, REDUCE, over, 1000, &run), KB_OK);
        assert_non_null(strstr(kb_bench_notes(run), "ring about"));
        assert_null(strstr(kb_bench_notes(run), " takes "));
        kb_bench_free(run);
    }
    any_topology_free(topo);
}

/* One allocation that fails, and no other: auto chooses what it chooses else, or nothing. */
/* Each allocation fails in its turn: the choice is the same or is refused. */
static void choose_without_memory(const kb_topology *topo, const char *best)
{
    uint64_t n = 0, refused = 0;
    bool spent = true; /* the one failure */

    fails_once = true;
    while (spent) {
        kb_bench_run *run = NULL;

        blocks_left = n;
        kb_status status = choose(topo, BROADCAST, 2, 64, &run);
        spent = blocks_left == UINT64_MAX;
        blocks_left = UINT64_MAX;
        assert_true(status == KB_OK || status == KB_NO_MEMORY);
        if (status == KB_OK)
            assert_string_equal(value_of(run, &bench_broadcast, "algorithm"), best);
        refused += status == KB_NO_MEMORY;
        n += 1 + n / 20;
        kb_bench_free(run);
    }
    assert_true(refused > 20);
    fails_once = false;
}

static void no_other_is_chosen_for_want_of_memory(void **state)
{
    const kb_topology *topo = any_topology(ODD("fifo", "1", "3", "tcm"));
    kb_bench_run *run = NULL;
    int64_t before;

    (void)state;
    assert_int_equal(choose(topo, BROADCAST, 2, 64, &run), KB_OK);
    const char *best = value_of(run, &bench_broadcast, "algorithm");
    choose_without_memory(topo, best);
    before = owned; /* what the first time leaves to be used again is there */
    choose_without_memory(topo, best);
    assert_int_equal(owned, before);
    kb_bench_free(run);
    any_topology_free(topo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(benches_compute_what_their_references_do),
        cmocka_unit_test(rings_of_joined_ends_do),
        cmocka_unit_test(axes_carry_parts_at_once),
        cmocka_unit_test(cubes_without_pes_are_left_out),
        cmocka_unit_test(uneven_machines_are_refused),
        cmocka_unit_test(joined_ends_gain_what_the_documents_say),
        cmocka_unit_test(all_to_all_runs_where_its_queues_do_not_fit),
        cmocka_unit_test(auto_takes_the_fastest),
        cmocka_unit_test(what_cannot_run_is_not_chosen),
        cmocka_unit_test(many_pes_are_not_tried),
        cmocka_unit_test(no_other_is_chosen_for_want_of_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
