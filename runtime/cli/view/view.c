/*
 * view.c -- the pictures that there are; those of a level are a scene, written as SVG or DOT.
 *
 * `view_pictures` is the one list of names: the command, its help and the completion of shells read
 * it. A new level also needs its function in `fill`.
 */
#include "cli/out/say.h"
#include "cli/view/scene.h"

const struct view_picture view_pictures[N_VIEW_PICTURES] = {
    [VIEW_SYSTEM] = {"system", NULL, NULL},
    [VIEW_SIP] = {"sip", NULL, NULL},
    [VIEW_CUBE] = {"cube", NULL, NULL},
    [VIEW_PE] = {"pe", NULL, NULL},
    [VIEW_ROOFLINE] = {"roofline", "run", view_roofline_file},
    [VIEW_LATENCY] = {"latency", "load", view_latency_file},
};

/* Places the components and edges of a level in a scene. */
static void (*const fill[N_VIEW_LEVELS])(struct scene *sc, struct view_at at) = {
    [VIEW_SYSTEM] = scene_system,
    [VIEW_SIP] = scene_sip,
    [VIEW_CUBE] = scene_cube,
    [VIEW_PE] = scene_pe,
};

enum view_level view_first(const kb_info *info)
{
    return info->sips > 1 ? VIEW_SYSTEM : VIEW_SIP;
}

/* Fills a scene, and writes it by `write`. */
static void draw(struct scene *sc, enum view_level level, struct view_at at,
                 void (*write)(struct scene *sc, struct sink *s), struct sink *s)
{
    sc->level = view_pictures[level].name;
    fill[level](sc, at);
    write(sc, s);
    scene_free(sc);
}

void view_topology(const struct cli *cli, enum view_level level, struct view_at at,
                   const struct view_utilization *utilization, const char *prefix, struct sink *s)
{
    struct scene sc = {.cli = cli, .utilization = utilization, .prefix = prefix};

    draw(&sc, level, at, scene_svg, s);
}

void view_topology_dot(const struct cli *cli, enum view_level level, struct view_at at,
                       const struct view_utilization *utilization, struct sink *s)
{
    struct scene sc = {.cli = cli, .utilization = utilization, .prefix = ""};

    draw(&sc, level, at, scene_dot_graph, s);
}
