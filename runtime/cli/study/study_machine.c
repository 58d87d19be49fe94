/*
 * study_machine.c -- the machines of a study: made where they run; those with names before, too, to
 * see that they can be.
 *
 * A variant is the base machine with its keys replaced, so it has the hash, and all digits, of a
 * topology that was compiled with these keys. It is told by its number, and a machine takes well
 * under a millisecond, so nothing is kept: memory does not grow with the number of variants.
 */
#include "base/text.h"
#include "cli/benches.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include "cli/study/study.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void study_say(const struct study *s, uint64_t variant, const char *text)
{
    struct study_variant *v = memory_new(1, sizeof *v);

    study_variant(s, variant, v);
    say_line("%s:%d:%d: variant %s: %s", s->file, v->line, v->column, v->full, text);
    free(v);
}

/* "cube.noc.bw_gbs=256" of each key of the machine that the variant changes. Returns how many;
 * owned. */
static size_t make_sets(const struct study *s, const struct study_variant *v,
                        char *sets[STUDY_KEYS_MAX])
{
    size_t n = 0;

    for (size_t k = 0; k < s->n_keys; k++) {
        if (!v->value[k] || variants_argument(s->key[k].name))
            continue;
        size_t bytes = strlen(s->key[k].name) + strlen(v->value[k]) + 2;

        sets[n] = memory_new(bytes, 1);
        snprintf(sets[n++], bytes, "%s=%s", s->key[k].name, v->value[k]);
    }
    return n;
}

const kb_topology *study_machine(const struct study *s, uint64_t number)
{
    struct study_variant *v = memory_new(1, sizeof *v);
    char *sets[STUDY_KEYS_MAX], *messages = NULL;
    const kb_topology *topo = NULL;

    study_variant(s, number, v);
    size_t n_sets = make_sets(s, v, sets);
    kb_topology_source source = {
        .base = s->from, .sets = (const char *const *)sets, .n_sets = n_sets};
    kb_status status = kb_topology_load(&source, &topo, &messages);

    if (status == KB_NO_MEMORY)
        memory_lacks();
    if (status && messages)
        say_lines("%.*s", (int)strlen(messages) - 1, messages);
    free(messages);
    for (size_t i = 0; i < n_sets; i++)
        free(sets[i]);
    free(v);
    return status ? NULL : topo;
}

char *study_arguments(const struct study *s, uint64_t number, size_t command)
{
    struct study_variant *v = memory_new(1, sizeof *v);
    char *text = memory_text("");
    size_t n = 0;

    study_variant(s, number, v);
    for (size_t k = 0; k < s->n_keys; k++) {
        const char *name = variants_argument(s->key[k].name);

        if (!s->command[command].takes[k] || !v->value[k])
            continue;
        size_t bytes = strlen(name) + strlen(v->value[k]) + 3;

        text = memory_resize(text, n + bytes, 1);
        n += (size_t)snprintf(text + n, bytes, " %s=%s", name, v->value[k]);
    }
    free(v);
    return text;
}

/* The mistakes of a machine, each with its place: those of a variant, or of the base machine. */
static void say_mistakes(const struct study *s, const uint64_t *variant, char *messages)
{
    for (char *rest = messages, *line; (line = strsep(&rest, "\n"));)
        if (*line && variant)
            study_say(s, *variant, line);
        else if (*line)
            say_line("%s: %s", s->file, line);
}

/* -- the base machine ----------------------------------------------------------------------- */

/* Machines are made quickest from one that was read at run time. */
static enum exit_code copy_base(struct study *s)
{
    kb_topology_source source = {.base = s->base};

    s->from = s->base;
    return s->cli->loaded || kb_topology_load(&source, &s->from, NULL) == KB_OK
               ? EXIT_OK
               : cmd_fail(s->cli, KB_NO_MEMORY, NULL);
}

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
        return copy_base(s);
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
    s->from = s->base;
    return EXIT_OK;
}

/* The value of the key named `name`, if that is `key`, or an item of its list: "cube.size_mm[1]",
 * of "[15.0, 11.0]", is 11.0. Owned; NULL: it is another key. */
