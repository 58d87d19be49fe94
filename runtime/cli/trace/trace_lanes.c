/*
 * trace_lanes.c -- the tracks of a timeline: chiplets, their components, and lanes of these.
 *
 * A component is created when something first happens at it: tray32 has 2599 nodes and 4732 edges,
 * of which a run uses few. lanes_take() gives out the lowest lane that is free now and was free
 * when the slice began, for a slice can be reported late: its lane may have been busy then.
 * `lowest` keeps the search short where hundreds of slices lie side by side.
 *
 * Keys. A component is found by its place, 64 bits of which the library leaves the upper four
 * free. PASSING marks the second track of a link that queues, for heads on the wire beside the
 * transaction that holds it; PE_KEY and a number is the track of a PE itself, with its kernel and
 * commands.
 *
 * Names. Texts are kept once (lanes_text()) and have a number, which Perfetto writes in place of
 * the text; a label such as "read c0.slice4" is made once for each place and kind of work.
 *
 * Order. Chiplets are sorted by SIP, the IO chiplet before its cubes, the fabric last; in a
 * chiplet a viewer sorts components by name. Further lanes are children of the first.
 */
#include "cli/trace/trace_lanes.h"
#include "cli/out/memory.h"
#include "base/text.h"
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME_BYTES = KB_PLACE_BYTES + 32,
    CUBES_MAX = 32768, /* of a SIP, in ranks */
};

/* Keys of components are places; the upper four bits of these are free. */
#define PASSING (UINT64_C(1) << 63)
#define PE_KEY  (UINT64_C(1) << 62)

/* -- texts ---------------------------------------------------------------------------------- */

/* FNV-1a. */
static uint64_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

static struct trace_text *add_text(struct lanes *l, uint64_t hash, struct trace_text *first,
                                   const char *text)
{
    struct trace_text *t = memory_new(1, sizeof *t + strlen(text) + 1);

    *t = (struct trace_text){.id = ++l->n_texts};
    strcpy(t->text, text);
    if (first) {
        t->next = first->next;
        first->next = t;
    } else {
        map_put(&l->texts, hash, t);
    }
    return t;
}

/*
 * Texts come from file names and names of regions, so they are made valid UTF-8 first, and cut to
 * what a note may take.
 */
struct trace_text *lanes_text(struct lanes *l, const char *text)
{
    char utf8[TRACE_TEXT_BYTES], *p = utf8;
    struct trace_text *first, *t;
    uint64_t hash;

    while (*text && p < utf8 + sizeof utf8 - 4)
        p = text_put_utf8(p, &text);
    *p = '\0';
    hash = hash_of(utf8);
    first = map_get(&l->texts, hash);
    for (t = first; t; t = t->next)
        if (strcmp(t->text, utf8) == 0)
            return t;
    return add_text(l, hash, first, utf8);
}

/* The same few are wanted again and again; one that comes to a place that is taken replaces it. */
struct trace_text *lanes_constant(struct lanes *l, const char *text, int line)
{
    uint64_t key = ((uintptr_t)text ^ (uint64_t)line << 40) * UINT64_C(0x9e3779b97f4a7c15);
    struct recent *r = &l->recent[key >> 56];
    char with_line[TRACE_TEXT_BYTES];

    if (r->text == text && r->line == line)
        return r->made;
    *r = (struct recent){.text = text, .line = line};
    if (line) {
        snprintf(with_line, sizeof with_line, "%s:%d", text, line);
        text = with_line;
    }
    return r->made = lanes_text(l, text);
}

/* The number of a name of work ("read", "fetch"): there are few, all constants of the library. */
static size_t what_of(struct lanes *l, const char *what)
{
    size_t i = 0;

    while (i < l->n_whats && l->what_key[i] != what)
        i++;
    if (i == l->n_whats && i < WHATS_MAX) {
        l->what_key[i] = what;
        l->n_whats++;
    }
    return i;
}

static struct end_names *end_names(struct lanes *l, kb_place place)
{
    struct end_names *names = map_get(&l->ends, place);
    char name[KB_PLACE_BYTES];

    if (names)
        return names;
    names = memory_new(1, sizeof *names);
    map_put(&l->ends, place, names);
    kb_place_name(l->topo, place, name);
    names->name = lanes_text(l, name);
    return names;
}

