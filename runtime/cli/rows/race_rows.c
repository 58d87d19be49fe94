/* race_rows.c -- `run --race`: accesses that nothing orders, instead of rows of launches. */
#include "cli/rows/race_rows.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACE_BYTES = 512 };

static const struct column columns[] = {
    COLUMN_BY_HAND("race", CELL_COUNT),   COLUMN_BY_HAND("kernel", CELL_TEXT),
    COLUMN_BY_HAND("pe", CELL_TEXT),      COLUMN_BY_HAND("call", CELL_TEXT),
    COLUMN_BY_HAND("line", CELL_TEXT),    COLUMN_BY_HAND("issue_ns", CELL_NS),
    COLUMN_BY_HAND("op_id", CELL_COUNT),  COLUMN_BY_HAND("access", CELL_TEXT),
    COLUMN_BY_HAND("memory", CELL_TEXT),  COLUMN_BY_HAND("offset", CELL_COUNT),
    COLUMN_BY_HAND("nbytes", CELL_COUNT), COLUMN_BY_HAND("address", CELL_COUNT),
    COLUMN_BY_HAND("count", CELL_COUNT),
};

struct races {
    const struct cli *cli;
    kb_race *race; /* owned */
    size_t n, cap;
    bool no_memory;
    char pe[KB_ENDPOINT_BYTES], memory[KB_ENDPOINT_BYTES], line[PLACE_BYTES];
};

static void keep(void *arg, const kb_race *race)
{
    struct races *r = arg;
    kb_race *moved = r->race;

    if (r->n == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 64;
        moved = realloc(r->race, r->cap * sizeof *moved);
    }
    r->no_memory = r->no_memory || !moved;
    if (!moved)
        return;
    r->race = moved;
    r->race[r->n++] = *race;
}

/* Races are numbered from 1; each has a row for its first access and one for its second. */
static bool race_row(void *arg, uint64_t i, struct cell *cells)
{
    struct races *r = arg;
    const kb_race *race = &r->race[i / 2];
    const kb_race_access *x = i % 2 ? &race->second : &race->first;
    const char *slash = strrchr(x->file, '/');

    snprintf(r->line, sizeof r->line, "%s:%d", slash ? slash + 1 : x->file, x->line);
    kb_endpoint_name(&race->memory, r->memory);
    cells[0] = cell_count(i / 2 + 1);
    cells[1] = cell_text(x->kernel);
    cells[2] = cell_text(cmd_name_pe(r->cli, x->pe, r->pe));
    cells[3] = cell_text(x->call);
    cells[4] = cell_text(r->line);
    cells[5] = cell_ns(x->issue_fs);
    cells[6] = x->op_id == KB_NO_ID ? cell_none() : cell_count(x->op_id);
    cells[7] = cell_text(x->atomic ? "atomic" : x->writes ? "write" : "read");
    cells[8] = cell_text(r->memory);
    cells[9] = cell_count(race->offset);
    cells[10] = cell_count(race->nbytes);
    cells[11] = cell_count(race->address);
    cells[12] = cell_count(race->count);
    return true;
}

enum exit_code races_begin(const struct cli *cli, kb_sim *sim)
{
    kb_error why = {""};
    kb_status status = cli->opts.race ? kb_sim_check_races(sim, &why) : KB_OK;

    return status ? cmd_fail(cli, status, &why) : EXIT_OK;
}

enum exit_code races_print(const struct cli *cli, const kb_sim *sim, struct sink *s)
{
    struct races r = {.cli = cli};
    struct rows rows = {.columns = columns,
                        .n_columns = sizeof columns / sizeof *columns,
                        .row = race_row,
                        .arg = &r};
    kb_status status = kb_sim_races(sim, keep, &r);

    status = r.no_memory ? KB_NO_MEMORY : status;
    rows.n_rows = 2 * r.n;
    if (!status)
        cmd_write_as(cli, "races", &rows, s);
    free(r.race);
    return status ? cmd_fail(cli, status, NULL) : EXIT_OK;
}

enum exit_code races_say(const struct cli *cli, const kb_sim *sim, enum exit_code code)
{
    const struct opts *o = &cli->opts;
    kb_race_counts checked;

    if (!o->race || kb_sim_race_counts(sim, &checked) != KB_OK)
        return code;
    if (checked.races)
        return cmd_say(cli, EXIT_DIFFERENT, "%llu race%s: %llu accesses of %u PEs checked",
                       (unsigned long long)checked.races, checked.races == 1 ? "" : "s",
                       (unsigned long long)checked.accesses, checked.pes);
    if (!o->quiet && !o->fingerprint)
        cmd_note(cli, "no races: %llu accesses of %u PEs checked",
                 (unsigned long long)checked.accesses, checked.pes);
    return code;
}
