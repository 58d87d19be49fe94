/* critical_path.c -- the critical path of kernels: the chain of commands that determined their end.
 *
 * The path of a launch is found backwards. It starts at the end of the kernel that ended last (of
 * several, the PE with the lowest number) and asks at each point: which command did the kernel wait
 * for, and what let that command begin? Everything needed was told while the run went on:
 *
 *   - kb_command.after: the command that the kernel had last waited for, or only issued, when it
 *     called this one. after_end says which of the two. After that the kernel itself takes no time.
 *   - the shares of a command, which sum to its time from call to end: explain/commands.c;
 *   - stretches, where another PE let a command begin or return: explain/messages.c.
 *
 * A command that has waited for room follows from what made it, by such a stretch, and what lies
 * before is on no path. A command that has waited for an operand follows from the command that made
 * it, kb_command.maker: its step begins at its start, and what lies before, dispatch and wait, is
 * on no path.
 *
 * Each step begins at the very femtosecond at which the step before it ends; follow() checks this,
 * and ends with KB_INTERNAL if there is a gap. So the steps of a path, and their shares, sum to the
 * time of the launch from the kernel's start to its end.
 *
 * Example: a kernel loads a (0 .. 21 ns), loads b asynchronously (called at 21, issued at 24),
 * waits for b (45), multiplies (45 .. 80). Path backwards: the gemm, after = b, after_end: 80 ..
 * 45; then b whole: 45 .. 21; b was called after the end of a: 21 .. 0. Had the kernel not waited
 * for b, the gemm would have been called at 24, after the issue of b: the step is then b's
 * dispatch, 24 .. 21.
 *
 * Memory. The commands of a PE that cannot be on the path are forgotten as soon as that is certain:
 * while no PE has sent a message, a kernel that does not end last takes its history with it. Wires
 * and overheads of a step are folded into one share each.
 */
#include <stdlib.h>
#include <string.h>
#include "kernels/kernels.h"
#include "machine/place.h"
#include "explain/breakdown.h"

/* A command that may be part of the path. */
struct link {
    kb_breakdown_step step; /* its shares: the history's, from `first_share` on */
    size_t first_share;
    int64_t issue_fs, start_fs;
    uint32_t after, return_stretch, end_stretch, maker; /* as kb_command has them */
    bool after_end;
};

/* The commands of a PE's kernel so far, in order of issue. */
struct history {
    uint32_t launch;   /* that kernel's; KB_NO_ID: there was none */
    struct link *link; /* owned */
    size_t n, cap;
    kb_share *share; /* owned */
    size_t n_shares, shares_cap;
};

/* All stretches of a launch told so far, in order; the shares of one begin at `first_share`. */
struct stretches {
    struct stretch {
        kb_stretch told;
        size_t first_share;
    } * row; /* owned */
    size_t n, cap;
    kb_share *share; /* owned */
    size_t n_shares, shares_cap;
};

/* The path of a launch, and what it is found from, until it is. */
struct path {
    struct stretches stretches;
    kb_kernel_run last; /* the kernel that ended last in it; after KB_NO_ID: none */
    bool made, cleared; /* the path; what it is found from is gone */

    kb_breakdown_step *step; /* owned, in order of time */
    size_t n, cap;
    kb_share *share; /* owned */
    size_t n_shares, shares_cap;
};

struct paths {
    kb_sim *sim;               /* borrowed */
    struct history *histories; /* owned; [PE]; of its last launch */
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
    *h = (struct history){.launch = h->launch};
}

static void stretches_clear(struct stretches *x)
{
    free(x->row);
    free(x->share);
    *x = (struct stretches){0};
}

/* What the path of a launch is found from. */
static void launch_clear(struct paths *p, uint32_t launch)
{
    for (uint32_t i = 0; i < p->n_histories; i++)
        if (p->histories[i].launch == launch)
            history_clear(&p->histories[i]);
    stretches_clear(&p->paths[launch].stretches);
    p->paths[launch].cleared = true;
}

static void path_clear(struct path *path)
{
    free(path->step);
    free(path->share);
    path->step = NULL;
    path->share = NULL;
    path->n = path->cap = path->n_shares = path->shares_cap = 0;
}

void paths_free(struct paths *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->n_histories; i++)
        history_clear(&p->histories[i]);
    for (uint32_t i = 0; i < p->n; i++) {
        stretches_clear(&p->paths[i].stretches);
        path_clear(&p->paths[i]);
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
    uint32_t n = p->sim->kernels->n_pes;

    if (!p->histories)
        p->histories = calloc(n, sizeof *p->histories);
    if (!p->histories)
        return NULL;
    for (; p->n_histories < n; p->n_histories++)
        p->histories[p->n_histories].launch = KB_NO_ID;
    return &p->histories[pe];
}

