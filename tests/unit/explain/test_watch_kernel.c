/* test_watch_kernel.c -- what is told of kernels: stages, commands and what their end waited for,
 * also on other PEs, and the critical path, walked back by plain means. */
#include "support/breakdowns.h"
#include "support/programs.h"
#include "support/seeds.h"
#include "support/sums.h"

/* KB_SEEDS=N in the environment runs seeds 1..N, those of test_kernel_random.c. */
enum { SEEDS = 120, TALKS = 90, MOST_SHARES = 512 };

/* Shares of a command as they ought to be. */
struct shares {
    kb_share row[MOST_SHARES];
    size_t n;
};

/* The jobs of a queue, in order: into its slots, and out of them. */
struct queue {
    size_t from, to; /* kernels */
    uint32_t tag;
    uint64_t *piece, *take; /* owned */
    size_t n_pieces, n_takes;
};

/* A watched run of a program. */
struct watched {
    struct scenario *s;
    struct tape tape;
    kb_sim *sim;
    kb_breakdown *why;
    struct sums *sums;
    const kb_command **by_id; /* [op_id]: the command that has ended; NULL: no command */
    struct queue *queues;     /* owned */
    size_t n_queues;
};

static const struct judge_op_record *record(const struct watched *w, uint64_t id)
{
    return &w->s->expected.records[id];
}

static const struct judge_command_times *times(const struct watched *w, size_t kernel, size_t i)
{
    return &w->s->expected.kernels[kernel].commands[i];
}

/* Of two records, or more: is it the same command's? */
static bool same_command(const struct judge_op_record *a, const struct judge_op_record *b)
{
    return a->kernel == b->kernel && a->command == b->command;
}

static const struct judge_command *command(const struct watched *w, size_t kernel, size_t i)
{
    return &w->s->program.kernels[kernel].commands[i];
}

static uint64_t command_of(const struct watched *w, const struct judge_op_record *r)
{
    return times(w, r->kernel, r->command)->op_id;
}

/* -- pieces of stages ----------------------------------------------------------------------- */

static const char *what_of(const struct watched *w, const struct judge_op_record *r)
{
    static const char *const names[] = {"",      "dma_read", "dma_write", "fetch",
                                        "store", "gemm",     "math",      "ipcq_copy"};
    const struct judge_command *c = command(w, r->kernel, r->command);

    if (r->stage != JUDGE_COMMAND)
        return names[r->stage];
    return c->kind == JUDGE_LOAD                               ? "dma_read"
           : c->kind == JUDGE_STORE || c->kind == JUDGE_ATOMIC ? "dma_write"
           : c->kind == JUDGE_DOT || c->kind == JUDGE_ACC_DOT  ? "gemm"
                                                               : "math";
}

static bool is_message(const struct watched *w, const struct judge_op_record *r)
{
    enum judge_command_kind kind = command(w, r->kernel, r->command)->kind;

    return kind == JUDGE_SEND || kind == JUDGE_RECV;
}

/* Of a piece that is received the piece that was sent. */
static uint64_t message_of(const struct watched *w, uint64_t id)
{
    for (size_t i = 0; i < w->n_queues; i++)
        for (size_t at = 0; at < w->queues[i].n_takes; at++)
            if (w->queues[i].take[at] == id)
                return w->queues[i].piece[at];
    return KB_NO_ID;
}

/* The pieces of every job lie end to end, up to its end, and say whose they are. */
static void assert_stage(const struct watched *w, uint32_t id)
{
    const struct judge_op_record *r = record(w, id);
    size_t n;
    const kb_span *x = tape_of(&w->tape, id, &n);
    char name[KB_PLACE_BYTES], want[JUDGE_NAME_BYTES];

    if (r->component == JUDGE_PE_SCHEDULER || r->component == JUDGE_NOWHERE) {
        assert_true(n == 0);
        return;
    }
    judge_end_name(&w->s->program.kernels[r->kernel].pe, want);
    for (size_t i = 0; i < n; i++) {
        assert_true(i == 0 || x[i].begin_fs == x[i - 1].end_fs);
        assert_true(x[i].command == command_of(w, r));
        assert_string_equal(x[i].what, what_of(w, r));
        assert_true(x[i].token == (is_message(w, r) || record(w, command_of(w, r))->component ==
                                                           JUDGE_PE_SCHEDULER
                                       ? r->token
                                       : KB_NO_ID));
        assert_true((x[i].target != KB_NOWHERE) == (r->component == JUDGE_PE_DMA));
        assert_true(x[i].message == message_of(w, id));
        kb_place_name(w->s->topo, x[i].source, name);
        assert_string_equal(name, want);
    }
    if (n && x[n - 1].end_fs != r->t_end)
        fail_msg("seed %" PRIu64 ": %u is told until %" PRId64 ", not %" PRId64, w->s->seed, id,
                 x[n - 1].end_fs, r->t_end);
    if (r->after != JUDGE_NONE && n)
        assert_true(x->begin_fs == record(w, r->after)->t_end);
    if (n && r->after == JUDGE_NONE && !is_message(w, r))
        assert_true(x->begin_fs == times(w, r->kernel, r->command)->issue_fs);
}

/* What was told as taken first is taken and released at the judge's times. */
static void assert_record_times(const struct watched *w)
{
    for (size_t i = 0; i < w->tape.n_services; i++) {
        const struct told_service *told = &w->tape.service[i];
        const struct judge_op_record *r = record(w, told->service.id);
        kb_place_kind kind = kb_place_kind_of(told->service.place);
        bool first = r->component == JUDGE_PE_DMA ? kind == KB_AT_CHANNEL : kind == KB_AT_PORT;

        if (!first)
            continue;
        assert_true(told->service.begin_fs == r->t_start);
        assert_true(told->take || told->service.end_fs == r->t_end);
    }
}

/* -- shares --------------------------------------------------------------------------------- */

static void share(struct shares *x, kb_cause cause, kb_place place, int64_t fs, kb_place behind,
                  uint32_t behind_id)
{
    size_t i = 0;

    if (fs == 0)
        return;
    while (i < x->n && (x->row[i].cause != cause || x->row[i].place != place))
        i++;
    if (i == x->n) {
        assert_true(x->n < MOST_SHARES);
        x->row[x->n++] = (kb_share){.cause = cause, .place = place, .behind_id = KB_NO_ID};
    }
    x->row[i].count++;
    x->row[i].sum_fs += fs;
    if (is_wait(cause) && fs > x->row[i].longest_fs) {
        x->row[i].longest_fs = fs;
        x->row[i].behind = behind;
        x->row[i].behind_id = behind_id;
    }
}

static kb_place node_of(const struct watched *w, size_t kernel, const char *node)
{
    const struct judge_end *pe = &w->s->program.kernels[kernel].pe;
    char want[KB_NODE_BYTES], got[KB_NODE_BYTES];

    snprintf(want, sizeof want, "sip%u.cube%u.pe%u.%s", pe->sip, pe->cube, pe->unit, node);
    for (size_t i = 0; i < w->tape.n_commands; i++) {
        const kb_command *c = &w->tape.command[i];

        for (size_t k = 0; k < c->n_shares; k++) {
            kb_place_node(w->s->topo, c->share[k].place, got);
            if (kb_place_kind_of(c->share[k].place) == KB_AT_NODE && strcmp(got, want) == 0)
                return c->share[k].place;
        }
    }
    return KB_NOWHERE;
}

