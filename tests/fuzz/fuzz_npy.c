/* fuzz_npy.c -- any bytes as a .npy file: no crash, and what is read is written and read again. */
#include "data/npy.h"
#include "fuzz.h"

#include <string.h>

static void check_round_trip(const struct npy *npy)
{
    struct npy again;
    char path[64];
    kb_error why;

    snprintf(path, sizeof path, "/dev/shm/fuzz_npy.%ld", (long)getpid());
    if (npy_write(path, npy->dtype, npy->shape, npy->bytes, &why) != KB_OK ||
        npy_read(path, &again, &why) != KB_OK)
        abort();
    if (again.dtype != npy->dtype || again.nbytes != npy->nbytes ||
        memcmp(&again.shape, &npy->shape, sizeof again.shape) != 0 ||
        memcmp(again.bytes, npy->bytes, npy->nbytes) != 0)
        abort();
    npy_free(&again);
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct npy npy;
    char path[64];
    kb_error why;
    int fd = file_of(data, size, path);

    if (npy_read(path, &npy, &why) == KB_OK)
        check_round_trip(&npy);
    npy_free(&npy);
    close(fd);
    return 0;
}
