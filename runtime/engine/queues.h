/* queues.h -- the memories of one simulation that are queueing components. */
#ifndef QUEUES_H
#define QUEUES_H
#include "engine/delivery.h"
#include "machine/queueing.h"

struct kb_sim;
struct txn;

/* No transaction: a cache in front has asked. */
#define ASKED_BY_CACHE (TXN_NONE - 1)

/* A request that waits, found by its id: a part of the transaction in `slot`. */
struct waiting {
    uint64_t id;
    struct delivery part;
    uint32_t slot;   /* ASKED_BY_CACHE; TXN_NONE: the row is free */
    uint32_t dst;    /* its memory */
    uint64_t number; /* that it has to the cache */
    uint64_t part_number;
    uint32_t of; /* the transaction that the cache has asked for */
};

/* What a cache has asked, and has not come yet. */
struct coming_request {
    struct kb_request request;
    struct waiting waiting;
};

struct coming_requests {
    struct coming_request *rows; /* owned; a ring of 2^bits, or NULL */
    uint32_t first, next, room;
};

/* One of them. All times of `asked` are of this simulation. */
struct queueing_memory {
    struct queueing asked;
    int64_t event_fs;  /* its next event; INT64_MAX: it has none */
    uint32_t waiting;  /* requests that have come, and it has not said when they are done */
    uint32_t wakes;    /* since it was done with one */
    int64_t last_fs;   /* the last end of all that has come and does not wait */
    int64_t busy_fs;   /* with requests inside, before ... */
    int64_t since_fs;  /* ... it began to have some, the last time */
    int64_t behind_fs; /* the memory behind it, which has no banks, is free then */
    struct coming_requests coming; /* each with a DUE_COMES; in order of time */
};

struct queues {
    struct queueing_memory *of; /* owned; [dst_pack()] */
    struct waiting *waiting; /* owned; a hash table of 2^bits rows, at most half of them in use */
    unsigned bits;
    uint32_t n; /* in use */
};

/* Idle queues of `n` memories. False without memory; queues_free() frees the rest. */
bool queues_init(struct queues *q, uint32_t n);
void queues_free(struct queues *q, uint32_t n);

/* Memory `dst` is idle again, and time begins at 0. */
void queue_clear(struct queueing_memory *q);

/* For how long it has had requests inside by `now_fs`. */
int64_t queue_busy_fs(const struct queueing_memory *q, int64_t now_fs);

/* A request more; false without memory. Takes the first one of some. */
bool coming_add(struct coming_requests *c, const struct coming_request *row);
struct coming_request coming_take(struct coming_requests *c);

/* A request waits; false without memory. Takes request `id` of memory `dst` out again: its slot is
 * TXN_NONE if none does. */
bool queues_put(struct kb_sim *s, const struct waiting *request);
struct waiting queues_take(struct kb_sim *s, uint32_t dst, uint64_t id);

/* Component `impl`, which is memory `dst`, has asked for what it may not: the message. */
void queue_fault(struct kb_sim *s, uint32_t dst);

/* It has said that `id` is done, which does not wait in it. */
void queue_fault_id(struct kb_sim *s, uint32_t dst, uint64_t id);

/* Nothing is left to happen. Does a request wait? Then the message says which memory never ends it.
 */
bool queues_never_end(struct kb_sim *s);

#endif
