/* kept.c -- which operations of the log are still needed while a run goes on.
 *
 * The log holds a reference to each operand and result of the operations that it keeps for Phase 2.
 * A version that has no other reference is seen by no tensor, memory or message any more: it is
 * *dead*, unless it is an operand of an operation that is needed. So the references of the log are
 * taken off all counts, results that then have some are alive, and the references are put back.
 * What is alive, and all that it depends on (cone.c), is needed; the rest is dropped, and never
 * computed.
 *
 * Example: a loop makes y = f(x), z = g(y), gives y and z back, and begins again. After two rounds
 * the log has f, g, f, g. If the kernel holds only the second z, the first f and g are dropped, and
 * the second are needed: g is alive, and f its cone.
 */
#include "phase2/cone.h"
#include "phase2/graph.h"
#include <stdlib.h>

/* All references of the log: to operands, and to the results, one for each operation. */
struct references {
    struct version **to, **results; /* owned; borrowed from the log */
    uint64_t n, room;
    bool no_memory;
};

static void add(void *arg, struct op_tensor *t)
{
    struct references *r = arg;
    uint64_t room = r->room ? 2 * r->room : 4096;
    struct version **moved;

    if (r->n == r->room) {
        moved = realloc(r->to, room * sizeof *moved);
        r->no_memory = r->no_memory || !moved;
        if (!moved)
            return;
        r->to = moved;
        r->room = room;
    }
    r->to[r->n++] = t->view.v;
}

static kb_status find_references(struct op_log *log, uint64_t n, struct references *r,
                                 kb_error *why)
{
    r->results = malloc(n * sizeof *r->results);
    for (uint64_t i = 0; r->results && i < n; i++) {
        struct op op;
        kb_status status = op_log_compute(log, i, &op, why);

        if (status)
            return status;
        graph_operands(&op, add, r);
        add(r, &op.out);
        r->results[i] = op.out.view.v;
        op_ids_clear(&op.depends);
    }
    return r->results && !r->no_memory ? KB_OK : KB_NO_MEMORY;
}

/* Leaves those of the `n` results that have other references than these; their number. */
static uint64_t leave_alive(struct references *r, uint64_t n)
{
    uint64_t alive = 0;

    for (uint64_t i = 0; i < r->n; i++)
        r->to[i]->refs--;
    for (uint64_t i = 0; i < n; i++)
        if (r->results[i]->refs > 0)
            r->results[alive++] = r->results[i];
    for (uint64_t i = 0; i < r->n; i++)
        r->to[i]->refs++;
    return alive;
}

/* Gives back what the log holds of all operations that are not in `needed`. */
static kb_status drop_others(struct op_log *log, uint64_t n, const struct operations *needed,
                             kb_error *why)
{
    bool *is_needed = calloc(n, sizeof *is_needed);

    if (!is_needed)
        return KB_NO_MEMORY;
    for (uint32_t i = 0; i < needed->n; i++)
        if (!needed->of[i].live)
            is_needed[needed->of[i].number] = true;
    for (uint64_t i = 0; i < n; i++) {
        struct op op;

        if (!is_needed[i] && op_log_compute(log, i, &op, why) == KB_OK)
            op_log_computed(log, i, &op);
    }
    free(is_needed);
    return KB_OK;
}

kb_status kept_needed(struct op_log *log, const struct under_way *under_way, struct operations *out,
                      kb_error *why)
{
    struct references r = {.n = 0};
    uint64_t n;
    kb_status status = op_log_computes(log, &n, why);

    *out = (struct operations){.n = 0};
    if (status || n == 0)
        return status;
    status = find_references(log, n, &r, why);
    if (!status)
        status = cone_of(log, under_way, r.results, leave_alive(&r, n), out, why);
    if (!status)
        status = drop_others(log, n, out, why);
    free(r.to);
    free(r.results);
    return status;
}
