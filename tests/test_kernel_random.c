/* test_kernel_random.c -- random kernels on random machines: times, ids and records as the judge's.
 */
#include "any_topology.h"
#include "judge/kernel.h"
#include "rig.h"
#include "tl.h"
#include <math.h>
#include <unistd.h>

/* KB_SEEDS=N in the environment runs seeds 1..N; each is a machine and a program of its own. */
enum { SEEDS = 1000, MOST_LINE = 2048 };

/* A program on a machine, what the judge says of it, and what the product does. */
struct scenario {
    uint64_t seed;
    const kb_topology *topo;
    struct judge_topo *judge;
    struct judge_program program;
    struct judge_run expected;
    struct judge_command_times **got; /* [kernel][command] */
    bool half_fs;
};

static int64_t now_fs(tl_ctx *tl)
{
    return llround(tl_time(tl) * 1e6);
}

/* -- a program as a kernel ------------------------------------------------------------------ */

static kb_dtype dtype_of(enum judge_dtype d)
{
    static const kb_dtype dtypes[] = {KB_I8, KB_I32, KB_F16, KB_F32, KB_F64};

    return dtypes[d];
}

static tl_op op_of(const char *name)
{
    static const struct {
        const char *name;
        tl_op op;
    } ops[] = {{"neg", TL_NEG}, {"exp", TL_EXP}, {"add", TL_ADD},         {"mul", TL_MUL},
               {"div", TL_DIV}, {"fma", TL_FMA}, {"maximum", TL_MAXIMUM}, {"tanh", TL_TANH}};

    for (size_t i = 0; i < LENGTH(ops); i++)
        if (strcmp(ops[i].name, name) == 0)
            return ops[i].op;
    fail_msg("no op %s", name);
    return TL_GEMM;
}

static uint64_t address(const struct scenario *s, const struct judge_end *at, uint64_t offset)
{
    kb_endpoint end = kb_end(at);

    return kb_address(s->topo, &end, offset);
}

/* Operand `i` of a command, [rows, columns]. */
static tl_tensor *operand(tl_ctx *tl, const struct scenario *s, const struct judge_command *c,
                          size_t i, tl_tensor **made, uint32_t rows, uint32_t columns)
{
    const struct judge_operand *o = &c->operands[i];

    if (o->where == JUDGE_SCALAR)
        return tl_scalar(tl, 2);
    if (o->where == JUDGE_OWN_TCM)
        return tl_reshape(tl, made[o->from], KB_SHAPE(rows, columns));
    return tl_ref(tl, address(s, &o->at, o->offset), dtype_of(c->in), KB_SHAPE(rows, columns));
}

static tl_tensor *do_math(tl_ctx *tl, const struct scenario *s, const struct judge_command *c,
                          tl_tensor **made)
{
    tl_tensor *x[3] = {NULL, NULL, NULL};

    for (size_t i = 0; i < c->n_operands; i++)
        x[i] = operand(tl, s, c, i, made, c->m, c->n);
    if (strcmp(c->op, "sum") == 0)
        return tl_sum(tl, x[0], -1, false);
    if (strcmp(c->op, "softmax") == 0)
        return tl_softmax(tl, x[0], -1);
    if (strcmp(c->op, "full") == 0)
        return tl_full(tl, dtype_of(c->out), KB_SHAPE(c->m, c->n), 1);
    return tl_math_at(tl, TL_HERE, op_of(c->op), x[0], x[1], x[2]);
}

static tl_epilogue epilogue(tl_ctx *tl, const struct judge_command *c, size_t i, tl_tensor **made)
{
    const struct judge_epilogue *e = &c->epilogues[i];
    tl_epilogue step = {.op = op_of(e->op)};

    switch (e->part) {
    case JUDGE_NO_PART:
        if (step.op == TL_MAXIMUM)
            step.y = tl_scalar(tl, 0);
        break;
    case JUDGE_ROW:
        step.y = tl_reshape(tl, made[e->from], KB_SHAPE(c->n));
        break;
    case JUDGE_COLUMN:
        step.y = tl_reshape(tl, made[e->from], KB_SHAPE(c->m, 1));
        break;
    case JUDGE_FULL:
        step.y = tl_reshape(tl, made[e->from], KB_SHAPE(c->m, c->n));
        break;
    }
    return step;
}

static tl_tensor *do_composite(tl_ctx *tl, const struct scenario *s, const struct judge_command *c,
                               tl_tensor **made)
{
    tl_composite_args args = {.out = address(s, &c->at, c->offset)};

    if (c->kind == JUDGE_COMPOSITE_GEMM) {
        args.a = operand(tl, s, c, 0, made, c->m, c->k);
        args.b = operand(tl, s, c, 1, made, c->k, c->n);
        args.dot.dtype_out = dtype_of(c->out);
        for (size_t i = 0; i < c->n_epilogues; i++)
            args.epilogue[i] = epilogue(tl, c, i, made);
        return tl_composite_at(tl, TL_HERE, args);
    }
    args.op = op_of(c->op);
    args.a = operand(tl, s, c, 0, made, c->m, c->n);
    if (c->n_operands > 1)
        args.b = operand(tl, s, c, 1, made, c->m, c->n);
    if (c->n_operands > 2)
        args.c = operand(tl, s, c, 2, made, c->m, c->n);
    return tl_composite_at(tl, TL_HERE, args);
}

