/* coll_axes.c -- the rows of a group: along axes of the machine, its levels, or its halves.
 *
 * Axes are those of kb_group. Cubes that are a torus of three dimensions or more have one number
 * there, so each of their dimensions is an axis. They are found at cube 0: of a ring its
 * neighbours are one stride away, and the length of the ring less one stride.
 *
 * Example: torus [4, 4, 4], cube 0. Ports lead to 1 and 3, 4 and 12, 16 and 48: three rings of
 * four, with strides of 1, 4 and 16.
 */
#include "base/larger.h"
#include "kernels/coll.h"
#include "machine/mesh.h"

/* Dimensions of a torus. */
enum { NET_DIMS_MOST = 4 };

static struct row row_new(int64_t n, int64_t stride)
{
    return (struct row){n, stride, smaller(stride, SHARING_MOST), false};
}

/* The stride and the length of a ring of a torus through cube 0; a length of 0: there is none. */
static struct row ring_at(const struct kb_topology *t, uint32_t ring)
{
    uint32_t least = t->cubes, most = 0;

    for (uint32_t port = 0; port < t->ports; port++) {
        const struct port_row *p = net_port(t, 0, port);

        if (!(p->flags & PORT_IS) || p->ring != ring || p->cube >= t->cubes)
            continue;
        least = p->cube < least ? p->cube : least;
        most = p->cube > most ? p->cube : most;
    }
    if (most == 0)
        return (struct row){0};
    return (struct row){.n = most / least + 1, .stride = least};
}

/* The dimensions of a torus of all cubes that has more than a width and a height. */
static int dims_of(const struct kb_topology *t, struct row *dims)
{
    uint32_t ring = 0, cubes = 1;
    int n = 0;

    while (t->port_rows && t->w == t->cubes && n < NET_DIMS_MOST) {
        uint32_t next = UINT32_MAX;

        for (uint32_t port = 0; port < t->ports; port++)
            if (net_port(t, 0, port)->ring > ring && net_port(t, 0, port)->ring < next)
                next = net_port(t, 0, port)->ring;
        if (next == UINT32_MAX)
            break;
        ring = next;
        dims[n] = ring_at(t, ring);
        if (dims[n].stride != cubes)
            return 0;
        cubes *= (uint32_t)dims[n++].n;
    }
    return cubes == t->cubes && n > 1 ? n : 0;
}

/* Rows between cubes: an axis of the group, or the dimensions that it has. */
static int linked_rows(const struct coll *c, uint32_t axis_n, int64_t stride, struct row *rows)
{
    struct row whole = {.n = axis_n, .stride = 1};
    struct row dims[NET_DIMS_MOST];
    const struct kb_topology *t = tl_topology(c->tl);
    int n = axis_n == t->cubes ? dims_of(t, dims) : 0;

    if (n == 0) {
        dims[0] = whole;
        n = 1;
    }
    for (int i = 0; i < n; i++) {
        rows[i] = row_new(dims[i].n, dims[i].stride * stride);
        rows[i].has_links = true;
        /* the PEs of a cube share them */
        rows[i].sharing = smaller(larger(c->group.axes[KB_PES], 1), SHARING_MOST);
    }
    return n;
}

static int axes_of(const struct coll *c, struct row *rows)
{
    const kb_group *g = &c->group;
    int64_t stride = 1;
    int n = 0;

    for (kb_axis axis = KB_PES; axis < KB_AXES; axis++) {
        if (g->axes[axis] > 1 && (axis == KB_X || axis == KB_Y))
            n += linked_rows(c, g->axes[axis], stride, &rows[n]);
        else if (g->axes[axis] > 1)
            rows[n++] = row_new(g->axes[axis], stride);
        stride *= g->axes[axis] ? g->axes[axis] : 1;
    }
    return n;
}

int coll_halves_of(struct row of, struct row *rows)
{
    int n = 0;

    for (int64_t rest = of.n, prime = 2; rest > 1; prime++)
        while (rest % prime == 0) {
            rest /= prime;
            rows[n++] = row_new(prime, rest * of.stride);
        }
    return n;
}

/* Inside a SIP, and across; in a single one inside a cube, and across. */
static int levels_of(const struct coll *c, struct row *rows)
{
    const kb_group *g = &c->group;
    int64_t pes = g->axes[KB_PES] ? g->axes[KB_PES] : 1, across = g->axes[KB_SIPS];
    int64_t inside = across > 1 ? g->n / across : pes;

    if (axes_of(c, rows) == 0)
        return 0;
    if (inside == 1 || inside == g->n) {
        rows[0] = row_new(g->n, 1);
        return 1;
    }
    rows[0] = row_new(inside, 1);
    rows[1] = row_new(g->n / inside, inside);
    return 2;
}

int coll_rows_of(const struct coll *c, kb_coll_algorithm algorithm, struct row *rows)
{
    return algorithm == KB_COLL_AXES || algorithm == KB_COLL_AXES_HALVING ? axes_of(c, rows)
           : algorithm == KB_COLL_HIERARCHICAL                            ? levels_of(c, rows)
                                               : coll_halves_of(row_new(c->group.n, 1), rows);
}

struct coll coll_of_row(const struct coll *c, struct row row)
{
    const kb_group *g = &c->group;
    int64_t begin = c->rank - c->rank / row.stride % row.n * row.stride;
    kb_group part = {.pes = g->pes,
                     .first = g->first + (uint32_t)begin * g->stride,
                     .stride = (uint32_t)row.stride * g->stride,
                     .n = row.n};
    struct coll line = coll_new(c->here, c->tl, part, c->name);

    line.deal = DEAL_SCATTER;
    return line;
}
