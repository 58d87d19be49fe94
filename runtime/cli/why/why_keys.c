/*
 * why_keys.c -- `why --by key`: a run again on machines with keys made better by a factor, alone
 * and together.
 *
 * First every key alone (kb_topology_numbers()). Most gain nothing alone, and some of those only
 * because another one stands behind: links in series of the same bandwidth. So all pairs are run if
 * they take at most PAIRS_EVENTS events, counted by those of the first run, or if --all-pairs asks
 * for it. Events and not seconds: what is printed must not depend on how quick the host is.
 *
 *   1. candidates: the keys that gain most alone, and those whose links were busiest
 * (why/series.c); a link with less than 1 / factor of the largest utilization is none;
 *   2. all pairs, or those of candidates, and all candidates together;
 *   3. from the best pair on, the key that gains most is added, as long as it gains PCT_LEAST of
 * the time more: any key if all pairs were run, else a candidate. If all candidates together gain
 *      more than that by PCT_LEAST, keys are taken away from them, as long as less than PCT_LEAST
 * is lost.
 *
 * A search that is not whole can miss the best pair: a kernel may wait for two links in series for
 * a part of its time, in which they are the busiest, and not on the whole. Then what is printed
 * says how many pairs were run. Sets of three and more are never all run.
 *
 * Runs of a step are done in parallel and taken in order, and no step depends on anything else, so
 * any number of threads prints the same bytes. Sets that gain no more than a part of them are not
 * printed. A machine that cannot be, or on which the run fails, has a row that says why. Where
 * memory or a file could not be had the machine is not to blame, and the search ends with that
 * message.
 *
 * The elasticity e is that of time ~ key^-e: 1 if twice the bandwidth halves the time, 0 if it does
 * nothing. So it is per cent of time per per cent of the key, for small changes and large ones.
 *
 * Example, `broadcast` on cube8, by 2: cube.xbar.pe_gbs and cube.hbm.bw_gbs gain nothing alone, and
 * are busy for 15 % of the time only. Together they gain 17 %, the most of all 946 pairs.
 */
#include "cli/out/memory.h"
#include "cli/out/stop.h"
#include "cli/plan/plan.h"
#include "cli/rows/deadlock_rows.h"
#include "cli/why/search.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    GAINERS_MAX = 4,         /* candidates because of what they gain alone, at most */
    PAIRS_EVENTS = 50000000, /* of all pairs, at most: about 10 s of a processor, up to 40 */
};
static const double PCT_LEAST = 1;

/* -- the variants --------------------------------------------------------------------------- */

static void add_number(void *arg, const kb_better *number)
{
    struct search *s = arg;
    struct number *n;

    s->numbers = memory_room(s->numbers, s->n_numbers, &s->numbers_room, sizeof *s->numbers);
    n = &s->numbers[s->n_numbers++];
    *n = (struct number){
        .value = number->value, .better_value = number->better_value, .is_whole = number->whole};
    snprintf(n->name, sizeof n->name, "%s", number->name);
}

static int by_number(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return x < y ? -1 : x > y;
}

static size_t find_variant(const struct search *s, const size_t *numbers, size_t n)
{
    for (size_t v = 0; v < s->n_variants; v++)
        if (s->variants[v].n == n &&
            memcmp(s->variants[v].numbers, numbers, n * sizeof *numbers) == 0)
            return v;
    return SIZE_MAX;
}

/* Adds a set of numbers, unless it is there. */
static void add_variant(struct search *s, const size_t *numbers, size_t n)
{
    struct variant v = {.n = n};

    for (size_t i = 0; i < n; i++)
        v.numbers[i] = numbers[i];
    qsort(v.numbers, n, sizeof *v.numbers, by_number);
    if (find_variant(s, v.numbers, n) != SIZE_MAX)
        return;
    s->variants = memory_room(s->variants, s->n_variants, &s->variants_room, sizeof *s->variants);
    s->variants[s->n_variants++] = v;
}

/* -- one run -------------------------------------------------------------------------------- */

/* The first line of `text`, as it is told in a row. */
static char *first_line(const char *text)
{
    return memory_part(text, strcspn(text, "\n"));
}

/* Could the same run go well the next time, or is nothing certain any more? */
static bool ends_search(const struct outcome *o)
{
    enum exit_code code = o->code ? o->code : cmd_code_of(o->status);

    return code == EXIT_SYSTEM || code == EXIT_INTERNAL || o->status == KB_KERNEL_CRASHED;
}

