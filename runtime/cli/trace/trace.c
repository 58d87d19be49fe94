/*
 * trace.c -- `--trace`: the events of a run become slices, counters and flows of a timeline.
 *
 * The engine calls an observer (kb_observer) when a span of a transaction opens or closes, when a
 * station takes or releases it, when a command is issued, a kernel starts, and so on. Here:
 *
 *     lane     A component has as many lanes as it ever has slices side by side. A slice takes the
 *              lowest lane that is free, so that slices of a lane never overlap.
 *     flight   A transaction, stage, command or kernel that has not ended, with its open slices.
 *     slice    A stretch of time on a lane: a span, or a service with its parts (overhead, drain)
 *              nested in it. A wait is no slice: it is counted in the queue of its station, and the
 *              slice of the service that follows says how long it was, and behind what.
 *     flow     The arrows from slice to slice of a transaction; its number is the id + 1.
 *     counter  What waits at a station; how many stations of a class are busy.
 *
 * Example, two reads of 4 KB from c0.slice0 at 0 ns, by c0.pe0 and by c0.pe1 (cube8):
 *
 *     ns       event                          in the file
 *     0        pe_dma.read takes 0 and 1      slices "read c0.slice0" on pe0.pe_dma.read and
 *                                             pe1.pe_dma.read; each begins a flow
 *     2.085    the memory takes 0             slice "read c0.pe0" on hbm_ctrl.slice0, and "drain"
 *                                             in it; the flow of 0 ends; memories busy 1.4 %
 *     4.095    1 begins to wait               hbm_ctrl.slice0 queue 1
 *     18.085   the memory releases 0,         both slices end, queue 0, slice "read c0.pe1" with
 *              takes 1                        waited_ns 13.99, behind c0.pe0, behind_id 0
 *     50.085   the memory releases 1          memories busy 0 %
 *
 * Order: the times of a file must not decrease, but some events are reported ahead of their time,
 * since the engine knows them already and will not come back: the release of a link, the end of a
 * memory's overhead, the response to a host. These (may_be_ahead()) are pending, in a heap by time
 * and by order of the calls, until the run reaches them; an event of any other kind says what time
 * it is. Counters are written once per instant, with their last value.
 *
 * Space: a file that reaches --trace-max-bytes is still complete. The begin of a slice reserves the
 * bytes of its end, a counter that is not 0 those of its return to 0; the first packet that does
 * not fit beside the reserve stops the timeline.
 */
#include "cli/trace/trace.h"
#include "cli/out/memory.h"
#include "cli/out/stop.h"
#include "cli/trace/commands.h"
#include "cli/trace/flights.h"
#include "cli/out/say.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- events in order of time ---------------------------------------------------------------- */

static bool before(const struct event *a, const struct event *b)
{
    return a->fs != b->fs ? a->fs < b->fs : a->seq < b->seq;
}

/*
 * Adds an event to the heap. Equal times keep the order of their calls (seq), as the end of one
 * slice and the begin of the next on the same lane often fall together.
 */
