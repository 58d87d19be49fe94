/* newfile.c -- an output file that appears only when it is whole. */
#include "newfile.h"
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

/* Begins the file that will replace f->target, with permissions `mode`. False with errno. */
static bool open_temporary(struct newfile *f, mode_t mode)
{
    f->temporary = f->target ? temporary_name(f->target) : NULL;
    if (!f->temporary) {
        errno = ENOMEM;
        return false;
    }
    f->fd = mkostemp(f->temporary, O_CLOEXEC);
    if (f->fd < 0) {
        free(f->temporary);
        f->temporary = NULL;
        return false;
    }
    return fchmod(f->fd, mode) == 0;
}

bool newfile_open(struct newfile *f, const char *path)
{
    struct stat st;

    *f = (struct newfile){.fd = -1};
    if (stat(path, &st) < 0) {
        if (errno != ENOENT)
            return false;
        f->target = strdup(path);
        return open_temporary(f, new_file_mode());
    }
    if (!S_ISREG(st.st_mode)) {
        f->fd = open(path, O_WRONLY | O_CLOEXEC);
        return f->fd >= 0;
    }
    if (access(path, W_OK) < 0)
        return false;
    f->target = realpath(path, NULL);
    return open_temporary(f, st.st_mode & 07777);
}

bool newfile_close(struct newfile *f, bool keep)
{
    int error = 0;

    if (f->fd >= 0 && close(f->fd) < 0)
        error = errno;
    if (f->temporary && keep && !error && rename(f->temporary, f->target) < 0)
        error = errno;
    if (f->temporary && (!keep || error))
        unlink(f->temporary);
    free(f->target);
    free(f->temporary);
    *f = (struct newfile){.fd = -1};
    errno = error;
    return error == 0;
}
