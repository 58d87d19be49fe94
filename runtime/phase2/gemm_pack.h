/* gemm_pack.h -- operands of products, packed as tiles read them. */
#ifndef GEMM_PACK_H
#define GEMM_PACK_H
#include "phase2/gemm.h"

/* The length of a block of K. The same on all processors: results depend on it. */
enum { KC = 256 };

/* A cache line, and the alignment that tiles may expect. */
enum { ALIGN = 64 };

/*
 * A matrix as tiles read it: for each block of K, panels of `width` along the other extent, and in
 * each panel the elements of one k side by side. Zeros fill the last panel.
 */
struct pack_key {
    uint64_t offset; /* in the version */
    uint32_t extent, k;
    int64_t stride, k_stride; /* elements; one of them is 1 */
    uint8_t dtype, lane;      /* kb_dtype: as stored, as packed */
    uint16_t width;
};

struct packed {
    struct version_packed head;      /* first */
    struct version_packed *child[4]; /* owned: others of the same version, see packed_place() */
    struct gemm_pool *pool;          /* borrowed: takes back its memory */
    size_t nbytes;                   /* of its allocation */
    struct pack_key key;
    uint32_t n_strips;
    uint32_t strip, strips_done; /* atomic: the next one to be packed; how many are packed */
    unsigned char *lanes;        /* in the same allocation */
};

static inline size_t lane_bytes(const struct pack_key *key)
{
    return kb_dtype_bytes((kb_dtype)key->lane);
}

static inline uint32_t panels(const struct pack_key *key)
{
    return (key->extent + key->width - 1) / key->width;
}

/* Panel `panel` of the block that begins at `k`. */
static inline unsigned char *panel_at(const struct packed *p, uint32_t panel, uint32_t k)
{
    uint32_t kc = p->key.k - k < KC ? p->key.k - k : KC;
    size_t lanes = ((size_t)panels(&p->key) * k + (size_t)panel * kc) * p->key.width;

    return p->lanes + lanes * lane_bytes(&p->key);
}

/*
 * An operand in version `v`, packed as `key` says. It is found with its version, or packed now,
 * together with all threads that need it. NULL: no memory.
 */
struct packed *gemm_pack(struct version *v, const struct pack_key *key, struct gemm_pool *pool);

/* Aligned memory from the system; `at` is NULL if there is none. */
struct block {
    void *at;
    size_t nbytes;
};

struct block gemm_block_new(size_t nbytes);

#endif
