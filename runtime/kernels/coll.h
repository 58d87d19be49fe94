/* coll.h -- what the files of collectives share: the plan of a call, parts and pieces of vectors.
 */
#ifndef COLL_H
#define COLL_H
#include "base/larger.h"
#include "kb_coll.h"
#include "kernels/coll_order.h"
#include "machine/pes.h"
#include <math.h>

/*
 * Members stand in a ring, or a line, at places 0, 1, ...: coll_order.c. A member has two lanes:
 * up, which takes from places below and gives to those above, and down, the other way. Pieces are
 * handled in rounds of as many as fit into the TCM.
 */
enum lane { UP, DOWN, N_LANES };

/* Blocks of several ranks in a vector, one for each place in rows of it: coll_tiles.c. In elements.
 */
enum { TILE_DIMS = KB_RANK_MAX - 1 };
struct coll_tile {
    int n_dims, cut;                           /* pieces have one place along the first `cut` */
    int64_t dim[TILE_DIMS], stride[TILE_DIMS]; /* the outermost first */
    int64_t len, n;                            /* of a block; of all */
    int64_t shares, pieces;                    /* of the axis that is cut; of all */
    int64_t step, members; /* to the tile of the next member; so many have one */
    int64_t groups; /* what is kept has groups of members in one piece; 0: it has pieces of each */
};

/* A vector in a memory; where its parts begin, if they are not as even as can be. Or parts of it
 * are tiles, in the memory or kept in the TCM. */
struct span {
    uint64_t address;
    int64_t n;
    const int64_t *begins; /* [parts + 1] */
    const struct coll_tile *tile;
    tl_tensor **kept; /* a tensor for each piece */
    int64_t place;    /* of a part: of which member */
};

static inline struct span span_of(uint64_t address, int64_t n)
{
    return (struct span){.address = address, .n = n};
}

enum { PIECE_BYTES = 8192 };

/* What is exchanged; DEAL_ROOT: from one; DEAL_TO_ROOT: to one. */
enum deal { DEAL_GATHER, DEAL_SCATTER, DEAL_REDUCE, DEAL_ALL, DEAL_ROOT, DEAL_TO_ROOT };

/* A row of the group, and in which of its rows, one after the other, an all_reduce goes. */
struct row {
    int64_t n, stride; /* in ranks */
    int64_t sharing;   /* so many rows share a link, it is thought */
    bool has_links;    /* between cubes, of its own */
};
enum { ROWS_MOST = 32, AT_ONCE_MOST = 4, SHARING_MOST = 8 /* rows that share a link */ };

/* A vector in the TCM, in blocks of parts: coll_far.c. */
enum { FAR_BLOCKS = 8 };
struct coll_far {
    int64_t n; /* 0: it lies elsewhere */
    tl_tensor *block[FAR_BLOCKS], *stored[FAR_BLOCKS];
    bool came[FAR_BLOCKS];
    int64_t left[FAR_BLOCKS]; /* elements that are not there yet */
};

struct coll {
    tl_ctx *tl;
    tl_here here;
    const char *name; /* of the call */
    kb_group group;
    struct coll_order *order;
    enum deal deal;
    int64_t rank, me; /* the own; the own place */
    int64_t steps[N_LANES], most_steps;
    kb_coll_algorithm rows; /* of an all_reduce; KB_COLL_AUTO: none */
    struct row *row;        /* [n_rows] */
    int n_rows;
    int at_once, turning; /* so many parts go along so many rows, from `turning` on, at once */
    bool folded; /* members from number `core` on give all to others before, and take it behind */
    int64_t core;
    int sharers;  /* so many calls are under way at once, and share the TCM */
    bool is_next; /* another of them pays */
    bool halves;  /* of the vector have a tree each; `second`: this is the other */
    bool second;
    bool ring, direct, tree, writes, pays,
        all_came[N_LANES]; /* all_came: what is held needs no wait */
    kb_dtype dtype;
    tl_op op;
    struct coll_tile *tile;       /* parts are tiles */
    bool is_even;                 /* all parts have as many elements */
    bool of_parts;                /* a gathering or scattering alone */
    bool is_kept;                 /* in the TCM, what is summed is */
    const int64_t *given, *taken; /* where uneven parts of `in`, of `out` begin; or NULL */
    const int64_t *theirs;        /* of an all_to_all: where what goes to each rank begins there */
    int64_t part_most;            /* elements of the largest part */
    int64_t pieces, round;        /* of a part; at once */
    uint64_t spare;               /* bytes of the TCM that these leave for a vector */
    struct coll_far far;
    tl_tensor **held[N_LANES], **got[N_LANES], **own[N_LANES], **next[N_LANES]; /* [round] */
};

