/* box_impl.h -- which component stands in place of a box of a cube, if one does. */
#ifndef BOX_IMPL_H
#define BOX_IMPL_H
#include "machine/cost.h"
#include "machine/impl.h"

/* In all cubes of a kind, of a machine with components. All zero: the box is built in. */
static inline const struct impl *kind_impl(const struct kb_topology *t, uint32_t kind, enum box box)
{
    return &t->impls->of[t->impls->in[kind * N_BOXES + box]];
}

static inline const struct impl *box_impl(const struct kb_topology *t, uint32_t cube, enum box box)
{
    return kind_impl(t, cube_kind(t, cube), box);
}

/* The same of a memory, which is no TCM. */
static inline const struct impl *memory_impl(const struct kb_topology *t, uint32_t dst)
{
    return box_impl(t, dst_cube(t, dst), unit_is_slice(t, dst_unit(t, dst)) ? BOX_HBM : BOX_SRAM);
}

/* Is there a cache before memory `dst`? Then that is what is come to. */
static inline bool memory_is_cached(const struct kb_topology *t, uint32_t dst)
{
    return kind_at(t, dst_cube(t, dst))->cache.sets && unit_is_slice(t, dst_unit(t, dst));
}

/* The component that memory `dst` is; NULL: it is none, or is not come to. */
static inline const struct impl *memory_component(const struct kb_topology *t, uint32_t dst)
{
    const struct impl *impl;

    if (!t->impls || unit_is_tcm(t, dst_unit(t, dst)) || memory_is_cached(t, dst))
        return NULL;
    impl = memory_impl(t, dst);
    return impl->bytes ? impl : NULL;
}

static inline bool memory_is_component(const struct kb_topology *t, uint32_t dst)
{
    return memory_component(t, dst);
}

static inline bool memory_queues(const struct kb_topology *t, uint32_t dst)
{
    const struct impl *impl = memory_component(t, dst);

    return impl && impl->arrive;
}

/* The component behind the cache of slice `dst`; NULL: what is there is built in. */
static inline const struct impl *component_behind_cache(const struct kb_topology *t, uint32_t dst)
{
    const struct impl *impl = t->impls ? memory_impl(t, dst) : NULL;

    return impl && impl->bytes ? impl : NULL;
}

#endif
