/* bound_launch.c -- kernels are weighed: those of some PEs of each launch, one by one.
 *
 * bound.c says what of a kernel is weighed, and why that is a lower bound. Here a kernel gets its
 * stack, runs to its end, or until it leaves, and its PE is as before.
 *
 * A run under way tells more than a bound before it. Example: an engine of a PE must work for 400
 * ns, and the best time is 474. If after 200 ns it has worked for 100, it cannot end before 500.
 */
#include "base/larger.h"
#include "kernels/bound.h"
#include "kernels/launches.h"
#include "machine/endpoint.h"
#include "pe/boxes.h"

static uint64_t servers_of(const struct tl_ctx *pe, unsigned what)
{
    if (what >= N_PORTS)
        return channels_of(pe->sim->topo, 2 * pe->src + (what == BUSY_WRITES));
    return what <= PORT_TCM_WRITE ? pe_port(pe, (enum port)what)->ports : 1;
}

static int64_t largest_fs(const struct tl_ctx *pe, const struct bound *b)
{
    int64_t fs = larger(b->now_fs, b->end_fs);

    for (unsigned i = 0; i < N_BUSY; i++)
        fs = larger(fs, b->busy_fs[i] / (int64_t)servers_of(pe, i));
    return fs;
}

/* The kernel of PE `i` of a launch, up to its end, or to what is not known. False: no memory. */
static bool weigh(struct kb_sim *s, struct launch *l, size_t i, struct bound *b)
{
    struct kernels *k = s->kernels;
    struct tl_ctx *pe = &k->pes[l->request.pes ? l->request.pes[i] : i];

    pe->launch = l;
    pe->overlaps = pe->overlapped = false;
    pe->call = NULL;
    pe->outstanding = 0;
    pe->paid = (struct paid){0};
    if (!pe_begin(pe))
        return false;
    k->bound = b;
    k->on = pe;
    co_resume(pe->co);
    k->on = NULL;
    k->bound = NULL;
    co_drop(pe->co);
    pe->co = NULL;
    pe_clear(pe);
    b->least_fs = largest_fs(pe, b);
    return true;
}

/* Of a PE of a launch: its number, and what its kernel keeps busy. */
static void keep(struct kb_bound *to, unsigned i, uint32_t pe, const struct bound *b)
{
    to->pe[i] = pe;
    for (unsigned port = 0; port < KB_BOUND_PORTS; port++)
        to->busy_fs[i][port] = b->busy_fs[port];
}

/* PEs from the first to the last, of all positions in a row of PEs. Of few PEs some come twice. */
static size_t pe_at(size_t n, unsigned i)
{
    return i * (n - 1) / (KB_BOUND_PES - 1);
}

/* The largest bound of some PEs, -1 if one fails, and commands of all if they have as many. False:
 * no memory. */
static bool weigh_launch(struct kb_sim *s, struct launch *l, int64_t *fs, struct kb_bound *to)
{
    size_t n = l->request.n_pes;
    uint64_t commands = 0;
    bool fails = false;

    for (unsigned i = 0; i < KB_BOUND_PES && s->status == KB_OK; i++) {
        struct bound b = {0};
        size_t at = pe_at(n, i);

        if (!weigh(s, l, at, &b))
            return false;
        keep(to, i, l->request.pes ? l->request.pes[at] : (uint32_t)at, &b);
        fails = fails || b.fails;
        *fs = larger(*fs, b.least_fs);
        commands += b.commands;
    }
    *fs = fails ? -1 : *fs;
    to->commands += commands * n / KB_BOUND_PES;
    return true;
}

kb_status kb_launch_bound(kb_sim *s, kb_bound *bound)
{
    REFUSE_NULL(s && bound, "sim, bound", NULL);
    struct kernels *k = s->kernels;
    bool fails = false;

    *bound = (kb_bound){.fs = 0};
    if (!k || k->n_sent || s->status != KB_OK)
        return KB_BAD_REQUEST;
    for (size_t i = 0; i < k->n_launches && !s->topo->impls && s->status == KB_OK; i++) {
        int64_t launch_fs = 0;

        if (!weigh_launch(s, k->launches[i], &launch_fs, bound))
            return KB_NO_MEMORY;
        bound->fs = k->streams ? larger(bound->fs, launch_fs) : bound->fs + launch_fs;
        fails = fails || launch_fs < 0;
    }
    if (fails || s->status != KB_OK) /* a run will say why */
        bound->fs = 0;
    s->status = KB_STOPPED; /* it is of no more use */
    return KB_OK;
}

/* -- of a run under way ------------------------------------------------------------------------ */

/*
 * When a PE can have done `busy_fs` at a port, from the start of all on. Turns begin in the order
 * in which they are asked for, and what was asked for is in the station's sum: all else begins when
 * one of its servers is free, at the soonest.
 */
static int64_t port_least_fs(const struct tl_ctx *pe, unsigned port, int64_t busy_fs)
{
    const struct link_station *station = &pe->kernels->ports[pe->number * (size_t)N_PORTS + port];
    int64_t left_fs = busy_fs - (int64_t)station->busy_fs;

    return station->free_fs + (left_fs > 0 ? left_fs / (int64_t)servers_of(pe, port) : 0);
}

/* Of the PEs of the only launch that were weighed. */
static int64_t ports_least_fs(const struct kb_sim *s, const kb_bound *bound)
{
    int64_t least_fs = 0;

    _Static_assert((int)KB_BOUND_PORTS == (int)N_PORTS, "a bound has all ports of a PE");
    for (unsigned i = 0; i < KB_BOUND_PES; i++)
        for (unsigned port = s->router ? PORT_GEMM : 0; port < N_PORTS; port++)
            least_fs = larger(least_fs, port_least_fs(&s->kernels->pes[bound->pe[i]], port,
                                                      bound->busy_fs[i][port]));
    return least_fs;
}

/* Launches of several streams may begin before the first that was added; one that has not begun
 * starts at 0. INT64_MAX: none has. */
static int64_t first_start_fs(const struct kernels *k)
{
    int64_t start_fs = INT64_MAX;

    for (size_t i = 0; i < k->n_launches; i++) {
        int64_t fs = k->launches[i]->result.start_fs;

        if (fs > 0 && fs < start_fs)
            start_fs = fs;
    }
    return start_fs;
}

/* How far kernels have come: behind the last of them the response to the host is of no launch. */
static int64_t reached_fs(const struct kb_sim *s)
{
    const struct kernels *k = s->kernels;
    int64_t end_fs = 0;

    if (k->n_done < k->n_launches)
        return s->end_fs;
    for (size_t i = 0; i < k->n_launches; i++)
        end_fs = larger(end_fs, k->launches[i]->result.last_end_fs);
    return end_fs;
}

int64_t kb_launch_least_fs(const kb_sim *s, const kb_bound *bound)
{
    if (!s || !bound)
        return 0;
    int64_t start_fs = s->kernels ? first_start_fs(s->kernels) : INT64_MAX, end_fs;

    if (start_fs == INT64_MAX)
        return bound->fs;
    end_fs = reached_fs(s);
    if (bound->fs > 0 && s->inorder && s->kernels->n_launches == 1)
        end_fs = larger(end_fs, ports_least_fs(s, bound));
    return larger(bound->fs, end_fs - start_fs);
}
