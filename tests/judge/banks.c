/* banks.c -- a slice with `model: banks`: channels, banks, rows, refresh; docs/model.md "Memories
 * with banks". */
#include "banks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NO_ROW = -1, ACTS = 4 };

/* Fields of an address, as `map` names them. */
enum field { ROW, BANK, COLUMN, GROUP, CHANNEL, RANK, N_FIELDS };

static const char *const field_names[N_FIELDS] = {"row",   "bank",    "column",
                                                  "group", "channel", "rank"};

enum mode { READING, DRAINING };

/* All bursts of a transaction in one row: they pass the bus together. */
struct segment {
    struct visit *of;
    uint32_t bank;
    int64_t row, bursts;
    bool accepted, granted, current;
    bool hit, conflict;            /* its row was open when it was prepared; another one was */
    int64_t prepared_fs, ready_fs; /* of a current one */
    int64_t passed;                /* bursts that the bus was granted for */
    struct segment *next;          /* of its channel, in order of arrival */
    uint64_t *numbers;             /* of its bursts, if its user asks for them */
};

/* An access, until its last segment is granted and, if it is a posted write, accepted. */
struct visit {
    struct judge_access access;
    uint32_t not_accepted, not_granted;
    int64_t last_end_fs, first_burst_fs; /* the latest end; the earliest end of a first burst */
    struct visit *next;
};

struct bank {
    int64_t row, col_fs, pre_fs, act_fs;
};

struct rank {
    int64_t acts_fs[ACTS]; /* the last ones, the latest first */
    int64_t refresh_fs;
};

struct channel {
    struct bank *banks;
    struct rank *ranks;
    int64_t *group_fs;        /* the next column command of each group of each rank */
    struct segment *segments; /* that have arrived and are not granted */
    int64_t bus_fs;
    int64_t last_rank; /* of the burst before; -1: there was none */
    enum mode mode;
    bool last_write, read_granted; /* the direction; since the last drain began */
    int64_t to_drain;              /* writes until the drain ends */
    int64_t decided_fs;
    struct judge_use use;
};

struct judge_banks {
    const struct judge_topo *t;
    struct judge_end slice;
    struct judge_banks_user user;
    struct channel *channels;
    struct visit *visits;
    enum field map[N_FIELDS];      /* most significant first */
    uint64_t sizes[N_FIELDS];      /* how many values a field has; of ROW 0: any */
    uint64_t burst_bytes, n_banks; /* of all ranks */
    int64_t burst_fs, queue, bank_queue;
    bool xor, fcfs, posted, refreshed;
    int64_t rcd, rp, cl, cwl, ras, rrd, faw, rtp, wr, wtr, rtw, refi, rfc, ctrl, ccd_l, rtrs;
    int64_t behind_fs; /* overhead and latency, which come behind the end */
};

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* -- keys ----------------------------------------------------------------------------------- */

static double number(const struct judge_banks *b, const char *key)
{
    return judge_cube_number(b->t, b->slice.sip, b->slice.cube, key);
}

static bool is(const struct judge_banks *b, const char *key, const char *word)
{
    return strcmp(judge_cube_text(b->t, b->slice.sip, b->slice.cube, key), word) == 0;
}

static int64_t timing(const struct judge_banks *b, const char *name)
{
    char key[JUDGE_KEY_BYTES];

    snprintf(key, sizeof key, "cube.hbm.timing_ns.%s", name);
    return llround(number(b, key) * 1e6);
}

static void read_map(struct judge_banks *b)
{
    bool left_out = is(b, "cube.hbm.map.5", "none");

    for (int i = 0; i < N_FIELDS; i++) {
        char key[JUDGE_KEY_BYTES];

        if (left_out && i == 1) {
            b->map[i] = RANK;
            continue;
        }
        snprintf(key, sizeof key, "cube.hbm.map.%d", left_out && i > 1 ? i - 1 : i);
        b->map[i] = ROW;
        while (b->map[i] < N_FIELDS && !is(b, key, field_names[b->map[i]]))
            b->map[i]++;
        if (b->map[i] == N_FIELDS)
            judge_die("%s is no field of an address", key);
    }
}

