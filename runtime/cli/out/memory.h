/* memory.h -- memory of the command line: there is always some, or the program has ended. */
#ifndef MEMORY_H
#define MEMORY_H
#include <stddef.h>

/* None of these returns NULL. All is given back with free(). */
#define MEMORY __attribute__((returns_nonnull, warn_unused_result))

/* Room for `n` things of `size` bytes, all zero. */
void *memory_new(size_t n, size_t size) MEMORY;

/* `rows` (owned, or NULL), moved if it had room for `n` things of `size` bytes only. */
void *memory_room(void *rows, size_t n, size_t *room, size_t size) MEMORY;

/* `old` (owned, or NULL), moved to room for `n` things of `size` bytes. */
void *memory_resize(void *old, size_t n, size_t size) MEMORY;

char *memory_text(const char *text) MEMORY;
char *memory_part(const char *text, size_t len) MEMORY; /* its first `len` bytes */

/*
 * Ends the program: "PROGRAM: out of memory", exit 5. Files that are not complete are removed, and
 * undo(arg) is called, if it was set, on the thread that lacked the memory.
 */
_Noreturn void memory_lacks(void);
void memory_undo(void (*undo)(void *arg), void *arg);

/* The name for the message, borrowed; and how memory that is given back is to be kept. */
void memory_begin(const char *program);

#endif
