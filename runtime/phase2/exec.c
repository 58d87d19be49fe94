/* exec.c -- Phase 2: a pool of threads works off the graph of operations. */
#include "phase2/exec.h"
#include "machine/endpoint.h"
#include "phase2/gemm.h"
#include "phase2/graph.h"
#include "phase2/math_op.h"
#include "phase2/reference.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BATCH_MAX = 32, OPERANDS_MAX = 3 + 2 * TL_EPILOGUES_MAX, THREADS_MAX = 256 };
enum { INDEX_BYTES = 21 * KB_RANK_MAX + 4, CALLED_BYTES = 256 };

/* An operation that is being computed. */
struct running {
    struct op op;
    uint32_t node;
    unsigned char *out;         /* owned until it is the result's */
    struct version *product[2]; /* GEMM: the operands' */
    uint32_t n_copies;
    struct version *copies[OPERANDS_MAX]; /* owned: operands that are not aligned */
};

/* A product of several parts; threads take one after the other. */
struct shared {
    struct running r;
    struct shared *next;
    uint32_t n_parts, taken, done;
};

/* Nodes that may run, of one group: a heap, lowest first. */
struct ready {
    uint32_t *nodes; /* a part of exec->heaps */
    uint32_t n;
};

struct exec {
    struct op_log *log;
    const struct kb_topology *topo;
    struct kb_compute_options options;
    struct graph graph;
    struct gemm_pool *pool;
    uint32_t *heaps; /* owned; [n_ops] */

    pthread_mutex_t lock; /* of all below, of references, and of gathering */
    pthread_cond_t more;
    struct ready ready[GRAPH_GROUPS_MAX];
    struct shared *shared; /* owned */
    uint32_t left;         /* operations not computed */
    uint32_t busy, idle;   /* threads */
    kb_status status;
    uint32_t failed; /* op_id of the first operation that failed, by id */
    uint32_t bound;  /* nodes from here on are not computed any more: one before them was wrong */
    kb_error why;
};

/* -- what may run --------------------------------------------------------------------------- */

/*
 * The lowest first: about the order of the program, which frees intermediate results soonest.
 */
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

/* The group with the lowest node; NULL: nothing may run. */
static struct ready *ready_lowest(struct exec *x, uint32_t *group)
{
    struct ready *lowest = NULL;

    for (uint32_t i = 0; i < x->graph.n_groups; i++)
        if (x->ready[i].n && (!lowest || x->ready[i].nodes[0] < lowest->nodes[0])) {
            lowest = &x->ready[i];
            *group = i;
        }
    return lowest;
}

/* One that `node` waited for is there. A join passes that on. */
static void arrive(struct exec *x, uint32_t node)
{
    const struct graph_node *n = &x->graph.nodes[node];

    if (--x->graph.nodes[node].waits)
        return;
    if (node < x->graph.n_ops) {
        ready_push(&x->ready[n->group], node);
        return;
    }
    for (uint32_t e = n->first; e < n[1].first; e++)
        arrive(x, x->graph.edges[e]);
}

/* -- failing -------------------------------------------------------------------------------- */

/* Of several, the one with the lowest id is told. */
static bool fail(struct exec *x, uint32_t op_id, kb_status status, const kb_error *why)
{
    pthread_mutex_lock(&x->lock);
    if (x->status == KB_OK || op_id < x->failed || status != KB_DIFFERENT) {
        x->status = status;
        x->failed = op_id;
        if (why)
            x->why = *why;
        else
            endpoint_error(&x->why, "out of memory");
    }
    pthread_mutex_unlock(&x->lock);
    return false;
}

/*
 * An operation is wrong: the first, once all before it are computed, whose results it may have. Ids
 * and nodes have the same order.
 */
static bool differ(struct exec *x, const struct running *r, const kb_error *why)
{
    pthread_mutex_lock(&x->lock);
    if (r->node < x->bound)
        x->bound = r->node;
    pthread_mutex_unlock(&x->lock);
    return fail(x, r->op.id, KB_DIFFERENT, why);
}

static bool no_memory(struct exec *x, const struct running *r)
{
    return fail(x, r->op.id, KB_NO_MEMORY, NULL);
}

