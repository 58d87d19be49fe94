/* help.c -- how options and examples are written, for --help and the manual page. */
#include "base/help.h"
#include <string.h>

void usage_form(const struct usage_option *o, char text[64])
{
    if (usage_may_lack(o))
        snprintf(text, 64, "--%s[=%s", o->name, o->argument + 1);
    else
        snprintf(text, 64, "--%s%s%s", o->name, o->argument ? " " : "",
                 o->argument ? o->argument : "");
}

void usage_put_line(const struct usage *u, const char *line, FILE *to)
{
    for (; *line; line++)
        if (*line == '@')
            fputs(u->program, to);
        else
            fputc(*line, to);
}

void usage_examples(const struct usage *u, unsigned command, FILE *to)
{
    bool first = true;

    for (unsigned i = 0; i < u->n_examples; i++) {
        if (u->examples[i].command != command)
            continue;
        fputs(first ? "\nExamples:\n" : "", to);
        fprintf(to, "  # %s\n  ", u->examples[i].what);
        usage_put_line(u, u->examples[i].line, to);
        fputc('\n', to);
        first = false;
    }
}
