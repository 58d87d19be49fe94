/* how.h -- how a run is compiled, and what every step uses: events, failure, counting.
 *
 * A step is one source for several loops. Each takes `how`, a constant at every place where speed
 * matters, so that the compiler keeps only the branches that this loop needs: that of plain replays
 * contains no test for a fingerprint or a kernel. ALWAYS_INLINE is what makes `how` constant: left
 * to itself gcc made one function that asks at every step, which took 62 ns per transaction instead
 * of 55.
 */
#ifndef HOW_H
#define HOW_H
#include "engine/engine.h"
#include "engine/observer.h"
#include "engine/split.h"
#ifndef CALLS_KERNELS /* kernels/hooks.h defines these calls itself */
#include "engine/no_kernels.h"
#endif

#define ALWAYS_INLINE inline __attribute__((always_inline))

enum how {
    HOW_HOP = 1,     /* engine/hop.c: an event for each node and wire, and observers hear of it */
    HOW_COUNTED = 2, /* arrivals and completions are counted, and go into the fingerprint */
    HOW_KERNELS = 4, /* transactions come from kernels, and share slots with their stages */
};

/* `delay_fs` after `t`, but never past EV_PAST: sums cannot wrap. */
static inline uint64_t after(uint64_t t, int64_t delay_fs)
{
    uint64_t sum = t + (uint64_t)delay_fs;

    return sum < EV_PAST ? sum : EV_PAST;
}

/* Ends the run: no time is left in which an event might lie. */
static void fail(struct kb_sim *s, kb_status status)
{
    s->status = status;
    s->stop_fs = 0;
}

/* The event in the row of `slot`, which has none. Without memory the run ends. */
static ALWAYS_INLINE void post(struct kb_sim *s, uint64_t t, enum ev_class class, uint32_t slot)
{
    if (!calendar_post(&s->calendar, s->txns, slot, t < EV_PAST ? t : EV_PAST, class))
        fail(s, KB_NO_MEMORY);
}

/* Any other event. */
static inline void post_else(struct kb_sim *s, ev e)
{
    if (!ev_push(&s->queue, e))
        fail(s, KB_NO_MEMORY);
}

/* Behind routers the data of the read in `slot` are those at `t`; its row has the event of its
 * end. */
static inline void post_data(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    post_else(s, ev_make(t, EV_DONE, s->txns[slot].id, slot));
}

/*
 * When a transaction sets out whose PE has given it a channel at `t`: issue_ns behind the one
 * before of that PE and direction, whichever channel that has. The row of those that set out is
 * that of their grants.
 */
static ALWAYS_INLINE uint64_t take_pace(struct kb_sim *s, const struct txn *x, uint64_t t)
{
    uint64_t *pace;

    if (__builtin_expect(!s->paces, true))
        return t;
    pace = &s->paces[2 * (size_t)x->src + txn_writes(x)];
    t = *pace > t ? *pace : t;
    *pace = after(t, kind_at(s->topo, src_cube(s->topo, x->src))->issue_fs);
    return t;
}

/*
 * FNV-1a 64 over (int64 time, uint8 class, uint64 id), little endian: docs/model.md "Order of
 * events". A byte of 0 only multiplies, so the upper bytes of what is small are one product: two of
 * the time, five of the id.
 */
static void fingerprint(struct kb_sim *s, uint64_t t, enum ev_class class, uint64_t id)
{
    const uint64_t prime = UINT64_C(0x100000001b3), two = prime * prime, five = two * two * prime;
    bool small_time = t >> 48 == 0, small_id = id >> 24 == 0;
    uint64_t h = s->fingerprint;

    for (int i = 0; i < (small_time ? 48 : 64); i += 8)
        h = (h ^ (t >> i & 255)) * prime;
    h = ((small_time ? h * two : h) ^ class) * prime;
    for (int i = 0; i < (small_id ? 24 : 64); i += 8)
        h = (h ^ (id >> i & 255)) * prime;
    s->fingerprint = small_id ? h * five : h;
}

static ALWAYS_INLINE void seen(struct kb_sim *s, int how, uint64_t t, enum ev_class class,
                               uint64_t id)
{
    if (!(how & HOW_COUNTED))
        return;
    s->n_events++;
    s->now_fs = t;
    if (s->options.fingerprint)
        fingerprint(s, t, class, id);
}

/* Have there been as many events as the options allow? */
static ALWAYS_INLINE bool sim_has_counted_all(const struct kb_sim *s)
{
    return s->options.max_events && s->n_events >= s->options.max_events;
}

/* Does an observer hear of this step? */
static ALWAYS_INLINE bool is_told(const struct kb_sim *s, int how)
{
    return how & HOW_HOP && s->observer;
}

/*
 * Kernels use slots again, so statistics of a transaction are counted as soon as they are known;
 * traffic counts them at the transaction's end. Where every transaction keeps its slot
 * kb_sim_utilization() derives them from the times, and the run counts nothing.
 */
static ALWAYS_INLINE bool counts_now(int how)
{
    return STATS && how & HOW_KERNELS;
}

#endif
