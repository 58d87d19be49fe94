/*
 * transactions.c -- the input of `replay`: a CSV of transactions, read into a simulation.
 *
 *   issue_ns,op,src,dst,offset,nbytes,after,think_ns
 *   0,read,c0.pe0,c0.slice0,0,4K,,
 *   5,write,c0.pe0,c1.sram,0,64,0,2.5
 *
 * The second row depends on row 0: it is issued 2.5 ns after that has ended, and not before 5 ns.
 * Files may have millions of rows, so a row goes into the simulation as it is read and nothing of
 * it is kept.
 *
 * A row with op mwrite or mread is a multicast: its dst are patterns, joined by +.
 *
 * Where a topology says sip.plane: column there may be a column plane, too, with the name of a
 * plane, or empty: then the op decides.
 *
 * Mistakes are told with their place, FILE:LINE:COL, up to 20 rows in one go. What rows wait for is
 * row_waits.c's. Invariant: the id of a row is its number in the file, blank lines left out, and
 * the id of its transaction in the simulation; rows that only fill caches come first and have no id
 * there.
 */
#include "cli/in/transactions.h"
#include "cli/out/memory.h"
#include "cli/in/in_fields.h"
#include "cli/in/frame.h"
#include "cli/in/row_waits.h"
#include "cli/out/say.h"
#include "cli/out/session.h"
#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_BYTES = 64, PLANES_MAX = 8 };

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
    FIELD_PLANE,
    FIELD_PRIO,
    FIELD_ROWS,
    FIELD_STRIDE,
    N_FIELDS
};

_Static_assert((int)N_FIELDS <= (int)FIELDS_MAX, "room for all columns");
static const char *const further[N_FIELDS - N_REQUIRED] = {"after", "think_ns", "plane",
                                                           "prio",  "rows",     "stride"};

const char *const op_names[N_ROW_OPS] = {
    [KB_READ] = "read", [KB_WRITE] = "write",  [KB_H2D] = "h2d",
    [KB_D2H] = "d2h",   [ROW_MREAD] = "mread", [ROW_MWRITE] = "mwrite"};

uint32_t row_op(const kb_transaction *q)
{
    return !q->n_targets ? q->op : (uint32_t)(q->op == KB_READ ? ROW_MREAD : ROW_MWRITE);
}

/* The reading of one file, a row's id being its number. */
struct input {
    struct fields fields;
    const kb_topology *topo;
    kb_sim *sim;
    struct warm_rows warm;
    bool interleaved;      /* addresses go round slices: a range of them may lie in several */
    bool has_plane_column; /* sip.plane: column */
    bool has_routers;      /* contention.links: router */
    bool has_prio;         /* a row has one above 0 */
    bool multicast;        /* the current row is one */

    /* The targets of the current row, if that is a multicast; and of all, for the rows of results.
     */
    kb_endpoint *targets; /* owned */
    size_t n_targets, targets_room;
    struct targets_texts *texts; /* NULL: not wanted */

    struct row_waits waits;
};

/* -- fields --------------------------------------------------------------------------------- */

static bool read_issue(struct input *in, const struct field *f, kb_transaction *q)
{
    return text_read_ns(f->text, f->len, &q->issue_fs) ||
           fields_bad_field(&in->fields, f, "issue_ns",
                            "a time: 0 to " TEXT_NS_MAX_SHOWN ", at most six decimals");
}

static bool read_op(struct input *in, const struct field *f, kb_transaction_op *out)
{
    char shown[SHOWN_BYTES], all[SHOWN_BYTES];

    for (int op = 0; op < N_ROW_OPS; op++)
        if (f->len == strlen(op_names[op]) && memcmp(f->text, op_names[op], f->len) == 0) {
            in->multicast = op >= N_OPS;
            *out = op == ROW_MREAD ? KB_READ : op == ROW_MWRITE ? KB_WRITE : (kb_transaction_op)op;
            return true;
        }
    const char *near = text_nearest(f->text, f->len, op_names, N_ROW_OPS);
    text_show(f->text, f->len, shown, sizeof shown);
    if (near)
        return fields_bad(&in->fields, f->text, "unknown op '%s', did you mean '%s'?", shown, near);
    text_join(op_names, N_ROW_OPS, "", all, sizeof all);
    return fields_bad(&in->fields, f->text, "unknown op '%s': it is one of %s", shown, all);
}

static bool read_endpoint(struct input *in, const struct field *f, kb_endpoint *out)
{
    kb_error why; /* filled only by what fails */

    if (kb_endpoint_parse(in->topo, f->text, f->len, out, &why) != KB_OK)
        return fields_bad(&in->fields, f->text, "%s", why.text);
    return true;
}

