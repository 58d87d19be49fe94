/*
 * cause.c -- the cause of an operation: the largest share of its part of the critical path.
 *
 * The critical path of the launch is a chain of commands without a gap, on any PEs, and each
 * command has shares, which add up to its time: kernbench.h. A step belongs to the first operation
 * that has ended on all PEs no earlier than the step. Shares are many kinds, so those that the same
 * change of a machine would help are one word: waiting for a memory and its bytes are both `hbm`. A
 * wait for room in the TCM, or for an operand, has no word: it is for other commands of the same
 * PE, and ends when these do, so what they are spent for is what binds.
 *
 * Example: down takes 2.97 us. On its path are 41 loads of weights, whose bytes drain from the own
 * slice for 2.1 us, and the products of the last tile: hbm.
 */
#include "cli/llm/cause.h"
#include "cli/out/memory.h"
#include <stdlib.h>

enum word { COMPUTE, HBM, LINK, PORT, CHANNEL, ISSUE, LATENCY, LAUNCH, WAIT, N_WORDS, OWN };

static const char *const words[N_WORDS] = {"compute", "hbm",     "link",   "port", "channel",
                                           "issue",   "latency", "launch", "wait"};

/* Bytes drain at what is slowest on their way. */
static enum word word_of_drain(kb_place place)
{
    switch (kb_place_kind_of(place)) {
    case KB_AT_PORT:
        return PORT;
    case KB_AT_LINK:
    case KB_AT_NODE:
    case KB_AT_VC:
        return LINK;
    default:
        return HBM;
    }
}

static enum word word_of(const kb_share *share)
{
    switch (share->cause) {
    case KB_CAUSE_COMPUTE:
    case KB_CAUSE_ENGINE_WAIT:
        return COMPUTE;
    case KB_CAUSE_DRAIN:
        return word_of_drain(share->place);
    case KB_CAUSE_LINK_WAIT:
    case KB_CAUSE_ROUTER_WAIT:
    case KB_CAUSE_CREDIT_WAIT:
        return LINK;
    case KB_CAUSE_PORT:
    case KB_CAUSE_PORT_WAIT:
        return PORT;
    case KB_CAUSE_CHANNEL_WAIT:
        return CHANNEL;
    case KB_CAUSE_DISPATCH:
        return ISSUE;
    case KB_CAUSE_WIRE:
    case KB_CAUSE_OVERHEAD:
    case KB_CAUSE_RESPONSE:
    case KB_CAUSE_RETURN:
        return LATENCY;
    case KB_CAUSE_LAUNCH:
        return LAUNCH;
    case KB_CAUSE_QUEUE_WAIT:
    case KB_CAUSE_BARRIER_WAIT:
        return WAIT;
    case KB_CAUSE_OPERAND_WAIT:
    case KB_CAUSE_ROOM_WAIT:
        return OWN;
    default: /* of memories, their banks and their caches */
        return HBM;
    }
}

/* What a step of the path was spent for. */
struct part {
    int64_t end_fs, fs[N_WORDS];
};

struct parts {
    struct part *part; /* owned: in order of time */
    size_t n, room;
};

static void add_step(void *arg, const kb_breakdown_step *step)
{
    struct parts *parts = arg;

    if (parts->n == parts->room)
        parts->part = memory_room(parts->part, parts->n, &parts->room, sizeof *parts->part);
    struct part *part = &parts->part[parts->n++];
    *part = (struct part){.end_fs = step->end_fs};
    for (size_t i = 0; i < step->n_shares; i++)
        if (word_of(&step->share[i]) != OWN)
            part->fs[word_of(&step->share[i])] += step->share[i].sum_fs;
}

/* The largest; of equal ones the first. */
static const char *largest(const int64_t fs[N_WORDS])
{
    size_t most = 0;

    for (size_t i = 1; i < N_WORDS; i++)
        most = fs[i] > fs[most] ? i : most;
    return fs[most] > 0 ? words[most] : NULL;
}

enum exit_code causes_of(const struct cli *cli, const struct chip *c, const struct graph *g,
                         const struct shape *s, const char *cause[GRAPH_OPS_MAX])
{
    int64_t ended_fs[GRAPH_OPS_MAX] = {0};
    struct parts parts = {0};
    const struct path_watch watch = {add_step, &parts, ended_fs};
    struct graph one = *g;
    size_t at = 0;

    one.layers = 1;
    enum exit_code code = run_watched(cli, c, &one, s, &watch);
    for (size_t i = 0; i < g->n && !code; i++) {
        int64_t fs[N_WORDS] = {0};

        for (; at < parts.n && parts.part[at].end_fs <= ended_fs[i]; at++)
            for (size_t word = 0; word < N_WORDS; word++)
                fs[word] += parts.part[at].fs[word];
        cause[i] = largest(fs);
    }
    free(parts.part);
    return code;
}
