/* cell.h -- one value of a table, the column it stands in, and the record it comes from. */
#ifndef CELL_H
#define CELL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ROW_CELLS_MAX = 48 };

/* The kind of value in a cell, which tells every format how to print it. */
enum cell_type {
    CELL_NONE, /* nothing: empty, in JSON null */
    CELL_TEXT,
    CELL_COUNT,    /* an integer */
    CELL_NS,       /* a time, in fs; printed in ns */
    CELL_FRACTION, /* any other number; may be infinite */
    CELL_DECIMAL,  /* the same as it was written: 0.001 is not 0.00 */
    CELL_PERCENT,  /* per cent: 100.0 is all */
    CELL_ERROR,    /* a difference that should be small */
    CELL_NUMBER,   /* a number as text already, as JSON has it; every format keeps it */
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

/* -- columns -------------------------------------------------------------------------------- */

/* How C holds the value of a column. COLUMN() takes it from the type of the member. */
enum field_type {
    FIELD_NONE, /* no member: the row function sets the cell itself */
    FIELD_BOOL,
    FIELD_CHAR,
    FIELD_I32,
    FIELD_U32,
    FIELD_U64,
    FIELD_I64,    /* CELL_NS: fs; else a count, and none if it is below 0 */
    FIELD_DOUBLE, /* CELL_NS: ns */
    FIELD_TEXT,   /* char *; NULL is none */
    FIELD_CHARS,  /* char[] */
    FIELD_NAME,   /* char *, never NULL; what it points to stays while rows are written */
    FIELD_CELL,   /* struct cell: the record knows best */
};

/*
 * One column: its name, how it is printed, and where its value stands in the record of a row. A
 * table is an array of these, in the order in which they are printed:
 *
 *     COLUMN("end_ns", CELL_NS, kb_result, end_fs),
 *     COLUMN_IF("ci95_ns", CELL_NS, struct point, ci95_fs, has_ci95),
 *     COLUMN_WORD("op", kb_transaction, op, op_names),
 *
 * The second is empty unless has_ci95 is true (not 0, not NULL, not ""); the third prints
 * op_names[op]. A new column is one more of these lines.
 */
struct column {
    const char *name;
    enum cell_type type;       /* of most of its cells */
    uint16_t at;               /* of its value in the record, as offsetof() has it */
    uint16_t when;             /* of the member without which the cell is empty */
    uint8_t field, when_field; /* enum field_type; FIELD_NONE: no member; no condition */
    const char *const *words;  /* of a number that is printed as a word; else NULL */
};

/* By its address a char * is told from a char[]. */
#define FIELD_OF_(value) _Generic(&(value), char ** : FIELD_TEXT, default : FIELD_OF_VALUE_(value))
#define FIELD_OF_VALUE_(value)                                                                     \
    _Generic((value),                                                                              \
        bool: FIELD_BOOL,                                                                          \
        char: FIELD_CHAR,                                                                          \
        int32_t: FIELD_I32,                                                                        \
        uint32_t: FIELD_U32,                                                                       \
        uint64_t: FIELD_U64,                                                                       \
        int64_t: FIELD_I64,                                                                        \
        double: FIELD_DOUBLE,                                                                      \
        const char *: FIELD_TEXT,                                                                  \
        char *: FIELD_CHARS,                                                                       \
        struct cell: FIELD_CELL)
#define AT_(RECORD, member)                                                                        \
    .at = offsetof(RECORD, member), .field = FIELD_OF_(((RECORD *)NULL)->member)

#define COLUMN(NAME, TYPE, RECORD, member)                                                         \
    {                                                                                              \
        .name = NAME, .type = TYPE, AT_(RECORD, member)                                            \
    }
#define COLUMN_IF(NAME, TYPE, RECORD, member, condition)                                           \
    {                                                                                              \
        .name = NAME, .type = TYPE, AT_(RECORD, member), .when = offsetof(RECORD, condition),      \
        .when_field = FIELD_OF_(((RECORD *)NULL)->condition)                                       \
    }
#define COLUMN_WORD(NAME, RECORD, member, WORDS)                                                   \
    {                                                                                              \
        .name = NAME, .type = CELL_TEXT, AT_(RECORD, member), .words = WORDS                       \
    }
#define COLUMN_NAME(NAME, RECORD, member)                                                          \
    {                                                                                              \
        .name = NAME, .type = CELL_TEXT, .at = offsetof(RECORD, member), .field = FIELD_NAME       \
    }
/* A column whose cells the row function sets itself. */
#define COLUMN_BY_HAND(NAME, TYPE)                                                                 \
    {                                                                                              \
        .name = NAME, .type = TYPE                                                                 \
    }

/* -- cells ---------------------------------------------------------------------------------- */

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

/* -- the cells of a record ------------------------------------------------------------------ */

/* Is the member not 0, NULL or ""? */
static inline bool field_is_set(enum field_type field, const void *at)
{
    switch (field) {
    case FIELD_NONE:
        return true;
    case FIELD_BOOL:
        return *(const bool *)at;
    case FIELD_CHAR:
    case FIELD_CHARS:
        return *(const char *)at != '\0';
    case FIELD_I32:
    case FIELD_U32:
        return *(const uint32_t *)at != 0;
    case FIELD_U64:
    case FIELD_I64:
        return *(const uint64_t *)at != 0;
    case FIELD_DOUBLE:
        return *(const double *)at > 0 || *(const double *)at < 0;
    case FIELD_TEXT:
    case FIELD_NAME:
        return *(const char *const *)at != NULL;
    case FIELD_CELL:
        return ((const struct cell *)at)->type != CELL_NONE;
    }
    return false;
}

static inline struct cell cell_signed(enum cell_type type, int64_t value)
{
    if (type == CELL_NS)
        return cell_ns(value);
    return value < 0 ? cell_none() : cell_count((uint64_t)value);
}

static inline struct cell field_cell(const struct column *column, const void *at)
{
    const char *text;

    switch ((enum field_type)column->field) {
    case FIELD_BOOL:
        return cell_count(*(const bool *)at);
    case FIELD_I32:
        return cell_signed(column->type, *(const int32_t *)at);
    case FIELD_U32:
        return column->words ? cell_text(column->words[*(const uint32_t *)at])
                             : cell_count(*(const uint32_t *)at);
    case FIELD_U64:
        return cell_count(*(const uint64_t *)at);
    case FIELD_I64:
        return cell_signed(column->type, *(const int64_t *)at);
    case FIELD_DOUBLE:
        if (column->type == CELL_NS) /* ns: a sum that may pass 2^63 fs */
            return cell_fraction(*(const double *)at);
        return (struct cell){.type = column->type, .value = *(const double *)at};
    case FIELD_TEXT:
    case FIELD_NAME:
        text = *(const char *const *)at;
        return text ? cell_text(text) : cell_none();
    case FIELD_CHARS:
        return cell_text(at);
    case FIELD_CELL:
        return *(const struct cell *)at;
    case FIELD_CHAR:
    case FIELD_NONE:
        break;
    }
    return cell_none();
}

/*
 * The cells of one row. Texts stay in the record, which must outlive the cells. With a constant
 * table the loop unrolls into plain loads and stores: rows by the million are printed through it.
 */
static inline void record_cells(const struct column *columns, size_t n, const void *record,
                                struct cell *cells)
{
#pragma GCC unroll 32
    for (size_t c = 0; c < n; c++) {
        const struct column *column = &columns[c];
        const char *from = record;

        if (column->when_field &&
            !field_is_set((enum field_type)column->when_field, from + column->when))
            cells[c] = cell_none();
        else
            cells[c] = field_cell(column, from + column->at);
    }
}

#endif