static void read_keys(struct judge_banks *b)
{
    read_map(b);
    b->sizes[CHANNEL] = (uint64_t)number(b, "cube.hbm.channels");
    b->sizes[GROUP] = (uint64_t)number(b, "cube.hbm.groups");
    b->sizes[BANK] = (uint64_t)number(b, "cube.hbm.banks");
    b->sizes[COLUMN] = (uint64_t)number(b, "cube.hbm.columns");
    b->sizes[RANK] = (uint64_t)number(b, "cube.hbm.ranks");
    b->n_banks = b->sizes[RANK] * b->sizes[GROUP] * b->sizes[BANK];
    b->burst_bytes = (uint64_t)number(b, "cube.hbm.burst_bytes");
    b->burst_fs = llround((double)b->burst_bytes * 1e6 /
                          (number(b, "cube.hbm.bw_gbs") * number(b, "cube.hbm.efficiency") /
                           (double)b->sizes[CHANNEL]));
    b->queue = (int64_t)number(b, "cube.hbm.queue");
    b->bank_queue = (int64_t)number(b, "cube.hbm.bank_queue");
    b->xor = is(b, "cube.hbm.hash", "xor");
    b->fcfs = is(b, "cube.hbm.policy", "fcfs");
    b->posted = is(b, "cube.hbm.write_ack", "accepted");
    b->refreshed = b->refreshed && is(b, "cube.hbm.refresh", "all");
    b->behind_fs = llround(number(b, "cube.hbm.overhead_ns") * 1e6) +
                   llround(number(b, "cube.hbm.latency_ns") * 1e6);
    b->rcd = timing(b, "rcd");
    b->rp = timing(b, "rp");
    b->cl = timing(b, "cl");
    b->cwl = timing(b, "cwl");
    b->ras = timing(b, "ras");
    b->rrd = timing(b, "rrd");
    b->faw = timing(b, "faw");
    b->rtp = timing(b, "rtp");
    b->wr = timing(b, "wr");
    b->wtr = timing(b, "wtr");
    b->rtw = timing(b, "rtw");
    b->refi = timing(b, "refi");
    b->rfc = timing(b, "rfc");
    b->ctrl = timing(b, "ctrl");
    b->ccd_l = timing(b, "ccd_l");
    b->rtrs = timing(b, "rtrs");
}

bool judge_has_banks(const struct judge_topo *t, const struct judge_end *memory)
{
    return memory->kind == JUDGE_SLICE &&
           strcmp(judge_cube_text(t, memory->sip, memory->cube, "cube.hbm.model"), "banks") == 0;
}

uint64_t judge_channel_number(const struct judge_topo *t, const struct judge_end *slice,
                              uint32_t channel)
{
    return (((uint64_t)slice->sip * t->cubes + slice->cube) << 32 | (uint64_t)slice->unit << 16) +
           channel;
}

struct judge_banks *judge_banks_new(const struct judge_topo *t, const struct judge_end *slice,
                                    bool refreshed, const struct judge_banks_user *user)
{
    struct judge_banks *b = judge_alloc(1, sizeof *b);

    *b = (struct judge_banks){.t = t, .slice = *slice, .user = *user, .refreshed = refreshed};
    read_keys(b);
    b->channels = judge_alloc(b->sizes[CHANNEL], sizeof *b->channels);
    for (uint64_t i = 0; i < b->sizes[CHANNEL]; i++) {
        struct channel *c = &b->channels[i];

        c->banks = judge_alloc(b->n_banks, sizeof *c->banks);
        for (uint64_t bank = 0; bank < b->n_banks; bank++)
            c->banks[bank].row = NO_ROW;
        c->ranks = judge_alloc(b->sizes[RANK], sizeof *c->ranks);
        c->group_fs = judge_alloc(b->sizes[RANK] * b->sizes[GROUP], sizeof *c->group_fs);
        for (uint64_t rank = 0; rank < b->sizes[RANK]; rank++) {
            struct rank *r = &c->ranks[rank];

            for (int act = 0; act < ACTS; act++)
                r->acts_fs[act] = INT64_MIN / 2;
            r->refresh_fs =
                b->refreshed
                    ? llround((double)b->refi * (double)(rank + 1) / (double)b->sizes[RANK])
                    : INT64_MAX;
        }
        c->last_rank = -1;
        c->decided_fs = -1;
        c->read_granted = true;
    }
    return b;
}

