/*
 * chakra_trace.c -- what nodes of a Chakra trace mean on a machine.
 *
 * Compute takes the longer of its operations at the rank's peak and its bytes at the rank's
 * memories; its recorded duration if it has no operations, if it is of the host, or with
 * --compute recorded. Loads and stores are of remote memory: from and to the rank's host, as long
 * as that takes alone. Sizes are as they stand, but those of an all_gather, which are of one rank.
 */
#include "cli/llm/chakra_trace.h"
#include "cli/out/memory.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A rank that is made, of which file. */
struct making {
    const struct cli *cli;
    const struct chakra_rates *rates;
    const struct chakra_file *file;
    const struct chakra_groups *groups;
    uint32_t ranks, rank;
};

enum {
    COMM_ALL_REDUCE = 0,
    COMM_REDUCE = 1,
    COMM_ALL_GATHER = 2,
    COMM_BROADCAST = 5,
    COMM_ALL_TO_ALL = 6,
    COMM_REDUCE_SCATTER = 7,
    COMM_BARRIER = 9
};

static enum exit_code bad(const struct making *m, const struct chakra_node *node, const char *what,
                          const char *name)
{
    return cmd_say(m->cli, EXIT_INPUT, "%s: node %llu '%s' %s%s", m->file->name,
                   (unsigned long long)node->id, node->name, what, name);
}

/* -- times ------------------------------------------------------------------------------------ */

static int64_t micros_fs(const struct chakra_node *node)
{
    return (int64_t)node->micros * 1000000000;
}

static void set_compute(const struct making *m, const struct chakra_node *from,
                        struct replay_node *to)
{
    bool cpu = from->has[CHAKRA_IS_CPU] && from->value[CHAKRA_IS_CPU] != 0;
    double ops = (double)from->value[CHAKRA_OPS] / m->rates->ops_per_ns;
    double bytes = (double)from->value[CHAKRA_SIZE] / m->rates->bytes_per_ns;

    to->slot = cpu ? REPLAY_CPU : REPLAY_COMPUTE;
    to->fs = cpu || m->rates->recorded || !from->has[CHAKRA_OPS] ? micros_fs(from)
                                                                 : llround(fmax(ops, bytes) * 1e6);
}

/* Bytes between the host of a rank and the home of its first PE. */
static enum exit_code set_remote(const struct making *m, const struct chakra_node *from,
                                 struct replay_node *to)
{
    const struct chip *c = m->rates->chip;
    uint32_t pe = c->order[(size_t)m->rank * c->unit_pes];
    kb_error why = {""};

    to->slot = REPLAY_COMM;
    if (!from->has[CHAKRA_SIZE])
        return bad(m, from, "has no ", chakra_key_name(CHAKRA_SIZE));
    if (from->value[CHAKRA_SIZE] == 0)
        return EXIT_OK;
    if (chip_host_fs(c, pe, from->type == CHAKRA_LOAD, (uint64_t)from->value[CHAKRA_SIZE], &to->fs,
                     &why))
        return bad(m, from, "cannot be moved: ", why.text);
    return EXIT_OK;
}

/* -- communication ---------------------------------------------------------------------------- */

/* The ranks of a collective; to->n_ranks 0: this one is not among them. */
static enum exit_code set_ranks(const struct making *m, const struct chakra_node *from,
                                struct replay_node *to)
{
    const struct chakra_group *g;
    int64_t name = from->value[CHAKRA_GROUP];
    char *end;

    to->n_ranks = m->ranks;
    if (from->group && *from->group) {
        name = strtoll(from->group, &end, 10);
        if (*end)
            return bad(m, from, "has a pg_name that is no number: ", from->group);
    }
    if (name == 0)
        return EXIT_OK;
    g = chakra_group_find(m->groups, name);
    if (!g)
        return bad(m, from, "is of a group that comm_group.json lacks: ",
                   from->group ? from->group : chakra_key_name(CHAKRA_GROUP));
    to->ranks = g->ranks;
    to->n_ranks = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        if (g->ranks[i] >= m->ranks)
            return bad(m, from, "is of a group with ranks that are not there", "");
        if (g->ranks[i] == m->rank)
            to->n_ranks = g->n;
    }
    return EXIT_OK;
}

