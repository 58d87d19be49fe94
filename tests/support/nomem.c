/* nomem.c -- preloaded: the allocation numbered NOMEM, from 1, and all after it fail. */
#include <errno.h>
#include <stdlib.h>

static int fails(void)
{
    static long n_allocs, limit = -1;

    if (limit < 0) {
        const char *text = getenv("NOMEM");

        limit = text ? atol(text) : 0;
    }
    if (limit == 0 || ++n_allocs < limit)
        return 0;
    errno = ENOMEM;
    return 1;
}

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
    return fails() ? NULL : __libc_realloc(p, size);
}
