/*
 * part.c -- the file of a part of --shard: a line before its rows, and one behind them.
 *
 * The first says what the rows are made of, so that merge joins only what belongs together; the
 * last shows that nothing was lost when the file was copied. Both go when the parts are joined. If
 * all machines of a part have failed, no other columns than its keys are known there, which a line
 * says; merge adds the empty cells.
 */
#include "cli/part.h"
#include <stdio.h>
#include <string.h>

void part_first_line(uint64_t i, uint64_t n, const struct provenance *of,
                     char line[PART_LINE_BYTES])
{
    char text[PROVENANCE_BYTES];

    provenance_write(of, text);
    snprintf(line, PART_LINE_BYTES, "# kernbench part %llu of %llu: %s\n", (unsigned long long)i,
             (unsigned long long)n, text);
}

void part_last_line(uint64_t i, uint64_t n, char line[PART_LINE_BYTES])
{
    snprintf(line, PART_LINE_BYTES, "# end of part %llu of %llu\n", (unsigned long long)i,
             (unsigned long long)n);
}

bool part_read(const char *line, uint64_t *i, uint64_t *n, struct provenance *of)
{
    unsigned long long part, parts;
    int at = 0;

    if (sscanf(line, "# kernbench part %llu of %llu: %n", &part, &parts, &at) != 2 || !at)
        return false;
    *i = part;
    *n = parts;
    return provenance_read(line + at, of);
}

void part_begin(const struct cli *cli, struct sink *s)
{
    char line[PART_LINE_BYTES];

    if (!cli->opts.shard.n)
        return;
    part_first_line(cli->opts.shard.i, cli->opts.shard.n, &cli->sources, line);
    sink_text(s, line);
}

static const char bare[] = "# all machines of this part failed: rows have their keys alone\n";

void part_bare(struct sink *s)
{
    sink_text(s, bare);
}

bool part_is_bare(const char *line)
{
    return strcmp(line, bare) == 0;
}

void part_end(const struct cli *cli, struct sink *s)
{
    char line[PART_LINE_BYTES];

    if (!cli->opts.shard.n)
        return;
    part_last_line(cli->opts.shard.i, cli->opts.shard.n, line);
    sink_text(s, line);
}
