/*
 * test_race_random.c -- random programs of a few PEs, looked at for races by kernbench and by a
 * slow judge: a graph of what comes before what, closed transitively, and all pairs, byte by byte.
 *
 * KB_SEEDS=N in the environment runs seeds 1..N.
 */
#include "support/races.h"
#include "support/seeds.h"
#include "record/vclock.h"

enum {
    SEEDS = 300,
    PES = 4,
    OPS = 22, /* of a PE, at most */
    LINES = 3,
    NODES = 2 * PES * OPS,
    AREA = 64,      /* bytes of an area that is touched */
    SLOTS = 4,      /* of cube8's queues, of 4096 bytes */
    LARGE = 1500,   /* elements of a message of two pieces */
    RESULTS = 4096, /* where in a slice the results of composites lie */
    SOURCE = FILLED / 2
};

enum kind { LOAD, STORE, ATOMIC, DATA, SEND, RECV, BARRIER, COMPOSITE, WAIT };

/* One call of a PE. */
struct step {
    enum kind kind;
    bool async, strided, large;
    int line;
    uint64_t address;
    int64_t elements, stride;
    uint32_t peer, first, n; /* of queues; of a group */
    int tag;
    int waits_for;    /* the step of the same PE; -1: none */
    int64_t end_fs;   /* when an atomic returned */
    uint64_t piece;   /* the last of a send or receive, counted over its queue */
    int pieces, turn; /* turn: of a barrier, the number over all */
};

struct program {
    uint32_t n_pes;
    struct step step[PES][OPS];
    int n[PES];
};

/* -- random programs ------------------------------------------------------------------------ */

/* The state of a program that is run one step after the other, so that it does not block. */
struct draft {
    struct program *p;
    uint64_t dice;
    int under_way[PES][PES][2]; /* pieces in a queue */
    uint64_t sent[PES][PES][2], received[PES][PES][2];
    bool large[PES][PES][2][SLOTS]; /* messages, oldest first */
    int messages[PES][PES][2];
    int turns;
};

static uint64_t below(struct draft *d, uint64_t n)
{
    return draw(&d->dice) % n;
}

static struct step *add_step(struct draft *d, uint32_t pe, enum kind kind)
{
    struct step *s = &d->p->step[pe][d->p->n[pe]++];

    *s = (struct step){.kind = kind, .waits_for = -1};
    s->line = 100 * (int)kind + (int)below(d, LINES);
    return s;
}

/* A place that several PEs use: slices, the SRAM, TCMs of others. */
static void draw_place(struct draft *d, uint32_t pe, struct step *s)
{
    uint64_t which = below(d, 6), other = (pe + 1 + below(d, d->p->n_pes - 1)) % d->p->n_pes;

    s->strided = below(d, 3) == 0;
    s->elements = 1 + (int64_t)below(d, s->strided ? 5 : 8);
    s->stride = s->strided ? 4 * (int64_t)below(d, 4) : 4;
    s->address = which < 2    ? SLICE(which)
                 : which == 2 ? SRAM
                 : which == 3 ? SLICE(0) + RESULTS
                              : TCM(other);
    s->address += 4 * below(d, (AREA - 4 - (uint64_t)(s->stride * (s->elements - 1))) / 4 + 1);
    s->line += 10 * (s->strided + 2 * s->async);
}

static void draw_access(struct draft *d, uint32_t pe, enum kind kind)
{
    struct step *s = add_step(d, pe, kind);

    s->async = below(d, 3) == 0;
    draw_place(d, pe, s);
}

static void draw_atomic(struct draft *d, uint32_t pe)
{
    struct step *s = add_step(d, pe, ATOMIC);

    s->elements = 1;
    s->stride = 4;
    s->address = SLICE(below(d, 2)) + 4 * below(d, 4);
}

static void draw_composite(struct draft *d, uint32_t pe)
{
    struct step *s = add_step(d, pe, COMPOSITE);

    s->async = true;
    s->elements = 1 + (int64_t)below(d, 8);
    s->stride = 4;
    s->address = 4 * below(d, 8); /* in both operands and the result */
}

/* False: there is nothing to wait for. */
static bool draw_wait(struct draft *d, uint32_t pe)
{
    struct program *p = d->p;
    int open[OPS], n = 0;

    for (int i = 0; i < p->n[pe]; i++) {
        bool waited = !p->step[pe][i].async;

        for (int k = 0; k < p->n[pe]; k++)
            waited = waited || p->step[pe][k].waits_for == i;
        if (!waited)
            open[n++] = i;
    }
    if (n)
        add_step(d, pe, WAIT)->waits_for = open[below(d, (uint64_t)n)];
    return n > 0;
}

