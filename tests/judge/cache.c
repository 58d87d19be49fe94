/* cache.c -- a cache, of a slice or an L2: its lines as a table of sets and ways. */
#include "cache.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A way of a set, and the line in it. */
struct line {
    uint64_t number, touched; /* touched: at which lookup, from 1 */
    bool there, dirty;
    size_t ticket; /* of the lookup that read it last, from 1; 0: none did */
};

/* What has been served, one after the other. */
struct turns {
    struct turn {
        int64_t arrive_fs, begin_fs, held_fs;
    } * of;
    size_t n;
    uint64_t bytes;
};

struct judge_cache {
    const struct judge_topo *t;
    struct judge_end at;
    const char *keys;                        /* "cube.hbm.cache" or "cube.l2" */
    uint64_t line, ways, sets, mshrs, block; /* block: of the memory behind */
    bool at_random, through;
    int64_t latency_fs, memory_overhead_fs, memory_latency_fs;
    double gbs;
    struct line *lines; /* set by set */
    uint64_t lookups, came_in;
    int64_t *children; /* ends of read children, from 1; INT64_MAX: not known yet */
    size_t n_children;
    size_t *tickets; /* which child reads for a ticket, from 1; 0: not known yet */
    size_t n_tickets;
    int64_t free_fs, memory_free_fs;
    struct turns own_turns, turns;
    uint64_t hits, pending, misses, evictions, written_back;
};

