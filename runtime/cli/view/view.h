/* view.h -- pictures of a topology, and of how busy it was: each one <svg>. */
#ifndef VIEW_H
#define VIEW_H
#include "cli/command.h"
#include "cli/diff/diff_results.h"

enum view_level { VIEW_SYSTEM, VIEW_SIP, VIEW_CUBE, VIEW_PE, N_VIEW_LEVELS };

/* The outermost level, which is drawn if no picture is named: the system, or of one SIP the SIP. */
enum view_level view_first(const kb_info *info);

/* Which SIP, cube and PE a picture shows; a level ignores those inside it. All zero: the first. */
struct view_at {
    uint32_t sip, cube, pe; /* a cube of the SIP, a PE of the cube */
};

/* If the cube or PE that a level would show is missing, moves `at` to the first one that is there,
 * of the same cube if it has any. False: there is none. */
bool view_find_part(const struct cli *cli, enum view_level level, struct view_at *at);

/* -- utilization ---------------------------------------------------------------------------- */

/* Utilizations in per cent, by node and edge. */
struct view_utilization;

/*
 * Reads a file that --stats wrote: CSV, JSON or JSON lines, "-" for stdin. Give it back with
 * view_utilization_free().
 *
 * returns  EXIT_OK; EXIT_INPUT, EXIT_SYSTEM after a message
 */
enum exit_code view_utilization_read(struct view_utilization **out, const struct cli *cli,
                                     const char *path);

/* Are its per cents shares of row conflicts, by --conflicts? */
bool view_utilization_conflicts(const struct view_utilization *utilization);

/* An empty one, to be filled by view_utilization_add(). `buffers`: it says how full they were. */
struct view_utilization *view_utilization_new(const kb_topology *topo, bool buffers);

/* Adds one row of --stats. `name` is that of a node, of a part of one ("sip0.cube0.m_cpu.read"), or
 * "A -> B" of an edge; if a node has several rows, the busiest counts. False: no such name. */
bool view_utilization_add(struct view_utilization *utilization, const char *name, double util_pct);
void view_utilization_free(struct view_utilization *utilization);

/* -- pictures ------------------------------------------------------------------------------- */

/*
 * Write one <svg> to `s`, without an XML declaration. `prefix` is that of its ids, in a page which
 * has svg_css (svg.h); NULL: the picture stands alone.
 * `utilization` may be NULL: no colours.
 */
void view_topology(const struct cli *cli, enum view_level level, struct view_at at,
                   const struct view_utilization *utilization, const char *prefix, struct sink *s);

/* The same as a graph for Graphviz, with positions. */
void view_topology_dot(const struct cli *cli, enum view_level level, struct view_at at,
                       const struct view_utilization *utilization, struct sink *s);

/* The names of levels. */
extern const char *const view_levels[N_VIEW_LEVELS];

/* The level of that name; N_VIEW_LEVELS: there is none. */
enum view_level view_find(const char *name);

#endif
