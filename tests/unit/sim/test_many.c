/*
 * test_many.c -- columns of transactions and of results say what single calls say.
 *
 * link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=free
 */
#include "support/any_topology.h"
#include "support/failing.h"
#include "support/scenario.h"

enum { SEEDS = 16, FIELDS = sizeof(kb_result) / sizeof(int64_t) };

/* -- requests as columns -------------------------------------------------------------------- */

struct columns {
    kb_transaction_columns c;
    kb_endpoint *ends;
    uint32_t *src, *dst;
    uint64_t *nbytes, *offset, *address, *stride;
    int64_t *issue_fs;
    uint8_t *op, *plane, *prio;
    uint32_t *rows, *n_targets, *targets;
};

static uint32_t number_of(struct columns *c, const kb_endpoint *end)
{
    uint32_t i = 0;

    while (i < c->c.n_ends && memcmp(&c->ends[i], end, sizeof *end) != 0)
        i++;
    if (i == c->c.n_ends)
        c->ends[c->c.n_ends++] = *end;
    return i;
}

static void *column(size_t n, size_t bytes)
{
    void *at = calloc(n + 1, bytes);

    assert_non_null(at);
    return at;
}

/* Targets of the first `n` rows. */
static size_t targets_of(const kb_transaction *rows, size_t n)
{
    size_t all = 0;

    for (size_t i = 0; i < n; i++)
        all += rows[i].n_targets;
    return all;
}

/* A column that is 0 in all of `n` rows is left out: rows without more are added another way. */
static void *or_none(void *column, size_t n, size_t bytes)
{
    const char *at = column;

    for (size_t i = 0; i < n * bytes; i++)
        if (at[i])
            return column;
    return NULL;
}

static struct columns columns_of(const kb_transaction *rows, size_t n)
{
    size_t all = targets_of(rows, n), at = 0;
    struct columns c = {.ends = column(2 * n + all, sizeof *c.ends),
                        .n_targets = column(n, sizeof *c.n_targets),
                        .targets = column(all, sizeof *c.targets),
                        .src = column(n, sizeof *c.src),
                        .dst = column(n, sizeof *c.dst),
                        .nbytes = column(n, sizeof *c.nbytes),
                        .offset = column(n, sizeof *c.offset),
                        .address = column(n, sizeof *c.address),
                        .issue_fs = column(n, sizeof *c.issue_fs),
                        .op = column(n, 1),
                        .plane = column(n, 1),
                        .prio = column(n, 1),
                        .rows = column(n, sizeof *c.rows),
                        .stride = column(n, sizeof *c.stride)};

    for (size_t i = 0; i < n; i++) {
        c.src[i] = number_of(&c, &rows[i].src);
        c.dst[i] = rows[i].by_address ? KB_BY_ADDRESS : number_of(&c, &rows[i].dst);
        c.nbytes[i] = rows[i].nbytes;
        c.offset[i] = rows[i].offset;
        c.address[i] = rows[i].address;
        c.issue_fs[i] = rows[i].issue_fs;
        c.op[i] = (uint8_t)rows[i].op;
        c.plane[i] = (uint8_t)rows[i].plane;
        c.prio[i] = (uint8_t)rows[i].prio;
        c.rows[i] = rows[i].rows;
        c.stride[i] = rows[i].stride;
        c.n_targets[i] = rows[i].n_targets;
        for (uint32_t k = 0; k < rows[i].n_targets; k++)
            c.targets[at++] = number_of(&c, &rows[i].targets[k]);
    }
    c.c = (kb_transaction_columns){.ends = c.ends,
                                   .n_ends = c.c.n_ends,
                                   .src = c.src,
                                   .dst = c.dst,
                                   .nbytes = c.nbytes,
                                   .issue_fs = c.issue_fs,
                                   .op = c.op,
                                   .offset = c.offset,
                                   .plane = or_none(c.plane, n, 1),
                                   .prio = or_none(c.prio, n, 1),
                                   .address = c.address,
                                   .rows = or_none(c.rows, n, sizeof *c.rows),
                                   .stride = or_none(c.stride, n, sizeof *c.stride),
                                   .n_targets = or_none(c.n_targets, n, sizeof *c.n_targets),
                                   .targets = c.targets};
    return c;
}

