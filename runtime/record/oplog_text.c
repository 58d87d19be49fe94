/* oplog_text.c -- the op log as JSON lines or CSV: docs/formats.md "Op log".
 *
 * Each record is unpacked and written into one growing line, which is then written to the file. The
 * functions are layers: put_...() append a value, key_...() a key and a value, and
 * oplog_put_dma_read() and its like the parameters of one kind of record, in the order of the table
 * in docs/formats.md. A comma is put before a key unless the line ends with an opening bracket, so
 * that no layer needs to know whether it writes the first member.
 *
 * Both formats have the same parameters: in CSV the JSON object is one quoted field. Lack of memory
 * is not checked after each value; `failed` is looked at once per line.
 *
 * Example: the first load of `run softmax` on cube8, 4 rows of 256 in f16 by PE 0. As JSON it is
 * one line, which is broken here:
 *
 *     {"op_id":0,"t_start":30.836250,"t_end":40.921250,
 *      "component_id":"sip0.cube0.pe0.pe_dma","op_kind":"memory","op_name":"dma_read",
 *      "params":{"t_issue":30.836250,"src_space":"hbm","src_addr":0,"dst_space":"tcm",
 *                "dst_addr":137438953472,"shape":[4,256],"dtype":"f16","nbytes":2048,
 *                "handle_id":"h0","src_strides":null},
 *      "dependency_ids":[]}
 *
 * and as CSV, where params is one field and each of its quotes is doubled:
 *
 *     0,30.836250,40.921250,sip0.cube0.pe0.pe_dma,memory,dma_read,
 *     "{""t_issue"":30.836250,...}","[]"
 *
 * The softmax that reads these rows is op 64. It has "dependency_ids":[0], the operations whose
 * results it needs, and "input_snapshots":[0], which of them made each operand. The two lists
 * differ if an operand was gathered from several stores: its snapshot is null, since there is no
 * single maker, and the dependencies have all of them.
 *
 * Invariants: a line depends on its record alone, not on the lines before it, so that lines may be
 * written in any order (oplog_order.c); times are written from whole femtoseconds, with six
 * decimals and without a double in between; a double has the fewest digits that read back as the
 * same one.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "machine/endpoint.h"
#include "machine/pes.h"
#include "machine/place.h"
#include "record/oplog_line.h"

/* -- a line --------------------------------------------------------------------------------- */

enum { LINE_FIRST = 4096 };

/* Room for `n` bytes, at most LINE_FIRST. */
static char *line_room(struct line *l, size_t n)
{
    char *moved;

    if (l->cap - l->n < n) {
        moved = realloc(l->text, 2 * l->cap);
        if (moved) {
            l->text = moved;
            l->cap *= 2;
        } else {
            l->failed = true;
            l->n = 0;
        }
    }
    return l->text + l->n;
}

static void line_end(struct line *l, const char *end)
{
    l->n = (size_t)(end - l->text);
}

void oplog_put_char(struct line *l, char c)
{
    *line_room(l, 1) = c;
    l->n++;
}

/* A text of at most LINE_FIRST bytes. */
void oplog_put_text(struct line *l, const char *text)
{
    line_end(l, text_put_text(line_room(l, strlen(text)), text));
}

void oplog_put_count(struct line *l, uint64_t value)
{
    line_end(l, text_put_count(line_room(l, TEXT_NUMBER_BYTES), value));
}

void oplog_put_ns(struct line *l, int64_t fs)
{
    line_end(l, text_put_ns(line_room(l, TEXT_NUMBER_BYTES), fs));
}

static void put_string(struct line *l, const char *text)
{
    oplog_put_char(l, '"');
    while (*text)
        line_end(l, text_put_json(line_room(l, TEXT_JSON_BYTES), &text));
    oplog_put_char(l, '"');
}

