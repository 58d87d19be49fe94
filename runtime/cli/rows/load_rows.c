/*
 * load_rows.c -- the rows of `load`: throughput and latency of each rate, and where it saturates.
 *
 * Saturation: a rate is saturated if latencies grow until the end or less than 97 % of the offered
 * load was accepted. saturation_rate is the smallest of them, the same in all rows; the line below
 * the table also tells the largest rate below it. Rates may be given in any order.
 *
 * zero_load_ns is what the measured transactions would have taken without any other: the mean of
 * wire, overhead and drain. mean_ns is that plus the waits.
 *
 * Columns for waits come from KB_WAITS, except the wait for an engine of an M_CPU: only
 * transactions of hosts have it, and traffic is of PEs.
 */
#include "cli/rows/load_rows.h"
#include "base/text.h"
#include "cli/in/transactions.h"
#include <string.h>

enum { TXNS_TO_TELL = 1000 }; /* less are no load */

static const double saturated_below = 0.97; /* of what was offered */

/* -- saturation ----------------------------------------------------------------------------- */

bool load_is_saturated(const struct point *point)
{
    const kb_traffic_result *r = &point->result;

    return r->growing || r->accepted_gbs < saturated_below * r->offered_gbs;
}

char *load_put_rate(char *to, uint64_t millionths)
{
    char *end = text_put_ns(to, (int64_t)millionths); /* as fs are millionths of a ns */

    while (end[-1] == '0')
        end--;
    return end[-1] == '.' ? end - 1 : end;
}

/* The smallest rate that is saturated, and the largest below it; SIZE_MAX: none. */
static void find_saturation(const struct load_points *l, size_t *saturated, size_t *below)
{
    const uint64_t *rate = l->asked.rates.value;

    *saturated = *below = SIZE_MAX;
    for (size_t i = 0; i < l->n; i++)
        if (load_is_saturated(&l->point[i]) &&
            (*saturated == SIZE_MAX || rate[i] < rate[*saturated]))
            *saturated = i;
    for (size_t i = 0; i < l->n; i++)
        if ((*saturated == SIZE_MAX || rate[i] < rate[*saturated]) &&
            (*below == SIZE_MAX || rate[i] > rate[*below]))
            *below = i;
}

/* Too few transactions are no load. *shown: the largest rate that is not saturated, else the
 * smallest. */
static bool can_tell(const struct load_points *l, size_t saturated, size_t below, size_t *shown)
{
    *shown = below == SIZE_MAX ? saturated : below;
    return l->n > 0 && l->point[*shown].result.count >= TXNS_TO_TELL;
}

/* -- rows ----------------------------------------------------------------------------------- */

/* One row. What is measured is empty if no transaction counts. */
struct load_row {
    const char *pattern;
    uint64_t nbytes;
    const char *op;
    double rate;
    kb_traffic_result result;
    struct cell ci95;
    const char *memory, *link; /* busiest; NULL: none */
    double memory_pct, link_pct;
    int64_t zero_load_fs;
    bool saturated;
    struct cell saturation_rate;
};

#define MEASURED(NAME, member)                                                                     \
    COLUMN_IF(NAME, CELL_NS, struct load_row, result.member, result.count)
#define WAIT_COLUMN(NAME, name) MEASURED("queue_" #name "_ns", wait_fs[KB_WAIT_##NAME]),

