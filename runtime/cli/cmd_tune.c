/*
 * cmd_tune.c -- `tune`: a bench with each combination of values of its arguments, the fastest
 * first.
 *
 * Each combination is a run. The time of a run is from the start of its first launch to the last
 * end of a kernel.
 *
 * Two plans. The first weighs each run: kb_launch_bound() says which time it takes at least, and
 * how many commands it has. The second runs them. Where all together have few commands they run in
 * the order of the lists; else those come first that could be fastest, and one whose bound passes
 * the best of those before it does not run at all, as it takes longer than that in any case. One
 * that runs is stopped once its time passes the best of the runs before it: it cannot win. So no
 * combination is faster than the first row, and no row has a time that was not simulated to its
 * end.
 *
 * Which runs are stopped, and which do not run, depends on the order alone, not on when they happen
 * to run; one that has run longer, as the best was not known yet, has the same row. What is known
 * is `best_fs`, in memory that all workers share.
 *
 * Example: five runs that take 10, 7, 9, 7 and 5 ns. The third is stopped, as it passes 7; the rows
 * are 5, 7 (the second), 7 (the fourth), 10, and the third with `above_ns` 7. If they had many
 * commands, and bounds of 8, 6, 8, 6 and 4, they would run in the order 5, 2, 4, 1, 3: the rows are
 * 5, and all others with `above_ns` their bounds, state `bound`, as 6 is more than 5.
 *
 * With --verify the winner alone runs again, with Phase 2.
 *
 * A part of --shard weighs all runs and does its own, which are beside each other in the order in
 * which all run. Its file is their journal, and no table. It knows the best of its own runs only,
 * so it stops and leaves out no run that the whole would not: when the same command with --resume
 * gives them in order, each has the row that it has in the whole.
 */
#include "cli/benches.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include "cli/out/session.h"
#include "cli/out/stop.h"
#include "cli/plan/plan.h"
#include "cli/rows/launch_rows.h"
#include "cli/vary/captured.h"
#include "cli/vary/variants.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    EVENTS_AT_ONCE = 20000, /* a few ms: how long a run may go on that cannot win */
    WINDOW_PER_THREAD = 16,
    FEW_COMMANDS = 1 << 20, /* of all runs: a second or two */
    NOTE_BYTES = VARY_LABEL_BYTES + 256,
};

/* What a run has come to. */
struct tried {
    enum { TRIED_WAITS, TRIED_OK, TRIED_STOPPED, TRIED_BOUND, TRIED_FAILED } state;
    enum exit_code code;
    int64_t time_fs; /* of a run that was stopped: what it passed; of one by its bound: that */
    char *failed;    /* owned: why */
};

static const char *const states[] = {"waits", "ok", "stopped", "bound", "failed"};

/* A run in work, or done and not given yet. */
struct slot {
    struct tried tried;
    struct said said;
};

struct tune {
    const struct cli *cli;
    const kb_bench *bench;
    struct variants variants;
    const char *fixed[SETS_MAX]; /* borrowed: NAME=VALUE that all runs have */
    size_t n_fixed;
    kb_bound *bound;   /* owned: of each run */
    uint64_t *turn;    /* owned: runs in the order in which they run */
    uint64_t first;    /* the turn of the first run of this part, which is mostly the whole; */
    uint64_t n;        /* and how many it has */
    struct slot *slot; /* owned: of the run whose turn is first + i at i % window */
    uint64_t window;
    _Atomic int64_t *best_fs; /* owned, of all workers: of the runs that were given */
    struct tried *tried;      /* owned: of each run */
    uint64_t n_given, *order; /* owned: rows to runs */
    enum exit_code failed;    /* of the first that has */
    struct captured verified; /* the rows of `run` of the winner */
    struct column columns[ROW_CELLS_MAX];
};

/* -- one run -------------------------------------------------------------------------------- */

/* The words of run `i`. Returns how many. */
static size_t words_of(const struct tune *t, uint64_t i, const char *words[])
{
    size_t n = t->n_fixed;

    memcpy(words, t->fixed, n * sizeof *words);
    for (size_t k = 0; k < t->variants.n_keys; k++)
        words[n++] = variants_argument(variants_word(&t->variants, i, k));
    return n;
}

static int64_t best_fs(const struct tune *t)
{
    return atomic_load_explicit(t->best_fs, memory_order_relaxed);
}

/* Could run `i` still be the fastest? */
static bool may_win(const struct tune *t, uint64_t i, const kb_sim *sim)
{
    return kb_launch_least_fs(sim, &t->bound[i]) <= best_fs(t);
}

