/*
 * report_machine.c -- what a simulation has used, as data and pictures of a report.
 *
 * The page shows the machine from outside in: the tray (if there are several SIPs), a SIP, a cube,
 * a PE. The closer views are of the busiest place: the cube with the busiest memory, engine or
 * port, and in it the PE of the busiest of these. Without a simulation (`probe`, `sweep`) the first
 * of each is drawn, without colours.
 *
 * For `report run gemm` on cube8, one SIP, that is three pictures: the SIP, its busiest cube, the
 * busiest PE of that. The table has the rows of --stats that have a utilization, the busiest first.
 */
#include "cli/out/memory.h"
#include "cli/report/report_parts.h"
#include "cli/view/view.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The busiest first; components without a utilization (nothing waits there) by their traffic. */
static int by_use(const void *a, const void *b)
{
    const kb_utilization *x = a, *y = b;

    if (x->util_pct != y->util_pct)
        return x->util_pct < y->util_pct ? 1 : -1;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return strverscmp(x->name, y->name);
}

void utilization_take(struct report_utilization *u, const kb_sim *sim, const char *when)
{
    utilization_free(u);
    u->when = memory_text(when);
    utilization_rows_keep(&u->stats, sim);
    if (u->stats.n > 0)
        qsort(u->stats.use, u->stats.n, sizeof *u->stats.use, by_use);
}

void utilization_free(struct report_utilization *u)
{
    free(u->when);
    utilization_rows_free(&u->stats);
    u->when = NULL;
}

/* Columns of --stats, the most important first. */
static const char *const shown[] = {
    "kind",           "name",        "util_pct",    "busy_ns",      "count",       "bytes",
    "queue_mean",     "queue_max",   "gbs",         "servers",      "row_hits",    "row_misses",
    "row_conflicts",  "activations", "refresh_pct", "buffer_bytes", "buffer_mean", "buffer_max",
    "credit_stall_ns"};

enum { N_SHOWN = sizeof shown / sizeof *shown };

struct shown_rows {
    struct rows all;
    const kb_utilization *use;
    size_t column[N_SHOWN]; /* of `all` */
    size_t n;
};

/* A row of --stats with its columns in the order of `shown`; nodes, which nothing waits for, have
 * none. */
static bool shown_row(void *arg, uint64_t i, struct cell *cells)
{
    const struct shown_rows *rows = arg;
    struct cell all[ROW_CELLS_MAX];

    if (!rows->use[i].servers || !rows_cells(&rows->all, i, all))
        return false;
    for (size_t c = 0; c < rows->n; c++)
        cells[c] = all[rows->column[c]];
    return true;
}

static size_t find_column(const struct rows *rows, const char *name)
{
    size_t c = 0;

    while (c < rows->n_columns && strcmp(rows->columns[c].name, name) != 0)
        c++;
    return c;
}

/* A machine without banks, or without routers, lacks their columns. */
void utilization_table(struct report_utilization *u, struct sink *json)
{
    struct shown_rows of = {.all = utilization_rows_table(&u->stats), .use = u->stats.use};
    struct column columns[N_SHOWN];
    struct rows rows = {.columns = columns, .n_rows = of.all.n_rows, .row = shown_row, .arg = &of};

    if (of.all.n_rows == 0)
        return;
    for (size_t i = 0; i < N_SHOWN; i++) {
        size_t c = find_column(&of.all, shown[i]);

        if (c == of.all.n_columns)
            continue;
        of.column[of.n] = c;
        columns[of.n++] = of.all.columns[c];
    }
    rows.n_columns = of.n;
    json_table(json, "use", &rows, NULL);
}

/* -- pictures ------------------------------------------------------------------------------- */

/* The same for view.h, which colours by it. */
static struct view_utilization *usage_of(const struct report_utilization *u,
                                         const kb_topology *topo)
{
    struct view_utilization *usage = view_utilization_new(topo, false);

    for (size_t i = 0; i < u->stats.n; i++)
        if (u->stats.use[i].servers > 0 && u->stats.use[i].kind != KB_AT_VC)
            view_utilization_add(usage, u->stats.use[i].name, u->stats.use[i].util_pct);
    return usage;
}

static double fill_pct(const kb_utilization *use)
{
    return use->buffer_bytes ? 100 * use->buffer_mean / (double)use->buffer_bytes : 0;
}

