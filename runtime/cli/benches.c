/* benches.c -- the bench that a command line names.
 *
 * An unknown name is a mistake with the nearest known one: "unknown bench 'softmx', did you mean
 * 'softmax'?" A name that is near to none gets the list of all.
 */
#include "cli/benches.h"
#include "cli/out/say.h"
#include <string.h>

const kb_bench *bench_find(const struct cli *cli, const char *name)
{
    const char *names[256];
    size_t n = 0;

    for (size_t i = 0; i < n_benches; i++)
        if (strcmp(benches[i]->name, name) == 0)
            return benches[i];
    for (; n < n_benches && n < sizeof names / sizeof *names; n++)
        names[n] = benches[n]->name;
    say_unknown(cli->program, "bench", "", name, names, n);
    return NULL;
}
