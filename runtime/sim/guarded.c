/* guarded.c -- the crash of a component in a run fails the simulation. */
#include "sim/guarded.h"
#include "machine/impl_code.h"

bool sim_guarded(struct kb_sim *s, void (*call)(void *arg), void *arg, kb_error *why)
{
    if (impl_guarded(s->topo, call, arg, why))
        return true;
    s->status = KB_KERNEL_CRASHED;
    return false;
}
