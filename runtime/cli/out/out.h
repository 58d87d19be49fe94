/* out.h -- results as rows of cells, and the formats in which they are printed. */
#ifndef OUT_H
#define OUT_H
#include "kernbench.h"
#include "cli/out/sink.h"

enum format {
#define FORMAT(NAME, name) FORMAT_##NAME,
#define FORMATS                                                                                    \
    FORMAT(TABLE, table)                                                                           \
    FORMAT(CSV, csv)                                                                               \
    FORMAT(JSON, json) FORMAT(JSONL, jsonl) FORMAT(MD, md) FORMAT(SVG, svg) FORMAT(DOT, dot)
    FORMATS
#undef FORMAT
        N_FORMATS
};

/* Is it one of pictures, and not of rows? */
static inline bool format_is_picture(enum format format)
{
    return format == FORMAT_SVG || format == FORMAT_DOT;
}

/* What a cell holds, and so how every format prints it. */
enum cell_type {
    CELL_NONE, /* nothing: empty, in JSON null */
    CELL_TEXT,
    CELL_COUNT,    /* an integer */
    CELL_NS,       /* a time, in fs; printed in ns */
    CELL_FRACTION, /* any other number; may be infinite */
    CELL_DECIMAL,  /* the same, as somebody has written it: 0.001 is not 0.00 */
    CELL_PERCENT,  /* per cent: 100.0 is all */
    CELL_ERROR,    /* a difference that should be small */
    CELL_NUMBER, /* a number that is written down already, as JSON has it; every format keeps it */
};

struct cell {
    enum cell_type type;
    union {
        const char *text; /* borrowed until the next row; under TEXT_NUMBER_BYTES of a number */
        uint64_t count;
        int64_t fs;
        double value;
    };
};

struct column {
    const char *name;
    enum cell_type type; /* of most of its cells */
};

enum { ROW_CELLS_MAX = 32 };

/* A table. Its rows are made when they are printed, by a format that measures them twice. */
struct rows {
    const struct column *columns;
    size_t n_columns;
    uint64_t n_rows;
    bool (*row)(void *arg, uint64_t i, struct cell *cells); /* false: row i is left out */
    void *arg;
    const char *note; /* lines below a table for people; NULL: none */
};

/* An argument that a result was made with. */
struct origin_arg {
    const char *name, *value;
    bool is_number;
};

/* What a result says about its origin. */
struct origin {
    const char *command; /* "probe" */
    const char *command_line;
    const kb_info *info;
    uint64_t seed;
    const struct origin_arg *args; /* NULL: the command takes none of the kind */
    size_t n_args;
    const struct origin_arg *params; /* options and operands; a value may be NULL */
    size_t n_params;
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
void out_table(const struct rows *rows, struct sink *s);
void out_csv_head(const struct rows *rows, struct sink *s);
void out_csv_rows(const struct rows *rows, uint64_t from, uint64_t to, struct sink *s);
void out_json_head(const struct origin *origin, struct sink *s);
void out_json_rows(const struct rows *rows, uint64_t from, uint64_t to, struct sink *s);
void out_json_tail(struct sink *s);
void out_jsonl_head(const struct origin *origin, struct sink *s);
void out_jsonl_rows(const struct rows *rows, uint64_t from, uint64_t to, struct sink *s);
void out_md_head(const struct rows *rows, struct sink *s);
void out_md_rows(const struct rows *rows, uint64_t from, uint64_t to, struct sink *s);
void out_md_tail(const struct rows *rows, struct sink *s);

/* A cell's number for machines (six decimals) or for people (fewer), to `to`. Not for texts. */
char *cell_put_exact(char *to, const struct cell *cell);
char *cell_put_rounded(char *to, const struct cell *cell);

static inline struct cell cell_none(void)
{
    return (struct cell){.type = CELL_NONE};
}

static inline struct cell cell_text(const char *text)
{
    return (struct cell){.type = CELL_TEXT, .text = text};
}

static inline struct cell cell_number(const char *text)
{
    return (struct cell){.type = CELL_NUMBER, .text = text};
}

static inline struct cell cell_count(uint64_t count)
{
    return (struct cell){.type = CELL_COUNT, .count = count};
}

static inline struct cell cell_ns(int64_t fs)
{
    return (struct cell){.type = CELL_NS, .fs = fs};
}

static inline struct cell cell_fraction(double value)
{
    return (struct cell){.type = CELL_FRACTION, .value = value};
}

static inline struct cell cell_decimal(double value)
{
    return (struct cell){.type = CELL_DECIMAL, .value = value};
}

static inline struct cell cell_percent(double value)
{
    return (struct cell){.type = CELL_PERCENT, .value = value};
}

static inline struct cell cell_error(double value)
{
    return (struct cell){.type = CELL_ERROR, .value = value};
}

#endif
