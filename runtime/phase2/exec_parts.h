/* exec_parts.h -- what the files of Phase 2's executor share. */
#ifndef PHASE2_EXEC_PARTS_H
#define PHASE2_EXEC_PARTS_H
#include <pthread.h>
#include "phase2/gemm.h"
#include "phase2/graph.h"

enum { BATCH_MAX = 32, OPERANDS_MAX = 3 + 2 * TL_EPILOGUES_MAX, THREADS_MAX = 256 };

enum { INDEX_BYTES = 21 * KB_RANK_MAX + 4, CALLED_BYTES = 256 };

/* An operation that is being computed. */
struct running {
    struct op op;
    uint32_t node;
    unsigned char *out;         /* owned until exec_finish() */
    struct version *product[2]; /* GEMM: versions of a and b */
    uint32_t n_copies;
    struct version *copies[OPERANDS_MAX]; /* owned; of operands that are not aligned */
};

/* A product of several parts, which threads take one after the other. */
struct shared {
    struct running r;
    struct shared *next;
    uint32_t n_parts, taken, done;
};

/* The ready nodes of one group: a heap, lowest first. */
struct ready {
    uint32_t *nodes; /* borrowed from exec->heaps */
    uint32_t n;
};

struct exec {
    struct op_log *log;
    const struct kb_topology *topo;
    struct kb_compute_options options;
    struct graph graph;
    struct gemm_pool *pool;
    uint32_t *heaps; /* owned; [n_ops] */

    pthread_mutex_t lock; /* of all below, of reference counts, and of gathering */
    pthread_cond_t more;
    struct ready ready[GRAPH_GROUPS_MAX];
    struct shared *shared; /* owned */
    uint32_t left;         /* operations that are not computed */
    uint32_t busy, idle;   /* threads */
    kb_status status;
    uint32_t failed; /* op_id of the first operation that failed, by id */
    uint32_t bound;  /* nodes from here on are not computed: an earlier one was wrong */
    kb_error why;
};

/* One of the nodes that `node` waits for is done. A join is done with the last of them. */
void exec_arrive(struct exec *exec, uint32_t node);

/* Of several failures that of the lowest id is reported. Returns false. */
bool exec_fail(struct exec *exec, uint32_t op_id, kb_status status, const kb_error *why);

bool exec_no_memory(struct exec *exec, const struct running *r);

/* Unpacks operation `node`, binds its operands, and makes room for its result. */
bool exec_start(struct exec *exec, uint32_t node, struct running *r);

bool exec_verify(struct exec *exec, const struct running *r);

bool exec_compute(struct exec *exec, struct running *r, struct gemm_memory *memory);

/* The operation is not computed in this run; the log keeps it. */
void exec_give_up(struct running *r);

/* The result is known. Under the lock. */
void exec_finish(struct exec *exec, struct running *r);

#endif
