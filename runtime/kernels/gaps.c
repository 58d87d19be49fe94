/*
 * gaps.c -- the gaps between the ranges of a TCM that are taken: the lowest one that fits.
 *
 * Loads that run ahead fill a TCM with thousands of small tiles, which are given back in another
 * order. So gaps lie on shelves by where they begin, each of which knows how large its largest gap
 * is at most. A search passes those where none can fit, and where it finds that none does, it notes
 * what the largest is. What is free behind the last range is no gap: it is above all of them.
 *
 * Example: a TCM of 1 MiB has shelves of 16 KiB. Gaps of 512 bytes lie at 0x400 and 0x9000, one of
 * 4096 at 0x8000. The search for 2048 bytes finds that the first shelf has at most 512, which is
 * noted if more was said, and takes 0x8000 of the third one.
 */
#include "kernels/gaps.h"

void gaps_begin(struct gaps *g, uint64_t tcm_bytes)
{
    *g = (struct gaps){0};
    while (tcm_bytes >> g->shift >= GAP_SHELVES)
        g->shift++;
}

static uint32_t shelf_of(const struct gaps *g, const struct tcm_block *b)
{
    uint64_t i = b->end >> g->shift;

    return i < GAP_SHELVES ? (uint32_t)i : GAP_SHELVES - 1;
}

static uint64_t bytes_behind(const struct tcm_block *b)
{
    return b->next->offset - b->end;
}

void gap_put(struct gaps *g, struct tcm_block *b)
{
    uint32_t i = shelf_of(g, b);
    struct gap_shelf *shelf = &g->shelf[i];
    struct tcm_block **link = &shelf->first;

    if (shelf->most < bytes_behind(b))
        shelf->most = bytes_behind(b);
    if (b->has_gap)
        return;
    while (*link && (*link)->offset < b->offset)
        link = &(*link)->next_gap;
    b->has_gap = true;
    b->to_gap = link;
    b->next_gap = *link;
    *link = b;
    if (b->next_gap)
        b->next_gap->to_gap = &b->next_gap;
    g->filled |= UINT64_C(1) << i;
}

void gap_take(struct gaps *g, struct tcm_block *b)
{
    uint32_t i = shelf_of(g, b);

    if (!b->has_gap)
        return;
    b->has_gap = false;
    *b->to_gap = b->next_gap;
    if (b->next_gap)
        b->next_gap->to_gap = b->to_gap;
    if (!g->shelf[i].first) {
        g->filled &= ~(UINT64_C(1) << i);
        g->shelf[i].most = 0;
    }
}

struct tcm_block *gaps_first(struct gaps *g, uint64_t nbytes)
{
    for (uint64_t left = g->filled; left; left &= left - 1) {
        struct gap_shelf *shelf = &g->shelf[__builtin_ctzll(left)];
        uint64_t most = 0;

        if (shelf->most < nbytes)
            continue;
        for (struct tcm_block *b = shelf->first; b; b = b->next_gap) {
            uint64_t bytes = bytes_behind(b);

            if (bytes >= nbytes)
                return b;
            most = bytes > most ? bytes : most;
        }
        shelf->most = most;
    }
    return NULL;
}
