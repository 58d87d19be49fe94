/* test_kernel_random.c -- random kernels on random machines: times, ids and records as the judge's.
 */
#include "support/breakdowns.h"
#include "support/programs.h"
#include "support/seeds.h"
#include "support/split.h"
#include "support/used.h"
#include <unistd.h>

/* KB_SEEDS=N in the environment runs seeds 1..N; each is a machine and a program of its own. */
enum {
    SEEDS = 150,
    TALKS = 180,
    SHAPES = 50,
    SPLITS = 30,
    BANKS = 32,
    OVERLAPS = 150,
    BESIDE = 100,
    MOST_LINE = 8192
};

static void assert_time(const struct scenario *s, const char *what, size_t kernel, size_t command,
                        int64_t got, int64_t want)
{
    if (got != want)
        fail_msg("seed %" PRIu64 ": %s of kernel %zu, command %zu is %" PRId64 ", not %" PRId64,
                 s->seed, what, kernel, command, got, want);
}

static void assert_launch(const struct scenario *s, const kb_sim *sim, size_t launch)
{
    int64_t last = 0, back = 0;
    kb_launch_result r;

    assert_int_equal(kb_launch_get(sim, launch, &r), KB_OK);
    for (size_t k = 0; k < s->program.n; k++) {
        const struct judge_kernel_times *want = &s->expected.kernels[k];

        if (s->program.kernels[k].launch != launch)
            continue;
        assert_time(s, "start", k, 0, r.start_fs, want->start_fs);
        last = want->end_fs > last ? want->end_fs : last;
        back = want->response_fs > back ? want->response_fs : back;
    }
    assert_time(s, "last end", launch, 0, r.last_end_fs, last);
    assert_time(s, "response", launch, 0, r.response_fs, back);
}

static void assert_times(const struct scenario *s, const kb_sim *sim)
{
    for (size_t k = 0; k < s->program.n; k++) {
        const struct judge_kernel_times *want = &s->expected.kernels[k];

        for (size_t i = 0; i < s->program.kernels[k].n; i++) {
            assert_time(s, "call", k, i, s->got[k][i].call_fs, want->commands[i].call_fs);
            assert_time(s, "return", k, i, s->got[k][i].return_fs, want->commands[i].return_fs);
        }
    }
    for (size_t i = 0; i < launches_of(s); i++)
        assert_launch(s, sim, i);
    assert_time(s, "end", 0, 0, kb_sim_end_fs(sim), s->expected.total_fs);
}

/* What an atomic returns: the integer of the slice, and what was added before, in its type. */
static int64_t sum_before(const struct judge_command *c, int64_t before)
{
    uint64_t cell = c->offset % JUDGE_CELLS_AT;

    if (c->in == JUDGE_I32)
        return (int32_t)(uint32_t)((uint64_t)cell / 4 + (uint64_t)before);
    return (int8_t)(uint8_t)(byte_of_slice(cell) + (uint64_t)before);
}

static void assert_sums(const struct scenario *s)
{
    for (size_t k = 0; k < s->program.n; k++) {
        for (size_t i = 0; i < s->program.kernels[k].n; i++) {
            const struct judge_command *c = &s->program.kernels[k].commands[i];

            if (c->kind == JUDGE_ATOMIC)
                assert_time(s, "what an atomic returns", k, i, s->got[k][i].before,
                            sum_before(c, s->expected.kernels[k].commands[i].before));
        }
    }
}

/* -- records -------------------------------------------------------------------------------- */

/* The number behind `key` in a line of the log; false: it is not there. */
static bool find_number(const char *line, const char *key, double *value)
{
    const char *at = strstr(line, key);

    if (!at)
        return false;
    *value = strtod(at + strlen(key), NULL);
    return true;
}

static void assert_field(const struct scenario *s, const char *line, const char *key, double want)
{
    double got = -1;

    if (!find_number(line, key, &got) || got != want)
        fail_msg("seed %" PRIu64 ": %s %.6f is not in %s", s->seed, key, want, line);
}

static const char *stage_name(enum judge_stage stage)
{
    static const char *const names[] = {"",      "DMA_READ", "DMA_WRITE", "FETCH",
                                        "STORE", "GEMM",     "MATH"};

    return names[stage];
}