void judge_banks_free(struct judge_banks *b)
{
    if (!b)
        return;
    for (uint64_t i = 0; i < b->sizes[CHANNEL]; i++) {
        while (b->channels[i].segments) {
            struct segment *first = b->channels[i].segments;

            b->channels[i].segments = first->next;
            free(first->numbers);
            free(first);
        }
        free(b->channels[i].banks);
        free(b->channels[i].ranks);
        free(b->channels[i].group_fs);
    }
    while (b->visits) {
        struct visit *first = b->visits;

        b->visits = first->next;
        free(first);
    }
    free(b->channels);
    free(b);
}

/* -- segments ------------------------------------------------------------------------------- */

/* Where a burst lies: its channel, its bank's number in it, its row. */
static uint64_t find_burst(const struct judge_banks *b, uint64_t burst, uint32_t *bank,
                           int64_t *row)
{
    uint64_t of[N_FIELDS] = {0};

    for (int i = N_FIELDS - 1; i > 0; i--) {
        of[b->map[i]] = burst % b->sizes[b->map[i]];
        burst /= b->sizes[b->map[i]];
    }
    of[ROW] = burst;
    *row = (int64_t)burst;
    uint64_t in_rank = of[GROUP] * b->sizes[BANK] + of[BANK],
             all = b->sizes[GROUP] * b->sizes[BANK];

    if (b->xor) {
        in_rank ^= burst / b->sizes[CHANNEL] % all;
        of[CHANNEL] ^= burst % b->sizes[CHANNEL];
    }
    *bank = (uint32_t)(of[RANK] * all + in_rank);
    return of[CHANNEL];
}

/* The channel decides at the end of this instant. */
static void wake_at(struct judge_banks *b, const struct channel *c, int64_t fs)
{
    b->user.wake(b->user.arg, b, &b->slice, (uint32_t)(c - b->channels), fs);
}

/* Does `a` stand behind a new access: by arrival, id and part? */
static bool is_behind(const struct judge_access *a, const struct judge_access *new)
{
    if (a->arrive_fs != new->arrive_fs)
        return a->arrive_fs > new->arrive_fs;
    if (a->id != new->id)
        return a->id > new->id;
    return a->part > new->part;
}

static void note_number(const struct judge_banks *b, struct segment *s, uint64_t burst)
{
    if (!b->user.burst)
        return;
    s->numbers = judge_grow(s->numbers, (size_t)s->bursts, sizeof *s->numbers);
    s->numbers[s->bursts - 1] = burst;
}

/* One more burst of `visit`, to the segment of its row or, if it is the first there, a new one. */
static void add_burst(struct judge_banks *b, struct visit *visit, uint64_t burst)
{
    uint32_t bank;
    int64_t row;
    struct channel *c = &b->channels[find_burst(b, burst, &bank, &row)];
    struct segment **at = &c->segments, *s;

    for (s = c->segments; s; s = s->next)
        if (s->of == visit && s->bank == bank && s->row == row) {
            s->bursts++;
            note_number(b, s, burst);
            return;
        }
    while (*at && !is_behind(&(*at)->of->access, &visit->access))
        at = &(*at)->next;
    s = judge_alloc(1, sizeof *s);
    *s = (struct segment){.of = visit, .bank = bank, .row = row, .bursts = 1, .next = *at};
    *at = s;
    note_number(b, s, burst);
    visit->not_accepted++;
    visit->not_granted++;
    wake_at(b, c, visit->access.arrive_fs);
}

