/*
 * frame.c -- transactions in memory as the rows of an input file.
 *
 * A program that has a million transactions has few different endpoints: their texts come once,
 * and the columns have numbers of them. So each text is read once, and the columns go on to
 * kb_sim_add_many() as they are, thousands of rows a call. Rows that it refuses, and all rows of a
 * frame with a column that few have, take the way of a file's row: frame_read() writes their fields
 * as texts and has in->row() read them. So there is one place that knows what is said of a mistake.
 *
 * The fields of such a row lie FRAME_FIELD_BYTES apart in one buffer, which stands for the line.
 * The column in which a mistake is found then tells the field: fields_bad_at() divides.
 */
#include "cli/in/frame.h"
#include "base/text.h"
#include "cli/in/transactions.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include "cli/out/stop.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_AT_ONCE = 1 << 15, NO_OP = UINT8_MAX };

/* The reading of one frame. */
struct reading {
    const kb_frame *frame;
    const kb_topology *topo;
    kb_sim *sim;
    uint8_t *ops;      /* owned: of each text; NO_OP: none */
    kb_endpoint *ends; /* owned: those of `srcs`, then those of `dsts` */
    uint32_t *dst;     /* owned: numbers of `ends`, for ROWS_AT_ONCE rows */
    uint8_t *op;       /* owned: the same */
    char *line;        /* owned */
};

/* A text that is none becomes an endpoint that there is not, and its rows are refused. */
static void read_ends(const struct reading *r, const char *const *texts, size_t n, kb_endpoint *out)
{
    for (size_t i = 0; i < n; i++)
        if (kb_endpoint_parse(r->topo, texts[i], strlen(texts[i]), &out[i], NULL) != KB_OK)
            out[i] = (kb_endpoint){.sip = UINT32_MAX};
}

static void read_ops(struct reading *r)
{
    r->ops = memory_new(r->frame->n_ops, sizeof *r->ops);
    for (size_t i = 0; i < r->frame->n_ops; i++) {
        r->ops[i] = NO_OP;
        for (uint8_t op = 0; op < N_OPS; op++)
            if (strcmp(r->frame->ops[i], op_names[op]) == 0)
                r->ops[i] = op;
    }
}

static void read_texts(struct reading *r)
{
    const kb_frame *f = r->frame;

    read_ops(r);
    r->ends = memory_new(f->n_srcs + f->n_dsts, sizeof *r->ends);
    read_ends(r, f->srcs, f->n_srcs, r->ends);
    read_ends(r, f->dsts, f->n_dsts, r->ends + f->n_srcs);
}

/* -- rows as columns ------------------------------------------------------------------------- */

/* Adds `n` rows from `first` on, or none of them: one is wrong, or more than columns can say. */
static bool add_columns(const struct reading *r, uint64_t first, size_t n)
{
    const kb_frame *f = r->frame;
    const kb_transaction_columns columns = {.ends = r->ends,
                                            .n_ends = f->n_srcs + f->n_dsts,
                                            .src = f->src + first,
                                            .dst = r->dst,
                                            .nbytes = f->nbytes + first,
                                            .issue_fs = f->issue_fs + first,
                                            .op = r->op,
                                            .offset = f->offset + first};

    if (f->after || f->plane || f->think_fs || f->prio || f->rows || f->stride)
        return false;
    for (size_t i = 0; i < n; i++) {
        r->dst[i] = (uint32_t)f->n_srcs + f->dst[first + i];
        r->op[i] = r->ops[f->op[first + i]];
    }
    return kb_sim_add_many(r->sim, &columns, n, NULL, NULL) == KB_OK;
}

/* -- rows one by one ------------------------------------------------------------------------- */

static void put_text(const struct reading *r, size_t number, const char *text, struct field *field)
{
    char *to = r->line + number * FRAME_FIELD_BYTES;
    size_t n = strlen(text);

    memcpy(to, text, n);
    field[number] = (struct field){to, n};
}

static void put_ns(const struct reading *r, size_t number, int64_t fs, struct field *field)
{
    char text[TEXT_NUMBER_BYTES];

    *text_put_ns(text, fs) = '\0';
    put_text(r, number, text, field);
}

static void put_count(const struct reading *r, size_t number, uint64_t n, struct field *field)
{
    char text[TEXT_NUMBER_BYTES];

    *text_put_count(text, n) = '\0';
    put_text(r, number, text, field);
}

