/*
 * fail_if.c -- --fail-if: conditions on results under which a command ends with exit code 1.
 *
 * A condition is COLUMN OP VALUE without blanks, 'kernel_ns>4000'; OP is one of < <= > >= == !=.
 * Numbers are compared in the unit of the column, as --format csv prints them, texts by == and !=:
 * 'verify!=pass'. Every row is held against every condition. All rows are printed first, whatever
 * they are, so that one sees what failed.
 *
 * A condition has no answer where the column is not there, the cell is empty, NaN, or that of a
 * verification which did not take place, and where one of the two is no number: cli/gate.h.
 */
#include "cli/fail_if.h"
#include "base/text.h"
#include "cli/diff/number.h"
#include "cli/gate.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CELL_BYTES = 512 };

/* A condition, as it was given. */
struct condition {
    const char *text, *value; /* all of it; what is behind the operator */
    size_t column_len;
    unsigned ops;
    struct number bound; /* the value */
    bool is_number;      /* is it one, and finite? */
};

static struct condition read_condition(const char *text)
{
    struct condition c = {.text = text, .column_len = strcspn(text, "<>=!")};
    const char *op = text + c.column_len;
    char *end;

    c.ops = op[0] == '<'   ? GATE_LESS
            : op[0] == '>' ? GATE_GREATER
            : op[0] == '!' ? GATE_LESS | GATE_GREATER
                           : GATE_EQUAL;
    if (op[0] != '!' && op[1] == '=')
        c.ops |= GATE_EQUAL;
    c.value = op + (op[1] == '=' ? 2 : 1);
    if (!number_read(c.value, &c.bound)) /* not as JSON has it: +5, 0x10 */
        c.bound.value = text_to_double(c.value, &end);
    else
        end = (char *)"";
    c.is_number = *end == '\0' && (c.bound.exact || isfinite(c.bound.value));
    return c;
}

/* The index of its column; n_columns: there is none. */
static size_t find_column(const struct condition *c, const struct rows *rows)
{
    size_t i = 0;

    while (i < rows->n_columns && (strlen(rows->columns[i].name) != c->column_len ||
                                   memcmp(rows->columns[i].name, c->text, c->column_len) != 0))
        i++;
    return i;
}

/* The cell as a text. */
static const char *cell_words(const struct cell *cell, char number[CELL_BYTES])
{
    if (cell->type == CELL_TEXT || cell->type == CELL_NUMBER)
        return cell->text;
    *cell_put_exact(number, cell) = '\0';
    return number;
}

static bool is_named(const struct condition *c, const char *column)
{
    return strlen(column) == c->column_len && memcmp(column, c->text, c->column_len) == 0;
}

/* Is it about a verification, and was there none? Then `off` is all that it can be asked for. */
static bool lacks_verify(const struct condition *c, const struct cell *cell)
{
    if (cell->type == CELL_NONE)
        return is_named(c, "max_abs_err");
    return is_named(c, "verify") && strcmp(cell->text, "off") == 0 && strcmp(c->value, "off") != 0;
}

/* Why the condition has no answer for this cell; NULL: it has one, *answer. */
static const char *judge_cell(const struct condition *c, const struct cell *cell, const char *words,
                              enum gate *answer)
{
    struct number value;

    if (cell->type == CELL_NONE)
        return "is empty";
    if (cell->type == CELL_TEXT && c->ops != GATE_EQUAL && c->ops != (GATE_LESS | GATE_GREATER))
        return "is a text, which takes == or !=";
    if (lacks_verify(c, cell))
        return "is off";
    if (cell->type == CELL_TEXT) {
        *answer =
            (strcmp(words, c->value) == 0) == (c->ops == GATE_EQUAL) ? GATE_MET : GATE_NOT_MET;
        return NULL;
    }
    if (!c->is_number)
        return "is a number, and the value is no finite one";
    if (!number_read(words, &value))
        return "is no number";
    *answer = gate_compare(&value, c->ops, &c->bound);
    return *answer == GATE_UNDECIDED ? "is nan" : NULL;
}

static void judge(struct gates *gates, const struct condition *c, const struct cell *cell)
{
    char number[CELL_BYTES];
    const char *words = cell->type == CELL_NONE ? "" : cell_words(cell, number);
    enum gate answer = GATE_UNDECIDED;
    const char *why = judge_cell(c, cell, words, &answer);
    int len = (int)c->column_len;

    if (why)
        gate_count(gates, GATE_UNDECIDED, "--fail-if '%s' cannot be decided: %.*s %s in row %llu%s",
                   c->text, len, c->text, why, (unsigned long long)gates->n_rows,
                   lacks_verify(c, cell) ? "; it needs --verify" : "");
    else
        gate_count(gates, answer, "%.*s is %s in row %llu", len, c->text, words,
                   (unsigned long long)gates->n_rows);
}

static void judge_row(struct gates *gates, const struct set_list *list, const struct rows *rows,
                      const struct cell *cells)
{
    gates->n_rows++;
    for (size_t k = 0; k < list->n; k++) {
        struct condition c = read_condition(list->word[k]);
        size_t i = find_column(&c, rows);

        if (i < rows->n_columns)
            judge(gates, &c, &cells[i]);
    }
}

/* Conditions on columns that these results do not have. */
static void judge_columns(struct gates *gates, const struct set_list *list, const struct rows *rows)
{
    for (size_t k = 0; k < list->n; k++) {
        struct condition c = read_condition(list->word[k]);

        if (find_column(&c, rows) == rows->n_columns)
            gate_count(gates, GATE_UNDECIDED,
                       "--fail-if '%s' cannot be decided: these results have no column '%.*s'",
                       c.text, (int)c.column_len, c.text);
    }
}

void fail_if_judge(const struct cli *cli, const struct rows *rows, uint64_t from, uint64_t to)
{
    const struct set_list *list = &cli->opts.fail_if;
    struct cell cells[ROW_CELLS_MAX];

    if (list->n == 0)
        return;
    judge_columns(cli->gates, list, rows);
    for (uint64_t i = from; i < to; i++)
        if (rows_cells(rows, i, cells))
            judge_row(cli->gates, list, rows, cells);
}
