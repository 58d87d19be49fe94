/* router.h -- what a network of routers keeps: ports, virtual channels, segments, packets under
 * way.
 *
 * A channel leads from one router (or source) to the next (or to a sink):
 * machine/machine_channels.h. Its number is that of its first edge's station. A `port` has both
 * ends of it:
 *
 *     at its begin   the output port: free_fs, and for each VC its owner and the credits, which are
 *                    the room in the buffer at the end
 *     at its end     the input port: servers, and for each VC a buffer, first in, first out
 *
 * A segment is in the buffer of one VC. If it is the first there, it waits for the port behind the
 * router, in that port's list of inputs. A source has one queue per port, of parcels, in order of
 * (ready, id): the next segment of the first is an input, too.
 *
 * A flight is what a transaction has under way: its way (rows of ports), how many segments it has
 * sent, and what has come to its memory. It has the slot of its transaction.
 *
 * Times, not states: nothing changes when a port becomes free, a credit comes back, a segment has
 * passed its overhead. Each of these is known before as a time, and a decision at t compares. So
 * the fused engine has no event of any of them: only one of each grant, network/network_router.c.
 */
#ifndef ROUTER_H
#define ROUTER_H
#include "engine/agenda.h"
#include "engine/split.h"
#include "engine/delivery.h"
#include "engine/state.h"
#include "machine/machine_channels.h"

#define ROUTER_NEVER UINT64_MAX
enum { NO_VC = 255 };
#define NO_INPUT UINT32_MAX
#define NO_NOTE  UINT32_MAX
#define NO_NODE  UINT32_MAX

struct way_row;

/* Part of a packet, in a buffer. */
struct segment {
    uint64_t ready_fs; /* when it may leave */
    const struct way_row
        *row;        /* of its way: the channel by which it has come; row[1] is the next */
    uint32_t slot;   /* of its transaction */
    uint32_t number; /* of those of its direction */
    uint32_t nbytes;
    uint8_t begins, ends; /* a packet */
};

/* Bytes that a credit gives back at a time to come. */
struct credit {
    uint64_t at_fs;
    uint64_t nbytes;
};

/* One VC of a channel: owner and credits at its begin, the buffer at its end. */
struct vc {
    uint64_t owned_until; /* ROUTER_NEVER: its owner's last segment has not gone yet */
    int64_t credits;      /* bytes */
    struct credit *due;   /* owned; credits to come, in order of time: a ring of due_room */
    struct segment *rows; /* owned; a ring of `room` */
    uint32_t due_first, n_due, due_room;
    uint32_t first, n, room;
    uint32_t run;     /* of those, at the front, that leave by the same port */
    uint32_t port;    /* whose VC it is */
    uint64_t from_fs; /* the first may leave from then on */
    uint32_t next;    /* in the list of inputs of a port: INPUT numbers */
    uint32_t parcel;  /* at an m_cpu, or a memory with a limit: of the packet that comes */
    int64_t node_fs; /* what a component there takes for the packet that comes, less its overhead */
    bool node_never; /* it never lets it go on */
    uint8_t out_vc;  /* that the packet of the first owns at its port; NO_VC: none yet */
};

enum { MAX_SPEEDUP = 4 };

struct out_port {
    uint64_t free_fs;
    uint64_t asked_fs;               /* it decides then; ROUTER_NEVER: not at all */
    uint64_t server_fs[MAX_SPEEDUP]; /* at its end */
    int64_t wire_fs;
    uint64_t order;          /* among all ports, of decisions of one instant */
    uint32_t coming;         /* segments in buffers that will leave by it */
    uint32_t held;           /* segments in the buffers at its end */
    uint32_t inputs;         /* that wait for it: the first; NO_INPUT */
    uint32_t source_last;    /* of that queue */
    uint32_t source;         /* parcels that begin here, in order: the first; NO_PARCEL */
    uint32_t link;           /* the station that stands for it: channel_row.port */
    uint32_t end_edge;       /* the station of the last edge of its channel */
    uint32_t end_node;       /* the node at its end: walk_node() */
    uint32_t rank;           /* at the node at its end, of round robin */
    uint32_t last;           /* round robin: turn_of() what went last, plus 1 */
    uint64_t source_from_fs; /* the next of its source may leave from then on */
    uint8_t source_vc;       /* that the packet in work owns */
    bool known;              /* the constants are set */
    bool begins, is_end;     /* ways may begin there; none goes on there, but to a TCM */
    bool endless;            /* at its end is no buffer that could be full */
    bool starved;            /* an input waits for a credit that is not on its way */
    uint64_t busy_fs;
    uint64_t lead_fs; /* what is granted its way to here is ready later than so long after that */
    double gbs;
};

