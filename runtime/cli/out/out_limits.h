/* out_limits.h -- what a command may take: --limit-s and --limit-mb; and a word about one that
 * takes long. */
#ifndef LIMITS_H
#define LIMITS_H
#include "base/watch.h"
#include "cli/exit.h"

struct session;

/* Those of one command; must not move meanwhile. */
struct limits {
    struct watch watch;
    struct session *session; /* borrowed; NULL: a command line */
    bool quiet;
};

/*
 * From now on: stop_asked() once one of the limits is passed (0: none). Unless `quiet`, a line on
 * stderr when it has worked for a second, and one when it has 256 MB.
 *
 * returns  EXIT_OK; EXIT_SYSTEM after a message
 */
enum exit_code limits_begin(struct limits *l, const char *program, double limit_s,
                            uint64_t limit_bytes, bool quiet);

/*
 * It will take so much memory at least. Says so if that is more than a gigabyte.
 *
 * returns  EXIT_OK; EXIT_LIMIT after a message: the limit is less
 */
enum exit_code limits_expect(struct limits *l, const char *program, uint64_t bytes);

/* No longer. What the command ends with that returned `code`. */
enum exit_code limits_end(struct limits *l, enum exit_code code);

#endif
