/* random_kernel.c -- kernels at random, such as could be written for the product too. */
#include "dice.h"
#include "banks.h"
#include "cache.h"
#include "kernel.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

enum { MOST_STEPS = 12, MOST_DIM = 64, MOST_TILES = 4, MOST_PES = 24, ALIGN = 64 };

/* Of an element; of i4 of two, which count as one but in products. */
static const uint32_t dtype_bytes[] = {1, 1, 4, 2, 4, 8};

/* What one program's kernels have in common: where much traffic goes, and how often. */
struct mix {
    struct judge_end hot_slice, hot_sram, hot_pe;
    uint32_t hot_per_cent, local_per_cent, async_per_cent, tcm_per_cent;
    bool alike;    /* all kernels are the same, except for their local addresses */
    bool overlaps; /* there are stretches under tl_async(true) */
};

/* A tensor in TCM. */
struct tensor {
    size_t from; /* the command */
    enum judge_dtype dtype;
    uint64_t elements;
};

/* Where a kernel has stored something outside of slices. */
struct stored {
    struct judge_end at;
    uint64_t offset, nbytes;
};

/* An accumulator that is not stored yet. */
struct open_acc {
    size_t number;
    uint32_t m, n;
    enum judge_dtype in, dtype; /* of its products' operands; its own */
    bool mixed;
    enum judge_dtype other;
};

enum { MOST_ACCS = 7 }; /* of a kernel, all of which have room at once */

/* A kernel in the making. No command makes more than one of each. */
struct maker {
    const struct judge_topo *t;
    struct dice *rng;
    const struct mix *mix;
    struct judge_program *p;
    size_t kernel;
    struct tensor *tensors;
    size_t n_tensors, tensors_room;
    struct stored *stored;
    size_t n_stored, stored_room;
    uint64_t reserved; /* bytes at the beginning of every slice that it does not write to */
    struct open_acc *accs;
    size_t n_accs, made_accs; /* not stored yet; in all */
    bool overlaps;            /* it is in a stretch under tl_async(true); there has been one */
    bool overlapped;
};

/* -- places --------------------------------------------------------------------------------- */

/* Any that is there; a slice is the home slice of some PE, as these have known bytes. */
static struct judge_end any_end(const struct judge_topo *t, struct dice *rng, enum judge_kind kind)
{
    uint32_t pes = judge_count(t, "cube.pes");
    struct judge_end e = {.kind = JUDGE_PE};

    e.sip = below(rng, t->sips);
    e.cube = below(rng, t->cubes);
    if (kind != JUDGE_SRAM)
        e.unit = below(rng, pes ? pes : 1);
    if (kind == JUDGE_SRAM ? !judge_has_cube(t, e.sip, e.cube) || judge_is_switch(t, e.sip, e.cube)
                           : !judge_has_pe(t, e.sip, e.cube, e.unit))
        e = t->pes[below(rng, (uint32_t)t->n_pes)];
    if (kind == JUDGE_SLICE)
        return judge_home_slice(t, &e);
    if (kind == JUDGE_SRAM)
        e.unit = 0;
    e.kind = kind;
    return e;
}

static const struct judge_end *pe_of(const struct maker *m)
{
    return &m->p->kernels[m->kernel].pe;
}

/* The home slice of the PE of that number in the cube of `pe`, or its own if that is missing. */
static struct judge_end slice_beside(const struct judge_topo *t, const struct judge_end *pe,
                                     uint32_t unit)
{
    struct judge_end other = *pe;

    if (judge_has_pe(t, pe->sip, pe->cube, unit))
        other.unit = unit;
    return judge_home_slice(t, &other);
}

/* The own slice, one of the own cube, the hot one, or any. */
static struct judge_end any_slice(struct maker *m)
{
    struct judge_end e = any_end(m->t, m->rng, JUDGE_SLICE);
    bool hot = chance(m->rng, m->mix->hot_per_cent);
    bool local = chance(m->rng, m->mix->local_per_cent);
    bool own = chance(m->rng, 60);

    if (hot)
        return m->mix->hot_slice;
    if (!local)
        return e;
    if (own)
        return judge_home_slice(m->t, pe_of(m));
    return slice_beside(m->t, pe_of(m), e.unit);
}

static uint64_t any_offset(struct maker *m, uint64_t nbytes)
{
    return below(m->rng, (JUDGE_WINDOW - nbytes) / ALIGN + 1) * (uint64_t)ALIGN;
}

/* Where it may write. */
static uint64_t any_room(struct maker *m, uint64_t nbytes)
{
    return m->reserved +
           below(m->rng, (JUDGE_WINDOW - m->reserved - nbytes) / ALIGN + 1) * (uint64_t)ALIGN;
}

/* An SRAM, or another PE's TCM: its upper half. */
static struct stored any_other(struct maker *m, uint64_t nbytes)
{
    struct judge_end sram = any_end(m->t, m->rng, JUDGE_SRAM);
    struct judge_end tcm = any_end(m->t, m->rng, JUDGE_TCM);
    bool hot = chance(m->rng, m->mix->hot_per_cent);
    struct stored s = {.offset = any_offset(m, nbytes), .nbytes = nbytes};

    if (hot) {
        sram = m->mix->hot_sram;
        tcm = m->mix->hot_pe;
        tcm.kind = JUDGE_TCM;
    }
    s.at = tcm;
    if (chance(m->rng, 50) || judge_global_pe(m->t, &tcm) == judge_global_pe(m->t, pe_of(m)))
        s.at = sram;
    else
        s.offset += judge_memory_bytes(m->t, &tcm) / 2;
    return s;
}

/* -- commands ------------------------------------------------------------------------------- */

static size_t add(struct maker *m, const struct judge_command *c)
{
    struct judge_command copy = *c;

    copy.overlaps = m->overlaps;
    return judge_add_command(m->p, m->kernel, &copy);
}

/* A stretch under tl_async(true) may begin here, or end. */
static void may_turn(struct maker *m)
{
    if (m->mix->overlaps && chance(m->rng, 25)) {
        m->overlaps = !m->overlaps;
        m->overlapped = true;
    }
}

static void add_tensor(struct maker *m, size_t from, enum judge_dtype dtype, uint64_t elements)
{
    if (m->n_tensors == m->tensors_room) {
        m->tensors_room = m->tensors_room ? 2 * m->tensors_room : 16;
        m->tensors = judge_grow(m->tensors, m->tensors_room, sizeof *m->tensors);
    }
    m->tensors[m->n_tensors++] = (struct tensor){from, dtype, elements};
}

static bool is_waited_for(const struct maker *m, size_t command)
{
    const struct judge_kernel *k = &m->p->kernels[m->kernel];

    for (size_t i = command + 1; i < k->n; i++) {
        if (k->commands[i].kind == JUDGE_WAIT && k->commands[i].target == command)
            return true;
        if (k->commands[i].kind == JUDGE_WAIT_ALL)
            return true;
    }
    return false;
}

