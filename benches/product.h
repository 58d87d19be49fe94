/* product.h -- c = a b as chips run it: blocks of c on a grid of PEs, operands by multicast.
 *
 * The PEs are a grid of rows and columns, in the order of their numbers. A row of it has a part of
 * the rows of c, a column a part of the columns, so a PE has a block of c. K is cut into steps. The
 * tile of a that a step takes is the same for all PEs of a row: one of them loads it and stores it
 * to the TCMs of all others by one multicast. The same with b along columns. So each element is
 * read once, for all PEs of a row or column, and passes each link once.
 *
 * A block larger than BM x BN is made in passes, each a sum in an accumulator over all steps of K.
 * Steps of all passes are one row, s = 0, 1, ..:
 *
 *     the owner of step s + AHEAD begins to load
 *     the owner of step s sends          into buffer s mod BUFFERS of the others
 *     dot_acc of step s - 1              meanwhile
 *     barriers of the row and the column: the tiles of s are there, those of s - 1 are used up
 *
 * Example: cube8, GRID=8, K 256, BK 32. Row 0 is cube 0. In step 0 PE 0 of it loads 32 columns of
 * the rows of the cube, and PEs 1 to 7 get them; in step 1 it is PE 1.
 *
 * The PE that has a tile loads it. Where memory is apart from the PEs they take turns.
 *
 * Where the machine has no multicasts, behind routers, a tile is stored to each.
 *
 * A grid of one PE is a product of its own: it loads all tiles ahead, and no PE sends. Its
 * operands may be matrices in its memory, which belong to no tensor of the bench.
 */
#ifndef PRODUCT_H
#define PRODUCT_H
#include "grid.h"

/* Some rows and columns of a tensor. */
struct rect {
    int64_t row, rows, col, cols;
};

/* A matrix: a tensor and how it lies over the PEs. Without one, that at an address, row by row; the
 * grid is then the own PE. */
struct matrix {
    const kb_tensor *tensor;
    kb_placement lies;
    uint64_t address;
    int64_t columns;
};

/* What becomes of a sum before it is stored: a tensor of the type of c. */
typedef tl_tensor *finish_fn(tl_ctx *tl, tl_acc *sum, const void *arg);

struct product {
    struct cut cut;
    struct matrix a, b, c;
    finish_fn *finish; /* NULL: it is rounded */
    const void *arg;   /* of finish */
};

/* An operand, as one PE has it: its row of the grid has a, its column b. */
struct side {
    struct matrix matrix;
    int64_t members, place; /* of PEs first, first + stride, ..: this is number `place` */
    uint32_t first, stride;
    tl_tensor *buffer[BUFFERS];
    tl_tensor *loaded[RING]; /* by step; NULL: another PE has loaded it */
    tl_tensor **sent;        /* to be waited for */
    uint32_t n_sent;
    uint32_t *pes; /* all members */
};

struct pe {
    tl_ctx *tl;
    const struct product *product;
    struct cut cut;
    int64_t r, c;
    struct side a, b;
    struct side out;
    tl_run *runs;
    uint64_t *targets;
    tl_acc *acc;
};

/* -- what a step takes ------------------------------------------------------------------------ */

static inline int64_t steps_of(const struct cut *x)
{
    return x->passes_m * x->passes_n * x->steps_k;
}

/* Block `i` of `size` of part `part` of `n` parts of the whole: its begin, and how much it is. */
static inline void block_of(int64_t whole, int64_t part, int64_t n, int64_t i, int64_t size,
                            int64_t *begin, int64_t *extent)
{
    int64_t end = share(whole, part + 1, n);

    *begin = least(share(whole, part, n) + i * size, end);
    *extent = least(size, end - *begin);
}

/* The block of c of the pass that step `s` belongs to. */
static inline struct rect block_at(const struct pe *me, int64_t s)
{
    const struct cut *x = &me->cut;
    int64_t pass = s / x->steps_k;
    struct rect block;

    block_of(x->m, me->r, x->rows, pass / x->passes_n, x->bm, &block.row, &block.rows);
    block_of(x->n, me->c, x->cols, pass % x->passes_n, x->bn, &block.col, &block.cols);
    return block;
}

static inline struct rect tile_at(const struct pe *me, const struct side *side, int64_t s)
{
    const struct cut *x = &me->cut;
    struct rect block = block_at(me, s);
    int64_t k = s % x->steps_k * x->bk, depth = least(x->bk, x->k - k);

    if (side == &me->a)
        return (struct rect){block.row, block.rows, k, depth};
    return (struct rect){k, depth, block.col, block.cols};
}

