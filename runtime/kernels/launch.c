/* launch.c -- launches: hosts send a kernel to its PEs, it runs on each, responses come back.
 *
 * Launches run one after the other. The host of each SIP sends the launch to its PEs; all of them
 * start together when the last has been reached, and the next launch sets out when the last
 * response is back. docs/kernels.md "Launch and response": 27.83625 ns to the PEs of cube8, 1.25625
 * ns back from c0.pe0.
 *
 * Example: `run softmax` on cube8, all 64 PEs, times in ns (columns launch, start, kernel and
 * total):
 *
 *     0            begin_launch(): the host sends 64 launches
 *     27.836250    the last of them is reached; all kernels start, by 64 entries of k->wakes
 *     241.006250   all kernels have returned, and their commands have ended: kernel_ns 213.17
 *     248.842500   the response of c7.pe7, 7.83625 later, is back: total_ns 248.8425, end_launch()
 *
 * Invariants:
 *   - Between launches no transaction is in flight. Queues, barriers and the contents of TCMs are
 *     cleared by begin_launch(), so that no kernel finds what an earlier one has left.
 *   - The host waits from begin_launch() to end_launch() (host_wait()).
 *   - A launch that ends in a mistake, a deadlock or a bound leaves the run ended: s->status keeps
 *     it, and kernels_run() returns it at once, however often it is called.
 */
#include "base/rows.h"
#include "engine/observer.h"
#include "engine/stations.h"
#include "data/host.h"
#include "engine/split.h"
#include "kernels/barrier.h"
#include "kernels/coll_order.h"
#include "kernels/kernels_engine.h"
#include "kernels/error.h"
#include "kernels/persist.h"
#include "kernels/pool.h"
#include "kernels/requests.h"
#include "machine/address.h"
#include "machine/endpoint.h"
#include "pe/boxes.h"
#include "pe/pe_ipcq.h"
#include "record/oplog.h"
#include "record/race.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- kernels of a simulation ------------------------------------------------------------------ */

/* Ports of one direction are one station. False: no memory. */
static bool make_ports(struct kernels *k, const struct tl_ctx *pe)
{
    for (enum port port = PORT_TCM_READ; port <= PORT_TCM_WRITE; port++) {
        uint32_t n = pe_port(pe, port)->ports;
        struct link_station *station = &k->ports[pe->number * (size_t)N_PORTS + port];

        if (n > 1 && !(station->others = servers_new(n - 1)))
            return false;
    }
    return true;
}

