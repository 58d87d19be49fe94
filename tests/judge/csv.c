/* csv.c -- replay files in, results out, after docs/formats.md "Replay input" and "replay". */
#include "judge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const op_names[] = {"read", "write", "h2d", "d2h", "mread", "mwrite"};

enum { MREAD = JUDGE_D2H + 1, MWRITE };

/* "12.5" in fs: at most six decimals, so it is a whole number. */
static bool parse_ns(const char *text, int64_t *fs)
{
    uint64_t n = 0;
    int decimals = -1; /* no point yet */

    if (*text < '0' || *text > '9')
        return false;
    for (; *text; text++) {
        if (*text == '.' && decimals < 0 && text[1]) {
            decimals = 0;
            continue;
        }
        if (*text < '0' || *text > '9' || decimals == 6 || n > UINT64_C(9000000000000000000))
            return false;
        n = n * 10 + (uint64_t)(*text - '0');
        decimals += decimals >= 0;
    }
    for (decimals = decimals < 0 ? 0 : decimals; decimals < 6; decimals++) {
        if (n > UINT64_C(900000000000000000))
            return false;
        n *= 10;
    }
    *fs = (int64_t)n;
    return n <= UINT64_C(9000000000000000000);
}

/* "64", "4K" */
static bool parse_bytes(const char *text, uint64_t *bytes)
{
    static const char suffixes[] = "KMG";
    char *end;
    const char *suffix;

    if (*text < '0' || *text > '9')
        return false;
    *bytes = strtoull(text, &end, 10);
    if (*end == 0)
        return true;
    suffix = strchr(suffixes, *end);
    if (!suffix || end[1])
        return false;
    *bytes <<= 10 * (suffix - suffixes + 1);
    return true;
}

static bool parse_op(const char *text, enum judge_op *op)
{
    for (int i = JUDGE_READ; i <= MWRITE; i++) {
        *op = i == MREAD ? JUDGE_READ : i == MWRITE ? JUDGE_WRITE : (enum judge_op)i;
        if (strcmp(text, op_names[i]) == 0)
            return true;
    }
    return false;
}

/* "c1.slice0+c2.slice0": the targets of a multicast, each by its name. */
static bool parse_targets(const struct judge_topo *t, char *dst, struct judge_row *row)
{
    for (char *name = strsep(&dst, "+"); name; name = strsep(&dst, "+"))
        if (row->n_targets == JUDGE_TARGETS_MAX ||
            !judge_end_parse(t, name, &row->targets[row->n_targets++]))
            return false;
    row->dst = row->targets[0];
    return row->n_targets >= 2;
}

/* "c0.slice3" and an offset, or "0x1000000000" and none. */
static bool parse_target(const struct judge_topo *t, const char *op, char *dst, const char *offset,
                         struct judge_row *row)
{
    char *end;

    if (strcmp(op, op_names[MREAD]) == 0 || strcmp(op, op_names[MWRITE]) == 0)
        return parse_targets(t, dst, row) && parse_bytes(offset, &row->offset);
    if (strncmp(dst, "0x", 2) != 0)
        return judge_end_parse(t, dst, &row->dst) && parse_bytes(offset, &row->offset);
    row->by_address = true;
    row->address = strtoull(dst, &end, 16);
    return !*offset && strlen(dst) > 2 && strlen(dst) <= 18 &&
           judge_memory_at(t, row->address, &row->dst, &row->offset) && !*end &&
           row->dst.kind != JUDGE_TCM;
}

/* "3|7" */
static bool parse_after(char *text, struct judge_row *row)
{
    char *end;

    for (char *id = strsep(&text, "|"); id && *id; id = strsep(&text, "|")) {
        if (row->n_after == JUDGE_AFTER_MAX)
            return false;
        row->after[row->n_after++] = strtoull(id, &end, 10);
        if (*end)
            return false;
    }
    return true;
}

