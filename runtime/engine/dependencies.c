/* dependencies.c -- transactions that wait for others: which for which, and what an end sets free.
 *
 * A transaction with dependencies has no issue time of its own that the engine could walk to. It is
 * issued think_fs after the last of those it waits for has ended, but not before its own issue_fs.
 *
 *   kb_sim_add_dependencies()  keeps, for each waiting transaction, the list of ids it waits for.
 *   dependencies_prepare()     before the run turns the lists around: for each id the waits it is
 *                              part of (first_follower, followers), and counts n_left of each wait.
 *                              It also checks that all ids exist and that there is no cycle, by
 *                              letting all transactions end in any order: what remains is a cycle.
 *   dependencies_ended()       is called by the engine at each end: takes one off n_left of each
 *                              follower, raises its issue_fs, and posts its issue at 0.
 *
 * Example: 2 waits for 0 and 1, and thinks for 5 ns. 0 ends at 18.085: n_left 2 -> 1, issue_fs of 2
 * becomes 23.085. 1 ends at 16: n_left is 0, and 16 + 5 is not later, so 2 is issued at 23.085. The
 * latest end counts, not the last one reported; a host's response may come after other ends.
 *
 * Invariants: an end posts issues at its own time or later, so time never goes back; a transaction
 * that waits is not in the list of issues (engine/issue_order.c), so it is issued once. All lists
 * are made before the run, none grows while it lasts.
 */
#include "engine/dependencies.h"
#include "base/rows.h"
#include "engine/inorder.h"
#include "machine/endpoint.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_NONE UINT32_MAX /* a transaction that waits for no other */
#define SEEN      UINT32_MAX /* of n_left, while a cycle is looked for: the search has come by here */

enum { SHOWN_IDS = 8 /* of a cycle, in a message */ };

/* One transaction that waits. */
struct wait {
    int64_t think_fs;
    size_t first_id; /* of `ids`: those it waits for, up to the next one's */
    uint32_t id;
    uint32_t n_left; /* of them have not ended */
};

struct dependencies {
    struct wait *waits;
    uint32_t *ids;     /* what they wait for, one after the other */
    uint32_t *wait_of; /* [id]: its place in `waits`, or WAIT_NONE */
    size_t n_ids;
    uint32_t ids_room, n_waits, waits_room, wait_of_room;

    /* For the run: waits[followers[first_follower[id] .. first_follower[id + 1])] wait for `id`. */
    uint32_t *followers;
    size_t *first_follower;
    uint32_t n_prepared; /* transactions there were then */
};

/* -- adding dependencies -------------------------------------------------------------------- */

/* They belong to dependencies that have changed since. */
static void drop_followers(struct dependencies *a)
{
    free(a->followers);
    free(a->first_follower);
    a->followers = NULL;
    a->first_follower = NULL;
}

void dependencies_free(struct dependencies *a)
{
    if (!a)
        return;
    drop_followers(a);
    free(a->waits);
    free(a->ids);
    free(a->wait_of);
    free(a);
}

/* Room for one more that waits, transaction `id`, for `n` others. */
static bool room_for(struct dependencies *a, uint32_t id, size_t n)
{
    uint32_t had = a->wait_of_room;

    if (!rows_grow(&a->ids, &a->ids_room, a->n_ids + n, sizeof *a->ids) ||
        !rows_grow(&a->waits, &a->waits_room, a->n_waits + (size_t)1, sizeof *a->waits) ||
        !rows_grow(&a->wait_of, &a->wait_of_room, id + (size_t)1, sizeof *a->wait_of))
        return false;
    for (uint32_t i = had; i < a->wait_of_room; i++)
        a->wait_of[i] = WAIT_NONE;
    return true;
}

bool dependencies_waits(const struct dependencies *a, uint32_t id)
{
    return id < a->wait_of_room && a->wait_of[id] != WAIT_NONE;
}

static kb_status check_request(const struct kb_sim *s, uint64_t id, const uint64_t *after, size_t n,
                               int64_t think_fs, kb_error *why)
{
    unsigned long long shown = id;

    if (s->started)
        return endpoint_error(why, "the simulation has begun, nothing can wait any more");
    if (id >= s->n_txns)
        return endpoint_error(why, "there is no transaction %llu that could wait", shown);
    if (s->dependencies && dependencies_waits(s->dependencies, (uint32_t)id))
        return endpoint_error(why, "it is known already what transaction %llu waits for", shown);
    if (think_fs < 0)
        return endpoint_error(why, "transaction %llu cannot be issued before what it waits for",
                              shown);
    if (n == 0 && think_fs > 0)
        return endpoint_error(why, "transaction %llu waits for nothing, and cannot think after it",
                              shown);
    if (n > EV_MAX_SLOTS)
        return endpoint_error(why, "transaction %llu waits for more than there can be", shown);
    for (size_t i = 0; i < n; i++)
        if (after[i] >= EV_MAX_SLOTS - 1)
            return endpoint_error(why, "transaction %llu waits for %llu, which cannot be", shown,
                                  (unsigned long long)after[i]);
    return KB_OK;
}