static const struct column columns[] = {
    COLUMN("pattern", CELL_TEXT, struct load_row, pattern),
    COLUMN("nbytes", CELL_COUNT, struct load_row, nbytes),
    COLUMN("op", CELL_TEXT, struct load_row, op),
    COLUMN("rate", CELL_DECIMAL, struct load_row, rate),
    COLUMN("offered_gbs", CELL_FRACTION, struct load_row, result.offered_gbs),
    COLUMN("accepted_gbs", CELL_FRACTION, struct load_row, result.accepted_gbs),
    COLUMN("count", CELL_COUNT, struct load_row, result.count),
    MEASURED("mean_ns", mean_fs),
    COLUMN_IF("ci95_ns", CELL_NS, struct load_row, ci95, result.count),
    MEASURED("p50_ns", p50_fs),
    MEASURED("p99_ns", p99_fs),
    MEASURED("p999_ns", p999_fs),
    MEASURED("max_ns", max_fs),
    MEASURED("warmup_ns", warmup_fs),
    COLUMN("steady", CELL_COUNT, struct load_row, result.steady),
    MEASURED("wire_ns", wire_fs),
    MEASURED("overhead_ns", overhead_fs),
    MEASURED("drain_ns", drain_fs),
    MEASURED("return_ns", return_fs), /* see load_columns() */
    KB_WAITS(WAIT_COLUMN)             /* queue_channel_ns, queue_link_ns, ...; see load_columns() */
    COLUMN("busiest_memory", CELL_TEXT, struct load_row, memory),
    COLUMN_IF("memory_util_pct", CELL_PERCENT, struct load_row, memory_pct, memory),
    COLUMN("busiest_link", CELL_TEXT, struct load_row, link),
    COLUMN_IF("link_util_pct", CELL_PERCENT, struct load_row, link_pct, link),
    COLUMN_IF("zero_load_ns", CELL_NS, struct load_row, zero_load_fs, result.count),
    COLUMN("saturated", CELL_COUNT, struct load_row, saturated),
    COLUMN("saturation_rate", CELL_DECIMAL, struct load_row, saturation_rate),
};

/*
 * All columns but the wait for an engine of an M_CPU, which only transactions of hosts have, and
 * the way back of data, which is a term where links are routers.
 */
static size_t load_columns(const struct cli *cli, struct column chosen[ROW_CELLS_MAX])
{
    size_t n = 0;

    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (columns[i].at != offsetof(struct load_row, result.wait_fs[KB_WAIT_ENGINE]) &&
            (columns[i].at != offsetof(struct load_row, result.return_fs) || cmd_tells_return(cli)))
            chosen[n++] = columns[i];
    return n;
}

static bool point_row(void *arg, uint64_t i, struct cell *cells)
{
    const struct load_points *l = arg;
    const struct point *point = &l->point[i];
    const struct busiest *memories = &point->memories, *links = &point->links;
    struct load_row row = {.pattern = l->cli->opts.pattern,
                           .nbytes = l->asked.traffic.nbytes,
                           .op = l->asked.op,
                           .rate = list_rate(l->asked.rates.value[i]),
                           .result = point->result,
                           .ci95 = point->result.ci95_fs < 0 ? cell_none()
                                                             : cell_ns(point->result.ci95_fs),
                           .memory = memories->n > 0 ? memories->at[0].name : NULL,
                           .memory_pct = memories->at[0].percent,
                           .link = links->n > 0 ? links->at[0].name : NULL,
                           .link_pct = links->at[0].percent,
                           .zero_load_fs = point->result.formula_fs,
                           .saturated = load_is_saturated(point),
                           .saturation_rate = l->saturation_rate};

    record_cells(l->columns, l->n_columns, &row, cells);
    return true;
}

struct rows load_rows(struct load_points *l)
{
    size_t saturated, below, shown;

    l->n_columns = load_columns(l->cli, l->columns);
    find_saturation(l, &saturated, &below);
    l->saturation_rate = saturated != SIZE_MAX && can_tell(l, saturated, below, &shown)
                             ? cell_decimal(list_rate(l->asked.rates.value[saturated]))
                             : cell_none();
    return (struct rows){.columns = l->columns,
                         .n_columns = l->n_columns,
                         .n_rows = l->n,
                         .row = point_row,
                         .arg = l};
}

/* -- the note below a table ----------------------------------------------------------------- */

