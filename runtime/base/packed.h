/* packed.h -- bytes that grow, for what goes from one process to another of the same program. */
#ifndef PACKED_H
#define PACKED_H
#include <stdbool.h>
#include <stddef.h>

/* All zero is none. */
struct packed {
    char *bytes; /* owned */
    size_t n, room;
    size_t at; /* so many were taken */
    bool lost; /* memory was short, or more was taken than there is */
};

void packed_put(struct packed *p, const void *bytes, size_t n);
/* Zeros if there are not so many left. */
void packed_take(struct packed *p, void *bytes, size_t n);
/* The next `n` bytes, borrowed; NULL: there are not so many left. */
const char *packed_next(struct packed *p, size_t n);
/* A text, which may be NULL; taken: owned by the caller. */
void packed_put_text(struct packed *p, const char *text);
char *packed_take_text(struct packed *p);
void packed_free(struct packed *p);

#define PACKED_PUT(p, object)  packed_put((p), &(object), sizeof(object))
#define PACKED_TAKE(p, object) packed_take((p), &(object), sizeof(object))

#endif
