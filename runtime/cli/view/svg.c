/*
 * svg.c -- pictures: shapes, texts, colours and axes, written as SVG.
 *
 * A picture stands alone in a file, and inside the page of a report. So each has its whole <style>,
 * all selectors begin with svg.kb, and ids have a prefix. Colours are given twice, as a plain value
 * and as a CSS variable with that value as its default: programs that know no variables (most that
 * are not browsers) take the first, a page can override the second. The variables have a light and
 * a dark value, by the scheme of the reader.
 *
 * The width of a text has to be known without a font: svg_text_width() adds up a
 * width for each letter, of the widest of the usual sans-serif fonts.
 *
 * A shape is started, gets attributes, and is closed: svg_start(), svg_attr(), svg_inside() if it
 * has contents, svg_close() or svg_empty(). Numbers have two decimals and no trailing zeros, so
 * that files are short and the same on any machine.
 */
#include "cli/view/svg.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/text.h"

/* -- colours -------------------------------------------------------------------------------- */

const char *svg_colour(const char *class_name, char colour[SVG_COLOUR_BYTES])
{
    char name[32];
    const char *found;

    snprintf(name, sizeof name, "(--kb-%.16s,", class_name);
    found = strstr(svg_css, name);
    snprintf(colour, SVG_COLOUR_BYTES, "%.7s", found ? found + strlen(name) : "none");
    return colour;
}

/* -- raw pieces ----------------------------------------------------------------------------- */

static const char *entity_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    default:
        return NULL;
    }
}

/* Is the character allowed in XML? `c` is its first byte as UTF-8. */
static bool is_xml(const char *c)
{
    if ((unsigned char)*c < ' ')
        return *c == '\t' || *c == '\n';
    return strcmp(c, "\xef\xbf\xbe") != 0 && strcmp(c, "\xef\xbf\xbf") != 0;
}

void svg_escape(struct sink *s, const char *text)
{
    while (*text) {
        char utf8[8], *end = text_put_utf8(utf8, &text);

        *end = '\0';
        const char *entity = entity_of(*utf8);
        sink_text(s, entity ? entity : is_xml(utf8) ? utf8 : "\xef\xbf\xbd");
    }
}

const char *svg_short(double value, int decimals, char text[SVG_NUMBER_BYTES])
{
    if (!isfinite(value))
        return isnan(value) ? "-" : value > 0 ? "\xe2\x88\x9e" : "-\xe2\x88\x9e";
    char *end = text + text_format(text, SVG_NUMBER_BYTES, "%.*f", decimals, value);
    if (decimals > 0) {
        while (end[-1] == '0')
            *--end = '\0';
        if (end[-1] == '.')
            *--end = '\0';
    }
    return strcmp(text, "-0") == 0 ? text + 1 : text;
}

void svg_number(struct sink *s, double value)
{
    char text[SVG_NUMBER_BYTES];

    sink_text(s, svg_short(value, 2, text));
}

/*
 * Narrow and wide letters, of the widest of the usual fonts. "c0" in 11 px is 11 * (0.57 + 0.636)
 * = 13.3 px wide. A text is at most that wide in the reader's font, so it fits where it was
 * placed.
 */
double svg_text_width(const char *text, double size)
{
    double n = 0;

    for (; *text; text++)
        if (((unsigned char)*text & 0xc0) != 0x80)
            n += strchr("iljt.,:;|!'()[] ", *text) ? 0.4
                 : strchr("mwMW@%", *text)         ? 0.95
                 : strchr("ckrsvxyz", *text)       ? 0.57
                                                   : 0.636;
    return n * size;
}

/* -- elements ------------------------------------------------------------------------------- */

/* The title is also the name that screen readers give the picture (role img). */
void svg_begin(struct svg *g, const char *title)
{
    struct sink *s = g->s;

    sink_text(s, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"kb\"");
    svg_attr_number(g, "width", g->width);
    svg_attr_number(g, "height", g->height);
    sink_text(s, " viewBox=\"0 0 ");
    svg_number(s, g->width);
    sink_char(s, ' ');
    svg_number(s, g->height);
    sink_text(s, "\" role=\"img\"");
    sink_text(s, " aria-labelledby=\"");
    svg_escape(s, g->prefix);
    sink_text(s, "-title\">\n<title");
    svg_attr_id(g, "title");
    svg_inside(g);
    svg_escape(s, title);
    sink_text(s, "</title>\n");
    if (!g->in_page) {
        sink_text(s, "<style>\n");
        sink_text(s, svg_css);
        sink_text(s, "</style>\n");
    }
    svg_rect(g, "bg", 0, 0, g->width, g->height);
}

void svg_end(struct svg *g)
{
    svg_close(g, "svg");
}

void svg_start(struct svg *g, const char *element, const char *classes)
{
    sink_char(g->s, '<');
    sink_text(g->s, element);
    if (classes && *classes)
        svg_attr(g, "class", classes);
}

