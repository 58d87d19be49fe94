/* sim_check.c -- after a run: was no station busy for longer than the run lasted?
 *
 * It needs no model, and each counting mistake of a station shows in it: a service counted twice, a
 * server given to two. It is done after every run, even when statistics are compiled out, and costs
 * one pass over the stations that were made: on cube8 a few hundred, and with fifo links their 1834
 * directions.
 *
 * The rule is busy <= servers * time. In benches/one_slice.csv on cube8 slice 0 is busy for 112.5
 * ns of a run of 115.87 ns: with one server that is 97.09 %. Had two of its services overlapped,
 * the sum could have passed 100 %, and the run would end with KB_INTERNAL and the name of the
 * slice. A relative 1e-9 is allowed for the rounding of large times to doubles.
 *
 * Channels and engines are not checked if a run has their cost left out, as they have no limit
 * then.
 */
#include "engine/stations.h"
#include "kernels/kernels.h"
#include "machine/endpoint.h"
#include "machine/place.h"
#include "machine/walk.h"
#include "sim/sim.h"

/* How long the `servers` of a station were busy in all, in a run of `end_fs`. */
struct busy {
    uint64_t busy_fs;
    uint32_t servers;
    int64_t end_fs;
};

static bool plausible(const struct busy *x)
{
    return (double)x->busy_fs <= (double)x->servers * (double)x->end_fs * (1 + 1e-9);
}

static kb_status check(const struct kb_sim *s, kb_place place, const struct busy *x, kb_error *why)
{
    char name[KB_PLACE_BYTES];

    if (plausible(x))
        return KB_OK;
    if (kb_place_kind_of(place) == KB_AT_MEMORY)
        kb_place_node(s->topo, place, name);
    else
        kb_place_name(s->topo, place, name);
    endpoint_error(why, "%s was taken for %.6f ns by %u, longer than the run lasted, %.6f ns", name,
                   (double)x->busy_fs / 1e6, x->servers, (double)x->end_fs / 1e6);
    return KB_INTERNAL;
}

static kb_status check_channels(const struct kb_sim *s, uint32_t cube, kb_error *why)
{
    const struct kb_topology *t = s->topo;
    uint32_t first = 2 * src_pack(t, cube, 0), end = 2 * src_pack(t, cube + 1, 0);
    kb_status status = KB_OK;

    if (s->options.costs_off & KB_COST_CHANNELS)
        return KB_OK;
    for (uint32_t i = first; status == KB_OK && i < end; i++) {
        struct busy x = {s->channels[i].busy_fs, channels_of(t, i), sim_free_fs(s)};

        status = check(s, place_of(KB_AT_CHANNEL, i), &x, why);
    }
    return status;
}

static kb_status check_engines(const struct kb_sim *s, uint32_t cube, kb_error *why)
{
    const struct kb_topology *t = s->topo;
    kb_status status = KB_OK;

    if (s->options.costs_off & KB_COST_ENGINES)
        return KB_OK;
    for (uint32_t i = 2 * cube; status == KB_OK && i < 2 * cube + 2; i++) {
        struct busy x = {s->engines[i].busy_fs, engines_of(t, i), sim_free_fs(s)};

        status = check(s, place_of(KB_AT_ENGINE, i), &x, why);
    }
    return status;
}

static kb_status check_memories(const struct kb_sim *s, uint32_t cube, kb_error *why)
{
    const struct kb_topology *t = s->topo;
    kb_status status = KB_OK;

    for (uint32_t i = dst_pack(t, cube, 0); status == KB_OK && i < dst_pack(t, cube + 1, 0); i++) {
        struct busy x = {s->memories[i].busy_fs, 1, sim_free_fs(s)};

        if (s->early && s->early[i].free_fs)
            x = (struct busy){s->early[i].busy_fs, 1, s->early[i].free_fs};
        status = check(s, place_of(KB_AT_MEMORY, i), &x, why);
    }
    return status;
}

/* When the last server of a port is free. */
static int64_t last_free_fs(const struct link_station *port)
{
    int64_t last_fs = 0;

    for (uint32_t i = 0; i < link_servers(port); i++)
        if (link_server_fs(port, i) > last_fs)
            last_fs = link_server_fs(port, i);
    return last_fs;
}

/* A link is free again once its last byte has left it, which may be after all else has ended. */
static kb_status check_links(const struct kb_sim *s, size_t first, size_t end, kb_error *why)
{
    kb_status status = KB_OK;

    for (size_t i = first; status == KB_OK && s->links && i < end; i++) {
        struct busy x = {s->links[i].busy_fs, link_servers(&s->links[i]),
                         last_free_fs(&s->links[i])};

        status = check(s, place_of(KB_AT_LINK, i), &x, why);
    }
    return status;
}

static kb_status check_cube_links(const struct kb_sim *s, uint32_t cube, kb_error *why)
{
    size_t n = stations_links_of_cube(s->topo);

    return check_links(s, n * cube, n * cube + n, why);
}

/* Those that a transaction may have come to. */
static kb_status check_cube(const struct kb_sim *s, uint32_t cube, kb_error *why)
{
    static kb_status (*const checks[])(const struct kb_sim *s, uint32_t cube, kb_error *why) = {
        check_channels, check_engines, check_memories, check_cube_links};
    kb_status status = KB_OK;

    for (size_t i = 0; status == KB_OK && s->made[cube] && i < sizeof checks / sizeof *checks; i++)
        status = checks[i](s, cube, why);
    return status;
}

static kb_status check_ports(const struct kb_sim *s, kb_error *why)
{
    uint32_t n = s->kernels ? s->kernels->n_pes * N_PORTS : 0;
    kb_status status = KB_OK;

    for (uint32_t i = 0; status == KB_OK && i < n; i++) {
        const struct link_station *port = &s->kernels->ports[i];
        struct busy x = {s->kernels->pes[i / N_PORTS].port[i % N_PORTS].busy_fs, 1, sim_free_fs(s)};

        if (last_free_fs(port))
            x = (struct busy){port->busy_fs, link_servers(port), last_free_fs(port)};

        status = check(s, place_port(i / N_PORTS, i % N_PORTS), &x, why);
    }
    return status;
}

kb_status sim_check_stations(const struct kb_sim *s, kb_error *why)
{
    kb_status status = check_links(s, walk_io_links(s->topo), walk_n_links(s->topo), why);

    for (uint32_t cube = 0; status == KB_OK && cube < sim_cubes(s->topo); cube++)
        status = check_cube(s, cube, why);
    return status == KB_OK ? check_ports(s, why) : status;
}
