/*
 * test_bench.c -- a bench of one's own through the library: arguments, tensors, verification.
 *
 * link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=free
 */
#include <math.h>
#include <unistd.h>
#include "support/any_topology.h"
#include "support/failing.h"
#include "support/rig.h"
#include "tl.h"

/* -- y = x + index, rows by choice of `index`, which is 0..rows-1 from the last to the first ----
 */

static const kb_placement by_rows = {KB_ROW_WISE, KB_ROW_WISE};

static void shift(tl_ctx *tl, const kb_args *args)
{
    kb_shard x = kb_tensor_shard(args->tensors[0], tl_pe(tl));
    kb_shard index = kb_tensor_shard(args->tensors[1], tl_pe(tl));
    kb_shard y = kb_tensor_shard(args->tensors[2], tl_pe(tl));

    if (x.shape.dim[0] == 0)
        return;
    tl_tensor *rows = tl_load(tl, x.address, KB_F32, x.shape);
    tl_tensor *sum = tl_add(tl, rows, tl_load(tl, index.address, KB_F32, index.shape));
    tl_store(tl, y.address, sum);
}

static void shift_nothing(tl_ctx *tl, const kb_args *args)
{
    (void)tl, (void)args;
}

static void fill_index(kb_bench_run *run, double *values, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        values[i] = (double)(n - 1 - i) + (double)kb_bench_random(run, 1);
}

static void setup(kb_bench_run *run)
{
    kb_shape shape = KB_SHAPE(kb_bench_int(run, "M"));

    kb_bench_input(run, "x", kb_bench_dtype(run, "dtype"), shape, by_rows, 1);
    kb_bench_input_by(run, "index", KB_F32, shape, by_rows, fill_index);
    kb_bench_output(run, "y", KB_F32, shape, by_rows);
    kb_bench_launch(run, "shift", shift, NULL, 0);
}

static void reference(const kb_bench_run *run, double *const *t)
{
    int64_t m = kb_bench_int(run, "M");

    for (int64_t i = 0; i < m; i++)
        t[2][i] = t[0][i] + (double)(m - 1 - i) + kb_bench_real(run, "off");
}

static const kb_bench_arg args_of_shift[] = {
    {"M", KB_ARG_INT, "5", 1, 9, NULL, "rows"},
    {"off", KB_ARG_REAL, "0", -1, 1, NULL, "by how much the reference is wrong"},
    {"dtype", KB_ARG_DTYPE, "f32", 0, 0, "f32", "type of x"},
    {"way", KB_ARG_CHOICE, "one", 0, 0, "no one other", "no meaning"},
};

static const kb_bench bench = {.name = "shift",
                               .summary = "y = x + index",
                               .args = args_of_shift,
                               .n_args = LENGTH(args_of_shift),
                               .setup = setup,
                               .reference = reference};

/* failing.h counts for one thread. */
static const kb_compute_options one_thread = {.threads = 1};

static const kb_topology *two_pes(void)
{
    return any_topology(
        "kernbench: 1\nname: two\nsip: {cube_mesh: {w: 1, h: 1}}\ncube: {pes: 2}\n");
}

static kb_status begin(const kb_topology *topo, const char *word, const char *other,
                       kb_bench_run **run, kb_error *why)
{
    const char *words[] = {word, other};

    return kb_bench_new(&bench, topo, &(kb_options){.phase2 = true}, 7, words,
                        (size_t)(word != NULL) + (other != NULL), run, why);
}

/* -- tests ---------------------------------------------------------------------------------- */

static void arguments_are_resolved(void **state)
{
    const kb_topology *topo = two_pes();
    kb_bench_run *run = NULL;
    kb_error why = {""};

    (void)state;
    assert_int_equal(begin(topo, "M=7", "off=-2.5e-1", &run, &why), KB_OK);
    assert_int_equal(kb_bench_int(run, "M"), 7);
    assert_true(kb_bench_real(run, "off") == -0.25);
    assert_int_equal(kb_bench_dtype(run, "dtype"), KB_F32);
    assert_int_equal(kb_bench_choice(run, "way"), 1);
    assert_int_equal(kb_bench_int(run, "nothing"), 0);
    assert_string_equal(kb_bench_value(run, 0), "7");
    assert_string_equal(kb_bench_value(run, 1), "-0.25");
    assert_string_equal(kb_bench_value(run, 2), "f32");
    assert_string_equal(kb_bench_value(run, 3), "one");
    kb_bench_free(run);
    any_topology_free(topo);
}

