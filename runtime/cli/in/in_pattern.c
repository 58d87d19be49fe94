/*
 * in_pattern.c -- the traffic that --pattern, --rate and the options beside them describe.
 *
 * `load` and `why load` share it. A pattern may have an argument behind a colon: hotspot:20% sends
 * a fifth of all transactions to slice 0, matrix:FILE reads weights.
 *
 * At rate 1.0 a PE issues as many bytes as its crossbar port carries: 64 * 256 = 16384 GB/s on
 * cube8. With --rate 0.1 --txns 2000 it offers 1620.65, not exactly a tenth, for times are random.
 * Rates are a list, and each is a row of `load`.
 */
#include "cli/in/in_pattern.h"
#include "cli/out/say.h"
#include "base/text.h"
#include "cli/in/transactions.h"
#include <string.h>

static const char *const pattern_names[] = {
    [KB_UNIFORM] = "uniform",     [KB_LOCAL] = "local",        [KB_NEIGHBOR] = "neighbor",
    [KB_TRANSPOSE] = "transpose", [KB_BITCOMP] = "bitcomp",    [KB_HOTSPOT] = "hotspot",
    [KB_MATRIX] = "matrix",       [KB_STREAM] = "stream",      [KB_STRIDED] = "strided",
    [KB_RANDOM] = "random",       [KB_MULTICAST] = "multicast"};

enum { N_PATTERNS = sizeof pattern_names / sizeof *pattern_names };

/* "20%" or "20". False: it is no number of per cent. */
static bool read_percent(const char *text, double *share)
{
    size_t len = strlen(text);
    int64_t millionths; /* of a per cent, read as fs of a ns */

    if (len > 0 && text[len - 1] == '%')
        len--;
    if (!text_read_ns(text, len, &millionths) || millionths > 100 * KB_FS_PER_NS)
        return false;
    *share = (double)millionths / (100.0 * KB_FS_PER_NS);
    return true;
}

/* The number behind the colon of "hotspot:20%". */
static enum exit_code read_share(struct pattern *p, const struct cli *cli, const char *text)
{
    if (!read_percent(text, &p->traffic.hotspot))
        return say(cli->program, EXIT_USAGE,
                   "--pattern: hotspot:P needs a number of per cent, 0 to 100");
    return EXIT_OK;
}

/* The number behind the colon of "strided:32K". */
static enum exit_code read_stride(struct pattern *p, const struct cli *cli, const char *text)
{
    if (text_read_size(text, strlen(text), &p->traffic.stride) && p->traffic.stride > 0)
        return EXIT_OK;
    return say(cli->program, EXIT_USAGE,
               "--pattern: strided:N needs a size above 0: digits, then K, M or G if wanted");
}

/* The number behind the colon of "multicast:8". */
static enum exit_code read_copies(struct pattern *p, const struct cli *cli, const char *text)
{
    uint64_t n;

    if (!text_read_count(text, strlen(text), &n) || n == 0 || n > UINT32_MAX)
        return say(cli->program, EXIT_USAGE, "--pattern: multicast:N needs a number above 0");
    if (p->traffic.op == KB_READ && p->traffic.writes < 1)
        return say(cli->program, EXIT_USAGE, "--pattern: multicast:N writes: it needs --op write");
    p->traffic.copies = (uint32_t)n;
    return EXIT_OK;
}

/* The text behind the colon of a pattern; NULL: none. */
static enum exit_code read_argument(struct pattern *p, const struct cli *cli, const char *text)
{
    const char *program = cli->program;
    enum exit_code code;

    switch (p->traffic.pattern) {
    case KB_HOTSPOT:
        return read_share(p, cli, text ? text : "");
    case KB_STRIDED:
        return read_stride(p, cli, text ? text : "");
    case KB_MULTICAST:
        return read_copies(p, cli, text ? text : "");
    case KB_MATRIX:
        if (!text || !*text)
            return say(program, EXIT_USAGE, "--pattern: matrix:FILE needs a file");
        code = matrix_read(&p->matrix, cli, text);
        p->traffic.matrix = p->matrix.row;
        p->traffic.n_matrix = p->matrix.n;
        return code;
    default:
        if (text)
            return say(program, EXIT_USAGE, "--pattern: %s takes no ':'",
                       pattern_names[p->traffic.pattern]);
        return EXIT_OK;
    }
}

static enum exit_code read_pattern(struct pattern *p, const struct cli *cli)
{
    const char *text = cli->opts.pattern, *colon = strchr(text, ':');
    char name[64];
    size_t len = colon ? (size_t)(colon - text) : strlen(text);

    text_show(text, len, name, sizeof name);
    for (int i = 0; i < N_PATTERNS; i++) {
        if (strcmp(name, pattern_names[i]) != 0)
            continue;
        p->traffic.pattern = (kb_pattern)i;
        return read_argument(p, cli, colon ? colon + 1 : NULL);
    }
    return say_unknown(cli->program, "pattern", "", name, pattern_names, N_PATTERNS);
}

/* Reads and writes mixed: --reads 70, or 70%. */
static enum exit_code read_mix(struct pattern *p, const struct cli *cli)
{
    double reads;

    if (cli->opts.op)
        return say(cli->program, EXIT_USAGE, "--reads and --op exclude each other");
    if (!read_percent(cli->opts.reads, &reads))
        return say(cli->program, EXIT_USAGE, "--reads needs a number of per cent, 0 to 100");
    p->traffic.op = KB_READ;
    p->traffic.writes = 1 - reads;
    text_format(p->op, sizeof p->op, "%.4g%% read", 100 * reads);
    return EXIT_OK;
}

static enum exit_code read_op(struct pattern *p, const struct cli *cli)
{
    const char *op = cli->opts.op;

    if (cli->opts.reads)
        return read_mix(p, cli);

    if (op && strcmp(op, op_names[KB_READ]) != 0 && strcmp(op, op_names[KB_WRITE]) != 0)
        return say_unknown(cli->program, "op", "", op, op_names, KB_WRITE + 1);
    p->traffic.op = op && strcmp(op, op_names[KB_WRITE]) == 0 ? KB_WRITE : KB_READ;
    text_format(p->op, sizeof p->op, "%s", op_names[p->traffic.op]);
    return EXIT_OK;
}

static enum exit_code read_rates(struct pattern *p, const struct cli *cli)
{
    char why[LIST_WHY_BYTES];

    if (!list_read(&p->rates, LIST_RATES, cli->opts.rate, why))
        return say(cli->program, EXIT_USAGE, "--rate: %s", why);
    return EXIT_OK;
}

enum exit_code pattern_read(struct pattern *p, const struct cli *cli)
{
    const struct opts *o = &cli->opts;
    enum exit_code code;

    if (!o->pattern || !o->rate)
        return say(cli->program, EXIT_USAGE,
                   "load needs --pattern and --rate, see '%s load --help'", cli->program);
    p->traffic =
        (kb_traffic){.nbytes = o->bytes, .txns = o->txns, .fixed = o->fixed, .warm = o->warm};
    code = read_rates(p, cli);
    if (!code)
        code = read_op(p, cli);
    return code ? code : read_pattern(p, cli);
}

void pattern_free(struct pattern *p)
{
    list_free(&p->rates);
    matrix_free(&p->matrix);
}
