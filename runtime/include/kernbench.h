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

#define KB_VERSION   "0.1.0"
#define KB_FS_PER_NS INT64_C(1000000)

/* What a call came to. 0 is success; a call that fails changes nothing. */
typedef enum kb_status {
    KB_OK,
    KB_AGAIN,       /* kb_sim_run: the budget of events is used up, call again */
    KB_STOPPED,     /* kb_sim_run: `until_fs` or `max_events` was reached */
    KB_PENDING,     /* kb_sim_result: the transaction is not complete */
    KB_BAD_REQUEST, /* an argument of the caller's that cannot be: the error text says which */
    KB_TIME_RANGE,  /* simulated time has passed 2^63 fs */
    KB_NO_MEMORY,
    KB_DEADLOCK,     /* kernels wait for each other for ever: kb_sim_deadlocked() */
    KB_KERNEL_ERROR, /* a kernel did what it must not: the text names it, PE, call and line */
    KB_DIFFERENT,    /* a verification failed */
    KB_FILE_ERROR,   /* a file could not be read or written */
    KB_INTERNAL,     /* a check of our own failed: a bug in kernbench */
} kb_status;

/* Why a call failed, one line without a full stop. Filled by every call that takes one and fails.
 */
typedef struct kb_error {
    char text[512];
} kb_error;

/* One topology: generated, const, linked in. The fields are for the runtime (rows.h). */
typedef struct kb_topology kb_topology;

/* One simulation: all state that changes. One thread at a time may use it. */
typedef struct kb_sim kb_sim;

/* -- endpoints ------------------------------------------------------------------------------ */

typedef enum kb_endpoint_kind { KB_PE, KB_HOST, KB_SLICE, KB_SRAM, KB_TCM } kb_endpoint_kind;

/* Where a transaction starts or ends. Fields that a kind does not use are 0. */
typedef struct kb_endpoint {
    kb_endpoint_kind kind;
    uint32_t sip;
    uint32_t cube; /* inside its SIP: row * w + column */
    uint32_t unit; /* number of the PE, slice or TCM inside its cube */
} kb_endpoint;

enum { KB_ENDPOINT_BYTES = 48 }; /* room for any endpoint's name, and its final 0 */
enum { KB_NODE_BYTES = 64 };     /* room for any node's name, and its final 0 */

/*
 * The endpoint that `text` (`len` bytes) names: "c0.pe3", "s1.c2.slice4", "host", "c0.sram",
 * "c0.pe1.tcm"; SIP 0 when left out.
 *
 * returns  KB_BAD_REQUEST with the nearest name or the range in `why` (may be NULL)
 */
kb_status kb_endpoint_parse(const kb_topology *topo, const char *text, size_t len, kb_endpoint *out,
                            kb_error *why);

/* The canonical name of `end` into `text`; returns its length. */
size_t kb_endpoint_name(const kb_endpoint *end, char text[KB_ENDPOINT_BYTES]);

/*
 * Calls `each` once for every endpoint that `pattern` names, by SIP, cube, unit: "c0.pe[0-3]",
 * "c*.slice*", "s*.host", "c[0,2-3].sram". A number may be *, or a list of numbers and ranges in
 * brackets; SIP 0 when left out.
 *
 * returns  KB_BAD_REQUEST with the nearest name or the range in `why` (may be NULL): no endpoint
 */
kb_status kb_endpoint_select(const kb_topology *topo, const char *pattern, size_t len,
                             void (*each)(void *arg, const kb_endpoint *end), void *arg,
                             kb_error *why);

/* Bytes that a slice, SRAM or TCM holds; 0 for a PE or a host. */
uint64_t kb_memory_bytes(const kb_topology *topo, const kb_endpoint *end);

/* -- what a topology is --------------------------------------------------------------------- */

typedef struct kb_info {
    const char *name;
    const char *config; /* the resolved YAML */
    const char *hash;   /* xxHash64 of `config`, 16 hexadecimal digits */
    const char *links;  /* "ideal" or "fifo" */
    uint32_t sips, cubes_per_sip, mesh_w, mesh_h, pes_per_cube;
    uint32_t nodes, edges;
} kb_info;

void kb_topology_info(const kb_topology *topo, kb_info *out);

/* -- components ----------------------------------------------------------------------------- */

#define KB_NO_CUBE UINT32_MAX

/*
 * A node. They are numbered from 0, SIP by SIP: those of its cubes, then those of its IO chiplet;
 * the switch between SIPs is the last one. kb_info has how many there are.
 */
typedef struct kb_node {
    char name[KB_NODE_BYTES]; /* "sip0.cube3.xbar.pe1" */
    const char *kind;         /* "xbar" */
    uint32_t sip;             /* 0 of the switch */
    uint32_t cube;            /* inside its SIP; KB_NO_CUBE: it stands on none */
    int64_t overhead_fs;
    bool placed;       /* it has a point where it meets its cube's NoC: */
    double x_mm, y_mm; /* from the top left of the cube */
} kb_node;

/* KB_BAD_REQUEST: there is no node with that number. */
kb_status kb_node_get(const kb_topology *topo, uint32_t node, kb_node *out);

/* The number of the node with that full name (`len` bytes). KB_BAD_REQUEST: there is none. */
kb_status kb_node_find(const kb_topology *topo, const char *name, size_t len, uint32_t *out);

/* A directed edge: a link that is passed both ways has two. */
typedef struct kb_edge {
    uint32_t from, to; /* numbers of nodes */
    double length_mm;
    int64_t wire_fs;
    double gbs; /* effective; INFINITY: unlimited */
} kb_edge;

/* Calls `each` for every edge: by SIP those of its cubes, then those of its IO chiplet. */
void kb_edges(const kb_topology *topo, void (*each)(void *arg, const kb_edge *edge), void *arg);

/* What the parts of a topology can do at best. */
typedef struct kb_limits {
    double cube_w_mm, cube_h_mm;
    double slice_gbs, sram_gbs, tcm_read_gbs, tcm_write_gbs; /* effective */
    double gemm_macs_per_ns, math_elements_per_ns;           /* of a PE */
    uint32_t gemm_mac[3];                                    /* M, K, N of a cycle */
    double gemm_clock_ghz, math_clock_ghz;
    uint32_t math_lanes;
    uint32_t read_channels, write_channels; /* of a PE */
    uint32_t read_engines, write_engines;   /* of an M_CPU */
    uint32_t queue_slots, queue_slot_bytes; /* of what PEs send to a PE */
    kb_endpoint_kind queue_memory;                   /* where they lie */
} kb_limits;

void kb_topology_limits(const kb_topology *topo, kb_limits *out);

