/* test_trace.c -- timelines: lanes, texts, and what becomes of what is told, told by hand. */
#include "support/rig.h"

#include "cube8.h"
#include "cli/trace/map.h"
#include "machine/place.h"
#include "cli/trace/trace.h"
#include "cli/trace/trace_lanes.h"
#include <stdio.h>
#include <unistd.h>

static const kb_topology *const cube8 = &cube8_topology;

enum { NS = 1000000, KEYS = 500 };

/* -- pointers by numbers -------------------------------------------------------------------- */

static void a_map_has_what_was_put_and_not_removed(void **state)
{
    struct map m = {0};
    char what[KEYS];
    bool there[KEYS] = {false};
    size_t n = 0;
    uint64_t seed = 1;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        size_t i = (size_t)(seed >> 33) % KEYS;
        uint64_t key = (uint64_t)i << 40 | i % 7;

        if (there[i])
            map_remove(&m, key);
        else
            map_put(&m, key, &what[i]);
        there[i] = !there[i];
        n += there[i] ? 1 : (size_t)-1;
        assert_int_equal(m.n, n);
        for (size_t k = 0; round % 100 == 0 && k < KEYS; k++)
            assert_ptr_equal(map_get(&m, (uint64_t)k << 40 | k % 7), there[k] ? &what[k] : NULL);
    }
    map_free(&m);
}

/* -- lanes and texts ------------------------------------------------------------------------ */

static void a_slice_takes_the_lowest_lane_that_was_free_then(void **state)
{
    struct lanes l;
    struct component *c;
    struct lane *a, *b, *d;

    (void)state;
    lanes_init(&l, cube8, NULL);
    c = lanes_of_pe(&l, 9);
    assert_string_equal(c->name, "sip0.cube1.pe1");
    a = lanes_take(c, 0, 0);
    b = lanes_take(c, 0, 0);
    d = lanes_take(c, 0, 5);
    assert_string_equal(a->track.name, "sip0.cube1.pe1");
    assert_string_equal(b->track.name, "sip0.cube1.pe1 #1");
    assert_string_equal(d->track.name, "sip0.cube1.pe1 #2");
    lanes_release(c, b, 10);
    lanes_release(c, a, 20);
    assert_ptr_equal(lanes_take(c, 0, 15), b); /* told late: the first was busy then */
    b = lanes_take(c, 1, 20);
    assert_string_equal(b->track.name, "sip0.cube1.pe1 #3");
    assert_ptr_equal(b->track.parent, &a->track);
    assert_ptr_equal(lanes_take(c, 0, 20), a);
    lanes_free(&l);
}

static void a_text_has_one_number(void **state)
{
    struct lanes l;

    (void)state;
    lanes_init(&l, cube8, NULL);
    struct trace_text *a = lanes_text(&l, "fetch"), *b = lanes_text(&l, "store");
    assert_ptr_equal(lanes_text(&l, "fetch"), a);
    assert_int_not_equal(a->id, b->id);
    assert_string_equal(lanes_text(&l, "a\xff")->text, "a\xef\xbf\xbd");
    assert_string_equal(lanes_label(&l, "read", place_of(KB_AT_PE, 3))->text, "read c0.pe3");
    assert_string_equal(lanes_label(&l, "gemm", KB_NOWHERE)->text, "gemm");
    lanes_free(&l);
}

/* topologies/cube8.yaml: 8 cubes of 8 PEs, one of each channel and engine */
static void a_class_is_counted_over_the_machine(void **state)
{
    struct lanes l;

    (void)state;
    lanes_init(&l, cube8, NULL);
    assert_int_equal(lanes_total(&l, CLASS_MEMORY), 8 * 8 + 8);
    assert_int_equal(lanes_total(&l, CLASS_CHANNEL), 8 * 8 * 2);
    assert_int_equal(lanes_total(&l, CLASS_ENGINE), 8 * 2);
    assert_int_equal(lanes_total(&l, CLASS_PE_ENGINE), 8 * 8 * 2);
    lanes_free(&l);
}

/* -- what is told --------------------------------------------------------------------------- */

struct rig {
    struct cli cli;
    struct trace *trace;
    kb_observer watch;
    char path[64];
};

