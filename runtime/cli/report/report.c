/*
 * report.c -- `report`: the results of a command as one HTML page.
 *
 * `report run gemm` is `run gemm`, but its rows go to the page instead of standard output. Commands
 * know nothing about pages: command.c calls `report_page` by pointers, with rows where it would
 * print them and with each note; a few commands hand over the simulation for its utilization
 * (report_sim()).
 *
 * The page has up to nine sections, in the order of `parts`. Each is written to a buffer in
 * memory, as calls come in any order; report_write() adds those that need no run (the machine,
 * distances, the configuration), leaves out the empty ones, and writes the rest. The sections of
 * `report run gemm` are:
 *
 *     notes       none: nothing went to stderr
 *     plots       a roofline, with one point for the launch
 *     causes      bars and tables of --breakdown: overhead, drain, waits, ..., and where
 *     results     the row that `run gemm` prints
 *     machine     the pictures of `view`, coloured: the SIP, its busiest cube, the busiest PE
 *     distances   zero-load latency from every PE to every slice: a map of 64 x 64
 *     busy        the rows of --stats, the busiest first
 *     banks       none: no memory has banks
 *     config      the YAML of the topology, with all defaults
 *
 * Invariants: the page needs no network (report.css and report.js are compiled in, and pictures are
 * SVG); it can be read without scripts (report.js sorts, filters, copies, and changes the theme);
 * it has no date, so the same command gives the same bytes.
 *
 * A table has its first 1000 rows as HTML, and for sorting up to 100000 as JSON, of which report.js
 * makes rows. So numbers are rounded twice, in C and in JavaScript, both times from the same six
 * decimals and halves up (report_round()). printf would round the binary value: 2.675 down, 2.665
 * up.
 */
#include "cli/report/report.h"
#include "cli/out/memory.h"
#include "cli/report/report_parts.h"
#include "cli/report/report_utilization.h"
#include "cli/out/say.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the order of the page. On wide screens plots and causes stand side by side, and so do machine
 * and distances: report.css. */
enum part {
    PART_NOTES,
    PART_PLOTS,
    PART_BREAKDOWN,
    PART_ROWS,
    PART_MACHINE,
    PART_DISTANCES,
    PART_UTILIZATION,
    PART_BANKS,
    PART_CONFIG,
    N_PARTS
};

static const struct {
    const char *id, *title;
} parts[N_PARTS] = {
    [PART_NOTES] = {"notes", "Notes"},
    [PART_PLOTS] = {"plots", "At a glance"},
    [PART_ROWS] = {"results", "Results"},
    [PART_BREAKDOWN] = {"causes", "Where the time goes"},
    [PART_MACHINE] = {"machine", "The machine"},
    [PART_DISTANCES] = {"distances", "From every PE to every memory"},
    [PART_UTILIZATION] = {"busy", "How busy it was"},
    [PART_BANKS] = {"banks", "Rows of memories"},
    [PART_CONFIG] = {"config", "Configuration"},
};

/* A line of the notes. */
struct note {
    char *line;  /* owned: "rate 0.2: no steady state found" */
    char *rates; /* owned: other rates with the same note: ", 0.3, 0.4"; NULL: none */
};

/* The sections that are not empty are in the page. */
struct report {
    const struct cli *cli;
    struct cli other;  /* `cli`, if the command has simulated another machine */
    struct note *note; /* owned */
    size_t n_notes;
    struct sink part[N_PARTS];
    struct report_utilization utilization;
    char *args; /* owned: "M=512 dtype=f16"; NULL: the command takes none */
};

struct report *report_new(const struct cli *cli)
{
    struct report *r = memory_new(1, sizeof *r);

    for (int i = 0; i < N_PARTS; i++)
        sink_open_memory(&r->part[i]);
    r->cli = cli;
    return r;
}

void report_free(struct report *r)
{
    for (int i = 0; r && i < N_PARTS; i++)
        sink_free(&r->part[i]);
    for (size_t i = 0; r && i < r->n_notes; i++) {
        free(r->note[i].line);
        free(r->note[i].rates);
    }
    if (r) {
        free(r->note);
        free(r->args);
        utilization_free(&r->utilization);
    }
    free(r);
}

/* A part without a byte is left out of the page and of its contents. */
static bool is_empty(const struct sink *s)
{
    return s->at == s->buffer;
}

/* -- results of commands -------------------------------------------------------------------- */

/* The number in "rate 0.2: TEXT", with or without words before it; NULL: there is none. */
static const char *find_rate(const char *line, size_t *len)
{
    const char *rate = strstr(line, "rate ");

    if (!rate)
        return NULL;
    rate += strlen("rate ");
    *len = strspn(rate, "0123456789.");
    return *len > 0 && rate[*len] == ':' ? rate : NULL;
}

/* Are two lines the same except for the rate? */
static bool is_same_note(const char *a, const char *b)
{
    size_t a_len, b_len;
    const char *a_rate = find_rate(a, &a_len), *b_rate = find_rate(b, &b_len);

    return a_rate && b_rate && a_rate - a == b_rate - b &&
           strncmp(a, b, (size_t)(a_rate - a)) == 0 && strcmp(a_rate + a_len, b_rate + b_len) == 0;
}

