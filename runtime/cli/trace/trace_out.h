/* trace_out.h -- tracks, slices and counters of a timeline, and the formats that write them. */
#ifndef TRACE_OUT_H
#define TRACE_OUT_H
#include "cli/out/sink.h"
#include <stdint.h>

/* The lists of a file that a text can be in. */
enum trace_interned { INTERNED_NAME = 1, INTERNED_KEY = 2, INTERNED_VALUE = 4 };

/* A text that is used often: a file has it once, and refers to it by its number after that. */
struct trace_text {
    struct trace_text *next; /* with the same hash */
    uint32_t id;             /* from 1 */
    uint8_t interned;        /* enum trace_interned, or-ed */
    char text[];             /* UTF-8 */
};

enum trace_track_kind {
    TRACK_TOP,     /* holds all others */
    TRACK_CHIPLET, /* holds the components of a chiplet */
    TRACK_LANE,    /* has slices; further lanes of a component are below its first */
    TRACK_COUNT,   /* a number at each instant */
    TRACK_PERCENT,
};

struct trace_track {
    enum trace_track_kind kind;
    uint32_t id;                      /* from 1; 0: not in the file yet */
    const struct trace_track *parent; /* NULL: none */
    uint32_t chiplet;                 /* id of its chiplet, or of the top */
    int32_t rank;                     /* of a chiplet among its like */
    const char *name;
};

enum trace_note_type { NOTE_TEXT, NOTE_COUNT, NOTE_NS };

/* A key and a value that a viewer shows beside a slice. */
struct trace_note {
    enum trace_note_type type;
    struct trace_text *key;
    struct trace_text *text; /* NOTE_TEXT */
    uint64_t count;          /* NOTE_COUNT */
    int64_t fs;              /* NOTE_NS */
};

enum { TRACE_NOTES_MAX = 16, TRACE_FLOWS_MAX = 2, TRACE_TEXT_BYTES = 512 };

/* The begin of a slice. */
struct trace_begin {
    const struct trace_track *track;
    int64_t fs;
    struct trace_text *name;
    const struct trace_note *notes;
    size_t n_notes;
    uint64_t flow[TRACE_FLOWS_MAX]; /* the flows (arrows) that pass through it; 0: none */
    bool flow_begins, flow_ends;    /* it is the first, the last slice of flow[0] */
};

/* A file that grows. `reserve` is the size of its end, were it to end at this moment. */
struct trace_file {
    const struct trace_format *format;
    struct sink sink;
    uint64_t bytes, max_bytes, reserve;
    uint64_t n_written; /* packets or events */
};

/*
 * A format. Each function writes one thing, or returns false because it would pass max_bytes. Times
 * are 1 fs in the file's smallest unit, which a viewer shows as 1 ns.
 */
struct trace_format {
    const char *suffix;
    bool available;
    uint32_t end_bytes, counter_bytes, tail_bytes; /* the most that these take */
    bool (*head)(struct trace_file *f);
    bool (*track)(struct trace_file *f, const struct trace_track *track);
    bool (*begin)(struct trace_file *f, const struct trace_begin *begin);
    bool (*end)(struct trace_file *f, const struct trace_track *track, int64_t fs);
    bool (*counter)(struct trace_file *f, const struct trace_track *track, int64_t fs,
                    double value);
    bool (*tail)(struct trace_file *f);
};

extern const struct trace_format trace_perfetto, trace_json;

/*
 * For formats. trace_room() is a buffer for the next `most` bytes: observers run on a kernel's
 * small stack, which has no room for one. trace_keep() appends the first `n` bytes of it to the
 * file; false: they would pass max_bytes, and are dropped.
 */
char *trace_room(struct trace_file *f, size_t most);
bool trace_keep(struct trace_file *f, size_t n);

#endif
