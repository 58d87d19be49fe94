/* vclock.c -- vector clocks: a count for each PE, in trees that share equal parts.
 *
 * An array of counts for each of 8192 PEs would take 256 MiB. But most PEs have seen almost the
 * same: what the last barrier gave to all of them. So a vector clock is a tree of nodes with 16
 * entries, counts at level 0 and children above, and nodes are reference-counted and shared. 64 PEs
 * need level 1, a root with 4 leaves; 8192 PEs level 3.
 *
 * A shared node does not change. vclock_set() copies the nodes on the way to one count, if they are
 * shared: 2 for 64 PEs. vclock_join() compares node by node: equal pointers are equal parts, and if
 * one of both nodes has all the larger counts, it is taken as it is. So after a barrier all members
 * have the same root, and a join of two of them later visits only the parts that differ.
 *
 * Invariants: all vector clocks of a run have one level; a part of all zeros is NULL, and a NULL
 * vector clock is zero everywhere.
 */
#include "record/vclock.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { WAY_BITS = 4, WAYS = 1 << WAY_BITS };

struct vclock {
    uint32_t refs, level;
    union {
        uint32_t count[WAYS];      /* level 0 */
        struct vclock *part[WAYS]; /* owned; NULL: all zeros */
    };
};

uint32_t vclock_level(uint32_t n)
{
    uint32_t level = 0;

    while (n > WAYS) {
        n = (n + WAYS - 1) / WAYS;
        level++;
    }
    return level;
}

static uint32_t way_of(uint32_t level, uint32_t pe)
{
    return pe >> (WAY_BITS * level) & (WAYS - 1);
}

uint32_t vclock_of(const struct vclock *c, uint32_t pe)
{
    while (c && c->level)
        c = c->part[way_of(c->level, pe)];
    return c ? c->count[way_of(0, pe)] : 0;
}

struct vclock *vclock_keep(struct vclock *c)
{
    if (c)
        c->refs++;
    return c;
}

void vclock_drop(struct vclock *c)
{
    if (!c || --c->refs)
        return;
    for (int i = 0; c->level && i < WAYS; i++)
        vclock_drop(c->part[i]);
    free(c);
}

/* All zeros; NULL: no memory. */
static struct vclock *node_new(uint32_t level)
{
    size_t ways = level ? sizeof(struct vclock *[WAYS]) : sizeof(uint32_t[WAYS]);
    struct vclock *c = calloc(1, offsetof(struct vclock, count) + ways);

    if (c) {
        c->refs = 1;
        c->level = level;
    }
    return c;
}

/* Copies *c if it is shared, so that it may be changed. */
static bool make_own(struct vclock **c)
{
    struct vclock *old = *c, *copy;

    if (old->refs == 1)
        return true;
    copy = node_new(old->level);
    if (!copy)
        return false;
    if (old->level)
        for (int i = 0; i < WAYS; i++)
            copy->part[i] = vclock_keep(old->part[i]);
    else
        memcpy(copy->count, old->count, sizeof copy->count);
    vclock_drop(old);
    *c = copy;
    return true;
}

bool vclock_set(struct vclock **c, uint32_t level, uint32_t pe, uint32_t count)
{
    if (!*c)
        *c = node_new(level);
    if (!*c || !make_own(c))
        return false;
    if (level)
        return vclock_set(&(*c)->part[way_of(level, pe)], level - 1, pe, count);
    (*c)->count[way_of(0, pe)] = count;
    return true;
}

static bool covers(const struct vclock *a, const struct vclock *b)
{
    for (int i = 0; i < WAYS; i++)
        if (a->count[i] < b->count[i])
            return false;
    return true;
}

static void replace(struct vclock **c, struct vclock *by)
{
    vclock_keep(by);
    vclock_drop(*c);
    *c = by;
}

static bool join_counts(struct vclock **c, struct vclock *other)
{
    if (covers(*c, other))
        return true;
    if (covers(other, *c)) {
        replace(c, other);
        return true;
    }
    if (!make_own(c))
        return false;
    for (int i = 0; i < WAYS; i++)
        if ((*c)->count[i] < other->count[i])
            (*c)->count[i] = other->count[i];
    return true;
}

/* If one of both is the join already, it is used as it is: equal parts stay shared. */
static bool join_parts(struct vclock **c, struct vclock *other)
{
    struct vclock *part[WAYS];
    bool ok = true, is_c = true, is_other = true;

    for (int i = 0; i < WAYS; i++) {
        part[i] = vclock_keep((*c)->part[i]);
        ok = ok && vclock_join(&part[i], other->part[i]);
        is_c = is_c && part[i] == (*c)->part[i];
        is_other = is_other && part[i] == other->part[i];
    }
    if (ok && !is_c && is_other)
        replace(c, other);
    ok = ok && (is_c || is_other || make_own(c));
    for (int i = 0; i < WAYS; i++) {
        if (ok && !is_c && !is_other)
            replace(&(*c)->part[i], part[i]);
        vclock_drop(part[i]);
    }
    return ok;
}

bool vclock_join(struct vclock **c, struct vclock *other)
{
    if (!other || *c == other)
        return true;
    if (!*c) {
        *c = vclock_keep(other);
        return true;
    }
    return other->level ? join_parts(c, other) : join_counts(c, other);
}
