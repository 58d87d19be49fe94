/* shadow.c -- which accesses a memory has had: ranges of bytes, each with the accesses to it.
 *
 * A memory is a skip list of ranges that do not overlap; bytes in no range have had no access. A
 * new access cuts the ranges at its ends, is compared with the accesses of every range that it
 * covers, and is then added to them. Neighbours that end up with equal accesses become one range.
 *
 * Example: PE 0 writes bytes [0, 64), PE 1 reads [32, 96).
 *
 *     [0, 64) {write 0}   ->   [0, 32) {write 0}   [32, 64) {write 0, read 1}   [64, 96) {read 1}
 *
 * The accesses of a range are an array that ranges share. A matrix of 1000 rows, written row by
 * row by one command, has 1000 ranges and one array. A shared array does not change: an access to
 * all these ranges is compared with it once, makes one new array, and the ranges share that one
 * (`same` in struct entering remembers the last 16).
 *
 * An array stays short, because it keeps of each PE, line and kind only the last access that has
 * ended: if an earlier one of them races with a later access, so does the last one. Accesses that
 * all PEs have seen are dropped, when the range is next used.
 */
#include "record/shadow.h"
#include <stdlib.h>
#include <string.h>

enum {
    LEVELS = 12,
    SAME = sizeof((struct entering *)0)->same / sizeof *((struct entering *)0)->same
};

/* The accesses to a range: writes and atomics first, then reads, each by PE, site and kind. At most
 * as many as PEs times lines have ended. Reference-counted; constant while it is shared. */
struct accesses {
    uint32_t refs, n, cap, n_writes;
    uint64_t floors; /* the floor by which it was last cleared */
    struct access *access[];
};

/* A node of the skip list. */
struct range {
    uint64_t first, end;
    struct accesses *accesses;
    uint32_t levels;
    struct range *next[];
};

struct shadow {
    uint64_t dice;
    struct range *next[LEVELS];
};

/* A place between two ranges. */
struct cursor {
    struct range *before;        /* NULL: none */
    struct range **link[LEVELS]; /* the pointers that lead past the place */
};

void access_drop(struct access *x)
{
    if (--x->refs == 0)
        free(x);
}

/* -- accesses ------------------------------------------------------------------------------- */

static void accesses_drop(struct accesses *a)
{
    if (!a || --a->refs)
        return;
    for (uint32_t i = 0; i < a->n; i++)
        access_drop(a->access[i]);
    free(a);
}

static size_t accesses_bytes(uint32_t cap)
{
    return sizeof(struct accesses) + cap * sizeof(struct access *);
}

/* With room for one more than `old` has; NULL: no memory. */
static struct accesses *accesses_copy(const struct accesses *old)
{
    uint32_t n = old ? old->n : 0;
    struct accesses *a = malloc(accesses_bytes(n + 1));

    if (!a)
        return NULL;
    if (old)
        memcpy(a, old, accesses_bytes(n));
    else
        *a = (struct accesses){0};
    a->refs = 1;
    a->cap = n + 1;
    for (uint32_t i = 0; i < n; i++)
        a->access[i]->refs++;
    return a;
}

static int compare(const struct access *a, const struct access *b)
{
    if (a->pe != b->pe)
        return a->pe < b->pe ? -1 : 1;
    if (a->site != b->site)
        return a->site->number < b->site->number ? -1 : 1;
    return (a->kind > b->kind) - (a->kind < b->kind);
}

static void count_out(struct accesses *a, uint32_t i)
{
    a->n_writes -= a->access[i]->kind != ACCESS_READ;
    access_drop(a->access[i]);
}

/* Drops the accesses that all PEs have seen. */
static void accesses_clear(struct accesses *a, const struct entering *e)
{
    uint32_t kept = 0;

    if (a->floors == e->floors)
        return;
    for (uint32_t i = 0; i < a->n; i++) {
        if (a->access[i]->clock > vclock_of(e->floor, a->access[i]->pe))
            a->access[kept++] = a->access[i];
        else
            count_out(a, i);
    }
    a->n = kept;
    a->floors = e->floors;
}

