/* queueing.h -- what a queueing component has asked for: when it is woken, and what is done when.
 */
#ifndef QUEUEING_H
#define QUEUEING_H
#include "machine/cost.h"
#include "machine/impl.h"

/* What happens at one instant, in this order: docs/components.md "In front of a memory". What a
 * cache has asked comes first, as all arrivals do. */
enum due_kind { DUE_COMES, DUE_ENDED, DUE_WAKE, DUE_REQUEST, DUE_PASSED };

/* A time and the number that goes with it: of a wake any, of an end that of the request. */
struct due {
    int64_t t_fs;
    uint64_t id, offset, bytes; /* of a request of its own: where */
    uint8_t kind, op;
};

/* Rows that grow. */
struct dues {
    struct due *rows; /* owned */
    size_t n, cap;
};

enum queueing_fault {
    QUEUEING_OK,
    QUEUEING_WAKE,
    QUEUEING_DONE,
    QUEUEING_REQUEST, /* for a time before now, or of no bytes, or with nothing behind it */
    QUEUEING_NO_MEMORY
};

/* All that a component has asked for. It is what its calls have as `h`. */
struct queueing {
    struct kb_handle h; /* first: a pointer to it is one to the whole */
    int64_t now_fs;     /* of the call */
    struct dues wakes;  /* a heap: the first by (time, kind, id) is rows[0] */
    uint32_t sent;      /* requests to the memory behind, which have not ended */
    bool fronts;        /* there is one */
    struct dues ends;   /* of the call, in the order in which it said them */
    enum queueing_fault fault;
    struct due wrong; /* what it has asked for and may not: of the first fault */
};

/*
 * A component that is woken so often without an end in between will never end anything: what waits
 * in it counts as never done.
 */
enum { QUEUEING_WAKES_MAX = 1 << 20 };

/* Nothing is asked for. queueing_free() frees what it came to own. */
void queueing_begin(struct queueing *q);
void queueing_free(struct queueing *q);

/* A row more at the end. False without memory. */
bool queueing_append(struct dues *d, struct due row);

/* The time of the next wake; INT64_MAX: there is none. */
static inline int64_t queueing_next_fs(const struct queueing *q)
{
    return q->wakes.n ? q->wakes.rows[0].t_fs : INT64_MAX;
}

/* A request of a cache comes at `t_fs`. False: no memory. */
bool queueing_comes(struct queueing *q, uint64_t number, int64_t t_fs);

/* Takes the next wake; equal ones are one. */
struct due queueing_take(struct queueing *q);

/* Its request `id` ends at `t_fs`, which it will hear. False: no memory. */
bool queueing_ends(struct queueing *q, uint64_t id, int64_t t_fs);

/*
 * The memory behind a component in front, where it has no banks: overhead, and bytes by its own
 * bandwidth or by that of the route that is narrower; it is free by its own.
 */
static inline int64_t behind_done_fs(const struct cost_mask *m, const struct memory_row *memory,
                                     int64_t *free_fs, uint64_t bytes, int64_t drain_fs, int64_t t)
{
    int64_t begin_fs = *free_fs > t ? *free_fs : t;

    *free_fs = begin_fs + cost_taken_fs(m, memory, 0, bytes);
    return begin_fs + cost_in_memory_fs(m, memory) + drain_fs;
}

#endif