static void wait_for(struct maker *m, size_t command)
{
    add(m, &(struct judge_command){.kind = JUDGE_WAIT, .target = command});
}

/* Something that this kernel has stored, if it is large enough, and not in a slice. */
static bool find_stored(struct maker *m, uint64_t nbytes, struct judge_command *c)
{
    const struct stored *s;

    if (m->n_stored == 0)
        return false;
    s = &m->stored[below(m->rng, m->n_stored)];
    if (s->nbytes < nbytes)
        return false;
    c->at = s->at;
    c->offset = s->offset;
    return true;
}

/* It becomes one of rows, or of pieces, of the slice in which it is; `room`: where it may begin. */
static void may_cut(struct maker *m, struct judge_command *c, uint64_t room)
{
    uint64_t elements = c->nbytes / dtype_bytes[c->in], span;
    uint32_t rows = 2 + below(m->rng, 7);

    while (elements % rows)
        rows--;
    if (rows < 2 || !chance(m->rng, 30))
        return;
    c->stride = (c->nbytes / rows + ALIGN - 1) / ALIGN * ALIGN + ALIGN * below(m->rng, 3);
    span = (rows - 1) * c->stride + c->nbytes / rows;
    if (span > JUDGE_WINDOW - room)
        return;
    c->rows = rows;
    c->listed = chance(m->rng, 50);
    c->async = c->async && !c->listed;
    c->offset = room + below(m->rng, (JUDGE_WINDOW - room - span) / ALIGN + 1) * (uint64_t)ALIGN;
}

static bool is_target(const struct judge_command *c, const struct judge_end *end)
{
    for (size_t i = 0; i < c->n_targets; i++)
        if (c->targets[i].sip == end->sip && c->targets[i].cube == end->cube &&
            c->targets[i].unit == end->unit)
            return true;
    return false;
}

/* Do data that join take time to do so, and may memories choose what they serve? */
static bool cannot_join(const struct judge_topo *t)
{
    bool late = false, choose = false;

    for (size_t i = 0; i < t->n_pes; i++) {
        struct judge_end home = judge_home_slice(t, &t->pes[i]);

        late =
            late || judge_cube_number(t, t->pes[i].sip, t->pes[i].cube, "cube.noc.reduce_ns") > 0;
        choose = choose || judge_has_banks(t, &home) || judge_has_cache(t, &home);
    }
    return late && choose;
}

/* It becomes a multicast, to slices. */
static void may_spread(struct maker *m, struct judge_command *c, uint64_t room)
{
    size_t want = 2 + below(m->rng, JUDGE_MOST_TARGETS - 1);

    if (c->rows || c->at.kind != JUDGE_SLICE || (c->in == JUDGE_I4 && c->kind == JUDGE_LOAD) ||
        m->t->is_router || judge_count(m->t, "addressing.granule") > 0 ||
        (c->kind == JUDGE_LOAD && cannot_join(m->t)) || !chance(m->rng, 20))
        return;
    c->targets[0] = c->at;
    c->offsets[0] = c->offset;
    c->n_targets = 1;
    for (int tries = 0; tries < 20 && c->n_targets < want; tries++) {
        struct judge_end end = any_end(m->t, m->rng, JUDGE_SLICE);

        if (is_target(c, &end))
            continue;
        c->targets[c->n_targets] = end;
        c->offsets[c->n_targets++] =
            room + below(m->rng, (JUDGE_WINDOW - room - c->nbytes) / ALIGN + 1) * (uint64_t)ALIGN;
    }
    if (c->n_targets < 2)
        c->n_targets = 0;
    c->async = c->async && (!c->n_targets || c->kind == JUDGE_STORE);
}

static size_t add_load(struct maker *m, enum judge_dtype dtype, uint64_t elements)
{
    struct judge_command c = {.kind = JUDGE_LOAD, .in = dtype, .out = dtype};
    size_t i;

    c.nbytes = elements * dtype_bytes[dtype];
    c.async = chance(m->rng, m->mix->async_per_cent);
    if (!chance(m->rng, 30) || !find_stored(m, c.nbytes, &c)) {
        c.at = any_slice(m);
        c.offset = any_offset(m, c.nbytes);
        may_cut(m, &c, 0);
        may_spread(m, &c, 0);
    }
    i = add(m, &c);
    add_tensor(m, i, dtype, elements);
    return i;
}

/* An earlier load once more, of the same bytes: mostly something was written to them meanwhile. */
static void add_load_again(struct maker *m)
{
    const struct judge_kernel *k = &m->p->kernels[m->kernel];
    size_t i = k->n;

    while (i > 0 && k->commands[i - 1].kind != JUDGE_LOAD)
        i--;
    if (i > 0) {
        struct judge_command c = k->commands[i - 1];

        c.async = !c.listed && !c.n_targets && chance(m->rng, m->mix->async_per_cent);
        add_tensor(m, add(m, &c), c.in, c.nbytes / dtype_bytes[c.in]);
    }
}

/* Waits for the load or recv that makes tensor `from`, unless the kernel already has. */
static size_t ready(struct maker *m, size_t from)
{
    const struct judge_command *c = &m->p->kernels[m->kernel].commands[from];
    bool moves = (c->kind == JUDGE_LOAD || c->kind == JUDGE_RECV) && c->async;

    if (m->overlaps && chance(m->rng, 85))
        return from; /* in flight, perhaps */
    if ((moves || c->overlaps) && !is_waited_for(m, from))
        wait_for(m, from);
    return from;
}

/* A tensor of so many elements: one that is there, or a new one. Not waited for yet. */
static size_t find_or_load(struct maker *m, enum judge_dtype dtype, uint64_t elements)
{
    size_t first = m->n_tensors ? below(m->rng, m->n_tensors) : 0;

    for (size_t i = 0; i < m->n_tensors; i++) {
        const struct tensor *x = &m->tensors[(first + i) % m->n_tensors];

        if (x->dtype == dtype && x->elements == elements)
            return x->from;
    }
    return add_load(m, dtype, elements);
}

static struct judge_operand in_tcm(size_t from)
{
    return (struct judge_operand){.where = JUDGE_OWN_TCM, .from = from};
}

/* A size near a multiple of a tile's, which makes no more than MOST_TILES tiles. */
static uint32_t any_dim(struct maker *m, const char *tile_key)
{
    uint32_t tile = judge_cube_count(m->t, pe_of(m)->sip, pe_of(m)->cube, tile_key);
    uint32_t dim = tile * (1 + below(m->rng, MOST_TILES));

    if (chance(m->rng, 50))
        dim -= below(m->rng, tile);
    return dim > MOST_DIM ? 1 + below(m->rng, MOST_DIM) : dim;
}

