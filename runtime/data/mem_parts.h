/* mem_parts.h -- what the files of the MemoryStore share: versions, and areas of them. */
#ifndef DATA_MEM_PARTS_H
#define DATA_MEM_PARTS_H
#include <assert.h>
#include "data/shared.h"

enum { GATHER_FEW = 16, SMALL_PIECE = 128, SMALL_PIECE_OF_FILL = 16, SHARED_LEAST = 16 };
enum { GATHER_MANY = 1024 };

/* Parts in the order in which they are found; they borrow their versions. */
struct gather {
    size_t n, cap;
    struct piece *list; /* owned once it does not fit into `few` */
    struct piece few[GATHER_FEW];
    uint64_t nbytes;
};

void mem_gather_init(struct gather *g);

/* Room for `n` parts at once, as far as that is sensible; without memory there is less. */
void mem_gather_expect(struct gather *g, size_t n);

void mem_gather_free(struct gather *g);

/* Adds a part that does not continue the one before. False without memory. */
bool mem_gather_append(struct gather *g, struct view part, uint64_t nbytes);

/* False without memory. A part that continues the one before makes it longer. */
static inline bool mem_gather_add(struct gather *g, struct view part, uint64_t nbytes)
{
    struct piece *last = g->n ? &g->list[g->n - 1] : NULL;

    if (!last || last->part.v != part.v || last->part.offset + last->nbytes != part.offset)
        return mem_gather_append(g, part, nbytes);
    last->nbytes += nbytes;
    g->nbytes += nbytes;
    return true;
}

/* A part of a version of pieces may be ready before the whole is: it is better gathered again. */
bool mem_hides_ready(struct version *v, uint64_t nbytes);

/*
 * Makes a view of the gathered parts. Parts of versions of pieces are replaced by those pieces
 * first, and that may show that all are neighbours in one version: a matrix that was cut into rows,
 * gathered and cut again is one view in the end.
 */
enum mem_err mem_gather_finish(const struct gather *g, struct shared *shared, struct view *out);

enum { LEAF_FIRST = 4, LEAF_MAX = 64, SLOTS_FIRST = 2 };

/* [begin, end) is a part of a version. */
struct range {
    uint64_t begin, end;
    struct view part; /* owned */
    uint32_t writer;
};

struct leaf {
    uint32_t n, cap;
    struct range rows[]; /* in order; none overlap */
};

struct slot {
    uint64_t begin;    /* of the leaf's first range */
    struct leaf *leaf; /* owned; not empty, unless it is alone */
};

struct place {
    uint32_t leaf, row;
};

struct area {
    struct slot *slots; /* owned */
    uint32_t n, cap;
    struct place hint; /* where a range was last found; may be out of date */
};

/* The last leaf that begins at `address` or before; else the first. */
static inline uint32_t find_leaf(const struct area *a, uint64_t address)
{
    uint32_t first = 0, n = a->n;

    while (n > 1) {
        uint32_t half = n / 2;

        if (a->slots[first + half].begin <= address) {
            first += half;
            n -= half;
        } else {
            n = half;
        }
    }
    return first;
}

/* The first range of that leaf which ends after `address`; one past its last if none does. */
static inline struct place find(const struct area *a, uint64_t address)
{
    struct place p = {find_leaf(a, address), 0};
    const struct leaf *l = a->slots[p.leaf].leaf;
    uint32_t n = l->n;

    while (n) {
        uint32_t half = n / 2;

        if (l->rows[p.row + half].end <= address) {
            p.row += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return p;
}

/* NULL: there is none at this place. */
static inline struct range *range_at(const struct area *a, struct place p)
{
    struct leaf *l;

    if (p.leaf >= a->n)
        return NULL;
    l = a->slots[p.leaf].leaf;
    return p.row < l->n ? &l->rows[p.row] : NULL;
}

/* The same; a place behind the last range of a leaf becomes the first of the next leaf. */
static inline struct range *range_from(const struct area *a, struct place *p)
{
    if (p->leaf < a->n && p->row >= a->slots[p->leaf].leaf->n)
        *p = (struct place){p->leaf + 1, 0};
    return range_at(a, *p);
}

/* As find(), but tries the place of the last hit first, and the one behind it. */
static inline struct place find_near(struct area *a, uint64_t address)
{
    struct place p = a->hint;

    for (int i = 0; i < 2; i++, p.row++) {
        const struct range *r = range_at(a, p);

        if (r && r->begin <= address && address < r->end)
            return a->hint = p;
    }
    return a->hint = find(a, address);
}

/* An area without ranges; NULL without memory. */
struct area *mem_area_new(void);

/* NULL: does nothing. */
void mem_area_free(struct area *a);

/* Makes room for two ranges at `p`, which may become another place. False without memory. */
bool mem_area_make_room(struct area *a, struct place *p);

/* Writes over all that the range overlaps. False without memory: nothing has changed. */
bool mem_area_write(struct area *a, const struct range *r);

/* Gathers the parts that [begin, end) holds. */
enum mem_err mem_area_gather(struct area *a, uint64_t begin, uint64_t end, struct gather *g,
                             struct op_ids *writers, uint64_t absent[2]);

#endif
