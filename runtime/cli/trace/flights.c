/*
 * flights.c -- transactions and stages in flight, as slices on the lanes of what they pass.
 *
 * A service (take, release) is a slice on the lane of its station, found again by component. A span
 * (open, close) becomes one of three things: a wait adds 1 to the queue of its station, and its
 * length is kept in the flight for the slice of the service; a span at a station that serves the
 * same transaction is a part, nested in that slice (overhead, drain); any other, on a wire or
 * through a node, is a slice of its own. A span that fills its service is not drawn twice.
 *
 * A flight is removed when it has ended and has no open slice, for the end of a slice can be
 * reported before or after that of the transaction.
 */
#include "cli/trace/flights.h"
#include "cli/out/memory.h"
#include <string.h>

/* -- flights and slices --------------------------------------------------------------------- */

struct flight *flight_get(struct trace *t, uint64_t key)
{
    struct flight *f = map_get(&t->flights, key);

    if (f)
        return f;
    f = t->free_flights;
    if (f)
        t->free_flights = f->next_free;
    else
        f = memory_new(1, sizeof *f);
    *f = (struct flight){.key = key};
    map_put(&t->flights, key, f);
    return f;
}

void flight_end(struct trace *t, struct flight *f)
{
    f->ended = true;
    if (f->slices)
        return;
    map_remove(&t->flights, f->key);
    f->next_free = t->free_flights;
    t->free_flights = f;
}

void flight_end_only(struct trace *t, uint64_t key, int64_t fs)
{
    struct flight *f = map_get(&t->flights, key);

    if (!f)
        return;
    f->ended = true;
    if (f->slices)
        slice_end(t, f, f->slices, fs);
    else
        flight_end(t, f);
}

struct slice *slice_add(struct trace *t, struct flight *f, struct component *c, struct lane *lane,
                        int64_t begin_fs)
{
    struct slice *s = t->free_slices;

    if (s)
        t->free_slices = s->next;
    else
        s = memory_new(1, sizeof *s);
    *s = (struct slice){.component = c, .lane = lane, .begin_fs = begin_fs, .next = f->slices};
    s->about = (struct slice_notes){.id = KB_NO_ID, .command = KB_NO_ID, .token = KB_NO_ID};
    f->slices = s;
    s->before = t->last;
    if (t->last)
        t->last->after = s;
    else
        t->first = s;
    t->last = s;
    return s;
}

/* Before the window, timeline_advance() writes it when the window begins. */
void slice_begin(struct trace *t, struct slice *s)
{
    if (t->opened)
        timeline_begin(t, s);
}

/*
 * A slice is in two lists: those of its flight, of which there are few, and all that are open,
 * which is linked both ways since slices end in any order.
 */
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

void slice_end(struct trace *t, struct flight *f, struct slice *s, int64_t fs)
{
    if (s->shown)
        timeline_end(t, s, fs);
    if (!s->nested)
        lanes_release(s->component, s->lane, fs);
    unlink_slice(t, f, s);
    if (f->ended)
        flight_end(t, f);
}

/* A flight has at most one slice of a service, and one of another span, at a component. */
static struct slice *find_slice(const struct flight *f, const struct component *c, bool service)
{
    struct slice *s = f->slices;

    while (s && (s->component != c || s->service != service))
        s = s->next;
    return s;
}

/* -- transactions --------------------------------------------------------------------------- */

/* The second flow of a stage: that of its tile or command. A tile has two stages, so the number of
 * a token has 31 bits. */
uint64_t flight_command_flow(uint32_t command, uint32_t token)
{
    if (command == KB_NO_ID)
        return 0;
    return UINT64_C(1) << 63 | ((uint64_t)command + 1) << 31 | (uint32_t)(token + 1);
}

/* The flow of a transaction. If it is split, its part 0 goes on with it, and each other part has a
 * flow and an end of its own. */
static uint64_t flow_of(uint32_t id, uint32_t part)
{
    return (part == KB_NO_ID ? 0 : (uint64_t)part) << 32 | ((uint64_t)id + 1);
}

/*
 * A stage that receives a piece of a message continues the flow of the transaction that carried it,
 * and part 0 that of the whole; any other begins a flow with its first slice.
 */
