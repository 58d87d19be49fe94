/* exec.c -- Phase 2: threads compute the operations of the graph.
 *
 * graph.c says which operations wait for which. Those that wait for nothing are *ready*. Each
 * thread repeats: take a job under the lock, compute it without the lock, report it done under the
 * lock, which may make others ready. The thread that called kb_compute() is one of them.
 *
 * Three kinds of jobs:
 *   - Ordinary operations, one at a time (group 0).
 *   - A batch of small products of one shape (the other groups). 10,000 products of 64x64x64 are
 *     2^18 multiplications each, so 16 make a batch (BATCH_WORK), and the lock is taken 1,250
 *     times instead of 20,000. While one is computed, the operands of the next are prefetched.
 *     A thread takes no more than its share of what is ready: the others need work, too.
 *   - A part of a large product. The thread that takes the product makes it `shared`. Then all
 *     threads take parts of it, and the one that ends the last part finishes the product.
 *
 * Of what is ready, the lowest node is taken, which is the oldest operation. So Phase 2 follows the
 * order of the program, more or less, and intermediate results are freed soon.
 *
 * Results are the same bytes for any number of threads: each operation is computed from known
 * operands, and products are cut into parts by their shape alone.
 *
 * The lock protects the state below it in struct exec, all reference counts, and the gathering of
 * pieces. Bytes need no lock: a version does not change once it is ready, and it is made ready
 * under the lock.
 *
 * With verify_ops each result is compared with the reference implementation. After a difference,
 * operations before it are still computed (`bound`), so that the one that is reported is the first,
 * whatever the order of the threads: operands of a wrong operation may be wrong themselves.
 */
#include "phase2/exec.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include "data/dtype.h"
#include "machine/endpoint.h"
#include "phase2/exec_parts.h"

/* -- what may run --------------------------------------------------------------------------- */

static void ready_push(struct ready *h, uint32_t node)
{
    uint32_t i = h->n++;

    for (; i > 0 && h->nodes[(i - 1) / 2] > node; i = (i - 1) / 2)
        h->nodes[i] = h->nodes[(i - 1) / 2];
    h->nodes[i] = node;
}

static uint32_t ready_pop(struct ready *h)
{
    uint32_t first = h->nodes[0], last = h->nodes[--h->n], i = 0, child;

    for (; (child = 2 * i + 1) < h->n; i = child) {
        if (child + 1 < h->n && h->nodes[child + 1] < h->nodes[child])
            child++;
        if (h->nodes[child] >= last)
            break;
        h->nodes[i] = h->nodes[child];
    }
    h->nodes[i] = last;
    return first;
}

/* The group with the lowest node; NULL: nothing is ready. */
static struct ready *ready_lowest(struct exec *exec, uint32_t *group)
{
    struct ready *lowest = NULL;

    for (uint32_t i = 0; i < exec->graph.n_groups; i++)
        if (exec->ready[i].n && (!lowest || exec->ready[i].nodes[0] < lowest->nodes[0])) {
            lowest = &exec->ready[i];
            *group = i;
        }
    return lowest;
}

/* One of the nodes that `node` waits for is done. A join is done with the last of them. */
void exec_arrive(struct exec *exec, uint32_t node)
{
    const struct graph_node *n = &exec->graph.nodes[node];

    if (--exec->graph.nodes[node].waits)
        return;
    if (node < exec->graph.n_ops) {
        ready_push(&exec->ready[n->group], node);
        return;
    }
    for (uint32_t e = n->first; e < n[1].first; e++)
        exec_arrive(exec, exec->graph.edges[e]);
}

/* -- threads -------------------------------------------------------------------------------- */

struct worker {
    struct exec *exec;
    pthread_t thread;
    struct gemm_memory memory;
    struct running batch[BATCH_MAX];
};

/* The next work of a thread: a part of a product, or some operations. */
struct job {
    struct shared *shared; /* NULL: operations */
    uint32_t part;
    uint32_t n, nodes[BATCH_MAX];
};

static bool take_part(struct exec *exec, struct job *job)
{
    for (struct shared *s = exec->shared; s; s = s->next)
        if (s->taken < s->n_parts && s->r.node < exec->bound) {
            *job = (struct job){.shared = s, .part = s->taken++};
            return true;
        }
    return false;
}

