/* main.c -- kbgen: one topology YAML in, its tables out; reads as a table of contents. */
#include "build.h"
#include "component_told.h"
#include "emit.h"
#include "limits.h"
#include "options.h"
#include "resolve.h"
#include <string.h>

static bool print_tables(struct build *b, const char *file)
{
    const char *slash = strrchr(file, '/');

    return build_tables(b) && emit(&b->routes, slash ? slash + 1 : file, stdout);
}

static bool print_code(const struct spec *spec)
{
    const char *text = component_checked_text(spec);

    return text && fputs(text, stdout) >= 0;
}

/* Links that are broken are looked up only as routes are made. */
static bool finds_all_links(struct build *b)
{
    return b->spec.broken.n == 0 || build_tables(b);
}

static bool print(struct build *b, const struct options *o)
{
    const struct spec *spec = &b->spec;

    if ((o->output == OUTPUT_CONFIG || o->output == OUTPUT_HASH) && !finds_all_links(b))
        return false;
    switch (o->output) {
    case OUTPUT_TABLES:
        return print_tables(b, o->file);
    case OUTPUT_CONFIG:
        return fputs(resolve(spec), stdout) >= 0;
    case OUTPUT_HASH:
        return puts(resolve_hash(spec, resolve(spec))) >= 0;
    case OUTPUT_KEYS:
        return fputs(resolve_keys(spec), stdout) >= 0;
    case OUTPUT_NAME:
        return puts(spec->name) >= 0;
    case OUTPUT_COMPONENTS:
        return puts(component_paths(spec)) >= 0;
    case OUTPUT_COMPONENT_CODE:
        return print_code(spec);
    }
    return false;
}

int main(int argc, char **argv)
{
    static struct build b;
    struct options o = {0};
    jmp_buf without;

    b.diag = (struct diag){.say = options_print, .to = stderr, .program = "kbgen"};
    b.arena.without = &without;
    if (setjmp(without))
        return (int)options_no_memory();
    options_read(&o, &b.arena, argc, argv);
    limits_of_kbgen(&o);
    if (build_read(&b, &(struct source){.file = o.file, .sets = o.sets, .n_sets = o.n_sets}))
        print(&b, &o);
    limits_end_of_kbgen();
    arena_release(&b.arena);
    return (int)options_finish(b.diag.code);
}
