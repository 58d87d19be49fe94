/* view.h -- pictures of a topology, of how busy it was, and of results: each one <svg>. */
#ifndef VIEW_H
#define VIEW_H
#include "cli/command.h"
#include "cli/diff/results.h"

enum view_level { VIEW_SYSTEM, VIEW_SIP, VIEW_CUBE, VIEW_PE, N_VIEW_LEVELS };

/* All that `view` draws, by name: the levels, then results. */
enum view_picture { VIEW_ROOFLINE = N_VIEW_LEVELS, VIEW_LATENCY, N_VIEW_PICTURES };
extern const char *const view_pictures[N_VIEW_PICTURES];

/* The one that is drawn if none is named: of one SIP the SIP, there is nothing around it. */
enum view_level view_first(const kb_info *info);

/* Which SIP, cube and PE a picture is of, as far as its level needs them. All zero: the first. */
struct view_at {
    uint32_t sip, cube, pe; /* each inside what is before it */
};

/* -- how busy ------------------------------------------------------------------------------- */

/* Utilisations in per cent, by node and edge. All zero is none. */
struct view_usage;

/*
 * Reads what --stats has written: CSV, JSON or JSON lines, "-" for stdin. Give it back with
 * view_usage_free().
 *
 * returns  EXIT_OK; EXIT_INPUT, EXIT_SYSTEM after a message
 */
enum exit_code view_usage_read(struct view_usage **out, const struct cli *cli, const char *path);

/* An empty one, to be filled by view_usage_add(); NULL without memory. */
struct view_usage *view_usage_new(const kb_topology *topo);

/* Adds one row of --stats. `name` is that of a node, of a part of one ("sip0.cube0.m_cpu.read"), or
 * "A -> B" of an edge; of several rows of a node the busiest counts. False: no such name. */
bool view_usage_add(struct view_usage *usage, const char *name, double util_pct);
void view_usage_free(struct view_usage *usage);

/* -- pictures ------------------------------------------------------------------------------- */

/*
 * Write one <svg> to `s`, without an XML declaration. `prefix` is that of its ids (svg.h). `usage`
 * may be NULL: no colours.
 *
 * returns  EXIT_OK, or EXIT_SYSTEM after a message
 */
enum exit_code view_topology(const struct cli *cli, enum view_level level, struct view_at at,
                             const struct view_usage *usage, const char *prefix, struct sink *s);

/* The same as a graph for Graphviz, with positions. */
enum exit_code view_topology_dot(const struct cli *cli, enum view_level level, struct view_at at,
                                 const struct view_usage *usage, struct sink *s);

/* One launch, as a point under a roofline. */
struct view_launch {
    const char *kernel;
    double operations; /* 2 * gemm_macs + math_elements */
    double bytes;      /* read and written by DMA */
    double ns;
};

/* Is one of them a point of it? */
bool view_roofline_shows(const struct view_launch *launch, size_t n);

enum exit_code view_roofline(const struct cli *cli, const struct view_launch *launch, size_t n,
                             const char *prefix, struct sink *s);

/* One rate of `load`. */
struct view_rate {
    double offered_gbs, accepted_gbs, mean_ns, p50_ns, p99_ns;
    bool steady;
};

/* `what` is said below the title: pattern, bytes. */
enum exit_code view_latency(const struct cli *cli, const struct view_rate *rate, size_t n,
                            const char *what, const char *prefix, struct sink *s);

/* The same from a file of results, "-" for stdin: EXIT_INPUT, EXIT_SYSTEM after a message. */
enum exit_code view_roofline_file(const struct cli *cli, const char *path, struct sink *s);
enum exit_code view_latency_file(const struct cli *cli, const char *path, struct sink *s);

#endif
