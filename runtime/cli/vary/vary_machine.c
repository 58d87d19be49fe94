/* vary_machine.c -- one machine of --vary: made, asked, and its result as bytes. */
#include "cli/vary/vary_run.h"
#include "cli/out/memory.h"
#include "cli/out/session.h"
#include "cli/plan/journal.h"
#include <stdlib.h>
#include <string.h>

enum { HELD_BYTES = 64 << 20 };

/* -- one machine ---------------------------------------------------------------------------- */

uint64_t vary_number(const struct vary *v, uint64_t i)
{
    return v->first + (uint64_t)((unsigned __int128)i * v->stride % v->n);
}

/* Text that is long is not kept for the next one. */
void vary_free_slot(struct vary *v, struct slot *s)
{
    captured_free(&s->rows);
    captured_free(&s->stats);
    kb_topology_free(s->topo);
    s->topo = NULL;
    if (s->text.end - s->text.buffer > SINK_BYTES) {
        sink_free(&s->text);
        sink_open_memory(&s->text);
    }
    atomic_fetch_sub(&v->held, s->held);
    s->held = 0;
}

/* What it had may be there still, if another process has taken it. */
static void begin_slot(struct vary *v, struct slot *s, uint64_t i)
{
    char label[VARY_LABEL_BYTES];

    vary_free_slot(v, s);
    variants_label(&v->variants, i, label);
    snprintf(s->program, sizeof s->program, "%.60s%s%s", v->cli->program,
             *v->cli->program ? ": " : "", label);
    all_rows_keys(&v->variants, i, s->keys);
    s->rows =
        (struct captured){.key_columns = v->columns, .keys = s->keys, .n_keys = v->variants.n_keys};
    s->stats = s->rows;
    s->text.at = s->text.buffer;
    s->said = (struct said){.n = 0};
    s->gates = (struct gates){0};
    s->code = EXIT_OK;
}

/* Those words of variant `i` that are of the machine. Returns how many. */
static size_t machine_words(const struct vary *v, uint64_t i, const char *words[VARY_KEYS_MAX])
{
    size_t n = 0;

    for (size_t k = 0; k < v->variants.n_keys; k++)
        if (!variants_argument(v->variants.key[k].path))
            words[n++] = variants_word(&v->variants, i, k);
    return n;
}

enum exit_code vary_make_machine(const struct vary *v, struct slot *s, uint64_t i)
{
    const char *words[VARY_KEYS_MAX];
    kb_topology_source source = {
        .base = v->base, .sets = words, .n_sets = machine_words(v, i, words)};
    char *messages;
    kb_status status;

    status = kb_topology_load(&source, &s->topo, &messages);
    if (status == KB_NO_MEMORY)
        memory_lacks();
    if (status && messages)
        say_lines("%.*s", (int)strcspn(messages, "") - 1, messages);
    free(messages);
    if (status)
        return status == KB_BAD_REQUEST ? EXIT_USAGE : EXIT_INPUT;
    kb_topology_info(s->topo, &s->info);
    return EXIT_OK;
}

/* Gives the others to the bench, with operands of its own, to be freed. */
static void give_arguments(const struct vary *v, uint64_t i, struct opts *o)
{
    const char **copy = memory_new(o->n_operands + 1, sizeof *copy);

    memcpy(copy, o->operand, o->n_operands * sizeof *copy);
    o->operand = copy;
    for (size_t k = 0; k < v->variants.n_keys; k++) {
        const char *word = variants_argument(variants_word(&v->variants, i, k));

        if (word)
            opts_give_argument(o, word);
    }
}

static enum exit_code run_command(const struct vary *v, struct slot *s, uint64_t i)
{
    struct cli cli = *v->cli;
    struct journal none = {0}; /* that of the command is of machines, and each is a whole there */

    give_arguments(v, i, &cli.opts);
    cli.topo = s->topo;
    cli.info = s->info;
    cli.program = s->program;
    cli.gates = &s->gates;
    cli.varied = &s->rows;
    cli.varied_stats = &s->stats;
    cli.varies_routers = v->routers;
    cli.varies_ideal = v->ideal;
    cli.sqlite = NULL;
    cli.journal = &none;
    cli.opts.jobs = v->jobs;
    cli.opts.shard = (struct shard){0}; /* of machines, not of what each has */
    cli.opts.resume = false;
    cli.opts.quiet = true;
    cli.opts.dry_run = false;
    enum exit_code code = v->start(&cli);
    free(cli.opts.operand);
    return code;
}

