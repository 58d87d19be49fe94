/* programs.h -- random programs of kernels on random machines, as the judge makes them, for the
 * library to run. */
#ifndef PROGRAMS_H
#define PROGRAMS_H
#include "any_topology.h"
#include "judge/kernel.h"
#include "rig.h"
#include "tl.h"
#include <math.h>

/* Bytes of messages whose contents are known. */
struct received {
    uint64_t known, wrong;
};

struct scenario;

/* A launch of it. */
struct scenario_launch {
    const struct scenario *s;
    size_t number;
};

/* A program on a machine, what the judge says of it, and what the product does. */
struct scenario {
    uint64_t seed;
    const kb_topology *topo;
    struct judge_topo *judge;
    struct judge_program program;
    struct judge_run expected;
    struct judge_command_times **got; /* [kernel][command] */
    bool talks;                       /* a program of judge_random_talk() */
    struct scenario_launch *launches; /* owned: what kernels get, by launch */
    struct received *received;        /* owned */
};

static inline int64_t now_fs(tl_ctx *tl)
{
    return llround(tl_time(tl) * 1e6);
}

/* -- a program as a kernel ------------------------------------------------------------------ */

static inline kb_dtype dtype_of(enum judge_dtype d)
{
    static const kb_dtype dtypes[] = {KB_I4, KB_I8, KB_I32, KB_F16, KB_F32, KB_F64};

    return dtypes[d];
}

static inline tl_op op_of(const char *name)
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

static inline uint64_t address(const struct scenario *s, const struct judge_end *at,
                               uint64_t offset)
{
    kb_endpoint end = kb_end(at);

    if (end.kind == KB_SLICE && judge_count(s->judge, "addressing.granule")) {
        end.unit = 0;
        return kb_address(s->topo, &end, 0) + (uint64_t)at->unit * JUDGE_WINDOW + offset;
    }
    return kb_address(s->topo, &end, offset);
}

/* Operand `i` of a dot, [rows, columns]; of a batch, as many matrices. */
static inline tl_tensor *batch_operand(tl_ctx *tl, const struct judge_command *c, size_t i,
                                       tl_tensor **made, uint32_t rows, uint32_t columns)
{
    tl_tensor *x = made[c->operands[i].from];

    if (!c->batch || (i == 1 && c->one_b))
        return tl_reshape(tl, x, KB_SHAPE(rows, columns));
    return tl_reshape(tl, x, KB_SHAPE(c->batch, rows, columns));
}

/* Operand `i` of a command, [rows, columns]. */
static inline tl_tensor *operand(tl_ctx *tl, const struct scenario *s,
                                 const struct judge_command *c, size_t i, tl_tensor **made,
                                 uint32_t rows, uint32_t columns)
{
    const struct judge_operand *o = &c->operands[i];

    if (o->where == JUDGE_SCALAR)
        return tl_scalar(tl, 2);
    if (o->where == JUDGE_OWN_TCM)
        return tl_reshape(tl, made[o->from], KB_SHAPE(rows, columns));
    return tl_ref(tl, address(s, &o->at, o->offset), dtype_of(i && c->mixed ? c->other : c->in),
                  KB_SHAPE(rows, columns));
}

/* The last result; all others are given back. */
static inline tl_tensor *do_fused(tl_ctx *tl, const struct scenario *s,
                                  const struct judge_command *c, tl_tensor **made)
{
    tl_tensor *result[TL_FUSED_RESULTS] = {NULL};
    tl_fused_args args = {.in = {operand(tl, s, c, 0, made, c->m, c->n)}};
    size_t n = 0;

    if (c->n_operands > 1)
        args.in[1] = operand(tl, s, c, 1, made, c->m, 1);
    for (size_t i = 0; i < c->n_steps; i++) {
        const struct judge_step *from = &c->steps[i];
        tl_step *step = &args.step[i];

        step->op = strcmp(from->op, "sum") == 0 ? TL_SUM : op_of(from->op);
        step->x = from->x < 0 ? TL_STEP(-1 - from->x) : TL_IN(from->x);
        if (step->op != TL_SUM && step->op != TL_EXP)
            step->y = from->y < 0 ? TL_STEP(-1 - from->y) : TL_IN(from->y);
        step->out = from->stored ? KB_F16 : KB_DEFAULT;
        if (from->stored)
            args.result[n] = &result[n];
        n += from->stored;
    }
    tl_fused_at(TL_HERE, tl, args);
    for (size_t i = 0; i + 1 < n; i++)
        tl_free(tl, result[i]);
    return result[n - 1];
}

