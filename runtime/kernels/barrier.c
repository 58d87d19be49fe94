/* barrier.c -- barriers: a group of PEs, each of which goes on when all have come.
 *
 * Each member sends a word to the member with the lowest number, over wires and overheads but no
 * station. When the last word is there, the lowest PE sends one back to each: that is the release.
 * So a barrier takes max(arrival + way to the lowest) and then the way back of each member.
 *
 * The words on the way there are no events: only the latest counts, so barrier_join() keeps the
 * maximum, `last_fs`, and the last member posts the words back, one event each.
 *
 * A group is a range of PEs, or a sorted list of them, found by its hash. Groups given in another
 * order, or as a list of neighbours, are the same barrier: all of its members meet however each has
 * named it.
 *
 * Example: PE 0 calls at 0 and PE 1, 0.0475 ns away, at 10 (ns); each call is issued 3 later. The
 * word of PE 1 is with PE 0 at 13.0475. PE 0 goes on at once, PE 1 at 13.095.
 * tests/unit/kernels/test_barrier.c has such numbers.
 */
#include "kernels/barrier.h"
#include "kernels/error.h"
#include "kernels/observe.h"
#include "kernels/requests.h"
#include "kernels/slots.h"
#include "pe/pe_ipcq.h"
#include <stdlib.h>
#include <string.h>

static void row_free(struct barrier *b)
{
    while (b) {
        struct barrier *next = b->next;

        free(b->pes);
        free(b);
        b = next;
    }
}

void barriers_free(struct barriers *barriers)
{
    for (int i = 0; barriers && i < BARRIER_ROWS; i++)
        row_free(barriers->row[i]);
    free(barriers);
}

/* Made for the first barrier of the launch. NULL after a message. */
static struct barriers *barriers_of(struct command *c)
{
    struct launch *l = c->pe->launch;

    if (!l->barriers)
        l->barriers = calloc(1, sizeof *l->barriers);
    if (!l->barriers)
        kernel_no_memory(c->pe);
    return l->barriers;
}

/* -- groups ----------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* A group as it is looked for: NULL and the first, or the PEs in ascending order. */
struct group {
    uint32_t *pes; /* owned */
    uint32_t first;
    size_t n;
};

static bool is_sorted(const uint32_t *pes, size_t n)
{
    size_t i = 1;

    while (i < n && pes[i - 1] <= pes[i])
        i++;
    return i >= n;
}

/* False after a message. */
static bool sort_group(struct command *c, const tl_group *from, struct group *g)
{
    *g = (struct group){.first = from->first, .n = from->n};
    if (g->n > c->pe->kernels->n_pes) {
        kernel_error(c->pe, c->call, c->here, "a group of %zu PEs, where there are only %u", g->n,
                     c->pe->kernels->n_pes);
        return false;
    }
    if (!from->pes || from->n == 0)
        return true;
    g->pes = malloc(g->n * sizeof *g->pes);
    if (!g->pes) {
        kernel_no_memory(c->pe);
        return false;
    }
    memcpy(g->pes, from->pes, g->n * sizeof *g->pes);
    if (!is_sorted(g->pes, g->n))
        qsort(g->pes, g->n, sizeof *g->pes, by_number);
    g->first = g->pes[0];
    return true;
}

static bool has_member(const struct group *g, uint32_t pe)
{
    if (!g->pes)
        return pe >= g->first && pe - g->first < g->n;
    return bsearch(&pe, g->pes, g->n, sizeof pe, by_number);
}

/* The first member that is no PE; UINT32_MAX: all are. */
static uint32_t no_member(const struct group *g, uint32_t n_pes)
{
    uint32_t first = g->first < n_pes ? n_pes : g->first;

    if (!g->pes)
        return (uint64_t)g->first + g->n > first ? first : UINT32_MAX;
    for (size_t i = 0; i < g->n; i++)
        if (g->pes[i] >= n_pes)
            return g->pes[i];
    return UINT32_MAX;
}