static bool pe_init(struct kb_sim *s, struct kernels *k, uint32_t number)
{
    struct tl_ctx *pe = &k->pes[number];
    const struct kb_topology *t = s->topo;

    pe->sim = s;
    pe->kernels = k;
    pe->number = number;
    pe->src = pe_src(t, number);
    pe->tcm = pe_tcm(t, pe->src);
    pe->tcm_address = address_of(t, pe->tcm, 0);
    tcm_blocks_begin(pe);
    for (int i = 0; i < N_PORTS; i++)
        pe->port[i].head = pe->port[i].holder = TXN_NONE;
    return make_ports(k, pe);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t way_fs(const struct kb_sim *s, const struct cost_row *c)
{
    return cost_way_fs(&s->mask, c->wire_fs, c->overhead_fs);
}

/*
 * A lower bound of the ways from any PE to memory `unit` of any cube: the least of the local ways,
 * and of every way out of a cube plus every way into one. For slice 0 of cube8 that is 2.085 ns,
 * the own PE's way.
 *
 * It is for go_ideal_of_kernel() of engine/inorder_steps.h. A read that is issued now and takes no
 * longer than the least way cannot be overtaken, if nothing else is in flight to its memory. So it
 * takes its turn there at once, and the event of the arrival is left out.
 */
static int64_t least_way_fs(const struct kb_sim *s, uint32_t unit)
{
    const struct kb_topology *t = s->topo;
    int64_t local = INT64_MAX, out = INT64_MAX, in = INT64_MAX;

    for (uint32_t pe = 0; pe < t->pes; pe++)
        local = least(local, way_fs(s, &t->cost_local[pe * t->n_units + unit]));
    for (uint32_t i = 0; i < t->pes * N_EXITS; i++)
        out = least(out, way_fs(s, &t->cost_out[i]));
    for (uint32_t side = 0; side < N_SIDES; side++)
        in = least(in, way_fs(s, &t->cost_in[side * t->n_units + unit]));
    return least(local, out + in);
}

/* < 0 where links are stations, as arrivals are not known then, where cubes differ, and for TCMs,
 * which their PEs use. */
static void find_least_ways(const struct kb_sim *s, struct kernels *k)
{
    const struct kb_topology *t = s->topo;

    for (uint32_t unit = 0; unit < t->n_units; unit++) {
        bool no_least = t->links == MODE_FIFO || !t->regular || unit_is_tcm(t, unit);

        k->least_way_fs[unit] = no_least ? -1 : least_way_fs(s, unit);
    }
}

static void find_issue_times(const struct kb_sim *s, struct kernels *k)
{
    for (uint32_t kind = 0; kind < s->topo->n_kinds; kind++) {
        const struct pe_row *pe = &s->topo->kinds[kind].pe;

        k->issue_fs[kind] =
            cost_way_fs(&s->mask, 0, pe->cpu_overhead_fs + pe->scheduler_overhead_fs);
    }
}

/* The state of one is about 3 KiB, its stack included. */
enum { MANY_PES = 256 };

struct kernels *kernels_new(struct kb_sim *s)
{
    const struct kb_topology *t = s->topo;
    struct kernels *k = calloc(1, sizeof *k);

    if (!k)
        return NULL;
    k->n_pes = pe_count(t);
    k->many = k->n_pes >= MANY_PES;
    k->free_slot = TXN_NONE;
    k->mem = host_mem(&s->host, s->topo);
    k->pes = rows_new(k->n_pes, sizeof *k->pes);
    k->ports = rows_new(k->n_pes * (size_t)N_PORTS, sizeof *k->ports);
    k->stacks = co_pool_new(s->options.stack_bytes);
    k->least_way_fs = malloc(t->n_units * sizeof *k->least_way_fs);
    k->issue_fs = malloc(t->n_kinds * sizeof *k->issue_fs);
    if (!wakes_init(&k->wakes, k->n_pes) || !k->mem || !k->pes || !k->ports || !k->stacks ||
        !k->least_way_fs || !k->issue_fs || (s->options.no_values && !mem_forget(k->mem))) {
        kernels_free(k);
        return NULL;
    }
    find_issue_times(s, k);
    stations_make_all(s);
    find_least_ways(s, k);
    for (uint32_t i = 0; i < k->n_pes; i++) {
        if (!pe_init(s, k, i)) {
            kernels_free(k);
            return NULL;
        }
    }
    return k;
}

void kernels_free(struct kernels *k)
{
    if (!k)
        return;
    for (uint32_t i = 0; k->pes && i < k->n_pes; i++) {
        if (k->pes[i].co)
            co_drop(k->pes[i].co);
        persist_free_all(&k->pes[i]);
        pe_clear(&k->pes[i]);
    }
    for (size_t i = 0; i < k->n_launches; i++)
        free((uint32_t *)k->launches[i].request.pes);
    commands_free_all(k);
    free(k->launches);
    free(k->work);
    free(k->issue_fs);
    free(k->part_slots);
    free(k->targets);
    if (k->ports)
        stations_free_rings(k->ports, k->n_pes * (size_t)N_PORTS);
    free(k->ports);
    free(k->pes);
    ipcq_free(k);
    barriers_free(k);
    coll_orders_free(k->orders);
    co_pool_free(k->stacks);
    wakes_free(&k->wakes);
    free(k->least_way_fs);
    regions_free(k);
    pool_free(k);
    free(k);
}

/* -- kb_launch -------------------------------------------------------------------------------- */

static kb_status check_pes(const struct kb_topology *t, const kb_launch_request *r, kb_error *why)
{
    uint32_t n = pe_count(t);

    if (n == 0)
        return endpoint_error(why, "kernels need PEs, this topology has none");
    for (size_t i = 0; r->pes && i < r->n_pes; i++) {
        if (r->pes[i] >= n)
            return endpoint_error(why, "there is no PE %u, only 0..%u", r->pes[i], n - 1);
        if (i && r->pes[i] <= r->pes[i - 1])
            return endpoint_error(why, "the PEs of a launch are not in ascending order");
    }
    if (r->pes && !r->n_pes)
        return endpoint_error(why, "a launch needs at least one PE");
    return r->kernel && r->name ? KB_OK
                                : endpoint_error(why, "a launch needs a kernel and its name");
}

static bool room_for_launch(struct kernels *k)
{
    size_t cap = k->launches_cap ? 2 * k->launches_cap : 4;
    struct launch *moved;

    if (k->n_launches < k->launches_cap)
        return true;
    moved = realloc(k->launches, cap * sizeof *moved);
    if (!moved)
        return false;
    k->launches = moved;
    k->launches_cap = cap;
    return true;
}

static bool tcms_pass_addresses(const struct kb_topology *t)
{
    for (uint32_t kind = 0; kind < t->n_kinds; kind++)
        if (t->kinds[kind].pes * t->kinds[kind].tcm_read.nbytes > ADDRESS_REGION_BYTES)
            return true;
    return false;
}

/* Makes the state of kernels at the first launch. */
static kb_status make_kernels(struct kb_sim *s, kb_error *why)
{
    if (s->n_txns || s->traffic)
        return endpoint_error(why,
                              "the simulation has transactions of its own, it takes no kernels");
    if (tcms_pass_addresses(s->topo))
        return endpoint_error(why, "the TCMs of a cube pass 64 GiB, more than addresses can name");
    bool keeps = s->options.phase2 || s->options.values, logs = s->options.oplog || keeps;

    if (!s->log && logs)
        s->log = op_log_new(s->topo, s->options.oplog_limit_bytes, keeps);
    if (!s->log && logs)
        return KB_NO_MEMORY;
    if (!s->kernels)
        s->kernels = kernels_new(s);
    if (s->kernels && split_sees_runs(s->topo) && !split_begin(s))
        return KB_NO_MEMORY;
    return s->kernels ? KB_OK : KB_NO_MEMORY;
}

/* Launches, writes and messages take the first plane, reads the last; hashed commands take any. */
static bool plane_serves(const struct kb_topology *t, uint32_t plane)
{
    return plane == 0 || plane == t->planes - 1u || t->plane_choice == PLANE_BY_HASH;
}

/* Kernels may reach any cube, at any time, on each plane that they take. */
static kb_status check_ways(const struct kb_topology *t, kb_error *why)
{
    for (uint32_t plane = 0; plane < t->planes; plane++)
        if (t->plane_rows[plane].in_parts && plane_serves(t, plane))
            return endpoint_error(why,
                                  "kernels need ways between all cubes: %s%s has none "
                                  "between some, see sip.planes and broken",
                                  *t->plane_rows[plane].name ? "plane " : "the mesh",
                                  t->plane_rows[plane].name);
    return KB_OK;
}

kb_status kb_launch(kb_sim *s, const kb_launch_request *r, kb_error *why)
{
    REFUSE_NULL(s && r, "sim, request", why);
    kb_status status = s->status == KB_OK ? check_pes(s->topo, r, why)
                                          : endpoint_error(why, "the simulation has ended");

    if (status == KB_OK)
        status = check_ways(s->topo, why);
    struct kernels *k;
    struct launch *l;
    uint32_t *pes = NULL;

    if (status == KB_OK)
        status = make_kernels(s, why);
    if (status != KB_OK)
        return status;
    k = s->kernels;
    if (r->pes && !(pes = malloc(r->n_pes * sizeof *pes)))
        return KB_NO_MEMORY;
    if (!room_for_launch(k)) {
        free(pes);
        return KB_NO_MEMORY;
    }
    if (pes)
        memcpy(pes, r->pes, r->n_pes * sizeof *pes);
    l = &k->launches[k->n_launches++];
    *l = (struct launch){.request = *r};
    l->request.pes = pes;
    l->request.n_pes = pes ? r->n_pes : k->n_pes;
    return KB_OK;
}

/* -- one launch ------------------------------------------------------------------------------- */

/* PE number `i` of a launch. */
static struct tl_ctx *pe_of(struct kernels *k, const struct launch *l, size_t i)
{
    return &k->pes[l->request.pes ? l->request.pes[i] : i];
}

/* Forgets what an earlier kernel left in a TCM, but what it keeps by name. */
static void clear_tcms(struct kb_sim *s)
{
    const struct kb_topology *t = s->topo;

    for (uint32_t i = 0; i < s->kernels->n_pes; i++) {
        mem_clear(s->kernels->mem, pe_tcm(t, pe_src(t, i)));
        if (!persist_show(&s->kernels->pes[i]))
            engine_fail(s, KB_NO_MEMORY);
    }
}

/* All kernels start together, when the last of them can, and pay software.launch_ns first. */
static void begin_launch(struct kb_sim *s)
{
    struct kernels *k = s->kernels;
    struct launch *l = current_launch(k);
    uint64_t start, begin;
    int64_t way = 0;

    l->result = (struct kb_launch_result){
        .kernel = l->request.name, .pes = (uint32_t)l->request.n_pes, .launch_fs = s->end_fs};
    for (size_t i = 0; i < l->request.n_pes; i++) {
        int64_t fs = pe_launch_fs(s, pe_of(k, l, i));

        way = fs > way ? fs : way;
    }
    start = later((uint64_t)s->end_fs, way);
    begin = later(start, s->topo->launch_fs);
    l->result.start_fs = (int64_t)start;
    k->running = (uint32_t)l->request.n_pes;
    k->launched = true;
    host_wait(s->host, true);
    ipcq_clear(k);
    barriers_free(k);
    coll_orders_free(k->orders);
    clear_tcms(s);
    if (s->race && !race_launch(s->race, l->request.name, l->request.n_pes, s->host))
        kernel_no_memory(pe_of(k, l, 0));
    for (size_t i = 0; i < l->request.n_pes; i++) {
        struct tl_ctx *pe = pe_of(k, l, i);

        pe->state = PE_BEGINS;
        pe->issued = pe->overlaps = pe->overlapped = false;
        pe->room_fs = 0;
        pe->call = NULL;
        pe->paid = (struct paid){.launch_fs = s->topo->launch_fs, .end_fs = (int64_t)begin};
        wakes_append(&k->wakes, begin, pe->number);
    }
}

/*
 * Counts PEs of the launch that have issued no command: mostly a kernel that was launched on more
 * PEs than there is work for, which rows/warn.c tells. `idle_pe` is the lowest of them.
 */
static void count_idle(struct kernels *k, struct launch *l)
{
    for (size_t i = l->request.n_pes; i-- > 0;) {
        const struct tl_ctx *pe = pe_of(k, l, i);

        if (pe->issued)
            continue;
        l->result.idle_pes++;
        l->result.idle_pe = pe->number;
    }
}

static void end_launch(struct kb_sim *s)
{
    struct kernels *k = s->kernels;
    struct launch *l = current_launch(k);

    count_idle(k, l);
    ipcq_count_unreceived(k, &l->result);
    l->done = true;
    s->end_fs = l->result.response_fs;
    k->launched = false;
    host_wait(s->host, false);
    k->launch++;
}

/* -- running ---------------------------------------------------------------------------------- */

/* A PE that has not ended. */
static const struct tl_ctx *unfinished(const struct kernels *k)
{
    for (uint32_t i = 0; i < k->n_pes; i++)
        if (k->pes[i].state != PE_IDLE)
            return &k->pes[i];
    return NULL;
}

/* max_events ends kernels that would not end by themselves. */
static kb_status too_many_events(struct kb_sim *s)
{
    const struct tl_ctx *pe = unfinished(s->kernels);
    char *text = s->kernels->error.text;
    size_t size = sizeof s->kernels->error.text, n = 0;

    if (pe)
        n = error_place(pe, pe->call, pe->here, text, size);
    snprintf(text + n, size - n, "the kernel has not ended after %llu events",
             (unsigned long long)s->options.max_events);
    return s->status = KB_KERNEL_ERROR;
}

/*
 * What kernels_run() returns. The engine stops for max_events as it does for a time bound, with
 * KB_STOPPED; for kernels that is a mistake, as a loop of commands would go on without end.
 */
static kb_status ran(struct kb_sim *s, kb_status status, kb_error *why)
{
    if (status == KB_STOPPED && s->options.max_events && s->n_events >= s->options.max_events)
        status = too_many_events(s);
    if (status != KB_AGAIN && status != KB_OK)
        s->status = status;
    if (why && status != KB_OK && status != KB_AGAIN && s->kernels->error.text[0])
        *why = s->kernels->error;
    return status;
}

/* A run that has ended, by a mistake or a bound, stays ended. */
kb_status kernels_run(struct kb_sim *s, uint64_t budget, kb_error *why)
{
    struct kernels *k = s->kernels;
    kb_status status = s->status;

    if (k->on)
        return endpoint_error(why, "a kernel cannot run the simulation that runs it");
    if (!k->launched && k->launch == 0)
        observe_begin(s);
    while (status == KB_OK && k->launch < k->n_launches) {
        if (!k->launched)
            begin_launch(s);
        status = engine_kernels(s, budget);
        if (status == KB_OK && k->running)
            status = queues_never_end(s) ? KB_DEADLOCK : deadlock(s);
        if (status == KB_OK)
            end_launch(s);
    }
    return ran(s, status, why);
}

size_t kb_launch_count(const kb_sim *s)
{
    return s->kernels ? s->kernels->n_launches : 0;
}

size_t kb_launch_done(const kb_sim *s)
{
    return s->kernels ? s->kernels->launch : 0;
}

kb_status kb_launch_get(const kb_sim *s, size_t i, kb_launch_result *out)
{
    REFUSE_NULL(s && out, "sim, out", NULL);
    if (i >= kb_launch_count(s))
        return KB_BAD_REQUEST;
    *out = s->kernels->launches[i].result;
    return s->kernels->launches[i].done ? KB_OK : KB_PENDING;
}

bool kb_catch_overflow(void)
{
    return co_catch_overflow();
}

bool kb_catch_crashes(void)
{
    return co_catch_crashes();
}
