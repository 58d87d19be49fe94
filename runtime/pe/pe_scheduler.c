/* pe_scheduler.c -- pe_scheduler: cuts composites into tiles and runs their pipeline.
 *
 * What it holds   tile buffers: cube.pe.pe_scheduler.tile_buffers of them, shared by all composites
 *                 of the PE
 * For how long    a tile has its buffer from its entry to the end of its FETCH
 * Lets in first   tiles in order: composites as they were issued, output tiles row by row, K
 *                 innermost
 * Wait counted    engine_wait of --breakdown, at pe_scheduler: until a buffer is free
 * Golden number   docs/kernels.md "Worked: four commands": a composite of [32,128] x [128,32] in
 *                 the own slice takes 121.425 ns
 *
 * A *token* is one tile of a and one of b on its way:
 *
 *     DMA_READ a, DMA_READ b   both at once; an operand in the own TCM needs none
 *     FETCH                    when both have ended, and the FETCHes of the composite's tokens
 *                              before have begun; then the tile buffer is free, and the next token
 *                              enters
 *     GEMM or MATH             when the FETCHes of the composite's tokens before have ended, too;
 *                              the accumulator stays in the engine until the last token along K
 *     epilogue steps           after the last token along K: FETCH of the operand's part if it is
 *                              a tensor, then MATH
 *     STORE, DMA_WRITE         at the end of the same token
 *
 * Nothing else connects the stages: a token goes on when its stage ends, and waits where the
 * station it needs is taken. So tokens overlap by themselves, and the narrowest station decides.
 * The entry of token n of a PE is E(n) = max(start of its composite, E(n-1), end of FETCH of token
 * n - tile_buffers).
 *
 * The example, in ns. The tile is [32, 64, 32], so K = 128 makes two tokens of the one output tile:
 *
 *     token 0: DMA_READ a 3 to 21.085, b to 39.17, FETCH to 55.17, GEMM to 71.17
 *     token 1: DMA_READ a 39.17 to 57.255, b to 75.34, FETCH to 91.34, GEMM to 107.34,
 *              STORE to 111.34, DMA_WRITE to 121.425
 *
 * With one read channel the four reads follow each other, and the GEMM of token 0 is hidden behind
 * them. Both tokens have entered at 3, as there are two buffers.
 *
 * Ids. A record's id decides the order of events at one instant, so the ids of all stages are drawn
 * at the issue, in the order of tokens: composite_stages(). A token takes its first from
 * c->next_id.
 */
#include "base/larger.h"
#include "kernels/error.h"
#include "kernels/operands.h"
#include "kernels/pool.h"
#include "kernels/requests.h"
#include "kernels/service.h"
#include "machine/address.h"
#include "pe/boxes.h"
#include <stdlib.h>

static uint32_t epilogue_stages(const struct op *op)
{
    uint32_t n = op->n_epilogues;

    for (uint32_t e = 0; e < op->n_epilogues; e++)
        for (uint32_t i = 0; i < op->epilogue[e].n_operands; i++)
            n += !op->epilogue[e].operand[i].is_scalar;
    return n;
}

/* How many stages a token has: DMA_READs, FETCH and engine; the last along K has all that follow.
 */
static uint32_t token_stages(const struct command *c, bool last)
{
    const struct op *op = &c->op;
    uint32_t n = 2;

    for (uint32_t i = 0; i < op->n_in; i++)
        n += c->in_hbm[i];
    return last ? n + epilogue_stages(op) + 2 : n;
}

/* The next tile of the composite, as a token; NULL: no memory. */
static struct token *next_token(struct kernels *k, struct command *c)
{
    const struct op *op = &c->op;
    struct token *token = token_new(k);
    uint32_t nk = c->tiles[1], nj = c->tiles[2];
    uint64_t n = c->next_token;

    if (!token)
        return NULL;
    *token = (struct token){.command = c,
                            .number = (uint32_t)n,
                            .k = (uint32_t)(n % nk),
                            .j = (uint32_t)(n / nk % nj),
                            .i = (uint32_t)(n / nk / nj),
                            .next_id = c->next_id};
    token->rows = (uint32_t)smaller(op->tile[0], op->m - (uint64_t)token->i * op->tile[0]);
    token->depth = (uint32_t)smaller(op->tile[1], op->k - (uint64_t)token->k * op->tile[1]);
    token->columns = (uint32_t)smaller(op->tile[2], op->n - (uint64_t)token->j * op->tile[2]);
    token->last = token->k + 1 == nk;
    c->next_id += token_stages(c, token->last);
    c->next_token++;
    return token;
}

