/* dependencies.h -- transactions that wait for others: which for which, and what an end sets free.
 */
#ifndef DEPENDENCIES_H
#define DEPENDENCIES_H
#include "engine/state.h"

/* All that kb_sim_add_dependencies() was given. Owned by the simulation; NULL: none waits. */
struct dependencies;

void dependencies_free(struct dependencies *a); /* may be NULL */

/* Transaction `id` waits for others, so it is not issued at a time of its own. */
bool dependencies_waits(const struct dependencies *a, uint32_t id);

/*
 * Makes `s` ready to run, if transactions wait: lists which ones the end of each sets free.
 *
 * returns  KB_BAD_REQUEST, with the reason in `why` and one of the transactions in `*id` (may be
 *          NULL): one that waits for an id that does not exist, or the smallest of a cycle;
 * KB_NO_MEMORY. Nothing is changed then.
 */
kb_status dependencies_prepare(struct kb_sim *s, uint64_t *id, kb_error *why);

/*
 * Where s->tells_ends: transaction `id` ends at `end_fs`, not before now. Posts the issue of each
 * that waited for it last; of a live run its number is kept, in s->completed.
 *
 * returns  KB_TIME_RANGE, KB_NO_MEMORY: the run has to end
 */
kb_status dependencies_ended(struct kb_sim *s, uint32_t id, int64_t end_fs);

#endif