/* A gathering of a part into all, or a reduction of all to a part. */
struct ring {
    struct coll *c;
    struct span all, part;
};

/* Round rings or along lines, step by step, of several that share no way at once. */
void coll_rings_gather(const struct ring *rings, int n);
void coll_rings_scatter(const struct ring *rings, int n);

/* Is the way to a memory what a part of a vector of so many bytes takes the longest for? */
bool coll_is_far(const struct coll *c, double bytes);
/* If so, and if there is room, the vector comes into the TCM, and pieces, which are its parts, are
 * taken out of it. */
void coll_far_load(struct coll *c, struct span all);
tl_tensor *coll_far_piece(struct coll *c, struct span all, struct span part);
/* Or it is put together there, and goes. */
void coll_far_new(struct coll *c, struct span all);
void coll_far_put(struct coll *c, struct span all, struct span part, tl_tensor *x);
void coll_far_end(struct coll *c);

/* A plan that is not made; ring or line, or straight from each to each, and in how many steps: by
 * an algorithm that is named, or the fastest for so many bytes. */
struct coll coll_new(tl_here here, tl_ctx *tl, kb_group group, const char *name);
void coll_shape(struct coll *c, kb_coll_algorithm algorithm);
void coll_choose_shape(struct coll *c, double bytes);
uint64_t coll_tcm_bytes(const struct coll *c);
/* Of queues from all that send to a member. Is there room for them, and for so many more? */
uint64_t coll_queues_bytes(const struct coll *c);
bool coll_queues_fit(const struct coll *c, int64_t more);
/* Checks and plans. False: nothing is to be exchanged, and what there is was copied. */
bool coll_begin(struct coll *c, const kb_coll *args, enum deal deal);
/* Leaves the kernel if such a vector does not lie in one memory, or in one row of addresses. */
void coll_check_memory(const struct coll *c, const char *what, struct span v);
/* Of a call with `counts`: where parts begin, and the elements of the largest, 0 of others. */
int64_t coll_find_parts(struct coll *c, const kb_coll *args);
/* By the plan. */
void coll_gather(struct coll *c, struct span in, struct span all);
void coll_scatter(struct coll *c, struct span all, struct span out);

int coll_halves_of(struct row of, struct row *rows);
int coll_rows_of(const struct coll *c, kb_coll_algorithm algorithm, struct row *rows);
/* The members of the row in which c->rank stands. */
struct coll coll_of_row(const struct coll *c, struct row row);
/* Along one row of the group after the other: chooses which rows, if any; does it. */
void coll_choose_rows(struct coll *c, const kb_coll *args);
void coll_reduce_by_rows(struct coll *c, kb_coll args);
void coll_gather_by_rows(struct coll *c, kb_coll args);
void coll_scatter_by_rows(struct coll *c, kb_coll args);
/* The bytes of a piece of a part. */
uint64_t coll_chunk(const struct coll *c, const kb_coll *args);

/* Of a message between two PEs, on an idle machine; false: there is no way. */
enum { SAMPLE = 65536 }; /* its bytes */
int64_t coll_way_fs(const struct kb_topology *t, uint32_t from, uint32_t to);
bool coll_way_cost(const struct kb_topology *t, uint32_t from, uint32_t to, kb_cost *cost);

/* Above so many ranks it is not looked up whether all are near. */
enum { NEAR_MOST = 16 };

/* What is known of the group, which is looked up once in a run; leaves the kernel if it is none. */
struct coll_order *coll_order_of(const struct coll *c);
int64_t coll_place(const struct coll *c, int64_t rank);         /* of a rank */
int64_t coll_rank(const struct coll_order *order, uint32_t pe); /* `n`: it is no member */

