/* options.c -- reads kbgen's command line; prints help, manual page and completions. */
#include "options.h"
#include "machine/tables.h" /* KB_VERSION */
#include "spec.h"
#include "base/text.h"
#include "base/help.h"
#include "value.h"
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum option_id {
#define OPTION(NAME, ...) OPTION_##NAME,
#include "gen_opts.def"
    N_OPTIONS
};

static const struct help_option rows[N_OPTIONS] = {
#define OPTION(NAME, name, argument, help) [OPTION_##NAME] = {name, 0, argument, 1, help, NULL},
#include "gen_opts.def"
};

static const struct help_example examples[] = {
#define EXAMPLE(line, what) {0, line, what},
#include "gen_opts.def"
};

static const struct help_entry exit_codes[] = {
#define EXIT_MEANS(code, text) {code, text},
#include "gen_opts.def"
    {NULL, NULL}};

/* -- the options ---------------------------------------------------------------------------- */

static struct help_option option(unsigned id, unsigned commands)
{
    struct help_option o = rows[id];

    (void)commands;
    if (id == OPTION_COMPLETION)
        o.words = "bash zsh fish";
    return o;
}

/* KEY=VALUE: the key, then the words it may be, or its default. */
static void offer_key(struct completing *c, struct spec *spec, enum key k)
{
    const char *const *words = key_rows[k].words;
    const char *equals = arena_printf(spec->arena, "%s=", key_rows[k].path);

    if (strncmp(c->word, equals, strlen(equals)) != 0) {
        help_offer(c, equals, key_rows[k].needed ? NULL : value_text(spec, k));
        return;
    }
    for (; words && *words; words++)
        help_offer(c, arena_printf(spec->arena, "%s%s", equals, *words), NULL);
    if (!key_rows[k].words && !key_rows[k].needed)
        help_offer(c, arena_printf(spec->arena, "%s%s", equals, value_text(spec, k)), NULL);
}

static void offer(struct completing *c, const char *name)
{
    jmp_buf without;
    struct arena arena = {.without = &without};
    struct diag diag = {.say = NULL};
    struct spec spec;

    if (strcmp(name, "KEY=VALUE") != 0)
        return;
    if (setjmp(without))
        exit((int)options_no_memory());
    spec_init(&spec, &arena, &diag);
    for (enum key k = 0; k < N_KEYS; k++)
        offer_key(c, &spec, k);
    arena_release(&arena);
}

static const struct help kbgen_help = {
    .program = "kbgen",
    .version = KB_VERSION,
    .summary = "makes the tables of a simulator from a topology YAML",
    .description =
        "Read a topology YAML and print its tables as m4 definitions for the templates.\n",
    .operands = "FILE",
    .n_options = N_OPTIONS,
    .option = option,
    .examples = examples,
    .n_examples = sizeof examples / sizeof *examples,
    .exit_codes = exit_codes,
    .see_also = "m4(1)",
    .offer = offer};

enum { MESSAGE_BYTES = 4096 };

/* -- messages and help ---------------------------------------------------------------------- */

enum exit_code options_finish(enum exit_code code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    fputs("kbgen: the output cannot be written\n", stderr);
    return EXIT_SYSTEM;
}

void options_print(void *to, const char *line)
{
    fprintf(to, "%s\n", line);
}

enum exit_code options_no_memory(void)
{
    fputs("kbgen: out of memory\n", stderr);
    return EXIT_SYSTEM;
}

static _Noreturn void leave(void)
{
    exit((int)options_finish(EXIT_OK));
}

static _Noreturn void mistake(const char *what, const char *arg)
{
    char shown[MESSAGE_BYTES];

    fprintf(stderr, "kbgen: %s%s\nTry 'kbgen --help'.\n", what,
            text_make_visible(arg, false, shown, sizeof shown));
    exit(EXIT_USAGE);
}

static void help(void)
{
    char form[64];

    printf("Usage: kbgen [OPTION]... FILE\n%s\n", kbgen_help.description);
    for (unsigned i = 0; i < N_OPTIONS; i++) {
        help_form(&rows[i], form);
        printf("  %-20s %s\n", form, rows[i].help);
    }
    puts("\nExit codes:");
    for (const struct help_entry *e = exit_codes; e->name; e++)
        printf("  %-20s %s\n", e->name, e->text);
    help_examples(&kbgen_help, 0, stdout);
}

