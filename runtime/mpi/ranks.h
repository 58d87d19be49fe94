/* ranks.h -- parallel runs over the ranks of an MPI job. */
#ifndef RANKS_H
#define RANKS_H

/* Starts MPI; in all ranks but 0 nothing is printed from then on. */
void ranks_begin(int *argc, char ***argv);

/* Ends MPI, on rank 0 after the others; returns `code`. */
int ranks_end(int code);

#endif
