/*
 * opts.c -- the command line, read: the order of the work, and the checks of options that go
 * together.
 *
 * Everything that a user may type stands once, in opts.def: a row per command and a row per option.
 * The C preprocessor includes that file several times, each time with another meaning of OPTION(),
 * COMMAND() and the other rows, and so makes
 *
 *   opts.h      enum command, and struct opts with a member for each option
 *   reading.h   enum option_id
 *   table.c     option_rows[]: names, how the argument is read, and the place of the member
 *   options_help.c      what --help says of an option for some commands only
 *   describe.c  the same data for the manual page and for completion in shells (base/help.h)
 *   main.c      the function of each command
 *
 * An example: the row
 *
 *   OPTION(SEEDS, "seeds", 0, "N", IN(LOAD),
 *          uint64_t, seeds, COUNT(1, 1000, "a number of simulations, 1 to 1000"), "3",
 *          "simulations per rate (default 3)")
 *
 * becomes `uint64_t seeds;` in struct opts, OPTION_SEEDS, and an option_row with read_count(), the
 * bounds 1 and 1000, and offsetof(struct opts, seeds). For `load --seeds 5` words.c finds the row,
 * read_count() (values.c) checks the bounds and writes 5 to that offset. Nothing else in this
 * folder knows of --seeds: `load` uses cli->opts.seeds.
 *
 * The order of the work: every default is read as if it stood on the command line; words.c takes
 * the words one by one; the format follows from the command if none was given; then check() goes
 * through all that depends on several words: options that the command does not take, options that
 * need or exclude each other, file names that mean the same file. This comes last because the
 * command may stand behind its options: `cube8 --seeds 5 load`.
 *
 * Each check says what is wrong and what would be right, with the name as it was typed, and ends
 * with EXIT_USAGE before anything has run.
 */
#include "cli/options/reading.h"
#include "cli/out/columns.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include "cli/out/session.h"
#include "base/text.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TOP_OF_DIFF = 20 };

/* -- what only makes sense together --------------------------------------------------------- */

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

/* The suffix matters for a file that is written; view reads any. */
static enum exit_code check_stats(const struct reading *r)
{
    static const char *const ends[] = {".csv", ".json", ".sqlite", ".db"};
    const char *word = r->o->stats;

    if (!word || r->o->command == COMMAND_VIEW)
        return EXIT_OK;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_in(word, ends[i]) && strlen(word) > strlen(ends[i]))
            return EXIT_OK;
    return opts_refuse(r, &option_rows[OPTION_STATS], word,
                       "the name of a file that ends in .csv, .json, .sqlite or .db");
}

/* For sweep it is a list; the command may stand behind the option, so this comes last. */
static enum exit_code check_bytes(const struct reading *r)
{
    const char *word = r->o->bytes_list;

    if (r->o->command == COMMAND_SWEEP)
        return EXIT_OK;
    if (!text_read_size(word, strlen(word), &r->o->bytes) || r->o->bytes == 0)
        return opts_refuse(r, &option_rows[OPTION_BYTES], word,
                           "a size above 0: digits, then K, M or G if wanted");
    return EXIT_OK;
}

/* An option that says more of another one, which must be given, too. */
static const struct need {
    enum option_id option, needed;
    unsigned commands;
} needs[] = {
#define OPTION_NEEDS(NAME, OTHER, commands) {OPTION_##NAME, OPTION_##OTHER, commands},
#include "cli/options/opts.def"
};

static enum exit_code check_needs(const struct reading *r)
{
    const struct opts *o = r->o;

    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (r->given[needs[i].option] && !r->given[needs[i].needed] &&
            needs[i].commands >> o->command & 1)
            return say(r->program, EXIT_USAGE, "--%s needs --%s, which is not given",
                       option_names[needs[i].option], option_names[needs[i].needed]);
    if (o->trace_to_fs && o->trace_from_fs >= o->trace_to_fs)
        return say(r->program, EXIT_USAGE, "--trace-from is not before --trace-to");
    return EXIT_OK;
}

