/* chakra_path.c -- names of a trace's files, and its clock of whole microseconds. */
#include "base/text.h"
#include "cli/llm/chakra.h"
#include "cli/out/memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t chakra_micros(int64_t begin_fs, int64_t end_fs)
{
    const int64_t us = 1000000000;

    return (uint64_t)((end_fs + us / 2) / us - (begin_fs + us / 2) / us);
}

char *chakra_path(const char *pattern, int64_t rank)
{
    const char *at = strchr(pattern, '%');
    size_t room = strlen(pattern) + 24;
    char *path = memory_new(room, 1);

    if (at && (at[1] != 'd' || strchr(at + 1, '%'))) {
        free(path);
        return NULL;
    }
    if (at)
        text_format(path, room, "%.*s%lld%s", (int)(at - pattern), pattern, (long long)rank,
                    at + 2);
    else
        text_format(path, room, "%s", pattern);
    return path;
}

char *chakra_groups_path(const char *pattern)
{
    static const char name[] = "comm_group.json";
    const char *slash = strrchr(pattern, '/');
    int folder = slash ? (int)(slash + 1 - pattern) : 0;
    size_t room = (size_t)folder + sizeof name;
    char *path = memory_new(room, 1);

    text_format(path, room, "%.*s%s", folder, pattern, name);
    return path;
}