static void assert_token(const struct scenario *s, const char *line,
                         const struct judge_op_record *r)
{
    char text[128];

    snprintf(text, sizeof text, "\"op_name\":\"TileToken/%s\"", stage_name(r->stage));
    if (!strstr(line, text))
        fail_msg("seed %" PRIu64 ": %s is not in %s", s->seed, text, line);
    snprintf(text, sizeof text, "\"tile\":[%u,%u,%u]", r->tile[0], r->tile[1], r->tile[2]);
    if (!strstr(line, text))
        fail_msg("seed %" PRIu64 ": %s is not in %s", s->seed, text, line);
    assert_field(s, line, "\"parent\":", (double)r->parent);
    assert_field(s, line, "\"token\":", r->token);
    if (r->stage == JUDGE_GEMM_STAGE)
        assert_field(s, line, "\"k\":", r->k);
    else if (r->stage == JUDGE_MATH_STAGE)
        assert_field(s, line, "\"elements\":", (double)r->elements);
    else
        assert_field(s, line, "\"nbytes\":", (double)r->nbytes);
    if (r->stage == JUDGE_DMA_READ)
        assert_field(s, line, "\"src_addr\":", (double)r->address);
    if (r->stage == JUDGE_DMA_WRITE)
        assert_field(s, line, "\"dst_addr\":", (double)r->address);
}

/* A piece of a send. */
static void assert_copy(const struct scenario *s, const char *line, const struct judge_op_record *r)
{
    if (!strstr(line, "\"op_name\":\"ipcq_copy\""))
        fail_msg("seed %" PRIu64 ": no ipcq_copy: %s", s->seed, line);
    assert_field(s, line, "\"t_issue\":", (double)r->t_issue / 1e6);
    assert_field(s, line, "\"dst_addr\":", (double)r->address);
    assert_field(s, line, "\"nbytes\":", (double)r->nbytes);
}

/* A load or a store. */
static void assert_moved(const struct scenario *s, const char *line,
                         const struct judge_op_record *r)
{
    bool loads = strstr(line, "\"op_name\":\"dma_read");

    assert_field(s, line, "\"t_issue\":", (double)r->t_issue / 1e6);
    assert_field(s, line, loads ? "\"src_addr\":" : "\"dst_addr\":", (double)r->address);
    assert_field(s, line, "\"nbytes\":", (double)r->nbytes);
}

static void assert_record(const struct scenario *s, const char *line)
{
    static const char *const components[] = {"pe_dma", "pe_fetch_store", "pe_gemm", "pe_math",
                                             "pe_scheduler"};
    const struct judge_op_record *r;
    char component[32];
    double id = -1;

    find_number(line, "\"op_id\":", &id);
    assert_true(id >= 0 && id < (double)s->expected.n_records);
    r = &s->expected.records[(size_t)id];
    assert_int_not_equal(r->component, JUDGE_NOWHERE);
    assert_field(s, line, "\"t_start\":", strtod("0", NULL) + (double)r->t_start / 1e6);
    assert_field(s, line, "\"t_end\":", (double)r->t_end / 1e6);
    snprintf(component, sizeof component, ".%s\"", components[r->component]);
    if (!strstr(line, component))
        fail_msg("seed %" PRIu64 ": %s is not in %s", s->seed, component, line);
    if (r->stage == JUDGE_COPY)
        assert_copy(s, line, r);
    else if (r->stage != JUDGE_COMMAND)
        assert_token(s, line, r);
    else if (r->component == JUDGE_PE_DMA)
        assert_moved(s, line, r);
    else
        assert_field(s, line, "\"t_issue\":", (double)r->t_issue / 1e6);
}

/* Ids that are in the log. */
static size_t n_logged(const struct judge_run *run)
{
    size_t n = 0;

    for (size_t i = 0; i < run->n_records; i++)
        n += run->records[i].component != JUDGE_NOWHERE;
    return n;
}

