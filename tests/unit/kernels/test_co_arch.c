/*
 * test_co_arch.c -- coroutines on any architecture, by a program that needs nothing but the C
 * library: it also runs on AArch64 under qemu. Prints TAP.
 */
#include "kernels/co.h"

#include <stdint.h>
#include <stdio.h>
#include <unwind.h>

static int n_tests, n_failed;

static void ok(bool is_ok, const char *name)
{
    n_failed += !is_ok;
    printf("%sok %d - %s\n", is_ok ? "" : "not ", ++n_tests, name);
}

/* -- registers that a call keeps ------------------------------------------------------------ */

/*
 * Calls f(arg) with numbers made of `seed` in all registers that a call keeps; 0 if all of them
 * are there afterwards.
 */
uint64_t registers_changed(void (*f)(void *arg), void *arg, uint64_t seed);

#if defined(__x86_64__) && defined(__LP64__)
#define HAS_REGISTERS
__asm__(".text\n"
        ".type registers_changed, @function\n"
        "registers_changed:\n"
        "  push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15; push %rdx\n"
        "  lea 1(%rdx), %rbx; lea 2(%rdx), %rbp; lea 3(%rdx), %r12\n"
        "  lea 4(%rdx), %r13; lea 5(%rdx), %r14; lea 6(%rdx), %r15\n"
        "  mov %rdi, %rax; mov %rsi, %rdi; call *%rax\n"
        "  pop %rdx\n"
        "  sub %rdx, %rbx; sub %rdx, %rbp; sub %rdx, %r12\n"
        "  sub %rdx, %r13; sub %rdx, %r14; sub %rdx, %r15\n"
        "  xor $1, %rbx; xor $2, %rbp; xor $3, %r12; xor $4, %r13; xor $5, %r14; xor $6, %r15\n"
        "  mov %rbx, %rax; or %rbp, %rax; or %r12, %rax\n"
        "  or %r13, %rax; or %r14, %rax; or %r15, %rax\n"
        "  pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp\n"
        "  ret\n"
        ".size registers_changed, . - registers_changed\n");
#elif defined(__aarch64__) && defined(__LP64__)
#define HAS_REGISTERS
__asm__(".text\n"
        ".type registers_changed, %function\n"
        "registers_changed:\n"
        "  stp x29, x30, [sp, #-176]!\n"
        "  stp x19, x20, [sp, #16]; stp x21, x22, [sp, #32]; stp x23, x24, [sp, #48]\n"
        "  stp x25, x26, [sp, #64]; stp x27, x28, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]; stp d10, d11, [sp, #112]\n"
        "  stp d12, d13, [sp, #128]; stp d14, d15, [sp, #144]\n"
        "  str x2, [sp, #160]\n"
        "  .irp r, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29\n"
        "    add x\\r, x2, #\\r\n"
        "  .endr\n"
        "  .irp r, 8, 9, 10, 11, 12, 13, 14, 15\n"
        "    add x9, x2, #\\r; fmov d\\r, x9\n"
        "  .endr\n"
        "  mov x9, x0; mov x0, x1; blr x9\n"
        "  ldr x2, [sp, #160]; mov x0, #0\n"
        "  .irp r, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29\n"
        "    sub x9, x\\r, x2; sub x9, x9, #\\r; orr x0, x0, x9\n"
        "  .endr\n"
        "  .irp r, 8, 9, 10, 11, 12, 13, 14, 15\n"
        "    fmov x9, d\\r; sub x9, x9, x2; sub x9, x9, #\\r; orr x0, x0, x9\n"
        "  .endr\n"
        "  ldp d14, d15, [sp, #144]; ldp d12, d13, [sp, #128]\n"
        "  ldp d10, d11, [sp, #112]; ldp d8, d9, [sp, #96]\n"
        "  ldp x27, x28, [sp, #80]; ldp x25, x26, [sp, #64]\n"
        "  ldp x23, x24, [sp, #48]; ldp x21, x22, [sp, #32]; ldp x19, x20, [sp, #16]\n"
        "  ldp x29, x30, [sp], #176\n"
        "  ret\n"
        ".size registers_changed, . - registers_changed\n");
#endif

#ifdef HAS_REGISTERS

struct keeper {
    struct co *co;
    uint64_t seed, changed;
};

static void yield_often(void *arg)
{
    for (int i = 0; i < 10; i++)
        co_suspend(arg);
}

static void keep(void *arg)
{
    struct keeper *k = arg;

    k->changed = registers_changed(yield_often, k->co, k->seed);
}

static void resume_all(void *arg)
{
    struct keeper *k = arg;

    for (int turn = 0; turn < 11; turn++)
        for (int i = 0; i < 3; i++)
            co_resume(k[i].co);
}

