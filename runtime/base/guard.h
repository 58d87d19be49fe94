/* guard.h -- code of a bench or of a component on a thread's own stack may crash. */
#ifndef GUARD_H
#define GUARD_H
#include <signal.h>
#include <stdbool.h>

/* The signal that ended a call or a coroutine, of SIGSEGV and SIGBUS the address, and the
 * instruction that ran; NULL: not known. */
struct crash {
    int signal;
    const void *address, *code;
};

/*
 * Calls call(arg). False: it crashed, and `*crash` says by what; what it held is lost, and the heap
 * may be damaged. Only where the thread has called kb_catch_crashes(): else the process ends.
 */
bool guard_call(void (*call)(void *arg), void *arg, struct crash *crash);

/* In the handler of a signal: ends the call under way, if there is one, or returns. */
void guard_end(struct crash crash, const siginfo_t *info);

/* Writes "crashed by an access to address 0x10 (SIGSEGV)". */
enum { CRASH_BYTES = 80 };
void crash_text(struct crash crash, char text[CRASH_BYTES]);

#endif
