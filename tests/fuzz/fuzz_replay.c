/* fuzz_replay.c -- libFuzzer feeds the replay reader, and runs what it takes. */
#include "cube8.h"
#include "fuzz.h"
#include "cli/in/transactions.h"

enum { EVENTS = 10000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = file_of(data, size, path);
    kb_sim *sim;
    kb_error why;

    if (kb_sim_new(&cube8_topology, NULL, &sim) != KB_OK)
        abort();
    if (transactions_read(&cube8_topology, "fuzz", path, true, sim, NULL, NULL) == EXIT_OK) {
        kb_status status = kb_sim_run(sim, EVENTS, &why);

        if (status == KB_INTERNAL || status == KB_BAD_REQUEST)
            abort();
    }
    kb_sim_free(sim);
    close(fd);
    return 0;
}
