/* deadlock.c -- deadlocked kernels: which command waits for which PE, and in which cycles.
 *
 * When no event is left and a PE has not ended, all PEs that have not ended wait for a message, a
 * slot or a member of a barrier: there is nothing else that takes time without an event. deadlock()
 * then names one command, and kb_sim_deadlocked() lists them all. Nothing here runs before that.
 *
 * Rows. Each waiting command is a row: a send lacks a free slot of its receiver's queue, a receive
 * lacks a message of its sender, a barrier lacks members. `waits_for` is the PE that would have to
 * act.
 *
 * Cycles. From a PE that waits for a send or a receive, the wait leads to one PE, next[pe]. So the
 * waits are a graph in which each PE has at most one way out, and a cycle is found by walking until
 * a PE comes twice: find_cycles(). A PE in a queue before the cycle is not in it.
 *
 * A barrier lacks several members, and any of them would do as next[pe]. The row names the lowest
 * missing member that itself waits, over any other PEs, for those at the barrier, for then there is
 * a cycle; if there is none, the lowest missing member. leads_to() searches for that; from another
 * barrier it goes on to all of that barrier's missing members, but only once, for the member that
 * came there first.
 *
 * Example. PE 0 sends five slots of data to PE 1 under tag 0 and then receives from it; PE 1 does
 * the same to PE 0. Each queue has 4 slots. Both sends fill them and wait for the fifth: two rows,
 * "lacks a free slot", PE 0 waits for PE 1 and PE 1 for PE 0, cycle 1. PE 2, which waits for a
 * message of PE 0, is a row without a cycle.
 */
#include "machine/endpoint.h"
#include "kernels/barrier.h"
#include "pe/pe_ipcq.h"
#include "machine/place.h"
#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All commands that will never end. */
struct deadlock_list {
    struct kb_sim *sim;
    kb_deadlocked *row; /* owned */
    uint32_t *next;     /* owned; [PE]: the PE its kernel waits for; KB_NO_ID: none */
    size_t n, cap;
    bool no_memory;

    const struct barrier **at; /* owned; [PE]: where its kernel waits; NULL: at none */
    uint32_t *seen, searches;  /* owned; [PE]: the last search that came to it, from 1 */
    uint32_t *todo;            /* owned; PEs that it has yet to go on from */
    size_t n_todo;
};

/* Does the kernel wait for this command? Else it is under way beside, or the kernel has returned.
 */
static bool holds_up(const struct command *c)
{
    const struct tl_ctx *pe = c->pe;

    return pe->current == c || pe->state == PE_WAITS_ALL ||
           (pe->state == PE_WAITS && pe->awaited && pe->awaited->making == c);
}

static void add_row(struct deadlock_list *l, const struct command *c, kb_deadlocked row)
{
    kb_deadlocked *moved = l->row;

    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 64;
        moved = realloc(l->row, l->cap * sizeof *moved);
    }
    l->no_memory = l->no_memory || !moved;
    if (!moved)
        return;
    row.pe = c->pe->number;
    row.kernel = c->pe->launch->request.name;
    row.call = c->call;
    row.file = c->here.file;
    row.line = c->here.line;
    row.since_fs = c->op.t_issue_fs;
    l->row = moved;
    l->row[l->n++] = row;
    if (holds_up(c))
        l->next[row.pe] = row.waits_for;
}

/* The lowest other tag under which a message lies that the same PE has sent; -1: none. */
static int other_tag(const struct ipcq *x, const struct queue *q)
{
    for (uint32_t tag = 0; tag < TL_TAGS; tag++) {
        const struct queue *o = ipcq_look_up(x, q->sender, q->receiver, tag);

        if (o && o != q && o->issued != o->taken)
            return (int)tag;
    }
    return -1;
}

static void add_ends(struct deadlock_list *l, const struct queue *q)
{
    kb_deadlocked send = {
        .lacks = "a free slot", .waits_for = q->receiver, .tag = (int)q->tag, .other_tag = -1};
    kb_deadlocked receive = {.lacks = "a message", .waits_for = q->sender, .tag = (int)q->tag};

    if (q->sending && q->sending->started)
        add_row(l, q->sending, send);
    if (q->receiving)
        receive.other_tag = other_tag(q->receiving->pe->launch->ipcq, q);
    for (const struct command *c = q->receiving; c; c = c->behind)
        add_row(l, c, receive);
}

/* -- barriers --------------------------------------------------------------------------------- */

static uint32_t member(const struct barrier *b, size_t i)
{
    return b->pes ? b->pes[i] : b->first + (uint32_t)i;
}

static void come_to(struct deadlock_list *l, uint32_t pe)
{
    if (pe == KB_NO_ID || l->seen[pe] == l->searches)
        return;
    l->seen[pe] = l->searches;
    l->todo[l->n_todo++] = pe;
}

