/*
 * words.c -- the words of a command line: options, the command, operands; and the line as results
 * tell it.
 *
 * getopt_long() takes the words in their order ("-" at the front of the short options returns
 * operands, too, as code 1), because results repeat the command line: `command` in JSON is the line
 * in one normal form, in which `--format=csv` is `--format csv`, `-j2` is left out (an
 * OPTION_ASIDE: it does not change the result), and words are quoted as a shell would read them
 * back. The same words go one by one to `params`, which the tables of --sqlite keep apart.
 *
 * getopt_long() has its state in variables of the process, and a program may run a command in each
 * of its threads. So one thread at a time cuts its line into pieces (cut()), and their meaning is
 * looked up when the lock is free again: what a piece says may end the thread (out/memory.h).
 *
 * The first operand is the command. After `report` the second one is, and everything else is read
 * as if `report` had not been there: the page is another form of the same results.
 *
 * An unknown option is answered with the nearest one that the command takes, so the command must be
 * known although it may follow: commands_meant() looks ahead for it.
 */
#include "cli/options/reading.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include "base/text.h"
#include <getopt.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    LONG_BASE = 256, /* getopt_long() returns this + option_id */
    OPERAND = 1,     /* and this for an operand, in its place among the options */
};

static const char *const dashed_names[N_OPTIONS] = {
#define OPTION(NAME, name, ...) "--" name,
#include "cli/options/opts.def"
};

/* -- the command line as results show it ---------------------------------------------------- */

/* May `c` stand in a shell's word without quotes? */
static bool is_plain(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c != '\0' && strchr("_./:,=+22%-", c));
}

/* Appends one word in such a way that a shell would read it back. */
static void add_word(char *line, const char *word)
{
    char *p = line + strlen(line);
    bool plain = *word != '\0';

    for (const char *w = word; *w; w++)
        plain = plain && is_plain(*w);
    if (p > line)
        *p++ = ' ';
    if (plain) {
        strcpy(p, word);
        return;
    }
    *p++ = '\'';
    for (; *word; word++)
        p = text_put_text(p, *word == '\'' ? "'\\''" : (char[]){*word, '\0'});
    strcpy(p, "'");
}

/* Notes a name and its value for results that keep them apart; of equal names the last counts. */
static void add_param(struct opts *o, const char *name, const char *value)
{
    size_t i = 0;

    while (i < o->n_params && strcmp(o->params[i].name, name) != 0)
        i++;
    if (i == o->n_params)
        o->n_params++;
    o->params[i] = (struct origin_arg){.name = name, .value = value};
}

/* KEY=VALUE is a parameter KEY of its own, by which results can be joined. */
static void add_set(struct opts *o, const char *word)
{
    const char *equals = strchr(word, '=');
    char *key;

    if (*word == '@') {
        add_param(o, "--set", word);
        return;
    }
    key = memory_part(word, (size_t)(equals - word));
    o->keys = memory_room(o->keys, o->n_keys, &o->keys_room, sizeof *o->keys);
    o->keys[o->n_keys++] = key;
    add_param(o, key, equals + 1);
}

static void add_option(struct reading *r, enum option_id id, const char *argument)
{
    char name[32] = "--";

    if (option_asides[id])
        return;
    if (id == OPTION_SET)
        add_set(r->o, argument);
    else if (id != OPTION_VARY) /* its values are those of each machine */
        add_param(r->o, dashed_names[id], argument);
    strcat(name, option_names[id]);
    if (argument &&
        help_may_lack(&option_rows[id].shown)) { /* one of a few short words, as it was read */
        strncat(strcat(name, "="), argument, sizeof name - strlen(name) - 2);
        argument = NULL;
    }
    add_word(r->o->command_line, name);
    if (argument)
        add_word(r->o->command_line, argument);
}

/* Enough for every word of `argv` quoted, and for every option's name in full. */
static size_t line_bytes(const char *program, int argc, char **argv)
{
    size_t n = strlen(program) + 1;

    for (int i = 0; i < argc; i++)
        n += 4 * strlen(argv[i]) + 32;
    return n;
}

void words_make_room(struct reading *r, int argc, char **argv)
{
    struct opts *o = r->o;

    o->operand = memory_new((size_t)argc + 1, sizeof *o->operand);
    o->command_line = memory_new(line_bytes(r->program, argc, argv), 1);
    o->params = memory_new((size_t)argc + N_OPTIONS, sizeof *o->params);
    add_word(o->command_line, r->program);
}

