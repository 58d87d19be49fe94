/*
 * cmd_route.c -- `route`: every node between two endpoints, and what it costs to pass.
 *
 * cumulative_ns is when the head of a request leaves a node. The narrowest edge is the bottleneck,
 * by which the bytes of the whole transaction drain; the line below the table adds up the latency
 * of
 * --bytes bytes alone.
 *
 * Example, `route c0.pe0 c1.slice0 --bytes 4K` on cube8: from pe_dma over the NoC to ucie-E, in
 * cube 1 from ucie-W over its NoC to xbar.pe0 and hbm_ctrl.slice0, seven nodes. The head is there
 * after 0.315 ns of wires and 4 ns of overheads (1 + 1 for the ucie ports, 2 for the crossbar).
 * The narrowest edges have 128 GB/s, the first of them is marked, and 4096 bytes drain in 32 ns:
 * 36.315 ns together, which is also what `replay` says of that read alone.
 */
#include "cli/command.h"
#include "cli/in/transactions.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include "base/text.h"
#include <stdlib.h>
#include <string.h>

/* One node of a route, and when the head of a request has left it. */
struct node {
    kb_hop at;
    uint64_t number;
    int64_t head_fs;
    bool is_bottleneck;
};

/* The nodes of one route. */
struct path {
    struct node *node; /* owned */
    size_t n, room;
    size_t bottleneck; /* the hop behind the first narrowest edge; 0: no edge */
};

static const struct column columns[] = {
    COLUMN("hop", CELL_COUNT, struct node, number),
    COLUMN("node", CELL_TEXT, struct node, at.node),
    COLUMN("wire_ns", CELL_NS, struct node, at.wire_fs),
    COLUMN("overhead_ns", CELL_NS, struct node, at.overhead_fs),
    COLUMN("cumulative_ns", CELL_NS, struct node, head_fs),
    COLUMN_IF("edge_gbs", CELL_FRACTION, struct node, at.edge_gbs, number),
    COLUMN("bottleneck", CELL_COUNT, struct node, is_bottleneck),
};

static void add_hop(void *arg, const kb_hop *hop)
{
    struct path *path = arg;

    path->node = memory_room(path->node, path->n, &path->room, sizeof *path->node);
    struct node *node = &path->node[path->n];
    int64_t before_fs = path->n > 0 ? node[-1].head_fs : 0;

    *node = (struct node){
        .at = *hop, .number = path->n, .head_fs = before_fs + hop->wire_fs + hop->overhead_fs};
    if (path->n > 0 &&
        (path->bottleneck == 0 || hop->edge_gbs < path->node[path->bottleneck].at.edge_gbs))
        path->bottleneck = path->n;
    path->n++;
}

static char *put_term(char *to, const char *name, int64_t fs)
{
    return text_put_ns(text_put_text(to, name), fs);
}

/* "4096 bytes alone: wire 0.085000 + ... = 18.085000 ns": exact, as the rows are rounded. Packets
 * that wait for each other take more: `alone_fs` in all. */
static void cost_note(const kb_cost *cost, int64_t alone_fs, uint64_t nbytes, bool has_return,
                      char *text)
{
    char *p = text_put_count(text, nbytes);

    p = put_term(p, " bytes alone: wire ", cost->wire_fs);
    p = put_term(p, " + overhead ", cost->overhead_fs);
    p = put_term(p, " + drain ", cost->drain_fs);
    p = put_term(p, " + response ", cost->response_fs);
    if (has_return)
        p = put_term(p, " + return ", cost->return_fs);
    if (alone_fs != kb_formula_fs(cost))
        p = put_term(p, " + packets ", alone_fs - kb_formula_fs(cost));
    p = put_term(p, " = formula ", alone_fs);
    p = text_put_text(p, " ns; bottleneck ");
    p = text_put_fraction(p, cost->bottleneck_gbs);
    *text_put_text(p, " GB/s") = '\0';
}

/* What the route is of. */
struct asked {
    kb_endpoint src, dst;
    kb_transaction_op op;
    uint32_t plane; /* of a net with several ways: the way */
};

/* What it takes alone where PEs cut it into packets: a run. `*fs` is left where rows cannot ask for
 * it: of a TCM, or on another plane than theirs. */
