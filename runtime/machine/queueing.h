/* queueing.h -- what a queueing component has asked for: when it is woken, and what is done when.
 */
#ifndef QUEUEING_H
#define QUEUEING_H
#include "base/exported.h"
#include "machine/impl.h"

/* A time and the number that goes with it: of a wake any, of an end that of the request. */
struct due {
    int64_t t_fs;
    uint64_t id;
};

/* Rows that grow. */
struct dues {
    struct due *rows; /* owned */
    size_t n, cap;
};

enum queueing_fault { QUEUEING_OK, QUEUEING_WAKE, QUEUEING_DONE, QUEUEING_NO_MEMORY };

/* All that a component has asked for. It is what its calls have as `h`. */
struct queueing {
    struct kb_handle h; /* first: a pointer to it is one to the whole */
    int64_t now_fs;     /* of the call */
    struct dues wakes;  /* a heap: the first by (time, id) is rows[0] */
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

/* The time of the next wake; INT64_MAX: there is none. */
static inline int64_t queueing_next_fs(const struct queueing *q)
{
    return q->wakes.n ? q->wakes.rows[0].t_fs : INT64_MAX;
}

/* Takes the next wake; equal ones are one. */
struct due queueing_take(struct queueing *q) EXPORTED(queueing_take);

/*
 * When `impl`, in a fresh state, is done with `asked`, which comes to it at 0 and is alone;
 * INT64_MAX: never, or without memory.
 */
int64_t queueing_alone_fs(const struct impl *impl, const struct kb_request *asked);

#endif