static inline tl_tensor *do_math(tl_ctx *tl, const struct scenario *s,
                                 const struct judge_command *c, tl_tensor **made)
{
    tl_tensor *x[3] = {NULL, NULL, NULL};

    if (strcmp(c->op, "fused") == 0)
        return do_fused(tl, s, c, made);
    if (strcmp(c->op, "take") == 0)
        return tl_take(tl, operand(tl, s, c, 0, made, c->m, c->n),
                       operand(tl, s, c, 1, made, 1, c->k), 0);
    for (size_t i = 0; i < c->n_operands; i++)
        x[i] = operand(tl, s, c, i, made, c->m, c->n);
    if (strcmp(c->op, "sum") == 0)
        return tl_sum(tl, x[0], -1, false);
    if (strcmp(c->op, "softmax") == 0)
        return tl_softmax(tl, x[0], -1);
    if (strcmp(c->op, "topk") == 0)
        return tl_topk(tl, x[0], c->k, NULL);
    if (strcmp(c->op, "sort") == 0)
        return tl_sort(tl, x[0], true, NULL);
    if (strcmp(c->op, "cumsum") == 0)
        return tl_cumsum(tl, x[0], -1);
    if (strcmp(c->op, "random") == 0)
        return tl_random(tl, dtype_of(c->out), KB_SHAPE(c->m, c->n), 1, 0);
    if (strcmp(c->op, "full") == 0)
        return tl_full(tl, dtype_of(c->out), KB_SHAPE(c->m, c->n), 1);
    return tl_math_at(TL_HERE, op_of(c->op), tl, x[0], x[1], x[2]);
}

static inline tl_epilogue epilogue(tl_ctx *tl, const struct judge_command *c, size_t i,
                                   tl_tensor **made)
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

static inline tl_tensor *do_composite(tl_ctx *tl, const struct scenario *s,
                                      const struct judge_command *c, tl_tensor **made)
{
    tl_composite_args args = {.out = address(s, &c->at, c->offset)};

    if (c->kind == JUDGE_COMPOSITE_GEMM) {
        args.a = operand(tl, s, c, 0, made, c->m, c->k);
        args.b = operand(tl, s, c, 1, made, c->k, c->n);
        args.dot.dtype_out = dtype_of(c->out);
        for (size_t i = 0; i < c->n_epilogues; i++)
            args.epilogue[i] = epilogue(tl, c, i, made);
        return tl_composite_at(TL_HERE, tl, args);
    }
    args.op = op_of(c->op);
    args.a = operand(tl, s, c, 0, made, c->m, c->n);
    if (c->n_operands > 1)
        args.b = operand(tl, s, c, 1, made, c->m, c->n);
    if (c->n_operands > 2)
        args.c = operand(tl, s, c, 2, made, c->m, c->n);
    return tl_composite_at(TL_HERE, tl, args);
}