/* Appends ", RATE". */
static void add_rate(struct note *note, const char *rate, size_t len)
{
    size_t before = note->rates ? strlen(note->rates) : 0;

    note->rates = memory_resize(note->rates, before + len + sizeof ", ", 1);
    sprintf(note->rates + before, ", %.*s", (int)len, rate);
}

/* Adds a line, or only its rate to a line that is the same otherwise. */
static void add_note(struct report *r, const char *line)
{
    size_t i = 0, len;

    while (i < r->n_notes && !is_same_note(r->note[i].line, line))
        i++;
    if (i < r->n_notes) {
        const char *rate = find_rate(line, &len);

        add_rate(&r->note[i], rate, len);
        return;
    }
    r->note = memory_resize(r->note, r->n_notes + 1, sizeof *r->note);
    r->note[r->n_notes++] = (struct note){.line = memory_text(line)};
}

/* Each line of `text` is one. */
static void add_notes(struct report *r, const char *text)
{
    char *lines = memory_text(text);

    for (char *rest = lines, *line; (line = strsep(&rest, "\n"));)
        add_note(r, line);
    free(lines);
}

void report_note(struct report *r, const char *line)
{
    if (r)
        add_notes(r, line);
}

/* "LINE; also at rate 0.3, 0.4", an item each. */
static void put_notes(struct report *r)
{
    struct sink *s = &r->part[PART_NOTES];

    for (size_t i = 0; i < r->n_notes; i++) {
        const struct note *note = &r->note[i];

        sink_text(s, "<li>");
        html_text(s, note->line);
        if (note->rates) {
            sink_text(s, "; also at rate ");
            sink_text(s, note->rates + strlen(", "));
        }
        sink_text(s, "</li>");
    }
}

/* All arguments of a bench, including those that have their default. */
static void keep_args(struct report *r, const struct origin *origin)
{
    struct sink s;

    if (!origin->args)
        return;
    sink_open_memory(&s);
    for (size_t i = 0; i < origin->n_args; i++) {
        sink_text(&s, i > 0 ? " " : "");
        sink_text(&s, origin->args[i].name);
        sink_char(&s, '=');
        sink_text(&s, origin->args[i].value);
    }
    sink_char(&s, '\0');
    free(r->args);
    r->args = memory_text(s.buffer);
    sink_free(&s);
}

void report_rows(struct report *r, const struct rows *rows, const struct origin *origin)
{
    keep_args(r, origin);
    if (rows->note)
        add_notes(r, rows->note);
    report_plots(&r->part[PART_PLOTS], r->cli, rows);
    lead_results(&r->part[PART_ROWS], r->cli, rows);
    report_table(&r->part[PART_ROWS], "rows", "Rows of the results", rows, origin);
    report_breakdown(&r->part[PART_BREAKDOWN], r->cli, rows);
}

void report_deadlock(struct report *r, const struct rows *rows, const struct origin *origin,
                     const char *why)
{
    add_notes(r, why);
    if (rows->note)
        add_notes(r, rows->note);
    lead_begin(&r->part[PART_ROWS]);
    html_text(&r->part[PART_ROWS], why);
    lead_end(&r->part[PART_ROWS]);
    report_table(&r->part[PART_ROWS], "rows", "Deadlocked commands", rows, origin);
}

void report_breakdown_rows(struct report *r, const struct rows *causes, const struct rows *sums)
{
    struct sink *s = &r->part[PART_BREAKDOWN];

    if (sums)
        report_breakdown_sums(s, r->cli, sums);
    report_table(s, "why", "Causes, places, and what was ahead", causes, NULL);
}

void report_machine(struct report *r, const kb_topology *topo)
{
    r->other = *r->cli;
    r->other.topo = topo;
    kb_topology_info(topo, &r->other.info);
    r->cli = &r->other;
}

void report_sim(struct report *r, const kb_sim *sim, const char *when)
{
    if (r)
        utilization_take(&r->utilization, sim, when);
}

/* -- the page ------------------------------------------------------------------------------- */

static void put_fact(struct sink *s, const char *name, const char *value)
{
    sink_text(s, "<div>");
    html_element(s, "dt", name);
    html_element(s, "dd", value);
    sink_text(s, "</div>\n");
}

