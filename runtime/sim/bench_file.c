/*
 * bench_file.c -- benches of shared objects, which others have compiled.
 *
 * The object calls kb_ and tl_ functions of the program that loads it, which therefore exports
 * them. It is never unloaded: a simulation may still have its kernels.
 *
 * The loader of the system takes a file that it has loaded under that name, or that inode, for the
 * same one, whatever is in it now. So the hash of each object is remembered, and of a file that has
 * changed since a copy in memory is loaded. The first time the file itself is, where a debugger
 * finds it.
 *
 * In the archive that is installed this file is a member of its own, which calls nothing of the
 * others: a program that is linked statically, and does not call it, is free of dlopen().
 */
#include "base/digest.h"
#include "kernbench.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define MEMORY "/proc/self/fd/"

enum { PATH_BYTES = 4096 };

/* "'PATH' TEXT MORE" */
static kb_status refuse(kb_status status, kb_error *why, const char *path, const char *text,
                        const char *more)
{
    if (why)
        snprintf(why->text, sizeof why->text, "'%.300s' %s%s", path, text, more);
    return status;
}

#ifdef KB_STATIC
kb_status kb_benches_open(const char *path, const kb_bench_table **out, kb_error *why)
{
    (void)out;
    return refuse(KB_BAD_REQUEST, why, path ? path : "",
                  "cannot be loaded: ", "this program is linked statically");
}
#else
/* dlerror() without the path in front of it, which may be that of a copy. */
static const char *reason(const char *path)
{
    const char *text = dlerror(), *rest = text ? strstr(text, ": ") : NULL;

    if (!text)
        return "for an unknown reason";
    return rest && (strncmp(text, path, strlen(path)) == 0 ||
                    strncmp(text, MEMORY, strlen(MEMORY)) == 0)
               ? rest + 2
               : text;
}

/*
 * Does the file end before what its headers say is loaded? The loader of the system does not look:
 * a file that was copied in part ends the program with SIGBUS. What is no object of this system,
 * dlopen() tells.
 */
static bool is_cut(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat of;
    ElfW(Ehdr) head;
    ElfW(Phdr) part;
    bool cut = false;

    if (!file)
        return false;
    if (fstat(fileno(file), &of) == 0 && fread(&head, sizeof head, 1, file) == 1 &&
        memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_phentsize == sizeof part) {
        cut = fseek(file, (long)head.e_phoff, SEEK_SET) != 0;
        for (int i = 0; i < head.e_phnum && !cut; i++)
            cut = fread(&part, sizeof part, 1, file) != 1 ||
                  (part.p_type == PT_LOAD && part.p_offset + part.p_filesz > (uint64_t)of.st_size);
    }
    fclose(file);
    return cut;
}

/* An object that this process has loaded, and what was in its file. */
struct loaded {
    void *object;
    char hex[DIGEST_CHARS + 1];
    struct loaded *next;
};

static struct loaded *objects; /* the last one first */
static pthread_mutex_t objects_lock = PTHREAD_MUTEX_INITIALIZER;

static bool remember(void *object, const char *hex)
{
    struct loaded *l = malloc(sizeof *l);

    if (!l)
        return false;
    *l = (struct loaded){.object = object, .next = objects};
    strcpy(l->hex, hex);
    objects = l;
    return true;
}

static const struct loaded *find_object(const void *object)
{
    const struct loaded *l = objects;

    while (l && l->object != object)
        l = l->next;
    return l;
}

static const struct loaded *find_hex(const char *hex)
{
    const struct loaded *l = objects;

    while (l && strcmp(l->hex, hex) != 0)
        l = l->next;
    return l;
}

/* A file in memory with the bytes of `path`; -1. */
static int copy_file(const char *path)
{
    int from = open(path, O_RDONLY | O_CLOEXEC), to = memfd_create("bench", MFD_CLOEXEC);
    ssize_t n = from < 0 || to < 0 ? -1 : 1;

    while (n > 0)
        n = sendfile(to, from, NULL, 1 << 30);
    if (from >= 0)
        close(from);
    if (n == 0 || to < 0)
        return to;
    close(to);
    return -1;
}

/* Loads a copy, under a name that no other one had. */
static void *load_copy(const char *path)
{
    char name[PATH_BYTES] = MEMORY;
    int fd = copy_file(path);
    void *object = NULL;

    if (fd < 0)
        return NULL;
    for (size_t n = strlen(MEMORY); n < PATH_BYTES - 16; n += 2) {
        snprintf(name + n, 16, "%d", fd);
        object = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (!object || !find_object(object))
            break;
        memcpy(name + n, "./", 2);
    }
    close(fd);
    return object;
}

/* The object of the file as it is now; NULL: dlerror() tells why. */
static void *load(const char *path, const char *hex)
{
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct loaded *is = object ? find_object(object) : NULL;

    if (!is)
        return object && remember(object, hex) ? object : NULL;
    if (strcmp(is->hex, hex) == 0)
        return object;
    is = find_hex(hex);
    if (is)
        return is->object;
    object = load_copy(path);
    return object && remember(object, hex) ? object : NULL;
}

static void *load_now(const char *path)
{
    char hex[DIGEST_CHARS + 1];
    struct digest d;

    digest_begin(&d);
    digest_add_file(&d, path);
    digest_end(&d, hex);
    pthread_mutex_lock(&objects_lock);
    void *object = load(path, hex);
    pthread_mutex_unlock(&objects_lock);
    return object;
}

kb_status kb_benches_open(const char *path, const kb_bench_table **out, kb_error *why)
{
    char local[PATH_BYTES], interface[128];
    const kb_bench_table *table;
    void *object;

    if (!path || !out)
        return refuse(KB_BAD_REQUEST, why, "",
                      "is no file: ", "an argument must not be NULL: path, out");
    if (strlen(path) + 3 > sizeof local)
        return refuse(KB_BAD_FILE, why, path, "... is too long a path", "");
    /* a name without a folder is looked for here, not in the folders of libraries */
    strcpy(local, strchr(path, '/') ? "" : "./");
    strcat(local, path);
    if (is_cut(local))
        return refuse(KB_BAD_FILE, why, path, "cannot be loaded: ",
                      "the file ends too early, as one that was copied in part");
    object = load_now(local);
    if (!object)
        return refuse(KB_BAD_FILE, why, path, "cannot be loaded: ", reason(local));
    table = dlsym(object, "kb_benches");
    if (!table)
        return refuse(KB_BAD_FILE, why, path,
                      "has no benches: ", "its source needs KB_BENCHES(&bench_name);");
    if (table->abi != KB_ABI) {
        snprintf(interface, sizeof interface,
                 "(%u, release %.20s); this is %d, release " KB_VERSION ": compile it again",
                 table->abi, table->version, KB_ABI);
        return refuse(KB_BAD_FILE, why, path, "was compiled for another interface ", interface);
    }
    *out = table;
    return KB_OK;
}
#endif
