/*
 * report.c -- `report`: the results of a command as one HTML page.
 *
 * `report run gemm` is `run gemm`, but its rows go to the page instead of standard output. Commands
 * know nothing about pages: command.c calls `report_page` by pointers, with rows where it would
 * print them and with each note; a few commands hand over the simulation for its utilization.
 *
 * The page is a shell with four things in it: the head, which says what was run; a script of JSON
 * with all numbers; pictures of the machine, as `view` draws them; and report.js, which makes
 * tables, plots and sentences of the numbers. The members of the JSON are
 *
 *     page        what was run: command, subject, machine, when the utilization is of
 *     limits      peak rates of the machine: the roofs of its roofline
 *     notes       lines that stderr has about the result, and those below a table
 *     rows        the rows of the command, with the origin that --format json has
 *     breakdown   the rows of --breakdown; `sums`: of operations and lines of kernels, by cause
 *     use         the rows of --stats, the busiest first
 *     distances   zero-load latency from every PE to every slice
 *
 * Invariants: the page needs no network; without scripts it says the first row of its results; it
 * has no date, so the same command gives the same bytes; texts of others are escaped in HTML by
 * svg_escape(), and in JSON each '<' is \u003c, so that none can end the script.
 */
#include "cli/report/report.h"
#include "base/text.h"
#include "cli/out/memory.h"
#include "cli/report/report_parts.h"
#include "cli/view/svg.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct report {
    const struct cli *cli;
    struct cli other;     /* `cli`, if the command has simulated another machine */
    struct sink notes;    /* strings of JSON, with commas between them */
    struct sink data;     /* members of the object */
    struct sink figures;  /* HTML: the first row, for readers without scripts */
    struct sink pictures; /* HTML */
    struct report_utilization utilization;
};

struct report *report_new(const struct cli *cli)
{
    struct report *r = memory_new(1, sizeof *r);

    sink_open_memory(&r->notes);
    sink_open_memory(&r->data);
    sink_open_memory(&r->figures);
    sink_open_memory(&r->pictures);
    r->cli = cli;
    return r;
}

void report_free(struct report *r)
{
    if (!r)
        return;
    sink_free(&r->notes);
    sink_free(&r->data);
    sink_free(&r->figures);
    sink_free(&r->pictures);
    utilization_free(&r->utilization);
    free(r);
}

static void put_sink(struct sink *to, const struct sink *from)
{
    sink_bytes(to, from->buffer, (size_t)(from->at - from->buffer));
}

/* -- results of commands -------------------------------------------------------------------- */

/* Each line of `text` is a note. */
static void take_notes(struct report *r, const char *text)
{
    char *lines = memory_text(text);

    for (char *rest = lines, *line; (line = strsep(&rest, "\n"));) {
        if (r->notes.at != r->notes.buffer)
            sink_char(&r->notes, ',');
        out_json_string(&r->notes, line);
    }
    free(lines);
}

/* A name and a value of the head, or of the first row. */
static void put_fact(struct sink *s, const char *name, const char *value)
{
    sink_text(s, "<div><dt>");
    svg_escape(s, name);
    sink_text(s, "</dt><dd>");
    svg_escape(s, value);
    sink_text(s, "</dd></div>\n");
}

static void take_figures(struct report *r, const struct rows *rows)
{
    struct cell cells[ROW_CELLS_MAX];
    char number[TEXT_NUMBER_BYTES];
    uint64_t i = 0;

    while (i < rows->n_rows && !rows_cells(rows, i, cells))
        i++;
    for (size_t c = 0; i < rows->n_rows && c < rows->n_columns; c++) {
        if (cells[c].type == CELL_NONE)
            continue;
        if (cells[c].type != CELL_TEXT)
            *cell_put_exact(number, &cells[c]) = '\0';
        put_fact(&r->figures, rows->columns[c].name,
                 cells[c].type == CELL_TEXT ? cells[c].text : number);
    }
}

static void take_rows(struct report *r, const struct rows *rows, const struct origin *origin)
{
    if (rows->note)
        take_notes(r, rows->note);
    take_figures(r, rows);
    json_table(&r->data, "rows", rows, origin);
}

static void take_deadlock(struct report *r, const struct rows *rows, const struct origin *origin,
                          const char *why)
{
    take_notes(r, why);
    json_text(&r->data, "deadlock", why);
    take_rows(r, rows, origin);
}