/* Does every member exist, and come once? */
static bool is_group(struct command *c, const struct group *g)
{
    uint32_t missing = no_member(g, c->pe->kernels->n_pes);

    for (size_t i = 1; g->pes && i < g->n; i++) {
        if (g->pes[i] == g->pes[i - 1]) {
            kernel_error(c->pe, c->call, c->here, "PE %u of the group comes twice", g->pes[i]);
            return false;
        }
    }
    if (missing != UINT32_MAX)
        kernel_error(c->pe, c->call, c->here, "PE %u of the group does not exist", missing);
    else if (!has_member(g, c->pe->number))
        kernel_error(c->pe, c->call, c->here, "the PE itself is not in the group");
    else
        return true;
    return false;
}

/* PEs that follow each other are a range, however they were given. */
static void make_range(struct group *g)
{
    if (g->pes && g->pes[g->n - 1] - g->first == g->n - 1) {
        free(g->pes);
        g->pes = NULL;
    }
}

/* -- finding a barrier ------------------------------------------------------------------------ */

static struct barrier **row_of_group(struct barriers *barriers, const struct group *g)
{
    uint64_t h = (uint64_t)g->first << 32 ^ g->n;

    for (size_t i = 0; g->pes && i < g->n; i++)
        h = (h ^ g->pes[i]) * UINT64_C(0x9e3779b97f4a7c15);
    h *= UINT64_C(0x9e3779b97f4a7c15);
    return &barriers->row[h >> 32 & (BARRIER_ROWS - 1)];
}

static bool is_of(const struct barrier *b, const struct group *g)
{
    return b->n == g->n && b->first == g->first && !b->pes == !g->pes &&
           (!b->pes || memcmp(b->pes, g->pes, g->n * sizeof *g->pes) == 0);
}

/* Takes what the group owns. NULL after a message. */
static struct barrier *find_barrier(struct command *c, struct barriers *barriers, struct group *g)
{
    struct barrier **row = row_of_group(barriers, g), *b = *row;

    while (b && !is_of(b, g))
        b = b->next;
    if (b) {
        free(g->pes);
        return b;
    }
    b = calloc(1, sizeof *b);
    if (!b) {
        free(g->pes);
        kernel_no_memory(c->pe);
        return NULL;
    }
    *b = (struct barrier){.pes = g->pes, .first = g->first, .n = g->n, .next = *row};
    return *row = b;
}

bool barrier_find(struct command *c, const tl_group *from)
{
    struct barriers *barriers = barriers_of(c);
    struct group g;

    c->barrier = NULL;
    if (!barriers || !sort_group(c, from, &g))
        return false;
    if (!is_group(c, &g)) {
        free(g.pes);
        return false;
    }
    make_range(&g);
    c->barrier = find_barrier(c, barriers, &g);
    return c->barrier;
}

/* -- coming and going ------------------------------------------------------------------------- */

/* The lowest PE sends each member its word back. */
static void release(struct kb_sim *s, struct barrier *b)
{
    struct tl_ctx *lowest = &s->kernels->pes[b->first];

    while (b->waiting) {
        struct command *c = b->waiting;
        struct stage stage = {.command = c, .stage = STAGE_COMMAND, .id = c->op.id};
        uint32_t slot = slot_new(s, &stage, NULL, false);

        b->waiting = c->behind;
        if (slot == TXN_NONE)
            return;
        s->txns[slot] = (struct txn){.id = c->op.id};
        if (s->observer && !observe_release_word(s, (int64_t)b->last_fs, slot, b->last, b->first))
            return;
        engine_send_word(s, b->last_fs, word_fs(s, lowest, c->pe), slot);
    }
    b->arrived = 0;
    b->last_fs = 0;
    b->last = NULL;
}

void barrier_join(struct kb_sim *s, uint64_t t, struct command *c)
{
    struct barrier *b = c->barrier;
    uint64_t there_fs = t + (uint64_t)word_fs(s, c->pe, &s->kernels->pes[b->first]);

    c->behind = NULL;
    if (b->waiting)
        b->last_waiting->behind = c;
    else
        b->waiting = c;
    b->last_waiting = c;
    if (s->observer)
        observe_wait(s, c, c->op.id, KB_NO_ID);
    if (!b->last || there_fs > b->last_fs) {
        b->last = c;
        b->last_fs = there_fs;
    }
    if (++b->arrived == b->n)
        release(s, b);
}
