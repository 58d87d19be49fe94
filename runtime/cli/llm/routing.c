/*
 * routing.c -- the experts of each token.
 *
 * Where numbers of rows are given (`even`, a file, a graph), they are spread over the tokens: each
 * token takes the experts that are farthest behind their share of the tokens so far. Of equal ones
 * it looks for the first behind that of the token before, and for each more a step of experts /
 * chosen on, so that those of a token are not all neighbours, which one rank may have. An expert
 * that all tokens that are left must take is taken; so each ends with its number exactly. By chance
 * each token draws experts until it has as many as it takes.
 *
 * Example: 4 tokens, 1 of 2 experts each, rows 3 1. Before token 0 the shares are 3/4 and 1/4: it
 * takes expert 0. Token 1: 6/4 - 1 and 2/4 are equal, and the next one is 1. Then 0 and 0.
 */
#include "cli/llm/routing.h"
#include "base/rng.h"
#include "base/text.h"
#include "cli/in/in_fields.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tokens of a layer that an expert has, by a file. */
struct route_count {
    int64_t layer, expert, tokens;
};

static const int64_t slots_most = (int64_t)1 << 28; /* 512 MiB */

/* -- numbers of rows -------------------------------------------------------------------------- */

/* The expert that is farthest behind its share of `done` tokens, the first of these from `next` on;
 * one that has as many left as there are tokens comes before all. */
static int64_t farthest_behind(const struct route_extents *x, const int64_t *rows,
                               const int64_t *given, const bool *taken, int64_t done, int64_t next)
{
    int64_t best = -1, most = INT64_MIN, behind;

    for (int64_t i = 0; i < x->experts; i++) {
        int64_t e = (next + i) % x->experts, left = rows[e] - given[e];

        if (taken[e] || left == 0)
            continue;
        behind = left == x->tokens - done + 1 ? INT64_MAX : rows[e] * done - given[e] * x->tokens;
        if (best < 0 || behind > most) {
            best = e;
            most = behind;
        }
    }
    return best;
}

static void spread(const struct route_extents *x, const int64_t *rows, uint16_t *expert)
{
    int64_t *given = memory_new((size_t)x->experts, sizeof *given), next = 0;
    bool *taken = memory_new((size_t)x->experts, sizeof *taken);

    for (int64_t t = 0; t < x->tokens; t++) {
        int64_t at = next;

        memset(taken, 0, (size_t)x->experts * sizeof *taken);
        for (int64_t i = 0; i < x->chosen; i++) {
            int64_t e = farthest_behind(x, rows, given, taken, t + 1, at);

            expert[t * x->chosen + i] = (uint16_t)e;
            given[e]++;
            taken[e] = true;
            at = (e + x->experts / x->chosen) % x->experts;
            if (i == 0)
                next = (e + 1) % x->experts;
        }
    }
    free(given);
    free(taken);
}

/* -- by chance -------------------------------------------------------------------------------- */

/* Sums of the weights of experts up to each, whole numbers: of the i-th most popular 1 / (i + 1)^S.
 * Which one that is, is drawn for each layer. */
static void draw_weights(const struct routes *r, struct rng *rng, int64_t experts, uint64_t *sum)
{
    uint64_t all = 0;

    for (int64_t i = 0; i < experts; i++)
        sum[i] = (uint64_t)llround(0x1p32 / pow((double)(i + 1), r->slope)) + 1;
    for (int64_t i = experts - 1; i > 0; i--) {
        int64_t k = (int64_t)(rng_next(rng) % (uint64_t)(i + 1));
        uint64_t other = sum[k];

        sum[k] = sum[i];
        sum[i] = other;
    }
    for (int64_t i = 0; i < experts; i++)
        sum[i] = all += sum[i];
}

