/*
 * llm_parts.c -- the program kernbench, which tells at its end how many processor seconds `llm` has
 * spent for its search, for ranks alone, for the iterations and for causes.
 *
 * The linker puts the functions of this file in place of those that llm calls (perf.mk: --wrap), so
 * that what is measured is what is shipped. What a part calls of another one, as the search does
 * that runs graphs, counts for the part that was called first.
 */
#include "cli/cli_main.h"
#include "cli/llm/cause.h"
#include "cli/llm/llm_search.h"
#include <stddef.h>
#include <stdio.h>
#include <time.h>

enum part { SEARCH, ALONE, RUN, CAUSE, PARTS };

static double spent_s[PARTS];
static bool is_inside;

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The call counts for `part`, if it is not a part of another call. */
#define MEASURE(part, call)                                                                        \
    bool was_inside = is_inside;                                                                   \
    double start_s = now_s();                                                                      \
                                                                                                   \
    is_inside = true;                                                                              \
    enum exit_code code = call;                                                                    \
    is_inside = was_inside;                                                                        \
    if (!was_inside)                                                                               \
        spent_s[part] += now_s() - start_s;                                                        \
    return code

#define WRAPPED(part, name, parameters, arguments)                                                 \
    enum exit_code __real_##name parameters;                                                       \
    enum exit_code __wrap_##name parameters;                                                       \
    enum exit_code __wrap_##name parameters                                                        \
    {                                                                                              \
        MEASURE(part, __real_##name arguments);                                                    \
    }

WRAPPED(SEARCH, search_tiles,
        (const struct cli *cli, const struct chip *c, struct graph *g, const struct shape *s,
         uint64_t tries, struct searched *known, struct found *found),
        (cli, c, g, s, tries, known, found))
WRAPPED(ALONE, run_alone,
        (const struct cli *cli, const struct chip *c, const struct graph *g, const struct shape *s,
         const struct path_watch *watch, struct llm_known *out),
        (cli, c, g, s, watch, out))
WRAPPED(RUN, run_each,
        (const struct cli *cli, const struct chip *c, const struct graph *g, const struct shape *s,
         struct llm_known *known, int64_t *each_fs, struct iteration *out),
        (cli, c, g, s, known, each_fs, out))
WRAPPED(ALONE, causes_alone,
        (const struct cli *cli, const struct chip *c, const struct graph *g, const struct shape *s,
         struct llm_known *known, const char **cause),
        (cli, c, g, s, known, cause))
WRAPPED(CAUSE, causes_of,
        (const struct cli *cli, const struct chip *c, const struct graph *g, const struct shape *s,
         const struct llm_known *known, const char **cause),
        (cli, c, g, s, known, cause))

int main(int argc, char **argv)
{
    int code = kb_cli_main(NULL, argc, argv);

    fprintf(stderr, "llm_parts: %.2f %.2f %.2f %.2f %.2f\n", spent_s[SEARCH], spent_s[ALONE],
            spent_s[RUN], spent_s[CAUSE], now_s());
    return code;
}
