/* kernbench component: node gate
 * interval_ns  number  4.0  0..1e6  time between the heads of two transactions that it lets through
 */

/*
 * A node with a rate limit: it lets one transaction through in an interval, the others wait. The
 * wait is part of its delay, and so of overhead_ns.
 *
 * Example: interval_ns 4, overhead_ns 2, heads at 0, 1 and 10 ns: they leave at 2, 6 and 12 ns.
 */
struct gate {
    int64_t next_fs; /* the next one may go then */
};

static inline void gate_init(struct gate *s)
{
    s->next_fs = 0;
}

static inline int64_t gate_delay(struct gate *s, const struct kb_request *r, int64_t now_fs)
{
    int64_t go_fs = now_fs > s->next_fs ? now_fs : s->next_fs;

    s->next_fs = go_fs + GATE_INTERVAL_FS;
    return go_fs - now_fs + r->overhead_fs;
}
