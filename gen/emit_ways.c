/* emit_ways.c -- writes the tables of the networks between cubes: planes, ports, what is there. */
#include "emit_parts.h"
#include "machine/mesh.h"
#include <inttypes.h>

static const char *const exit_names[] = {"SIDE_N", "SIDE_E", "SIDE_S", "SIDE_W", "EXIT_IO"};

const char *emit_exit_name(const struct routes *r, uint32_t exit)
{
    if (exit == EXIT_END)
        return "EXIT_END";
    return r->found->net ? arena_printf(r->arena, "%u", exit) : exit_names[exit];
}

void emit_planes(FILE *out, const struct routes *r)
{
    emit_begin_map(out, "planes");
    for (uint32_t i = 0; i < r->topo.planes; i++) {
        const struct plane_row *row = &r->plane_rows[i];

        fprintf(out, "$1(%u, [[%s]], %u, %u, %u, %u, %u)m4_dnl\n", i, row->name, row->dirs,
                row->y_first, row->one_way, row->in_parts, row->has_detours);
    }
    emit_end_map(out);
    emit_begin_map(out, "io_sides");
    for (uint32_t i = 0; i < r->topo.chiplets; i++)
        fprintf(out, "$1(%u, [[%s]])m4_dnl\n", i, emit_exit_name(r, r->io_sides[i]));
    emit_end_map(out);
}

/* A byte of a C string: what means nothing to C or m4 as it is. */
static void emit_byte(FILE *out, uint8_t byte)
{
    bool plain = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
                 (byte >= 'a' && byte <= 'z') || byte == '/' || byte == '-';

    if (plain)
        fputc(byte, out);
    else
        fprintf(out, "\\%03o", byte);
}

/* Mostly letters and digits, as C strings of a line each: much faster to compile than rows. */
static void emit_letters(FILE *out, const char *name, const uint8_t *text, size_t n)
{
    enum { LINE = 80 };

    emit_begin_map(out, name);
    for (size_t i = 0; i < n; i += LINE) {
        fputs("$1([[\"", out);
        for (size_t k = i; k < n && k < i + LINE; k++)
            emit_byte(out, text[k]);
        fputs("\"]])m4_dnl\n", out);
    }
    emit_end_map(out);
}

/* Where pairs of cubes have several. */
static void emit_paths(FILE *out, const struct routes *r)
{
    size_t pairs = r->topo.paths > 1 ? (size_t)r->n_detours * r->topo.cubes : 0;

    emit_define_int(out, "has_paths", r->topo.paths > 1);
    emit_define_int(out, "n_path_rows", r->n_path_rows);
    emit_begin_map(out, "path_of");
    for (size_t i = 0; i < pairs; i++)
        fprintf(out, "$1(%zu, %" PRIu32 ")m4_dnl\n", i, r->path_of[i]);
    emit_end_map(out);
    emit_begin_map(out, "rail_paths");
    for (size_t i = 0; r->rail_paths && i < (size_t)sim_cubes(&r->topo) * sim_cubes(&r->topo); i++)
        fprintf(out, "$1(%zu, %" PRIu32 ")m4_dnl\n", i, r->rail_paths[i]);
    emit_end_map(out);
    emit_begin_map(out, "path_rows");
    for (uint32_t i = 0; i < r->n_path_rows; i++)
        fprintf(out, "$1(%u, %u, %u, %u, %u)m4_dnl\n", i, r->path_rows[i].ports,
                r->path_rows[i].links, r->path_rows[i].n, r->path_rows[i].until);
    emit_end_map(out);
    emit_letters(out, "path_ports", r->path_ports, r->n_path_ports);
}

/* The meshes and tori of a net, and the places of cubes there. */
static void emit_grids(FILE *out, const struct routes *r)
{
    uint32_t n = r->grid_rows ? r->found->net->grids.n : 0;

    emit_define_int(out, "n_grids", n);
    emit_begin_map(out, "grid_rows");
    for (uint32_t i = 0; i < n; i++) {
        const struct grid_row *row = &r->grid_rows[i];

        fprintf(out, "$1(%u, [[%u", i, row->size[0]);
        for (uint32_t d = 1; d < row->dims; d++)
            fprintf(out, ", %u", row->size[d]);
        fprintf(out, "]], %u, %u)m4_dnl\n", row->dims, row->closes);
    }
    emit_end_map(out);
    emit_begin_map(out, "place_rows");
    for (uint32_t cube = 0; n && cube < r->topo.cubes; cube++)
        fprintf(out, "$1(%u, %u, %u)m4_dnl\n", cube, r->place_rows[cube].grid,
                r->place_rows[cube].at);
    emit_end_map(out);
}

/* Only where something is missing or broken. */
void emit_gaps(FILE *out, const struct routes *r)
{
    const struct kb_topology *t = &r->topo;
    size_t cubes = sip_cubes(t), all = sim_cubes(t);

    emit_define_int(out, "mesh_tables", mesh_tables(t));
    emit_begin_map(out, "detour_of");
    for (size_t i = 0; t->has_gaps && i < cubes * t->planes * mesh_tables(t); i++)
        fprintf(out, "$1(%zu, %u)m4_dnl\n", i, r->detour_of[i]);
    emit_end_map(out);
    emit_begin_map(out, "shores");
    for (size_t i = 0; i < r->n_shores; i++)
        fprintf(out, "$1(%zu, %u)m4_dnl\n", i, r->shores[i]);
    emit_end_map(out);
    emit_letters(out, "cube_edges", r->cube_edges,
                 t->has_gaps ? all * t->planes * N_EDGE_LETTERS : 0);
    emit_define_int(out, "is_net", r->found->net != NULL);
    emit_begin_map(out, "port_rows");
    for (size_t i = 0; r->found->net && i < all * t->ports; i++)
        fprintf(out, "$1(%zu, %" PRIu32 "u, %u, %u, %u)m4_dnl\n", i, r->port_rows[i].cube,
                r->port_rows[i].port, r->port_rows[i].flags, r->port_rows[i].ring);
    emit_end_map(out);
    emit_begin_map(out, "io_cubes");
    for (uint32_t i = 0; r->found->net && i < t->n_shore; i++)
        fprintf(out, "$1(%u, %u)m4_dnl\n", i, r->io_cubes[i]);
    emit_end_map(out);
    emit_grids(out, r);
    emit_define_int(out, "n_detours", r->n_detours);
    emit_letters(out, "detours", r->detours, (size_t)r->n_detours * t->cubes);
    emit_define_int(out, "has_rails", r->rails != NULL);
    emit_letters(out, "rails", r->rails, r->rails ? mesh_tables(t) * all * all : 0);
    emit_paths(out, r);
}

/* Which nodes are routers. */
void emit_stops(FILE *out, const struct routes *r)
{
    const struct kb_topology *t = &r->topo;

    emit_define_int(out, "n_stops", r->n_stops);
    emit_begin_map(out, "stop_of");
    for (size_t i = 0; r->n_stops && i < sim_cubes(t); i++)
        fprintf(out, "$1(%zu, %u)m4_dnl\n", i, r->stop_of[i]);
    emit_end_map(out);
    emit_letters(out, "stops", r->stops, (size_t)r->n_stops * t->n_cube_nodes);
}
