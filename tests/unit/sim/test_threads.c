/*
 * test_threads.c -- many simulations at once: eight threads, two topologies in one program.
 *
 * Each gives what it gives alone: docs/library.md, no state that is shared. `make tsan`
 * reports state that is shared all the same.
 */
#include <pthread.h>

#include "cube8.h"
#include "support/rig.h"
#include "tl.h"
#include "tray32.h"

enum { THREADS = 8, ROUNDS = 3, ROWS = 3000, SIDE = 64 };

/* What a simulation came to. */
struct outcome {
    kb_status status;
    kb_error why;
    uint64_t fingerprint;
    uint64_t hash; /* of all its results */
};

struct job {
    const char *name;
    const kb_topology *topo;
    kb_options options;
    kb_status (*run)(const struct job *job, struct outcome *out);
    uint64_t seed;
    uint64_t budget; /* events of a kb_sim_run(); 0: all */
};

/* FNV-1a 64 */
static void hash(uint64_t *h, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < n; i++)
        *h = (*h ^ at[i]) * UINT64_C(0x100000001b3);
}

static kb_status run_by(kb_sim *sim, uint64_t budget, kb_error *why)
{
    kb_status status;

    do
        status = kb_sim_run(sim, budget, why);
    while (status == KB_AGAIN);
    return status;
}

/* -- transactions --------------------------------------------------------------------------- */

static kb_transaction random_request(const kb_info *info, uint64_t *dice)
{
    kb_transaction q = {.issue_fs = (int64_t)(draw(dice) % 2000) * KB_FS_PER_NS, .nbytes = 64};
    uint32_t cubes = info->cubes_per_sip, pes = info->pes_per_cube;

    q.op = (kb_transaction_op)(draw(dice) % 4);
    q.nbytes <<= draw(dice) % 7;
    q.dst = (kb_endpoint){KB_SLICE, (uint32_t)draw(dice) % info->sips, (uint32_t)draw(dice) % cubes,
                          (uint32_t)draw(dice) % pes};
    if (q.op == KB_H2D || q.op == KB_D2H)
        q.src = (kb_endpoint){.kind = KB_HOST, .sip = q.dst.sip};
    else
        q.src = (kb_endpoint){KB_PE, (uint32_t)draw(dice) % info->sips,
                              (uint32_t)draw(dice) % cubes, (uint32_t)draw(dice) % pes};
    return q;
}

static kb_status add_rows(kb_sim *sim, const struct job *job, kb_error *why)
{
    uint64_t dice = job->seed;
    kb_status status = KB_OK;
    kb_info info;

    kb_topology_info(job->topo, &info);
    for (int i = 0; status == KB_OK && i < ROWS; i++) {
        kb_transaction q = random_request(&info, &dice);

        status = kb_sim_add(sim, &q, why);
    }
    return status;
}

static void hash_use(void *arg, const kb_utilization *use)
{
    hash(arg, use->name, strlen(use->name));
    hash(arg, &use->bytes, sizeof use->bytes);
    hash(arg, &use->busy_fs, sizeof use->busy_fs);
    hash(arg, &use->queue_max, sizeof use->queue_max);
}

static kb_status hash_rows(const kb_sim *sim, uint64_t *h)
{
    kb_status status = KB_OK;

    for (uint64_t id = 0; status == KB_OK && id < kb_sim_count(sim); id++) {
        kb_result r;

        status = kb_sim_result(sim, id, &r);
        hash(h, &r, sizeof r);
    }
    return status == KB_OK ? kb_sim_utilization(sim, hash_use, h) : status;
}

static kb_status run_rows(const struct job *job, struct outcome *out)
{
    kb_sim *sim = NULL;
    kb_status status = kb_sim_new(job->topo, &job->options, &sim);

    if (status == KB_OK)
        status = add_rows(sim, job, &out->why);
    if (status == KB_OK)
        status = run_by(sim, job->budget, &out->why);
    if (status == KB_OK) {
        out->fingerprint = kb_sim_fingerprint(sim);
        status = hash_rows(sim, &out->hash);
    }
    kb_sim_free(sim);
    return status;
}

/* -- traffic -------------------------------------------------------------------------------- */

static kb_status run_traffic(const struct job *job, struct outcome *out)
{
    kb_traffic traffic = {.pattern = KB_UNIFORM, .nbytes = 256, .rate = 0.2, .txns = ROWS};
    kb_traffic_result r;
    kb_sim *sim = NULL;
    kb_status status = kb_sim_new(job->topo, &job->options, &sim);

    traffic.seed = job->seed;
    if (status == KB_OK)
        status = kb_sim_traffic(sim, &traffic, &out->why);
    if (status == KB_OK)
        status = run_by(sim, job->budget, &out->why);
    if (status == KB_OK)
        status = kb_sim_traffic_result(&sim, 1, &r);
    if (status == KB_OK) {
        out->fingerprint = kb_sim_fingerprint(sim);
        hash(&out->hash, &r.issued, sizeof r.issued);
        hash(&out->hash, &r.mean_fs, sizeof r.mean_fs);
        hash(&out->hash, &r.max_fs, sizeof r.max_fs);
    }
    kb_sim_free(sim);
    return status;
}

