/* race_launch.c -- launches: what of the PEs that ended happens before those that begin.
 *
 * A launch that ends leaves what its PEs have seen together, and one that sets out begins with what
 * those have left that it waited for. Mostly that is all there has been: then nothing that was
 * noted so far can race any more, and all of it is forgotten.
 *
 * Example: A on PE 0 and B on PE 1 run side by side, C on PE 0 waits for B. C begins with {0: 1, 1:
 * 1} and has no race with either, while an access of B and one of A, of the same bytes, are one.
 */
#include <stdlib.h>
#include "record/race_parts.h"

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static uint32_t race_pe_of(const struct race_launch *l, size_t i)
{
    return l->pes ? l->pes[i] : (uint32_t)i;
}

static bool race_has_pe(const struct race_launch *l, uint32_t pe)
{
    return !l->pes ? pe < l->n : bsearch(&pe, l->pes, l->n, sizeof pe, by_number) != NULL;
}

static struct ended *find_ended(const struct race *r, uint32_t number)
{
    struct ended *e = r->ended;

    while (e && e->number != number)
        e = e->next;
    return e;
}

/* Does all that has ended happen before what has seen `seen`? */
static bool follows_all(const struct race *r, const struct vclock *seen)
{
    for (const struct ended *e = r->ended; e; e = e->next)
        if (vclock_of(seen, e->pe) < e->clock)
            return false;
    return true;
}

/* What lies in queues of an earlier launch of these PEs is lost. */
static void clear_channels(struct race *r, const struct race_launch *l)
{
    for (uint32_t i = 0; i < HASH_ROWS; i++) {
        struct channel **link = &r->channels[i], *c;

        while ((c = *link)) {
            if (!race_has_pe(l, c->from) && !race_has_pe(l, c->to)) {
                link = &c->next;
                continue;
            }
            *link = c->next;
            race_channel_free(c);
        }
    }
}

/* Its PEs begin with what `seen` has, which is that of others beside. */
static void begin_with(struct race *r, const struct race_launch *l, struct vclock *seen)
{
    clear_channels(r, l);
    for (size_t i = 0; i < l->n; i++) {
        struct race_pe *p = &r->pes[race_pe_of(l, i)];

        vclock_drop(p->seen);
        vclock_drop(p->met);
        race_meeting_drop(p->meets);
        *p = (struct race_pe){
            .seen = vclock_keep(seen), .learned = true, .clock = p->clock, .touches = p->touches};
    }
}

bool race_launch_begins(struct race *r, const struct race_launch *l)
{
    struct vclock *seen = NULL;
    bool ok = true;

    for (size_t i = 0; ok && i < l->n_before; i++) {
        const struct ended *e = find_ended(r, l->before[i]);

        ok = !e || vclock_join(&seen, e->seen);
    }
    if (r->under_way == 0 && follows_all(r, seen))
        race_forget(r);
    else
        begin_with(r, l, seen);
    vclock_drop(seen);
    for (size_t i = 0; i < l->n; i++)
        r->pes[race_pe_of(l, i)].kernel = l->kernel;
    r->n_running = l->alone ? l->n : 0;
    r->under_way++;
    return ok && host_spans_update(&r->spans, l->host);
}

/* What its PEs have seen together, all that they did included. */
static bool join_all(struct race *r, const struct race_launch *l, struct vclock **seen)
{
    bool ok = true;

    for (size_t i = 0; ok && i < l->n; i++) {
        uint32_t pe = race_pe_of(l, i);

        ok = race_waited(r, pe, RACE_ALL) && race_publish(r, pe) &&
             vclock_join(seen, r->pes[pe].seen);
    }
    return ok;
}

bool race_launch_ends(struct race *r, const struct race_launch *l)
{
    struct ended *e = calloc(1, sizeof *e);
    uint32_t pe = race_pe_of(l, 0);

    if (!e)
        return false;
    r->under_way--;
    e->number = l->number;
    e->next = r->ended;
    r->ended = e;
    if (l->alone) { /* the next one waits for it: it need not know more */
        e->clock = 0;
        return true;
    }
    if (!join_all(r, l, &e->seen))
        return false;
    e->pe = pe;
    e->clock = vclock_of(e->seen, pe);
    return true;
}
