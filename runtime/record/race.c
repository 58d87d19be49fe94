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
 *   - No other PE has seen the present clock of a PE: publish() gives it away and then advances it.
 *   - An asynchronous access has clock CLOCK_OPEN, which no PE has seen, until its tl_wait().
 *   - A vclock that is shared does not change: vclock.c copies it first.
 *
 * Cost: a barrier of n PEs would be n joins, each of which walks all that the PEs before have
 * added. But PEs that come from the same barrier and have learned nothing since differ in one count
 * each, and add_member() sets only that one.
 */
#include "record/race.h"
#include "machine/address.h"
#include "machine/endpoint.h"
#include "machine/pes.h"
#include <stdlib.h>
#include <string.h>

enum { HASH_ROWS = 4096, N_SITES = 256 };

/* `seen` of a PE at a send or a receive, which ends before piece `end` of the channel. */
struct seen {
    uint64_t end;
    struct vclock *seen; /* owned */
    struct seen *next;
};

/* Oldest first. */
struct seen_list {
    struct seen *first, *last;
};

/* A queue from one PE to another: pieces are counted from 0. */
struct channel {
    uint32_t from, to, tag;
    uint64_t sent, received;   /* pieces of all calls so far */
    struct seen_list sends;    /* of which the receiver has not yet learned */
    struct seen_list receives; /* whose slots the sender may still need */
    struct channel *next;      /* of the same hash */
};

/* One round of a barrier. Reference-counted. */
struct meeting {
    const void *key;
    uint32_t refs;
    size_t arrived;
    struct vclock *all;    /* owned; what its members have seen together */
    struct vclock *before; /* owned; `met` of the first member */
    struct meeting *next;
};

/* An element that atomics add to. */
struct element {
    uint64_t address, nbytes;
    struct vclock *seen; /* owned */
    struct element *next;
};

/* The accesses of an asynchronous command, until its tensor is waited for. */
struct open {
    uint32_t pe;
    uint64_t tensor;
    struct access *access; /* owned; a list by `beside` */
    struct channel *from;  /* of a receive; else NULL */
    uint64_t end;          /* of a receive: its pieces end before this one */
    struct open *next;
};

/* A PE. */
struct race_pe {
    struct vclock *seen; /* owned; its own entry is its last clock that it gave away */
    struct vclock *met;  /* owned; `seen` as its last barrier left it */
    bool learned;        /* `seen` has changed since, beside its own entry */
    uint32_t clock;      /* of its present accesses */
    bool touches;        /* it has had accesses */
    /* The synchronous command that has not returned: its PE learns from it when it does. */
    struct channel *sends, *receives; /* pieces before `end` */
    uint64_t end;
    struct meeting *meets; /* holds a reference */
};

/* Two lines of kernels that race, by ascending site and kind, and how that was first found. */
struct pair {
    struct kb_race race;
    uint32_t site[2];
    enum access_kind kind[2];
    uint64_t last; /* number of the access that was last counted */
    struct pair *next;
};

struct race {
    const struct kb_topology *topo;
    uint32_t n_pes, n_memories, level;
    const char *kernel;
    size_t n_running;
    struct race_pe *pes;      /* owned; [PE] */
    struct shadow **memories; /* owned; [packed] */
    struct vclock *floor;     /* owned; what all PEs of the launch have seen */
    uint64_t floors;          /* how often it has changed */

    struct channel *channels[HASH_ROWS];
    struct meeting *meetings[HASH_ROWS]; /* which lack members */
    struct element *elements[HASH_ROWS];
    struct open *opens[HASH_ROWS];

    struct site *sites[N_SITES];
    uint32_t n_sites;
    struct pair *pairs[N_SITES];
    struct pair **found; /* owned; in order of discovery */
    size_t n_found, found_cap;
    uint64_t n_accesses;
    bool no_memory; /* a pair was lost */
};

static uint32_t hash(uint64_t a, uint64_t b)
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

static void meeting_drop(struct meeting *m)
{
    if (!m || --m->refs)
        return;
    vclock_drop(m->all);
    vclock_drop(m->before);
    free(m);
}

static void open_free(struct open *o)
{
    while (o->access) {
        struct access *x = o->access;

        o->access = x->beside;
        access_drop(x);
    }
    free(o);
}

