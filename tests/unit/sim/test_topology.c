/*
 * test_topology.c -- machines made at run time: the same as compiled ones, in any number of
 * threads.
 *
 * KB_LOADS is how many are made and freed; a million show no growth.
 */
#include "cube8.h"
#include "support/rig.h"
#include "tray32.h"
#include <malloc.h>
#include <pthread.h>
#include <unistd.h>

static const char CUBE1[] = "kernbench: 1\nname: one\nsip: {cube_mesh: {w: 1, h: 1}}\n";

struct made {
    kb_status status;
    const kb_topology *topo;
    char *messages;
};

static struct made make(const char *text, const char *const *sets, size_t n_sets)
{
    kb_topology_source source = {
        .file = "t.yaml", .text = text, .nbytes = strlen(text), .sets = sets, .n_sets = n_sets};
    struct made m;

    m.status = kb_topology_load(&source, &m.topo, &m.messages);
    return m;
}

#define MAKE(text, ...)                                                                            \
    make(text, (const char *const[]){__VA_ARGS__}, LENGTH(((const char *const[]){__VA_ARGS__})))

static void unmake(struct made *m)
{
    kb_topology_free(m->topo);
    free(m->messages);
}

/* What is refused: the status, and all messages. */
static void refused(struct made m, kb_status status, const char *messages)
{
    assert_int_equal(m.status, status);
    assert_null(m.topo);
    assert_string_equal(m.messages, messages);
    free(m.messages);
}

/* -- equal ---------------------------------------------------------------------------------- */

static void same_nodes(const kb_topology *a, const kb_topology *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        kb_node x, y;

        memset(&x, 0, sizeof x);
        memset(&y, 0, sizeof y);
        assert_int_equal(kb_node_get(a, i, &x), KB_OK);
        assert_int_equal(kb_node_get(b, i, &y), KB_OK);
        assert_memory_equal(&x, &y, sizeof x);
    }
}

static void add_edge(void *arg, const kb_edge *edge)
{
    uint64_t *sum = arg;
    const unsigned char *bytes = (const unsigned char *)edge;

    for (size_t i = 0; i < offsetof(kb_edge, lanes) + sizeof edge->lanes; i++) /* no padding */
        *sum = (*sum ^ bytes[i]) * UINT64_C(0x100000001b3);
}

static uint64_t edges_of(const kb_topology *topo)
{
    uint64_t sum = 1;

    kb_edges(topo, add_edge, &sum);
    return sum;
}

/* Routes and times: every PE reads and writes some slices of the others, by each engine. */
static uint64_t fingerprint_of(const kb_topology *topo, kb_engine engine)
{
    kb_sim *sim = new_sim(topo, (kb_options){.engine = engine});
    uint32_t n = kb_pe_count(topo), slices = kb_slice_count(topo);
    uint64_t dice = 7, fingerprint;
    kb_error why;

    for (uint32_t i = 0; i < 40 * n; i++) {
        kb_transaction r = {.issue_fs = i / n * 1000, .op = i % 3 ? KB_READ : KB_WRITE};

        r.nbytes = 64 + draw(&dice) % 4096;
        kb_pe_get(topo, i % n, &r.src);
        kb_slice_get(topo, (uint32_t)(draw(&dice) % slices), &r.dst);
        add(sim, &r);
    }
    if (kb_sim_run(sim, 0, &why) != KB_OK)
        fail_msg("%s", why.text);
    fingerprint = kb_sim_fingerprint(sim);
    kb_sim_free(sim);
    return fingerprint;
}

static void same(const kb_topology *a, const kb_topology *b)
{
    kb_info x, y;

    kb_topology_info(a, &x);
    kb_topology_info(b, &y);
    assert_string_equal(x.name, y.name);
    assert_string_equal(x.config, y.config);
    assert_string_equal(x.hash, y.hash);
    assert_int_equal(x.edges, y.edges);
    assert_int_equal(x.nodes, y.nodes);
    same_nodes(a, b, x.nodes);
    assert_true(edges_of(a) == edges_of(b));
    assert_true(fingerprint_of(a, KB_FUSED) == fingerprint_of(b, KB_FUSED));
    assert_true(fingerprint_of(a, KB_HOP) == fingerprint_of(b, KB_HOP));
}

