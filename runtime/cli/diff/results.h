/* results.h -- a file of results, read back: CSV, JSON or JSON lines, as commands print them. */
#ifndef RESULTS_H
#define RESULTS_H
#include "cli/exit.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RESULTS_COLUMNS_MAX = 1000 };

/* What JSON says about the origin of its rows; each may be NULL. */
struct results_origin {
    const char *schema, *topology, *hash, *version, *command, *seed;
};

struct results_json;

/* A file, all of it in memory, and how far it is read. Zero is none. */
struct results {
    const char *program, *name;   /* for messages, borrowed */
    char *text;                   /* owned; the CSV cuts it into fields as it goes */
    size_t len;                   /* of the text; a 0 follows it */
    char *at;                     /* what is not read yet */
    const char *line_start;       /* of the line that `at` is in, whose number is */
    uint64_t line;                /* from 1 */
    const char **columns;         /* owned; names */
    const char **cells;           /* owned; one per column: a text, NULL if it is empty */
    size_t n_columns;             /* 0: JSON without a row, which does not know them */
    uint64_t n_rows;              /* read so far */
    uint64_t row_line;            /* of the last row; 0: JSON that is not a row a line */
    char *row;                    /* where in the text the last row began, if rows have places */
    char *kept_end;               /* of the rows that results_keep() has packed; NULL: none */
    struct results_json *json;    /* owned; NULL: CSV */
    struct results_origin origin; /* of JSON */
    enum exit_code code;          /* of the first failure */
};

/*
 * Opens `path` ("-": stdin) and reads up to the first row. Which format it is, its first
 * character says. Give back what it owns with results_close(), also after a failure.
 *
 * returns  EXIT_OK, EXIT_INPUT or EXIT_SYSTEM after a message, EXIT_INTERRUPTED
 */
enum exit_code results_open(struct results *r, const char *program, const char *path);
void results_close(struct results *r);

/* The next row, in r->cells until the next call. False at the end, or after a message: r->code. */
bool results_next(struct results *r);

/* What is wrong with the row that was read last. Always false. */
bool results_bad_row(struct results *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Packs the row that was read last, where its text was: it takes no memory. Once a row is kept,
 * all that follow must be. results_take() puts its cells back into r->cells, whenever.
 */
char *results_keep(struct results *r);
void results_take(struct results *r, char *kept);

/* -- for the readers of the formats --------------------------------------------------------- */

/* What is wrong at `at`, which is a place in the line that is being read. Always false. */
bool results_bad(struct results *r, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Makes room for the names and cells of `n` columns. False after a message. */
bool results_columns(struct results *r, const char *at, size_t n);

bool results_json_begin(struct results *r);
bool results_json_next(struct results *r);
void results_json_end(struct results *r);

#endif