/* Three coroutines and their resumer, each with its own numbers. */
static void test_registers(void)
{
    struct co_pool *pool = co_pool_new(0);
    struct keeper k[3];
    uint64_t changed;

    for (uint64_t i = 0; i < 3; i++) {
        k[i] = (struct keeper){.seed = (i + 2) << 40, .changed = 1};
        k[i].co = co_new(pool, keep, &k[i]);
    }
    changed = registers_changed(resume_all, k, UINT64_C(1) << 40);
    ok(changed == 0, "a resumer's registers are kept");
    ok((k[0].changed | k[1].changed | k[2].changed) == 0, "a coroutine's registers are kept");
    for (int i = 0; i < 3; i++)
        co_drop(k[i].co);
    co_pool_free(pool);
}

#endif

/* -- doubles over many switches ------------------------------------------------------------- */

struct series {
    struct co *co;
    double ratio, sum;
};

static void add_up(void *arg)
{
    struct series *s = arg;
    double sum = 0, term = 1;

    for (int i = 0; i < 60; i++, term *= s->ratio) {
        sum += term;
        co_suspend(s->co);
    }
    s->sum = sum;
}

static double series_without_switch(double ratio)
{
    double sum = 0, term = 1;

    for (int i = 0; i < 60; i++, term *= ratio)
        sum += term;
    return sum;
}

static void test_series(void)
{
    enum { N = 200 };
    static struct series s[N];
    struct co_pool *pool = co_pool_new(0);
    bool equal = true;

    for (int i = 0; i < N; i++) {
        s[i].ratio = 1.0 / (i + 2);
        s[i].co = co_new(pool, add_up, &s[i]);
    }
    for (int turn = 0; turn < 61; turn++)
        for (int i = 0; i < N; i++)
            co_resume(s[i].co);
    for (int i = 0; i < N; i++) {
        equal = equal && s[i].sum == series_without_switch(s[i].ratio);
        co_drop(s[i].co);
    }
    ok(equal, "doubles are kept");
    co_pool_free(pool);
}

/* -- alignment, overflow, and the end of a backtrace ---------------------------------------- */

static void see_alignment(void *arg)
{
    bool *is_aligned = arg;
    _Alignas(16) volatile char local[16];
    volatile uintptr_t at = (uintptr_t)local;

    *is_aligned = at % 16 == 0;
}

static void test_alignment(void)
{
    struct co_pool *pool = co_pool_new(0);
    bool all = true;

    for (int i = 0; i < 20; i++) {
        bool is_aligned = false;

        struct co *co = co_new(pool, see_alignment, &is_aligned);

        co_resume(co);
        all = all && is_aligned;
        co_drop(co);
    }
    ok(all, "stacks begin aligned");
    co_pool_free(pool);
}

static volatile int depth_limit = 1 << 30;

__attribute__((noinline)) static int recurse(int depth)
{
    volatile int frame[64];

    frame[0] = depth;
    return (depth < depth_limit ? recurse(depth + 1) : 0) + frame[0];
}

static void overflow(void *arg)
{
    double kept = 1.5;

    *(bool *)arg = recurse(0) > 0 && kept > 1;
}

static void test_overflow(void)
{
    struct co_pool *pool = co_pool_new(0);
    bool came_back = false;
    struct co *co;

    ok(co_catch_overflow(), "overflow can be caught");
    for (int i = 0; i < 3; i++) {
        co = co_new(pool, overflow, &came_back);
        ok(co_resume(co) == CO_OVERFLOWED && !came_back, "an overflow is told");
        co_drop(co);
    }
    co_pool_free(pool);
}

static _Unwind_Reason_Code count_frame(struct _Unwind_Context *context, void *arg)
{
    int *n = arg;

    void *at = (void *)_Unwind_GetIP(context);

    if (!at || *n > 100)
        return _URC_END_OF_STACK;
    *n += _Unwind_FindEnclosingFunction(at) ? 1 : 1000;
    return _URC_NO_REASON;
}

static void backtrace_here(void *arg)
{
    _Unwind_Backtrace(count_frame, arg);
    __asm__ volatile("");
}

static void test_backtrace(void)
{
    struct co_pool *pool = co_pool_new(0);
    int n = 0;
    struct co *co = co_new(pool, backtrace_here, &n);

    co_resume(co);
    ok(n >= 2 && n <= 4, "a backtrace ends where the coroutine began");
    co_drop(co);
    co_pool_free(pool);
}

int main(void)
{
#ifdef HAS_REGISTERS
    test_registers();
#endif
    test_series();
    test_alignment();
    test_overflow();
    test_backtrace();
    printf("1..%d\n", n_tests);
    return n_failed != 0;
}