static struct stage token_stage(struct token *token, enum op_stage stage)
{
    return (struct stage){.command = token->command,
                          .token = token,
                          .stage = stage,
                          .id = token->next_id++,
                          .data_op = true};
}

static void token_fetch(struct kb_sim *s, uint64_t t, struct token *token)
{
    const struct op *op = &token->command->op;
    struct stage stage = token_stage(token, STAGE_FETCH);

    token->fetch_bytes = 0;
    for (uint32_t i = 0; i < op->n_in; i++)
        if (!op->in[i].is_scalar)
            token->fetch_bytes += token_part_bytes(token, i);
    pe_fetch(s, t, &stage, token->fetch_bytes);
}

static void line_join(struct token_line *line, struct token *token)
{
    token->behind = NULL;
    if (line->first)
        line->last->behind = token;
    else
        line->first = token;
    line->last = token;
}

static struct token *line_leave(struct token_line *line)
{
    struct token *token = line->first;

    line->first = token->behind;
    return token;
}

/*
 * The FETCHes of a composite begin in order of its tokens: a product is added up along K. Where a
 * memory is held for the drain of the route its reads end in that order anyway; else a smaller last
 * tile may overtake, and waits here.
 */
static void fetch_in_order(struct kb_sim *s, uint64_t t, struct command *c)
{
    while (c->unfetched.first && c->unfetched.first->reads_left == 0) {
        struct token *token = line_leave(&c->unfetched);

        line_join(&c->fetching, token);
        token_fetch(s, t, token);
    }
}

/* A token enters: its tiles are read, or are in the TCM. */
static void token_enter(struct kb_sim *s, uint64_t t, struct token *token)
{
    struct command *c = token->command;

    for (uint32_t i = 0; i < c->op.n_in; i++)
        token->reads_left += c->in_hbm[i];
    line_join(&c->unfetched, token);
    fetch_in_order(s, t, c);
    if (token->reads_left == 0)
        return;
    for (uint32_t i = 0; i < c->op.n_in; i++) {
        struct stage stage;

        if (!c->in_hbm[i])
            continue;
        stage = token_stage(token, STAGE_DMA_READ);
        stage.operand = (uint8_t)i;
        pe_dma_begin(s, t, &stage, c->in_dst[i], token_part_address(token, i),
                     token_part_bytes(token, i));
    }
}

/* Tokens enter in order of issue as long as a tile buffer is free, and their composite has started.
 */
static void enter_tokens(struct kb_sim *s, uint64_t t, struct tl_ctx *pe)
{
    struct command *c;

    while ((c = pe->composites) && c->started && !pe->buffer_taken[pe->next_buffer]) {
        struct token *token = next_token(s->kernels, c);

        if (!token) {
            engine_fail(s, KB_NO_MEMORY);
            return;
        }
        if (c->next_token == c->op.tokens)
            pe->composites = c->behind;
        token->buffer = pe->next_buffer;
        pe->buffer_taken[pe->next_buffer] = true;
        pe->next_buffer = (pe->next_buffer + 1) % pe_kind(pe)->pe.tile_buffers;
        token_enter(s, t, token);
    }
}

static void token_engine(struct kb_sim *s, uint64_t t, struct token *token)
{
    const struct op *op = &token->command->op;
    struct engine_work work;
    struct stage stage;

    if (op->kind == OP_GEMM) {
        stage = token_stage(token, STAGE_GEMM);
        work = pe_gemm_work(token->command->pe, op, token->rows, token->depth, token->columns);
        pe_gemm_count(token->command->pe, op,
                      (uint64_t)token->rows * token->depth * token->columns);
    } else {
        stage = token_stage(token, STAGE_MATH);
        work = pe_math_work(token->command->pe, (enum tl_op)op->math,
                            (uint64_t)token->rows * token->columns);
        pe_result(token->command->pe)->math_elements += (uint64_t)token->rows * token->columns;
    }
    engine_begin(s, t, &stage, &work);
}

/* So do their products: with several ports a smaller tile may be fetched sooner than one before. */
static void compute_in_order(struct kb_sim *s, uint64_t t, struct command *c)
{
    while (c->fetching.first && c->fetching.first->fetched)
        token_engine(s, t, line_leave(&c->fetching));
}