/* The PE as the holder that a wait was told to be behind. */
static kb_place behind_of(const struct watched *w, size_t kernel)
{
    char want[JUDGE_NAME_BYTES], got[KB_PLACE_BYTES];

    judge_end_name(&w->s->program.kernels[kernel].pe, want);
    for (size_t i = 0; i < w->tape.n_commands; i++) {
        const kb_command *c = &w->tape.command[i];

        for (size_t k = 0; k < c->n_shares; k++) {
            kb_place_name(w->s->topo, c->share[k].behind, got);
            if (strcmp(got, want) == 0)
                return c->share[k].behind;
        }
    }
    return KB_NOWHERE;
}

/* At a link, or a memory or port that is free early, one after the other enters: no end lets the
 * next in.
 */
static bool is_line(const struct watched *w, const char *place)
{
    return strstr(place, " -> ") ||
           (strstr(place, ".hbm_ctrl.") && memory_frees_early(&w->s->topo->kinds->hbm)) ||
           (strstr(place, ".sram") && memory_frees_early(&w->s->topo->kinds->sram)) ||
           (strstr(place, ".pe_tcm.read") && memory_frees_early(&w->s->topo->kinds->tcm_read)) ||
           (strstr(place, ".pe_tcm.write") && memory_frees_early(&w->s->topo->kinds->tcm_write));
}

/* A station of one PE alone: a channel of its DMA, or an engine. */
static bool is_of_one_pe(const char *place)
{
    return strstr(place, ".pe_dma.") || strstr(place, ".pe_gemm") || strstr(place, ".pe_math");
}

/* The last wait of `id`, other than in a line, that its own command has ended, or with `other`
 * another command of its PE; or NULL. */
