/* coll_auto.h -- algorithm=auto: which algorithm of a collective is the fastest. */
#ifndef COLL_AUTO_H
#define COLL_AUTO_H
#include "coll_bench.h"
#include <inttypes.h>

/*
 * kb_coll_estimates() says about how long each algorithm takes. Those whose estimates are near the
 * least are run, without results, and the fastest of these is taken; if none is near, or the PEs
 * are so many that a trial takes as long as a run that matters, the one with the least estimate.
 *
 * Example: on cube8 16 KiB of f16 take 0.28 us along the axes by the estimate, 0.34 by halving, and
 * 2 us and more on rings: two are tried.
 */
enum { TRIALS_MOST = 3, TRIED_PES_MOST = 1024 };
#define NEAR 2.0

struct candidate {
    int64_t about_fs; /* < 0: it is none */
    int64_t time_fs;  /* 0: it was not run, INT64_MAX: it failed */
};

/* What is asked, of PE 0. */
struct question {
    const kb_topology *topo;
    enum over over;
    kb_coll_call call;
    int64_t count; /* elements of a PE */
    kb_dtype dtype;
    int64_t *fs; /* [KB_COLL_ALGORITHMS] the answers */
};

static void ask(tl_ctx *tl, const kb_args *args)
{
    const struct question *q = args->user;

    kb_coll_estimates(tl, group_over(tl, q->over), q->call, q->fs, .count = q->count,
                      .dtype = q->dtype);
}

static inline kb_coll_algorithm least_about(const struct candidate *c, bool untried)
{
    kb_coll_algorithm least = KB_COLL_AUTO;

    for (kb_coll_algorithm a = KB_COLL_RING; a < KB_COLL_ALGORITHMS; a++)
        if (c[a].about_fs >= 0 && !(untried && c[a].time_fs) &&
            (!least || c[a].about_fs < c[least].about_fs))
            least = a;
    return least;
}

static inline bool is_near(const struct candidate *c, kb_coll_algorithm a)
{
    return (double)c[a].about_fs <= NEAR * (double)c[least_about(c, false)].about_fs;
}

/*
 * One that cannot run (a TCM has too many queues, a vector does not fit) is not the fastest, and if
 * none can, the run says why. Any other failure, as a lack of memory, is none of the algorithm's,
 * and kb_bench_new() returns it: KB_COLL_AUTO.
 */
static inline kb_coll_algorithm fastest_tried(const kb_bench_run *run, struct candidate *c)
{
    kb_coll_algorithm best = least_about(c, false), next = best;
    kb_error why;

    for (int i = 0; i < TRIALS_MOST && next && is_near(c, next); i++) {
        kb_status status =
            kb_bench_try(run, "algorithm", kb_coll_name(next), &c[next].time_fs, &why);

        if (status == KB_BAD_REQUEST || status == KB_KERNEL_ERROR) {
            c[next].time_fs = INT64_MAX;
            i--;
        } else if (status)
            return KB_COLL_AUTO;
        if (c[next].time_fs < c[best].time_fs)
            best = next;
        next = least_about(c, true);
    }
    return best;
}

static inline bool has_rival(const struct candidate *c)
{
    int near = 0;

    for (kb_coll_algorithm a = KB_COLL_RING; a < KB_COLL_ALGORITHMS; a++)
        near += c[a].about_fs >= 0 && is_near(c, a);
    return near > 1;
}

/* -- notes ---------------------------------------------------------------------------------- */

/* As "%.2f" rounds, but with a point in any locale. */
static inline int put_ns(char *text, size_t room, const char *before, int64_t fs)
{
    double ns = (double)fs / 1e6;
    int64_t hundredths = (int64_t)(ns * 100);

    hundredths += fma(ns, 100, -(double)hundredths) > 0.5;
    return snprintf(text, room, "%s%" PRId64 ".%02d ns", before, hundredths / 100,
                    (int)(hundredths % 100));
}

static inline size_t put_candidate(char *text, size_t room, kb_coll_algorithm a,
                                   const struct candidate *c)
{
    char about[32], time[32];

    put_ns(about, sizeof about, "", c->about_fs);
    put_ns(time, sizeof time, "", c->time_fs);
    if (c->time_fs == INT64_MAX)
        return (size_t)snprintf(text, room, "%s fails", kb_coll_name(a));
    if (c->time_fs)
        return (size_t)snprintf(text, room, "%s takes %s (about %s)", kb_coll_name(a), time, about);
    return (size_t)snprintf(text, room, "%s about %s", kb_coll_name(a), about);
}

static inline void note_choice(kb_bench_run *run, const char *bench, const struct candidate *c,
                               kb_coll_algorithm chosen)
{
    uint32_t pes = kb_pe_count(kb_bench_topology(run));
    char text[1024];
    size_t len = (size_t)snprintf(text, sizeof text, "%s: ", bench);
    const char *comma = "";

    for (kb_coll_algorithm a = KB_COLL_RING; a < KB_COLL_ALGORITHMS; a++) {
        if (c[a].about_fs < 0 || len + 128 > sizeof text)
            continue;
        len += (size_t)snprintf(text + len, sizeof text - len, "%s", comma);
        len += put_candidate(text + len, sizeof text - len, a, &c[a]);
        comma = ", ";
    }
    snprintf(text + len, sizeof text - len, " (about: an estimate%s): %s",
             pes > TRIED_PES_MOST ? "; none is tried on so many PEs" : "", kb_coll_name(chosen));
    kb_bench_note(run, text);
}

/* -- choosing ------------------------------------------------------------------------------- */

/* Sets `algorithm`, if it is auto, to the fastest for so many elements of a PE. */
static inline void choose_for(kb_bench_run *run, const char *bench, struct question q)
{
    struct candidate c[KB_COLL_ALGORITHMS] = {0};
    int64_t ranks = sharing_over(q.topo, q.over).ranks, fs[KB_COLL_ALGORITHMS] = {0};
    kb_coll_algorithm best;

    if (coll_of(run) != KB_COLL_AUTO)
        return;
    if (ranks == 1) {
        kb_bench_set(run, "algorithm", kb_coll_name(KB_COLL_RING));
        return;
    }
    q.fs = fs;
    kb_bench_ask(run, ask, &q);
    for (kb_coll_algorithm a = KB_COLL_AUTO; a < KB_COLL_ALGORITHMS; a++)
        c[a].about_fs = fs[a];
    best = least_about(c, false);
    if (kb_pe_count(q.topo) <= TRIED_PES_MOST && has_rival(c))
        best = fastest_tried(run, c);
    if (best == KB_COLL_AUTO)
        return;
    kb_bench_set(run, "algorithm", kb_coll_name(best));
    note_choice(run, bench, c, best);
}

/* Of a bench with `count` and `over`. */
static inline void choose_algorithm(kb_bench_run *run, const char *bench, kb_coll_call call)
{
    struct sharing s = sharing_of(run);
    int64_t lo, hi;

    shared_part(s, kb_bench_int(run, "count"), s.cubes * s.pes - 1, &lo, &hi);
    choose_for(run, bench,
               (struct question){.topo = kb_bench_topology(run),
                                 .over = over_of(run),
                                 .call = call,
                                 .count = hi - lo,
                                 .dtype = kb_bench_dtype(run, "dtype")});
}

#endif