/* Adds the PEs that `pe` waits for; from a barrier only once, for the member that came first. */
static void search_on(struct deadlock_list *l, uint32_t pe)
{
    const struct barrier *b = l->at[pe];

    if (!b)
        come_to(l, l->next[pe]);
    else if (b->waiting->pe->number != pe)
        come_to(l, b->waiting->pe->number);
    else
        for (size_t i = 0; i < b->n; i++)
            if (l->at[member(b, i)] != b)
                come_to(l, member(b, i));
}

/* Does `pe` wait, over any other PEs, for a member at `b`? PEs that were seen before are left out.
 */
static bool leads_to(struct deadlock_list *l, uint32_t pe, const struct barrier *b)
{
    l->n_todo = 0;
    come_to(l, pe);
    while (l->n_todo > 0) {
        uint32_t on = l->todo[--l->n_todo];

        if (l->at[on] == b)
            return true;
        search_on(l, on);
    }
    return false;
}

/* The lowest missing member that waits itself for a member at `b`; else the lowest missing one. */
static uint32_t waited_for(struct deadlock_list *l, const struct barrier *b)
{
    uint32_t lowest = KB_NO_ID;

    l->searches++;
    for (size_t i = 0; i < b->n; i++) {
        uint32_t pe = member(b, i);

        if (l->at[pe] == b)
            continue;
        if (leads_to(l, pe, b))
            return pe;
        lowest = lowest == KB_NO_ID ? pe : lowest;
    }
    return lowest;
}

static void add_barrier(struct deadlock_list *l, const struct barrier *b)
{
    kb_deadlocked row = {
        .lacks = "a member", .tag = -1, .other_tag = -1, .n_missing = b->n - b->arrived};

    if (b->waiting)
        row.waits_for = waited_for(l, b);
    for (const struct command *c = b->waiting; c; c = c->behind)
        add_row(l, c, row);
}

/* All barriers of a launch: first where each PE waits, then the rows. */
static void add_barriers(struct deadlock_list *l, const struct barriers *barriers)
{
    for (int i = 0; i < BARRIER_ROWS; i++)
        for (const struct barrier *b = barriers->row[i]; b; b = b->next)
            for (const struct command *c = b->waiting; c; c = c->behind)
                l->at[c->pe->number] = b;
    for (int i = 0; i < BARRIER_ROWS; i++)
        for (const struct barrier *b = barriers->row[i]; b; b = b->next)
            add_barrier(l, b);
}

/* -- cycles ----------------------------------------------------------------------------------- */

/* Numbers the cycles of l->next in cycle[], which is zeroed. */
static void find_cycles(const struct deadlock_list *l, uint32_t *cycle, uint32_t *seen)
{
    uint32_t n = l->sim->kernels->n_pes, cycles = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t pe = i;

        while (pe != KB_NO_ID && !seen[pe]) {
            seen[pe] = i + 1;
            pe = l->next[pe];
        }
        if (pe == KB_NO_ID || seen[pe] != i + 1)
            continue;
        cycles++;
        for (uint32_t at = pe; !cycle[at]; at = l->next[at])
            cycle[at] = cycles;
    }
}

static bool mark_cycles(struct deadlock_list *l)
{
    uint32_t n = l->sim->kernels->n_pes;
    uint32_t *cycle = calloc(n, sizeof *cycle), *seen = calloc(n, sizeof *seen);
    bool ok = cycle && seen;

    if (ok)
        find_cycles(l, cycle, seen);
    for (size_t i = 0; ok && i < l->n; i++)
        if (l->next[l->row[i].pe] == l->row[i].waits_for)
            l->row[i].cycle = cycle[l->row[i].pe];
    free(cycle);
    free(seen);
    return ok;
}

/* -- all that wait ---------------------------------------------------------------------------- */

