/* fuzz_replay.c -- libFuzzer feeds the replay reader, and runs what it takes. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "cube8.h"
#include "transactions.h"

enum { EVENTS = 10000 };

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Messages go to nobody; libFuzzer's own come by another way. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    stderr = fopen("/dev/null", "w");
    return stderr ? 0 : -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("rows", 0);
    char path[64];
    kb_sim *sim;
    kb_error why;

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (kb_sim_new(&cube8_topology, NULL, &sim) != KB_OK)
        abort();
    if (transactions_read(&cube8_topology, "fuzz", path, sim) == EXIT_OK) {
        kb_status status = kb_sim_run(sim, EVENTS, &why);

        if (status == KB_INTERNAL || status == KB_BAD_REQUEST)
            abort();
    }
    kb_sim_free(sim);
    close(fd);
    return 0;
}
