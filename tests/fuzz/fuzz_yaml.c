/* fuzz_yaml.c -- any bytes as a topology: no crash, and what loads resolves to itself. */
#include "gen/check.h"
#include "gen/load.h"
#include "gen/resolve.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The resolved YAML of a text, or NULL if the text has mistakes. */
static const char *resolved(struct arena *arena, const char *text, size_t len)
{
    struct diag diag = {0};
    struct spec spec;

    spec_init(&spec, arena, &diag);
    load_text(&spec, "fuzz", text, len);
    return check(&spec) ? resolve(&spec) : NULL;
}

/* The same bytes as a file with all its messages, and as a --set. */
static void try_set(struct arena *arena, const char *text, size_t len)
{
    FILE *sink = fopen("/dev/null", "w");
    struct diag diag = {.out = sink};
    struct spec spec;

    spec_init(&spec, arena, &diag);
    load_text(&spec, "fuzz", text, len);
    load_set(&spec, arena_copy(arena, text, len));
    check(&spec);
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
