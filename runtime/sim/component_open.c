/*
 * component_open.c -- components compiled and loaded while a program runs.
 *
 * A machine made at run time (`--machine`, `--set`) has no topo.c that its components could be
 * compiled into. So they are compiled to a shared object, by $CC or else cc:
 *
 *     cc -std=gnu11 -O2 -fPIC -shared -nostdlib -ffp-contract=off -I NEW -o NEW/component.so ...
 *
 * and called by pointers: a few percent slower, the same bytes. Objects are kept, by the hash of
 * their code, in $XDG_CACHE_HOME/kernbench, or else ~/.cache/kernbench.
 *
 * NEW is a folder of its own in the cache, with the number of the process in its name. The object
 * is looked at there, and gets its name by rename(): so what has a name is complete, and several
 * processes may build the same. A folder whose process is gone is removed by the next build.
 *
 * -nostdlib leaves nothing in the object but what the component has, so its sections and undefined
 * symbols tell whether it keeps data or calls what it may not.
 *
 * In the archive that is installed this file is a member of its own, as sim/bench_file.c is.
 */
#include "sim/component_open.h"
#include "base/compiler.h"
#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef KB_STATIC
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

static const char *const new_files[] = {"component.h", "component.c", "component.so", "said"};

static void remove_folder(const char *folder)
{
    char file[FILE_BYTES];

    for (size_t i = 0; i < sizeof new_files / sizeof *new_files; i++) {
        snprintf(file, sizeof file, "%s/%s", folder, new_files[i]);
        unlink(file);
    }
    rmdir(folder);
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
            remove_folder(folder);
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
        remove_folder(m.folder);
    if (ok)
        load(&m);
}
#endif
