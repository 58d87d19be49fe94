/* study_search.h -- the search of a study for its Pareto front. */
#ifndef STUDY_SEARCH_H
#define STUDY_SEARCH_H
#include "cli/study/study_results.h"

/* The points to begin with, in place of all combinations, if the study has a search. */
void study_search_begin(struct study *s);

/* Adds the points to run next, behind those that have run. False: there are none. */
bool study_search_next(struct study *s, const struct study_results *results);

#endif
