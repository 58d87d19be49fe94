/* compiler.c -- the C compiler, run as a program; see compiler.h. */
#include "base/compiler.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>

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

int compiler_run(const char *const *words, const char *said)
{
    posix_spawn_file_actions_t actions;
    pid_t child;

    posix_spawn_file_actions_init(&actions);
    if (said) {
        posix_spawn_file_actions_addopen(&actions, 1, said, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        posix_spawn_file_actions_adddup2(&actions, 1, 2);
    }
    int error = posix_spawnp(&child, words[0], &actions, NULL, (char **)(uintptr_t)words, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (!error)
        return wait_for(child);
    errno = error;
    return -1;
}
