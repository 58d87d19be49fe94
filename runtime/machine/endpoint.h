/* endpoint.h -- endpoints, checked and packed into 32 bits for the engines. */
#ifndef ENDPOINT_H
#define ENDPOINT_H
#include "machine/tables.h"

/* Fills `why`, which may be NULL. Always KB_BAD_REQUEST. */
__attribute__((cold, format(printf, 2, 3))) kb_status endpoint_error(kb_error *why, const char *fmt,
                                                                     ...);

/* The endpoint of a packed source (a PE, or the host of a chiplet), and of a packed memory. */
struct kb_endpoint endpoint_unpack_source(const struct kb_topology *t, uint32_t packed,
                                          bool of_host, uint32_t chiplet);
struct kb_endpoint endpoint_unpack_memory(const struct kb_topology *t, uint32_t packed);

/* Packs `end` as a source or as a memory. False, and the reason in `why`, if there is none such. */
bool endpoint_pack(const struct kb_topology *t, const kb_endpoint *end, uint32_t *packed,
                   kb_error *why);
/* The name of an area (machine/address.h): "c0.sram"; "c0.slice*", where slices are interleaved. */
void endpoint_area_name(const struct kb_topology *t, uint32_t area, char name[KB_ENDPOINT_BYTES]);

static inline kb_status endpoint_check_host_route(const kb_endpoint *src, const kb_endpoint *dst,
                                                  kb_error *why)
{
    if (src->kind != KB_HOST)
        return endpoint_error(why, "h2d and d2h start at a host");
    if (dst->kind != KB_SLICE)
        return endpoint_error(why, "a host reaches slices only");
    if (src->sip != dst->sip)
        return endpoint_error(why, "a host reaches the slices of its own SIP only");
    return KB_OK;
}

static inline kb_status endpoint_check_pe_route(const kb_endpoint *src, const kb_endpoint *dst,
                                                kb_error *why)
{
    if (src->kind != KB_PE)
        return endpoint_error(why, "read and write start at a PE");
    if (dst->kind == KB_PE || dst->kind == KB_HOST)
        return endpoint_error(why, "a PE reaches memories only: slices, SRAMs, other PEs' TCMs");
    if (dst->kind == KB_TCM && dst->sip == src->sip && dst->cube == src->cube &&
        dst->unit == src->unit)
        return endpoint_error(why, "a PE has no route to its own TCM");
    return KB_OK;
}

/* Is there such an operation? May it go from `src` to `dst`, which exist? Else KB_BAD_REQUEST. */
static inline kb_status endpoint_check_op(kb_transaction_op op, kb_error *why)
{
    return (unsigned)op <= KB_D2H ? KB_OK
                                  : endpoint_error(why, "there is no operation %d", (int)op);
}

static inline kb_status endpoint_check_route(kb_transaction_op op, const kb_endpoint *src,
                                             const kb_endpoint *dst, kb_error *why)
{
    return op >= KB_H2D ? endpoint_check_host_route(src, dst, why)
                        : endpoint_check_pe_route(src, dst, why);
}

/* Checks that `op` may go from `src` to `dst`, and packs both (cost.h). */
kb_status endpoint_pack_route(const struct kb_topology *t, kb_transaction_op op,
                              const kb_endpoint *src, const kb_endpoint *dst, uint32_t packed[2],
                              kb_error *why);

/* The plane of `op`, as sip.plane says, for a transaction with that id; column: as op. */
uint32_t endpoint_plane(const struct kb_topology *t, kb_transaction_op op, uint64_t id);

/* The course (paths.h) of a part of a transaction between packed ends, no multicast. */
uint32_t endpoint_course(const struct kb_topology *t, kb_transaction_op op, uint32_t src,
                         uint32_t dst, uint64_t id, uint64_t part);

/* The trip of `op` between packed ends on `plane`. KB_BAD_REQUEST: there is no way. */
kb_status endpoint_trip(const struct kb_topology *t, kb_transaction_op op, const kb_endpoint *src,
                        const uint32_t packed[2], uint32_t plane, struct trip *trip, kb_error *why);

/* The first line of a public call: leaves it if an argument is NULL; `names` are those of all. */
#define REFUSE_NULL(all, names, why)                                                               \
    do {                                                                                           \
        if (!(all))                                                                                \
            return endpoint_error(why, "an argument must not be NULL: %s", names);                 \
    } while (0)

#endif
