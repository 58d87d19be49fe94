/* test_flow.c -- what goes in comes out: edges and stations against a recount, and queueing theory.
 */
#include "judge/events.h"
#include "support/any_topology.h"
#include "support/rig.h"

#include <math.h>

#include "cube8.h"

/* -- one load, run and judged --------------------------------------------------------------- */

enum { MOST_USES = 40000 };

/* One edge, by its ends. */
struct edge {
    char from[KB_NODE_BYTES], to[KB_NODE_BYTES];
    double gbs;
    uint64_t count, bytes;
    int64_t busy_fs;
};

struct rig {
    const kb_topology *topo;
    struct judge_topo *judge;
    struct judge_row *rows;
    struct judge_result *results;
    size_t n;
    kb_sim *sim;
    bool fifo;
    struct judge_use *uses; /* as the judge counts stations */
    size_t n_uses;
    /* as kb_sim_utilization() shows them */
    struct edge *edges;
    kb_utilization *nodes, *stations;
    size_t n_edges, n_nodes, n_stations;
};

static void keep_edge(struct rig *r, const kb_utilization *use)
{
    struct edge *e = &r->edges[r->n_edges++];

    memset(e, 0, sizeof *e);
    strcpy(e->from, use->from);
    strcpy(e->to, use->to);
    e->gbs = use->gbs;
    e->count = use->count;
    e->bytes = use->bytes;
    e->busy_fs = use->busy_fs;
}

/* Links of fifo are edges and stations. */
static void keep_use(void *arg, const kb_utilization *use)
{
    struct rig *r = arg;

    assert_true(r->n_edges < MOST_USES && r->n_nodes < MOST_USES && r->n_stations < MOST_USES);
    if (use->kind == KB_AT_LINK)
        keep_edge(r, use);
    if (use->kind == KB_AT_NODE)
        r->nodes[r->n_nodes++] = *use;
    else if (use->queues)
        r->stations[r->n_stations++] = *use;
}

/* Asks `sim` for all that it has used; r->edges, nodes and stations are owned. */
static void keep_usage(struct rig *r, const kb_sim *sim)
{
    r->edges = calloc(MOST_USES, sizeof *r->edges);
    r->nodes = calloc(MOST_USES, sizeof *r->nodes);
    r->stations = calloc(MOST_USES, sizeof *r->stations);
    assert_int_equal(kb_sim_utilization(sim, keep_use, r), KB_OK);
}

static void free_usage(struct rig *r)
{
    free(r->edges);
    free(r->nodes);
    free(r->stations);
}

/* A machine and its judge, with no rows yet. */
static struct rig new_rig(const kb_topology *topo)
{
    struct rig r = {.topo = topo};
    kb_info info;

    kb_topology_info(topo, &info);
    r.fifo = strcmp(info.links, "fifo") == 0;
    r.judge = judge_load_text(info.config);
    return r;
}

/* Runs r->rows, and has them judged. */
static void run_rig(struct rig *r, kb_engine engine)
{
    uint64_t fingerprint;

    r->results = calloc(r->n, sizeof *r->results);
    r->sim = new_sim(r->topo, (kb_options){.engine = engine});
    assert_true(judge_replay_watched(r->judge, r->rows, r->n, r->results, &fingerprint, &r->uses,
                                     &r->n_uses, NULL));
    for (size_t i = 0; i < r->n; i++) {
        kb_transaction request = request_of(&r->rows[i]);

        add(r->sim, &request);
    }
    run_all(r->sim);
    keep_usage(r, r->sim);
}

/* Runs random rows on `topo`. */
static struct rig run_rows(const kb_topology *topo, kb_engine engine, uint64_t seed, size_t n)
{
    struct rig r = new_rig(topo);

    r.rows = random_rows(r.judge, seed, n);
    one_target_each(r.rows, n);
    r.n = n;
    run_rig(&r, engine);
    return r;
}

static void free_rig(struct rig *r)
{
    kb_sim_free(r->sim);
    free(r->rows);
    free(r->results);
    free(r->uses);
    free_usage(r);
    judge_free(r->judge);
}

/* Calls `check` with loads of random machines, and with some of the compiled cube8. */
static void each_rig(void (*check)(struct rig *r))
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        char *yaml = printed(judge_random_topo, seed);
        const kb_topology *topo = any_topology(yaml);
        struct rig r = run_rows(topo, seed % 3 ? KB_FUSED : KB_HOP, seed, 60);

        check(&r);
        free_rig(&r);
        any_topology_free(topo);
        free(yaml);
    }
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct rig r = run_rows(&cube8_topology, KB_FUSED, seed, 300);

        check(&r);
        free_rig(&r);
    }
}

static bool writes(const struct judge_row *row)
{
    return row->op == JUDGE_WRITE || row->op == JUDGE_H2D;
}

