/* record.h -- the op log from inside: records in chunks, and the parameters packed behind them. */
#ifndef RECORD_H
#define RECORD_H
#include "record/oplog.h"

enum record_flag {
    REC_REGION = 1 << 0,
    REC_STRIDED = 1 << 1,
    REC_COMPOSITE = 1 << 2,
    REC_TRANSPOSE_A = 1 << 3,
    REC_TRANSPOSE_B = 1 << 4,
    REC_COL_A = 1 << 5,
    REC_COL_B = 1 << 6,
    REC_COL_OUT = 1 << 7,
    REC_ALL_AXES = 1 << 8,
    REC_HAS_AXIS = 1 << 9,
    REC_KEEPDIMS = 1 << 10,
    REC_IPCQ = 1 << 12,
    REC_LIST = 1 << 13,
    REC_ATOMIC = 1 << 14,
    REC_SUMS = 1 << 15,
    REC_KEEPS = 1 << 11, /* views are packed, and the log holds a reference to each */
};

/* `type` is an enum op_kind, or of a token REC_TOKEN plus an enum op_stage. */
enum { REC_TOKEN = OP_MATH + 1 };

/* The fields of every record, and those of its kind that fit; the rest lies at `params`. */
struct record {
    int64_t start_fs, end_fs;
    uint32_t id, pe;
    uint32_t params; /* offset into the chunk, a multiple of 8 */
    uint16_t flags;  /* enum record_flag */
    uint8_t type;
    uint8_t code; /* enum tl_op; a DMA_READ token: operand */
    union {
        struct {
            int64_t issue_fs;
            uint64_t src, dst;
            uint32_t n_depends;
            uint8_t dtype, rank, src_space, dst_space;
        } dma;
        struct {
            int64_t issue_fs;
            uint32_t m, k, n;
            uint32_t n_depends;
            uint8_t dtype_acc, n_in, n_epilogues;
            int8_t axis;
        } compute;
        struct {
            uint32_t parent, token, tile[3];
            uint32_t size[3]; /* GEMM: m, k, n; else nbytes or elements, low half first; space */
        } token;
    };
};

_Static_assert(sizeof(struct record) == 64, "a record is a cache line");

/* Records grow from the front, parameters from the end. */
struct chunk {
    unsigned char *memory; /* owned; NULL: in the file */
    uint64_t at;           /* offset into the file */
    uint32_t bytes, n;     /* its size; how many records it has */
    uint32_t params;       /* where the parameters begin */
    int64_t first_fs;      /* the earliest start */
};

/* Where the record of a GEMM or MATH is. */
struct place {
    uint32_t id, chunk, record;
    bool taken;  /* it has been computed */
    bool marked; /* op_log_mark() */
};

struct op_log {
    const struct kb_topology *topo; /* borrowed */
    uint64_t limit_bytes;
    uint32_t chunk_bytes;
    bool keep;
    struct chunk *chunks; /* owned; the last one takes records */
    uint32_t n_chunks, chunks_cap;
    uint32_t n_spilled;    /* the oldest ones */
    uint64_t memory_bytes; /* of the others */
    uint64_t n_records, params_bytes;

    int fd; /* -1: no file yet */
    uint64_t file_bytes;
    unsigned char *map; /* owned: the file, and room for it to grow */
    uint64_t map_bytes;

    kb_status status;
    kb_error why;

    bool early;             /* op_log_computed_early() */
    struct place *computes; /* owned */
    uint64_t n_computes, computes_cap;
    uint32_t next_chunk, next_record; /* where op_log_computes() goes on */

    struct op_note *notes; /* owned; by id, once sorted */
    uint64_t n_notes, notes_cap;
    bool notes_sorted;
};

static inline const unsigned char *chunk_bytes(const struct op_log *log, const struct chunk *c)
{
    return c->memory ? c->memory : log->map + c->at;
}

static inline const struct record *chunk_records(const struct op_log *log, const struct chunk *c)
{
    return (const struct record *)(const void *)chunk_bytes(log, c);
}

static inline bool record_is_token(const struct record *r)
{
    return r->type >= REC_TOKEN;
}

static inline bool record_is_compute(const struct record *r)
{
    return r->type == OP_GEMM || r->type == OP_MATH;
}

/*
 * The record of `id`, and the bytes of its chunk; UINT32_MAX: of the last command. NULL: none.
 * oplog.c
 */
const struct record *op_log_find(const struct op_log *log, uint32_t id,
                                 const unsigned char **chunk);

/* Gives back all that records hold for Phase 2.  oplog_computes.c */
void op_log_drop_computes(struct op_log *log);

/*
 * Calls `each` with every record and the bytes of its chunk, in order of (start, end, id), until it
 * returns false. False: that, or no memory.                                        oplog_order.c
 */
typedef bool op_log_each(void *arg, const struct record *r, const unsigned char *chunk);
bool op_log_in_order(struct op_log *log, op_log_each *each, void *arg);

/* Parts of a record as it is exported.  oplog_text.c */
void op_log_component(const struct op_log *log, const struct record *r, const unsigned char *chunk,
                      char name[KB_NODE_BYTES]);
bool op_log_name(const struct record *r, const unsigned char *chunk, char name[32]);
char *op_log_params(const struct record *r, const unsigned char *chunk); /* malloc; NULL: none */

/* -- packing, pack.c ------------------------------------------------------------------------ */

/*
 * Fill a zeroed record, except its times and `params`, and its parameters at `to`, which has room
 * for op_packed_bytes() or op_token_packed_bytes(): a multiple of 4.
 */
uint64_t op_packed_bytes(const struct op *op, bool keep);
uint64_t op_token_packed_bytes(const struct op_token *token);
void op_pack(const struct op *op, bool keep, struct record *r, unsigned char *to);
void op_token_pack(const struct op_token *token, struct record *r, unsigned char *to);

/*
 * From a record and its chunk's bytes. Views are borrowed from the log, and so are dependencies
 * that do not fit into op->depends.few. Fields that the kind does not use are 0.
 */
void op_unpack(const struct record *r, const unsigned char *chunk, struct op *op);
void op_token_unpack(const struct record *r, const unsigned char *chunk, struct op_token *token);

/* Calls `each` for every operand and the result of a GEMM or MATH. */
void op_each_tensor(const struct op *op, void (*each)(const struct op_tensor *t));

#endif
