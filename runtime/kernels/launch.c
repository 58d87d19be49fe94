/* launch.c -- launches: hosts send a kernel to its PEs, it runs on each, responses come back. */
#include "machine/endpoint.h"
#include "kernels/engine.h"
#include "data/host.h"
#include "kernels/service.h"
#include "record/race.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernels/observe.h"

/* -- the way to a PE and back --------------------------------------------------------------- */

/* From the host of the PE's SIP to its pe_cpu, whose own overhead is not in it.       design 5 */
static struct cost_row way_to(const struct kb_topology *t, const struct tl_ctx *pe)
{
    struct cost_row way = t->cost_host[cube_column(t, src_cube(t, pe->src))];

    way = cost_add(way, t->cost_host_cpu);
    return cost_add(way, &t->cost_launch[src_pe(t, pe->src)]);
}

static int64_t launch_fs(const struct kb_sim *s, const struct tl_ctx *pe)
{
    struct cost_row way = way_to(s->topo, pe);

    return cost_way_fs(&s->mask, way.wire_fs, way.overhead_fs);
}

static int64_t response_fs(const struct kb_sim *s, const struct tl_ctx *pe)
{
    uint32_t dst = dst_pack(s->topo, src_cube(s->topo, pe->src), 0);

    return cost_response_fs(s->topo, &s->mask, dst, way_to(s->topo, pe).wire_fs);
}

/* -- errors --------------------------------------------------------------------------------- */

static struct launch *current(struct kernels *k)
{
    return &k->launches[k->launch];
}

/* "kernel gemm on c0.pe3: tl_load at file.c:12: " */
static size_t put_place(const struct tl_ctx *pe, const char *call, tl_here here, char *text,
                        size_t size)
{
    const struct kb_topology *t = pe->sim->topo;
    kb_endpoint end = {KB_PE, src_cube(t, pe->src) / t->cubes, src_cube(t, pe->src) % t->cubes,
                       src_pe(t, pe->src)};
    char name[KB_ENDPOINT_BYTES];
    int n;

    kb_endpoint_name(&end, name);
    n = snprintf(text, size, "kernel %s on %s: ", current(pe->kernels)->request.name, name);
    if (call && n > 0 && (size_t)n < size)
        n += snprintf(text + n, size - (size_t)n, "%s at %s:%d: ", call, here.file, here.line);
    return n > 0 && (size_t)n < size ? (size_t)n : size;
}

void kernel_error(struct tl_ctx *pe, const char *call, tl_here here, const char *format, ...)
{
    char *text = pe->kernels->error.text;
    size_t size = sizeof pe->kernels->error.text, n;
    va_list ap;

    if (pe->sim->status != KB_OK)
        return; /* the first is told */
    n = put_place(pe, call, here, text, size);
    va_start(ap, format);
    vsnprintf(text + n, size - n, format, ap);
    va_end(ap);
    engine_fail(pe->sim, KB_KERNEL_ERROR);
}

void kernel_no_memory(struct tl_ctx *pe)
{
    if (pe->sim->status != KB_OK)
        return;
    snprintf(pe->kernels->error.text, sizeof pe->kernels->error.text,
             "out of memory while kernels ran");
    engine_fail(pe->sim, KB_NO_MEMORY);
}

_Noreturn void kernel_leave(struct tl_ctx *pe)
{
    for (;;)
        co_suspend(pe->co);
}

/* Events that a kernel runs at most before the loop runs again, and looks at its budget. */
enum { EVENTS_AHEAD = 64 };

/* -- a PE's kernel -------------------------------------------------------------------------- */

static void kernel_main(void *arg)
{
    struct tl_ctx *pe = arg;
    const struct kb_launch_request *r = &current(pe->kernels)->request;
    kb_args args = r->args; /* launches that are added while it runs may move `r` */

    r->kernel(pe, &args);
}

struct host_bytes {
    struct host_bytes *next;
    max_align_t bytes[];
};

void *launch_host_bytes(struct tl_ctx *pe, size_t nbytes)
{
    struct host_bytes *b = nbytes < SIZE_MAX - sizeof *b ? calloc(1, sizeof *b + nbytes) : NULL;

    if (!b)
        return NULL;
    b->next = pe->host_bytes;
    pe->host_bytes = b;
    return b->bytes;
}

