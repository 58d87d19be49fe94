m4_dnl gen_config_row(C_STRING)
m4_define([[gen_config_row]], [[    $1
]])m4_dnl
m4_dnl gen_node_row(INDEX, NAME, KIND, OVERHEAD_FS, X_MM, Y_MM)
m4_define([[gen_node_row]],
[[    [$1] = {.name = "$2", .kind = $3, .overhead_fs = $4, .x_mm = $5, .y_mm = $6},
]])m4_dnl
m4_dnl gen_link_row(INDEX, FROM, TO, LEAVES, BOTH_WAYS, LANES, LANES_BACK, WIRE_FS, LENGTH_MM, GBS)
m4_define([[gen_link_row]],
[[    [$1] = {.from = $2, .to = $3, .leaves = $4, .both_ways = $5, .lanes = {$6, $7}, .wire_fs = $8, .length_mm = $9, .gbs = $10},
]])m4_dnl
m4_dnl gen_port_row(INDEX, CUBE, PORT, FLAGS, RING)
m4_define([[gen_port_row]],
[[    [$1] = {$2, $3, $4, $5},
]])m4_dnl
m4_dnl gen_grid_row(INDEX, SIZES, DIMS, CLOSES)
m4_define([[gen_grid_row]],
[[    [$1] = {.size = {$2}, .dims = $3, .closes = $4},
]])m4_dnl
m4_dnl gen_place_row(CUBE, GRID, AT)
m4_define([[gen_place_row]],
[[    [$1] = {$2, $3},
]])m4_dnl
m4_dnl gen_path_row(INDEX, PORTS, LINKS, N, UNTIL)
m4_define([[gen_path_row]],
[[    [$1] = {.ports = $2, .links = $3, .n = $4, .until = $5},
]])m4_dnl
m4_dnl gen_segment_row(INDEX, FIRST_HOP, N_HOPS, FIRST_LEG, N_LEGS, EXIT, TAIL_WIRE, TAIL_OVERHEAD, FROM, TO)
m4_define([[gen_segment_row]],
[[    [$1] = {$2, $4, $3, $5, $6, $7, $8}, /* $9 .. $10 */
]])m4_dnl
m4_dnl gen_hop_row(INDEX, PLACE, NODE, OWNER, LINK, BACK, OVERHEAD_FS, CROSS_FS, WIRE_FS, GBS, NAME)
m4_define([[gen_hop_row]],
[[    [$1] = {$2, $4, $6, $3, $5, $7, $8, $9, $10}, /* $11 */
]])m4_dnl
m4_dnl gen_leg_row(INDEX, OWNER, BACK, FED, LINK, STATION, WIRE_FS, OVERHEAD_FS, GBS)
m4_define([[gen_leg_row]],
[[    [$1] = {$2, $3, $4, $5, $6, $7, $8, $9},
]])m4_dnl
m4_dnl gen_cost_row(INDEX, WIRE_FS, OVERHEAD_FS, LINK_GBS, WAY)
m4_define([[gen_cost_row]],
[[    [$1] = {.wire_fs = $2, .overhead_fs = $3, .link_gbs = $4}, /* $5 */
]])m4_dnl
m4_dnl gen_number_row(INDEX, NUMBER)
m4_define([[gen_number_row]],
[[    [$1] = $2,
]])m4_dnl
m4_dnl gen_kind_row(INDEX, FIELDS)
m4_define([[gen_kind_row]],
[[    [$1] = {
$2    },
]])m4_dnl
m4_dnl gen_cube_row(INDEX, PES, FIRST_NODE, FIRST_PE, FIRST_SLICE, RANK, BEFORE, HOME, HOME_RANK, THERE, KIND)
m4_define([[gen_cube_row]],
[[    [$1] = {$2, $3, $4, $5, $6, $7, $8, $9, $10, $11},
]])m4_dnl
m4_dnl gen_mesh_row(INDEX, EXIT, SIDE, WIRE_FS, OVERHEAD_FS, LINK_GBS, DX, DY)
m4_define([[gen_mesh_row]],
[[    [$1] = {$2, $3, {$4, $5, $6}}, /* dx $7, dy $8 */
]])m4_dnl
m4_dnl gen_between_row(INDEX, EXIT, SIDE, WIRE_FS, OVERHEAD_FS, LINK_GBS, UCIE_FS)
m4_define([[gen_between_row]],
[[    [$1] = {{$2, $3, {$4, $5, $6}}, $7},
]])m4_dnl
m4_dnl gen_plane_row(INDEX, NAME, DIRS, Y_FIRST, ONE_WAY, IN_PARTS, HAS_DETOURS)
m4_define([[gen_plane_row]],
[[    [$1] = {.name = "$2", .dirs = $3, .y_first = $4, .one_way = $5, .in_parts = $6, .has_detours = $7},
]])m4_dnl
m4_dnl gen_text_row(C_STRING)
m4_define([[gen_text_row]], [[    $1
]])m4_dnl
m4_dnl gen_field_row(NAME, C)
m4_define([[gen_field_row]],
[[    .$1 = $2,
]])m4_dnl
m4_dnl gen_part_row(BOX, COMPONENT, KIND, KEY)
m4_define([[gen_part_row]],
[[    {"$2", BOX_[[]]m4_translit($1, a-z, A-Z), sizeof(struct $2), .init = component_$2_init, m4_ifelse($3, node, .delay = component_$2_delay, $3, queueing, [[.arrive = component_$2_arrive, .wake = component_$2_wake]], $3, front, [[.arrive = component_$2_arrive, .wake = component_$2_wake, .ended = component_$2_ended]], .serve = component_$2_serve)}, /* $4 */
]])m4_dnl
m4_dnl The member of a union for a state of a memory, a node, an engine.
m4_define([[gen_memory_state]],
[[m4_ifelse($3, node, [[]], $3, engine, [[]], [[    struct $2 $1_$2;
]])]])m4_dnl
m4_define([[gen_node_state]],
[[m4_ifelse($3, node, [[    struct $2 $1_$2;
]])]])m4_dnl
m4_define([[gen_engine_state]],
[[m4_ifelse($3, engine, [[    struct $2 $1_$2;
]])]])m4_dnl
gen_banner
/* topo.c -- the tables of gen_name. */
#include "topo.h"

