/* help_man.c -- the manual page of a program, for man(1).
 *
 * The page is made of the same table as --help and the completions, so it cannot be out of date.
 * Our texts contain characters that mean something to roff: a backslash, a dot or a quote at the
 * begin of a line, and hyphens. put_char() and put_lines() escape them.
 */
#include "base/help.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* -- roff ----------------------------------------------------------------------------------- */

/* Escapes a character so that roff prints it as it is; quotes also in arguments of macros. */
static void put_char(char c, FILE *to)
{
    static const char special[] = "\\-'\"`^~";
    static const char *const names[] = {"\\e", "\\-", "\\(aq", "\\(dq", "\\(ga", "\\(ha", "\\(ti"};
    const char *found = strchr(special, c);

    if (c && found)
        fputs(names[found - special], to);
    else
        fputc(c, to);
}

static void put(const char *text, FILE *to)
{
    for (; *text; text++)
        put_char(*text, to);
}

/* Escapes dots at the begin of lines, which are no requests. */
static void put_lines(const char *text, FILE *to)
{
    bool begins = true;

    for (; *text; text++) {
        if (begins && *text == '.')
            fputs("\\&", to);
        put_char(*text, to);
        begins = *text == '\n';
    }
    if (!begins)
        fputc('\n', to);
}

static void section(const char *name, FILE *to)
{
    fprintf(to, ".SH %s\n", name);
}

/* Adds the capital and the full stop that sentences in our tables lack. */
static void put_sentence(const char *text, FILE *to)
{
    size_t n = strlen(text);

    if (n == 0)
        return;
    put_char((char)toupper((unsigned char)text[0]), to);
    put(text + 1, to);
    fputs(text[n - 1] == '.' ? "\n" : ".\n", to);
}

/* Words in capitals and what is between brackets stand for something. */
static void put_operands(const char *operands, FILE *to)
{
    if (!*operands)
        return;
    fputs("\\fI", to);
    put(operands, to);
    fputs("\\fR", to);
}

/* -- sections ------------------------------------------------------------------------------- */

static void put_title(const struct usage *u, FILE *to)
{
    fputs(".TH ", to);
    for (const char *p = u->program; *p; p++)
        put_char((char)toupper((unsigned char)*p), to);
    fprintf(to, " 1 \"\" \"kernbench %s\" \"User Commands\"\n", u->version);
    section("NAME", to);
    put(u->program, to);
    fputs(" \\- ", to);
    put(u->summary, to);
    fputc('\n', to);
}

static void put_synopsis(const struct usage *u, FILE *to)
{
    section("SYNOPSIS", to);
    for (unsigned i = 0; i < u->n_commands; i++) {
        fprintf(to, "%s.B %s %s\n", i > 0 ? ".br\n" : "", u->program, u->commands[i].name);
        put_operands(u->commands[i].operands, to);
        fprintf(to, "%s[\\fIOPTION\\fR]...\n", *u->commands[i].operands ? " " : "");
    }
    if (u->n_commands == 0) {
        fprintf(to, ".B %s\n[\\fIOPTION\\fR]...\n", u->program);
        put_operands(u->operands, to);
        fputc('\n', to);
    }
}

static void put_option(const struct usage_option *o, FILE *to)
{
    char form[64];
    size_t n = strlen(o->name) + 2;

    usage_form(o, form);
    fputs(".TP\n", to);
    if (o->letter) {
        fprintf(to, "\\fB\\-%c\\fR", o->letter);
        fputs(", ", to);
    }
    fputs("\\fB", to);
    for (const char *p = form; p < form + n; p++)
        put_char(*p, to);
    fputs("\\fR", to);
    if (form[n]) {
        fputc(form[n], to);
        put_operands(form + n + 1, to);
    }
    fputc('\n', to);
    put(o->help, to);
    fputc('\n', to);
}

/* Options of the command that not all commands have. */
static void put_options_of(const struct usage *u, unsigned command, FILE *to)
{
    for (unsigned i = 0; i < u->n_options; i++) {
        struct usage_option o = u->option(i, 1u << command);

        if (o.commands >> command & 1 && u->option(i, usage_all(u)).commands != usage_all(u))
            put_option(&o, to);
    }
}

static void put_command(const struct usage *u, unsigned i, FILE *to)
{
    const struct usage_command *c = &u->commands[i];

    fprintf(to, ".SS %s", c->name);
    fputs(*c->operands ? " " : "", to);
    put_operands(c->operands, to);
    fputc('\n', to);
    put_sentence(c->summary, to);
    put_lines(c->description, to);
    put_options_of(u, i, to);
}

static void put_options(const struct usage *u, FILE *to)
{
    unsigned all = usage_all(u);

    section("OPTIONS", to);
    if (u->n_commands > 0)
        fputs("These every command takes, before or after its operands; what stands after\n"
              ".B \\-\\-\nis an operand.\n",
              to);
    for (unsigned i = 0; i < u->n_options; i++) {
        struct usage_option o = u->option(i, all);

        if (o.commands == all || o.commands == 1u << u->n_commands)
            put_option(&o, to);
    }
}

static void put_entries(const char *name, const struct usage_entry *e, FILE *to)
{
    if (!e || !e->name)
        return;
    section(name, to);
    for (; e->name; e++) {
        fputs(".TP\n.B ", to);
        put(e->name, to);
        fputc('\n', to);
        put(e->text, to);
        fputc('\n', to);
    }
}

static void put_examples(const struct usage *u, FILE *to)
{
    char *line = NULL;
    size_t size;

    section("EXAMPLES", to);
    for (unsigned i = 0; i < u->n_examples; i++) {
        FILE *memory = open_memstream(&line, &size);

        if (!memory)
            return;
        usage_put_line(u, u->examples[i].line, memory);
        fclose(memory);
        fputs(i > 0 ? ".PP\n" : "", to);
        put_sentence(u->examples[i].what, to);
        fputs(".PP\n.RS 4\n.nf\n", to);
        put_lines(line, to);
        fputs(".fi\n.RE\n", to);
        free(line);
    }
}

static void put_see_also(const char *pages, FILE *to)
{
    section("SEE ALSO", to);
    for (const char *p = pages; *p; p += strcspn(p, " ") + (p[strcspn(p, " ")] == ' ')) {
        size_t name = strcspn(p, "("), all = strcspn(p, " ");

        fprintf(to, ".BR %.*s %.*s\n", (int)name, p, (int)(all - name), p + name);
    }
}

void usage_man(const struct usage *u, FILE *to)
{
    put_title(u, to);
    put_synopsis(u, to);
    section("DESCRIPTION", to);
    put_lines(u->description, to);
    if (u->n_commands > 0)
        section("COMMANDS", to);
    for (unsigned i = 0; i < u->n_commands; i++)
        put_command(u, i, to);
    put_options(u, to);
    put_entries("EXIT STATUS", u->exit_codes, to);
    put_entries("ENVIRONMENT", u->environment, to);
    put_examples(u, to);
    put_see_also(u->see_also, to);
}
