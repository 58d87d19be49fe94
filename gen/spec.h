/* spec.h -- one topology as its YAML gives it: the value of every key, and where it was written. */
#ifndef SPEC_H
#define SPEC_H
#include "arena.h"
#include "diag.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum key {
#define KEY(type, field, path, default, min, max) KEY_##field,
#include "keys.def"
    N_KEYS
};

enum key_type {
    KEY_INT,
    KEY_REAL,
    KEY_RATIO,
    KEY_RATE,
    KEY_NAME,
    KEY_REAL2,
    KEY_INT2,
    KEY_INT3,
    KEY_WORD,
    KEY_PLANES,
    KEY_SIDES,
    KEY_TEXTS,
    KEY_FIELDS,
    KEY_HOLES,
    KEY_OVERRIDES,
    KEY_IMPL,
    KEY_SLICES,
    KEY_LINKS,
    KEY_NET
};

/* Those that are not read as lists: gen/lists.c. For switches, which have no default, so that the
 * compiler names each one that forgets a type. */
/* clang-format off */
#define CASES_NUMBER    case KEY_INT: case KEY_REAL: case KEY_RATIO: case KEY_RATE
#define CASES_OTHER_KEY case KEY_NAME: case KEY_REAL2: case KEY_INT2: case KEY_INT3: case KEY_FIELDS: case KEY_IMPL: case KEY_SLICES
#define CASES_MAPPING   case KEY_OVERRIDES: case KEY_LINKS: case KEY_NET
/* clang-format on */

enum { KEY_DEPTH = 5 }; /* words of the longest path */

/* One row of keys.def. */
struct key_row {
    const char *path;
    enum key_type type;
    bool needed;
    bool is_new; /* came with version 2: not in the resolved text while it is at its default */
    double min, max;
    const char *const *words; /* of a KEY_WORD, ended by NULL; else NULL */
    size_t field, bytes;      /* offset in struct spec, and its size */
};

/* Where the user wrote one key or mapping. All zero: nowhere. */
struct given {
    struct place key; /* the key */
    struct place at;  /* its value */
    bool bad;         /* a message has been printed; the field has its default */
};

enum { PLANES_MAX = 8, SIDES_MAX = 4 };

/* Parts of an address within a slice with banks: the words of cube.hbm.map. */
enum address_field { IN_ROW, IN_BANK, IN_COLUMN, IN_GROUP, IN_CHANNEL, IN_RANK, ADDRESS_FIELDS };

/* Part `i` of an order, the most significant first: it has a hexadecimal digit for each. */
static inline enum address_field fields_at(uint32_t order, int i)
{
    return (enum address_field)(order >> 4 * (ADDRESS_FIELDS - 1 - i) & 0xf);
}

/* One item of sip.planes. */
struct plane_spec {
    const char *name;
    struct place at;
    uint8_t dirs; /* a bit for each enum side */
    bool y_first;
    double bw_gbs; /* 0: as without planes */
};

struct plane_specs {
    size_t n;
    struct plane_spec rows[PLANES_MAX];
};

/* Sides of a SIP, each enum side once; none: the west. */
struct side_specs {
    size_t n;
    uint8_t rows[SIDES_MAX];
};

/* Names as they were written, which check.c and the like take apart. */
struct text_spec {
    const char *text;
    struct place at;
};

struct text_specs {
    size_t n;
    struct text_spec *rows;
};

/* Places of the mesh of a NoC that have no router. */
struct hole_spec {
    int64_t col, row;
    struct place at;
};

struct hole_specs {
    size_t n;
    struct hole_spec *rows;
};

/* A kind of links: a row of `links`. */
enum { N_LINK_KEYS = 5 };

struct link_spec {
    const char *name;
    struct place at;
    double bw_gbs, latency_ns, distance_mm;
    double overhead_ns; /* of each of its two ports; below 0: cube.ucie.overhead_ns */
    int64_t lanes;
    size_t n_given;
    uint8_t given[N_LINK_KEYS]; /* rows of link_keys (net_load.h), in the order of the file */
};

struct link_specs {
    size_t n;
    struct link_spec *rows;
    const char *text; /* of all, as YAML in flow style; NULL: there are none */
};

/* One item of a net: net.h */
enum net_shape { NET_MESH, NET_TORUS, NET_ALL, NET_EACH, NET_DRAGONFLY, NET_LIST, NET_SHAPES };
enum { NET_DIMS_MAX = 8, NET_LINKS_MAX = 64 };

struct net_item {
    enum net_shape shape;
    struct place at;
    size_t n_dims, n_links;
    int64_t dims[NET_DIMS_MAX];
    struct text_spec of[2];               /* cubes; of `each` both sets; text NULL: all */
    struct text_spec links[NET_DIMS_MAX]; /* names of kinds: one, or one for each dimension */
    struct text_spec wrap;                /* of the closing links; text NULL: as the others */
    struct text_specs list;
    int64_t groups;
};

struct net_specs {
    size_t n;
    struct net_item *rows;
    const char *text; /* as LINKS */
};

/* A value for a key of a component, as it was written. The component's file says which it has. */
struct param_spec {
    enum key impl;         /* of the mapping around: KEY_cube_hbm_impl */
    const char *component; /* the mapping that has it */
    const char *key, *text;
    bool plain; /* a scalar without quotes */
    struct place key_at, at;
};

