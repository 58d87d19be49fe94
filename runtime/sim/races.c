/* races.c -- data races of a simulation's kernels, and accesses beyond tensors: asked for before it
 * runs, told afterwards.
 *
 * Looking for races costs time and memory with every command, so a run has it only if it is asked
 * for: s->race is NULL otherwise, and kernels report no accesses. It must be asked for before the
 * first kernel is launched, as an access that was not seen could not be ordered later. It changes
 * no time and no result. How it is done, and what counts as a race, is in record/race.c and in
 * docs/kernels.md "Races".
 */
#include "kernels/kernels.h"
#include "machine/endpoint.h"
#include "record/race.h"
#include "sim/sim.h"

kb_status kb_sim_check_races(kb_sim *s, kb_error *why)
{
    REFUSE_NULL(s, "sim", why);
    if (s->started || (s->kernels && s->kernels->n_sent > 0))
        return endpoint_error(why, "the simulation has begun, it is too late to look for races");
    if (!s->race)
        s->race = race_new(s->topo);
    return s->race ? KB_OK : KB_NO_MEMORY;
}

kb_status kb_sim_races(const kb_sim *s, void (*each)(void *arg, const kb_race *race), void *arg)
{
    REFUSE_NULL(s && each, "sim, each", NULL);
    if (!s->race)
        return KB_BAD_REQUEST;
    race_each(s->race, each, arg);
    return KB_OK;
}

kb_status kb_sim_race_counts(const kb_sim *s, kb_race_counts *out)
{
    REFUSE_NULL(s && out, "sim, out", NULL);
    if (!s->race)
        return KB_BAD_REQUEST;
    *out = race_counts(s->race);
    return KB_OK;
}

kb_status kb_sim_beyond(const kb_sim *s, void (*each)(void *arg, const kb_beyond *beyond),
                        void *arg)
{
    REFUSE_NULL(s && each, "sim, each", NULL);
    if (!s->race)
        return KB_BAD_REQUEST;
    race_each_beyond(s->race, each, arg);
    return KB_OK;
}
