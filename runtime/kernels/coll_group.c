/* coll_group.c -- groups of PEs: all of a cube, of a SIP, along axes of the machine. */
#include "kernels/coll.h"

kb_group kb_group_list(tl_ctx *tl, const uint32_t *pes, int64_t n)
{
    (void)tl;
    return (kb_group){.pes = pes, .n = n};
}

static kb_group group_of(tl_group g)
{
    return (kb_group){.first = g.first, .stride = 1, .n = (int64_t)g.n};
}

/* How many there are along an axis, `stride` PEs from one to the next. */
static void set_axis(const struct kb_topology *t, kb_axis axis, uint32_t *n, uint32_t *stride)
{
    const uint32_t all[KB_AXES] = {t->pes, t->w, t->h, t->sips};

    *stride = 1;
    for (int i = 0; i < (int)axis; i++)
        *stride *= all[i];
    *n = all[axis];
}

/* A group of whole rows along the axes from the first to the last; of all PEs if they are alike. */
static kb_group along(tl_ctx *tl, kb_group otherwise, kb_axis first, kb_axis last)
{
    const struct kb_topology *t = tl_topology(tl);
    kb_group g = {.n = 1};

    if (!t->alike || t->pes == 0 || t->w * t->h != t->cubes)
        return otherwise;
    for (kb_axis axis = first; axis <= last; axis++) {
        set_axis(t, axis, &g.axes[axis].n, &g.axes[axis].stride);
        g.stride = axis == first ? g.axes[axis].stride : g.stride;
        g.n *= g.axes[axis].n;
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
