/* pe_cpu.c -- pe_cpu: starts kernels, issues their commands one after the other, and wakes them.
 *
 * What it holds   nothing in time: the kernel waits while a command is issued, or until it has
 *                 ended
 * For how long    overhead of pe_cpu and of pe_scheduler for each command, `issue_fs`: 3 ns on
 *                 cube8
 * Lets in first   PEs at the same instant in order of their numbers (events of class 4)
 * Wait counted    dispatch of --breakdown: from the call to the issue
 * Golden number   docs/kernels.md "Worked: four commands": issue 2 + 1 in every column
 *
 * The life of a kernel is the state of its PE:
 *
 *     PE_BEGINS -> runs -> PE_ISSUES -> PE_WAITS -> PE_WAKES -> runs ... -> PE_RETURNED -> PE_IDLE
 *
 * "Runs" takes no simulated time: the kernel is a coroutine (kernels/co.h) that runs on its own
 * stack until it calls a command. kernel_call() notes the issue in k->wakes, 3 ns ahead, and waits.
 * At that event the command is issued: it gets room and its id. It starts at once, or when the
 * commands that make its operands have ended (kernels/flight.c): then its operands are bound, and
 * its first stage begins. An asynchronous command lets the kernel go on at its issue; else
 * command_end() wakes it.
 *
 * Which stack. The obvious way is to switch to the loop of the engine for every wait, and back. But
 * mostly this kernel is also the next to go on, and then both switches are for nothing. So
 * kernel_wait() runs the engine's events itself, on the kernel's stack (engine_until()), until its
 * own event is next; it gives up when another kernel's event comes first, or after EVENTS_AHEAD
 * events, so that the loop looks at its budget. With the events of class 4 out of the queue
 * (kernels/wakes.h) this took a load from 205 to 150 ns. Its price is that the engine's code can
 * run on a kernel's stack of 256 KiB: it has no large arrays. And if nothing at all lies before the
 * issue of a command, as where one PE is alone, kernel_call() issues it at once (engine_skip_to()).
 *
 * Invariants.
 *   - At most one command of a PE is called and not issued: pe->current.
 *   - A kernel waits for one thing: its current command, the tensor pe->awaited, all its commands,
 * or room in its TCM.
 *   - pe->outstanding counts commands issued and not ended; a PE has ended when its kernel has
 *     returned and that is 0.
 *
 * Example: load, then dot, in ns after the start. Called at 0, issued at 3, served until 21.085;
 * the kernel wakes at 21.085, calls the dot, which is issued at 24.085 and has ended at 60.085.
 */
#include "kernels/acc.h"
#include "kernels/accesses.h"
#include "kernels/barrier.h"
#include "kernels/bound.h"
#include "kernels/kernels_engine.h"
#include "kernels/launches.h"
#include "kernels/error.h"
#include "kernels/flight.h"
#include "kernels/observe.h"
#include "kernels/operands.h"
#include "kernels/persist.h"
#include "kernels/pool.h"
#include "kernels/requests.h"
#include "kernels/skips.h"
#include "pe/boxes.h"
#include "pe/pe_ipcq.h"
#include <stdlib.h>

/* -- a command is issued ---------------------------------------------------------------------- */

static inline bool is_load(const struct command *c)
{
    return c->task == TASK_PLAIN && c->op.kind == OP_DMA_READ;
}

static inline bool is_message(const struct command *c)
{
    return c->task == TASK_SEND || c->task == TASK_RECV;
}

/* May it come to ports and engines of its own PE? A load that sums is a MATH in the end if its sum
 * is pending. */
static inline bool works_inside(const struct command *c)
{
    return c->task != TASK_PLAIN ||
           (c->op.kind != OP_DMA_READ && c->op.kind != OP_DMA_WRITE && !c->op.sums);
}

/* How many ids the stages of a command take beside its own. */
static uint64_t stages_of(const struct command *c)
{
    if (c->task == TASK_SEND)
        return c->pieces - 1;
    if (c->task == TASK_RECV)
        return c->pieces;
    if (c->task == TASK_ACC)
        return acc_stages(c);
    if (c->task == TASK_VALUE || c->task == TASK_COMBINE)
        return 0;
    if (c->op.composite)
        return composite_stages(c);
    return c->op.kind <= OP_DMA_WRITE ? 0 : 1 + (c->fetch_bytes != 0);
}

