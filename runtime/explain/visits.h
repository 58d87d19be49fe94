/* visits.h -- a breakdown made of the visits of stations: sums, and pieces of kernels' stages. */
#ifndef VISITS_H
#define VISITS_H
#include "engine/observer.h"
#include "explain/sums.h"
#include "explain/visitors.h"
#include "explain/ways.h"

struct stage_visits;

struct visits {
    struct ways ways;
    struct visitors *links, *memories; /* owned */
    int64_t *spent_fs;                 /* owned; [slot] at stations, but its channel */
    uint32_t n_slots;
    /* Of kernels: owned; channels, and [pe * N_PORTS + port]; NULL: none was visited. */
    struct visitors *channels, *ports;
    struct stage_visits *stages; /* owned; [slot] */
    uint32_t n_channels, n_ports, n_stages;
    struct sums *sums; /* borrowed: of waits */
};

/* False: no memory; visits_free() frees the rest. */
bool visits_make(struct visits *v, const struct kb_sim *s, struct sums *sums);
void visits_free(struct visits *v);

/* As struct observer has them; spans.visits points to what they change. */
void visits_visit(struct kb_sim *s, const struct visit *visit);
void visits_split(struct kb_sim *s, uint32_t whole, uint32_t part);
void visits_visited(struct kb_sim *s, uint64_t end, uint32_t slot);

/*
 * The visit that has the station `at` as this one arrives there; its source KB_NOWHERE: the station
 * is free. This one joins.
 */
struct visitor visits_join(struct visits *v, struct visitors *at, const struct visit *visit,
                           const struct txn *x);

/*
 * The stays at a memory that serves in order. What of a service is more than the drain of the way
 * is overhead; a component may take less.
 */
struct stays visits_in_order(const struct visit *visit);

/* -- stages.c: kernels ---------------------------------------------------------------------- */

/* As visits_visit(); and as struct observer has it. */
void stages_visit(struct kb_sim *s, struct visits *v, const struct visit *visit);
void stages_leave(struct kb_sim *s, uint64_t t, uint32_t slot);

void stages_free(struct visits *v);

/* Adds the time of all ways to `all`. */
void visits_sum(const struct visits *v, struct sums *all);

#endif