static tl_tensor *do_command(tl_ctx *tl, const struct scenario *s, const struct judge_command *c,
                             tl_tensor **made)
{
    kb_shape flat;

    switch (c->kind) {
    case JUDGE_LOAD:
        flat = KB_SHAPE((int64_t)(c->nbytes / kb_dtype_bytes(dtype_of(c->in))));
        return tl_load_at(tl, TL_HERE, address(s, &c->at, c->offset), dtype_of(c->in), flat, NULL,
                          c->async);
    case JUDGE_STORE:
        return tl_store_at(tl, TL_HERE, address(s, &c->at, c->offset), made[c->from], NULL,
                           c->async);
    case JUDGE_DOT:
        return tl_dot(tl, operand(tl, s, c, 0, made, c->m, c->k),
                      operand(tl, s, c, 1, made, c->k, c->n), .dtype_out = dtype_of(c->out));
    case JUDGE_MATH:
        return do_math(tl, s, c, made);
    case JUDGE_WAIT:
        tl_wait(tl, made[c->target]);
        return NULL;
    default:
        return do_composite(tl, s, c, made);
    }
}

static size_t kernel_of(const struct scenario *s, uint32_t pe)
{
    size_t k = 0;

    while (judge_global_pe(s->judge, &s->program.kernels[k].pe) != pe)
        k++;
    return k;
}

static void program_kernel(tl_ctx *tl, const kb_args *args)
{
    const struct scenario *s = args->user;
    size_t k = kernel_of(s, tl_pe(tl));
    const struct judge_kernel *kernel = &s->program.kernels[k];
    tl_tensor **made = tl_alloc_host(tl, kernel->n * sizeof *made);

    for (size_t i = 0; i < kernel->n; i++) {
        s->got[k][i].call_fs = now_fs(tl);
        made[i] = do_command(tl, s, &kernel->commands[i], made);
        s->got[k][i].return_fs = now_fs(tl);
    }
}

/* -- one run -------------------------------------------------------------------------------- */

/* The launched PEs in ascending order. */
static uint32_t *launched(const struct scenario *s)
{
    uint32_t *pes = calloc(s->program.n, sizeof *pes);

    for (size_t i = 0; i < s->program.n; i++) {
        uint32_t pe = (uint32_t)judge_global_pe(s->judge, &s->program.kernels[i].pe);
        size_t at = i;

        for (; at > 0 && pes[at - 1] > pe; at--)
            pes[at] = pes[at - 1];
        pes[at] = pe;
    }
    return pes;
}

/* Bytes in the first JUDGE_WINDOW of every slice. */
static void fill(kb_sim *sim)
{
    kb_tensor *x;
    kb_error why = {""};
    kb_placement copies = {KB_REPLICATE, KB_REPLICATE};

    assert_int_equal(kb_tensor_new(sim, "x", KB_I8, KB_SHAPE(JUDGE_WINDOW), copies, &x, &why),
                     KB_OK);
    assert_int_equal(kb_tensor_fill_arange(x, 0, 0, &why), KB_OK);
}

static kb_sim *run_program(struct scenario *s, kb_options options, uint64_t budget,
                           kb_launch_result *result)
{
    kb_sim *sim = new_sim(s->topo, options);
    uint32_t *pes = launched(s);
    kb_launch_request r = {.name = "program",
                           .kernel = program_kernel,
                           .args.user = s,
                           .pes = pes,
                           .n_pes = s->program.n};
    kb_error why = {""};
    kb_status status;

    fill(sim);
    assert_int_equal(kb_launch(sim, &r, &why), KB_OK);
    do
        status = kb_sim_run(sim, budget, &why);
    while (status == KB_AGAIN);
    if (status != KB_OK)
        fail_msg("seed %" PRIu64 ": status %d: %s", s->seed, (int)status, why.text);
    assert_int_equal(kb_launch_get(sim, 0, result), KB_OK);
    free(pes);
    return sim;
}

static void assert_time(const struct scenario *s, const char *what, size_t kernel, size_t command,
                        int64_t got, int64_t want)
{
    if (got != want)
        fail_msg("seed %" PRIu64 ": %s of kernel %zu, command %zu is %" PRId64 ", not %" PRId64,
                 s->seed, what, kernel, command, got, want);
}