bool vary_slot_row(void *arg, uint64_t i, struct cell *cells)
{
    return captured_row(arg, i - 1, cells); /* never the first of all: see give_text() */
}

/* Do rows go to a program that runs commands itself? */
bool vary_is_asked_by_program(const struct vary *v)
{
    return v->sink.session;
}

bool vary_is_streamed(const struct vary *v)
{
    return v->out && v->cli->opts.format != FORMAT_TABLE && !vary_is_asked_by_program(v);
}

/* From now on it waits for its turn. */
static void hold(struct vary *v, struct slot *s)
{
    s->held = s->rows.rows.room + s->stats.rows.room + (size_t)(s->text.end - s->text.buffer);
    atomic_fetch_add(&v->held, s->held);
}

bool vary_holds_enough(void *arg)
{
    const struct vary *v = arg;

    return atomic_load(&v->held) > HELD_BYTES + v->window * SINK_BYTES;
}

void vary_do_machine(void *arg, unsigned thread, uint64_t i)
{
    struct vary *v = arg;
    struct slot *s = &v->slot[i % v->window];

    (void)thread;
    i = vary_number(v, i);
    begin_slot(v, s, i);
    say_into(&s->said);
    s->code = vary_make_machine(v, s, i);
    if (!s->code)
        s->code = run_command(v, s, i);
    say_into(NULL);
    if (vary_is_streamed(v) && s->rows.n_rows > 0) {
        struct rows rows = {.columns = s->rows.columns,
                            .n_columns = s->rows.n_columns,
                            .n_rows = s->rows.n_rows,
                            .row = vary_slot_row,
                            .arg = &s->rows};

        out_rows(&rows, 1, 1 + s->rows.n_rows, v->cli->opts.format, &s->text);
    }
    if (!v->cli->sqlite && s->topo) {
        kb_topology_free(s->topo);
        s->topo = NULL;
    }
    hold(v, s);
}

/* -- as bytes --------------------------------------------------------------------------------- */

void vary_pack_machine(void *arg, uint64_t i, struct packed *to)
{
    const struct vary *v = arg;
    const struct slot *s = &v->slot[i % v->window];
    size_t n = (size_t)(s->text.at - s->text.buffer);

    PACKED_PUT(to, s->code);
    PACKED_PUT(to, s->gates);
    PACKED_PUT(to, s->said);
    PACKED_PUT(to, n);
    packed_put(to, s->text.buffer, n);
    captured_pack(&s->rows, to);
    captured_pack(&s->stats, to);
}

/* A machine that has run elsewhere; its tables are made again if the database wants them. */
void vary_unpack_machine(void *arg, uint64_t i, struct packed *from)
{
    struct vary *v = arg;
    struct slot *s = &v->slot[i % v->window];
    size_t n;

    i = vary_number(v, i);
    begin_slot(v, s, i);
    PACKED_TAKE(from, s->code);
    if (v->cli->sqlite && vary_is_complete(s))
        vary_make_machine(v, s, i);
    PACKED_TAKE(from, s->gates);
    PACKED_TAKE(from, s->said);
    PACKED_TAKE(from, n);
    sink_bytes(&s->text, packed_next(from, n), n);
    captured_unpack(&s->rows, from);
    captured_unpack(&s->stats, from);
    hold(v, s);
}

void vary_machine_died(void *arg, uint64_t i, enum exit_code code, const char *why,
                       const char *said)
{
    struct vary *v = arg;
    struct slot *s = &v->slot[i % v->window];

    begin_slot(v, s, vary_number(v, i));
    s->code = code;
    say_into(&s->said);
    if (*why)
        say(s->program, code, "%s", why);
    if (*said)
        say_lines("%.*s", (int)strlen(said) - (said[strlen(said) - 1] == '\n'), said);
    say_into(NULL);
}

bool vary_is_complete(const struct slot *s)
{
    return s->code == EXIT_OK || s->code == EXIT_DIFFERENT;
}

/* Was it ended, and not by its machine? */
bool vary_is_cut(const struct slot *s)
{
    return s->code == EXIT_INTERRUPTED || s->code == EXIT_LIMIT;
}

/* What lacked memory or a file could run the next time. */
bool vary_is_final(void *arg, uint64_t i)
{
    const struct vary *v = arg;
    const struct slot *s = &v->slot[i % v->window];

    return !vary_is_cut(s) && s->code != EXIT_SYSTEM;
}
