/* tl_program.c -- calls of a kernel that take no time: where it runs, names, memory of the host.
 *
 * A kernel is one function for all PEs, and finds its part by these numbers. tl_program_id() has
 * three axes: PE in its cube, cube in its SIP, SIP; tl_pe() counts over all of them, as launches
 * and messages do. On cube8, PE 3 of cube 5 has ids 3, 5, 0, and is PE 43.
 *
 * tl_time() is the time at which the last call returned: the kernel's own code takes none.
 */
#include "kernels/bound.h"
#include "kernels/pool.h"
#include "kernels/skips.h"
#include "kernels/tl_call.h"
#include "pe/boxes.h"
#include <stdlib.h>
#include <string.h>

int64_t tl_program_id_at(tl_here here, tl_ctx *tl, int axis)
{
    struct call call = begin_call(tl, "tl_program_id", here);
    const struct kb_topology *t = tl->sim->topo;
    uint32_t cube = src_cube(t, tl->src);

    switch (axis) {
    case 0:
        return pe_rank(t, tl->src);
    case 1:
        return cube_rank(t, cube) - cube_rank(t, cube / t->cubes * t->cubes);
    case 2:
        return sip_rank(t, cube / t->cubes);
    default:
        BAD(&call, "axis %d is none of 0, 1, 2", axis);
    }
}

int64_t tl_num_programs_at(tl_here here, tl_ctx *tl, int axis)
{
    struct call call = begin_call(tl, "tl_num_programs", here);
    const struct kb_topology *t = tl->sim->topo;
    uint32_t cube = src_cube(t, tl->src);

    switch (axis) {
    case 0:
        return cube_pe_count(t, cube);
    case 1:
        return cubes_with_pes(t, cube / t->cubes);
    case 2:
        return sip_rank(t, t->sips);
    default:
        BAD(&call, "axis %d is none of 0, 1, 2", axis);
    }
}

uint32_t tl_pe(const tl_ctx *tl)
{
    return tl->number;
}

const kb_topology *tl_topology(const tl_ctx *tl)
{
    return tl->sim->topo;
}

double tl_time(const tl_ctx *tl)
{
    bound_ends(&tl->kernels->pes[tl->number]);
    return (double)tl->kernels->now_fs / 1e6;
}

/* A name, copied: a record may outlive the string of the kernel. */
struct region {
    struct region *next;
    char name[];
};

void regions_free(struct kernels *k)
{
    while (k->regions) {
        struct region *next = k->regions->next;

        free(k->regions);
        k->regions = next;
    }
}

void tl_region_at(tl_here here, tl_ctx *tl, const char *name)
{
    struct call call = begin_call(tl, "tl_region", here);
    struct region *r = tl->kernels->regions;
    size_t bytes;

    tl->region = NULL;
    if (!name)
        return;
    while (r && strcmp(r->name, name) != 0)
        r = r->next;
    if (!r) {
        bytes = strlen(name) + 1;
        r = malloc(sizeof *r + bytes);
        if (!r)
            call_no_memory(&call);
        memcpy(r->name, name, bytes);
        r->next = tl->kernels->regions;
        tl->kernels->regions = r;
    }
    tl->region = r->name;
}

void *tl_alloc_host_at(tl_here here, tl_ctx *tl, size_t nbytes)
{
    struct call call = begin_call(tl, "tl_alloc_host", here);
    void *bytes = host_bytes_new(tl, nbytes);

    if (!bytes)
        call_no_memory(&call);
    return bytes;
}

void *kernels_room(tl_here here, tl_ctx *tl, size_t n, size_t bytes)
{
    struct call call = {tl, tl->call, here};
    void *made = calloc(n, bytes);

    if (!made)
        call_no_memory(&call);
    return made;
}

