/*
 * study_run.c -- all commands of a study on all its variants, as items of a plan.
 *
 * A run is a command on a variant: number v * n_commands + c. It is done by a process of its own
 * (base/workers.c), so a variant that fails, or brings its kernel down, takes nothing else with it.
 * What it says on stderr is told only if it fails, with the variant's name before it, and of the
 * first SAID_MOST that fail; its first line is the reason in the table.
 *
 * With --sqlite each outcome is kept as soon as it is there, by the hash of its machine, with the
 * record of all that it is made of (cli/sources.h): another study that has the same machine takes
 * it. What was made of something else is done again, and stderr says of what.
 */
#include "cli/study/study_run.h"
#include "base/text.h"
#include "cli/out/memory.h"
#include "cli/out/stop.h"
#include "cli/plan/plan.h"
#include "cli/sources.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WINDOW_PER_THREAD = 16,
    SAID_MOST = 100,
    NAMES_MOST = 8,
    LIST_BYTES = 1024,
    REASON_BYTES = 256,
    NO_RECORD = 1 << N_PROVENANCE
};

/* A run in work, or done and not given yet. */
struct slot {
    struct study_outcome outcome;
    struct said said;
    struct run_explained explained;
    bool was_kept;
    uint64_t found; /* 1 + the run whose machine these are of: */
    char hash[24];
    struct provenance of;
};

/* Results of a command that were kept and differ, all in the same parts. */
struct difference {
    size_t command, n;
    unsigned parts;
    char list[LIST_BYTES]; /* the first variants */
    size_t len;
};

struct runs {
    const struct study *s;
    struct study_results *results; /* borrowed */
    uint64_t first;                /* the number of the plan's run 0 */
    uint64_t window;
    struct slot *slot;             /* owned; run i of the plan is at i % window */
    struct provenance *of;         /* owned: of each command */
    struct difference *difference; /* owned */
    size_t n_differences, differences_room;
    uint64_t n_done, n_failed;
};

static struct slot *slot_of(const struct runs *r, uint64_t i)
{
    return &r->slot[i % r->window];
}

static uint64_t variant_of(const struct runs *r, uint64_t i)
{
    return (r->first + i) / r->s->n_commands;
}

static size_t command_of(const struct runs *r, uint64_t i)
{
    return (size_t)((r->first + i) % r->s->n_commands);
}

/* The command of a run, with the arguments of its variant. Owned by the caller. */
static char *line_of(const struct runs *r, uint64_t i)
{
    char *arguments = study_arguments(r->s, variant_of(r, i), command_of(r, i));
    const char *line = r->s->command[command_of(r, i)].line;
    size_t bytes = strlen(line) + strlen(arguments) + 1;
    char *both = memory_new(bytes, 1);

    snprintf(both, bytes, "%s%s", line, arguments);
    free(arguments);
    return both;
}

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

/* Finds the hash and the record of a run's machine. False after messages: there is none. */
static bool find_machine(struct runs *r, uint64_t i)
{
    struct slot *slot = slot_of(r, i);
    struct said said = {.n = 0};
    kb_info info;

    say_into(&said); /* the run says it, too */
    const kb_topology *topo = study_machine(r->s, variant_of(r, i));
    say_into(NULL);
    if (!topo)
        return false;
    slot->found = i + 1;
    kb_topology_info(topo, &info);
    snprintf(slot->hash, sizeof slot->hash, "%s", info.hash);
    slot->of = r->of[command_of(r, i)];
    sources_of_machine(&slot->of, topo);
    kb_topology_free(topo);
    return true;
}

/* If a file of the command was changed meanwhile, it is unknown what the result is of. */
static void keep(struct runs *r, uint64_t i)
{
    const struct slot *slot = slot_of(r, i);
    const struct study_outcome *o = &slot->outcome;
    char text[sizeof *o + 2 * TEXT_NUMBER_BYTES], pct[TEXT_NUMBER_BYTES];
    size_t command = command_of(r, i);
    struct provenance now = {0};

    if (!r->s->cli->sqlite || slot->was_kept || !(slot->found == i + 1 || find_machine(r, i)) ||
        sources_now(r->s, command, &now) || provenance_differs(&now, &r->of[command]))
        return;
    text_format(pct, sizeof pct, "%.17g", o->bound_pct);
    snprintf(text, sizeof text, "%s\t%" PRId64 "\t%s\t%s\t%s", o->metric, o->time_fs, pct,
             o->algorithm, o->bound);
    char *line = line_of(r, i);
    out_sqlite_keep(r->s->cli->sqlite, slot->hash, line, &slot->of, text);
    free(line);
}

/* The next field of a kept result. */
static bool take_field(char **rest, char *to, size_t bytes)
{
    char *field = strsep(rest, "\t");

    if (field)
        snprintf(to, bytes, "%s", field);
    return field;
}