static enum judge_dtype any_float(struct maker *m)
{
    static const enum judge_dtype some[] = {JUDGE_F16, JUDGE_F16, JUDGE_F32, JUDGE_F64};

    return some[below(m->rng, COUNT(some))];
}

static bool converts(const struct maker *m)
{
    const struct judge_end *pe = pe_of(m);

    return strcmp(judge_cube_text(m->t, pe->sip, pe->cube, "cube.pe.pe_fetch_store.convert"),
                  "true") == 0;
}

/* Floats before integers, then that of more bytes, then the first. */
static enum judge_dtype wider(enum judge_dtype a, enum judge_dtype b)
{
    if ((a >= JUDGE_F16) != (b >= JUDGE_F16))
        return a >= JUDGE_F16 ? a : b;
    if (a == JUDGE_I4)
        return b;
    return dtype_bytes[b] > dtype_bytes[a] ? b : a;
}

/* Where PEs convert, the second operand is often of another type. i32 has numbers that f32 has not.
 */
static void may_mix(struct maker *m, struct judge_command *c)
{
    static const enum judge_dtype some[] = {JUDGE_I8, JUDGE_F16, JUDGE_F32, JUDGE_F64};

    if (!converts(m) || chance(m->rng, 40))
        return;
    c->other =
        c->in == JUDGE_F64 && chance(m->rng, 30) ? JUDGE_I32 : some[below(m->rng, COUNT(some))];
    c->mixed = c->other != c->in;
    c->out = wider(c->in, c->other);
}

/* Of the second operand. */
static enum judge_dtype right_dtype(const struct judge_command *c)
{
    return c->mixed ? c->other : c->in;
}

/* dtypes and sizes of a matrix product */
static void any_product(struct maker *m, struct judge_command *c)
{
    c->in = chance(m->rng, 15) ? JUDGE_I8 : any_float(m);
    c->out = c->in == JUDGE_I8 ? JUDGE_I32 : c->in;
    if (c->in == JUDGE_F16 && chance(m->rng, 25))
        c->out = JUDGE_F32;
    may_mix(m, c);
    if (c->out == JUDGE_I8)
        c->out = JUDGE_I32;
    c->m = any_dim(m, "cube.pe.pe_scheduler.tile.0");
    c->k = any_dim(m, "cube.pe.pe_scheduler.tile.1");
    c->n = any_dim(m, "cube.pe.pe_scheduler.tile.2");
    c->n_operands = 2;
}

/* Some products of one type, and some second operands, are of i4; rows of both are even. */
static void may_pack(struct maker *m, struct judge_command *c)
{
    if (c->k % 2 || c->n % 2 || !chance(m->rng, 30))
        return;
    if (!c->mixed && chance(m->rng, 50)) {
        c->in = JUDGE_I4;
        c->out = JUDGE_I32;
    } else if (converts(m)) {
        c->mixed = true;
        c->other = JUDGE_I4;
        c->out = c->in == JUDGE_I8 ? JUDGE_I32 : c->in;
    }
}

/* What so many elements of a product's operand count. */
static uint64_t counted(enum judge_dtype dtype, uint64_t elements)
{
    return dtype == JUDGE_I4 ? elements / 2 : elements;
}

static void add_dot(struct maker *m)
{
    struct judge_command c = {.kind = JUDGE_DOT};
    uint64_t all, a, b;
    size_t from[2];

    any_product(m, &c);
    may_pack(m, &c);
    c.batch = chance(m->rng, 15) ? 2 + below(m->rng, 3) : 0;
    if (c.batch * (c.m > c.n ? c.m : c.n) * (c.k > c.n ? c.k : c.n) > MOST_DIM * MOST_DIM)
        c.batch = 0; /* its tensors are no larger than others */
    c.one_b = c.batch && chance(m->rng, 30);
    all = c.batch ? c.batch : 1;
    a = counted(c.in, all * c.m * c.k);
    b = counted(right_dtype(&c), (c.one_b ? 1 : all) * c.k * c.n);
    from[0] = find_or_load(m, c.in, a);
    from[1] = find_or_load(m, right_dtype(&c), b);
    c.operands[0] = in_tcm(ready(m, from[0]));
    c.operands[1] = in_tcm(ready(m, from[1]));
    c.operand_bytes = a * dtype_bytes[c.in] + b * dtype_bytes[right_dtype(&c)];
    c.nbytes = all * c.m * c.n * dtype_bytes[c.out];
    add_tensor(m, add(m, &c), c.out, all * c.m * c.n);
}

/* An op of math, and how many operands it has. */
struct math_op {
    const char *name;
    enum judge_class_of_math class;
    size_t n_operands;
    bool scalar; /* its last operand may be one */
};

/* The first six are elementwise with operands. */
static const struct math_op math_ops[] = {
    {"neg", JUDGE_PLAIN, 1, false},     {"exp", JUDGE_SPECIAL, 1, false},
    {"add", JUDGE_PLAIN, 2, true},      {"mul", JUDGE_PLAIN, 2, true},
    {"div", JUDGE_SPECIAL, 2, true},    {"fma", JUDGE_PLAIN, 3, false},
    {"sum", JUDGE_PLAIN, 1, false},     {"softmax", JUDGE_SOFTMAX, 1, false},
    {"full", JUDGE_PLAIN, 0, false},    {"topk", JUDGE_TOPK, 1, false},
    {"cumsum", JUDGE_SCAN, 1, false},   {"sort", JUDGE_SORT, 1, false},
    {"random", JUDGE_RANDOM, 0, false},
};

enum { ELEMENTWISE = 6 };

static void any_math(struct maker *m, struct judge_command *c, size_t n_ops)
{
    const struct math_op *op = &math_ops[below(m->rng, n_ops)];

    c->op = op->name;
    c->class = op->class;
    c->in = c->out = any_float(m);
    if (op->class == JUDGE_RANDOM && c->out == JUDGE_F64)
        c->in = c->out = JUDGE_F32;
    c->m = chance(m->rng, 20) ? 1 : any_dim(m, "cube.pe.pe_scheduler.tile.0");
    c->n = any_dim(m, "cube.pe.pe_scheduler.tile.2");
    c->n_operands = op->n_operands;
    if (op->scalar && chance(m->rng, 30))
        c->operands[1].where = JUDGE_SCALAR;
    else if (op->n_operands > 1)
        c->operands[1].where = JUDGE_OWN_TCM;
    c->operands[0].where = c->operands[2].where = JUDGE_OWN_TCM;
}

