/* test_router_packets.c -- random packets on random machines with routers, all at once: none waits
 * without end, and no segment and no credit is lost. docs/network.md "No deadlock".
 *
 * Buffers are small and all rows begin within a few ns, so most packets wait most of the time. Runs
 * pause every few events, and all buffers are counted then: what is in them, the room that is
 * known to be free, and credits on their way are together as much as at the begin.
 */
#include "engine/router.h"
#include "machine/walk.h"
#include "support/any_topology.h"
#include "support/scenario.h"

/* KB_PACKETS=N in the environment sends as many. */
enum { PACKETS = 20000, ROWS = 400, PAUSE = 1000 };

struct count {
    uint64_t packets, machines, pauses;
};

/* Bytes that a buffer has room for; `held`: those in it, and of credits on their way. */
static int64_t room_known(const struct vc *vc, int64_t *held)
{
    int64_t room = vc->credits;

    *held = 0;
    for (uint32_t i = 0; i < vc->n_due; i++)
        room += (int64_t)vc->due[(vc->due_first + i) & (vc->due_room - 1)].nbytes;
    for (uint32_t i = 0; i < vc->n; i++)
        *held += vc->rows[(vc->first + i) & (vc->room - 1)].nbytes;
    return room;
}

/* A buffer of a router, or of a memory, which gives its room back when it has served. */
static void check_vc(const kb_sim *sim, const struct vc *vc, bool at_end)
{
    int64_t held, room = room_known(vc, &held);
    bool is_whole = room + held == sim->topo->buffer_bytes;

    assert_true(vc->credits >= 0);
    if (at_end)
        assert_true(vc->n == 0 && vc->out_vc == NO_VC && vc->owned_until != ROUTER_NEVER);
    if (is_whole)
        return;
    for (uint32_t kind = 0; kind < sim->topo->n_kinds; kind++) {
        int64_t queue = sim->topo->kinds[kind].queue_bytes;

        is_whole |= vc->n == 0 && queue > 0 && (at_end ? room == queue : room <= queue);
    }
    assert_true(is_whole);
}

/* No segment and no credit is lost. */
static void check_buffers(const kb_sim *sim, bool at_end)
{
    const struct router *r = sim->router;

    for (size_t i = 0; i < walk_n_links(sim->topo); i++) {
        if (!r->ports[i].known)
            continue;
        if (at_end)
            assert_true(r->ports[i].inputs == NO_INPUT && r->ports[i].source == NO_PARCEL);
        for (uint32_t v = 0; v < r->n_vcs && !r->ports[i].endless; v++)
            check_vc(sim, &r->vcs[i * r->n_vcs + v], at_end);
    }
    for (uint32_t i = 0; at_end && i < r->n_flights; i++)
        assert_null(r->flights[i].way);
}

/* Packets of a row, and of a read's command. */
static uint64_t packets_of_row(const kb_topology *topo, const struct judge_row *row)
{
    uint64_t packet = topo->packet_bytes ? topo->packet_bytes : UINT64_MAX;

    return (row->nbytes - 1) / packet + 1;
}

static void run_rows(const struct scenario *s, struct count *count)
{
    kb_sim *sim = sim_of_rows(s->topo, (kb_options){.engine = KB_FUSED}, s->rows, s->n);
    kb_error why = {""};
    kb_status status;

    while ((status = kb_sim_run(sim, PAUSE, &why)) == KB_AGAIN) {
        check_buffers(sim, false);
        count->pauses++;
    }
    if (status != KB_OK)
        fail_msg("seed %" PRIu64 ": status %d: %s", s->seed, (int)status, why.text);
    assert_int_equal(kb_sim_done(sim), s->n);
    check_buffers(sim, true);
    for (size_t i = 0; i < s->n; i++)
        count->packets += packets_of_row(s->topo, &s->rows[i]);
    kb_sim_free(sim);
}

/* One load on the machine of a seed, if kbgen takes it. */
static void load_machine(void (*write)(FILE *out, uint64_t seed), uint64_t seed,
                         struct count *count)
{
    struct scenario s = {.seed = seed, .dice = seed, .n = ROWS};
    char *yaml = printed(write, seed);
    struct judge_topo *t = judge_load_text(yaml);

    s.topo = any_topology(yaml);
    assert_non_null(t);
    if (s.topo) {
        s.rows = random_rows(t, draw(&s.dice), s.n);
        shorten(t, s.rows, s.n);
        for (size_t i = 0; i < s.n; i++)
            s.rows[i].issue_fs %= 10000000;
        s.n = with_ways(t, s.rows, s.n);
        if (s.n)
            run_rows(&s, count);
        free(s.rows);
        count->machines++;
        any_topology_free(s.topo);
    }
    judge_free(t);
    free(yaml);
}

static void packets_on_checked_machines_all_arrive(void **state)
{
    const char *text = getenv("KB_PACKETS");
    uint64_t wanted = text ? strtoull(text, NULL, 10) : PACKETS;
    struct count count = {0};

    (void)state;
    for (uint64_t seed = 1; count.packets < wanted; seed++) {
        load_machine(judge_random_routers, seed, &count);
        load_machine(judge_random_detours, seed, &count);
    }
    print_message("# %" PRIu64 " packets on %" PRIu64 " machines, counted %" PRIu64 " times\n",
                  count.packets, count.machines, count.pauses);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_on_checked_machines_all_arrive),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
