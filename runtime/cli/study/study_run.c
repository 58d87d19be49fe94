/*
 * study_run.c -- all commands of a study on all its variants: a process each, on all cores.
 *
 * A job is a command on a variant. It runs in a process of its own (fork), which writes one
 * study_outcome into a file without a name that it shares with us. So a variant that fails, or
 * brings its kernel down, takes nothing else with it, and commands need not know that others run
 * beside them. Jobs begin in their order, as many at a time as there are threads; outcomes have
 * places of their own, so nothing depends on which job ends first.
 *
 * With --sqlite each outcome is kept as soon as it is there, with the record of all that it is made
 * of (cli/sources.h): a study that was interrupted, or that has more variants now, runs the rest.
 * What was made of something else is done again, and stderr says of what. Two variants with the
 * same hash run once.
 *
 * What a job says on stderr is told only if it fails, with the variant's name before it.
 *
 * Of the ranks of an MPI job each runs jobs one after the other, by parallel_run(): a block is a
 * job, and its outcome is what comes back. The processes are made as before.
 */
#include "base/parallel.h"
#include "base/text.h"
#include "cli/out/memory.h"
#include "cli/out/progress.h"
#include "cli/out/say.h"
#include "cli/out/stop.h"
#include "cli/study/study_job.h"
#include "cli/sources.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NAP_MS = 2, NAMES_MOST = 8, LIST_BYTES = 1024, NO_RECORD = 1 << N_PROVENANCE };

struct runs {
    const struct study *s;
    struct study_outcome *outcomes; /* borrowed */
    struct study_job *job;          /* owned */
    unsigned n_jobs;                /* at a time */
    struct provenance *of;          /* owned: of each command */
    unsigned *differs;              /* owned: of each job, how what was kept differs */
    size_t n, next, done;
    char **said;         /* owned, each too: what a job that failed has said; NULL: it did not */
    enum exit_code code; /* of what kept jobs from running */
    struct progress progress;
};

/* -- results that are kept ------------------------------------------------------------------ */

/* What a command is made of now, without the machine. */
static enum exit_code sources_now(const struct study *s, size_t command, struct provenance *of)
{
    const struct study_command *c = &s->command[command];
    struct opts o;
    enum exit_code code = opts_read(&o, s->cli->program, c->n_words, c->word);

    if (!code)
        code = sources_of_command(of, &o, s->cli->program);
    opts_free(&o);
    return code;
}

static const struct study_variant *variant_of(const struct runs *r, size_t job)
{
    return &r->s->variant[job / r->s->n_commands];
}

/* The record of a job's result, as the study began. */
static struct provenance sources_of_job(const struct runs *r, size_t job)
{
    static const enum provenance_part machine[] = {PROVENANCE_MACHINE, PROVENANCE_COMPONENTS,
                                                   PROVENANCE_COMPILER};
    struct provenance of = r->of[job % r->s->n_commands];

    for (size_t i = 0; i < sizeof machine / sizeof *machine; i++)
        memcpy(of.of[machine[i]], variant_of(r, job)->of.of[machine[i]], sizeof *of.of);
    return of;
}

/* If a file of the command was changed meanwhile, it is unknown what the result is of. */
static void keep(const struct runs *r, size_t job)
{
    const struct study_outcome *o = &r->outcomes[job];
    char text[sizeof *o + 2 * TEXT_NUMBER_BYTES], pct[TEXT_NUMBER_BYTES];
    size_t command = job % r->s->n_commands;

    if (!r->s->cli->sqlite)
        return;
    struct provenance now = {0}, of = sources_of_job(r, job);
    if (sources_now(r->s, command, &now) || provenance_differs(&now, &r->of[command]))
        return;
    text_format(pct, sizeof pct, "%.17g", o->bound_pct);
    snprintf(text, sizeof text, "%s\t%" PRId64 "\t%s\t%s\t%s", o->metric, o->time_fs, pct,
             o->algorithm, o->bound);
    out_sqlite_keep(r->s->cli->sqlite, variant_of(r, job)->hash, r->s->command[command].line, &of,
                    text);
}

/* The next field of a kept result. */
static bool take_field(char **rest, char *to, size_t bytes)
{
    char *field = strsep(rest, "\t");

    if (field)
        snprintf(to, bytes, "%s", field);
    return field;
}

/* What is kept of the same machine and command, if it was made of all the same. */
static char *find_text(struct runs *r, size_t job)
{
    struct provenance of = sources_of_job(r, job), was = {0};
    char *text = out_sqlite_kept(r->s->cli->sqlite, variant_of(r, job)->hash,
                                 r->s->command[job % r->s->n_commands].line, &was);

    if (text)
        r->differs[job] = *was.of[PROVENANCE_COMMAND] ? provenance_differs(&of, &was) : NO_RECORD;
    if (!text || !r->differs[job])
        return text;
    free(text);
    return NULL;
}