static void assert_records(const struct scenario *s, kb_sim *sim)
{
    static char line[MOST_LINE];
    char path[] = "/tmp/kernbench.XXXXXX.jsonl";
    kb_error why = {""};
    size_t n = 0;
    FILE *in;

    close(mkstemps(path, 6));
    if (kb_oplog_write(sim, path, NULL, 0, &why) != KB_OK)
        fail_msg("seed %" PRIu64 ": %s", s->seed, why.text);
    in = fopen(path, "r");
    assert_non_null(in);
    assert_non_null(fgets(line, sizeof line, in));
    for (; fgets(line, sizeof line, in); n++)
        assert_record(s, line);
    fclose(in);
    remove(path);
    if (n != n_logged(&s->expected))
        fail_msg("seed %" PRIu64 ": %zu records, not %zu", s->seed, n, n_logged(&s->expected));
}

/* ------------------------------------------------------------------------------------------- */

static void assert_run(struct scenario *s, kb_options options, uint64_t budget)
{
    kb_launch_result r;
    kb_sim *sim = launch_program(s, options);

    run_launched(s, sim, budget, &r);
    assert_times(s, sim);
    assert_sums(s);
    if (options.fingerprint && kb_sim_fingerprint(sim) != s->expected.fingerprint)
        fail_msg("seed %" PRIu64 ": fingerprint %016" PRIx64 ", not %016" PRIx64, s->seed,
                 kb_sim_fingerprint(sim), s->expected.fingerprint);
    if (options.oplog)
        assert_records(s, sim);
    assert_used(s->topo, sim, s->expected.uses, s->expected.n_uses, s->seed);
    kb_sim_free(sim);
}

/* A breakdown, with the critical path, of its program on `engine`. */
static char *breakdown_by(struct scenario *s, kb_engine engine)
{
    kb_sim *sim = launch_program(s, (kb_options){.engine = engine});
    kb_breakdown *why;
    kb_launch_result r;
    char *text;

    assert_int_equal(kb_breakdown_new(sim, &why, NULL), KB_OK);
    run_launched(s, sim, 0, &r);
    text = breakdown_text(why);
    kb_sim_free(sim);
    return text;
}

/* That made of visits is that made of pieces. */
static void assert_breakdowns(struct scenario *s)
{
    char *visits = breakdown_by(s, KB_FUSED), *pieces = breakdown_by(s, KB_HOP);

    assert_same_lines(s->seed, visits, pieces);
    free(visits);
    free(pieces);
}

static void assert_runs(struct scenario *s)
{
    assert_run(s, (kb_options){0}, 0);
    assert_run(s, (kb_options){.fingerprint = true, .oplog = true}, 0);
    assert_run(s, (kb_options){.engine = KB_HOP, .fingerprint = true}, 1 + s->seed % 50);
    assert_breakdowns(s);
}

static void one_on(void (*machine)(FILE *out, uint64_t seed), uint64_t seed, bool talks)
{
    struct scenario s = scenario_on(machine, seed, talks);

    assert_runs(&s);
    scenario_free(&s);
}

/* In the last, pending sums of tl_load_sum() come before a dot beside a composite. */
static void random_kernels_take_the_judges_times(void **state)
{
    struct seeds seeds = seeds_of(SEEDS, 1);

    (void)state;
    for (uint64_t seed = seeds.first; seed <= seeds.last; seed++)
        one_on(judge_random_kernel_topo, seed, false);
    one_on(judge_random_kernel_topo, 4149, false);
}

/* Queues in every memory, barriers, atomics; and bytes that arrive as they were sent. */
static void random_kernels_that_talk_do_so_too(void **state)
{
    struct seeds seeds = seeds_of(TALKS, 1);
    uint64_t known_bytes = 0;

    (void)state;
    for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
        struct scenario s = scenario_on(judge_random_kernel_topo, seed, true);

        assert_runs(&s);
        if (s.received->wrong)
            fail_msg("seed %" PRIu64 ": %" PRIu64 " bytes are not those that were sent", seed,
                     s.received->wrong);
        known_bytes += s.received->known;
        scenario_free(&s);
    }
    assert_true(known_bytes > 0);
}

