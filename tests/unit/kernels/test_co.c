/*
 * test_co.c -- coroutines: taking turns, overflow, and a system that refuses memory or guards.
 *
 * link: -Wl,--wrap=calloc,--wrap=free,--wrap=mmap,--wrap=munmap,--wrap=mprotect
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kernels/co.h"
#include "kernels/co_watch.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

enum { SMALL_STACK = 64 << 10 };

/* -- what the system gives ------------------------------------------------------------------ */

/* By --wrap the linker leads every call of the program's own objects here. */
void *__real_calloc(size_t n, size_t size);
void __real_free(void *p);
void *__real_mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset);
int __real_munmap(void *at, size_t n);
int __real_mprotect(void *at, size_t n, int prot);
void *__wrap_calloc(size_t n, size_t size);
void __wrap_free(void *p);
void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset);
int __wrap_munmap(void *at, size_t n);
int __wrap_mprotect(void *at, size_t n, int prot);

static uint64_t left = UINT64_MAX;        /* callocs and mmaps that succeed */
static uint64_t guards_left = UINT64_MAX; /* calls of mprotect(PROT_NONE) that succeed */
static int64_t owned, owned_bytes;        /* blocks and mapped bytes not given back */

static bool is_refused(uint64_t *rest)
{
    if (*rest == 0)
        return true;
    *rest -= *rest != UINT64_MAX;
    return false;
}

void *__wrap_calloc(size_t n, size_t size)
{
    void *p = is_refused(&left) ? NULL : __real_calloc(n, size);

    owned += p != NULL;
    return p;
}

void __wrap_free(void *p)
{
    owned -= p != NULL;
    __real_free(p);
}

void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
    void *p = is_refused(&left) ? MAP_FAILED : __real_mmap(at, n, prot, flags, fd, offset);

    if (p != MAP_FAILED)
        owned_bytes += (int64_t)n;
    return p;
}

int __wrap_munmap(void *at, size_t n)
{
    owned_bytes -= (int64_t)n;
    return __real_munmap(at, n);
}

int __wrap_mprotect(void *at, size_t n, int prot)
{
    return prot == PROT_NONE && is_refused(&guards_left) ? -1 : __real_mprotect(at, n, prot);
}

/* Sanitizers and valgrind take other memory, and have handlers of their own for faults. */
static bool is_watched(void)
{
#if defined(CO_ASAN) || defined(CO_TSAN)
    return true;
#elif defined(CO_VALGRIND)
    return RUNNING_ON_VALGRIND;
#else
    return false;
#endif
}

#ifdef CO_ASAN
/* Locals elsewhere, which is not the default of all compilers. */
const char *__asan_default_options(void)
{
    return "detect_stack_use_after_return=1";
}
#endif

/* -- a kernel for most tests ---------------------------------------------------------------- */

struct counter {
    struct co *co;
    uint64_t turns, sum; /* yields so often, and adds up their numbers */
    const void *local;   /* an address on its stack */
    bool ended;
};

static void count(void *arg)
{
    struct counter *c = arg;
    uint64_t sum = 0;
    int local;

    c->local = &local;
    for (uint64_t i = 1; i <= c->turns; i++) {
        sum += i;
        c->sum = sum;
        co_suspend(c->co);
    }
    c->ended = true;
}

static struct co *counter_new(struct co_pool *pool, struct counter *c, uint64_t turns)
{
    *c = (struct counter){.turns = turns};
    c->co = co_new(pool, count, c);
    assert_non_null(c->co);
    return c->co;
}

static struct co_pool *pool_new(size_t stack_bytes)
{
    struct co_pool *pool = co_pool_new(stack_bytes);

    assert_non_null(pool);
    return pool;
}

/* -- taking turns --------------------------------------------------------------------------- */

