/*
 * rows.c -- writes a CSV of mixed transactions on cube8, for `replay`.
 *
 * usage: rows N ascending|at0|shuffled; the last has the times of the first, in no order.
 */
#include "bench.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CUBES = 8, PES = 8, GAP_FS = 4000000 };

/* Issue times in steps of 1 fs, which the CSV prints as ns with six decimals. */
static uint64_t *times_new(size_t n, const char *order, uint64_t *seed)
{
    uint64_t *t = calloc(n, sizeof *t);
    uint64_t now = 0;

    if (!t || strcmp(order, "at0") == 0)
        return t;
    for (size_t i = 0; i < n; i++)
        t[i] = now += bench_random(seed) % (2 * GAP_FS);
    if (strcmp(order, "shuffled") == 0)
        for (size_t i = n; i > 1; i--) {
            size_t j = bench_random(seed) % i;
            uint64_t other = t[j];

            t[j] = t[i - 1];
            t[i - 1] = other;
        }
    return t;
}

/* Of ten rows five are remote, three local, one goes to an SRAM and one to or from the host. */
static void print_row(uint64_t time_fs, uint64_t seed)
{
    static const unsigned sizes[] = {64, 256, 1024, 4096, 4096, 4096, 8192, 16384};
    unsigned bits = (unsigned)seed;
    unsigned cube = bits % CUBES, pe = bits / 8 % PES, kind = bits / 64 % 10;
    unsigned to = kind < 3 ? cube : (unsigned)(seed >> 32) % CUBES;
    unsigned slice = kind < 3 ? pe : (unsigned)(seed >> 35) % PES;
    unsigned nbytes = sizes[seed >> 40 & 7], write = seed >> 44 & 1;
    uint64_t offset = (seed >> 45 & 4095) * 16384;

    printf("%" PRIu64 ".%06" PRIu64 ",", time_fs / 1000000, time_fs % 1000000);
    if (kind == 9)
        printf("%s,host,c%u.slice%u,", write ? "h2d" : "d2h", to, slice);
    else if (kind == 8)
        printf("%s,c%u.pe%u,c%u.sram,", write ? "write" : "read", cube, pe, to);
    else
        printf("%s,c%u.pe%u,c%u.slice%u,", write ? "write" : "read", cube, pe, to, slice);
    printf("%" PRIu64 ",%u\n", kind == 8 ? offset / 4 : offset, nbytes);
}

int main(int argc, char **argv)
{
    static const char *const orders[] = {"ascending", "at0", "shuffled"};
    size_t n = argc == 3 ? strtoull(argv[1], NULL, 10) : 0, order = 0;
    uint64_t seed = 11, *times;

    while (n && order < 3 && strcmp(argv[2], orders[order]) != 0)
        order++;
    if (!n || order == 3) {
        fprintf(stderr, "usage: rows N ascending|at0|shuffled\n");
        return 2;
    }
    times = times_new(n, argv[2], &seed);
    if (!times)
        return 5;
    puts("issue_ns,op,src,dst,offset,nbytes");
    for (size_t i = 0; i < n; i++)
        print_row(times[i], bench_random(&seed));
    free(times);
    return ferror(stdout) != 0;
}