static bool find_collective(const struct chakra_node *from, enum replay_what *out)
{
    switch (from->value[CHAKRA_COMM_TYPE]) {
    case COMM_ALL_REDUCE:
        *out = REPLAY_ALL_REDUCE;
        return true;
    case COMM_REDUCE:
        *out = REPLAY_REDUCE;
        return true;
    case COMM_ALL_GATHER:
        *out = REPLAY_ALL_GATHER;
        return true;
    case COMM_BROADCAST:
        *out = REPLAY_BROADCAST;
        return true;
    case COMM_ALL_TO_ALL:
        *out = REPLAY_ALL_TO_ALL;
        return true;
    case COMM_REDUCE_SCATTER:
        *out = REPLAY_REDUCE_SCATTER;
        return true;
    case COMM_BARRIER:
        *out = REPLAY_BARRIER;
        return true;
    default:
        return false;
    }
}

static enum exit_code set_size(const struct making *m, const struct chakra_node *from,
                               struct replay_node *to)
{
    if (!from->has[CHAKRA_COMM_SIZE] && to->what != REPLAY_BARRIER)
        return bad(m, from, "has no ", chakra_key_name(CHAKRA_COMM_SIZE));
    to->bytes = from->value[CHAKRA_COMM_SIZE];
    if (to->what == REPLAY_ALL_GATHER &&
        __builtin_mul_overflow(to->bytes, (int64_t)to->n_ranks, &to->bytes))
        return bad(m, from, "is too large: ", chakra_key_name(CHAKRA_COMM_SIZE));
    return EXIT_OK;
}

static enum exit_code set_collective(const struct making *m, const struct chakra_node *from,
                                     struct replay_node *to)
{
    to->slot = REPLAY_COMM;
    if (!from->has[CHAKRA_COMM_TYPE])
        return bad(m, from, "has no ", chakra_key_name(CHAKRA_COMM_TYPE));
    if (!find_collective(from, &to->what))
        return bad(m, from, "is a gather, a scatter or of another comm_type that is not simulated",
                   "");
    enum exit_code code = set_ranks(m, from, to);
    if (!code)
        code = set_size(m, from, to);
    if (to->n_ranks <= 1) /* another group's, or of one */
        *to = (struct replay_node){.slot = REPLAY_NONE};
    return code;
}

static enum exit_code set_message(const struct making *m, const struct chakra_node *from,
                                  struct replay_node *to)
{
    bool sends = from->type == CHAKRA_SEND;
    enum chakra_key other = sends ? CHAKRA_DST : CHAKRA_SRC;

    to->slot = sends ? REPLAY_COMM : REPLAY_RECV;
    to->what = sends ? REPLAY_SEND : REPLAY_TAKE;
    if (!from->has[other])
        return bad(m, from, "has no ", chakra_key_name(other));
    if (from->value[other] >= m->ranks || from->value[other] == m->rank)
        return bad(m, from, "is between ranks that are not there: ", chakra_key_name(other));
    to->peer = (uint32_t)from->value[other];
    to->tag = from->value[CHAKRA_TAG];
    return set_size(m, from, to);
}

static enum exit_code set_node(const struct making *m, const struct chakra_node *from,
                               struct replay_node *to)
{
    *to = (struct replay_node){.slot = REPLAY_NONE};
    for (enum chakra_key key = 0; key < CHAKRA_KEYS; key++)
        if (from->value[key] < 0)
            return bad(m, from, "has a negative ", chakra_key_name(key));
    if (from->micros > INT64_MAX / 1000000000 / 2)
        return bad(m, from, "takes too long: ", "duration_micros");
    switch (from->type) {
    case CHAKRA_COMPUTE:
        set_compute(m, from, to);
        return EXIT_OK;
    case CHAKRA_LOAD:
    case CHAKRA_STORE:
        return set_remote(m, from, to);
    case CHAKRA_SEND:
    case CHAKRA_RECV:
        return set_message(m, from, to);
    case CHAKRA_COLLECTIVE:
        return set_collective(m, from, to);
    case CHAKRA_INVALID:
    case CHAKRA_METADATA:
        return EXIT_OK;
    default:
        return bad(m, from, "is of a type that is not known", "");
    }
}

