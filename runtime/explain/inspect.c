/* inspect.c -- one operation: its record, its operands and results, and those before and after it.
 *
 * kb_inspect() looks an operation up in the op log. Its record says where operands lie and which
 * operations it depends on; the versions that the log keeps say which bytes they had then, although
 * the memory may have been overwritten since. Operations that depend on it are found by looking
 * through the log behind it. A stage is shown as its command, a receive as the piece of a message
 * that it takes. Values are computed when they are asked for, by Phase 2, up to this operation.
 */
#include "machine/address.h"
#include "machine/endpoint.h"
#include "data/host.h"
#include "kernels/kernels.h"
#include "record/record.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TENSORS_MAX = 4 + 2 * TL_EPILOGUES_MAX };

_Static_assert(KB_LAST_OP == OP_NONE, "no operation has this id");

struct kb_inspection {
    kb_op_info info;
    struct kb_sim *sim; /* borrowed */
    char *params;       /* owned */
    kb_op_tensor tensors[TENSORS_MAX];
    struct view views[TENSORS_MAX];     /* owned; NULL: none is kept */
    kb_op_brief *producers, *consumers; /* owned */
    const struct record *record;        /* borrowed from the log, as its chunk */
    const unsigned char *chunk;
    struct op op; /* its views are borrowed, too */
};

static kb_status no_memory(kb_error *why)
{
    endpoint_error(why, "out of memory");
    return KB_NO_MEMORY;
}

/* -- in brief ------------------------------------------------------------------------------- */

static bool is_dma(const struct record *r)
{
    return r->type == OP_DMA_READ || r->type == OP_DMA_WRITE;
}

static bool set_brief(struct kb_sim *s, const struct record *r, const unsigned char *chunk,
                      kb_op_brief *out)
{
    const struct kb_tensor *x = NULL;

    *out = (kb_op_brief){.id = r->id, .start_fs = r->start_fs, .end_fs = r->end_fs};
    if (!op_log_name(r, chunk, out->name))
        return false;
    op_log_component(s->log, r, chunk, out->component);
    if (is_dma(r))
        x = host_tensor_at(s->host, r->type == OP_DMA_READ ? r->dma.src : r->dma.dst, out->index);
    if (x) {
        out->tensor = kb_tensor_name(x);
        out->rank = kb_tensor_shape(x).rank;
    }
    return true;
}

/* -- operands and results ------------------------------------------------------------------- */

static void set_place(struct kb_sim *s, kb_op_tensor *t)
{
    const struct kb_tensor *x = host_tensor_at(s->host, t->address, t->index);
    uint32_t dst;

    if (address_find(s->topo, t->address, &dst, &t->offset))
        t->memory = endpoint_unpack_memory(s->topo, dst);
    t->tensor = x ? kb_tensor_name(x) : NULL;
    t->rank = x ? kb_tensor_shape(x).rank : 0;
}

/* Which operation made the bytes of an operand, as its record says. */
static void set_origin(const kb_inspection *in, kb_op_tensor *t, struct view view)
{
    if (in->op.kind == OP_DMA_READ) { /* the write that put them where they are read */
        t->from_host = in->op.depends.n == 0;
        if (in->op.depends.n == 1)
            t->maker = op_ids_list(&in->op.depends)[0];
        return;
    }
    t->from_host = t->maker == OP_NONE && view.v && view.v->kind == VERSION_BYTES;
}

/* `view` may be of bytes that are not kept. */
static void add_tensor(kb_inspection *in, const char *role, const struct op_tensor *from,
                       bool is_result, struct view view)
{
    kb_op_tensor *t = &in->tensors[in->info.n_tensors];

    *t = (kb_op_tensor){.is_result = is_result,
                        .is_scalar = from->is_scalar,
                        .scalar = from->scalar,
                        .address = from->address,
                        .dtype = (kb_dtype)from->dtype,
                        .shape.rank = from->shape.rank,
                        .maker = is_result ? in->op.id : from->maker};
    snprintf(t->role, sizeof t->role, "%s", role);
    for (uint32_t i = 0; i < from->shape.rank; i++)
        t->shape.dim[i] = from->shape.dim[i];
    if (!t->is_scalar && from->space != SPACE_ACC)
        set_place(in->sim, t);
    if (!t->is_scalar && !is_result)
        set_origin(in, t, view);
    if (!t->is_scalar && view.v) {
        in->views[in->info.n_tensors] = view;
        version_keep(view.v);
    }
    in->info.n_tensors++;
}

/* Both ends of a DMA have the bytes that it moved. */
static void add_dma(kb_inspection *in)
{
    const struct op_note *note = op_log_note_of(in->sim->log, in->op.id);
    struct view moved = note ? note->moved : (struct view){NULL, 0};
    struct op_tensor out = in->op.out;

    out.shape = in->op.in[0].shape;
    out.dtype = in->op.in[0].dtype;
    add_tensor(in, "src", &in->op.in[0], false, moved);
    add_tensor(in, "dst", &out, true, moved);
}