/* -- kernels -------------------------------------------------------------------------------- */

/* A 1, as the PE before in the cube has made it; all PEs of the cube go on together. */
static tl_tensor *one_from_before(tl_ctx *tl)
{
    tl_group cube = tl_cube(tl);
    uint32_t pe = tl_pe(tl) - cube.first, n = (uint32_t)cube.n;
    tl_tensor *one = tl_full(tl, KB_F32, KB_SHAPE(1), 1);

    tl_send(tl, cube.first + (pe + 1) % n, 0, one);
    one = tl_recv(tl, cube.first + (pe + n - 1) % n, 0, KB_F32, KB_SHAPE(1));
    tl_barrier(tl, cube);
    return one;
}

/* y = softmax(x w + 1) of its rows: DMA, both engines, messages, and a branch on loaded data. */
static void layer(tl_ctx *tl, const kb_args *args)
{
    kb_shard x = kb_tensor_shard(args->tensors[0], tl_pe(tl));
    kb_shard w = kb_tensor_shard(args->tensors[1], tl_pe(tl));
    kb_shard y = kb_tensor_shard(args->tensors[2], tl_pe(tl));
    tl_tensor *a, *b, *c, *one = one_from_before(tl);

    if (x.shape.dim[0] == 0)
        return;
    a = tl_load_async(tl, x.address, KB_F32, x.shape);
    b = tl_load_async(tl, w.address, KB_F32, w.shape);
    tl_wait(tl, a);
    tl_wait(tl, b);
    c = tl_dot(tl, a, b);
    if (tl_get(tl, a, 0) > 0)
        c = tl_add(tl, c, one);
    tl_store(tl, y.address, tl_softmax(tl, c, -1));
}

static kb_status new_tensor(kb_sim *sim, const char *name, kb_placement_split split,
                            kb_tensor **out, kb_error *why)
{
    return kb_tensor_new(sim, name, KB_F32, KB_SHAPE(SIDE, SIDE), (kb_placement){split, split}, out,
                         why);
}

static kb_status add_launch(kb_sim *sim, const struct job *job, kb_tensor **t, kb_error *why)
{
    kb_launch_request request = {
        .name = job->name, .kernel = layer, .args = {.tensors = t, .n_tensors = 3}};
    kb_status status = new_tensor(sim, "x", KB_ROW_WISE, &t[0], why);

    if (status == KB_OK)
        status = new_tensor(sim, "w", KB_REPLICATE, &t[1], why);
    if (status == KB_OK)
        status = new_tensor(sim, "y", KB_ROW_WISE, &t[2], why);
    if (status == KB_OK)
        status = kb_tensor_fill_random(t[0], job->seed, 1, why);
    if (status == KB_OK)
        status = kb_tensor_fill_random(t[1], job->seed, 0.125, why);
    return status == KB_OK ? kb_launch(sim, &request, why) : status;
}

static kb_status hash_launch(const kb_sim *sim, const kb_tensor *y, struct outcome *out)
{
    float values[SIDE * SIDE];
    kb_launch_result r;
    kb_status status = kb_launch_get(sim, 0, &r);

    if (status == KB_OK)
        status = kb_tensor_read(y, values, &out->why);
    if (status != KB_OK)
        return status;
    hash(&out->hash, values, sizeof values);
    hash(&out->hash, &r.start_fs, sizeof r.start_fs);
    hash(&out->hash, &r.last_end_fs, sizeof r.last_end_fs);
    hash(&out->hash, &r.response_fs, sizeof r.response_fs);
    hash(&out->hash, &r.gemm_macs, sizeof r.gemm_macs);
    return KB_OK;
}

static kb_status run_kernels(const struct job *job, struct outcome *out)
{
    kb_compute_options compute = {.threads = 2, .verify_ops = true};
    kb_tensor *t[3];
    kb_sim *sim = NULL;
    kb_status status = kb_sim_new(job->topo, &job->options, &sim);

    if (status == KB_OK)
        status = add_launch(sim, job, t, &out->why);
    if (status == KB_OK)
        status = run_by(sim, job->budget, &out->why);
    if (status == KB_OK)
        status = kb_compute(sim, &compute, &out->why);
    if (status == KB_OK) {
        out->fingerprint = kb_sim_fingerprint(sim);
        status = hash_launch(sim, t[2], out);
    }
    kb_sim_free(sim);
    return status;
}

/* A mistake ends this run, and no other. */
static void mistake(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_fail(tl, "on purpose");
}

static kb_status run_mistake(const struct job *job, struct outcome *out)
{
    kb_launch_request request = {.name = job->name, .kernel = mistake};
    kb_sim *sim = NULL;
    kb_status status = kb_sim_new(job->topo, &job->options, &sim);

    if (status == KB_OK)
        status = kb_launch(sim, &request, &out->why);
    if (status == KB_OK)
        status = run_by(sim, job->budget, &out->why);
    kb_sim_free(sim);
    return status;
}

/* -- all at once ---------------------------------------------------------------------------- */

