/* channel_queues.h -- how long the queues of channels were, found after a run. */
#ifndef CHANNEL_QUEUES_H
#define CHANNEL_QUEUES_H
#include "engine/state.h"

/*
 * Sets queue_max of each channel from the times of its rows, which keep their slots. The run has
 * come to `now_fs`. False: no memory.
 */
bool channel_queues(struct kb_sim *s, int64_t now_fs);

#endif