/* All that a PE has taken for its kernel. */
static void pe_clear(struct tl_ctx *pe)
{
    tensors_free_all(pe);
    while (pe->host_bytes) {
        struct host_bytes *next = pe->host_bytes->next;

        free(pe->host_bytes);
        pe->host_bytes = next;
    }
    free(pe->room_taken);
    pe->room_taken = NULL;
    pe->room = 0;
    pe->region = NULL;
}

/* `delay_fs` after `t`; EV_PAST if that is past the end of time. */
static uint64_t later(uint64_t t, int64_t delay_fs)
{
    uint64_t sum = t + (uint64_t)delay_fs;

    return sum < EV_PAST ? sum : EV_PAST;
}

/* The kernel has returned, and its commands have ended. */
static void pe_ended(struct tl_ctx *pe, uint64_t t)
{
    struct kernels *k = pe->kernels;
    struct kb_launch_result *r = &current(k)->result;
    uint64_t back = later(t, response_fs(pe->sim, pe));

    if (pe->sim->observer)
        observe_stop(pe, t);
    if (!tcm_show(pe))
        kernel_no_memory(pe);
    if (back == EV_PAST)
        engine_fail(pe->sim, KB_TIME_RANGE);
    pe_clear(pe);
    pe->state = PE_IDLE;
    k->running--;
    if ((int64_t)t > r->last_end_fs)
        r->last_end_fs = (int64_t)t;
    if (back > (uint64_t)r->response_fs)
        r->response_fs = (int64_t)back;
}

static void returned(struct tl_ctx *pe, uint64_t t)
{
    co_drop(pe->co);
    pe->co = NULL;
    pe->state = PE_RETURNED;
    if (pe->outstanding == 0)
        pe_ended(pe, t);
}

/* Runs the kernel until it waits for something. */
static void go_on(struct tl_ctx *pe)
{
    struct kb_sim *s = pe->sim;
    enum co_state state;

    s->kernels->on = pe;
    state = co_resume(pe->co);
    s->kernels->on = NULL;
    switch (state) {
    case CO_YIELDED:
        break;
    case CO_ENDED:
        if (s->status == KB_OK)
            returned(pe, pe->kernels->now_fs);
        break;
    case CO_OVERFLOWED:
        kernel_error(pe, NULL, pe->here, "stack overflow%s%s", pe->call ? ", last call " : "",
                     pe->call ? pe->call : "");
        break;
    }
}

static bool begin(struct tl_ctx *pe)
{
    pe->co = co_new(pe->kernels->stacks, kernel_main, pe);
    if (!pe->co)
        kernel_no_memory(pe);
    else
        pe->stack = co_stack(pe->co, &pe->stack_bytes);
    return pe->co;
}

/* The command called is issued. False: the kernel waits for its end. */
static bool issue_called(struct tl_ctx *pe, uint64_t t)
{
    struct command *c = pe->current;
    bool async;

    pe_issue(pe, t);
    if (pe->sim->status != KB_OK)
        return false;
    async = c->async; /* of a send only now: if all of it is under way */
    if (async && pe->sim->observer)
        observe_resume(pe, c->op.id, false);
    if (async)
        pe->current = NULL;
    else
        pe->state = PE_WAITS;
    return async;
}

/*
 * With thousands of PEs nothing of the next is in the cache, and mostly the next is the one with
 * the next number: its context is fetched two turns ahead, what that points to one.
 */
static inline void prefetch_neighbours(const struct kernels *k, uint32_t number)
{
    const struct tl_ctx *next = &k->pes[number + 1], *after = next + 1;

    if (number + 2 >= k->n_pes)
        return;
    __builtin_prefetch(&after->sim);
    __builtin_prefetch(&after->region);
    __builtin_prefetch(next->co);
    if (next->current) {
        const char *c = (const char *)next->current;

        __builtin_prefetch(c);
        __builtin_prefetch(c + 64);
        __builtin_prefetch(c + 128);
        __builtin_prefetch(&next->current->pe);
        __builtin_prefetch(&next->current->async);
    }
}

void kernel_event(struct kb_sim *s, uint64_t t, uint32_t number)
{
    struct tl_ctx *pe = &s->kernels->pes[number];

    prefetch_neighbours(s->kernels, number);

    s->kernels->now_fs = t;
    s->kernels->ahead = EVENTS_AHEAD;
    if (pe->state == PE_BEGINS && s->observer)
        observe_start(pe, t);
    if (pe->state == PE_BEGINS && !begin(pe))
        return;
    if (pe->state == PE_ISSUES && !issue_called(pe, t))
        return;
    go_on(pe);
}

