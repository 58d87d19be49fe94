/*
 * run.c -- one launch for one iteration: the layers, until they repeat.
 *
 * Layers repeat. An operation begins when all before it has ended on its PE. Its times depend on
 * what else is under way, and on nothing that lies further back: a link or a memory that is free
 * again does not know what passed it, and all layers lie alike in the same slices. So where a layer
 * has taken the same times as the one before, to the femtosecond, for each operation on each PE,
 * relative to the end of the layer before it, all that follow do, too, up to the last, while which
 * ends other things begin than a layer: the kernel leaves some out, and they are added. Where
 * addresses are interleaved, layers lie a whole number of rounds apart, so that they do lie alike.
 * Where none has, or where a machine asks for places (chip.repeats), all layers are simulated.
 *
 * Example, without leaps: layers 1 and 2 of 32 end each operation 0.1, 0.3 and 0.35 ms after the
 * layer before has ended, on all PEs. Layer 3 is under way when that is known; the iteration is
 * that of four layers and 28 * 0.35 ms more.
 *
 * What a rank does between two collectives takes the same in each layer, and in each rank if they
 * are alike. So one layer of one rank is simulated, without collectives, and then the iteration
 * with leaps over what is known: benches/llm/leap.c. Layers with leaps need not be alike, as ranks
 * meet in collectives at times that shift. If they are, the end of the last collective decides, as
 * all before it has ended; the PE that first comes to a third layer compares what has ended by
 * then, and when all has, what was left out may turn out wrong: was_hasty.
 *
 * Each PE has one room in its home slice, with its parts of weights, of keys and values and of what
 * operations hand on. Rooms are alike: a tensor of which each PE has the whole. No value is
 * computed. The time of an operation is from the barrier before it to its own, each the latest over
 * all PEs, so that the operations add up to the iteration.
 */
#include "cli/llm/run.h"
#include "cli/llm/draws.h"
#include "cli/out/memory.h"
#include "cli/out/stop.h"
#include <stdlib.h>

enum {
    EVENTS_AT_ONCE = 50000, /* a tenth of a second, where they are watched */
    /* Where leaps were wrong so often, or as many of all operations of ranks, none is taken. */
    WRONG_RUNS = 4,
    WRONG_PART = 32
};

void grid_of(const struct chip *c, int64_t tokens, uint32_t *p, uint32_t *q)
{
    uint32_t n = c->unit_pes;

    *p = c->grid_p ? c->grid_p : 1;
    for (uint32_t d = 2; d * d <= n && !c->grid_p; d++)
        if (n % d == 0 && (double)tokens / d >= 4 * c->mac[0])
            *p = d;
    *q = n / *p;
}

struct work {
    struct llm_step step;
    kb_tensor *room;
    kb_sim *sim;
    uint32_t *pes; /* owned: ascending, for the launch */
};

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

size_t run_operations(const struct graph *g)
{
    size_t n = 0;

    for (size_t i = 0; i < g->n; i++)
        n += g->op[i].is_layer ? (size_t)g->layers : 1;
    return n;
}

static kb_status launch(const struct graph *g, struct work *w, kb_error *why)
{
    static const kb_placement each = {KB_REPLICATE, KB_REPLICATE};
    size_t n =
        (size_t)w->step.ranks * w->step.pes * (llm_sending(&w->step) && !w->step.alone ? 2 : 1);
    int64_t room = g->room > 0 ? (int64_t)g->room : 1; /* pauses need none */
    kb_status status = kb_tensor_new(w->sim, "room", KB_U8, KB_SHAPE(room), each, &w->room, why);

    if (!status)
        status = kb_tensor_fill_arange(w->room, 0, 0, why); /* made when it is read: never */
    if (status)
        return status;
    w->step.room = w->room;
    w->pes = memory_new(n, sizeof *w->pes);
    for (size_t i = 0; i < n; i++)
        w->pes[i] = w->step.pe_of[i];
    qsort(w->pes, n, sizeof *w->pes, by_number);
    kb_launch_request request = {.name = "llm",
                                 .kernel = llm_kernel,
                                 .args = {.tensors = &w->room, .n_tensors = 1, .user = &w->step},
                                 .pes = w->pes,
                                 .n_pes = n};
    return kb_launch(w->sim, &request, why);
}