/* Under tl_async(true) or not, in turn: operands in flight, sends that wait for them. */
static void random_kernels_that_overlap_do_so_too(void **state)
{
    struct seeds seeds = seeds_of(OVERLAPS, 1);

    (void)state;
    for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
        struct scenario s =
            scenario_with(printed(judge_random_kernel_topo, seed), seed, seed % 2, true);

        assert_runs(&s);
        if (s.received->wrong)
            fail_msg("seed %" PRIu64 ": %" PRIu64 " bytes are not those that were sent", seed,
                     s.received->wrong);
        scenario_free(&s);
    }
}

/* On rings, planes, one-way or not, IO chiplets of any side and grids of SIPs, too. */
/* Does a kernel use the TCM of another PE? That is cleared as the other's kernel starts. */
static bool uses_tcms(const struct judge_program *p)
{
    for (size_t k = 0; k < p->n; k++)
        for (size_t i = 0; i < p->kernels[k].n; i++) {
            const struct judge_command *c = &p->kernels[k].commands[i];

            if (c->at.kind == JUDGE_TCM)
                return true;
            for (size_t o = 0; o < c->n_operands; o++)
                if (c->operands[o].where == JUDGE_AT && c->operands[o].at.kind == JUDGE_TCM)
                    return true;
        }
    return false;
}

/* The kernels of a program in up to three launches, each in a stream of its own. */
static void random_kernels_side_by_side(void **state)
{
    struct seeds seeds = seeds_of(BESIDE, 1);
    uint64_t several = 0;

    (void)state;
    for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
        struct scenario s = scenario_unjudged(judge_random_kernel_topo, seed);
        bool one = uses_tcms(&s.program);

        for (size_t k = 0; k < s.program.n && !one; k++)
            s.program.kernels[k].launch = k * 3 / s.program.n;
        scenario_judge(&s);
        several += launches_of(&s) > 1;
        assert_runs(&s);
        scenario_free(&s);
    }
    assert_true(several > seeds_count(seeds) / 5);
}

/* Several launches, of which some share PEs, some a stream, and some wait for others. */
static void draw_launches(struct scenario *s, uint64_t seed)
{
    uint64_t dice = seed * 77 + 5;
    size_t n = 2 + draw(&dice) % 4;

    for (size_t l = 0; l < n; l++) {
        struct judge_launch launch = {.stream = draw(&dice) % 3};
        size_t first = s->program.n;

        if (l > 0) {
            struct judge_program more = {0};

            judge_random_program(s->judge, seed + 1000 * l, &more);
            for (size_t k = 0; k < more.n && !uses_tcms(&more); k++) {
                size_t to = judge_add_kernel(&s->program, &more.kernels[k].pe);

                for (size_t i = 0; i < more.kernels[k].n; i++)
                    judge_add_command(&s->program, to, &more.kernels[k].commands[i]);
            }
            judge_program_clear(&more);
        }
        for (size_t k = first; k < s->program.n; k++)
            s->program.kernels[k].launch = s->program.n_launches;
        for (size_t a = 0; a < s->program.n_launches && launch.n_after < JUDGE_MOST_AFTER; a++)
            if (draw(&dice) % 3 == 0)
                launch.after[launch.n_after++] = a;
        if (l == 0 || s->program.n > first)
            judge_add_launch(&s->program, &launch);
    }
}

/* They set out when they may: by their streams, those they name, and their PEs. */
static void random_launches_wait(void **state)
{
    struct seeds seeds = seeds_of(BESIDE, 1);
    uint64_t several = 0;

    (void)state;
    for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
        struct scenario s = scenario_unjudged(judge_random_kernel_topo, seed);

        if (!uses_tcms(&s.program))
            draw_launches(&s, seed);
        scenario_judge(&s);
        several += launches_of(&s) > 2;
        assert_runs(&s);
        scenario_free(&s);
    }
    assert_true(several > seeds_count(seeds) / 10);
}

static void random_kernels_on(void (*machine)(FILE *out, uint64_t seed))
{
    struct seeds seeds = seeds_of(SHAPES, 1);

    for (uint64_t seed = seeds.first; seed <= seeds.last; seed++)
        one_on(machine, seed, seed % 2);
}

static void random_kernels_on_any_shape(void **state)
{
    (void)state;
    random_kernels_on(judge_random_kernel_shape);
}

