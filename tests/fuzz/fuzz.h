/* fuzz.h -- what targets of libFuzzer share: silence, and files of what they are fed. */
#ifndef FUZZ_H
#define FUZZ_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Messages are dropped; those of libFuzzer itself are not printed by these functions. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    stderr = fopen("/dev/null", "w");
    return stderr ? 0 : -1;
}

/* A file in memory and its path; to be closed. */
static inline int file_of(const uint8_t *data, size_t size, char path[64])
{
    int fd = memfd_create("fuzz", 0);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

#endif
