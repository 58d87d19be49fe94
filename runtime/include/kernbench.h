/* kernbench.h -- the library: topologies, routes, simulations of transactions and of kernels. */
#ifndef KERNBENCH_H
#define KERNBENCH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define KB_VERSION   "0.2.0"
#define KB_ABI       0 /* the number in libkernbench.so.0 */
#define KB_FS_PER_NS INT64_C(1000000)

/*
 * The outcome of a call. 0 is success; a call that fails changes nothing.
 *
 * Pointers are not NULL, except `why`, `arg`, and those whose comment allows it. Calls with a
 * status then return KB_BAD_REQUEST. Those without need their pointers; kb_..._free(NULL) does
 * nothing.
 */
typedef enum kb_status {
    KB_OK,
    KB_AGAIN,       /* kb_sim_run: the budget of events is used up, call again */
    KB_STOPPED,     /* kb_sim_run: `until_fs` or `max_events` was reached; kb_topology_load_until */
    KB_PENDING,     /* kb_sim_result: the transaction is not complete */
    KB_BAD_REQUEST, /* an argument is not valid: the error text says which and why */
    KB_TIME_RANGE,  /* simulated time has passed 2^63 fs */
    KB_NO_MEMORY,
    KB_DEADLOCK,        /* kernels wait for each other: kb_sim_deadlocked() */
    KB_KERNEL_ERROR,    /* a kernel broke a rule: the text names kernel, PE, call and line */
    KB_DIFFERENT,       /* a verification failed */
    KB_FILE_ERROR,      /* a file could not be read or written */
    KB_INTERNAL,        /* a bug in kernbench, found by one of its own checks */
    KB_KERNEL_CRASHED,  /* see kb_catch_crashes() */
    KB_BAD_FILE,        /* the file of a topology or of an input has mistakes */
    KB_COMPONENT_ERROR, /* a component broke its contract: the text names it */
} kb_status;

/* Why a call failed, one line without a full stop. Filled by every call that takes one and fails.
 */
typedef struct kb_error {
    char text[512];
} kb_error;

/* One topology, const: generated and linked in, or made by kb_topology_load(). Its fields are
 * internal (machine/tables.h). */
typedef struct kb_topology kb_topology;

/* One simulation: all state that changes. Only one thread at a time may use it. */
typedef struct kb_sim kb_sim;

/* -- endpoints ------------------------------------------------------------------------------ */

typedef enum kb_endpoint_kind { KB_PE, KB_HOST, KB_SLICE, KB_SRAM, KB_TCM } kb_endpoint_kind;

/* The source or the target of a transaction. Fields that a kind does not use are 0. */
typedef struct kb_endpoint {
    kb_endpoint_kind kind;
    uint32_t sip;
    uint32_t cube; /* inside its SIP: row * w + column */
    uint32_t unit; /* number of the PE, slice or TCM inside its cube */
} kb_endpoint;

enum { KB_ENDPOINT_BYTES = 48 }; /* room for any endpoint's name, and its final 0 */
enum { KB_NODE_BYTES = 64 };     /* room for any node's name, and its final 0 */

/*
 * Parses the name of an endpoint, `len` bytes at `text`: "c0.pe3", "s1.c2.slice4", "host",
 * "c0.sram", "c0.pe1.tcm". Without a SIP it means SIP 0.
 *
 * returns  KB_BAD_REQUEST: no such endpoint; `why` (may be NULL) has the nearest name, or the range
 */
kb_status kb_endpoint_parse(const kb_topology *topo, const char *text, size_t len, kb_endpoint *out,
                            kb_error *why);

/* Writes the canonical name of `end` into `text`; returns its length. */
size_t kb_endpoint_name(const kb_endpoint *end, char text[KB_ENDPOINT_BYTES]);

/*
 * Calls `each` once for every endpoint that `pattern` matches, in order of SIP, cube and unit:
 * "c0.pe[0-3]", "c*.slice*", "s*.host", "c[0,2-3].sram". A number may be *, or a list of numbers
 * and ranges in brackets. Without a SIP it means SIP 0.
 *
 * returns  KB_BAD_REQUEST: no endpoint matches; `why` (may be NULL) has the nearest name, or the
 * range
 */
kb_status kb_endpoint_select(const kb_topology *topo, const char *pattern, size_t len,
                             void (*each)(void *arg, const kb_endpoint *end), void *arg,
                             kb_error *why);

/* The size of a slice, SRAM or TCM in bytes; 0 for a PE or a host. */
uint64_t kb_memory_bytes(const kb_topology *topo, const kb_endpoint *end);

/* -- topologies ----------------------------------------------------------------------------- */

typedef struct kb_info {
    const char *name;
    const char *config; /* the resolved YAML */
    const char *hash;   /* xxHash64 of `config`, 16 hexadecimal digits */
    const char *links;  /* "ideal", "fifo" or "router" */
    uint32_t sips, cubes_per_sip, mesh_w, mesh_h, pes_per_cube;
    uint32_t nodes, edges;
    uint32_t planes;               /* networks between its cubes: kb_plane_name() */
    bool plane_column;             /* a transaction may choose its plane: kb_transaction.plane */
    uint32_t grid_w, grid_h;       /* of SIPs that are joined to their neighbours; 0: by a switch */
    bool wrap_x, wrap_y;           /* the ends of rows, of columns of cubes are joined */
    bool grid_wrap_x, grid_wrap_y; /* the same of the grid of SIPs */
    const char *routes;   /* links: router, of a net: what keeps packets from waiting in a circle:
                             "all VCs", "datelines", "hop classes"; NULL elsewhere */
    unsigned hop_classes; /* of routes "hop classes": how many parts of the VCs; else 0 */
    const char *detours;  /* links: router, where something is missing or broken: how routes around
                             it keep packets from waiting in a circle; NULL elsewhere */
    bool packets;         /* some PE cuts its transactions into packets */
    unsigned rails, fabric_switches; /* fabric.shape: net: links between SIPs and to its switches,
                                        and these; else 0 */
    const char *fabric;              /* fabric.shape: "switch", "grid" or "net" */
    bool broken;                     /* a link is broken */
    bool noc_mesh;                   /* the NoC of a cube is a mesh */
    unsigned paths; /* of a net: ways of a pair of cubes that transactions take by their
                       numbers, at most; else 1 */
} kb_info;

void kb_topology_info(const kb_topology *topo, kb_info *out);

/* Where kb_topology_load() finds a topology. All is borrowed for the call. */
typedef struct kb_topology_source {
    const kb_topology
        *base;        /* a topology whose keys are those before `sets`; NULL: a YAML is read */
    const char *file; /* the path of its YAML; with `text`, what messages call that */
    const char *text; /* the YAML itself, `nbytes` of it; NULL: it is read from `file` */
    size_t nbytes;
    const char *const *sets; /* keys to override, as "cube.hbm.bw_gbs=512"; the last one counts */
    size_t n_sets;
} kb_topology_source;

/*
 * Makes a topology in memory, as kbgen and a compiler would: every result, fingerprint and hash is
 * the same, without a compiler and a file, which only components take. It never changes, so any
 * number of threads may use it. Free it by kb_topology_free(), after all that was made of it.
 * Variants are made quickest from a `base` that this call made itself, from a YAML: nothing is read
 * again then.
 *
 * `messages` (may be NULL) becomes a text, to be freed by free(), or NULL. It has a line for each
 * mistake, as kbgen prints them, with line and column: "t.yaml:6:5: unknown key 'bw_gbz' in
 * 'cube.hbm', did you mean 'bw_gbs'?"; with KB_OK, a line for each warning.
 *
 * returns  KB_BAD_FILE: the YAML has mistakes; KB_FILE_ERROR: the file cannot be read;
 *          KB_BAD_REQUEST: one of `sets` is wrong, or does not fit; KB_NO_MEMORY, without messages
 */
kb_status kb_topology_load(const kb_topology_source *source, const kb_topology **out,
                           char **messages);

/* The same, which asks stop(arg) every few ms, and ends with KB_STOPPED once it is true. */
kb_status kb_topology_load_until(const kb_topology_source *source, bool (*stop)(void *arg),
                                 void *arg, const kb_topology **out, char **messages);

/* A number of a topology's YAML that a factor makes better. */
typedef struct kb_better {
    const char *name; /* "cube.hbm.bw_gbs"; an item of a list "cube.pe.pe_gemm.mac[0]" */
    double value, better_value;
    bool smaller; /* is better: an overhead, a distance, a latency */
    bool whole;   /* it takes whole numbers alone */
} kb_better;

/*
 * Calls `each` for every number that `factor`, above 1, makes better: bandwidths, clocks, channels
 * and slots become larger by it, overheads, latencies and distances smaller. Whole numbers change
 * by one at least, a ratio ends at 1. What is 0 is not there, and shapes and sizes are neither.
 * `*number` and its name are borrowed for the call.
 *
 * returns  KB_NO_MEMORY; KB_BAD_REQUEST: the factor is not in 1..1e6, or there is no libyaml
 */
kb_status kb_topology_numbers(const kb_topology *topo, double factor,
                              void (*each)(void *arg, const kb_better *number), void *arg);

/*
 * Makes `topo` again with `n` numbers better by `factor`, by their names, also where some cubes
 * have a key for themselves. As kb_topology_load(): `*out`, `messages`, and what it returns;
 * KB_BAD_FILE: a number is unknown or leaves its range, or they do not fit together.
 */
kb_status kb_topology_better(const kb_topology *topo, const char *const *names, size_t n,
                             double factor, const kb_topology **out, char **messages);

/* The hash of the compiler that built the components of `topo` while the program ran; "": none. */
const char *kb_topology_compiler(const kb_topology *topo);

/* Frees what kb_topology_load() and kb_topology_better() made; none that is linked in. */
void kb_topology_free(const kb_topology *topo);

/* What the value of a key is: a whole number, any number, one of a few words, or a list or the
 * like. */
typedef enum kb_key_kind { KB_KEY_COUNT, KB_KEY_NUMBER, KB_KEY_WORD, KB_KEY_OTHER } kb_key_kind;

/* A key of the YAML, as `path`=`text` can be set. */
typedef struct kb_key {
    const char *path; /* "cube.hbm.bw_gbs" */
    const char *text; /* its value, as kb_info.config has it: "256.0" */
    kb_key_kind kind;
    double value, least, most; /* of numbers; 0 of bandwidths without a limit, whatever `least` */
    const char *const *words;  /* of a word: those it may be, up to NULL */
} kb_key;

/*
 * Calls `each` for every key of the YAML, then for those of each of its `kinds` and `links`, with
 * its value in this topology. Texts are valid during the call.
 *
 * returns  KB_NO_MEMORY; KB_BAD_REQUEST: built without libyaml
 */
kb_status kb_topology_keys(const kb_topology *topo, void (*each)(void *arg, const kb_key *key),
                           void *arg);

/* The keys of the YAML alone, with the values that one cube has, be it by `kinds` or by `cubes`.
 * KB_BAD_REQUEST: there is no such cube, too. */
kb_status kb_cube_keys(const kb_topology *topo, uint32_t sip, uint32_t cube,
                       void (*each)(void *arg, const kb_key *key), void *arg);

/* -- PEs ------------------------------------------------------------------------------------ */

/*
 * PEs are numbered from 0, SIP by SIP, cube by cube, those that are there; so are slices. Kernels,
 * launches and traffic use these numbers. The *home slice* of a PE is its own one: where it lies
 * nearest. With as many slices as PEs that of PE 3 is slice 3; two PEs may share one.
 */
uint32_t kb_pe_count(const kb_topology *topo);
uint32_t kb_slice_count(const kb_topology *topo);

/* PE number `pe`; its home slice. KB_BAD_REQUEST: there is no such PE. */
kb_status kb_pe_get(const kb_topology *topo, uint32_t pe, kb_endpoint *out);
kb_status kb_pe_slice(const kb_topology *topo, uint32_t pe, kb_endpoint *out);

