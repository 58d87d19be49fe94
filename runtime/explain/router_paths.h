/* router_paths.h -- what transactions wait for in a network of routers. */
#ifndef ROUTER_PATHS_H
#define ROUTER_PATHS_H
#include "engine/router.h"
#include "explain/router_waits.h"

/* A segment on its way: until `since_fs` its path says all. */
struct net_segment {
    struct net_path path;
    uint64_t since_fs; /* from then on it waits for what follows, or is to be ready there */
    uint32_t mark;     /* waits behind it are at the port where it is now */
    uint8_t waits;     /* it has been seen at that port */
    uint8_t blocked;   /* 0: not; else KB_CAUSE_ROUTER_WAIT or KB_CAUSE_CREDIT_WAIT */
    struct net_other behind;
};

/* What a transaction has under way. It has the slot of its transaction. */
struct net_flight {
    struct net_segment *segments; /* owned; [number] of the direction in work */
    uint32_t n, room;
    struct net_path base;          /* of what begins: an answer's is that of its read */
    struct net_path tail;          /* the segment whose tail was in last */
    struct net_path first, served; /* segment 0 at its end; the packet that was served last */
    uint64_t tail_fs, served_fs;
    struct net_other at_memory; /* ahead of its first packet */
};

/* What went last: from a port, from a buffer, into a VC, through an input server, to a memory. */
struct net_last {
    struct net_other other;
    struct net_path path; /* of a port and of a memory: when it went, when it was served */
    int64_t taken_fs;     /* of a port */
    uint32_t number;      /* segment, of a port; packet, of a memory */
};

struct net {
    struct net_waits waits;
    struct net_flight *flights; /* owned; [slot] */
    uint32_t n_flights;
    struct net_last *ports;  /* owned; [port]: what it has let go last */
    struct net_last *vcs;    /* owned; [port][vc]: what has gone into it last */
    struct net_last *left;   /* owned; [port][vc]: what has left the buffer at its end last */
    struct net_last *inputs; /* owned; [port]: what has taken a server at its end last */
    struct net_last *sinks;  /* owned; [memory][port] */
};

struct net *net_new(const struct kb_sim *s); /* NULL: no memory */
void net_free(struct net *net);

/* As engine/observer.h has them. */
void net_grant(struct kb_sim *s, uint64_t t, const struct router_grant *grant);
void net_decide(struct kb_sim *s, uint64_t t, uint32_t port);
void net_serve(struct kb_sim *s, uint64_t t, uint64_t start, uint32_t slot, uint32_t packet);

/* A transaction begins in `slot`. False: no memory. */
bool net_begin(struct kb_sim *s, uint32_t slot);

/* A stage inside a PE takes a port of a TCM from `start` on; what it waits behind if it does. */
struct net_other net_take_port(struct kb_sim *s, uint32_t slot, uint32_t dst, bool writes);

/* router_pieces.c: it is done at `t`: tells the pieces of its way. */
void net_leave(struct kb_sim *s, uint64_t t, uint32_t slot, kb_place memory);

#endif
