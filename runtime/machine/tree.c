/* tree.c -- the ways of a multicast laid over each other. */
#include "machine/tree.h"
#include <stdlib.h>
#include <string.h>

/* -- ways ------------------------------------------------------------------------------------- */

void tree_walk(const struct kb_topology *t, const struct trip *trip, uint32_t n,
               void (*each)(void *arg, size_t node, size_t link), void *arg)
{
    for (struct route_at at = walk_begin(t, trip);; at = walk_next(t, trip, at)) {
        const struct segment_row *seg = walk_segment(t, at);

        for (uint32_t i = 0; i < seg->n_hops && n > 0; i++, n--) {
            const struct hop_row *hop = &t->hops[seg->first_hop + i];
            const struct walk_edge edge = {hop->owner, hop->back, hop->link};

            if (hop->owner == LINK_NONE)
                return;
            each(arg, walk_node(t, hop, at.cube, trip), walk_link(t, edge, at.cube, trip));
        }
        if (n == 0)
            return; /* the last segment has none behind it */
    }
}

/* -- the table -------------------------------------------------------------------------------- */

static struct branch *place_of(const struct tree *tree, uint64_t behind, uint64_t link)
{
    const uint64_t mask = (UINT64_C(1) << tree->bits) - 1;
    uint64_t i = (behind * UINT64_C(0x9e3779b97f4a7c15) ^ link) * UINT64_C(0xd6e8feb86659fd93);

    for (i >>= 64 - tree->bits;; i = (i + 1) & mask) {
        struct branch *place = &tree->places[i];

        if (!place->number || (place->behind == behind && place->link == link))
            return place;
    }
}

/* Twice the room. */
static bool grow(struct tree *tree)
{
    enum { FIRST_BITS = 6 };
    struct tree old = *tree;

    tree->bits = old.places ? old.bits + 1 : FIRST_BITS;
    tree->places = calloc(UINT64_C(1) << tree->bits, sizeof *tree->places);
    if (!tree->places) {
        *tree = old;
        return false;
    }
    for (uint64_t i = 0; old.places && i < UINT64_C(1) << old.bits; i++)
        if (old.places[i].number)
            *place_of(tree, old.places[i].behind, old.places[i].link) = old.places[i];
    free(old.places);
    return true;
}

void tree_clear(struct tree *tree)
{
    if (tree->n)
        memset(tree->places, 0, sizeof *tree->places << tree->bits);
    tree->n = 0;
}

void tree_free(struct tree *tree)
{
    free(tree->places);
}

/* -- adding ----------------------------------------------------------------------------------- */

/* A way that is being added. */
struct adding {
    struct tree *tree;
    struct tree_way *out;
    uint64_t at;           /* the branch where it is */
    uint64_t behind, link; /* of that */
    uint32_t way;
    bool lost;
};

/* It goes on by `link`. */
static void go_by(struct adding *a, uint64_t link, uint64_t number)
{
    a->behind = a->at;
    a->link = link;
    a->at = number;
}

static void add_link(void *arg, size_t node, size_t link)
{
    struct adding *a = arg;
    struct tree *tree = a->tree;
    struct branch *place;

    (void)node;
    if (!tree->places || 2 * tree->n >= UINT64_C(1) << tree->bits)
        a->lost = a->lost || !grow(tree);
    if (a->lost)
        return;
    place = place_of(tree, a->at, link);
    if (place->number) {
        *a->out = (struct tree_way){a->out->shared + 1, place->way};
    } else {
        *place = (struct branch){a->at, link, ++tree->n, a->way, 0};
        if (a->at)
            place_of(tree, a->behind, a->link)->next++;
    }
    go_by(a, link, place->number);
}

bool tree_add(struct tree *tree, const struct kb_topology *t, const struct trip *trip, uint32_t way,
              struct tree_way *out)
{
    struct adding a = {.tree = tree, .out = out, .way = way};

    *out = (struct tree_way){0};
    tree_walk(t, trip, UINT32_MAX, add_link, &a);
    return !a.lost;
}

/* -- forks ------------------------------------------------------------------------------------ */

/* A way that is walked again. */
struct joining {
    struct adding way;
    const struct kb_topology *t;
    int64_t fs;
};

static void pass_link(void *arg, size_t node, size_t link)
{
    struct joining *j = arg;
    struct adding *a = &j->way;
    enum node_kind kind = (enum node_kind)walk_node_row(j->t, node)->kind;

    if (a->at && (kind == NODE_NOC || kind == NODE_ROUTER) &&
        place_of(a->tree, a->behind, a->link)->next > 1)
        j->fs += kind_at(j->t, (uint32_t)(node / walk_cube_nodes(j->t)))->reduce_fs;
    go_by(a, link, place_of(a->tree, a->at, link)->number);
}

int64_t tree_joins_fs(struct tree *tree, const struct kb_topology *t, const struct trip *trip)
{
    struct joining j = {{.tree = tree}, t, 0};

    tree_walk(t, trip, UINT32_MAX, pass_link, &j);
    return j.fs;
}