/* -- routes --------------------------------------------------------------------------------- */

typedef enum kb_transaction_op { KB_READ, KB_WRITE, KB_H2D, KB_D2H } kb_transaction_op;

/* What a transaction costs when nothing is in its way; times in fs. */
typedef struct kb_cost {
    int64_t wire_fs;            /* all wires to the memory */
    int64_t overhead_fs;        /* all nodes to the memory, and the memory */
    int64_t memory_overhead_fs; /* the part of it that is paid during service */
    int64_t drain_fs;           /* nbytes over the bottleneck */
    int64_t response_fs;        /* host transactions: wires and UCIe nodes back */
    double bottleneck_gbs;
} kb_cost;

/* wire + overhead + drain + response of `cost`, in fs. */
int64_t kb_formula_fs(const kb_cost *cost);

/*
 * The cost of `op` with `nbytes` between two endpoints.
 *
 * returns  KB_BAD_REQUEST: no such route, or more bytes than the memory holds; KB_TIME_RANGE
 */
kb_status kb_route_cost(const kb_topology *topo, kb_transaction_op op, const kb_endpoint *src,
                        const kb_endpoint *dst, uint64_t nbytes, kb_cost *out, kb_error *why);

/* One node of a route, in the order in which a request passes. */
typedef struct kb_hop {
    char node[KB_NODE_BYTES]; /* full name, "sip0.cube0.xbar.pe0" */
    int64_t wire_fs;          /* the edge into it, and the crossing of a NoC */
    int64_t overhead_fs;
    double edge_gbs; /* effective bandwidth of the edge into it; 0: none (first node); INFINITY */
} kb_hop;

/* Calls `each` for every node from `src` to `dst`. A route into a TCM is that of a write. */
kb_status kb_route_walk(const kb_topology *topo, const kb_endpoint *src, const kb_endpoint *dst,
                        void (*each)(void *arg, const kb_hop *hop), void *arg, kb_error *why);

/* -- simulations ---------------------------------------------------------------------------- */

typedef enum kb_engine {
    KB_FUSED, /* an event per station */
    KB_HOP,   /* an event per node and wire: slow, to be watched, and the check of the other */
} kb_engine;

/* Classes of cost that a simulation may leave out, to see what they are worth. */
enum kb_cost_class {
    KB_COST_WIRE = 1,
    KB_COST_OVERHEAD = 2,
    KB_COST_MEMORY_GBS = 4, /* bandwidth of the memories, of a TCM for other PEs */
    KB_COST_LINK_GBS = 8,   /* bandwidth of the links */
    KB_COST_CHANNELS = 16,  /* PE DMA channels: as many as wanted */
    KB_COST_ENGINES = 32,   /* M_CPU DMA engines: as many as wanted */
    KB_COST_COMPUTE = 64,   /* cycles of GEMM and MATH */
    KB_COST_TCM_GBS = 128,  /* bandwidth of TCMs for FETCH and STORE of their own PE */
};

/* All zero is the default. */
typedef struct kb_options {
    kb_engine engine;
    bool fingerprint;
    unsigned costs_off;  /* kb_cost_class, or-ed */
    int64_t until_fs;    /* > 0: no event after this time runs */
    uint64_t max_events; /* > 0: end after so many arrivals and completions */
    /* of kernels */
    bool oplog;                 /* keep a record of every operation, for kb_oplog_write() */
    bool phase2;                /* and what kb_compute() needs */
    uint64_t oplog_limit_bytes; /* > 0: records beyond it go to a temporary file */
    size_t stack_bytes;         /* of a kernel; 0: 256 KiB */
    bool inspect; /* keep also where operations were called, and what DMA moved: kb_inspect() */
} kb_options;

/* One transaction to be run. */
typedef struct kb_request {
    int64_t issue_fs; /* 0..2^63-1 */
    kb_transaction_op op;
    kb_endpoint src; /* a PE, or for KB_H2D and KB_D2H a host */
    kb_endpoint dst; /* a slice or an SRAM; for hosts a slice of the same SIP */
    uint64_t offset; /* in bytes, into the target; offset + nbytes lies within it */
    uint64_t nbytes; /* > 0 */
} kb_request;

/* Where a transaction may wait, in the order of its route: WAIT(NAME, name). Source of kb_wait. */
#define KB_WAITS(WAIT)                                                                             \
    WAIT(CHANNEL, channel) /* for a DMA channel of its PE */                                       \
    WAIT(ENGINE, engine)   /* host transactions: for an engine of the M_CPU */                     \
    WAIT(LINK, link)       /* links fifo: for an edge */                                           \
    WAIT(MEMORY, memory)   /* for the memory */
#define KB_WAIT_ENUM_(NAME, name) KB_WAIT_##NAME,
typedef enum kb_wait { KB_WAITS(KB_WAIT_ENUM_) KB_N_WAITS } kb_wait;

/*
 * One transaction that has run. issue_fs is when it was issued: of one that waited for others, that
 * may be later than it was added with. actual_fs is wire + overhead + drain + response + the sum of
 * wait_fs, exactly.
 */
typedef struct kb_result {
    int64_t issue_fs, start_fs, arrive_fs, service_fs, done_fs, end_fs;
    int64_t wire_fs, overhead_fs, drain_fs, response_fs;
    int64_t wait_fs[KB_N_WAITS];
    int64_t formula_fs, actual_fs;
    double bottleneck_gbs;
} kb_result;

/* All that it waited for, in fs. */
static inline int64_t kb_wait_sum_fs(const int64_t wait_fs[KB_N_WAITS])
{
    int64_t sum_fs = 0;

    for (int i = 0; i < KB_N_WAITS; i++)
        sum_fs += wait_fs[i];
    return sum_fs;
}

/*
 * A new simulation of `topo` (borrowed). `options` may be NULL. Give it back with kb_sim_free().
 *
 * returns  KB_BAD_REQUEST: an option that does not exist; KB_NO_MEMORY
 */
kb_status kb_sim_new(const kb_topology *topo, const kb_options *options, kb_sim **out);
void kb_sim_free(kb_sim *sim);

enum { KB_TRANSACTIONS_MAX = (1 << 28) - 1 }; /* of one simulation */

/*
 * Adds a transaction; its id is the number of those added before. Only before the first
 * kb_sim_run(). Rows may come in any order of time.
 *
 * returns  KB_BAD_REQUEST with the reason in `why` (may be NULL), KB_NO_MEMORY
 */
kb_status kb_sim_add(kb_sim *sim, const kb_request *request, kb_error *why);

