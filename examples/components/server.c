/* kernbench component: memory server
 * hold_own  integer  1  0..1  1: held for its own time (hold: own), 0: for the drain of the route
 */

/* The built-in memory, written as a component: docs/components.md begins with it. */
struct server {
    char none; /* it needs no state: when it is free, kernbench knows from hold_fs */
};

static inline void server_init(struct server *s)
{
    (void)s;
}

static inline struct kb_served server_serve(struct server *s, const struct kb_request *r,
                                            int64_t now_fs)
{
    (void)s;
    return (struct kb_served){
        .hold_fs = r->overhead_fs + (SERVER_HOLD_OWN ? r->own_fs : r->drain_fs),
        .done_fs = now_fs + r->overhead_fs + r->drain_fs + r->latency_fs,
    };
}
