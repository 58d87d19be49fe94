/* judge.h -- the model once more, slow and obvious: what the generator and the engines are held to.
 */
#ifndef JUDGE_H
#define JUDGE_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * The judge shares no code and no table with what it judges. It keeps the topology as a graph of
 * names, finds a route by walking that graph name by name, and lets every node and every wire of
 * a transaction be an event. Its own bugs end in abort() with a message; a mistake of the caller's
 * in a message on stderr and NULL or false.
 */

enum { JUDGE_NAME_BYTES = 48 }; /* room for the name of any node or endpoint, and its final 0 */
enum { JUDGE_KEY_BYTES = 64, JUDGE_KEY_SLOTS = 512 };

/* -- values (values.c) ---------------------------------------------------------------------- */

/* One value of the YAML, by its full key: "cube.hbm.bw_gbs", "cube.size_mm.0". */
struct judge_value {
    char key[JUDGE_KEY_BYTES];
    char cubes[JUDGE_NAME_BYTES]; /* of an override: the pattern of its cubes; else "" */
    char text[JUDGE_NAME_BYTES];
    double number; /* 0 if `text` is no number */
    bool given;
};

struct judge_topo;
struct judge_cube;
struct judge_list;
struct yaml_parser_s;

/* Every value of a topology YAML. False after a message. */
bool judge_read_values(struct judge_topo *t, struct yaml_parser_s *parser);

/* The value of a key of the YAML, given or default. */
double judge_number(const struct judge_topo *t, const char *key);
uint32_t judge_count(const struct judge_topo *t, const char *key);
const char *judge_text(const struct judge_topo *t, const char *key);

/* The same of one cube, with what `cubes` gives it. */
double judge_cube_number(const struct judge_topo *t, uint32_t sip, uint32_t cube, const char *key);
uint32_t judge_cube_count(const struct judge_topo *t, uint32_t sip, uint32_t cube, const char *key);
const char *judge_cube_text(const struct judge_topo *t, uint32_t sip, uint32_t cube,
                            const char *key);

/* Item `i` of a list, "missing"; `of` is "" or a field of the item, ".name". NULL: there is none.
 */
const char *judge_item(const struct judge_topo *t, const char *list, uint32_t i, const char *of);

/* The value of "PATH.name.of"; NULL: it is not given. */
const char *judge_below(const struct judge_topo *t, const char *path, const char *name,
                        const char *of);

/* All items of a list of texts; give `items` back with free(). */
struct judge_list judge_texts(const struct judge_topo *t, const char *list);

/* Fills `values` of a cube. */
void judge_find_values(const struct judge_topo *t, uint32_t sip, uint32_t cube,
                       struct judge_cube *out);
void judge_make_switch(const struct judge_topo *t, struct judge_cube *out);

/* -- topologies (topo.c) -------------------------------------------------------------------- */

struct judge_node {
    char name[JUDGE_NAME_BYTES];
    int64_t overhead_fs;
    double x_mm, y_mm; /* where it meets its cube's NoC; 0, 0 for what does not */
    bool is_noc;       /* of a cube */
};

/* A directed edge. Its nodes are indices into `nodes`, which is sorted by name. */
struct judge_edge {
    size_t from, to;
    uint32_t second; /* 1: the wrap link of two SIPs that have two links */
    double distance_mm, latency_ns;
    uint32_t lanes, back_lanes; /* servers; of the data that come back over it */
    double bw_gbs; /* effective: with the efficiency of the memory it leads into; or INFINITY */
};

/* One of the networks between cubes; without sip.planes there is one without a name. */
struct judge_plane {
    char name[JUDGE_NAME_BYTES];
    uint32_t dirs; /* a bit for each side, by its number */
    bool y_first;
    bool one_way; /* a link between cubes that are there lacks its opposite */
};

enum { JUDGE_PLANES_MAX = 8, JUDGE_CHIPLETS_MAX = 4 };

