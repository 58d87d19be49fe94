/* benches.c -- the bench that a command line names.
 *
 * A bench is one of the program's own, `gemm`, or one of a shared object, `./moe.so:moe`; of an
 * object with a single bench the file is enough. An unknown name is a mistake with the nearest
 * known one: "unknown bench 'softmx', did you mean 'softmax'?" A name that is near to none gets the
 * list of all.
 */
#include "cli/benches.h"
#include "cli/out/say.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 4096, NAMES_MAX = 256 };

size_t bench_file_length(const char *name)
{
    const char *colon = strrchr(name, ':');
    size_t n = colon ? (size_t)(colon - name) : strlen(name);

    return n > 3 && memcmp(name + n - 3, ".so", 3) == 0 ? n : 0;
}

static const kb_bench *named(const kb_bench *const *table, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(table[i]->name, name) == 0)
            return table[i];
    return NULL;
}

static const kb_bench *unknown(const struct cli *cli, const kb_bench *const *table, size_t n,
                               const char *prefix, const char *name)
{
    const char *names[NAMES_MAX];

    if (n > NAMES_MAX)
        n = NAMES_MAX;
    for (size_t i = 0; i < n; i++)
        names[i] = table[i]->name;
    say_unknown(cli->program, "bench", prefix, name, names, n);
    return NULL;
}

enum exit_code bench_table(const struct cli *cli, const char *file, const kb_bench *const **table,
                           size_t *n)
{
    const kb_bench_table *loaded;
    kb_error why = {""};
    kb_status status;

    *table = benches;
    *n = n_benches;
    if (!file)
        return EXIT_OK;
    status = kb_benches_open(file, &loaded, &why);
    if (status)
        return cmd_fail(cli, status, &why);
    *table = loaded->benches;
    *n = loaded->n_benches;
    return EXIT_OK;
}

/* -- benches of the program that uses the library ---------------------------------------------- */

static pthread_mutex_t given_lock = PTHREAD_MUTEX_INITIALIZER;
static struct bench_given *given; /* borrowed */

void bench_give(struct bench_given *row)
{
    pthread_mutex_lock(&given_lock);
    row->next = given;
    given = row;
    pthread_mutex_unlock(&given_lock);
}

struct bench_given *bench_take_back(const kb_bench *bench)
{
    struct bench_given **link = &given, *row;

    pthread_mutex_lock(&given_lock);
    while (*link && (*link)->bench != bench)
        link = &(*link)->next;
    row = *link;
    if (row)
        *link = row->next;
    pthread_mutex_unlock(&given_lock);
    return row;
}

/* One without a file: given, or the program's own; NULL: there is none. */
static const kb_bench *without_file(const char *name)
{
    const kb_bench *found = NULL;

    pthread_mutex_lock(&given_lock);
    for (const struct bench_given *g = given; g && !found; g = g->next)
        if (strcmp(g->bench->name, name) == 0)
            found = g->bench;
    pthread_mutex_unlock(&given_lock);
    return found ? found : named(benches, n_benches, name);
}

/* The bench after the colon of `word`, whose file is `file`; the only one if there is no colon. */
static const kb_bench *of_file(const struct cli *cli, const char *file, const char *word,
                               enum exit_code *code)
{
    const kb_bench *const *table;
    const kb_bench *bench;
    char prefix[PATH_BYTES + 2];
    size_t n;

    *code = bench_table(cli, file, &table, &n);
    if (*code)
        return NULL;
    *code = EXIT_USAGE;
    if (word[strlen(file)] == '\0' && n == 1)
        return *code = EXIT_OK, table[0];
    if (word[strlen(file)] == '\0')
        return say(cli->program, EXIT_USAGE, "'%s' has %zu benches: name one as %s:%s", file, n,
                   file, n > 0 ? table[0]->name : "NAME"),
               NULL;
    bench = named(table, n, word + strlen(file) + 1);
    if (bench)
        return *code = EXIT_OK, bench;
    snprintf(prefix, sizeof prefix, "%s:", file);
    return unknown(cli, table, n, prefix, word + strlen(file) + 1);
}

/* FILE of FILE.so:NAME; false: it is too long. */
static bool take_file(const char *name, size_t len, char file[PATH_BYTES])
{
    if (len >= PATH_BYTES)
        return false;
    memcpy(file, name, len);
    file[len] = '\0';
    return true;
}

const kb_bench *bench_find(const struct cli *cli, const char *name, enum exit_code *code)
{
    char file[PATH_BYTES];
    size_t len = bench_file_length(name);
    const kb_bench *bench;

    if (!take_file(name, len, file))
        return *code = say(cli->program, EXIT_USAGE, "the name of the bench is too long"), NULL;
    if (len > 0)
        return of_file(cli, file, name, code);
    bench = without_file(name);
    *code = bench ? EXIT_OK : EXIT_USAGE;
    len = strlen(name);
    if (!bench && len > 2 && strcmp(name + len - 2, ".c") == 0)
        return say(cli->program, EXIT_USAGE,
                   "'%s' is a source: 'kernbench cc' compiles it, and kernbench.compile() in "
                   "Python",
                   name),
               NULL;
    if (!bench && strchr(name, '/'))
        return say(cli->program, EXIT_USAGE, "'%s' is no bench: one of a file is FILE.so:NAME",
                   name),
               NULL;
    return bench ? bench : unknown(cli, benches, n_benches, "", name);
}

const kb_bench *bench_known(const char *name)
{
    const kb_bench_table *loaded;
    char file[PATH_BYTES];
    size_t len = bench_file_length(name);

    if (len == 0)
        return without_file(name);
    if (!take_file(name, len, file) || kb_benches_open(file, &loaded, NULL) != KB_OK)
        return NULL;
    if (name[len] == '\0')
        return loaded->n_benches == 1 ? loaded->benches[0] : NULL;
    return named(loaded->benches, loaded->n_benches, name + len + 1);
}
