/* shared.c -- versions of equal pieces, of which a store keeps only one.
 *
 * In a collective many PEs gather the same long lists. An all-gather by doubling over 8192 PEs ends
 * with 8192 pieces at each of them, 32 bytes a piece: two GB of lists that are all alike. So a
 * reader that has gathered the pieces of a version which is there already gets that version.
 *
 * Versions are found by comparing lists, piece by piece, in the tree of tsearch(3): by how many
 * they are, then by version, offset and length of each. There is no hash, so two lists that differ
 * are never taken for the same. Most comparisons end with the first piece.
 */
#include "data/shared.h"
#include <assert.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

struct shared {
    void *root;    /* of tsearch(); its keys are versions */
    size_t n_uses; /* versions in the tree, and the owner */
};

struct shared *shared_new(void)
{
    struct shared *s = calloc(1, sizeof *s);

    if (s)
        s->n_uses = 1;
    return s;
}

void shared_release(struct shared *s)
{
    if (s && --s->n_uses == 0)
        free(s);
}

/* Any order will do, as long as only equal lists are equal; a piece has no padding. */
static int by_pieces(const void *x, const void *y)
{
    const struct version *a = x, *b = y;

    if (a->n_pieces != b->n_pieces)
        return a->n_pieces < b->n_pieces ? -1 : 1;
    return memcmp(a->pieces, b->pieces, a->n_pieces * sizeof *a->pieces);
}

struct version *shared_find(const struct shared *s, struct piece *pieces, uint32_t n)
{
    struct version like = {.kind = VERSION_PIECES, .pieces = pieces, .n_pieces = n};
    struct version *const *found = tfind(&like, &s->root, by_pieces);

    return found ? *found : NULL;
}

bool shared_add(struct shared *s, struct version *v)
{
    struct version *const *kept = tsearch(v, &s->root, by_pieces);

    if (!kept)
        return false;
    assert(*kept == v);
    v->shared = s;
    s->n_uses++;
    return true;
}

void shared_remove(struct version *v)
{
    struct shared *s = v->shared;

    tdelete(v, &s->root, by_pieces);
    v->shared = NULL;
    shared_release(s);
}