void judge_banks_arrive(struct judge_banks *b, const struct judge_access *access)
{
    struct visit *visit = judge_alloc(1, sizeof *visit);
    const struct judge_stretch one = {access->offset, access->nbytes};
    uint64_t last = UINT64_MAX;

    *visit = (struct visit){.access = *access, .first_burst_fs = INT64_MAX, .next = b->visits};
    b->visits = visit;
    for (size_t i = 0; i < access->n_runs || i == 0; i++) {
        struct judge_stretch run = access->n_runs ? access->runs[i] : one;

        for (uint64_t burst = run.at / b->burst_bytes; burst * b->burst_bytes < run.at + run.nbytes;
             burst++) {
            if (burst != last)
                add_burst(b, visit, burst);
            last = burst;
        }
    }
}

/* -- rule 1: refresh ------------------------------------------------------------------------ */

static struct segment *current_of(const struct channel *c, uint32_t bank)
{
    for (struct segment *s = c->segments; s; s = s->next)
        if (s->current && s->bank == bank)
            return s;
    return NULL;
}

/* The rank of a bank. */
static uint32_t rank_of(const struct judge_banks *b, uint32_t bank)
{
    return (uint32_t)(bank / (b->sizes[GROUP] * b->sizes[BANK]));
}

static void refresh(struct judge_banks *b, struct channel *c, uint32_t rank)
{
    int64_t s = larger(c->ranks[rank].refresh_fs, c->bus_fs);
    uint32_t n = (uint32_t)(b->n_banks / b->sizes[RANK]);

    for (uint32_t i = rank * n; i < (rank + 1) * n; i++)
        if (c->banks[i].row != NO_ROW)
            s = larger(s, c->banks[i].pre_fs);
    s += b->rp;
    for (uint32_t i = rank * n; i < (rank + 1) * n; i++) {
        struct bank *bank = &c->banks[i];
        struct segment *current = current_of(c, i);

        bank->act_fs = s + b->rfc;
        if (current) {
            bank->col_fs = larger(bank->col_fs, s + b->rfc + b->rcd);
            current->ready_fs = larger(current->ready_fs, s + b->rfc + b->rcd);
            bank->pre_fs = larger(bank->pre_fs, s + b->rfc + b->ras);
        } else {
            bank->row = NO_ROW;
        }
    }
    if (b->sizes[RANK] == 1)
        c->bus_fs = larger(c->bus_fs, s + b->rfc);
    c->ranks[rank].refresh_fs += b->refi;
}

/* -- rule 2: accept ------------------------------------------------------------------------- */

static int64_t queued(const struct channel *c, bool write)
{
    int64_t n = 0;

    for (const struct segment *s = c->segments; s; s = s->next)
        n += s->accepted && s->of->access.write == write;
    return n;
}

static void drop_if_over(struct judge_banks *b, struct visit *visit)
{
    struct visit **at = &b->visits;

    if (visit->not_accepted || visit->not_granted)
        return;
    while (*at != visit)
        at = &(*at)->next;
    *at = visit->next;
    free(visit);
}

static void accept(struct judge_banks *b, struct channel *c, int64_t t)
{
    int64_t in_queue[] = {queued(c, false), queued(c, true)};

    for (struct segment *s = c->segments; s; s = s->next) {
        const struct judge_access *access = &s->of->access;

        if (s->accepted || in_queue[access->write] >= b->queue)
            continue;
        s->accepted = true;
        in_queue[access->write]++;
        s->of->not_accepted--;
        if (access->write && b->posted && s->of->not_accepted == 0)
            b->user.done(b->user.arg, access,
                         larger(t + 1, access->arrive_fs + access->drain_fs) + b->behind_fs);
    }
}

/* -- rule 3: mode --------------------------------------------------------------------------- */

static void choose_mode(struct judge_banks *b, struct channel *c)
{
    int64_t reads = queued(c, false), writes = queued(c, true);
    bool full = writes == b->queue && (reads == 0 || c->read_granted);
    bool alone = reads == 0 && writes > (b->posted ? b->queue / 4 : 0);

    if (c->mode == DRAINING && c->to_drain > 0)
        return;
    c->mode = full || alone ? DRAINING : READING;
    if (c->mode == READING)
        return;
    c->to_drain = writes;
    c->read_granted = false;
}

