/*
 * points.c -- the points of a sweep, numbered: every combination of the listed values.
 *
 * The lists are nested like the wheels of an odometer: sources turn slowest, then targets, bytes,
 * inflight, and operations turn first. Points are never stored (there may be billions): point
 * number k is computed from k. Not all combinations exist, however. A PE reaches all targets, with
 * reads and writes; a host reaches only slices of its own SIP, with h2d and d2h. What exists
 * depends on the source alone, so it is enough to keep the number of each source's first point:
 *
 *   number - first[src] = ((dst * n_bytes + bytes) * n_inflight + inflight) * n_ops + op
 *
 * For example 2 PEs x 3 targets x 2 sizes x 1 inflight x 1 op: first = {0, 6, 12}. Point 9 is of
 * the second PE, with 9 - 6 = 3 = 1 * 2 + 1: the second target, the second size.
 *
 * points_seek() to any number searches `first`; to the next one it only turns the wheels.
 *
 * Invariants: points are numbered without gaps from 0 to n - 1; the order is that of the lists as
 * they were written; two runs of one command line have the same points, whatever the number of
 * threads. `sweep --src c0.pe* --dst c*.slice* --bytes 64,4K,64K` on cube8 has 8 * 64 * 3 = 1536
 * points.
 */
#include "cli/in/points.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The targets and operations of the points of one source. */
struct reach {
    const uint32_t *dst; /* NULL: all targets, as listed */
    size_t n_dst;
    const struct op_list *ops;
};

static struct reach reach_of(const struct points *p, size_t src)
{
    const kb_endpoint *end = &p->src.at[src].end;

    if (end->kind == KB_PE)
        return (struct reach){NULL, p->dst.n, &p->pe_ops};
    size_t first = p->host_dst_first[end->sip];
    return (struct reach){p->host_dst + first, p->host_dst_first[end->sip + 1] - first,
                          &p->host_ops};
}

/* -- where a point is ----------------------------------------------------------------------- */

