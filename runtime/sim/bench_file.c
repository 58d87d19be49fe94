/*
 * bench_file.c -- benches of shared objects, which others have compiled.
 *
 * The object calls kb_ and tl_ functions of the program that loads it, which therefore exports
 * them. It is never unloaded: a simulation may still have its kernels.
 *
 * What is loaded is a copy in memory: the pages of a file change with it when it is written to, and
 * what a program has loaded runs on until its end. The loader takes a name that it has loaded for
 * the same object. So the copy stays open, and its name /proc/PID/fd/N is its own; a debugger finds
 * it there. The hash of each object is remembered, so that none is loaded twice.
 *
 * In the archive that is installed this file is a member of its own, which calls nothing of the
 * others: a program that is linked statically, and does not call it, is free of dlopen().
 */
#include "base/digest.h"
#include "kernbench.h"
#include <dlfcn.h>
#include <errno.h>
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

enum { PATH_BYTES = 4096, NAME_BYTES = 64, REASON_BYTES = 190 };

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
/* dlerror() without the name of the copy in front of it. */
static void tell_loader(const char *name, char *reason)
{
    const char *text = dlerror();
    size_t len = strlen(name);

    text = text ? text : "for an unknown reason";
    if (strncmp(text, name, len) == 0 && strncmp(text + len, ": ", 2) == 0)
        text += len + 2;
    snprintf(reason, REASON_BYTES, "%s", text);
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

static const struct loaded *find_hex(const char *hex)
{
    const struct loaded *l = objects;

    while (l && strcmp(l->hex, hex) != 0)
        l = l->next;
    return l;
}

/* A file in memory with the bytes of `path`; -1: the reason is told. */
static int copy_file(const char *path, char *reason)
{
    int from = open(path, O_RDONLY | O_CLOEXEC);
    int to = from < 0 ? -1 : memfd_create("bench", MFD_CLOEXEC);
    ssize_t n = to < 0 ? -1 : 1;

    while (n > 0)
        n = sendfile(to, from, NULL, 1 << 30);
    if (n < 0)
        snprintf(reason, REASON_BYTES, "cannot open shared object file: %s", strerror(errno));
    if (from >= 0)
        close(from);
    if (n < 0 && to >= 0)
        close(to);
    return n < 0 ? -1 : to;
}

/* The object of a copy, unless one with the same bytes is loaded; NULL: `reason` says why. */
static void *load(const char *name, char *reason)
{
    char hex[DIGEST_CHARS + 1];
    struct digest d;
    const struct loaded *is;
    void *object;

    digest_begin(&d);
    digest_add_file(&d, name);
    digest_end(&d, hex);
    is = *hex ? find_hex(hex) : NULL;
    if (is)
        return is->object;
    object = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!object)
        tell_loader(name, reason);
    else if (!remember(object, hex))
        snprintf(reason, REASON_BYTES, "out of memory");
    else
        return object;
    return NULL;
}
/* The object of the file as it is now; NULL: `reason` says why. */
static void *load_now(const char *path, char *reason)
{
    char name[NAME_BYTES];
    int copy = copy_file(path, reason);
    const struct loaded *last = objects;
    void *object = NULL;

    if (copy < 0)
        return NULL;
    snprintf(name, sizeof name, "/proc/%d/fd/%d", (int)getpid(), copy);
    if (is_cut(name))
        snprintf(reason, REASON_BYTES, "the file ends too early, as one that was copied in part");
    else
        object = load(name, reason);
    if (objects == last) /* it is not loaded, or was before */
        close(copy);
    return object;
}

kb_status kb_benches_open(const char *path, const kb_bench_table **out, kb_error *why)
{
    char local[PATH_BYTES], interface[128], reason[REASON_BYTES];
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
    pthread_mutex_lock(&objects_lock);
    object = load_now(local, reason);
    pthread_mutex_unlock(&objects_lock);
    if (!object)
        return refuse(KB_BAD_FILE, why, path, "cannot be loaded: ", reason);
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
