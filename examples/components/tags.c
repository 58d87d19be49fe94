/* kernbench component: front tags
 * sets    integer  256   1..3072     sets of a slice
 * ways    integer  8     1..64       lines of a set; sets * ways at most 3072
 * line    integer  64    16..4096    bytes of a line
 * hit_ns  number   2.0   0.001..1e6  to the end, from the arrival or the last line that was missing
 */

/*
 * The tags of a cache in front of a memory: the line used longest ago goes, writes stay until then.
 * A line that is missing is a read of its own of the memory behind, and one that goes and was
 * written a write. A request is done when all its lines are there: those that it, or one before it,
 * has asked for. Data are not kept: they lie in the memory.
 */
enum { TAGS_LINES = TAGS_SETS * TAGS_WAYS, TAGS_WAITING = 256, TAGS_WRITE_BACK = 1 };
_Static_assert(TAGS_LINES <= 3072, "a cache has at most 3072 lines");

struct tags {
    struct {
        uint64_t line; /* 1 + its number; 0: none */
        uint32_t used; /* when, by count */
        bool written;
    } tags[TAGS_SETS][TAGS_WAYS];
    struct {
        uint64_t id, first, last; /* lines */
        uint64_t left;            /* of these on their way */
    } waiting[TAGS_WAITING];
    uint64_t coming[TAGS_WAITING]; /* lines on their way, by number */
    int n_waiting, n_coming;
    uint32_t count;
};

static inline void tags_init(struct tags *s)
{
    (void)s; /* zeroed: empty */
}

static inline void tags_send(struct kb_handle *h, uint64_t line, uint8_t op, int64_t now_fs)
{
    struct kb_request r = {.id = line * 2 + (op == KB_OP_WRITE ? TAGS_WRITE_BACK : 0),
                           .op = op,
                           .offset = line * TAGS_LINE,
                           .bytes = TAGS_LINE};

    kb_request_to(h, &r, now_fs);
}

static inline bool tags_comes(const struct tags *s, uint64_t line)
{
    for (int i = 0; i < s->n_coming; i++)
        if (s->coming[i] == line)
            return true;
    return false;
}

/* Its place among the tags, where it is from now on. */
static inline void tags_touch(struct tags *s, uint64_t line, bool writes, int64_t now_fs,
                               struct kb_handle *h)
{
    int way = 0, set = (int)(line % TAGS_SETS);

    for (int i = 0; i < TAGS_WAYS; i++) {
        if (s->tags[set][i].line == line + 1) {
            s->tags[set][i].used = ++s->count;
            s->tags[set][i].written |= writes;
            return;
        }
        if (s->tags[set][i].used < s->tags[set][way].used)
            way = i;
    }
    if (s->tags[set][way].written)
        tags_send(h, s->tags[set][way].line - 1, KB_OP_WRITE, now_fs);
    s->tags[set][way].line = line + 1;
    s->tags[set][way].used = ++s->count;
    s->tags[set][way].written = writes;
    if (tags_comes(s, line) || s->n_coming == TAGS_WAITING)
        return;
    s->coming[s->n_coming++] = line;
    tags_send(h, line, KB_OP_READ, now_fs);
}

static inline void tags_arrive(struct tags *s, const struct kb_request *r, int64_t now_fs,
                                struct kb_handle *h)
{
    uint64_t first = r->offset / TAGS_LINE, last = (r->offset + r->bytes - 1) / TAGS_LINE;
    bool writes = r->op == KB_OP_WRITE || r->op == KB_OP_H2D;
    uint64_t left = 0;

    if (s->n_waiting == TAGS_WAITING || last - first >= TAGS_WAITING) {
        kb_pass_on(h, r->id, now_fs); /* it has no room for more */
        return;
    }
    for (uint64_t line = first; line <= last; line++) {
        tags_touch(s, line, writes, now_fs, h);
        left += tags_comes(s, line);
    }
    if (!left) {
        kb_done(h, r->id, now_fs + TAGS_HIT_FS);
        return;
    }
    s->waiting[s->n_waiting].id = r->id;
    s->waiting[s->n_waiting].first = first;
    s->waiting[s->n_waiting].last = last;
    s->waiting[s->n_waiting++].left = left;
}

static inline void tags_wake(struct tags *s, uint64_t id, int64_t now_fs, struct kb_handle *h)
{
    (void)s, (void)id, (void)now_fs, (void)h; /* it asks for none */
}

/* A line is there: those are done that wait for no other one. */
static inline void tags_ended(struct tags *s, uint64_t id, int64_t now_fs, struct kb_handle *h)
{
    uint64_t line = id / 2;
    int n = 0, i = 0;

    if (id & TAGS_WRITE_BACK)
        return;
    while (s->coming[i] != line)
        i++;
    s->coming[i] = s->coming[--s->n_coming];
    for (i = 0; i < s->n_waiting; i++) {
        if (line >= s->waiting[i].first && line <= s->waiting[i].last)
            s->waiting[i].left--;
        if (s->waiting[i].left)
            s->waiting[n++] = s->waiting[i];
        else
            kb_done(h, s->waiting[i].id, now_fs + TAGS_HIT_FS);
    }
    s->n_waiting = n;
}
