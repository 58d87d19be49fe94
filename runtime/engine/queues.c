/* queues.c -- memories that are queueing components: what waits in them, what they do wrong. */
#include "engine/queues.h"
#include "base/rows.h"
#include "base/text.h"
#include "engine/state.h"
#include <string.h>

bool queues_init(struct queues *q, uint32_t n)
{
    q->of = rows_new(n, sizeof *q->of);
    for (uint32_t i = 0; q->of && i < n; i++)
        queue_clear(&q->of[i]);
    return q->of;
}

void queues_free(struct queues *q, uint32_t n)
{
    for (uint32_t i = 0; q->of && i < n; i++) {
        queueing_free(&q->of[i].asked);
        free(q->of[i].coming.rows);
    }
    free(q->of);
    free(q->waiting);
}

void queue_clear(struct queueing_memory *q)
{
    queueing_begin(&q->asked);
    *q = (struct queueing_memory){
        .asked = q->asked, .event_fs = INT64_MAX, .coming = {q->coming.rows, 0, 0, q->coming.room}};
}

int64_t queue_busy_fs(const struct queueing_memory *q, int64_t now_fs)
{
    return q->busy_fs + (q->waiting || q->last_fs > now_fs ? now_fs : q->last_fs) - q->since_fs;
}

/* -- what a cache has asked ---------------------------------------------------------------------
 */

bool coming_add(struct coming_requests *c, const struct coming_request *row)
{
    if (c->next - c->first == c->room &&
        !ring_grow(&c->rows, &c->room, c->first, c->room, sizeof *c->rows))
        return false;
    c->rows[c->next++ & (c->room - 1)] = *row;
    return true;
}

struct coming_request coming_take(struct coming_requests *c)
{
    return c->rows[c->first++ & (c->room - 1)];
}

/* -- the table -------------------------------------------------------------------------------- */

static uint32_t place_of_id(const struct queues *q, uint64_t id)
{
    return (uint32_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> (64 - q->bits));
}

static uint32_t next_place(const struct queues *q, uint32_t i)
{
    return (i + 1) & ((UINT32_C(1) << q->bits) - 1);
}

static void put(struct queues *q, const struct waiting *row)
{
    uint32_t i = place_of_id(q, row->id);

    while (q->waiting[i].slot != TXN_NONE)
        i = next_place(q, i);
    q->waiting[i] = *row;
}

/* Twice the room. */
static bool grow(struct queues *q)
{
    enum { FIRST_BITS = 4 };
    struct queues old = *q;

    q->bits = old.waiting ? old.bits + 1 : FIRST_BITS;
    q->waiting = malloc(sizeof *q->waiting << q->bits);
    if (!q->waiting) {
        *q = old;
        return false;
    }
    for (uint64_t i = 0; i < UINT64_C(1) << q->bits; i++)
        q->waiting[i].slot = TXN_NONE;
    for (uint64_t i = 0; old.waiting && i < UINT64_C(1) << old.bits; i++)
        if (old.waiting[i].slot != TXN_NONE)
            put(q, &old.waiting[i]);
    free(old.waiting);
    return true;
}

bool queues_put(struct kb_sim *s, const struct waiting *request)
{
    struct queues *q = &s->instances.queues;

    if ((!q->waiting || (uint64_t)q->n + 1 > UINT64_C(1) << q->bits >> 1) && !grow(q))
        return false;
    q->n++;
    put(q, request);
    return true;
}

/* Row `hole` is free: those behind it that belong before it move up. */
static void close_hole(struct queues *q, uint32_t hole)
{
    uint32_t mask = (UINT32_C(1) << q->bits) - 1;

    for (uint32_t i = next_place(q, hole); q->waiting[i].slot != TXN_NONE; i = next_place(q, i)) {
        uint32_t home = place_of_id(q, q->waiting[i].id);

        if (((i - home) & mask) < ((i - hole) & mask))
            continue;
        q->waiting[hole] = q->waiting[i];
        hole = i;
    }
    q->waiting[hole].slot = TXN_NONE;
}

