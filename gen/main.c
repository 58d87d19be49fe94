/* main.c -- kbgen: one topology YAML in, its tables out; reads as a table of contents. */
#include "check.h"
#include "emit.h"
#include "load.h"
#include "options.h"
#include "resolve.h"
#include "routes.h"
#include <string.h>

/* The file and the options into the spec, all of it even after a mistake, then the checks. */
static bool read_spec(struct spec *spec, const struct options *o)
{
    load(spec, o->file);
    for (size_t i = 0; i < o->n_sets; i++)
        load_set(spec, o->sets[i]);
    return check(spec);
}

static bool print_tables(const struct spec *spec, const char *file)
{
    const char *slash = strrchr(file, '/');
    struct routes routes;

    return make_routes(&routes, spec, spec->arena) &&
           emit(&routes, slash ? slash + 1 : file, stdout);
}

static bool print(const struct spec *spec, const struct options *o)
{
    switch (o->output) {
    case OUTPUT_TABLES:
        return print_tables(spec, o->file);
    case OUTPUT_CONFIG:
        return fputs(resolve(spec), stdout) >= 0;
    case OUTPUT_HASH:
        return puts(resolve_hash(spec)) >= 0;
    case OUTPUT_KEYS:
        return fputs(resolve_keys(spec), stdout) >= 0;
    case OUTPUT_NAME:
        return puts(spec->name) >= 0;
    }
    return false;
}

int main(int argc, char **argv)
{
    struct arena arena = {0};
    struct diag diag = {.out = stderr};
    struct options options = {0};
    struct spec spec;

    options_read(&options, &arena, argc, argv);
    spec_init(&spec, &arena, &diag);
    if (read_spec(&spec, &options))
        print(&spec, &options);
    arena_release(&arena);
    return (int)options_finish(diag.code);
}
