/*
 * replay.c -- the kernel that does a trace: each rank what is ready, collectives among its PEs.
 *
 * A node is ready when all that it waits for have ended. A rank has one host processor, one engine
 * and one port; the ready node with the lowest number takes what it needs as soon as that is free.
 * Host and engine take times that are known, so they need no PE: a clock of the rank counts them.
 * Only communication is simulated, one collective or message after the other, by all PEs of the
 * rank, each with its part of the array, between PEs of the same index. While PEs are at it, the
 * clock of the rank does not stand still: when it has ended, engine and host are taken up to then,
 * node by node. It has ended when the last PE of the rank has; all meet at a barrier behind it.
 *
 * Example: nodes 1 (engine, 10 us), 2 (collective), 3 (engine, 5 us, behind 1), 4 (engine, 1 us,
 * behind 2). At 0 node 1 and 2 begin. PEs end 2 after 12 us: by then 1 has ended at 10, and 3 has
 * begun. It ends at 15, and 4 is from 15 to 16.
 *
 * The first PE that comes decides for its rank; others find what it has decided. A message is taken
 * when the other rank has begun to send it, or when there is nothing else to do. So a rank takes
 * what is sent while its engine is busy no later than the engine's next end.
 */
#include "benches/llm/replay.h"
#include "benches/bench_tile.h"
#include "kb_coll.h"
#include <math.h>

struct pe {
    tl_ctx *tl;
    const struct replay *all;
    struct replay_rank *rank;
    const uint32_t *pe_of;  /* of its rank */
    uint32_t number, index; /* of the rank; in it */
    double start_ns;
};

/* -- ready nodes ------------------------------------------------------------------------------ */

static uint32_t *heap_of(const struct replay_rank *r, enum replay_slot slot)
{
    return r->ready + (size_t)slot * r->n;
}

static void swap(uint32_t *a, uint32_t *b)
{
    uint32_t t = *a;

    *a = *b;
    *b = t;
}

static void push(struct replay_rank *r, uint32_t node)
{
    enum replay_slot slot = r->node[node].slot;
    uint32_t *heap = heap_of(r, slot), i = r->n_ready[slot]++;

    heap[i] = node;
    for (; i > 0 && heap[i] < heap[(i - 1) / 2]; i = (i - 1) / 2)
        swap(&heap[i], &heap[(i - 1) / 2]);
}

/* Takes place `i` of a heap out of it. */
static uint32_t take_at(struct replay_rank *r, enum replay_slot slot, uint32_t i)
{
    uint32_t *heap = heap_of(r, slot), n = --r->n_ready[slot], node = heap[i], child;

    heap[i] = heap[n];
    for (; i > 0 && heap[i] < heap[(i - 1) / 2]; i = (i - 1) / 2)
        swap(&heap[i], &heap[(i - 1) / 2]);
    while ((child = 2 * i + 1) < n) {
        child += child + 1 < n && heap[child + 1] < heap[child];
        if (heap[i] <= heap[child])
            break;
        swap(&heap[i], &heap[child]);
        i = child;
    }
    return node;
}

/* -- the clock of a rank ---------------------------------------------------------------------- */

static void finish(struct replay_rank *r, uint32_t node)
{
    const struct replay_node *n = &r->node[node];

    r->end_fs[node] = r->now_fs;
    for (uint32_t i = 0; i < n->n_next; i++)
        if (--r->left[n->next[i]] == 0)
            push(r, n->next[i]);
}

static void start(struct replay_rank *r, enum replay_slot slot)
{
    uint32_t node = take_at(r, slot, 0);

    r->begin_fs[node] = r->now_fs;
    r->busy[slot] = node;
}

static bool comm_is_free(const struct replay_rank *r)
{
    return r->under_way < 0 && r->busy[REPLAY_COMM] < 0;
}

