/*
 * query.c -- a command of the command line, run by a program: its rows in memory, by columns.
 *
 * A query is a thread that runs a command line on a machine that is there already, and a session
 * (out/session.h) which takes all that would leave the process: rows, messages, progress. The
 * command does not know; it writes CSV, as far as it can tell, and out_write() gives the rows to
 * the session. So what a program gets is what the command line prints, column by column.
 *
 * The program waits in kb_query_wait() for a while at a time, so that it can look at its own
 * signals in between, and at how far the command is.
 */
#include "cli/benches.h"
#include "cli/query/query.h"
#include "cli/command.h"
#include "cli/gate.h"
#include "cli/cli_main.h"
#include "cli/out/memory.h"
#include "cli/out/session.h"
#include "cli/out/stop.h"
#include "cli/plan/journal.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STACK_BYTES = 8 << 20 };

struct kb_query {
    struct session session; /* first: kb_query_here() */
    struct cli cli;
    struct gates gates;
    struct journal journal;
    char **words; /* owned, the strings too; up to NULL */
    int n_words;
    const kb_topology_source *source; /* borrowed; NULL: a command runs */
    kb_status made;                   /* of it: status, machine, and messages, which are owned */
    const kb_topology *machine;
    char *messages;
    pthread_t thread;
    char sources[PROVENANCE_BYTES];
};

static void free_words(char **words)
{
    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
}

/* "kernbench", the command's name and its options. */
static char **copy_words(const kb_query_request *request)
{
    char **words = calloc(request->n_words + 2, sizeof *words);
    bool ok = words && (words[0] = strdup("kernbench"));

    for (size_t i = 0; ok && i < request->n_words; i++)
        ok = (words[i + 1] = strdup(request->words[i]));
    if (ok)
        return words;
    free_words(words);
    return NULL;
}

static bool is_asked(void *session)
{
    return ((const struct session *)session)->asked;
}

static void *run(void *arg)
{
    kb_query *q = arg;
    int code = 0;

    parallel_owner = &q->session;
    if (q->source)
        q->made =
            kb_topology_load_until(q->source, is_asked, &q->session, &q->machine, &q->messages);
    else
        code = main_line(&q->cli, q->n_words, q->words);
    if (*q->cli.sources.of[PROVENANCE_PROGRAM])
        provenance_write(&q->cli.sources, q->sources);
    session_end(&q->session, code);
    if (q->session.leaves)
        session_stay();
    return NULL;
}

static bool start(kb_query *q)
{
    pthread_attr_t large;

    pthread_attr_init(&large);
    pthread_attr_setstacksize(&large, STACK_BYTES);
    bool ok = pthread_create(&q->thread, &large, run, q) == 0;
    pthread_attr_destroy(&large);
    return ok;
}

static void begin_session(struct session *s, const kb_query_request *request)
{
    pthread_condattr_t monotonic;

    s->frame = request->frame;
    s->limits = request->limits;
    s->keeps_run = request->keep_run;
    s->things = "";
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&s->change, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

kb_query *kb_query_here(void)
{
    return (kb_query *)session_here(); /* its first member */
}

kb_status kb_query_bench_give(const kb_bench *bench)
{
    struct bench_given *row = malloc(sizeof *row);

    if (!row)
        return KB_NO_MEMORY;
    row->bench = bench;
    bench_give(row);
    return KB_OK;
}

void kb_query_bench_take_back(const kb_bench *bench)
{
    free(bench_take_back(bench));
}

kb_status kb_query_new(const kb_query_request *request, kb_query **out)
{
    kb_query *q = calloc(1, sizeof *q);

    if (!q || !(q->words = copy_words(request))) {
        free(q);
        return KB_NO_MEMORY;
    }
    q->n_words = (int)request->n_words + 1;
    q->source = request->source;
    q->cli.program = "";
    q->cli.gates = &q->gates;
    q->cli.journal = &q->journal;
    if (request->topo) {
        q->cli.topo = request->topo;
        kb_topology_info(request->topo, &q->cli.info);
    } else {
        q->cli.info = (kb_info){.name = "", .config = "", .hash = "", .links = ""};
    }
    begin_session(&q->session, request);
    if (start(q)) {
        *out = q;
        return KB_OK;
    }
    free_words(q->words);
    free(q);
    return KB_NO_MEMORY;
}

/* The time in so many ms. */
static struct timespec time_in(int ms)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return until;
}