/* -- rule 4: prepare ------------------------------------------------------------------------ */

/* Of a bank's segments of this direction the one that it prepares; NULL: there is none. */
static struct segment *next_of(const struct judge_banks *b, const struct channel *c, uint32_t bank)
{
    struct segment *oldest = NULL;
    int64_t looked_at = 0;

    for (struct segment *s = c->segments; s; s = s->next) {
        if (!s->accepted || s->bank != bank || s->of->access.write != (c->mode == DRAINING))
            continue;
        if (b->bank_queue && looked_at++ == b->bank_queue)
            break;
        if (!b->fcfs && s->row == c->banks[bank].row)
            return s;
        if (!oldest)
            oldest = s;
    }
    return oldest;
}

/* Opens the row at the first instant at which that is allowed. */
static void activate(struct judge_banks *b, struct channel *c, uint32_t number, int64_t row,
                     int64_t t)
{
    struct bank *bank = &c->banks[number];
    struct rank *rank = &c->ranks[rank_of(b, number)];
    int64_t a = larger(t, bank->act_fs);

    if (bank->row != NO_ROW)
        a = larger(a, larger(t, bank->pre_fs) + b->rp);
    a = larger(a, rank->acts_fs[0] + b->rrd);
    a = larger(a, rank->acts_fs[ACTS - 1] + b->faw);
    c->use.activations++;
    memmove(&rank->acts_fs[1], &rank->acts_fs[0], (ACTS - 1) * sizeof rank->acts_fs[0]);
    rank->acts_fs[0] = a;
    bank->row = row;
    bank->col_fs = a + b->rcd;
    bank->pre_fs = a + b->ras;
}

static void prepare(struct judge_banks *b, struct channel *c, int64_t t)
{
    for (uint32_t i = 0; i < b->n_banks; i++) {
        struct bank *bank = &c->banks[i];
        struct segment *s;

        if (current_of(c, i) || !(s = next_of(b, c, i)))
            continue;
        s->hit = bank->row == s->row;
        s->conflict = bank->row != s->row && bank->row != NO_ROW;
        if (bank->row != s->row)
            activate(b, c, i, s->row, t);
        s->current = true;
        s->prepared_fs = t;
        s->ready_fs = larger(t, bank->col_fs);
    }
}

/* -- rule 5: bus ---------------------------------------------------------------------------- */

/* Where bursts of one group keep apart, each is granted the bus by itself. */
static bool one_by_one(const struct judge_banks *b)
{
    return b->ccd_l > b->burst_fs;
}

/* When the group of a bank may have its next column command. */
static int64_t *group_fs(const struct judge_banks *b, const struct channel *c, uint32_t bank)
{
    return &c->group_fs[bank / b->sizes[BANK]];
}

/* The oldest current segment that is ready, of the mode's direction or of any. */
static struct segment *oldest_ready(const struct judge_banks *b, const struct channel *c, int64_t t,
                                    bool any)
{
    for (struct segment *s = c->segments; s; s = s->next)
        if (s->current && s->ready_fs <= t && (!one_by_one(b) || *group_fs(b, c, s->bank) <= t) &&
            (any || s->of->access.write == (c->mode == DRAINING)))
            return s;
    return NULL;
}

static void take_out(struct channel *c, struct segment *s)
{
    struct segment **at = &c->segments;

    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    free(s->numbers);
    free(s);
}

static void count_use(struct judge_use *use, const struct segment *s)
{
    use->count++;
    use->hits += s->hit;
    use->conflicts += s->conflict;
    use->misses += !s->hit && !s->conflict;
}

