/*
 * in_fields.c -- an input file of rows and fields: a CSV under a known header, its mistakes named.
 *
 * The caller says which header the file must have, which columns may follow, and what to do with a
 * row. The header must match; further columns may come in any order. Fields are pieces of the line
 * itself (pointer and length): nothing is copied.
 *
 * A bad row is told as FILE:LINE:COL and the reading goes on, so that one run tells all mistakes;
 * up to 20 of them. Progress and stop_asked() are looked at between rows.
 *
 * Example: two rows of `replay`, one with an unknown op, the other with a time that is none.
 *
 *     issue_ns,op,src,dst,offset,nbytes
 *     0,raed,c0.pe0,c0.slice0,0,4K          <stdin>:2:3: unknown op 'raed', did you mean 'read'?
 *     1e3,read,c0.pe0,c0.slice0,0,4K        <stdin>:3:1: issue_ns '1e3' is not a time: ...
 *
 * Lines and columns count from one, columns in bytes. A row has one message at most, its first
 * mistake. Nothing is simulated if there was any, and the exit code is 3.
 *
 * Order of work: read_header(), read_rows(): next_line(), split(), and the caller's function for
 * the row. The caller reads each field with base/text.h and reports with fields_bad_field(). Users
 * of this file: transactions.c (replay), matrix.c (load).
 */
#include "cli/in/in_fields.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include "cli/out/stop.h"
#include "base/text.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BAD_ROWS_MAX = 20, SHOWN_BYTES = 64, ROWS_PER_LOOK = 4096 };

bool fields_enough(const struct fields *in)
{
    return in->n_bad > BAD_ROWS_MAX;
}

/* The name of the n-th column: of the header, then of those that may follow it. */
static int column_name(const struct fields *in, size_t n, const char **name)
{
    const char *at = in->header;

    for (; n > 0 && strchr(at, ','); n--)
        at = strchr(at, ',') + 1;
    *name = n > 0 ? in->further[n - 1] : at;
    return (int)strcspn(*name, ",");
}

/* The place in a file, or of a row in memory. */
static void say_bad(const struct fields *in, uint64_t line, size_t column, const char *text)
{
    const char *name;

    if (in->field_bytes == 0) {
        say_line("%s:%llu:%zu: %s", in->name, (unsigned long long)line, column, text);
        return;
    }
    int n = column_name(in, (column - 1) / in->field_bytes, &name);
    say_line("row %llu, column '%.*s': %s", (unsigned long long)line, n, name, text);
}

bool fields_bad_at(struct fields *in, uint64_t line, size_t column, const char *text)
{
    in->code = EXIT_INPUT;
    progress_end(&in->progress);
    if (in->n_bad++ < BAD_ROWS_MAX)
        say_bad(in, line, column, text);
    return false;
}

bool fields_bad(struct fields *in, const char *at, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    text_vformat(text, sizeof text, format, args);
    va_end(args);
    return fields_bad_at(in, in->lines.number, fields_column(in, at), text);
}

bool fields_bad_field(struct fields *in, const struct field *f, const char *name,
                      const char *expected)
{
    char shown[SHOWN_BYTES];

    return fields_bad(in, f->text, "%s '%s' is not %s", name,
                      text_show(f->text, f->len, shown, sizeof shown), expected);
}

/*
 * Cuts the line at its commas. Fields stand in the order of the caller's columns, not of the
 * file's: `after` may come before `think_ns` or behind it. Of columns that the file lacks, the
 * fields stay as they are, empty.
 */
static bool split(struct fields *in, size_t len, struct field field[FIELDS_MAX])
{
    const char *at = in->line, *end = in->line + len;
    size_t n = 0;

    for (;;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;

        if (n == in->n_columns)
            return fields_bad(in, at, "more than the %zu fields %s", in->n_columns, in->columns);
        field[in->column[n++]] = (struct field){at, (size_t)(stop - at)};
        if (!comma)
            break;
        at = comma + 1;
    }
    if (n < in->n_columns)
        return fields_bad(in, end, "%zu of the %zu fields %s", n, in->n_columns, in->columns);
    return true;
}

static bool is_blank(const char *line, size_t len)
{
    while (len > 0 && (line[len - 1] == ' ' || line[len - 1] == '\t'))
        len--;
    return len == 0;
}

