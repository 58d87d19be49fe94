/* net_load.h -- `links` and `sip.net`, read and printed. */
#ifndef NET_LOAD_H
#define NET_LOAD_H
#include "doc.h"
#include "spec.h"

/* Reads `node` into the field of `k`, a LINKS or a NET; false after messages. */
bool net_load(struct spec *spec, enum key k, const struct doc *doc, const yaml_node_t *node);

#endif
