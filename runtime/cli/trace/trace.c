/* trace.c -- `--trace`: what happens in a simulation, as a timeline in a file. */
#include "cli/trace/trace.h"
#include "cli/out/say.h"
#include "cli/trace/trace_lanes.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a slice says of itself. */
struct about {
    struct trace_text *op, *source, *target; /* NULL: not said */
    uint32_t id, command, token;             /* KB_NO_ID: not said */
    uint64_t nbytes;                         /* 0: not said */
    int64_t waited_fs;                       /* 0: it did not wait, as what follows */
    struct trace_text *behind;
    uint32_t behind_id;
    struct trace_text *at, *region; /* of a command: "benches/gemm.c:33" */
};

/* A slice that is open: of a span, a service, a command, a kernel. */
struct slice {
    struct slice *before, *after; /* of all that are open, in order of their begin */
    struct slice *next;           /* of the same flight */
    struct component *component;
    struct lane *lane;
    bool service; /* it holds its lane, and what is nested in it does not */
    bool nested;
    bool shown; /* its begin is in the file */
    int64_t begin_fs;
    struct trace_text *name;
    struct about about;
    uint64_t flow[TRACE_FLOWS_MAX];
    bool flow_begins, flow_ends;
};

/* Whatever has slices: a transaction, a stage, a command, a kernel. */
struct flight {
    struct flight *next_free;
    uint64_t key;
    struct slice *slices;
    bool ended;
    bool seen;          /* it has had a slice */
    kb_place waited_at; /* what it waited for last, and has not got yet */
    int64_t waited_fs;
    struct trace_text *behind;
    uint32_t behind_id;
};

enum told_kind { TOLD_OPEN, TOLD_CLOSE, TOLD_TAKE, TOLD_RELEASE, TOLD_END };

/* What was told before its time. */
struct early {
    int64_t fs;
    uint64_t seq; /* among equal times */
    enum told_kind kind;
    kb_span span;
    kb_service service;
};

struct trace {
    const struct cli *cli;
    struct trace_file file;
    struct lanes lanes;
    struct trace_track top;
    char top_name[KB_NODE_BYTES + 64];
    uint32_t n_tracks;
    int64_t from_fs, to_fs, now_fs;
    int64_t last_fs; /* of all that was told */
    bool opened;     /* the window has begun */
    bool closed;     /* it has ended */
    bool stopped;    /* the file is full */
    int64_t stopped_fs;
    bool no_memory;
    struct map flights;
    struct slice *first, *last, *free_slices; /* the first two of all that are open */
    struct flight *free_flights;
    struct count *counts, *dirty;
    struct count *busy[N_CLASSES];
    struct early *early; /* owned: a heap */
    size_t n_early, early_room;
    uint64_t n_told_early;
    struct {
        struct trace_text *id, *op, *source, *target, *nbytes, *command, *tile, *waited, *behind,
            *behind_id, *at, *region, *overhead, *drain, *compute, *dispatch, *wait;
    } word;
};

/* Keys of flights; transactions and stages have their id. */
#define COMMAND_KEY (UINT64_C(1) << 40)
#define KERNEL_KEY  (UINT64_C(2) << 40)

/* -- the file ------------------------------------------------------------------------------- */

char *trace_room(struct trace_file *f, size_t most)
{
    return sink_room(&f->sink, most);
}

bool trace_keep(struct trace_file *f, size_t n)
{
    if (f->bytes + n + f->reserve > f->max_bytes)
        return false;
    f->sink.at += n;
    f->bytes += n;
    f->n_written++;
    return true;
}

static void put_end(struct trace *t, struct slice *slice, int64_t fs)
{
    slice->shown = false;
    t->file.reserve -= t->file.format->end_bytes;
    t->file.format->end(&t->file, &slice->lane->track, fs);
}

/* What the end of the file needs for a counter that is at `value`. */
static uint32_t reserve_of(const struct trace *t, int64_t value)
{
    return value != 0 ? t->file.format->counter_bytes : 0;
}

/* False: it does not fit. */
static bool put_count(struct trace *t, struct count *c, int64_t value, int64_t fs)
{
    double number = c->full ? 100 * (double)value / (double)c->full : (double)value;
    uint64_t before = t->file.reserve;

    t->file.reserve += reserve_of(t, value);
    t->file.reserve -= reserve_of(t, c->shown);
    if (!t->file.format->counter(&t->file, &c->track, fs, number)) {
        t->file.reserve = before;
        return false;
    }
    c->shown = value;
    return true;
}

static void end_counts(struct trace *t, int64_t fs)
{
    for (struct count *c = t->counts; c; c = c->next)
        if (c->shown != 0)
            put_count(t, c, 0, fs);
}

/* Ends whatever is open: inner slices before outer ones. */
static void end_all(struct trace *t, int64_t fs)
{
    for (struct slice *s = t->last; s; s = s->before)
        if (s->shown)
            put_end(t, s, fs);
    end_counts(t, fs);
}

/* The file is full: what it has is ended now. */
static void stop(struct trace *t)
{
    if (t->stopped)
        return;
    t->stopped = true;
    t->stopped_fs = t->now_fs;
    end_all(t, t->now_fs);
}

