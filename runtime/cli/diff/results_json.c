/*
 * results_json.c -- the rows of a result in JSON, or in JSON lines, by jansson.
 *
 * There are four ways to read, tried in this order:
 *
 *     printed    The first line ends in "rows":[ and each further line is a row: JSON as commands
 *                print it. It is read line by line, so a file of 1 GB needs little more than that.
 *     lines      The first line is an object with a schema and no rows: each further line is a row.
 *     rows       The first line is an object that has neither object nor list: each line is a row.
 *     tree       Any other JSON: all of it is parsed, which takes some 5 KB per row.
 *
 * The first row has the columns of all, except `failed`, which only rows of what failed may have.
 *
 * jansson reads numbers as double, which would lose digits of a time (the last ones
 * of 1234567890.123456). So numbers are quoted before parsing, and every cell is a text, as in CSV.
 * Positions in jansson's messages are counted in the quoted text, and are translated back.
 */
#include "cli/diff/number.h"
#include "cli/out/memory.h"
#include "cli/diff/diff_results.h"
#include "cli/out/say.h"
#include "base/text.h"
#include <stdlib.h>
#include <string.h>

#ifdef KB_NO_JANSSON
bool results_json_begin(struct results *r)
{
    r->code = say(r->program, EXIT_SYSTEM, "cannot read %s: this build has no jansson, for JSON",
                  r->name);
    return false;
}

bool results_json_next(struct results *r)
{
    (void)r;
    return false;
}

void results_json_end(struct results *r)
{
    (void)r;
}
#else
#include <jansson.h>
#include <stdio.h>

enum { SHOWN_BYTES = 64, MORE_BYTES = 64 * 1024 };

static const char failed[] = "failed";

/* What a line can be, in JSON with a row on each line. */
enum expected { ANY_LINE, ROW_OR_END, ROW, END, NOTHING };

struct results_json {
    json_t *head; /* owned: the object, or the first line */
    json_t *rows; /* borrowed from it; NULL: lines */
    json_t *row;  /* the row being read; owned, if there are lines */
    size_t n;     /* rows read */
    enum expected expected;
    char *quoted; /* owned: a text with its numbers as strings */
    size_t room;  /* in it */
};

/* -- numbers that keep their digits --------------------------------------------------------- */

/* The length of the string that begins at `from`, with its quotes; up to `end` if it is not closed.
 */
static size_t string_span(const char *from, const char *end)
{
    const char *p = from + 1;

    while (p < end && *p != '"')
        p += *p == '\\' && p + 1 < end ? 2 : 1;
    return (size_t)((p < end ? p + 1 : end) - from);
}

/*
 * Copies JSON with its numbers as strings: jansson would read them as double, with 15 digits.
 * Strings and numbers are told apart later by their text, as in a CSV. A wrong number is copied as
 * it is, so that jansson reports it. Ends after `stop` bytes of output; *n_out is their number, at
 * most 2 * len + 2. Returns how many bytes of the input were used.
 */
static size_t quote_numbers(const char *from, size_t len, size_t stop, char *to, size_t *n_out)
{
    const char *p = from, *end = from + len;
    size_t out = 0;

    while (p < end && out < stop) {
        bool number = *p == '-' || (*p >= '0' && *p <= '9');
        size_t n = number ? number_span(p) : *p == '"' ? string_span(p, end) : 1;
        size_t bad = number ? n + strspn(p + n, "0123456789+-.eE") : 0;

        if (bad > n) { /* "007", "1.2.3" */
            number = false;
            n = bad;
        }
        number = number && n > 0;
        n = n > 0 ? n : 1;
        if (number && to)
            to[out] = '"';
        if (to)
            memcpy(to + out + number, p, n);
        if (number && to)
            to[out + n + 1] = '"';
        out += n + (number ? 2 : 0);
        p += n;
    }
    *n_out = out;
    return (size_t)(p - from);
}

/* Says what is wrong at `at`, in this line or a later one. Always false. */
static bool bad_place(struct results *r, const char *at, const char *what, const char *more)
{
    for (const char *lf; (lf = memchr(r->line_start, '\n', (size_t)(at - r->line_start)));) {
        r->line++;
        r->line_start = lf + 1;
    }
    return results_bad(r, at, what, more);
}

/* Prints jansson's message, at its place in the file; `from` is where the reading began. */
static bool bad_json(struct results *r, const char *from, size_t len, const json_error_t *error)
{
    size_t position = error->position > 0 ? (size_t)error->position - 1 : 0, n;
    const char *at = from + quote_numbers(from, len, position, NULL, &n);
    char shown[sizeof error->text];

    return bad_place(r, at, "no JSON: %s",
                     text_show(error->text, strlen(error->text), shown, sizeof shown));
}

