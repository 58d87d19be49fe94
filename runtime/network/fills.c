/* fills.c -- a ring of the ends of read children. */
#include "network/fills.h"
#include "base/rows.h"
#include "engine/how.h"

enum { FILLS_MAX = 1 << 16 };

int64_t fill_end(const struct fills *f, uint32_t number)
{
    bool known = number - f->first < f->next - f->first;

    return known ? f->ends[number & (f->room - 1)] : 0;
}

void fills_set(struct fills *f, uint32_t number, int64_t end)
{
    if (number - f->first < f->next - f->first)
        f->ends[number & (f->room - 1)] = end;
}

void fills_forget(struct fills *f, int64_t t)
{
    while (f->first != f->next && f->ends[f->first & (f->room - 1)] <= t)
        f->first++;
}

void fills_add(struct kb_sim *s, struct fills *f, int64_t end)
{
    if (f->next - f->first == FILLS_MAX)
        f->first++;
    if (f->next - f->first == f->room &&
        !ring_grow(&f->ends, &f->room, f->first, f->room, sizeof *f->ends)) {
        fail(s, KB_NO_MEMORY);
        return;
    }
    f->ends[f->next++ & (f->room - 1)] = end;
}