static bool put_track(struct trace *t, struct trace_track *track, const struct trace_track *parent,
                      uint32_t chiplet)
{
    if (track->id)
        return true;
    track->id = ++t->n_tracks;
    track->parent = parent;
    track->chiplet = chiplet ? chiplet : track->id;
    if (!t->file.format->track(&t->file, track))
        stop(t);
    return !t->stopped;
}

static bool put_chiplet(struct trace *t, struct group *c)
{
    return put_track(t, &t->top, NULL, 0) && put_track(t, &c->track, &t->top, 0);
}

static bool put_lane(struct trace *t, struct component *c, struct lane *lane)
{
    struct lane *first = c->lane[0];
    uint32_t chiplet;

    if (lane->track.id)
        return true;
    if (!put_chiplet(t, c->chiplet))
        return false;
    chiplet = c->chiplet->track.id;
    return put_track(t, &first->track, &c->chiplet->track, chiplet) &&
           put_track(t, &lane->track, &first->track, chiplet);
}

/* -- the begin of a slice ------------------------------------------------------------------- */

struct notes {
    struct trace_note note[TRACE_NOTES_MAX];
    size_t n;
};

static void note_text(struct notes *n, struct trace_text *key, struct trace_text *text)
{
    if (text)
        n->note[n->n++] = (struct trace_note){.type = NOTE_TEXT, .key = key, .text = text};
}

static void note_count(struct notes *n, struct trace_text *key, uint64_t count)
{
    n->note[n->n++] = (struct trace_note){.type = NOTE_COUNT, .key = key, .count = count};
}

static void note_id(struct notes *n, struct trace_text *key, uint32_t id)
{
    if (id != KB_NO_ID)
        note_count(n, key, id);
}

static void make_notes(const struct trace *t, const struct about *a, struct notes *n)
{
    n->n = 0;
    note_id(n, t->word.id, a->id);
    note_text(n, t->word.op, a->op);
    note_text(n, t->word.source, a->source);
    note_text(n, t->word.target, a->target);
    if (a->nbytes > 0)
        note_count(n, t->word.nbytes, a->nbytes);
    note_id(n, t->word.command, a->command);
    note_id(n, t->word.tile, a->token);
    note_text(n, t->word.at, a->at);
    note_text(n, t->word.region, a->region);
    if (a->waited_fs == 0)
        return;
    n->note[n->n++] =
        (struct trace_note){.type = NOTE_NS, .key = t->word.waited, .fs = a->waited_fs};
    note_text(n, t->word.behind, a->behind);
    note_id(n, t->word.behind_id, a->behind_id);
}

static void put_begin(struct trace *t, struct slice *s)
{
    struct notes notes;
    struct trace_begin begin = {.track = &s->lane->track,
                                .fs = s->begin_fs,
                                .name = s->name,
                                .notes = notes.note,
                                .flow = {s->flow[0], s->flow[1]},
                                .flow_begins = s->flow_begins,
                                .flow_ends = s->flow_ends};

    if (t->stopped || !s->component->shown || s->begin_fs >= t->to_fs ||
        !put_lane(t, s->component, s->lane))
        return;
    make_notes(t, &s->about, &notes);
    begin.n_notes = notes.n;
    t->file.reserve += t->file.format->end_bytes;
    if (t->file.format->begin(&t->file, &begin)) {
        s->shown = true;
        return;
    }
    t->file.reserve -= t->file.format->end_bytes;
    stop(t);
}

/* -- time ----------------------------------------------------------------------------------- */

static bool put_count_track(struct trace *t, struct count *c)
{
    if (c->track.id)
        return true;
    if (!c->chiplet)
        return put_track(t, &t->top, NULL, 0) && put_track(t, &c->track, &t->top, t->top.id);
    return put_chiplet(t, c->chiplet) &&
           put_track(t, &c->track, &c->chiplet->track, c->chiplet->track.id);
}

/* Shows what has changed at this instant, once. */
static void flush_counts(struct trace *t, int64_t fs)
{
    struct count *next;

    for (struct count *c = t->dirty; c; c = next) {
        next = c->next_dirty;
        c->dirty = false;
        if (!t->opened || t->closed || t->stopped || c->value == c->shown)
            continue;
        if (put_count_track(t, c) && !put_count(t, c, c->value, fs))
            stop(t);
    }
    t->dirty = NULL;
}

static void make_dirty(struct trace *t, struct count *c)
{
    if (c->dirty)
        return;
    c->dirty = true;
    c->next_dirty = t->dirty;
    t->dirty = c;
}

/* The window begins: with all that is open, and the numbers as they are. */
static void open_window(struct trace *t)
{
    t->opened = true;
    for (struct slice *s = t->first; s; s = s->after)
        put_begin(t, s);
    for (struct count *c = t->counts; c; c = c->next)
        make_dirty(t, c);
    flush_counts(t, t->from_fs);
}

/* Numbers end with the window; slices that are open go on to their end. */
static void close_window(struct trace *t)
{
    t->closed = true;
    if (!t->stopped)
        end_counts(t, t->to_fs);
}

