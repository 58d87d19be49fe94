/* cmd_load.c -- stub */
#include "cmd.h"
enum exit_code cmd_load(const struct cli *cli)
{
    (void)cli;
    return EXIT_OK;
}
