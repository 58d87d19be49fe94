/*
 * test_spill.c -- an op log that does not fit into memory, where files need names; odd numbers in
 * it.
 *
 * link: -Wl,--wrap=open,--wrap=mkostemp
 */
#include "support/kernels.h"
#include <errno.h>
#include <fcntl.h>

int __real_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, mode_t mode);
int __real_mkostemp(char *path, int flags);
int __wrap_mkostemp(char *path, int flags);

static bool has_nameless = true, has_named = true; /* files, for what spills */

int __wrap_open(const char *path, int flags, mode_t mode)
{
    if (has_nameless || (flags & O_TMPFILE) != O_TMPFILE)
        return __real_open(path, flags, mode);
    errno = EOPNOTSUPP;
    return -1;
}

int __wrap_mkostemp(char *path, int flags)
{
    if (has_named)
        return __real_mkostemp(path, flags);
    errno = EACCES;
    return -1;
}

static void stores_much(tl_ctx *tl, const kb_args *args)
{
    tl_tensor *x = tl_load(tl, SLICE(0), KB_F32, KB_SHAPE(8));

    (void)args;
    for (uint64_t i = 0; i < 2000; i++)
        tl_store(tl, SLICE(0) + FILLED + 32 * i, x);
}

static void records_spill_without_nameless_files(void **state)
{
    kb_options options = {.oplog = true};
    kb_sim *sim = run_kernel(options, stores_much, NULL, 8, NULL);
    char *want = log_of(sim), *got;
    kb_error why = {""};

    (void)state;
    kb_sim_free(sim);
    options.oplog_limit_bytes = 100000;
    has_nameless = false;
    setenv("TMPDIR", "", 1); /* as if it were not set */
    sim = run_kernel(options, stores_much, NULL, 8, NULL);
    got = log_of(sim);
    assert_string_equal(got, want);
    kb_sim_free(sim);
    unsetenv("TMPDIR");
    has_named = false;
    sim = new_sim(&cube8_topology, options);
    assert_int_equal(fill_slices(sim, &why), KB_OK);
    assert_int_equal(launch(sim, stores_much, NULL, 8, &why), KB_OK);
    assert_int_equal(kb_sim_run(sim, 0, &why), KB_FILE_ERROR);
    assert_non_null(strstr(why.text, "Permission denied"));
    kb_sim_free(sim);
    has_nameless = has_named = true;
    free(got);
    free(want);
}

/* Numbers that JSON has no form for are strings. */
static void adds_odd_numbers(tl_ctx *tl, const kb_args *args)
{
    static const double odd[] = {INFINITY, -INFINITY, NAN};
    tl_tensor *x = tl_load(tl, SLICE(0), KB_F32, KB_SHAPE(8));

    (void)args;
    for (int i = 0; i < 3; i++)
        tl_add(tl, x, tl_scalar(tl, odd[i]));
}

static void odd_numbers_are_strings(void **state)
{
    kb_sim *sim = run_kernel((kb_options){.oplog = true}, adds_odd_numbers, NULL, 1, NULL);
    char *log = log_of(sim);

    (void)state;
    assert_non_null(strstr(log, "\"inf\""));
    assert_non_null(strstr(log, "\"-inf\""));
    assert_non_null(strstr(log, "\"nan\""));
    free(log);
    kb_sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_spill_without_nameless_files),
        cmocka_unit_test(odd_numbers_are_strings),
    };

    return cmocka_run_group_tests_name("spill", tests, NULL, NULL);
}
