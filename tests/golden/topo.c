/* Generated from two_cubes.yaml by kbgen 0.2.0; edit that file, not this. */
/* topo.c -- the tables of two_cubes. */
#include "topo.h"

/* The resolved YAML. */
static const char config[] =
    "kernbench: 1\n"
    "contention:\n"
    "  links: fifo\n"
    "name: two_cubes\n"
    "ns_per_mm: 0.01\n"
    "fabric:\n"
    "  overhead_ns: 5.0\n"
    "  distance_mm: 100.0\n"
    "  bw_gbs: 64.0\n"
    "sips: 2\n"
    "sip:\n"
    "  cube_mesh:\n"
    "    w: 2\n"
    "    h: 1\n"
    "  d2d:\n"
    "    distance_mm: 1.0\n"
    "    bw_gbs: 128.0\n"
    "  io:\n"
    "    pcie_ep:\n"
    "      overhead_ns: 5.0\n"
    "    io_cpu:\n"
    "      overhead_ns: 10.0\n"
    "    link:\n"
    "      distance_mm: 1.0\n"
    "      bw_gbs: 128.0\n"
    "    shore:\n"
    "      distance_mm: 2.0\n"
    "      bw_gbs: 128.0\n"
    "cube:\n"
    "  size_mm: [15.0, 11.0]\n"
    "  pes: 2\n"
    "  ucie:\n"
    "    overhead_ns: 1.0\n"
    "  noc:\n"
    "    overhead_ns: 0.0\n"
    "    attach_mm: 0.5\n"
    "    bw_gbs: 128.0\n"
    "  m_cpu:\n"
    "    overhead_ns: 5.0\n"
    "    pos_mm: [7.5, 2.0]\n"
    "    dma_read: 1\n"
    "    dma_write: 1\n"
    "  sram:\n"
    "    overhead_ns: 0.0\n"
    "    pos_mm: [1.5, 9.0]\n"
    "    size_mb: 32\n"
    "  xbar:\n"
    "    overhead_ns: 2.0\n"
    "    pe_mm: 6.0\n"
    "    pe_gbs: 256.0\n"
    "    chain_mm: 1.0\n"
    "    chain_gbs: 128.0\n"
    "  bridge:\n"
    "    overhead_ns: 1.0\n"
    "    distance_mm: 3.0\n"
    "    bw_gbs: 128.0\n"
    "  hbm:\n"
    "    overhead_ns: 0.0\n"
    "    distance_mm: 2.5\n"
    "    bw_gbs: 256.0\n"
    "    efficiency: 1.0\n"
    "    size_gb: 48\n"
    "  pe:\n"
    "    pe_cpu:\n"
    "      overhead_ns: 2.0\n"
    "    pe_scheduler:\n"
    "      overhead_ns: 1.0\n"
    "      tile: [32, 64, 32]\n"
    "      tile_buffers: 2\n"
    "    pe_dma:\n"
    "      overhead_ns: 0.0\n"
    "      read_channels: 1\n"
    "      write_channels: 1\n"
    "    pe_tcm:\n"
    "      size_mb: 16\n"
    "      read_gbs: 512.0\n"
    "      write_gbs: 512.0\n"
    "    pe_gemm:\n"
    "      overhead_ns: 0.0\n"
    "      clock_ghz: 1.0\n"
    "      mac: [16, 16, 16]\n"
    "    pe_math:\n"
    "      overhead_ns: 0.0\n"
    "      clock_ghz: 1.0\n"
    "      lanes: 64\n"
    "      special_cycles: 4\n"
    "    pe_ipcq:\n"
    "      slots: 4\n"
    "      slot_bytes: 4096\n"
    "      space: tcm\n"
    ;

/* -- one cube of each kind ------------------------------------------------------------------ */

static const struct kind_row kinds[TOPO_KINDS] = {
    [0] = {
        .pes = 2,
        .slices = 2,
        .crossbars = 2,
        .keys = 0,
        .read_channels = 1,
        .write_channels = 1,
        .issue_fs = 0,
        .packet_bytes = 0,
        .tiles = 0,
        .run_fs = 0,
        .read_engines = 1,
        .write_engines = 1,
        .reduce_fs = 0,
        .ucie_overhead_fs = 1000000,
        .queue_bytes = 0,
        .pe_gbs = 256.0,
        .hbm = {.overhead_fs = 0, .gbs = 256.0, .nbytes = 25769803776, .wire_fs = 25000,
            .latency_fs = 0, .own_gbs = 256.0, .edge_gbs = INFINITY,
            .bare_gbs = 256.0, .hold = HOLD_ROUTE, .model = MEMORY_SERVER},
        .sram = {.overhead_fs = 0, .gbs = 128.0, .nbytes = 33554432, .wire_fs = 5000,
            .latency_fs = 0, .own_gbs = 128.0, .edge_gbs = 128.0,
            .bare_gbs = INFINITY, .hold = HOLD_ROUTE, .model = MEMORY_SERVER},
        .tcm_read = {.overhead_fs = 0, .gbs = 512.0, .nbytes = 16777216, .wire_fs = 0,
            .latency_fs = 0, .own_gbs = 512.0, .edge_gbs = INFINITY,
            .bare_gbs = 512.0, .hold = HOLD_ROUTE, .model = MEMORY_SERVER, .ports = 1},
        .tcm_write = {.overhead_fs = 0, .gbs = 512.0, .nbytes = 16777216, .wire_fs = 0,
            .latency_fs = 0, .own_gbs = 512.0, .edge_gbs = INFINITY,
            .bare_gbs = 512.0, .hold = HOLD_ROUTE, .model = MEMORY_SERVER, .ports = 1},
        .pe = {
            .cpu_overhead_fs = 2000000,
            .scheduler_overhead_fs = 1000000,
            .gemm_overhead_fs = 0,
            .math_overhead_fs = 0,
            .gemm_clock_ghz = 1.0,
            .math_clock_ghz = 1.0,
            .tile = {32, 64, 32},
            .tile_buffers = 2,
            .mac = {16, 16, 16},
            .line_bytes = 1,
            .acc_bytes = 262144,
            .rate_f64 = 1.0,
            .rate_f32 = 1.0,
            .rate_f16 = 1.0,
            .rate_bf16 = 1.0,
            .rate_f8 = 1.0,
            .rate_i64 = 1.0,
            .rate_i32 = 1.0,
            .rate_i16 = 1.0,
            .rate_i8 = 1.0,
            .rate_i4 = 1.0,
            .lanes = 64,
            .special_cycles = 4,
            .topk_width = 8,
            .scan_cycles = 2,
            .index_cycles = 4,
            .random_cycles = 10,
            .ipcq_slots = 4,
            .ipcq_slot_bytes = 4096,
            .ipcq_space = 0,
            .convert = 0,
        },
        .banks = {0},
        .cache = {0},
        .cached = {0},
        .l2 = {0},
        .l2_cache = {0},
    },
};

static const struct node_row cube_nodes[TOPO_KINDS * TOPO_CUBE_NODES] = {
    [0] = {.name = "noc", .kind = NODE_NOC, .overhead_fs = 0, .x_mm = 0.0, .y_mm = 0.0},
    [1] = {.name = "m_cpu", .kind = NODE_M_CPU, .overhead_fs = 5000000, .x_mm = 7.5, .y_mm = 2.0},
    [2] = {.name = "sram", .kind = NODE_SRAM, .overhead_fs = 0, .x_mm = 1.5, .y_mm = 9.0},
    [3] = {.name = "ucie-N", .kind = NODE_UCIE, .overhead_fs = 1000000, .x_mm = 7.5, .y_mm = 0.0},
    [4] = {.name = "ucie-E", .kind = NODE_UCIE, .overhead_fs = 1000000, .x_mm = 15.0, .y_mm = 5.5},
    [5] = {.name = "ucie-S", .kind = NODE_UCIE, .overhead_fs = 1000000, .x_mm = 7.5, .y_mm = 11.0},
    [6] = {.name = "ucie-W", .kind = NODE_UCIE, .overhead_fs = 1000000, .x_mm = 0.0, .y_mm = 5.5},
    [7] = {.name = "xbar.pe0", .kind = NODE_XBAR, .overhead_fs = 2000000, .x_mm = 7.5, .y_mm = 0.0},
    [8] = {.name = "xbar.pe1", .kind = NODE_XBAR, .overhead_fs = 2000000, .x_mm = 7.5, .y_mm = 11.0},
    [9] = {.name = "bridge.left", .kind = NODE_BRIDGE, .overhead_fs = 1000000, .x_mm = 0.0, .y_mm = 0.0},
    [10] = {.name = "bridge.right", .kind = NODE_BRIDGE, .overhead_fs = 1000000, .x_mm = 0.0, .y_mm = 0.0},
    [11] = {.name = "hbm_ctrl.slice0", .kind = NODE_HBM_CTRL, .overhead_fs = 0, .x_mm = 0.0, .y_mm = 0.0},
    [12] = {.name = "hbm_ctrl.slice1", .kind = NODE_HBM_CTRL, .overhead_fs = 0, .x_mm = 0.0, .y_mm = 0.0},
    [13] = {.name = "pe0.pe_cpu", .kind = NODE_PE_CPU, .overhead_fs = 2000000, .x_mm = 7.5, .y_mm = 0.0},
    [14] = {.name = "pe0.pe_scheduler", .kind = NODE_PE_SCHEDULER, .overhead_fs = 1000000, .x_mm = 0.0, .y_mm = 0.0},
    [15] = {.name = "pe0.pe_dma", .kind = NODE_PE_DMA, .overhead_fs = 0, .x_mm = 7.5, .y_mm = 0.0},
    [16] = {.name = "pe0.pe_fetch_store", .kind = NODE_PE_FETCH_STORE, .overhead_fs = 0, .x_mm = 0.0, .y_mm = 0.0},
    [17] = {.name = "pe0.pe_gemm", .kind = NODE_PE_GEMM, .overhead_fs = 0, .x_mm = 0.0, .y_mm = 0.0},
    [18] = {.name = "pe0.pe_math", .kind = NODE_PE_MATH, .overhead_fs = 0, .x_mm = 0.0, .y_mm = 0.0},
    [19] = {.name = "pe0.pe_tcm", .kind = NODE_PE_TCM, .overhead_fs = 0, .x_mm = 0.0, .y_mm = 0.0},
    [20] = {.name = "pe1.pe_cpu", .kind = NODE_PE_CPU, .overhead_fs = 2000000, .x_mm = 7.5, .y_mm = 11.0},
    [21] = {.name = "pe1.pe_scheduler", .kind = NODE_PE_SCHEDULER, .overhead_fs = 1000000, .x_mm = 0.0, .y_mm = 0.0},
    [22] = {.name = "pe1.pe_dma", .kind = NODE_PE_DMA, .overhead_fs = 0, .x_mm = 7.5, .y_mm = 11.0},
    [23] = {.name = "pe1.pe_fetch_store", .kind = NODE_PE_FETCH_STORE, .overhead_fs = 0, .x_mm = 0.0, .y_mm = 0.0},
    [24] = {.name = "pe1.pe_gemm", .kind = NODE_PE_GEMM, .overhead_fs = 0, .x_mm = 0.0, .y_mm = 0.0},
    [25] = {.name = "pe1.pe_math", .kind = NODE_PE_MATH, .overhead_fs = 0, .x_mm = 0.0, .y_mm = 0.0},
    [26] = {.name = "pe1.pe_tcm", .kind = NODE_PE_TCM, .overhead_fs = 0, .x_mm = 0.0, .y_mm = 0.0},
};

