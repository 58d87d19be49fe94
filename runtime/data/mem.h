/* mem.h -- the MemoryStore: immutable versions of bytes, and which of them is at which address. */
#ifndef MEM_H
#define MEM_H
#include "kernbench.h"

/*
 * Writes and reads copy no bytes: an address names a part of a version, and a version never
 * changes. So a reader keeps what it saw, whatever is written later. A version is bytes, or the
 * result of an operation, whose bytes are computed in Phase 2, or pieces of other versions, or a
 * part of a fill, whose bytes are made when they are first needed; mem.c has an example. To own a
 * version is to have a reference, which is given back by version_drop().
 */
enum version_kind { VERSION_BYTES, VERSION_RESULT, VERSION_PIECES, VERSION_FILL };

/* What makes the bytes of several versions. */
struct version_fill {
    bool (*make)(struct version_fill *self); /* version_set_bytes() of all; false: no memory */
    void (*forget)(struct version_fill *self, uint32_t number); /* this version is no more */
};

/* The head of data that are kept with a version. */
struct version_packed {
    void (*free)(struct version_packed *self);
};

struct version {
    uint32_t refs; /* not atomic: one thread at a time changes it */
    uint8_t kind;
    bool ready;  /* its bytes are known; for pieces ask version_ready() */
    uint32_t op; /* VERSION_RESULT: the op_id that makes it */
    union {
        uint32_t n_pieces;
        uint32_t number; /* VERSION_FILL: which of its versions this is */
    };
    uint64_t nbytes;      /* > 0 */
    unsigned char *bytes; /* owned; NULL: not yet computed, gathered, or made */
    union {
        struct piece *pieces;      /* owned; VERSION_PIECES */
        struct version_fill *fill; /* VERSION_FILL */
    };
    struct version_packed *packed; /* owned: operands packed by gemm_pack.c */
    struct shared *shared;         /* VERSION_PIECES: where readers of the same find it, or NULL */
};

/* A part of a version. */
struct view {
    struct version *v; /* NULL: none */
    uint64_t offset;
};

struct piece {
    struct view part; /* owned; never of pieces itself */
    uint64_t nbytes;
    uint64_t at; /* where it begins in the whole */
};

/* All return NULL without memory; else the caller owns the version. */
struct version *version_new_bytes(uint64_t nbytes); /* not initialised */
struct version *version_new_fill(uint64_t nbytes, struct version_fill *fill, uint32_t number);
struct version *version_new_result(uint64_t nbytes, uint32_t op);

static inline struct version *version_keep(struct version *v)
{
    v->refs++;
    return v;
}

void version_end(struct version *v); /* its last reference was given back */

static inline void version_drop(struct version *v) /* NULL: nothing */
{
    if (v && --v->refs == 0)
        version_end(v);
}

/* Are its bytes known? Those of a result are after Phase 2, those of pieces if all of them are. */
bool version_ready(struct version *v);

/* Gives a result or a part of a fill its bytes: takes `bytes` (malloc), of v->nbytes. */
void version_set_bytes(struct version *v, unsigned char *bytes);

/* The bytes of a ready version; pieces are gathered, and fills made, at the first call. NULL
 * without memory. Two threads must not call it for the same version, or two of one fill, at once.
 */
const unsigned char *version_bytes(struct version *v);

/* -- writers -------------------------------------------------------------------------------- */

enum { OP_NONE = UINT32_MAX }; /* written by the host */

/* A set of op_ids, ascending. All zero is empty. */
struct op_ids {
    uint32_t n, cap;
    uint32_t *ids; /* owned once it does not fit into `few` */
    uint32_t few[6];
};

bool op_ids_add(struct op_ids *set, uint32_t id); /* OP_NONE adds nothing; false: no memory */
void op_ids_clear(struct op_ids *set);            /* frees its memory */