/* -- what waits for what ---------------------------------------------------------------------- */

/* The index of an id; < 0: no node has it. */
static int64_t index_of(const struct chakra_file *f, uint64_t id)
{
    size_t low = 0, high = f->n;

    while (low < high) {
        size_t mid = (low + high) / 2;

        if (f->node[mid].id < id)
            low = mid + 1;
        else
            high = mid;
    }
    return low < f->n && f->node[low].id == id ? (int64_t)low : -1;
}

/* Lists of what waits for each node, one behind the other; NULL after a message. */
static uint32_t *make_next(const struct making *m, struct replay_node *node)
{
    const struct chakra_file *f = m->file;
    size_t all = 0;
    uint32_t *next, *at;

    for (size_t i = 0; i < f->n; i++) {
        for (size_t k = 0; k < f->node[i].n_deps; k++) {
            int64_t before = index_of(f, f->node[i].deps[k]);

            if (before < 0) {
                bad(m, &f->node[i], "waits for a node that is not there", "");
                return NULL;
            }
            node[before].n_next++;
        }
        node[i].n_deps = (uint32_t)f->node[i].n_deps;
        all += f->node[i].n_deps;
    }
    next = at = memory_new(all + 1, sizeof *next);
    for (size_t i = 0; i < f->n; i++) {
        node[i].next = at;
        at += node[i].n_next;
        node[i].n_next = 0;
    }
    for (size_t i = 0; i < f->n; i++)
        for (size_t k = 0; k < f->node[i].n_deps; k++) {
            struct replay_node *before = &node[index_of(f, f->node[i].deps[k])];

            next[before->next - next + before->n_next++] = (uint32_t)i;
        }
    return next;
}

/* Takes nodes that wait for nothing away, until none is left. */
static enum exit_code check_circle(const struct making *m, const struct replay_node *node)
{
    const struct chakra_file *f = m->file;
    uint32_t *left = memory_new(f->n + 1, sizeof *left), *free_ones = memory_new(f->n + 1, 4);
    size_t n = 0, done = 0, in = 0;
    enum exit_code code = EXIT_OK;

    for (size_t i = 0; i < f->n; i++)
        if ((left[i] = node[i].n_deps) == 0)
            free_ones[n++] = (uint32_t)i;
    for (; done < n; done++)
        for (uint32_t k = 0; k < node[free_ones[done]].n_next; k++)
            if (--left[node[free_ones[done]].next[k]] == 0)
                free_ones[n++] = node[free_ones[done]].next[k];
    if (done < f->n) {
        while (left[in] == 0)
            in++;
        for (size_t steps = 0; steps < f->n; steps++) /* back, until it must be in the circle */
            for (size_t k = 0; k < f->node[in].n_deps; k++)
                if (left[index_of(f, f->node[in].deps[k])] > 0) {
                    in = (size_t)index_of(f, f->node[in].deps[k]);
                    break;
                }
        code = bad(m, &f->node[in], "waits for itself, in a circle", "");
    }
    free(left);
    free(free_ones);
    return code;
}

/* -- ranks ------------------------------------------------------------------------------------ */

static enum exit_code make_rank(const struct making *m, struct replay_rank *r)
{
    uint32_t n = (uint32_t)m->file->n;
    struct replay_node *node = memory_new(n + 1, sizeof *node);
    enum exit_code code = EXIT_OK;