/* The last burst has passed the bus, at `last`: the segment leaves. */
static void leave(struct judge_banks *b, struct channel *c, struct segment *s, int64_t last)
{
    struct bank *bank = &c->banks[s->bank];
    struct visit *visit = s->of;
    const struct judge_access *access = &visit->access;
    int64_t data = (access->write ? b->cwl : b->cl) + b->burst_fs + b->ctrl;

    count_use(&c->use, s);
    bank->pre_fs =
        larger(bank->pre_fs, access->write ? last + b->cwl + b->burst_fs + b->wr : last + b->rtp);
    if (access->write)
        c->to_drain--;
    else
        c->read_granted = true;
    visit->last_end_fs = larger(visit->last_end_fs, last + data);
    if (--visit->not_granted == 0 && !(access->write && b->posted))
        b->user.done(
            b->user.arg, access,
            larger(visit->last_end_fs, visit->first_burst_fs + access->drain_fs - b->burst_fs) +
                b->behind_fs);
    take_out(c, s);
    drop_if_over(b, visit);
}

/* The segment passes the bus from `c_fs` on: all of it, or its next burst. */
static void pass(struct judge_banks *b, struct channel *c, struct segment *s, int64_t c_fs)
{
    struct visit *visit = s->of;
    const struct judge_access *access = &visit->access;
    int64_t n = one_by_one(b) ? 1 : s->bursts, last = c_fs + (n - 1) * b->burst_fs;
    int64_t data = (access->write ? b->cwl : b->cl) + b->burst_fs + b->ctrl;

    c->bus_fs = last + b->burst_fs;
    c->last_rank = rank_of(b, s->bank);
    c->last_write = access->write;
    *group_fs(b, c, s->bank) = c_fs + b->ccd_l;
    c->use.bytes += (uint64_t)n * b->burst_bytes;
    c->use.busy_fs += n * b->burst_fs;
    if (c_fs + data < visit->first_burst_fs)
        visit->first_burst_fs = c_fs + data;
    b->user.granted(b->user.arg, access);
    for (int64_t i = 0; i < n && b->user.burst; i++)
        b->user.burst(b->user.arg, access, s->numbers[s->passed + i],
                      c_fs + i * b->burst_fs + data);
    s->passed += n;
    if (s->passed == s->bursts)
        leave(b, c, s, last);
}

static bool grant(struct judge_banks *b, struct channel *c, int64_t t)
{
    struct segment *s;
    int64_t c_fs;

    if (c->bus_fs > t)
        return false;
    s = oldest_ready(b, c, t, false);
    if (!s)
        s = oldest_ready(b, c, t, true);
    if (!s)
        return false;
    c_fs = larger(t, c->banks[s->bank].col_fs);
    if (s->of->access.write && !c->last_write)
        c_fs = larger(c_fs, c->bus_fs + b->cl - b->cwl + b->rtw);
    if (!s->of->access.write && c->last_write)
        c_fs = larger(c_fs, c->bus_fs + b->cwl + b->wtr);
    if (c->last_rank >= 0 && c->last_rank != rank_of(b, s->bank))
        c_fs = larger(c_fs, c->bus_fs + b->rtrs);
    pass(b, c, s, c_fs);
    return true;
}

/* ------------------------------------------------------------------------------------------- */

void judge_banks_decide(struct judge_banks *b, uint32_t channel, int64_t now_fs)
{
    struct channel *c = &b->channels[channel];
    bool granted = true;

    if (c->decided_fs == now_fs)
        return;
    c->decided_fs = now_fs;
    for (uint32_t rank = 0; rank < b->sizes[RANK]; rank++)
        while (c->ranks[rank].refresh_fs <= now_fs)
            refresh(b, c, rank);
    for (int pass = 0; pass < 2 && granted; pass++) {
        accept(b, c, now_fs);
        choose_mode(b, c);
        prepare(b, c, now_fs);
        if (pass == 0)
            granted = grant(b, c, now_fs);
    }
    for (const struct segment *s = c->segments; s; s = s->next)
        if (s->current) {
            if (s->ready_fs > now_fs)
                wake_at(b, c, s->ready_fs);
            if (one_by_one(b) && *group_fs(b, c, s->bank) > now_fs)
                wake_at(b, c, *group_fs(b, c, s->bank));
        }
    if (c->bus_fs > now_fs)
        wake_at(b, c, c->bus_fs);
}