/* The run of a better machine failed: that is said in its row, and the search goes on. */
static void keep_mistake(struct variant *v)
{
    struct outcome *o = &v->outcome;

    if (o->stuck)
        v->mistake = first_line("deadlock");
    else if (o->status || o->code)
        v->mistake = first_line(*o->why.text ? o->why.text : "the run fails");
    kb_bench_free(o->stuck);
    o->stuck = NULL;
}

static void do_variant(void *arg, unsigned thread, uint64_t i)
{
    struct search *s = arg;
    struct variant *v = &s->variants[s->begin + i];
    const char *names[SET_MAX];
    const kb_topology *topo = NULL;
    char *messages = NULL;

    (void)thread;
    for (size_t k = 0; k < v->n; k++)
        names[k] = s->numbers[v->numbers[k]].name;
    kb_status status = kb_topology_better(s->cli->topo, names, v->n, s->factor, &topo, &messages);
    if (status == KB_NO_MEMORY)
        memory_lacks();
    if (status) {
        v->mistake = first_line(messages ? messages : "there is no such machine");
    } else {
        if (v->n == 1)
            series_key(&s->series, topo, &s->numbers[v->numbers[0]].links);
        rerun_again(s->rerun, topo, 0, &v->outcome);
        if (!ends_search(&v->outcome))
            keep_mistake(v);
    }
    kb_topology_free(topo);
    free(messages);
}

static bool give_variant(void *arg, uint64_t i)
{
    struct search *s = arg;
    const struct variant *v = &s->variants[s->begin + i];

    if (ends_search(&v->outcome))
        s->failed = &v->outcome;
    if (s->failed || (!v->outcome.ended && !v->mistake))
        return false; /* or interrupted */
    s->n_given++;
    return true;
}

static uint64_t n_given(void *arg)
{
    return ((const struct search *)arg)->n_given;
}

static bool is_final(void *arg, uint64_t i)
{
    const struct search *s = arg;
    const struct variant *v = &s->variants[s->begin + i];

    return (v->outcome.ended || v->mistake) && !ends_search(&v->outcome);
}

/* Of a key alone, the links that it stands for, too. */
static void pack_variant(void *arg, uint64_t i, struct packed *to)
{
    const struct search *s = arg;
    const struct variant *v = &s->variants[s->begin + i];
    const struct series_key *links = v->n == 1 ? &s->numbers[v->numbers[0]].links : NULL;
    bool has = links && links->has;

    rerun_pack(&v->outcome, to);
    packed_put_text(to, v->mistake);
    PACKED_PUT(to, has);
    if (has) {
        PACKED_PUT(to, links->busiest_pct);
        packed_put(to, links->has, s->series.n);
    }
}

static void unpack_variant(void *arg, uint64_t i, struct packed *from)
{
    struct search *s = arg;
    struct variant *v = &s->variants[s->begin + i];
    bool has;

    rerun_unpack(&v->outcome, from);
    v->mistake = packed_take_text(from);
    PACKED_TAKE(from, has);
    if (has) {
        struct series_key *links = &s->numbers[v->numbers[0]].links;

        PACKED_TAKE(from, links->busiest_pct);
        links->has = memory_new(s->series.n + 1, 1);
        packed_take(from, links->has, s->series.n);
    }
}

/* Runs the variants from `begin` on. */
static enum exit_code run_step(struct search *s, size_t begin)
{
    struct plan runs = {.cli = s->cli,
                        .things = "runs",
                        .n = s->n_variants - begin,
                        .threads = plan_threads(s->cli),
                        .window = s->n_variants - begin + 1,
                        .first = begin,
                        .work = do_variant,
                        .give = give_variant,
                        .is_final = is_final,
                        .pack = pack_variant,
                        .unpack = unpack_variant,
                        .total = s->n_variants,
                        .done = n_given,
                        .arg = s};

    s->begin = begin;
    if (begin == s->n_variants || stop_asked())
        return EXIT_OK;
    enum exit_code code = plan_run(&runs);
    if (code)
        return code;
    return s->failed ? rerun_code(s->rerun, s->failed) : EXIT_OK;
}

/* -- the search ----------------------------------------------------------------------------- */

static bool is_candidate(const struct search *s, size_t number)
{
    for (size_t i = 0; i < s->n_candidates; i++)
        if (s->candidates[i] == number)
            return true;
    return false;
}

/* Does a candidate gain just as much? Each side of a MAC array gains what the clock gains. */
static bool has_twin(const struct search *s, size_t number)
{
    for (size_t i = 0; i < s->n_candidates; i++)
        if (search_judged_fs(s, 1 + s->candidates[i]) == search_judged_fs(s, 1 + number))
            return true;
    return false;
}