struct param_specs {
    size_t n, room;
    struct param_spec *rows;
};

/* Keys that some cubes have for themselves. */
struct override_value {
    enum key key;
    struct given given;
    void *value; /* as in the field of the key */
};

struct override_spec {
    const char *text; /* which cubes */
    struct place at;
    size_t n;
    struct override_value *values;
    struct param_specs params; /* for its components */
    struct text_spec kind;     /* of `kinds`; text NULL: none is named */
    const char *keys;          /* as YAML */
};

struct override_specs {
    size_t n;
    struct override_spec *rows;
    const char *text; /* of all, as YAML in flow style; NULL: there are none */
};

/* What an `impl` key says. */
struct impl_spec {
    const char *name; /* NULL: builtin */
    bool front;       /* a list: what is built in stands behind it */
};

struct part; /* components.h */

#define FIELD_INT(field)       int64_t field;
#define FIELD_REAL(field)      double field;
#define FIELD_RATIO(field)     double field;
#define FIELD_RATE(field)      double field;
#define FIELD_NAME(field)      char *field;
#define FIELD_REAL2(field)     double field[2];
#define FIELD_INT2(field)      int64_t field[2];
#define FIELD_INT3(field)      int64_t field[3];
#define FIELD_WORD(field)      int field; /* the number of its word */
#define FIELD_PLANES(field)    struct plane_specs field;
#define FIELD_SIDES(field)     struct side_specs field;
#define FIELD_TEXTS(field)     struct text_specs field;
#define FIELD_FIELDS(field)    uint32_t field; /* fields_at() */
#define FIELD_HOLES(field)     struct hole_specs field;
#define FIELD_OVERRIDES(field) struct override_specs field;
#define FIELD_IMPL(field)      struct impl_spec field;
#define FIELD_SLICES(field)    int64_t field;
#define FIELD_LINKS(field)     struct link_specs field;
#define FIELD_NET(field)       struct net_specs field;

enum { SLICES_AS_PES = -1 };
enum transit { TRANSIT_ALL, TRANSIT_NONE };

struct doc;

struct spec {
#define KEY(type, field, path, default, min, max) FIELD_##type(field)
#include "keys.def"
    /*
     * given[k][d] is what was written at the first d words of the path of key k; d = 0 is the whole
     * file. That of a mapping is at its first key only.
     */
    struct given given[N_KEYS][KEY_DEPTH + 1];
    /* The text of each value that was not set since: resolve_keep_texts(). NULL: not made. Borrowed
     */
    const char *texts[N_KEYS];
    const char *folder;         /* where the file lies; NULL: it is a text */
    struct param_specs params;  /* for components */
    struct text_spec *row_kind; /* where `kind` of a row of `cubes` goes; NULL: it is no row */
    const struct component *route_file; /* the table of `sip.routes`; NULL: there is none */
    const struct part *parts;           /* the components that were found: components.h */
    struct arena *arena;                /* borrowed */
    struct diag *diag;                  /* borrowed */
    struct doc *doc;                    /* open while it is read; doc.h */
    FILE *file;                         /* the same */
    bool unreadable;                    /* it could not be opened or read */
};

extern const struct key_row key_rows[N_KEYS];

/*
 * Sets every key to its default of version 1. Borrows `arena` and `diag` for the life of the spec.
 */
void spec_init(struct spec *spec, struct arena *arena, struct diag *diag);

/* The version of the keys is known: sets all that were not given to its defaults. */
void spec_set_version(struct spec *spec, int64_t version);

/* The default of `k` in the file's version, or that of its preset. */
const void *spec_default(const struct spec *spec, enum key k);

/* Whether `k` has the default of the file's version, byte for byte: a list may also read the same.
 */
bool spec_is_default(const struct spec *spec, enum key k);

/* Gives `k` its default, if it was not written. */
void spec_take_default(struct spec *spec, enum key k);

/* As if `k` had not been written. */
void spec_forget(struct spec *spec, enum key k);

/* A copy of `base`, whose memory must outlive it, to be changed. */
void spec_copy(struct spec *spec, const struct spec *base, struct arena *arena, struct diag *diag);

/* Gives it the values of a row of `cubes`, and where they were written. */
void spec_override(struct spec *spec, const struct override_spec *o);

/* Where the value of `k` was written; for a default, the mapping of the file that lacks it. */
struct place spec_place(const struct spec *spec, enum key k);

/* The field of `k`; its type is that of key_rows[k].type. */
void *spec_field(struct spec *spec, enum key k);
const void *spec_value(const struct spec *spec, enum key k);

/* Words in the path of `k`: 1 to KEY_DEPTH. */
int key_depth(enum key k);

/* Length of the first `depth` words of the path of `k`. */
size_t key_prefix(enum key k, int depth);

/* Word number `depth`, from 0, of the path of `k`: not ended by 0, its length in `len`. */
const char *key_word(enum key k, int depth, size_t *len);

/* Whether the first `depth` words of both paths are the same words. */
bool key_shares(enum key a, enum key b, int depth);

/* The first key that shares its first `depth` words with `k`: it stands for their mapping. */
enum key key_first(enum key k, int depth);

#endif
