/* round_trip.h -- do buffers cover the way of a segment and of the credit for its place back? */
#ifndef ROUND_TRIP_H
#define ROUND_TRIP_H
#include "routes.h"

/* Warns of the channel that needs the largest buffer, if that is larger than what there is. */
void warn_of_buffers(const struct routes *r);

#endif