/*
 * Makes transaction `id` wait for the `n` transactions `after`: it is issued `think_fs` after the
 * last of them has ended (a host's: its response is back), but not before its own issue_fs. Once
 * for each `id`, which has been added, before the first kb_sim_run(); those in `after` may be added
 * later, in any order, and may be named twice. With n = 0 it waits for nothing, and think_fs is 0.
 *
 * returns  KB_BAD_REQUEST with the reason in `why`, KB_NO_MEMORY. Ids that do not exist, and
 *          transactions that wait for each other, are found by the first kb_sim_run(), which then
 *          returns KB_BAD_REQUEST and names them. What is missing may still be added then.
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
 * Runs until nothing is pending, or for about `budget` events (0: no bound).
 *
 * returns  KB_OK: all done; KB_AGAIN: more to do; KB_STOPPED: a bound of the options was
 *          reached; KB_BAD_REQUEST: see kb_sim_add_dependencies(), nothing has run;
 *          KB_TIME_RANGE, KB_NO_MEMORY, KB_INTERNAL: ended, results so far stay
 */
kb_status kb_sim_run(kb_sim *sim, uint64_t budget, kb_error *why);

uint64_t kb_sim_count(const kb_sim *sim); /* transactions added */
uint64_t kb_sim_done(const kb_sim *sim);  /* transactions complete */

/*
 * The request that was added as `id`, without its offset (it has no effect and is not kept). Once
 * it has been issued, issue_fs is when, as in kb_sim_result().
 */
kb_status kb_sim_request(const kb_sim *sim, uint64_t id, kb_request *out);

/* Times of transaction `id`. KB_PENDING if it is not complete. */
kb_status kb_sim_result(const kb_sim *sim, uint64_t id, kb_result *out);

/* FNV-1a 64 over every completion and station arrival so far, if the options asked for it. */
uint64_t kb_sim_fingerprint(const kb_sim *sim);

/* -- watching ------------------------------------------------------------------------------- */

/* What a piece of time is spent on. */
typedef enum kb_cause {
    KB_CAUSE_DISPATCH,     /* pe_cpu and pe_scheduler: from the call of a command to its issue */
    KB_CAUSE_CHANNEL_WAIT, /* for a DMA channel of the PE */
    KB_CAUSE_WIRE,         /* on an edge, or crossing a NoC */
    KB_CAUSE_OVERHEAD,     /* in a node */
    KB_CAUSE_LINK_WAIT,    /* links fifo: for an edge */
    KB_CAUSE_ENGINE_WAIT,  /* for an engine: of an M_CPU, or a PE's GEMM or MATH */
    KB_CAUSE_MEMORY_WAIT,  /* for a slice or an SRAM */
    KB_CAUSE_DRAIN,        /* the bytes, at the bottleneck */
    KB_CAUSE_RESPONSE,     /* back to the host */
    KB_CAUSE_PORT_WAIT,    /* for a port of a TCM */
    KB_CAUSE_PORT,         /* FETCH and STORE: bytes through a port of the TCM */
    KB_CAUSE_COMPUTE,      /* cycles of GEMM or MATH */
    KB_CAUSE_QUEUE_WAIT,   /* for another PE: a message that is not there, or a slot to be free */
    KB_CAUSE_BARRIER_WAIT, /* for the last word of a barrier */
    KB_N_CAUSES
} kb_cause;

const char *kb_cause_name(kb_cause cause); /* "channel_wait" */

/* A component, or an end of a transaction, as a number that is good for comparing. */
typedef uint64_t kb_place;
#define KB_NOWHERE ((kb_place)0)

typedef enum kb_place_kind {
    KB_AT_NOTHING,
    KB_AT_PE,      /* an end: "c0.pe3" */
    KB_AT_HOST,    /* an end: "s1.host" */
    KB_AT_MEMORY,  /* a slice, SRAM or TCM: as an end "c0.slice4", and as the station it is */
    KB_AT_NODE,    /* "sip0.cube0.xbar.pe3" */
    KB_AT_LINK,    /* a directed edge: "sip0.cube0.noc -> sip0.cube0.ucie-E" */
    KB_AT_CHANNEL, /* "sip0.cube0.pe3.pe_dma.read" */
    KB_AT_ENGINE,  /* "sip0.cube0.m_cpu.write" */
    KB_AT_PORT,    /* of a PE: "sip0.cube0.pe3.pe_tcm.read", .write, ".pe3.pe_gemm", ".pe_math" */
} kb_place_kind;

static inline kb_place_kind kb_place_kind_of(kb_place place)
{
    return (kb_place_kind)(place >> 56);
}

enum { KB_PLACE_BYTES = 2 * KB_NODE_BYTES + 8 };

/* The name of `place` into `text`, "" for KB_NOWHERE; returns its length. */
size_t kb_place_name(const kb_topology *topo, kb_place place, char text[KB_PLACE_BYTES]);

/* The full name of the node that `place` is, or of which it is a part: "sip0.cube0.pe3.pe_dma". Of
 * an edge the node that it leaves. */
size_t kb_place_node(const kb_topology *topo, kb_place place, char text[KB_NODE_BYTES]);

#define KB_NO_ID UINT32_MAX

/*
 * A piece of the time of one transaction, or of one stage of a kernel's command. Those of one `id`
 * follow each other without a gap, from its issue to its end; none is empty but waits that end as
 * they begin. What a command waits for another PE (causes QUEUE_WAIT, `what` "send" or "recv") is
 * the first piece of the stage that follows, and of a barrier all from its issue to its end.
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
    kb_place place;     /* where */
    kb_place behind;    /* a wait: the source of who was let in there last; or KB_NOWHERE */
    uint32_t behind_id; /* a wait: and its id; else KB_NO_ID */
    uint32_t message;   /* the ipcq_copy whose bytes it takes out of their slot; else KB_NO_ID */
    int64_t begin_fs;
    int64_t end_fs; /* -1: not known yet */
} kb_span;

/* A station (channel, engine, memory, port, link if fifo) that is taken by one of its servers. */
typedef struct kb_service {
    uint32_t id, command, token, message; /* as in kb_span */
    const char *what;
    kb_place source, target;
    uint64_t nbytes;
    kb_place place;
    int64_t begin_fs;
    int64_t end_fs; /* -1: not known yet */
} kb_service;

/* A part of the time of a command. */
typedef struct kb_share {
    kb_cause cause;
    kb_place place;
    uint64_t count; /* pieces */
    int64_t sum_fs;
    int64_t longest_fs; /* of a wait: its longest piece, and who was in front then */
    kb_place behind;
    uint32_t behind_id;
} kb_share;

/*
 * A command of a kernel. Its shares tile the time from call to end: of the tiles of a composite,
 * and the pieces of a message, those count that its end waited for.
 */
