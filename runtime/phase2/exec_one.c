/* exec_one.c -- one operation of Phase 2: its result, its verification, its failure. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "machine/endpoint.h"
#include "machine/pes.h"
#include "data/dtype.h"
#include "phase2/exec_parts.h"
#include "phase2/math_op.h"
#include "phase2/reference.h"

/* -- failing -------------------------------------------------------------------------------- */

/* Of several failures that of the lowest id is reported. Returns false. */
bool exec_fail(struct exec *exec, uint32_t op_id, kb_status status, const kb_error *why)
{
    pthread_mutex_lock(&exec->lock);
    if (exec->status == KB_OK || op_id < exec->failed || status != KB_DIFFERENT) {
        exec->status = status;
        exec->failed = op_id;
        if (why)
            exec->why = *why;
        else
            endpoint_error(&exec->why, "out of memory");
    }
    pthread_mutex_unlock(&exec->lock);
    return false;
}

/*
 * An operation is wrong. Later ones need not be computed, but earlier ones that are still running
 * may be wrong, too, and then they are to be reported. Ids and nodes have the same order.
 */
static bool differ(struct exec *exec, const struct running *r, const kb_error *why)
{
    pthread_mutex_lock(&exec->lock);
    if (r->node < exec->bound)
        exec->bound = r->node;
    pthread_mutex_unlock(&exec->lock);
    return exec_fail(exec, r->op.id, KB_DIFFERENT, why);
}

bool exec_no_memory(struct exec *exec, const struct running *r)
{
    return exec_fail(exec, r->op.id, KB_NO_MEMORY, NULL);
}

/* -- one operation -------------------------------------------------------------------------- */

struct bind {
    struct exec *exec;
    struct running *r;
    bool ok;
};

/* Copies an operand that is not aligned to its elements: its bytes may have been stored elsewhere,
 * as elements of another type. */
