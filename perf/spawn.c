/*
 * spawn.c -- wall time and peak memory of whole processes, run in turn.
 *
 * usage: spawn FIRST LAST NAME COMMAND... [-- NAME COMMAND...]...; each round from FIRST to
 * LAST runs every command once, with its output dropped. Samples go to stdout (bench.h): wall,
 * processor, and the memory of the largest process among the command and its descendants.
 */
#include "bench.h"
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Runs argv to its end; false if it could not be started or failed. */
static bool run(char **argv, const posix_spawn_file_actions_t *files, double *wall_ns,
                struct rusage *used)
{
    pid_t pid;
    int status;

    *wall_ns = bench_wall_ns();
    if (posix_spawnp(&pid, argv[0], files, NULL, argv, environ) != 0 ||
        wait4(pid, &status, 0, used) < 0)
        return false;
    *wall_ns = bench_wall_ns() - *wall_ns;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* Ends each command with NULL where "--" was; returns where they begin, NULL behind the last. */
static char ***split(int argc, char **argv)
{
    char ***commands = calloc((size_t)argc + 1, sizeof *commands);
    size_t n = 0;

    if (!commands)
        return NULL;
    commands[n++] = argv;
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--") == 0) {
            argv[i] = NULL;
            commands[n++] = &argv[i + 1];
        }
    return commands;
}

static bool sample(char **command, const posix_spawn_file_actions_t *files, int round)
{
    struct rusage used;
    double wall_ns;

    if (!run(command + 1, files, &wall_ns, &used)) {
        fprintf(stderr, "spawn: %s failed\n", command[0]);
        return false;
    }
    bench_sample(command[0], "wall", "ms", round, wall_ns / 1e6);
    bench_sample(command[0], "processor", "ms", round,
                 (seconds(used.ru_utime) + seconds(used.ru_stime)) * 1e3);
    bench_sample(command[0], "memory", "KiB", round, (double)used.ru_maxrss);
    return true;
}

int main(int argc, char **argv)
{
    int round = argc > 4 ? atoi(argv[1]) : 0, last = argc > 4 ? atoi(argv[2]) : -1;
    posix_spawn_file_actions_t files;
    char ***commands;
    bool ok = true;

    if (last < round) {
        fprintf(stderr, "usage: spawn FIRST LAST NAME COMMAND... [-- NAME COMMAND...]...\n");
        return 2;
    }
    commands = split(argc - 3, argv + 3);
    if (!commands || posix_spawn_file_actions_init(&files) != 0)
        return 5;
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    for (; round <= last; round++)
        for (size_t i = 0; commands[i]; i++)
            ok = sample(commands[i], &files, round) && ok;
    posix_spawn_file_actions_destroy(&files);
    free(commands);
    return !ok;
}
