/* helpers.c -- loops that Python would be slow in; part of the module kernbench._native. */

/*
 * Numbers what `n` pointers point to: out[i] is the number of the first pointer that equals
 * pointers[i], and first[number] where that stands. Returns how many there are; 0: more than
 * `most`. `slots`, n_slots of them (a power of two, more than 2 * most), are all 0.
 */
static uint32_t kernbench_number_pointers(const uintptr_t *pointers, size_t n, uint32_t *out,
                                          uint64_t *first, uint32_t most, uint32_t *slots,
                                          size_t n_slots)
{
    uint32_t count = 0;

    for (size_t i = 0; i < n; i++) {
        size_t at = (size_t)((uint64_t)pointers[i] * 0x9e3779b97f4a7c15 >> 32) & (n_slots - 1);

        while (slots[at] && pointers[first[slots[at] - 1]] != pointers[i])
            at = (at + 1) & (n_slots - 1);
        if (!slots[at]) {
            if (count == most)
                return 0;
            first[count++] = i;
            slots[at] = count;
        }
        out[i] = slots[at] - 1;
    }
    return count;
}

/* Rounds what a reference has computed to what a type holds: the nearest, ties to even. */
static void kernbench_round(kb_dtype dtype, double *values, size_t n)
{
    uint64_t bits;

    for (size_t i = 0; i < n; i++) {
        kb_element_set(dtype, &bits, 0, values[i]);
        values[i] = kb_element(dtype, &bits, 0);
    }
}

/* Writes numbers as elements of a type, rounded in the same way. */
static void kernbench_encode(kb_dtype dtype, const double *values, size_t n, char *bytes)
{
    for (size_t i = 0; i < n; i++)
        kb_element_set(dtype, bytes, i, values[i]);
}

/* -- observers of simulations ------------------------------------------------------------------ */

/* A piece of the time of a transaction. */
struct kernbench_span {
    uint32_t id, cause;
    uint64_t place, behind;
    int64_t begin_fs, end_fs;
};

/* All of them, as they end. */
struct kernbench_recorder {
    struct kernbench_span *spans; /* owned */
    size_t n, room;
};

static void keep_span(void *arg, const kb_span *span)
{
    struct kernbench_recorder *r = arg;

    if (r->n == r->room) {
        size_t room = r->room ? 2 * r->room : 1024;
        struct kernbench_span *moved = realloc(r->spans, room * sizeof *moved);

        if (!moved)
            return;
        r->spans = moved;
        r->room = room;
    }
    r->spans[r->n++] = (struct kernbench_span){span->id,     span->cause,    span->place,
                                               span->behind, span->begin_fs, span->end_fs};
}

static struct kernbench_recorder *kernbench_recorder_new(void)
{
    return calloc(1, sizeof(struct kernbench_recorder));
}

static void kernbench_recorder_free(struct kernbench_recorder *r)
{
    free(r->spans);
    free(r);
}

static void kernbench_recorder_watch(kb_observer *watch)
{
    watch->close = keep_span;
}

static const struct kernbench_span *kernbench_recorder_spans(const struct kernbench_recorder *r,
                                                             size_t *n)
{
    *n = r->n;
    return r->spans;
}

/* -- the Arrow C data interface -----------------------------------------------------------------
 */

/* As https://arrow.apache.org/docs/format/CDataInterface.html has them. */
struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

/* For each kind: an empty struct in a capsule of that name, and the end of the capsule, which
 * releases what is still in it. */
#define ARROW_CAPSULE(STRUCT, kind, name)                                                          \
    static void kind##_gone(PyObject *capsule)                                                     \
    {                                                                                              \
        struct STRUCT *shown = PyCapsule_GetPointer(capsule, name);                                \
                                                                                                   \
        if (shown->release)                                                                        \
            shown->release(shown);                                                                 \
        free(shown);                                                                               \
    }
ARROW_CAPSULE(ArrowSchema, schema, "arrow_schema")
ARROW_CAPSULE(ArrowArray, array, "arrow_array")
ARROW_CAPSULE(ArrowArrayStream, stream, "arrow_array_stream")

static void *kernbench_schema_gone_at(void)
{
    return (void *)schema_gone;
}

static void *kernbench_array_gone_at(void)
{
    return (void *)array_gone;
}

static void *kernbench_stream_gone_at(void)
{
    return (void *)stream_gone;
}

static struct ArrowSchema *kernbench_arrow_schema_new(void)
{
    return calloc(1, sizeof(struct ArrowSchema));
}

