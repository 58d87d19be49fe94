/* awaited.c -- what transactions at a cache wait for, and their ends when all of it is known.
 *
 * A transaction that has been looked up is done no earlier than by its own drain; than each child
 * of its own; and than each child of others that brings a line which it has found. The end of a
 * child is known when its memory knows it, so there may be a list of those that wait.
 */
#include "network/awaited.h"
#include "base/rows.h"
#include "engine/how.h"
#include "engine/serving.h"

static void add_wait(struct kb_sim *s, struct cache *c, const struct wait_for_child *w)
{
    if (!rows_grow(&c->waits, &c->waits_room, c->n_waits + 1, sizeof *c->waits)) {
        fail(s, KB_NO_MEMORY);
        return;
    }
    c->waits[c->n_waits++] = *w;
    s->caches->rows[w->slot].left++;
}

void await_line(struct kb_sim *s, struct cache *c, uint32_t number, uint32_t slot)
{
    struct wait_for_child *last = c->n_waits ? &c->waits[c->n_waits - 1] : NULL;

    if (last && last->number == number && last->slot == slot)
        last->lines++;
    else
        add_wait(s, c, &(struct wait_for_child){number, slot, 1});
}

void await_own(struct kb_sim *s, struct cache *c, uint32_t number, uint32_t slot)
{
    add_wait(s, c, &(struct wait_for_child){number, slot, 0});
}

int64_t awaited_end(struct kb_sim *s, uint32_t slot)
{
    struct cached *row = &s->caches->rows[slot];
    const struct memory_row *memory = cost_memory(s->topo, s->txns[slot].dst, false);
    int64_t end = row->done_fs, passed;

    if (row->first_fs != NOT_YET) {
        passed = (int64_t)after((uint64_t)row->first_fs,
                                drain_fs(row->asked, cost_last_gbs(&s->mask, memory)));
        end = passed > end ? passed : end;
    }
    if (row->others_fs > end) {
        row->pending_fs = row->others_fs - end;
        end = row->others_fs;
    }
    return end;
}

void awaited_all(struct kb_sim *s, uint32_t slot)
{
    serving_end(s, (uint64_t)awaited_end(s, slot), slot);
}

void awaited_less(struct kb_sim *s, uint32_t slot)
{
    if (--s->caches->rows[slot].left == 0)
        awaited_all(s, slot);
}

void awaited_ends(struct kb_sim *s, struct cache *c, uint32_t number, int64_t end)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < c->n_waits; i++) {
        struct wait_for_child w = c->waits[i];
        struct cached *row = &s->caches->rows[w.slot];
        int64_t *than = w.lines ? &row->others_fs : &row->done_fs;

        if (w.number != number) {
            c->waits[kept++] = w;
            continue;
        }
        if (end > row->ready_fs)
            c->counts.pending += w.lines;
        *than = end > *than ? end : *than;
        awaited_less(s, w.slot);
    }
    c->n_waits = kept;
}
