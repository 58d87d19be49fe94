/*
 * kernel.c -- what kernels cost: a load with its wake-up and its record, a message, and a launch.
 *
 * Every PE of the launch loads 4 KiB of its own slice and gives the tensor back, over and over; or
 * sends 64 bytes, or 100 slots, to the next PE and receives as many from the one before: a message,
 * or a piece of one, is sent, received and credited; a send alone goes to a free slot, and is never
 * received; a barrier is one of all PEs, for each of them. In processor time; a launch of a
 * kernel that does nothing is taken off.
 *
 * usage: kernel ROUNDS; samples go to stdout (bench.h), what is wrong to stderr.
 *        kernel loads PES N   one launch of N loads in all, for profile.sh
 */
#include "bench.h"
#include "bench_slots.h"
#include "cube8.h"
#include "mesh1024.h"
#include "tl.h"
#include <stdlib.h>
#include <sys/resource.h>

enum { LOADS = 400000, PIECES = 400000, BYTES = 4096, MESSAGE_BYTES = 64, SLOTS = 100 };
enum { MEETINGS = 400000 };
enum { SENDS = 256000 }; /* bench_slots has room for them */

static void must(kb_status status, const kb_error *why)
{
    if (status == KB_OK)
        return;
    fprintf(stderr, "kernel: status %d: %s\n", (int)status, why->text);
    exit(1);
}

static void nothing(tl_ctx *tl, const kb_args *args)
{
    (void)tl;
    (void)args;
}

/* As often as the launch says. */
static void load_own(tl_ctx *tl, const kb_args *args)
{
    const uint64_t *times = args->user;
    kb_endpoint slice = {KB_SLICE, (uint32_t)tl_program_id(tl, 2), (uint32_t)tl_program_id(tl, 1),
                         (uint32_t)tl_program_id(tl, 0)};
    uint64_t address = kb_address(tl_topology(tl), &slice, 0);

    for (uint64_t i = 0; i < *times; i++)
        tl_free(tl, tl_load(tl, address, KB_U8, KB_SHAPE(BYTES)));
}

/* Round a ring of all PEs, as often as the launch says. */
static void pass_on(tl_ctx *tl, const kb_args *args, uint32_t nbytes)
{
    const uint64_t *times = args->user;
    uint32_t me = tl_pe(tl);
    uint32_t n = (uint32_t)(tl_num_programs(tl, 0) * tl_num_programs(tl, 1));
    tl_tensor *x = tl_full(tl, KB_U8, KB_SHAPE(nbytes), 1);

    for (uint64_t i = 0; i < *times; i++) {
        tl_tensor *y = tl_recv_async(tl, (me + n - 1) % n, 0, KB_U8, KB_SHAPE(nbytes));

        tl_send(tl, (me + 1) % n, 0, x);
        tl_wait(tl, y);
        tl_free(tl, x);
        x = y;
    }
}

static void meet(tl_ctx *tl, const kb_args *args)
{
    const uint64_t *times = args->user;

    for (uint64_t i = 0; i < *times; i++)
        tl_barrier(tl, tl_all(tl));
}

static void send_only(tl_ctx *tl, const kb_args *args)
{
    const uint64_t *times = args->user;
    tl_tensor *x = tl_full(tl, KB_U8, KB_SHAPE(MESSAGE_BYTES), 1);

    for (uint64_t i = 0; i < *times; i++)
        tl_send(tl, tl_pe(tl) ^ 1, 0, x);
}

static void pass_message(tl_ctx *tl, const kb_args *args)
{
    pass_on(tl, args, MESSAGE_BYTES);
}

static void pass_slots(tl_ctx *tl, const kb_args *args)
{
    pass_on(tl, args, SLOTS * BYTES);
}