/* What the accumulators of PE number `pe` have room for, in bytes; 0: there is no such PE. */
uint64_t kb_pe_acc_bytes(const kb_topology *topo, uint32_t pe);

/* Slice number `slice`. KB_BAD_REQUEST: there is no such slice. */
kb_status kb_slice_get(const kb_topology *topo, uint32_t slice, kb_endpoint *out);

/* The number of a PE, of a slice. KB_BAD_REQUEST: it is not there. */
kb_status kb_pe_number(const kb_topology *topo, const kb_endpoint *pe, uint32_t *out);
kb_status kb_slice_number(const kb_topology *topo, const kb_endpoint *slice, uint32_t *out);

/* What is there of one cube. */
typedef struct kb_cube {
    uint32_t n_pes, n_slices;
    uint32_t crossbars; /* nodes of its crossbar; slice s is behind node s * crossbars / n_slices */
    uint32_t pe_places; /* PEs 0 to pe_places - 1 are there or missing */
    uint32_t kind;      /* cubes of one kind have the same keys, and in a net the same ports; 0:
                           those without overrides */
    uint32_t keys;      /* the first kind with the same keys */
    uint32_t first_pe;  /* the number of its first PE */
    uint64_t pes[4];    /* bit p % 64 of word p / 64: PE p is there */
} kb_cube;

/* KB_BAD_REQUEST: there is no such cube. */
kb_status kb_cube_get(const kb_topology *topo, uint32_t sip, uint32_t cube, kb_cube *out);
/*
 * The ways from a cube to another, of which transactions take one by their ids (sip.paths); 0:
 * none, or one of them has neither PE nor slice. Cubes are counted over all SIPs.
 */
uint32_t kb_ways(const kb_topology *topo, uint32_t from, uint32_t to);
/* Does a way from a SIP to another lead through a third one? */
bool kb_sips_pass(const kb_topology *topo);

/* The cubes of a SIP, `cubes_per_sip` of them, in the order of a lap from neighbour to neighbour if
 * they are a grid, else by number. */
void kb_cube_lap(const kb_topology *topo, uint32_t *cubes);

enum { KB_GRID_DIMS = 8 };

/* Where a cube stands in a mesh or torus of `sip.net`: the first item that has it. */
typedef struct kb_cube_place {
    uint32_t grid; /* meshes and tori are numbered from 0, in their order */
    uint32_t dims; /* of the grid, and its size and the cube's place in each of them */
    uint32_t size[KB_GRID_DIMS], at[KB_GRID_DIMS];
    bool closes; /* it is a torus */
} kb_cube_place;

/* Cubes that are missing have a place, too. KB_BAD_REQUEST: there is no such cube, or it is of no
 * mesh and no torus of a net. */
kb_status kb_cube_place_get(const kb_topology *topo, uint32_t cube, kb_cube_place *out);

/* -- components ----------------------------------------------------------------------------- */

#define KB_NO_CUBE UINT32_MAX

/*
 * A node. Nodes are numbered from 0, SIP by SIP: those of its cubes, then those of its IO chiplet.
 * The switch between SIPs is the last one. kb_info has their number.
 */
typedef struct kb_node {
    char name[KB_NODE_BYTES]; /* "sip0.cube3.xbar.pe1" */
    const char *kind;         /* "xbar" */
    uint32_t sip;             /* 0 of the switch */
    uint32_t cube;            /* inside its SIP; KB_NO_CUBE: it is not on a cube */
    int64_t overhead_fs;
    bool placed;       /* it is attached to its cube's NoC at (x_mm, y_mm), */
    double x_mm, y_mm; /* measured from the top left of the cube */
} kb_node;

/* Describes node `node`. KB_BAD_REQUEST: there is no such node. */
kb_status kb_node_get(const kb_topology *topo, uint32_t node, kb_node *out);

/* Finds the number of a node by its full name, `len` bytes. KB_BAD_REQUEST: there is none. */
kb_status kb_node_find(const kb_topology *topo, const char *name, size_t len, uint32_t *out);

/* A directed edge: a link that carries data both ways has two edges. */
typedef struct kb_edge {
    uint32_t from, to; /* numbers of nodes */
    double length_mm;
    int64_t wire_fs;
    double gbs;     /* effective; INFINITY: unlimited */
    uint32_t lanes; /* servers, each with that bandwidth */
} kb_edge;

/* Calls `each` for every edge: SIP by SIP those of its cubes, then those of its IO chiplet. */
void kb_edges(const kb_topology *topo, void (*each)(void *arg, const kb_edge *edge), void *arg);

/* Sizes and peak rates of the parts of a topology: where cubes differ, of the first one that has
 * PEs, and the slices of the first one that has slices. */
typedef struct kb_limits {
    double cube_w_mm, cube_h_mm;
    double slice_gbs, sram_gbs, tcm_read_gbs, tcm_write_gbs; /* effective */
    double gemm_macs_per_ns, math_elements_per_ns;           /* of a PE */
    uint32_t gemm_mac[3];                                    /* M, K, N of a cycle */
    double gemm_clock_ghz, math_clock_ghz;
    uint32_t math_lanes;
    uint32_t read_channels, write_channels; /* of a PE */
    uint32_t read_engines, write_engines;   /* of an M_CPU */
    uint32_t queue_slots, queue_slot_bytes; /* of the queue from one PE to another */
    kb_endpoint_kind queue_memory;          /* that holds the slots */
    uint64_t granule; /* bytes of interleaved addresses in one slice; 0: slices are contiguous */
} kb_limits;

void kb_topology_limits(const kb_topology *topo, kb_limits *out);

/* The same of one cube. KB_BAD_REQUEST: there is no such cube. */
kb_status kb_cube_limits(const kb_topology *topo, uint32_t sip, uint32_t cube, kb_limits *out);

/* -- routes --------------------------------------------------------------------------------- */

typedef enum kb_transaction_op { KB_READ, KB_WRITE, KB_H2D, KB_D2H } kb_transaction_op;

/* The cost of a transaction on an idle machine; times in fs. */
typedef struct kb_cost {
    int64_t wire_fs;            /* all wires to the memory */
    int64_t overhead_fs;        /* all nodes to the memory, and the memory */
    int64_t memory_overhead_fs; /* the memory's part of overhead_fs, paid during its service */
    int64_t drain_fs;           /* nbytes over the bottleneck; at an L2 over the edges up to it */
    int64_t response_fs;        /* host transactions: wires and UCIe nodes back */
    int64_t return_fs;          /* links router, data of reads: the way back, without the ends */
    double bottleneck_gbs;      /* the narrowest edge to the memory; a write may end at an L2 */
} kb_cost;

/* The zero-load latency: wire + overhead + drain + response + return of `cost`, in fs. */
int64_t kb_formula_fs(const kb_cost *cost);

/*
 * Computes the cost of `op` with `nbytes` bytes, at least one, between two endpoints.
 *
 * returns  KB_BAD_REQUEST: there is no such route, no byte, or the memory is smaller;
 * KB_TIME_RANGE; KB_KERNEL_CRASHED: of a component
 */
kb_status kb_route_cost(const kb_topology *topo, kb_transaction_op op, const kb_endpoint *src,
                        const kb_endpoint *dst, uint64_t nbytes, kb_cost *out, kb_error *why);

/*
 * The same on plane `plane` of kb_plane_name(), where kb_route_cost() takes that of the op; of a
 * net with several ways (sip.paths) on way `plane` of kb_ways(), where kb_route_cost() takes way 0.
 */
kb_status kb_route_cost_on(const kb_topology *topo, uint32_t plane, kb_transaction_op op,
                           const kb_endpoint *src, const kb_endpoint *dst, uint64_t nbytes,
                           kb_cost *out, kb_error *why);

/*
 * The name of plane `plane` of sip.planes, from 0; NULL: there is none such. A topology without
 * sip.planes has one plane, with the name "".
 */
const char *kb_plane_name(const kb_topology *topo, uint32_t plane);

/* The plane of `op` where a transaction does not choose its own: the last for reads, else 0. */
uint32_t kb_plane_of(const kb_topology *topo, kb_transaction_op op);

/* One node of a route, in the order in which a request passes. */
typedef struct kb_hop {
    char node[KB_NODE_BYTES]; /* full name, "sip0.cube0.xbar.pe0" */
    int64_t wire_fs;          /* the edge into it, and the crossing of a NoC */
    int64_t overhead_fs;
    double edge_gbs; /* effective, of the edge into it; 0: the first node has none; INFINITY */
} kb_hop;

/* Calls `each` for every node from `src` to `dst`. A route into a TCM is the route of a write. */
kb_status kb_route_walk(const kb_topology *topo, const kb_endpoint *src, const kb_endpoint *dst,
                        void (*each)(void *arg, const kb_hop *hop), void *arg, kb_error *why);

/* The same for `op` on a plane: on a one-way plane a read takes another way than a write. */
kb_status kb_route_walk_on(const kb_topology *topo, uint32_t plane, kb_transaction_op op,
                           const kb_endpoint *src, const kb_endpoint *dst,
                           void (*each)(void *arg, const kb_hop *hop), void *arg, kb_error *why);

/*
 * The same as `nbytes` bytes pass alone: with what banks, caches, an L2 and components take, so
 * that wires and overheads of all nodes add up to those of kb_route_cost_on(). A write that ends at
 * an L2 has no nodes behind it.
 */
kb_status kb_route_walk_alone(const kb_topology *topo, uint32_t plane, kb_transaction_op op,
                              const kb_endpoint *src, const kb_endpoint *dst, uint64_t nbytes,
                              void (*each)(void *arg, const kb_hop *hop), void *arg, kb_error *why);

/* -- simulations ---------------------------------------------------------------------------- */

typedef enum kb_engine {
    KB_FUSED, /* an event per station */
    KB_HOP,   /* an event per node and wire: slower; has observers; checks the fused engine */
} kb_engine;

/* Classes of cost that a simulation may leave out, to see how much they matter (ablation). */
enum kb_cost_class {
    KB_COST_WIRE = 1,
    KB_COST_OVERHEAD = 2,
    KB_COST_MEMORY_GBS = 4, /* bandwidth of the memories, also of a TCM for other PEs */
    KB_COST_LINK_GBS = 8,   /* bandwidth of the links */
    KB_COST_CHANNELS = 16,  /* the number of DMA channels of a PE */
    KB_COST_ENGINES = 32,   /* the number of DMA engines of an M_CPU */
    KB_COST_COMPUTE = 64,   /* cycles of GEMM and MATH */
    KB_COST_TCM_GBS = 128,  /* bandwidth of TCMs for FETCH and STORE of their own PE */
    KB_COST_BUFFERS =
        256,              /* the size of buffers of routers, and of what waits for a memory there */
    KB_COST_CACHES = 512, /* caches and L2s: all that comes to one is passed on at once */
    KB_COST_CACHE_MISSES = 1024 /* what caches and L2s lack: each line is there */
};

/* Options of a simulation; all zero is the default. */
typedef struct kb_options {
    kb_engine engine;
    bool fingerprint;
    unsigned costs_off;  /* kb_cost_class, or-ed: classes left out */
    int64_t until_fs;    /* > 0: stop before the first event after this time */
    uint64_t max_events; /* > 0: stop after so many arrivals and completions */
    /* for kernels */
    bool oplog;                 /* keep a record of every operation, for kb_oplog_write() */
    bool phase2;                /* keep also the operands, for kb_compute() */
    uint64_t oplog_limit_bytes; /* > 0: records beyond this go to a temporary file */
    size_t stack_bytes;         /* of a kernel; 0: 256 KiB */
    bool inspect; /* keep also the lines of calls and the bytes of DMA, for kb_inspect() */
    bool buffers; /* links router: count also what is in buffers, for kb_sim_utilization() */
    bool live;    /* transactions are added while time runs, too: kb_sim_run_to() */
    /*
     * tl_value() of what arithmetic makes: it is computed then, by `value_threads` threads (0:
     * one). verify_values: and compared with plain loops, as kb_compute() does by verify_ops.
     * no_values: kernels keep no bytes, reads find what no one can ask for, and none is absent; the
     * same times in less of the host's. With the log, Phase 2, or values: KB_BAD_REQUEST.
     */
    bool values, verify_values, no_values;
    unsigned value_threads;
} kb_options;