/* Ends the run as a mistake of the kernel. */
__attribute__((format(printf, 2, 3))) _Noreturn void coll_bad(const struct coll *c,
                                                              const char *format, ...);

/* The same, and all_to_all, straight from each to each. */
void coll_exchange(struct coll *c, enum deal deal, struct span in, struct span out);
/* An all_to_all without queues. */
void coll_write_all(struct coll *c, struct span in, struct span out);

/* From the root, a rank, to all, and from all to the root. */
void coll_broadcast(struct coll *c, int64_t root, struct span in, struct span out);
void coll_reduce(struct coll *c, int64_t root, struct span in, struct span out);
/* Of a root, or back and there again: do all bytes go each way? */
static inline bool is_rooted(const struct coll *c)
{
    return c->deal == DEAL_ROOT || c->deal == DEAL_TO_ROOT || (c->deal == DEAL_REDUCE && c->tree);
}

/* Returns when all members have called it. */
void coll_barrier(struct coll *c);

/* -- parts ------------------------------------------------------------------------------------ */

static inline int64_t share(int64_t size, int64_t i, int64_t n)
{
    return size / n * i + size % n * i / n;
}

struct coll;
/* Cuts a tile for such a chunk, of bytes: into how many pieces. */
int64_t coll_tile_cut(struct coll_tile *t, uint64_t element, uint64_t chunk);
struct span coll_tile_part(kb_dtype dtype, struct span v, int64_t i);
struct span coll_tile_piece(kb_dtype dtype, struct span part, int64_t piece);
kb_shape coll_tile_shape(struct span piece);
/* Gives back `strides`. */
const int64_t *coll_tile_strides(struct span piece, uint64_t element, int64_t *strides);
tl_tensor *coll_tile_kept(const struct coll *c, struct span piece);

/* Part i of n. */
static inline struct span part_of(kb_dtype dtype, struct span v, int64_t i, int64_t n)
{
    int64_t begin, end;

    if (v.tile)
        return coll_tile_part(dtype, v, i);
    begin = v.begins ? v.begins[i] : share(v.n, i, n);
    end = v.begins ? v.begins[i + 1] : share(v.n, i + 1, n);
    return span_of(v.address + (uint64_t)begin * kb_dtype_bytes(dtype), end - begin);
}

static inline struct span piece_of(const struct coll *c, struct span part, int64_t piece)
{
    return part.tile ? coll_tile_piece(c->dtype, part, piece)
                     : part_of(c->dtype, part, piece, c->pieces);
}

static inline int64_t place_in(const struct coll *c, int64_t place)
{
    return (place % c->group.n + c->group.n) % c->group.n;
}

static inline uint32_t pe_of(const kb_group *g, int64_t rank)
{
    uint32_t at = g->first + (uint32_t)rank * g->stride;

    return g->pes ? g->pes[at] : at;
}

/* -- pieces ----------------------------------------------------------------------------------- */

static inline void pay(const struct coll *c, tl_cost cost)
{
    if (c->pays)
        tl_pay_at(c->here, c->tl, cost);
}

static inline kb_shape shape_of(struct span at)
{
    return at.tile ? coll_tile_shape(at) : KB_SHAPE(at.n);
}

/* NULL: it lies together. */
static inline const int64_t *strides_of(const struct coll *c, struct span at, int64_t *strides)
{
    return at.tile ? coll_tile_strides(at, kb_dtype_bytes(c->dtype), strides) : NULL;
}

/* NULL for an empty piece, here and below. What is kept is there at once. */
static inline tl_tensor *load(const struct coll *c, struct span at)
{
    int64_t strides[KB_RANK_MAX];

    if (at.n == 0)
        return NULL;
    if (at.kept)
        return coll_tile_kept(c, at);
    return tl_load_at(c->here, c->tl, at.address, c->dtype, shape_of(at),
                      strides_of(c, at, strides), true);
}

static inline tl_tensor *await(const struct coll *c, tl_tensor *x)
{
    if (x)
        tl_wait_at(c->here, c->tl, x);
    return x;
}

static inline void drop(const struct coll *c, tl_tensor **x)
{
    if (*x)
        tl_free_at(c->here, c->tl, *x);
    *x = NULL;
}

