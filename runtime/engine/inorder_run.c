/* inorder_run.c -- the engine of engine/inorder_steps.h, for transactions that are no kernels'. */
#include "engine/inorder_loop.h"

/* Ways that run often: each is compiled by itself, with its `how` as a constant. */
#define WAYS(X)                                                                                    \
    X(run_ahead, run_as, IN_LISTED | IN_AHEAD)                                                     \
    X(run_listed, run_as, IN_LISTED)                                                               \
    X(run_issued, run_as, 0)                                                                       \
    X(run_counted, run_as, IN_COUNTED)                                                             \
    X(choosing_ahead, run_all_as, IN_CHOOSES | IN_LISTED | IN_AHEAD)                               \
    X(routed_listed, run_all_as, IN_ROUTED | IN_CHOOSES | IN_LISTED)

#define RUN(name, loop, how)                                                                       \
    static __attribute__((noinline)) kb_status name(struct kb_sim *s, uint64_t budget)             \
    {                                                                                              \
        return loop(s, how, budget);                                                               \
    }
WAYS(RUN)

/* All others are one text, which asks. */
static __attribute__((noinline)) kb_status run_any(struct kb_sim *s, int how, uint64_t budget)
{
    return run_all_as(s, how, budget);
}

#define ROW(name, loop, how) {how, name},
static const struct {
    int how;
    kb_status (*run)(struct kb_sim *s, uint64_t budget);
} ways[] = {WAYS(ROW)};

/* What brings parts to memories, and what these are; what need be no event; is it watched? */
static int how_of(const struct kb_sim *s)
{
    const struct inorder *in = s->inorder;
    int decides =
        T->links == MODE_ROUTER ? IN_ROUTED | IN_CHOOSES : in->program.chooses * IN_CHOOSES;
    int left_out = in->listed * IN_LISTED | in->ahead * IN_AHEAD;

    return decides | left_out | (sim_counts(s) ? IN_COUNTED : 0) | (s->observer ? IN_WATCHED : 0);
}

kb_status inorder_run(struct kb_sim *s, uint64_t budget)
{
    int how;

    if (!inorder_begin(s))
        return KB_NO_MEMORY;
    how = how_of(s);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        if (ways[i].how == how)
            return ways[i].run(s, budget);
    return run_any(s, how, budget);
}
