/* delivery.h -- bytes of a transaction that come to its memory at once: all of them, or behind
 * routers a packet of a write, or a read.
 */
#ifndef DELIVERY_H
#define DELIVERY_H
#include <stdint.h>

#define NO_PARCEL UINT32_MAX

struct delivery {
    uint64_t from, nbytes;
    uint32_t number; /* of its packet */
    uint32_t parcel; /* what keeps its room there; NO_PARCEL: there is no limit */
};

#endif