/* Inside the cube, then its links to the east and to the south. */
static const struct link_row cube_links[TOPO_KINDS * TOPO_CUBE_LINKS] = {
    [0] = {.from = 15, .to = 7, .leaves = EXIT_END, .both_ways = 0, .lanes = {1, 1}, .wire_fs = 60000, .length_mm = 6.0, .gbs = 256.0},
    [1] = {.from = 22, .to = 8, .leaves = EXIT_END, .both_ways = 0, .lanes = {1, 1}, .wire_fs = 60000, .length_mm = 6.0, .gbs = 256.0},
    [2] = {.from = 7, .to = 11, .leaves = EXIT_END, .both_ways = 0, .lanes = {1, 1}, .wire_fs = 25000, .length_mm = 2.5, .gbs = 256.0},
    [3] = {.from = 8, .to = 12, .leaves = EXIT_END, .both_ways = 0, .lanes = {1, 1}, .wire_fs = 25000, .length_mm = 2.5, .gbs = 256.0},
    [4] = {.from = 7, .to = 9, .leaves = EXIT_END, .both_ways = 1, .lanes = {1, 1}, .wire_fs = 30000, .length_mm = 3.0, .gbs = 128.0},
    [5] = {.from = 8, .to = 9, .leaves = EXIT_END, .both_ways = 1, .lanes = {1, 1}, .wire_fs = 30000, .length_mm = 3.0, .gbs = 128.0},
    [6] = {.from = 7, .to = 10, .leaves = EXIT_END, .both_ways = 1, .lanes = {1, 1}, .wire_fs = 30000, .length_mm = 3.0, .gbs = 128.0},
    [7] = {.from = 8, .to = 10, .leaves = EXIT_END, .both_ways = 1, .lanes = {1, 1}, .wire_fs = 30000, .length_mm = 3.0, .gbs = 128.0},
    [8] = {.from = 0, .to = 1, .leaves = EXIT_END, .both_ways = 1, .lanes = {1, 1}, .wire_fs = 5000, .length_mm = 0.5, .gbs = 128.0},
    [9] = {.from = 0, .to = 2, .leaves = EXIT_END, .both_ways = 1, .lanes = {1, 1}, .wire_fs = 5000, .length_mm = 0.5, .gbs = 128.0},
    [10] = {.from = 0, .to = 3, .leaves = EXIT_END, .both_ways = 1, .lanes = {1, 1}, .wire_fs = 5000, .length_mm = 0.5, .gbs = 128.0},
    [11] = {.from = 0, .to = 4, .leaves = EXIT_END, .both_ways = 1, .lanes = {1, 1}, .wire_fs = 5000, .length_mm = 0.5, .gbs = 128.0},
    [12] = {.from = 0, .to = 5, .leaves = EXIT_END, .both_ways = 1, .lanes = {1, 1}, .wire_fs = 5000, .length_mm = 0.5, .gbs = 128.0},
    [13] = {.from = 0, .to = 6, .leaves = EXIT_END, .both_ways = 1, .lanes = {1, 1}, .wire_fs = 5000, .length_mm = 0.5, .gbs = 128.0},
    [14] = {.from = 0, .to = 7, .leaves = EXIT_END, .both_ways = 0, .lanes = {1, 1}, .wire_fs = 5000, .length_mm = 0.5, .gbs = 128.0},
    [15] = {.from = 0, .to = 8, .leaves = EXIT_END, .both_ways = 0, .lanes = {1, 1}, .wire_fs = 5000, .length_mm = 0.5, .gbs = 128.0},
    [16] = {.from = 15, .to = 0, .leaves = EXIT_END, .both_ways = 1, .lanes = {1, 1}, .wire_fs = 5000, .length_mm = 0.5, .gbs = 128.0},
    [17] = {.from = 22, .to = 0, .leaves = EXIT_END, .both_ways = 1, .lanes = {1, 1}, .wire_fs = 5000, .length_mm = 0.5, .gbs = 128.0},
    [18] = {.from = 0, .to = 13, .leaves = EXIT_END, .both_ways = 1, .lanes = {1, 1}, .wire_fs = 5000, .length_mm = 0.5, .gbs = 128.0},
    [19] = {.from = 0, .to = 20, .leaves = EXIT_END, .both_ways = 1, .lanes = {1, 1}, .wire_fs = 5000, .length_mm = 0.5, .gbs = 128.0},
    [20] = {.from = 13, .to = 14, .leaves = EXIT_END, .both_ways = 0, .lanes = {1, 1}, .wire_fs = 0, .length_mm = 0.0, .gbs = INFINITY},
    [21] = {.from = 14, .to = 15, .leaves = EXIT_END, .both_ways = 0, .lanes = {1, 1}, .wire_fs = 0, .length_mm = 0.0, .gbs = INFINITY},
    [22] = {.from = 14, .to = 17, .leaves = EXIT_END, .both_ways = 0, .lanes = {1, 1}, .wire_fs = 0, .length_mm = 0.0, .gbs = INFINITY},
    [23] = {.from = 14, .to = 18, .leaves = EXIT_END, .both_ways = 0, .lanes = {1, 1}, .wire_fs = 0, .length_mm = 0.0, .gbs = INFINITY},
    [24] = {.from = 15, .to = 19, .leaves = EXIT_END, .both_ways = 0, .lanes = {1, 1}, .wire_fs = 0, .length_mm = 0.0, .gbs = 512.0},
    [25] = {.from = 17, .to = 19, .leaves = EXIT_END, .both_ways = 0, .lanes = {1, 1}, .wire_fs = 0, .length_mm = 0.0, .gbs = INFINITY},
    [26] = {.from = 18, .to = 19, .leaves = EXIT_END, .both_ways = 0, .lanes = {1, 1}, .wire_fs = 0, .length_mm = 0.0, .gbs = INFINITY},
    [27] = {.from = 20, .to = 21, .leaves = EXIT_END, .both_ways = 0, .lanes = {1, 1}, .wire_fs = 0, .length_mm = 0.0, .gbs = INFINITY},
    [28] = {.from = 21, .to = 22, .leaves = EXIT_END, .both_ways = 0, .lanes = {1, 1}, .wire_fs = 0, .length_mm = 0.0, .gbs = INFINITY},
    [29] = {.from = 21, .to = 24, .leaves = EXIT_END, .both_ways = 0, .lanes = {1, 1}, .wire_fs = 0, .length_mm = 0.0, .gbs = INFINITY},
    [30] = {.from = 21, .to = 25, .leaves = EXIT_END, .both_ways = 0, .lanes = {1, 1}, .wire_fs = 0, .length_mm = 0.0, .gbs = INFINITY},
    [31] = {.from = 22, .to = 26, .leaves = EXIT_END, .both_ways = 0, .lanes = {1, 1}, .wire_fs = 0, .length_mm = 0.0, .gbs = 512.0},
    [32] = {.from = 24, .to = 26, .leaves = EXIT_END, .both_ways = 0, .lanes = {1, 1}, .wire_fs = 0, .length_mm = 0.0, .gbs = INFINITY},
    [33] = {.from = 25, .to = 26, .leaves = EXIT_END, .both_ways = 0, .lanes = {1, 1}, .wire_fs = 0, .length_mm = 0.0, .gbs = INFINITY},
    [34] = {.from = 4, .to = 6, .leaves = SIDE_E, .both_ways = 1, .lanes = {1, 1}, .wire_fs = 10000, .length_mm = 1.0, .gbs = 128.0},
    [35] = {.from = 5, .to = 3, .leaves = SIDE_S, .both_ways = 1, .lanes = {1, 1}, .wire_fs = 10000, .length_mm = 1.0, .gbs = 128.0},
};

/* -- the IO chiplet of a SIP, and the fabric ------------------------------------------------ */

static const struct node_row io_nodes[TOPO_IO_NODES] = {
    [0] = {.name = "pcie_ep", .kind = NODE_PCIE_EP, .overhead_fs = 5000000, .x_mm = 0.0, .y_mm = 0.0},
    [1] = {.name = "io_noc", .kind = NODE_IO_NOC, .overhead_fs = 0, .x_mm = 0.0, .y_mm = 0.0},
    [2] = {.name = "io_cpu", .kind = NODE_IO_CPU, .overhead_fs = 10000000, .x_mm = 0.0, .y_mm = 0.0},
};

/* io_noc, io_cpu, the fabric, then the shoreline from north to south. */
static const struct link_row io_links[TOPO_IO_LINKS] = {
    [0] = {.from = 0, .to = 1, .leaves = EXIT_END, .both_ways = 1, .lanes = {1, 1}, .wire_fs = 10000, .length_mm = 1.0, .gbs = 128.0},
    [1] = {.from = 2, .to = 1, .leaves = EXIT_END, .both_ways = 1, .lanes = {1, 1}, .wire_fs = 10000, .length_mm = 1.0, .gbs = 128.0},
    [2] = {.from = 0, .to = 0, .leaves = EXIT_END, .both_ways = 1, .lanes = {1, 1}, .wire_fs = 1000000, .length_mm = 1e+02, .gbs = 64.0},
    [3] = {.from = 1, .to = 6, .leaves = EXIT_END, .both_ways = 1, .lanes = {1, 1}, .wire_fs = 20000, .length_mm = 2.0, .gbs = 128.0},
};

static const struct node_row fabric_nodes[1] = {
    [0] = {.name = "switch0", .kind = NODE_SWITCH, .overhead_fs = 5000000, .x_mm = 0.0, .y_mm = 0.0},
};

/* -- the networks between cubes ------------------------------------------------------------- */

static const struct plane_row plane_rows[TOPO_PLANES] = {
    [0] = {.name = "", .dirs = 15, .y_first = 0, .one_way = 0, .in_parts = 0, .has_detours = 0},
};

/* The side of each IO chiplet. */
static const uint8_t io_sides[TOPO_CHIPLETS] = {
    [0] = SIDE_W,
};

/* -- routes, hop by hop and merged ---------------------------------------------------------- */