/* A port of a cube of a net. A switch between SIPs is a cube of SIP number t->sips. */
struct judge_port {
    size_t place; /* of the cube, over all */
    uint32_t other_sip, other, other_port;
    uint32_t item, order; /* in whose order ports have their numbers */
    size_t link;
    bool second;   /* end of it */
    bool leads;    /* out of the cube */
    char side;     /* 0: in the middle */
    uint32_t ring; /* of a torus: its item and dimension, from 1; 0: none */
    bool closing;  /* that ring */
    double bw_gbs, distance_mm, latency_ns, overhead_ns; /* overhead below 0: the cube's ucie */
    uint32_t lanes;
    bool counted; /* by hop classes */
};

struct judge_net;

/* The items of a list that are texts. */
struct judge_list {
    const char **items;
    size_t n;
};

/* One cube: what is there, and its values in the order of the known ones. */
struct judge_cube {
    bool there;
    bool *has_pe;
    uint32_t pes, slices, crossbars;
    const struct judge_value **values;
};

struct judge_topo {
    struct judge_value *values;
    uint16_t slots[JUDGE_KEY_SLOTS]; /* of known values, by a hash of their keys; from 1 */
    struct judge_net *net;           /* NULL: cubes are a mesh */
    struct judge_list missing, broken;
    char chiplets[JUDGE_CHIPLETS_MAX + 1]; /* their sides */
    struct judge_cube *cube;               /* [sip][cube] */
    struct judge_node *nodes;              /* sorted by name */
    struct judge_edge *edges;              /* sorted by from, to */
    uint32_t *node_slots;                  /* of nodes, by a hash of their names; from 1 */
    size_t n_node_slots;
    size_t *first_edge; /* by node: of those that leave it */
    size_t n_values, n_nodes, n_edges, nodes_room, edges_room;
    uint32_t sips, w, h, cubes, planes; /* cubes of a SIP, w * h */
    uint32_t switches;                  /* of fabric.net: cubes 0.. of SIP `sips` */
    struct judge_value *of_switches;    /* values of their own, in the order of the known ones */
    bool rails_one_way;                 /* some link of the whole net lacks its opposite */
    bool wrap_x, wrap_y;                /* of the mesh */
    bool hashed_planes;
    double ns_per_mm;
    struct judge_end *pes; /* that are there, in order */
    size_t n_pes;
    struct judge_plane plane[JUDGE_PLANES_MAX];
    uint32_t *steps;     /* [plane][sip][cube][N, E, S, W]: the next cube; UINT32_MAX: no step */
    uint32_t cols, rows; /* of the mesh inside cubes; 0: there is none */
    double size_mm[2];   /* of cubes, then */
    bool *is_hole;       /* by place of the mesh */
    bool *is_router;     /* by node, of a machine with routers; else NULL */
    bool *is_gate;       /* a noc whose `impl` is gate: beside them */
    uint32_t stages;     /* of meshes inside cubes that are kept apart by VCs: 1 to 4 */
    bool detours_apart;  /* they have VCs of their own */
    bool datelines;      /* of a net: each ring has two halves of VCs */
    bool up_down;        /* of a net: routes go up its tree, then down */
    uint32_t hops; /* of a net: equal parts of VCs, one for each link of a route that is counted; 0:
                      none */
    uint32_t **far; /* [plane][sip][cube], once asked for: steps to it from each cube of its SIP */
};

/* The topology in a file, or in a string. NULL after a message. Give it back with judge_free(). */
struct judge_topo *judge_load(const char *path);
struct judge_topo *judge_load_text(const char *yaml);
void judge_free(struct judge_topo *t);

/* Index of a node by name, of an edge by its nodes; SIZE_MAX: there is none. */
size_t judge_find_node(const struct judge_topo *t, const char *name);
size_t judge_find_edge(const struct judge_topo *t, size_t from, size_t to, uint32_t second);

/* -- nets (net.c) --------------------------------------------------------------------------- */

