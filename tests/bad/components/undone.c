/* kernbench component: engine undone
 * never  integer  0  0..1  1: it is never done, 0: it was done before it began
 */

struct undone {
    char none;
};

static inline void undone_init(struct undone *s)
{
    s->none = 0;
}

static inline struct kb_served undone_serve(struct undone *s, const struct kb_request *r,
                                            int64_t now_fs)
{
    (void)s, (void)r;
    return (struct kb_served){0, UNDONE_NEVER ? INT64_MAX : now_fs - 1000000};
}
