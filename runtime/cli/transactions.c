/* transactions.c -- the input of `replay`: a CSV of transactions, read into a simulation. */
#include "transactions.h"
#include "after.h"
#include "lines.h"
#include "say.h"
#include "stop.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BAD_ROWS_MAX = 20, SHOWN_BYTES = 64, IDS_MAX = LINE_BYTES_MAX / 2, PLACES_FIRST = 64 };

enum field_id {
    FIELD_ISSUE,
    FIELD_OP,
    FIELD_SRC,
    FIELD_DST,
    FIELD_OFFSET,
    FIELD_NBYTES,
    N_REQUIRED,
    FIELD_AFTER = N_REQUIRED,
    FIELD_THINK,
    N_FIELDS
};

static const char header[] = "issue_ns,op,src,dst,offset,nbytes";

/* Columns that may follow, each once, in any order. */
static const char *const further[N_FIELDS - N_REQUIRED] = {"after", "think_ns"};

const char *const op_names[N_OPS] = {
    [KB_READ] = "read", [KB_WRITE] = "write", [KB_H2D] = "h2d", [KB_D2H] = "d2h"};

struct field {
    const char *text; /* into the line */
    size_t len;
};

/*
 * A row that waits for itself or for a later one, so that only the end of the file tells whether
 * that is there, and whether it waits in turn: every cycle's first row is such a one.
 */
struct place {
    uint64_t row, line;
    uint64_t last_id; /* the largest it waits for */
    uint32_t after_column, last_id_column;
};

/* The reading of one file. */
struct input {
    const kb_topology *topo;
    const char *program;
    const char *name; /* for messages */
    kb_sim *sim;
    struct lines lines;
    const char *line; /* the one being read */
    unsigned n_bad;
    enum exit_code code;

    char header[64]; /* with the further columns there are */
    size_t n_columns;
    enum field_id column[N_FIELDS]; /* what the n-th holds */
    uint64_t n_rows;                /* before the one being read: its id */

    /* What rows wait for. */
    uint64_t *ids; /* of the current row; owned */
    size_t n_ids, n_places, places_room;
    struct place *places; /* in order; owned */
};

/* -- messages ------------------------------------------------------------------------------- */

/* What is wrong there. Always false. */
static bool bad_at(struct input *in, uint64_t line, size_t column, const char *text)
{
    in->code = EXIT_INPUT;
    if (in->n_bad++ < BAD_ROWS_MAX)
        fprintf(stderr, "%s:%llu:%zu: %s\n", in->name, (unsigned long long)line, column, text);
    return false;
}

static size_t column_of(const struct input *in, const char *at)
{
    return (size_t)(at - in->line) + 1;
}

/* What is wrong at `at` of the current line. Always false. */
__attribute__((format(printf, 3, 4))) static bool bad(struct input *in, const char *at,
                                                      const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return bad_at(in, in->lines.number, column_of(in, at), text);
}

/* "NAME 'TEXT' is not EXPECTED". */
static bool bad_field(struct input *in, const struct field *f, const char *name,
                      const char *expected)
{
    char shown[SHOWN_BYTES];

    return bad(in, f->text, "%s '%s' is not %s", name,
               text_show(f->text, f->len, shown, sizeof shown), expected);
}

/* -- fields --------------------------------------------------------------------------------- */

/* Cuts the line at its commas; of columns that the file has not, the fields stay as they are. */
static bool split(struct input *in, size_t len, struct field field[N_FIELDS])
{
    const char *at = in->line, *end = in->line + len;
    size_t n = 0;

    for (;;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;

        if (n == in->n_columns)
            return bad(in, at, "more than the %zu fields %s", in->n_columns, in->header);
        field[in->column[n++]] = (struct field){at, (size_t)(stop - at)};
        if (!comma)
            break;
        at = comma + 1;
    }
    if (n < in->n_columns)
        return bad(in, end, "%zu of the %zu fields %s", n, in->n_columns, in->header);
    return true;
}

static bool read_op(struct input *in, const struct field *f, kb_op *out)
{
    char shown[SHOWN_BYTES], all[SHOWN_BYTES];

    for (int op = 0; op < N_OPS; op++)
        if (f->len == strlen(op_names[op]) && memcmp(f->text, op_names[op], f->len) == 0) {
            *out = (kb_op)op;
            return true;
        }
    const char *near = text_nearest(f->text, f->len, op_names, N_OPS);
    text_show(f->text, f->len, shown, sizeof shown);
    if (near)
        return bad(in, f->text, "unknown op '%s', did you mean '%s'?", shown, near);
    text_join(op_names, N_OPS, "", all, sizeof all);
    return bad(in, f->text, "unknown op '%s': it is one of %s", shown, all);
}

