/* cmd_cc.c -- `cc`: compiles a bench of one's own to a shared object, which `run` takes.
 *
 * It is one call of the compiler, CC or else cc, with the flags that kernels need:
 *
 *     cc -std=gnu11 -O2 -fPIC -shared -fstack-clash-protection -ffp-contract=off \
 *         -Werror=implicit-function-declaration -IPREFIX/include moe.c -o moe.so
 *
 * A call of what nothing declares would take its pointers for int, and crash when it runs.
 * -fstack-clash-protection makes a frame that is larger than the guard below a kernel's stack hit
 * that guard, so that an overflow is reported as one. The headers are those of this program: in
 * PREFIX/include of an installed one, in runtime/include of one in its source tree; if they are in
 * neither place, the compiler looks for them by itself. The object appears when it is complete.
 */
#include "cli/command.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include "cli/out/stop.h"
#include "base/compiler.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const flags[] = {"-std=gnu11",
                                    "-O2",
                                    "-Wall",
                                    "-Wextra",
                                    "-fPIC",
                                    "-fstack-clash-protection",
                                    "-shared",
                                    "-ffp-contract=off",
                                    "-Werror=implicit-function-declaration"};

/* build/asan/cube8/cube8 is four folders below the top of its source tree. */
enum { FOLDERS_UP = 5, N_FLAGS = sizeof flags / sizeof *flags, WORDS_OF_OUR_OWN = N_FLAGS + 6 };

/* The file of this program; where /proc is not there, as it was started. */
static bool find_program(char program[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", program, PATH_MAX - 1);
    const char *started = (const char *)(uintptr_t)getauxval(AT_EXECFN);

    if (n > 0)
        program[n] = '\0';
    return n > 0 || (started && realpath(started, program));
}

/* "-I" and the folder of kernbench.h that belongs to this program; false: it is not found. */
static bool find_headers(char option[PATH_MAX])
{
    static const char *const places[] = {"include", "runtime/include"};
    char program[PATH_MAX], file[2 * PATH_MAX];

    if (!find_program(program))
        return false;
    for (int up = 0; up < FOLDERS_UP && strrchr(program, '/'); up++) {
        *strrchr(program, '/') = '\0';
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            snprintf(file, sizeof file, "%s/%s/tl.h", program, places[i]);
            if (access(file, R_OK) == 0)
                return snprintf(option, PATH_MAX, "-I%s/%s", program, places[i]) < PATH_MAX;
        }
    }
    return false;
}

/* "moe.so" of "moe.c", or what -o says. */
static char *object_name(const struct opts *o)
{
    const char *source = o->operand[0];
    size_t n = strlen(source);
    char *name;

    if (o->output)
        return memory_text(o->output);
    n -= n > 2 && strcmp(source + n - 2, ".c") == 0 ? 2 : 0;
    name = memory_new(n + 4, 1);
    memcpy(name, source, n);
    memcpy(name + n, ".so", 4);
    return name;
}

static const char **make_words(const struct opts *o, const char *headers, const char *made)
{
    const char **words = memory_new(WORDS_OF_OUR_OWN + o->n_operands, sizeof *words);
    size_t n = 0;

    words[n++] = compiler_name();
    for (size_t i = 0; i < N_FLAGS; i++)
        words[n++] = flags[i];
    if (headers)
        words[n++] = headers;
    for (size_t i = 1; i < o->n_operands; i++)
        words[n++] = o->operand[i];
    words[n++] = o->operand[0];
    words[n++] = "-o";
    words[n++] = made;
    words[n] = NULL;
    return words;
}

/* Compiles to `made`, then moves it to `object`. */
static enum exit_code compile(const struct cli *cli, const char **words, const char *made,
                              const char *object)
{
    int status = compiler_run(words, NULL);

    if (status < 0)
        return say(cli->program, EXIT_SYSTEM, "cannot run the compiler '%s': %s", words[0],
                   strerror(errno));
    if (stop_asked())
        return EXIT_INTERRUPTED;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return say(cli->program, EXIT_INPUT, "'%s' does not compile: see the messages of %s above",
                   cli->opts.operand[0], words[0]);
    if (rename(made, object) != 0)
        return say(cli->program, EXIT_SYSTEM, "cannot write '%s': %s", object, strerror(errno));
    return EXIT_OK;
}

enum exit_code cmd_cc(const struct cli *cli)
{
    const struct opts *o = &cli->opts;
    char headers[PATH_MAX];
    char *object = object_name(o), *made = memory_new(strlen(object) + 32, 1);
    const char **words;
    enum exit_code code;

    if (access(o->operand[0], R_OK) != 0)
        code = say_unreadable(cli->program, o->operand[0], errno);
    else {
        sprintf(made, "%s.new%ld", object, (long)getpid());
        words = make_words(o, find_headers(headers) ? headers : NULL, made);
        stop_defer(true);
        code = compile(cli, words, made, object);
        if (code)
            unlink(made);
        stop_defer(false);
        free(words);
    }
    free(made);
    free(object);
    return code;
}