static const struct judge_wait *wait_for_own(const struct watched *w, uint64_t id, bool other)
{
    const struct judge_waits *all = &w->s->expected.waits;
    const struct judge_wait *last = NULL;
    size_t low = 0, high = all->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (all->waits[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < all->n && all->waits[low].id == id; low++) {
        const struct judge_wait *x = &all->waits[low];

        if (!is_line(w, x->at) && x->given_by != UINT64_MAX &&
            same_command(record(w, id), record(w, x->given_by)) != other &&
            (!other || is_of_one_pe(x->at)) && (!last || x->end_fs >= last->end_fs))
            last = x;
    }
    return last;
}

/* Adds pieces of `id`: all, or those after its wait `from`. */
static void add_pieces(const struct watched *w, uint32_t id, const struct judge_wait *from,
                       struct shares *out)
{
    size_t n, i = 0;
    const kb_span *x = tape_of(&w->tape, id, &n);
    char at[KB_PLACE_BYTES];

    for (; from && i < n; i++) {
        tape_place(&w->tape, x[i].place, at);
        if (is_wait(x[i].cause) && x[i].begin_fs == from->begin_fs && strcmp(at, from->at) == 0)
            break;
    }
    for (i += from != NULL; i < n; i++)
        share(out, x[i].cause, x[i].place, x[i].end_fs - x[i].begin_fs, x[i].behind,
              x[i].behind_id);
}

/* A tile that another composite's tiles have kept out. */
static void add_room(const struct watched *w, const struct judge_op_record *r, struct shares *out)
{
    const struct judge_op_record *other = record(w, r->after);
    int64_t issue_fs = times(w, r->kernel, r->command)->issue_fs;
    size_t n;
    const kb_span *x = tape_of(&w->tape, (uint32_t)r->after, &n);

    share(out, KB_CAUSE_ENGINE_WAIT, node_of(w, r->kernel, "pe_scheduler"), other->t_end - issue_fs,
          n ? x->source : KB_NOWHERE, (uint32_t)command_of(w, other));
}

/* -- other PEs ------------------------------------------------------------------------------ */

/* Wires and overheads of a word from one PE to another. */
struct word_way {
    int64_t wire_fs, overhead_fs;
};

static struct word_way way_of(const struct watched *w, size_t from, size_t to)
{
    struct judge_end tcm = w->s->program.kernels[to].pe;
    struct judge_route r = {0};
    struct word_way way = {0, 0};

    tcm.kind = JUDGE_TCM;
    if (from == to)
        return way;
    assert_true(judge_route(w->s->judge, JUDGE_WRITE, &w->s->program.kernels[from].pe, &tcm, &r));
    way = (struct word_way){r.wire_fs, r.overhead_fs};
    judge_route_clear(&r);
    return way;
}

static void add_way(const struct watched *w, struct word_way way, size_t to, struct shares *out)
{
    share(out, KB_CAUSE_WIRE, node_of(w, to, "pe_cpu"), way.wire_fs, KB_NOWHERE, KB_NO_ID);
    share(out, KB_CAUSE_OVERHEAD, node_of(w, to, "pe_cpu"), way.overhead_fs, KB_NOWHERE, KB_NO_ID);
}

static struct queue *queue_of(struct watched *w, size_t from, size_t to, uint32_t tag)
{
    struct queue q = {.from = from, .to = to, .tag = tag};
    size_t i = 0;

    while (i < w->n_queues &&
           (w->queues[i].from != from || w->queues[i].to != to || w->queues[i].tag != tag))
        i++;
    if (i == w->n_queues)
        TAPE_ADD(w->queues, w->n_queues, q);
    return &w->queues[i];
}

/* The pieces of all messages, by queue. */
static void find_queues(struct watched *w)
{
    for (size_t id = 0; id < w->s->expected.n_records; id++) {
        const struct judge_op_record *r = record(w, id);
        const struct judge_command *c = command(w, r->kernel, r->command);
        size_t other = is_message(w, r) ? kernel_of(w->s, number_of(w->s, &c->at)) : 0;
        struct queue *q;

        if (!is_message(w, r) || r->component == JUDGE_NOWHERE)
            continue;
        q = c->kind == JUDGE_SEND ? queue_of(w, r->kernel, other, c->tag)
                                  : queue_of(w, other, r->kernel, c->tag);
        if (c->kind == JUDGE_SEND)
            TAPE_ADD(q->piece, q->n_pieces, id);
        else
            TAPE_ADD(q->take, q->n_takes, id);
    }
}

static void free_queues(struct watched *w)
{
    for (size_t i = 0; i < w->n_queues; i++) {
        free(w->queues[i].piece);
        free(w->queues[i].take);
    }
    free(w->queues);
}

/* The queue of a piece, and its place there. */
static const struct queue *find_piece(const struct watched *w, uint64_t id, size_t *at)
{
    for (size_t i = 0; i < w->n_queues; i++) {
        const struct queue *q = &w->queues[i];

        for (*at = 0; *at < q->n_pieces; ++*at)
            if (q->piece[*at] == id)
                return q;
        for (*at = 0; *at < q->n_takes; ++*at)
            if (q->take[*at] == id)
                return q;
    }
    fail_msg("%" PRIu64 " is in no queue", id);
    return NULL;
}

/* What another PE's job has let come, and when it set out there. */
struct entry {
    uint64_t job; /* JUDGE_NONE: none has */
    int64_t since_fs;
};

/* A receive takes pieces in order, as they have come: what has kept it from this one last. */
static uint64_t last_to_come(const struct watched *w, uint64_t take)
{
    size_t at;
    const struct queue *q = find_piece(w, take, &at);
    uint64_t last = q->piece[0];

    for (size_t i = 1; i <= at; i++)
        if (record(w, q->piece[i])->order > record(w, last)->order)
            last = q->piece[i];
    return last;
}

/* docs/kernels.md: all waits of a receive until it took `id`. */
static struct entry wait_for_messages(const struct watched *w, uint64_t id, struct shares *out)
{
    const struct judge_op_record *r = record(w, id);
    int64_t issue_fs = times(w, r->kernel, r->command)->issue_fs, since_fs = issue_fs;
    struct entry entry = {JUDGE_NONE, 0};

    for (uint64_t take = command_of(w, r) + 1; take <= id; take++) {
        uint64_t piece = last_to_come(w, take);
        const struct judge_op_record *sent = record(w, piece);

        if (sent->t_end <= issue_fs)
            continue;
        share(out, KB_CAUSE_QUEUE_WAIT, node_of(w, r->kernel, "pe_scheduler"),
              sent->t_end - since_fs, behind_of(w, sent->kernel), (uint32_t)command_of(w, sent));
        since_fs = sent->t_end;
        entry = (struct entry){piece, since_fs};
    }
    return entry;
}

/*
 * docs/kernels.md: all waits of a send until its piece `id` had a slot. While the credit was under
 * way already the wait is for the rest of its way, the wires of which come last.
 */
static struct entry wait_for_slots(const struct watched *w, uint64_t id, struct shares *out)
{
    const struct judge_op_record *r = record(w, id);
    int64_t issue_fs = times(w, r->kernel, r->command)->issue_fs, since_fs = issue_fs;
    struct entry entry = {JUDGE_NONE, 0};
    struct word_way left = {0, 0};
    uint32_t slots = judge_count(w->s->judge, "cube.pe.pe_ipcq.slots");

    for (uint64_t piece = command_of(w, r); piece <= id; piece++) {
        size_t at;
        const struct queue *q = find_piece(w, piece, &at);
        const struct judge_op_record *take = at < slots ? NULL : record(w, q->take[at - slots]);
        struct word_way way = way_of(w, q->to, q->from);
        int64_t free_fs = take ? take->t_end + way.wire_fs + way.overhead_fs : 0, from_fs, rest_fs;

        if (free_fs <= issue_fs || free_fs < since_fs)
            continue;
        from_fs = take->t_end > since_fs ? take->t_end : since_fs;
        rest_fs = free_fs - from_fs;
        share(out, KB_CAUSE_QUEUE_WAIT, node_of(w, q->from, "pe_scheduler"), from_fs - since_fs,
              behind_of(w, q->to), (uint32_t)command_of(w, take));
        left.wire_fs += rest_fs < way.wire_fs ? rest_fs : way.wire_fs;
        left.overhead_fs += rest_fs < way.wire_fs ? 0 : rest_fs - way.wire_fs;
        since_fs = free_fs;
        entry = (struct entry){q->take[at - slots], take->t_end};
    }
    add_way(w, left, r->kernel, out);
    return entry;
}

/* When a piece of a message begins: nothing waits except for another PE before that. */
static int64_t begin_fs(const struct watched *w, uint64_t id)
{
    const struct judge_op_record *r = record(w, id);
    size_t n;
    const kb_span *x = tape_of(&w->tape, (uint32_t)id, &n);

    return n ? x->begin_fs : r->t_start;
}

/* What was told of a piece's wait: from the piece before on, or from the issue. */
static const kb_span *told_wait(const struct watched *w, uint64_t id)
{
    for (size_t i = 0; i < w->tape.n_waits; i++)
        if (w->tape.wait[i].id == id)
            return &w->tape.wait[i];
    return NULL;
}

/* Every wait for another PE was told while it lasted; the others as well may take no time. */
static size_t assert_pe_wait(const struct watched *w, uint64_t id)
{
    const struct judge_op_record *r = record(w, id);
    const struct judge_command_times *t = times(w, r->kernel, r->command);
    bool barrier = command(w, r->kernel, r->command)->kind == JUDGE_BARRIER;
    uint64_t first = command_of(w, r) + (record(w, command_of(w, r))->component == JUDGE_NOWHERE);
    int64_t from_fs = id == first || barrier ? t->issue_fs : begin_fs(w, id - 1);
    int64_t until_fs = barrier ? t->end_fs : begin_fs(w, id);
    const kb_span *x = told_wait(w, id);
    char name[KB_PLACE_BYTES], want[JUDGE_NAME_BYTES];

    if (!x) {
        assert_true(!barrier && from_fs == until_fs);
        return 0;
    }
    if (x->begin_fs != from_fs || x->end_fs != until_fs)
        fail_msg("seed %" PRIu64 ": %" PRIu64 " waits from %" PRId64 " to %" PRId64 ", not %" PRId64
                 " to %" PRId64,
                 w->s->seed, id, x->begin_fs, x->end_fs, from_fs, until_fs);
    assert_true(x->command == command_of(w, r));
    assert_true(x->cause == (barrier ? KB_CAUSE_BARRIER_WAIT : KB_CAUSE_QUEUE_WAIT));
    assert_true(x->token == (barrier ? KB_NO_ID : id - first));
    kb_place_name(w->s->topo, x->behind, name);
    judge_end_name(&command(w, r->kernel, r->command)->at, want);
    assert_string_equal(name, barrier ? "" : want);
    return 1;
}

static void assert_pe_waits(const struct watched *w)
{
    size_t n = 0;

    for (size_t id = 0; id < w->s->expected.n_records; id++) {
        const struct judge_op_record *r = record(w, id);
        enum judge_command_kind kind = command(w, r->kernel, r->command)->kind;
        bool receives = kind == JUDGE_RECV && r->component != JUDGE_NOWHERE;

        if (receives || kind == JUDGE_SEND || kind == JUDGE_BARRIER)
            n += assert_pe_wait(w, id);
    }
    assert_true(n == w->tape.n_waits);
}

/* -- back from an end ----------------------------------------------------------------------- */

/*
 * Of job `id` back to its command's issue, or to what another PE has done: the waits before all,
 * and the pieces of time, all or those since that.
 */
struct chain {
    struct shares whole, since;
    struct entry entry;
};

static void add_shares(struct shares *to, const struct shares *pieces)
{
    assert_true(to->n + pieces->n <= MOST_SHARES);
    for (size_t k = 0; k < pieces->n; k++) {
        const kb_share *piece = &pieces->row[k];
        size_t at = 0;

        while (at < to->n &&
               (to->row[at].cause != piece->cause || to->row[at].place != piece->place))
            at++;
        if (at == to->n) {
            to->row[to->n++] = *piece;
            continue;
        }
        to->row[at].count += piece->count;
        to->row[at].sum_fs += piece->sum_fs;
        if (piece->longest_fs > to->row[at].longest_fs) {
            to->row[at].longest_fs = piece->longest_fs;
            to->row[at].behind = piece->behind;
            to->row[at].behind_id = piece->behind_id;
        }
    }
}

static void begin_chain(const struct watched *w, uint64_t id, struct chain *x)
{
    const struct judge_op_record *r = record(w, id);
    enum judge_command_kind kind = command(w, r->kernel, r->command)->kind;

    if (kind == JUDGE_RECV)
        x->entry = wait_for_messages(w, id, &x->whole);
    if (kind != JUDGE_SEND)
        return;
    x->entry = wait_for_slots(w, id, &x->whole);
    if (x->entry.job != JUDGE_NONE)
        add_way(w, way_of(w, record(w, x->entry.job)->kernel, r->kernel), r->kernel, &x->since);
}

/*
 * docs/kernels.md: back from the end of job `id`. What it waited for, if a tile or a piece of its
 * own command had it, is followed instead of the wait; else what let it begin: the stage before,
 * the tile whose FETCH made room, another PE, or its command's issue. If another command of the PE
 * had a channel or an engine last, its job is what lies before.
 */
static void add_chain(const struct watched *w, uint64_t id, struct chain *x)
{
    const struct judge_op_record *r = record(w, id);
    const struct judge_wait *wait = wait_for_own(w, id, false), *other = wait_for_own(w, id, true);
    struct shares pieces = {.n = 0}, since = {.n = 0};

    if (wait)
        add_chain(w, wait->given_by, x);
    else if (r->after != JUDGE_NONE && same_command(r, record(w, r->after)))
        add_chain(w, r->after, x);
    else if (r->after != JUDGE_NONE)
        add_room(w, r, &x->whole);
    else
        begin_chain(w, id, x);
    add_pieces(w, (uint32_t)id, wait, &pieces);
    add_shares(&x->whole, &pieces);
    if (!other || (wait && wait->end_fs >= other->end_fs)) {
        add_shares(&x->since, &pieces);
        return;
    }
    x->since.n = 0;
    add_pieces(w, (uint32_t)id, other, &since);
    add_shares(&x->since, &since);
    x->entry = (struct entry){other->given_by, other->end_fs};
}

static bool same_group(const struct watched *w, size_t a, size_t b)
{
    const struct judge_group *x = &w->s->program.groups[a], *y = &w->s->program.groups[b];
    size_t n = 0;

    for (size_t i = 0; i < x->n; i++)
        for (size_t k = 0; k < y->n; k++)
            n += number_of(w->s, &x->pes[i]) == number_of(w->s, &y->pes[k]);
    return x->n == y->n && n == x->n;
}

/* The `nth` barrier of a group in a kernel; or, with `until`, how many come before that command. */
static size_t nth_barrier(const struct watched *w, size_t kernel, size_t group, size_t nth,
                          size_t until)
{
    const struct judge_kernel *k = &w->s->program.kernels[kernel];
    size_t n = 0;

    for (size_t i = 0; i < k->n && i < until; i++) {
        if (k->commands[i].kind != JUDGE_BARRIER || !same_group(w, k->commands[i].group, group))
            continue;
        if (n++ == nth)
            return i;
    }
    return n;
}

/* docs/kernels.md: a barrier as one of its members comes through it. */
struct meeting {
    size_t lowest, last; /* kernels */
    uint64_t last_id;    /* the command whose word comes last, */
    int64_t there_fs;    /* and when it is with the lowest PE */
};

static struct meeting meet(const struct watched *w, const struct judge_op_record *r)
{
    size_t group = command(w, r->kernel, r->command)->group;
    size_t nth = nth_barrier(w, r->kernel, group, SIZE_MAX, r->command);
    const struct judge_group *g = &w->s->program.groups[group];
    struct meeting m = {.there_fs = -1};
    int64_t issued_fs = 0;

    m.lowest = kernel_of(w->s, number_of(w->s, &g->pes[0]));
    for (size_t i = 1; i < g->n; i++)
        if (number_of(w->s, &g->pes[i]) < number_of(w->s, &w->s->program.kernels[m.lowest].pe))
            m.lowest = kernel_of(w->s, number_of(w->s, &g->pes[i]));
    for (size_t i = 0; i < g->n; i++) {
        size_t k = kernel_of(w->s, number_of(w->s, &g->pes[i]));
        const struct judge_command_times *t = times(w, k, nth_barrier(w, k, group, nth, SIZE_MAX));
        struct word_way way = way_of(w, k, m.lowest);
        int64_t there_fs = t->issue_fs + way.wire_fs + way.overhead_fs;
        bool first =
            t->issue_fs < issued_fs ||
            (t->issue_fs == issued_fs &&
             number_of(w->s, &g->pes[i]) < number_of(w->s, &w->s->program.kernels[m.last].pe));

        if (there_fs < m.there_fs || (there_fs == m.there_fs && !first))
            continue;
        m = (struct meeting){m.lowest, k, t->op_id, there_fs};
        issued_fs = t->issue_fs;
    }
    return m;
}

static void add_barrier(const struct watched *w, const struct judge_op_record *r, struct chain *x)
{
    struct meeting m = meet(w, r);

    if (m.last == r->kernel)
        add_way(w, way_of(w, m.last, m.lowest), m.lowest, &x->whole);
    else
        share(&x->whole, KB_CAUSE_BARRIER_WAIT, node_of(w, r->kernel, "pe_scheduler"),
              m.there_fs - times(w, r->kernel, r->command)->issue_fs, behind_of(w, m.last),
              (uint32_t)m.last_id);
    add_way(w, way_of(w, m.lowest, r->kernel), r->kernel, &x->whole);
    add_way(w, way_of(w, m.lowest, r->kernel), r->kernel, &x->since);
    if (m.last != r->kernel)
        x->entry = (struct entry){m.last_id, m.there_fs};
}

/* The job of a command that ended last. */
static uint64_t last_job(const struct watched *w, uint64_t command)
{
    const struct judge_run *run = &w->s->expected;
    uint64_t last = JUDGE_NONE;

    for (uint64_t id = command; id < run->n_records; id++) {
        if (!same_command(&run->records[id], &run->records[command]))
            break;
        if (run->records[id].component != JUDGE_PE_SCHEDULER &&
            run->records[id].component != JUDGE_NOWHERE &&
            (last == JUDGE_NONE || run->records[id].order > run->records[last].order))
            last = id;
    }
    return last;
}

static void assert_share(const struct watched *w, const kb_command *c, const kb_share *want)
{
    char place[KB_PLACE_BYTES];

    for (size_t i = 0; i < c->n_shares; i++) {
        const kb_share *x = &c->share[i];

        if (x->cause == want->cause && x->place == want->place && x->count == want->count &&
            x->sum_fs == want->sum_fs && x->longest_fs == want->longest_fs &&
            x->behind == want->behind && x->behind_id == want->behind_id)
            return;
    }
    kb_place_name(w->s->topo, want->place, place);
    fail_msg("seed %" PRIu64 ": command %u (%s) has no share of %" PRIu64 " %s at %s, %" PRId64
             " fs, at most %" PRId64 " behind %u",
             w->s->seed, c->id, c->name, want->count, kb_cause_name(want->cause), place,
             want->sum_fs, want->longest_fs, want->behind_id);
}

/* What led to the end of a command, or of job `id` of it. */
static void follow(const struct watched *w, uint64_t id, bool barrier, struct chain *x)
{
    x->whole.n = x->since.n = 0;
    x->entry = (struct entry){JUDGE_NONE, 0};
    if (barrier)
        add_barrier(w, record(w, id), x);
    else
        add_chain(w, id, x);
}

static bool is_barrier(const struct watched *w, uint64_t id)
{
    return command(w, record(w, id)->kernel, record(w, id)->command)->kind == JUDGE_BARRIER;
}

static void follow_command(const struct watched *w, uint64_t id, struct chain *x)
{
    bool barrier = is_barrier(w, id);

    follow(w, barrier ? id : last_job(w, id), barrier, x);
}

/* How many of the first `n` commands of a kernel are more than a wait. */
static size_t done_of(const struct watched *w, size_t kernel, size_t n)
{
    size_t done = 0;

    for (size_t i = 0; i < n; i++)
        done += w->s->program.kernels[kernel].commands[i].kind != JUDGE_WAIT;
    return done;
}

/* What each PE waits for a launch, before its first command. */
static int64_t launch_fs_of(const struct watched *w)
{
    return llround(judge_number(w->s->judge, "software.launch_ns") * 1e6);
}

static int64_t waited_fs(const struct watched *w, const kb_command *c)
{
    const struct judge_op_record *r = record(w, c->id);

    return done_of(w, r->kernel, r->command) == 0 ? launch_fs_of(w) : 0;
}

static void assert_shares(const struct watched *w, const kb_command *c)
{
    static struct chain want;
    const struct judge_op_record *r = record(w, c->id);
    int64_t sum_fs = 0;

    follow_command(w, c->id, &want);
    share(&want.whole, KB_CAUSE_DISPATCH, node_of(w, r->kernel, "pe_cpu"),
          c->issue_fs - c->call_fs - waited_fs(w, c), KB_NOWHERE, KB_NO_ID);
    share(&want.whole, KB_CAUSE_LAUNCH, node_of(w, r->kernel, "pe_cpu"), waited_fs(w, c),
          KB_NOWHERE, KB_NO_ID);
    for (size_t i = 0; i < want.whole.n; i++)
        assert_share(w, c, &want.whole.row[i]);
    for (size_t i = 0; i < c->n_shares; i++)
        sum_fs += c->share[i].sum_fs;
    assert_true(c->n_shares == want.whole.n);
    assert_true(sum_fs == c->end_fs - c->call_fs);
}

/* -- commands ------------------------------------------------------------------------------- */

/* Of a product's operands: a float before an integer, then that of more bytes. */
static enum judge_dtype wider_of(const struct judge_command *c)
{
    static const unsigned bytes[] = {0, 1, 4, 2, 4, 8};
    bool floats = c->in >= JUDGE_F16;

    if (!c->mixed)
        return c->in;
    if (floats != (c->other >= JUDGE_F16))
        return floats ? c->in : c->other;
    return bytes[c->other] > bytes[c->in] ? c->other : c->in;
}

static void assert_name(const struct watched *w, const struct judge_command *c, const kb_command *x)
{
    static const char *const dtypes[] = {"i4", "i8", "i32", "f16", "f32", "f64"};
    char want[32];

    switch (c->kind) {
    case JUDGE_LOAD:
        strcpy(want, "dma_read");
        break;
    case JUDGE_STORE:
        strcpy(want, "dma_write");
        break;
    case JUDGE_VALUE:
        strcpy(want, "value");
        break;
    case JUDGE_ACC_SCALE:
        strcpy(want, "acc_scale");
        break;
    case JUDGE_ACC_STORE:
        strcpy(want, "acc_store");
        break;
    case JUDGE_ACC_DOT:
    case JUDGE_DOT:
        snprintf(want, sizeof want, "gemm_%s", dtypes[wider_of(c)]);
        break;
    case JUDGE_MATH:
        strcpy(want, c->op);
        break;
    case JUDGE_COMPOSITE_GEMM:
        strcpy(want, "composite_gemm");
        break;
    case JUDGE_SEND:
        strcpy(want, "send");
        break;
    case JUDGE_RECV:
        strcpy(want, "recv");
        break;
    case JUDGE_BARRIER:
        strcpy(want, "barrier");
        break;
    case JUDGE_ATOMIC:
        strcpy(want, "atomic_add");
        break;
    default:
        strcpy(want, "composite_math");
        break;
    }
    if (strcmp(x->name, want) != 0)
        fail_msg("seed %" PRIu64 ": command %u is %s, not %s", w->s->seed, x->id, x->name, want);
    assert_true(strncmp(x->call, "tl_", 3) == 0 && x->line > 0);
    assert_non_null(strstr(x->file, "programs.h"));
    assert_string_equal(x->kernel, "program");
    assert_true(x->composite ==
                (c->kind == JUDGE_COMPOSITE_GEMM || c->kind == JUDGE_COMPOSITE_MATH));
}

/* What has let a kernel come to where it is. */
struct cause {
    uint32_t after;
    bool after_end;
};

/* Checks the commands of one kernel in their order; returns what led to its return. */
static struct cause assert_commands(const struct watched *w, size_t kernel)
{
    const struct judge_kernel *k = &w->s->program.kernels[kernel];
    struct cause cause = {KB_NO_ID, false};

    for (size_t i = 0; i < k->n; i++) {
        const struct judge_command_times *t = times(w, kernel, i);
        const kb_command *x;

        if (k->commands[i].kind == JUDGE_WAIT) {
            if (t->blocked)
                cause =
                    (struct cause){(uint32_t)times(w, kernel, k->commands[i].target)->op_id, true};
            continue;
        }
        x = w->by_id[t->op_id];
        assert_non_null(x);
        assert_name(w, &k->commands[i], x);
        assert_true(x->pe == judge_global_pe(w->s->judge, &k->pe));
        assert_true(x->call_fs == t->call_fs - waited_fs(w, x) && x->issue_fs == t->issue_fs);
        assert_true(x->end_fs == t->end_fs);
        if (x->after != cause.after || x->after_end != cause.after_end)
            fail_msg("seed %" PRIu64 ": command %u follows the %s of %u, not the %s of %u",
                     w->s->seed, x->id, x->after_end ? "end" : "issue", x->after,
                     cause.after_end ? "end" : "issue", cause.after);
        assert_shares(w, x);
        assert_true(x->return_fs == t->return_fs);
        assert_true(x->async ==
                    (k->commands[i].async || x->composite || k->commands[i].kind == JUDGE_SEND));
        cause = (struct cause){x->id, !x->async};
    }
    return cause;
}

/* The end of a kernel comes with its return, or with the last end of a command after that. */
static struct cause cause_of_end(const struct watched *w, size_t kernel, struct cause cause)
{
    const struct judge_kernel_times *t = &w->s->expected.kernels[kernel];
    uint64_t last = t->return_order;

    for (size_t i = 0; i < w->s->program.kernels[kernel].n; i++) {
        const struct judge_command_times *c = &t->commands[i];

        if (w->s->program.kernels[kernel].commands[i].kind == JUDGE_WAIT || c->order < last)
            continue;
        last = c->order;
        cause = (struct cause){(uint32_t)c->op_id, true};
    }
    return cause;
}

/* -- the critical path ---------------------------------------------------------------------- */

/* A step as it ought to be. */
struct step {
    uint32_t id;
    int64_t begin_fs, end_fs, by_cause[KB_N_CAUSES];
};

struct path {
    const struct watched *w;
    struct step *want;
    size_t n, told;
};

static struct step step_of(uint32_t id, int64_t begin_fs, int64_t end_fs, const struct shares *x)
{
    struct step step = {.id = id, .begin_fs = begin_fs, .end_fs = end_fs};

    for (size_t i = 0; i < x->n; i++)
        step.by_cause[x->row[i].cause] += x->row[i].sum_fs;
    return step;
}

/*
 * A step of `c` that ended at `end_fs` as `x` says: it began with what another PE has done, or with
 * its call. Adds what is before it on other PEs, too; returns the command at whose call it stands.
 */
static const kb_command *walk_over(struct path *p, const kb_command *c, int64_t end_fs,
                                   struct chain *x)
{
    const struct watched *w = p->w;
    struct step step;

    while (x->entry.job != JUDGE_NONE) {
        const struct judge_op_record *r = record(w, x->entry.job);
        uint64_t job = x->entry.job;

        step = step_of(c->id, x->entry.since_fs, end_fs, &x->since);
        TAPE_ADD(p->want, p->n, step);
        end_fs = x->entry.since_fs;
        c = w->by_id[command_of(w, r)];
        if (!is_barrier(w, job)) {
            follow(w, job, false, x);
            continue;
        }
        x->whole.n = 0;
        x->entry.job = JUDGE_NONE;
        add_way(w, way_of(w, r->kernel, meet(w, r).lowest), meet(w, r).lowest, &x->whole);
    }
    step = step_of(c->id, c->call_fs, end_fs, &x->whole);
    step.by_cause[KB_CAUSE_DISPATCH] += c->issue_fs - c->call_fs - waited_fs(w, c);
    step.by_cause[KB_CAUSE_LAUNCH] += waited_fs(w, c);
    TAPE_ADD(p->want, p->n, step);
    return c;
}

/* What let a command return before its end: its issue, or the slot of its last piece. */
static void follow_return(const struct watched *w, const kb_command *c, struct chain *x)
{
    const struct judge_op_record *r = record(w, c->id);
    uint64_t last = c->id;

    x->whole.n = x->since.n = 0;
    x->entry = (struct entry){JUDGE_NONE, 0};
    if (command(w, r->kernel, r->command)->kind != JUDGE_SEND)
        return;
    while (last + 1 < w->s->expected.n_records && same_command(record(w, last + 1), r))
        last++;
    begin_chain(w, last, x);
}

/* Steps from the end of the kernel back to its start, then turned around. */
static void walk_back(struct path *p, struct cause cause, int64_t end_fs)
{
    static struct chain x;
    const struct watched *w = p->w;

    while (cause.after != KB_NO_ID) {
        const kb_command *c = w->by_id[cause.after];

        assert_true(end_fs == (cause.after_end ? c->end_fs : c->return_fs));
        if (cause.after_end)
            follow_command(w, c->id, &x);
        else
            follow_return(w, c, &x);
        c = walk_over(p, c, end_fs, &x);
        end_fs = c->call_fs;
        cause = (struct cause){c->after, c->after_end};
    }
    assert_true(end_fs == w->s->expected.start_fs + (p->n ? 0 : launch_fs_of(w)));
    for (size_t i = 0; i < p->n / 2; i++) {
        struct step kept = p->want[i];

        p->want[i] = p->want[p->n - 1 - i];
        p->want[p->n - 1 - i] = kept;
    }
}

static void sum_step(const struct watched *w, const kb_breakdown_step *step)
{
    const char *file = strrchr(step->file, '/');
    char of[KB_PLACE_BYTES];

    snprintf(of, sizeof of, "%s %s:%d", step->call, file ? file + 1 : step->file, step->line);
    for (size_t i = 0; i < step->n_shares; i++) {
        const kb_share *x = &step->share[i];
        bool placed = is_wait(x->cause) || x->cause == KB_CAUSE_DRAIN ||
                      x->cause == KB_CAUSE_PORT || x->cause == KB_CAUSE_COMPUTE;
        kb_breakdown_row row = {.cause = x->cause,
                                .place = placed ? x->place : KB_NOWHERE,
                                .behind = x->behind,
                                .count = x->count,
                                .sum_fs = x->sum_fs};

        sum(w->sums, KB_BREAKDOWN_PATH, "program", &row);
        sum(w->sums, KB_BREAKDOWN_PATH, of, &row);
    }
}

static void assert_step_shares(const struct step *want, const kb_breakdown_step *step)
{
    int64_t by_cause[KB_N_CAUSES] = {0}, sum_fs = 0;

    for (size_t i = 0; i < step->n_shares; i++) {
        sum_fs += step->share[i].sum_fs;
        by_cause[step->share[i].cause] += step->share[i].sum_fs;
    }
    assert_true(sum_fs == step->end_fs - step->begin_fs);
    for (int i = 0; i < KB_N_CAUSES; i++)
        assert_true(by_cause[i] == want->by_cause[i]);
}

static void assert_step(void *arg, const kb_breakdown_step *step)
{
    struct path *p = arg;
    const struct step *want = &p->want[p->told];

    if (p->told == p->n || step->id != want->id || step->begin_fs != want->begin_fs ||
        step->end_fs != want->end_fs)
        fail_msg("seed %" PRIu64 ": step %zu of %zu is command %u", p->w->s->seed, p->told, p->n,
                 step->id);
    assert_true(step->launch == 0 && step->pe == p->w->by_id[step->id]->pe);
    assert_string_equal(step->kernel, "program");
    assert_string_equal(step->name, p->w->by_id[step->id]->name);
    assert_step_shares(want, step);
    sum_step(p->w, step);
    p->told++;
}

/* Of the kernel that ended last; of several that on the PE with the lowest number. */
static void assert_path(const struct watched *w, const struct cause *ends)
{
    const struct judge_run *run = &w->s->expected;
    struct path p = {.w = w};
    size_t last = 0;

    for (size_t k = 1; k < run->n_kernels; k++) {
        int64_t end_fs = run->kernels[k].end_fs, last_fs = run->kernels[last].end_fs;

        if (end_fs > last_fs || (end_fs == last_fs &&
                                 judge_global_pe(w->s->judge, &w->s->program.kernels[k].pe) <
                                     judge_global_pe(w->s->judge, &w->s->program.kernels[last].pe)))
            last = k;
    }
    walk_back(&p, ends[last], run->kernels[last].end_fs);
    assert_int_equal(kb_breakdown_path(w->why, assert_step, &p), KB_OK);
    if (p.told != p.n)
        fail_msg("seed %" PRIu64 ": the path has %zu steps, not %zu", w->s->seed, p.told, p.n);
    free(p.want);
}

/* -- sums ----------------------------------------------------------------------------------- */

static void sum_command(const struct watched *w, const kb_command *c)
{
    char name[KB_PLACE_BYTES], line[KB_PLACE_BYTES];
    const char *file = strrchr(c->file, '/');
    const struct judge_op_record *r = record(w, c->id);

    snprintf(line, sizeof line, "%s:%d", file ? file + 1 : c->file, c->line);
    for (size_t i = 0; i < c->n_shares; i++) {
        const kb_share *x = &c->share[i];
        bool placed = is_wait(x->cause) || x->cause == KB_CAUSE_DRAIN ||
                      x->cause == KB_CAUSE_PORT || x->cause == KB_CAUSE_COMPUTE;
        kb_breakdown_row row = {.cause = x->cause, .count = x->count, .sum_fs = x->sum_fs};

        sum(w->sums, KB_BREAKDOWN_ALL, "", &row);
        sum(w->sums, KB_BREAKDOWN_OP, c->name, &row);
        sum(w->sums, KB_BREAKDOWN_LINE, line, &row);
        sum(w->sums, KB_BREAKDOWN_REGION, c->region ? c->region : "", &row);
        row.place = placed ? x->place : KB_NOWHERE;
        kb_place_name(w->s->topo, x->place, name);
        sum(w->sums, KB_BREAKDOWN_PLACE, name, &row);
        judge_end_name(&w->s->program.kernels[r->kernel].pe, name);
        sum(w->sums, KB_BREAKDOWN_PE, name, &row);
        row.behind = x->behind;
        kb_place_name(w->s->topo, x->place, name);
        if (x->cause == KB_CAUSE_QUEUE_WAIT || x->cause == KB_CAUSE_BARRIER_WAIT)
            sum(w->sums, KB_BREAKDOWN_WAIT, name, &row);
    }
}

static void sum_targets(const struct watched *w)
{
    char name[KB_PLACE_BYTES];

    for (size_t i = 0; i < w->tape.n_spans; i++) {
        const kb_span *x = &w->tape.span[i];
        bool placed = is_wait(x->cause) || x->cause == KB_CAUSE_DRAIN;
        kb_breakdown_row row = {.cause = x->cause,
                                .place = placed ? x->place : KB_NOWHERE,
                                .count = 1,
                                .sum_fs = x->end_fs - x->begin_fs};

        if (x->end_fs == x->begin_fs)
            continue;
        kb_place_name(w->s->topo, x->target, name);
        if (x->target != KB_NOWHERE)
            sum(w->sums, KB_BREAKDOWN_TARGET, name, &row);
        row.behind = x->behind;
        kb_place_name(w->s->topo, x->place, name);
        if (is_wait(x->cause))
            sum(w->sums, KB_BREAKDOWN_WAIT, name, &row);
    }
}

/* -- a run ---------------------------------------------------------------------------------- */

static void index_commands(struct watched *w)
{
    w->by_id = calloc(w->s->expected.n_records + 1, sizeof *w->by_id);
    for (size_t i = 0; i < w->tape.n_commands; i++) {
        const kb_command *c = &w->tape.command[i];

        assert_true(c->id < w->s->expected.n_records && !w->by_id[c->id]);
        w->by_id[c->id] = c;
    }
    assert_true(w->tape.n_issued == w->tape.n_commands);
    for (size_t i = 0; i < w->tape.n_issued; i++) {
        const kb_command *x = &w->tape.issued[i], *y = w->by_id[x->id];

        assert_true(y && x->call_fs == y->call_fs && x->issue_fs == y->issue_fs);
        assert_true(x->after == y->after && x->after_end == y->after_end && x->pe == y->pe);
    }
}

/* Starts and ends of kernels, and what their ends came with. */
static void assert_kernels(const struct watched *w, const struct cause *ends)
{
    assert_true(w->tape.n_starts == w->s->program.n && w->tape.n_leaves == w->s->program.n);
    for (size_t i = 0; i < w->s->program.n; i++) {
        const kb_kernel_run *x = &w->tape.leave[i];
        size_t k = kernel_of(w->s, x->pe);

        assert_true(w->tape.start[i].start_fs == w->s->expected.start_fs);
        assert_true(x->start_fs == w->s->expected.start_fs && x->launch == 0);
        /* docs/model.md "Costs of software": what is paid behind the last command is not shown */
        assert_true(x->end_fs ==
                    w->s->expected.kernels[k].end_fs -
                        (done_of(w, k, w->s->program.kernels[k].n) ? 0 : launch_fs_of(w)));
        if (x->after != ends[k].after || x->after_end != ends[k].after_end)
            fail_msg("seed %" PRIu64 ": kernel %zu ends with the %s of %u, not the %s of %u",
                     w->s->seed, k, x->after_end ? "end" : "issue", x->after,
                     ends[k].after_end ? "end" : "issue", ends[k].after);
    }
}

static void assert_watched(struct watched *w)
{
    struct scenario *s = w->s;
    struct cause *ends = calloc(s->program.n + 1, sizeof *ends);
    size_t n = 0;

    tape_sort(&w->tape);
    find_queues(w);
    assert_waits(&w->tape, &s->expected.waits);
    for (uint32_t id = 0; id < s->expected.n_records; id++)
        assert_stage(w, id);
    assert_record_times(w);
    assert_services(&w->tape, w->sim);
    index_commands(w);
    assert_pe_waits(w);
    sums_begin(w->sums, &w->tape);
    for (size_t k = 0; k < s->program.n; k++)
        ends[k] = cause_of_end(w, k, assert_commands(w, k));
    for (size_t i = 0; i < s->expected.n_records; i++)
        if (w->by_id[i]) {
            sum_command(w, w->by_id[i]);
            n++;
        }
    assert_true(n == w->tape.n_commands);
    sum_targets(w);
    assert_kernels(w, ends);
    assert_path(w, ends);
    assert_rows(w->sums, w->why);
    free(ends);
    free(w->by_id);
    free_queues(w);
}

static void check_program(struct scenario *s, kb_options options, struct sums *sums)
{
    struct watched w = {.s = s, .sums = sums, .tape = {.topo = s->topo, .seed = s->seed}};
    kb_launch_result r;

    w.sim = launch_program(s, options);
    tape_watch(&w.tape, w.sim);
    assert_int_equal(kb_breakdown_new(w.sim, &w.why, NULL), KB_OK);
    run_launched(s, w.sim, s->seed % 3 ? 0 : 17, &r);
    assert_true(r.start_fs == s->expected.start_fs && r.response_fs == s->expected.total_fs);
    if (options.fingerprint)
        assert_true(kb_sim_fingerprint(w.sim) == s->expected.fingerprint);
    assert_watched(&w);
    assert_int_equal(kb_sim_observe(w.sim, &(kb_observer){0}, NULL), KB_BAD_REQUEST);
    kb_breakdown_free(w.why);
    kb_sim_free(w.sim);
    tape_free(&w.tape);
}

/* docs/kernels.md: pieces, shares and the critical path, all recomputed from the judge's run */
static void random_kernels_spend_their_time_as_the_judge_says(void **state)
{
    struct seeds seeds = seeds_of(SEEDS, 1);
    struct sums *sums = malloc(sizeof *sums);

    (void)state;
    for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
        struct scenario s = scenario_new(seed);

        check_program(&s, (kb_options){.fingerprint = seed % 2, .oplog = seed % 5 == 0}, sums);
        scenario_free(&s);
    }
    free(sums);
}