/* Options that print something else than rows: one of them at most. */
static enum exit_code check_replaced(const struct reading *r)
{
    const struct opts *o = r->o;

    if (o->breakdown && o->inspect.n > 0)
        return say(r->program, EXIT_USAGE, "--breakdown and --inspect both print in place of rows");
    if (o->race && (o->breakdown || o->inspect.n > 0))
        return say(r->program, EXIT_USAGE, "--race and %s both print in place of rows",
                   o->breakdown ? "--breakdown" : "--inspect");
    if (o->command == COMMAND_WHY && o->by.factor > 0 && (o->breakdown || o->stats))
        return say(r->program, EXIT_USAGE,
                   "--%s is of a run for each limit: why --by key takes none, run --vary does",
                   o->breakdown ? "breakdown" : "stats");
    if (o->breakdown && r->given[OPTION_SEEDS] && o->seeds > 1)
        return say(r->program, EXIT_USAGE, "--breakdown is of one simulation, --seeds has %llu",
                   (unsigned long long)o->seeds);
    if (o->sqlite && o->dry_run)
        return say(r->program, EXIT_USAGE, "--dry-run has no results for --sqlite");
    return EXIT_OK;
}

/* Options that a report does not take, though its command does. */
static enum exit_code check_report(const struct reading *r)
{
    const struct opts *o = r->o;

    if (!o->report)
        return EXIT_OK;
    if (r->given[OPTION_FORMAT])
        return say(r->program, EXIT_USAGE, "report writes HTML, it takes no --format");
    if (o->dry_run)
        return say(r->program, EXIT_USAGE, "--dry-run has no results for report");
    if (o->breakdown)
        return say(r->program, EXIT_USAGE,
                   "a report has a breakdown in any case, it takes no --breakdown");
    if (o->race)
        return say(r->program, EXIT_USAGE,
                   "--race prints in place of rows, report takes no --race");
    return EXIT_OK;
}

/* A command that draws has formats of its own. */
static enum exit_code check_format(const struct reading *r)
{
    const struct command_row *row = &command_rows[r->o->command];
    const char *format = opts_formats[r->o->format];

    if (r->o->command == COMMAND_MERGE && r->o->format != FORMAT_CSV)
        return say(r->program, EXIT_USAGE, "merge joins CSV, and writes no %s", format);
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
                   o->output, opts_formats[o->format]);
    return EXIT_OK;
}

/* A terminal shows no pictures and no pages. */
static enum exit_code check_terminal(const struct reading *r)
{
    const struct opts *o = r->o;

    if (o->output || session_here() || !isatty(STDOUT_FILENO) ||
        !(o->report || format_is_picture(o->format)))
        return EXIT_OK;
    return say(r->program, EXIT_USAGE,
               "%s writes %s, and this is a terminal: name a file, such as -o %s%s",
               o->report ? "report" : command_rows[o->command].name,
               o->report                 ? "HTML"
               : o->format == FORMAT_SVG ? "SVG"
                                         : "a graph for Graphviz",
               r->program,
               o->report                 ? ".html"
               : o->format == FORMAT_SVG ? ".svg"
                                         : ".dot");
}

/* The file that operand `i` names, or standard input; NULL: none. */
static const char *operand_file(const struct opts *o, size_t i)
{
    static const unsigned first = 1u << COMMAND_REPLAY | 1u << COMMAND_LLM | 1u << COMMAND_STUDY |
                                  1u << COMMAND_CC | 1u << COMMAND_DIFF;
    static const unsigned second = 1u << COMMAND_DIFF | 1u << COMMAND_VIEW;
    static const unsigned benches = 1u << COMMAND_RUN | 1u << COMMAND_WHY | 1u << COMMAND_TUNE;
    const char *word = o->operand[i], *data = strstr(word, "=@");

    if (data && benches >> o->command & 1)
        return data + 2;
    if (o->command == COMMAND_WHY)
        return i == 0 && strpbrk(word, "/.") ? word : NULL;
    return (i == 0 ? first : second) >> o->command & 1 ? word : NULL;
}