/* Takes an id for the command, and the ids behind it for its `stages`. */
static inline bool draw_ids(struct kb_sim *s, struct command *c, uint64_t stages)
{
    struct kernels *k = s->kernels;
    uint64_t n = 1 + stages;

    if (__builtin_expect(k->n_skips > 0, false))
        skips_pass(k, c->op.t_issue_fs, c->pe->number);
    if (n > OP_NONE - k->next_id) {
        kernel_error(c->pe, c->call, c->here, "the run has more than %u operations", OP_NONE);
        return false;
    }
    c->op.id = (uint32_t)k->next_id;
    k->next_id += n;
    return true;
}

/* Room in the TCM for its result, whose address is known then. False: it waits for room, or the run
 * has ended. */
static inline bool place_result(struct command *c)
{
    struct tl_tensor *result = c->result;
    enum tcm_result r;

    if (!result || result->kind != TENSOR_VALUE || result->block) /* it lies there already */
        return true;
    r = tcm_alloc(c->pe, result);
    if (r != TCM_OK) {
        if (tcm_may_have_room(c->pe, r, c->call, c->here, result->nbytes))
            c->pe->state = PE_WAITS_ROOM;
        return false;
    }
    if (c->task != TASK_COMBINE) /* that has it beside what it writes */
        c->op.out.address = result->address;
    return true;
}

static inline void name_result(struct command *c)
{
    c->op.out.maker = c->op.id;
    if (!c->result)
        return;
    c->result->maker = c->op.id;
    if (c->async)
        c->result->made_by = c->op.id;
}

/* It has its ids. */
static inline void issued(struct kb_sim *s, struct command *c)
{
    name_result(c);
    pe_result(c->pe)->ops++;
    c->pe->outstanding++;
    c->pe->inside += works_inside(c);
    c->pe->issued = true;
    if (s->observer)
        observe_command(s, c);
}

/* The first stage of a command begins. `called`: in the event of its issue. */
static __attribute__((noinline)) void begin_stages(struct kb_sim *s, uint64_t t, struct command *c,
                                                   bool called)
{
    if (c->task == TASK_SEND)
        ipcq_send(s, t, c, called);
    else if (c->task == TASK_RECV)
        ipcq_receive(s, t, c);
    else if (c->task == TASK_BARRIER)
        barrier_join(s, t, c);
    else if (c->task == TASK_ATOMIC || c->task == TASK_COMBINE)
        pe_dma_issue(s, t, c, called);
    else if (c->task == TASK_ACC)
        acc_start(s, t, c);
    else if (c->task == TASK_VALUE)
        value_start(s, t, c);
    else if (c->op.composite)
        composite_start(s, t, c);
    else if (c->op.kind == OP_DMA_WRITE)
        pe_dma_store(s, t, c, called);
    else
        compute_start(s, t, c);
}

/* All operands are there. */
static inline __attribute__((always_inline)) void start(struct kb_sim *s, uint64_t t,
                                                        struct command *c, bool called)
{
    c->start_fs = (int64_t)t;
    c->started = true;
    if (c->late && s->observer)
        observe_operands(c);
    if (c->op.kind == OP_DMA_READ || operands_bind(c))
        begin_stages(s, t, c, called);
}

/* A command that is no load is issued: it starts, or waits for its operands. */
static __attribute__((noinline)) void issue_other(struct kb_sim *s, uint64_t t, struct command *c)
{
    bool tiles = c->op.composite && c->task == TASK_PLAIN, waits;

    if (tiles)
        composite_cut(c);
    else if (c->op.kind >= OP_GEMM && c->task != TASK_VALUE && c->task != TASK_COMBINE)
        compute_measure(c);
    if (!draw_ids(s, c, stages_of(c)))
        return;
    issued(s, c);
    if (op_updates(&c->op))
        flight_overwrite(c);
    waits = c->pe->overlapped && flight_waits(c);
    if (c->overlaps || waits || op_updates(&c->op))
        flight_read(c);
    if (c->task == TASK_SEND)
        ipcq_join(c);
    else if (c->task == TASK_ACC)
        acc_join(c);
    else if (tiles)
        composite_join(c);
    if (!waits)
        start(s, t, c, true);
}

