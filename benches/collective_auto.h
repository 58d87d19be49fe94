/* collective_auto.h -- algorithm=auto: which algorithm of a collective is the fastest. */
#ifndef COLLECTIVE_AUTO_H
#define COLLECTIVE_AUTO_H
#include "collective_bound.h"

/* -- choosing ------------------------------------------------------------------------------- */

/* One of the algorithms of a bench. */
struct candidate {
    const char *name;
    int64_t bound_fs; /* 0: not known */
    int64_t most_fs;  /* of its run; INT64_MAX: not known */
    int64_t time_fs;  /* the same; 0: it was not run, INT64_MAX: it failed */
};

enum { CANDIDATES_MAX = 8 };

/*
 * Are queues and vectors so small that any algorithm can run? A PE receives from a PE for each bit
 * of the number of ranks, or from the neighbours on four axes.
 */
static inline bool any_fits(const struct bound *b, enum over over, int64_t count)
{
    int64_t senders = 8, ranks = last_ranks(b, over).n;
    uint64_t room = memory_bytes_of_pes(b->topo, b->limits.queue_memory);
    uint64_t vectors = 2 * (uint64_t)last_part(b, over, count) * kb_dtype_bytes(b->dtype);

    for (; ranks > 1; ranks /= 2)
        senders++;
    return queues_bytes(b->topo, senders) <= room / 2 &&
           (b->limits.queue_memory != KB_SLICE || vectors <= room / 2);
}

/* With one rank all algorithms are the same, and there is one candidate. */
static inline size_t list_candidates(const kb_bench_run *run, const char *bench,
                                     struct candidate *list)
{
    struct bound b = bound_new(kb_bench_topology(run), kb_bench_dtype(run, "dtype"));
    int64_t count = kb_bench_int(run, "count");
    bool fits = any_fits(&b, over_of(run), count);
    size_t n = 0;

    for (size_t i = 0; i < N_WAYS; i++) {
        if (strcmp(ways[i].bench, bench) != 0)
            continue;
        int64_t fs = bound_of(&b, &ways[i], over_of(run), count);

        list[n++] = (struct candidate){ways[i].algorithm, fs,
                                       fits ? most_fs(&b, &ways[i], fs) : INT64_MAX, 0};
    }
    return sharing_of(run).ranks == 1 ? 1 : n;
}

/* The one that takes less, at most, than each of the others at least; NULL: none is known to. */
static inline struct candidate *known_fastest(struct candidate *c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool fastest = true;

        for (size_t k = 0; k < n; k++)
            fastest = fastest && (k == i || c[i].most_fs <= c[k].bound_fs);
        if (fastest)
            return &c[i];
    }
    return NULL;
}

/* The next to be run: that with the lowest bound; NULL: none can be faster than `best_fs`. */
static inline struct candidate *next_candidate(struct candidate *c, size_t n, int64_t best_fs)
{
    struct candidate *least = NULL;

    for (size_t i = 0; i < n; i++)
        if (!c[i].time_fs && c[i].bound_fs < best_fs && (!least || c[i].bound_fs < least->bound_fs))
            least = &c[i];
    return least;
}

/*
 * Runs each once, without results, except those whose bound says that they cannot be the fastest.
 * One that cannot run (a TCM has too many queues, a vector does not fit) is not the fastest, and if
 * none can, the run says why. Any other failure, as a lack of memory, is none of the algorithm's,
 * and kb_bench_new() returns it: NULL.
 */
static inline struct candidate *fastest_tried(const kb_bench_run *run, struct candidate *c,
                                              size_t n)
{
    struct candidate *best = NULL, *next;
    kb_error why;

    while ((next = next_candidate(c, n, best ? best->time_fs : INT64_MAX))) {
        kb_status status = kb_bench_try(run, "algorithm", next->name, &next->time_fs, &why);

        if (status == KB_BAD_REQUEST || status == KB_KERNEL_ERROR)
            next->time_fs = INT64_MAX;
        else if (status)
            return NULL;
        if (!best || next->time_fs < best->time_fs)
            best = next;
    }
    return best;
}

static inline int put_candidate(char *text, size_t room, const struct candidate *c)
{
    if (c->time_fs == INT64_MAX)
        return snprintf(text, room, "%s fails", c->name);
    double ns = (double)(c->time_fs ? c->time_fs : c->bound_fs) / 1e6;
    int64_t hundredths = (int64_t)(ns * 100);

    /* as "%.2f" rounds, but with a point in any locale */
    hundredths += fma(ns, 100, -(double)hundredths) > 0.5;
    return snprintf(text, room, "%s %s %" PRId64 ".%02d ns", c->name,
                    c->time_fs ? "takes" : "at least", hundredths / 100, (int)(hundredths % 100));
}

static inline void note_choice(kb_bench_run *run, const char *bench, const struct candidate *c,
                               size_t n, const char *chosen)
{
    char text[512];
    size_t len = (size_t)snprintf(text, sizeof text, "%s: ", bench);
    bool bounds = false;

    for (size_t i = 0; i < n && len < sizeof text; i++) {
        len += (size_t)put_candidate(text + len, sizeof text - len, &c[i]);
        if (i < n - 1 && len < sizeof text)
            len += (size_t)snprintf(text + len, sizeof text - len, ", ");
        bounds = bounds || !c[i].time_fs;
    }
    if (len < sizeof text)
        snprintf(text + len, sizeof text - len, "%s: %s",
                 bounds ? " (at least: a bound, not tried)" : "", chosen);
    kb_bench_note(run, text);
}

/* Sets `algorithm` to the fastest. Where bounds do not tell, this takes the time of all that come
 * near. */
static inline void choose_from(kb_bench_run *run, const char *bench, struct candidate *c, size_t n)
{
    const struct candidate *best = known_fastest(c, n);

    if (!best)
        best = fastest_tried(run, c, n);
    if (!best)
        return;
    kb_bench_set(run, "algorithm", best->name);
    if (n > 1)
        note_choice(run, bench, c, n, best->name);
}

static inline void choose_algorithm(kb_bench_run *run, const char *bench)
{
    struct candidate c[CANDIDATES_MAX];

    choose_from(run, bench, c, list_candidates(run, bench, c));
}

#endif