/* NULL with *error. */
static json_t *parse(struct results_json *j, const char *from, size_t len, json_error_t *error)
{
    size_t n;

    error->text[0] = '\0';
    if (j->room < 2 * len + 2) {
        free(j->quoted);
        j->room = 2 * len + MORE_BYTES;
        j->quoted = memory_new(1, j->room);
    }
    quote_numbers(from, len, SIZE_MAX, j->quoted, &n);
    return json_loadb(j->quoted, n, JSON_REJECT_DUPLICATES, error);
}

/* -- the origin ----------------------------------------------------------------------------- */

static void read_origin(struct results *r)
{
    const json_t *head = r->json->head, *topology = json_object_get(head, "topology");

    r->origin = (struct results_origin){
        .schema = json_string_value(json_object_get(head, "schema")),
        .topology = json_string_value(json_object_get(topology, "name")),
        .hash = json_string_value(json_object_get(topology, "hash")),
        .version = json_string_value(json_object_get(head, "version")),
        .command = json_string_value(json_object_get(head, "command")),
        .seed = json_string_value(json_object_get(head, "seed")),
    };
}

static void skip_line(struct results *r, size_t len)
{
    r->at += len + (r->at[len] == '\n');
    r->line++;
    r->line_start = r->at;
}

/* Is it an object of texts and numbers alone, as rows are? */
static bool is_flat(json_t *object)
{
    for (void *i = json_object_iter(object); i; i = json_object_iter_next(object, i))
        if (json_is_object(json_object_iter_value(i)) || json_is_array(json_object_iter_value(i)))
            return false;
    return json_object_size(object) > 0;
}

/* Is the first line an object by itself: the head of JSON lines, or a row without any head? */
static bool begin_lines(struct results *r)
{
    size_t len = strcspn(r->at, "\n");
    json_error_t error;

    r->json->head = parse(r->json, r->at, len, &error);
    if (json_object_get(r->json->head, "schema") && !json_object_get(r->json->head, "rows")) {
        skip_line(r, len);
        return true;
    }
    bool is_row = is_flat(r->json->head);
    json_decref(r->json->head);
    r->json->head = NULL;
    return is_row;
}

/* Is the line a row, or the end, as commands print it? */
static bool is_printed_row(struct results *r, const char *line)
{
    size_t len = strcspn(line, "\n");
    json_error_t error;

    if (len == 2 && memcmp(line, "]}", 2) == 0)
        return true;
    json_t *row = parse(r->json, line, len - (len > 0 && line[len - 1] == ','), &error);
    bool is_row = json_is_object(row);
    json_decref(row);
    return is_row;
}

/*
 * Is this JSON as commands print it, with a row on each line? Then it is read line by line. JSON
 * that another program wrote is read as one tree, which takes 5 KB for each row.
 */
static bool begin_printed(struct results *r)
{
    static const char ends_in[] = "\"rows\":[", closing[] = "]}";
    size_t len = strcspn(r->at, "\n"), n = sizeof ends_in - 1;
    json_error_t error;

    if (len < n || memcmp(r->at + len - n, ends_in, n) != 0 || !r->at[len] ||
        !is_printed_row(r, r->at + len + 1))
        return false;
    char *head = memory_new(1, len + sizeof closing);
    memcpy(head, r->at, len);
    memcpy(head + len, closing, sizeof closing);
    r->json->head = parse(r->json, head, len + sizeof closing - 1, &error);
    free(head);
    if (!r->json->head)
        return false;
    skip_line(r, len);
    r->json->expected = ROW_OR_END;
    return true;
}

static bool begin_object(struct results *r)
{
    size_t len = r->len - (size_t)(r->at - r->text);
    json_error_t error;

    r->json->head = parse(r->json, r->at, len, &error);
    if (!r->json->head)
        return bad_json(r, r->at, len, &error);
    r->json->rows = json_object_get(r->json->head, "rows");
    if (!json_is_array(r->json->rows))
        return results_bad(r, r->at, "this is no result: it has no list 'rows'");
    r->json->row = json_array_get(r->json->rows, 0);
    r->row = r->text; /* the tree has copies of all texts */
    return true;
}

/* -- rows ----------------------------------------------------------------------------------- */

/* The line after the last row. Nothing may follow it. */
static bool end_printed(struct results *r, size_t len)
{
    skip_line(r, len);
    r->json->expected = NOTHING;
    const char *more = r->at + strspn(r->at, " \t\r\n");
    return *more ? bad_place(r, more, "%s", "text behind the end of JSON") : false;
}