typedef struct kb_command {
    uint32_t id;                 /* op_id */
    uint32_t pe;                 /* number over all SIPs and cubes */
    const char *call;            /* "tl_load" */
    const char *name;            /* as the op log has it: "dma_read", "gemm_f16", "exp"; or "send",
                                    "recv", "barrier", "atomic_add" */
    const char *kernel, *region; /* region may be NULL */
    const char *file;            /* where it was called */
    int line;
    bool async, composite;
    int64_t call_fs, issue_fs;
    int64_t end_fs;        /* -1: not known yet */
    const kb_share *share; /* once it has ended */
    size_t n_shares;
    /* What let the kernel come to this call: the issue or the end of the PE's command `after`. */
    uint32_t after; /* KB_NO_ID: the start of the kernel */
    bool after_end;
    int64_t
        return_fs; /* the kernel went on: at its end, its issue, or the last piece's of a send */
    /* What another PE has let come: how it returned before its end, how it ended; or KB_NO_ID. */
    uint32_t return_stretch, end_stretch;
} kb_command;

/*
 * A part of a command's time, where what it waits for, or what waits for it, is on another PE. It
 * ends when its message or word is there, when its slot is free again, when its kernel goes on, or
 * with it; it begins with its call, or when what it waited for set out.
 */
typedef struct kb_stretch {
    uint32_t number; /* 0, 1, 2, ... */
    uint32_t command, pe;
    int64_t begin_fs, end_fs;
    const kb_share *share; /* they tile it */
    size_t n_shares;
    uint32_t before; /* the other PE's stretch that ended when it begins; KB_NO_ID: the call */
} kb_stretch;

/* A kernel on one PE. */
typedef struct kb_kernel_run {
    uint32_t launch, pe;
    const char *kernel;
    int64_t start_fs;
    int64_t end_fs; /* -1: not known yet */
    uint32_t after; /* once it has ended: the command that its end came with; KB_NO_ID: none */
    bool after_end; /* with the end of it, not with its issue */
} kb_kernel_run;

/*
 * What happens in a simulation, told while it runs, in order of simulated time. What is known
 * before its time is told before: what follows a link of a fifo machine, and the end of a memory's
 * own overhead. A link's service has its end when it is taken, and is never released. Traffic is
 * told late how long it has waited for a channel: one of a PE at a time, behind the one before it.
 * Any function may be NULL. They must not call the simulation, and what they are given lasts until
 * they return (texts: until the simulation is freed).
 */
typedef struct kb_observer {
    void *arg;
    void (*open)(void *arg, const kb_span *span);  /* begins */
    void (*close)(void *arg, const kb_span *span); /* has ended */
    void (*take)(void *arg, const kb_service *service);
    void (*release)(void *arg, const kb_service *service);
    void (*end)(void *arg, const kb_span *last); /* a transaction has ended, at last->end_fs */
    void (*issue)(void *arg, const kb_command *command);
    void (*finish)(void *arg, const kb_command *command);
    void (*start)(void *arg, const kb_kernel_run *run);
    void (*leave)(void *arg, const kb_kernel_run *run);
    void (*go_on)(void *arg, const kb_command *send); /* its last piece is issued, and it returns */
    void (*stretch)(void *arg, const kb_stretch *stretch);
} kb_observer;

enum { KB_OBSERVERS_MAX = 4 };

/*
 * Has `watch` (copied) told what happens. The simulation, which has not begun, is run by KB_HOP
 * then, with the same results; that the pieces of every transaction and command add up to its time
 * is checked (KB_INTERNAL).
 *
 * returns  KB_BAD_REQUEST: it has begun, or has KB_OBSERVERS_MAX of them; KB_NO_MEMORY
 */
kb_status kb_sim_observe(kb_sim *sim, const kb_observer *watch, kb_error *why);

/* -- where the time went -------------------------------------------------------------------- */

/* The causes of all that a simulation's transactions, or a kernel's commands, have spent. */
typedef struct kb_breakdown kb_breakdown;

/* What rows of causes are of. */
typedef enum kb_breakdown_by {
    KB_BREAKDOWN_ALL,    /* the whole run */
    KB_BREAKDOWN_PLACE,  /* a component, or an edge */
    KB_BREAKDOWN_WAIT,   /* a station, by those who were in front; of composites of all tiles */
    KB_BREAKDOWN_SOURCE, /* a PE or a host, by its transactions */
    KB_BREAKDOWN_TARGET, /* a memory, by the transactions to it */
    KB_BREAKDOWN_OP,     /* transactions: "read"; kernels: commands, as the op log names them */
    KB_BREAKDOWN_PE,     /* kernels: a PE, by its commands; what overlaps counts each time */
    KB_BREAKDOWN_PATH,   /* the critical path of a kernel, and of each call its part of that */
    KB_N_BREAKDOWNS
} kb_breakdown_by;

/* The time that one cause took of one of them. */
typedef struct kb_breakdown_row {
    kb_breakdown_by by;
    const char *of; /* "c0.pe3", "dma_read"; "" of ALL; of PATH "attention", "tl_load copy.c:12" */
    kb_cause cause;
    kb_place place;  /* waits, drain, ports, compute: where; of ALL and OP KB_NOWHERE */
    kb_place behind; /* WAIT, and waits of PATH: the source of who was let in there last */
    uint64_t count;
    int64_t sum_fs; /* at most INT64_MAX: sums of latencies may pass it */
    int64_t all_fs; /* of all causes of `of`, likewise */
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
    const kb_share *share; /* wires and nodes each as one, without places */
    size_t n_shares;
} kb_breakdown_step;

/*
 * Watches `sim`, which has not begun (kb_sim_observe), and must live as long as what is returned.
 *
 * returns  KB_BAD_REQUEST, KB_NO_MEMORY
 */
kb_status kb_breakdown_new(kb_sim *sim, kb_breakdown **out, kb_error *why);
void kb_breakdown_free(kb_breakdown *why);

/*
 * Once it has run: calls `each` for every row, by kb_breakdown_by, then by the sum of what the rows are
 * of, then by the rows' own, largest first. Of a run that ended early what has ended counts.
 *
 * returns  KB_NO_MEMORY
 */
kb_status kb_breakdown_rows(kb_breakdown *why, void (*each)(void *arg, const kb_breakdown_row *row), void *arg);

/*
 * Calls `each` for every step of the critical path of each launch that has run, in order of time:
 * the chain of commands that determined when the last kernel ended, on whatever PE. The steps of a
 * launch meet, from the start of the kernels to their end; a step that is left for the next by its
 * issue ends there, and so does one whose message, slot or word another PE has waited for.
 *
 * returns  KB_NO_MEMORY
 */
