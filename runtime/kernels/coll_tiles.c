/* coll_tiles.c -- parts of many ranks that do not lie together, as rows of a group leave them.
 *
 * Where a gathering goes along one row after the other a member has, behind the first, a block of
 * each rank of that row; and a reduction of parts leaves it sums for all ranks of the rows to come.
 * Such blocks lie in the vector at equal distances along each row: a tile. A piece is a part of it
 * that is at most a chunk: one block of each of the outermost rows, or a share of a block. In
 * memory pieces are strided; on the way, and in the TCM, they are not.
 *
 * Sums that go on along the next row are kept in the TCM. Its parts are whole pieces of what is
 * kept, as both are cut alike; or, if that is a single piece, slices of it.
 *
 * Example: 4 x 2 ranks, parts of 10 elements. A reduction along x first leaves rank 1 sums for
 * ranks 1 and 5: dim 2, stride 40, len 10. Along y it takes one of these from rank 5, and gives it
 * the other.
 */
#include "kernels/coll.h"

int64_t coll_tile_cut(struct coll_tile *t, uint64_t element, uint64_t chunk)
{
    int64_t most = (int64_t)(chunk / element), n = t->n, pieces = 1;

    for (t->cut = 0; t->cut < t->n_dims && n > most; t->cut++) {
        n /= t->dim[t->cut];
        pieces *= t->dim[t->cut];
    }
    t->shares = n > most ? (n + most - 1) / most : 1;
    return pieces * t->shares;
}

struct span coll_tile_part(kb_dtype dtype, struct span v, int64_t i)
{
    v.address += (uint64_t)(i * v.tile->step) * kb_dtype_bytes(dtype);
    v.n = v.tile->n;
    v.place = i;
    if (v.kept && !v.tile->in_one)
        v.kept += i * v.tile->pieces;
    return v;
}

struct span coll_tile_piece(kb_dtype dtype, struct span part, int64_t piece)
{
    const struct coll_tile *t = part.tile;
    int64_t at = piece / t->shares, share_of = piece % t->shares, first = 0;
    int64_t begin = share(t->len, share_of, t->shares);

    part.n = share(t->len, share_of + 1, t->shares) - begin;
    for (int d = t->n_dims; d-- > 0;) {
        if (d >= t->cut)
            part.n *= t->dim[d];
        else {
            first += at % t->dim[d] * t->stride[d];
            at /= t->dim[d];
        }
    }
    part.address += (uint64_t)(first + begin) * kb_dtype_bytes(dtype);
    if (part.kept)
        part.kept += piece;
    return part;
}

kb_shape coll_tile_shape(struct span piece)
{
    kb_shape shape = {.rank = 0};
    int64_t len = piece.n;

    for (int d = piece.tile->cut; d < piece.tile->n_dims; d++) {
        shape.dim[shape.rank++] = piece.tile->dim[d];
        len /= piece.tile->dim[d];
    }
    shape.dim[shape.rank++] = len;
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

/* Of a single tensor the slice that belongs to a member of the row. */
tl_tensor *coll_tile_kept(const struct coll *c, struct span piece)
{
    tl_tensor *part, *kept = *piece.kept;

    if (!piece.tile->in_one) {
        *piece.kept = NULL;
        return kept;
    }
    kept = tl_slice_at(c->here, c->tl, kept, 0, piece.place, 1);
    part = tl_reshape_at(c->here, c->tl, kept, coll_tile_shape(piece));
    drop(c, &kept);
    return part;
}
