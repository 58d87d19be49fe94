/* help.h -- what a program takes, as data: manual page and completions are made of it. */
#ifndef HELP_H
#define HELP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* An option. Its argument tells what it may be: FILE, DIR, a|b|c, or else see `words`. */
struct help_option {
    const char *name;     /* without "--" */
    char letter;          /* 0: none */
    const char *argument; /* NULL: none; in brackets: may be left out */
    unsigned commands;    /* bit per command, bit n_commands: without one */
    const char *help;
    const char *words; /* what the argument may be, blanks between; "@NAME": help.offer() knows */
};

struct help_command {
    const char *name, *operands, *summary, *description;
};

/* A line for a shell, `@` standing for the program. */
struct help_example {
    unsigned command; /* n_commands: of the program */
    const char *line, *what;
};

struct help_entry {
    const char *name, *text;
};

struct completing;

/* All of it borrowed. A program without commands has operands of its own. */
struct help {
    const char *program, *version, *summary, *description, *operands;
    const struct help_command *commands;
    unsigned n_commands;
    unsigned wrapper, wrapped; /* a command whose operands are one of these bits, and its own */
    unsigned n_options;
    /* Option `id` as the commands of these bits have it: one of them, or all. */
    struct help_option (*option)(unsigned id, unsigned commands);
    const struct help_example *examples;
    unsigned n_examples;
    const struct help_entry *exit_codes, *environment; /* each up to a name of NULL */
    const char *see_also;                              /* "name(1), name(1)" */
    /* Offers what may stand for operand or word `name` by help_offer(). */
    void (*offer)(struct completing *c, const char *name);
    const void *arg; /* for offer() */
};

/* The bits of all commands, and of none. */
static inline unsigned help_all(const struct help *h)
{
    return (1u << (h->n_commands + 1)) - 1;
}

/* Does the option do without its argument? */
static inline bool help_may_lack(const struct help_option *o)
{
    return o->argument && o->argument[0] == '[';
}

/*
 * What was typed for the option `name`, which getopt_long() has just returned, if that is only its
 * first letters; NULL if it is the name. Names are typed in full: a script with less would break,
 * or mean something else, once another option begins with the same letters.
 */
const char *help_cut_short(const char *name, char *const argv[]);

/* "--name", "--name ARG" or "--name[=ARG]" into `text`, which has room for 64 bytes. */
void help_form(const struct help_option *o, char text[64]);

/* `line` with the program's name for each @. */
void help_put_line(const struct help *h, const char *line, FILE *to);

/* The examples of a command, as --help ends with them; nothing if there are none. */
void help_examples(const struct help *h, unsigned command, FILE *to);

/* The page for man(1). */
void help_man(const struct help *h, FILE *to);

/* The script by which a shell asks the program itself; false: no such shell. */
bool help_script(const struct help *h, const char *shell, FILE *to);

/* -- what may come next on a command line --------------------------------------------------- */

/* The last of some words, being typed. */
struct completing {
    const struct help *help;
    FILE *to;
    const char *word;     /* what is there of it: only what begins so is offered */
    size_t kept;          /* bytes before `word` that stay: "--format=", "c0.pe0," */
    unsigned command;     /* n_commands: none named yet */
    const char **operand; /* those before it, without the command */
    size_t n_operands;
};

/* Prints `text` if it begins as the word does, and `what` it is (may be NULL). */
void help_offer(struct completing *c, const char *text, const char *what);

/* Lets the shell find files. */
void help_offer_files(struct completing *c);

/*
 * Prints what `words[n - 1]` may become, a line each, a tab before what it means; ":files" and
 * ":folders" for the shell to find some. The program's name is not among the words. False without
 * memory.
 */
bool help_complete(const struct help *h, char *const words[], size_t n, FILE *to);

#endif