/* A segment that goes by a port, as observers hear of it. */
struct router_grant {
    uint32_t port, input; /* where it was; NO_INPUT: at the port's source */
    uint32_t slot, number, hop;
    uint8_t vc;
    uint64_t taken_fs; /* for which it has port and input server */
};

/* A port on the way of a flight. */
struct way_row {
    uint32_t port;
    uint8_t vc, n_vcs; /* a packet may own these */
    uint8_t end;       /* enum channel_end */
    bool endless;      /* nothing is counted there: an answer is taken at its end as it comes */
    int64_t ready_fs;  /* from arrival to readiness at its end, of the first segment of a packet, */
    int64_t next_fs;   /* and of those behind it */
    double gbs;        /* of port and input server: the narrower of both edges */
    uint64_t
        segment_fs; /* that a whole segment takes of them, if all take the same; 0: they do not */
};

/* A way in one direction, shared by all flights that go it. */
struct way {
    uint32_t users; /* the cache is one */
    uint32_t src, dst;
    uint32_t key;
    uint64_t turn; /* which lanes */
    uint32_t n, n_to_m_cpu;
    int64_t source_fs; /* of the node where it begins */
    uint32_t source;   /* that node, if it is a component; else NO_NODE */
    double gbs;        /* the narrowest */
    int64_t extra_fs;  /* of channels without a wire: 1 fs each */
    int64_t return_fs; /* of an answer: without what the ends cost */
    int64_t
        delay_fs[2];    /* of a request that takes no link: to the m_cpu or the memory; behind it */
    int64_t *overheads; /* [n], behind the rows: of the nodes at the ends; NULL: no component */
    struct way_row rows[];
};

/*
 * What waits at a source: all segments of a transaction, or at an m_cpu those of one packet, which
 * come one after the other.
 */
struct parcel {
    uint64_t ready_fs; /* of the first: its place in the queue */
    uint64_t hold_fs;  /* memory: for how long its packet keeps others away ... */
    double gbs;        /* ... of which its last bytes take so much of it */
    uint64_t nbytes;   /* memory: of all that its transaction sends there */
    uint64_t *rows;    /* owned; m_cpu: when each segment is ready; memory: when its tail is in */
    uint32_t next;     /* in the queue of a source, or of a flight that has no engine yet */
    uint32_t slot;     /* of its transaction */
    uint32_t hop;      /* the row of its way where it begins */
    uint32_t first;    /* number of its first segment */
    uint32_t sent;     /* gone */
    uint32_t n, in;    /* of all; those that have come */
    uint32_t room;     /* of rows */
    bool gated;        /* at an m_cpu: each segment has a time of its own */
};

/* A packet that comes to a memory. */
struct arrival {
    uint64_t at_fs;  /* its first segment is there */
    uint32_t next;   /* of the same flight */
    uint32_t packet; /* its number */
    uint32_t parcel; /* what is in of it, where a memory has room for so much; NO_PARCEL */
};

struct flight {
    struct way *way;
    uint64_t nbytes;   /* of its direction */
    uint64_t first_fs; /* arrival of its first segment at the end */
    uint64_t tail_fs;  /* the last tail there */
    uint64_t done_fs;
    uint64_t least_fs; /* it ends then, as far as its parts are known; ROUTER_NEVER: not at all; */
    int64_t behind_fs; /* a write not before so long behind its last tail */
    int64_t extra_fs, return_fs;     /* terms of its result */
    uint32_t n, in;                  /* segments: of all; in at the end */
    uint32_t packets_left;           /* whose end is not known */
    uint32_t arrivals, last_arrival; /* packets on their last channel, in order */
    uint32_t heads;                  /* notes: of packets that come to components */
    uint32_t held, last_held;        /* parcels at an m_cpu whose engine it has not got */
    uint8_t answers;                 /* its segments are an answer */
    uint8_t has_engine;
    uint8_t told_engine; /* its event at the engine is posted */
};

