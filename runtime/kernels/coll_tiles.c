/* coll_tiles.c -- parts of many ranks that do not lie together, as rows of a group leave them.
 *
 * Where a gathering goes along one row after the other a member has, behind the first, a block of
 * each rank of that row; and a reduction of parts leaves it sums for all ranks of the rows to come.
 * Such blocks lie in the vector at equal distances along each row: a tile. A piece is a part of it
 * that is at most a chunk: some blocks, or a share of one. In memory pieces are strided; on the
 * way, and in the TCM, they are not.
 *
 * Sums that go on along the next row, the outermost of the tile, are kept in the TCM. Parts there
 * are whole pieces of what is kept, as both are cut alike; or slices, where pieces are groups of
 * parts.
 *
 * Example: 4 x 2 ranks, parts of 10 elements. A reduction along x first leaves rank 1 sums for
 * ranks 1 and 5: dim 2, stride 40, len 10. Along y it takes one of these from rank 5, and gives it
 * the other.
 */
#include "kernels/coll.h"

int64_t coll_tile_cut(struct coll_tile *t, uint64_t element, uint64_t chunk)
{
    int64_t most = (int64_t)(chunk / element), n = t->n, of;

    t->pieces = 1;
    t->cut = 0;
    while (t->cut < t->n_dims && n / t->dim[t->cut] > most) {
        n /= t->dim[t->cut];
        t->pieces *= t->dim[t->cut++];
    }
    of = t->cut < t->n_dims ? t->dim[t->cut] : t->len;
    most /= n / of; /* of these */
    t->shares = (of + most - 1) / most;
    t->pieces *= t->shares;
    return t->pieces;
}

/* Shares are as even as can be: the one with number i of n. */
static int64_t share_with(int64_t n, int64_t i, int64_t shares)
{
    int64_t at = 0;

    while (share(n, at + 1, shares) <= i)
        at++;
    return at;
}

struct span coll_tile_part(kb_dtype dtype, struct span v, int64_t i)
{
    v.address += (uint64_t)(i * v.tile->step) * kb_dtype_bytes(dtype);
    v.n = v.tile->n;
    v.place = i;
    if (v.kept)
        v.kept +=
            v.tile->groups ? share_with(v.tile->members, i, v.tile->groups) : i * v.tile->pieces;
    return v;
}

struct span coll_tile_piece(kb_dtype dtype, struct span part, int64_t piece)
{
    const struct coll_tile *t = part.tile;
    int64_t at = piece / t->shares, i = piece % t->shares;
    bool blocks = t->cut < t->n_dims; /* some, or a share of one */
    int64_t of = blocks ? t->dim[t->cut] : t->len, first = share(of, i, t->shares);

    part.n = share(of, i + 1, t->shares) - first;
    first *= blocks ? t->stride[t->cut] : 1;
    for (int d = t->cut + 1; d < t->n_dims; d++)
        part.n *= t->dim[d];
    part.n *= blocks ? t->len : 1;
    for (int d = t->cut; d-- > 0; at /= t->dim[d])
        first += at % t->dim[d] * t->stride[d];
    part.address += (uint64_t)first * kb_dtype_bytes(dtype);
    if (part.kept)
        part.kept += piece;
    return part;
}

kb_shape coll_tile_shape(struct span piece)
{
    const struct coll_tile *t = piece.tile;
    kb_shape shape = {.rank = 1, .dim = {piece.n}};

    if (t->cut == t->n_dims)
        return shape;
    for (int d = t->cut + 1; d < t->n_dims; d++) {
        shape.dim[0] /= t->dim[d];
        shape.dim[shape.rank++] = t->dim[d];
    }
    shape.dim[0] /= t->len;
    shape.dim[shape.rank++] = t->len;
    return shape;
}

const int64_t *coll_tile_strides(struct span piece, uint64_t element, int64_t *strides)
{
    int64_t *at = strides;

    for (int d = piece.tile->cut; d < piece.tile->n_dims; d++)
        *at++ = piece.tile->stride[d] * (int64_t)element;
    *at = (int64_t)element;
    return strides;
}

/* Of a tensor with parts of several members a slice. */
tl_tensor *coll_tile_kept(const struct coll *c, struct span piece)
{
    const struct coll_tile *t = piece.tile;
    tl_tensor *part, *kept = *piece.kept;
    int64_t group;

    if (!t->groups) {
        *piece.kept = NULL;
        return kept;
    }
    group = share_with(t->members, piece.place, t->groups);
    kept =
        tl_slice_at(c->here, c->tl, kept, 0, piece.place - share(t->members, group, t->groups), 1);
    part = tl_reshape_at(c->here, c->tl, kept, coll_tile_shape(piece));
    drop(c, &kept);
    return part;
}