static void add_math(struct maker *m)
{
    struct judge_command c = {.kind = JUDGE_MATH};
    uint64_t results;
    size_t from[JUDGE_MOST_OPERANDS];

    any_math(m, &c, COUNT(math_ops));
    c.elements = (uint64_t)c.m * c.n;
    for (size_t i = 0; i < c.n_operands; i++) {
        if (c.operands[i].where == JUDGE_OWN_TCM)
            from[i] = find_or_load(m, c.in, c.elements);
    }
    for (size_t i = 0; i < c.n_operands; i++) {
        if (c.operands[i].where != JUDGE_OWN_TCM)
            continue;
        c.operands[i] = in_tcm(ready(m, from[i]));
        c.operand_bytes += c.elements * dtype_bytes[c.in];
    }
    results = strcmp(c.op, "sum") == 0 ? c.m : c.elements;
    if (c.class == JUDGE_TOPK) {
        c.k = 1 + below(m->rng, c.n < 20 ? c.n : 20);
        results = (uint64_t)c.m * c.k;
    }
    c.nbytes = results * dtype_bytes[c.out] + (c.class == JUDGE_TOPK ? 4 * results : 0);
    add_tensor(m, add(m, &c), c.out, results);
}

/* Rows of a matrix, by a tensor of their numbers, all of which are 1. */
static void add_take(struct maker *m)
{
    struct judge_command index = {.kind = JUDGE_MATH, .op = "full", .in = JUDGE_I32, .m = 1};
    struct judge_command c = {.kind = JUDGE_MATH, .op = "take", .class = JUDGE_INDEX};
    size_t x, i;

    c.in = c.out = any_float(m);
    c.m = 1 + any_dim(m, "cube.pe.pe_scheduler.tile.0");
    c.n = any_dim(m, "cube.pe.pe_scheduler.tile.2");
    c.k = any_dim(m, "cube.pe.pe_scheduler.tile.0");
    c.n_operands = 2;
    x = find_or_load(m, c.in, (uint64_t)c.m * c.n);
    index.out = JUDGE_I32;
    index.n = c.k;
    index.elements = c.k;
    index.nbytes = (uint64_t)c.k * dtype_bytes[JUDGE_I32];
    i = add(m, &index);
    add_tensor(m, i, JUDGE_I32, c.k);
    c.operands[0] = in_tcm(ready(m, x));
    c.operands[1] = in_tcm(ready(m, i));
    c.elements = (uint64_t)c.k * c.n;
    c.nbytes = c.elements * dtype_bytes[c.out];
    c.operand_bytes = index.nbytes + c.nbytes; /* the elements that are taken */
    add_tensor(m, add(m, &c), c.out, c.elements);
}

/* The next step of a fused command, of what is there: inputs, and steps before. `column`: a step is
 * [M,1], as the second input is. */
static void add_step(struct maker *m, struct judge_command *c, bool *column)
{
    static const struct judge_step some[] = {{.op = "add"},
                                             {.op = "mul"},
                                             {.op = "div", .special = true},
                                             {.op = "exp", .special = true},
                                             {.op = "sum", .reduces = true}};
    size_t i = c->n_steps++;
    struct judge_step *step = &c->steps[i];
    int from[2];
    bool is_column[2];

    *step = some[below(m->rng, COUNT(some))];
    for (int o = 0; o < 2; o++) {
        uint32_t n = below(m->rng, (uint32_t)(i + c->n_operands));

        from[o] = n < i ? -1 - (int)n : (int)(n - i);
        is_column[o] = n < i ? column[n] : from[o] == 1;
    }
    step->x = from[0];
    step->y = from[1];
    if (step->special && strcmp(step->op, "exp") == 0)
        is_column[1] = true;
    column[i] = step->reduces || (is_column[0] && is_column[1]);
    step->elements = step->reduces ? !is_column[0] : !column[i];
    step->elements = step->elements ? (uint64_t)c->m * c->n : c->m;
    step->stored = chance(m->rng, 20);
}

static void add_fused(struct maker *m)
{
    struct judge_command c = {.kind = JUDGE_MATH, .op = "fused", .class = JUDGE_STEPS};
    bool column[JUDGE_MOST_STEPS];
    size_t from[2], n = 1 + below(m->rng, JUDGE_MOST_STEPS), stored = 0;

    c.in = any_float(m);
    c.out = JUDGE_F16;
    c.m = any_dim(m, "cube.pe.pe_scheduler.tile.0");
    c.n = any_dim(m, "cube.pe.pe_scheduler.tile.2");
    c.n_operands = 1 + below(m->rng, 2);
    for (size_t i = 0; i < c.n_operands; i++)
        from[i] = find_or_load(m, c.in, i ? c.m : (uint64_t)c.m * c.n);
    for (size_t i = 0; i < c.n_operands; i++)
        c.operands[i] = in_tcm(ready(m, from[i]));
    c.operand_bytes = (uint64_t)c.m * c.n * dtype_bytes[c.in];
    if (c.n_operands > 1)
        c.operand_bytes += c.m * dtype_bytes[c.in];
    while (c.n_steps < n)
        add_step(m, &c, column);
    c.steps[n - 1].stored = true;
    for (size_t i = n; i-- > 0;) { /* at most four */
        c.steps[i].stored = c.steps[i].stored && stored < 4;
        stored += c.steps[i].stored;
        c.elements += c.steps[i].elements;
        if (c.steps[i].stored)
            c.nbytes += (column[i] ? c.m : (uint64_t)c.m * c.n) * dtype_bytes[JUDGE_F16];
    }
    add_tensor(m, add(m, &c), JUDGE_F16, column[n - 1] ? c.m : (uint64_t)c.m * c.n);
}

static struct judge_operand any_operand(struct maker *m, enum judge_dtype dtype, uint64_t elements)
{
    struct judge_operand o = {.where = JUDGE_AT};

    if (chance(m->rng, m->mix->tcm_per_cent))
        return in_tcm(ready(m, find_or_load(m, dtype, elements)));
    o.at = any_slice(m);
    o.offset = any_offset(m, elements * dtype_bytes[dtype]);
    return o;
}

static void add_composite(struct maker *m, struct judge_command *c)
{
    c->in_bytes = dtype_bytes[c->in];
    c->out_bytes = dtype_bytes[c->out];
    c->at = any_slice(m);
    c->offset = any_room(m, (uint64_t)c->m * c->n * c->out_bytes);
    add(m, c);
}

static struct judge_epilogue any_epilogue(struct maker *m, const struct judge_command *c)
{
    static const char *const with[] = {"add", "mul"};
    static const char *const without[] = {"maximum", "exp", "tanh"};
    struct judge_epilogue e = {.part = (enum judge_part)below(m->rng, 4)};
    uint32_t op = below(m->rng, 6);
    uint64_t rows = e.part == JUDGE_ROW ? 1 : c->m;
    uint64_t columns = e.part == JUDGE_COLUMN ? 1 : c->n;