static bool read_endpoint(struct input *in, const struct field *f, kb_endpoint *out)
{
    kb_error why; /* filled only by what fails */

    if (kb_endpoint_parse(in->topo, f->text, f->len, out, &why) != KB_OK)
        return bad(in, f->text, "%s", why.text);
    return true;
}

static bool is_host_op(kb_op op)
{
    return op == KB_H2D || op == KB_D2H;
}

static bool read_src(struct input *in, const struct field *f, kb_request *q)
{
    kb_kind kind = is_host_op(q->op) ? KB_HOST : KB_PE;
    char shown[SHOWN_BYTES];

    if (!read_endpoint(in, f, &q->src))
        return false;
    if (q->src.kind != kind)
        return bad(in, f->text, "%s: the src of %s is a %s",
                   text_show(f->text, f->len, shown, sizeof shown), op_names[q->op],
                   kind == KB_HOST ? "host" : "PE");
    return true;
}

/* A global address in place of endpoint and offset. */
static bool is_address(const struct field *f)
{
    return f->len >= 2 && f->text[0] == '0' && f->text[1] == 'x';
}

static bool read_hex(const char *text, size_t len, uint64_t *out)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";

    *out = 0;
    for (size_t i = 0; i < len; i++) {
        const char *digit = text[i] ? strchr(digits, text[i]) : NULL;

        if (!digit)
            return false;
        *out = *out << 4 | (uint64_t)((digit - digits) & 15);
    }
    return len > 0 && len <= 16;
}

static bool read_address(struct input *in, const struct field *f, kb_request *q)
{
    uint64_t address;

    if (!read_hex(f->text + 2, f->len - 2, &address))
        return bad_field(in, f, "dst", "an address: 0x and at most 16 hexadecimal digits");
    if (kb_address_find(in->topo, address, &q->dst, &q->offset) != KB_OK)
        return bad_field(in, f, "dst", "the address of any byte of this topology");
    return true;
}

/* "0x2000000000, in c0.pe0.tcm": what is to be said of a dst. */
static const char *show_dst(const struct field *f, const kb_endpoint *dst, char *text, size_t room)
{
    char shown[SHOWN_BYTES], name[KB_ENDPOINT_BYTES];

    text_show(f->text, f->len, shown, sizeof shown);
    kb_endpoint_name(dst, name);
    snprintf(text, room, "%s%s%s", shown, is_address(f) ? ", in " : "", is_address(f) ? name : "");
    return text;
}

static bool read_dst(struct input *in, const struct field *f, kb_request *q)
{
    bool host = is_host_op(q->op);
    char shown[2 * SHOWN_BYTES];

    if (!(is_address(f) ? read_address(in, f, q) : read_endpoint(in, f, &q->dst)))
        return false;
    if (q->dst.kind != KB_SLICE && (host || q->dst.kind != KB_SRAM))
        return bad(in, f->text, "%s: the dst of %s is a slice%s",
                   show_dst(f, &q->dst, shown, sizeof shown), op_names[q->op],
                   host ? "" : " or an SRAM");
    if (host && q->dst.sip != q->src.sip)
        return bad(in, f->text, "%s: the host is of SIP %u, it reaches no other",
                   show_dst(f, &q->dst, shown, sizeof shown), q->src.sip);
    return true;
}

static bool read_range(struct input *in, const struct field field[N_FIELDS], kb_request *q)
{
    uint64_t room = kb_memory_bytes(in->topo, &q->dst);
    const struct field *offset = &field[FIELD_OFFSET], *nbytes = &field[FIELD_NBYTES];
    char dst[KB_ENDPOINT_BYTES];

    if (is_address(&field[FIELD_DST])) {
        if (offset->len > 0)
            return bad_field(in, offset, "offset", "empty, as it is beside an address");
    } else if (!text_read_size(offset->text, offset->len, &q->offset))
        return bad_field(in, offset, "offset", "a size: digits, then K, M or G if wanted");
    if (!text_read_size(nbytes->text, nbytes->len, &q->nbytes) || q->nbytes == 0)
        return bad_field(in, nbytes, "nbytes", "a size above 0: digits, then K, M or G if wanted");
    if (q->offset < room && q->nbytes <= room - q->offset)
        return true;
    kb_endpoint_name(&q->dst, dst);
    return bad(in, q->offset < room ? nbytes->text : offset->text,
               "offset + nbytes is past the end of %s, which holds %llu bytes", dst,
               (unsigned long long)room);
}

/* -- rows that wait for others -------------------------------------------------------------- */

static bool no_memory(struct input *in)
{
    in->code = say(in->program, EXIT_SYSTEM, "out of memory after %llu transactions",
                   (unsigned long long)kb_sim_count(in->sim));
    return false;
}

