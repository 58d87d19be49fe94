/* mem.c -- the MemoryStore: versions of bytes, and for each memory a map from ranges to them.
 *
 * While kernels run, most bytes are not known: results are computed in Phase 2, after the run. And
 * a load must keep the bytes that it saw, whatever is stored there later. So the store copies no
 * bytes. It keeps *versions*, which never change, and for each memory (*area*) a map from ranges of
 * addresses to parts of versions (*views*). A store changes the map; a load takes a reference. This
 * is register renaming, for bytes: only true dependencies are left.
 *
 * A version is known bytes, or the pending result of an operation, or *pieces*: parts of other
 * versions that a load found side by side. Known bytes need not exist yet: those of a *fill* are a
 * function of a seed, and are made when something first asks for them by version_bytes(). A run
 * without Phase 2, whose kernels look at no data, makes none: `run gemm M=2048 N=2048 K=2048
 * dtype=f32` would spend more than half of its time on 32 MiB of inputs that it never reads.
 *
 * Example. Op 3 makes a result A of 256 bytes, op 7 a result B of 256 bytes.
 *   store A at 0       [0, 256) -> A from 0
 *   store B at 128     [0, 128) -> A from 0,  [128, 384) -> B from 0
 *   load 64 at 32      a view: A from 32. No new version; the load depends on op 3.
 *   load 256 at 64     pieces: 64 bytes of A from 64, then 192 of B from 0. It depends on 3 and 7.
 *   store C at 0, 384  [0, 384) -> C. Both loads keep what they saw: A and B live on in them.
 *
 * Invariants:
 *   - Pieces are flat: no piece is itself a part of a version of pieces (gather_flat()). So a
 *     version is ready if all its pieces are, and no join of graph.c waits for another join.
 *   - Of equal pieces there is one version, unless they are few (shared.c).
 *   - Parts that continue each other are one part (gather_add()): a matrix that was stored in rows
 *     and is loaded as a whole becomes one view again.
 *   - Ranges of an area are sorted, do not overlap, and are never empty.
 *   - Reference counts are not atomic: Phase 2 changes them under its lock.
 *   - Phase 2 finds no fill that is not made: they are made at once, or before it begins (host.c).
 *
 * The map is a sorted array of leaves, each a sorted array of at most 64 ranges: two binary
 * searches. Kernels mostly go on where they were, so the last place that was found is tried first,
 * and the one behind it (find_near()). A write over exactly one range, the most frequent, replaces
 * its view in place. A leaf that is only appended to is split at its end, so that it stays full.
 *
 * A load that reads what its PE has read before need not look at all (mem_read_again()): the reader
 * keeps the view, and the memory counts its changes. One that was made of pieces is not kept, for
 * it may be gathered better once they are ready.
 *
 * Small pieces of known bytes are copied into a new version (version_of_flat()): a piece takes 32
 * bytes, so for elements of 4 bytes the pieces would take eight times their bytes. Of a fill that
 * is not made only the smallest are, since that makes all of it.
 */
#include "data/mem.h"
#include "data/shared.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* -- versions ------------------------------------------------------------------------------- */

static struct version *version_new(enum version_kind kind, uint64_t nbytes)
{
    struct version *v = calloc(1, sizeof *v);

    if (!v)
        return NULL;
    v->refs = 1;
    v->kind = (uint8_t)kind;
    v->op = OP_NONE;
    v->nbytes = nbytes;
    return v;
}

struct version *version_new_bytes(uint64_t nbytes)
{
    struct version *v = version_new(VERSION_BYTES, nbytes);

    if (!v)
        return NULL;
    v->ready = true;
    v->bytes = malloc(nbytes);
    if (v->bytes)
        return v;
    free(v);
    return NULL;
}

struct version *version_new_fill(uint64_t nbytes, struct version_fill *fill, uint32_t number)
{
    struct version *v = version_new(VERSION_FILL, nbytes);

    if (!v)
        return NULL;
    v->ready = true;
    v->fill = fill;
    v->number = number;
    return v;
}

struct version *version_new_result(uint64_t nbytes, uint32_t op)
{
    struct version *v = version_new(VERSION_RESULT, nbytes);

    if (v)
        v->op = op;
    return v;
}

void version_end(struct version *v)
{
    if (v->kind == VERSION_FILL)
        v->fill->forget(v->fill, v->number);
    if (v->shared)
        shared_remove(v);
    for (uint32_t i = 0; v->kind == VERSION_PIECES && i < v->n_pieces; i++)
        version_drop(v->pieces[i].part.v);
    if (v->packed)
        v->packed->free(v->packed);
    if (v->kind == VERSION_PIECES)
        free(v->pieces);
    free(v->bytes);
    free(v);
}

