/*
 * scene_legend.c -- the legend below a scene: the busiest edges, kinds of links, the scale.
 *
 * Links of one kind (the kinds of their ends, bandwidth, length; of a net the time that their wire
 * takes) have one line, in up to three columns. The width of the picture depends on the legend, and
 * its height on the lines of it, so both are measured before anything is written.
 *
 * In order: busiest edges and the scale of colours (only with --stats), then kinds of links, then
 * the scale bar with its length in mm, if the level is to scale at all.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "cli/view/scene_svg.h"
#include "base/text.h"

enum { LEGEND_ROW = 16, KIND_COLUMNS = 3, SAMPLE_PX = 24 /* of a line, with the gap behind it */ };

void legend_find_busiest(struct scene_drawing *d)
{
    for (size_t i = 0; i < d->sc->n_edges; i++)
        view_busiest_add(&d->drawn, d->sc->edge[i].util);
    if (d->sc->utilization && d->sc->lists_all)
        view_busiest_all(&d->listed, d->sc->utilization);
    else
        d->listed = d->drawn;
}

static const char cube_note[] =
    "A cube: its busiest memory, engine or port; DMA channels, held while "
    "transactions wait, do not count.";

static const char conflicts_note[] = "A cube: its slice with the largest share of row conflicts.";
static const char buffers_note[] = "A cube: the fullest buffer of its routers.";

static const char *note_of_cubes(const struct scene_drawing *d)
{
    return view_utilization_conflicts(d->sc->utilization)       ? conflicts_note
           : view_utilization_is_of_buffers(d->sc->utilization) ? buffers_note
                                                                : cube_note;
}

static const char kinds_note[] = "*: a cube with keys of its own, by `cubes`";

/* "noc <-> m_cpu: 128 GB/s, 0.5 mm": kinds of links differ in any of these. Links of a net may have
 * a latency: "ucie <-> ucie: 5 x 25 GB/s, 125 ns". */
static void kind_text(const struct scene *sc, const struct scene_edge *e,
                      char text[SCENE_KIND_BYTES])
{
    kb_node from, to;
    char gbs[SVG_NUMBER_BYTES], far[SVG_NUMBER_BYTES], lanes[24] = "";

    *text = '\0';
    if (e->edge.lanes > 1)
        snprintf(lanes, sizeof lanes, "%u \xc3\x97 ", e->edge.lanes);
    if (kb_node_get(sc->cli->topo, e->edge.from, &from) == KB_OK &&
        kb_node_get(sc->cli->topo, e->edge.to, &to) == KB_OK)
        snprintf(text, SCENE_KIND_BYTES, "%s %s %s: %s%.24s%s, %.24s %s", from.kind,
                 scene_is_both_ways(sc, e) ? "\xe2\x86\x94" : "\xe2\x86\x92", to.kind, lanes,
                 isinf(e->edge.gbs) ? "unlimited" : svg_short(e->edge.gbs, 6, gbs),
                 isinf(e->edge.gbs) ? "" : " GB/s",
                 svg_short(e->of_net ? (double)e->edge.wire_fs / 1e6 : e->edge.length_mm, 6, far),
                 e->of_net ? "ns" : "mm");
}

/* Where colours say how busy lines are, those that were not used have none. */
static bool has_colour(const struct scene_drawing *d, const struct scene_edge *e)
{
    return e->of_net && !d->sc->utilization;
}

void legend_find_kinds(struct scene_drawing *d)
{
    for (size_t i = 0; i < d->sc->n_edges; i++) {
        struct scene_edge *e = &d->sc->edge[i];
        char text[SCENE_KIND_BYTES];
        size_t k = 0;

        if (e->back) {
            e->colour = e[-1].colour;
            continue;
        }
        kind_text(d->sc, e, text);
        while (k < d->n_kinds && strcmp(d->kind[k].text, text) != 0)
            k++;
        if (k == SCENE_KINDS_MAX)
            continue;
        if (k == d->n_kinds) {
            d->n_kinds++;
            strcpy(d->kind[k].text, text);
            d->kind[k].colour = has_colour(d, e) ? d->n_colours++ % SCENE_COLOURS + 1 : 0;
        }
        e->colour = d->kind[k].colour;
    }
}

/* A bar of 60 to 150 px. Its length in mm is 1, 2 or 5 times a power of ten. */
static void put_scale_bar(struct scene_drawing *d, double x, double y)
{
    double scale = d->sc->scale, mm = pow(10, floor(log10(60 / scale)));
    char text[SVG_NUMBER_BYTES + 4], number[SVG_NUMBER_BYTES];

    while (mm * scale < 60)
        mm *= mm * scale < 30 && mm * 2 * scale < 60 ? 5 : 2;
    svg_start(&d->g, "g", NULL);
    svg_attr(&d->g, "data-scale-bar", svg_short(mm, 6, number));
    svg_inside(&d->g);
    svg_lines(
        &d->g, "axis",
        (struct svg_point[]){{x, y - 4}, {x, y}, {x + mm * scale, y}, {x + mm * scale, y - 4}}, 4);
    sprintf(text, "%s mm", number);
    svg_text(&d->g, NULL, x + mm * scale + 6, y + 2, SVG_START, text);
    svg_close(&d->g, "g");
}