/* Is `path`, which is written, the file `input`? */
static bool is_read(const char *path, const char *input)
{
    return input && strcmp(input, "-") != 0 && newfile_same(path, input);
}

/* Or any that the command reads? */
static bool is_input(const struct opts *o, const char *path)
{
    static const char matrix[] = "matrix:";
    const size_t n = sizeof matrix - 1;
    bool has_matrix = o->pattern && strncmp(o->pattern, matrix, n) == 0;

    for (size_t i = 0; i < o->n_operands; i++)
        if (is_read(path, operand_file(o, i)))
            return true;
    return is_read(path, o->machine) || is_read(path, o->map) || is_read(path, o->iterations) ||
           is_read(path, has_matrix ? o->pattern + n : NULL) ||
           is_read(path, o->command == COMMAND_VIEW ? o->stats : NULL);
}

/* No two results go into one file, and none into what is read. */
static enum exit_code check_files(const struct reading *r)
{
    const struct opts *o = r->o;
    const struct {
        const char *option, *path;
    } files[] = {
        {"-o", o->output},         {"--sqlite", o->sqlite},
        {"--oplog", o->oplog},     {"--trace", o->trace},
        {"--map-out", o->map_out}, {"--graph", o->graph},
        {"--chakra", o->chakra},   {"--stats", o->command == COMMAND_VIEW ? NULL : o->stats},
        {"--origin", o->origin}};

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        for (size_t k = 0; k < i; k++)
            if (files[i].path && files[k].path && newfile_same(files[i].path, files[k].path))
                return say(r->program, EXIT_USAGE, "%s and %s name the same file", files[i].option,
                           files[k].option);
        if (files[i].path && is_input(o, files[i].path))
            return say(r->program, EXIT_USAGE, "%s names the file that is read", files[i].option);
    }
    return EXIT_OK;
}

/* Only 'why load' takes the options of traffic, and only 'why llm' those of models. */
static enum exit_code check_why(const struct reading *r)
{
    enum {
        OF_LOAD = 1u << COMMAND_LOAD | 1u << COMMAND_WHY,
        OF_LLM = 1u << COMMAND_LLM | 1u << COMMAND_WHY
    };

    if (r->o->command != COMMAND_WHY)
        return EXIT_OK;
    const char *what = r->o->operand[0];
    bool is_load = strcmp(what, "load") == 0, is_llm = strcmp(what, "llm") == 0;
    for (unsigned i = 0; i < N_OPTIONS; i++) {
        unsigned of = option_rows[i].shown.commands & ~(IN(ROUTE) | IN(SWEEP) | IN(PROBE));
        bool wrong = (of == OF_LOAD && !is_load) || (of == OF_LLM && !is_llm);

        if (r->given[i] && wrong)
            return say(r->program, EXIT_USAGE, "--%s is an option of 'why %s' only",
                       option_names[i], of == OF_LOAD ? "load" : "llm");
    }
    return EXIT_OK;
}

/* diff has its own columns: those of its files. */
static enum exit_code check_columns(const struct reading *r)
{
    const struct opts *o = r->o;
    size_t len;

    if (!o->columns || o->command == COMMAND_DIFF)
        return EXIT_OK;
    if (o->report)
        return say(r->program, EXIT_USAGE, "a report has all columns, it takes no --columns");
    if (o->format != FORMAT_TABLE)
        return say(r->program, EXIT_USAGE, "--columns is of --format table, %s has all columns",
                   opts_formats[o->format]);
    const char *word = columns_unknown(o->columns, &len);
    if (!word)
        return EXIT_OK;
    char *name = memory_part(word, len);
    bool is_near = text_nearest(name, len, columns_words, columns_n_words);
    enum exit_code code = say_unknown(r->program, "column", "", name, columns_words,
                                      is_near ? columns_n_words : columns_n_groups);
    free(name);
    return code;
}

/* Is the column of a condition, of `n` bytes, a key of machines? Those that vary are, and of a
 * study any may be. */
