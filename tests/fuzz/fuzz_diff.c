/* fuzz_diff.c -- libFuzzer feeds diff: two results, cut at the first byte 0xff. */
#include "cli/cli_main.h"
#include "cube8.h"
#include "fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *cut = size > 0 ? memchr(data, 0xff, size) : NULL;
    size_t n = cut ? (size_t)(cut - data) : size;
    char a[64], b[64];
    char *argv[] = {"cube8", "diff",      a,       b,   "--format", "json",
                    "-o",    "/dev/null", "--top", "3", NULL};
    int fd_a = file_of(data, n, a), fd_b = file_of(cut ? cut + 1 : data, cut ? size - n - 1 : n, b);
    int code = kb_cli_main(&cube8_topology, 10, argv);

    /* what is the same twice is no difference */
    if ((code != 0 && code != 1 && code != 3) || (!cut && code == 1))
        abort();
    close(fd_a);
    close(fd_b);
    return 0;
}