/* -- one operation -------------------------------------------------------------------------- */

struct bind {
    struct exec *x;
    struct running *r;
    bool ok;
};

/*
 * Operands need the alignment of their elements: bytes may have been written at other addresses, as
 * elements of another type.
 */
static void align_operand(struct bind *b, struct op_tensor *t)
{
    uint64_t nbytes = dims_elements(&t->shape) * kb_dtype_bytes((kb_dtype)t->dtype);
    const unsigned char *at = t->view.v->bytes + t->view.offset;
    struct version *copy;

    if ((uintptr_t)at % kb_dtype_bytes((kb_dtype)t->dtype) == 0)
        return;
    copy = version_new_bytes(nbytes);
    if (!copy) {
        b->ok = false;
        return;
    }
    memcpy(copy->bytes, at, nbytes);
    b->r->copies[b->r->n_copies++] = copy;
    t->view = (struct view){copy, 0};
}

/* Pieces are gathered once, by whoever comes first. */
static void bind_operand(void *arg, struct op_tensor *t)
{
    struct bind *b = arg;

    if (t->view.v->kind == VERSION_PIECES) {
        pthread_mutex_lock(&b->x->lock);
        b->ok = b->ok && version_bytes(t->view.v);
        pthread_mutex_unlock(&b->x->lock);
    }
    if (b->ok)
        align_operand(b, t);
}

/* Unpacks operation `node`, and finds its operands and room for its result. */
static bool start(struct exec *x, uint32_t node, struct running *r)
{
    struct bind b = {x, r, true};
    kb_error why;
    kb_status status = op_log_compute(x->log, node, &r->op, &why);

    r->node = node;
    r->n_copies = 0;
    r->out = NULL;
    if (status != KB_OK) {
        r->op.depends = (struct op_ids){.n = 0};
        return fail(x, 0, status, &why);
    }
    for (uint32_t i = 0; i < 2; i++)
        r->product[i] = r->op.in[i].view.v;
    graph_operands(&r->op, bind_operand, &b);
    if (b.ok)
        r->out = malloc(r->op.out.view.v->nbytes);
    return r->out || no_memory(x, r);
}

static void component(const struct exec *x, const struct op *op, char name[KB_NODE_BYTES])
{
    const char *unit = op->composite ? "pe_scheduler" : op->kind == OP_GEMM ? "pe_gemm" : "pe_math";
    const struct kb_topology *t = x->topo;

    if (t)
        snprintf(name, KB_NODE_BYTES, "sip%u.cube%u.pe%u.%s", op->pe / t->pes / t->cubes,
                 op->pe / t->pes % t->cubes, op->pe % t->pes, unit);
    else
        snprintf(name, KB_NODE_BYTES, "pe %u, %s", op->pe, unit);
}

/* ", kernel gemm, benches/gemm.c:61", so far as that is known. */
static void name_call(struct exec *x, uint32_t id, char text[CALLED_BYTES])
{
    const struct op_note *note;

    pthread_mutex_lock(&x->lock);
    note = op_log_note_of(x->log, id);
    if (note)
        snprintf(text, CALLED_BYTES, ", kernel %s, %s:%d", note->kernel, note->file, note->line);
    else
        text[0] = '\0';
    pthread_mutex_unlock(&x->lock);
}

/* " [2,4]"; nothing of a single axis, whose number is enough. */
static void name_index(const struct dims *shape, uint64_t i, char text[INDEX_BYTES])
{
    uint64_t rest = dims_elements(shape);
    size_t n = 0;

    text[0] = '\0';
    for (uint32_t axis = 0; axis < shape->rank && shape->rank > 1; axis++) {
        rest /= shape->dim[axis];
        n += (size_t)snprintf(text + n, INDEX_BYTES - n, "%s%llu", axis ? "," : " [",
                              (unsigned long long)(i / rest));
        i %= rest;
    }
    if (n > 0)
        snprintf(text + n, INDEX_BYTES - n, "]");
}