void kernel_wait(struct tl_ctx *pe)
{
    struct kernels *k = pe->kernels;

    do {
        if (!engine_until(pe->sim, pe->number)) {
            co_suspend(pe->co);
            return;
        }
    } while (pe->state == PE_ISSUES ? !issue_called(pe, k->now_fs) : pe->state == PE_WAITS);
}

void pe_command_end(struct kb_sim *s, uint64_t t, struct command *c)
{
    struct tl_ctx *pe = c->pe;
    bool wakes = c == pe->current;

    if (s->observer)
        observe_finish(s, t, c);
    if (c->async && c->result) {
        wakes = pe->state == PE_WAITS && pe->awaited == c->result;
        c->result->wait = WAIT_ENDED;
    }
    if (s->observer && (wakes || (pe->outstanding == 1 && pe->state == PE_RETURNED)))
        observe_resume(pe, c->op.id, true);
    if (wakes) {
        pe->state = PE_WAKES;
        pe->current = NULL;
        pe->awaited = NULL;
        wakes_add(&s->kernels->wakes, t, pe->number);
    }
    command_free(s->kernels, c);
    if (--pe->outstanding == 0 && pe->state == PE_RETURNED)
        pe_ended(pe, t);
}

/* -- kernels of a simulation ---------------------------------------------------------------- */