    e.op = e.part == JUDGE_NO_PART ? without[op % 3] : with[op % 2];
    e.special = e.part == JUDGE_NO_PART && op % 3 > 0;
    if (e.part == JUDGE_NO_PART)
        return e;
    e.element_bytes = dtype_bytes[c->out];
    e.from = ready(m, find_or_load(m, c->out, rows * columns));
    return e;
}

/* An element of a tensor that is there, or all of it. */
static void add_value(struct maker *m)
{
    struct judge_command c = {.kind = JUDGE_VALUE, .n_operands = 1};
    struct tensor x;

    if (m->n_tensors == 0)
        return;
    x = m->tensors[below(m->rng, m->n_tensors)];
    if (x.dtype == JUDGE_I4)
        return;
    c.operands[0] = in_tcm(ready(m, x.from));
    c.in = x.dtype;
    c.elements = x.elements;
    c.operand_bytes = (chance(m->rng, 60) ? 1 : x.elements) * dtype_bytes[x.dtype];
    add(m, &c);
}

/* The first elements of a tensor are replaced by another tensor, or by a new one. */
static void add_update(struct maker *m)
{
    struct judge_command c = {.kind = JUDGE_UPDATE, .n_operands = 2};
    size_t at, y;
    struct tensor x;

    if (m->n_tensors == 0)
        return;
    at = below(m->rng, m->n_tensors);
    x = m->tensors[at];
    if (x.dtype < JUDGE_F16)
        return;
    c.m = 1 + below(m->rng, (uint32_t)x.elements); /* how many */
    y = find_or_load(m, x.dtype, c.m);
    c.operands[0] = in_tcm(ready(m, x.from));
    c.operands[1] = in_tcm(ready(m, y));
    c.in = c.out = x.dtype;
    c.operand_bytes = c.m * dtype_bytes[x.dtype];
    c.elements = x.elements;
    m->tensors[at].from = add(m, &c); /* handles of it are those of its new content */
}

/* -- accumulators -- */

static struct judge_command of_acc(const struct open_acc *a, enum judge_command_kind kind)
{
    return (struct judge_command){.kind = kind,
                                  .acc = a->number,
                                  .in = a->in,
                                  .mixed = a->mixed,
                                  .other = a->other,
                                  .out = a->dtype,
                                  .m = a->m,
                                  .n = a->n};
}

/* A product that sets `a`, or is added to it. */
static void add_acc_dot(struct maker *m, struct open_acc *a, uint32_t k)
{
    struct judge_command c = of_acc(a, JUDGE_ACC_DOT);
    uint64_t left = counted(c.in, (uint64_t)a->m * k);
    uint64_t right = counted(right_dtype(&c), (uint64_t)k * a->n);
    size_t from[2];

    c.k = k;
    c.n_operands = 2;
    from[0] = find_or_load(m, c.in, left);
    from[1] = find_or_load(m, right_dtype(&c), right);
    c.operands[0] = in_tcm(ready(m, from[0]));
    c.operands[1] = in_tcm(ready(m, from[1]));
    c.operand_bytes = left * dtype_bytes[c.in] + right * dtype_bytes[right_dtype(&c)];
    add(m, &c);
}

/* Its K; rows of i4 are even. */
static uint32_t any_depth(struct maker *m, const struct open_acc *a)
{
    uint32_t k = any_dim(m, "cube.pe.pe_scheduler.tile.1");

    return a->in == JUDGE_I4 ? k + k % 2 : k;
}

static void open_acc(struct maker *m)
{
    struct judge_command c = {.kind = JUDGE_ACC_DOT};
    struct open_acc *a;

    any_product(m, &c);
    may_pack(m, &c);
    m->accs = judge_grow(m->accs, m->n_accs + 1, sizeof *m->accs);
    a = &m->accs[m->n_accs++];
    *a = (struct open_acc){.number = m->made_accs++,
                           .m = c.m,
                           .n = c.n,
                           .in = c.in,
                           .mixed = c.mixed,
                           .other = c.other};
    a->dtype = c.out == JUDGE_I32 ? JUDGE_I32 : chance(m->rng, 70) ? JUDGE_F32 : JUDGE_F64;
    add_acc_dot(m, a, c.k);
}

static void add_acc_scale(struct maker *m, const struct open_acc *a)
{
    struct judge_command c = of_acc(a, JUDGE_ACC_SCALE);
    enum judge_part part = (enum judge_part)below(m->rng, 4);
    uint64_t rows = part == JUDGE_ROW ? 1 : a->m, columns = part == JUDGE_COLUMN ? 1 : a->n;

    c.in = chance(m->rng, 50) ? wider(a->in, right_dtype(&c)) : a->dtype;
    if (c.in == JUDGE_I4)
        c.in = a->dtype;
    c.elements = (uint64_t)a->m * a->n;
    c.n_operands = 1;
    if (part == JUDGE_NO_PART) {
        c.operands[0].where = JUDGE_SCALAR;
    } else {
        c.operands[0] = in_tcm(ready(m, find_or_load(m, c.in, rows * columns)));
        c.operand_bytes = rows * columns * dtype_bytes[c.in];
        c.k = (uint32_t)rows; /* how it lies */
    }
    add(m, &c);
}

static void add_acc_store(struct maker *m, struct open_acc *a)
{
    struct judge_command c = of_acc(a, JUDGE_ACC_STORE);

    if (a->dtype != JUDGE_I32 && chance(m->rng, 60))
        c.n_epilogues = 1 + below(m->rng, JUDGE_MOST_EPILOGUES);
    for (size_t i = 0; i < c.n_epilogues; i++)
        c.epilogues[i] = any_epilogue(m, &c);
    if (a->dtype != JUDGE_I32 && chance(m->rng, 50))
        c.out = JUDGE_F16;
    c.nbytes = (uint64_t)a->m * a->n * dtype_bytes[c.out];
    *a = m->accs[--m->n_accs];
    add_tensor(m, add(m, &c), c.out, (uint64_t)c.m * c.n);
}

/* A step on one that is there, or a new one. */
static void add_acc(struct maker *m)
{
    uint32_t what = below(m->rng, 4);
    struct open_acc *a = m->n_accs ? &m->accs[below(m->rng, m->n_accs)] : NULL;

    if ((!a || what == 0) && m->made_accs < MOST_ACCS)
        open_acc(m);
    else if (a && what == 1)
        add_acc_scale(m, a);
    else if (a && what == 2)
        add_acc_store(m, a);
    else if (a)
        add_acc_dot(m, a, any_depth(m, a));
}