/* Row `i` of each table. */
static void clear_rows(struct race *r, int i)
{
    while (r->channels[i]) {
        struct channel *c = r->channels[i];

        r->channels[i] = c->next;
        seen_list_clear(&c->sends);
        seen_list_clear(&c->receives);
        free(c);
    }
    while (r->meetings[i]) {
        struct meeting *m = r->meetings[i];

        r->meetings[i] = m->next;
        meeting_drop(m);
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

/* Forgets everything except the races that were found. */
static void clear(struct race *r)
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
        meeting_drop(r->pes[i].meets);
        r->pes[i] = (struct race_pe){.clock = 1, .touches = r->pes[i].touches};
    }
    vclock_drop(r->floor);
    r->floor = NULL;
    r->floors = 1;
}

void race_free(struct race *r)
{
    if (!r)
        return;
    clear(r);
    for (size_t i = 0; i < r->n_found; i++)
        free(r->found[i]);
    for (int i = 0; i < N_SITES; i++)
        while (r->sites[i]) {
            struct site *next = r->sites[i]->next;

            free(r->sites[i]);
            r->sites[i] = next;
        }
    free(r->found);
    free(r->pes);
    free(r->memories);
    free(r);
}

void race_launch(struct race *r, const char *kernel, size_t n)
{
    clear(r);
    r->kernel = kernel;
    r->n_running = n;
}

/* -- what PEs have seen --------------------------------------------------------------------- */

static bool seen_add(struct seen_list *l, uint64_t end, struct vclock *seen)
{
    struct seen *x = malloc(sizeof *x);

    if (!x)
        return false;
    *x = (struct seen){.end = end, .seen = vclock_keep(seen)};
    if (l->last)
        l->last->next = x;
    else
        l->first = x;
    l->last = x;
    return true;
}

/* Drops entries that end at or before piece `i`. */
static void seen_skip(struct seen_list *l, uint64_t i)
{
    while (l->first && l->first->end <= i) {
        struct seen *x = l->first;

        l->first = x->next;
        if (!l->first)
            l->last = NULL;
        vclock_drop(x->seen);
        free(x);
    }
}

/* Brings p->seen up to date, for others to learn from, and advances the clock of the PE. */
static bool publish(struct race *r, uint32_t pe)
{
    struct race_pe *p = &r->pes[pe];

    return vclock_set(&p->seen, r->level, pe, p->clock++);
}

/* What `seen` holds happens before all that the PE does from now on. */
static bool learn(struct race_pe *p, struct vclock *seen)
{
    p->learned = true;
    return vclock_join(&p->seen, seen);
}

/* NULL: no memory. */
static struct channel *find_channel(struct race *r, uint32_t from, uint32_t to, uint32_t tag)
{
    struct channel **row = &r->channels[hash((uint64_t)from << 32 | to, tag)], *c = *row;

    while (c && (c->from != from || c->to != to || c->tag != tag))
        c = c->next;
    if (c)
        return c;
    c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->from = from;
    c->to = to;
    c->tag = tag;
    c->next = *row;
    return *row = c;
}

/*
 * Messages. An entry of `sends` is a promise: a receive of pieces before `end` learns what the
 * sender had seen then. Entries whose pieces were all received are dropped by seen_skip(), so a
 * list has at most as many entries as there are messages in flight.
 *
 * The other direction is that of slots. With 4 slots, a send whose last piece is 8 needs the slot
 * of piece 4: so it returns after the receive of piece 4, and learns from the first entry of
 * `receives` that ends behind piece 4. A kernel may rely on that, for example to overwrite a
 * buffer which the receiver must have finished reading.
 */
bool race_send(struct race *r, uint32_t from, uint32_t to, uint32_t tag, uint32_t pieces)
{
    struct channel *c = find_channel(r, from, to, tag);
    struct race_pe *p = &r->pes[from];

    if (!c || !publish(r, from))
        return false;
    c->sent += pieces;
    p->sends = c;
    p->end = c->sent;
    return seen_add(&c->sends, c->sent, p->seen);
}

/* Slots of a queue to `pe`: its own keys decide. */
static uint32_t slots_of(const struct race *r, uint32_t pe)
{
    return kind_at(r->topo, pe_cube(r->topo, pe))->pe.ipcq_slots;
}

/* A send returns. The slot of its last piece was freed by the receive of the piece `slots` before.
 */
static bool send_returned(struct race *r, struct race_pe *p)
{
    struct channel *c = p->sends;
    uint32_t slots = slots_of(r, c->to);

    p->sends = NULL;
    if (p->end <= slots)
        return true;
    seen_skip(&c->receives, p->end - 1 - slots);
    return !c->receives.first || learn(p, c->receives.first->seen);
}