static void take_breakdown(struct report *r, const struct rows *causes, const struct rows *sums)
{
    json_table(&r->data, "breakdown", causes, NULL);
    json_table(&r->data, "sums", sums, NULL);
}

/* It must be there until the page is written. */
static void take_machine(struct report *r, const kb_topology *topo)
{
    r->other = *r->cli;
    r->other.topo = topo;
    kb_topology_info(topo, &r->other.info);
    r->cli = &r->other;
}

static void take_sim(struct report *r, const kb_sim *sim, const char *when)
{
    utilization_take(&r->utilization, sim, when);
}

/* -- the head of the page ------------------------------------------------------------------- */

/* The subject of the command, for the title: "gemm", "uniform"; "": none. */
static const char *subject(const struct opts *o)
{
    const char *slash;

    switch (o->command) {
    case COMMAND_RUN:
    case COMMAND_WHY:
        return o->operand[0];
    case COMMAND_REPLAY:
        slash = strrchr(o->operand[0], '/');
        return slash ? slash + 1 : o->operand[0];
    case COMMAND_LOAD:
        return o->pattern;
    default:
        return "";
    }
}

/* "run gemm on cube8" */
static void put_title(const struct report *r, struct sink *s)
{
    const struct opts *o = &r->cli->opts;

    svg_escape(s, opts_command_name(o->command));
    sink_text(s, *subject(o) ? " " : "");
    svg_escape(s, subject(o));
    sink_text(s, " on ");
    svg_escape(s, r->cli->info.name);
}

/* "data:," keeps a browser from asking a server for an icon. */
static void put_head(const struct report *r, struct sink *s)
{
    sink_text(s, "<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
                 "<meta name=viewport content=\"width=device-width, initial-scale=1\">\n"
                 "<meta name=generator content=\"kernbench " KB_VERSION "\">\n"
                 "<link rel=icon href=\"data:,\">\n<title>");
    put_title(r, s);
    sink_text(s, "</title>\n<style>\n");
    sink_text(s, svg_css);
    sink_text(s, report_css);
    sink_text(s, "</style>\n</head>\n<body>\n<a class=skip href=\"#main\">Skip to the results</a>\n"
                 "<header>\n<h1>");
    put_title(r, s);
    sink_text(s, "</h1>\n<button type=button id=theme hidden>Theme: system</button>\n"
                 "<div class=command><code id=command>");
    svg_escape(s, r->cli->opts.command_line);
    sink_text(s, "</code> <button type=button id=copy hidden>Copy</button></div>\n");
}

/* "1 SIP of 4 x 2 cubes of 8 PEs, links fifo". A net has no rows and columns; where cubes differ,
 * PEs are those of the whole machine. */
static void put_machine(const struct cli *cli, struct sink *s)
{
    const kb_info *info = &cli->info;
    uint32_t n = kb_pe_count(cli->topo);
    bool is_even = n == info->sips * info->cubes_per_sip * info->pes_per_cube;
    char cubes[32], text[160];

    if (cmd_has_mesh(cli))
        snprintf(cubes, sizeof cubes, "%u x %u", info->mesh_w, info->mesh_h);
    else
        snprintf(cubes, sizeof cubes, "%u", info->cubes_per_sip);
    snprintf(text, sizeof text, "%u SIP%s of %s cubes%s%u PE%s%s, links %s", info->sips,
             info->sips == 1 ? "" : "s", cubes, is_even ? " of " : ", ",
             is_even ? info->pes_per_cube : n, (is_even ? info->pes_per_cube : n) == 1 ? "" : "s",
             is_even ? "" : " in all", info->links);
    put_fact(s, "machine", text);
}

/* What a reader needs to repeat the run; report.js adds the arguments. */
static void put_facts(const struct report *r, struct sink *s)
{
    const kb_info *info = &r->cli->info;
    char text[32];

    sink_text(s, "<dl class=facts id=facts>\n");
    put_fact(s, "topology", info->name);
    put_fact(s, "configuration", info->hash);
    put_machine(r->cli, s);
    snprintf(text, sizeof text, "%llu", (unsigned long long)r->cli->opts.seed);
    put_fact(s, "seed", text);
    put_fact(s, "kernbench", KB_VERSION);
    sink_text(s, "</dl>\n</header>\n");
}

/* -- the data ------------------------------------------------------------------------------- */

/* Peaks are those of all PEs and slices, also of a launch on fewer. A product and a sum are two
 * operations. */
