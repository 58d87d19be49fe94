/* co_parts.h -- what the files of coroutines share: stacks, and the coroutine at the end of each.
 */
#ifndef KERNELS_CO_PARTS_H
#define KERNELS_CO_PARTS_H
#include "kernels/co.h"
#include <assert.h>
#include <stdint.h>
#include <ucontext.h>
#include "kernels/co_watch.h"
#include "base/guard.h"

/* CO_UCONTEXT is for machines without an assembly of their own, and defined by a test. */
#if !(defined(__LP64__) && (defined(__x86_64__) || defined(__aarch64__)))
#define CO_UCONTEXT
#endif

enum {
    STACK_BYTES = 256 << 10,
    GUARD_BYTES = 256 << 10, /* a multiple of any page size */
    GUARDS_MAX = 30000,      /* two mappings each, of 65530 */
    CHUNK_STACKS_FIRST = 8,
    CHUNK_STACKS_MOST = 64,
    SHELF_POOLS = 4,    /* kept for later simulations, */
    SHELF_STACKS = 128, /* each of at most so many stacks */
    CANARY_WORDS = 32,
    SIGNAL_STACK_BYTES = 64 << 10,
};

/* Neighbours begin their stacks at different places of a page, so in different cache sets. */
enum { STAGGER_STEP_BYTES = 5 * 64, STAGGER_MOST_BYTES = 2048 };

#define CANARY UINT64_C(0xc0de57ac4ed6e000)

/* Lies at the top of its stack, so that a coroutine that does little touches one page only. */
struct co {
#ifdef CO_UCONTEXT
    ucontext_t own, resumer;
#else
    void *own, *resumer; /* stack pointers of the side that does not run */
#endif
    enum co_state state;
    bool guarded;
    struct crash crash;
    void (*entry)(void *arg);
    void *arg;
    struct co_pool *pool;
    char *bottom;    /* lowest byte of the stack; the guard ends here */
    struct co *next; /* in the pool's list of dropped ones */
    struct co_watch watch;
};

/* Several stacks of one mapping, each above its guard. */
struct chunk {
    struct chunk *next;
    char *base;
    size_t n, n_used;
    bool guarded;
};

struct co_pool {
    size_t stack_bytes;
    size_t n_stacks; /* in all chunks */
    size_t n_used;   /* of them, ever */
    size_t guards_left;
    struct chunk *chunks; /* owned; the first may have stacks never used */
    struct co *dropped;
};

/* Huge pages would make each stack take all of its address space. */
char *co_map(size_t bytes);

/*
 * Guards all stacks of a chunk, or none. When the system refuses one, the guards before it are
 * undone, which leaves the process mappings for other things.
 */
void co_guard(struct co_pool *pool, struct chunk *c);

/* A stack never used; NULL: no memory. */
struct co *co_take_new(struct co_pool *pool);

struct co *co_take_dropped(struct co_pool *pool);

void co_set_canary(struct co *co);

bool co_canary_is_whole(const struct co *co);

#endif
