/* record.c -- the records of services, from what was served. */
#include "kernels/service.h"

/* DMA of a tile, or of the FETCH and STORE that surround an engine. */
static void set_moved(struct op_token *r, const struct work *w)
{
    const struct command *c = w->command;
    const struct token *x = w->token;

    switch ((enum op_stage)w->stage) {
    case STAGE_DMA_READ:
        r->operand = w->operand;
        r->space = c->op.in[w->operand].space;
        r->address = token_part_address(x, w->operand);
        r->nbytes = token_part_bytes(x, w->operand);
        break;
    case STAGE_DMA_WRITE:
        r->space = c->op.out.space;
        r->address = token_out_address(x);
        r->nbytes = token_out_bytes(x);
        break;
    case STAGE_FETCH:
        r->nbytes = x ? x->fetch_bytes : c->fetch_bytes;
        break;
    default:
        r->nbytes = x ? token_out_bytes(x) : c->store_bytes;
        break;
    }
}

static void set_computed(struct op_token *r, const struct work *w)
{
    const struct command *c = w->command;
    const struct token *x = w->token;

    r->m = x->rows;
    r->k = x->depth;
    r->n = x->columns;
    r->math = x->in_epilogue ? c->op.epilogue[x->epilogue].math : c->op.math;
    r->elements = (uint64_t)x->rows * x->columns;
}

static struct op_token token_record(const struct work *w)
{
    const struct command *c = w->command;
    const struct token *x = w->token;
    struct op_token r = {
        .id = w->id, .parent = c->op.id, .pe = c->op.pe, .stage = w->stage, .region = c->op.region};

    if (x && c->task == TASK_RECV) {
        ipcq_set_moved(&r, x);
        return r;
    }
    if (x) {
        r.token = x->number;
        r.tile[0] = x->i;
        r.tile[1] = x->j;
        r.tile[2] = x->k;
    }
    if (w->stage == STAGE_GEMM || w->stage == STAGE_MATH)
        set_computed(&r, w);
    else
        set_moved(&r, w);
    return r;
}

/* `op`: the command's, or a piece of it. */
static bool note(struct kb_sim *s, const struct command *c, const struct op *op)
{
    const struct kernels *k = s->kernels;

    return op_log_note(s->log, op, k->launches[k->launch].request.name, c->here.file, c->here.line);
}

void service_record(struct kb_sim *s, const struct work *w, uint64_t t)
{
    bool part = w->token || w->stage == STAGE_FETCH || w->stage == STAGE_STORE;
    struct op_token token;
    bool ok;

    if (w->token && w->command->task == TASK_SEND) {
        struct op piece = ipcq_record(w);

        ok = op_log_add(s->log, &piece, w->start_fs, (int64_t)t);
        if (ok && s->options.inspect)
            ok = note(s, w->command, &piece);
    } else if (part) {
        token = token_record(w);
        ok = op_log_add_token(s->log, &token, w->start_fs, (int64_t)t);
        if (ok && s->options.inspect && w->command->task == TASK_RECV && w->token->number == 0)
            ok = op_log_note_recv(s->log, &w->command->op, w->token->next_id);
    } else {
        ok = op_log_add(s->log, &w->command->op, w->start_fs, (int64_t)t);
        if (ok && s->options.inspect)
            ok = note(s, w->command, &w->command->op);
    }
    if (!ok)
        engine_fail(s, op_log_error(s->log, &s->kernels->error));
}