static void add_composite_gemm(struct maker *m)
{
    struct judge_command c = {.kind = JUDGE_COMPOSITE_GEMM};

    any_product(m, &c);
    c.operands[0] = any_operand(m, c.in, (uint64_t)c.m * c.k);
    c.operands[1] = any_operand(m, right_dtype(&c), (uint64_t)c.k * c.n);
    if (c.out != JUDGE_I32 && chance(m->rng, 50))
        c.n_epilogues = 1 + below(m->rng, JUDGE_MOST_EPILOGUES);
    for (size_t i = 0; i < c.n_epilogues; i++)
        c.epilogues[i] = any_epilogue(m, &c);
    add_composite(m, &c);
}

static void add_composite_math(struct maker *m)
{
    struct judge_command c = {.kind = JUDGE_COMPOSITE_MATH};

    any_math(m, &c, ELEMENTWISE);
    for (size_t i = 0; i < c.n_operands; i++) {
        if (c.operands[i].where != JUDGE_SCALAR)
            c.operands[i] = any_operand(m, c.in, (uint64_t)c.m * c.n);
    }
    add_composite(m, &c);
}

static void remember(struct maker *m, const struct stored *s)
{
    if (m->n_stored == m->stored_room) {
        m->stored_room = m->stored_room ? 2 * m->stored_room : 8;
        m->stored = judge_grow(m->stored, m->stored_room, sizeof *m->stored);
    }
    m->stored[m->n_stored++] = *s;
}

static void add_store(struct maker *m)
{
    struct judge_command c = {.kind = JUDGE_STORE};
    struct tensor x;

    if (m->n_tensors == 0)
        add_load(m, any_float(m), 1 + below(m->rng, 2048));
    x = m->tensors[below(m->rng, m->n_tensors)];
    c.from = ready(m, x.from);
    c.in = c.out = x.dtype;
    c.nbytes = x.elements * dtype_bytes[x.dtype];
    c.async = chance(m->rng, m->mix->async_per_cent);
    if (chance(m->rng, 40)) {
        struct stored s = any_other(m, c.nbytes);

        c.at = s.at;
        c.offset = s.offset;
        if (!m->overlaps && (!c.async || !m->overlapped)) /* it is visible from now on */
            remember(m, &s);
    } else {
        c.at = any_slice(m);
        c.offset = any_room(m, c.nbytes);
        may_cut(m, &c, m->reserved);
        may_spread(m, &c, m->reserved);
    }
    add(m, &c);
}

static bool may_be_waited_for(const struct maker *m, size_t i)
{
    const struct judge_command *c = &m->p->kernels[m->kernel].commands[i];
    bool dma = c->kind == JUDGE_LOAD || c->kind == JUDGE_STORE || c->kind == JUDGE_RECV;
    bool composite = c->kind == JUDGE_COMPOSITE_GEMM || c->kind == JUDGE_COMPOSITE_MATH;
    bool has_handle = c->kind == JUDGE_LOAD || c->kind == JUDGE_RECV || c->kind == JUDGE_DOT ||
                      c->kind == JUDGE_MATH || c->kind == JUDGE_UPDATE ||
                      c->kind == JUDGE_ACC_STORE;

    return ((dma && c->async) || composite || (has_handle && c->overlaps)) && !is_waited_for(m, i);
}

/* Waits for one of those that are still outstanding, if there are any. */
static void add_wait(struct maker *m)
{
    size_t n = m->p->kernels[m->kernel].n, first = n ? below(m->rng, n) : 0;

    for (size_t i = 0; i < n; i++) {
        if (may_be_waited_for(m, (first + i) % n)) {
            wait_for(m, (first + i) % n);
            return;
        }
    }
}

/* -- programs ------------------------------------------------------------------------------- */

static void make_step(struct maker *m)
{
    may_turn(m);
    if (m->mix->overlaps && chance(m->rng, 5))
        add(m, &(struct judge_command){.kind = JUDGE_WAIT_ALL});
    if (m->mix->overlaps && chance(m->rng, 40)) {
        if (chance(m->rng, 25))
            add_update(m);
        else if (chance(m->rng, 25))
            add_value(m);
        else
            add_acc(m);
        return;
    }
    switch (below(m->rng, 10)) {
    case 0:
    case 1:
        add_load(m, any_float(m), 1 + below(m->rng, 2048));
        break;
    case 9:
        add_load_again(m);
        break;
    case 2:
    case 3:
        add_store(m);
        break;
    case 4:
        add_dot(m);
        break;
    case 5:
        if (chance(m->rng, 15))
            add_take(m);
        else if (chance(m->rng, 25))
            add_fused(m);
        else
            add_math(m);
        break;
    case 6:
        add_composite_gemm(m);
        break;
    case 7:
        add_composite_math(m);
        break;
    default:
        add_wait(m);
    }
}

static void drop_maker(struct maker *m)
{
    free(m->tensors);
    free(m->stored);
    free(m->accs);
}

static void make_kernel(struct maker *m)
{
    uint32_t n = below(m->rng, MOST_STEPS + 1);

    for (uint32_t i = 0; i < n; i++)
        make_step(m);
    drop_maker(m);
}

static struct mix any_mix(const struct judge_topo *t, struct dice *rng, bool overlaps)
{
    struct mix m = {.overlaps = overlaps};

    m.hot_slice = any_end(t, rng, JUDGE_SLICE);
    m.hot_sram = any_end(t, rng, JUDGE_SRAM);
    m.hot_pe = any_end(t, rng, JUDGE_PE);
    m.hot_per_cent = below(rng, 4) * 25;
    m.local_per_cent = below(rng, 3) * 40;
    m.async_per_cent = below(rng, 3) * 45;
    m.tcm_per_cent = below(rng, 3) * 40;
    m.alike = chance(rng, 40);
    return m;
}

static bool is_launched(const struct judge_topo *t, const struct judge_program *p,
                        const struct judge_end *pe)
{
    for (size_t i = 0; i < p->n; i++) {
        if (judge_global_pe(t, &p->kernels[i].pe) == judge_global_pe(t, pe))
            return true;
    }
    return false;
}

/* All PEs if they are not many; or some, neighbours of the hot slice among them. */
static void any_pes(const struct judge_topo *t, struct dice *rng, const struct mix *mix,
                    struct judge_program *p)
{
    size_t all = t->n_pes;
    uint32_t n = chance(rng, 60) ? 1 + below(rng, 5) : 1 + below(rng, MOST_PES);

    if (all <= MOST_PES && chance(rng, 40)) {
        judge_all_kernels(t, p);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct judge_end pe = any_end(t, rng, JUDGE_PE);

        if (chance(rng, 50) && judge_has_pe(t, mix->hot_slice.sip, mix->hot_slice.cube, pe.unit)) {
            pe.sip = mix->hot_slice.sip;
            pe.cube = mix->hot_slice.cube;
        }
        if (!is_launched(t, p, &pe))
            judge_add_kernel(p, &pe);
    }
}