static void align_operand(struct bind *b, struct op_tensor *t)
{
    uint64_t nbytes = dtype_size(t->dtype, dims_elements(&t->shape));
    const unsigned char *at = t->view.v->bytes + t->view.offset;
    struct version *copy;

    if ((uintptr_t)at % dtype_cell(t->dtype) == 0)
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

/* Pieces are gathered by the first operation that needs them. */
static void bind_operand(void *arg, struct op_tensor *t)
{
    struct bind *b = arg;

    if (t->view.v->kind == VERSION_PIECES) {
        pthread_mutex_lock(&b->exec->lock);
        b->ok = b->ok && version_bytes(t->view.v);
        pthread_mutex_unlock(&b->exec->lock);
    }
    if (b->ok)
        align_operand(b, t);
}

/* Unpacks operation `node`, binds its operands, and makes room for its result. */
bool exec_start(struct exec *exec, uint32_t node, struct running *r)
{
    struct bind b = {exec, r, true};
    kb_error why;
    kb_status status = operation_get(exec->log, &exec->graph.operations.of[node], &r->op, &why);

    r->node = node;
    r->n_copies = 0;
    r->out = NULL;
    if (status != KB_OK) {
        r->op.depends = (struct op_ids){.n = 0};
        return exec_fail(exec, 0, status, &why);
    }
    for (uint32_t i = 0; i < 2; i++)
        r->product[i] = r->op.in[i].view.v;
    graph_operands(&r->op, bind_operand, &b);
    if (b.ok)
        r->out = malloc(r->op.out.view.v->nbytes);
    return r->out || exec_no_memory(exec, r);
}

static void component(const struct exec *exec, const struct op *op, char name[KB_NODE_BYTES])
{
    const char *unit = op->composite         ? "pe_scheduler"
                       : op_updates(op)      ? "pe_fetch_store"
                       : op->kind == OP_GEMM ? "pe_gemm"
                                             : "pe_math";
    const struct kb_topology *t = exec->topo;

    if (t) {
        uint32_t src = pe_src(t, op->pe), cube = src_cube(t, src);

        snprintf(name, KB_NODE_BYTES, "sip%u.cube%u.pe%u.%s", cube / t->cubes, cube % t->cubes,
                 src_pe(t, src), unit);
    } else {
        snprintf(name, KB_NODE_BYTES, "pe %u, %s", op->pe, unit);
    }
}

/* ", kernel gemm, benches/gemm.c:61"; empty if that is not known. */
static void name_call(struct exec *exec, uint32_t id, char text[CALLED_BYTES])
{
    const struct op_note *note;

    pthread_mutex_lock(&exec->lock);
    note = op_log_note_of(exec->log, id);
    if (note)
        snprintf(text, CALLED_BYTES, ", kernel %s, %s:%d", note->kernel, note->file, note->line);
    else
        text[0] = '\0';
    pthread_mutex_unlock(&exec->lock);
}

/* " [2,4]"; empty for a single axis, where the number of the element says it. */
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

bool exec_verify(struct exec *exec, const struct running *r)
{
    struct reference_difference d;
    char where[KB_NODE_BYTES], index[INDEX_BYTES], called[CALLED_BYTES];
    kb_error why;

    if (!exec->options.verify_ops || reference_same(&r->op, r->out, &d))
        return true;
    component(exec, &r->op, where);
    name_call(exec, r->op.id, called);
    name_index(&r->op.out.shape, d.index, index);
    endpoint_error(&why, "%s, op %u of %s%s: element %llu%s is %s, by plain loops %s",
                   r->op.kind == OP_GEMM ? "gemm" : math_rows[r->op.math].name, r->op.id, where,
                   called, (unsigned long long)d.index, index, d.got, d.want);
    return differ(exec, r, &why);
}

/* Are the elements there that a take takes? */
static bool check_indices(struct exec *exec, const struct running *r)
{
    char where[KB_NODE_BYTES], called[CALLED_BYTES];
    uint64_t place;
    int64_t index;
    kb_error why;

    if (r->op.math != TL_TAKE || !math_index_is_off(&r->op, &index, &place))
        return true;
    component(exec, &r->op, where);
    name_call(exec, r->op.id, called);
    endpoint_error(&why,
                   "tl_take on %s%s: index %lld, element %llu of the indices, is not in axis "
                   "%d, which has %u elements",
                   where, called, (long long)index, (unsigned long long)place, r->op.axis,
                   r->op.in[0].shape.dim[r->op.axis]);
    return exec_fail(exec, r->op.id, KB_KERNEL_ERROR, &why);
}

bool exec_compute(struct exec *exec, struct running *r, struct gemm_memory *memory)
{
    if (r->op.kind == OP_MATH) {
        if (!check_indices(exec, r))
            return false;
        if (!math_run(&r->op, r->out))
            return exec_no_memory(exec, r);
    } else {
        for (uint32_t part = 0, n = gemm_parts(&r->op); part < n; part++)
            if (!gemm_part(&r->op, part, r->out, memory))
                return exec_no_memory(exec, r);
    }
    return exec_verify(exec, r);
}

static void drop_copies(struct running *r)
{
    for (uint32_t i = 0; i < r->n_copies; i++)
        version_drop(r->copies[i]);
    r->n_copies = 0;
}

/* The operation is not computed in this run; the log keeps it. */
void exec_give_up(struct running *r)
{
    drop_copies(r);
    op_ids_clear(&r->op.depends);
    free(r->out);
    r->out = NULL;
}

/* A product with operand `v` is done; after the last one, its packed form is freed. */
static void forget_product(struct exec *exec, struct version *v)
{
    struct graph_version *e = graph_find(&exec->graph, v);

    if (e && --e->products == 0)
        gemm_forget(v);
}

/* The result is known. Under the lock. */
void exec_finish(struct exec *exec, struct running *r)
{
    const struct graph_node *n = &exec->graph.nodes[r->node];

    drop_copies(r);
    if (r->op.kind == OP_GEMM)
        for (uint32_t i = 0; i < 2; i++)
            forget_product(exec, r->product[i]);
    version_set_bytes(r->op.out.view.v, r->out);
    r->out = NULL;
    operation_computed(exec->log, &exec->graph.operations.of[r->node], &r->op);
    for (uint32_t e = n->first; e < n[1].first; e++)
        exec_arrive(exec, exec->graph.edges[e]);
    exec->left--;
}