/* What happens at an event of class 1, which hop has, and components: NOTE_ARRIVE, NOTE_HEAD. */
enum note_kind { NOTE_ASK, NOTE_SERVER, NOTE_ARRIVE, NOTE_HEAD };

struct note {
    uint32_t next; /* of free ones */
    uint32_t port;
    uint8_t kind, vc;
    uint64_t at_fs;
    struct segment segment; /* that arrives */
};

enum { WAYS = 4096 }; /* ways that are remembered; a power of two */

struct router_tally;

struct router {
    struct out_port *ports; /* owned; [n_ports]: router_port() */
    uint32_t *more_lanes; /* owned; [station]: lanes but the first of those before it; NULL: none */
    struct vc *vcs;       /* owned; [port][vc] */
    struct flight *flights; /* owned; [slot] */
    uint64_t *sinks;        /* owned; [dst_pack()]: when a memory is free, but of a TCM */
    struct parcel *parcels; /* owned; pools */
    struct arrival *arrivals;
    struct note *notes; /* of the hop engine */
    struct way **ways;  /* owned; [WAYS] */
    struct channels scratch;
    struct agenda agenda;
    struct router_tally *tally; /* owned; NULL: buffers are not counted */
    uint64_t until_fs;          /* router_run_until(): up to there */
    bool has_trains;            /* of this run: network/router_train.h */
    bool has_wakes;             /* hop runs: an event in its queue stands for the agenda ... */
    uint64_t wake_fs;           /* ... then; ROUTER_NEVER: there is none */
    int how;                    /* of the run: engine/how.h */
    /* Of the topology. */
    size_t n_links, n_ports;
    uint64_t turns; /* a multiple of all numbers of lanes */
    uint32_t n_vcs, segment_bytes, packet_segments, speedup;
    int64_t alloc_fs; /* of its readiness a router spends so much to give a packet its VC */
    bool by_turns;    /* arbiter: rr */
    bool paced;       /* the width of the agenda follows from a way */
    uint32_t n_flights;
    uint32_t n_parcels, free_parcel;
    uint32_t n_arrivals, free_arrival;
    uint32_t n_notes, free_note;
};

/* Lanes of the link of a station. */
static inline uint32_t router_lanes(const struct router *r, size_t station)
{
    return r->more_lanes ? r->more_lanes[station + 1] - r->more_lanes[station] + 1 : 1;
}

/* The port of a lane of it: of the first lane the station's number, others behind all stations. */
static inline uint32_t router_port(const struct router *r, size_t station, uint32_t lane)
{
    return lane ? (uint32_t)r->n_links + r->more_lanes[station] + lane - 1 : (uint32_t)station;
}

/* Bytes of credits that have come back by `t`. */
static inline int64_t vc_room_by(const struct vc *vc, uint64_t t)
{
    int64_t room = vc->credits;

    for (uint32_t i = 0; i < vc->n_due; i++) {
        const struct credit *due = &vc->due[(vc->due_first + i) & (vc->due_room - 1)];

        room += due->at_fs <= t ? (int64_t)due->nbytes : 0;
    }
    return room;
}

bool router_new(struct kb_sim *s);
uint64_t router_bytes(const struct kb_topology *t); /* that it takes */
void router_free(struct kb_sim *s);

/* Idle again. */
void router_clear(struct kb_sim *s);

/* Rows of flights for `n` transactions. */
bool router_room(struct kb_sim *s, uint32_t n);

/* The way of the transaction in `slot`; NULL: no memory. */
struct way *router_way(struct kb_sim *s, uint32_t slot, bool answers);
void router_leave_way(struct way *way);

/* Twice the room. False: no memory. */
bool vc_room(struct vc *vc);
bool vc_due_room(struct vc *vc);

/* A row of a pool; NO_PARCEL, NO_NOTE: no memory. */
uint32_t router_new_parcel(struct router *r);
bool parcel_room(struct parcel *p);
uint32_t router_new_arrival(struct router *r);
uint32_t router_new_note(struct router *r);

/* The narrowest edge of the way of the transaction in `slot`. */
static inline double way_gbs(const struct kb_sim *s, uint32_t slot)
{
    return s->router->flights[slot].way->gbs;
}

/* How long it drains. */
static inline int64_t way_drain_fs(const struct kb_sim *s, uint32_t slot)
{
    return split_drain(s, slot, drain_fs(s->txns[slot].nbytes, way_gbs(s, slot)));
}

#endif
