/* kb_coll.h -- collectives for kernels: a group of PEs gathers, reduces or exchanges vectors.
 *
 * Every member of a group calls with the same group, count, type and options, in the same order,
 * from inside any kernel; the call returns when the member's own result lies in its memory. Vectors
 * lie anywhere that the PE may load from and store to, and may be larger than a TCM. Part i of a
 * vector of `count` elements, of n, is [i * count / n, (i + 1) * count / n), rounded down.
 *
 *     kb_group g = kb_group_all(tl);
 *
 *     kb_all_gather(tl, g, .in = mine, .out = all, .count = 1000, .dtype = KB_F16);
 *
 * Messages are those of tl_send() under tag KB_COLL_TAG, which kernels that call these leave alone,
 * in pieces of `chunk` bytes; a step passes a piece on as it comes. Room is that of the TCM.
 *
 * order      Rings and lines visit members in the order of their ranks, or, where that is shorter,
 * on a lap of the machine from neighbour to neighbour. Places below count along that.
 *
 * algorithm  KB_COLL_RING: both ways round, each part by the shorter one, in n / 2 steps.
 *            KB_COLL_ONE_WAY: upwards only, in n - 1 steps, for planes that go one way.
 *            KB_COLL_LINE: both ways from end to end, in n - 1 steps.
 *            KB_COLL_DIRECT: straight from each to each, in one. Where queues from all others do
 * not fit, members of a kb_all_to_all write to each other between two barriers, and `in` must not
 * be `out`. KB_COLL_AXES: an all_reduce or all_to_all along the axes of its group. An all_reduce of
 * a long vector goes along all axes between cubes at once, a part along each. KB_COLL_AUTO: by an
 * estimate of each; straight in groups of 4 to 16 where no way is longer than that between
 * neighbours. KB_COLL_DOUBLE_TREE: an all_reduce, each half on a tree of its own, in which a rank
 * has two below it at most; one that has some in a tree has none in the other.
 *
 * sums       Values that come from below are added in the order of their way, `sum so far op own`;
 *            then those from above, `theirs op own`: the same for every chunk.
 *
 * time       A call that spans two units of machine.software pays call_ns (all_reduce twice, as it
 *            is a reduce_scatter and an all_gather), and step_ns for each part that comes: n - 1
 *            times. Where step_ns is not 0, a step begins when all of the one before has come.
 *
 * errors     A group that names a PE twice, or one that does not exist, or not the caller; a count
 *            below 0, or counts that are not `count` in all; a chunk, a queue or a vector that does
 *            not fit; an algorithm that the call or the group does not have; no memory.
 */
#ifndef KB_COLL_H
#define KB_COLL_H
#include "tl.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum { KB_COLL_TAG = TL_TAGS - 1 };

typedef enum kb_coll_algorithm {
    KB_COLL_AUTO,
    KB_COLL_RING,
    KB_COLL_ONE_WAY,
    KB_COLL_LINE,
    KB_COLL_DIRECT,
    KB_COLL_AXES,
    KB_COLL_HALVING,
    KB_COLL_HIERARCHICAL,
    KB_COLL_AXES_HALVING,
    KB_COLL_TREE,
    KB_COLL_DOUBLE_TREE,
    KB_COLL_ALGORITHMS /* how many */
} kb_coll_algorithm;

/* "auto", "ring", "one_way", ...; the algorithm of a name, KB_COLL_ALGORITHMS of none. */
const char *kb_coll_name(kb_coll_algorithm algorithm);
kb_coll_algorithm kb_coll_parse(const char *name);

typedef enum kb_axis { KB_PES, KB_X, KB_Y, KB_SIPS, KB_AXES } kb_axis;

/*
 * PEs by rank: a list, which the caller keeps, or with pes NULL first, first + stride, ... Its axes
 * are known if it is made of whole rows of PEs, of cubes and of SIPs: n PEs every stride along
 * each.
 */
typedef struct kb_group {
    const uint32_t *pes;
    uint32_t first, stride;
    int64_t n;
    uint32_t axes[KB_AXES]; /* how many along each; 0: not known */
} kb_group;

kb_group kb_group_list(tl_ctx *tl, const uint32_t *pes, int64_t n);
kb_group kb_group_cube(tl_ctx *tl); /* PEs of the own cube */
kb_group kb_group_sip(tl_ctx *tl);  /* of the own SIP */
kb_group kb_group_all(tl_ctx *tl);
kb_group
kb_group_cubes(tl_ctx *tl); /* of the own number in every cube; in that cube of every SIP */
kb_group kb_group_sips(tl_ctx *tl);
/* The PEs that differ from the own one along an axis alone. Wants cubes that are all alike. */
kb_group kb_group_axis(tl_ctx *tl, kb_axis axis);

