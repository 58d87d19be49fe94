/* out.c -- results as rows of cells, and the formats in which they are printed. */
#include "cli/out/out.h"

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
