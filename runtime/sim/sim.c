/* sim.c -- simulations: made, given transactions, run, asked for results.
 *
 * The state lies below, in engine/state.h; this is its face, the kb_sim_*() that users call. A run
 * goes through kb_sim_run(): the first one checks dependencies and sorts the rows, then the engine
 * runs (or kernels_run(), if kernels were launched), then sim/sim_check.c looks for stations that
 * were busy for longer than the run lasted.
 *
 * Transactions are added in add.c; what has become of them is in results.c.
 */
#include "sim/sim.h"
#include <stdlib.h>
#include <string.h>
#include "engine/dependencies.h"
#include "machine/endpoint.h"
#include "engine/engine.h"
#include "engine/router.h"
#include "engine/issue_order.h"
#include "engine/split.h"
#include "engine/stations.h"
#include "data/host.h"
#include "kernels/kernels.h"
#include "record/oplog.h"
#include "record/race.h"
#include "engine/traffic.h"
#include "machine/walk.h"
#include "network/banks_state.h"
#include "engine/observer.h"
#include "sim/guarded.h"
#include "sim/lone_runs.h"

static bool options_are_known(const kb_options *o)
{
    bool keeps = o->oplog || o->phase2 || o->values;

    return (unsigned)o->engine <= KB_HOP && o->until_fs >= 0 &&
           o->costs_off < 2u * KB_COST_CACHE_MISSES && !(o->no_values && keeps);
}

uint64_t kb_sim_bytes(const kb_topology *topo)
{
    return topo ? sim_bytes(topo) : 0;
}

kb_status kb_sim_new(const kb_topology *topo, const kb_options *options, kb_sim **out)
{
    REFUSE_NULL(topo && out, "topo, out", NULL);
    struct kb_sim *s;

    if (options && !options_are_known(options))
        return KB_BAD_REQUEST;
    s = calloc(1, sizeof *s);
    if (!s)
        return KB_NO_MEMORY;
    s->terms_of = result_terms;
    if (!sim_init(s, topo, options) || !lone_begin(s)) {
        kb_sim_free(s);
        return KB_NO_MEMORY;
    }
    *out = s;
    return KB_OK;
}

void kb_sim_free(kb_sim *s)
{
    if (!s)
        return;
    dependencies_free(s->dependencies);
    traffic_free(s->traffic);
    observe_free(s->observer);
    kernels_free(s->kernels);
    op_log_free(s->log); /* it may hold parts of fills, which are the host's */
    host_free(s->host);
    race_free(s->race);
    lone_free(s->lone);
    sim_clear(s);
    free(s);
}

/* -- running -------------------------------------------------------------------------------- */

kb_status sim_explain(const struct kb_sim *s, kb_status status, kb_error *why)
{
    if (why && why->text[0])
        return status;
    if (status == KB_COMPONENT_ERROR || (status == KB_DEADLOCK && s->instances.never))
        endpoint_error(why, "%s", s->instances.fault);
    if (status == KB_INTERNAL)
        observe_error(s->observer, why);
    if (status == KB_BAD_REQUEST && s->started)
        endpoint_error(why, "%s",
                       s->traffic ? TRAFFIC_NO_WAY
                                  : "there is no way from the L2 of a cube to a slice");
    else if (status == KB_TIME_RANGE)
        endpoint_error(why, "simulated time has passed 2^63 fs, two and a half hours");
    else if (status == KB_NO_MEMORY)
        endpoint_error(why, "out of memory while the simulation ran");
    return status;
}

kb_status kb_sim_check_dependencies(kb_sim *s, uint64_t *id, kb_error *why)
{
    REFUSE_NULL(s, "sim", why);
    return dependencies_prepare(s, id, why);
}

/* Prepares the first run. After a mistake that the caller may still put right, nothing is kept. */
static kb_status start(struct kb_sim *s, kb_error *why)
{
    kb_status status = dependencies_prepare(s, NULL, why);

    if (status == KB_BAD_REQUEST)
        return status;
    s->tells_ends = s->dependencies || s->options.live;
    if (s->tells_ends)
        s->sorted = false; /* transactions that wait, or are added later, are not in the list */
    if (status == KB_OK && !s->sorted && !sort_issues(s))
        status = KB_NO_MEMORY;
    if (status == KB_OK)
        status = split_all(s, 0, s->n_txns, why);
    if (status == KB_OK)
        stations_make_for_rows(s);
    s->started = status == KB_OK;
    if (s->started)
        OBSERVE(s, begin);
    return s->status = status;
}

/* Events between two looks at what is kept for Phase 2; each may be one of a kernel that runs some
 * dozens behind it itself. */
enum { EVENTS_KEPT = 1 << 12 };

