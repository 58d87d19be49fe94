/*
 * campaign.c -- many random loads on many random machines: both engines say what the judge says.
 *
 * usage: campaign KIND MACHINES LOADS, as in: campaign any 1-20 0-50
 *
 * KIND is plain or any (of any shape), or these with interleaved addresses: plain_split, any_split.
 * Load 0 of a machine is every pair of its endpoints, each transaction alone: it takes its formula.
 * A load depends on the numbers of machine and load only, so ranges may be run in any order, and a
 * load that fails is run again by its numbers. Each machine is a process of its own; prints a line
 * for each one that fails, and at the end how many machines, loads and transactions passed.
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "support/any_topology.h"
#include "support/scenario.h"

struct range {
    unsigned long first, last;
};

/* What the process of a machine tells: the load that it is at, and how much has passed. */
struct progress {
    unsigned long load, loads, rows, pairs;
};

static struct progress *progress;

/* -- loads ---------------------------------------------------------------------------------- */

/* The fused engine counts no event without a fingerprint; a budget ends it anywhere. */
static void check_load(struct scenario *s)
{
    static const uint64_t budgets[] = {0, 0, 1, 7, 50};
    uint64_t budget = budgets[draw(&s->dice) % LENGTH(budgets)];

    assert_whole_run(s, (kb_options){.engine = KB_HOP, .fingerprint = true}, 0);
    assert_whole_run(s, (kb_options){.fingerprint = true}, budget);
    assert_whole_run(s, (kb_options){0}, budget);
}

static void run_load(struct scenario *s, const struct judge_topo *t, unsigned long load,
                     bool splits)
{
    s->dice = s->seed << 32 ^ load;
    draw_load(s, t, (int)(load % LOADS), splits);
    if (s->n)
        check_load(s);
    progress->loads++;
    progress->rows += s->n;
    drop_load(s);
}

/* -- pairs ---------------------------------------------------------------------------------- */

/* Longer than any of these takes: what is issued so far apart never meets. */
#define APART_FS (1000000 * KB_FS_PER_NS)

/* One source, to all memories of the machine, one after the other. */
struct pairs {
    const kb_topology *topo;
    const struct judge_topo *judged;
    kb_info info;
    kb_sim *sim;
    uint64_t *dice;
};

/* There is no way: the judge has none, either. */
static void check_refusal(const struct pairs *p, const kb_transaction *request)
{
    struct judge_row row = {.op = (enum judge_op)request->op,
                            .src = judge_end(&request->src),
                            .dst = judge_end(&request->dst),
                            .nbytes = request->nbytes,
                            .plane = request->plane};
    char src[KB_ENDPOINT_BYTES], dst[KB_ENDPOINT_BYTES];

    kb_endpoint_name(&request->src, src);
    kb_endpoint_name(&request->dst, dst);
    if (judge_has_route(p->judged, &row, kb_sim_count(p->sim)))
        fail_msg("%s -> %s, operation %d: refused, the judge has a way", src, dst,
                 (int)request->op);
}

/* On every plane that the request may choose. */
static void add_pair(struct pairs *p, kb_transaction_op op, kb_endpoint src, kb_endpoint dst)
{
    static const uint64_t sizes[] = {1, 64, 100, 4096, 65537};
    kb_transaction request = {.op = op, .src = src, .dst = dst};
    uint32_t planes = p->info.plane_column ? p->info.planes : 0;
    kb_error why;

    for (request.plane = 0; request.plane <= planes; request.plane++) {
        request.issue_fs = (int64_t)kb_sim_count(p->sim) * APART_FS;
        request.nbytes = sizes[draw(p->dice) % LENGTH(sizes)];
        if (kb_sim_add(p->sim, &request, &why) != KB_OK)
            check_refusal(p, &request);
    }
}

static void add_cube(struct pairs *p, kb_endpoint src, uint32_t sip, uint32_t cube)
{
    kb_transaction_op first = src.kind == KB_HOST ? KB_H2D : KB_READ;
    kb_cube c;

    if (kb_cube_get(p->topo, sip, cube, &c) != KB_OK)
        return;
    for (uint32_t i = 0; i <= c.n_slices; i++) {
        kb_endpoint dst = {i < c.n_slices ? KB_SLICE : KB_SRAM, sip, cube, i % c.n_slices};

        if (dst.kind == KB_SRAM && src.kind == KB_HOST)
            continue;
        add_pair(p, first, src, dst);
        add_pair(p, first + 1, src, dst);
    }
}

/* Does its PE cut `q` into packets, which wait for each other even alone? */
static bool is_cut(const struct pairs *p, const kb_transaction *q)
{
    const struct judge_end src = judge_end(&q->src);
    uint64_t packet = q->src.kind == KB_PE ? judge_packet_bytes(p->judged, &src) : 0;

    return packet && q->nbytes > packet;
}

/* The formula of `r` is that of the route, where its number does not choose the plane. */
static bool is_route_cost(const struct pairs *p, const kb_transaction *q, const kb_result *r)
{
    uint32_t plane = q->plane ? q->plane - 1 : kb_plane_of(p->topo, q->op);
    kb_cost cost;

    return p->judged->hashed_planes || is_cut(p, q) ||
           (kb_route_cost_on(p->topo, plane, q->op, &q->src, &q->dst, q->nbytes, &cost, NULL) ==
                KB_OK &&
            kb_formula_fs(&cost) == r->formula_fs);
}

