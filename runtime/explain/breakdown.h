/* breakdown.h -- where the time went, from inside: sums by cause, and the critical path of kernels.
 */
#ifndef WHY_H
#define WHY_H
#include "kernbench.h"
#include "engine/txn.h"

/* The commands of all kernels, from which the critical path follows.  critical_path.c */
struct paths;

struct paths *paths_new(kb_sim *sim); /* NULL: no memory */
void paths_free(struct paths *p);

/* As kb_observer has them. */
kb_status paths_start(struct paths *p, const kb_kernel_run *run);
kb_status paths_issue(struct paths *p, const kb_command *command);
kb_status paths_finish(struct paths *p, const kb_command *command);
kb_status paths_go_on(struct paths *p, const kb_command *send);
kb_status paths_stretch(struct paths *p, const kb_stretch *stretch);
void paths_leave(struct paths *p, const kb_kernel_run *run);

/*
 * Calls `each` for every step, in order of launch and time.
 *
 * returns  KB_NO_MEMORY; KB_INTERNAL: the steps of a path do not meet
 */
kb_status paths_each(struct paths *p, void (*each)(void *arg, const kb_breakdown_step *step),
                     void *arg);

#endif
