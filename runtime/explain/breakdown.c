/* breakdown.c -- the latency breakdown: pieces of time, summed by subject, cause and place.
 *
 * An observer of the run (explain/observe.c) is told each piece of time when it ends. A piece goes
 * into several sums, one for each question (kb_breakdown_by) that --breakdown answers: of the whole
 * run, by place, by source, target, operation or PE, along the critical path, and of waits by what
 * was ahead. A sum is a row of one hash table; its key has the question, the subject, the cause,
 * the place, and, for waits, what the transaction waited behind.
 *
 * Invariant: within one question all causes of a subject sum to the time of that subject, and the
 * subjects of KB_BREAKDOWN_ALL to the time of all transactions or commands. Nothing is left over as
 * "other". Pieces of a kernel's stages run at the same time, so commands are not summed from
 * pieces: each command tells its own shares, one chain (explain/commands.c).
 *
 * Example: of a read of 50.085 ns with 4.095 ns of way, a memory wait of 13.990 ns and a drain of
 * 32 ns (docs/model.md "Worked: two reads of one slice"), the sums of `read` get wire 0.095,
 * overhead 4, memory_wait 13.990, drain 32; the sums of the place hbm_ctrl.slice0 get the wait and
 * the drain; the sums of waits get 13.990 at that slice behind c0.pe0.
 *
 * Rows are sorted for output: largest first, equal ones by name, so that the result depends neither
 * on the hash nor on addresses. Sums have 128 bits.
 */
#include "explain/breakdown.h"
#include "explain/spans.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "machine/place.h"
#include "engine/state.h"
#include "machine/endpoint.h"
#include "machine/pes.h"

/*
 * The subject of a sum is a place; of an operation, a kernel or a call it is the number of a text
 * (text_number()). Four words, which are compared as such: with the sum a line of the cache.
 */
struct key {
    union {
        struct {
            uint64_t line : 32, file : 23, by : 4, cause : 5; /* line, file: of a call */
        };
        uint64_t what;
    };
    uint64_t of;
    kb_place place, behind;
};

struct sum {
    _Alignas(64) struct key key;
    uint64_t count; /* 0: a free row */
    wait_sum fs;
};

/* Sums by key: an open table, its size a power of two. */
struct table {
    struct sum *row; /* owned */
    size_t n, cap;
};

/* A text that has been seen at an address, and the number of the first one that says the same. */
struct text_at {
    const char *at;
    uint32_t number;
};

struct kb_breakdown {
    const kb_topology *topo;
    struct table sums;
    struct ways ways;      /* taken by transactions of which only stations are told */
    struct text_at *texts; /* owned */
    uint32_t n_texts;
    struct paths *paths; /* owned */
    kb_status status;    /* KB_OK, or why a note was lost */
};

/* -- sums ----------------------------------------------------------------------------------- */

/* Words times odd numbers, side by side: a product waits for none before it. */
static uint64_t hash(const struct key *k)
{
    uint64_t h = k->what * UINT64_C(0x9e3779b97f4a7c15) ^ k->of * UINT64_C(0xbf58476d1ce4e5b9) ^
                 k->place * UINT64_C(0xa0761d6478bd642f) ^ k->behind * UINT64_C(0xe7037ed1a0b428db);

    return (h ^ h >> 32) * UINT64_C(0x9e3779b97f4a7c15) >> 24;
}

static bool is_same(const struct key *a, const struct key *b)
{
    return a->what == b->what && a->of == b->of && a->place == b->place && a->behind == b->behind;
}

/* The row of `key`, or the free one where it belongs. */
static struct sum *find(const struct table *t, const struct key *key)
{
    size_t i = hash(key) & (t->cap - 1);

    while (t->row[i].count && !is_same(&t->row[i].key, key))
        i = (i + 1) & (t->cap - 1);
    return &t->row[i];
}

/* Doubles the table once it is half full. */
static bool make_room(struct table *t)
{
    struct table old = *t;

    if (2 * t->n < t->cap)
        return true;
    t->cap = old.cap ? 2 * old.cap : 256;
    t->row = aligned_alloc(sizeof *t->row, t->cap * sizeof *t->row);
    if (!t->row) {
        *t = old;
        return false;
    }
    memset(t->row, 0, t->cap * sizeof *t->row);
    for (size_t i = 0; i < old.cap; i++)
        if (old.row[i].count)
            *find(t, &old.row[i].key) = old.row[i];
    free(old.row);
    return true;
}

static void fail(kb_breakdown *why, kb_status status)
{
    if (why->status == KB_OK)
        why->status = status;
}

/*
 * The number of a text, from 1, the same for equal ones. There are a few dozen at most: operations
 * of the library, calls and files of kernels.
 */
