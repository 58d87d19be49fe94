/* newfile.h -- an output file that appears only when it is whole. */
#ifndef NEWFILE_H
#define NEWFILE_H
#include <stdbool.h>

/* All zero but `fd`, -1: none. */
struct newfile {
    int fd;
    char *target;    /* owned: the file to replace in the end; NULL: written in place */
    char *temporary; /* owned: the file that replaces it, in the same folder */
};

/*
 * Opens what will be `path`, with the permissions that the shell's > would give it. A link is
 * followed; what is no regular file (a device, a pipe) cannot be replaced and is written in place.
 *
 * returns  false with errno; newfile_close() is due all the same
 */
bool newfile_open(struct newfile *f, const char *path);

/* Do both names mean one file, that is there or will be? */
bool newfile_same(const char *a, const char *b);

/* Gives everything back, f->fd included. With `keep` the file gets its name, else it goes; false
 * with errno: it has gone. */
bool newfile_close(struct newfile *f, bool keep);

#endif
