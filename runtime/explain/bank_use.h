/* bank_use.h -- how much the channels of a slice with banks were used. */
#ifndef BANK_USE_H
#define BANK_USE_H
#include "network/banks_state.h"

/*
 * Calls `each` for the slice, whose row is filled in as far as any memory's, and for its channels
 * that have served something. `until_fs`: the end of the run, or later if a bus was used later.
 */
void bank_use_each(const struct kb_sim *s, const struct bank_slice *slice, kb_utilization *use,
                   uint64_t now_fs, void (*each)(void *arg, kb_utilization *use, uint64_t until_fs),
                   void *arg);

#endif
