/* say.h -- messages on stderr. */
#ifndef SAY_H
#define SAY_H
#include "cli/exit.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SAID_BYTES = 8192 };

/* Messages that are kept for later: lines. */
struct said {
    char text[SAID_BYTES];
    size_t n;
};

/* From now on what this thread says goes to `said`, as far as there is room; NULL: to stderr again.
 * Returns where it went before. */
struct said *say_into(struct said *said);
/* Prints what the thread has kept, as the process ends. */
void say_kept(void);

/* Prints "PROGRAM: ..." and returns `code`, so that reporting and leaving are one statement. */
enum exit_code say(const char *program, enum exit_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same without the name, for messages that begin with a place: a line on stderr. What is no
 * text in it, as in the name of a file, is shown as \x1b. */
void say_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Notes of one or more lines, in which newlines stay. */
void say_lines(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "fingerprint 961f6c22d6abdc53" alone on a line; false if it could not be written. */
bool say_fingerprint(uint64_t fingerprint);

/* "cannot read NAME: WHY" for `error`, an errno; returns EXIT_INPUT if the fault is the file's. */
enum exit_code say_unreadable(const char *program, const char *name, int error);

/*
 * "unknown WHAT 'WORD'" with the nearest of `names`, or all of them; returns EXIT_USAGE.
 * `prefix` is what a user types before a name: "--" for options.
 */
enum exit_code say_unknown(const char *program, const char *what, const char *prefix,
                           const char *word, const char *const names[], size_t n_names);

#endif
