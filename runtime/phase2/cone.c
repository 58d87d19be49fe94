/* cone.c -- which operations a version depends on: those that must be computed for its bytes.
 *
 * A version that is pending is the result of an operation of the log, or has pieces that are. The
 * operation's operands are versions again. The walk goes from the version down to what is known,
 * with a list instead of a recursion: a chain may have millions of operations. Each is taken once,
 * and what it makes has bytes afterwards, so all cones of a run together are computed once. kept.c
 * asks for the cone of all that is alive.
 *
 * An operation is in the log when its engine has ended. One whose result is seen before, as that of
 * a composite that another PE loads from, is found among the commands that are under way.
 *
 * Example: op 12 multiplies the results of ops 3 and 7, and op 15 adds to that of 12. The cone of
 * 15 is 3, 7, 12, 15. If 12 was computed for another value before, it is 15 alone.
 */
#include "phase2/cone.h"
#include "machine/endpoint.h"
#include "phase2/graph.h"
#include <stdlib.h>

/* The versions that are to be looked at. */
struct walk {
    struct op_log *log;
    const struct under_way *under_way;
    struct version **left; /* owned */
    size_t n, cap;
    bool no_memory;
};

static void push(struct walk *w, struct version *v)
{
    size_t cap = w->cap ? 2 * w->cap : 256;
    struct version **moved;

    if (w->n == w->cap) {
        moved = realloc(w->left, cap * sizeof *moved);
        if (!moved) {
            w->no_memory = true;
            return;
        }
        w->left = moved;
        w->cap = cap;
    }
    w->left[w->n++] = v;
}

static void push_operand(void *arg, struct op_tensor *t)
{
    if (!version_ready(t->view.v))
        push(arg, t->view.v);
}

/* The new row of an operation; NULL: no memory. */
static struct operation *add(struct operations *out)
{
    uint32_t cap = out->cap ? 2 * out->cap : 256;
    struct operation *moved;

    if (out->n == out->cap) {
        moved = cap > out->cap ? realloc(out->of, cap * sizeof *moved) : NULL;
        if (!moved)
            return NULL;
        out->of = moved;
        out->cap = cap;
    }
    return &out->of[out->n++];
}

static bool has_live(const struct operations *all, const struct op *live)
{
    for (uint32_t i = 0; i < all->n; i++)
        if (all->of[i].live == live)
            return true;
    return false;
}

/* The operation that makes `v`; false: it is in the cone already, or there is none. */
static bool find(struct walk *w, const struct version *v, const struct operations *out,
                 struct operation *o, kb_status *status)
{
    uint64_t i = op_log_compute_of(w->log, v->op);

    *o = (struct operation){.id = v->op, .number = (uint32_t)i};
    if (i != OP_LOG_NONE)
        return op_log_mark(w->log, i);
    o->live = w->under_way->find(w->under_way->arg, v->op);
    if (!o->live)
        *status = KB_INTERNAL;
    return o->live && !has_live(out, o->live);
}

/* The operation that makes `v` joins the cone, and its operands are to be looked at. */
static kb_status take(struct walk *w, const struct version *v, struct operations *out,
                      kb_error *why)
{
    struct operation o, *row;
    struct op op;
    kb_status status = KB_OK;

    if (!find(w, v, out, &o, &status)) {
        if (status)
            endpoint_error(why, "op %u: an operand that nothing computes", v->op);
        return status;
    }
    row = add(out);
    if (!row)
        return KB_NO_MEMORY;
    *row = o;
    status = operation_get(w->log, &o, &op, why);
    if (status)
        return status;
    graph_operands(&op, push_operand, w);
    op_ids_clear(&op.depends);
    return KB_OK;
}

static kb_status look_at(struct walk *w, struct version *v, struct operations *out, kb_error *why)
{
    if (version_ready(v))
        return KB_OK;
    if (v->kind != VERSION_PIECES)
        return take(w, v, out, why);
    for (uint32_t i = 0; i < v->n_pieces; i++)
        if (!version_ready(v->pieces[i].part.v))
            push(w, v->pieces[i].part.v);
    return KB_OK;
}

static int by_id(const void *a, const void *b)
{
    uint32_t x = ((const struct operation *)a)->id, y = ((const struct operation *)b)->id;

    return x < y ? -1 : x > y;
}

kb_status cone_of(struct op_log *log, const struct under_way *under_way, struct version *const *v,
                  uint64_t n, struct operations *out, kb_error *why)
{
    struct walk w = {.log = log, .under_way = under_way};
    kb_status status = KB_OK;

    *out = (struct operations){.n = 0};
    for (uint64_t i = 0; i < n; i++)
        push(&w, v[i]);
    while (w.n > 0 && !status && !w.no_memory)
        status = look_at(&w, w.left[--w.n], out, why);
    free(w.left);
    for (uint32_t i = 0; i < out->n; i++)
        if (!out->of[i].live)
            op_log_unmark(log, out->of[i].number);
    if (w.no_memory || status == KB_NO_MEMORY) {
        endpoint_error(why, "out of memory");
        return KB_NO_MEMORY;
    }
    if (out->n)
        qsort(out->of, out->n, sizeof *out->of, by_id);
    return status;
}

kb_status operation_get(struct op_log *log, const struct operation *o, struct op *op, kb_error *why)
{
    if (!o->live)
        return op_log_compute(log, o->number, op, why);
    op_copy(op, o->live);
    op->depends = (struct op_ids){.n = 0};
    return KB_OK;
}

void operation_computed(struct op_log *log, const struct operation *o, struct op *op)
{
    if (o->live)
        op_log_computed_early(log);
    else
        op_log_computed(log, o->number, op);
}
