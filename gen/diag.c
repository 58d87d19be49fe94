/* diag.c -- messages about mistakes: the place, the text, and the exit code. */
#include "diag.h"
#include "base/text.h"
#include <stdarg.h>
#include <stdlib.h>

enum {
    SHOWN_BYTES = 60, /* of a user's text that a message repeats */
    NAME_BYTES = 4096,
    LINE_BYTES = 2 * NAME_BYTES,
};

static int put_place(char *text, size_t room, struct place at)
{
    if (at.kind == PLACE_NONE)
        return snprintf(text, room, "kbgen: ");
    if (at.line == 0)
        return snprintf(text, room, "%.*s: ", NAME_BYTES, at.name);
    return snprintf(text, room, "%.*s:%zu:%zu: ", NAME_BYTES, at.name, at.line, at.col);
}

bool diag_error(struct diag *d, struct place at, const char *fmt, ...)
{
    char line[LINE_BYTES], shown[LINE_BYTES];
    va_list args;

    if (d->n_errors++ == 0)
        d->code = at.kind == PLACE_SET ? EXIT_USAGE : EXIT_INPUT;
    if (!d->out || d->n_errors > DIAG_SHOWN + 1)
        return false;
    if (d->n_errors == DIAG_SHOWN + 1) {
        fputs("kbgen: further errors not shown\n", d->out);
        return false;
    }
    int n = put_place(line, sizeof line, at);
    va_start(args, fmt);
    text_vformat(line + n, sizeof line - (size_t)n, fmt, args);
    va_end(args);
    fprintf(d->out, "%s\n", text_make_visible(line, false, shown, sizeof shown));
    return false;
}

void diag_warning(struct diag *d, struct place at, const char *fmt, ...)
{
    char line[LINE_BYTES], shown[LINE_BYTES];
    va_list args;

    if (!d->out)
        return;
    int n = put_place(line, sizeof line, at);
    n += snprintf(line + n, sizeof line - (size_t)n, "warning: ");
    va_start(args, fmt);
    text_vformat(line + n, sizeof line - (size_t)n, fmt, args);
    va_end(args);
    fprintf(d->out, "%s\n", text_make_visible(line, false, shown, sizeof shown));
}

size_t diag_count(const struct diag *d)
{
    return d->n_errors;
}

bool diag_quiet(const struct diag *d)
{
    return d->n_errors > DIAG_SHOWN;
}

const char *diag_text(struct arena *a, const char *text, size_t len)
{
    size_t room = (len < SHOWN_BYTES ? len : SHOWN_BYTES) + sizeof "...";

    return text_show(text, len, arena_alloc(a, room), room);
}

void diag_no_memory(void)
{
    fputs("kbgen: out of memory\n", stderr);
    exit(EXIT_SYSTEM);
}
