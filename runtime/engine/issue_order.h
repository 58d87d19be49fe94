/* issue_order.h -- brings transactions that were added in any order into that of their issue. */
#ifndef ISSUE_ORDER_H
#define ISSUE_ORDER_H
#include "engine/state.h"

/* Sets s->order: all rows that wait for no others, in order of (issue, id). False: no memory. */
bool sort_issues(struct kb_sim *s);

#endif
