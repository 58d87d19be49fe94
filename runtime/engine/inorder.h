/*
 * inorder.h -- the engine of runs in which every station serves in order of arrival.
 *
 * Links, memories, channels and engines of m_cpus all do, so this engine runs replays, sweeps and
 * traffic; so it does where the way to a memory leads through routers, which have an agenda of
 * their own (network/router.h). engine/steps.h runs what else there is. It is one object code for
 * all machines, compiled or loaded, whose steps are those of engine/program.h, and whose events are
 * in engine/calendar.h.
 */
#ifndef INORDER_H
#define INORDER_H
#include "engine/calendar.h"
#include "engine/program.h"
#include "engine/state.h"

/* What this engine has beside the stations of `struct kb_sim`. */
struct inorder {
    struct calendar calendar;
    struct program program;
    bool begun;         /* what follows is of the run that goes on */
    bool delays;        /* program_delays() */
    unsigned delays_of; /* of which fed_first, + 1 */
    bool fresh;         /* its lists have not begun */
    bool ended;         /* no event is left */
    bool listed;        /* rows wait in the lists of their channels, and have no event there */
    bool ahead;         /* and the next one sets out ahead of time, as soon as that is known */
};

/* Can it run what `s` is about to run? */
bool inorder_serves(const struct kb_sim *s);

/* The run is over, and all are idle again. */
void inorder_rewind(struct kb_sim *s);

void inorder_free(struct kb_sim *s);

/* Do the rows of `s` wait in the lists of their channels, whether they are issued or not? */
static inline bool inorder_lists(const struct kb_sim *s)
{
    return s->inorder && s->inorder->begun && s->inorder->listed;
}

/* One more row is issued, at its issue_fs, by whatever engine runs. False: no memory. */
bool inorder_issue(struct kb_sim *s, uint32_t slot);

#endif