static void pe_init(struct kb_sim *s, struct kernels *k, uint32_t number)
{
    struct tl_ctx *pe = &k->pes[number];
    const struct kb_topology *t = s->topo;

    pe->sim = s;
    pe->kernels = k;
    pe->number = number;
    pe->src = src_pack(t, number / t->pes, number % t->pes);
    pe->tcm = dst_pack(t, number / t->pes, t->pes + 1 + number % t->pes);
    pe->tcm_address = address_of(t, pe->tcm, 0);
    for (int i = 0; i < N_PORTS; i++)
        pe->port[i].head = pe->port[i].holder = TXN_NONE;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t way_fs(const struct kb_sim *s, const struct cost_row *c)
{
    return cost_way_fs(&s->mask, c->wire_fs, c->overhead_fs);
}

/* The shortest way from any PE to memory `unit` of any cube, or less. */
static int64_t least_way_fs(const struct kb_sim *s, uint32_t unit)
{
    const struct kb_topology *t = s->topo;
    int64_t local = INT64_MAX, out = INT64_MAX, in = INT64_MAX;

    for (uint32_t pe = 0; pe < t->pes; pe++)
        local = least(local, way_fs(s, &t->cost_local[pe * t->n_units + unit]));
    for (uint32_t i = 0; i < t->pes * N_EXITS; i++)
        out = least(out, way_fs(s, &t->cost_out[i]));
    for (uint32_t side = 0; side < N_SIDES; side++)
        in = least(in, way_fs(s, &t->cost_in[side * t->n_units + unit]));
    return least(local, out + in);
}

/* With links as stations it is not known when a transaction arrives; a TCM is used by its PE. */
static void find_least_ways(const struct kb_sim *s, struct kernels *k)
{
    const struct kb_topology *t = s->topo;

    for (uint32_t unit = 0; unit < t->n_units; unit++)
        k->least_way_fs[unit] = t->links == MODE_FIFO || unit > t->pes ? -1 : least_way_fs(s, unit);
    for (uint32_t i = 0; i < sim_cubes(t) << t->unit_bits; i++)
        s->memories[i].under_way = 0;
}

struct kernels *kernels_new(struct kb_sim *s)
{
    const struct kb_topology *t = s->topo;
    struct kernels *k = calloc(1, sizeof *k);

    if (!k)
        return NULL;
    k->n_pes = sim_cubes(t) * t->pes;
    k->free_slot = TXN_NONE;
    k->mem = host_mem(&s->host, s->topo);
    k->pes = calloc(k->n_pes, sizeof *k->pes);
    k->stacks = co_pool_new(s->options.stack_bytes);
    k->least_way_fs = malloc(t->n_units * sizeof *k->least_way_fs);
    k->issue_fs = cost_way_fs(&s->mask, 0, t->pe.cpu_overhead_fs + t->pe.scheduler_overhead_fs);
    if (!wakes_init(&k->wakes, k->n_pes) || !k->mem || !k->pes || !k->stacks || !k->least_way_fs) {
        kernels_free(k);
        return NULL;
    }
    find_least_ways(s, k);
    for (uint32_t i = 0; i < k->n_pes; i++)
        pe_init(s, k, i);
    return k;
}

void kernels_free(struct kernels *k)
{
    if (!k)
        return;
    for (uint32_t i = 0; k->pes && i < k->n_pes; i++) {
        if (k->pes[i].co)
            co_drop(k->pes[i].co);
        pe_clear(&k->pes[i]);
    }
    for (size_t i = 0; i < k->n_launches; i++)
        free((uint32_t *)k->launches[i].request.pes);
    commands_free_all(k);
    free(k->launches);
    free(k->work);
    free(k->pes);
    ipcq_free(k);
    co_pool_free(k->stacks);
    wakes_free(&k->wakes);
    free(k->least_way_fs);
    regions_free(k);
    pool_free(k);
    free(k);
}

/* -- kb_launch ------------------------------------------------------------------------------ */

static kb_status check_pes(const struct kb_topology *t, const kb_launch_request *r, kb_error *why)
{
    uint32_t n = sim_cubes(t) * t->pes;

    for (size_t i = 0; r->pes && i < r->n_pes; i++) {
        if (r->pes[i] >= n)
            return endpoint_error(why, "there is no PE %u, only 0..%u", r->pes[i], n - 1);
        if (i && r->pes[i] <= r->pes[i - 1])
            return endpoint_error(why, "the PEs of a launch are not in ascending order");
    }
    if (r->pes && !r->n_pes)
        return endpoint_error(why, "a launch needs at least one PE");
    return r->kernel && r->name ? KB_OK : endpoint_error(why, "a launch needs a kernel and its name");
}

static bool room_for_launch(struct kernels *k)
{
    size_t cap = k->launches_cap ? 2 * k->launches_cap : 4;
    struct launch *moved;

    if (k->n_launches < k->launches_cap)
        return true;
    moved = realloc(k->launches, cap * sizeof *moved);
    if (!moved)
        return false;
    k->launches = moved;
    k->launches_cap = cap;
    return true;
}

/* Makes what kernels need when the first is launched. */
static kb_status make_kernels(struct kb_sim *s, kb_error *why)
{
    if (s->n_txns || s->traffic)
        return endpoint_error(why, "the simulation has transactions of its own, it takes no kernels");
    if (s->topo->pes * s->topo->tcm_read.nbytes > ADDRESS_REGION_BYTES)
        return endpoint_error(why, "the TCMs of a cube pass 64 GiB, more than addresses can name");
    if (!s->log && (s->options.oplog || s->options.phase2))
        s->log = op_log_new(s->topo, s->options.oplog_limit_bytes, s->options.phase2);
    if (!s->log && (s->options.oplog || s->options.phase2))
        return KB_NO_MEMORY;
    if (!s->kernels)
        s->kernels = kernels_new(s);
    return s->kernels ? KB_OK : KB_NO_MEMORY;
}

kb_status kb_launch(kb_sim *s, const kb_launch_request *r, kb_error *why)
{
    kb_status status = s->status == KB_OK ? check_pes(s->topo, r, why)
                                          : endpoint_error(why, "the simulation has ended");
    struct kernels *k;
    struct launch *l;
    uint32_t *pes = NULL;

    if (status == KB_OK)
        status = make_kernels(s, why);
    if (status != KB_OK)
        return status;
    k = s->kernels;
    if (r->pes && !(pes = malloc(r->n_pes * sizeof *pes)))
        return KB_NO_MEMORY;
    if (!room_for_launch(k)) {
        free(pes);
        return KB_NO_MEMORY;
    }
    if (pes)
        memcpy(pes, r->pes, r->n_pes * sizeof *pes);
    l = &k->launches[k->n_launches++];
    *l = (struct launch){.request = *r};
    l->request.pes = pes;
    l->request.n_pes = pes ? r->n_pes : k->n_pes;
    return KB_OK;
}

/* PE number `i` of a launch. */
static struct tl_ctx *pe_of(struct kernels *k, const struct launch *l, size_t i)
{
    return &k->pes[l->request.pes ? l->request.pes[i] : i];
}

/* What an earlier kernel left in a TCM is gone when the next begins. */
static void clear_tcms(struct kb_sim *s)
{
    const struct kb_topology *t = s->topo;

    for (uint32_t i = 0; i < s->kernels->n_pes; i++)
        mem_clear(s->kernels->mem, dst_pack(t, i / t->pes, t->pes + 1 + i % t->pes));
}

/* All kernels start together, when the last of them can. */
static void begin_launch(struct kb_sim *s)
{
    struct kernels *k = s->kernels;
    struct launch *l = current(k);
    uint64_t start;
    int64_t way = 0;

    l->result = (struct kb_launch_result){
        .kernel = l->request.name, .pes = (uint32_t)l->request.n_pes, .launch_fs = s->end_fs};
    for (size_t i = 0; i < l->request.n_pes; i++) {
        int64_t fs = launch_fs(s, pe_of(k, l, i));

        way = fs > way ? fs : way;
    }
    start = later((uint64_t)s->end_fs, way);
    l->result.start_fs = (int64_t)start;
    k->running = (uint32_t)l->request.n_pes;
    k->launched = true;
    host_wait(s->host, true);
    ipcq_clear(k);
    clear_tcms(s);
    if (s->race)
        race_launch(s->race, l->request.name, l->request.n_pes);
    for (size_t i = 0; i < l->request.n_pes && s->status == KB_OK; i++) {
        struct tl_ctx *pe = pe_of(k, l, i);

        pe->state = PE_BEGINS;
        pe->issued = false;
        pe->call = NULL;
        wakes_append(&k->wakes, start, pe->number);
    }
}

/* PEs of a launch that has run to which there was nothing to do. */
static void count_idle(struct kernels *k, struct launch *l)
{
    for (size_t i = l->request.n_pes; i-- > 0;) {
        const struct tl_ctx *pe = pe_of(k, l, i);

        if (pe->issued)
            continue;
        l->result.idle_pes++;
        l->result.idle_pe = pe->number;
    }
}

static void end_launch(struct kb_sim *s)
{
    struct kernels *k = s->kernels;
    struct launch *l = current(k);

    count_idle(k, l);
    ipcq_count_unreceived(k, &l->result);
    l->done = true;
    s->end_fs = l->result.response_fs;
    k->launched = false;
    host_wait(s->host, false);
    k->launch++;
}

/* -- running -------------------------------------------------------------------------------- */

/* A PE that has not ended. */
static const struct tl_ctx *unfinished(const struct kernels *k)
{
    for (uint32_t i = 0; i < k->n_pes; i++)
        if (k->pes[i].state != PE_IDLE)
            return &k->pes[i];
    return NULL;
}

/* max_events is there to end kernels that do not end themselves. */
static kb_status too_many_events(struct kb_sim *s)
{
    const struct tl_ctx *pe = unfinished(s->kernels);
    char *text = s->kernels->error.text;
    size_t size = sizeof s->kernels->error.text, n = 0;

    if (pe)
        n = put_place(pe, pe->call, pe->here, text, size);
    snprintf(text + n, size - n, "the kernel has not ended after %llu events",
             (unsigned long long)s->options.max_events);
    return s->status = KB_KERNEL_ERROR;
}

static kb_status ran(struct kb_sim *s, kb_status status, kb_error *why)
{
    if (status == KB_STOPPED && s->options.max_events && s->n_events >= s->options.max_events)
        status = too_many_events(s);
    if (status != KB_AGAIN && status != KB_OK)
        s->status = status;
    if (why && status != KB_OK && status != KB_AGAIN && s->kernels->error.text[0])
        *why = s->kernels->error;
    return status;
}

/* A run that has ended stays ended: a mistake, a bound that was reached. */
kb_status kernels_run(struct kb_sim *s, uint64_t budget, kb_error *why)
{
    struct kernels *k = s->kernels;
    kb_status status = s->status;

    if (k->on)
        return endpoint_error(why, "a kernel cannot run the simulation that runs it");
    while (status == KB_OK && k->launch < k->n_launches) {
        if (!k->launched)
            begin_launch(s);
        status = s->status == KB_OK ? engine_kernels(s, budget) : s->status;
        if (status == KB_OK && k->running) {
            status = deadlock(s);
        }
        if (status == KB_OK)
            end_launch(s);
    }
    return ran(s, status, why);
}

size_t kb_launch_count(const kb_sim *s)
{
    return s->kernels ? s->kernels->n_launches : 0;
}

size_t kb_launch_done(const kb_sim *s)
{
    return s->kernels ? s->kernels->launch : 0;
}

kb_status kb_launch_get(const kb_sim *s, size_t i, kb_launch_result *out)
{
    if (i >= kb_launch_count(s))
        return KB_BAD_REQUEST;
    if (!s->kernels->launches[i].done)
        return KB_PENDING;
    *out = s->kernels->launches[i].result;
    return KB_OK;
}

bool kb_catch_overflow(void)
{
    return co_catch_overflow();
}