/* docs/kernels.md: the same of PEs that talk: their paths go from one to another */
static void random_kernels_that_talk_spend_theirs_so_too(void **state)
{
    struct seeds seeds = seeds_of(TALKS, 1);
    struct sums *sums = malloc(sizeof *sums);

    (void)state;
    for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
        struct scenario s = scenario_of(seed, true);

        check_program(&s, (kb_options){.fingerprint = seed % 2, .oplog = seed % 5 == 0}, sums);
        scenario_free(&s);
    }
    free(sums);
}

/* Every PE of a cube loads from its own slice, which takes all equally long. */
static void of_kernels_that_end_together_the_first_has_the_path(void **state)
{
    static const char cube[] = "kernbench: 1\nname: one\nsip: {cube_mesh: {w: 1, h: 1}}\n";
    struct scenario s = {.topo = any_topology(cube), .judge = judge_load_text(cube)};
    struct sums *sums = malloc(sizeof *sums);

    (void)state;
    judge_all_kernels(s.judge, &s.program);
    for (size_t k = 0; k < s.program.n; k++) {
        struct judge_command load = {.kind = JUDGE_LOAD, .in = JUDGE_F32, .nbytes = 4096};

        load.at = s.program.kernels[k].pe;
        load.at.kind = JUDGE_SLICE;
        judge_add_command(&s.program, k, &load);
    }
    scenario_judge(&s);
    assert_true(s.expected.kernels[0].end_fs == s.expected.kernels[7].end_fs);
    check_program(&s, (kb_options){0}, sums);
    scenario_free(&s);
    free(sums);
}

