/* net_load.h -- `links` and `sip.net`, read and printed. */
#ifndef NET_LOAD_H
#define NET_LOAD_H
#include "doc.h"
#include "spec.h"

/* Reads `node` into the field of `k`, a LINKS or a NET; false after messages. */
bool net_load(struct spec *spec, enum key k, const struct doc *doc, const yaml_node_t *node);

/* A number of a kind of links: its name, where it is, and a key of keys.def with its type and
 * range. */
struct link_key {
    const char *name;
    size_t offset;
    enum key like;
};

extern const struct link_key link_keys[N_LINK_KEYS];
void *link_field(const struct link_spec *link, size_t key);

/* Reads the value in `doc` as that number of a kind of links; false after a message. */
bool net_set_link(struct spec *spec, size_t link, size_t key, const struct doc *doc);

/* Prints `links` again, after their numbers have changed. */
void net_say_links(struct spec *spec);

#endif
