/*
 * component_open.c -- components compiled and loaded while a program runs.
 *
 * A machine made at run time (`--machine`, `--set`) has no topo.c that its components could be
 * compiled into. So they are compiled to a shared object, by $CC or else cc:
 *
 *     cc -std=gnu11 -O2 -fPIC -shared -nostdlib -ffp-contract=off -I NEW -o NEW/component.so ...
 *
 * and called by pointers: a few percent slower, the same bytes. Objects are kept in the cache
 * (base/cache.h), by their code and the compiler. NEW is a folder of its own in it, where the
 * object is looked at before it is kept.
 *
 * -nostdlib leaves nothing in the object but what the component has, so its sections and undefined
 * symbols tell whether it keeps data or calls what it may not.
 *
 * In the archive that is installed this file is a member of its own, as sim/bench_file.c is.
 */
#include "sim/component_open.h"
#include "base/cache.h"
#include "base/compiler.h"
#include "base/compiler_identity.h"
#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef KB_STATIC
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
    static const char *const flags[] = {"-std=gnu11", "-O2", "-fPIC", NULL};
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

static bool write_file(struct making *m, const char *name, const char *text)
{
    char path[FILE_BYTES];
    FILE *file;
    bool ok;

    snprintf(path, sizeof path, "%s/%s", m->folder, name);
    file = fopen(path, "w");
    ok = file && fwrite(text, 1, strlen(text), file) == strlen(text);
    if (file)
        ok = fclose(file) == 0 && ok;
    return ok || fails(m, OPEN_SYSTEM, path, " cannot be written");
}

/* -- compiled --------------------------------------------------------------------------------- */

/* Runs the compiler in its folder; what it says goes to the file `said`. -1 with errno. */
static int run_compiler(const struct making *m, const char *said)
{
    char made[FILE_BYTES], source[FILE_BYTES];
    const char *const words[] = {compiler_name(),
                                 "-std=gnu11",
                                 "-O2",
                                 "-fPIC",
                                 "-shared",
                                 "-nostdlib",
                                 "-ffp-contract=off",
                                 "-w",
                                 "-I",
                                 m->folder,
                                 source,
                                 "-o",
                                 made,
                                 NULL};

    snprintf(made, sizeof made, "%s/component.so", m->folder);
    snprintf(source, sizeof source, "%s/component.c", m->folder);
    return compiler_run(words, said);
}

static bool compile(struct making *m)
{
    char said[FILE_BYTES];
    int status;
    size_t n;
    FILE *file;

    snprintf(said, sizeof said, "%s/said", m->folder);
    status = run_compiler(m, said);
    if (status < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 127))
        return fails(m, OPEN_NO_COMPILER, compiler_name(), "");
    if (status == 0)
        return true;
    file = fopen(said, "r");
    n = file ? fread(m->out->said, 1, sizeof m->out->said - 1, file) : 0;
    m->out->said[n] = '\0';
    if (file)
        fclose(file);
    m->out->what = OPEN_NOT_COMPILED;
    return false;
}

/* -- looked at -------------------------------------------------------------------------------- */

/* The whole of an object; to be freed. NULL: it cannot be read, or is none. */
static unsigned char *read_object(const struct making *m, size_t *len)
{
    char path[FILE_BYTES];
    unsigned char *bytes = NULL;
    struct stat st;
    FILE *file;

    snprintf(path, sizeof path, "%s/component.so", m->folder);
    file = fopen(path, "rb");
    if (file && fstat(fileno(file), &st) == 0 && st.st_size > (off_t)sizeof(Elf64_Ehdr) &&
        (bytes = malloc((size_t)st.st_size)) != NULL) {
        *len = fread(bytes, 1, (size_t)st.st_size, file);
        if (*len != (size_t)st.st_size || memcmp(bytes, ELFMAG, SELFMAG) != 0) {
            free(bytes);
            bytes = NULL;
        }
    }
    if (file)
        fclose(file);
    return bytes;
}

/* Is it data that can be written, once the loader has put addresses into it? */
static bool is_written(const Elf64_Shdr *section, const char *name)
{
    return section->sh_size && section->sh_flags & SHF_WRITE &&
           (strncmp(name, ".bss", 4) == 0 || strncmp(name, ".tbss", 5) == 0 ||
            strncmp(name, ".tdata", 6) == 0 ||
            (strncmp(name, ".data", 5) == 0 && strncmp(name, ".data.rel.ro", 12) != 0));
}

/* Does the compiler call it by itself? */
static bool is_of_compiler(const char *name)
{
    static const char *const names[] = {"memcpy", "memset", "memmove", "memcmp"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return !*name || *name == '_';
}

/* What its symbols say of it. */
static bool check_symbols(struct making *m, const unsigned char *bytes, const Elf64_Shdr *sections,
                          const Elf64_Shdr *table, const char *section_names)
{
    const Elf64_Sym *symbols = (const void *)(bytes + table->sh_offset);
    const char *names = (const char *)bytes + sections[table->sh_link].sh_offset;
    const Elf64_Ehdr *head = (const void *)bytes;

    for (size_t i = 0; i < table->sh_size / sizeof *symbols; i++) {
        const char *name = names + symbols[i].st_name;
        char own[128];

        if (symbols[i].st_shndx == SHN_UNDEF && !is_of_compiler(name))
            return fails(m, OPEN_CALL, name, "");
        if (symbols[i].st_shndx == SHN_UNDEF || symbols[i].st_shndx >= head->e_shnum ||
            ELF64_ST_TYPE(symbols[i].st_info) == STT_SECTION || *name == '_')
            continue;
        const Elf64_Shdr *section = &sections[symbols[i].st_shndx];

        snprintf(own, sizeof own, "%.*s", (int)strcspn(name, "."), name);
        if (is_written(section, section_names + section->sh_name))
            return fails(m, OPEN_DATA, own, "");
    }
    return true;
}

static bool check_object(struct making *m)
{
    size_t len;
    unsigned char *bytes = read_object(m, &len);
    const Elf64_Ehdr *head = (const void *)bytes;
    const Elf64_Shdr *sections;
    bool ok = true;

    if (!bytes)
        return fails(m, OPEN_SYSTEM, "the compiler has made no object", "");
    sections = (const void *)(bytes + head->e_shoff);
    for (size_t i = 0; ok && i < head->e_shnum; i++)
        if (sections[i].sh_type == SHT_SYMTAB)
            ok = check_symbols(m, bytes, sections, &sections[i],
                               (const char *)bytes + sections[head->e_shstrndx].sh_offset);
    free(bytes);
    return ok;
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
    if (!write_file(m, "component.h", component_h) || !write_file(m, "component.c", code) ||
        !compile(m) || !check_object(m))
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
