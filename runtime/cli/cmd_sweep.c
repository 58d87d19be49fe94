/*
 * cmd_sweep.c -- `sweep`: every combination of sources, targets, sizes and loads, a row each.
 *
 * Points are independent of each other, so they run in parallel; rows come out in the order of the
 * points and do not depend on the number of threads. The points (in/points.h: numbered 0 to n - 1,
 * made from their number alone) are cut into blocks of consecutive numbers. A thread takes the next
 * block, runs its points in the thread's own simulation, and prints their rows into the block's own
 * buffer. The main thread takes the blocks in order and writes the buffers to the output
 * (plan/plan.c). So formatting, which takes longer than a point that is answered from tables,
 * runs in parallel, too, and memory stays at `window` blocks however many points there are.
 *
 * Size of a block: at least BLOCKS_PER_THREAD blocks for each thread, so that all threads end at
 * about the same time; at most BLOCK_POINTS points and about BLOCK_TRANSACTIONS transactions (some
 * ten ms), so that Ctrl-C and the first rows do not wait. For example 64 PEs x 64 slices x 3 sizes
 * are 12288 points; with two threads 12288 / 2 / 4 = 1536, so the bound of 1024 holds: 12 blocks,
 * of which up to 8 (the window: 2 threads x 4) are in work or wait for their turn.
 *
 * Invariants:
 *   - Block i uses the buffers of slot i % window. The plan begins block i only after block
 *     i - window was given, so no other block uses them.
 *   - A view keeps its place in the lists (struct points_at) from row to row: the next point costs
 *     some ns, any other point a search. Each block has its own.
 *   - After Ctrl-C or a failure, blocks are given up to the first that is not complete, and of that
 *     one the points that are: the rows printed are always those of points 0 to k - 1.
 *
 * Formats that need all rows at once (table: widths of columns; a report; --sqlite, which is
 * written after the output) keep all results (`kept`) and make rows from them in the end.
 *
 * --dry-run runs blocks for dry_run_s seconds and estimates the whole from them. Neighbouring
 * points are alike (the last list turns first), so it takes the blocks with a stride of about 0.618
 * times their number: soon there are some from everywhere, and each block comes once.
 */
#include "cli/out/memory.h"
#include "cli/fail_if.h"
#include "cli/in/points.h"
#include "cli/out/say.h"
#include "cli/out/scatter.h"
#include "cli/out/session.h"
#include "cli/out/speed.h"
#include "cli/out/stop.h"
#include "cli/plan/plan.h"
#include <stdlib.h>

enum {
    BLOCK_POINTS = 1024,        /* at most */
    BLOCK_TRANSACTIONS = 65536, /* about: some ten ms */
    BLOCKS_PER_THREAD = 4,
    THREADS_KEPT = 16,   /* a journal has the same blocks whatever -j is */
    POINTS_AT_ONCE = 64, /* between two looks at stop_asked() */
};

static const double dry_run_s = 0.2;

/* One row. */
struct point_row {
    const char *src, *dst;
    kb_point point;
    kb_point_result result;
};