static void set_flow(struct trace *t, struct flight *f, struct slice *s, const kb_service *work)
{
    bool goes_on = work->message != KB_NO_ID ||
                   (work->part == 0 && map_get(&t->flights, flight_key(work->id, KB_NO_ID)));

    s->flow[0] = work->message == KB_NO_ID ? flow_of(work->id, work->part)
                                           : flow_of(work->message, KB_NO_ID);
    s->flow[1] = flight_command_flow(work->command, work->token);
    s->flow_begins = !f->seen && !goes_on;
    f->seen = true;
}

/* Notes that a service and a span have in common. */
static void set_about(struct trace *t, struct slice *s, const kb_service *work)
{
    s->about.id = work->id;
    s->about.op = lanes_constant(&t->lanes, work->what, 0);
    s->about.source = lanes_end_name(&t->lanes, work->source);
    if (work->target != KB_NOWHERE)
        s->about.target = lanes_end_name(&t->lanes, work->target);
    s->about.nbytes = work->nbytes;
    s->about.command = work->command == work->id ? KB_NO_ID : work->command;
    s->about.token = work->token;
}

/* The name of a slice has one end: on a channel of the source that is the target. */
static kb_place shown_end(const kb_service *work)
{
    kb_place_kind kind = kb_place_kind_of(work->place);

    return kind == KB_AT_CHANNEL || kind == KB_AT_PORT ? work->target : work->source;
}

/* The wait just before this slice, if it was for the same place. It is shown once. */
static void set_wait(struct flight *f, struct slice *s, kb_place place)
{
    if (f->waited_at != place)
        return;
    s->about.waited_fs = f->waited_fs;
    s->about.behind = f->behind;
    s->about.behind_id = f->behind_id;
    f->waited_at = KB_NOWHERE;
}

/*
 * Is it the last step of a transaction? Of a PE's the memory is, of a host's the response. Behind
 * routers it goes on in packets, and none of them is known to be the last.
 */
static bool is_last(const struct trace *t, const kb_service *work, bool service)
{
    kb_place_kind at = kb_place_kind_of(work->place);
    bool host = kb_place_kind_of(work->source) == KB_AT_HOST;

    if (strcmp(work->what, "ipcq_copy") == 0)
        return false; /* the receive that takes the message continues its flow */
    if (t->lanes.routers)
        return false;
    return host ? at == KB_AT_HOST : service && at == KB_AT_MEMORY;
}

/* A slice on a lane of its own. */
static void begin_work(struct trace *t, const kb_service *work, bool service, bool passing)
{
    struct flight *f = flight_get(t, flight_key(work->id, work->part));
    struct component *c = lanes_at(&t->lanes, work->place, passing);
    struct lane *lane = lanes_take(c, 0, work->begin_fs);
    struct slice *s = slice_add(t, f, c, lane, work->begin_fs);

    s->service = service;
    s->name = lanes_label(&t->lanes, work->what, shown_end(work));
    set_about(t, s, work);
    if (service || kb_place_kind_of(work->place) != KB_AT_MEMORY) /* a drain beside its service */
        set_flow(t, f, s, work);
    s->flow_ends = is_last(t, work, service);
    set_wait(f, s, work->place);
    slice_begin(t, s);
}

static struct trace_text *cause_text(const struct trace *t, kb_cause cause)
{
    switch (cause) {
    case KB_CAUSE_DRAIN:
        return t->words.drain;
    case KB_CAUSE_COMPUTE:
        return t->words.compute;
    default:
        return t->words.overhead;
    }
}

/* Does the span fill the service `in`? The work of an engine without overhead does. */
static bool is_whole(const struct slice *in, const kb_span *span)
{
    return span->cause == KB_CAUSE_PORT ||
           (span->cause == KB_CAUSE_COMPUTE && span->begin_fs == in->begin_fs);
}

/* A slice nested in that of the service `in`: overhead, drain, compute. */
static void begin_part(struct trace *t, struct flight *f, const struct slice *in,
                       const kb_span *span)
{
    struct slice *s = slice_add(t, f, in->component, in->lane, span->begin_fs);

    s->nested = true;
    s->name = cause_text(t, span->cause);
    slice_begin(t, s);
}

