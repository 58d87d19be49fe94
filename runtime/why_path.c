/* why_path.c -- the critical path of kernels: the chain of commands that determined their end. */
#include <stdlib.h>
#include <string.h>
#include "kernel.h"
#include "why.h"

/* A command that may be part of the path. */
struct link {
    kb_why_step step; /* its shares: the history's, from `first_share` on */
    size_t first_share;
    int64_t issue_fs;
    uint32_t after;
    bool after_end;
};

/* What the kernel of a PE has done so far, in order of end. */
struct history {
    struct link *link; /* owned */
    size_t n, cap;
    kb_share *share; /* owned */
    size_t n_shares, shares_cap;
};

/* The path of a launch. */
struct path {
    kb_why_step *step; /* owned, in order of time */
    size_t n;
    kb_share *share; /* owned */
    int64_t end_fs;
};

struct paths {
    kb_sim *sim;               /* borrowed */
    struct history *histories; /* owned; [PE] */
    uint32_t n_histories;
    struct path *paths; /* owned; [launch] */
    uint32_t n;
};

struct paths *paths_new(kb_sim *sim)
{
    struct paths *p = calloc(1, sizeof *p);

    if (p)
        p->sim = sim;
    return p;
}

static void history_clear(struct history *h)
{
    free(h->link);
    free(h->share);
    *h = (struct history){0};
}

void paths_free(struct paths *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->n_histories; i++)
        history_clear(&p->histories[i]);
    for (uint32_t i = 0; i < p->n; i++) {
        free(p->paths[i].step);
        free(p->paths[i].share);
    }
    free(p->histories);
    free(p->paths);
    free(p);
}

/* Room for `n` rows in all, at least one; NULL: no memory, and `rows` is as it was. */
static void *room(void *rows, size_t *cap, size_t n, size_t row_bytes)
{
    size_t more = *cap ? 2 * *cap : 16;
    void *moved;

    if (rows && n <= *cap)
        return rows;
    while (more < n)
        more *= 2;
    moved = realloc(rows, more * row_bytes);
    if (moved)
        *cap = more;
    return moved;
}

static struct history *history_of(struct paths *p, uint32_t pe)
{
    if (!p->histories)
        p->histories = calloc(p->sim->kernels->n_pes, sizeof *p->histories);
    if (!p->histories)
        return NULL;
    p->n_histories = p->sim->kernels->n_pes;
    return &p->histories[pe];
}

/* -- commands ------------------------------------------------------------------------------- */

/* Wires, and nodes, are many, and one share each is enough. */
static bool keeps_place(const kb_share *share)
{
    return share->cause != KB_CAUSE_WIRE && share->cause != KB_CAUSE_OVERHEAD;
}

/* The shares of a command, fewer. */
static size_t fold(const kb_command *command, kb_share *to)
{
    size_t n = 0;

    for (size_t i = 0; i < command->n_shares; i++) {
        const kb_share *share = &command->share[i];
        size_t at = 0;

        while (at < n && (to[at].cause != share->cause || keeps_place(share)))
            at++;
        if (at < n) {
            to[at].count += share->count;
            to[at].sum_fs += share->sum_fs;
            continue;
        }
        to[n] = *share;
        if (!keeps_place(share))
            to[n].place = KB_NOWHERE;
        n++;
    }
    return n;
}

kb_status paths_finish(struct paths *p, const kb_command *command)
{
    struct history *h = history_of(p, command->pe);
    void *links, *shares;
    struct link *link;

    if (!h || !(links = room(h->link, &h->cap, h->n + 1, sizeof *h->link)))
        return KB_NO_MEMORY;
    h->link = links;
    shares = room(h->share, &h->shares_cap, h->n_shares + command->n_shares, sizeof *h->share);
    if (!shares)
        return KB_NO_MEMORY;
    h->share = shares;
    link = &h->link[h->n++];
    *link = (struct link){.step = {.pe = command->pe,
                                   .kernel = command->kernel,
                                   .id = command->id,
                                   .call = command->call,
                                   .name = command->name,
                                   .file = command->file,
                                   .line = command->line,
                                   .begin_fs = command->call_fs,
                                   .end_fs = command->end_fs},
                          .first_share = h->n_shares,
                          .issue_fs = command->issue_fs,
                          .after = command->after,
                          .after_end = command->after_end};
    link->step.n_shares = fold(command, &h->share[h->n_shares]);
    h->n_shares += link->step.n_shares;
    return KB_OK;
}

