/*
 * cell.c -- the numbers of cells, for programs and for people.
 *
 * A cell keeps its value as the library gave it, times as whole femtoseconds, and its type tells
 * how to print it. cell_put_exact() is for programs: times read back as the same number, and so do
 * numbers that were written in a file or on the command line. cell_put_rounded() is for people: two
 * decimals, percentages with one.
 */
#include "cli/out/cell.h"
#include "base/text.h"
#include <math.h>
#include <stdio.h>

/* Six decimals, unless a number has others among the 15 digits that a double keeps: 3e-07. */
static char *put_as_written(char *to, double value)
{
    char digits[TEXT_NUMBER_BYTES];
    char *end = text_put_fraction(to, value);

    text_format(digits, sizeof digits, "%.15g", value);
    *end = '\0';
    if (text_to_double(to, NULL) == text_to_double(digits, NULL))
        return end;
    return text_put_text(to, digits);
}

char *cell_put_exact(char *to, const struct cell *cell)
{
    switch (cell->type) {
    case CELL_COUNT:
        return text_put_count(to, cell->count);
    case CELL_NS:
        return text_put_ns(to, cell->fs);
    case CELL_DECIMAL:
        return put_as_written(to, cell->value);
    case CELL_FRACTION:
    case CELL_PERCENT:
        return text_put_fraction(to, cell->value);
    case CELL_ERROR: /* as many digits as it has: it is often below a millionth */
        return text_put_double(to, 1, cell->value);
    case CELL_NUMBER:
        return text_put_text(to, cell->text);
    case CELL_NONE:
    case CELL_TEXT:
        break;
    }
    return to;
}

/* Six decimals without the zeros at their end: "0.001", "1". Of a smaller number six digits. */
static char *put_decimal(char *to, double value)
{
    char *end = text_put_fraction(to, value);

    if (!isfinite(value))
        return end;
    if (value != 0 && fabs(value) < 0.5e-6)
        return to + text_format(to, TEXT_NUMBER_BYTES, "%.6g", value);
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
        return to + text_format(to, TEXT_NUMBER_BYTES, "%.2f", cell->value);
    case CELL_DECIMAL:
        return put_decimal(to, cell->value);
    case CELL_PERCENT: /* no "-0.0" */
        return to + text_format(to, TEXT_NUMBER_BYTES, "%.1f",
                                fabs(cell->value) < 0.05 ? 0 : cell->value);
    case CELL_ERROR:
        return to + text_format(to, TEXT_NUMBER_BYTES, "%.1e", cell->value);
    default:
        return cell_put_exact(to, cell);
    }
}