/* Kinds are listed in columns from top to bottom. */
static size_t kind_rows(const struct scene_drawing *d)
{
    return (d->n_kinds + KIND_COLUMNS - 1) / KIND_COLUMNS;
}

/* The sum of all that legend_put() writes, which has to be known before the picture begins. */
double legend_height(const struct scene_drawing *d)
{
    return 40 + (double)kind_rows(d) * LEGEND_ROW + (d->sc->note ? LEGEND_ROW : 0) +
           (d->sc->has_kinds ? LEGEND_ROW : 0) +
           (d->sc->utilization ? 2 * LEGEND_ROW + 8 + (double)d->listed.n * LEGEND_ROW : 0) +
           (d->sc->utilization && d->sc->of_cubes ? LEGEND_ROW : 0);
}

/* The width of a column of the legend: that of its widest line. */
static double kind_width(const struct scene_drawing *d)
{
    double widest = 0;

    for (size_t k = 0; k < d->n_kinds; k++)
        widest = fmax(widest, svg_text_width(d->kind[k].text, SCENE_LETTER));
    return widest + 24 + (d->n_colours ? SAMPLE_PX : 0);
}

/* "Busy" with its colours, and the busiest edges, in the direction of their data. */
static double put_busiest(struct scene_drawing *d, double y)
{
    bool conflicts = view_utilization_conflicts(d->sc->utilization);
    bool buffers = view_utilization_is_of_buffers(d->sc->utilization);
    double x = SCENE_MARGIN + (conflicts ? 60 : 40);

    svg_text(&d->g, NULL, SCENE_MARGIN, y + 11, SVG_START,
             conflicts ? "Conflicts"
             : buffers ? "Full"
                       : "Busy");
    svg_heat_legend(&d->g, x, y);
    svg_text(&d->g, "dim", x + 34 * SVG_HEATS + 10, y + 11, SVG_START,
             conflicts     ? "% of segments close another row, or more"
             : buffers     ? "% of the fullest buffer there, in the mean"
             : d->listed.n ? "% of the time, or more; the busiest edges:"
                           : "% of the time, or more");
    y += 2 * LEGEND_ROW;
    for (size_t i = 0; i < d->listed.n; i++, y += LEGEND_ROW) {
        const struct view_edge_utilization *util = &d->listed.edge[i];
        char text[2 * KB_NODE_BYTES + SVG_NUMBER_BYTES + 16], number[SVG_NUMBER_BYTES];
        kb_node from = {.name = ""}, to = {.name = ""};

        kb_node_get(d->sc->cli->topo, util->from, &from);
        kb_node_get(d->sc->cli->topo, util->to, &to);
        sprintf(text, "%s %%  %s \xe2\x86\x92 %s", svg_short(util->pct, 1, number), from.name,
                to.name);
        svg_text(&d->g, "dim", SCENE_MARGIN, y, SVG_START, text);
    }
    if (d->sc->of_cubes) {
        svg_text(&d->g, "dim", SCENE_MARGIN, y, SVG_START, note_of_cubes(d));
        y += LEGEND_ROW;
    }
    return y + 8;
}

void legend_put(struct scene_drawing *d, double y)
{
    double column = kind_width(d), x = SCENE_MARGIN;
    size_t rows = kind_rows(d);

    if (d->sc->utilization)
        y = put_busiest(d, y);
    for (size_t k = 0; k < d->n_kinds; k++) {
        struct svg_point at = {x + (double)(k / rows) * column,
                               y + (double)(k % rows) * LEGEND_ROW + 12};
        double line = d->n_colours ? SAMPLE_PX : 0;
        char classes[16];

        if (d->n_colours)
            svg_line(&d->g, scene_classes("wire", d->kind[k].colour, NAN, classes), at.x, at.y - 4,
                     at.x + line - 6, at.y - 4);
        svg_text(&d->g, "dim", at.x + line, at.y, SVG_START, d->kind[k].text);
    }
    y += (double)rows * LEGEND_ROW + 12;
    if (d->sc->note) {
        svg_text(&d->g, "dim", x, y, SVG_START, d->sc->note);
        y += LEGEND_ROW;
    }
    if (d->sc->has_kinds) {
        svg_text(&d->g, "dim", x, y, SVG_START, kinds_note);
        y += LEGEND_ROW;
    }
    if (d->sc->scale > 0)
        put_scale_bar(d, x, y + 8);
}

double legend_width(const struct scene_drawing *d)
{
    double legend = fmin(KIND_COLUMNS, (double)d->n_kinds) * kind_width(d);
    double note = d->sc->note ? svg_text_width(d->sc->note, SCENE_LETTER) : 0;

    if (d->sc->utilization && d->sc->of_cubes)
        note = fmax(note, svg_text_width(note_of_cubes(d), SCENE_LETTER));
    return fmax(fmax(d->sc->width, 380), fmax(legend, note)) + 2 * SCENE_MARGIN;
}