/* All that happens at now_fs has been told. */
static void go_to(struct trace *t, int64_t fs)
{
    if (fs <= t->now_fs)
        return;
    if (fs < INT64_MAX)
        t->last_fs = fs;
    flush_counts(t, t->now_fs);
    if (!t->opened && fs > t->from_fs)
        open_window(t);
    if (!t->closed && fs >= t->to_fs)
        close_window(t);
    t->now_fs = fs;
}

static void add(struct trace *t, struct count *c, int64_t n)
{
    if (c) {
        c->value += n;
        make_dirty(t, c);
    }
}

/* -- flights and slices --------------------------------------------------------------------- */

static void *lost(struct trace *t)
{
    t->no_memory = true;
    return NULL;
}

/* NULL without memory. */
static struct flight *flight_of(struct trace *t, uint64_t key)
{
    struct flight *f = map_get(&t->flights, key);

    if (f)
        return f;
    f = t->free_flights;
    if (f)
        t->free_flights = f->next_free;
    else
        f = malloc(sizeof *f);
    if (!f)
        return lost(t);
    *f = (struct flight){.key = key};
    if (map_put(&t->flights, key, f))
        return f;
    free(f);
    return lost(t);
}

/* It has ended, once its slices have. NULL is none. */
static void end_flight(struct trace *t, struct flight *f)
{
    if (!f)
        return;
    f->ended = true;
    if (f->slices)
        return;
    map_remove(&t->flights, f->key);
    f->next_free = t->free_flights;
    t->free_flights = f;
}

/* A slice of `f` on `lane`, which is not in the file yet. NULL without memory. */
static struct slice *add_slice(struct trace *t, struct flight *f, struct component *c,
                               struct lane *lane, int64_t begin_fs)
{
    struct slice *s = t->free_slices;

    if (s)
        t->free_slices = s->next;
    else
        s = malloc(sizeof *s);
    if (!s)
        return lost(t);
    *s = (struct slice){.component = c, .lane = lane, .begin_fs = begin_fs, .next = f->slices};
    s->about = (struct about){.id = KB_NO_ID, .command = KB_NO_ID, .token = KB_NO_ID};
    f->slices = s;
    s->before = t->last;
    if (t->last)
        t->last->after = s;
    else
        t->first = s;
    t->last = s;
    return s;
}

/* All is known of `s`. Before the window it waits for that. */
static void begin_slice(struct trace *t, struct slice *s)
{
    if (!s->name) {
        t->no_memory = true;
        return;
    }
    if (t->opened)
        put_begin(t, s);
}

static void unlink_slice(struct trace *t, struct flight *f, struct slice *s)
{
    struct slice **p = &f->slices;

    while (*p != s)
        p = &(*p)->next;
    *p = s->next;
    if (s->before)
        s->before->after = s->after;
    else
        t->first = s->after;
    if (s->after)
        s->after->before = s->before;
    else
        t->last = s->before;
    s->next = t->free_slices;
    t->free_slices = s;
}

static void end_slice(struct trace *t, struct flight *f, struct slice *s, int64_t fs)
{
    if (s->shown)
        put_end(t, s, fs);
    if (!s->nested)
        lanes_release(s->component, s->lane, fs);
    unlink_slice(t, f, s);
    if (f->ended)
        end_flight(t, f);
}

static struct slice *find_slice(const struct flight *f, const struct component *c, bool service)
{
    struct slice *s = f->slices;

    while (s && (s->component != c || s->service != service))
        s = s->next;
    return s;
}

/* -- numbers -------------------------------------------------------------------------------- */

static struct count *add_count(struct trace *t, const char *name, int64_t full)
{
    struct count *c = calloc(1, sizeof *c + strlen(name) + 8);

    if (!c)
        return lost(t);
    c->track = (struct trace_track){.kind = full ? TRACK_PERCENT : TRACK_COUNT};
    c->track.name = strcat(strcpy((char *)(c + 1), name), full ? "" : " queue");
    c->full = full;
    c->next = t->counts;
    t->counts = c;
    return c;
}

/* How many wait for a station. NULL: it is not shown. */
static struct count *waiting_at(struct trace *t, struct component *c)
{
    if (!c->shown || t->stopped)
        return NULL;
    if (!c->waiting) {
        c->waiting = add_count(t, c->name, 0);
        if (c->waiting)
            c->waiting->chiplet = c->chiplet;
    }
    return c->waiting;
}

/* How much of its class is busy. */
static struct count *busy_of(struct trace *t, enum station_class station)
{
    static const char *const names[N_CLASSES] = {
        [CLASS_MEMORY] = "memories busy",      [CLASS_CHANNEL] = "PE DMA channels busy",
        [CLASS_LINK] = "links busy",           [CLASS_ENGINE] = "M_CPU engines busy",
        [CLASS_PE_ENGINE] = "PE engines busy", [CLASS_PORT] = "TCM ports busy",
    };

    if (station == CLASS_NONE || t->stopped)
        return NULL;
    if (!t->busy[station])
        t->busy[station] = add_count(t, names[station], lanes_total(&t->lanes, station));
    return t->busy[station];
}

/* -- transactions --------------------------------------------------------------------------- */

