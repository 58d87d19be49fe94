/* flights.h -- what is in flight, and its slices. */
#ifndef FLIGHTS_H
#define FLIGHTS_H
#include "cli/trace/timeline.h"

/*
 * Keys of flights: a command and a PE's kernel are flights, too. A transaction's key is its id, and
 * the parts of one that is split, up to 2^20, have flights of their own. Each kind has a bit that
 * no other sets.
 */
#define COMMAND_KEY (UINT64_C(1) << 61) /* and its id */
#define KERNEL_KEY  (UINT64_C(1) << 62) /* and the number of its PE */
#define BUS_KEY     (UINT64_C(1) << 63) /* and the place: of a channel with banks */

static inline uint64_t flight_key(uint32_t id, uint32_t part)
{
    return id | (uint64_t)(part & 0xfffff) << 32;
}

/* The flight with this key; a new one if there is none. */
struct flight *flight_get(struct trace *t, uint64_t key);

/* `f` ends when its last slice does, now if it has none; it is freed then. */
void flight_end(struct trace *t, struct flight *f);

/* Ends the flight with this key, if there is one, and its only slice. */
void flight_end_only(struct trace *t, uint64_t key, int64_t fs);

/* A new slice of `f` on `lane`. The caller fills it in, and has it written by slice_begin(). */
struct slice *slice_add(struct trace *t, struct flight *f, struct component *c, struct lane *lane,
                        int64_t begin_fs);
void slice_begin(struct trace *t, struct slice *s);
void slice_end(struct trace *t, struct flight *f, struct slice *s, int64_t fs);

/* The flow of a command, or of its tile `token`; 0 without a command. */
uint64_t flight_command_flow(uint32_t command, uint32_t token);

/* A transaction or stage begins and ends a span: a wait, or a part of its way. */
void flight_open(struct trace *t, const kb_span *span);
void flight_close(struct trace *t, const kb_span *span);

/* A station begins and ends to serve it. */
void flight_take(struct trace *t, const kb_service *service);
void flight_release(struct trace *t, const kb_service *service);

#endif