static void drop_columns(struct columns *c)
{
    void *all[] = {c->ends, c->src,   c->dst,  c->nbytes, c->offset, c->address,   c->issue_fs,
                   c->op,   c->plane, c->prio, c->rows,   c->stride, c->n_targets, c->targets};

    for (size_t i = 0; i < LENGTH(all); i++)
        free(all[i]);
}

/* Rows from `first` on. */
static kb_transaction_columns from(const struct columns *c, size_t first)
{
    kb_transaction_columns r = c->c;

    for (size_t i = 0; i < first; i++)
        r.targets += c->n_targets[i];
    r.n_targets += r.n_targets ? first : 0;
    r.src += first;
    r.dst += first;
    r.rows += r.rows ? first : 0;
    r.stride += r.stride ? first : 0;
    r.nbytes += first;
    r.issue_fs += first;
    r.op += first;
    r.offset += first;
    r.plane += r.plane ? first : 0;
    r.prio += r.prio ? first : 0;
    r.address += first;
    return r;
}

/* -- results as columns --------------------------------------------------------------------- */

/* Columns in rows of kb_result, which lie `stride` bytes apart (0: FIELDS arrays of `room`). */
static kb_result_columns result_columns(int64_t *at, size_t room, size_t stride, uint8_t *status)
{
    kb_result_columns c = {.status = status, .stride = stride};
    int64_t *to[FIELDS];

    for (size_t i = 0; i < FIELDS; i++)
        to[i] = stride ? at + i : at + i * room;
    memcpy(&c.issue_fs, to, sizeof to);
    return c;
}

/* All columns of the rows first..first+n-1 are what kb_sim_result() says of each. */
static void assert_window(const kb_sim *sim, size_t first, size_t n, size_t stride)
{
    size_t apart = stride ? stride / sizeof(int64_t) : FIELDS;
    int64_t *at = column(n * apart, sizeof *at);
    uint8_t *status = column(n, 1);
    kb_result_columns c = result_columns(at, n, stride, status);
    kb_status worst = KB_OK;

    kb_status got = kb_sim_results(sim, first, n, &c);

    for (size_t i = 0; i < n; i++) {
        kb_result r = {0};
        int64_t fields[FIELDS];

        assert_int_equal(status[i], kb_sim_result(sim, first + i, &r));
        worst = status[i] ? (kb_status)status[i] : worst;
        memcpy(fields, &r, sizeof r);
        for (size_t k = 0; k < FIELDS; k++)
            assert_true(fields[k] == (stride ? at[i * apart + k] : at[k * n + i]));
    }
    assert_int_equal(got, worst);
    free(at);
    free(status);
}

static void assert_results(const kb_sim *sim, uint64_t *dice)
{
    size_t n = kb_sim_count(sim), first = draw(dice) % n;

    assert_window(sim, 0, n, 0);
    assert_window(sim, first, n - first, 0);
    assert_window(sim, 0, first, sizeof(kb_result));
    assert_window(sim, first, draw(dice) % (n - first + 1), sizeof(kb_result) + 24);
}

/* -- the same, whichever way ------------------------------------------------------------------ */

/* Adds the rows in a few calls, each of columns. */
static void add_in_pieces(kb_sim *sim, const struct columns *c, size_t n, uint64_t *dice)
{
    for (size_t at = 0, more; at < n; at += more) {
        kb_transaction_columns rows = from(c, at);
        kb_error why = {""};
        size_t bad;

        more = draw(dice) % (n - at) + 1;
        if (kb_sim_add_many(sim, &rows, more, &bad, &why) != KB_OK)
            fail_msg("row %zu: %s", at + bad, why.text);
    }
}

static void assert_same_requests(const kb_sim *a, const kb_sim *b)
{
    assert_true(kb_sim_count(a) == kb_sim_count(b));
    for (uint64_t i = 0; i < kb_sim_count(a); i++) {
        kb_transaction x, y;

        assert_int_equal(kb_sim_request(a, i, &x), KB_OK);
        assert_int_equal(kb_sim_request(b, i, &y), KB_OK);
        assert_memory_equal(&x, &y, sizeof x);
    }
}

