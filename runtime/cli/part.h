/* part.h -- the file of a part of --shard: a line before its rows, and one behind them. */
#ifndef PART_H
#define PART_H
#include "cli/command.h"

enum { PART_LINE_BYTES = PROVENANCE_BYTES + 64 };

/* "# kernbench part 3 of 8: RECORD"; "# end of part 3 of 8": with their ends of lines. */
void part_first_line(uint64_t i, uint64_t n, const struct provenance *of,
                     char line[PART_LINE_BYTES]);
void part_last_line(uint64_t i, uint64_t n, char line[PART_LINE_BYTES]);

/* What the first line says; false: it is none. `line` has no end of line. */
bool part_read(const char *line, uint64_t *i, uint64_t *n, struct provenance *of);

/* Write these lines, if the command does a part. */
void part_begin(const struct cli *cli, struct sink *s);
void part_end(const struct cli *cli, struct sink *s);

/* The line behind the first, in a part whose rows have keys alone: no machine told the columns. */
void part_bare(struct sink *s);
bool part_is_bare(const char *line);

#endif
