/* sink.h -- where a command's output goes: stdout, a file that appears only when whole, or memory.
 */
#ifndef SINK_H
#define SINK_H
#include "cli/exit.h"
#include "base/newfile.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct session;

enum { SINK_BYTES = 256 * 1024 };

/* The first error stays; what is written after it is lost. */
struct sink {
    int fd;                  /* -1: memory, which holds all from `buffer` to `at` */
    int error;               /* errno of the first write that failed, 0 if none */
    const char *name;        /* for messages, borrowed */
    struct newfile file;     /* not for stdout */
    int removed;             /* by a signal: what stop_removes() said; -1: nothing */
    char *at, *end;          /* free part of `buffer` */
    char *buffer;            /* owned */
    struct session *session; /* borrowed: stands for stdout; NULL: none does */
};

/*
 * Opens `path`, or stdout if it is NULL. Devices and pipes are written in place.
 *
 * returns  EXIT_OK, or EXIT_SYSTEM after a message
 */
enum exit_code sink_open(struct sink *s, const char *program, const char *path);

/* A sink that keeps what is written. Give it back with sink_free(). */
void sink_open_memory(struct sink *s);
void sink_free(struct sink *s);

/* What becomes of a file. */
enum sink_end {
    SINK_DROP,    /* it is removed, as after an error */
    SINK_KEEP,    /* it gets its name */
    SINK_PARTIAL, /* its name with the suffix below, and a message: the run was interrupted */
};

#define SINK_PARTIAL_SUFFIX ".partial"

/*
 * Ends the output and gives back everything. A reader that has gone away is no error.
 *
 * returns  EXIT_OK, or EXIT_SYSTEM after a message
 */
enum exit_code sink_close(struct sink *s, const char *program, enum sink_end end);

/* A stream whose bytes go to `s`; close it with fclose() before `s`. */
FILE *sink_stream(struct sink *s);

/* Writes what is not written yet; in memory all stays. */
void sink_flush(struct sink *s);
void sink_bytes(struct sink *s, const void *bytes, size_t n);
void sink_text(struct sink *s, const char *text);
void sink_count(struct sink *s, uint64_t n);

/* Has all that was written so far reached its place? */
static inline bool sink_ok(const struct sink *s)
{
    return s->error == 0;
}

/* So that there is room for SINK_BYTES. */
void sink_make_room(struct sink *s);

/* Room for at least `n` bytes (n <= SINK_BYTES). Write there, then set s->at to the end. */
static inline char *sink_room(struct sink *s, size_t n)
{
    if ((size_t)(s->end - s->at) < n)
        sink_make_room(s);
    return s->at;
}

static inline void sink_char(struct sink *s, char c)
{
    char *p = sink_room(s, 1);

    *p = c;
    s->at = p + 1;
}

#endif
