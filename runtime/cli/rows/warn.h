/* warn.h -- warnings about results that may mislead. */
#ifndef WARN_H
#define WARN_H
#include "kernbench.h"

struct cli;

enum { WARNING_BYTES = 512 };

/* Says in `text` whether ideal links carried more than their bandwidth (docs/model.md "Links"): ""
 * if none did. It is returned. */
const char *warn_of_ideal_links(const struct cli *cli, const kb_sim *sim, char text[WARNING_BYTES]);

/* A bench that moved nothing, PEs that a launch reached and that did nothing, lost messages. */
void warn_of_kernels(const struct cli *cli, const kb_sim *sim, const char *bench);

/* Slices that traffic aims at, and that it has reached; give it back with warn_aim_free(). */
struct warn_aim {
    const kb_topology *topo;
    uint32_t n;           /* slices, over all SIPs and cubes */
    bool *aimed, *served; /* [slice]; owned */
};

void warn_aim_new(struct warn_aim *aim, const struct cli *cli, const kb_traffic *traffic);
void warn_aim_free(struct warn_aim *aim);

/* For every component of a simulation: adds the slices that it has served; warn_aim_clear() forgets
 * all of them. */
void warn_aim_add(void *aim, const kb_utilization *use);
void warn_aim_clear(struct warn_aim *aim);

/* Slices that saw nothing. */
struct warn_missed {
    uint32_t n, aimed;
    uint32_t first;
};

struct warn_missed warn_aim_missed(const struct warn_aim *aim);

/* Says so of the rate that is written `rate`. */
void warn_of_missed(const struct cli *cli, const char *rate, const struct warn_missed *missed);

/* Says which term makes the result of transaction `id` inconsistent. */
void warn_term(uint64_t id, const kb_result *r, kb_error *why);

#endif
