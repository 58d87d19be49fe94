/* replay.h -- a trace of each rank: operations with what they wait for, and the kernel that does
 * them. */
#ifndef REPLAY_H
#define REPLAY_H
#include "kernbench.h"

/* Things that a rank has one of: those that use the same one follow each other. */
enum replay_slot {
    REPLAY_CPU,
    REPLAY_COMPUTE,
    REPLAY_COMM,
    REPLAY_RECV, /* waits for what is sent; uses REPLAY_COMM while that comes */
    REPLAY_NONE, /* takes no time, and waits for nothing but what is before it */
    REPLAY_SLOTS
};

enum replay_what {
    REPLAY_TIME, /* known: fs */
    REPLAY_ALL_REDUCE,
    REPLAY_ALL_GATHER,
    REPLAY_REDUCE_SCATTER,
    REPLAY_ALL_TO_ALL,
    REPLAY_BROADCAST,
    REPLAY_REDUCE,
    REPLAY_BARRIER,
    REPLAY_SEND,
    REPLAY_TAKE /* what is sent */
};

struct replay_node {
    enum replay_slot slot;
    enum replay_what what;
    int64_t fs;
    int64_t bytes;         /* the array of a rank; of an all_gather what is gathered */
    const uint32_t *ranks; /* of a collective; borrowed */
    uint32_t n_ranks;
    uint32_t peer; /* of a message: the other rank */
    int64_t tag;
    uint32_t n_deps;
    const uint32_t *next; /* nodes that wait for it; borrowed */
    uint32_t n_next;
};

/* What a rank does, and how far it is. The caller owns the lists. */
struct replay_rank {
    const struct replay_node *node; /* in order of their ids */
    uint32_t n;
    uint32_t *next;             /* what nodes wait for, of all nodes */
    uint32_t *left;             /* [n]: nodes that a node waits for */
    int64_t *begin_fs, *end_fs; /* [n]: written */
    uint32_t *ready;            /* [REPLAY_SLOTS][n]: heaps, the lowest first */
    uint32_t n_ready[REPLAY_SLOTS];
    int64_t busy[REPLAY_SLOTS]; /* node that takes a known time; < 0: none */
    int64_t now_fs, came_fs;    /* since the start; the last PE at the end of what it did */
    int64_t under_way;          /* node that PEs do; < 0: none */
    struct replay_step *step;   /* [2 n + 2]: what PEs were told to do */
    uint32_t n_steps;
    uint32_t *sent, n_sent; /* [n]: messages that it has begun to send, in order */
    uint32_t *taken;        /* [ranks]: up to which of those that a rank has sent */
};

/* Wait until at_fs; then do a node, if it is not below 0, or ask again. */
struct replay_step {
    int64_t at_fs, node;
};

struct replay {
    struct replay_rank *rank;
    uint32_t ranks, pes; /* PEs of each rank */
    const uint32_t *pe_of;
    const kb_tensor *room; /* the bytes of each PE: half of them are read, half are written */
    uint64_t half;
    kb_dtype dtype; /* of what is reduced */
};

/* Elements that one PE of a rank has of a node's array, at most. */
int64_t replay_part(const struct replay *r, const struct replay_node *node);

/* The kernel; its `user` is a struct replay. All PEs of all ranks run it. */
void replay_kernel(tl_ctx *tl, const kb_args *args);

/* At the start: what waits for nothing is ready. */
void replay_rank_begin(struct replay_rank *rank);

/* Has a rank done all? */
bool replay_is_done(const struct replay_rank *rank);

#endif