/* How full buffers were, and where they were fullest. NULL: no machine with routers. */
static struct view_utilization *fills_of(const struct report_utilization *u,
                                         const kb_topology *topo, struct view_at *at)
{
    struct view_utilization *fills = view_utilization_new(topo, true);
    double most = 0;

    for (size_t i = 0; i < u->stats.n; i++) {
        const kb_utilization *use = &u->stats.use[i];
        struct view_at of = {0};

        if (use->kind != KB_AT_VC || !use->buffer_bytes)
            continue;
        view_utilization_add(fills, use->to, fill_pct(use));
        if (fill_pct(use) <= most ||
            sscanf(use->to, "sip%" SCNu32 ".cube%" SCNu32, &of.sip, &of.cube) < 2)
            continue;
        most = fill_pct(use);
        *at = of;
    }
    if (most > 0)
        return fills;
    view_utilization_free(fills);
    return NULL;
}

/* Does it count for the colour of its cube? Channels do not, see view_utilization_most(). */
static bool is_of_cube(const kb_utilization *use)
{
    return use->kind == KB_AT_MEMORY || use->kind == KB_AT_ENGINE || use->kind == KB_AT_PORT;
}

/* The PE that a component belongs to, or that of a slice; false: it is neither. */
static bool read_pe(const char *name, uint32_t *pe)
{
    const char *unit = strstr(name, ".pe");

    if (!unit)
        unit = strstr(name, ".slice");
    return unit && sscanf(unit + strcspn(unit, "0123456789"), "%" SCNu32, pe) == 1;
}

/*
 * The busiest cube, and its busiest PE: rows are sorted by utilization, so the first row of a
 * memory, an engine or a port says which cube, and the first of that cube with a PE or a slice in
 * its name which PE. An SRAM can be the busiest of all, and belongs to no PE: then the cube is
 * found by one row, and the PE by a later one.
 */
static struct view_at busiest(const struct report_utilization *u)
{
    struct view_at at = {0}, of;
    bool cube = false, pe = false;

    for (size_t i = 0; i < u->stats.n && !pe; i++) {
        const kb_utilization *use = &u->stats.use[i];

        if (!is_of_cube(use) ||
            sscanf(use->name, "sip%" SCNu32 ".cube%" SCNu32, &of.sip, &of.cube) < 2)
            continue;
        if (!cube)
            at = (struct view_at){.sip = of.sip, .cube = of.cube};
        cube = true;
        pe = of.sip == at.sip && of.cube == at.cube && read_pe(use->name, &at.pe);
    }
    return at;
}

/* Ids in the page must differ, so each level has a prefix of its own. */
static void put_picture(struct sink *s, const struct cli *cli, enum view_level level,
                        struct view_at at, const struct view_utilization *usage, const char *prefix)
{
    sink_text(s, "<figure class=machine id=picture-");
    sink_text(s, prefix);
    sink_text(s, "><div class=picture>");
    view_topology(cli, level, at, usage, prefix, s);
    sink_text(s, "</div></figure>\n");
}

/* Of routers: the machine and a cube, coloured by buffers. */
static void put_buffers(const struct report_utilization *u, const struct cli *cli, struct sink *s)
{
    struct view_at at = {0};
    struct view_utilization *fills = fills_of(u, cli->topo, &at);

    if (!fills)
        return;
    for (int level = VIEW_SIP; level <= VIEW_CUBE; level++)
        if (view_find_part(cli, (enum view_level)level, &at))
            put_picture(s, cli, (enum view_level)level, at, fills,
                        level == VIEW_SIP ? "buffers_sip" : "buffers_cube");
    view_utilization_free(fills);
}

/* From the outermost level inwards, all coloured by the same simulation. */
enum exit_code utilization_pictures(const struct report_utilization *u, const struct cli *cli,
                                    struct sink *html)
{
    bool used = u->stats.n > 0;
    static const char *const prefixes[N_VIEW_LEVELS] = {"system", "sip", "cube", "pe"};
    struct view_utilization *usage = used ? usage_of(u, cli->topo) : NULL;
    enum exit_code code = EXIT_OK;
    int first = (int)view_first(&cli->info);

    if (u->stats.failed)
        code = cmd_fail(cli, KB_NO_MEMORY, NULL);
    for (int level = first; level < N_VIEW_LEVELS && !code; level++) {
        struct view_at at = busiest(u);

        if (view_find_part(cli, (enum view_level)level, &at))
            put_picture(html, cli, (enum view_level)level, at, usage, prefixes[level]);
    }
    if (used && !code)
        put_buffers(u, cli, html);
    view_utilization_free(usage);
    return code;
}