static inline void issue_command(struct tl_ctx *pe, uint64_t t)
{
    struct kb_sim *s = pe->sim;
    struct command *c = pe->current;

    c->op.t_issue_fs = (int64_t)t;
    if (!place_result(c))
        return;
    if (!is_load(c)) {
        issue_other(s, t, c);
    } else if (draw_ids(s, c, 0)) {
        issued(s, c);
        pe_dma_issue(s, t, c, true);
    }
    if (s->race)
        accesses_issued(pe, c);
}

/* -- a kernel runs ---------------------------------------------------------------------------- */

/* A kernel runs at most so many events itself; then the loop runs again, and looks at its budget.
 */
enum { EVENTS_AHEAD = 64 };

static void kernel_main(void *arg)
{
    struct tl_ctx *pe = arg;
    const struct kb_launch_request *r = &pe->launch->request;

    r->kernel(pe, &r->args);
}

static int64_t paid_fs(const struct paid *paid)
{
    return paid->launch_fs + paid->collective_fs;
}

/* What the kernel has waited for costs of software up to now, with no command since. */
static int64_t paid_until(const struct tl_ctx *pe, int64_t now_fs)
{
    return pe->paid.counted || pe->paid.end_fs != now_fs ? 0 : paid_fs(&pe->paid);
}

/* The kernel has returned, and its commands have ended. */
static void pe_ended(struct tl_ctx *pe, uint64_t t)
{
    if (pe->sim->observer)
        observe_stop(pe, t - (uint64_t)paid_until(pe, (int64_t)t));
    if (!tcm_show(pe))
        kernel_no_memory(pe);
    persist_end(pe);
    pe_clear(pe);
    pe->state = PE_IDLE;
    launch_leaves(pe, t);
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
        kernel_overflowed(pe);
        break;
    case CO_CRASHED:
        kernel_crashed(pe, co_crash(pe->co));
        break;
    }
}

bool pe_begin(struct tl_ctx *pe)
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

    issue_command(pe, t);
    if (pe->sim->status != KB_OK || pe->state == PE_WAITS_ROOM)
        return false;
    async = c->async; /* of a send known only now: true if all its pieces are under way */
    if (async && pe->sim->observer)
        observe_resume(pe, c->op.id, false);
    if (async)
        pe->current = NULL;
    else
        pe->state = PE_WAITS;
    return async;
}

/*
 * With thousands of PEs the state of the next one is not in the cache, and mostly the next is the
 * PE with the next number: its context is fetched four turns ahead, its command or coroutine two,
 * and what of its stack it will go on with, one.
 */
static inline void prefetch_neighbours(const struct kernels *k, uint32_t number)
{
    const struct tl_ctx *next = &k->pes[number + 1], *second = next + 1;

    if (number + 4 >= k->n_pes)
        return;
    prefetch_lines(&k->pes[number + 4], 5);
    if (second->current)
        prefetch_lines(second->current, 5);
    else if (second->co)
        co_prefetch(second->co);
    if (next->state == PE_WAKES)
        co_prefetch_stack(next->co);
}

void kernel_event(struct kb_sim *s, uint64_t t, uint32_t number)
{
    struct tl_ctx *pe = &s->kernels->pes[number];

    if (s->kernels->many)
        prefetch_neighbours(s->kernels, number);
    s->kernels->now_fs = t;
    s->kernels->ahead = EVENTS_AHEAD;
    if (pe->state == PE_BEGINS)
        launch_begins(pe);
    if (pe->state == PE_BEGINS && s->observer)
        observe_start(pe, t - (uint64_t)pe->paid.launch_fs);
    if (pe->state == PE_BEGINS && !pe_begin(pe))
        return;
    if (pe->state == PE_ISSUES && !issue_called(pe, t))
        return;
    go_on(pe);
}