static uint32_t text_number(kb_breakdown *why, const char *text)
{
    struct text_at *moved;
    uint32_t i = 0;

    for (; i < why->n_texts; i++)
        if (why->texts[i].at == text)
            return why->texts[i].number;
    if ((i & (i - 1)) == 0) { /* a power of two: full */
        moved = realloc(why->texts, (i ? 2 * (size_t)i : 1) * sizeof *moved);
        if (!moved) {
            fail(why, KB_NO_MEMORY);
            return 0;
        }
        why->texts = moved;
    }
    why->texts[i] = (struct text_at){text, i + 1};
    for (uint32_t j = i; j-- > 0;)
        if (strcmp(why->texts[j].at, text) == 0)
            why->texts[i].number = why->texts[j].number;
    why->n_texts++;
    return why->texts[i].number;
}

static void add(kb_breakdown *why, const struct key *key, uint64_t count, wait_sum fs)
{
    struct sum *row;

    if (!make_room(&why->sums)) {
        fail(why, KB_NO_MEMORY);
        return;
    }
    row = find(&why->sums, key);
    if (!row->count)
        why->sums.n++;
    row->key = *key;
    row->count += count;
    row->fs += fs;
}

/* Wires, nodes, dispatch, response and return are everywhere: only the sums by place say where. */
static bool has_place(kb_cause cause)
{
    return cause != KB_CAUSE_WIRE && cause != KB_CAUSE_OVERHEAD && cause != KB_CAUSE_DISPATCH &&
           cause != KB_CAUSE_RESPONSE && cause != KB_CAUSE_RETURN;
}

/* A wait for another PE is at no station: only its command counts it. */
static bool is_for_pe(kb_cause cause)
{
    return cause == KB_CAUSE_QUEUE_WAIT || cause == KB_CAUSE_BARRIER_WAIT;
}

/* Adds the time of one cause to the sums of `of`. */
static void add_part(kb_breakdown *why, struct key of, const kb_share *share)
{
    bool whole = of.by == KB_BREAKDOWN_ALL || of.by == KB_BREAKDOWN_OP;

    of.cause = share->cause & 31;
    of.place = !whole && has_place(share->cause) ? share->place : KB_NOWHERE;
    of.behind =
        of.by == KB_BREAKDOWN_WAIT || of.by == KB_BREAKDOWN_PATH ? share->behind : KB_NOWHERE;
    add(why, &of, share->count, share->sum_fs);
}

/* And to those of the run, and of the place. */
static void add_whole(kb_breakdown *why, const kb_share *share)
{
    add_part(why, (struct key){.by = KB_BREAKDOWN_ALL}, share);
    if (share->place != KB_NOWHERE)
        add_part(why, (struct key){.by = KB_BREAKDOWN_PLACE, .of = share->place}, share);
}

/* -- noting what the observer hears --------------------------------------------------------- */

/* Kernels' transactions are summed by target and as waits: their commands tell the rest. */
static void on_close(void *arg, const kb_span *span)
{
    kb_breakdown *why = arg;
    kb_share share = {.cause = span->cause,
                      .place = span->place,
                      .count = 1,
                      .sum_fs = span->end_fs - span->begin_fs,
                      .behind = span->behind};

    if (share.sum_fs == 0 || is_for_pe(span->cause))
        return;
    if (span->behind != KB_NOWHERE)
        add_part(why, (struct key){.by = KB_BREAKDOWN_WAIT, .of = span->place}, &share);
    if (span->target != KB_NOWHERE)
        add_part(why, (struct key){.by = KB_BREAKDOWN_TARGET, .of = span->target}, &share);
    if (span->command != KB_NO_ID)
        return;
    add_whole(why, &share);
    add_part(why, (struct key){.by = KB_BREAKDOWN_SOURCE, .of = span->source}, &share);
    add_part(why, (struct key){.by = KB_BREAKDOWN_OP, .of = text_number(why, span->what)}, &share);
}

/* One cause of a whole way, on nodes or on wires; the sums by place follow from the parts. */
static void add_way(kb_breakdown *why, const kb_span *last, const kb_share *share)
{
    add_part(why, (struct key){.by = KB_BREAKDOWN_ALL}, share);
    add_part(why, (struct key){.by = KB_BREAKDOWN_SOURCE, .of = last->source}, share);
    add_part(why, (struct key){.by = KB_BREAKDOWN_TARGET, .of = last->target}, share);
    add_part(why, (struct key){.by = KB_BREAKDOWN_OP, .of = text_number(why, last->what)}, share);
}

static void breakdown_way(kb_breakdown *why, const struct txn *x, const kb_span *last,
                          int64_t wire_fs, int64_t overhead_fs)
{
    struct way_pieces n = {0, 0};

    if (!ways_add(&why->ways, x, &n))
        fail(why, KB_NO_MEMORY);
    if (wire_fs)
        add_way(why, last,
                &(kb_share){.cause = KB_CAUSE_WIRE, .count = n.wires, .sum_fs = wire_fs});
    if (overhead_fs)
        add_way(why, last,
                &(kb_share){.cause = KB_CAUSE_OVERHEAD, .count = n.nodes, .sum_fs = overhead_fs});
}