static void random_program(const struct judge_topo *t, uint64_t seed, bool overlaps,
                           struct judge_program *p)
{
    struct dice rng = {.state = seed ^ UINT64_C(0x6b65726e656c73)}; /* not its topology's draws */
    struct mix mix = any_mix(t, &rng, overlaps);
    uint64_t state;
    size_t first = p->n;

    any_pes(t, &rng, &mix, p);
    state = rng.state;
    for (size_t i = first; i < p->n; i++) {
        struct maker m = {.t = t, .rng = &rng, .mix = &mix, .p = p, .kernel = i};

        if (mix.alike)
            rng.state = state;
        make_kernel(&m);
    }
}

void judge_random_program(const struct judge_topo *t, uint64_t seed, struct judge_program *p)
{
    random_program(t, seed, false, p);
}

/* -- programs that talk --------------------------------------------------------------------- */

/*
 * What happens between PEs is drawn as a list, and each PE does its part in the list's order. So
 * there is no deadlock: of the first entry that is not done, all PEs that take part have done all
 * entries before. A PE that sends before it receives, or in another order, sends no more than the
 * slots hold.
 */
struct talk {
    const struct judge_topo *t;
    struct dice *rng;
    struct judge_program *p;
    struct maker *makers; /* by kernel, from the first of these */
    size_t n;
    uint32_t slots, slot_bytes;
    struct judge_end sram; /* with cells in it, if there are any */
    bool sram_cells;
    size_t groups; /* the program's, before these */
};

enum { MOST_EVENTS = 16, MOST_AT_ONCE = 4, MOST_BYTES = 16384 };

static uint64_t pieces_of(const struct talk *x, enum judge_dtype dtype, uint64_t elements)
{
    uint64_t most = x->slot_bytes / dtype_bytes[dtype];

    return (elements + most - 1) / most;
}

/* Something to send, of no more than `most` pieces: it is there, or is loaded. */
static struct tensor any_message(struct talk *x, struct maker *m, uint32_t most)
{
    enum judge_dtype dtype = (enum judge_dtype)below(x->rng, COUNT(dtype_bytes));
    uint64_t pieces = 1 + below(x->rng, most);
    uint64_t in_slot = x->slot_bytes / dtype_bytes[dtype];
    uint64_t elements = (pieces - 1) * in_slot + 1 + below(x->rng, in_slot);
    struct tensor old = m->n_tensors ? m->tensors[below(x->rng, m->n_tensors)] : (struct tensor){0};

    if (chance(x->rng, 60) && m->n_tensors > 0 && pieces_of(x, old.dtype, old.elements) <= most) {
        ready(m, old.from);
        return old;
    }
    if (elements * dtype_bytes[dtype] > MOST_BYTES)
        elements = MOST_BYTES / dtype_bytes[dtype];
    add_load(m, dtype, elements);
    old = m->tensors[m->n_tensors - 1];
    ready(m, old.from);
    return old;
}

static struct judge_command message(enum judge_command_kind kind, const struct maker *other,
                                    uint32_t tag, const struct tensor *what)
{
    struct judge_command c = {.kind = kind, .in = what->dtype, .out = what->dtype, .tag = tag};

    c.at = *pe_of(other);
    c.nbytes = what->elements * dtype_bytes[what->dtype];
    c.from = what->from;
    return c;
}

static void add_send(struct maker *from, const struct maker *to, uint32_t tag,
                     const struct tensor *what)
{
    struct judge_command c = message(JUDGE_SEND, to, tag, what);

    add(from, &c);
}

static size_t add_recv(struct maker *to, const struct maker *from, uint32_t tag,
                       const struct tensor *what, bool async)
{
    struct judge_command c = message(JUDGE_RECV, from, tag, what);
    size_t i;

    c.async = async;
    c.from = 0;
    i = add(to, &c);
    add_tensor(to, i, what->dtype, what->elements);
    return i;
}

static struct maker *any_maker(struct talk *x)
{
    return &x->makers[below(x->rng, x->n)];
}

/* Two that differ, often the same two. */
static void any_pair(struct talk *x, struct maker **a, struct maker **b)
{
    size_t i = below(x->rng, x->n), j = below(x->rng, x->n - 1);

    if (chance(x->rng, 40))
        i = j = 0;
    *a = &x->makers[i];
    *b = &x->makers[j + (j >= i)];
    if (chance(x->rng, 50)) {
        struct maker *c = *a;

        *a = *b;
        *b = c;
    }
}

/* Messages of any size, received in the order in which they are sent. */
static void stream(struct talk *x)
{
    uint32_t n = 1 + below(x->rng, 3);
    struct maker *from, *to;

    any_pair(x, &from, &to);
    for (uint32_t i = 0; i < n; i++) {
        struct tensor what = any_message(x, from, 3 * x->slots);
        uint32_t tag = chance(x->rng, 50) ? 0 : below(x->rng, JUDGE_TAGS);

        add_send(from, to, tag, &what);
        add_recv(to, from, tag, &what, chance(x->rng, to->mix->async_per_cent));
    }
}

/* Of those that are not there: any, but under its tag the first. */
static uint32_t first_of_a_tag(struct dice *rng, const uint32_t *tags, const bool *there,
                               uint32_t n)
{
    uint32_t i = below(rng, n), j = 0;

    while (there[i])
        i = (i + 1) % n;
    while (there[j] || tags[j] != tags[i])
        j++;
    return j;
}

/* Messages on several tags, which the receiver takes in an order of its own. */
static void shuffle(struct talk *x)
{
    uint32_t n = 2 + below(x->rng, MOST_AT_ONCE - 1), tags[MOST_AT_ONCE];
    uint64_t used[JUDGE_TAGS] = {0};
    struct tensor what[MOST_AT_ONCE];
    bool there[MOST_AT_ONCE] = {false};
    struct maker *from, *to;

    any_pair(x, &from, &to);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t pieces;

        tags[i] = below(x->rng, 3);
        what[i] = any_message(x, from, x->slots);
        pieces = pieces_of(x, what[i].dtype, what[i].elements);
        if (used[tags[i]] + pieces > x->slots)
            tags[i] = 3 + i;
        used[tags[i]] += pieces;
        add_send(from, to, tags[i], &what[i]);
    }
    for (uint32_t left = n; left > 0; left--) {
        uint32_t i = first_of_a_tag(x->rng, tags, there, n);

        there[i] = true;
        add_recv(to, from, tags[i], &what[i], chance(x->rng, to->mix->async_per_cent));
    }
}

/* Some kernels, each once, in any order. */
static size_t any_makers(struct talk *x, struct maker **some, size_t least)
{
    size_t n = least + below(x->rng, x->n - least + 1);

    for (size_t i = 0; i < x->n; i++)
        some[i] = &x->makers[i];
    for (size_t i = 0; i < n; i++) {
        size_t j = i + below(x->rng, x->n - i);
        struct maker *m = some[i];

        some[i] = some[j];
        some[j] = m;
    }
    return n;
}

