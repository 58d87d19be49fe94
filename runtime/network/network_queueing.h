/* network_queueing.h -- a memory that is a queueing component: what network/server.c calls of it.
 */
#ifndef NETWORK_QUEUEING_H
#define NETWORK_QUEUEING_H
#include "engine/state.h"

struct memory_server;

/* What it is to network/server.h. Its state is an instance: engine/instances.h. */
extern const struct memory_server queue_server;

#endif
