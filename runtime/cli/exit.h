/* exit.h -- what a program tells its caller: see docs/exit-codes.md. */
#ifndef EXIT_H
#define EXIT_H

enum exit_code {
    EXIT_OK = 0,
    EXIT_DIFFERENT = 1, /* a verification failed, or there is a data race */
    EXIT_USAGE = 2,     /* the command line, endpoints on it included */
    EXIT_INPUT = 3,     /* an input file, or times it makes pass 2^63 fs */
    EXIT_DEADLOCK = 4,  /* deadlock: kernels wait for each other */
    EXIT_SYSTEM = 5,    /* out of memory, or I/O */
    EXIT_INTERNAL = 6,
    EXIT_KERNEL = 7, /* a kernel used the tl_ functions wrongly */
    EXIT_LIMIT = 8,  /* --limit-s or --limit-mb ended it */
    EXIT_INTERRUPTED = 130,
};

#endif
