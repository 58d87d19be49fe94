/* by_steps_issue.c -- what PEs ask of the engine of kernels/by_steps.c: apart from it, as it calls
 * PEs.
 */
#include "kernels/by_steps.h"

static __attribute__((noinline)) void issue_counted(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    issue(s, HOW_KERNELS | HOW_COUNTED, t, slot);
}

void by_steps_issue(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    if (s->kernels->watched)
        issue_counted(s, t, slot);
    else
        issue(s, HOW_KERNELS | HOW_CALLED, t, slot);
}