/* *wants: a kernel wants values, which the run does not have. */
static kb_status run_bench(const struct tune *t, uint64_t i, bool values, struct tried *out,
                           bool *wants, kb_error *why)
{
    const char *words[SETS_MAX + VARY_KEYS_MAX];
    size_t n = words_of(t, i, words);
    kb_options options = {.engine = t->cli->opts.engine, .values = values};
    kb_bench_run *run = NULL;
    kb_status status =
        kb_bench_new(t->bench, t->cli->topo, &options, t->cli->opts.seed, words, n, &run, why);

    if (status)
        return status;
    kb_sim *sim = kb_bench_sim(run);
    for (status = KB_AGAIN; status == KB_AGAIN && !stop_asked() && may_win(t, i, sim);)
        status = kb_sim_run(sim, EVENTS_AT_ONCE, why);
    if (status == KB_OK)
        *out = (struct tried){.state = TRIED_OK, .time_fs = launches_fs(sim)};
    else if (status == KB_AGAIN && !stop_asked())
        *out = (struct tried){.state = TRIED_STOPPED};
    *wants = status == KB_KERNEL_ERROR && kb_sim_wants_values(sim) && !values;
    kb_bench_free(run);
    return status == KB_AGAIN ? KB_OK : status;
}

/* -- what runs take at least ------------------------------------------------------------------ */

/* A bench that cannot be weighed has the bound 0: its run will say why. */
static void weigh(void *arg, unsigned thread, uint64_t i)
{
    struct tune *t = arg;
    const char *words[SETS_MAX + VARY_KEYS_MAX];
    kb_options options = {.engine = t->cli->opts.engine};
    size_t n = words_of(t, i, words);
    kb_bench_run *run = NULL;

    (void)thread;
    t->bound[i] = (kb_bound){0};
    if (kb_bench_new(t->bench, t->cli->topo, &options, t->cli->opts.seed, words, n, &run, NULL))
        return;
    if (kb_launch_bound(kb_bench_sim(run), &t->bound[i]))
        t->bound[i] = (kb_bound){0};
    kb_bench_free(run);
}

static bool give_weight(void *arg, uint64_t i)
{
    (void)arg, (void)i;
    return true;
}

static void pack_weight(void *arg, uint64_t i, struct packed *to)
{
    PACKED_PUT(to, ((const struct tune *)arg)->bound[i]);
}

static void unpack_weight(void *arg, uint64_t i, struct packed *from)
{
    PACKED_TAKE(from, ((struct tune *)arg)->bound[i]);
}

static void weigher_died(void *arg, uint64_t i, enum exit_code code, const char *why,
                         const char *said)
{
    (void)code, (void)why, (void)said;
    ((struct tune *)arg)->bound[i] = (kb_bound){0};
}

static int by_bound(const void *a, const void *b, void *arg)
{
    uint64_t i = *(const uint64_t *)a, k = *(const uint64_t *)b;
    const kb_bound *bound = arg;

    if (bound[i].fs != bound[k].fs)
        return bound[i].fs < bound[k].fs ? -1 : 1;
    return i < k ? -1 : 1;
}

/* Those that could be fastest run first, if all together take long. */
static void set_turns(struct tune *t)
{
    uint64_t n = t->variants.n, commands = 0;

    t->turn = memory_new(n, sizeof *t->turn);
    for (uint64_t i = 0; i < n; i++) {
        t->turn[i] = i;
        commands += t->bound[i].commands;
    }
    if (commands >= FEW_COMMANDS)
        qsort_r(t->turn, n, sizeof *t->turn, by_bound, t->bound);
    else
        memset(t->bound, 0, n * sizeof *t->bound);
}

/* -- runs in turn ----------------------------------------------------------------------------- */

static void do_run(void *arg, unsigned thread, uint64_t item)
{
    struct tune *t = arg;
    struct slot *s = &t->slot[item % t->window];
    uint64_t i = t->turn[t->first + item];
    kb_error why = {""};
    bool wants = false;

    (void)thread;
    s->tried = (struct tried){.state = TRIED_WAITS};
    s->said = (struct said){.n = 0};
    if (t->bound[i].fs > best_fs(t)) {
        s->tried.state = TRIED_BOUND;
        return;
    }
    say_into(&s->said);
    kb_status status = run_bench(t, i, false, &s->tried, &wants, &why);
    if (wants)
        status = run_bench(t, i, true, &s->tried, &wants, &why);
    if (status)
        s->tried = (struct tried){.state = TRIED_FAILED, .code = cmd_fail(t->cli, status, &why)};
    say_into(NULL);
}

/* -- as bytes ------------------------------------------------------------------------------- */