/* The next line of any length that may be; false at the end, or if there is none. */
static bool next_line(struct fields *in, size_t *len)
{
    enum line_state state = lines_next(&in->lines, &in->line, len);

    if (state == LINE_ENDLESS) {
        fields_bad(in, in->line, "the line is longer than %d MiB, and not read to its end",
                   LINE_SKIP_MAX >> 20);
        in->end = NULL; /* which rows follow is not known */
        return false;
    }
    if (state == LINE_TOO_LONG) {
        fields_bad(in, in->line, "the line is longer than %d bytes", LINE_BYTES_MAX);
        in->n_rows++; /* but what it holds is not looked at */
        *len = 0;
        return true;
    }
    if (state == LINE_FAILED && stop_asked())
        in->code = EXIT_INTERRUPTED;
    else if (state == LINE_FAILED)
        in->code = say_unreadable(in->program, in->name, errno);
    return state == LINE_READ;
}

/* One of the columns behind the header's `n`, at `at`. */
static bool read_column(struct fields *in, size_t n, const char *at, size_t len)
{
    char shown[SHOWN_BYTES];
    size_t i = 0;

    while (i < in->n_further &&
           !(len == strlen(in->further[i]) && memcmp(at, in->further[i], len) == 0))
        i++;
    if (i == in->n_further)
        return fields_bad(in, at, "unknown column '%s': %s",
                          text_show(at, len, shown, sizeof shown), in->hint);
    for (size_t k = n; k < in->n_columns; k++)
        if (in->column[k] == n + i)
            return fields_bad(in, at, "a second column %s", in->further[i]);
    in->column[in->n_columns++] = n + i;
    return true;
}

/* The columns of a first line: those of the header, then what may follow them. */
static bool read_columns(struct fields *in, size_t len)
{
    size_t header = strlen(in->header), n = 1;
    const char *at = in->line + header, *end = in->line + len;

    if (len < header || memcmp(in->line, in->header, header) != 0 ||
        (at < end && (*at != ',' || in->n_further == 0)))
        return fields_bad(in, in->line, "the first line is not %s", in->header);
    for (const char *p = in->header; *p; p++)
        n += *p == ',';
    for (; in->n_columns < n; in->n_columns++)
        in->column[in->n_columns] = in->n_columns;
    while (at < end) {
        const char *name = at + 1;

        at = memchr(name, ',', (size_t)(end - name));
        at = at ? at : end;
        if (!read_column(in, n, name, (size_t)(at - name)))
            return false;
    }
    assert(in->n_columns <= FIELDS_MAX);
    in->columns = memory_part(in->line, len);
    return true;
}

static void read_header(struct fields *in)
{
    size_t len;

    if (!next_line(in, &len)) {
        if (!in->code)
            in->code = say(in->program, EXIT_INPUT, "%s is empty, not even a header", in->name);
        return;
    }
    if (!in->code)
        read_columns(in, len);
}

/* How far a large file is read; a look now and then is enough. */
static void show_progress(struct fields *in)
{
    if (in->file_bytes > 0 && in->n_rows % ROWS_PER_LOOK == 0)
        progress_show(&in->progress, in->lines.n_read >> 20, in->file_bytes >> 20, "MiB read");
}

static void read_rows(struct fields *in)
{
    struct field field[FIELDS_MAX] = {0};
    size_t len;

    while (!fields_enough(in) && (!in->code || in->code == EXIT_INPUT)) {
        if (stop_asked())
            in->code = EXIT_INTERRUPTED;
        else if (!next_line(in, &len))
            break;
        else if (!is_blank(in->line, len)) {
            if (split(in, len, field))
                in->row(in->arg, in, field);
            in->n_rows++;
            show_progress(in);
        }
    }
    if (in->end && (!in->code || in->code == EXIT_INPUT))
        in->end(in->arg, in);
    if (fields_enough(in))
        say_line("%s: more bad rows follow", in->name);
}

/* 0 for a pipe or a device: not known. */
static uint64_t bytes_of(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

static void read_all(struct fields *in, int fd)
{
    in->file_bytes = bytes_of(fd);
    progress_begin(&in->progress, in->quiet);
    lines_open(&in->lines, fd);
    read_header(in);
    if (!in->code)
        read_rows(in);
    progress_end(&in->progress);
    lines_close(&in->lines);
    free(in->columns);
    in->columns = NULL;
}

enum exit_code fields_read(struct fields *in, const char *path)
{
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return in->code = say_unreadable(in->program, path, errno);
    in->name = is_stdin ? "<stdin>" : path;
    read_all(in, fd);
    if (!is_stdin)
        close(fd);
    return in->code;
}
