/*
 * options_help.c -- --help of the program and of its commands, as opts.def has them.
 *
 * The help of a command shows only its own options, and each with the text for this command if an
 * OPTION_HELP row has one: --bytes of sweep takes a LIST, of probe a number N. The help of the
 * program shows all options with the commands that take them in parentheses.
 */
#include "cli/options/reading.h"
#include "base/text.h"
#include <stdio.h>
#include <string.h>

/* The row of an option as the help of some commands shows it. */
struct help_row {
    enum option_id id;
    unsigned commands;
    const char *argument, *help;
};

static const char *const option_words[N_OPTIONS] = {
#define OPTION_WORDS(NAME, words) [OPTION_##NAME] = words,
#include "cli/options/opts.def"
};

static const struct help_row help_rows[] = {
#define OPTION_HELP(NAME, commands, argument, help) {OPTION_##NAME, commands, argument, help},
#include "cli/options/opts.def"
};

const char *const *opts_words(const char *name, enum command command, size_t *n)
{
    bool draws = command < N_COMMANDS && format_is_picture(command_rows[command].format);

    if (strcmp(name, "format") == 0) {
        *n = draws ? (size_t)(N_FORMATS - FORMAT_SVG) : (size_t)FORMAT_SVG;
        return draws ? &opts_formats[FORMAT_SVG] : opts_formats;
    }
    *n = strcmp(name, "engine") == 0 ? KB_HOP + 1 : 0;
    return opts_engines;
}

/* A text that is longer than the column has a line of its own; both columns begin after two blanks.
 */
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
struct help_option opts_option(unsigned id, unsigned commands)
{
    struct help_option row = option_rows[id].shown;

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
            sink_text(s, opts_formats[command_rows[i].format]);
            sink_char(s, ')');
        }
}

static void help_option(enum option_id id, unsigned commands, struct sink *s)
{
    const struct help_option shown = opts_option(id, commands), *row = &shown;
    char form[64], text[sizeof form + 4];

    help_form(row, form);
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
        if (option_rows[i].shown.commands & commands &&
            !(i == OPTION_FORMAT && commands == IN(REPORT)))
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
