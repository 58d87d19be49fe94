/* variants.h -- the machines of --vary: every combination of the values of some keys. */
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

/* All combinations, numbered from 0; the last key turns first. */
struct variants {
    struct varied_key key[VARY_KEYS_MAX];
    size_t n_keys;
    uint64_t n;
};

/* Reads KEY=LIST words. Free with variants_free(), also after a failure; EXIT_USAGE after a
 * message. */
enum exit_code variants_read(struct variants *v, const struct set_list *words, const char *program);
void variants_free(struct variants *v);

/* The word KEY=VALUE of key `k` in variant `i`. */
const char *variants_word(const struct variants *v, uint64_t i, size_t k);

/* "cube.pes=4, sips=2": variant `i` in messages. */
void variants_label(const struct variants *v, uint64_t i, char label[VARY_LABEL_BYTES]);

#endif
