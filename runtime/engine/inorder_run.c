/* inorder_run.c -- the engine of engine/inorder_steps.h, for transactions that are no kernels'. */
#include "engine/inorder_steps.h"

/* Five ways to be compiled: what `how` says is a constant in each. */
#define RUN(name, how)                                                                             \
    static __attribute__((noinline)) kb_status name(struct kb_sim *s, uint64_t budget)             \
    {                                                                                              \
        return run_as(s, how, budget);                                                             \
    }
RUN(run_ahead, IN_LISTED | IN_AHEAD)
RUN(run_several, IN_LISTED | IN_AHEAD | IN_SEVERAL)
RUN(run_listed, IN_LISTED)
RUN(run_issued, 0)
RUN(run_counted, IN_COUNTED)

kb_status inorder_run(struct kb_sim *s, uint64_t budget)
{
    if (!inorder_begin(s))
        return KB_NO_MEMORY;
    if (sim_counts(s))
        return run_counted(s, budget);
    if (!s->inorder->listed)
        return run_issued(s, budget);
    if (s->inorder->several)
        return run_several(s, budget);
    return s->inorder->ahead ? run_ahead(s, budget) : run_listed(s, budget);
}
