/* utilization_rows.h -- what --stats writes: everything that a simulation has used, and how much.
 */
#ifndef UTILIZATION_ROWS_H
#define UTILIZATION_ROWS_H
#include "cli/command.h"

/* The utilization of a simulation, kept. All zero is none; give it back with
 * utilization_rows_free(). */
struct utilization_rows {
    kb_utilization *use; /* owned */
    size_t n, room;
    bool has_rows;                        /* of banks: a memory has them */
    bool has_lines;                       /* of caches */
    bool has_vcs;                         /* of routers */
    bool failed;                          /* there was no memory */
    struct column columns[ROW_CELLS_MAX]; /* of the table, which tells of what there is */
    size_t n_columns;
};

/* Before the simulation: can the file be written? */
enum exit_code stats_file_check(const struct cli *cli);

/* Keeps what `sim` has used, if it is asked for: it may be freed then. */
void utilization_rows_take(struct utilization_rows *stats, const struct cli *cli,
                           const kb_sim *sim);

/* Keeps it without being asked. */
void utilization_rows_keep(struct utilization_rows *stats, const kb_sim *sim);

/* The rows of --stats. */
struct rows utilization_rows_table(struct utilization_rows *stats);

/*
 * Writes what was taken to the file of --stats, if there is one: after the command's own output,
 * which ended with `code`, and if that is kept. `args` are those of a bench, or NULL.
 *
 * returns  `code`, or EXIT_SYSTEM after a message
 */
enum exit_code stats_file_write(struct utilization_rows *stats, const struct cli *cli,
                                const struct origin_arg *args, size_t n_args, enum exit_code code);

/* The same, of rows that are there: those of many machines, or runs. */
enum exit_code stats_file_print(const struct rows *rows, const struct cli *cli,
                                const struct origin_arg *args, size_t n_args, enum exit_code code);

void utilization_rows_free(struct utilization_rows *stats);

#endif
