/* diff_results.h -- a file of results, read back: CSV, JSON or JSON lines, as commands print them.
 */
#ifndef RESULTS_H
#define RESULTS_H
#include "cli/exit.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RESULTS_COLUMNS_MAX = 1000 };

/* The origin of rows, as JSON has it; each may be NULL. */
struct results_origin {
    const char *schema, *topology, *hash, *version, *command, *seed;
};

struct results_json;

/* A file, all of it in memory, and how far it was read. All zero is none. */
struct results {
    const char *program, *name;   /* for messages, borrowed */
    char *text;                   /* owned; the CSV cuts it into fields as it goes */
    size_t len;                   /* of the text; a 0 follows it */
    char *at;                     /* text from here on is not read yet */
    const char *line_start;       /* the line of `at`, */
    uint64_t line;                /* and its number, from 1 */
    const char **columns;         /* owned; names */
    const char **cells;           /* owned; one per column: a text, NULL if it is empty */
    size_t n_columns;             /* 0: JSON without rows, and so without names */
    uint64_t n_rows;              /* read so far */
    uint64_t row_line;            /* of the last row; 0: JSON with several rows on a line */
    char *row;                    /* the text of the last row; NULL: JSON that was read as a tree */
    char *kept_end;               /* the end of the rows that results_keep() packed; NULL: none */
    struct results_json *json;    /* owned; NULL: CSV */
    struct results_origin origin; /* of JSON */
    enum exit_code code;          /* of the first failure */
};

/*
 * Opens `path` ("-": stdin) and reads up to the first row. Its first character
 * tells the format. Give back its memory with results_close(), even after a failure.
 *
 * returns  EXIT_OK, EXIT_INPUT or EXIT_SYSTEM after a message, EXIT_INTERRUPTED
 */
enum exit_code results_open(struct results *r, const char *program, const char *path);
void results_close(struct results *r);

/* The next row, in r->cells until the next call. False at the end, or after a message: r->code. */
bool results_next(struct results *r);

/* Says what is wrong with the last row. Always false. */
bool results_bad_row(struct results *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Packs the last row where its text was, so it takes no memory. Once a row is kept, all rows after
 * it must be kept. results_take() puts the cells of a kept row back into r->cells.
 */
char *results_keep(struct results *r);
void results_take(struct results *r, char *kept);

/* -- for the readers of the formats --------------------------------------------------------- */

/* Says what is wrong at `at`, a place in the line that is being read. Always false. */
bool results_bad(struct results *r, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Makes room for the names and cells of `n` columns. False after a message. */
bool results_columns(struct results *r, const char *at, size_t n);

bool results_json_begin(struct results *r);
bool results_json_next(struct results *r);
void results_json_end(struct results *r);

#endif
