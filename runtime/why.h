/* why.h -- where the time went, from inside: sums by cause, and the critical path of kernels. */
#ifndef WHY_H
#define WHY_H
#include "kernbench.h"

/* What PEs' kernels have done, from which the critical path follows.  why_path.c */
struct paths;

struct paths *paths_new(kb_sim *sim); /* NULL: no memory */
void paths_free(struct paths *p);

/* A command has ended; the kernel of a PE has. False: no memory, or the steps do not meet. */
kb_status paths_finish(struct paths *p, const kb_command *command);
kb_status paths_leave(struct paths *p, const kb_kernel_run *run);

/* Calls `each` for every step, in order of launch and time. */
void paths_each(const struct paths *p, void (*each)(void *arg, const kb_why_step *step), void *arg);

#endif
