/* variants.h -- machines, and arguments of a bench, by the values of some keys: all combinations,
 * or points among them. */
#ifndef VARIANTS_H
#define VARIANTS_H
#include "cli/options/opts.h"

enum {
    VARY_KEYS_MAX = 16,
    VARY_VALUES_MAX = 1000000, /* of a key */
    VARIANTS_MAX = 100000000,
    VARY_LABEL_BYTES = 512
};

/* One key, and the values that it takes. */
struct varied_key {
    char *path;   /* owned */
    char **words; /* owned, the strings too: KEY=VALUE as --set takes it */
    size_t n, room;
    size_t value_at; /* of each word */
    bool numbers;    /* all values are numbers, as JSON has them */
};

/* Which of all combinations there are. */
enum points_kind {
    POINTS_GRID,   /* all; the last key turns first */
    POINTS_RANDOM, /* so many, each drawn by itself; some may be drawn twice */
    POINTS_SOBOL,  /* so many, spread evenly: see sobol.h */
    POINTS_LIST,   /* those of `list` */
};

/* They are numbered from 0. */
struct variants {
    struct varied_key key[VARY_KEYS_MAX];
    size_t n_keys;
    uint64_t n_grid; /* all combinations */
    enum points_kind kind;
    uint64_t n, seed;
    uint64_t *list; /* owned: combinations */
};

/* Adds the values of `list`, as --vary has them, to a key with a path. False after bad(), which is
 * told "'ITEM' is ...". */
bool variants_add(struct varied_key *key, const char *list,
                  void (*bad)(void *arg, const char *text), void *arg);

/* Reads KEY=LIST words. Free with variants_free(), also after a failure; EXIT_USAGE after a
 * message. */
enum exit_code variants_read(struct variants *v, const struct set_list *words, const char *program);
void variants_free(struct variants *v);

/* The combination that variant `i` is. */
uint64_t variants_combination(const struct variants *v, uint64_t i);

/* The number of the value that key `k` has in combination `c`. */
uint64_t variants_level(const struct variants *v, uint64_t c, size_t k);

/* The word KEY=VALUE of key `k` in variant `i`. */
const char *variants_word(const struct variants *v, uint64_t i, size_t k);

/* "M" of "arg.M", an argument of a bench; NULL: `path` is a key of the machine. */
const char *variants_argument(const char *path);

/* "cube.pes=4, sips=2": variant `i` in messages. */
void variants_label(const struct variants *v, uint64_t i, char label[VARY_LABEL_BYTES]);

#endif