/* first hop, first leg, hops, legs, exit, delay after the last leg: wire fs, overhead fs */
static const struct segment_row segments[TOPO_KINDS * TOPO_SEGMENTS] = {
    /* from a PE to the memories of its cube: row pe * TOPO_UNITS + unit */
    [0] = {0, 0, 3, 2, EXIT_END, 25000, 0}, /* pe0.pe_dma .. hbm_ctrl.slice0 */
    [1] = {3, 2, 5, 4, EXIT_END, 25000, 0}, /* pe0.pe_dma .. hbm_ctrl.slice1 */
    [2] = {8, 6, 3, 2, EXIT_END, 5000, 0}, /* pe0.pe_dma .. sram */
    [3] = {11, 8, 0, 0, EXIT_END, 0, 0}, /* none .. none */
    [4] = {11, 8, 4, 3, EXIT_END, 0, 0}, /* pe0.pe_dma .. pe1.pe_tcm */
    [5] = {15, 11, 5, 4, EXIT_END, 25000, 0}, /* pe1.pe_dma .. hbm_ctrl.slice0 */
    [6] = {20, 15, 3, 2, EXIT_END, 25000, 0}, /* pe1.pe_dma .. hbm_ctrl.slice1 */
    [7] = {23, 17, 3, 2, EXIT_END, 5000, 0}, /* pe1.pe_dma .. sram */
    [8] = {26, 19, 4, 3, EXIT_END, 0, 0}, /* pe1.pe_dma .. pe0.pe_tcm */
    [9] = {30, 22, 0, 0, EXIT_END, 0, 0}, /* none .. none */
    /* from a PE out of its cube: row pe * (TOPO_PORTS + 1) + exit */
    [10] = {30, 22, 3, 3, SIDE_N, 10000, 0}, /* pe0.pe_dma .. ucie-N */
    [11] = {33, 25, 3, 3, SIDE_E, 10000, 0}, /* pe0.pe_dma .. ucie-E */
    [12] = {36, 28, 3, 3, SIDE_S, 10000, 0}, /* pe0.pe_dma .. ucie-S */
    [13] = {39, 31, 3, 3, SIDE_W, 10000, 0}, /* pe0.pe_dma .. ucie-W */
    [14] = {42, 34, 3, 3, EXIT_IO, 20000, 0}, /* pe0.pe_dma .. ucie-W */
    [15] = {45, 37, 3, 3, SIDE_N, 10000, 0}, /* pe1.pe_dma .. ucie-N */
    [16] = {48, 40, 3, 3, SIDE_E, 10000, 0}, /* pe1.pe_dma .. ucie-E */
    [17] = {51, 43, 3, 3, SIDE_S, 10000, 0}, /* pe1.pe_dma .. ucie-S */
    [18] = {54, 46, 3, 3, SIDE_W, 10000, 0}, /* pe1.pe_dma .. ucie-W */
    [19] = {57, 49, 3, 3, EXIT_IO, 20000, 0}, /* pe1.pe_dma .. ucie-W */
    /* through a cube: row side * (TOPO_PORTS + 1) + exit */
    [20] = {60, 52, 0, 0, EXIT_END, 0, 0}, /* none .. none */
    [21] = {60, 52, 3, 3, SIDE_E, 10000, 0}, /* ucie-N .. ucie-E */
    [22] = {63, 55, 3, 3, SIDE_S, 10000, 0}, /* ucie-N .. ucie-S */
    [23] = {66, 58, 3, 3, SIDE_W, 10000, 0}, /* ucie-N .. ucie-W */
    [24] = {69, 61, 3, 3, EXIT_IO, 20000, 0}, /* ucie-N .. ucie-W */
    [25] = {72, 64, 3, 3, SIDE_N, 10000, 0}, /* ucie-E .. ucie-N */
    [26] = {75, 67, 0, 0, EXIT_END, 0, 0}, /* none .. none */
    [27] = {75, 67, 3, 3, SIDE_S, 10000, 0}, /* ucie-E .. ucie-S */
    [28] = {78, 70, 3, 3, SIDE_W, 10000, 0}, /* ucie-E .. ucie-W */
    [29] = {81, 73, 3, 3, EXIT_IO, 20000, 0}, /* ucie-E .. ucie-W */
    [30] = {84, 76, 3, 3, SIDE_N, 10000, 0}, /* ucie-S .. ucie-N */
    [31] = {87, 79, 3, 3, SIDE_E, 10000, 0}, /* ucie-S .. ucie-E */
    [32] = {90, 82, 0, 0, EXIT_END, 0, 0}, /* none .. none */
    [33] = {90, 82, 3, 3, SIDE_W, 10000, 0}, /* ucie-S .. ucie-W */
    [34] = {93, 85, 3, 3, EXIT_IO, 20000, 0}, /* ucie-S .. ucie-W */
    [35] = {96, 88, 3, 3, SIDE_N, 10000, 0}, /* ucie-W .. ucie-N */
    [36] = {99, 91, 3, 3, SIDE_E, 10000, 0}, /* ucie-W .. ucie-E */
    [37] = {102, 94, 3, 3, SIDE_S, 10000, 0}, /* ucie-W .. ucie-S */
    [38] = {105, 97, 0, 0, EXIT_END, 0, 0}, /* none .. none */
    [39] = {105, 97, 0, 0, EXIT_END, 0, 0}, /* none .. none */
    /* from a side to the memories of the target's cube: row side * TOPO_UNITS + unit */
    [40] = {105, 97, 4, 3, EXIT_END, 25000, 0}, /* ucie-N .. hbm_ctrl.slice0 */
    [41] = {109, 100, 4, 3, EXIT_END, 25000, 0}, /* ucie-N .. hbm_ctrl.slice1 */
    [42] = {113, 103, 3, 2, EXIT_END, 5000, 0}, /* ucie-N .. sram */
    [43] = {116, 105, 4, 3, EXIT_END, 0, 0}, /* ucie-N .. pe0.pe_tcm */
    [44] = {120, 108, 4, 3, EXIT_END, 0, 0}, /* ucie-N .. pe1.pe_tcm */
    [45] = {124, 111, 4, 3, EXIT_END, 25000, 0}, /* ucie-E .. hbm_ctrl.slice0 */
    [46] = {128, 114, 4, 3, EXIT_END, 25000, 0}, /* ucie-E .. hbm_ctrl.slice1 */
    [47] = {132, 117, 3, 2, EXIT_END, 5000, 0}, /* ucie-E .. sram */
    [48] = {135, 119, 4, 3, EXIT_END, 0, 0}, /* ucie-E .. pe0.pe_tcm */
    [49] = {139, 122, 4, 3, EXIT_END, 0, 0}, /* ucie-E .. pe1.pe_tcm */
    [50] = {143, 125, 4, 3, EXIT_END, 25000, 0}, /* ucie-S .. hbm_ctrl.slice0 */
    [51] = {147, 128, 4, 3, EXIT_END, 25000, 0}, /* ucie-S .. hbm_ctrl.slice1 */
    [52] = {151, 131, 3, 2, EXIT_END, 5000, 0}, /* ucie-S .. sram */
    [53] = {154, 133, 4, 3, EXIT_END, 0, 0}, /* ucie-S .. pe0.pe_tcm */
    [54] = {158, 136, 4, 3, EXIT_END, 0, 0}, /* ucie-S .. pe1.pe_tcm */
    [55] = {162, 139, 4, 3, EXIT_END, 25000, 0}, /* ucie-W .. hbm_ctrl.slice0 */
    [56] = {166, 142, 4, 3, EXIT_END, 25000, 0}, /* ucie-W .. hbm_ctrl.slice1 */
    [57] = {170, 145, 3, 2, EXIT_END, 5000, 0}, /* ucie-W .. sram */
    [58] = {173, 147, 4, 3, EXIT_END, 0, 0}, /* ucie-W .. pe0.pe_tcm */
    [59] = {177, 150, 4, 3, EXIT_END, 0, 0}, /* ucie-W .. pe1.pe_tcm */
    /* from a host to the shoreline */
    [60] = {181, 153, 4, 4, EXIT_IO, 20000, 0}, /* pcie_ep .. io_noc */
    /* from ucie-W by the M_CPU to each slice */
    [61] = {185, 157, 6, 6, EXIT_END, 25000, 0}, /* ucie-W .. hbm_ctrl.slice0 */
    [62] = {191, 163, 6, 6, EXIT_END, 25000, 0}, /* ucie-W .. hbm_ctrl.slice1 */
    /* from the shoreline of one SIP to that of another */
    [63] = {197, 169, 5, 5, EXIT_IO, 20000, 0}, /* io_noc .. io_noc */
};

