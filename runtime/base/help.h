/* help.h -- commands and options of a program, as data for its manual page and completions. */
#ifndef HELP_H
#define HELP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* An option. Its argument says which values are allowed: FILE, DIR, a|b|c; for others see `words`.
 */
struct usage_option {
    const char *name;     /* without "--" */
    char letter;          /* 0: none */
    const char *argument; /* NULL: none; in brackets: optional */
    unsigned commands;    /* a bit per command; bit n_commands: without a command */
    const char *help;
    const char *words; /* values of the argument, separated by blanks; "@NAME": by usage.offer() */
};

struct usage_command {
    const char *name, *operands, *summary, *description;
};

/* A command line; `@` stands for the program. */
struct usage_example {
    unsigned command; /* n_commands: of the program */
    const char *line, *what;
};

struct usage_entry {
    const char *name, *text;
};

struct completing;

/* The program; all of it is borrowed. A program without commands has operands itself. */
struct usage {
    const char *program, *version, *summary, *description, *operands;
    const struct usage_command *commands;
    unsigned n_commands;
    unsigned wrapper,
        wrapped; /* a command whose first operand is another command, one of these bits */
    unsigned n_options;
    /* Option `id` as the commands of these bits have it: one command, or all. */
    struct usage_option (*option)(unsigned id, unsigned commands);
    const struct usage_example *examples;
    unsigned n_examples;
    const struct usage_entry *exit_codes, *environment; /* each ends with a name of NULL */
    const char *see_also;                               /* "name(1), name(1)" */
    /* Calls usage_offer() for all values of operand or word `name`. */
    void (*offer)(struct completing *c, const char *name);
    const void *arg; /* for offer() */
};

/* The bits of all commands, and of none. */
static inline unsigned usage_all(const struct usage *u)
{
    return (1u << (u->n_commands + 1)) - 1;
}

/* Is the option's argument optional? */
static inline bool usage_may_lack(const struct usage_option *o)
{
    return o->argument && o->argument[0] == '[';
}

/* Writes "--name", "--name ARG" or "--name[=ARG]". */
void usage_form(const struct usage_option *o, char text[64]);

/* Prints `line` with the program's name for each @. */
void usage_put_line(const struct usage *u, const char *line, FILE *to);

/* Prints the examples of a command, if it has any. */
void usage_examples(const struct usage *u, unsigned command, FILE *to);

/* Prints the page for man(1). */
void usage_man(const struct usage *u, FILE *to);

/* Prints the script by which a shell asks the program for completions. False: no such shell. */
bool usage_script(const struct usage *u, const char *shell, FILE *to);

/* -- what may come next on a command line --------------------------------------------------- */

/* A word that is completed: the last of some words. */
struct completing {
    const struct usage *usage;
    FILE *to;
    const char *word;     /* its begin: only words that begin like this are offered */
    size_t kept;          /* bytes before `word` that stay: "--format=", "c0.pe0," */
    unsigned command;     /* n_commands: none named yet */
    const char **operand; /* those before it, without the command */
    size_t n_operands;
};

/* Prints `text` if it begins like the word, with its meaning `what` (may be NULL). */
void usage_offer(struct completing *c, const char *text, const char *what);

/* Lets the shell find files. */
void usage_offer_files(struct completing *c);

/*
 * Prints the completions of `words[n - 1]`: one per line, with a tab before its meaning; ":files"
 * or
 * ":folders" if the shell shall find some. The program's name is not among the words. False: no
 * memory.
 */
bool usage_complete(const struct usage *u, char *const words[], size_t n, FILE *to);

#endif
