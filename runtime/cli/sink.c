/* sink.c -- where a command's output goes: stdout, or a file that appears only when whole. */
#include "sink.h"
#include "say.h"
#include "stop.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Permissions of a new file, as the shell's > would give them. */
static mode_t new_file_mode(void)
{
    mode_t mask = umask(0);

    umask(mask);
    return 0666 & ~mask;
}

/* The name of a new file in the folder of `target`. NULL without memory. */
static char *temporary_name(const char *target)
{
    static const char name[] = ".kernbench-XXXXXX";
    const char *slash = strrchr(target, '/');
    size_t folder = slash ? (size_t)(slash + 1 - target) : 0;
    char *path = malloc(folder + sizeof name);

    if (path) {
        memcpy(path, target, folder);
        memcpy(path + folder, name, sizeof name);
    }
    return path;
}

/* Begins the file that will replace s->target, with permissions `mode`. False with errno. */
static bool open_temporary(struct sink *s, mode_t mode)
{
    s->temporary = s->target ? temporary_name(s->target) : NULL;
    if (!s->temporary) {
        errno = ENOMEM;
        return false;
    }
    s->fd = mkostemp(s->temporary, O_CLOEXEC);
    if (s->fd < 0) {
        free(s->temporary);
        s->temporary = NULL;
        return false;
    }
    stop_removes(s->temporary);
    return fchmod(s->fd, mode) == 0;
}

/*
 * A link is followed, so that what it points to is replaced and not the link. What is no
 * regular file (a device, a pipe) cannot be replaced and is written to. False with errno.
 */
static bool open_path(struct sink *s, const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0) {
        if (errno != ENOENT)
            return false;
        s->target = strdup(path);
        return open_temporary(s, new_file_mode());
    }
    if (!S_ISREG(st.st_mode)) {
        s->fd = open(path, O_WRONLY | O_CLOEXEC);
        return s->fd >= 0;
    }
    if (access(path, W_OK) < 0)
        return false;
    s->target = realpath(path, NULL);
    return open_temporary(s, st.st_mode & 07777);
}

enum exit_code sink_open(struct sink *s, const char *program, const char *path)
{
    *s = (struct sink){.fd = STDOUT_FILENO, .name = path ? path : "standard output"};
    s->buffer = malloc(SINK_BYTES);
    if (!s->buffer)
        return say(program, EXIT_SYSTEM, "out of memory");
    s->at = s->buffer;
    s->end = s->buffer + SINK_BYTES;
    if (!path || open_path(s, path))
        return EXIT_OK;
    s->error = errno;
    return sink_close(s, program, false);
}

void sink_flush(struct sink *s)
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

/* The temporary file gets its name, or goes. */
static void settle(struct sink *s, bool keep)
{
    if (s->temporary && keep && !s->error && rename(s->temporary, s->target) < 0)
        s->error = errno;
    if (s->temporary && (!keep || s->error))
        unlink(s->temporary);
    stop_removes(NULL);
}

enum exit_code sink_close(struct sink *s, const char *program, bool keep)
{
    enum exit_code code = EXIT_OK;

    if (keep)
        sink_flush(s);
    if (s->fd > STDERR_FILENO && close(s->fd) < 0 && !s->error)
        s->error = errno;
    settle(s, keep);
    if (s->error && s->error != EPIPE)
        code = say(program, EXIT_SYSTEM, "cannot write %s: %s", s->name, strerror(s->error));
    free(s->target);
    free(s->temporary);
    free(s->buffer);
    *s = (struct sink){.fd = -1};
    return code;
}
