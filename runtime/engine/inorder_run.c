/* inorder_run.c -- the engine of engine/inorder_steps.h, for transactions that are no kernels'. */
#include "engine/inorder_loop.h"

/* Each way that runs often is compiled by itself: what `how` says is a constant there. */
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
RUN(choosing_ahead, run_all_as, IN_CHOOSES | IN_LISTED | IN_AHEAD)
RUN(routed_listed, run_all_as, IN_ROUTED | IN_CHOOSES | IN_LISTED)

/* What all others leave out of their events. */
static int how_of_any(const struct kb_sim *s)
{
    const struct inorder *in = s->inorder;
    bool routed = T->links == MODE_ROUTER;

    return (sim_counts(s) ? IN_COUNTED
                          : in->listed * IN_LISTED | (in->ahead && !routed) * IN_AHEAD) |
           routed * IN_ROUTED | (routed || in->program.chooses) * IN_CHOOSES |
           (s->observer ? IN_WATCHED : 0);
}

/* All others are one text, which asks. */
static __attribute__((noinline)) kb_status run_any(struct kb_sim *s, uint64_t budget)
{
    return run_all_as(s, how_of_any(s), budget);
}

/* By what brings parts to memories, and what these are; by what need be no event. Behind routers
 * some may choose. */
static kb_status (*const ways[][5])(struct kb_sim *s, uint64_t budget) = {
    {run_counted, run_issued, run_listed, run_ahead, run_several},
    {run_any, run_any, run_any, choosing_ahead, choosing_ahead},
    {run_any, run_any, routed_listed, routed_listed, routed_listed},
};

kb_status inorder_run(struct kb_sim *s, uint64_t budget)
{
    const struct inorder *in;
    int machine, left_out;

    if (!inorder_begin(s))
        return KB_NO_MEMORY;
    in = s->inorder;
    machine = T->links == MODE_ROUTER ? 2 : in->program.chooses;
    left_out = sim_counts(s) ? 0 : !in->listed ? 1 : in->several ? 4 : in->ahead ? 3 : 2;
    return (s->observer ? run_any : ways[machine][left_out])(s, budget);
}
