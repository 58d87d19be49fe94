/* visits.h -- sums of a breakdown, made of the visits of stations. */
#ifndef VISITS_H
#define VISITS_H
#include "engine/observer.h"
#include "explain/sums.h"
#include "explain/visitors.h"
#include "explain/ways.h"

struct visits {
    struct ways ways;
    struct visitors *links, *memories; /* owned */
    int64_t *spent_fs;                 /* owned; [slot] at stations, but its channel */
    uint32_t n_slots;
    struct sums *sums; /* borrowed: of waits */
};

/* False: no memory; visits_free() frees the rest. */
bool visits_make(struct visits *v, const struct kb_sim *s, struct sums *sums);
void visits_free(struct visits *v);

/* As struct observer has them; spans.visits points to what they change. */
void visits_visit(struct kb_sim *s, const struct visit *visit);
void visits_visited(struct kb_sim *s, uint64_t end, uint32_t slot);

/* Adds the time of all ways to `all`. */
void visits_sum(const struct visits *v, struct sums *all);

#endif