/* A receive of the pieces before `end` returns: learns from the send of the last of them. If later
 * pieces have been received already, that entry is gone, and the first one left is later. */
static bool receive_returned(struct race_pe *p, struct channel *c, uint64_t end)
{
    seen_skip(&c->sends, end - 1);
    return !c->sends.first || learn(p, c->sends.first->seen);
}

/* A barrier returns. What the PE had seen is part of `all`. */
static void barrier_returned(struct race_pe *p)
{
    struct meeting *m = p->meets;

    vclock_drop(p->seen);
    vclock_drop(p->met);
    p->seen = vclock_keep(m->all);
    p->met = vclock_keep(m->all);
    p->learned = false;
    p->meets = NULL;
    meeting_drop(m);
}

bool race_goes_on(struct race *r, uint32_t pe)
{
    struct race_pe *p = &r->pes[pe];
    struct channel *receives = p->receives;

    p->receives = NULL;
    if (p->sends)
        return send_returned(r, p);
    if (receives)
        return receive_returned(p, receives, p->end);
    if (p->meets)
        barrier_returned(p);
    return true;
}

/* The present round of a barrier; NULL: no memory. */
static struct meeting *find_meeting(struct race *r, const void *key)
{
    struct meeting **row = &r->meetings[hash((uintptr_t)key, 0)], *m = *row;

    while (m && m->key != key)
        m = m->next;
    if (m)
        return m;
    m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->key = key;
    m->refs = 1;
    m->next = *row;
    return *row = m;
}

/* All members are there: the next one to come begins another round. */
static void meeting_complete(struct race *r, struct meeting *m)
{
    struct meeting **link = &r->meetings[hash((uintptr_t)m->key, 0)];

    while (*link != m)
        link = &(*link)->next;
    *link = m->next;
    if (m->arrived == r->n_running) {
        vclock_drop(r->floor);
        r->floor = vclock_keep(m->all);
        r->floors++;
    }
    meeting_drop(m);
}

/* Adds what a PE has seen: one count if it comes from the barrier that the first member came from,
 * and has learned nothing since. A join would walk all that earlier members have added. */
static bool add_member(struct race *r, struct meeting *m, uint32_t pe)
{
    struct race_pe *p = &r->pes[pe];

    if (m->arrived == 0) {
        m->all = vclock_keep(p->seen);
        m->before = vclock_keep(p->met);
        return true;
    }
    if (!p->learned && p->met == m->before)
        return vclock_set(&m->all, r->level, pe, p->clock - 1);
    return vclock_join(&m->all, p->seen);
}

bool race_meet(struct race *r, uint32_t pe, const void *key, size_t n)
{
    struct meeting *m = find_meeting(r, key);
    struct race_pe *p = &r->pes[pe];

    if (!m || !publish(r, pe) || !add_member(r, m, pe))
        return false;
    m->refs++;
    p->meets = m;
    if (++m->arrived == n)
        meeting_complete(r, m);
    return true;
}

/* -- races ---------------------------------------------------------------------------------- */

/* NULL: no memory. */
static const struct site *find_site(struct race *r, const char *call, tl_here here)
{
    struct site **row = &r->sites[(uint32_t)here.line % N_SITES], *s = *row;

    while (s && (s->line != here.line || strcmp(s->call, call) != 0 ||
                 (s->file != here.file && strcmp(s->file, here.file) != 0)))
        s = s->next;
    if (s)
        return s;
    s = malloc(sizeof *s);
    if (!s)
        return NULL;
    *s = (struct site){call, here.file, here.line, r->n_sites++, *row};
    return *row = s;
}

static kb_race_access public_access(const struct race *r, const struct access *x)
{
    return (kb_race_access){.kernel = r->kernel,
                            .call = x->site->call,
                            .file = x->site->file,
                            .line = x->site->line,
                            .pe = x->pe,
                            .op_id = x->op,
                            .issue_fs = x->issue_fs,
                            .writes = x->kind != ACCESS_READ,
                            .atomic = x->kind == ACCESS_ATOMIC};
}

static bool is_before(const struct access *a, const struct access *b)
{
    return a->issue_fs != b->issue_fs ? a->issue_fs < b->issue_fs : a->pe < b->pe;
}

/* The bytes that both access; of strided accesses only those known to be: [first, end). */
static void set_bytes(kb_race *race, const struct access *a, const struct access *b, uint64_t first,
                      uint64_t end)
{
    if (!a->strided && !b->strided) {
        first = a->first > b->first ? a->first : b->first;
        end = a->end < b->end ? a->end : b->end;
    }
    race->address = first;
    race->nbytes = end - first;
}

