/* trace_lanes.h -- the tracks of a timeline: chiplets, their components, and lanes of these. */
#ifndef TRACE_LANES_H
#define TRACE_LANES_H
#include "kernbench.h"
#include "cli/trace/map.h"
#include "cli/trace/trace_out.h"

/* Classes of stations: each has a counter of how many are busy. */
enum station_class {
    CLASS_MEMORY,
    CLASS_CHANNEL,
    CLASS_LINK,
    CLASS_ENGINE,
    CLASS_PE_ENGINE,
    CLASS_PORT,
    N_CLASSES,
    CLASS_NONE = N_CLASSES,
};

/* A chiplet. */
struct group {
    struct trace_track track;
    struct group *next;
    char name[KB_NODE_BYTES];
};

/* A counter: how many wait, how many are busy. */
struct count {
    struct trace_track track;
    struct count *next;       /* of all */
    struct count *next_dirty; /* of those that changed at this instant */
    struct group *chiplet;    /* NULL: of the whole machine */
    int64_t value, shown;
    int64_t full; /* a percentage: the most it can be; else 0 */
    bool dirty;
};

struct lane {
    struct trace_track track;
    size_t index; /* in its component */
    bool busy;
    int64_t free_fs; /* when its last slice ended */
    char *name;      /* owned; the first lane has its component's */
};

enum { WHATS_MAX = 16, RECENT_MAX = 256 }; /* kinds of work: "read", "fetch" */

/* A text of the program, and what lanes_text() has made of it. */
struct recent {
    const char *text; /* NULL: free */
    int line;
    struct trace_text *made;
};

/* A node, a station, a PE: it has lanes of its own, the first of which has its name. */
struct component {
    kb_place place; /* KB_NOWHERE: a PE */
    bool shown;
    bool is_early; /* a memory that is free before its transactions are done */
    enum station_class station;
    struct group *chiplet;
    struct lane **lane; /* owned */
    size_t n_lanes, room;
    size_t lowest; /* no lane below it is free */
    struct count *waiting;
    struct component *next; /* of all */
    char name[];
};

/* Names of a place that is a source or a target. */
struct end_names {
    struct trace_text *name;             /* "c0.pe3" */
    struct trace_text *label[WHATS_MAX]; /* "read c0.pe3" */
};

/* All tracks and texts of a timeline. */
struct lanes {
    const kb_topology *topo;
    kb_info info;
    bool fifo, routers;
    char **pattern; /* owned: --trace-filter */
    bool *matched;  /* owned: `pattern` has met a component */
    size_t n_patterns;
    struct map components, ends, texts;
    struct component *first_component;
    struct group *first_chiplet;
    const char *what_key[WHATS_MAX];
    size_t n_whats;
    struct recent recent[RECENT_MAX];
    uint32_t n_texts;
};

/* `filter` is a list of patterns, or NULL. */
void lanes_init(struct lanes *l, const kb_topology *topo, const char *filter);
void lanes_free(struct lanes *l);

struct component *lanes_at(struct lanes *l, kb_place place, bool passing);
struct component *lanes_of_pe(struct lanes *l, uint32_t pe);
struct trace_text *lanes_text(struct lanes *l, const char *text);
/* The same of a text that lasts, with ":line" if that is not 0. */
struct trace_text *lanes_constant(struct lanes *l, const char *text, int line);
struct trace_text *lanes_end_name(struct lanes *l, kb_place place);
/* "read c0.pe3" */
struct trace_text *lanes_label(struct lanes *l, const char *what, kb_place place);

/* The lowest lane from `first` on that is free and was so at `begin_fs`; busy from now on. */
struct lane *lanes_take(struct component *c, size_t first, int64_t begin_fs);
void lanes_release(struct component *c, struct lane *lane, int64_t end_fs);

/* How many stations of a class there are. */
int64_t lanes_total(struct lanes *l, enum station_class station);

#endif