/* Room for one more place. False without memory. */
static bool room_for_place(struct input *in)
{
    size_t room = in->places_room ? 2 * in->places_room : PLACES_FIRST;
    struct place *moved;

    if (in->n_places < in->places_room)
        return true;
    moved = realloc(in->places, room * sizeof *moved);
    if (!moved)
        return false;
    in->places = moved;
    in->places_room = room;
    return true;
}

/* "3|7": ids of rows, which the file may not have. The last of them all in `place`. */
static bool read_ids(struct input *in, const struct field *f, struct place *place)
{
    const char *at = f->text, *end = at + f->len, *bar = at;

    in->n_ids = 0;
    for (; f->len > 0 && bar; at = bar + 1) {
        bar = memchr(at, '|', (size_t)(end - at));
        struct field one = {at, (size_t)((bar ? bar : end) - at)};
        uint64_t *id = &in->ids[in->n_ids++];

        if (!text_read_count(one.text, one.len, id))
            return bad_field(in, &one, "after", "the id of a row: digits, with | between two ids");
        if (in->n_ids == 1 || *id > place->last_id) {
            place->last_id = *id;
            place->last_id_column = (uint32_t)column_of(in, at);
        }
    }
    return true;
}

static bool read_think(struct input *in, const struct field *f, int64_t *think_fs)
{
    if (f->len > 0 && !text_read_ns(f->text, f->len, think_fs))
        return bad_field(in, f, "think_ns",
                         "a time: 0 to " TEXT_NS_MAX_SHOWN ", at most six decimals");
    if (*think_fs > 0 && in->n_ids == 0)
        return bad(in, f->text, "think_ns without after: there is nothing that it could follow");
    return true;
}

/* What the row that was just added waits for. */
static bool add_waits(struct input *in, const struct place *place, int64_t think_fs)
{
    kb_error why; /* filled only by what fails */

    if (in->n_ids == 0)
        return true;
    if (place->last_id >= in->n_rows) {
        if (!room_for_place(in))
            return no_memory(in);
        in->places[in->n_places++] = *place;
    }
    if (in->n_bad > 0 || place->last_id >= EV_MAX_SLOTS - 1)
        return true; /* there will be no run */
    switch (kb_sim_after(in->sim, in->n_rows, in->ids, in->n_ids, think_fs, &why)) {
    case KB_OK:
        return true;
    case KB_NO_MEMORY:
        return no_memory(in);
    default:
        return bad_at(in, place->line, place->last_id_column, why.text);
    }
}

/* At the end of the file it is known which rows there are. */
static void check_ids(struct input *in)
{
    for (size_t i = 0; i < in->n_places && in->n_bad <= BAD_ROWS_MAX; i++) {
        const struct place *place = &in->places[i];
        char text[128];

        if (place->last_id < in->n_rows)
            continue;
        snprintf(text, sizeof text, "after '%llu' is the id of no row: the last one's is %llu",
                 (unsigned long long)place->last_id, (unsigned long long)in->n_rows - 1);
        bad_at(in, place->line, place->last_id_column, text);
    }
}

static void check_cycles(struct input *in)
{
    const struct place *place = in->places;
    kb_error why = {""};
    uint64_t id;
    kb_status status = after_prepare(in->sim, &id, &why);

    if (status == KB_NO_MEMORY)
        no_memory(in);
    if (status != KB_BAD_REQUEST)
        return;
    while (place->row != id)
        place++;
    bad_at(in, place->line, place->after_column, why.text);
}

/* -- rows ----------------------------------------------------------------------------------- */

static bool read_row(struct input *in, size_t len)
{
    struct field field[N_FIELDS] = {0};
    const struct field *issue = &field[FIELD_ISSUE], *after = &field[FIELD_AFTER];
    struct place place = {.row = in->n_rows, .line = in->lines.number};
    int64_t think_fs = 0;
    kb_request q = {.op = KB_READ};
    kb_error why; /* filled only by what fails */

    if (!split(in, len, field))
        return false;
    if (!text_read_ns(issue->text, issue->len, &q.issue_fs))
        return bad_field(in, issue, "issue_ns",
                         "a time: 0 to " TEXT_NS_MAX_SHOWN ", at most six decimals");
    if (!read_op(in, &field[FIELD_OP], &q.op) || !read_src(in, &field[FIELD_SRC], &q) ||
        !read_dst(in, &field[FIELD_DST], &q) || !read_range(in, field, &q) ||
        !read_ids(in, after, &place) || !read_think(in, &field[FIELD_THINK], &think_fs))
        return false;
    if (after->len > 0)
        place.after_column = (uint32_t)column_of(in, after->text);
    switch (kb_sim_add(in->sim, &q, &why)) {
    case KB_OK:
        return add_waits(in, &place, think_fs);
    case KB_NO_MEMORY:
        return no_memory(in);
    default:
        return bad(in, field[FIELD_DST].text, "%s", why.text);
    }
}

