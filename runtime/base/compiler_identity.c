/* compiler_identity.c -- which C compiler it is: see compiler_identity.h. */
#include "base/compiler_identity.h"
#include "base/compiler.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 5000, WORDS_MORE = 8 };

/* Where it finds its own parts; and headers, or another one of its name. */
static const char *const of_parts[] = {"COMPILER_PATH", "GCC_EXEC_PREFIX", NULL};
static const char *const of_files[] = {"PATH", "CPATH", "C_INCLUDE_PATH", NULL};

static void add_variables(struct digest *d, const char *const *names)
{
    for (; *names; names++)
        digest_add_text(d, getenv(*names) ? getenv(*names) : "");
}

/* The file that its command runs, of which CC="ccache gcc" names the first; "": there is none. */
static void find_file(char path[PATH_BYTES])
{
    const char *name = compiler_name(), *rest = getenv("PATH");
    int n = (int)(access(name, X_OK) == 0 ? strlen(name) : strcspn(name, " "));

    snprintf(path, PATH_BYTES, "%.*s", n, name);
    if (strchr(path, '/'))
        return;
    for (size_t len; rest && *rest; rest += len + (rest[len] == ':')) {
        len = strcspn(rest, ":");
        snprintf(path, PATH_BYTES, "%.*s/%.*s", (int)len, rest, n, name);
        if (access(path, X_OK) == 0)
            return;
    }
    *path = '\0';
}

static void add_file_of(struct digest *d, const char *folder, const char *name)
{
    char path[PATH_BYTES];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    digest_add_file(d, path);
}

static bool write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    bool ok = file && fwrite(text, 1, strlen(text), file) == strlen(text);

    return file && fclose(file) == 0 && ok;
}

static int run(const char *const *flags, const char *source, const char *folder)
{
    char made[PATH_BYTES], said[PATH_BYTES];
    size_t n = 0;

    while (flags[n])
        n++;
    const char **words = calloc(n + WORDS_MORE, sizeof *words);
    if (!words)
        return -1;
    words[0] = compiler_name();
    memcpy(words + 1, flags, n * sizeof *words);
    n++;
    words[n++] = "-E";
    words[n++] = "-dD";
    words[n++] = "-P";
    words[n++] = source;
    words[n++] = "-o";
    words[n++] = made;
    snprintf(made, sizeof made, "%s/identity.i", folder);
    snprintf(said, sizeof said, "%s/said", folder);
    int status = compiler_run(words, said);
    free(words);
    return status;
}

int compiler_identity(const char *const *flags, const char *text, const char *folder,
                      char hex[DIGEST_CHARS + 1])
{
    char source[PATH_BYTES], path[PATH_BYTES];
    struct digest d;

    snprintf(source, sizeof source, "%s/identity.c", folder);
    int status = write_text(source, text) ? run(flags, source, folder) : -1;
    find_file(path);
    digest_begin(&d);
    digest_add_text(&d, compiler_name());
    digest_add_file(&d, path);
    add_variables(&d, of_parts);
    add_file_of(&d, folder, "identity.i");
    digest_end(&d, hex);
    return status;
}

void compiler_add_traces(struct digest *d)
{
    char path[PATH_BYTES];
    struct stat of = {0};

    digest_add_text(d, compiler_name());
    add_variables(d, of_parts);
    add_variables(d, of_files);
    find_file(path);
    stat(path, &of);
    digest_add(d, &of.st_dev, sizeof of.st_dev);
    digest_add(d, &of.st_ino, sizeof of.st_ino);
    digest_add(d, &of.st_size, sizeof of.st_size);
    digest_add(d, &of.st_mtim, sizeof of.st_mtim);
    digest_add(d, &of.st_ctim, sizeof of.st_ctim);
}