static size_t all_pes(const struct llm_step *s)
{
    return (size_t)s->ranks * s->pes;
}

/* When operation `i` of those done, which is `op`, has ended on all PEs. */
static int64_t ended_fs(const struct llm_step *s, const struct llm_op *op, size_t i)
{
    int64_t last = 0;

    for (size_t pe = 0; op->kind == LLM_SEND && pe < all_pes(s); pe++)
        last = s->got_fs[pe] > last ? s->got_fs[pe] : last;
    for (size_t pe = 0; pe < all_pes(s); pe++)
        last = s->end_fs[i * all_pes(s) + pe] > last ? s->end_fs[i * all_pes(s) + pe] : last;
    return last;
}

/* One more time that operation `i` has taken. */
static void take(struct iteration *out, size_t i, int64_t fs, int64_t count)
{
    struct took *t = &out->op[i];

    t->fs = t->count == 0 ? fs : t->fs;
    t->all_fs += count * fs;
    t->count += count;
    out->fs += count * fs;
}

/* `n` operations that end before `at`, so often more; returns where they end then. */
static size_t repeat_layer(int64_t *each_fs, size_t at, size_t n, int64_t times)
{
    for (size_t end = at + n * (size_t)times; at < end; at++)
        each_fs[at] = each_fs[at - n];
    return at;
}

/*
 * Times of operations from when each has ended. The layer before the last counts for those that
 * were not simulated: it is the one that was as the layer before it. Ranks that are ahead begin
 * with what follows while the last one ends, and that is no layer.
 */
static void take_times(const struct graph *g, const struct llm_step *s, int64_t start_fs,
                       int64_t *each_fs, struct iteration *out)
{
    int64_t before = start_fs, left_out = s->layers - *s->layers_done;
    size_t done = 0, each = 0;

    *out = (struct iteration){0};
    for (size_t i = 0, first; i < g->n;) {
        bool is_layer = g->op[first = i].is_layer;

        for (int64_t l = 0; l < (is_layer ? *s->layers_done : 1); l++) {
            int64_t more = is_layer && l == *s->layers_done - s->repeats_since ? left_out : 0;

            for (i = first; i < g->n && g->op[i].is_layer == is_layer; i++) {
                int64_t end = ended_fs(s, &g->op[i], done++);

                take(out, i, end - before, 1 + more);
                if (each_fs)
                    each_fs[each++] = end - before;
                before = end;
            }
            if (each_fs)
                each = repeat_layer(each_fs, each, i - first, more);
        }
    }
}

/* Has each PE done the last operation? */
static bool is_done(const struct graph *g, const struct llm_step *s)
{
    const int64_t *last_fs = s->end_fs + (run_operations(g) - 1) * all_pes(s);
    size_t pe = 0;

    while (pe < all_pes(s) && last_fs[pe] > 0)
        pe++;
    return pe == all_pes(s);
}

/* Runs the launch. */
static enum exit_code run_launch(const struct cli *cli, struct told *told, const struct graph *g,
                                 struct work *w, int64_t *start_fs)
{
    kb_error why = {""};
    kb_launch_result r;
    kb_status status = KB_AGAIN;

    while (status == KB_AGAIN && !stop_asked()) {
        status = kb_sim_run(w->sim, EVENTS_AT_ONCE, &why);
        if (told)
            told_show(told, *w->step.done);
    }
    if (status == KB_AGAIN)
        return EXIT_INTERRUPTED;
    if (status == KB_STOPPED && !is_done(g, &w->step)) {
        *w->step.gave_up = true;
        return EXIT_OK;
    }
    if (status == KB_STOPPED) /* on its way back to the host */
        status = KB_OK;
    if (!status)
        status = kb_launch_get(w->sim, 0, &r);
    *start_fs = r.start_fs;
    return status ? cmd_fail(cli, status, &why) : EXIT_OK;
}

