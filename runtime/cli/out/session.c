/*
 * session.c -- a command that a program runs itself.
 *
 * Memory that lacks ends a command line. Here the program that asked goes on: it is told the exit
 * code 5, and the threads of the command wait for good, with all that they own. So nothing of the
 * command needs a branch for memory, here either; that is why messages have room of their own.
 */
#include "cli/out/session.h"
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void session_say(struct session *s, const char *line)
{
    pthread_mutex_lock(&s->lock);
    size_t n = strlen(line), room = sizeof s->said - s->n_said;
    if (n + 1 < room) {
        memcpy(s->said + s->n_said, line, n);
        s->said[s->n_said + n] = '\n';
        s->n_said += n + 1;
    }
    pthread_mutex_unlock(&s->lock);
}

void session_progress(struct session *s, uint64_t done, uint64_t total, const char *things)
{
    pthread_mutex_lock(&s->lock);
    s->done = done;
    s->total = total;
    s->things = things;
    pthread_mutex_unlock(&s->lock);
}

const struct kb_llm_batch *session_batch(struct session *s, const struct kb_llm_answer *answer)
{
    enum { LOOK_NS = 50000000 };
    struct timespec until;

    pthread_mutex_lock(&s->lock);
    s->answer = *answer;
    s->batch = NULL;
    s->wants = true;
    pthread_cond_broadcast(&s->change);
    while (!s->batch && !s->asked) {
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += LOOK_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&s->change, &s->lock, &until);
    }
    const struct kb_llm_batch *batch = s->batch;
    pthread_mutex_unlock(&s->lock);
    return batch && batch->n > 0 ? batch : NULL;
}

void session_end(struct session *s, int code)
{
    pthread_mutex_lock(&s->lock);
    s->ended = true;
    s->code = code;
    pthread_cond_broadcast(&s->change);
    pthread_mutex_unlock(&s->lock);
}

void session_stay(void)
{
    for (;;)
        pause();
}

void session_undo(struct session *s, void (*undo)(void *arg), void *arg)
{
    pthread_mutex_lock(&s->lock);
    bool lacks = s->lacks;
    if (!lacks) {
        s->undo = undo;
        s->undo_arg = arg;
    }
    pthread_mutex_unlock(&s->lock);
    if (lacks)
        session_stay();
}

void session_lacks(struct session *s)
{
    pthread_mutex_lock(&s->lock);
    bool first = !s->lacks;
    s->lacks = true;
    pthread_mutex_unlock(&s->lock);
    if (!first)
        session_stay();
    if (s->undo)
        s->undo(s->undo_arg);
    session_say(s, "out of memory");
    s->leaves = true;
    session_end(s, EXIT_SYSTEM);
    session_stay();
}