static void add_wait(struct dependencies *a, uint32_t id, const uint64_t *after, size_t n,
                     int64_t think_fs)
{
    drop_followers(a);
    a->wait_of[id] = a->n_waits;
    a->waits[a->n_waits++] = (struct wait){.think_fs = think_fs, .first_id = a->n_ids, .id = id};
    for (size_t i = 0; i < n; i++)
        a->ids[a->n_ids++] = (uint32_t)after[i];
}

kb_status kb_sim_add_dependencies(kb_sim *s, uint64_t id, const uint64_t *after, size_t n,
                                  int64_t think_fs, kb_error *why)
{
    REFUSE_NULL(s && (after || n == 0), "sim, after", why);
    kb_status status = check_request(s, id, after, n, think_fs, why);
    struct dependencies *a = s->dependencies;

    if (status != KB_OK || n == 0)
        return status;
    if (!a)
        a = calloc(1, sizeof *a);
    if (!a || !room_for(a, (uint32_t)id, n)) {
        if (!s->dependencies)
            dependencies_free(a);
        endpoint_error(why, "out of memory after %u transactions that wait",
                       s->dependencies ? s->dependencies->n_waits : 0);
        return KB_NO_MEMORY;
    }
    s->dependencies = a;
    add_wait(a, (uint32_t)id, after, n, think_fs);
    return KB_OK;
}

/* -- before the run ------------------------------------------------------------------------- */

/* The end of the ids of waits[i]. */
static size_t end_of_ids(const struct dependencies *a, uint32_t i)
{
    return i + 1 < a->n_waits ? a->waits[i + 1].first_id : a->n_ids;
}

/* Before the run no transaction has ended. */
static void count_left(struct dependencies *a)
{
    for (uint32_t i = 0; i < a->n_waits; i++)
        a->waits[i].n_left = (uint32_t)(end_of_ids(a, i) - a->waits[i].first_id);
}

static kb_status check_ids(const struct dependencies *a, uint32_t n_txns, uint64_t *id,
                           kb_error *why)
{
    for (uint32_t i = 0; i < a->n_waits; i++)
        for (size_t k = a->waits[i].first_id; k < end_of_ids(a, i); k++)
            if (a->ids[k] >= n_txns) {
                *id = a->waits[i].id;
                return endpoint_error(why, "transaction %u waits for %u, but the last is %u",
                                      a->waits[i].id, a->ids[k], n_txns - 1);
            }
    return KB_OK;
}

/* From "waits for" to "is waited for by". False without memory. */
static bool make_followers(struct dependencies *a, uint32_t n_txns)
{
    size_t *first = calloc((size_t)n_txns + 2, sizeof *first);
    uint32_t *followers = malloc(a->n_ids * sizeof *followers);

    drop_followers(a);
    a->first_follower = first;
    a->followers = followers;
    if (!first || !followers)
        return false;
    for (size_t k = 0; k < a->n_ids; k++)
        first[a->ids[k] + 2]++;
    for (size_t i = 2; i < (size_t)n_txns + 2; i++)
        first[i] += first[i - 1];
    for (uint32_t i = 0; i < a->n_waits; i++)
        for (size_t k = a->waits[i].first_id; k < end_of_ids(a, i); k++)
            followers[first[a->ids[k] + 1]++] = i;
    return true;
}

/* Adds to `free_waits` each wait that only `id` still holds back; returns how many it then has. */
static uint32_t set_free(struct dependencies *a, uint32_t id, uint32_t *free_waits, uint32_t n)
{
    for (size_t k = a->first_follower[id]; k < a->first_follower[id + 1]; k++)
        if (--a->waits[a->followers[k]].n_left == 0)
            free_waits[n++] = a->followers[k];
    return n;
}

/*
 * Lets every transaction end that can, in any order. One that is left then has n_left > 0, and
 * waits for another one that is left: there is a cycle. `*n_left` is how many. False without
 * memory.
 */