/* Operands have the names that the help gives them ("SRC DST"; not "[NAME=VALUE]...", which name
 * themselves). */
void words_add_defaults(struct reading *r)
{
    struct opts *o = r->o;
    size_t n = 0;

    o->operand_names = memory_text(command_rows[o->command].operands);
    for (char *rest = o->operand_names, *name; (name = strsep(&rest, " ")) && *name != '[';)
        if (n < o->n_operands)
            add_param(o, name, o->operand[n++]);
    for (int i = 0; i < N_OPTIONS; i++)
        if (option_rows[i].initial && !r->given[i] &&
            option_rows[i].shown.commands >> o->command & 1)
            add_param(o, dashed_names[i], option_rows[i].initial);
}

/* -- words ---------------------------------------------------------------------------------- */

size_t words_commands(unsigned commands, const char *names[N_COMMANDS])
{
    size_t n = 0;

    for (int i = 0; i < N_COMMANDS; i++)
        if (commands >> i & 1)
            names[n++] = command_names[i];
    return n;
}

enum exit_code words_misplaced(const struct reading *r, const struct option_row *row)
{
    const char *names[N_COMMANDS];
    char all[64];

    text_join(names, words_commands(row->shown.commands & ~IN(REPORT), names), "", all, sizeof all);
    return say(r->program, EXIT_USAGE, "%s takes no --%s, it is an option of %s",
               command_rows[r->o->command].name, row->shown.name, all);
}

static enum exit_code set_option(struct reading *r, enum option_id id, const char *argument)
{
    if (r->o->command < N_COMMANDS && !(option_rows[id].shown.commands >> r->o->command & 1))
        return words_misplaced(r, &option_rows[id]);
    r->given[id] = true;
    enum exit_code code = opts_read_value(r, id, argument);
    if (!code)
        add_option(r, id, argument);
    return code;
}

enum exit_code words_refuse_report(const struct reading *r, const char *why)
{
    const char *names[N_COMMANDS];
    char all[64];

    text_join(names, words_commands(opts_reported, names), "", all, sizeof all);
    return say(r->program, EXIT_USAGE, "%s %s", why, all);
}

/* The word behind "report". */
static enum exit_code add_reported(struct reading *r, const char *word)
{
    const char *names[N_COMMANDS];
    size_t n = words_commands(opts_reported, names);
    int i = opts_find(word, command_names, N_COMMANDS);
    char why[64];

    if (i < 0)
        return say_unknown(r->program, "command of report", "", word, names, n);
    snprintf(why, sizeof why, "there is no report of %s, only of", word);
    if (!(opts_reported >> i & 1))
        return words_refuse_report(r, why);
    r->o->command = (enum command)i;
    return EXIT_OK;
}

static enum exit_code add_command(struct reading *r, const char *word)
{
    struct opts *o = r->o;
    int i = opts_find(word, command_names, N_COMMANDS);

    if (o->report)
        return add_reported(r, word);
    if (i < 0)
        return say_unknown(r->program, "command", "", word, command_names, N_COMMANDS);
    o->report = i == COMMAND_REPORT;
    if (!o->report)
        o->command = (enum command)i;
    return EXIT_OK;
}

/* The first operand is the command, or "report" and the second is. Results do not tell "report":
 * it changes where they go. */
static enum exit_code add_operand(struct reading *r, const char *word)
{
    struct opts *o = r->o;

    if (o->command != N_COMMANDS) {
        o->operand[o->n_operands++] = word;
        add_word(o->command_line, word);
        return EXIT_OK;
    }
    enum exit_code code = add_command(r, word);
    if (o->command != N_COMMANDS)
        add_word(o->command_line, word);
    return code;
}

/* The option that getopt_long() returned as `code`. */
static enum option_id option_of(int code)
{
    if (code >= LONG_BASE)
        return (enum option_id)(code - LONG_BASE);
    for (int i = 0; i < N_OPTIONS; i++)
        if (option_rows[i].shown.letter && option_rows[i].shown.letter == code)
            return (enum option_id)i;
    return N_OPTIONS;
}

/* The commands whose options may be meant: the one that is named, here or later, or all. */
static unsigned commands_meant(const struct reading *r, int argc, char **argv)
{
    int command = r->o->command < N_COMMANDS ? (int)r->o->command : -1;

    for (int i = 1; i < argc && (command < 0 || command == COMMAND_REPORT); i++) {
        int named = opts_find(argv[i], command_names, N_COMMANDS);

        command = named < 0 ? command : named;
    }
    return command < 0 || command == COMMAND_REPORT ? ALL : 1u << command;
}