/* One transaction. */
typedef struct kb_transaction {
    int64_t issue_fs; /* 0..2^63-1 */
    kb_transaction_op op;
    kb_endpoint src; /* a PE, or for KB_H2D and KB_D2H a host */
    kb_endpoint dst; /* a slice or an SRAM; for hosts a slice of the same SIP */
    uint64_t offset; /* in bytes, inside the target; offset + nbytes must not exceed its size */
    uint64_t nbytes; /* > 0 */
    /*
     * With by_address the target is a global address, and dst and offset are not read. If addresses
     * are interleaved (addressing.granule), the range may lie in several slices: it is split.
     */
    bool by_address;
    uint64_t address;
    uint32_t plane; /* with sip.plane: column, 1 + the number of its plane; 0: as its op says */
    uint32_t prio;  /* links router: 0..3, the larger is served first */
    /*
     * A tile: `nbytes` are those of `rows` rows that begin `stride` bytes apart; 0 or 1: one row.
     * The DMA of its PE must move runs (cube.pe.pe_dma.tiles).
     */
    uint32_t rows;
    uint64_t stride;
    /*
     * A multicast: a write of a PE to the same `offset` of several memories of one kind, 2 to
     * KB_TARGETS_MAX, none twice, or a read of them, whose data join on their way; `dst` is not
     * read. Links that their ways share carry the bytes once. Borrowed for the call.
     * kb_sim_request() gives their number, and NULL.
     */
    const kb_endpoint *targets;
    uint32_t n_targets;
} kb_transaction;

enum { KB_TARGETS_MAX = 4096 }; /* of one transaction */

/* Where a transaction may wait, in the order of its route: WAIT(NAME, name). Source of kb_wait. */
#define KB_WAITS(WAIT)                                                                             \
    WAIT(CHANNEL, channel) /* for a DMA channel of its PE */                                       \
    WAIT(ENGINE, engine)   /* host transactions: for an engine of the M_CPU */                     \
    WAIT(LINK, link)       /* links fifo: for an edge */                                           \
    WAIT(MEMORY, memory)   /* for the memory */
#define KB_WAIT_ENUM_(NAME, name) KB_WAIT_##NAME,
typedef enum kb_wait { KB_WAITS(KB_WAIT_ENUM_) KB_N_WAITS } kb_wait;

/*
 * The times of one transaction that has run. issue_fs may be later than that of its request if it
 * had dependencies. actual_fs is exactly wire + overhead + drain + response + return + the sum of
 * wait_fs.
 */
typedef struct kb_result {
    int64_t issue_fs, start_fs, arrive_fs, service_fs, done_fs, end_fs;
    int64_t wire_fs, overhead_fs, drain_fs, response_fs;
    int64_t return_fs; /* links router: of reads, the way of the data back */
    int64_t wait_fs[KB_N_WAITS];
    int64_t formula_fs, actual_fs;
    double bottleneck_gbs; /* of the edges up to what served: an L2, or the memory */
} kb_result;

/* The sum of all waits, in fs. */
static inline int64_t kb_wait_sum_fs(const int64_t wait_fs[KB_N_WAITS])
{
    int64_t sum_fs = 0;

    for (int i = 0; i < KB_N_WAITS; i++)
        sum_fs += wait_fs[i];
    return sum_fs;
}

/* Bytes of memory that a simulation of `topo` takes before anything happens, at least. */
uint64_t kb_sim_bytes(const kb_topology *topo);

/*
 * Makes a simulation of `topo` (borrowed). `options` may be NULL. Free it by kb_sim_free().
 *
 * returns  KB_BAD_REQUEST: an option does not exist, or two exclude each other; KB_NO_MEMORY
 */
kb_status kb_sim_new(const kb_topology *topo, const kb_options *options, kb_sim **out);
void kb_sim_free(kb_sim *sim);

enum { KB_TRANSACTIONS_MAX = (1 << 28) - 1 }; /* of one simulation */

/*
 * Adds a transaction, before the first kb_sim_run(), or with option `live` whenever it is issued at
 * a time that kb_sim_run_to() has not passed. Its id is the number of transactions added
 * before it. They may be added in any order of time.
 *
 * returns  KB_BAD_REQUEST with the reason in `why` (may be NULL); KB_NO_MEMORY
 */
kb_status kb_sim_add(kb_sim *sim, const kb_transaction *request, kb_error *why);

/*
 * Before anything runs in `sim`, its caches get the lines that those of `from` have, a simulation
 * of the same machine that has run to its end. Nothing else of it is seen.
 *
 * returns  KB_BAD_REQUEST if `sim` has begun, or `from` is of another machine; KB_NO_MEMORY
 */
kb_status kb_sim_warm(kb_sim *sim, const kb_sim *from, kb_error *why);

/* Stands for the endpoint of a row by address. */
#define KB_BY_ADDRESS UINT32_MAX

/*
 * Transactions as columns: element i of each belongs to row i. Endpoints come once, and rows have
 * their numbers, as a column of categories has. All is borrowed for the call.
 */
typedef struct kb_transaction_columns {
    const kb_endpoint *ends;
    size_t n_ends;
    const uint32_t *src, *dst; /* numbers of `ends` */
    const uint64_t *nbytes;
    /* As in kb_transaction. A column that is NULL is 0 in all rows. */
    const int64_t *issue_fs;
    const uint8_t *op; /* kb_transaction_op; 0: KB_READ */
    const uint64_t *offset;
    const uint8_t *plane, *prio;
    const uint64_t *address; /* the target of a row whose dst is KB_BY_ADDRESS */
    const uint32_t *rows;
    const uint64_t *stride;
    /* Of each row how many targets it has, if it is a multicast, whose dst is not read; 0: it is
     * none. `targets` are numbers of `ends`: those of all rows, one behind the other. */
    const uint32_t *n_targets, *targets;
} kb_transaction_columns;

/*
 * Adds `n` transactions, in the order of the rows, as kb_sim_add() does each: all of them or none.
 * For many rows it is several times as quick. It looks at each of `ends` once a call.
 *
 * bad      if it fails, the first row that is not valid; `n`: none of them is at fault. May be NULL
 * returns  as kb_sim_add()
 */
kb_status kb_sim_add_many(kb_sim *sim, const kb_transaction_columns *rows, size_t n, size_t *bad,
                          kb_error *why);

/*
 * Makes transaction `id` depend on the `n` transactions `after`: it is issued `think_fs` after the
 * last of them has ended (of a host: after its response is back), but not before its own issue_fs.
 * Call it once for an `id` that has been added, before the first kb_sim_run(). Those in `after` may
 * be added later, in any order, and may be named twice. With n = 0 it has no dependencies, and
 * think_fs must be 0.
 *
 * returns  KB_BAD_REQUEST with the reason in `why`; KB_NO_MEMORY. The first kb_sim_run() finds ids
 *          that do not exist, and transactions that depend on each other: it returns KB_BAD_REQUEST
 *          and names them, and what is missing may still be added.
 */
kb_status kb_sim_add_dependencies(kb_sim *sim, uint64_t id, const uint64_t *after, size_t n,
                                  int64_t think_fs, kb_error *why);

/*
 * Checks all dependencies so far, as the first kb_sim_run() does, before anything runs.
 *
 * returns  KB_BAD_REQUEST, with the reason in `why` and one transaction in `*id` (may be NULL): one
 *          that waits for an id that does not exist, or the smallest id of a cycle; KB_NO_MEMORY
 */
kb_status kb_sim_check_dependencies(kb_sim *sim, uint64_t *id, kb_error *why);

/*
 * Runs until nothing is pending, or for about `budget` events (0: no limit).
 *
 * returns  KB_OK: all is complete; KB_AGAIN: the budget is used up; KB_STOPPED: a limit of the
 *          options was reached; KB_BAD_REQUEST: see kb_sim_add_dependencies(), nothing has run;
 *          KB_TIME_RANGE, KB_NO_MEMORY, KB_INTERNAL: the run has ended, and results so far stay
 */
kb_status kb_sim_run(kb_sim *sim, uint64_t budget, kb_error *why);

/* After KB_KERNEL_ERROR: a kernel has asked for a value that only option `values` gives. With it
 * the same launches run. */
bool kb_sim_wants_values(const kb_sim *sim);

/*
 * With option `live`: runs all that happens before `to_fs` (to_fs > 0); with `first` it ends right
 * behind the first event in which transactions complete, too. Transactions may be added afterwards
 * that are issued at `to_fs` or later, or at the time of that event. They have the times that they
 * would have had if they had been added before the run, or had waited for what completed. There
 * may be no dependencies.
 *
 * from_fs  the earliest time at which a transaction may be issued from now on. May be NULL
 * returns  KB_OK: all that was added is complete; KB_AGAIN: it is not; KB_BAD_REQUEST: the
 *          simulation is not live, or time would go back; else as kb_sim_run(), which runs a
 *          simulation to its end: it takes no transaction any more
 */
kb_status kb_sim_run_to(kb_sim *sim, int64_t to_fs, bool first, int64_t *from_fs, kb_error *why);

/*
 * The same for about `budget` events (0: no limit): for a program that looks at something else
 * from time to time. It is at its end when it returns something else than KB_AGAIN, from_fs is
 * to_fs, or, with `first`, kb_sim_done() has grown. Until then call it again.
 */
kb_status kb_sim_run_part(kb_sim *sim, int64_t to_fs, bool first, uint64_t budget, int64_t *from_fs,
                          kb_error *why);

/*
 * With option `live`: writes the numbers of transactions that have completed since the last call
 * to `ids`, of which there are `room` at most, in the order in which they have. What it costs does
 * not depend on how many there are in all.
 *
 * returns  how many; 0: none, or the simulation is not live
 */
size_t kb_sim_completed(kb_sim *sim, uint64_t *ids, size_t room);

uint64_t kb_sim_count(const kb_sim *sim); /* transactions added */
uint64_t kb_sim_done(const kb_sim *sim);  /* transactions complete */

/*
 * Returns the request that was added as `id`, without its offset or address, which are not kept:
 * dst is where its first byte lies. With sip.plane: column, its plane is the one that it took.
 * After its issue, issue_fs is the time of that, as in kb_sim_result().
 */
kb_status kb_sim_request(const kb_sim *sim, uint64_t id, kb_transaction *out);

/* Returns the times of transaction `id`. KB_PENDING: it is not complete. KB_NO_MEMORY: to find out
 * what it takes alone of a memory with banks or components. */
kb_status kb_sim_result(const kb_sim *sim, uint64_t id, kb_result *out);

/*
 * Where the times of many transactions go: columns in memory of the caller. Each has the field of
 * kb_result with its name; one that is NULL is left out.
 */
typedef struct kb_result_columns {
    uint8_t *status; /* of each row what kb_sim_result() returns, one behind the other; or NULL */
    size_t stride;   /* in bytes, from a row to the next in all columns below; 0: they are arrays */
    int64_t *issue_fs, *start_fs, *arrive_fs, *service_fs, *done_fs, *end_fs;
    int64_t *wire_fs, *overhead_fs, *drain_fs, *response_fs;
    int64_t *return_fs;
    int64_t *wait_fs[KB_N_WAITS];
    int64_t *formula_fs, *actual_fs;
    double *bottleneck_gbs;
} kb_result_columns;

/*
 * Writes the times of the `n` transactions from `first` on to columns, which have room for as many.
 * A row that is not complete is 0 in all of them.
 *
 * returns  KB_OK; KB_PENDING: some are not complete; KB_INTERNAL: the times of one do not add up;
 *          KB_BAD_REQUEST: there are not as many transactions
 */
kb_status kb_sim_results(const kb_sim *sim, uint64_t first, size_t n, const kb_result_columns *out);

