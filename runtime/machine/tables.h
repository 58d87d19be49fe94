/* tables.h -- the rows of the generated tables, shared by the generator, the engines and the
 * library.
 */
#ifndef ROWS_H
#define ROWS_H
#include "kernbench.h"

/*
 * A cube is described once and used for all: its tables are relative to the cube. A route is a
 * row of segments, each from where a request enters a cube (or leaves its source) to where it
 * leaves it. A segment is a row of hops: a node, and the edge by which the request leaves it.
 */

/* A place where a request enters a cube or leaves it. EXIT_IO is ucie-W towards the IO chiplet. */
enum side { SIDE_N, SIDE_E, SIDE_S, SIDE_W, N_SIDES, EXIT_IO = N_SIDES, N_EXITS };

enum node_kind {
    NODE_NOC,
    NODE_M_CPU,
    NODE_SRAM,
    NODE_UCIE,
    NODE_XBAR,
    NODE_BRIDGE,
    NODE_HBM_CTRL,
    NODE_PE_CPU,
    NODE_PE_SCHEDULER,
    NODE_PE_DMA,
    NODE_PE_FETCH_STORE,
    NODE_PE_GEMM,
    NODE_PE_MATH,
    NODE_PE_TCM,
    NODE_PCIE_EP,
    NODE_IO_NOC,
    NODE_IO_CPU,
    NODE_SWITCH,
};

/* Which chiplet a node stands on, seen from a request on its way. */
enum chiplet {
    AT_CUBE,   /* the cube where the request is */
    AT_IO,     /* the IO chiplet of that cube's SIP */
    AT_IO_TO,  /* the IO chiplet of the target's SIP */
    AT_FABRIC, /* the switch between SIPs */
};

/* Whose link an edge is. A link joins two nodes and has an edge for each direction. */
enum link_owner {
    LINK_NONE,      /* the last node of a route */
    LINK_CUBE,      /* the cube where the request is */
    LINK_NEXT,      /* the cube that the request goes to */
    LINK_IO,        /* the IO chiplet of the cube's SIP */
    LINK_IO_ROW,    /* the same, the one of the cube's row on the shoreline */
    LINK_IO_TO,     /* the IO chiplet of the target's SIP */
    LINK_IO_TO_ROW, /* the same, the one of the target's row on the shoreline */
};

/* The links of an IO chiplet; the shoreline has one for each row of cubes. */
enum io_link { IO_LINK_PCIE, IO_LINK_CPU, IO_LINK_FABRIC, IO_LINK_SHORE };

/* Nodes of a PE, in the order of enum node_kind. */
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
    uint8_t leaves;    /* N_EXITS: both ends here; else the side where the neighbour lies */
    uint8_t both_ways; /* 0: the edge to -> from does not exist, only its return station */
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

/* One station of a segment: the delays before it, merged. */
struct leg_row {
    uint8_t owner; /* LINK_NONE: the M_CPU's engine */
    uint8_t back;
    uint16_t link;
    int64_t wire_fs, overhead_fs; /* since the station before, or the segment's begin */
    double gbs;
};

struct segment_row {
    uint32_t first_hop, first_leg;
    uint16_t n_hops, n_legs;
    uint8_t exit;                           /* enum side; N_EXITS: ends at a memory */
    int64_t tail_wire_fs, tail_overhead_fs; /* after the last leg; a memory's own is not in it */
};

/* Where a transaction is on its route. */
struct txn_at {
    uint32_t cube; /* over all SIPs */
    uint16_t segment;
    uint16_t step; /* hop or leg of the segment */
};

/* What a part of a route costs: the sum of its hops, the smallest of its bandwidths. */
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

/* A memory as a station: its own overhead, and the edge into it. */
struct memory_row {
    int64_t overhead_fs;
    double gbs; /* effective */
    uint64_t nbytes;
};

/* Where the slots of queues between PEs lie: with the receiver, in his TCM, SRAM or slice. */
enum queue_space { QUEUE_TCM, QUEUE_SRAM, QUEUE_HBM };

/* What a PE is made of, beside its DMA and TCM. */
struct pe_row {
    int64_t cpu_overhead_fs, scheduler_overhead_fs, gemm_overhead_fs, math_overhead_fs;
    double gemm_clock_ghz, math_clock_ghz;
    uint32_t tile[3];      /* M, K, N */
    uint32_t tile_buffers; /* in the TCM */
    uint32_t mac[3];       /* M, K, N of a cycle */
    uint32_t lanes, special_cycles;
    uint32_t ipcq_slots, ipcq_slot_bytes; /* of a queue from another PE */
    uint8_t ipcq_space;                   /* enum queue_space */
};

struct kb_sim;

enum link_mode { MODE_IDEAL, MODE_FIFO };

/*
 * A unit of a cube is one of its memories: slices 0..pes-1, then the SRAM, then the TCMs of its
 * PEs. n_units = 2 * pes + 1.
 */
struct kb_topology {
    const char *name, *config, *hash;
    uint8_t links; /* enum link_mode */
    uint32_t sips, w, h, cubes /* of a SIP */, pes /* of a cube */;
    uint32_t n_nodes, n_edges, n_units;
    uint32_t pe_bits, unit_bits;            /* of a packed source, of a packed memory: cost.h */
    uint32_t read_channels, write_channels; /* of a PE */
    uint32_t read_engines, write_engines;   /* of an M_CPU */
    uint32_t n_cube_links, n_io_links;
    uint32_t m_cpu_node, sram_node, first_hbm_node, first_pe_node;
    int64_t ucie_overhead_fs;
    struct memory_row hbm, sram, tcm_read, tcm_write;
    struct pe_row pe;

    const struct node_row *cube_nodes, *io_nodes, *fabric_nodes;
    const struct link_row *cube_links, *io_links;
    const struct hop_row *hops;
    const struct leg_row *legs;
    const struct segment_row *segments;
    /* where each kind of segment begins */
    uint16_t seg_local;   /* [pe][unit]: source and target in one cube; 0 hops: no route */
    uint16_t seg_out;     /* [pe][exit] */
    uint16_t seg_pass;    /* [side][exit] */
    uint16_t seg_in;      /* [side][unit] */
    uint16_t seg_host;    /* from the host to the shoreline */
    uint16_t seg_host_in; /* [slice]: from ucie-W by m_cpu to the slice */
    uint16_t seg_cross;   /* from shoreline to shoreline, over the fabric */
    /* the same, summed */
    const struct cost_row *cost_local; /* [pe][unit] */
    const struct cost_row *cost_out;   /* [pe][exit] */
    const struct cost_row *cost_in;    /* [side][unit] */
    const struct mesh_row *cost_mesh;  /* [dy + h - 1][dx + w - 1] */
    const uint32_t *cube_pos;          /* [cube]: its index in such a table: row * (2w - 1) + col */
    uint32_t mesh_middle;              /* index of dx = dy = 0 */
    const struct cost_row *cost_leave; /* [column]: from its W exit to the target's SIP */
    const struct cost_row *cost_enter; /* [column]: from column 0 to it */
    const struct cost_row *cost_host;  /* [column]: from the host to its ucie-W */
    const struct cost_row *cost_host_cpu; /* one: from ucie-W to m_cpu's engine */
    const struct cost_row *cost_host_in;  /* [slice]: from the engine to the memory */
    const struct cost_row *cost_launch; /* [pe]: from the engine to pe_cpu, without its overhead */

    /* The engine compiled for it: runs until `budget` events are used up. */
    kb_status (*run)(struct kb_sim *sim, uint64_t budget);
};

#endif
