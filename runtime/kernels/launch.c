/* launch.c -- adds launches to a simulation, and runs them; launches.c says when each sets out.
 *
 * kernels_run() sends what waits for nothing and runs the engine until no event is left. By then
 * each launch that ended has sent those that waited for it, so all have ended; else kernels wait
 * for each other.
 *
 * Example: `run softmax` on cube8, all 64 PEs, times in ns (columns launch, start, kernel and
 * total):
 *
 *     0            launches_send(): the host sends 64 launches
 *     27.836250    the last of them is reached; all kernels start, by 64 entries of k->wakes
 *     241.006250   all kernels have returned, and their commands have ended: kernel_ns 213.17
 *     248.842500   the response of c7.pe7, 7.83625 later, is back: total_ns 248.8425
 *
 * Invariants:
 *   - The host waits while a launch is under way (host_wait()).
 *   - A launch that ends in a mistake, a deadlock or a bound leaves the run ended: s->status keeps
 *     it, and kernels_run() returns it at once, however often it is called.
 */
#include "base/larger.h"
#include "base/rows.h"
#include "engine/observer.h"
#include "engine/stations.h"
#include "data/host.h"
#include "engine/split.h"
#include "kernels/barrier.h"
#include "kernels/coll_order.h"
#include "kernels/kernels_engine.h"
#include "kernels/launches.h"
#include "kernels/error.h"
#include "kernels/persist.h"
#include "kernels/pool.h"
#include "kernels/requests.h"
#include "kernels/ways_needed.h"
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
    tcm_blocks_begin(pe, pe_kind(pe)->tcm_read.nbytes);
    for (int i = 0; i < N_PORTS; i++)
        pe->port[i].head = pe->port[i].holder = TXN_NONE;
    return make_ports(k, pe);
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
 * It is for go_ideal_of_kernel() of engine/inorder_way.h. A read that is issued now and takes no
 * longer than the least way cannot be overtaken, if nothing else is in flight to its memory. So it
 * takes its turn there at once, and the event of the arrival is left out.
 */
static int64_t least_way_fs(const struct kb_sim *s, uint32_t unit)
{
    const struct kb_topology *t = s->topo;
    int64_t local = INT64_MAX, out = INT64_MAX, in = INT64_MAX;

    for (uint32_t pe = 0; pe < t->pes; pe++)
        local = smaller(local, way_fs(s, &t->cost_local[pe * t->n_units + unit]));
    for (uint32_t i = 0; i < t->pes * N_EXITS; i++)
        out = smaller(out, way_fs(s, &t->cost_out[i]));
    for (uint32_t side = 0; side < N_SIDES; side++)
        in = smaller(in, way_fs(s, &t->cost_in[side * t->n_units + unit]));
    return smaller(local, out + in);
}

/* < 0 where links are stations, as arrivals are not known then, where cubes differ, for TCMs, which
 * their PEs use, and for slices that an L2 reads and writes, too: its way there is no PE's. */