void judge_banks_add_uses(const struct judge_banks *b, struct judge_use **uses, size_t *n)
{
    size_t slice = *n - 1;

    (*uses)[slice].has_rows = true;
    for (uint64_t i = 0; i < b->sizes[CHANNEL]; i++) {
        struct judge_use use = b->channels[i].use, *all = &(*uses)[slice];

        if (!use.count)
            continue;
        all->busy_fs += use.busy_fs;
        all->hits += use.hits;
        all->misses += use.misses;
        all->conflicts += use.conflicts;
        all->activations += use.activations;
        use.has_rows = true;
        snprintf(use.name, sizeof use.name, "%.90s.ch%u", all->name, (unsigned)i);
        judge_add_use(uses, n, &use);
    }
}

/* -- alone ---------------------------------------------------------------------------------- */

struct alone {
    struct judge_events events;
    int64_t done_fs;
};

static void wake_alone(void *arg, struct judge_banks *b, const struct judge_end *slice,
                       uint32_t channel, int64_t fs)
{
    struct alone *a = arg;

    (void)b;
    (void)slice;
    judge_post(&a->events,
               (struct judge_event){.fs = fs, .class = JUDGE_ARBITRATION, .id = channel});
}

static void granted_alone(void *arg, const struct judge_access *access)
{
    (void)arg;
    (void)access;
}

static void done_alone(void *arg, const struct judge_access *access, int64_t done_fs)
{
    struct alone *a = arg;

    (void)access;
    a->done_fs = done_fs;
}

/* One that comes next, of `n`; all come behind what is due before. */
struct coming {
    struct alone alone; /* first: what wake_alone() gets */
    const struct judge_banks_user *user;
    size_t left;
};

static void granted_coming(void *arg, const struct judge_access *access)
{
    (void)arg;
    (void)access;
}

static void done_coming(void *arg, const struct judge_access *access, int64_t done_fs)
{
    struct coming *all = arg;

    all->left--;
    all->user->done(all->user->arg, access, done_fs);
}

static void burst_coming(void *arg, const struct judge_access *access, uint64_t number,
                         int64_t end_fs)
{
    struct coming *all = arg;

    all->user->burst(all->user->arg, access, number, end_fs);
}

void judge_banks_alone(const struct judge_topo *t, const struct judge_end *slice,
                       const struct judge_access *accesses, size_t n,
                       const struct judge_banks_user *user)
{
    struct coming all = {.user = user, .left = n};
    struct judge_banks_user own = {&all, wake_alone, granted_coming, done_coming, burst_coming};
    struct judge_banks *b = judge_banks_new(t, slice, false, &own);
    struct judge_events *events = &all.alone.events;
    size_t next = 0;

    while (all.left > 0) {
        if (next < n && (events->n == 0 || events->heap[0].fs >= accesses[next].arrive_fs)) {
            judge_banks_arrive(b, &accesses[next++]);
            continue;
        }
        if (events->n == 0)
            judge_die("accesses that are alone do not end");
        struct judge_event e = judge_next(events);

        judge_banks_decide(b, (uint32_t)e.id, e.fs);
    }
    judge_banks_free(b);
    free(events->heap);
}

int64_t judge_banks_alone_fs(const struct judge_topo *t, const struct judge_end *slice,
                             const struct judge_access *access)
{
    struct alone a = {.done_fs = -1};
    struct judge_banks_user user = {&a, wake_alone, granted_alone, done_alone, NULL};
    struct judge_banks *b = judge_banks_new(t, slice, false, &user);
    struct judge_access first = *access;

    first.arrive_fs = 0;
    judge_banks_arrive(b, &first);
    while (a.done_fs < 0 && a.events.n > 0) {
        struct judge_event e = judge_next(&a.events);

        judge_banks_decide(b, (uint32_t)e.id, e.fs);
    }
    if (a.done_fs < 0)
        judge_die("an access that is alone does not end");
    judge_banks_free(b);
    free(a.events.heap);
    return a.done_fs;
}