static struct ArrowArray *kernbench_arrow_array_new(void)
{
    return calloc(1, sizeof(struct ArrowArray));
}

static struct ArrowArrayStream *kernbench_arrow_stream_new(void)
{
    return calloc(1, sizeof(struct ArrowArrayStream));
}

#include <pthread.h>
#include <string.h>

/* -- what needs a topology ----------------------------------------------------------------------
 */

/*
 * A simulation, a run whose tensors are kept, or a command that waits for iterations, and the
 * topology that it needs until it is freed. What is in a circle Python's collector frees in any
 * order: an observer that knows its own simulation is enough of a circle. So a topology that
 * something needs is freed with the last of these.
 */
struct need {
    const void *thing;
    kb_topology *topo;
    bool is_last; /* nothing else has any use for the topology */
    struct need *next;
};

static pthread_mutex_t needs_lock = PTHREAD_MUTEX_INITIALIZER;
static struct need *needs;

/* False: no memory. */
static bool kernbench_need(const void *thing, kb_topology *topo)
{
    struct need *n = malloc(sizeof *n);

    if (!n)
        return false;
    *n = (struct need){thing, topo, false, NULL};
    pthread_mutex_lock(&needs_lock);
    n->next = needs;
    needs = n;
    pthread_mutex_unlock(&needs_lock);
    return true;
}

/* Does anything need it? If so, that is the last. */
static bool leave_to_needs(const kb_topology *topo)
{
    bool needed = false;

    for (struct need *n = needs; n; n = n->next)
        if (n->topo == topo)
            n->is_last = needed = true;
    return needed;
}

static void kernbench_topology_free(kb_topology *topo)
{
    pthread_mutex_lock(&needs_lock);
    bool needed = leave_to_needs(topo);
    pthread_mutex_unlock(&needs_lock);
    if (!needed)
        kb_topology_free(topo);
}

/* Asked before `thing` is freed: another may have its place then. */
static struct need *need_of(const void *thing)
{
    struct need *n;

    pthread_mutex_lock(&needs_lock);
    for (n = needs; n && n->thing != thing;)
        n = n->next;
    pthread_mutex_unlock(&needs_lock);
    return n;
}

/* What it was of has been freed. NULL: that has needed nothing. */
static void needs_no_more(struct need *gone)
{
    struct need **at = &needs;

    if (!gone)
        return;
    pthread_mutex_lock(&needs_lock);
    while (*at != gone)
        at = &(*at)->next;
    *at = gone->next;
    bool frees = gone->is_last && !leave_to_needs(gone->topo);
    pthread_mutex_unlock(&needs_lock);
    if (frees)
        kb_topology_free(gone->topo);
    free(gone);
}

static void kernbench_sim_free(kb_sim *sim)
{
    struct need *n = need_of(sim);

    kb_sim_free(sim);
    needs_no_more(n);
}

static void kernbench_query_free(kb_query *query)
{
    struct need *n = need_of(query);

    kb_query_free(query);
    needs_no_more(n);
}

/* -- kernels in Python --------------------------------------------------------------------------
 */

/*
 * A kernel in Python runs in a thread of its own for each PE, one at a time. Its commands are
 * numbers in a list, which it hands over when the list is long, when it needs a value, and at its
 * end. The kernel of the simulation, a coroutine, plays them, and waits for the next list: so
 * either the simulation runs or one function of Python.
 */
enum kernbench_turn {
    KERNBENCH_NOT_YET,
    KERNBENCH_OF_PYTHON,
    KERNBENCH_OF_SIMULATION,
    KERNBENCH_LAST, /* of the simulation, and the function has returned */
    KERNBENCH_GONE, /* the run is over */
};

struct locks {
    pthread_mutex_t lock;
    pthread_cond_t turned;
};

struct kernbench_kernel {
    struct locks *locks; /* owned */
    int turn;            /* enum kernbench_turn */
    const int64_t *words;
    size_t n;
    const char *const *files; /* that commands have the numbers of */
    const char *call, *text;  /* of the last command, if that fails */
    double value;             /* what the last command found, or */
    const void *bytes;        /* until the tensor is given back */
    uint64_t nbytes;
};

/* A launch of a simulation. */
struct kernbench_session {
    uint32_t *pes; /* owned, [n_pes], ascending */
    uint32_t n_pes;
    struct kernbench_kernel *kernels; /* owned, [n_pes] */
    struct kernbench_session *next;
};