/* Do all layers do the same? */
static bool layers_are_alike(const struct graph *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->op[i].routing && g->op[i].routing->stride > 0)
            return false;
    return true;
}

static bool may_leap(const struct cli *cli, const struct chip *c, const struct graph *g)
{
    return c->leaps && !cli->opts.no_repeat && layers_are_alike(g);
}

/* How a simulation is run, and what it says of itself. */
struct manner {
    const struct llm_known *known;  /* NULL: nothing */
    struct llm_known *learns;       /* of ranks that are alone; NULL: they are not */
    bool was_wrong;                 /* what was known, at some leaps: */
    bool was_hasty;                 /* layers were left out that are not as the one before */
    bool *met;                      /* llm_step.met; NULL: nothing is known */
    const struct path_watch *watch; /* NULL: none */
    int64_t *each_fs;               /* of run_each() */
    const struct run_count *count;  /* NULL: none */
    uint64_t *slots_used;           /* of a rehearsal; NULL: it is none */
};

/* A watch of a run of one layer. */
struct watched {
    const struct path_watch *watch;
    const struct llm_step *step;
};

/*
 * How much of what a PE was at from begin_fs to end_fs it has leapt over. Where a rank is one PE,
 * no barrier is behind a leap, and the first command of the collective that follows is called when
 * the leap begins.
 */
static int64_t leapt_fs(const struct llm_step *s, uint32_t pe, int64_t begin_fs, int64_t end_fs)
{
    int64_t last_fs = begin_fs;
    uint32_t rank = 0;

    if (!s->known || s->pes > 1)
        return 0;
    while (rank < s->ranks && s->pe_of[rank] != pe)
        rank++;
    for (size_t i = 1; rank < s->ranks && i < s->n_ops; i++) {
        int64_t fs = s->end_fs[i * s->ranks + rank];

        if (!llm_between_ranks(&s->op[i]) && fs <= end_fs && fs > last_fs)
            last_fs = fs;
    }
    return last_fs - begin_fs;
}

static void hear_step(void *arg, const kb_breakdown_step *step)
{
    const struct watched *w = arg;

    w->watch->each(w->watch->arg, step, leapt_fs(w->step, step->pe, step->begin_fs, step->end_fs));
}

static enum exit_code watch_path(const struct cli *cli, const struct graph *g, const struct work *w,
                                 kb_breakdown *path, const struct path_watch *watch)
{
    kb_status status = kb_breakdown_path(path, hear_step, &(struct watched){watch, &w->step});

    for (size_t i = 0; i < g->n; i++)
        watch->ended_fs[i] = ended_fs(&w->step, &g->op[i], i);
    return status ? cmd_fail(cli, status, &(kb_error){""}) : EXIT_OK;
}

static enum exit_code tell_counts(const struct cli *cli, const kb_sim *sim,
                                  const struct run_count *count)
{
    kb_status status = kb_launch_get(sim, 0, count->totals);

    if (!status)
        status = kb_sim_utilization(sim, count->station, count->arg);
    return status ? cmd_fail(cli, status, &(kb_error){""}) : EXIT_OK;
}

