/*
 * search_rows.c -- `why --by key`: its table, and what it says in words.
 *
 * Rows are the machine as it is, then all sets by gain. Sets that gain no more than a part of them
 * are not printed. One pair is called the best only if all pairs were run. For people a key without
 * effect is only named below the table; a program finds a row of it.
 */
#include "base/text.h"
#include "cli/out/memory.h"
#include "cli/why/search.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SET_BYTES = SET_MAX * NAME_BYTES,
    NOTE_BYTES = 8192,
    LINE_BYTES = 118, /* of a line of the note */
    PAIRS_TOLD = 3,   /* at most, in words */
};
static const double PCT_LEAST = 1, PCT_SHOWN = 0.05;

struct key_row {
    char better[SET_BYTES];
    struct cell from, to, saved, elasticity;
    int64_t end_fs, judged_fs, p99_fs, saved_fs;
    double accepted_gbs, speedup;
    const char *failed;
};

struct table {
    const struct search *search;
    size_t *order; /* owned: of rows */
    size_t n_rows;
    struct column columns[ROW_CELLS_MAX];
    size_t n_columns;
    struct key_row shown; /* being printed */
};

/* -- the table ------------------------------------------------------------------------------ */

/* Does it gain no more than another variant, whose numbers are a part of its own? */
static bool is_beaten(const struct search *s, size_t v)
{
    for (size_t part = 1; part < s->n_given; part++) {
        bool inside = s->variants[part].n < s->variants[v].n && is_known(s, part);

        for (size_t k = 0; inside && k < s->variants[part].n; k++)
            inside = variant_has(&s->variants[v], s->variants[part].numbers[k]);
        if (inside && gain_pct(s, part) + PCT_SHOWN > gain_pct(s, v))
            return true;
    }
    return false;
}

static bool has_effect(const struct search *s, size_t v)
{
    return search_judged_fs(s, v) != search_judged_fs(s, 0) ||
           s->variants[v].outcome.p99_fs != s->variants[0].outcome.p99_fs;
}

/* Do its numbers gain more together than the sum of what each gains alone? */
static bool is_more_than_its_parts(const struct search *s, size_t v)
{
    double sum = 0;

    for (size_t k = 0; k < s->variants[v].n; k++)
        sum += fmax(gain_alone(s, s->variants[v].numbers[k]), 0);
    return is_known(s, v) && s->variants[v].n > 1 && gain_pct(s, v) >= sum + PCT_LEAST;
}

/* Does no other set of this size gain more? Of equal ones the first. */
static bool is_best_of_size(const struct search *s, size_t v)
{
    for (size_t other = 1; other < s->n_given; other++)
        if (s->variants[other].n == s->variants[v].n && is_known(s, other) &&
            (gain_pct(s, other) > gain_pct(s, v) ||
             (other < v && search_judged_fs(s, other) == search_judged_fs(s, v))))
            return false;
    return true;
}

/*
 * Of sets the best of each size, and pairs that hide behind each other. A key that does nothing is
 * named below the table for people; for programs it has a row.
 */
static bool is_shown(const struct search *s, size_t v)
{
    if (!is_known(s, v))
        return s->variants[v].mistake && s->variants[v].n == 1;
    if (s->variants[v].n < 2)
        return v == 0 || has_effect(s, v) || s->cli->opts.format != FORMAT_TABLE;
    if (!is_best_of_size(s, v) && !(s->variants[v].n == 2 && is_more_than_its_parts(s, v)))
        return false;
    return gain_pct(s, v) >= PCT_SHOWN && !is_beaten(s, v);
}

/* Is row `a` before `b`? The first run, then by gain, then those that failed. */
static bool is_before(const struct search *s, size_t a, size_t b)
{
    if (a == 0 || b == 0)
        return a == 0;
    if (is_known(s, a) != is_known(s, b))
        return is_known(s, a);
    return is_known(s, a) && search_judged_fs(s, a) < search_judged_fs(s, b);
}

static void rank(struct table *t)
{
    const struct search *s = t->search;

    t->order = memory_new(s->n_variants + 1, sizeof *t->order);
    for (size_t v = 0; v < s->n_given; v++) {
        size_t at = t->n_rows;

        if (!is_shown(s, v))
            continue;
        for (; at > 0 && is_before(s, v, t->order[at - 1]); at--)
            t->order[at] = t->order[at - 1];
        t->order[at] = v;
        t->n_rows++;
    }
}

enum {
    OF_BENCH = 1 << SCENARIO_BENCH,
    OF_FILE = 1 << SCENARIO_FILE,
    OF_LOAD = 1 << SCENARIO_LOAD,
    OF_LLM = 1 << SCENARIO_LLM,
};