/* Fills `net`, if the topology has one. */
void judge_find_net(struct judge_topo *t);

/* Its ways are to be found again: t->up_down has changed. */
void judge_forget_ways(struct judge_topo *t);

/* From now on routes of the net go up its tree, then down: network.c. */
void judge_go_up_down(struct judge_topo *t);
void judge_net_free(struct judge_net *net);

/* Port `port` of a cube; NULL: it has fewer. Has the cube one to the IO chiplet? */
const struct judge_port *judge_port(const struct judge_topo *t, uint32_t sip, uint32_t cube,
                                    uint32_t port);
bool judge_is_io_cube(const struct judge_topo *t, uint32_t cube);

/* Does its link lead out of the cube: is it there, and not broken? */
bool judge_port_leads(const struct judge_topo *t, uint32_t sip, uint32_t cube, uint32_t port);
bool judge_net_is_one_way(const struct judge_topo *t, bool rails);

/* Has it links between SIPs, of fabric.net? */
bool judge_has_rails(const struct judge_topo *t);

/* The ports by which way `way` of a pair leaves its cubes, in the order of their numbers;
 * UINT32_MAX: there is none; give `*out` back with free(). */
uint32_t judge_net_way(const struct judge_topo *t, size_t from, size_t to, uint32_t way,
                       const struct judge_port ***out, int64_t *weight);

/* A cube's place over all SIPs. */
size_t judge_place_of(const struct judge_topo *t, uint32_t sip, uint32_t cube);

/* How many ways a pair of cubes has at most: sip.paths. */
uint32_t judge_net_ways(const struct judge_topo *t);

/* The IO cube for a cube, on the way from the chiplet to it or back. UINT32_MAX: none. */
uint32_t judge_io_cube(const struct judge_topo *t, uint32_t sip, uint32_t cube, bool ashore);

/* The cube with the home slices of the PEs of `cube`. UINT32_MAX: none. */
uint32_t judge_home_cube(const struct judge_topo *t, uint32_t sip, uint32_t cube);

/* llround(distance_mm * ns_per_mm * 1e6): docs/model.md "Units" */
int64_t judge_wire_fs(const struct judge_topo *t, double distance_mm);
int64_t judge_ns(double ns); /* in fs */

/* -- shape (shape.c) ------------------------------------------------------------------------ */

/* Does a pattern, "c3", "s*.c[4-7]", "c0.pe*", name this cube, or this PE? SIZE_MAX: a cube. */
bool judge_matches(const struct judge_topo *t, const char *pattern, uint32_t sip, uint32_t cube,
                   size_t pe);

/* What is there. */
bool judge_has_cube(const struct judge_topo *t, uint32_t sip, uint32_t cube);
bool judge_has_pe(const struct judge_topo *t, uint32_t sip, uint32_t cube, uint32_t pe);

/* Slices and crossbar nodes of a cube, and the crossbar node that a slice is behind. */
uint32_t judge_slices(const struct judge_topo *t, uint32_t sip, uint32_t cube);
uint32_t judge_crossbars(const struct judge_topo *t, uint32_t sip, uint32_t cube);
uint32_t judge_crossbar_of(const struct judge_topo *t, uint32_t sip, uint32_t cube, uint32_t slice);
struct judge_end judge_home_slice(const struct judge_topo *t, const struct judge_end *pe);

/* A side is one of the letters N, E, S, W, which have the numbers 0 to 3. */
size_t judge_side(char letter);
char judge_opposite(char side);

/* Fills `steps` and the counts before it. */
void judge_find_steps(struct judge_topo *t);
uint32_t judge_step(const struct judge_topo *t, uint32_t plane, uint32_t sip, uint32_t cube,
                    char side);

/* The cube, or the SIP, on that side, over a wrap link or not. False: none. */
bool judge_beside(const struct judge_topo *t, uint32_t cube, char side, uint32_t *other,
                  bool *wrapped);
bool judge_sip_beside(const struct judge_topo *t, uint32_t sip, char side, uint32_t *other,
                      bool *wrapped);

