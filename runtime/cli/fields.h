/* fields.h -- an input file of rows and fields: a CSV under a known header, its mistakes named. */
#ifndef FIELDS_H
#define FIELDS_H
#include "exit.h"
#include "lines.h"

enum { FIELDS_MAX = 8 };

struct field {
    const char *text; /* into the line */
    size_t len;
};

/* The reading of one file. */
struct fields {
    const char *program, *name; /* for messages */
    const char *header;         /* names with commas between them, at most FIELDS_MAX */
    size_t n;                   /* fields of a row */
    struct lines lines;
    const char *line; /* the one being read */
    unsigned n_bad;
    enum exit_code code;
};

/*
 * Reads `path` ("-": stdin) under `header` and calls `row` for every row that is not blank; it
 * says what is wrong by fields_bad(), and sets in->code to end the reading. Up to 20 bad rows are
 * named, as FILE:LINE:COL.
 *
 * returns  EXIT_OK, EXIT_INPUT, EXIT_SYSTEM; EXIT_INTERRUPTED if stop_asked() while reading
 */
enum exit_code fields_read(const char *program, const char *path, const char *header,
                           void (*row)(void *arg, struct fields *in, const struct field *field),
                           void *arg);

/* What is wrong at `at` of the current line. Always false. */
bool fields_bad(struct fields *in, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "NAME 'TEXT' is not EXPECTED". Always false. */
bool fields_bad_field(struct fields *in, const struct field *f, const char *name,
                      const char *expected);

#endif
