/* stops.h -- which nodes of which cubes are routers. */
#ifndef STOPS_H
#define STOPS_H
#include "routes.h"

/* Fills r->stop_of and r->stops, if links are routers: machine/machine_channels.h. */
void make_stops(struct routes *r);

#endif
