/* inorder_lists.h -- which rows of a run are issued next, and by what event. */
#ifndef INORDER_LISTS_H
#define INORDER_LISTS_H
#include "engine/how.h"
#include "engine/inorder.h"

/* Its stage when it is on its way to the station of `step`. */
static inline enum txn_stage stage_to(const struct step *step)
{
    static const uint8_t to[] = {
        [STEP_LINK] = TXN_TO_LINK,     [STEP_TCM_LINK] = TXN_TO_LINK, [STEP_FAR_LINK] = TXN_TO_LINK,
        [STEP_ENGINE] = TXN_TO_ENGINE, [STEP_NODE] = TXN_TO_NODE,     [STEP_MEMORY] = TXN_TO_MEMORY,
    };

    return (enum txn_stage)to[step->kind];
}

/* Its event there. A node is asked before others of that instant come to stations. */
static ALWAYS_INLINE void put_off_arrival(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    post(s, t, s->txns[slot].stage == TXN_TO_NODE ? EV_HOP : EV_ARRIVE, slot);
}

/* The pipe of a host's: its rows need the same time to their first station. Links ideal: one for
 * each cube; fifo: one for each SIP. */
static inline struct txn_list *pipe_of(struct kb_sim *s, const struct txn *x)
{
    uint32_t cube = dst_cube(T, x->dst);

    return &s->pipes[T->links == MODE_FIFO ? cube / T->cubes : cube];
}

static inline struct station *channel_of(struct kb_sim *s, const struct txn *x)
{
    return &s->channels[2 * (size_t)x->src + txn_writes(x)];
}

static inline struct station *engine_of(struct kb_sim *s, const struct txn *x)
{
    return &s->engines[2 * (size_t)dst_cube(T, x->dst) + txn_writes(x)];
}

/* Makes an idle machine ready, unless its run goes on. False: no memory. */
bool inorder_begin(struct kb_sim *s);

/* The first of a channel's list is issued by an event. */
static inline void inorder_post_head(struct kb_sim *s, struct station *channel)
{
    uint32_t slot = txn_take(&channel->queue, s->txns);

    channel->posted = true;
    post(s, (uint64_t)s->txns[slot].issue_fs, EV_ISSUE, slot);
}

/* The time from the issue of a host's to its first station, to which its step and stage are set. */
uint64_t inorder_host_lead(struct kb_sim *s, struct txn *x);

/* A host's, or each part of it, sets out at `t` to its first station. */
void inorder_leave_host(struct kb_sim *s, uint64_t t, uint32_t slot);

/*
 * The first of a pipe (kb_sim.pipes) arrives at its first station by an event. If that takes
 * no time, or if not all of a pipe take as long, it is issued by one. Then the next one follows.
 */
void inorder_post_pipe(struct kb_sim *s, struct txn_list *pipe);

/* Its first arrival has come: the next one of its pipe follows. */
static ALWAYS_INLINE void leave_pipe_of(struct kb_sim *s, struct txn *x)
{
    struct txn_list *pipe = pipe_of(s, x);

    x->piped = false;
    if (pipe->head != TXN_NONE)
        inorder_post_pipe(s, pipe);
}

/* The next of all rows is issued, where each issue is an event. */
void inorder_post_row(struct kb_sim *s);

#endif