/* chiplet, link's owner, back, node, link, overhead fs, NoC crossing fs, wire fs, GB/s */
static const struct hop_row hops[TOPO_HOPS] = {
    [0] = {AT_CUBE, LINK_CUBE, 0, 15, 0, 0, 0, 60000, 256.0}, /* pe0.pe_dma */
    [1] = {AT_CUBE, LINK_CUBE, 0, 7, 2, 2000000, 0, 25000, 256.0}, /* xbar.pe0 */
    [2] = {AT_CUBE, LINK_NONE, 0, 11, 0, 0, 0, 0, INFINITY}, /* hbm_ctrl.slice0 */
    [3] = {AT_CUBE, LINK_CUBE, 0, 15, 0, 0, 0, 60000, 256.0}, /* pe0.pe_dma */
    [4] = {AT_CUBE, LINK_CUBE, 0, 7, 4, 2000000, 0, 30000, 128.0}, /* xbar.pe0 */
    [5] = {AT_CUBE, LINK_CUBE, 1, 9, 5, 1000000, 0, 30000, 128.0}, /* bridge.left */
    [6] = {AT_CUBE, LINK_CUBE, 0, 8, 3, 2000000, 0, 25000, 256.0}, /* xbar.pe1 */
    [7] = {AT_CUBE, LINK_NONE, 0, 12, 0, 0, 0, 0, INFINITY}, /* hbm_ctrl.slice1 */
    [8] = {AT_CUBE, LINK_CUBE, 0, 15, 16, 0, 0, 5000, 128.0}, /* pe0.pe_dma */
    [9] = {AT_CUBE, LINK_CUBE, 0, 0, 9, 0, 150000, 5000, 128.0}, /* noc */
    [10] = {AT_CUBE, LINK_NONE, 0, 2, 0, 0, 0, 0, INFINITY}, /* sram */
    [11] = {AT_CUBE, LINK_CUBE, 0, 15, 16, 0, 0, 5000, 128.0}, /* pe0.pe_dma */
    [12] = {AT_CUBE, LINK_CUBE, 1, 0, 17, 0, 110000, 5000, 128.0}, /* noc */
    [13] = {AT_CUBE, LINK_CUBE, 0, 22, 31, 0, 0, 0, 512.0}, /* pe1.pe_dma */
    [14] = {AT_CUBE, LINK_NONE, 0, 26, 0, 0, 0, 0, INFINITY}, /* pe1.pe_tcm */
    [15] = {AT_CUBE, LINK_CUBE, 0, 22, 1, 0, 0, 60000, 256.0}, /* pe1.pe_dma */
    [16] = {AT_CUBE, LINK_CUBE, 0, 8, 5, 2000000, 0, 30000, 128.0}, /* xbar.pe1 */
    [17] = {AT_CUBE, LINK_CUBE, 1, 9, 4, 1000000, 0, 30000, 128.0}, /* bridge.left */
    [18] = {AT_CUBE, LINK_CUBE, 0, 7, 2, 2000000, 0, 25000, 256.0}, /* xbar.pe0 */
    [19] = {AT_CUBE, LINK_NONE, 0, 11, 0, 0, 0, 0, INFINITY}, /* hbm_ctrl.slice0 */
    [20] = {AT_CUBE, LINK_CUBE, 0, 22, 1, 0, 0, 60000, 256.0}, /* pe1.pe_dma */
    [21] = {AT_CUBE, LINK_CUBE, 0, 8, 3, 2000000, 0, 25000, 256.0}, /* xbar.pe1 */
    [22] = {AT_CUBE, LINK_NONE, 0, 12, 0, 0, 0, 0, INFINITY}, /* hbm_ctrl.slice1 */
    [23] = {AT_CUBE, LINK_CUBE, 0, 22, 17, 0, 0, 5000, 128.0}, /* pe1.pe_dma */
    [24] = {AT_CUBE, LINK_CUBE, 0, 0, 9, 0, 80000, 5000, 128.0}, /* noc */
    [25] = {AT_CUBE, LINK_NONE, 0, 2, 0, 0, 0, 0, INFINITY}, /* sram */
    [26] = {AT_CUBE, LINK_CUBE, 0, 22, 17, 0, 0, 5000, 128.0}, /* pe1.pe_dma */
    [27] = {AT_CUBE, LINK_CUBE, 1, 0, 16, 0, 110000, 5000, 128.0}, /* noc */
    [28] = {AT_CUBE, LINK_CUBE, 0, 15, 24, 0, 0, 0, 512.0}, /* pe0.pe_dma */
    [29] = {AT_CUBE, LINK_NONE, 0, 19, 0, 0, 0, 0, INFINITY}, /* pe0.pe_tcm */
    [30] = {AT_CUBE, LINK_CUBE, 0, 15, 16, 0, 0, 5000, 128.0}, /* pe0.pe_dma */
    [31] = {AT_CUBE, LINK_CUBE, 0, 0, 10, 0, 0, 5000, 128.0}, /* noc */
    [32] = {AT_CUBE, LINK_NEXT, 1, 3, 35, 1000000, 0, 10000, 128.0}, /* ucie-N */
    [33] = {AT_CUBE, LINK_CUBE, 0, 15, 16, 0, 0, 5000, 128.0}, /* pe0.pe_dma */
    [34] = {AT_CUBE, LINK_CUBE, 0, 0, 11, 0, 130000, 5000, 128.0}, /* noc */
    [35] = {AT_CUBE, LINK_CUBE, 0, 4, 34, 1000000, 0, 10000, 128.0}, /* ucie-E */
    [36] = {AT_CUBE, LINK_CUBE, 0, 15, 16, 0, 0, 5000, 128.0}, /* pe0.pe_dma */
    [37] = {AT_CUBE, LINK_CUBE, 0, 0, 12, 0, 110000, 5000, 128.0}, /* noc */
    [38] = {AT_CUBE, LINK_CUBE, 0, 5, 35, 1000000, 0, 10000, 128.0}, /* ucie-S */
    [39] = {AT_CUBE, LINK_CUBE, 0, 15, 16, 0, 0, 5000, 128.0}, /* pe0.pe_dma */
    [40] = {AT_CUBE, LINK_CUBE, 0, 0, 13, 0, 130000, 5000, 128.0}, /* noc */
    [41] = {AT_CUBE, LINK_NEXT, 1, 6, 34, 1000000, 0, 10000, 128.0}, /* ucie-W */
    [42] = {AT_CUBE, LINK_CUBE, 0, 15, 16, 0, 0, 5000, 128.0}, /* pe0.pe_dma */
    [43] = {AT_CUBE, LINK_CUBE, 0, 0, 13, 0, 130000, 5000, 128.0}, /* noc */
    [44] = {AT_CUBE, LINK_IO_ROW, 1, 6, 3, 1000000, 0, 20000, 128.0}, /* ucie-W */
    [45] = {AT_CUBE, LINK_CUBE, 0, 22, 17, 0, 0, 5000, 128.0}, /* pe1.pe_dma */
    [46] = {AT_CUBE, LINK_CUBE, 0, 0, 10, 0, 110000, 5000, 128.0}, /* noc */
    [47] = {AT_CUBE, LINK_NEXT, 1, 3, 35, 1000000, 0, 10000, 128.0}, /* ucie-N */
    [48] = {AT_CUBE, LINK_CUBE, 0, 22, 17, 0, 0, 5000, 128.0}, /* pe1.pe_dma */
    [49] = {AT_CUBE, LINK_CUBE, 0, 0, 11, 0, 130000, 5000, 128.0}, /* noc */
    [50] = {AT_CUBE, LINK_CUBE, 0, 4, 34, 1000000, 0, 10000, 128.0}, /* ucie-E */
    [51] = {AT_CUBE, LINK_CUBE, 0, 22, 17, 0, 0, 5000, 128.0}, /* pe1.pe_dma */
    [52] = {AT_CUBE, LINK_CUBE, 0, 0, 12, 0, 0, 5000, 128.0}, /* noc */
    [53] = {AT_CUBE, LINK_CUBE, 0, 5, 35, 1000000, 0, 10000, 128.0}, /* ucie-S */
    [54] = {AT_CUBE, LINK_CUBE, 0, 22, 17, 0, 0, 5000, 128.0}, /* pe1.pe_dma */
    [55] = {AT_CUBE, LINK_CUBE, 0, 0, 13, 0, 130000, 5000, 128.0}, /* noc */
    [56] = {AT_CUBE, LINK_NEXT, 1, 6, 34, 1000000, 0, 10000, 128.0}, /* ucie-W */
    [57] = {AT_CUBE, LINK_CUBE, 0, 22, 17, 0, 0, 5000, 128.0}, /* pe1.pe_dma */
    [58] = {AT_CUBE, LINK_CUBE, 0, 0, 13, 0, 130000, 5000, 128.0}, /* noc */
    [59] = {AT_CUBE, LINK_IO_ROW, 1, 6, 3, 1000000, 0, 20000, 128.0}, /* ucie-W */
    [60] = {AT_CUBE, LINK_CUBE, 1, 3, 10, 1000000, 0, 5000, 128.0}, /* ucie-N */
    [61] = {AT_CUBE, LINK_CUBE, 0, 0, 11, 0, 130000, 5000, 128.0}, /* noc */
    [62] = {AT_CUBE, LINK_CUBE, 0, 4, 34, 1000000, 0, 10000, 128.0}, /* ucie-E */
    [63] = {AT_CUBE, LINK_CUBE, 1, 3, 10, 1000000, 0, 5000, 128.0}, /* ucie-N */
    [64] = {AT_CUBE, LINK_CUBE, 0, 0, 12, 0, 110000, 5000, 128.0}, /* noc */
    [65] = {AT_CUBE, LINK_CUBE, 0, 5, 35, 1000000, 0, 10000, 128.0}, /* ucie-S */
    [66] = {AT_CUBE, LINK_CUBE, 1, 3, 10, 1000000, 0, 5000, 128.0}, /* ucie-N */
    [67] = {AT_CUBE, LINK_CUBE, 0, 0, 13, 0, 130000, 5000, 128.0}, /* noc */
    [68] = {AT_CUBE, LINK_NEXT, 1, 6, 34, 1000000, 0, 10000, 128.0}, /* ucie-W */
    [69] = {AT_CUBE, LINK_CUBE, 1, 3, 10, 1000000, 0, 5000, 128.0}, /* ucie-N */
    [70] = {AT_CUBE, LINK_CUBE, 0, 0, 13, 0, 130000, 5000, 128.0}, /* noc */
    [71] = {AT_CUBE, LINK_IO_ROW, 1, 6, 3, 1000000, 0, 20000, 128.0}, /* ucie-W */
    [72] = {AT_CUBE, LINK_CUBE, 1, 4, 11, 1000000, 0, 5000, 128.0}, /* ucie-E */
    [73] = {AT_CUBE, LINK_CUBE, 0, 0, 10, 0, 130000, 5000, 128.0}, /* noc */
    [74] = {AT_CUBE, LINK_NEXT, 1, 3, 35, 1000000, 0, 10000, 128.0}, /* ucie-N */
    [75] = {AT_CUBE, LINK_CUBE, 1, 4, 11, 1000000, 0, 5000, 128.0}, /* ucie-E */
    [76] = {AT_CUBE, LINK_CUBE, 0, 0, 12, 0, 130000, 5000, 128.0}, /* noc */
    [77] = {AT_CUBE, LINK_CUBE, 0, 5, 35, 1000000, 0, 10000, 128.0}, /* ucie-S */
    [78] = {AT_CUBE, LINK_CUBE, 1, 4, 11, 1000000, 0, 5000, 128.0}, /* ucie-E */
    [79] = {AT_CUBE, LINK_CUBE, 0, 0, 13, 0, 150000, 5000, 128.0}, /* noc */
    [80] = {AT_CUBE, LINK_NEXT, 1, 6, 34, 1000000, 0, 10000, 128.0}, /* ucie-W */
    [81] = {AT_CUBE, LINK_CUBE, 1, 4, 11, 1000000, 0, 5000, 128.0}, /* ucie-E */
    [82] = {AT_CUBE, LINK_CUBE, 0, 0, 13, 0, 150000, 5000, 128.0}, /* noc */
    [83] = {AT_CUBE, LINK_IO_ROW, 1, 6, 3, 1000000, 0, 20000, 128.0}, /* ucie-W */
    [84] = {AT_CUBE, LINK_CUBE, 1, 5, 12, 1000000, 0, 5000, 128.0}, /* ucie-S */
    [85] = {AT_CUBE, LINK_CUBE, 0, 0, 10, 0, 110000, 5000, 128.0}, /* noc */
    [86] = {AT_CUBE, LINK_NEXT, 1, 3, 35, 1000000, 0, 10000, 128.0}, /* ucie-N */
    [87] = {AT_CUBE, LINK_CUBE, 1, 5, 12, 1000000, 0, 5000, 128.0}, /* ucie-S */
    [88] = {AT_CUBE, LINK_CUBE, 0, 0, 11, 0, 130000, 5000, 128.0}, /* noc */
    [89] = {AT_CUBE, LINK_CUBE, 0, 4, 34, 1000000, 0, 10000, 128.0}, /* ucie-E */
    [90] = {AT_CUBE, LINK_CUBE, 1, 5, 12, 1000000, 0, 5000, 128.0}, /* ucie-S */
    [91] = {AT_CUBE, LINK_CUBE, 0, 0, 13, 0, 130000, 5000, 128.0}, /* noc */
    [92] = {AT_CUBE, LINK_NEXT, 1, 6, 34, 1000000, 0, 10000, 128.0}, /* ucie-W */
    [93] = {AT_CUBE, LINK_CUBE, 1, 5, 12, 1000000, 0, 5000, 128.0}, /* ucie-S */
    [94] = {AT_CUBE, LINK_CUBE, 0, 0, 13, 0, 130000, 5000, 128.0}, /* noc */
    [95] = {AT_CUBE, LINK_IO_ROW, 1, 6, 3, 1000000, 0, 20000, 128.0}, /* ucie-W */
    [96] = {AT_CUBE, LINK_CUBE, 1, 6, 13, 1000000, 0, 5000, 128.0}, /* ucie-W */
    [97] = {AT_CUBE, LINK_CUBE, 0, 0, 10, 0, 130000, 5000, 128.0}, /* noc */
    [98] = {AT_CUBE, LINK_NEXT, 1, 3, 35, 1000000, 0, 10000, 128.0}, /* ucie-N */
    [99] = {AT_CUBE, LINK_CUBE, 1, 6, 13, 1000000, 0, 5000, 128.0}, /* ucie-W */
    [100] = {AT_CUBE, LINK_CUBE, 0, 0, 11, 0, 150000, 5000, 128.0}, /* noc */
    [101] = {AT_CUBE, LINK_CUBE, 0, 4, 34, 1000000, 0, 10000, 128.0}, /* ucie-E */
    [102] = {AT_CUBE, LINK_CUBE, 1, 6, 13, 1000000, 0, 5000, 128.0}, /* ucie-W */
    [103] = {AT_CUBE, LINK_CUBE, 0, 0, 12, 0, 130000, 5000, 128.0}, /* noc */
    [104] = {AT_CUBE, LINK_CUBE, 0, 5, 35, 1000000, 0, 10000, 128.0}, /* ucie-S */
    [105] = {AT_CUBE, LINK_CUBE, 1, 3, 10, 1000000, 0, 5000, 128.0}, /* ucie-N */
    [106] = {AT_CUBE, LINK_CUBE, 0, 0, 14, 0, 0, 5000, 128.0}, /* noc */
    [107] = {AT_CUBE, LINK_CUBE, 0, 7, 2, 2000000, 0, 25000, 256.0}, /* xbar.pe0 */
    [108] = {AT_CUBE, LINK_NONE, 0, 11, 0, 0, 0, 0, INFINITY}, /* hbm_ctrl.slice0 */
    [109] = {AT_CUBE, LINK_CUBE, 1, 3, 10, 1000000, 0, 5000, 128.0}, /* ucie-N */
    [110] = {AT_CUBE, LINK_CUBE, 0, 0, 15, 0, 110000, 5000, 128.0}, /* noc */
    [111] = {AT_CUBE, LINK_CUBE, 0, 8, 3, 2000000, 0, 25000, 256.0}, /* xbar.pe1 */
    [112] = {AT_CUBE, LINK_NONE, 0, 12, 0, 0, 0, 0, INFINITY}, /* hbm_ctrl.slice1 */
    [113] = {AT_CUBE, LINK_CUBE, 1, 3, 10, 1000000, 0, 5000, 128.0}, /* ucie-N */
    [114] = {AT_CUBE, LINK_CUBE, 0, 0, 9, 0, 150000, 5000, 128.0}, /* noc */
    [115] = {AT_CUBE, LINK_NONE, 0, 2, 0, 0, 0, 0, INFINITY}, /* sram */
    [116] = {AT_CUBE, LINK_CUBE, 1, 3, 10, 1000000, 0, 5000, 128.0}, /* ucie-N */
    [117] = {AT_CUBE, LINK_CUBE, 1, 0, 16, 0, 0, 5000, 128.0}, /* noc */
    [118] = {AT_CUBE, LINK_CUBE, 0, 15, 24, 0, 0, 0, 512.0}, /* pe0.pe_dma */
    [119] = {AT_CUBE, LINK_NONE, 0, 19, 0, 0, 0, 0, INFINITY}, /* pe0.pe_tcm */
    [120] = {AT_CUBE, LINK_CUBE, 1, 3, 10, 1000000, 0, 5000, 128.0}, /* ucie-N */
    [121] = {AT_CUBE, LINK_CUBE, 1, 0, 17, 0, 110000, 5000, 128.0}, /* noc */
    [122] = {AT_CUBE, LINK_CUBE, 0, 22, 31, 0, 0, 0, 512.0}, /* pe1.pe_dma */
    [123] = {AT_CUBE, LINK_NONE, 0, 26, 0, 0, 0, 0, INFINITY}, /* pe1.pe_tcm */
    [124] = {AT_CUBE, LINK_CUBE, 1, 4, 11, 1000000, 0, 5000, 128.0}, /* ucie-E */
    [125] = {AT_CUBE, LINK_CUBE, 0, 0, 14, 0, 130000, 5000, 128.0}, /* noc */
    [126] = {AT_CUBE, LINK_CUBE, 0, 7, 2, 2000000, 0, 25000, 256.0}, /* xbar.pe0 */
    [127] = {AT_CUBE, LINK_NONE, 0, 11, 0, 0, 0, 0, INFINITY}, /* hbm_ctrl.slice0 */
    [128] = {AT_CUBE, LINK_CUBE, 1, 4, 11, 1000000, 0, 5000, 128.0}, /* ucie-E */
    [129] = {AT_CUBE, LINK_CUBE, 0, 0, 15, 0, 130000, 5000, 128.0}, /* noc */
    [130] = {AT_CUBE, LINK_CUBE, 0, 8, 3, 2000000, 0, 25000, 256.0}, /* xbar.pe1 */
    [131] = {AT_CUBE, LINK_NONE, 0, 12, 0, 0, 0, 0, INFINITY}, /* hbm_ctrl.slice1 */
    [132] = {AT_CUBE, LINK_CUBE, 1, 4, 11, 1000000, 0, 5000, 128.0}, /* ucie-E */
    [133] = {AT_CUBE, LINK_CUBE, 0, 0, 9, 0, 170000, 5000, 128.0}, /* noc */
    [134] = {AT_CUBE, LINK_NONE, 0, 2, 0, 0, 0, 0, INFINITY}, /* sram */
    [135] = {AT_CUBE, LINK_CUBE, 1, 4, 11, 1000000, 0, 5000, 128.0}, /* ucie-E */
    [136] = {AT_CUBE, LINK_CUBE, 1, 0, 16, 0, 130000, 5000, 128.0}, /* noc */
    [137] = {AT_CUBE, LINK_CUBE, 0, 15, 24, 0, 0, 0, 512.0}, /* pe0.pe_dma */
    [138] = {AT_CUBE, LINK_NONE, 0, 19, 0, 0, 0, 0, INFINITY}, /* pe0.pe_tcm */
    [139] = {AT_CUBE, LINK_CUBE, 1, 4, 11, 1000000, 0, 5000, 128.0}, /* ucie-E */
    [140] = {AT_CUBE, LINK_CUBE, 1, 0, 17, 0, 130000, 5000, 128.0}, /* noc */
    [141] = {AT_CUBE, LINK_CUBE, 0, 22, 31, 0, 0, 0, 512.0}, /* pe1.pe_dma */
    [142] = {AT_CUBE, LINK_NONE, 0, 26, 0, 0, 0, 0, INFINITY}, /* pe1.pe_tcm */
    [143] = {AT_CUBE, LINK_CUBE, 1, 5, 12, 1000000, 0, 5000, 128.0}, /* ucie-S */
    [144] = {AT_CUBE, LINK_CUBE, 0, 0, 14, 0, 110000, 5000, 128.0}, /* noc */
    [145] = {AT_CUBE, LINK_CUBE, 0, 7, 2, 2000000, 0, 25000, 256.0}, /* xbar.pe0 */
    [146] = {AT_CUBE, LINK_NONE, 0, 11, 0, 0, 0, 0, INFINITY}, /* hbm_ctrl.slice0 */
    [147] = {AT_CUBE, LINK_CUBE, 1, 5, 12, 1000000, 0, 5000, 128.0}, /* ucie-S */
    [148] = {AT_CUBE, LINK_CUBE, 0, 0, 15, 0, 0, 5000, 128.0}, /* noc */
    [149] = {AT_CUBE, LINK_CUBE, 0, 8, 3, 2000000, 0, 25000, 256.0}, /* xbar.pe1 */
    [150] = {AT_CUBE, LINK_NONE, 0, 12, 0, 0, 0, 0, INFINITY}, /* hbm_ctrl.slice1 */
    [151] = {AT_CUBE, LINK_CUBE, 1, 5, 12, 1000000, 0, 5000, 128.0}, /* ucie-S */
    [152] = {AT_CUBE, LINK_CUBE, 0, 0, 9, 0, 80000, 5000, 128.0}, /* noc */
    [153] = {AT_CUBE, LINK_NONE, 0, 2, 0, 0, 0, 0, INFINITY}, /* sram */
    [154] = {AT_CUBE, LINK_CUBE, 1, 5, 12, 1000000, 0, 5000, 128.0}, /* ucie-S */
    [155] = {AT_CUBE, LINK_CUBE, 1, 0, 16, 0, 110000, 5000, 128.0}, /* noc */
    [156] = {AT_CUBE, LINK_CUBE, 0, 15, 24, 0, 0, 0, 512.0}, /* pe0.pe_dma */
    [157] = {AT_CUBE, LINK_NONE, 0, 19, 0, 0, 0, 0, INFINITY}, /* pe0.pe_tcm */
    [158] = {AT_CUBE, LINK_CUBE, 1, 5, 12, 1000000, 0, 5000, 128.0}, /* ucie-S */
    [159] = {AT_CUBE, LINK_CUBE, 1, 0, 17, 0, 0, 5000, 128.0}, /* noc */
    [160] = {AT_CUBE, LINK_CUBE, 0, 22, 31, 0, 0, 0, 512.0}, /* pe1.pe_dma */
    [161] = {AT_CUBE, LINK_NONE, 0, 26, 0, 0, 0, 0, INFINITY}, /* pe1.pe_tcm */
    [162] = {AT_CUBE, LINK_CUBE, 1, 6, 13, 1000000, 0, 5000, 128.0}, /* ucie-W */
    [163] = {AT_CUBE, LINK_CUBE, 0, 0, 14, 0, 130000, 5000, 128.0}, /* noc */
    [164] = {AT_CUBE, LINK_CUBE, 0, 7, 2, 2000000, 0, 25000, 256.0}, /* xbar.pe0 */
    [165] = {AT_CUBE, LINK_NONE, 0, 11, 0, 0, 0, 0, INFINITY}, /* hbm_ctrl.slice0 */
    [166] = {AT_CUBE, LINK_CUBE, 1, 6, 13, 1000000, 0, 5000, 128.0}, /* ucie-W */
    [167] = {AT_CUBE, LINK_CUBE, 0, 0, 15, 0, 130000, 5000, 128.0}, /* noc */
    [168] = {AT_CUBE, LINK_CUBE, 0, 8, 3, 2000000, 0, 25000, 256.0}, /* xbar.pe1 */
    [169] = {AT_CUBE, LINK_NONE, 0, 12, 0, 0, 0, 0, INFINITY}, /* hbm_ctrl.slice1 */
    [170] = {AT_CUBE, LINK_CUBE, 1, 6, 13, 1000000, 0, 5000, 128.0}, /* ucie-W */
    [171] = {AT_CUBE, LINK_CUBE, 0, 0, 9, 0, 50000, 5000, 128.0}, /* noc */
    [172] = {AT_CUBE, LINK_NONE, 0, 2, 0, 0, 0, 0, INFINITY}, /* sram */
    [173] = {AT_CUBE, LINK_CUBE, 1, 6, 13, 1000000, 0, 5000, 128.0}, /* ucie-W */
    [174] = {AT_CUBE, LINK_CUBE, 1, 0, 16, 0, 130000, 5000, 128.0}, /* noc */
    [175] = {AT_CUBE, LINK_CUBE, 0, 15, 24, 0, 0, 0, 512.0}, /* pe0.pe_dma */
    [176] = {AT_CUBE, LINK_NONE, 0, 19, 0, 0, 0, 0, INFINITY}, /* pe0.pe_tcm */
    [177] = {AT_CUBE, LINK_CUBE, 1, 6, 13, 1000000, 0, 5000, 128.0}, /* ucie-W */
    [178] = {AT_CUBE, LINK_CUBE, 1, 0, 17, 0, 130000, 5000, 128.0}, /* noc */
    [179] = {AT_CUBE, LINK_CUBE, 0, 22, 31, 0, 0, 0, 512.0}, /* pe1.pe_dma */
    [180] = {AT_CUBE, LINK_NONE, 0, 26, 0, 0, 0, 0, INFINITY}, /* pe1.pe_tcm */
    [181] = {AT_IO_TO, LINK_IO_TO, 0, 0, 0, 5000000, 0, 10000, 128.0}, /* pcie_ep */
    [182] = {AT_IO_TO, LINK_IO_TO, 1, 1, 1, 0, 0, 10000, 128.0}, /* io_noc */
    [183] = {AT_IO_TO, LINK_IO_TO, 0, 2, 1, 10000000, 0, 10000, 128.0}, /* io_cpu */
    [184] = {AT_IO_TO, LINK_IO_TO_ROW, 0, 1, 3, 0, 0, 20000, 128.0}, /* io_noc */
    [185] = {AT_CUBE, LINK_CUBE, 1, 6, 13, 1000000, 0, 5000, 128.0}, /* ucie-W */
    [186] = {AT_CUBE, LINK_CUBE, 0, 0, 8, 0, 110000, 5000, 128.0}, /* noc */
    [187] = {AT_CUBE, LINK_CUBE, 1, 1, 8, 5000000, 0, 5000, 128.0}, /* m_cpu */
    [188] = {AT_CUBE, LINK_CUBE, 0, 0, 14, 0, 20000, 5000, 128.0}, /* noc */
    [189] = {AT_CUBE, LINK_CUBE, 0, 7, 2, 2000000, 0, 25000, 256.0}, /* xbar.pe0 */
    [190] = {AT_CUBE, LINK_NONE, 0, 11, 0, 0, 0, 0, INFINITY}, /* hbm_ctrl.slice0 */
    [191] = {AT_CUBE, LINK_CUBE, 1, 6, 13, 1000000, 0, 5000, 128.0}, /* ucie-W */
    [192] = {AT_CUBE, LINK_CUBE, 0, 0, 8, 0, 110000, 5000, 128.0}, /* noc */
    [193] = {AT_CUBE, LINK_CUBE, 1, 1, 8, 5000000, 0, 5000, 128.0}, /* m_cpu */
    [194] = {AT_CUBE, LINK_CUBE, 0, 0, 15, 0, 90000, 5000, 128.0}, /* noc */
    [195] = {AT_CUBE, LINK_CUBE, 0, 8, 3, 2000000, 0, 25000, 256.0}, /* xbar.pe1 */
    [196] = {AT_CUBE, LINK_NONE, 0, 12, 0, 0, 0, 0, INFINITY}, /* hbm_ctrl.slice1 */
    [197] = {AT_IO, LINK_IO, 1, 1, 0, 0, 0, 10000, 128.0}, /* io_noc */
    [198] = {AT_IO, LINK_IO, 0, 0, 2, 5000000, 0, 1000000, 64.0}, /* pcie_ep */
    [199] = {AT_FABRIC, LINK_IO_TO, 1, 0, 2, 5000000, 0, 1000000, 64.0}, /* switch0 */
    [200] = {AT_IO_TO, LINK_IO_TO, 0, 0, 0, 5000000, 0, 10000, 128.0}, /* pcie_ep */
    [201] = {AT_IO_TO, LINK_IO_TO_ROW, 0, 1, 3, 0, 0, 20000, 128.0}, /* io_noc */
};