/* The columns of a file behind the first six, in its order. */
enum extra { AFTER, THINK, PLANE, PRIO, ROWS, STRIDE, N_EXTRAS };

struct extras {
    enum extra which[N_EXTRAS];
    size_t n;
};

static bool parse_plane(const struct judge_topo *t, const char *text, struct judge_row *row)
{
    if (!*text)
        return true;
    while (row->plane < t->planes)
        if (strcmp(t->plane[row->plane++].name, text) == 0)
            return true;
    return false;
}

static bool parse_prio(const char *text, struct judge_row *row)
{
    row->prio = *text ? (uint32_t)(*text - '0') : 0;
    return !*text || (row->prio <= 3 && !text[1]);
}

static bool parse_extra(const struct judge_topo *t, enum extra which, char *text,
                        struct judge_row *row)
{
    if (which == AFTER)
        return parse_after(text, row);
    if (which == PLANE)
        return parse_plane(t, text, row);
    if (which == PRIO)
        return parse_prio(text, row);
    if (which == STRIDE)
        return !*text || parse_bytes(text, &row->stride);
    if (which == ROWS)
        row->rows = (uint32_t)strtoul(text, NULL, 10);
    return which == ROWS || !*text || parse_ns(text, &row->think_fs);
}

/* Is all of it in its memory, or in the memories that its addresses lead to? */
static bool fits(const struct judge_topo *t, const struct judge_row *row)
{
    uint64_t room = judge_memory_bytes(t, &row->dst);
    struct judge_piece *parts;
    size_t n;

    if (row->rows > 1) {
        n = judge_cut_row(t, row, &parts);
        judge_free_parts(parts, n);
        return n > 0 && row->nbytes % row->rows == 0;
    }
    for (size_t i = 0; i < row->n_targets; i++)
        if (judge_memory_bytes(t, &row->targets[i]) < room)
            room = judge_memory_bytes(t, &row->targets[i]);
    if (!row->by_address)
        return row->offset <= room && row->nbytes <= room - row->offset;
    n = judge_split(t, row->address, row->nbytes, &parts);
    free(parts);
    return n > 0;
}

static bool parse_row(const struct judge_topo *t, const struct extras *extras, char *line,
                      struct judge_row *row)
{
    char *field[6];

    *row = (struct judge_row){0};
    for (size_t i = 0; i < 6; i++) {
        field[i] = strsep(&line, ",");
        if (!field[i])
            return false;
    }
    for (size_t i = 0; i < extras->n; i++) {
        char *text = strsep(&line, ",");

        if (!text || !parse_extra(t, extras->which[i], text, row))
            return false;
    }
    return !line && parse_ns(field[0], &row->issue_fs) && parse_op(field[1], &row->op) &&
           judge_end_parse(t, field[2], &row->src) &&
           parse_target(t, field[1], field[3], field[4], row) &&
           parse_bytes(field[5], &row->nbytes) && (row->n_after > 0 || row->think_fs == 0) &&
           row->nbytes > 0 && fits(t, row);
}

static bool parse_header(char *line, struct extras *extras)
{
    static const char required[] = "issue_ns,op,src,dst,offset,nbytes";
    char *rest = line + strlen(required), *name;

    line[strcspn(line, "\r\n")] = 0;
    if (strncmp(line, required, strlen(required)) != 0 || (*rest && *rest != ','))
        return false;
    rest = *rest ? rest + 1 : NULL;
    while ((name = strsep(&rest, ","))) {
        static const char *const names[N_EXTRAS] = {"after", "think_ns", "plane",
                                                    "prio",  "rows",     "stride"};
        enum extra which = AFTER;

        while (which < N_EXTRAS && strcmp(name, names[which]) != 0)
            which++;
        if (extras->n == N_EXTRAS || which == N_EXTRAS)
            return false;
        extras->which[extras->n++] = which;
    }
    return true;
}

static bool read_lines(const struct judge_topo *t, const char *path, FILE *in,
                       struct judge_row **rows, size_t *n)
{
    struct extras extras = {0};
    char line[2048];
    size_t room = 0;

