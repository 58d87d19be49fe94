/* newfile.c -- an output file that appears only when it is complete.
 *
 * The output is written to a file in the folder of its target that has no name (O_TMPFILE), and
 * gets its name at the end, when all of it is on the disk. So a reader never sees half a file, and
 * a run that is killed leaves an old file as it was, and nothing else. A name cannot be given to
 * such a file where there is one: it first gets a temporary name, and replaces the old file by
 * rename(). Signals wait meanwhile. The folder must be the same, because neither step can cross
 * file systems. On a file system without O_TMPFILE the file has its temporary name from the
 * beginning, and the caller removes it if a signal ends the program.
 *
 * The result is to be what the shell's > would give: the same permissions, and links are followed,
 * so that `-o link` replaces the file behind the link. place_of() finds that file, also if it does
 * not exist yet, like the target of a dangling link. Devices and pipes are written in place.
 */
#include "base/newfile.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LINKS_MAX = 40, /* as in the kernel */
    ATTEMPTS_MAX = 100,
    FD_PATH_BYTES = 32,
};

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

/* Fills in the last letters of the name, different ones for each attempt. */
static void vary_name(char *path, unsigned attempt)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    struct timespec t;
    uint64_t x;

    clock_gettime(CLOCK_REALTIME, &t);
    x = ((uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec) ^ (uint64_t)getpid() << 40 ^
        (uint64_t)(uintptr_t)path << 20 ^ attempt;
    for (char *c = path + strlen(path) - 6; *c; c++) {
        x = x * UINT64_C(0x5851f42d4c957f2d) + UINT64_C(0x14057b7ef767814f);
        *c = letters[(x >> 33) % (sizeof letters - 1)];
    }
}

