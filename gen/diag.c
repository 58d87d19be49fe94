/* diag.c -- what the generator says of mistakes: where, what, and the exit code they lead to. */
#include "diag.h"
#include <stdarg.h>
#include <stdlib.h>

enum { TEXT_SHOWN = 60 }; /* bytes of a user's text that a message repeats */

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
    vfprintf(d->out, fmt, args);
    va_end(args);
    fputc('\n', d->out);
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

/* At most TEXT_SHOWN bytes of `text`, but no half of a UTF-8 character. */
static size_t shown_len(const char *text, size_t len)
{
    size_t n = TEXT_SHOWN;

    if (len <= TEXT_SHOWN)
        return len;
    while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    return n;
}

const char *diag_text(struct arena *a, const char *text, size_t len)
{
    size_t n = shown_len(text, len);
    char *shown = arena_printf(a, "%*s%s", (int)n, "", n < len ? "..." : "");

    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];

        shown[i] = c < 0x20 || c == 0x7f ? '?' : text[i];
    }
    return shown;
}

void diag_no_memory(void)
{
    fputs("kbgen: out of memory\n", stderr);
    exit(EXIT_RESOURCE);
}
