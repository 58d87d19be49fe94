/* diag.h -- messages about mistakes: the place, the text, and the exit code. */
#ifndef DIAG_H
#define DIAG_H
#include "arena.h"
#include <stdbool.h>
#include <stddef.h>

/* Exit codes of kbgen; gen_opts.def says what they mean. */
enum exit_code {
    EXIT_OK = 0,
    EXIT_USAGE = 2,  /* a mistake on the command line */
    EXIT_INPUT = 3,  /* a bad or unreadable topology */
    EXIT_SYSTEM = 5, /* out of memory, or output that cannot be written */
    EXIT_INTERNAL = 6,
    EXIT_LIMIT = 8, /* --limit-s or --limit-mb */
};

enum { DIAG_SHOWN = 20 }; /* messages printed before going quiet */

enum place_kind { PLACE_NONE, PLACE_FILE, PLACE_SET };

/* Where something was written. All zero is nowhere: a default. */
struct place {
    enum place_kind kind;
    const char *name; /* the file, also of --set @FILE, or "--set cube.pes=4"; borrowed */
    size_t line, col; /* from 1; line 0: the file or option as a whole */
};

/* The messages of one run. All zero, except for the first three, is a run without mistakes. */
struct diag {
    /* Takes one line, without its end; NULL: mistakes are only counted. */
    void (*say)(void *to, const char *line);
    void *to;
    const char *program; /* stands before a message without a place; NULL: nothing does */
    size_t n_errors;
    enum exit_code code; /* of the first mistake */
};

/*
 * Print "FILE:LINE:COL: message" or "--set KEY=VALUE: message", without a full stop. Quiet after
 * DIAG_SHOWN messages. Always false, so that reporting and leaving are one statement.
 */
__attribute__((format(printf, 3, 4))) bool diag_error(struct diag *d, struct place at,
                                                      const char *fmt, ...);

/* The same as a warning, behind "warning: ": no mistake. */
__attribute__((format(printf, 3, 4))) void diag_warning(struct diag *d, struct place at,
                                                        const char *fmt, ...);

/* Mistakes so far, also those not shown. */
size_t diag_count(const struct diag *d);

/* No further message will be shown, so the search for mistakes may stop. */
bool diag_quiet(const struct diag *d);

/* `len` bytes that a user wrote, fit for a message, see text_show(). */
const char *diag_text(struct arena *a, const char *text, size_t len);

#endif