static void assert_same_runs(const struct scenario *s, kb_options options, const struct columns *c,
                             uint64_t *dice)
{
    kb_sim *one = sim_of_rows(s->topo, options, s->rows, s->n), *many = new_sim(s->topo, options);

    add_in_pieces(many, c, s->n, dice);
    for (size_t i = 0; i < s->n; i++)
        if (s->rows[i].n_after)
            add_after(many, i, &s->rows[i]);
    assert_same_requests(one, many);
    assert_int_equal(run_by(one, 0, s), run_by(many, 0, s));
    assert_true(kb_sim_fingerprint(one) == kb_sim_fingerprint(many));
    assert_true(kb_sim_end_fs(one) == kb_sim_end_fs(many));
    assert_same_requests(one, many);
    for (uint64_t i = 0; i < s->n; i++) {
        kb_result x = {0}, y = {0};

        assert_int_equal(kb_sim_result(one, i, &x), kb_sim_result(many, i, &y));
        assert_memory_equal(&x, &y, sizeof x);
    }
    assert_results(many, dice);
    kb_sim_free(one);
    kb_sim_free(many);
}

/* A time in the middle of a run, at which some rows are complete. */
static int64_t middle_of(const struct scenario *s)
{
    kb_sim *sim = sim_of_rows(s->topo, (kb_options){0}, s->rows, s->n);

    run_by(sim, 0, s);
    int64_t end_fs = kb_sim_end_fs(sim);
    kb_sim_free(sim);
    return end_fs / 2 + 1;
}

static kb_endpoint *copied(const kb_endpoint *ends, size_t n)
{
    kb_endpoint *copy = n ? column(n, sizeof *copy) : NULL;

    for (size_t i = 0; i < n; i++)
        copy[i] = ends[i];
    return copy;
}

static void check_load(struct scenario *s)
{
    kb_transaction *rows = column(s->n, sizeof *rows);
    struct columns c;

    for (size_t i = 0; i < s->n; i++) {
        rows[i] = request_of(&s->rows[i]);
        rows[i].targets = copied(rows[i].targets, rows[i].n_targets);
    }
    c = columns_of(rows, s->n);
    assert_same_runs(s, (kb_options){.fingerprint = true}, &c, &s->dice);
    assert_same_runs(s, (kb_options){0}, &c, &s->dice);
    assert_same_runs(s, (kb_options){.engine = KB_HOP, .until_fs = middle_of(s)}, &c, &s->dice);
    assert_same_runs(s, (kb_options){.costs_off = KB_COST_WIRE | KB_COST_LINK_GBS}, &c, &s->dice);
    drop_columns(&c);
    for (size_t i = 0; i < s->n; i++)
        free((void *)rows[i].targets);
    free(rows);
}

static void check_machine(void (*machine)(FILE *out, uint64_t seed), uint64_t seed, bool splits)
{
    struct scenario s = {.seed = seed, .dice = seed};
    char *yaml = splits ? random_split_topo(machine, seed, &s.dice) : printed(machine, seed);
    struct judge_topo *t = judge_load_text(yaml);

    s.topo = any_topology(yaml); /* NULL: the draw is no machine, as some with gaps are not */
    assert_non_null(t);
    for (int load = 0; s.topo && load < LOADS; load++) {
        draw_rows(&s, t, load, splits);
        if (s.n)
            check_load(&s);
        drop_load(&s);
    }
    any_topology_free(s.topo);
    judge_free(t);
    free(yaml);
}

/* docs/library.md "Columns": "what single calls say", on machines of every kind */
static void columns_say_what_single_calls_say(void **state)
{
    static void (*const machines[])(FILE * out, uint64_t seed) = {
        judge_random_topo, judge_random_shape, judge_random_banks, judge_random_routers,
        judge_random_detours};

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        for (size_t i = 0; i < LENGTH(machines); i++)
            check_machine(machines[i], seed, i < 2 && seed % 4 == 0);
}

/* -- columns that are left out --------------------------------------------------------------- */

#define CUBE8 "kernbench: 1\nname: cube8\nsip: {cube_mesh: {w: 4, h: 2}}\n"

static kb_transaction plain_row(uint32_t i)
{
    return (kb_transaction){
        .src = {KB_PE, 0, 0, i % 8}, .dst = {KB_SLICE, 0, 1, i % 3}, .nbytes = 64 + i};
}

enum { PLAIN = 9 };

static struct columns plain_columns(kb_transaction rows[PLAIN])
{
    for (uint32_t i = 0; i < PLAIN; i++)
        rows[i] = plain_row(i);
    return columns_of(rows, PLAIN);
}