bool kb_query_wait(kb_query *q, int ms)
{
    struct session *s = &q->session;
    struct timespec until = time_in(ms);
    int error = 0;

    pthread_mutex_lock(&s->lock);
    while (!s->ended && error != ETIMEDOUT)
        error = pthread_cond_timedwait(&s->change, &s->lock, &until);
    bool ended = s->ended;
    pthread_mutex_unlock(&s->lock);
    return ended;
}

void kb_query_batch_give(kb_query *q, const kb_llm_batch *batch)
{
    struct session *s = &q->session;

    pthread_mutex_lock(&s->lock);
    s->batch = batch;
    s->wants = false;
    pthread_cond_broadcast(&s->change);
    pthread_mutex_unlock(&s->lock);
}

bool kb_query_batch_wait(kb_query *q, int ms, kb_llm_answer *out)
{
    struct session *s = &q->session;
    struct timespec until = time_in(ms);
    int error = 0;

    pthread_mutex_lock(&s->lock);
    while (!s->ended && !s->wants && error != ETIMEDOUT)
        error = pthread_cond_timedwait(&s->change, &s->lock, &until);
    bool answered = s->wants && !s->ended;
    *out = s->answer;
    pthread_mutex_unlock(&s->lock);
    return answered;
}

void kb_query_stop(kb_query *q)
{
    q->session.asked = true;
}

const char *kb_query_unheard(kb_query *q)
{
    return stop_unheard(&q->session);
}

const char *kb_query_progress(kb_query *q, uint64_t *done, uint64_t *total)
{
    struct session *s = &q->session;

    pthread_mutex_lock(&s->lock);
    *done = s->done;
    *total = s->total;
    const char *things = s->things;
    pthread_mutex_unlock(&s->lock);
    return things;
}

bool kb_query_left(const kb_query *q)
{
    return q->session.leaves;
}

int kb_query_code_of(kb_status status)
{
    return (int)cmd_code_of(status);
}

int kb_query_code(const kb_query *q)
{
    return q->session.code;
}

const char *kb_query_messages(const kb_query *q)
{
    return q->session.said;
}

const char *kb_query_text(const kb_query *q, size_t *n)
{
    *n = q->session.n_text;
    return q->session.text ? q->session.text : "";
}

size_t kb_query_table_count(const kb_query *q)
{
    return q->session.lacks ? 0 : q->session.tables.n; /* the last one may be half a table */
}

void kb_query_table_get(const kb_query *q, size_t i, kb_query_table *out)
{
    tables_show(&q->session.tables, i, out);
}

const char *kb_query_provenance(const kb_query *q)
{
    return q->sources;
}

kb_bench_run *kb_query_run(const kb_query *q)
{
    return q->session.run;
}

void kb_query_machine_take(kb_query *q, kb_query_machine *out)
{
    *out = (kb_query_machine){q->made, q->machine, q->messages};
    q->machine = NULL;
}

/* Of a query that left a thread behind nothing is freed: it may use all of it. */
void kb_query_free(kb_query *q)
{
    if (!q)
        return;
    kb_query_stop(q);
    while (!kb_query_wait(q, 1000))
        continue;
    if (q->session.leaves) {
        pthread_detach(q->thread);
        return;
    }
    pthread_join(q->thread, NULL);
    kb_bench_free(q->session.run); /* its machine may be one that the command made */
    main_close(&q->cli);
    tables_free(&q->session.tables);
    free(q->session.text);
    free(q->messages);
    kb_topology_free(q->machine);
    pthread_mutex_destroy(&q->session.lock);
    pthread_cond_destroy(&q->session.change);
    free_words(q->words);
    free(q);
}
