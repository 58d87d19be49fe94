gen_banner
/* main.c -- the command line of gen_name. */
#include "gen_name.h"
#include "cli/cli_main.h"

int main(int argc, char **argv)
{
    return kb_cli_main(&gen_name[[]]_topology, argc, argv);
}
