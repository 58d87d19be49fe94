/* alone_banks.h -- how a transaction comes to an idle memory, and an idle memory with banks. */
#ifndef ALONE_BANKS_H
#define ALONE_BANKS_H
#include "machine/alone.h"
#include "machine/bank_rules.h"

/* An answer: there was no memory to find it. */
#define NO_MEMORY INT64_MIN

static inline bool alone_writes(const struct alone_of *of)
{
    return of->op == KB_WRITE || of->op == KB_H2D;
}

static inline const struct memory_row *alone_memory(const struct alone_of *of)
{
    return of->behind ? cost_behind_cache(of->t, of->trip.dst)
                      : cost_memory(of->t, of->trip.dst, alone_writes(of));
}

static inline const struct bank_row *alone_banks(const struct alone_of *of)
{
    return &kind_at(of->t, dst_cube(of->t, of->trip.dst))->banks;
}

/* -- how it comes ----------------------------------------------------------------------------- */

/* What is still to come: a read is one part, a write behind routers one for each packet. */
struct coming {
    struct stream *way; /* NULL: one part, at once */
    uint64_t nbytes, size, from;
    int64_t first_fs,
        tail_fs; /* arrivals: of the first segment of all; of the last tail, less that */
};

struct part {
    int64_t t_fs; /* its first segment arrives: 0 of the first part */
    uint64_t from, nbytes;
};

static inline uint64_t at_most(uint64_t n, uint64_t most)
{
    return n < most ? n : most;
}

/* Finds its way, that of a read backwards. False: no memory. */
bool alone_find_way(struct idle *idle, const struct alone_of *of);
struct coming alone_coming(struct idle *idle, const struct alone_of *of);
/* The next part; false: all have come. */
bool alone_next_part(struct coming *c, struct part *part);
/* Room for all channels of `row`, none of which has begun. False without memory. */
bool alone_begin_banks(struct idle *idle, const struct alone_of *of);
/* All channels go on until `t`. */
void alone_settle(struct idle *idle, int64_t t);
void alone_come_to_channels(struct idle *idle, uint32_t row);
/* The first instant at which a channel decides. */
int64_t alone_next_decision_fs(const struct idle *idle);
/* All are idle again, and the next access is row 0. */
void alone_end_banks(struct idle *idle);
/* An access: rows are given from 0 on. BANK_NONE without memory. */
uint32_t alone_new_access(struct idle *idle, uint64_t offset, uint64_t nbytes, bool is_write);
struct alone alone_in_banks(struct idle *idle, const struct alone_of *of);

#endif
