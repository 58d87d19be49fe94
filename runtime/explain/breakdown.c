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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "machine/place.h"
#include "engine/state.h"
#include "machine/endpoint.h"

/* The subject of a sum: an end is a place; an operation or a call is a text of the program. */
struct key {
    kb_breakdown_by by;
    uint32_t line; /* of a call */
    kb_place end;
    const char *text, *file;
    kb_cause cause;
    kb_place place, behind;
};

struct sum {
    struct key key;
    uint64_t count; /* 0: a free row */
    wait_sum fs;
};

/* Sums by key: an open table, its size a power of two. */
struct table {
    struct sum *row; /* owned */
    size_t n, cap;
};

struct kb_breakdown {
    const kb_topology *topo;
    struct table sums;
    struct paths *paths; /* owned */
    kb_status status;    /* KB_OK, or why a note was lost */
};

/* -- sums ----------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

/* Equal texts are the same key, at whatever address. */
static uint64_t mix_text(uint64_t h, const char *text)
{
    for (; text && *text; text++)
        h = mix(h, (unsigned char)*text);
    return h;
}

static uint64_t hash(const struct key *k)
{
    uint64_t h = mix((uint64_t)k->by << 32 | k->line, k->end);

    h = mix_text(mix_text(h, k->text), k->file);
    return mix(mix(mix(h, k->cause), k->place), k->behind);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_same(const struct key *a, const struct key *b)
{
    return a->by == b->by && a->line == b->line && a->end == b->end &&
           same_text(a->text, b->text) && same_text(a->file, b->file) && a->cause == b->cause &&
           a->place == b->place && a->behind == b->behind;
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
    t->row = calloc(t->cap, sizeof *t->row);
    if (!t->row) {
        *t = old;
        return false;
    }
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

static void add(kb_breakdown *why, const struct key *key, uint64_t count, int64_t fs)
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

/* Wires, nodes, dispatch and response are everywhere: only the sums by place say where. */
static bool has_place(kb_cause cause)
{
    return cause != KB_CAUSE_WIRE && cause != KB_CAUSE_OVERHEAD && cause != KB_CAUSE_DISPATCH &&
           cause != KB_CAUSE_RESPONSE;
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

    of.cause = share->cause;
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
        add_part(why, (struct key){.by = KB_BREAKDOWN_PLACE, .end = share->place}, share);
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
        add_part(why, (struct key){.by = KB_BREAKDOWN_WAIT, .end = span->place}, &share);
    if (span->target != KB_NOWHERE)
        add_part(why, (struct key){.by = KB_BREAKDOWN_TARGET, .end = span->target}, &share);
    if (span->command != KB_NO_ID)
        return;
    add_whole(why, &share);
    add_part(why, (struct key){.by = KB_BREAKDOWN_SOURCE, .end = span->source}, &share);
    add_part(why, (struct key){.by = KB_BREAKDOWN_OP, .text = span->what}, &share);
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
    uint32_t src = src_pack(t, command->pe / t->pes, command->pe % t->pes);

    fail(why, paths_finish(why->paths, command));
    for (size_t i = 0; i < command->n_shares; i++) {
        const kb_share *share = &command->share[i];

        add_whole(why, share);
        add_part(why, (struct key){.by = KB_BREAKDOWN_OP, .text = command->name}, share);
        add_part(why, (struct key){.by = KB_BREAKDOWN_PE, .end = place_of(KB_AT_PE, src)}, share);
        if (is_for_pe(share->cause))
            add_part(why, (struct key){.by = KB_BREAKDOWN_WAIT, .end = share->place}, share);
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
    why->paths = paths_new(sim);
    status = why->paths ? kb_sim_observe(sim, &watch, error) : KB_NO_MEMORY;
    if (status) {
        kb_breakdown_free(why);
        return status;
    }
    *out = why;
    return KB_OK;
}

void kb_breakdown_free(kb_breakdown *why)
{
    if (!why)
        return;
    paths_free(why->paths);
    free(why->sums.row);
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
static char *name_of(const kb_topology *t, const struct key *k)
{
    const char *slash = k->file ? strrchr(k->file, '/') : NULL;
    char text[OF_BYTES] = "", *kept;

    if (k->file)
        snprintf(text, sizeof text, "%s %s:%u", k->text, slash ? slash + 1 : k->file, k->line);
    else if (k->text)
        snprintf(text, sizeof text, "%s", k->text);
    else
        kb_place_name(t, k->end, text);
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
    struct key kernel = {.by = KB_BREAKDOWN_PATH, .text = step->kernel};
    struct key call = {.by = KB_BREAKDOWN_PATH,
                       .text = step->call,
                       .file = step->file,
                       .line = (uint32_t)step->line};

    for (size_t i = 0; i < step->n_shares; i++) {
        add_part(why, kernel, &step->share[i]);
        add_part(why, call, &step->share[i]);
    }
}

static bool add_lines(const kb_breakdown *why, const struct table *t, struct line *line, size_t *n)
{
    for (size_t i = 0; i < t->cap; i++) {
        if (!t->row[i].count)
            continue;
        line[*n] = (struct line){.sum = &t->row[i], .of = name_of(why->topo, &t->row[i].key)};
        if (!line[(*n)++].of)
            return false;
    }
    return true;
}

static void tell(const struct line *line, void (*each)(void *arg, const kb_breakdown_row *row),
                 void *arg)
{
    const struct sum *sum = line->sum;
    kb_breakdown_row row = {.by = sum->key.by,
                            .of = line->of,
                            .cause = sum->key.cause,
                            .place = sum->key.place,
                            .behind = sum->key.behind,
                            .count = sum->count,
                            .sum_fs = sum->fs < INT64_MAX ? (int64_t)sum->fs : INT64_MAX,
                            .all_fs = line->all_fs < INT64_MAX ? (int64_t)line->all_fs : INT64_MAX,
                            .sum_ns = (double)sum->fs / KB_FS_PER_NS,
                            .all_ns = (double)line->all_fs / KB_FS_PER_NS};

    each(arg, &row);
}

/* The rows of `why` and of the path's sums, `line` with room for all. */
static kb_status tell_all(const kb_breakdown *why, const kb_breakdown *path, struct line *line,
                          size_t *n, void (*each)(void *arg, const kb_breakdown_row *row),
                          void *arg)
{
    if (!add_lines(why, &why->sums, line, n) || !add_lines(why, &path->sums, line, n))
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
    kb_breakdown path = {.topo = why->topo};
    struct line *line;
    kb_status status;
    size_t n = 0;

    if (why->status)
        return why->status;
    fail(&path, paths_each(why->paths, add_step, &path));
    line = calloc(why->sums.n + path.sums.n + 1, sizeof *line);
    status = path.status ? path.status
             : line      ? tell_all(why, &path, line, &n, each, arg)
                         : KB_NO_MEMORY;
    for (size_t i = 0; i < n; i++)
        free(line[i].of);
    free(line);
    free(path.sums.row);
    return status;
}

kb_status kb_breakdown_path(kb_breakdown *why,
                            void (*each)(void *arg, const kb_breakdown_step *step), void *arg)
{
    REFUSE_NULL(why && each, "why, each", NULL);
    return why->status ? why->status : paths_each(why->paths, each, arg);
}
