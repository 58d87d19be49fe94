/*
 * cause.c -- the cause of an operation: the largest share of its part of the critical path.
 *
 * The critical path of the launch is a chain of commands without a gap, on any PEs, and each
 * command has shares, which add up to its time: kernbench.h. A step belongs to the first operation
 * that has ended on all PEs no earlier than the step. Shares are many kinds, so those that the same
 * change of a machine would help are one word: waiting for a memory and its bytes are both `hbm`.
 *
 * Bytes are counted at the memory where they drain, for as long as the slowest link on their way
 * lets them. Those to another chiplet that are slower than to the PE's own memory are of a link.
 *
 * Waits for other commands of the same PE are on no path: it goes on in the command that had the
 * operand, the room, the channel or the engine.
 *
 * Example: o of a decode step takes 137.57 us where a slice gives 1 GB/s, and its weights alone
 * 135.17. Its products wait for the engine, behind products that wait for their weights; so the
 * path goes from product to product, and on through the loads: hbm.
 */
#include "cli/llm/cause.h"
#include "cli/out/memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum word { COMPUTE, HBM, LINK, PORT, CHANNEL, ISSUE, LATENCY, LAUNCH, WAIT, N_WORDS };

static const char *const words[N_WORDS] = {"compute", "hbm",     "link",   "port", "channel",
                                           "issue",   "latency", "launch", "wait"};

/* -- bytes over a way ------------------------------------------------------------------------- */

/* A PE and a memory that it has read or written. */
struct way_between {
    kb_place place;
    uint32_t pe;
    bool writes, known, is_slow;
};

enum { WAYS = 4096 };

/* The memory at a place; false: there is none. */
static bool memory_at(const kb_topology *topo, kb_place place, kb_endpoint *out)
{
    char name[KB_PLACE_BYTES];
    size_t n = kb_place_name(topo, place, name);
    kb_error why;

    *out = (kb_endpoint){.kind = KB_TCM};
    if (kb_place_kind_of(place) == KB_AT_PORT)
        return sscanf(name, "sip%u.cube%u.pe%u.pe_tcm", &out->sip, &out->cube, &out->unit) == 3;
    return kb_place_kind_of(place) == KB_AT_MEMORY &&
           kb_endpoint_parse(topo, name, n, out, &why) == KB_OK;
}

static bool find_slow(const struct chip *c, const struct way_between *way)
{
    kb_endpoint pe, memory;
    kb_cost cost;
    kb_error why;

    if (!memory_at(c->topo, way->place, &memory) || kb_pe_get(c->topo, way->pe, &pe) != KB_OK ||
        (pe.sip == memory.sip && pe.cube == memory.cube) ||
        kb_route_cost(c->topo, way->writes ? KB_WRITE : KB_READ, &pe, &memory, 1, &cost, &why) !=
            KB_OK)
        return false;
    return cost.bottleneck_gbs < c->own.gbs;
}

/* A command, and what is known of ways. */
struct caller {
    const struct chip *chip;
    struct way_between *ways; /* [WAYS]: the last of each number */
    uint32_t pe;
    const char *name;
};

/* Does it lead to another chiplet, over a link that is slower than the way to the own memory? */
static bool is_slow_way(const struct caller *from, kb_place place)
{
    struct way_between way = {place, from->pe, strncmp(from->name, "load", 4) != 0, true, false};
    struct way_between *known =
        &from->ways[(place * 31 + from->pe * UINT64_C(0x9e37) + way.writes) % WAYS];

    if (known->known && known->place == place && known->pe == way.pe && known->writes == way.writes)
        return known->is_slow;
    way.is_slow = find_slow(from->chip, &way);
    *known = way;
    return way.is_slow;
}

/* Bytes drain at their memory, at the rate of what is slowest on their way. */
static enum word word_of_drain(const struct caller *from, kb_place place)
{
    switch (kb_place_kind_of(place)) {
    case KB_AT_LINK:
    case KB_AT_NODE:
    case KB_AT_VC:
        return LINK;
    case KB_AT_PORT:
        return is_slow_way(from, place) ? LINK : PORT;
    default:
        return is_slow_way(from, place) ? LINK : HBM;
    }
}

