/* cmd_describe.c -- `describe`: what results and machines are made of, from the tables in C.
 *
 * `columns` prints the data dictionary (out/columns.def), `keys` the keys of the machine with what
 * they may be, `schema` the JSON Schema of `--format json`, made of the same dictionary: a row of
 * any command has some of these columns, and a key of the machine if it was varied.
 */
#include "base/text.h"
#include "cli/command.h"
#include "cli/out/columns.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- columns --------------------------------------------------------------------------------- */

static const struct column meaning_columns[] = {
    COLUMN("name", CELL_TEXT, struct column_meaning, name),
    COLUMN("type", CELL_TEXT, struct column_meaning, type),
    COLUMN_IF("unit", CELL_TEXT, struct column_meaning, unit, unit),
    COLUMN("group", CELL_TEXT, struct column_meaning, group),
    COLUMN("meaning", CELL_TEXT, struct column_meaning, meaning),
};

static enum exit_code print_columns(const struct cli *cli)
{
    struct rows rows = {ROWS_COLUMNS(meaning_columns), ROWS_ARRAY(columns_meanings, columns_n)};

    return cmd_print(cli, &rows);
}

/* -- keys ------------------------------------------------------------------------------------ */

enum { WORDS_BYTES = 256 };

struct key_row {
    char *name, *value; /* owned */
    const char *type;
    struct cell least, most; /* of numbers */
    char words[WORDS_BYTES]; /* "fifo|ideal|router" */
};

struct key_rows {
    struct key_row *row; /* owned */
    size_t n, room;
};

static const struct column key_columns[] = {
    COLUMN_NAME("name", struct key_row, name),
    COLUMN_NAME("value", struct key_row, value),
    COLUMN("type", CELL_TEXT, struct key_row, type),
    COLUMN("least", CELL_DECIMAL, struct key_row, least),
    COLUMN("most", CELL_DECIMAL, struct key_row, most),
    COLUMN_IF("words", CELL_TEXT, struct key_row, words, words),
};

static const char *const key_types[] = {[KB_KEY_COUNT] = "integer",
                                        [KB_KEY_NUMBER] = "number",
                                        [KB_KEY_WORD] = "word",
                                        [KB_KEY_OTHER] = "other"};

static void put_words(const kb_key *key, char words[WORDS_BYTES])
{
    for (size_t i = 0; key->words && key->words[i]; i++) {
        size_t n = strlen(words);

        snprintf(words + n, WORDS_BYTES - n, "%s%s", i ? "|" : "", key->words[i]);
    }
}

static void add_key(void *arg, const kb_key *key)
{
    struct key_rows *rows = arg;
    bool is_number = key->kind == KB_KEY_COUNT || key->kind == KB_KEY_NUMBER;
    struct key_row *row;

    rows->row = memory_room(rows->row, rows->n, &rows->room, sizeof *rows->row);
    row = &rows->row[rows->n++];
    *row = (struct key_row){.name = memory_text(key->path),
                            .value = memory_text(key->text),
                            .type = key_types[key->kind],
                            .least = is_number ? cell_decimal(key->least) : cell_none(),
                            .most = is_number ? cell_decimal(key->most) : cell_none()};
    put_words(key, row->words);
}

static enum exit_code print_keys(const struct cli *cli)
{
    struct key_rows keys = {0};
    kb_status status = kb_topology_keys(cli->topo, add_key, &keys);
    struct rows rows = {ROWS_COLUMNS(key_columns), ROWS_ARRAY(keys.row, keys.n)};
    enum exit_code code = status == KB_OK ? cmd_print(cli, &rows)
                                          : cmd_say(cli, EXIT_SYSTEM, "this build has no libyaml");

    for (size_t i = 0; i < keys.n; i++) {
        free(keys.row[i].name);
        free(keys.row[i].value);
    }
    free(keys.row);
    return code;
}

/* -- schema ---------------------------------------------------------------------------------- */