static inline tl_tensor *do_acc(tl_ctx *tl, const struct scenario *s, const struct judge_command *c,
                                tl_tensor **made, tl_acc **accs)
{
    tl_epilogues steps = {{{TL_GEMM, NULL, NULL}}};

    if (c->kind == JUDGE_ACC_STORE) {
        for (size_t i = 0; i < c->n_epilogues; i++)
            steps.step[i] = epilogue(tl, c, i, made);
        return tl_acc_store_at(TL_HERE, tl, accs[c->acc], dtype_of(c->out), steps);
    }
    if (c->kind == JUDGE_ACC_DOT) {
        if (!accs[c->acc])
            accs[c->acc] = tl_acc_new(tl, dtype_of(c->out), c->m, c->n);
        tl_dot_acc(tl, accs[c->acc], operand(tl, s, c, 0, made, c->m, c->k),
                   operand(tl, s, c, 1, made, c->k, c->n));
        return NULL;
    }
    /* of m, n or m * n elements; c->k are its rows */
    tl_acc_scale(
        tl, accs[c->acc],
        operand(tl, s, c, 0, made, c->k,
                c->k ? (uint32_t)(c->operand_bytes / kb_dtype_bytes(dtype_of(c->in)) / c->k) : 0));
    return NULL;
}

static inline uint32_t number_of(const struct scenario *s, const struct judge_end *pe)
{
    return (uint32_t)judge_global_pe(s->judge, pe);
}

static inline void do_barrier(tl_ctx *tl, const struct scenario *s, const struct judge_command *c)
{
    const struct judge_group *g = &s->program.groups[c->group];
    uint32_t *pes = tl_alloc_host(tl, g->n * sizeof *pes);

    for (size_t i = 0; i < g->n; i++)
        pes[i] = number_of(s, &g->pes[i]);
    tl_barrier(tl, (tl_group){.pes = pes, .n = g->n});
}

/* -- loads and stores -- */

enum { MOST_ROWS = 16 };

static inline void list_rows(const struct scenario *s, const struct judge_command *c,
                             tl_run runs[MOST_ROWS])
{
    for (uint32_t i = 0; i < c->rows; i++)
        runs[i] = (tl_run){address(s, &c->at, c->offset) + i * c->stride, c->nbytes / c->rows};
}

static inline void list_targets(const struct scenario *s, const struct judge_command *c,
                                uint64_t addresses[JUDGE_MOST_TARGETS])
{
    for (size_t i = 0; i < c->n_targets; i++)
        addresses[i] = address(s, &c->targets[i], c->offsets[i]);
}

/* Bytes from one element to the next; of i4, whose bytes have two, from one byte to the next. */
static inline int64_t cell_step(const struct judge_command *c)
{
    return c->in == JUDGE_I4 ? 1 : (int64_t)kb_dtype_bytes(dtype_of(c->in));
}

static inline int64_t moved_elements(const struct judge_command *c)
{
    return (int64_t)c->nbytes / cell_step(c) * (c->in == JUDGE_I4 ? 2 : 1);
}

/* In rows, if it has some. */
static inline kb_shape moved_shape(const struct judge_command *c)
{
    int64_t n = moved_elements(c);

    return c->rows ? KB_SHAPE(c->rows, n / c->rows) : KB_SHAPE(n);
}

static inline tl_tensor *do_load(tl_ctx *tl, const struct scenario *s,
                                 const struct judge_command *c)
{
    const int64_t strides[] = {(int64_t)c->stride, cell_step(c)};
    uint64_t addresses[JUDGE_MOST_TARGETS];
    tl_run runs[MOST_ROWS];

    if (c->n_targets) {
        list_targets(s, c, addresses);
        return tl_load_sum(tl, addresses, (uint32_t)c->n_targets, dtype_of(c->in), moved_shape(c));
    }
    if (c->listed) {
        list_rows(s, c, runs);
        return tl_load_list(tl, runs, c->rows, dtype_of(c->in), moved_shape(c));
    }
    return tl_load_at(TL_HERE, tl, address(s, &c->at, c->offset), dtype_of(c->in), moved_shape(c),
                      c->rows ? strides : NULL, c->async);
}