/* The resolved YAML. */
static const char config[] =
gen_map_config([[gen_config_row]])m4_dnl
    ;

/* -- one cube of each kind ------------------------------------------------------------------ */

static const struct kind_row kinds[TOPO_KINDS] = {
gen_map_kinds([[gen_kind_row]])m4_dnl
};

static const struct node_row cube_nodes[TOPO_KINDS * TOPO_CUBE_NODES] = {
gen_map_cube_nodes([[gen_node_row]])m4_dnl
};

/* Inside the cube, then its links to the east and to the south. */
static const struct link_row cube_links[TOPO_KINDS * TOPO_CUBE_LINKS] = {
gen_map_cube_links([[gen_link_row]])m4_dnl
};

/* -- the IO chiplet of a SIP, and the fabric ------------------------------------------------ */

static const struct node_row io_nodes[TOPO_IO_NODES] = {
gen_map_io_nodes([[gen_node_row]])m4_dnl
};

/* io_noc, io_cpu, the fabric, then the shoreline from north to south. */
static const struct link_row io_links[TOPO_IO_LINKS] = {
gen_map_io_links([[gen_link_row]])m4_dnl
};

static const struct node_row fabric_nodes[1] = {
gen_map_fabric_nodes([[gen_node_row]])m4_dnl
};

/* -- the networks between cubes ------------------------------------------------------------- */

static const struct plane_row plane_rows[TOPO_PLANES] = {
gen_map_planes([[gen_plane_row]])m4_dnl
};