static struct judge_route route_of(const struct rig *r, const struct judge_row *row)
{
    struct judge_route route = {0};

    assert_true(judge_route(r->judge, row->op, &row->src, &row->dst, &route));
    return route;
}

/* -- times ---------------------------------------------------------------------------------- */

static void check_terms(struct rig *r)
{
    for (size_t i = 0; i < r->n; i++) {
        kb_result x = result_of(r->sim, i);

        assert_true(x.actual_fs == x.end_fs - x.issue_fs);
        assert_true(x.actual_fs == x.wire_fs + x.overhead_fs + x.drain_fs + x.response_fs +
                                       kb_wait_sum_fs(x.wait_fs));
        if (!judge_runs_alone(r->judge, &r->rows[i]))
            assert_true(x.formula_fs == x.wire_fs + x.overhead_fs + x.drain_fs + x.response_fs);
        assert_true(x.issue_fs <= x.start_fs && x.start_fs <= x.arrive_fs);
        assert_true(x.arrive_fs <= x.service_fs && x.service_fs < x.done_fs);
        assert_true(x.end_fs == x.done_fs + x.response_fs);
    }
}

/* docs/model.md "Stations and queues": "`actual = end - issue = wire + ... + queue_memory`,
 * exactly" */
static void terms_sum_to_the_time_that_was_taken(void **state)
{
    (void)state;
    each_rig(check_terms);
}

/* -- edges ---------------------------------------------------------------------------------- */

static int by_ends(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    int order = strcmp(x->from, y->from);

    return order ? order : strcmp(x->to, y->to);
}

/* The packets of a row; to be freed. */
static size_t packets_of(const struct rig *r, const struct judge_row *row,
                         struct judge_piece **packets)
{
    const struct judge_piece whole = {
        .memory = row->dst, .offset = row->offset, .nbytes = row->nbytes};
    bool host = row->op == JUDGE_H2D || row->op == JUDGE_D2H;

    return judge_cut(r->judge, host ? NULL : &row->src, &whole, NULL, packets);
}

/* Passes of `nbytes` of a row behind the `n` that there are; data of a read goes the other way. */
static size_t pass(const struct judge_row *row, const struct judge_route *route, uint64_t nbytes,
                   struct edge *passes, size_t n)
{
    for (size_t h = 1; h < route->n; h++) {
        struct edge *e = &passes[n++];
        const char *from = route->hops[h - 1].name, *to = route->hops[h].name;

        assert_true(n <= MOST_USES);
        strcpy(e->from, writes(row) ? from : to);
        strcpy(e->to, writes(row) ? to : from);
        e->gbs = route->hops[h].edge_gbs;
        e->count = 1;
        e->bytes = nbytes;
        e->busy_fs = llround((double)nbytes * 1e6 / e->gbs);
    }
    return n;
}

/* All passes of all packets of all rows over edges, by the judge's routes. */
static size_t recount(const struct rig *r, struct edge *passes)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n; i++) {
        const struct judge_row *row = &r->rows[i];
        struct judge_piece *packets = NULL;
        size_t n_packets = packets_of(r, row, &packets);
        struct judge_route route = route_of(r, row);

        for (size_t k = 0; k < n_packets; k++)
            n = pass(row, &route, packets[k].nbytes, passes, n);
        judge_route_clear(&route);
        free(packets);
    }
    return n;
}

/* Sorted passes into one row per edge. */
static size_t summed(struct edge *passes, size_t n)
{
    size_t last = 0;

    for (size_t i = 1; i < n; i++) {
        if (by_ends(&passes[last], &passes[i]) != 0) {
            passes[++last] = passes[i];
            continue;
        }
        passes[last].count++;
        passes[last].bytes += passes[i].bytes;
        passes[last].busy_fs += passes[i].busy_fs;
    }
    return n ? last + 1 : 0;
}

static void check_edges(struct rig *r)
{
    struct edge *expected = calloc(MOST_USES, sizeof *expected);
    size_t n = recount(r, expected);

    qsort(expected, n, sizeof *expected, by_ends);
    n = summed(expected, n);
    qsort(r->edges, r->n_edges, sizeof *r->edges, by_ends);
    for (size_t i = 0; i < n && i < r->n_edges; i++) {
        const struct edge *a = &r->edges[i], *b = &expected[i];
        int64_t busy_fs = r->fifo ? b->busy_fs : llround((double)b->bytes * 1e6 / b->gbs);

        if (by_ends(a, b) != 0)
            fail_msg("%s -> %s is used, not %s -> %s", a->from, a->to, b->from, b->to);
        if (a->count != b->count || a->bytes != b->bytes || a->gbs != b->gbs ||
            a->busy_fs != busy_fs)
            fail_msg("%s -> %s: %" PRIu64 " times, %" PRIu64 " bytes, %" PRId64 " fs, not %" PRIu64
                     ", %" PRIu64 ", %" PRId64,
                     a->from, a->to, a->count, a->bytes, a->busy_fs, b->count, b->bytes, busy_fs);
    }
    assert_int_equal(r->n_edges, n);
    free(expected);
}

