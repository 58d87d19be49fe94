/* co.c -- pooled stacks, coroutines on them, and the overflow of a stack as a state.
 *
 * A kernel waits deep inside its own functions, and thousands of kernels wait at a time. So each
 * has a stack of its own (a stackful coroutine), and to wait is to switch stacks: co_resume() goes
 * in, co_suspend() comes back. One switch takes about 10 ns.
 *
 * The switch saves what a C function call saves: six registers on x86_64, and the stack pointer.
 * The rest the compiler has saved already, as co_switch() is a call to it. It is assembly, in
 * co_x86_64.S and co_aarch64.S. Other machines use ucontext, which is slower: its switch also
 * changes the signal mask, a system call.
 *
 * Stacks. A pool maps them in chunks of 8 to 64: each chunk is one mapping, so that many stacks are
 * few mappings. Only the pages that are touched take memory. `struct co` lies at the top of its
 * stack, on a page that is used anyhow. A stack that was dropped goes to a list and serves the next
 * kernel.
 *
 *     lower addresses | guard 256 KiB | stack 256 KiB, grows down <-- | struct co | next guard
 *
 * Stacks begin at different places of a page (STAGGER): with all at the same place, the hot ends of
 * 64 stacks would share one cache set.
 *
 * Overflow. The guard cannot be accessed, so a frame that passes the end of the stack is a SIGSEGV.
 * on_fault() runs on a signal stack of its own; if the address lies in the guard of the coroutine
 * that runs, it makes the switch to the resumer in place of the kernel, and co_resume() returns
 * CO_OVERFLOWED. Each guard takes two mappings, and Linux allows 65530: from the 30,000th stack on
 * there is a pattern (canary) instead, which is looked at whenever the coroutine yields.
 *
 * Invariants.
 *   - `resumed` is the coroutine that this thread has resumed last. It may have yielded since, and
 *     be gone; so it is believed only if the stack pointer lies on its stack.
 *   - Nothing of a coroutine may live in a thread-local variable across co_suspend(): another
 *     thread may resume it.
 *
 * What was slower. A processor predicts where a `ret` goes from the calls before it, and a switch
 * breaks the pairs: about 7 ns for each `ret` that is mispredicted. So co_resume() and co_suspend()
 * end in the switch (a tail call), which returns to their callers directly.
 */
#include "kernels/co.h"
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include "kernels/co_parts.h"
#include "kernels/co_watch.h"
#include "base/guard.h"

/*
 * The coroutine that this thread has resumed last: it runs, or has yielded since. Then it may be
 * gone, so only code on its own stack, which ends at `co` itself, looks into it.
 * Initial-exec: its first use in a thread may be in a signal handler.
 */
static _Thread_local struct resumed {
    struct co *co;
    char *guard; /* lowest byte of the guard, or of the room in its place */
} resumed __attribute__((tls_model("initial-exec")));

/* Are other faults than overflows told, too? */
static _Thread_local bool catches_crashes __attribute__((tls_model("initial-exec")));

static bool is_on_stack(const struct resumed *r, uintptr_t sp)
{
    return sp - (uintptr_t)r->guard < (uintptr_t)r->co - (uintptr_t)r->guard;
}

/* -- the switch, by assembly or by ucontext --------------------------------------------------- */

static void run(struct co *co);

#ifdef CO_UCONTEXT

/* makecontext() passes ints. */
static void run_halves(unsigned high, unsigned low)
{
    run((void *)((uintptr_t)high << 16 << 16 | low));
}

static void prepare(struct co *co)
{
    uintptr_t number = (uintptr_t)co;

    getcontext(&co->own);
    co->own.uc_stack.ss_sp = co->bottom;
    co->own.uc_stack.ss_size = (size_t)((char *)co - co->bottom);
    co->own.uc_link = NULL;
    makecontext(&co->own, (void (*)(void))run_halves, 2, (unsigned)(number >> 16 >> 16),
                (unsigned)number);
}