static bool is_known(const struct replay_rank *r, enum replay_slot slot)
{
    return r->n_ready[slot] > 0 && r->node[heap_of(r, slot)[0]].what == REPLAY_TIME;
}

/* All that can begin now, and takes a known time, begins. */
static void settle(struct replay_rank *r)
{
    while (r->n_ready[REPLAY_NONE] > 0) {
        uint32_t node = take_at(r, REPLAY_NONE, 0);

        r->begin_fs[node] = r->now_fs;
        finish(r, node);
    }
    for (enum replay_slot slot = REPLAY_CPU; slot <= REPLAY_COMPUTE; slot++)
        if (r->busy[slot] < 0 && r->n_ready[slot] > 0)
            start(r, slot);
    if (comm_is_free(r) && is_known(r, REPLAY_COMM))
        start(r, REPLAY_COMM);
}

static int64_t end_of(const struct replay_rank *r, enum replay_slot slot)
{
    int64_t node = r->busy[slot];

    return node < 0 ? INT64_MAX : r->begin_fs[node] + r->node[node].fs;
}

/* When the next known time has passed; INT64_MAX: none is under way. */
static int64_t next_end(const struct replay_rank *r)
{
    int64_t end = INT64_MAX;

    for (enum replay_slot slot = REPLAY_CPU; slot <= REPLAY_COMM; slot++)
        end = least(end, end_of(r, slot));
    return end;
}

/* To an instant at which something ends, or before all that end. */
static void pass(struct replay_rank *r, int64_t at_fs)
{
    r->now_fs = at_fs;
    for (enum replay_slot slot = REPLAY_CPU; slot <= REPLAY_COMM; slot++)
        if (end_of(r, slot) == at_fs) {
            uint32_t node = (uint32_t)r->busy[slot];

            r->busy[slot] = -1;
            finish(r, node);
        }
}

/* PEs have ended a node at came_fs: takes the clock there. */
static void catch_up(struct replay_rank *r)
{
    uint32_t node = (uint32_t)r->under_way;

    while (next_end(r) < r->came_fs) {
        pass(r, next_end(r));
        settle(r);
    }
    pass(r, r->came_fs);
    r->under_way = -1;
    finish(r, node);
}

/* -- messages --------------------------------------------------------------------------------- */

/* The next message of a rank to this one; NULL: it has not begun to send it. */
static const struct replay_node *next_sent(const struct replay *all, uint32_t to, uint32_t from)
{
    const struct replay_rank *r = &all->rank[from];
    uint32_t *at = &all->rank[to].taken[from];

    while (*at < r->n_sent && r->node[r->sent[*at]].peer != to)
        ++*at;
    return *at < r->n_sent ? &r->node[r->sent[*at]] : NULL;
}

/* The place in the heap of the message with the lowest number that comes; < 0: none does. */
static int64_t comes(const struct replay *all, uint32_t number)
{
    const struct replay_rank *r = &all->rank[number];
    const uint32_t *heap = heap_of(r, REPLAY_RECV);
    int64_t best = -1;

    for (uint32_t i = 0; i < r->n_ready[REPLAY_RECV]; i++) {
        const struct replay_node *node = &r->node[heap[i]], *sent;

        sent = next_sent(all, number, node->peer);
        if (sent && sent->tag == node->tag && (best < 0 || heap[i] < heap[best]))
            best = i;
    }
    return best;
}

/* -- what a rank does next -------------------------------------------------------------------- */

static struct replay_step step_of(struct replay_rank *r, enum replay_slot slot, uint32_t place)
{
    uint32_t node = take_at(r, slot, place);

    r->begin_fs[node] = r->now_fs;
    r->under_way = node;
    r->came_fs = r->now_fs;
    return (struct replay_step){r->now_fs, node};
}

