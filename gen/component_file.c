/*
 * component_file.c -- the file of a component: where it is, and what its header says.
 *
 * Only the comment at the top is read here; the rest is the compiler's. Its lines are
 *
 *     / * kernbench component: memory mybank     (a remark may follow)
 *      * trp_ns  number  14.0 0..1e6  time to close a row
 *      * banks   integer 16   1..256  banks of a slice * /
 *
 * A key is a word, `number` or `integer`, its default, its range, and what it means.
 */
#include "component_file.h"
#include "component_trust.h"
#include "base/fault.h"
#include "base/text.h"
#include "value.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { COMPONENT_BYTES_MAX = 1 << 20, KEYS_MAX = 64, NAMES_MAX = 256 };

static const char *const kind_names[N_COMPONENT_KINDS] = {"memory", "queueing", "front", "node",
                                                          "engine"};

/* -- where it is ------------------------------------------------------------------------------ */

/* Calls `each` for the folders in which components are looked for, in order, until it says true. */
static bool each_folder(const struct spec *spec,
                        bool (*each)(void *arg, struct arena *a, const char *folder), void *arg)
{
    struct arena *a = spec->arena;
    const char *more = getenv("KB_COMPONENTS");

    if (spec->folder && each(arg, a, arena_printf(a, "%scomponents/", spec->folder)))
        return true;
    while (more && *more) {
        size_t len = strcspn(more, ":");

        if (len && each(arg, a, arena_printf(a, "%.*s/", (int)len, more)))
            return true;
        more += len + (more[len] == ':');
    }
    return each(arg, a, "examples/components/");
}

struct search {
    const char *name, *suffix;
    const char *path; /* found */
    FILE *file;
    int error; /* errno: it is there, perhaps, and cannot be opened */
};

static bool open_in(void *arg, struct arena *a, const char *folder)
{
    struct search *s = arg;

    s->path = arena_printf(a, "%s%s%s", folder, s->name, s->suffix);
    s->file = fopen(s->path, "rb");
    s->error = s->file || errno == ENOENT || errno == ENOTDIR ? 0 : errno;
    return s->file || s->error;
}

struct listing {
    const char *suffix;
    const char *names[NAMES_MAX];
    size_t n;
    const char *folders; /* in words */
};

static bool list_folder(void *arg, struct arena *a, const char *folder)
{
    struct listing *l = arg;
    DIR *dir = opendir(folder);
    const struct dirent *entry;

    l->folders = arena_printf(a, "%s%s%s", l->folders, *l->folders ? ", " : "", folder);
    while (dir && (entry = readdir(dir))) {
        size_t len = strlen(entry->d_name), end = strlen(l->suffix);

        if (len > end && strcmp(entry->d_name + len - end, l->suffix) == 0 && l->n < NAMES_MAX)
            l->names[l->n++] = arena_copy(a, entry->d_name, len - end);
    }
    if (dir)
        closedir(dir);
    return false;
}

static void not_found(const struct spec *spec, struct place at, const char *name,
                      const char *suffix)
{
    struct listing *l = arena_alloc(spec->arena, sizeof *l);
    const char *near;

    l->folders = "";
    l->suffix = suffix;
    each_folder(spec, list_folder, l);
    near = text_nearest(name, strlen(name), l->names, l->n);
    if (near)
        diag_error(spec->diag, at, "there is no component '%s', did you mean '%s'?", name, near);
    else
        diag_error(spec->diag, at, "there is no component '%s': no %s%s in %s", name, name, suffix,
                   l->folders);
}

/* -- its header ------------------------------------------------------------------------------- */

/* What is left of a header. */
struct header {
    const struct spec *spec;
    struct component *c;
    const char *at, *end; /* the next line; behind the comment */
    size_t line;
};

struct words {
    const char *text[5];
    size_t n;
};

static bool wrong_line(const struct header *h, const char *what)
{
    return diag_error(
        h->spec->diag,
        (struct place){.kind = PLACE_FILE, .name = h->c->path, .line = h->line, .col = 1}, "%s",
        what);
}