/* Is there a link from the cube on that side? Is its edge between the noc and a ucie broken? */
bool judge_has_link(const struct judge_topo *t, uint32_t plane, uint32_t sip, uint32_t cube,
                    char side, uint32_t *other, bool *wrapped);
bool judge_port_is_cut(const struct judge_topo *t, uint32_t sip, uint32_t cube, char side,
                       bool outward);

/* The same of a net: links from a cube to another, and the edge between the noc and a port. */
bool judge_link_is_cut(const struct judge_topo *t, uint32_t sip, uint32_t from, uint32_t sip_to,
                       uint32_t to);
bool judge_net_port_is_cut(const struct judge_topo *t, uint32_t sip, uint32_t cube, uint32_t port,
                           bool outward);

/* Has a cube a cache between its PEs and all slices? */
bool judge_has_l2(const struct judge_topo *t, uint32_t sip, uint32_t cube);

/* Has a cube neither PEs nor slices? */
bool judge_is_switch(const struct judge_topo *t, uint32_t sip, uint32_t cube);

/*
 * Steps from cube to cube, UINT32_MAX: there is no way. `*out`, if asked for, gets their sides,
 * one letter each; give it back with free().
 */
uint32_t judge_way(const struct judge_topo *t, uint32_t plane, uint32_t sip, uint32_t from,
                   uint32_t to, char **out);

/*
 * The side of the first step from a cube to another one of its SIP, on a route that began in
 * `begin`, if the plane were whole.
 */
char judge_default_step(const struct judge_topo *t, uint32_t plane, uint32_t begin, uint32_t from,
                        uint32_t to);

/* The side of an IO chiplet, 0: there is none of that number; whether a cube is at its shore. */
char judge_chiplet_side(const struct judge_topo *t, uint32_t chiplet);
bool judge_on_shore(const struct judge_topo *t, uint32_t chiplet, uint32_t sip, uint32_t cube);

/* The shore cube for `cube`, on the way from the chiplet to it or back. UINT32_MAX: none. */
uint32_t judge_shore_cube(const struct judge_topo *t, uint32_t plane, uint32_t chiplet,
                          uint32_t sip, uint32_t cube, bool ashore);

/* The side of the next SIP of a grid, on a route that began in SIP `begin`; 0: it is there. */
char judge_sip_towards(const struct judge_topo *t, uint32_t begin, uint32_t from, uint32_t to);

/* -- the mesh inside a cube (mesh.c) -------------------------------------------------------- */

/* Is the NoC of the cubes of a SIP a mesh of routers? That of a switch between SIPs never is. A
 * place of it is row * cols + col. */
void judge_find_mesh(struct judge_topo *t);
bool judge_has_mesh(const struct judge_topo *t, uint32_t sip);
uint32_t judge_mesh_places(const struct judge_topo *t);
bool judge_is_hole(const struct judge_topo *t, uint32_t place);

/* "r2c3", its middle, and the router on a side of it. */
void judge_mesh_name(const struct judge_topo *t, uint32_t place, char text[JUDGE_NAME_BYTES]);
void judge_mesh_point(const struct judge_topo *t, uint32_t place, double *x_mm, double *y_mm);
bool judge_place_beside(const struct judge_topo *t, uint32_t place, char side, uint32_t *other);

/* The router that a node at a point meets, and how far away it is. */
uint32_t judge_nearest_place(const struct judge_topo *t, double x_mm, double y_mm, double *mm);

/* The places from one to another, both with them, into room for all places. 0: there is no way. */
size_t judge_mesh_way(const struct judge_topo *t, uint32_t from, uint32_t to, uint32_t *places);

/* -- endpoints (ends.c) --------------------------------------------------------------------- */

enum judge_kind { JUDGE_PE, JUDGE_HOST, JUDGE_SLICE, JUDGE_SRAM, JUDGE_TCM, JUDGE_L2 };