/* Columns, each with the scenarios that have it. */
static const struct {
    unsigned scenarios;
    struct column column;
} key_columns[] = {
    {~0u, COLUMN("better", CELL_TEXT, struct key_row, better)},
    {~0u, COLUMN("from", CELL_DECIMAL, struct key_row, from)},
    {~0u, COLUMN("to", CELL_DECIMAL, struct key_row, to)},
    {OF_BENCH | OF_FILE | OF_LOAD, COLUMN("end_ns", CELL_NS, struct key_row, end_fs)},
    {OF_BENCH, COLUMN("kernel_ns", CELL_NS, struct key_row, judged_fs)},
    {OF_LLM, COLUMN("time_ns", CELL_NS, struct key_row, judged_fs)},
    {OF_FILE | OF_LOAD, COLUMN("mean_ns", CELL_NS, struct key_row, judged_fs)},
    {OF_FILE | OF_LOAD, COLUMN("p99_ns", CELL_NS, struct key_row, p99_fs)},
    {OF_LOAD, COLUMN("accepted_gbs", CELL_FRACTION, struct key_row, accepted_gbs)},
    {~0u, COLUMN("saved_ns", CELL_NS, struct key_row, saved_fs)},
    {~0u, COLUMN("saved_pct", CELL_PERCENT, struct key_row, saved)},
    {~0u, COLUMN_IF("speedup", CELL_FRACTION, struct key_row, speedup, judged_fs)},
    {~0u, COLUMN("elasticity", CELL_FRACTION, struct key_row, elasticity)},
    {~0u, COLUMN("failed", CELL_TEXT, struct key_row, failed)},
};

static void set_columns(struct table *t)
{
    const struct search *s = t->search;
    bool any_failed = s->cli->opts.format != FORMAT_TABLE;

    for (size_t i = 0; i < t->n_rows; i++)
        any_failed = any_failed || s->variants[t->order[i]].mistake;
    for (size_t i = 0; i < sizeof key_columns / sizeof *key_columns; i++)
        if (key_columns[i].scenarios >> s->rerun->scenario & 1 &&
            (any_failed || strcmp(key_columns[i].column.name, "failed") != 0))
            t->columns[t->n_columns++] = key_columns[i].column;
}

/* "cube.noc.bw_gbs + sip.d2d.bw_gbs", or with " and " for a sentence. */
static void name_set(const struct search *s, size_t v, const char *between, char *name, size_t size)
{
    size_t at = 0;

    snprintf(name, size, "none");
    for (size_t k = 0; k < s->variants[v].n; k++)
        at += (size_t)snprintf(name + at, size - at, "%s%s", k ? between : "",
                               s->numbers[s->variants[v].numbers[k]].name);
}

/* How much better the numbers are: of one its own ratio, as whole numbers and ratios are rounded.
 */
static double ratio_of(const struct search *s, const struct variant *v)
{
    const struct number *n = &s->numbers[v->numbers[0]];

    if (v->n > 1)
        return s->factor;
    return n->better_value > n->value ? n->better_value / n->value : n->value / n->better_value;
}

static void fill_times(const struct search *s, size_t v, struct key_row *row)
{
    const struct outcome *o = &s->variants[v].outcome;
    int64_t before_fs = search_judged_fs(s, 0);

    row->end_fs = o->end_fs;
    row->judged_fs = search_judged_fs(s, v);
    row->p99_fs = o->p99_fs;
    row->accepted_gbs = o->accepted_gbs;
    row->saved_fs = before_fs - row->judged_fs;
    row->speedup = row->judged_fs ? (double)before_fs / (double)row->judged_fs : 0;
    row->saved = before_fs ? cell_percent(gain_pct(s, v)) : cell_none();
    row->elasticity = v && row->speedup > 0
                          ? cell_fraction(log(row->speedup) / log(ratio_of(s, &s->variants[v])))
                          : cell_none();
}

/* A value of the number, as --set takes it. */
static struct cell value_cell(const struct number *n, double value)
{
    return n->is_whole ? cell_count((uint64_t)value) : cell_decimal(value);
}

static bool key_row(void *arg, uint64_t i, struct cell *cells)
{
    struct table *t = arg;
    const struct search *s = t->search;
    size_t v = t->order[i];
    struct key_row *row = &t->shown;

    *row = (struct key_row){.from = cell_none(),
                            .to = cell_none(),
                            .saved = cell_none(),
                            .elasticity = cell_none(),
                            .failed = s->variants[v].mistake};
    name_set(s, v, " + ", row->better, sizeof row->better);
    if (s->variants[v].n == 1) {
        const struct number *n = &s->numbers[s->variants[v].numbers[0]];

        row->from = value_cell(n, n->value);
        row->to = value_cell(n, n->better_value);
    }
    if (is_known(s, v))
        fill_times(s, v, row);
    record_cells(t->columns, t->n_columns, row, cells);
    for (size_t c = 0; !is_known(s, v) && c < t->n_columns; c++)
        if (cells[c].type == CELL_NS || cells[c].type == CELL_FRACTION)
            cells[c] = cell_none();
    return true;
}

