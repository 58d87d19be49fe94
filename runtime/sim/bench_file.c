/*
 * bench_file.c -- benches of shared objects, which others have compiled.
 *
 * The object calls kb_ and tl_ functions of the program that loads it, which therefore exports
 * them. It is never unloaded: a simulation may still have its kernels.
 */
#include "kernbench.h"
#include "machine/endpoint.h"
#include <dlfcn.h>
#include <string.h>

/* A program that is linked statically has none: it must not ask for them. */
#pragma weak dlopen
#pragma weak dlsym
#pragma weak dlclose
#pragma weak dlerror

enum { PATH_BYTES = 4096 };

static kb_status refuse(kb_error *why, const char *path, const char *text)
{
    endpoint_error(why, "'%s' %s", path, text);
    return KB_BAD_FILE;
}

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

    REFUSE_NULL(path && out, "path, out", why);
    if (!dlopen || !dlsym || !dlerror)
        return endpoint_error(why, "'%s' cannot be loaded: this program was linked statically",
                              path);
    if (strlen(path) + 3 > sizeof local)
        return refuse(why, path, "is too long a path");
    /* a name without a folder is looked for here, not in the folders of libraries */
    strcpy(local, strchr(path, '/') ? "" : "./");
    strcat(local, path);
    object = dlopen(local, RTLD_NOW | RTLD_LOCAL);
    if (!object) {
        endpoint_error(why, "'%s' cannot be loaded: %s", path, reason(local));
        return KB_BAD_FILE;
    }
    table = dlsym(object, "kb_benches");
    if (!table)
        return refuse(why, path, "has no benches: its source needs KB_BENCHES(&bench_name);");
    if (table->abi != KB_ABI) {
        endpoint_error(why,
                       "'%s' was compiled for another interface (%u, release %s); this is %d, "
                       "release " KB_VERSION ": compile it again",
                       path, table->abi, table->version, KB_ABI);
        return KB_BAD_FILE;
    }
    *out = table;
    return KB_OK;
}