static bool draw_send(struct draft *d, uint32_t pe)
{
    uint32_t peer = (pe + 1 + (uint32_t)below(d, d->p->n_pes - 1)) % d->p->n_pes;
    int tag = (int)below(d, 2), large = below(d, 3) == 0;
    struct step *s;

    if (d->under_way[pe][peer][tag] + 1 + large > SLOTS)
        return false;
    s = add_step(d, pe, SEND);
    s->peer = peer;
    s->tag = tag;
    s->large = large;
    s->elements = 4;
    s->stride = 4;
    s->address = TCM(pe);
    s->pieces = 1 + large;
    d->under_way[pe][peer][tag] += s->pieces;
    s->piece = (d->sent[pe][peer][tag] += (uint64_t)s->pieces) - 1;
    d->large[pe][peer][tag][d->messages[pe][peer][tag]++] = large;
    return true;
}

static bool draw_receive(struct draft *d, uint32_t pe)
{
    uint32_t peer = (pe + 1 + (uint32_t)below(d, d->p->n_pes - 1)) % d->p->n_pes;
    int tag = (int)below(d, 2);
    bool *large = d->large[peer][pe][tag];
    struct step *s;

    if (!d->messages[peer][pe][tag])
        return false;
    s = add_step(d, pe, RECV);
    s->peer = peer;
    s->tag = tag;
    s->async = below(d, 3) == 0;
    s->large = *large;
    s->pieces = 1 + *large;
    d->under_way[peer][pe][tag] -= s->pieces;
    s->piece = (d->received[peer][pe][tag] += (uint64_t)s->pieces) - 1;
    memmove(large, large + 1, (size_t)--d->messages[peer][pe][tag] * sizeof *large);
    return true;
}

static void draw_barrier(struct draft *d)
{
    uint32_t first = (uint32_t)below(d, d->p->n_pes - 1);
    uint32_t n = 2 + (uint32_t)below(d, d->p->n_pes - first - 1);

    for (uint32_t pe = first; pe < first + n; pe++) {
        struct step *s;

        if (d->p->n[pe] == OPS)
            return; /* the members so far have not come yet */
        s = add_step(d, pe, BARRIER);
        s->first = first;
        s->n = n;
        s->turn = d->turns;
    }
    d->turns++;
}

static bool has_room(const struct draft *d, uint32_t first, uint32_t n)
{
    for (uint32_t pe = first; pe < first + n; pe++)
        if (d->p->n[pe] >= OPS - 1)
            return false;
    return true;
}

static void draw_program(struct program *p, uint64_t seed)
{
    struct draft d = {.p = p, .dice = seed};
    uint64_t steps;

    *p = (struct program){.n_pes = 2 + (uint32_t)below(&d, PES - 1)};
    steps = 4 + below(&d, 14 * p->n_pes);
    for (uint64_t i = 0; i < steps; i++) {
        uint32_t pe = (uint32_t)below(&d, p->n_pes);
        uint64_t what = below(&d, 24);

        if (!has_room(&d, 0, p->n_pes))
            return;
        if (what < 5)
            draw_access(&d, pe, LOAD);
        else if (what < 9)
            draw_access(&d, pe, STORE);
        else if (what < 11)
            draw_atomic(&d, pe);
        else if (what < 12)
            add_step(&d, pe, DATA);
        else if (what < 13)
            draw_composite(&d, pe);
        else if (what < 16)
            draw_wait(&d, pe);
        else if (what < 19)
            draw_send(&d, pe);
        else if (what < 22)
            draw_receive(&d, pe);
        else
            draw_barrier(&d);
    }
}

/* -- programs as kernels -------------------------------------------------------------------- */

/* The tensors of a PE. */
struct hand {
    tl_ctx *tl;
    struct program *p;
    tl_tensor *buffer, *source, *large, *made[OPS];
};

/* All that is touched has bytes, and these are no results of Phase 2. */
static void prepare(struct hand *h)
{
    tl_here here = {"prepare", 1};
    uint32_t pe = tl_pe(h->tl), n = h->p->n_pes;
    tl_tensor *x;

    h->buffer = tl_alloc(h->tl, KB_I32, KB_SHAPE(AREA / 4));
    h->source = tl_load(h->tl, SLICE(pe) + SOURCE, KB_I32, KB_SHAPE(8));
    h->large = tl_load(h->tl, SLICE(pe) + SOURCE, KB_I32, KB_SHAPE(LARGE));
    x = tl_load(h->tl, SLICE(pe) + SOURCE, KB_I32, KB_SHAPE(AREA / 4));
    tl_store_at(here, h->tl, TCM((pe + 1) % n), x, NULL, false);
    if (pe == 0)
        tl_store_at(here, h->tl, SRAM, x, NULL, false);
    tl_barrier(h->tl, ((tl_group){.n = n}));
}