static bool find_kept(struct runs *r, size_t job)
{
    struct study_outcome o = {.state = STUDY_OK};
    char time[32], pct[TEXT_NUMBER_BYTES], *end;
    char *text = find_text(r, job), *rest = text;
    bool ok = text && take_field(&rest, o.metric, sizeof o.metric) &&
              take_field(&rest, time, sizeof time) && take_field(&rest, pct, sizeof pct) &&
              take_field(&rest, o.algorithm, sizeof o.algorithm) &&
              take_field(&rest, o.bound, sizeof o.bound);

    if (ok) {
        o.time_fs = strtoll(time, NULL, 10);
        o.bound_pct = text_to_double(pct, &end);
        r->outcomes[job] = o;
    }
    free(text);
    return ok;
}

/* The outcome of an earlier job of the same machine and command. */
static bool find_same(struct runs *r, size_t job)
{
    size_t n = r->s->n_commands;

    for (size_t i = job % n; i < job; i += n)
        if (r->outcomes[i].state == STUDY_OK &&
            strcmp(variant_of(r, i)->hash, variant_of(r, job)->hash) == 0) {
            r->outcomes[job] = r->outcomes[i];
            return true;
        }
    return false;
}

/* -- what was done again ------------------------------------------------------------------- */

/* The names of the variants whose result of `command` differed so; how many there are. */
static size_t list_variants(const struct runs *r, size_t command, unsigned differs,
                            char list[LIST_BYTES])
{
    size_t n = 0, len = 0;

    *list = '\0';
    for (size_t job = command; job < r->n; job += r->s->n_commands) {
        const char *name = study_name(variant_of(r, job));

        if (r->differs[job] != differs)
            continue;
        if (n++ < NAMES_MOST && len + strlen(name) + 3 < LIST_BYTES)
            len += (size_t)sprintf(list + len, "%s%s", n > 1 ? ", " : "", name);
    }
    if (n > NAMES_MOST)
        snprintf(list + len, LIST_BYTES - len, ", ...");
    return n;
}

static void say_again(const struct runs *r, size_t command, unsigned differs)
{
    const struct study_command *c = &r->s->command[command];
    char list[LIST_BYTES], names[PROVENANCE_NAMES_BYTES];
    size_t n = list_variants(r, command, differs, list);

    provenance_names(differs, names);
    say_line(
        "%s:%d:%d: '%s' is done again, as the result%s %s not %s%s: %s", r->s->file, c->at_line,
        c->column, c->line, n > 1 ? "s that were kept" : " that was kept", n > 1 ? "are" : "is",
        differs == NO_RECORD ? "known to be of the same as this" : "of the same ", names, list);
}

/* A line for each command and each set of what differed. */
static void say_what_differed(const struct runs *r)
{
    for (size_t c = 0; c < r->s->n_commands; c++)
        for (size_t job = c; job < r->n; job += r->s->n_commands) {
            size_t first = c;

            while (first < job && r->differs[first] != r->differs[job])
                first += r->s->n_commands;
            if (r->differs[job] && first == job)
                say_again(r, c, r->differs[job]);
        }
}

/* -- what failed --------------------------------------------------------------------------- */

/* Names the variant and the command, and repeats what the job has said. */
static void say_failure(const struct runs *r, size_t number)
{
    const struct study *s = r->s;
    const struct study_variant *v = variant_of(r, number);
    char *rest = r->said[number];

    for (char *line; (line = strsep(&rest, "\n"));)
        if (*line)
            say_line("%s:%d:%d: variant %s: %s", s->file, v->line, v->column, study_name(v), line);
    say_line("%s:%d:%d: variant %s: '%s' ended with %d", s->file, v->line, v->column, study_name(v),
             s->command[number % s->n_commands].line, r->outcomes[number].code);
}

/* In the order of jobs, whichever failed first. The code is that of the first. */
static enum exit_code say_failures(const struct runs *r)
{
    enum exit_code code = EXIT_OK;

    for (size_t i = 0; i < r->n; i++)
        if (r->said[i]) {
            say_failure(r, i);
            code = code ? code : (enum exit_code)r->outcomes[i].code;
            free(r->said[i]);
        }
    return code;
}

/* -- one process, which looks at its jobs ---------------------------------------------------- */

static void end_job(struct runs *r, size_t number)
{
    if (r->outcomes[number].state == STUDY_OK)
        keep(r, number);
    r->done++;
}

/* Takes all that have ended; false: none had. */
static bool reap(struct runs *r)
{
    bool any = false;

    for (unsigned i = 0; i < r->n_jobs; i++) {
        struct study_job *job = &r->job[i];

        if (job->pid && study_job_ended(job, &r->outcomes[job->number], &r->said[job->number])) {
            end_job(r, job->number);
            any = true;
        }
    }
    return any;
}

static unsigned n_running(const struct runs *r)
{
    unsigned n = 0;

    for (unsigned i = 0; i < r->n_jobs; i++)
        n += r->job[i].pid != 0;
    return n;
}

/* Begins jobs while there is room; those whose result is there already are done at once. */
static void begin_jobs(struct runs *r)
{
    for (unsigned i = 0; i < r->n_jobs && r->next < r->n; i++) {
        if (r->job[i].pid)
            continue;
        while (r->next < r->n && (find_kept(r, r->next) || find_same(r, r->next))) {
            r->next++;
            r->done++;
        }
        if (r->next < r->n && study_job_begin(&r->job[i], r->s, r->next))
            r->next++;
        else
            return;
    }
}

