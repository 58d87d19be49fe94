/* oplog.h -- the op log: a record of each operation, kept while a simulation runs. */
#ifndef OPLOG_H
#define OPLOG_H
#include <stdio.h>
#include "data/op.h"

/* Records of a simulation, in the order in which services end. */
struct op_log;

/*
 * limit_bytes  > 0: about so much stays in memory, older chunks go to an unlinked temporary file
 * keep         the log keeps operands and results of GEMM and MATH for Phase 2
 * returns      NULL: no memory
 */
struct op_log *op_log_new(const struct kb_topology *topo, uint64_t limit_bytes, bool keep);
void op_log_free(struct op_log *log);

/* Append a record. False: no memory, or the file cannot be written: see op_log_error(). */
bool op_log_add(struct op_log *log, const struct op *op, int64_t start_fs, int64_t end_fs);
bool op_log_add_token(struct op_log *log, const struct op_token *token, int64_t start_fs,
                      int64_t end_fs);

kb_status op_log_error(const struct op_log *log, kb_error *why); /* KB_OK: none so far */

/* Notes of an operation beside its record, kept if the options ask for it. */
struct op_note {
    uint32_t id;
    int line; /* of the call in the kernel, in `file` */
    const char *file, *kernel;
    struct view moved; /* owned; the bytes of a DMA */
    uint32_t message;  /* of a receive, which has no record: its first ipcq_copy; else OP_NONE */
};

/* Add a note; a reference to the bytes that a DMA moved is kept. False as for op_log_add(). */
bool op_log_note(struct op_log *log, const struct op *op, const char *kernel, const char *file,
                 int line);
bool op_log_note_recv(struct op_log *log, const struct op *op, uint32_t message);
const struct op_note *op_log_note_of(struct op_log *log, uint32_t id); /* NULL: none */

uint64_t op_log_count(const struct op_log *log);
uint64_t op_log_bytes(const struct op_log *log); /* of records and parameters, also spilled ones */

/* Writes all records in order (t_start, t_end, op_id); `command_line` may be NULL. */
enum op_format { OP_JSONL, OP_CSV };
kb_status op_log_export(struct op_log *log, enum op_format format, const char *command_line,
                        uint64_t seed, FILE *out, kb_error *why);

/*
 * For Phase 2: the GEMM and MATH operations, composites included, that are not yet computed, in
 * order of op_id. Mostly an operation has a higher id than those whose results it reads.
 *
 * op_log_computes()  counts and sorts them
 * op_log_compute()   unpacks number i into *op, whose views are borrowed from the log until
 *                    op_log_computed(); several threads may call it at once
 * op_log_computed()  drops the log's references to operands and result, and frees what `op` owns
 *
 * Operations without op_log_computed() appear again in the next op_log_computes().
 *
 * op_log_computed_early()  an operation was computed whose record is not written yet: when it is,
 *                          it is no operation to be computed
 * op_log_compute_of()  the number of the operation `id`; OP_LOG_NONE: it is not in the log, or was
 *                      computed
 * op_log_mark()        false: number i is marked already
 */
#define OP_LOG_NONE UINT64_MAX
void op_log_computed_early(struct op_log *log);
uint64_t op_log_compute_of(const struct op_log *log, uint32_t id);
bool op_log_mark(struct op_log *log, uint64_t i);
void op_log_unmark(struct op_log *log, uint64_t i);
kb_status op_log_computes(struct op_log *log, uint64_t *n, kb_error *why);
kb_status op_log_compute(struct op_log *log, uint64_t i, struct op *op, kb_error *why);
void op_log_computed(struct op_log *log, uint64_t i, struct op *op);

#endif