static void columns_that_are_left_out_are_zero(void **state)
{
    const kb_topology *t = any_topology(CUBE8);
    kb_transaction rows[PLAIN];
    struct columns c = plain_columns(rows);
    kb_transaction_columns few = {
        .ends = c.ends, .n_ends = c.c.n_ends, .src = c.src, .dst = c.dst, .nbytes = c.nbytes};
    kb_sim *one = new_sim(t, (kb_options){0}), *many = new_sim(t, (kb_options){0});
    int64_t end_fs[PLAIN];

    (void)state;
    for (size_t i = 0; i < PLAIN; i++)
        add(one, &rows[i]);
    assert_int_equal(kb_sim_add_many(many, &few, PLAIN, NULL, NULL), KB_OK);
    assert_same_requests(one, many);
    run_all(one);
    run_all(many);
    assert_int_equal(kb_sim_results(many, 0, PLAIN, &(kb_result_columns){.end_fs = end_fs}), KB_OK);
    for (size_t i = 0; i < PLAIN; i++)
        assert_true(end_fs[i] == result_of(one, i).end_fs);
    assert_int_equal(kb_sim_results(many, 0, PLAIN, &(kb_result_columns){0}), KB_OK);
    drop_columns(&c);
    kb_sim_free(one);
    kb_sim_free(many);
    any_topology_free(t);
}

static void no_rows_are_no_mistake(void **state)
{
    const kb_topology *t = any_topology(CUBE8);
    kb_sim *sim = new_sim(t, (kb_options){0});

    (void)state;
    assert_int_equal(kb_sim_add_many(sim, &(kb_transaction_columns){0}, 0, NULL, NULL), KB_OK);
    assert_int_equal(kb_sim_results(sim, 0, 0, &(kb_result_columns){0}), KB_OK);
    assert_int_equal(kb_sim_results(sim, 1, 0, &(kb_result_columns){0}), KB_BAD_REQUEST);
    assert_int_equal(kb_sim_results(sim, 0, 1, &(kb_result_columns){0}), KB_BAD_REQUEST);
    assert_int_equal(kb_sim_results(sim, 0, SIZE_MAX, &(kb_result_columns){0}), KB_BAD_REQUEST);
    kb_sim_free(sim);
    any_topology_free(t);
}

/* Rows between ends that are known from the first two rows on; of the others, the later, the
 * earlier issued. */
static kb_transaction known_row(uint32_t i, uint32_t n)
{
    return (kb_transaction){.op = i % 2 ? KB_WRITE : KB_READ,
                            .src = {KB_PE, 0, 0, i % 2},
                            .dst = {KB_SLICE, 0, 5, i % 2},
                            .nbytes = 64 + i,
                            .offset = 64 * i,
                            .issue_fs = i < 2 ? (int64_t)i : (int64_t)(n - i) * 1000};
}

static void rows_between_known_ends_are_as_single_ones(void **state)
{
    enum { N = 100 };
    const kb_topology *t = any_topology(CUBE8);
    kb_sim *many = new_sim(t, (kb_options){0}), *single = new_sim(t, (kb_options){0});
    kb_transaction rows[N];
    struct columns c;

    (void)state;
    for (uint32_t i = 0; i < N; i++) {
        rows[i] = known_row(i, N);
        assert_int_equal(kb_sim_add(single, &rows[i], NULL), KB_OK);
    }
    c = columns_of(rows, N);
    assert_int_equal(kb_sim_add_many(many, &c.c, N, NULL, NULL), KB_OK);
    run_all(many);
    run_all(single);
    for (uint64_t i = 0; i < N; i++) {
        kb_result x, y;

        assert_int_equal(kb_sim_result(many, i, &x), KB_OK);
        assert_int_equal(kb_sim_result(single, i, &y), KB_OK);
        assert_memory_equal(&x, &y, sizeof x);
    }
    drop_columns(&c);
    kb_sim_free(many);
    kb_sim_free(single);
    any_topology_free(t);
}

