/* traffic.h -- open-loop traffic: what each PE issues, when and where to, and how long it took. */
#ifndef TRAFFIC_H
#define TRAFFIC_H
#include "machine/pes.h"
#include "base/rng.h"
#include "engine/state.h"

/* One PE that issues; of mixed traffic its reads, or its writes. A cache line. */
struct source {
    struct rng rng;
    double mean_fs;  /* between two transactions */
    double rest_fs;  /* by how much the next is later than next_fs: below 1 */
    int64_t next_fs; /* when the next is issued */
    uint32_t next_dst;
    uint32_t n; /* issued so far */
};

/* Where one PE sends, if a matrix says so: `sum` of all weights up to and with this one. */
struct target {
    double sum;
    uint32_t dst;
};

/* Four thousand million latencies of two hours pass 64 bits. */
__extension__ typedef unsigned __int128 unsigned_sum;

/* Transactions issued in one part of the time, and their terms, summed; drain is the rest. */
struct part {
    uint64_t count, completed; /* completed in that part, whenever issued */
    int64_t max_fs;
    unsigned_sum actual, wire, overhead, channel, link, memory, back;
    wait_sum packets; /* what transactions alone take more than their terms: traffic_add_split() */
};

#define TRAFFIC_HORIZON_MOST 0x1p61 /* fs */
enum { TRAFFIC_PARTS = 32, TRAFFIC_EXACT = 1 << 21 /* latencies that are kept as they are */ };

struct traffic {
    struct kb_traffic request;
    uint32_t n_pes;
    int64_t horizon_fs;     /* nothing is issued then or later, */
    int64_t last_fs;        /* nor at this time, which fixed intervals reach half of one before */
    double parts_per_fs;    /* TRAFFIC_PARTS over that */
    uint32_t kinds;         /* of transactions of a PE: 1, or 2: it reads and writes */
    struct source *sources; /* owned: [PE][kind]; source_of() */
    uint32_t n_slices;
    uint32_t *home_of;      /* owned: the packed home slice of each PE */
    uint32_t *slice_of;     /* owned: the packed memory of each slice that is there */
    struct target *targets; /* owned: of a matrix, those of each PE behind one another */
    uint32_t *first_target; /* owned: [n_pes + 1] */
    uint32_t free_slot;     /* list of transactions that are not in use */
    uint64_t n_issued;

    struct part parts[TRAFFIC_PARTS];
    /* Latencies and their parts; when they are too many, a histogram for each part. Owned. */
    int64_t *actual_fs;
    uint8_t *part_of;
    uint64_t n_exact;
    uint32_t *buckets; /* [TRAFFIC_PARTS][BUCKETS]; NULL: latencies are exact */

    /* stream, strided:N, random (traffic_walk.c) */
    uint64_t share_bytes; /* of addresses that a PE walks */
    uint64_t step_bytes, steps;
    uint32_t *rank_of; /* owned: [pe]: among those that share its addresses; NULL: none do */

    /* multicast:N (traffic_cast.c) */
    struct targets *to_all; /* the simulation's: of the write that is being made; NULL: none */
    uint32_t *reached;      /* owned; [memory]: the write that came there last, from 1 */

    uint32_t most_parts;  /* of a transaction; 0: none has some */
    uint32_t *part_slots; /* owned; [most_parts] */
};

static inline bool traffic_walks(const struct traffic *tr)
{
    return tr->request.pattern >= KB_STREAM && tr->request.pattern <= KB_RANDOM;
}

/* The number of a PE's source of reads or of writes: of traffic of one kind that of the PE. */
static inline uint32_t source_of(const struct traffic *tr, uint32_t pe, bool writes)
{
    return tr->kinds == 2 ? 2 * pe + writes : pe;
}

/* Prepares a walk. KB_BAD_REQUEST with the reason in `why`; KB_NO_MEMORY. */
kb_status walk_init(struct traffic *tr, const struct kb_topology *t, kb_error *why);