struct trace_text *lanes_end_name(struct lanes *l, kb_place place)
{
    return end_names(l, place)->name;
}

static struct trace_text *make_label(struct lanes *l, const char *what, const char *end)
{
    char text[NAME_BYTES];

    snprintf(text, sizeof text, "%s%s%s", what, *end ? " " : "", end);
    return lanes_text(l, text);
}

struct trace_text *lanes_label(struct lanes *l, const char *what, kb_place place)
{
    struct end_names *names = end_names(l, place);
    size_t i = what_of(l, what);

    if (i == WHATS_MAX)
        return make_label(l, what, names->name->text);
    if (!names->label[i])
        names->label[i] = make_label(l, what, names->name->text);
    return names->label[i];
}

/* -- chiplets ------------------------------------------------------------------------------- */

/* "sip0.cube3" of "sip0.cube3.xbar.pe1", "fabric" of "fabric.switch0". */
static void chiplet_name(const char *node, char name[KB_NODE_BYTES])
{
    size_t n = strcspn(node, ".");

    if (strncmp(node, "sip", 3) == 0 && node[n])
        n += 1 + strcspn(node + n + 1, ".");
    snprintf(name, KB_NODE_BYTES, "%.*s", (int)n, node);
}

/* Order of chiplets: by SIP, its IO chiplet before its cubes; the fabric last. */
static int32_t chiplet_rank(const char *name)
{
    unsigned sip, cube;

    if (sscanf(name, "sip%u.cube%u", &sip, &cube) == 2)
        return (int32_t)(sip * CUBES_MAX + cube + 2);
    return sscanf(name, "sip%u", &sip) == 1 ? (int32_t)(sip * CUBES_MAX + 1) : INT32_MAX;
}

/* There are few chiplets with slices, and a component looks for its chiplet once: a list will do.
 */
static struct group *chiplet_of(struct lanes *l, const char *node)
{
    char name[KB_NODE_BYTES];
    struct group *c = l->first_chiplet;

    chiplet_name(node, name);
    while (c && strcmp(c->name, name) != 0)
        c = c->next;
    if (c)
        return c;
    c = memory_new(1, sizeof *c);
    strcpy(c->name, name);
    c->track =
        (struct trace_track){.kind = TRACK_CHIPLET, .rank = chiplet_rank(name), .name = c->name};
    c->next = l->first_chiplet;
    l->first_chiplet = c;
    return c;
}

/* -- components ----------------------------------------------------------------------------- */

/* Every pattern is tried, to know at the end which ones met nothing. */
static bool is_shown(struct lanes *l, const char *name)
{
    bool shown = l->n_patterns == 0;

    for (size_t i = 0; i < l->n_patterns; i++)
        if (fnmatch(l->pattern[i], name, 0) == 0)
            shown = l->matched[i] = true;
    return shown;
}

static bool ends_in(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);

    return n >= m && strcmp(name + n - m, end) == 0;
}

/* Nodes and wires have no class: nothing queues there. Links have one if they queue (links: fifo).
 */
static enum station_class class_of(const struct lanes *l, kb_place place, const char *name)
{
    switch (kb_place_kind_of(place)) {
    case KB_AT_MEMORY:
        return CLASS_MEMORY;
    case KB_AT_CHANNEL:
        return CLASS_CHANNEL;
    case KB_AT_LINK:
        return l->fifo ? CLASS_LINK : CLASS_NONE;
    case KB_AT_ENGINE:
        return CLASS_ENGINE;
    case KB_AT_PORT:
        return ends_in(name, ".pe_gemm") || ends_in(name, ".pe_math") ? CLASS_PE_ENGINE
                                                                      : CLASS_PORT;
    case KB_AT_NOTHING:
    case KB_AT_PE:
    case KB_AT_HOST:
    case KB_AT_NODE:
    case KB_AT_BANKS:
    case KB_AT_VC:
    case KB_AT_CACHE:
        break;
    }
    return CLASS_NONE;
}

static struct component *add_component(struct lanes *l, uint64_t key, const char *node,
                                       const char *name)
{
    struct component *c = memory_new(1, sizeof *c + strlen(name) + 1);

    map_put(&l->components, key, c);
    strcpy(c->name, name);
    c->station = CLASS_NONE;
    c->next = l->first_component;
    l->first_component = c;
    c->chiplet = chiplet_of(l, node);
    c->shown = is_shown(l, name);
    return c;
}

