/*
 * cmd_why.c -- `why`: a bench, a file of transactions or traffic again, to see what makes it take
 * so long: without one limit at a time (why/why_limits.c), or with --by key on machines with one
 * key better at a time (why/why_keys.c).
 */
#include "cli/out/memory.h"
#include "cli/out/stop.h"
#include "cli/why/rerun.h"
#include <stdlib.h>

enum exit_code cmd_why(const struct cli *cli)
{
    struct rerun *r = memory_new(1, sizeof *r);
    enum exit_code code = rerun_find(r, cli);

    if (!code)
        code = cli->opts.by.factor > 0 ? why_keys(r, cli->opts.by.factor) : why_limits(r);
    if (stop_leaves()) /* a thread that was left behind still reads it */
        return code;
    rerun_free(r);
    free(r);
    return code;
}
