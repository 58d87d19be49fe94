/* hold.h -- the floor: what an event queue alone takes to give out an event and take one. */
#ifndef HOLD_H
#define HOLD_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hold_queue { HOLD_HEAP, HOLD_CALENDAR, N_HOLD_QUEUES };

/* uniform: 0..20 ns; model: the delays that routes and drains have, so that many times tie. */
enum hold_delays { HOLD_UNIFORM, HOLD_MODEL, N_HOLD_DELAYS };

extern const char *const hold_queue_names[N_HOLD_QUEUES], *const hold_delays_names[N_HOLD_DELAYS];

/*
 * ns for a push and a pop, with `pending` events in the queue. `*order` becomes a sum over the
 * events in the order they came out: equal for queues that agree. Negative without memory.
 */
double hold_ns(enum hold_queue queue, enum hold_delays delays, size_t pending, uint64_t *order);

#endif