/* Is the text of field `number` of the row no longer than a line of a file may be? */
static bool fits(struct fields *in, size_t number, const char *text)
{
    char why[64];

    if (strnlen(text, FRAME_FIELD_BYTES) < FRAME_FIELD_BYTES)
        return true;
    snprintf(why, sizeof why, "it is longer than %d bytes", FRAME_FIELD_BYTES - 1);
    return fields_bad_at(in, in->lines.number, number * FRAME_FIELD_BYTES + 1, why);
}

static bool all_fit(const struct reading *r, struct fields *in, uint64_t i)
{
    const kb_frame *f = r->frame;

    return fits(in, 1, f->ops[f->op[i]]) && fits(in, 2, f->srcs[f->src[i]]) &&
           fits(in, 3, f->dsts[f->dst[i]]) && (!f->after || fits(in, 6, f->afters[f->after[i]])) &&
           (!f->plane || fits(in, 8, f->planes[f->plane[i]]));
}

/* Of columns of numbers that may not be there, and have empty cells. */
static void put_some(const struct reading *r, size_t number, const uint64_t *column, uint64_t i,
                     struct field *field)
{
    if (column && column[i] > 0)
        put_count(r, number, column[i], field);
}

/* Row `i` as the fields of a line. */
static void put_row(const struct reading *r, uint64_t i, struct field *field)
{
    const kb_frame *f = r->frame;
    const char *dst = f->dsts[f->dst[i]];
    size_t n = 0;

    put_ns(r, n++, f->issue_fs[i], field);
    put_text(r, n++, f->ops[f->op[i]], field);
    put_text(r, n++, f->srcs[f->src[i]], field);
    put_text(r, n++, dst, field);
    if (is_address_text(dst, strlen(dst)) && f->offset[i] == 0)
        put_text(r, n++, "", field);
    else
        put_count(r, n++, f->offset[i], field);
    put_count(r, n++, f->nbytes[i], field);
    if (f->after)
        put_text(r, n, f->afters[f->after[i]], field);
    if (f->think_fs && f->think_fs[i] > 0)
        put_ns(r, n + 1, f->think_fs[i], field);
    if (f->plane)
        put_text(r, n + 2, f->planes[f->plane[i]], field);
    put_some(r, n + 3, f->prio, i, field);
    put_some(r, n + 4, f->rows, i, field);
    put_some(r, n + 5, f->stride, i, field);
}

static void add_row(const struct reading *r, struct fields *in, uint64_t i)
{
    struct field field[FIELDS_MAX] = {0};

    in->lines.number = i;
    if (!all_fit(r, in, i))
        return;
    put_row(r, i, field);
    in->row(in->arg, in, field);
}

/* -- all of them ---------------------------------------------------------------------------- */

/* Whether more rows can be read: mistakes do not end it, until there are enough of them. */
static bool goes_on(const struct fields *in)
{
    return !fields_enough(in) && (!in->code || in->code == EXIT_INPUT);
}

static void add_rows(const struct reading *r, struct fields *in, uint64_t first, size_t n)
{
    for (size_t i = 0; i < n && goes_on(in); i++) {
        add_row(r, in, first + i);
        in->n_rows++;
    }
}

static void read_rows(const struct reading *r, struct fields *in)
{
    uint64_t all = r->frame->n;

    for (uint64_t first = 0; first < all && goes_on(in); first += ROWS_AT_ONCE) {
        size_t n = all - first < ROWS_AT_ONCE ? all - first : ROWS_AT_ONCE;

        if (stop_asked())
            in->code = EXIT_INTERRUPTED;
        else if (add_columns(r, first, n))
            in->n_rows += n;
        else
            add_rows(r, in, first, n);
    }
    if (in->code && in->code != EXIT_INPUT)
        return;
    if (in->end)
        in->end(in->arg, in);
    if (fields_enough(in))
        say_line("more bad rows follow");
}

enum exit_code frame_read(struct fields *in, const kb_frame *frame, const kb_topology *topo,
                          kb_sim *sim)
{
    struct reading r = {.frame = frame,
                        .topo = topo,
                        .sim = sim,
                        .dst = memory_new(ROWS_AT_ONCE, sizeof *r.dst),
                        .op = memory_new(ROWS_AT_ONCE, sizeof *r.op),
                        .line = memory_new(FIELDS_MAX, FRAME_FIELD_BYTES)};

    in->line = r.line;
    in->field_bytes = FRAME_FIELD_BYTES;
    read_texts(&r);
    read_rows(&r, in);
    free(r.ops);
    free(r.ends);
    free(r.dst);
    free(r.op);
    free(r.line);
    return in->code;
}