/* The first whose sum is above `at`. */
static int64_t expert_at(const uint64_t *sum, int64_t experts, uint64_t at)
{
    int64_t low = 0, high = experts - 1;

    while (low < high) {
        int64_t middle = (low + high) / 2;

        if (sum[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static bool has(const uint16_t *expert, int64_t n, int64_t e)
{
    for (int64_t i = 0; i < n; i++)
        if (expert[i] == e)
            return true;
    return false;
}

static void draw(const struct routes *r, const struct route_extents *x, int64_t layer,
                 uint16_t *expert)
{
    uint64_t *sum = memory_new((size_t)x->experts, sizeof *sum);
    struct rng rng = rng_of_number(r->seed, (uint64_t)layer);

    draw_weights(r, &rng, x->experts, sum);
    for (int64_t t = 0; t < x->tokens; t++)
        for (int64_t i = 0, e; i < x->chosen; i++) {
            do
                e = expert_at(sum, x->experts, rng_next(&rng) % sum[x->experts - 1]);
            while (has(expert + t * x->chosen, i, e));
            expert[t * x->chosen + i] = (uint16_t)e;
        }
    free(sum);
}

/* -- files ------------------------------------------------------------------------------------ */

static bool read_number(struct fields *in, const struct field *f, const char *name, int64_t *out)
{
    char text[16] = "";

    if (f->len > 0 && f->len < sizeof text) {
        memcpy(text, f->text, f->len);
        if (strspn(text, "0123456789") == f->len) {
            *out = strtoll(text, NULL, 10);
            return true;
        }
    }
    return fields_bad_field(in, f, name, "a whole number");
}

static void add_count(void *arg, struct fields *in, const struct field *field)
{
    struct routes *r = arg;
    struct route_count c;

    if (!read_number(in, &field[0], "layer", &c.layer) ||
        !read_number(in, &field[1], "expert", &c.expert) ||
        !read_number(in, &field[2], "tokens", &c.tokens))
        return;
    if (r->n_counts == r->counts_room)
        r->count = memory_room(r->count, r->n_counts, &r->counts_room, sizeof *r->count);
    r->count[r->n_counts++] = c;
}

static enum exit_code read_file(const struct cli *cli, struct routes *r)
{
    struct fields in = {.program = cli->program,
                        .header = "layer,expert,tokens",
                        .row = add_count,
                        .arg = r,
                        .quiet = cli->opts.quiet};

    return fields_read(&in, r->file);
}

/* Rows of each expert of a layer, by the file. EXIT_INPUT after a message. */
static enum exit_code rows_of_file(const struct cli *cli, const struct routes *r,
                                   const struct route_extents *x, int64_t layer, int64_t *rows)
{
    int64_t sum = 0;

    for (int64_t e = 0; e < x->experts; e++)
        rows[e] = 0;
    for (size_t i = 0; i < r->n_counts; i++) {
        const struct route_count *c = &r->count[i];

        if (c->layer >= x->layers || c->expert >= x->experts || c->tokens > x->tokens)
            return cmd_say(cli, EXIT_INPUT,
                           "%s: layer %lld, expert %lld, tokens %lld: there are %lld layers of "
                           "%lld experts, and %lld tokens",
                           r->file, (long long)c->layer, (long long)c->expert, (long long)c->tokens,
                           (long long)x->layers, (long long)x->experts, (long long)x->tokens);
        if (c->layer != layer)
            continue;
        if (rows[c->expert] > 0)
            return cmd_say(cli, EXIT_INPUT, "%s: layer %lld has expert %lld twice", r->file,
                           (long long)layer, (long long)c->expert);
        rows[c->expert] = c->tokens;
        sum += c->tokens;
    }
    if (sum == x->tokens * x->chosen)
        return EXIT_OK;
    return cmd_say(cli, EXIT_INPUT, "%s: layer %lld has %lld rows, and %lld tokens take %lld each",
                   r->file, (long long)layer, (long long)sum, (long long)x->tokens,
                   (long long)x->chosen);
}

/* -- tables ----------------------------------------------------------------------------------- */

/* A new one, all 0. */
static struct llm_routing *new_table(struct routes *r, const struct route_extents *x, bool alike)
{
    size_t slots = (size_t)(x->tokens * x->chosen);

    if (r->n == r->room)
        r->table = memory_room(r->table, r->n, &r->room, sizeof *r->table);
    struct llm_routing *t = memory_new(1, sizeof *t);
    r->table[r->n++] = t;
    *t = (struct llm_routing){.experts = x->experts,
                              .chosen = x->chosen,
                              .tokens = x->tokens,
                              .copies = x->copies,
                              .stride = alike ? 0 : slots};
    t->expert = memory_new(slots * (size_t)(alike ? 1 : x->layers), sizeof *t->expert);
    return t;
}

const struct llm_routing *routes_of_rows(struct routes *r, const struct route_extents *x,
                                         const int64_t *rows)
{
    struct llm_routing *t = new_table(r, x, true);

    spread(x, rows, (uint16_t *)(uintptr_t)t->expert);
    return t;
}

static const struct llm_routing *even(struct routes *r, const struct route_extents *x)
{
    int64_t *rows = memory_new((size_t)x->experts, sizeof *rows), slots = x->tokens * x->chosen;

    for (int64_t e = 0; e < x->experts; e++)
        rows[e] = slots / x->experts + (e < slots % x->experts);
    const struct llm_routing *t = routes_of_rows(r, x, rows);
    free(rows);
    return t;
}

static enum exit_code make_layer(const struct cli *cli, const struct routes *r,
                                 const struct route_extents *x, int64_t layer, uint16_t *expert)
{
    int64_t *rows = memory_new((size_t)x->experts, sizeof *rows);
    enum exit_code code = EXIT_OK;

    if (r->how != ROUTE_FILE)
        draw(r, x, layer, expert);
    else if (!(code = rows_of_file(cli, r, x, layer, rows)))
        spread(x, rows, expert);
    free(rows);
    return code;
}

enum exit_code routes_of(const struct cli *cli, struct routes *r, const struct route_extents *x,
                         const struct llm_routing **out)
{
    int64_t slots = x->tokens * x->chosen;
    enum exit_code code = EXIT_OK;

    for (size_t i = 0; i < r->n; i++)
        if (r->table[i]->tokens == x->tokens && r->table[i]->copies == x->copies) {
            *out = r->table[i];
            return EXIT_OK;
        }
    if (slots * (r->how == ROUTE_EVEN ? 1 : x->layers) > slots_most)
        return cmd_say(cli, EXIT_USAGE, "--routing: more than 2^28 choices of experts");
    if (r->how == ROUTE_EVEN) {
        *out = even(r, x);
        return EXIT_OK;
    }
    struct llm_routing *t = new_table(r, x, false);
    for (int64_t l = 0; l < x->layers && !code; l++)
        code = make_layer(cli, r, x, l, (uint16_t *)(uintptr_t)t->expert + (size_t)(l * slots));
    *out = t;
    return code;
}

/* -- the option ------------------------------------------------------------------------------- */

/* Digits to the end. */
static bool seed_of(const char *text, uint64_t *out)
{
    size_t n = strlen(text);

    *out = strtoull(text, NULL, 10);
    return n > 0 && n < 20 && strspn(text, "0123456789") == n;
}

static bool read_zipf(const char *text, struct routes *out)
{
    char *end;

    out->slope = text_to_double(text, &end);
    return end > text && strspn(text, "0123456789.") == (size_t)(end - text) && *end == ':' &&
           out->slope <= 4 && seed_of(end + 1, &out->seed);
}

enum exit_code routes_read(const struct cli *cli, const char *text, struct routes *out)
{
    *out = (struct routes){.how = ROUTE_EVEN};
    if (!text || strcmp(text, "even") == 0)
        return EXIT_OK;
    if (strncmp(text, "file:", 5) == 0 && text[5]) {
        out->how = ROUTE_FILE;
        out->file = text + 5;
        return read_file(cli, out);
    }
    out->how = strncmp(text, "zipf:", 5) == 0 ? ROUTE_ZIPF : ROUTE_UNIFORM;
    if (out->how == ROUTE_ZIPF ? read_zipf(text + 5, out)
                               : strncmp(text, "uniform:", 8) == 0 && seed_of(text + 8, &out->seed))
        return EXIT_OK;
    return cmd_say(cli, EXIT_USAGE,
                   "--routing '%s' is not even, uniform:SEED, zipf:S:SEED with S from 0 to 4, or "
                   "file:CSV",
                   text);
}

void routes_free(struct routes *r)
{
    for (size_t i = 0; i < r->n; i++) {
        free((void *)(uintptr_t)r->table[i]->expert);
        free(r->table[i]);
    }
    free(r->table);
    free(r->count);
    *r = (struct routes){.n = 0};
}
