/* sums.c -- sums of pieces of time: one hash table, and texts by their numbers. */
#include "explain/sums.h"
#include <stdlib.h>
#include <string.h>

/* Words times odd numbers, side by side: a product waits for none before it. */
static uint64_t hash(const struct key *k)
{
    uint64_t h = k->what * UINT64_C(0x9e3779b97f4a7c15) ^ k->of * UINT64_C(0xbf58476d1ce4e5b9) ^
                 k->place * UINT64_C(0xa0761d6478bd642f) ^ k->behind * UINT64_C(0xe7037ed1a0b428db);

    return (h ^ h >> 32) * UINT64_C(0x9e3779b97f4a7c15) >> 24;
}

static bool is_same(const struct key *a, const struct key *b)
{
    return a->what == b->what && a->of == b->of && a->place == b->place && a->behind == b->behind;
}

/* The row of `key`, or the free one where it belongs. */
static struct sum *find(const struct table *t, const struct key *key)
{
    size_t i = hash(key) & (t->cap - 1);

    while (t->row[i].count && !is_same(&t->row[i].key, key))
        i = (i + 1) & (t->cap - 1);
    return &t->row[i];
}

/* Doubles the table once it is half full. */
static bool make_room(struct table *t)
{
    struct table old = *t;

    if (2 * t->n < t->cap)
        return true;
    t->cap = old.cap ? 2 * old.cap : 256;
    t->row = aligned_alloc(sizeof *t->row, t->cap * sizeof *t->row);
    if (!t->row) {
        *t = old;
        return false;
    }
    memset(t->row, 0, t->cap * sizeof *t->row);
    for (size_t i = 0; i < old.cap; i++)
        if (old.row[i].count)
            *find(t, &old.row[i].key) = old.row[i];
    free(old.row);
    return true;
}

uint32_t sums_text(struct sums *s, const char *text)
{
    struct text_at *moved;
    uint32_t i = 0;

    for (; i < s->n_texts; i++)
        if (s->texts[i].at == text)
            return s->texts[i].number;
    if ((i & (i - 1)) == 0) { /* a power of two: full */
        moved = realloc(s->texts, (i ? 2 * (size_t)i : 1) * sizeof *moved);
        if (!moved) {
            sums_fail(s, KB_NO_MEMORY);
            return 0;
        }
        s->texts = moved;
    }
    s->texts[i] = (struct text_at){text, i + 1};
    for (uint32_t j = i; j-- > 0;)
        if (strcmp(s->texts[j].at, text) == 0)
            s->texts[i].number = s->texts[j].number;
    s->n_texts++;
    return s->texts[i].number;
}

void sums_add(struct sums *s, const struct key *key, uint64_t count, wait_sum fs)
{
    struct sum *row;

    if (!make_room(&s->table)) {
        sums_fail(s, KB_NO_MEMORY);
        return;
    }
    row = find(&s->table, key);
    if (!row->count)
        s->table.n++;
    row->key = *key;
    row->count += count;
    row->fs += fs;
}

void sums_add_all(struct sums *s, const struct sums *from)
{
    for (size_t i = 0; i < from->table.cap; i++)
        if (from->table.row[i].count)
            sums_add(s, &from->table.row[i].key, from->table.row[i].count, from->table.row[i].fs);
}

/* Wires, nodes, dispatch, launch, response and return are everywhere: only the sums by place say
 * where. */
static bool has_place(kb_cause cause)
{
    return cause != KB_CAUSE_WIRE && cause != KB_CAUSE_OVERHEAD && cause != KB_CAUSE_DISPATCH &&
           cause != KB_CAUSE_LAUNCH && cause != KB_CAUSE_RESPONSE && cause != KB_CAUSE_RETURN;
}

void sums_part(struct sums *s, struct key of, const struct term *piece)
{
    bool whole =
        of.by == KB_BREAKDOWN_ALL || of.by == KB_BREAKDOWN_OP || of.by >= KB_BREAKDOWN_LINE;

    of.cause = piece->cause & 31;
    of.place = !whole && has_place(piece->cause) ? piece->place : KB_NOWHERE;
    of.behind =
        of.by == KB_BREAKDOWN_WAIT || of.by == KB_BREAKDOWN_PATH ? piece->behind : KB_NOWHERE;
    sums_add(s, &of, piece->count, piece->fs);
}

void sums_whole(struct sums *s, const struct term *piece)
{
    sums_part(s, (struct key){.by = KB_BREAKDOWN_ALL}, piece);
    if (piece->place != KB_NOWHERE)
        sums_part(s, (struct key){.by = KB_BREAKDOWN_PLACE, .of = piece->place}, piece);
}

void sums_free(struct sums *s)
{
    free(s->table.row);
}
