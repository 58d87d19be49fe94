/*
 * cache.c -- files that are kept for the next time: see cache.h.
 *
 * An entry is a file and one line behind it, "kernbench: RECORD": what it was made of, and its own
 * hash (base/provenance.h). The loader of shared objects does not look behind the last section. So
 * a file that was cut, or is something else, is seen before it is used, and made again. Its name
 * has a hash of the record, so that what differs in anything lies beside it.
 *
 * It is made in a folder new<PID>.XXXXXX of the cache, written to the disk, and gets its name by
 * rename(): several processes may make the same. A folder whose process is gone is removed by the
 * next one that makes something.
 */
#include "base/cache.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEAL "\nkernbench: "

enum { SEAL_BYTES = PROVENANCE_BYTES + sizeof SEAL + 1 };

static bool fails(struct cache *c, const char *text, const char *more)
{
    snprintf(c->why, sizeof c->why, "%.4000s%.4000s", text, more);
    return false;
}

static bool fails_by_errno(struct cache *c, const char *path, const char *what)
{
    snprintf(c->why, sizeof c->why, "%.4000s%s: %s", path, what, strerror(errno));
    return false;
}

/* -- the folder ------------------------------------------------------------------------------- */

static bool name_folder(struct cache *c)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n;

    if (xdg && *xdg == '/')
        n = snprintf(c->folder, sizeof c->folder, "%s", xdg);
    else if (home && *home == '/')
        n = snprintf(c->folder, sizeof c->folder, "%s/.cache", home);
    else
        return fails(c, "there is no folder for it: ", "neither XDG_CACHE_HOME nor HOME is set");
    return (n >= 0 && (size_t)n + sizeof "/kernbench" <= sizeof c->folder) ||
           fails(c, "the path of the cache is too long", "");
}

/* No other user may write to it. */
static bool check_folder(struct cache *c)
{
    struct stat of;

    if (stat(c->folder, &of) != 0 || !S_ISDIR(of.st_mode))
        return fails(c, c->folder, " is no folder");
    if (of.st_uid != geteuid())
        return fails(c, c->folder,
                     " belongs to another user, whose files would run as yours: set XDG_CACHE_HOME "
                     "to a folder of your own");
    return !(of.st_mode & (S_IWGRP | S_IWOTH)) ||
           fails(c, c->folder,
                 " may be written by others, whose files would run as yours: take that away with "
                 "chmod go-w, after a look at what is in it");
}

bool cache_open(struct cache *c)
{
    if (!name_folder(c))
        return false;
    mkdir(c->folder, 0700); /* if it fails, the next one does */
    strcat(c->folder, "/kernbench");
    if (mkdir(c->folder, 0700) != 0 && errno != EEXIST)
        return fails_by_errno(c, c->folder, " cannot be made");
    return check_folder(c);
}

/* -- folders where files are made -------------------------------------------------------------- */

void cache_folder_remove(const char *folder)
{
    char path[CACHE_PATH_BYTES + 256];
    DIR *dir = opendir(folder);

    for (const struct dirent *entry; dir && (entry = readdir(dir));)
        if (entry->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            unlink(path);
        }
    if (dir)
        closedir(dir);
    rmdir(folder);
}

static void remove_left(const struct cache *c)
{
    DIR *dir = opendir(c->folder);
    char folder[CACHE_PATH_BYTES];
    long pid;

    for (const struct dirent *entry; dir && (entry = readdir(dir));)
        if (sscanf(entry->d_name, "new%ld.", &pid) == 1 && pid > 0 && getpgid((pid_t)pid) < 0 &&
            errno == ESRCH) {
            snprintf(folder, sizeof folder, "%s/%.60s", c->folder, entry->d_name);
            cache_folder_remove(folder);
        }
    if (dir)
        closedir(dir);
}

bool cache_folder_new(struct cache *c, char folder[CACHE_PATH_BYTES])
{
    remove_left(c);
    snprintf(folder, CACHE_PATH_BYTES, "%s/new%ld.XXXXXX", c->folder, (long)getpid());
    if (mkdtemp(folder))
        return true;
    fails_by_errno(c, folder, " cannot be made");
    folder[0] = '\0';
    return false;
}

/* -- entries ---------------------------------------------------------------------------------- */

