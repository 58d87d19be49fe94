/* fault.h -- whose fault it is that a file cannot be read. */
#ifndef FAULT_H
#define FAULT_H
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

/* Does this errno say something about the file and its name? Else the system failed: too many open
 * files, no memory, a disk with errors. */
static inline bool fault_is_of_file(int error)
{
    static const int faults[] = {ENOENT, ENOTDIR, EACCES, EPERM,  EISDIR,
                                 ELOOP,  ENXIO,   ENODEV, EINVAL, ENAMETOOLONG};

    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (error == faults[i])
            return true;
    return false;
}

#endif
