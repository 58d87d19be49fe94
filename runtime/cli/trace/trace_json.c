/*
 * trace_json.c -- timelines as Chrome's JSON trace events.
 *
 * A chiplet is a process (pid), a track of it a thread (tid). "ts" is in microseconds; we write
 * three decimals, and the last stands for 1 fs: 2.085 ns is 2085.000, which a viewer shows as 2.085
 * ms. JSON has one name per event and no interning, so files are about three times as long as
 * Perfetto's.
 *
 * Example, the first read of `run gemm` on cube8 begins on two lanes, its channel and its memory,
 * at 30.83625 ns (some members left out):
 *
 *     {"ph":"B","pid":2,"tid":75,"ts":30836.250,"name":"dma_read c0.slice0","args":{"id":0,...}}
 *     {"ph":"s","pid":2,"tid":75,"ts":30836.250,"id":1,"bp":"e",...}
 *     {"ph":"B","pid":2,"tid":76,"ts":30836.250,"name":"dma_read c0.pe0","args":{"id":0,...}}
 *     {"ph":"t","pid":2,"tid":76,"ts":30836.250,"id":1,"bp":"e",...}
 *
 * That run has 60647 events in 5.9 MB.
 */
#include "kernbench.h"
#include "base/text.h"
#include "cli/trace/trace_out.h"
#include <stdio.h>

enum {
    EVENT_BYTES = 8192, /* more than any of ours */
    TEXT_MAX = 512,     /* of an escaped text; the rest is cut off */
};