static bool decide(const struct replay *all, uint32_t number, struct replay_step *out)
{
    struct replay_rank *r = &all->rank[number];
    int64_t place;

    if (r->under_way >= 0)
        catch_up(r);
    for (;;) {
        settle(r);
        if (r->n_ready[REPLAY_NONE] > 0)
            continue;
        if (comm_is_free(r) && r->n_ready[REPLAY_COMM] > 0) {
            *out = step_of(r, REPLAY_COMM, 0);
            return true;
        }
        if (comm_is_free(r) && r->n_ready[REPLAY_RECV] > 0) {
            place = comes(all, number);
            if (place >= 0 || next_end(r) == INT64_MAX) {
                *out = step_of(r, REPLAY_RECV, place >= 0 ? (uint32_t)place : 0);
                return true;
            }
            pass(r, next_end(r));
            *out = (struct replay_step){r->now_fs, -1};
            return true;
        }
        if (next_end(r) == INT64_MAX)
            return false;
        pass(r, next_end(r));
    }
}

/* Step `k` of a rank; false: there is none. */
static bool next_step(const struct pe *me, uint32_t k, struct replay_step *out)
{
    struct replay_rank *r = me->rank;

    if (k == r->n_steps) {
        if (!decide(me->all, me->number, &r->step[k]))
            return false;
        r->n_steps++;
    }
    *out = r->step[k];
    return true;
}

void replay_rank_begin(struct replay_rank *rank)
{
    for (uint32_t i = 0; i < rank->n; i++) {
        rank->end_fs[i] = -1;
        rank->left[i] = rank->node[i].n_deps;
        if (rank->left[i] == 0)
            push(rank, i);
    }
}

bool replay_is_done(const struct replay_rank *rank)
{
    for (uint32_t i = 0; i < rank->n; i++)
        if (rank->left[i] > 0 || rank->end_fs[i] < 0)
            return false;
    return true;
}

/* -- what PEs do ------------------------------------------------------------------------------ */

static int64_t elements(const struct replay *r, int64_t bytes)
{
    int64_t size = (int64_t)kb_dtype_bytes(r->dtype);

    return (bytes + size - 1) / size;
}

/* Of an array that a PE has a part of: its elements. */
static int64_t part(const struct replay *r, int64_t n, uint32_t index)
{
    return share(n, index + 1, r->pes) - share(n, index, r->pes);
}

/* Those of PE `index` of a node's array; each rank has as many of what all exchange. */
static int64_t elements_of(const struct replay *r, const struct replay_node *node, uint32_t index)
{
    int64_t all = elements(r, node->bytes), ranks = node->n_ranks;
    bool is_message = node->what == REPLAY_SEND || node->what == REPLAY_TAKE;

    if (is_message && all == 0)
        all = 1;
    if (node->what == REPLAY_ALL_TO_ALL)
        return ranks * part(r, (all + ranks - 1) / ranks, index);
    return part(r, all, index);
}

int64_t replay_part(const struct replay *r, const struct replay_node *node)
{
    return elements_of(r, node, r->pes - 1);
}

/* The PEs of the own index in some ranks; NULL: in all. */
static kb_group group_of(const struct pe *me, const uint32_t *ranks, uint32_t n)
{
    uint32_t *pes = tl_alloc_host(me->tl, n * sizeof *pes);

    for (uint32_t i = 0; i < n; i++)
        pes[i] = me->all->pe_of[(size_t)(ranks ? ranks[i] : i) * me->all->pes + me->index];
    return kb_group_list(me->tl, pes, n);
}

