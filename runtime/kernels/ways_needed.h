/* ways_needed.h -- the ways that kernels may take, and whether the machine has them all. */
#ifndef WAYS_NEEDED_H
#define WAYS_NEEDED_H
#include "machine/tables.h"

/* KB_BAD_REQUEST: it lacks the one that `why` names. */
kb_status ways_needed(const struct kb_topology *t, kb_error *why);

#endif