static pthread_mutex_t sessions_lock = PTHREAD_MUTEX_INITIALIZER;
static struct kernbench_session *sessions;

static struct kernbench_session *kernbench_session_new(const uint32_t *pes, uint32_t n_pes)
{
    struct kernbench_session *s = calloc(1, sizeof *s);

    s->kernels = calloc(n_pes, sizeof *s->kernels);
    s->pes = malloc(n_pes * sizeof *s->pes);
    memcpy(s->pes, pes, n_pes * sizeof *s->pes);
    s->n_pes = n_pes;
    for (uint32_t i = 0; i < n_pes; i++) {
        s->kernels[i].locks = calloc(1, sizeof *s->kernels[i].locks);
        pthread_mutex_init(&s->kernels[i].locks->lock, NULL);
        pthread_cond_init(&s->kernels[i].locks->turned, NULL);
    }
    pthread_mutex_lock(&sessions_lock);
    s->next = sessions;
    sessions = s;
    pthread_mutex_unlock(&sessions_lock);
    return s;
}

/* That of the PE which is number `i` of the launch. */
static struct kernbench_kernel *kernbench_session_kernel(struct kernbench_session *s, uint32_t i)
{
    return &s->kernels[i];
}

static void turn_to(struct kernbench_kernel *k, int turn)
{
    pthread_mutex_lock(&k->locks->lock);
    if (k->turn != KERNBENCH_GONE)
        k->turn = turn;
    pthread_cond_broadcast(&k->locks->turned);
    pthread_mutex_unlock(&k->locks->lock);
}

/* No run needs it any more: functions that still wait for their turn are told so. */
static void kernbench_session_end(struct kernbench_session *s)
{
    struct kernbench_session **link = &sessions;

    for (uint32_t i = 0; i < s->n_pes; i++)
        turn_to(&s->kernels[i], KERNBENCH_GONE);
    pthread_mutex_lock(&sessions_lock);
    while (*link && *link != s)
        link = &(*link)->next;
    if (*link)
        *link = s->next;
    pthread_mutex_unlock(&sessions_lock);
}

/* All its threads have ended. */
static void kernbench_session_free(struct kernbench_session *s)
{
    for (uint32_t i = 0; i < s->n_pes; i++)
        free(s->kernels[i].locks);
    free(s->kernels);
    free(s->pes);
    free(s);
}

/* Waits for the turn of Python. False: there is none any more. */
static bool kernbench_kernel_begin(struct kernbench_kernel *k)
{
    bool mine;

    pthread_mutex_lock(&k->locks->lock);
    while (k->turn != KERNBENCH_OF_PYTHON && k->turn != KERNBENCH_GONE)
        pthread_cond_wait(&k->locks->turned, &k->locks->lock);
    mine = k->turn == KERNBENCH_OF_PYTHON;
    pthread_mutex_unlock(&k->locks->lock);
    return mine;
}

/* Is it the turn of Python? */
static bool kernbench_kernel_computes(struct kernbench_kernel *k)
{
    bool so;

    pthread_mutex_lock(&k->locks->lock);
    so = k->turn == KERNBENCH_OF_PYTHON;
    pthread_mutex_unlock(&k->locks->lock);
    return so;
}

/* Hands over `n` words, and waits for the next turn. False: there is none. */
static bool kernbench_kernel_hand(struct kernbench_kernel *k, const int64_t *words, size_t n,
                                  const char *const *files, bool last)
{
    k->words = words;
    k->n = n;
    k->files = files;
    turn_to(k, last ? KERNBENCH_LAST : KERNBENCH_OF_SIMULATION);
    return !last && kernbench_kernel_begin(k);
}

/* From the simulation: the next list. */
static int next_list(struct kernbench_kernel *k)
{
    int turn;

    turn_to(k, KERNBENCH_OF_PYTHON);
    pthread_mutex_lock(&k->locks->lock);
    while (k->turn == KERNBENCH_OF_PYTHON)
        pthread_cond_wait(&k->locks->turned, &k->locks->lock);
    turn = k->turn;
    pthread_mutex_unlock(&k->locks->lock);
    return turn;
}