void kernel_wait(struct tl_ctx *pe)
{
    struct kernels *k = pe->kernels;

    if (bound_waits(pe))
        return;
    do {
        if (!engine_until(pe->sim, pe->number)) {
            co_suspend(pe->co);
            return;
        }
    } while (pe->state == PE_ISSUES ? !issue_called(pe, k->now_fs) : pe->state == PE_WAITS);
}

/* When the wait for room has begun that ends at `now_fs`; `now_fs`: none does. */
static int64_t room_since(const struct tl_ctx *pe, int64_t now_fs)
{
    return pe->room_end_fs == now_fs ? now_fs - pe->room_fs : now_fs;
}

void kernel_wait_for_room(struct tl_ctx *pe)
{
    int64_t since_fs = room_since(pe, (int64_t)pe->kernels->now_fs);

    pe->state = PE_WAITS_ROOM;
    kernel_wait(pe);
    pe->room_end_fs = (int64_t)pe->kernels->now_fs;
    pe->room_fs = pe->room_end_fs - since_fs;
}

void kernel_pay(struct tl_ctx *pe, int64_t launch_fs, int64_t collective_fs)
{
    struct kernels *k = pe->kernels;
    uint64_t end_fs = later(k->now_fs, launch_fs + collective_fs);

    if (end_fs == k->now_fs || bound_pays(pe, launch_fs + collective_fs))
        return;
    if (!paid_until(pe, (int64_t)k->now_fs))
        pe->paid = (struct paid){0};
    pe->paid.launch_fs += launch_fs;
    pe->paid.collective_fs += collective_fs;
    pe->paid.end_fs = (int64_t)end_fs;
    pe->state = PE_PAYS;
    wakes_append(&k->wakes, end_fs, pe->number);
    kernel_wait(pe);
}

/*
 * A command is called at `now_fs`: since when its kernel has paid, or waited for room, for nothing
 * but this. What it has paid then is the command's.
 */
static __attribute__((noinline)) int64_t called_since(struct tl_ctx *pe, int64_t now_fs)
{
    int64_t paid_last_fs = paid_until(pe, now_fs);
    int64_t since_fs = room_since(pe, now_fs - paid_last_fs);
    int64_t paid_first_fs = paid_last_fs ? 0 : paid_until(pe, since_fs);

    if (!paid_last_fs && !paid_first_fs)
        pe->paid = (struct paid){0};
    pe->paid.counted = true;
    pe->room_fs = 0;
    return since_fs - paid_first_fs;
}

/* Does it give the kernel something? Then it blocks under tl_async(true), too. */
static inline bool gives(const struct command *c)
{
    return c->task == TASK_BARRIER || c->task == TASK_ATOMIC || c->task == TASK_VALUE;
}

static __attribute__((noinline)) void call_overlaps(struct command *c)
{
    if (c->overlaps && !gives(c))
        c->async = true;
}

void kernel_call(struct command *c)
{
    struct tl_ctx *pe = c->pe;
    uint64_t issue_fs = later(pe->kernels->now_fs, pe_issue_fs(pe));

    c->call_fs = (int64_t)pe->kernels->now_fs;
    c->overlaps = pe->overlaps;
    if (paid_fs(&pe->paid) || pe->room_fs)
        c->call_fs = called_since(pe, c->call_fs);
    if (pe->overlapped)
        call_overlaps(c);
    if (c->result && c->async)
        flight_begin(c);
    pe->current = c;
    pe->state = PE_ISSUES;
    if (!engine_skip_to(pe->sim, wakes_event(issue_fs, pe->number)))
        wakes_append(&pe->kernels->wakes, issue_fs, pe->number);
    else if (issue_called(pe, issue_fs))
        return;
    kernel_wait(pe);
}

/* -- a command ends --------------------------------------------------------------------------- */

/* Updates start that readers have held up, if they wait for nothing else. */
static __attribute__((noinline)) void start_updates(struct kb_sim *s, uint64_t t, struct tl_ctx *pe)
{
    struct command *c;

    while (s->status == KB_OK && (c = flight_update(pe)))
        start(s, t, c, false);
}