/*
 * Takes a batch of the group with the lowest node: at most BATCH_MAX nodes, and no more than this
 * thread's share of what is ready. Batches have no effect on results.
 */
static bool take_nodes(struct exec *exec, struct job *job)
{
    uint32_t group = 0, n;
    struct ready *h = ready_lowest(exec, &group);

    if (!h || h->nodes[0] >= exec->bound)
        return false;
    n = (h->n + exec->idle + exec->busy) /
        (exec->idle + exec->busy + 1); /* the share of one thread */
    if (n > exec->graph.groups[group].batch)
        n = exec->graph.groups[group].batch;
    job->shared = NULL;
    for (job->n = 0; job->n < n && h->nodes[0] < exec->bound; job->n++)
        job->nodes[job->n] = ready_pop(h);
    return true;
}

/*
 * Makes a product of several parts shared: from now on any thread may take them. The product of
 * the opening of phase2_gemm.c, 1024^3 in f16, has 6 parts; with 2 threads each computes about 3 of
 * them, and the one that ends the last part finishes the product.
 */
static bool share(struct exec *exec, uint32_t node)
{
    struct shared *s = calloc(1, sizeof *s);

    if (!s)
        return exec_fail(exec, 0, KB_NO_MEMORY, NULL);
    if (!exec_start(exec, node, &s->r)) {
        exec_give_up(&s->r);
        free(s);
        return false;
    }
    s->n_parts = gemm_parts(&s->r.op);
    pthread_mutex_lock(&exec->lock);
    s->next = exec->shared;
    exec->shared = s;
    pthread_mutex_unlock(&exec->lock);
    return true;
}

static void unlink_shared(struct exec *exec, struct shared *s)
{
    struct shared **at = &exec->shared;

    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    free(s);
}

static bool run_part(struct exec *exec, const struct job *job, struct gemm_memory *memory)
{
    struct shared *s = job->shared;
    bool last;

    if (!gemm_part(&s->r.op, job->part, s->r.out, memory))
        return exec_no_memory(exec, &s->r);
    pthread_mutex_lock(&exec->lock);
    last = ++s->done == s->n_parts;
    pthread_mutex_unlock(&exec->lock);
    if (!last)
        return true;
    if (!exec_verify(exec, &s->r))
        return false;
    pthread_mutex_lock(&exec->lock);
    exec_finish(exec, &s->r);
    unlink_shared(exec, s);
    pthread_mutex_unlock(&exec->lock);
    return true;
}

/* Has the bytes of the batch's next product prefetched while this one is computed. */
static void look_ahead(struct gemm_memory *memory, const struct op *op, const struct running *next)
{
    const struct op_tensor *in = next->op.in;

    for (int i = 0; i < 2; i++) {
        const unsigned char *at = in[i].view.v->bytes + in[i].view.offset;

        memory->ahead[i].at = at;
        memory->ahead[i].end = at + dtype_size(in[i].dtype, dims_elements(&in[i].shape));
        if (in[i].view.v == op->in[i].view.v) /* packed already */
            memory->ahead[i].at = memory->ahead[i].end;
    }
    memory->ahead[2] = (struct gemm_ahead){next->out, next->out + next->op.out.view.v->nbytes};
}

static bool compute_batch(struct worker *w, uint32_t i, uint32_t n)
{
    if (i + 1 < n) /* a batch is of small products */
        look_ahead(&w->memory, &w->batch[i].op, &w->batch[i + 1]);
    return exec_compute(w->exec, &w->batch[i], &w->memory);
}

static void run_nodes(struct worker *w, const struct job *job)
{
    struct exec *exec = w->exec;
    uint32_t started = 0, done = 0;

    while (started < job->n && exec_start(exec, job->nodes[started], &w->batch[started]))
        started++;
    if (started < job->n)
        exec_give_up(&w->batch[started]);
    while (done < started && compute_batch(w, done, started))
        done++;
    for (uint32_t i = done; i < started; i++)
        exec_give_up(&w->batch[i]);
    pthread_mutex_lock(&exec->lock);
    for (uint32_t i = 0; i < done; i++)
        exec_finish(exec, &w->batch[i]);
    pthread_mutex_unlock(&exec->lock);
}

