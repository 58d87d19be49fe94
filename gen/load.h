/* load.h -- a topology YAML and the --set options into a spec, every mistake named. */
#ifndef LOAD_H
#define LOAD_H
#include "doc.h"
#include "spec.h"

enum { FILE_BYTES_MAX = 1 << 20 };

/* Read the file at `path` (borrowed for the life of the spec). False after messages. */
bool load_file(struct spec *spec, const char *path);

/* The same for a text in memory; `name` stands for the file in messages. */
bool load_text(struct spec *spec, const char *name, const char *text, size_t len);

/* Closes what was open when memory lacked: load_file() and the others do so themselves. */
void load_close(struct spec *spec);

/* Read the mapping `node` as the first `depth` words of `first`, which stand for it. */
void load_mapping(struct spec *spec, enum key first, int depth, const struct doc *doc,
                  const yaml_node_t *node);

/* Override one key by "KEY=VALUE", VALUE being YAML, which stands at `at`. False after a message.
 */
bool load_set(struct spec *spec, struct place at, const char *assignment);

/* The `len` bytes of the file whole.name, the arena's. NULL after a message. */
const char *load_read(struct spec *spec, struct place whole, size_t *len);

#endif
