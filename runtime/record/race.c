/* race.c -- finds data races: accesses of PEs to the same bytes that nothing orders.
 *
 * Two accesses of different PEs race if one of them writes and neither happens before the other,
 * whatever the times of this run were. docs/kernels.md "Races" lists what orders accesses. The
 * method is that of race detectors for threads: vector clocks.
 *
 * Each PE has a clock, which starts at 1 and advances whenever the PE does something that others
 * can see: a send, a receive, a barrier, an atomic. All accesses between two such calls share one
 * clock. `seen` of a PE says, for every other PE, up to which clock that PE's accesses happen
 * before what this one does now. So an access of PE p at clock c happens before the present access
 * of PE q exactly if seen(q)[p] >= c. shadow.c keeps, for each range of bytes, the accesses to
 * compare with.
 *
 * Example. PE 0 stores a row at clock 1, and PE 1 loads it:
 *   - nothing between them: seen(1)[0] is 0, less than 1. A race.
 *   - PE 0 sends after its store, PE 1 receives before its load. race_send() appends {0: 1} to the
 *     channel and moves PE 0 on to clock 2. When the receive returns, PE 1 joins {0: 1} into its
 *     own: seen(1)[0] is 1. No race.
 *   - a barrier of both: its clock becomes {0: 1, 1: 1}, which both take. No race. If all PEs of
 *     the launch take part, that is also the new floor: the store at clock 1 can race with nothing
 *     any more, and shadow.c forgets it.
 * Slots order accesses, too. Pieces of a channel are counted from 0; with 4 slots, piece 4 goes
 * into the slot of piece 0. So the fifth send happens after what the receiver did before its first
 * receive.
 *
 * Invariants:
 *   - Calls arrive in the order of simulated time, so what a call needs is already in its list.
 *   - No other PE has seen the present clock of a PE: race_publish() gives it away and then
 * advances it.
 *   - An asynchronous access has clock CLOCK_OPEN, which no PE has seen, until its tl_wait().
 *   - A vclock that is shared does not change: vclock.c copies it first.
 *
 * Cost: a barrier of n PEs would be n joins, each of which walks all that the PEs before have
 * added. But PEs that come from the same barrier and have learned nothing since differ in one count
 * each, and add_member() sets only that one.
 */
#include "record/race.h"
#include <stdlib.h>
#include <string.h>
#include "machine/pes.h"
#include "record/race_parts.h"

uint32_t race_hash(uint64_t a, uint64_t b)
{
    uint64_t h = (a * UINT64_C(0x9e3779b97f4a7c15) ^ b) * UINT64_C(0xbf58476d1ce4e5b9);

    return (uint32_t)(h >> 52);
}

/* -- begin and end -------------------------------------------------------------------------- */

struct race *race_new(const struct kb_topology *topo)
{
    struct race *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    r->topo = topo;
    r->n_pes = pe_count(topo);
    r->n_memories = sim_cubes(topo) << topo->unit_bits;
    r->level = vclock_level(r->n_pes);
    r->floors = 1;
    r->pes = calloc(r->n_pes, sizeof(struct race_pe));
    r->memories = calloc(r->n_memories, sizeof(struct shadow *));
    if (!r->pes || !r->memories) {
        race_free(r);
        return NULL;
    }
    return r;
}

static void seen_list_clear(struct seen_list *l)
{
    while (l->first) {
        struct seen *next = l->first->next;

        vclock_drop(l->first->seen);
        free(l->first);
        l->first = next;
    }
    l->last = NULL;
}

void race_meeting_drop(struct meeting *m)
{
    if (!m || --m->refs)
        return;
    vclock_drop(m->all);
    vclock_drop(m->before);
    free(m);
}

static void open_free(struct open *o)
{
    free(o->makers);
    while (o->access) {
        struct access *x = o->access;

        o->access = x->beside;
        access_drop(x);
    }
    free(o);
}

void race_channel_free(struct channel *c)
{
    seen_list_clear(&c->sends);
    seen_list_clear(&c->receives);
    free(c);
}

