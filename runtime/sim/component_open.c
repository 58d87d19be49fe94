/*
 * component_open.c -- components compiled and loaded while a program runs.
 *
 * A machine made at run time (`--machine`, `--set`) has no topo.c that its components could be
 * compiled into. So they are compiled to a shared object, see gen/component_build.h, and called by
 * pointers: a few percent slower, the same bytes. Objects are kept in the cache (base/cache.h), by
 * their code and the compiler. They are made, and looked at, in a new folder of the cache.
 *
 * In the archive that is installed this file is a member of its own, as sim/bench_file.c is.
 */
#include "sim/component_open.h"
#include "base/cache.h"
#include "base/compiler_identity.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if !defined KB_STATIC && !defined KB_NO_YAML
enum { FILE_BYTES = CACHE_PATH_BYTES + 64, NAME_CHARS = 32 };

/* An object that this process has loaded. */
struct loaded {
    char traces[DIGEST_CHARS + 1];   /* of the code, and of what may compile it otherwise */
    char compiler[DIGEST_CHARS + 1]; /* that did */
    const struct impl *of;
    struct loaded *next;
};

/* All of them, the last one first; none is ever unloaded. */
static struct loaded *objects;
static pthread_mutex_t objects_lock = PTHREAD_MUTEX_INITIALIZER;

/* One build. */
struct making {
    struct component_opening *out;
    struct cache cache;
    struct provenance of;          /* what its object is made of */
    char first[64];                /* what the name of its object begins with, by the code alone */
    char name[128];                /* of the object, by code and compiler */
    char object[CACHE_PATH_BYTES]; /* where it lies */
    char folder[CACHE_PATH_BYTES]; /* where it is made; "": there is none */
};

static bool fails(struct making *m, enum opened what, const char *text, const char *more)
{
    m->out->what = what;
    snprintf(m->out->said, sizeof m->out->said, "%.2000s%.2000s", text, more);
    return false;
}

/* -- which object ------------------------------------------------------------------------------ */

static void name_code(struct making *m, const char *code)
{
    struct digest d;

    digest_begin(&d);
    digest_add_text(&d, code);
    digest_add_text(&d, component_h);
    digest_end(&d, m->of.of[PROVENANCE_COMPONENTS]);
    snprintf(m->first, sizeof m->first, "component-%.*s", NAME_CHARS,
             m->of.of[PROVENANCE_COMPONENTS]);
}

static void find_traces(const struct making *m, char hex[DIGEST_CHARS + 1])
{
    struct digest d;

    digest_begin(&d);
    digest_add_text(&d, m->of.of[PROVENANCE_COMPONENTS]);
    compiler_add_traces(&d);
    digest_end(&d, hex);
}

/* The object of code and compiler, in the cache; without a compiler that of any other one, since a
 * component includes nothing that may change. */
static bool find_object(struct making *m)
{
    static const char *const flags[] = {"-std=c11", "-O2", "-fPIC", NULL};
    static const char headers[] =
        "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n";
    char text[PROVENANCE_BYTES], hex[DIGEST_CHARS + 1];
    int status = compiler_identity(flags, headers, m->folder, m->of.of[PROVENANCE_COMPILER]);

    provenance_write(&m->of, text);
    digest_of(text, strlen(text), hex);
    snprintf(m->name, sizeof m->name, "%s-%.*s.so", m->first, NAME_CHARS, hex);
    if (status < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 127))
        return cache_find_any(&m->cache, m->first, m->object) && cache_record(m->object, &m->of);
    return cache_find(&m->cache, m->name, &m->of, m->object);
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

    snprintf(made, sizeof made, "%s/" COMPONENT_OBJECT, m->folder);
    if (!component_build(m->folder, code, m->out))
        return false;
    return cache_keep(&m->cache, made, m->name, &m->of, m->object) ||
           fails(m, OPEN_SYSTEM, m->cache.why, "");
}

/* From the cache, or built. */
static bool open_object(struct making *m, const char *code)
{
    if (!cache_open(&m->cache) || !cache_folder_new(&m->cache, m->folder))
        return fails(m, OPEN_SYSTEM, m->cache.why, "");
    bool ok = (find_object(m) || build(m, code)) && load(m);
    cache_folder_remove(m->folder);
    return ok;
}

static bool find_loaded(const char *traces, struct component_opening *out)
{
    for (const struct loaded *l = objects; l; l = l->next)
        if (strcmp(l->traces, traces) == 0) {
            out->of = l->of;
            memcpy(out->compiler, l->compiler, sizeof out->compiler);
            return true;
        }
    return false;
}

/* The next machine with the same components asks no compiler; without memory it does. */
static void remember(const struct making *m, const char *traces)
{
    struct loaded *l = malloc(sizeof *l);

    if (!l)
        return;
    *l = (struct loaded){.of = m->out->of, .next = objects};
    memcpy(l->traces, traces, sizeof l->traces);
    memcpy(l->compiler, m->out->compiler, sizeof l->compiler);
    objects = l;
}

void components_open(const char *code, struct component_opening *out)
{
    struct making m = {.out = out};
    char traces[DIGEST_CHARS + 1];

    *out = (struct component_opening){.what = OPEN_OK};
    name_code(&m, code);
    find_traces(&m, traces);
    pthread_mutex_lock(&objects_lock);
    bool found = find_loaded(traces, out);
    pthread_mutex_unlock(&objects_lock);
    if (found || !open_object(&m, code))
        return;
    memcpy(out->compiler, m.of.of[PROVENANCE_COMPILER], sizeof out->compiler);
    pthread_mutex_lock(&objects_lock);
    remember(&m, traces);
    pthread_mutex_unlock(&objects_lock);
}
#endif
