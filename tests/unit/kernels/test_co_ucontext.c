/*
 * test_co_ucontext.c -- test_co again, switching as machines without an assembly of their own do.
 *
 * link: -Wl,--wrap=calloc,--wrap=free,--wrap=mmap,--wrap=munmap,--wrap=mprotect
 */
#define CO_UCONTEXT
/* in place of the library's */
#include "kernels/co.c"
#include "kernels/co_stacks.c"

#include "test_co.c"
