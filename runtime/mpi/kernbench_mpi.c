/* kernbench_mpi.c -- the program kernbench-mpi: the same command line, its work done by all ranks
 * of an MPI job. */
#include "cli/main.h"
#include "cli/out/stop.h"
#include "mpi/ranks.h"
#include <stddef.h>

int main(int argc, char **argv)
{
    ranks_begin(&argc, &argv);
    stop_at_term();
    return ranks_end(kb_cli_main(NULL, argc, argv));
}