bool version_ready(struct version *v)
{
    if (v->ready || v->kind != VERSION_PIECES)
        return v->ready;
    for (uint32_t i = 0; i < v->n_pieces; i++)
        if (!v->pieces[i].part.v->ready)
            return false;
    return v->ready = true;
}

void version_set_bytes(struct version *v, unsigned char *bytes)
{
    assert((v->kind == VERSION_RESULT || v->kind == VERSION_FILL) && !v->bytes);
    v->bytes = bytes;
    v->ready = true;
    if (v->kind == VERSION_FILL)
        v->kind = VERSION_BYTES;
}

/* Copies all pieces, which are ready, side by side. False without memory. */
static bool copy_pieces(unsigned char *to, const struct piece *pieces, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assert(pieces[i].part.v->ready);
        const unsigned char *from = version_bytes(pieces[i].part.v);

        if (!from)
            return false;
        memcpy(to, from + pieces[i].part.offset, pieces[i].nbytes);
        to += pieces[i].nbytes;
    }
    return true;
}

const unsigned char *version_bytes(struct version *v)
{
    unsigned char *bytes;

    assert(v->bytes || v->kind == VERSION_PIECES || v->kind == VERSION_FILL);
    if (v->bytes)
        return v->bytes;
    if (v->kind == VERSION_FILL)
        return v->fill->make(v->fill) ? v->bytes : NULL;
    bytes = malloc(v->nbytes);
    if (bytes && copy_pieces(bytes, v->pieces, v->n_pieces))
        return v->bytes = bytes;
    free(bytes);
    return NULL;
}

/* -- gathering ------------------------------------------------------------------------------ */

enum { GATHER_FEW = 16, SMALL_PIECE = 128, SMALL_PIECE_OF_FILL = 16, SHARED_LEAST = 16 };

/* Parts in the order in which they are found; they borrow their versions. */
struct gather {
    size_t n, cap;
    struct piece *list; /* owned once it does not fit into `few` */
    struct piece few[GATHER_FEW];
    uint64_t nbytes;
};

static void gather_init(struct gather *g)
{
    g->n = 0;
    g->nbytes = 0;
    g->cap = GATHER_FEW;
    g->list = g->few;
}

static void gather_free(struct gather *g)
{
    if (g->list != g->few)
        free(g->list);
}

static bool gather_grow(struct gather *g)
{
    size_t cap = 2 * g->cap;
    struct piece *moved;

    if (g->n >= UINT32_MAX)
        return false;
    moved = realloc(g->list == g->few ? NULL : g->list, cap * sizeof *moved);
    if (!moved)
        return false;
    if (g->list == g->few)
        memcpy(moved, g->few, sizeof g->few);
    g->list = moved;
    g->cap = cap;
    return true;
}

/* Adds a part that does not continue the one before. False without memory. */
static bool gather_append(struct gather *g, struct view part, uint64_t nbytes)
{
    if (g->n == g->cap && !gather_grow(g))
        return false;
    g->list[g->n++] = (struct piece){part, nbytes, g->nbytes};
    g->nbytes += nbytes;
    return true;
}

/* False without memory. A part that continues the one before makes it longer. */
static bool gather_add(struct gather *g, struct view part, uint64_t nbytes)
{
    struct piece *last = g->n ? &g->list[g->n - 1] : NULL;

    if (!last || last->part.v != part.v || last->part.offset + last->nbytes != part.offset)
        return gather_append(g, part, nbytes);
    last->nbytes += nbytes;
    g->nbytes += nbytes;
    return true;
}

/* The number of the piece of `v` in which byte `offset` lies. */
static uint32_t piece_at(const struct version *v, uint64_t offset)
{
    uint32_t first = 0, n = v->n_pieces;

    while (n > 1) {
        uint32_t half = n / 2;

        if (v->pieces[first + half].at <= offset) {
            first += half;
            n -= half;
        } else {
            n = half;
        }
    }
    return first;
}

/* The pieces that a part of a version of pieces is made of. Only the first may continue what is
 * there: those of one version do not continue each other. */