static void add_epilogue(kb_inspection *in, uint32_t i, bool keeps)
{
    const struct op_epilogue *e = &in->op.epilogue[i];

    for (uint32_t k = 0; k < e->n_operands; k++) {
        char role[16];

        snprintf(role, sizeof role, "epilogue%u.%u", i % 100, k % 10);
        add_tensor(in, role, &e->operand[k], false,
                   keeps ? e->operand[k].view : (struct view){NULL, 0});
    }
}

/* Each result of a fused operation as it is stored. */
static void add_results(kb_inspection *in, bool keeps)
{
    const struct op *op = &in->op;
    struct op_result result[TL_FUSED_STEPS];
    struct dims shape[TL_FUSED_STEPS];
    uint32_t n;

    op_fused_shapes(op, shape);
    n = op_fused_results(op, shape, result);
    for (uint32_t i = 0; i < n; i++) {
        struct op_tensor out = op->out;
        char role[16];

        snprintf(role, sizeof role, "out%u", i % 100);
        out.address += result[i].at;
        out.view.offset += result[i].at;
        out.dtype = op->step[result[i].step].out;
        out.shape = shape[result[i].step];
        add_tensor(in, role, &out, true, keeps ? out.view : (struct view){NULL, 0});
    }
}

static void add_compute(kb_inspection *in, bool keeps)
{
    static const char *const gemm[] = {"a", "b", "sum"};
    static const char *const math[TL_FUSED_INPUTS] = {"in0", "in1", "in2", "in3",
                                                      "in4", "in5", "in6", "in7"};
    const struct op *op = &in->op;

    for (uint32_t i = 0; i < op->n_in; i++)
        add_tensor(in, op->kind == OP_GEMM ? gemm[i] : math[i], &op->in[i], false,
                   keeps ? op->in[i].view : (struct view){NULL, 0});
    for (uint32_t i = 0; i < op->n_epilogues; i++)
        add_epilogue(in, i, keeps);
    if (op->kind == OP_MATH && op->math == TL_FUSED)
        add_results(in, keeps);
    else
        add_tensor(in, "out", &op->out, true, keeps ? op->out.view : (struct view){NULL, 0});
}

/* The log keeps no data of an operation that Phase 2 has computed. */
static kb_status add_tensors(kb_inspection *in, kb_error *why)
{
    struct op_log *log = in->sim->log;
    uint64_t n;

    if (is_dma(in->record)) {
        add_dma(in);
        return KB_OK;
    }
    kb_status status = log->keep ? op_log_computes(log, &n, why) : KB_OK;
    if (!status)
        add_compute(in, log->keep && op_log_compute_of(log, in->op.id) != OP_LOG_NONE);
    return status;
}

/* -- producers and consumers ---------------------------------------------------------------- */

static bool add_brief(kb_inspection *in, kb_op_brief **list, size_t *n, const struct record *r,
                      const unsigned char *chunk)
{
    kb_op_brief *moved = *list;

    if ((*n & (*n - 1)) == 0) /* full: room for twice as many */
        moved = realloc(*list, (*n ? 2 * *n : 1) * sizeof *moved);
    if (!moved)
        return false;
    *list = moved;
    return set_brief(in->sim, r, chunk, &moved[(*n)++]);
}

static bool has_id(const struct op_ids *set, uint32_t id)
{
    const uint32_t *ids = op_ids_list(set);

    for (uint32_t i = 0; i < set->n; i++)
        if (ids[i] == id)
            return true;
    return false;
}

/* The records that ours depends on, and those that depend on it. */
static bool look_at(kb_inspection *in, const struct record *r, const unsigned char *chunk)
{
    struct op op;

    if (record_is_token(r))
        return true;
    if (has_id(&in->op.depends, r->id))
        return add_brief(in, &in->producers, &in->info.n_producers, r, chunk);
    if (r->id <= in->op.id) /* a producer's id is smaller */
        return true;
    op_unpack(r, chunk, &op);
    return !has_id(&op.depends, in->op.id) ||
           add_brief(in, &in->consumers, &in->info.n_consumers, r, chunk);
}

static int by_id(const void *a, const void *b)
{
    uint32_t x = ((const kb_op_brief *)a)->id, y = ((const kb_op_brief *)b)->id;

    return x < y ? -1 : x > y;
}

