/*
 * study_machine.c -- the machines of a study: each is made once to see that it can be, for its hash
 * and its cost, and again where it runs.
 *
 * A variant is the YAML of the base machine with its keys replaced, so it has the hash, and all
 * digits, of a topology that was compiled with these keys. A machine takes well under a
 * millisecond, so none is kept: memory does not grow with the number of variants.
 */
#include "base/text.h"
#include "cli/benches.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include "cli/sources.h"
#include "cli/study/study.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What went wrong, a line each, with the place and the name of the variant. */
static void say_mistakes(const struct study *s, const struct study_variant *v, char *messages)
{
    for (char *rest = messages, *line; (line = strsep(&rest, "\n"));)
        if (*line && v)
            say_line("%s:%d:%d: variant %s: %s", s->file, v->line, v->column, study_name(v), line);
        else if (*line)
            say_line("%s: %s", s->file, line);
}

/* "cube.noc.bw_gbs=256" of each key that the variant changes. Returns how many; owned. */
static size_t make_sets(const struct study *s, const struct study_variant *v,
                        char *sets[STUDY_KEYS_MAX])
{
    size_t n = 0;

    for (size_t k = 0; k < s->n_keys; k++) {
        if (!v->value[k])
            continue;
        size_t bytes = strlen(s->key[k].name) + strlen(v->value[k]) + 2;

        sets[n] = memory_new(bytes, 1);
        snprintf(sets[n++], bytes, "%s=%s", s->key[k].name, v->value[k]);
    }
    return n;
}

const kb_topology *study_machine(const struct study *s, const struct study_variant *variant)
{
    char *sets[STUDY_KEYS_MAX], *messages = NULL;
    size_t n_sets = make_sets(s, variant, sets);
    const kb_topology *topo = NULL;
    kb_topology_source source = {.file = s->info.name,
                                 .text = s->info.config,
                                 .nbytes = strlen(s->info.config),
                                 .sets = (const char *const *)sets,
                                 .n_sets = n_sets};
    kb_status status = kb_topology_load(&source, &topo, &messages);

    if (status == KB_NO_MEMORY)
        memory_lacks();
    if (status && messages)
        say_mistakes(s, variant, messages);
    free(messages);
    for (size_t i = 0; i < n_sets; i++)
        free(sets[i]);
    return status ? NULL : topo;
}

/* -- the base machine ----------------------------------------------------------------------- */

/* That of the program, or of --machine, unless the file has one or changes its keys. */
static enum exit_code make_base(struct study *s)
{
    const struct cli *cli = s->cli;
    char *messages = NULL;

    s->base = cli->topo;
    s->info = cli->info;
    if (!s->machine && !cli->topo)
        return say(cli->program, EXIT_USAGE,
                   "%s: no machine: it needs 'machine: FILE.yaml', or --machine", s->file);
    if (s->machine && (cli->opts.machine || cli->opts.set.n > 0))
        return say(cli->program, EXIT_USAGE,
                   "%s has a machine of its own: leave out --machine and --set", s->file);
    if (!s->machine && s->n_sets == 0)
        return EXIT_OK;
    kb_topology_source source = {
        .file = s->machine ? s->machine : cli->info.name,
        .text = s->machine ? NULL : cli->info.config,
        .nbytes = s->machine ? 0 : strlen(cli->info.config),
        .sets = (const char *const *)s->set,
        .n_sets = s->n_sets,
    };
    kb_status status = kb_topology_load(&source, &s->base, &messages);
    if (status == KB_NO_MEMORY)
        memory_lacks();
    if (status && messages)
        say_mistakes(s, NULL, messages);
    free(messages);
    if (status) {
        s->base = NULL;
        return EXIT_INPUT;
    }
    kb_topology_info(s->base, &s->info);
    return EXIT_OK;
}

/* Keeps the value of a key that the study has. */
static void keep_value(void *arg, const kb_key *key)
{
    struct study *s = arg;

    for (size_t k = 0; k < s->n_keys; k++)
        if (strcmp(s->key[k].name, key->path) == 0) {
            free(s->key[k].base);
            s->key[k].base = memory_text(key->text);
            s->key[k].base_value =
                key->kind == KB_KEY_NUMBER || key->kind == KB_KEY_COUNT ? key->value : NAN;
        }
}

/* False after messages: a key does not exist, or has a cost and no number. */
static bool find_values(struct study *s)
{
    bool ok = true;

    if (kb_topology_keys(s->base, keep_value, s) == KB_NO_MEMORY)
        memory_lacks();
    for (size_t k = 0; k < s->n_keys; k++) {
        const struct study_key *key = &s->key[k];
        const char *wrong = NULL;

        if (!key->base && !key->is_changed) /* a variant that changes it says so better */
            wrong = "is no key of this machine, and no variant has that name";
        else if (key->base && !isnan(key->cost) && isnan(key->base_value))
            wrong = "is no number: give the variants costs of their own";
        if (wrong)
            say_line("%s:%d:%d: '%s' %s", s->file, key->line, key->column, key->name, wrong);
        ok = ok && !wrong;
    }
    return ok;
}