static bool read_kept(char *text, struct study_outcome *o)
{
    char time[32], pct[TEXT_NUMBER_BYTES], *end, *rest = text;

    *o = (struct study_outcome){.state = STUDY_OK};
    if (!take_field(&rest, o->metric, sizeof o->metric) || !take_field(&rest, time, sizeof time) ||
        !take_field(&rest, pct, sizeof pct) ||
        !take_field(&rest, o->algorithm, sizeof o->algorithm) ||
        !take_field(&rest, o->bound, sizeof o->bound))
        return false;
    o->time_fs = strtoll(time, NULL, 10);
    o->bound_pct = text_to_double(pct, &end);
    return true;
}

static void note_difference(struct runs *r, uint64_t i, unsigned parts)
{
    struct study_variant *v = memory_new(1, sizeof *v);
    struct difference *d = NULL;
    size_t command = command_of(r, i);

    for (size_t k = 0; k < r->n_differences && !d; k++)
        if (r->difference[k].command == command && r->difference[k].parts == parts)
            d = &r->difference[k];
    if (!d) {
        r->difference = memory_room(r->difference, r->n_differences, &r->differences_room,
                                    sizeof *r->difference);
        d = &r->difference[r->n_differences++];
        *d = (struct difference){.command = command, .parts = parts};
    }
    study_variant(r->s, variant_of(r, i), v);
    if (d->n++ < NAMES_MOST && d->len + strlen(v->full) + 3 < LIST_BYTES)
        d->len += (size_t)snprintf(d->list + d->len, LIST_BYTES - d->len, "%s%s",
                                   d->n > 1 ? ", " : "", v->full);
    free(v);
}

/* Is the result of the same machine and command kept, made of all the same? */
static bool find_kept(void *arg, uint64_t i)
{
    struct runs *r = arg;
    struct slot *slot = slot_of(r, i);
    struct provenance was = {0};

    slot->was_kept = false;
    if (!r->s->cli->sqlite || explained_is_wanted(r->s->cli) || !find_machine(r, i))
        return false;
    char *line = line_of(r, i), *text = out_sqlite_kept(r->s->cli->sqlite, slot->hash, line, &was);
    free(line);
    if (!text)
        return false;
    unsigned differs =
        *was.of[PROVENANCE_COMMAND] ? provenance_differs(&slot->of, &was) : NO_RECORD;
    if (differs)
        note_difference(r, i, differs);
    else
        slot->was_kept = read_kept(text, &slot->outcome);
    free(text);
    return slot->was_kept;
}

/* -- what was done again ------------------------------------------------------------------- */

static void say_again(const struct runs *r, const struct difference *d)
{
    const struct study_command *c = &r->s->command[d->command];
    char names[PROVENANCE_NAMES_BYTES];

    provenance_names(d->parts, names);
    say_line("%s:%d:%d: '%s' is done again, as the result%s %s not %s%s: %s%s", r->s->file,
             c->at_line, c->column, c->line, d->n > 1 ? "s that were kept" : " that was kept",
             d->n > 1 ? "are" : "is",
             d->parts == NO_RECORD ? "known to be of the same as this" : "of the same ", names,
             d->list, d->n > NAMES_MOST ? ", ..." : "");
}

/* A line for each command and each set of what differed. */
static void say_what_differed(const struct runs *r)
{
    for (size_t c = 0; c < r->s->n_commands; c++)
        for (size_t k = 0; k < r->n_differences; k++)
            if (r->difference[k].command == c)
                say_again(r, &r->difference[k]);
}

/* -- what failed --------------------------------------------------------------------------- */

/* Names the variant and the command, and repeats what the run has said. */
static void say_failure(const struct runs *r, uint64_t i)
{
    struct slot *slot = slot_of(r, i);
    char *rest = slot->said.text, line[LIST_BYTES];

    for (char *next; (next = strsep(&rest, "\n"));)
        if (*next)
            study_say(r->s, variant_of(r, i), next);
    snprintf(line, sizeof line, "'%s' ended with %d", r->s->command[command_of(r, i)].line,
             slot->outcome.code);
    study_say(r->s, variant_of(r, i), line);
}

/* The first line that it has said, without the program's name. */
static void reason_of(const struct runs *r, uint64_t i, char reason[REASON_BYTES])
{
    const struct slot *slot = slot_of(r, i);
    const char *said = slot->said.text, *program = r->s->cli->program;
    size_t len = strlen(program);

    if (strncmp(said, program, len) == 0 && strncmp(said + len, ": ", 2) == 0)
        said += len + 2;
    if (slot->said.n == 0)
        snprintf(reason, REASON_BYTES, "ended with %d", slot->outcome.code);
    else
        snprintf(reason, REASON_BYTES, "%.*s", (int)strcspn(said, "\n"), said);
}

/* -- items of the plan ----------------------------------------------------------------------- */

static void do_run(void *arg, unsigned thread, uint64_t i)
{
    struct runs *r = arg;
    struct slot *slot = slot_of(r, i);

    (void)thread;
    slot->said = (struct said){.n = 0};
    say_into(&slot->said);
    explained_drop(&slot->explained);
    study_run_one(r->s, variant_of(r, i), command_of(r, i), &slot->outcome, &r->results->explained,
                  &slot->explained);
    say_into(NULL);
}

