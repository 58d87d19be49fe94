/* impl.h -- boxes of a machine that are components (`impl:`), as the generated topo.c has them. */
#ifndef IMPL_H
#define IMPL_H
#include "component.h"
#include <stddef.h>

enum { IMPL_BYTES_MAX = 1 << 16 }; /* of a state: topo.c asserts it */

/* The boxes that a component can replace, in the order of their keys in gen/keys.def. */
enum box {
    BOX_FABRIC,
    BOX_PCIE_EP,
    BOX_UCIE,
    BOX_NOC,
    BOX_SRAM,
    BOX_XBAR,
    BOX_HBM,
    BOX_GEMM,
    BOX_MATH,
    N_BOXES
};

/* A component in place of one of them, with its calls; all zero: the box is built in. */
struct impl {
    const char *name; /* of the component */
    enum box box;
    size_t bytes; /* of a state */
    void (*init)(void *state);
    struct kb_served (*serve)(void *state, const struct kb_request *r, int64_t now_fs);
    int64_t (*delay)(void *state, const struct kb_request *r, int64_t now_fs); /* of a node */
    /* Of a queueing memory, both. */
    void (*arrive)(void *state, const struct kb_request *r, int64_t now_fs, struct kb_handle *h);
    void (*wake)(void *state, uint64_t id, int64_t now_fs, struct kb_handle *h);
    /* Of one in front of what is built in: a request of its own has ended. */
    void (*ended)(void *state, uint64_t id, int64_t now_fs, struct kb_handle *h);
};

/* All of a machine. Cubes of one kind have the same. */
struct impls {
    const struct impl *of; /* the first is what is built in */
    const uint16_t *in;    /* [kind of a cube * N_BOXES + box]: which of them; machine/box_impl.h */
    size_t memory_bytes, node_bytes, engine_bytes;   /* the largest state of a memory, ... */
    bool memories, queueing, fronts, nodes, engines; /* some of these */
    const char *compiler;                            /* that built them: base/compiler_identity.h */
};

/* The key that asks for it: "cube.hbm.impl". */
static inline const char *box_key(enum box box)
{
    static const char *const keys[N_BOXES] = {
        [BOX_FABRIC] = "fabric.impl",        [BOX_PCIE_EP] = "sip.io.pcie_ep.impl",
        [BOX_UCIE] = "cube.ucie.impl",       [BOX_NOC] = "cube.noc.impl",
        [BOX_SRAM] = "cube.sram.impl",       [BOX_XBAR] = "cube.xbar.impl",
        [BOX_HBM] = "cube.hbm.impl",         [BOX_GEMM] = "cube.pe.pe_gemm.impl",
        [BOX_MATH] = "cube.pe.pe_math.impl",
    };

    return keys[box];
}

#endif
