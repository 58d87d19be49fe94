/* channels.h -- virtual channels of a network of routers, so that packets cannot wait in a circle.
 */
#ifndef CHANNELS_H
#define CHANNELS_H
#include "routes.h"

struct share_plan;

/* Are there as many virtual channels as rings need? False after a message. */
bool channels_suffice(const struct routes *r);

/*
 * Chooses which virtual channels packets may own, for a topology whose other tables are made.
 * False: by any choice packets could wait for each other in a circle, r->circle.
 */
bool make_channels(struct routes *r);

/* A circle of VCs that requests, or answers, hold and wait for with the shares that `r` has, as a
 * text; NULL: there is none. */
const char *channels_circle(struct routes *r, const struct share_plan *plan, bool answers);

/* Says so. False. */
bool refuse_channels(const struct routes *r);

#endif