/* Nearly all characters stand for themselves. */
static bool is_plain(char c)
{
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

static char *put_json(char *to, const char *text)
{
    char *end = to + TEXT_MAX;

    *to++ = '"';
    while (*text && to < end)
        if (is_plain(*text))
            *to++ = *text++;
        else
            to = text_put_json(to, &text);
    *to++ = '"';
    return to;
}

static char *put_ts(char *to, int64_t fs)
{
    int digits = (int)(fs % 1000);

    to = text_put_count(to, (uint64_t)(fs / 1000));
    *to++ = '.';
    *to++ = (char)('0' + digits / 100);
    *to++ = (char)('0' + digits / 10 % 10);
    *to++ = (char)('0' + digits % 10);
    return to;
}

static char *put_track_ids(char *to, const struct trace_track *track)
{
    to = text_put_count(text_put_text(to, ",\"pid\":"), track->chiplet);
    return text_put_count(text_put_text(to, ",\"tid\":"), track->id);
}

/* The head is written first. There is a comma before each event from the second on. */
static char *put_kind(char *to, const struct trace_file *f, char kind,
                      const struct trace_track *track)
{
    to = text_put_text(to, f->n_written > 1 ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
    *to++ = kind;
    *to++ = '"';
    return put_track_ids(to, track);
}

static bool put_event(struct trace_file *f, const char *event, char *end)
{
    *end++ = '}';
    return trace_keep(f, (size_t)(end - event));
}

static bool put_head(struct trace_file *f)
{
    static const char head[] =
        "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"scale\":\"1 ms shown is 1 ns simulated\"},"
        "\"traceEvents\":[";

    text_put_text(trace_room(f, sizeof head), head);
    return trace_keep(f, sizeof head - 1);
}

static bool put_metadata(struct trace_file *f, const struct trace_track *track, const char *name)
{
    char *event = trace_room(f, EVENT_BYTES), *p = put_kind(event, f, 'M', track);

    p = text_put_text(text_put_text(text_put_text(p, ",\"name\":\""), name),
                      "\",\"args\":{\"name\":");
    p = put_json(p, track->name);
    *p++ = '}';
    return put_event(f, event, p);
}

static bool put_rank(struct trace_file *f, const struct trace_track *track)
{
    char *event = trace_room(f, EVENT_BYTES), *p = put_kind(event, f, 'M', track);

    p += sprintf(p, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%d}", track->rank);
    return put_event(f, event, p);
}

static bool put_track(struct trace_file *f, const struct trace_track *track)
{
    switch (track->kind) {
    case TRACK_TOP:
        return put_metadata(f, track, "process_name");
    case TRACK_CHIPLET:
        return put_metadata(f, track, "process_name") && put_rank(f, track);
    case TRACK_LANE:
        return put_metadata(f, track, "thread_name");
    case TRACK_COUNT:
    case TRACK_PERCENT:
        break; /* a counter has its name in each event */
    }
    return true;
}

static char *put_note(char *p, const struct trace_note *note)
{
    p = put_json(p, note->key->text);
    *p++ = ':';
    switch (note->type) {
    case NOTE_TEXT:
        return put_json(p, note->text->text);
    case NOTE_COUNT:
        return text_put_count(p, note->count);
    case NOTE_NS:
        return text_put_ns(p, note->fs);
    }
    return p;
}

/*
 * A step of a flow, behind the begin of its slice. Only flows of transactions are written: JSON
 * needs to know which step is the first ('s') and which the last ('f'). "bp":"e" binds a step to
 * the slice around it. A flow of one step has no arrow and is left out.
 */
static char *put_flow(char *p, const struct trace_begin *begin)
{
    char kind = begin->flow_begins ? 's' : begin->flow_ends ? 'f' : 't';

    if (begin->flow[0] == 0 || (begin->flow_begins && begin->flow_ends))
        return p;
    p = text_put_text(p, ",\n{\"ph\":\"");
    *p++ = kind;
    *p++ = '"';
    p = text_put_text(put_track_ids(p, begin->track), ",\"ts\":");
    p = text_put_count(text_put_text(put_ts(p, begin->fs), ",\"id\":"), begin->flow[0]);
    return text_put_text(p, ",\"bp\":\"e\",\"cat\":\"transaction\",\"name\":\"transaction\"}");
}

static bool put_begin(struct trace_file *f, const struct trace_begin *begin)
{
    char *event = trace_room(f, 2 * EVENT_BYTES), *p = put_kind(event, f, 'B', begin->track);

    p = put_ts(text_put_text(p, ",\"ts\":"), begin->fs);
    p = put_json(text_put_text(p, ",\"name\":"), begin->name->text);
    p = text_put_text(p, ",\"args\":{");
    for (size_t i = 0; i < begin->n_notes; i++) {
        if (i > 0)
            *p++ = ',';
        p = put_note(p, &begin->notes[i]);
    }
    p = put_flow(text_put_text(p, "}}"), begin);
    return trace_keep(f, (size_t)(p - event));
}

static bool put_end(struct trace_file *f, const struct trace_track *track, int64_t fs)
{
    char *event = trace_room(f, EVENT_BYTES), *p = put_kind(event, f, 'E', track);

    return put_event(f, event, put_ts(text_put_text(p, ",\"ts\":"), fs));
}

static bool put_counter(struct trace_file *f, const struct trace_track *track, int64_t fs,
                        double value)
{
    char *event = trace_room(f, EVENT_BYTES), *p = put_kind(event, f, 'C', track);

    p = put_ts(text_put_text(p, ",\"ts\":"), fs);
    p = put_json(text_put_text(p, ",\"name\":"), track->name);
    p += text_format(p, 64, ",\"args\":{\"value\":%.*g}", 17, value);
    return put_event(f, event, p);
}

static bool put_tail(struct trace_file *f)
{
    static const char tail[] = "\n]}\n";

    text_put_text(trace_room(f, sizeof tail), tail);
    return trace_keep(f, sizeof tail - 1);
}

const struct trace_format trace_json = {.suffix = ".json",
                                        .available = true,
                                        .end_bytes = 96,
                                        .counter_bytes = 1024,
                                        .tail_bytes = 4,
                                        .head = put_head,
                                        .track = put_track,
                                        .begin = put_begin,
                                        .end = put_end,
                                        .counter = put_counter,
                                        .tail = put_tail};
