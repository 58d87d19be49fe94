/* bound_launch.c -- kernels are weighed: the first and the last PE of each launch, one by one.
 *
 * bound.c says what of a kernel is weighed, and why that is a lower bound. Here a kernel gets its
 * stack, runs to its end, or until it leaves, and its PE is as before.
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

/* Its first PE and its last one: the larger bound, and commands of all PEs if they have as many. */
static bool weigh_launch(struct kb_sim *s, struct launch *l, int64_t *fs, uint64_t *commands)
{
    size_t n = l->request.n_pes;
    struct bound first = {0}, last = {0};

    if (!weigh(s, l, 0, &first) || (s->status == KB_OK && !weigh(s, l, n - 1, &last)))
        return false;
    *fs = first.fails || last.fails ? -1 : larger(first.least_fs, last.least_fs);
    *commands = (first.commands + last.commands) * n / 2;
    return true;
}

kb_status kb_launch_bound(kb_sim *s, int64_t *fs, uint64_t *commands)
{
    REFUSE_NULL(s && fs && commands, "sim, fs, commands", NULL);
    struct kernels *k = s->kernels;
    bool fails = false;

    *fs = 0;
    *commands = 0;
    if (!k || k->n_sent || s->status != KB_OK)
        return KB_BAD_REQUEST;
    for (size_t i = 0; i < k->n_launches && !s->topo->impls && s->status == KB_OK; i++) {
        int64_t launch_fs;
        uint64_t n;

        if (!weigh_launch(s, k->launches[i], &launch_fs, &n))
            return KB_NO_MEMORY;
        *fs = k->streams ? larger(*fs, launch_fs) : *fs + launch_fs;
        *commands += n;
        fails = fails || launch_fs < 0;
    }
    if (fails || s->status != KB_OK) /* a run will say why */
        *fs = 0;
    s->status = KB_STOPPED; /* it is of no more use */
    return KB_OK;
}
