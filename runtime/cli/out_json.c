/* out_json.c -- rows as JSON: one object, or lines of which the first says whence they come. */
#include "out.h"
#include "text.h"
#include <math.h>

/* A string. The command line may be any bytes; JSON may not. */
static void put_string(struct sink *s, const char *text)
{
    sink_char(s, '"');
    while (*text)
        s->at = text_put_json(sink_room(s, TEXT_JSON_BYTES), &text);
    sink_char(s, '"');
}

static void put_cell(struct sink *s, const struct cell *cell)
{
    bool is_double =
        cell->type == CELL_FRACTION || cell->type == CELL_PERCENT || cell->type == CELL_ERROR;

    if (cell->type == CELL_TEXT)
        put_string(s, cell->text);
    else if (cell->type == CELL_NONE || (is_double && !isfinite(cell->value)))
        sink_text(s, "null");
    else
        s->at = cell_put_exact(sink_room(s, TEXT_NUMBER_BYTES), cell);
}

static void put_row(const struct rows *rows, const struct cell *cells, struct sink *s)
{
    for (size_t c = 0; c < rows->n_columns; c++) {
        sink_char(s, c > 0 ? ',' : '{');
        put_string(s, rows->columns[c].name);
        sink_char(s, ':');
        put_cell(s, &cells[c]);
    }
    sink_char(s, '}');
}

/* A key and its string; `before` is what stands before the key. */
static void put_pair(struct sink *s, const char *before, const char *key, const char *text)
{
    sink_text(s, before);
    put_string(s, key);
    sink_char(s, ':');
    put_string(s, text);
}

/* ,"args":{"M":256,"dtype":"f16"} */
static void put_args(const struct origin *origin, struct sink *s)
{
    sink_text(s, ",\"args\":{");
    for (size_t i = 0; i < origin->n_args; i++) {
        const struct origin_arg *arg = &origin->args[i];

        if (i > 0)
            sink_char(s, ',');
        put_string(s, arg->name);
        sink_char(s, ':');
        if (arg->is_number)
            sink_text(s, arg->value);
        else
            put_string(s, arg->value);
    }
    sink_char(s, '}');
}

/* Everything of the object but its rows and the closing brace. */
static void put_origin(const struct origin *origin, struct sink *s)
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
}

/* The rows, each after `before`, the first after `first`. */
static void put_rows(const struct rows *rows, const char *first, const char *before, struct sink *s)
{
    struct cell cells[ROW_CELLS_MAX];

    for (uint64_t i = 0; i < rows->n_rows && sink_ok(s); i++) {
        if (!rows->row(rows->arg, i, cells))
            continue;
        sink_text(s, first);
        put_row(rows, cells, s);
        first = before;
    }
}

void out_json(const struct rows *rows, const struct origin *origin, struct sink *s)
{
    put_origin(origin, s);
    sink_text(s, ",\"rows\":[");
    put_rows(rows, "\n", ",\n", s);
    sink_text(s, "\n]}\n");
}

void out_jsonl(const struct rows *rows, const struct origin *origin, struct sink *s)
{
    put_origin(origin, s);
    sink_char(s, '}');
    put_rows(rows, "\n", "\n", s);
    sink_char(s, '\n');
}