static void a_loaded_topology_is_the_compiled_one(void **state)
{
    const kb_topology *compiled[] = {&cube8_topology, &tray32_topology};
    const char *files[] = {"tests/machines/cube8.yaml", "tests/machines/tray32.yaml"};

    (void)state;
    for (size_t i = 0; i < LENGTH(files); i++) {
        kb_topology_source source = {.file = files[i]};
        struct made m = {0};
        kb_info info;

        m.status = kb_topology_load(&source, &m.topo, &m.messages);
        assert_int_equal(m.status, KB_OK);
        assert_null(m.messages);
        same(compiled[i], m.topo);
        unmake(&m);

        kb_topology_info(compiled[i], &info);
        m = make(info.config, NULL, 0);
        same(compiled[i], m.topo);
        unmake(&m);
    }
}

static void what_is_set_counts_in_order(void **state)
{
    struct made m = MAKE(CUBE1, "cube.pes=2", "cube.hbm.bw_gbs=100", "cube.pes=4");
    struct made n = make("kernbench: 1\nname: one\nsip: {cube_mesh: {w: 1, h: 1}}\n"
                         "cube: {pes: 4, hbm: {bw_gbs: 100}}\n",
                         NULL, 0);

    (void)state;
    assert_int_equal(m.status, KB_OK);
    assert_int_equal(kb_pe_count(m.topo), 4);
    same(m.topo, n.topo);
    unmake(&m);
    unmake(&n);
}

/* Of `base` and sets; its messages must be none. */
static struct made vary(const kb_topology *base, const char *const *sets, size_t n_sets)
{
    kb_topology_source source = {.base = base, .sets = sets, .n_sets = n_sets};
    struct made m;

    m.status = kb_topology_load(&source, &m.topo, &m.messages);
    return m;
}

static void a_variant_of_a_base_is_as_if_it_was_read(void **state)
{
    const char *sets[] = {"cube.pes=4",  "cube.hbm.bw_gbs=100.5",    "missing=[c2]",
                          "kernbench=2", "cube.hbm.hold=route",      "contention.links=ideal",
                          "name=other",  "cubes={\"c3\": {pes: 2}}", "sip.io_chiplets=[W]"};
    kb_info info;

    (void)state;
    kb_topology_info(&cube8_topology, &info);
    struct made base = make(info.config, NULL, 0);
    for (size_t n = 0; n <= LENGTH(sets); n++) {
        struct made read = make(info.config, sets, n);
        struct made of_loaded = vary(base.topo, sets, n);
        struct made of_compiled = vary(&cube8_topology, sets, n);
        struct made of_variant = vary(of_loaded.topo, sets, n);

        assert_int_equal(read.status, KB_OK);
        same(read.topo, of_loaded.topo);
        same(read.topo, of_compiled.topo);
        same(read.topo, of_variant.topo);
        unmake(&of_variant);
        unmake(&of_compiled);
        unmake(&of_loaded);
        unmake(&read);
    }
    refused(vary(base.topo, (const char *const[]){"sip.cube_mesh.w=0"}, 1), KB_BAD_REQUEST,
            "--set sip.cube_mesh.w=0: 'sip.cube_mesh.w' must be 1..16384, not '0'\n");
    unmake(&base);
}

static void lists_can_be_set(void **state)
{
    struct made m = MAKE("kernbench: 2\nname: t\nsip: {cube_mesh: {w: 2, h: 2}}\n", "missing=[c1]",
                         "cubes={c2: {pes: 2}}");

    (void)state;
    assert_int_equal(m.status, KB_OK);
    assert_int_equal(kb_pe_count(m.topo), 8 + 2 + 8);
    unmake(&m);
}

/* Sets each key that is a number to what it is. */
static void set_alike(void *arg, const kb_key *key)
{
    const char **words = arg;

    assert_true(key->kind != KB_KEY_WORD || key->words);
    if (key->kind != KB_KEY_COUNT && key->kind != KB_KEY_NUMBER)
        return;
    while (*words)
        words++;
    *words = malloc(strlen(key->path) + strlen(key->text) + 2);
    sprintf((char *)*words, "%s=%s", key->path, key->text);
    assert_true(strtod(key->text, NULL) == key->value);
}

static void every_key_can_be_set_to_what_it_is(void **state)
{
    const char *sets[200] = {0};
    struct made m;
    size_t n = 0;

    (void)state;
    assert_int_equal(kb_topology_keys(&cube8_topology, set_alike, sets), KB_OK);
    while (sets[n])
        n++;
    assert_true(n > 50);
    kb_info info;
    kb_topology_info(&cube8_topology, &info);
    m = make(info.config, sets, n);
    same(m.topo, &cube8_topology);
    unmake(&m);
    for (size_t i = 0; i < n; i++)
        free((char *)sets[i]);
}

/* -- refused -------------------------------------------------------------------------------- */

