/* cone.c -- which operations a version depends on: those that must be computed for its bytes.
 *
 * A version that is pending is the result of an operation of the log, or has pieces that are. The
 * operation's operands are versions again. The walk goes from the version down to what is known,
 * with a list instead of a recursion: a chain may have millions of operations. Each is taken once,
 * and what it makes has bytes afterwards, so all cones of a run together are computed once.
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

static bool numbers_grow(struct numbers *out)
{
    uint32_t cap = out->cap ? 2 * out->cap : 256, *moved;

    if (out->n < out->cap)
        return true;
    moved = cap > out->cap ? realloc(out->number, cap * sizeof *moved) : NULL;
    if (!moved)
        return false;
    out->number = moved;
    out->cap = cap;
    return true;
}

/* The operation that makes `v` joins the cone, and its operands are to be looked at. */
static kb_status take(struct walk *w, const struct version *v, struct numbers *out, kb_error *why)
{
    uint64_t i = op_log_compute_of(w->log, v->op);
    struct op op;
    kb_status status;

    if (i == OP_LOG_NONE) {
        endpoint_error(why,
                       "the value depends on what a command makes that is under way (op %u): wait "
                       "for that command",
                       v->op);
        return KB_KERNEL_ERROR;
    }
    if (!op_log_mark(w->log, i))
        return KB_OK;
    if (!numbers_grow(out))
        return KB_NO_MEMORY;
    out->number[out->n++] = (uint32_t)i;
    status = op_log_compute(w->log, i, &op, why);
    if (status)
        return status;
    graph_operands(&op, push_operand, w);
    op_ids_clear(&op.depends);
    return KB_OK;
}

static kb_status look_at(struct walk *w, struct version *v, struct numbers *out, kb_error *why)
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

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

kb_status cone_of(struct op_log *log, struct version *v, struct numbers *out, kb_error *why)
{
    struct walk w = {.log = log};
    kb_status status = KB_OK;

    *out = (struct numbers){.n = 0};
    push(&w, v);
    while (w.n > 0 && !status && !w.no_memory)
        status = look_at(&w, w.left[--w.n], out, why);
    free(w.left);
    for (uint32_t i = 0; i < out->n; i++)
        op_log_unmark(log, out->number[i]);
    if (w.no_memory || status == KB_NO_MEMORY) {
        endpoint_error(why, "out of memory");
        return KB_NO_MEMORY;
    }
    if (out->n)
        qsort(out->number, out->n, sizeof *out->number, by_number);
    return status;
}
