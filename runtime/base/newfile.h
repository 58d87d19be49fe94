/* newfile.h -- an output file that appears only when it is complete. */
#ifndef NEWFILE_H
#define NEWFILE_H
#include <stdbool.h>

/* None: `fd` -1, all else zero. */
struct newfile {
    int fd;
    char *target;    /* owned: the file to replace in the end; NULL: written in place */
    char *temporary; /* owned: a name for the file that replaces it, in the same folder */
    bool has_name;   /* the file has that name already: remove it if a signal ends the program */
};

/*
 * Opens a file that will become `path`, with the permissions that the shell's > would give it.
 * Links are followed. A device or a pipe cannot be replaced and is written in place.
 *
 * returns  false: errno tells why; newfile_close() must be called also then
 */
bool newfile_open(struct newfile *f, const char *path);

/* Do both paths name the same file, whether it exists or not? */
bool newfile_same(const char *a, const char *b);

/* The file will have a longer name than was asked for. False: no memory. */
bool newfile_add_suffix(struct newfile *f, const char *suffix);

/* Closes f->fd and frees all else. With `keep` the file gets its name, else it is removed. False:
 * it is removed, and errno tells why. */
bool newfile_close(struct newfile *f, bool keep);

#endif