static inline bool is_empty(struct rect tile)
{
    return tile.rows <= 0 || tile.cols <= 0;
}

/* One of `n` equal parts of an axis: the one that has index *at. Then *at and *extent are inside.
 */
static inline int64_t go_into(int64_t *at, int64_t *extent, int64_t n)
{
    int64_t part = part_with(*extent, *at, n), begin = share(*extent, part, n);

    *at -= begin;
    *extent = share(*extent, part + 1, n) - begin;
    return part;
}

/* The PE whose part of the tensor has an element. */
static inline uint32_t holder(const struct pe *me, const struct side *side, int64_t i, int64_t j)
{
    int64_t pes = tl_num_programs(me->tl, 0), cubes = all_pes(me->tl) / pes, at[] = {i, j};
    kb_shape all = kb_tensor_shape(side->matrix.tensor);
    int cube_axis = side->matrix.lies.cubes == KB_COLUMN_WISE;
    int pe_axis = side->matrix.lies.pes == KB_COLUMN_WISE;
    int64_t cube = go_into(&at[cube_axis], &all.dim[cube_axis], cubes);

    return (uint32_t)(cube * pes + go_into(&at[pe_axis], &all.dim[pe_axis], pes));
}

/* The part of a matrix that has an element. */
static inline kb_shard part_at(const struct pe *me, const struct side *side, int64_t i, int64_t j)
{
    const struct matrix *x = &side->matrix;

    if (x->tensor)
        return kb_tensor_shard(x->tensor, holder(me, side, i, j));
    return (kb_shard){.address = x->address, .shape = KB_SHAPE(i + 1, x->columns)};
}

static inline bool has(const kb_shard *part, int64_t i, int64_t j)
{
    return i >= part->first[0] && i - part->first[0] < part->shape.dim[0] && j >= part->first[1] &&
           j - part->first[1] < part->shape.dim[1];
}

/* The pieces of memory that have these elements, row by row, in me->runs. */
static inline uint32_t runs_of(const struct pe *me, const struct side *side, struct rect tile)
{
    kb_dtype dtype = side == &me->out ? me->cut.dtype_c : me->cut.dtype;
    int64_t size = (int64_t)kb_dtype_bytes(dtype), run;
    kb_shard part = part_at(me, side, tile.row, tile.col);
    uint32_t n = 0;

    for (int64_t i = tile.row; i < tile.row + tile.rows; i++)
        for (int64_t j = tile.col; j < tile.col + tile.cols; j += run) {
            if (!has(&part, i, j)) /* to look a part up takes a while */
                part = part_at(me, side, i, j);
            int64_t in_row = j - part.first[1], width = part.shape.dim[1];
            uint64_t at = part.address + (uint64_t)(((i - part.first[0]) * width + in_row) * size);

            run = least(width - in_row, tile.col + tile.cols - j);
            if (n > 0 && me->runs[n - 1].address + me->runs[n - 1].nbytes == at)
                me->runs[n - 1].nbytes += (uint64_t)(run * size);
            else
                me->runs[n++] = (tl_run){at, (uint64_t)(run * size)};
        }
    return n;
}

/* Of a tile with so many rows and columns: the parts of the tensor in a row of it, all rows. */
static inline size_t runs_at_most(const struct pe *me, const struct side *side, int64_t rows,
                                  int64_t cols)
{
    const struct matrix *x = &side->matrix;
    int64_t n = 1, width = x->tensor ? kb_tensor_shape(x->tensor).dim[1] : x->columns;

    if (x->tensor && x->lies.cubes != KB_ROW_WISE)
        n = all_pes(me->tl);
    else if (x->tensor && x->lies.pes != KB_ROW_WISE)
        n = tl_num_programs(me->tl, 0);
    return (size_t)(rows * least(cols, cols * n / width + 2));
}

static inline size_t most_runs(const struct pe *me)
{
    const struct cut *x = &me->cut;
    size_t a = runs_at_most(me, &me->a, x->bm, x->bk), b = runs_at_most(me, &me->b, x->bk, x->bn);
    size_t c = runs_at_most(me, &me->out, x->bm, x->bn), most = a > b ? a : b;

    return most > c ? most : c;
}

/* -- the way of a tile ------------------------------------------------------------------------ */

