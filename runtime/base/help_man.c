/*
 * help_man.c -- the manual page of a program, for man(1), from the same data as its help.
 *
 * roff has its own special characters: a dot at the front of a line is a request, and quotes,
 * dashes and backslashes are changed in print. put_char() writes each so that it is printed as it
 * stands, for commands are copied from manual pages.
 */
#include "base/help.h"
#include <stdlib.h>
#include <string.h>

/* -- roff ----------------------------------------------------------------------------------- */

/* Text of ours, so that it is read as it stands; in a macro's argument quotes, too, are safe. */
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

/* Lines: one that begins with a dot is no request. */
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

/* In any locale. */
static char capital(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* A sentence of our tables has neither a capital nor a full stop: the page has both. */
static void put_sentence(const char *text, FILE *to)
{
    size_t n = strlen(text);

    if (n == 0)
        return;
    put_char(capital(text[0]), to);
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

static void put_title(const struct help *h, FILE *to)
{
    fputs(".TH ", to);
    for (const char *p = h->program; *p; p++)
        put_char(capital(*p), to);
    fprintf(to, " 1 \"\" \"kernbench %s\" \"User Commands\"\n", h->version);
    section("NAME", to);
    put(h->program, to);
    fputs(" \\- ", to);
    put(h->summary, to);
    fputc('\n', to);
}

static void put_synopsis(const struct help *h, FILE *to)
{
    section("SYNOPSIS", to);
    for (unsigned i = 0; i < h->n_commands; i++) {
        fprintf(to, "%s.B %s %s\n", i > 0 ? ".br\n" : "", h->program, h->commands[i].name);
        put_operands(h->commands[i].operands, to);
        fprintf(to, "%s[\\fIOPTION\\fR]...\n", *h->commands[i].operands ? " " : "");
    }
    if (h->n_commands == 0) {
        fprintf(to, ".B %s\n[\\fIOPTION\\fR]...\n", h->program);
        put_operands(h->operands, to);
        fputc('\n', to);
    }
}

static void put_option(const struct help_option *o, FILE *to)
{
    char form[64];
    size_t n = strlen(o->name) + 2;

    help_form(o, form);
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

/* The options of one command, without those that all commands take. */
static void put_options_of(const struct help *h, unsigned command, FILE *to)
{
    for (unsigned i = 0; i < h->n_options; i++) {
        struct help_option o = h->option(i, 1u << command);

        if (o.commands >> command & 1 && h->option(i, help_all(h)).commands != help_all(h))
            put_option(&o, to);
    }
}

static void put_command(const struct help *h, unsigned i, FILE *to)
{
    const struct help_command *c = &h->commands[i];

    fprintf(to, ".SS %s", c->name);
    fputs(*c->operands ? " " : "", to);
    put_operands(c->operands, to);
    fputc('\n', to);
    put_sentence(c->summary, to);
    put_lines(c->description, to);
    put_options_of(h, i, to);
}

static void put_options(const struct help *h, FILE *to)
{
    unsigned all = help_all(h);

    section("OPTIONS", to);
    if (h->n_commands > 0)
        fputs("These every command takes, before or after its operands; what stands after\n"
              ".B \\-\\-\nis an operand.\n",
              to);
    for (unsigned i = 0; i < h->n_options; i++) {
        struct help_option o = h->option(i, all);

        if (o.commands == all || o.commands == 1u << h->n_commands)
            put_option(&o, to);
    }
}

static void put_entries(const char *name, const struct help_entry *e, FILE *to)
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

/* A line for a shell, which does not begin with a dot; the program's name stands for each @. */
static void put_line_of(const struct help *h, const char *line, FILE *to)
{
    for (; *line; line++)
        if (*line == '@')
            put(h->program, to);
        else
            put_char(*line, to);
    fputc('\n', to);
}

static void put_examples(const struct help *h, FILE *to)
{
    section("EXAMPLES", to);
    for (unsigned i = 0; i < h->n_examples; i++) {
        fputs(i > 0 ? ".PP\n" : "", to);
        put_sentence(h->examples[i].what, to);
        fputs(".PP\n.RS 4\n.nf\n", to);
        put_line_of(h, h->examples[i].line, to);
        fputs(".fi\n.RE\n", to);
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

void help_man(const struct help *h, FILE *to)
{
    put_title(h, to);
    put_synopsis(h, to);
    section("DESCRIPTION", to);
    put_lines(h->description, to);
    if (h->n_commands > 0)
        section("COMMANDS", to);
    for (unsigned i = 0; i < h->n_commands; i++)
        put_command(h, i, to);
    put_options(h, to);
    put_entries("EXIT STATUS", h->exit_codes, to);
    put_entries("ENVIRONMENT", h->environment, to);
    put_examples(h, to);
    put_see_also(h->see_also, to);
}