static void assert_alone(const struct pairs *p, uint64_t id)
{
    kb_result r = result_of(p->sim, id);
    char src[KB_ENDPOINT_BYTES], dst[KB_ENDPOINT_BYTES];
    kb_transaction q;

    assert_true(r.actual_fs < APART_FS);
    assert_int_equal(kb_sim_request(p->sim, id, &q), KB_OK);
    if (r.actual_fs == r.formula_fs && is_route_cost(p, &q, &r))
        return;
    kb_endpoint_name(&q.src, src);
    kb_endpoint_name(&q.dst, dst);
    fail_msg("%s -> %s, operation %d, %" PRIu64 " bytes, plane %" PRIu32 ": %" PRId64
             " fs, formula %" PRId64,
             src, dst, (int)q.op, q.nbytes, q.plane, r.actual_fs, r.formula_fs);
}

static void check_source(struct pairs *p, kb_endpoint src, kb_engine engine)
{
    p->sim = new_sim(p->topo, (kb_options){.engine = engine});
    for (uint32_t s = 0; s < p->info.sips; s++)
        for (uint32_t c = 0; c < p->info.cubes_per_sip; c++)
            if (src.kind == KB_PE || s == src.sip)
                add_cube(p, src, s, c);
    run_all(p->sim);
    for (uint64_t id = 0; id < kb_sim_count(p->sim); id++)
        assert_alone(p, id);
    progress->pairs += kb_sim_count(p->sim);
    kb_sim_free(p->sim);
}

/* All pairs; every 16th source by the hop engine, too. */
static void run_pairs(struct scenario *s, const struct judge_topo *t)
{
    struct pairs p = {.topo = s->topo, .judged = t, .dice = &s->dice};
    kb_endpoint src;

    kb_topology_info(s->topo, &p.info);
    for (uint32_t pe = 0; kb_pe_get(s->topo, pe, &src) == KB_OK; pe++) {
        check_source(&p, src, KB_FUSED);
        if (pe % 16 == 0)
            check_source(&p, src, KB_HOP);
    }
    for (uint32_t sip = 0; sip < p.info.sips; sip++)
        for (uint32_t host = 0; judge_chiplet_side(t, host); host++)
            check_source(&p, (kb_endpoint){KB_HOST, sip, 0, host}, KB_FUSED);
}

/* -- machines ------------------------------------------------------------------------------- */

static void run_machine(const char *kind, uint64_t seed, struct range loads)
{
    void (*machine)(FILE *, uint64_t) = strncmp(kind, "plain", 5) == 0    ? judge_random_topo
                                        : strncmp(kind, "banks", 5) == 0  ? judge_random_banks
                                        : strncmp(kind, "caches", 6) == 0 ? judge_random_caches
                                                                          : judge_random_shape;
    bool splits = strstr(kind, "_split");
    struct scenario s = {.seed = seed, .dice = seed};
    char *yaml = splits ? random_split_topo(machine, seed, &s.dice) : printed(machine, seed);
    struct judge_topo *t = judge_load_text(yaml);

    s.topo = any_topology(yaml);
    assert_non_null(s.topo);
    for (unsigned long load = loads.first; load <= loads.last; load++) {
        progress->load = load;
        if (load)
            run_load(&s, t, load, splits);
        else if (strncmp(kind, "banks", 5) != 0 &&
                 strncmp(kind, "caches", 6) != 0) /* these remember what came before */
            run_pairs(&s, t);
    }
    any_topology_free(s.topo);
    judge_free(t);
    free(yaml);
}

/* In a process of its own, as what fails ends it. */
static bool machine_passes(const char *kind, uint64_t seed, struct range loads)
{
    int status;
    pid_t child;

    fflush(stdout);
    child = fork();

    if (child == 0) {
        run_machine(kind, seed, loads);
        exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool parse_range(const char *text, struct range *r)
{
    char end;
    int n = sscanf(text, "%lu-%lu%c", &r->first, &r->last, &end);

    if (n == 1)
        r->last = r->first;
    return n == 1 || n == 2;
}

int main(int argc, char **argv)
{
    struct range machines, loads;
    unsigned long failed = 0;

    if (argc != 4 || !parse_range(argv[2], &machines) || !parse_range(argv[3], &loads)) {
        fprintf(stderr, "usage: campaign plain|any|banks|caches|plain_split|any_split|banks_split "
                        "MACHINES LOADS\n");
        return 2;
    }
    progress =
        mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(progress != MAP_FAILED);
    for (unsigned long seed = machines.first; seed <= machines.last; seed++) {
        if (machine_passes(argv[1], seed, loads))
            continue;
        printf("not ok - %s machine %lu load %lu\n", argv[1], seed, progress->load);
        failed++;
    }
    printf("%s machines %s loads %s: %lu loads of %lu transactions and %lu pairs passed, %lu "
           "machines failed\n",
           argv[1], argv[2], argv[3], progress->loads, progress->rows, progress->pairs, failed);
    return failed > 0;
}