kb_status kb_breakdown_path(kb_breakdown *why, void (*each)(void *arg, const kb_breakdown_step *step), void *arg);

/* -- what the run has used ------------------------------------------------------------------ */

/*
 * What went through one thing. Transactions count once they are complete; times are those until the
 * end of the run: kb_sim_end_fs(), or how far it has come. Reads count on the way of their data.
 *
 * A node is passed by any number of transactions at once: it has no servers and no queue, and its
 * busy_fs is count times its overhead. An ideal link has no queue either; its busy_fs is bytes over
 * gbs, and may be more than there was time for.
 */
typedef struct kb_utilization {
    kb_place_kind kind; /* KB_AT_NODE, _LINK, _CHANNEL, _ENGINE, _MEMORY or _PORT */
    char name[KB_PLACE_BYTES];
    char from[KB_NODE_BYTES], to[KB_NODE_BYTES]; /* of a link; else "" */
    double gbs;       /* of links, memories, and ports of a TCM; else 0 */
    uint32_t servers; /* 0: as many as come */
    uint64_t count;
    uint64_t bytes;  /* of GEMM and MATH 0 */
    int64_t busy_fs; /* summed over servers */
    double util_pct; /* busy_fs of servers times the end; without servers 0 */
    bool queues;
    double wait_ns;    /* summed over transactions */
    double queue_mean; /* how many waited, over the time */
    int64_t queue_max; /* -1: not known, of channels in a simulation with traffic */
} kb_utilization;

/* Time of the last completion, in fs. */
int64_t kb_sim_end_fs(const kb_sim *sim);

/*
 * Calls `each` for everything that a transaction, or a stage of a command, went through: nodes,
 * links, channels, engines, memories, ports, each kind in a fixed order.
 *
 * returns  KB_NO_MEMORY
 */
kb_status kb_sim_utilization(const kb_sim *sim, void (*each)(void *arg, const kb_utilization *use), void *arg);

/* -- sweeps --------------------------------------------------------------------------------- */

/* One point: `inflight` copies of a transaction, all issued at time 0 on an idle machine. */
typedef struct kb_point {
    kb_transaction_op op;
    kb_endpoint src, dst; /* as in kb_request */
    uint64_t nbytes;      /* of each copy, > 0 */
    uint32_t inflight;    /* > 0 */
} kb_point;

/* What became of its copies; times in fs, percentiles nearest-rank, means rounded to whole fs. */
typedef struct kb_point_result {
    uint64_t count; /* `inflight` */
    int64_t mean_fs, p50_fs, p99_fs, max_fs, makespan_fs;
    double gbs; /* count * nbytes over the makespan */
    /* means of the terms of the latency */
    int64_t wire_fs, overhead_fs, drain_fs, response_fs;
    int64_t wait_fs[KB_N_WAITS];
} kb_point_result;

/*
 * Runs `n` points, each on its own, in a simulation that holds nothing else and can be used again
 * for more; one simulation per thread. Its engine and costs_off count; a point of one copy meets
 * no other, so with KB_FUSED its answer is taken from the tables.
 *
 * returns  KB_BAD_REQUEST: the simulation has transactions, traffic or kernels, or options that end
 *          it early, or a point cannot be: no route, more bytes than the memory holds;
 *          KB_TIME_RANGE, KB_NO_MEMORY, KB_INTERNAL. `*n_run` (may be NULL) is how many were run.
 */
kb_status kb_sweep(kb_sim *sim, const kb_point *points, size_t n, kb_point_result *results,
                   size_t *n_run, kb_error *why);

/* -- traffic -------------------------------------------------------------------------------- */

/* Where PE i of N sends; PEs and slices are numbered over all SIPs and cubes. After BookSim. */
typedef enum kb_pattern {
    KB_UNIFORM,   /* each slice alike, its own too */
    KB_LOCAL,     /* i */
    KB_NEIGHBOR,  /* i + 1 mod N */
    KB_TRANSPOSE, /* row and column of i in a square exchanged; N must be a square */
    KB_BITCOMP,   /* all bits of i turned around; N must be a power of two */
    KB_HOTSPOT,   /* slice 0 with a probability of `hotspot`, else uniform */
    KB_MATRIX,    /* as the rows of `matrix` say */
} kb_pattern;

/* From one PE to one slice: a share of the traffic. */
typedef struct kb_matrix_row {
    uint32_t pe, slice;
    double weight; /* > 0; only its ratio to others counts */
} kb_matrix_row;

/*
 * Open-loop traffic: PEs issue at times of their own, however long what they have issued takes.
 *
 * PE i draws from a stream of its own, of (seed, i): first its time of issue, then where. Its k-th
 * transaction, from 0, has the id k * N + i. All PEs issue alike; with a matrix the one with the
 * largest sum of weights issues at `rate`, the others in proportion.
 */
typedef struct kb_traffic {
    kb_pattern pattern;
    double hotspot;              /* 0..1 */
    const kb_matrix_row *matrix; /* borrowed until the call returns */
    size_t n_matrix;
    kb_transaction_op op;        /* KB_READ or KB_WRITE */
    uint64_t nbytes; /* of a transaction */
    double rate;     /* > 0; 1.0: each PE issues as many bytes as cube.xbar.pe_gbs could carry */
    bool fixed;      /* equal intervals, evenly shifted from PE to PE, instead of Poisson's */
    uint64_t txns;   /* about so many in all: PEs issue until that number is to be expected */
    uint64_t seed;
} kb_traffic;

/*
 * Gives `sim`, which is new, its traffic; kb_sim_run() runs it. Memory does not grow with `txns`
 * beyond the first million.
 *
 * returns  KB_BAD_REQUEST with the reason in `why`: the pattern does not fit the machine, a number
 *          is out of range, the simulation holds something or ends early by its options;
 *          KB_NO_MEMORY
 */
kb_status kb_sim_traffic(kb_sim *sim, const kb_traffic *traffic, kb_error *why);

/* What traffic met; times in fs. */
typedef struct kb_traffic_result {
    double offered_gbs, accepted_gbs; /* over all PEs, in the time that was measured */
    uint64_t issued;                  /* transactions, over all simulations */
    uint64_t count;                   /* of these measured: issued after the warm-up */
    int64_t mean_fs, p50_fs, p99_fs, p999_fs, max_fs;
    int64_t ci95_fs;   /* half of the mean's confidence interval of 95 %; -1: not to be had */
    int64_t warmup_fs; /* what was issued before is not measured; the longest of all */
    bool steady; /* the mean no longer grew after the warm-up, and is known better than +-100 % */
    bool exact;  /* percentiles are exact; else within 0.05 % */
    /* means of the terms of the latency */
    int64_t wire_fs, overhead_fs, drain_fs;
    int64_t wait_fs[KB_N_WAITS];
} kb_traffic_result;

