/* races.c -- data races of a simulation's kernels: asked for before it runs, told afterwards. */
#include "kernels/kernels.h"
#include "machine/endpoint.h"
#include "record/race.h"
#include "sim/sim.h"

kb_status kb_sim_check_races(kb_sim *s, kb_error *why)
{
    if (s->started || (s->kernels && (s->kernels->launched || s->kernels->launch > 0)))
        return endpoint_error(why, "the simulation has begun, it is too late to look for races");
    if (!s->race)
        s->race = race_new(s->topo);
    return s->race ? KB_OK : KB_NO_MEMORY;
}

kb_status kb_sim_races(const kb_sim *s, void (*each)(void *arg, const kb_race *race), void *arg)
{
    if (!s->race)
        return KB_BAD_REQUEST;
    race_each(s->race, each, arg);
    return KB_OK;
}

kb_status kb_sim_race_counts(const kb_sim *s, kb_race_counts *out)
{
    if (!s->race)
        return KB_BAD_REQUEST;
    *out = race_counts(s->race);
    return KB_OK;
}
