/* queue_wakes.h -- wakes of a memory that is a queueing component, and what leaves its queue.
 */
#ifndef QUEUE_WAKES_H
#define QUEUE_WAKES_H
#include "engine/state.h"

/* Does anything wait for a wake? */
static inline bool is_busy(const struct queueing_memory *q)
{
    return q->waiting || q->asked.sent || q->coming.next != q->coming.first;
}

/* Its next wake has an event, if anything waits for it. */
static inline void post_wake(struct kb_sim *s, struct queueing_memory *q, uint32_t dst)
{
    int64_t t_fs = queueing_next_fs(&q->asked);

    if (!is_busy(q) || t_fs >= q->event_fs)
        return;
    q->event_fs = t_fs;
    serving_wake(s, (uint64_t)t_fs, dst);
}

/* What has come does not wait any more: its end is known, at `t_fs`. */
static inline void leave_queue(struct queueing_memory *q, int64_t t_fs)
{
    q->waiting--;
    q->wakes = 0;
    q->last_fs = t_fs > q->last_fs ? t_fs : q->last_fs;
}

/* Behind the component of memory `dst` its own request ends at `t`; or a part that it has passed
 * on. */
static inline void queue_passed_ends(struct kb_sim *s, uint32_t dst, uint64_t t)
{
    struct queueing_memory *q = &s->instances.queues.of[dst];

    q->asked.sent--;
    leave_queue(q, (int64_t)t);
    post_wake(s, q, dst);
}

#endif