#define CUBE8  &cube8_topology
#define TRAY32 &tray32_topology

static const struct job jobs[THREADS] = {
    {"fused", CUBE8, {.engine = KB_FUSED}, run_rows, 1, 0},
    {"fused", TRAY32, {.engine = KB_FUSED}, run_rows, 2, 500},
    {"hop", CUBE8, {.engine = KB_HOP, .fingerprint = true}, run_rows, 1, 700},
    {"counted", TRAY32, {.fingerprint = true}, run_rows, 2, 0},
    {"layer", CUBE8, {.phase2 = true, .fingerprint = true}, run_kernels, 3, 0},
    {"layer", TRAY32, {.phase2 = true, .oplog_limit_bytes = 4096}, run_kernels, 4, 100},
    {"traffic", TRAY32, {.engine = KB_FUSED}, run_traffic, 5, 1000},
    {"mistake", TRAY32, {.fingerprint = false}, run_mistake, 0, 0},
};

static struct outcome outcome_of(const struct job *job)
{
    struct outcome out = {.why = {""}};

    out.status = job->run(job, &out);
    return out;
}

struct worker {
    const struct job *job;
    struct outcome out[ROUNDS];
    pthread_barrier_t *start;
};

static void *work(void *arg)
{
    struct worker *w = arg;

    pthread_barrier_wait(w->start);
    for (int i = 0; i < ROUNDS; i++)
        w->out[i] = outcome_of(w->job);
    return NULL;
}

static void run_at_once(struct worker *workers)
{
    pthread_t threads[THREADS];
    pthread_barrier_t start;

    assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (int i = 0; i < THREADS; i++) {
        workers[i].start = &start;
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&start);
}

static void assert_same(const struct job *job, const struct outcome *got,
                        const struct outcome *want)
{
    kb_info info;

    kb_topology_info(job->topo, &info);
    if (got->status != want->status || strcmp(got->why.text, want->why.text) != 0)
        fail_msg("%s on %s: status %d (%s), alone %d (%s)", job->name, info.name, (int)got->status,
                 got->why.text, (int)want->status, want->why.text);
    if (got->fingerprint != want->fingerprint || got->hash != want->hash)
        fail_msg("%s on %s differs from what it is alone", job->name, info.name);
}

/* docs/library.md */
static void eight_threads_get_what_each_gets_alone(void **state)
{
    struct worker workers[THREADS] = {0};

    (void)state;
    for (int i = 0; i < THREADS; i++)
        workers[i].job = &jobs[i];
    run_at_once(workers);
    for (int i = 0; i < THREADS; i++) {
        struct outcome alone = outcome_of(&jobs[i]);

        assert_int_equal(alone.status, jobs[i].run == run_mistake ? KB_KERNEL_ERROR : KB_OK);
        assert_true(alone.hash != 0 || alone.status != KB_OK);
        for (int round = 0; round < ROUNDS; round++)
            assert_same(&jobs[i], &workers[i].out[round], &alone);
    }
}

/* The same eight on one topology: its tables are read by all of them. */
static void eight_threads_share_a_topology(void **state)
{
    struct worker workers[THREADS] = {0};
    struct outcome alone = outcome_of(&jobs[4]);

    (void)state;
    assert_int_equal(alone.status, KB_OK);
    for (int i = 0; i < THREADS; i++)
        workers[i].job = &jobs[4];
    run_at_once(workers);
    for (int i = 0; i < THREADS; i++)
        for (int round = 0; round < ROUNDS; round++)
            assert_same(&jobs[4], &workers[i].out[round], &alone);
}

/* A step of a run, and what it returned. */
struct step {
    kb_sim *sim;
    kb_error why;
    kb_status status;
};

static void *take_step(void *arg)
{
    struct step *s = arg;

    s->status = kb_sim_run(s->sim, 50, &s->why);
    return NULL;
}

/* "One thread at a time may use it", not always the same one; kernels are then under way. */
static void a_run_may_pass_from_thread_to_thread(void **state)
{
    const struct job *job = &jobs[4];
    struct outcome alone = outcome_of(job), out = {.why = {""}};
    struct step step = {.why = {""}};
    kb_tensor *t[3];
    int steps = 0;

    (void)state;
    step.sim = new_sim(job->topo, job->options);
    assert_int_equal(add_launch(step.sim, job, t, &step.why), KB_OK);
    do {
        pthread_t thread;

        assert_int_equal(pthread_create(&thread, NULL, take_step, &step), 0);
        pthread_join(thread, NULL);
        steps++;
    } while (step.status == KB_AGAIN);
    assert_true(steps > 3);
    assert_int_equal(step.status, KB_OK);
    assert_int_equal(kb_compute(step.sim, NULL, &out.why), KB_OK);
    out.fingerprint = kb_sim_fingerprint(step.sim);
    out.status = hash_launch(step.sim, t[2], &out);
    kb_sim_free(step.sim);
    assert_same(job, &out, &alone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_threads_get_what_each_gets_alone),
        cmocka_unit_test(eight_threads_share_a_topology),
        cmocka_unit_test(a_run_may_pass_from_thread_to_thread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
