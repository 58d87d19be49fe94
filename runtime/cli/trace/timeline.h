/*
 * timeline.h -- the state of a timeline, and what is written of it: slices, counters, tracks.
 *
 * The files of --trace, each of which calls only those below it:
 *
 *     trace.c      the observer: puts events in order of time, begins and ends the file
 *     trace_commands.c   commands and kernels on the lanes of their PE
 *     flights.c    transactions and stages on the lanes of what they pass
 *     timeline.c   the window (--trace-from, --trace-to), counters, the order of writing
 *     trace_lanes.c, trace_json.c, trace_perfetto.c, trace_out.c: tracks and formats
 */
#ifndef TIMELINE_H
#define TIMELINE_H
#include "cli/command.h"
#include "cli/trace/trace_lanes.h"

/* What a viewer shows beside a slice. */
struct slice_notes {
    struct trace_text *op, *source, *target; /* NULL: none */
    uint32_t id, command, token;             /* KB_NO_ID: none */
    uint64_t nbytes;                         /* 0: none */
    int64_t waited_fs;                       /* 0: it did not wait, and the rest is unset */
    struct trace_text *behind;
    uint32_t behind_id;
    struct trace_text *at, *region; /* of a command: "benches/gemm.c:33" */
    struct trace_text *bank, *row;  /* of the bus of a channel with banks: keys, NULL: elsewhere */
    uint64_t bank_number, row_number;
};

/* A slice that is open: of a span, a service, a command, a kernel. */
struct slice {
    struct slice *before, *after; /* of all open slices, by their begin */
    struct slice *next;           /* of the same flight */
    struct component *component;
    struct lane *lane;
    bool service; /* of a station or a command: its parts are nested in it */
    bool nested;  /* in another slice, on the same lane */
    bool shown;   /* its begin is in the file */
    int64_t begin_fs;
    struct trace_text *name;
    struct slice_notes about;
    uint64_t flow[TRACE_FLOWS_MAX];
    bool flow_begins, flow_ends;
};

/* A transaction, stage, command or kernel that has not ended. */
struct flight {
    struct flight *next_free;
    uint64_t key;
    struct slice *slices;
    bool ended;
    bool seen;          /* a slice of it has begun */
    kb_place waited_at; /* its last wait ended here, and no slice has it yet */
    int64_t waited_fs;
    struct trace_text *behind;
    uint32_t behind_id;
};

enum event_kind { EVENT_OPEN, EVENT_CLOSE, EVENT_TAKE, EVENT_RELEASE, EVENT_END };

/* A call of the observer. One that lies ahead of the time of the run is pending. */
struct event {
    int64_t fs;
    uint64_t seq; /* among equal times */
    enum event_kind kind;
    union {
        kb_span span;
        kb_service service;
    };
};

struct trace {
    const struct cli *cli;
    struct trace_file file;
    struct lanes lanes;
    struct trace_track top;
    char top_name[KB_NODE_BYTES + 64];
    uint32_t n_tracks;
    int64_t from_fs, to_fs, now_fs;
    int64_t last_fs; /* of the last event */
    bool opened;     /* the window has begun */
    bool closed;     /* it has ended */
    bool stopped;    /* the file is full */
    int64_t stopped_fs;
    struct map flights;
    struct slice *first, *last, *free_slices; /* `first` to `last` are open */
    struct flight *free_flights;
    struct count *counts, *dirty;
    struct count *busy[N_CLASSES];
    struct event *pending; /* owned: a heap by (fs, seq) */
    size_t n_pending, pending_room;
    uint64_t n_deferred;
    struct {
        struct trace_text *id, *op, *source, *target, *nbytes, *command, *tile, *waited, *behind,
            *behind_id, *at, *region, *overhead, *drain, *compute, *dispatch, *wait;
    } words;
};

/* Writes the begin of `s`, if it is in the window and of a component that is shown. */
void timeline_begin(struct trace *t, struct slice *s);

/* Writes the end of `s`. Its begin is in the file. */
void timeline_end(struct trace *t, struct slice *s, int64_t fs);

/* Ends all open slices, inner ones before outer ones, and the counters. */
void timeline_end_all(struct trace *t, int64_t fs);

/* The file is full: ends what it contains, and writes nothing more. */
void timeline_stop(struct trace *t);

/* The time is `fs`; every event before that has been applied. */
void timeline_advance(struct trace *t, int64_t fs);

/* Adds `n` to a counter, which may be NULL; its value is written once per instant. */
void timeline_count(struct trace *t, struct count *c, int64_t n);

/* The counter of what waits at a component; NULL: it is not shown. */
struct count *timeline_queue_of(struct trace *t, struct component *c);

/* The counter of the busy stations of a class, in per cent; NULL: none. */
struct count *timeline_busy_of(struct trace *t, enum station_class station);

#endif