/* The fewest digits that read back as the same double. JSON has no infinities: they are strings. */
void oplog_put_double(struct line *l, double value)
{
    char *to = line_room(l, TEXT_NUMBER_BYTES);

    if (!isfinite(value)) {
        oplog_put_text(l, isnan(value) ? "\"nan\"" : value > 0 ? "\"inf\"" : "\"-inf\"");
        return;
    }
    l->n += (size_t)(text_put_double(to, 15, value) - to);
}

/* -- records -------------------------------------------------------------------------------- */

/* A record, unpacked. */
struct entry {
    const struct record *record;
    union {
        struct op op;
        struct op_token token;
    };
};

static void unpack(const struct record *r, const unsigned char *chunk, struct entry *e)
{
    e->record = r;
    if (record_is_token(r))
        op_token_unpack(r, chunk, &e->token);
    else
        op_unpack(r, chunk, &e->op);
}

/*
 * The node on whose track the record belongs. A composite belongs to pe_scheduler, which cuts it
 * into tiles; the stages of the tiles are on the engines. A dot that is no composite is on
 * pe_gemm, for its record is that of the GEMM alone: its FETCH and STORE are tokens of
 * pe_fetch_store.
 */
static enum node_kind component_of(const struct entry *e)
{
    static const uint8_t of_stage[] = {
        [STAGE_DMA_READ] = NODE_PE_DMA,      [STAGE_DMA_WRITE] = NODE_PE_DMA,
        [STAGE_FETCH] = NODE_PE_FETCH_STORE, [STAGE_GEMM] = NODE_PE_GEMM,
        [STAGE_MATH] = NODE_PE_MATH,         [STAGE_STORE] = NODE_PE_FETCH_STORE,
    };

    if (record_is_token(e->record))
        return of_stage[e->token.stage];
    if (e->op.kind == OP_DMA_READ || e->op.kind == OP_DMA_WRITE || e->op.atomic || e->op.sums)
        return NODE_PE_DMA;
    if (op_updates(&e->op))
        return NODE_PE_FETCH_STORE;
    if (e->op.composite)
        return NODE_PE_SCHEDULER;
    return e->op.kind == OP_GEMM ? NODE_PE_GEMM : NODE_PE_MATH;
}

static void name_component(const struct kb_topology *t, const struct entry *e,
                           char name[KB_NODE_BYTES])
{
    kb_place_node(t, place_pe_node(t, pe_src(t, e->record->pe), component_of(e)), name);
}

static void put_component(struct line *l, const struct kb_topology *t, const struct entry *e)
{
    char name[KB_NODE_BYTES];

    name_component(t, e, name);
    oplog_put_text(l, name);
}

static const char *kind_of(const struct entry *e)
{
    static const char *const names[] = {"memory", "memory", "gemm", "math"};

    if (record_is_token(e->record))
        return "unknown";
    return names[e->op.atomic || e->op.sums || op_updates(&e->op) ? OP_DMA_WRITE : e->op.kind];
}

static void put_op_name(struct line *l, const struct entry *e)
{
    const struct op *op = &e->op;

    if (record_is_token(e->record)) {
        oplog_put_text(l, "TileToken/");
        oplog_put_text(l, stage_names[e->token.stage]);
    } else if (op->ipcq) {
        oplog_put_text(l, "ipcq_copy");
    } else if (op->sums) {
        oplog_put_text(l, "dma_read_sum");
    } else if (op->kind == OP_DMA_READ || op->kind == OP_DMA_WRITE || op->atomic) {
        oplog_put_text(l, op->kind == OP_DMA_READ ? "dma_read" : "dma_write");
    } else if (op->composite && !op_of_acc(op)) {
        oplog_put_text(l, op->kind == OP_GEMM ? "composite_gemm" : "composite_math");
    } else if (op->kind == OP_GEMM) {
        oplog_put_text(l, "gemm_");
        oplog_put_text(l, kb_dtype_name(op_operands_dtype(op)));
    } else {
        oplog_put_text(l, op_math_name(op));
    }
}