/*
 * The traffic of `n` simulations that have run, as one: the same but for their seeds. With several
 * the confidence interval is that of their means, with one of its parts' means.
 *
 * returns  KB_BAD_REQUEST: no traffic; KB_PENDING: it has not ended; KB_NO_MEMORY
 */
kb_status kb_sim_traffic_result(kb_sim *const *sims, size_t n, kb_traffic_result *out);

/* -- tensors -------------------------------------------------------------------------------- */

/* Types of elements. KB_DEFAULT, where a type may be left out: the one that follows from others. */
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
} kb_dtype;

size_t kb_dtype_bytes(kb_dtype dtype);     /* 0: no such type */
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

/* The global address of byte `offset` of a slice, SRAM or TCM; UINT64_MAX: there is no such byte.
 */
uint64_t kb_address(const kb_topology *topo, const kb_endpoint *memory, uint64_t offset);

/* The memory in which `address` lies, and where in it. KB_BAD_REQUEST: in none. */
kb_status kb_address_find(const kb_topology *topo, uint64_t address, kb_endpoint *memory,
                          uint64_t *offset);

/* How a tensor is cut: by its first axis, by its last, or not at all. */
typedef enum kb_placement_split { KB_REPLICATE, KB_ROW_WISE, KB_COLUMN_WISE } kb_placement_split;

/* First over all cubes, then each cube's part over its PEs.                          design 5 */
typedef struct kb_placement {
    kb_placement_split cubes, pes;
} kb_placement;

/* A tensor that the host has put into the HBM of a simulation, which owns it. */
typedef struct kb_tensor kb_tensor;

/* The part of a tensor that lies in the slice of one PE, contiguous, row-major. */
typedef struct kb_shard {
    uint64_t address;
    kb_shape shape;             /* an extent of 0: this PE has no part */
    int64_t first[KB_RANK_MAX]; /* where it begins in the whole tensor */
} kb_shard;

/*
 * Makes room for a tensor in the slices of all PEs, in order SIP, cube, PE, each at the next free
 * offset on a boundary of 256 bytes. Its bytes are not written yet. Only before the first launch
 * or between launches that have run. `name` is copied.
 *
 * returns  KB_BAD_REQUEST: an extent below 1, no rank, or a slice is full; KB_NO_MEMORY
 */
kb_status kb_tensor_new(kb_sim *sim, const char *name, kb_dtype dtype, kb_shape shape,
                        kb_placement placement, kb_tensor **out, kb_error *why);

const char *kb_tensor_name(const kb_tensor *tensor);
kb_dtype kb_tensor_dtype(const kb_tensor *tensor);
kb_shape kb_tensor_shape(const kb_tensor *tensor);

/* The part of the PE with that number over all SIPs and cubes. */
kb_shard kb_tensor_shard(const kb_tensor *tensor, uint32_t pe);

/* Fill all parts; in C order, from as many bytes as the whole tensor has. No time passes. */
kb_status kb_tensor_write(kb_tensor *tensor, const void *bytes, kb_error *why);
/* Uniform in (-scale, scale), integers in -8..7 or 0..15, from a seed and the tensor's name. */
kb_status kb_tensor_fill_random(kb_tensor *tensor, uint64_t seed, double scale, kb_error *why);
kb_status kb_tensor_fill_arange(kb_tensor *tensor, double start, double step, kb_error *why);
/* From a .npy file of the same shape and type (bf16: from u2). */
kb_status kb_tensor_fill_npy(kb_tensor *tensor, const char *path, kb_error *why);

/*
 * Reads the whole tensor back, in C order; of several copies the first.
 *
 * returns  KB_PENDING: some bytes are results that kb_compute() has not made; KB_BAD_REQUEST: some
 *          were never written
 */
kb_status kb_tensor_read(const kb_tensor *tensor, void *bytes, kb_error *why);
/* The same into a .npy file, version 1.0. */
kb_status kb_tensor_save_npy(const kb_tensor *tensor, const char *path, kb_error *why);

/* Where a comparison found the first element out of tolerance, and the largest difference. */
typedef struct kb_difference {
    uint64_t n_bad;
    uint64_t index; /* of the first bad one, in C order */
    double got, want;
    double max_abs_err;
} kb_difference;

/*
 * Compares `n` elements of `dtype` with a reference in f64, by numpy.allclose's rule and the
 * tolerances of design 8; NaN equals NaN.
 *
 * returns  KB_OK or KB_DIFFERENT
 */
kb_status kb_compare(kb_dtype dtype, const void *got, const double *want, uint64_t n,
                     kb_difference *out);

/* Element `i` of `bytes` as a double, and back: rounded to nearest even, integers saturate. */
double kb_element(kb_dtype dtype, const void *bytes, uint64_t i);
void kb_element_set(kb_dtype dtype, void *bytes, uint64_t i, double value);

/* -- kernels -------------------------------------------------------------------------------- */

/* What a kernel calls: tl.h. One per PE and launch. */
typedef struct tl_ctx tl_ctx;

/* What a launch gives to each of its PEs. All of it is borrowed until the launch has run. */
typedef struct kb_args {
    kb_tensor *const *tensors;
    size_t n_tensors;
    const void *user; /* whatever the kernel expects */
} kb_args;

/* A kernel: runs once on every PE of a launch, and returns. */
typedef void (*kb_kernel)(tl_ctx *tl, const kb_args *args);

typedef struct kb_launch_request {
    const char *name; /* of the kernel; borrowed until the simulation is freed */
    kb_kernel kernel;
    kb_args args;
    const uint32_t *pes; /* numbers over all SIPs and cubes, ascending; NULL: all. Copied. */
    size_t n_pes;
} kb_launch_request;

/* One launch that has run; all times in fs. */
typedef struct kb_launch_result {
    const char *kernel;
    uint32_t pes;
    int64_t launch_fs;   /* the hosts set out */
    int64_t start_fs;    /* all kernels start together */
    int64_t last_end_fs; /* the last PE's end */
    int64_t response_fs; /* the last response is back */
    uint64_t ops;        /* commands issued */
    uint64_t dma_read_bytes, dma_write_bytes, gemm_macs, math_elements;
    uint32_t idle_pes;   /* that issued no command, */
    uint32_t idle_pe;    /* and the first of them, by number over all SIPs and cubes */
    uint64_t unreceived; /* messages that were sent and never received, and one of the first PE: */
    uint32_t unreceived_from, unreceived_to, unreceived_tag;
    const char *unreceived_file;
    int unreceived_line;
} kb_launch_result;

