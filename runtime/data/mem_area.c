/* mem_area.c -- the map of a memory from ranges of addresses to parts of versions.
 *
 * It is a sorted array of leaves, each a sorted array of at most 64 ranges: two binary searches.
 * Kernels mostly go on where they were, so the last place that was found is tried first, and the
 * one behind it (find_near()). A write over exactly one range, the most frequent, replaces its view
 * in place. A leaf that is only appended to is split at its end, so that it stays full.
 *
 * Ranges are sorted, do not overlap, and are never empty.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "data/mem_parts.h"

static struct leaf *leaf_new(uint32_t cap)
{
    struct leaf *l = malloc(sizeof *l + cap * sizeof *l->rows);

    if (l) {
        l->n = 0;
        l->cap = cap;
    }
    return l;
}

static void leaf_free(struct leaf *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        version_drop(l->rows[i].part.v);
    free(l);
}

void mem_area_free(struct area *a)
{
    if (!a)
        return;
    for (uint32_t i = 0; i < a->n; i++)
        leaf_free(a->slots[i].leaf);
    free(a->slots);
    free(a);
}

/* An area with one leaf; only a single leaf may be empty. */
struct area *mem_area_new(void)
{
    struct area *a = calloc(1, sizeof *a);

    if (!a)
        return NULL;
    a->slots = malloc(SLOTS_FIRST * sizeof *a->slots);
    a->cap = SLOTS_FIRST;
    if (a->slots)
        a->slots[0] = (struct slot){0, leaf_new(LEAF_FIRST)};
    if (a->slots && a->slots[0].leaf) {
        a->n = 1;
        return a;
    }
    mem_area_free(a);
    return NULL;
}

/* -- writing -------------------------------------------------------------------------------- */

static bool slots_grow(struct area *a)
{
    uint32_t cap = 2 * a->cap;
    struct slot *moved;

    if (a->n < a->cap)
        return true;
    moved = realloc(a->slots, cap * sizeof *moved);
    if (!moved)
        return false;
    a->slots = moved;
    a->cap = cap;
    return true;
}

static bool leaf_grow(struct slot *slot)
{
    uint32_t cap = 2 * slot->leaf->cap;
    struct leaf *moved = realloc(slot->leaf, sizeof *moved + cap * sizeof *moved->rows);

    if (!moved)
        return false;
    slot->leaf = moved;
    moved->cap = cap;
    return true;
}

/* Halves a leaf; the last leaf, if it is appended to, is cut before its last range. *p stays at its
 * range. */
static bool leaf_split(struct area *a, struct place *p)
{
    struct leaf *l = a->slots[p->leaf].leaf, *right;
    bool appends = p->leaf + 1 == a->n && p->row == l->n;
    uint32_t keep = appends ? l->n - 1 : l->n / 2;
    struct slot *behind;

    right = slots_grow(a) ? leaf_new(LEAF_MAX) : NULL;
    if (!right)
        return false;
    right->n = l->n - keep;
    memcpy(right->rows, &l->rows[keep], right->n * sizeof *right->rows);
    l->n = keep;
    behind = &a->slots[p->leaf + 1];
    memmove(behind + 1, behind, (a->n - p->leaf - 1) * sizeof *behind);
    *behind = (struct slot){right->rows[0].begin, right};
    a->n++;
    if (p->row >= keep)
        *p = (struct place){p->leaf + 1, p->row - keep};
    return true;
}

/* Makes room for two more ranges in the leaf of *p. False: no memory, nothing has changed. */
bool mem_area_make_room(struct area *a, struct place *p)
{
    const struct leaf *l = a->slots[p->leaf].leaf;

    if (l->n + 2 <= l->cap)
        return true;
    return l->cap < LEAF_MAX ? leaf_grow(&a->slots[p->leaf]) : leaf_split(a, p);
}

static void leaf_insert(struct leaf *l, uint32_t row, const struct range *r)
{
    memmove(&l->rows[row + 1], &l->rows[row], (l->n - row) * sizeof *l->rows);
    l->rows[row] = *r;
    l->n++;
}

/* Cuts the part before `begin` off the range. */
static void range_begin_at(struct range *r, uint64_t begin)
{
    r->part.offset += begin - r->begin;
    r->begin = begin;
}

/* Takes [begin, end) out of the range at `row`; a rest behind `end` becomes a range of its own. */
static void range_part(struct leaf *l, uint32_t row, uint64_t begin, uint64_t end)
{
    struct range behind = l->rows[row];

    l->rows[row].end = begin;
    if (behind.end <= end)
        return;
    range_begin_at(&behind, end);
    version_keep(behind.part.v);
    leaf_insert(l, row + 1, &behind);
}

/* Drops all before `end` from the ranges of a leaf, from row `row` on. */
static void leaf_drop(struct leaf *l, uint32_t row, uint64_t end)
{
    uint32_t i = row;

    while (i < l->n && l->rows[i].end <= end)
        version_drop(l->rows[i++].part.v);
    memmove(&l->rows[row], &l->rows[i], (l->n - i) * sizeof *l->rows);
    l->n -= i - row;
    if (row < l->n && l->rows[row].begin < end)
        range_begin_at(&l->rows[row], end);
}

/* The same in all leaves after number `leaf`; removes those that become empty. */
static void leaves_drop(struct area *a, uint32_t leaf, uint64_t end)
{
    uint32_t first = leaf + 1, i = first;

    for (; i < a->n; i++) {
        struct leaf *l = a->slots[i].leaf;

        if (l->rows[l->n - 1].end > end)
            break;
        leaf_free(l);
    }
    memmove(&a->slots[first], &a->slots[i], (a->n - i) * sizeof *a->slots);
    a->n -= i - first;
    if (first < a->n && a->slots[first].begin < end) {
        leaf_drop(a->slots[first].leaf, 0, end);
        a->slots[first].begin = a->slots[first].leaf->rows[0].begin;
    }
}

/*
 * Inserts `r` at `p`, whose leaf has room for two, in place of all that it overlaps. For example,
 * [128, 384) is written over [0, 256) and [256, 512). range_part() lets [0, 256) end at 128; had it
 * gone on behind 384, its rest would be a range, too. leaf_drop() lets [256, 512) begin at 384, and
 * drops ranges that end before that. leaves_drop() does the same in the next leaves, if all the
 * rest of this one was dropped. leaf_insert() makes it [0, 128), [128, 384), [384, 512).
 */
static void area_put(struct area *a, struct place p, const struct range *r)
{
    struct leaf *l = a->slots[p.leaf].leaf;

    if (p.row < l->n && l->rows[p.row].begin < r->begin)
        range_part(l, p.row++, r->begin, r->end);
    leaf_drop(l, p.row, r->end);
    if (p.row == l->n)
        leaves_drop(a, p.leaf, r->end);
    leaf_insert(l, p.row, r);
    if (p.row == 0)
        a->slots[p.leaf].begin = r->begin;
    a->hint = p;
}

/* False: no memory, nothing has changed. */
bool mem_area_write(struct area *a, const struct range *new)
{
    struct place p = find_near(a, new->begin);
    struct range *r = range_at(a, p);

    if (r && r->begin == new->begin && r->end == new->end) {
        struct version *old = r->part.v;

        *r = *new;
        version_keep(r->part.v);
        version_drop(old);
        return true;
    }
    if (!mem_area_make_room(a, &p))
        return false;
    version_keep(new->part.v);
    area_put(a, p, new);
    return true;
}