/* link's owner, back, fed (gen/feeds.c), link, station, wire fs, overhead fs, GB/s */
static const struct leg_row legs[TOPO_LEGS] = {
    [0] = {LINK_CUBE, 0, 3, 0, 0, 0, 0, 256.0},
    [1] = {LINK_CUBE, 0, 4, 2, 4, 60000, 2000000, 256.0},
    [2] = {LINK_CUBE, 0, 3, 0, 0, 0, 0, 256.0},
    [3] = {LINK_CUBE, 0, 1, 4, 8, 60000, 2000000, 128.0},
    [4] = {LINK_CUBE, 1, 1, 5, 11, 30000, 1000000, 128.0},
    [5] = {LINK_CUBE, 0, 4, 3, 6, 30000, 2000000, 256.0},
    [6] = {LINK_CUBE, 0, 3, 16, 32, 0, 0, 128.0},
    [7] = {LINK_CUBE, 0, 4, 9, 18, 155000, 0, 128.0},
    [8] = {LINK_CUBE, 0, 3, 16, 32, 0, 0, 128.0},
    [9] = {LINK_CUBE, 1, 0, 17, 35, 115000, 0, 128.0},
    [10] = {LINK_CUBE, 0, 4, 31, 62, 5000, 0, 512.0},
    [11] = {LINK_CUBE, 0, 3, 1, 2, 0, 0, 256.0},
    [12] = {LINK_CUBE, 0, 1, 5, 10, 60000, 2000000, 128.0},
    [13] = {LINK_CUBE, 1, 1, 4, 9, 30000, 1000000, 128.0},
    [14] = {LINK_CUBE, 0, 4, 2, 4, 30000, 2000000, 256.0},
    [15] = {LINK_CUBE, 0, 3, 1, 2, 0, 0, 256.0},
    [16] = {LINK_CUBE, 0, 4, 3, 6, 60000, 2000000, 256.0},
    [17] = {LINK_CUBE, 0, 3, 17, 34, 0, 0, 128.0},
    [18] = {LINK_CUBE, 0, 4, 9, 18, 85000, 0, 128.0},
    [19] = {LINK_CUBE, 0, 3, 17, 34, 0, 0, 128.0},
    [20] = {LINK_CUBE, 1, 0, 16, 33, 115000, 0, 128.0},
    [21] = {LINK_CUBE, 0, 4, 24, 48, 5000, 0, 512.0},
    [22] = {LINK_CUBE, 0, 3, 16, 32, 0, 0, 128.0},
    [23] = {LINK_CUBE, 0, 0, 10, 20, 5000, 0, 128.0},
    [24] = {LINK_NEXT, 1, 1, 35, -73, 5000, 1000000, 128.0},
    [25] = {LINK_CUBE, 0, 3, 16, 32, 0, 0, 128.0},
    [26] = {LINK_CUBE, 0, 0, 11, 22, 135000, 0, 128.0},
    [27] = {LINK_CUBE, 0, 1, 34, 68, 5000, 1000000, 128.0},
    [28] = {LINK_CUBE, 0, 3, 16, 32, 0, 0, 128.0},
    [29] = {LINK_CUBE, 0, 0, 12, 24, 115000, 0, 128.0},
    [30] = {LINK_CUBE, 0, 1, 35, 70, 5000, 1000000, 128.0},
    [31] = {LINK_CUBE, 0, 3, 16, 32, 0, 0, 128.0},
    [32] = {LINK_CUBE, 0, 0, 13, 26, 135000, 0, 128.0},
    [33] = {LINK_NEXT, 1, 1, 34, -3, 5000, 1000000, 128.0},
    [34] = {LINK_CUBE, 0, 3, 16, 32, 0, 0, 128.0},
    [35] = {LINK_CUBE, 0, 0, 13, 26, 135000, 0, 128.0},
    [36] = {LINK_IO_ROW, 1, 1, 3, 0, 5000, 1000000, 128.0},
    [37] = {LINK_CUBE, 0, 3, 17, 34, 0, 0, 128.0},
    [38] = {LINK_CUBE, 0, 0, 10, 20, 115000, 0, 128.0},
    [39] = {LINK_NEXT, 1, 1, 35, -73, 5000, 1000000, 128.0},
    [40] = {LINK_CUBE, 0, 3, 17, 34, 0, 0, 128.0},
    [41] = {LINK_CUBE, 0, 0, 11, 22, 135000, 0, 128.0},
    [42] = {LINK_CUBE, 0, 1, 34, 68, 5000, 1000000, 128.0},
    [43] = {LINK_CUBE, 0, 3, 17, 34, 0, 0, 128.0},
    [44] = {LINK_CUBE, 0, 0, 12, 24, 5000, 0, 128.0},
    [45] = {LINK_CUBE, 0, 1, 35, 70, 5000, 1000000, 128.0},
    [46] = {LINK_CUBE, 0, 3, 17, 34, 0, 0, 128.0},
    [47] = {LINK_CUBE, 0, 0, 13, 26, 135000, 0, 128.0},
    [48] = {LINK_NEXT, 1, 1, 34, -3, 5000, 1000000, 128.0},
    [49] = {LINK_CUBE, 0, 3, 17, 34, 0, 0, 128.0},
    [50] = {LINK_CUBE, 0, 0, 13, 26, 135000, 0, 128.0},
    [51] = {LINK_IO_ROW, 1, 1, 3, 0, 5000, 1000000, 128.0},
    [52] = {LINK_CUBE, 1, 1, 10, 21, 0, 1000000, 128.0},
    [53] = {LINK_CUBE, 0, 0, 11, 22, 135000, 0, 128.0},
    [54] = {LINK_CUBE, 0, 1, 34, 68, 5000, 1000000, 128.0},
    [55] = {LINK_CUBE, 1, 1, 10, 21, 0, 1000000, 128.0},
    [56] = {LINK_CUBE, 0, 0, 12, 24, 115000, 0, 128.0},
    [57] = {LINK_CUBE, 0, 1, 35, 70, 5000, 1000000, 128.0},
    [58] = {LINK_CUBE, 1, 1, 10, 21, 0, 1000000, 128.0},
    [59] = {LINK_CUBE, 0, 0, 13, 26, 135000, 0, 128.0},
    [60] = {LINK_NEXT, 1, 1, 34, -3, 5000, 1000000, 128.0},
    [61] = {LINK_CUBE, 1, 1, 10, 21, 0, 1000000, 128.0},
    [62] = {LINK_CUBE, 0, 0, 13, 26, 135000, 0, 128.0},
    [63] = {LINK_IO_ROW, 1, 1, 3, 0, 5000, 1000000, 128.0},
    [64] = {LINK_CUBE, 1, 1, 11, 23, 0, 1000000, 128.0},
    [65] = {LINK_CUBE, 0, 0, 10, 20, 135000, 0, 128.0},
    [66] = {LINK_NEXT, 1, 1, 35, -73, 5000, 1000000, 128.0},
    [67] = {LINK_CUBE, 1, 1, 11, 23, 0, 1000000, 128.0},
    [68] = {LINK_CUBE, 0, 0, 12, 24, 135000, 0, 128.0},
    [69] = {LINK_CUBE, 0, 1, 35, 70, 5000, 1000000, 128.0},
    [70] = {LINK_CUBE, 1, 1, 11, 23, 0, 1000000, 128.0},
    [71] = {LINK_CUBE, 0, 0, 13, 26, 155000, 0, 128.0},
    [72] = {LINK_NEXT, 1, 1, 34, -3, 5000, 1000000, 128.0},
    [73] = {LINK_CUBE, 1, 1, 11, 23, 0, 1000000, 128.0},
    [74] = {LINK_CUBE, 0, 0, 13, 26, 155000, 0, 128.0},
    [75] = {LINK_IO_ROW, 1, 1, 3, 0, 5000, 1000000, 128.0},
    [76] = {LINK_CUBE, 1, 1, 12, 25, 0, 1000000, 128.0},
    [77] = {LINK_CUBE, 0, 0, 10, 20, 115000, 0, 128.0},
    [78] = {LINK_NEXT, 1, 1, 35, -73, 5000, 1000000, 128.0},
    [79] = {LINK_CUBE, 1, 1, 12, 25, 0, 1000000, 128.0},
    [80] = {LINK_CUBE, 0, 0, 11, 22, 135000, 0, 128.0},
    [81] = {LINK_CUBE, 0, 1, 34, 68, 5000, 1000000, 128.0},
    [82] = {LINK_CUBE, 1, 1, 12, 25, 0, 1000000, 128.0},
    [83] = {LINK_CUBE, 0, 0, 13, 26, 135000, 0, 128.0},
    [84] = {LINK_NEXT, 1, 1, 34, -3, 5000, 1000000, 128.0},
    [85] = {LINK_CUBE, 1, 1, 12, 25, 0, 1000000, 128.0},
    [86] = {LINK_CUBE, 0, 0, 13, 26, 135000, 0, 128.0},
    [87] = {LINK_IO_ROW, 1, 1, 3, 0, 5000, 1000000, 128.0},
    [88] = {LINK_CUBE, 1, 1, 13, 27, 0, 1000000, 128.0},
    [89] = {LINK_CUBE, 0, 0, 10, 20, 135000, 0, 128.0},
    [90] = {LINK_NEXT, 1, 1, 35, -73, 5000, 1000000, 128.0},
    [91] = {LINK_CUBE, 1, 1, 13, 27, 0, 1000000, 128.0},
    [92] = {LINK_CUBE, 0, 0, 11, 22, 155000, 0, 128.0},
    [93] = {LINK_CUBE, 0, 1, 34, 68, 5000, 1000000, 128.0},
    [94] = {LINK_CUBE, 1, 1, 13, 27, 0, 1000000, 128.0},
    [95] = {LINK_CUBE, 0, 0, 12, 24, 135000, 0, 128.0},
    [96] = {LINK_CUBE, 0, 1, 35, 70, 5000, 1000000, 128.0},
    [97] = {LINK_CUBE, 1, 1, 10, 21, 0, 1000000, 128.0},
    [98] = {LINK_CUBE, 0, 0, 14, 28, 5000, 0, 128.0},
    [99] = {LINK_CUBE, 0, 4, 2, 4, 5000, 2000000, 256.0},
    [100] = {LINK_CUBE, 1, 1, 10, 21, 0, 1000000, 128.0},
    [101] = {LINK_CUBE, 0, 0, 15, 30, 115000, 0, 128.0},
    [102] = {LINK_CUBE, 0, 4, 3, 6, 5000, 2000000, 256.0},
    [103] = {LINK_CUBE, 1, 1, 10, 21, 0, 1000000, 128.0},
    [104] = {LINK_CUBE, 0, 4, 9, 18, 155000, 0, 128.0},
    [105] = {LINK_CUBE, 1, 1, 10, 21, 0, 1000000, 128.0},
    [106] = {LINK_CUBE, 1, 0, 16, 33, 5000, 0, 128.0},
    [107] = {LINK_CUBE, 0, 4, 24, 48, 5000, 0, 512.0},
    [108] = {LINK_CUBE, 1, 1, 10, 21, 0, 1000000, 128.0},
    [109] = {LINK_CUBE, 1, 0, 17, 35, 115000, 0, 128.0},
    [110] = {LINK_CUBE, 0, 4, 31, 62, 5000, 0, 512.0},
    [111] = {LINK_CUBE, 1, 1, 11, 23, 0, 1000000, 128.0},
    [112] = {LINK_CUBE, 0, 0, 14, 28, 135000, 0, 128.0},
    [113] = {LINK_CUBE, 0, 4, 2, 4, 5000, 2000000, 256.0},
    [114] = {LINK_CUBE, 1, 1, 11, 23, 0, 1000000, 128.0},
    [115] = {LINK_CUBE, 0, 0, 15, 30, 135000, 0, 128.0},
    [116] = {LINK_CUBE, 0, 4, 3, 6, 5000, 2000000, 256.0},
    [117] = {LINK_CUBE, 1, 1, 11, 23, 0, 1000000, 128.0},
    [118] = {LINK_CUBE, 0, 4, 9, 18, 175000, 0, 128.0},
    [119] = {LINK_CUBE, 1, 1, 11, 23, 0, 1000000, 128.0},
    [120] = {LINK_CUBE, 1, 0, 16, 33, 135000, 0, 128.0},
    [121] = {LINK_CUBE, 0, 4, 24, 48, 5000, 0, 512.0},
    [122] = {LINK_CUBE, 1, 1, 11, 23, 0, 1000000, 128.0},
    [123] = {LINK_CUBE, 1, 0, 17, 35, 135000, 0, 128.0},
    [124] = {LINK_CUBE, 0, 4, 31, 62, 5000, 0, 512.0},
    [125] = {LINK_CUBE, 1, 1, 12, 25, 0, 1000000, 128.0},
    [126] = {LINK_CUBE, 0, 0, 14, 28, 115000, 0, 128.0},
    [127] = {LINK_CUBE, 0, 4, 2, 4, 5000, 2000000, 256.0},
    [128] = {LINK_CUBE, 1, 1, 12, 25, 0, 1000000, 128.0},
    [129] = {LINK_CUBE, 0, 0, 15, 30, 5000, 0, 128.0},
    [130] = {LINK_CUBE, 0, 4, 3, 6, 5000, 2000000, 256.0},
    [131] = {LINK_CUBE, 1, 1, 12, 25, 0, 1000000, 128.0},
    [132] = {LINK_CUBE, 0, 4, 9, 18, 85000, 0, 128.0},
    [133] = {LINK_CUBE, 1, 1, 12, 25, 0, 1000000, 128.0},
    [134] = {LINK_CUBE, 1, 0, 16, 33, 115000, 0, 128.0},
    [135] = {LINK_CUBE, 0, 4, 24, 48, 5000, 0, 512.0},
    [136] = {LINK_CUBE, 1, 1, 12, 25, 0, 1000000, 128.0},
    [137] = {LINK_CUBE, 1, 0, 17, 35, 5000, 0, 128.0},
    [138] = {LINK_CUBE, 0, 4, 31, 62, 5000, 0, 512.0},
    [139] = {LINK_CUBE, 1, 1, 13, 27, 0, 1000000, 128.0},
    [140] = {LINK_CUBE, 0, 0, 14, 28, 135000, 0, 128.0},
    [141] = {LINK_CUBE, 0, 4, 2, 4, 5000, 2000000, 256.0},
    [142] = {LINK_CUBE, 1, 1, 13, 27, 0, 1000000, 128.0},
    [143] = {LINK_CUBE, 0, 0, 15, 30, 135000, 0, 128.0},
    [144] = {LINK_CUBE, 0, 4, 3, 6, 5000, 2000000, 256.0},
    [145] = {LINK_CUBE, 1, 1, 13, 27, 0, 1000000, 128.0},
    [146] = {LINK_CUBE, 0, 4, 9, 18, 55000, 0, 128.0},
    [147] = {LINK_CUBE, 1, 1, 13, 27, 0, 1000000, 128.0},
    [148] = {LINK_CUBE, 1, 0, 16, 33, 135000, 0, 128.0},
    [149] = {LINK_CUBE, 0, 4, 24, 48, 5000, 0, 512.0},
    [150] = {LINK_CUBE, 1, 1, 13, 27, 0, 1000000, 128.0},
    [151] = {LINK_CUBE, 1, 0, 17, 35, 135000, 0, 128.0},
    [152] = {LINK_CUBE, 0, 4, 31, 62, 5000, 0, 512.0},
    [153] = {LINK_IO_TO, 0, 0, 0, 0, 0, 5000000, 128.0},
    [154] = {LINK_IO_TO, 1, 1, 1, 0, 10000, 0, 128.0},
    [155] = {LINK_IO_TO, 0, 1, 1, 0, 10000, 10000000, 128.0},
    [156] = {LINK_IO_TO_ROW, 0, 0, 3, 0, 10000, 0, 128.0},
    [157] = {LINK_CUBE, 1, 1, 13, 27, 0, 1000000, 128.0},
    [158] = {LINK_CUBE, 0, 1, 8, 16, 115000, 0, 128.0},
    [159] = {LINK_NONE, 0, 0, 0, 0, 5000, 5000000, INFINITY},
    [160] = {LINK_CUBE, 1, 1, 8, 17, 0, 0, 128.0},
    [161] = {LINK_CUBE, 0, 0, 14, 28, 25000, 0, 128.0},
    [162] = {LINK_CUBE, 0, 4, 2, 4, 5000, 2000000, 256.0},
    [163] = {LINK_CUBE, 1, 1, 13, 27, 0, 1000000, 128.0},
    [164] = {LINK_CUBE, 0, 1, 8, 16, 115000, 0, 128.0},
    [165] = {LINK_NONE, 0, 0, 0, 0, 5000, 5000000, INFINITY},
    [166] = {LINK_CUBE, 1, 1, 8, 17, 0, 0, 128.0},
    [167] = {LINK_CUBE, 0, 0, 15, 30, 95000, 0, 128.0},
    [168] = {LINK_CUBE, 0, 4, 3, 6, 5000, 2000000, 256.0},
    [169] = {LINK_IO, 1, 0, 0, 0, 0, 0, 128.0},
    [170] = {LINK_IO, 0, 0, 2, 0, 10000, 5000000, 64.0},
    [171] = {LINK_IO_TO, 1, 0, 2, 0, 1000000, 5000000, 64.0},
    [172] = {LINK_IO_TO, 0, 0, 0, 0, 1000000, 5000000, 128.0},
    [173] = {LINK_IO_TO_ROW, 0, 0, 3, 0, 10000, 0, 128.0},
};