/* A command has ended: it reads nothing any more, and those that have waited for it start, or wait
 * for another operand. */
static __attribute__((noinline)) void let_go(struct kb_sim *s, uint64_t t, struct command *c)
{
    struct command *waiter = c->waited ? c->waiters : NULL;

    c->waited = false;
    if (c->reads)
        flight_fetched(s, t, c);
    for (struct command *next; waiter && s->status == KB_OK; waiter = next) {
        next = waiter->next_waiter;
        if (!flight_waits(waiter))
            start(s, t, waiter, false);
    }
    start_updates(s, t, c->pe);
}

static inline __attribute__((always_inline)) void command_end(struct kb_sim *s, uint64_t t,
                                                              struct command *c)
{
    struct tl_ctx *pe = c->pe;
    bool wakes = c == pe->current;

    pe->inside -= works_inside(c);
    if (s->observer)
        observe_finish(s, t, c);
    if (c->async && c->result) {
        wakes = pe->state == PE_WAITS && pe->awaited && pe->awaited->making == c;
        flight_end(s, t, c);
    }
    if (--pe->outstanding == 0 && pe->state == PE_WAITS_ALL)
        wakes = true;
    if (s->observer && (wakes || (pe->outstanding == 0 && pe->state == PE_RETURNED)))
        observe_resume(pe, c->op.id, true);
    if (wakes) {
        pe->state = PE_WAKES;
        pe->current = NULL;
        pe->awaited = NULL;
        wakes_add(&s->kernels->wakes, t, pe->number);
    }
    if (c->reads || c->waited)
        let_go(s, t, c);
    if (is_load(c))
        command_keep(s->kernels, c);
    else
        command_free(s->kernels, c);
    if (pe->outstanding == 0 && pe->state == PE_RETURNED)
        pe_ended(pe, t);
}

/* A service has ended, and what follows begins. True: it was the command's last. */
static bool stage_done(struct kb_sim *s, uint64_t t, const struct work *work)
{
    struct command *c = work->command;

    if (c->task == TASK_ACC)
        return acc_stage_done(s, t, work);
    if (c->task == TASK_VALUE) {
        value_fetched(c);
        return true;
    }
    if (!work->token)
        return compute_stage_done(s, t, work);
    return is_message(c) ? ipcq_piece_done(s, t, work) : composite_stage_done(s, t, work);
}

/* A load, a store or an atomic, whose only stage it was. */
static inline void transfer_done(struct kb_sim *s, uint64_t t, struct command *c)
{
    struct kb_launch_result *r = pe_result(c->pe);

    *(c->op.kind == OP_DMA_READ || c->op.sums ? &r->dma_read_bytes : &r->dma_write_bytes) +=
        c->nbytes;
    command_end(s, t, c);
}

void pe_stage_done(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    const struct work *done = &s->kernels->work[slot];
    struct tl_ctx *pe;
    struct work work;
    bool piece;

    if (STATS && done->port)
        tcm_count_port(s, done, &s->txns[slot]);
    slot_free(s, slot);
    if (s->status != KB_OK)
        return;
    if (done->stage != STAGE_DMA_WRITE)
        done->command->pe->filled_fs = t;
    if (!done->token && work_is_dma(done)) {
        transfer_done(s, t, done->command);
        return;
    }
    work = *done; /* a stage that begins may take its slot */
    pe = work.command->pe;
    piece = work.token && is_message(work.command);
    if (stage_done(s, t, &work))
        command_end(s, t, work.command);
    else if (pe->updates)
        start_updates(s, t, pe);
    if (piece)
        ipcq_piece_left(s, t, &work);
}

void pe_word_arrived(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct work work = s->kernels->work[slot];

    if (s->observer)
        observe_word(s, slot);
    slot_free(s, slot);
    if (work.token) {
        struct queue *queue = work.token->queue;

        token_free(s->kernels, work.token);
        ipcq_credit(s, t, queue);
    } else {
        command_end(s, t, work.command);
    }
    OBSERVE(s, left);
}
