/*
 * test_co_ucontext.c -- test_co again, switching as machines without an assembly of their own do.
 *
 * link: -Wl,--wrap=calloc,--wrap=free,--wrap=mmap,--wrap=munmap,--wrap=mprotect
 */
#define CO_UCONTEXT
#include "kernels/co.c" /* in place of the library's */

#include "test_co.c"