/* Opens a new file, without chmod(), so that it has the default permissions of the process. */
static int open_new(char *path)
{
    int fd = -1;

    for (unsigned attempt = 0; fd < 0 && attempt < ATTEMPTS_MAX; attempt++) {
        vary_name(path, attempt);
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return fd;
}

/* Where the file of a descriptor is found, to give it a name. */
static const char *path_of(int fd, char text[FD_PATH_BYTES])
{
    snprintf(text, FD_PATH_BYTES, "/proc/self/fd/%d", fd);
    return text;
}

/* Opens a file without a name in the folder of `path`. -1: that cannot be done here. */
static int open_nameless(char *path)
{
    char *end = strrchr(path, '/') + 1, first = *end, text[FD_PATH_BYTES];
    int fd;

    *end = '\0';
    fd = open(path, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
    *end = first;
    if (fd >= 0 && access(path_of(fd, text), F_OK) < 0) { /* no /proc */
        close(fd);
        return -1;
    }
    return fd;
}

/* Opens the file that will replace f->target, with the target's permissions if it exists, except
 * for those to run as its owner or group. */
static bool open_temporary(struct newfile *f, const struct stat *replaced)
{
    f->temporary = f->target ? temporary_name(f->target) : NULL;
    if (!f->temporary) {
        errno = ENOMEM;
        return false;
    }
    f->fd = open_nameless(f->temporary);
    f->has_name = f->fd < 0;
    if (f->has_name)
        f->fd = open_new(f->temporary);
    if (f->fd < 0) {
        free(f->temporary);
        f->temporary = NULL;
        return false;
    }
    return !replaced || fchmod(f->fd, replaced->st_mode & 0777) == 0;
}

/* The first `n` bytes of `text`. Owned by the caller; NULL: no memory. */
static char *copy(const char *text, size_t n)
{
    char *to = malloc(n + 1);

    if (!to)
        return NULL;
    memcpy(to, text, n);
    to[n] = '\0';
    return to;
}

/* The path without links of a file that exists. Owned by the caller; NULL: errno tells why. */
static char *real_path(const char *path)
{
    char text[PATH_MAX];

    return realpath(path, text) ? copy(text, strlen(text)) : NULL;
}

/* The folder of `path`, with the slash; "./" if it has none. Owned by the caller; NULL: no memory.
 */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? copy(path, (size_t)(slash - path) + 1) : copy("./", 2);
}

static char *join(const char *folder, const char *name)
{
    char *path = malloc(strlen(folder) + strlen(name) + 2);

    if (path)
        sprintf(path, "%s/%s", folder, name);
    return path;
}

/*
 * The path without links of the file that open() of `path` finds or makes. Owned by the caller;
 * NULL: errno tells why.
 */
static char *place_of(const char *path, int links)
{
    char *place = real_path(path), *folder, *real, text[PATH_MAX];
    const char *slash = strrchr(path, '/');
    ssize_t n;

    if (place || errno != ENOENT)
        return place;
    folder = folder_of(path);
    real = folder ? real_path(folder) : NULL;
    free(folder);
    if (!real)
        return NULL;
    n = links > 0 ? readlink(path, text, sizeof text - 1) : -1;
    if (n < 0) {
        place = join(real, slash ? slash + 1 : path);
    } else { /* a link to a file that does not exist yet */
        char *to;

        text[n] = '\0';
        to = text[0] == '/' ? copy(text, (size_t)n) : join(real, text);
        place = to ? place_of(to, links - 1) : NULL;
        free(to);
    }
    free(real);
    return place;
}

bool newfile_same(const char *a, const char *b)
{
    char *x = place_of(a, LINKS_MAX), *y = place_of(b, LINKS_MAX);
    bool same = strcmp(a, b) == 0 || (x && y && strcmp(x, y) == 0);

    free(x);
    free(y);
    return same;
}

bool newfile_open(struct newfile *f, const char *path)
{
    struct stat st;

    *f = (struct newfile){.fd = -1};
    if (stat(path, &st) < 0) {
        if (errno != ENOENT)
            return false;
        f->target = place_of(path, LINKS_MAX);
        return f->target && open_temporary(f, NULL);
    }
    if (!S_ISREG(st.st_mode)) {
        f->fd = open(path, O_WRONLY | O_CLOEXEC);
        return f->fd >= 0;
    }
    if (access(path, W_OK) < 0)
        return false;
    f->target = real_path(path);
    return open_temporary(f, &st);
}

bool newfile_add_suffix(struct newfile *f, const char *suffix)
{
    char *longer = f->target ? malloc(strlen(f->target) + strlen(suffix) + 1) : NULL;

    if (!f->target)
        return true;
    if (!longer) {
        errno = ENOMEM;
        return false;
    }
    sprintf(longer, "%s%s", f->target, suffix);
    free(f->target);
    f->target = longer;
    return true;
}

/* Gives a file without a name that of its target, or, if that is taken, a temporary one. */
static bool give_name(struct newfile *f)
{
    char text[FD_PATH_BYTES];

    path_of(f->fd, text);
    if (linkat(AT_FDCWD, text, AT_FDCWD, f->target, AT_SYMLINK_FOLLOW) == 0)
        return true;
    for (unsigned attempt = 0; errno == EEXIST && attempt < ATTEMPTS_MAX; attempt++) {
        vary_name(f->temporary, attempt);
        f->has_name = linkat(AT_FDCWD, text, AT_FDCWD, f->temporary, AT_SYMLINK_FOLLOW) == 0;
        if (f->has_name)
            return true;
    }
    return false;
}

/* All of it on the disk, as far as the file system has such a thing. */
static bool sync_file(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP;
}

/* The file gets its name, with all that is in it. Signals wait: the temporary name is ours. */
static bool complete(struct newfile *f)
{
    sigset_t all, before;
    bool ok = sync_file(f->fd);
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    ok = ok && (f->has_name || give_name(f));
    error = errno;
    if (close(f->fd) < 0 && ok) {
        ok = false;
        error = errno;
    }
    f->fd = -1;
    if (ok && f->has_name && rename(f->temporary, f->target) < 0) {
        ok = false;
        error = errno;
    }
    if (!ok && f->has_name)
        unlink(f->temporary);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return ok;
}

bool newfile_close(struct newfile *f, bool keep)
{
    bool named = f->temporary && f->has_name, ok = true;
    int error;

    if (keep && f->temporary) {
        ok = complete(f);
    } else {
        ok = f->fd < 0 || close(f->fd) == 0;
        if (named)
            unlink(f->temporary);
    }
    error = errno;
    free(f->target);
    free(f->temporary);
    *f = (struct newfile){.fd = -1};
    errno = error;
    return ok;
}
