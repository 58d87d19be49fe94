/* llm_graph.h -- the operations of one iteration of a model in one rank, with their work. */
#ifndef LLM_GRAPH_H
#define LLM_GRAPH_H
#include "benches/llm/step.h"
#include "cli/llm/model.h"

enum { GRAPH_OPS_MAX = 128, GRAPH_MATRICES = 112 };

/* Numbers of matrices, until they have places; files have others, from NAMED on. */
enum {
    GRAPH_NONE,
    GRAPH_X,
    GRAPH_DELTA,
    GRAPH_NORMED,
    GRAPH_QKV = 5,
    GRAPH_HEADS,
    GRAPH_UP,
    GRAPH_ACT,
    GRAPH_OTHER,
    GRAPH_LAST,
    GRAPH_LOGITS,
    GRAPH_BEST,
    GRAPH_TURNED, /* what rope reads of tables */
    GRAPH_SCORES,
    GRAPH_ROUTES,
    GRAPH_SENT,
    GRAPH_RECEIVED,
    GRAPH_RETURNED,
    GRAPH_EXPERTS_UP,
    GRAPH_EXPERTS_ACT,
    GRAPH_EXPERTS_DOWN,
    GRAPH_Q_LATENT,
    GRAPH_Q_NORMED,
    GRAPH_LATENT,
    GRAPH_LATENT_NORMED,
    GRAPH_ABSORBED,
    GRAPH_LATENT_SUMS,
    GRAPH_KEPT,
    GRAPH_MADE,
    GRAPH_MOVED, /* what loads and stores of a memory move */
    GRAPH_NAMED = 32
};

/* What an iteration is made of. */
struct shape {
    int64_t tp, batch, q, kv; /* ranks, requests, new tokens of each, tokens with the new ones */
    int64_t ep;               /* ranks among which experts are divided; 0: 1 */
    int64_t pp, dp;           /* stages of layers, copies of the model; 0: 1 */
    int64_t first_rank;       /* of the stage that is run */
    int64_t micro;            /* as many times `batch` requests go through the stages; 0: 1 */
    int64_t page;
    struct llm_requests
        *requests; /* borrowed: in place of q; kv is the longest. NULL: all are alike */
    bool has_more; /* of its prompts is to come: no head */
    kb_dtype weights, act, kv_dtype;
    kb_dtype head_weights; /* of the head and of gates; KB_DEFAULT: as weights */
};

static inline int64_t shape_tokens(const struct shape *s)
{
    return s->requests ? s->requests->tokens : s->batch * s->q;
}

/* Copies of the model that share experts, as these are divided among more ranks than one has; */
static inline int64_t shape_copies(const struct shape *s)
{
    return s->ep > s->tp ? s->ep / s->tp : 1;
}

/* and ranks that work together in a stage. */
static inline int64_t shape_ranks(const struct shape *s)
{
    return s->tp * shape_copies(s);
}

/* Requests that have a head. */
static inline int64_t shape_heads(const struct shape *s)
{
    return s->requests ? s->requests->heads : s->has_more ? 0 : s->batch;
}

struct graph {
    struct llm_op op[GRAPH_OPS_MAX];
    size_t n;
    int64_t layers;
    int64_t dense_layers;                    /* before those, each of operations of its own */
    struct llm_limit limit;                  /* of one product */
    uint64_t room, kv_at, kv_bytes, scratch; /* bytes of a PE in all; see struct llm_step */
    uint64_t round; /* a layer is so many bytes behind the one before, or times that; 0: any */
    uint64_t slots; /* bytes of a TCM that are held for slots of queues: run_rehearsal() */
};

/* Heads of keys and values in a rank. */
int64_t graph_kv_heads(const struct model *m, int64_t tp);

/* Makes the operations; places are set by graph_place(). */
void graph_of_model(const struct model *m, const struct shape *s, struct graph *out);

/* Gives every matrix and weight its place in a PE of a grid of p x q. */
void graph_place(struct graph *g, const struct shape *s, uint32_t p, uint32_t q);

/* Which experts tokens go to: all operations on rows of experts are given it. */
void graph_route(struct graph *g, const struct llm_routing *routing);

/* What an operation computes, reads and writes in a rank; of experts in the rank
 * that has most rows, in the first layer. */
uint64_t op_flops(const struct llm_op *op);
uint64_t op_read_bytes(const struct llm_op *op, const struct shape *s);
uint64_t op_written_bytes(const struct llm_op *op, const struct shape *s);

/* Bytes that a rank sends over links, at least; 0: none. */
uint64_t op_link_bytes(const struct llm_op *op, const struct shape *s);

/* Of a number that 0 stands for 1 in. */
static inline int64_t count_of(int64_t n)
{
    return n > 0 ? n : 1;
}

/* NULL, or which number of ranks, of `most`, would do, in `why`. */
const char *graph_refuse(const struct model *m, int64_t tp, int64_t most, char why[256]);

/* The same of the ranks among which experts are divided. */
const char *graph_refuse_ep(const struct model *m, int64_t tp, int64_t dp, int64_t ep,
                            char why[256]);

#endif
