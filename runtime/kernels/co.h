/* co.h -- coroutines with stacks of their own, so that a kernel can wait deep inside its calls. */
#ifndef CO_H
#define CO_H
#include "base/guard.h"
#include <stdbool.h>
#include <stddef.h>

/*
 * A pool and its coroutines belong to one thread at a time. While none of them runs, they may
 * move on to another: a coroutine need not be resumed where it yielded. Code in a coroutine must
 * then not keep the address of a thread-local variable over co_suspend().
 *
 * A switch keeps the registers that a call keeps, and leaves the floating-point control words
 * (rounding, exceptions, denormals) as they are: code that changes them restores them before it
 * yields.
 */
struct co_pool; /* stacks of one simulation; owns them */
struct co;      /* one coroutine; lies on its own stack */

enum co_state { CO_YIELDED, CO_ENDED, CO_OVERFLOWED, CO_CRASHED };

/*
 * A pool of stacks of `stack_bytes` of address space each, 0: 256 KiB. Memory is taken by the
 * page, as a stack grows into it; a stack that was dropped keeps its pages for the next one.
 * NULL: no memory.
 *
 * Below each stack lie 256 KiB that cannot be accessed. A process can have only so many of them
 * (vm.max_map_count): from the 30,000th stack of a pool on, or from the first that the system
 * refuses, stacks have a pattern at their lower end instead, looked at whenever they yield or end.
 */
struct co_pool *co_pool_new(size_t stack_bytes);

/*
 * Gives back all stacks; the pool's coroutines have been dropped. NULL is no pool. The process
 * keeps a few small pools for the next call of co_pool_new() with as many bytes for a stack.
 */
void co_pool_free(struct co_pool *pool);

/* A coroutine that is going to call entry(arg). NULL: no memory. Give it back with co_drop(). */
struct co *co_new(struct co_pool *pool, void (*entry)(void *arg), void *arg);

/*
 * Runs a coroutine that is new or has yielded, until it yields, returns, or overflows its stack.
 * Also from inside another coroutine.
 *
 * CO_OVERFLOWED  It is to be dropped. What it held is lost, locks of the C library included: if
 *                it overflowed in malloc(), the next malloc() never returns. So report it and end.
 *                A stack without guard has gone on, and may have written to others of the pool.
 */
enum co_state co_resume(struct co *co);

/* Begin to fetch into the cache: `co` itself; then the part of its stack that it goes on with. */
void co_prefetch(const struct co *co);
void co_prefetch_stack(const struct co *co);

/* After CO_CRASHED, which leaves as little behind as CO_OVERFLOWED: by what. */
struct crash co_crash(const struct co *co);

/* Is `co` the coroutine that this thread has resumed last? */
bool co_is_resumed(const struct co *co);

/* The lowest byte of its stack, and how many there are up to its end. */
const char *co_stack(const struct co *co, size_t *nbytes);

/* From inside `co`: back to its co_resume(). Returns when it is resumed. */
void co_suspend(struct co *co);

/* Gives the stack back to the pool, also of a coroutine that has not ended; not of a running one.
 */
void co_drop(struct co *co);

/*
 * From now on an access to the guard below the stack of the calling thread's running coroutine
 * is CO_OVERFLOWED; without this call it is a SIGSEGV like any other. The handler of SIGSEGV and
 * SIGBUS is one for the process, and hands every other fault to the handler before it; its
 * stack is the thread's, so each thread that resumes coroutines makes this call. A frame larger
 * than the guard can skip it, unless compiled with -fstack-clash-protection.
 * False: the system refused.
 */
bool co_catch_overflow(void);

/*
 * The same, and what else ends a process by itself is CO_CRASHED while a coroutine of the calling
 * thread runs: SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, and the SIGABRT of abort().
 */
bool co_catch_crashes(void);

#endif