static enum exit_code simulate(const struct cli *cli, const struct chip *c, const struct graph *g,
                               const struct shape *s, struct manner *how, struct iteration *out)
{
    int64_t start_fs = 0, layers_done = 0;
    kb_breakdown *path = NULL;
    size_t done = 0;
    bool gave_up = false;
    struct work w = {.step = {.op = g->op,
                              .n_ops = g->n,
                              .layers = g->layers,
                              .ranks = (uint32_t)shape_ranks(s),
                              .copies = (uint32_t)shape_copies(s),
                              .pes = c->unit_pes,
                              .pe_of = c->order + (size_t)s->first_rank * c->unit_pes,
                              .kv_at = g->kv_at,
                              .kv_bytes = g->kv_bytes,
                              .scratch = g->scratch,
                              .page = s->page,
                              .kv_dtype = s->kv_dtype,
                              .acc_bytes = c->acc_bytes,
                              .tcm_bytes = c->tcm_bytes,
                              .slots = g->slots,
                              .slots_used = how->slots_used,
                              .layers_done = &layers_done,
                              .repeats_since = !c->repeats || !may_leap(cli, c, g) ? 0
                                               : how->known && !how->was_hasty     ? 1
                                                                                   : 2,
                              .limit = g->limit,
                              .gave_up = &gave_up,
                              .done = &done,
                              .known = how->known,
                              .alone = how->learns != NULL,
                              .is_wrong = &how->was_wrong,
                              .met = how->met}};
    const kb_options options = {
        .engine = cli->opts.engine, .no_values = true, .until_fs = g->limit.until_fs};
    kb_error why = {""};
    enum exit_code code;

    *out = (struct iteration){0};
    grid_of(c, shape_tokens(s), &w.step.p, &w.step.q);
    w.step.end_fs = memory_new(run_operations(g) * all_pes(&w.step), sizeof *w.step.end_fs);
    w.step.came_fs = memory_new(run_operations(g) * all_pes(&w.step), sizeof *w.step.came_fs);
    w.step.quiet_fs = memory_new(run_operations(g) * all_pes(&w.step), sizeof *w.step.quiet_fs);
    w.step.got_fs = memory_new(all_pes(&w.step), sizeof *w.step.got_fs);
    w.step.leapt = memory_new(w.step.ranks, sizeof *w.step.leapt);
    w.step.agrees = memory_new((size_t)g->layers + 1, 1);
    kb_status status = kb_sim_new(c->topo, &options, &w.sim);
    if (!status && how->watch)
        status = kb_breakdown_new_path(w.sim, &path, &why);
    if (!status && how->count)
        status = kb_sim_observe(w.sim, &how->count->observer, &why);
    struct draws_heard draws;
    bool draws_ids = how->learns && c->takes_turns;
    if (draws_ids)
        draws_begin(&draws, &w.step, kb_pe_count(c->topo));
    if (!status && draws_ids)
        status = kb_sim_observe(w.sim, &(kb_observer){.arg = &draws, .issue = draws_issue}, &why);
    if (!status)
        status = launch(g, &w, &why);
    code = status ? cmd_fail(cli, status, &why) : run_launch(cli, c->told, g, &w, &start_fs);
    if (layers_done > 1 && layers_done < g->layers &&
        !llm_is_as_before(&w.step, layers_done - w.step.repeats_since))
        how->was_wrong = how->was_hasty = true;
    if (!code && !gave_up)
        take_times(g, &w.step, start_fs, how->each_fs, out);
    if (!code && how->watch)
        code = watch_path(cli, g, &w, path, how->watch);
    if (!code && how->count)
        code = tell_counts(cli, w.sim, how->count);
    out->layers = layers_done;
    out->gave_up = gave_up;
    out->start_fs = start_fs;
    if (c->told)
        c->told->done += run_operations(g);
    kb_breakdown_free(path);
    kb_sim_free(w.sim);
    free(w.step.got_fs);
    if (how->learns) {
        *how->learns = (struct llm_known){.ranks = w.step.ranks,
                                          .came_fs = w.step.came_fs,
                                          .quiet_fs = w.step.quiet_fs,
                                          .end_fs = w.step.end_fs};
        if (draws_ids && (code || !draws_of_leaps(&draws, how->learns)))
            run_forget(how->learns);
    } else {
        free(w.step.end_fs);
        free(w.step.came_fs);
        free(w.step.quiet_fs);
    }
    if (draws_ids)
        draws_end(&draws);
    free(w.step.leapt);
    free(w.step.agrees);
    free(w.pes);
    return code;
}