#define WAIT_COLUMN(NAME, name)                                                                    \
    COLUMN("queue_" #name "_ns", CELL_NS, struct point_row, result.wait_fs[KB_WAIT_##NAME]),

static const struct column columns[] = {
    COLUMN("src", CELL_TEXT, struct point_row, src),
    COLUMN("dst", CELL_TEXT, struct point_row, dst),
    COLUMN("nbytes", CELL_COUNT, struct point_row, point.nbytes),
    COLUMN("inflight", CELL_COUNT, struct point_row, point.inflight),
    COLUMN_WORD("op", struct point_row, point.op, op_names),
    COLUMN("count", CELL_COUNT, struct point_row, result.count),
    COLUMN("mean_ns", CELL_NS, struct point_row, result.mean_fs),
    COLUMN("p50_ns", CELL_NS, struct point_row, result.p50_fs),
    COLUMN("p99_ns", CELL_NS, struct point_row, result.p99_fs),
    COLUMN("max_ns", CELL_NS, struct point_row, result.max_fs),
    COLUMN("makespan_ns", CELL_NS, struct point_row, result.makespan_fs),
    COLUMN("gbs", CELL_FRACTION, struct point_row, result.gbs),
    COLUMN("wire_ns", CELL_NS, struct point_row, result.wire_fs),
    COLUMN("overhead_ns", CELL_NS, struct point_row, result.overhead_fs),
    COLUMN("drain_ns", CELL_NS, struct point_row, result.drain_fs),
    COLUMN("response_ns", CELL_NS, struct point_row, result.response_fs),
    KB_WAITS(WAIT_COLUMN) /* queue_channel_ns, queue_engine_ns, ... */
};

enum { N_COLUMNS = sizeof columns / sizeof *columns };

/* Behind response_ns, where links are routers. */
static const struct column return_column =
    COLUMN("return_ns", CELL_NS, struct point_row, result.return_fs);

/* Results of points in a row, and where rows are printed from them. One thread at a time. */
struct view {
    const struct points *points;
    const kb_point_result *results; /* of the points from `first` */
    uint64_t first;
    struct points_at at;              /* of the row before */
    const struct column *with_return; /* borrowed; NULL: links are no routers */
};

/* A block in work, or done and not given yet. */
struct block {
    kb_point points[POINTS_AT_ONCE];
    kb_point_result *results; /* owned, unless they are kept */
    struct view view;
    uint64_t n, n_run; /* points, and of these complete */
    struct sink text;  /* their rows */
    kb_status status;
    kb_error why;
};

struct sweep {
    const struct cli *cli;
    struct points points;
    uint64_t first, n; /* points of this part, which is mostly the whole */
    uint64_t block_points, n_blocks;
    uint64_t stride;     /* from one block to the next, modulo n_blocks */
    struct block *block; /* owned; block i is at i % window */
    kb_sim **sims;       /* owned; one a thread, NULL until it needs it */
    unsigned threads, window;
    kb_point_result *kept; /* owned; all of them, for what takes rows last. NULL: not kept */
    bool prints, begun;    /* rows, by blocks; their head is printed */
    struct sink *out;
    uint64_t n_done; /* points, all from 0 on */
    struct speed speed;
    uint64_t transactions; /* of these points */
    double simulated_fs;
    double end_s; /* of a dry run */
    struct column with_return[N_COLUMNS + 1];
    kb_status status;
    kb_error why;
};

/* -- rows ----------------------------------------------------------------------------------- */

static bool point_row(void *arg, uint64_t i, struct cell *cells)
{
    struct view *view = arg;
    const struct points *points = view->points;

    points_seek(points, &view->at, i);
    struct point_row row = {.src = points_src(points, &view->at)->name,
                            .dst = points_dst(points, &view->at)->name,
                            .point = points_get(points, &view->at),
                            .result = view->results[i - view->first]};
    if (view->with_return)
        record_cells(view->with_return, N_COLUMNS + 1, &row, cells);
    else
        record_cells(columns, N_COLUMNS, &row, cells);
    return true;
}

static struct rows rows_of(struct view *view, uint64_t n)
{
    return (struct rows){.columns = view->with_return ? view->with_return : columns,
                         .n_columns = N_COLUMNS + (view->with_return != NULL),
                         .n_rows = n,
                         .row = point_row,
                         .arg = view};
}

static const struct column *return_columns(const struct sweep *s)
{
    return cmd_tells_return(s->cli) ? s->with_return : NULL;
}

/* -- blocks --------------------------------------------------------------------------------- */

/* The simulation of a thread. */
static kb_sim *sim_of(struct sweep *s, unsigned thread, kb_status *status)
{
    kb_options options = {.engine = s->cli->opts.engine};

    if (!s->sims[thread])
        *status = kb_sim_new(s->cli->topo, &options, &s->sims[thread]);
    return s->sims[thread];
}

static bool asks_to_stop(void *arg)
{
    (void)arg;
    return stop_asked();
}

/* Runs points until all are complete, one fails, or stop_asked(). */
static void run_points(struct sweep *s, kb_sim *sim, struct block *b)
{
    struct points_at at;
    size_t n_run;

    for (at.number = UINT64_MAX - 1; b->n_run < b->n && !b->status && !stop_asked();
         b->n_run += n_run) {
        size_t n = b->n - b->n_run < POINTS_AT_ONCE ? b->n - b->n_run : POINTS_AT_ONCE;

        for (size_t i = 0; i < n; i++) {
            points_seek(&s->points, &at, b->view.first + b->n_run + i);
            b->points[i] = points_get(&s->points, &at);
        }
        b->status = kb_sweep_until(sim, b->points, n, asks_to_stop, NULL, b->results + b->n_run,
                                   &n_run, &b->why);
        if (b->status == KB_STOPPED)
            b->status = KB_OK; /* stop_asked() ends the loop */
    }
}

static void begin_block(struct sweep *s, struct block *b, uint64_t i)
{
    uint64_t number = (uint64_t)((unsigned __int128)i * s->stride % s->n_blocks);
    uint64_t begin = number * s->block_points, first = s->first + begin, rest = s->n - begin;

    b->n = rest < s->block_points ? rest : s->block_points;
    b->n_run = 0;
    b->status = KB_OK;
    if (s->kept)
        b->results = s->kept + begin;
    b->view = (struct view){.points = &s->points,
                            .results = b->results,
                            .first = first,
                            .at.number = UINT64_MAX - 1,
                            .with_return = return_columns(s)};
    b->text.at = b->text.buffer;
}

static void do_block(void *arg, unsigned thread, uint64_t i)
{
    struct sweep *s = arg;
    struct block *b = &s->block[i % s->window];
    kb_sim *sim;

    begin_block(s, b, i);
    sim = sim_of(s, thread, &b->status);
    if (sim)
        run_points(s, sim, b);
    struct rows rows = rows_of(&b->view, s->points.n);
    if (s->prints)
        out_rows(&rows, b->view.first, b->view.first + b->n_run, s->cli->opts.format, &b->text);
}

/* The result of a block: its points, and its rows as text. */
static void pack_block(void *arg, uint64_t i, struct packed *to)
{
    struct sweep *s = arg;
    const struct block *b = &s->block[i % s->window];
    size_t n = (size_t)(b->text.at - b->text.buffer);

    PACKED_PUT(to, b->n_run);
    PACKED_PUT(to, b->status);
    PACKED_PUT(to, b->why);
    packed_put(to, b->results, b->n_run * sizeof *b->results);
    PACKED_PUT(to, n);
    packed_put(to, b->text.buffer, n);
}

static void unpack_block(void *arg, uint64_t i, struct packed *from)
{
    struct sweep *s = arg;
    struct block *b = &s->block[i % s->window];
    size_t n;

    begin_block(s, b, i);
    PACKED_TAKE(from, b->n_run);
    PACKED_TAKE(from, b->status);
    PACKED_TAKE(from, b->why);
    packed_take(from, b->results, b->n_run * sizeof *b->results);
    PACKED_TAKE(from, n);
    sink_bytes(&b->text, packed_next(from, n), n);
}

/* Has it run to its end? */
static bool is_final(void *arg, uint64_t i)
{
    const struct sweep *s = arg;
    const struct block *b = &s->block[i % s->window];

    return !b->status && b->n_run == b->n;
}

/* Before the first rows, so that a mistake of the first point leaves nothing behind it. */
static void print_head(struct sweep *s, const struct rows *rows)
{
    struct origin origin = cmd_origin(s->cli);

    if (s->begun)
        return;
    s->begun = true;
    out_head(rows, &origin, s->cli->opts.format, s->out);
}

static bool give_block(void *arg, uint64_t i)
{
    struct sweep *s = arg;
    struct block *b = &s->block[i % s->window];

    s->n_done += b->n_run;
    for (uint64_t k = 0; k < b->n_run; k++) {
        s->transactions += b->results[k].count;
        s->simulated_fs += (double)b->results[k].makespan_fs;
    }
    s->status = b->status;
    s->why = b->why;
    if (s->out && s->prints) {
        struct rows rows = rows_of(&b->view, s->points.n);

        fail_if_judge(s->cli, &rows, b->view.first, b->view.first + b->n_run);
        if (b->n_run > 0)
            print_head(s, &rows);
    }
    if (s->out) {
        sink_bytes(s->out, b->text.buffer, (size_t)(b->text.at - b->text.buffer));
        sink_flush(s->out);
    }
    return b->n_run == b->n && (!s->out || sink_ok(s->out)) &&
           (s->out || progress_now_s() < s->end_s);
}

static uint64_t n_done(void *arg)
{
    return ((const struct sweep *)arg)->n_done;
}

/* -- the sweep ------------------------------------------------------------------------------ */

/* See the top of this file: small enough for all threads to get some, and for Ctrl-C. */
static uint64_t points_of_block(const struct sweep *s)
{
    uint64_t mean = s->points.n_transactions / s->points.n;
    unsigned threads = s->cli->opts.resume ? THREADS_KEPT : s->threads;
    uint64_t n = s->n / ((uint64_t)threads * BLOCKS_PER_THREAD);

    n = n < BLOCK_POINTS ? n : BLOCK_POINTS;
    n = n < BLOCK_TRANSACTIONS / mean ? n : BLOCK_TRANSACTIONS / mean;
    return n > 0 ? n : 1;
}

/* Room for blocks, and for all results if they are kept. */
static void make_room(struct sweep *s, bool keep)
{
    s->block_points = points_of_block(s);
    s->n_blocks = (s->n + s->block_points - 1) / s->block_points;
    s->window = s->threads * BLOCKS_PER_THREAD;
    s->block = memory_new(s->window, sizeof *s->block);
    s->sims = memory_new(s->threads, sizeof(kb_sim *));
    if (keep)
        s->kept = memory_new(s->points.n, sizeof *s->kept);
    for (unsigned i = 0; i < s->window; i++) {
        sink_open_memory(&s->block[i].text);
        if (!keep)
            s->block[i].results = memory_new(s->block_points, sizeof *s->block[i].results);
    }
}

static void free_room(struct sweep *s)
{
    for (unsigned i = 0; s->block && i < s->window; i++) {
        sink_free(&s->block[i].text);
        if (!s->kept)
            free(s->block[i].results);
    }
    for (unsigned i = 0; s->sims && i < s->threads; i++)
        kb_sim_free(s->sims[i]);
    free(s->block);
    free(s->sims);
    free(s->kept);
}

/* Runs all blocks. What was complete is complete also after a failure. */
static enum exit_code run_blocks(struct sweep *s)
{
    struct plan blocks = {.cli = s->cli,
                          .things = "points",
                          .n = s->n_blocks,
                          .threads = s->threads,
                          .window = s->window,
                          .work = do_block,
                          .give = give_block,
                          .is_final = is_final,
                          .pack = pack_block,
                          .unpack = unpack_block,
                          .total = s->n,
                          .done = n_done,
                          .arg = s};

    speed_begin(&s->speed);
    enum exit_code code = plan_run(&blocks);
    speed_end(&s->speed);
    if (code)
        return code;
    return s->status ? cmd_fail(s->cli, s->status, &s->why) : EXIT_OK;
}

/* Does the output need all rows before its first byte? */
static bool prints_last(const struct cli *cli)
{
    return cli->report || cli->varied || session_here() || cli->opts.format == FORMAT_TABLE;
}

static void say_left_out(const struct sweep *s)
{
    if (s->points.n_left_out > 0 && !s->cli->opts.quiet)
        cmd_say(s->cli, EXIT_OK, "%llu combination%s no route and %s left out",
                (unsigned long long)s->points.n_left_out,
                s->points.n_left_out == 1 ? " has" : "s have",
                s->points.n_left_out == 1 ? "is" : "are");
}

static enum exit_code sweep_into(void *arg, struct sink *out)
{
    struct sweep *s = arg;
    struct view all = {
        .points = &s->points, .at.number = UINT64_MAX - 1, .with_return = return_columns(s)};
    struct rows rows = rows_of(&all, s->points.n);
    struct origin origin = cmd_origin(s->cli);

    say_left_out(s);
    make_room(s, prints_last(s->cli) || s->cli->sqlite);
    s->out = out;
    s->prints = !prints_last(s->cli);
    all.results = s->kept;
    enum exit_code code = run_blocks(s);
    if (code)
        return code;
    rows.n_rows = s->n_done;
    if (s->prints) {
        print_head(s, &rows);
        out_tail(&rows, s->cli->opts.format, out);
        cmd_add(s->cli, &rows, &origin, out);
    } else {
        cmd_write(s->cli, &rows, out);
    }
    sink_flush(out);
    speed_say(&s->speed, s->cli->opts.quiet, s->transactions, "transactions", s->simulated_fs);
    if (s->n_done == s->n || !sink_ok(out))
        return EXIT_OK;
    cmd_note(s->cli, "%s: %llu of %llu points complete", stop_word(), (unsigned long long)s->n_done,
             (unsigned long long)s->n);
    return EXIT_INTERRUPTED;
}

/* -- the dry run ---------------------------------------------------------------------------- */

struct dry_run {
    uint64_t points, transactions, left_out;
    unsigned threads;
    double estimated_s;
};

static const struct column dry_columns[] = {
    COLUMN("points", CELL_COUNT, struct dry_run, points),
    COLUMN("transactions", CELL_COUNT, struct dry_run, transactions),
    COLUMN("left_out", CELL_COUNT, struct dry_run, left_out),
    COLUMN("threads", CELL_COUNT, struct dry_run, threads),
    COLUMN("estimated_s", CELL_FRACTION, struct dry_run, estimated_s),
};

/* Runs as many blocks as a short time allows, and takes them for all. */
static enum exit_code dry_run(struct sweep *s)
{
    struct dry_run dry = {.points = s->points.n,
                          .transactions = s->points.n_transactions,
                          .left_out = s->points.n_left_out,
                          .threads = s->threads};
    struct rows rows = {ROWS_COLUMNS(dry_columns), ROWS_ARRAY(&dry, 1)};

    make_room(s, false);
    s->prints = true;
    s->stride = scatter_stride(s->n_blocks);
    double begin_s = progress_now_s();
    s->end_s = begin_s + dry_run_s;
    enum exit_code code = run_blocks(s);
    if (code || s->n_done == 0)
        return code ? code : EXIT_INTERRUPTED;
    dry.estimated_s = (progress_now_s() - begin_s) * (double)s->points.n / (double)s->n_done;
    return cmd_print(s->cli, &rows);
}

enum exit_code cmd_sweep(const struct cli *cli)
{
    struct sweep *s = memory_new(1, sizeof *s);
    enum exit_code code = points_read(&s->points, cli);

    s->cli = cli;
    cmd_add_return(columns, N_COLUMNS, &return_column, s->with_return);
    s->stride = 1;
    s->first = plan_first(cli, s->points.n);
    s->n = plan_count(cli, s->points.n);
    if (!code) {
        s->threads = plan_threads(cli);
        code = cli->opts.dry_run ? dry_run(s) : cmd_output(cli, sweep_into, s);
    }
    if (stop_leaves())
        return code;
    free_room(s);
    points_free(&s->points);
    free(s);
    return code;
}
