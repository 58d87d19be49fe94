/* guard.c -- code of others on a thread's own stack may crash: of a bench, its setup() or
 * reference(), of a component, all.
 *
 * A kernel that crashes is left behind on its coroutine's stack. What is called on the thread's own
 * stack is left by siglongjmp(), from the handler of kernels/co.c, which has looked at coroutines
 * before. Calls may be nested: a setup() that tries values runs simulations.
 */
#include "base/guard.h"
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

struct guard {
    sigjmp_buf back;
    struct crash crash;
    struct guard *outer;
};

/* The innermost call of this thread; its place is settled early, as in kernels/co.c: a handler
 * asks. */
static _Thread_local struct guard *innermost __attribute__((tls_model("initial-exec")));

bool guard_call(void (*call)(void *arg), void *arg, struct crash *crash)
{
    struct guard guard = {.outer = innermost};

    if (sigsetjmp(guard.back, 1) == 0) {
        innermost = &guard;
        call(arg);
        innermost = guard.outer;
        return true;
    }
    innermost = guard.outer;
    *crash = guard.crash;
    return false;
}

void guard_end(struct crash crash, const siginfo_t *info)
{
    bool is_own = info->si_code > 0 || (crash.signal == SIGABRT && info->si_pid == getpid());

    if (!innermost || !is_own)
        return;
    innermost->crash = crash;
    siglongjmp(innermost->back, 1);
}

void crash_text(struct crash crash, char text[CRASH_BYTES])
{
    switch (crash.signal) {
    case SIGFPE:
        snprintf(text, CRASH_BYTES, "crashed by a division without a result (SIGFPE)");
        break;
    case SIGABRT:
        snprintf(text, CRASH_BYTES, "crashed by abort() (SIGABRT)");
        break;
    case SIGILL:
    case SIGTRAP:
        snprintf(text, CRASH_BYTES, "crashed by an instruction that traps (%s)",
                 crash.signal == SIGILL ? "SIGILL" : "SIGTRAP");
        break;
    default:
        snprintf(text, CRASH_BYTES, "crashed by an access to address 0x%llx (%s)",
                 (unsigned long long)(uintptr_t)crash.address,
                 crash.signal == SIGBUS ? "SIGBUS" : "SIGSEGV");
    }
}
