/* diag.c -- messages about mistakes: the place, the text, and the exit code. */
#include "diag.h"
#include "base/text.h"
#include <stdarg.h>
#include <stdio.h>

enum {
    SHOWN_BYTES = 60, /* of a user's text that a message repeats */
    NAME_BYTES = 4096,
    LINE_BYTES = 2 * NAME_BYTES,
};

static int put_place(const struct diag *d, char *text, size_t room, struct place at)
{
    if (at.kind == PLACE_NONE)
        return snprintf(text, room, "%s%s", d->program ? d->program : "", d->program ? ": " : "");
    if (at.line == 0)
        return snprintf(text, room, "%.*s: ", NAME_BYTES, at.name);
    return snprintf(text, room, "%.*s:%zu:%zu: ", NAME_BYTES, at.name, at.line, at.col);
}

/* The place, `kind`, and the text as printf() would print it. */
static void say(const struct diag *d, struct place at, const char *kind, const char *fmt,
                va_list args)
{
    char line[LINE_BYTES], shown[LINE_BYTES];
    int n = put_place(d, line, sizeof line, at);

    n += snprintf(line + n, sizeof line - (size_t)n, "%s", kind);
    text_vformat(line + n, sizeof line - (size_t)n, fmt, args);
    d->say(d->to, text_make_visible(line, false, shown, sizeof shown));
}

bool diag_error(struct diag *d, struct place at, const char *fmt, ...)
{
    va_list args;

    if (d->n_errors++ == 0)
        d->code = at.kind == PLACE_SET && at.line == 0 ? EXIT_USAGE : EXIT_INPUT;
    if (!d->say || d->n_errors > DIAG_SHOWN + 1)
        return false;
    if (d->n_errors == DIAG_SHOWN + 1) {
        at = (struct place){0};
        fmt = "further errors not shown";
    }
    va_start(args, fmt);
    say(d, at, "", fmt, args);
    va_end(args);
    return false;
}

void diag_warning(struct diag *d, struct place at, const char *fmt, ...)
{
    va_list args;

    if (!d->say)
        return;
    va_start(args, fmt);
    say(d, at, "warning: ", fmt, args);
    va_end(args);
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