/* -- costs left out ------------------------------------------------------------------------- */

static void meets(void *arg, const kb_breakdown_step *step)
{
    int64_t *at_fs = arg;

    assert_true(step->begin_fs == *at_fs);
    *at_fs = step->end_fs;
}

/* Where nothing but cycles takes time, a command may have no shares at all. */
static void commands_and_paths_add_up_whatever_cost_is_left_out(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS / 4; seed++) {
        struct scenario s = scenario_of(seed, seed % 2);
        kb_options options = {.costs_off = (unsigned)(seed % 4 ? seed * 7 % 64 : 15)};
        struct tape tape = {.topo = s.topo, .seed = seed};
        kb_sim *plain = launch_program(&s, options), *sim = launch_program(&s, options);
        kb_launch_result a, b;
        kb_breakdown *why;
        int64_t at_fs;

        tape_watch(&tape, sim);
        assert_int_equal(kb_breakdown_new(sim, &why, NULL), KB_OK);
        run_launched(&s, plain, 0, &a);
        run_launched(&s, sim, 0, &b);
        assert_true(a.start_fs == b.start_fs && a.last_end_fs == b.last_end_fs);
        for (size_t i = 0; i < tape.n_commands; i++) {
            const kb_command *c = &tape.command[i];
            int64_t sum_fs = 0;

            for (size_t k = 0; k < c->n_shares; k++)
                sum_fs += c->share[k].sum_fs;
            assert_true(sum_fs == c->end_fs - c->call_fs);
        }
        at_fs = b.start_fs;
        assert_int_equal(kb_breakdown_path(why, meets, &at_fs), KB_OK);
        assert_true(at_fs == b.last_end_fs);
        kb_breakdown_free(why);
        tape_free(&tape);
        kb_sim_free(plain);
        kb_sim_free(sim);
        scenario_free(&s);
    }
}