static void assert_refused(const kb_topology *topo, const char *word, const char *other,
                           const char *text)
{
    kb_bench_run *run = NULL;
    kb_error why = {""};

    assert_int_equal(begin(topo, word, other, &run, &why), KB_BAD_REQUEST);
    assert_null(run);
    assert_string_equal(why.text, text);
    assert_int_equal(begin(topo, word, other, &run, NULL), KB_BAD_REQUEST);
}

static void arguments_are_refused(void **state)
{
    const kb_topology *topo = two_pes();

    (void)state;
    assert_refused(topo, "M=10", NULL, "M must be an integer in 1..9, not '10'");
    assert_refused(topo, "M=18446744073709551617", NULL,
                   "M must be an integer in 1..9, not '18446744073709551617'");
    assert_refused(topo, "M=+1", NULL, "M must be an integer in 1..9, not '+1'");
    assert_refused(topo, "M=3", "M=3", "M is given twice");
    assert_refused(topo, "off=1e999", NULL, "off must be a number in -1..1, not '1e999'");
    assert_refused(topo, "off=", NULL, "off must be a number in -1..1, not ''");
    assert_refused(topo, "off=1e", NULL, "off must be a number in -1..1, not '1e'");
    assert_refused(topo, "off=-1.5", NULL, "off must be a number in -1..1, not '-1.5'");
    assert_refused(topo, "off=.", NULL, "off must be a number in -1..1, not '.'");
    assert_refused(topo, "way=on", NULL,
                   "way must be one of 'no one other', not 'on', did you mean 'no'?");
    assert_refused(topo, "way=no one", NULL, "way must be one of 'no one other', not 'no one'");
    assert_refused(topo, "way=", NULL, "way must be one of 'no one other', not ''");
    assert_refused(topo, "dtyp=f32", NULL,
                   "unknown argument 'dtyp' of shift, did you mean 'dtype'?");
    assert_refused(topo, "=3", NULL,
                   "unknown argument '' of shift: it is one of M, off, dtype, way");
    any_topology_free(topo);
}

