/*
 * matrix.c -- the input of `load --pattern matrix:FILE`: which PE sends to which slice, and how
 * much.
 *
 * A CSV of src,dst,weight. Weights are relative: the share of a PE's transactions that goes to dst
 * is its weight over the sum of the weights of that PE.
 *
 * Example, in docs/formats.md "Traffic matrix": c0.pe0 has weights 3 to c0.slice0 and 1 to
 * c7.slice4, c1.pe2 has 0.5 to c0.slice0. Sums are 4 and 0.5, so with --rate 0.1 c0.pe0 issues at
 * 0.1 (three of four reads go to c0.slice0), c1.pe2 at 0.0125, and all other PEs not at all. The
 * library turns weights into shares; here they are only read, and numbered by their PE and slice
 * over all SIPs.
 */
#include "cli/in/matrix.h"
#include "cli/out/memory.h"
#include "cli/in/in_fields.h"
#include "cli/out/say.h"
#include "base/text.h"
#include <stdlib.h>
#include <string.h>

enum field_id { FIELD_SRC, FIELD_DST, FIELD_WEIGHT };

enum { WEIGHT_BYTES = 64 };

static const double weight_most = 1e12; /* the library's bound */

struct reading {
    struct matrix *matrix;
    const struct cli *cli;
};

/* The number over all SIPs and cubes of the PE or slice that a field names. */
static bool read_end(const struct reading *r, struct fields *in, const struct field *f,
                     kb_endpoint_kind kind, uint32_t *out)
{
    const kb_topology *topo = r->cli->topo;
    kb_endpoint end;
    kb_error why; /* filled only by what fails */
    char name[KB_ENDPOINT_BYTES];

    if (kb_endpoint_parse(topo, f->text, f->len, &end, &why) != KB_OK)
        return fields_bad(in, f->text, "%s", why.text);
    if (end.kind != kind) {
        kb_endpoint_name(&end, name);
        return fields_bad(in, f->text, "%s: a %s is a %s", name, kind == KB_PE ? "src" : "dst",
                          kind == KB_PE ? "PE" : "slice");
    }
    return (kind == KB_PE ? kb_pe_number(topo, &end, out) : kb_slice_number(topo, &end, out)) ==
           KB_OK;
}

static bool read_weight(struct fields *in, const struct field *f, double *out)
{
    char text[WEIGHT_BYTES] = "", *end = text;

    if (f->len < sizeof text) {
        memcpy(text, f->text, f->len);
        text[f->len] = '\0';
        if (strspn(text, "0123456789.eE+-") == f->len)
            *out = text_to_double(text, &end);
    }
    if (end == text || *end || !(*out > 0 && *out <= weight_most))
        return fields_bad_field(in, f, "weight", "a number above 0, at most 1e12");
    return true;
}

static void add_row(void *arg, struct fields *in, const struct field *field)
{
    struct reading *r = arg;
    struct matrix *m = r->matrix;
    kb_matrix_row row;

    if (!read_end(r, in, &field[FIELD_SRC], KB_PE, &row.pe) ||
        !read_end(r, in, &field[FIELD_DST], KB_SLICE, &row.slice) ||
        !read_weight(in, &field[FIELD_WEIGHT], &row.weight))
        return;
    m->row = memory_room(m->row, m->n, &m->room, sizeof *m->row);
    m->row[m->n++] = row;
}

enum exit_code matrix_read(struct matrix *matrix, const struct cli *cli, const char *path)
{
    struct reading r = {matrix, cli};
    struct fields in = {.program = cli->program,
                        .header = "src,dst,weight",
                        .row = add_row,
                        .arg = &r,
                        .quiet = cli->opts.quiet};

    *matrix = (struct matrix){NULL, 0, 0};
    enum exit_code code = fields_read(&in, path);

    if (!code && matrix->n == 0)
        return say(cli->program, EXIT_INPUT, "%s has no rows",
                   strcmp(path, "-") == 0 ? "<stdin>" : path);
    return code;
}

void matrix_free(struct matrix *matrix)
{
    free(matrix->row);
    *matrix = (struct matrix){NULL, 0, 0};
}