/* The second flow of a stage: that of its tile or command. */
static uint64_t command_flow(uint32_t command, uint32_t token)
{
    return command == KB_NO_ID ? 0 : ((uint64_t)command + 1) << 32 | (uint32_t)(token + 1);
}

static void set_flow(struct flight *f, struct slice *s, const kb_service *work)
{
    s->flow[0] = (uint64_t)(work->message == KB_NO_ID ? work->id : work->message) + 1;
    s->flow[1] = command_flow(work->command, work->token);
    s->flow_begins = !f->seen && work->message == KB_NO_ID;
    f->seen = true;
}

/* What a service and a span have in common. */
static void set_about(struct trace *t, struct slice *s, const kb_service *work)
{
    s->about.id = work->id;
    s->about.op = lanes_text(&t->lanes, work->what);
    s->about.source = lanes_end_name(&t->lanes, work->source);
    if (work->target != KB_NOWHERE)
        s->about.target = lanes_end_name(&t->lanes, work->target);
    s->about.nbytes = work->nbytes;
    s->about.command = work->command == work->id ? KB_NO_ID : work->command;
    s->about.token = work->token;
}

/* A channel belongs to the source: what counts is where it goes. */
static kb_place shown_end(const kb_service *work)
{
    kb_place_kind kind = kb_place_kind_of(work->place);

    return kind == KB_AT_CHANNEL || kind == KB_AT_PORT ? work->target : work->source;
}

static void set_wait(struct flight *f, struct slice *s, kb_place place)
{
    if (f->waited_at != place)
        return;
    s->about.waited_fs = f->waited_fs;
    s->about.behind = f->behind;
    s->about.behind_id = f->behind_id;
    f->waited_at = KB_NOWHERE;
}

/* The last step of a transaction that is known to be: the memory of a PE's, a host's response. */
static bool is_last(const kb_service *work, bool service)
{
    kb_place_kind at = kb_place_kind_of(work->place);
    bool host = kb_place_kind_of(work->source) == KB_AT_HOST;

    if (strcmp(work->what, "ipcq_copy") == 0)
        return false; /* what takes it goes on with it */
    return host ? at == KB_AT_HOST : service && at == KB_AT_MEMORY;
}

/* A slice on a lane of its own. */
static void begin_work(struct trace *t, const kb_service *work, bool service, bool passing)
{
    struct flight *f = flight_of(t, work->id);
    struct component *c = lanes_at(&t->lanes, work->place, passing);
    struct lane *lane = c ? lanes_take(&t->lanes, c, 0, work->begin_fs) : NULL;
    struct slice *s = f && lane ? add_slice(t, f, c, lane, work->begin_fs) : NULL;

    if (!s)
        return;
    s->service = service;
    s->name = lanes_label(&t->lanes, work->what, shown_end(work));
    set_about(t, s, work);
    set_flow(f, s, work);
    s->flow_ends = is_last(work, service);
    set_wait(f, s, work->place);
    begin_slice(t, s);
}

static struct trace_text *cause_text(const struct trace *t, kb_cause cause)
{
    switch (cause) {
    case KB_CAUSE_DRAIN:
        return t->word.drain;
    case KB_CAUSE_COMPUTE:
        return t->word.compute;
    default:
        return t->word.overhead;
    }
}

/* Is it all of the service `in`? Of an engine without overhead the work is. */
static bool is_whole(const struct slice *in, const kb_span *span)
{
    return span->cause == KB_CAUSE_PORT ||
           (span->cause == KB_CAUSE_COMPUTE && span->begin_fs == in->begin_fs);
}

/* A part of the service `in`. */
static void begin_part(struct trace *t, struct flight *f, const struct slice *in,
                       const kb_span *span)
{
    struct slice *s = add_slice(t, f, in->component, in->lane, span->begin_fs);

    if (!s)
        return;
    s->nested = true;
    s->name = cause_text(t, span->cause);
    begin_slice(t, s);
}

static bool is_wait(kb_cause cause)
{
    switch (cause) {
    case KB_CAUSE_CHANNEL_WAIT:
    case KB_CAUSE_LINK_WAIT:
    case KB_CAUSE_ENGINE_WAIT:
    case KB_CAUSE_MEMORY_WAIT:
    case KB_CAUSE_PORT_WAIT:
    case KB_CAUSE_QUEUE_WAIT:
    case KB_CAUSE_BARRIER_WAIT:
        return true;
    default:
        return false;
    }
}

/* With fifo, a link has the heads that pass it beside the transactions that hold it. */
static bool is_passing(const struct trace *t, const kb_span *span)
{
    return t->lanes.fifo && kb_place_kind_of(span->place) == KB_AT_LINK;
}

static void open_wait(struct trace *t, const kb_span *span, int64_t n)
{
    struct component *c = lanes_at(&t->lanes, span->place, false);

    if (c)
        add(t, waiting_at(t, c), n);
}

/* For another PE, which is seen in the command that waits. */
static bool is_for_pe(const kb_span *span)
{
    return span->cause == KB_CAUSE_QUEUE_WAIT || span->cause == KB_CAUSE_BARRIER_WAIT;
}