/* By PE. */
static const uint8_t home_slices[TOPO_KINDS * TOPO_PES + !TOPO_PES] = {
    [0] = 0,
    [1] = 1,
};

/* -- routes, summed ------------------------------------------------------------------------- */

/* Source and target in one cube: row source * TOPO_UNITS + unit. */
static const struct cost_row cost_local[TOPO_SOURCES * TOPO_UNITS + !TOPO_SOURCES] = {
    [0] = {.wire_fs = 85000, .overhead_fs = 2000000, .link_gbs = 256.0}, /* pe0 -> slice0 */
    [1] = {.wire_fs = 145000, .overhead_fs = 5000000, .link_gbs = 128.0}, /* pe0 -> slice1 */
    [2] = {.wire_fs = 160000, .overhead_fs = 0, .link_gbs = 128.0}, /* pe0 -> sram */
    [3] = {.wire_fs = 0, .overhead_fs = 0, .link_gbs = INFINITY}, /* pe0 -> pe0.tcm */
    [4] = {.wire_fs = 120000, .overhead_fs = 0, .link_gbs = 128.0}, /* pe0 -> pe1.tcm */
    [5] = {.wire_fs = 145000, .overhead_fs = 5000000, .link_gbs = 128.0}, /* pe1 -> slice0 */
    [6] = {.wire_fs = 85000, .overhead_fs = 2000000, .link_gbs = 256.0}, /* pe1 -> slice1 */
    [7] = {.wire_fs = 90000, .overhead_fs = 0, .link_gbs = 128.0}, /* pe1 -> sram */
    [8] = {.wire_fs = 120000, .overhead_fs = 0, .link_gbs = 128.0}, /* pe1 -> pe0.tcm */
    [9] = {.wire_fs = 0, .overhead_fs = 0, .link_gbs = INFINITY}, /* pe1 -> pe1.tcm */
};

