/* tape.h -- all that a watched simulation tells, kept in its order, and what holds for any run. */
#ifndef TAPE_H
#define TAPE_H
#include "machine/cost.h"
#include "machine/pes.h"
#include "machine/place.h"
#include "rig.h"

/* A take or a release. */
struct told_service {
    bool take;
    kb_service service;
};

struct tape {
    const kb_topology *topo;
    uint64_t seed; /* for messages */
    kb_span *span; /* pieces that have ended, owned; as all that follows */
    kb_span *open; /* [id]: the piece that is open; begin_fs -1: none */
    kb_span *wait; /* for another PE, apart */
    kb_span *end;  /* transactions that have ended */
    struct told_service *service;
    kb_command *command; /* that have ended; with shares of their own */
    kb_command *issued;
    kb_kernel_run *start, *leave;
    size_t n_spans, n_waits, n_open, n_ends, n_services, n_commands, n_issued, n_starts, n_leaves;
};

/* Room for one more at the end of a list, which grows by doubling. */
static inline void *tape_room(void *list, size_t n, size_t bytes)
{
    return n & (n + 1) ? list : realloc(list, 2 * (n + 1) * bytes);
}

#define TAPE_ADD(list, n, item)                                                                    \
    ((list) = tape_room(list, n, sizeof *(list)), (list)[(n)++] = (item))

static inline kb_span *tape_open(struct tape *t, uint32_t id)
{
    kb_span none = {.begin_fs = -1};

    while (t->n_open <= id)
        TAPE_ADD(t->open, t->n_open, none);
    return &t->open[id];
}

static inline void tape_on_open(void *arg, const kb_span *span)
{
    struct tape *t = arg;
    kb_span *open = tape_open(t, span->id);

    assert_true(span->end_fs == -1 && span->begin_fs >= 0);
    if (open->begin_fs >= 0)
        fail_msg("seed %" PRIu64 ": %u begins %s within %s", t->seed, span->id,
                 kb_cause_name(span->cause), kb_cause_name(open->cause));
    *open = *span;
}

/* The same piece, once as it began and once as it has ended. */
static inline bool tape_same(const kb_span *a, const kb_span *b)
{
    return a->id == b->id && a->command == b->command && a->token == b->token &&
           a->what == b->what && a->source == b->source && a->target == b->target &&
           a->nbytes == b->nbytes && a->cause == b->cause && a->place == b->place &&
           a->behind == b->behind && a->behind_id == b->behind_id && a->message == b->message &&
           a->begin_fs == b->begin_fs;
}

static inline void tape_on_close(void *arg, const kb_span *span)
{
    struct tape *t = arg;
    kb_span *open = tape_open(t, span->id);

    if (!tape_same(open, span))
        fail_msg("seed %" PRIu64 ": %u ends %s, which it did not begin", t->seed, span->id,
                 kb_cause_name(span->cause));
    open->begin_fs = -1;
    if (span->cause == KB_CAUSE_QUEUE_WAIT || span->cause == KB_CAUSE_BARRIER_WAIT)
        TAPE_ADD(t->wait, t->n_waits, *span);
    else
        TAPE_ADD(t->span, t->n_spans, *span);
}

static inline void tape_on_take(void *arg, const kb_service *service)
{
    struct tape *t = arg;
    struct told_service told = {true, *service};

    TAPE_ADD(t->service, t->n_services, told);
}

static inline void tape_on_release(void *arg, const kb_service *service)
{
    struct tape *t = arg;
    struct told_service told = {false, *service};

    TAPE_ADD(t->service, t->n_services, told);
}

static inline void tape_on_end(void *arg, const kb_span *last)
{
    struct tape *t = arg;

    assert_true(tape_open(t, last->id)->begin_fs < 0);
    TAPE_ADD(t->end, t->n_ends, *last);
}

static inline void tape_on_issue(void *arg, const kb_command *command)
{
    struct tape *t = arg;

    assert_true(command->end_fs == -1);
    TAPE_ADD(t->issued, t->n_issued, *command);
}

static inline void tape_on_finish(void *arg, const kb_command *command)
{
    struct tape *t = arg;
    kb_command kept = *command;
    kb_share *shares = calloc(command->n_shares + 1, sizeof *shares);

    if (command->n_shares)
        memcpy(shares, command->share, command->n_shares * sizeof *shares);
    kept.share = shares;
    TAPE_ADD(t->command, t->n_commands, kept);
}

static inline void tape_on_start(void *arg, const kb_kernel_run *run)
{
    struct tape *t = arg;

    TAPE_ADD(t->start, t->n_starts, *run);
}

