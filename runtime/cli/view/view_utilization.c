/*
 * view_utilization.c -- the utilization of nodes and edges, from a file that --stats wrote.
 *
 * Rows are found by name. A component can have several rows (channels for reading and writing), of
 * which the busiest counts. An edge that the topology has in one direction only carries the data of
 * reads against it: the row "B -> A" then belongs to the edge A -> B, and `returns` remembers that,
 * so that pictures can say in which direction it was busy. A channel of a slice with banks has a
 * row of its own, which is not drawn: the slice has one for all.
 *
 * With --conflicts the per cents are shares of row conflicts instead, which slices with banks have.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli/diff/number.h"
#include "cli/out/say.h"
#include "cli/out/memory.h"
#include "cli/view/scene.h"
#include "base/text.h"

/* An edge of the topology, and its utilization. */
struct edge_row {
    uint32_t from, to;
    double pct;
    bool returns; /* by the data of reads, against its direction */
};

struct view_utilization {
    const kb_topology *topo;
    bool buffers;          /* how full they were, not how busy */
    double *node;          /* per node; NaN: not known */
    struct edge_row *edge; /* every edge, by `from`, then `to` */
    size_t n_edges, room;
    bool conflicts; /* shares of row conflicts, not utilizations */
};

/* -- the tables ----------------------------------------------------------------------------- */

static void add_edge(void *arg, const kb_edge *edge)
{
    struct view_utilization *u = arg;

    if (u->n_edges < u->room)
        u->edge[u->n_edges++] = (struct edge_row){edge->from, edge->to, NAN, false};
}