/* Where a transaction starts or ends. Fields that a kind does not use are 0. */
struct judge_end {
    enum judge_kind kind;
    uint32_t sip, cube, unit;
};

/* Is there such an endpoint? An SRAM is unit 0 of its cube. */
bool judge_is_there(const struct judge_topo *t, const struct judge_end *end);

/* "c0.pe3", "s1.c2.slice4", "host", "host1", "c0.sram", "c0.pe1.tcm". False: no such endpoint in
 * `t`. */
bool judge_end_parse(const struct judge_topo *t, const char *text, struct judge_end *out);
void judge_end_name(const struct judge_end *end, char text[JUDGE_NAME_BYTES]);

/* Bytes of a slice, an SRAM, a TCM; 0 for others. */
uint64_t judge_memory_bytes(const struct judge_topo *t, const struct judge_end *end);

/* The first address of a region of a cube: 0 slices, 1 its SRAM, 2 TCMs. */
uint64_t judge_base(const struct judge_topo *t, uint64_t sip, uint64_t cube, uint64_t region);

/* The memory of a global address, a TCM included, and the byte in it. False: none. */
bool judge_memory_at(const struct judge_topo *t, uint64_t address, struct judge_end *memory,
                     uint64_t *offset);

/* A part of a transaction: bytes of one of its packets that lie together in one memory. */
struct judge_piece {
    struct judge_end memory;
    uint64_t offset, nbytes; /* of a tile: of its first run; of all */
    uint64_t packet;         /* its number, from 0 */
    /* Of a part of a tile: */
    uint64_t lowest; /* address, or byte of its memory */
    struct judge_stretch {
        uint64_t at, nbytes;
    } * runs; /* owned: its bytes in the memory, in order; NULL: they lie together */
    size_t n_runs;
    /* Of a part that goes to an L2, where `runs` are addresses: of how many runs of its PE it is,
     * and the bytes of the last of these. */
    size_t n_own;
    uint64_t last_own;
};

/* The global address of a byte of a slice; `*left`: so many follow it there. */
uint64_t judge_address_of(const struct judge_topo *t, const struct judge_end *slice,
                          uint64_t offset, uint64_t *left);

/* Its parts in order of addresses; give `*parts` back with free(). 0: the range leaves its cube or
 * its SIP. */
size_t judge_split(const struct judge_topo *t, uint64_t address, uint64_t nbytes,
                   struct judge_piece **parts);

/*
 * The same of what `pe` moves, which its DMA cuts into packets first; NULL: a host. `address` NULL:
 * all of it lies in `whole`, by the name of its memory; else `whole` says only how many bytes.
 */
size_t judge_cut(const struct judge_topo *t, const struct judge_end *pe,
                 const struct judge_piece *whole, const uint64_t *address,
                 struct judge_piece **parts);

/*
 * Parts of a tile that `pe` moves, by packets and memories, in order of their lowest addresses. Its
 * runs lie in `memory`, or if that is NULL are at addresses. Give the parts back with
 * judge_free_parts(). 0: a run leaves its memory, or its addresses.
 */
size_t judge_cut_runs(const struct judge_topo *t, const struct judge_end *pe,
                      const struct judge_end *memory, const struct judge_stretch *runs,
                      size_t n_runs, struct judge_piece **parts);
void judge_free_parts(struct judge_piece *parts, size_t n);

/* Bytes that the memory of a part moves: whole blocks of them. */
uint64_t judge_moved_bytes(const struct judge_topo *t, const struct judge_piece *part);

/* How long a part drains whose way has `gbs`, with what its PE takes from run to run (NULL: a host)
 * and its memory for blocks. */
int64_t judge_drain_fs(const struct judge_topo *t, const struct judge_end *pe, bool write,
                       const struct judge_piece *part, double gbs, bool *too_late);

/* Bytes of a packet of a PE's DMA; 0: it cuts nothing. */
uint64_t judge_packet_bytes(const struct judge_topo *t, const struct judge_end *pe);

