/* l2.c -- a cache whose children end later, the cache of a cube or that of a slice before banks: a
 * list of what waits, looked through for each child. */
#include "l2.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An access that has been looked up, and is not done. */
struct open {
    uint64_t id, part;
    int64_t begin_fs, ready_fs, done_fs, first_fs;
    uint64_t asked;
    size_t *waits, n_waits; /* read children that it waits for; those of others may come twice */
    bool closed;
};

struct judge_l2 {
    const struct judge_topo *t;
    struct judge_end at;
    struct judge_l2_user user;
    struct judge_cache *cache;
    struct open *open;
    size_t n_open;
    struct judge_access *line; /* accesses that have come and not been looked up, in order */
    size_t n_line;
};

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

double judge_l2_gbs(const struct judge_topo *t, const struct judge_end *l2)
{
    double gbs = judge_cube_number(t, l2->sip, l2->cube, "cube.l2.pe_gbs");

    return gbs > 0 ? gbs : judge_cube_number(t, l2->sip, l2->cube, "cube.xbar.pe_gbs");
}

struct judge_l2 *judge_l2_new(const struct judge_topo *t, const struct judge_end *at,
                              const struct judge_l2_user *user)
{
    struct judge_l2 *l2 = judge_alloc(1, sizeof *l2);

    l2->t = t;
    l2->at = *at;
    if (at->kind != JUDGE_SLICE)
        l2->at = (struct judge_end){.kind = JUDGE_L2, .sip = at->sip, .cube = at->cube};
    l2->user = *user;
    l2->cache = judge_cache_new(t, &l2->at);
    return l2;
}

void judge_l2_free(struct judge_l2 *l2)
{
    if (!l2)
        return;
    for (size_t i = 0; i < l2->n_open; i++)
        free(l2->open[i].waits);
    free(l2->open);
    free(l2->line);
    judge_cache_free(l2->cache);
    free(l2);
}

const struct judge_cache *judge_l2_cache(const struct judge_l2 *l2)
{
    return l2->cache;
}

/* -- what goes to it ------------------------------------------------------------------------- */

bool judge_goes_to_l2(const struct judge_topo *t, const struct judge_end *pe,
                      const struct judge_end *memory)
{
    return pe->kind == JUDGE_PE && memory->kind == JUDGE_SLICE &&
           judge_has_l2(t, pe->sip, pe->cube);
}

static void add_bytes(struct judge_piece *part, uint64_t address, uint64_t nbytes, bool new_run)
{
    if (part->n_runs == 0)
        part->offset = address;
    part->runs = judge_grow(part->runs, part->n_runs + 1, sizeof *part->runs);
    part->runs[part->n_runs++] = (struct judge_stretch){address, nbytes};
    part->nbytes += nbytes;
    part->n_own += new_run;
    part->last_own = nbytes + (new_run ? 0 : part->last_own);
}

size_t judge_cut_to_l2(const struct judge_topo *t, const struct judge_end *pe,
                       const struct judge_end *memory, const struct judge_stretch *runs,
                       size_t n_runs, struct judge_piece **parts)
{
    uint64_t packet = judge_packet_bytes(t, pe), done = 0;
    size_t n = 0;

    *parts = NULL;
    for (size_t i = 0; i < n_runs; i++) {
        struct judge_piece whole = {.nbytes = runs[i].nbytes, .offset = runs[i].at};
        struct judge_piece *in = &whole;
        size_t n_in = 1;
        bool new_run = true;

        if (memory)
            whole.memory = *memory;
        else
            n_in = judge_split(t, runs[i].at, runs[i].nbytes, &in);
        if (n_in == 0 || (memory && whole.offset + whole.nbytes > judge_memory_bytes(t, memory))) {
            judge_free_parts(*parts, n);
            *parts = NULL;
            return 0;
        }
        if (i > 0 && runs[i].at == runs[i - 1].at + runs[i - 1].nbytes)
            new_run = false;
        for (size_t k = 0; k < n_in; k++) {
            uint64_t left, bytes, offset = in[k].offset;

            for (uint64_t rest = in[k].nbytes; rest > 0; rest -= bytes) {
                uint64_t number = packet ? done / packet : 0;
                uint64_t address = judge_address_of(t, &in[k].memory, offset, &left);

                bytes = rest < left ? rest : left;
                if (packet && packet - done % packet < bytes)
                    bytes = packet - done % packet;
                if (n == 0 || (*parts)[n - 1].packet != number) {
                    *parts = judge_grow(*parts, n + 1, sizeof **parts);
                    (*parts)[n++] = (struct judge_piece){
                        .memory = {.kind = JUDGE_L2, .sip = pe->sip, .cube = pe->cube},
                        .packet = number};
                    new_run = true;
                }
                add_bytes(&(*parts)[n - 1], address, bytes, new_run);
                new_run = false;
                done += bytes;
                offset += bytes;
            }
        }
        if (!memory)
            free(in);
    }
    return n;
}

