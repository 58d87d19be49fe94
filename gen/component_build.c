/*
 * component_build.c -- components compiled by themselves, and looked at.
 *
 *     cc -std=c11 ... -E component.c     component.i: what is included, component_text.h
 *     cc -std=c11 ... -c component.i     component.o: what is kept, component_object.h
 *     cc -shared ... component.o -lgcc   component.so: what is called
 *
 * by $CC or else cc. The flags are always these, without sanitizers and counters of a build, which
 * would add data of their own: so an object has nothing but what the component has.
 *
 * An object does not show which bytes an assembler has read (.incbin), and what a text can say by
 * macros is endless. So the compiler itself is told which words end the compilation, however they
 * are written: component_words.
 */
#include "component_build.h"
#include "base/compiler.h"
#include "component_object.h"
#include "component_text.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const files[] = {"component.h", "component.c",    COMPONENT_TEXT,
                                    "component.o", COMPONENT_OBJECT, "said"};

enum { N_FILES = sizeof files / sizeof *files };

enum file { HEADER, SOURCE, TEXT, OBJECT, SHARED, SAID };

struct building {
    struct component_opening *out;
    const char *folder;
    char paths[N_FILES][COMPONENT_PATH_BYTES];
};

static bool fails(struct building *b, enum opened what, const char *text, const char *more)
{
    b->out->what = what;
    snprintf(b->out->said, sizeof b->out->said, "%.2000s%.2000s", text, more);
    return false;
}

static bool fails_by_errno(struct building *b, const char *path, const char *what)
{
    b->out->what = OPEN_SYSTEM;
    snprintf(b->out->said, sizeof b->out->said, "%.2000s%s%s", path, what, strerror(errno));
    return false;
}

/* -- files ------------------------------------------------------------------------------------ */

static void put_path(char *path, const char *folder, const char *name)
{
    snprintf(path, COMPONENT_PATH_BYTES, "%s/%s", folder, name);
}