static void each_goes_on_where_it_yielded(void **state)
{
    enum { N = 1000, TURNS = 20 };
    static struct counter counters[N];
    struct co_pool *pool = pool_new(0);

    (void)state;
    for (size_t i = 0; i < N; i++)
        counter_new(pool, &counters[i], TURNS + i % 2);
    for (uint64_t turn = 1; turn <= TURNS; turn++)
        for (size_t i = 0; i < N; i++) {
            assert_int_equal(co_resume(counters[i].co), CO_YIELDED);
            assert_int_equal(counters[i].sum, turn * (turn + 1) / 2);
        }
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(co_resume(counters[i].co), i % 2 ? CO_YIELDED : CO_ENDED);
        assert_int_equal(counters[i].ended, i % 2 == 0);
        co_drop(counters[i].co);
    }
    co_pool_free(pool);
}

/* A coroutine that resumes another, as often as it is itself resumed. */
struct outer {
    struct co *co, *inner;
};

static void resume_inner(void *arg)
{
    struct outer *o = arg;

    while (co_resume(o->inner) == CO_YIELDED)
        co_suspend(o->co);
}

static void one_resumes_another(void **state)
{
    struct co_pool *pool = pool_new(0);
    struct counter c;
    struct outer o = {.inner = counter_new(pool, &c, 3)};

    (void)state;
    o.co = co_new(pool, resume_inner, &o);
    for (uint64_t i = 1; i <= 3; i++) {
        assert_int_equal(co_resume(o.co), CO_YIELDED);
        assert_int_equal(c.sum, i * (i + 1) / 2);
    }
    assert_int_equal(co_resume(o.co), CO_ENDED);
    assert_true(c.ended);
    co_drop(o.co);
    co_drop(c.co);
    co_pool_free(pool);
}

/* Recurses, yielding at each level on the way down and on the way up. */
struct diver {
    struct co *co;
    unsigned depth, level;
    uint64_t sum;
};

__attribute__((noinline)) static uint64_t dive(struct diver *d, unsigned level)
{
    volatile uint64_t mine[2] = {level, level}; /* in memory, which ASan keeps elsewhere */
    uint64_t below;

    d->level = level;
    co_suspend(d->co);
    below = level < d->depth ? dive(d, level + 1) : 0;
    d->level = level;
    co_suspend(d->co);
    return below + mine[level % 2] * mine[0];
}

static void dive_all(void *arg)
{
    struct diver *d = arg;

    d->sum = dive(d, 1);
}

static void yields_from_deep_inside(void **state)
{
    struct co_pool *pool = pool_new(0);
    struct diver d = {.depth = 100};

    (void)state;
    d.co = co_new(pool, dive_all, &d);
    for (unsigned i = 1; i <= 200; i++) {
        assert_int_equal(co_resume(d.co), CO_YIELDED);
        assert_int_equal(d.level, i <= 100 ? i : 201 - i);
    }
    assert_int_equal(co_resume(d.co), CO_ENDED);
    assert_int_equal(d.sum, 100 * 101 * 201 / 6);
    co_drop(d.co);
    co_pool_free(pool);
}

struct move {
    struct counter counter;
    uint64_t sum_there;
};

static void *resume_there(void *arg)
{
    struct move *m = arg;

    co_resume(m->counter.co);
    m->sum_there = m->counter.sum;
    return NULL;
}

static void goes_on_in_another_thread(void **state)
{
    struct co_pool *pool = pool_new(0);
    struct move m;

    (void)state;
    counter_new(pool, &m.counter, 12);
    for (uint64_t i = 1; i <= 12; i += 2) {
        pthread_t thread;

        assert_int_equal(co_resume(m.counter.co), CO_YIELDED);
        assert_int_equal(m.counter.sum, i * (i + 1) / 2);
        assert_int_equal(pthread_create(&thread, NULL, resume_there, &m), 0);
        pthread_join(thread, NULL);
        assert_int_equal(m.sum_there, (i + 1) * (i + 2) / 2);
    }
    assert_int_equal(co_resume(m.counter.co), CO_ENDED);
    co_drop(m.counter.co);
    co_pool_free(pool);
}

/* -- stacks --------------------------------------------------------------------------------- */