static inline tl_tensor *do_store(tl_ctx *tl, const struct scenario *s,
                                  const struct judge_command *c, tl_tensor *x)
{
    const int64_t strides[] = {(int64_t)c->stride, cell_step(c)};
    uint64_t addresses[JUDGE_MOST_TARGETS];
    tl_run runs[MOST_ROWS];

    if (c->n_targets) {
        list_targets(s, c, addresses);
        return tl_store_all_at(TL_HERE, tl, addresses, (uint32_t)c->n_targets, x, c->async);
    }
    if (c->listed) {
        list_rows(s, c, runs);
        return tl_store_list_at(TL_HERE, tl, runs, c->rows, x);
    }
    return tl_store_at(TL_HERE, tl, address(s, &c->at, c->offset),
                       c->rows ? tl_reshape(tl, x, moved_shape(c)) : x, c->rows ? strides : NULL,
                       c->async);
}

static inline tl_tensor *do_command(tl_ctx *tl, const struct scenario *s,
                                    const struct judge_command *c, tl_tensor **made, tl_acc **accs,
                                    struct judge_command_times *got)
{
    kb_shape flat;

    tl_async(tl, c->overlaps);
    switch (c->kind) {
    case JUDGE_LOAD:
        return do_load(tl, s, c);
    case JUDGE_STORE:
        return do_store(tl, s, c, made[c->from]);
    case JUDGE_DOT:
        return tl_dot(tl, batch_operand(tl, c, 0, made, c->m, c->k),
                      batch_operand(tl, c, 1, made, c->k, c->n), .dtype_out = dtype_of(c->out));
    case JUDGE_MATH:
        return do_math(tl, s, c, made);
    case JUDGE_WAIT:
        tl_wait(tl, made[c->target]);
        return NULL;
    case JUDGE_WAIT_ALL:
        tl_wait_all(tl);
        return NULL;
    case JUDGE_SEND:
        tl_send(tl, number_of(s, &c->at), (int)c->tag, made[c->from]);
        return NULL;
    case JUDGE_RECV:
        flat = KB_SHAPE(moved_elements(c));
        return tl_recv_at(TL_HERE, tl, number_of(s, &c->at), (int)c->tag, dtype_of(c->in), flat,
                          c->async);
    case JUDGE_BARRIER:
        do_barrier(tl, s, c);
        return NULL;
    case JUDGE_ATOMIC:
        got->before = tl_atomic_add(tl, address(s, &c->at, c->offset), dtype_of(c->in), c->value);
        return NULL;
    case JUDGE_VALUE:
        if (c->operand_bytes == kb_dtype_bytes(dtype_of(c->in)))
            tl_value(tl, made[c->operands[0].from], (int64_t)c->elements - 1);
        else
            tl_values(tl, made[c->operands[0].from]);
        return NULL;
    case JUDGE_UPDATE:
        return tl_update(tl,
                         tl_reshape(tl, made[c->operands[0].from], KB_SHAPE((int64_t)c->elements)),
                         0, 0, tl_reshape(tl, made[c->operands[1].from], KB_SHAPE(c->m)));
    case JUDGE_ACC_DOT:
    case JUDGE_ACC_SCALE:
    case JUDGE_ACC_STORE:
        return do_acc(tl, s, c, made, accs);
    default:
        return do_composite(tl, s, c, made);
    }
}

/* That of a PE in a launch. */
static inline size_t kernel_in(const struct scenario *s, size_t launch, uint32_t pe)
{
    size_t k = 0;

    while (s->program.kernels[k].launch != launch ||
           judge_global_pe(s->judge, &s->program.kernels[k].pe) != pe)
        k++;
    return k;
}

static inline size_t kernel_of(const struct scenario *s, uint32_t pe)
{
    return kernel_in(s, 0, pe);
}

/* -- what has come over ----------------------------------------------------------------------- */

/* Byte `offset` of every slice: of an i32 0, 1, 2, ... */
static inline uint8_t byte_of_slice(uint64_t offset)
{
    return (uint8_t)(offset / 4 >> offset % 4 * 8);
}

