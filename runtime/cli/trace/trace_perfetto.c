/*
 * trace_perfetto.c -- timelines in Perfetto's format: a sequence of packed TracePackets.
 *
 * A text is interned: the packet that uses it first defines its number, later ones refer to that.
 * Names of slices, keys and values of notes have a list each, so a text can be defined three times.
 * The timestamp counts fs where Perfetto expects ns. perfetto.proto has the fields that are used.
 *
 * A packet is a track, or an event: the begin of a slice with its name, notes and flows, its end,
 * or the value of a counter. Packets of a sequence are read in order, so a text is always defined
 * before it is used. Flows need no first and last step here, unlike in trace_json.c, and a slice
 * may have several: that of its transaction, and that of its tile or command.
 *
 * `run gemm` on cube8 takes 1.9 MB, where JSON takes 5.9.
 */
#include "cli/trace/trace_out.h"

#ifdef KB_NO_PROTOBUF
const struct trace_format trace_perfetto = {.suffix = ".pftrace"};
#else
#include "kernbench.h"
#include "perfetto.pb-c.h"
#include <string.h>

enum { SEQUENCE = 1 }; /* all packets belong to one */

/* A Trace is a list of packets and nothing else, so traces of one packet can be concatenated. */
static bool put_packet(struct trace_file *f, Perfetto__TracePacket *packet)
{
    Perfetto__TracePacket *one[] = {packet};
    Perfetto__Trace trace = PERFETTO__TRACE__INIT;
    size_t n;

    packet->has_trusted_packet_sequence_id = packet->has_sequence_flags = true;
    packet->trusted_packet_sequence_id = SEQUENCE;
    packet->sequence_flags = PERFETTO__SEQUENCE_FLAGS__SEQ_NEEDS_INCREMENTAL_STATE;
    if (f->n_written == 0)
        packet->sequence_flags |= PERFETTO__SEQUENCE_FLAGS__SEQ_INCREMENTAL_STATE_CLEARED;
    trace.packet = one;
    trace.n_packet = 1;
    n = perfetto__trace__get_packed_size(&trace);
    perfetto__trace__pack(&trace, (uint8_t *)trace_room(f, n));
    return trace_keep(f, n);
}

static bool put_head(struct trace_file *f)
{
    (void)f;
    return true;
}

/* -- tracks --------------------------------------------------------------------------------- */

static void set_order(Perfetto__TrackDescriptor *d, const struct trace_track *track)
{
    d->has_child_ordering = track->kind <= TRACK_CHIPLET;
    d->child_ordering = track->kind == TRACK_TOP
                            ? PERFETTO__TRACK_DESCRIPTOR__CHILD_TRACKS_ORDERING__EXPLICIT
                            : PERFETTO__TRACK_DESCRIPTOR__CHILD_TRACKS_ORDERING__LEXICOGRAPHIC;
    d->has_sibling_order_rank = track->parent && track->parent->kind == TRACK_TOP;
    d->sibling_order_rank = track->rank;
}

static bool put_track(struct trace_file *f, const struct trace_track *track)
{
    Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
    Perfetto__TrackDescriptor descriptor = PERFETTO__TRACK_DESCRIPTOR__INIT;
    Perfetto__CounterDescriptor counter = PERFETTO__COUNTER_DESCRIPTOR__INIT;

    packet.track_descriptor = &descriptor;
    descriptor.has_uuid = true;
    descriptor.uuid = track->id;
    descriptor.name = (char *)track->name;
    descriptor.has_parent_uuid = track->parent != NULL;
    descriptor.parent_uuid = track->parent ? track->parent->id : 0;
    set_order(&descriptor, track);
    if (track->kind >= TRACK_COUNT)
        descriptor.counter = &counter;
    if (track->kind == TRACK_PERCENT)
        counter.unit_name = "%";
    return put_packet(f, &packet);
}

/* -- interned texts ------------------------------------------------------------------------- */

/* Texts that a packet defines beside its event. */
struct interning {
    Perfetto__InternedData data;
    Perfetto__EventName name, *names[1];
    Perfetto__DebugAnnotationName key[TRACE_NOTES_MAX], *keys[TRACE_NOTES_MAX];
    Perfetto__InternedString value[TRACE_NOTES_MAX], *values[TRACE_NOTES_MAX];
};

static void interning_begin(struct interning *t)
{
    t->data = (Perfetto__InternedData)PERFETTO__INTERNED_DATA__INIT;
    t->data.event_names = t->names;
    t->data.debug_annotation_names = t->keys;
    t->data.debug_annotation_string_values = t->values;
}

/* True once for each text and list. */
static bool is_new(struct trace_text *text, enum trace_interned list)
{
    bool known = text->interned & list;

    text->interned |= (uint8_t)list;
    return !known;
}

