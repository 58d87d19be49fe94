/* cmd_route.c -- `route`: every node between two endpoints, and what it costs to pass. */
#include "cli/command.h"
#include "base/text.h"
#include <stdlib.h>

/* The nodes of one route. */
struct path {
    kb_hop *hop; /* owned */
    size_t n, room;
    size_t bottleneck; /* the hop behind the first narrowest edge; 0: no edge */
    bool no_memory;
    int64_t head_fs; /* while rows are printed: when the head has left the node before */
};

static const struct column columns[] = {
    COLUMN_BY_HAND("hop", CELL_COUNT),        COLUMN_BY_HAND("node", CELL_TEXT),
    COLUMN_BY_HAND("wire_ns", CELL_NS),       COLUMN_BY_HAND("overhead_ns", CELL_NS),
    COLUMN_BY_HAND("cumulative_ns", CELL_NS), COLUMN_BY_HAND("edge_gbs", CELL_FRACTION),
    COLUMN_BY_HAND("bottleneck", CELL_COUNT),
};

/* Room for one more hop. */
static bool grow(struct path *path)
{
    size_t room = path->room ? 2 * path->room : 64;
    kb_hop *hop;

    if (path->n < path->room)
        return true;
    hop = realloc(path->hop, room * sizeof *hop);
    if (!hop)
        return false;
    path->hop = hop;
    path->room = room;
    return true;
}

static void add_hop(void *arg, const kb_hop *hop)
{
    struct path *path = arg;

    if (path->no_memory || !grow(path)) {
        path->no_memory = true;
        return;
    }
    path->hop[path->n] = *hop;
    if (path->n > 0 &&
        (path->bottleneck == 0 || hop->edge_gbs < path->hop[path->bottleneck].edge_gbs))
        path->bottleneck = path->n;
    path->n++;
}

static bool hop_row(void *arg, uint64_t i, struct cell *cells)
{
    struct path *path = arg;
    const kb_hop *hop = &path->hop[i];

    if (i == 0)
        path->head_fs = 0;
    path->head_fs += hop->wire_fs + hop->overhead_fs;
    cells[0] = cell_count(i);
    cells[1] = cell_text(hop->node);
    cells[2] = cell_ns(hop->wire_fs);
    cells[3] = cell_ns(hop->overhead_fs);
    cells[4] = cell_ns(path->head_fs);
    cells[5] = i > 0 ? cell_fraction(hop->edge_gbs) : cell_none();
    cells[6] = cell_count(i > 0 && i == path->bottleneck);
    return true;
}

static char *put_term(char *to, const char *name, int64_t fs)
{
    return text_put_ns(text_put_text(to, name), fs);
}

/* "4096 bytes alone: wire 0.085000 + ... = 18.085000 ns": exact, as the rows are rounded. */
static void cost_note(const kb_cost *cost, uint64_t nbytes, char *text)
{
    char *p = text_put_count(text, nbytes);

    p = put_term(p, " bytes alone: wire ", cost->wire_fs);
    p = put_term(p, " + overhead ", cost->overhead_fs);
    p = put_term(p, " + drain ", cost->drain_fs);
    p = put_term(p, " + response ", cost->response_fs);
    p = put_term(p, " = formula ", kb_formula_fs(cost));
    p = text_put_text(p, " ns; bottleneck ");
    p = text_put_fraction(p, cost->bottleneck_gbs);
    *text_put_text(p, " GB/s") = '\0';
}

static enum exit_code print_path(const struct cli *cli, struct path *path, const kb_endpoint *src,
                                 const kb_endpoint *dst)
{
    char note[TEXT_NUMBER_BYTES + 256];
    kb_cost cost;
    kb_error why = {""};
    kb_transaction_op op = src->kind == KB_HOST ? KB_H2D : dst->kind == KB_TCM ? KB_WRITE : KB_READ;
    kb_status status = kb_route_cost(cli->topo, op, src, dst, cli->opts.bytes, &cost, &why);
    struct rows rows = {.columns = columns,
                        .n_columns = sizeof columns / sizeof *columns,
                        .n_rows = path->n,
                        .row = hop_row,
                        .arg = path,
                        .note = note};

    if (status)
        return cmd_fail(cli, status, &why);
    cost_note(&cost, cli->opts.bytes, note);
    return cmd_print(cli, &rows);
}

enum exit_code cmd_route(const struct cli *cli)
{
    struct path path = {.n = 0};
    kb_endpoint src, dst;
    kb_error why = {""};
    enum exit_code code = cmd_endpoint(cli, cli->opts.operand[0], &src);
    kb_status status;

    if (!code)
        code = cmd_endpoint(cli, cli->opts.operand[1], &dst);
    if (code)
        return code;
    status = kb_route_walk(cli->topo, &src, &dst, add_hop, &path, &why);
    if (!status && path.no_memory)
        status = KB_NO_MEMORY;
    code = status ? cmd_fail(cli, status, &why) : print_path(cli, &path, &src, &dst);
    free(path.hop);
    return code;
}