/* -- commands ------------------------------------------------------------------------------- */

/* Wires, and nodes, are many, and one share each is enough. */
static bool keeps_place(const kb_share *share)
{
    return share->cause != KB_CAUSE_WIRE && share->cause != KB_CAUSE_OVERHEAD;
}

/* `n` shares, made fewer. */
static size_t fold(const kb_share *from, size_t n_from, kb_share *to)
{
    size_t n = 0;

    for (size_t i = 0; i < n_from; i++) {
        const kb_share *share = &from[i];
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

/* Ids ascend, and most that are asked for are among the last: from the end in steps that double,
 * then by halves. */
static struct link *find(const struct history *h, uint32_t id)
{
    size_t step = 1, end = h->n, first;

    while (step < end && h->link[end - step].step.id > id) {
        end -= step;
        step *= 2;
    }
    for (first = step < end ? end - step : 0; end - first > 1;) {
        size_t middle = first + (end - first) / 2;

        if (h->link[middle].step.id > id)
            end = middle;
        else
            first = middle;
    }
    return first < h->n && h->link[first].step.id == id ? &h->link[first] : NULL;
}

kb_status paths_issue(struct paths *p, const kb_command *command)
{
    struct history *h = history_of(p, command->pe);
    void *links;

    if (!h || !(links = room(h->link, &h->cap, h->n + 1, sizeof *h->link)))
        return KB_NO_MEMORY;
    h->link = links;
    h->link[h->n++] = (struct link){.step = {.pe = command->pe,
                                             .kernel = command->kernel,
                                             .id = command->id,
                                             .call = command->call,
                                             .name = command->name,
                                             .file = command->file,
                                             .line = command->line,
                                             .begin_fs = command->call_fs,
                                             .end_fs = -1},
                                    .issue_fs = command->issue_fs,
                                    .after = command->after,
                                    .after_end = command->after_end,
                                    .return_stretch = command->return_stretch,
                                    .end_stretch = KB_NO_ID,
                                    .maker = KB_NO_ID};
    return KB_OK;
}

kb_status paths_go_on(struct paths *p, const kb_command *send)
{
    struct history *h = history_of(p, send->pe);
    struct link *link = h ? find(h, send->id) : NULL;

    if (!link)
        return KB_INTERNAL;
    link->return_stretch = send->return_stretch;
    return KB_OK;
}

kb_status paths_finish(struct paths *p, const kb_command *command)
{
    struct history *h = history_of(p, command->pe);
    struct link *link = h ? find(h, command->id) : NULL;
    void *shares;

    if (!link)
        return KB_INTERNAL;
    shares = room(h->share, &h->shares_cap, h->n_shares + command->n_shares, sizeof *h->share);
    if (!shares)
        return KB_NO_MEMORY;
    h->share = shares;
    link->step.end_fs = command->end_fs;
    link->start_fs = command->start_fs;
    link->maker = command->maker;
    link->end_stretch = command->end_stretch;
    link->first_share = h->n_shares;
    link->step.n_shares = fold(command->share, command->n_shares, &h->share[h->n_shares]);
    h->n_shares += link->step.n_shares;
    return KB_OK;
}

kb_status paths_stretch(struct paths *p, const kb_stretch *told)
{
    struct stretches *x = &p->paths[p->histories[told->pe].launch].stretches;
    void *rows = room(x->row, &x->cap, x->n + 1, sizeof *x->row), *shares;

    if (!rows)
        return KB_NO_MEMORY;
    x->row = rows;
    shares = room(x->share, &x->shares_cap, x->n_shares + told->n_shares, sizeof *x->share);
    if (!shares)
        return KB_NO_MEMORY;
    x->share = shares;
    x->row[x->n] = (struct stretch){.told = *told, .first_share = x->n_shares};
    x->row[x->n].told.n_shares = fold(told->share, told->n_shares, &x->share[x->n_shares]);
    x->n_shares += x->row[x->n++].told.n_shares;
    return KB_OK;
}

/* -- the path ------------------------------------------------------------------------------- */

/* Where a path has come to, on its way back. */
struct at {
    uint32_t pe, after; /* KB_NO_ID: the kernel's start */
    bool after_end;
    uint32_t stretch; /* instead of these; KB_NO_ID */
    int64_t fs;
};

/* Where a path goes on that has come to the beginning of a command: it was called, or `maker`,
 * which makes its operand, has ended. */
static struct at before_command(const struct link *link, uint32_t maker, int64_t start_fs)
{
    uint32_t pe = link->step.pe;

    if (maker == KB_NO_ID)
        return (struct at){pe, link->after, link->after_end, KB_NO_ID, link->step.begin_fs};
    return (struct at){pe, maker, true, KB_NO_ID, start_fs};
}

/* One more step, and room for `n` shares of it. NULL: no memory. */
static kb_breakdown_step *add_step(struct path *path, size_t n)
{
    kb_breakdown_step *steps = room(path->step, &path->cap, path->n + 1, sizeof *steps);
    kb_share *shares;

    if (!steps)
        return NULL;
    path->step = steps;
    shares = room(path->share, &path->shares_cap, path->n_shares + n, sizeof *shares);
    if (!shares)
        return NULL;
    path->share = shares;
    return &path->step[path->n];
}

static kb_status put_step(struct path *path, const kb_breakdown_step *like, const kb_share *share,
                          size_t n)
{
    kb_breakdown_step *step = add_step(path, n);

    if (!step)
        return KB_NO_MEMORY;
    *step = *like;
    step->n_shares = n;
    if (n)
        memcpy(&path->share[path->n_shares], share, n * sizeof *share);
    path->n_shares += n;
    path->n++;
    return KB_OK;
}

/* Does this time of a command lie before its issue? */
static bool is_before_issue(const kb_share *share)
{
    return share->cause == KB_CAUSE_DISPATCH || share->cause == KB_CAUSE_ROOM_WAIT ||
           share->cause == KB_CAUSE_LAUNCH;
}

/* ... before its start? */
static bool is_before_start(const kb_share *share)
{
    return is_before_issue(share) || share->cause == KB_CAUSE_OPERAND_WAIT;
}

/* A command, or a part of it that begins with its call; of one that has waited for what `maker`
 * makes, from its start on. */
static kb_status put_from_start(struct path *path, uint32_t maker, int64_t start_fs,
                                const kb_breakdown_step *like, const kb_share *share, size_t n)
{
    kb_breakdown_step step = *like;
    kb_status status;
    kb_share *kept;
    size_t n_kept = 0;

    if (maker == KB_NO_ID)
        return put_step(path, like, share, n);
    kept = malloc((n + 1) * sizeof *kept);
    if (!kept)
        return KB_NO_MEMORY;
    for (size_t i = 0; i < n; i++)
        if (!is_before_start(&share[i]))
            kept[n_kept++] = share[i];
    step.begin_fs = start_fs;
    status = put_step(path, &step, kept, n_kept);
    free(kept);
    return status;
}

/* A command that the kernel did not wait for: from its call to its issue. */
static kb_status put_dispatch(const struct paths *p, struct path *path, const struct link *link)
{
    const kb_share *share = &p->histories[link->step.pe].share[link->first_share];
    kb_breakdown_step step = link->step;
    kb_share kept[3];
    size_t n = 0;

    for (size_t i = 0; i < link->step.n_shares && n < sizeof kept / sizeof *kept; i++)
        if (is_before_issue(&share[i]))
            kept[n++] = share[i];
    step.end_fs = link->issue_fs;
    return put_step(path, &step, kept, n);
}

static int by_number(const void *a, const void *b)
{
    const struct stretch *x = a, *y = b;

    return x->told.number < y->told.number ? -1 : x->told.number > y->told.number;
}

static const struct stretch *find_stretch(const struct stretches *all, uint32_t number)
{
    const struct stretch key = {.told.number = number};

    return all->n ? bsearch(&key, all->row, all->n, sizeof key, by_number) : NULL;
}

/* A stretch of a command; then on to the stretch or command that let it begin. */
static kb_status step_stretch(const struct paths *p, struct path *path, struct at *at)
{
    const struct stretches *all = &path->stretches;
    const struct stretch *x = find_stretch(all, at->stretch);
    const struct link *link = x ? find(&p->histories[x->told.pe], x->told.command) : NULL;
    kb_breakdown_step step;

    if (!link || x->told.end_fs != at->fs)
        return KB_INTERNAL;
    step = link->step;
    step.begin_fs = x->told.begin_fs;
    step.end_fs = x->told.end_fs;
    if (x->told.before == KB_NO_ID) {
        *at = before_command(link, x->told.maker, x->told.start_fs);
        return put_from_start(path, x->told.maker, x->told.start_fs, &step,
                              &all->share[x->first_share], x->told.n_shares);
    }
    *at = (struct at){link->step.pe, link->after, link->after_end, x->told.before, step.begin_fs};
    return put_step(path, &step, &all->share[x->first_share], x->told.n_shares);
}

/* A command as a whole, or until its issue; or the stretch that takes its place. */
static kb_status step_command(const struct paths *p, struct path *path, struct at *at)
{
    const struct history *h = &p->histories[at->pe];
    const struct link *link = find(h, at->after);
    bool whole = at->after_end;

    if (!link)
        return KB_INTERNAL;
    at->stretch = whole ? link->end_stretch : link->return_stretch;
    if (at->stretch != KB_NO_ID)
        return KB_OK;
    if (at->fs != (whole ? link->step.end_fs : link->issue_fs))
        return KB_INTERNAL;
    if (whole) {
        *at = before_command(link, link->maker, link->start_fs);
        return put_from_start(path, link->maker, link->start_fs, &link->step,
                              &h->share[link->first_share], link->step.n_shares);
    }
    *at = (struct at){at->pe, link->after, link->after_end, KB_NO_ID, link->step.begin_fs};
    return put_dispatch(p, path, link);
}

/* Back from the end of the kernel to its start; every step begins where another lets it. */
static kb_status follow(const struct paths *p, struct path *path)
{
    const kb_kernel_run *run = &path->last;
    struct at at = {run->pe, run->after, run->after_end, run->end_stretch, run->end_fs};
    kb_status status = KB_OK;

    while (!status && (at.stretch != KB_NO_ID || at.after != KB_NO_ID))
        status = (at.stretch != KB_NO_ID ? step_stretch : step_command)(p, path, &at);
    if (!status && at.fs != run->start_fs)
        status = KB_INTERNAL;
    return status;
}

/* The steps were found from the last to the first. */
static void turn_around(struct path *path, uint32_t launch)
{
    const kb_share *share = path->share;

    for (size_t i = 0; i < path->n; i++) {
        path->step[i].launch = launch;
        path->step[i].share = share;
        share += path->step[i].n_shares;
    }
    for (size_t i = 0; i < path->n / 2; i++) {
        kb_breakdown_step kept = path->step[i];

        path->step[i] = path->step[path->n - 1 - i];
        path->step[path->n - 1 - i] = kept;
    }
}

/* Of a launch, as far as it has come. */
static kb_status make_path(struct paths *p, uint32_t launch)
{
    struct path *path = &p->paths[launch];
    kb_status status;

    if (path->made || path->cleared || path->last.after == KB_NO_ID)
        return KB_OK;
    path_clear(path);
    status = follow(p, path);
    if (status)
        path_clear(path);
    else
        turn_around(path, launch);
    path->made = !status;
    return status;
}

/* False: no memory. */
static bool room_for_path(struct paths *p, uint32_t launch)
{
    struct path *moved;

    if (launch < p->n)
        return true;
    moved = realloc(p->paths, ((size_t)launch + 1) * sizeof *moved);
    if (!moved)
        return false;
    p->paths = moved;
    for (; p->n <= launch; p->n++)
        p->paths[p->n] = (struct path){.last.after = KB_NO_ID};
    return true;
}

/* A PE goes over to another launch: the one it comes from has ended, and has its path. */
kb_status paths_start(struct paths *p, const kb_kernel_run *run)
{
    struct history *h = history_of(p, run->pe);
    kb_status status = KB_OK;

    if (!h || !room_for_path(p, run->launch))
        return KB_NO_MEMORY;
    if (run->launch != h->launch && h->launch != KB_NO_ID && !p->paths[h->launch].cleared) {
        status = make_path(p, h->launch);
        launch_clear(p, h->launch);
    }
    h->launch = run->launch;
    return status;
}

/* Runs end in order of time. Of several that end together the PE with the lowest number. */
static bool is_last(const struct path *path, const kb_kernel_run *run)
{
    const kb_kernel_run *last = &path->last;

    if (run->after == KB_NO_ID)
        return false;
    return last->after == KB_NO_ID || run->end_fs > last->end_fs || run->pe < last->pe;
}

/*
 * The last kernel to end has the path. The commands of other PEs are needed only if PEs talk to
 * each other: a kernel that has ended before any message was sent is on no path but its own.
 */
void paths_leave(struct paths *p, const kb_kernel_run *run)
{
    struct path *path = &p->paths[run->launch];
    bool last = is_last(path, run);
    bool alone = !launch_talks(p->sim->kernels->launches[run->launch]);

    if (alone && last && path->last.after != KB_NO_ID)
        history_clear(&p->histories[path->last.pe]);
    if (alone && !last)
        history_clear(&p->histories[run->pe]);
    if (!last)
        return;
    path->last = *run;
    path->made = false;
}

kb_status paths_each(struct paths *p, void (*each)(void *arg, const kb_breakdown_step *step),
                     void *arg)
{
    kb_status status = KB_OK;

    for (uint32_t i = 0; !status && i < p->n; i++)
        status = make_path(p, i);
    for (uint32_t i = 0; !status && i < p->n; i++)
        for (size_t k = 0; k < p->paths[i].n; k++)
            each(arg, &p->paths[i].step[k]);
    return status;
}