/* From a source out of its cube: row source * N_EXITS + exit. */
static const struct cost_row cost_out[TOPO_SOURCES * N_EXITS + !TOPO_SOURCES] = {
    [0] = {.wire_fs = 20000, .overhead_fs = 1000000, .link_gbs = 128.0}, /* pe0 -> N */
    [1] = {.wire_fs = 150000, .overhead_fs = 1000000, .link_gbs = 128.0}, /* pe0 -> E */
    [2] = {.wire_fs = 130000, .overhead_fs = 1000000, .link_gbs = 128.0}, /* pe0 -> S */
    [3] = {.wire_fs = 150000, .overhead_fs = 1000000, .link_gbs = 128.0}, /* pe0 -> W */
    [4] = {.wire_fs = 160000, .overhead_fs = 1000000, .link_gbs = 128.0}, /* pe0 -> IO */
    [5] = {.wire_fs = 130000, .overhead_fs = 1000000, .link_gbs = 128.0}, /* pe1 -> N */
    [6] = {.wire_fs = 150000, .overhead_fs = 1000000, .link_gbs = 128.0}, /* pe1 -> E */
    [7] = {.wire_fs = 20000, .overhead_fs = 1000000, .link_gbs = 128.0}, /* pe1 -> S */
    [8] = {.wire_fs = 150000, .overhead_fs = 1000000, .link_gbs = 128.0}, /* pe1 -> W */
    [9] = {.wire_fs = 160000, .overhead_fs = 1000000, .link_gbs = 128.0}, /* pe1 -> IO */
};

