/* destination.c -- global addresses as targets: what lies there, and in how many parts. */
#include "sim/destination.h"
#include "engine/split.h"
#include "machine/endpoint.h"

typedef unsigned long long ull;

/* Of interleaved addresses. */
static uint64_t count_parts(const struct kb_topology *t, uint64_t address, uint64_t nbytes,
                            kb_error *why)
{
    struct address_range range;
    bool there = address_range(t, address, nbytes, &range);
    uint64_t n = there ? split_count(t, range) : 0;

    if (n > SPLIT_PARTS_MAX)
        endpoint_error(why, "0x%llx + %llu bytes have more than %d parts", (ull)address,
                       (ull)nbytes, SPLIT_PARTS_MAX);
    if (!there)
        endpoint_error(why, "0x%llx + %llu bytes pass the end of the addresses of the %s",
                       (ull)address, (ull)nbytes, t->address_over == OVER_SIP ? "SIP" : "cube");
    return n > SPLIT_PARTS_MAX ? 0 : n;
}

/* In one memory, from byte `offset` of it on. */
static bool fits(const struct kb_topology *t, const kb_endpoint *memory, uint64_t offset,
                 uint64_t nbytes, kb_error *why)
{
    uint64_t size = kb_memory_bytes(t, memory);
    char name[KB_ENDPOINT_BYTES];

    if (nbytes <= size - offset)
        return true;
    kb_endpoint_name(memory, name);
    endpoint_error(why, "offset %llu + %llu bytes pass the end of %s, which holds %llu",
                   (ull)offset, (ull)nbytes, name, (ull)size);
    return false;
}

uint64_t kb_address_parts(const kb_topology *t, uint64_t address, uint64_t nbytes, kb_error *why)
{
    kb_endpoint memory;
    uint64_t offset;

    if (kb_address_find(t, address, &memory, &offset) != KB_OK) {
        endpoint_error(why, "0x%llx is the address of no byte of this topology", (ull)address);
        return 0;
    }
    if (address_is_interleaved(t, address))
        return count_parts(t, address, nbytes ? nbytes : 1, why);
    return fits(t, &memory, offset, nbytes, why);
}

kb_status destination_find(const struct kb_topology *t, struct destination *to, kb_error *why)
{
    uint64_t n;

    if (!to->by_address)
        return KB_OK;
    n = kb_address_parts(t, to->address, to->nbytes, why);
    if (n == 0)
        return KB_BAD_REQUEST;
    to->interleaved = address_is_interleaved(t, to->address);
    return kb_address_find(t, to->address, &to->dst, &to->offset);
}

kb_status destination_parts(const struct kb_topology *t, const struct txn *of,
                            struct destination *to, kb_error *why)
{
    struct address_range range;
    uint64_t n;

    split_range(t, of, to->interleaved, destination_at(to), &range);
    n = split_count(t, range);
    to->splits = n > 1;
    if (n <= SPLIT_PARTS_MAX)
        return KB_OK;
    return endpoint_error(why, "%llu bytes have more than %d parts, by packets of %llu",
                          (ull)of->nbytes, SPLIT_PARTS_MAX, (ull)range.packet);
}