/* A mistake in the last row, whose ends are known. */
static void a_mistake_between_known_ends_is_named(void **state)
{
    enum { N = 10 };
    static const struct {
        int64_t issue_fs;
        uint64_t offset, nbytes;
        kb_transaction_op op;
    } wrong[] = {{-1, 0, 64, KB_READ},
                 {0, 0, 0, KB_READ},
                 {0, 0, UINT64_MAX, KB_READ},
                 {0, UINT64_MAX, 64, KB_READ},
                 {0, 64, UINT64_MAX, KB_READ},
                 {0, 0, 64, KB_H2D},
                 {0, 0, 64, (kb_transaction_op)4}};
    const kb_topology *t = any_topology(CUBE8);
    kb_sim *sim = new_sim(t, (kb_options){0});

    (void)state;
    for (size_t k = 0; k < LENGTH(wrong); k++) {
        kb_transaction rows[N];
        kb_error many = {""}, one = {""};
        struct columns c;
        size_t bad = SIZE_MAX;

        for (uint32_t i = 0; i < N; i++)
            rows[i] = known_row(i, N);
        rows[N - 1].issue_fs = wrong[k].issue_fs;
        rows[N - 1].offset = wrong[k].offset;
        rows[N - 1].nbytes = wrong[k].nbytes;
        rows[N - 1].op = wrong[k].op;
        c = columns_of(rows, N);
        assert_int_equal(kb_sim_add_many(sim, &c.c, N, &bad, &many), KB_BAD_REQUEST);
        assert_int_equal(kb_sim_add(sim, &rows[N - 1], &one), KB_BAD_REQUEST);
        assert_int_equal(bad, N - 1);
        assert_string_equal(many.text, one.text);
        assert_int_equal(kb_sim_count(sim), 0);
        drop_columns(&c);
    }
    kb_sim_free(sim);
    any_topology_free(t);
}

/* -- mistakes ---------------------------------------------------------------------------------- */

#define PES(i)                                                                                     \
    {                                                                                              \
        KB_PE, 0, 0, (i)                                                                           \
    }
#define SLICES(i)                                                                                  \
    {                                                                                              \
        KB_SLICE, 0, 0, (i)                                                                        \
    }

static const kb_endpoint twice[] = {SLICES(0), SLICES(0)}, apart[] = {SLICES(0), SLICES(1)};

static const kb_transaction mistakes[] = {
    {.op = 4, .src = PES(0), .dst = SLICES(0), .nbytes = 1},
    {.src = {5, 0, 0, 0}, .dst = SLICES(0), .nbytes = 1},
    {.src = PES(8), .dst = SLICES(0), .nbytes = 1},
    {.src = PES(0), .dst = SLICES(8), .nbytes = 1},
    {.src = {KB_PE, 1, 0, 0}, .dst = SLICES(0), .nbytes = 1},
    {.src = SLICES(0), .dst = SLICES(0), .nbytes = 1},
    {.src = PES(0), .dst = PES(1), .nbytes = 1},
    {.src = {KB_HOST, 0, 0, 0}, .dst = SLICES(0), .nbytes = 1},
    {.op = KB_H2D, .src = PES(0), .dst = SLICES(0), .nbytes = 1},
    {.op = KB_D2H, .src = {KB_HOST, 0, 0, 0}, .dst = {KB_SRAM, 0, 0, 0}, .nbytes = 1},
    {.src = PES(0), .dst = {KB_TCM, 0, 0, 0}, .nbytes = 1},
    {.src = PES(0), .dst = {KB_TCM, 0, 0, 1}, .nbytes = 1},
    {.src = PES(0), .dst = SLICES(0), .nbytes = 1, .plane = 1},
    {.src = PES(0), .dst = SLICES(0), .nbytes = 1, .prio = 1},
    {.src = PES(0), .dst = SLICES(0), .nbytes = 1, .issue_fs = -1},
    {.src = PES(0), .dst = SLICES(0), .nbytes = 0},
    {.src = PES(0), .dst = SLICES(0), .nbytes = UINT64_MAX},
    {.src = PES(0), .dst = SLICES(0), .nbytes = 1, .offset = UINT64_MAX},
    {.src = PES(0), .nbytes = 1, .by_address = true, .address = UINT64_MAX},
    {.src = PES(0), .nbytes = 0, .by_address = true, .address = 0},
    {.src = PES(0), .nbytes = 1, .targets = twice, .n_targets = 2},
    {.src = PES(0), .nbytes = 1, .targets = twice, .n_targets = 1},
    {.src = PES(0), .nbytes = 1, .targets = twice, .n_targets = 2, .rows = 2},
    {.src = PES(0), .nbytes = 0, .targets = apart, .n_targets = 2},
    {.op = KB_H2D, .src = PES(0), .nbytes = 1, .targets = apart, .n_targets = 2},
};