static void pack_run(void *arg, uint64_t item, struct packed *to)
{
    const struct tune *t = arg;
    const struct slot *s = &t->slot[item % t->window];

    PACKED_PUT(to, s->tried);
    PACKED_PUT(to, s->said);
}

static void unpack_run(void *arg, uint64_t item, struct packed *from)
{
    struct tune *t = arg;
    struct slot *s = &t->slot[item % t->window];

    PACKED_TAKE(from, s->tried);
    PACKED_TAKE(from, s->said);
}

static void run_died(void *arg, uint64_t item, enum exit_code code, const char *why,
                     const char *said)
{
    struct tune *t = arg;
    struct slot *s = &t->slot[item % t->window];

    s->tried = (struct tried){.state = TRIED_FAILED, .code = code};
    s->said = (struct said){.n = 0};
    say_into(&s->said);
    say_line("%s", *why ? why : said);
    say_into(NULL);
}

static bool is_final(void *arg, uint64_t item)
{
    const struct tune *t = arg;
    const struct tried *r = &t->slot[item % t->window].tried;

    return r->state != TRIED_WAITS && r->code != EXIT_SYSTEM;
}

/* -- all of them ---------------------------------------------------------------------------- */

/* The first line of what it has said, without the name of the program. */
static char *reason_of(const struct tune *t, const struct slot *s)
{
    const char *said = s->said.text, *program = t->cli->program;
    size_t len = strlen(program);

    if (strncmp(said, program, len) == 0 && strncmp(said + len, ": ", 2) == 0)
        said += len + 2;
    return s->said.n > 0 ? memory_part(said, strcspn(said, "\n")) : memory_text("failed");
}

static bool give_run(void *arg, uint64_t item)
{
    struct tune *t = arg;
    struct slot *s = &t->slot[item % t->window];
    uint64_t i = t->turn[t->first + item];
    int64_t best = best_fs(t);

    if (s->tried.state == TRIED_WAITS) /* Ctrl-C */
        return false;
    if (t->bound[i].fs > best) /* also if it has run, as the best was not known yet */
        s->tried = (struct tried){.state = TRIED_BOUND, .time_fs = t->bound[i].fs};
    if (s->tried.state == TRIED_OK && s->tried.time_fs > best)
        s->tried.state = TRIED_STOPPED;
    if (s->tried.state == TRIED_STOPPED)
        s->tried.time_fs = best;
    if (s->tried.state == TRIED_OK)
        atomic_store(t->best_fs, s->tried.time_fs);
    if (s->tried.state == TRIED_FAILED) {
        s->tried.failed = reason_of(t, s);
        t->failed = t->failed ? t->failed : s->tried.code;
    }
    t->tried[i] = s->tried;
    t->n_given++;
    return true;
}

static enum exit_code weigh_all(struct tune *t)
{
    struct plan plan = {.cli = t->cli,
                        .things = "runs weighed",
                        .n = t->variants.n,
                        .threads = plan_threads(t->cli),
                        .window = (uint64_t)plan_threads(t->cli) * WINDOW_PER_THREAD,
                        .apart = !session_here(),
                        .work = weigh,
                        .give = give_weight,
                        .pack = pack_weight,
                        .unpack = unpack_weight,
                        .died = weigher_died,
                        .part_is_journal = true,
                        .arg = t};

    t->bound = memory_new(t->variants.n, sizeof *t->bound);
    return plan_run(&plan);
}

static enum exit_code run_all(struct tune *t)
{
    struct plan plan = {.cli = t->cli,
                        .things = "runs",
                        .n = t->n,
                        .threads = plan_threads(t->cli),
                        .window = (uint64_t)plan_threads(t->cli) * WINDOW_PER_THREAD,
                        .apart = !session_here(),
                        /* behind the weights, which each part has: a number is left out between */
                        .first = t->variants.n + 1 + t->first,
                        .work = do_run,
                        .give = give_run,
                        .is_final = is_final,
                        .pack = pack_run,
                        .unpack = unpack_run,
                        .died = run_died,
                        .part_is_journal = true,
                        .arg = t};

    t->window = plan.window;
    t->slot = memory_new(t->window, sizeof *t->slot);
    t->tried = memory_new(t->variants.n, sizeof *t->tried);
    return plan_run(&plan);
}

/* -- the table ------------------------------------------------------------------------------ */

static int compare(const void *a, const void *b, void *arg)
{
    uint64_t i = *(const uint64_t *)a, k = *(const uint64_t *)b;
    const struct tried *x = &((const struct tune *)arg)->tried[i];
    const struct tried *y = &((const struct tune *)arg)->tried[k];

    if (x->state != y->state)
        return x->state < y->state ? -1 : 1;
    if (x->state == TRIED_OK && x->time_fs != y->time_fs)
        return x->time_fs < y->time_fs ? -1 : 1;
    return i < k ? -1 : 1;
}

