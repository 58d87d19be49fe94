/* divide.h -- the ways to divide ranks: over what a layer, layers, experts and requests are cut. */
#ifndef DIVIDE_H
#define DIVIDE_H
#include "cli/llm/llm_asked.h"

struct division {
    int64_t tp, pp, ep, dp;
};

/*
 * All divisions of the units of the machine among tp, pp and dp, each with all numbers of ep, that
 * the model and `requests` can be cut into; those that options name are as they say. *out is owned
 * by the caller; the largest tp first.
 */
size_t divisions_of(const struct llm *l, int64_t requests, struct division **out);

#endif
