/* opts.c -- the command line, read: which command, and what it was told. */
#include "cli/options/opts.h"
#include "cli/out/say.h"
#include "base/text.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum option_id {
#define OPTION(NAME, ...) OPTION_##NAME,
#include "cli/options/opts.def"
    N_OPTIONS
};

#define ALONE    (1u << N_COMMANDS) /* no command is needed */
#define ALL      ((1u << N_COMMANDS) - 1 + ALONE)
#define IN(NAME) (1u << COMMAND_##NAME)

static const struct usage_option option_rows[N_OPTIONS] = {
#define OPTION(NAME, name, letter, argument, commands, help)                                       \
    [OPTION_##NAME] = {name, letter, argument, commands, help, NULL},
#include "cli/options/opts.def"
};

static const char *const option_words[N_OPTIONS] = {
#define OPTION_WORDS(NAME, words) [OPTION_##NAME] = words,
#include "cli/options/opts.def"
};

const unsigned opts_n_options = N_OPTIONS;

const unsigned opts_reported = IN(PROBE) | IN(REPLAY) | IN(SWEEP) | IN(LOAD) | IN(RUN);

/* What the help of some commands says of an option. */
struct help_row {
    enum option_id id;
    unsigned commands;
    const char *argument, *help;
};

static const struct help_row help_rows[] = {
#define OPTION_HELP(NAME, commands, argument, help) {OPTION_##NAME, commands, argument, help},
#include "cli/options/opts.def"
};

struct command_row {
    const char *name, *operands;
    size_t fewest, most;
    enum format format;
    const char *summary, *description;
};

static const struct command_row command_rows[N_COMMANDS] = {
#define COMMAND(NAME, name, operands, fewest, most, format, summary, description)                  \
    [COMMAND_##NAME] = {#name, operands, fewest, most, format, summary, description},
#include "cli/options/opts.def"
};

static const char *const command_names[N_COMMANDS] = {
#define COMMAND(NAME, name, ...) #name,
#include "cli/options/opts.def"
};

static const char *const option_names[N_OPTIONS] = {
#define OPTION(NAME, name, ...) name,
#include "cli/options/opts.def"
};

static const char *const dashed_names[N_OPTIONS] = {
#define OPTION(NAME, name, ...) "--" name,
#include "cli/options/opts.def"
};

/* What holds for an option that is not given, where results tell it. */
static const char *const defaults[N_OPTIONS] = {
    [OPTION_ENGINE] = "fused", [OPTION_BYTES] = "4096", [OPTION_INFLIGHT] = "1",
    [OPTION_TXNS] = "100000",  [OPTION_SEEDS] = "3",    [OPTION_ARRIVALS] = "poisson",
    [OPTION_SEED] = "0"};

static const char *const format_names[N_FORMATS] = {
#define FORMAT(NAME, name) #name,
    FORMATS
#undef FORMAT
};

static const char *const engine_names[] = {[KB_FUSED] = "fused", [KB_HOP] = "hop"};

enum {
    N_ENGINES = sizeof engine_names / sizeof *engine_names,
    LONG_BASE = 256, /* getopt_long() returns this + option_id */
    OPERAND = 1,     /* and this for an operand, in its place among the options */
    DEFAULT_TXNS = 100000,
    DEFAULT_SEEDS = 3,
    SEEDS_MAX = 1000,
    DEFAULT_TOP = 20,
    JOBS_MAX = 1024,
    TRACE_BYTES_MIN = 4096,
    PERCENT_MAX = 1000000,
};

/* The reading of one command line. */
struct reading {
    struct opts *o;
    const char *program;
    bool given[N_OPTIONS];
};

const char *const *opts_words(const char *name, enum command command, size_t *n)
{
    bool draws = command < N_COMMANDS && format_is_picture(command_rows[command].format);

    if (strcmp(name, "format") == 0) {
        *n = draws ? (size_t)(N_FORMATS - FORMAT_SVG) : (size_t)FORMAT_SVG;
        return draws ? &format_names[FORMAT_SVG] : format_names;
    }
    *n = strcmp(name, "engine") == 0 ? (size_t)N_ENGINES : 0;
    return engine_names;
}

const char *opts_command_name(enum command command)
{
    return command_names[command];
}

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

/* Enough for every word of `argv` quoted, and for every option's name in full. */
static size_t line_bytes(const char *program, int argc, char **argv)
{
    size_t n = strlen(program) + 1;

    for (int i = 0; i < argc; i++)
        n += 4 * strlen(argv[i]) + 32;
    return n;
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

/* Options that change where results go, or how fast, but not what they are, are not part of the
 * line. */
static void add_option(struct reading *r, enum option_id id, const char *argument)
{
    char name[32] = "--";

    if (id == OPTION_OUTPUT || id == OPTION_QUIET || id == OPTION_JOBS || id == OPTION_SQLITE ||
        id == OPTION_STATS || (id >= OPTION_TRACE && id <= OPTION_TRACE_MAX_BYTES))
        return;
    add_param(r->o, dashed_names[id], argument);
    strcat(name, option_names[id]);
    if (argument &&
        usage_may_lack(&option_rows[id])) { /* one of a few short words, as it was read */
        strncat(strcat(name, "="), argument, sizeof name - strlen(name) - 2);
        argument = NULL;
    }
    add_word(r->o->command_line, name);
    if (argument)
        add_word(r->o->command_line, argument);
}

/* -- values --------------------------------------------------------------------------------- */

/* The index of `word` among `names`, or -1. */
static int find(const char *word, const char *const names[], size_t n_names)
{
    for (size_t i = 0; i < n_names; i++)
        if (strcmp(word, names[i]) == 0)
            return (int)i;
    return -1;
}

static enum exit_code read_format(struct reading *r, const char *word)
{
    int i = find(word, format_names, N_FORMATS);

    if (i < 0)
        return say_unknown(r->program, "format", "", word, format_names, N_FORMATS);
    r->o->format = (enum format)i;
    return EXIT_OK;
}

static enum exit_code read_engine(struct reading *r, const char *word)
{
    int i = find(word, engine_names, N_ENGINES);

    if (i < 0)
        return say_unknown(r->program, "engine", "", word, engine_names, N_ENGINES);
    r->o->engine = (kb_engine)i;
    return EXIT_OK;
}

static enum exit_code refuse(const struct reading *r, enum option_id id, const char *word,
                             const char *expected)
{
    char shown[64];

    return say(r->program, EXIT_USAGE, "--%s '%s' is not %s", option_names[id],
               text_show(word, strlen(word), shown, sizeof shown), expected);
}

/* For sweep it is a list, but which command it is may come later. */
static enum exit_code check_bytes(const struct reading *r)
{
    const char *word = r->o->bytes_list;

    if (r->o->command == COMMAND_SWEEP)
        return EXIT_OK;
    if (!text_read_size(word, strlen(word), &r->o->bytes) || r->o->bytes == 0)
        return refuse(r, OPTION_BYTES, word, "a size above 0: digits, then K, M or G if wanted");
    return EXIT_OK;
}

static enum exit_code read_until(struct reading *r, const char *word)
{
    if (!text_read_ns(word, strlen(word), &r->o->until_fs) || r->o->until_fs == 0)
        return refuse(r, OPTION_UNTIL, word,
                      "a time in ns: above 0, at most " TEXT_NS_MAX_SHOWN " and six decimals");
    return EXIT_OK;
}

static enum exit_code read_max_events(struct reading *r, const char *word)
{
    if (!text_read_count(word, strlen(word), &r->o->max_events) || r->o->max_events == 0)
        return refuse(r, OPTION_MAX_EVENTS, word, "a number above 0");
    return EXIT_OK;
}

static enum exit_code read_verify(struct reading *r, const char *word)
{
    if (word && strcmp(word, "ops") != 0)
        return refuse(r, OPTION_VERIFY, word, "'ops'");
    r->o->verify = true;
    r->o->verify_ops = r->o->verify_ops || word;
    return EXIT_OK;
}

static enum exit_code read_phase2(struct reading *r, const char *word)
{
    r->o->phase2 = strcmp(word, "on") == 0;
    if (!r->o->phase2 && strcmp(word, "off") != 0)
        return refuse(r, OPTION_PHASE2, word, "'on' or 'off'");
    return EXIT_OK;
}

static enum exit_code read_oplog_limit(struct reading *r, const char *word)
{
    if (!text_read_size(word, strlen(word), &r->o->oplog_limit) || r->o->oplog_limit == 0)
        return refuse(r, OPTION_OPLOG_LIMIT, word,
                      "a size above 0: digits, then K, M or G if wanted");
    return EXIT_OK;
}

/* FILE's format is by its suffix. */
static enum exit_code read_trace(struct reading *r, const char *word)
{
    const char *suffix = strrchr(word, '.');

    r->o->trace = word;
    if (!suffix || (strcmp(suffix, ".pftrace") != 0 && strcmp(suffix, ".json") != 0))
        return refuse(r, OPTION_TRACE, word, "a name that ends in .pftrace or .json");
    return EXIT_OK;
}

static enum exit_code read_trace_time(struct reading *r, enum option_id id, const char *word,
                                      int64_t *out_fs)
{
    if (!text_read_ns(word, strlen(word), out_fs) || (id == OPTION_TRACE_TO && *out_fs == 0))
        return refuse(r, id, word, "a time in ns: at most " TEXT_NS_MAX_SHOWN " and six decimals");
    return EXIT_OK;
}

static enum exit_code read_trace_filter(struct reading *r, const char *word)
{
    r->o->trace_filter = word;
    if (!*word || *word == ',' || strstr(word, ",,") || word[strlen(word) - 1] == ',')
        return refuse(r, OPTION_TRACE_FILTER, word, "a list of names, commas between them");
    return EXIT_OK;
}

static enum exit_code read_trace_max_bytes(struct reading *r, const char *word)
{
    if (!text_read_size(word, strlen(word), &r->o->trace_max_bytes) ||
        r->o->trace_max_bytes < TRACE_BYTES_MIN)
        return refuse(r, OPTION_TRACE_MAX_BYTES, word,
                      "a size of 4K or more: digits, then K, M or G if wanted");
    return EXIT_OK;
}

static enum exit_code read_txns(struct reading *r, const char *word)
{
    if (!text_read_count(word, strlen(word), &r->o->txns) || r->o->txns == 0)
        return refuse(r, OPTION_TXNS, word, "a number above 0");
    return EXIT_OK;
}

static enum exit_code read_arrivals(struct reading *r, const char *word)
{
    r->o->fixed = strcmp(word, "fixed") == 0;
    if (!r->o->fixed && strcmp(word, "poisson") != 0)
        return refuse(r, OPTION_ARRIVALS, word, "'poisson' or 'fixed'");
    return EXIT_OK;
}

static enum exit_code read_seeds(struct reading *r, const char *word)
{
    if (!text_read_count(word, strlen(word), &r->o->seeds) || r->o->seeds == 0 ||
        r->o->seeds > SEEDS_MAX)
        return refuse(r, OPTION_SEEDS, word, "a number of simulations, 1 to 1000");
    return EXIT_OK;
}

static enum exit_code read_seed(struct reading *r, const char *word)
{
    if (!text_read_count(word, strlen(word), &r->o->seed))
        return refuse(r, OPTION_SEED, word, "a number");
    return EXIT_OK;
}

static enum exit_code read_inspect(struct reading *r, const char *word)
{
    struct opts *o = r->o;
    uint64_t id = KB_LAST_OP;

    if (strcmp(word, "last") != 0 &&
        (!text_read_count(word, strlen(word), &id) || id >= KB_LAST_OP))
        return refuse(r, OPTION_INSPECT, word, "the op_id of an operation, or 'last'");
    if (o->n_inspect == INSPECT_MAX)
        return say(r->program, EXIT_USAGE, "--inspect is given more than %d times", INSPECT_MAX);
    o->inspect[o->n_inspect++] = (uint32_t)id;
    return EXIT_OK;
}

static enum exit_code read_jobs(struct reading *r, const char *word)
{
    uint64_t n;

    if (!text_read_count(word, strlen(word), &n) || n == 0 || n > JOBS_MAX)
        return refuse(r, OPTION_JOBS, word, "a number of threads, 1 to 1024");
    r->o->jobs = (unsigned)n;
    return EXIT_OK;
}

static enum exit_code read_sqlite(struct reading *r, const char *word)
{
    r->o->sqlite = word;
    return *word ? EXIT_OK : refuse(r, OPTION_SQLITE, word, "the name of a file");
}

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Of what is written; view reads any. */
static enum exit_code check_stats(const struct reading *r)
{
    static const char *const ends[] = {".csv", ".json", ".sqlite", ".db"};
    const char *word = r->o->stats;

    if (!word || r->o->command == COMMAND_VIEW)
        return EXIT_OK;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_in(word, ends[i]) && strlen(word) > strlen(ends[i]))
            return EXIT_OK;
    return refuse(r, OPTION_STATS, word,
                  "the name of a file that ends in .csv, .json, .sqlite or .db");
}

static enum exit_code read_completion(struct reading *r, const char *word)
{
    static const char *const shells[] = {"bash", "zsh", "fish"};

    if (find(word, shells, sizeof shells / sizeof *shells) < 0)
        return say_unknown(r->program, "shell", "", word, shells, sizeof shells / sizeof *shells);
    r->o->completion = word;
    return EXIT_OK;
}

/* text_read_ns() reads any decimal of that kind, exactly. */
static enum exit_code read_percent(const struct reading *r, enum option_id id, const char *word,
                                   int64_t *out)
{
    int64_t millionths;

    if (!text_read_ns(word, strlen(word), &millionths) ||
        millionths > PERCENT_MAX * INT64_C(1000000))
        return refuse(r, id, word, "per cent: 0 to 1000000, at most six decimals");
    *out = millionths;
    return EXIT_OK;
}

static enum exit_code read_atol(struct reading *r, const char *word)
{
    if (!text_read_ns(word, strlen(word), &r->o->atol))
        return refuse(r, OPTION_ATOL, word,
                      "a number: 0 to " TEXT_NS_MAX_SHOWN ", at most six decimals");
    return EXIT_OK;
}

static enum exit_code read_top(struct reading *r, const char *word)
{
    if (!text_read_count(word, strlen(word), &r->o->top) || r->o->top == 0 || r->o->top > INT32_MAX)
        return refuse(r, OPTION_TOP, word, "a number, 1 to 2147483647");
    return EXIT_OK;
}

/* The argument of `id`, or that it was given. */
static enum exit_code read_option(struct reading *r, enum option_id id, const char *argument)
{
    switch (id) {
    case OPTION_FORMAT:
        return read_format(r, argument);
    case OPTION_ENGINE:
        return read_engine(r, argument);
    case OPTION_TXNS:
        return read_txns(r, argument);
    case OPTION_ARRIVALS:
        return read_arrivals(r, argument);
    case OPTION_SEEDS:
        return read_seeds(r, argument);
    case OPTION_UNTIL:
        return read_until(r, argument);
    case OPTION_MAX_EVENTS:
        return read_max_events(r, argument);
    case OPTION_VERIFY:
        return read_verify(r, argument);
    case OPTION_PHASE2:
        return read_phase2(r, argument);
    case OPTION_OPLOG_LIMIT:
        return read_oplog_limit(r, argument);
    case OPTION_INSPECT:
        return read_inspect(r, argument);
    case OPTION_TRACE:
        return read_trace(r, argument);
    case OPTION_TRACE_FROM:
        return read_trace_time(r, id, argument, &r->o->trace_from_fs);
    case OPTION_TRACE_TO:
        return read_trace_time(r, id, argument, &r->o->trace_to_fs);
    case OPTION_TRACE_FILTER:
        return read_trace_filter(r, argument);
    case OPTION_TRACE_MAX_BYTES:
        return read_trace_max_bytes(r, argument);
    case OPTION_SEED:
        return read_seed(r, argument);
    case OPTION_JOBS:
        return read_jobs(r, argument);
    case OPTION_BYTES:
        r->o->bytes_list = argument;
        break;
    case OPTION_SRC:
        r->o->src = argument;
        break;
    case OPTION_DST:
        r->o->dst = argument;
        break;
    case OPTION_INFLIGHT:
        r->o->inflight = argument;
        break;
    case OPTION_OP:
        r->o->op = argument;
        break;
    case OPTION_PATTERN:
        r->o->pattern = argument;
        break;
    case OPTION_RATE:
        r->o->rate = argument;
        break;
    case OPTION_DRY_RUN:
        r->o->dry_run = true;
        break;
    case OPTION_SQLITE:
        return read_sqlite(r, argument);
    case OPTION_STATS:
        r->o->stats = argument;
        break;
    case OPTION_TOLERANCE:
        return read_percent(r, id, argument, &r->o->tolerance);
    case OPTION_BOUND:
        return read_percent(r, id, argument, &r->o->bound);
    case OPTION_ATOL:
        return read_atol(r, argument);
    case OPTION_COLUMNS:
        r->o->columns = argument;
        break;
    case OPTION_TOP:
        return read_top(r, argument);
    case OPTION_AT:
        r->o->at = argument;
        break;
    case OPTION_OUTPUT:
        r->o->output = argument;
        break;
    case OPTION_DUMP:
        r->o->dump = argument;
        break;
    case OPTION_OPLOG:
        r->o->oplog = argument;
        break;
    case OPTION_CASE:
        r->o->only_case = argument;
        break;
    case OPTION_QUIET:
        r->o->quiet = true;
        break;
    case OPTION_BREAKDOWN:
        r->o->breakdown = true;
        break;
    case OPTION_RACE:
        r->o->race = true;
        break;
    case OPTION_CONFIG:
        r->o->config = true;
        break;
    case OPTION_FINGERPRINT:
        r->o->fingerprint = true;
        break;
    case OPTION_MAN:
        r->o->man = true;
        break;
    case OPTION_COMPLETION:
        return read_completion(r, argument);
    case OPTION_HELP:
        r->o->help = true;
        break;
    case OPTION_VERSION:
        r->o->version = true;
        break;
    case N_OPTIONS:
        break;
    }
    return EXIT_OK;
}

static enum exit_code set_option(struct reading *r, enum option_id id, const char *argument)
{
    r->given[id] = true;
    enum exit_code code = read_option(r, id, argument);
    if (!code)
        add_option(r, id, argument);
    return code;
}

/* -- words ---------------------------------------------------------------------------------- */

/* The names of those of `commands`; returns how many. */
static size_t names_of(unsigned commands, const char *names[N_COMMANDS])
{
    size_t n = 0;

    for (int i = 0; i < N_COMMANDS; i++)
        if (commands >> i & 1)
            names[n++] = command_names[i];
    return n;
}

/* `why` goes before the commands of which there are reports. */
static enum exit_code refuse_report(const struct reading *r, const char *why)
{
    const char *names[N_COMMANDS];
    char all[64];

    text_join(names, names_of(opts_reported, names), "", all, sizeof all);
    return say(r->program, EXIT_USAGE, "%s %s", why, all);
}

/* What stands behind "report". */
static enum exit_code add_reported(struct reading *r, const char *word)
{
    const char *names[N_COMMANDS];
    size_t n = names_of(opts_reported, names);
    int i = find(word, command_names, N_COMMANDS);
    char why[64];

    if (i < 0)
        return say_unknown(r->program, "command of report", "", word, names, n);
    snprintf(why, sizeof why, "there is no report of %s, only of", word);
    if (!(opts_reported >> i & 1))
        return refuse_report(r, why);
    r->o->command = (enum command)i;
    return EXIT_OK;
}

static enum exit_code add_command(struct reading *r, const char *word)
{
    struct opts *o = r->o;
    int i = find(word, command_names, N_COMMANDS);

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

/* What getopt_long() returned stands for this option. */
static enum option_id option_of(int code)
{
    if (code >= LONG_BASE)
        return (enum option_id)(code - LONG_BASE);
    for (int i = 0; i < N_OPTIONS; i++)
        if (option_rows[i].letter && option_rows[i].letter == code)
            return (enum option_id)i;
    return N_OPTIONS;
}

/* The commands whose options may be meant: the one that is named, here or later, or all. */
static unsigned commands_meant(const struct reading *r, int argc, char **argv)
{
    int command = r->o->command < N_COMMANDS ? (int)r->o->command : -1;

    for (int i = 1; i < argc && (command < 0 || command == COMMAND_REPORT); i++) {
        int named = find(argv[i], command_names, N_COMMANDS);

        command = named < 0 ? command : named;
    }
    return command < 0 || command == COMMAND_REPORT ? ALL : 1u << command;
}

/* getopt_long() did not know a word: `code` is its optopt, `word` what it looked at last. Of the
 * options only those of `commands` are suggested. */
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
        if (option_rows[i].commands & commands)
            names[n++] = option_names[i];
    return say_unknown(r->program, "option", "--", name, names, n);
}

/* The rows of option_rows as getopt_long() wants them. */
static void make_tables(struct option longs[N_OPTIONS + 1], char shorts[2 * N_OPTIONS + 3])
{
    char *p = text_put_text(shorts, "-:"); /* operands in their place; ':' if an argument lacks */

    for (int i = 0; i < N_OPTIONS; i++) {
        const struct usage_option *row = &option_rows[i];

        longs[i] = (struct option){.name = row->name,
                                   .has_arg = usage_may_lack(row) ? optional_argument
                                              : row->argument     ? required_argument
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

static enum exit_code read_words(struct reading *r, int argc, char **argv)
{
    struct option longs[N_OPTIONS + 1];
    char shorts[2 * N_OPTIONS + 3];
    enum exit_code code = EXIT_OK;
    int c;

    make_tables(longs, shorts);
    optind = 0; /* glibc: begin anew */
    opterr = 0;
    while (!code && (c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        if (c == '?')
            code = unknown_option(r, optopt, argv[optind - 1], commands_meant(r, argc, argv));
        else if (c == ':')
            code = say(r->program, EXIT_USAGE, "--%s needs an argument",
                       option_names[option_of(optopt)]);
        else if (c == OPERAND)
            code = add_operand(r, optarg);
        else
            code = set_option(r, option_of(c), optarg);
    }
    if (!code && optind < argc) /* what stands after "--" */
        add_word(r->o->command_line, "--");
    while (!code && optind < argc)
        code = add_operand(r, argv[optind++]);
    return code;
}

/* -- what only makes sense together --------------------------------------------------------- */

/* A command was given option `id`, which it does not take: say which ones do. */
static enum exit_code misplaced(const struct reading *r, const char *command, int id)
{
    const char *names[N_COMMANDS];
    char all[64];

    text_join(names, names_of(option_rows[id].commands & ~IN(REPORT), names), "", all, sizeof all);
    return say(r->program, EXIT_USAGE, "%s takes no --%s, it is an option of %s", command,
               option_names[id], all);
}

/* Are all options of --trace there for one? */
static enum exit_code check_trace(const struct reading *r)
{
    const struct opts *o = r->o;

    for (int i = OPTION_TRACE_FROM; i <= OPTION_TRACE_MAX_BYTES; i++)
        if (r->given[i] && !o->trace)
            return say(r->program, EXIT_USAGE, "--%s is of --trace, which is not given",
                       option_names[i]);
    if (o->trace_to_fs && o->trace_from_fs >= o->trace_to_fs)
        return say(r->program, EXIT_USAGE, "--trace-from is not before --trace-to");
    return EXIT_OK;
}

/* A command that draws has formats of its own. */
static enum exit_code check_format(const struct reading *r, const struct command_row *row)
{
    const char *format = format_names[r->o->format];

    if (format_is_picture(r->o->format) == format_is_picture(row->format))
        return EXIT_OK;
    if (format_is_picture(row->format))
        return say(r->program, EXIT_USAGE, "%s draws pictures, as svg or dot, not as %s", row->name,
                   format);
    return say(r->program, EXIT_USAGE, "%s prints rows: %s is a format of view", row->name, format);
}

static bool names_graph(const char *file)
{
    return ends_in(file, ".dot") || ends_in(file, ".gv");
}

/* Does the name of a picture's file say what is written into it? */
static enum exit_code check_picture(const struct reading *r)
{
    static const char *const others[] = {".png", ".pdf", ".jpg", ".jpeg", ".webp"};
    const struct opts *o = r->o;

    if (!format_is_picture(o->format) || !o->output)
        return EXIT_OK;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (ends_in(o->output, others[i]))
            return say(r->program, EXIT_USAGE, "-o %s: view writes .svg, .dot or .gv", o->output);
    if (o->format == FORMAT_SVG ? names_graph(o->output) : ends_in(o->output, ".svg"))
        return say(r->program, EXIT_USAGE, "-o %s is not the name of a file of --format %s",
                   o->output, format_names[o->format]);
    return EXIT_OK;
}

/* An input that is a file; NULL: none, or standard input. */
static const char *input_of(const struct opts *o)
{
    const char *path = NULL;

    if (o->command == COMMAND_REPLAY || (o->command == COMMAND_WHY && strpbrk(o->operand[0], "/.")))
        path = o->operand[0];
    else if (o->command == COMMAND_VIEW)
        path = o->stats ? o->stats : o->n_operands > 1 ? o->operand[1] : NULL;
    return path && strcmp(path, "-") != 0 ? path : NULL;
}

/* No two results go into one file, and none into what is read. */
static enum exit_code check_files(const struct reading *r)
{
    const struct opts *o = r->o;
    const struct {
        const char *option, *path;
    } files[] = {{"-o", o->output},
                 {"--sqlite", o->sqlite},
                 {"--oplog", o->oplog},
                 {"--trace", o->trace},
                 {"--stats", o->command == COMMAND_VIEW ? NULL : o->stats}};

    const char *input = input_of(o);

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        for (size_t k = 0; k < i; k++)
            if (files[i].path && files[k].path && newfile_same(files[i].path, files[k].path))
                return say(r->program, EXIT_USAGE, "%s and %s name the same file", files[i].option,
                           files[k].option);
        if (files[i].path && input && newfile_same(files[i].path, input))
            return say(r->program, EXIT_USAGE, "%s names the file that is read", files[i].option);
    }
    return EXIT_OK;
}

/* Of why only `why load` takes what traffic is made of. */
static enum exit_code check_why(const struct reading *r)
{
    static const enum option_id of_load[] = {OPTION_PATTERN, OPTION_RATE, OPTION_BYTES,
                                             OPTION_OP,      OPTION_TXNS, OPTION_ARRIVALS};

    if (r->o->command != COMMAND_WHY || strcmp(r->o->operand[0], "load") == 0)
        return EXIT_OK;
    for (size_t i = 0; i < sizeof of_load / sizeof *of_load; i++)
        if (r->given[of_load[i]])
            return say(r->program, EXIT_USAGE, "--%s is of 'why load'", option_names[of_load[i]]);
    return EXIT_OK;
}

static enum exit_code check(const struct reading *r)
{
    const struct opts *o = r->o;
    const struct command_row *row = &command_rows[o->command];

    for (int i = 0; i < N_OPTIONS; i++)
        if (r->given[i] && !(option_rows[i].commands >> o->command & 1))
            return misplaced(r, row->name, i);
    if (o->n_operands < row->fewest)
        return say(r->program, EXIT_USAGE, "%s needs %s, see '%s %s --help'", row->name,
                   row->operands, r->program, row->name);
    if (o->n_operands > row->most)
        return say(r->program, EXIT_USAGE, "%s: '%s' is one operand too many", row->name,
                   o->operand[row->most]);
    if (r->given[OPTION_TOP] && o->command != COMMAND_DIFF && !o->breakdown)
        return say(r->program, EXIT_USAGE, "--top is of --breakdown, which was not given");
    if (o->breakdown && o->n_inspect > 0)
        return say(r->program, EXIT_USAGE, "--breakdown and --inspect both print in place of rows");
    if (o->race && (o->breakdown || o->n_inspect > 0))
        return say(r->program, EXIT_USAGE, "--race and %s both print in place of rows",
                   o->breakdown ? "--breakdown" : "--inspect");
    if (o->breakdown && r->given[OPTION_SEEDS] && o->seeds > 1)
        return say(r->program, EXIT_USAGE, "--breakdown is of one simulation, --seeds has %llu",
                   (unsigned long long)o->seeds);
    if (o->report && r->given[OPTION_FORMAT])
        return say(r->program, EXIT_USAGE, "report writes HTML, it takes no --format");
    if (o->report && o->dry_run)
        return say(r->program, EXIT_USAGE, "--dry-run has no results for report");
    if (o->report && o->breakdown)
        return say(r->program, EXIT_USAGE, "a report says why by itself, it takes no --breakdown");
    if (o->report && o->race)
        return say(r->program, EXIT_USAGE, "--race prints in place of rows, a report takes none");
    if (o->sqlite && o->dry_run)
        return say(r->program, EXIT_USAGE, "--dry-run has no results for --sqlite");
    enum exit_code code = check_format(r, row);
    if (!code)
        code = check_stats(r);
    if (!code)
        code = check_why(r);
    if (!code)
        code = check_picture(r);
    if (!code)
        code = check_files(r);
    if (!code)
        code = check_trace(r);
    return code ? code : check_bytes(r);
}

/* Operands by the names that the help gives them ("SRC DST"; not "[NAME=VALUE]...", which name
 * themselves), and defaults. */
static void resolve_params(struct reading *r)
{
    struct opts *o = r->o;
    size_t n = 0;

    o->operand_names = strdup(command_rows[o->command].operands);
    if (!o->operand_names)
        return;
    for (char *rest = o->operand_names, *name; (name = strsep(&rest, " ")) && *name != '[';)
        if (n < o->n_operands)
            add_param(o, name, o->operand[n++]);
    for (int i = 0; i < N_OPTIONS; i++)
        if (defaults[i] && !r->given[i] && option_rows[i].commands >> o->command & 1)
            add_param(o, dashed_names[i], defaults[i]);
}

/* The format of a command that was told none: its own, or what the output's name says. */
static enum format default_format(const struct opts *o)
{
    enum format format = command_rows[o->command].format;

    return format == FORMAT_SVG && o->output && names_graph(o->output) ? FORMAT_DOT : format;
}

enum exit_code opts_read(struct opts *o, const char *program, int argc, char **argv)
{
    struct reading r = {.o = o, .program = program};

    *o = (struct opts){.command = N_COMMANDS,
                       .bytes_list = defaults[OPTION_BYTES],
                       .inflight = defaults[OPTION_INFLIGHT],
                       .txns = DEFAULT_TXNS,
                       .seeds = DEFAULT_SEEDS};
    o->operand = calloc((size_t)argc + 1, sizeof *o->operand);
    o->command_line = calloc(line_bytes(program, argc, argv), 1);
    o->params = calloc((size_t)argc + N_OPTIONS, sizeof *o->params);
    if (!o->operand || !o->command_line || !o->params)
        return say(program, EXIT_SYSTEM, "out of memory");
    add_word(o->command_line, program);
    enum exit_code code = read_words(&r, argc, argv);
    if (code || opts_asks(o))
        return code;
    if (o->command == N_COMMANDS && o->report)
        return refuse_report(&r, "report needs a command, one of");
    if (o->command == N_COMMANDS)
        return say(program, EXIT_USAGE, "no command, see '%s --help'", program);
    if (!r.given[OPTION_FORMAT])
        o->format = o->breakdown ? FORMAT_TABLE : default_format(o);
    if (o->command == COMMAND_DIFF && !r.given[OPTION_TOP])
        o->top = DEFAULT_TOP;
    resolve_params(&r);
    return o->operand_names ? check(&r) : say(program, EXIT_SYSTEM, "out of memory");
}

bool opts_asks(const struct opts *o)
{
    return o->help || o->version || o->man || o->completion;
}

void opts_free(struct opts *o)
{
    free(o->operand);
    free(o->operand_names);
    free(o->command_line);
    free(o->params);
    *o = (struct opts){0};
}

/* -- help ----------------------------------------------------------------------------------- */

/* At least a blank follows. */
/* What is longer than the column has a line of its own; both columns begin after two blanks. */
static void put_padded(struct sink *s, const char *text, size_t width)
{
    size_t n = strlen(text);

    sink_text(s, text);
    if (n >= width) {
        sink_text(s, "\n  ");
        n = 0;
    }
    for (; n < width; n++)
        sink_char(s, ' ');
}

/* " (probe, route)" behind an option that only some commands take. */
static void help_commands(unsigned commands, struct sink *s)
{
    const char *before = " (";

    for (int i = 0; i < N_COMMANDS; i++)
        if (commands >> i & 1) {
            sink_text(s, before);
            sink_text(s, command_names[i]);
            before = ", ";
        }
    sink_char(s, ')');
}

/* The row of an option as `commands` have it, which are one of them or all. */
struct usage_option opts_option(unsigned id, unsigned commands)
{
    struct usage_option row = option_rows[id];

    row.words = option_words[id];
    for (size_t i = 0; i < sizeof help_rows / sizeof *help_rows; i++)
        if (help_rows[i].id == id && commands != ALL && help_rows[i].commands & commands) {
            row.argument = help_rows[i].argument;
            row.help = help_rows[i].help;
        }
    return row;
}

/* " (default csv)" */
static void help_format(unsigned commands, struct sink *s)
{
    for (int i = 0; i < N_COMMANDS; i++)
        if (commands == 1u << i) {
            sink_text(s, " (default ");
            sink_text(s, format_names[command_rows[i].format]);
            sink_char(s, ')');
        }
}

static void help_option(enum option_id id, unsigned commands, struct sink *s)
{
    const struct usage_option shown = opts_option(id, commands), *row = &shown;
    char form[64], text[sizeof form + 4];

    usage_form(row, form);
    snprintf(text, sizeof text, "%c%c%c %s", row->letter ? '-' : ' ',
             row->letter ? row->letter : ' ', row->letter ? ',' : ' ', form);
    sink_text(s, "  ");
    put_padded(s, text, 22);
    sink_text(s, row->help);
    if (id == OPTION_FORMAT)
        help_format(commands, s);
    if (commands == ALL && row->commands != ALL && row->commands != ALONE)
        help_commands(row->commands, s);
    sink_char(s, '\n');
}

/* The options that any of `commands` takes. */
static void help_options(unsigned commands, struct sink *s)
{
    sink_text(s, "\nOptions, before or after operands:\n");
    for (int i = 0; i < N_OPTIONS; i++)
        if (option_rows[i].commands & commands && !(i == OPTION_FORMAT && commands == IN(REPORT)))
            help_option((enum option_id)i, commands, s);
}

static void help_command(const char *program, const struct command_row *row, unsigned bit,
                         struct sink *s)
{
    sink_text(s, "Usage: ");
    sink_text(s, program);
    sink_char(s, ' ');
    sink_text(s, row->name);
    sink_text(s, *row->operands ? " " : "");
    sink_text(s, row->operands);
    sink_text(s, " [OPTION]...\n\n");
    sink_text(s, row->description);
    help_options(bit, s);
}

static void help_program(const char *program, struct sink *s)
{
    sink_text(s, "Usage: ");
    sink_text(s, program);
    sink_text(s, " COMMAND [OPTION]...\n\n"
                 "How long a memory access takes on this topology, under this load, and why.\n\n"
                 "Commands:\n");
    for (int i = 0; i < N_COMMANDS; i++) {
        char text[64], *p = text_put_text(text, command_rows[i].name);

        p = text_put_text(text_put_text(p, " "), command_rows[i].operands);
        *p = '\0';
        sink_text(s, "  ");
        put_padded(s, text, 26);
        sink_text(s, command_rows[i].summary);
        sink_char(s, '\n');
    }
    help_options(ALL, s);
}

void opts_help(const char *program, enum command command, struct sink *s)
{
    if (command == N_COMMANDS)
        help_program(program, s);
    else
        help_command(program, &command_rows[command], 1u << command, s);
}