static void a_dropped_stack_serves_again(void **state)
{
    struct co_pool *pool = pool_new(0);
    struct counter a, b, again;

    (void)state;
    counter_new(pool, &a, 5);
    counter_new(pool, &b, 5);
    co_resume(a.co);
    co_resume(b.co);
    co_drop(a.co); /* not at its end */
    counter_new(pool, &again, 1);
    assert_ptr_equal(again.co, a.co);
    assert_int_equal(co_resume(again.co), CO_YIELDED);
    assert_int_equal(co_resume(b.co), CO_YIELDED);
    assert_int_equal(co_resume(again.co), CO_ENDED);
    assert_int_equal(b.sum, 3);
    assert_int_equal(again.sum, 1);
    co_drop(again.co);
    co_drop(b.co);
    co_pool_free(pool);
}

static size_t resident_pages(void)
{
    size_t all = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    assert_non_null(f);
    assert_int_equal(fscanf(f, "%zu %zu", &all, &resident), 2);
    fclose(f);
    return resident;
}

/* Leaves nothing behind, though none of them ends; sanitizers can only have so many. */
static void one_stack_serves_very_often(void **state)
{
    enum { LIVES = 20000 };
    struct co_pool *pool = pool_new(0);
    size_t before = resident_pages();

    (void)state;
    for (int i = 0; i < LIVES; i++) {
        struct diver d = {.depth = 10};

        d.co = co_new(pool, dive_all, &d);
        for (unsigned turn = 0; turn < 10; turn++)
            assert_int_equal(co_resume(d.co), CO_YIELDED);
        co_drop(d.co);
    }
    assert_true(resident_pages() < before + LIVES / 2);
    co_pool_free(pool);
}

/* A frame at the same place of each page would lie in the same few cache sets. */
static void neighbours_begin_at_different_places_of_a_page(void **state)
{
    enum { N = 16 };
    struct co_pool *pool = pool_new(0);
    struct co *all[N];

    (void)state;
    for (size_t i = 0; i < N; i++) {
        all[i] = co_new(pool, count, NULL);
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal((uintptr_t)all[i] % 2048, (uintptr_t)all[j] % 2048);
    }
    for (size_t i = 0; i < N; i++)
        co_drop(all[i]);
    co_pool_free(pool);
}

static void thousands_take_two_pages_each(void **state)
{
    enum { N = 8192 };
    static struct counter counters[N];
    struct co_pool *pool;
    size_t before;

    (void)state;
    if (is_watched())
        skip();
    pool = pool_new(0);
    before = resident_pages();
    for (size_t i = 0; i < N; i++)
        co_resume(counter_new(pool, &counters[i], 1));
    assert_true(resident_pages() - before < 2 * N + N / 2);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(co_resume(counters[i].co), CO_ENDED);
        co_drop(counters[i].co);
    }
    co_pool_free(pool);
}

/* -- overflow ------------------------------------------------------------------------------- */

/* Fills a frame of 1 KiB at each of so many levels. */
__attribute__((noinline)) static unsigned fill(unsigned levels)
{
    volatile unsigned char frame[1024];

    for (size_t i = 0; i < sizeof frame; i++)
        frame[i] = (unsigned char)levels;
    return (levels ? fill(levels - 1) : 0) + frame[levels % sizeof frame];
}

struct filler {
    struct co *co;
    unsigned levels;
    bool came_back;
};

static void fill_and_yield(void *arg)
{
    struct filler *f = arg;

    fill(f->levels);
    f->came_back = true;
    co_suspend(f->co);
}