static void sort_rows(struct tune *t)
{
    t->order = memory_new(t->n_given + 1, sizeof *t->order);
    for (uint64_t i = 0; i < t->n_given; i++)
        t->order[i] = t->turn[t->first + i];
    qsort_r(t->order, t->n_given, sizeof *t->order, compare, t);
}

static bool has_winner(const struct tune *t)
{
    return t->n_given > 0 && t->tried[t->order[0]].state == TRIED_OK;
}

/* Columns behind those of the arguments. */
static const struct column result_columns[] = {
    COLUMN_BY_HAND("time_ns", CELL_NS),  COLUMN_BY_HAND("above_ns", CELL_NS),
    COLUMN_BY_HAND("state", CELL_TEXT),  COLUMN_BY_HAND("failed", CELL_TEXT),
    COLUMN_BY_HAND("verify", CELL_TEXT), COLUMN_BY_HAND("max_abs_err", CELL_ERROR),
};

enum { N_RESULTS = sizeof result_columns / sizeof *result_columns, N_OF_VERIFY = 2 };

static size_t set_columns(struct tune *t)
{
    size_t n = t->variants.n_keys,
           results = t->cli->opts.verify ? N_RESULTS : N_RESULTS - N_OF_VERIFY;

    for (size_t k = 0; k < n; k++)
        t->columns[k] = (struct column)COLUMN_BY_HAND(
            t->variants.key[k].path, t->variants.key[k].numbers ? CELL_NUMBER : CELL_TEXT);
    memcpy(t->columns + n, result_columns, results * sizeof *result_columns);
    return n + results;
}

/* The cell of the winner's row of `run` that has this name. */
static struct cell verified(struct tune *t, const char *name)
{
    struct cell cells[ROW_CELLS_MAX];

    if (t->verified.n_rows == 0)
        return cell_none();
    captured_row(&t->verified, 0, cells);
    for (size_t c = 0; c < t->verified.n_columns; c++)
        if (strcmp(t->verified.columns[c].name, name) == 0)
            return cells[c];
    return cell_none();
}

static bool tuned_row(void *arg, uint64_t row, struct cell *cells)
{
    struct tune *t = arg;
    uint64_t i = t->order[row];
    const struct tried *r = &t->tried[i];
    size_t n = t->variants.n_keys;

    for (size_t k = 0; k < n; k++) {
        const char *value = variants_word(&t->variants, i, k) + t->variants.key[k].value_at;

        cells[k] = t->variants.key[k].numbers ? cell_number(value) : cell_text(value);
    }
    cells[n++] = r->state == TRIED_OK ? cell_ns(r->time_fs) : cell_none();
    cells[n++] =
        r->state == TRIED_STOPPED || r->state == TRIED_BOUND ? cell_ns(r->time_fs) : cell_none();
    cells[n++] = cell_text(states[r->state]);
    cells[n++] = r->failed ? cell_text(r->failed) : cell_none();
    cells[n++] = row == 0 ? verified(t, "verify") : cell_none();
    cells[n] = row == 0 ? verified(t, "max_abs_err") : cell_none();
    return true;
}

/* Runs the winner once more, with Phase 2. */
static enum exit_code verify(struct tune *t)
{
    const char *words[1 + SETS_MAX + VARY_KEYS_MAX] = {t->cli->opts.operand[0]};
    struct cli cli = *t->cli;

    cli.opts.operand = words;
    cli.opts.n_operands = 1 + words_of(t, t->order[0], words + 1);
    cli.opts.command = COMMAND_RUN;
    cli.opts.quiet = true;
    cli.varied = &t->verified;
    return cmd_run(&cli);
}

/* "best: run gemm M=64 BM=32" */
static void make_note(const struct tune *t, char note[NOTE_BYTES])
{
    const char *words[SETS_MAX + VARY_KEYS_MAX];
    size_t n_words = words_of(t, t->order[0], words), n;

    n = (size_t)snprintf(note, NOTE_BYTES, "best: run %s", t->cli->opts.operand[0]);
    for (size_t k = 0; k < n_words && n < NOTE_BYTES; k++)
        n += (size_t)snprintf(note + n, NOTE_BYTES - n, " %s", words[k]);
}

static enum exit_code weigh_and_run(struct tune *t)
{
    enum exit_code code = weigh_all(t);

    if (code)
        return code;
    set_turns(t);
    return stop_asked() ? EXIT_OK : run_all(t);
}

