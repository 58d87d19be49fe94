/* gemm_grid.c -- c = a b as chips run it: blocks of c on a grid of PEs, operands by multicast.
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
 * Arguments: M, N, K, dtype; GRID rows of the grid, BM, BN, BK: 0 is chosen here. What does not fit
 * into a TCM or an accumulator is refused with what does.
 */
#include "gemm_grid.h"

/* Some rows and columns of a tensor. */
struct rect {
    int64_t row, rows, col, cols;
};

/* An operand, as one PE has it: its row of the grid has a, its column b. */
struct side {
    const kb_tensor *tensor;
    kb_placement lies;
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
    struct cut cut;
    int64_t r, c;
    struct side a, b;
    struct side out;
    tl_run *runs;
    uint64_t *targets;
    tl_acc *acc;
};

/* -- what a step takes ------------------------------------------------------------------------ */

static int64_t steps_of(const struct cut *x)
{
    return x->passes_m * x->passes_n * x->steps_k;
}

/* Block `i` of `size` of part `part` of `n` parts of the whole: its begin, and how much it is. */
static void block_of(int64_t whole, int64_t part, int64_t n, int64_t i, int64_t size,
                     int64_t *begin, int64_t *extent)
{
    int64_t end = share(whole, part + 1, n);

    *begin = least(share(whole, part, n) + i * size, end);
    *extent = least(size, end - *begin);
}

/* The block of c of the pass that step `s` belongs to. */
static struct rect block_at(const struct pe *me, int64_t s)
{
    const struct cut *x = &me->cut;
    int64_t pass = s / x->steps_k;
    struct rect block;

    block_of(x->m, me->r, x->rows, pass / x->passes_n, x->bm, &block.row, &block.rows);
    block_of(x->n, me->c, x->cols, pass % x->passes_n, x->bn, &block.col, &block.cols);
    return block;
}

static struct rect tile_at(const struct pe *me, const struct side *side, int64_t s)
{
    const struct cut *x = &me->cut;
    struct rect block = block_at(me, s);
    int64_t k = s % x->steps_k * x->bk, depth = least(x->bk, x->k - k);

    if (side == &me->a)
        return (struct rect){block.row, block.rows, k, depth};
    return (struct rect){k, depth, block.col, block.cols};
}

static bool is_empty(struct rect tile)
{
    return tile.rows <= 0 || tile.cols <= 0;
}

/* One of `n` equal parts of an axis: the one that has index *at. Then *at and *extent are inside.
 */
static int64_t go_into(int64_t *at, int64_t *extent, int64_t n)
{
    int64_t part = part_with(*extent, *at, n), begin = share(*extent, part, n);

    *at -= begin;
    *extent = share(*extent, part + 1, n) - begin;
    return part;
}

/* The PE whose part of the tensor has an element. */
static uint32_t holder(const struct pe *me, const struct side *side, int64_t i, int64_t j)
{
    int64_t pes = tl_num_programs(me->tl, 0), cubes = all_pes(me->tl) / pes, at[] = {i, j};
    kb_shape all = kb_tensor_shape(side->tensor);
    int cube_axis = side->lies.cubes == KB_COLUMN_WISE, pe_axis = side->lies.pes == KB_COLUMN_WISE;
    int64_t cube = go_into(&at[cube_axis], &all.dim[cube_axis], cubes);

    return (uint32_t)(cube * pes + go_into(&at[pe_axis], &all.dim[pe_axis], pes));
}