static struct pair *pair_new(struct race *r, const struct access *a, const struct access *b,
                             uint64_t first, uint64_t end)
{
    struct pair *p = calloc(1, sizeof *p), **moved = r->found;
    bool in_order = is_before(a, b);
    uint32_t memory;

    if (r->n_found == r->found_cap) {
        r->found_cap = r->found_cap ? 2 * r->found_cap : 16;
        moved = realloc(r->found, r->found_cap * sizeof(struct pair *));
    }
    r->found = moved ? moved : r->found;
    if (!p || !moved) {
        free(p);
        return NULL;
    }
    p->race.first = public_access(r, in_order ? a : b);
    p->race.second = public_access(r, in_order ? b : a);
    set_bytes(&p->race, a, b, first, end);
    if (address_find(r->topo, p->race.address, &memory, &p->race.offset))
        p->race.memory = endpoint_unpack_memory(r->topo, memory);
    return r->found[r->n_found++] = p;
}

/*
 * The pair of the two accesses' lines, made if there is none; NULL: no memory. Thousands of PEs may
 * race at the same two lines: that is one race, with a count. It is told with the accesses by which
 * it was first found, which are the same for both engines, as calls come in order of time.
 */
static struct pair *find_pair(struct race *r, const struct access *a, const struct access *b,
                              uint64_t first, uint64_t end)
{
    bool turned =
        a->site->number != b->site->number ? a->site->number > b->site->number : a->kind > b->kind;
    const struct access *x = turned ? b : a, *y = turned ? a : b;
    struct pair **row = &r->pairs[hash(x->site->number, y->site->number) % N_SITES], *p = *row;

    while (p && (p->site[0] != x->site->number || p->site[1] != y->site->number ||
                 p->kind[0] != x->kind || p->kind[1] != y->kind))
        p = p->next;
    if (p)
        return p;
    p = pair_new(r, a, b, first, end);
    if (!p)
        return NULL;
    p->site[0] = x->site->number;
    p->site[1] = y->site->number;
    p->kind[0] = x->kind;
    p->kind[1] = y->kind;
    p->next = *row;
    return *row = p;
}

/* The access that is being entered. */
struct entered {
    struct race *race;
    struct access *access;
};

static void meets(void *arg, const struct access *before, uint64_t first, uint64_t end)
{
    struct entered *e = arg;
    struct pair *p = find_pair(e->race, before, e->access, first, end);

    if (!p) {
        e->race->no_memory = true;
        return;
    }
    p->race.count += p->last != e->race->n_accesses;
    p->last = e->race->n_accesses;
}

/* -- accesses ------------------------------------------------------------------------------- */

/* A strided access as contiguous pieces: the innermost axes without gaps are one piece. */
struct pieces {
    uint32_t rank; /* of the remaining axes */
    uint64_t nbytes;
};

static struct pieces pieces_of(const struct strided *s)
{
    struct pieces p = {.rank = s->rank, .nbytes = s->elem_bytes};

    while (p.rank > 0 && (s->dim[p.rank - 1] == 1 || s->stride[p.rank - 1] == (int64_t)p.nbytes))
        p.nbytes *= (uint64_t)s->dim[--p.rank];
    return p;
}

static uint64_t strided_span(const struct strided *s)
{
    uint64_t span = s->elem_bytes;

    for (uint32_t i = 0; i < s->rank; i++)
        span += (uint64_t)s->stride[i] * (uint64_t)(s->dim[i] - 1);
    return span;
}

/*
 * Enters each piece, in order of elements: the bytes between the pieces are not accessed. A PE that
 * stores the even rows of a matrix does not race with one that stores the odd ones.
 */
static bool enter_strided(struct shadow **m, struct entering *e, uint64_t address,
                          const struct strided *s)
{
    struct pieces p = pieces_of(s);
    int64_t at[KB_RANK_MAX] = {0};
    uint32_t axis = p.rank;
    bool ok = shadow_enter(m, e, address, address + p.nbytes);

    while (ok && axis > 0) {
        axis--;
        address += (uint64_t)s->stride[axis];
        if (++at[axis] == s->dim[axis]) {
            address -= (uint64_t)s->stride[axis] * (uint64_t)s->dim[axis];
            at[axis] = 0;
            continue;
        }
        axis = p.rank;
        ok = shadow_enter(m, e, address, address + p.nbytes);
    }
    return ok;
}

