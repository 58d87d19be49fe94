/*
 * compile.c -- a bench in C compiled to a shared object, and kept for the next time.
 *
 * The steps, in a folder of the cache:
 *
 *     cc FLAGS -E -x c bench.c -o bench.i          the text with all that it includes, as it is now
 *     cc FLAGS -E -dD identity.c -o identity.i     which compiler it is: base/compiler_identity.h
 *     cc FLAGS -x cpp-output bench.i -o bench.so   unless the cache has it
 *
 * The object is kept under the hash of text, flags and compiler. Where a header was found, and
 * whether another one appeared earlier in the path, is in bench.i. What is compiled is bench.i
 * itself, so that an edit in between cannot get under the hash of another text. Only if that fails
 * bench.c is compiled, for messages with the lines as they were written.
 *
 * A flag that may bring in a file which the preprocessor does not see (a library, a profile, a
 * plugin), or a text with .incbin, is compiled each time, and kept under the hash of what came out.
 */
#include "base/cache.h"
#include "base/compiler.h"
#include "base/compiler_identity.h"
#include "cli/exit.h"
#include "cli/query/query.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum compiled {
    COMPILED_OK,
    COMPILED_NO_COMPILER,
    COMPILED_NOT,   /* said: the compiler's messages */
    COMPILED_SYSTEM /* said: what failed */
};

enum { WORDS_MORE = 16, FILE_BYTES = CACHE_PATH_BYTES + 64, NAME_CHARS = 32 };

/* One text on its way. */
struct way {
    const char *const *flags;
    kb_query_object *out;
    struct cache cache;
    struct provenance of;
    bool seen;                     /* all files that get into the object are in its text */
    char folder[CACHE_PATH_BYTES]; /* "": there is none */
};

static enum compiled fails(struct way *w, const char *text, const char *more)
{
    snprintf(w->out->said, sizeof w->out->said, "%.8000s%.8000s", text, more);
    return COMPILED_SYSTEM;
}

/* -- files of the folder ---------------------------------------------------------------------- */

static const char *file_of(const struct way *w, const char *name, char path[FILE_BYTES])
{
    snprintf(path, FILE_BYTES, "%s/%s", w->folder, name);
    return path;
}

/* A line that tells the compiler what the text is called. */
static bool write_name(FILE *file, const char *name)
{
    bool ok = fputs("#line 1 \"", file) >= 0;

    for (; *name; name++)
        ok = (!strchr("\"\\", *name) || putc('\\', file) != EOF) && putc(*name, file) != EOF && ok;
    return fputs("\"\n", file) >= 0 && ok;
}

static bool write_source(struct way *w, const char *text, const char *name)
{
    char path[FILE_BYTES];
    FILE *file = fopen(file_of(w, "bench.c", path), "w");
    bool ok = file && write_name(file, name) && fputs(text, file) >= 0;

    if (file)
        ok = fclose(file) == 0 && ok;
    return ok || (fails(w, path, " cannot be written"), false);
}

/* Its text, owned; of none "". NULL: no memory. */
static char *read_file(const struct way *w, const char *name)
{
    char path[FILE_BYTES];
    FILE *file = fopen(file_of(w, name, path), "rb");
    struct stat of;
    size_t n = file && fstat(fileno(file), &of) == 0 ? (size_t)of.st_size : 0;
    char *text = calloc(n + 1, 1);

    if (text && file)
        text[fread(text, 1, n, file)] = '\0';
    if (file)
        fclose(file);
    return text;
}

/* -- the compiler ----------------------------------------------------------------------------- */

/* The messages of the last call, which ended so. */
static enum compiled judge(struct way *w, int status)
{
    char *said;

    if (status == 0)
        return COMPILED_OK;
    if (status < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 127)) {
        fails(w, compiler_name(), "");
        return COMPILED_NO_COMPILER;
    }
    said = read_file(w, "said");
    fails(w, said ? said : "", "");
    free(said);
    return COMPILED_NOT;
}

/* The compiler, its flags, and `more` of ours, up to NULL. */
static enum compiled run(struct way *w, const char *const *more)
{
    char said[FILE_BYTES];
    size_t n = 0;

    while (w->flags[n])
        n++;
    const char **words = calloc(n + WORDS_MORE, sizeof *words);
    if (!words)
        return fails(w, "out of memory", "");
    words[0] = compiler_name();
    memcpy(words + 1, w->flags, n * sizeof *words);
    while (*more)
        words[++n] = *more++;
    int status = compiler_run(words, file_of(w, "said", said));
    free(words);
    return judge(w, status);
}

/* -- what the object will be made of ----------------------------------------------------------- */

static bool begins_with_one(const char *flag, const char *const *firsts)
{
    while (*firsts && strncmp(flag, *firsts, strlen(*firsts)) != 0)
        firsts++;
    return *firsts;
}