typedef struct kb_coll {
    uint64_t in, out; /* addresses; equal, in place, or disjoint */
    int64_t count;    /* elements of the whole vector: of all parts together */
    kb_dtype dtype;
    tl_op op; /* of reductions: TL_ADD, TL_MAXIMUM, TL_MINIMUM */
    kb_coll_algorithm algorithm;
    int64_t root;   /* of a broadcast, of a reduction to one: a rank */
    uint64_t chunk; /* bytes; 0: a quarter of a part, at most a slot, but 8 KiB; at most 1/16 of the
                       TCM */
    /* Elements of each part, if they are uneven: of rank i counts[i], whose sum is `count`; of an
     * all_to_all from rank i to rank k counts[i * n + k], without `count`. The caller keeps it. */
    const int64_t *counts;
} kb_coll;

#ifdef __cplusplus
#define KB_COLL_ARGS_(...)                                                                         \
    kb_coll                                                                                        \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#else
#define KB_COLL_ARGS_(...)                                                                         \
    (kb_coll)                                                                                      \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#endif

/* Part i of `out` becomes the `in` of rank i, which is one part. In place: in is the own part. */
#define kb_all_gather(tl, group, ...)                                                              \
    kb_all_gather_at(TL_HERE, tl, group, KB_COLL_ARGS_(__VA_ARGS__))
/* `out`, one part, becomes the own part of the reduction of all `in`. */
#define kb_reduce_scatter(tl, group, ...)                                                          \
    kb_reduce_scatter_at(TL_HERE, tl, group, KB_COLL_ARGS_(__VA_ARGS__))
/* `out` becomes the reduction of all `in`. */
#define kb_all_reduce(tl, group, ...)                                                              \
    kb_all_reduce_at(TL_HERE, tl, group, KB_COLL_ARGS_(__VA_ARGS__))
/* Part i of `out` becomes part `me` of the `in` of rank i. count is a multiple of the ranks. */
#define kb_all_to_all(tl, group, ...)                                                              \
    kb_all_to_all_at(TL_HERE, tl, group, KB_COLL_ARGS_(__VA_ARGS__))
/* `out` becomes the `in` of the root, of which alone that is read. */
#define kb_broadcast(tl, group, ...) kb_broadcast_at(TL_HERE, tl, group, KB_COLL_ARGS_(__VA_ARGS__))
/* `out` of the root, of which alone that is written, becomes the reduction of all `in`. */
#define kb_reduce(tl, group, ...) kb_reduce_at(TL_HERE, tl, group, KB_COLL_ARGS_(__VA_ARGS__))
/* `in` of this PE becomes `out` of rank `to`, which calls kb_recv() with this rank, the same count
 * and type. Both return when their own part is done. */
#define kb_send(tl, group, to, ...) kb_send_at(TL_HERE, tl, group, to, KB_COLL_ARGS_(__VA_ARGS__))
#define kb_recv(tl, group, from, ...)                                                              \
    kb_recv_at(TL_HERE, tl, group, from, KB_COLL_ARGS_(__VA_ARGS__))
/*
 * What KB_COLL_AUTO weighs: about how long such a call would take by each algorithm, in fs, on an
 * idle machine; < 0: the call does not have it. Costs no time.
 */
typedef enum kb_coll_call {
    KB_ALL_GATHER,
    KB_REDUCE_SCATTER,
    KB_ALL_REDUCE,
    KB_BROADCAST,
    KB_REDUCE
} kb_coll_call;
#define kb_coll_estimates(tl, group, call, fs, ...)                                                \
    kb_coll_estimates_at(TL_HERE, tl, group, call, fs, KB_COLL_ARGS_(__VA_ARGS__))

/* The PEs of the group in the order in which rings go round it; kept until the run ends. */
#define kb_coll_order(tl, group) kb_coll_order_at(TL_HERE, tl, group)
/* Returns when all members have called it. */
#define kb_coll_barrier(tl, group) kb_coll_barrier_at(TL_HERE, tl, group)
void kb_all_gather_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll args);
void kb_reduce_scatter_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll args);
void kb_all_reduce_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll args);
void kb_all_to_all_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll args);
void kb_broadcast_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll args);
void kb_reduce_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll args);
void kb_send_at(tl_here here, tl_ctx *tl, kb_group group, int64_t to, kb_coll args);
void kb_recv_at(tl_here here, tl_ctx *tl, kb_group group, int64_t from, kb_coll args);
void kb_coll_barrier_at(tl_here here, tl_ctx *tl, kb_group group);
const uint32_t *kb_coll_order_at(tl_here here, tl_ctx *tl, kb_group group);
void kb_coll_estimates_at(tl_here here, tl_ctx *tl, kb_group group, kb_coll_call call,
                          int64_t fs[KB_COLL_ALGORITHMS], kb_coll args);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
