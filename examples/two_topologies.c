/* two_topologies.c -- two machines in one program: the same reads on each of them. */
#include <cube8.h>
#include <kernbench.h>
#include <stdio.h>
#include <string.h>
#include <tray32.h>

static const kb_topology *const machines[] = {&cube8_topology, &tray32_topology};

static const char *const ways[][2] = {
    {"c0.pe0", "c0.slice0"}, {"c0.pe0", "c7.slice4"}, {"c0.pe0", "s1.c0.slice0"}};

/* The zero-load latency of a read of 4096 bytes. KB_BAD_REQUEST: there is no such endpoint. */
static kb_status read_alone(const kb_topology *machine, const char *const way[2], double *ns,
                            kb_error *why)
{
    kb_endpoint src, dst;
    kb_cost cost;
    kb_status status = kb_endpoint_parse(machine, way[0], strlen(way[0]), &src, why);

    if (status == KB_OK)
        status = kb_endpoint_parse(machine, way[1], strlen(way[1]), &dst, why);
    if (status == KB_OK)
        status = kb_route_cost(machine, KB_READ, &src, &dst, 4096, &cost, why);
    if (status == KB_OK)
        *ns = (double)kb_formula_fs(&cost) / KB_FS_PER_NS;
    return status;
}

int main(void)
{
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        kb_info info;

        kb_topology_info(machines[i], &info);
        printf("%s: %u x %u cubes of %u PEs\n", info.name, info.sips, info.cubes_per_sip,
               info.pes_per_cube);
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
            kb_error why;
            double ns;

            if (read_alone(machines[i], ways[w], &ns, &why) == KB_OK)
                printf("  %s <- %-12s %10.6f ns\n", ways[w][0], ways[w][1], ns);
            else
                printf("  %s <- %-12s %s\n", ways[w][0], ways[w][1], why.text);
        }
    }
    return 0;
}