/* -- the path ------------------------------------------------------------------------------- */

static int by_id(const void *a, const void *b)
{
    const struct link *x = a, *y = b;

    return x->step.id < y->step.id ? -1 : x->step.id > y->step.id;
}

static const struct link *find(const struct history *h, uint32_t id)
{
    struct link key = {.step = {.id = id}};

    return bsearch(&key, h->link, h->n, sizeof key, by_id);
}

/* Left at its issue: its dispatch alone. */
static size_t cut(const struct history *h, const struct link *link, kb_why_step *step,
                  kb_share *share)
{
    *step = link->step;
    step->end_fs = link->issue_fs;
    step->n_shares = 0;
    for (size_t i = 0; i < link->step.n_shares; i++)
        if (h->share[link->first_share + i].cause == KB_CAUSE_DISPATCH)
            share[step->n_shares++] = h->share[link->first_share + i];
    return step->n_shares;
}

static size_t whole(const struct history *h, const struct link *link, kb_why_step *step,
                    kb_share *share)
{
    *step = link->step;
    if (step->n_shares)
        memcpy(share, &h->share[link->first_share], step->n_shares * sizeof *share);
    return step->n_shares;
}

static void turn_around(kb_why_step *step, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        kb_why_step kept = step[i];

        step[i] = step[n - 1 - i];
        step[n - 1 - i] = kept;
    }
}

/* Back from the end of the kernel to its start; every step begins where another lets it. */
static kb_status follow(struct path *path, struct history *h, const kb_kernel_run *run)
{
    uint32_t after = run->after;
    bool ended = run->after_end;
    int64_t t = run->end_fs;
    size_t n_shares = 0;

    path->n = 0;
    while (after != KB_NO_ID) {
        const struct link *link = find(h, after);
        kb_why_step *step = &path->step[path->n];

        if (!link)
            return KB_INTERNAL;
        n_shares += (ended ? whole : cut)(h, link, step, &path->share[n_shares]);
        step->share = &path->share[n_shares - step->n_shares];
        step->launch = run->launch;
        if (step->end_fs != t)
            return KB_INTERNAL;
        t = step->begin_fs;
        after = link->after;
        ended = link->after_end;
        path->n++;
    }
    turn_around(path->step, path->n);
    return t == run->start_fs ? KB_OK : KB_INTERNAL;
}

static struct path *path_of(struct paths *p, uint32_t launch)
{
    struct path *moved;

    if (launch < p->n)
        return &p->paths[launch];
    moved = realloc(p->paths, ((size_t)launch + 1) * sizeof *moved);
    if (!moved)
        return NULL;
    memset(moved + p->n, 0, ((size_t)launch + 1 - p->n) * sizeof *moved);
    p->paths = moved;
    p->n = launch + 1;
    return &p->paths[launch];
}

static kb_status make_path(struct path *path, struct history *h, const kb_kernel_run *run)
{
    free(path->step);
    free(path->share);
    path->step = malloc((h->n + 1) * sizeof *path->step);
    path->share = malloc((h->n_shares + 1) * sizeof *path->share);
    path->n = 0;
    path->end_fs = run->end_fs;
    if (!path->step || !path->share)
        return KB_NO_MEMORY;
    qsort(h->link, h->n, sizeof *h->link, by_id);
    return follow(path, h, run);
}

/* The last kernel to end has the path; of several, the PE with the lowest number. */
kb_status paths_leave(struct paths *p, const kb_kernel_run *run)
{
    struct history *h = history_of(p, run->pe);
    struct path *path = path_of(p, run->launch);
    kb_status status = h && path ? KB_OK : KB_NO_MEMORY;

    if (!status && h->n &&
        (run->end_fs > path->end_fs ||
         (path->n && run->end_fs == path->end_fs && run->pe < path->step->pe)))
        status = make_path(path, h, run);
    if (h)
        history_clear(h);
    return status;
}

void paths_each(const struct paths *p, void (*each)(void *arg, const kb_why_step *step), void *arg)
{
    for (uint32_t i = 0; i < p->n; i++)
        for (size_t k = 0; k < p->paths[i].n; k++)
            each(arg, &p->paths[i].step[k]);
}