/* FNV-1a 64 over all completions and arrivals at stations so far; needs option `fingerprint`. */
uint64_t kb_sim_fingerprint(const kb_sim *sim);

/* -- observers ------------------------------------------------------------------------------ */

/*
 * The cause of a piece of time: CAUSE(NAME, name, column of sums, is a wait). Source of kb_cause,
 * of kb_cause_name() and of kb_cause_is_wait().
 */
#define KB_CAUSES(CAUSE)                                                                           \
    /* pe_cpu and pe_scheduler: from the call of a command to its issue */                         \
    CAUSE(DISPATCH, dispatch, dispatch_ns, false)                                                  \
    /* for a DMA channel of the PE */                                                              \
    CAUSE(CHANNEL_WAIT, channel_wait, queue_channel_ns, true)                                      \
    /* on an edge, or crossing a NoC */                                                            \
    CAUSE(WIRE, wire, wire_ns, false)                                                              \
    /* in a node */                                                                                \
    CAUSE(OVERHEAD, overhead, overhead_ns, false)                                                  \
    /* links fifo: for an edge */                                                                  \
    CAUSE(LINK_WAIT, link_wait, queue_link_ns, true)                                               \
    /* for an engine: of an M_CPU, or a PE's GEMM or MATH */                                       \
    CAUSE(ENGINE_WAIT, engine_wait, queue_engine_ns, true)                                         \
    /* for a slice or an SRAM */                                                                   \
    CAUSE(MEMORY_WAIT, memory_wait, queue_memory_ns, true)                                         \
    /* the bytes, at the bottleneck */                                                             \
    CAUSE(DRAIN, drain, drain_ns, false)                                                           \
    /* back to the host */                                                                         \
    CAUSE(RESPONSE, response, response_ns, false)                                                  \
    /* for a port of a TCM */                                                                      \
    CAUSE(PORT_WAIT, port_wait, queue_port_ns, true)                                               \
    /* FETCH and STORE: bytes through a port of the TCM */                                         \
    CAUSE(PORT, port, port_ns, false)                                                              \
    /* cycles of GEMM or MATH */                                                                   \
    CAUSE(COMPUTE, compute, compute_ns, false)                                                     \
    /* for another PE: for a message, or for a free slot */                                        \
    CAUSE(QUEUE_WAIT, queue_wait, queue_pe_ns, true)                                               \
    /* for the other members of a barrier */                                                       \
    CAUSE(BARRIER_WAIT, barrier_wait, barrier_ns, true)                                            \
    /* of a slice with banks: for refreshes, for rows, for its bus; an open row makes it negative  \
     */                                                                                            \
    CAUSE(REFRESH_WAIT, refresh_wait, queue_refresh_ns, true)                                      \
    CAUSE(ROW_WAIT, row_wait, queue_row_ns, true)                                                  \
    CAUSE(BUS_WAIT, bus_wait, queue_bus_ns, true)                                                  \
    /* from the issue of a command to its start: for the commands that make its operands */        \
    CAUSE(OPERAND_WAIT, operand_wait, queue_operand_ns, true)                                      \
    /* for room in the TCM, before the issue */                                                    \
    CAUSE(ROOM_WAIT, room_wait, queue_room_ns, true)                                               \
    /* links router: data of a read, on their way back without queues */                           \
    CAUSE(RETURN, return, return_ns, false)                                                        \
    /* for a port, an input server or a VC that others have; for room in the buffer behind it */   \
    CAUSE(ROUTER_WAIT, router_wait, queue_router_ns, true)                                         \
    CAUSE(CREDIT_WAIT, credit_wait, queue_credit_ns, true)                                         \
    /* kernels: software.launch_ns, before the first command */                                    \
    CAUSE(LAUNCH, launch, launch_ns, false)                                                        \
    /* of a slice with a cache: for the cache; for lines that others are bringing in */            \
    CAUSE(CACHE_WAIT, cache_wait, queue_cache_ns, true)                                            \
    CAUSE(PENDING_WAIT, pending_wait, queue_pending_ns, true)
#define KB_CAUSE_ENUM_(NAME, name, column, is_wait) KB_CAUSE_##NAME,
typedef enum kb_cause { KB_CAUSES(KB_CAUSE_ENUM_) KB_N_CAUSES } kb_cause;

const char *kb_cause_name(kb_cause cause); /* "channel_wait" */
bool kb_cause_is_wait(kb_cause cause);

/* A component, or an endpoint, as a number: equal places have equal numbers. */
typedef uint64_t kb_place;
#define KB_NOWHERE ((kb_place)0)

typedef enum kb_place_kind {
    KB_AT_NOTHING,
    KB_AT_PE,      /* an endpoint: "c0.pe3" */
    KB_AT_HOST,    /* an endpoint: "s1.host" */
    KB_AT_MEMORY,  /* a slice, SRAM or TCM, as endpoint and as station: "c0.slice4" */
    KB_AT_NODE,    /* "sip0.cube0.xbar.pe3" */
    KB_AT_LINK,    /* a directed edge: "sip0.cube0.noc -> sip0.cube0.ucie-E" */
    KB_AT_CHANNEL, /* "sip0.cube0.pe3.pe_dma.read" */
    KB_AT_ENGINE,  /* "sip0.cube0.m_cpu.write" */
    KB_AT_PORT,    /* of a PE: "sip0.cube0.pe3.pe_tcm.read", .write, ".pe3.pe_gemm", ".pe_math" */
    KB_AT_BANKS,   /* a channel of a slice with banks: "sip0.cube0.hbm_ctrl.slice4.ch0" */
    KB_AT_VC,      /* of a router's port: "sip0.cube0.noc -> sip0.cube0.ucie-E vc1" */
    KB_AT_CACHE,   /* of a slice: "sip0.cube0.hbm_ctrl.slice4.cache"; or an L2: "sip0.cube0.l2" */
} kb_place_kind;

static inline kb_place_kind kb_place_kind_of(kb_place place)
{
    return (kb_place_kind)(place >> 56);
}

enum { KB_PLACE_BYTES = 2 * KB_NODE_BYTES + 16 };

/* Writes the name of `place` into `text`, "" for KB_NOWHERE; returns its length. */
size_t kb_place_name(const kb_topology *topo, kb_place place, char text[KB_PLACE_BYTES]);

/* Writes the full name of the node that `place` is or belongs to, "sip0.cube0.pe3.pe_dma", into
 * `text`; an edge belongs to the node that it leaves. Returns its length. */
size_t kb_place_node(const kb_topology *topo, kb_place place, char text[KB_NODE_BYTES]);

#define KB_NO_ID UINT32_MAX

/*
 * A piece of the time of one transaction, or of one stage of a kernel's command. The pieces of one
 * `id` follow each other without a gap, from its issue to its end. Only waits may be empty. The
 * time that a command waits for another PE (cause QUEUE_WAIT, `what` "send" or "recv") is the first
 * piece of the stage that follows; the piece of a barrier lasts from its issue to its end.
 */
typedef struct kb_span {
    uint32_t id; /* as in fingerprints, results and the op log */
    uint32_t
        command;    /* kernels: the op_id of which it is a stage (or `id` itself); else KB_NO_ID */
    uint32_t token; /* of a composite: the number of the tile; else KB_NO_ID */
    const char *what; /* "read", "h2d"; kernels: "dma_read", "ipcq_copy", "fetch", "gemm", "math" */
    kb_place source;  /* a PE or a host */
    kb_place target;  /* the memory of a transaction; KB_NOWHERE: a stage inside the PE */
    uint64_t nbytes;  /* of a transaction */
    kb_cause cause;
    kb_place place;     /* where it is spent */
    kb_place behind;    /* of a wait: the source of the last one served there; or KB_NOWHERE */
    uint32_t behind_id; /* of a wait: the id of that one; else KB_NO_ID */
    uint32_t message;   /* the ipcq_copy whose bytes it takes out of the slot; else KB_NO_ID */
    int64_t begin_fs;
    int64_t end_fs; /* -1: not known yet */
    /*
     * Of a transaction that is split over slices, or into packets or runs, the part, from 0.
     * KB_NO_ID: the whole, which waits for its channel and has it; each part has its own pieces
     * from then on, and its own end.
     */
    uint32_t part;
    bool is_part; /* its end is not that of the transaction; false: also of one that is not split */
} kb_span;

/*
 * The service of a transaction or a stage by a station: channel, engine, memory, port, fifo link.
 * Or of one of its segments by the bus of a channel with banks; of a posted write, which may have
 * ended, source and target are not known then, nor its command.
 */
typedef struct kb_service {
    uint32_t id, command, token, message; /* as in kb_span */
    const char *what;
    kb_place source, target;
    uint64_t nbytes;
    kb_place place;
    int64_t begin_fs;
    int64_t end_fs; /* -1: not known yet */
    uint32_t part;  /* as in kb_span */
    const char
        *found;    /* of a channel with banks: "row hit", "row miss", "row conflict"; else NULL */
    uint32_t bank; /* the same: its number in the channel, and the row */
    uint64_t row;
} kb_service;

/* A part of the time of a command. */
typedef struct kb_share {
    kb_cause cause;
    kb_place place;
    uint64_t count; /* pieces */
    int64_t sum_fs;
    int64_t longest_fs; /* of a wait: its longest piece, and below what was in front then */
    kb_place behind;
    uint32_t behind_id;
} kb_share;

/*
 * A command of a kernel. Its shares add up to the time from its call to its end. Of the tiles of a
 * composite, and the pieces of a message, those count for which its end waited.
 */
typedef struct kb_command {
    uint32_t id;                 /* op_id */
    uint32_t pe;                 /* number over all SIPs and cubes */
    const char *call;            /* "tl_load" */
    const char *name;            /* as the op log has it: "dma_read", "gemm_f16", "exp"; or "send",
                                    "recv", "barrier", "atomic_add",
                                    "atomic_cas", "atomic" */
    const char *kernel, *region; /* region may be NULL */
    const char *file;            /* of the call */
    int line;
    bool async, composite;
    int64_t call_fs, issue_fs;
    int64_t start_fs;      /* max(issue, ends of the commands that make its operands); -1. On an
                              accumulator: its turn behind the command before, if that comes later
                              than its FETCH */
    int64_t end_fs;        /* -1: not known yet */
    const kb_share *share; /* once it has ended */
    size_t n_shares;
    /* The kernel reached this call after the issue, or the end, of the PE's command `after`. */
    uint32_t after; /* KB_NO_ID: after the start of the kernel */
    bool after_end;
    int64_t return_fs; /* the call returned: at its end, its issue, or the issue of a send's last
                          piece */
    /* If another PE, or what made room in the TCM, caused its return before its end, or another PE
     * or command its end: the stretches; or KB_NO_ID. */
    uint32_t return_stretch, end_stretch;
    uint32_t maker; /* of its operands, or the accumulator's content, the command that let it start
                       after its issue; KB_NO_ID */
} kb_command;

/*
 * A part of a command's time between two points where PEs, or commands of one, depend on each
 * other. It begins with the call, or when the message, word or slot that the command waited for set
 * out from the other PE, or when it got the channel, engine or room that another command had. It
 * ends when its own message or word arrives, when its slot, channel, engine or room is free again,
 * when its call returns, or when the command ends.
 */
typedef struct kb_stretch {
    uint32_t number; /* 0, 1, 2, ... */
    uint32_t command, pe;
    int64_t begin_fs, end_fs;
    const kb_share *share; /* they add up to it */
    size_t n_shares;
    uint32_t before;  /* the stretch, of another PE or another command, that ended when it begins;
                         KB_NO_ID: the call */
    uint32_t maker;   /* of one that begins with the call: kb_command.maker and .start_fs as they */
    int64_t start_fs; /* were then; its turn on an accumulator comes later */
} kb_stretch;

