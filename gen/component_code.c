/*
 * component_code.c -- the components of a machine as one C file, which is compiled by itself.
 *
 * Words that a component must not have, then its constants, its text, and its calls; and behind all
 * components a table of them, by which an object is called. topo.c has a table of its own.
 */
#include "component_code.h"
#include "base/text.h"
#include "component_text.h"
#include "machine/tables.h" /* KB_VERSION */
#include "nodes.h"
#include <inttypes.h>
#include <string.h>

/*
 * Words that end a compilation, however they are written: what they do is not seen in the object.
 * Assembler text may read files and clocks; a section's name is assembler text; a date is another
 * one in each build.
 */
static const char words[] = "#pragma GCC poison asm __asm __asm__ section __section__ "
                            "__DATE__ __TIME__ __TIMESTAMP__\n";

/* "MYBANK_TRP": of upper letters; `key` has them all, or all but an ending `_ns`. */
static const char *constant_name(struct arena *a, const char *component, const char *key,
                                 const char *end)
{
    size_t len = strlen(key) - (*end ? strlen("_ns") : 0);
    char *name = arena_printf(a, "%s_%.*s%s", component, (int)len, key, end);

    for (char *p = name; *p; p++)
        if (*p >= 'a' && *p <= 'z')
            *p = (char)(*p - 'a' + 'A');
    return name;
}

static const char *constant(struct arena *a, const struct part *p, size_t i)
{
    const struct component_key *key = &p->component->keys[i];
    const char *name = p->component->name, *ns = strrchr(key->name, '_');
    char text[TEXT_DOUBLE_BYTES];

    if (key->integer)
        return arena_printf(a, "enum { %s = %lld };\n", constant_name(a, name, key->name, ""),
                            (long long)p->values[i]);
    if (ns && strcmp(ns, "_ns") == 0)
        return arena_printf(
            a, "__attribute__((unused)) static const int64_t %s = INT64_C(%" PRId64 ");\n",
            constant_name(a, name, key->name, "_fs"), fs_of_ns(p->values[i]));
    text_put_double(text, 1, p->values[i]);
    return arena_printf(a, "__attribute__((unused)) static const double %s = %s%s;\n",
                        constant_name(a, name, key->name, ""), text,
                        strpbrk(text, ".e") ? "" : ".0");
}

#define CALLS_OF_QUEUE                                                                             \
    "static inline void component_NAME_arrive(void *s, const struct "                              \
    "kb_request *r, int64_t now, "                                                                 \
    "struct kb_handle *h)\n{\n    NAME_arrive(s, r, now, h);\n}\n"                                 \
    "static inline void component_NAME_wake(void *s, uint64_t id, int64_t "                        \
    "now, struct kb_handle "                                                                       \
    "*h)\n{\n    NAME_wake(s, id, now, h);\n}\n"

/* The calls of a component of one kind; NAME is its name. */
static const char *const calls[N_COMPONENT_KINDS] = {
    [COMPONENT_MEMORY] =
        "static inline struct kb_served component_NAME_serve(void *s, const struct kb_request *r, "
        "int64_t now)\n{\n    return NAME_serve(s, r, now);\n}\n",
    [COMPONENT_QUEUEING] = CALLS_OF_QUEUE,
    [COMPONENT_FRONT] = CALLS_OF_QUEUE
    "static inline void component_NAME_ended(void *s, uint64_t id, int64_t now, struct kb_handle "
    "*h)\n{\n    NAME_ended(s, id, now, h);\n}\n",
    [COMPONENT_NODE] = "static inline int64_t component_NAME_delay(void *s, const struct "
                       "kb_request *r, int64_t now)\n"
                       "{\n    return NAME_delay(s, r, now);\n}\n",
    [COMPONENT_ENGINE] =
        "static inline struct kb_served component_NAME_serve(void *s, const struct kb_request *r, "
        "int64_t now)\n{\n    return NAME_serve(s, r, now);\n}\n",
};

#define MEMBERS_OF_QUEUE ".arrive = component_NAME_arrive, .wake = component_NAME_wake"