void svg_attr(struct svg *g, const char *name, const char *text)
{
    sink_char(g->s, ' ');
    sink_text(g->s, name);
    sink_text(g->s, "=\"");
    svg_escape(g->s, text);
    sink_char(g->s, '"');
}

void svg_attr_number(struct svg *g, const char *name, double value)
{
    char text[SVG_NUMBER_BYTES];

    svg_attr(g, name, svg_short(value, 2, text));
}

void svg_attr_id(struct svg *g, const char *id)
{
    sink_text(g->s, " id=\"");
    svg_escape(g->s, g->prefix);
    sink_char(g->s, '-');
    svg_escape(g->s, id);
    sink_char(g->s, '"');
}

void svg_inside(struct svg *g)
{
    sink_char(g->s, '>');
}

void svg_close(struct svg *g, const char *element)
{
    sink_text(g->s, "</");
    sink_text(g->s, element);
    sink_text(g->s, ">\n");
}

void svg_empty(struct svg *g)
{
    sink_text(g->s, "/>\n");
}

/* -- shapes --------------------------------------------------------------------------------- */

void svg_rect(struct svg *g, const char *classes, double x, double y, double w, double h)
{
    svg_start(g, "rect", classes);
    svg_attr_number(g, "x", x);
    svg_attr_number(g, "y", y);
    svg_attr_number(g, "width", w);
    svg_attr_number(g, "height", h);
    svg_empty(g);
}

void svg_line(struct svg *g, const char *classes, double x1, double y1, double x2, double y2)
{
    svg_lines(g, classes, (struct svg_point[]){{x1, y1}, {x2, y2}}, 2);
}

void svg_lines(struct svg *g, const char *classes, const struct svg_point *at, size_t n)
{
    svg_start(g, "path", classes);
    sink_text(g->s, " d=\"");
    for (size_t i = 0; i < n; i++) {
        sink_char(g->s, i == 0 ? 'M' : 'L');
        svg_number(g->s, at[i].x);
        sink_char(g->s, ' ');
        svg_number(g->s, at[i].y);
    }
    sink_char(g->s, '"');
    svg_empty(g);
}

void svg_dot(struct svg *g, const char *classes, double x, double y, double radius)
{
    svg_start(g, "circle", classes);
    svg_attr_number(g, "cx", x);
    svg_attr_number(g, "cy", y);
    svg_attr_number(g, "r", radius);
    svg_empty(g);
}

static void put_text(struct svg *g, enum svg_anchor anchor, const char *text)
{
    static const char *const anchors[] = {"start", "middle", "end"};

    if (anchor != SVG_START)
        svg_attr(g, "text-anchor", anchors[anchor]);
    svg_inside(g);
    svg_escape(g->s, text);
    svg_close(g, "text");
}

void svg_text(struct svg *g, const char *classes, double x, double y, enum svg_anchor anchor,
              const char *text)
{
    svg_start(g, "text", classes);
    svg_attr_number(g, "x", x);
    svg_attr_number(g, "y", y);
    put_text(g, anchor, text);
}

void svg_text_up(struct svg *g, const char *classes, double x, double y, enum svg_anchor anchor,
                 const char *text)
{
    svg_start(g, "text", classes);
    sink_text(g->s, " transform=\"translate(");
    svg_number(g->s, x);
    sink_char(g->s, ' ');
    svg_number(g->s, y);
    sink_text(g->s, ") rotate(-90)\"");
    put_text(g, anchor, text);
}

void svg_tip(struct svg *g, const char *text)
{
    sink_text(g->s, "<title>");
    svg_escape(g->s, text);
    sink_text(g->s, "</title>");
}

/* -- how busy ------------------------------------------------------------------------------- */

/* The lowest per cent of each class; the last is for edges with more traffic than they can carry.
 */
static const double heat_from[SVG_HEATS] = {0, 1, 10, 25, 50, 75, 90, 100.000001};
static const char *const heat_names[SVG_HEATS] = {"u0", "u1", "u2", "u3", "u4", "u5", "u6", "u7"};
static const char *const heat_labels[SVG_HEATS] = {"0", "1", "10", "25", "50", "75", "90", ">100"};

const char *svg_heat(double pct)
{
    int i = SVG_HEATS - 1;

    if (isnan(pct))
        return "";
    while (i > 0 && pct < heat_from[i])
        i--;
    return heat_names[i];
}

double svg_heat_legend(struct svg *g, double x, double y)
{
    enum { WIDTH = 34, HEIGHT = 14 };

    for (int i = 0; i < SVG_HEATS; i++) {
        char classes[16];

        sprintf(classes, "fill %s", heat_names[i]);
        svg_rect(g, classes, x + i * WIDTH, y, WIDTH, HEIGHT);
        svg_start(g, "g", heat_names[i]);
        svg_inside(g);
        svg_text(g, NULL, x + i * WIDTH + WIDTH / 2.0, y + HEIGHT - 3.5, SVG_MIDDLE,
                 heat_labels[i]);
        svg_close(g, "g");
    }
    return SVG_HEATS * WIDTH;
}
