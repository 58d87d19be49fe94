/*
 * timeline.c -- writes slices, counters and tracks of a timeline, as far as the window shows them.
 *
 * The window is [--trace-from, --trace-to). A slice that overlaps it is written whole: slices that
 * are open when it begins are written then, with their true begin; those that are open when it ends
 * are ended when they end. Counters exist in the window only, and return to 0 at its end. A track
 * is written before its first slice, its parents before it.
 *
 * Invariants: each begin that is written has its end, for which room was reserved (trace.c
 * "Space"); a counter is written once for an instant, with its last value there; the slices of a
 * lane are nested or follow each other, since each lane is taken for one slice at a time.
 */
#include "cli/trace/timeline.h"
#include "cli/out/memory.h"
#include <stdlib.h>
#include <string.h>

/* -- slices and tracks ---------------------------------------------------------------------- */

/* The room that the end of a counter at `value` needs. */
static uint32_t reserve_of(const struct trace *t, int64_t value)
{
    return value != 0 ? t->file.format->counter_bytes : 0;
}

/*
 * Writes a counter. The end of the file needs room for its return to 0 from now on, unless it is 0.
 * Counters of classes are percentages of all stations of the machine. False: the file is full.
 */
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

void timeline_end(struct trace *t, struct slice *slice, int64_t fs)
{
    slice->shown = false;
    t->file.reserve -= t->file.format->end_bytes;
    t->file.format->end(&t->file, &slice->lane->track, fs);
}

void timeline_end_all(struct trace *t, int64_t fs)
{
    for (struct slice *s = t->last; s; s = s->before)
        if (s->shown)
            timeline_end(t, s, fs);
    end_counts(t, fs);
}

void timeline_stop(struct trace *t)
{
    if (t->stopped)
        return;
    t->stopped = true;
    t->stopped_fs = t->now_fs;
    timeline_end_all(t, t->now_fs);
}

/*
 * Writes a track once; its parents have been written. Numbers are given in order of writing, so
 * that a file with few slices has few tracks.
 */
static bool put_track(struct trace *t, struct trace_track *track, const struct trace_track *parent,
                      uint32_t chiplet)
{
    if (track->id)
        return true;
    track->id = ++t->n_tracks;
    track->parent = parent;
    track->chiplet = chiplet ? chiplet : track->id;
    if (!t->file.format->track(&t->file, track))
        timeline_stop(t);
    return !t->stopped;
}

static bool put_chiplet(struct trace *t, struct group *c)
{
    return put_track(t, &t->top, NULL, 0) && put_track(t, &c->track, &t->top, 0);
}

/* Further lanes of a component are children of its first: a viewer folds them away. */
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

/* In the order in which a viewer lists them. */
static void make_notes(const struct trace *t, const struct slice_notes *a, struct notes *n)
{
    n->n = 0;
    note_id(n, t->words.id, a->id);
    note_text(n, t->words.op, a->op);
    note_text(n, t->words.source, a->source);
    note_text(n, t->words.target, a->target);
    if (a->nbytes > 0)
        note_count(n, t->words.nbytes, a->nbytes);
    note_id(n, t->words.command, a->command);
    note_id(n, t->words.tile, a->token);
    note_text(n, t->words.at, a->at);
    note_text(n, t->words.region, a->region);
    if (a->bank) {
        note_count(n, a->bank, a->bank_number);
        note_count(n, a->row, a->row_number);
    }
    if (a->waited_fs == 0)
        return;
    n->note[n->n++] =
        (struct trace_note){.type = NOTE_NS, .key = t->words.waited, .fs = a->waited_fs};
    note_text(n, t->words.behind, a->behind);
    note_id(n, t->words.behind_id, a->behind_id);
}

void timeline_begin(struct trace *t, struct slice *s)
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
    timeline_stop(t);
}

/* -- the window and the time ---------------------------------------------------------------- */

/* A queue belongs to its chiplet, a class to the whole machine. */
static bool put_count_track(struct trace *t, struct count *c)
{
    if (c->track.id)
        return true;
    if (!c->chiplet)
        return put_track(t, &t->top, NULL, 0) && put_track(t, &c->track, &t->top, t->top.id);
    return put_chiplet(t, c->chiplet) &&
           put_track(t, &c->track, &c->chiplet->track, c->chiplet->track.id);
}

/* Writes the counters that changed at this instant. */
static void flush_counts(struct trace *t, int64_t fs)
{
    struct count *next;

    for (struct count *c = t->dirty; c; c = next) {
        next = c->next_dirty;
        c->dirty = false;
        if (!t->opened || t->closed || t->stopped || c->value == c->shown)
            continue;
        if (put_count_track(t, c) && !put_count(t, c, c->value, fs))
            timeline_stop(t);
    }
    t->dirty = NULL;
}

/* A counter can change several times in an instant. It is listed once, and written when time moves
 * on. */
static void make_dirty(struct trace *t, struct count *c)
{
    if (c->dirty)
        return;
    c->dirty = true;
    c->next_dirty = t->dirty;
    t->dirty = c;
}

/* The window begins with all slices that are open, and with the counters as they are. */
static void open_window(struct trace *t)
{
    t->opened = true;
    for (struct slice *s = t->first; s; s = s->after)
        timeline_begin(t, s);
    for (struct count *c = t->counts; c; c = c->next)
        make_dirty(t, c);
    flush_counts(t, t->from_fs);
}

/* Counters end with the window; open slices last until their own end. */
static void close_window(struct trace *t)
{
    t->closed = true;
    if (!t->stopped)
        end_counts(t, t->to_fs);
}

void timeline_advance(struct trace *t, int64_t fs)
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

void timeline_count(struct trace *t, struct count *c, int64_t n)
{
    if (c) {
        c->value += n;
        make_dirty(t, c);
    }
}

/* -- counters ------------------------------------------------------------------------------- */

static struct count *add_count(struct trace *t, const char *name, int64_t full)
{
    struct count *c = memory_new(1, sizeof *c + strlen(name) + 8);

    c->track = (struct trace_track){.kind = full ? TRACK_PERCENT : TRACK_COUNT};
    c->track.name = strcat(strcpy((char *)(c + 1), name), full ? "" : " queue");
    c->full = full;
    c->next = t->counts;
    t->counts = c;
    return c;
}

struct count *timeline_queue_of(struct trace *t, struct component *c)
{
    if (!c->shown || t->stopped)
        return NULL;
    if (!c->waiting) {
        c->waiting = add_count(t, c->name, 0);
        c->waiting->chiplet = c->chiplet;
    }
    return c->waiting;
}

struct count *timeline_busy_of(struct trace *t, enum station_class station)
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