/* The pieces of memory that have these elements, row by row, in me->runs. */
static uint32_t runs_of(const struct pe *me, const struct side *side, struct rect tile)
{
    int64_t size = element_bytes(side->tensor), run;
    uint32_t n = 0;

    for (int64_t i = tile.row; i < tile.row + tile.rows; i++)
        for (int64_t j = tile.col; j < tile.col + tile.cols; j += run) {
            kb_shard part = kb_tensor_shard(side->tensor, holder(me, side, i, j));
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
static size_t runs_at_most(const struct pe *me, const struct side *side, int64_t rows, int64_t cols)
{
    int64_t n = all_pes(me->tl), width = kb_tensor_shape(side->tensor).dim[1];

    if (side->lies.cubes == KB_ROW_WISE)
        n = side->lies.pes == KB_ROW_WISE ? 1 : tl_num_programs(me->tl, 0);
    return (size_t)(rows * least(cols, cols * n / width + 2));
}

static size_t most_runs(const struct pe *me)
{
    const struct cut *x = &me->cut;
    size_t a = runs_at_most(me, &me->a, x->bm, x->bk), b = runs_at_most(me, &me->b, x->bk, x->bn);
    size_t c = runs_at_most(me, &me->out, x->bm, x->bn), most = a > b ? a : b;

    return most > c ? most : c;
}

/* -- the way of a tile ------------------------------------------------------------------------ */

/* The cube that has an element, and the PE to which it was given are not always one. */
static bool lies_at(const struct pe *me, const struct side *side, uint32_t pe)
{
    const kb_topology *topo = tl_topology(me->tl);
    kb_endpoint place, memory;
    uint64_t offset;

    kb_pe_get(topo, pe, &place);
    return kb_address_find(topo, kb_tensor_shard(side->tensor, pe).address, &memory, &offset) ==
               KB_OK &&
           memory.sip == place.sip && memory.cube == place.cube;
}

/*
 * Which member loads the tile of step `s`: of a column the one in the grid row of the PE that has
 * its first element, of a row that PE. Where memory is apart from the PEs, or another row has the
 * tile, they take turns.
 */
static int64_t owner(const struct pe *me, const struct side *side, int64_t s)
{
    struct rect tile = tile_at(me, side, s);
    int64_t has = holder(me, side, tile.row, tile.col), cols = me->cut.cols;

    if (lies_at(me, side, (uint32_t)has) && (side == &me->b || has / cols == me->r))
        return side == &me->b ? has / cols % me->cut.rows : has % cols;
    return (s + (side == &me->a ? me->r : me->c)) % side->members;
}

static bool owns(const struct pe *me, const struct side *side, int64_t s)
{
    return !is_empty(tile_at(me, side, s)) && owner(me, side, s) == side->place;
}

static void begin_load(const struct pe *me, struct side *side, int64_t s)
{
    struct rect tile = tile_at(me, side, s);

    if (s < steps_of(&me->cut) && owns(me, side, s))
        side->loaded[s % RING] = tl_load_list(me->tl, me->runs, runs_of(me, side, tile),
                                              me->cut.dtype, KB_SHAPE(tile.rows, tile.cols));
}

/* Where the same buffer lies at member `i`. */
static uint64_t buffer_at(const struct pe *me, const struct side *side, int64_t s, int64_t i)
{
    const kb_topology *topo = tl_topology(me->tl);
    kb_endpoint own, end;
    uint64_t offset;

    kb_address_find(topo, tl_address(side->buffer[s % BUFFERS]), &own, &offset);
    end = memory_of_pe(topo, KB_TCM, side->first + (uint32_t)i * side->stride);
    return kb_address(topo, &end, offset);
}

/* The owner of step `s` sends its tile to all others: by one multicast, or by a store to each. */
static void send(const struct pe *me, struct side *side, int64_t s)
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
static tl_tensor *operand(const struct pe *me, struct side *side, int64_t s)
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
static void meet(const struct pe *me, struct side *side, int64_t s)
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

static void store_block(const struct pe *me, struct rect block)
{
    tl_tensor *x = tl_acc_store(me->tl, me->acc, me->cut.dtype_c);

    tl_store_list(me->tl, me->runs, runs_of(me, &me->out, block), x);
    tl_free(me->tl, x);
}

/* Adds the product of step `s`; the last one of a pass stores the block. */
static void multiply(struct pe *me, int64_t s)
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
static void begin_side(const struct pe *me, struct side *side, int64_t elements)
{
    side->pes = tl_alloc_host(me->tl, (size_t)side->members * sizeof *side->pes);
    side->sent = tl_alloc_host(me->tl, (size_t)side->members * sizeof *side->sent);
    for (int64_t i = 0; i < side->members; i++)
        side->pes[i] = side->first + (uint32_t)i * side->stride;
    for (int i = 0; i < BUFFERS && side->members > 1; i++)
        side->buffer[i] = tl_alloc(me->tl, me->cut.dtype, KB_SHAPE(elements));
}

static void gemm_grid(tl_ctx *tl, const kb_args *args)
{
    struct pe me = {.tl = tl, .cut = cut_of(args->user)};
    const struct cut *x = &me.cut;
    int64_t members = x->rows > x->cols ? x->rows : x->cols;
    int64_t steps = steps_of(x);

    me.r = tl_pe(tl) / x->cols;
    me.c = tl_pe(tl) % x->cols;
    if (me.r >= x->rows)
        return;
    me.out = (struct side){.tensor = args->tensors[2], .lies = of_ac};
    me.a = (struct side){.tensor = args->tensors[0],
                         .lies = of_ac,
                         .members = x->cols,
                         .place = me.c,
                         .first = (uint32_t)(me.r * x->cols),
                         .stride = 1};
    me.b = (struct side){.tensor = args->tensors[1],
                         .lies = placement_of_b(args->user),
                         .members = x->rows,
                         .place = me.r,
                         .first = (uint32_t)me.c,
                         .stride = (uint32_t)x->cols};
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
}

/* -- the bench -------------------------------------------------------------------------------- */

static void refuse_rows(kb_bench_run *run, const struct cut *x, uint32_t pes)
{
    char text[96];

    snprintf(text, sizeof text, "gemm_grid: GRID=%lld has more rows than there are PEs: %u",
             (long long)x->rows, pes);
    kb_bench_refuse(run, text);
}

static void setup(kb_bench_run *run)
{
    const kb_topology *topo = kb_bench_topology(run);
    struct cut x = cut_of(run);
    struct room room = {0};

    if (!is_even(run, "gemm_grid"))
        return;
    if (x.rows > kb_pe_count(topo)) {
        refuse_rows(run, &x, kb_pe_count(topo));
        return;
    }
    room.tcm = (int64_t)memory_bytes_of_pes(topo, KB_TCM);
    kb_topology_keys(topo, take_key, &room);
    choose(&x, room, kb_pe_count(topo));
    if (!fits(&x, room, x.bm, x.bn, x.bk)) {
        refuse(run, &x, room);
        return;
    }
    set(run, "GRID", x.rows);
    set(run, "BM", x.bm);
    set(run, "BN", x.bn);
    set(run, "BK", x.bk);
    if (kb_bench_choice(run, "b_by") == B_AUTO)
        kb_bench_set(run, "b_by", room.shared ? "rows" : "columns");
    if (kb_bench_choice(run, "send") == SEND_AUTO)
        kb_bench_set(run, "send", room.no_multicast ? "each" : "multicast");
    kb_bench_input(run, "a", x.dtype, KB_SHAPE(x.m, x.k), of_ac, 1);
    kb_bench_input(run, "b", x.dtype, KB_SHAPE(x.k, x.n), placement_of_b(run),
                   1 / sqrt((double)x.k));
    kb_bench_output(run, "c", x.dtype_c, KB_SHAPE(x.m, x.n), of_ac);
    kb_bench_launch(run, "gemm_grid", gemm_grid, NULL, 0);
}

static void reference(const kb_bench_run *run, double *const *t)
{
    kb_reference_product(t[0], t[1], t[2], kb_bench_int(run, "M"), kb_bench_int(run, "N"),
                         kb_bench_int(run, "K"));
}

#define CHOSEN_ARG(name, help)                                                                     \
    {                                                                                              \
        name, KB_ARG_INT, "0", 0, 65536, NULL, help "; 0: chosen"                                  \
    }

static const kb_bench_arg arguments[] = {
    SIZE_ARG("M", "256", "rows of a and c"),
    SIZE_ARG("N", "256", "columns of b and c"),
    SIZE_ARG("K", "256", "columns of a, rows of b"),
    DTYPE_ARG("f16", "f16 bf16 f32 f64 i8"),
    CHOSEN_ARG("GRID", "rows of the grid of PEs"),
    CHOSEN_ARG("BM", "rows of c in an accumulator"),
    CHOSEN_ARG("BN", "columns of it"),
    CHOSEN_ARG("BK", "of K in a step"),
    {"b_by", KB_ARG_CHOICE, "auto", 0, 0, "auto columns rows", "what of b a cube has"},
    {"send", KB_ARG_CHOICE, "auto", 0, 0, "auto multicast each", "how a tile goes to all others"},
};

const kb_bench bench_gemm_grid = {
    .name = "gemm_grid",
    .summary = "c = a b on a grid of PEs: a by multicast along its rows, b along its columns",
    .args = arguments,
    .n_args = sizeof arguments / sizeof *arguments,
    .setup = setup,
    .reference = reference,
};
