/*
 * child_rows.h -- transactions that an L2 makes: reads of what it lacks, writes of what it drops.
 *
 * A child is a row of its own, from the L2 of its maker's cube to a slice. It takes no channel. It
 * has the id of its maker, and a part number of its own (children.h). Its slot is free when it has
 * ended; slots come from beyond those of all other rows, or of kernels from theirs.
 *
 * Children of one id may lie in any slots. So where there are some, events of one time, class and
 * id are taken by part numbers: rows_take().
 *
 * Example: c4.pe0 of an MI300X reads 8192 bytes, of two slices, that its L2 lacks. The L2 makes two
 * reads of 4096 bytes, parts 2^20 and 3 * 2^20, which set out together.
 */
#ifndef CHILD_ROWS_H
#define CHILD_ROWS_H
#include "engine/how.h"
#include "engine/split.h"

/*
 * A child of the row in `maker`, the k-th of its direction: for the bytes of s->parts.rows[k]. Its
 * data drain over both legs, `asked` bytes of them. TXN_NONE: no memory, or the run has
 * failed as there is no way.
 */
uint32_t child_make(struct kb_sim *s, uint32_t maker, uint32_t k, bool writes, uint64_t asked);

/* A child sets out, and is counted. */
void child_begins(struct kb_sim *s, uint32_t slot);

/* A row will have been served at `t`. */
static inline void post_done(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    if (__builtin_expect(is_child(s, slot), false)) {
        s->child_end_fs = (int64_t)t > s->child_end_fs ? (int64_t)t : s->child_end_fs;
        s->child_will_end(s, t, slot);
    }
    post(s, t, EV_DONE, slot);
}

/* A child has ended: its slot is free. */
void child_free(struct kb_sim *s, uint32_t slot);

/* The smallest bandwidth of both legs of a child like `x`. */
double child_gbs(const struct kb_sim *s, const struct txn *x);

/* Takes the first event of a row, as calendar_take(). */
uint32_t rows_take_first(struct kb_sim *s);
static inline uint32_t rows_take(struct kb_sim *s)
{
    if (__builtin_expect(topology_has_l2(s->topo), false))
        return rows_take_first(s);
    return calendar_take(&s->calendar, s->txns);
}

#endif