static void open_pe_wait(struct trace *t, const kb_span *span)
{
    struct flight *f = map_get(&t->flights, COMMAND_KEY | span->command);
    struct slice *in = f ? f->slices : NULL, *s;

    while (in && !in->service)
        in = in->next;
    s = in ? add_slice(t, f, in->component, in->lane, span->begin_fs) : NULL;
    if (!s)
        return;
    s->nested = true;
    s->name = span->behind == KB_NOWHERE ? t->word.wait
                                         : lanes_label(&t->lanes, "wait for", span->behind);
    begin_slice(t, s);
}

static void close_pe_wait(struct trace *t, const kb_span *span)
{
    struct flight *f = map_get(&t->flights, COMMAND_KEY | span->command);
    struct slice *s = f ? f->slices : NULL;

    while (s && (s->service || !s->nested))
        s = s->next;
    if (s)
        end_slice(t, f, s, span->end_fs);
}

static void open_span(struct trace *t, const kb_span *span)
{
    struct flight *f = map_get(&t->flights, span->id);
    struct component *c = lanes_at(&t->lanes, span->place, is_passing(t, span));
    struct slice *in = f && c ? find_slice(f, c, true) : NULL;
    kb_service work = {.id = span->id,
                       .command = span->command,
                       .token = span->token,
                       .what = span->what,
                       .source = span->source,
                       .target = span->target,
                       .nbytes = span->nbytes,
                       .message = span->message,
                       .place = span->place,
                       .begin_fs = span->begin_fs};

    if (in && !is_whole(in, span))
        begin_part(t, f, in, span);
    else if (c && !in)
        begin_work(t, &work, false, is_passing(t, span));
}

/* How long it took is what the station's slice will say. */
static void close_wait(struct trace *t, const kb_span *span)
{
    struct flight *f = flight_of(t, span->id);

    open_wait(t, span, -1);
    if (!f)
        return;
    f->waited_at = span->place;
    f->waited_fs = span->end_fs - span->begin_fs;
    f->behind = span->behind ? lanes_end_name(&t->lanes, span->behind) : NULL;
    f->behind_id = span->behind_id;
}

static void close_span(struct trace *t, const kb_span *span)
{
    struct flight *f = map_get(&t->flights, span->id);
    struct component *c = lanes_at(&t->lanes, span->place, is_passing(t, span));
    struct slice *s = f && c ? find_slice(f, c, false) : NULL;

    if (s)
        end_slice(t, f, s, span->end_fs);
}

static void take(struct trace *t, const kb_service *service)
{
    struct component *c = lanes_at(&t->lanes, service->place, false);

    begin_work(t, service, true, false);
    if (c && !t->cli->opts.trace_filter)
        add(t, busy_of(t, c->station), 1);
}

static void release(struct trace *t, const kb_service *service)
{
    struct flight *f = map_get(&t->flights, service->id);
    struct component *c = lanes_at(&t->lanes, service->place, false);
    struct slice *s = f && c ? find_slice(f, c, true) : NULL;

    if (c && !t->cli->opts.trace_filter)
        add(t, busy_of(t, c->station), -1);
    if (s)
        end_slice(t, f, s, service->end_fs);
}

/* -- what is told --------------------------------------------------------------------------- */

static bool before(const struct early *a, const struct early *b)
{
    return a->fs != b->fs ? a->fs < b->fs : a->seq < b->seq;
}