static bool gather_pieces(struct gather *g, struct view part, uint64_t nbytes)
{
    const struct piece *first = &part.v->pieces[piece_at(part.v, part.offset)], *piece = first;

    for (; nbytes; piece++) {
        uint64_t skip = part.offset - piece->at, n = piece->nbytes - skip;
        struct view from = {piece->part.v, piece->part.offset + skip};

        if (n > nbytes)
            n = nbytes;
        if (!(piece == first ? gather_add(g, from, n) : gather_append(g, from, n)))
            return false;
        part.offset += n;
        nbytes -= n;
    }
    return true;
}

/* The same parts, with pieces in place of each part of a version of pieces. */
static bool gather_flat(struct gather *flat, const struct gather *g)
{
    bool ok = true;

    for (size_t i = 0; ok && i < g->n; i++) {
        const struct piece *p = &g->list[i];

        if (p->part.v->kind == VERSION_PIECES)
            ok = gather_pieces(flat, p->part, p->nbytes);
        else
            ok = gather_add(flat, p->part, p->nbytes);
    }
    return ok;
}

static bool all_ready(const struct gather *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (!g->list[i].part.v->ready)
            return false;
    return true;
}

static struct version *version_new_pieces(const struct gather *g)
{
    struct version *v = version_new(VERSION_PIECES, g->nbytes);

    if (!v)
        return NULL;
    v->pieces = malloc(g->n * sizeof *v->pieces);
    if (!v->pieces) {
        free(v);
        return NULL;
    }
    memcpy(v->pieces, g->list, g->n * sizeof *v->pieces);
    v->n_pieces = (uint32_t)g->n;
    v->ready = all_ready(g);
    for (size_t i = 0; i < g->n; i++)
        version_keep(g->list[i].part.v);
    return v;
}

/* Pieces of fewer bytes, in the mean, are copied. */
static uint64_t small_piece(const struct gather *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->list[i].part.v->kind == VERSION_FILL)
            return SMALL_PIECE_OF_FILL;
    return SMALL_PIECE;
}

/* The version of these pieces: another reader's, if that has gathered the same. A short list takes
 * less than it would to find it again. */
static struct version *version_of_pieces(const struct gather *g, struct shared *shared)
{
    bool is_long = g->n >= SHARED_LEAST;
    struct version *v = is_long ? shared_find(shared, g->list, (uint32_t)g->n) : NULL;

    if (v)
        return version_keep(v);
    v = version_new_pieces(g);
    if (!v || !is_long || shared_add(shared, v))
        return v;
    version_drop(v);
    return NULL;
}

/* The parts as a version. Small pieces of known bytes are copied, which takes less memory. */
static struct version *version_of_flat(const struct gather *g, struct shared *shared)
{
    struct version *v;

    if (!all_ready(g) || g->nbytes > g->n * small_piece(g))
        return version_of_pieces(g, shared);
    v = version_new_bytes(g->nbytes);
    if (!v || copy_pieces(v->bytes, g->list, g->n))
        return v;
    version_drop(v);
    return NULL;
}

/* A part of a version of pieces may be ready before the whole is: it is better gathered again. */
static bool hides_ready(struct version *v, uint64_t nbytes)
{
    return v->kind == VERSION_PIECES && nbytes < v->nbytes && !version_ready(v);
}

/* One part needs no version of its own: a view of its version is enough. */
static bool is_one_view(const struct gather *g, struct view *out)
{
    if (g->n != 1 || hides_ready(g->list[0].part.v, g->nbytes))
        return false;
    *out = g->list[0].part;
    version_keep(out->v);
    return true;
}

/*
 * Makes a view of the gathered parts. Parts of versions of pieces are replaced by those pieces
 * first, and that may show that all are neighbours in one version: a matrix that was cut into rows,
 * gathered and cut again is one view in the end.
 */
static enum mem_err gather_finish(const struct gather *g, struct shared *shared, struct view *out)
{
    struct gather flat;
    bool ok;

    if (is_one_view(g, out))
        return MEM_OK;
    gather_init(&flat);
    ok = gather_flat(&flat, g);
    if (ok && !is_one_view(&flat, out)) {
        *out = (struct view){version_of_flat(&flat, shared), 0};
        ok = out->v;
    }
    gather_free(&flat);
    return ok ? MEM_OK : MEM_NO_MEMORY;
}

/* -- writers -------------------------------------------------------------------------------- */

static bool op_ids_grow(struct op_ids *set)
{
    uint32_t few = sizeof set->few / sizeof *set->few;
    uint32_t cap = set->ids ? 2 * set->cap : 4 * few;
    uint32_t *moved = realloc(set->ids, cap * sizeof *moved);

    if (!moved)
        return false;
    if (!set->ids)
        memcpy(moved, set->few, sizeof set->few);
    set->ids = moved;
    set->cap = cap;
    return true;
}