static char *value_named(const char *name, const kb_key *key)
{
    size_t n = strlen(key->path);
    const char *at = key->text;

    if (strncmp(name, key->path, n) != 0 || (name[n] && (name[n] != '[' || *at != '[')))
        return NULL;
    if (!name[n])
        return memory_text(key->text);
    for (int item = name[n + 1] - '0'; at && item > 0; item--)
        at = strchr(at + 1, ',');
    if (!at)
        return NULL;
    at += 1 + strspn(at + 1, " ");
    return memory_part(at, strcspn(at, ",]"));
}

/* Keeps the value of a key that the study has. */
static void keep_value(void *arg, const kb_key *key)
{
    struct study *s = arg;

    for (size_t k = 0; k < s->n_keys; k++) {
        struct study_key *own = &s->key[k];
        char *value = value_named(own->name, key), *end;
        bool is_item = value && own->name[strlen(key->path)];

        if (!value)
            continue;
        free(own->base);
        own->base = value;
        own->base_value = is_item ? text_to_double(value, &end)
                          : key->kind == KB_KEY_NUMBER || key->kind == KB_KEY_COUNT ? key->value
                                                                                    : NAN;
        own->is_count = is_item ? !strchr(value, '.') : key->kind == KB_KEY_COUNT;
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

        if (variants_argument(key->name))
            continue;
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

static double cost_of(const struct study *s, const struct study_variant *v, double own_cost)
{
    double cost = isnan(own_cost) ? 0 : own_cost;
    char *end;

    for (size_t k = 0; k < s->n_keys; k++)
        if (v->value[k] && !isnan(s->key[k].cost))
            cost += s->key[k].cost * (text_to_double(v->value[k], &end) - s->key[k].base_value);
    return cost;
}

/* The names of a point of `vary`. */
static void name_point(const struct study *s, struct study_variant *out)
{
    const struct variants *points = &s->points;
    size_t n = 0, m = 0;

    for (size_t a = 0; a < points->n_keys; a++) {
        const char *value = out->value[s->point_key[a]];

        n += (size_t)text_format(out->name + n, sizeof out->name - n, "%s%s", a ? "," : "", value);
        m += (size_t)text_format(out->full + m, sizeof out->full - m, "%s%.150s=%s", a ? " " : "",
                                 points->key[a].path, value);
    }
    out->line = s->vary_line;
    out->column = s->vary_column;
}

/* Its values, and its cost. */
static void find_delta(const struct study *s, uint64_t v, struct study_variant *out)
{
    double own_cost = v < s->n_named ? s->named[v].own_cost : NAN;
    uint64_t c = v < s->n_named ? 0 : variants_combination(&s->points, v - s->n_named);

    memset(out->value, 0, sizeof out->value);
    if (v < s->n_named)
        memcpy(out->value, s->named[v].value, sizeof out->value);
    for (size_t a = 0; v >= s->n_named && a < s->points.n_keys; a++) {
        const struct varied_key *key = &s->points.key[a];

        out->value[s->point_key[a]] = key->words[variants_level(&s->points, c, a)] + key->value_at;
    }
    out->cost = s->has_costs ? cost_of(s, out, own_cost) : NAN;
}

double study_cost(const struct study *s, uint64_t v)
{
    struct study_variant out;

    find_delta(s, v, &out);
    return out.cost;
}

void study_variant(const struct study *s, uint64_t v, struct study_variant *out)
{
    find_delta(s, v, out);
    if (v >= s->n_named) {
        name_point(s, out);
        return;
    }
    snprintf(out->name, sizeof out->name, "%s", s->named[v].name);
    snprintf(out->full, sizeof out->full, "%s", s->named[v].name);
    out->line = s->named[v].line;
    out->column = s->named[v].column;
}

/* Can the machine of a variant with a name be made? False after messages. */
static bool check_variant(struct study *s, uint64_t v)
{
    struct said said = {.n = 0};

    say_into(&said);
    const kb_topology *topo = study_machine(s, v);
    say_into(NULL);
    if (!topo)
        say_mistakes(s, &v, said.text);
    kb_topology_free(topo);
    return topo;
}

/* A key of `vary` that the base machine does not have: is there such a key? Its first value tells.
 * Which values are possible, a run says. */
static bool check_point_key(struct study *s, size_t a)
{
    const struct varied_key *key = &s->points.key[a];
    const struct study_key *of = &s->key[s->point_key[a]];
    const char *set = key->words[0];
    kb_topology_source source = {.base = s->from, .sets = &set, .n_sets = 1};
    const kb_topology *topo = NULL;
    char *messages = NULL;

    if (of->base)
        return true;
    kb_status status = kb_topology_load(&source, &topo, &messages);
    if (status == KB_NO_MEMORY)
        memory_lacks();
    if (status)
        say_line("%s:%d:%d: %.*s", s->file, of->line, of->column,
                 messages ? (int)strcspn(messages, "\n") : 0, messages ? messages : "");
    kb_topology_free(topo);
    free(messages);
    return !status;
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
    else if (s->cli->opts.breakdown && o.command != COMMAND_RUN && o.command != COMMAND_REPLAY)
        wrong = "has no --breakdown here: run and replay have";
    if (wrong)
        say_line("%s:%d:%d: '%s' %s", s->file, c->at_line, c->column, c->line, wrong);
    else if ((wrong = unwanted(&o)))
        say_line("%s:%d:%d: '%s': a study takes no %s", s->file, c->at_line, c->column, c->line,
                 wrong);
    opts_free(&o);
    return !wrong;
}

/* Notes whether the bench of a command has the argument of a key, and of the first command that
 * does its value there: that given, or the initial one. */
static void keep_argument(struct study *s, struct study_command *c, size_t key_number,
                          const char *name)
{
    struct study_key *key = &s->key[key_number];
    size_t len = strlen(name);
    struct opts o;

    enum exit_code code = opts_read(&o, s->cli->program, c->n_words, c->word);
    const kb_bench *bench =
        o.command == COMMAND_RUN ? bench_find(s->cli, o.operand[0], &code) : NULL;
    for (size_t i = 0; bench && i < bench->n_args; i++) {
        const kb_bench_arg *arg = &bench->args[i];
        const char *value = arg->initial;
        char *end;

        if (strcmp(arg->name, name) != 0)
            continue;
        c->takes[key_number] = true;
        if (key->base)
            break;
        for (size_t k = 1; k < o.n_operands; k++)
            if (strncmp(o.operand[k], name, len) == 0 && o.operand[k][len] == '=')
                value = o.operand[k] + len + 1;
        key->base = memory_text(value);
        key->base_value =
            arg->type == KB_ARG_INT || arg->type == KB_ARG_REAL ? text_to_double(value, &end) : NAN;
        key->is_count = arg->type == KB_ARG_INT;
    }
    opts_free(&o);
}

/* False after messages: no bench has an argument of that name. */
static bool find_arguments(struct study *s)
{
    bool ok = true;

    for (size_t k = 0; k < s->n_keys; k++) {
        struct study_key *key = &s->key[k];
        const char *name = variants_argument(key->name);

        if (!name)
            continue;
        for (size_t c = 0; c < s->n_commands; c++)
            keep_argument(s, &s->command[c], k, name);
        if (!key->base)
            say_line("%s:%d:%d: '%s' is no argument of a bench of these commands", s->file,
                     key->line, key->column, key->name);
        ok = ok && key->base;
    }
    return ok;
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
    if (ok)
        ok = find_arguments(s);
    for (size_t v = 0; v < s->n_named; v++)
        ok = check_variant(s, v) && ok;
    for (size_t a = 0; a < s->points.n_keys; a++)
        ok = (variants_argument(s->points.key[a].path) || check_point_key(s, a)) && ok;
    return ok ? EXIT_OK : EXIT_INPUT;
}

/* -- the end -------------------------------------------------------------------------------- */

static void free_named(struct study_named *v)
{
    free(v->name);
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
    for (size_t i = 0; i < s->n_named; i++)
        free_named(&s->named[i]);
    variants_free(&s->points);
    for (size_t i = 0; i < s->n_commands; i++)
        free_command(&s->command[i]);
    for (size_t i = 0; i < s->n_keys; i++) {
        free(s->key[i].name);
        free(s->key[i].base);
    }
    for (size_t i = 0; i < s->n_sets; i++)
        free(s->set[i]);
    free(s->set);
    free(s->named);
    free(s->machine);
    if (s->from && s->from != s->base)
        kb_topology_free(s->from);
    if (s->base && s->base != s->cli->topo)
        kb_topology_free(s->base);
}
