/*
 * bench_file.c -- benches of shared objects, which others have compiled.
 *
 * The object calls kb_ and tl_ functions of the program that loads it, which therefore exports
 * them. It is never unloaded: a simulation may still have its kernels.
 *
 * In the archive that is installed this file is a member of its own, which calls nothing of the
 * others: a program that is linked statically, and does not call it, is free of dlopen().
 */
#include "kernbench.h"
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 4096 };

__attribute__((format(printf, 3, 4))) static kb_status refuse(kb_status status, kb_error *why,
                                                              const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (why)
        vsnprintf(why->text, sizeof why->text, format, args);
    va_end(args);
    return status;
}

#ifdef KB_STATIC
kb_status kb_benches_open(const char *path, const kb_bench_table **out, kb_error *why)
{
    (void)out;
    return refuse(KB_BAD_REQUEST, why, "'%s' cannot be loaded: this program is linked statically",
                  path ? path : "");
}
#else
/* dlerror() without the path in front of it. */
static const char *reason(const char *path)
{
    const char *text = dlerror();
    size_t n = strlen(path);

    if (!text)
        return "for an unknown reason";
    return strncmp(text, path, n) == 0 && strncmp(text + n, ": ", 2) == 0 ? text + n + 2 : text;
}

kb_status kb_benches_open(const char *path, const kb_bench_table **out, kb_error *why)
{
    char local[PATH_BYTES];
    const kb_bench_table *table;
    void *object;

    if (!path || !out)
        return refuse(KB_BAD_REQUEST, why, "an argument must not be NULL: path, out");
    if (strlen(path) + 3 > sizeof local)
        return refuse(KB_BAD_FILE, why, "'%.100s...' is too long a path", path);
    /* a name without a folder is looked for here, not in the folders of libraries */
    strcpy(local, strchr(path, '/') ? "" : "./");
    strcat(local, path);
    object = dlopen(local, RTLD_NOW | RTLD_LOCAL);
    if (!object)
        return refuse(KB_BAD_FILE, why, "'%s' cannot be loaded: %s", path, reason(local));
    table = dlsym(object, "kb_benches");
    if (!table)
        return refuse(KB_BAD_FILE, why,
                      "'%s' has no benches: its source needs KB_BENCHES(&bench_name);", path);
    if (table->abi != KB_ABI)
        return refuse(KB_BAD_FILE, why,
                      "'%s' was compiled for another interface (%u, release %s); this is %d, "
                      "release " KB_VERSION ": compile it again",
                      path, table->abi, table->version, KB_ABI);
    *out = table;
    return KB_OK;
}
#endif
