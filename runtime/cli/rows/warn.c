/*
 * warn.c -- warnings about results that may mislead.
 *
 * A simulation can be correct and still not show what was meant. Three such cases are told on
 * stderr (not with --quiet), and in a report among its notes; the first also with the rows,
 * whatever their format (out.h, `warning`):
 *
 *   - Ideal links carry any load. If one carried more than its bandwidth allows, the result is
 *     optimistic: a machine with links fifo would be slower.
 *   - Kernels that did nothing: a bench that moved no byte, PEs of a launch that issued no command,
 *     messages that were sent and never received. Mostly a mistake in indices.
 *   - Traffic that did not reach all the slices that its pattern aims at: too few transactions.
 *
 * An example of the first, from `run gemm` on cube8: 12 links carried more than their bandwidth
 * allows, the worst sip0.cube1.noc -> sip0.cube1.ucie-E with 117.2 %. Of the third: of `load
 * --pattern uniform --rate 0.1 --txns 1`, 62 of the 64 slices aimed at saw no transaction.
 */
#include "cli/rows/warn.h"
#include "cli/out/memory.h"
#include "cli/command.h"
#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Edges that carried more than they could have, and the worst of them. */
struct overload {
    uint64_t n;
    double worst_pct; /* of what the edge can carry: 100 is all */
    char name[KB_PLACE_BYTES];
};

static void add_link(void *arg, const kb_utilization *use)
{
    struct overload *o = arg;

    if (use->kind != KB_AT_LINK || !(use->util_pct > 100))
        return;
    o->n++;
    if (use->util_pct > o->worst_pct) {
        o->worst_pct = use->util_pct;
        memcpy(o->name, use->name, sizeof o->name);
    }
}

const char *warn_of_ideal_links(const struct cli *cli, const kb_sim *sim, char text[WARNING_BYTES])
{
    struct overload o = {0};

    if (strcmp(cli->info.links, "ideal") == 0 && kb_sim_utilization(sim, add_link, &o) != KB_OK)
        memory_lacks();
    if (o.n == 0)
        return strcpy(text, "");
    text_format(
        text, WARNING_BYTES,
        "warning: links are ideal, but %llu of them carried more than their bandwidth allows "
        "(worst: %s, %.1f %%): the result is optimistic; run with "
        "'contention: {links: fifo}' to see the waiting",
        (unsigned long long)o.n, o.name, o.worst_pct);
    return text;
}

/* -- kernels -------------------------------------------------------------------------------- */

static void add_bytes(void *arg, const kb_utilization *use)
{
    *(uint64_t *)arg += use->bytes;
}

static void warn_of_unreceived(const struct cli *cli, const kb_launch_result *r)
{
    char from[KB_ENDPOINT_BYTES], to[KB_ENDPOINT_BYTES];

    cmd_note(cli,
             "warning: messages of kernel %s that were sent and never received: %llu (the first "
             "from %s to %s, tag %u, sent at %s:%d)",
             r->kernel, (unsigned long long)r->unreceived,
             cmd_name_pe(cli, r->unreceived_from, from), cmd_name_pe(cli, r->unreceived_to, to),
             r->unreceived_tag, r->unreceived_file, r->unreceived_line);
}

void warn_of_kernels(const struct cli *cli, const kb_sim *sim, const char *bench)
{
    uint64_t bytes = 0;
    char pe[KB_NODE_BYTES];
    kb_endpoint idle = {0};
    kb_launch_result r;

    if (kb_sim_utilization(sim, add_bytes, &bytes) == KB_OK && bytes == 0) {
        cmd_note(cli, "warning: %s moved no byte", bench);
        return;
    }
    for (size_t i = 0; i < kb_launch_count(sim); i++) {
        if (kb_launch_get(sim, i, &r) != KB_OK)
            continue;
        if (r.unreceived)
            warn_of_unreceived(cli, &r);
        if (r.idle_pes == 0)
            continue;
        kb_pe_get(cli->topo, r.idle_pe, &idle);
        snprintf(pe, sizeof pe, "sip%u.cube%u.pe%u", idle.sip, idle.cube, idle.unit);
        cmd_note(cli,
                 "warning: %u of the %u PEs of launch %zu, %s, issued no command (the first: %s)",
                 r.idle_pes, r.pes, i, r.kernel, pe);
    }
}

/* -- traffic -------------------------------------------------------------------------------- */

