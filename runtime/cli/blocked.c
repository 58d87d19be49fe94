/* blocked.c -- the report of a deadlock: kernels that wait for ever, instead of rows of launches.
 */
#include "blocked.h"
#include "say.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACE_BYTES = 512 };

static const struct column columns[] = {
    {"pe", CELL_TEXT},       {"kernel", CELL_TEXT}, {"call", CELL_TEXT},      {"line", CELL_TEXT},
    {"since_ns", CELL_NS},   {"lacks", CELL_TEXT},  {"waits_for", CELL_TEXT}, {"tag", CELL_COUNT},
    {"missing", CELL_COUNT}, {"cycle", CELL_COUNT},
};

struct report {
    const struct cli *cli;
    kb_blocked *row; /* owned */
    size_t n, cap;
    bool no_memory;
    char pe[KB_ENDPOINT_BYTES], other[KB_ENDPOINT_BYTES], line[PLACE_BYTES];
};

static void keep(void *arg, const kb_blocked *blocked)
{
    struct report *r = arg;
    kb_blocked *moved = r->row;

    if (r->n == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 64;
        moved = realloc(r->row, r->cap * sizeof *moved);
    }
    r->no_memory = r->no_memory || !moved;
    if (!moved)
        return;
    r->row = moved;
    r->row[r->n++] = *blocked;
}

static const char *name_pe(const struct cli *cli, uint32_t pe, char name[KB_ENDPOINT_BYTES])
{
    uint32_t cube = pe / cli->info.pes_per_cube;
    kb_endpoint end = {KB_PE, cube / cli->info.cubes_per_sip, cube % cli->info.cubes_per_sip,
                       pe % cli->info.pes_per_cube};

    kb_endpoint_name(&end, name);
    return name;
}

static bool blocked_row(void *arg, uint64_t i, struct cell *cells)
{
    struct report *r = arg;
    const kb_blocked *b = &r->row[i];
    const char *slash = strrchr(b->file, '/');

    snprintf(r->line, sizeof r->line, "%s:%d", slash ? slash + 1 : b->file, b->line);
    cells[0] = cell_text(name_pe(r->cli, b->pe, r->pe));
    cells[1] = cell_text(b->kernel);
    cells[2] = cell_text(b->call);
    cells[3] = cell_text(r->line);
    cells[4] = cell_ns(b->since_fs);
    cells[5] = cell_text(b->lacks);
    cells[6] = cell_text(name_pe(r->cli, b->waits_for, r->other));
    cells[7] = b->tag < 0 ? cell_none() : cell_count((uint64_t)b->tag);
    cells[8] = b->tag < 0 ? cell_count(b->n_missing) : cell_none();
    cells[9] = b->cycle ? cell_count(b->cycle) : cell_none();
    return true;
}

enum exit_code blocked_print(const struct cli *cli, const kb_sim *sim, const kb_error *why,
                             struct sink *s)
{
    struct report r = {.cli = cli};
    struct rows rows = {.columns = columns,
                        .n_columns = sizeof columns / sizeof *columns,
                        .row = blocked_row,
                        .arg = &r};
    kb_status status = kb_sim_blocked(sim, keep, &r);

    status = r.no_memory ? KB_NO_MEMORY : status;
    rows.n_rows = r.n;
    if (!status)
        cmd_write_as(cli, "deadlock", &rows, s);
    sink_flush(s);
    free(r.row);
    return status ? cmd_fail(cli, status, NULL) : say(cli->program, EXIT_DEADLOCK, "%s", why->text);
}
