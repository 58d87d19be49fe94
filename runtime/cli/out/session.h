/*
 * session.h -- a command that a program runs itself: what it has in place of signals, standard
 * streams and exit().
 *
 * The threads that work for it find it by session_here(). On the command line there is none.
 */
#ifndef SESSION_H
#define SESSION_H
#include "base/parallel.h"
#include "cli/out/stop.h"
#include "cli/out/out_tables.h"
#include "cli/query/llm_batch.h"
#include <pthread.h>
#include <stdatomic.h>

enum { SESSION_SAID_BYTES = 1 << 16 };

struct session {
    atomic_bool asked;     /* to stop */
    atomic_bool heard;     /* that */
    enum stop_limit limit; /* that asked */
    atomic_bool leaves;    /* a thread was left behind, at work on what the command owns */
    struct tables tables;  /* that it wrote */
    char *text;            /* owned: what it wrote besides, `n_text` bytes; NULL: nothing */
    size_t n_text;
    const struct kb_frame *frame; /* borrowed: in place of standard input; NULL: none */
    bool keeps_run;               /* `run` is wanted */
    kb_bench_run *run;            /* owned; NULL: none */

    pthread_mutex_t lock;          /* of these: */
    char said[SESSION_SAID_BYTES]; /* messages, lines; what has no room is left out */
    size_t n_said;
    uint64_t done, total;
    const char *things; /* a constant */
    bool ended;
    int code;
    pthread_cond_t change; /* of `ended`, or of what follows */

    const struct kb_llm_limits *limits; /* borrowed: `llm` asks the program for iterations; NULL: it
                                           does not */
    const struct kb_llm_batch *batch;   /* borrowed: given, and not answered yet; NULL: none */
    bool wants;                         /* one: `answer` is that to the last one */
    struct kb_llm_answer answer;

    bool lacks;              /* memory: nothing may be begun any more */
    void (*undo)(void *arg); /* if memory lacks; NULL: nothing */
    void *undo_arg;
};

/* That of the calling thread; NULL: a command line. */
static inline struct session *session_here(void)
{
    return parallel_owner;
}

/* Does its program ask for iterations one by one? */
static inline bool session_here_asks(void)
{
    return session_here() && session_here()->limits;
}

/* A line of messages. */
void session_say(struct session *s, const char *line);

void session_progress(struct session *s, uint64_t done, uint64_t total, const char *things);

/*
 * Answers the last iteration, and waits for the next one.
 *
 * returns  NULL: there is none any more
 */
const struct kb_llm_batch *session_batch(struct session *s, const struct kb_llm_answer *answer);

/* It has ended. */
void session_end(struct session *s, int code);

/* Stays for good: a thread that was left behind still uses this one's stack. */
_Noreturn void session_stay(void);

/* undo(arg) is called if memory lacks from now on; if it does already, the thread waits for good.
 */
void session_undo(struct session *s, void (*undo)(void *arg), void *arg);

/* Ends the session, as memory lacks. The calling thread waits for good, with all that it owns. */
_Noreturn void session_lacks(struct session *s);

#endif