static void put_params(struct line *l, const struct entry *e)
{
    bool is_token = record_is_token(e->record);
    const char *region = is_token ? e->token.region : e->op.region;

    oplog_put_char(l, '{');
    if (is_token)
        oplog_put_token(l, &e->token);
    else if (e->op.kind == OP_DMA_READ || e->op.sums)
        oplog_put_dma_read(l, &e->op);
    else if (e->op.ipcq)
        oplog_put_ipcq_copy(l, &e->op);
    else if (e->op.kind == OP_DMA_WRITE || e->op.atomic)
        oplog_put_dma_write(l, &e->op);
    else
        oplog_put_compute(l, &e->op);
    if (region) {
        oplog_put_key(l, "region");
        put_string(l, region);
    }
    oplog_put_char(l, '}');
}

static void put_depends(struct line *l, const struct entry *e)
{
    if (record_is_token(e->record))
        oplog_put_text(l, "[]");
    else
        oplog_put_counts(l, op_ids_list(&e->op.depends), e->op.depends.n);
}

static void put_json(struct line *l, const struct kb_topology *t, const struct entry *e)
{
    oplog_put_char(l, '{');
    oplog_key_count(l, "op_id", e->record->id);
    oplog_key_ns(l, "t_start", e->record->start_fs);
    oplog_key_ns(l, "t_end", e->record->end_fs);
    oplog_put_key(l, "component_id");
    oplog_put_char(l, '"');
    put_component(l, t, e);
    oplog_put_char(l, '"');
    oplog_key_word(l, "op_kind", kind_of(e));
    oplog_put_key(l, "op_name");
    oplog_put_char(l, '"');
    put_op_name(l, e);
    oplog_put_char(l, '"');
    oplog_put_key(l, "params");
    put_params(l, e);
    oplog_put_key(l, "dependency_ids");
    put_depends(l, e);
    oplog_put_text(l, "}\n");
}

/* -- parts of a record ---------------------------------------------------------------------- */

void op_log_component(const struct op_log *log, const struct record *r, const unsigned char *chunk,
                      char name[KB_NODE_BYTES])
{
    struct entry e;

    unpack(r, chunk, &e);
    name_component(log->topo, &e, name);
}

/* The text that put() writes for the record; owned by the caller; NULL: no memory. */
static char *text_of(const struct record *r, const unsigned char *chunk,
                     void (*put)(struct line *l, const struct entry *e))
{
    struct line l = {.text = malloc(LINE_FIRST), .cap = LINE_FIRST};
    struct entry e;

    if (!l.text)
        return NULL;
    unpack(r, chunk, &e);
    put(&l, &e);
    oplog_put_char(&l, '\0');
    if (!l.failed)
        return l.text;
    free(l.text);
    return NULL;
}

bool op_log_name(const struct record *r, const unsigned char *chunk, char name[32])
{
    char *text = text_of(r, chunk, put_op_name);

    if (!text)
        return false;
    snprintf(name, 32, "%s", text);
    free(text);
    return true;
}

char *op_log_params(const struct record *r, const unsigned char *chunk)
{
    return text_of(r, chunk, put_params);
}

/*
 * Makes the text of the line from `from` on one field of CSV (RFC 4180): quotes around it, and
 * each quote inside it twice. The text is in the line already, so it is moved to its new end from
 * behind, byte by byte: no byte is overwritten before it has been moved. `{"m":4}` of 7 bytes with
 * 2 quotes grows by 4 to `"{""m"":4}"`; the room is taken first, since the line may move when it
 * grows.
 */
static void quote(struct line *l, size_t from)
{
    size_t n = l->n - from, quotes = 2;
    char *to, *p;

    for (size_t i = 0; i < n; i++)
        quotes += l->text[from + i] == '"';
    for (size_t room = 0; room < quotes && !l->failed; room++)
        oplog_put_char(l, '"');
    if (l->failed)
        return;
    to = l->text + l->n;
    p = l->text + from + n;
    *--to = '"';
    while (p > l->text + from) {
        *--to = *--p;
        if (*p == '"')
            *--to = '"';
    }
    *--to = '"';
}

