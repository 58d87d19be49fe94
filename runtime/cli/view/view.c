/* view.c -- pictures of a topology: the scene of a level, written in one of the formats. */
#include <stdlib.h>
#include "cli/out/say.h"
#include "cli/view/scene.h"

typedef void (*scene_fn)(struct scene *sc, struct view_at at);

static const struct {
    const char *name;
    scene_fn fill;
} levels[N_VIEW_LEVELS] = {
    [VIEW_SYSTEM] = {"system", scene_system},
    [VIEW_SIP] = {"sip", scene_sip},
    [VIEW_CUBE] = {"cube", scene_cube},
    [VIEW_PE] = {"pe", scene_pe},
};

/* Fills a scene, and has it written. */
static enum exit_code draw(struct scene *sc, enum view_level level, struct view_at at,
                           void (*write)(struct scene *sc, struct sink *s), struct sink *s)
{
    sc->level = levels[level].name;
    levels[level].fill(sc, at);
    if (!sc->no_memory)
        write(sc, s);
    bool ok = !sc->no_memory;
    scene_free(sc);
    return ok ? EXIT_OK : say(sc->cli->program, EXIT_SYSTEM, "out of memory");
}

enum exit_code view_topology(const struct cli *cli, enum view_level level, struct view_at at,
                             const struct view_usage *usage, const char *prefix, struct sink *s)
{
    struct scene sc = {.cli = cli, .usage = usage, .prefix = prefix};

    return draw(&sc, level, at, scene_svg, s);
}

enum exit_code view_topology_dot(const struct cli *cli, enum view_level level, struct view_at at,
                                 const struct view_usage *usage, struct sink *s)
{
    struct scene sc = {.cli = cli, .usage = usage, .prefix = ""};

    return draw(&sc, level, at, scene_dot_graph, s);
}
