/* out.c -- results as rows of cells, and the formats in which they are printed. */
#include "cli/out/out.h"
#include "base/text.h"
#include <math.h>
#include <stdio.h>

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

void out_head(const struct rows *rows, const struct origin *origin, enum format format,
              struct sink *s)
{
    switch (format) {
    case FORMAT_CSV:
        out_csv_head(rows, s);
        break;
    case FORMAT_JSON:
        out_json_head(origin, s);
        break;
    case FORMAT_JSONL:
        out_jsonl_head(origin, s);
        break;
    case FORMAT_MD:
        out_md_head(rows, s);
        break;
    case FORMAT_TABLE:
    case FORMAT_SVG:
    case FORMAT_DOT:
    case N_FORMATS:
        break;
    }
}

void out_rows(const struct rows *rows, uint64_t from, uint64_t to, enum format format,
              struct sink *s)
{
    switch (format) {
    case FORMAT_CSV:
        out_csv_rows(rows, from, to, s);
        break;
    case FORMAT_JSON:
        out_json_rows(rows, from, to, s);
        break;
    case FORMAT_JSONL:
        out_jsonl_rows(rows, from, to, s);
        break;
    case FORMAT_MD:
        out_md_rows(rows, from, to, s);
        break;
    case FORMAT_TABLE:
    case FORMAT_SVG:
    case FORMAT_DOT:
    case N_FORMATS:
        break;
    }
}

void out_tail(const struct rows *rows, enum format format, struct sink *s)
{
    if (format == FORMAT_JSON)
        out_json_tail(s);
    else if (format == FORMAT_MD)
        out_md_tail(rows, s);
}

void out_write(const struct rows *rows, const struct origin *origin, enum format format,
               struct sink *s)
{
    if (format == FORMAT_TABLE) {
        out_table(rows, s);
        return;
    }
    out_head(rows, origin, format, s);
    out_rows(rows, 0, rows->n_rows, format, s);
    out_tail(rows, format, s);
}