/*
 * Each sends to the next under one tag and to the one before under another; of two, both are the
 * same one. More than slots hold can pass only if all can be received meanwhile.
 */
static void ring(struct talk *x)
{
    struct maker **some = judge_alloc(x->n, sizeof *some);
    size_t n = any_makers(x, some, 2);
    bool large = chance(x->rng, 50);
    uint32_t tag = 2 * below(x->rng, JUDGE_TAGS / 2);
    struct tensor *what = judge_alloc(n, sizeof *what);
    size_t(*got)[2] = judge_alloc(n, sizeof *got);

    for (size_t i = 0; i < n; i++)
        what[i] = any_message(x, some[i], large ? 3 * x->slots : x->slots);
    for (size_t i = 0; large && i < n; i++) {
        size_t before = (i + n - 1) % n, next = (i + 1) % n;

        got[i][0] = add_recv(some[i], some[before], tag, &what[before], true);
        got[i][1] = add_recv(some[i], some[next], tag + 1, &what[next], true);
    }
    for (size_t i = 0; i < n; i++) {
        add_send(some[i], some[(i + 1) % n], tag, &what[i]);
        add_send(some[i], some[(i + n - 1) % n], tag + 1, &what[i]);
    }
    for (size_t i = 0; i < n; i++) {
        size_t before = (i + n - 1) % n, next = (i + 1) % n;

        if (large && chance(x->rng, 70)) {
            wait_for(some[i], got[i][1]);
            wait_for(some[i], got[i][0]);
        } else if (!large) {
            add_recv(some[i], some[next], tag + 1, &what[next], false);
            add_recv(some[i], some[before], tag, &what[before], false);
        }
    }
    free(got);
    free(what);
    free(some);
}

/* A group that was there before, or a new one. */
static void meet(struct talk *x, bool all)
{
    struct maker **some = judge_alloc(x->n, sizeof *some);
    size_t n = any_makers(x, some, all ? x->n : 1);
    struct judge_command c = {.kind = JUDGE_BARRIER};
    struct judge_end *pes = judge_alloc(x->n, sizeof *pes);

    for (size_t i = 0; i < n; i++)
        pes[i] = *pe_of(some[i]);
    c.group = x->p->n_groups;
    if (!all && x->p->n_groups > x->groups && chance(x->rng, 50))
        c.group = x->groups + below(x->rng, x->p->n_groups - x->groups);
    else
        judge_add_group(x->p, pes, n);
    for (size_t i = 0; i < x->n; i++) {
        const struct judge_group *g = &x->p->groups[c.group];

        for (size_t j = 0; j < g->n; j++) {
            if (judge_global_pe(x->t, &g->pes[j]) == judge_global_pe(x->t, pe_of(&x->makers[i])))
                add(&x->makers[i], &c);
        }
    }
    free(pes);
    free(some);
}

/* Some add to one of few integers. */
static void count(struct talk *x)
{
    uint32_t n = 1 + below(x->rng, 6);
    bool wide = chance(x->rng, 60);
    struct judge_command c = {.kind = JUDGE_ATOMIC, .in = wide ? JUDGE_I32 : JUDGE_I8};
    uint32_t cell = below(x->rng, 4);

    c.out = c.in;
    c.nbytes = dtype_bytes[c.in];
    c.at = any_maker(x)->mix->hot_slice;
    c.offset = wide ? 4 * cell : JUDGE_CELLS + cell;
    if (x->sram_cells && chance(x->rng, 50)) {
        c.at = x->sram;
        c.offset += JUDGE_CELLS_AT;
    }
    for (uint32_t i = 0; i < n; i++) {
        c.value = (int64_t)below(x->rng, 1 << 20) - (1 << 19);
        add(any_maker(x), &c);
    }
}

/* The first bytes of a slice become those of the SRAM, before any PE adds to them. */
static void make_cells(struct talk *x)
{
    struct maker *m = any_maker(x);
    struct judge_command c = {.kind = JUDGE_LOAD, .in = JUDGE_I32, .out = JUDGE_I32};

    c.nbytes = 2 * JUDGE_CELLS;
    c.at = judge_home_slice(m->t, pe_of(m));
    c.from = add(m, &c);
    c.kind = JUDGE_STORE;
    c.at = x->sram;
    c.offset = JUDGE_CELLS_AT;
    add(m, &c);
    meet(x, true);
}

static void make_talk(struct talk *x)
{
    uint32_t n = 2 + below(x->rng, MOST_EVENTS);

    if (x->sram_cells)
        make_cells(x);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t kind = x->n < 2 ? 4 + below(x->rng, 5) : below(x->rng, 9);

        if (kind < 2)
            stream(x);
        else if (kind == 2)
            shuffle(x);
        else if (kind == 3)
            ring(x);
        else if (kind == 4)
            meet(x, false);
        else if (kind == 5)
            count(x);
        else
            make_step(any_maker(x));
    }
}

static void random_talk(const struct judge_topo *t, uint64_t seed, bool overlaps,
                        struct judge_program *p)
{
    struct dice rng = {.state = seed ^ UINT64_C(0x74616c6b)};
    struct mix mix = any_mix(t, &rng, overlaps);
    size_t first = p->n;
    struct talk x = {.t = t, .rng = &rng, .p = p, .sram = mix.hot_sram, .groups = p->n_groups};

    any_pes(t, &rng, &mix, p);
    for (int i = 0; i < 4 && p->n < first + 2; i++) {
        struct judge_end other = any_end(t, &rng, JUDGE_PE);

        if (!is_launched(t, p, &other))
            judge_add_kernel(p, &other);
    }
    x.n = p->n - first;
    x.makers = judge_alloc(x.n, sizeof *x.makers);
    for (size_t i = 0; i < x.n; i++) {
        x.makers[i] = (struct maker){.t = t, .rng = &rng, .mix = &mix, .p = p, .kernel = first + i};
        x.makers[i].reserved = JUDGE_WINDOW / 2;
    }
    x.slots = judge_count(t, "cube.pe.pe_ipcq.slots");
    x.slot_bytes = judge_count(t, "cube.pe.pe_ipcq.slot_bytes");
    x.sram_cells = chance(&rng, 40);
    make_talk(&x);
    for (size_t i = 0; i < x.n; i++)
        drop_maker(&x.makers[i]);
    free(x.makers);
}

void judge_random_talk(const struct judge_topo *t, uint64_t seed, struct judge_program *p)
{
    random_talk(t, seed, false, p);
}

void judge_random_overlap(const struct judge_topo *t, uint64_t seed, bool talks,
                          struct judge_program *p)
{
    (talks ? random_talk : random_program)(t, seed, true, p);
}
