/*
 * diff_results.c -- a file of results, read back: CSV, JSON or JSON lines, as commands print them.
 *
 * The whole file is in memory, and a CSV is cut into fields in place: a cell is a pointer into the
 * text, which costs nothing. results_keep() packs a row where its text was, for a caller that needs
 * rows again: cells one after the other never take more bytes than their text did. Messages have
 * the line and column of the mistake.
 */
#include "cli/diff/diff_results.h"
#include "cli/out/memory.h"
#include "cli/out/sink.h"
#include "cli/out/say.h"
#include "cli/out/stop.h"
#include "base/text.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_BYTES = 1024 * 1024, SHOWN_BYTES = 64 };

/* -- messages ------------------------------------------------------------------------------- */

bool results_bad(struct results *r, const char *at, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    text_vformat(text, sizeof text, format, args);
    va_end(args);
    say_line("%s:%llu:%zu: %s", r->name, (unsigned long long)r->line,
             (size_t)(at - r->line_start) + 1, text);
    r->code = EXIT_INPUT;
    return false;
}

bool results_bad_row(struct results *r, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    text_vformat(text, sizeof text, format, args);
    va_end(args);
    if (r->row_line)
        say_line("%s:%llu: %s", r->name, (unsigned long long)r->row_line, text);
    else
        say_line("%s: row %llu: %s", r->name, (unsigned long long)r->n_rows, text);
    r->code = EXIT_INPUT;
    return false;
}

bool results_columns(struct results *r, const char *at, size_t n)
{
    if (n > RESULTS_COLUMNS_MAX)
        return results_bad(r, at, "more than %d columns", RESULTS_COLUMNS_MAX);
    r->columns = memory_new(n, sizeof *r->columns);
    r->cells = memory_new(n, sizeof *r->cells);
    r->n_columns = n;
    return true;
}

/* -- CSV ------------------------------------------------------------------------------------ */

static void new_line(struct results *r)
{
    r->line++;
    r->line_start = r->at;
}

/* The begin of a field; a quoted one may end in another line. */
struct place {
    char *at;
    const char *line_start;
    uint64_t line;
};

static struct place here(const struct results *r)
{
    return (struct place){r->at, r->line_start, r->line};
}

/* Goes back to a place that a message is about; nothing is read after it. */
static const char *back(struct results *r, const struct place *p)
{
    r->line = p->line;
    r->line_start = p->line_start;
    return p->at;
}

/* Ends a field with a 0, and goes past the comma, end of line or end of file behind it; false if
 * there is none of them. */
static bool end_field(struct results *r, bool *last)
{
    char *end = r->at;

    if (*r->at == '\r' && (r->at[1] == '\n' || r->at[1] == '\0'))
        r->at++;
    *last = *r->at != ',';
    if (*last && *r->at && *r->at != '\n')
        return false;
    if (*r->at) {
        r->at++;
        if (*last)
            new_line(r);
    }
    *end = '\0';
    return true;
}

/* RFC 4180: "" is a quote; all else, even the end of a line, stands for itself. Shortened in place.
 */
static bool read_quoted(struct results *r, const char **field, bool *last)
{
    struct place opened = here(r);
    char *to = r->at;

    *field = to;
    for (r->at++; *r->at && (*r->at != '"' || r->at[1] == '"');) {
        bool lf = *r->at == '\n';

        r->at += *r->at == '"';
        *to++ = *r->at++;
        if (lf)
            new_line(r);
    }
    if (!*r->at)
        return results_bad(r, back(r, &opened), "this quote is never closed");
    r->at++;
    const char *behind = r->at;
    if (!end_field(r, last))
        return results_bad(r, behind, "text behind a closing quote");
    *to = '\0';
    return true;
}

static bool read_field(struct results *r, const char **field, bool *last)
{
    if (*r->at == '"')
        return read_quoted(r, field, last);
    *field = r->at;
    for (r->at += strcspn(r->at, ",\r\n"); !end_field(r, last);)
        r->at += 1 + strcspn(r->at + 1, ",\r\n"); /* a CR inside a line */
    return true;
}

static bool skip_blank_lines(struct results *r)
{
    for (;; new_line(r)) {
        if (*r->at == '\n')
            r->at++;
        else if (*r->at == '\r' && r->at[1] == '\n')
            r->at += 2;
        else
            return *r->at != '\0';
    }
}

/* The name of column `c`, behind those before it. */
static bool check_name(struct results *r, const char *const *names, size_t c)
{
    const char *name = names[c];
    char shown[SHOWN_BYTES];

    if (!*name)
        return results_bad(r, name, "column %zu has no name", c + 1);
    for (size_t i = 0; i < c; i++)
        if (strcmp(names[i], name) == 0)
            return results_bad(r, name, "two columns '%s'",
                               text_show(name, strlen(name), shown, sizeof shown));
    return true;
}

/* The file has columns with blanks or bars between them, not commas. Always false. */
static bool for_people(struct results *r)
{
    r->code = say(r->name, EXIT_INPUT, "a table for people; write it with --format csv");
    return false;
}

