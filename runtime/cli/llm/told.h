/* told.h -- how far a command is: operations of all of its simulations. */
#ifndef TOLD_H
#define TOLD_H
#include "cli/out/progress.h"

/* Iterations are counted as if all took what the one under way does. */
struct told {
    struct progress progress;
    uint64_t iterations, complete;
    uint64_t operations, done; /* of the iteration under way: in all, at most; so far */
};

/* `more` operations of the simulation under way have been done. */
static inline void told_show(struct told *t, uint64_t more)
{
    progress_show(&t->progress, t->complete * t->operations + t->done + more,
                  t->iterations * t->operations, "operations");
}

#endif