/* docs/model.md "Links: fifo and ideal": "a read takes the opposite direction of each edge"; spread
 * over edges at the end
 */
static void edges_carry_what_a_recount_says(void **state)
{
    (void)state;
    each_rig(check_edges);
}

/* More pairs of cubes than FLOW_PAIRS_MOST: nodes and edges of each route are counted one by one.
 */
static void edges_of_many_cubes_too(void **state)
{
    const kb_topology *topo =
        any_topology("kernbench: 2\nname: many\nsip: {cube_mesh: {w: 65, h: 4}}\n"
                     "cube: {pes: 1, hbm: {slices: 1}}\nmissing: [c1]\n");
    struct rig r = run_rows(topo, KB_FUSED, 1, 60);

    (void)state;
    check_edges(&r);
    free_rig(&r);
    any_topology_free(topo);
}

/* What flows into a node less what flows out, in bytes. */
struct balance {
    char node[KB_NODE_BYTES];
    int64_t bytes;
};

static int by_node(const void *a, const void *b)
{
    return strcmp(((const struct balance *)a)->node, ((const struct balance *)b)->node);
}

static void book(struct balance *books, size_t *n, const char *node, int64_t bytes)
{
    assert_true(*n < 2 * MOST_USES);
    strcpy(books[*n].node, node);
    books[(*n)++].bytes = bytes;
}

/* Data begins at the memory of a read and at the source of a write, and ends at the other. */
static void book_rows(const struct rig *r, struct balance *books, size_t *n)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct judge_row *row = &r->rows[i];
        struct judge_route route = route_of(r, row);
        int64_t bytes = writes(row) ? (int64_t)row->nbytes : -(int64_t)row->nbytes;

        book(books, n, route.hops[0].name, bytes);
        book(books, n, route.hops[route.n - 1].name, -bytes);
        judge_route_clear(&route);
    }
}

static void check_balance(struct rig *r)
{
    struct balance *books = calloc(2 * MOST_USES, sizeof *books);
    size_t n = 0;

    for (size_t i = 0; i < r->n_edges; i++) {
        book(books, &n, r->edges[i].from, -(int64_t)r->edges[i].bytes);
        book(books, &n, r->edges[i].to, (int64_t)r->edges[i].bytes);
    }
    book_rows(r, books, &n);
    qsort(books, n, sizeof *books, by_node);
    for (size_t i = 0; i < n;) {
        const char *node = books[i].node;
        int64_t bytes = 0;

        for (; i < n && strcmp(books[i].node, node) == 0; i++)
            bytes += books[i].bytes;
        if (bytes)
            fail_msg("%s: %" PRId64 " bytes more flow in than out", node, bytes);
    }
    free(books);
}

static void every_node_passes_on_what_it_gets(void **state)
{
    (void)state;
    each_rig(check_balance);
}

static void check_links_are_not_full(struct rig *r)
{
    for (size_t i = 0; r->fifo && i < r->n_edges; i++)
        assert_true(r->edges[i].busy_fs <= kb_sim_end_fs(r->sim));
}

/* docs/model.md "Links: fifo and ideal": "No station is ever more than 100 % used: asserted." */
static void no_link_is_used_more_than_all_the_time(void **state)
{
    (void)state;
    each_rig(check_links_are_not_full);
}

/* -- nodes ---------------------------------------------------------------------------------- */

static void check_nodes(struct rig *r)
{
    kb_utilization *passed = calloc(r->judge->n_nodes, sizeof *passed);
    size_t n = 0;

    for (size_t i = 0; i < r->n; i++) {
        struct judge_route route = route_of(r, &r->rows[i]);
        struct judge_piece *packets = NULL;
        size_t n_packets = packets_of(r, &r->rows[i], &packets);

        for (size_t h = 0; h < route.n; h++) {
            kb_utilization *use = &passed[route.hops[h].node];

            use->count += n_packets;
            use->bytes += r->rows[i].nbytes;
            use->busy_fs += (int64_t)n_packets * r->judge->nodes[route.hops[h].node].overhead_fs;
        }
        judge_route_clear(&route);
        free(packets);
    }
    for (size_t i = 0; i < r->n_nodes; i++) {
        const kb_utilization *use = &r->nodes[i];
        size_t node = judge_find_node(r->judge, use->name);

        assert_true(node != SIZE_MAX);
        if (use->count != passed[node].count || use->bytes != passed[node].bytes ||
            use->busy_fs != passed[node].busy_fs)
            fail_msg("%s: %" PRIu64 " times, %" PRIu64 " bytes, %" PRId64 " fs, not %" PRIu64
                     ", %" PRIu64 ", %" PRId64,
                     use->name, use->count, use->bytes, use->busy_fs, passed[node].count,
                     passed[node].bytes, passed[node].busy_fs);
        assert_true(use->servers == 0 && !use->queues && use->util_pct == 0);
    }
    for (size_t i = 0; i < r->judge->n_nodes; i++)
        n += passed[i].count > 0;
    assert_int_equal(r->n_nodes, n);
    free(passed);
}