/* The side of each IO chiplet. */
static const uint8_t io_sides[TOPO_CHIPLETS] = {
gen_map_io_sides([[gen_number_row]])m4_dnl
};
m4_ifelse(gen_has_gaps, 1, [[
/* Of each cube and plane: links out, ports out and in, as masks of sides behind 'A'. */
static const uint8_t cube_edges[] =
gen_map_cube_edges([[gen_text_row]])m4_dnl
    "";

/* Of each plane and cube: its row of detours, from 1; and these, '0' + an exit to each cube. */
static const uint32_t detour_of[m4_ifelse(m4_eval(gen_mesh_tables > 1), 1, [[2 * ]])TOPO_PLANES * TOPO_SIPS * TOPO_CUBES] = {
gen_map_detour_of([[gen_number_row]])m4_dnl
};

m4_ifelse(gen_n_detours, 0, [[]], [[m4_dnl
static const uint8_t detours[] =
gen_map_detours([[gen_text_row]])m4_dnl
    "";

]])m4_dnl
m4_ifelse(gen_is_net, 1, [[/* Of each cube and port: the cube, the port that its link leads to, and what there is. */
static const struct port_row port_rows[] = {
gen_map_port_rows([[gen_port_row]])m4_dnl
};

static const uint16_t io_cubes[] = {
gen_map_io_cubes([[gen_number_row]])m4_dnl
};

m4_ifelse(gen_n_grids, 0, [[]], [[/* Meshes and tori, and of each cube of a SIP: its grid, from 1, and its place there. */
static const struct grid_row grid_rows[] = {
gen_map_grid_rows([[gen_grid_row]])m4_dnl
};

static const struct place_row place_rows[] = {
gen_map_place_rows([[gen_place_row]])m4_dnl
};

]])m4_dnl
]])m4_dnl
m4_ifelse(gen_has_rails, 1, [[/* Of each pair of cubes of two SIPs, switches in between: '0' + the exit. */
static const uint8_t rails[] =
gen_map_rails([[gen_text_row]])m4_dnl
    "";

]])m4_dnl
m4_ifelse(gen_has_paths, 1, [[/* Of each pair of cubes: its first way, from 1; 0: it has no second one. */
static const uint32_t path_of[] = {
gen_map_path_of([[gen_number_row]])m4_dnl
};

m4_ifelse(gen_has_rails, 1, [[static const uint32_t rail_paths[] = {
gen_map_rail_paths([[gen_number_row]])m4_dnl
};

]])m4_dnl
m4_ifelse(gen_n_path_rows, 0, [[]], [[/* Of each way its exits, '0' + a port. */
static const struct path_row path_rows[] = {
gen_map_path_rows([[gen_path_row]])m4_dnl
};

static const uint8_t path_ports[] =
gen_map_path_ports([[gen_text_row]])m4_dnl
    "";

]])m4_dnl
]])m4_dnl
/* Of each cube, plane and chiplet: the place of its shore cube, on the way from it and to it. */
static const uint16_t shores[TOPO_SIPS * TOPO_CUBES * TOPO_PLANES * TOPO_CHIPLETS * 2] = {
gen_map_shores([[gen_number_row]])m4_dnl
};
]])m4_dnl

/* -- routes, hop by hop and merged ---------------------------------------------------------- */

