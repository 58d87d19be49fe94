/*
 * plan.c -- many runs of one command: what sweep, load, --vary, study and why share.
 *
 * A command says what an item is, how one is done, and what becomes of it in order; the rest is
 * here: threads or processes, progress, Ctrl-C, and the journal of --resume.
 *
 * An item's way: work() on some worker; then, on the caller's thread and in order, its bytes go to
 * the journal if they are final, and it is given. One that the journal has is unpacked in place of
 * work(), and given like any other. So what is printed cannot depend on how often a run was killed.
 *
 * The journal of -o FILE is FILE.journal. It goes when FILE is there and every item is final.
 */
#include "cli/plan/plan.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include "cli/out/stop.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { WHY_BYTES = 128 };

unsigned plan_threads(const struct cli *cli)
{
    return cli->opts.jobs ? cli->opts.jobs : parallel_threads();
}

/* -- what parallel.c calls -------------------------------------------------------------------- */

static struct journal *journal_of(const struct plan *p)
{
    return p->cli->journal->path ? p->cli->journal : NULL;
}

static void do_item(void *arg, unsigned thread, uint64_t i)
{
    struct plan *p = arg;

    kb_catch_crashes();
    p->work(p->arg, thread, i);
}

static bool has_item(void *arg, uint64_t i)
{
    struct plan *p = arg;
    struct journal *j = journal_of(p);

    p->taken[i % p->window] = j && journal_take(j, p->first + i, &p->from);
    if (p->taken[i % p->window])
        p->unpack(p->arg, i, &p->from);
    return p->taken[i % p->window] || (p->have && p->have(p->arg, i));
}

/* False: it could not be written. */
static bool keep_item(struct plan *p, uint64_t i)
{
    struct journal *j = journal_of(p);

    if (!j || p->taken[i % p->window])
        return true;
    if (p->is_final && !p->is_final(p->arg, i)) {
        j->complete = false;
        return true;
    }
    p->to.n = 0;
    p->pack(p->arg, i, &p->to);
    if (p->to.lost)
        memory_lacks();
    return journal_put(j, p->first + i, &p->to);
}

static void show(void *arg)
{
    struct plan *p = arg;

    progress_show(&p->progress, p->done ? p->done(p->arg) : p->n_given, p->total ? p->total : p->n,
                  p->things);
}

static bool give_item(void *arg, uint64_t i)
{
    struct plan *p = arg;
    bool more = keep_item(p, i) && p->give(p->arg, i);

    p->taken[i % p->window] = false;
    p->n_given++;
    show(p);
    return more;
}

static bool is_full(void *arg)
{
    struct plan *p = arg;

    return p->full && p->full(p->arg);
}

/* In a new process: what is ours is not its own. */
static void enter(void *arg)
{
    (void)arg;
    stop_forget();
    signal(SIGINT, SIG_IGN); /* a terminal sends it to all; the first process ends the others */
}

static void pack_item(void *arg, uint64_t i, struct packed *to)
{
    struct plan *p = arg;

    p->pack(p->arg, i, to);
}

static void unpack_item(void *arg, uint64_t i, struct packed *from)
{
    struct plan *p = arg;

    p->unpack(p->arg, i, from);
    if (from->lost)
        memory_lacks();
}

static void item_died(void *arg, uint64_t i, int status, const char *said)
{
    struct plan *p = arg;
    enum exit_code code = EXIT_INTERNAL;
    char why[WHY_BYTES] = "";

    if (WIFSIGNALED(status)) {
        snprintf(why, sizeof why, "its process was ended by signal %d: %s", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    } else {
        code = WEXITSTATUS(status) ? (enum exit_code)WEXITSTATUS(status) : EXIT_INTERNAL;
        if (!*said)
            snprintf(why, sizeof why, "its process ended with %d", WEXITSTATUS(status));
    }
    p->died(p->arg, i, code, why, said);
}

/* -- the run ---------------------------------------------------------------------------------- */

static bool is_journal(const struct plan *p)
{
    return p->part_is_journal && p->cli->opts.shard.n > 0;
}

static enum exit_code open_journal(const struct plan *p)
{
    const struct cli *cli = p->cli;
    const struct provenance *of = p->of ? p->of : &cli->sources;
    char *path = memory_new(strlen(cli->opts.output) + sizeof ".journal", 1);
    enum exit_code code;

    sprintf(path, "%s%s", cli->opts.output, is_journal(p) ? "" : ".journal");
    code = journal_open(cli->journal, cli->program, path, of);
    cli->journal->complete = !code; /* so far */
    cli->journal->is_part = is_journal(p);
    free(path);
    if (code || is_journal(p))
        return code;
    return journal_add_parts(cli->journal, cli->program, cli->opts.output, of);
}

static enum exit_code run(struct plan *p)
{
    struct parallel items = {.n = p->n,
                             .threads = p->threads,
                             .window = p->window,
                             .work = do_item,
                             .give = give_item,
                             .wait = show,
                             .stop = stop_asked,
                             .have = has_item,
                             .full = is_full,
                             .enter = p->apart ? enter : NULL,
                             .pack = p->apart ? pack_item : NULL,
                             .unpack = p->apart ? unpack_item : NULL,
                             .died = p->apart ? item_died : NULL,
                             .arg = p};
    struct journal *j = journal_of(p);

    progress_begin(&p->progress, p->cli->opts.quiet);
    enum parallel_end end = parallel_run(&items);
    if (end == PARALLEL_LEFT)
        stop_leave();
    stop_heard();
    progress_end(&p->progress);
    if (j && p->n_given < p->n)
        j->complete = false;
    if (j && j->error)
        return say(p->cli->program, EXIT_SYSTEM, "cannot write %s: %s", j->path,
                   strerror(j->error));
    return end == PARALLEL_NO_THREAD ? cmd_fail(p->cli, KB_NO_MEMORY, NULL) : EXIT_OK;
}

enum exit_code plan_run(struct plan *p)
{
    enum exit_code code = EXIT_OK;

    p->taken = memory_new(p->window, sizeof *p->taken);
    if ((p->cli->opts.resume || is_journal(p)) && !p->cli->journal->path)
        code = open_journal(p);
    if (!code)
        code = run(p);
    if (stop_leaves())
        return code;
    packed_free(&p->from);
    packed_free(&p->to);
    free(p->taken);
    return code;
}