static tl_tensor *transfer(struct hand *h, const struct step *s, tl_here here)
{
    const int64_t *strides = s->strided ? &s->stride : NULL;
    kb_shape shape = KB_SHAPE(s->elements);

    if (s->kind == LOAD)
        return tl_load_at(here, h->tl, s->address, KB_I32, shape, strides, s->async);
    tl_tensor *x = tl_load(h->tl, SLICE(tl_pe(h->tl)) + SOURCE, KB_I32, shape);
    return tl_store_at(here, h->tl, s->address, x, strides, s->async);
}

static tl_tensor *compose(struct hand *h, const struct step *s, tl_here here)
{
    kb_shape shape = KB_SHAPE(s->elements);
    tl_composite_args args = {.op = TL_ADD, .out = SLICE(0) + RESULTS + s->address};

    args.a = tl_ref(h->tl, SLICE(0) + s->address, KB_I32, shape);
    args.b = tl_ref(h->tl, SLICE(1) + s->address, KB_I32, shape);
    return tl_composite_at(here, h->tl, args);
}

static void do_step(struct hand *h, struct step *s, int i)
{
    tl_here here = {"program", s->line};
    tl_ctx *tl = h->tl;

    switch (s->kind) {
    case LOAD:
    case STORE:
        h->made[i] = transfer(h, s, here);
        break;
    case ATOMIC:
        tl_atomic_add_at(here, tl, s->address, KB_I32, 1);
        s->end_fs = now_fs(tl);
        break;
    case DATA:
        tl_data_at(here, tl, h->buffer);
        break;
    case SEND:
        tl_send_at(here, tl, s->peer, s->tag, s->large ? h->large : h->source);
        break;
    case RECV:
        h->made[i] =
            tl_recv_at(here, tl, s->peer, s->tag, KB_I32, KB_SHAPE(s->large ? LARGE : 8), s->async);
        break;
    case BARRIER:
        tl_barrier_at(here, tl, (tl_group){.first = s->first, .n = s->n});
        break;
    case COMPOSITE:
        h->made[i] = compose(h, s, here);
        break;
    case WAIT:
        tl_wait_at(here, tl, h->made[s->waits_for]);
        break;
    }
}

/* A receive without a wait in the program is waited for at the end. */
static void run_program(tl_ctx *tl, const kb_args *args)
{
    struct hand h = {.tl = tl, .p = *(struct program *const *)args->user};
    uint32_t pe = tl_pe(tl);

    prepare(&h);
    for (int i = 0; i < h.p->n[pe]; i++)
        do_step(&h, &h.p->step[pe][i], i);
}

/* -- the judge ------------------------------------------------------------------------------ */

/* A step begins, and ends; an asynchronous one ends with its wait. */
struct graph {
    bool before[NODES][NODES];
};

static int begin_of(uint32_t pe, int i)
{
    return 2 * ((int)pe * OPS + i);
}

/* -1: never. */
static int end_of_step(const struct program *p, uint32_t pe, int i)
{
    if (!p->step[pe][i].async)
        return begin_of(pe, i) + 1;
    for (int k = i; k < p->n[pe]; k++)
        if (p->step[pe][k].waits_for == i)
            return begin_of(pe, k) + 1;
    return -1;
}

static void edge(struct graph *g, int from, int to)
{
    if (from >= 0 && to >= 0)
        g->before[from][to] = true;
}

/* The effect of a step on the steps of other PEs. */
static void add_edges(struct graph *g, const struct program *p, uint32_t a, int i, uint32_t b,
                      int k)
{
    const struct step *x = &p->step[a][i], *y = &p->step[b][k];

    if (x->kind == BARRIER && y->kind == BARRIER && x->turn == y->turn)
        edge(g, begin_of(a, i), end_of_step(p, b, k));
    if (x->kind == ATOMIC && y->kind == ATOMIC && x->address == y->address && x->end_fs < y->end_fs)
        edge(g, begin_of(a, i), begin_of(b, k));
    if (x->kind == SEND && y->kind == RECV && x->peer == b && y->peer == a && x->tag == y->tag &&
        x->piece == y->piece)
        edge(g, begin_of(a, i), end_of_step(p, b, k));
    /* the receive x of the piece whose slot the last of the send y takes */
    if (x->kind == RECV && y->kind == SEND && x->peer == b && y->peer == a && x->tag == y->tag &&
        y->piece >= SLOTS && x->piece >= y->piece - SLOTS &&
        x->piece - (uint64_t)x->pieces + 1 <= y->piece - SLOTS)
        edge(g, begin_of(a, i), end_of_step(p, b, k));
}