/* The index of `id` in the set, or where it belongs. */
static uint32_t op_ids_find(const struct op_ids *set, uint32_t id)
{
    const uint32_t *ids = op_ids_list(set);
    uint32_t first = 0, n = set->n;

    if (n && ids[n - 1] < id) /* mostly they are added in order */
        return n;
    while (n) {
        uint32_t half = n / 2;

        if (ids[first + half] < id) {
            first += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return first;
}

bool op_ids_add(struct op_ids *set, uint32_t id)
{
    uint32_t i, few = sizeof set->few / sizeof *set->few;
    uint32_t *ids;

    if (id == OP_NONE)
        return true;
    i = op_ids_find(set, id);
    if (i < set->n && op_ids_list(set)[i] == id)
        return true;
    if (set->n == (set->ids ? set->cap : few) && !op_ids_grow(set))
        return false;
    ids = set->ids ? set->ids : set->few;
    memmove(&ids[i + 1], &ids[i], (set->n - i) * sizeof *ids);
    ids[i] = id;
    set->n++;
    return true;
}

void op_ids_clear(struct op_ids *set)
{
    free(set->ids);
    *set = (struct op_ids){0};
}

/* -- areas: sorted ranges in leaves, the leaves in a sorted directory ----------------------- */

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

static void area_free(struct area *a)
{
    if (!a)
        return;
    for (uint32_t i = 0; i < a->n; i++)
        leaf_free(a->slots[i].leaf);
    free(a->slots);
    free(a);
}

/* An area with one leaf; only a single leaf may be empty. */
static struct area *area_new(void)
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
    area_free(a);
    return NULL;
}

/* The last leaf that begins at `address` or before; else the first. */
static uint32_t find_leaf(const struct area *a, uint64_t address)
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
static struct place find(const struct area *a, uint64_t address)
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
static bool make_room(struct area *a, struct place *p)
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
 * if [128, 384) is written over [0, 256) and [256, 512): range_part()   [0, 256) ends at 128. (If
 * it went on behind 384, its rest would be a range, too.) leaf_drop()    [256, 512) begins at 384;
 * ranges that end before that are dropped leaves_drop()  the same in the next leaves, if all the
 * rest of this one was dropped leaf_insert()  [0, 128), [128, 384), [384, 512)
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
static bool area_write(struct area *a, const struct range *new)
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
    if (!make_room(a, &p))
        return false;
    version_keep(new->part.v);
    area_put(a, p, new);
    return true;
}

/* -- reading -------------------------------------------------------------------------------- */

/* Gathers the parts that [begin, end) holds. */
static enum mem_err area_gather(struct area *a, uint64_t begin, uint64_t end, struct gather *g,
                                struct op_ids *writers, uint64_t absent[2])
{
    struct place p = find_near(a, begin);

    for (; begin < end; p.row++) {
        const struct range *r = range_from(a, &p);
        uint64_t stop = r && r->end < end ? r->end : end;

        if (!r || r->begin > begin) {
            absent[0] = begin;
            absent[1] = r && r->begin < end ? r->begin : end;
            return MEM_ABSENT;
        }
        if (!gather_add(g, (struct view){r->part.v, r->part.offset + (begin - r->begin)},
                        stop - begin) ||
            (writers && !op_ids_add(writers, r->writer)))
            return MEM_NO_MEMORY;
        a->hint = p;
        begin = stop;
    }
    return MEM_OK;
}

/* -- memories ------------------------------------------------------------------------------- */

struct memory {
    struct area *area; /* owned; NULL: nothing written */
    uint64_t changes;  /* how often it was written or cleared */
};

struct mem {
    uint32_t n_areas, first_space;
    struct memory *areas; /* owned */
    char **names;         /* owned, also each name; of areas from first_space on */
    struct shared *shared;
};

struct mem *mem_new(uint32_t n_areas)
{
    struct mem *m = calloc(1, sizeof *m);

    if (!m)
        return NULL;
    m->n_areas = m->first_space = n_areas;
    m->areas = calloc(n_areas ? n_areas : 1, sizeof *m->areas);
    m->shared = shared_new();
    if (m->areas && m->shared)
        return m;
    shared_release(m->shared);
    free(m->areas);
    free(m);
    return NULL;
}