/* The cube that has an element, and the PE to which it was given are not always one. */
static inline bool lies_at(const struct pe *me, const struct side *side, uint32_t pe)
{
    const kb_topology *topo = tl_topology(me->tl);
    kb_endpoint place, memory;
    uint64_t offset;

    kb_pe_get(topo, pe, &place);
    return kb_address_find(topo, kb_tensor_shard(side->matrix.tensor, pe).address, &memory,
                           &offset) == KB_OK &&
           memory.sip == place.sip && memory.cube == place.cube;
}

/*
 * Which member loads the tile of step `s`: of a column the one in the grid row of the PE that has
 * its first element, of a row that PE. Where memory is apart from the PEs, or another row has the
 * tile, they take turns.
 */
static inline int64_t owner(const struct pe *me, const struct side *side, int64_t s)
{
    struct rect tile = tile_at(me, side, s);
    int64_t has, cols = me->cut.cols;

    if (side->members == 1)
        return 0;
    has = holder(me, side, tile.row, tile.col);
    if (lies_at(me, side, (uint32_t)has) && (side == &me->b || has / cols == me->r))
        return side == &me->b ? has / cols % me->cut.rows : has % cols;
    return (s + (side == &me->a ? me->r : me->c)) % side->members;
}

static inline bool owns(const struct pe *me, const struct side *side, int64_t s)
{
    return !is_empty(tile_at(me, side, s)) && owner(me, side, s) == side->place;
}

static inline void begin_load(const struct pe *me, struct side *side, int64_t s)
{
    struct rect tile = tile_at(me, side, s);

    if (s < steps_of(&me->cut) && owns(me, side, s))
        side->loaded[s % RING] = tl_load_list(me->tl, me->runs, runs_of(me, side, tile),
                                              me->cut.dtype, KB_SHAPE(tile.rows, tile.cols));
}

/* Where the same buffer lies at member `i`. */
static inline uint64_t buffer_at(const struct pe *me, const struct side *side, int64_t s, int64_t i)
{
    const kb_topology *topo = tl_topology(me->tl);
    kb_endpoint own, end;
    uint64_t offset;

    kb_address_find(topo, tl_address(side->buffer[s % BUFFERS]), &own, &offset);
    end = memory_of_pe(topo, KB_TCM, side->first + (uint32_t)i * side->stride);
    return kb_address(topo, &end, offset);
}

/* The owner of step `s` sends its tile to all others: by one multicast, or by a store to each. */
static inline void send(const struct pe *me, struct side *side, int64_t s)
{
    uint32_t n = 0, most = me->cut.multicast ? KB_TARGETS_MAX : 1, at_once;
    tl_tensor *tile = side->loaded[s % RING];

    side->n_sent = 0;
    if (!tile || side->members == 1)
        return;
    for (int64_t i = 0; i < side->members; i++)
        if (i != side->place)
            me->targets[n++] = buffer_at(me, side, s, i);
    for (const uint64_t *to = me->targets; n > 0; to += at_once, n -= at_once) {
        at_once = n < most ? n : most;
        side->sent[side->n_sent++] = at_once == 1 ? tl_store_async(me->tl, to[0], tile)
                                                  : tl_store_all_async(me->tl, to, at_once, tile);
    }
}

/* The tile of step `s`: what was loaded, or what has come into the buffer. */
static inline tl_tensor *operand(const struct pe *me, struct side *side, int64_t s)
{
    struct rect tile = tile_at(me, side, s);
    tl_tensor *whole = side->loaded[s % RING], *part;

    side->loaded[s % RING] = NULL;
    if (whole)
        return whole;
    whole = tl_slice(me->tl, side->buffer[s % BUFFERS], 0, 0, tile.rows * tile.cols);
    part = tl_reshape(me->tl, whole, KB_SHAPE(tile.rows, tile.cols));
    tl_free(me->tl, whole);
    return part;
}

/* All have the tile of step `s`, and have used up the one that lies where the next will come. */
static inline void meet(const struct pe *me, struct side *side, int64_t s)
{
    tl_group group = {.pes = side->pes, .n = (size_t)side->members};

    if (side->members == 1)
        return;
    for (uint32_t i = 0; i < side->n_sent; i++) {
        tl_wait(me->tl, side->sent[i]);
        tl_free(me->tl, side->sent[i]);
    }
    tl_wait_read(me->tl, side->buffer[(s + 1) % BUFFERS]);
    tl_barrier(me->tl, group);
}