/* The send whose message a recv takes: the one with its place in the queue. */
static inline size_t send_of(const struct scenario *s, size_t kernel, size_t recv, size_t *sender)
{
    const struct judge_kernel *k = &s->program.kernels[kernel];
    const struct judge_command *c = &k->commands[recv];
    size_t before = 0;

    for (size_t i = 0; i < recv; i++)
        before += k->commands[i].kind == JUDGE_RECV && k->commands[i].tag == c->tag &&
                  number_of(s, &k->commands[i].at) == number_of(s, &c->at);
    *sender = kernel_of(s, number_of(s, &c->at));
    for (size_t i = 0;; i++) {
        const struct judge_command *x = &s->program.kernels[*sender].commands[i];

        assert_true(i < s->program.kernels[*sender].n);
        if (x->kind == JUDGE_SEND && x->tag == c->tag &&
            number_of(s, &x->at) == number_of(s, &k->pe) && before-- == 0)
            return i;
    }
}

/* Where in a slice the bytes of a tensor were loaded from that nothing else writes; or false. */
static inline bool bytes_are_known(const struct scenario *s, size_t kernel, size_t command,
                                   uint64_t *offset)
{
    const struct judge_command *c = &s->program.kernels[kernel].commands[command];

    if (c->kind == JUDGE_RECV) {
        size_t sender, send = send_of(s, kernel, command, &sender);

        return bytes_are_known(s, sender, s->program.kernels[sender].commands[send].from, offset);
    }
    *offset = c->offset;
    return c->kind == JUDGE_LOAD && !c->rows && !c->n_targets && c->at.kind == JUDGE_SLICE &&
           c->offset >= 2 * JUDGE_CELLS && c->offset + c->nbytes <= JUDGE_WINDOW / 2;
}

static inline bool is_there(const struct judge_kernel *k, size_t recv)
{
    if (!k->commands[recv].async && !k->commands[recv].overlaps)
        return true;
    for (size_t i = recv + 1; i < k->n; i++)
        if ((k->commands[i].kind == JUDGE_WAIT && k->commands[i].target == recv) ||
            k->commands[i].kind == JUDGE_WAIT_ALL)
            return true;
    return false;
}

/* What was received is what was sent, if that is known. */
static inline void check_received(tl_ctx *tl, const struct scenario *s, size_t kernel,
                                  tl_tensor **made)
{
    const struct judge_kernel *k = &s->program.kernels[kernel];

    for (size_t i = 0; i < k->n; i++) {
        const uint8_t *bytes;
        uint64_t offset;

        if (k->commands[i].kind != JUDGE_RECV || !is_there(k, i) ||
            !bytes_are_known(s, kernel, i, &offset))
            continue;
        bytes = tl_data(tl, made[i]);
        for (uint64_t at = 0; at < k->commands[i].nbytes; at++)
            s->received->wrong += bytes[at] != byte_of_slice(offset + at);
        s->received->known += k->commands[i].nbytes;
    }
}

/* Does command `c` name what command `i` has made? */
static inline bool names(const struct judge_command *c, size_t i)
{
    bool moves = c->kind == JUDGE_STORE || c->kind == JUDGE_SEND, found = false;

    for (size_t o = 0; !moves && o < c->n_operands; o++)
        found = found || (c->operands[o].where == JUDGE_OWN_TCM && c->operands[o].from == i);
    for (size_t e = 0; e < c->n_epilogues; e++)
        found = found || (c->epilogues[e].part != JUDGE_NO_PART && c->epilogues[e].from == i);
    return found || (moves && c->from == i) || (c->kind == JUDGE_WAIT && c->target == i);
}

/* Gives back what command `last` has named as the last one, while it is under way. */
static inline void free_named(tl_ctx *tl, const struct judge_kernel *k, size_t last,
                              tl_tensor **made)
{
    for (size_t i = 0; i < last; i++) {
        bool later = !names(&k->commands[last], i) || k->commands[i].kind == JUDGE_RECV;

        for (size_t c = last + 1; !later && c < k->n; c++)
            later = names(&k->commands[c], i);
        if (!later)
            tl_free(tl, made[i]);
    }
}

