/*
 * sink.c -- where a command's output goes: stdout, a file that appears only when whole, or memory.
 *
 * A file of results is either complete or not there. sink_open() creates a temporary file in the
 * folder of the wanted one (base/newfile.c); sink_close() with `keep` renames it, which replaces an
 * older file in one step; without `keep`, or after any error, it is removed and the older file
 * stays as it was. If a signal ends the program, stop.c removes the temporary file. Devices and
 * pipes
 * (-o /dev/null, a FIFO) cannot be replaced, so they are written in place.
 *
 * Invariants:
 *   - `buffer` <= `at` <= `end`; the bytes from `buffer` to `at` are not written yet.
 *   - sink_room(n) returns room for n <= SINK_BYTES bytes; the caller writes there and moves `at`.
 *     Numbers are formatted straight into the buffer this way, without a copy.
 *   - The first failed write sets `error`; from then on the buffer is emptied but nothing is
 * written, so that callers need not check each call. Long loops look at sink_ok() to end early.
 *   - EPIPE (the reader of a pipe, such as `head`, has ended) is an error for sink_ok() but not for
 *     the exit code.
 *
 * Why 256 KiB: a row of `replay` has about 200 bytes, so that there is one write() for about 1300
 * rows. A sink in memory (fd -1) grows to twice its size instead of writing; `sweep` has one for
 * each block of rows, and the page of `report` one for each part.
 */
#include "cli/out/sink.h"
#include "cli/out/say.h"
#include "cli/out/stop.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum exit_code sink_open(struct sink *s, const char *program, const char *path)
{
    *s = (struct sink){
        .fd = STDOUT_FILENO, .name = path ? path : "standard output", .file.fd = -1, .removed = -1};
    s->buffer = malloc(SINK_BYTES);
    if (!s->buffer)
        return say(program, EXIT_SYSTEM, "out of memory");
    s->at = s->buffer;
    s->end = s->buffer + SINK_BYTES;
    if (!path)
        return EXIT_OK;
    if (newfile_open(&s->file, path)) {
        s->fd = s->file.fd;
        s->removed = stop_removes(s->file.temporary);
        return EXIT_OK;
    }
    s->error = errno;
    return sink_close(s, program, false);
}

bool sink_open_memory(struct sink *s)
{
    *s = (struct sink){.fd = -1, .file.fd = -1, .buffer = malloc(SINK_BYTES)};
    s->at = s->buffer;
    s->end = s->buffer ? s->buffer + SINK_BYTES : NULL;
    return s->buffer != NULL;
}

void sink_free(struct sink *s)
{
    free(s->buffer);
    *s = (struct sink){.fd = -1, .file.fd = -1};
}

/* Makes room for SINK_BYTES more. Without memory what was written is lost, and the error stays. */
static void grow(struct sink *s)
{
    size_t used = (size_t)(s->at - s->buffer), room = 2 * (size_t)(s->end - s->buffer);
    char *more = malloc(room);

    s->at = s->buffer;
    if (!more) {
        s->error = ENOMEM;
        return;
    }
    memcpy(more, s->buffer, used);
    free(s->buffer);
    s->buffer = more;
    s->at = more + used;
    s->end = more + room;
}

static void write_out(struct sink *s)
{
    const char *p = s->buffer;

    while (p < s->at && !s->error) {
        ssize_t n = write(s->fd, p, (size_t)(s->at - p));

        if (n >= 0)
            p += n;
        else if (errno != EINTR)
            s->error = errno;
    }
    s->at = s->buffer;
}

void sink_flush(struct sink *s)
{
    if (s->fd < 0)
        grow(s);
    else
        write_out(s);
}

void sink_bytes(struct sink *s, const void *bytes, size_t n)
{
    const char *from = bytes;

    while (n > 0) {
        size_t part = n < SINK_BYTES ? n : SINK_BYTES;
        char *to = sink_room(s, part);

        memcpy(to, from, part);
        s->at = to + part;
        from += part;
        n -= part;
    }
}

void sink_text(struct sink *s, const char *text)
{
    sink_bytes(s, text, strlen(text));
}

enum exit_code sink_close(struct sink *s, const char *program, bool keep)
{
    enum exit_code code = EXIT_OK;

    if (keep)
        sink_flush(s);
    if (!newfile_close(&s->file, keep && !s->error) && !s->error)
        s->error = errno;
    stop_keeps(s->removed);
    if (s->error && s->error != EPIPE)
        code = say(program, EXIT_SYSTEM, "cannot write %s: %s", s->name, strerror(s->error));
    free(s->buffer);
    *s = (struct sink){.fd = -1, .file.fd = -1};
    return code;
}