/* One launch on the first `n_pes`; in ns. */
static double launch_ns(const kb_topology *topo, kb_kernel kernel, uint32_t n_pes, bool oplog,
                        uint64_t times)
{
    kb_options options = {.oplog = oplog};
    kb_error why = {""};
    kb_sim *sim;
    kb_tensor *x;
    uint32_t *pes = malloc(n_pes * sizeof *pes);
    kb_launch_request r = {.name = "bench", .kernel = kernel, .pes = pes, .n_pes = n_pes};
    double begin, ns;

    for (uint32_t i = 0; i < n_pes; i++)
        pes[i] = i;
    must(kb_sim_new(topo, &options, &sim), &why);
    must(kb_tensor_new(sim, "x", KB_U8, KB_SHAPE(BYTES), (kb_placement){0}, &x, &why), &why);
    must(kb_tensor_fill_arange(x, 0, 0, &why), &why);
    r.args = (kb_args){.tensors = &x, .n_tensors = 1, .user = &times};
    begin = bench_processor_ns();
    must(kb_launch(sim, &r, &why), &why);
    must(kb_sim_run(sim, 0, &why), &why);
    ns = bench_processor_ns() - begin;
    kb_sim_free(sim);
    free(pes);
    return ns;
}

static void measure_loads(const char *name, const kb_topology *topo, uint32_t n_pes, int round)
{
    uint64_t times = LOADS / n_pes;
    double empty = launch_ns(topo, nothing, n_pes, false, 0);
    char text[64];

    for (int log = 0; log < 2; log++) {
        double ns = launch_ns(topo, load_own, n_pes, log, times) - empty;

        snprintf(text, sizeof text, "%s%s", name, log ? " logged" : "");
        bench_sample("load", text, "ns", round, ns / (double)(times * n_pes));
    }
}

/* Of all PEs, for each of them. */
static void measure_barriers(const char *name, const kb_topology *topo, uint32_t n_pes, int round)
{
    uint64_t times = MEETINGS / n_pes;
    double empty = launch_ns(topo, nothing, n_pes, false, 0);

    bench_sample("barrier", name, "ns", round,
                 (launch_ns(topo, meet, n_pes, false, times) - empty) / (double)(times * n_pes));
}

static void measure_send_alone(int round)
{
    uint64_t times = SENDS / 64;
    double ns = launch_ns(&bench_slots_topology, send_only, 64, false, times) -
                launch_ns(&bench_slots_topology, nothing, 64, false, 0);

    bench_sample("send", "alone 64", "ns", round, ns / SENDS);
}

static void measure_sends(const char *name, const kb_topology *topo, uint32_t n_pes, int round)
{
    double empty = launch_ns(topo, nothing, n_pes, false, 0);
    uint64_t times = PIECES / n_pes;

    bench_sample("message", name, "ns", round,
                 (launch_ns(topo, pass_message, n_pes, false, times) - empty) /
                     (double)(times * n_pes));
    times = (times + SLOTS - 1) / SLOTS;
    bench_sample("piece", name, "ns", round,
                 (launch_ns(topo, pass_slots, n_pes, false, times) - empty) /
                     (double)(times * n_pes * SLOTS));
}

static void measure_launch(int round)
{
    struct rusage usage;

    bench_sample("launch", "8192 time", "ms", round,
                 launch_ns(&mesh1024_topology, nothing, 8192, false, 0) / 1e6);
    getrusage(RUSAGE_SELF, &usage);
    bench_sample("launch", "8192 memory", "MB", round, (double)usage.ru_maxrss / 1024);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 5;

    if (argc > 3) {
        uint32_t n_pes = (uint32_t)atoi(argv[2]);

        launch_ns(n_pes > 64 ? &mesh1024_topology : &cube8_topology, load_own, n_pes, false,
                  (uint64_t)atoi(argv[3]) / n_pes);
        return 0;
    }
    for (int round = 1; round <= rounds; round++) {
        measure_launch(round);
        measure_loads("1", &cube8_topology, 1, round);
        measure_loads("64", &cube8_topology, 64, round);
        measure_loads("8192", &mesh1024_topology, 8192, round);
        measure_barriers("64", &cube8_topology, 64, round);
        measure_barriers("8192", &mesh1024_topology, 8192, round);
        measure_send_alone(round);
        measure_sends("64", &cube8_topology, 64, round);
        measure_sends("8192", &mesh1024_topology, 8192, round);
    }
    return 0;
}
