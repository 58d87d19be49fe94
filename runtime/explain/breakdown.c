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
#include "explain/visits.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "machine/place.h"
#include "engine/state.h"
#include "machine/endpoint.h"
#include "machine/pes.h"

struct kb_breakdown {
    const kb_topology *topo;
    struct sums sums;
    struct visits visits; /* of transactions of which only stations are known */
    struct paths *paths;  /* owned */
    bool path_alone;      /* no sums are asked for */
};

/* A wait for another PE is at no station: only its command counts it. */
static bool is_for_pe(kb_cause cause)
{
    return cause == KB_CAUSE_QUEUE_WAIT || cause == KB_CAUSE_BARRIER_WAIT;
}

/* -- noting what the observer hears --------------------------------------------------------- */

static struct term term_of(const kb_share *share)
{
    return (struct term){share->cause, share->place, share->behind, share->count, share->sum_fs};
}

/* Kernels' transactions are summed by target and as waits: their commands tell the rest. */
static void on_close(void *arg, const kb_span *span)
{
    kb_breakdown *why = arg;
    struct sums *sums = &why->sums;
    struct term piece = {.cause = span->cause,
                         .place = span->place,
                         .behind = span->behind,
                         .count = 1,
                         .fs = span->end_fs - span->begin_fs};

    if (piece.fs == 0 || is_for_pe(span->cause))
        return;
    if (span->behind != KB_NOWHERE)
        sums_part(sums, (struct key){.by = KB_BREAKDOWN_WAIT, .of = span->place}, &piece);
    if (span->target != KB_NOWHERE)
        sums_part(sums, (struct key){.by = KB_BREAKDOWN_TARGET, .of = span->target}, &piece);
    if (span->command != KB_NO_ID)
        return;
    sums_whole(sums, &piece);
    sums_part(sums, (struct key){.by = KB_BREAKDOWN_SOURCE, .of = span->source}, &piece);
    sums_part(sums, (struct key){.by = KB_BREAKDOWN_OP, .of = sums_text(sums, span->what)}, &piece);
}

static void on_issue(void *arg, const kb_command *command)
{
    kb_breakdown *why = arg;

    sums_fail(&why->sums, paths_issue(why->paths, command));
}

static void on_go_on(void *arg, const kb_command *send)
{
    kb_breakdown *why = arg;

    sums_fail(&why->sums, paths_go_on(why->paths, send));
}

static void on_stretch(void *arg, const kb_stretch *stretch)
{
    kb_breakdown *why = arg;

    sums_fail(&why->sums, paths_stretch(why->paths, stretch));
}

/* What owns a command's time, beside the run. */
struct owners {
    struct key name, pe, line, region;
};

static struct owners owners_of(kb_breakdown *why, const kb_command *command)
{
    struct sums *sums = &why->sums;

    return (struct owners){
        .name = {.by = KB_BREAKDOWN_OP, .of = sums_text(sums, command->name)},
        .pe = {.by = KB_BREAKDOWN_PE, .of = place_of(KB_AT_PE, pe_src(why->topo, command->pe))},
        .line = {.by = KB_BREAKDOWN_LINE,
                 .file = sums_text(sums, command->file) & 0x7fffff,
                 .line = (uint32_t)command->line},
        .region = {.by = KB_BREAKDOWN_REGION,
                   .of = sums_text(sums, command->region ? command->region : "")}};
}

/* A command's piece, but at its place: to the sums of the run and of its owners. */
static void add_of_command(struct sums *sums, const struct owners *of, const struct term *piece)
{
    if (!piece->count)
        return;
    sums_part(sums, (struct key){.by = KB_BREAKDOWN_ALL}, piece);
    sums_part(sums, of->name, piece);
    sums_part(sums, of->pe, piece);
    sums_part(sums, of->line, piece);
    sums_part(sums, of->region, piece);
}

/* Wires and nodes are many, of which only the sums by place say where: they are added up first. */
static void on_finish(void *arg, const kb_command *command)
{
    kb_breakdown *why = arg;
    struct sums *sums = &why->sums;
    struct term passed[2] = {{.cause = KB_CAUSE_WIRE}, {.cause = KB_CAUSE_OVERHEAD}};

    sums_fail(sums, paths_finish(why->paths, command));
    if (why->path_alone)
        return;
    struct owners of = owners_of(why, command);
    for (size_t i = 0; i < command->n_shares; i++) {
        struct term piece = term_of(&command->share[i]);

        sums_part(sums, (struct key){.by = KB_BREAKDOWN_PLACE, .of = piece.place}, &piece);
        if (is_for_pe(piece.cause))
            sums_part(sums, (struct key){.by = KB_BREAKDOWN_WAIT, .of = piece.place}, &piece);
        if (piece.cause == KB_CAUSE_WIRE || piece.cause == KB_CAUSE_OVERHEAD) {
            passed[piece.cause == KB_CAUSE_OVERHEAD].count += piece.count;
            passed[piece.cause == KB_CAUSE_OVERHEAD].fs += piece.fs;
        } else {
            add_of_command(sums, &of, &piece);
        }
    }
    add_of_command(sums, &of, &passed[0]);
    add_of_command(sums, &of, &passed[1]);
}

static void on_start(void *arg, const kb_kernel_run *run)
{
    kb_breakdown *why = arg;

    sums_fail(&why->sums, paths_start(why->paths, run));
}

static void on_leave(void *arg, const kb_kernel_run *run)
{
    kb_breakdown *why = arg;

    paths_leave(why->paths, run);
}

