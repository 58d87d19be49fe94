/* kernbench.c -- the program kernbench: a simulator without a machine of its own. */
#include "cli/cli_main.h"
#include <stddef.h>

int main(int argc, char **argv)
{
    return kb_cli_main(NULL, argc, argv);
}
