/* sim.h -- shared by the files behind kb_sim_*(). */
#ifndef SIM_H
#define SIM_H
#include "engine/state.h"

/* Says in `why` how a run came to end with `status`, if that is not its end; returns `status`. */
kb_status sim_explain(const struct kb_sim *s, kb_status status, kb_error *why);

/* kb_sim.terms_of: what a row takes alone is only told where its parts wait for each other; else
 * its terms without waits are.  results.c */
void result_terms(const struct kb_sim *s, uint32_t slot, kb_result *r);

/* KB_INTERNAL if a station was busy for longer than the run lasted.  sim_check.c */
kb_status sim_check_stations(const struct kb_sim *s, kb_error *why);

/* KB_INTERNAL if nothing happens any more, but segments wait in routers; else `status`.  stall.c */
kb_status sim_check_stall(const struct kb_sim *s, kb_status status, kb_error *why);

/* Computes or drops what the op log keeps, once that is much. NULL in a program that is linked
 * without Phase 2.  sim_compute.c */
kb_status sim_compute_kept(struct kb_sim *s, kb_error *why) __attribute__((weak));

#endif