/* Are all pairs run? */
static bool is_whole(const struct search *s, const struct outcome *first)
{
    return s->cli->opts.all_pairs || search_n_pairs(s) * first->events <= PAIRS_EVENTS;
}

/* The number that `value` is largest of, at least `least`, and no candidate; SIZE_MAX: none. */
static size_t next_candidate(const struct search *s, double (*value)(const struct search *, size_t),
                             double least, bool twins)
{
    size_t best = SIZE_MAX;

    for (size_t i = 0; i < s->n_numbers; i++)
        if (is_known(s, 1 + i) && !is_candidate(s, i) && (twins || !has_twin(s, i)) &&
            value(s, i) >= least && (best == SIZE_MAX || value(s, i) > value(s, best)))
            best = i;
    return best;
}

static double busiest(const struct search *s, size_t number)
{
    return s->numbers[number].links.busiest_pct;
}

static void add_candidates(struct search *s, double (*value)(const struct search *, size_t),
                           double least, bool twins, size_t most)
{
    size_t next;

    while (s->n_candidates < most && (next = next_candidate(s, value, least, twins)) != SIZE_MAX)
        s->candidates[s->n_candidates++] = next;
}

static void choose_candidates(struct search *s)
{
    double most = 0;

    for (size_t i = 0; i < s->n_numbers; i++)
        most = busiest(s, i) > most ? busiest(s, i) : most;
    add_candidates(s, gain_alone, PCT_LEAST, false, GAINERS_MAX);
    add_candidates(s, gain_alone, PCT_LEAST, true, GAINERS_MAX);
    add_candidates(s, busiest, fmax(most / s->factor, 1e-9), true, CANDIDATES_MAX);
}

/* Does it take part in sets? */
static bool is_tried(const struct search *s, size_t number)
{
    return s->whole || is_candidate(s, number);
}

static enum exit_code run_pairs(struct search *s)
{
    size_t begin = s->n_variants;

    for (size_t a = 0; a < s->n_numbers; a++)
        for (size_t b = 0; b < a; b++)
            if (is_tried(s, a) && is_tried(s, b))
                add_variant(s, (const size_t[]){a, b}, 2);
    if (s->n_candidates > 2)
        add_variant(s, s->candidates, s->n_candidates);
    return run_step(s, begin);
}

/* The variant of `n` numbers that gains most; SIZE_MAX: none. */
static size_t best_of_size(const struct search *s, size_t n)
{
    size_t best = SIZE_MAX;

    for (size_t v = 1; v < s->n_variants; v++)
        if (s->variants[v].n == n && is_known(s, v) &&
            (best == SIZE_MAX || gain_pct(s, v) > gain_pct(s, best)))
            best = v;
    return best;
}

/* Adds keys one by one; `*best` is the set so far. */
static enum exit_code grow(struct search *s, size_t *best)
{
    enum exit_code code = EXIT_OK;

    while (!code && !stop_asked() && s->variants[*best].n < SET_MAX) {
        struct variant from = s->variants[*best];
        size_t begin = s->n_variants, next;

        for (size_t i = 0; i < s->n_numbers; i++) {
            from.numbers[from.n] = i;
            if (is_tried(s, i) && !variant_has(&s->variants[*best], i))
                add_variant(s, from.numbers, from.n + 1);
        }
        code = run_step(s, begin);
        next = best_of_size(s, from.n + 1);
        if (next == SIZE_MAX || gain_pct(s, next) < gain_pct(s, *best) + PCT_LEAST)
            break;
        *best = next;
    }
    return code;
}

/* Takes numbers away from all candidates, if all gain more than `best` does. */
static enum exit_code shrink(struct search *s, size_t best)
{
    size_t all[CANDIDATES_MAX], at;
    enum exit_code code = EXIT_OK;

    memcpy(all, s->candidates, sizeof all);
    qsort(all, s->n_candidates, sizeof *all, by_number);
    at = find_variant(s, all, s->n_candidates);
    while (!code && !stop_asked() && at != SIZE_MAX && s->variants[at].n > 2 && is_known(s, at) &&
           gain_pct(s, at) >= gain_pct(s, best) + PCT_LEAST) {
        struct variant from = s->variants[at];
        size_t begin = s->n_variants, next = SIZE_MAX;

        for (size_t out = 0; out < from.n; out++) {
            size_t less[SET_MAX], n = 0;

            for (size_t k = 0; k < from.n; k++)
                if (k != out)
                    less[n++] = from.numbers[k];
            add_variant(s, less, n);
        }
        code = run_step(s, begin);
        next = best_of_size(s, from.n - 1);
        if (next == SIZE_MAX || gain_pct(s, next) < gain_pct(s, at) - PCT_LEAST)
            break;
        at = next;
    }
    return code;
}