static char *put_busiest(char *to, const char *things, const struct busiest *busiest)
{
    to = text_put_text(to, things);
    for (size_t i = 0; i < busiest->n; i++)
        to += text_format(to, 2 * KB_PLACE_BYTES, "%s %s %.1f %%", i > 0 ? "," : "",
                          busiest->at[i].name, busiest->at[i].percent);
    return to;
}

static char *put_saturation(char *p, const struct load_points *l, size_t saturated, size_t below)
{
    if (saturated == SIZE_MAX)
        return load_put_rate(text_put_text(p, "no saturation up to rate "),
                             l->asked.rates.value[below]);
    if (below == SIZE_MAX)
        p = text_put_text(p, "saturation begins below rate ");
    else
        p = text_put_text(load_put_rate(text_put_text(p, "saturation begins between rate "),
                                        l->asked.rates.value[below]),
                          " and ");
    p = load_put_rate(p, l->asked.rates.value[saturated]);
    return p + text_format(p, 2 * KB_PLACE_BYTES, ": %.1f GB/s accepted there",
                           l->point[saturated].result.accepted_gbs);
}

static double busiest_link(const struct point *point)
{
    return point->links.n > 0 ? point->links.at[0].percent : 0;
}

/* Links without queues that would have had to carry more than they can: from which rate on. */
void load_warning(const struct load_points *l, char warning[LOAD_NOTE_BYTES])
{
    char *p = warning;
    size_t first = SIZE_MAX, worst = SIZE_MAX;

    for (size_t i = 0; i < l->n; i++) {
        double percent = busiest_link(&l->point[i]);

        if (percent > 100 &&
            (first == SIZE_MAX || l->asked.rates.value[i] < l->asked.rates.value[first]))
            first = i;
        if (worst == SIZE_MAX || percent > busiest_link(&l->point[worst]))
            worst = i;
    }
    *p = '\0';
    if (first == SIZE_MAX || strcmp(l->cli->info.links, "ideal") != 0)
        return;
    p = load_put_rate(text_put_text(p, "links are ideal, so all this is optimistic: from rate "),
                      l->asked.rates.value[first]);
    p += text_format(p, LOAD_NOTE_BYTES / 2,
                     " on some carry more than they can (%s %.1f %% at rate ",
                     l->point[worst].links.at[0].name, l->point[worst].links.at[0].percent);
    p = load_put_rate(p, l->asked.rates.value[worst]);
    *text_put_text(p, "); run with contention.links=fifo to see the waiting") = '\0';
}

void load_note(const struct load_points *l, bool busiest, char note[LOAD_NOTE_BYTES])
{
    size_t saturated, below, shown;
    char *p = note;

    find_saturation(l, &saturated, &below);
    if (!can_tell(l, saturated, below, &shown))
        p = text_put_text(p, "too few transactions to tell where saturation begins");
    else
        p = put_saturation(p, l, saturated, below);
    if (busiest) {
        p = load_put_rate(text_put_text(p, "\nbusiest at rate "), l->asked.rates.value[shown]);
        p = put_busiest(p, ": memories", &l->point[shown].memories);
        p = put_busiest(p, "; links", &l->point[shown].links);
    }
    *p = '\0';
}

/* -- the busiest ---------------------------------------------------------------------------- */

static void rank(struct busiest *b, const kb_utilization *use)
{
    size_t i = b->n;

    while (i > 0 && use->util_pct > b->at[i - 1].percent)
        i--;
    if (i == LOAD_BUSIEST)
        return;
    b->n += b->n < LOAD_BUSIEST;
    memmove(&b->at[i + 1], &b->at[i], (b->n - 1 - i) * sizeof *b->at);
    memcpy(b->at[i].name, use->name, sizeof b->at[i].name);
    b->at[i].percent = use->util_pct;
}

void load_rank(void *arg, const kb_utilization *use)
{
    struct point *point = arg;

    if (use->kind == KB_AT_LINK)
        rank(&point->links, use);
    else if (use->kind == KB_AT_MEMORY && strstr(use->name, ".hbm_ctrl."))
        rank(&point->memories, use);
}
