/*
 * cmd_info.c -- `info`: the machine that is simulated, and how this program was built.
 *
 * What --machine and --set made is told last: the file, and each key that was set, beside what it
 * was in the compiled machine or in the file.
 *
 * With --config it prints the YAML from which the program was generated, with every default: enough
 * to build the same program again.
 *
 * Of cube8 it prints, among others, 8 cubes, 64 PEs, 651 nodes, 1180 edges (an edge has one
 * direction), slices of 6442450944 bytes, and the hash db513632d7f7f2c1 of its configuration, by
 * which results, op logs and pictures tell whether they are of the same machine.
 */
#include "cli/command.h"
#include "cli/out/memory.h"
#include <stdlib.h>
#include <string.h>

#if defined __clang__
#define TEXT_OF_(x) #x
#define TEXT_OF(x)  TEXT_OF_(x)
#define COMPILER                                                                                   \
    "clang " TEXT_OF(__clang_major__) "." TEXT_OF(__clang_minor__) "." TEXT_OF(__clang_patchlevel__)
#else
#define COMPILER "gcc " __VERSION__
#endif

#ifndef KB_BUILD_FLAGS
#define KB_BUILD_FLAGS "" /* the build gives it */
#endif

enum { N_FACTS = 28 + SETS_MAX };

struct fact {
    const char *name;
    struct cell value;
};

/* In the order in which they are printed. */
struct facts {
    size_t n;
    struct fact fact[N_FACTS];
    char *texts[SETS_MAX]; /* owned */
    size_t n_texts;
    char routes[32];
};

static const struct column columns[] = {
    COLUMN("name", CELL_TEXT, struct fact, name),
    COLUMN("value", CELL_TEXT, struct fact, value),
};

static void add(struct facts *facts, const char *name, struct cell value)
{
    facts->fact[facts->n++] = (struct fact){name, value};
}

static uint64_t memory_bytes(const struct cli *cli, kb_endpoint_kind kind)
{
    return kb_memory_bytes(cli->topo, &(kb_endpoint){.kind = kind});
}

/* What keeps packets of a net from waiting in a circle. */
static void add_routes(struct facts *facts, const kb_info *info)
{
    if (!info->routes)
        return;
    snprintf(facts->routes, sizeof facts->routes, info->hop_classes ? "%s of %u" : "%s",
             info->routes, info->hop_classes);
    add(facts, "routes", cell_text(facts->routes));
}

static void add_counts(struct facts *facts, const struct cli *cli)
{
    const kb_info *info = &cli->info;
    uint64_t cubes = (uint64_t)info->sips * info->cubes_per_sip;

    add(facts, "sips", cell_count(info->sips));
    if (cmd_has_mesh(cli)) {
        add(facts, "mesh_w", cell_count(info->mesh_w));
        add(facts, "mesh_h", cell_count(info->mesh_h));
    }
    add(facts, "cubes_per_sip", cell_count(info->cubes_per_sip));
    add(facts, "pes_per_cube", cell_count(info->pes_per_cube));
    add(facts, "cubes", cell_count(cubes));
    add(facts, "pes", cell_count(kb_pe_count(cli->topo)));
    if (info->rails) {
        add(facts, "rails", cell_count(info->rails));
        add(facts, "fabric_switches", cell_count(info->fabric_switches));
    }
    add(facts, "nodes", cell_count(info->nodes));
    add(facts, "edges", cell_count(info->edges));
    add(facts, "slice_bytes", cell_count(memory_bytes(cli, KB_SLICE)));
    add(facts, "sram_bytes", cell_count(memory_bytes(cli, KB_SRAM)));
    add(facts, "tcm_bytes", cell_count(memory_bytes(cli, KB_TCM)));
}

static enum exit_code print_config(const struct cli *cli)
{
    struct sink s;
    enum exit_code code = sink_open(&s, cli->program, cli->opts.output);

