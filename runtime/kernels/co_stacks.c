/* co_stacks.c -- stacks of coroutines: mapped many at a time, with guards, and kept for later ones.
 */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include "kernels/co_parts.h"

static size_t slot_bytes(const struct co_pool *pool)
{
    return GUARD_BYTES + pool->stack_bytes;
}

static size_t chunk_bytes(const struct co_pool *pool, size_t n)
{
    return n * slot_bytes(pool);
}

/*
 * Pools of simulations that have ended. One that runs a kernel of a few microseconds on 64 PEs is
 * otherwise a third of its time in the system, for mappings, guards and the first touch of a page.
 */
static struct co_pool *shelf[SHELF_POOLS];

static pthread_mutex_t shelf_lock = PTHREAD_MUTEX_INITIALIZER;

static struct co_pool *take_from_shelf(size_t stack_bytes)
{
    struct co_pool *pool = NULL;

    pthread_mutex_lock(&shelf_lock);
    for (size_t i = 0; i < SHELF_POOLS && !pool; i++)
        if (shelf[i] && shelf[i]->stack_bytes == stack_bytes) {
            pool = shelf[i];
            shelf[i] = NULL;
        }
    pthread_mutex_unlock(&shelf_lock);
    return pool;
}

/* False: there is no place for it. A stack without guard may have written to others of its pool. */
static bool put_on_shelf(struct co_pool *pool)
{
    bool put = false;

    if (pool->n_stacks == 0 || pool->n_stacks > SHELF_STACKS ||
        pool->guards_left + pool->n_stacks != GUARDS_MAX)
        return false;
    pthread_mutex_lock(&shelf_lock);
    for (size_t i = 0; i < SHELF_POOLS && !put; i++)
        if (!shelf[i]) {
            shelf[i] = pool;
            put = true;
        }
    pthread_mutex_unlock(&shelf_lock);
    return put;
}

struct co_pool *co_pool_new(size_t stack_bytes)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    struct co_pool *pool;

    if (stack_bytes > SIZE_MAX / 4 / CHUNK_STACKS_MOST)
        return NULL;
    if (stack_bytes == 0)
        stack_bytes = STACK_BYTES;
    stack_bytes = (stack_bytes + page_bytes - 1) / page_bytes * page_bytes;
    if ((pool = take_from_shelf(stack_bytes)) || !(pool = calloc(1, sizeof *pool)))
        return pool;
    pool->stack_bytes = stack_bytes;
    pool->guards_left = GUARDS_MAX;
    return pool;
}

void co_pool_free(struct co_pool *pool)
{
    if (!pool || put_on_shelf(pool))
        return;
    for (struct chunk *c = pool->chunks, *next; c; c = next) {
        next = c->next;
        munmap(c->base, chunk_bytes(pool, c->n));
        free(c);
    }
    free(pool);
}

/* Huge pages would make each stack take all of its address space. */
char *co_map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

    if (p == MAP_FAILED)
        return NULL;
    madvise(p, bytes, MADV_NOHUGEPAGE);
    return p;
}

/*
 * Guards all stacks of a chunk, or none. When the system refuses one, the guards before it are
 * undone, which leaves the process mappings for other things.
 */
void co_guard(struct co_pool *pool, struct chunk *c)
{
    if (pool->guards_left < c->n)
        return;
    for (size_t i = 0; i < c->n; i++)
        if (mprotect(c->base + chunk_bytes(pool, i), GUARD_BYTES, PROT_NONE) != 0) {
            mprotect(c->base, chunk_bytes(pool, i), PROT_READ | PROT_WRITE);
            pool->guards_left = 0;
            return;
        }
    pool->guards_left -= c->n;
    c->guarded = true;
}

/* Doubles the stacks of the pool, within bounds: few cost little, and many are few mappings. */
static size_t next_chunk_stacks(const struct co_pool *pool)
{
    if (pool->n_stacks < CHUNK_STACKS_FIRST)
        return CHUNK_STACKS_FIRST;
    return pool->n_stacks < CHUNK_STACKS_MOST ? pool->n_stacks : CHUNK_STACKS_MOST;
}

static bool add_chunk(struct co_pool *pool)
{
    struct chunk *c = calloc(1, sizeof *c);

    if (!c)
        return false;
    c->n = next_chunk_stacks(pool);
    c->base = co_map(chunk_bytes(pool, c->n));
    if (!c->base) {
        free(c);
        return false;
    }
    co_guard(pool, c);
    c->next = pool->chunks;
    pool->chunks = c;
    pool->n_stacks += c->n;
    return true;
}

/* A stack never used; NULL: no memory. */
struct co *co_take_new(struct co_pool *pool)
{
    if (pool->n_used == pool->n_stacks && !add_chunk(pool))
        return NULL;

    struct chunk *c = pool->chunks;
    char *bottom = c->base + chunk_bytes(pool, c->n_used++) + GUARD_BYTES;
    size_t stagger = pool->n_used++ * STAGGER_STEP_BYTES % STAGGER_MOST_BYTES;
    size_t room = (sizeof(struct co) + 63) / 64 * 64;
    struct co *co = (void *)(bottom + pool->stack_bytes - stagger - room);

    co->pool = pool;
    co->bottom = bottom;
    co->guarded = c->guarded;
    return co;
}

struct co *co_take_dropped(struct co_pool *pool)
{
    struct co *co = pool->dropped;

    pool->dropped = co->next;
    return co;
}

void co_set_canary(struct co *co)
{
    uint64_t *words = (void *)co->bottom;

    for (size_t i = 0; i < CANARY_WORDS; i++)
        words[i] = CANARY + i;
}

/* Frames may have been where it lies, so AddressSanitizer must not see these reads. */
__attribute__((no_sanitize("address"))) bool co_canary_is_whole(const struct co *co)
{
    const uint64_t *words = (const void *)co->bottom;
    uint64_t changes = 0;

    co_watch_peek(words, CANARY_WORDS * sizeof *words);
    for (size_t i = 0; i < CANARY_WORDS; i++)
        changes |= words[i] ^ (CANARY + i);
    return changes == 0;
}
