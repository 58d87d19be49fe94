/* program.c -- programs of kernels: to build one, and to read it. */
#include "kernel.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Is PE `a` before `b` in their order? */
static bool is_before(const struct judge_end *a, const struct judge_end *b)
{
    if (a->sip != b->sip)
        return a->sip < b->sip;
    return a->cube != b->cube ? a->cube < b->cube : a->unit < b->unit;
}

uint64_t judge_global_pe(const struct judge_topo *t, const struct judge_end *pe)
{
    size_t low = 0, high = t->n_pes;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (is_before(&t->pes[middle], pe))
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->n_pes && !is_before(pe, &t->pes[low]) ? low : t->n_pes;
}

uint64_t judge_address(const struct judge_topo *t, const struct judge_end *memory, uint64_t offset)
{
    uint64_t region = memory->kind == JUDGE_SLICE ? 0 : memory->kind == JUDGE_SRAM ? 1 : 2;

    return judge_base(t, memory->sip, memory->cube, region) |
           (memory->unit * judge_memory_bytes(t, memory) + offset);
}

size_t judge_add_kernel(struct judge_program *p, const struct judge_end *pe)
{
    if (p->n == p->room) {
        p->room = p->room ? 2 * p->room : 8;
        p->kernels = judge_grow(p->kernels, p->room, sizeof *p->kernels);
    }
    p->kernels[p->n] = (struct judge_kernel){.pe = *pe};
    return p->n++;
}

void judge_all_kernels(const struct judge_topo *t, struct judge_program *p)
{
    for (size_t i = 0; i < t->n_pes; i++)
        judge_add_kernel(p, &t->pes[i]);
}

size_t judge_add_command(struct judge_program *p, size_t kernel, const struct judge_command *c)
{
    struct judge_kernel *k = &p->kernels[kernel];

    if (k->n == k->room) {
        k->room = k->room ? 2 * k->room : 16;
        k->commands = judge_grow(k->commands, k->room, sizeof *k->commands);
    }
    k->commands[k->n] = *c;
    return k->n++;
}

size_t judge_add_group(struct judge_program *p, const struct judge_end *pes, size_t n)
{
    struct judge_group *g;

    if (p->n_groups == p->groups_room) {
        p->groups_room = p->groups_room ? 2 * p->groups_room : 8;
        p->groups = judge_grow(p->groups, p->groups_room, sizeof *p->groups);
    }
    g = &p->groups[p->n_groups];
    g->pes = judge_alloc(n, sizeof *g->pes);
    g->n = n;
    memcpy(g->pes, pes, n * sizeof *pes);
    return p->n_groups++;
}

void judge_add_launch(struct judge_program *p, const struct judge_launch *launch)
{
    p->launches = judge_grow(p->launches, p->n_launches + 1, sizeof *p->launches);
    p->launches[p->n_launches++] = *launch;
}

void judge_program_clear(struct judge_program *p)
{
    free(p->launches);
    for (size_t i = 0; i < p->n; i++)
        free(p->kernels[i].commands);
    for (size_t i = 0; i < p->n_groups; i++)
        free(p->groups[i].pes);
    free(p->kernels);
    free(p->groups);
    memset(p, 0, sizeof *p);
}

/* -- as text -------------------------------------------------------------------------------- */

static const char *const dtypes[] = {"i4", "i8", "i32", "f16", "f32", "f64"};

static void print_place(FILE *out, const struct judge_end *at, uint64_t offset)
{
    char name[JUDGE_NAME_BYTES];

    judge_end_name(at, name);
    fprintf(out, " %s+%" PRIu64, name, offset);
}

static void print_operands(FILE *out, const struct judge_command *c)
{
    for (size_t i = 0; i < c->n_operands; i++) {
        const struct judge_operand *o = &c->operands[i];

        if (o->where == JUDGE_AT)
            print_place(out, &o->at, o->offset);
        else if (o->where == JUDGE_OWN_TCM)
            fprintf(out, " #%zu", o->from);
        else
            fputs(" scalar", out);
    }
}

static void print_epilogue(FILE *out, const struct judge_epilogue *e)
{
    static const char *const parts[] = {"", " [N]", " [M,1]", " [M,N]"};

    fprintf(out, ", %s%s%s", e->op ? e->op : "op", e->special ? " (special)" : "", parts[e->part]);
    if (e->part != JUDGE_NO_PART)
        fprintf(out, " #%zu of %" PRIu32 " B", e->from, e->element_bytes);
}

