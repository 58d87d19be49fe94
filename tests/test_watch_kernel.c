/* test_watch_kernel.c -- what is told of kernels: stages, commands and what their end waited for,
 * and the critical path, walked back by plain means. */
#include "programs.h"
#include "sums.h"

/* KB_SEEDS=N in the environment runs seeds 1..N, those of test_kernel_random.c. */
enum { SEEDS = 400, MOST_SHARES = 512 };

/* Shares of a command as they ought to be. */
struct shares {
    kb_share row[MOST_SHARES];
    size_t n;
};

/* A watched run of a program. */
struct watched {
    struct scenario *s;
    struct tape tape;
    kb_sim *sim;
    kb_why *why;
    struct sums *sums;
    const kb_command **by_id; /* [op_id]: the command that has ended; NULL: no command */
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

static uint64_t command_of(const struct watched *w, const struct judge_op_record *r)
{
    return times(w, r->kernel, r->command)->op_id;
}

/* -- pieces of stages ----------------------------------------------------------------------- */

static const char *what_of(const struct watched *w, const struct judge_op_record *r)
{
    static const char *const names[] = {"",      "dma_read", "dma_write", "fetch",
                                        "store", "gemm",     "math"};
    const struct judge_command *c = &w->s->program.kernels[r->kernel].commands[r->command];

    if (r->stage != JUDGE_COMMAND)
        return names[r->stage];
    return c->kind == JUDGE_LOAD    ? "dma_read"
           : c->kind == JUDGE_STORE ? "dma_write"
           : c->kind == JUDGE_DOT   ? "gemm"
                                    : "math";
}

/* The pieces of every job lie end to end, up to its end, and say whose they are. */
static void assert_stage(const struct watched *w, uint32_t id)
{
    const struct judge_op_record *r = record(w, id);
    size_t n;
    const kb_span *x = tape_of(&w->tape, id, &n);
    char name[KB_PLACE_BYTES], want[JUDGE_NAME_BYTES];

    if (r->component == JUDGE_PE_SCHEDULER) {
        assert_true(n == 0);
        return;
    }
    judge_end_name(&w->s->program.kernels[r->kernel].pe, want);
    for (size_t i = 0; i < n; i++) {
        assert_true(i == 0 || x[i].begin_fs == x[i - 1].end_fs);
        assert_true(x[i].command == command_of(w, r));
        assert_string_equal(x[i].what, what_of(w, r));
        assert_true(
            x[i].token ==
            (record(w, command_of(w, r))->component == JUDGE_PE_SCHEDULER ? r->token : KB_NO_ID));
        assert_true((x[i].target != KB_NOWHERE) == (r->component == JUDGE_PE_DMA));
        kb_place_name(w->s->topo, x[i].source, name);
        assert_string_equal(name, want);
    }
    if (n && x[n - 1].end_fs != r->t_end)
        fail_msg("seed %" PRIu64 ": %u is told until %" PRId64 ", not %" PRId64, w->s->seed, id,
                 x[n - 1].end_fs, r->t_end);
    if (r->after != JUDGE_NONE && n)
        assert_true(x->begin_fs == record(w, r->after)->t_end);
    if (n && r->after == JUDGE_NONE)
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

static kb_place node_of(const struct watched *w, const struct judge_op_record *r, const char *node)
{
    const struct judge_end *pe = &w->s->program.kernels[r->kernel].pe;
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

/* The last wait of `id` but for links which somebody of its own command has ended; or NULL. */
static const struct judge_wait *wait_for_own(const struct watched *w, uint64_t id)
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

        if (!strstr(x->at, " -> ") && same_command(record(w, id), record(w, x->given_by)) &&
            (!last || x->end_fs >= last->end_fs))
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

    share(out, KB_CAUSE_ENGINE_WAIT, node_of(w, r, "pe_scheduler"), other->t_end - issue_fs,
          n ? x->source : KB_NOWHERE, (uint32_t)command_of(w, other));
}

/*
 * design 5: back from the end of job `id`. What it waited for, if a tile of its own command had it,
 * is followed instead of the wait; else what let it begin: the stage before, the tile whose FETCH
 * made room, or its command's issue.
 */
static void add_chain(const struct watched *w, uint64_t id, struct shares *out)
{
    const struct judge_op_record *r = record(w, id);
    const struct judge_wait *wait = wait_for_own(w, id);

    if (wait)
        add_chain(w, wait->given_by, out);
    else if (r->after != JUDGE_NONE && same_command(r, record(w, r->after)))
        add_chain(w, r->after, out);
    else if (r->after != JUDGE_NONE)
        add_room(w, r, out);
    add_pieces(w, (uint32_t)id, wait, out);
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

static void assert_shares(const struct watched *w, const kb_command *c)
{
    static struct shares want;
    const struct judge_op_record *r = record(w, c->id);
    int64_t sum_fs = 0;

    want.n = 0;
    add_chain(w, last_job(w, c->id), &want);
    share(&want, KB_CAUSE_DISPATCH, node_of(w, r, "pe_cpu"), c->issue_fs - c->call_fs, KB_NOWHERE,
          KB_NO_ID);
    for (size_t i = 0; i < want.n; i++)
        assert_share(w, c, &want.row[i]);
    for (size_t i = 0; i < c->n_shares; i++)
        sum_fs += c->share[i].sum_fs;
    assert_true(c->n_shares == want.n);
    assert_true(sum_fs == c->end_fs - c->call_fs);
}

/* -- commands ------------------------------------------------------------------------------- */

static void assert_name(const struct watched *w, const struct judge_command *c, const kb_command *x)
{
    static const char *const dtypes[] = {"i8", "i32", "f16", "f32", "f64"};
    char want[32];

    switch (c->kind) {
    case JUDGE_LOAD:
        strcpy(want, "dma_read");
        break;
    case JUDGE_STORE:
        strcpy(want, "dma_write");
        break;
    case JUDGE_DOT:
        snprintf(want, sizeof want, "gemm_%s", dtypes[c->in]);
        break;
    case JUDGE_MATH:
        strcpy(want, c->op);
        break;
    case JUDGE_COMPOSITE_GEMM:
        strcpy(want, "composite_gemm");
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
        assert_true(x->call_fs == t->call_fs && x->issue_fs == t->issue_fs);
        assert_true(x->end_fs == t->end_fs);
        if (x->after != cause.after || x->after_end != cause.after_end)
            fail_msg("seed %" PRIu64 ": command %u follows the %s of %u, not the %s of %u",
                     w->s->seed, x->id, x->after_end ? "end" : "issue", x->after,
                     cause.after_end ? "end" : "issue", cause.after);
        assert_shares(w, x);
        assert_true(x->async == (k->commands[i].async || x->composite));
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

struct path {
    const struct watched *w;
    kb_why_step *want;
    size_t n, told;
};

/* Steps from the end of the kernel back to its start, then turned around. */
static void walk_back(struct path *p, struct cause cause, int64_t end_fs)
{
    const struct watched *w = p->w;

    while (cause.after != KB_NO_ID) {
        const kb_command *c = w->by_id[cause.after];
        kb_why_step step = {.id = c->id, .begin_fs = c->call_fs};

        step.end_fs = cause.after_end ? c->end_fs : c->issue_fs;
        assert_true(step.end_fs == end_fs);
        end_fs = c->call_fs;
        cause = (struct cause){c->after, c->after_end};
        TAPE_ADD(p->want, p->n, step);
    }
    assert_true(end_fs == w->s->expected.start_fs);
    for (size_t i = 0; i < p->n / 2; i++) {
        kb_why_step x = p->want[i];

        p->want[i] = p->want[p->n - 1 - i];
        p->want[p->n - 1 - i] = x;
    }
}

static void sum_step(const struct watched *w, const kb_why_step *step)
{
    const char *file = strrchr(step->file, '/');
    char of[KB_PLACE_BYTES];

    snprintf(of, sizeof of, "%s %s:%d", step->call, file ? file + 1 : step->file, step->line);
    for (size_t i = 0; i < step->n_shares; i++) {
        const kb_share *x = &step->share[i];
        bool placed = is_wait(x->cause) || x->cause == KB_CAUSE_DRAIN ||
                      x->cause == KB_CAUSE_PORT || x->cause == KB_CAUSE_COMPUTE;
        kb_why_row row = {.cause = x->cause,
                          .place = placed ? x->place : KB_NOWHERE,
                          .behind = x->behind,
                          .count = x->count,
                          .sum_fs = x->sum_fs};

        sum(w->sums, KB_WHY_PATH, "program", &row);
        sum(w->sums, KB_WHY_PATH, of, &row);
    }
}

/* A whole step has the sums of its command's causes, one that was left its dispatch. */
static void assert_step_shares(const struct path *p, const kb_why_step *step)
{
    const kb_command *c = p->w->by_id[step->id];
    bool cut = step->end_fs == c->issue_fs && step->end_fs != c->end_fs;
    int64_t by_cause[KB_N_CAUSES] = {0}, sum_fs = 0;

    for (size_t i = 0; i < c->n_shares; i++)
        if (!cut || c->share[i].cause == KB_CAUSE_DISPATCH)
            by_cause[c->share[i].cause] += c->share[i].sum_fs;
    for (size_t i = 0; i < step->n_shares; i++) {
        sum_fs += step->share[i].sum_fs;
        by_cause[step->share[i].cause] -= step->share[i].sum_fs;
    }
    assert_true(sum_fs == step->end_fs - step->begin_fs);
    for (int i = 0; i < KB_N_CAUSES; i++)
        assert_true(by_cause[i] == 0);
}

static void assert_step(void *arg, const kb_why_step *step)
{
    struct path *p = arg;
    const kb_why_step *want = &p->want[p->told];

    if (p->told == p->n || step->id != want->id || step->begin_fs != want->begin_fs ||
        step->end_fs != want->end_fs)
        fail_msg("seed %" PRIu64 ": step %zu of %zu is command %u", p->w->s->seed, p->told, p->n,
                 step->id);
    assert_true(step->launch == 0 && step->pe == p->w->by_id[step->id]->pe);
    assert_string_equal(step->kernel, "program");
    assert_string_equal(step->name, p->w->by_id[step->id]->name);
    assert_step_shares(p, step);
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
    assert_int_equal(kb_why_path(w->why, assert_step, &p), KB_OK);
    if (p.told != p.n)
        fail_msg("seed %" PRIu64 ": the path has %zu steps, not %zu", w->s->seed, p.told, p.n);
    free(p.want);
}

/* -- sums ----------------------------------------------------------------------------------- */

static void sum_command(const struct watched *w, const kb_command *c)
{
    char name[KB_PLACE_BYTES];
    const struct judge_op_record *r = record(w, c->id);

    for (size_t i = 0; i < c->n_shares; i++) {
        const kb_share *x = &c->share[i];
        bool placed = is_wait(x->cause) || x->cause == KB_CAUSE_DRAIN ||
                      x->cause == KB_CAUSE_PORT || x->cause == KB_CAUSE_COMPUTE;
        kb_why_row row = {.cause = x->cause, .count = x->count, .sum_fs = x->sum_fs};

        sum(w->sums, KB_WHY_ALL, "", &row);
        sum(w->sums, KB_WHY_OP, c->name, &row);
        row.place = placed ? x->place : KB_NOWHERE;
        kb_place_name(w->s->topo, x->place, name);
        sum(w->sums, KB_WHY_PLACE, name, &row);
        judge_end_name(&w->s->program.kernels[r->kernel].pe, name);
        sum(w->sums, KB_WHY_PE, name, &row);
    }
}

static void sum_targets(const struct watched *w)
{
    char name[KB_PLACE_BYTES];

    for (size_t i = 0; i < w->tape.n_spans; i++) {
        const kb_span *x = &w->tape.span[i];
        bool placed = is_wait(x->cause) || x->cause == KB_CAUSE_DRAIN;
        kb_why_row row = {.cause = x->cause,
                          .place = placed ? x->place : KB_NOWHERE,
                          .count = 1,
                          .sum_fs = x->end_fs - x->begin_fs};

        if (x->end_fs == x->begin_fs)
            continue;
        kb_place_name(w->s->topo, x->target, name);
        if (x->target != KB_NOWHERE)
            sum(w->sums, KB_WHY_TARGET, name, &row);
        row.behind = x->behind;
        kb_place_name(w->s->topo, x->place, name);
        if (is_wait(x->cause))
            sum(w->sums, KB_WHY_WAIT, name, &row);
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
        assert_true(x->end_fs == w->s->expected.kernels[k].end_fs);
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
    assert_waits(&w->tape, &s->expected.waits);
    for (uint32_t id = 0; id < s->expected.n_records; id++)
        assert_stage(w, id);
    assert_record_times(w);
    assert_services(&w->tape, w->sim);
    index_commands(w);
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
}

static void check_program(struct scenario *s, kb_options options, struct sums *sums)
{
    struct watched w = {.s = s, .sums = sums, .tape = {.topo = s->topo, .seed = s->seed}};
    kb_launch_result r;

    w.sim = launch_program(s, options);
    tape_watch(&w.tape, w.sim);
    assert_int_equal(kb_why_new(w.sim, &w.why, NULL), KB_OK);
    run_launched(s, w.sim, s->seed % 3 ? 0 : 17, &r);
    assert_true(r.start_fs == s->expected.start_fs && r.response_fs == s->expected.total_fs);
    if (options.fingerprint)
        assert_true(kb_sim_fingerprint(w.sim) == s->expected.fingerprint);
    assert_watched(&w);
    assert_int_equal(kb_sim_watch(w.sim, &(kb_watch){0}, NULL), KB_BAD_REQUEST);
    kb_why_free(w.why);
    kb_sim_free(w.sim);
    tape_free(&w.tape);
}

/* design 5, 5.2: pieces, shares and the critical path, all recomputed from the judge's run */
static void random_kernels_spend_their_time_as_the_judge_says(void **state)
{
    const char *wanted = getenv("KB_SEEDS");
    uint64_t seeds = wanted ? strtoull(wanted, NULL, 10) : SEEDS;
    struct sums *sums = malloc(sizeof *sums);

    (void)state;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct scenario s = scenario_new(seed);

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

static void meets(void *arg, const kb_why_step *step)
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
        struct scenario s = scenario_new(seed);
        kb_options options = {.costs_off = (unsigned)(seed % 4 ? seed * 7 % 64 : 15)};
        struct tape tape = {.topo = s.topo, .seed = seed};
        kb_sim *plain = launch_program(&s, options), *sim = launch_program(&s, options);
        kb_launch_result a, b;
        kb_why *why;
        int64_t at_fs;

        tape_watch(&tape, sim);
        assert_int_equal(kb_why_new(sim, &why, NULL), KB_OK);
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
        assert_int_equal(kb_why_path(why, meets, &at_fs), KB_OK);
        assert_true(at_fs == b.last_end_fs);
        kb_why_free(why);
        tape_free(&tape);
        kb_sim_free(plain);
        kb_sim_free(sim);
        scenario_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_kernels_spend_their_time_as_the_judge_says),
        cmocka_unit_test(of_kernels_that_end_together_the_first_has_the_path),
        cmocka_unit_test(commands_and_paths_add_up_whatever_cost_is_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