/* -- commands beside sums ------------------------------------------------------------------- */

/* What a command was spent for, and where, in any order of its shares. */
static void put_command(void *arg, const kb_command *c)
{
    int64_t fs[64] = {0};
    uint64_t places = 0;

    for (size_t i = 0; i < c->n_shares; i++) {
        fs[c->share[i].cause] += c->share[i].sum_fs;
        places += c->share[i].place * (uint64_t)c->share[i].sum_fs;
    }
    fprintf(arg, "%u %u %" PRId64 " %" PRId64 " %" PRIx64 ":", c->id, c->pe, c->call_fs, c->end_fs,
            places);
    for (int i = 0; i < 64; i++)
        if (fs[i])
            fprintf(arg, " %d %" PRId64, i, fs[i]);
    fputc('\n', arg);
}

/* Commands as they end, and the breakdown, of a run by `engine`. */
static char *commands_beside_sums(struct scenario *s, kb_engine engine)
{
    kb_sim *sim = launch_program(s, (kb_options){.engine = engine});
    char *text = NULL, *sums;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    kb_breakdown *why;
    kb_launch_result r;

    assert_non_null(f);
    assert_int_equal(kb_breakdown_new(sim, &why, NULL), KB_OK);
    assert_int_equal(kb_sim_observe(sim, &(kb_observer){.arg = f, .finish = put_command}, NULL),
                     KB_OK);
    run_launched(s, sim, 0, &r);
    sums = breakdown_text(why);
    fputs(sums, f);
    fclose(f);
    free(sums);
    kb_sim_free(sim);
    return text;
}