static void print_composite(FILE *out, const struct judge_command *c)
{
    bool gemm = c->kind == JUDGE_COMPOSITE_GEMM;

    fprintf(out, "composite %s %" PRIu32 "x", gemm ? "gemm" : c->op ? c->op : "math", c->m);
    if (gemm)
        fprintf(out, "%" PRIu32 "x", c->k);
    fprintf(out, "%" PRIu32 " of %" PRIu32 " and %" PRIu32 " B, %s%s%s to %s%s:", c->n, c->in_bytes,
            c->out_bytes, dtypes[c->in], c->mixed ? " by " : "", c->mixed ? dtypes[c->other] : "",
            dtypes[c->out], c->class == JUDGE_SPECIAL ? " (special)" : "");
    print_operands(out, c);
    fputs(" ->", out);
    print_place(out, &c->at, c->offset);
    for (size_t i = 0; i < c->n_epilogues; i++)
        print_epilogue(out, &c->epilogues[i]);
}

static void print_compute(FILE *out, const struct judge_command *c)
{
    static const char *const classes[] = {"",        " (special)", " (softmax)",
                                          " (topk)", " (scan)",    " (random)",
                                          " (sort)", " (index)",   " (steps)"};

    if (c->kind == JUDGE_DOT)
        fprintf(out, "dot %" PRIu32 "x%" PRIu32 "x%" PRIu32, c->m, c->k, c->n);
    else
        fprintf(out, "math %s%s of %" PRIu64, c->op ? c->op : "", classes[c->class], c->elements);
    if (c->batch)
        fprintf(out, ", %" PRIu32 " of them", c->batch);
    fprintf(out, ", %" PRIu64 " B to %" PRIu64 " B, %s%s%s to %s:", c->operand_bytes, c->nbytes,
            dtypes[c->in], c->mixed ? " by " : "", c->mixed ? dtypes[c->other] : "",
            dtypes[c->out]);
    print_operands(out, c);
}

/* "acc 0: dot 32x64x32 f16: #1 #2", "acc 0 of 32x32 f32: store as f16, exp (special)" */
static void print_acc(FILE *out, const struct judge_command *c)
{
    static const char *const kinds[] = {"dot", "scale", "store"};

    fprintf(out, "acc %zu of %" PRIu32 "x%" PRIu32 ": %s", c->acc, c->m, c->n,
            kinds[c->kind - JUDGE_ACC_DOT]);
    if (c->kind == JUDGE_ACC_DOT)
        fprintf(out, " over %" PRIu32, c->k);
    fprintf(out, ", %" PRIu64 " B, %s%s%s to %s:", c->operand_bytes, dtypes[c->in],
            c->mixed ? " by " : "", c->mixed ? dtypes[c->other] : "", dtypes[c->out]);
    print_operands(out, c);
    for (size_t i = 0; i < c->n_epilogues; i++)
        print_epilogue(out, &c->epilogues[i]);
}

/* "send 4096 B f16 #3 -> c0.pe1 tag 0", "recv async 4096 B f16 <- c0.pe0 tag 0" */
static void print_message(FILE *out, const struct judge_command *c)
{
    char name[JUDGE_NAME_BYTES];

    judge_end_name(&c->at, name);
    fprintf(out, "%s%s %" PRIu64 " B %s", c->kind == JUDGE_SEND ? "send" : "recv",
            c->async ? " async" : "", c->nbytes, dtypes[c->in]);
    if (c->kind == JUDGE_SEND)
        fprintf(out, " #%zu ->", c->from);
    else
        fputs(" <-", out);
    fprintf(out, " %s tag %" PRIu32, name, c->tag);
}

static void print_barrier(FILE *out, const struct judge_group *g)
{
    char name[JUDGE_NAME_BYTES];

    fputs("barrier of", out);
    for (size_t i = 0; i < g->n; i++) {
        judge_end_name(&g->pes[i], name);
        fprintf(out, " %s", name);
    }
}

