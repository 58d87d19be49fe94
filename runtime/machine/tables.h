/* tables.h -- the rows of the generated tables, for the generator and the library alike. */
#ifndef TABLES_H
#define TABLES_H
#include "base/exported.h"
#include "kernbench.h"
#include "machine/impl.h"
#include "machine/models.def"

/*
 * A cube is described once and used for all: its tables are relative to the cube. A route is a
 * row of segments, each from where a request enters a cube (or leaves its source) to where it
 * leaves it. A segment is a row of hops: a node, and the edge by which the request leaves it.
 */

/*
 * A place where a request enters a cube or leaves it: a port. In a mesh the ports of a cube are its
 * four sides, in a net those of its links and the one to the IO chiplet. Behind the ports comes the
 * exit to the IO chiplet, exit_io(), which of a mesh is ucie-W.
 */
enum side { SIDE_N, SIDE_E, SIDE_S, SIDE_W, N_SIDES, EXIT_IO = N_SIDES, N_EXITS };
enum {
    CUBE_PES_MAX = 256,
    PORTS_MAX = 250,
    EXIT_END = UINT8_MAX /* a segment ends at a memory; a link inside */
};

enum node_kind {
#define KIND(NAME, name, on_way, placed) NODE_##NAME,
#include "machine/kinds.def"
};

/* Which chiplet a node stands on, seen from a request on its way. */
enum chiplet {
#define CHIPLET(NAME) AT_##NAME,
#include "machine/kinds.def"
};

/* The chiplet that has the link of an edge; a link has an edge for each direction. */
enum link_owner {
#define OWNER(NAME) LINK_##NAME,
#include "machine/kinds.def"
};

/*
 * The links of an IO chiplet; the shoreline has one for each row of cubes, or column, by planes. In
 * a grid of SIPs IO_LINK_FABRIC leads to the east, and the last link of all to the south.
 */
enum io_link { IO_LINK_PCIE, IO_LINK_CPU, IO_LINK_FABRIC, IO_LINK_SHORE };

/* The nodes of an IO chiplet. */
enum { IO_PCIE_EP, IO_NOC, IO_CPU, N_IO_NODES };

/* Nodes of a PE, in the order of kinds.def. */
enum { PE_NODES = NODE_PE_TCM - NODE_PE_CPU + 1 };

/* Ports and engines of a PE that take one command or tile at a time. */
enum port { PORT_TCM_READ, PORT_TCM_WRITE, PORT_GEMM, PORT_MATH, N_PORTS };

/* The regions of a global address, in the order of its bits: docs/kernels.md "Where data lie". */
enum space { SPACE_HBM, SPACE_SRAM, SPACE_TCM };

/* One node of a cube, of an IO chiplet, or of the fabric. */
struct node_row {
    char name[24]; /* inside its chiplet: "pe0.pe_dma" */
    uint8_t kind;  /* enum node_kind */
    int64_t overhead_fs;
    double x_mm, y_mm; /* where it meets its cube's NoC; 0 outside cubes */
};

/* One link: the edge from -> to, and the way back. */
struct link_row {
    uint16_t from, to; /* nodes of the chiplet; `to` in a neighbour if it leaves */
    uint8_t leaves;    /* EXIT_END: both ends here; else the side where the neighbour lies */
    uint8_t both_ways; /* 0: the edge to -> from does not exist, only its return station */
    uint8_t lanes[2];  /* servers of from -> to, and of the way back */
    int64_t wire_fs;
    double length_mm;
    double gbs; /* effective; INFINITY: unlimited */
};

/* One node of a segment, and the edge by which it is left. */
struct hop_row {
    uint8_t chiplet; /* enum chiplet */
    uint8_t owner;   /* enum link_owner */
    uint8_t back;    /* the edge is the link's to -> from */
    uint16_t node;
    uint16_t link; /* LINK_IO_ROW, LINK_IO_TO_ROW: of row 0; the others follow */
    int64_t overhead_fs;
    int64_t cross_fs; /* NoC: the wire from where it is entered to where it is left */
    int64_t wire_fs;  /* of the edge */
    double gbs;       /* of the edge */
};

/* Of a leg: whether a request may pass its link together with the one that feeds it. gen/feeds.c */
enum {
    FED_ONE_WAY = 1, /* if all data of the run go one way */
    FED_ALWAYS = 2,  /* if they go both ways, too */
    INTO_MEMORY = 4, /* the last link of a route, of one server: nothing passes another there */
    FED_BY_PES = 8   /* if they go one way, and not to or from a host */
};

/* One station of a segment: the delays before it, merged. */
struct leg_row {
    uint8_t owner; /* LINK_NONE: the M_CPU's engine */
    uint8_t back : 1, fed : 4;
    uint16_t link;
    int32_t station; /* of a cube's link: less the first station of the cube where the request is */
    int64_t wire_fs, overhead_fs; /* since the station before, or the segment's begin */
    double gbs;
};