/* -- children --------------------------------------------------------------------------------- */

/* Pieces by slices, each list in order; and of each the read child, and how much of it is wanted.
 */
struct by_slice {
    struct judge_piece *pieces;
    uint64_t *wanted;
    size_t *numbers;
    size_t n;
};

static size_t slice_in(struct by_slice *all, const struct judge_end *memory, uint64_t offset,
                       uint64_t address)
{
    for (size_t i = 0; i < all->n; i++) {
        const struct judge_end *m = &all->pieces[i].memory;

        if (m->sip == memory->sip && m->cube == memory->cube && m->unit == memory->unit)
            return i;
    }
    all->pieces = judge_grow(all->pieces, all->n + 1, sizeof *all->pieces);
    all->wanted = judge_grow(all->wanted, all->n + 1, sizeof *all->wanted);
    all->numbers = judge_grow(all->numbers, all->n + 1, sizeof *all->numbers);
    all->pieces[all->n] =
        (struct judge_piece){.memory = *memory, .offset = offset, .lowest = address};
    all->wanted[all->n] = 0;
    all->numbers[all->n] = 0;
    return all->n++;
}

/* Bytes of one stretch; returns the slice of the first of them, SIZE_MAX: there is none. */
static size_t add_stretch(const struct judge_l2 *l2, struct by_slice *all, struct judge_stretch of,
                          uint64_t wanted)
{
    const struct judge_topo *t = l2->t;
    size_t first = SIZE_MAX;
    uint64_t left, offset;
    struct judge_end memory;

    if (l2->at.kind == JUDGE_SLICE) {
        struct judge_piece *piece = (slice_in(all, &l2->at, of.at, of.at), &all->pieces[0]);

        piece->runs = judge_grow(piece->runs, piece->n_runs + 1, sizeof *piece->runs);
        piece->runs[piece->n_runs++] = of;
        piece->nbytes += of.nbytes;
        all->wanted[0] += wanted;
        return 0;
    }
    while (of.nbytes > 0 && judge_memory_at(t, of.at, &memory, &offset)) {
        size_t i;

        judge_address_of(t, &memory, offset, &left);
        left = of.nbytes < left ? of.nbytes : left;
        i = slice_in(all, &memory, offset, of.at);
        all->pieces[i].runs = judge_grow(all->pieces[i].runs, all->pieces[i].n_runs + 1,
                                         sizeof(struct judge_stretch));
        all->pieces[i].runs[all->pieces[i].n_runs++] = (struct judge_stretch){offset, left};
        all->pieces[i].nbytes += left;
        if (of.at < all->pieces[i].lowest)
            all->pieces[i].lowest = of.at;
        all->wanted[i] += wanted < left ? wanted : left;
        first = first == SIZE_MAX ? i : first;
        of.at += left;
        of.nbytes -= left;
    }
    return first;
}

static void clear_slices(struct by_slice *all)
{
    free(all->pieces);
    free(all->wanted);
    free(all->numbers);
}

/* The one with the lowest address that has not been sent. */
static size_t next_lowest(const struct by_slice *all, const bool *sent)
{
    size_t best = SIZE_MAX;

    for (size_t i = 0; i < all->n; i++)
        if (!sent[i] && (best == SIZE_MAX || all->pieces[i].lowest < all->pieces[best].lowest))
            best = i;
    return best;
}

/* Tells of all of them, in the order of their lowest addresses. */
static void send(struct judge_l2 *l2, const struct judge_access *a, int64_t fs,
                 struct by_slice *all, bool write)
{
    bool *sent = judge_alloc(all->n, sizeof *sent);
    size_t i;

    for (uint64_t k = 0; (i = next_lowest(all, sent)) != SIZE_MAX; k++) {
        struct judge_l2_child child = {.id = a->id,
                                       .part = judge_child_part(a->part, k, write),
                                       .maker = a->part,
                                       .write = write,
                                       .depart_fs = fs,
                                       .piece = all->pieces[i],
                                       .asked = write ? all->pieces[i].nbytes : all->wanted[i],
                                       .number = all->numbers[i]};

        sent[i] = true;
        l2->user.child(l2->user.arg, &child);
    }
    free(sent);
}

bool judge_l2_has_ways(const struct judge_topo *t, enum judge_op op, const struct judge_piece *part)
{
    struct judge_l2 at = {.t = t, .at = part->memory};
    struct by_slice all = {.n = 0};
    bool has = true;

    for (size_t i = 0; i < part->n_runs; i++)
        add_stretch(&at, &all, part->runs[i], 0);
    for (size_t i = 0; i < all.n; i++) {
        struct judge_route r = {0};

        has = has && judge_route_on(t, 0, op, &part->memory, &all.pieces[i].memory, &r);
        judge_route_clear(&r);
        free(all.pieces[i].runs);
    }
    clear_slices(&all);
    return has;
}