static void find_least_ways(const struct kb_sim *s, struct kernels *k)
{
    const struct kb_topology *t = s->topo;

    for (uint32_t unit = 0; unit < t->n_units; unit++) {
        bool no_least = t->links == MODE_FIFO || !t->regular || unit_is_tcm(t, unit) ||
                        (unit_is_slice(t, unit) && topology_has_l2(t));

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
    k->free_slot = k->empty = TXN_NONE;
    k->mem = host_mem(&s->host, s->topo);
    k->pes = rows_new(k->n_pes, sizeof *k->pes);
    k->ports = rows_new(k->n_pes * (size_t)N_PORTS, sizeof *k->ports);
    k->stacks = co_pool_new(s->options.stack_bytes);
    k->least_way_fs = malloc(t->n_units * sizeof *k->least_way_fs);
    k->issue_fs = malloc(t->n_kinds * sizeof *k->issue_fs);
    k->last_on = calloc(k->n_pes, sizeof(struct launch *));
    if (!wakes_init(&k->wakes, k->n_pes) || !k->mem || !k->pes || !k->ports || !k->stacks ||
        !k->least_way_fs || !k->issue_fs || !k->last_on ||
        (s->options.no_values && !mem_forget(k->mem))) {
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
        launch_free(k->launches[i]);
    commands_free_all(k);
    free(k->launches);
    free(k->last_on);
    free(k->sram_room);
    free(k->hbm_room);
    free(k->work);
    free(k->issue_fs);
    free(k->part_slots);
    free(k->skips);
    free(k->targets);
    if (k->ports)
        stations_free_rings(k->ports, k->n_pes * (size_t)N_PORTS);
    free(k->ports);
    free(k->pes);
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
    struct launch **moved;

    if (k->n_launches < k->launches_cap)
        return true;
    moved = realloc(k->launches, cap * sizeof(struct launch *));
    if (!moved)
        return false;
    k->launches = moved;
    k->launches_cap = cap;
    return true;
}

static bool tcms_pass_addresses(const struct kb_topology *t)
{
    for (uint32_t kind = 0; kind < t->n_kinds; kind++)
        if (t->kinds[kind].pes * t->kinds[kind].tcm_read.nbytes > address_region_bytes(t))
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
        return endpoint_error(why, "the TCMs of a cube pass %llu GiB, more than addresses can name",
                              (unsigned long long)(address_region_bytes(s->topo) >> 30));
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

static kb_status check_after(const struct kernels *k, const kb_launch_request *r, kb_error *why)
{
    if (r->n_after > 0 && !r->after)
        return endpoint_error(why, "a launch comes after %zu others, and 'after' is NULL",
                              r->n_after);
    for (size_t i = 0; i < r->n_after; i++)
        if (r->after[i] >= k->n_launches)
            return endpoint_error(why,
                                  "launch %zu cannot come after launch %u, which is no earlier one",
                                  k->n_launches, r->after[i]);
    return KB_OK;
}

/* The last of a stream so far; NULL: none. */
static struct launch *last_of_stream(const struct kernels *k, uint32_t stream)
{
    for (size_t i = k->n_launches; i-- > 0;)
        if (k->launches[i]->request.stream == stream)
            return k->launches[i];
    return NULL;
}

static void add_before(struct launch *l, struct launch *before)
{
    if (!before || before->marked_by == l)
        return;
    before->marked_by = l;
    l->before[l->n_before++] = before->number;
}

/* Finds those that it waits for. Of earlier launches on a PE the last is enough: it has waited for
 * the others. False: no memory. */
static bool find_before(struct kernels *k, struct launch *l)
{
    const kb_launch_request *r = &l->request;
    bool ok;

    l->before = malloc((1 + r->n_after + r->n_pes) * sizeof *l->before);
    ok = l->before;
    if (!ok)
        return false;
    add_before(l, last_of_stream(k, r->stream));
    for (size_t i = 0; i < r->n_after; i++)
        add_before(l, k->launches[r->after[i]]);
    for (size_t i = 0; i < r->n_pes; i++)
        add_before(l, k->last_on[r->pes ? r->pes[i] : i]);
    for (size_t i = 0; ok && i < l->n_before; i++)
        ok = launch_has_room(k->launches[l->before[i]]);
    return ok;
}

/* When a launch is added: none sets out sooner. */
static int64_t now_or_end_fs(const struct kb_sim *s)
{
    uint64_t now = s->kernels->now_fs > s->now_fs ? s->kernels->now_fs : s->now_fs;

    return launches_under_way(s->kernels) ? (int64_t)now : s->end_fs;
}

/* NULL: no memory. */
static struct launch *launch_new(struct kb_sim *s, const kb_launch_request *r)
{
    struct kernels *k = s->kernels;
    struct launch *l = calloc(1, sizeof *l);
    uint32_t *pes = NULL;

    if (!l)
        return NULL;
    *l = (struct launch){
        .request = *r, .number = (uint32_t)k->n_launches, .ready_fs = now_or_end_fs(s)};
    if (r->pes && (pes = malloc(r->n_pes * sizeof *pes)))
        memcpy(pes, r->pes, r->n_pes * sizeof *pes);
    l->request.pes = pes;
    l->request.n_pes = r->pes ? r->n_pes : k->n_pes;
    if ((!r->pes || pes) && room_for_launch(k) && find_before(k, l))
        return l;
    launch_free(l);
    return NULL;
}

static void add(struct kernels *k, struct launch *l)
{
    const kb_launch_request *r = &l->request;

    for (size_t i = 0; i < l->n_before; i++)
        launch_follow(l, k->launches[l->before[i]]);
    for (size_t i = 0; i < r->n_pes; i++)
        k->last_on[r->pes ? r->pes[i] : i] = l;
    if (l->number > 0 && r->stream != k->launches[0]->request.stream)
        k->streams = true;
    k->launches[k->n_launches++] = l;
}

kb_status kb_launch(kb_sim *s, const kb_launch_request *r, kb_error *why)
{
    REFUSE_NULL(s && r, "sim, request", why);
    kb_status status = s->status == KB_OK ? check_pes(s->topo, r, why)
                                          : endpoint_error(why, "the simulation has ended");

    if (status == KB_OK && !s->kernels)
        status = ways_needed(s->topo, why);
    struct launch *l;

    if (status == KB_OK)
        status = make_kernels(s, why);
    if (status == KB_OK)
        status = check_after(s->kernels, r, why);
    if (status != KB_OK)
        return status;
    l = launch_new(s, r);
    if (!l)
        return KB_NO_MEMORY;
    add(s->kernels, l);
    if (s->kernels->on)
        launches_send(s);
    return KB_OK;
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
    if (k->n_sent == 0)
        OBSERVE(s, begin);
    while (status == KB_OK && (k->busy || k->n_done < k->n_launches)) {
        launches_send(s);
        status = engine_kernels(s, budget);
        k->busy = status != KB_OK;
        if (!k->busy && launches_under_way(k))
            status = queues_never_end(s) ? KB_DEADLOCK : deadlock(s);
    }
    return ran(s, status, why);
}

size_t kb_launch_count(const kb_sim *s)
{
    return s->kernels ? s->kernels->n_launches : 0;
}

size_t kb_launch_done(const kb_sim *s)
{
    return s->kernels ? s->kernels->n_done : 0;
}

kb_status kb_launch_get(const kb_sim *s, size_t i, kb_launch_result *out)
{
    REFUSE_NULL(s && out, "sim, out", NULL);
    if (i >= kb_launch_count(s))
        return KB_BAD_REQUEST;
    *out = s->kernels->launches[i]->result;
    return s->kernels->launches[i]->done ? KB_OK : KB_PENDING;
}

bool kb_catch_overflow(void)
{
    return co_catch_overflow();
}

bool kb_catch_crashes(void)
{
    return co_catch_crashes();
}
