/* say.h -- messages on stderr. */
#ifndef SAY_H
#define SAY_H
#include "cli/exit.h"
#include <stddef.h>

/* Prints "PROGRAM: ..." and returns `code`, so that reporting and leaving are one statement. */
enum exit_code say(const char *program, enum exit_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * "unknown WHAT 'WORD'" with the nearest of `names`, or all of them; returns EXIT_USAGE.
 * `prefix` is what a user types before a name: "--" for options.
 */
enum exit_code say_unknown(const char *program, const char *what, const char *prefix,
                           const char *word, const char *const names[], size_t n_names);

#endif
