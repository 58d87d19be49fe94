/* help.c -- how options and examples are written, for --help and the manual page. */
#include "base/help.h"
#include <getopt.h>
#include <string.h>

const char *help_cut_short(const char *name, char *const argv[])
{
    bool apart = optarg && optarg == argv[optind - 1]; /* "--name ARG", not "--name=ARG" */
    const char *word = argv[optind - 1 - apart];

    return strcspn(word + 2, "=") < strlen(name) ? word : NULL;
}

void help_form(const struct help_option *o, char text[64])
{
    if (help_may_lack(o))
        snprintf(text, 64, "--%s[=%s", o->name, o->argument + 1);
    else
        snprintf(text, 64, "--%s%s%s", o->name, o->argument ? " " : "",
                 o->argument ? o->argument : "");
}

void help_put_line(const struct help *h, const char *line, FILE *to)
{
    for (; *line; line++)
        if (*line == '@')
            fputs(h->program, to);
        else
            fputc(*line, to);
}

void help_examples(const struct help *h, unsigned command, FILE *to)
{
    bool first = true;

    for (unsigned i = 0; i < h->n_examples; i++) {
        if (h->examples[i].command != command)
            continue;
        fputs(first ? "\nExamples:\n" : "", to);
        fprintf(to, "  # %s\n  ", h->examples[i].what);
        help_put_line(h, h->examples[i].line, to);
        fputc('\n', to);
        first = false;
    }
}
