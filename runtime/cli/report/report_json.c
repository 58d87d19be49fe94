/*
 * report_json.c -- the data of a report's page: members of one object, tables among them.
 *
 *     "use":{"rows":[
 *     ["edge","sip0.cube1.noc -> sip0.cube1.ucie-E",78.913704,1024],
 *     ...
 *     ],"columns":["kind","name","util_pct","busy_ns"],"types":"ttpn","ranks":[-1,-1,31,-1],
 *     "all":1112}
 *
 * A number has the digits of --format json without trailing zeros, so it has the same value. What
 * could end the <script> that the object stands in is escaped when the page is written.
 */
#include "base/text.h"
#include "cli/out/columns.h"
#include "cli/report/report_parts.h"
#include <math.h>
#include <string.h>

void json_key(struct sink *s, const char *key)
{
    if (s->at != s->buffer && s->at[-1] != '{')
        sink_char(s, ',');
    out_json_string(s, key);
    sink_char(s, ':');
}

void json_text(struct sink *s, const char *key, const char *text)
{
    json_key(s, key);
    out_json_string(s, text);
}

/* Takes back the zeros behind the point of a number that begins at `from`. */
static void drop_zeros(struct sink *s, const char *from)
{
    if (!memchr(from, '.', (size_t)(s->at - from)) || memchr(from, 'e', (size_t)(s->at - from)))
        return;
    while (s->at[-1] == '0')
        s->at--;
    if (s->at[-1] == '.')
        s->at--;
}

static void put_cell(struct sink *s, const struct cell *cell)
{
    size_t before;

    sink_room(s, TEXT_NUMBER_BYTES);
    before = (size_t)(s->at - s->buffer);
    out_json_cell(s, cell);
    if (cell->type != CELL_TEXT && cell->type != CELL_NUMBER)
        drop_zeros(s, s->buffer + before);
}

void json_number(struct sink *s, const char *key, double value)
{
    struct cell cell = cell_fraction(value);

    json_key(s, key);
    put_cell(s, &cell);
}

void json_ns(struct sink *s, int64_t fs)
{
    struct cell cell = cell_ns(fs);

    put_cell(s, &cell);
}

/* -- tables --------------------------------------------------------------------------------- */

/* How report.js shows a type of cell. */
static char letter_of(enum cell_type type)
{
    static const char letters[] = {
        [CELL_NONE] = '-',    [CELL_TEXT] = 't',     [CELL_COUNT] = 'c',
        [CELL_NS] = 'n',      [CELL_FRACTION] = 'f', [CELL_DECIMAL] = 'd',
        [CELL_PERCENT] = 'p', [CELL_ERROR] = 'e',    [CELL_NUMBER] = 'd',
    };

    return letters[type];
}

static void put_row(struct sink *s, const struct rows *rows, const struct cell *cells)
{
    for (size_t c = 0; c < rows->n_columns; c++) {
        sink_char(s, c > 0 ? ',' : '[');
        put_cell(s, &cells[c]);
    }
    sink_char(s, ']');
}

static void put_columns(struct sink *s, const struct rows *rows)
{
    sink_text(s, ",\"columns\":[");
    for (size_t c = 0; c < rows->n_columns; c++) {
        sink_text(s, c > 0 ? "," : "");
        out_json_string(s, rows->columns[c].name);
    }
    sink_text(s, "],\"types\":\"");
    for (size_t c = 0; c < rows->n_columns; c++)
        sink_char(s, letter_of(rows->columns[c].type));
    sink_text(s, "\",\"ranks\":[");
    for (size_t c = 0; c < rows->n_columns; c++) {
        size_t rank = columns_rank(rows->columns[c].name);

        sink_text(s, c > 0 ? "," : "");
        if (rank == SIZE_MAX)
            sink_text(s, "-1");
        else
            sink_count(s, rank);
    }
    sink_char(s, ']');
}

void json_table(struct sink *s, const char *key, const struct rows *rows,
                const struct origin *origin)
{
    struct cell cells[ROW_CELLS_MAX];
    uint64_t n = 0;

    json_key(s, key);
    if (origin)
        out_json_head(rows, origin, s);
    else
        sink_text(s, "{\"rows\":[");
    for (uint64_t i = 0; i < rows->n_rows; i++) {
        if (!rows_cells(rows, i, cells) || n++ >= REPORT_ROWS_KEPT)
            continue;
        sink_text(s, n > 1 ? ",\n" : "\n");
        put_row(s, rows, cells);
    }
    sink_text(s, "\n]");
    put_columns(s, rows);
    sink_text(s, ",\"all\":");
    sink_count(s, n);
    sink_char(s, '}');
}