static bool is_blank(const char *line, size_t len)
{
    while (len > 0 && (line[len - 1] == ' ' || line[len - 1] == '\t'))
        len--;
    return len == 0;
}

/* The next line of any length that may be; false at the end, or if there is none. */
static bool next_line(struct input *in, size_t *len)
{
    enum line_state state = lines_next(&in->lines, &in->line, len);

    if (state == LINE_TOO_LONG) {
        bad(in, in->line, "the line is longer than %d bytes", LINE_BYTES_MAX);
        in->n_rows++; /* but what it holds is not looked at */
        *len = 0;
        return true;
    }
    if (state == LINE_FAILED && stop_asked())
        in->code = EXIT_INTERRUPTED;
    else if (state == LINE_FAILED)
        in->code = say(in->program, errno == EISDIR ? EXIT_INPUT : EXIT_SYSTEM,
                       "cannot read %s: %s", in->name, strerror(errno));
    return state == LINE_READ;
}

/* One of the columns behind the required ones, at `at`. */
static bool read_column(struct input *in, const char *at, size_t len)
{
    char shown[SHOWN_BYTES];
    size_t i = 0;

    while (i < N_FIELDS - N_REQUIRED &&
           !(len == strlen(further[i]) && memcmp(at, further[i], len) == 0))
        i++;
    if (i == N_FIELDS - N_REQUIRED)
        return bad(in, at, "unknown column '%s': what may follow nbytes is after and think_ns",
                   text_show(at, len, shown, sizeof shown));
    for (size_t k = N_REQUIRED; k < in->n_columns; k++)
        if (in->column[k] == N_REQUIRED + i)
            return bad(in, at, "a second column %s", further[i]);
    in->column[in->n_columns++] = (enum field_id)(N_REQUIRED + i);
    return true;
}

/* The columns of a first line: those required, then what may follow them. */
static bool read_columns(struct input *in, size_t len)
{
    const char *at = in->line + strlen(header), *end = in->line + len;

    if (len < strlen(header) || memcmp(in->line, header, strlen(header)) != 0 ||
        (at < end && *at != ','))
        return bad(in, in->line, "the first line is not %s", header);
    for (; in->n_columns < N_REQUIRED; in->n_columns++)
        in->column[in->n_columns] = (enum field_id)in->n_columns;
    while (at < end) {
        const char *name = at + 1;

        at = memchr(name, ',', (size_t)(end - name));
        at = at ? at : end;
        if (!read_column(in, name, (size_t)(at - name)))
            return false;
    }
    memcpy(in->header, in->line, len);
    in->ids = malloc(IDS_MAX * sizeof *in->ids);
    return in->ids || no_memory(in);
}

static void read_header(struct input *in)
{
    size_t len;

    if (!next_line(in, &len)) {
        if (!in->code)
            in->code = say(in->program, EXIT_INPUT, "%s is empty, not even a header", in->name);
        return;
    }
    if (!in->code)
        read_columns(in, len);
}

static void read_rows(struct input *in)
{
    size_t len;

    while (in->n_bad <= BAD_ROWS_MAX && (!in->code || in->code == EXIT_INPUT)) {
        if (stop_asked())
            in->code = EXIT_INTERRUPTED;
        else if (!next_line(in, &len))
            break;
        else if (!is_blank(in->line, len)) {
            read_row(in, len);
            in->n_rows++;
        }
    }
    if (!in->code || in->code == EXIT_INPUT)
        check_ids(in);
    if (!in->code)
        check_cycles(in);
    if (in->n_bad > BAD_ROWS_MAX)
        fprintf(stderr, "%s: more bad rows follow\n", in->name);
}

static void read_all(struct input *in, int fd)
{
    if (!lines_open(&in->lines, fd)) {
        in->code = say(in->program, EXIT_SYSTEM, "out of memory");
        return;
    }
    read_header(in);
    if (!in->code)
        read_rows(in);
    lines_close(&in->lines);
    free(in->ids);
    free(in->places);
}

enum exit_code transactions_read(const kb_topology *topo, const char *program, const char *path,
                                 kb_sim *sim)
{
    bool is_stdin = strcmp(path, "-") == 0;
    struct input in = {
        .topo = topo, .program = program, .name = is_stdin ? "<stdin>" : path, .sim = sim};
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return say(program, EXIT_INPUT, "cannot read %s: %s", path, strerror(errno));
    read_all(&in, fd);
    if (!is_stdin)
        close(fd);
    return in.code;
}