/* The commands; _recorder.py has the same names. */
enum kernbench_word {
    W_LOAD,
    W_LOAD_STRIDED,
    W_LOAD_LIST,
    W_LOAD_SUM,
    W_STORE,
    W_STORE_STRIDED,
    W_STORE_LIST,
    W_STORE_ALL,
    W_MATH,
    W_SCALAR,
    W_CAST,
    W_REDUCE,
    W_SOFTMAX,
    W_FULL,
    W_ARANGE,
    W_RESHAPE,
    W_SLICE,
    W_PERMUTE,
    W_EXPAND,
    W_DOT,
    W_ACC,
    W_DOT_ACC,
    W_ACC_SCALE,
    W_ACC_STORE,
    W_FREE,
    W_WAIT_ALL,
    W_ASYNC,
    W_UPDATE,
    W_TAKE,
    W_SORT,
    W_CUMSUM,
    W_RANDOM,
    W_VALUE,
    W_VALUES,
    W_TIME,
    W_PRINT,
    W_FAIL,
    W_ATOMIC,
    W_TOPK,
};

/* What plays a list: tensors and accumulators by their numbers. */
struct player {
    tl_ctx *tl;
    struct kernbench_kernel *kernel;
    tl_tensor **made;
    tl_acc **accs;
    size_t n_made, n_accs;
    bool overlaps;     /* by tl_async() */
    const int64_t *at; /* the next word */
    tl_here here;
};

static int64_t word(struct player *p)
{
    return *p->at++;
}

static double real(struct player *p)
{
    double value;

    memcpy(&value, p->at++, sizeof value);
    return value;
}

static kb_shape shape(struct player *p)
{
    kb_shape s = {.rank = word(p)};

    for (int64_t i = 0; i < s.rank && i < KB_RANK_MAX; i++)
        s.dim[i] = word(p);
    return s;
}

static tl_tensor *tensor(struct player *p)
{
    int64_t i = word(p);

    return i < 0 ? NULL : p->made[i];
}

/* Memory of the kernel, which goes with it: a mistake does not return here. */
static void *grown(struct player *p, void *old, size_t *n, size_t wanted, size_t size)
{
    size_t room = 2 * wanted + 64;
    void *moved = tl_alloc_host_at(p->here, p->tl, room * size);

    if (*n)
        memcpy(moved, old, *n * size);
    *n = room;
    return moved;
}

static void make(struct player *p, int64_t i, tl_tensor *x)
{
    if ((size_t)i >= p->n_made)
        p->made = grown(p, p->made, &p->n_made, (size_t)i, sizeof *p->made);
    p->made[i] = x;
}

/* Pieces of a list. */
static void play_list(struct player *p, int64_t out, tl_tensor *x, kb_dtype dtype, kb_shape s)
{
    uint32_t n = (uint32_t)word(p);
    const tl_run *runs = (const tl_run *)(const void *)p->at;

    p->at += 2 * n;
    if (x)
        tl_store_list_at(p->here, p->tl, runs, n, x);
    else
        make(p, out, tl_load_list_at(p->here, p->tl, runs, n, dtype, s));
}

/* Addresses of a multicast. */
static void play_multicast(struct player *p, int64_t out, tl_tensor *x, kb_dtype dtype, kb_shape s)
{
    uint32_t n = (uint32_t)word(p);
    const uint64_t *addresses = (const uint64_t *)p->at;

    p->at += n;
    if (x)
        tl_store_all_at(p->here, p->tl, addresses, n, x, false);
    else
        make(p, out, tl_load_sum_at(p->here, p->tl, addresses, n, dtype, s));
}

static void play_memory(struct player *p, int64_t what)
{
    bool loads = what <= W_LOAD_SUM;
    int64_t out = loads ? word(p) : -1, stride[KB_RANK_MAX] = {0};
    tl_tensor *x = loads ? NULL : tensor(p);
    kb_dtype dtype = loads ? (kb_dtype)word(p) : KB_DEFAULT;
    kb_shape s = loads ? shape(p) : tl_shape(x);
    uint64_t address;

    if (what == W_LOAD_LIST || what == W_STORE_LIST) {
        play_list(p, out, x, dtype, s);
        return;
    }
    if (what == W_LOAD_SUM || what == W_STORE_ALL) {
        play_multicast(p, out, x, dtype, s);
        return;
    }
    address = (uint64_t)word(p);
    if (what == W_LOAD_STRIDED || what == W_STORE_STRIDED)
        for (int64_t i = 0; i < s.rank; i++)
            stride[i] = word(p);
    if (loads)
        make(p, out,
             tl_load_at(p->here, p->tl, address, dtype, s, what == W_LOAD_STRIDED ? stride : NULL,
                        false));
    else
        tl_store_at(p->here, p->tl, address, x, what == W_STORE_STRIDED ? stride : NULL, false);
}