static inline void tape_on_leave(void *arg, const kb_kernel_run *run)
{
    struct tape *t = arg;

    TAPE_ADD(t->leave, t->n_leaves, *run);
}

/* Has `t`, all zero except for its topology, observe `sim`. */
static inline void tape_watch(struct tape *t, kb_sim *sim)
{
    kb_observer watch = {.arg = t,
                         .open = tape_on_open,
                         .close = tape_on_close,
                         .take = tape_on_take,
                         .release = tape_on_release,
                         .end = tape_on_end,
                         .issue = tape_on_issue,
                         .finish = tape_on_finish,
                         .start = tape_on_start,
                         .leave = tape_on_leave};
    kb_error why = {""};

    if (kb_sim_observe(sim, &watch, &why) != KB_OK)
        fail_msg("%s", why.text);
}

static inline void tape_free(struct tape *t)
{
    for (size_t i = 0; i < t->n_commands; i++)
        free((kb_share *)t->command[i].share);
    free(t->span);
    free(t->wait);
    free(t->open);
    free(t->end);
    free(t->service);
    free(t->command);
    free(t->issued);
    free(t->start);
    free(t->leave);
    *t = (struct tape){0};
}

/* -- names ---------------------------------------------------------------------------------- */

/* As the judge has it: of a memory its node. */
static inline void tape_place(const struct tape *t, kb_place place, char text[KB_PLACE_BYTES])
{
    if (kb_place_kind_of(place) == KB_AT_MEMORY)
        kb_place_node(t->topo, place, text);
    else
        kb_place_name(t->topo, place, text);
}

/* The node of a place begins its name; of an end it is where transactions set out, or go to. */
static inline void assert_node(const struct tape *t, kb_place place)
{
    char node[KB_NODE_BYTES], name[KB_PLACE_BYTES];
    size_t n = kb_place_node(t->topo, place, node);
    const char *rest;

    assert_true(n == strlen(node) && kb_place_name(t->topo, place, name) == strlen(name));
    switch (kb_place_kind_of(place)) {
    case KB_AT_NOTHING:
        assert_true(n == 0 && !*name);
        return;
    case KB_AT_PE:
        assert_non_null(strstr(node, ".pe_cpu"));
        return;
    case KB_AT_HOST:
        assert_non_null(strstr(node, ".pcie_ep"));
        return;
    case KB_AT_MEMORY:
        assert_true(strstr(node, ".hbm_ctrl.slice") || strstr(node, ".sram") ||
                    strstr(node, ".pe_tcm"));
        return;
    default:
        break;
    }
    rest = name + n;
    assert_true(strncmp(name, node, n) == 0);
    assert_true(!*rest || strcmp(rest, ".read") == 0 || strcmp(rest, ".write") == 0 ||
                strncmp(rest, " -> sip", 7) == 0 || strncmp(rest, " -> fab", 7) == 0);
}

static inline void assert_place(const struct tape *t, const kb_span *span, const char *want)
{
    char got[KB_PLACE_BYTES];

    tape_place(t, span->place, got);
    if (strcmp(got, want) != 0)
        fail_msg("seed %" PRIu64 ": %u, %s at %s, not at %s", t->seed, span->id,
                 kb_cause_name(span->cause), got, want);
}

static inline bool is_wait(kb_cause cause)
{
    return strstr(kb_cause_name(cause), "_wait") != NULL;
}

/* -- pieces of one id ----------------------------------------------------------------------- */

/* Sorts the pieces by id; those of one id stay as they were told, which is in order of time. */
static inline void tape_sort(struct tape *t)
{
    kb_span *sorted = calloc(t->n_spans + 1, sizeof *sorted);
    size_t *first;
    uint32_t ids = 0;

    for (size_t i = 0; i < t->n_spans; i++)
        ids = t->span[i].id >= ids ? t->span[i].id + 1 : ids;
    first = calloc(ids + 2, sizeof *first);
    for (size_t i = 0; i < t->n_spans; i++)
        first[t->span[i].id + 1]++;
    for (uint32_t id = 0; id < ids; id++)
        first[id + 1] += first[id];
    for (size_t i = 0; i < t->n_spans; i++)
        sorted[first[t->span[i].id]++] = t->span[i];
    free(first);
    free(t->span);
    t->span = sorted;
}

