/* pieces.c -- lists of pieces. */
#include "machine/pieces.h"
#include <stdlib.h>

bool pieces_add(struct pieces **list, uint64_t at, uint64_t nbytes)
{
    struct pieces *l = *list;
    uint32_t cap = l ? 2 * l->cap : 16;

    if (l && l->n && l->of[l->n - 1].at + l->of[l->n - 1].nbytes == at) {
        l->of[l->n - 1].nbytes += nbytes;
        return true;
    }
    if (!l || l->n == l->cap) {
        l = realloc(l, sizeof *l + cap * sizeof *l->of);
        if (!l)
            return false;
        l->n = *list ? l->n : 0;
        l->cap = cap;
        *list = l;
    }
    l->of[l->n++] = (struct run){.at = at, .nbytes = nbytes};
    return true;
}