static void token_store(struct kb_sim *s, uint64_t t, struct token *token)
{
    struct stage stage = token_stage(token, STAGE_STORE);

    pe_store(s, t, &stage, token_out_bytes(token));
}

static void token_write(struct kb_sim *s, uint64_t t, struct token *token)
{
    struct stage stage = token_stage(token, STAGE_DMA_WRITE);

    pe_dma_begin(s, t, &stage, token->command->dst, token_out_address(token),
                 token_out_bytes(token));
}

/* The tensor operand of an epilogue step; NULL: it has none. */
static const struct op_tensor *epilogue_tensor(const struct op_epilogue *e)
{
    for (uint32_t i = 0; i < e->n_operands; i++)
        if (!e->operand[i].is_scalar)
            return &e->operand[i];
    return NULL;
}

/* The bytes of an epilogue operand's part: an axis of extent 1 is broadcast, and read once. */
static uint64_t epilogue_bytes(const struct token *token, const struct op_tensor *y)
{
    uint64_t bytes = dtype_bytes(y->dtype);
    uint32_t rank = y->shape.rank;

    if (rank >= 1 && y->shape.dim[rank - 1] != 1)
        bytes *= token->columns;
    if (rank >= 2 && y->shape.dim[rank - 2] != 1)
        bytes *= token->rows;
    return bytes;
}

static void epilogue_math(struct kb_sim *s, uint64_t t, struct token *token)
{
    const struct op_epilogue *e = &token->command->op.epilogue[token->epilogue];
    struct stage stage = token_stage(token, STAGE_MATH);
    uint64_t elements = (uint64_t)token->rows * token->columns;

    struct engine_work work = pe_math_work(token->command->pe, (enum tl_op)e->math, elements);

    engine_begin(s, t, &stage, &work);
    pe_result(token->command->pe)->math_elements += elements;
}

/* The next step on a complete output tile. */
static void token_epilogue(struct kb_sim *s, uint64_t t, struct token *token)
{
    const struct op *op = &token->command->op;
    const struct op_tensor *y;
    struct stage stage;

    if (token->epilogue == op->n_epilogues) {
        token_store(s, t, token);
        return;
    }
    y = epilogue_tensor(&op->epilogue[token->epilogue]);
    token->in_epilogue = true;
    if (!y) {
        epilogue_math(s, t, token);
        return;
    }
    stage = token_stage(token, STAGE_FETCH);
    token->fetch_bytes = epilogue_bytes(token, y);
    pe_fetch(s, t, &stage, token->fetch_bytes);
}

/* The tiles are in the engine: their buffer is free. */
static void token_fetched(struct kb_sim *s, uint64_t t, struct token *token)
{
    struct tl_ctx *pe = token->command->pe;

    if (token->in_epilogue) {
        epilogue_math(s, t, token);
        return;
    }
    pe->buffer_taken[token->buffer] = false;
    token->fetched = true;
    compute_in_order(s, t, token->command);
    enter_tokens(s, t, pe);
}

static void token_computed(struct kb_sim *s, uint64_t t, struct token *token)
{
    if (!token->last) {
        token_free(s->kernels, token);
        return;
    }
    if (token->in_epilogue)
        token->epilogue++;
    token_epilogue(s, t, token);
}

/* True: it was the last of the composite. */
static bool token_written(struct kb_sim *s, uint64_t t, struct token *token)
{
    struct command *c = token->command;

    pe_result(c->pe)->dma_write_bytes += token_out_bytes(token);
    token_free(s->kernels, token);
    if (--c->writes_left > 0)
        return false;
    service_end(s, &c->service, t);
    return true;
}

bool composite_stage_done(struct kb_sim *s, uint64_t t, const struct work *work)
{
    struct token *token = work->token;

    switch ((enum op_stage)work->stage) {
    case STAGE_DMA_READ:
        pe_result(token->command->pe)->dma_read_bytes += token_part_bytes(token, work->operand);
        if (--token->reads_left == 0)
            fetch_in_order(s, t, token->command);
        break;
    case STAGE_FETCH:
        token_fetched(s, t, token);
        break;
    case STAGE_GEMM:
    case STAGE_MATH:
        token_computed(s, t, token);
        break;
    case STAGE_STORE:
        token_write(s, t, token);
        break;
    case STAGE_DMA_WRITE:
        return token_written(s, t, token);
    case STAGE_COMMAND: /* no stage of a tile */
        break;
    }
    return false;
}

