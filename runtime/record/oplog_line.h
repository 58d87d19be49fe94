/* oplog_line.h -- a line of the op log's text, to which members are added. */
#ifndef RECORD_OPLOG_LINE_H
#define RECORD_OPLOG_LINE_H
#include "record/record.h"

/* A line that grows. After `failed`, no memory, its text is worthless. */
struct line {
    char *text; /* owned */
    size_t n, cap;
    bool failed;
};

void oplog_put_char(struct line *l, char c);

/* A text of at most LINE_FIRST bytes. */
void oplog_put_text(struct line *l, const char *text);

void oplog_put_count(struct line *l, uint64_t value);

void oplog_put_ns(struct line *l, int64_t fs);

/* The fewest digits that read back as the same double. JSON has no infinities: they are strings. */
void oplog_put_double(struct line *l, double value);

void oplog_put_key(struct line *l, const char *key);

void oplog_key_count(struct line *l, const char *key, uint64_t value);

void oplog_key_ns(struct line *l, const char *key, int64_t fs);

void oplog_key_word(struct line *l, const char *key, const char *word);

void oplog_put_counts(struct line *l, const uint32_t *values, uint32_t n);

void oplog_put_dma_read(struct line *l, const struct op *op);

void oplog_put_dma_write(struct line *l, const struct op *op);

/* A piece of a message to another PE. */
void oplog_put_ipcq_copy(struct line *l, const struct op *op);

/*
 * Four kinds of records share the columns: a dot (OP_GEMM), a MATH, and a composite of either. A
 * composite is one record, and its tiles are tokens, with the composite's op_id as their `parent`.
 * `run gemm M=64 N=64 K=64` on cube8 has 2112 commands and 2048 tokens (FETCH and STORE of each
 * dot, add and cast): 4160 records.
 */
void oplog_put_compute(struct line *l, const struct op *op);

static const char *const stage_names[] = {"DMA_READ", "DMA_WRITE", "FETCH",
                                          "GEMM",     "MATH",      "STORE"};

void oplog_put_token(struct line *l, const struct op_token *t);

#endif