/* Every node of a route is passed once by each of its transactions, io_noc twice by a host's. */
static void nodes_are_passed_as_a_recount_says(void **state)
{
    (void)state;
    each_rig(check_nodes);
}

/* From each cube, and from each host, to each cube; each row with bytes of its own. */
static void add_all_pairs(struct rig *r, uint32_t sips, uint32_t cubes)
{
    uint32_t all = sips * cubes, pes = judge_count(r->judge, "cube.pes");

    r->rows = calloc((size_t)(all + 1) * all, sizeof *r->rows);
    for (uint32_t from = 0; from <= all; from++)
        for (uint32_t to = 0; to < all; to++) {
            struct judge_row *row = &r->rows[r->n];
            bool host = from == all, write = r->n % 3 == 0;

            row->src.kind = host ? JUDGE_HOST : JUDGE_PE;
            row->src.sip = host ? to / cubes : from / cubes;
            row->src.cube = host ? 0 : from % cubes;
            row->src.unit = host ? 0 : to % pes;
            row->dst = (struct judge_end){JUDGE_SLICE, to / cubes, to % cubes, from % pes};
            row->op = write ? (host ? JUDGE_H2D : JUDGE_WRITE) : (host ? JUDGE_D2H : JUDGE_READ);
            row->nbytes = 64 + r->n++;
        }
}

/* No pair of cubes is missed or mistaken for another: rows, columns, and several SIPs. */
static void all_pairs_of_cubes_are_told_apart(void **state)
{
    static const uint32_t machines[][3] = {/* SIPs, columns, rows */ {1, 5, 1},
                                           {1, 1, 5},
                                           {1, 4, 4},
                                           {2, 1, 4},
                                           {3, 3, 2},
                                           {4, 3, 1},
                                           {5, 1, 1}};

    (void)state;
    for (size_t i = 0; i < 2 * LENGTH(machines); i++) {
        const uint32_t *m = machines[i / 2];
        char yaml[256];
        struct rig r;

        snprintf(yaml, sizeof yaml,
                 "kernbench: 1\nname: pairs\ncontention: {links: %s}\nsips: %u\n"
                 "sip: {cube_mesh: {w: %u, h: %u}}\n",
                 i % 2 ? "fifo" : "ideal", m[0], m[1], m[2]);
        r = new_rig(any_topology(yaml));
        add_all_pairs(&r, m[0], m[1] * m[2]);
        run_rig(&r, i % 4 < 2 ? KB_FUSED : KB_HOP);
        check_edges(&r);
        check_balance(&r);
        check_nodes(&r);
        free_rig(&r);
        any_topology_free(r.topo);
    }
}

/* a mistake of the past: "a zero-length UCIe shortcut taken by cube-local traffic" */
static void local_traffic_leaves_no_trace_outside_its_cube(void **state)
{
    struct rig r = {.topo = &cube8_topology};

    (void)state;
    r.sim = new_sim(r.topo, (kb_options){0});
    for (uint32_t i = 0; i < 8 * 9 * 2; i++) {
        kb_transaction x = {.op = i % 2 ? KB_READ : KB_WRITE, .nbytes = 64};

        x.src = (kb_endpoint){KB_PE, 0, 5, i / 2 / 9};
        x.dst = (kb_endpoint){KB_SLICE, 0, 5, i / 2 % 9};
        if (x.dst.unit == 8)
            x.dst = (kb_endpoint){KB_SRAM, 0, 5, 0};
        add(r.sim, &x);
    }
    run_all(r.sim);
    keep_usage(&r, r.sim);
    assert_true(r.n_edges > 40);
    for (size_t i = 0; i < r.n_edges; i++) {
        assert_ptr_equal(strstr(r.edges[i].from, "sip0.cube5."), r.edges[i].from);
        assert_ptr_equal(strstr(r.edges[i].to, "sip0.cube5."), r.edges[i].to);
        assert_null(strstr(r.edges[i].from, "ucie"));
        assert_null(strstr(r.edges[i].to, "ucie"));
    }
    free_usage(&r);
    kb_sim_free(r.sim);
}

