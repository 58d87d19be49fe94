/* say.c -- messages on stderr. */
#include "cli/out/say.h"
#include "base/text.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 1024, SHOWN_BYTES = 64 };

/* One write() per message: lines of several processes on one terminal stay whole. */
enum exit_code say(const char *program, enum exit_code code, const char *format, ...)
{
    char line[LINE_BYTES];
    va_list args;

    va_start(args, format);
    text_vformat(line, sizeof line, format, args);
    va_end(args);
    fprintf(stderr, "%s: %s\n", program, line);
    return code;
}

enum exit_code say_unknown(const char *program, const char *what, const char *prefix,
                           const char *word, const char *const names[], size_t n_names)
{
    const char *near = text_nearest(word, strlen(word), names, n_names);
    char shown[SHOWN_BYTES], all[LINE_BYTES / 2];

    text_show(word, strlen(word), shown, sizeof shown);
    if (near)
        return say(program, EXIT_USAGE, "unknown %s '%s%s', did you mean '%s%s'?", what, prefix,
                   shown, prefix, near);
    text_join(names, n_names, prefix, all, sizeof all);
    return say(program, EXIT_USAGE, "unknown %s '%s%s': it is one of %s", what, prefix, shown, all);
}