struct waiting queues_take(struct kb_sim *s, uint32_t dst, uint64_t id)
{
    struct queues *q = &s->instances.queues;
    struct waiting found = {.slot = TXN_NONE};

    for (uint32_t i = place_of_id(q, id); q->n && q->waiting[i].slot != TXN_NONE;
         i = next_place(q, i)) {
        if (q->waiting[i].id != id || q->waiting[i].dst != dst)
            continue;
        found = q->waiting[i];
        close_hole(q, i);
        q->n--;
        break;
    }
    return found;
}

/* -- what it does wrong ----------------------------------------------------------------------- */

/* "component 'mybank' of 'cube.hbm.impl' " */
static void say_name(struct kb_sim *s, uint32_t dst, char *text, size_t size)
{
    const struct impl *impl = memory_impl(s->topo, dst);

    text_format(text, size, "component '%s' of '%s'", impl->name, box_key(impl->box));
}

void queue_fault(struct kb_sim *s, uint32_t dst)
{
    const struct queueing *asked = &s->instances.queues.of[dst].asked;
    bool wake = asked->fault == QUEUEING_WAKE;
    char name[FAULT_BYTES / 2];

    if (asked->fault == QUEUEING_NO_MEMORY) {
        s->status = KB_NO_MEMORY;
        return;
    }
    say_name(s, dst, name, sizeof name);
    if (asked->fault == QUEUEING_REQUEST) {
        text_format(s->instances.fault, FAULT_BYTES,
                    "%s sends request %llu on for %.6f ns, and it is %.6f ns: it must be a read or "
                    "a write of some bytes of the memory behind it, from now on",
                    name, (unsigned long long)asked->wrong.id,
                    (double)asked->wrong.t_fs / KB_FS_PER_NS, (double)asked->now_fs / KB_FS_PER_NS);
        s->status = KB_COMPONENT_ERROR;
        return;
    }
    text_format(s->instances.fault, FAULT_BYTES,
                "%s %s %llu at %.6f ns, and it is %.6f ns: %s lies ahead", name,
                wake ? "asks to be woken with" : "says that it is done with transaction",
                (unsigned long long)asked->wrong.id, (double)asked->wrong.t_fs / KB_FS_PER_NS,
                (double)asked->now_fs / KB_FS_PER_NS, wake ? "a wake" : "an end");
    s->status = KB_COMPONENT_ERROR;
}

void queue_fault_id(struct kb_sim *s, uint32_t dst, uint64_t id)
{
    char name[FAULT_BYTES / 2];

    say_name(s, dst, name, sizeof name);
    text_format(s->instances.fault, FAULT_BYTES,
                "%s says at %.6f ns that it is done with transaction %llu, which does not wait in "
                "it",
                name, (double)s->instances.queues.of[dst].asked.now_fs / KB_FS_PER_NS,
                (unsigned long long)id);
    s->status = KB_COMPONENT_ERROR;
}

/* The one with the smallest id of those that wait. */
static const struct waiting *first_waiting(const struct queues *q)
{
    const struct waiting *first = NULL;

    for (uint64_t i = 0; q->waiting && i < UINT64_C(1) << q->bits; i++)
        if (q->waiting[i].slot != TXN_NONE && (!first || q->waiting[i].id < first->id))
            first = &q->waiting[i];
    return first;
}

bool queues_never_end(struct kb_sim *s)
{
    const struct waiting *first =
        s->instances.queues.of ? first_waiting(&s->instances.queues) : NULL;
    char name[FAULT_BYTES / 2];

    if (s->instances.never)
        return true;
    if (!first)
        return false;
    if (s->pause_fs != UINT64_MAX) /* what is added yet may end it */
        return true;
    say_name(s, s->txns[first->slot].dst, name, sizeof name);
    text_format(s->instances.fault, FAULT_BYTES,
                "transaction %u never ends: %s is never done "
                "with it",
                s->txns[first->slot].id, name);
    s->instances.never++;
    return true;
}