/* A kernel on one PE. */
typedef struct kb_kernel_run {
    uint32_t launch, pe;
    const char *kernel;
    int64_t start_fs;
    int64_t end_fs;       /* -1: not known yet */
    uint32_t after;       /* after its end: the command that it ended with; KB_NO_ID: none */
    bool after_end;       /* it ended with the end of that command, not with its issue */
    uint32_t end_stretch; /* instead, the stretch that made room which the kernel waited for last;
                             KB_NO_ID */
} kb_kernel_run;

/*
 * An observer: functions that a simulation calls while it runs, in order of simulated time. Any of
 * them may be NULL. They must not call the simulation. Their arguments are valid until they return,
 * and texts until the simulation is freed.
 *
 * Some calls come before their time, when it is known already: those of the way behind a fifo link,
 * and of the end of a memory's own overhead. The service of a link, of a channel with banks, and of
 * a memory that is free before its transaction is done (hold: own, latency_ns), has its end when it
 * is taken, and is never released. With open-loop traffic the waits for channels are reported late,
 * one at a time for each PE, after the transaction before has left the queue.
 */
typedef struct kb_observer {
    void *arg;
    void (*open)(void *arg, const kb_span *span);  /* a span begins */
    void (*close)(void *arg, const kb_span *span); /* a span has ended */
    void (*take)(void *arg, const kb_service *service);
    void (*release)(void *arg, const kb_service *service);
    void (*end)(void *arg, const kb_span *last); /* a transaction, or last->is_part: a part of one,
                                                    has ended, at last->end_fs */
    void (*issue)(void *arg, const kb_command *command);
    void (*finish)(void *arg, const kb_command *command);
    void (*start)(void *arg, const kb_kernel_run *run);
    void (*leave)(void *arg, const kb_kernel_run *run);
    void (*go_on)(void *arg, const kb_command *send); /* it returns: its last piece is issued */
    void (*stretch)(void *arg, const kb_stretch *stretch);
} kb_observer;

enum { KB_OBSERVERS_MAX = 4 };

/*
 * Adds an observer (copied) to a simulation that has not begun. It is then run by KB_HOP, with the
 * same results, and checks that the pieces of every transaction and command add up to its time
 * (KB_INTERNAL).
 *
 * returns  KB_BAD_REQUEST: the simulation has begun, or has KB_OBSERVERS_MAX observers;
 * KB_NO_MEMORY
 */
kb_status kb_sim_observe(kb_sim *sim, const kb_observer *watch, kb_error *why);

/* -- latency breakdown ---------------------------------------------------------------------- */

/* The time of a simulation's transactions, or of its kernels' commands, by causes. */
typedef struct kb_breakdown kb_breakdown;

/* The tables of a breakdown: one row for each cause of each of these. */
typedef enum kb_breakdown_by {
    KB_BREAKDOWN_ALL,    /* the whole run */
    KB_BREAKDOWN_PLACE,  /* a component, or an edge */
    KB_BREAKDOWN_WAIT,   /* a station, by the source in front; of composites all tiles count */
    KB_BREAKDOWN_SOURCE, /* a PE or a host, by its transactions */
    KB_BREAKDOWN_TARGET, /* a memory, by the transactions to it */
    KB_BREAKDOWN_OP,     /* transactions: "read"; kernels: commands, as the op log names them */
    KB_BREAKDOWN_PE,     /* kernels: a PE, by its commands; time that overlaps counts repeatedly */
    KB_BREAKDOWN_PATH,   /* the critical path of a kernel, and the part of each call in it */
    KB_BREAKDOWN_LINE,   /* kernels: a line, by the commands of all PEs that were called there */
    KB_BREAKDOWN_REGION, /* kernels: a name of tl_region(), by the commands of all PEs there */
    KB_N_BREAKDOWNS
} kb_breakdown_by;

/* The time of one cause in one of them. */
typedef struct kb_breakdown_row {
    kb_breakdown_by by;
    const char *of; /* "c0.pe3", "dma_read"; "" of ALL; of PATH "attention", "tl_load copy.c:12";
                       of LINE "copy.c:12"; of REGION its name, "" outside of all */
    kb_cause cause;
    kb_place place;  /* of waits, drain, ports, compute; of ALL and OP KB_NOWHERE */
    kb_place behind; /* WAIT, and waits of PATH: the source of the last one served there */
    uint64_t count;
    int64_t sum_fs; /* saturates at INT64_MAX */
    int64_t all_fs; /* of all causes of `of`; saturates */
    double sum_ns, all_ns;
} kb_breakdown_row;

/* One step of a critical path: a command, from its call to its end, or to its issue. */
typedef struct kb_breakdown_step {
    uint32_t launch, pe;
    const char *kernel;
    uint32_t id; /* op_id */
    const char *call, *name, *file;
    int line;
    int64_t begin_fs, end_fs;
    const kb_share *share; /* all wires are one share, all nodes another, without places */
    size_t n_shares;
} kb_breakdown_step;

/*
 * Makes a breakdown of `sim`, which has not begun, as an observer of it (kb_sim_observe()). Of
 * transactions, and if others hear of commands and kernels alone, KB_FUSED runs it, with the same
 * sums. `sim` must not be freed before it.
 *
 * returns  KB_BAD_REQUEST, KB_NO_MEMORY
 */
kb_status kb_breakdown_new(kb_sim *sim, kb_breakdown **out, kb_error *why);
/* The same for kb_breakdown_path() alone, which takes less: its rows are those of the path. */
kb_status kb_breakdown_new_path(kb_sim *sim, kb_breakdown **out, kb_error *why);
void kb_breakdown_free(kb_breakdown *why);

/*
 * After the run: calls `each` for every row, table by table, in each the largest all_fs first, then
 * the largest sum_fs. If the run ended early, only what has ended counts.
 *
 * returns  KB_NO_MEMORY
 */
kb_status kb_breakdown_rows(kb_breakdown *why, void (*each)(void *arg, const kb_breakdown_row *row),
                            void *arg);

/*
 * Calls `each` for every step of the critical path of each launch that has run, in order of time.
 * The path is the chain of commands, on any PEs, that determined when the last kernel ended. Its
 * steps follow each other without a gap from the start of the kernels to their end. A step ends at
 * the issue of its command if the next step follows from that, and where another PE has waited for
 * its message, slot or word.
 *
 * returns  KB_NO_MEMORY
 */
kb_status kb_breakdown_path(kb_breakdown *why,
                            void (*each)(void *arg, const kb_breakdown_step *step), void *arg);

/* -- utilization ---------------------------------------------------------------------------- */

/*
 * The utilization of one component. Transactions count when they are complete. Times count until
 * the end of the run: kb_sim_end_fs(), or how far it has come. A read counts on the way of its
 * data.
 *
 * Any number of transactions may pass a node at once: it has no servers and no queue, and its
 * busy_fs is count times its overhead. An ideal link has no queue either; its busy_fs is bytes over
 * gbs, and may exceed the time of the run.
 */
typedef struct kb_utilization {
    kb_place_kind kind; /* KB_AT_NODE, _LINK, _CHANNEL, _ENGINE, _MEMORY, _BANKS, _PORT or _VC */
    char name[KB_PLACE_BYTES];
    char from[KB_NODE_BYTES], to[KB_NODE_BYTES]; /* of a link; of a VC: the nodes where its port and
                                                    its buffer are; else "" */
    double gbs;       /* of links, memories, and ports of a TCM; else 0 */
    uint32_t servers; /* 0: unlimited */
    uint64_t count;
    uint64_t bytes;  /* of GEMM and MATH 0 */
    int64_t busy_fs; /* summed over servers */
    double util_pct; /* busy_fs, in % of servers times the end of the run; 0 without servers */
    bool queues;
    double wait_ns;    /* summed over transactions */
    double queue_mean; /* the number that waited, averaged over the run */
    int64_t queue_max; /* -1: not known, of channels in a simulation with traffic */
    /*
     * Of a slice with banks, and of each of its channels: segments that found their row open, no
     * row open, another row open; rows that were opened for one; the share of the time that
     * refreshes took. The count of a channel is segments. Posted writes that are served behind the
     * end of the run count, and util_pct and refresh_pct are then of the time up to the last one.
     */
    bool has_rows;
    uint64_t row_hits, row_misses, row_conflicts, activations;
    double refresh_pct;
    /*
     * Of the cache of a slice: lines that were there, those of them that were still on their way,
     * lines that were not there, lines that were dropped, and those of them that were written back.
     * The memory behind it has a row of its own, of what the cache has asked for.
     */
    bool has_lines;
    uint64_t hits, pending, misses, evictions, written_back;
    /*
     * Of a VC, with kb_options.buffers: `count` are segments. The buffer at the end of its port
     * holds the bytes of a segment from its arrival until its last byte has left. stall_fs: for how
     * long what went next by the VC was ready in front, without a credit. These times do not
     * overlap.
     */
    uint64_t buffer_bytes; /* its room; 0: without limit, or none */
    double buffer_mean;    /* bytes, over the run */
    int64_t buffer_max;    /* bytes */
    int64_t stall_fs;
} kb_utilization;

/* The time of the last completion, in fs. */
int64_t kb_sim_end_fs(const kb_sim *sim);

/*
 * Calls `each` for every component that a transaction or a stage of a command went through: nodes,
 * links, VCs, channels, engines, memories (each with its channels with banks), ports, each kind in
 * a fixed order. Asked before a run over fifo links has ended, links count what is on its way to
 * them, memories the waits of what they served.
 *
 * returns  KB_NO_MEMORY
 */
kb_status kb_sim_utilization(const kb_sim *sim, void (*each)(void *arg, const kb_utilization *use),
                             void *arg);

/* -- sweeps --------------------------------------------------------------------------------- */

/* One point: `inflight` copies of a transaction, all issued at time 0 on an idle machine. */
typedef struct kb_point {
    kb_transaction_op op;
    kb_endpoint src, dst; /* as in kb_transaction */
    uint64_t nbytes;      /* of each copy, > 0 */
    uint32_t inflight;    /* > 0 */
    bool by_address;      /* as in kb_transaction: the target is `address`, and may be split */
    uint64_t address;
    uint32_t rows; /* as in kb_transaction */
    uint64_t stride;
} kb_point;

/* The latencies of its copies, in fs: percentiles by nearest rank, means rounded to whole fs. */
typedef struct kb_point_result {
    uint64_t count; /* `inflight` */
    int64_t mean_fs, p50_fs, p99_fs, max_fs, makespan_fs;
    double gbs; /* count * nbytes over the makespan */
    /* means of the terms of the latency */
    int64_t wire_fs, overhead_fs, drain_fs, response_fs, return_fs;
    int64_t wait_fs[KB_N_WAITS];
} kb_point_result;

/*
 * Runs `n` points, each by itself, in a simulation that is used for nothing else. It may be called
 * again; use one simulation per thread. Options `engine` and `costs_off` have an effect. A single
 * copy meets no other, so with KB_FUSED its result is computed from the tables.
 *
 * n_run    the number of points that were run; may be NULL
 * returns  KB_BAD_REQUEST: the simulation has transactions, traffic or kernels, or options that end
 *          it early; or a point has no route, or more bytes than the memory holds;
 *          KB_TIME_RANGE, KB_NO_MEMORY, KB_INTERNAL
 */
kb_status kb_sweep(kb_sim *sim, const kb_point *points, size_t n, kb_point_result *results,
                   size_t *n_run, kb_error *why);

/*
 * The same, which asks stops(arg) several times a second, also within a point (NULL: it does not).
 *
 * returns  KB_STOPPED if that said so: n_run points are complete, and the simulation takes no more
 */
kb_status kb_sweep_until(kb_sim *sim, const kb_point *points, size_t n, bool (*stops)(void *arg),
                         void *arg, kb_point_result *results, size_t *n_run, kb_error *why);

/* -- traffic -------------------------------------------------------------------------------- */