/* -- routes (route.c) ----------------------------------------------------------------------- */

enum judge_op { JUDGE_READ, JUDGE_WRITE, JUDGE_H2D, JUDGE_D2H };

struct judge_hop {
    char name[JUDGE_NAME_BYTES];
    size_t node;
    size_t edge;         /* the one into it; SIZE_MAX: the first node, or only `back` is there */
    size_t back;         /* the edge to the node before; SIZE_MAX: there is none */
    int64_t wire_fs;     /* that edge's, and for a NoC its crossing */
    int64_t overhead_fs; /* of the last hop: paid during service */
    double edge_gbs;     /* 0 for the first node */
};

/* One route and its sums. All zero is an empty one; give `hops` back with judge_route_clear(). */
struct judge_route {
    struct judge_hop *hops;
    size_t n, room;
    int64_t wire_fs, overhead_fs; /* of all hops, the memory and its latency included */
    int64_t latency_fs;           /* of the memory: behind the service, not held */
    int64_t response_fs;          /* of a host's transaction, else 0 */
    double bottleneck_gbs;
};

/* The plane of a transaction by its `op` and id, as sip.plane says. */
uint32_t judge_plane_of(const struct judge_topo *t, enum judge_op op, uint64_t id);

/* The plane of a part of a transaction by its `op` and id; in a net, which has one, its way. */
uint32_t judge_course_of(const struct judge_topo *t, enum judge_op op, const struct judge_end *src,
                         const struct judge_end *memory, uint64_t id, uint64_t part);

/* Replaces `r` by the route of `op` between two endpoints, on a plane; in a net, which has one, by
 * one of the ways of the pair. False: there is none. */
bool judge_goes_one_way(const struct judge_topo *t, const struct judge_end *src,
                        const struct judge_end *dst);
bool judge_route_on(const struct judge_topo *t, uint32_t course, enum judge_op op,
                    const struct judge_end *src, const struct judge_end *dst,
                    struct judge_route *r);

/* The same of its request, behind which a read's data go their own way: with routers it goes where
 * writes go. Else it is the route of `op`. */
bool judge_request_on(const struct judge_topo *t, uint32_t course, enum judge_op op,
                      const struct judge_end *src, const struct judge_end *dst,
                      struct judge_route *r);

/* The same on the plane of `op`. */
bool judge_route(const struct judge_topo *t, enum judge_op op, const struct judge_end *src,
                 const struct judge_end *dst, struct judge_route *r);
void judge_route_clear(struct judge_route *r);

/* Replaces `r` by the way of a kernel's launch, from the PE's host to its pe_cpu. */
void judge_launch_route(const struct judge_topo *t, const struct judge_end *pe,
                        struct judge_route *r);

/* -- replay (sim.c) ------------------------------------------------------------------------- */

enum { JUDGE_AFTER_MAX = 128, JUDGE_TARGETS_MAX = 16 };

struct judge_row {
    int64_t issue_fs; /* not before */
    enum judge_op op;
    struct judge_end src, dst;
    bool by_address; /* `address` instead of `dst`, which is where its first byte lies then */
    uint64_t address;
    uint64_t offset, nbytes;
    uint32_t plane; /* of a column `plane`; 0: as sip.plane says, else its number + 1 */
    uint64_t plus;  /* added to its number, where that chooses a plane, a way or a lane */
    uint32_t prio;
    uint32_t rows; /* of a tile, `stride` apart; below 2: it is one */
    uint64_t stride;
    /* of a multicast, a write whose `dst` is the first of them; n_targets 0: it is none */
    struct judge_end targets[JUDGE_TARGETS_MAX];
    size_t n_targets;
    /* rows that it waits for, and how long it is idle then */
    uint64_t after[JUDGE_AFTER_MAX];
    size_t n_after;
    int64_t think_fs;
};

