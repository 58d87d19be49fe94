/* component_trust.h -- whose a component is: it is C code that runs with the rights of the user. */
#ifndef COMPONENT_TRUST_H
#define COMPONENT_TRUST_H
#include "diag.h"
#include <stdbool.h>

/*
 * Whether the file at `path` may be compiled and run: it and its folder are the user's own or
 * the system's, and no other user can write to them; or its folder, or one above, is in $KB_TRUST.
 * False after a message at `at`.
 */
bool component_is_trusted(struct arena *a, struct diag *diag, struct place at, const char *path);

#endif