enum exit_code run_rehearsal(const struct cli *cli, const struct chip *c, struct graph *g,
                             const struct shape *s)
{
    struct chip untold = *c;
    struct graph layer = *g;
    struct iteration it;
    kb_limits limits;
    uint64_t used = 0;
    enum exit_code code = EXIT_OK;

    kb_topology_limits(c->topo, &limits);
    layer.layers = 1;
    layer.slots = 0;
    untold.told = NULL;
    if (limits.queue_memory == KB_TCM && shape_ranks(s) * c->unit_pes > 1)
        code = simulate(cli, &untold, &layer, s, &(struct manner){.slots_used = &used}, &it);
    g->slots = used;
    return code;
}

/* Ranks do different things where each has experts of its own. */
static bool ranks_do_the_same(const struct graph *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->op[i].ep > 1)
            return false;
    return true;
}

enum exit_code run_alone(const struct cli *cli, const struct chip *c, const struct graph *g,
                         const struct shape *s, const struct path_watch *watch,
                         struct llm_known *out)
{
    struct graph layer = *g;
    struct shape ranks = *s;
    struct iteration it;

    *out = (struct llm_known){0};
    if (!may_leap(cli, c, g) || (shape_ranks(s) > 1 && !c->has_lone_units))
        return EXIT_OK;
    layer.layers = 1;
    if (c->has_like_units && ranks_do_the_same(g))
        ranks.tp = 1;
    else if (c->takes_turns)
        return EXIT_OK;
    struct manner how = {.learns = out, .watch = watch};
    enum exit_code code = simulate(cli, c, &layer, &ranks, &how, &it);
    if (how.was_wrong)
        run_forget(out);
    return code;
}

static size_t count_met(const bool *met, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += met[i];
    return count;
}

void run_forget(struct llm_known *known)
{
    draws_free(known);
    free(known->came_fs);
    free(known->quiet_fs);
    free(known->end_fs);
    *known = (struct llm_known){0};
}

enum exit_code run_each(const struct cli *cli, const struct chip *c, const struct graph *g,
                        const struct shape *s, struct llm_known *known, int64_t *each_fs,
                        struct iteration *out)
{
    size_t n = run_operations(g) * (size_t)shape_ranks(s);
    struct manner how = {.each_fs = each_fs};
    enum exit_code code = EXIT_OK;

    if (known && known->ranks > 0) {
        how.known = known;
        how.met = memory_new(n, sizeof *how.met);
        for (int run = 0; run < WRONG_RUNS && WRONG_PART * count_met(how.met, n) <= n; run++) {
            how.was_wrong = false;
            code = simulate(cli, c, g, s, &how, out);
            if (code || !how.was_wrong)
                break;
        }
        free(how.met);
        if (code || !how.was_wrong)
            return code;
        run_forget(known);
    }
    return simulate(cli, c, g, s, &(struct manner){.each_fs = each_fs}, out);
}

enum exit_code run_graph(const struct cli *cli, const struct chip *c, const struct graph *g,
                         const struct shape *s, struct llm_known *known, struct iteration *out)
{
    return run_each(cli, c, g, s, known, NULL, out);
}

enum exit_code run_watched(const struct cli *cli, const struct chip *c, const struct graph *g,
                           const struct shape *s, const struct llm_known *known,
                           const struct path_watch *watch)
{
    struct graph layer = *g;
    struct iteration it;

    layer.layers = 1;
    if (known->ranks == 0)
        return simulate(cli, c, &layer, s, &(struct manner){.watch = watch}, &it);
    struct manner how = {.known = known,
                         .watch = watch,
                         .met = memory_new(run_operations(&layer) * (size_t)shape_ranks(s), 1)};
    enum exit_code code = simulate(cli, c, &layer, s, &how, &it);
    free(how.met);
    return code;
}

enum exit_code run_counted(const struct cli *cli, const struct chip *c, const struct graph *g,
                           const struct shape *s, const struct run_count *count)
{
    struct iteration it;

    return simulate(cli, c, g, s, &(struct manner){.count = count}, &it);
}