/* An observer of commands alone does not ask for every node. */
static void commands_beside_sums_are_those_of_both_engines(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS / 4; seed++) {
        struct scenario s = scenario_of(seed, seed % 2);
        char *visits = commands_beside_sums(&s, KB_FUSED);
        char *pieces = commands_beside_sums(&s, KB_HOP);

        assert_same_lines(seed, visits, pieces);
        free(visits);
        free(pieces);
        scenario_free(&s);
    }
}

/* -- the path alone ------------------------------------------------------------------------- */

/* In any order of its shares. */
static void put_step(void *arg, const kb_breakdown_step *step)
{
    uint64_t all = 0;

    for (size_t i = 0; i < step->n_shares; i++) {
        const kb_share *x = &step->share[i];
        uint64_t each[] = {
            x->cause,  x->place,    x->count, (uint64_t)x->sum_fs, (uint64_t)x->longest_fs,
            x->behind, x->behind_id};
        uint64_t h = 0;

        for (size_t k = 0; k < sizeof each / sizeof *each; k++)
            h = (h ^ each[k]) * UINT64_C(0x9e3779b97f4a7c15);
        all += h ^ h >> 29;
    }
    fprintf(arg, "%u %u %s %s %d %" PRId64 " %" PRId64 " %zu %" PRIx64 "\n", step->id, step->pe,
            step->call, step->name, step->line, step->begin_fs, step->end_fs, step->n_shares, all);
}

