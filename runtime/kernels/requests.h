/* requests.h -- the calls by which PEs give work to the engine. */
#ifndef REQUESTS_H
#define REQUESTS_H
#include "engine/txn.h"
#include "kernels/unit.h"

struct kb_sim;
struct link_station;

/* Is it a plain run: fused, nothing counted or watched, no routers, and no memory that chooses? */
KERNELS_OWN bool engine_is_plain(const struct kb_sim *s);
/* A command's transaction joins its channel at once. */
KERNELS_OWN void engine_issue(struct kb_sim *s, uint64_t t, uint32_t slot);
/* A tile's joins its channel, or a stage comes to its port or engine, by an event of its own. */
KERNELS_OWN void engine_arrive(struct kb_sim *s, uint64_t t, enum txn_stage stage, uint32_t slot);
/* A stage comes to its port or engine now, as nothing else may come to it at this instant. */
KERNELS_OWN void engine_come_inside(struct kb_sim *s, uint64_t t, uint32_t slot);
/* The same without a slot: takes the port for `hold_fs`, and returns when it begins. */
KERNELS_OWN uint64_t engine_pass_inside(struct kb_sim *s, uint64_t t, struct link_station *port,
                                        int64_t hold_fs);
/* A word (a credit, or the release of a barrier) sets out at `t`. */
KERNELS_OWN void engine_send_word(struct kb_sim *s, uint64_t t, int64_t way_fs, uint32_t slot);
/* Ends the run. */
KERNELS_OWN void engine_fail(struct kb_sim *s, kb_status status);

#endif