/* -- in words ------------------------------------------------------------------------------- */

struct note {
    char text[NOTE_BYTES];
    size_t len, line; /* where the line begins */
};

/* Adds words; a line that would be too long is continued on the next. */
static void tell(struct note *n, const char *words)
{
    size_t len = strlen(words);

    if (n->len + len + 4 >= NOTE_BYTES)
        return;
    if (n->len - n->line + len > LINE_BYTES && n->len > n->line) {
        n->len -= n->text[n->len - 1] == ' ';
        n->line = n->len + 1;
        n->len += (size_t)sprintf(n->text + n->len, "\n  ");
    }
    memcpy(n->text + n->len, words, len + 1);
    n->len += len;
}

/* A sentence, which may go on in the next line at any blank. */
static void tell_words(struct note *n, const char *words)
{
    char word[LINE_BYTES];

    while (*words) {
        size_t len = strcspn(words, " ");

        len += words[len] == ' ';
        snprintf(word, sizeof word, "%.*s", (int)len, words);
        tell(n, word);
        words += len;
    }
}

static void end_line(struct note *n)
{
    if (n->len + 2 < NOTE_BYTES)
        n->text[n->len++] = '\n';
    n->text[n->len] = '\0';
    n->line = n->len;
}

/* Does each of its numbers follow another one on a way? `place`: the first that do. */
static bool is_in_series(const struct search *s, const struct variant *set,
                         char place[SERIES_NAME_BYTES])
{
    bool follows[SET_MAX] = {false}, any = false;
    char name[SERIES_NAME_BYTES];

    for (size_t a = 0; a < set->n; a++)
        for (size_t b = 0; b < a; b++) {
            if (!series_meet(&s->series, &s->numbers[set->numbers[a]].links,
                             &s->numbers[set->numbers[b]].links, name))
                continue;
            if (!any)
                memcpy(place, name, sizeof name);
            follows[a] = follows[b] = any = true;
        }
    for (size_t k = 0; k < set->n; k++)
        any = any && follows[k];
    return any;
}

/* "cube.noc.bw_gbs and sip.d2d.bw_gbs together: 25.5 %; either alone at most 2.0 %: ..." */
static void tell_set(const struct search *s, size_t v, struct note *n)
{
    const struct variant *set = &s->variants[v];
    char text[SET_BYTES], place[SERIES_NAME_BYTES];
    bool in_series = is_in_series(s, set, place);
    double most = 0;

    for (size_t k = 0; k < set->n; k++)
        most = fmax(most, gain_alone(s, set->numbers[k]));
    for (size_t k = 0; k < set->n; k++) {
        const char *end = k + 1 == set->n ? " " : k + 2 == set->n ? " and " : ", ";

        snprintf(text, sizeof text, "%s%s", s->numbers[set->numbers[k]].name, end);
        tell(n, text);
    }
    text_format(text, sizeof text, "together: %.1f %%; ", gain_pct(s, v));
    tell(n, text);
    text_format(text, sizeof text, "%s alone at most %.1f %%%s", set->n == 2 ? "either" : "each",
                most, in_series ? ": " : "");
    tell(n, text);
    if (in_series) {
        snprintf(text, sizeof text, "they are in series on %s", place);
        tell(n, text);
    }
    end_line(n);
}

/* The set of `size` numbers that gains most, and more than its parts, behind `last` in the table
 * (0: in all of it); SIZE_MAX: none. */
static size_t next_set(const struct search *s, size_t size, size_t last)
{
    size_t best = SIZE_MAX;

    for (size_t v = 1; v < s->n_given; v++)
        if (s->variants[v].n == size && is_before(s, last, v) && is_more_than_its_parts(s, v) &&
            is_shown(s, v) && (best == SIZE_MAX || is_before(s, v, best)))
            best = v;
    return best;
}

uint64_t search_pairs_run(const struct search *s)
{
    uint64_t n = 0;

    for (size_t v = 1; v < s->n_given; v++)
        n += s->variants[v].n == 2;
    return n;
}

