/* channels.h -- proves that packets of a network of routers cannot wait for each other in a circle. */
#ifndef CHANNELS_H
#define CHANNELS_H
#include "routes.h"

/*
 * Chooses which virtual channels packets may own, for a topology whose other tables are made. False
 * after a message that names a circle, or says that there are too few channels.
 */
bool make_channels(struct routes *r);

#endif
