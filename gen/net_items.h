/* net_items.h -- the links that the items of sip.net and fabric.net give, in the order of their
 * numbers. */
#ifndef NET_ITEMS_H
#define NET_ITEMS_H
#include "net.h"
#include "pattern.h"

enum { NET_CUBES_MAX = 16384 };

/* An end of a link: where it stands among the ports of its cube. */
struct net_end {
    uint32_t cube, item, order, link, side;
    uint32_t ring; /* of a torus: dimension + 1 */
    bool second, closes;
};

struct making {
    const struct spec *spec;
    struct net *net;
    struct net_end *ends;
    size_t n_ends, ends_cap;
    const struct link_spec **kinds; /* [link] */
    bool *one_way;                  /* [link] */
    uint32_t item;
    enum key key;             /* whose items are made: sip.net or fabric.net */
    struct pattern_room room; /* the cubes that they may name */
};

/* Cubes that are named, in that order, counted from the first that may be. */
struct cube_set {
    uint32_t n, *cubes;
};

/* Adds the links of all items of `key`. False after messages. */
bool making_add_items(struct making *m, enum key key, const struct net_specs *items);

/* Room for an end of a link; the link is the second of two calls. */
struct net_end *making_new_end(struct making *m);

/* The ends and links are needed no more. */
void making_drop(struct making *m);

/* The cubes of a pattern in its order; false after a message. */
bool making_find_set(const struct making *m, const struct text_spec *text, struct place at,
                     struct cube_set *out);

/* Cubes and switches that items may name. */
uint32_t making_room(const struct making *m);

/* "c3", "s1.c3", "sw2" */
const char *making_cube_text(const struct making *m, uint32_t cube);

/* "'sip.net': TEXT" */
bool making_wrong(const struct making *m, struct place at, const char *text);

#endif