struct segment_row {
    uint32_t first_hop, first_leg;
    uint16_t n_hops, n_legs;
    uint8_t exit;                           /* a port, or exit_io(); EXIT_END: ends at a memory */
    int64_t tail_wire_fs, tail_overhead_fs; /* after the last leg; a memory's own is not in it */
};

/* How the plane of a transaction is chosen: the words of sip.plane in gen/keys.def, in that order.
 */
enum plane_choice { PLANE_BY_OP, PLANE_BY_HASH, PLANE_BY_COLUMN };

/* The words of sip.cube_mesh.wrap and fabric.wrap: bits. The words of fabric.shape. */
enum wrap { WRAP_NONE, WRAP_X, WRAP_Y, WRAP_XY };
/* Which way round a ring where both are as long; of a ring kb_topology has it as a bit beside its
 * enum wrap. */
enum tie { TIE_LOW, TIE_SPREAD };
enum { WRAP_SPREAD = 4 };
enum fabric_shape { FABRIC_SWITCH, FABRIC_GRID, FABRIC_NET };

/*
 * One way of a pair of cubes of a net that has several: machine/paths.h. The rows of a pair lie one
 * behind the other.
 */
struct path_row {
    uint32_t ports;    /* the first of its exits in path_ports */
    uint16_t links, n; /* of the way; ways of the pair */
    uint16_t until;    /* lanes of the ways up to this one */
};

/*
 * A port of a net: the port that its link leads to. Links that are broken, or lead to a cube that
 * is missing, have a row, too. A link has one number, at the one of its two cubes that owns it.
 */
struct port_row {
    uint32_t cube; /* over all SIPs; a switch between them, too */
    uint8_t port;
    uint8_t flags;
    uint16_t ring; /* of a torus: its item and dimension, from 1; 0: of none */
};
enum {
    PORT_IS = 1,   /* there is such a port; of the one to the IO chiplet this alone is said */
    PORT_OUT = 2,  /* its link leads out of it */
    PORT_OWNS = 4, /* the number of the link is that of this port */
    PORT_FROM_NOC = 8,
    PORT_TO_NOC = 16,
    PORT_CLOSES = 32,    /* its link closes a ring */
    PORT_DOWN = 64,      /* ROUTES_UP_DOWN: its link leads down */
    PORT_UNCOUNTED = 128 /* hop classes do not count its link */
};

/* A mesh or torus of a net: the cubes of its first dimension follow each other. */
struct grid_row {
    uint32_t size[KB_GRID_DIMS];
    uint8_t dims;
    bool closes; /* a torus */
};

/* The first of them that a cube is of, from 1, and where it stands there; 0: it is of none. */
struct place_row {
    uint16_t grid, at;
};

/* Nodes of a machine with routers have numbers of so many bits. */
enum { NODE_BITS = 28, NET_NODE_BITS = 25 };

enum { PLANE_NAME_BYTES = 17 };

/* One of the networks between cubes. */
struct plane_row {
    char name[PLANE_NAME_BYTES]; /* "": the only one, without sip.planes */
    uint8_t dirs;                /* a bit for each enum side: links that leave a cube there */
    uint8_t y_first;             /* the first dimension of a route */
    uint8_t one_way;             /* a link lacks its opposite: a read's route is its data's */
    uint8_t in_parts;            /* some cube has no way to another one, or to host0 */
    uint8_t has_detours;         /* routes differ from the order of dimensions: machine/mesh.h */
};

/* The cost of a part of a route: the sum of its hops, the smallest of their bandwidths. */
struct cost_row {
    int64_t wire_fs, overhead_fs; /* a memory's own overhead is not in it */
    double link_gbs;              /* the edge into a memory is not in it */
};

/* The part between the source's cube and the target's, by their distance. */
struct mesh_row {
    uint8_t exit; /* of the source's cube */
    uint8_t side; /* of the target's cube */
    struct cost_row cost;
};

/* How `between` is looked up, of a machine that is not regular: machine/machine_between.h */
enum between_by { BY_WALK, BY_DISTANCE, BY_PAIR };

/* The same by distance or by pair, for one plane; and the overheads of the UCIe nodes passed. */
struct between_row {
    struct mesh_row way;
    int64_t ucie_fs;
};

/*
 * For how long a memory is held: the drain of the request's route, or its own. The words of
 * cube.hbm.hold, cube.sram.hold and cube.pe.pe_tcm.hold in gen/keys.def, in that order.
 */
enum memory_hold { HOLD_ROUTE, HOLD_OWN, HOLD_BY_COMPONENT /* no word: what its component says */ };

