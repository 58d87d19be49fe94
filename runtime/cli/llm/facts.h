/* facts.h -- the models that are shipped, or the one that was named. */
#ifndef FACTS_H
#define FACTS_H
#include "cli/command.h"

/* Prints a row for each. kv: type of keys and values; KB_DEFAULT: that of the model. */
enum exit_code print_facts(const struct cli *cli, kb_dtype kv);

#endif