static kb_status run_alone(const struct cli *cli, const struct asked *asked, int64_t *fs,
                           kb_error *why)
{
    const kb_transaction row = {
        .op = asked->op, .src = asked->src, .dst = asked->dst, .nbytes = cli->opts.bytes};
    kb_sim *sim = NULL;
    kb_result result;
    kb_status status;

    if (!cli->info.packets || asked->dst.kind == KB_TCM ||
        asked->plane != kb_plane_of(cli->topo, asked->op))
        return KB_OK;
    status = kb_sim_new(cli->topo, NULL, &sim);
    if (status == KB_OK)
        status = kb_sim_add(sim, &row, why);
    if (status == KB_OK)
        status = kb_sim_run(sim, 0, why);
    if (status == KB_OK)
        status = kb_sim_result(sim, 0, &result);
    if (status == KB_OK)
        *fs = result.formula_fs;
    kb_sim_free(sim);
    return status;
}

static enum exit_code print_path(const struct cli *cli, struct path *path,
                                 const struct asked *asked)
{
    char note[TEXT_NUMBER_BYTES + 256];
    kb_cost cost;
    int64_t alone_fs = 0;
    kb_error why = {""};
    kb_status status = kb_route_cost_on(cli->topo, asked->plane, asked->op, &asked->src,
                                        &asked->dst, cli->opts.bytes, &cost, &why);
    struct rows rows = {ROWS_COLUMNS(columns), ROWS_ARRAY(path->node, path->n), .note = note};

    if (status == KB_OK) {
        alone_fs = kb_formula_fs(&cost);
        status = run_alone(cli, asked, &alone_fs, &why);
    }
    if (status)
        return cmd_fail(cli, status, &why);
    if (path->bottleneck > 0)
        path->node[path->bottleneck].is_bottleneck = true;
    cost_note(&cost, alone_fs, cli->opts.bytes, cmd_has_return(cli), note);
    return cmd_print(cli, &rows);
}

/* --op: a read, unless the ends leave no choice. */
static bool read_op(const struct cli *cli, struct asked *asked)
{
    const char *word = cli->opts.op;

    asked->op = asked->src.kind == KB_HOST  ? KB_H2D
                : asked->dst.kind == KB_TCM ? KB_WRITE
                                            : KB_READ;
    for (int op = 0; word && op < N_OPS; op++)
        if (strcmp(word, op_names[op]) == 0) {
            asked->op = (kb_transaction_op)op;
            return true;
        }
    return !word;
}

/* --plane: the plane of the op. */
static bool read_plane(const struct cli *cli, struct asked *asked)
{
    const char *word = cli->opts.plane, *name;

    asked->plane = cli->opts.way > 0 ? (uint32_t)cli->opts.way : kb_plane_of(cli->topo, asked->op);
    for (uint32_t plane = 0; word && (name = kb_plane_name(cli->topo, plane)); plane++)
        if (*name && strcmp(word, name) == 0) {
            asked->plane = plane;
            return true;
        }
    return !word;
}

static enum exit_code read_asked(const struct cli *cli, struct asked *asked)
{
    enum exit_code code = cmd_endpoint(cli, cli->opts.operand[0], &asked->src);

    if (!code)
        code = cmd_endpoint(cli, cli->opts.operand[1], &asked->dst);
    if (code)
        return code;
    if (!read_op(cli, asked))
        return say(cli->program, EXIT_USAGE, "--op '%s' is not read, write, h2d or d2h",
                   cli->opts.op);
    if (cli->opts.way > 0 && cli->info.paths == 1)
        return say(cli->program, EXIT_USAGE,
                   "--way %llu: no route has several ways, sip.paths is 1",
                   (unsigned long long)cli->opts.way);
    if (!read_plane(cli, asked))
        return say(cli->program, EXIT_USAGE, "--plane '%s' is no plane of this topology",
                   cli->opts.plane);
    return EXIT_OK;
}

enum exit_code cmd_route(const struct cli *cli)
{
    struct path path = {.n = 0};
    struct asked asked;
    kb_error why = {""};
    enum exit_code code = read_asked(cli, &asked);
    kb_status status;

    if (code)
        return code;
    status = kb_route_walk_alone(cli->topo, asked.plane, asked.op, &asked.src, &asked.dst,
                                 cli->opts.bytes, add_hop, &path, &why);
    code = status ? cmd_fail(cli, status, &why) : print_path(cli, &path, &asked);
    free(path.node);
    return code;
}