static void overflow_is_a_state_and_the_others_go_on(void **state)
{
    struct co_pool *pool = pool_new(SMALL_STACK);
    struct counter other, next;

    (void)state;
    assert_true(co_catch_overflow());
    counter_new(pool, &other, 100);
    for (int round = 0; round < 10; round++) {
        struct filler f = {.levels = 1 << 20};

        co_resume(other.co);
        f.co = co_new(pool, fill_and_yield, &f);
        assert_int_equal(co_resume(f.co), CO_OVERFLOWED);
        assert_false(f.came_back);
        assert_int_equal(co_resume(other.co), CO_YIELDED);
        co_drop(f.co);
        counter_new(pool, &next, 1);
        assert_ptr_equal(next.co, f.co);
        assert_int_equal(co_resume(next.co), CO_YIELDED);
        assert_int_equal(co_resume(next.co), CO_ENDED);
        co_drop(next.co);
    }
    assert_int_equal(other.sum, 20 * 21 / 2);
    co_drop(other.co);
    co_pool_free(pool);
}

struct nest {
    struct co *co;
    struct filler inner;
    volatile enum co_state seen;
};

static void resume_filler(void *arg)
{
    struct nest *n = arg;

    n->seen = co_resume(n->inner.co);
    fill(1 << 20);
}

static void overflow_ends_the_innermost_and_then_the_next(void **state)
{
    struct co_pool *pool = pool_new(SMALL_STACK);
    struct nest n = {.inner.levels = 1 << 20};

    (void)state;
    assert_true(co_catch_overflow());
    n.co = co_new(pool, resume_filler, &n);
    n.inner.co = co_new(pool, fill_and_yield, &n.inner);
    assert_int_equal(co_resume(n.co), CO_OVERFLOWED);
    assert_int_equal(n.seen, CO_OVERFLOWED);
    co_drop(n.inner.co);
    co_drop(n.co);
    co_pool_free(pool);
}

static void *overflow_here(void *arg)
{
    struct filler *f = arg;

    f->came_back = co_catch_overflow() && co_resume(f->co) == CO_OVERFLOWED;
    return NULL;
}

static void overflow_is_seen_in_each_thread_that_asks(void **state)
{
    struct co_pool *pool = pool_new(SMALL_STACK);
    struct filler f = {.levels = 1 << 20};
    int64_t before = owned_bytes;
    pthread_t thread;

    (void)state;
    f.co = co_new(pool, fill_and_yield, &f);
    before = owned_bytes;
    assert_int_equal(pthread_create(&thread, NULL, overflow_here, &f), 0);
    pthread_join(thread, NULL);
    assert_true(f.came_back);
    assert_int_equal(owned_bytes, before); /* its signal stack is gone */
    co_drop(f.co);
    co_pool_free(pool);
}

/* -- faults that are no overflow, each in a process of its own ------------------------------ */

static int *volatile nowhere = (int *)64; /* sanitizers look for NULL themselves */

static void write_nowhere(void *arg)
{
    (void)arg;
    *nowhere = 1;
}

static void send_segv(void *arg)
{
    (void)arg;
    raise(SIGSEGV);
}

static void overflow(void *arg)
{
    (void)arg;
    fill(1 << 20);
}

/* The resumer of a coroutine writes below its stack, where the coroutine would have overflowed. */
static void write_from_outside(void *arg)
{
    static struct counter c;
    struct co_pool *pool = co_pool_new(SMALL_STACK);
    char *top;

    (void)arg;
    co_resume(counter_new(pool, &c, 1));
    top = (char *)c.co + 4096 - (uintptr_t)c.co % 4096;
    *(volatile char *)(top - SMALL_STACK - 1) = 1;
}

/* Ends with 42 if nothing ends it before. */
static _Noreturn void fault_in_child(void (*entry)(void *), bool catch_overflow)
{
    static const struct rlimit no_core = {0, 0};
    struct co_pool *pool = co_pool_new(SMALL_STACK);

    setrlimit(RLIMIT_CORE, &no_core);
    if (catch_overflow && !co_catch_overflow())
        _exit(1);
    if (entry == write_from_outside)
        entry(NULL);
    co_resume(co_new(pool, entry, NULL));
    _exit(42);
}

static int status_of(pid_t child)
{
    int status = -1;

    waitpid(child, &status, 0);
    return status;
}