/* -- accesses --------------------------------------------------------------------------------- */

static void close(struct judge_l2 *l2, struct open *o, bool *too_late)
{
    int64_t done_fs = o->done_fs;

    if (o->first_fs < INT64_MAX && l2->at.kind == JUDGE_L2)
        done_fs =
            most(done_fs,
                 judge_add_fs(o->first_fs,
                              judge_transfer_fs(o->asked, judge_l2_gbs(l2->t, &l2->at), too_late),
                              too_late));
    o->closed = true;
    l2->user.done(l2->user.arg, o->id, o->part, o->begin_fs, done_fs);
}

static void wait_for(struct open *o, size_t number)
{
    o->waits = judge_grow(o->waits, o->n_waits + 1, sizeof *o->waits);
    o->waits[o->n_waits++] = number;
}

/* False: its turn is not known yet. */
static bool look(struct judge_l2 *l2, const struct judge_access *a, bool *too_late)
{
    struct open o = {.id = a->id, .part = a->part, .first_fs = INT64_MAX};
    struct by_slice reads = {.n = 0}, writes = {.n = 0};
    struct judge_looked l = {.found = NULL};
    size_t ticket = judge_cache_tickets(l2->cache);

    if (!judge_cache_begin(l2->cache, a, &o.begin_fs, &o.ready_fs, too_late))
        return false;
    judge_cache_look(l2->cache, a, &l);
    o.done_fs = judge_add_fs(o.ready_fs, a->drain_fs, too_late);
    o.asked = l.missing.asked;
    for (size_t i = 0; i < l.missing.n; i++) {
        size_t at = add_stretch(l2, &reads, l.missing.runs[i], l.missing.wanted[i]);

        for (size_t k = 0; k < reads.n; k++)
            if (reads.numbers[k] == 0) {
                reads.numbers[k] = judge_cache_add_child(l2->cache, INT64_MAX);
                wait_for(&o, reads.numbers[k]);
            }
        judge_cache_reads_for(l2->cache, ++ticket, reads.numbers[at]);
    }
    for (size_t i = 0; i < l.back.n; i++)
        add_stretch(l2, &writes, l.back.runs[i], 0);
    for (size_t i = 0; i < l.n_found; i++) {
        int64_t end_fs = judge_cache_child_end(l2->cache, l.found[i]);

        if (end_fs == INT64_MAX)
            wait_for(&o, l.found[i]);
        else
            o.done_fs = most(o.done_fs, judge_cache_found(l2->cache, l.found[i], o.ready_fs));
    }
    l2->open = judge_grow(l2->open, l2->n_open + 1, sizeof *l2->open);
    l2->open[l2->n_open++] = o;
    send(l2, a, o.ready_fs, &reads, false);
    send(l2, a, o.ready_fs, &writes, true);
    clear_slices(&reads);
    clear_slices(&writes);
    judge_looked_clear(&l);
    if (o.n_waits == 0)
        close(l2, &l2->open[l2->n_open - 1], too_late);
    return true;
}

/* Those that have come are looked up, as far as their turns are known. */
static void look_on(struct judge_l2 *l2, bool *too_late)
{
    while (l2->n_line > 0 && look(l2, &l2->line[0], too_late))
        memmove(l2->line, l2->line + 1, --l2->n_line * sizeof *l2->line);
}

void judge_l2_arrive(struct judge_l2 *l2, const struct judge_access *access, bool *too_late)
{
    l2->line = judge_grow(l2->line, l2->n_line + 1, sizeof *l2->line);
    l2->line[l2->n_line++] = *access;
    if (l2->n_line == 1)
        look_on(l2, too_late);
}

void judge_l2_child_ends(struct judge_l2 *l2, uint64_t id, uint64_t maker, size_t number,
                         int64_t end_fs, int64_t drain_fs, bool *too_late)
{
    size_t n = l2->n_open;

    judge_cache_child_ends(l2->cache, number, end_fs);
    for (size_t i = 0; i < n; i++) {
        struct open *o = &l2->open[i];
        size_t kept = 0;

        for (size_t k = 0; !o->closed && k < o->n_waits; k++) {
            if (o->waits[k] != number) {
                o->waits[kept++] = o->waits[k];
                continue;
            }
            o->done_fs = most(o->done_fs, end_fs);
            if (o->id == id && o->part == maker)
                o->first_fs = o->first_fs < end_fs - drain_fs ? o->first_fs : end_fs - drain_fs;
            else
                judge_cache_found(l2->cache, number, o->ready_fs);
        }
        if (o->closed || kept == o->n_waits)
            continue;
        o->n_waits = kept;
        if (kept == 0)
            close(l2, o, too_late);
    }
    look_on(l2, too_late);
}