static const char schema_head[] =
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\n"
    "\"title\":\"results of kernbench " KB_VERSION "\",\"type\":\"object\",\n"
    "\"required\":[\"schema\",\"topology\",\"version\",\"command\",\"seed\",\"rows\"],\n"
    "\"properties\":{\n"
    "\"schema\":{\"type\":\"string\",\"pattern\":\"^kernbench[.][a-z_]+/1$\"},\n"
    "\"topology\":{\"type\":\"object\",\"required\":[\"name\",\"hash\",\"config\"],\"properties\":{"
    "\"name\":{\"type\":\"string\"},\"hash\":{\"type\":\"string\",\"pattern\":\"^([0-9a-f]{16})?$"
    "\"},"
    "\"config\":{\"type\":\"string\",\"description\":\"the resolved YAML\"}}},\n"
    "\"version\":{\"type\":\"string\"},\n"
    "\"command\":{\"type\":\"string\"},\n"
    "\"seed\":{\"type\":\"integer\",\"minimum\":0},\n"
    "\"args\":{\"type\":\"object\",\"description\":\"of run: all arguments of the bench\"},\n"
    "\"notes\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},\n"
    "\"totals\":{\"type\":\"array\",\"description\":\"of llm: an object for each batch\",\n"
    "\"items\":{\"type\":\"object\",\"additionalProperties\":false,\n"
    "\"required\":[\"batch\",\"ttft_ms\",\"tpot_ms\",\"tokens_per_s_user\",\"tokens_per_s\","
    "\"tp\",\"kv\"],\n"
    "\"properties\":{\"batch\":{\"type\":\"integer\"},\n"
    "\"ttft_ms\":{\"type\":[\"number\",\"null\"],\"unit\":\"ms\"},\n"
    "\"tpot_ms\":{\"type\":[\"number\",\"null\"],\"unit\":\"ms\"},\n"
    "\"tokens_per_s_user\":{\"type\":[\"number\",\"null\"],\"unit\":\"1/s\"},\n"
    "\"tokens_per_s\":{\"type\":[\"number\",\"null\"],\"unit\":\"1/s\"},\n"
    "\"tp\":{\"type\":\"integer\"},\"kv\":{\"type\":[\"integer\",\"null\"]},\n"
    "\"pp\":{\"type\":\"integer\"},\"ep\":{\"type\":\"integer\"},\"dp\":{\"type\":\"integer\"},\n"
    "\"grid\":{\"type\":[\"string\",\"null\"]},\n"
    "\"why\":{\"type\":[\"string\",\"null\"],\"description\":\"of a search: what most of the time "
    "is for\"},\n"
    "\"peak_gops\":{\"type\":\"number\",\"unit\":\"GOP/s\"},\n"
    "\"math_gops\":{\"type\":\"number\",\"unit\":\"GOP/s\"},\n"
    "\"memory_gbs\":{\"type\":\"number\",\"unit\":\"GB/s\"},\n"
    "\"fabric_gbs\":{\"type\":[\"number\",\"null\"],\"unit\":\"GB/s\"}}}},\n"
    "\"rows\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"additionalProperties\":false,\n"
    "\"patternProperties\":{\"[.]|^sips$|^ns_per_mm$\":{\"description\":\"a key of the machine "
    "that was varied\"}},\n"
    "\"properties\":{\n";

/* An empty cell is null in any column. */
static const char *json_type(const struct column_meaning *of)
{
    return strcmp(of->type, "text") == 0      ? "[\"string\",\"null\"]"
           : strcmp(of->type, "integer") == 0 ? "[\"integer\",\"null\"]"
           : strcmp(of->type, "number") == 0  ? "[\"number\",\"null\"]"
                                              : "[\"string\",\"number\",\"null\"]";
}

static void put_property(const struct column_meaning *of, bool last, struct sink *s)
{
    char line[512];

    snprintf(line, sizeof line, "\"%s\":{\"type\":%s%s%s%s,\"description\":\"%s\"}%s\n", of->name,
             json_type(of), *of->unit ? ",\"unit\":\"" : "", of->unit, *of->unit ? "\"" : "",
             of->meaning, last ? "" : ",");
    sink_text(s, line);
}

static enum exit_code print_schema(const struct cli *cli)
{
    struct sink s;
    enum exit_code code = sink_open(&s, cli->program, cli->opts.output);

    if (code)
        return code;
    sink_text(&s, schema_head);
    for (size_t i = 0; i < columns_n; i++)
        put_property(&columns_meanings[i], i + 1 == columns_n, &s);
    sink_text(&s, "}}}}}\n");
    return sink_close(&s, cli->program, SINK_KEEP);
}

enum exit_code cmd_describe(const struct cli *cli)
{
    static const struct {
        const char *name;
        enum exit_code (*print)(const struct cli *cli);
    } parts[] = {{"columns", print_columns}, {"keys", print_keys}, {"schema", print_schema}};

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(cli->opts.operand[0], parts[i].name) == 0)
            return parts[i].print(cli);
    return cmd_say(cli, EXIT_USAGE, "describe: '%s' is not columns, keys or schema",
                   cli->opts.operand[0]);
}
