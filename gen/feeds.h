/* feeds.h -- which links are fed by one other: what comes to them has come over that one. */
#ifndef FEEDS_H
#define FEEDS_H
#include "routes.h"

/* Completes the legs, and makes the table of the links into memories. */
void make_feeds(struct routes *r);

#endif