/* -- alone ------------------------------------------------------------------------------------ */

int64_t judge_child_drain_fs(const struct judge_topo *t, const struct judge_end *l2,
                             const struct judge_l2_child *child, double gbs, bool *too_late)
{
    const struct judge_end *m = &child->piece.memory;
    int64_t fs = judge_transfer_fs(child->asked, gbs, too_late);

    (void)l2;
    if (judge_has_banks(t, m) || judge_has_cache(t, m) ||
        strcmp(judge_cube_text(t, m->sip, m->cube, "cube.hbm.hold"), "route") == 0)
        return fs;
    return most(fs, judge_transfer_fs(judge_moved_bytes(t, &child->piece),
                                      judge_own_gbs(t, m, child->write), too_late));
}

/* The children of an access that is alone. */
struct alone {
    const struct judge_topo *t;
    struct judge_end at;
    uint32_t plane;
    int64_t last_fs, first_fs, wire_fs;
    uint64_t lowest;
    bool *too_late;
};

static void child_alone(void *arg, struct judge_l2_child *child)
{
    struct alone *a = arg;
    struct judge_route r = {0};
    struct judge_access access = {.offset = child->piece.offset,
                                  .nbytes = child->piece.nbytes,
                                  .runs = child->piece.runs,
                                  .n_runs = child->piece.n_runs};
    const struct judge_end *m = &child->piece.memory;
    int64_t drain_fs, end_fs = child->depart_fs;
    double gbs = judge_l2_gbs(a->t, &a->at);

    if (!judge_route_on(a->t, a->t->net ? 0 : a->plane, JUDGE_READ, &a->at, m, &r))
        judge_die("an L2 has no way to a slice");
    gbs = r.bottleneck_gbs < gbs ? r.bottleneck_gbs : gbs;
    drain_fs = access.drain_fs = judge_child_drain_fs(a->t, &a->at, child, gbs, a->too_late);
    end_fs = judge_add_fs(end_fs, r.wire_fs + r.overhead_fs, a->too_late);
    if (judge_has_cache(a->t, m))
        end_fs +=
            judge_cache_alone_fs(a->t, m, &access, gbs, a->too_late) - r.hops[r.n - 1].overhead_fs;
    else if (judge_has_banks(a->t, m))
        end_fs += judge_banks_alone_fs(a->t, m, &access) - r.hops[r.n - 1].overhead_fs;
    else
        end_fs += drain_fs;
    if (end_fs - drain_fs < a->first_fs)
        a->first_fs = end_fs - drain_fs;
    if (end_fs > a->last_fs || (end_fs == a->last_fs && child->piece.lowest < a->lowest)) {
        a->last_fs = end_fs;
        a->lowest = child->piece.lowest;
        a->wire_fs = r.wire_fs;
    }
    judge_route_clear(&r);
    free(child->piece.runs);
}

static void no_end(void *arg, uint64_t id, uint64_t part, int64_t begin_fs, int64_t done_fs)
{
    (void)arg, (void)id, (void)part, (void)begin_fs, (void)done_fs;
}

int64_t judge_l2_alone_fs(const struct judge_topo *t, const struct judge_end *at,
                          const struct judge_access *access, uint32_t plane, int64_t *wire_fs,
                          bool *too_late)
{
    struct alone a = {.t = t,
                      .at = {.kind = JUDGE_L2, .sip = at->sip, .cube = at->cube},
                      .plane = plane,
                      .first_fs = INT64_MAX,
                      .too_late = too_late};
    struct judge_l2_user user = {&a, child_alone, no_end};
    struct judge_l2 *l2 = judge_l2_new(t, at, &user);
    struct judge_access alone = *access;
    int64_t latency_fs =
        llround(judge_cube_number(t, at->sip, at->cube, "cube.l2.latency_ns") * 1e6);
    int64_t done_fs = judge_add_fs(latency_fs, access->drain_fs, too_late);

    *wire_fs = 0;
    alone.arrive_fs = 0;
    if (!access->write) {
        judge_l2_arrive(l2, &alone, too_late);
        *wire_fs = a.wire_fs;
        done_fs = most(done_fs, a.last_fs);
        if (a.first_fs < INT64_MAX)
            done_fs = most(
                done_fs,
                judge_add_fs(a.first_fs,
                             judge_transfer_fs(l2->open[0].asked, judge_l2_gbs(t, &a.at), too_late),
                             too_late));
    }
    judge_l2_free(l2);
    return done_fs;
}

void judge_l2_launch(struct judge_l2 *l2)
{
    if (strcmp(judge_cube_text(l2->t, l2->at.sip, l2->at.cube, "cube.l2.at_launch"), "drop") == 0)
        judge_cache_drop(l2->cache);
}
