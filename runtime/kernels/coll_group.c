/* coll_group.c -- groups of PEs: all of a cube, of a SIP, along axes of the machine. */
#include "kernels/coll.h"

kb_group kb_group_list(tl_ctx *tl, const uint32_t *pes, int64_t n)
{
    (void)tl;
    return (kb_group){.pes = pes, .stride = 1, .n = n};
}

static kb_group group_of(tl_group g)
{
    return (kb_group){.first = g.first, .stride = 1, .n = (int64_t)g.n};
}

/* A group of whole rows along the axes from the first to the last, if all cubes are alike. */
static kb_group along(tl_ctx *tl, kb_group otherwise, kb_axis first, kb_axis last)
{
    const struct kb_topology *t = tl_topology(tl);
    const uint32_t all[KB_AXES] = {t->pes, t->w, t->h, t->sips};
    kb_group g = {.n = 1, .stride = 1};

    if (!t->alike || t->pes == 0 || t->w * t->h != t->cubes)
        return otherwise;
    for (kb_axis axis = KB_PES; axis < first; axis++)
        g.stride *= all[axis];
    for (kb_axis axis = first; axis <= last; axis++) {
        g.axes[axis] = all[axis];
        g.n *= all[axis];
    }
    g.first = tl_pe(tl) - (uint32_t)(tl_pe(tl) / g.stride % g.n) * g.stride;
    return g;
}

kb_group kb_group_cube(tl_ctx *tl)
{
    return group_of(tl_cube(tl));
}

kb_group kb_group_sip(tl_ctx *tl)
{
    return along(tl, group_of(tl_sip(tl)), KB_PES, KB_Y);
}

kb_group kb_group_all(tl_ctx *tl)
{
    return along(tl, group_of(tl_all(tl)), KB_PES, KB_SIPS);
}

kb_group kb_group_cubes(tl_ctx *tl)
{
    return along(tl, (kb_group){0}, KB_X, KB_SIPS);
}

kb_group kb_group_sips(tl_ctx *tl)
{
    return along(tl, (kb_group){0}, KB_SIPS, KB_SIPS);
}

kb_group kb_group_axis(tl_ctx *tl, kb_axis axis)
{
    return along(tl, (kb_group){0}, axis, axis);
}

struct coll coll_new(tl_here here, tl_ctx *tl, kb_group group, const char *name)
{
    return (struct coll){.here = here, .tl = tl, .group = group, .name = name};
}
