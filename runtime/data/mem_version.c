/* mem_version.c -- versions of bytes: made, filled when first read, gathered, dropped; and which
 * operations wrote them. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "data/mem_parts.h"

/* -- versions ------------------------------------------------------------------------------- */

static struct version *version_new(enum version_kind kind, uint64_t nbytes)
{
    struct version *v = malloc(sizeof *v); /* half the time of calloc() */

    if (v)
        *v = (struct version){.refs = 1, .kind = (uint8_t)kind, .op = OP_NONE, .nbytes = nbytes};
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

void mem_gather_init(struct gather *g)
{
    g->n = 0;
    g->nbytes = 0;
    g->cap = GATHER_FEW;
    g->list = g->few;
}

void mem_gather_free(struct gather *g)
{
    if (g->list != g->few)
        free(g->list);
}

static bool gather_grow(struct gather *g, size_t cap)
{
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

void mem_gather_expect(struct gather *g, size_t n)
{
    n = n < GATHER_MANY ? n : GATHER_MANY;
    if (n > g->cap)
        gather_grow(g, n);
}

bool mem_gather_append(struct gather *g, struct view part, uint64_t nbytes)
{
    if (g->n == g->cap && !gather_grow(g, 2 * g->cap))
        return false;
    g->list[g->n++] = (struct piece){part, nbytes, g->nbytes};
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
        if (!(piece == first ? mem_gather_add(g, from, n) : mem_gather_append(g, from, n)))
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
            ok = mem_gather_add(flat, p->part, p->nbytes);
    }
    return ok;
}

static bool has_pieces(const struct gather *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->list[i].part.v->kind == VERSION_PIECES)
            return true;
    return false;
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

    if (g->nbytes > g->n * SMALL_PIECE || g->nbytes > g->n * small_piece(g) || !all_ready(g))
        return version_of_pieces(g, shared);
    v = version_new_bytes(g->nbytes);
    if (!v || copy_pieces(v->bytes, g->list, g->n))
        return v;
    version_drop(v);
    return NULL;
}

/* A part of a version of pieces may be ready before the whole is: it is better gathered again. */
bool mem_hides_ready(struct version *v, uint64_t nbytes)
{
    return v->kind == VERSION_PIECES && nbytes < v->nbytes && !version_ready(v);
}

/* One part needs no version of its own: a view of its version is enough. */
static bool is_one_view(const struct gather *g, struct view *out)
{
    if (g->n != 1 || mem_hides_ready(g->list[0].part.v, g->nbytes))
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
enum mem_err mem_gather_finish(const struct gather *g, struct shared *shared, struct view *out)
{
    struct gather flat;
    bool ok;

    if (is_one_view(g, out))
        return MEM_OK;
    if (!has_pieces(g)) {
        *out = (struct view){version_of_flat(g, shared), 0};
        return out->v ? MEM_OK : MEM_NO_MEMORY;
    }
    mem_gather_init(&flat);
    ok = gather_flat(&flat, g);
    if (ok && !is_one_view(&flat, out)) {
        *out = (struct view){version_of_flat(&flat, shared), 0};
        ok = out->v;
    }
    mem_gather_free(&flat);
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

/* -- reading -------------------------------------------------------------------------------- */

/* Gathers the parts that [begin, end) holds. */
enum mem_err mem_area_gather(struct area *a, uint64_t begin, uint64_t end, struct gather *g,
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
        if (!mem_gather_add(g, (struct view){r->part.v, r->part.offset + (begin - r->begin)},
                            stop - begin) ||
            (writers && !op_ids_add(writers, r->writer)))
            return MEM_NO_MEMORY;
        a->hint = p;
        begin = stop;
    }
    return MEM_OK;
}