/*
 * With links: fifo, heads pass a link on a lane beside that of the transactions that hold it. So do
 * the drains of a memory that is free before they end.
 */
static bool is_passing(struct trace *t, const kb_span *span)
{
    if (kb_place_kind_of(span->place) == KB_AT_MEMORY)
        return lanes_at(&t->lanes, span->place, false)->is_early;
    return t->lanes.fifo && kb_place_kind_of(span->place) == KB_AT_LINK;
}

static void count_waiting(struct trace *t, const kb_span *span, int64_t n)
{
    struct component *c = lanes_at(&t->lanes, span->place, false);

    timeline_count(t, timeline_queue_of(t, c), n);
}

/*
 * A span at a station that serves the same transaction is a part of that service; otherwise it is a
 * slice of its own, named as a service would be.
 */
static void open_span(struct trace *t, const kb_span *span)
{
    struct flight *f = map_get(&t->flights, flight_key(span->id, span->part));
    struct component *c = lanes_at(&t->lanes, span->place, is_passing(t, span));
    struct slice *in = f ? find_slice(f, c, true) : NULL;
    kb_service work = {.id = span->id,
                       .part = span->part,
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
    else if (!in)
        begin_work(t, &work, false, is_passing(t, span));
}

/* The slice of the station that follows shows how long the wait took. */
static void close_wait(struct trace *t, const kb_span *span)
{
    struct flight *f = flight_get(t, flight_key(span->id, span->part));

    count_waiting(t, span, -1);
    f->waited_at = span->place;
    f->waited_fs = span->end_fs - span->begin_fs;
    f->behind = span->behind ? lanes_end_name(&t->lanes, span->behind) : NULL;
    f->behind_id = span->behind_id;
}

static void close_span(struct trace *t, const kb_span *span)
{
    struct flight *f = map_get(&t->flights, flight_key(span->id, span->part));
    struct component *c = lanes_at(&t->lanes, span->place, is_passing(t, span));
    struct slice *s = f ? find_slice(f, c, false) : NULL;

    if (s)
        slice_end(t, f, s, span->end_fs);
}

/*
 * The bus of a channel with banks serves one segment at a time. A posted write may have ended
 * before, so its slice belongs to a flight of the channel's own.
 */
static void begin_bus(struct trace *t, const kb_service *service)
{
    struct flight *f = flight_get(t, BUS_KEY | service->place);
    struct component *c = lanes_at(&t->lanes, service->place, false);
    struct slice *s = slice_add(t, f, c, lanes_take(c, 0, service->begin_fs), service->begin_fs);

    s->service = true;
    s->name = lanes_constant(&t->lanes, service->found, 0);
    set_about(t, s, service);
    if (service->source == KB_NOWHERE)
        s->about.source = NULL;
    s->about.bank = lanes_constant(&t->lanes, "bank", 0);
    s->about.row = lanes_constant(&t->lanes, "row", 0);
    s->about.bank_number = service->bank;
    s->about.row_number = service->row;
    slice_begin(t, s);
}

void flight_take(struct trace *t, const kb_service *service)
{
    if (service->found) {
        begin_bus(t, service);
        return;
    }
    struct component *c = lanes_at(&t->lanes, service->place, false);

    begin_work(t, service, true, false);
    if (!t->cli->opts.trace_filter)
        timeline_count(t, timeline_busy_of(t, c->station), 1);
}

void flight_release(struct trace *t, const kb_service *service)
{
    struct flight *f =
        map_get(&t->flights,
                service->found ? BUS_KEY | service->place : flight_key(service->id, service->part));
    struct component *c = lanes_at(&t->lanes, service->place, false);
    struct slice *s = f ? find_slice(f, c, true) : NULL;

    if (!t->cli->opts.trace_filter && !service->found)
        timeline_count(t, timeline_busy_of(t, c->station), -1);
    if (s)
        slice_end(t, f, s, service->end_fs);
}

void flight_open(struct trace *t, const kb_span *span)
{
    if (kb_cause_is_wait(span->cause))
        count_waiting(t, span, 1);
    else
        open_span(t, span);
}

void flight_close(struct trace *t, const kb_span *span)
{
    if (kb_cause_is_wait(span->cause))
        close_wait(t, span);
    else
        close_span(t, span);
}