static bool verify(struct exec *x, const struct running *r)
{
    struct plain_difference d;
    char where[KB_NODE_BYTES], index[INDEX_BYTES], called[CALLED_BYTES];
    kb_error why;

    if (!x->options.verify_ops || plain_same(&r->op, r->out, &d))
        return true;
    component(x, &r->op, where);
    name_call(x, r->op.id, called);
    name_index(&r->op.out.shape, d.index, index);
    endpoint_error(&why, "%s, op %u of %s%s: element %llu%s is %s, by plain loops %s",
              r->op.kind == OP_GEMM ? "gemm" : math_rows[r->op.math].name, r->op.id, where, called,
              (unsigned long long)d.index, index, d.got, d.want);
    return differ(x, r, &why);
}

static bool compute(struct exec *x, struct running *r, struct gemm_room *room)
{
    if (r->op.kind == OP_MATH) {
        math_run(&r->op, r->out);
    } else {
        for (uint32_t part = 0, n = gemm_parts(&r->op); part < n; part++)
            if (!gemm_part(&r->op, part, r->out, room))
                return no_memory(x, r);
    }
    return verify(x, r);
}

/* What was made for the operation alone. */
static void drop_copies(struct running *r)
{
    for (uint32_t i = 0; i < r->n_copies; i++)
        version_drop(r->copies[i]);
    r->n_copies = 0;
}

/* It will not be computed now; the log keeps it. */
static void give_up(struct running *r)
{
    drop_copies(r);
    op_ids_clear(&r->op.depends);
    free(r->out);
    r->out = NULL;
}

/* One product less that has `v` as an operand; after the last, nothing is packed of it. */
static void forget_product(struct exec *x, struct version *v)
{
    struct graph_version *e = graph_find(&x->graph, v);

    if (e && --e->products == 0)
        gemm_forget(v);
}

/* The result is there. Under the lock: references are dropped, and memory with them. */
static void finish(struct exec *x, struct running *r)
{
    const struct graph_node *n = &x->graph.nodes[r->node];

    drop_copies(r);
    if (r->op.kind == OP_GEMM)
        for (uint32_t i = 0; i < 2; i++)
            forget_product(x, r->product[i]);
    version_set_bytes(r->op.out.view.v, r->out);
    r->out = NULL;
    op_log_computed(x->log, r->node, &r->op);
    for (uint32_t e = n->first; e < n[1].first; e++)
        arrive(x, x->graph.edges[e]);
    x->left--;
}

/* -- threads -------------------------------------------------------------------------------- */

struct worker {
    struct exec *x;
    pthread_t thread;
    struct gemm_room room;
    struct running batch[BATCH_MAX];
};

/* What a thread does next: a part of a product, or some operations. */
struct job {
    struct shared *shared; /* NULL: operations */
    uint32_t part;
    uint32_t n, nodes[BATCH_MAX];
};

static bool take_part(struct exec *x, struct job *job)
{
    for (struct shared *s = x->shared; s; s = s->next)
        if (s->taken < s->n_parts && s->r.node < x->bound) {
            *job = (struct job){.shared = s, .part = s->taken++};
            return true;
        }
    return false;
}

/* Which operations share a batch has no effect on their results. */
static bool take_nodes(struct exec *x, struct job *job)
{
    uint32_t group = 0, n;
    struct ready *h = ready_lowest(x, &group);

    if (!h || h->nodes[0] >= x->bound)
        return false;
    n = (h->n + x->idle + x->busy) / (x->idle + x->busy + 1); /* the others want some, too */
    if (n > x->graph.groups[group].batch)
        n = x->graph.groups[group].batch;
    job->shared = NULL;
    for (job->n = 0; job->n < n && h->nodes[0] < x->bound; job->n++)
        job->nodes[job->n] = ready_pop(h);
    return true;
}

/* A product of several parts is shared out: from now on any thread may take them. */
static bool share(struct exec *x, uint32_t node)
{
    struct shared *s = calloc(1, sizeof *s);

    if (!s)
        return fail(x, 0, KB_NO_MEMORY, NULL);
    if (!start(x, node, &s->r)) {
        give_up(&s->r);
        free(s);
        return false;
    }
    s->n_parts = gemm_parts(&s->r.op);
    pthread_mutex_lock(&x->lock);
    s->next = x->shared;
    x->shared = s;
    pthread_mutex_unlock(&x->lock);
    return true;
}

