/* launches.c -- when launches set out, and what begins and ends with one.
 *
 * A launch waits for the last response of the launch before it in its stream, of those that it
 * names in `after`, and of every earlier launch that shares a PE with it. Then its hosts send it;
 * its kernels begin together when the last PE has been reached; it ends when all of them have, and
 * its last response is `response_fs`. So launches of two streams on other PEs run side by side, and
 * those of one stream one after the other.
 *
 * kb_launch() in launch.c counts what a launch lacks, and enters it among the `followers` of each
 * of those. As a launch ends, each follower lacks one less; one that lacks nothing sets out. All
 * that it takes is known then, as responses wait for nothing: events that begin kernels go into
 * k->wakes at once, for a time to come.
 *
 * Example, in ns on cube8 with PEs 0 and 1, launches A on PE 0, stream 0; B on PE 1, stream 1; C on
 * PE 0, stream 1. Each kernel takes 533.5:
 *
 *     0            A and B set out; C lacks both: B by its stream, A by its PE
 *     21.218750    B's kernel begins; A's at 21.256250, as its way is longer
 *     554.718750   B's kernel ends, and its response is back at 555.937500
 *     554.756250   A's ends; it is back at 556.012500. C lacks nothing: it sets out then
 *     577.268750   C's kernel begins
 *
 * Invariants:
 *   - A PE has one launch at a time: pe->launch, from when that sets out. It keeps the last one.
 *   - Queues, barriers and orders of collectives belong to a launch. They are freed as the next one
 *     begins, as the last piece of a message is still at work on its queue while its kernel ends.
 *   - The TCMs of a launch's PEs are cleared as its kernels begin, not before: until then kernels
 *     of others may read what lies there.
 */
#include "kernels/launches.h"
#include "network/l2.h"
#include "base/rows.h"
#include "data/host.h"
#include "engine/observer.h"
#include "kernels/barrier.h"
#include "kernels/coll_order.h"
#include "kernels/error.h"
#include "kernels/persist.h"
#include "kernels/requests.h"
#include "pe/boxes.h"
#include "pe/pe_ipcq.h"
#include "record/race.h"
#include <stdlib.h>

/* -- the way to a PE and back ----------------------------------------------------------------- */

/* From the first host of the PE's SIP to its cube, on the first plane. */
static struct trip launch_trip(const struct kb_topology *t, const struct tl_ctx *pe)
{
    uint32_t cube = src_cube(t, pe->src);

    return walk_trip(t, src_pack(t, cube - cube % t->cubes, 0), dst_pack(t, cube, 0), 0, true, 0,
                     false);
}

/* From the host of the PE's SIP to its pe_cpu, without the overhead of pe_cpu itself. */
static struct cost_row way_to(const struct kb_topology *t, const struct tl_ctx *pe)
{
    const struct trip trip = launch_trip(t, pe);
    uint32_t row = cube_kind(t, src_cube(t, pe->src)) * t->n_host_sides;
    struct walked_cost c;

    if (t->regular)
        return cost_add(cost_host_to_engine(t, &trip), &t->cost_launch[src_pe(t, pe->src)]);
    c = cost_walked(t, &trip);
    return cost_add(c.way, &t->cost_launch[(row + c.side) * t->pes + src_pe(t, pe->src)]);
}

static int64_t launch_fs(const struct kb_sim *s, const struct tl_ctx *pe)
{
    struct cost_row way = way_to(s->topo, pe);

    return cost_way_fs(&s->mask, way.wire_fs, way.overhead_fs);
}

static int64_t response_fs(const struct kb_sim *s, const struct tl_ctx *pe)
{
    const struct trip trip = launch_trip(s->topo, pe);

    return cost_response_fs(s->topo, &s->mask, &trip, way_to(s->topo, pe).wire_fs);
}

/* -- setting out ------------------------------------------------------------------------------ */

/* PE number `i` of a launch. */
static struct tl_ctx *pe_of(struct kernels *k, const struct launch *l, size_t i)
{
    return &k->pes[l->request.pes ? l->request.pes[i] : i];
}

bool launch_has_room(struct launch *before)
{
    size_t cap = before->followers_cap ? 2 * before->followers_cap : 1;
    struct launch **moved;

    if (before->n_followers < before->followers_cap)
        return true;
    moved = realloc(before->followers, cap * sizeof(struct launch *));
    if (!moved)
        return false;
    before->followers = moved;
    before->followers_cap = cap;
    return true;
}

/* It has ended. */
static void has_waited(struct launch *follower, const struct launch *before)
{
    if (before->result.response_fs > follower->ready_fs)
        follower->ready_fs = before->result.response_fs;
}

void launch_follow(struct launch *follower, struct launch *before)
{
    if (before->done) {
        has_waited(follower, before);
        return;
    }
    before->followers[before->n_followers++] = follower;
    follower->lacks++;
}

static struct race_launch as_race(const struct kb_sim *s, const struct launch *l)
{
    return (struct race_launch){.number = l->number,
                                .kernel = l->request.name,
                                .pes = l->request.pes,
                                .n = l->request.n_pes,
                                .before = l->before,
                                .n_before = l->n_before,
                                .alone = !s->kernels->streams,
                                .host = s->host};
}

/* Cubes of one kind have as fast PEs: these are counted, so that PEs that are all alike have a
 * multiple of one PE's rates. */