static void every_mistake_has_its_place(void **state)
{
    (void)state;
    refused(
        make("kernbench: 1\nname: one\nsip: {cube_mesh: {w: 1, h: 0}}\ncube:\n  pez: 3\n", NULL, 0),
        KB_BAD_FILE,
        "t.yaml:3:28: 'sip.cube_mesh.h' must be 1..16384, not '0'\n"
        "t.yaml:5:3: unknown key 'pez' in 'cube', did you mean 'pes'?\n");
    refused(MAKE(CUBE1, "cube.pez=2", "cube.pes=99"), KB_BAD_REQUEST,
            "--set cube.pez=2: unknown key 'cube.pez', did you mean 'cube.pes'?\n"
            "--set cube.pes=99: 'cube.pes' must be 0..64, not '99'\n");
    refused(make("", NULL, 0), KB_BAD_FILE, "t.yaml:1:1: empty\n");
    refused(make("a: [", NULL, 0), KB_BAD_FILE,
            "t.yaml:2:1: did not find expected node content while parsing a flow node\n");
}

static void a_file_that_cannot_be_read_is_another_mistake(void **state)
{
    const char *sets[] = {"cube.pez=2"};
    kb_topology_source source = {.file = "no/such.yaml", .sets = sets, .n_sets = 1};
    struct made m;

    (void)state;
    m.status = kb_topology_load(&source, &m.topo, &m.messages);
    assert_int_equal(m.status, KB_FILE_ERROR);
    assert_non_null(
        strstr(m.messages, "no/such.yaml: cannot be read: No such file or directory\n"));
    assert_null(m.topo);
    free(m.messages);
    source.file = "topologies";
    assert_int_equal(kb_topology_load(&source, &m.topo, NULL), KB_FILE_ERROR);
}

static void more_mistakes_than_twenty_are_not_shown(void **state)
{
    const char *sets[30];
    struct made m;

    (void)state;
    for (size_t i = 0; i < LENGTH(sets); i++)
        sets[i] = "cube.pes=999";
    m = make(CUBE1, sets, LENGTH(sets));
    assert_int_equal(m.status, KB_BAD_REQUEST);
    assert_string_equal(strstr(m.messages, "further"), "further errors not shown\n");
    unmake(&m);
}

static void a_warning_is_no_refusal(void **state)
{
    struct made m =
        make("kernbench: 2\nname: t\nsip: {cube_mesh: {w: 2, h: 1}}\nbroken: [c0-c1]\n", NULL, 0);

    (void)state;
    assert_int_equal(m.status, KB_OK);
    assert_non_null(strstr(m.messages, "t.yaml:4:9: warning: "));
    unmake(&m);
}

/* -- many ----------------------------------------------------------------------------------- */

static uint64_t n_loads(void)
{
    const char *text = getenv("KB_LOADS");

    return text ? strtoull(text, NULL, 10) : 300;
}