/* first hop, first leg, hops, legs, exit, delay after the last leg: wire fs, overhead fs */
static const struct segment_row segments[TOPO_KINDS * TOPO_SEGMENTS] = {
    /* from a PE to the memories of its cube: row pe * TOPO_UNITS + unit */
gen_map_segments_local([[gen_segment_row]])m4_dnl
    /* from a PE out of its cube: row pe * (TOPO_PORTS + 1) + exit */
gen_map_segments_out([[gen_segment_row]])m4_dnl
    /* through a cube: row side * (TOPO_PORTS + 1) + exit */
gen_map_segments_pass([[gen_segment_row]])m4_dnl
    /* from a side to the memories of the target's cube: row side * TOPO_UNITS + unit */
gen_map_segments_in([[gen_segment_row]])m4_dnl
    /* from a host to the shoreline */
gen_map_segments_host([[gen_segment_row]])m4_dnl
    /* from ucie-W by the M_CPU to each slice */
gen_map_segments_host_in([[gen_segment_row]])m4_dnl
    /* from the shoreline of one SIP to that of another */
gen_map_segments_cross([[gen_segment_row]])m4_dnl
};

/* chiplet, link's owner, back, node, link, overhead fs, NoC crossing fs, wire fs, GB/s */
static const struct hop_row hops[TOPO_HOPS] = {
gen_map_hops([[gen_hop_row]])m4_dnl
};

m4_ifelse(gen_n_stops, 0, [[]], [[/* Of each cube: its row of stops; and these, 1 for each node that is a router. */
static const uint16_t stop_of[TOPO_SIPS * TOPO_CUBES] = {
gen_map_stop_of([[gen_number_row]])m4_dnl
};

static const uint8_t stops[] =
gen_map_stops([[gen_text_row]])m4_dnl
    "";

]])m4_dnl
m4_ifelse(gen_vcs_vary, 1, [[/* Which VCs requests may own on the edge of each hop, and answers on the way back: machine/vcs.h */
static const uint8_t request_shares[TOPO_HOPS] = {
gen_map_request_shares([[gen_number_row]])m4_dnl
};

static const uint8_t answer_shares[TOPO_HOPS] = {
gen_map_answer_shares([[gen_number_row]])m4_dnl
};

]])m4_dnl
/* link's owner, back, fed (gen/feeds.c), link, station, wire fs, overhead fs, GB/s */
static const struct leg_row legs[TOPO_LEGS] = {
gen_map_legs([[gen_leg_row]])m4_dnl
};

m4_ifelse(gen_alike, 1, [[]], [[/* What is there of each cube; its PEs as bits; nodes, PEs, slices, cubes with PEs and cubes with slices before it; where its PEs have slices. */
static const struct cube_row cube_rows[] = {
gen_map_cube_rows([[gen_cube_row]])m4_dnl
};

]])m4_dnl
/* By PE. */
static const uint8_t home_slices[TOPO_KINDS * TOPO_PES + !TOPO_PES] = {
gen_map_home_slices([[gen_number_row]])m4_dnl
};

/* -- routes, summed ------------------------------------------------------------------------- */

