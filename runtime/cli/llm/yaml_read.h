/* yaml_read.h -- a YAML file whose values are read one by one, with the place of each mistake. */
#ifndef YAML_READ_H
#define YAML_READ_H
#include "cli/exit.h"
#include "kernbench.h"
#ifndef KB_NO_YAML
#include "cli/study/study_yaml.h"

struct yaml_read {
    const char *program, *file; /* borrowed */
    yaml_document_t doc;
    size_t n_bad; /* mistakes */
};

/* EXIT_OK, or EXIT_INPUT or EXIT_SYSTEM after a message. Give back with yaml_read_close(). */
enum exit_code yaml_read_open(struct yaml_read *r, const char *program, const char *file);
void yaml_read_close(struct yaml_read *r);

/* A mistake at `at`: "FILE:LINE:COL: ...", of the first 20. */
void yaml_bad(struct yaml_read *r, const yaml_node_t *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* NULL without a message if `map` has no such key, or is no mapping. */
const yaml_node_t *yaml_value(struct yaml_read *r, const yaml_node_t *map, const char *key);

/* The same of a key that must be there; NULL after a message. */
const yaml_node_t *yaml_needed(struct yaml_read *r, const yaml_node_t *map, const char *key);

/* Item `i` of a list, or NULL: there are no more. */
const yaml_node_t *yaml_item(struct yaml_read *r, const yaml_node_t *list, size_t i);

/* Each key must be one of `keys`, which end with NULL, and be there once. */
void yaml_check_keys(struct yaml_read *r, const yaml_node_t *map, const char *const keys[]);

/* The text of a scalar; "" after a message. */
const char *yaml_word(struct yaml_read *r, const yaml_node_t *at);

/* 1 .. 2^40, also with K, M or G behind; 1 after a message. */
int64_t yaml_count(struct yaml_read *r, const yaml_node_t *at);

/* Decimal nanoseconds, up to a second, in fs; 0 after a message. */
int64_t yaml_ns(struct yaml_read *r, const yaml_node_t *at);

/* true or false; false after a message. */
bool yaml_flag(struct yaml_read *r, const yaml_node_t *at);

/* A type; KB_BF16 after a message. */
kb_dtype yaml_dtype(struct yaml_read *r, const yaml_node_t *at);

#endif
#endif