/* Pages in memory. */
static long resident(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    long pages = 0;

    if (f && fscanf(f, "%*d %ld", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MEASURABLE = false }; /* a sanitizer keeps what was freed for a while */
#else
enum { MEASURABLE = true };
#endif

static void loads_and_frees_do_not_grow(void **state)
{
    uint64_t n = n_loads();
    size_t before = 0;
    long pages = 0;
    kb_info info;

    (void)state;
    kb_topology_info(&cube8_topology, &info);
    for (uint64_t i = 0; i < n; i++) {
        struct made m = MAKE(i % 2 ? info.config : CUBE1, i % 3 ? "cube.pes=4" : "cube.pes=99");

        assert_int_equal(m.status, i % 3 ? KB_OK : KB_BAD_REQUEST);
        unmake(&m);
        if (i == n / 4) {
            before = mallinfo2().uordblks;
            pages = resident();
        }
    }
    assert_true(mallinfo2().uordblks <= before + 16384);
    if (MEASURABLE)
        assert_true(resident() <= pages + 64);
}

enum { THREADS = 8, ROUNDS = 6 };

/* What one thread made: the last of its machines. */
struct turn {
    pthread_t thread;
    const kb_topology *shared; /* used by all at once */
    uint64_t fingerprint, of_shared;
    bool failed;
};

static void *load_many(void *arg)
{
    struct turn *t = arg;

    for (int i = 0; i < ROUNDS; i++) {
        kb_topology_source source = {.file = "tests/machines/cube8.yaml"};
        struct made m;

        m.status = kb_topology_load(&source, &m.topo, &m.messages);
        t->failed |= m.status != KB_OK;
        if (m.status == KB_OK)
            t->fingerprint = fingerprint_of(m.topo, KB_FUSED);
        unmake(&m);
        m = MAKE(CUBE1, "cube.pez=2");
        t->failed |= m.status != KB_BAD_REQUEST;
        unmake(&m);
    }
    t->of_shared = fingerprint_of(t->shared, KB_FUSED);
    return NULL;
}

static void threads_load_at_once_and_share(void **state)
{
    uint64_t compiled = fingerprint_of(&cube8_topology, KB_FUSED);
    struct made shared = MAKE(CUBE1, "cube.pes=4");
    uint64_t alone = fingerprint_of(shared.topo, KB_FUSED);
    struct turn turns[THREADS] = {{0}};

    (void)state;
    for (size_t i = 0; i < THREADS; i++) {
        turns[i].shared = shared.topo;
        assert_int_equal(pthread_create(&turns[i].thread, NULL, load_many, &turns[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(turns[i].thread, NULL);
        assert_false(turns[i].failed);
        assert_true(turns[i].fingerprint == compiled);
        assert_true(turns[i].of_shared == alone);
    }
    unmake(&shared);
}

/* This program is linked without what loads them. */
static void components_need_a_program_that_loads_them(void **state)
{
    (void)state;
    refused(MAKE("kernbench: 2\nname: one\nsip: {cube_mesh: {w: 1, h: 1}}\n"
                 "cube: {hbm: {impl: server}}\n"),
            KB_BAD_FILE,
            "t.yaml:4:20: 'cube.hbm.impl: server' is a component, which this program cannot load: "
            "link it with -Wl,-u,kb_rt_components_open, not -static\n");
}

/* -- better numbers ------------------------------------------------------------------------- */

struct numbers {
    size_t n;
    char text[8192];
};

static void put_number(void *arg, const kb_better *number)
{
    struct numbers *all = arg;
    size_t len = strlen(all->text);

    all->n++;
    snprintf(all->text + len, sizeof all->text - len, "%s %g %g %d\n", number->name, number->value,
             number->better_value, number->smaller);
}

static void has_number(const struct numbers *all, const char *line)
{
    if (!strstr(all->text, line))
        fail_msg("'%s' is not in\n%s", line, all->text);
}

/* A key with a unit of time, length or rate has a better value, unless it is 0 or of no use. */
static void has_direction(void *arg, const kb_key *key)
{
    static const char *const units[] = {"_ns", "_mm", "_gbs", "_ghz"};
    char line[80];

    snprintf(line, sizeof line, "\n%s ", key->path);
    for (size_t i = 0; i < LENGTH(units); i++) {
        size_t at = strlen(key->path) - strlen(units[i]);

        if (key->kind == KB_KEY_NUMBER && key->value > 0 && !strstr(key->path, ".mesh.") &&
            strcmp(key->path + at, units[i]) == 0)
            has_number(arg, line);
    }
}

/* docs/studies.md "Which key is worth it?" */
static void every_number_has_a_better_value(void **state)
{
    struct made m = MAKE(CUBE1, "cube.hbm.efficiency=0.75", "cube.pe.pe_dma.read_channels=3");
    struct numbers all = {0, "\n"};

    (void)state;
    assert_int_equal(kb_topology_numbers(m.topo, 1.25, put_number, &all), KB_OK);
    assert_int_equal(kb_topology_keys(m.topo, has_direction, &all), KB_OK);
    has_number(&all, "\ncube.hbm.bw_gbs 256 320 0\n");
    has_number(&all, "\ncube.hbm.efficiency 0.75 0.9375 0\n");
    has_number(&all, "\ncube.ucie.overhead_ns 1 0.8 1\n");
    has_number(&all, "\ncube.pe.pe_dma.read_channels 3 4 0\n"); /* 3.75 */
    has_number(&all, "\ncube.pe.pe_math.special_cycles 4 3 1\n");
    has_number(&all, "\ncube.pe.pe_gemm.mac[2] 16 20 0\n");
    assert_null(strstr(all.text, "cube.sram.bw_gbs"));     /* 0: it has the NoC's */
    assert_null(strstr(all.text, "cube.noc.overhead_ns")); /* 0 */
    assert_null(strstr(all.text, "cube.pes"));             /* a shape */
    assert_null(strstr(all.text, "cube.noc.mesh"));        /* the NoC is no mesh */
    assert_null(strstr(all.text, "contention."));          /* links are no routers */
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(
            kb_topology_numbers(m.topo, (const double[]){1, 0.0 / 0.0, 2e6}[i], put_number, &all),
            KB_BAD_REQUEST);
    unmake(&m);
}

/* A number that only some planes or cubes have is theirs. */
static void a_number_of_some_cubes_is_told(void **state)
{
    struct made m =
        MAKE("kernbench: 2\nname: one\n"
             "sip: {cube_mesh: {w: 2, h: 2}, planes: [{name: a}, {name: b, bw_gbs: 50}]}\n"
             "cubes: {c0: {noc: {bw_gbs: 32}}, c1: {pes: 4, sram: {bw_gbs: 40}}}\n");
    struct numbers all = {0, "\n"};

    (void)state;
    assert_int_equal(kb_topology_numbers(m.topo, 2, put_number, &all), KB_OK);
    has_number(&all, "\nsip.planes.bw_gbs 50 100 0\n");
    has_number(&all, "\ncube.sram.bw_gbs 40 80 0\n");
    unmake(&m);
}

/* The machine with better numbers is the one whose YAML says them. */
static void better_is(struct made base, struct made edited, size_t n, const char *const *names)
{
    const kb_topology *better;
    char *messages;

    assert_int_equal(kb_topology_better(base.topo, names, n, 2, &better, &messages), KB_OK);
    same(better, edited.topo);
    free(messages);
    kb_topology_free(better);
    unmake(&base);
    unmake(&edited);
}

static void better_numbers_are_those_of_an_edited_yaml(void **state)
{
    static const char DIFFERENT[] =
        "kernbench: 2\nname: one\n"
        "sip: {cube_mesh: {w: 2, h: 2}, planes: [{name: a, bw_gbs: %d}, {name: b}]}\n"
        "cube: {noc: {bw_gbs: %d}}\ncubes: {c1: {noc: {bw_gbs: %d}}}\n";
    char before[400], after[400], planes[400];

    (void)state;
    better_is(MAKE(CUBE1), MAKE(CUBE1, "cube.hbm.bw_gbs=512", "cube.pe.pe_gemm.mac=[32, 16, 32]"),
              3,
              (const char *const[]){"cube.hbm.bw_gbs", "cube.pe.pe_gemm.mac[0]",
                                    "cube.pe.pe_gemm.mac[2]"});
    snprintf(before, sizeof before, DIFFERENT, 100, 64, 32);
    snprintf(after, sizeof after, DIFFERENT, 100, 128, 64);
    snprintf(planes, sizeof planes, DIFFERENT, 200, 64, 32);
    better_is(MAKE(before), MAKE(after), 1, (const char *const[]){"cube.noc.bw_gbs"});
    better_is(MAKE(before), MAKE(planes), 1, (const char *const[]){"sip.planes.bw_gbs"});
}

static void what_cannot_be_better_is_refused(void **state)
{
    struct made m = MAKE(CUBE1, "cube.hbm.bw_gbs=600000"), got = {0};

    (void)state;
    got.status = kb_topology_better(m.topo, (const char *const[]){"cube.hbm.bw_gbs"}, 1, 2,
                                    &got.topo, &got.messages);
    assert_int_equal(got.status, KB_BAD_FILE);
    assert_null(got.topo);
    assert_non_null(strstr(got.messages, "'cube.hbm.bw_gbs' must be 0.01..1000000, not 1200000\n"));
    free(got.messages);
    got.status = kb_topology_better(m.topo, (const char *const[]){"cube.pes"}, 1, 2, &got.topo,
                                    &got.messages);
    assert_int_equal(got.status, KB_BAD_FILE);
    assert_non_null(strstr(got.messages, "no number 'cube.pes' can be better\n"));
    free(got.messages);
    unmake(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loaded_topology_is_the_compiled_one),
        cmocka_unit_test(what_is_set_counts_in_order),
        cmocka_unit_test(a_variant_of_a_base_is_as_if_it_was_read),
        cmocka_unit_test(lists_can_be_set),
        cmocka_unit_test(every_key_can_be_set_to_what_it_is),
        cmocka_unit_test(every_mistake_has_its_place),
        cmocka_unit_test(a_file_that_cannot_be_read_is_another_mistake),
        cmocka_unit_test(more_mistakes_than_twenty_are_not_shown),
        cmocka_unit_test(a_warning_is_no_refusal),
        cmocka_unit_test(loads_and_frees_do_not_grow),
        cmocka_unit_test(threads_load_at_once_and_share),
        cmocka_unit_test(components_need_a_program_that_loads_them),
        cmocka_unit_test(every_number_has_a_better_value),
        cmocka_unit_test(a_number_of_some_cubes_is_told),
        cmocka_unit_test(better_numbers_are_those_of_an_edited_yaml),
        cmocka_unit_test(what_cannot_be_better_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