/* From a side of the target's cube to the memory: row side * TOPO_UNITS + unit. */
static const struct cost_row cost_in[N_SIDES * TOPO_UNITS] = {
    [0] = {.wire_fs = 35000, .overhead_fs = 3000000, .link_gbs = 128.0}, /* N -> slice0 */
    [1] = {.wire_fs = 145000, .overhead_fs = 3000000, .link_gbs = 128.0}, /* N -> slice1 */
    [2] = {.wire_fs = 160000, .overhead_fs = 1000000, .link_gbs = 128.0}, /* N -> sram */
    [3] = {.wire_fs = 10000, .overhead_fs = 1000000, .link_gbs = 128.0}, /* N -> pe0.tcm */
    [4] = {.wire_fs = 120000, .overhead_fs = 1000000, .link_gbs = 128.0}, /* N -> pe1.tcm */
    [5] = {.wire_fs = 165000, .overhead_fs = 3000000, .link_gbs = 128.0}, /* E -> slice0 */
    [6] = {.wire_fs = 165000, .overhead_fs = 3000000, .link_gbs = 128.0}, /* E -> slice1 */
    [7] = {.wire_fs = 180000, .overhead_fs = 1000000, .link_gbs = 128.0}, /* E -> sram */
    [8] = {.wire_fs = 140000, .overhead_fs = 1000000, .link_gbs = 128.0}, /* E -> pe0.tcm */
    [9] = {.wire_fs = 140000, .overhead_fs = 1000000, .link_gbs = 128.0}, /* E -> pe1.tcm */
    [10] = {.wire_fs = 145000, .overhead_fs = 3000000, .link_gbs = 128.0}, /* S -> slice0 */
    [11] = {.wire_fs = 35000, .overhead_fs = 3000000, .link_gbs = 128.0}, /* S -> slice1 */
    [12] = {.wire_fs = 90000, .overhead_fs = 1000000, .link_gbs = 128.0}, /* S -> sram */
    [13] = {.wire_fs = 120000, .overhead_fs = 1000000, .link_gbs = 128.0}, /* S -> pe0.tcm */
    [14] = {.wire_fs = 10000, .overhead_fs = 1000000, .link_gbs = 128.0}, /* S -> pe1.tcm */
    [15] = {.wire_fs = 165000, .overhead_fs = 3000000, .link_gbs = 128.0}, /* W -> slice0 */
    [16] = {.wire_fs = 165000, .overhead_fs = 3000000, .link_gbs = 128.0}, /* W -> slice1 */
    [17] = {.wire_fs = 60000, .overhead_fs = 1000000, .link_gbs = 128.0}, /* W -> sram */
    [18] = {.wire_fs = 140000, .overhead_fs = 1000000, .link_gbs = 128.0}, /* W -> pe0.tcm */
    [19] = {.wire_fs = 140000, .overhead_fs = 1000000, .link_gbs = 128.0}, /* W -> pe1.tcm */
};

/* The cubes between: first exit, last side, cost. */
static const struct mesh_row cost_mesh[] = {
    [0] = {SIDE_W, SIDE_E, {0, 0, INFINITY}}, /* dx -1, dy 0 */
    [1] = {SIDE_N, SIDE_E, {0, 0, INFINITY}}, /* dx 0, dy 0 */
    [2] = {SIDE_E, SIDE_W, {0, 0, INFINITY}}, /* dx 1, dy 0 */
};

/* Where each cube stands in a table like that: the difference of two is a distance. */
static const uint32_t cube_pos[TOPO_CUBES] = {
    [0] = 0,
    [1] = 1,
};

/* By the source's column: from its west exit to the target's SIP. */
static const struct cost_row cost_leave[TOPO_W] = {
    [0] = {.wire_fs = 2040000, .overhead_fs = 15000000, .link_gbs = 64.0}, /* column 0 -> the other SIP */
    [1] = {.wire_fs = 2220000, .overhead_fs = 17000000, .link_gbs = 64.0}, /* column 1 -> the other SIP */
};

/* By the target's column: from column 0 to its ucie-W. */
static const struct cost_row cost_enter[TOPO_W] = {
    [0] = {.wire_fs = 0, .overhead_fs = 0, .link_gbs = INFINITY}, /* column 0 -> column 0 */
    [1] = {.wire_fs = 170000, .overhead_fs = 2000000, .link_gbs = 128.0}, /* column 0 -> column 1 */
};

/* By the target's column: from the host to its ucie-W. */
static const struct cost_row cost_host[TOPO_W] = {
    [0] = {.wire_fs = 50000, .overhead_fs = 15000000, .link_gbs = 128.0}, /* host -> column 0 */
    [1] = {.wire_fs = 220000, .overhead_fs = 17000000, .link_gbs = 128.0}, /* host -> column 1 */
};

/* From the side of a cube to the engine of its M_CPU; from there to each slice. */
static const struct cost_row cost_host_cpu[TOPO_KINDS * TOPO_HOST_SIDES] = {
    [0] = {.wire_fs = 120000, .overhead_fs = 6000000, .link_gbs = 128.0}, /* W -> m_cpu */
};

static const struct cost_row cost_host_in[TOPO_KINDS * TOPO_HOST_SIDES * TOPO_SLICES] = {
    [0] = {.wire_fs = 55000, .overhead_fs = 2000000, .link_gbs = 128.0}, /* m_cpu -> slice0 */
    [1] = {.wire_fs = 125000, .overhead_fs = 2000000, .link_gbs = 128.0}, /* m_cpu -> slice1 */
};

/* From there to each PE, to launch a kernel. */
static const struct cost_row cost_launch[TOPO_KINDS * TOPO_HOST_SIDES * TOPO_PES + !TOPO_PES] = {
    [0] = {.wire_fs = 30000, .overhead_fs = 0, .link_gbs = 128.0}, /* m_cpu -> pe0.pe_cpu */
    [1] = {.wire_fs = 100000, .overhead_fs = 0, .link_gbs = 128.0}, /* m_cpu -> pe1.pe_cpu */
};

/* -- all of it ------------------------------------------------------------------------------ */

extern const struct kb_topology two_cubes_topology __attribute__((visibility("default")));
const struct kb_topology two_cubes_topology = {
    .name = TOPO_NAME,
    .config = config,
    .hash = TOPO_HASH,
    .links = TOPO_LINKS,
    .regular = TOPO_REGULAR,
    .early = 0,
    .banked = 0,
    .sips = TOPO_SIPS,
    .w = TOPO_W,
    .h = TOPO_H_CUBES,
    .cubes = TOPO_CUBES,
    .switches = 0,
    .n_kinds = TOPO_KINDS,
    .pes = TOPO_PES,
    .slices = TOPO_SLICES,
    .alike = TOPO_ALIKE,
    .own_slices = TOPO_OWN_SLICES,
    .cube_w_mm = 15.0,
    .cube_h_mm = 11.0,
    .n_nodes = TOPO_NODES,
    .n_edges = TOPO_EDGES,
    .n_units = TOPO_UNITS,
    .sources = TOPO_SOURCES,
    .pe_bits = TOPO_PE_BITS,
    .unit_bits = TOPO_UNIT_BITS,
    .n_cube_nodes = TOPO_CUBE_NODES,
    .n_cube_links = TOPO_CUBE_LINKS,
    .n_segments = TOPO_SEGMENTS,
    .n_io_links = TOPO_IO_LINKS,
    .m_cpu_node = TOPO_M_CPU,
    .sram_node = TOPO_SRAM,
    .first_hbm_node = TOPO_FIRST_HBM,
    .l2_node = 13,
    .first_pe_node = TOPO_FIRST_PE,
    .granule = 0,
    .offset_bits = 36,
    .address_over = 0,
    .address_hash = 0,
    .software_unit = 0,
    .launch_fs = 0,
    .call_fs = 0,
    .step_fs = 0,
    .splits = 0,
    .segment_bytes = 256,
    .packet_bytes = 4096,
    .buffer_bytes = 1024,
    .request_vcs = 2,
    .answer_vcs = 2,
    .prios = 1,
    .command_bytes = 0,
    .credit_fs = 0,
    .vc_alloc_fs = 0,
    .arbiter = 0,
    .input_speedup = 1,
    .vcs_vary = 0,
    .detours_by = 0,
    .routes_by = 0,
    .hops_inside = 0,
    .hop_classes = 0,
    .request_shares = NULL,
    .answer_shares = NULL,
    .stop_of = NULL,
    .stops = NULL,
    .planes = TOPO_PLANES,
    .plane_choice = TOPO_PLANE_CHOICE,
    .ports = TOPO_PORTS,
    .wrap = TOPO_WRAP,
    .d2d_wire_fs = 10000,
    .wrap_wire_fs = 10000,
    .wrap_mm = 1.0,
    .chiplets = TOPO_CHIPLETS,
    .n_shore = TOPO_SHORE,
    .fabric_shape = TOPO_FABRIC_SHAPE,
    .grid_w = TOPO_GRID_W,
    .grid_h = TOPO_GRID_H,
    .grid_wrap = TOPO_GRID_WRAP,
    .plane_rows = plane_rows,
    .io_sides = io_sides,
    .has_gaps = TOPO_HAS_GAPS,
    .cube_edges = NULL,
    .detour_of = NULL,
    .detours = NULL,
    .port_rows = NULL,
    .rails = NULL,
    .rails_one_way = 0,
    .has_broken = 0,
    .has_noc_mesh = 0,
    .paths = 1,
    .path_of = NULL,
    .rail_paths = NULL,
    .path_rows = NULL,
    .path_ports = NULL,
    .grid_rows = NULL,
    .place_rows = NULL,
    .io_cubes = NULL,
    .shores = NULL,
    .n_host_sides = TOPO_HOST_SIDES,
    .kinds = kinds,
    .cube_nodes = cube_nodes,
    .io_nodes = io_nodes,
    .fabric_nodes = fabric_nodes,
    .cube_links = cube_links,
    .io_links = io_links,
    .hops = hops,
    .legs = legs,
    .segments = segments,
    .cube_rows = NULL,
    .home_slices = home_slices,
    .seg_local = SEG_LOCAL,
    .seg_out = SEG_OUT,
    .seg_pass = SEG_PASS,
    .seg_in = SEG_IN,
    .seg_host = SEG_HOST,
    .seg_host_in = SEG_HOST_IN,
    .seg_cross = SEG_CROSS,
    .seg_arrive = SEG_ARRIVE,
    .cost_local = cost_local,
    .cost_out = cost_out,
    .cost_in = cost_in,
    .cost_mesh = cost_mesh,
    .between_by = TOPO_BETWEEN_BY,
    .n_between = TOPO_BETWEEN,
    .between = NULL,
    .between_of = NULL,
    .cube_pos = cube_pos,
    .mesh_middle = 1,
    .cost_leave = cost_leave,
    .cost_enter = cost_enter,
    .cost_host = cost_host,
    .cost_host_cpu = cost_host_cpu,
    .cost_host_in = cost_host_in,
    .cost_segment = NULL,
    .cost_launch = cost_launch,
    .release = topology_release,
};