/* An open file that is ours, and no other user may write to; -1: it is not. */
static int open_own(const char *path, size_t *n)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat of;

    if (fd < 0)
        return -1;
    if (fstat(fd, &of) == 0 && S_ISREG(of.st_mode) && of.st_uid == geteuid() &&
        !(of.st_mode & (S_IWGRP | S_IWOTH))) {
        *n = (size_t)of.st_size;
        return fd;
    }
    close(fd);
    return -1;
}

/* The whole of it, with a 0 behind; owned. NULL: it is not ours, or cannot be read. */
static char *read_own(const char *path, size_t *n)
{
    int fd = open_own(path, n);
    char *bytes = fd < 0 ? NULL : malloc(*n + 1);
    size_t done = 0;

    for (ssize_t more = 1; bytes && done < *n && more > 0; done += (size_t)more) {
        more = read(fd, bytes + done, *n - done);
        more = more < 0 ? 0 : more;
    }
    if (fd >= 0)
        close(fd);
    if (bytes && done == *n) {
        bytes[*n] = '\0';
        return bytes;
    }
    free(bytes);
    return NULL;
}

/* Is the last line of these bytes a record, and with the hash of what is before it? */
static bool is_whole(char *bytes, size_t n, struct provenance *of)
{
    char hex[DIGEST_CHARS + 1], *seal;

    if (n < sizeof SEAL || bytes[n - 1] != '\n')
        return false;
    bytes[n - 1] = '\0';
    seal = memrchr(bytes, '\n', n - 1);
    if (!seal || strncmp(seal, SEAL, strlen(SEAL)) != 0 ||
        !provenance_read(seal + strlen(SEAL), of))
        return false;
    digest_of(bytes, (size_t)(seal - bytes), hex);
    return strcmp(hex, of->of[PROVENANCE_BENCH]) == 0;
}

bool cache_record(const char *path, struct provenance *of)
{
    size_t n;
    char *bytes = read_own(path, &n);
    bool ok = bytes && is_whole(bytes, n, of);

    free(bytes);
    return ok;
}

bool cache_find(const struct cache *c, const char *name, const struct provenance *of,
                char path[CACHE_PATH_BYTES])
{
    struct provenance found;

    snprintf(path, CACHE_PATH_BYTES, "%s/%.200s", c->folder, name);
    return cache_record(path, &found) &&
           (provenance_differs(&found, of) & ~(1U << PROVENANCE_BENCH)) == 0;
}

bool cache_find_any(const struct cache *c, const char *first, char path[CACHE_PATH_BYTES])
{
    DIR *dir = opendir(c->folder);
    struct provenance found;
    bool ok = false;

    for (const struct dirent *entry; dir && !ok && (entry = readdir(dir));) {
        snprintf(path, CACHE_PATH_BYTES, "%s/%.200s", c->folder, entry->d_name);
        ok = strncmp(entry->d_name, first, strlen(first)) == 0 && cache_record(path, &found);
    }
    if (dir)
        closedir(dir);
    return ok;
}

/* All of it on the disk, as far as the file system has such a thing. */
static bool sync_file(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP;
}

/* Writes the line behind the file, and all of it to the disk. */
static bool seal(const char *made, const struct provenance *of)
{
    struct provenance sealed = *of;
    char text[PROVENANCE_BYTES], line[SEAL_BYTES];
    size_t n;
    char *bytes = chmod(made, 0700) == 0 ? read_own(made, &n) : NULL;
    int fd = bytes ? open(made, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;

    if (bytes)
        digest_of(bytes, n, sealed.of[PROVENANCE_BENCH]);
    free(bytes);
    provenance_write(&sealed, text);
    int len = snprintf(line, sizeof line, SEAL "%s\n", text);
    if (fd >= 0)
        errno = ENOSPC; /* a write that ends too early tells nothing */
    bool ok = fd >= 0 && write(fd, line, (size_t)len) == len && sync_file(fd);
    return fd >= 0 && close(fd) == 0 && ok;
}

/* The name is on the disk, too; where a folder cannot be told so, nothing is lost but the entry. */
static void sync_folder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return;
    sync_file(fd);
    close(fd);
}

bool cache_keep(struct cache *c, const char *made, const char *name, const struct provenance *of,
                char path[CACHE_PATH_BYTES])
{
    snprintf(path, CACHE_PATH_BYTES, "%s/%.200s", c->folder, name);
    if (!seal(made, of) || rename(made, path) != 0)
        return fails_by_errno(c, path, " cannot be written");
    sync_folder(c->folder);
    return true;
}
