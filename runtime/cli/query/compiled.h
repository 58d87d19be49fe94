/* compiled.h -- a text in C compiled to a shared object, and kept for the next time. */
#ifndef COMPILED_H
#define COMPILED_H
#include "base/cache.h"

enum compiled {
    COMPILED_OK,
    COMPILED_NO_COMPILER,
    COMPILED_NOT,   /* said: the compiler's messages */
    COMPILED_SYSTEM /* said: what failed */
};

struct compiled_object {
    char path[CACHE_PATH_BYTES];
    char said[1 << 14];
};

/*
 * Compiles `text`, whose messages call it `name`, with these flags (up to NULL) by $CC or else cc,
 * unless the cache has what the same text with all that it includes, the same flags and the same
 * compiler have made. A quoted header is looked for in the working folder first.
 */
enum compiled compile_kept(const char *text, const char *name, const char *const *flags,
                           struct compiled_object *out);

#endif