/* getopt_long() did not know a word: `code` is its optopt, `word` the last one it looked at. Only
 * options of `commands` are suggested. */
static enum exit_code unknown_option(const struct reading *r, int code, const char *word,
                                     unsigned commands)
{
    const char *names[N_OPTIONS];
    size_t n = 0;
    char name[64];

    if (code >= LONG_BASE)
        return say(r->program, EXIT_USAGE, "--%s takes no argument",
                   option_names[code - LONG_BASE]);
    if (code)
        return say(r->program, EXIT_USAGE, "unknown option '-%c', see --help", code);
    text_show(word + 2, strcspn(word + 2, "="), name, sizeof name);
    for (int i = 0; i < N_OPTIONS; i++)
        if (option_rows[i].shown.commands & commands)
            names[n++] = option_names[i];
    return say_unknown(r->program, "option", "--", name, names, n);
}

/* The rows of option_rows as getopt_long() wants them. */
static void make_tables(struct option longs[N_OPTIONS + 1], char shorts[2 * N_OPTIONS + 3])
{
    char *p =
        text_put_text(shorts, "-:"); /* operands in their place; ':' if an argument is missing */

    for (int i = 0; i < N_OPTIONS; i++) {
        const struct help_option *row = &option_rows[i].shown;

        longs[i] = (struct option){.name = row->name,
                                   .has_arg = help_may_lack(row) ? optional_argument
                                              : row->argument    ? required_argument
                                                                 : no_argument,
                                   .val = LONG_BASE + i};
        if (row->letter)
            *p++ = row->letter;
        if (row->letter && row->argument)
            *p++ = ':';
    }
    longs[N_OPTIONS] = (struct option){0};
    *p = '\0';
}

/* What getopt_long() returned, and the variables that it left. */
struct piece {
    int code;    /* of an option, OPERAND, '?' or ':' */
    int unknown; /* its optopt */
    char *argument;
    const char *word; /* the last one it looked at */
};

/* Enough for every piece: each takes a word, or a letter of one. */
static size_t most_pieces(int argc, char **argv)
{
    size_t n = 0;

    for (int i = 0; i < argc; i++)
        n += strlen(argv[i]) + 1;
    return n;
}

/* What getopt_long() has just returned as `c`. */
static struct piece piece_of(int c, char **argv)
{
    int id = (c == '?' || c == ':' ? optopt : c) - LONG_BASE;
    const char *cut = id < 0 ? NULL : help_cut_short(option_names[id], argv);

    return cut ? (struct piece){'?', 0, NULL, cut}
               : (struct piece){c, optopt, optarg, argv[optind - 1]};
}

/* Cuts the line up to its first error, its end or "--".
 *
 * returns  the number of pieces; `*rest` is the first word that is in none */
static size_t cut(int argc, char **argv, struct piece *pieces, int *rest)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    struct option longs[N_OPTIONS + 1];
    char shorts[2 * N_OPTIONS + 3];
    size_t n = 0;
    int c = 0;

    make_tables(longs, shorts);
    pthread_mutex_lock(&one_at_a_time);
    optind = 0; /* glibc: start over */
    opterr = 0;
    while (c != '?' && c != ':' && (c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        pieces[n] = piece_of(c, argv);
        c = pieces[n++].code;
    }
    *rest = optind;
    pthread_mutex_unlock(&one_at_a_time);
    return n;
}

static enum exit_code add_piece(struct reading *r, const struct piece *p, unsigned commands)
{
    switch (p->code) {
    case '?':
        return unknown_option(r, p->unknown, p->word, commands);
    case ':':
        return say(r->program, EXIT_USAGE, "--%s needs an argument",
                   option_names[option_of(p->unknown)]);
    case OPERAND:
        return add_operand(r, p->argument);
    default:
        return set_option(r, option_of(p->code), p->argument);
    }
}

enum exit_code words_read(struct reading *r, int argc, char **argv)
{
    struct piece *pieces = memory_new(most_pieces(argc, argv), sizeof *pieces);
    enum exit_code code = EXIT_OK;
    int rest;
    size_t n = cut(argc, argv, pieces, &rest);

    for (size_t i = 0; i < n && !code; i++)
        code = add_piece(r, &pieces[i], commands_meant(r, argc, argv));
    free(pieces);
    if (!code && rest < argc) /* the words after "--" */
        add_word(r->o->command_line, "--");
    while (!code && rest < argc)
        code = add_operand(r, argv[rest++]);
    return code;
}