uint64_t composite_stages(const struct command *c)
{
    uint64_t outputs = (uint64_t)c->tiles[0] * c->tiles[2];

    return outputs * ((c->tiles[1] - 1) * (uint64_t)token_stages(c, false) + token_stages(c, true));
}

/* Finds which operands are read by DMA, and from which memory. */
static void find_operands(struct command *c)
{
    for (uint32_t i = 0; i < c->op.n_in; i++) {
        uint64_t offset;

        c->in_hbm[i] =
            !c->op.in[i].is_scalar &&
            address_find_area(c->pe->sim->topo, c->op.in[i].address, &c->in_dst[i], &offset) &&
            c->in_dst[i] != c->pe->tcm;
    }
}

static bool buffers_new(struct tl_ctx *pe)
{
    if (!pe->buffer_taken)
        pe->buffer_taken = calloc(pe_kind(pe)->pe.tile_buffers, sizeof *pe->buffer_taken);
    if (!pe->buffer_taken)
        kernel_no_memory(pe);
    return pe->buffer_taken;
}

void composite_cut(struct command *c)
{
    const struct pe_row *row = &pe_kind(c->pe)->pe;
    struct op *op = &c->op;

    find_operands(c);
    for (int i = 0; i < 3; i++)
        op->tile[i] = row->tile[i];
    c->tiles[0] = (uint32_t)parts_of(op->m, op->tile[0]);
    c->tiles[1] = op->kind == OP_GEMM ? (uint32_t)parts_of(op->k, op->tile[1]) : 1;
    c->tiles[2] = (uint32_t)parts_of(op->n, op->tile[2]);
    c->writes_left = (uint64_t)c->tiles[0] * c->tiles[2];
    op->tokens = c->writes_left * c->tiles[1];
}

void composite_join(struct command *c)
{
    struct tl_ctx *pe = c->pe;

    c->next_id = c->op.id + 1;
    c->next_token = 0;
    c->behind = NULL;
    if (pe->composites)
        pe->last_composite->behind = c;
    else
        pe->composites = c;
    pe->last_composite = c;
}

void composite_start(struct kb_sim *s, uint64_t t, struct command *c)
{
    if (!buffers_new(c->pe) || !result_new(c, op_tensor_bytes(&c->op.out)) ||
        !result_publish(c, c->dst, &c->op.out))
        return;
    c->service = (struct work){.command = c, .stage = STAGE_COMMAND, .data_op = true};
    service_begin(&c->service, t);
    enter_tokens(s, t, c->pe);
}

/* -- an accumulator is stored --------------------------------------------------------------- */

/*
 * What is left of a token when its last product is done: the steps of the epilogue, and the STORE.
 * An acc_store is one token of that, which enters as the command starts. It has its turn when the
 * accumulator is complete; only the FETCH of its first step may come before. Then its result can be
 * seen, as all that it is made of has its operands.
 */
uint64_t acc_store_stages(const struct command *c)
{
    return epilogue_stages(&c->op) + 1;
}

bool acc_store_fetch(struct kb_sim *s, uint64_t t, struct command *c)
{
    const struct op *op = &c->op;
    struct token *token = token_new(s->kernels);

    if (!token) {
        engine_fail(s, KB_NO_MEMORY);
        return true;
    }
    *token = (struct token){.command = c,
                            .next_id = op->id + 1,
                            .rows = op->out.shape.dim[0],
                            .depth = 1,
                            .columns = op->out.shape.dim[1],
                            .last = true};
    c->whole = token;
    c->service = (struct work){.command = c, .stage = STAGE_COMMAND, .data_op = true};
    service_begin(&c->service, t);
    if (!op->n_epilogues || !epilogue_tensor(&op->epilogue[0]))
        return false;
    token_epilogue(s, t, token);
    return true;
}

void acc_store_turn(struct kb_sim *s, uint64_t t, struct command *c)
{
    if (c->whole->epilogue == 0 && !result_begin(c))
        return;
    if (c->whole->in_epilogue) /* its operand was fetched */
        epilogue_math(s, t, c->whole);
    else
        token_epilogue(s, t, c->whole);
}

bool acc_store_stage_done(struct kb_sim *s, uint64_t t, const struct work *work)
{
    struct command *c = work->command;

    if (work->stage == STAGE_MATH)
        token_computed(s, t, work->token);
    if (work->stage != STAGE_STORE)
        return false;
    token_free(s->kernels, work->token);
    service_end(s, &c->service, t);
    return true;
}