static enum co_state switch_in(struct co *co)
{
    swapcontext(&co->resumer, &co->own);
    return co->state;
}

static void switch_out(struct co *co, enum co_state why)
{
    (void)why;
    swapcontext(&co->own, &co->resumer);
}

static uintptr_t sp_of(const ucontext_t *at)
{
    (void)at;
    return (uintptr_t)resumed.guard; /* never out of date: see must_return() */
}

static uintptr_t pc_of(const ucontext_t *at)
{
    (void)at;
    return 0;
}

/* From a signal handler, which this leaves. */
static void abandon(struct co *co, ucontext_t *at)
{
    (void)at;
    setcontext(&co->resumer);
}

#else

/*
 * Assembly, in files of its own: a compiler that saw inside would assume that a switch leaves
 * static variables unchanged.
 */
enum co_state co_switch(void **save_sp, void *load_sp, enum co_state why);
void co_land(void);
void co_start(void);

static enum co_state switch_in(struct co *co)
{
    return co_switch(&co->resumer, co->own, CO_YIELDED);
}

static void switch_out(struct co *co, enum co_state why)
{
    co_switch(&co->own, co->resumer, why);
}

#ifdef __x86_64__

/* What co_switch() takes from a stack. */
struct frame {
    uint64_t r15, r14, r13, r12, rbx, rbp, rip;
};

static void prepare(struct co *co)
{
    struct frame *f = (struct frame *)(void *)co - 1;

    *f = (struct frame){.rbx = (uintptr_t)co, .r12 = (uintptr_t)run, .rip = (uintptr_t)co_start};
    co->own = f;
}

static uintptr_t sp_of(const ucontext_t *at)
{
    return (uintptr_t)at->uc_mcontext.gregs[REG_RSP];
}

static uintptr_t pc_of(const ucontext_t *at)
{
    return (uintptr_t)at->uc_mcontext.gregs[REG_RIP];
}

/* The handler is going to return into co_land(), by the ABI of a call: up, and x87 empty. */
static void abandon(struct co *co, ucontext_t *at)
{
    greg_t *regs = at->uc_mcontext.gregs;

    regs[REG_RSI] = (greg_t)(uintptr_t)co->resumer;
    regs[REG_RDX] = co->state;
    regs[REG_RIP] = (greg_t)(uintptr_t)co_land;
    regs[REG_EFL] &= ~(greg_t)0x400;
    if (at->uc_mcontext.fpregs) {
        at->uc_mcontext.fpregs->swd = 0;
        at->uc_mcontext.fpregs->ftw = 0;
    }
}

#else

/* What co_switch() takes from a stack. */
struct frame {
    uint64_t x29, x30, x19, x20, x21_to_x28[8], d8_to_d15[8];
};

static void prepare(struct co *co)
{
    struct frame *f = (struct frame *)(void *)co - 1;

    *f = (struct frame){.x19 = (uintptr_t)co, .x20 = (uintptr_t)run, .x30 = (uintptr_t)co_start};
    co->own = f;
}

static uintptr_t sp_of(const ucontext_t *at)
{
    return at->uc_mcontext.sp;
}

static uintptr_t pc_of(const ucontext_t *at)
{
    return at->uc_mcontext.pc;
}

/* The handler is going to return into co_land(). */
static void abandon(struct co *co, ucontext_t *at)
{
    at->uc_mcontext.regs[1] = (uintptr_t)co->resumer;
    at->uc_mcontext.regs[2] = co->state;
    at->uc_mcontext.pc = (uintptr_t)co_land;
}

#endif
#endif

/* -- coroutines ------------------------------------------------------------------------------- */

static size_t watched_bytes(const struct co *co)
{
    return (size_t)((const char *)co - co->bottom);
}

