/* dependencies.h -- transactions that wait for others: who for whom, and what an end sets free. */
#ifndef AFTER_H
#define AFTER_H
#include "engine/state.h"

/* What kb_sim_add_dependencies() was told. Owned by the simulation; NULL: nobody waits. */
struct dependencies;

void dependencies_free(struct dependencies *a); /* may be NULL */

/* Transaction `id` waits for others, so it is not issued at a time of its own. */
bool dependencies_waits(const struct dependencies *a, uint32_t id);

/*
 * Makes `s` ready to run, if its transactions wait: who is set free by whose end.
 *
 * returns  KB_BAD_REQUEST, with the reason in `why` and one of the transactions in `*id` (may be
 *          NULL): one that waits for what does not exist, or the smallest of those that wait for
 *          each other; KB_NO_MEMORY. Nothing is changed then.
 */
kb_status dependencies_prepare(struct kb_sim *s, uint64_t *id, kb_error *why);

/*
 * Transaction `id` ends at `end_fs`, not before now: an event of issue for each that has waited
 * for it alone.
 *
 * returns  KB_TIME_RANGE, KB_NO_MEMORY: the run has to end
 */
kb_status dependencies_ended(struct kb_sim *s, uint32_t id, int64_t end_fs)
    EXPORTED(dependencies_ended);

#endif