/*
 * Adds a launch: kb_sim_run() runs all that were added, one after the other. A simulation runs
 * either kernels or transactions that were added.
 *
 * returns  KB_BAD_REQUEST, KB_NO_MEMORY
 */
kb_status kb_launch(kb_sim *sim, const kb_launch_request *request, kb_error *why);

/* A command of a kernel that will never end. */
typedef struct kb_deadlocked {
    uint32_t pe;
    const char *kernel, *call, *file; /* where it was called */
    int line;
    int64_t since_fs;   /* its issue */
    const char *lacks;  /* "a message", "a free slot", "a member" */
    uint32_t waits_for; /* the PE that would have to act; see below */
    const char *state;  /* of that PE's kernel: "waiting", "ended", "not launched" */
    int tag;            /* of the queue; -1: a barrier */
    int other_tag;      /* lowest under which that PE's messages lie here unreceived; -1: none */
    size_t n_missing;   /* of a barrier: members; else 0 */
    uint32_t cycle;     /* PEs that wait in a circle have its number, from 1; 0: in none */
} kb_deadlocked;

/*
 * After KB_DEADLOCK: calls `each` for every command that waits for ever, in order of PE and issue.
 * Of the members that a barrier lacks `waits_for` is the lowest that waits itself for one who has
 * come, be it over others, so that there is a circle; else the lowest.
 *
 * returns  KB_BAD_REQUEST: there was no deadlock; KB_NO_MEMORY
 */
kb_status kb_sim_deadlocked(const kb_sim *sim, void (*each)(void *arg, const kb_deadlocked *blocked),
                         void *arg);

size_t kb_launch_count(const kb_sim *sim);                                   /* that were added */
size_t kb_launch_done(const kb_sim *sim);                                    /* that have run */
kb_status kb_launch_get(const kb_sim *sim, size_t i, kb_launch_result *out); /* KB_PENDING */

/* -- races ---------------------------------------------------------------------------------- */

/*
 * Looks for races in the kernels of `sim`, which has not begun: two PEs touch the same bytes of a
 * slice, an SRAM or a TCM, at least one of them writes, and nothing makes one come before the
 * other, whatever the times of this run. What comes before what: a PE's calls in their order;
 * tl_send() before the return of the tl_recv() that takes it, and the tl_recv() that frees its slot
 * before the return of a tl_send(); what a group did before tl_barrier() before what it does after;
 * atomics of one element in the order in which they took effect; launches. Two atomics do not race.
 * An asynchronous command goes on from its call until tl_wait() has returned. Slots of queues, and
 * the host, are not looked at. Times are the same as without.
 *
 * returns  KB_BAD_REQUEST: it has begun; KB_NO_MEMORY
 */
kb_status kb_sim_check_races(kb_sim *sim, kb_error *why);

/* One of the two accesses of a race. */
typedef struct kb_race_access {
    uint32_t pe;
    uint32_t op_id;                   /* KB_NO_ID: tl_data() or tl_get(), which are no commands */
    const char *kernel, *call, *file; /* where it was called */
    int line;
    int64_t issue_fs;
    bool writes, atomic;
} kb_race_access;

/* What two lines of kernels did to the same bytes, as it was first found. */
typedef struct kb_race {
    kb_race_access first, second; /* by their issue */
    kb_endpoint memory;
    uint64_t address, offset,
        nbytes;     /* global, and in the memory; bytes that both touch from there */
    uint64_t count; /* accesses that came upon it */
} kb_race;

/*
 * Calls `each` for every pair of lines that has raced so far, in the order in which they were
 * found: each pair once, and none is missed. A call that reads and writes counts as two.
 *
 * returns  KB_BAD_REQUEST: nobody has asked for races
 */
kb_status kb_sim_races(const kb_sim *sim, void (*each)(void *arg, const kb_race *race), void *arg);

/* How much was looked at so far. */
typedef struct kb_race_counts {
    uint64_t races, accesses;
    uint32_t pes; /* that had accesses */
} kb_race_counts;

/* KB_BAD_REQUEST: nobody has asked for races. */
kb_status kb_sim_race_counts(const kb_sim *sim, kb_race_counts *out);

/* -- Phase 2 -------------------------------------------------------------------------------- */

typedef struct kb_compute_options {
    unsigned threads;        /* 0: as many as processors */
    bool verify_ops;         /* compute every operation again by plain loops, and compare */
    bool (*stop)(void *arg); /* asked before every step, by one thread at a time; may be NULL */
    void *stop_arg;
    /* Called there, too: how many operations are computed, of how many. May be NULL. */
    void (*progress)(void *arg, uint64_t done, uint64_t total);
    void *progress_arg;
} kb_compute_options;

/*
 * Computes every result that is pending, from the operations logged by all launches that have
 * run. Needs `phase2` of the options. The same bytes for any number of threads.
 *
 * returns  KB_DIFFERENT: verify_ops found a wrong operation, named in `why`; KB_STOPPED: stop() was
 *          true, call again for the rest; KB_NO_MEMORY
 */
kb_status kb_compute(kb_sim *sim, const kb_compute_options *options, kb_error *why);

/* What GEMMs are computed with: "BLIS 0.9.0 skx". */
const char *kb_compute_backend(void);

/*
 * Writes the log of all launches that have run to `path`: CSV if it ends in .csv, else JSON
 * lines. The file appears when it is whole. The first of JSON lines has `command_line` and `seed`,
 * for whoever makes the log again; `command_line` may be NULL, for neither.
 */
kb_status kb_oplog_write(kb_sim *sim, const char *path, const char *command_line, uint64_t seed,
                         kb_error *why);

/* -- inspecting ----------------------------------------------------------------------------- */

/* What a record says in brief. */
typedef struct kb_op_brief {
    uint32_t id;
    char name[32];                 /* "gemm_f16", as in the op log */
    char component[KB_NODE_BYTES]; /* "sip0.cube0.pe3.pe_gemm" */
    int64_t start_fs, end_fs;
    /* Of a DMA: the tensor of the host where it reads or writes, and the first element there. */
    const char *tensor; /* NULL: none */
    int64_t rank, index[KB_RANK_MAX];
} kb_op_brief;

/* An operand or a result of an operation. */
typedef struct kb_op_tensor {
    char role[16]; /* "a", "b", "in0", "src", "epilogue0.1"; "out", "dst" */
    bool is_result;
    bool is_scalar;
    double scalar;
    uint64_t address; /* global, and where that is */
    kb_endpoint memory;
    uint64_t offset;
    kb_dtype dtype;
    kb_shape shape;
    uint32_t maker;                   /* op_id that made the bytes; UINT32_MAX: none, or several */
    bool from_host;                   /* no operation made them */
    const char *tensor;               /* the host's tensor that lies there; NULL: none */
    int64_t rank, index[KB_RANK_MAX]; /* of its element at `address` */
    const void *bytes;                /* row-major; NULL: not known, or not yet */
} kb_op_tensor;