/* The call with `bad` as row `at` of PLAIN rows says what kb_sim_add() says, and adds nothing. */
static void assert_refused(const kb_topology *t, kb_sim *sim, const kb_transaction *bad, size_t at)
{
    kb_transaction rows[PLAIN];
    struct columns c;
    kb_error one = {""}, many = {""};
    uint64_t before = kb_sim_count(sim);
    size_t found = SIZE_MAX;

    for (uint32_t i = 0; i < PLAIN; i++)
        rows[i] = i == at ? *bad : plain_row(i);
    rows[0].issue_fs = at > 0 ? 99 : rows[0].issue_fs; /* in no order: that does not stay either */
    c = columns_of(rows, PLAIN);
    assert_int_equal(kb_sim_add(sim, bad, &one), KB_BAD_REQUEST);
    assert_int_equal(kb_sim_add_many(sim, &c.c, PLAIN, &found, &many), KB_BAD_REQUEST);
    assert_int_equal(found, at);
    assert_string_equal(many.text, one.text);
    assert_true(one.text[0]);
    assert_int_equal(kb_sim_add_many(sim, &c.c, PLAIN, NULL, NULL), KB_BAD_REQUEST);
    assert_true(kb_sim_count(sim) == before);
    drop_columns(&c);
    (void)t;
}

static void a_bad_row_is_named_and_nothing_is_added(void **state)
{
    const kb_topology *t = any_topology(CUBE8);

    (void)state;
    for (size_t i = 0; i < LENGTH(mistakes); i++)
        for (size_t at = 0; at < PLAIN; at += 4) {
            kb_sim *sim = new_sim(t, (kb_options){0}), *other = new_sim(t, (kb_options){0});

            for (uint32_t k = 0; k < PLAIN; k++) {
                kb_transaction row = plain_row(k);

                assert_refused(t, sim, &mistakes[i], at);
                add(sim, &row);
                add(other, &row);
            }
            run_all(sim);
            run_all(other);
            for (uint64_t k = 0; k < PLAIN; k++) {
                kb_result x = result_of(sim, k), y = result_of(other, k);

                assert_memory_equal(&x, &y, sizeof x);
            }
            kb_sim_free(sim);
            kb_sim_free(other);
        }
    any_topology_free(t);
}

static void a_number_that_is_no_endpoint_is_named(void **state)
{
    const kb_topology *t = any_topology(CUBE8);
    kb_sim *sim = new_sim(t, (kb_options){0});
    kb_transaction rows[PLAIN];
    struct columns c = plain_columns(rows);
    kb_error why = {""};
    size_t bad;

    (void)state;
    c.src[3] = 11;
    assert_int_equal(kb_sim_add_many(sim, &c.c, PLAIN, &bad, &why), KB_BAD_REQUEST);
    assert_int_equal(bad, 3);
    assert_string_equal(why.text, "src is endpoint 11, and there are 11");
    c.dst[2] = KB_BY_ADDRESS;
    c.c.address = NULL;
    assert_int_equal(kb_sim_add_many(sim, &c.c, PLAIN, &bad, &why), KB_BAD_REQUEST);
    assert_int_equal(bad, 2);
    assert_string_equal(why.text, "dst is endpoint 4294967295, and there are 11");
    assert_true(kb_sim_count(sim) == 0);
    drop_columns(&c);
    kb_sim_free(sim);
    any_topology_free(t);
}

static void what_takes_no_transactions_says_so(void **state)
{
    const kb_topology *t = any_topology(CUBE8);
    kb_sim *sim = new_sim(t, (kb_options){0});
    kb_transaction rows[PLAIN];
    struct columns c = plain_columns(rows);
    kb_error why = {""};
    size_t bad;

    (void)state;
    assert_int_equal(kb_sim_add_many(sim, &c.c, PLAIN, &bad, &why), KB_OK);
    run_all(sim);
    assert_int_equal(kb_sim_add_many(sim, &c.c, PLAIN, &bad, &why), KB_BAD_REQUEST);
    assert_int_equal(bad, 0);
    assert_string_equal(why.text, "the simulation has begun, it takes no more transactions");
    assert_true(kb_sim_count(sim) == PLAIN);
    drop_columns(&c);
    kb_sim_free(sim);
    any_topology_free(t);
}