static void on_issue(void *arg, const kb_command *command)
{
    kb_breakdown *why = arg;

    fail(why, paths_issue(why->paths, command));
}

static void on_go_on(void *arg, const kb_command *send)
{
    kb_breakdown *why = arg;

    fail(why, paths_go_on(why->paths, send));
}

static void on_stretch(void *arg, const kb_stretch *stretch)
{
    kb_breakdown *why = arg;

    fail(why, paths_stretch(why->paths, stretch));
}

static void on_finish(void *arg, const kb_command *command)
{
    kb_breakdown *why = arg;
    const kb_topology *t = why->topo;
    uint32_t src = pe_src(t, command->pe);

    uint32_t name = text_number(why, command->name);

    fail(why, paths_finish(why->paths, command));
    for (size_t i = 0; i < command->n_shares; i++) {
        const kb_share *share = &command->share[i];

        add_whole(why, share);
        add_part(why, (struct key){.by = KB_BREAKDOWN_OP, .of = name}, share);
        add_part(why, (struct key){.by = KB_BREAKDOWN_PE, .of = place_of(KB_AT_PE, src)}, share);
        if (is_for_pe(share->cause))
            add_part(why, (struct key){.by = KB_BREAKDOWN_WAIT, .of = share->place}, share);
    }
}

static void on_start(void *arg, const kb_kernel_run *run)
{
    kb_breakdown *why = arg;

    fail(why, paths_start(why->paths, run));
}

static void on_leave(void *arg, const kb_kernel_run *run)
{
    kb_breakdown *why = arg;

    paths_leave(why->paths, run);
}

kb_status kb_breakdown_new(kb_sim *sim, kb_breakdown **out, kb_error *error)
{
    REFUSE_NULL(sim && out, "sim, out", NULL);
    kb_breakdown *why = calloc(1, sizeof *why);
    kb_observer watch = {.arg = why,
                         .close = on_close,
                         .issue = on_issue,
                         .finish = on_finish,
                         .start = on_start,
                         .leave = on_leave,
                         .go_on = on_go_on,
                         .stretch = on_stretch};
    kb_status status;

    if (!why)
        return KB_NO_MEMORY;
    why->topo = sim->topo;
    why->ways = (struct ways){.topo = sim->topo, .mask = sim->mask};
    why->paths = paths_new(sim);
    status = why->paths ? kb_sim_observe(sim, &watch, error) : KB_NO_MEMORY;
    if (status) {
        kb_breakdown_free(why);
        return status;
    }
    spans_of(sim)->sums = why;
    spans_of(sim)->sums_way = breakdown_way;
    *out = why;
    return KB_OK;
}

void kb_breakdown_free(kb_breakdown *why)
{
    if (!why)
        return;
    paths_free(why->paths);
    ways_free(&why->ways);
    free(why->sums.row);
    free(why->texts);
    free(why);
}

/* -- rows ----------------------------------------------------------------------------------- */

enum { OF_BYTES = 512 };

/* A sum, and the key it is sorted by. */
struct line {
    const struct sum *sum;
    char *of; /* owned */
    wait_sum all_fs;
};

/* The name of a sum's subject; of a call, its file without folders, and its line. */
static char *name_of(const kb_breakdown *why, const struct key *k)
{
    const char *file = k->file ? why->texts[k->file - 1].at : NULL;
    const char *slash = file ? strrchr(file, '/') : NULL;
    char text[OF_BYTES] = "", *kept;

    if (k->by != KB_BREAKDOWN_OP && k->by != KB_BREAKDOWN_PATH)
        kb_place_name(why->topo, k->of, text);
    else if (file)
        snprintf(text, sizeof text, "%s %s:%u", why->texts[k->of - 1].at, slash ? slash + 1 : file,
                 (unsigned)k->line);
    else
        snprintf(text, sizeof text, "%s", why->texts[k->of - 1].at);
    kept = malloc(strlen(text) + 1);
    return kept ? strcpy(kept, text) : NULL;
}

static int by_name(const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    if (x->sum->key.by != y->sum->key.by)
        return x->sum->key.by < y->sum->key.by ? -1 : 1;
    return strcmp(x->of, y->of);
}

static int order(uint64_t x, uint64_t y)
{
    return x < y ? -1 : x > y;
}

static int larger_first(wait_sum x, wait_sum y)
{
    return x > y ? -1 : x < y;
}