static bool is_key(const struct opts *o, const char *condition, size_t n)
{
    if (memchr(condition, '.', n) || o->command == COMMAND_STUDY)
        return true;
    for (size_t i = 0; i < o->vary.n; i++)
        if (strcspn(o->vary.word[i], "=") == n && memcmp(o->vary.word[i], condition, n) == 0)
            return true;
    return false;
}

/* Whether a table has the column of a condition is known with its rows; here, whether any has. */
static enum exit_code check_conditions(const struct reading *r)
{
    const char *const *names = columns_words + columns_n_groups;
    size_t n_names = columns_n_words - columns_n_groups;
    enum exit_code code = EXIT_OK;

    for (size_t i = 0; i < r->o->fail_if.n && !code; i++) {
        size_t n = strcspn(r->o->fail_if.word[i], "<>=!");
        char *column = memory_part(r->o->fail_if.word[i], n);
        bool known = is_key(r->o, column, n) || columns_has(column);

        if (!known && text_nearest(column, n, names, n_names))
            code = say_unknown(r->program, "column", "", column, names, n_names);
        else if (!known)
            code = say(r->program, EXIT_USAGE, "unknown column '%s': 'describe columns' has all",
                       column);
        free(column);
    }
    return code;
}

/* A part that is the journal of its runs, of which the whole makes rows. */
static enum exit_code check_kept_part(const struct reading *r)
{
    const struct opts *o = r->o;

    if (o->output && !o->sqlite && !o->stats && !o->breakdown && !o->trace)
        return EXIT_OK;
    return say(r->program, EXIT_USAGE,
               "--shard of %s keeps results for --resume in a file: -o FILE, and no --sqlite, "
               "--stats, --breakdown or --trace",
               opts_command_name(o->command));
}

/* What a journal does not have: of load it has what --stats tells. */
static enum exit_code check_resume(const struct reading *r)
{
    const struct opts *o = r->o;
    const char *lacks = !o->resume || o->vary.n > 0              ? NULL
                        : o->stats && o->command != COMMAND_LOAD ? "stats"
                        : o->trace                               ? "trace"
                        : o->report                              ? "report"
                        : o->dry_run                             ? "dry-run"
                                                                 : NULL;

    return lacks ? say(r->program, EXIT_USAGE, "--resume keeps results, and no --%s", lacks)
                 : EXIT_OK;
}

/* Parts are joined by their files' names, and by lines: nothing else is known of them. */
static enum exit_code check_shard(const struct reading *r)
{
    const struct opts *o = r->o;

    if (!o->shard.n)
        return EXIT_OK;
    if (o->report || o->dry_run)
        return say(r->program, EXIT_USAGE, "%s is of the whole, it takes no --shard",
                   o->report ? "a report" : "--dry-run");
    if (o->command == COMMAND_STUDY ||
        ((o->command == COMMAND_LOAD || o->command == COMMAND_TUNE) && o->vary.n == 0))
        return check_kept_part(r);
    if (o->command != COMMAND_SWEEP && o->vary.n == 0)
        return say(r->program, EXIT_USAGE,
                   "--shard of %s needs --vary: parts are machines, points of sweep, rates of "
                   "load, runs of tune and study",
                   opts_command_name(o->command));
    if (!o->output || o->format != FORMAT_CSV || o->sqlite || o->stats)
        return say(
            r->program, EXIT_USAGE,
            "--shard writes CSV to a file: -o FILE, --format csv, and no --sqlite or --stats");
    return EXIT_OK;
}

/* A part's file has its numbers behind the name. */
static void name_part(struct opts *o)
{
    size_t len = strlen(o->output);

    o->part_name = memory_new(len + SHARD_SUFFIX_BYTES, 1);
    memcpy(o->part_name, o->output, len);
    shard_suffix(o->shard.i, o->shard.n, o->part_name + len);
    o->output = o->part_name;
}

/* The command takes all the options and operands that it was given. */
static enum exit_code check_taken(const struct reading *r)
{
    const struct opts *o = r->o;
    const struct command_row *row = &command_rows[o->command];