/* The target slice of PE i of N, named as in BookSim. PEs and slices are numbered over all SIPs. */
typedef enum kb_pattern {
    KB_UNIFORM,   /* all slices with equal probability, its own included */
    KB_LOCAL,     /* i */
    KB_NEIGHBOR,  /* i + 1 mod N */
    KB_TRANSPOSE, /* i with row and column of a square exchanged; N must be a square */
    KB_BITCOMP,   /* the complement of all bits of i; N must be a power of two */
    KB_HOTSPOT,   /* slice 0 with probability `hotspot`, else uniform */
    KB_MATRIX,    /* by the weights of `matrix` */
    KB_STREAM,    /* walks the addresses of its share, one transaction behind the other */
    KB_STRIDED,   /* the same by steps of `stride` */
    KB_RANDOM,    /* any place of its share that is a multiple of the size */
    KB_MULTICAST, /* i + 1 to i + `copies` mod N, by one write */
} kb_pattern;

/* From one PE to one slice: a share of the traffic. */
typedef struct kb_matrix_row {
    uint32_t pe, slice;
    double weight; /* > 0; only its ratio to the other weights matters */
} kb_matrix_row;

/*
 * Open-loop traffic: PEs issue at times that do not depend on how long their transactions take.
 *
 * PE i draws from its own random stream, seeded by (seed, i): first the time of issue, then the
 * target. Its k-th transaction, from 0, has id k * N + i. All PEs issue at the same rate; with a
 * matrix the PE with the largest sum of weights issues at `rate`, the others in proportion.
 */
typedef struct kb_traffic {
    kb_pattern pattern;
    double hotspot;              /* 0..1 */
    const kb_matrix_row *matrix; /* borrowed until the call returns */
    size_t n_matrix;
    kb_transaction_op op; /* KB_READ or KB_WRITE */
    uint64_t nbytes;      /* of a transaction */
    double rate;          /* > 0; 1.0: each PE issues as many bytes per ns as cube.xbar.pe_gbs */
    bool fixed;           /* equal intervals, shifted from PE to PE, instead of a Poisson process */
    uint64_t txns;        /* the expected number of transactions of all PEs */
    uint64_t seed;
    uint64_t stride; /* of KB_STRIDED: bytes from one transaction of a PE to its next, > 0 */
    double writes;   /* 0..1: the share of transactions that write, where `op` is KB_READ */
    uint32_t copies; /* of KB_MULTICAST: 1 to N - 1, and to KB_TARGETS_MAX; `op` is KB_WRITE */
    uint64_t warm;   /* the first so many, by id, only fill caches, one by one before time 0 */
} kb_traffic;

/*
 * Gives traffic to `sim`, which is new; kb_sim_run() runs it. Memory does not grow with `txns`
 * beyond the first million.
 *
 * returns  KB_BAD_REQUEST with the reason in `why`: the pattern does not fit the machine, a number
 *          is out of range, the simulation is not empty, or its options end it early; KB_NO_MEMORY
 */
kb_status kb_sim_traffic(kb_sim *sim, const kb_traffic *traffic, kb_error *why);

/* The latencies and bandwidths of traffic; times in fs. */
typedef struct kb_traffic_result {
    double offered_gbs, accepted_gbs; /* over all PEs, in the time that was measured */
    uint64_t issued;                  /* transactions, over all simulations */
    uint64_t count;                   /* of these the ones issued after the warm-up: measured */
    int64_t mean_fs, p50_fs, p99_fs, p999_fs, max_fs;
    int64_t ci95_fs;   /* half of the 95 % confidence interval of the mean; -1: not known */
    int64_t warmup_fs; /* transactions issued before are not measured; the longest of all */
    bool growing; /* after the warm-up the mean still grew: more is offered than can be served */
    bool steady;  /* it did not, the run was long against what its queues remember, and the mean is
                     known better than +-100 %; else ci95_fs says little */
    bool exact;   /* percentiles are exact; else within 0.05 % */
    /* means of the terms of the latency */
    int64_t wire_fs, overhead_fs, drain_fs;
    int64_t return_fs; /* links router: of reads, the way of the data back */
    int64_t wait_fs[KB_N_WAITS];
    int64_t formula_fs; /* mean of what each would take alone: kb_result.formula_fs */
} kb_traffic_result;

/*
 * Merges the traffic of `n` simulations that have run and differ only in their seeds. The
 * confidence interval is that of the simulations' means; of a single one, that of the means of its
 * parts.
 *
 * returns  KB_BAD_REQUEST: one has no traffic; KB_PENDING: one has not ended; KB_NO_MEMORY
 */
kb_status kb_sim_traffic_result(kb_sim *const *sims, size_t n, kb_traffic_result *out);

/*
 * What the traffic of a simulation that has ended has measured, for another process of the same
 * program on the same kind of machine: put() is called with its bytes, piece by piece. There,
 * kb_sim_traffic_restore() takes them, in the same pieces, into a simulation that was given the
 * same traffic and has not begun; it is then one that has ended, for kb_sim_traffic_result(),
 * kb_sim_done() and kb_sim_end_fs() alone. Its utilization is not known.
 *
 * returns  KB_BAD_REQUEST: there is no traffic, or restored into a run; KB_PENDING: it has not
 *          ended; KB_NO_MEMORY
 */
kb_status kb_sim_traffic_save(const kb_sim *sim,
                              void (*put)(void *arg, const void *bytes, size_t n), void *arg);
kb_status kb_sim_traffic_restore(kb_sim *sim, void (*take)(void *arg, void *bytes, size_t n),
                                 void *arg);

/* -- tensors -------------------------------------------------------------------------------- */

/* Types of elements. KB_DEFAULT, where it is allowed: the type that follows from the operands. */
typedef enum kb_dtype {
    KB_DEFAULT,
    KB_F16,
    KB_BF16,
    KB_F32,
    KB_F64,
    KB_I8,
    KB_I16,
    KB_I32,
    KB_I64,
    KB_U8,
    KB_U16,
    KB_U32,
    KB_U64,
    KB_BOOL,
    KB_F8E4M3, /* of OCP: no infinity, at most 448 */
    KB_F8E5M2, /* at most 57344; what is larger, infinities too, becomes that */
    KB_I4,     /* two in a byte, element 0 in its low half; last extents are even */
} kb_dtype;

size_t kb_dtype_bytes(kb_dtype dtype); /* 0: no such type, or KB_I4 */
/* The bytes of `n` elements; of KB_I4 `n` is even. 0: no such type. */
uint64_t kb_dtype_size(kb_dtype dtype, uint64_t n);
const char *kb_dtype_name(kb_dtype dtype); /* "f16" */
kb_dtype kb_dtype_parse(const char *name); /* KB_DEFAULT: no such type */

enum { KB_RANK_MAX = 6 };

/* Extents in elements, row-major. Rank 0 is a single element. */
typedef struct kb_shape {
    int64_t rank;
    int64_t dim[KB_RANK_MAX];
} kb_shape;

