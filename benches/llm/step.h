/* step.h -- one iteration of a language model as a list of operations, and the kernel that does it.
 */
#ifndef STEP_H
#define STEP_H
#include "benches/llm/llm_requests.h"
#include "benches/llm/llm_route.h"
#include "kernbench.h"
#include "tl.h"

enum llm_kind {
    LLM_EMBED,
    LLM_GEMM,
    LLM_ATTENTION,
    LLM_NORM,      /* RMS norm; with a residual: x += z first */
    LLM_LAYERNORM, /* the same with a mean */
    LLM_QK_NORM,   /* of each head of q and k */
    LLM_ROPE,      /* turns q and k; stores new k and v */
    LLM_SILU,      /* y = silu(gate) up */
    LLM_GELU,
    LLM_SOFTMAX, /* of each row */
    LLM_ADD,
    LLM_ALL_REDUCE,
    LLM_TOPK, /* the largest of the own columns */
    LLM_ALL_GATHER,
    LLM_ROUTE,    /* the experts of each token, and its shares of them */
    LLM_DISPATCH, /* rows of tokens to the ranks of their experts */
    LLM_COLLECT,  /* and back */
    LLM_COMBINE,  /* the sum of a token's experts, by its shares */
    LLM_Q_ROPE,   /* turns the last columns of each head of q */
    LLM_LATENT,   /* turns those of the key, and stores it with the latent */
    LLM_KEPT,     /* latents and keys of all tokens, from their pages */
    LLM_SEND,     /* x + z to the ranks of the next stage */
    LLM_TIME,     /* something that is not simulated, and takes so long */
    LLM_BARRIER,  /* of all ranks */
    LLM_SCATTER,  /* sums over all ranks, of which each keeps its part */
    LLM_GATHER,   /* the parts of all ranks, to each */
    LLM_BROADCAST,
    LLM_GIVE, /* x of one rank to another, */
    LLM_TAKE, /* which takes it */
    LLM_MOVE, /* bytes of a memory, or of the host */
};

/*
 * A matrix over the PEs of a rank, which are a grid of p x q: PE (r, c) has rows part r of p and
 * columns part c of q, row-major at byte `at` of its room. Columns are cut between units of `unit`.
 */
struct llm_matrix {
    int64_t rows, cols, unit;
    uint64_t at;
    kb_dtype dtype;
    int64_t each; /* rows of a token, which stay in one PE; 0: one */
};

/* Rows, columns and depth of the products that a GEMM is made of. */
struct llm_tile {
    int64_t m, k, n;
};

struct llm_op {
    char id[16];
    enum llm_kind kind;
    struct llm_matrix x, y, z; /* read; written; added or gathered in */
    struct llm_matrix keys;    /* attention with keys that were made: the columns of all heads */
    bool has_z, is_layer;
    uint64_t weight, weight_bytes; /* byte of the room of layer 0, and bytes of a layer, in a PE */
    kb_dtype weight_dtype;
    struct llm_tile tile;
    int64_t heads, kv_heads, dim; /* of a rank: attention, rope; products: heads, 0: one matrix */
    int64_t depth;                /* columns of a head of x that a product reads */
    int64_t v_dim, turned;        /* of a value, 0: dim; columns that are turned */
    bool latent;                  /* values are the first v_dim columns of keys */
    bool has_made;        /* z has keys and values of each head: columns of these, of those */
    int64_t kv_layer;     /* layers with keys and values before those of its block */
    int64_t batch, q, kv; /* requests, new tokens of each, tokens with the new ones */
    struct llm_requests *requests; /* borrowed: in place of q and kv, which are those of none; NULL:
                                      all are alike */
    int64_t bytes;                 /* of a collective: the array of a rank */
    int64_t idle_fs;               /* LLM_TIME; of the host */
    int64_t root, peer;            /* ranks: whose x it is, or which gives or takes; the other */
    bool both;                     /* LLM_GIVE: the other takes it in the same operation */
    bool stores, of_host;          /* LLM_MOVE: to a memory; to or from the host */
    /* Operations on rows of experts; 0 experts: another one. */
    int64_t experts, chosen, ep; /* of a layer; of a token; ranks among which they are divided */
    bool gathers;                /* x has tokens, or what came of them, in another order */
    uint64_t expert_bytes;       /* of one, in a PE */
    uint64_t routes;             /* byte of the room: what LLM_ROUTE has written */
    const struct llm_routing *routing;
    int64_t from_rank, from_layer; /* what rank 0 and layer 0 do is what these do */
};

/* Do ranks wait for each other in it? */
static inline bool llm_between_ranks(const struct llm_op *op)
{
    return op->kind == LLM_ALL_REDUCE || op->kind == LLM_ALL_GATHER || op->kind == LLM_DISPATCH ||
           op->kind == LLM_COLLECT || op->kind == LLM_SEND ||
           (op->kind >= LLM_BARRIER && op->kind <= LLM_TAKE);
}

/* How deep a product's tile may be before it gathers columns of x from several PEs: the widest part
 * of x; never, if each head has columns of its own. */
static inline int64_t llm_x_width(const struct llm_op *op, uint32_t q)
{
    int64_t units = op->x.cols / op->x.unit;

    return op->depth > 0 ? INT64_MAX : op->x.unit * ((units + q - 1) / q);
}