struct judge_result {
    int64_t issue_fs, start_fs, arrive_fs, service_fs, done_fs, end_fs;
    int64_t wire_fs, overhead_fs, drain_fs, response_fs;
    int64_t queue_channel_fs, queue_engine_fs, queue_link_fs, queue_memory_fs;
    int64_t formula_fs, actual_fs;
    double bottleneck_gbs;
    int64_t return_fs; /* of a read, where links have routers */
};

/* Has it several runs? Rows that touch are one. */
bool judge_is_tile(const struct judge_row *row);

/* Its parts. Give them back with judge_free_parts(). 0: it leaves its memory, or its addresses. */
size_t judge_cut_row(const struct judge_topo *t, const struct judge_row *row,
                     struct judge_piece **parts);

/* Is the formula of `row` its time alone, as its parts wait for each other? */
bool judge_runs_alone(const struct judge_topo *t, const struct judge_row *row);

/* That time, of row `number`. */
int64_t judge_alone_fs(const struct judge_topo *t, const struct judge_row *row, uint64_t number);

/*
 * Runs `n` rows; their numbers are their ids. One result each into `results`.
 * False after a message: a row without a route, rows that wait for each other or for none, or a
 * time past 2^63 fs.
 */
bool judge_replay(const struct judge_topo *t, const struct judge_row *rows, size_t n,
                  struct judge_result *results, uint64_t *fingerprint);

/* One virtual channel of a port, and the buffer that it leads to, counted as time goes on. */
struct judge_vc {
    uint64_t segments, bytes, most;        /* most: bytes in the buffer at once */
    int64_t busy_fs, until_fs, stalled_fs; /* busy with the last segment until then */
    struct judge_change {
        int64_t fs, bytes;
    } * changes; /* owned: of what is in the buffer */
    size_t n_changes;
    /* what it is counted by */
    uint64_t now_held;
    int64_t sent_fs;
    struct judge_credits {
        int64_t fs, credits;
    } * credits; /* owned; since the last segment went: when they grew, and to what */
    size_t n_credits;
};

/*
 * The same on a machine with routers, where judge_replay() leads to it. `*vcs`, unless NULL,
 * becomes those of all ports; their number is `*n_vcs`. Give `changes` back with free(), and it.
 */
bool judge_replay_routers(const struct judge_topo *t, const struct judge_row *rows, size_t n,
                          struct judge_vc **vcs, size_t *n_vcs, struct judge_result *results,
                          uint64_t *fingerprint);

enum { JUDGE_USE_BYTES = 2 * JUDGE_NAME_BYTES + 8 };

/* A station that rows took: a channel, an engine, a memory or, if they queue, a link "A -> B". */
struct judge_use {
    char name[JUDGE_USE_BYTES];
    uint64_t count, bytes;
    int64_t busy_fs, wait_fs; /* summed */
    uint32_t longest;         /* its line */
    /* Of a slice with banks and, by name SLICE.chN, its channels, of which `count` is segments: */
    bool has_rows;
    uint64_t hits, misses, conflicts, activations;
    /* Of the cache of a slice, by name SLICE.cache, which has `hits` and `misses`, too: */
    bool is_cache;
    uint64_t pending, evictions, written_back;
};

/* Adds a row to a list that begins as NULL and 0. */
void judge_add_use(struct judge_use **uses, size_t *n, const struct judge_use *use);

/* A wait: a transaction has come to a station with no free server. */
struct judge_wait {
    uint64_t id;
    uint64_t behind;               /* the last that had been let in when it came */
    uint64_t given_by;             /* the transaction that let it in by its end */
    char at[2 * JUDGE_NAME_BYTES]; /* "sip0.cube0.m_cpu.write", a memory's node, "A -> B" */
    int64_t begin_fs, end_fs;
};

/* All zero is an empty list; give `waits` back with free(). */
struct judge_waits {
    struct judge_wait *waits;
    size_t n, room;
};

/*
 * The same, and every station that was taken (give `*uses` back with free()), and every wait, in
 * order of its end. What is not asked for is NULL.
 */