/* Runs in steps, if operations are kept. */
static kb_status run_kernels(struct kb_sim *s, uint64_t budget, kb_error *why)
{
    kb_status status = KB_AGAIN, kept;

    if (!sim_compute_kept || !s->log)
        return kernels_run(s, budget, why);
    while (status == KB_AGAIN && budget > 0) {
        uint64_t step = budget < EVENTS_KEPT ? budget : EVENTS_KEPT;

        status = kernels_run(s, step, why);
        kept = status == KB_AGAIN ? sim_compute_kept(s, why) : KB_OK;
        if (kept)
            return s->status = kept;
        if (budget != UINT64_MAX)
            budget -= step;
    }
    return status;
}

static kb_status run(struct kb_sim *s, uint64_t budget, kb_error *why)
{
    kb_status status;

    if (s->kernels)
        return run_kernels(s, budget, why);
    if (s->status != KB_OK)
        return s->status;
    status = s->started ? KB_OK : start(s, why);
    return status == KB_OK ? engine_run(s, budget) : status;
}

struct guarded {
    struct kb_sim *s;
    uint64_t budget;
    kb_error *why;
    kb_status status;
};

static void run_guarded(void *arg)
{
    struct guarded *g = arg;

    g->status = run(g->s, g->budget, g->why);
}

/* Runs, and looks at what has become of it. */
static kb_status run_checked(struct kb_sim *s, uint64_t budget, kb_error *why)
{
    struct guarded g = {s, budget, why, KB_OK};
    kb_status ran = sim_guarded(s, run_guarded, &g, why) ? g.status : s->status;
    kb_status status = sim_check_stall(s, ran, why);

    if (status == KB_OK)
        status = sim_check_stations(s, why);
    return sim_explain(s, status, why);
}

kb_status kb_sim_run(kb_sim *s, uint64_t budget, kb_error *why)
{
    REFUSE_NULL(s, "sim", why);
    s->from_fs = s->options.live ? UINT64_MAX : 0;
    s->pause_fs = UINT64_MAX;
    s->pause_done = UINT32_MAX;
    return run_checked(s, budget ? budget : UINT64_MAX, why);
}

/* What a run up to `to_fs` needs, before it begins. */
static kb_status check_live(const struct kb_sim *s, int64_t to_fs, kb_error *why)
{
    if (!s->options.live || s->kernels || s->traffic)
        return endpoint_error(why, "the simulation is not live: it has no option live, or has "
                                   "kernels or traffic");
    if (s->dependencies)
        return endpoint_error(why, "a live simulation has no dependencies");
    if (to_fs <= 0 || (uint64_t)to_fs < s->from_fs)
        return endpoint_error(why, "the simulation has come to a later time, or to its end");
    return KB_OK;
}

/* Is it where it was to pause? Else its budget is used up, and events of that instant may be left.
 */
static bool has_arrived(const struct kb_sim *s)
{
    return s->now_fs == s->pause_fs || sim_pauses(s);
}

kb_status kb_sim_run_part(kb_sim *s, int64_t to_fs, bool first, uint64_t budget, int64_t *from_fs,
                          kb_error *why)
{
    REFUSE_NULL(s, "sim", why);
    kb_status status = check_live(s, to_fs, why);

    if (status != KB_OK)
        return status;
    s->pause_fs = (uint64_t)to_fs;
    s->pause_done = first ? s->n_done + 1 : UINT32_MAX;
    status = run_checked(s, budget ? budget : UINT64_MAX, why);
    s->from_fs = status == KB_AGAIN ? s->now_fs + !has_arrived(s) : (uint64_t)to_fs;
    if (status == KB_AGAIN && has_arrived(s) && s->n_done == s->n_txns)
        status = KB_OK;
    if (from_fs)
        *from_fs = (int64_t)s->from_fs;
    return status;
}

kb_status kb_sim_run_to(kb_sim *s, int64_t to_fs, bool first, int64_t *from_fs, kb_error *why)
{
    return kb_sim_run_part(s, to_fs, first, 0, from_fs, why);
}

size_t kb_sim_completed(kb_sim *s, uint64_t *ids, size_t room)
{
    return completed_take(&s->completed, ids, room);
}

uint64_t kb_sim_count(const kb_sim *s)
{
    return sim_txn_count(s);
}

uint64_t kb_sim_done(const kb_sim *s)
{
    return s->n_done;
}

uint64_t kb_sim_fingerprint(const kb_sim *s)
{
    return s->fingerprint;
}

int64_t kb_sim_end_fs(const kb_sim *s)
{
    return s->end_fs;
}

bool kb_sim_wants_values(const kb_sim *s)
{
    return s->wants_values;
}
