/* report_parts.h -- the parts of a report's page: sections, tables, plots. */
#ifndef REPORT_PARTS_H
#define REPORT_PARTS_H
#include "cli/command.h"

enum {
    REPORT_ROWS_SHOWN = 1000,  /* of a table, at once */
    REPORT_ROWS_KEPT = 100000, /* of a table, for sorting and filtering */
    REPORT_LABEL_BYTES = 160,
};

/* Style and script of every page: report.css, report.js. */
extern const char report_css[], report_js[];

/* -- HTML ----------------------------------------------------------------------------------- */

/* A text, escaped. */
void html_text(struct sink *s, const char *text);
void html_count(struct sink *s, uint64_t n);

/* `text` in an element without attributes. */
void html_element(struct sink *s, const char *element, const char *text);

/* A picture, which may be wider than the page; `titled`: it has a title, and needs no caption. */
void html_begin_picture(struct sink *s, const char *caption, bool titled);
void html_end_picture(struct sink *s);

/* -- tables --------------------------------------------------------------------------------- */

/*
 * A table that can be sorted and filtered; its `id` is unique in the page. The rows are in the page
 * twice, as HTML and as JSON; with `origin` the latter is the same as of --format json.
 */
void report_table(struct sink *s, const char *id, const char *caption, const struct rows *rows,
                  const struct origin *origin);

/* The number of the column with that name; SIZE_MAX: there is none. */
size_t report_column(const struct rows *rows, const char *name);

/* A cell as a number, times in ns; NAN: it is empty or a text. */
double report_number(const struct cell *cell);

/* The cell in the column with that name, as a number (NAN: there is none) and as a text (""). */
double report_value(const struct rows *rows, const struct cell *cells, const char *name);
const char *report_text(const struct rows *rows, const struct cell *cells, const char *name);

/*
 * Rounds to 1 or 2 decimals from the six that JSON has, halves up. report.js rounds the same way
 * when it writes sorted rows, so that no digit changes then.
 */
double report_round(double value, int decimals);

/* -- sentences ------------------------------------------------------------------------------ */

/* The sentence with which a section begins: what it shows. Nothing if rows do not tell. */
void lead_begin(struct sink *s);
void lead_end(struct sink *s);
void lead_results(struct sink *s, const struct cli *cli, const struct rows *rows);
void lead_plots(struct sink *s, const struct cli *cli, const struct rows *rows);
void lead_part(struct sink *s, const char *part, double percent);
void lead_busiest(struct sink *s, const char *kind, const char *name, double percent,
                  const char *when);

/* -- plots ---------------------------------------------------------------------------------- */

/* The plot that sums up the command: latency and throughput, a roofline, curves; none of replay. */
void report_plots(struct sink *s, const struct cli *cli, const struct rows *rows);

void report_study(struct sink *s, const struct rows *rows);

/* The parts of latency, by the columns wire_ns, overhead_ns, ...: of each case, rate or op. */
void report_breakdown(struct sink *s, const struct cli *cli, const struct rows *rows);

/* The same of rows that are sums: of commands of kernels. The column `of` names them. */
void report_breakdown_sums(struct sink *s, const struct cli *cli, const struct rows *rows);

/* The zero-load latency of a read of `bytes` from every PE to every slice, or from cube to cube.
 * EXIT_SYSTEM after a message. */
enum exit_code report_distances(struct sink *s, const struct cli *cli, uint64_t bytes);

#endif
