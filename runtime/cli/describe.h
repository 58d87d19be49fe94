/* describe.h -- what a simulator takes, as help.h wants to know it. */
#ifndef DESCRIBE_H
#define DESCRIBE_H
#include "kernbench.h"
#include "base/help.h"

struct described {
    struct help help;
    const kb_topology *topo;
    const kb_info *info;
    char summary[160];
};

/* Fills `d`, which borrows topology and info. */
void describe(struct described *d, const kb_topology *topo, const kb_info *info);

#endif
