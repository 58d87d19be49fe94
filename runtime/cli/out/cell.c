/* cell.c -- cells: made from the record of a row, and printed as numbers. */
#include "cli/out/cell.h"
#include "base/text.h"
#include <math.h>
#include <stdio.h>

/* Is the member not 0, NULL or ""? */
static bool is_set(enum field_type field, const char *at)
{
    switch (field) {
    case FIELD_NONE:
        return true;
    case FIELD_BOOL:
        return *(const bool *)at;
    case FIELD_CHAR:
    case FIELD_CHARS:
        return *at != '\0';
    case FIELD_I32:
    case FIELD_U32:
        return *(const uint32_t *)at != 0;
    case FIELD_U64:
    case FIELD_I64:
        return *(const uint64_t *)at != 0;
    case FIELD_DOUBLE:
        return *(const double *)at > 0 || *(const double *)at < 0;
    case FIELD_TEXT:
        return *(const char *const *)at != NULL;
    case FIELD_CELL:
        return ((const struct cell *)at)->type != CELL_NONE;
    }
    return false;
}

static struct cell cell_signed(enum cell_type type, int64_t value)
{
    if (type == CELL_NS)
        return cell_ns(value);
    return value < 0 ? cell_none() : cell_count((uint64_t)value);
}

static struct cell field_cell(const struct column *column, const char *at)
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

void record_cells(const struct column *columns, size_t n, const void *record, struct cell *cells)
{
    for (size_t c = 0; c < n; c++) {
        const struct column *column = &columns[c];
        bool is_there =
            is_set((enum field_type)column->when_field, (const char *)record + column->when);

        cells[c] = is_there ? field_cell(column, (const char *)record + column->at) : cell_none();
    }
}

char *cell_put_exact(char *to, const struct cell *cell)
{
    switch (cell->type) {
    case CELL_COUNT:
        return text_put_count(to, cell->count);
    case CELL_NS:
        return text_put_ns(to, cell->fs);
    case CELL_FRACTION:
    case CELL_DECIMAL:
    case CELL_PERCENT:
    case CELL_ERROR:
        return text_put_fraction(to, cell->value);
    case CELL_NUMBER:
        return text_put_text(to, cell->text);
    case CELL_NONE:
    case CELL_TEXT:
        break;
    }
    return to;
}

/* Six decimals without the zeros at their end: "0.001", "1". */
static char *put_decimal(char *to, double value)
{
    char *end = text_put_fraction(to, value);

    if (!isfinite(value))
        return end;
    while (end[-1] == '0')
        end--;
    return end[-1] == '.' ? end - 1 : end;
}

char *cell_put_rounded(char *to, const struct cell *cell)
{
    switch (cell->type) {
    case CELL_NS:
        return text_put_ns_rounded(to, cell->fs);
    case CELL_FRACTION:
        return to + sprintf(to, "%.2f", cell->value);
    case CELL_DECIMAL:
        return put_decimal(to, cell->value);
    case CELL_PERCENT: /* no "-0.0" */
        return to + sprintf(to, "%.1f", fabs(cell->value) < 0.05 ? 0 : cell->value);
    case CELL_ERROR:
        return to + sprintf(to, "%.1e", cell->value);
    default:
        return cell_put_exact(to, cell);
    }
}
