/*
 * inspection_rows.c -- `run --inspect`: all about some operations, a row for each fact.
 *
 * A row has an operation, what the fact is of ("op", the role of a tensor, "producer", "consumer"),
 * the name of the fact and its value. First comes the operation itself: where it ran, when, its
 * parameters as in the op log. Then each tensor: type, shape, where it lies, which operation made
 * it, and if it is known minimum, maximum, mean, how many NaN and infinities, the first values.
 * Last come the operations that made the inputs and those that read the result.
 *
 * Values are printed with the fewest digits that read back as the same number.
 *
 * Example, some rows of `run softmax --inspect 3` on cube8:
 *
 *     op_id  of        field      value
 *         3  op        name       dma_read
 *         3  op        source     benches/softmax.c:15
 *         3  op        start_ns   30.84
 *         3  src       shape      [4,256]
 *         3  src       tensor     x[12,0]
 *         3  src       made_by    host
 *         3  dst       memory     c0.pe3.tcm
 *         3  consumer  73         softmax sip0.cube0.pe3.pe_math 47.921250..223.921250 ns
 *
 * So one goes from an operation to the next: from a wrong result to `made_by`, and on, until an
 * input is right and the result is not (docs/kernels.md "Finding out what went wrong").
 */
#include "cli/rows/inspection_rows.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include "base/text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 320, N_FIRST = 8 };

/* One row. A text is its own. */
struct fact {
    uint32_t op;
    char of[32], field[32];
    struct cell value; /* a text is in `text` */
    char text[TEXT_BYTES];
};

static const struct column columns[] = {
    COLUMN("op_id", CELL_COUNT, struct fact, op),
    COLUMN("of", CELL_TEXT, struct fact, of),
    COLUMN("field", CELL_TEXT, struct fact, field),
    COLUMN("value", CELL_TEXT, struct fact, value),
};

enum { N_COLUMNS = sizeof columns / sizeof *columns };

struct facts {
    struct fact *fact; /* owned */
    size_t n, room;
    uint32_t op;
};

/* -- facts ---------------------------------------------------------------------------------- */

static void add(struct facts *f, const char *of, const char *field, struct cell value)
{
    f->fact = memory_room(f->fact, f->n, &f->room, sizeof *f->fact);
    struct fact *new = &f->fact[f->n++];
    *new = (struct fact){.op = f->op, .value = value};
    snprintf(new->of, sizeof new->of, "%s", of);
    snprintf(new->field, sizeof new->field, "%s", field);
    if (value.type == CELL_TEXT || value.type == CELL_NUMBER)
        text_show(value.text, strlen(value.text), new->text, sizeof new->text);
}

static void add_text(struct facts *f, const char *of, const char *field, const char *text)
{
    add(f, of, field, text ? cell_text(text) : cell_none());
}

static void add_value(struct facts *f, const char *of, const char *field, double value)
{
    char text[TEXT_DOUBLE_BYTES];

    text_put_double(text, 6, value);
    add(f, of, field, isfinite(value) ? cell_number(text) : cell_text(text));
}

/* "name[3,0]" or "[3,0]" */
static void put_index(const char *name, const int64_t *index, int64_t rank, char text[TEXT_BYTES])
{
    size_t n = (size_t)snprintf(text, TEXT_BYTES, "%.128s[", name);

    for (int64_t i = 0; i < rank; i++)
        n += (size_t)snprintf(text + n, TEXT_BYTES - n, "%s%lld", i > 0 ? "," : "",
                              (long long)index[i]);
    snprintf(text + n, TEXT_BYTES - n, "]");
}

/* -- the operation -------------------------------------------------------------------------- */

/* The value of a member of our own JSON: its end. Brackets and strings may stand in it. */
static const char *value_end(const char *p)
{
    int depth = 0;
    bool quoted = false;

    for (; *p && (quoted || depth > 0 || (*p != ',' && *p != '}')); p++) {
        if (quoted && *p == '\\')
            p++;
        else if (*p == '"')
            quoted = !quoted;
        else if (!quoted)
            depth += (*p == '[' || *p == '{') - (*p == ']' || *p == '}');
    }
    return p;
}