enum { PATH_ALONE = 1, WITH_SUMS = 2, SUMS_FIRST = 4, BY_HOP = 8 };

/* The path, or of both where both are asked for: that alone, that beside sums, the sums. */
static char *path_of(struct scenario *s, unsigned how)
{
    kb_sim *sim = launch_program(s, (kb_options){.engine = how & BY_HOP ? KB_HOP : KB_FUSED});
    kb_breakdown *alone = NULL, *all = NULL;
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    kb_launch_result r;

    assert_non_null(f);
    if (how & SUMS_FIRST)
        assert_int_equal(kb_breakdown_new(sim, &all, NULL), KB_OK);
    if (how & PATH_ALONE)
        assert_int_equal(kb_breakdown_new_path(sim, &alone, NULL), KB_OK);
    if (how & WITH_SUMS)
        assert_int_equal(kb_breakdown_new(sim, &all, NULL), KB_OK);
    run_launched(s, sim, 0, &r);
    if (alone)
        assert_int_equal(kb_breakdown_path(alone, put_step, f), KB_OK);
    kb_breakdown_free(alone);
    if (all) {
        char *sums;

        assert_int_equal(kb_breakdown_path(all, put_step, f), KB_OK);
        sums = breakdown_text(all);
        fputs(sums, f);
        free(sums);
    }
    fclose(f);
    kb_sim_free(sim);
    return text;
}

/* Whatever else watches, a path is the same, and so are sums. */
static void a_path_alone_is_that_beside_sums(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS / 2; seed++) {
        struct scenario s = scenario_of(seed, seed % 2);
        char *alone = path_of(&s, PATH_ALONE), *sums = path_of(&s, WITH_SUMS), *both;

        assert_true(*alone);
        assert_memory_equal(alone, sums, strlen(alone));
        if (asprintf(&both, "%s%s", alone, sums) < 0)
            fail();
        for (unsigned hop = 0; hop <= BY_HOP; hop += BY_HOP) {
            char *after = path_of(&s, PATH_ALONE | WITH_SUMS | hop);
            char *before = path_of(&s, PATH_ALONE | SUMS_FIRST | hop);

            assert_same_lines(seed, after, both);
            assert_same_lines(seed, before, both);
            free(after);
            free(before);
        }
        free(alone);
        free(sums);
        free(both);
        scenario_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_kernels_spend_their_time_as_the_judge_says),
        cmocka_unit_test(random_kernels_that_talk_spend_theirs_so_too),
        cmocka_unit_test(of_kernels_that_end_together_the_first_has_the_path),
        cmocka_unit_test(commands_and_paths_add_up_whatever_cost_is_left_out),
        cmocka_unit_test(commands_beside_sums_are_those_of_both_engines),
        cmocka_unit_test(a_path_alone_is_that_beside_sums),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