static int by_pe_and_issue(const void *a, const void *b)
{
    const kb_deadlocked *x = a, *y = b;

    if (x->pe != y->pe)
        return x->pe < y->pe ? -1 : 1;
    if (x->since_fs != y->since_fs)
        return x->since_fs < y->since_fs ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* What a PE does for which another waits: nothing if another launch has it. */
static const char *state_of(const struct kernels *k, const kb_deadlocked *row)
{
    const struct tl_ctx *other = &k->pes[row->waits_for];

    if (other->launch != k->pes[row->pe].launch)
        return "not launched";
    return other->state != PE_IDLE && other->state != PE_RETURNED ? "waiting" : "ended";
}

static void list_free(struct deadlock_list *l)
{
    free(l->row);
    free(l->next);
    free(l->at);
    free(l->seen);
    free(l->todo);
}

/* Of nothing yet. False: no memory. */
static bool list_new(struct kb_sim *s, struct deadlock_list *l)
{
    uint32_t n = s->kernels->n_pes;

    *l = (struct deadlock_list){.sim = s};
    l->next = malloc(n * sizeof *l->next);
    l->at = calloc(n, sizeof *l->at);
    l->seen = calloc(n, sizeof *l->seen);
    l->todo = malloc(n * sizeof *l->todo);
    for (uint32_t i = 0; l->next && i < n; i++)
        l->next[i] = KB_NO_ID;
    return l->next && l->at && l->seen && l->todo;
}

static void add_launch(struct deadlock_list *l, const struct launch *launch)
{
    const struct ipcq *x = launch->ipcq;

    for (size_t i = 0; x && i < x->n_rows; i++)
        for (const struct queue *q = x->queues[i]; q; q = q->next)
            add_ends(l, q);
    if (launch->barriers)
        add_barriers(l, launch->barriers);
}

/* To be freed in any case. */
static kb_status find_rows(struct kb_sim *s, struct deadlock_list *l)
{
    const struct kernels *k = s->kernels;

    if (!list_new(s, l))
        return KB_NO_MEMORY;
    for (size_t i = 0; i < k->n_launches; i++)
        if (k->launches[i]->sent && !k->launches[i]->done)
            add_launch(l, k->launches[i]);
    if (l->no_memory || !mark_cycles(l))
        return KB_NO_MEMORY;
    for (size_t i = 0; i < l->n; i++)
        l->row[i].state = state_of(l->sim->kernels, &l->row[i]);
    if (l->n)
        qsort(l->row, l->n, sizeof *l->row, by_pe_and_issue);
    return KB_OK;
}

kb_status kb_sim_deadlocked(const kb_sim *sim, void (*each)(void *arg, const kb_deadlocked *row),
                            void *arg)
{
    REFUSE_NULL(sim && each, "sim, each", NULL);
    struct deadlock_list l;
    kb_status status;

    if (sim->status != KB_DEADLOCK)
        return KB_BAD_REQUEST;
    status = find_rows((struct kb_sim *)sim, &l);
    for (size_t i = 0; !status && i < l.n; i++)
        each(arg, &l.row[i]);
    list_free(&l);
    return status;
}

/* The first row that is in a cycle, else the first. */
static const kb_deadlocked *first_of(const struct deadlock_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->row[i].cycle)
            return &l->row[i];
    return &l->row[0];
}

/* " from c0.pe1 under tag 2 (there is one under tag 3)", " at c0.pe1 under tag 0", ", c0.pe5," */
static void say_peer(const kb_deadlocked *b, const char *other, char *text, size_t size)
{
    bool message = strcmp(b->lacks, "a message") == 0;
    int n;

    if (b->tag < 0) {
        snprintf(text, size, ", %s,", other);
        return;
    }
    n = snprintf(text, size, " %s %s under tag %d", message ? "from" : "at", other, b->tag);
    if (b->other_tag >= 0 && (size_t)n < size)
        snprintf(text + n, size - (size_t)n, " (there is one under tag %d)", b->other_tag);
}

/* "tl_recv at ring.c:12 lacks a message from c0.pe1 under tag 0 since 24.326250 ns" */
static void say_first(struct kb_sim *s, const struct deadlock_list *l)
{
    const kb_deadlocked *b = first_of(l);
    const struct tl_ctx *pes = s->kernels->pes;
    char pe[KB_PLACE_BYTES], other[KB_PLACE_BYTES], peer[KB_PLACE_BYTES + 64];

    kb_place_name(s->topo, place_of(KB_AT_PE, pes[b->pe].src), pe);
    kb_place_name(s->topo, place_of(KB_AT_PE, pes[b->waits_for].src), other);
    say_peer(b, other, peer, sizeof peer);
    text_format(s->kernels->error.text, sizeof s->kernels->error.text,
                "deadlock: %zu command%s: kernel %s on %s: %s at %s:%d lacks %s%s since %.6f "
                "ns",
                l->n, l->n == 1 ? " never ends" : "s never end", b->kernel, pe, b->call, b->file,
                b->line, b->lacks, peer, (double)b->since_fs / KB_FS_PER_NS);
}

kb_status deadlock(struct kb_sim *s)
{
    struct deadlock_list l;
    kb_status status = find_rows(s, &l);

    if (!status && !l.n) {
        endpoint_error(&s->kernels->error, "kernels have not ended, and wait for nothing");
        status = KB_INTERNAL;
    } else if (!status) {
        say_first(s, &l);
        status = KB_DEADLOCK;
    }
    list_free(&l);
    return status;
}