static bool add_neighbours(kb_inspection *in)
{
    const struct op_log *log = in->sim->log;
    bool ok = true;

    for (uint32_t c = 0; c < log->n_chunks; c++) {
        const struct record *r = chunk_records(log, &log->chunks[c]);

        for (uint32_t i = 0; i < log->chunks[c].n && ok; i++)
            ok = look_at(in, &r[i], chunk_bytes(log, &log->chunks[c]));
    }
    if (in->info.n_producers)
        qsort(in->producers, in->info.n_producers, sizeof *in->producers, by_id);
    if (in->info.n_consumers)
        qsort(in->consumers, in->info.n_consumers, sizeof *in->consumers, by_id);
    in->info.producers = in->producers;
    in->info.consumers = in->consumers;
    return ok;
}

/* -- the whole ------------------------------------------------------------------------------ */

/* A receive, or one of its pieces, is looked at as the piece of a message that it takes. */
static void find_message(kb_inspection *in, uint32_t receive, uint32_t piece)
{
    const struct op_note *note = op_log_note_of(in->sim->log, receive);

    if (note && note->message != OP_NONE)
        in->record = op_log_find(in->sim->log, note->message + piece, &in->chunk);
}

/* A stage is looked at as its command. */
static bool find_record(kb_inspection *in, uint32_t id)
{
    struct op_token token = {.parent = id};

    in->record = op_log_find(in->sim->log, id, &in->chunk);
    in->info.asked = in->record ? in->record->id : id;
    if (in->record && record_is_token(in->record)) {
        op_token_unpack(in->record, in->chunk, &token);
        in->record = op_log_find(in->sim->log, token.parent, &in->chunk);
    }
    if (!in->record)
        find_message(in, token.parent, token.token);
    return in->record != NULL;
}

static void set_info(kb_inspection *in)
{
    const struct op_note *note = op_log_note_of(in->sim->log, in->op.id);

    in->info.pe = in->op.pe;
    in->info.region = in->op.region;
    in->info.issue_fs = in->op.t_issue_fs;
    in->info.tensors = in->tensors;
    if (!note)
        return;
    in->info.kernel = note->kernel;
    in->info.file = note->file;
    in->info.line = note->line;
}

static uint32_t last_id(const struct op_log *log)
{
    uint32_t last = 0;

    for (uint32_t c = 0; c < log->n_chunks; c++) {
        const struct record *r = chunk_records(log, &log->chunks[c]);

        for (uint32_t i = 0; i < log->chunks[c].n; i++)
            last = r[i].id > last ? r[i].id : last;
    }
    return last;
}

static kb_status no_record(const struct op_log *log, uint32_t id, kb_error *why)
{
    if (op_log_count(log) == 0)
        return endpoint_error(why, "there are no operations");
    if (id < last_id(log))
        return endpoint_error(why, "operation %u has no record, as a barrier has none", id);
    return endpoint_error(why, "no operation has id %u: ids are 0..%u", id, last_id(log));
}

static kb_status inspect(kb_inspection *in, uint32_t id, kb_error *why)
{
    struct op_log *log = in->sim->log;

    if (!find_record(in, id))
        return no_record(log, id, why);
    op_unpack(in->record, in->chunk, &in->op);
    set_info(in);
    in->info.params = in->params = op_log_params(in->record, in->chunk);
    if (!in->params || !set_brief(in->sim, in->record, in->chunk, &in->info.op) ||
        !add_neighbours(in))
        return no_memory(why);
    return add_tensors(in, why);
}

kb_status kb_inspect(kb_sim *s, uint32_t id, kb_inspection **out, kb_error *why)
{
    REFUSE_NULL(s && out, "sim, out", why);
    kb_inspection *in;
    kb_status status;

    *out = NULL;
    if (s->kernels && launches_under_way(s->kernels) > 0)
        return endpoint_error(why, "a launch is under way");
    if (!s->options.inspect || !s->log)
        return endpoint_error(why,
                              "the simulation keeps no operations to be looked at: it needs option "
                              "inspect, and oplog or phase2");
    in = calloc(1, sizeof *in);
    if (!in)
        return no_memory(why);
    in->sim = s;
    status = inspect(in, id, why);
    if (status)
        kb_inspection_free(in);
    else
        *out = in;
    return status;
}

/* Elements of one operand may lie in pieces, which are gathered. */
const kb_op_info *kb_inspection_info(kb_inspection *in)
{
    for (size_t i = 0; i < in->info.n_tensors; i++) {
        const struct view *view = &in->views[i];
        const unsigned char *bytes;

        if (!view->v || in->tensors[i].bytes || !version_ready(view->v))
            continue;
        bytes = version_bytes(view->v);
        in->tensors[i].bytes = bytes ? bytes + view->offset : NULL;
    }
    return &in->info;
}

void kb_inspection_free(kb_inspection *in)
{
    if (!in)
        return;
    for (size_t i = 0; i < in->info.n_tensors; i++)
        version_drop(in->views[i].v);
    free(in->params);
    free(in->producers);
    free(in->consumers);
    free(in);
}
