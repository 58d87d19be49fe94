/* compiler_identity.h -- which C compiler it is: two that may make other code differ in the hash.
 */
#ifndef COMPILER_IDENTITY_H
#define COMPILER_IDENTITY_H
#include "base/digest.h"

/*
 * The hash of its command, of its program's file, of the variables by which it finds its parts, and
 * of what it makes of `text` with these flags (up to NULL) by `cc -E -dD`: its macros, which tell
 * version, target and options, and the headers that `text` includes. It works in `folder`.
 *
 * returns  the status of the compiler, as compiler_run(); what it says is in the file folder/said
 */
int compiler_identity(const char *const *flags, const char *text, const char *folder,
                      char hex[DIGEST_CHARS + 1]);

/* Adds what tells, without running it, that it may be another one than before. */
void compiler_add_traces(struct digest *d);

#endif