typedef struct kb_op_info {
    kb_op_brief op;
    uint32_t asked;                     /* the id that was asked for: perhaps of a stage of `op` */
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
 * Looks up operation `id`, or the last command, of the launches that have run; a stage's id means
 * its command. Needs `inspect` and `oplog` or `phase2` of the options. Its bytes stay until
 * kb_inspection_free(), which comes before kb_sim_free(): what Phase 2 has to compute is kept if
 * this is called before kb_compute().
 *
 * returns  KB_BAD_REQUEST: no such id, the range is in `why`
 */
kb_status kb_inspect(kb_sim *sim, uint32_t id, kb_inspection **out, kb_error *why);

/* With the bytes that are known by now. */
const kb_op_info *kb_inspection_info(kb_inspection *inspection);
void kb_inspection_free(kb_inspection *inspection);

/*
 * Turns a kernel's stack overflow into KB_KERNEL_ERROR instead of a crash: catches SIGSEGV and
 * SIGBUS for the calling thread. The command line does; a program that embeds may. False: refused.
 */
bool kb_catch_overflow(void);

/* -- benches -------------------------------------------------------------------------------- */

/*
 * A bench is a kernel with all that is needed to run it by name: arguments, tensors, launches, and
 * the results to expect.
 */
typedef struct kb_bench_run kb_bench_run;

typedef enum kb_arg_type { KB_ARG_INT, KB_ARG_REAL, KB_ARG_DTYPE, KB_ARG_CHOICE } kb_arg_type;

/* One argument, given as name=value. */
typedef struct kb_bench_arg {
    const char *name;
    kb_arg_type type;
    const char *initial; /* its value if none is given */
    double min, max;     /* INT, REAL */
    const char *choices; /* DTYPE, CHOICE: what it may be, "f16 bf16" */
    const char *help;    /* one line */
} kb_bench_arg;

typedef struct kb_bench {
    const char *name, *summary;
    const kb_bench_arg *args;
    size_t n_args;
    /* Declares tensors and launches. */
    void (*setup)(kb_bench_run *run);
    /*
     * What is to be expected, in f64; it is rounded to the tensor's type. t[i] is the i-th tensor:
     * an input's elements; of an output, zeros to be replaced; NULL of a scratch.
     */
    void (*reference)(const kb_bench_run *run, double *const *t);
} kb_bench;

/* Arguments, by name; a choice by its place among the choices. */
int64_t kb_bench_int(const kb_bench_run *run, const char *name);
double kb_bench_real(const kb_bench_run *run, const char *name);
kb_dtype kb_bench_dtype(const kb_bench_run *run, const char *name);
int kb_bench_choice(const kb_bench_run *run, const char *name);

/*
 * What setup() calls. It need not check: after a call that has failed the others do nothing, and
 * kb_bench_new() returns the first failure. A kernel finds its tensors in the order in which they
 * were declared, and the run as args->user.
 */
enum { KB_BENCH_TENSORS_MAX = 16 };

const kb_topology *kb_bench_topology(const kb_bench_run *run);
/* An input: uniform in (-scale, scale), integers as kb_tensor_fill_random() has them. */
void kb_bench_input(kb_bench_run *run, const char *name, kb_dtype dtype, kb_shape shape,
                    kb_placement placement, double scale);
/* An input whose `n` elements `fill` makes. */
void kb_bench_input_by(kb_bench_run *run, const char *name, kb_dtype dtype, kb_shape shape,
                       kb_placement placement,
                       void (*fill)(kb_bench_run *run, double *values, uint64_t n));
void kb_bench_output(kb_bench_run *run, const char *name, kb_dtype dtype, kb_shape shape,
                     kb_placement placement);
/* Neither: what one launch leaves for another. */
void kb_bench_scratch(kb_bench_run *run, const char *name, kb_dtype dtype, kb_shape shape,
                      kb_placement placement);
/* On `n_pes` PEs, or on all if it is 0. */
void kb_bench_launch(kb_bench_run *run, const char *name, kb_kernel kernel, const uint32_t *pes,
                     size_t n_pes);
/* A number in 0..below-1, from the seed. */
uint64_t kb_bench_random(kb_bench_run *run, uint64_t below);

/*
 * For a value that setup() finds itself. kb_bench_try(): how long the kernels of the same run take
 * if `name` is `value`, in a simulation of its own, without any results and with all costs.
 * kb_bench_set() replaces the value. kb_bench_note() adds a line to what kb_bench_notes() tells
 * users, which is "" if there is none. kb_bench_refuse(): this machine cannot run it so; `text` is
 * what kb_bench_new() fails with.
 *
 * returns  KB_BAD_REQUEST: no such argument, or not such a value; whatever a run may come to
 */
kb_status kb_bench_try(const kb_bench_run *run, const char *name, const char *value,
                       int64_t *kernels_fs, kb_error *why);
void kb_bench_set(kb_bench_run *run, const char *name, const char *value);
void kb_bench_note(kb_bench_run *run, const char *text);
void kb_bench_refuse(kb_bench_run *run, const char *text);
const char *kb_bench_notes(const kb_bench_run *run);

/*
 * A run of `bench` in a simulation of its own: `words` are "name=value", `options` may be NULL.
 *
 * returns  KB_BAD_REQUEST: an argument that does not exist, is given twice or out of range
 */
kb_status kb_bench_new(const kb_bench *bench, const kb_topology *topo, const kb_options *options,
                       uint64_t seed, const char *const *words, size_t n_words, kb_bench_run **out,
                       kb_error *why);
void kb_bench_free(kb_bench_run *run);

/* Its simulation: for kb_sim_run(), kb_launch_get(), kb_compute(). */
kb_sim *kb_bench_sim(const kb_bench_run *run);

/* The value of argument `i`, given or not, as it would be written. */
const char *kb_bench_value(const kb_bench_run *run, size_t i);

/* Once all is computed: compares the outputs with the reference. KB_DIFFERENT: `why` names tensor,
 * index and both values. */
kb_status kb_bench_verify(const kb_bench_run *run, double *max_abs_err, kb_error *why);

/* in.NAME.npy and out.NAME.npy (bf16: in.NAME.bf16.npy) into a folder, which is made. */
kb_status kb_bench_dump(const kb_bench_run *run, const char *folder, kb_error *why);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
