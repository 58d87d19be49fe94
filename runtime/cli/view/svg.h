/* svg.h -- pictures: shapes, texts and colours, written as SVG. */
#ifndef SVG_H
#define SVG_H
#include "cli/out/sink.h"
#include <math.h>

/* The style of pictures, svg.css: colours are CSS variables (--kb-ink, --kb-bg, ...) for a light
 * and a dark page, which a page may override on svg.kb. */
extern const char svg_css[];

/* A picture that is being written. All lengths are in px, and written with at most two decimals. */
struct svg {
    struct sink *s;
    const char *prefix; /* of ids: pictures in one page need different ones; borrowed */
    bool in_page;       /* which has the style already; else the picture has its own */
    double width, height;
};

/* Begins an <svg> of that size, with style, background and a title for screen readers. */
void svg_begin(struct svg *g, const char *title);
void svg_end(struct svg *g);

/* -- elements: start, attributes, then either inside and close, or empty -------------------- */

void svg_start(struct svg *g, const char *element, const char *classes); /* NULL: no class */
void svg_attr(struct svg *g, const char *name, const char *text);        /* escapes `text` */
void svg_attr_number(struct svg *g, const char *name, double value);
void svg_attr_id(struct svg *g, const char *id); /* id="PREFIX-ID" */
void svg_inside(struct svg *g);
void svg_close(struct svg *g, const char *element);
void svg_empty(struct svg *g);

/* -- shapes --------------------------------------------------------------------------------- */

enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

struct svg_point {
    double x, y;
};

/* Of a line, in px; by hypot() a program would need a newer glibc than by anything else. */
static inline double svg_length(double dx, double dy)
{
    return sqrt(dx * dx + dy * dy);
}

void svg_rect(struct svg *g, const char *classes, double x, double y, double w, double h);
void svg_line(struct svg *g, const char *classes, double x1, double y1, double x2, double y2);
void svg_lines(struct svg *g, const char *classes, const struct svg_point *at, size_t n);
void svg_dot(struct svg *g, const char *classes, double x, double y, double radius);
void svg_text(struct svg *g, const char *classes, double x, double y, enum svg_anchor anchor,
              const char *text);
/* The same, turned by a quarter: it reads upwards. */
void svg_text_up(struct svg *g, const char *classes, double x, double y, enum svg_anchor anchor,
                 const char *text);
/* The tooltip of the element that is open. */
void svg_tip(struct svg *g, const char *text);

/* An upper bound of the width of `text`, at that size of letters. */
double svg_text_width(const char *text, double size);

/* -- raw pieces ----------------------------------------------------------------------------- */

/* Writes `text` as XML; bytes that are no UTF-8 and no character of XML become U+FFFD. */
void svg_escape(struct sink *s, const char *text);

/* Writes at most two decimals, without trailing zeros. */
void svg_number(struct sink *s, double value);

enum { SVG_NUMBER_BYTES = 340 };

/* `value` with up to `decimals` decimals, without trailing zeros. Returns `text`. */
const char *svg_short(double value, int decimals, char text[SVG_NUMBER_BYTES]);

/* -- how busy ------------------------------------------------------------------------------- */

enum { SVG_HEATS = 8 };

/* The class of a utilization, "u0" .. "u7": it colours shapes, which are filled (class "fill") or
 * drawn, and makes texts on them legible. NaN: "". */
const char *svg_heat(double pct);

/* The fill of a class on a light page: "#f6dc8c"; "none". Returns `colour`. */
enum { SVG_COLOUR_BYTES = 8 };
const char *svg_colour(const char *class_name, char colour[SVG_COLOUR_BYTES]);

/* A legend of the classes, with per cent; returns its width. */
double svg_heat_legend(struct svg *g, double x, double y);

#endif