/* Only its journal is written. */
static enum exit_code run_part(struct tune *t)
{
    stop_defer(true);
    enum exit_code code = weigh_and_run(t);
    stop_defer(false);
    if (code || t->n_given == t->n)
        return code;
    cmd_note(t->cli, "%s: the same command goes on from here", stop_word());
    return EXIT_INTERRUPTED;
}

static enum exit_code tune_into(void *arg, struct sink *s)
{
    struct tune *t = arg;
    struct rows rows = {.columns = t->columns, .row = tuned_row, .arg = t};
    char note[NOTE_BYTES];
    enum exit_code code = weigh_and_run(t), compared = EXIT_OK;

    if (code)
        return code;
    sort_rows(t);
    if (has_winner(t))
        make_note(t, note);
    if (has_winner(t) && t->cli->opts.verify && t->n_given == t->variants.n)
        compared = verify(t);
    if (compared && compared != EXIT_DIFFERENT)
        return compared;
    rows.n_columns = set_columns(t);
    rows.n_rows = t->n_given;
    rows.note = has_winner(t) ? note : NULL;
    cmd_write(t->cli, &rows, s);
    sink_flush(s);
    if (t->n_given == t->variants.n)
        return compared;
    cmd_note(t->cli, "%s: %llu of %llu runs complete", stop_word(), (unsigned long long)t->n_given,
             (unsigned long long)t->variants.n);
    return EXIT_INTERRUPTED;
}

/* -- what was asked ------------------------------------------------------------------------- */

static bool has_argument(const kb_bench *bench, const char *name, size_t len)
{
    for (size_t i = 0; i < bench->n_args; i++)
        if (strlen(bench->args[i].name) == len && strncmp(bench->args[i].name, name, len) == 0)
            return true;
    return false;
}

/* arg.NAME=LIST are lists, NAME=VALUE is the same in all runs; each once. */
static enum exit_code read_words(struct tune *t)
{
    const struct opts *o = &t->cli->opts;
    struct set_list lists = {.n = 0};

    for (size_t i = 1; i < o->n_operands; i++) {
        const char *word = o->operand[i], *name = variants_argument(word);
        size_t len = name ? strcspn(name, "=") : 0;

        if (lists.n == VARY_KEYS_MAX || t->n_fixed == SETS_MAX)
            return cmd_say(t->cli, EXIT_USAGE, "tune: '%s' is one argument too many", word);
        if (!name) {
            t->fixed[t->n_fixed++] = word;
            continue;
        }
        if (!name[len] || !has_argument(t->bench, name, len))
            return cmd_say(t->cli, EXIT_USAGE, "tune: '%s' is no list of an argument of %s", word,
                           t->bench->name);
        for (size_t k = 1; k < o->n_operands; k++)
            if (strncmp(o->operand[k], name, len + 1) == 0)
                return cmd_say(t->cli, EXIT_USAGE, "tune: '%s' and '%s' are given both", word,
                               o->operand[k]);
        lists.word[lists.n++] = word;
    }
    if (lists.n == 0)
        return cmd_say(t->cli, EXIT_USAGE, "tune needs values of an argument, as arg.%s=LIST",
                       t->bench->n_args ? t->bench->args[0].name : "NAME");
    return variants_read(&t->variants, &lists, t->cli->program);
}

static void free_tune(struct tune *t)
{
    for (uint64_t i = 0; i < t->n_given; i++)
        free(t->tried[t->turn[t->first + i]].failed);
    captured_free(&t->verified);
    variants_free(&t->variants);
    munmap(t->best_fs, sizeof *t->best_fs);
    free(t->bound);
    free(t->turn);
    free(t->slot);
    free(t->tried);
    free(t->order);
    free(t);
}

enum exit_code cmd_tune(const struct cli *cli)
{
    struct tune *t = memory_new(1, sizeof *t);
    enum exit_code code;

    t->cli = cli;
    t->best_fs =
        mmap(NULL, sizeof *t->best_fs, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (t->best_fs == MAP_FAILED)
        memory_lacks();
    atomic_init(t->best_fs, INT64_MAX);
    t->bench = bench_find(cli, cli->opts.operand[0], &code);
    if (!code)
        code = read_words(t);
    t->first = plan_first(cli, t->variants.n);
    t->n = plan_count(cli, t->variants.n);
    if (!code && cli->opts.shard.n)
        code = run_part(t);
    else if (!code && !(code = cmd_output(cli, tune_into, t)) && !has_winner(t))
        code = cmd_say(cli, t->failed, "all runs failed, the table says why");
    if (!stop_leaves())
        free_tune(t);
    return code;
}