/* Sums are made of visits; a path takes what visits say of stages, and no place of a wire or node.
 */
static void give_visits(struct spans *w, struct kb_breakdown *why)
{
    if (!why->path_alone) {
        w->visits = &why->visits;
        w->n_by_visits = 1;
        return;
    }
    w->visits = w->visits ? w->visits : &why->visits;
    w->n_by_places--;
}

static kb_status new_breakdown(kb_sim *sim, bool path_alone, kb_breakdown **out, kb_error *error)
{
    kb_breakdown *why = calloc(1, sizeof *why);
    kb_observer watch = {.arg = why,
                         .close = path_alone ? NULL : on_close,
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
    why->path_alone = path_alone;
    why->paths = paths_new(sim);
    status = visits_make(&why->visits, sim, &why->sums) && why->paths
                 ? kb_sim_observe(sim, &watch, error)
                 : KB_NO_MEMORY;
    if (status) {
        kb_breakdown_free(why);
        return status;
    }
    give_visits(spans_of(sim), why);
    *out = why;
    return KB_OK;
}

kb_status kb_breakdown_new(kb_sim *sim, kb_breakdown **out, kb_error *error)
{
    REFUSE_NULL(sim && out, "sim, out", NULL);
    return new_breakdown(sim, false, out, error);
}

kb_status kb_breakdown_new_path(kb_sim *sim, kb_breakdown **out, kb_error *error)
{
    REFUSE_NULL(sim && out, "sim, out", NULL);
    return new_breakdown(sim, true, out, error);
}

void kb_breakdown_free(kb_breakdown *why)
{
    if (!why)
        return;
    paths_free(why->paths);
    visits_free(&why->visits);
    sums_free(&why->sums);
    free(why->sums.texts);
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
    const struct text_at *texts = why->sums.texts;
    const char *file = k->file ? texts[k->file - 1].at : NULL;
    const char *slash = file ? strrchr(file, '/') : NULL;
    char text[OF_BYTES] = "", *kept;

    file = slash ? slash + 1 : file;
    if (k->by == KB_BREAKDOWN_LINE)
        snprintf(text, sizeof text, "%s:%u", file, (unsigned)k->line);
    else if (k->by != KB_BREAKDOWN_OP && k->by != KB_BREAKDOWN_PATH && k->by != KB_BREAKDOWN_REGION)
        kb_place_name(why->topo, k->of, text);
    else if (file)
        snprintf(text, sizeof text, "%s %s:%u", texts[k->of - 1].at, file, (unsigned)k->line);
    else
        snprintf(text, sizeof text, "%s", texts[k->of - 1].at);
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
    struct sums *sums = arg;
    struct key kernel = {.by = KB_BREAKDOWN_PATH, .of = sums_text(sums, step->kernel)};
    struct key call = {.by = KB_BREAKDOWN_PATH,
                       .of = sums_text(sums, step->call),
                       .file = sums_text(sums, step->file) & 0x7fffff,
                       .line = (uint32_t)step->line};

    for (size_t i = 0; i < step->n_shares; i++) {
        struct term piece = term_of(&step->share[i]);

        sums_part(sums, kernel, &piece);
        sums_part(sums, call, &piece);
    }
}

static bool add_lines(const kb_breakdown *why, struct line *line, size_t *n)
{
    const struct table *t = &why->sums.table;

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

/* The rows of `why`, `line` with room for all. */
static kb_status tell_all(const kb_breakdown *why, struct line *line, size_t *n,
                          void (*each)(void *arg, const kb_breakdown_row *row), void *arg)
{
    if (!add_lines(why, line, n))
        return KB_NO_MEMORY;
    qsort(line, *n, sizeof *line, by_name);
    sum_up(line, *n);
    qsort(line, *n, sizeof *line, by_size);
    for (size_t i = 0; i < *n; i++)
        tell(&line[i], each, arg);
    return KB_OK;
}

/* The sums of the run, with those that are made when they are asked for. */
static void sum_all(kb_breakdown *why, struct sums *all)
{
    sums_add_all(all, &why->sums);
    sums_fail(all, paths_each(why->paths, add_step, all));
    visits_sum(&why->visits, all);
}

kb_status kb_breakdown_rows(kb_breakdown *why, void (*each)(void *arg, const kb_breakdown_row *row),
                            void *arg)
{
    REFUSE_NULL(why && each, "why, each", NULL);
    kb_breakdown now = {.topo = why->topo};
    struct line *line;
    kb_status status;
    size_t n = 0;

    if (why->sums.status)
        return why->sums.status;
    now.sums.texts = why->sums.texts;
    now.sums.n_texts = why->sums.n_texts;
    sum_all(why, &now.sums);
    why->sums.texts = now.sums.texts; /* more of them, and maybe elsewhere */
    why->sums.n_texts = now.sums.n_texts;
    line = calloc(now.sums.table.n + 1, sizeof *line);
    status = now.sums.status ? now.sums.status
             : line          ? tell_all(&now, line, &n, each, arg)
                             : KB_NO_MEMORY;
    for (size_t i = 0; i < n; i++)
        free(line[i].of);
    free(line);
    sums_free(&now.sums);
    return status;
}

kb_status kb_breakdown_path(kb_breakdown *why,
                            void (*each)(void *arg, const kb_breakdown_step *step), void *arg)
{
    REFUSE_NULL(why && each, "why, each", NULL);
    return why->sums.status ? why->sums.status : paths_each(why->paths, each, arg);
}