static void print_command(FILE *out, const struct judge_program *p, const struct judge_command *c)
{
    if (c->overlaps)
        fputs("under async: ", out);
    switch (c->kind) {
    case JUDGE_LOAD:
    case JUDGE_STORE:
        fprintf(out, "%s%s %" PRIu64 " B %s", c->kind == JUDGE_LOAD ? "load" : "store",
                c->async ? " async" : "", c->nbytes, dtypes[c->in]);
        if (c->kind == JUDGE_STORE)
            fprintf(out, " #%zu ->", c->from);
        print_place(out, &c->at, c->offset);
        for (size_t i = 1; i < c->n_targets; i++)
            print_place(out, &c->targets[i], c->offsets[i]);
        if (c->rows)
            fprintf(out, ", %" PRIu32 " %s %" PRIu64 " apart", c->rows,
                    c->listed ? "pieces" : "rows", c->stride);
        break;
    case JUDGE_DOT:
    case JUDGE_MATH:
        print_compute(out, c);
        break;
    case JUDGE_COMPOSITE_GEMM:
    case JUDGE_COMPOSITE_MATH:
        print_composite(out, c);
        break;
    case JUDGE_WAIT:
        fprintf(out, "wait #%zu", c->target);
        break;
    case JUDGE_WAIT_ALL:
        fputs("wait for all", out);
        break;
    case JUDGE_SEND:
    case JUDGE_RECV:
        print_message(out, c);
        break;
    case JUDGE_BARRIER:
        print_barrier(out, &p->groups[c->group]);
        break;
    case JUDGE_ACC_DOT:
    case JUDGE_ACC_SCALE:
    case JUDGE_ACC_STORE:
        print_acc(out, c);
        break;
    case JUDGE_VALUE:
        fprintf(out, "value of %" PRIu64 " B %s:", c->operand_bytes, dtypes[c->in]);
        print_operands(out, c);
        break;
    case JUDGE_UPDATE:
        fprintf(out, "update by %" PRIu64 " B %s:", c->operand_bytes, dtypes[c->in]);
        print_operands(out, c);
        break;
    case JUDGE_KINDS:
        break;
    case JUDGE_ATOMIC:
        fprintf(out, "atomic %s + %" PRId64, dtypes[c->in], c->value);
        print_place(out, &c->at, c->offset);
        break;
    }
}

void judge_print_program(FILE *out, const struct judge_program *p)
{
    for (size_t k = 0; k < p->n; k++) {
        char name[JUDGE_NAME_BYTES];

        judge_end_name(&p->kernels[k].pe, name);
        fprintf(out, "%s:\n", name);
        for (size_t i = 0; i < p->kernels[k].n; i++) {
            fprintf(out, "  #%zu ", i);
            print_command(out, p, &p->kernels[k].commands[i]);
            fputc('\n', out);
        }
    }
}

/* " WHAT 1.234567" */
static void print_time(FILE *out, const char *what, int64_t fs)
{
    fprintf(out, " %s ", what);
    judge_print_ns(out, fs);
}

static void print_record(FILE *out, const struct judge_op_record *r)
{
    static const char *const stages[] = {"command", "DMA_READ", "DMA_WRITE", "FETCH",
                                         "STORE",   "GEMM",     "MATH",      "ipcq_copy"};
    static const char *const components[] = {"pe_dma",  "pe_fetch_store", "pe_gemm",
                                             "pe_math", "pe_scheduler",   "nowhere"};

    fprintf(out, "    %" PRIu64 " %s at %s", r->op_id, stages[r->stage], components[r->component]);
    print_time(out, "from", r->t_start);
    print_time(out, "to", r->t_end);
    fprintf(out, ", token %" PRIu32 " [%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]", r->token,
            r->tile[0], r->tile[1], r->tile[2]);
    fprintf(out, ", %" PRIu64 " B at %" PRIu64, r->nbytes, r->address);
    fprintf(out, ", %" PRIu32 "x%" PRIu32 "x%" PRIu32 ", %" PRIu64 " elements\n", r->m, r->k, r->n,
            r->elements);
}

static void print_command_times(FILE *out, const struct judge_run *run, size_t kernel, size_t i)
{
    const struct judge_command_times *c = &run->kernels[kernel].commands[i];

    fprintf(out, "  #%zu", i);
    print_time(out, "call", c->call_fs);
    print_time(out, "issue", c->issue_fs);
    print_time(out, "return", c->return_fs);
    print_time(out, "end", c->end_fs);
    fputc('\n', out);
    for (size_t r = 0; r < run->n_records; r++) {
        if (run->records[r].kernel == kernel && run->records[r].command == i)
            print_record(out, &run->records[r]);
    }
}

void judge_print_run(FILE *out, const struct judge_program *p, const struct judge_run *run)
{
    for (size_t k = 0; k < run->n_kernels; k++) {
        const struct judge_kernel_times *times = &run->kernels[k];
        char name[JUDGE_NAME_BYTES];

        judge_end_name(&p->kernels[k].pe, name);
        fprintf(out, "%s:", name);
        print_time(out, "return", times->return_fs);
        print_time(out, "end", times->end_fs);
        print_time(out, "response", times->response_fs);
        fputc('\n', out);
        for (size_t i = 0; i < p->kernels[k].n; i++)
            print_command_times(out, run, k, i);
    }
}
