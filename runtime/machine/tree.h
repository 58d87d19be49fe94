/*
 * tree.h -- the ways of a multicast laid over each other: links that several share are one.
 *
 * Ways are added one by one, each from its first link on. As long as a way goes over links that one
 * before it has gone over in the same order, it shares them; from the first that none has, all are
 * its own. So the links of all ways are a tree whose root is the PE. A link that two ways reach by
 * different links is twice in it.
 *
 * Example: ways a b c, a b d e and a d e, by links. The second shares 2, a and b. The third shares
 * a alone: d and e behind a are others than those behind a b.
 */
#ifndef TREE_H
#define TREE_H
#include "machine/walk.h"

/* A link behind another one of the tree. */
struct branch {
    uint64_t behind, link; /* behind: number of a branch, 0 for the root */
    uint64_t number;       /* from 1 on; 0: the place is free */
    uint32_t way;          /* the first that goes over it */
    uint32_t next;         /* links that go on behind it */
};

/* All zero is an empty one. */
struct tree {
    struct branch *places; /* owned; a hash table */
    uint64_t n, bits;
};

/* As if it had no way. */
void tree_clear(struct tree *tree);
void tree_free(struct tree *tree);

/* What a way has in common with those before it. */
struct tree_way {
    uint32_t shared; /* links */
    uint32_t trunk;  /* the way that was first over all of them; shared 0: not set */
};

/* Adds the way of `trip`, which the caller calls `way`. False without memory. */
bool tree_add(struct tree *tree, const struct kb_topology *t, const struct trip *trip, uint32_t way,
              struct tree_way *out);

/* What joining the data of a read takes at the NoCs where the way of `trip` forks; all ways have
 * been added, and it is one of them. */
int64_t tree_joins_fs(struct tree *tree, const struct kb_topology *t, const struct trip *trip);

/* Calls `each` for the first `n` links of a way, in order, with the node before each. */
void tree_walk(const struct kb_topology *t, const struct trip *trip, uint32_t n,
               void (*each)(void *arg, size_t node, size_t link), void *arg);

#endif
