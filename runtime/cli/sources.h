/* sources.h -- what a command's results are made of: the record that they are kept with. */
#ifndef SOURCES_H
#define SOURCES_H
#include "base/provenance.h"
#include "cli/command.h"

/* All of it, for the results of this command line; EXIT_SYSTEM after a message: a file cannot be
 * read. */
enum exit_code sources_of(const struct cli *cli, struct provenance *p);

/* The parts by themselves: of a machine; and of a command, its line, its files, and this program,
 * which messages call `name`. */
void sources_of_machine(struct provenance *p, const kb_topology *topo);
enum exit_code sources_of_command(struct provenance *p, const struct opts *o, const char *name);

#endif