static void close_graph(struct graph *g)
{
    for (int k = 0; k < NODES; k++)
        for (int i = 0; i < NODES; i++)
            for (int j = 0; g->before[i][k] && j < NODES; j++)
                g->before[i][j] = g->before[i][j] || g->before[k][j];
}

static void make_graph(struct graph *g, const struct program *p)
{
    memset(g, 0, sizeof *g);
    for (uint32_t a = 0; a < p->n_pes; a++)
        for (int i = 0; i < p->n[a]; i++) {
            bool stays = !p->step[a][i].async;

            if (stays)
                edge(g, begin_of(a, i), begin_of(a, i) + 1);
            if (i + 1 < p->n[a])
                edge(g, begin_of(a, i) + stays, begin_of(a, i + 1));
            for (uint32_t b = 0; b < p->n_pes; b++)
                for (int k = 0; b != a && k < p->n[b]; k++)
                    add_edges(g, p, a, i, b, k);
        }
    close_graph(g);
}

/* Bytes that a step touches in one of the places. */
struct judged {
    uint32_t pe;
    int step, line, begin, end;
    bool writes, atomic;
    uint64_t address;
    int64_t elements, stride;
};

static bool touches(const struct judged *x, uint64_t byte)
{
    for (int64_t i = 0; i < x->elements; i++)
        if (byte - (x->address + (uint64_t)(i * x->stride)) < 4)
            return true;
    return false;
}

static size_t accesses_of(const struct program *p, uint32_t pe, int i, struct judged *out)
{
    const struct step *s = &p->step[pe][i];
    struct judged x = {.pe = pe,
                       .step = i,
                       .line = s->line,
                       .begin = begin_of(pe, i),
                       .end = end_of_step(p, pe, i),
                       .address = s->address,
                       .elements = s->elements,
                       .stride = s->stride};

    x.writes = s->kind == STORE || s->kind == ATOMIC;
    x.atomic = s->kind == ATOMIC;
    if (s->kind == ATOMIC)
        x.end = x.begin;
    if (s->kind == DATA) {
        x.address = TCM(pe);
        x.elements = AREA / 4;
        x.stride = 4;
    }
    if (s->kind > COMPOSITE || s->kind == BARRIER || s->kind == RECV || s->kind == SEND)
        return 0;
    out[0] = x;
    if (s->kind != COMPOSITE)
        return 1;
    out[1] = out[2] = x;
    out[0].address += SLICE(0);
    out[1].address += SLICE(1);
    out[2].address += SLICE(0) + RESULTS;
    out[2].writes = true;
    return 3;
}

static bool share_a_byte(const struct judged *a, const struct judged *b)
{
    for (int64_t i = 0; i < a->elements; i++)
        for (uint64_t k = 0; k < 4; k++)
            if (touches(b, a->address + (uint64_t)(i * a->stride) + k))
                return true;
    return false;
}

static bool comes_before(const struct graph *g, const struct judged *a, const struct judged *b)
{
    return a->end >= 0 && g->before[a->end][b->begin];
}

static bool judge_races(const struct graph *g, const struct judged *a, const struct judged *b)
{
    return a->pe != b->pe && (a->writes || b->writes) && !(a->atomic && b->atomic) &&
           share_a_byte(a, b) && !comes_before(g, a, b) && !comes_before(g, b, a);
}

/* Is it the judge's? */
static bool is_of(const kb_race_access *x, const struct judged *j)
{
    return x->line == j->line && x->pe == j->pe && x->writes == j->writes && x->atomic == j->atomic;
}

static bool same_lines(const kb_race *r, const struct judged *a, const struct judged *b)
{
    return r->first.line == a->line && r->first.writes == a->writes && r->second.line == b->line &&
           r->second.writes == b->writes;
}

