/* journal.h -- results of a plan, kept in a file as they come: it goes on after any death. */
#ifndef JOURNAL_H
#define JOURNAL_H
#include "base/packed.h"
#include "base/provenance.h"
#include "cli/exit.h"
#include <stdbool.h>
#include <stdint.h>

/* Results in a row in a file: item `first` and the `n` - 1 behind it, from byte `at` on. */
struct journal_run {
    uint64_t first, n;
    long long at;
    int fd;
};

/* All zero is none. */
struct journal {
    char *path;              /* owned; NULL: it is not open */
    int fd;                  /* where results are added */
    struct journal_run *run; /* owned: those that were there, and were not taken yet */
    size_t n_runs, runs_room;
    uint64_t n_left; /* results in them */
    int *fds;        /* owned: files of parts, which are only read */
    size_t n_fds;
    int error;     /* errno of the first write that failed; 0: none did */
    bool complete; /* every item has its final result */
    bool is_part;  /* it is the file of a part of --shard itself, which stays */
};

/*
 * Opens the journal at `path`, and makes it if there is none. One that is of something else than
 * `of` is refused; what a death has cut off at its end is removed.
 *
 * returns  EXIT_OK; EXIT_INPUT or EXIT_SYSTEM after a message that begins with `program`
 */
enum exit_code journal_open(struct journal *j, const char *program, const char *path,
                            const struct provenance *of);

/* Adds the results of all journals `whole`.IofN, as parts of --shard leave them. As above. */
enum exit_code journal_add_parts(struct journal *j, const char *program, const char *whole,
                                 const struct provenance *of);

/* Is this the file of a part that is a journal? */
bool journal_is(const char *path);

/* The result of item `i`, which is not there any more then; false: there is none. Items are asked
 * for in ascending order. */
bool journal_take(struct journal *j, uint64_t i, struct packed *result);

/* Keeps a result. False: it could not be written, and `error` says why. */
bool journal_put(struct journal *j, uint64_t i, const struct packed *result);

/* Closes it; the file goes unless `keep`. */
void journal_close(struct journal *j, bool keep);

#endif