static void pack_run(void *arg, uint64_t i, struct packed *to)
{
    const struct slot *slot = slot_of(arg, i);

    PACKED_PUT(to, slot->outcome);
    PACKED_PUT(to, slot->said.n);
    packed_put(to, slot->said.text, slot->said.n);
    explained_pack(&slot->explained, to);
}

static void unpack_run(void *arg, uint64_t i, struct packed *from)
{
    struct runs *r = arg;
    struct slot *slot = slot_of(r, i);

    PACKED_TAKE(from, slot->outcome);
    PACKED_TAKE(from, slot->said.n);
    packed_take(from, slot->said.text, slot->said.n);
    slot->said.text[slot->said.n] = '\0';
    explained_unpack(&r->results->explained, &slot->explained, from);
    slot->was_kept = false;
}

static void run_died(void *arg, uint64_t i, enum exit_code code, const char *why, const char *said)
{
    struct slot *slot = slot_of(arg, i);

    slot->outcome = (struct study_outcome){.state = STUDY_FAILED, .code = (int)code};
    slot->said = (struct said){.n = 0};
    say_into(&slot->said);
    if (*why)
        say_line("%s", why);
    if (*said)
        say_lines("%.*s", (int)strlen(said) - (said[strlen(said) - 1] == '\n'), said);
    say_into(NULL);
    slot->was_kept = false;
}

/* What lacked memory or a file could run the next time. */
static bool is_final(void *arg, uint64_t i)
{
    return slot_of(arg, i)->outcome.code != EXIT_SYSTEM;
}

static bool give_run(void *arg, uint64_t i)
{
    struct runs *r = arg;
    struct slot *slot = slot_of(r, i);
    char reason[REASON_BYTES] = "";

    r->n_done++;
    if (slot->outcome.state == STUDY_OK) {
        keep(r, i);
    } else {
        reason_of(r, i, reason);
        if (!r->results->failed)
            r->results->failed = (enum exit_code)slot->outcome.code;
        r->results->lacks = r->results->lacks || !is_final(r, i);
        if (r->n_failed++ < SAID_MOST && !r->s->cli->opts.shard.n)
            say_failure(r, i);
    }
    explained_give(&r->results->explained, r->first + i, &slot->explained);
    study_results_put(r->results, r->first + i, &slot->outcome, reason);
    return true;
}

/* -- all of them ------------------------------------------------------------------------------ */

/* The record of each command, if results are kept anywhere; and of the study, from all of them. */
static enum exit_code find_sources(struct runs *r, struct provenance *all)
{
    const struct cli *cli = r->s->cli;
    struct digest d;
    enum exit_code code = EXIT_OK;

    r->of = memory_new(r->s->n_commands, sizeof *r->of);
    if (!cli->sqlite && !cli->opts.resume && !cli->opts.shard.n)
        return EXIT_OK;
    *all = cli->sources;
    digest_of("study", strlen("study"), all->of[PROVENANCE_COMMAND]); /* its file is an input */
    digest_begin(&d);
    digest_add_text(&d, all->of[PROVENANCE_INPUTS]);
    for (size_t c = 0; c < r->s->n_commands && !code; c++) {
        char text[PROVENANCE_BYTES];

        code = sources_now(r->s, c, &r->of[c]);
        provenance_write(&r->of[c], text);
        digest_add_text(&d, text);
    }
    digest_end(&d, all->of[PROVENANCE_INPUTS]);
    return code;
}

static enum exit_code run_plan(struct runs *r, uint64_t first, uint64_t n,
                               const struct provenance *of)
{
    const struct cli *cli = r->s->cli;
    struct plan plan = {.cli = cli,
                        .things = "runs",
                        .n = n,
                        .threads = plan_threads(cli),
                        .window = (uint64_t)plan_threads(cli) * WINDOW_PER_THREAD,
                        .apart = true,
                        .first = first,
                        .work = do_run,
                        .give = give_run,
                        .is_final = is_final,
                        .pack = pack_run,
                        .unpack = unpack_run,
                        .died = run_died,
                        .have = find_kept,
                        .of = of,
                        .part_is_journal = true,
                        .arg = r};

    r->first = first;
    r->window = plan.window;
    r->slot = memory_new(r->window, sizeof *r->slot);
    enum exit_code code = plan_run(&plan);
    free(r->slot);
    return code;
}

enum exit_code study_run(const struct study *s, uint64_t from, struct study_results *results)
{
    struct runs r = {.s = s, .results = results};
    struct provenance of = {0};
    uint64_t all = study_n_variants(s) * s->n_commands, begin = from * s->n_commands;
    uint64_t first = begin + plan_first(s->cli, all - begin), n = plan_count(s->cli, all - begin);
    enum exit_code code = find_sources(&r, &of);

    study_results_resize(results, all);
    if (!code)
        code = run_plan(&r, first, n, &of);
    say_what_differed(&r);
    if (r.n_failed > SAID_MOST && !s->cli->opts.shard.n)
        say_line("%s: %llu more runs failed, the table says why", s->file,
                 (unsigned long long)(r.n_failed - SAID_MOST));
    free(r.of);
    free(r.difference);
    if (code)
        return code;
    return stop_heard() || r.n_done < n ? EXIT_INTERRUPTED : EXIT_OK;
}
