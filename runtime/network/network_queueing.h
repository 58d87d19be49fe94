/* network_queueing.h -- a memory that is a queueing component: what network/server.c calls of it.
 */
#ifndef NETWORK_QUEUEING_H
#define NETWORK_QUEUEING_H
#include "engine/state.h"

struct memory_server;

/* What it is to network/server.h. Its state is an instance: engine/instances.h. */
extern const struct memory_server queue_server;

/* Behind the component of memory `dst` its own request `id` ends at `t`; or a part that it has
 * passed on. */
void queue_passed_ends(struct kb_sim *s, uint32_t dst, uint64_t t);

#endif
