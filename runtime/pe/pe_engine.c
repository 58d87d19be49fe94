/* pe_engine.c -- runs of kernels, for any topology.
 *
 * The steps of a transaction are those of engine/inorder_steps.h, compiled here once more with the
 * calls of kernels/heard.h, and so is the loop. Between events a kernel may run others itself, on
 * its own stack, until its own is next: engine_until(). Where events are counted, by fingerprints
 * and bounds, all run in the loop. What observers hear node by node, engine/hop.c runs.
 *
 * An event of class 4, of k->wakes, comes after all events of rows of its instant.
 */
#include "engine/hop.h"
#include "kernels/kernels_engine.h"
#include "kernels/heard.h"
#include "engine/inorder_loop.h"

/* -- for hop, which is compiled apart --------------------------------------------------------- */

static ev first_wake(const struct kb_sim *s)
{
    return s->kernels->wakes.next;
}

static void take_wake(struct kb_sim *s, ev e)
{
    kernels_take(s, e);
}

static const struct heard heard = {.station = kernels_station,
                                   .inside = kernels_inside_pe,
                                   .engine = kernels_engine_box,
                                   .pe = kernels_pe_number,
                                   .port = kernels_port_in_order,
                                   .child = slot_of_child,
                                   .drop = slot_free,
                                   .combines = kernels_combine,
                                   .begin = kernels_begin_service,
                                   .end = kernels_end_service,
                                   .part = kernels_end_part,
                                   .data = kernels_data_served,
                                   .word = kernels_word_arrived,
                                   .next = first_wake,
                                   .wake = take_wake};

/* -- the loops -------------------------------------------------------------------------------- */

enum { CHOOSING = IN_KERNELS | IN_CHOOSES };

/* Fewer rows of commands than these fit the cache. */
enum { COMMANDS_CACHED = 1024, COMMAND_LINES = 6 };

/* The lines that the event in the row of `slot` needs first. */
static inline void prefetch_row(const struct kb_sim *s, uint32_t slot)
{
    __builtin_prefetch(&s->txns[slot]);
    __builtin_prefetch(&s->kernels->work[slot]);
    if (s->splits)
        __builtin_prefetch(&s->splits[slot]);
}

/* Those of a list, whose first four are known without a look at any. */
static inline void prefetch_list(const struct kb_sim *s, const struct calendar_list *l)
{
    for (uint64_t young = l->young; (uint32_t)young; young >>= 32)
        prefetch_row(s, ~(uint32_t)young);
    for (uint64_t old = l->old; (uint32_t)old; old >>= 32)
        prefetch_row(s, ~(uint32_t)old);
}

/* What the row of `slot` points at, once it is there. */
static inline void prefetch_behind(const struct kb_sim *s, uint32_t slot)
{
    if (s->txns[slot].class != EV_DONE)
        return;
    __builtin_prefetch(&s->channels[2 * (size_t)s->txns[slot].src]);
    prefetch_lines(s->kernels->work[slot].command, COMMAND_LINES);
}

/*
 * Where there are thousands of PEs, or transactions in parts, nothing of the next event is in a
 * cache: neither its rows nor what they point at. Which events come next is known without a look at
 * a row: those of this bucket, which are in order, then those in the lists of the next buckets. So
 * rows are fetched some events ahead, and what they point at nearer, when they are there.
 */
static inline void prefetch_ahead(const struct kb_sim *s)
{
    enum { FAR = 6, NEAR = 3 };
    const struct calendar *c = &s->calendar;
    const struct calendar_list *next;
    uint32_t left = c->n_due - c->i_due;

    if (left > FAR)
        __builtin_prefetch(&s->kernels->work[calendar_soon(c, FAR)]);
    if (left > 0)
        prefetch_behind(s, calendar_soon(c, left > NEAR ? NEAR : 0));
    if ((left != 0 && left != NEAR) || !(next = calendar_next_list(c)))
        return;
    if (left == NEAR) {
        prefetch_list(s, next);
        return;
    }
    prefetch_behind(s, calendar_first_of(next));
    next = calendar_second_list(c);
    if (next)
        prefetch_list(s, next);
}

/*
 * Commands under way may be many more than fit the cache, and each of their stages ends long after
 * the one before, alone in its bucket: the next one is fetched while this event is handled. (Rows
 * some buckets ahead, as above, made such a run of flash a tenth slower.)
 */
static inline void prefetch_near(const struct kb_sim *s)
{
    uint32_t slot;

    if (s->kernels->n_commands <= COMMANDS_CACHED)
        return;
    slot = calendar_near(&s->calendar);
    if (slot != TXN_NONE)
        prefetch_lines(s->kernels->work[slot].command, COMMAND_LINES);
}

