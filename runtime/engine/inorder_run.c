/* inorder_run.c -- the engine of engine/inorder_steps.h, for transactions that are no kernels'. */
#include "engine/inorder_loop.h"

/* Each way to run is compiled by itself: what `how` says is a constant there. */
#define RUN(name, loop, how)                                                                       \
    static __attribute__((noinline)) kb_status name(struct kb_sim *s, uint64_t budget)             \
    {                                                                                              \
        return loop(s, how, budget);                                                               \
    }
RUN(run_ahead, run_as, IN_LISTED | IN_AHEAD)
RUN(run_several, run_as, IN_LISTED | IN_AHEAD | IN_SEVERAL)
RUN(run_listed, run_as, IN_LISTED)
RUN(run_issued, run_as, 0)
RUN(run_counted, run_as, IN_COUNTED)
RUN(run_routed, run_routed_as, IN_ROUTED | IN_LISTED)
RUN(run_routed_issued, run_routed_as, IN_ROUTED)
RUN(run_routed_counted, run_routed_as, IN_ROUTED | IN_COUNTED)

kb_status inorder_run(struct kb_sim *s, uint64_t budget)
{
    bool routed = T->links == MODE_ROUTER;

    if (!inorder_begin(s))
        return KB_NO_MEMORY;
    if (sim_counts(s))
        return (routed ? run_routed_counted : run_counted)(s, budget);
    if (!s->inorder->listed)
        return (routed ? run_routed_issued : run_issued)(s, budget);
    if (routed)
        return run_routed(s, budget);
    if (s->inorder->several)
        return run_several(s, budget);
    return s->inorder->ahead ? run_ahead(s, budget) : run_listed(s, budget);
}