void mem_free(struct mem *m)
{
    if (!m)
        return;
    for (uint32_t i = 0; i < m->n_areas; i++)
        area_free(m->areas[i].area);
    for (uint32_t i = m->first_space; i < m->n_areas; i++)
        free(m->names[i - m->first_space]);
    free(m->names);
    free(m->areas);
    shared_release(m->shared);
    free(m);
}

void mem_clear(struct mem *m, uint32_t area)
{
    area_free(m->areas[area].area);
    m->areas[area].area = NULL;
    m->areas[area].changes++;
}

/* Room for the area and the name of one more space. */
static bool spaces_grow(struct mem *m)
{
    size_t spaces = m->n_areas - m->first_space;
    struct memory *areas = realloc(m->areas, (m->n_areas + (size_t)1) * sizeof *areas);
    char **names;

    if (!areas)
        return false;
    m->areas = areas;
    names = realloc(m->names, (spaces + 1) * sizeof *names);
    if (names)
        m->names = names;
    return names;
}

uint32_t mem_space(struct mem *m, const char *name)
{
    uint32_t i = m->first_space;
    size_t nbytes = strlen(name) + 1;
    char *copy;

    while (i < m->n_areas && strcmp(m->names[i - m->first_space], name) != 0)
        i++;
    if (i < m->n_areas)
        return i;
    copy = spaces_grow(m) ? malloc(nbytes) : NULL;
    if (!copy)
        return UINT32_MAX;
    m->names[i - m->first_space] = memcpy(copy, name, nbytes);
    m->areas[i] = (struct memory){0};
    m->n_areas++;
    return i;
}

/* The area, made if there is none; NULL without memory. */
static struct area *area_to_write(struct mem *m, uint32_t area)
{
    assert(area < m->n_areas);
    if (!m->areas[area].area)
        m->areas[area].area = area_new();
    return m->areas[area].area;
}

enum mem_err mem_reserve(struct mem *m, uint32_t area, uint64_t address)
{
    struct area *a = area_to_write(m, area);
    struct place p;

    if (!a)
        return MEM_NO_MEMORY;
    p = find(a, address);
    return make_room(a, &p) ? MEM_OK : MEM_NO_MEMORY;
}

enum mem_err mem_write(struct mem *m, uint32_t area, uint64_t address, uint64_t nbytes,
                       struct view from, uint32_t writer)
{
    struct range r = {address, address + nbytes, from, writer};
    struct area *a = area_to_write(m, area);

    assert(nbytes && nbytes <= UINT64_MAX - address);
    assert(from.offset <= from.v->nbytes && nbytes <= from.v->nbytes - from.offset);
    m->areas[area].changes++;
    return a && area_write(a, &r) ? MEM_OK : MEM_NO_MEMORY;
}

/* Reads [begin, end) if one range holds all of it. */
static bool read_one(struct area *a, uint64_t begin, uint64_t end, struct view *out,
                     uint32_t *writer)
{
    const struct range *r = range_at(a, find_near(a, begin));

    if (!r || r->begin > begin || r->end < end)
        return false;
    *out = (struct view){version_keep(r->part.v), r->part.offset + (begin - r->begin)};
    *writer = r->writer;
    return true;
}

/*
 * Strided elements as contiguous runs of bytes, in order. The innermost axes without gaps are one
 * run: a block of 16 rows and 32 columns of f16 in a larger matrix is 16 runs of 64 bytes.
 */
struct runs {
    uint64_t address, nbytes; /* of the run */
    uint32_t rank;
    const struct strided *s;
    int64_t at[KB_RANK_MAX];
};

static void runs_init(struct runs *w, uint64_t address, const struct strided *s)
{
    *w = (struct runs){.address = address, .nbytes = s->elem_bytes, .rank = s->rank, .s = s};
    while (w->rank && (s->dim[w->rank - 1] == 1 || s->stride[w->rank - 1] == (int64_t)w->nbytes))
        w->nbytes *= (uint64_t)s->dim[--w->rank];
}

/* False: there are no more. */
static bool runs_next(struct runs *w)
{
    for (uint32_t i = w->rank; i-- > 0;) {
        w->address += (uint64_t)w->s->stride[i];
        if (++w->at[i] < w->s->dim[i])
            return true;
        w->address -= (uint64_t)w->s->stride[i] * (uint64_t)w->s->dim[i];
        w->at[i] = 0;
    }
    return false;
}