    if (code)
        return code;
    sink_text(&s, cli->info.config);
    return sink_close(&s, cli->program, SINK_KEEP);
}

/* -- what was set --------------------------------------------------------------------------- */

/* The keys that --set names, in the order of keys. */
struct changed {
    const struct cli *cli;
    struct facts *facts;
    size_t n;
    char *was[SETS_MAX]; /* owned; in the machine that was changed; NULL: that has none */
    bool after;          /* the second walk, of the machine as it is */
};

static bool is_set(const struct cli *cli, const char *path)
{
    size_t n = strlen(path);

    for (size_t i = 0; i < cli->opts.set.n; i++)
        if (strncmp(cli->opts.set.word[i], path, n) == 0 &&
            (cli->opts.set.word[i][n] == '=' || cli->opts.set.word[i][n] == '['))
            return true; /* it, or an item of it */
    return false;
}

static void add_changed(void *arg, const kb_key *key)
{
    struct changed *c = arg;
    struct facts *facts = c->facts;

    if (!is_set(c->cli, key->path))
        return;
    if (!c->after) {
        c->was[c->n++] = memory_text(key->text);
        return;
    }
    const char *was = c->was[c->n++];
    char *text =
        memory_new(strlen(key->path) + strlen(key->text) + (was ? strlen(was) : 0) + 16, 1);

    sprintf(text, was ? "%s=%s (was %s)" : "%s=%s", key->path, key->text, was);
    facts->texts[facts->n_texts++] = text;
    add(facts, "set", cell_text(text));
}

static void add_machine(struct facts *facts, const struct cli *cli)
{
    struct changed c = {.cli = cli, .facts = facts};
    const kb_topology *before = cli->compiled;

    if (!cli->loaded)
        return;
    add(facts, "machine",
        cell_text(cli->opts.machine ? cli->opts.machine : "compiled, other values set"));
    if (!cli->opts.set.n)
        return;
    for (size_t i = 0; i < cli->opts.set.n; i++)
        if (*cli->opts.set.word[i] == '@')
            add(facts, "set", cell_text(cli->opts.set.word[i]));
    if (cli->opts.machine) /* without its sets it may have mistakes */
        kb_topology_load(&(kb_topology_source){.file = cli->opts.machine,
                                               .text = cli->yaml,
                                               .nbytes = cli->yaml_bytes},
                         &before, NULL);
    if (before)
        kb_topology_keys(before, add_changed, &c);
    c.after = true;
    c.n = 0;
    kb_topology_keys(cli->topo, add_changed, &c);
    if (before != cli->compiled)
        kb_topology_free(before);
    for (size_t i = 0; i < SETS_MAX; i++)
        free(c.was[i]);
}

enum exit_code cmd_info(const struct cli *cli)
{
    struct facts facts = {.n = 0};

    if (cli->opts.config)
        return print_config(cli);
    add(&facts, "name", cell_text(cli->info.name));
    add(&facts, "hash", cell_text(cli->info.hash));
    add(&facts, "links", cell_text(cli->info.links));
    add_routes(&facts, &cli->info);
    if (cli->info.detours)
        add(&facts, "detours", cell_text(cli->info.detours));
    add_counts(&facts, cli);
    add(&facts, "version", cell_text(KB_VERSION));
    add(&facts, "compiler", cell_text(COMPILER));
    if (sizeof KB_BUILD_FLAGS > 1)
        add(&facts, "build_flags", cell_text(KB_BUILD_FLAGS));
    add(&facts, "phase2", cell_text(kb_compute_backend()));
    add_machine(&facts, cli);
    struct rows rows = {ROWS_COLUMNS(columns), ROWS_ARRAY(facts.fact, facts.n)};
    enum exit_code code = cmd_print(cli, &rows);
    for (size_t i = 0; i < facts.n_texts; i++)
        free(facts.texts[i]);
    return code;
}
