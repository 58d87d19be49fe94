/* service.c -- the record of a service in the op log, from what was served.
 *
 * The engine calls service_begin() and service_end() around each service (service.h), and this file
 * alone knows what a record looks like. A load, a store and a piece of a message have a record
 * each, and so has each stage of a tile, and the FETCH and STORE of a dot or math command, which
 * itself is the record of its engine's stage.
 */
#include "kernels/service.h"
#include "kernels/requests.h"
#include "pe/pe_ipcq.h"
#include "record/oplog.h"

/* What a stage moved: a DMA of a tile, a FETCH or a STORE. */
static void set_moved(struct op_token *r, const struct work *work)
{
    const struct command *c = work->command;
    const struct token *token = work->token;

    switch ((enum op_stage)work->stage) {
    case STAGE_DMA_READ:
        r->operand = work->operand;
        r->space = c->op.in[work->operand].space;
        r->address = token_part_address(token, work->operand);
        r->nbytes = token_part_bytes(token, work->operand);
        break;
    case STAGE_DMA_WRITE:
        r->space = c->op.out.space;
        r->address = token_out_address(token);
        r->nbytes = token_out_bytes(token);
        break;
    case STAGE_FETCH:
        r->nbytes = token ? token->fetch_bytes : c->fetch_bytes;
        break;
    case STAGE_STORE:
        r->nbytes = token ? token_out_bytes(token) : c->store_bytes;
        break;
    case STAGE_GEMM: /* they compute */
    case STAGE_MATH:
    case STAGE_COMMAND:
        break;
    }
}

static void set_computed(struct op_token *r, const struct work *work)
{
    const struct command *c = work->command;
    const struct token *token = work->token;

    r->m = token->rows;
    r->k = token->depth;
    r->n = token->columns;
    r->math = token->in_epilogue ? c->op.epilogue[token->epilogue].math : c->op.math;
    r->elements = (uint64_t)token->rows * token->columns;
}

static struct op_token token_record(const struct work *work)
{
    const struct command *c = work->command;
    const struct token *token = work->token;
    struct op_token r = {.id = work->id,
                         .parent = c->op.id,
                         .pe = c->op.pe,
                         .stage = work->stage,
                         .region = c->op.region};

    if (token && c->task == TASK_RECV) {
        ipcq_set_moved(&r, token);
        return r;
    }
    if (token) {
        r.token = token->number;
        r.tile[0] = token->i;
        r.tile[1] = token->j;
        r.tile[2] = token->k;
    }
    if (work->stage == STAGE_GEMM || work->stage == STAGE_MATH)
        set_computed(&r, work);
    else
        set_moved(&r, work);
    return r;
}

/* `op`: the command's, or a piece of it. */
static bool note(struct kb_sim *s, const struct command *c, const struct op *op)
{
    return op_log_note(s->log, op, c->pe->launch->request.name, c->here.file, c->here.line);
}

/* Can Phase 2 find a mistake in it, so that its call must be known? */
static bool may_fail(const struct op *op)
{
    return op->kind == OP_MATH && op->math == TL_TAKE;
}

void service_record(struct kb_sim *s, const struct work *work, uint64_t t)
{
    bool part = work->token || work->stage == STAGE_FETCH || work->stage == STAGE_STORE;
    struct op_token token;
    bool ok;

    if (work->token && work->command->task == TASK_SEND) {
        struct op piece = ipcq_record(work);

        ok = op_log_add(s->log, &piece, work->start_fs, (int64_t)t);
        if (ok && s->options.inspect)
            ok = note(s, work->command, &piece);
    } else if (part) {
        token = token_record(work);
        ok = op_log_add_token(s->log, &token, work->start_fs, (int64_t)t);
        if (ok && s->options.inspect && work->command->task == TASK_RECV &&
            work->token->number == 0)
            ok = op_log_note_recv(s->log, &work->command->op, work->token->next_id);
    } else {
        ok = op_log_add(s->log, &work->command->op, work->start_fs, (int64_t)t);
        if (ok && (s->options.inspect || may_fail(&work->command->op)))
            ok = note(s, work->command, &work->command->op);
    }
    if (!ok)
        engine_fail(s, op_log_error(s->log, &s->kernels->error));
}