static bool read_header(struct results *r)
{
    const char *names[RESULTS_COLUMNS_MAX + 1];
    size_t n = 0;
    bool last = false;

    skip_blank_lines(r);
    struct place first = here(r);
    while (!last && n <= RESULTS_COLUMNS_MAX)
        if (!read_field(r, &names[n++], &last))
            return false;
    struct place second = here(r);
    back(r, &first);
    for (size_t c = 0; c < n; c++)
        if (!check_name(r, names, c))
            return false;
    if (!results_columns(r, first.at, n))
        return false;
    memcpy(r->columns, names, n * sizeof *names);
    back(r, &second);
    return (n > 1 || !strchr(names[0], ' ')) || for_people(r);
}

static bool next_csv_row(struct results *r)
{
    bool last = false;
    size_t n = 0;

    if (!skip_blank_lines(r))
        return false;
    r->row = r->at;
    r->row_line = r->line;
    while (!last) {
        struct place before = here(r);
        const char *field;

        if (!read_field(r, &field, &last))
            return false;
        if (n == r->n_columns)
            return results_bad(r, back(r, &before), "more than the %zu fields of the header", n);
        if (last && n + 1 < r->n_columns)
            return results_bad(r, back(r, &before), "%zu of the %zu fields of the header", n + 1,
                               r->n_columns);
        r->cells[n++] = *field ? field : NULL;
    }
    return true;
}

/* -- the file ------------------------------------------------------------------------------- */

/* Room for READ_BYTES and a final 0. */
static void grow(struct results *r, size_t *room)
{
    if (*room - r->len > READ_BYTES)
        return;
    *room += *room / 2 + 2 * READ_BYTES;
    r->text = memory_resize(r->text, *room, 1);
}

/* Finds the line of a place, for results_bad(), before the text is cut. */
static const char *place(struct results *r, const char *at)
{
    r->line = 1;
    r->line_start = r->text;
    for (const char *lf; (lf = memchr(r->line_start, '\n', (size_t)(at - r->line_start)));) {
        r->line++;
        r->line_start = lf + 1;
    }
    return at;
}

/* A binary file is refused at its first 0, since it may be endless (/dev/zero). */
static bool read_text(struct results *r, int fd)
{
    size_t room = 0;
    ssize_t n = 1;

    while (n > 0) {
        grow(r, &room);
        do
            n = read(fd, r->text + r->len, READ_BYTES);
        while (n < 0 && errno == EINTR && !stop_asked());
        if (n < 0 || stop_asked()) {
            r->code = stop_asked() ? EXIT_INTERRUPTED : say_unreadable(r->program, r->name, errno);
            return false;
        }
        const char *zero = memchr(r->text + r->len, '\0', (size_t)n);
        r->len += (size_t)n;
        if (zero)
            return results_bad(r, place(r, zero), "a byte 0: this is no text");
    }
    r->text[r->len] = '\0';
    return true;
}

/* Skips a byte order mark. The first character behind it tells the format. */
static bool begin(struct results *r)
{
    r->at = r->text + (strncmp(r->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
    r->line_start = r->text;
    r->line = 1;
    const char *first = r->at + strspn(r->at, " \t\r\n");
    if (!*first) {
        r->code = say(r->program, EXIT_INPUT, "%s is empty, not even a header", r->name);
        return false;
    }
    return *first == '{' || *first == '[' ? results_json_begin(r) : read_header(r);
}

enum exit_code results_open(struct results *r, const char *program, const char *path)
{
    size_t len = strlen(path), end = strlen(SINK_PARTIAL_SUFFIX);
    bool is_stdin = strcmp(path, "-") == 0;

    if (len > end && strcmp(path + len - end, SINK_PARTIAL_SUFFIX) == 0) {
        *r = (struct results){.name = path};
        return r->code = say(
                   program, EXIT_INPUT,
                   "%s is of a run that was interrupted; rename it to read it all the same", path);
    }
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);

    *r = (struct results){.program = program, .name = is_stdin ? "<stdin>" : path};
    if (fd < 0) {
        r->code = errno == EINTR ? EXIT_INTERRUPTED : say_unreadable(program, path, errno);
        return r->code;
    }
    bool ok = read_text(r, fd);
    if (!is_stdin)
        close(fd);
    if (ok)
        begin(r);
    return r->code;
}

bool results_next(struct results *r)
{
    bool is_row = !r->code && (r->json ? results_json_next(r) : next_csv_row(r));

    r->n_rows += is_row;
    return is_row;
}

/*
 * A cell takes its bytes and a 0. In the file a comma or an end of line followed it, so packed rows
 * never reach text that is not read yet.
 */
char *results_keep(struct results *r)
{
    char *kept = r->kept_end ? r->kept_end : r->row, *to = kept;

    for (size_t c = 0; c < r->n_columns; c++) {
        size_t len = r->cells[c] ? strlen(r->cells[c]) : 0;

        if (len > 0)
            memmove(to, r->cells[c], len);
        to[len] = '\0';
        to += len + 1;
    }
    r->kept_end = to;
    return kept;
}

void results_take(struct results *r, char *kept)
{
    for (size_t c = 0; c < r->n_columns; c++) {
        size_t len = strlen(kept);

        r->cells[c] = len > 0 ? kept : NULL;
        kept += len + 1;
    }
}

void results_close(struct results *r)
{
    if (r->json)
        results_json_end(r);
    free(r->text);
    free(r->columns);
    free(r->cells);
    *r = (struct results){.code = r->code};
}
