/* build.c -- a machine made in memory, from its YAML and what is set: for kbgen and the library. */
#include "build.h"
#include "better.h"
#include "check.h"
#include "components.h"
#include "load.h"
#include "net_load.h"
#include "overrides.h"
#include "presets.h"
#include "sets.h"
#include <setjmp.h>
#include <string.h>

/* What the keys that were set mean to the others, which are those of `before`. */
static void settle(struct spec *spec, const struct spec *before)
{
    bool chosen = spec_place(spec, KEY_cube_hbm_model).kind == PLACE_SET;

    presets_take(spec, before);
    presets_leave_server(spec, !chosen || spec_place(spec, KEY_cube_hbm_hold).kind == PLACE_SET);
}

/* The folder of the file, with its last '/'; "": the present one. */
static const char *folder_of(struct arena *a, const char *file)
{
    const char *slash = strrchr(file, '/');

    return arena_copy(a, file, slash ? (size_t)(slash + 1 - file) : 0);
}

bool build_read(struct build *b, const struct source *from)
{
    const char *file = arena_copy(&b->arena, from->file, strlen(from->file));
    struct spec before;

    if (from->base)
        spec_copy(&b->spec, from->base, &b->arena, &b->diag);
    else
        spec_init(&b->spec, &b->arena, &b->diag);
    if (!from->base)
        b->spec.folder = folder_of(&b->arena, file);
    if (from->base)
        ; /* all is there */
    else if (from->text)
        load_text(&b->spec, file, from->text, from->len);
    else
        load_file(&b->spec, file);
    before = b->spec;
    for (size_t i = 0; i < from->n_sets; i++)
        sets_load(&b->spec, from->sets[i]);
    settle(&b->spec, &before);
    better_make(&b->spec, from->better, from->n_better, from->factor);
    components_find(&b->spec);
    overrides_say(&b->spec);
    net_say_links(&b->spec);
    return check_spec(&b->spec);
}

bool build_tables(struct build *b)
{
    return make_routes(&b->routes, &b->spec, &b->arena);
}

void build_all(struct build *b, void *source)
{
    if (build_read(b, source))
        build_tables(b);
}

bool build_guarded(struct build *b, void (*step)(struct build *b, void *arg), void *arg)
{
    jmp_buf without;

    b->arena.without = &without;
    switch (setjmp(without)) {
    case 0:
        break;
    case ARENA_ENDS:
        b->ended = true; /* fall through */
    default:
        b->arena.without = NULL;
        load_close(&b->spec);
        return false;
    }
    step(b, arg);
    b->arena.without = NULL;
    return true;
}