/* cmocka has a handler of its own, which must not run in a child. */
static int fault(void (*entry)(void *), bool catch_overflow, void (*handler)(int))
{
    pid_t child = fork();

    if (child == 0) {
        signal(SIGSEGV, handler);
        fault_in_child(entry, catch_overflow);
    }
    return status_of(child);
}

static void leave_with_43(int signal)
{
    (void)signal;
    _exit(43);
}

static void other_faults_go_where_they_went(void **state)
{
    int status;

    (void)state;
    if (is_watched())
        skip();
    status = fault(write_nowhere, true, SIG_DFL);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    status = fault(write_nowhere, true, SIG_IGN);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    status = fault(send_segv, true, SIG_DFL);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    status = fault(write_nowhere, true, leave_with_43);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 43);
    status = fault(write_from_outside, true, SIG_DFL);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    status = fault(overflow, true, leave_with_43);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 42);
}

static void overflow_is_a_fault_unless_asked_for(void **state)
{
    int status;

    (void)state;
    if (is_watched())
        skip();
    status = fault(overflow, false, SIG_DFL);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

/* -- a system that refuses ------------------------------------------------------------------ */

/* Levels that overflow a small stack, though not by so much as there is room below it. */
enum { SLIGHTLY_TOO_MANY = SMALL_STACK / 1024 + 1 };

static void overflow_without_guard_is_seen_at_a_yield(void **state)
{
    struct filler f = {.levels = SLIGHTLY_TOO_MANY}, modest = {.levels = 8};
    struct co_pool *kept, *pool;

    (void)state;
#ifdef CO_ASAN
    skip(); /* frames are larger than they look */
#endif
    kept = pool_new(SMALL_STACK); /* with guards, of a test before */
    pool = pool_new(SMALL_STACK);
    guards_left = 5;
    f.co = co_new(pool, fill_and_yield, &f);
    guards_left = UINT64_MAX;
    modest.co = co_new(pool, fill_and_yield, &modest);
    assert_int_equal(co_resume(f.co), CO_OVERFLOWED);
    assert_true(f.came_back);
    assert_int_equal(co_resume(modest.co), CO_YIELDED);
    assert_int_equal(co_resume(modest.co), CO_ENDED);
    co_drop(modest.co);
    co_drop(f.co);
    f.co = co_new(pool, fill_and_yield, &f);
    f.levels = 8;
    assert_int_equal(co_resume(f.co), CO_YIELDED);
    assert_int_equal(co_resume(f.co), CO_ENDED);
    co_drop(f.co);
    co_pool_free(pool);
    co_pool_free(kept);
}

static void stacks_that_had_guards_keep_them(void **state)
{
    enum { N = 100 };
    struct co_pool *kept = pool_new(SMALL_STACK), *pool = pool_new(SMALL_STACK);
    struct filler f = {.levels = 1 << 20};
    struct counter counters[N];

    (void)state;
    assert_true(co_catch_overflow());
    f.co = co_new(pool, fill_and_yield, &f);
    guards_left = 20;
    for (size_t i = 0; i < N; i++)
        counter_new(pool, &counters[i], 2);
    guards_left = UINT64_MAX;
    assert_int_equal(co_resume(f.co), CO_OVERFLOWED);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(co_resume(counters[i].co), CO_YIELDED);
    for (size_t i = 0; i < N; i++)
        co_drop(counters[i].co);
    co_drop(f.co);
    co_pool_free(pool);
    co_pool_free(kept);
}

/* A life with three chunks of stacks, which no other test has; false if something was refused. */
static bool live(void)
{
    enum { N = 20, STACK = 2 * SMALL_STACK };
    struct co_pool *pool = co_pool_new(STACK);
    struct counter counters[N];
    size_t n = 0;

    if (!pool)
        return false;
    for (; n < N; n++) {
        counters[n] = (struct counter){.turns = 1};
        counters[n].co = co_new(pool, count, &counters[n]);
        if (!counters[n].co)
            break;
    }
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(co_resume(counters[i].co), CO_YIELDED);
        co_drop(counters[i].co);
    }
    co_pool_free(pool);
    return n == N;
}

