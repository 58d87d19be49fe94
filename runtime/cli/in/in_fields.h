/* in_fields.h -- an input file of rows and fields: a CSV under a known header, its mistakes named.
 */
#ifndef FIELDS_H
#define FIELDS_H
#include "cli/exit.h"
#include "cli/in/lines.h"
#include "cli/out/progress.h"

enum { FIELDS_MAX = 12 };

struct field {
    const char *text; /* into the line */
    size_t len;
};

/* The reading of one file: what it should be, which the caller fills in, and how far it is. */
struct fields {
    const char *program;        /* for messages */
    const char *header;         /* names with commas between them */
    const char *const *further; /* columns that may follow, each once, in any order */
    size_t n_further;           /* with the header's, at most FIELDS_MAX */
    const char *hint;           /* said of a column that is none of them */

    /* Called for every row that is not blank, with all fields: the header's, then `further`, of
       which those that the file lacks are empty. They say what is wrong by fields_bad(), and set
       in->code to end the reading. */
    void (*row)(void *arg, struct fields *in, const struct field *field);
    /* Called at the end of the file, or after the last row that was read; may be NULL. */
    void (*end)(void *arg, struct fields *in);
    void *arg;

    bool quiet; /* no progress */

    const char *name; /* for messages */
    char *columns;    /* owned: the header that the file has, as long as it is read; else NULL */
    size_t n_columns;
    size_t column[FIELDS_MAX]; /* which field the n-th is */
    struct lines lines;
    size_t field_bytes;  /* of rows in memory (frame.h): from field to field of `line`; else 0 */
    uint64_t file_bytes; /* 0: not known */
    struct progress progress;
    const char *line; /* the one being read */
    uint64_t n_rows;  /* before that one */
    unsigned n_bad;
    enum exit_code code;
};

/*
 * Reads `path` ("-": stdin). Up to 20 bad rows are named, as FILE:LINE:COL.
 *
 * returns  EXIT_OK, EXIT_INPUT, EXIT_SYSTEM; EXIT_INTERRUPTED if stop_asked() while reading
 */
enum exit_code fields_read(struct fields *in, const char *path);

/* Have 20 bad rows been named, and one more been met? */
bool fields_enough(const struct fields *in);

/* The column of `at` in the current line, from 1. */
static inline size_t fields_column(const struct fields *in, const char *at)
{
    return (size_t)(at - in->line) + 1;
}

/* Tells a mistake at that place. Always false. */
bool fields_bad_at(struct fields *in, uint64_t line, size_t column, const char *text);

/* Tells a mistake at `at` of the current line. Always false. */
bool fields_bad(struct fields *in, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "NAME 'TEXT' is not EXPECTED". Always false. */
bool fields_bad_field(struct fields *in, const struct field *f, const char *name,
                      const char *expected);

#endif
