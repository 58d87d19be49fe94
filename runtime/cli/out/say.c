/* say.c -- messages on stderr. */
#include "cli/out/say.h"
#include "base/fault.h"
#include "base/text.h"
#include "cli/out/session.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 8192, SHOWN_BYTES = 64, NAMES_BYTES = 512 };

static _Thread_local struct said *kept; /* NULL: messages are printed */

struct said *say_into(struct said *said)
{
    struct said *before = kept;

    kept = said;
    return before;
}

void say_kept(void)
{
    const struct said *said = kept;

    kept = NULL;
    if (said && said->n > 0)
        say_lines("%.*s", (int)said->n - 1, said->text);
}

static void keep(const char *program, const char *text)
{
    int n = snprintf(kept->text + kept->n, SAID_BYTES - kept->n, "%s%s%s\n", program,
                     *program ? ": " : "", text);

    if (n > 0 && (size_t)n < SAID_BYTES - kept->n)
        kept->n += (size_t)n;
    kept->text[kept->n] = '\0';
}

/* One write() per message: lines of several processes on one terminal stay whole. */
static void put(const char *program, bool lines, const char *format, va_list args)
{
    char text[LINE_BYTES], shown[LINE_BYTES];

    text_vformat(text, sizeof text, format, args);
    text_make_visible(text, lines, shown, sizeof shown);
    if (kept)
        keep(program, shown);
    else if (session_here())
        session_say(session_here(), shown);
    else
        fprintf(stderr, "%s%s%s\n", program, *program ? ": " : "", shown);
}

void say_line(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    put("", false, format, args);
    va_end(args);
}

void say_lines(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    put("", true, format, args);
    va_end(args);
}

enum exit_code say(const char *program, enum exit_code code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    put(program, false, format, args);
    va_end(args);
    return code;
}

bool say_fingerprint(uint64_t fingerprint)
{
    if (!session_here())
        return fprintf(stderr, "fingerprint %016llx\n", (unsigned long long)fingerprint) > 0;
    say_line("fingerprint %016llx", (unsigned long long)fingerprint);
    return true;
}

enum exit_code say_unreadable(const char *program, const char *name, int error)
{
    return say(program, fault_is_of_file(error) ? EXIT_INPUT : EXIT_SYSTEM, "cannot read %s: %s",
               name, strerror(error));
}

enum exit_code say_unknown(const char *program, const char *what, const char *prefix,
                           const char *word, const char *const names[], size_t n_names)
{
    const char *near = text_nearest(word, strlen(word), names, n_names);
    char shown[SHOWN_BYTES], all[NAMES_BYTES];

    text_show(word, strlen(word), shown, sizeof shown);
    if (near)
        return say(program, EXIT_USAGE, "unknown %s '%s%s', did you mean '%s%s'?", what, prefix,
                   shown, prefix, near);
    text_join(names, n_names, prefix, all, sizeof all);
    return say(program, EXIT_USAGE, "unknown %s '%s%s': it is one of %s", what, prefix, shown, all);
}
