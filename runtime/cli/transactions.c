/* transactions.c -- the input of `replay`: a CSV of transactions, read into a simulation. */
#include "transactions.h"
#include "lines.h"
#include "say.h"
#include "stop.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BAD_ROWS_MAX = 20, SHOWN_BYTES = 64 };

enum field_id { FIELD_ISSUE, FIELD_OP, FIELD_SRC, FIELD_DST, FIELD_OFFSET, FIELD_NBYTES, N_FIELDS };

static const char header[] = "issue_ns,op,src,dst,offset,nbytes";

const char *const op_names[N_OPS] = {
    [KB_READ] = "read", [KB_WRITE] = "write", [KB_H2D] = "h2d", [KB_D2H] = "d2h"};

struct field {
    const char *text; /* into the line */
    size_t len;
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
};

/* -- messages ------------------------------------------------------------------------------- */

/* What is wrong at `at` of the current line. Always false. */
__attribute__((format(printf, 3, 4))) static bool bad(struct input *in, const char *at,
                                                      const char *format, ...)
{
    char text[512];
    va_list args;

    in->code = EXIT_INPUT;
    if (in->n_bad++ >= BAD_ROWS_MAX)
        return false;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "%s:%llu:%zu: %s\n", in->name, (unsigned long long)in->lines.number,
            (size_t)(at - in->line) + 1, text);
    return false;
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

/* Cuts the line at its commas. */
static bool split(struct input *in, size_t len, struct field field[N_FIELDS])
{
    const char *at = in->line, *end = in->line + len;
    size_t n = 0;

    for (;;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;

        if (n == N_FIELDS)
            return bad(in, at, "more than the %d fields %s", N_FIELDS, header);
        field[n++] = (struct field){at, (size_t)(stop - at)};
        if (!comma)
            break;
        at = comma + 1;
    }
    if (n < N_FIELDS)
        return bad(in, end, "%zu of the %d fields %s", n, N_FIELDS, header);
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

static bool read_dst(struct input *in, const struct field *f, kb_request *q)
{
    bool host = is_host_op(q->op);
    char shown[SHOWN_BYTES];

    if (!read_endpoint(in, f, &q->dst))
        return false;
    text_show(f->text, f->len, shown, sizeof shown);
    if (q->dst.kind != KB_SLICE && (host || q->dst.kind != KB_SRAM))
        return bad(in, f->text, "%s: the dst of %s is a slice%s", shown, op_names[q->op],
                   host ? "" : " or an SRAM");
    if (host && q->dst.sip != q->src.sip)
        return bad(in, f->text, "%s: the host is of SIP %u, it reaches no other", shown,
                   q->src.sip);
    return true;
}

static bool read_range(struct input *in, const struct field field[N_FIELDS], kb_request *q)
{
    uint64_t room = kb_memory_bytes(in->topo, &q->dst);
    const struct field *offset = &field[FIELD_OFFSET], *nbytes = &field[FIELD_NBYTES];
    char dst[KB_ENDPOINT_BYTES];

    if (!text_read_size(offset->text, offset->len, &q->offset))
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

/* -- rows ----------------------------------------------------------------------------------- */

static bool read_row(struct input *in, size_t len)
{
    struct field field[N_FIELDS];
    const struct field *issue = &field[FIELD_ISSUE];
    kb_request q = {.op = KB_READ};
    kb_error why; /* filled only by what fails */

    if (!split(in, len, field))
        return false;
    if (!text_read_ns(issue->text, issue->len, &q.issue_fs))
        return bad_field(in, issue, "issue_ns",
                         "a time: 0 to " TEXT_NS_MAX_SHOWN ", at most six decimals");
    if (!read_op(in, &field[FIELD_OP], &q.op) || !read_src(in, &field[FIELD_SRC], &q) ||
        !read_dst(in, &field[FIELD_DST], &q) || !read_range(in, field, &q))
        return false;
    switch (kb_sim_add(in->sim, &q, &why)) {
    case KB_OK:
        return true;
    case KB_NO_MEMORY:
        in->code = say(in->program, EXIT_SYSTEM, "out of memory after %llu transactions",
                       (unsigned long long)kb_sim_count(in->sim));
        return false;
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
        *len = 0; /* as a blank one */
        return true;
    }
    if (state == LINE_FAILED && stop_asked())
        in->code = EXIT_INTERRUPTED;
    else if (state == LINE_FAILED)
        in->code = say(in->program, errno == EISDIR ? EXIT_INPUT : EXIT_SYSTEM,
                       "cannot read %s: %s", in->name, strerror(errno));
    return state == LINE_READ;
}

static void read_header(struct input *in)
{
    size_t len;

    if (!next_line(in, &len)) {
        if (!in->code)
            in->code = say(in->program, EXIT_INPUT, "%s is empty, not even a header", in->name);
        return;
    }
    if (!in->code && (len != strlen(header) || memcmp(in->line, header, len) != 0))
        bad(in, in->line, "the first line is not %s", header);
}

static void read_rows(struct input *in)
{
    size_t len;

    while (in->n_bad <= BAD_ROWS_MAX && (!in->code || in->code == EXIT_INPUT)) {
        if (stop_asked())
            in->code = EXIT_INTERRUPTED;
        else if (!next_line(in, &len))
            break;
        else if (!is_blank(in->line, len))
            read_row(in, len);
    }
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