static void begin(struct rig *r)
{
    *r = (struct rig){.cli = {.topo = cube8, .program = "test"}};
    kb_topology_info(cube8, &r->cli.info);
    snprintf(r->path, sizeof r->path, "/tmp/test_trace.%d.json", (int)getpid());
    r->cli.opts.trace = r->path;
    r->cli.opts.quiet = true;
}

static void start(struct rig *r)
{
    assert_int_equal(trace_open(&r->trace, &r->cli), EXIT_OK);
    r->watch = trace_callbacks(r->trace);
}

/* Ends it; what the file has to say of slices and counters, a line each. */
static void written(struct rig *r, char *text, size_t room)
{
    char line[4096], name[128];
    FILE *f;

    assert_int_equal(trace_close(r->trace, EXIT_OK), EXIT_OK);
    f = fopen(r->path, "r");
    assert_non_null(f);
    *text = '\0';
    while (fgets(line, sizeof line, f)) {
        unsigned pid, tid;
        char kind;
        double ts;
        int n;

        if (sscanf(line, "{\"ph\":\"%c\",\"pid\":%u,\"tid\":%u,\"ts\":%lf%n", &kind, &pid, &tid,
                   &ts, &n) != 4 ||
            !strchr("BEC", kind))
            continue;
        if (sscanf(line + n, ",\"name\":\"%127[^\"]", name) != 1)
            *name = '\0';
        snprintf(text + strlen(text), room - strlen(text), "%c %u %.3f %s\n", kind, tid, ts, name);
    }
    fclose(f);
    unlink(r->path);
}

static kb_span span(kb_cause cause, kb_place place, int64_t begin_fs, int64_t end_fs)
{
    return (kb_span){.id = 4,
                     .command = KB_NO_ID,
                     .token = KB_NO_ID,
                     .what = "read",
                     .source = place_of(KB_AT_PE, 0),
                     .target = place_of(KB_AT_MEMORY, 0),
                     .nbytes = 64,
                     .cause = cause,
                     .place = place,
                     .behind_id = KB_NO_ID,
                     .begin_fs = begin_fs,
                     .end_fs = end_fs};
}

static kb_service service(kb_place place, int64_t begin_fs, int64_t end_fs)
{
    return (kb_service){.id = 4,
                        .command = KB_NO_ID,
                        .token = KB_NO_ID,
                        .what = "read",
                        .source = place_of(KB_AT_PE, 0),
                        .target = place_of(KB_AT_MEMORY, 0),
                        .nbytes = 64,
                        .place = place,
                        .begin_fs = begin_fs,
                        .end_fs = end_fs};
}

/* A wait, and a memory's service in two parts, the end of the first told before its time. */
static void tell_one(const kb_observer *w)
{
    kb_place memory = place_of(KB_AT_MEMORY, 0);
    kb_span wait = span(KB_CAUSE_MEMORY_WAIT, memory, 2 * NS, -1);
    kb_span overhead = span(KB_CAUSE_OVERHEAD, memory, 5 * NS, -1);
    kb_span drain = span(KB_CAUSE_DRAIN, memory, 7 * NS, -1);
    kb_service held = service(memory, 5 * NS, -1);

    w->open(w->arg, &wait);
    wait.end_fs = 5 * NS;
    w->close(w->arg, &wait);
    w->take(w->arg, &held);
    w->open(w->arg, &overhead);
    overhead.end_fs = 7 * NS;
    w->close(w->arg, &overhead);
    w->open(w->arg, &drain);
    drain.end_fs = held.end_fs = 9 * NS + 1;
    w->close(w->arg, &drain);
    w->release(w->arg, &held);
    w->end(w->arg, &drain);
}

static void a_service_has_its_parts_and_a_wait_is_a_number(void **state)
{
    struct rig r;
    char text[4096];

    (void)state;
    begin(&r);
    start(&r);
    tell_one(&r.watch);
    written(&r, text, sizeof text);
    assert_string_equal(text, "C 3 2000.000 sip0.cube0.hbm_ctrl.slice0 queue\n"
                              "B 4 5000.000 read c0.pe0\n"
                              "B 4 5000.000 overhead\n"
                              "C 5 5000.000 memories busy\n"
                              "C 3 5000.000 sip0.cube0.hbm_ctrl.slice0 queue\n"
                              "E 4 7000.000 \n"
                              "B 4 7000.000 drain\n"
                              "E 4 9000.001 \n"
                              "E 4 9000.001 \n"
                              "C 5 9000.001 memories busy\n");
}