    *r = (struct replay_rank){.node = node, .n = n, .under_way = -1};
    r->left = memory_new(n + 1, sizeof *r->left);
    r->begin_fs = memory_new(n + 1, sizeof *r->begin_fs);
    r->end_fs = memory_new(n + 1, sizeof *r->end_fs);
    r->ready = memory_new((size_t)REPLAY_SLOTS * n + 1, sizeof *r->ready);
    r->step = memory_new(2 * (size_t)n + 2, sizeof *r->step);
    r->sent = memory_new(n + 1, sizeof *r->sent);
    r->taken = memory_new(m->ranks, sizeof *r->taken);
    for (size_t i = 0; i < REPLAY_SLOTS; i++)
        r->busy[i] = -1;
    for (uint32_t i = 0; i < n && !code; i++)
        code = set_node(m, &m->file->node[i], &node[i]);
    if (!code && !(r->next = make_next(m, node)))
        code = EXIT_INPUT;
    if (!code)
        code = check_circle(m, node);
    if (!code)
        replay_rank_begin(r);
    return code;
}

static void rank_free(struct replay_rank *r)
{
    free((void *)r->node);
    free(r->next);
    free(r->left);
    free(r->begin_fs);
    free(r->end_fs);
    free(r->ready);
    free(r->step);
    free(r->sent);
    free(r->taken);
}

void chakra_trace_free(struct chakra_trace *t)
{
    for (uint32_t i = 0; i < t->replay.ranks; i++)
        rank_free(&t->replay.rank[i]);
    free(t->replay.rank);
    for (size_t i = 0; i < t->n_files; i++)
        chakra_file_free(&t->file[i]);
    free(t->file);
    chakra_groups_free(&t->groups);
}

/* -- files ------------------------------------------------------------------------------------ */

/* How many there are, from rank 0 on. */
static uint32_t count_files(const char *pattern)
{
    uint32_t n = 0;
    bool is_there = true;

    while (is_there) {
        char *path = chakra_path(pattern, n);

        is_there = path && access(path, F_OK) == 0;
        free(path);
        n += is_there;
    }
    return n;
}

static enum exit_code read_files(const struct cli *cli, const char *pattern, uint32_t n,
                                 struct chakra_trace *out)
{
    enum exit_code code = EXIT_OK;
    uint64_t unread = 0;

    out->file = memory_new(n, sizeof *out->file);
    for (uint32_t i = 0; i < n && !code; i++) {
        code = chakra_read(cli, chakra_path(pattern, i), &out->file[out->n_files++]);
        unread += out->file[i].unread;
    }
    for (size_t i = 0; i < out->n_files; i++)
        for (size_t k = 0; k < out->file[i].n; k++)
            if (out->file[i].node[k].values)
                chakra_groups_of_values(out->file[i].node[k].values, &out->groups);
    if (!code && unread > 0)
        cmd_note(cli, "%s: %llu attributes of nodes are not read", pattern,
                 (unsigned long long)unread);
    return code ? code : chakra_groups_read(cli, pattern, &out->groups);
}

enum exit_code chakra_trace_read(const struct cli *cli, const char *pattern, uint32_t ranks,
                                 const struct chakra_rates *rates, struct chakra_trace *out)
{
    bool many = strchr(pattern, '%') != NULL;
    uint32_t files = many ? count_files(pattern) : 1;
    enum exit_code code;

    *out = (struct chakra_trace){.replay = {.ranks = 0}};
    if (files != ranks && many)
        return cmd_say(cli, EXIT_INPUT, "%s: there are %u files from rank 0 on, and %u ranks",
                       pattern, files, ranks);
    code = read_files(cli, pattern, files, out);
    out->replay.rank = memory_new(ranks, sizeof *out->replay.rank);
    for (uint32_t i = 0; i < ranks && !code; i++) {
        struct making m = {cli, rates, &out->file[many ? i : 0], &out->groups, ranks, i};

        code = make_rank(&m, &out->replay.rank[out->replay.ranks++]);
    }
    return code;
}
