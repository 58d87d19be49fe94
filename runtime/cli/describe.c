/*
 * describe.c -- what a simulator takes, in the form that base/help.h wants: opts.def, and what only
 * the topology and the benches tell.
 *
 * base/help.c, help_man.c and help_complete.c are shared with kbgen and know no commands. They get
 * all tables as data (struct help), and for words that depend on the machine they call offer()
 * with the name of an operand: SRC is completed to endpoints of this topology, BENCH to its
 * benches, and [NAME=VALUE]... to the arguments of the bench that was named.
 *
 * Example: at `cube8 run softmax M` the Tab key calls `cube8 --complete` with the words so far.
 * The operand is [NAME=VALUE]..., so offer() is called with it, finds the bench softmax, and
 * offers "M=". At `cube8 route c0.p` it offers c0.pe0 to c0.pe7: endpoints are offered part by
 * part, for a tray may have millions of them.
 */
#include "cli/describe.h"
#include "cli/benches.h"
#include "cli/options/opts.h"
#include "cli/view/view.h"
#include <string.h>

enum { WORD_BYTES = 256 };

static const struct help_command commands[N_COMMANDS] = {
#define COMMAND(NAME, name, operands, fewest, most, format, summary, description)                  \
    {#name, operands, summary, description},
#include "cli/options/opts.def"
};

static const struct help_example examples[] = {
#define EXAMPLE(NAME, line, what) {COMMAND_##NAME, line, what},
#include "cli/options/opts.def"
};

static const struct help_entry exit_codes[] = {
#define EXIT_MEANS(code, text) {code, text},
#include "cli/options/opts.def"
    {NULL, NULL}};

static const struct help_entry environment[] = {
    {"TMPDIR", "where a log goes that is larger than --oplog-limit; else /tmp"}, {NULL, NULL}};

/* -- benches -------------------------------------------------------------------------------- */

static void offer_benches(struct completing *c)
{
    for (size_t i = 0; i < n_benches; i++)
        help_offer(c, benches[i]->name, benches[i]->summary);
}

/* Each of the choices of "name=", or its default. */
static void offer_values(struct completing *c, const kb_bench_arg *arg)
{
    char word[WORD_BYTES];
    const char *words = arg->choices ? arg->choices : arg->initial;

    for (size_t n; *words; words += n + (words[n] != '\0')) {
        n = strcspn(words, " ");
        snprintf(word, sizeof word, "%s=%.*s", arg->name, (int)n, words);
        help_offer(c, word, NULL);
    }
}

/* Was the argument given before? */
static bool is_given(const struct completing *c, const kb_bench_arg *arg)
{
    size_t n = strlen(arg->name);

    for (size_t i = 1; i < c->n_operands; i++)
        if (strncmp(c->operand[i], arg->name, n) == 0 && c->operand[i][n] == '=')
            return true;
    return false;
}

static void offer_arguments(struct completing *c, const kb_bench *bench)
{
    char word[WORD_BYTES];

    for (size_t i = 0; i < bench->n_args; i++) {
        const kb_bench_arg *arg = &bench->args[i];

        snprintf(word, sizeof word, "%s=", arg->name);
        if (strncmp(c->word, word, strlen(word)) == 0)
            offer_values(c, arg);
        else if (!is_given(c, arg))
            help_offer(c, word, arg->help);
    }
}

static void offer_bench_arguments(struct completing *c)
{
    const kb_bench *bench = c->n_operands > 0 ? bench_known(c->operand[0]) : NULL;

    if (bench)
        offer_arguments(c, bench);
}

/* -- endpoints ------------------------------------------------------------------------------ */

enum ends { SOURCES = 1, TARGETS = 2, TCMS = 4 };

static void offer_numbers(struct completing *c, const char *before, const char *name, uint32_t n,
                          const char *after)
{
    char word[WORD_BYTES];

    for (uint32_t i = 0; i < n; i++) {
        snprintf(word, sizeof word, "%s%s%u%s", before, name, i, after);
        help_offer(c, word, NULL);
    }
}

/* What is there of the cube `before`, "s1.c0." or "c0."; of one that is missing, nothing. */
static kb_cube cube_before(const struct completing *c, const char *before)
{
    const struct described *d = c->help->arg;
    unsigned sip = 0, cube = 0;
    kb_cube found = {0};

    if (sscanf(before, "s%u.c%u.", &sip, &cube) == 2 || sscanf(before, "c%u.", &cube) == 1)
        kb_cube_get(d->topo, sip, cube, &found);
    return found;
}

static void offer_pes(struct completing *c, const char *before, const char *after)
{
    kb_cube cube = cube_before(c, before);
    char word[WORD_BYTES];

    for (uint32_t pe = 0; pe < cube.pe_places; pe++) {
        snprintf(word, sizeof word, "%spe%u%s", before, pe, after);
        if (cube.pes[pe / 64] >> pe % 64 & 1)
            help_offer(c, word, NULL);
    }
}

/* Offers the endpoints inside the cube `before`. */
static void offer_units(struct completing *c, const char *before, unsigned ends)
{
    kb_cube cube = cube_before(c, before);
    char word[WORD_BYTES];

    if (ends & SOURCES)
        offer_pes(c, before, "");
    if (ends & TARGETS) {
        offer_numbers(c, before, "slice", cube.n_slices, "");
        snprintf(word, sizeof word, "%ssram", before);
        if (cube.n_slices)
            help_offer(c, word, NULL);
    }
    if (ends & TCMS)
        offer_pes(c, before, ".tcm");
}

/* A place is typed a part at a time, since a large machine has too many to list. The parts that are
 * complete: "", "s1.", "c0.", "s1.c0.". True: a cube is named. */
static bool take_parts(const struct completing *c, char before[KB_ENDPOINT_BYTES])
{
    size_t sip = c->word[0] == 's' ? strcspn(c->word, ".") : 0;

    if (sip > 0 && c->word[sip] != '.')
        sip = 0;
    snprintf(before, KB_ENDPOINT_BYTES, "%.*s", (int)(sip > 0 ? sip + 1 : 0), c->word);
    size_t cube = strcspn(c->word + strlen(before), ".") + strlen(before);
    if (c->word[cube] != '.' || c->word[strlen(before)] != 'c')
        return false;
    snprintf(before, KB_ENDPOINT_BYTES, "%.*s", (int)cube + 1, c->word);
    return true;
}

/* Cubes behind `before`, and SIPs if none is named. */
static void offer_cubes(struct completing *c, const char *before, const char *after)
{
    const struct described *d = c->help->arg;

    offer_numbers(c, before, "c", d->info->cubes_per_sip, after);
    if (!*before && d->info->sips > 1)
        offer_numbers(c, "", "s", d->info->sips, ".");
}

static void offer_endpoints(struct completing *c, unsigned ends)
{
    char before[KB_ENDPOINT_BYTES], word[WORD_BYTES];

    if (take_parts(c, before)) {
        offer_units(c, before, ends);
        return;
    }
    snprintf(word, sizeof word, "%shost", before);
    if (ends & SOURCES)
        help_offer(c, word, NULL);
    offer_cubes(c, before, ".");
}

/* -- pictures ------------------------------------------------------------------------------- */

/* The number of the one that is asked for. */
static int picture_of(const struct completing *c)
{
    const struct described *d = c->help->arg;

    return (int)(c->n_operands > 0 ? view_find(c->operand[0]) : view_first(d->info));
}

static void offer_pictures(struct completing *c)
{
    for (int i = 0; i < N_VIEW_LEVELS; i++)
        help_offer(c, view_levels[i], NULL);
}

/* Offers the places that the picture can show. */
static void offer_places(struct completing *c)
{
    const struct described *d = c->help->arg;
    int picture = picture_of(c);
    char before[KB_ENDPOINT_BYTES];

    if (picture == VIEW_SIP)
        offer_numbers(c, "", "s", d->info->sips, "");
    else if (picture == VIEW_PE && take_parts(c, before))
        offer_pes(c, before, "");
    else if ((picture == VIEW_CUBE || picture == VIEW_PE) && !take_parts(c, before))
        offer_cubes(c, before, picture == VIEW_PE ? "." : "");
}

/* -- keys ----------------------------------------------------------------------------------- */

/* KEY=VALUE: the key, then the words it may be, or its value. */
static void offer_key(void *arg, const kb_key *key)
{
    struct completing *c = arg;
    const char *const *words = key->words;
    char word[WORD_BYTES];

    snprintf(word, sizeof word, "%s=", key->path);
    if (strncmp(c->word, word, strlen(word)) != 0) {
        help_offer(c, word, key->text);
        return;
    }
    for (; words && *words; words++) {
        snprintf(word, sizeof word, "%s=%s", key->path, *words);
        help_offer(c, word, NULL);
    }
    if (!key->words) {
        snprintf(word, sizeof word, "%s=%s", key->path, key->text);
        help_offer(c, word, NULL);
    }
}

static void offer_keys(struct completing *c)
{
    const struct described *d = c->help->arg;

    if (d->topo)
        kb_topology_keys(d->topo, offer_key, c);
}

/* -- the whole ------------------------------------------------------------------------------ */

static void offer_list(struct completing *c, const char *name)
{
    size_t n;
    const char *const *words = opts_words(name, (enum command)c->command, &n);

    for (size_t i = 0; i < n; i++)
        help_offer(c, words[i], NULL);
}

/* The operands of route may also be TCMs; lists of endpoints are those of sweep. */
static void offer(struct completing *c, const char *name)
{
    unsigned tcms = c->command == COMMAND_ROUTE ? TCMS : 0;

    if (strcmp(name, "SRC") == 0)
        offer_endpoints(c, SOURCES);
    else if (strcmp(name, "DST") == 0)
        offer_endpoints(c, TARGETS | tcms);
    else if (strcmp(name, "BENCH") == 0)
        offer_benches(c);
    else if (strcmp(name, "[NAME=VALUE]...") == 0)
        offer_bench_arguments(c);
    else if (strcmp(name, "[PICTURE]") == 0)
        offer_pictures(c);
    else if ((strcmp(name, "[FILE]") == 0 && picture_of(c) >= N_VIEW_LEVELS) ||
             strcmp(name, "FILE.c") == 0)
        help_offer_files(c);
    else if (strcmp(name, "[BENCH|FILE.so]") == 0)
        offer_benches(c), help_offer_files(c);
    else if (strcmp(name, "KEY=VALUE") == 0)
        offer_keys(c);
    else if (strcmp(name, "AT") == 0)
        offer_places(c);
    else
        offer_list(c, name);
}

void describe(struct described *d, const kb_topology *topo, const kb_info *info)
{
    *d = (struct described){.topo = topo, .info = info};
    snprintf(d->summary, sizeof d->summary,
             topo ? "simulates memory accesses and kernels on the machine %s"
                  : "simulates memory accesses and kernels on accelerators of chiplets",
             info->name);
    d->help = (struct help){
        .program = info->name,
        .version = KB_VERSION,
        .summary = d->summary,
        .description =
            "How long a memory access takes on this machine, under this load, and why: an\n"
            "event-driven simulation of accelerators made of chiplets, exact to the femtosecond.\n"
            "Results go to standard output or to the file of -o; all else goes to standard "
            "error.\n",
        .operands = "",
        .commands = commands,
        .n_commands = N_COMMANDS,
        .n_options = opts_n_options,
        .option = opts_option,
        .wrapper = COMMAND_REPORT,
        .wrapped = opts_reported,
        .examples = examples,
        .n_examples = sizeof examples / sizeof *examples,
        .exit_codes = exit_codes,
        .environment = environment,
        .see_also = "kbgen(1)",
        .offer = offer,
        .arg = d};
}