/* An option that getopt_long() does not know, that lacks its argument, or that takes none. */
static _Noreturn void bad_option(int c, int id, const char *word)
{
    const char *names[N_OPTIONS], *near;
    char shown[64];

    if (id >= 0)
        mistake(c == ':' ? "an argument is needed by --" : "no argument is taken by --",
                rows[id].name);
    for (int i = 0; i < N_OPTIONS; i++)
        names[i] = rows[i].name;
    near = word[1] == '-' ? text_nearest(word + 2, strcspn(word + 2, "="), names, N_OPTIONS) : NULL;
    text_show(word, strlen(word), shown, sizeof shown);
    if (!near)
        mistake("unknown option ", shown);
    fprintf(stderr, "kbgen: unknown option '%s', did you mean '--%s'?\n", shown, near);
    exit(EXIT_USAGE);
}

/* -- reading -------------------------------------------------------------------------------- */

static double read_limit(const char *word)
{
    enum { MOST = 1000000000 };
    char *end;
    double value = text_to_double(word, &end);

    if (end == word || *end || !(value > 0) || value > MOST)
        mistake("a limit is a number above 0, at most 1000000000, not ", word);
    return value;
}

static void set_option(struct options *o, int id, const char *argument)
{
    switch ((enum option_id)id) {
    case OPTION_SET:
        o->sets[o->n_sets++] = argument;
        break;
    case OPTION_CONFIG:
        o->output = OUTPUT_CONFIG;
        break;
    case OPTION_KEYS:
        o->output = OUTPUT_KEYS;
        break;
    case OPTION_HASH:
        o->output = OUTPUT_HASH;
        break;
    case OPTION_COMPONENTS:
        o->output = OUTPUT_COMPONENTS;
        break;
    case OPTION_COMPONENT_CODE:
        o->output = OUTPUT_COMPONENT_CODE;
        break;
    case OPTION_NAME:
        o->output = OUTPUT_NAME;
        break;
    case OPTION_LIMIT_S:
        o->limit_s = read_limit(argument);
        break;
    case OPTION_LIMIT_MB:
        o->limit_bytes = (uint64_t)(read_limit(argument) * 1e6);
        break;
    case OPTION_MAN:
        help_man(&kbgen_help, stdout);
        leave();
    case OPTION_COMPLETION:
        if (!help_script(&kbgen_help, argument, stdout))
            mistake("--completion is for bash, zsh or fish, not ", argument);
        leave();
    case OPTION_HELP:
        help();
        leave();
    case OPTION_VERSION:
        puts("kbgen " KB_VERSION);
        leave();
    case N_OPTIONS:
        break;
    }
}

/* --complete WORD...: a shell asks for completions of the last word. */
static _Noreturn void complete(int n, char **words)
{
    if (!help_complete(&kbgen_help, words, (size_t)n, stdout))
        exit((int)options_no_memory());
    leave();
}

void options_read(struct options *o, struct arena *arena, int argc, char **argv)
{
    struct option longs[N_OPTIONS + 1] = {{0}};
    enum { BASE = 256 };
    int c;

    if (argc > 1 && strcmp(argv[1], "--complete") == 0)
        complete(argc - 2, argv + 2);
    for (int i = 0; i < N_OPTIONS; i++)
        longs[i] = (struct option){.name = rows[i].name,
                                   .has_arg = rows[i].argument ? required_argument : no_argument,
                                   .val = BASE + i};
    o->sets = arena_alloc(arena, (size_t)argc * sizeof(*o->sets));
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":", longs, NULL)) != -1) {
        int id = (c == '?' || c == ':' ? optopt : c) - BASE;
        const char *cut = id < 0 ? NULL : help_cut_short(rows[id].name, argv);

        if (cut)
            bad_option('?', -1, cut);
        if (c == '?' || c == ':')
            bad_option(c, optopt - BASE, argv[optind - 1]);
        set_option(o, c - BASE, optarg);
    }
    if (optind == argc)
        mistake("no topology file", "");
    if (optind + 1 < argc)
        mistake("one topology file, not also ", argv[optind + 1]);
    o->file = argv[optind];
}
