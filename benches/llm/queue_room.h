/* queue_room.h -- can PEs of a machine send each other messages at all? */
#ifndef QUEUE_ROOM_H
#define QUEUE_ROOM_H
#include "kernbench.h"
#include <stdio.h>

enum { QUEUE_TEXT_BYTES = 192 };

/* The memory where the queues to PE 0 lie. */
static inline kb_endpoint queue_memory(const kb_topology *topo, kb_endpoint_kind kind)
{
    kb_endpoint end = {0};

    if (kind == KB_SLICE) {
        kb_pe_slice(topo, 0, &end);
        return end;
    }
    kb_pe_get(topo, 0, &end);
    end.kind = kind;
    end.unit = kind == KB_SRAM ? 0 : end.unit;
    return end;
}

/* Whether one queue fits into the memory of its slots; if not, `text` says what does not. A machine
 * of one PE needs none. */
static inline bool queue_has_room(const kb_topology *topo, char text[QUEUE_TEXT_BYTES])
{
    static const char *const names[] = {[KB_SLICE] = "slice", [KB_SRAM] = "SRAM", [KB_TCM] = "TCM"};
    kb_limits limits;
    uint64_t queue, has;

    kb_topology_limits(topo, &limits);
    kb_endpoint memory = queue_memory(topo, limits.queue_memory);
    queue = (uint64_t)limits.queue_slots * limits.queue_slot_bytes;
    has = kb_memory_bytes(topo, &memory);
    snprintf(text, QUEUE_TEXT_BYTES,
             "needs queues between PEs: 'cube.pe.pe_ipcq' has %u slots of %u bytes, more than the "
             "%llu bytes of a %s",
             limits.queue_slots, limits.queue_slot_bytes, (unsigned long long)has,
             names[limits.queue_memory]);
    return queue <= has || kb_pe_count(topo) <= 1;
}

#endif