static void play_view(struct player *p, int64_t what)
{
    int64_t out = word(p);
    tl_tensor *x = tensor(p);
    int64_t a, b, c;
    int axes[KB_RANK_MAX];

    if (what == W_RESHAPE) {
        make(p, out, tl_reshape_at(p->here, p->tl, x, shape(p)));
    } else if (what == W_EXPAND) {
        make(p, out, tl_expand_at(p->here, p->tl, x, shape(p)));
    } else if (what == W_SLICE) {
        a = word(p), b = word(p), c = word(p);
        make(p, out, tl_slice_at(p->here, p->tl, x, (int)a, b, c));
    } else {
        for (int64_t i = 0, n = tl_shape(x).rank; i < n; i++)
            axes[i] = (int)word(p);
        make(p, out, tl_permute_at(p->here, p->tl, x, axes));
    }
}

static void play_math(struct player *p, int64_t what)
{
    int64_t out = word(p), a, b;
    tl_tensor *x = NULL, *y = NULL, *z = NULL;
    kb_dtype dtype;
    kb_shape s;
    double first, step;

    switch (what) {
    case W_MATH:
        a = word(p);
        x = tensor(p), y = tensor(p), z = tensor(p);
        x = tl_math_at(p->here, (tl_op)a, p->tl, x, y, z);
        break;
    case W_SCALAR:
        x = tl_scalar_at(p->here, p->tl, real(p));
        break;
    case W_CAST:
        x = tensor(p);
        x = tl_cast_at(p->here, p->tl, x, (kb_dtype)word(p));
        break;
    case W_REDUCE:
        a = word(p);
        x = tensor(p);
        b = word(p);
        x = tl_reduce_at(p->here, (tl_op)a, p->tl, x, (int)b, word(p));
        break;
    case W_SOFTMAX:
        x = tensor(p);
        x = tl_softmax_at(p->here, p->tl, x, (int)word(p));
        break;
    case W_CUMSUM:
        x = tensor(p);
        x = tl_cumsum_at(p->here, p->tl, x, (int)word(p));
        break;
    case W_SORT:
        x = tensor(p);
        x = tl_sort_at(p->here, p->tl, x, word(p), NULL);
        break;
    case W_TOPK:
        x = tensor(p);
        a = word(p), b = word(p);
        x = tl_topk_at(p->here, p->tl, x, a, &y);
        make(p, b, y);
        break;
    case W_TAKE:
        x = tensor(p), y = tensor(p);
        x = tl_take_at(p->here, p->tl, x, y, (int)word(p));
        break;
    case W_UPDATE:
        x = tensor(p), y = tensor(p);
        a = word(p), b = word(p);
        x = tl_update_at(p->here, p->tl, x, (int)a, b, y);
        break;
    case W_FULL:
        dtype = (kb_dtype)word(p);
        s = shape(p);
        x = tl_full_at(p->here, p->tl, dtype, s, real(p));
        break;
    case W_ARANGE:
        dtype = (kb_dtype)word(p);
        a = word(p);
        first = real(p), step = real(p);
        x = tl_arange_at(p->here, p->tl, dtype, a, first, step);
        break;
    case W_RANDOM:
        dtype = (kb_dtype)word(p);
        s = shape(p);
        a = word(p);
        x = tl_random_at(p->here, p->tl, dtype, s, (uint64_t)a, (uint64_t)word(p));
        break;
    case W_DOT:
        x = tensor(p), y = tensor(p);
        x = tl_dot_at(p->here, p->tl, x, y, (tl_dot_options){.dtype_out = (kb_dtype)word(p)});
        break;
    default: /* W_ACC_STORE */
        a = word(p);
        x = tl_acc_store_at(p->here, p->tl, p->accs[a], (kb_dtype)word(p), (tl_epilogues){{{0}}});
        break;
    }
    make(p, out, x);
}

/* An atomic, which is a command that blocks as all others do; a number is for what was there. */
static void play_atomic(struct player *p)
{
    int64_t out = word(p), op = word(p), at = word(p);
    tl_tensor *x =
        tl_atomic_at(p->here, p->tl, (tl_atomic_op)op, (uint64_t)at, tensor(p), out >= 0);

    if (!p->overlaps)
        tl_wait_at(p->here, p->tl, x);
    if (out >= 0)
        make(p, out, x);
}

