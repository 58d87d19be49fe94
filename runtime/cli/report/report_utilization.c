/*
 * report_utilization.c -- the utilization of a simulation, in a table and pictures of a report.
 *
 * The page shows the machine from outside in: the tray (if there are several SIPs), a SIP, a cube,
 * a PE. The closer views are of the busiest place: the cube with the busiest memory, engine or
 * port, and in it the PE of the busiest of these. Without a simulation (`probe`, `sweep`) the first
 * of each is drawn, without colours.
 *
 * For `report run gemm` on cube8, one SIP, that is three pictures: the SIP, its busiest cube, the
 * busiest PE of that. The table below has the 1112 rows of --stats, the busiest first.
 */
#include "cli/report/report_utilization.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
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
static const char *const shown[] = {"kind",       "name",           "util_pct",     "busy_ns",
                                    "count",      "bytes",          "queue_mean",   "queue_max",
                                    "gbs",        "servers",        "buffer_bytes", "buffer_mean",
                                    "buffer_max", "credit_stall_ns"};

enum { N_SHOWN = sizeof shown / sizeof *shown };

struct shown_rows {
    struct rows all;
    size_t column[N_SHOWN]; /* of `all` */
    size_t n;               /* the last are those of VCs: without routers there are none */
};

/* A row of --stats with its columns in the order of `shown`. */
static bool shown_row(void *arg, uint64_t i, struct cell *cells)
{
    const struct shown_rows *rows = arg;
    struct cell all[ROW_CELLS_MAX];

    if (!rows->all.row(rows->all.arg, i, all))
        return false;
    for (size_t c = 0; c < rows->n; c++)
        cells[c] = all[rows->column[c]];
    return true;
}

/* Columns are found by name in the rows of --stats, so a new column there changes nothing here. */
void utilization_table(const struct report_utilization *u, struct sink *s)
{
    struct shown_rows of = {.all = utilization_rows_table(&u->stats)};
    struct column columns[N_SHOWN];

    if (of.all.n_rows == 0)
        return;
    for (; of.n < N_SHOWN; of.n++) {
        of.column[of.n] = report_column(&of.all, shown[of.n]);
        if (of.column[of.n] == SIZE_MAX)
            break;
        columns[of.n] = of.all.columns[of.column[of.n]];
    }
    struct rows rows = {.columns = columns,
                        .n_columns = of.n,
                        .n_rows = of.all.n_rows,
                        .row = shown_row,
                        .arg = &of};

    lead_begin(s);
    html_count(s, rows.n_rows);
    sink_text(s, " places carried traffic");
    html_text(s, u->when);
    sink_text(s, ", the busiest first.");
    lead_end(s);
    report_table(s, "use",
                 rows.n_columns == N_SHOWN
                     ? "Memories, channels, engines, ports, edges, virtual channels, nodes"
                     : "Memories, channels, engines, ports, edges, nodes",
                 &rows, NULL);
}

/* The sentence of the pictures. */
static void put_lead(const struct report_utilization *u, const struct cli *cli, struct sink *s)
{
    static const char *const kinds[] = {
        [KB_AT_MEMORY] = "memory",     [KB_AT_NODE] = "node",          [KB_AT_LINK] = "link",
        [KB_AT_CHANNEL] = "channel",   [KB_AT_ENGINE] = "engine",      [KB_AT_PORT] = "port",
        [KB_AT_BANKS] = "HBM channel", [KB_AT_VC] = "virtual channel",
    };
    const kb_utilization *most = u->stats.n > 0 ? &u->stats.use[0] : NULL;

    if (most && most->util_pct > 0) {
        lead_busiest(s, kinds[most->kind], most->name, most->util_pct, u->when);
        return;
    }
    lead_begin(s);
    html_count(s, kb_pe_count(cli->topo));
    sink_text(s, " PEs and ");
    html_count(s, kb_slice_count(cli->topo));
    sink_text(s, " HBM slices, drawn to scale.");
    lead_end(s);
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
    char caption[80];

    snprintf(caption, sizeof caption,
             level == VIEW_SYSTEM ? "The tray"
             : level == VIEW_SIP  ? "SIP %u"
             : level == VIEW_CUBE ? "SIP %u, cube %u"
                                  : "SIP %u, cube %u, PE %u",
             at.sip, at.cube, at.pe);
    html_begin_picture(s, caption, true);
    view_topology(cli, level, at, usage, prefix, s);
    html_end_picture(s);
}

/* Of routers: the machine and a cube, coloured by buffers. */
static void put_buffers(const struct report_utilization *u, const struct cli *cli, struct sink *s)
{
    struct view_at at = {0};
    struct view_utilization *fills = fills_of(u, cli->topo, &at);

    if (!fills)
        return;
    sink_text(s, "<p>Coloured by how full the buffers of routers were");
    html_text(s, u->when);
    sink_text(s, ", in the mean: of each router its fullest one.</p>\n");
    for (int level = VIEW_SIP; level <= VIEW_CUBE; level++)
        if (view_find_part(cli, (enum view_level)level, &at))
            put_picture(s, cli, (enum view_level)level, at, fills,
                        level == VIEW_SIP ? "buffers_sip" : "buffers_cube");
    view_utilization_free(fills);
}

/* From the outermost level inwards, all coloured by the same simulation. */
enum exit_code utilization_pictures(const struct report_utilization *u, const struct cli *cli,
                                    struct sink *s)
{
    bool used = u->stats.n > 0;
    static const char *const prefixes[N_VIEW_LEVELS] = {"system", "sip", "cube", "pe"};
    struct view_utilization *usage = used ? usage_of(u, cli->topo) : NULL;
    enum exit_code code = EXIT_OK;
    int first = (int)view_first(&cli->info);

    if (u->stats.failed)
        code = cmd_fail(cli, KB_NO_MEMORY, NULL);
    put_lead(u, cli, s);
    if (used) {
        sink_text(s, "<p>Coloured by how busy each part was");
        html_text(s, u->when);
        sink_text(s, "; closer views are of where it was busiest.</p>\n");
    }
    for (int level = first; level < N_VIEW_LEVELS && !code; level++) {
        struct view_at at = busiest(u);

        if (view_find_part(cli, (enum view_level)level, &at))
            put_picture(s, cli, (enum view_level)level, at, usage, prefixes[level]);
    }
    if (used && !code)
        put_buffers(u, cli, s);
    view_utilization_free(usage);
    return code;
}