/* The home slices of all PEs. */
static void aim_at_homes(struct warn_aim *aim)
{
    for (uint32_t pe = 0; pe < kb_pe_count(aim->topo); pe++) {
        kb_endpoint slice;
        uint32_t number;

        if (kb_pe_slice(aim->topo, pe, &slice) == KB_OK &&
            kb_slice_number(aim->topo, &slice, &number) == KB_OK)
            aim->aimed[number] = true;
    }
}

void warn_aim_new(struct warn_aim *aim, const struct cli *cli, const kb_traffic *traffic)
{
    bool walks = traffic->pattern >= KB_STREAM && traffic->pattern <= KB_RANDOM;
    kb_limits limits;
    bool all;

    kb_topology_limits(cli->topo, &limits);
    all = traffic->pattern == KB_UNIFORM || (walks && limits.granule > 0) ||
          (traffic->pattern == KB_HOTSPOT && traffic->hotspot < 1);
    aim->topo = cli->topo;
    aim->n = kb_slice_count(cli->topo);
    aim->aimed = memory_new(aim->n, sizeof *aim->aimed);
    aim->served = memory_new(aim->n, sizeof *aim->served);
    for (uint32_t i = 0; all && i < aim->n; i++)
        aim->aimed[i] = true;
    if (traffic->pattern == KB_HOTSPOT)
        aim->aimed[0] = true;
    else if (!all && traffic->pattern != KB_MATRIX)
        aim_at_homes(aim);
    for (size_t i = 0; traffic->pattern == KB_MATRIX && i < traffic->n_matrix; i++)
        aim->aimed[traffic->matrix[i].slice] = true;
}

void warn_aim_free(struct warn_aim *aim)
{
    free(aim->aimed);
    free(aim->served);
    *aim = (struct warn_aim){0};
}

void warn_aim_clear(struct warn_aim *aim)
{
    memset(aim->served, 0, aim->n * sizeof *aim->served);
}

void warn_aim_add(void *arg, const kb_utilization *use)
{
    struct warn_aim *aim = arg;
    kb_endpoint end = {.kind = KB_SLICE};
    uint32_t number;

    if (use->kind == KB_AT_MEMORY && use->count > 0 &&
        sscanf(use->name, "sip%u.cube%u.hbm_ctrl.slice%u", &end.sip, &end.cube, &end.unit) == 3 &&
        kb_slice_number(aim->topo, &end, &number) == KB_OK)
        aim->served[number] = true;
}

struct warn_missed warn_aim_missed(const struct warn_aim *aim)
{
    struct warn_missed missed = {0};

    for (uint32_t i = aim->n; i-- > 0;) {
        missed.aimed += aim->aimed[i];
        if (!aim->aimed[i] || aim->served[i])
            continue;
        missed.n++;
        missed.first = i;
    }
    return missed;
}

void warn_of_missed(const struct cli *cli, const char *rate, const struct warn_missed *missed)
{
    char slice[KB_NODE_BYTES];
    kb_endpoint first = {0};

    if (missed->n == 0)
        return;
    kb_slice_get(cli->topo, missed->first, &first);
    snprintf(slice, sizeof slice, "sip%u.cube%u.hbm_ctrl.slice%u", first.sip, first.cube,
             first.unit);
    if (missed->n == missed->aimed)
        cmd_note(cli, "warning: rate %s: no byte was moved, --txns is too small", rate);
    else
        cmd_note(
            cli,
            "warning: rate %s: %u of the %u slices aimed at saw no transaction (the first: %s)",
            rate, missed->n, missed->aimed, slice);
}

/* -- transactions --------------------------------------------------------------------------- */

void warn_term(uint64_t id, const kb_result *r, kb_error *why)
{
#define TERM_OF_WAIT(NAME, name) {"queue_" #name "_ns", r->wait_fs[KB_WAIT_##NAME]},
    const struct {
        const char *name;
        int64_t fs;
    } terms[] = {{"wire_ns", r->wire_fs},     {"overhead_ns", r->overhead_fs},
                 {"drain_ns", r->drain_fs},   {"response_ns", r->response_fs},
                 {"return_ns", r->return_fs}, KB_WAITS(TERM_OF_WAIT)};

    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
        if (terms[i].fs < 0) {
            text_format(why->text, sizeof why->text,
                        "internal error: %s of transaction %llu is %.6f, below 0", terms[i].name,
                        (unsigned long long)id, (double)terms[i].fs / 1e6);
            return;
        }
    text_format(why->text, sizeof why->text,
                "internal error: the terms of transaction %llu do not make its actual_ns of %.6f",
                (unsigned long long)id, (double)r->actual_fs / 1e6);
}
