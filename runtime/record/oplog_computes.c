/* oplog_computes.c -- the operations of the log that Phase 2 computes, and the references that the
 * log holds for it.
 *
 * A record of a GEMM or MATH is noted by its place when it is first looked for; each record is
 * looked at once. Places are sorted by id, to be found, and as an operation mostly has a larger id
 * than those whose results it reads. New ones are merged in: a run that asks for values looks for
 * them again and again.
 */
#include "machine/endpoint.h"
#include "record/record.h"
#include <stdlib.h>
#include <string.h>

static void drop_view(const struct op_tensor *t)
{
    if (!t->is_scalar && t->view.v)
        version_drop(t->view.v);
}

/*
 * The next record of a GEMM or MATH that was not found by an earlier call. NULL: no more. Each
 * record is looked at once, also if a simulation has many launches with Phase 2 after each.
 */
static const struct record *next_compute(struct op_log *log, struct place *place)
{
    while (log->next_chunk < log->n_chunks) {
        const struct chunk *c = &log->chunks[log->next_chunk];
        const struct record *records = chunk_records(log, c);

        while (log->next_record < c->n) {
            const struct record *r = &records[log->next_record++];

            if (!record_is_compute(r))
                continue;
            *place = (struct place){r->id, log->next_chunk, log->next_record - 1, false, false};
            return r;
        }
        if (log->next_chunk + 1 == log->n_chunks)
            break; /* it may get more records */
        log->next_chunk++;
        log->next_record = 0;
    }
    return NULL;
}

static const struct record *record_at(const struct op_log *log, const struct place *p)
{
    return &chunk_records(log, &log->chunks[p->chunk])[p->record];
}

static bool computes_grow(struct op_log *log)
{
    uint64_t cap = log->computes_cap ? 2 * log->computes_cap : 64;
    struct place *moved;

    if (log->n_computes < log->computes_cap)
        return true;
    moved = realloc(log->computes, cap * sizeof *moved);
    if (!moved)
        return false;
    log->computes = moved;
    log->computes_cap = cap;
    return true;
}

static void forget_taken(struct op_log *log)
{
    uint64_t n = 0;

    for (uint64_t i = 0; i < log->n_computes; i++)
        if (!log->computes[i].taken)
            log->computes[n++] = log->computes[i];
    log->n_computes = n;
}

static int by_id(const void *a, const void *b)
{
    uint32_t x = ((const struct place *)a)->id, y = ((const struct place *)b)->id;

    return x < y ? -1 : x > y;
}

/* Gives back the references that a record holds. */
static void drop_views(const struct op_log *log, const struct place *p)
{
    struct op op;

    op_unpack(record_at(log, p), chunk_bytes(log, &log->chunks[p->chunk]), &op);
    op_each_tensor(&op, drop_view);
}

/* Its result was computed before its record was written: it is over. */
static bool was_early(const struct op_log *log, const struct place *p)
{
    struct op op;

    if (!log->early)
        return false;
    op_unpack(record_at(log, p), chunk_bytes(log, &log->chunks[p->chunk]), &op);
    if (!version_ready(op.out.view.v))
        return false;
    op_each_tensor(&op, drop_view);
    return true;
}

/* Merges those from `n` on, which are sorted by id, with the others, which are. False: no memory.
 */
static bool merge_computes(struct op_log *log, uint64_t n)
{
    uint64_t more = log->n_computes - n, at = log->n_computes;
    struct place *all = log->computes, *copy;

    if (n == 0 || more == 0 || all[n - 1].id < all[n].id)
        return true;
    copy = malloc(more * sizeof *copy);
    if (!copy)
        return false;
    memcpy(copy, all + n, more * sizeof *copy);
    while (more > 0)
        all[--at] = n > 0 && all[n - 1].id > copy[more - 1].id ? all[--n] : copy[--more];
    free(copy);
    return true;
}

kb_status op_log_computes(struct op_log *log, uint64_t *n, kb_error *why)
{
    struct place place;
    uint64_t before;

    if (!log->keep)
        return endpoint_error(why, "the op log keeps no operands");
    if (log->status != KB_OK)
        return op_log_error(log, why);
    forget_taken(log);
    before = log->n_computes;
    while (computes_grow(log)) {
        if (next_compute(log, &place)) {
            log->computes[log->n_computes] = place;
            log->n_computes += !was_early(log, &place);
            continue;
        }
        if (log->n_computes > before)
            qsort(log->computes + before, log->n_computes - before, sizeof place, by_id);
        *n = log->n_computes;
        if (merge_computes(log, before))
            return KB_OK;
        break;
    }
    endpoint_error(why, "out of memory after %llu operations", (unsigned long long)log->n_computes);
    return KB_NO_MEMORY;
}

kb_status op_log_compute(struct op_log *log, uint64_t i, struct op *op, kb_error *why)
{
    const struct place *p = &log->computes[i];
    const struct record *r = record_at(log, p);
    uint32_t *ids;

    op_unpack(r, chunk_bytes(log, &log->chunks[p->chunk]), op);
    if (!op->depends.ids)
        return KB_OK;
    ids = malloc(op->depends.n * sizeof *ids);
    if (!ids) {
        endpoint_error(why, "out of memory");
        return KB_NO_MEMORY;
    }
    memcpy(ids, op->depends.ids, op->depends.n * sizeof *ids);
    op->depends.ids = ids;
    op->depends.cap = op->depends.n;
    return KB_OK;
}

void op_log_computed_early(struct op_log *log)
{
    log->early = true;
}

void op_log_computed(struct op_log *log, uint64_t i, struct op *op)
{
    drop_views(log, &log->computes[i]);
    log->computes[i].taken = true;
    op_ids_clear(&op->depends);
}

uint64_t op_log_compute_of(const struct op_log *log, uint32_t id)
{
    const struct place key = {.id = id};
    const struct place *p =
        log->n_computes ? bsearch(&key, log->computes, log->n_computes, sizeof key, by_id) : NULL;

    return p && !p->taken ? (uint64_t)(p - log->computes) : OP_LOG_NONE;
}

bool op_log_mark(struct op_log *log, uint64_t i)
{
    bool marked = log->computes[i].marked;

    log->computes[i].marked = true;
    return !marked;
}

void op_log_unmark(struct op_log *log, uint64_t i)
{
    log->computes[i].marked = false;
}

void op_log_drop_computes(struct op_log *log)
{
    struct place place;

    for (uint64_t i = 0; i < log->n_computes; i++)
        if (!log->computes[i].taken)
            drop_views(log, &log->computes[i]);
    while (next_compute(log, &place))
        drop_views(log, &place);
}