/* Gathers all runs, or those before the first that fails. */
static enum mem_err gather_runs(struct area *a, struct runs *w, struct gather *g,
                                struct op_ids *writers, uint64_t absent[2])
{
    enum mem_err err;

    do {
        absent[0] = w->address;
        absent[1] = w->address + w->nbytes;
        if (!a || absent[1] < absent[0])
            return MEM_ABSENT;
        err = area_gather(a, w->address, w->address + w->nbytes, g, writers, absent);
    } while (err == MEM_OK && runs_next(w));
    return err;
}

enum mem_err mem_read_strided(struct mem *m, uint32_t area, uint64_t address,
                              const struct strided *s, struct view *out, struct op_ids *writers,
                              uint64_t absent[2])
{
    struct gather g;
    struct runs w;
    uint64_t missing[2];
    enum mem_err err;

    assert(area < m->n_areas);
    gather_init(&g);
    runs_init(&w, address, s);
    err = gather_runs(m->areas[area].area, &w, &g, writers, missing);
    if (err == MEM_OK)
        err = gather_finish(&g, m->shared, out);
    gather_free(&g);
    if (err == MEM_ABSENT && absent)
        memcpy(absent, missing, sizeof missing);
    return err;
}

/* Reads what lies in several ranges, or is absent; not inline, so that mem_read() stays short. */
static __attribute__((noinline)) enum mem_err read_many(struct mem *m, uint32_t area,
                                                        uint64_t address, uint64_t nbytes,
                                                        struct view *out, struct op_ids *writers,
                                                        uint64_t absent[2])
{
    struct strided whole = {.rank = 1, .elem_bytes = 1, .dim = {(int64_t)nbytes}, .stride = {1}};

    return mem_read_strided(m, area, address, &whole, out, writers, absent);
}

static void drop_view(struct view *view)
{
    version_drop(view->v);
    view->v = NULL; /* the caller may drop it, too */
}

enum mem_err mem_read(struct mem *m, uint32_t area, uint64_t address, uint64_t nbytes,
                      struct view *out, struct op_ids *writers, uint64_t absent[2])
{
    struct area *a;
    uint32_t writer;

    assert(area < m->n_areas && nbytes && nbytes <= INT64_MAX);
    a = m->areas[area].area;
    if (!a || !read_one(a, address, address + nbytes, out, &writer))
        return read_many(m, area, address, nbytes, out, writers, absent);
    if (hides_ready(out->v, nbytes)) {
        drop_view(out);
        return read_many(m, area, address, nbytes, out, writers, absent);
    }
    if (!writers || op_ids_add(writers, writer))
        return MEM_OK;
    drop_view(out);
    return MEM_NO_MEMORY;
}

/* Looks where one range holds all of it, which is not of pieces: those may be gathered better
 * later.
 */
static bool look_again(const struct memory *memory, uint64_t address, uint64_t nbytes,
                       struct mem_again *again)
{
    struct area *a = memory->area;
    const struct range *r = a ? range_at(a, find_near(a, address)) : NULL;

    if (!r || r->begin > address || r->end < address + nbytes || r->part.v->kind == VERSION_PIECES)
        return false;
    again->address = address;
    again->nbytes = nbytes;
    again->changes = memory->changes;
    again->view = (struct view){r->part.v, r->part.offset + (address - r->begin)};
    again->writer = r->writer;
    return true;
}

enum mem_err mem_read_again(struct mem *m, uint32_t area, uint64_t address, uint64_t nbytes,
                            struct mem_again *again, struct view *out, struct op_ids *writers,
                            uint64_t absent[2])
{
    const struct memory *memory = &m->areas[area];
    bool same = again->address == address && again->nbytes == nbytes && again->area == area &&
                again->changes == memory->changes;

    if (!same && !look_again(memory, address, nbytes, again))
        return mem_read(m, area, address, nbytes, out, writers, absent);
    again->area = area;
    *out = (struct view){version_keep(again->view.v), again->view.offset};
    if (!writers || op_ids_add(writers, again->writer))
        return MEM_OK;
    drop_view(out);
    return MEM_NO_MEMORY;
}

enum mem_err mem_write_strided(struct mem *m, uint32_t area, uint64_t address,
                               const struct strided *s, struct view from, uint32_t writer)
{
    enum mem_err err;
    struct runs w;

    runs_init(&w, address, s);
    do {
        err = mem_write(m, area, w.address, w.nbytes, from, writer);
        from.offset += w.nbytes;
    } while (err == MEM_OK && runs_next(&w));
    return err;
}