/* Draws the place of transaction `k` of a source; it does not depend on what was drawn before. */
static inline struct rng random_place(const struct traffic *tr, uint32_t source, uint32_t k)
{
    return rng_of_number(tr->request.seed, ((uint64_t)source + 1) << 32 | k);
}

/* Where in the share of its PE transaction `k` of a source begins. */
uint64_t walk_offset(const struct traffic *tr, uint32_t source, uint32_t k);

/* The interleaved address of transaction `k` of a source. */
uint64_t walk_address(const struct kb_topology *t, const struct traffic *tr, uint32_t source,
                      uint32_t k);

/* Prepares multicasts, when homes are known. KB_BAD_REQUEST with the reason in `why`; KB_NO_MEMORY.
 */
kb_status cast_init(struct kb_sim *s, struct traffic *tr, kb_error *why);

/* The targets of the multicast that PE `pe` makes now, there until the next is made. */
const struct targets *cast_targets(struct traffic *tr, uint32_t pe, uint64_t offset);

/* A slot that is free; TXN_NONE: none is. */
static inline uint32_t traffic_take_slot(struct kb_sim *s)
{
    uint32_t slot = s->traffic->free_slot;

    if (slot != TXN_NONE)
        s->traffic->free_slot = s->txns[slot].next;
    return slot;
}

/* Transactions there are: added, or issued by traffic so far. */
static inline uint64_t sim_txn_count(const struct kb_sim *s)
{
    return s->traffic ? s->traffic->n_issued : s->n_txns;
}

void traffic_free(struct traffic *tr);

/* Bytes of the smallest slice. */
uint64_t traffic_smallest_slice(const struct kb_topology *t);

/* The square root of `n`, rounded down. */
uint32_t traffic_root(uint32_t n);

/* Does source `i` write? */
static inline bool traffic_writes(const struct traffic *tr, uint32_t i)
{
    return tr->kinds == 2 ? i % 2 : tr->request.op == KB_WRITE;
}

/* Gives traffic to `s`, which is new; what is drawn before traffic_start() is of `warm`. */
kb_status traffic_make(struct kb_sim *s, const kb_traffic *request, kb_error *why);
kb_status traffic_start(struct kb_sim *s, kb_error *why);

/* Draws the next transaction of a source, whenever that is. False: it never issues any. */
bool traffic_draw_any(struct traffic *tr, uint32_t source);

/* Time 0 of all sources is now, after what they have drawn. */
void traffic_set_out(struct traffic *tr);

/* Where transaction `k` of a source, to `dst`, lies in its memory, or at which address; and its
 * targets, there until the next is asked for. */
struct bytes_at traffic_place(const struct kb_sim *s, uint32_t source, uint32_t k, uint32_t dst);

/* Draws the next transaction of a source; false: it issues no more. */
bool traffic_draw(struct traffic *tr, uint32_t source);

/*
 * The engine's: a channel has taken a read or a write of `src`, PE number `pe`, at `t`, so its next
 * one may come.
 */
void traffic_next(struct kb_sim *s, uint64_t t, uint32_t src, uint32_t pe, bool writes);

/* What is wrong when a run of traffic ends as KB_BAD_REQUEST. */
#define TRAFFIC_NO_WAY "there is no way between two cubes that a transaction of the traffic joins"

/* Keeps a latency of transactions issued in `part`. False without memory. */
bool traffic_keep(struct traffic *tr, uint32_t part, int64_t actual_fs);

/* Statistics of the parts of a split transaction, before their slots are used again. */
void traffic_end_parts(struct kb_sim *s, uint32_t slot);

static inline void traffic_no_memory(struct kb_sim *s)
{
    s->status = KB_NO_MEMORY;
    s->stop_fs = 0;
}

/* The part of the time that `fs` lies in. */
static inline uint32_t traffic_part_at(const struct traffic *tr, int64_t fs)
{
    uint32_t part = (uint32_t)((double)fs * tr->parts_per_fs);

    return part < TRAFFIC_PARTS ? part : TRAFFIC_PARTS - 1;
}

#endif