static void push_early(struct trace *t, const struct early *told)
{
    struct early e = *told;
    size_t i = t->n_early;

    if (t->n_early == t->early_room) {
        size_t room = t->early_room ? 2 * t->early_room : 64;
        struct early *more = realloc(t->early, room * sizeof *more);

        if (!more) {
            t->no_memory = true;
            return;
        }
        t->early = more;
        t->early_room = room;
    }
    e.seq = t->n_told_early++;
    t->n_early++;
    while (i > 0 && before(&e, &t->early[(i - 1) / 2])) {
        t->early[i] = t->early[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    t->early[i] = e;
}

static struct early pop_early(struct trace *t)
{
    struct early first = t->early[0], e = t->early[--t->n_early];
    size_t i = 0, child;

    while ((child = 2 * i + 1) < t->n_early) {
        if (child + 1 < t->n_early && before(&t->early[child + 1], &t->early[child]))
            child++;
        if (!before(&t->early[child], &e))
            break;
        t->early[i] = t->early[child];
        i = child;
    }
    t->early[i] = e;
    return first;
}

static void happen(struct trace *t, const struct early *e)
{
    go_to(t, e->fs);
    switch (e->kind) {
    case TOLD_OPEN:
        if (is_for_pe(&e->span))
            open_pe_wait(t, &e->span);
        else if (is_wait(e->span.cause))
            open_wait(t, &e->span, 1);
        else
            open_span(t, &e->span);
        break;
    case TOLD_CLOSE:
        if (is_for_pe(&e->span))
            close_pe_wait(t, &e->span);
        else if (is_wait(e->span.cause))
            close_wait(t, &e->span);
        else
            close_span(t, &e->span);
        break;
    case TOLD_TAKE:
        take(t, &e->service);
        break;
    case TOLD_RELEASE:
        release(t, &e->service);
        break;
    case TOLD_END:
        end_flight(t, map_get(&t->flights, e->span.id));
        break;
    }
}

/* It is `fs`: what was told before its time, and is due now, comes first. */
static void come_to(struct trace *t, int64_t fs)
{
    while (t->n_early > 0 && t->early[0].fs <= fs) {
        struct early e = pop_early(t);

        happen(t, &e);
    }
    go_to(t, fs);
}

/* Has memory run out? Nothing more is taken down then. */
static bool is_lost(struct trace *t)
{
    t->no_memory = t->no_memory || t->lanes.no_memory;
    return t->no_memory;
}

/* What will be may be told of links with fifo, of a memory's overhead, and of a response. */
static bool may_be_early(const struct trace *t, const struct early *e, kb_place place)
{
    bool overhead = e->kind == TOLD_CLOSE && e->span.cause == KB_CAUSE_OVERHEAD;
    bool drain = e->kind == TOLD_OPEN && e->span.cause == KB_CAUSE_DRAIN;

    switch (kb_place_kind_of(place)) {
    case KB_AT_LINK:
        return t->lanes.fifo;
    case KB_AT_HOST:
        return true;
    case KB_AT_MEMORY:
    case KB_AT_PORT:
        return overhead || drain;
    default:
        return false;
    }
}

static void tell(struct trace *t, const struct early *e, kb_place place)
{
    if (is_lost(t))
        return;
    if (e->fs > t->now_fs && may_be_early(t, e, place)) {
        push_early(t, e);
        return;
    }
    come_to(t, e->fs);
    happen(t, e);
}

static void on_open(void *arg, const kb_span *span)
{
    struct early e = {.fs = span->begin_fs, .kind = TOLD_OPEN, .span = *span};

    tell(arg, &e, span->place);
}

static void on_close(void *arg, const kb_span *span)
{
    struct early e = {.fs = span->end_fs, .kind = TOLD_CLOSE, .span = *span};

    tell(arg, &e, span->place);
}

static void on_take(void *arg, const kb_service *service)
{
    struct early e = {.fs = service->begin_fs, .kind = TOLD_TAKE, .service = *service};
    struct trace *t = arg;

    tell(t, &e, service->place);
    if (service->end_fs < 0 || t->no_memory)
        return;
    e.fs = service->end_fs; /* of a link: known already, and not told again */
    e.kind = TOLD_RELEASE;
    push_early(t, &e);
}

static void on_release(void *arg, const kb_service *service)
{
    struct early e = {.fs = service->end_fs, .kind = TOLD_RELEASE, .service = *service};

    tell(arg, &e, service->place);
}

static void on_end(void *arg, const kb_span *last)
{
    struct early e = {.fs = last->end_fs, .kind = TOLD_END, .span = *last};

    tell(arg, &e, last->place);
}

/* -- kernels -------------------------------------------------------------------------------- */

/* A slice of a PE's own track. */
static struct slice *begin_of_pe(struct trace *t, struct flight *f, uint32_t pe, size_t first_lane,
                                 int64_t begin_fs, struct trace_text *name)
{
    struct component *c = lanes_of_pe(&t->lanes, pe);
    struct lane *lane = c ? lanes_take(&t->lanes, c, first_lane, begin_fs) : NULL;
    struct slice *s = f && lane ? add_slice(t, f, c, lane, begin_fs) : NULL;

    if (s)
        s->name = name;
    return s;
}

/* What is nested in the PE's kernel shares its lane. */
static struct slice *begin_in_kernel(struct trace *t, struct flight *f, uint32_t pe,
                                     int64_t begin_fs, struct trace_text *name)
{
    struct flight *kernel = map_get(&t->flights, KERNEL_KEY | pe);
    struct slice *in = kernel ? kernel->slices : NULL, *s;

    if (!in || !f)
        return NULL;
    s = add_slice(t, f, in->component, in->lane, begin_fs);
    if (!s)
        return NULL;
    s->nested = true;
    s->name = name;
    return s;
}

static void set_command(struct trace *t, struct slice *s, const kb_command *command)
{
    char at[KB_PLACE_BYTES + 256];

    snprintf(at, sizeof at, "%s:%d", command->file, command->line);
    s->about.id = command->id;
    s->about.op = lanes_text(&t->lanes, command->name);
    s->about.at = lanes_text(&t->lanes, at);
    if (command->region)
        s->about.region = lanes_text(&t->lanes, command->region);
    s->flow[1] = command_flow(command->id, KB_NO_ID);
}

/* From its call to its issue a command keeps its kernel waiting, whether or not it is awaited. */
static void show_dispatch(struct trace *t, struct flight *f, const kb_command *command)
{
    struct slice *s =
        begin_in_kernel(t, f, command->pe, command->call_fs,
                        command->async ? lanes_text(&t->lanes, command->call) : t->word.dispatch);

    if (!s)
        return;
    if (command->async) {
        set_command(t, s, command);
        s->flow[1] = 0; /* the other slice has it */
    }
    begin_slice(t, s);
    end_slice(t, f, s, command->issue_fs);
}

/* Until its kernel goes on a send is a call like others, and beside that until its end. */
static void begin_send(struct trace *t, struct flight *f, const kb_command *send,
                       struct trace_text *name)
{
    struct slice *s = begin_in_kernel(t, f, send->pe, send->call_fs, name), *rest;

    if (!s)
        return;
    s->service = true;
    set_command(t, s, send);
    s->flow[1] = 0; /* the other slice has it */
    begin_slice(t, s);
    show_dispatch(t, f, send);
    rest = begin_of_pe(t, f, send->pe, 1, send->issue_fs, name);
    if (!rest)
        return;
    set_command(t, rest, send);
    begin_slice(t, rest);
}

static void on_go_on(void *arg, const kb_command *send)
{
    struct trace *t = arg;
    struct flight *f;
    struct slice *s;

    if (is_lost(t))
        return;
    come_to(t, send->return_fs);
    f = map_get(&t->flights, COMMAND_KEY | send->id);
    for (s = f ? f->slices : NULL; s && !s->service;)
        s = s->next;
    if (s)
        end_slice(t, f, s, send->return_fs);
}

static void on_issue(void *arg, const kb_command *command)
{
    struct trace *t = arg;
    struct flight *f;
    struct trace_text *name;
    struct slice *s;

    if (is_lost(t))
        return;
    come_to(t, command->issue_fs);
    f = flight_of(t, COMMAND_KEY | command->id);
    name = lanes_text(&t->lanes, command->call);
    if (strcmp(command->name, "send") == 0) {
        begin_send(t, f, command, name);
        return;
    }
    if (command->async)
        show_dispatch(t, f, command);
    s = command->async ? begin_of_pe(t, f, command->pe, 1, command->issue_fs, name)
                       : begin_in_kernel(t, f, command->pe, command->call_fs, name);
    if (!s)
        return;
    s->service = true;
    set_command(t, s, command);
    begin_slice(t, s);
    if (!command->async)
        show_dispatch(t, f, command);
}

/* Ends a flight that has one slice. */
static void end_only(struct trace *t, uint64_t key, int64_t fs)
{
    struct flight *f;

    if (is_lost(t))
        return;
    come_to(t, fs);
    f = map_get(&t->flights, key);
    if (!f)
        return;
    f->ended = true;
    if (f->slices)
        end_slice(t, f, f->slices, fs);
    else
        end_flight(t, f);
}

static void on_finish(void *arg, const kb_command *command)
{
    end_only(arg, COMMAND_KEY | command->id, command->end_fs);
}

static void on_start(void *arg, const kb_kernel_run *run)
{
    struct trace *t = arg;
    struct slice *s;

    if (is_lost(t))
        return;
    come_to(t, run->start_fs);
    s = begin_of_pe(t, flight_of(t, KERNEL_KEY | run->pe), run->pe, 0, run->start_fs,
                    lanes_text(&t->lanes, run->kernel));
    if (s)
        begin_slice(t, s);
}

static void on_leave(void *arg, const kb_kernel_run *run)
{
    end_only(arg, KERNEL_KEY | run->pe, run->end_fs);
}

kb_observer trace_callbacks(struct trace *trace)
{
    return (kb_observer){.arg = trace,
                      .open = on_open,
                      .close = on_close,
                      .take = on_take,
                      .release = on_release,
                      .end = on_end,
                      .issue = on_issue,
                      .finish = on_finish,
                      .start = on_start,
                      .leave = on_leave,
                      .go_on = on_go_on};
}

kb_status trace_watch(struct trace *trace, kb_sim *sim, kb_error *why)
{
    kb_observer watch;

    if (!trace)
        return KB_OK;
    watch = trace_callbacks(trace);
    return kb_sim_observe(sim, &watch, why);
}

/* -- begin and end -------------------------------------------------------------------------- */

static void trace_free(struct trace *t)
{
    while (t->first) {
        struct slice *next = t->first->after;

        free(t->first);
        t->first = next;
    }
    while (t->free_slices) {
        struct slice *next = t->free_slices->next;

        free(t->free_slices);
        t->free_slices = next;
    }
    while (t->free_flights) {
        struct flight *next = t->free_flights->next_free;

        free(t->free_flights);
        t->free_flights = next;
    }
    for (size_t i = 0; i < t->flights.room; i++)
        free(t->flights.entry[i].value);
    while (t->counts) {
        struct count *next = t->counts->next;

        free(t->counts);
        t->counts = next;
    }
    map_free(&t->flights);
    lanes_free(&t->lanes);
    free(t->early);
    free(t);
}

/* Words that every timeline has. */
static void make_words(struct trace *t)
{
    struct lanes *l = &t->lanes;

    t->word.id = lanes_text(l, "id");
    t->word.op = lanes_text(l, "op");
    t->word.source = lanes_text(l, "source");
    t->word.target = lanes_text(l, "target");
    t->word.nbytes = lanes_text(l, "nbytes");
    t->word.command = lanes_text(l, "command");
    t->word.tile = lanes_text(l, "tile");
    t->word.waited = lanes_text(l, "waited_ns");
    t->word.behind = lanes_text(l, "behind");
    t->word.behind_id = lanes_text(l, "behind_id");
    t->word.at = lanes_text(l, "at");
    t->word.region = lanes_text(l, "region");
    t->word.overhead = lanes_text(l, "overhead");
    t->word.drain = lanes_text(l, "drain");
    t->word.compute = lanes_text(l, "compute");
    t->word.dispatch = lanes_text(l, "dispatch");
    t->word.wait = lanes_text(l, "wait");
}

/* The formats by their suffixes; opts.c has refused all others. */
static const struct trace_format *format_of(const char *path)
{
    size_t n = strlen(path), m = strlen(trace_json.suffix);

    return n >= m && strcmp(path + n - m, trace_json.suffix) == 0 ? &trace_json : &trace_perfetto;
}

static enum exit_code begin_file(struct trace *t)
{
    const struct opts *o = &t->cli->opts;
    enum exit_code code = sink_open(&t->file.sink, t->cli->program, o->trace);

    if (code)
        return code;
    t->file.max_bytes = o->trace_max_bytes ? o->trace_max_bytes : UINT64_MAX;
    t->file.reserve = t->file.format->tail_bytes;
    if (!t->file.format->head(&t->file))
        stop(t);
    return EXIT_OK;
}

enum exit_code trace_open(struct trace **out, const struct cli *cli)
{
    const struct opts *o = &cli->opts;
    const struct trace_format *format = o->trace ? format_of(o->trace) : NULL;
    enum exit_code code;
    struct trace *t;

    *out = NULL;
    if (!o->trace)
        return EXIT_OK;
    if (!format->available)
        return say(cli->program, EXIT_SYSTEM, "cannot write %s: this build has no protobuf-c",
                   o->trace);
    t = calloc(1, sizeof *t);
    if (!t)
        return cmd_fail(cli, KB_NO_MEMORY, NULL);
    t->cli = cli;
    t->file.format = format;
    t->from_fs = o->trace_from_fs;
    t->to_fs = o->trace_to_fs ? o->trace_to_fs : INT64_MAX;
    t->opened = t->from_fs == 0;
    snprintf(t->top_name, sizeof t->top_name, "%s: 1 ms shown is 1 ns simulated", cli->info.name);
    t->top = (struct trace_track){.kind = TRACK_TOP, .name = t->top_name};
    t->no_memory = !lanes_init(&t->lanes, cli->topo, o->trace_filter);
    make_words(t);
    code = is_lost(t) ? cmd_fail(cli, KB_NO_MEMORY, NULL) : begin_file(t);
    if (code)
        trace_free(t);
    else
        *out = t;
    return code;
}

/* Have all ended, or is it known when they will? */
static bool all_end(const struct trace *t)
{
    size_t n = t->flights.n;

    for (size_t i = 0; i < t->flights.room; i++) {
        const struct flight *f = t->flights.entry[i].value;

        n -= f && f->ended;
    }
    for (size_t i = 0; i < t->n_early; i++)
        n -= t->early[i].kind == TOLD_END;
    return n == 0;
}

/* Of a run that was ended early, what is known beyond this instant is not shown. */
/* What is open ends where the run has: at --until, or at the last event. */
static void finish(struct trace *t, enum exit_code code)
{
    const struct opts *o = &t->cli->opts;

    if (all_end(t))
        come_to(t, INT64_MAX);
    else if (code != EXIT_INTERRUPTED && !o->max_events && o->until_fs > t->now_fs)
        come_to(t, o->until_fs);
    if (t->opened && !t->stopped)
        end_all(t, t->now_fs);
}

/* What stderr says of a timeline that is not what was expected. */
static void say_end(const struct trace *t)
{
    const struct opts *o = &t->cli->opts;
    const struct lanes *l = &t->lanes;

    if (o->quiet)
        return;
    for (size_t i = 0; i < l->n_patterns; i++)
        if (!l->matched[i])
            fprintf(stderr, "--trace-filter: nothing happened in '%s'\n", l->pattern[i]);
    if (t->from_fs > 0 && t->last_fs <= t->from_fs)
        fprintf(stderr, "--trace-from: %s is empty, all ended at %" PRId64 ".%06" PRId64 " ns\n",
                o->trace, t->last_fs / KB_FS_PER_NS, t->last_fs % KB_FS_PER_NS);
    if (t->stopped)
        fprintf(stderr,
                "%s ends at %" PRId64 ".%06" PRId64 " ns: more is longer than %" PRIu64 " bytes\n",
                o->trace, t->stopped_fs / KB_FS_PER_NS, t->stopped_fs % KB_FS_PER_NS,
                t->file.max_bytes);
}

enum exit_code trace_close(struct trace *t, enum exit_code code)
{
    enum exit_code closed;
    bool keep = cmd_is_kept(code);

    if (!t)
        return code;
    if (!is_lost(t))
        finish(t, code);
    if (is_lost(t) && keep)
        closed = cmd_fail(t->cli, KB_NO_MEMORY, NULL);
    else
        closed = EXIT_OK;
    t->file.reserve = 0;
    if (keep && !closed)
        t->file.format->tail(&t->file);
    enum exit_code written = sink_close(&t->file.sink, t->cli->program, keep && !closed);
    if (keep && !closed && !written)
        say_end(t);
    trace_free(t);
    return closed ? closed : written ? written : code;
}
