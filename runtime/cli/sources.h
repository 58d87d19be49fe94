/* sources.h -- what a command's results are made of: the record that they are kept with. */
#ifndef SOURCES_H
#define SOURCES_H
#include "base/provenance.h"
#include "cli/command.h"

/* All of it, for the results of this command line. */
struct provenance sources_of(const struct cli *cli);

/* The parts by themselves: of a machine; and of a command: its line, its files, this program. */
void sources_of_machine(struct provenance *p, const kb_topology *topo);
void sources_of_command(struct provenance *p, const struct opts *o);

#endif