/* -- stations ------------------------------------------------------------------------------- */

static const struct judge_use *judged(const struct rig *r, const char *name)
{
    for (size_t i = 0; i < r->n_uses; i++)
        if (strcmp(r->uses[i].name, name) == 0)
            return &r->uses[i];
    fail_msg("the judge has not used %s", name);
    return NULL;
}

/* Of the edge "A -> B": where there is only the other direction, its. */
static uint32_t lanes_of(const struct rig *r, const char *name)
{
    const char *arrow = strstr(name, " -> ");
    char first[JUDGE_NAME_BYTES];
    size_t from, to, edge;

    snprintf(first, sizeof first, "%.*s", (int)(arrow - name), name);
    from = judge_find_node(r->judge, first);
    to = judge_find_node(r->judge, arrow + strlen(" -> "));
    edge = judge_find_edge(r->judge, from, to, 0);
    if (edge == SIZE_MAX)
        edge = judge_find_edge(r->judge, to, from, 0);
    assert_true(edge != SIZE_MAX);
    return r->judge->edges[edge].lanes;
}

static uint32_t servers_of(const struct rig *r, const char *name)
{
    bool write = strstr(name, ".write") != NULL;
    uint32_t sip = 0, cube = 0;

    sscanf(name, "sip%u.cube%u.", &sip, &cube);
    if (strstr(name, " -> "))
        return lanes_of(r, name);

    if (strstr(name, ".m_cpu."))
        return judge_cube_count(r->judge, sip, cube,
                                write ? "cube.m_cpu.dma_write" : "cube.m_cpu.dma_read");
    if (!strstr(name, ".pe_dma."))
        return 1;
    return judge_cube_count(r->judge, sip, cube,
                            write ? "cube.pe.pe_dma.write_channels"
                                  : "cube.pe.pe_dma.read_channels");
}

/* Little: the mean number of those that wait is the sum of their waits over the time. */
static void check_station(const struct rig *r, const kb_utilization *use)
{
    const struct judge_use *expected = judged(r, use->name);
    double end_fs = (double)kb_sim_end_fs(r->sim), wait_fs = (double)expected->wait_fs;
    double util_pct = 100 * (double)expected->busy_fs / (use->servers * end_fs);

    if (use->count != expected->count || use->bytes != expected->bytes ||
        use->busy_fs != expected->busy_fs || fabs(use->wait_ns - wait_fs / 1e6) > 1e-9 * wait_fs ||
        use->queue_max != expected->longest)
        fail_msg("%s: %" PRIu64 " times, %" PRIu64 " bytes, %" PRId64
                 " fs, waits %f ns, %d in line, not %" PRIu64 ", %" PRIu64 ", %" PRId64 ", %f, %u",
                 use->name, use->count, use->bytes, use->busy_fs, use->wait_ns, (int)use->queue_max,
                 expected->count, expected->bytes, expected->busy_fs, wait_fs / 1e6,
                 expected->longest);
    assert_int_equal(use->servers, servers_of(r, use->name));
    assert_true(fabs(use->util_pct - util_pct) < 1e-9 && use->util_pct <= 100 + 1e-9);
    assert_true(fabs(use->queue_mean - wait_fs / end_fs) < 1e-9 * (1 + use->queue_mean));
}

static void check_stations(struct rig *r)
{
    uint64_t memory_bytes = 0, first_bytes = 0, rows_bytes = 0;

    for (size_t i = 0; i < r->n_stations; i++) {
        const kb_utilization *use = &r->stations[i];

        check_station(r, use);
        if (use->kind == KB_AT_MEMORY)
            memory_bytes += use->bytes;
        else if (use->kind != KB_AT_LINK)
            first_bytes += use->bytes;
    }
    assert_int_equal(r->n_stations, r->n_uses);
    for (size_t i = 0; i < r->n; i++)
        rows_bytes += r->rows[i].nbytes;
    assert_true(memory_bytes == rows_bytes); /* every row passes one memory */
    assert_true(first_bytes == rows_bytes);  /* and one channel or engine */
}

static void stations_served_what_a_recount_says(void **state)
{
    (void)state;
    each_rig(check_stations);
}

struct longest {
    const char *name;
    int64_t queue_max;
    double wait_ns;
};

static void find_longest(void *arg, const kb_utilization *use)
{
    struct longest *l = arg;

    if (strcmp(use->name, l->name) == 0 && use->queues) {
        l->queue_max = use->queue_max;
        l->wait_ns = use->wait_ns;
    }
}

/* Of ten reads at once by one PE nine wait; of one read by each of 8 PEs seven wait at the slice.
 */
