/*
 * inorder.h -- the engine of arrivals, which runs all that is not engine/hop.c's.
 *
 * Links, most memories, channels and engines of m_cpus serve in order of arrival, and need nothing
 * else. Memories that choose what they serve (banks, components that queue: network/server.h) have
 * wakes, which are in its queue; routers have an agenda of their own (network/network_router.h). It
 * is one object code for all machines, compiled or loaded, whose steps are those of
 * engine/program.h.
 */
#ifndef INORDER_H
#define INORDER_H
#include "engine/program.h"
#include "engine/state.h"

/* Runs events, until none is left or for `budget` of them. */
kb_status inorder_run(struct kb_sim *s, uint64_t budget);

/* What this engine has beside the stations of `struct kb_sim`. */
struct inorder {
    struct program program;
    bool begun;         /* what follows is of the run that goes on */
    bool delays;        /* program_delays() */
    unsigned delays_of; /* of which fed_first, + 1 */
    bool fresh;         /* its lists have not begun */
    bool listed;        /* rows wait in the lists of their channels, and have no event there */
    bool ahead;         /* and the next one sets out ahead of time, as soon as that is known */
    bool engines;       /* and engines of m_cpus serve in order, each as one server */
    bool engine_lists;  /* rows of hosts wait in their lists, and their arrival there is no event */
    ev soon;            /* the wake of a memory, which is not in the queue: mostly it is next */
    uint32_t known_ends; /* rows whose ends, at_fs, have become known: a list of txn.next */
};

/* The run is over, and all are idle again. */
void inorder_rewind(struct kb_sim *s);

void inorder_free(struct kb_sim *s);

/* Do the rows of `s` wait in the lists of their channels, whether they are issued or not? */
static inline bool inorder_lists(const struct kb_sim *s)
{
    return s->inorder && s->inorder->begun && s->inorder->listed;
}

/* Is this the engine that runs `s`? */
static inline bool inorder_runs(const struct kb_sim *s)
{
    return s->inorder && s->inorder->begun;
}

/* One more row is issued, at its issue_fs, by whatever engine runs. False: no memory. */
bool inorder_issue(struct kb_sim *s, uint32_t slot);

#endif