/* The subject of the command, for the title: "gemm", "uniform"; "": none. */
static const char *subject(const struct opts *o)
{
    const char *slash;

    switch (o->command) {
    case COMMAND_RUN:
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

    html_text(s, opts_command_name(o->command));
    if (*subject(o)) {
        sink_char(s, ' ');
        html_text(s, subject(o));
    }
    sink_text(s, " on ");
    html_text(s, r->cli->info.name);
}

/* What a reader needs to repeat the run: machine, configuration, seed, arguments, command line. */
static void put_facts(const struct report *r, struct sink *s)
{
    const kb_info *info = &r->cli->info;
    char text[160];

    sink_text(s, "<dl class=facts>\n");
    put_fact(s, "topology", info->name);
    put_fact(s, "configuration", info->hash);
    snprintf(text, sizeof text, "%u SIP%s of %u x %u cubes of %u PE%s, links %s", info->sips,
             info->sips == 1 ? "" : "s", info->mesh_w, info->mesh_h, info->pes_per_cube,
             info->pes_per_cube == 1 ? "" : "s", info->links);
    put_fact(s, "machine", text);
    snprintf(text, sizeof text, "%llu", (unsigned long long)r->cli->opts.seed);
    put_fact(s, "seed", text);
    if (r->args && *r->args)
        put_fact(s, "arguments", r->args);
    put_fact(s, "kernbench", KB_VERSION);
    sink_text(s, "</dl>\n<div class=command><code id=command>");
    html_text(s, r->cli->opts.command_line);
    sink_text(s, "</code> <button type=button id=copy hidden>Copy</button></div>\n");
}

/* Style, title and facts. "data:," keeps a browser from asking a server for an icon. */
static void put_head(const struct report *r, struct sink *s)
{
    sink_text(s, "<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
                 "<meta name=viewport content=\"width=device-width, initial-scale=1\">\n"
                 "<meta name=generator content=\"kernbench " KB_VERSION "\">\n"
                 "<link rel=icon href=\"data:,\">\n<title>");
    put_title(r, s);
    sink_text(s, "</title>\n<style>\n");
    sink_text(s, report_css);
    sink_text(s, "</style>\n</head>\n<body>\n<a class=skip href=\"#main\">Skip to the results</a>\n"
                 "<header>\n<h1>");
    put_title(r, s);
    sink_text(s, "</h1>\n<button type=button id=theme hidden>Theme: system</button>\n");
    put_facts(r, s);
    sink_text(s, "</header>\n");
}

/* Links to the sections that are there. */
static void put_contents(const struct report *r, struct sink *s)
{
    sink_text(s, "<nav aria-label=Contents>\n<ol>\n");
    for (int i = 0; i < N_PARTS; i++)
        if (!is_empty(&r->part[i])) {
            sink_text(s, "<li><a href=\"#");
            sink_text(s, parts[i].id);
            sink_text(s, "\">");
            sink_text(s, parts[i].title);
            sink_text(s, "</a></li>\n");
        }
    sink_text(s, "</ol>\n</nav>\n");
}

/* A section with its heading. Notes are a list; the buffer has its items. */
static void put_part(const struct report *r, enum part i, struct sink *s)
{
    const char *list = i == PART_NOTES ? "ul" : NULL;
    char notes[80];

    sink_text(s, "<section id=");
    sink_text(s, parts[i].id);
    sink_text(s, ">\n");
    html_element(s, "h2", parts[i].title);
    sink_text(s, "\n");
    if (list) {
        snprintf(notes, sizeof notes, "%zu %s before you use the numbers.", r->n_notes,
                 r->n_notes == 1 ? "thing to know" : "things to know");
        lead_begin(s);
        sink_text(s, notes);
        lead_end(s);
    }
    sink_text(s, list ? "<ul>\n" : "");
    sink_bytes(s, r->part[i].buffer, (size_t)(r->part[i].at - r->part[i].buffer));
    sink_text(s, list ? "\n</ul>\n</section>\n" : "</section>\n");
}

/* The YAML is long, so it is folded away. */
static void put_config(const struct report *r, struct sink *s)
{
    lead_begin(s);
    sink_text(s, "The machine that all numbers are of.");
    lead_end(s);
    sink_text(s, "<details><summary>All keys, with their defaults: ");
    html_text(s, r->cli->info.hash);
    sink_text(s, "</summary>\n<pre tabindex=0>");
    html_text(s, r->cli->info.config);
    sink_text(s, "</pre></details>\n");
}

/* Bytes of the reads in the map of distances. */
static uint64_t bytes_of(const struct opts *o)
{
    return o->command == COMMAND_PROBE || o->command == COMMAND_LOAD ? o->bytes : 4096;
}

enum exit_code report_write(struct report *r, struct sink *s)
{
    const struct cli *cli = r->cli;
    enum exit_code code = utilization_pictures(&r->utilization, cli, &r->part[PART_MACHINE]);

    if (!code)
        code = report_distances(&r->part[PART_DISTANCES], cli, bytes_of(&cli->opts));
    if (code)
        return code;
    put_notes(r);
    utilization_table(&r->utilization, &r->part[PART_UTILIZATION]);
    report_banks(&r->utilization, &r->part[PART_BANKS]);
    put_config(r, &r->part[PART_CONFIG]);
    put_head(r, s);
    put_contents(r, s);
    sink_text(s, "<main id=main>\n");
    for (int i = 0; i < N_PARTS; i++)
        if (!is_empty(&r->part[i]))
            put_part(r, (enum part)i, s);
    sink_text(s, "</main>\n<script>\n");
    sink_text(s, report_js);
    sink_text(s, "</script>\n</body>\n</html>\n");
    return EXIT_OK;
}

const struct page report_page = {.note = report_note,
                                 .rows = report_rows,
                                 .deadlock = report_deadlock,
                                 .breakdown = report_breakdown_rows,
                                 .sim = report_sim,
                                 .machine = report_machine,
                                 .write = report_write};