/* Does another row tell this parameter already, of a tensor or of the operation? */
static bool is_told(const char *key)
{
    static const char *const parts[] = {"addr",   "space",   "shape",  "dtype_in", "dtype_out",
                                        "inputs", "t_issue", "region", "snapshot"};

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(key, parts[i]))
            return true;
    return strcmp(key, "dtype") == 0 || strcmp(key, "input_dtypes") == 0;
}

/* {"key":value,...}, as the op log has it. */
static void add_params(struct facts *f, const char *json)
{
    for (const char *p = json + 1; *p == '"';) {
        char key[32], value[TEXT_BYTES];
        const char *name = p + 1, *colon = strchr(name, ':');
        const char *end = value_end(colon + 1);

        snprintf(key, sizeof key, "%.*s", (int)(colon - 1 - name), name);
        snprintf(value, sizeof value, "%.*s", (int)(end - colon - 1), colon + 1);
        if (!is_told(key)) {
            bool is_number = value[strspn(value, "-0123456789.e+")] == '\0';

            if (value[0] == '"') {
                value[strlen(value) - 1] = '\0';
                memmove(value, value + 1, strlen(value));
            }
            add(f, "param", key, is_number ? cell_number(value) : cell_text(value));
        }
        p = *end == ',' ? end + 1 : end;
    }
}

static void add_op(struct facts *f, const struct cli *cli, const kb_op_info *info)
{
    kb_endpoint pe = {0};
    char text[TEXT_BYTES];

    kb_pe_get(cli->topo, info->pe, &pe);
    if (info->asked != info->op.id)
        add(f, "op", strcmp(info->op.name, "ipcq_copy") == 0 ? "taken_by" : "stage",
            cell_count(info->asked));
    add_text(f, "op", "name", info->op.name);
    add_text(f, "op", "component", info->op.component);
    kb_endpoint_name(&pe, text);
    add_text(f, "op", "pe", text);
    add_text(f, "op", "kernel", info->kernel);
    snprintf(text, sizeof text, "%.256s:%d", info->file ? info->file : "", info->line);
    add_text(f, "op", "source", info->file ? text : NULL);
    if (info->region)
        add_text(f, "op", "region", info->region);
    add(f, "op", "issue_ns", cell_ns(info->issue_fs));
    add(f, "op", "start_ns", cell_ns(info->op.start_fs));
    add(f, "op", "end_ns", cell_ns(info->op.end_fs));
    add_params(f, info->params);
}

/* -- tensors -------------------------------------------------------------------------------- */

static uint64_t elements(const kb_shape *shape)
{
    uint64_t n = 1;

    for (int64_t i = 0; i < shape->rank; i++)
        n *= (uint64_t)shape->dim[i];
    return n;
}

/* Minimum, maximum and mean of the finite elements, summed in order in f64. */
static void add_summary(struct facts *f, const kb_op_tensor *t)
{
    uint64_t n = elements(&t->shape), nans = 0, infs = 0, finite = 0;
    double min = INFINITY, max = -INFINITY, sum = 0;

    for (uint64_t i = 0; i < n; i++) {
        double value = kb_element(t->dtype, t->bytes, i);

        nans += isnan(value) != 0;
        infs += isinf(value) != 0;
        if (!isfinite(value))
            continue;
        finite++;
        sum += value;
        min = value < min ? value : min;
        max = value > max ? value : max;
    }
    if (finite > 0) {
        add_value(f, t->role, "min", min);
        add_value(f, t->role, "max", max);
        add_value(f, t->role, "mean", sum / (double)finite);
    }
    add(f, t->role, "nans", cell_count(nans));
    add(f, t->role, "infs", cell_count(infs));
}

static void add_first(struct facts *f, const kb_op_tensor *t)
{
    uint64_t n = elements(&t->shape);
    char text[TEXT_BYTES], value[TEXT_DOUBLE_BYTES];
    size_t at = 0;

    for (uint64_t i = 0; i < n && i < N_FIRST; i++) {
        text_put_double(value, 6, kb_element(t->dtype, t->bytes, i));
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", i > 0 ? " " : "", value);
    }
    add_text(f, t->role, "first", text);
}