void kernels_begin_with_zeros(tl_here here, tl_ctx *tl, tl_tensor *x, struct version **zeros)
{
    struct call call = {tl, tl->call, here};

    if (!*zeros || (*zeros)->nbytes < x->nbytes) {
        version_drop(*zeros);
        *zeros = version_new_bytes(x->nbytes);
        if (*zeros)
            memset((*zeros)->bytes, 0, x->nbytes);
    }
    if (!*zeros || mem_write(tl->kernels->mem, tl->tcm, x->address, x->nbytes,
                             (struct view){*zeros, 0}, OP_NONE) != MEM_OK)
        call_no_memory(&call);
}

/* The costs of software of collectives, which a launch's result has. */
static void pay_collective(tl_ctx *tl, int64_t fs)
{
    pe_result(tl)->software_fs += fs;
    kernel_pay(tl, 0, fs);
}

void tl_pay_at(tl_here here, tl_ctx *tl, tl_cost cost)
{
    const struct kb_topology *t = tl->sim->topo;
    struct call call = begin_call(tl, "tl_pay", here);

    if (cost == TL_COST_LAUNCH)
        kernel_pay(tl, t->launch_fs, 0);
    else if (cost == TL_COST_CALL || cost == TL_COST_STEP)
        pay_collective(tl, cost == TL_COST_CALL ? t->call_fs : t->step_fs);
    else
        BAD(&call, "there is no cost %d", (int)cost);
}

void tl_idle_at(tl_here here, tl_ctx *tl, int64_t fs)
{
    struct call call = begin_call(tl, "tl_idle", here);

    if (fs < 0)
        BAD(&call, "%lld fs are before now", (long long)fs);
    tl->idle_begin_fs = (int64_t)tl->kernels->now_fs;
    tl->idle_end_fs = tl->idle_begin_fs + fs;
    tl->met_fs = INT64_MAX;
    kernel_pay(tl, 0, fs);
}

int64_t tl_met_fs(const tl_ctx *tl)
{
    return tl->idle_end_fs > 0 ? tl->met_fs : INT64_MAX;
}

int64_t tl_filled_fs(const tl_ctx *tl)
{
    return (int64_t)tl->filled_fs;
}

int64_t tl_paced_fs(const tl_ctx *tl)
{
    const struct kb_sim *s = tl->sim;

    if (!s->paces || !s->made[src_cube(s->topo, tl->src)])
        return 0;
    const uint64_t *pace = &s->paces[2 * (size_t)tl->src];
    return (int64_t)(pace[0] > pace[1] ? pace[0] : pace[1]);
}

uint64_t tl_slot_bytes(const tl_ctx *tl)
{
    return tl->slot_room.bytes;
}

void tl_hold_for_slots_at(tl_here here, tl_ctx *tl, uint64_t nbytes)
{
    struct call call = begin_call(tl, "tl_hold_for_slots", here);

    if (nbytes > pe_kind(tl)->tcm_read.nbytes)
        BAD(&call, "the TCM has %llu bytes, not %llu",
            (unsigned long long)pe_kind(tl)->tcm_read.nbytes, (unsigned long long)nbytes);
    tl->held_for_slots = nbytes;
}

void tl_skip_at(tl_here here, tl_ctx *tl, const tl_draw *draws, size_t n, int64_t later_fs,
                const uint32_t *pes)
{
    struct call call = begin_call(tl, "tl_skip", here);

    if (n > 0 && (!draws || !pes))
        BAD(&call, "no list");
    if (n > 0 && draws->at_fs + later_fs < (int64_t)tl->kernels->now_fs)
        BAD(&call, "ids are left free before now");
    if (n > 0 && !skips_add(tl->kernels, &(struct skip){draws, n, later_fs, pes}))
        call_no_memory(&call);
}

void tl_fail_of_at(tl_here here, tl_ctx *tl, const char *name, const char *text)
{
    struct call call = begin_call(tl, name, here);

    BAD(&call, "%s", text ? text : "");
}

void tl_fail_at(tl_here here, tl_ctx *tl, const char *text)
{
    tl_fail_of_at(here, tl, "tl_fail", text);
}
