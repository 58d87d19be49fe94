/* talking.c -- a simulator of cube8 whose PEs talk, some until they deadlock: for
 * e2e/talking.sh and e2e/deadlock.sh. */
#include "cli/benches.h"
#include "cli/cli_main.h"
#include "cube8.h"
#include "tl.h"

enum { RING = 4, LATE = 5, FAR = 33 };

static const kb_placement on_all = {KB_REPLICATE, KB_REPLICATE};

static tl_tensor *something(tl_ctx *tl, int64_t elements)
{
    return tl_full(tl, KB_F32, KB_SHAPE(elements), 1);
}

/* A token goes once around, each adds its own; the first begins. */
static void ring(tl_ctx *tl, const kb_args *args)
{
    uint32_t pe = tl_pe(tl), next = (pe + 1) % RING, before = (pe + RING - 1) % RING;
    tl_tensor *own = something(tl, 512);

    (void)args;
    if (pe == 0)
        tl_send(tl, next, 0, own);
    tl_tensor *got = tl_recv(tl, before, 0, KB_F32, KB_SHAPE(512));
    if (pe != 0)
        tl_send(tl, next, 0, tl_add(tl, got, own));
}

/* More pieces than there are slots, and a receiver that is busy first. */
static void press(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    if (tl_pe(tl) == 0) {
        tl_send(tl, FAR, 3, tl_arange(tl, KB_F32, 8192, 0, 1));
        something(tl, 64);
        return;
    }
    for (int i = 0; i < 16; i++)
        tl_exp(tl, something(tl, 4096));
    tl_recv(tl, 0, 3, KB_F32, KB_SHAPE(8192));
}

/* One comes late. */
static void meet(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    if (tl_pe(tl) == LATE)
        tl_exp(tl, something(tl, 65536));
    tl_barrier(tl, tl_cube(tl));
    something(tl, 64);
}

static void count(tl_ctx *tl, const kb_args *args)
{
    tl_atomic_add(tl, kb_tensor_shard(args->tensors[0], 0).address, KB_I32, 1);
}

/* -- deadlocks ------------------------------------------------------------------------------- */

/* No PE sends. */
static void listen(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    something(tl, 64);
    if (tl_pe(tl) == 1)
        tl_recv(tl, 0, 7, KB_F32, KB_SHAPE(16));
}

/* All send before any receives, more than slots hold. */
static void jam(tl_ctx *tl, const kb_args *args)
{
    uint32_t pe = tl_pe(tl);

    (void)args;
    tl_send(tl, (pe + 1) % RING, 0, something(tl, 8192));
    tl_recv(tl, (pe + RING - 1) % RING, 0, KB_F32, KB_SHAPE(8192));
}

/* One does not come. */
static void stay_away(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    if (tl_pe(tl) != LATE)
        tl_barrier(tl, tl_cube(tl));
}

/* The kernel returns with a receive under way. */
static void leave(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    if (tl_pe(tl) == 2)
        tl_recv_async(tl, 3, 0, KB_F32, KB_SHAPE(16));
}

/* The first waits for all, each of which waits for the next: a long circle. */
static void circle(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    tl_recv(tl, (tl_pe(tl) + 1) % 64, 0, KB_F32, KB_SHAPE(16));
}

/* One waits for a PE that has ended; another, at a barrier, for one that waits for it and one that
 * does not. */
static void cross(tl_ctx *tl, const kb_args *args)
{
    static const uint32_t group[] = {2, 4, 5};
    uint32_t pe = tl_pe(tl);

    (void)args;
    if (pe == 4)
        tl_barrier(tl, (tl_group){.pes = group, .n = 3});
    if (pe == 1 || pe == 5)
        tl_recv(tl, pe == 1 ? 3 : 4, 0, KB_F32, KB_SHAPE(16));
}

/* It is sent, but not under that tag. */
static void mistag(tl_ctx *tl, const kb_args *args)
{
    (void)args;
    if (tl_pe(tl) == 0)
        tl_send(tl, 1, 3, something(tl, 16));
    else
        tl_recv(tl, 0, 2, KB_F32, KB_SHAPE(16));
}

/* -- benches -------------------------------------------------------------------------------- */

static void declare(kb_bench_run *run)
{
    kb_bench_input(run, "x", KB_I32, KB_SHAPE(1), on_all, 1);
}

#define BENCH(id, n)                                                                               \
    static void setup_##id(kb_bench_run *run)                                                      \
    {                                                                                              \
        static const uint32_t pes[] = {0, 1, 2, 3, 4, 5, 6, 7};                                    \
                                                                                                   \
        declare(run);                                                                              \
        kb_bench_launch(run, #id, id, pes, n);                                                     \
    }                                                                                              \
    static const kb_bench bench_##id = {.name = #id, .summary = "talks", .setup = setup_##id};

BENCH(ring, RING)
BENCH(meet, 8)
BENCH(count, 8)
BENCH(listen, 2)
BENCH(jam, RING)
BENCH(stay_away, 8)
BENCH(leave, 8)
BENCH(circle, 0)
BENCH(cross, 8)
BENCH(mistag, 2)

static void setup_press(kb_bench_run *run)
{
    static const uint32_t pes[] = {0, FAR};

    declare(run);
    kb_bench_launch(run, "press", press, pes, 2);
}

/* One launch after the other. */
static void setup_two(kb_bench_run *run)
{
    setup_meet(run);
    kb_bench_launch(run, "ring", ring, (const uint32_t[]){0, 1, 2, 3}, RING);
}

/* The last of them does not end. */
static void setup_at_last(kb_bench_run *run)
{
    setup_two(run);
    kb_bench_launch(run, "jam", jam, (const uint32_t[]){0, 1, 2, 3}, RING);
}

static const kb_bench bench_press = {.name = "press", .summary = "talks", .setup = setup_press};
static const kb_bench bench_two = {.name = "two", .summary = "talks", .setup = setup_two};
static const kb_bench bench_at_last = {
    .name = "at_last", .summary = "talks", .setup = setup_at_last};

const kb_bench *const benches[] = {
    &bench_ring,    &bench_press,     &bench_meet,   &bench_count,  &bench_listen,
    &bench_jam,     &bench_stay_away, &bench_leave,  &bench_circle, &bench_two,
    &bench_at_last, &bench_cross,     &bench_mistag,
};
const size_t n_benches = sizeof benches / sizeof *benches;

int main(int argc, char **argv)
{
    return kb_cli_main(&cube8_topology, argc, argv);
}