/* A run that is plain, and not counted: its rows are a text of their own. */
static __attribute__((noinline)) void handle_plain(struct kb_sim *s, uint32_t slot)
{
    go_all(s, IN_KERNELS, handle(s, IN_KERNELS, slot));
}

static ALWAYS_INLINE uint64_t take_plain(struct kb_sim *s, int how, ev e, uint64_t most)
{
    uint32_t slot;

    (void)how, (void)most;
    if (ev_class(e) == EV_KERNEL) {
        kernels_take(s, e);
        return 1;
    }
    slot = calendar_take(&s->calendar, s->txns);
    if (s->kernels->many || s->splits)
        prefetch_ahead(s);
    else
        prefetch_near(s);
    handle_plain(s, slot);
    return 1;
}

/* The same where memories choose. */
static __attribute__((noinline)) uint64_t take_choosing(struct kb_sim *s, int how, ev e,
                                                        uint64_t most)
{
    (void)how;
    return take_first(s, CHOOSING, e, most);
}

/* All others, those that are counted or watched among them, are one text that asks. */
static __attribute__((noinline)) uint64_t take_any(struct kb_sim *s, int how, ev e, uint64_t most)
{
    return take_first(s, how | IN_KERNELS, e, most);
}

static __attribute__((noinline)) kb_status run_plain(struct kb_sim *s, uint64_t budget)
{
    return run_agendas(s, IN_KERNELS, budget, take_plain);
}

static __attribute__((noinline)) kb_status run_choosing(struct kb_sim *s, uint64_t budget)
{
    return run_agendas(s, CHOOSING, budget, take_choosing);
}

static __attribute__((noinline)) kb_status run_any(struct kb_sim *s, uint64_t budget)
{
    return run_agendas(s, s->kernels->how, budget, take_any);
}

static ALWAYS_INLINE bool until_as(struct kb_sim *s, int how, uint32_t pe,
                                   uint64_t (*take)(struct kb_sim *s, int how, ev e, uint64_t most))
{
    struct kernels *k = s->kernels;

    while (k->ahead > 0) {
        ev e = first_of_all(s, how);

        if (ev_time_fs(e) >= s->stop_fs || (ev_class(e) == EV_KERNEL && ev_slot(e) != pe))
            return false;
        if (ev_class(e) == EV_KERNEL) {
            wakes_take(&k->wakes);
            k->now_fs = ev_time_fs(e);
            return true;
        }
        k->ahead -= (uint32_t)take(s, how, e, k->ahead);
    }
    return false;
}

static __attribute__((noinline)) bool until_other(struct kb_sim *s, uint32_t pe)
{
    int how = s->kernels->how;

    return how == CHOOSING ? until_as(s, CHOOSING, pe, take_choosing)
                           : until_as(s, how, pe, take_any);
}

bool engine_until(struct kb_sim *s, uint32_t pe)
{
    const struct kernels *k = s->kernels;

    if (k->watched)
        return false;
    return k->how == IN_KERNELS ? until_as(s, IN_KERNELS, pe, take_plain) : until_other(s, pe);
}

/* Does an event lie before `e`, beside those of kernels? */
static inline bool comes_before_all(struct kb_sim *s, ev e)
{
    if (s->kernels->how == IN_KERNELS)
        return e < calendar_first(&s->calendar, s->txns, ev_time_fs(e));
    return e < first_of_all(s, s->kernels->how & ~IN_KERNELS);
}

bool engine_skip_to(struct kb_sim *s, ev e)
{
    struct kernels *k = s->kernels;

    if (k->watched || !k->ahead || e > k->wakes.next || ev_time_fs(e) >= s->stop_fs ||
        !comes_before_all(s, e))
        return false;
    k->ahead--;
    k->now_fs = ev_time_fs(e);
    return true;
}

/* What of the machine, and of the options, makes a run another than a plain one. */
static int how_of_run(const struct kb_sim *s)
{
    const struct kb_topology *t = s->topo;
    int machine = t->links == MODE_ROUTER ? IN_ROUTED | IN_CHOOSES : s->chooses ? IN_CHOOSES : 0;

    return IN_KERNELS | machine | (s->kernels->watched ? IN_COUNTED : 0) |
           (s->observer ? IN_WATCHED : 0);
}

kb_status engine_kernels(struct kb_sim *s, uint64_t budget)
{
    struct kernels *k = s->kernels;

    k->watched = sim_is_watched(s);
    s->heard = &heard;
    s->over = false;
    if (s->options.engine == KB_HOP)
        return hop_run(s, budget);
    if (!inorder_begin(s))
        return KB_NO_MEMORY;
    k->how = how_of_run(s);
    return (k->how == IN_KERNELS ? run_plain
            : k->how == CHOOSING ? run_choosing
                                 : run_any)(s, budget);
}