/* A memory has its node's name here, a host that of its chiplet. */
static void component_name(const struct lanes *l, kb_place place, const char *node,
                           char name[NAME_BYTES])
{
    switch (kb_place_kind_of(place)) {
    case KB_AT_MEMORY:
        strcpy(name, node);
        break;
    case KB_AT_HOST:
        chiplet_name(node, name);
        strcat(name, ".host");
        break;
    default:
        kb_place_name(l->topo, place, name);
    }
}

/* `passing` is the second track of a link with fifo, for heads on the wire; of a memory that is
 * free early, for drains. */
struct component *lanes_at(struct lanes *l, kb_place place, bool passing)
{
    uint64_t key = passing ? place | PASSING : place;
    struct component *c = map_get(&l->components, key);
    char node[KB_NODE_BYTES], name[NAME_BYTES];

    if (c)
        return c;
    kb_place_node(l->topo, place, node);
    component_name(l, place, node, name);
    if (passing)
        strcat(name, kb_place_kind_of(place) == KB_AT_LINK ? " wire" : " drain");
    c = add_component(l, key, node, name);
    c->place = place;
    c->station = class_of(l, place, name);
    return c;
}

struct component *lanes_of_pe(struct lanes *l, uint32_t pe)
{
    struct component *c = map_get(&l->components, PE_KEY | pe);
    kb_endpoint end = {0};
    char name[NAME_BYTES];

    if (c)
        return c;
    kb_pe_get(l->topo, pe, &end);
    snprintf(name, sizeof name, "sip%u.cube%u.pe%u", end.sip, end.cube, end.unit);
    return add_component(l, PE_KEY | pe, name, name);
}

/* -- lanes ---------------------------------------------------------------------------------- */

/* The first lane is the component itself. */
static void name_lane(struct component *c, struct lane *lane)
{
    const struct trace_track *parent = &c->chiplet->track;
    const char *name = c->name;

    if (c->n_lanes > 0) {
        parent = &c->lane[0]->track;
        char text[NAME_BYTES + TEXT_NUMBER_BYTES];

        snprintf(text, sizeof text, "%s #%zu", c->name, c->n_lanes);
        name = lane->name = memory_text(text);
    }
    lane->track = (struct trace_track){.kind = TRACK_LANE, .parent = parent, .name = name};
}

static void add_lane(struct component *c)
{
    struct lane *lane = memory_new(1, sizeof *lane);

    if (c->n_lanes == c->room) {
        c->room = c->room ? 2 * c->room : 1;
        c->lane = memory_resize(c->lane, c->room, sizeof(struct lane *));
    }
    name_lane(c, lane);
    lane->free_fs = INT64_MIN;
    lane->index = c->n_lanes;
    c->lane[c->n_lanes++] = lane;
}

/*
 * The lowest lane from `first` on that is free now and was free at `begin_fs`.
 *
 * Example: lane 0 is busy from 10 to 20 ns. At 25 ns a slice is reported that began at 15: lane 0
 * is free now, but its free_fs of 20 is later than 15, so the slice gets lane 1. All lanes below
 * `lowest` are busy now, so the search begins there; lanes_release() moves it down again.
 */
struct lane *lanes_take(struct component *c, size_t first, int64_t begin_fs)
{
    struct lane *lane;
    size_t i = first > c->lowest ? first : c->lowest;

    while (i < c->n_lanes && (c->lane[i]->busy || c->lane[i]->free_fs > begin_fs))
        i++;
    while (c->n_lanes <= i)
        add_lane(c);
    lane = c->lane[i];
    lane->busy = true;
    while (c->lowest < c->n_lanes && c->lane[c->lowest]->busy)
        c->lowest++;
    return lane;
}

void lanes_release(struct component *c, struct lane *lane, int64_t end_fs)
{
    lane->busy = false;
    lane->free_fs = end_fs;
    if (lane->index < c->lowest)
        c->lowest = lane->index;
}

/* -- totals --------------------------------------------------------------------------------- */

static void add_pair(void *arg, const kb_edge *edge)
{
    struct map *pairs = arg;
    bool up = edge->from < edge->to;
    uint64_t key = (uint64_t)(up ? edge->from : edge->to) << 32 | (up ? edge->to : edge->from);

    if (!map_get(pairs, key))
        map_put(pairs, key, pairs);
}

