/* channels.h -- proves that packets of a network of routers cannot wait for each other in a circle.
 */
#ifndef CHANNELS_H
#define CHANNELS_H
#include "routes.h"

/* Are there as many virtual channels as rings need? False after a message. */
bool channels_suffice(const struct routes *r);

/*
 * Chooses which virtual channels packets may own, for a topology whose other tables are made.
 * False: by any choice packets could wait for each other in a circle, r->circle.
 */
bool make_channels(struct routes *r);

/* Says so. False. */
bool refuse_channels(const struct routes *r);

#endif
