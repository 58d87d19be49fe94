/* coll_ring.c -- all_gather and reduce_scatter on rings both ways round, and on lines.
 *
 * In an all_gather a lane carries blocks away from their ranks; in a reduce_scatter it carries sums
 * to theirs. In a ring of n the lane up goes n / 2 steps and the one down (n - 1) / 2, so each
 * block takes the shorter way; on a line both go n - 1, and what would pass an end is not there.
 *
 * At the begin of a step all pieces of it are asked for; then each is sent on as soon as the one
 * that came in the step before is there, in both lanes by turns. No sender waits for one that has
 * not asked, so there is no deadlock. Rings along several axes go on at once, a step of each by
 * turns.
 *
 * Example: all_gather, ring of 4, rank 1. Step 1: block 1 goes to ranks 2 and 0; 0 comes from
 * below, 2 from above. Step 2: block 0 goes up to 2; 3 comes from below. The lane down is done.
 */
#include "base/larger.h"
#include "kernels/coll.h"

struct round {
    int64_t first, n;
};

/*
 * Where steps cost something, one begins when all of the step before has come, and pays for each
 * part that comes: n - 1 in all, on a ring and on a line. Further rounds pay nothing.
 */
static void begin_step(struct coll *c, int64_t step, int64_t first, int64_t n)
{
    bool pays = first == 0 && pays_steps(c);

    for (enum lane lane = UP; lane < N_LANES; lane++) {
        c->all_came[lane] = pays && step > 1 && step <= c->steps[lane];
        for (int64_t i = 0; c->all_came[lane] && i < n; i++)
            await(c, c->held[lane][i]);
    }
    if (pays)
        pay_step(c, step);
}

/* The piece that came in the step before. */
static tl_tensor *held(const struct coll *c, enum lane lane, int64_t i)
{
    return c->all_came[lane] ? c->held[lane][i] : await(c, c->held[lane][i]);
}

/* -- all_gather ------------------------------------------------------------------------------- */

/* The block that a lane brings in a step; in step 0 the own one. */
static struct span brought(const struct coll *c, struct span all, enum lane lane, int64_t step)
{
    return step ? part_in(c, all, lane, step, -step) : part_at(c, all, c->me);
}

/* To where it belongs. */
static tl_tensor *put(struct coll *c, struct span all, struct span at, tl_tensor *x)
{
    if (c->far.n == 0 || !x)
        return store(c, at, x);
    coll_far_put(c, all, at, x);
    return NULL;
}

/* In step 1 the own block goes; then what came in the step before. */
static void pass_on(struct coll *c, enum lane lane, int64_t step, int64_t i)
{
    tl_tensor *x = step == 1 ? c->own[UP][i] : held(c, lane, i);

    if (step == 1 && lane == UP)
        await(c, x);
    if (step <= c->steps[lane])
        give(c, lane, 1, x);
}

/* What came in the step before goes to its place, too. */
static void put_away(struct coll *c, struct span all, enum lane lane, int64_t step, int64_t first,
                     int64_t i)
{
    if (step > 1)
        c->next[lane][i] =
            put(c, all, piece_of(c, brought(c, all, lane, step - 1), first + i), c->held[lane][i]);
}

/* What is put together in the TCM is so behind the messages of both lanes. */
static void pass_both_on(struct coll *c, struct span all, int64_t step, int64_t first, int64_t i)
{
    bool later = c->far.n > 0;

    for (enum lane lane = UP; lane < N_LANES; lane++) {
        pass_on(c, lane, step, i);
        if (!later)
            put_away(c, all, lane, step, first, i);
    }
    for (enum lane lane = UP; later && lane < N_LANES; lane++)
        put_away(c, all, lane, step, first, i);
}

static void gather_step(struct coll *c, struct span all, int64_t step, int64_t first, int64_t n)
{
    begin_step(c, step, first, n);
    for (int64_t i = 0; i < n; i++)
        for (enum lane lane = UP; lane < N_LANES; lane++)
            c->got[lane][i] =
                receive(c, lane, 1, piece_of(c, brought(c, all, lane, step), first + i));
    for (int64_t i = 0; i < n; i++)
        pass_both_on(c, all, step, first, i);
    for (int64_t i = 0; i < n; i++)
        for (enum lane lane = UP; lane < N_LANES; lane++) {
            if (step > 1) {
                await(c, c->next[lane][i]);
                c->next[lane][i] = NULL;
                drop(c, &c->held[lane][i]);
            }
            c->held[lane][i] = c->got[lane][i];
        }
}

/* A round of pieces of one of the rings that go on at once; n <= 0: it has no more. */
static struct round round_of(const struct ring *r, int64_t number)
{
    int64_t first = number * r->c->round;

    return (struct round){first, smaller(r->c->round, r->c->pieces - first)};
}

static int64_t rounds_of(const struct ring *rings, int n)
{
    int64_t most = 0;

    for (int k = 0; k < n; k++) {
        int64_t rounds = rings[k].c->round
                             ? (rings[k].c->pieces + rings[k].c->round - 1) / rings[k].c->round
                             : 0;

        most = rounds > most ? rounds : most;
    }
    return most;
}

static int64_t most_steps(const struct ring *rings, int n)
{
    int64_t most = 0;

    for (int k = 0; k < n; k++)
        most = rings[k].c->most_steps > most ? rings[k].c->most_steps : most;
    return most;
}

static void begin_gather(const struct ring *r, struct round at)
{
    struct coll *c = r->c;
    struct span mine = part_at(c, r->all, c->me);

    for (int64_t i = 0; i < at.n; i++)
        c->own[UP][i] = load(c, piece_of(c, r->part, at.first + i));
    gather_step(c, r->all, 1, at.first, at.n);
    for (int64_t i = 0; i < at.n; i++) {
        if (r->part.address != mine.address || c->far.n > 0)
            await(c, put(c, r->all, piece_of(c, mine, at.first + i), c->own[UP][i]));
        drop(c, &c->own[UP][i]);
    }
}

