/*
 * check_router.c -- mistakes of the keys of a network of routers: sizes that do not fit each other.
 *
 * They are checked whatever `contention.links` is, so that a file that is right as fifo is right as
 * router, too.
 */
#include "check_router.h"
#include "check.h"
#include "machine/tables.h"

/* False after a message: other sizes are not compared with it then. */
static bool check_segment(const struct spec *spec)
{
    const enum key k = KEY_contention_segment_bytes;
    int64_t segment = spec->contention_segment_bytes;

    if ((segment & (segment - 1)) == 0)
        return true;
    return diag_error(spec->diag, spec_place(spec, k),
                      "'contention.segment_bytes' must be a power of two, not '%lld'",
                      (long long)segment);
}

static void check_packet(const struct spec *spec)
{
    const enum key keys[] = {KEY_contention_packet_bytes, KEY_contention_segment_bytes};
    enum key blamed = culprit(spec, keys, 2);
    int64_t packet = spec->contention_packet_bytes, segment = spec->contention_segment_bytes;

    if (blamed != N_KEYS && packet % segment != 0)
        diag_error(spec->diag, spec_place(spec, blamed),
                   "'contention.packet_bytes' %lld is no multiple of 'contention.segment_bytes' "
                   "%lld: %lld is one, or 0 for whole transactions",
                   (long long)packet, (long long)segment,
                   (long long)((packet / segment + 1) * segment));
}

static void check_buffer(const struct spec *spec)
{
    const enum key keys[] = {KEY_contention_buffer_bytes, KEY_contention_segment_bytes};
    enum key blamed = culprit(spec, keys, 2);
    int64_t buffer = spec->contention_buffer_bytes, segment = spec->contention_segment_bytes;

    if (blamed != N_KEYS && buffer != 0 && buffer < segment)
        diag_error(spec->diag, spec_place(spec, blamed),
                   "'contention.buffer_bytes' %lld is smaller than a segment, which has %lld: make "
                   "it larger, or 0 for buffers without a limit",
                   (long long)buffer, (long long)segment);
}

static void check_prios(const struct spec *spec)
{
    const enum key keys[] = {KEY_contention_prios, KEY_contention_vcs};
    enum key blamed = culprit(spec, keys, 2);
    int64_t prios = spec->contention_prios;

    for (int class = 0; class < 2 && blamed != N_KEYS; class ++)
        if (spec->contention_vcs[class] % prios != 0) {
            diag_error(spec->diag, spec_place(spec, blamed),
                       "'contention.prios' %lld does not divide the %lld virtual channels of %s: "
                       "each of 'contention.vcs' must be a multiple of it",
                       (long long)prios, (long long)spec->contention_vcs[class],
                       class == 0 ? "requests" : "answers");
            return;
        }
}

/* Turns know no priority: all that is left of it is which virtual channels a packet may have. From
 * version 3 on that is a mistake. */
static void check_turns(const struct spec *spec)
{
    const enum key keys[] = {KEY_contention_prios, KEY_contention_arbiter};
    enum key blamed = culprit(spec, keys, 2);

    if (blamed == N_KEYS || spec->contention_arbiter != ARBITER_RR || spec->contention_prios == 1)
        return;
    if (spec->kernbench >= 3)
        diag_error(spec->diag, spec_place(spec, blamed),
                   "'contention.prios' %lld beside 'arbiter: rr', which lets no priority go first: "
                   "take 'arbiter: age', or one priority",
                   (long long)spec->contention_prios);
    else if (spec->contention_links == MODE_ROUTER)
        diag_warning(spec->diag, spec_place(spec, KEY_contention_prios),
                     "'contention.prios' %lld beside 'arbiter: rr', which lets no priority go "
                     "first: each only has virtual channels of its own",
                     (long long)spec->contention_prios);
}

void check_router(const struct spec *spec)
{
    if (check_segment(spec)) {
        check_packet(spec);
        check_buffer(spec);
    }
    check_prios(spec);
    check_turns(spec);
}

void check_memory_allocation(const struct spec *spec)
{
    const enum key keys[] = {KEY_contention_vc_alloc_ns, KEY_cube_hbm_model};
    enum key blamed = culprit(spec, keys, 2);

    if (blamed != N_KEYS && spec->contention_vc_alloc_ns > 0 &&
        spec->contention_links == MODE_ROUTER && spec->cube_hbm_model != MEMORY_SERVER)
        diag_error(spec->diag, spec_place(spec, blamed),
                   "'contention.vc_alloc_ns' is not built for memories with banks behind routers: "
                   "leave it 0, or take 'cube.hbm.model: server'");
}

void check_memory_queue(const struct spec *spec)
{
    const enum key keys[] = {KEY_cube_hbm_queue_bytes, KEY_contention_packet_bytes};
    enum key blamed = culprit(spec, keys, 2);
    int64_t queue = spec->cube_hbm_queue_bytes, packet = spec->contention_packet_bytes;

    if (blamed == N_KEYS || queue == 0)
        return;
    if (packet == 0)
        diag_error(spec->diag, spec_place(spec, blamed),
                   "'cube.hbm.queue_bytes' needs packets of a size: "
                   "'contention.packet_bytes' above 0");
    else if (queue < packet)
        diag_error(spec->diag, spec_place(spec, blamed),
                   "'cube.hbm.queue_bytes' %lld is smaller than a packet, which has %lld: make it "
                   "larger, or 0 for queues without a limit",
                   (long long)queue, (long long)packet);
}