uint64_t judge_mix(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

bool judge_has_l2(const struct judge_topo *t, uint32_t sip, uint32_t cube)
{
    return judge_cube_number(t, sip, cube, "cube.l2.size_mb") > 0;
}

bool judge_has_cache(const struct judge_topo *t, const struct judge_end *memory)
{
    return memory->kind == JUDGE_SLICE &&
           judge_cube_number(t, memory->sip, memory->cube, "cube.hbm.cache.size_mb") > 0;
}

double judge_slice_gbs(const struct judge_topo *t, const struct judge_end *slice)
{
    double gbs = judge_own_gbs(t, slice, false);
    double other = judge_cube_number(t, slice->sip, slice->cube, "cube.hbm.cache.bw_gbs");

    return judge_has_cache(t, slice) && other > gbs ? other : gbs;
}

static double number(const struct judge_cache *c, const char *key)
{
    return judge_cube_number(c->t, c->at.sip, c->at.cube, key);
}

/* A key of its own: "cube.hbm.cache.line". */
static const char *key_of(const struct judge_cache *c, const char *key)
{
    static char text[JUDGE_NAME_BYTES];

    judge_name(text, "%s.%s", c->keys, key);
    return text;
}

static uint64_t count(const struct judge_cache *c, const char *key)
{
    return judge_cube_count(c->t, c->at.sip, c->at.cube, key);
}

static bool says(const struct judge_cache *c, const char *key, const char *word)
{
    return strcmp(judge_cube_text(c->t, c->at.sip, c->at.cube, key), word) == 0;
}

struct judge_cache *judge_cache_new(const struct judge_topo *t, const struct judge_end *slice)
{
    struct judge_cache *c = judge_alloc(1, sizeof *c);
    double bytes;

    c->t = t;
    c->at = *slice;
    c->keys = slice->kind == JUDGE_L2 ? "cube.l2" : "cube.hbm.cache";
    c->line = count(c, key_of(c, "line"));
    c->ways = count(c, key_of(c, "ways"));
    bytes = number(c, key_of(c, "size_mb")) * 1048576.0;
    c->sets = (uint64_t)floor(bytes) / (c->line * c->ways);
    c->lines = judge_alloc(c->sets * c->ways, sizeof *c->lines);
    c->mshrs = count(c, key_of(c, "mshrs"));
    c->block = count(c, "cube.hbm.access_bytes");
    c->at_random = says(c, key_of(c, "policy"), "random");
    c->through = says(c, key_of(c, "write"), "through");
    c->latency_fs = llround(number(c, key_of(c, "latency_ns")) * 1e6);
    c->memory_overhead_fs = llround(number(c, "cube.hbm.overhead_ns") * 1e6);
    c->memory_latency_fs = llround(number(c, "cube.hbm.latency_ns") * 1e6);
    c->gbs = number(c, key_of(c, "bw_gbs"));
    if (!(c->gbs > 0))
        c->gbs = slice->kind == JUDGE_L2 ? judge_l2_gbs(t, slice) : judge_own_gbs(t, slice, false);
    return c;
}

void judge_cache_free(struct judge_cache *c)
{
    if (!c)
        return;
    free(c->lines);
    free(c->children);
    free(c->tickets);
    free(c->turns.of);
    free(c->own_turns.of);
    free(c);
}

/* -- lines ---------------------------------------------------------------------------------- */

static struct line *ways_of(const struct judge_cache *c, uint64_t number)
{
    return c->lines + number % c->sets * c->ways;
}

static struct line *find(const struct judge_cache *c, uint64_t number)
{
    struct line *way = ways_of(c, number);

    for (uint64_t i = 0; i < c->ways; i++)
        if (way[i].there && way[i].number == number)
            return &way[i];
    return NULL;
}

static void add_run(struct judge_list_of_lines *list, uint64_t at, uint64_t nbytes, uint64_t asked)
{
    list->runs = judge_grow(list->runs, list->n + 1, sizeof *list->runs);
    list->wanted = judge_grow(list->wanted, list->n + 1, sizeof *list->wanted);
    list->wanted[list->n] = asked;
    list->runs[list->n++] = (struct judge_stretch){at, nbytes};
    list->asked += asked;
}

/* Of ways that all hold a line. */
static struct line *touched_first(struct line *way, uint64_t n)
{
    struct line *first = way;

    for (uint64_t i = 1; i < n; i++)
        if (way[i].touched < first->touched)
            first = &way[i];
    return first;
}

/* Room for line `number`; what was there goes, and back if it was written. */
static struct line *bring_in(struct judge_cache *c, uint64_t number,
                             struct judge_list_of_lines *back)
{
    struct line *way = ways_of(c, number), *into;
    uint64_t first_empty = 0;

    while (first_empty < c->ways && way[first_empty].there)
        first_empty++;
    if (first_empty < c->ways) {
        into = &way[first_empty];
    } else {
        into = c->at_random ? &way[judge_mix(c->came_in) % c->ways] : touched_first(way, c->ways);
        c->evictions++;
        if (into->dirty) {
            c->written_back++;
            add_run(back, into->number * c->line, c->line, 0);
        }
    }
    c->came_in++;
    *into = (struct line){.number = number, .there = true};
    return into;
}

/* When a read child ended; only the last 65536 are known. */
int64_t judge_cache_child_end(const struct judge_cache *c, size_t child)
{
    return child == 0 || child > c->n_children || c->n_children - child >= 65536
               ? 0
               : c->children[child - 1];
}

static void look_up(struct judge_cache *c, uint64_t number, uint64_t asked, bool write,
                    struct judge_looked *l)
{
    struct line *line = find(c, number);
    size_t child;

    c->lookups++;
    if (line) {
        c->hits++;
        child = line->ticket ? c->tickets[line->ticket - 1] : 0;
        if (!write && child) {
            l->found = judge_grow(l->found, l->n_found + 1, sizeof *l->found);
            l->found[l->n_found++] = child;
        }
    } else {
        c->misses++;
        if (write && c->through)
            return;
        line = bring_in(c, number, &l->back);
        if (!write) {
            c->tickets = judge_grow(c->tickets, c->n_tickets + 1, sizeof *c->tickets);
            c->tickets[c->n_tickets++] = 0;
            line->ticket = c->n_tickets;
            add_run(&l->missing, number * c->line, c->line, asked);
        }
    }
    line->touched = c->lookups;
    line->dirty |= write && !c->through;
}

/* The pieces of an access, one or those of a tile. */
static struct judge_stretch piece(const struct judge_access *a, size_t i)
{
    return a->n_runs ? a->runs[i] : (struct judge_stretch){a->offset, a->nbytes};
}

static size_t n_pieces(const struct judge_access *a)
{
    return a->n_runs ? a->n_runs : 1;
}

/* Bytes that are in both. */
static uint64_t common(struct judge_stretch a, struct judge_stretch b)
{
    uint64_t first = a.at > b.at ? a.at : b.at;
    uint64_t end = a.at + a.nbytes < b.at + b.nbytes ? a.at + a.nbytes : b.at + b.nbytes;

    return end - first;
}

/* A line that two neighbours of a list share is looked up once. */
void judge_cache_look(struct judge_cache *c, const struct judge_access *a, struct judge_looked *l)
{
    uint64_t number = UINT64_MAX, asked = 0;

    for (size_t i = 0; i < n_pieces(a); i++) {
        struct judge_stretch run = piece(a, i);

        for (uint64_t n = run.at / c->line; n * c->line < run.at + run.nbytes; n++) {
            if (n != number && number != UINT64_MAX) {
                look_up(c, number, asked, a->write, l);
                asked = 0;
            }
            number = n;
            asked += common(run, (struct judge_stretch){n * c->line, c->line});
        }
        if (a->write && c->through)
            add_run(&l->back, run.at, run.nbytes, 0);
    }
    look_up(c, number, asked, a->write, l);
}

bool judge_cache_misses(const struct judge_cache *c, const struct judge_access *a)
{
    for (size_t i = 0; i < n_pieces(a); i++) {
        struct judge_stretch run = piece(a, i);

        for (uint64_t n = run.at / c->line; n * c->line < run.at + run.nbytes; n++)
            if (!find(c, n))
                return true;
    }
    return false;
}

/* -- the memory behind ---------------------------------------------------------------------- */

/* Bytes of the whole blocks that the pieces touch; one that neighbours share is moved once. */
static uint64_t moved(const struct judge_cache *c, const struct judge_list_of_lines *list)
{
    uint64_t bytes = 0, last = UINT64_MAX;

    for (size_t i = 0; i < list->n; i++) {
        const struct judge_stretch *run = &list->runs[i];

        if (c->block == 0)
            bytes += run->nbytes;
        for (uint64_t b = c->block ? run->at / c->block : 0;
             c->block && b * c->block < run->at + run->nbytes; b++) {
            bytes += b != last ? c->block : 0;
            last = b;
        }
    }
    return bytes;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void add_turn(struct turns *turns, struct turn turn)
{
    turns->of = judge_grow(turns->of, turns->n + 1, sizeof *turns->of);
    turns->of[turns->n++] = turn;
}

/* Until `end_fs`, when the run has ended. */
static void sum_turns(const struct turns *turns, int64_t end_fs, struct judge_use *use)
{
    use->busy_fs = use->wait_fs = 0;
    for (size_t i = 0; i < turns->n; i++) {
        const struct turn *turn = &turns->of[i];
        uint32_t in_line = 0;

        use->busy_fs += turn->held_fs;
        use->wait_fs += turn->begin_fs - turn->arrive_fs - most(turn->begin_fs - end_fs, 0);
        for (size_t k = 0; k <= i; k++)
            in_line += turns->of[k].begin_fs > turn->arrive_fs;
        if (in_line > use->longest)
            use->longest = in_line;
    }
    if (turns->n > 0)
        use->busy_fs -=
            most(turns->of[turns->n - 1].begin_fs + turns->of[turns->n - 1].held_fs - end_fs, 0);
}

static struct judge_child ask(struct judge_cache *c, const struct judge_access *a,
                              const struct judge_list_of_lines *list, int64_t at_fs,
                              int64_t drain_fs, bool write, bool *too_late)
{
    struct judge_child child = {
        .is_made = list->n > 0,
        .part = judge_child_part(a->part, a->packet, write),
        .arrive_fs = at_fs,
    };
    int64_t own_fs, begin_fs = most(at_fs, c->memory_free_fs), held_fs;

    if (!child.is_made)
        return child;
    own_fs = judge_transfer_fs(moved(c, list), judge_own_gbs(c->t, &c->at, write), too_late);
    held_fs = judge_add_fs(c->memory_overhead_fs, own_fs, too_late);
    c->memory_free_fs = judge_add_fs(begin_fs, held_fs, too_late);
    child.end_fs = judge_add_fs(begin_fs + c->memory_overhead_fs + c->memory_latency_fs,
                                most(own_fs, drain_fs), too_late);
    add_turn(&c->turns, (struct turn){at_fs, begin_fs, held_fs});
    for (size_t i = 0; i < list->n; i++)
        c->turns.bytes += list->runs[i].nbytes;
    return child;
}

/* -- accesses ------------------------------------------------------------------------------- */

size_t judge_cache_tickets(const struct judge_cache *c)
{
    return c->n_tickets;
}

bool judge_cache_begin(struct judge_cache *c, const struct judge_access *a, int64_t *begin_fs,
                       int64_t *ready_fs, bool *too_late)
{
    int64_t hold_fs = judge_transfer_fs(a->from + a->nbytes, c->gbs, too_late) -
                      judge_transfer_fs(a->from, c->gbs, too_late),
            end_fs;

    *begin_fs = most(a->arrive_fs, c->free_fs);
    if (!a->write && c->mshrs > 0 && c->n_children >= c->mshrs && judge_cache_misses(c, a)) {
        end_fs = judge_cache_child_end(c, c->n_children + 1 - c->mshrs);
        if (end_fs == INT64_MAX)
            return false;
        *begin_fs = most(*begin_fs, end_fs);
    }
    c->free_fs = judge_add_fs(*begin_fs, hold_fs, too_late);
    *ready_fs = judge_add_fs(*begin_fs, c->latency_fs, too_late);
    add_turn(&c->own_turns, (struct turn){a->arrive_fs, *begin_fs, hold_fs});
    return true;
}

struct judge_cached judge_cache_arrive(struct judge_cache *c, const struct judge_access *a,
                                       double gbs, bool *too_late)
{
    struct judge_cached out = {.begin_fs = most(a->arrive_fs, c->free_fs)};
    struct judge_looked l = {.found = NULL};
    int64_t ready_fs, last_fs = 0;
    size_t first_ticket = c->n_tickets;

    if (!judge_cache_begin(c, a, &out.begin_fs, &ready_fs, too_late))
        judge_die("the end of a child is not known");
    judge_cache_look(c, a, &l);
    for (size_t i = 0; i < l.n_found; i++)
        last_fs = most(last_fs, judge_cache_found(c, l.found[i], ready_fs));
    out.done_fs = judge_add_fs(ready_fs, a->drain_fs, too_late);
    out.read = ask(c, a, &l.missing, ready_fs, judge_transfer_fs(l.missing.asked, gbs, too_late),
                   false, too_late);
    out.write = ask(c, a, &l.back, ready_fs, 0, true, too_late);
    if (out.read.is_made) {
        judge_cache_add_child(c, out.read.end_fs);
        for (; first_ticket < c->n_tickets; first_ticket++)
            c->tickets[first_ticket] = c->n_children;
        out.done_fs = most(out.done_fs, out.read.end_fs);
    }
    out.done_fs = most(out.done_fs, last_fs);
    judge_looked_clear(&l);
    return out;
}

size_t judge_cache_add_child(struct judge_cache *c, int64_t end_fs)
{
    c->children = judge_grow(c->children, c->n_children + 1, sizeof *c->children);
    c->children[c->n_children++] = end_fs;
    return c->n_children;
}

void judge_cache_child_ends(struct judge_cache *c, size_t child, int64_t end_fs)
{
    c->children[child - 1] = end_fs;
}

void judge_cache_reads_for(struct judge_cache *c, size_t ticket, size_t child)
{
    c->tickets[ticket - 1] = child;
}

int64_t judge_cache_found(struct judge_cache *c, size_t child, int64_t ready_fs)
{
    int64_t end_fs = judge_cache_child_end(c, child);

    c->pending += end_fs > ready_fs;
    return end_fs;
}

void judge_cache_drop(struct judge_cache *c)
{
    for (size_t i = 0; i < c->sets * c->ways; i++) {
        c->written_back += c->lines[i].there && c->lines[i].dirty;
        c->lines[i].there = false;
    }
}

void judge_looked_clear(struct judge_looked *l)
{
    free(l->missing.runs);
    free(l->missing.wanted);
    free(l->back.runs);
    free(l->back.wanted);
    free(l->found);
    *l = (struct judge_looked){.found = NULL};
}

static void post_child(struct judge_events *events, uint64_t id, const struct judge_child *child)
{
    struct judge_event e = {.fs = child->arrive_fs,
                            .class = JUDGE_ARRIVAL,
                            .id = id,
                            .part = child->part,
                            .step = JUDGE_OF_A_CHILD};

    if (!child->is_made)
        return;
    judge_post(events, e);
    e.fs = child->end_fs;
    e.class = JUDGE_DONE;
    judge_post(events, e);
}

void judge_post_children(struct judge_events *events, uint64_t id, const struct judge_cached *now)
{
    post_child(events, id, &now->read);
    post_child(events, id, &now->write);
}

uint64_t judge_record_child(uint64_t fingerprint, const struct judge_event *e)
{
    struct judge_event as = {
        .fs = e->fs, .class = e->class, .id = judge_record_number(e->id, e->part)};

    return judge_fingerprint(fingerprint, &as);
}

uint64_t judge_record_number(uint64_t id, uint64_t part)
{
    return id + (part < UINT64_C(1) << 20 ? part << 48 : judge_mix(part));
}

uint64_t judge_child_part(uint64_t part, uint64_t k, bool write)
{
    if (part >= UINT64_C(1) << 20)
        return part + (UINT64_C(1) << 42) * (write ? 2 : 1);
    return part + (UINT64_C(1) << 20) * (1 + 2 * k + (write ? 1 : 0));
}

/* What is missing is one request to idle banks. */
static int64_t alone_before_banks(struct judge_cache *c, const struct judge_access *a, double gbs,
                                  bool *too_late)
{
    struct judge_looked l = {.found = NULL};
    struct judge_access child = {.id = a->id};
    int64_t begin_fs, ready_fs, done_fs;

    if (!judge_cache_begin(c, a, &begin_fs, &ready_fs, too_late))
        judge_die("the end of a child is not known");
    judge_cache_look(c, a, &l);
    done_fs = judge_add_fs(ready_fs, a->drain_fs, too_late);
    child.runs = l.missing.runs;
    child.n_runs = l.missing.n;
    child.drain_fs = judge_transfer_fs(l.missing.asked, gbs, too_late);
    if (l.missing.n > 0)
        done_fs = most(
            done_fs, judge_add_fs(ready_fs, judge_banks_alone_fs(c->t, &c->at, &child), too_late));
    judge_looked_clear(&l);
    judge_cache_free(c);
    return done_fs;
}

int64_t judge_cache_alone_fs(const struct judge_topo *t, const struct judge_end *slice,
                             const struct judge_access *access, double gbs, bool *too_late)
{
    struct judge_cache *c = judge_cache_new(t, slice);
    struct judge_access alone = *access;
    struct judge_cached out;

    alone.arrive_fs = 0;
    if (judge_has_banks(t, slice))
        return alone_before_banks(c, &alone, gbs, too_late);
    out = judge_cache_arrive(c, &alone, gbs, too_late);
    judge_cache_free(c);
    return out.done_fs;
}

void judge_cache_add_uses(const struct judge_cache *c, int64_t end_fs,
                          const struct judge_use *asked, struct judge_use **uses, size_t *n)
{
    struct judge_use *own = &(*uses)[*n - 1];
    struct judge_use behind = {.count = c->turns.n, .bytes = c->turns.bytes};
    char name[JUDGE_USE_BYTES];

    memcpy(name, own->name, sizeof name);
    sum_turns(&c->own_turns, end_fs, own);
    if (!asked)
        sum_turns(&c->turns, end_fs, &behind);
    own->is_cache = true;
    own->hits = c->hits;
    own->misses = c->misses;
    own->pending = c->pending;
    own->evictions = c->evictions;
    own->written_back = c->written_back;
    if (asked)
        behind = *asked;
    if (strlen(name) + sizeof ".cache" > sizeof own->name)
        judge_die("%s is too long", name);
    if (c->at.kind != JUDGE_L2)
        strcat(own->name, ".cache");
    memcpy(behind.name, name, sizeof name);
    if (behind.count)
        judge_add_use(uses, n, &behind);
}