/* On cubes of several kinds, joined by nets and rails. In the last, data of a tl_load_sum() join on
 * their way, which takes a time. */
static void random_kernels_on_nets(void **state)
{
    (void)state;
    random_kernels_on(judge_random_kernel_net);
    one_on(judge_random_kernel_net, 389, true);
}

/* The YAML of a random machine with interleaved addresses, over cubes. */
static char *interleaved(void (*machine)(FILE *out, uint64_t seed), uint64_t seed)
{
    static const int granules[] = {64, 128, 256, 1024, 4096};
    uint64_t dice = seed;
    char *plain = plain_topo(machine, seed), *yaml = NULL, *space;
    struct judge_topo *t = judge_load_text(plain);
    const char *hash = draw(&dice) % 2 && splits_of(t).hash ? "xor" : "none";

    judge_free(t);
    assert_true(asprintf(&yaml, "%saddressing: {granule: %d, hash: %s}\n", plain,
                         granules[draw(&dice) % LENGTH(granules)], hash) > 0);
    space = strstr(yaml, "space: hbm");
    if (space)
        memcpy(space, "space: tcm", strlen("space: tcm"));
    free(plain);
    return yaml;
}

/* Loads, stores, tiles and atomics that are split over slices. */
static void random_kernels_on_interleaved_slices(void **state)
{
    struct seeds seeds = seeds_of(SPLITS, 1);

    (void)state;
    for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
        struct scenario s =
            scenario_in(interleaved(judge_random_kernel_topo, seed), seed, seed % 2);

        assert_runs(&s);
        scenario_free(&s);
    }
}

/* Loads, stores, tiles and messages through slices with banks; the judge counts rows, too. */
static void random_kernels_on_banks(void **state)
{
    struct seeds seeds = seeds_of(BANKS, 1);

    (void)state;
    for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
        struct scenario s = scenario_in(seed % 3 ? plain_topo(judge_random_kernel_banks, seed)
                                                 : interleaved(judge_random_kernel_banks, seed),
                                        seed, seed % 2);

        assert_runs(&s);
        scenario_free(&s);
    }
}

static void one_on_an_l2(uint64_t seed)
{
    struct scenario s = scenario_in(seed % 3 ? plain_topo(judge_random_kernel_l2, seed)
                                             : interleaved(judge_random_kernel_l2, seed),
                                    seed, seed % 2);

    assert_runs(&s);
    scenario_free(&s);
}

/* The same through L2s. In the last but one a load waits behind what an L2 makes, whose slot is
 * taken again before the load is told of; in the last an L2 writes to a memory that atomics hold
 * for longer, behind the end of the store that it does so for. */
static void random_kernels_on_l2s(void **state)
{
    struct seeds seeds = seeds_of(BANKS, 1);

    (void)state;
    for (uint64_t seed = seeds.first; seed <= seeds.last; seed++)
        one_on_an_l2(seed);
    one_on_an_l2(304);
    one_on_an_l2(785);
}

/* The same through caches of slices. */
static void random_kernels_on_caches(void **state)
{
    struct seeds seeds = seeds_of(BANKS, 1);

    (void)state;
    for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
        struct scenario s = scenario_in(seed % 3 ? plain_topo(judge_random_kernel_caches, seed)
                                                 : interleaved(judge_random_kernel_caches, seed),
                                        seed, seed % 2);

        assert_runs(&s);
        scenario_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_kernels_take_the_judges_times),
        cmocka_unit_test(random_kernels_that_talk_do_so_too),
        cmocka_unit_test(random_kernels_that_overlap_do_so_too),
        cmocka_unit_test(random_kernels_side_by_side),
        cmocka_unit_test(random_launches_wait),
        cmocka_unit_test(random_kernels_on_any_shape),
        cmocka_unit_test(random_kernels_on_nets),
        cmocka_unit_test(random_kernels_on_interleaved_slices),
        cmocka_unit_test(random_kernels_on_banks),
        cmocka_unit_test(random_kernels_on_caches),
        cmocka_unit_test(random_kernels_on_l2s),
    };

    cmocka_set_test_filter(getenv("KB_TEST"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