static enum word word_of(const struct caller *from, const kb_share *share)
{
    switch (share->cause) {
    case KB_CAUSE_COMPUTE:
    case KB_CAUSE_ENGINE_WAIT: /* for an engine that is a component */
        return COMPUTE;
    case KB_CAUSE_DRAIN:
        return word_of_drain(from, share->place);
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
    case KB_CAUSE_OPERAND_WAIT:
    case KB_CAUSE_ROOM_WAIT:
        return WAIT;
    default: /* of memories, their banks and their caches */
        return HBM;
    }
}

/* Of a step of the path, what it was spent for. */
struct part {
    int64_t end_fs, fs[N_WORDS];
};

struct parts {
    struct part *part; /* owned: in order of time */
    size_t n, room, at;
};

struct heard {
    struct parts path;
    struct caller from;
};

static struct part *new_part(struct parts *parts, int64_t end_fs)
{
    if (parts->n == parts->room)
        parts->part = memory_room(parts->part, parts->n, &parts->room, sizeof *parts->part);
    struct part *part = &parts->part[parts->n++];

    *part = (struct part){.end_fs = end_fs};
    return part;
}

/* What was leapt over counts as the issue of the command behind it. */
static void add_step(void *arg, const kb_breakdown_step *step, int64_t leapt_fs)
{
    struct heard *heard = arg;
    struct part *part = new_part(&heard->path, step->end_fs);

    heard->from.pe = step->pe;
    heard->from.name = step->name;
    for (size_t i = 0; i < step->n_shares; i++)
        part->fs[word_of(&heard->from, &step->share[i])] += step->share[i].sum_fs;
    part->fs[ISSUE] -= leapt_fs;
}

/* The sums of those that have ended by `end_fs`, and not before. */
static void take_until(struct parts *parts, int64_t end_fs, int64_t fs[N_WORDS])
{
    for (size_t i = 0; i < N_WORDS; i++)
        fs[i] = 0;
    for (; parts->at < parts->n && parts->part[parts->at].end_fs <= end_fs; parts->at++)
        for (size_t i = 0; i < N_WORDS; i++)
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

/* What is heard of a run, and when its operations have ended. */
struct run_heard {
    struct heard heard;
    int64_t ended_fs[GRAPH_OPS_MAX];
    struct path_watch watch;
};

static struct run_heard *run_heard_new(const struct chip *c)
{
    struct run_heard *run = memory_new(1, sizeof *run);

    run->heard.from =
        (struct caller){.chip = c, .ways = memory_new(WAYS, sizeof(struct way_between))};
    run->watch = (struct path_watch){add_step, &run->heard, run->ended_fs};
    return run;
}

static void run_heard_free(struct run_heard *run)
{
    free(run->heard.path.part);
    free(run->heard.from.ways);
    free(run);
}

/* Those of all operations that this run has done; `known` are those that it has not. */
static void take_causes(struct run_heard *run, const struct graph *g, const struct llm_known *known,
                        const char *cause[GRAPH_OPS_MAX])
{
    for (size_t i = 0; i < g->n; i++) {
        int64_t fs[N_WORDS];

        take_until(&run->heard.path, run->ended_fs[i], fs);
        if (known->ranks == 0 || llm_between_ranks(&g->op[i]))
            cause[i] = fs[largest(fs)] > 0 ? words[largest(fs)] : NULL;
    }
}

enum exit_code causes_alone(const struct cli *cli, const struct chip *c, const struct graph *g,
                            const struct shape *s, struct llm_known *known,
                            const char *cause[GRAPH_OPS_MAX])
{
    struct run_heard *run = run_heard_new(c);
    enum exit_code code = run_alone(cli, c, g, s, &run->watch, known);

    if (!code && known->ranks > 0)
        take_causes(run, g, &(struct llm_known){0}, cause); /* of all */
    run_heard_free(run);
    return code;
}

enum exit_code causes_of(const struct cli *cli, const struct chip *c, const struct graph *g,
                         const struct shape *s, const struct llm_known *known,
                         const char *cause[GRAPH_OPS_MAX])
{
    struct run_heard *run = run_heard_new(c);
    enum exit_code code = run_watched(cli, c, g, s, known, &run->watch);

    if (!code)
        take_causes(run, g, known, cause);
    run_heard_free(run);
    return code;
}