static const char *const members[N_COMPONENT_KINDS] = {
    [COMPONENT_MEMORY] = ".serve = component_NAME_serve",
    [COMPONENT_QUEUEING] = MEMBERS_OF_QUEUE,
    [COMPONENT_FRONT] = MEMBERS_OF_QUEUE ", .ended = component_NAME_ended",
    [COMPONENT_NODE] = ".delay = component_NAME_delay",
    [COMPONENT_ENGINE] = ".serve = component_NAME_serve",
};

/* `text` with the name of the component for NAME. */
static const char *named(struct arena *a, const char *text, const char *name)
{
    const char *out = "", *at;

    while ((at = strstr(text, "NAME"))) {
        out = arena_printf(a, "%s%.*s%s", out, (int)(at - text), text, name);
        text = at + strlen("NAME");
    }
    return arena_printf(a, "%s%s", out, text);
}

static bool is_first_of_name(const struct part *all, const struct part *p)
{
    while (all != p && strcmp(all->component->name, p->component->name) != 0)
        all = all->next;
    return all == p;
}

/* `path` between the quotes of #line. */
static const char *quoted(struct arena *a, const char *path)
{
    char *text = arena_alloc(a, 2 * strlen(path) + 1), *to = text;

    for (; *path; *to++ = *path++)
        if (*path == '"' || *path == '\\')
            *to++ = '\\';
    return text;
}

/* Its constants, its text, where the compiler's messages find it, and its calls. */
static const char *code_of(struct arena *a, const struct part *p)
{
    const struct component *c = p->component;
    const char *text = "";

    for (size_t i = 0; i < c->n_keys; i++)
        text = arena_printf(a, "%s%s", text, constant(a, p, i));
    return arena_printf(
        a,
        "%s#line 1 \"%s\"\n%.*s\n#line 1 \"calls of %s\"\n"
        "_Static_assert(sizeof(struct %s) <= %d, \"struct %s has more than 64 KiB\");\n"
        "static inline void component_%s_init(void *s)\n{\n    %s_init(s);\n}\n%s\n",
        text, quoted(a, c->path), (int)c->len, c->text, c->name, c->name, IMPL_BYTES_MAX, c->name,
        c->name, c->name, named(a, calls[c->kind], c->name));
}

const char *component_code(const struct spec *spec)
{
    struct arena *a = spec->arena;
    const char *all = arena_printf(a,
                                   "/* Components of a machine, by kernbench " KB_VERSION ". */\n"
                                   "#include \"component.h\"\n#include <stddef.h>\n"
                                   "%s#line 1 \"" COMPONENTS_BEGIN "\"\n",
                                   words);

    for (const struct part *p = spec->parts; p; p = p->next)
        if (is_first_of_name(spec->parts, p))
            all = arena_printf(a, "%s%s", all, code_of(a, p));
    all = arena_printf(
        a,
        "%s#line 1 \"" COMPONENTS_END "\"\nstruct impl {\n    const char *name;\n    int box;\n    "
                                      "size_t bytes;\n    void (*init)(void *);\n"
        "    struct kb_served (*serve)(void *, const struct kb_request *, int64_t);\n"
        "    int64_t (*delay)(void *, const struct kb_request *, int64_t);\n"
        "    void (*arrive)(void *, const struct kb_request *, int64_t, struct kb_handle *);\n"
        "    void (*wake)(void *, uint64_t, int64_t, struct kb_handle *);\n"
        "    void (*ended)(void *, uint64_t, int64_t, struct kb_handle *);\n};\n"
        "extern const struct impl kb_rt_components[];\n"
        "const struct impl kb_rt_components[] = {\n    {0},\n",
        all);
    for (const struct part *p = spec->parts; p; p = p->next)
        all =
            arena_printf(a, "%s    {\"%s\", %d, sizeof(struct %s), component_%s_init, %s},\n", all,
                         p->component->name, (int)p->box, p->component->name, p->component->name,
                         named(a, members[p->component->kind], p->component->name));
    return arena_printf(a, "%s};\n", all);
}
