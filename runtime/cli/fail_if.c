/*
 * fail_if.c -- --fail-if: conditions on results under which a command ends with exit code 1.
 *
 * A condition is COLUMN OP VALUE without blanks, 'kernel_ns>4000'; OP is one of < <= > >= == !=.
 * Numbers are compared in the unit of the column, as --format csv prints them, texts by == and !=:
 * 'verify!=pass'. Every row is held against every condition. All rows are printed first, whatever
 * they are, so that one sees what failed; an empty cell meets no condition.
 */
#include "cli/fail_if.h"
#include "base/text.h"
#include <stdio.h>
#include <string.h>

enum { NUMBER_BYTES = 512 };

/* A condition, as it was given. */
struct condition {
    const char *text;
    size_t column_len;
    const char *value; /* behind the operator */
    bool less, equal, greater;
};

static struct condition read_condition(const char *text)
{
    struct condition c = {.text = text, .column_len = strcspn(text, "<>=!")};
    const char *op = text + c.column_len;

    c.less = op[0] == '<' || op[0] == '!';
    c.greater = op[0] == '>' || op[0] == '!';
    c.equal = op[0] == '=' || (op[0] != '!' && op[1] == '=');
    c.value = op + (op[1] == '=' ? 2 : 1);
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
static const char *cell_words(const struct cell *cell, char number[NUMBER_BYTES])
{
    if (cell->type == CELL_TEXT || cell->type == CELL_NUMBER)
        return cell->text;
    *cell_put_exact(number, cell) = '\0';
    return number;
}

/* Is a text what the condition says? Only == and != make sense: fail_if_judge() has seen to it. */
static bool text_meets(const struct condition *c, const char *text)
{
    return (strcmp(text, c->value) == 0) == !c->less;
}

static bool number_meets(const struct condition *c, double value)
{
    double bound = text_to_double(c->value, NULL);

    return (c->less && value < bound) || (c->greater && value > bound) ||
           (c->equal && value == bound);
}

static bool meets(const struct condition *c, const struct cell *cell)
{
    char number[NUMBER_BYTES];

    if (cell->type == CELL_NONE)
        return false;
    if (cell->type == CELL_TEXT)
        return text_meets(c, cell->text);
    return number_meets(c, text_to_double(cell_words(cell, number), NULL));
}

/* Why no row can be held against the condition; "": it can. */
static void check(struct fail_if *f, const struct condition *c, const struct rows *rows)
{
    size_t i = find_column(c, rows);
    char *end;

    if (i == rows->n_columns) {
        snprintf(f->wrong, sizeof f->wrong, "these results have no column '%.*s'",
                 (int)c->column_len, c->text);
        return;
    }
    text_to_double(c->value, &end);
    if (rows->columns[i].type == CELL_TEXT && c->less != c->greater)
        snprintf(f->wrong, sizeof f->wrong,
                 "%s is a text, which takes == or !=", rows->columns[i].name);
    else if (rows->columns[i].type != CELL_TEXT && (!*c->value || *end))
        snprintf(f->wrong, sizeof f->wrong, "%s is a number, and '%s' is none",
                 rows->columns[i].name, c->value);
}

static void count(struct fail_if *f, const struct condition *c, const struct cell *cell)
{
    char number[NUMBER_BYTES];

    if (f->n_met++ == 0)
        snprintf(f->first, sizeof f->first, "%.*s is %s in row %llu", (int)c->column_len, c->text,
                 cell_words(cell, number), (unsigned long long)f->n_rows);
}

static void judge_row(struct fail_if *f, const struct set_list *list, const struct rows *rows,
                      const struct cell *cells)
{
    f->n_rows++;
    for (size_t k = 0; k < list->n; k++) {
        struct condition c = read_condition(list->word[k]);
        const struct cell *cell = &cells[find_column(&c, rows)];

        if (meets(&c, cell))
            count(f, &c, cell);
    }
}

void fail_if_judge(const struct cli *cli, const struct rows *rows, uint64_t from, uint64_t to)
{
    const struct set_list *list = &cli->opts.fail_if;
    struct cell cells[ROW_CELLS_MAX];
    struct fail_if *f = cli->fail_if;

    for (size_t k = 0; k < list->n && !f->wrong[0]; k++) {
        struct condition c = read_condition(list->word[k]);

        check(f, &c, rows);
    }
    for (uint64_t i = from; i < to && list->n > 0 && !f->wrong[0]; i++)
        if (rows->row(rows->arg, i, cells))
            judge_row(f, list, rows, cells);
}

enum exit_code fail_if_end(const struct cli *cli, enum exit_code code)
{
    const struct fail_if *f = cli->fail_if;

    if (code || (f->n_met == 0 && !f->wrong[0]))
        return code;
    if (f->wrong[0])
        return cmd_say(cli, EXIT_USAGE, "--fail-if: %s", f->wrong);
    if (f->n_met == 1)
        return cmd_say(cli, EXIT_DIFFERENT, "failed by --fail-if: %s", f->first);
    return cmd_say(cli, EXIT_DIFFERENT, "failed by --fail-if: %s, and %llu more", f->first,
                   (unsigned long long)f->n_met - 1);
}
