/* points.h -- the points of a sweep, numbered: every combination of what the options list. */
#ifndef POINTS_H
#define POINTS_H
#include "cli/command.h"
#include "cli/in/in_lists.h"
#include "cli/in/transactions.h"

/* An endpoint, or a global address and where its first byte lies; its name made once. */
struct place {
    kb_endpoint end;
    bool by_address;
    uint64_t address;
    char name[KB_ENDPOINT_BYTES];
};

struct places {
    struct place *at; /* owned */
    size_t n, room;
};

struct op_list {
    kb_transaction_op op[N_OPS];
    size_t n;
};

/*
 * The lists, nested: sources, targets, bytes, inflight, ops. Only combinations that have a route
 * are points, and what a source reaches hangs on its kind and SIP alone: `first` is all that is
 * kept to number them.
 */
struct points {
    struct places src, dst;
    struct list bytes, inflight;
    struct op_list pe_ops, host_ops;
    uint32_t *host_dst;     /* owned: targets that hosts reach, by SIP, each SIP's as listed */
    size_t *host_dst_first; /* owned: where those of each SIP begin, and the end */
    uint64_t *first;        /* owned: the number of each source's first point, and of all */
    uint32_t rows;          /* of each point's tile */
    uint64_t stride;
    uint64_t n, n_left_out;
    uint64_t n_transactions;
};

/*
 * Reads what the options list. Give back with points_free(), also after a failure.
 *
 * returns  EXIT_USAGE after a message: a list is wrong, no combination has a route, a size is
 *          above what a target holds; EXIT_SYSTEM
 */
enum exit_code points_read(struct points *p, const struct cli *cli);
void points_free(struct points *p);

/* A point's place in the lists; `dst` counts what its source reaches. */
struct points_at {
    uint64_t number;
    size_t src, dst, bytes, inflight, op;
};

/* Moves to point `number` < n; to the next one it takes some ns. */
void points_seek(const struct points *p, struct points_at *at, uint64_t number);

const struct place *points_src(const struct points *p, const struct points_at *at);
const struct place *points_dst(const struct points *p, const struct points_at *at);
kb_point points_get(const struct points *p, const struct points_at *at);

#endif