/* By `from`, then `to`: edges are looked up by bisection. */
static int compare_edges(const void *a, const void *b)
{
    const struct edge_row *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

struct view_utilization *view_utilization_new(const kb_topology *topo, bool buffers)
{
    struct view_utilization *u = memory_new(1, sizeof *u);
    kb_info info;

    kb_topology_info(topo, &info);
    u->topo = topo;
    u->buffers = buffers;
    u->room = info.edges;
    u->node = memory_new(info.nodes, sizeof *u->node);
    u->edge = memory_new(u->room, sizeof *u->edge);
    for (uint32_t i = 0; i < info.nodes; i++)
        u->node[i] = NAN;
    kb_edges(topo, add_edge, u);
    qsort(u->edge, u->n_edges, sizeof *u->edge, compare_edges);
    return u;
}

void view_utilization_free(struct view_utilization *u)
{
    if (!u)
        return;
    free(u->node);
    free(u->edge);
    free(u);
}

static struct edge_row *find_edge(const struct view_utilization *u, uint32_t from, uint32_t to)
{
    struct edge_row key = {from, to, 0, false};

    return bsearch(&key, u->edge, u->n_edges, sizeof *u->edge, compare_edges);
}

/* -- asking --------------------------------------------------------------------------------- */

bool view_utilization_is_of_buffers(const struct view_utilization *u)
{
    return u && u->buffers;
}

double view_utilization_node(const struct view_utilization *u, uint32_t node)
{
    return u ? u->node[node] : (double)NAN;
}

/* In the direction of its data. */
static struct view_edge_utilization shown(const struct edge_row *e)
{
    return e->returns ? (struct view_edge_utilization){e->to, e->from, e->pct}
                      : (struct view_edge_utilization){e->from, e->to, e->pct};
}

struct view_edge_utilization view_utilization_edge(const struct view_utilization *u, uint32_t from,
                                                   uint32_t to)
{
    const struct edge_row *edge = u ? find_edge(u, from, to) : NULL;

    return edge ? shown(edge) : (struct view_edge_utilization){from, to, NAN};
}

/*
 * A sorted list of few: the new one is put in its place, and the last falls out. Edges below 1 %
 * are not worth a line.
 */
void view_busiest_add(struct view_busiest *b, struct view_edge_utilization util)
{
    size_t at = b->n;

    if (!(util.pct >= 1))
        return;
    while (at > 0 && b->edge[at - 1].pct < util.pct)
        at--;
    if (at == VIEW_BUSIEST)
        return;
    size_t after = (b->n < VIEW_BUSIEST ? b->n++ : VIEW_BUSIEST - 1) - at;
    memmove(&b->edge[at + 1], &b->edge[at], after * sizeof *b->edge);
    b->edge[at] = util;
}

void view_busiest_all(struct view_busiest *b, const struct view_utilization *u)
{
    for (size_t i = 0; i < u->n_edges; i++)
        view_busiest_add(b, shown(&u->edge[i]));
}

/* Is it a DMA? Its channels are held by transactions that wait elsewhere. */
static bool is_held(const struct view_utilization *u, uint32_t node)
{
    kb_node info;

    return kb_node_get(u->topo, node, &info) == KB_OK && strcmp(info.kind, "pe_dma") == 0;
}

double view_utilization_most(const struct view_utilization *u, uint32_t first, uint32_t end)
{
    double most = NAN;

    for (uint32_t i = first; u && i < end; i++)
        if (!isnan(u->node[i]) && !is_held(u, i))
            most = fmax(most, u->node[i]);
    return most;
}

/* -- filling -------------------------------------------------------------------------------- */

bool view_utilization_conflicts(const struct view_utilization *u)
{
    return u && u->conflicts;
}

/* The length of the name without ".chN" of a channel with banks behind it. */
static size_t slice_len(const char *name)
{
    const char *point = strrchr(name, '.');
    bool is_channel = point && strncmp(point, ".ch", 3) == 0 && point[3] &&
                      point[3 + strspn(point + 3, "0123456789")] == '\0';

    return is_channel ? (size_t)(point - name) : strlen(name);
}

/* The node of that name, or of a name with ".read" or ".write" behind it: "sip0.cube0.m_cpu.read".
 */
static bool find_node(const struct view_utilization *u, const char *name, uint32_t *out)
{
    const char *point = strrchr(name, '.');

    if (kb_node_find(u->topo, name, strlen(name), out) == KB_OK)
        return true;
    return point && (strcmp(point, ".read") == 0 || strcmp(point, ".write") == 0) &&
           kb_node_find(u->topo, name, (size_t)(point - name), out) == KB_OK;
}

bool view_utilization_add(struct view_utilization *u, const char *name, double pct)
{
    static const char arrow[] = " -> ";
    const char *between = strstr(name, arrow);
    uint32_t from, to;

    if (!between) {
        if (name[slice_len(name)])
            return kb_node_find(u->topo, name, slice_len(name), &from) == KB_OK;
        if (!find_node(u, name, &from))
            return false;
        u->node[from] = fmax(u->node[from], pct);
        return true;
    }
    const char *far = between + strlen(arrow);
    if (kb_node_find(u->topo, name, (size_t)(between - name), &from) != KB_OK ||
        kb_node_find(u->topo, far, strlen(far), &to) != KB_OK)
        return false;
    struct edge_row *edge = find_edge(u, from, to);
    bool returns = !edge; /* by the data of reads, on a link that requests pass one way only */
    if (returns)
        edge = find_edge(u, to, from);
    if (!edge)
        return false;
    if (isnan(edge->pct) || pct > edge->pct) {
        edge->pct = pct;
        edge->returns = returns;
    }
    return true;
}

/* -- the file ------------------------------------------------------------------------------- */

enum { SHOWN_BYTES = 64 };

/* False after a message: the file says that it is of another topology. */
static bool check_hash(struct results *r, const struct cli *cli)
{
    char name[SHOWN_BYTES], hash[SHOWN_BYTES];
    const struct results_origin *o = &r->origin;
    const char *topology = o->topology ? o->topology : "";

    if (!o->hash || strcmp(o->hash, cli->info.hash) == 0)
        return true;
    r->code =
        say(cli->program, EXIT_INPUT, "%s is of another topology: %s %s, this is %s %s", r->name,
            text_show(topology, strlen(topology), name, sizeof name),
            text_show(o->hash, strlen(o->hash), hash, sizeof hash), cli->info.name, cli->info.hash);
    return false;
}

/* Finds a column that results of command `of` have. False after a message. */
static bool need_column(struct results *r, const char *name, const char *of, int *out)
{
    for (size_t c = 0; c < r->n_columns; c++)
        if (strcmp(r->columns[c], name) == 0) {
            *out = (int)c;
            return true;
        }
    r->code = say(r->program, EXIT_INPUT, "%s has no column '%s': it is no result of %s", r->name,
                  name, of);
    return false;
}

/* A number of the last row, 0 or more; NaN: the cell is empty. False after a message. */
static bool read_number(struct results *r, int column, double *out)
{
    const char *text = r->cells[column];
    struct number number;
    char shown[SHOWN_BYTES];

    *out = NAN;
    if (!text)
        return true;
    if (number_read(text, &number)) {
        *out = number.exact ? (double)number.millionths / 1e6 : number.value;
        if (*out >= 0 && isfinite(*out))
            return true;
    }
    return results_bad_row(r, "%s '%s' is not a number from 0 on", r->columns[column],
                           text_show(text, strlen(text), shown, sizeof shown));
}

/* The columns that are read; of `kind` and `to` -1: there is none. */
struct used_columns {
    int name, pct, kind, to, room, mean;
    int rows[3]; /* hits, misses, conflicts */
};

static int find_column(const struct results *r, const char *name)
{
    for (size_t c = 0; c < r->n_columns; c++)
        if (strcmp(r->columns[c], name) == 0)
            return (int)c;
    return -1;
}

static bool is_vc(const struct results *r, const struct used_columns *c)
{
    return c->kind >= 0 && r->cells[c->kind] && strcmp(r->cells[c->kind], "vc") == 0;
}

static bool refuse_name(struct results *r, const char *name)
{
    char shown[2 * KB_NODE_BYTES];

    return results_bad_row(r, "'%s' is no node and no edge of this topology",
                           name ? text_show(name, strlen(name), shown, sizeof shown) : "");
}

/* The share of conflicts; NAN: nothing of the kind. */
static bool read_conflicts(struct results *r, const struct used_columns *c, double *pct)
{
    double rows[3], sum = 0;

    for (int i = 0; i < 3; i++) {
        if (!read_number(r, c->rows[i], &rows[i]))
            return false;
        sum += rows[i];
    }
    *pct = sum > 0 ? 100 * rows[2] / sum : (double)NAN;
    return true;
}

/* A row without a value adds nothing, but its name must be known. */
static bool add_row(struct view_utilization *u, struct results *r, const struct used_columns *c)
{
    const char *name = r->cells[c->name];
    double pct;

    if (is_vc(r, c))
        return true;
    if (u->conflicts ? !read_conflicts(r, c, &pct) : !read_number(r, c->pct, &pct))
        return false;
    return (name && view_utilization_add(u, name, pct)) || refuse_name(r, name);
}

/* How full the buffer of a VC was, at the node where it is. Without a limit it has no colour. */
static bool add_buffer(struct view_utilization *u, struct results *r, const struct used_columns *c)
{
    const char *to = c->to >= 0 ? r->cells[c->to] : NULL;
    double room, mean;

    if (!is_vc(r, c))
        return true;
    if (!read_number(r, c->room, &room) || !read_number(r, c->mean, &mean))
        return false;
    if (!(room > 0))
        return true;
    return (to && view_utilization_add(u, to, isnan(mean) ? 0 : 100 * mean / room)) ||
           refuse_name(r, to);
}

static void read_rows(struct view_utilization *u, struct results *r, const struct cli *cli)
{
    static const char *const rows[] = {"row_hits", "row_misses", "row_conflicts"};
    struct used_columns c = {.kind = find_column(r, "kind"), .to = find_column(r, "to")};
    bool buffers = cli->opts.buffers;

    if (r->code || !check_hash(r, cli) || r->n_columns == 0 ||
        !need_column(r, "name", "--stats", &c.name) ||
        !need_column(r, "util_pct", "--stats", &c.pct))
        return;
    if (buffers && (!need_column(r, "buffer_bytes", "--stats with routers", &c.room) ||
                    !need_column(r, "buffer_mean", "--stats with routers", &c.mean)))
        return;
    for (int i = 0; u->conflicts && i < 3; i++)
        if (!need_column(r, rows[i], "--stats of a machine with banks", &c.rows[i]))
            return;
    while (results_next(r) && (buffers ? add_buffer : add_row)(u, r, &c))
        ;
}

enum exit_code view_utilization_read(struct view_utilization **out, const struct cli *cli,
                                     const char *path)
{
    struct results r;

    *out = view_utilization_new(cli->topo, cli->opts.buffers);
    (*out)->conflicts = cli->opts.conflicts;
    results_open(&r, cli->program, path);
    read_rows(*out, &r, cli);
    results_close(&r);
    if (r.code) {
        view_utilization_free(*out);
        *out = NULL;
    }
    return r.code;
}