/* Does it bring in no file, but such as the preprocessor reads? `n`: how many words it takes. */
static bool is_plain(const char *const *flag, size_t *n)
{
    static const char *const with_word[] = {"-I",      "-D",         "-U",       "-include",
                                            "-iquote", "-idirafter", "-isystem", "-imacros"};
    static const char *const firsts[] = {
        "-I",      "-D",         "-U",      "-O",       "-std=",          "-g", "-m",
        "-iquote", "-idirafter", "-shared", "-isystem", "-ffp-contract=", NULL};

    *n = 1;
    for (size_t i = 0; i < sizeof with_word / sizeof *with_word; i++)
        if (strcmp(*flag, with_word[i]) == 0)
            return *n = 2, flag[1] != NULL;
    return begins_with_one(*flag, firsts) || strcmp(*flag, "-w") == 0 ||
           (strncmp(*flag, "-W", 2) == 0 && !strchr(*flag, ',')) ||
           (strncmp(*flag, "-f", 2) == 0 && !strchr(*flag, '='));
}

static bool are_plain(const char *const *flags)
{
    for (size_t n; *flags; flags += n)
        if (!is_plain(flags, &n))
            return false;
    return true;
}

static void take_flags(struct way *w)
{
    struct digest d;

    digest_begin(&d);
    for (size_t i = 0; w->flags[i]; i++)
        digest_add_text(&d, w->flags[i]);
    digest_end(&d, w->of.of[PROVENANCE_COMMAND]);
    w->seen = are_plain(w->flags);
}

/* All lines but those that name this folder, which is another one each time. */
static void take_text(struct way *w, const char *text)
{
    struct digest d;

    digest_begin(&d);
    while (*text) {
        size_t n = strcspn(text, "\n");

        n += text[n] == '\n';
        if (*text != '#' || !memmem(text, n, w->folder, strlen(w->folder)))
            digest_add(&d, text, n);
        text += n;
    }
    digest_end(&d, w->of.of[PROVENANCE_INPUTS]);
}

static enum compiled preprocess(struct way *w)
{
    char source[FILE_BYTES], made[FILE_BYTES], *text;
    const char *const ask[] = {"-iquote", ".",
                               "-E",      "-x",
                               "c",       file_of(w, "bench.c", source),
                               "-o",      file_of(w, "bench.i", made),
                               NULL};
    enum compiled code = run(w, ask);

    if (code)
        return code;
    text = read_file(w, "bench.i");
    if (!text)
        return fails(w, "out of memory", "");
    w->seen = w->seen && !strstr(text, ".incbin") && !strstr(text, "#embed");
    take_text(w, text);
    free(text);
    return judge(w, compiler_identity(w->flags, "", w->folder, w->of.of[PROVENANCE_COMPILER]));
}

/* -- the object ------------------------------------------------------------------------------- */

static enum compiled make_object(struct way *w)
{
    char source[FILE_BYTES], text[FILE_BYTES], made[FILE_BYTES];
    const char *const ask[] = {
        "-x", "cpp-output", file_of(w, "bench.i", text), "-o", file_of(w, "bench.so", made), NULL};
    const char *const again[] = {"-iquote", ".",  "-x", "c", file_of(w, "bench.c", source),
                                 "-o",      made, NULL};
    enum compiled code = w->seen ? run(w, ask) : COMPILED_NOT;

    if (code == COMPILED_NOT) /* with the lines as they were written */
        code = run(w, again);
    if (!code && access(made, R_OK) != 0)
        return fails(w, "the compiler has made no object", "");
    return code;
}

/* "bench-0a1b....so", by all that it is made of; by the object, if not all of that is seen. */
static void name_entry(struct way *w, char name[256])
{
    char text[PROVENANCE_BYTES], hex[DIGEST_CHARS + 1], path[FILE_BYTES];
    struct digest d;

    digest_begin(&d);
    provenance_write(&w->of, text);
    digest_add_text(&d, text);
    if (!w->seen)
        digest_add_file(&d, file_of(w, "bench.so", path));
    digest_end(&d, hex);
    snprintf(name, 256, "bench-%.*s.so", NAME_CHARS, hex);
}

static enum compiled find_or_make(struct way *w)
{
    char name[256], made[FILE_BYTES];
    enum compiled code = preprocess(w);

    if (code)
        return code;
    name_entry(w, name);
    if (w->seen && cache_find(&w->cache, name, &w->of, w->out->path))
        return COMPILED_OK;
    code = make_object(w);
    if (code)
        return code;
    name_entry(w, name);
    return cache_keep(&w->cache, file_of(w, "bench.so", made), name, &w->of, w->out->path)
               ? COMPILED_OK
               : fails(w, w->cache.why, "");
}

static enum compiled compile_kept(struct way *w, const char *text, const char *name)
{
    enum compiled code = COMPILED_SYSTEM;

    if (!cache_open(&w->cache) || !cache_folder_new(&w->cache, w->folder))
        return fails(w, w->cache.why, "");
    take_flags(w);
    if (write_source(w, text, name))
        code = find_or_make(w);
    cache_folder_remove(w->folder);
    return code;
}

int kb_query_compile(const char *text, const char *name, const char *const *flags,
                     kb_query_object *out)
{
    struct way w = {.flags = flags, .out = out};

    out->said[0] = '\0';
    enum compiled code = compile_kept(&w, text, name);
    out->no_compiler = code == COMPILED_NO_COMPILER;
    return code == COMPILED_OK ? EXIT_OK : code == COMPILED_NOT ? EXIT_INPUT : EXIT_SYSTEM;
}