/* -- products --------------------------------------------------------------------------------- */

static inline void store_block(const struct pe *me, struct rect block)
{
    const struct product *p = me->product;
    tl_tensor *x = p->finish ? p->finish(me->tl, me->acc, p->arg)
                             : tl_acc_store(me->tl, me->acc, me->cut.dtype_c);

    tl_store_list(me->tl, me->runs, runs_of(me, &me->out, block), x);
    tl_free(me->tl, x);
}

/* Adds the product of step `s`; the last one of a pass stores the block. */
static inline void multiply(struct pe *me, int64_t s)
{
    struct rect block = block_at(me, s);
    int64_t of_pass = s % me->cut.steps_k;
    tl_tensor *a = NULL, *b = NULL;

    if (block.rows > 0)
        a = operand(me, &me->a, s);
    if (block.cols > 0)
        b = operand(me, &me->b, s);
    if (a && b && of_pass == 0)
        me->acc = tl_acc_new(me->tl, sum_dtype(me->cut.dtype), block.rows, block.cols);
    if (a && b)
        tl_dot_acc(me->tl, me->acc, a, b);
    if (a && b && of_pass == me->cut.steps_k - 1)
        store_block(me, block);
    if (a)
        tl_free(me->tl, a);
    if (b)
        tl_free(me->tl, b);
}

/* Its buffers. All PEs take them first, so they lie at the same place in all TCMs. */
static inline void begin_side(const struct pe *me, struct side *side, int64_t elements)
{
    side->pes = tl_alloc_host(me->tl, (size_t)side->members * sizeof *side->pes);
    side->sent = tl_alloc_host(me->tl, (size_t)side->members * sizeof *side->sent);
    for (int64_t i = 0; i < side->members; i++)
        side->pes[i] = side->first + (uint32_t)i * side->stride;
    for (int i = 0; i < BUFFERS && side->members > 1; i++)
        side->buffer[i] = tl_alloc(me->tl, me->cut.dtype, KB_SHAPE(elements));
}

/* The operands of this PE, whose place in the grid is `place`. */
static inline struct pe begin_pe(tl_ctx *tl, const struct product *p, uint32_t place)
{
    const struct cut *x = &p->cut;
    struct pe me = {.tl = tl, .product = p, .cut = *x};
    uint32_t first = tl_pe(tl) - place;

    me.r = place / x->cols;
    me.c = place % x->cols;
    me.out = (struct side){.matrix = p->c};
    me.a = (struct side){.matrix = p->a,
                         .members = x->cols,
                         .place = me.c,
                         .first = first + (uint32_t)(me.r * x->cols),
                         .stride = 1};
    me.b = (struct side){.matrix = p->b,
                         .members = x->rows,
                         .place = me.r,
                         .first = first + (uint32_t)me.c,
                         .stride = (uint32_t)x->cols};
    return me;
}

/* The part of this PE of a product, which all PEs of the grid call; it returns when c is stored. */
static inline void product(tl_ctx *tl, const struct product *p)
{
    const struct cut *x = &p->cut;
    bool alone = x->rows * x->cols == 1;
    struct pe me = begin_pe(tl, p, alone ? 0 : tl_pe(tl));
    int64_t members = x->rows > x->cols ? x->rows : x->cols;
    int64_t steps = steps_of(x);
    uint64_t mark = tl_mark(tl);

    if (me.r >= x->rows)
        return;
    me.runs = tl_alloc_host(tl, most_runs(&me) * sizeof *me.runs);
    me.targets = tl_alloc_host(tl, (size_t)members * sizeof *me.targets);
    tl_async(tl, true);
    begin_side(&me, &me.a, x->bm * x->bk);
    begin_side(&me, &me.b, x->bk * x->bn);
    for (int64_t s = -AHEAD; s <= steps; s++) {
        for (int i = 0; i < 2; i++)
            begin_load(&me, i ? &me.b : &me.a, s + AHEAD);
        for (int i = 0; i < 2 && s >= 0 && s < steps; i++)
            send(&me, i ? &me.b : &me.a, s);
        if (s > 0)
            multiply(&me, s - 1);
        for (int i = 0; i < 2 && s >= 0 && s < steps; i++)
            meet(&me, i ? &me.b : &me.a, s);
    }
    tl_wait_all(tl);
    tl_async(tl, false);
    tl_release(tl, mark);
}

#endif