/* Reads a line: a row, with or without a comma, or the end. */
static bool next_printed(struct results *r)
{
    struct results_json *j = r->json;
    size_t len = strcspn(r->at, "\n");
    const char *line = r->at;
    bool comma = len > 0 && line[len - 1] == ',', end = len == 2 && memcmp(line, "]}", 2) == 0;
    json_error_t error;

    r->line_start = line;
    if (end ? j->expected == ROW : j->expected == END || len == 0)
        return results_bad(r, line, "no JSON: %s", end ? "no row behind a comma" : "']}' expected");
    if (end)
        return end_printed(r, len);
    r->row = r->at;
    r->at += len + (r->at[len] == '\n');
    j->expected = comma ? ROW : END;
    j->row = parse(j, line, len - comma, &error);
    return j->row || bad_json(r, line, len - comma, &error);
}

/* The next line that is not empty; false at the end, or after a message. */
static bool next_line(struct results *r)
{
    json_error_t error;

    json_decref(r->json->row);
    r->json->row = NULL;
    if (r->json->expected == NOTHING)
        return false;
    if (r->json->expected)
        return next_printed(r);
    for (;;) {
        size_t len = strcspn(r->at, "\n");
        const char *line = r->row = r->at;

        r->line_start = line;
        if (len == 0 && !*r->at)
            return false;
        r->at += len + (r->at[len] == '\n');
        if (strspn(line, " \t\r") < len) {
            r->json->row = parse(r->json, line, len, &error);
            return r->json->row || bad_json(r, line, len, &error);
        }
        r->line++;
    }
}

/* Says what is wrong with a row by its number, if it has no line. Always false. */
static bool bad_row(struct results *r, const char *what, const char *name)
{
    char shown[SHOWN_BYTES];

    text_show(name, strlen(name), shown, sizeof shown);
    if (!r->json->rows)
        return results_bad(r, r->line_start, what, shown);
    char text[256];
    snprintf(text, sizeof text, what, shown);
    r->code = say(r->name, EXIT_INPUT, "row %zu: %s", r->json->n, text);
    return false;
}

/* jansson takes no memory for a mistake in the text. */
static void *allocate(size_t nbytes)
{
    return memory_resize(NULL, nbytes, 1);
}

/* The first row has the columns of all. */
static bool find_columns(struct results *r)
{
    json_t *row = r->json->row;
    size_t c = 0;

    if (!json_is_object(row))
        return bad_row(r, "a row is an object%s", "");
    if (!results_columns(r, r->line_start, json_object_size(row)))
        return false;
    for (void *i = json_object_iter(row); i; i = json_object_iter_next(row, i))
        r->columns[c++] = memory_text(json_object_iter_key(i));
    return true;
}

static bool set_cell(struct results *r, size_t c)
{
    const json_t *value = json_object_get(r->json->row, r->columns[c]);
    const char *text = json_string_value(value);

    r->cells[c] = NULL;
    if (!value && strcmp(r->columns[c], failed) == 0)
        return true;
    if (!value)
        return bad_row(r, "no '%s', which the first row has", r->columns[c]);
    if (!text && !json_is_boolean(value) && !json_is_null(value))
        return bad_row(r, "'%s' is neither number nor text", r->columns[c]);
    if (json_is_boolean(value))
        text = json_is_true(value) ? "true" : "false";
    r->cells[c] = text && *text ? text : NULL;
    return true;
}

static bool set_cells(struct results *r)
{
    if (!json_is_object(r->json->row))
        return bad_row(r, "a row is an object%s", "");
    bool has_failed = json_object_get(r->json->row, failed);
    size_t n = json_object_size(r->json->row) - has_failed;

    for (size_t c = 0; c < r->n_columns; c++) {
        if (!set_cell(r, c))
            return false;
        n -= strcmp(r->columns[c], failed) != 0;
    }
    return n == 0 || bad_row(r, "more columns than the first row has%s", "");
}

bool results_json_begin(struct results *r)
{
    json_set_alloc_funcs(allocate, free);
    r->json = memory_new(1, sizeof *r->json);
    bool lines = begin_printed(r) || begin_lines(r);
    if (r->code || (!lines && !begin_object(r)))
        return false;
    read_origin(r);
    if (lines && !next_line(r))
        return !r->code;
    return !r->json->row || find_columns(r);
}

/* The first row has been read for its columns. */
bool results_json_next(struct results *r)
{
    struct results_json *j = r->json;

    if (j->n > 0 && !j->rows) {
        r->line++;
        next_line(r);
    } else if (j->n > 0) {
        j->row = json_array_get(j->rows, j->n);
    }
    if (!j->row || r->code || !set_cells(r))
        return false;
    j->n++;
    r->row_line = j->rows ? 0 : r->line;
    return true;
}

void results_json_end(struct results *r)
{
    for (size_t c = 0; c < r->n_columns; c++)
        free((char *)r->columns[c]);
    if (!r->json->rows)
        json_decref(r->json->row);
    json_decref(r->json->head);
    free(r->json->quoted);
    free(r->json);
    r->json = NULL;
}
#endif