/* Largest first; equal ones by name and number, never by address. */
static int by_size(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    const struct key *k = &x->sum->key, *l = &y->sum->key;
    int c = order(k->by, l->by);

    if (!c)
        c = larger_first(x->all_fs, y->all_fs);
    if (!c)
        c = strcmp(x->of, y->of);
    if (!c)
        c = larger_first(x->sum->fs, y->sum->fs);
    if (!c)
        c = order(k->cause, l->cause);
    if (!c)
        c = order(k->place, l->place);
    return c ? c : order(k->behind, l->behind);
}

/* Sets all_fs of lines in order of name. */
static void sum_up(struct line *line, size_t n)
{
    for (size_t i = 0; i < n;) {
        wait_sum all_fs = 0;
        size_t end = i;

        for (; end < n && by_name(&line[i], &line[end]) == 0; end++)
            all_fs += line[end].sum->fs;
        for (; i < end; i++)
            line[i].all_fs = all_fs;
    }
}

/* Critical paths, of each kernel as a whole and of its calls, summed as the rest, apart. */
static void add_step(void *arg, const kb_breakdown_step *step)
{
    kb_breakdown *why = arg;
    struct key kernel = {.by = KB_BREAKDOWN_PATH, .of = text_number(why, step->kernel)};
    struct key call = {.by = KB_BREAKDOWN_PATH,
                       .of = text_number(why, step->call),
                       .file = text_number(why, step->file) & 0x7fffff,
                       .line = (uint32_t)step->line};

    for (size_t i = 0; i < step->n_shares; i++) {
        add_part(why, kernel, &step->share[i]);
        add_part(why, call, &step->share[i]);
    }
}

/* A wire or a node of the ways of all transactions. */
static void add_passed(void *arg, const kb_share *piece, uint64_t times)
{
    struct key key = {.by = KB_BREAKDOWN_PLACE, .of = piece->place, .cause = piece->cause & 31};

    add(arg, &key, times, (wait_sum)piece->sum_fs * times);
}

static bool add_lines(const kb_breakdown *why, struct line *line, size_t *n)
{
    const struct table *t = &why->sums;

    for (size_t i = 0; i < t->cap; i++) {
        if (!t->row[i].count)
            continue;
        line[*n] = (struct line){.sum = &t->row[i], .of = name_of(why, &t->row[i].key)};
        if (!line[(*n)++].of)
            return false;
    }
    return true;
}

static void tell(const struct line *line, void (*each)(void *arg, const kb_breakdown_row *row),
                 void *arg)
{
    const struct sum *sum = line->sum;
    kb_breakdown_row row = {.by = (kb_breakdown_by)sum->key.by,
                            .of = line->of,
                            .cause = (kb_cause)sum->key.cause,
                            .place = sum->key.place,
                            .behind = sum->key.behind,
                            .count = sum->count,
                            .sum_fs = sum->fs < INT64_MAX ? (int64_t)sum->fs : INT64_MAX,
                            .all_fs = line->all_fs < INT64_MAX ? (int64_t)line->all_fs : INT64_MAX,
                            .sum_ns = (double)sum->fs / KB_FS_PER_NS,
                            .all_ns = (double)line->all_fs / KB_FS_PER_NS};

    each(arg, &row);
}

/* The rows of `why` and of the sums made now, `line` with room for all. */
static kb_status tell_all(const kb_breakdown *why, const kb_breakdown *now, struct line *line,
                          size_t *n, void (*each)(void *arg, const kb_breakdown_row *row),
                          void *arg)
{
    if (!add_lines(why, line, n) || !add_lines(now, line, n))
        return KB_NO_MEMORY;
    qsort(line, *n, sizeof *line, by_name);
    sum_up(line, *n);
    qsort(line, *n, sizeof *line, by_size);
    for (size_t i = 0; i < *n; i++)
        tell(&line[i], each, arg);
    return KB_OK;
}

kb_status kb_breakdown_rows(kb_breakdown *why, void (*each)(void *arg, const kb_breakdown_row *row),
                            void *arg)
{
    REFUSE_NULL(why && each, "why, each", NULL);
    kb_breakdown now = {.topo = why->topo};
    struct line *line;
    kb_status status;
    size_t n = 0;

    if (why->status)
        return why->status;
    fail(&now, paths_each(why->paths, add_step, &now));
    ways_each(&why->ways, add_passed, &now);
    line = calloc(why->sums.n + now.sums.n + 1, sizeof *line);
    status = now.status ? now.status
             : line     ? tell_all(why, &now, line, &n, each, arg)
                        : KB_NO_MEMORY;
    for (size_t i = 0; i < n; i++)
        free(line[i].of);
    free(line);
    free(now.texts);
    free(now.sums.row);
    return status;
}

kb_status kb_breakdown_path(kb_breakdown *why,
                            void (*each)(void *arg, const kb_breakdown_step *step), void *arg)
{
    REFUSE_NULL(why && each, "why, each", NULL);
    return why->status ? why->status : paths_each(why->paths, each, arg);
}