static void a_window_has_what_overlaps_it(void **state)
{
    struct rig r;
    char text[4096];

    (void)state;
    begin(&r);
    r.cli.opts.trace_from_fs = 6 * NS;
    r.cli.opts.trace_to_fs = 7 * NS;
    start(&r);
    tell_one(&r.watch);
    written(&r, text, sizeof text);
    assert_string_equal(text, "B 3 5000.000 read c0.pe0\n"
                              "B 3 5000.000 overhead\n"
                              "C 4 6000.000 memories busy\n"
                              "C 4 7000.000 memories busy\n"
                              "E 3 7000.000 \n"
                              "E 3 9000.001 \n");
}

static void what_is_open_in_the_end_is_closed(void **state)
{
    struct rig r;
    char text[4096];
    kb_service held = service(place_of(KB_AT_MEMORY, 0), 5 * NS, -1), other = held;

    (void)state;
    begin(&r);
    start(&r);
    r.watch.take(r.watch.arg, &held);
    other.place = place_of(KB_AT_MEMORY, 1);
    other.begin_fs = 6 * NS;
    r.watch.take(r.watch.arg, &other);
    written(&r, text, sizeof text);
    assert_string_equal(text, "B 3 5000.000 read c0.pe0\n"
                              "C 4 5000.000 memories busy\n"
                              "B 5 6000.000 read c0.pe0\n"
                              "E 5 6000.000 \n"
                              "E 3 6000.000 \n"
                              "C 4 6000.000 memories busy\n");
}

/* A command is told when it is issued; its dispatch began before. */
static void commands_are_nested_in_their_kernel(void **state)
{
    struct rig r;
    char text[4096];
    kb_kernel_run kernel = {.pe = 0, .kernel = "k", .start_fs = 1 * NS, .end_fs = -1};
    kb_command load = {.id = 7,
                       .call = "tl_load",
                       .name = "dma_read",
                       .kernel = "k",
                       .file = "k.c",
                       .line = 3,
                       .call_fs = 1 * NS,
                       .issue_fs = 4 * NS,
                       .end_fs = -1};
    kb_command async = load;

    (void)state;
    begin(&r);
    start(&r);
    r.watch.start(r.watch.arg, &kernel);
    r.watch.issue(r.watch.arg, &load);
    load.end_fs = 8 * NS;
    r.watch.finish(r.watch.arg, &load);
    async.id = 8;
    async.call = "tl_load_async";
    async.async = true;
    async.call_fs = 8 * NS;
    async.issue_fs = 11 * NS;
    r.watch.issue(r.watch.arg, &async);
    async.end_fs = kernel.end_fs = 20 * NS;
    r.watch.finish(r.watch.arg, &async);
    r.watch.leave(r.watch.arg, &kernel);
    written(&r, text, sizeof text);
    assert_string_equal(text, "B 3 1000.000 k\n"
                              "B 3 1000.000 tl_load\n"
                              "B 3 1000.000 dispatch\n"
                              "E 3 4000.000 \n"
                              "E 3 8000.000 \n"
                              "B 3 8000.000 tl_load_async\n"
                              "E 3 11000.000 \n"
                              "B 4 11000.000 tl_load_async\n"
                              "E 4 20000.000 \n"
                              "E 3 20000.000 \n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_map_has_what_was_put_and_not_removed),
        cmocka_unit_test(a_slice_takes_the_lowest_lane_that_was_free_then),
        cmocka_unit_test(a_text_has_one_number),
        cmocka_unit_test(a_class_is_counted_over_the_machine),
        cmocka_unit_test(a_service_has_its_parts_and_a_wait_is_a_number),
        cmocka_unit_test(a_window_has_what_overlaps_it),
        cmocka_unit_test(what_is_open_in_the_end_is_closed),
        cmocka_unit_test(commands_are_nested_in_their_kernel),
    };
    return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
