/*
 * component_open.c -- components compiled and loaded while a program runs.
 *
 * A machine made at run time (`--machine`, `--set`) has no topo.c that its components could be
 * compiled into. So they are compiled to a shared object, see gen/component_build.h, and called by
 * pointers: a few percent slower, the same bytes. Objects are kept, by the hash of their code, in
 * $XDG_CACHE_HOME/kernbench, or else ~/.cache/kernbench.
 *
 * NEW is a folder of its own in the cache, with the number of the process in its name. The object
 * is looked at there, and gets its name by rename(): so what has a name is complete, and several
 * processes may build the same. A folder whose process is gone is removed by the next build.
 *
 * In the archive that is installed this file is a member of its own, as sim/bench_file.c is.
 */
#include "sim/component_open.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if !defined KB_STATIC && !defined KB_NO_YAML
enum { CACHE_BYTES = 4096, NEW_BYTES = CACHE_BYTES + 64, FILE_BYTES = NEW_BYTES + 64 };

/* One build. */
struct making {
    struct component_opening *out;
    char cache[CACHE_BYTES]; /* the folder */
    char object[FILE_BYTES]; /* where it will lie */
    char folder[NEW_BYTES];  /* where it is made; "": there is none */
};

static bool fails(struct making *m, enum opened what, const char *text, const char *more)
{
    m->out->what = what;
    snprintf(m->out->said, sizeof m->out->said, "%.2000s%.2000s", text, more);
    return false;
}

/* -- where ------------------------------------------------------------------------------------ */

static bool find_cache(struct making *m)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n;

    if (xdg && *xdg == '/')
        n = snprintf(m->cache, sizeof m->cache, "%s", xdg);
    else if (home && *home == '/')
        n = snprintf(m->cache, sizeof m->cache, "%s/.cache", home);
    else
        return fails(m, OPEN_SYSTEM,
                     "there is no folder for it: ", "neither XDG_CACHE_HOME nor HOME is set");
    if (n < 0 || (size_t)n + sizeof "/kernbench" > sizeof m->cache)
        return fails(m, OPEN_SYSTEM, "the path of the cache is too long", "");
    mkdir(m->cache, 0777); /* if it fails, the next one does */
    strcat(m->cache, "/kernbench");
    if (mkdir(m->cache, 0777) != 0 && errno != EEXIST) {
        fails(m, OPEN_SYSTEM, m->cache, " cannot be made: ");
        strncat(m->out->said, strerror(errno), sizeof m->out->said - strlen(m->out->said) - 1);
        return false;
    }
    return true;
}

/* FNV-1a of the code: what it includes is in the release that it names. */
static void name_object(struct making *m, const char *code)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (const char *p = code; *p; p++)
        hash = (hash ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
    for (const char *p = component_h; *p; p++)
        hash = (hash ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
    snprintf(m->object, sizeof m->object, "%s/%016llx.so", m->cache, (unsigned long long)hash);
}

/* What processes have left that were killed. */
static void remove_left(const struct making *m)
{
    DIR *dir = opendir(m->cache);
    const struct dirent *entry;
    char folder[NEW_BYTES];
    long pid;

    while (dir && (entry = readdir(dir)))
        if (sscanf(entry->d_name, "new%ld.", &pid) == 1 && pid > 0 && getpgid((pid_t)pid) < 0 &&
            errno == ESRCH) {
            snprintf(folder, sizeof folder, "%s/%.60s", m->cache, entry->d_name);
            component_build_remove(folder);
        }
    if (dir)
        closedir(dir);
}

static bool make_folder(struct making *m)
{
    snprintf(m->folder, sizeof m->folder, "%s/new%ld.XXXXXX", m->cache, (long)getpid());
    if (mkdtemp(m->folder) && chmod(m->folder, 0755) == 0)
        return true;
    fails(m, OPEN_SYSTEM, m->folder, " cannot be made");
    m->folder[0] = '\0';
    return false;
}

/* -- loaded ----------------------------------------------------------------------------------- */

static bool load(struct making *m)
{
    void *object = dlopen(m->object, RTLD_NOW | RTLD_LOCAL);

    m->out->of = object ? dlsym(object, "kb_rt_components") : NULL;
    return m->out->of || fails(m, OPEN_SYSTEM, m->object, " cannot be loaded");
}

static bool build(struct making *m, const char *code)
{
    char made[FILE_BYTES];

    snprintf(made, sizeof made, "%s/component.so", m->folder);
    if (!component_build(m->folder, code, m->out))
        return false;
    return rename(made, m->object) == 0 || fails(m, OPEN_SYSTEM, m->object, " cannot be written");
}

void components_open(const char *code, struct component_opening *out)
{
    struct making m = {.out = out};
    bool ok;

    *out = (struct component_opening){.what = OPEN_OK};
    if (!find_cache(&m))
        return;
    name_object(&m, code);
    if (access(m.object, R_OK) == 0 && load(&m))
        return;
    out->what = OPEN_OK;
    remove_left(&m);
    ok = make_folder(&m) && build(&m, code);
    if (m.folder[0])
        component_build_remove(m.folder);
    if (ok)
        load(&m);
}
#endif