static bool end_all(struct dependencies *a, uint32_t n_txns, uint32_t *n_left)
{
    uint32_t *free_waits = malloc(a->n_waits * sizeof *free_waits), n = 0;

    if (!free_waits)
        return false;
    count_left(a);
    for (uint32_t id = 0; id < n_txns; id++)
        if (!dependencies_waits(a, id))
            n = set_free(a, id, free_waits, n);
    for (*n_left = a->n_waits; n > 0; --*n_left) {
        n--;
        n = set_free(a, a->waits[free_waits[n]].id, free_waits, n);
    }
    free(free_waits);
    return true;
}

/* `w` is left; the first transaction it waits for that is left as well. */
static struct wait *left_before(const struct dependencies *a, const struct wait *w)
{
    for (size_t k = w->first_id;; k++)
        if (dependencies_waits(a, a->ids[k]) && a->waits[a->wait_of[a->ids[k]]].n_left > 0)
            return &a->waits[a->wait_of[a->ids[k]]];
}

/* There is a cycle: of one, the wait with the smallest id. */
static const struct wait *find_cycle(struct dependencies *a)
{
    struct wait *w = a->waits;
    const struct wait *least, *from;

    while (w->n_left == 0)
        w++;
    for (; w->n_left != SEEN; w = left_before(a, w))
        w->n_left = SEEN;
    least = from = w;
    for (w = left_before(a, w); w != from; w = left_before(a, w))
        if (w->id < least->id)
            least = w;
    return least;
}

/* "transactions wait for each other: 3 -> 7 -> 3"; of a long cycle, its first ids and its last. */
static void describe_cycle(const struct dependencies *a, const struct wait *first, kb_error *why)
{
    char text[16 * SHOWN_IDS], *p = text;
    const struct wait *w = first;
    uint32_t n = 1;

    for (w = left_before(a, w); w != first; w = left_before(a, w))
        n++;
    for (uint32_t i = 0; i < n; i++, w = left_before(a, w)) {
        if (n <= SHOWN_IDS || i < SHOWN_IDS - 2 || i == n - 1)
            p += sprintf(p, "%u -> ", w->id);
        else if (i == SHOWN_IDS - 2)
            p += sprintf(p, "... -> ");
    }
    if (n <= SHOWN_IDS)
        endpoint_error(why, "transactions wait for each other: %s%u", text, first->id);
    else
        endpoint_error(why, "transactions wait for each other: %s%u, %u of them", text, first->id,
                       n);
}

static kb_status check_cycles(struct dependencies *a, uint32_t n_txns, uint64_t *id, kb_error *why)
{
    const struct wait *first;
    uint32_t n_left;

    if (!end_all(a, n_txns, &n_left))
        return KB_NO_MEMORY;
    if (n_left == 0)
        return KB_OK;
    first = find_cycle(a);
    *id = first->id;
    describe_cycle(a, first, why);
    return KB_BAD_REQUEST;
}

kb_status dependencies_prepare(struct kb_sim *s, uint64_t *id, kb_error *why)
{
    struct dependencies *a = s->dependencies;
    uint64_t found;
    kb_status status;

    if (!a || (a->followers && a->n_prepared == s->n_txns))
        return KB_OK;
    status = check_ids(a, s->n_txns, &found, why);
    if (status == KB_OK)
        status =
            make_followers(a, s->n_txns) ? check_cycles(a, s->n_txns, &found, why) : KB_NO_MEMORY;
    if (status != KB_OK)
        drop_followers(a);
    if (status == KB_BAD_REQUEST && id)
        *id = found;
    count_left(a);
    a->n_prepared = s->n_txns;
    return status;
}

/* -- during the run ------------------------------------------------------------------------- */

/* Posts those that waited for `id` last. */
static kb_status post_followers(struct kb_sim *s, uint32_t id, int64_t end_fs)
{
    const struct dependencies *a = s->dependencies;

    for (size_t k = a->first_follower[id]; k < a->first_follower[id + 1]; k++) {
        struct wait *w = &a->waits[a->followers[k]];
        struct txn *txn = &s->txns[w->id];
        int64_t issue_fs;

        if (__builtin_add_overflow(end_fs, w->think_fs, &issue_fs))
            return KB_TIME_RANGE;
        if (issue_fs > txn->issue_fs)
            txn->issue_fs = issue_fs;
        if (--w->n_left == 0 && !inorder_issue(s, w->id))
            return KB_NO_MEMORY;
    }
    return KB_OK;
}

kb_status dependencies_ended(struct kb_sim *s, uint32_t id, int64_t end_fs)
{
    if (s->options.live && !completed_add(&s->completed, id))
        return KB_NO_MEMORY;
    return s->dependencies ? post_followers(s, id, end_fs) : KB_OK;
}
