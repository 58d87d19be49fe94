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
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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
/* dlerror() without the path in front of it. */
static const char *reason(const char *path)
{
    const char *text = dlerror();
    size_t n = strlen(path);

    if (!text)
        return "for an unknown reason";
    return strncmp(text, path, n) == 0 && strncmp(text + n, ": ", 2) == 0 ? text + n + 2 : text;
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
    object = dlopen(local, RTLD_NOW | RTLD_LOCAL);
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