static void gather_round(const struct ring *rings, int n, int64_t number)
{
    for (int k = 0; k < n; k++)
        if (round_of(&rings[k], number).n > 0)
            begin_gather(&rings[k], round_of(&rings[k], number));
    for (int64_t step = 2; step <= most_steps(rings, n) + 1; step++)
        for (int k = 0; k < n; k++) {
            struct round at = round_of(&rings[k], number);

            if (at.n > 0 && step <= rings[k].c->most_steps + 1)
                gather_step(rings[k].c, rings[k].all, step, at.first, at.n);
        }
}

void coll_rings_gather(const struct ring *rings, int n)
{
    for (int k = 0; k < n; k++)
        coll_far_new(rings[k].c, rings[k].all);
    for (int64_t number = 0; number < rounds_of(rings, n); number++)
        gather_round(rings, n, number);
    for (int k = 0; k < n; k++)
        coll_far_end(rings[k].c);
}

/* -- reduce_scatter --------------------------------------------------------------------------- */

/* The part whose sum a lane gives in a step. */
static struct span summed(const struct coll *c, struct span all, enum lane lane, int64_t step)
{
    return part_in(c, all, lane, step, c->steps[lane] - step + 1);
}

/* The one whose sum it takes: that of the neighbour. On a line no sum comes from past its end. */
static struct span taken(const struct coll *c, struct span all, enum lane lane, int64_t step)
{
    return part_in(c, all, lane, step, c->steps[lane] - step);
}

static tl_tensor *load_piece(struct coll *c, struct span all, struct span at)
{
    return c->far.n > 0 && at.n > 0 ? coll_far_piece(c, all, at) : load(c, at);
}

static tl_tensor *loaded(struct coll *c, tl_tensor *piece)
{
    return c->far.n > 0 || c->is_kept ? piece : await(c, piece);
}

/* Asks for the own pieces of what is given in a step. */
static void load_own(struct coll *c, tl_tensor **own[N_LANES], struct span all, int64_t step,
                     int64_t first, int64_t i)
{
    for (enum lane lane = UP; lane < N_LANES; lane++)
        own[lane][i] = load_piece(c, all, piece_of(c, summed(c, all, lane, step), first + i));
}

/* The own pieces of the next step are loaded meanwhile, if steps cost nothing. */
static void scatter_step(struct coll *c, struct span all, int64_t step, int64_t first, int64_t n)
{
    bool ahead = !pays_steps(c);

    begin_step(c, step, first, n);
    for (int64_t i = 0; i < n; i++) {
        for (enum lane lane = UP; lane < N_LANES; lane++)
            c->got[lane][i] =
                receive(c, lane, 1, piece_of(c, taken(c, all, lane, step), first + i));
        if (!ahead || step == 1)
            load_own(c, c->own, all, step, first, i);
    }
    for (int64_t i = 0; i < n; i++) {
        if (ahead)
            load_own(c, c->next, all, step + 1, first, i);
        for (enum lane lane = UP; lane < N_LANES; lane++) {
            if (step <= c->steps[lane]) {
                c->held[lane][i] = reduce(c, held(c, lane, i), loaded(c, c->own[lane][i]));
                give(c, lane, 1, c->held[lane][i]);
                drop(c, &c->held[lane][i]);
                c->held[lane][i] = c->got[lane][i];
            }
            c->own[lane][i] = ahead ? c->next[lane][i] : NULL;
        }
    }
}

/* What has come from both sides, and the own. */
static void end_scatter(const struct ring *r, struct round at)
{
    struct coll *c = r->c;

    for (int64_t i = 0; i < at.n; i++)
        c->own[UP][i] = load_piece(c, r->all, piece_of(c, part_at(c, r->all, c->me), at.first + i));
    for (int64_t i = 0; i < at.n; i++) {
        tl_tensor *sum = reduce(c, await(c, c->held[UP][i]), loaded(c, c->own[UP][i]));

        c->held[UP][i] = reduce(c, await(c, c->held[DOWN][i]), sum);
        c->own[UP][i] = settle(c, piece_of(c, r->part, at.first + i), &c->held[UP][i]);
    }
    for (int64_t i = 0; i < at.n; i++) {
        await(c, c->own[UP][i]);
        drop(c, &c->held[UP][i]);
        c->own[UP][i] = c->held[DOWN][i] = NULL;
    }
}

static void scatter_round(const struct ring *rings, int n, int64_t number)
{
    for (int k = 0; k < n; k++)
        for (int64_t i = 0; i < round_of(&rings[k], number).n; i++)
            rings[k].c->held[UP][i] = rings[k].c->held[DOWN][i] = NULL;
    for (int64_t step = 1; step <= most_steps(rings, n); step++)
        for (int k = 0; k < n; k++) {
            struct round at = round_of(&rings[k], number);

            if (at.n > 0 && step <= rings[k].c->most_steps)
                scatter_step(rings[k].c, rings[k].all, step, at.first, at.n);
        }
    for (int k = 0; k < n; k++)
        if (round_of(&rings[k], number).n > 0)
            end_scatter(&rings[k], round_of(&rings[k], number));
}

void coll_rings_scatter(const struct ring *rings, int n)
{
    for (int k = 0; k < n; k++)
        coll_far_load(rings[k].c, rings[k].all);
    for (int64_t number = 0; number < rounds_of(rings, n); number++)
        scatter_round(rings, n, number);
    for (int k = 0; k < n; k++)
        coll_far_end(rings[k].c);
}
