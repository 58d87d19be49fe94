/* fuzz_yaml.c -- any bytes as a topology: no crash, what loads resolves to itself and becomes
 * tables. */
#include "gen/check.h"
#include "gen/emit.h"
#include "gen/load.h"
#include "gen/net.h"
#include "gen/resolve.h"
#include "gen/routes.h"
#include "fuzz.h"

#include <string.h>

enum { CUBES_MAX = 64, PES_MAX = 64 }; /* larger ones take long, and have nothing new */

static void make_tables(struct spec *spec, struct arena *arena)
{
    FILE *out = fopen("/dev/null", "w");
    struct routes routes;

    if (!out)
        abort();
    if (make_routes(&routes, spec, arena) && !emit(&routes, "fuzz", out))
        abort();
    fclose(out);
}

static bool is_small(const struct spec *spec)
{
    return spec->sips * net_cubes(spec) <= CUBES_MAX && spec->cube_pes <= PES_MAX;
}

/* The resolved YAML of a text, or NULL if the text has mistakes; on the way it becomes tables. */
static const char *resolved(struct arena *arena, const char *text, size_t len)
{
    struct diag diag = {0};
    struct spec spec;

    spec_init(&spec, arena, &diag);
    load_text(&spec, "fuzz", text, len);
    if (!check_spec(&spec))
        return NULL;
    resolve_keys(&spec);
    if (is_small(&spec))
        make_tables(&spec, arena);
    return resolve(&spec);
}

static void print(void *to, const char *line)
{
    fprintf(to, "%s\n", line);
}

/* The same bytes as a file with all its messages, and as a --set. */
static void try_set(struct arena *arena, const char *text, size_t len)
{
    FILE *sink = fopen("/dev/null", "w");
    struct diag diag = {.say = sink ? print : NULL, .to = sink};
    struct spec spec;

    spec_init(&spec, arena, &diag);
    load_text(&spec, "fuzz", text, len);
    load_set(&spec, (struct place){.kind = PLACE_SET, .name = "--set"},
             arena_copy(arena, text, len));
    check_spec(&spec);
    if (sink)
        fclose(sink);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    const char *once = resolved(&arena, (const char *)data, size);

    if (once) {
        const char *twice = resolved(&arena, once, strlen(once));

        if (!twice || strcmp(once, twice) != 0)
            abort();
    }
    try_set(&arena, (const char *)data, size);
    arena_release(&arena);
    return 0;
}
