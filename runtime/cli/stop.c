/* stop.c -- signals that end a run: the first Ctrl-C asks, the second insists. */
#include "stop.h"
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

/* A handler has no argument of ours: what it sees can only be static. */
static volatile sig_atomic_t deferring;
static volatile sig_atomic_t asked;
static const char *volatile removed;

static void on_signal(int signal_number)
{
    if (signal_number == SIGINT && deferring && !asked) {
        asked = 1;
        return;
    }
    if (removed)
        unlink(removed);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* A signal that our parent had us ignore (nohup) stays ignored. */
static void catch_one(int signal_number)
{
    struct sigaction action = {.sa_handler = on_signal}, before;

    sigemptyset(&action.sa_mask);
    if (sigaction(signal_number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(signal_number, &action, NULL);
}

void stop_catch(void)
{
    signal(SIGPIPE, SIG_IGN); /* writing then fails with EPIPE */
    signal(SIGXFSZ, SIG_IGN); /* and with EFBIG */
    catch_one(SIGINT);
    catch_one(SIGTERM);
    catch_one(SIGHUP);
}

void stop_defer(bool deferred)
{
    deferring = deferred;
}

bool stop_asked(void)
{
    return asked != 0;
}

void stop_removes(const char *path)
{
    removed = path;
}