static void unlink_shared(struct exec *x, struct shared *s)
{
    struct shared **at = &x->shared;

    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    free(s);
}

static bool run_part(struct exec *x, const struct job *job, struct gemm_room *room)
{
    struct shared *s = job->shared;
    bool last;

    if (!gemm_part(&s->r.op, job->part, s->r.out, room))
        return no_memory(x, &s->r);
    pthread_mutex_lock(&x->lock);
    last = ++s->done == s->n_parts;
    pthread_mutex_unlock(&x->lock);
    if (!last)
        return true;
    if (!verify(x, &s->r))
        return false;
    pthread_mutex_lock(&x->lock);
    finish(x, &s->r);
    unlink_shared(x, s);
    pthread_mutex_unlock(&x->lock);
    return true;
}

/* While one product of a batch is computed, what the next one reads and writes may be fetched. */
static void look_ahead(struct gemm_room *room, const struct op *op, const struct running *next)
{
    const struct op_tensor *in = next->op.in;

    for (int i = 0; i < 2; i++) {
        const unsigned char *at = in[i].view.v->bytes + in[i].view.offset;

        room->ahead[i].at = at;
        room->ahead[i].end =
            at + dims_elements(&in[i].shape) * kb_dtype_bytes((kb_dtype)in[i].dtype);
        if (in[i].view.v == op->in[i].view.v) /* packed already */
            room->ahead[i].at = room->ahead[i].end;
    }
    room->ahead[2] = (struct gemm_ahead){next->out, next->out + next->op.out.view.v->nbytes};
}

static bool compute_batch(struct worker *w, uint32_t i, uint32_t n)
{
    if (i + 1 < n && w->batch[i].op.kind == OP_GEMM)
        look_ahead(&w->room, &w->batch[i].op, &w->batch[i + 1]);
    return compute(w->x, &w->batch[i], &w->room);
}

static void run_nodes(struct worker *w, const struct job *job)
{
    struct exec *x = w->x;
    uint32_t started = 0, done = 0;

    while (started < job->n && start(x, job->nodes[started], &w->batch[started]))
        started++;
    if (started < job->n)
        give_up(&w->batch[started]);
    while (done < started && compute_batch(w, done, started))
        done++;
    for (uint32_t i = done; i < started; i++)
        give_up(&w->batch[i]);
    pthread_mutex_lock(&x->lock);
    for (uint32_t i = 0; i < done; i++)
        finish(x, &w->batch[i]);
    pthread_mutex_unlock(&x->lock);
}

static void run_job(struct worker *w, const struct job *job)
{
    if (job->shared)
        run_part(w->x, job, &w->room);
    else if (w->x->graph.nodes[job->nodes[0]].is_wide)
        share(w->x, job->nodes[0]);
    else
        run_nodes(w, job);
}

/* Is there something left to be computed? After an operation that was wrong, those before it: it is
 * the first only if they are right. */
static bool goes_on(const struct exec *x)
{
    return x->left > 0 && (x->status == KB_OK || x->status == KB_DIFFERENT);
}

/* Lets whoever called us look, and stop us. Under the lock. */
static void tell(struct exec *x)
{
    const struct kb_compute_options *o = &x->options;

    if (!goes_on(x))
        return;
    if (o->progress)
        o->progress(o->progress_arg, x->graph.n_ops - x->left, x->graph.n_ops);
    if (!o->stop || !o->stop(o->stop_arg))
        return;
    x->bound = 0;
    if (x->status == KB_OK)
        x->status = KB_STOPPED;
}

/* Waits until there is a job, or an end: false. Under the lock. */
static bool next_job(struct exec *x, struct job *job)
{
    for (;;) {
        tell(x);
        if (!goes_on(x))
            return false;
        if (take_part(x, job) || take_nodes(x, job))
            return true;
        if (x->busy == 0 && x->status == KB_DIFFERENT)
            return false;
        if (x->busy == 0) {
            endpoint_error(&x->why, "%u operations wait for each other", x->left);
            x->status = KB_INTERNAL;
            return false;
        }
        x->idle++;
        pthread_cond_wait(&x->more, &x->lock);
        x->idle--;
    }
}