const char *search_tell_pairs(const struct search *s, char text[SEARCH_PAIRS_BYTES])
{
    unsigned long long run = search_pairs_run(s), all = search_n_pairs(s);

    if (run == all)
        snprintf(text, SEARCH_PAIRS_BYTES, "all %llu pairs of keys were run", all);
    else
        snprintf(text, SEARCH_PAIRS_BYTES,
                 "%llu of %llu pairs of keys were run%s: another pair may gain more%s", run, all,
                 s->whole ? "" : ", of those that gain most alone or whose links were busiest",
                 s->whole ? "" : " (--all-pairs)");
    return text;
}

/* The pair that gains most, if it gains anything; SIZE_MAX: none does. */
static size_t best_pair(const struct search *s)
{
    size_t best = SIZE_MAX;

    for (size_t v = 1; v < s->n_given; v++)
        if (s->variants[v].n == 2 && gain_pct(s, v) >= PCT_SHOWN &&
            (best == SIZE_MAX || gain_pct(s, v) > gain_pct(s, best)))
            best = v;
    return best;
}

/* How many pairs were run; only of all of them one is the best. */
static void tell_pairs(const struct search *s, struct note *n)
{
    char text[SET_BYTES], name[SET_BYTES];
    size_t best = best_pair(s);

    if (search_n_pairs(s) == 0)
        return;
    tell_words(n, search_tell_pairs(s, text));
    if (search_pairs_run(s) == search_n_pairs(s) && best != SIZE_MAX) {
        name_set(s, best, " and ", name, sizeof name);
        text_format(text, sizeof text, ": %s gain most, %.1f %%", name, gain_pct(s, best));
        tell(n, text);
    }
    end_line(n);
}

/* Of sets that gain more than their parts some pairs, and the largest. */
static void tell_sets(const struct search *s, struct note *n)
{
    size_t most = SIZE_MAX, pair = 0;

    for (size_t i = 0; i < PAIRS_TOLD && (pair = next_set(s, 2, pair)) != SIZE_MAX; i++)
        tell_set(s, pair, n);
    for (size_t size = 3; size <= SET_MAX; size++)
        most = next_set(s, size, 0) == SIZE_MAX ? most : next_set(s, size, 0);
    if (most != SIZE_MAX)
        tell_set(s, most, n);
}

static void tell_best(const struct search *s, struct note *n)
{
    size_t alone = SIZE_MAX;
    char text[NAME_BYTES + 64];

    for (size_t i = 0; 1 + i < s->n_given && i < s->n_numbers; i++)
        if (gain_alone(s, i) > 0 && (alone == SIZE_MAX || gain_alone(s, i) > gain_alone(s, alone)))
            alone = i;
    if (alone != SIZE_MAX) {
        text_format(text, sizeof text, "alone %s gains most: %.1f %%", s->numbers[alone].name,
                    gain_alone(s, alone));
        tell(n, text);
        end_line(n);
    }
    tell_pairs(s, n);
    tell_sets(s, n);
}

static bool is_without_effect(const struct search *s, size_t i)
{
    return 1 + i < s->n_given && is_known(s, 1 + i) && !has_effect(s, 1 + i);
}

/* A name and its comma are one piece, so that no line begins with a comma. */
static void tell_without_effect(const struct search *s, struct note *n)
{
    char text[NAME_BYTES + 4];
    size_t left = 0;

    for (size_t i = 0; i < s->n_numbers; i++)
        left += is_without_effect(s, i);
    if (!left)
        return;
    tell(n, "without effect alone: ");
    for (size_t i = 0; i < s->n_numbers; i++)
        if (is_without_effect(s, i)) {
            snprintf(text, sizeof text, "%s%s", s->numbers[i].name, --left ? ", " : "");
            tell(n, text);
        }
    end_line(n);
}

static void make_note(const struct search *s, struct note *n)
{
    char text[256];

    *n = (struct note){.len = 0};
    tell_without_effect(s, n);
    text_format(text, sizeof text, "each %.15g times better; ", s->factor);
    tell(n, text);
    rerun_note(s->rerun, text, sizeof text);
    tell(n, text);
    end_line(n);
    tell_best(s, n);
    n->text[n->len ? n->len - 1 : 0] = '\0'; /* the last end of a line */
}

void search_print(const struct search *s, struct sink *sink)
{
    struct table *t = memory_new(1, sizeof *t);
    struct note *note = memory_new(1, sizeof *note);
    struct rows rows = {.columns = t->columns, .row = key_row, .arg = t};

    t->search = s;
    rank(t);
    set_columns(t);
    make_note(s, note);
    rows.n_columns = t->n_columns;
    rows.n_rows = t->n_rows;
    rows.note = t->n_rows > 0 ? note->text : NULL;
    cmd_write(s->cli, &rows, sink);
    sink_flush(sink);
    free(note);
    free(t->order);
    free(t);
}