/* The words of the next line, without the star before them; of the fifth on nothing is kept. */
static struct words next_line(struct header *h)
{
    size_t len = (size_t)(h->end - h->at), line_len;
    const char *newline = memchr(h->at, '\n', len), *p = h->at, *end;
    struct words w = {.n = 0};

    line_len = newline ? (size_t)(newline - h->at) : len;
    end = p + line_len;
    h->at = newline ? newline + 1 : h->end;
    h->line++;
    while (p < end && (*p == ' ' || *p == '\t' || *p == '*'))
        p++;
    while (p < end && w.n < 5) {
        size_t n = 0;

        while (p + n < end && !strchr(" \t\r", p[n]))
            n++;
        if (n)
            w.text[w.n++] = arena_copy(h->spec->arena, p, n);
        p += n + (n == 0);
    }
    return w;
}

static bool read_first_line(struct header *h)
{
    static const char form[] = "a component begins with '/* kernbench component: KIND NAME', KIND "
                               "being memory, queueing, front, node or engine";
    struct words w = next_line(h);
    const char *near;
    int kind = 0;

    if (w.n < 4 || strcmp(w.text[0], "kernbench") != 0 || strcmp(w.text[1], "component:") != 0)
        return wrong_line(h, form);
    while (kind < N_COMPONENT_KINDS && strcmp(w.text[2], kind_names[kind]) != 0)
        kind++;
    near = text_nearest(w.text[2], strlen(w.text[2]), kind_names, N_COMPONENT_KINDS);
    if (kind == N_COMPONENT_KINDS)
        return wrong_line(h, arena_printf(h->spec->arena, "'%s' is no kind of component%s%s%s",
                                          w.text[2], near ? ", did you mean '" : ": ",
                                          near ? near : "memory, queueing, front, node or engine",
                                          near ? "'?" : ""));
    h->c->kind = (enum component_kind)kind;
    if (strcmp(w.text[3], h->c->name) != 0)
        return wrong_line(h, arena_printf(h->spec->arena,
                                          "the component is called '%s', but its "
                                          "file %s.c",
                                          w.text[3], h->c->name));
    return true;
}

static bool read_number(const char *text, bool integer, double *out)
{
    if (!value_is_real(text) || (integer && strpbrk(text, ".eE")))
        return false;
    *out = text_to_double(text, NULL);
    return true;
}

/* "0..1e6" */
static bool read_range(const struct header *h, const char *text, struct component_key *k)
{
    const char *dots = strstr(text, "..");

    return dots &&
           read_number(arena_copy(h->spec->arena, text, (size_t)(dots - text)), k->integer,
                       &k->min) &&
           read_number(dots + 2, k->integer, &k->max) && k->min <= k->max;
}

static bool is_in_range(const struct component_key *k, double value)
{
    return value >= k->min && value <= k->max;
}

static bool read_key(struct header *h, const struct words *w)
{
    struct component_key k = {.name = w->text[0]};
    struct arena *a = h->spec->arena;

    if (w->n < 4)
        return wrong_line(h, "a key is 'NAME number|integer DEFAULT MIN..MAX what it means'");
    if (!value_is_name(k.name, strlen(k.name)))
        return wrong_line(h, arena_printf(a, "'%s' is no name of a key: [a-z][a-z0-9_]*", k.name));
    for (size_t i = 0; i < h->c->n_keys; i++)
        if (strcmp(h->c->keys[i].name, k.name) == 0)
            return wrong_line(h, arena_printf(a, "the key '%s' is there twice", k.name));
    k.integer = strcmp(w->text[1], "integer") == 0;
    if (!k.integer && strcmp(w->text[1], "number") != 0)
        return wrong_line(
            h, arena_printf(a, "'%s' must be number or integer, not '%s'", k.name, w->text[1]));
    if (!read_range(h, w->text[3], &k))
        return wrong_line(
            h, arena_printf(a, "'%s' must have a range like 0..1e6, not '%s'", k.name, w->text[3]));
    if (k.integer && (k.min < INT32_MIN || k.max > INT32_MAX))
        return wrong_line(h, arena_printf(a, "'%s' is an integer of 32 bits", k.name));
    if (!read_number(w->text[2], k.integer, &k.value) || !is_in_range(&k, k.value))
        return wrong_line(
            h, arena_printf(a, "'%s' has no default in its range: '%s'", k.name, w->text[2]));
    if (h->c->n_keys == KEYS_MAX)
        return wrong_line(h, "a component has at most 64 keys");
    h->c->keys[h->c->n_keys++] = k;
    return true;
}

