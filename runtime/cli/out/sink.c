/*
 * sink.c -- where a command's output goes: stdout, a file that appears only when whole, or memory.
 *
 * A file of results is either complete or not there. sink_open() creates a temporary file in the
 * folder of the wanted one (base/newfile.c); sink_close() with SINK_KEEP renames it, which replaces
 * an older file in one step; with SINK_DROP, or after any error, it is removed and the older file
 * stays as it was. What a run that was interrupted has written becomes FILE.partial (SINK_PARTIAL):
 * FILE itself is always the result of a whole run. If a signal ends the program, stop.c removes the
 * temporary file. Devices and pipes (-o /dev/null, a FIFO) cannot be replaced, so they are written
 * in place.
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
 * rows. A sink in memory (fd -1) grows to twice its size where it lacks room, and a flush does
 * nothing to it; `sweep` has one for each block of rows, and the page of `report` one for each
 * part.
 */
#include "cli/out/sink.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include "cli/out/session.h"
#include "cli/out/stop.h"
#include "base/text.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum exit_code sink_open(struct sink *s, const char *program, const char *path)
{
    if (!path && session_here()) {
        sink_open_memory(s);
        s->session = session_here();
        return EXIT_OK;
    }
    *s = (struct sink){
        .fd = STDOUT_FILENO, .name = path ? path : "standard output", .file.fd = -1, .removed = -1};
    s->buffer = memory_new(1, SINK_BYTES);
    s->at = s->buffer;
    s->end = s->buffer + SINK_BYTES;
    if (!path)
        return EXIT_OK;
    if (newfile_open(&s->file, path)) {
        s->fd = s->file.fd;
        s->removed = stop_removes(s->file.has_name ? s->file.temporary : NULL);
        return EXIT_OK;
    }
    s->error = errno;
    return sink_close(s, program, SINK_DROP);
}

void sink_open_memory(struct sink *s)
{
    *s = (struct sink){.fd = -1, .file.fd = -1, .buffer = memory_new(1, SINK_BYTES)};
    s->at = s->buffer;
    s->end = s->buffer + SINK_BYTES;
}

void sink_free(struct sink *s)
{
    free(s->buffer);
    *s = (struct sink){.fd = -1, .file.fd = -1};
}

/* Makes room for SINK_BYTES more. */
static void grow(struct sink *s)
{
    size_t used = (size_t)(s->at - s->buffer), room = 2 * (size_t)(s->end - s->buffer);

    s->buffer = memory_resize(s->buffer, room, 1);
    s->at = s->buffer + used;
    s->end = s->buffer + room;
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

void sink_make_room(struct sink *s)
{
    if (s->fd < 0)
        grow(s);
    else
        write_out(s);
}

void sink_flush(struct sink *s)
{
    if (s->fd >= 0)
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

static ssize_t write_stream(void *s, const char *bytes, size_t n)
{
    sink_bytes(s, bytes, n);
    return (ssize_t)n;
}

FILE *sink_stream(struct sink *s)
{
    FILE *stream = fopencookie(s, "w", (cookie_io_functions_t){.write = write_stream});

    if (!stream)
        memory_lacks();
    return stream;
}

void sink_count(struct sink *s, uint64_t n)
{
    s->at = text_put_count(sink_room(s, TEXT_NUMBER_BYTES), n);
}

/* Signals wait: their handler knows the temporary file by the name that is freed here. */
static void close_file(struct sink *s, bool keep)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    if (!newfile_close(&s->file, keep) && !s->error)
        s->error = errno;
    stop_keeps(s->removed);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* A session has the bytes that are no rows. */
static enum exit_code give_session(struct sink *s)
{
    free(s->session->text);
    s->session->text = s->buffer;
    s->session->n_text = (size_t)(s->at - s->buffer);
    *s = (struct sink){.fd = -1, .file.fd = -1};
    return EXIT_OK;
}

enum exit_code sink_close(struct sink *s, const char *program, enum sink_end end)
{
    if (s->session)
        return give_session(s);
    bool renamed = end == SINK_PARTIAL && s->file.target;
    enum exit_code code = EXIT_OK;

    if (end != SINK_DROP)
        sink_flush(s);
    if (renamed && !newfile_add_suffix(&s->file, SINK_PARTIAL_SUFFIX))
        memory_lacks();
    close_file(s, end != SINK_DROP && !s->error);
    if (s->error && s->error != EPIPE)
        code = say(program, EXIT_SYSTEM, "cannot write %s: %s", s->name, strerror(s->error));
    else if (renamed)
        say(program, EXIT_INTERRUPTED, "what is complete is in %s" SINK_PARTIAL_SUFFIX, s->name);
    free(s->buffer);
    *s = (struct sink){.fd = -1, .file.fd = -1};
    return code;
}
