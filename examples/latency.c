/* latency.c -- the latency of one read, its dependence on the size, and the cost of contention. */
#include <cube8.h>
#include <kernbench.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parses an endpoint. This program ends after an error; the library itself never does that. */
static kb_endpoint end(const char *text)
{
    kb_endpoint found;
    kb_error why;

    if (kb_endpoint_parse(&cube8_topology, text, strlen(text), &found, &why) == KB_OK)
        return found;
    fprintf(stderr, "%s\n", why.text);
    exit(1);
}

/* PEs 0..n-1 of cube 0 read `nbytes` of one slice at the same time; returns the ns until all are
 * done.
 */
static double read_ns(const char *slice, uint64_t nbytes, uint32_t n)
{
    kb_transaction q = {.op = KB_READ, .src = end("c0.pe0"), .dst = end(slice), .nbytes = nbytes};
    kb_error why = {"out of memory"};
    kb_sim *sim = NULL;
    kb_status status = kb_sim_new(&cube8_topology, NULL, &sim);
    double ns;

    for (q.src.unit = 0; status == KB_OK && q.src.unit < n; q.src.unit++)
        status = kb_sim_add(sim, &q, &why);
    if (status == KB_OK)
        status = kb_sim_run(sim, 0, &why);
    if (status != KB_OK) {
        fprintf(stderr, "%s\n", why.text);
        exit(1);
    }
    ns = (double)kb_sim_end_fs(sim) / KB_FS_PER_NS;
    kb_sim_free(sim);
    return ns;
}

int main(void)
{
    printf("c0.pe0 reads 4096 bytes of c0.slice0 in %.6f ns\n\n", read_ns("c0.slice0", 4096, 1));

    printf("%8s %12s %12s\n", "bytes", "own slice", "cube 7");
    for (uint64_t nbytes = 64; nbytes <= 65536; nbytes *= 4)
        printf("%8u %12.3f %12.3f\n", (unsigned)nbytes, read_ns("c0.slice0", nbytes, 1),
               read_ns("c7.slice0", nbytes, 1));

    printf("\n%8s %12s\n", "readers", "last done");
    for (uint32_t n = 1; n <= CUBE8_PES_PER_CUBE; n *= 2)
        printf("%8u %12.3f\n", n, read_ns("c0.slice0", 4096, n));
    return 0;
}