static void *work(void *arg)
{
    struct worker *w = arg;
    struct exec *x = w->x;
    struct job job;

    pthread_mutex_lock(&x->lock);
    while (next_job(x, &job)) {
        x->busy++;
        pthread_mutex_unlock(&x->lock);
        run_job(w, &job);
        pthread_mutex_lock(&x->lock);
        x->busy--;
        if (x->idle)
            pthread_cond_broadcast(&x->more);
    }
    pthread_cond_broadcast(&x->more);
    pthread_mutex_unlock(&x->lock);
    return NULL;
}

/* Signals are for the threads of whoever calls us. Fewer threads than wished for will do. */
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

static void run_threads(struct exec *x, struct worker *workers, uint32_t n)
{
    uint32_t made;

    for (uint32_t i = 0; i < n; i++) {
        workers[i].x = x;
        workers[i].room.pool = x->pool;
    }
    made = start_threads(workers, n);
    work(&workers[0]);
    for (uint32_t i = 1; i < made; i++)
        pthread_join(workers[i].thread, NULL);
    for (uint32_t i = 0; i < n; i++)
        gemm_room_free(&workers[i].room);
}

/* -- the whole ------------------------------------------------------------------------------ */

static bool exec_init(struct exec *x)
{
    uint32_t *heap;

    x->left = x->graph.n_ops;
    x->bound = UINT32_MAX;
    x->pool = gemm_pool_new();
    heap = x->heaps = malloc((x->left ? x->left : 1) * sizeof *heap);
    for (uint32_t i = 0; heap && i < x->graph.n_groups; heap += x->graph.groups[i++].n)
        x->ready[i].nodes = heap;
    for (uint32_t i = 0; heap && i < x->graph.n_ops; i++)
        if (!x->graph.nodes[i].waits)
            ready_push(&x->ready[x->graph.nodes[i].group], i);
    return heap && x->pool;
}

/* What a run that failed has begun; packed operands go before the pool that has their memory. */
static void exec_end(struct exec *x)
{
    while (x->shared) {
        give_up(&x->shared->r);
        unlink_shared(x, x->shared);
    }
    for (uint32_t i = 0; i < x->graph.slots; i++)
        if (x->graph.versions[i].products)
            gemm_forget(x->graph.versions[i].v);
    gemm_pool_free(x->pool);
    free(x->heaps);
    graph_free(&x->graph);
}

static kb_status run_graph(struct exec *x, unsigned threads)
{
    struct worker *workers = calloc(threads, sizeof *workers);

    if (!workers || !exec_init(x)) {
        x->status = KB_NO_MEMORY;
        endpoint_error(&x->why, "out of memory");
    } else {
        pthread_mutex_init(&x->lock, NULL);
        pthread_cond_init(&x->more, NULL);
        run_threads(x, workers, threads);
        pthread_cond_destroy(&x->more);
        pthread_mutex_destroy(&x->lock);
    }
    free(workers);
    return x->status;
}

static unsigned thread_count(unsigned threads)
{
    long n = threads ? (long)threads : sysconf(_SC_NPROCESSORS_ONLN);

    return n < 1 ? 1 : n > THREADS_MAX ? THREADS_MAX : (unsigned)n;
}

kb_status exec_run(struct op_log *log, const struct kb_topology *topo,
                   const struct kb_compute_options *options, kb_error *why)
{
    struct exec *x = calloc(1, sizeof *x);
    kb_status status;

    if (!x) {
        endpoint_error(why, "out of memory");
        return KB_NO_MEMORY;
    }
    x->log = log;
    x->topo = topo;
    x->options = *options;
    status = graph_build(&x->graph, log, why);
    if (status == KB_OK) {
        status = run_graph(x, thread_count(options->threads));
        if (status != KB_OK && why)
            *why = x->why;
        exec_end(x);
    }
    free(x);
    return status;
}