/* Where `x` belongs: the first of its part, writes or reads, that is not less. */
static uint32_t index_of(const struct accesses *a, const struct access *x)
{
    uint32_t low = x->kind == ACCESS_READ ? a->n_writes : 0;
    uint32_t high = x->kind == ACCESS_READ ? a->n : a->n_writes;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (compare(a->access[middle], x) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Removes those of the PE, line and kind of `x` that have ended; they follow each other from `at`.
 */
static void remove_ended(struct accesses *a, const struct access *x, uint32_t at)
{
    uint32_t end = x->kind == ACCESS_READ ? a->n : a->n_writes, kept = at, i = at;

    for (; i < end && compare(a->access[i], x) == 0; i++) {
        if (a->access[i]->clock == CLOCK_OPEN)
            a->access[kept++] = a->access[i];
        else
            count_out(a, i);
    }
    memmove(&a->access[kept], &a->access[i], (a->n - i) * sizeof(struct access *));
    a->n -= i - kept;
}

/* Adds the access to *into, which is not shared. */
static bool accesses_add(struct accesses **into, const struct entering *e)
{
    struct accesses *a = *into;
    struct access *x = e->access;
    uint32_t at;

    accesses_clear(a, e);
    at = index_of(a, x);
    for (uint32_t i = at; i < a->n && a->access[i]->site == x->site; i++)
        if (a->access[i] == x)
            return true;
    remove_ended(a, x, at);
    if (a->n == a->cap) {
        a = realloc(a, accesses_bytes(2 * a->cap));
        if (!a)
            return false;
        a->cap *= 2;
        *into = a;
    }
    memmove(&a->access[at + 1], &a->access[at], (a->n - at) * sizeof(struct access *));
    a->access[at] = x;
    x->refs++;
    a->n++;
    a->n_writes += x->kind != ACCESS_READ;
    return true;
}

/* Both are atomic, and either may be first. */
static bool commute(enum access_kind a, enum access_kind b)
{
    return a >= ACCESS_ATOMIC && b >= ACCESS_ATOMIC && (a == ACCESS_ATOMIC || b == ACCESS_ATOMIC);
}

/* Reports the accesses that conflict with the new one and do not happen before it. */
static void find_races(const struct accesses *a, const struct entering *e, uint64_t first,
                       uint64_t end)
{
    const struct access *x = e->access;
    uint32_t n = x->kind == ACCESS_READ ? a->n_writes : a->n;

    for (uint32_t i = 0; i < n; i++) {
        const struct access *y = a->access[i];

        if (y->pe == x->pe || commute(x->kind, y->kind))
            continue;
        if (y->clock > vclock_of(e->seen, y->pe))
            e->meets(e->arg, y, first, end);
    }
}

/* A range whose accesses are shared: all ranges that share them get the same new ones. */
static bool enter_shared(struct range *r, struct entering *e)
{
    struct accesses *before = r->accesses, *after;
    size_t i = ((uintptr_t)before >> 5) % SAME;

    if (e->same[i].before != before) {
        find_races(before, e, r->first, r->end);
        after = accesses_copy(before);
        if (!after || !accesses_add(&after, e)) {
            accesses_drop(after);
            return false;
        }
        accesses_drop(e->same[i].before);
        accesses_drop(e->same[i].after);
        before->refs++;
        e->same[i].before = before;
        e->same[i].after = after;
    }
    r->accesses = e->same[i].after;
    r->accesses->refs++;
    accesses_drop(before);
    return true;
}

static bool enter_range(struct range *r, struct entering *e)
{
    if (r->accesses->refs > 1)
        return enter_shared(r, e);
    find_races(r->accesses, e, r->first, r->end);
    return accesses_add(&r->accesses, e);
}

/* -- ranges --------------------------------------------------------------------------------- */

/* Sets the cursor before the first range that ends after `at`. */
static void seek(struct shadow *m, uint64_t at, struct cursor *c)
{
    struct range **next = m->next;

    c->before = NULL;
    for (int l = LEVELS - 1; l >= 0; l--) {
        while (next[l] && next[l]->end <= at) {
            c->before = next[l];
            next = next[l]->next;
        }
        c->link[l] = &next[l];
    }
}

static struct range *behind(const struct cursor *c)
{
    return *c->link[0];
}

static void step_over(struct cursor *c)
{
    struct range *r = behind(c);

    for (uint32_t l = 0; l < r->levels; l++)
        c->link[l] = &r->next[l];
    c->before = r;
}

/* Each further level with probability 1/4. */
static uint32_t draw_levels(struct shadow *m)
{
    uint32_t levels = 1;

    m->dice = m->dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    for (uint64_t dice = m->dice >> 33; levels < LEVELS && (dice & 3) == 0; dice >>= 2)
        levels++;
    return levels;
}

/* Inserts a range at the cursor, which takes over the reference to `accesses`. */
static bool insert(struct shadow *m, struct cursor *c, uint64_t first, uint64_t end,
                   struct accesses *accesses)
{
    uint32_t levels = draw_levels(m);
    struct range *r = malloc(sizeof *r + levels * sizeof(struct range *));

    if (!r) {
        accesses_drop(accesses);
        return false;
    }
    *r = (struct range){.first = first, .end = end, .accesses = accesses, .levels = levels};
    for (uint32_t l = 0; l < levels; l++) {
        r->next[l] = *c->link[l];
        *c->link[l] = r;
    }
    return true;
}

static bool equal(const struct accesses *a, const struct accesses *b)
{
    return a == b ||
           (a->n == b->n && memcmp(a->access, b->access, a->n * sizeof(struct access *)) == 0);
}

/* Moves past the next range; joins it to the one before if they touch and are equal. */
static void pass_range(struct cursor *c)
{
    struct range *r = behind(c);

    if (!c->before || c->before->end != r->first || !equal(c->before->accesses, r->accesses)) {
        step_over(c);
        return;
    }
    c->before->end = r->end;
    for (uint32_t l = 0; l < r->levels; l++)
        *c->link[l] = r->next[l];
    accesses_drop(r->accesses);
    free(r);
}

/* Enters bytes that have had no access. */
static bool enter_gap(struct shadow *m, struct cursor *c, struct entering *e, uint64_t first,
                      uint64_t end)
{
    if (!e->fresh) {
        e->fresh = accesses_copy(NULL);
        if (!e->fresh || !accesses_add(&e->fresh, e))
            return false;
    }
    e->fresh->refs++;
    return insert(m, c, first, end, e->fresh);
}

/* Cuts the next range in two at `at`, if that lies inside. */
static bool cut(struct shadow *m, struct cursor *c, uint64_t at)
{
    struct cursor inside = *c;
    struct range *r = behind(c);
    uint64_t end = r->end;

    if (at <= r->first || at >= end)
        return true;
    for (uint32_t l = 0; l < r->levels; l++)
        inside.link[l] = &r->next[l];
    r->accesses->refs++;
    if (!insert(m, &inside, at, end, r->accesses))
        return false;
    r->end = at;
    return true;
}

bool shadow_enter(struct shadow **made, struct entering *e, uint64_t first, uint64_t end)
{
    struct shadow *m = *made ? *made : calloc(1, sizeof *m);
    struct cursor c;

    if (!m)
        return false;
    *made = m;
    seek(m, first, &c);
    if (behind(&c) && behind(&c)->first < first) {
        if (!cut(m, &c, first))
            return false;
        step_over(&c);
    }
    while (first < end) {
        struct range *r = behind(&c);
        uint64_t to = !r || r->first > end ? end : r->first;

        if (first < to) {
            if (!enter_gap(m, &c, e, first, to))
                return false;
        } else if (!cut(m, &c, end) || !enter_range(r, e)) {
            return false;
        }
        first = behind(&c)->end;
        pass_range(&c);
    }
    if (behind(&c))
        pass_range(&c);
    return true;
}

void shadow_leave(struct entering *e)
{
    accesses_drop(e->fresh);
    for (int i = 0; i < SAME; i++) {
        accesses_drop(e->same[i].before);
        accesses_drop(e->same[i].after);
    }
}

void shadow_free(struct shadow *m)
{
    struct range *r = m ? m->next[0] : NULL;

    while (r) {
        struct range *next = r->next[0];

        accesses_drop(r->accesses);
        free(r);
        r = next;
    }
    free(m);
}
