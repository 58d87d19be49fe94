/* kernbench component: queueing open_page
 * row_bytes  integer  1024  64..65536  bytes of a row
 * row_ns     number   28.0  0..1e6     to close the open row and open another
 * waiting    integer  64    2..1024    requests that it chooses from
 */

/* A memory with one open row: first the oldest request of that row, else the oldest of all. */
struct open_page {
    struct {
        uint64_t id, row;
        int64_t hold_fs, done_fs; /* from its turn on, without the row */
    } list[OPEN_PAGE_WAITING];    /* what waits, oldest first */
    int n;
    uint64_t open;   /* 1 + the number of the row */
    int64_t free_fs; /* held until then */
};

static inline void open_page_init(struct open_page *s)
{
    s->open = 0; /* none */
}

static inline void open_page_serve(struct open_page *s, int64_t t_fs, struct kb_handle *h)
{
    int i = 0;

    while (i < s->n - 1 && s->list[i].row != s->open)
        i++;
    if (s->list[i].row != s->open) {
        i = 0;
        t_fs += OPEN_PAGE_ROW_FS;
    }
    s->open = s->list[i].row;
    s->free_fs = t_fs + s->list[i].hold_fs;
    kb_done(h, s->list[i].id, t_fs + s->list[i].done_fs);
    kb_wake_at(h, 0, s->free_fs);
    for (s->n--; i < s->n; i++)
        s->list[i] = s->list[i + 1];
}

static inline void open_page_arrive(struct open_page *s, const struct kb_request *r, int64_t now_fs,
                                    struct kb_handle *h)
{
    s->list[s->n].id = r->id;
    s->list[s->n].row = 1 + r->offset / OPEN_PAGE_ROW_BYTES;
    s->list[s->n].hold_fs = r->own_fs ? r->own_fs : 1; /* time must go on */
    s->list[s->n++].done_fs = (r->drain_fs ? r->drain_fs : 1) + r->overhead_fs + r->latency_fs;
    if (now_fs >= s->free_fs || s->n == OPEN_PAGE_WAITING) /* full: it decides early */
        open_page_serve(s, now_fs > s->free_fs ? now_fs : s->free_fs, h);
}

static inline void open_page_wake(struct open_page *s, uint64_t id, int64_t now_fs,
                                  struct kb_handle *h)
{
    if (id == 0 && s->n && now_fs >= s->free_fs)
        open_page_serve(s, now_fs, h);
}
