/*
 * lines.c -- a file, line by line, through one buffer.
 *
 * A line is given out in place, without a copy, and stays valid until the next call. What is left
 * of the buffer then moves to the front, and the file is read behind it. A line that does not fit
 * into LINE_BYTES_MAX is skipped and reported once; after LINE_SKIP_MAX bytes of it reading ends.
 */
#include "cli/in/lines.h"
#include "cli/out/memory.h"
#include "cli/out/stop.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A line of the longest, and as much again. It is not cleared: a short file touches its first page
 * only. */
enum { BUFFER_BYTES = 2 * LINE_BYTES_MAX };

void lines_open(struct lines *l, int fd)
{
    *l = (struct lines){.fd = fd, .buffer = memory_resize(NULL, 1, BUFFER_BYTES)};
}

void lines_close(struct lines *l)
{
    free(l->buffer);
    l->buffer = NULL;
}

/* Moves what is left to the front and reads more behind it. False with errno. */
static bool fill(struct lines *l)
{
    ssize_t n;

    memmove(l->buffer, l->buffer + l->at, l->filled - l->at);
    l->filled -= l->at;
    l->at = 0;
    do
        n = read(l->fd, l->buffer + l->filled, BUFFER_BYTES - l->filled);
    while (n < 0 && errno == EINTR && !stop_asked());
    if (n < 0)
        return false;
    l->filled += (size_t)n;
    l->n_read += (uint64_t)n;
    l->ended = n == 0;
    return true;
}

/* Drops everything up to and with the next LF. */
static enum line_state skip(struct lines *l)
{
    uint64_t from = l->n_read;
    const char *lf;

    while (!(lf = memchr(l->buffer + l->at, '\n', l->filled - l->at)) && !l->ended) {
        l->at = l->filled;
        if (l->n_read - from > LINE_SKIP_MAX) {
            l->number++;
            return LINE_ENDLESS;
        }
        if (stop_asked() || !fill(l))
            return LINE_FAILED;
    }
    l->at = lf ? (size_t)(lf + 1 - l->buffer) : l->filled;
    l->number++;
    return LINE_TOO_LONG;
}

/* Gives out the next `n` bytes, and leaves `n_end` more behind. */
static enum line_state give(struct lines *l, size_t n, size_t n_end, const char **line, size_t *len)
{
    if (n > LINE_BYTES_MAX)
        return skip(l);
    *line = l->buffer + l->at;
    *len = n > 0 && (*line)[n - 1] == '\r' ? n - 1 : n;
    l->at += n + n_end;
    l->number++;
    return LINE_READ;
}

enum line_state lines_next(struct lines *l, const char **line, size_t *len)
{
    for (;;) {
        const char *from = l->buffer + l->at;
        size_t rest = l->filled - l->at;
        const char *lf = memchr(from, '\n', rest);

        if (lf)
            return give(l, (size_t)(lf - from), 1, line, len);
        if (l->ended && rest == 0)
            return LINE_END;
        if (l->ended || rest > LINE_BYTES_MAX)
            return give(l, rest, 0, line, len);
        if (!fill(l))
            return LINE_FAILED;
    }
}