static void any_refusal_is_told_and_nothing_is_lost(void **state)
{
    int64_t blocks = owned, bytes = owned_bytes;
    uint64_t refused = 0;
    bool lived = false;

    (void)state;
    for (; !lived; refused++) {
        left = refused;
        lived = live();
        left = UINT64_MAX;
        if (!lived && refused < 3) { /* no stack yet: nothing that a later pool could have */
            assert_int_equal(owned, blocks);
            assert_int_equal(owned_bytes, bytes);
        }
    }
    left = 0;
    blocks = owned;
    bytes = owned_bytes;
    assert_true(live());
    left = UINT64_MAX;
    assert_int_equal(owned, blocks);
    assert_int_equal(owned_bytes, bytes);
    assert_null(co_pool_new(SIZE_MAX / 2));
    co_pool_free(NULL);
}

/* -- what a debugger sees ------------------------------------------------------------------- */

struct trace {
    const void *functions[64];
    size_t n;
};

static _Unwind_Reason_Code add_frame(struct _Unwind_Context *context, void *arg)
{
    struct trace *t = arg;
    uintptr_t at = _Unwind_GetIP(context);

    if (at == 0)
        return _URC_END_OF_STACK;
    if (t->n == sizeof t->functions / sizeof *t->functions)
        return _URC_FATAL_PHASE1_ERROR;
    t->functions[t->n++] = _Unwind_FindEnclosingFunction((void *)at);
    return _URC_NO_REASON;
}

void co_trace_leaf(struct trace *t);
void co_trace_entry(void *arg);

__attribute__((noinline)) void co_trace_leaf(struct trace *t)
{
    _Unwind_Backtrace(add_frame, t);
    __asm__ volatile(""); /* so that the call is not the last thing done, and made by a jump */
}

__attribute__((noinline)) void co_trace_entry(void *arg)
{
    co_trace_leaf(arg);
    __asm__ volatile("");
}

/* Leaf, entry, the outermost functions of co.c, and no frame of its resumer. */
static void a_backtrace_ends_where_the_coroutine_began(void **state)
{
    struct co_pool *pool = pool_new(0);
    struct trace t = {.n = 0};
    struct co *co = co_new(pool, co_trace_entry, &t);

    (void)state;
    assert_int_equal(co_resume(co), CO_ENDED);
    assert_in_range(t.n, 3, 5);
#ifndef CO_UCONTEXT /* the C library's last one is described from its second byte on */
    for (size_t i = 0; i < t.n; i++)
        assert_non_null(t.functions[i]);
#endif
    assert_true(t.functions[0] == (const void *)(uintptr_t)co_trace_leaf);
    assert_true(t.functions[1] == (const void *)(uintptr_t)co_trace_entry);
    co_drop(co);
    co_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_faults_go_where_they_went),
        cmocka_unit_test(overflow_is_a_fault_unless_asked_for),
        cmocka_unit_test(each_goes_on_where_it_yielded),
        cmocka_unit_test(one_resumes_another),
        cmocka_unit_test(yields_from_deep_inside),
        cmocka_unit_test(goes_on_in_another_thread),
        cmocka_unit_test(a_dropped_stack_serves_again),
        cmocka_unit_test(one_stack_serves_very_often),
        cmocka_unit_test(neighbours_begin_at_different_places_of_a_page),
        cmocka_unit_test(thousands_take_two_pages_each),
        cmocka_unit_test(overflow_is_a_state_and_the_others_go_on),
        cmocka_unit_test(overflow_ends_the_innermost_and_then_the_next),
        cmocka_unit_test(overflow_is_seen_in_each_thread_that_asks),
        cmocka_unit_test(overflow_without_guard_is_seen_at_a_yield),
        cmocka_unit_test(stacks_that_had_guards_keep_them),
        cmocka_unit_test(any_refusal_is_told_and_nothing_is_lost),
        cmocka_unit_test(a_backtrace_ends_where_the_coroutine_began),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