static void longest_queue_is_known(void **state)
{
    kb_sim *sim = new_sim(&cube8_topology, (kb_options){0});
    struct longest channel = {.name = "sip0.cube2.pe3.pe_dma.read"};
    struct longest slice = {.name = "sip0.cube4.hbm_ctrl.slice1"};

    (void)state;
    for (uint32_t i = 0; i < 10; i++)
        issue(sim, &cube8_topology, 0, KB_READ, "c2.pe3", "c2.slice3", 4096);
    for (uint32_t pe = 0; pe < 8; pe++) {
        kb_transaction r = {.op = KB_WRITE, .nbytes = 1 << 20};

        r.src = (kb_endpoint){KB_PE, 0, 4, pe};
        r.dst = (kb_endpoint){KB_SLICE, 0, 4, 1};
        add(sim, &r);
    }
    run_all(sim);
    assert_int_equal(kb_sim_utilization(sim, find_longest, &channel), KB_OK);
    assert_int_equal(kb_sim_utilization(sim, find_longest, &slice), KB_OK);
    assert_int_equal(channel.queue_max, 9);
    assert_int_equal(slice.queue_max, 7);
    kb_sim_free(sim);
}

/* -- queueing theory ------------------------------------------------------------------------ */

enum { ARRIVALS = 400000, BATCHES = 40 };

/* Mean waits of equal parts of a run: their spread says how far the mean of all can be off. */
static void mean_of_batches(const kb_sim *sim, double *mean, double *error)
{
    double sum = 0, squares = 0;

    for (uint64_t b = 0; b < BATCHES; b++) {
        double wait_fs = 0;

        for (uint64_t i = 0; i < ARRIVALS / BATCHES; i++)
            wait_fs += (double)result_of(sim, b * (ARRIVALS / BATCHES) + i).wait_fs[KB_WAIT_MEMORY];
        wait_fs /= ARRIVALS / BATCHES;
        sum += wait_fs;
        squares += wait_fs * wait_fs;
    }
    *mean = sum / BATCHES;
    *error = sqrt((squares / BATCHES - *mean * *mean) / (BATCHES - 1));
}

/*
 * Poisson arrivals at one slice, which serves 4096 bytes in 16 ns. The mean wait is that of
 * M/D/1, rho * service / (2 (1 - rho)), within four standard errors; these are a few per cent.
 */
static void assert_m_d_1(double rho)
{
    const double service_fs = 16e6, expected_fs = rho * service_fs / (2 * (1 - rho));
    const kb_topology *t =
        any_topology("kernbench: 1\nname: queue\nsip: {cube_mesh: {w: 1, h: 1}}\n"
                     "cube: {pe: {pe_dma: {read_channels: 65536}}}\n");
    kb_transaction r = {
        .op = KB_READ, .src = {KB_PE, 0, 0, 0}, .dst = {KB_SLICE, 0, 0, 0}, .nbytes = 4096};
    kb_sim *sim = new_sim(t, (kb_options){0});
    uint64_t dice = 20;
    double now_fs = 0, mean_fs, error_fs;

    for (int i = 0; i < ARRIVALS; i++) {
        double u = ((double)(draw(&dice) >> 11) + 0.5) * 0x1p-53; /* in (0, 1) */

        now_fs -= log(u) * service_fs / rho;
        r.issue_fs = (int64_t)now_fs;
        add(sim, &r);
    }
    run_all(sim);
    mean_of_batches(sim, &mean_fs, &error_fs);
    kb_sim_free(sim);
    any_topology_free(t);
    if (fabs(mean_fs - expected_fs) > 4 * error_fs || error_fs > 0.04 * expected_fs)
        fail_msg("rho %.2f: mean wait %.0f fs, standard error %.0f; M/D/1 says %.0f", rho, mean_fs,
                 error_fs, expected_fs);
}

/* Pollaczek and Khinchine */
static void slice_under_poisson_arrivals_is_an_m_d_1_queue(void **state)
{
    static const double rhos[] = {0.1, 0.3, 0.5, 0.7, 0.8, 0.9};

    (void)state;
    for (size_t i = 0; i < LENGTH(rhos); i++)
        assert_m_d_1(rhos[i]);
}

/* The same rows once more: all that is said of nodes, edges and stations is the same. */
static void check_same(struct rig *r, kb_options options)
{
    kb_sim *sim = new_sim(r->topo, options);
    struct rig other = {.topo = r->topo};

    for (size_t i = 0; i < r->n; i++) {
        kb_transaction request = request_of(&r->rows[i]);

        add(sim, &request);
    }
    run_all(sim);
    keep_usage(&other, sim);
    assert_int_equal(other.n_edges, r->n_edges);
    assert_int_equal(other.n_nodes, r->n_nodes);
    assert_int_equal(other.n_stations, r->n_stations);
    assert_memory_equal(other.edges, r->edges, r->n_edges * sizeof *r->edges);
    assert_memory_equal(other.nodes, r->nodes, r->n_nodes * sizeof *r->nodes);
    assert_memory_equal(other.stations, r->stations, r->n_stations * sizeof *r->stations);
    assert_int_equal(kb_sim_end_fs(sim), kb_sim_end_fs(r->sim));
    kb_sim_free(sim);
    free_usage(&other);
}