static bool is_host_op(kb_transaction_op op)
{
    return op == KB_H2D || op == KB_D2H;
}

static bool read_src(struct input *in, const struct field *f, kb_transaction *q)
{
    kb_endpoint_kind kind = is_host_op(q->op) ? KB_HOST : KB_PE;
    char shown[SHOWN_BYTES];

    if (!read_endpoint(in, f, &q->src))
        return false;
    if (q->src.kind != kind)
        return fields_bad(&in->fields, f->text, "%s: the src of %s is a %s",
                          text_show(f->text, f->len, shown, sizeof shown),
                          op_names[!in->multicast     ? (int)q->op
                                   : q->op == KB_READ ? ROW_MREAD
                                                      : ROW_MWRITE],
                          kind == KB_HOST ? "host" : "PE");
    return true;
}

bool is_address_text(const char *text, size_t n)
{
    return n >= 2 && text[0] == '0' && text[1] == 'x';
}

bool read_address(const char *text, size_t n, uint64_t *out)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";

    *out = 0;
    for (size_t i = 2; i < n; i++) {
        const char *digit = text[i] ? strchr(digits, text[i]) : NULL;

        if (!digit)
            return false;
        *out = *out << 4 | (uint64_t)((digit - digits) & 15);
    }
    return n > 2 && n <= 18;
}

/* A global address in place of endpoint and offset. */
static bool is_address(const struct field *f)
{
    return is_address_text(f->text, f->len);
}

