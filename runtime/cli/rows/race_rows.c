/*
 * race_rows.c -- `run --race`: data races, instead of rows of launches.
 *
 * A data race is a pair of accesses to the same bytes, at least one of them a write, that nothing
 * orders: the result may depend on timing. Each race has two rows with the same number, one for
 * each access, in the order in which they were issued. The same two lines of code count as one
 * race, however often they meet; `count` tells how often.
 *
 * A run without races has no rows, and a line on stderr: "no races: 384 accesses of 64 PEs
 * checked" for `run softmax M=64 N=256 --race` on cube8. A run with races ends with exit 1, after
 * all rows. So does one with accesses that reach from one tensor into another: each line of a
 * kernel that does so has a line on stderr. What counts as ordered: docs/kernels.md "Races"; how it
 * is found: record/race.c.
 */
#include "cli/rows/race_rows.h"
#include "cli/out/memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACE_BYTES = 512 };

/* One row: one of the two accesses of a race. */
struct race_row {
    uint64_t number;
    kb_race race;
    kb_race_access access;
    char pe[KB_ENDPOINT_BYTES], memory[KB_ENDPOINT_BYTES], line[PLACE_BYTES];
    struct cell op_id;
    const char *kind;
};

static const struct column columns[] = {
    COLUMN("race", CELL_COUNT, struct race_row, number),
    COLUMN("kernel", CELL_TEXT, struct race_row, access.kernel),
    COLUMN("pe", CELL_TEXT, struct race_row, pe),
    COLUMN("call", CELL_TEXT, struct race_row, access.call),
    COLUMN("line", CELL_TEXT, struct race_row, line),
    COLUMN("issue_ns", CELL_NS, struct race_row, access.issue_fs),
    COLUMN("op_id", CELL_COUNT, struct race_row, op_id),
    COLUMN("access", CELL_TEXT, struct race_row, kind),
    COLUMN("memory", CELL_TEXT, struct race_row, memory),
    COLUMN("offset", CELL_COUNT, struct race_row, race.offset),
    COLUMN("nbytes", CELL_COUNT, struct race_row, race.nbytes),
    COLUMN("address", CELL_COUNT, struct race_row, race.address),
    COLUMN("count", CELL_COUNT, struct race_row, race.count),
};

enum { N_COLUMNS = sizeof columns / sizeof *columns };

struct races {
    const struct cli *cli;
    kb_race *race; /* owned */
    size_t n, cap;
    struct race_row shown; /* being printed */
};

static void keep(void *arg, const kb_race *race)
{
    struct races *r = arg;

    r->race = memory_room(r->race, r->n, &r->cap, sizeof *r->race);
    r->race[r->n++] = *race;
}

/* Two atomics do not race; these are such that the result depends on which is first. */
static bool is_of_order(const kb_race *race)
{
    return race->first.atomic && race->second.atomic;
}

/* Races are numbered from 1; each has a row for its first access and one for its second. */
static bool race_row(void *arg, uint64_t i, struct cell *cells)
{
    struct races *r = arg;
    struct race_row *row = &r->shown;
    const kb_race_access *access = &row->access;

    row->number = i / 2 + 1;
    row->race = r->race[i / 2];
    row->access = i % 2 ? row->race.second : row->race.first;
    const char *slash = strrchr(access->file, '/');
    snprintf(row->line, sizeof row->line, "%s:%d", slash ? slash + 1 : access->file, access->line);
    kb_endpoint_name(&row->race.memory, row->memory);
    cmd_name_pe(r->cli, access->pe, row->pe);
    row->op_id = access->op_id == KB_NO_ID ? cell_none() : cell_count(access->op_id);
    if (is_of_order(&row->race))
        row->kind = "order";
    else
        row->kind = access->atomic ? "atomic" : access->writes ? "write" : "read";
    record_cells(columns, N_COLUMNS, row, cells);
    return true;
}

enum exit_code race_rows_begin(const struct cli *cli, kb_sim *sim)
{
    kb_error why = {""};
    kb_status status = cli->opts.race ? kb_sim_check_races(sim, &why) : KB_OK;

    return status ? cmd_fail(cli, status, &why) : EXIT_OK;
}

enum exit_code race_rows_print(const struct cli *cli, const kb_sim *sim, struct sink *s)
{
    struct races r = {.cli = cli};
    struct rows rows = {ROWS_COLUMNS(columns), .row = race_row, .arg = &r};
    kb_status status = kb_sim_races(sim, keep, &r);

    rows.n_rows = 2 * r.n;
    if (!status)
        cmd_write_as(cli, "races", &rows, s);
    free(r.race);
    return status ? cmd_fail(cli, status, NULL) : EXIT_OK;
}

static void count_order(void *arg, const kb_race *race)
{
    *(uint64_t *)arg += is_of_order(race);
}

/* What is told on stderr, line by line. */
struct saying {
    const struct cli *cli;
    enum exit_code code;
};

static void say_beyond(void *arg, const kb_beyond *beyond)
{
    struct saying *s = arg;
    const kb_race_access *access = &beyond->access;
    const char *slash = strrchr(access->file, '/');
    char pe[KB_ENDPOINT_BYTES], memory[KB_ENDPOINT_BYTES];

    kb_endpoint_name(&beyond->memory, memory);
    s->code = cmd_say(s->cli, EXIT_DIFFERENT,
                      "out of bounds: kernel %s, %s, %s:%d: %s %s %llu byte%s beyond the end of "
                      "tensor '%.64s', %s offset %llu, into '%.64s' (%llu access%s)",
                      access->kernel, cmd_name_pe(s->cli, access->pe, pe),
                      slash ? slash + 1 : access->file, access->line, access->call,
                      access->writes ? "writes" : "reads", (unsigned long long)beyond->nbytes,
                      beyond->nbytes == 1 ? "" : "s", kb_tensor_name(beyond->tensor), memory,
                      (unsigned long long)beyond->offset, kb_tensor_name(beyond->next),
                      (unsigned long long)beyond->count, beyond->count == 1 ? "" : "es");
}

enum exit_code race_rows_say(const struct cli *cli, const kb_sim *sim, enum exit_code code)
{
    const struct opts *o = &cli->opts;
    struct saying saying = {cli, code};
    kb_race_counts checked;
    uint64_t orders = 0;

    if (!o->race || kb_sim_race_counts(sim, &checked) != KB_OK ||
        kb_sim_races(sim, count_order, &orders) != KB_OK ||
        kb_sim_beyond(sim, say_beyond, &saying) != KB_OK)
        return code;
    checked.races -= orders;
    if (checked.races)
        return cmd_say(cli, EXIT_DIFFERENT, "%llu race%s: %llu accesses of %u PEs checked",
                       (unsigned long long)checked.races, checked.races == 1 ? "" : "s",
                       (unsigned long long)checked.accesses, checked.pes);
    if (!o->quiet && !o->fingerprint)
        cmd_note(cli, "no races%s: %llu accesses of %u PEs checked",
                 orders ? ", but results that depend on the order of atomics" : "",
                 (unsigned long long)checked.accesses, checked.pes);
    return saying.code;
}