/* A link has a station each way, even if it has an edge in one direction only. */
static int64_t n_link_stations(struct lanes *l)
{
    struct map pairs = {0};
    int64_t n;

    kb_edges(l->topo, add_pair, &pairs);
    n = 2 * (int64_t)pairs.n;
    map_free(&pairs);
    return n;
}

/* Stations of one cube; a switch has none. */
static int64_t of_cube(const struct lanes *l, enum station_class station, uint32_t sip, uint32_t at)
{
    kb_limits limits;
    kb_cube cube;

    if (kb_cube_get(l->topo, sip, at, &cube) != KB_OK ||
        kb_cube_limits(l->topo, sip, at, &limits) != KB_OK ||
        (cube.pe_places == 0 && cube.n_slices == 0))
        return 0;
    switch (station) {
    case CLASS_MEMORY:
        return cube.n_slices + 1; /* an SRAM */
    case CLASS_CHANNEL:
        return cube.n_pes * ((int64_t)limits.read_channels + limits.write_channels);
    case CLASS_ENGINE:
        return (int64_t)limits.read_engines + limits.write_engines;
    case CLASS_LINK:
    case CLASS_PE_ENGINE:
    case CLASS_PORT:
    case CLASS_NONE:
        break;
    }
    return 0;
}

/*
 * How many stations of a class the machine has, for the counters in per cent: on cube8 64 slices
 * and 8 SRAMs are 72 memories, so one that is busy is 1.4 %.
 */
int64_t lanes_total(struct lanes *l, enum station_class station)
{
    int64_t pes = kb_pe_count(l->topo), n = 0;

    switch (station) {
    case CLASS_MEMORY:
    case CLASS_CHANNEL:
    case CLASS_ENGINE:
        for (uint32_t i = 0; i < l->info.sips * l->info.cubes_per_sip; i++)
            n += of_cube(l, station, i / l->info.cubes_per_sip, i % l->info.cubes_per_sip);
        return n;
    case CLASS_LINK:
        return n_link_stations(l);
    case CLASS_PE_ENGINE: /* GEMM and MATH */
    case CLASS_PORT:      /* read and write */
        return 2 * pes;
    case CLASS_NONE:
        break;
    }
    return 0;
}

/* -- all of it ------------------------------------------------------------------------------ */

static void read_filter(struct lanes *l, const char *filter)
{
    size_t room = 1;

    for (const char *p = filter; *p; p++)
        room += *p == ',';
    l->pattern = memory_new(room, sizeof *l->pattern);
    l->matched = memory_new(room, sizeof *l->matched);
    for (const char *p = filter; l->n_patterns < room; l->n_patterns++) {
        size_t n = strcspn(p, ",");

        l->pattern[l->n_patterns] = memory_part(p, n);
        p += n + 1;
    }
}

void lanes_init(struct lanes *l, const kb_topology *topo, const char *filter)
{
    *l = (struct lanes){.topo = topo};
    kb_topology_info(topo, &l->info);
    l->fifo = strcmp(l->info.links, "fifo") == 0;
    l->routers = strcmp(l->info.links, "router") == 0;
    if (filter)
        read_filter(l, filter);
}

static void free_components(struct lanes *l)
{
    struct component *next;

    for (struct component *c = l->first_component; c; c = next) {
        next = c->next;
        for (size_t i = 0; i < c->n_lanes; i++) {
            free(c->lane[i]->name);
            free(c->lane[i]);
        }
        free(c->lane);
        free(c);
    }
}

static void free_texts(struct lanes *l)
{
    for (size_t i = 0; i < l->texts.room; i++) {
        struct trace_text *next;

        for (struct trace_text *t = l->texts.entry[i].value; t; t = next) {
            next = t->next;
            free(t);
        }
    }
    for (size_t i = 0; i < l->ends.room; i++)
        free(l->ends.entry[i].value);
}

void lanes_free(struct lanes *l)
{
    struct group *next;

    free_components(l);
    free_texts(l);
    for (struct group *c = l->first_chiplet; c; c = next) {
        next = c->next;
        free(c);
    }
    for (size_t i = 0; i < l->n_patterns; i++)
        free(l->pattern[i]);
    free(l->pattern);
    free(l->matched);
    map_free(&l->components);
    map_free(&l->ends);
    map_free(&l->texts);
    *l = (struct lanes){0};
}
