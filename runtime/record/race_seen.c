/* race_seen.c -- what PEs have seen of each other, and what they did without having seen it: races.
 */
#include <stdlib.h>
#include <string.h>
#include "machine/address.h"
#include "machine/endpoint.h"
#include "record/race_parts.h"

/* -- what PEs have seen --------------------------------------------------------------------- */

bool race_seen_add(struct seen_list *l, uint64_t end, struct vclock *seen)
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
void race_seen_skip(struct seen_list *l, uint64_t i)
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
bool race_publish(struct race *r, uint32_t pe)
{
    struct race_pe *p = &r->pes[pe];

    return vclock_set(&p->seen, r->level, pe, p->clock++);
}

/* What `seen` holds happens before all that the PE does from now on. */
bool race_learn(struct race_pe *p, struct vclock *seen)
{
    p->learned = true;
    return vclock_join(&p->seen, seen);
}

/* NULL: no memory. */
struct channel *race_find_channel(struct race *r, uint32_t from, uint32_t to, uint32_t tag)
{
    struct channel **row = &r->channels[race_hash((uint64_t)from << 32 | to, tag)], *c = *row;

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
 * sender had seen then. Entries whose pieces were all received are dropped by race_seen_skip(), so
 * a list has at most as many entries as there are messages in flight.
 *
 * The other direction is that of slots. With 4 slots, a send whose last piece is 8 needs the slot
 * of piece 4: so it returns after the receive of piece 4, and learns from the first entry of
 * `receives` that ends behind piece 4. A kernel may rely on that, for example to overwrite a
 * buffer which the receiver must have finished reading.
 */
bool race_send(struct race *r, uint32_t from, uint32_t to, uint32_t tag, uint32_t pieces)
{
    struct channel *c = race_find_channel(r, from, to, tag);
    struct race_pe *p = &r->pes[from];

    if (!c || !race_publish(r, from))
        return false;
    c->sent += pieces;
    p->sends = c;
    p->end = c->sent;
    return race_seen_add(&c->sends, c->sent, p->seen);
}

/* Slots of a queue to `pe`: its own keys decide. */
uint32_t race_slots_of(const struct race *r, uint32_t pe)
{
    return kind_at(r->topo, pe_cube(r->topo, pe))->pe.ipcq_slots;
}

/* A send returns. The slot of its last piece was freed by the receive of the piece `slots` before.
 */
static bool send_returned(struct race *r, struct race_pe *p)
{
    struct channel *c = p->sends;
    uint32_t slots = race_slots_of(r, c->to);

    p->sends = NULL;
    if (p->end <= slots)
        return true;
    race_seen_skip(&c->receives, p->end - 1 - slots);
    return !c->receives.first || race_learn(p, c->receives.first->seen);
}

/* A receive of the pieces before `end` returns: learns from the send of the last of them. If later
 * pieces have been received already, that entry is gone, and the first one left is later. */
bool race_receive_returned(struct race_pe *p, struct channel *c, uint64_t end)
{
    race_seen_skip(&c->sends, end - 1);
    return !c->sends.first || race_learn(p, c->sends.first->seen);
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
    race_meeting_drop(m);
}

bool race_goes_on(struct race *r, uint32_t pe)
{
    struct race_pe *p = &r->pes[pe];
    struct channel *receives = p->receives;

    p->receives = NULL;
    if (p->sends)
        return send_returned(r, p);
    if (receives)
        return race_receive_returned(p, receives, p->end);
    if (p->meets)
        barrier_returned(p);
    return true;
}

/* The present round of a barrier; NULL: no memory. */
static struct meeting *find_meeting(struct race *r, const void *key)
{
    struct meeting **row = &r->meetings[race_hash((uintptr_t)key, 0)], *m = *row;

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
    struct meeting **link = &r->meetings[race_hash((uintptr_t)m->key, 0)];

    while (*link != m)
        link = &(*link)->next;
    *link = m->next;
    if (m->arrived == r->n_running) {
        vclock_drop(r->floor);
        r->floor = vclock_keep(m->all);
        r->floors++;
    }
    race_meeting_drop(m);
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

    if (!m || !race_publish(r, pe) || !add_member(r, m, pe))
        return false;
    m->refs++;
    p->meets = m;
    if (++m->arrived == n)
        meeting_complete(r, m);
    return true;
}

/* -- races ---------------------------------------------------------------------------------- */

/* NULL: no memory. */
const struct site *race_find_site(struct race *r, const char *call, tl_here here)
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
    p->race.first = race_public_access(in_order ? a : b);
    p->race.second = race_public_access(in_order ? b : a);
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
    struct pair **row = &r->pairs[race_hash(x->site->number, y->site->number) % N_SITES], *p = *row;

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

void race_meets(void *arg, const struct access *before, uint64_t first, uint64_t end)
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
