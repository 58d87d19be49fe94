/* token.h -- a tile of a composite, or a piece of a message, on its way through its stages. */
#ifndef TOKEN_H
#define TOKEN_H
#include "kernels/kernels_command.h"
#include "machine/tile.h"

struct token {
    struct command *command;
    uint32_t number, i, j, k;
    uint32_t rows, depth, columns; /* of the tile: M, K, N */
    uint32_t next_id;
    uint64_t fetch_bytes;
    uint8_t reads_left, epilogue; /* DMA_READs; the epilogue step at work */
    bool fetched, in_epilogue;
    bool last;            /* in K: its output tile is complete */
    uint32_t buffer;      /* of the PE's tile buffers */
    struct token *behind; /* in one of its command's lines */
    struct token *next_free;

    struct queue *queue; /* of a piece, or a credit */
    uint64_t joins_fs;   /* a piece that is sent its channel */
};

/* Extent of operand `i`'s part of a token: rows and columns as they enter the product. */
static inline void token_part(const struct token *token, uint32_t i, uint32_t *rows,
                              uint32_t *columns)
{
    bool gemm = token->command->op.kind == OP_GEMM;

    *rows = gemm && i == 1 ? token->depth : token->rows;
    *columns = gemm && i == 0 ? token->depth : token->columns;
}

static inline uint64_t token_part_bytes(const struct token *token, uint32_t i)
{
    uint32_t rows, columns;

    token_part(token, i, &rows, &columns);
    return dtype_size(token->command->op.in[i].dtype, (uint64_t)rows * columns);
}

static inline uint64_t token_out_bytes(const struct token *token)
{
    return dtype_size(token->command->op.out.dtype, (uint64_t)token->rows * token->columns);
}

/* The address of element (row, column) of a matrix of that many rows and columns. */
static inline uint64_t element_address(const struct op_tensor *matrix, bool col_major,
                                       uint64_t rows, uint64_t columns, uint64_t row,
                                       uint64_t column)
{
    uint64_t i = col_major ? column * rows + row : row * columns + column;

    return matrix->address + dtype_size(matrix->dtype, i);
}

/* The address of the first element of operand `i`'s part. */
static inline uint64_t token_part_address(const struct token *token, uint32_t i)
{
    const struct op *op = &token->command->op;
    uint64_t row0 = (uint64_t)token->i * op->tile[0], k0 = (uint64_t)token->k * op->tile[1];
    uint64_t column0 = (uint64_t)token->j * op->tile[2];
    uint64_t row = op->kind == OP_GEMM && i == 1 ? k0 : row0;
    uint64_t column = op->kind == OP_GEMM && i == 0 ? k0 : column0;
    uint64_t rows = op->kind == OP_GEMM && i == 1 ? op->k : op->m;
    uint64_t columns = op->kind == OP_GEMM && i == 0 ? op->k : op->n;
    bool gemm = op->kind == OP_GEMM;
    bool col_major = gemm && (i ? op->col_b : op->col_a);

    if (gemm && (i ? op->transpose_b : op->transpose_a))
        return element_address(&op->in[i], col_major, columns, rows, column, row);
    return element_address(&op->in[i], col_major, rows, columns, row, column);
}

/* A tile of a matrix whose stored lines have `line` elements: `lines` of them, `run` of each. */
static inline struct tile matrix_tile(const struct op_tensor *matrix, uint32_t lines, uint32_t run,
                                      uint32_t line)
{
    return tile_of_rows(lines, dtype_size(matrix->dtype, (uint64_t)lines * run),
                        dtype_size(matrix->dtype, line));
}

/* The runs of operand `i`'s part. */
static inline struct tile token_part_tile(const struct token *token, uint32_t i)
{
    const struct op *op = &token->command->op;
    bool gemm = op->kind == OP_GEMM;
    bool turned = gemm && (i ? op->transpose_b != op->col_b : op->transpose_a != op->col_a);
    uint32_t rows, columns;

    token_part(token, i, &rows, &columns);
    if (turned)
        return matrix_tile(&op->in[i], columns, rows, i == 1 ? op->k : op->m);
    return matrix_tile(&op->in[i], rows, columns, gemm && i == 0 ? op->k : op->n);
}

static inline struct tile token_out_tile(const struct token *token)
{
    const struct op *op = &token->command->op;

    if (op->kind == OP_GEMM && op->col_out)
        return matrix_tile(&op->out, token->columns, token->rows, op->m);
    return matrix_tile(&op->out, token->rows, token->columns, op->n);
}

static inline uint64_t token_out_address(const struct token *token)
{
    const struct op *op = &token->command->op;

    return element_address(&op->out, op->kind == OP_GEMM && op->col_out, op->m, op->n,
                           (uint64_t)token->i * op->tile[0], (uint64_t)token->j * op->tile[2]);
}

#endif