static void assert_times(const struct scenario *s, const kb_launch_result *r)
{
    int64_t last = 0;

    assert_time(s, "start", 0, 0, r->start_fs, s->expected.start_fs);
    for (size_t k = 0; k < s->program.n; k++) {
        const struct judge_kernel_times *want = &s->expected.kernels[k];

        for (size_t i = 0; i < s->program.kernels[k].n; i++) {
            assert_time(s, "call", k, i, s->got[k][i].call_fs, want->commands[i].call_fs);
            assert_time(s, "return", k, i, s->got[k][i].return_fs, want->commands[i].return_fs);
        }
        last = want->end_fs > last ? want->end_fs : last;
    }
    assert_time(s, "last end", 0, 0, r->last_end_fs, last);
    assert_time(s, "response", 0, 0, r->response_fs, s->expected.total_fs);
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
    assert_field(s, line, "\"t_start\":", strtod("0", NULL) + (double)r->t_start / 1e6);
    assert_field(s, line, "\"t_end\":", (double)r->t_end / 1e6);
    snprintf(component, sizeof component, ".%s\"", components[r->component]);
    if (!strstr(line, component))
        fail_msg("seed %" PRIu64 ": %s is not in %s", s->seed, component, line);
    if (r->stage != JUDGE_COMMAND)
        assert_token(s, line, r);
    else
        assert_field(s, line, "\"t_issue\":", (double)r->t_issue / 1e6);
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
    if (n != s->expected.n_records)
        fail_msg("seed %" PRIu64 ": %zu records, not %zu", s->seed, n, s->expected.n_records);
}

/* -- stations ------------------------------------------------------------------------------- */

/* What a run has used, held against what the judge says. */
struct comparison {
    const struct scenario *s;
    double end_fs;
    size_t n;
};

static void assert_use(void *arg, const kb_use *use)
{
    struct comparison *c = arg;
    const struct judge_run *run = &c->s->expected;
    size_t i = 0;

    if (!use->queues)
        return;
    while (i < run->n_uses && strcmp(run->uses[i].name, use->name) != 0)
        i++;
    if (i == run->n_uses)
        fail_msg("seed %" PRIu64 ": %s is used", c->s->seed, use->name);
    const struct judge_use *x = &run->uses[i];
    if (use->count != x->count || use->bytes != x->bytes || use->busy_fs != x->busy_fs ||
        use->queue_max != x->longest ||
        fabs(use->queue_mean * c->end_fs - (double)x->wait_fs) > 1 + 1e-9 * (double)x->wait_fs)
        fail_msg("seed %" PRIu64 ": %s: %" PRIu64 " times, %" PRIu64 " bytes, %" PRId64
                 " fs, waits %f ns, %d in line, not %" PRIu64 ", %" PRIu64 ", %" PRId64 ", %f, %u",
                 c->s->seed, use->name, use->count, use->bytes, use->busy_fs, use->wait_ns,
                 (int)use->queue_max, x->count, x->bytes, x->busy_fs, (double)x->wait_fs / 1e6,
                 x->longest);
    c->n++;
}

static void assert_usage(const struct scenario *s, const kb_sim *sim)
{
    struct comparison c = {s, (double)kb_sim_end_fs(sim), 0};

    assert_int_equal(kb_sim_usage(sim, assert_use, &c), KB_OK);
    assert_int_equal(c.n, s->expected.n_uses);
}

/* -- scenarios ------------------------------------------------------------------------------ */

static struct scenario scenario_new(uint64_t seed)
{
    struct scenario s = {.seed = seed};
    char *yaml = printed(judge_random_kernel_topo, seed);

    s.topo = any_topology(yaml);
    s.judge = judge_load_text(yaml);
    assert_non_null(s.topo);
    free(yaml);
    judge_random_program(s.judge, seed, &s.program);
    if (!judge_kernels(s.judge, &s.program, &s.expected))
        fail_msg("seed %" PRIu64 ": the judge refuses", seed);
    s.got = calloc(s.program.n, sizeof *s.got);
    for (size_t k = 0; k < s.program.n; k++)
        s.got[k] = calloc(s.program.kernels[k].n + 1, sizeof *s.got[k]);
    return s;
}

static void scenario_free(struct scenario *s)
{
    for (size_t k = 0; k < s->program.n; k++)
        free(s->got[k]);
    free(s->got);
    judge_run_clear(&s->expected);
    judge_program_clear(&s->program);
    any_topology_free(s->topo);
    judge_free(s->judge);
}

static void assert_run(struct scenario *s, kb_options options, uint64_t budget)
{
    kb_launch_result r;
    kb_sim *sim = run_program(s, options, budget, &r);

    assert_times(s, &r);
    if (options.fingerprint && kb_sim_fingerprint(sim) != s->expected.fingerprint)
        fail_msg("seed %" PRIu64 ": fingerprint %016" PRIx64 ", not %016" PRIx64, s->seed,
                 kb_sim_fingerprint(sim), s->expected.fingerprint);
    if (options.oplog)
        assert_records(s, sim);
    assert_usage(s, sim);
    kb_sim_free(sim);
}

static void random_kernels_take_the_judges_times(void **state)
{
    const char *wanted = getenv("KB_SEEDS");
    uint64_t seeds = wanted ? strtoull(wanted, NULL, 10) : SEEDS;

    (void)state;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct scenario s = scenario_new(seed);

        assert_run(&s, (kb_options){0}, 0);
        assert_run(&s, (kb_options){.fingerprint = true, .oplog = true}, 0);
        assert_run(&s, (kb_options){.engine = KB_HOP, .fingerprint = true}, 1 + seed % 50);
        scenario_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_kernels_take_the_judges_times),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