static inline void program_kernel(tl_ctx *tl, const kb_args *args)
{
    const struct scenario_launch *launch = args->user;
    const struct scenario *s = launch->s;
    size_t k = kernel_in(s, launch->number, tl_pe(tl));
    const struct judge_kernel *kernel = &s->program.kernels[k];
    tl_tensor **made = tl_alloc_host(tl, kernel->n * sizeof *made);
    tl_acc **accs = tl_alloc_host(tl, kernel->n * sizeof *accs);

    for (size_t i = 0; i < kernel->n; i++) {
        s->got[k][i].call_fs = now_fs(tl);
        tl_region(tl, i % 3 == 2 ? NULL : i % 3 ? "odd" : "even");
        made[i] = do_command(tl, s, &kernel->commands[i], made, accs, &s->got[k][i]);
        s->got[k][i].return_fs = now_fs(tl);
        if (kernel->commands[i].overlaps)
            free_named(tl, kernel, i, made);
    }
    if (s->talks)
        check_received(tl, s, k, made);
}

/* -- one run -------------------------------------------------------------------------------- */

/* The PEs of a launch in ascending order, *n of them. */
static inline uint32_t *launched(const struct scenario *s, size_t launch, size_t *n)
{
    uint32_t *pes = calloc(s->program.n, sizeof *pes);

    *n = 0;
    for (size_t i = 0; i < s->program.n; i++) {
        uint32_t pe = (uint32_t)judge_global_pe(s->judge, &s->program.kernels[i].pe);
        size_t at = *n;

        if (s->program.kernels[i].launch != launch)
            continue;
        ++*n;

        for (; at > 0 && pes[at - 1] > pe; at--)
            pes[at] = pes[at - 1];
        pes[at] = pe;
    }
    return pes;
}

/* i32 0, 1, 2, ... in the first JUDGE_WINDOW of every slice. */
static inline void fill(kb_sim *sim)
{
    kb_tensor *x;
    kb_error why = {""};
    kb_placement copies = {KB_REPLICATE, KB_REPLICATE};

    assert_int_equal(kb_tensor_new(sim, "x", KB_I32, KB_SHAPE(JUDGE_WINDOW / 4), copies, &x, &why),
                     KB_OK);
    assert_int_equal(kb_tensor_fill_arange(x, 0, 1, &why), KB_OK);
}

/* How many launches the program has: the first ones of all. */
static inline size_t launches_of(const struct scenario *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->program.n; i++)
        if (s->program.kernels[i].launch >= n)
            n = s->program.kernels[i].launch + 1;
    return n;
}

/* The program, launched in a new simulation. */
static inline kb_sim *launch_program(struct scenario *s, kb_options options)
{
    kb_sim *sim;
    kb_error why = {""};

    options.values = true;
    sim = new_sim(s->topo, options);
    fill(sim);
    if (!s->launches) /* another simulation of it may be there */
        s->launches = calloc(launches_of(s) + 1, sizeof *s->launches);
    for (size_t i = 0; i < launches_of(s); i++) {
        const struct judge_launch own = {.stream = i};
        const struct judge_launch *l = s->program.n_launches ? &s->program.launches[i] : &own;
        uint32_t after[JUDGE_MOST_AFTER];
        size_t n;
        uint32_t *pes = launched(s, i, &n);
        kb_launch_request r = {.name = "program",
                               .kernel = program_kernel,
                               .args.user = &s->launches[i],
                               .pes = pes,
                               .n_pes = n,
                               .stream = (uint32_t)l->stream,
                               .after = after,
                               .n_after = (uint32_t)l->n_after};

        s->launches[i] = (struct scenario_launch){s, i};
        for (size_t a = 0; a < l->n_after; a++)
            after[a] = (uint32_t)l->after[a];

        if (kb_launch(sim, &r, &why) != KB_OK)
            fail_msg("seed %" PRIu64 ": %s", s->seed, why.text);
        free(pes);
    }
    return sim;
}