/* Row `i` of each table. */
static void clear_rows(struct race *r, int i)
{
    while (r->channels[i]) {
        struct channel *c = r->channels[i];

        r->channels[i] = c->next;
        race_channel_free(c);
    }
    while (r->meetings[i]) {
        struct meeting *m = r->meetings[i];

        r->meetings[i] = m->next;
        race_meeting_drop(m);
    }
    while (r->elements[i]) {
        struct element *e = r->elements[i];

        r->elements[i] = e->next;
        vclock_drop(e->seen);
        free(e);
    }
    while (r->opens[i]) {
        struct open *o = r->opens[i];

        r->opens[i] = o->next;
        open_free(o);
    }
}

void race_forget(struct race *r)
{
    for (uint32_t i = 0; i < HASH_ROWS; i++)
        clear_rows(r, (int)i);
    for (uint32_t i = 0; r->memories && i < r->n_memories; i++) {
        shadow_free(r->memories[i]);
        r->memories[i] = NULL;
    }
    for (uint32_t i = 0; r->pes && i < r->n_pes; i++) {
        vclock_drop(r->pes[i].seen);
        vclock_drop(r->pes[i].met);
        race_meeting_drop(r->pes[i].meets);
        r->pes[i] = (struct race_pe){.clock = 1, .touches = r->pes[i].touches};
    }
    vclock_drop(r->floor);
    r->floor = NULL;
    r->floors = 1;
    while (r->ended) {
        struct ended *next = r->ended->next;

        vclock_drop(r->ended->seen);
        free(r->ended);
        r->ended = next;
    }
}

void race_free(struct race *r)
{
    if (!r)
        return;
    race_forget(r);
    for (size_t i = 0; i < r->n_found; i++)
        free(r->found[i]);
    for (int i = 0; i < N_SITES; i++)
        while (r->sites[i]) {
            struct site *next = r->sites[i]->next;

            free(r->sites[i]);
            r->sites[i] = next;
        }
    race_beyond_free(r);
    free(r->found);
    free(r->pes);
    free(r->memories);
    free(r);
}

/* -- accesses ------------------------------------------------------------------------------- */

static uint64_t strided_span(const struct strided *s)
{
    uint64_t span = s->elem_bytes;

    for (uint32_t i = 0; i < s->rank; i++)
        span += (uint64_t)s->stride[i] * (uint64_t)(s->dim[i] - 1);
    return span;
}

/* Where an access is entered. */
struct into {
    struct shadow **memory;
    struct entering *access;
};

static bool enter_piece(void *arg, uint64_t first, uint64_t end)
{
    const struct into *into = arg;

    return shadow_enter(into->memory, into->access, first, end);
}

/*
 * Enters one access into the memory's ranges: shadow.c compares it with each access that some
 * range still holds, and calls race_meets() for each pair that nothing orders. `seen` decides: the
 * earlier access of PE p at clock c is ordered if seen[p] >= c.
 */
static bool enter(struct race *r, const struct touch *touch, struct access *access)
{
    struct race_pe *p = &r->pes[touch->pe];
    struct entered arg = {r, access};
    struct entering e = {.access = access,
                         .seen = p->seen,
                         .floor = r->floor,
                         .floors = r->floors,
                         .meets = race_meets,
                         .arg = &arg};
    struct into into = {&r->memories[touch->memory], &e};
    bool ok;

    r->n_accesses++;
    p->touches = true;
    if (access->strided)
        ok = race_each_piece(touch->address, touch->strided, enter_piece, &into);
    else
        ok = enter_piece(&into, access->first, access->end);
    shadow_leave(&e);
    return ok && !r->no_memory;
}

/* With one reference; NULL: no memory. */
static struct access *access_new(struct race *r, const struct touch *touch)
{
    const struct site *site = race_find_site(r, touch->call, touch->here);
    struct access *access = site ? malloc(sizeof *access) : NULL;

