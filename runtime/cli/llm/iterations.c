/*
 * iterations.c -- reads --iterations: a row for each request of each iteration.
 *
 * Iterations come in the order of their numbers, their requests in the order of the file. A request
 * of q new tokens has kv with these. `head` is 0 where more of its prompt is to come, so that no
 * token follows; without the column each has a head.
 */
#include "cli/llm/iterations.h"
#include "cli/in/in_fields.h"
#include "cli/out/memory.h"
#include <stdlib.h>
#include <string.h>

enum { TOKENS_MOST = 1048576, REQUESTS_MOST = 65536, DIGITS = 10 };

enum { SLOTS = 2 * REQUESTS_MOST };

/* What reading needs beside the rows. */
struct reading {
    struct iterations *its;
    size_t first;   /* row of the iteration that is being read */
    uint32_t *slot; /* [SLOTS], owned: a row of each request, + 1; those before `first` are free */
};

/* The slot of a request of the iteration, or the free one where it is to be. */
static uint32_t *slot_of(const struct reading *r, int64_t request)
{
    uint64_t at = (uint64_t)request * UINT64_C(0x9e3779b97f4a7c15) >> 47;

    while (r->slot[at % SLOTS] > r->first &&
           r->its->row[r->slot[at % SLOTS] - 1].request != request)
        at++;
    return &r->slot[at % SLOTS];
}

static bool read_number(struct fields *in, const struct field *f, const char *name, int64_t least,
                        int64_t most, int64_t *out)
{
    char text[DIGITS + 1] = "", expected[64];

    if (f->len > 0 && f->len <= DIGITS) {
        memcpy(text, f->text, f->len);
        *out = strtoll(text, NULL, 10);
        if (strspn(text, "0123456789") == f->len && *out >= least && *out <= most)
            return true;
    }
    snprintf(expected, sizeof expected, "a whole number from %lld to %lld", (long long)least,
             (long long)most);
    return fields_bad_field(in, f, name, expected);
}

static bool read_row(struct fields *in, const struct field *f, struct iteration_row *row)
{
    int64_t head = 1;

    if (!read_number(in, &f[0], "iteration", 0, 1000000000, &row->iteration) ||
        !read_number(in, &f[1], "request", 0, 1000000000, &row->request) ||
        !read_number(in, &f[2], "q", 1, TOKENS_MOST, &row->q) ||
        !read_number(in, &f[3], "kv", row->q, TOKENS_MOST, &row->kv) ||
        (f[4].len > 0 && !read_number(in, &f[4], "head", 0, 1, &head)))
        return false;
    row->has_head = head;
    row->line = in->lines.number;
    return true;
}

/* Is it in order, and there once? */
static bool check_row(struct fields *in, const struct reading *r, const struct field *f,
                      const struct iteration_row *row)
{
    const struct iterations *its = r->its;

    if (its->n == 0)
        return true;
    if (row->iteration < its->row[its->n - 1].iteration)
        return fields_bad(in, f[0].text, "iteration %lld is behind %lld: they come in order",
                          (long long)row->iteration, (long long)its->row[its->n - 1].iteration);
    if (its->row[r->first].iteration != row->iteration)
        return true;
    size_t known = *slot_of(r, row->request);
    if (known > r->first)
        return fields_bad(in, f[1].text, "iteration %lld has request %lld twice: line %llu",
                          (long long)row->iteration, (long long)row->request,
                          (unsigned long long)its->row[known - 1].line);
    if (its->n - r->first == REQUESTS_MOST)
        return fields_bad(in, f[1].text, "an iteration has at most %d requests", REQUESTS_MOST);
    return true;
}

static void add_row(void *arg, struct fields *in, const struct field *field)
{
    struct reading *r = arg;
    struct iterations *its = r->its;
    struct iteration_row row;

    if (!read_row(in, field, &row) || !check_row(in, r, field, &row))
        return;
    if (its->n == its->room)
        its->row = memory_room(its->row, its->n, &its->room, sizeof *its->row);
    if (its->n == 0 || its->row[its->n - 1].iteration != row.iteration) {
        r->first = its->n;
        its->of_iterations++;
    }
    its->row[its->n++] = row;
    *slot_of(r, row.request) = (uint32_t)its->n;
}

enum exit_code iterations_read(const struct cli *cli, const char *path, struct iterations *out)
{
    static const char *const further[] = {"head"};
    struct reading r = {.its = out, .slot = memory_new(SLOTS, sizeof *r.slot)};
    struct fields in = {.program = cli->program,
                        .header = "iteration,request,q,kv",
                        .further = further,
                        .n_further = 1,
                        .hint = "the last may be head",
                        .row = add_row,
                        .arg = &r,
                        .quiet = cli->opts.quiet};
    enum exit_code code = fields_read(&in, path);

    free(r.slot);
    if (!code && out->n == 0)
        code = cmd_say(cli, EXIT_INPUT, "%s has no iterations", path);
    return code;
}

static struct llm_requests *new_requests(size_t n, int64_t kv_heads)
{
    struct llm_requests *r = llm_requests_new((int64_t)n, kv_heads);

    if (!r)
        memory_lacks();
    return r;
}

struct llm_requests *iterations_of_program(const struct kb_llm_batch *batch, int64_t kv_heads)
{
    struct llm_requests *r = new_requests(batch->n, kv_heads);

    for (size_t i = 0; i < batch->n; i++)
        r->request[i] = (struct llm_request){
            .q = batch->q[i], .kv = batch->kv[i], .has_head = batch->has_head[i]};
    llm_requests_end(r);
    return r;
}

struct llm_requests *iterations_largest(const struct kb_llm_limits *limits, int64_t kv_heads)
{
    int64_t n = limits->requests < limits->tokens ? limits->requests : limits->tokens;
    struct llm_requests *r = new_requests((size_t)n, kv_heads);

    for (int64_t i = 0; i < n; i++)
        r->request[i] = (struct llm_request){.q = 1, .kv = 1, .has_head = true};
    r->request[0].q = r->request[0].kv = limits->tokens - n + 1;
    llm_requests_end(r);
    return r;
}

struct llm_requests *iterations_next(const struct iterations *its, size_t *at, int64_t kv_heads,
                                     int64_t *number)
{
    size_t first = *at;

    while (*at < its->n && its->row[*at].iteration == its->row[first].iteration)
        ++*at;
    if (*at == first)
        return NULL;
    struct llm_requests *r = new_requests(*at - first, kv_heads);
    for (size_t i = first; i < *at; i++) {
        const struct iteration_row *row = &its->row[i];

        r->request[i - first] =
            (struct llm_request){.q = row->q, .kv = row->kv, .has_head = row->has_head};
    }
    llm_requests_end(r);
    *number = its->row[first].iteration;
    return r;
}

void iterations_free(struct iterations *its)
{
    free(its->row);
    *its = (struct iterations){.row = NULL};
}