static inline void run_launched(const struct scenario *s, kb_sim *sim, uint64_t budget,
                                kb_launch_result *result)
{
    kb_error why = {""};
    kb_status status;

    do
        status = kb_sim_run(sim, budget, &why);
    while (status == KB_AGAIN);
    if (status != KB_OK)
        fail_msg("seed %" PRIu64 ": status %d: %s", s->seed, (int)status, why.text);
    assert_int_equal(kb_launch_get(sim, 0, result), KB_OK);
}

/* -- scenarios ------------------------------------------------------------------------------ */

/* What the judge says of a program, and room for what the library does. */
static inline void scenario_judge(struct scenario *s)
{
    if (!judge_kernels(s->judge, &s->program, &s->expected))
        fail_msg("seed %" PRIu64 ": the judge refuses", s->seed);
    s->received = calloc(1, sizeof *s->received);
    s->got = calloc(s->program.n, sizeof *s->got);
    for (size_t k = 0; k < s->program.n; k++)
        s->got[k] = calloc(s->program.kernels[k].n + 1, sizeof *s->got[k]);
}

/* A program on the machine of that YAML, which it frees; one that talks, or not, and overlaps, or
 * not. It is not judged yet. */
static inline struct scenario scenario_drawn(char *yaml, uint64_t seed, bool talks, bool overlaps)
{
    struct scenario s = {.seed = seed, .talks = talks};

    s.topo = any_topology(yaml);
    s.judge = judge_load_text(yaml);
    assert_non_null(s.topo);
    free(yaml);
    if (overlaps)
        judge_random_overlap(s.judge, seed, talks, &s.program);
    else if (talks)
        judge_random_talk(s.judge, seed, &s.program);
    else
        judge_random_program(s.judge, seed, &s.program);
    return s;
}

static inline struct scenario scenario_with(char *yaml, uint64_t seed, bool talks, bool overlaps)
{
    struct scenario s = scenario_drawn(yaml, seed, talks, overlaps);

    scenario_judge(&s);
    return s;
}

static inline struct scenario scenario_in(char *yaml, uint64_t seed, bool talks)
{
    return scenario_with(yaml, seed, talks, false);
}

/* On a machine that `machine` draws. */
static inline struct scenario scenario_on(void (*machine)(FILE *, uint64_t), uint64_t seed,
                                          bool talks)
{
    return scenario_in(printed(machine, seed), seed, talks);
}

/* The same, to be judged by scenario_judge(). */
static inline struct scenario scenario_unjudged(void (*machine)(FILE *, uint64_t), uint64_t seed)
{
    return scenario_drawn(printed(machine, seed), seed, false, false);
}

/* Loads and stores of one run to one memory, all of them. */
static inline void join_runs(struct judge_program *p)
{
    for (size_t k = 0; k < p->n; k++)
        for (size_t i = 0; i < p->kernels[k].n; i++) {
            struct judge_command *c = &p->kernels[k].commands[i];

            c->rows = 0;
            c->listed = false;
            c->n_targets = 0;
        }
}

/* On a plain machine that cuts nothing into packets: of one id there is one transaction. */
static inline struct scenario scenario_of(uint64_t seed, bool talks)
{
    struct scenario s =
        scenario_drawn(uncut(printed(judge_random_kernel_topo, seed)), seed, talks, false);

    join_runs(&s.program);
    scenario_judge(&s);
    return s;
}

static inline struct scenario scenario_new(uint64_t seed)
{
    return scenario_of(seed, false);
}

static inline void scenario_free(struct scenario *s)
{
    for (size_t k = 0; k < s->program.n; k++)
        free(s->got[k]);
    free(s->got);
    free(s->launches);
    free(s->received);
    judge_run_clear(&s->expected);
    judge_program_clear(&s->program);
    any_topology_free(s->topo);
    judge_free(s->judge);
}

#endif