static bool read_address_field(struct input *in, const struct field *f, kb_transaction *q)
{
    q->by_address = true;
    if (!read_address(f->text, f->len, &q->address))
        return fields_bad_field(&in->fields, f, "dst",
                                "an address: 0x and at most 16 hexadecimal digits");
    if (kb_address_find(in->topo, q->address, &q->dst, &q->offset) != KB_OK)
        return fields_bad_field(&in->fields, f, "dst", "the address of any byte of this topology");
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

static void add_target(void *arg, const kb_endpoint *end)
{
    struct input *in = arg;

    in->targets = memory_room(in->targets, in->n_targets, &in->targets_room, sizeof *in->targets);
    in->targets[in->n_targets++] = *end;
}

/* "c1.slice0+c[4-7].slice*": patterns, in the order of which a multicast goes to all. */
static bool read_targets(struct input *in, const struct field *f, kb_transaction *q)
{
    const char *end = f->text + f->len, *plus;
    kb_error why;

    in->n_targets = 0;
    for (const char *at = f->text; at; at = plus ? plus + 1 : NULL) {
        plus = memchr(at, '+', (size_t)(end - at));
        if (kb_endpoint_select(in->topo, at, (size_t)((plus ? plus : end) - at), add_target, in,
                               &why) != KB_OK)
            return fields_bad(&in->fields, at, "%s", why.text);
        if (in->n_targets > KB_TARGETS_MAX)
            return fields_bad(&in->fields, at, "a multicast has 2 to %d targets", KB_TARGETS_MAX);
    }
    q->dst = in->targets[0];
    q->targets = in->targets;
    q->n_targets = (uint32_t)in->n_targets;
    return true;
}

static bool read_dst(struct input *in, const struct field *f, kb_transaction *q)
{
    bool host = is_host_op(q->op);
    char shown[2 * SHOWN_BYTES];

    if (in->multicast)
        return read_targets(in, f, q);
    if (!(is_address(f) ? read_address_field(in, f, q) : read_endpoint(in, f, &q->dst)))
        return false;
    if (q->dst.kind != KB_SLICE && (host || q->dst.kind != KB_SRAM))
        return fields_bad(&in->fields, f->text, "%s: the dst of %s is a slice%s",
                          show_dst(f, &q->dst, shown, sizeof shown), op_names[q->op],
                          host ? "" : " or an SRAM");
    if (host && q->dst.sip != q->src.sip)
        return fields_bad(&in->fields, f->text, "%s: the host is of SIP %u, it reaches no other",
                          show_dst(f, &q->dst, shown, sizeof shown), q->src.sip);
    return true;
}

static bool read_range(struct input *in, const struct field field[N_FIELDS], kb_transaction *q)
{
    uint64_t room = kb_memory_bytes(in->topo, &q->dst);
    const struct field *offset = &field[FIELD_OFFSET], *nbytes = &field[FIELD_NBYTES];
    char dst[KB_ENDPOINT_BYTES];

    if (is_address(&field[FIELD_DST])) {
        if (offset->len > 0)
            return fields_bad_field(&in->fields, offset, "offset",
                                    "empty, as it is beside an address");
    } else if (!text_read_size(offset->text, offset->len, &q->offset))
        return fields_bad_field(&in->fields, offset, "offset",
                                "a size: digits, then K, M or G if wanted");
    if (!text_read_size(nbytes->text, nbytes->len, &q->nbytes) || q->nbytes == 0)
        return fields_bad_field(&in->fields, nbytes, "nbytes",
                                "a size above 0: digits, then K, M or G if wanted");
    if (q->rows > 1 || q->n_targets ||
        (q->by_address && in->interleaved && q->dst.kind == KB_SLICE))
        return true; /* kb_sim_add() looks at each part */
    if (q->offset < room && q->nbytes <= room - q->offset)
        return true;
    kb_endpoint_name(&q->dst, dst);
    return fields_bad(&in->fields, q->offset < room ? nbytes->text : offset->text,
                      "offset + nbytes is past the end of %s, which holds %llu bytes", dst,
                      (unsigned long long)room);
}

/* The rows of a tile; empty: it is one. */
static bool read_tile(struct input *in, const struct field field[N_FIELDS], kb_transaction *q)
{
    const struct field *rows = &field[FIELD_ROWS], *stride = &field[FIELD_STRIDE];
    uint64_t n = 1;

    if (rows->len > 0 && (!text_read_count(rows->text, rows->len, &n) || n == 0 || n > UINT32_MAX))
        return fields_bad_field(&in->fields, rows, "rows", "how many rows there are: 1 or more");
    if (stride->len > 0 && !text_read_size(stride->text, stride->len, &q->stride))
        return fields_bad_field(&in->fields, stride, "stride",
                                "a size: digits, then K, M or G if wanted");
    q->rows = (uint32_t)n;
    if ((n > 1) == (stride->len > 0))
        return true;
    return fields_bad(&in->fields, n > 1 ? rows->text : stride->text,
                      "rows and stride stand together: so many rows, so far apart");
}

static void no_memory(struct input *in)
{
    in->fields.code = say(in->fields.program, EXIT_SYSTEM, "out of memory after %llu transactions",
                          (unsigned long long)kb_sim_count(in->sim));
}

/* -- rows ----------------------------------------------------------------------------------- */

/* The plane of a row; empty: as its op says. The column itself is told once. */
static bool read_plane(struct input *in, const struct field *f, kb_transaction *q)
{
    const char *names[PLANES_MAX], *name;
    char all[SHOWN_BYTES * 4];
    size_t n = 0;

    if (!f->text)
        return true;
    if (!in->has_plane_column)
        return in->fields.n_rows > 0 ||
               fields_bad(&in->fields, f->text,
                          "the column plane needs a topology with sip.plane: column");
    for (; n < PLANES_MAX && (name = kb_plane_name(in->topo, (uint32_t)n)); n++) {
        names[n] = name;
        if (f->len == strlen(name) && memcmp(f->text, name, f->len) == 0)
            q->plane = (uint32_t)n + 1;
    }
    if (f->len == 0 || q->plane > 0)
        return true;
    text_join(names, n, "", all, sizeof all);
    return fields_bad_field(&in->fields, f, "plane", all);
}

/* The priority of a row; empty: 0. The column itself is told once. */
static bool read_prio(struct input *in, const struct field *f, kb_transaction *q)
{
    enum { PRIO_MAX = 3 };
    uint64_t prio = 0;

    if (!f->text)
        return true;
    if (!in->has_routers)
        return in->fields.n_rows > 0 ||
               fields_bad(&in->fields, f->text,
                          "the column prio needs a topology with contention.links: router");
    if (f->len > 0 && (!text_read_count(f->text, f->len, &prio) || prio > PRIO_MAX))
        return fields_bad_field(&in->fields, f, "prio", "a priority: 0 to 3");
    q->prio = (uint32_t)prio;
    in->has_prio = in->has_prio || prio > 0;
    return true;
}

/* Turns know no priority, which then only chooses a group of virtual channels, if there are some.
 */
static bool ignores_prio(const kb_info *info)
{
    return strstr(info->config, "\n  arbiter: rr\n") && !strstr(info->config, "\n  prios: ");
}

/* A row that only fills caches: long behind the one before, so that nothing of that is under way.
 */
static kb_status add_warm(struct input *in, kb_transaction *q, kb_error *why)
{
    const int64_t apart_fs = 10000 * KB_FS_PER_NS;
    const uint64_t number = in->fields.n_rows, before = number - 1;
    kb_status status;

    q->issue_fs = 0;
    status = kb_sim_add(in->warm.sim, q, why);
    if (status != KB_OK || number == 0)
        return status;
    return kb_sim_add_dependencies(in->warm.sim, number, &before, 1, apart_fs, why);
}

static void keep_targets(struct input *in, const struct field *f)
{
    struct targets_texts *texts = in->texts;

    if (!in->multicast || !texts)
        return;
    texts->rows = memory_room(texts->rows, texts->n, &texts->room, sizeof *texts->rows);
    texts->rows[texts->n++] =
        (struct targets_text){in->fields.n_rows - in->warm.n, memory_part(f->text, f->len)};
}

const char *targets_text(const struct targets_texts *texts, uint64_t id)
{
    size_t low = 0, high = texts->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (texts->rows[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < texts->n && texts->rows[low].id == id ? texts->rows[low].text : NULL;
}

void targets_texts_free(struct targets_texts *texts)
{
    for (size_t i = 0; i < texts->n; i++)
        free(texts->rows[i].text);
    free(texts->rows);
    *texts = (struct targets_texts){0};
}

static void read_row(void *arg, struct fields *fields, const struct field *field)
{
    struct input *in = arg;
    kb_transaction q = {.op = KB_READ};
    kb_error why; /* filled only by what fails */

    if (!read_issue(in, &field[FIELD_ISSUE], &q) || !read_op(in, &field[FIELD_OP], &q.op) ||
        !read_src(in, &field[FIELD_SRC], &q) || !read_dst(in, &field[FIELD_DST], &q) ||
        !read_tile(in, field, &q) || !read_range(in, field, &q) ||
        !row_waits_read(&in->waits, &field[FIELD_AFTER], &field[FIELD_THINK]) ||
        !read_plane(in, &field[FIELD_PLANE], &q) || !read_prio(in, &field[FIELD_PRIO], &q))
        return;
    if (fields->n_rows < in->warm.n) {
        if (add_warm(in, &q, &why) != KB_OK)
            fields_bad(fields, field[FIELD_DST].text, "%s", why.text);
        return;
    }
    row_waits_leave_warm(&in->waits, &q.issue_fs);
    switch (kb_sim_add(in->sim, &q, &why)) {
    case KB_OK:
        if (row_waits_add(&in->waits) == KB_NO_MEMORY)
            no_memory(in);
        keep_targets(in, &field[FIELD_DST]);
        break;
    case KB_NO_MEMORY:
        no_memory(in);
        break;
    default:
        fields_bad(fields, field[FIELD_DST].text, "%s", why.text);
    }
}

/* At the end of the file it is known which rows there are. */
static void end_rows(void *arg, struct fields *fields)
{
    struct input *in = arg;

    (void)fields;
    if (row_waits_check(&in->waits) == KB_NO_MEMORY)
        no_memory(in);
}

bool transactions_in_memory(void)
{
    return session_here() && session_here()->frame;
}

/* By whether a row may name its plane, and its priority. */
static const char *const may_follow[2][2] = {
    {"what may follow nbytes is after, think_ns, rows and stride",
     "what may follow nbytes is after, think_ns, prio, rows and stride"},
    {"what may follow nbytes is after, think_ns, plane, rows and stride",
     "what may follow nbytes is after, think_ns, plane, prio, rows and stride"}};

enum exit_code transactions_read(const kb_topology *topo, const char *program, const char *path,
                                 bool quiet, kb_sim *sim, const struct warm_rows *warm,
                                 struct targets_texts *texts)
{
    kb_info info;
    struct input in = {.fields = {.program = program,
                                  .header = "issue_ns,op,src,dst,offset,nbytes",
                                  .further = further,
                                  .n_further = N_FIELDS - N_REQUIRED,
                                  .row = read_row,
                                  .end = end_rows,
                                  .arg = &in,
                                  .quiet = quiet},
                       .topo = topo,
                       .sim = sim,
                       .warm = warm ? *warm : (struct warm_rows){0},
                       .waits = {.fields = &in.fields, .sim = sim, .n_warm = warm ? warm->n : 0},
                       .texts = texts};
    kb_limits limits;

    kb_topology_limits(topo, &limits);
    in.interleaved = limits.granule > 0;
    kb_topology_info(topo, &info);
    in.has_plane_column = info.plane_column;
    in.has_routers = strcmp(info.links, "router") == 0;
    in.fields.hint = may_follow[info.plane_column][in.has_routers];
    if (in.warm.n && transactions_in_memory() && strcmp(path, "-") == 0)
        in.fields.code = say(program, EXIT_USAGE, "--warm wants a file of rows");
    else if (transactions_in_memory() && strcmp(path, "-") == 0)
        frame_read(&in.fields, session_here()->frame, topo, sim);
    else
        fields_read(&in.fields, path);
    if (!in.fields.code && in.has_prio && !quiet && ignores_prio(&info))
        say_line("warning: the column prio changes nothing: 'contention.arbiter' is rr, which lets "
                 "no priority go first, and 'contention.prios' is 1");
    row_waits_free(&in.waits);
    free(in.targets);
    return in.fields.code;
}