static inline tl_tensor *store(const struct coll *c, struct span at, tl_tensor *x)
{
    int64_t strides[KB_RANK_MAX];

    return x ? tl_store_at(c->here, c->tl, at.address, x, strides_of(c, at, strides), true) : NULL;
}

/* Stores a sum, or keeps it: *sum becomes NULL. */
static inline tl_tensor *settle(const struct coll *c, struct span at, tl_tensor **sum)
{
    if (!at.kept)
        return store(c, at, *sum);
    *at.kept = *sum;
    *sum = NULL;
    return NULL;
}

/* The place `by` further; < 0: past an end of the line. */
static inline int64_t neighbour(const struct coll *c, int64_t by)
{
    int64_t place = c->me + by;

    if (c->ring)
        return place_in(c, place);
    return place < c->group.n ? place : -1;
}

static inline uint32_t pe_at(const struct coll *c, int64_t place)
{
    return c->order->placed[place];
}

static inline int64_t neighbour_pe(const struct coll *c, int64_t by)
{
    int64_t place = neighbour(c, by);

    return place < 0 ? -1 : (int64_t)pe_at(c, place);
}

/* From, and to, a PE; < 0: there is none. */
static inline tl_tensor *receive_from(const struct coll *c, int64_t pe, struct span at)
{
    return at.n > 0 && pe >= 0
               ? tl_recv_at(c->here, c->tl, (uint32_t)pe, KB_COLL_TAG, c->dtype, shape_of(at), true)
               : NULL;
}

static inline void give_to(const struct coll *c, int64_t pe, tl_tensor *x)
{
    if (x && pe >= 0)
        tl_send_at(c->here, c->tl, (uint32_t)pe, KB_COLL_TAG, x);
}

/* The same of the one that stands `by` places off. */
static inline tl_tensor *receive(const struct coll *c, enum lane lane, int64_t by, struct span at)
{
    return receive_from(c, neighbour_pe(c, lane == UP ? -by : by), at);
}

static inline void give(const struct coll *c, enum lane lane, int64_t by, tl_tensor *x)
{
    give_to(c, neighbour_pe(c, lane == UP ? by : -by), x);
}

static inline tl_tensor *reduce(const struct coll *c, tl_tensor *x, tl_tensor *y)
{
    tl_tensor *z;

    if (!x || !y)
        return x ? x : y;
    z = tl_math_at(c->here, c->op, c->tl, x, y, NULL);
    tl_free_at(c->here, c->tl, x);
    tl_free_at(c->here, c->tl, y);
    return z;
}

/* Do steps cost this call something? */
static inline bool pays_steps(const struct coll *c)
{
    return c->pays && tl_topology(c->tl)->step_fs > 0;
}

/* For each part that comes in the step: two on a ring, one on a line. */
static inline void pay_step(const struct coll *c, int64_t step)
{
    for (enum lane lane = UP; lane < (c->ring ? N_LANES : DOWN); lane++)
        if (step <= c->steps[lane])
            pay(c, TL_COST_STEP);
}

static inline void copy(const struct coll *c, struct span from, struct span to)
{
    for (int64_t i = 0; from.address != to.address && i < c->pieces; i++) {
        tl_tensor *x = await(c, load(c, piece_of(c, from, i)));

        await(c, store(c, piece_of(c, to, i), x));
        drop(c, &x);
    }
}

/* The part of the rank at a place, which counts modulo n. */
static inline struct span part_at(const struct coll *c, struct span all, int64_t place)
{
    return part_of(c->dtype, all, c->order->ranks[place_in(c, place)], c->group.n);
}

/* Does the lane take part in this step, and is there a place `up` places on in its direction? */
static inline bool is_there(const struct coll *c, enum lane lane, int64_t step, int64_t up)
{
    int64_t place = lane == UP ? c->me + up : c->me - up;

    return step >= 1 && step <= c->steps[lane] && (c->ring || (place >= 0 && place < c->group.n));
}

/* Of a lane that does not take part in this step: none. */
static inline struct span part_in(const struct coll *c, struct span all, enum lane lane,
                                  int64_t step, int64_t up)
{
    if (!is_there(c, lane, step, up))
        return (struct span){0};
    return part_at(c, all, lane == UP ? c->me + up : c->me - up);
}

#endif