static void stop_jobs(struct runs *r)
{
    for (unsigned i = 0; i < r->n_jobs; i++)
        if (r->job[i].pid)
            study_job_stop(&r->job[i]);
}

/* A job ends, or there is nothing to do: a short sleep. */
static void run_all(struct runs *r)
{
    bool stopped = false;

    while (r->done < r->n && !(stopped && n_running(r) == 0)) {
        if (stop_asked() && !stopped) {
            stop_jobs(r);
            stopped = true;
        }
        if (!stopped)
            begin_jobs(r);
        if (!stopped && n_running(r) == 0 && r->next < r->n) { /* no process can be made */
            r->code =
                say(r->s->cli->program, EXIT_SYSTEM, "cannot start a process: %s", strerror(errno));
            return;
        }
        if (!reap(r))
            usleep(NAP_MS * 1000);
        progress_show(&r->progress, r->done, r->n, "runs");
    }
}

/* -- ranks ---------------------------------------------------------------------------------- */

/* A whole job, on thread `i`, whose result is not there already. */
static void do_job(void *arg, unsigned i, uint64_t number)
{
    struct runs *r = arg;
    struct study_job *job = &r->job[i];

    if (r->outcomes[number].state == STUDY_OK)
        return;
    while (!stop_asked() && !study_job_begin(job, r->s, number))
        usleep(NAP_MS * 1000);
    while (job->pid && !study_job_ended(job, &r->outcomes[number], &r->said[number])) {
        if (stop_asked())
            study_job_kill(job); /* it writes nothing that would have to be removed */
        usleep(NAP_MS * 1000);
    }
}

static bool give_job(void *arg, uint64_t number)
{
    end_job(arg, number);
    return true;
}

static void show_jobs(void *arg)
{
    struct runs *r = arg;

    progress_show(&r->progress, r->done, r->n, "runs");
}

static bool is_kept(void *arg, uint64_t number)
{
    return ((struct runs *)arg)->outcomes[number].state == STUDY_OK;
}

static void pack_job(void *arg, uint64_t number, struct packed *to)
{
    struct runs *r = arg;

    PACKED_PUT(to, r->outcomes[number]);
    packed_put_text(to, r->said[number]);
}

static void unpack_job(void *arg, uint64_t number, struct packed *from)
{
    struct runs *r = arg;

    PACKED_TAKE(from, r->outcomes[number]);
    r->said[number] = packed_take_text(from);
}

/* All jobs are begun in any order of ends; those that are kept are not handed out. */
static void run_ranks(struct runs *r)
{
    struct parallel b = {.n = r->n,
                         .threads = r->n_jobs,
                         .window = r->n,
                         .work = do_job,
                         .give = give_job,
                         .wait = show_jobs,
                         .stop = stop_asked,
                         .have = is_kept,
                         .pack = pack_job,
                         .unpack = unpack_job,
                         .arg = r};

    for (size_t i = 0; i < r->n && r->s->cli->sqlite; i++)
        find_kept(r, i);
    if (parallel_run(&b) == PARALLEL_NO_THREAD)
        memory_lacks();
    for (size_t i = r->done; i < r->n; i++) /* interrupted: done behind one that is not */
        if (r->outcomes[i].state == STUDY_OK)
            end_job(r, i);
}

enum exit_code study_run(const struct study *s, struct study_outcome *outcomes)
{
    struct runs r = {.s = s,
                     .outcomes = outcomes,
                     .n_jobs = s->cli->opts.jobs ? s->cli->opts.jobs : parallel_threads(),
                     .n = s->n_variants * s->n_commands};

    r.of = memory_new(s->n_commands, sizeof *r.of);
    for (size_t c = 0; c < s->n_commands && s->cli->sqlite; c++)
        if ((r.code = sources_now(s, c, &r.of[c]))) {
            free(r.of);
            return r.code;
        }
    r.said = memory_new(r.n, sizeof *r.said);
    r.job = memory_new(r.n_jobs, sizeof *r.job);
    r.differs = memory_new(r.n, sizeof *r.differs);
    struct study_outcome *shared = mmap(NULL, r.n_jobs * sizeof *shared, PROT_READ | PROT_WRITE,
                                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        memory_lacks();
    for (unsigned i = 0; i < r.n_jobs; i++)
        r.job[i].out = &shared[i];
    progress_begin(&r.progress, s->cli->opts.quiet);
    if (parallel_ranks)
        run_ranks(&r);
    else
        run_all(&r);
    progress_end(&r.progress);
    munmap(shared, r.n_jobs * sizeof *shared);
    say_what_differed(&r);
    free(r.of);
    free(r.differs);
    free(r.job);
    enum exit_code failed = say_failures(&r);
    free(r.said);
    if (r.code)
        return r.code;
    return stop_heard() || r.done < r.n ? EXIT_INTERRUPTED : failed;
}
