/* sim_compute.c -- Phase 2 of a simulation: computes the operations that its op log has kept.
 *
 * It computes what is pending after the launches that have run, so it is refused while a launch is
 * under way. It depends on versions of data only, not on times, and changes none.
 */
#include "data/host.h"
#include "engine/state.h"
#include "kernels/kernels.h"
#include "machine/endpoint.h"
#include "phase2/exec.h"
#include "record/oplog.h"
#include "sim/sim.h"

kb_status kb_compute(kb_sim *sim, const kb_compute_options *options, kb_error *why)
{
    REFUSE_NULL(sim, "sim", why);
    static const kb_compute_options none = {.threads = 0};

    if (sim->kernels && launches_under_way(sim->kernels) > 0)
        return endpoint_error(why, "a launch is under way");
    if (!sim->log || !sim->options.phase2)
        return endpoint_error(why, "the simulation keeps no operations: it needs option phase2");
    options = options ? options : &none;
    if (!host_make_fills(sim->host))
        return KB_NO_MEMORY;
    return exec_run(sim->log, sim->topo, options, why);
}

static const struct op *find_under_way(void *arg, uint32_t id)
{
    return kernels_op_under_way(arg, id);
}

/* What a kernel branches on, while its launch is under way. */
static kb_status compute_value(struct kb_sim *s, struct version *v, kb_error *why)
{
    unsigned threads = s->options.value_threads;
    kb_compute_options options = {.threads = threads ? threads : 1,
                                  .verify_ops = s->options.verify_values};
    const struct under_way under_way = {find_under_way, s->kernels};

    if (!host_make_fills(s->host))
        return KB_NO_MEMORY;
    return version_ready(v) ? KB_OK : exec_value(s->log, &under_way, s->topo, v, &options, why);
}

/*
 * Phase 2 in steps: when many operations are kept, those that something can still ask for are
 * computed, and their operands are given back, so that a long run keeps what lives. --inspect wants
 * operands, and keeps all.
 */
enum { KEPT_MOST = 65536 };

kb_status sim_compute_kept(struct kb_sim *s, kb_error *why)
{
    const struct under_way under_way = {find_under_way, s->kernels};
    kb_compute_options options = {.threads = s->options.value_threads,
                                  .verify_ops = s->options.verify_values};
    uint64_t n;
    kb_status status;

    if (!(s->options.phase2 || s->options.values) || s->options.inspect ||
        op_log_count(s->log) - s->kept_at < KEPT_MOST)
        return KB_OK;
    status = op_log_computes(s->log, &n, why);
    s->kept_at = op_log_count(s->log) - (n < KEPT_MOST ? n : 0);
    if (status || n < KEPT_MOST)
        return status;
    if (s->options.phase2 && !host_make_fills(s->host))
        return KB_NO_MEMORY;
    return exec_kept(s->log, &under_way, s->topo, s->options.phase2 ? &options : NULL, why);
}

/* Here, so that a program whose kernels ask for no values is linked without Phase 2. */
double tl_value_at(tl_here here, tl_ctx *tl, tl_tensor *x, int64_t i)
{
    return value_element(here, tl, x, i, compute_value);
}

const void *tl_values_at(tl_here here, tl_ctx *tl, tl_tensor *x)
{
    return value_all(here, tl, x, compute_value);
}
