/* guarded.c -- the crash of a component, told as a mistake of its own. */
#include "sim/guarded.h"
#include <stdio.h>
#include "kernels/guard.h"
#include "machine/endpoint.h"
#include "machine/impl_code.h"

bool sim_guarded(struct kb_sim *s, void (*call)(void *arg), void *arg, kb_error *why)
{
    char text[CRASH_BYTES], of[FAULT_BYTES / 2];
    struct co_crash crash;

    if (!s->topo->impls) {
        call(arg);
        return true;
    }
    if (guard_call(call, arg, &crash))
        return true;
    co_crash_text(crash, text);
    if (!impl_code_is_of(s->topo, crash.code, of, sizeof of))
        snprintf(of, sizeof of, "the simulation, or a component of the machine,");
    endpoint_error(why, "%s %s", of, text);
    s->status = KB_KERNEL_CRASHED;
    return false;
}