/*
 * How an atomic holds a memory: as a write, or twice as long. The words of cube.hbm.atomic, in that
 * order.
 */
enum memory_atomic { ATOMIC_WRITE, ATOMIC_READ_WRITE };

/* Which memories but TCMs are free for the next one before their transaction is done. */
enum early { EARLY_NONE, EARLY_SOME, EARLY_ALL };

/* A memory as a station: its own overhead, and the edge into it. */
struct memory_row {
    int64_t overhead_fs;
    double gbs; /* effective: of the memory and of that edge, the smaller */
    uint64_t nbytes;
    int64_t wire_fs;    /* of that edge */
    int64_t latency_fs; /* behind the service: data are late by it, the memory is not held */
    double own_gbs;     /* effective, of the memory alone */
    double edge_gbs;    /* of that edge alone; INFINITY: it has the memory's */
    double bare_gbs; /* of the memory alone if links were unlimited: an SRAM may have the NoC's */
    uint8_t hold;    /* enum memory_hold */
    uint8_t atomic;  /* enum memory_atomic */
    uint8_t model;   /* enum memory_model */
    uint8_t behind;  /* the same, of what is built in behind a component or a cache */
    uint8_t late;    /* data may be late behind its service, which does not hold it */
    uint8_t ports;   /* of a TCM: how many of that direction; 0: it is another memory */
    uint32_t access_bytes; /* a slice without banks moves whole blocks of so many; 0: bytes */
};

/* What a tile, a list of runs, is to a PE's DMA: one run of as many bytes, or its runs. The words
 * of cube.pe.pe_dma.tiles, in that order. */
enum dma_tiles { TILES_JOINED, TILES_RUNS };

/* One server, or a memory that chooses: the words of cube.hbm.model, in that order. Or a cache
 * before one of these, or a component that queues, which have no word. */
#define MODEL_NUMBER(NAME, word, name) MEMORY_##NAME,
enum memory_model {
    MEMORY_SERVER,
    MEMORY_MODELS(MODEL_NUMBER) MEMORY_CACHE,
    MEMORY_QUEUEING,
};

/* Which slices have banks. */
enum banked { BANKED_NONE, BANKED_SOME, BANKED_ALL, BANKED_BEHIND /* components, all */ };

/* The words of cube.hbm.policy, write_ack and refresh, in that order. */
enum bank_policy { POLICY_FR_FCFS, POLICY_FCFS };
enum write_ack { ACK_ACCEPTED, ACK_WRITTEN };
enum refresh { REFRESH_ALL, REFRESH_NONE };

enum { BANKS_MAX = 64 }; /* of a channel: struct bank_channel has a bit for each */
enum { RANKS_MAX = 8 };  /* of a channel */
enum { BANK_CHANNELS_MAX = 128 };

/* Of slices with banks: sizes as numbers of bits, times, and what is chosen. */
struct bank_row {
#define BANK_FIELD(form, type, name) type name;
#include "machine/topology.def"
};

/* Which line a cache drops, and what it does with writes: the words of cube.hbm.cache.policy and
 * .write, in that order. */
enum cache_policy { DROPS_OLDEST, DROPS_ANY };
enum cache_write { WRITES_BACK, WRITES_THROUGH };
/* What a launch does to an L2: the words of cube.l2.at_launch. */
enum at_launch { LAUNCH_KEEPS, LAUNCH_DROPS };

/* A cache, of a slice or an L2: its shape. */
struct cache_row {
#define CACHE_FIELD(form, type, name) type name;
#include "machine/topology.def"
};

/* Is it free for the next before its transaction is done?  network/turn.h */
static inline bool memory_frees_early(const struct memory_row *memory)
{
    return memory->model == MEMORY_SERVER &&
           (memory->hold != HOLD_ROUTE || memory->latency_fs > 0 || memory->ports > 1 ||
            memory->atomic != ATOMIC_WRITE || memory->late);
}

/*
 * Where the slots of queues between PEs lie: with the receiver, in its TCM, SRAM or slice. The
 * words of cube.pe.pe_ipcq.space in gen/keys.def, in that order.
 */
enum queue_space { QUEUE_TCM, QUEUE_SRAM, QUEUE_HBM };

/* The parts of a PE, except for its DMA and TCM. */
struct pe_row {
#define PE_NUMBER(type, name)      type name;
#define PE_REAL(type, name)        type name;
#define PE_TRIPLE(type, name)      type name[3];
#define PE_FIELD(form, type, name) PE_##form(type, name)
#include "machine/topology.def"
};

/* What all cubes with the same keys have. */
struct kind_row {
#define KIND_NUMBER(type, name)      type name;
#define KIND_REAL(type, name)        type name;
#define KIND_MEMORY(type, name)      type name;
#define KIND_PE(type, name)          type name;
#define KIND_BANKS(type, name)       type name;
#define KIND_CACHE(type, name)       type name;
#define KIND_FIELD(form, type, name) KIND_##form(type, name)
#include "machine/topology.def"
};