static void a_bench_without_arguments_takes_none(void **state)
{
    kb_bench own = bench;
    const kb_topology *topo = two_pes();
    const char *words[] = {"M=1"};
    kb_bench_run *run = NULL;
    kb_error why = {""};

    (void)state;
    own.n_args = 0;
    assert_int_equal(kb_bench_new(&own, topo, NULL, 7, words, 1, &run, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "unknown argument 'M': shift takes none");
    any_topology_free(topo);
}

static void does_nothing(kb_bench_run *run)
{
    (void)run;
}

static void asks_for_another_type(kb_bench_run *run)
{
    setup(run);
    kb_bench_int(run, "off");
    kb_bench_int(run, "dtype");
}

static kb_status begin_with(void (*own_setup)(kb_bench_run *run), kb_error *why)
{
    kb_bench own = bench;
    const kb_topology *topo = two_pes();
    kb_bench_run *run = NULL;
    kb_status status;

    own.setup = own_setup;
    status = kb_bench_new(&own, topo, NULL, 7, NULL, 0, &run, why);
    kb_bench_free(run);
    any_topology_free(topo);
    return status;
}

static void a_bench_that_is_none(void **state)
{
    kb_error why = {""};

    (void)state;
    assert_int_equal(begin_with(NULL, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "bench shift has no setup");
    assert_int_equal(begin_with(does_nothing, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "bench shift launches nothing");
    assert_int_equal(begin_with(does_nothing, NULL), KB_BAD_REQUEST);
    assert_int_equal(begin_with(asks_for_another_type, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "bench shift has no argument 'off' of the type asked for");
    assert_int_equal(begin_with(setup, &why), KB_OK);
}

/* What is left out of a declaration in C is NULL. */
static void an_argument_that_is_not_declared(void **state)
{
    static const struct {
        kb_bench_arg arg;
        const char *text;
    } wrong[] = {
        {{NULL, KB_ARG_INT, "1", 0, 9, NULL, ""}, "argument 0 of bench shift has no name"},
        {{"n", KB_ARG_INT, NULL, 0, 9, NULL, ""}, "argument 0 of bench shift has no default"},
        {{"t", KB_ARG_DTYPE, "f16", 0, 0, NULL, ""}, "argument t of bench shift has no choices"},
        {{"c", KB_ARG_CHOICE, "a", 0, 0, NULL, ""}, "argument c of bench shift has no choices"},
    };
    const kb_topology *topo = two_pes();

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        kb_bench own = bench;
        kb_bench_run *run = NULL;
        kb_error why = {""};

        own.args = &wrong[i].arg;
        own.n_args = 1;
        assert_int_equal(kb_bench_new(&own, topo, NULL, 7, NULL, 0, &run, &why), KB_BAD_REQUEST);
        assert_string_equal(why.text, wrong[i].text);
        kb_bench_free(run);
    }
    any_topology_free(topo);
}

/* Each of two outputs is wrong. */
static void stores_both(tl_ctx *tl, const kb_args *args)
{
    shift(tl, args);
    tl_store(tl, kb_tensor_shard(args->tensors[3], tl_pe(tl)).address,
             tl_full(tl, KB_F32, KB_SHAPE(2, 3), 1));
}

static void setup_both(kb_bench_run *run)
{
    kb_shape shape = KB_SHAPE(kb_bench_int(run, "M"));

    kb_bench_input(run, "x", KB_F32, shape, by_rows, 1);
    kb_bench_input_by(run, "index", KB_F32, shape, by_rows, fill_index);
    kb_bench_output(run, "y", KB_F32, shape, by_rows);
    kb_bench_output(run, "z", KB_F32, KB_SHAPE(2, 3), (kb_placement){KB_REPLICATE, KB_REPLICATE});
    kb_bench_launch(run, "both", stores_both, NULL, 0);
}

static void of_two_wrong_tensors_the_first_is_told(void **state)
{
    kb_bench own = bench;
    const kb_topology *topo = two_pes();
    const char *words[] = {"off=1"};
    kb_bench_run *run = NULL;
    kb_error why = {""};
    double error;

    (void)state;
    own.setup = setup_both;
    assert_int_equal(
        kb_bench_new(&own, topo, &(kb_options){.phase2 = true}, 7, words, 1, &run, &why), KB_OK);
    assert_int_equal(kb_sim_run(kb_bench_sim(run), 0, &why), KB_OK);
    assert_int_equal(kb_compute(kb_bench_sim(run), &one_thread, &why), KB_OK);
    assert_int_equal(kb_bench_verify(run, &error, &why), KB_DIFFERENT);
    assert_non_null(strstr(why.text, "y["));
    assert_int_equal(kb_bench_verify(run, &error, NULL), KB_DIFFERENT);
    assert_int_equal(kb_bench_dump(run, "/dev/null/folder", &why), KB_FILE_ERROR);
    assert_string_equal(why.text, "/dev/null/folder: Not a directory");
    kb_bench_free(run);
    own.reference = NULL;
    assert_int_equal(kb_bench_new(&own, topo, NULL, 7, words, 1, &run, &why), KB_OK);
    assert_int_equal(kb_bench_verify(run, &error, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "bench shift has no reference to verify with");
    kb_bench_free(run);
    any_topology_free(topo);
}

/* docs/kernels.md: the reference is what counts, within the tolerance of f32. */
static void a_wrong_result_is_found(void **state)
{
    static const struct {
        const char *off;
        kb_status status;
    } cases[] = {{"off=0", KB_OK}, {"off=1e-6", KB_OK}, {"off=1e-3", KB_DIFFERENT}};
    const kb_topology *topo = two_pes();

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        kb_bench_run *run = NULL;
        kb_error why = {""};
        double error = -1;

        assert_int_equal(begin(topo, cases[i].off, NULL, &run, &why), KB_OK);
        assert_int_equal(kb_sim_run(kb_bench_sim(run), 0, &why), KB_OK);
        assert_int_equal(kb_bench_verify(run, &error, &why), KB_PENDING);
        assert_int_equal(kb_compute(kb_bench_sim(run), &one_thread, &why), KB_OK);
        assert_int_equal(kb_bench_verify(run, &error, &why), cases[i].status);
        assert_true(fabs(error - kb_bench_real(run, "off")) < 2e-6);
        assert_true((strstr(why.text, "y[0] is ") != NULL) == (i == 2));
        kb_bench_free(run);
    }
    any_topology_free(topo);
}

/* -- inputs from files ---------------------------------------------------------------------- */

static const float numbers[] = {3, 1, 4, 1, 5};

/* Writes the first `n` of the numbers as a file; the word names it as input `name`. */
static void make_file(const kb_topology *topo, const char *name, int64_t n, char word[64])
{
    kb_sim *sim = NULL;
    kb_tensor *x = NULL;
    char path[] = "/tmp/test_bench.XXXXXX";

    assert_true(close(mkstemp(path)) == 0);
    assert_int_equal(kb_sim_new(topo, NULL, &sim), KB_OK);
    assert_int_equal(kb_tensor_new(sim, name, KB_F32, KB_SHAPE(n), by_rows, &x, NULL), KB_OK);
    assert_int_equal(kb_tensor_write(x, numbers, NULL), KB_OK);
    assert_int_equal(kb_tensor_save_npy(x, path, NULL), KB_OK);
    kb_sim_free(sim);
    snprintf(word, 64, "%s=@%s", name, path);
}

/* Both kinds of inputs, and what the reference sees: y = x + index is 2 off where index is not its
 * own. Trials of setup() read the files as well. */
static void inputs_are_read_from_files(void **state)
{
    const kb_topology *topo = two_pes();
    char x[64], index[64], shorter[64];
    double error;
    kb_bench_run *run = NULL;
    kb_error why = {""};
    float y[5];

    (void)state;
    make_file(topo, "x", 5, x);
    make_file(topo, "index", 5, index);
    make_file(topo, "x", 4, shorter);
    assert_int_equal(begin(topo, x, index, &run, &why), KB_OK);
    assert_int_equal(kb_sim_run(kb_bench_sim(run), 0, &why), KB_OK);
    assert_int_equal(kb_compute(kb_bench_sim(run), &one_thread, &why), KB_OK);
    assert_int_equal(kb_tensor_read(kb_bench_tensor(run, 2, NULL), y, &why), KB_OK);
    for (int i = 0; i < 5; i++)
        assert_true(y[i] == 2 * numbers[i]);
    assert_int_equal(kb_bench_verify(run, &error, &why), KB_DIFFERENT);
    assert_non_null(strstr(why.text, "y[0] is 6, expected 7"));
    kb_bench_free(run);
    assert_refused(topo, x, x, "input x is given twice");
    assert_refused(topo, "y=@none.npy", NULL,
                   "'y' is neither an argument nor an input of shift: inputs are x, index");
    assert_refused(topo, "M=@none.npy", NULL, "M must be an integer in 1..9, not '@none.npy'");
    assert_int_equal(begin(topo, shorter, NULL, &run, &why), KB_BAD_REQUEST);
    assert_non_null(strstr(why.text, "its shape (4,) is not that of tensor 'x', (5,)"));
    assert_int_equal(begin(topo, "x=@/nowhere/none.npy", NULL, &run, &why), KB_BAD_FILE);
    unlink(x + 3);
    unlink(index + 7);
    unlink(shorter + 3);
    any_topology_free(topo);
}

/* -- values that setup() finds -------------------------------------------------------------- */

/* way=no: the fastest of the others. */
static void setup_found(kb_bench_run *run)
{
    int64_t fs[2] = {0, 0};
    kb_error why;

    if (kb_bench_choice(run, "way") == 0) {
        kb_bench_note(run, "one and");
        for (int i = 0; i < 2; i++)
            if (kb_bench_try(run, "way", i ? "other" : "one", &fs[i], &why))
                kb_bench_note(run, why.text);
        kb_bench_set(run, "way", fs[0] < fs[1] ? "one" : "other");
        kb_bench_note(run, kb_bench_value(run, 3));
    }
    setup(run);
}

static kb_status begin_found(const kb_topology *topo, void (*set)(kb_bench_run *run),
                             kb_bench_run **run, kb_error *why)
{
    static const char *const words[] = {"M=3", "way=no"};
    static kb_bench found; /* borrowed by the run */

    found = bench;
    found.setup = set;
    return kb_bench_new(&found, topo, NULL, 7, words, 2, run, why);
}

static void a_value_may_be_found(void **state)
{
    const kb_topology *topo = two_pes();
    kb_bench_run *run = NULL;
    kb_error why = {""};

    (void)state;
    assert_int_equal(begin_found(topo, setup_found, &run, &why), KB_OK);
    assert_string_equal(kb_bench_value(run, 3), "other"); /* both take the same */
    assert_string_equal(kb_bench_notes(run), "one and\nother");
    kb_bench_free(run);
    assert_int_equal(begin(topo, NULL, NULL, &run, &why), KB_OK);
    assert_string_equal(kb_bench_notes(run), "");
    kb_bench_free(run);
    any_topology_free(topo);
}

/* Waits for a message that is never sent. */
static void wait_on(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_recv(tl, 1 - tl_pe(tl), 0, KB_F32, KB_SHAPE(1));
}

/* Loads what was never written. */
static void load_nothing(tl_ctx *tl, const kb_args *args)
{
    tl_load(tl, kb_tensor_shard(args->tensors[0], tl_pe(tl)).address, KB_F32, KB_SHAPE(1));
}

/* way=no: way=one, or way=other if that fails. */
static void setup_second(kb_bench_run *run, kb_kernel first)
{
    int64_t fs;
    kb_error why;

    if (kb_bench_choice(run, "way") == 0)
        kb_bench_set(run, "way", kb_bench_try(run, "way", "one", &fs, &why) ? "other" : "one");
    kb_bench_output(run, "y", KB_F32, KB_SHAPE(2), by_rows);
    kb_bench_launch(run, "first", kb_bench_choice(run, "way") == 1 ? first : shift_nothing, NULL,
                    0);
}

static void setup_waiting(kb_bench_run *run)
{
    setup_second(run, wait_on);
}

static void setup_mistaken(kb_bench_run *run)
{
    setup_second(run, load_nothing);
}

/* A value that breaks a rule is none to choose; that a run fails otherwise is no reason to choose
 * another. */
static void a_failed_try_is_no_answer(void **state)
{
    const kb_topology *topo = two_pes();
    kb_bench_run *run = NULL;
    kb_error why = {""};

    (void)state;
    assert_int_equal(begin_found(topo, setup_mistaken, &run, &why), KB_OK);
    assert_string_equal(kb_bench_value(run, 3), "other");
    kb_bench_free(run);
    assert_int_equal(begin_found(topo, setup_waiting, &run, &why), KB_DEADLOCK);
    assert_non_null(strstr(why.text, "tl_recv"));
    any_topology_free(topo);
}

static void setup_refused(kb_bench_run *run)
{
    kb_bench_refuse(run, "100% of two PEs are too few");
    kb_bench_refuse(run, "not told");
    setup(run);
}

static void a_bench_may_refuse(void **state)
{
    const kb_topology *topo = two_pes();
    kb_bench_run *run = NULL;
    kb_error why = {""};

    (void)state;
    assert_int_equal(begin_found(topo, setup_refused, &run, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "100% of two PEs are too few");
    any_topology_free(topo);
}

/* How long the kernels of a run take, as kb_launch_get() tells. */
static void a_try_is_a_run(void **state)
{
    const kb_topology *topo = two_pes();
    kb_bench_run *run = NULL, *other = NULL;
    kb_launch_result launch;
    kb_error why = {""};
    int64_t fs = -1;

    (void)state;
    assert_int_equal(begin(topo, "M=2", NULL, &run, &why), KB_OK);
    assert_int_equal(begin(topo, "M=9", NULL, &other, &why), KB_OK);
    assert_int_equal(kb_sim_run(kb_bench_sim(other), 0, &why), KB_OK);
    assert_int_equal(kb_launch_get(kb_bench_sim(other), 0, &launch), KB_OK);
    assert_int_equal(kb_bench_try(run, "M", "9", &fs, &why), KB_OK);
    assert_true(fs == launch.last_end_fs - launch.start_fs);
    assert_int_equal(kb_launch_done(kb_bench_sim(run)), 0);
    assert_int_equal(kb_bench_try(run, "N", "9", &fs, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "bench shift has no argument 'N'");
    assert_int_equal(kb_bench_try(run, "M", "10", &fs, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "M must be an integer in 1..9, not '10'");
    assert_int_equal(kb_bench_try(run, "M", "10", &fs, NULL), KB_BAD_REQUEST);
    kb_bench_free(other);
    kb_bench_free(run);
    any_topology_free(topo);
}

static void set_what_is_not(kb_bench_run *run)
{
    kb_bench_set(run, "way", "back");
    setup(run);
}

static void set_what_none_has(kb_bench_run *run)
{
    kb_bench_set(run, "ways", "one");
    setup(run);
}

static void what_cannot_be_set_is_refused(void **state)
{
    const kb_topology *topo = two_pes();
    kb_bench_run *run = NULL;
    kb_error why = {""};

    (void)state;
    assert_int_equal(begin_found(topo, set_what_is_not, &run, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "way must be one of 'no one other', not 'back'");
    assert_int_equal(begin_found(topo, set_what_none_has, &run, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "bench shift has no argument 'ways'");
    any_topology_free(topo);
}

/* -- memory --------------------------------------------------------------------------------- */

/* Both parts of the output; `why` of one that is not shown. */
static kb_status show_parts(kb_bench_run *run, kb_error *why)
{
    kb_status status = KB_OK;

    for (uint32_t pe = 0; !status && pe < 2; pe++) {
        const void *bytes = NULL;

        status = kb_tensor_part(kb_bench_tensor(run, 2, NULL), pe, &bytes, why);
        assert_true((bytes != NULL) == (status == KB_OK));
        assert_true(!status || strstr(why->text, "out of memory"));
    }
    return status;
}

/* A whole life; what comes first of its statuses. */
static kb_status live(const kb_topology *topo, double *error)
{
    kb_bench_run *run = NULL;
    kb_error why = {""};
    kb_status status = begin(topo, "M=4", NULL, &run, &why);

    if (!status)
        status = kb_sim_run(kb_bench_sim(run), 0, &why);
    if (!status)
        status = kb_compute(kb_bench_sim(run), &one_thread, &why);
    if (!status)
        status = kb_bench_verify(run, error, &why);
    if (!status)
        status = show_parts(run, &why);
    kb_bench_free(run);
    return status;
}

/* Of a try, inside and around. */
static void every_allocation_of_a_try_may_fail(void **state)
{
    const kb_topology *topo = two_pes();
    kb_bench_run *run = NULL;
    kb_status status = KB_NO_MEMORY;
    int64_t fs = 0;
    uint64_t n = 0;
    kb_error why;

    (void)state;
    for (; status == KB_NO_MEMORY && n < 10000; n++) {
        assert_int_equal(begin(topo, NULL, NULL, &run, &why), KB_OK);
        int64_t before = owned;

        blocks_left = n;
        status = kb_bench_try(run, "M", "4", &fs, &why);
        blocks_left = UINT64_MAX;
        assert_true(owned == before);
        assert_int_equal(kb_bench_try(run, "M", "4", &fs, &why), status); /* it stays */
        kb_bench_free(run);
    }
    assert_int_equal(status, KB_OK);
    assert_true(n > 20 && fs > 0);
    any_topology_free(topo);
}

/* One allocation that fails, and no other: what is found is what is found else, or nothing. */
static void no_other_value_is_found_for_want_of_memory(void **state)
{
    const kb_topology *topo = two_pes();
    kb_status status = KB_NO_MEMORY;
    kb_bench_run *run = NULL;
    uint64_t n = 0;
    kb_error why;

    (void)state;
    fails_once = true;
    for (; status == KB_NO_MEMORY && n < 10000; n++) {
        blocks_left = n;
        status = begin_found(topo, setup_found, &run, &why);
    }
    fails_once = false;
    assert_true(blocks_left < UINT64_MAX); /* all have failed by now */
    blocks_left = UINT64_MAX;
    assert_int_equal(status, KB_OK);
    assert_string_equal(kb_bench_value(run, 3), "other");
    assert_true(n > 40);
    kb_bench_free(run);
    any_topology_free(topo);
}

static void every_allocation_may_fail(void **state)
{
    const kb_topology *topo = two_pes();
    kb_status status = KB_NO_MEMORY;
    double error = -1;
    uint64_t n = 0;

    (void)state;
    for (; status == KB_NO_MEMORY && n < 10000; n++) {
        int64_t before = owned;

        blocks_left = n;
        status = live(topo, &error);
        blocks_left = UINT64_MAX;
        assert_true(owned == before);
    }
    assert_int_equal(status, KB_OK);
    assert_true(n > 20 && error >= 0 && error < 1e-6);
    any_topology_free(topo);
}

/* Five rows of two PEs: 2 and 3. What is computed is there only then, and stays what it was. */
static void parts_of_tensors_lie_in_memory(void **state)
{
    const kb_topology *topo = two_pes();
    const void *x = NULL, *y = NULL, *none = NULL;
    kb_bench_run *run = NULL;
    kb_bench_role role = KB_BENCH_SCRATCH;
    kb_error why = {""};
    kb_tensor *out;

    (void)state;
    assert_int_equal(begin(topo, NULL, NULL, &run, &why), KB_OK);
    assert_null(kb_bench_tensor(run, 3, &role));
    assert_non_null(kb_bench_tensor(run, 0, NULL));
    out = kb_bench_tensor(run, 2, &role);
    assert_int_equal(role, KB_BENCH_OUTPUT);
    assert_int_equal(kb_sim_run(kb_bench_sim(run), 0, &why), KB_OK);
    assert_int_equal(kb_tensor_part(out, 0, &none, &why), KB_PENDING);
    assert_int_equal(kb_compute(kb_bench_sim(run), &one_thread, &why), KB_OK);
    assert_int_equal(kb_tensor_part(kb_bench_tensor(run, 0, NULL), 1, &x, &why), KB_OK);
    assert_int_equal(kb_tensor_part(out, 1, &y, &why), KB_OK);
    for (int i = 0; i < 3; i++)
        assert_true(((const float *)y)[i] == ((const float *)x)[i] + (float)(2 - i));
    assert_int_equal(kb_tensor_part(out, 2, &none, &why), KB_BAD_REQUEST);
    assert_string_equal(why.text, "tensor 'y' has no part on PE 2");
    assert_null(none);
    kb_bench_free(run);
    any_topology_free(topo);
}

static void what_is_no_object_of_benches_is_refused(void **state)
{
    char path[5000];
    const kb_bench_table *table = NULL;
    kb_error why = {""};

    (void)state;
    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = '\0';
    assert_int_equal(kb_benches_open(path, &table, &why), KB_BAD_FILE);
    assert_non_null(strstr(why.text, "is too long a path"));
    assert_int_equal(kb_benches_open("no-such.so", &table, NULL), KB_BAD_FILE);
    assert_int_equal(kb_benches_open("no-such.so", &table, &why), KB_BAD_FILE);
    assert_non_null(strstr(why.text, "'no-such.so' cannot be loaded: "));
    assert_int_equal(kb_benches_open("/dev/null", &table, &why), KB_BAD_FILE);
    assert_null(table);
}

/* What kb_benches_open() says of an object that is compiled from `source`. */
static void assert_refuses_object(const char *source, const char *text)
{
    char path[] = "/tmp/test_bench.XXXXXX", command[512];
    const kb_bench_table *table = NULL;
    kb_error why = {""};

    assert_true(close(mkstemp(path)) == 0);
    snprintf(command, sizeof command, "echo '%s' | ${CC:-cc} -shared -x c - -o %s", source, path);
    assert_int_equal(system(command), 0);
    assert_int_equal(kb_benches_open(path, &table, &why), KB_BAD_FILE);
    assert_null(table);
    if (!strstr(why.text, text))
        fail_msg("%s", why.text);
    remove(path);
}

static void objects_of_something_else_are_refused(void **state)
{
    (void)state;
    assert_refuses_object("int x;", "' has no benches: its source needs KB_BENCHES(");
    assert_refuses_object(
        "struct { unsigned abi; const char *version; } kb_benches = {77, \"0.9\"};",
        "' was compiled for another interface (77, release 0.9); this is ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_are_resolved),
        cmocka_unit_test(arguments_are_refused),
        cmocka_unit_test(a_bench_without_arguments_takes_none),
        cmocka_unit_test(a_bench_that_is_none),
        cmocka_unit_test(an_argument_that_is_not_declared),
        cmocka_unit_test(of_two_wrong_tensors_the_first_is_told),
        cmocka_unit_test(a_wrong_result_is_found),
        cmocka_unit_test(parts_of_tensors_lie_in_memory),
        cmocka_unit_test(what_is_no_object_of_benches_is_refused),
        cmocka_unit_test(objects_of_something_else_are_refused),
        cmocka_unit_test(inputs_are_read_from_files),
        cmocka_unit_test(a_value_may_be_found),
        cmocka_unit_test(a_bench_may_refuse),
        cmocka_unit_test(a_failed_try_is_no_answer),
        cmocka_unit_test(a_try_is_a_run),
        cmocka_unit_test(what_cannot_be_set_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(every_allocation_of_a_try_may_fail),
        cmocka_unit_test(no_other_value_is_found_for_want_of_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