static void play_acc(struct player *p, int64_t what)
{
    int64_t i = word(p), m, n;
    tl_tensor *x, *y;

    if (what == W_ACC) {
        kb_dtype dtype = (kb_dtype)word(p);

        m = word(p), n = word(p);
        if ((size_t)i >= p->n_accs)
            p->accs = grown(p, p->accs, &p->n_accs, (size_t)i, sizeof *p->accs);
        p->accs[i] = tl_acc_new_at(p->here, p->tl, dtype, m, n);
    } else if (what == W_DOT_ACC) {
        x = tensor(p), y = tensor(p);
        tl_dot_acc_at(p->here, p->tl, p->accs[i], x, y, (tl_dot_options){0});
    } else {
        tl_acc_scale_at(p->here, p->tl, p->accs[i], tensor(p));
    }
}

static void play_value(struct player *p, int64_t what)
{
    tl_tensor *x = what == W_TIME ? NULL : tensor(p);

    if (what == W_TIME) {
        p->kernel->value = tl_time(p->tl);
    } else if (what == W_VALUE) {
        p->kernel->value = tl_value_at(p->here, p->tl, x, word(p));
    } else {
        p->kernel->bytes = tl_values_at(p->here, p->tl, x);
        p->kernel->nbytes = kb_dtype_bytes(tl_dtype(x));
        for (int64_t i = 0; i < tl_shape(x).rank; i++)
            p->kernel->nbytes *= (uint64_t)tl_shape(x).dim[i];
    }
}

/* A command: its number, its place, its operands. */
static void play_one(struct player *p)
{
    int64_t what = word(p), place = word(p);

    p->here.file = p->kernel->files[place >> 32];
    p->here.line = (int)(place & INT32_MAX);
    if (what <= W_STORE_ALL)
        play_memory(p, what);
    else if (what >= W_RESHAPE && what <= W_EXPAND)
        play_view(p, what);
    else if (what >= W_ACC && what <= W_ACC_SCALE)
        play_acc(p, what);
    else if (what == W_FREE)
        tl_free_at(p->here, p->tl, tensor(p));
    else if (what == W_WAIT_ALL)
        tl_wait_all_at(p->here, p->tl);
    else if (what == W_ASYNC)
        tl_async_at(p->here, p->tl, p->overlaps = word(p));
    else if (what == W_ATOMIC)
        play_atomic(p);
    else if (what >= W_VALUE && what <= W_TIME)
        play_value(p, what);
    else if (what == W_PRINT)
        tl_print_at(p->here, p->tl, tensor(p));
    else if (what == W_FAIL)
        tl_fail_of_at(p->here, p->tl, p->kernel->call, p->kernel->text);
    else
        play_math(p, what);
}

/* Has it ended? */
static bool session_is_there(const struct kernbench_session *session)
{
    const struct kernbench_session *s;

    pthread_mutex_lock(&sessions_lock);
    for (s = sessions; s && s != session; s = s->next)
        ;
    pthread_mutex_unlock(&sessions_lock);
    return s;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static struct kernbench_kernel *kernel_of(const struct kernbench_session *s, uint32_t pe)
{
    const uint32_t *at = bsearch(&pe, s->pes, s->n_pes, sizeof pe, by_number);

    return &s->kernels[at - s->pes];
}

static void play(tl_ctx *tl, const kb_args *args)
{
    const struct kernbench_session *s = args->user;
    struct player p = {.tl = tl, .here = {__FILE__, __LINE__}};
    int turn = KERNBENCH_GONE;

    if (session_is_there(s)) {
        p.kernel = kernel_of(s, tl_pe(tl));
        turn = next_list(p.kernel);
    }
    while (turn != KERNBENCH_GONE) {
        p.at = p.kernel->words;
        while (p.at < p.kernel->words + p.kernel->n)
            play_one(&p);
        if (turn == KERNBENCH_LAST)
            return;
        turn = next_list(p.kernel);
    }
    tl_fail_at(p.here, tl, "the functions of this run have ended");
}

/* Declares the launch of a function on the PEs of its session. */
static void kernbench_launch(kb_bench_run *run, const char *name, struct kernbench_session *s,
                             uint32_t stream, const uint32_t *after, uint32_t n_after)
{
    const kb_launch_request request = {.name = name,
                                       .kernel = play,
                                       .args.user = s,
                                       .pes = s->pes,
                                       .n_pes = s->n_pes,
                                       .stream = stream,
                                       .after = after,
                                       .n_after = n_after};

    kb_bench_launch_request(run, &request);
}