    if (!access)
        return NULL;
    *access = (struct access){.refs = 1,
                              .pe = touch->pe,
                              .clock = r->pes[touch->pe].clock,
                              .op = touch->op,
                              .kind = touch->kind,
                              .site = site,
                              .kernel = r->pes[touch->pe].kernel,
                              .issue_fs = touch->issue_fs,
                              .first = touch->address,
                              .end = touch->address + touch->nbytes};
    if (touch->strided) {
        access->end = touch->address + strided_span(touch->strided);
        access->strided = race_pieces_of(touch->strided).rank > 0;
    }
    return access;
}

/* The first of the rows that have the open commands of a PE: what asks for all of them looks at no
 * others. */
static uint32_t first_open_row(uint32_t pe)
{
    return race_hash(pe, 0) / OPEN_ROWS * OPEN_ROWS;
}

/* Where the open accesses of a command are, or would be. */
static struct open **look_for(struct race *r, uint32_t pe, uint64_t command)
{
    struct open **link = &r->opens[first_open_row(pe) + race_hash(command, pe) % OPEN_ROWS];

    while (*link && ((*link)->pe != pe || (*link)->command != command))
        link = &(*link)->next;
    return link;
}

/* NULL: no memory. */
static struct open *find_open(struct race *r, uint32_t pe, uint64_t command)
{
    struct open **link = look_for(r, pe, command);

    if (*link)
        return *link;
    *link = calloc(1, sizeof **link);
    if (*link) {
        (*link)->pe = pe;
        (*link)->command = command;
    }
    return *link;
}

bool race_follows(struct race *r, uint32_t pe, uint64_t command, uint64_t maker)
{
    struct open *o = find_open(r, pe, command);
    size_t cap = o && o->makers_cap ? 2 * o->makers_cap : 4;
    uint64_t *moved;

    if (!o || !*look_for(r, pe, maker))
        return o;
    if (o->n_makers == o->makers_cap) {
        moved = realloc(o->makers, cap * sizeof *moved);
        if (!moved)
            return false;
        o->makers = moved;
        o->makers_cap = cap;
    }
    o->makers[o->n_makers++] = maker;
    return true;
}

/*
 * An access begins. One of a synchronous command is over when the call returns, so it has the PE's
 * present clock. One of an asynchronous command lasts until tl_wait(): until then its clock is
 * CLOCK_OPEN, above every count, and no other PE can have seen it.
 *
 * Example: PE 0 stores asynchronously, both PEs meet at a barrier, PE 1 loads. seen(1)[0] is 1,
 * the clock of the store is CLOCK_OPEN: a race, although the store was issued before the barrier;
 * on another machine it may still be in flight. With tl_wait() before the barrier, race_waited()
 * gives the access clock 1, and there is no race. Without any tl_wait() it stays open to the
 * launch's end.
 */
bool race_touch(struct race *r, const struct touch *touch, uint64_t command)
{
    struct access *access = access_new(r, touch);
    struct open *o = NULL;
    bool ok = access;

    if (ok && command != RACE_AT_ONCE) {
        o = find_open(r, touch->pe, command);
        ok = o;
    }
    if (o) {
        access->clock = CLOCK_OPEN;
        access->beside = o->access;
        access->refs++;
        o->access = access;
    }
    ok = ok && race_bounds(r, touch, access) && enter(r, touch, access);
    if (access)
        access_drop(access);
    return ok;
}

bool race_receive(struct race *r, uint32_t from, uint32_t to, uint32_t tag, uint32_t pieces,
                  uint64_t command)
{
    uint32_t slots = race_slots_of(r, to);
    struct channel *c = race_find_channel(r, from, to, tag);
    struct race_pe *p = &r->pes[to];
    struct open *o = NULL;

    if (!c || !race_publish(r, to))
        return false;
    c->received += pieces;
    if (command != RACE_AT_ONCE) {
        o = find_open(r, to, command);
        if (!o)
            return false;
        o->from = c;
        o->end = c->received;
    } else {
        p->receives = c;
        p->end = c->received;
    }
    if (c->sent > slots)
        race_seen_skip(&c->receives, c->sent - 1 - slots);
    return race_seen_add(&c->receives, c->received, p->seen);
}