static void defer(struct trace *t, const struct event *event)
{
    struct event e = *event;
    size_t i = t->n_pending;

    t->pending = memory_room(t->pending, t->n_pending, &t->pending_room, sizeof *t->pending);
    e.seq = t->n_deferred++;
    t->n_pending++;
    while (i > 0 && before(&e, &t->pending[(i - 1) / 2])) {
        t->pending[i] = t->pending[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    t->pending[i] = e;
}

static struct event next_pending(struct trace *t)
{
    struct event first = t->pending[0], e = t->pending[--t->n_pending];
    size_t i = 0, child;

    while ((child = 2 * i + 1) < t->n_pending) {
        if (child + 1 < t->n_pending && before(&t->pending[child + 1], &t->pending[child]))
            child++;
        if (!before(&t->pending[child], &e))
            break;
        t->pending[i] = t->pending[child];
        i = child;
    }
    t->pending[i] = e;
    return first;
}

/* Does a command wait for another PE? */
static bool is_for_pe(const kb_span *span)
{
    return span->cause == KB_CAUSE_QUEUE_WAIT || span->cause == KB_CAUSE_BARRIER_WAIT;
}

/* Makes slices and counters of one event. Its time has come. */
static void apply(struct trace *t, const struct event *e)
{
    struct flight *f;

    timeline_advance(t, e->fs);
    switch (e->kind) {
    case EVENT_OPEN:
        if (is_for_pe(&e->span))
            command_open_wait(t, &e->span);
        else
            flight_open(t, &e->span);
        break;
    case EVENT_CLOSE:
        if (is_for_pe(&e->span))
            command_close_wait(t, &e->span);
        else
            flight_close(t, &e->span);
        break;
    case EVENT_TAKE:
        flight_take(t, &e->service);
        break;
    case EVENT_RELEASE:
        flight_release(t, &e->service);
        break;
    case EVENT_END:
        f = map_get(&t->flights, flight_key(e->span.id, e->span.part));
        if (f) /* a host's transaction that is split has none: only its parts do */
            flight_end(t, f);
        break;
    }
}

/* The time is `fs`: pending events up to then are applied first. */
static void advance_to(struct trace *t, int64_t fs)
{
    while (t->n_pending > 0 && t->pending[0].fs <= fs) {
        struct event e = next_pending(t);

        apply(t, &e);
    }
    timeline_advance(t, fs);
}

/* A station whose services are told with their end. */
static bool is_early(const struct trace *t, kb_place place)
{
    const struct component *c = map_get(&t->lanes.components, place);

    return c && c->is_early;
}

/* Does the event begin a service at a memory that is known to be free early? */
static bool begins_early(const struct trace *t, const struct event *e, kb_place place)
{
    return is_early(t, place) &&
           (e->kind == EVENT_TAKE ||
            (e->kind == EVENT_OPEN && e->span.cause == KB_CAUSE_OVERHEAD) ||
            (e->kind == EVENT_CLOSE && e->span.cause == KB_CAUSE_MEMORY_WAIT));
}

/*
 * Can the observer be called before the time of this event? On a link with fifo; on the bus of a
 * channel with banks, which may have to turn around; for the end of the
 * overhead of a memory, port or engine, and what follows; for the begin of a memory's service,
 * which is known when a transaction comes to one that is free early; and for the response to a
 * host.
 */
static bool may_be_ahead(const struct trace *t, const struct event *e, kb_place place)
{
    bool overhead = e->kind == EVENT_CLOSE && e->span.cause == KB_CAUSE_OVERHEAD;
    bool drain = e->kind == EVENT_OPEN && e->span.cause == KB_CAUSE_DRAIN;

    switch (kb_place_kind_of(place)) {
    case KB_AT_LINK:
        return t->lanes.fifo;
    case KB_AT_HOST:
    case KB_AT_BANKS:
        return true;
    case KB_AT_CHANNEL: /* it is known beforehand when its PE issues */
        return e->kind != EVENT_OPEN;
    case KB_AT_MEMORY:
        return overhead || drain || begins_early(t, e, place);
    case KB_AT_PORT:
        return overhead || drain || is_early(t, place);
    default:
        return false;
    }
}

/*
 * Every event of a transaction or stage passes here. One that lies ahead, and may, is put off; any
 * other says that the run has reached its time.
 */
static void apply_in_order(struct trace *t, const struct event *e, kb_place place)
{
    if (e->fs > t->now_fs && may_be_ahead(t, e, place)) {
        defer(t, e);
        return;
    }
    advance_to(t, e->fs);
    apply(t, e);
}

/* -- the observer --------------------------------------------------------------------------- */

static void on_open(void *arg, const kb_span *span)
{
    struct event e = {.fs = span->begin_fs, .kind = EVENT_OPEN, .span = *span};

    apply_in_order(arg, &e, span->place);
}

static void on_close(void *arg, const kb_span *span)
{
    struct event e = {.fs = span->end_fs, .kind = EVENT_CLOSE, .span = *span};

    apply_in_order(arg, &e, span->place);
}

/* A link with fifo, a channel with banks, and a memory that is free early, is taken with the time
 * of its release, which is put off as an event of its own. */
static void on_take(void *arg, const kb_service *service)
{
    struct event e = {.fs = service->begin_fs, .kind = EVENT_TAKE, .service = *service};
    struct trace *t = arg;

    if (service->end_fs >= 0 && kb_place_kind_of(service->place) != KB_AT_LINK)
        lanes_at(&t->lanes, service->place, false)->is_early = true;
    apply_in_order(t, &e, service->place);
    if (service->end_fs < 0)
        return;
    e.fs = service->end_fs; /* known in advance, so there is no on_release() */
    e.kind = EVENT_RELEASE;
    defer(t, &e);
}

static void on_release(void *arg, const kb_service *service)
{
    struct event e = {.fs = service->end_fs, .kind = EVENT_RELEASE, .service = *service};

    apply_in_order(arg, &e, service->place);
}

static void on_end(void *arg, const kb_span *last)
{
    struct event e = {.fs = last->end_fs, .kind = EVENT_END, .span = *last};

    apply_in_order(arg, &e, last->place);
}

static void on_issue(void *arg, const kb_command *command)
{
    advance_to(arg, command->issue_fs);
    command_issue(arg, command);
}

static void on_go_on(void *arg, const kb_command *send)
{
    advance_to(arg, send->return_fs);
    command_go_on(arg, send);
}

static void on_finish(void *arg, const kb_command *command)
{
    advance_to(arg, command->end_fs);
    flight_end_only(arg, COMMAND_KEY | command->id, command->end_fs);
}

static void on_start(void *arg, const kb_kernel_run *run)
{
    advance_to(arg, run->start_fs);
    command_start_kernel(arg, run);
}

static void on_leave(void *arg, const kb_kernel_run *run)
{
    advance_to(arg, run->end_fs);
    flight_end_only(arg, KERNEL_KEY | run->pe, run->end_fs);
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

kb_status trace_observe(struct trace *trace, kb_sim *sim, kb_error *why)
{
    kb_observer observer;

    if (!trace)
        return KB_OK;
    observer = trace_callbacks(trace);
    return kb_sim_observe(sim, &observer, why);
}

/* -- begin and end of a timeline ------------------------------------------------------------ */

/* Slices and flights that are still open are freed as well: the run may have ended early. */
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
    free(t->pending);
    free(t);
}

/* Texts that every timeline has. */
static void make_words(struct trace *t)
{
    struct lanes *l = &t->lanes;

    t->words.id = lanes_text(l, "id");
    t->words.op = lanes_text(l, "op");
    t->words.source = lanes_text(l, "source");
    t->words.target = lanes_text(l, "target");
    t->words.nbytes = lanes_text(l, "nbytes");
    t->words.command = lanes_text(l, "command");
    t->words.tile = lanes_text(l, "tile");
    t->words.waited = lanes_text(l, "waited_ns");
    t->words.behind = lanes_text(l, "behind");
    t->words.behind_id = lanes_text(l, "behind_id");
    t->words.at = lanes_text(l, "at");
    t->words.region = lanes_text(l, "region");
    t->words.overhead = lanes_text(l, "overhead");
    t->words.drain = lanes_text(l, "drain");
    t->words.compute = lanes_text(l, "compute");
    t->words.dispatch = lanes_text(l, "dispatch");
    t->words.wait = lanes_text(l, "wait");
}

/* The format of a file name; the options have refused all other suffixes. */
static const struct trace_format *format_of(const char *path)
{
    size_t n = strlen(path), m = strlen(trace_json.suffix);

    return n >= m && strcmp(path + n - m, trace_json.suffix) == 0 ? &trace_json : &trace_perfetto;
}

/* A file without room for its head is stopped at once, and has nothing but its end. */
static enum exit_code begin_file(struct trace *t)
{
    const struct opts *o = &t->cli->opts;
    enum exit_code code = sink_open(&t->file.sink, t->cli->program, o->trace);

    if (code)
        return code;
    t->file.max_bytes = o->trace_max_bytes ? o->trace_max_bytes : UINT64_MAX;
    t->file.reserve = t->file.format->tail_bytes;
    if (!t->file.format->head(&t->file))
        timeline_stop(t);
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
    t = memory_new(1, sizeof *t);
    t->cli = cli;
    t->file.format = format;
    t->from_fs = o->trace_from_fs;
    t->to_fs = o->trace_to_fs ? o->trace_to_fs : INT64_MAX;
    t->opened = t->from_fs == 0;
    snprintf(t->top_name, sizeof t->top_name, "%s: 1 ms shown is 1 ns simulated", cli->info.name);
    t->top = (struct trace_track){.kind = TRACK_TOP, .name = t->top_name};
    lanes_init(&t->lanes, cli->topo, o->trace_filter);
    make_words(t);
    code = begin_file(t);
    if (code)
        trace_free(t);
    else
        *out = t;
    return code;
}

/* Have all transactions ended, or is their end pending? Slices on the bus of a channel with banks
 * are of none. */
static bool all_end(const struct trace *t)
{
    size_t n = t->flights.n;

    for (size_t i = 0; i < t->flights.room; i++) {
        const struct flight *f = t->flights.entry[i].value;

        n -= f && (f->ended || f->key & BUS_KEY);
    }
    for (size_t i = 0; i < t->n_pending; i++)
        n -= t->pending[i].kind == EVENT_END;
    return n == 0;
}

/*
 * Open slices end where the run did: at --until, or at the last event. Pending events of a run that
 * was ended early are dropped.
 */
static void finish(struct trace *t, enum exit_code code)
{
    const struct opts *o = &t->cli->opts;

    if (all_end(t))
        advance_to(t, INT64_MAX);
    else if (code != EXIT_INTERRUPTED && !o->max_events && o->until_fs > t->now_fs)
        advance_to(t, o->until_fs);
    if (t->opened && !t->stopped)
        timeline_end_all(t, t->now_fs);
}

/* Warns of a timeline that lacks something. */
static void say_end(const struct trace *t)
{
    const struct opts *o = &t->cli->opts;
    const struct lanes *l = &t->lanes;

    if (o->quiet)
        return;
    for (size_t i = 0; i < l->n_patterns; i++)
        if (!l->matched[i])
            say_line("--trace-filter: nothing happened in '%s'", l->pattern[i]);
    if (t->from_fs > 0 && t->last_fs <= t->from_fs)
        say_line("--trace-from: %s is empty, all ended at %" PRId64 ".%06" PRId64 " ns", o->trace,
                 t->last_fs / KB_FS_PER_NS, t->last_fs % KB_FS_PER_NS);
    if (t->stopped)
        say_line("%s ends at %" PRId64 ".%06" PRId64 " ns: more is longer than %" PRIu64 " bytes",
                 o->trace, t->stopped_fs / KB_FS_PER_NS, t->stopped_fs % KB_FS_PER_NS,
                 t->file.max_bytes);
}

/* What a thread that was left behind still records to has no end. */
enum exit_code trace_close(struct trace *t, enum exit_code code)
{
    enum sink_end end = cmd_end(code);

    if (!t || stop_leaves())
        return code;
    finish(t, code);
    t->file.reserve = 0;
    if (end != SINK_DROP)
        t->file.format->tail(&t->file);
    enum exit_code written = sink_close(&t->file.sink, t->cli->program, end);
    if (end != SINK_DROP && !written)
        say_end(t);
    trace_free(t);
    return written ? written : code;
}