/* -- variants ------------------------------------------------------------------------------- */

/* Its own, and for each key with a cost what it has more than the base machine. */
static double cost_of(const struct study *s, const struct study_variant *v)
{
    double cost = isnan(v->own_cost) ? 0 : v->own_cost;
    char *end;

    for (size_t k = 0; k < s->n_keys; k++)
        if (v->value[k] && !isnan(s->key[k].cost))
            cost += s->key[k].cost * (text_to_double(v->value[k], &end) - s->key[k].base_value);
    return cost;
}

static bool check_variant(struct study *s, struct study_variant *v)
{
    const kb_topology *topo = study_machine(s, v);
    kb_info info;

    if (!topo)
        return false;
    kb_topology_info(topo, &info);
    snprintf(v->hash, sizeof v->hash, "%s", info.hash);
    sources_of_machine(&v->of, topo);
    kb_topology_free(topo);
    v->cost = s->has_costs ? cost_of(s, v) : NAN;
    return true;
}

/* -- commands ------------------------------------------------------------------------------- */

/* What the command may not be told, since the study sees to it; NULL: nothing. */
static const char *unwanted(const struct opts *o)
{
    return o->report          ? "report"
           : o->output        ? "-o"
           : o->sqlite        ? "--sqlite"
           : o->stats         ? "--stats"
           : o->trace         ? "--trace"
           : o->oplog         ? "--oplog"
           : o->dump          ? "--dump"
           : o->breakdown     ? "--breakdown"
           : o->race          ? "--race"
           : o->inspect.n > 0 ? "--inspect"
           : o->dry_run       ? "--dry-run"
           : o->vary.n > 0    ? "--vary: it has 'vary' for that"
           : o->machine       ? "--machine"
           : o->set.n > 0     ? "--set"
           : o->columns       ? "--columns"
           : o->command == COMMAND_REPLAY && strcmp(o->operand[0], "-") == 0
               ? "standard input: every variant reads the file"
               : NULL;
}

static bool has_result(enum command command)
{
    return command == COMMAND_PROBE || command == COMMAND_REPLAY || command == COMMAND_SWEEP ||
           command == COMMAND_LOAD || command == COMMAND_RUN;
}

/* False after a message. */
static bool check_command(const struct study *s, const struct study_command *c)
{
    struct opts o;
    const char *wrong = NULL;

    c->word[0] = (char *)s->cli->program;
    enum exit_code code = opts_read(&o, s->cli->program, c->n_words, c->word);
    if (!code && !opts_asks(&o) && o.command == COMMAND_RUN)
        bench_find(s->cli, o.operand[0], &code);
    if (code || opts_asks(&o))
        wrong = "is no command line";
    else if (!has_result(o.command))
        wrong = "is none of run, load, replay, sweep and probe";
    if (wrong)
        say_line("%s:%d:%d: '%s' %s", s->file, c->at_line, c->column, c->line, wrong);
    else if ((wrong = unwanted(&o)))
        say_line("%s:%d:%d: '%s': a study takes no %s", s->file, c->at_line, c->column, c->line,
                 wrong);
    opts_free(&o);
    return !wrong;
}

enum exit_code study_check(struct study *s)
{
    enum exit_code code = make_base(s);
    bool ok;

    if (code)
        return code;
    ok = find_values(s);
    for (size_t c = 0; c < s->n_commands; c++)
        ok = check_command(s, &s->command[c]) && ok;
    for (size_t v = 0; v < s->n_variants; v++)
        ok = check_variant(s, &s->variant[v]) && ok;
    return ok ? EXIT_OK : EXIT_INPUT;
}

/* -- the end -------------------------------------------------------------------------------- */

static void free_variant(struct study_variant *v)
{
    free(v->name);
    free(v->full);
    for (size_t k = 0; k < STUDY_KEYS_MAX; k++)
        free(v->value[k]);
}

static void free_command(struct study_command *c)
{
    for (int i = 1; i < c->n_words; i++)
        free(c->word[i]);
    free(c->word);
    free(c->line);
}

void study_free(struct study *s)
{
    for (size_t i = 0; i < s->n_variants; i++)
        free_variant(&s->variant[i]);
    for (size_t i = 0; i < s->n_commands; i++)
        free_command(&s->command[i]);
    for (size_t i = 0; i < s->n_keys; i++) {
        free(s->key[i].name);
        free(s->key[i].base);
    }
    for (size_t i = 0; i < s->n_sets; i++)
        free(s->set[i]);
    free(s->set);
    free(s->variant);
    free(s->machine);
    if (s->base && s->base != s->cli->topo)
        kb_topology_free(s->base);
}
