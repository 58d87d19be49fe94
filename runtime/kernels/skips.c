/* skips.c -- ids that are left free, of several lists that are each in order. */
#include "kernels/skips.h"

static bool draws_before(const struct skip *skip, int64_t t, uint32_t pe)
{
    int64_t at_fs = skip->draw->at_fs + skip->later_fs;

    return at_fs < t || (at_fs == t && skip->pes[skip->draw->index] < pe);
}

void skips_pass(struct kernels *k, int64_t t, uint32_t pe)
{
    for (size_t i = k->n_skips; i-- > 0;) {
        struct skip *skip = &k->skips[i];

        for (; skip->n > 0 && draws_before(skip, t, pe); skip->n--)
            k->next_id += skip->draw++->n;
        if (skip->n == 0)
            *skip = k->skips[--k->n_skips];
    }
}

bool skips_add(struct kernels *k, const struct skip *skip)
{
    if (k->n_skips == k->skips_cap) {
        size_t cap = 2 * k->skips_cap + 8;
        struct skip *moved = realloc(k->skips, cap * sizeof *moved);

        if (!moved)
            return false;
        k->skips = moved;
        k->skips_cap = cap;
    }
    k->skips[k->n_skips++] = *skip;
    return true;
}