static void put_csv(struct line *l, const struct kb_topology *t, const struct entry *e)
{
    size_t from;

    oplog_put_count(l, e->record->id);
    oplog_put_char(l, ',');
    oplog_put_ns(l, e->record->start_fs);
    oplog_put_char(l, ',');
    oplog_put_ns(l, e->record->end_fs);
    oplog_put_char(l, ',');
    put_component(l, t, e);
    oplog_put_char(l, ',');
    oplog_put_text(l, kind_of(e));
    oplog_put_char(l, ',');
    put_op_name(l, e);
    oplog_put_char(l, ',');
    from = l->n;
    put_params(l, e);
    quote(l, from);
    oplog_put_char(l, ',');
    from = l->n;
    put_depends(l, e);
    quote(l, from);
    oplog_put_char(l, '\n');
}

/* -- export --------------------------------------------------------------------------------- */

struct export
{
    const struct kb_topology *topo;
    enum op_format format;
    struct line line;
    FILE *out;
    int error; /* errno of a write that failed */
};

static bool write_line(struct export *x)
{
    if (!x->line.failed && fwrite(x->line.text, 1, x->line.n, x->out) != x->line.n)
        x->error = errno ? errno : EIO;
    x->line.n = 0;
    return !x->line.failed && !x->error;
}

static bool write_record(void *arg, const struct record *r, const unsigned char *chunk)
{
    struct export *x = arg;
    struct entry e;

    unpack(r, chunk, &e);
    if (x->format == OP_CSV)
        put_csv(&x->line, x->topo, &e);
    else
        put_json(&x->line, x->topo, &e);
    return write_line(x);
}

/* The first line: docs/results.md "JSON". */
static bool write_header(struct export *x, const char *command_line, uint64_t seed)
{
    struct line *l = &x->line;

    if (x->format == OP_CSV) {
        oplog_put_text(l,
                       "op_id,t_start,t_end,component_id,op_kind,op_name,params,dependency_ids\n");
        return write_line(x);
    }
    oplog_put_char(l, '{');
    oplog_key_word(l, "schema", "kernbench.oplog/1");
    oplog_put_key(l, "topology");
    oplog_put_char(l, '{');
    oplog_put_key(l, "name");
    put_string(l, x->topo->name);
    oplog_put_key(l, "hash");
    put_string(l, x->topo->hash);
    oplog_put_key(l, "config");
    put_string(l, x->topo->config);
    oplog_put_char(l, '}');
    oplog_put_key(l, "version");
    put_string(l, KB_VERSION);
    if (command_line) {
        oplog_put_key(l, "command");
        put_string(l, command_line);
        oplog_put_key(l, "seed");
        oplog_put_count(l, seed);
    }
    oplog_put_text(l, "}\n");
    return write_line(x);
}

static kb_status no_memory(kb_error *why)
{
    endpoint_error(why, "out of memory while the op log was written");
    return KB_NO_MEMORY;
}

kb_status op_log_export(struct op_log *log, enum op_format format, const char *command_line,
                        uint64_t seed, FILE *out, kb_error *why)
{
    struct export x = {.topo = log->topo, .format = format, .out = out};
    bool ok;

    if (log->status != KB_OK)
        return op_log_error(log, why);
    x.line.text = malloc(LINE_FIRST);
    x.line.cap = LINE_FIRST;
    ok = x.line.text && write_header(&x, command_line, seed) &&
         op_log_in_order(log, write_record, &x);
    free(x.line.text);
    if (ok && fflush(out) != 0)
        x.error = errno;
    if (x.error) {
        endpoint_error(why, "cannot write the op log: %s", strerror(x.error));
        return KB_FILE_ERROR;
    }
    return ok ? KB_OK : no_memory(why);
}
