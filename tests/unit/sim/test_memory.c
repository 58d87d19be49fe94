/*
 * test_memory.c -- a replay needs at most 74 bytes of memory a row, whatever the rows.
 *
 * SIM names the simulator of cube8, SIM_FIFO that with links fifo.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    ROWS = 1000000,
    BYTES_A_ROW = 74,  /* a line of the cache, 4 to sort and 4 for use; large pages round up */
    BYTES_OF_HOST = 76 /* and the begins of those that wait for their engine */
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MEASURABLE = false }; /* a sanitizer needs memory of its own */
#else
enum { MEASURABLE = true };
#endif

/* Writes row `i` of a kind of file. */
typedef void (*row_fn)(FILE *out, unsigned i);

static void rising(FILE *out, unsigned i)
{
    fprintf(out, "%u.25,read,c%u.pe%u,c%u.slice%u,0,4K\n", i, i % 8, i / 8 % 8, i / 5 % 8, i % 7);
}

static void all_at_once(FILE *out, unsigned i)
{
    fprintf(out, "0,write,c%u.pe%u,c%u.sram,64,64\n", i % 8, i / 8 % 8, i / 3 % 8);
}

static void falling(FILE *out, unsigned i)
{
    fprintf(out, "%u,read,c0.pe0,c%u.slice1,0,1\n", ROWS - i, i % 8);
}

static void hosts_at_once(FILE *out, unsigned i)
{
    fprintf(out, "0,h2d,host,c%u.slice%u,0,4K\n", i % 8, i / 8 % 8);
}

/* Bytes that `sim` needs at most for a replay of `n` rows. */
static double peak_bytes(const char *sim, row_fn row, unsigned n)
{
    char path[] = "/tmp/kernbench-rows-XXXXXX";
    int fd = mkstemp(path), status;
    FILE *out = fdopen(fd, "w");
    struct rusage usage;
    pid_t pid;

    fputs("issue_ns,op,src,dst,offset,nbytes\n", out);
    for (unsigned i = 0; i < n; i++)
        row(out, i);
    fclose(out);
    pid = fork();
    if (pid == 0) {
        dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
        execl(sim, sim, "replay", path, "--quiet", (char *)NULL);
        _exit(127);
    }
    assert_int_equal(wait4(pid, &status, 0, &usage), pid);
    unlink(path);
    assert_int_equal(status, 0);
    return 1024.0 * (double)usage.ru_maxrss;
}

static void assert_small(const char *name, row_fn row, double most)
{
    const char *sim = getenv(name);
    double more;

    if (!MEASURABLE || !sim)
        skip();
    more = peak_bytes(sim, row, ROWS) - peak_bytes(sim, row, 1);
    if (more > most * ROWS)
        fail_msg("%.1f bytes a row", more / ROWS);
}

static void rows_in_order(void **state)
{
    (void)state;
    assert_small("SIM", rising, BYTES_A_ROW);
}

static void rows_all_at_once(void **state)
{
    (void)state;
    assert_small("SIM", all_at_once, BYTES_A_ROW);
}

static void rows_in_falling_order(void **state)
{
    (void)state;
    assert_small("SIM", falling, BYTES_A_ROW);
}

static void a_host_that_never_waits(void **state)
{
    (void)state;
    assert_small("SIM", hosts_at_once, BYTES_OF_HOST);
}

static void links_fifo(void **state)
{
    (void)state;
    assert_small("SIM_FIFO", all_at_once, BYTES_A_ROW);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_in_order),
        cmocka_unit_test(rows_all_at_once),
        cmocka_unit_test(rows_in_falling_order),
        cmocka_unit_test(a_host_that_never_waits),
        cmocka_unit_test(links_fifo),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
