/* llm_rows.h -- the rows of llm: operations, sums, and what each batch comes to. */
#ifndef LLM_ROWS_H
#define LLM_ROWS_H
#include "cli/llm/pipeline.h"

struct llm_rows {
    const char *model;       /* borrowed */
    const struct chip *chip; /* borrowed */
    bool tells_energy;
    bool many_tps, many_kvs; /* a line of a total says which one it is of */
    struct llm_row *row;     /* owned */
    size_t n, room;
    struct llm_total *total; /* owned: a batch each */
    size_t n_totals, totals_room;
    char **phase; /* owned, the texts too */
    size_t n_phases, phases_room;
    bool searches; /* totals are of divisions */
};

/* An iteration: a row for each operation, then the layer, the head, each of several stages and what
 * they wait, and the total. */
struct simulated {
    const struct shape *shape;
    const struct pipeline *took;
    const char *phase;
};
void llm_rows_add(struct llm_rows *rows, const struct simulated *it);

/* "iteration N", as long as the rows live. */
const char *llm_rows_phase(struct llm_rows *rows, int64_t number);

/* Nodes of a trace that have the same name. */
struct llm_traced {
    const char *op;
    uint64_t count, bytes, flops, link_bytes; /* the last three of the first node */
    int64_t fs, all_fs;
};

/* A trace: a row for each name, and the total. */
void llm_rows_traced(struct llm_rows *rows, uint32_t ranks, const struct llm_traced *op, size_t n,
                     int64_t total_fs);

/* A batch; 0 fs: not simulated. */
void llm_rows_total(struct llm_rows *rows, const struct shape *s, int64_t kv, int64_t ttft_fs,
                    int64_t tpot_fs);

/* Of a division: that rows from `first` on are of it, or that it needs more bytes than a rank has.
 */
void llm_rows_divided(struct llm_rows *rows, size_t first);
void llm_rows_too_large(struct llm_rows *rows, const struct shape *s, uint64_t bytes);

/* The best division first; its rows alone stay. */
void llm_rows_sort(struct llm_rows *rows);

void llm_rows_print(const struct cli *cli, struct llm_rows *rows, struct sink *out);
void llm_rows_free(struct llm_rows *rows);

#endif