/* Which operation made the bytes; or the host; or several, if it is not known to be one. */
static void add_maker(struct facts *f, const kb_op_tensor *t)
{
    char text[TEXT_BYTES];

    if (t->tensor) {
        put_index(t->tensor, t->index, t->rank, text);
        add_text(f, t->role, "tensor", text);
    }
    if (t->is_result)
        return;
    add(f, t->role, "made_by",
        t->maker != KB_NO_ID ? cell_count(t->maker)
        : t->from_host       ? cell_text("host")
                             : cell_text("several"));
}

static void add_tensor(struct facts *f, const kb_op_tensor *t)
{
    char text[TEXT_BYTES];

    if (t->is_scalar) {
        add_value(f, t->role, "scalar", t->scalar);
        return;
    }
    add_text(f, t->role, "dtype", kb_dtype_name(t->dtype));
    put_index("", t->shape.dim, t->shape.rank, text);
    add_text(f, t->role, "shape", text);
    if (t->memory.kind == KB_PE)
        add_text(f, t->role, "memory", "acc"); /* its address is its number */
    else {
        kb_endpoint_name(&t->memory, text);
        add_text(f, t->role, "memory", text);
        add(f, t->role, "offset", cell_count(t->offset));
    }
    add(f, t->role, "address", cell_count(t->address));
    add_maker(f, t);
    if (!t->bytes)
        return;
    add_summary(f, t);
    add_first(f, t);
}

/* -- operations before and after ------------------------------------------------------------ */

static void add_brief(struct facts *f, const char *of, const kb_op_brief *b)
{
    char id[32], tensor[TEXT_BYTES] = "", start[TEXT_NUMBER_BYTES], end[TEXT_NUMBER_BYTES];
    char text[2 * TEXT_BYTES];

    snprintf(id, sizeof id, "%u", b->id);
    if (b->tensor)
        put_index(b->tensor, b->index, b->rank, tensor);
    *text_put_ns(start, b->start_fs) = '\0';
    *text_put_ns(end, b->end_fs) = '\0';
    snprintf(text, sizeof text, "%s %s %.40s..%.40s ns%s%s", b->name, b->component, start, end,
             b->tensor ? (strstr(b->name, "read") ? " from " : " to ") : "", tensor);
    add_text(f, of, id, text);
}

static void add_all(struct facts *f, const struct cli *cli, const kb_op_info *info)
{
    f->op = info->op.id;
    add_op(f, cli, info);
    for (size_t i = 0; i < info->n_tensors; i++)
        add_tensor(f, &info->tensors[i]);
    for (size_t i = 0; i < info->n_producers; i++)
        add_brief(f, "producer", &info->producers[i]);
    for (size_t i = 0; i < info->n_consumers; i++)
        add_brief(f, "consumer", &info->consumers[i]);
}

/* -- the whole ------------------------------------------------------------------------------ */

static bool fact_row(void *arg, uint64_t i, struct cell *cells)
{
    struct fact *fact = &((const struct facts *)arg)->fact[i];

    if (fact->value.type == CELL_TEXT || fact->value.type == CELL_NUMBER)
        fact->value.text = fact->text; /* the array may have moved since it was added */
    record_cells(columns, N_COLUMNS, fact, cells);
    return true;
}

void inspection_rows_print(const struct cli *cli, kb_inspection *const *inspected,
                           const struct origin_arg *args, size_t n_args, struct sink *s)
{
    struct origin origin = cmd_origin(cli);
    struct facts f = {.n = 0};
    struct rows rows = {ROWS_COLUMNS(columns), .row = fact_row, .arg = &f};

    for (size_t i = 0; i < cli->opts.inspect.n; i++)
        if (inspected[i])
            add_all(&f, cli, kb_inspection_info(inspected[i]));
    rows.n_rows = f.n;
    origin.command = "inspect";
    origin.args = args;
    origin.n_args = n_args;
    out_write(&rows, &origin, cli->opts.format, s);
    cmd_add(cli, &rows, &origin, s);
    sink_flush(s);
    free(f.fact);
}
