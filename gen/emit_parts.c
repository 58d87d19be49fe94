/* emit_parts.c -- what the files that write m4 definitions share. */
#include "emit_parts.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The shortest decimal that reads back equal, as a C constant. */
const char *emit_real(double x, char text[TEXT_DOUBLE_BYTES])
{
    if (isinf(x))
        return "INFINITY";
    text_put_double(text, 1, x);
    if (!strpbrk(text, ".e"))
        strcat(text, ".0");
    return text;
}

void emit_define(FILE *out, const char *name, const char *value)
{
    fprintf(out, "m4_define([[gen_%s]], [[%s]])m4_dnl\n", name, value);
}

void emit_define_int(FILE *out, const char *name, uint64_t value)
{
    fprintf(out, "m4_define([[gen_%s]], [[%" PRIu64 "]])m4_dnl\n", name, value);
}

void emit_begin_map(FILE *out, const char *name)
{
    fprintf(out, "m4_define([[gen_map_%s]], [[m4_dnl\n", name);
}

void emit_end_map(FILE *out)
{
    fputs("]])m4_dnl\n", out);
}
