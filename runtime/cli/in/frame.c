/*
 * frame.c -- transactions in memory as the rows of an input file.
 *
 * A program that has a million transactions has few different endpoints: their texts come once,
 * and the columns have numbers of them. So each text is read once, and a row becomes a request by
 * three look-ups. All rows that are not that plain, those with a mistake, an address, a dependency
 * or a plane, take the way of a file's row: frame_read() writes their fields as texts and has
 * in->row() read them. So there is one place that knows what a row may be, and what is said of it.
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
#include <stdlib.h>
#include <string.h>

enum { ROWS_PER_LOOK = 4096 };

/* Texts of endpoints, read. */
struct endpoints {
    kb_endpoint *end; /* owned */
    uint64_t *room;   /* owned: bytes; 0: of no use, whatever it is */
};

/* The reading of one frame. */
struct reading {
    const kb_frame *frame;
    const kb_topology *topo;
    kb_sim *sim;
    int *ops; /* owned: of each text; -1: none */
    struct endpoints srcs, dsts;
    char *line; /* owned */
};

static void read_ends(const struct reading *r, const char *const *texts, size_t n, bool is_memory,
                      struct endpoints *out)
{
    out->end = memory_new(n, sizeof *out->end);
    out->room = memory_new(n, sizeof *out->room);
    for (size_t i = 0; i < n; i++) {
        if (kb_endpoint_parse(r->topo, texts[i], strlen(texts[i]), &out->end[i], NULL) == KB_OK)
            out->room[i] = is_memory ? kb_memory_bytes(r->topo, &out->end[i]) : 1;
    }
}

static void read_ops(struct reading *r)
{
    r->ops = memory_new(r->frame->n_ops, sizeof *r->ops);
    for (size_t i = 0; i < r->frame->n_ops; i++) {
        r->ops[i] = -1;
        for (int op = 0; op < N_OPS; op++)
            if (strcmp(r->frame->ops[i], op_names[op]) == 0)
                r->ops[i] = op;
    }
}

/* -- plain rows ----------------------------------------------------------------------------- */

/* Do the ends suit the op? */
static bool are_ends(kb_transaction_op op, const kb_endpoint *src, const kb_endpoint *dst)
{
    if (op == KB_H2D || op == KB_D2H)
        return src->kind == KB_HOST && dst->kind == KB_SLICE && dst->sip == src->sip;
    return src->kind == KB_PE && (dst->kind == KB_SLICE || dst->kind == KB_SRAM);
}

/* Adds row `i` if it is plain and right. */
static bool add_plain(const struct reading *r, uint64_t i)
{
    const kb_frame *f = r->frame;
    uint32_t src = f->src[i], dst = f->dst[i];
    uint64_t room = r->dsts.room[dst];
    int op = r->ops[f->op[i]];

    if (f->after || f->plane || f->think_fs || op < 0 || !r->srcs.room[src] ||
        f->offset[i] >= room || f->nbytes[i] > room - f->offset[i] ||
        !are_ends((kb_transaction_op)op, &r->srcs.end[src], &r->dsts.end[dst]))
        return false;
    kb_transaction q = {.issue_fs = f->issue_fs[i],
                        .op = (kb_transaction_op)op,
                        .src = r->srcs.end[src],
                        .dst = r->dsts.end[dst],
                        .offset = f->offset[i],
                        .nbytes = f->nbytes[i]};
    return kb_sim_add(r->sim, &q, NULL) == KB_OK;
}

/* -- other rows ----------------------------------------------------------------------------- */

static void put_text(const struct reading *r, size_t number, const char *text, struct field *field)
{
    char *to = r->line + number * FRAME_FIELD_BYTES;
    size_t n = strnlen(text, FRAME_FIELD_BYTES - 1);

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
}

static void add_row(const struct reading *r, struct fields *in, uint64_t i)
{
    struct field field[FIELDS_MAX] = {0};

    in->lines.number = i;
    put_row(r, i, field);
    in->row(in->arg, in, field);
}

/* -- all of them ---------------------------------------------------------------------------- */

static void read_rows(const struct reading *r, struct fields *in)
{
    for (uint64_t i = 0; i < r->frame->n && !fields_enough(in); i++) {
        if (in->code && in->code != EXIT_INPUT)
            return;
        if (i % ROWS_PER_LOOK == 0 && stop_asked()) {
            in->code = EXIT_INTERRUPTED;
            return;
        }
        if (!add_plain(r, i))
            add_row(r, in, i);
        in->n_rows++;
    }
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
                        .line = memory_new(FIELDS_MAX, FRAME_FIELD_BYTES)};

    in->line = r.line;
    in->field_bytes = FRAME_FIELD_BYTES;
    read_ops(&r);
    read_ends(&r, frame->srcs, frame->n_srcs, false, &r.srcs);
    read_ends(&r, frame->dsts, frame->n_dsts, true, &r.dsts);
    read_rows(&r, in);
    free(r.ops);
    free(r.srcs.end);
    free(r.srcs.room);
    free(r.dsts.end);
    free(r.dsts.room);
    free(r.line);
    return in->code;
}