/* KB_SHAPE(32, 64): at least one extent. */
#define KB_COUNT_(a, b, c, d, e, f, n, ...) n
#define KB_COUNT(...)                       KB_COUNT_(__VA_ARGS__, 6, 5, 4, 3, 2, 1, 0)
#ifdef __cplusplus
#define KB_SHAPE(...)                                                                              \
    kb_shape                                                                                       \
    {                                                                                              \
        KB_COUNT(__VA_ARGS__),                                                                     \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#else
#define KB_SHAPE(...) ((kb_shape){KB_COUNT(__VA_ARGS__), {__VA_ARGS__}})
#endif

/* The global address of byte `offset` of a slice, SRAM or TCM; UINT64_MAX: no such byte. */
uint64_t kb_address(const kb_topology *topo, const kb_endpoint *memory, uint64_t offset);

/* Finds the memory of a global address, and the offset in it. KB_BAD_REQUEST: there is none. */
kb_status kb_address_find(const kb_topology *topo, uint64_t address, kb_endpoint *memory,
                          uint64_t *offset);

/*
 * How many parts a transaction of `nbytes` at a global address has: 1, or if addresses are
 * interleaved one for each run of them in one slice. 0: not all of it is in one memory, or in the
 * slices over which addresses go round, or there are more than 65536 parts; `why` may be NULL.
 */
uint64_t kb_address_parts(const kb_topology *topo, uint64_t address, uint64_t nbytes,
                          kb_error *why);

/* How a tensor is cut: not at all, along its first axis, or along its last. */
typedef enum kb_placement_split { KB_REPLICATE, KB_ROW_WISE, KB_COLUMN_WISE } kb_placement_split;

/* A tensor is cut over all cubes, then each cube's part over its PEs: docs/kernels.md. */
typedef struct kb_placement {
    kb_placement_split cubes, pes;
} kb_placement;

/* A tensor that the host has put into the HBM of a simulation, which owns it. */
typedef struct kb_tensor kb_tensor;

/* The part of a tensor in the slice of one PE, contiguous, row-major. */
typedef struct kb_shard {
    uint64_t address;
    kb_shape shape;             /* an extent of 0: this PE has no part */
    int64_t first[KB_RANK_MAX]; /* the index of its first element in the whole tensor */
} kb_shard;

/*
 * Makes a tensor whose parts lie in the slices of the PEs, each at the next free offset that is a
 * multiple of 256 bytes. Its bytes are not written yet. Not allowed while a launch runs. `name` is
 * copied.
 *
 * returns  KB_BAD_REQUEST: an extent below 1, no rank, or a slice is full; KB_NO_MEMORY
 */
kb_status kb_tensor_new(kb_sim *sim, const char *name, kb_dtype dtype, kb_shape shape,
                        kb_placement placement, kb_tensor **out, kb_error *why);

const char *kb_tensor_name(const kb_tensor *tensor);
kb_dtype kb_tensor_dtype(const kb_tensor *tensor);
kb_shape kb_tensor_shape(const kb_tensor *tensor);

/* The part in the slice of PE `pe`, numbered over all SIPs and cubes. */
kb_shard kb_tensor_shard(const kb_tensor *tensor, uint32_t pe);

/* Fills the tensor from `bytes`, which has all its elements in C order. Simulated time does not
 * pass. */
kb_status kb_tensor_write(kb_tensor *tensor, const void *bytes, kb_error *why);
/* Fills it with random numbers from a seed and its name: floats uniform in (-scale, scale), or with
 * scale 0 odd quarters of less than 1, whose sums are exact; signed integers in -8..7, unsigned
 * ones in 0..15. */
kb_status kb_tensor_fill_random(kb_tensor *tensor, uint64_t seed, double scale, kb_error *why);
/* Fills element i, in C order, with start + i * step. */
kb_status kb_tensor_fill_arange(kb_tensor *tensor, double start, double step, kb_error *why);
/*
 * Fills it from a .npy file of the same shape, and of the same type (bf16: u2); f32 and f64 are
 * rounded once to another type of float, and integers may be of any type if all of them fit.
 *
 * returns  KB_FILE_ERROR: it cannot be read; KB_BAD_REQUEST: another shape or type, or an integer
 *          that does not fit
 */
kb_status kb_tensor_fill_npy(kb_tensor *tensor, const char *path, kb_error *why);

/*
 * Reads the whole tensor, in C order; of replicated parts the first copy.
 *
 * returns  KB_PENDING: some bytes are results that kb_compute() has not computed; KB_BAD_REQUEST:
 * some were never written
 */
kb_status kb_tensor_read(const kb_tensor *tensor, void *bytes, kb_error *why);
/*
 * The part in the slice of PE `pe` as it lies in memory, without a copy: row-major, of the shape
 * that kb_tensor_shard() tells. *bytes stay until the simulation is freed, whatever is written
 * later.
 *
 * returns  KB_BAD_REQUEST: this PE has no part, or as kb_tensor_read()
 */
kb_status kb_tensor_part(kb_tensor *tensor, uint32_t pe, const void **bytes, kb_error *why);
/* The whole as kb_tensor_read() has it, into a .npy file of version 1.0. */
kb_status kb_tensor_save_npy(const kb_tensor *tensor, const char *path, kb_error *why);

/* The result of a comparison: elements out of tolerance, and the largest difference. */
typedef struct kb_difference {
    uint64_t n_bad;
    uint64_t index; /* of the first of them, in C order */
    double got, want;
    double max_abs_err;
} kb_difference;

/*
 * Compares `n` elements of `dtype` with a reference in f64, by numpy.allclose's rule and the
 * tolerances in docs/kernels.md "Phase 2 in numbers"; NaN equals NaN.
 *
 * returns  KB_OK or KB_DIFFERENT
 */
kb_status kb_compare(kb_dtype dtype, const void *got, const double *want, uint64_t n,
                     kb_difference *out);

/* Read element `i` of `bytes` as a double, and write it: rounded to nearest even; integers
 * saturate. */
double kb_element(kb_dtype dtype, const void *bytes, uint64_t i);
void kb_element_set(kb_dtype dtype, void *bytes, uint64_t i, double value);

/* -- kernels -------------------------------------------------------------------------------- */

/* The context of a kernel on one PE, for the calls in tl.h. */
typedef struct tl_ctx tl_ctx;

/* The arguments of a kernel, the same for all PEs. Borrowed until the launch has run. */
typedef struct kb_args {
    kb_tensor *const *tensors;
    size_t n_tensors;
    const void *user; /* for the kernel; may be NULL */
} kb_args;

/* A kernel. It runs once on every PE of a launch. */
typedef void (*kb_kernel)(tl_ctx *tl, const kb_args *args);

typedef struct kb_launch_request {
    const char *name; /* of the kernel; borrowed until the simulation is freed */
    kb_kernel kernel;
    kb_args args;
    const uint32_t *pes; /* numbered over all SIPs and cubes, ascending; copied. NULL: all */
    size_t n_pes;
    uint32_t stream;       /* launches of one stream run one after the other */
    const uint32_t *after; /* numbers of earlier launches that it waits for; copied */
    size_t n_after;
} kb_launch_request;

/* One launch that has run; all times in fs. */
typedef struct kb_launch_result {
    const char *kernel;
    uint32_t pes;
    int64_t launch_fs;   /* the hosts send the launch */
    int64_t start_fs;    /* all kernels start together */
    int64_t last_end_fs; /* the last kernel ends */
    int64_t response_fs; /* the last response is back at its host */
    uint64_t ops;        /* commands issued */
    uint64_t dma_read_bytes, dma_write_bytes, gemm_macs, math_elements;
    uint32_t idle_pes;   /* PEs that issued no command */
    uint32_t idle_pe;    /* the first of them, numbered over all SIPs and cubes */
    uint64_t unreceived; /* messages that were sent and not received; the first PE's is: */
    uint32_t unreceived_from, unreceived_to, unreceived_tag;
    const char *unreceived_file;
    int unreceived_line;
    double gemm_rated_macs; /* gemm_macs, each over the rate of its product's type */
    /* How long sends waited for a free slot, some piece of a message for a channel, kernels for
     * call_ns and step_ns of machine.software: sums over all PEs. */
    int64_t slot_wait_fs, channel_wait_fs, software_fs;
    /* What the engines of these PEs can do together at most: kb_limits. */
    double gemm_macs_per_ns, math_elements_per_ns;
} kb_launch_result;

/*
 * Adds a launch, whose number is how many were added before; kb_sim_run() runs all launches. It
 * sets out at the last response of the launch before it in its stream, of those in `after`, and of
 * every earlier launch on one of its PEs; so launches of two streams run side by side where their
 * PEs differ. A queue or a barrier belongs to one launch. A simulation runs either kernels or
 * transactions, not both.
 *
 * returns  KB_BAD_REQUEST, KB_NO_MEMORY
 */
kb_status kb_launch(kb_sim *sim, const kb_launch_request *request, kb_error *why);

/* A command of a kernel that will never end. */
typedef struct kb_deadlocked {
    uint32_t pe;
    const char *kernel, *call, *file; /* of the call */
    int line;
    int64_t since_fs;   /* its issue */
    const char *lacks;  /* "a message", "a free slot", "a member" */
    uint32_t waits_for; /* the PE that it waits for; of a barrier see below */
    const char *state;  /* of that PE's kernel: "waiting", "ended", "not launched" */
    int tag;            /* of the queue; -1: a barrier */
    int other_tag;      /* lowest other tag of unreceived messages from that PE; -1: none */
    size_t n_missing;   /* of a barrier: members that have not come; else 0 */
    uint32_t cycle;     /* number, from 1, of the cycle of waiting PEs that it is in; 0: none */
} kb_deadlocked;

/*
 * After KB_DEADLOCK: calls `each` for every deadlocked command, in order of PE and issue. A barrier
 * may lack several members: `waits_for` is the lowest that waits, directly or through others, for a
 * member that has come, which makes a cycle; else the lowest.
 *
 * returns  KB_BAD_REQUEST: there was no deadlock; KB_NO_MEMORY
 */
kb_status kb_sim_deadlocked(const kb_sim *sim,
                            void (*each)(void *arg, const kb_deadlocked *blocked), void *arg);

size_t kb_launch_count(const kb_sim *sim); /* launches added */
size_t kb_launch_done(const kb_sim *sim);  /* launches that have run */
/* Returns the result of launch `i`, from 0. KB_PENDING: it has not ended; start_fs is that of one
 * that has begun, and 0 before. */
kb_status kb_launch_get(const kb_sim *sim, size_t i, kb_launch_result *out);

enum { KB_BOUND_PES = 8, KB_BOUND_PORTS = 4 };

/* What launches take at least. */
typedef struct kb_bound {
    int64_t fs; /* from the first start to the last end; 0: nothing is known */
    uint64_t
        commands; /* as many as there are if the others have as many as those PEs, on average */
    /* Of a simulation with one launch: its first PE, its last one and some between, and how long
     * their kernels keep the ports and engines of each busy. */
    uint32_t pe[KB_BOUND_PES];
    int64_t busy_fs[KB_BOUND_PES][KB_BOUND_PORTS];
} kb_bound;

/*
 * A lower bound of the time from the first start to the last end of the launches of `sim`, which
 * has not run: what some PEs of each must do anyway, however all else is. Their kernels
 * run for it once, in no time, and nothing is carried out; afterwards `sim` can only be
 * freed. 0 is a bound, too: nothing is known, or a kernel makes a mistake.
 *
 * returns  KB_BAD_REQUEST: there are no launches, or they have run; KB_NO_MEMORY
 */
kb_status kb_launch_bound(kb_sim *sim, kb_bound *bound);

/*
 * The same bound of a run under way, of another simulation with the same launches, machine and
 * options: how long it has taken, and with one launch what is left for those PEs. It is never
 * above the time of the run.
 *
 * returns  fs; 0 for NULL
 */
int64_t kb_launch_least_fs(const kb_sim *sim, const kb_bound *bound);

/* -- races ---------------------------------------------------------------------------------- */

/*
 * Has `sim`, which has not begun, look for data races of its kernels: two PEs access the same bytes
 * of a slice, an SRAM or a TCM, at least one of them writes, and nothing orders the two accesses,
 * whatever the times of this run. Accesses are ordered by
 *   - the calls of one PE;
 *   - a tl_send() and the return of the tl_recv() that takes its message;
 *   - a tl_recv() and the return of the tl_send() that needed the slot it freed;
 *   - a tl_barrier(), for its group;
 *   - tl_atomic_add() of one element, as they took effect. Two atomics do not race; if their result
 *     depends on which is first, they are found as well, with `atomic` in both;
 *   - launches, if one has waited for the other, directly or not.
 * An asynchronous command lasts from its call until tl_wait() has returned. Slots of queues and the
 * host are not checked. Simulated times do not change.
 *
 * returns  KB_BAD_REQUEST: the simulation has begun; KB_NO_MEMORY
 */
kb_status kb_sim_check_races(kb_sim *sim, kb_error *why);

/* One of the two accesses of a race. */
typedef struct kb_race_access {
    uint32_t pe;
    uint32_t op_id;                   /* KB_NO_ID: tl_data() or tl_get(), which are no commands */
    const char *kernel, *call, *file; /* of the call */
    int line;
    int64_t issue_fs;
    bool writes, atomic;
} kb_race_access;

/* A race of two lines of kernels, as it was first found. */
typedef struct kb_race {
    kb_race_access first, second; /* in order of issue */
    kb_endpoint memory;
    uint64_t address, offset; /* global, and in the memory, of the first byte of both */
    uint64_t nbytes;          /* that both access from there on */
    uint64_t count;           /* later accesses with which it was found */
} kb_race;

/*
 * Calls `each` for every pair of lines that has raced so far, in the order in which they were
 * found: each pair once, and none is missed. A call that reads and writes counts as two accesses.
 *
 * returns  KB_BAD_REQUEST: kb_sim_check_races() was not called
 */
kb_status kb_sim_races(const kb_sim *sim, void (*each)(void *arg, const kb_race *race), void *arg);

/* How much has been checked so far. */
typedef struct kb_race_counts {
    uint64_t races, accesses;
    uint32_t pes; /* PEs that had accesses */
} kb_race_counts;

/* KB_BAD_REQUEST: kb_sim_check_races() was not called. */
kb_status kb_sim_race_counts(const kb_sim *sim, kb_race_counts *out);

/* A line of a kernel that accesses a tensor from inside it into another one, as it first did. */
typedef struct kb_beyond {
    kb_race_access access;
    const kb_tensor *tensor, *next; /* which it begins in, and which it reaches into */
    kb_endpoint memory;
    uint64_t address, offset; /* global, and in the memory, of the end of the part it leaves */
    uint64_t nbytes;          /* from there to the end of the access */
    uint64_t count;           /* accesses of this line that did so */
} kb_beyond;

/*
 * Calls `each` for every line that has gone beyond the end of a tensor so far, in the order in
 * which they were found: once for each tensor that it left. Other parts of the same tensor, and
 * bytes that no tensor has, are not beyond.
 *
 * returns  KB_BAD_REQUEST: kb_sim_check_races() was not called
 */
kb_status kb_sim_beyond(const kb_sim *sim, void (*each)(void *arg, const kb_beyond *beyond),
                        void *arg);

/* -- Phase 2 -------------------------------------------------------------------------------- */

typedef struct kb_compute_options {
    unsigned threads;        /* 0: as many as processors */
    bool verify_ops;         /* compare every operation with the reference implementation */
    bool (*stop)(void *arg); /* called before every step; true: stop. May be NULL */
    void *stop_arg;
    /* Called before every step: `done` of `total` operations are computed. May be NULL. */
    void (*progress)(void *arg, uint64_t done, uint64_t total);
    void *progress_arg;
} kb_compute_options;

/*
 * Phase 2: computes every pending result of the launches that have run. Needs option `phase2`. The
 * results are the same bytes for any number of threads. stop() and progress() are called by one
 * thread at a time.
 *
 * returns  KB_DIFFERENT: verify_ops found a wrong operation, which `why` names; KB_STOPPED: stop()
 * was true, and another call computes the rest; KB_NO_MEMORY
 */
kb_status kb_compute(kb_sim *sim, const kb_compute_options *options, kb_error *why);

/* The implementation of GEMM: "BLIS 0.9.0 skx". */
const char *kb_compute_backend(void);

/*
 * Writes the op log of all launches that have run to `path`: as CSV if it ends in .csv, else as
 * JSON lines. The file appears when it is complete. The first JSON line has `command_line` and
 * `seed`, so that the log can be made again; neither if `command_line` is NULL.
 *
 * returns  KB_BAD_REQUEST: the simulation keeps no op log; KB_FILE_ERROR, KB_NO_MEMORY
 */
kb_status kb_oplog_write(kb_sim *sim, const char *path, const char *command_line, uint64_t seed,
                         kb_error *why);

/* -- inspecting ----------------------------------------------------------------------------- */

/* An operation in brief. */
typedef struct kb_op_brief {
    uint32_t id;
    char name[32];                 /* "gemm_f16", as in the op log */
    char component[KB_NODE_BYTES]; /* "sip0.cube0.pe3.pe_gemm" */
    int64_t start_fs, end_fs;
    /* Of a DMA: the host's tensor that it reads or writes, and the index of the first element. */
    const char *tensor; /* NULL: none */
    int64_t rank, index[KB_RANK_MAX];
} kb_op_brief;

/* An operand or a result of an operation. */
typedef struct kb_op_tensor {
    char role[16]; /* "a", "b", "in0", "src", "epilogue0.1"; "out", "dst" */
    bool is_result;
    bool is_scalar;
    double scalar;
    uint64_t address;   /* global */
    kb_endpoint memory; /* of the address; KB_PE: an accumulator, whose number that is */
    uint64_t offset;    /* in that memory */
    kb_dtype dtype;
    kb_shape shape;
    uint32_t maker;                   /* op_id that made the bytes; UINT32_MAX: none, or several */
    bool from_host;                   /* the host wrote the bytes */
    const char *tensor;               /* the host's tensor at `address`; NULL: none */
    int64_t rank, index[KB_RANK_MAX]; /* of its element there */
    const void *bytes;                /* row-major; NULL: not kept, or not computed yet */
} kb_op_tensor;

typedef struct kb_op_info {
    kb_op_brief op;
    uint32_t asked;                     /* the id that was given: perhaps of a stage of `op` */
    uint32_t pe;                        /* over all SIPs and cubes */
    const char *kernel, *region, *file; /* NULL: not known */
    int line;
    int64_t issue_fs;
    const char *params; /* JSON, as in the op log */
    const kb_op_tensor *tensors;
    const kb_op_brief *producers, *consumers; /* by dependency_ids, ascending */
    size_t n_tensors, n_producers, n_consumers;
} kb_op_info;

typedef struct kb_inspection kb_inspection;

#define KB_LAST_OP UINT32_MAX

/*
 * Looks up operation `id`, or the last command (KB_LAST_OP), of the launches that have run; the id
 * of a stage means its command. Needs options `inspect` and `oplog` or `phase2`. Call it before
 * kb_compute() if pending bytes are wanted: it keeps them. Free it by kb_inspection_free(), before
 * the simulation.
 *
 * returns  KB_BAD_REQUEST: there is no such id; the range is in `why`
 */
kb_status kb_inspect(kb_sim *sim, uint32_t id, kb_inspection **out, kb_error *why);

/* The operation, with the bytes that are known by now. */
const kb_op_info *kb_inspection_info(kb_inspection *inspection);
void kb_inspection_free(kb_inspection *inspection);

/*
 * Makes a kernel's stack overflow a KB_KERNEL_ERROR instead of a crash, by catching SIGSEGV and
 * SIGBUS in the calling thread. The command line does so. False: the system refused.
 */
bool kb_catch_overflow(void);

/*
 * The same, and any other crash of a kernel in the calling thread is KB_KERNEL_CRASHED: SIGSEGV,
 * SIGBUS, SIGFPE, SIGILL, SIGTRAP, and abort(). The text names kernel, PE, signal, and the last
 * call with its line. So is one of a bench's setup() or reference(), or of a component while a
 * kb_sim_run...(), kb_sim_result...(), kb_sweep...() or kb_route_...() runs: the text names it. The
 * heap may be damaged then, and a lock that the kernel held is held for good: print the text, and
 * end the program by _exit(). False: the system refused.
 */
bool kb_catch_crashes(void);

/* -- benches -------------------------------------------------------------------------------- */

/*
 * A bench is a kernel with all that is needed to run it by name: arguments, tensors, launches, and
 * a reference for its results.
 */
typedef struct kb_bench_run kb_bench_run;

typedef enum kb_arg_type { KB_ARG_INT, KB_ARG_REAL, KB_ARG_DTYPE, KB_ARG_CHOICE } kb_arg_type;

/* One argument, given as name=value. */
typedef struct kb_bench_arg {
    const char *name;
    kb_arg_type type;
    const char *initial; /* the default value */
    double min, max;     /* INT, REAL */
    const char *choices; /* DTYPE, CHOICE: the allowed values, "f16 bf16" */
    const char *help;    /* one line */
} kb_bench_arg;

typedef struct kb_bench {
    const char *name, *summary;
    const kb_bench_arg *args;
    size_t n_args;
    /* Declares tensors and launches. */
    void (*setup)(kb_bench_run *run);
    /*
     * Computes the expected results in f64; they are then rounded to the tensors' types. t[i] has
     * the elements of the i-th tensor: of an input its values; of an output zeros, to be replaced;
     * NULL for a scratch tensor.
     */
    void (*reference)(const kb_bench_run *run, double *const *t);
} kb_bench;

/*
 * The benches of a shared object, which the line KB_BENCHES(&bench_a, &bench_b); at the end of its
 * source makes known. `kernbench cc` compiles such a source.
 */
typedef struct kb_bench_table {
    uint32_t abi; /* KB_ABI, then the release of the headers that it was compiled with */
    const char *version;
    const kb_bench *const *benches;
    size_t n_benches;
} kb_bench_table;

#define KB_BENCHES(...)                                                                            \
    static const kb_bench *const kb_bench_list[] = {__VA_ARGS__};                                  \
    __attribute__((visibility("default"))) extern const kb_bench_table kb_benches;                 \
    const kb_bench_table kb_benches = {KB_ABI, KB_VERSION, kb_bench_list,                          \
                                       sizeof kb_bench_list / sizeof *kb_bench_list}

/*
 * Loads the shared object `path` for the rest of the process, and gives its table. A file that was
 * loaded before is not loaded again, even if it has changed since.
 *
 * returns  KB_BAD_FILE: it is not there, is no shared object, lacks a symbol, has no KB_BENCHES()
 *          or was compiled for another KB_ABI; KB_BAD_REQUEST: this library was linked statically
 */
kb_status kb_benches_open(const char *path, const kb_bench_table **out, kb_error *why);

/*
 * For a reference(): c += a b for row-major a[m,k], b[k,n], c[m,n]; c overlaps neither a nor b. The
 * same doubles as by three plain loops that add the terms of each element in the order of k, from
 * blocks and on all processors. It shares no code with Phase 2.
 */
void kb_reference_product(const double *a, const double *b, double *c, int64_t m, int64_t n,
                          int64_t k);

/* For a reference(): calls work(arg, i) for each i in 0..n-1, on all processors and in any order,
 * for example for rows of a result that do not depend on each other. */
void kb_reference_parallel(int64_t n, void (*work)(void *arg, int64_t i), void *arg);

/* The values of arguments, by name; of a choice its index among the choices. */
int64_t kb_bench_int(const kb_bench_run *run, const char *name);
double kb_bench_real(const kb_bench_run *run, const char *name);
kb_dtype kb_bench_dtype(const kb_bench_run *run, const char *name);
int kb_bench_choice(const kb_bench_run *run, const char *name);
const char *kb_bench_word(const kb_bench_run *run, const char *name); /* the choice itself */

/*
 * Calls for setup(). It need not check for errors: after the first failure further calls do
 * nothing, and kb_bench_new() returns it. The kernel has its tensors in args->tensors, in the order
 * of their declaration, and the run in args->user.
 */
enum { KB_BENCH_TENSORS_MAX = 16 };

const kb_topology *kb_bench_topology(const kb_bench_run *run);
/* Declares an input, filled as by kb_tensor_fill_random(). */
void kb_bench_input(kb_bench_run *run, const char *name, kb_dtype dtype, kb_shape shape,
                    kb_placement placement, double scale);
/* Declares an input whose `n` elements fill() computes. */
void kb_bench_input_by(kb_bench_run *run, const char *name, kb_dtype dtype, kb_shape shape,
                       kb_placement placement,
                       void (*fill)(kb_bench_run *run, double *values, uint64_t n));
/* Declares an output, which is compared with the reference. */
void kb_bench_output(kb_bench_run *run, const char *name, kb_dtype dtype, kb_shape shape,
                     kb_placement placement);
/* Declares a tensor that is neither, for example for one launch to leave data to the next. */
void kb_bench_scratch(kb_bench_run *run, const char *name, kb_dtype dtype, kb_shape shape,
                      kb_placement placement);
/* Declares a launch on `n_pes` PEs, or on all if that is 0. */
void kb_bench_launch(kb_bench_run *run, const char *name, kb_kernel kernel, const uint32_t *pes,
                     size_t n_pes);
/* Declares a launch with a stream, or `after` others; args.user may be other than the run. */
void kb_bench_launch_request(kb_bench_run *run, const kb_launch_request *request);
/* A random number in 0..below-1, from the seed. */
uint64_t kb_bench_random(kb_bench_run *run, uint64_t below);

/*
 * Calls for a setup() that chooses the value of an argument itself.
 *
 * kb_bench_try()     runs the bench with argument `name` set to `value` in another simulation,
 *                    with all costs but without results; returns the time of its kernels, in fs
 * kb_bench_ask()     calls `kernel` with args->user = `user` on PE 0 of another simulation, of the
 * idle machine, for calls that answer questions, such as kb_coll_estimates() kb_bench_set() sets
 * the value kb_bench_note()    adds a line to kb_bench_notes(), which is shown to users; "" if
 * there is none kb_bench_refuse()  makes kb_bench_new() fail with `text`: the bench cannot run on
 * this machine
 *
 * returns  KB_BAD_REQUEST: no such argument or value, or the bench refuses it; KB_KERNEL_ERROR: a
 *          kernel breaks a rule with it. Else any status of a run, which kb_bench_new() returns
 * then
 */
kb_status kb_bench_try(const kb_bench_run *run, const char *name, const char *value,
                       int64_t *kernels_fs, kb_error *why);
void kb_bench_ask(kb_bench_run *run, kb_kernel kernel, const void *user);
void kb_bench_set(kb_bench_run *run, const char *name, const char *value);
void kb_bench_note(kb_bench_run *run, const char *text);
void kb_bench_refuse(kb_bench_run *run, const char *text);
const char *kb_bench_notes(const kb_bench_run *run);

/*
 * Makes a run of `bench` with a simulation of its own. `words` are "name=value", or "name=@path" of
 * an input that is read from a .npy file as by kb_tensor_fill_npy(); `options` may be NULL. Free it
 * by kb_bench_free().
 *
 * returns  KB_BAD_REQUEST: an argument or input does not exist, is given twice or does not fit;
 *          KB_BAD_FILE: an input's file cannot be read, or is no such file
 */
kb_status kb_bench_new(const kb_bench *bench, const kb_topology *topo, const kb_options *options,
                       uint64_t seed, const char *const *words, size_t n_words, kb_bench_run **out,
                       kb_error *why);
void kb_bench_free(kb_bench_run *run);

/* Its simulation, for kb_sim_run(), kb_launch_get(), kb_compute(). */
kb_sim *kb_bench_sim(const kb_bench_run *run);

/* What a bench has declared a tensor as. */
typedef enum kb_bench_role { KB_BENCH_INPUT, KB_BENCH_OUTPUT, KB_BENCH_SCRATCH } kb_bench_role;

/*
 * Its tensor `i`, in the order of their declaration, owned by its simulation; NULL: there are not
 * so many. `role` may be NULL.
 */
kb_tensor *kb_bench_tensor(const kb_bench_run *run, size_t i, kb_bench_role *role);

/* The value of argument `i`, given or default, as text. */
const char *kb_bench_value(const kb_bench_run *run, size_t i);

/*
 * Compares the outputs, and all copies of their parts, with the reference, after kb_compute().
 * *max_abs_err is the largest difference; NAN: nothing could be compared. KB_DIFFERENT: `why` names
 * the tensor, the index and both values.
 */
kb_status kb_bench_verify(const kb_bench_run *run, double *max_abs_err, kb_error *why);

/* Writes in.NAME.npy and out.NAME.npy (of bf16 in.NAME.bf16.npy) into `folder`, which it makes. */
kb_status kb_bench_dump(const kb_bench_run *run, const char *folder, kb_error *why);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
