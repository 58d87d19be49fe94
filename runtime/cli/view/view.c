/*
 * view.c -- the pictures that there are: each is a scene, written as SVG or DOT.
 *
 * `view_levels` is the one list of names: the command, its help and the completion of shells read
 * it. A new level also needs its function in `fill`.
 */
#include "cli/out/say.h"
#include "cli/view/scene.h"
#include <string.h>

const char *const view_levels[N_VIEW_LEVELS] = {
    [VIEW_SYSTEM] = "system", [VIEW_SIP] = "sip", [VIEW_CUBE] = "cube", [VIEW_PE] = "pe"};

enum view_level view_find(const char *name)
{
    int i = 0;

    while (i < N_VIEW_LEVELS && strcmp(view_levels[i], name) != 0)
        i++;
    return (enum view_level)i;
}

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

static bool find_cube(const struct cli *cli, struct view_at *at)
{
    const kb_info *info = &cli->info;
    kb_cube cube;

    if (kb_cube_get(cli->topo, at->sip, at->cube, &cube) == KB_OK)
        return true;
    for (uint32_t i = 0; i < info->sips * info->cubes_per_sip; i++) {
        *at = (struct view_at){i / info->cubes_per_sip, i % info->cubes_per_sip, 0};
        if (kb_cube_get(cli->topo, at->sip, at->cube, &cube) == KB_OK)
            return true;
    }
    return false;
}

static bool find_pe(const struct cli *cli, struct view_at *at)
{
    kb_endpoint pe = {KB_PE, at->sip, at->cube, at->pe};
    kb_cube cube;
    uint32_t number = 0;

    if (kb_pe_number(cli->topo, &pe, &number) != KB_OK) {
        bool has = kb_cube_get(cli->topo, at->sip, at->cube, &cube) == KB_OK && cube.n_pes > 0;

        if (kb_pe_get(cli->topo, has ? cube.first_pe : 0, &pe) != KB_OK)
            return false;
        *at = (struct view_at){pe.sip, pe.cube, pe.unit};
    }
    return true;
}

bool view_find_part(const struct cli *cli, enum view_level level, struct view_at *at)
{
    if (level == VIEW_CUBE)
        return find_cube(cli, at);
    return level != VIEW_PE || find_pe(cli, at);
}

/* Fills a scene, and writes it by `write`. */
static void draw(struct scene *sc, enum view_level level, struct view_at at,
                 void (*write)(struct scene *sc, struct sink *s), struct sink *s)
{
    sc->level = view_levels[level];
    fill[level](sc, at);
    write(sc, s);
    scene_free(sc);
}

void view_topology(const struct cli *cli, enum view_level level, struct view_at at,
                   const struct view_utilization *utilization, const char *prefix, struct sink *s)
{
    struct scene sc = {.cli = cli,
                       .utilization = utilization,
                       .prefix = prefix ? prefix : view_levels[level],
                       .in_page = prefix};

    draw(&sc, level, at, scene_svg, s);
}

void view_topology_dot(const struct cli *cli, enum view_level level, struct view_at at,
                       const struct view_utilization *utilization, struct sink *s)
{
    struct scene sc = {.cli = cli, .utilization = utilization, .prefix = ""};

    draw(&sc, level, at, scene_dot_graph, s);
}
