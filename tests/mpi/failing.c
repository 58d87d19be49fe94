/* failing.c -- a bench that fails in one rank of an MPI job, FAIL_RANK, in a way of its own. */
#include <kernbench.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <tl.h>
#include <unistd.h>

/* Each run lasts long enough for all ranks to have some. */
static void fail(tl_ctx *tl, const kb_args *args)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *failing = getenv("FAIL_RANK");

    (void)tl;
    usleep(2000);
    if (!rank || !failing || atoi(rank) != atoi(failing))
        return;
    switch (kb_bench_int(args->user, "how")) {
    case 1:
        *(volatile int *)0 = 1;
        break;
    case 2:
        abort();
    default: /* from here on there is no memory */
        setrlimit(RLIMIT_AS, &(struct rlimit){1, 1});
    }
}

static void setup(kb_bench_run *run)
{
    kb_bench_launch(run, "fail", fail, NULL, 0);
}

static const kb_bench_arg args_of_failing[] = {
    {"how", KB_ARG_INT, "1", 1, 3, NULL, "how it fails"}};
const kb_bench bench_failing = {
    .name = "failing", .summary = "fails", .args = args_of_failing, .n_args = 1, .setup = setup};
KB_BENCHES(&bench_failing);