/* A product that cannot end by a time need not: what of it must take on its PE at least, in fs. */
struct llm_limit {
    int64_t fs;                        /* of the kernel; 0: it must end */
    int64_t until_fs;                  /* of the simulation, which ends there; 0: not known */
    double mac[3];                     /* rows, depth and columns of a cycle of its engine */
    double cycle_fs, byte_fs, pair_fs; /* of a cycle; of a byte of weights; of the load and the
                                          product of a pair of tiles; 0: not known */
};

/* What a rank does between two collectives takes the same whenever it does it: when its PEs came to
 * the barrier behind each operation, and when they left it, in a layer that was simulated alone. */
struct llm_known {
    uint32_t ranks; /* 0: nothing is known; 1: of one, and all are like it; or of all of them */
    int64_t *came_fs, *quiet_fs, *end_fs; /* owned: [operation][rank, index]; see llm_step */
    /* Ids that are drawn, by the operation that a leap begins with; owned: [n_leaps]; NULL: ids
     * decide nothing. */
    struct llm_draws *leap;
    size_t n_leaps;
};

struct llm_draws {
    tl_draw *draw; /* owned */
    size_t n;
};

/* What the kernel is given. */
struct llm_step {
    const struct llm_op *op;
    size_t n_ops;
    int64_t layers;        /* how often the operations of a layer are done */
    uint32_t ranks, pes;   /* PEs of each */
    uint32_t copies;       /* that the ranks are of, as many in each */
    uint32_t p, q;         /* p * q == pes */
    const uint32_t *pe_of; /* ranks * pes numbers, twice as many with LLM_SEND: PE `index` of rank
                              `r` is pe_of[r * pes + index] */
    const kb_tensor *room; /* the bytes of each PE */
    uint64_t kv_at, kv_bytes; /* keys and values of layer 0, and bytes of a layer, in a PE */
    uint64_t scratch;         /* for partial sums of rows */
    int64_t page;             /* tokens */
    kb_dtype kv_dtype;
    int64_t acc_bytes; /* room for accumulators */
    int64_t tcm_bytes;
    uint64_t slots;       /* bytes of a TCM that are held for slots of queues */
    uint64_t *slots_used; /* a rehearsal, of messages only; written: the most of any PE. NULL: all
                             is done */
    int64_t *end_fs; /* written: [operation, in the order done][rank, index]: when it ended there */
    int64_t *came_fs;  /* written: the same: when it came to the barrier behind it */
    int64_t *quiet_fs; /* written: the same: when the last bytes have come to its TCM by then */
    int64_t *got_fs;   /* written: [rank, index]: when the next stage had what LLM_SEND sends it */
    /* Where layers may repeat, those that would be as the one before are left out: layers_done. One
     * is compared so many layers after it has begun: 1, as far as it has ended, or 2. 0: they do
     * not repeat. */
    int64_t repeats_since;
    struct llm_limit limit;
    bool *gave_up;                 /* written: a product has passed the limit, or would have */
    bool alone;                    /* what lies between ranks is left out */
    const struct llm_known *known; /* is leapt over: leap.c */
    signed char *agrees;  /* written: [layer]: 1 as the one before, -1 not, 0 not known yet */
    int64_t *layers_done; /* written: how many were not left out */
    size_t *done;         /* written: how many operations the first PE has done */
    size_t *leapt;        /* written: [rank]: operations before the end of its last leap */
    bool *is_wrong;       /* written: what was leapt over is not as known, and `met` says where; or,
                             `alone`, what follows something else would be another */
    bool *met; /* read and written: [operation of any layer, rank]: the first of those that
                  are not to be leapt over */
};

/* Of the operations: those before the layers, and those of a layer. */
struct llm_layout {
    size_t before, each;
};
struct llm_layout llm_layout_of(const struct llm_step *s);

/* Has `layer` taken the same times as the one before, operation by operation on each PE, as far as
 * they have ended? */
bool llm_is_as_before(const struct llm_step *s, int64_t layer);

/* Units of attention are a request and a head of keys and values; PEs that share one unit. */
int64_t llm_units(const struct llm_op *attention);
int64_t llm_pes_of_unit(const struct llm_op *attention, uint32_t pes);

int64_t llm_v_dim(const struct llm_op *attention);

/* Bytes of accumulators that attention needs for a row of each head of a group: of values weighted,
 * and of the sums of weights, in equal columns. */
enum { LLM_SUMS = 16 };
int64_t llm_acc_bytes(const struct llm_op *attention);

/* Sets where pages of requests that are not alike lie. */
void llm_lay_pages(const struct llm_op *attention, const struct llm_step *s);

/* Bytes of what is kept in a layer in a PE, by the operation that keeps it or reads it. */
uint64_t llm_kv_bytes(const struct llm_op *op, const struct llm_step *s);

/* The largest part of a matrix in a PE, in bytes. */
uint64_t llm_part_bytes(const struct llm_matrix *m, uint32_t p, uint32_t q);

/* The operation that sends to the next stage; NULL: there is none. */
const struct llm_op *llm_sending(const struct llm_step *s);

/* The kernel; its `user` is a struct llm_step. All PEs of all ranks run it, and those that what is
 * sent goes to. */
void llm_kernel(tl_ctx *tl, const kb_args *args);

#endif