static inline const uint32_t *op_ids_list(const struct op_ids *set)
{
    return set->ids ? set->ids : set->few;
}

/* -- memories ------------------------------------------------------------------------------- */

enum mem_err {
    MEM_OK,
    MEM_ABSENT, /* bytes never written */
    MEM_NO_MEMORY,
};

/* All memories of a machine: areas 0..n-1, then spaces by name. */
struct mem;

struct mem *mem_new(uint32_t n_areas); /* NULL: no memory */
void mem_free(struct mem *m);

/*
 * From now on nothing is kept: each read finds the same pending version, of any size, that no
 * operation writes, and no byte is absent. For runs of which only times are asked. False: no
 * memory.
 */
bool mem_forget(struct mem *m);

/* The area of the space called `name`, made if there is none; UINT32_MAX: no memory. */
uint32_t mem_space(struct mem *m, const char *name);

/* Elements of `elem_bytes` at byte distances of stride[] along each axis, in row-major order. */
struct strided {
    uint32_t rank;
    uint32_t elem_bytes;
    int64_t dim[KB_RANK_MAX], stride[KB_RANK_MAX];
};

/*
 * [address, address + nbytes) of an area becomes that part of `from`, written by op `writer`; the
 * rest of what it overlaps stays with its old version. Takes a reference of its own.
 */
enum mem_err mem_write(struct mem *m, uint32_t area, uint64_t address, uint64_t nbytes,
                       struct view from, uint32_t writer);

/*
 * Makes room for one write that begins at `address`: if that is the next write of the area, it
 * needs no memory and cannot fail. For callers that must write several areas, or none.
 */
enum mem_err mem_reserve(struct mem *m, uint32_t area, uint64_t address);

/*
 * The content of [address, address + nbytes): a part of one version, or a new version of pieces.
 *
 * out      owned
 * writers  the ops that wrote it are added, some of them also after a failure; may be NULL
 * absent   MEM_ABSENT: the first and the end of the first range never written; may be NULL
 */
enum mem_err mem_read(struct mem *m, uint32_t area, uint64_t address, uint64_t nbytes,
                      struct view *out, struct op_ids *writers, uint64_t absent[2]);

/*
 * The same for a reader that mostly reads the same bytes again. If the area has not changed since,
 * they are where they were. All zero: it has read nothing yet.
 */
struct mem_again {
    uint64_t address, nbytes, changes; /* `changes` of the area, then */
    struct view view;                  /* borrowed from the area */
    uint32_t area, writer;
};

enum mem_err mem_read_again(struct mem *m, uint32_t area, uint64_t address, uint64_t nbytes,
                            struct mem_again *again, struct view *out, struct op_ids *writers,
                            uint64_t absent[2]);

/*
 * The same for elements that do not lie side by side; the view is contiguous. A write that ends
 * with MEM_NO_MEMORY may have written some of them.
 */
enum mem_err mem_write_strided(struct mem *m, uint32_t area, uint64_t address,
                               const struct strided *s, struct view from, uint32_t writer);
enum mem_err mem_read_strided(struct mem *m, uint32_t area, uint64_t address,
                              const struct strided *s, struct view *out, struct op_ids *writers,
                              uint64_t absent[2]);

/* The elements of `of` that lie so, from its offset on, as a view: nothing is copied. */
enum mem_err mem_view_strided(struct mem *m, struct view of, const struct strided *s,
                              struct view *out);

struct run; /* machine/tile.h */

/* The same of a list of runs, each with its area; `*area` is that of absent bytes. */
enum mem_err mem_write_list(struct mem *m, const struct run *runs, uint32_t n, struct view from,
                            uint32_t writer);
enum mem_err mem_read_list(struct mem *m, const struct run *runs, uint32_t n, struct view *out,
                           struct op_ids *writers, uint32_t *area, uint64_t absent[2]);

/* Makes an area empty. */
void mem_clear(struct mem *m, uint32_t area);

#endif