static void put_limits(const struct report *r, struct sink *s)
{
    const kb_info *info = &r->cli->info;
    double gemm_gops = 0, math_gops = 0, memory_gbs = 0;

    for (uint32_t i = 0; i < info->sips * info->cubes_per_sip; i++) {
        uint32_t sip = i / info->cubes_per_sip, at = i % info->cubes_per_sip;
        kb_limits limits;
        kb_cube cube;

        if (kb_cube_get(r->cli->topo, sip, at, &cube) != KB_OK ||
            kb_cube_limits(r->cli->topo, sip, at, &limits) != KB_OK)
            continue;
        gemm_gops += 2 * limits.gemm_macs_per_ns * cube.n_pes;
        math_gops += limits.math_elements_per_ns * cube.n_pes;
        memory_gbs += limits.slice_gbs * cube.n_slices;
    }
    json_key(s, "limits");
    sink_char(s, '{');
    json_number(s, "pes", kb_pe_count(r->cli->topo));
    json_number(s, "slices", kb_slice_count(r->cli->topo));
    json_number(s, "gemm_gops", gemm_gops);
    json_number(s, "math_gops", math_gops);
    json_number(s, "memory_gbs", memory_gbs);
    sink_char(s, '}');
}

static void put_page(const struct report *r, struct sink *s)
{
    const struct opts *o = &r->cli->opts;

    json_key(s, "page");
    sink_char(s, '{');
    json_text(s, "command", opts_command_name(o->command));
    json_text(s, "subject", subject(o));
    json_text(s, "links", r->cli->info.links);
    json_text(s, "when", r->utilization.when ? r->utilization.when : "");
    sink_char(s, '}');
}

/* A '<' could end the script ("</script>"). JSON has it in strings only, where \u003c is the same.
 */
static void put_escaped(struct sink *s, const struct sink *json)
{
    const char *from = json->buffer;

    while (from < json->at) {
        const char *less = memchr(from, '<', (size_t)(json->at - from));
        const char *end = less ? less : json->at;

        sink_bytes(s, from, (size_t)(end - from));
        sink_text(s, less ? "\\u003c" : "");
        from = less ? less + 1 : end;
    }
}

static void put_data(const struct report *r, struct sink *s)
{
    struct sink head;

    sink_open_memory(&head);
    sink_char(&head, '{');
    put_page(r, &head);
    put_limits(r, &head);
    json_key(&head, "notes");
    sink_char(&head, '[');
    put_sink(&head, &r->notes);
    sink_text(&head, "],\n");
    sink_text(s, "<script type=\"application/json\" id=data>");
    put_escaped(s, &head);
    put_escaped(s, &r->data);
    sink_text(s, "}</script>\n");
    sink_free(&head);
}

/* Bytes of the reads in the map of distances. */
static uint64_t bytes_of(const struct opts *o)
{
    return o->command == COMMAND_PROBE || o->command == COMMAND_LOAD ? o->bytes : 4096;
}

static enum exit_code write_page(struct report *r, struct sink *s)
{
    enum exit_code code = utilization_pictures(&r->utilization, r->cli, &r->pictures);

    if (!code)
        code = report_distances(&r->data, r->cli, bytes_of(&r->cli->opts));
    if (code)
        return code;
    utilization_table(&r->utilization, &r->data);
    put_head(r, s);
    put_facts(r, s);
    sink_text(s, "<noscript><p>Tables and plots of this page are made by its script, which your "
                 "browser does not run. The first row of the results:</p>\n<dl class=facts>\n");
    put_sink(s, &r->figures);
    sink_text(s, "</dl></noscript>\n<main id=main>\n<div id=pictures>\n");
    put_sink(s, &r->pictures);
    sink_text(s, "</div>\n</main>\n");
    put_data(r, s);
    sink_text(s, "<script>\n");
    sink_text(s, report_plots_js);
    sink_text(s, report_keys_js);
    sink_text(s, report_tables_js);
    sink_text(s, report_sections_js);
    sink_text(s, report_js);
    sink_text(s, "</script>\n</body>\n</html>\n");
    return EXIT_OK;
}

const struct page report_page = {.note = take_notes,
                                 .rows = take_rows,
                                 .deadlock = take_deadlock,
                                 .breakdown = take_breakdown,
                                 .sim = take_sim,
                                 .machine = take_machine,
                                 .write = write_page};
