/*
 * stop.c -- signals that end a run: the first Ctrl-C asks, the second insists.
 *
 * While a command collects results (stop_defer(true)), the first SIGINT only sets a flag. Loops
 * look at stop_asked() every few ms, end, and print the rows that are complete; the exit code is
 * 130. A second SIGINT, or any other signal that ends programs, removes the temporary files that
 * are registered here and ends the program at once with that signal, so that the parent sees why.
 *
 * `timeout -s INT` sends the signal twice within a moment, to the process and to its group: a
 * second one within INSIST_MS counts as the first.
 *
 * A handler may touch only what is safe in it: unlink(), signal(), raise(), and static variables of
 * the types below. Paths are registered as pointers and must stay valid until stop_keeps().
 */
#include "cli/out/stop.h"
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

enum { INSIST_MS = 500 }; /* `timeout -s INT` sends the signal twice, to us and to our group */

/* A handler has no argument of ours: what it sees can only be static. */
static volatile sig_atomic_t deferring;
static atomic_bool asked; /* any thread looks */
static const char *volatile removed[STOP_FILES];
static volatile int64_t asked_ms;

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Notes the first Ctrl-C, and what comes with it; false if it is insisted on. */
static bool note_ctrl_c(void)
{
    if (!asked)
        asked_ms = now_ms();
    asked = true;
    return now_ms() - asked_ms < INSIST_MS;
}

static void remove_files(void)
{
    for (int i = 0; i < STOP_FILES; i++)
        if (removed[i])
            unlink(removed[i]);
}

void stop_exit(int code)
{
    remove_files();
    _exit(code);
}

static void on_signal(int signal_number)
{
    if (signal_number == SIGINT && deferring && note_ctrl_c())
        return;
    remove_files();
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
    return atomic_load_explicit(&asked, memory_order_relaxed);
}

int stop_removes(const char *path)
{
    int i = 0;

    while (i < STOP_FILES && removed[i])
        i++;
    if (i < STOP_FILES)
        removed[i] = path;
    return i;
}

void stop_keeps(int file)
{
    if (file >= 0 && file < STOP_FILES)
        removed[file] = NULL;
}