/* The outermost function of a coroutine. */
static void run(struct co *co)
{
    co_watch_resumed(&co->watch);
    co->entry(co->arg);
    co->state = CO_ENDED;
    co_watch_yield(&co->watch, true);
    switch_out(co, CO_ENDED);
}

struct co *co_new(struct co_pool *pool, void (*entry)(void *arg), void *arg)
{
    struct co *co = pool->dropped ? co_take_dropped(pool) : co_take_new(pool);

    if (!co)
        return NULL;
    co->state = CO_YIELDED;
    co->entry = entry;
    co->arg = arg;
    co_watch_new(&co->watch, co->bottom, watched_bytes(co));
    if (!co->guarded)
        co_set_canary(co);
    prepare(co);
    return co;
}

const char *co_stack(const struct co *co, size_t *nbytes)
{
    *nbytes = (size_t)((const char *)co - co->bottom);
    return co->bottom;
}

void co_prefetch(const struct co *co)
{
    __builtin_prefetch(co);
    __builtin_prefetch((const char *)co + 64);
}

void co_prefetch_stack(const struct co *co)
{
#ifdef CO_UCONTEXT
    (void)co;
#else
    for (int i = 0; i < 8; i++)
        __builtin_prefetch((const char *)co->own + 64 * i);
#endif
}

struct crash co_crash(const struct co *co)
{
    return co->crash;
}

bool co_is_resumed(const struct co *co)
{
    return resumed.co == co;
}

static void set_resumed(struct co *co)
{
    resumed = (struct resumed){co, co->bottom - GUARD_BYTES};
}

/* As co_resume(), where something is to be done after the coroutine has yielded. */
__attribute__((noinline)) static enum co_state resume_and_return(struct co *co)
{
    struct resumed outer = resumed;
    enum co_state state;

    set_resumed(co);
    co_watch_resume(&co->watch, co->bottom, watched_bytes(co));
    state = switch_in(co);
    if (state == CO_OVERFLOWED || state == CO_CRASHED) /* it left by on_fault() */
        co_watch_yield(&co->watch, true);
    co_watch_yielded(&co->watch);
    resumed = outer;
    if (!co->guarded && !co_canary_is_whole(co))
        co->state = CO_OVERFLOWED;
    return co->state;
}

static bool must_return(const struct co *co)
{
#ifdef CO_UCONTEXT
    return true;
#endif
    return CO_WATCHED || !co->guarded ||
           is_on_stack(&resumed, (uintptr_t)__builtin_frame_address(0));
}

/* This and co_suspend() end in the switch, so that compilers make it a jump: see the top. */
enum co_state co_resume(struct co *co)
{
    assert(co->state == CO_YIELDED);
    if (must_return(co))
        return resume_and_return(co);
    set_resumed(co);
    return switch_in(co);
}

void co_suspend(struct co *co)
{
    co_watch_yield(&co->watch, false);
    switch_out(co, CO_YIELDED);
    co_watch_resumed(&co->watch);
}

void co_drop(struct co *co)
{
    co_watch_drop(&co->watch, co->bottom, watched_bytes(co));
    co->next = co->pool->dropped;
    co->pool->dropped = co;
}

/* -- overflow --------------------------------------------------------------------------------- */

/* The signals of faults, those of an overflow first; and the handlers that were there before ours.
 */
static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};

enum { N_OVERFLOWS = 2, N_FAULTS = sizeof faults / sizeof *faults };

static struct sigaction old_handlers[N_FAULTS];

static pthread_mutex_t set_up_lock = PTHREAD_MUTEX_INITIALIZER;

static pthread_key_t signal_stack; /* unmapped with its thread */

static bool has_key;

/* The stack pointer tells whether the coroutine resumed last is the one that runs. */
static bool is_overflow(const siginfo_t *info, const ucontext_t *at)
{
    uintptr_t guard = (uintptr_t)resumed.guard, address = (uintptr_t)info->si_addr;

    return info->si_code > 0 && address - guard < GUARD_BYTES && is_on_stack(&resumed, sp_of(at)) &&
           resumed.co->guarded;
}

