/* arena.h -- memory of one machine in the making, which is given back in one go. */
#ifndef ARENA_H
#define ARENA_H
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>

struct arena_block;

/* All zero, except `without`, is an empty arena. */
struct arena {
    struct arena_block *blocks; /* owned */
    char *next;                 /* the first free byte of the newest block */
    size_t left;
    jmp_buf
        *without; /* where it goes on without memory; borrowed. To be set before the first byte */
    bool (*stop)(void *arg); /* is the work to end? NULL: never */
    void *stop_arg;
};

/*
 * `size` zero bytes, aligned for any type, valid until arena_release(). Never NULL: without memory
 * it does not return, see arena_lacks().
 */
void *arena_alloc(struct arena *a, size_t size);

/* Gives back what arena_alloc() gave, or nothing at NULL: what is large at once, all else with the
 * arena. */
void arena_drop(struct arena *a, const void *p);

/* `len` bytes of `text`, and a final 0. */
char *arena_copy(struct arena *a, const char *text, size_t len);

/* The text that printf() would print. */
__attribute__((format(printf, 2, 3))) char *arena_printf(struct arena *a, const char *fmt, ...);

/* Goes to `without` if stop() says so: for loops that may last. */
void arena_pause(const struct arena *a);

/* What `without` is reached by. */
enum { ARENA_LACKS = 1, ARENA_ENDS };

/* Memory is exhausted: goes to `without`. */
__attribute__((noreturn)) void arena_lacks(const struct arena *a);

/* Frees everything; the arena is empty again. */
void arena_release(struct arena *a);

#endif
