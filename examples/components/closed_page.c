/* kernbench component: memory closed_page
 * row_bytes  integer  1024  64..65536  bytes of a row; a power of two
 * banks      integer  16    1..1024    banks of a slice; rows go round them
 * row_ns     number   28.0  0..1e6     to open a row and read its first bytes
 * cycle_ns   number   48.0  0..1e6     from one opening of a bank to the next
 */

/*
 * A memory that closes a row after each access: every access opens its rows, none is ever found
 * open. Banks work at the same time, the bus takes one access after the other.
 *
 * Example: 64 bytes at 0 and at 16384 are in one bank: the second waits until 48 ns. 64 bytes at
 * 0 and at 1024 are in two: only the bus is between them.
 */
struct closed_page {
    int64_t ready_fs[CLOSED_PAGE_BANKS]; /* its row may be opened then */
};

static inline void closed_page_init(struct closed_page *s)
{
    for (int i = 0; i < CLOSED_PAGE_BANKS; i++)
        s->ready_fs[i] = 0;
}

static inline struct kb_served closed_page_serve(struct closed_page *s, const struct kb_request *r,
                                                 int64_t now_fs)
{
    uint64_t first = r->offset / CLOSED_PAGE_ROW_BYTES;
    uint64_t last = (r->offset + r->bytes - 1) / CLOSED_PAGE_ROW_BYTES;
    int64_t open_fs = now_fs;

    if (last - first >= CLOSED_PAGE_BANKS) /* all banks, and those of the last rows again */
        first = last - CLOSED_PAGE_BANKS + 1;
    for (uint64_t row = first; row <= last; row++)
        if (s->ready_fs[row % CLOSED_PAGE_BANKS] > open_fs)
            open_fs = s->ready_fs[row % CLOSED_PAGE_BANKS];
    for (uint64_t row = first; row <= last; row++)
        s->ready_fs[row % CLOSED_PAGE_BANKS] = open_fs + CLOSED_PAGE_CYCLE_FS;
    return (struct kb_served){
        .hold_fs = open_fs - now_fs + r->own_fs,
        .done_fs = open_fs + CLOSED_PAGE_ROW_FS + r->overhead_fs +
                   (r->own_fs > r->drain_fs ? r->own_fs : r->drain_fs) + r->latency_fs,
    };
}