/* Of sorted pieces those of `id`. */
static inline const kb_span *tape_of(const struct tape *t, uint32_t id, size_t *n)
{
    size_t low = 0, high = t->n_spans;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (t->span[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    for (*n = 0; low + *n < t->n_spans && t->span[low + *n].id == id;)
        ++*n;
    return t->span + low;
}

/* -- waits ---------------------------------------------------------------------------------- */

static inline int tape_by_wait(const void *a, const void *b)
{
    const struct judge_wait *x = a, *y = b;

    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    if (x->begin_fs != y->begin_fs)
        return x->begin_fs < y->begin_fs ? -1 : 1;
    return strcmp(x->at, y->at);
}

static inline kb_cause tape_cause(const char *at)
{
    if (strstr(at, " -> "))
        return KB_CAUSE_LINK_WAIT;
    if (strstr(at, ".pe_dma"))
        return KB_CAUSE_CHANNEL_WAIT;
    if (strstr(at, ".pe_tcm"))
        return KB_CAUSE_PORT_WAIT;
    return strstr(at, ".m_cpu") || strstr(at, ".pe_gemm") || strstr(at, ".pe_math")
               ? KB_CAUSE_ENGINE_WAIT
               : KB_CAUSE_MEMORY_WAIT;
}

/* Every wait of the judge's was told, and no other: where, when, and behind which. */
static inline void assert_waits(const struct tape *t, struct judge_waits *waits)
{
    struct judge_wait *got = calloc(t->n_spans + 1, sizeof *got);
    size_t n = 0;

    for (size_t i = 0; i < t->n_spans; i++) {
        const kb_span *x = &t->span[i];
        struct judge_wait *w = &got[n];
        char at[KB_PLACE_BYTES];

        if (!is_wait(x->cause))
            continue;
        *w = (struct judge_wait){
            .id = x->id, .behind = x->behind_id, .begin_fs = x->begin_fs, .end_fs = x->end_fs};
        tape_place(t, x->place, at);
        snprintf(w->at, sizeof w->at, "%.95s", at);
        if (x->cause != tape_cause(w->at))
            fail_msg("seed %" PRIu64 ": %s at %s", t->seed, kb_cause_name(x->cause), w->at);
        n++;
    }
    qsort(got, n, sizeof *got, tape_by_wait);
    if (waits->n)
        qsort(waits->waits, waits->n, sizeof *got, tape_by_wait);
    for (size_t i = 0; i < t->n_spans; i++) {
        assert_node(t, t->span[i].place);
        assert_node(t, t->span[i].source);
        assert_node(t, t->span[i].target);
    }
    for (size_t i = 0; i < n && i < waits->n; i++) {
        const struct judge_wait *a = &got[i], *b = &waits->waits[i];

        if (a->id != b->id || strcmp(a->at, b->at) != 0 || a->begin_fs != b->begin_fs ||
            a->end_fs != b->end_fs || a->behind != b->behind)
            fail_msg("seed %" PRIu64 ": %" PRIu64 " waits at %s from %" PRId64 " to %" PRId64
                     " behind %" PRIu64 ", not %" PRIu64 " at %s from %" PRId64 " to %" PRId64
                     " behind %" PRIu64,
                     t->seed, a->id, a->at, a->begin_fs, a->end_fs, a->behind, b->id, b->at,
                     b->begin_fs, b->end_fs, b->behind);
    }
    if (n != waits->n)
        fail_msg("seed %" PRIu64 ": %zu waits, not %zu", t->seed, n, waits->n);
    free(got);
}

/* -- services ------------------------------------------------------------------------------- */

static inline int tape_by_place(const void *a, const void *b)
{
    const kb_service *x = a, *y = b;

    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    if (x->begin_fs != y->begin_fs)
        return x->begin_fs < y->begin_fs ? -1 : 1;
    return x->end_fs < y->end_fs ? -1 : x->end_fs > y->end_fs;
}

/* A port of a TCM that is. */
static inline bool tape_port_frees_early(const struct kb_topology *t, uint64_t port)
{
    const struct kind_row *kind = kind_at(t, src_cube(t, pe_src(t, (uint32_t)(port / N_PORTS))));

    return port % N_PORTS <= PORT_TCM_WRITE &&
           memory_frees_early(port % N_PORTS == PORT_TCM_READ ? &kind->tcm_read : &kind->tcm_write);
}

/* A link, or a memory or port that is free before its transaction is done. */
static inline bool tape_ends_when_taken(const struct tape *t, const kb_service *x)
{
    uint32_t dst = (uint32_t)place_index(x->place);

    if (kb_place_kind_of(x->place) == KB_AT_PORT)
        return tape_port_frees_early(t->topo, place_index(x->place));
    return kb_place_kind_of(x->place) == KB_AT_LINK ||
           (kb_place_kind_of(x->place) == KB_AT_MEMORY &&
            memory_frees_early(cost_memory(t->topo, dst, false)));
}

/* Services that have ended, by place and time, to be freed; others than these were told twice. */
static inline kb_service *tape_services(const struct tape *t, size_t *n)
{
    kb_service *ended = calloc(t->n_services + 1, sizeof *ended);
    size_t taken = 0;

    *n = 0;
    for (size_t i = 0; i < t->n_services; i++) {
        const kb_service *x = &t->service[i].service;
        bool ends = tape_ends_when_taken(t, x);

        if (t->service[i].take && !ends) {
            assert_true(x->end_fs == -1);
            taken++;
            continue;
        }
        assert_true(t->service[i].take == ends);
        taken -= !ends;
        ended[(*n)++] = *x;
    }
    assert_true(taken == 0);
    qsort(ended, *n, sizeof *ended, tape_by_place);
    return ended;
}

/* Every release has its take: the same id, place and time. */
static inline void assert_taken(const struct tape *t)
{
    struct told_service *open = calloc(t->n_services + 1, sizeof *open);
    size_t n = 0, at;

    for (size_t i = 0; i < t->n_services; i++) {
        const kb_service *x = &t->service[i].service;

        if (tape_ends_when_taken(t, x))
            continue;
        if (t->service[i].take) {
            open[n++].service = *x;
            continue;
        }
        for (at = 0; at < n; at++)
            if (open[at].service.id == x->id && open[at].service.place == x->place)
                break;
        if (at == n || open[at].service.begin_fs != x->begin_fs || x->end_fs < x->begin_fs) {
            char place[KB_PLACE_BYTES];

            kb_place_name(t->topo, x->place, place);
            fail_msg("seed %" PRIu64 ": %u leaves %s, taken at %" PRId64 ", since %" PRId64,
                     t->seed, x->id, place, at < n ? open[at].service.begin_fs : -1, x->begin_fs);
        }
        open[at] = open[--n];
    }
    assert_true(n == 0);
    free(open);
}

struct uses {
    const struct tape *tape;
    const kb_service *service;
    size_t n, found;
    int64_t end_fs; /* of the run: what holds a memory still is counted until then */
};

/* What one place has served: in time, never more at once than it has servers. */
static inline void assert_use(struct uses *u, const char *name, uint32_t servers, uint64_t count,
                              uint64_t bytes, int64_t busy_fs)
{
    uint64_t got_count = 0, got_bytes = 0;
    int64_t got_fs = 0;

    for (size_t i = 0; i < u->n; i++) {
        const kb_service *x = &u->service[i];
        char at[KB_PLACE_BYTES];
        uint32_t together = 0;

        if (i == 0 || x->place != x[-1].place)
            tape_place(u->tape, x->place, at);
        if (strcmp(at, name) != 0)
            continue;
        got_count++;
        got_bytes += x->nbytes;
        got_fs += (x->end_fs < u->end_fs ? x->end_fs : u->end_fs) - x->begin_fs;
        for (size_t k = i; k > 0 && x->place == u->service[k - 1].place && i - k < 64; k--)
            together += u->service[k - 1].end_fs > x->begin_fs;
        if (together >= servers)
            fail_msg("seed %" PRIu64 ": %s serves %u at once", u->tape->seed, name, together + 1);
    }
    u->found += got_count;
    if (got_count != count || (got_bytes != bytes && bytes != UINT64_MAX) || got_fs != busy_fs)
        fail_msg("seed %" PRIu64 ": %s has served %" PRIu64 ", %" PRIu64 " bytes, %" PRId64
                 " fs, not %" PRIu64 ", %" PRIu64 ", %" PRId64,
                 u->tape->seed, name, got_count, got_bytes, got_fs, count, bytes, busy_fs);
}

/* Whatever queues; what a stage moves through a port is not told of its service. */
static inline void assert_queued(void *arg, const kb_utilization *use)
{
    if (use->queues)
        assert_use(arg, use->name, use->servers, use->count,
                   use->kind == KB_AT_PORT ? UINT64_MAX : use->bytes, use->busy_fs);
}

/* Services are those that kb_sim_utilization() counts. */
static inline void assert_services(const struct tape *t, const kb_sim *sim)
{
    struct uses u = {.tape = t, .end_fs = kb_sim_end_fs(sim)};
    kb_service *ended = tape_services(t, &u.n);

    assert_taken(t);
    u.service = ended;
    assert_int_equal(kb_sim_utilization(sim, assert_queued, &u), KB_OK);
    if (u.found != u.n)
        fail_msg("seed %" PRIu64 ": %zu services, not %zu", t->seed, u.n, u.found);
    free(ended);
}

#endif
