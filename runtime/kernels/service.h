/* service.h -- the one pair of calls around every service, from which the op log is written. */
#ifndef SERVICE_H
#define SERVICE_H
#include "kernels/kernels.h"

/* Writes the record of a service that has ended at `t`. */
KERNELS_OWN void service_record(struct kb_sim *s, const struct work *work, uint64_t t);

static inline void service_begin(struct work *work, uint64_t t)
{
    work->start_fs = (int64_t)t;
}

/* No box of the machine writes records itself: `data_op` says whether a service has one. */
static inline void service_end(struct kb_sim *s, const struct work *work, uint64_t t)
{
    if (s->log && work->data_op)
        service_record(s, work, t);
}

#endif