static void run_job(struct worker *w, const struct job *job)
{
    if (job->shared)
        run_part(w->exec, job, &w->memory);
    else if (w->exec->graph.nodes[job->nodes[0]].is_wide)
        share(w->exec, job->nodes[0]);
    else
        run_nodes(w, job);
}

/* Is there more to compute? After a wrong operation there is: those before it may be wrong, too. */
static bool has_more(const struct exec *exec)
{
    return exec->left > 0 && (exec->status == KB_OK || exec->status == KB_DIFFERENT);
}

/* Reports progress to the caller, which may stop the run. Under the lock. */
static void report_progress(struct exec *exec)
{
    const struct kb_compute_options *o = &exec->options;

    if (!has_more(exec))
        return;
    if (o->progress)
        o->progress(o->progress_arg, exec->graph.n_ops - exec->left, exec->graph.n_ops);
    if (!o->stop || !o->stop(o->stop_arg))
        return;
    exec->bound = 0;
    if (exec->status == KB_OK)
        exec->status = KB_STOPPED;
}

/* Frees all packed operands: no thread may use one. */
static void forget_packed(struct exec *exec)
{
    for (uint32_t i = 0; i < exec->graph.slots; i++)
        if (exec->graph.versions[i].products)
            gemm_forget(exec->graph.versions[i].v);
}

/*
 * May operations be taken? Not while packed operands take too much memory: then threads end what
 * they do, and the last one frees them all; parts of products that are shared are taken first.
 * Under the lock.
 */
static bool has_room(struct exec *exec)
{
    if (!gemm_pool_is_full(exec->pool))
        return true;
    if (exec->busy > 0)
        return false;
    forget_packed(exec);
    return true;
}

/*
 * Waits for a job. False: there will be none. Under the lock. If no thread is busy and none finds a
 * job although operations are left, they wait for each other: the log was not consistent.
 */
static bool next_job(struct exec *exec, struct job *job)
{
    for (;;) {
        report_progress(exec);
        if (!has_more(exec))
            return false;
        if (take_part(exec, job) || (has_room(exec) && take_nodes(exec, job)))
            return true;
        if (exec->busy == 0 && exec->status == KB_DIFFERENT)
            return false;
        if (exec->busy == 0) {
            endpoint_error(&exec->why, "%u operations wait for each other", exec->left);
            exec->status = KB_INTERNAL;
            return false;
        }
        exec->idle++;
        pthread_cond_wait(&exec->more, &exec->lock);
        exec->idle--;
    }
}

static void *work(void *arg)
{
    struct worker *w = arg;
    struct exec *exec = w->exec;
    struct job job;

    pthread_mutex_lock(&exec->lock);
    while (next_job(exec, &job)) {
        exec->busy++;
        pthread_mutex_unlock(&exec->lock);
        run_job(w, &job);
        pthread_mutex_lock(&exec->lock);
        exec->busy--;
        if (exec->idle)
            pthread_cond_broadcast(&exec->more);
    }
    pthread_cond_broadcast(&exec->more);
    pthread_mutex_unlock(&exec->lock);
    return NULL;
}

/* Blocks signals in the new threads: they are for the caller's. If the system refuses a thread, the
 * others do its work. */
static uint32_t start_threads(struct worker *workers, uint32_t n)
{
    sigset_t all, before;
    uint32_t made = 1;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (made < n && pthread_create(&workers[made].thread, NULL, work, &workers[made]) == 0)
        made++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return made;
}

static void run_threads(struct exec *exec, struct worker *workers, uint32_t n)
{
    uint32_t made;

    for (uint32_t i = 0; i < n; i++) {
        workers[i].exec = exec;
        workers[i].memory.pool = exec->pool;
    }
    made = start_threads(workers, n);
    work(&workers[0]);
    for (uint32_t i = 1; i < made; i++)
        pthread_join(workers[i].thread, NULL);
    for (uint32_t i = 0; i < n; i++)
        gemm_memory_free(&workers[i].memory);
}

/* -- the whole ------------------------------------------------------------------------------ */

