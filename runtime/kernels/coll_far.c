/* coll_far.c -- a vector of a far memory in the TCM: it comes and goes in few blocks of many parts.
 *
 * A PE whose memory is far waits longer for a small part than the part takes on the wire, and with
 * few channels it has few of them under way. So a ring asks for all blocks of its vector at once,
 * those with the parts that it needs first before the others, and takes each part out of its block;
 * and what it gathers it puts together in blocks, each of which is stored when it is whole. Where
 * parts take memories longer than their way is, that would gain nothing.
 *
 * Example: mi300x, 38 PEs of an XCD, 128 KiB, loads of 400 ns on one channel. Part by part a
 * reduce_scatter waits 37 times, 14.8 us; four blocks of 32 KiB come while the ring goes on.
 */
#include "base/larger.h"
#include "kernels/coll.h"
#include "kernels/kernels.h"

/* Less does not fill the way while it is waited for. */
enum { BLOCK_BYTES = 32768 };

bool coll_is_far(const struct coll *c, double bytes)
{
    double part = bytes / (double)c->group.n;

    return c->group.n > 2 && c->order->piece_fs > 2 * PIECE_FS && part <= PIECE_BYTES &&
           part * c->order->memory_fs < c->order->piece_fs;
}

static int64_t begin_of(const struct coll *c, struct span all, int64_t block)
{
    return share(all.n, share(c->group.n, block, c->far.n), c->group.n);
}

static struct span block_of(const struct coll *c, struct span all, int64_t block)
{
    int64_t begin = begin_of(c, all, block);

    return span_of(all.address + (uint64_t)begin * kb_dtype_bytes(c->dtype),
                   begin_of(c, all, block + 1) - begin);
}

/* That of a part, and the first element of the part in it. */
static int64_t block_with(const struct coll *c, struct span all, struct span part, int64_t *first)
{
    int64_t at = (int64_t)((part.address - all.address) / kb_dtype_bytes(c->dtype)), block = 0;

    while (begin_of(c, all, block + 1) <= at)
        block++;
    *first = at - begin_of(c, all, block);
    return block;
}

/* Into how many blocks; 0: the vector stays where it is. */
static void cut(struct coll *c, struct span all)
{
    uint64_t bytes = (uint64_t)all.n * kb_dtype_bytes(c->dtype);

    c->far = (struct coll_far){0};
    if (!all.begins && !all.tile && coll_is_far(c, (double)bytes) && c->pieces == 1 &&
        bytes <= c->spare)
        c->far.n = smaller(1 + (int64_t)(bytes / BLOCK_BYTES), smaller(c->group.n, FAR_BLOCKS));
}

static void ask_for(struct coll *c, struct span all, struct span part)
{
    int64_t first, block;

    if (part.n == 0)
        return;
    block = block_with(c, all, part, &first);
    if (!c->far.block[block])
        c->far.block[block] = load(c, block_of(c, all, block));
}

void coll_far_load(struct coll *c, struct span all)
{
    cut(c, all);
    for (int64_t step = 1; c->far.n > 0 && step <= c->most_steps; step++)
        for (enum lane lane = UP; lane < N_LANES; lane++)
            ask_for(c, all, part_in(c, all, lane, step, c->steps[lane] - step + 1));
    if (c->far.n > 0)
        ask_for(c, all, part_at(c, all, c->me));
}

tl_tensor *coll_far_piece(struct coll *c, struct span all, struct span part)
{
    int64_t first, block = block_with(c, all, part, &first);

    if (!c->far.came[block])
        await(c, c->far.block[block]);
    c->far.came[block] = true;
    return tl_slice_at(c->here, c->tl, c->far.block[block], 0, first, part.n);
}

/* A block whose bytes are to be put into it. It begins with zeros that no command writes: they take
 * no time and are no work. */
static tl_tensor *block_new(const struct coll *c, int64_t n)
{
    struct coll_orders *o = c->tl->launch->orders;
    tl_tensor *x = tl_alloc_at(c->here, c->tl, c->dtype, KB_SHAPE(n));

    kernels_begin_with_zeros(c->here, c->tl, x, &o->zeros);
    return x;
}

void coll_far_new(struct coll *c, struct span all)
{
    cut(c, all);
    for (int64_t i = 0; i < c->far.n; i++) {
        int64_t n = block_of(c, all, i).n;

        c->far.left[i] = n;
        if (n > 0)
            c->far.block[i] = block_new(c, n);
    }
}

void coll_far_put(struct coll *c, struct span all, struct span part, tl_tensor *x)
{
    int64_t first, block = block_with(c, all, part, &first);
    struct coll_far *far = &c->far;

    tl_update_at(c->here, c->tl, far->block[block], 0, first, x);
    far->left[block] -= part.n;
    if (far->left[block] == 0)
        far->stored[block] = store(c, block_of(c, all, block), far->block[block]);
}

void coll_far_end(struct coll *c)
{
    for (int64_t i = 0; i < c->far.n; i++) {
        await(c, c->far.stored[i]);
        drop(c, &c->far.block[i]);
    }
}