/* abort() sends its signal itself. */
static bool is_crash(int signal, const siginfo_t *info, const ucontext_t *at)
{
    return catches_crashes && is_on_stack(&resumed, sp_of(at)) &&
           (info->si_code > 0 || (signal == SIGABRT && info->si_pid == getpid()));
}

static struct sigaction *old_handler(int signal)
{
    size_t i = 0;

    while (faults[i] != signal)
        i++;
    return &old_handlers[i];
}

/* Without our handler the access is made again, and ends in the default: a core of that place. */
static void pass_on(int signal, siginfo_t *info, void *context)
{
    const struct sigaction *old = old_handler(signal);

    if (old->sa_handler == SIG_DFL || old->sa_handler == SIG_IGN) {
        sigaction(signal, old, NULL);
        if (info->si_code <= 0) /* sent by kill(): nothing is done again */
            raise(signal);
    } else if (old->sa_flags & SA_SIGINFO) {
        old->sa_sigaction(signal, info, context);
    } else {
        old->sa_handler(signal);
    }
}

static struct crash crash_of(int signal, const siginfo_t *info, const ucontext_t *at)
{
    return (struct crash){signal, signal == SIGSEGV || signal == SIGBUS ? info->si_addr : NULL,
                          (const void *)pc_of(at)};
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    if (is_overflow(info, context)) {
        resumed.co->state = CO_OVERFLOWED;
        abandon(resumed.co, context);
    } else if (is_crash(signal, info, context)) {
        resumed.co->state = CO_CRASHED;
        resumed.co->crash = crash_of(signal, info, context);
        abandon(resumed.co, context);
    } else {
        if (catches_crashes)
            guard_end(crash_of(signal, info, context), info);
        pass_on(signal, info, context);
    }
}

static void unmap_signal_stack(void *stack)
{
    const stack_t none = {.ss_flags = SS_DISABLE};

    sigaltstack(&none, NULL);
    munmap(stack, SIGNAL_STACK_BYTES);
}

/* Puts our handler before the present one, also before one that was set since the last call. */
static bool handle(int signal)
{
    struct sigaction act = {.sa_flags = SA_SIGINFO | SA_ONSTACK}, now;

    if (sigaction(signal, NULL, &now) != 0)
        return false;
    if (now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_fault)
        return true;
    *old_handler(signal) = now;
    act.sa_sigaction = on_fault;
    sigemptyset(&act.sa_mask);
    return sigaction(signal, &act, NULL) == 0;
}

static bool set_up(size_t n_faults)
{
    bool done;

    pthread_mutex_lock(&set_up_lock);
    if (!has_key)
        has_key = pthread_key_create(&signal_stack, unmap_signal_stack) == 0;
    done = has_key;
    for (size_t i = 0; i < n_faults; i++)
        done = done && handle(faults[i]);
    pthread_mutex_unlock(&set_up_lock);
    return done;
}

/* A signal stack for this thread, unless it has one. */
static bool ensure_signal_stack(void)
{
    stack_t stack = {.ss_size = SIGNAL_STACK_BYTES}, old;

    if (sigaltstack(NULL, &old) != 0)
        return false;
    if (!(old.ss_flags & SS_DISABLE))
        return true;
    stack.ss_sp = co_map(SIGNAL_STACK_BYTES);
    if (!stack.ss_sp)
        return false;
    if (sigaltstack(&stack, NULL) == 0 && pthread_setspecific(signal_stack, stack.ss_sp) == 0)
        return true;
    unmap_signal_stack(stack.ss_sp);
    return false;
}

bool co_catch_overflow(void)
{
    return set_up(N_OVERFLOWS) && ensure_signal_stack();
}

bool co_catch_crashes(void)
{
    return catches_crashes = set_up(N_FAULTS) && ensure_signal_stack();
}