/* The accesses of a command are over; the commands that it follows join `all`. */
static bool close_open(struct race *r, struct open *o, struct open **all)
{
    struct race_pe *p = &r->pes[o->pe];
    bool ok = !o->from || race_receive_returned(p, o->from, o->end);

    for (struct access *x = o->access; x; x = x->beside)
        if (x->clock == CLOCK_OPEN)
            x->clock = p->clock;
    for (size_t i = 0; i < o->n_makers; i++) {
        struct open **link = look_for(r, o->pe, o->makers[i]), *maker = *link;

        if (!maker)
            continue;
        *link = maker->next;
        maker->next = *all;
        *all = maker;
    }
    open_free(o);
    return ok;
}

/* Reads inside of [first, end) are over; what the commands write is not. */
void race_fetched(struct race *r, uint32_t pe, uint64_t first, uint64_t end)
{
    struct open **rows = &r->opens[first_open_row(pe)];

    for (uint32_t i = 0; i < OPEN_ROWS; i++)
        for (struct open *o = rows[i]; o; o = o->next)
            for (struct access *x = o->pe == pe ? o->access : NULL; x; x = x->beside)
                if (x->kind == ACCESS_READ && x->clock == CLOCK_OPEN && x->first >= first &&
                    x->end <= end)
                    x->clock = r->pes[pe].clock;
}

/* All of a PE leave the table for `all`. */
static void take_all(struct race *r, uint32_t pe, struct open **all)
{
    struct open **rows = &r->opens[first_open_row(pe)];

    for (uint32_t i = 0; i < OPEN_ROWS; i++) {
        struct open **link = &rows[i], *o;

        while ((o = *link)) {
            if (o->pe != pe) {
                link = &o->next;
                continue;
            }
            *link = o->next;
            o->next = *all;
            *all = o;
        }
    }
}

/*
 * tl_wait() returns: the accesses of the command, and of all that it follows, are over, and
 * happened at the present clock. If one was a receive, the PE learns here from the sender, and not
 * at the call.
 */
bool race_waited(struct race *r, uint32_t pe, uint64_t command)
{
    struct open *all = NULL, **link = look_for(r, pe, command), *o;
    bool ok = true;

    if (command == RACE_ALL) {
        take_all(r, pe, &all);
    } else if (*link) {
        all = *link;
        *link = all->next;
        all->next = NULL;
    }
    while ((o = all)) {
        all = o->next;
        ok = close_open(r, o, &all) && ok;
    }
    return ok;
}

/*
 * Atomics on one element come one after another, in an order that all PEs see. So each learns from
 * the one before it, and leaves what it has seen to the next: a counter orders the work of the PEs
 * that take numbers from it.
 */
bool race_atomic(struct race *r, const struct touch *touch)
{
    struct element **row = &r->elements[race_hash(touch->address, touch->nbytes)], *e = *row;
    struct race_pe *p = &r->pes[touch->pe];

    while (e && (e->address != touch->address || e->nbytes != touch->nbytes))
        e = e->next;
    if (!e) {
        e = calloc(1, sizeof *e);
        if (!e)
            return false;
        *e = (struct element){.address = touch->address, .nbytes = touch->nbytes, .next = *row};
        *row = e;
    }
    if (!race_learn(p, e->seen) || !race_touch(r, touch, RACE_AT_ONCE) ||
        !race_publish(r, touch->pe))
        return false;
    vclock_drop(e->seen);
    e->seen = vclock_keep(p->seen);
    return true;
}

/* -- results -------------------------------------------------------------------------------- */

void race_each(const struct race *r, void (*each)(void *arg, const kb_race *race), void *arg)
{
    for (size_t i = 0; i < r->n_found; i++)
        each(arg, &r->found[i]->race);
}

kb_race_counts race_counts(const struct race *r)
{
    kb_race_counts n = {.races = r->n_found, .accesses = r->n_accesses};

    for (uint32_t i = 0; i < r->n_pes; i++)
        n.pes += r->pes[i].touches;
    return n;
}