static void check_same_counted(struct rig *r)
{
    check_same(r, (kb_options){.engine = KB_FUSED, .fingerprint = true});
    check_same(r, (kb_options){.engine = KB_HOP});
}

/* An engine may skip events that nothing waits for: docs/model.md "Order of events". Nothing that
 * is counted changes. */
static void skipped_events_change_no_statistics(void **state)
{
    (void)state;
    each_rig(check_same_counted);
}

/* -- runs that end early -------------------------------------------------------------------- */

/* How much of [from, to] lies before `until`. */
static int64_t before(int64_t from, int64_t to, int64_t until)
{
    to = to < until ? to : until;
    return to > from ? to - from : 0;
}

/* Bytes that its memory moves for a row, which has one part. */
static uint64_t moved_bytes(const struct rig *r, const struct judge_row *row)
{
    struct judge_piece *parts = NULL;
    size_t n = judge_cut_row(r->judge, row, &parts);
    uint64_t nbytes = n == 1 ? judge_moved_bytes(r->judge, &parts[0]) : row->nbytes;

    judge_free_parts(parts, n);
    return nbytes;
}

/* A memory or a PE's channel, by what the judge says of a whole run. */
static void recount_until(const struct rig *r, const kb_utilization *use, int64_t until_fs)
{
    int64_t busy_fs = 0, wait_fs = 0;
    uint64_t count = 0;

    for (size_t i = 0; i < r->n; i++) {
        const struct judge_row *row = &r->rows[i];
        const struct judge_result *x = &r->results[i];
        struct judge_route route = route_of(r, row);
        char channel[KB_PLACE_BYTES];
        bool host = row->op == JUDGE_H2D || row->op == JUDGE_D2H;

        snprintf(channel, sizeof channel, "%s.%s", route.hops[0].name,
                 writes(row) ? "write" : "read");
        if (strcmp(use->name, route.hops[route.n - 1].name) == 0) {
            const struct judge_hop *memory = &route.hops[route.n - 1];
            bool late = false;
            int64_t held_fs =
                judge_held_fs(r->judge, &row->dst, moved_bytes(r, row), writes(row),
                              memory->overhead_fs - route.latency_fs, x->drain_fs, &late);

            busy_fs += before(x->service_fs, x->service_fs + held_fs, until_fs);
            wait_fs += before(x->arrive_fs, x->service_fs, until_fs);
            count += x->done_fs <= until_fs;
        } else if (!host && strcmp(use->name, channel) == 0) {
            busy_fs += before(x->start_fs, x->done_fs, until_fs);
            wait_fs += before(x->issue_fs, x->start_fs, until_fs);
            count += x->done_fs <= until_fs;
        }
        judge_route_clear(&route);
    }
    if (use->busy_fs != busy_fs || fabs(use->wait_ns * 1e6 - (double)wait_fs) > 1 ||
        use->count != count)
        fail_msg("%s until %" PRId64 " fs: %" PRIu64 " times, %" PRId64
                 " fs, waits %f ns, not %" PRIu64 ", %" PRId64 ", %f",
                 use->name, until_fs, use->count, use->busy_fs, use->wait_ns, count, busy_fs,
                 (double)wait_fs / 1e6);
    assert_true(fabs(use->queue_mean * (double)until_fs - (double)wait_fs) <
                1 + 1e-9 * (double)wait_fs);
}

static struct rig stopped(const struct rig *r, kb_engine engine, int64_t until_fs)
{
    struct rig part = {.sim =
                           new_sim(r->topo, (kb_options){.engine = engine, .until_fs = until_fs})};

    for (size_t i = 0; i < r->n; i++) {
        kb_transaction request = request_of(&r->rows[i]);

        add(part.sim, &request);
    }
    assert_int_equal(kb_sim_run(part.sim, 0, NULL), KB_STOPPED);
    keep_usage(&part, part.sim);
    return part;
}

/* Of what goes in packets the judge tells only the last one's times. */
static bool is_whole(const struct rig *r)
{
    kb_info info;

    kb_topology_info(r->topo, &info);
    return !info.packets;
}

