/* help.h -- what a program takes, as data: manual page and completions are made of it. */
#ifndef USAGE_H
#define USAGE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* An option. Its argument tells what it may be: FILE, DIR, a|b|c, or else see `words`. */
struct usage_option {
    const char *name;     /* without "--" */
    char letter;          /* 0: none */
    const char *argument; /* NULL: none; in brackets: may be left out */
    unsigned commands;    /* bit per command, bit n_commands: without one */
    const char *help;
    const char *words; /* what the argument may be, blanks between; "@NAME": usage.offer() knows */
};

struct usage_command {
    const char *name, *operands, *summary, *description;
};

/* A line for a shell, `@` standing for the program. */
struct usage_example {
    unsigned command; /* n_commands: of the program */
    const char *line, *what;
};

struct usage_entry {
    const char *name, *text;
};

struct completing;

/* All of it borrowed. A program without commands has operands of its own. */
struct usage {
    const char *program, *version, *summary, *description, *operands;
    const struct usage_command *commands;
    unsigned n_commands;
    unsigned wrapper, wrapped; /* a command whose operands are one of these bits, and its own */
    unsigned n_options;
    /* Option `id` as the commands of these bits have it: one of them, or all. */
    struct usage_option (*option)(unsigned id, unsigned commands);
    const struct usage_example *examples;
    unsigned n_examples;
    const struct usage_entry *exit_codes, *environment; /* each up to a name of NULL */
    const char *see_also;                               /* "name(1), name(1)" */
    /* Offers what may stand for operand or word `name` by usage_offer(). */
    void (*offer)(struct completing *c, const char *name);
    const void *arg; /* for offer() */
};

/* The bits of all commands, and of none. */
static inline unsigned usage_all(const struct usage *u)
{
    return (1u << (u->n_commands + 1)) - 1;
}

/* Does the option do without its argument? */
static inline bool usage_may_lack(const struct usage_option *o)
{
    return o->argument && o->argument[0] == '[';
}

/* "--name", "--name ARG" or "--name[=ARG]" into `text`, which has room for 64 bytes. */
void usage_form(const struct usage_option *o, char text[64]);

/* `line` with the program's name for each @. */
void usage_put_line(const struct usage *u, const char *line, FILE *to);

/* The examples of a command, as --help ends with them; nothing if there are none. */
void usage_examples(const struct usage *u, unsigned command, FILE *to);

/* The page for man(1). */
void usage_man(const struct usage *u, FILE *to);

/* The script by which a shell asks the program itself; false: no such shell. */
bool usage_script(const struct usage *u, const char *shell, FILE *to);

/* -- what may come next on a command line --------------------------------------------------- */

/* The last of some words, being typed. */
struct completing {
    const struct usage *usage;
    FILE *to;
    const char *word;     /* what is there of it: only what begins so is offered */
    size_t kept;          /* bytes before `word` that stay: "--format=", "c0.pe0," */
    unsigned command;     /* n_commands: none named yet */
    const char **operand; /* those before it, without the command */
    size_t n_operands;
};

/* Prints `text` if it begins as the word does, and `what` it is (may be NULL). */
void usage_offer(struct completing *c, const char *text, const char *what);

/* Lets the shell find files. */
void usage_offer_files(struct completing *c);

/*
 * Prints what `words[n - 1]` may become, a line each, a tab before what it means; ":files" and
 * ":folders" for the shell to find some. The program's name is not among the words. False without
 * memory.
 */
bool usage_complete(const struct usage *u, char *const words[], size_t n, FILE *to);

#endif
