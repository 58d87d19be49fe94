/* children.c -- records of what transactions make on their way. */
#include "engine/children.h"
#include "base/rows.h"

static bool is_before(const struct child_record *a, const struct child_record *b)
{
    return a->at < b->at || (a->at == b->at && a->part < b->part);
}

static void swap(struct child_record *a, struct child_record *b)
{
    struct child_record t = *a;

    *a = *b;
    *b = t;
}

bool children_post(struct children *c, uint64_t t, enum ev_class class, uint32_t id, uint64_t part)
{
    if (!rows_grow(&c->rows, &c->room, c->n + 1, sizeof *c->rows))
        return false;
    /* rows of the same id are before it: their slots are smaller */
    c->rows[c->n] = (struct child_record){ev_make(t, class, id, EV_MAX_SLOTS - 1), part};
    for (size_t i = c->n++; i && is_before(&c->rows[i], &c->rows[(i - 1) / 2]); i = (i - 1) / 2)
        swap(&c->rows[i], &c->rows[(i - 1) / 2]);
    return true;
}

struct child_record children_take(struct children *c)
{
    struct child_record first = c->rows[0];
    size_t i = 0, least;

    c->rows[0] = c->rows[--c->n];
    for (;; i = least) {
        least = i;
        for (size_t k = 2 * i + 1; k <= 2 * i + 2; k++)
            if (k < c->n && is_before(&c->rows[k], &c->rows[least]))
                least = k;
        if (least == i)
            return first;
        swap(&c->rows[i], &c->rows[least]);
    }
}