/* Every race of the judge is one of the rows; every row is a race of the judge. */
static size_t compare(const struct program *p, const struct races *found, uint64_t seed)
{
    static struct graph g;
    static struct judged x[3 * PES * OPS];
    bool real[RACES_MAX] = {false};
    size_t n = 0, n_races = 0;

    make_graph(&g, p);
    for (uint32_t pe = 0; pe < p->n_pes; pe++)
        for (int i = 0; i < p->n[pe]; i++)
            n += accesses_of(p, pe, i, &x[n]);
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) {
            bool known = false;

            if (a == b || !judge_races(&g, &x[a], &x[b]))
                continue;
            n_races++;
            for (size_t i = 0; i < found->n; i++) {
                const kb_race *r = &found->race[i];

                known = known || same_lines(r, &x[a], &x[b]) || same_lines(r, &x[b], &x[a]);
                if (is_of(&r->first, &x[a]) && is_of(&r->second, &x[b]) &&
                    touches(&x[a], r->address) && touches(&x[b], r->address) &&
                    touches(&x[a], r->address + r->nbytes - 1) &&
                    touches(&x[b], r->address + r->nbytes - 1))
                    real[i] = true;
            }
            if (!known)
                fail_msg("seed %" PRIu64 ": lines %d of PE %u and %d of PE %u are missed", seed,
                         x[a].line, x[a].pe, x[b].line, x[b].pe);
        }
    for (size_t i = 0; i < found->n; i++)
        if (!real[i])
            fail_msg("seed %" PRIu64 ": %s line %d of PE %u and %s line %d of PE %u do not race",
                     seed, found->race[i].first.call, found->race[i].first.line,
                     found->race[i].first.pe, found->race[i].second.call,
                     found->race[i].second.line, found->race[i].second.pe);
    return n_races;
}

static bool is_equal(const kb_race_access *a, const kb_race_access *b)
{
    return a->pe == b->pe && a->op_id == b->op_id && a->line == b->line &&
           a->issue_fs == b->issue_fs && a->writes == b->writes && a->atomic == b->atomic &&
           strcmp(a->call, b->call) == 0;
}

static void assert_equal(const struct races *a, const struct races *b)
{
    assert_true(a->n == b->n && a->checked.accesses == b->checked.accesses);
    for (size_t i = 0; i < a->n; i++) {
        assert_true(is_equal(&a->race[i].first, &b->race[i].first));
        assert_true(is_equal(&a->race[i].second, &b->race[i].second));
        assert_true(a->race[i].address == b->race[i].address &&
                    a->race[i].nbytes == b->race[i].nbytes && a->race[i].count == b->race[i].count);
    }
}

static void random_programs(void **state)
{
    struct seeds seeds = seeds_of(SEEDS, 1);
    size_t racing = 0, clean = 0;

    (void)state;
    for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
        struct program *p = malloc(sizeof *p);
        struct races *fused, *hop;

        draw_program(p, seed);
        fused = races_in(run_program, &p, p->n_pes, false, KB_FUSED);
        if (compare(p, fused, seed))
            racing++;
        else
            clean++;
        hop = races_in(run_program, &p, p->n_pes, false, KB_HOP);
        assert_equal(fused, hop);
        free(fused);
        free(hop);
        free(p);
    }
    assert_true(racing > seeds_count(seeds) / 10 && clean > seeds_count(seeds) / 50);
    print_message("%zu programs race, %zu do not\n", racing, clean);
}

/* -- clocks --------------------------------------------------------------------------------- */

enum { CLOCKS = 5, COUNTS = 5000, CHANGES = 4000 };

/* Trees of counts, and the same as arrays: many PEs, few of which are set. */
static void clocks_are_arrays(void **state)
{
    static uint32_t want[CLOCKS][COUNTS];
    struct vclock *c[CLOCKS] = {NULL};
    uint32_t level = vclock_level(COUNTS);
    uint64_t dice = 1;

    (void)state;
    for (int n = 0; n < CHANGES; n++) {
        uint32_t a = (uint32_t)(draw(&dice) % CLOCKS), b = (uint32_t)(draw(&dice) % CLOCKS);
        uint32_t pe = (uint32_t)(draw(&dice) % (n % 2 ? COUNTS : 40));

        if (draw(&dice) % 4 == 0) {
            assert_true(vclock_join(&c[a], c[b]));
            for (uint32_t i = 0; i < COUNTS; i++)
                want[a][i] = want[a][i] > want[b][i] ? want[a][i] : want[b][i];
        } else if (draw(&dice) % 8 == 0) {
            struct vclock *old = c[a];

            c[a] = vclock_keep(c[b]);
            vclock_drop(old);
            memmove(want[a], want[b], sizeof *want);
        } else {
            want[a][pe] += 1 + (uint32_t)(draw(&dice) % 3);
            assert_true(vclock_set(&c[a], level, pe, want[a][pe]));
        }
        for (uint32_t i = (uint32_t)n % 7; i < COUNTS; i += 7)
            assert_true(vclock_of(c[a], i) == want[a][i]);
    }
    for (int i = 0; i < CLOCKS; i++)
        vclock_drop(c[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs),
                                       cmocka_unit_test(clocks_are_arrays)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
