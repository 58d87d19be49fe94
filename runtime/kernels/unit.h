/* unit.h -- functions between the files that kernels.c compiles as one unit. */
#ifndef UNIT_H
#define UNIT_H

/*
 * Within that unit they are static, so that a function that is called once is inlined. A file that
 * is compiled alone sees them as extern. No other file of the library calls them.
 */
#ifdef KERNELS_UNIT
#define KERNELS_OWN static
#else
#define KERNELS_OWN extern
#endif

#endif
