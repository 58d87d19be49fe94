/* service.h -- the one pair of calls around every service, from which the op log is written. */
#ifndef HOOK_H
#define HOOK_H
#include "kernels/kernel.h"

/* Writes the record of a service that has ended at `t`.  record.c */
KERNELS_OWN void service_record(struct kb_sim *s, const struct work *w, uint64_t t);

static inline void service_begin(struct work *w, uint64_t t)
{
    w->start_fs = (int64_t)t;
}

/* No component writes records: its message says whether it carries data.        ADR-0020 D2, D4 */
static inline void service_end(struct kb_sim *s, const struct work *w, uint64_t t)
{
    if (s->log && w->data_op)
        service_record(s, w, t);
}

#endif
