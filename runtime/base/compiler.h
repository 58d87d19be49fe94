/* compiler.h -- the C compiler of this system, run as a program. */
#ifndef COMPILER_H
#define COMPILER_H

/* Its command: $CC, or else cc. */
const char *compiler_name(void);

/*
 * Runs words[0] with these words, up to NULL, and waits for its end. What it prints goes to the
 * file `said`, in English, or if that is NULL to the output of this process.
 *
 * returns  its status, as wait() has it; -1 with errno if it cannot be run
 */
int compiler_run(const char *const *words, const char *said);

#endif
