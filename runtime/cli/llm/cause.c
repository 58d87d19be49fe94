/*
 * cause.c -- the cause of an operation: the largest share of its part of the critical path.
 *
 * The critical path of the launch is a chain of commands without a gap, on any PEs, and each
 * command has shares, which add up to its time: kernbench.h. A step belongs to the first operation
 * that has ended on all PEs no earlier than the step. Shares are many kinds, so those that the same
 * change of a machine would help are one word: waiting for a memory and its bytes are both `hbm`.
 *
 * A wait for room in the TCM, for an operand, or for an engine has no word of its own: it is for
 * other commands of the same PE, of which tiles keep many under way, and lasts as long as the
 * slowest kind of them does. So it counts as that which all commands of the operation together have
 * been served for longest: cycles, bytes at memories, links or ports, or their issue.
 *
 * Example: o of a decode step takes 137.57 us where a slice gives 1 GB/s, and its weights alone
 * 135.17. Most of its path are products that wait for the engine, behind products that wait for
 * their weights; but of all commands the loads are served for longest: hbm.
 */
#include "cli/llm/cause.h"
#include "cli/out/memory.h"
#include <stdlib.h>

enum word {
    COMPUTE,
    HBM,
    LINK,
    PORT,
    CHANNEL,
    ISSUE,
    LATENCY,
    LAUNCH,
    WAIT,
    N_WORDS,
    OWN = N_WORDS
};

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
    case KB_CAUSE_ENGINE_WAIT:
    case KB_CAUSE_OPERAND_WAIT:
    case KB_CAUSE_ROOM_WAIT:
        return OWN;
    default: /* of memories, their banks and their caches */
        return HBM;
    }
}

/* Of a step of the path, or of a command, what it was spent for. */
struct part {
    int64_t end_fs, fs[N_WORDS + 1];
};

struct parts {
    struct part *part; /* owned: in order of time */
    size_t n, room, at;
};

struct heard {
    struct parts path, served;
};

static struct part *new_part(struct parts *parts, int64_t end_fs)
{
    if (parts->n == parts->room)
        parts->part = memory_room(parts->part, parts->n, &parts->room, sizeof *parts->part);
    struct part *part = &parts->part[parts->n++];

    *part = (struct part){.end_fs = end_fs};
    return part;
}

static void add_step(void *arg, const kb_breakdown_step *step)
{
    struct heard *heard = arg;
    struct part *part = new_part(&heard->path, step->end_fs);

    for (size_t i = 0; i < step->n_shares; i++)
        part->fs[word_of(&step->share[i])] += step->share[i].sum_fs;
}

/* What is served one at a time, and not waited for. */
static bool is_service(kb_cause cause)
{
    return cause == KB_CAUSE_COMPUTE || cause == KB_CAUSE_DRAIN || cause == KB_CAUSE_PORT ||
           cause == KB_CAUSE_DISPATCH;
}

static bool is_way(kb_cause cause)
{
    return cause == KB_CAUSE_WIRE || cause == KB_CAUSE_OVERHEAD || cause == KB_CAUSE_RESPONSE ||
           cause == KB_CAUSE_RETURN;
}

static void add_command(void *arg, const kb_command *command)
{
    struct heard *heard = arg;
    struct part *part = new_part(&heard->served, command->end_fs);

    for (size_t i = 0; i < command->n_shares; i++)
        if (is_service(command->share[i].cause) || is_way(command->share[i].cause))
            part->fs[word_of(&command->share[i])] += command->share[i].sum_fs;
}

/* The sums of those that have ended by `end_fs`, and not before. */
static void take_until(struct parts *parts, int64_t end_fs, int64_t fs[N_WORDS + 1])
{
    for (size_t i = 0; i <= N_WORDS; i++)
        fs[i] = 0;
    for (; parts->at < parts->n && parts->part[parts->at].end_fs <= end_fs; parts->at++)
        for (size_t i = 0; i <= N_WORDS; i++)
            fs[i] += parts->part[parts->at].fs[i];
}

/* The largest; of equal ones the first. */
static size_t largest(const int64_t fs[N_WORDS])
{
    size_t most = 0;

    for (size_t i = 1; i < N_WORDS; i++)
        most = fs[i] > fs[most] ? i : most;
    return most;
}

/* Waits for other commands become what these are spent for. A channel is held for the whole time of
 * a transaction: for its bytes, or for its way. */
static void resolve_waits(int64_t fs[N_WORDS + 1], int64_t served[N_WORDS + 1])
{
    enum word bytes = served[LINK] > served[HBM] ? LINK : HBM;

    if (served[bytes] > served[LATENCY]) {
        fs[bytes] += fs[CHANNEL];
        fs[CHANNEL] = 0;
    }
    served[LATENCY] = 0;
    fs[largest(served)] += fs[OWN];
}

enum exit_code causes_of(const struct cli *cli, const struct chip *c, const struct graph *g,
                         const struct shape *s, const char *cause[GRAPH_OPS_MAX])
{
    int64_t ended_fs[GRAPH_OPS_MAX] = {0};
    struct heard heard = {.path = {.n = 0}};
    const struct path_watch watch = {add_step, &heard, add_command, ended_fs};
    struct graph one = *g;

    one.layers = 1;
    enum exit_code code = run_watched(cli, c, &one, s, &watch);
    for (size_t i = 0; i < g->n && !code; i++) {
        int64_t fs[N_WORDS + 1], served[N_WORDS + 1];

        take_until(&heard.path, ended_fs[i], fs);
        take_until(&heard.served, ended_fs[i], served);
        resolve_waits(fs, served);
        cause[i] = fs[largest(fs)] > 0 ? words[largest(fs)] : NULL;
    }
    free(heard.path.part);
    free(heard.served.part);
    return code;
}
