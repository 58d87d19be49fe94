/*
 * out_json.c -- rows as JSON: one object, or lines of which the first tells the origin.
 *
 *   json
 * {"schema":"kernbench.probe/1","topology":{...},"version":...,"command":...,"seed":0,"rows":[
 *           {"case":"pe-local-hbm",...},
 *           ...
 *           ]}
 *   jsonl   {"schema":...,"seed":0}
 *           {"case":"pe-local-hbm",...}
 *   ndjson  the lines of rows alone, which readers of tables take as they are
 *
 * The origin holds the whole configuration of the machine, so that a result can be repeated from
 * its own file, "notes" if all rows may mislead, and "totals" if groups
 * of rows have sums with other columns. Keys of rows are the names of columns. Numbers
 * that are not finite have no form in JSON and become null. Strings may come from the command line
 * and hold any bytes; text_put_json() writes what is no UTF-8 as U+FFFD.
 */
#include "cli/out/out.h"
#include "base/text.h"
#include <math.h>

/* Does `c` stand for itself in a JSON string, and alone for a character? */
static bool is_plain(char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* The command line may be any bytes; JSON may not. Most are short and plain. */
void out_json_string(struct sink *s, const char *text)
{
    sink_char(s, '"');
    while (*text) {
        size_t n = 0;

        while (is_plain(text[n]))
            n++;
        sink_bytes(s, text, n);
        text += n;
        if (*text)
            s->at = text_put_json(sink_room(s, TEXT_JSON_BYTES), &text);
    }
    sink_char(s, '"');
}

void out_json_cell(struct sink *s, const struct cell *cell)
{
    bool is_double = cell->type == CELL_FRACTION || cell->type == CELL_DECIMAL ||
                     cell->type == CELL_PERCENT || cell->type == CELL_ERROR;

    if (cell->type == CELL_TEXT)
        out_json_string(s, cell->text);
    else if (cell->type == CELL_NONE || (is_double && !isfinite(cell->value)))
        sink_text(s, "null");
    else
        s->at = cell_put_exact(sink_room(s, TEXT_NUMBER_BYTES), cell);
}

static void put_row(const struct rows *rows, const struct cell *cells, struct sink *s)
{
    for (size_t c = 0; c < rows->n_columns; c++) {
        sink_char(s, c > 0 ? ',' : '{');
        out_json_string(s, rows->columns[c].name);
        sink_char(s, ':');
        out_json_cell(s, &cells[c]);
    }
    sink_char(s, '}');
}

/* A key and its string; `before` is what stands before the key. */
static void put_pair(struct sink *s, const char *before, const char *key, const char *text)
{
    sink_text(s, before);
    out_json_string(s, key);
    sink_char(s, ':');
    out_json_string(s, text);
}

/* ,"args":{"M":256,"dtype":"f16"} */
static void put_args(const struct origin *origin, struct sink *s)
{
    sink_text(s, ",\"args\":{");
    for (size_t i = 0; i < origin->n_args; i++) {
        const struct origin_arg *arg = &origin->args[i];

        if (i > 0)
            sink_char(s, ',');
        out_json_string(s, arg->name);
        sink_char(s, ':');
        if (arg->is_number)
            sink_text(s, arg->value);
        else
            out_json_string(s, arg->value);
    }
    sink_char(s, '}');
}

/* ,"totals":[{"batch":1,...},...], on the same line */
static void put_totals(const struct rows *totals, struct sink *s)
{
    struct cell cells[ROW_CELLS_MAX];

    sink_text(s, ",\"totals\":[");
    for (uint64_t i = 0; i < totals->n_rows; i++) {
        rows_cells(totals, i, cells);
        sink_text(s, i > 0 ? "," : "");
        put_row(totals, cells, s);
    }
    sink_char(s, ']');
}

/* Everything of the object but its rows and the closing brace. */
static void put_origin(const struct rows *rows, const struct origin *origin, struct sink *s)
{
    sink_text(s, "{\"schema\":\"kernbench.");
    sink_text(s, origin->command);
    sink_text(s, "/1\"");
    put_pair(s, ",\"topology\":{", "name", origin->info->name);
    put_pair(s, ",", "hash", origin->info->hash);
    put_pair(s, ",", "config", origin->info->config);
    put_pair(s, "},", "version", KB_VERSION);
    put_pair(s, ",", "command", origin->command_line);
    sink_text(s, ",\"seed\":");
    s->at = text_put_count(sink_room(s, TEXT_NUMBER_BYTES), origin->seed);
    if (origin->args)
        put_args(origin, s);
    if (rows->warning && *rows->warning) {
        sink_text(s, ",\"notes\":[");
        out_json_string(s, rows->warning);
        sink_char(s, ']');
    }
    if (rows->totals)
        put_totals(rows->totals, s);
}

void out_json_head(const struct rows *rows, const struct origin *origin, struct sink *s)
{
    put_origin(rows, origin, s);
    sink_text(s, ",\"rows\":[");
}

void out_json_rows(const struct rows *rows, uint64_t from, uint64_t to, struct sink *s)
{
    struct cell cells[ROW_CELLS_MAX];
    bool first = from == 0;

    for (uint64_t i = from; i < to && sink_ok(s); i++) {
        if (!rows_cells(rows, i, cells))
            continue;
        sink_text(s, first ? "\n" : ",\n");
        put_row(rows, cells, s);
        first = false;
    }
}

void out_json_tail(struct sink *s)
{
    sink_text(s, "\n]}\n");
}

void out_json_origin(const struct origin *origin, struct sink *s)
{
    const struct rows none = {0};
    char sources[PROVENANCE_BYTES];

    put_origin(&none, origin, s);
    provenance_write(origin->sources, sources);
    put_pair(s, ",", "provenance", sources);
    sink_text(s, "}\n");
}

void out_jsonl_head(const struct rows *rows, const struct origin *origin, struct sink *s)
{
    put_origin(rows, origin, s);
    sink_text(s, "}\n");
}

void out_jsonl_rows(const struct rows *rows, uint64_t from, uint64_t to, struct sink *s)
{
    struct cell cells[ROW_CELLS_MAX];

    for (uint64_t i = from; i < to && sink_ok(s); i++) {
        if (!rows_cells(rows, i, cells))
            continue;
        put_row(rows, cells, s);
        sink_char(s, '\n');
    }
}
