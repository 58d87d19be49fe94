/* test_bench_crash.c -- setup() and reference() of a bench that crash: a status that names them. */
#include "support/any_topology.h"
#include "support/rig.h"
#include "tl.h"
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(undefined_behavior_sanitizer)
#define SANITIZED 1
#endif
#endif

static int *volatile nowhere = (int *)64;

static void writes(void)
{
    *nowhere = 1;
}

/* A page of a file that has none. */
static void reads_past_a_file(void)
{
    FILE *empty = tmpfile();
    volatile char *page = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fileno(empty), 0);

    (void)page[0];
}

#ifdef __x86_64__
static volatile int none;

static void divides(void)
{
    none = 77 / none;
}

static void stops_a_debugger(void)
{
    __asm__ volatile("int3");
}

static void has_no_instruction(void)
{
    __asm__ volatile("ud2");
}
#endif

static const struct way {
    void (*crash)(void);
    const char *text;
} ways[] = {
    {writes, "crashed by an access to address 0x40 (SIGSEGV)"},
    {abort, "crashed by abort() (SIGABRT)"},
    {reads_past_a_file, "(SIGBUS)"},
#ifdef __x86_64__
    {divides, "crashed by a division without a result (SIGFPE)"},
    {stops_a_debugger, "crashed by an instruction that traps (SIGTRAP)"},
    {has_no_instruction, "crashed by an instruction that traps (SIGILL)"},
#endif
};

static void (*in_setup)(void), (*in_reference)(void); /* NULL: it does not crash */

static void kernel(tl_ctx *tl, const kb_args *args)
{
    tl_store(tl, kb_tensor_shard(args->tensors[0], tl_pe(tl)).address,
             tl_full(tl, KB_F32, KB_SHAPE(1), 1));
}

static void setup(kb_bench_run *run)
{
    static const kb_placement by_rows = {KB_ROW_WISE, KB_ROW_WISE};

    if (in_setup)
        in_setup();
    kb_bench_output(run, "y", KB_F32, KB_SHAPE(1), by_rows);
    kb_bench_launch(run, "kernel", kernel, NULL, 0);
}

static void reference(const kb_bench_run *run, double *const *t)
{
    (void)run;
    if (in_reference)
        in_reference();
    t[0][0] = 1;
}

static const kb_bench bench = {
    .name = "frail", .summary = "crashes", .setup = setup, .reference = reference};

static const kb_topology *one_pe(void)
{
    return any_topology(
        "kernbench: 1\nname: one\nsip: {cube_mesh: {w: 1, h: 1}}\ncube: {pes: 1}\n");
}

static void assert_says(const kb_error *why, const char *where, const char *how)
{
    if (strncmp(why->text, where, strlen(where)) != 0 || !strstr(why->text, how))
        fail_msg("%s", why->text);
}

static void a_crash_of_setup_is_a_status(void **state)
{
#ifdef SANITIZED
    (void)state;
    skip();
#else
    const kb_topology *topo = one_pe();

    (void)state;
    assert_true(kb_catch_crashes());
    for (size_t i = 0; i < LENGTH(ways); i++) {
        kb_bench_run *run = NULL;
        kb_error why = {""};

        in_setup = ways[i].crash;
        assert_int_equal(kb_bench_new(&bench, topo, NULL, 1, NULL, 0, &run, &why),
                         KB_KERNEL_CRASHED);
        assert_null(run);
        assert_says(&why, "setup() of bench frail: ", ways[i].text);
    }
    assert_int_equal(kb_bench_new(&bench, topo, NULL, 1, NULL, 0, &(kb_bench_run *){NULL}, NULL),
                     KB_KERNEL_CRASHED);
    in_setup = NULL;
    any_topology_free(topo);
#endif
}

static void a_crash_of_reference_is_a_status(void **state)
{
#ifdef SANITIZED
    (void)state;
    skip();
#else
    const kb_topology *topo = one_pe();
    kb_bench_run *run = NULL;
    kb_error why = {""};
    double error = 0;

    (void)state;
    assert_true(kb_catch_crashes());
    assert_int_equal(
        kb_bench_new(&bench, topo, &(kb_options){.phase2 = true}, 1, NULL, 0, &run, &why), KB_OK);
    assert_int_equal(kb_sim_run(kb_bench_sim(run), 0, &why), KB_OK);
    assert_int_equal(kb_compute(kb_bench_sim(run), NULL, &why), KB_OK);
    in_reference = writes;
    assert_int_equal(kb_bench_verify(run, &error, &why), KB_KERNEL_CRASHED);
    assert_says(&why, "reference() of bench frail: ", ways[0].text);
    in_reference = NULL;
    assert_int_equal(kb_bench_verify(run, &error, &why), KB_OK);
    assert_true(error == 0);
    kb_bench_free(run);
    any_topology_free(topo);
#endif
}

static sigjmp_buf back;

static void leave(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
    siglongjmp(back, 1);
}

/* Outside of benches a crash is for the handler that was there before. */
static void other_crashes_are_passed_on(void **state)
{
#ifdef SANITIZED
    (void)state;
    skip();
#else
    struct sigaction own = {.sa_sigaction = leave, .sa_flags = SA_SIGINFO}, before;

    (void)state;
    sigaction(SIGSEGV, &own, &before);
    assert_true(kb_catch_crashes());
    if (sigsetjmp(back, 1) == 0) {
        writes();
        fail_msg("nothing has crashed");
    }
    sigaction(SIGSEGV, &before, NULL);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crash_of_setup_is_a_status),
        cmocka_unit_test(a_crash_of_reference_is_a_status),
        cmocka_unit_test(other_crashes_are_passed_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
