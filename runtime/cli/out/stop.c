/*
 * stop.c -- signals that end a run: the first Ctrl-C asks, the second insists.
 *
 * While a command collects results (stop_defer(true)), the first SIGINT only sets a flag. Loops
 * look at stop_asked() every few ms, end, and print the rows that are complete; the exit code is
 * 130. A second SIGINT, or any other signal that ends programs, removes the temporary files that
 * are registered here and ends the program at once with that signal, so that the parent sees why.
 *
 * Not everything looks at a flag: a kernel may compute for minutes without a call of ours. So the
 * first SIGINT also sets a timer. If stop_heard() has not been called when it rings, the program
 * ends as after a second SIGINT, and says that nothing was kept. An example: SIGINT at 0 ms; the
 * kernel does not return; at 900 ms the timer rings, and the shell sees a program that SIGINT
 * ended. A sweep instead sees the flag within 100 ms, calls stop_heard(), and may print for a
 * minute.
 *
 * A limit that is passed (out_limits.c) asks in the same way, on another thread, and a timer that
 * rings ends the program with EXIT_LIMIT.
 *
 * `timeout -s INT` sends the signal twice within a moment, to the process and to its group: a
 * second one within INSIST_MS counts as the first.
 *
 * In a program that runs commands itself no signal and no timer is ours: it asks by session.h, sees
 * there what has not been heard (stop_unheard()), and registers no files.
 *
 * A handler may touch only what is safe in it: unlink(), signal(), raise(), write(), setitimer(),
 * and static variables of the types below. Paths are registered as pointers and must stay valid
 * until stop_keeps(). SIGALRM comes with the default action when nothing is deferred.
 */
#include "cli/out/stop.h"
#include "cli/out/say.h"
#include "cli/out/session.h"
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum {
    INSIST_MS = 500, /* `timeout -s INT` sends the signal twice, to us and to our group */
    HEARD_MS = 900,  /* and a run ends within a second */
};

/* A handler has no argument of ours: what it sees can only be static. */
static volatile sig_atomic_t deferring;
static atomic_bool asked; /* any thread looks */
static const char *volatile removed[STOP_FILES];
static volatile int64_t asked_ms;
static atomic_bool leaving; /* of the main thread */
static atomic_int limit;    /* enum stop_limit: that asked */

static const char *const limit_words[] = {
    [STOP_NO_LIMIT] = "interrupted",
    [STOP_TIME] = "stopped by --limit-s",
    [STOP_MEMORY] = "stopped by --limit-mb",
};

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* SIGALRM in so many ms; 0: none. */
static void set_timer(int ms)
{
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = ms * 1000}, NULL);
}

/* Notes the first Ctrl-C, and what comes with it; false if it is insisted on. */
static bool note_ctrl_c(void)
{
    if (!asked) {
        asked_ms = now_ms();
        set_timer(HEARD_MS);
    }
    asked = true;
    return now_ms() - asked_ms < INSIST_MS;
}

void stop_remove(void)
{
    for (int i = 0; i < STOP_FILES; i++)
        if (removed[i])
            unlink(removed[i]);
}

void stop_forget(void)
{
    for (int i = 0; i < STOP_FILES; i++)
        removed[i] = NULL;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    asked = false;
    limit = STOP_NO_LIMIT;
}

void stop_exit(int code)
{
    stop_remove();
    _exit(code);
}

static void end_by(int signal_number)
{
    stop_remove();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void on_signal(int signal_number)
{
    if (signal_number != SIGINT || !deferring || !note_ctrl_c())
        end_by(signal_number);
}

static void write_text(const char *text)
{
    ssize_t n = write(STDERR_FILENO, text, strlen(text));

    (void)n;
}

/* Nothing has looked at the flag in time. */
static void on_timer(int signal_number)
{
    (void)signal_number;
    write_text(limit_words[limit]);
    write_text(": the run did not stop within a second; nothing is kept\n");
    if (limit != STOP_NO_LIMIT)
        stop_exit(EXIT_LIMIT);
    end_by(SIGINT);
}

/* A signal that our parent had us ignore (nohup) stays ignored. */
static void catch_one(int signal_number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler}, before;

    sigemptyset(&action.sa_mask);
    if (sigaction(signal_number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(signal_number, &action, NULL);
}

void stop_catch(void)
{
    signal(SIGPIPE, SIG_IGN); /* writing then fails with EPIPE */
    signal(SIGXFSZ, SIG_IGN); /* and with EFBIG */
    catch_one(SIGINT, on_signal);
    catch_one(SIGTERM, on_signal);
    catch_one(SIGHUP, on_signal);
    catch_one(SIGALRM, on_timer);
}

void stop_defer(bool deferred)
{
    if (session_here())
        return;
    deferring = deferred;
    if (!deferred)
        set_timer(0);
}

bool stop_is_deferred(void)
{
    return deferring;
}

/* -- limits --------------------------------------------------------------------------------- */

void stop_now(enum stop_limit which)
{
    say_line("%s; nothing is kept", limit_words[which]);
    stop_exit(EXIT_LIMIT);
}

void stop_at_limit(struct session *session, enum stop_limit which)
{
    if (session) {
        if (!session->asked)
            session->limit = which;
        session->asked = true;
        return;
    }
    if (!deferring)
        stop_now(which);
    if (asked)
        return;
    limit = which;
    note_ctrl_c();
}

enum stop_limit stop_limit(void)
{
    const struct session *s = session_here();

    return s ? s->limit : (enum stop_limit)limit;
}

const char *stop_unheard(const struct session *session)
{
    return session->asked && !session->heard && session->limit != STOP_NO_LIMIT
               ? limit_words[session->limit]
               : NULL;
}

const char *stop_word(void)
{
    return limit_words[stop_limit()];
}

/* -- loops that look ------------------------------------------------------------------------ */

bool stop_asked(void)
{
    const struct session *s = session_here();

    return atomic_load_explicit(s ? &s->asked : &asked, memory_order_relaxed);
}

bool stop_heard(void)
{
    if (!stop_asked())
        return false;
    if (session_here())
        session_here()->heard = true;
    else
        set_timer(0);
    return true;
}

void stop_leave(void)
{
    *(session_here() ? &session_here()->leaves : &leaving) = true;
}

bool stop_leaves(void)
{
    return session_here() ? session_here()->leaves : leaving;
}

int stop_removes(const char *path)
{
    int i = session_here() ? STOP_FILES : 0;

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