static enum exit_code search_sets(struct search *s)
{
    enum exit_code code;
    size_t best;

    choose_candidates(s);
    s->whole = is_whole(s, &s->variants[0].outcome);
    code = run_pairs(s);
    best = best_of_size(s, 2);
    if (code || best == SIZE_MAX || stop_asked())
        return code;
    code = grow(s, &best);
    return code ? code : shrink(s, best);
}

static void look(void *arg, const kb_sim *sim)
{
    struct search *s = arg;

    s->looked = series_look(&s->series, sim);
}

static enum exit_code run_all(struct search *s)
{
    enum exit_code code;

    add_variant(s, NULL, 0);
    rerun_first(s->rerun, &s->variants[0].outcome);
    code = rerun_code(s->rerun, &s->variants[0].outcome);
    if (!code && s->looked)
        code = cmd_fail(s->cli, s->looked, NULL);
    if (code || !s->variants[0].outcome.ended)
        return code;
    s->n_given = 1;
    for (size_t i = 0; i < s->n_numbers; i++)
        add_variant(s, &i, 1);
    code = run_step(s, 1);
    if (!code && !stop_asked())
        code = search_sets(s);
    return code;
}

/* -- the command ---------------------------------------------------------------------------- */

/* A table says it below, on a page or on a terminal. */
static void say_missing(const struct search *s)
{
    char text[SEARCH_PAIRS_BYTES];

    if (!cmd_shows_warning(s->cli) && !s->cli->opts.quiet && !stop_asked() &&
        search_pairs_run(s) < search_n_pairs(s))
        cmd_note(s->cli, "%s", search_tell_pairs(s, text));
}

static enum exit_code keys_into(void *arg, struct sink *sink)
{
    struct search *s = arg;
    enum exit_code code = run_all(s);

    stop_heard();
    if (code == EXIT_DEADLOCK)
        return deadlock_rows_print(s->cli, kb_bench_sim(s->variants[0].outcome.stuck),
                                   &s->variants[0].outcome.why, sink);
    if (code && code != EXIT_INTERRUPTED)
        return code;
    search_print(s, sink);
    say_missing(s);
    rerun_say_unsteady(s->rerun, &s->variants[0].outcome);
    if (!stop_asked())
        return EXIT_OK;
    cmd_note(s->cli, "%s: %zu runs complete", stop_word(), s->n_given);
    return EXIT_INTERRUPTED;
}

static void free_search(struct search *s)
{
    for (size_t i = 0; i < s->n_numbers; i++)
        free(s->numbers[i].links.has);
    for (size_t v = 0; v < s->n_variants; v++) {
        kb_bench_free(s->variants[v].outcome.stuck);
        free(s->variants[v].mistake);
    }
    free(s->numbers);
    free(s->variants);
    series_free(&s->series);
    free(s);
}

/* The first run, each number alone, pairs, and sets one larger or smaller: those with a number more
 * than the best so far, all candidates, and those with a number less. */
static uint64_t most_runs(void *arg, const struct outcome *first)
{
    const struct search *s = arg;
    const uint64_t n = CANDIDATES_MAX, pairs = n * (n - 1) / 2;
    uint64_t larger = (SET_MAX - 2) * s->n_numbers;

    if (s->n_numbers < 2)
        return 1 + s->n_numbers;
    if (!is_whole(s, first))
        return 1 + s->n_numbers + 1 + 3 * pairs;
    return 1 + s->n_numbers + search_n_pairs(s) + larger + 1 + pairs;
}

enum exit_code why_keys(struct rerun *r, double factor)
{
    struct search *s = memory_new(1, sizeof *s);
    enum exit_code code;
    kb_status status;

    s->rerun = r;
    s->cli = r->cli;
    s->factor = factor;
    series_begin(&s->series, r->cli->topo);
    status = kb_topology_numbers(r->cli->topo, factor, add_number, s);
    r->look = look;
    r->arg = s;
    if (status == KB_BAD_REQUEST)
        code =
            cmd_say(r->cli, EXIT_USAGE, "--by key needs a kernbench that was built with libyaml");
    else if (status)
        code = cmd_fail(r->cli, status, NULL);
    else if (r->cli->opts.dry_run)
        code = rerun_estimate(r, most_runs, s);
    else
        code = cmd_output(r->cli, keys_into, s);
    if (!stop_leaves()) /* a thread that was left behind still reads it */
        free_search(s);
    return code;
}
