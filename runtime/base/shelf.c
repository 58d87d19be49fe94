/* shelf.c -- keeps mappings in order of age; under a lock, as threads make simulations, too. */
#include "base/shelf.h"
#include <pthread.h>
#include <sys/mman.h>

struct kept {
    void *at;
    size_t bytes;
    bool zeroed;
};

static pthread_mutex_t kept_mappings_lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept kept_mappings[SHELF_PLACES]; /* the oldest first */
static size_t n_kept_mappings, kept_mapping_bytes;

/* Takes place `i`; those behind it move up. */
static struct kept take_place(size_t i)
{
    struct kept taken = kept_mappings[i];

    n_kept_mappings--;
    kept_mapping_bytes -= taken.bytes;
    for (; i < n_kept_mappings; i++)
        kept_mappings[i] = kept_mappings[i + 1];
    return taken;
}

void *shelf_take(size_t bytes, bool zeroed)
{
    void *at = NULL;

    pthread_mutex_lock(&kept_mappings_lock);
    for (size_t i = n_kept_mappings; i > 0 && !at; i--)
        if (kept_mappings[i - 1].bytes == bytes && kept_mappings[i - 1].zeroed == zeroed)
            at = take_place(i - 1).at;
    pthread_mutex_unlock(&kept_mappings_lock);
    return at;
}

static void unmap_oldest(void)
{
    struct kept oldest = take_place(0);

    munmap(oldest.at, oldest.bytes);
}

/* Room for one of so many bytes, at the expense of the oldest. */
static void make_place(size_t bytes)
{
    while (n_kept_mappings == SHELF_PLACES || kept_mapping_bytes > SHELF_BYTES - bytes)
        unmap_oldest();
}

void shelf_put(void *at, size_t bytes, enum shelf_contents contents)
{
    if (bytes > SHELF_BYTES ||
        (contents == SHELF_TO_ZERO && madvise(at, bytes, MADV_DONTNEED) != 0)) {
        munmap(at, bytes);
        return;
    }
    pthread_mutex_lock(&kept_mappings_lock);
    make_place(bytes);
    kept_mappings[n_kept_mappings++] = (struct kept){at, bytes, contents != SHELF_ANY};
    kept_mapping_bytes += bytes;
    pthread_mutex_unlock(&kept_mappings_lock);
}

__attribute__((destructor)) void shelf_clear(void)
{
    pthread_mutex_lock(&kept_mappings_lock);
    while (n_kept_mappings > 0)
        unmap_oldest();
    pthread_mutex_unlock(&kept_mappings_lock);
}
