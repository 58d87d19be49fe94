/* report_parts.h -- the parts of a report's page: its data as JSON, its pictures. */
#ifndef REPORT_PARTS_H
#define REPORT_PARTS_H
#include "cli/command.h"
#include "cli/rows/utilization_rows.h"

enum { REPORT_ROWS_KEPT = 100000 /* of a table */ };

/* Style and script of every page: report.css, and five scripts in this order. */
extern const char report_css[], report_plots_js[], report_keys_js[], report_tables_js[],
    report_sections_js[], report_js[];

/* -- JSON ----------------------------------------------------------------------------------- */

/* A member of an object, with a comma in front unless it is the first: "key":"text", "key":12. */
void json_text(struct sink *s, const char *key, const char *text);
void json_number(struct sink *s, const char *key, double value);
void json_key(struct sink *s, const char *key);

/* A time in ns, without trailing zeros. */
void json_ns(struct sink *s, int64_t fs);

/*
 * A member with the first REPORT_ROWS_KEPT rows: lists of values, so that the names of columns
 * stand there once, in "columns", beside the type of each (a letter, see report.js) and when it is
 * left out if there is no room. With `origin` it begins as --format json does.
 */
void json_table(struct sink *s, const char *key, const struct rows *rows,
                const struct origin *origin);

/* -- what a simulation has used -------------------------------------------------------------- */

/* All zero is none. */
struct report_utilization {
    char *when; /* owned: " at rate 0.8" */
    struct utilization_rows stats;
};

/* Keeps the utilization of `sim`, instead of that of an earlier call. */
void utilization_take(struct report_utilization *u, const kb_sim *sim, const char *when);
void utilization_free(struct report_utilization *u);

/* Rows of --stats, the busiest first. */
void utilization_table(struct report_utilization *u, struct sink *json);

/* The machine, coloured if there was a simulation. EXIT_SYSTEM after a message. */
enum exit_code utilization_pictures(const struct report_utilization *u, const struct cli *cli,
                                    struct sink *html);

/* -- the machine ----------------------------------------------------------------------------- */

/* The zero-load latency of a read of `bytes` from every PE to every slice, or from cube to cube.
 * EXIT_SYSTEM after a message. */
enum exit_code report_distances(struct sink *json, const struct cli *cli, uint64_t bytes);

#endif
