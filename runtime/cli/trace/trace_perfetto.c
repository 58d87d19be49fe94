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

/* The first packet of all says that no text is known yet. */
static uint32_t flags_of(const struct trace_file *f)
{
    return PERFETTO__SEQUENCE_FLAGS__SEQ_NEEDS_INCREMENTAL_STATE |
           (f->n_written ? 0u : PERFETTO__SEQUENCE_FLAGS__SEQ_INCREMENTAL_STATE_CLEARED);
}

/* A Trace is a list of packets and nothing else, so traces of one packet can be concatenated. */
static bool put_packet(struct trace_file *f, Perfetto__TracePacket *packet)
{
    Perfetto__TracePacket *one[] = {packet};
    Perfetto__Trace trace = PERFETTO__TRACE__INIT;
    size_t n;

    packet->has_trusted_packet_sequence_id = packet->has_sequence_flags = true;
    packet->trusted_packet_sequence_id = SEQUENCE;
    packet->sequence_flags = flags_of(f);
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

/* Texts that a packet defines beside its event; pb-c writes them, for they are few. */
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

/*
 * A field is its number and type in one varint, then its value; a message within another is a field
 * of bytes. docs of protobuf, "Encoding". Nine of ten packets are events without a new text: pb-c
 * would go through their fields twice, by descriptors, which took half the time of a timeline.
 */
enum wire_type { WIRE_VARINT, WIRE_FIXED64, WIRE_BYTES };

enum { NOTE_BYTES = 32, EVENT_BYTES = 96 + TRACE_NOTES_MAX * NOTE_BYTES };

static uint8_t *put_varint(uint8_t *to, uint64_t x)
{
    for (; x > 127; x >>= 7)
        *to++ = (uint8_t)(x | 128);
    *to++ = (uint8_t)x;
    return to;
}

static uint8_t *put_tag(uint8_t *to, uint32_t field, enum wire_type type)
{
    return put_varint(to, field << 3 | type);
}

static uint8_t *put_number(uint8_t *to, uint32_t field, uint64_t x)
{
    return put_varint(put_tag(to, field, WIRE_VARINT), x);
}

static uint8_t *put_fixed(uint8_t *to, uint32_t field, uint64_t x)
{
    to = put_tag(to, field, WIRE_FIXED64);
    for (int i = 0; i < 64; i += 8)
        *to++ = (uint8_t)(x >> i);
    return to;
}

static uint8_t *put_double(uint8_t *to, uint32_t field, double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return put_fixed(to, field, bits);
}

static uint8_t *put_bytes(uint8_t *to, uint32_t field, const uint8_t *bytes, size_t n)
{
    to = put_varint(put_tag(to, field, WIRE_BYTES), n);
    memcpy(to, bytes, n);
    return to + n;
}

/* The fields of perfetto.proto that are written here, in the order of their numbers. */
enum { TRACE_PACKET = 1 };
enum { PACKET_TIMESTAMP = 8, PACKET_SEQUENCE_ID = 10, PACKET_EVENT, PACKET_INTERNED, PACKET_FLAGS };
enum { EVENT_ANNOTATION = 4, EVENT_TYPE = 9, EVENT_NAME, EVENT_TRACK, EVENT_COUNTER = 30 };
enum { EVENT_DOUBLE_COUNTER = 44, EVENT_FLOW = 47, EVENT_LAST_FLOW };
enum { ANNOTATION_NAME = 1, ANNOTATION_UINT = 3, ANNOTATION_DOUBLE = 5, ANNOTATION_STRING = 17 };

static uint8_t *put_note(uint8_t *to, struct interning *t, const struct trace_note *note)
{
    uint8_t bytes[NOTE_BYTES], *p = put_number(bytes, ANNOTATION_NAME, intern_key(t, note->key));

    switch (note->type) {
    case NOTE_TEXT:
        p = put_number(p, ANNOTATION_STRING, intern_value(t, note->text));
        break;
    case NOTE_COUNT:
        p = put_number(p, ANNOTATION_UINT, note->count);
        break;
    case NOTE_NS:
        p = put_double(p, ANNOTATION_DOUBLE, (double)note->fs / KB_FS_PER_NS);
        break;
    }
    return put_bytes(to, EVENT_ANNOTATION, bytes, (size_t)(p - bytes));
}

/* What every event has; a counter and the end of a slice have no name. */
static uint8_t *put_kind(uint8_t *to, Perfetto__TrackEvent__Type type,
                         const struct trace_text *name, const struct trace_track *track)
{
    to = put_number(to, EVENT_TYPE, type);
    if (name)
        to = put_number(to, EVENT_NAME, name->id);
    return put_number(to, EVENT_TRACK, track->id);
}

static size_t varint_bytes(uint64_t x)
{
    return (size_t)(70 - __builtin_clzll(x | 1)) / 7;
}

/* A field of bytes whose number is below 16. */
static size_t field_bytes(size_t n)
{
    return 1 + varint_bytes(n) + n;
}

/* The packet of an event, and of the texts that it defines (NULL: none). */
static bool put_event(struct trace_file *f, int64_t fs, const uint8_t *event, const uint8_t *end,
                      const Perfetto__InternedData *data)
{
    size_t n_event = (size_t)(end - event);
    size_t n_data = data ? perfetto__interned_data__get_packed_size(data) : 0;
    size_t n = 5 + varint_bytes((uint64_t)fs) + field_bytes(n_event); /* numbers: 1, 2 and 2 */
    uint8_t *room, *p;

    n += data ? field_bytes(n_data) : 0;
    room = p = (uint8_t *)trace_room(f, 16 + n);
    p = put_varint(put_tag(p, TRACE_PACKET, WIRE_BYTES), n);
    p = put_number(p, PACKET_TIMESTAMP, (uint64_t)fs);
    p = put_number(p, PACKET_SEQUENCE_ID, SEQUENCE);
    p = put_bytes(p, PACKET_EVENT, event, n_event);
    if (data) {
        p = put_varint(put_tag(p, PACKET_INTERNED, WIRE_BYTES), n_data);
        p += perfetto__interned_data__pack(data, p);
    }
    p = put_number(p, PACKET_FLAGS, flags_of(f));
    return trace_keep(f, (size_t)(p - room));
}

static bool put_begin(struct trace_file *f, const struct trace_begin *begin)
{
    uint8_t event[EVENT_BYTES], *p = event;
    struct interning interning;
    bool has_new;

    interning_begin(&interning);
    intern_name(&interning, begin->name);
    for (size_t i = 0; i < begin->n_notes; i++)
        p = put_note(p, &interning, &begin->notes[i]);
    p = put_kind(p, PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN, begin->name, begin->track);
    for (size_t i = begin->flow_ends; i < TRACE_FLOWS_MAX; i++)
        if (begin->flow[i])
            p = put_fixed(p, EVENT_FLOW, begin->flow[i]);
    if (begin->flow_ends)
        p = put_fixed(p, EVENT_LAST_FLOW, begin->flow[0]);
    has_new = interning.data.n_event_names + interning.data.n_debug_annotation_names +
                  interning.data.n_debug_annotation_string_values >
              0;
    return put_event(f, begin->fs, event, p, has_new ? &interning.data : NULL);
}

static bool put_end(struct trace_file *f, const struct trace_track *track, int64_t fs)
{
    uint8_t event[EVENT_BYTES];

    return put_event(f, fs, event,
                     put_kind(event, PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END, NULL, track),
                     NULL);
}

static bool put_counter(struct trace_file *f, const struct trace_track *track, int64_t fs,
                        double value)
{
    uint8_t event[EVENT_BYTES], *p;

    p = put_kind(event, PERFETTO__TRACK_EVENT__TYPE__TYPE_COUNTER, NULL, track);
    p = track->kind == TRACK_COUNT ? put_number(p, EVENT_COUNTER, (uint64_t)(int64_t)value)
                                   : put_double(p, EVENT_DOUBLE_COUNTER, value);
    return put_event(f, fs, event, p, NULL);
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