static void check_until(struct rig *r)
{
    for (int64_t eighth = 1; eighth < 8; eighth += 3) {
        int64_t until_fs = kb_sim_end_fs(r->sim) / 8 * eighth + 1;
        struct rig fused = stopped(r, KB_FUSED, until_fs), hop = stopped(r, KB_HOP, until_fs);

        for (size_t i = 0; i < fused.n_stations; i++) {
            const kb_utilization *use = &fused.stations[i];

            assert_true(use->util_pct <= 100 + 1e-9);
            if (is_whole(r) && (use->kind == KB_AT_MEMORY || use->kind == KB_AT_CHANNEL))
                recount_until(r, use, until_fs);
        }
        assert_int_equal(fused.n_stations, hop.n_stations);
        assert_memory_equal(fused.stations, hop.stations,
                            fused.n_stations * sizeof *fused.stations);
        kb_sim_free(fused.sim);
        kb_sim_free(hop.sim);
        free_usage(&fused);
        free_usage(&hop);
    }
}

static void a_run_that_ends_early_has_used_what_it_had_until_then(void **state)
{
    (void)state;
    each_rig(check_until);
}

/*
 * Five writes at once enter the first link 16 ns after one another: four wait. The next link takes
 * each for 32 ns: when the fifth comes, 64 ns after the first, the third enters, and two wait.
 */
static void longest_queue_of_a_link_is_known(void **state)
{
    const kb_topology *t =
        any_topology("kernbench: 1\nname: queue\nsip: {cube_mesh: {w: 1, h: 1}}\n"
                     "contention: {links: fifo}\n"
                     "cube: {pe: {pe_dma: {write_channels: 8}}}\n");
    struct longest first = {.name = "sip0.cube0.pe0.pe_dma -> sip0.cube0.xbar.pe0"};
    struct longest next = {.name = "sip0.cube0.xbar.pe0 -> sip0.cube0.xbar.pe1"};
    kb_sim *sim = new_sim(t, (kb_options){0});

    (void)state;
    for (uint32_t i = 0; i < 5; i++)
        issue(sim, t, 0, KB_WRITE, "c0.pe0", "c0.slice1", 4096);
    issue(sim, t, 500 * KB_FS_PER_NS, KB_WRITE, "c0.pe0", "c0.slice1", 4096);
    run_all(sim);
    assert_int_equal(kb_sim_utilization(sim, find_longest, &first), KB_OK);
    assert_int_equal(kb_sim_utilization(sim, find_longest, &next), KB_OK);
    assert_int_equal(first.queue_max, 4);
    assert_int_equal(next.queue_max, 2);
    kb_sim_free(sim);
    any_topology_free(t);
}

/* Of the same five two have waited 16 and 32 ns when the run ends at 40 ns; two still wait. */
static void who_waits_for_a_link_has_waited_until_the_run_ends(void **state)
{
    const kb_topology *t =
        any_topology("kernbench: 1\nname: queue\nsip: {cube_mesh: {w: 1, h: 1}}\n"
                     "contention: {links: fifo}\n"
                     "cube: {pe: {pe_dma: {write_channels: 8}}}\n");
    struct longest first = {.name = "sip0.cube0.pe0.pe_dma -> sip0.cube0.xbar.pe0"};
    kb_sim *sim = new_sim(t, (kb_options){.until_fs = 40 * KB_FS_PER_NS});

    (void)state;
    for (uint32_t i = 0; i < 5; i++)
        issue(sim, t, 0, KB_WRITE, "c0.pe0", "c0.slice1", 4096);
    assert_int_equal(kb_sim_run(sim, 0, NULL), KB_STOPPED);
    assert_int_equal(kb_sim_utilization(sim, find_longest, &first), KB_OK);
    assert_int_equal(first.queue_max, 4);
    assert_true(fabs(first.wait_ns - (16 + 32 + 40 + 40)) < 1e-6);
    kb_sim_free(sim);
    any_topology_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skipped_events_change_no_statistics),
        cmocka_unit_test(terms_sum_to_the_time_that_was_taken),
        cmocka_unit_test(edges_carry_what_a_recount_says),
        cmocka_unit_test(edges_of_many_cubes_too),
        cmocka_unit_test(every_node_passes_on_what_it_gets),
        cmocka_unit_test(nodes_are_passed_as_a_recount_says),
        cmocka_unit_test(all_pairs_of_cubes_are_told_apart),
        cmocka_unit_test(no_link_is_used_more_than_all_the_time),
        cmocka_unit_test(local_traffic_leaves_no_trace_outside_its_cube),
        cmocka_unit_test(stations_served_what_a_recount_says),
        cmocka_unit_test(longest_queue_is_known),
        cmocka_unit_test(longest_queue_of_a_link_is_known),
        cmocka_unit_test(who_waits_for_a_link_has_waited_until_the_run_ends),
        cmocka_unit_test(a_run_that_ends_early_has_used_what_it_had_until_then),
        cmocka_unit_test(slice_under_poisson_arrivals_is_an_m_d_1_queue),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
