/* router_waits.h -- waits of segments in a network of routers, as lists that share their begins. */
#ifndef ROUTER_WAITS_H
#define ROUTER_WAITS_H
#include "explain/spans.h"

#define NO_WAIT UINT32_MAX

/* A wait, and those before it on the same path. */
struct net_wait {
    uint32_t before; /* NO_WAIT: none; of a free row: the next one */
    uint32_t users;  /* paths that end with it, and waits behind it */
    uint8_t cause;
    kb_place place, behind;
    uint32_t behind_id;
    int64_t begin_fs, fs;
};

/* How a segment came to where it is: its waits, the last one first; and what else took time. */
struct net_path {
    uint32_t last;  /* wait */
    int64_t got_fs; /* transfers and services of its transaction, and its waits for engine, memory
                     */
};

struct net_waits {
    struct net_wait *rows; /* owned */
    uint32_t n, free;
};

/* Behind what something waits. */
struct net_other {
    kb_place source;
    uint32_t slot, id;
};

/* `to`, a path or an empty one, becomes as `from`. */
void net_path_copy(struct net_waits *w, struct net_path *to, const struct net_path *from);

/* Empty: no wait, nothing got. */
void net_path_clear(struct net_waits *w, struct net_path *path);

/*
 * Adds a wait from `begin` to `end` behind `mark`, or makes the last one longer if it is for the
 * same; `place` may be set later. False: no memory.
 */
bool net_path_wait(struct net_waits *w, struct net_path *path, uint32_t mark,
                   const struct net_wait *wait);

/* The waits behind `mark` are at `place`. */
void net_path_place(struct net_waits *w, const struct net_path *path, uint32_t mark,
                    kb_place place);

#endif
