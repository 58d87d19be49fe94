/* work.h -- is what the calling thread works on to end? */
#ifndef WORK_H
#define WORK_H
#include <stdbool.h>

/* From now on this thread asks stop(arg); NULL: nothing. */
void work_stops_when(bool (*stop)(void *arg), void *arg);

bool work_is_to_end(void);

#endif