/* Where a request is on its route. */
struct route_at {
    uint32_t cube;    /* over all SIPs */
    uint16_t segment; /* of those of the cube's kind */
    uint16_t step;    /* hop or leg of the segment */
};

/* Which PEs of a cube there are: bit p % 64 of word p / 64. */
struct pe_set {
    uint64_t words[CUBE_PES_MAX / 64];
};

static inline bool pe_set_has(const struct pe_set *s, uint32_t pe)
{
    return pe < CUBE_PES_MAX && s->words[pe / 64] >> pe % 64 & 1;
}

/* How many of the PEs below `end`. */
static inline uint32_t pe_set_below(const struct pe_set *s, uint32_t end)
{
    uint32_t n = 0, i = 0;

    for (; i < end / 64; i++)
        n += (uint32_t)__builtin_popcountll(s->words[i]);
    if (end % 64)
        n += (uint32_t)__builtin_popcountll(s->words[i] & ((UINT64_C(1) << end % 64) - 1));
    return n;
}

static inline uint32_t pe_set_count(const struct pe_set *s)
{
    return pe_set_below(s, CUBE_PES_MAX);
}

/* The first `n` PEs. */
static inline struct pe_set pe_set_of_first(uint32_t n)
{
    struct pe_set s = {{0}};

    for (uint32_t pe = 0; pe < n; pe++)
        s.words[pe / 64] |= UINT64_C(1) << pe % 64;
    return s;
}

/*
 * What is there of one cube, and what comes before it. Only a machine whose cubes differ has these;
 * one more row than cubes, with the sums over all.
 */
struct cube_row {
    struct pe_set pes;
    uint32_t first_node, first_pe, first_slice; /* those of the cubes before */
    uint32_t rank, before;                      /* cubes before that have PEs; that have slices */
    uint32_t home;      /* of PEs without a slice in their cube: the cube over all that has it */
    uint32_t home_rank; /* PEs of other cubes before that have the same */
    uint8_t there, kind;
};

/* From where to where a request goes, and how. */
struct trip {
    uint32_t src, dst; /* packed: machine/cost.h */
    uint8_t plane;
    uint8_t way;     /* of those of its pair of cubes: paths.h */
    uint8_t chiplet; /* of a host */
    bool of_host;
    bool back; /* its route is that of its data, walked backwards */
};

struct kb_sim;

/* The words of addressing.over and addressing.hash in gen/keys.def, in that order. */
enum address_over { OVER_CUBE, OVER_SIP };
enum address_hash { HASH_NONE, HASH_XOR };
enum software_unit { UNIT_SIP, UNIT_CUBE };

/* The words of contention.links in gen/keys.def, in that order. */
enum link_mode { MODE_IDEAL, MODE_FIFO, MODE_ROUTER };

/* The words of contention.arbiter, and of cube.noc.model, in gen/keys.def, in that order. */
enum arbiter_rule { ARBITER_AGE, ARBITER_RR };
enum noc_model { NOC_BUS, NOC_MESH };

/*
 * What keeps detours of a network of routers from waiting in a circle: nothing need do it, they
 * have virtual channels of their own, or all routes where there are detours go up*, then down*.
 */
enum detours_by { DETOURS_WITH, DETOURS_APART, DETOURS_UP_DOWN };

/*
 * What keeps packets of a net from waiting in a circle: nothing need do it; halves of the virtual
 * channels, before and behind the closing link of each dimension of a torus; a part of them for
 * each link of a route; or routes that go up a tree of its cubes, and then down. In this order they
 * are tried.
 */
enum routes_by { ROUTES_ALL, ROUTES_DATELINES, ROUTES_HOPS, ROUTES_UP_DOWN };

/*
 * A unit of a cube is one of its memories: its slices, then the SRAM, then the TCMs of its PEs,
 * then its L2. n_units = slices + 1 + sources, as the L2 is a source, too: behind the PEs.
 */
struct kb_topology {
#define FIELD(form, type, name, c) type name;
#include "machine/topology.def"

    const struct impls *impls; /* boxes that are components; NULL: all are built in */

    const char *release; /* topology_release, if it was compiled; NULL: it was made at run time */
};

/* Cubes of all SIPs; and with them the switches between SIPs, which are cubes without an end. */
static inline uint32_t sip_cubes(const struct kb_topology *t)
{
    return t->sips * t->cubes;
}

static inline uint32_t sim_cubes(const struct kb_topology *t)
{
    return sip_cubes(t) + t->switches;
}

/* Tables of another release would be read amiss: then the linker does not find this. */
extern const char topology_release[] EXPORTED(release);

#endif