m4_ifelse(gen_regular, 1, [[/* Source and target in one cube: row source * TOPO_UNITS + unit. */
static const struct cost_row cost_local[TOPO_SOURCES * TOPO_UNITS + !TOPO_SOURCES] = {
gen_map_cost_local([[gen_cost_row]])m4_dnl
};

/* From a source out of its cube: row source * N_EXITS + exit. */
static const struct cost_row cost_out[TOPO_SOURCES * N_EXITS + !TOPO_SOURCES] = {
gen_map_cost_out([[gen_cost_row]])m4_dnl
};

/* From a side of the target's cube to the memory: row side * TOPO_UNITS + unit. */
static const struct cost_row cost_in[N_SIDES * TOPO_UNITS] = {
gen_map_cost_in([[gen_cost_row]])m4_dnl
};

/* The cubes between: first exit, last side, cost. */
static const struct mesh_row cost_mesh[] = {
gen_map_cost_mesh([[gen_mesh_row]])m4_dnl
};

/* Where each cube stands in a table like that: the difference of two is a distance. */
static const uint32_t cube_pos[TOPO_CUBES] = {
gen_map_cube_pos([[gen_number_row]])m4_dnl
};

/* By the source's column: from its west exit to the target's SIP. */
static const struct cost_row cost_leave[TOPO_W] = {
gen_map_cost_leave([[gen_cost_row]])m4_dnl
};

/* By the target's column: from column 0 to its ucie-W. */
static const struct cost_row cost_enter[TOPO_W] = {
gen_map_cost_enter([[gen_cost_row]])m4_dnl
};

/* By the target's column: from the host to its ucie-W. */
static const struct cost_row cost_host[TOPO_W] = {
gen_map_cost_host([[gen_cost_row]])m4_dnl
};
]], [[/* Each segment: a route is the sum of those that it passes. */
static const struct cost_row cost_segment[TOPO_KINDS * TOPO_SEGMENTS] = {
gen_map_cost_segment([[gen_cost_row]])m4_dnl
};

m4_ifelse(gen_between_by, 0, [[]], [[/* The cubes between two: first exit, last side, cost, UCIe nodes. */
static const struct between_row between[] = {
gen_map_between([[gen_between_row]])m4_dnl
};

]])m4_dnl
m4_ifelse(gen_between_by, 1, [[/* By distance, in blocks: planes; where each cube stands in one. */
static const uint32_t cube_pos[TOPO_CUBES] = {
gen_map_cube_pos([[gen_number_row]])m4_dnl
};

]])m4_dnl
m4_ifelse(gen_between_by, 2, [[/* By pair: its row. */
static const uint16_t between_of[] = {
gen_map_between_of([[gen_number_row]])m4_dnl
};

]])m4_dnl
]])m4_dnl

/* From the side of a cube to the engine of its M_CPU; from there to each slice. */
static const struct cost_row cost_host_cpu[TOPO_KINDS * TOPO_HOST_SIDES] = {
gen_map_cost_host_cpu([[gen_cost_row]])m4_dnl
};

static const struct cost_row cost_host_in[TOPO_KINDS * TOPO_HOST_SIDES * TOPO_SLICES] = {
gen_map_cost_host_in([[gen_cost_row]])m4_dnl
};

/* From there to each PE, to launch a kernel. */
static const struct cost_row cost_launch[TOPO_KINDS * TOPO_HOST_SIDES * TOPO_PES + !TOPO_PES] = {
gen_map_cost_launch([[gen_cost_row]])m4_dnl
};

m4_ifelse(gen_n_parts, 0, [[]], [[/* -- components ------------------------------------------------------------------------------ */

#include "components.i" /* kbgen --component-code */

static const struct impl component_rows[] = {
    {0},
gen_map_parts([[gen_part_row]])m4_dnl
};

/* Which of them stands in place of each box: kind by kind. */
static const uint16_t component_of_box[TOPO_KINDS * N_BOXES] = {
gen_map_boxes([[gen_number_row]])m4_dnl
};

/* Of the size of the largest state. */
union memory_state_any {
    char none;
gen_map_parts([[gen_memory_state]])m4_dnl
};
union node_state_any {
    char none;
gen_map_parts([[gen_node_state]])m4_dnl
};
union engine_state_any {
    char none;
gen_map_parts([[gen_engine_state]])m4_dnl
};

static const struct impls components = {
    .of = component_rows,
    .in = component_of_box,
    .memory_bytes = sizeof(union memory_state_any),
    .node_bytes = sizeof(union node_state_any),
    .engine_bytes = sizeof(union engine_state_any),
    .memories = gen_has_memories,
    .queueing = gen_has_queueing,
    .fronts = gen_has_fronts,
    .nodes = gen_has_nodes,
    .engines = gen_has_engines,
};

]])m4_dnl
/* -- all of it ------------------------------------------------------------------------------ */

extern const struct kb_topology gen_name[[]]_topology __attribute__((visibility("default")));
const struct kb_topology gen_name[[]]_topology = {
gen_map_fields([[gen_field_row]])m4_dnl
m4_ifelse(gen_n_parts, 0, [[]], [[    .impls = &components,
]])m4_dnl
    .release = topology_release,
};