/* The last source whose first point is not behind `number`. */
static size_t source_of(const struct points *p, uint64_t number)
{
    size_t low = 0, high = p->src.n;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (p->first[middle] <= number)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void seek(const struct points *p, struct points_at *at, uint64_t number)
{
    size_t src = source_of(p, number);
    size_t n_ops = reach_of(p, src).ops->n;
    uint64_t rest = number - p->first[src];

    *at = (struct points_at){.number = number, .src = src};
    at->op = rest % n_ops;
    rest /= n_ops;
    at->inflight = rest % p->inflight.n;
    rest /= p->inflight.n;
    at->bytes = rest % p->bytes.n;
    at->dst = rest / p->bytes.n;
}

/* Like an odometer: the last list turns first. */
static void next(const struct points *p, struct points_at *at)
{
    struct reach reach = reach_of(p, at->src);

    at->number++;
    if (++at->op < reach.ops->n)
        return;
    at->op = 0;
    if (++at->inflight < p->inflight.n)
        return;
    at->inflight = 0;
    if (++at->bytes < p->bytes.n)
        return;
    at->bytes = 0;
    if (++at->dst < reach.n_dst)
        return;
    at->dst = 0;
    do
        at->src++;
    while (at->src < p->src.n && p->first[at->src + 1] == at->number);
}

void points_seek(const struct points *p, struct points_at *at, uint64_t number)
{
    if (number == at->number + 1)
        next(p, at);
    else
        seek(p, at, number);
}

const struct place *points_src(const struct points *p, const struct points_at *at)
{
    return &p->src.at[at->src];
}

const struct place *points_dst(const struct points *p, const struct points_at *at)
{
    const uint32_t *dst = reach_of(p, at->src).dst;

    return &p->dst.at[dst ? dst[at->dst] : at->dst];
}

kb_point points_get(const struct points *p, const struct points_at *at)
{
    return (kb_point){.op = reach_of(p, at->src).ops->op[at->op],
                      .src = points_src(p, at)->end,
                      .dst = points_dst(p, at)->end,
                      .nbytes = p->bytes.value[at->bytes],
                      .inflight = (uint32_t)p->inflight.value[at->inflight],
                      .by_address = points_dst(p, at)->by_address,
                      .address = points_dst(p, at)->address,
                      .rows = p->rows,
                      .stride = p->stride};
}

/* -- lists ---------------------------------------------------------------------------------- */

static void add_place(void *arg, const kb_endpoint *end)
{
    struct places *places = arg;

    places->at = memory_room(places->at, places->n, &places->room, sizeof *places->at);
    places->at[places->n] = (struct place){.end = *end};
    kb_endpoint_name(end, places->at[places->n].name);
    places->n++;
}

/* "0x8000", `n` bytes: the address of a byte. */
static enum exit_code add_address(const struct cli *cli, const char *text, size_t n,
                                  struct places *places)
{
    kb_endpoint memory;
    uint64_t address, offset;
    char shown[64];

    if (!read_address(text, n, &address))
        return say(cli->program, EXIT_USAGE,
                   "--dst: '%s' is not an address: 0x and at most 16 hexadecimal digits",
                   text_show(text, n, shown, sizeof shown));
    if (kb_address_find(cli->topo, address, &memory, &offset) != KB_OK)
        return say(cli->program, EXIT_USAGE,
                   "--dst: '%s' is not the address of any byte of this topology",
                   text_show(text, n, shown, sizeof shown));
    add_place(places, &memory);
    places->at[places->n - 1].by_address = true;
    places->at[places->n - 1].address = address;
    snprintf(places->at[places->n - 1].name, KB_ENDPOINT_BYTES, "0x%llx",
             (unsigned long long)address);
    return EXIT_OK;
}

/* How much of `text` is one pattern: up to a comma that is not in brackets. */
static size_t pattern_length(const char *text)
{
    bool in_list = false;
    size_t n = 0;

    for (; text[n] && (text[n] != ',' || in_list); n++)
        in_list = text[n] == '[' || (in_list && text[n] != ']');
    return n;
}

static enum exit_code read_places(const struct cli *cli, const char *option, const char *text,
                                  struct places *places)
{
    for (;;) {
        size_t n = pattern_length(text);
        bool is_address = is_address_text(text, n) && strcmp(option, "dst") == 0;
        enum exit_code code = is_address ? add_address(cli, text, n, places) : EXIT_OK;
        kb_error why = {""};

        if (code)
            return code;
        if (!is_address && kb_endpoint_select(cli->topo, text, n, add_place, places, &why) != KB_OK)
            return say(cli->program, EXIT_USAGE, "--%s: %s", option, why.text);
        if (text[n] == '\0')
            return EXIT_OK;
        text += n + 1;
    }
}

/* Kinds that no combination could give a route. */
static enum exit_code check_kinds(const struct cli *cli, const struct points *p)
{
    for (size_t i = 0; i < p->src.n; i++)
        if (p->src.at[i].end.kind != KB_PE && p->src.at[i].end.kind != KB_HOST)
            return say(cli->program, EXIT_USAGE, "--src: %s is no source: PEs and hosts are",
                       p->src.at[i].name);
    for (size_t i = 0; i < p->dst.n; i++)
        if (p->dst.at[i].end.kind != KB_SLICE && p->dst.at[i].end.kind != KB_SRAM)
            return say(cli->program, EXIT_USAGE, "--dst: %s is no target: slices and SRAMs are",
                       p->dst.at[i].name);
    return EXIT_OK;
}

static enum exit_code read_numbers(const struct cli *cli, const char *option, enum list_kind kind,
                                   const char *text, struct list *list)
{
    char why[LIST_WHY_BYTES];

    if (!list_read(list, kind, text, why))
        return say(cli->program, EXIT_USAGE, "--%s: %s", option, why);
    return EXIT_OK;
}

/* A point's copies have ids of 32 bits. */
static enum exit_code check_inflight(const struct cli *cli, const struct points *p)
{
    for (size_t i = 0; i < p->inflight.n; i++)
        if (p->inflight.value[i] > UINT32_MAX)
            return say(cli->program, EXIT_USAGE, "--inflight: %llu are too many at once",
                       (unsigned long long)p->inflight.value[i]);
    return EXIT_OK;
}

static enum exit_code add_op(const struct cli *cli, struct points *p, const char *word)
{
    for (int op = 0; op < N_OPS; op++) {
        struct op_list *list = op < KB_H2D ? &p->pe_ops : &p->host_ops;

        if (strcmp(word, op_names[op]) != 0)
            continue;
        for (size_t i = 0; i < list->n; i++)
            if (list->op[i] == (kb_transaction_op)op)
                return say(cli->program, EXIT_USAGE, "--op: %s is listed twice", word);
        list->op[list->n++] = (kb_transaction_op)op;
        return EXIT_OK;
    }
    return say_unknown(cli->program, "op", "", word, op_names, N_OPS);
}

/* Words with commas between them; without any, each kind of source has its own. */
static enum exit_code read_ops(const struct cli *cli, struct points *p)
{
    const char *text = cli->opts.op;
    enum exit_code code = EXIT_OK;

    if (!text) {
        p->pe_ops = (struct op_list){{KB_READ}, 1};
        p->host_ops = (struct op_list){{KB_H2D}, 1};
    }
    while (text && !code) {
        const char *comma = strchr(text, ',');
        char *word = memory_part(text, comma ? (size_t)(comma - text) : strlen(text));

        code = add_op(cli, p, word);
        free(word);
        text = comma ? comma + 1 : NULL;
    }
    return code;
}

static enum exit_code read_lists(const struct cli *cli, struct points *p)
{
    const struct opts *o = &cli->opts;
    enum exit_code code;

    if (!o->src || !o->dst)
        return say(cli->program, EXIT_USAGE, "sweep needs --src and --dst, see '%s sweep --help'",
                   cli->program);
    code = read_places(cli, "src", o->src, &p->src);
    if (!code)
        code = read_places(cli, "dst", o->dst, &p->dst);
    if (!code)
        code = check_kinds(cli, p);
    if (!code)
        code = read_numbers(cli, "bytes", LIST_SIZES, o->bytes_list, &p->bytes);
    if (!code)
        code = read_numbers(cli, "inflight", LIST_COUNTS, o->inflight, &p->inflight);
    if (!code)
        code = check_inflight(cli, p);
    return code ? code : read_ops(cli, p);
}

/* -- what they come to ---------------------------------------------------------------------- */

/* A host reaches the slices of its own SIP. */
static void sort_host_targets(const struct cli *cli, struct points *p)
{
    uint32_t sips = cli->info.sips;
    size_t n = 0;

    p->host_dst = memory_new(p->dst.n, sizeof *p->host_dst);
    p->host_dst_first = memory_new(sips + 1, sizeof *p->host_dst_first);
    for (uint32_t sip = 0; sip < sips; sip++) {
        for (size_t i = 0; i < p->dst.n; i++)
            if (p->dst.at[i].end.kind == KB_SLICE && p->dst.at[i].end.sip == sip)
                p->host_dst[n++] = (uint32_t)i;
        p->host_dst_first[sip + 1] = n;
    }
}

/* Numbers the points. `n_ops` is how many ops were to be combined; false: 2^64 points or more. */
static bool count_points(struct points *p, uint64_t n_ops)
{
    uint64_t each, all, inflight = 0;
    bool over = __builtin_mul_overflow(p->bytes.n, p->inflight.n, &each);

    for (size_t i = 0; i < p->inflight.n; i++)
        inflight += p->inflight.value[i];
    over |= __builtin_mul_overflow(inflight, p->bytes.n, &inflight);
    for (size_t src = 0; src < p->src.n; src++) {
        struct reach reach = reach_of(p, src);
        uint64_t routes = reach.n_dst * reach.ops->n, n, transactions;

        over |= __builtin_mul_overflow(routes, each, &n);
        over |= __builtin_add_overflow(p->first[src], n, &p->first[src + 1]);
        over |= __builtin_mul_overflow(routes, inflight, &transactions);
        over |= __builtin_add_overflow(p->n_transactions, transactions, &p->n_transactions);
    }
    over |= __builtin_mul_overflow(p->src.n * n_ops, p->dst.n, &all);
    over |= __builtin_mul_overflow(all, each, &all);
    p->n = p->first[p->src.n];
    p->n_left_out = all - p->n;
    return !over;
}

/* Says why the first combination has no route. */
static enum exit_code no_route(const struct cli *cli, const struct points *p)
{
    const struct place *src = &p->src.at[0], *dst = &p->dst.at[0];
    kb_transaction_op op = p->pe_ops.n > 0 ? p->pe_ops.op[0] : p->host_ops.op[0];
    kb_error why = {""};
    kb_cost cost;

    if (!cli->opts.op && src->end.kind == KB_HOST)
        op = KB_H2D;
    kb_route_cost(cli->topo, op, &src->end, &dst->end, p->bytes.value[0], &cost, &why);
    return say(cli->program, EXIT_USAGE, "no combination has a route; %s from %s to %s: %s",
               op_names[op], src->name, dst->name, why.text);
}

static enum exit_code check_sizes(const struct cli *cli, const struct points *p)
{
    uint64_t most = 0;

    for (size_t i = 0; i < p->bytes.n; i++)
        most = p->bytes.value[i] > most ? p->bytes.value[i] : most;
    for (size_t i = 0; i < p->dst.n; i++) {
        uint64_t room = kb_memory_bytes(cli->topo, &p->dst.at[i].end);
        kb_error why = {""};

        if (p->dst.at[i].by_address) {
            if (!kb_address_parts(cli->topo, p->dst.at[i].address, most, &why))
                return say(cli->program, EXIT_USAGE, "--bytes: %s", why.text);
            continue;
        }
        if (most > room)
            return say(cli->program, EXIT_USAGE,
                       "--bytes: %llu bytes are more than %s holds, which is %llu",
                       (unsigned long long)most, p->dst.at[i].name, (unsigned long long)room);
    }
    return EXIT_OK;
}

enum exit_code points_read(struct points *p, const struct cli *cli)
{
    enum exit_code code;

    *p = (struct points){.rows = (uint32_t)cli->opts.rows, .stride = cli->opts.stride};
    code = read_lists(cli, p);
    if (!code)
        code = check_sizes(cli, p);
    if (code)
        return code;
    p->first = memory_new(p->src.n + 1, sizeof *p->first);
    sort_host_targets(cli, p);
    if (!count_points(p, cli->opts.op ? p->pe_ops.n + p->host_ops.n : 1))
        return say(cli->program, EXIT_USAGE, "more combinations than 64 bits can count");
    return p->n > 0 ? EXIT_OK : no_route(cli, p);
}

void points_free(struct points *p)
{
    free(p->src.at);
    free(p->dst.at);
    list_free(&p->bytes);
    list_free(&p->inflight);
    free(p->host_dst);
    free(p->host_dst_first);
    free(p->first);
    *p = (struct points){0};
}
