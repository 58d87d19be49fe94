/*
 * fuzz_cli.c -- libFuzzer feeds a whole command line: words on the first line, the rest is the file
 * "in".
 *
 * It runs in a folder of its own, which is emptied each time. Nothing in the words leads out of it,
 * and numbers are small, so that no run takes long; stop_asked() ends those that would. No time
 * counts: a thread that is slow on a busy machine would be left behind, and the program be over.
 *
 * link: -Wl,--wrap=stop_asked,--wrap=stop_heard,--wrap=pthread_cond_timedwait
 */
#define _XOPEN_SOURCE 700
#include "cube8.h"
#include "cli/cli_main.h"
#include "fuzz.h"

#include <ctype.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <string.h>

enum { WORDS_MAX = 24, LINE_MAX = 400, DIGITS_MAX = 3, VALUE_DIGITS_MAX = 2, LOOKS_MAX = 20 };

static char folder[] = "/dev/shm/fuzz_cli.XXXXXX";
static int home = -1; /* the folder in which we were started, to which libFuzzer's names belong */
static int looks;     /* a command looks now and then whether it is to stop */

bool __wrap_stop_asked(void);
bool __wrap_stop_asked(void)
{
    return __atomic_add_fetch(&looks, 1, __ATOMIC_RELAXED) > LOOKS_MAX;
}

bool __wrap_stop_heard(void);
bool __wrap_stop_heard(void)
{
    return __atomic_load_n(&looks, __ATOMIC_RELAXED) > LOOKS_MAX;
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock,
                                  const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock,
                                  const struct timespec *until)
{
    (void)until;
    return pthread_cond_wait(cond, lock);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind;
    return at->level > 0 ? remove(path) : 0;
}

static void empty_folder(void)
{
    if (nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS) != 0)
        abort();
}

static void leave(void)
{
    empty_folder();
    rmdir(folder);
}

static void begin(void)
{
    int null = open("/dev/null", O_RDWR);

    home = open(".", O_RDONLY | O_DIRECTORY);
    if (home < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
        !mkdtemp(folder))
        abort();
    atexit(leave);
}

/* Does this take time or memory without end, or lead out of the folder? */
static bool is_wild(const char *word)
{
    size_t most = strchr(word, '=') ? VALUE_DIGITS_MAX : DIGITS_MAX, digits = 0;

    if (strchr(word, '/') || strstr(word, ".."))
        return true;
    for (const char *at = word; *at; at++) {
        digits = isdigit((unsigned char)*at) ? digits + 1 : 0;
        if (digits > most || (digits && at[1] && strchr("eEMGTmgt", at[1])))
            return true;
    }
    return false;
}

/* A bench without arguments is a large one. */
static bool is_large(int n, char *words[])
{
    bool runs = false, has_values = false;

    for (int i = 1; i < n; i++) {
        runs = runs || strcmp(words[i], "run") == 0 || strcmp(words[i], "why") == 0;
        has_values = has_values || strchr(words[i], '=') || strcmp(words[i], "in") == 0;
    }
    return runs && !has_values;
}

/* The first line, cut at blanks; false if it is not to be run. */
static bool cut(char *line, int *n, char *words[WORDS_MAX + 2])
{
    words[(*n)++] = "cube8";
    for (char *word = strtok(line, " "); word; word = strtok(NULL, " ")) {
        if (*n == WORDS_MAX || is_wild(word))
            return false;
        words[(*n)++] = word;
    }
    return !is_large(*n, words);
}

static void put_in(const uint8_t *data, size_t size)
{
    FILE *f = fopen("in", "w");

    if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = memchr(data, '\n', size);
    size_t len = end ? (size_t)(end - data) : size;
    char line[LINE_MAX], *words[WORDS_MAX + 2] = {0};
    int n = 0, code;

    if (home < 0)
        begin();
    if (len >= sizeof line || memchr(data, 0, len))
        return 0;
    memcpy(line, data, len);
    line[len] = '\0';
    if (!cut(line, &n, words))
        return 0;
    if (chdir(folder) != 0)
        abort();
    put_in(end ? end + 1 : data, end ? size - len - 1 : 0);
    looks = 0;
    code = kb_cli_main(&cube8_topology, n, words);
    if (code < 0 || code == 6 || (code > 7 && code != 130))
        abort();
    if (fchdir(home) != 0)
        abort();
    empty_folder();
    return 0;
}
