/* out.h -- results as rows of cells, and the formats in which they are printed. */
#ifndef OUT_H
#define OUT_H
#include "base/provenance.h"
#include "kernbench.h"
#include "cli/out/cell.h"
#include "cli/out/sink.h"

enum format {
#define FORMAT(NAME, name) FORMAT_##NAME,
#define FORMATS                                                                                    \
    FORMAT(TABLE, table)                                                                           \
    FORMAT(CSV, csv)                                                                               \
    FORMAT(JSON, json)                                                                             \
    FORMAT(JSONL, jsonl) FORMAT(NDJSON, ndjson) FORMAT(MD, md) FORMAT(SVG, svg) FORMAT(DOT, dot)
    FORMATS
#undef FORMAT
        N_FORMATS
};

/* Is it a format of pictures, not of rows? */
static inline bool format_is_picture(enum format format)
{
    return format == FORMAT_SVG || format == FORMAT_DOT;
}

/*
 * A table. Its rows are made when they are printed; FORMAT_TABLE makes each twice, first to measure
 * it. Most row functions fill a record and call record_cells() (cell.h). A table whose records
 * stand in an array has none: ROWS_ARRAY.
 */
struct rows {
    const struct column *columns;
    size_t n_columns;
    uint64_t n_rows;
    bool (*row)(void *arg, uint64_t i, struct cell *cells); /* false: row i is left out */
    void *arg;
    const void *array; /* without `row` the records, each of `record_bytes` */
    /* For many rows: the record of row `i` by itself, of which `columns` tell all; NULL: it is left
     * out. The member may be NULL: then there are only cells. */
    const void *(*record)(void *arg, uint64_t i);
    size_t record_bytes;
    const char *note;          /* lines below a table for people; NULL: none */
    const struct rows *totals; /* sums of rows, for JSON, by other columns; NULL: none */
    const char *warning; /* why all rows may mislead; "": nothing; NULL: they are never asked */
};

/* `struct rows rows = {ROWS_COLUMNS(columns), ...}`, of an array. */
#define ROWS_COLUMNS(COLUMNS) .columns = (COLUMNS), .n_columns = sizeof(COLUMNS) / sizeof *(COLUMNS)

/* The same of N records from FIRST on: `struct rows rows = {ROWS_COLUMNS(columns),
 * ROWS_ARRAY(first, n)}` */
#define ROWS_ARRAY(FIRST, N) .array = (FIRST), .record_bytes = sizeof *(FIRST), .n_rows = (N)

/* The cells of row `i`; false: it is left out. */
bool rows_cells(const struct rows *rows, uint64_t i, struct cell *cells);

/* An argument that a result was made with. */
struct origin_arg {
    const char *name, *value;
    bool is_number;
};

/* The origin that a result tells. */
struct origin {
    const char *command; /* "probe" */
    const char *command_line;
    const kb_info *info;
    const struct provenance *sources;
    uint64_t seed;
    const struct origin_arg *args; /* NULL: the command takes none of the kind */
    size_t n_args;
    const struct origin_arg *params; /* options and operands; a value may be NULL */
    size_t n_params;
    const char *columns; /* of FORMAT_TABLE: --columns; NULL: as many as fit */
};

void out_write(const struct rows *rows, const struct origin *origin, enum format format,
               struct sink *s);

/*
 * The same in pieces, the rows from `from` up to `to` at a time, so that several threads can print
 * them. No piece but row 0's may be the first that has a row. Not for FORMAT_TABLE, which measures
 * all rows before it prints one.
 */
void out_head(const struct rows *rows, const struct origin *origin, enum format format,
              struct sink *s);
void out_rows(const struct rows *rows, uint64_t from, uint64_t to, enum format format,
              struct sink *s);
void out_tail(const struct rows *rows, enum format format, struct sink *s);

/* The formats, out_*.c. Rows go by one at a time; none is kept. */
void out_table(const struct rows *rows, const char *columns, struct sink *s);
void out_csv_head(const struct rows *rows, struct sink *s);
void out_csv_rows(const struct rows *rows, uint64_t from, uint64_t to, struct sink *s);
void out_json_head(const struct rows *rows, const struct origin *origin, struct sink *s);
void out_json_rows(const struct rows *rows, uint64_t from, uint64_t to, struct sink *s);
void out_json_tail(struct sink *s);
/* A string, and the value of a cell, for other objects. */
void out_json_string(struct sink *s, const char *text);
void out_json_cell(struct sink *s, const struct cell *cell);

/* The origin alone, and what the rows are made of, as one object. */
void out_json_origin(const struct origin *origin, struct sink *s);
void out_jsonl_head(const struct rows *rows, const struct origin *origin, struct sink *s);
void out_jsonl_rows(const struct rows *rows, uint64_t from, uint64_t to, struct sink *s);
void out_md_head(const struct rows *rows, struct sink *s);
void out_md_rows(const struct rows *rows, uint64_t from, uint64_t to, struct sink *s);
void out_md_tail(const struct rows *rows, struct sink *s);

#endif
