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

static inline bool memory_is_component(const struct kb_topology *t, uint32_t dst)
{
    return t->impls && !unit_is_tcm(t, dst_unit(t, dst)) && memory_impl(t, dst)->bytes;
}

static inline bool memory_queues(const struct kb_topology *t, uint32_t dst)
{
    return t->impls && !unit_is_tcm(t, dst_unit(t, dst)) && memory_impl(t, dst)->arrive;
}

#endif
