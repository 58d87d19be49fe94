/* fields.c -- an input file of rows and fields: a CSV under a known header, its mistakes named. */
#include "fields.h"
#include "say.h"
#include "stop.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BAD_ROWS_MAX = 20, SHOWN_BYTES = 64 };

bool fields_bad(struct fields *in, const char *at, const char *format, ...)
{
    char text[512];
    va_list args;

    in->code = EXIT_INPUT;
    if (in->n_bad++ >= BAD_ROWS_MAX)
        return false;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "%s:%llu:%zu: %s\n", in->name, (unsigned long long)in->lines.number,
            (size_t)(at - in->line) + 1, text);
    return false;
}

bool fields_bad_field(struct fields *in, const struct field *f, const char *name,
                      const char *expected)
{
    char shown[SHOWN_BYTES];

    return fields_bad(in, f->text, "%s '%s' is not %s", name,
                      text_show(f->text, f->len, shown, sizeof shown), expected);
}

/* Cuts the line at its commas. */
static bool split(struct fields *in, size_t len, struct field field[FIELDS_MAX])
{
    const char *at = in->line, *end = in->line + len;
    size_t n = 0;

    for (;;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;

        if (n == in->n)
            return fields_bad(in, at, "more than the %zu fields %s", in->n, in->header);
        field[n++] = (struct field){at, (size_t)(stop - at)};
        if (!comma)
            break;
        at = comma + 1;
    }
    if (n < in->n)
        return fields_bad(in, end, "%zu of the %zu fields %s", n, in->n, in->header);
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

    if (state == LINE_TOO_LONG) {
        fields_bad(in, in->line, "the line is longer than %d bytes", LINE_BYTES_MAX);
        *len = 0; /* as a blank one */
        return true;
    }
    if (state == LINE_FAILED && stop_asked())
        in->code = EXIT_INTERRUPTED;
    else if (state == LINE_FAILED)
        in->code = say(in->program, errno == EISDIR ? EXIT_INPUT : EXIT_SYSTEM,
                       "cannot read %s: %s", in->name, strerror(errno));
    return state == LINE_READ;
}

static void read_header(struct fields *in)
{
    size_t len;

    if (!next_line(in, &len)) {
        if (!in->code)
            in->code = say(in->program, EXIT_INPUT, "%s is empty, not even a header", in->name);
        return;
    }
    if (!in->code && (len != strlen(in->header) || memcmp(in->line, in->header, len) != 0))
        fields_bad(in, in->line, "the first line is not %s", in->header);
}

static void read_rows(struct fields *in,
                      void (*row)(void *arg, struct fields *in, const struct field *field),
                      void *arg)
{
    struct field field[FIELDS_MAX];
    size_t len;

    while (in->n_bad <= BAD_ROWS_MAX && (!in->code || in->code == EXIT_INPUT)) {
        if (stop_asked())
            in->code = EXIT_INTERRUPTED;
        else if (!next_line(in, &len))
            break;
        else if (!is_blank(in->line, len) && split(in, len, field))
            row(arg, in, field);
    }
    if (in->n_bad > BAD_ROWS_MAX)
        fprintf(stderr, "%s: more bad rows follow\n", in->name);
}

enum exit_code fields_read(const char *program, const char *path, const char *header,
                           void (*row)(void *arg, struct fields *in, const struct field *field),
                           void *arg)
{
    bool is_stdin = strcmp(path, "-") == 0;
    struct fields in = {
        .program = program, .name = is_stdin ? "<stdin>" : path, .header = header, .n = 1};
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);

    for (const char *p = header; *p; p++)
        in.n += *p == ',';
    if (fd < 0)
        return say(program, EXIT_INPUT, "cannot read %s: %s", path, strerror(errno));
    if (lines_open(&in.lines, fd)) {
        read_header(&in);
        if (!in.code)
            read_rows(&in, row, arg);
        lines_close(&in.lines);
    } else {
        in.code = say(program, EXIT_SYSTEM, "out of memory");
    }
    if (!is_stdin)
        close(fd);
    return in.code;
}