static uint64_t intern_name(struct interning *t, struct trace_text *text)
{
    if (is_new(text, INTERNED_NAME)) {
        t->name = (Perfetto__EventName)PERFETTO__EVENT_NAME__INIT;
        t->name.has_iid = true;
        t->name.iid = text->id;
        t->name.name = text->text;
        t->names[t->data.n_event_names++] = &t->name;
    }
    return text->id;
}

static uint64_t intern_key(struct interning *t, struct trace_text *text)
{
    if (is_new(text, INTERNED_KEY)) {
        size_t i = t->data.n_debug_annotation_names++;

        t->key[i] = (Perfetto__DebugAnnotationName)PERFETTO__DEBUG_ANNOTATION_NAME__INIT;
        t->key[i].has_iid = true;
        t->key[i].iid = text->id;
        t->key[i].name = text->text;
        t->keys[i] = &t->key[i];
    }
    return text->id;
}

static uint64_t intern_value(struct interning *t, struct trace_text *text)
{
    if (is_new(text, INTERNED_VALUE)) {
        size_t i = t->data.n_debug_annotation_string_values++;

        t->value[i] = (Perfetto__InternedString)PERFETTO__INTERNED_STRING__INIT;
        t->value[i].has_iid = t->value[i].has_str = true;
        t->value[i].iid = text->id;
        t->value[i].str.data = (uint8_t *)text->text;
        t->value[i].str.len = strlen(text->text);
        t->values[i] = &t->value[i];
    }
    return text->id;
}

/* -- events --------------------------------------------------------------------------------- */

static void set_note(Perfetto__DebugAnnotation *a, struct interning *t,
                     const struct trace_note *note)
{
    *a = (Perfetto__DebugAnnotation)PERFETTO__DEBUG_ANNOTATION__INIT;
    a->has_name_iid = true;
    a->name_iid = intern_key(t, note->key);
    switch (note->type) {
    case NOTE_TEXT:
        a->has_string_value_iid = true;
        a->string_value_iid = intern_value(t, note->text);
        break;
    case NOTE_COUNT:
        a->has_uint_value = true;
        a->uint_value = note->count;
        break;
    case NOTE_NS:
        a->has_double_value = true;
        a->double_value = (double)note->fs / KB_FS_PER_NS;
        break;
    }
}

static bool put_event(struct trace_file *f, Perfetto__TrackEvent *event,
                      Perfetto__TrackEvent__Type type, const struct trace_track *track, int64_t fs,
                      Perfetto__InternedData *data)
{
    Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

    event->has_type = event->has_track_uuid = packet.has_timestamp = true;
    event->type = type;
    event->track_uuid = track->id;
    packet.timestamp = (uint64_t)fs;
    packet.track_event = event;
    packet.interned_data = data;
    return put_packet(f, &packet);
}

static bool put_begin(struct trace_file *f, const struct trace_begin *begin)
{
    Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
    Perfetto__DebugAnnotation note[TRACE_NOTES_MAX], *notes[TRACE_NOTES_MAX];
    struct interning interning;
    uint64_t flow[TRACE_FLOWS_MAX], last = begin->flow[0];
    bool has_new;

    interning_begin(&interning);
    event.has_name_iid = true;
    event.name_iid = intern_name(&interning, begin->name);
    for (size_t i = 0; i < begin->n_notes; i++) {
        set_note(&note[i], &interning, &begin->notes[i]);
        notes[i] = &note[i];
    }
    event.debug_annotations = notes;
    event.n_debug_annotations = begin->n_notes;
    for (size_t i = begin->flow_ends; i < TRACE_FLOWS_MAX; i++)
        if (begin->flow[i])
            flow[event.n_flow_ids++] = begin->flow[i];
    event.flow_ids = flow;
    event.terminating_flow_ids = &last;
    event.n_terminating_flow_ids = begin->flow_ends;
    has_new = interning.data.n_event_names + interning.data.n_debug_annotation_names +
                  interning.data.n_debug_annotation_string_values >
              0;
    return put_event(f, &event, PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN, begin->track,
                     begin->fs, has_new ? &interning.data : NULL);
}

static bool put_end(struct trace_file *f, const struct trace_track *track, int64_t fs)
{
    Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;

    return put_event(f, &event, PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END, track, fs, NULL);
}

static bool put_counter(struct trace_file *f, const struct trace_track *track, int64_t fs,
                        double value)
{
    Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;

    event.has_counter_value = track->kind == TRACK_COUNT;
    event.counter_value = (int64_t)value;
    event.has_double_counter_value = track->kind == TRACK_PERCENT;
    event.double_counter_value = value;
    return put_event(f, &event, PERFETTO__TRACK_EVENT__TYPE__TYPE_COUNTER, track, fs, NULL);
}

const struct trace_format trace_perfetto = {.suffix = ".pftrace",
                                            .available = true,
                                            .end_bytes = 40,
                                            .counter_bytes = 56,
                                            .head = put_head,
                                            .track = put_track,
                                            .begin = put_begin,
                                            .end = put_end,
                                            .counter = put_counter,
                                            .tail = put_head};
#endif
