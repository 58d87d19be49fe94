/* aside.h -- bytes for later: what is more than some MB goes to a temporary file. */
#ifndef ASIDE_H
#define ASIDE_H
#include "base/packed.h"
#include <stdio.h>

/* All zero is none. */
struct aside {
    struct packed part; /* owned: what came last */
    FILE *file;         /* owned: all before that; NULL: there is none */
    int error;          /* errno of the file; 0: none. What is read then is not whole */
};

/* Puts a part behind those before. */
void aside_put(struct aside *a, const void *bytes, size_t n);

/* Back to the first part; nothing is put any more. */
void aside_rewind(struct aside *a);

/* Takes the next part into `part`, whose bytes before are lost. False: there is none. */
bool aside_take(struct aside *a, struct packed *part);

void aside_free(struct aside *a);

#endif
