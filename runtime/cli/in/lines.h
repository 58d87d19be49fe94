/* lines.h -- a file, line by line, through one buffer. */
#ifndef LINES_H
#define LINES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LINE_BYTES_MAX = 64 * 1024, LINE_SKIP_MAX = 64 * 1024 * 1024 };

enum line_state {
    LINE_READ,     /* `line` and `len` hold one, without its end */
    LINE_TOO_LONG, /* over LINE_BYTES_MAX; the next call goes on behind it */
    LINE_ENDLESS,  /* the same, over LINE_SKIP_MAX: /dev/zero has no end */
    LINE_END,      /* no more */
    LINE_FAILED,   /* errno says why; EINTR: stop_asked() */
};

/* All zero except the descriptor: nothing was read yet. */
struct lines {
    int fd;            /* borrowed */
    char *buffer;      /* owned */
    size_t at, filled; /* what is read but not given out: buffer[at .. filled) */
    uint64_t n_read;   /* bytes so far */
    uint64_t number;   /* of the line given out last, from 1 */
    bool ended;        /* nothing is left to read() */
};

/* Give the buffer back with lines_close(). */
void lines_open(struct lines *l, int fd);
void lines_close(struct lines *l);

/* The next line; it stays until the next call. A CR before the LF belongs to the line's end. */
enum line_state lines_next(struct lines *l, const char **line, size_t *len);

#endif