/* Removes `folder` and what a build has left in it. */
static void remove_folder(const char *folder)
{
    char path[COMPONENT_PATH_BYTES];

    for (size_t i = 0; i < N_FILES; i++) {
        put_path(path, folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
}

static bool write_file(struct building *b, enum file which, const char *text)
{
    FILE *file = fopen(b->paths[which], "w");
    bool ok = file && fwrite(text, 1, strlen(text), file) == strlen(text);

    if (file)
        ok = fclose(file) == 0 && ok;
    return ok || fails_by_errno(b, b->paths[which], " cannot be written: ");
}

static char *file_bytes(const char *folder, const char *name, size_t *len)
{
    char path[COMPONENT_PATH_BYTES];
    char *bytes = NULL;
    struct stat st;
    FILE *file;

    put_path(path, folder, name);
    file = fopen(path, "rb");
    if (file && stat(path, &st) == 0 && (bytes = malloc((size_t)st.st_size + 1))) {
        *len = fread(bytes, 1, (size_t)st.st_size, file);
        bytes[*len] = '\0';
    }
    if (file)
        fclose(file);
    return bytes;
}

/* -- the compiler ----------------------------------------------------------------------------- */

enum { FLAGS_MAX = 16 };

static bool tell_compiler(struct building *b)
{
    size_t len;
    char *said = file_bytes(b->folder, files[SAID], &len);

    fails(b, OPEN_NOT_COMPILED, "", "");
    snprintf(b->out->said, sizeof b->out->said, "%s", said ? said : "");
    free(said);
    return false;
}

/* Runs the compiler with `flags`, up to NULL, and with the names of two files. */
static bool compile(struct building *b, const char *const *flags, enum file from, enum file to)
{
    const char *words[FLAGS_MAX + 6] = {compiler_name(), "-w", b->paths[from]};
    size_t n = 3;
    int status;

    while (*flags)
        words[n++] = *flags++;
    words[n++] = "-o";
    words[n] = b->paths[to];
    status = compiler_run(words, b->paths[SAID]);
    if (status < 0 && errno != ENOENT && errno != EACCES)
        return fails_by_errno(b, compiler_name(), " cannot be run: ");
    if (status < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 127))
        return fails(b, OPEN_NO_COMPILER, compiler_name(), "");
    return status == 0 || tell_compiler(b);
}

/* The text without the preprocessor. */
static bool preprocess(struct building *b)
{
    const char *const flags[] = {"-std=c11", "-I", b->folder, "-E", NULL};

    return compile(b, flags, SOURCE, TEXT);
}

static bool translate(struct building *b)
{
    static const char *const flags[] = {
        "-std=c11", "-O2", "-fPIC", "-ffp-contract=off", "-fno-stack-protector", "-c", NULL};

    return compile(b, flags, TEXT, OBJECT);
}

/* The compiler's own library has what processors lack, as a division of 128 bits. */
static bool link_object(struct building *b)
{
    static const char *const flags[] = {"-shared", "-nostdlib", "-Wl,-z,now,-z,relro,-z,text",
                                        "-lgcc", NULL};

    return compile(b, flags, OBJECT, SHARED);
}

/* -- looked at -------------------------------------------------------------------------------- */

static bool look_at_text(struct building *b)
{
    struct component_text at;
    size_t len;
    char *text = file_bytes(b->folder, files[TEXT], &len);
    bool ok = text && component_text_read(text, &at);

    if (!text && errno != ENOENT) {
        fails_by_errno(b, b->paths[TEXT], " cannot be read: ");
    } else if (text && !ok && at.what) {
        b->out->what = OPEN_READS;
        snprintf(b->out->said, sizeof b->out->said, "line %zu: '%.*s'", at.line, (int)at.what_len,
                 at.what);
    } else if (!ok) {
        fails(b, OPEN_SYSTEM, "the compiler has made no text", "");
    }
    free(text);
    return ok;
}

/* An object, by one of the two judges. */
static bool look_at_object(struct building *b, enum file which,
                           bool (*judge)(const unsigned char *, size_t, struct object_judged *))
{
    static const enum opened meant[] = {
        [OBJECT_DATA] = OPEN_DATA,   [OBJECT_SECTION] = OPEN_SECTION,
        [OBJECT_IFUNC] = OPEN_IFUNC, [OBJECT_STACK] = OPEN_STACK,
        [OBJECT_CALL] = OPEN_CALL,   [OBJECT_UNKNOWN] = OPEN_SYSTEM,
    };
    struct object_judged judged = {.fault = OBJECT_UNKNOWN};
    size_t len;
    char *bytes = file_bytes(b->folder, files[which], &len);

    if (!bytes && errno != ENOENT)
        return fails_by_errno(b, b->paths[which], " cannot be read: ");
    if (bytes)
        judge((const unsigned char *)bytes, len, &judged);
    free(bytes);
    if (judged.fault == OBJECT_UNKNOWN)
        return fails(b, OPEN_SYSTEM, "the compiler has made no object", "");
    return judged.fault == OBJECT_OK || fails(b, meant[judged.fault], judged.name, "");
}

bool component_build(const char *folder, const char *code, struct component_opening *out)
{
    struct building b = {.out = out, .folder = folder};

    for (size_t i = 0; i < N_FILES; i++)
        put_path(b.paths[i], folder, files[i]);
    return write_file(&b, HEADER, component_h) && write_file(&b, SOURCE, code) && preprocess(&b) &&
           look_at_text(&b) && translate(&b) && look_at_object(&b, OBJECT, object_has_only_code) &&
           link_object(&b) && look_at_object(&b, SHARED, object_is_whole);
}

/* -- in a folder that is gone afterwards ------------------------------------------------------ */

/* A new one in $TMPDIR, or else /tmp; false with errno. */
static bool make_folder(char *folder)
{
    const char *in = getenv("TMPDIR");
    int n =
        snprintf(folder, COMPONENT_FOLDER_BYTES, "%s/kernbench.XXXXXX", in && *in ? in : "/tmp");

    if (n >= COMPONENT_FOLDER_BYTES)
        errno = ENAMETOOLONG;
    return n < COMPONENT_FOLDER_BYTES && mkdtemp(folder);
}

/* The components' own text, of a build that went well. */
static char *own_text(struct building *b)
{
    struct component_text at;
    size_t len;
    char *bytes = file_bytes(b->folder, COMPONENT_TEXT, &len), *text = NULL;

    if (bytes && component_text_read(bytes, &at))
        text = strndup(at.begin, at.len);
    if (!text)
        fails_by_errno(b, COMPONENT_TEXT, ": ");
    free(bytes);
    return text;
}

char *component_build_text(const char *code, struct component_opening *out)
{
    char folder[COMPONENT_FOLDER_BYTES], *text = NULL;
    struct building b = {.out = out, .folder = folder};

    *out = (struct component_opening){.what = OPEN_OK};
    if (!make_folder(folder)) {
        fails_by_errno(&b, "no folder can be made in $TMPDIR", ": ");
        return NULL;
    }
    if (component_build(folder, code, out))
        text = own_text(&b);
    remove_folder(folder);
    return text;
}