bool judge_replay_watched(const struct judge_topo *t, const struct judge_row *rows, size_t n,
                          struct judge_result *results, uint64_t *fingerprint,
                          struct judge_use **uses, size_t *n_uses, struct judge_waits *waits);

/* -- CSV (csv.c) ---------------------------------------------------------------------------- */

/* The rows of a replay file. False after a message; give `*rows` back with free(). */
bool judge_read_rows(const struct judge_topo *t, const char *path, struct judge_row **rows,
                     size_t *n);

/* What `replay --format csv` prints. */
void judge_print_results(FILE *out, const struct judge_topo *t, const struct judge_row *rows,
                         const struct judge_result *results, size_t n);

/* "c0.slice1", or all targets of a multicast, with + between them. */
void judge_print_dst(FILE *out, const struct judge_row *row);

/* A time in ns with six decimals, as all output has it. */
void judge_print_ns(FILE *out, int64_t fs);

/* -- random inputs (random.c) --------------------------------------------------------------- */

/* A small odd topology as YAML. The same seed gives the same bytes. */
void judge_random_topo(FILE *out, uint64_t seed);

/* Whether there is a way for row `number`, for all its parts, on the planes that this gives them.
 */
bool judge_has_route(const struct judge_topo *t, const struct judge_row *row, size_t number);

/* A random topology with a net; for kernels with all ways that they may take. */
void judge_random_net(FILE *out, uint64_t seed);
void judge_random_kernel_net(FILE *out, uint64_t seed);

/*
 * The same of any shape: rings, planes, broken links, IO chiplets on any side, grids of SIPs. For
 * kernels: all cubes and PEs are there, with a way between any two on any plane.
 */
void judge_random_shape(FILE *out, uint64_t seed);
void judge_random_kernel_shape(FILE *out, uint64_t seed);

/* Machines of both kinds, by turns, whose slices have banks; and for kernels. */
void judge_random_banks(FILE *out, uint64_t seed);
void judge_random_kernel_banks(FILE *out, uint64_t seed);

/* The same whose cubes have an L2. */
void judge_random_l2(FILE *out, uint64_t seed);
void judge_random_kernel_l2(FILE *out, uint64_t seed);

/* The same whose slices have caches. */
void judge_random_caches(FILE *out, uint64_t seed);
void judge_random_kernel_caches(FILE *out, uint64_t seed);

/* A small odd machine whose links have routers, and whose channels form no cycle. */
void judge_random_routers(FILE *out, uint64_t seed);
void judge_random_router_banks(FILE *out, uint64_t seed);  /* whose slices have banks */
void judge_random_router_caches(FILE *out, uint64_t seed); /* whose slices have caches */

/* The same with meshes inside several cubes, and with routes around what is missing or broken:
 * kbgen refuses some of them. */
void judge_random_detours(FILE *out, uint64_t seed);

/* Nets with routers. */
void judge_random_router_nets(FILE *out, uint64_t seed);

/* Lets some of `n` rows wait for others, earlier and later ones, but never in a circle. */
void judge_random_after(struct judge_row *rows, size_t n, uint64_t seed);

/* A replay file of `n` rows for `t`, full of ties and of hot memories. */
void judge_random_rows(FILE *out, const struct judge_topo *t, uint64_t seed, size_t n);

/* -- its own ends (ends.c) ------------------------------------------------------------------ */

/*
 * snprintf() for names, which knows %u and %s alone: names are most of what the judge makes. One
 * that is too long is a bug of the judge's.
 */
void judge_name(char text[JUDGE_NAME_BYTES], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void judge_vname(char text[JUDGE_NAME_BYTES], const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* A hash of a text. */
uint32_t judge_hash(const char *text);

/* A bug of the judge's: message and abort(). */
_Noreturn void judge_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* calloc and realloc that do not fail. */
void *judge_alloc(size_t n, size_t bytes);
void *judge_grow(void *old, size_t n, size_t bytes);
#endif
