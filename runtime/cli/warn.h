/* warn.h -- what stderr says about a result that is not what it seems. */
#ifndef WARN_H
#define WARN_H
#include "cmd.h"

/* design 3.1: ideal links are no stations, so nothing else would tell that they were too few. */
void warn_of_ideal_links(const struct cli *cli, const kb_sim *sim);

#endif