static void too_many_are_no_row_s_fault(void **state)
{
    const kb_topology *t = any_topology(CUBE8);
    kb_sim *sim = new_sim(t, (kb_options){0});
    kb_transaction rows[PLAIN];
    struct columns c = plain_columns(rows);
    kb_error why = {""};
    size_t bad = 0, n = (size_t)KB_TRANSACTIONS_MAX + 1;

    (void)state;
    assert_int_equal(kb_sim_add_many(sim, &c.c, n, &bad, &why), KB_BAD_REQUEST);
    assert_true(bad == n);
    assert_string_equal(why.text, "a simulation takes at most 268435455 transactions");
    assert_int_equal(kb_sim_add_many(sim, &c.c, SIZE_MAX, &bad, &why), KB_BAD_REQUEST);
    assert_true(bad == SIZE_MAX && kb_sim_count(sim) == 0);
    drop_columns(&c);
    kb_sim_free(sim);
    any_topology_free(t);
}

/* -- memory ------------------------------------------------------------------------------------ */

/* Adds PLAIN rows twice with only `blocks` allocations; the status of the call that fails. */
static kb_status add_with(const kb_topology *t, uint64_t blocks)
{
    kb_sim *sim = new_sim(t, (kb_options){0});
    kb_transaction rows[PLAIN];
    struct columns c = plain_columns(rows);
    kb_status status = KB_OK;
    size_t bad;

    for (uint64_t before = 0; status == KB_OK && before < 20 * PLAIN; before += PLAIN) {
        blocks_left = blocks;
        status = kb_sim_add_many(sim, &c.c, PLAIN, &bad, NULL);
        blocks = blocks_left;
        blocks_left = UINT64_MAX;
        assert_true(status == KB_OK || bad == PLAIN);
        assert_true(kb_sim_count(sim) == before + (status == KB_OK ? PLAIN : 0));
    }
    if (status != KB_OK) { /* what is there can be run, and more can be added */
        assert_int_equal(kb_sim_add_many(sim, &c.c, PLAIN, NULL, NULL), KB_OK);
        run_all(sim);
    }
    drop_columns(&c);
    kb_sim_free(sim);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    static const char *const machines[] = {CUBE8, CUBE8 "addressing: {granule: 64}\n",
                                           CUBE8 "contention: {links: router}\n",
                                           CUBE8 "cube: {hbm: {model: banks}}\n"};

    (void)state;
    for (size_t i = 0; i < LENGTH(machines); i++) {
        const kb_topology *t = any_topology(machines[i]);
        kb_status status = KB_NO_MEMORY;
        uint64_t n = 0;

        for (; status == KB_NO_MEMORY; n++) {
            int64_t before = owned;

            status = add_with(t, n);
            assert_true(owned == before);
        }
        assert_int_equal(status, KB_OK);
        assert_true(n > 20); /* a table of endpoints for each call, and rooms */
        any_topology_free(t);
    }
}

/* Results need none. */
static void results_need_no_memory(void **state)
{
    const kb_topology *t = any_topology(CUBE8);
    kb_sim *sim = new_sim(t, (kb_options){0});
    kb_transaction rows[PLAIN];
    struct columns c = plain_columns(rows);
    int64_t end_fs[PLAIN];

    (void)state;
    assert_int_equal(kb_sim_add_many(sim, &c.c, PLAIN, NULL, NULL), KB_OK);
    run_all(sim);
    blocks_left = 0;
    kb_status status = kb_sim_results(sim, 0, PLAIN, &(kb_result_columns){.end_fs = end_fs});
    blocks_left = UINT64_MAX;
    assert_int_equal(status, KB_OK);
    drop_columns(&c);
    kb_sim_free(sim);
    any_topology_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_say_what_single_calls_say),
        cmocka_unit_test(columns_that_are_left_out_are_zero),
        cmocka_unit_test(no_rows_are_no_mistake),
        cmocka_unit_test(rows_between_known_ends_are_as_single_ones),
        cmocka_unit_test(a_mistake_between_known_ends_is_named),
        cmocka_unit_test(a_bad_row_is_named_and_nothing_is_added),
        cmocka_unit_test(a_number_that_is_no_endpoint_is_named),
        cmocka_unit_test(what_takes_no_transactions_says_so),
        cmocka_unit_test(too_many_are_no_row_s_fault),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(results_need_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