    if (!fgets(line, sizeof line, in) || !parse_header(line, &extras)) {
        fprintf(stderr, "judge: %s: not the header of a replay file\n", path);
        return false;
    }
    while (fgets(line, sizeof line, in)) {
        line[strcspn(line, "\r\n")] = 0;
        if (!*line)
            continue;
        if (*n == room) {
            room = room ? 2 * room : 256;
            *rows = judge_grow(*rows, room, sizeof **rows);
        }
        if (!parse_row(t, &extras, line, &(*rows)[*n])) {
            fprintf(stderr, "judge: %s: row %zu is wrong\n", path, *n);
            return false;
        }
        ++*n;
    }
    return true;
}

bool judge_read_rows(const struct judge_topo *t, const char *path, struct judge_row **rows,
                     size_t *n)
{
    FILE *in = fopen(path, "r");
    bool ok;

    *rows = NULL;
    *n = 0;
    if (!in) {
        perror(path);
        return false;
    }
    ok = read_lines(t, path, in, rows, n);
    fclose(in);
    if (!ok) {
        free(*rows);
        *rows = NULL;
    }
    return ok;
}

void judge_print_ns(FILE *out, int64_t fs)
{
    uint64_t size = fs < 0 ? -(uint64_t)fs : (uint64_t)fs;

    fprintf(out, "%s%" PRIu64 ".%06" PRIu64, fs < 0 ? "-" : "", size / 1000000, size % 1000000);
}

void judge_print_dst(FILE *out, const struct judge_row *row)
{
    char name[JUDGE_NAME_BYTES];

    judge_end_name(&row->dst, name);
    fputs(name, out);
    for (size_t i = 1; i < row->n_targets; i++) {
        judge_end_name(&row->targets[i], name);
        fprintf(out, "+%s", name);
    }
}

/* One time, and the comma before it. */
static void print_time(FILE *out, int64_t fs)
{
    fputc(',', out);
    judge_print_ns(out, fs);
}

void judge_print_results(FILE *out, const struct judge_topo *t, const struct judge_row *rows,
                         const struct judge_result *results, size_t n)
{
    fprintf(out,
            "id,op,src,dst,nbytes,issue_ns,start_ns,arrive_ns,service_ns,done_ns,end_ns,wire_ns,"
            "overhead_ns,drain_ns,response_ns%s,queue_channel_ns,queue_engine_ns,queue_link_ns,"
            "queue_memory_ns,formula_ns,actual_ns\n",
            t->is_router ? ",return_ns" : "");
    for (size_t i = 0; i < n; i++) {
        const struct judge_result *r = &results[i];
        const int64_t costs[] = {
            r->issue_fs, r->start_fs, r->arrive_fs,   r->service_fs, r->done_fs,
            r->end_fs,   r->wire_fs,  r->overhead_fs, r->drain_fs,   r->response_fs,
        };
        const int64_t waits[] = {
            r->queue_channel_fs, r->queue_engine_fs, r->queue_link_fs,
            r->queue_memory_fs,  r->formula_fs,      r->actual_fs,
        };
        char src[JUDGE_NAME_BYTES];

        judge_end_name(&rows[i].src, src);
        fprintf(out, "%zu,%s,%s,", i,
                op_names[!rows[i].n_targets         ? (int)rows[i].op
                         : rows[i].op == JUDGE_READ ? MREAD
                                                    : MWRITE],
                src);
        judge_print_dst(out, &rows[i]);
        fprintf(out, ",%" PRIu64, rows[i].nbytes);
        for (size_t k = 0; k < sizeof costs / sizeof costs[0]; k++)
            print_time(out, costs[k]);
        if (t->is_router)
            print_time(out, r->return_fs);
        for (size_t k = 0; k < sizeof waits / sizeof waits[0]; k++)
            print_time(out, waits[k]);
        fputc('\n', out);
    }
}