static void communicate(const struct pe *me, const struct replay_node *node)
{
    const struct replay *all = me->all;
    uint64_t in = kb_tensor_shard(all->room, me->pe_of[me->index]).address, out = in + all->half;
    int64_t n = elements_of(all, node, me->index);
    kb_group group =
        node->ranks ? group_of(me, node->ranks, node->n_ranks) : group_of(me, NULL, all->ranks);

    if (node->what == REPLAY_BARRIER)
        kb_coll_barrier(me->tl, group);
    if (n == 0)
        return;
    switch (node->what) {
    case REPLAY_ALL_REDUCE:
        kb_all_reduce(me->tl, group, .in = in, .out = in, .count = n, .dtype = all->dtype,
                      .op = TL_ADD);
        return;
    case REPLAY_ALL_GATHER:
        kb_all_gather(me->tl, group, .in = in, .out = out, .count = n, .dtype = all->dtype);
        return;
    case REPLAY_REDUCE_SCATTER:
        kb_reduce_scatter(me->tl, group, .in = in, .out = out, .count = n, .dtype = all->dtype,
                          .op = TL_ADD);
        return;
    case REPLAY_ALL_TO_ALL:
        kb_all_to_all(me->tl, group, .in = in, .out = out, .count = n, .dtype = all->dtype);
        return;
    case REPLAY_BROADCAST:
        kb_broadcast(me->tl, group, .in = in, .out = out, .count = n, .dtype = all->dtype);
        return;
    case REPLAY_REDUCE:
        kb_reduce(me->tl, group, .in = in, .out = out, .count = n, .dtype = all->dtype,
                  .op = TL_ADD);
        return;
    case REPLAY_SEND:
        kb_send(me->tl, group, node->peer, .in = in, .count = n, .dtype = all->dtype);
        return;
    case REPLAY_TAKE:
        kb_recv(me->tl, group, node->peer, .out = out, .count = n, .dtype = all->dtype);
        return;
    case REPLAY_TIME:
    case REPLAY_BARRIER:
        return;
    }
}

static int64_t now_fs(const struct pe *me)
{
    return llround((tl_time(me->tl) - me->start_ns) * 1e6);
}

/* The first PE of a rank that sends says so; the one with the largest part that it has taken it. */
static void note_messages(const struct pe *me, uint32_t node, bool has_ended)
{
    struct replay_rank *r = me->rank;
    const struct replay_node *n = &r->node[node], *sent;

    if (n->what == REPLAY_SEND && !has_ended && (r->n_sent == 0 || r->sent[r->n_sent - 1] != node))
        r->sent[r->n_sent++] = node;
    if (n->what != REPLAY_TAKE || !has_ended || me->index < me->all->pes - 1)
        return;
    sent = next_sent(me->all, me->number, n->peer);
    if (sent->tag != n->tag)
        tl_fail(me->tl, "two messages between the same ranks are taken in another order than sent");
    r->taken[n->peer]++;
}

static void do_node(const struct pe *me, uint32_t node)
{
    tl_group rank = {.pes = me->pe_of, .n = me->all->pes};
    uint64_t mark = tl_mark(me->tl);

    note_messages(me, node, false);
    communicate(me, &me->rank->node[node]);
    tl_wait_all(me->tl);
    tl_release(me->tl, mark);
    note_messages(me, node, true);
    if (now_fs(me) > me->rank->came_fs)
        me->rank->came_fs = now_fs(me);
    if (me->all->pes > 1)
        tl_barrier(me->tl, rank);
    tl_wait_all(me->tl);
}

static struct pe pe_here(tl_ctx *tl, const struct replay *all)
{
    struct pe me = {.tl = tl, .all = all, .start_ns = tl_time(tl)};
    uint32_t i = 0;

    while (all->pe_of[i] != tl_pe(tl))
        i++;
    me.number = i / all->pes;
    me.index = i % all->pes;
    me.rank = &all->rank[me.number];
    me.pe_of = all->pe_of + (size_t)me.number * all->pes;
    return me;
}

void replay_kernel(tl_ctx *tl, const kb_args *args)
{
    const struct pe me = pe_here(tl, args->user);
    struct replay_step step;

    for (uint32_t k = 0; next_step(&me, k, &step); k++) {
        if (step.at_fs > now_fs(&me))
            tl_idle(tl, step.at_fs - now_fs(&me));
        if (step.node >= 0)
            do_node(&me, (uint32_t)step.node);
    }
}
