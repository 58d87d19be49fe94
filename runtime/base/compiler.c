/* compiler.c -- the C compiler, run as a program; see compiler.h. */
#include "base/compiler.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

const char *compiler_name(void)
{
    const char *name = getenv("CC");

    return name && *name ? name : "cc";
}

static int wait_for(pid_t child)
{
    int status;

    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}

/* words[0] may be a command with arguments, "ccache gcc", which a file's name has not. */
static const char **split_first(const char *const *words, char **command)
{
    size_t n = 0, of_command = strlen(words[0]);
    const char **all;

    while (words[n])
        n++;
    *command = strdup(words[0]);
    all = calloc(n + of_command + 1, sizeof *all);
    n = 0;
    for (char *rest = *command, *word; all && (word = strtok_r(rest, " ", &rest));)
        all[n++] = word;
    while (all && *++words)
        all[n++] = *words;
    return all;
}

/* Our variables, but with messages in English; owned, the strings are not. NULL: no memory. */
static char **in_english(void)
{
    static const char english[] = "LC_ALL=C";
    size_t n = 0, to = 0;

    while (environ[n])
        n++;
    char **all = calloc(n + 2, sizeof *all);
    for (size_t i = 0; all && i < n; i++)
        if (strncmp(environ[i], "LC_ALL=", strlen("LC_ALL=")) != 0)
            all[to++] = environ[i];
    if (all)
        all[to] = (char *)(uintptr_t)english;
    return all;
}

static int spawn(const char *const *words, const char *said)
{
    posix_spawn_file_actions_t actions;
    pid_t child;

    char **english = said ? in_english() : NULL;
    posix_spawn_file_actions_init(&actions);
    if (said) {
        posix_spawn_file_actions_addopen(&actions, 1, said, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        posix_spawn_file_actions_adddup2(&actions, 1, 2);
    }
    int error = posix_spawnp(&child, words[0], &actions, NULL, (char **)(uintptr_t)words,
                             english ? english : environ);
    posix_spawn_file_actions_destroy(&actions);
    free(english);
    if (!error)
        return wait_for(child);
    errno = error;
    return -1;
}

int compiler_run(const char *const *words, const char *said)
{
    char *command;
    const char **all;
    int status = -1;

    if (!strchr(words[0], ' ') || access(words[0], X_OK) == 0)
        return spawn(words, said);
    all = split_first(words, &command);
    if (all && command)
        status = spawn(all, said);
    free(all);
    free(command);
    return status;
}