/*
 * Enters one access into the memory's ranges: shadow.c compares it with each access that some
 * range still holds, and calls meets() for each pair that nothing orders. `seen` decides: the
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
                         .meets = meets,
                         .arg = &arg};
    struct shadow **m = &r->memories[touch->memory];
    bool ok;

    r->n_accesses++;
    p->touches = true;
    if (access->strided)
        ok = enter_strided(m, &e, touch->address, touch->strided);
    else
        ok = shadow_enter(m, &e, access->first, access->end);
    shadow_leave(&e);
    return ok && !r->no_memory;
}

/* With one reference; NULL: no memory. */
static struct access *access_new(struct race *r, const struct touch *touch)
{
    const struct site *site = find_site(r, touch->call, touch->here);
    struct access *access = site ? malloc(sizeof *access) : NULL;

    if (!access)
        return NULL;
    *access = (struct access){.refs = 1,
                              .pe = touch->pe,
                              .clock = r->pes[touch->pe].clock,
                              .op = touch->op,
                              .kind = touch->kind,
                              .site = site,
                              .issue_fs = touch->issue_fs,
                              .first = touch->address,
                              .end = touch->address + touch->nbytes};
    if (touch->strided) {
        access->end = touch->address + strided_span(touch->strided);
        access->strided = pieces_of(touch->strided).rank > 0;
    }
    return access;
}

/* NULL: no memory. */
static struct open *find_open(struct race *r, uint32_t pe, uint64_t tensor)
{
    struct open **row = &r->opens[hash(tensor, pe)], *o = *row;

    while (o && (o->pe != pe || o->tensor != tensor))
        o = o->next;
    if (o)
        return o;
    o = calloc(1, sizeof *o);
    if (!o)
        return NULL;
    o->pe = pe;
    o->tensor = tensor;
    o->next = *row;
    return *row = o;
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
bool race_touch(struct race *r, const struct touch *touch, uint64_t tensor)
{
    struct access *access = access_new(r, touch);
    struct open *o = NULL;
    bool ok = access;

    if (ok && tensor != RACE_AT_ONCE) {
        o = find_open(r, touch->pe, tensor);
        ok = o;
    }
    if (o) {
        access->clock = CLOCK_OPEN;
        access->beside = o->access;
        access->refs++;
        o->access = access;
    }
    ok = ok && enter(r, touch, access);
    if (access)
        access_drop(access);
    return ok;
}

bool race_receive(struct race *r, uint32_t from, uint32_t to, uint32_t tag, uint32_t pieces,
                  uint64_t tensor)
{
    uint32_t slots = slots_of(r, to);
    struct channel *c = find_channel(r, from, to, tag);
    struct race_pe *p = &r->pes[to];
    struct open *o = NULL;

    if (!c || !publish(r, to))
        return false;
    c->received += pieces;
    if (tensor != RACE_AT_ONCE) {
        o = find_open(r, to, tensor);
        if (!o)
            return false;
        o->from = c;
        o->end = c->received;
    } else {
        p->receives = c;
        p->end = c->received;
    }
    if (c->sent > slots)
        seen_skip(&c->receives, c->sent - 1 - slots);
    return seen_add(&c->receives, c->received, p->seen);
}

/*
 * tl_wait() returns: the accesses of the command are over, and happened at the present clock. If
 * it was a receive, the PE learns here from the sender, and not at the call.
 */
bool race_waited(struct race *r, uint32_t pe, uint64_t tensor)
{
    struct open **link = &r->opens[hash(tensor, pe)], *o;
    struct race_pe *p = &r->pes[pe];
    bool ok;

    while (*link && ((*link)->pe != pe || (*link)->tensor != tensor))
        link = &(*link)->next;
    o = *link;
    if (!o)
        return true;
    *link = o->next;
    for (struct access *x = o->access; x; x = x->beside)
        x->clock = p->clock;
    ok = !o->from || receive_returned(p, o->from, o->end);
    open_free(o);
    return ok;
}

/*
 * Atomics on one element come one after another, in an order that all PEs see. So each learns from
 * the one before it, and leaves what it has seen to the next: a counter orders the work of the PEs
 * that take numbers from it.
 */
bool race_atomic(struct race *r, const struct touch *touch)
{
    struct element **row = &r->elements[hash(touch->address, touch->nbytes)], *e = *row;
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
    if (!learn(p, e->seen) || !race_touch(r, touch, RACE_AT_ONCE) || !publish(r, touch->pe))
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