static bool exec_init(struct exec *exec)
{
    uint32_t *heap;

    exec->left = exec->graph.n_ops;
    exec->bound = UINT32_MAX;
    exec->pool = gemm_pool_new();
    heap = exec->heaps = malloc((exec->left ? exec->left : 1) * sizeof *heap);
    for (uint32_t i = 0; heap && i < exec->graph.n_groups; heap += exec->graph.groups[i++].n)
        exec->ready[i].nodes = heap;
    for (uint32_t i = 0; heap && i < exec->graph.n_ops; i++)
        if (!exec->graph.nodes[i].waits)
            ready_push(&exec->ready[exec->graph.nodes[i].group], i);
    return heap && exec->pool;
}

/* Frees what a failed run has begun, packed operands before the pool that has their memory. */
static void exec_end(struct exec *exec)
{
    while (exec->shared) {
        exec_give_up(&exec->shared->r);
        unlink_shared(exec, exec->shared);
    }
    forget_packed(exec);
    gemm_pool_free(exec->pool);
    free(exec->heaps);
    graph_free(&exec->graph);
}

static kb_status run_graph(struct exec *exec, unsigned threads)
{
    struct worker *workers = calloc(threads, sizeof *workers);

    if (!workers || !exec_init(exec)) {
        exec->status = KB_NO_MEMORY;
        endpoint_error(&exec->why, "out of memory");
    } else {
        pthread_mutex_init(&exec->lock, NULL);
        pthread_cond_init(&exec->more, NULL);
        run_threads(exec, workers, threads);
        pthread_cond_destroy(&exec->more);
        pthread_mutex_destroy(&exec->lock);
    }
    free(workers);
    return exec->status;
}

static unsigned thread_count(unsigned threads)
{
    long n = threads ? (long)threads : sysconf(_SC_NPROCESSORS_ONLN);

    return n < 1 ? 1 : n > THREADS_MAX ? THREADS_MAX : (unsigned)n;
}

static kb_status no_memory(kb_error *why)
{
    endpoint_error(why, "out of memory");
    return KB_NO_MEMORY;
}

/* Computes these operations; takes `operations`. */
static kb_status run(struct op_log *log, const struct kb_topology *topo,
                     struct operations operations, const struct kb_compute_options *options,
                     kb_error *why)
{
    struct exec *exec = calloc(1, sizeof *exec);
    kb_status status;

    if (!exec) {
        free(operations.of);
        return no_memory(why);
    }
    exec->log = log;
    exec->topo = topo;
    exec->options = *options;
    status = graph_build(&exec->graph, log, operations, why);
    if (status == KB_OK) {
        status = run_graph(exec, thread_count(options->threads));
        if (status != KB_OK && why)
            *why = exec->why;
        exec_end(exec);
    }
    free(exec);
    return status;
}

kb_status exec_run(struct op_log *log, const struct kb_topology *topo,
                   const struct kb_compute_options *options, kb_error *why)
{
    struct operations all = {.n = 0};
    uint64_t n;
    kb_status status = op_log_computes(log, &n, why);

    if (status)
        return status;
    if (n < UINT32_MAX / 2)
        all.of = malloc((n ? n : 1) * sizeof *all.of);
    if (!all.of)
        return no_memory(why);
    for (; all.n < n; all.n++)
        all.of[all.n] = (struct operation){.number = all.n};
    return run(log, topo, all, options, why);
}

kb_status exec_value(struct op_log *log, const struct under_way *under_way,
                     const struct kb_topology *topo, struct version *v,
                     const struct kb_compute_options *options, kb_error *why)
{
    struct operations cone;
    uint64_t n;
    kb_status status = op_log_computes(log, &n, why);

    if (status)
        return status;
    status = cone_of(log, under_way, &v, 1, &cone, why);
    if (!status)
        return run(log, topo, cone, options, why);
    free(cone.of);
    return status;
}

kb_status exec_kept(struct op_log *log, const struct under_way *under_way,
                    const struct kb_topology *topo, const struct kb_compute_options *options,
                    kb_error *why)
{
    struct operations needed;
    kb_status status = kept_needed(log, under_way, &needed, why);

    if (!status && options)
        return run(log, topo, needed, options, why);
    free(needed.of);
    return status;
}