/* All lines, also after a mistake. */
static bool read_header(const struct spec *spec, struct component *c)
{
    const char *close = strstr(c->text, "*/");
    struct header h = {.spec = spec, .c = c, .at = c->text};
    bool ok;

    if (strncmp(c->text, "/*", 2) != 0 || !close) {
        h.line = 1;
        return wrong_line(&h, "a component begins with '/* kernbench component: KIND NAME'");
    }
    h.at += 2;
    h.end = close;
    ok = read_first_line(&h);
    c->keys = arena_alloc(spec->arena, KEYS_MAX * sizeof *c->keys);
    while (h.at < h.end) {
        struct words w = next_line(&h);

        if (w.n || h.at < h.end)
            ok = read_key(&h, &w) && ok;
    }
    return ok;
}

/* -- the whole -------------------------------------------------------------------------------- */

/* After a message: is it the file's fault, or the system's? */
static void judge_fault(const struct spec *spec, int error)
{
    if (!fault_is_of_file(error))
        spec->diag->code = EXIT_SYSTEM;
}

/* The text of an open file; NULL after a message. */
static const char *read_text(const struct spec *spec, const struct search *s, size_t *len)
{
    struct place whole = {.kind = PLACE_FILE, .name = s->path};
    char *text = arena_alloc(spec->arena, COMPONENT_BYTES_MAX + 2);

    *len = fread(text, 1, COMPONENT_BYTES_MAX + 1, s->file);
    if (ferror(s->file)) {
        int error = errno;

        diag_error(spec->diag, whole, "cannot be read: %s", strerror(error));
        judge_fault(spec, error);
        return NULL;
    }
    if (*len > COMPONENT_BYTES_MAX) {
        diag_error(spec->diag, whole, "larger than 1 MiB");
        return NULL;
    }
    if (memchr(text, 0, *len)) {
        diag_error(spec->diag, whole, "it has a byte 0, it is no text");
        return NULL;
    }
    return text;
}

/* The file NAME and `suffix`, with its text. False after a message. */
static bool read_file(const struct spec *spec, struct place at, const char *name,
                      const char *suffix, struct component *c)
{
    struct search search = {.name = name, .suffix = suffix};
    bool is_code = strcmp(suffix, ".c") == 0;

    if (!each_folder(spec, open_in, &search)) {
        not_found(spec, at, name, suffix);
        return false;
    }
    if (search.error) {
        diag_error(spec->diag, at, "%s: the component '%s' cannot be opened: %s", search.path, name,
                   strerror(search.error));
        judge_fault(spec, search.error);
        return false;
    }
    *c = (struct component){.name = name, .path = search.path};
    if (!is_code || component_is_trusted(spec->arena, spec->diag, at, c->path))
        c->text = read_text(spec, &search, &c->len);
    fclose(search.file);
    return c->text;
}

const struct component *route_file_read(const struct spec *spec, struct place at, const char *name)
{
    struct component *c = arena_alloc(spec->arena, sizeof *c);
    const char *first = arena_printf(spec->arena, "# kernbench component: route %s", name);
    struct place top;

    if (!read_file(spec, at, name, ".csv", c))
        return NULL;
    top = (struct place){.kind = PLACE_FILE, .name = c->path, .line = 1, .col = 1};
    if (strncmp(c->text, first, strlen(first)) == 0 && strchr(" \t\r\n", c->text[strlen(first)]))
        return c;
    diag_error(spec->diag, top, "a table of routes begins with '%s'", first);
    return NULL;
}

const struct component *component_read(const struct spec *spec, struct place at, const char *name)
{
    struct component *c = arena_alloc(spec->arena, sizeof *c);

    return read_file(spec, at, name, ".c", c) && read_header(spec, c) ? c : NULL;
}
