/* coll_order.h -- what is found once for a group: its members, and in which order a ring is. */
#ifndef COLL_ORDER_H
#define COLL_ORDER_H
#include "data/mem.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* The commands of a piece. */
#define PIECE_FS 24000000.0

/* Ways between places that follow each other, in fs on an idle machine. */
struct coll_ways {
    int64_t sum_fs, longest_fs; /* all; the longest, without the last */
    int64_t last_fs;            /* between the last place and the first */
};

struct coll_order {
    struct coll_order *next;
    int64_t n;
    uint32_t *pes;            /* owned; by rank */
    uint32_t *ranks, *placed; /* owned; by place, and the PEs */
    uint32_t *places;         /* owned; by rank */
    bool is_row;              /* PEs in equal strides, upwards: */
    uint32_t first, stride;
    uint64_t *outs;            /* owned; by rank: where it wants what others write */
    struct coll_ways up, down; /* to the place above; to the one below */
    double hops_ratio; /* nodes on ways down to those up, at least 1: more if a plane is one-way */
    double byte_fs;    /* what a byte takes on the slowest way */
    double piece_fs;   /* what a PE does for a piece */
    double memory_fs;  /* what a byte takes of a memory while all PEs load at once */
    int64_t farthest_fs; /* of all ways between members, if these are few */
    bool spans_units;    /* members stand in two units of machine.software */
    bool near;           /* few members, and all ways between them are as short as any */
};

enum { COLL_MAKING = 8 }; /* blocks that an order, or the places, are made of and with */

/* Of a launch. */
struct coll_orders {
    struct coll_order **bucket; /* owned; [n_buckets], a power of two: those of a hash */
    uint32_t n_buckets, n;      /* n: orders */
    uint32_t *place;            /* owned: of a cube, on the lap of all of them */
    struct version *zeros;      /* owned: what blocks begin with: coll_far.c */
    void *making[COLL_MAKING];  /* owned: blocks of what is not whole yet, if memory ends there */
    int n_making;
};

static inline void coll_order_free(struct coll_order *order)
{
    free(order->pes);
    free(order->ranks);
    free(order->placed);
    free(order->places);
    free(order->outs);
    free(order);
}

static inline void coll_orders_free(struct coll_orders *o)
{
    struct coll_order *next;

    for (uint32_t i = 0; o && i < o->n_buckets; i++)
        for (struct coll_order *order = o->bucket[i]; order; order = next) {
            next = order->next;
            coll_order_free(order);
        }
    if (o) {
        free(o->bucket);
        for (int i = 0; i < o->n_making; i++)
            free(o->making[i]);
        version_drop(o->zeros);
        free(o->place);
    }
    free(o);
}

#endif
