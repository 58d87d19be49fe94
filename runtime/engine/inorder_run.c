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
RUN(choosing_ahead, run_all_as, IN_CHOOSES | IN_LISTED | IN_AHEAD)
RUN(choosing_listed, run_all_as, IN_CHOOSES | IN_LISTED)
RUN(choosing_issued, run_all_as, IN_CHOOSES)
RUN(choosing_counted, run_all_as, IN_CHOOSES | IN_COUNTED)
RUN(routed_listed, run_all_as, IN_ROUTED | IN_CHOOSES | IN_LISTED)
RUN(routed_issued, run_all_as, IN_ROUTED | IN_CHOOSES)
RUN(routed_counted, run_all_as, IN_ROUTED | IN_CHOOSES | IN_COUNTED)

/* The same as one text for each loop, which asks. */
static __attribute__((noinline)) kb_status run_watched_as(struct kb_sim *s, int how,
                                                          uint64_t budget)
{
    return run_as(s, how | IN_WATCHED, budget);
}

static __attribute__((noinline)) kb_status choosing_watched_as(struct kb_sim *s, int how,
                                                               uint64_t budget)
{
    return run_all_as(s, how | IN_CHOOSES | IN_WATCHED, budget);
}

static kb_status run_watched(struct kb_sim *s, uint64_t budget)
{
    const struct inorder *in = s->inorder;

    int how = sim_counts(s) ? IN_COUNTED : in->listed * IN_LISTED | in->ahead * IN_AHEAD;

    return (in->program.chooses ? choosing_watched_as : run_watched_as)(s, how, budget);
}

/* By what brings parts to memories, and what these are; by what need be no event. Behind routers
 * some may choose. */
static kb_status (*const ways[][5])(struct kb_sim *s, uint64_t budget) = {
    {run_counted, run_issued, run_listed, run_ahead, run_several},
    {choosing_counted, choosing_issued, choosing_listed, choosing_ahead, choosing_ahead},
    {routed_counted, routed_issued, routed_listed, routed_listed, routed_listed},
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
    if (s->observer)
        return run_watched(s, budget);
    return ways[machine][left_out](s, budget);
}
