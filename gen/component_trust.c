/* component_trust.c -- whose a component is: it is C code that runs with the rights of the user. */
#include "component_trust.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Why it is not the user's own; NULL: it is. A group of the user's own is no other user. */
static const char *why_foreign(struct arena *a, const struct stat *st, const char *what)
{
    if (st->st_uid != geteuid() && st->st_uid != 0)
        return arena_printf(a, "%s belongs to another user (%ld)", what, (long)st->st_uid);
    if (st->st_mode & S_IWOTH || (st->st_mode & S_IWGRP && st->st_gid != getegid()))
        return arena_printf(a, "other users can write to %s", what);
    return NULL;
}

/* "components/" of "components/mine.c", which has one */
static const char *folder_of(struct arena *a, const char *path)
{
    return arena_copy(a, path, (size_t)(strrchr(path, '/') - path) + 1);
}

static bool is_below(const char *path, const char *folder)
{
    size_t len = strlen(folder);

    len -= folder[len - 1] == '/'; /* of "/" */
    return strncmp(path, folder, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

/* The folder as the system has it, without links; NULL: there is none. */
static const char *real_folder(struct arena *a, const char *folder)
{
    return realpath(folder, arena_alloc(a, PATH_MAX));
}

/* Is `folder`, or one above it, in the list? */
static bool is_listed(struct arena *a, const char *folder, const char *list)
{
    while (list && *list) {
        size_t len = strcspn(list, ":");
        const char *one = len ? real_folder(a, arena_copy(a, list, len)) : NULL;

        if (one && is_below(folder, one))
            return true;
        list += len + (list[len] == ':');
    }
    return false;
}

bool component_is_trusted(struct arena *a, struct diag *diag, struct place at, const char *path)
{
    const char *folder = folder_of(a, path), *why = "it cannot be looked at";
    const char *whole = real_folder(a, folder);
    struct stat of_file, of_folder;

    if (whole && stat(path, &of_file) == 0 && stat(folder, &of_folder) == 0) {
        why = why_foreign(a, &of_folder, "its folder");
        why = why ? why : why_foreign(a, &of_file, "it");
    }
    if (!why || (whole && is_listed(a, whole, getenv("KB_TRUST"))))
        return true;
    return diag_error(diag, at,
                      "%s: a component is C code that runs with your rights, and %s: if you trust "
                      "what is there, set KB_TRUST=%s",
                      path, why, whole ? whole : folder);
}
