/* diag.c -- messages about mistakes: the place, the text, and the exit code. */
#include "diag.h"
#include "base/text.h"
#include <stdarg.h>
#include <stdlib.h>

enum {
    SHOWN_BYTES = 60, /* of a user's text that a message repeats */
    LINE_BYTES = 4096 /* of a message */
};

static void print_place(FILE *out, struct place at)
{
    if (at.kind == PLACE_NONE)
        fputs("kbgen: ", out);
    else if (at.line == 0)
        fprintf(out, "%s: ", at.name);
    else
        fprintf(out, "%s:%zu:%zu: ", at.name, at.line, at.col);
}

bool diag_error(struct diag *d, struct place at, const char *fmt, ...)
{
    char text[LINE_BYTES];
    va_list args;

    if (d->n_errors++ == 0)
        d->code = at.kind == PLACE_SET ? EXIT_USAGE : EXIT_INPUT;
    if (!d->out || d->n_errors > DIAG_SHOWN + 1)
        return false;
    if (d->n_errors == DIAG_SHOWN + 1) {
        fputs("kbgen: further errors not shown\n", d->out);
        return false;
    }
    print_place(d->out, at);
    va_start(args, fmt);
    text_vformat(text, sizeof text, fmt, args);
    va_end(args);
    fprintf(d->out, "%s\n", text);
    return false;
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