    for (int i = 0; i < N_OPTIONS; i++)
        if (r->given[i] && !(option_rows[i].shown.commands >> o->command & 1))
            return words_misplaced(r, &option_rows[i]);
    if (o->n_operands < row->fewest)
        return say(r->program, EXIT_USAGE, "%s needs %s, see '%s %s --help'", row->name,
                   row->operands, r->program, row->name);
    if (o->n_operands > row->most)
        return say(r->program, EXIT_USAGE, "%s: '%s' is one operand too many", row->name,
                   o->operand[row->most]);
    return EXIT_OK;
}

/* Each machine would write over the file of the one before. */
static enum exit_code check_maps(const struct reading *r)
{
    const struct opts *o = r->o;

    if (o->vary.n == 0 || (!o->map_out && !o->graph && !o->chakra))
        return EXIT_OK;
    return say(
        r->program, EXIT_USAGE,
        "--map-out, --graph and --chakra write what one machine has found; --vary has several");
}

static enum exit_code check(const struct reading *r)
{
    static enum exit_code (*const checks[])(const struct reading *) = {
        check_taken, check_needs,   check_replaced, check_report,  check_format,  check_stats,
        check_why,   check_picture, check_files,    check_bytes,   check_columns, check_conditions,
        check_shard, check_resume,  check_maps,     check_terminal};
    enum exit_code code = EXIT_OK;

    for (size_t i = 0; i < sizeof checks / sizeof *checks && !code; i++)
        code = checks[i](r);
    return code;
}

/* -- the whole ------------------------------------------------------------------------------ */

/* The format of a command that was told none: its own, or what the output's name says. */
static enum format default_format(const struct opts *o)
{
    enum format format = command_rows[o->command].format;

    if (o->shard.n) /* parts are joined line by line */
        return FORMAT_CSV;
    if (o->breakdown || (o->columns && o->command != COMMAND_DIFF))
        return FORMAT_TABLE;
    return format == FORMAT_SVG && o->output && names_graph(o->output) ? FORMAT_DOT : format;
}

/* Every default is read as if it stood on the command line. */
static enum exit_code read_defaults(struct reading *r)
{
    enum exit_code code = EXIT_OK;

    for (int i = 0; i < N_OPTIONS && !code; i++)
        if (option_rows[i].initial)
            code = opts_read_value(r, (enum option_id)i, option_rows[i].initial);
    return code;
}

enum exit_code opts_read(struct opts *o, const char *program, int argc, char **argv)
{
    struct reading r = {.o = o, .program = program};

    *o = (struct opts){.command = N_COMMANDS};
    words_make_room(&r, argc, argv);
    enum exit_code code = read_defaults(&r);
    if (!code)
        code = words_read(&r, argc, argv);
    if (code || opts_asks(o))
        return code;
    if (o->command == N_COMMANDS && o->report)
        return words_refuse_report(&r, "report needs a command, one of");
    if (o->command == N_COMMANDS)
        return say(program, EXIT_USAGE, "no command, see '%s --help'", program);
    if (!r.given[OPTION_FORMAT])
        o->format = default_format(o);
    if (o->command == COMMAND_DIFF && !r.given[OPTION_TOP])
        o->top = TOP_OF_DIFF;
    words_add_defaults(&r);
    code = check(&r);
    if (!code && o->shard.n)
        name_part(o);
    return code;
}

bool opts_asks(const struct opts *o)
{
    return o->help || o->version || o->man || o->completion;
}

void opts_give_argument(struct opts *o, const char *word)
{
    size_t name = strcspn(word, "=") + 1, i = 1;

    while (i < o->n_operands && strncmp(o->operand[i], word, name) != 0)
        i++;
    if (i == o->n_operands)
        o->operand = memory_resize(o->operand, ++o->n_operands, sizeof *o->operand);
    o->operand[i] = word;
}

void opts_free(struct opts *o)
{
    free(o->operand);
    free(o->operand_names);
    free(o->command_line);
    free(o->params);
    free(o->part_name);
    for (size_t i = 0; i < o->n_keys; i++)
        free(o->keys[i]);
    free(o->keys);
    *o = (struct opts){0};
}