static void add_peaks(const struct kb_sim *s, struct launch *l)
{
    const struct kind_row *kind = NULL;
    double n = 0;

    for (size_t i = 0; i <= l->request.n_pes; i++) {
        const struct kind_row *next =
            i < l->request.n_pes ? pe_kind(pe_of(s->kernels, l, i)) : NULL;

        if (kind && next != kind) {
            l->result.gemm_macs_per_ns += n * pe_gemm_macs_per_ns(&kind->pe);
            l->result.math_elements_per_ns += n * pe_math_elements_per_ns(&kind->pe);
            n = 0;
        }
        kind = next;
        n++;
    }
}

/* All kernels start together, when the last of them can, and pay software.launch_ns first. */
static void send_launch(struct kb_sim *s, struct launch *l)
{
    struct kernels *k = s->kernels;
    uint64_t start, begin;
    int64_t way = 0;

    l->result = (struct kb_launch_result){
        .kernel = l->request.name, .pes = (uint32_t)l->request.n_pes, .launch_fs = l->ready_fs};
    add_peaks(s, l);
    for (size_t i = 0; i < l->request.n_pes; i++) {
        int64_t fs = launch_fs(s, pe_of(k, l, i));

        way = fs > way ? fs : way;
    }
    start = later((uint64_t)l->ready_fs, way);
    begin = later(start, s->topo->launch_fs);
    l->result.start_fs = (int64_t)start;
    l->running = (uint32_t)l->request.n_pes;
    l->sent = true;
    k->n_sent++;
    host_wait(s->host, true);
    for (size_t i = 0; i < l->request.n_pes; i++) {
        struct tl_ctx *pe = pe_of(k, l, i);

        pe->launch = l;
        pe->state = PE_BEGINS;
        pe->issued = pe->overlaps = pe->overlapped = false;
        pe->room_fs = 0;
        pe->held_for_slots = 0;
        pe->call = NULL;
        pe->paid = (struct paid){.launch_fs = s->topo->launch_fs, .end_fs = (int64_t)begin};
        wakes_append(&k->wakes, begin, pe->number);
    }
    if (s->race) {
        const struct race_launch r = as_race(s, l);

        if (!race_launch_begins(s->race, &r))
            kernel_no_memory(pe_of(k, l, 0));
    }
}

void launches_send(struct kb_sim *s)
{
    struct kernels *k = s->kernels;

    for (size_t i = k->n_done; i < k->n_launches; i++)
        if (!k->launches[i]->sent && !k->launches[i]->lacks)
            send_launch(s, k->launches[i]);
}

/* -- beginning -------------------------------------------------------------------------------- */

/* Forgets what an earlier kernel left in a TCM, but what it keeps by name. */
static void clear_tcm(struct tl_ctx *pe)
{
    mem_clear(pe->kernels->mem, pe->tcm);
    if (!persist_show(pe))
        engine_fail(pe->sim, KB_NO_MEMORY);
}

static void free_queues(struct launch *l)
{
    ipcq_free(l->ipcq);
    barriers_free(l->barriers);
    coll_orders_free(l->orders);
    l->ipcq = NULL;
    l->barriers = NULL;
    l->orders = NULL;
}

void launch_begins(struct tl_ctx *pe)
{
    struct kernels *k = pe->kernels;
    struct launch *l = pe->launch;

    if (l->begun)
        return;
    l->begun = true;
    for (; k->left; k->left = k->left->left)
        free_queues(k->left);
    for (size_t i = 0; i < l->request.n_pes; i++) {
        uint32_t cube = src_cube(pe->sim->topo, pe_of(k, l, i)->src);

        clear_tcm(pe_of(k, l, i));
        if (i == 0 || cube != src_cube(pe->sim->topo, pe_of(k, l, i - 1)->src))
            l2_launch(pe->sim, cube);
    }
}

/* -- ending ----------------------------------------------------------------------------------- */

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

static void end_launch(struct kb_sim *s, struct launch *l)
{
    struct kernels *k = s->kernels;

    count_idle(k, l);
    ipcq_count_unreceived(l->ipcq, &l->result);
    l->done = true;
    k->n_done++;
    l->left = k->left;
    k->left = l;
    if (l->result.response_fs > s->end_fs)
        s->end_fs = l->result.response_fs;
    host_wait(s->host, launches_under_way(k) > 0);
    if (s->race) {
        const struct race_launch r = as_race(s, l);

        if (!race_launch_ends(s->race, &r))
            kernel_no_memory(pe_of(k, l, 0));
    }
    for (size_t i = 0; i < l->n_followers; i++) {
        struct launch *next = l->followers[i];

        has_waited(next, l);
        if (--next->lacks == 0)
            send_launch(s, next);
    }
}

void launch_leaves(struct tl_ctx *pe, uint64_t t)
{
    struct launch *l = pe->launch;
    uint64_t back = later(t, response_fs(pe->sim, pe));

    if (back == EV_PAST)
        engine_fail(pe->sim, KB_TIME_RANGE);
    if ((int64_t)t > l->result.last_end_fs)
        l->result.last_end_fs = (int64_t)t;
    if (back > (uint64_t)l->result.response_fs)
        l->result.response_fs = (int64_t)back;
    if (--l->running == 0 && pe->sim->status == KB_OK)
        end_launch(pe->sim, l);
}

void launch_free(struct launch *l)
{
    free_queues(l);
    free((uint32_t *)l->request.pes);
    free(l->followers);
    free(l->before);
    free(l);
}
