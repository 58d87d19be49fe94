/* work.c -- is what the calling thread works on to end? */
#include "base/work.h"
#include <stddef.h>

/* Of each thread its own: work that is not told what it is done for asks here. */
static _Thread_local struct {
    bool (*stop)(void *arg);
    void *arg;
} asked;

void work_stops_when(bool (*stop)(void *arg), void *arg)
{
    asked.stop = stop;
    asked.arg = arg;
}

bool work_is_to_end(void)
{
    return asked.stop && asked.stop(asked.arg);
}
