/* commands.c -- commands and kernels: the chain of pieces that led to each command's end.
 *
 * A composite has many stages at work at once; the time of all of them is much more than the
 * command's. Its breakdown needs one chain: the stages that followed from each other up to the last
 * one's end. That chain is not searched afterwards. Each stage that begins copies the chain of the
 * stage that has just ended (struct leaving), for that end let it begin, and adds its own pieces.
 * When the command ends, the chain of its last stage is the whole story, and its shares, with the
 * dispatch from call to issue, must sum to end - call; that is checked for each command.
 *
 * Example: a composite called at 0 and issued at 3 ns reads tile 1 (3 .. 20), fetches it (20 ..
 * 28), and multiplies it (28 .. 44), while tile 2 is read (20 .. 37), fetched (37 .. 45) and
 * multiplied (45 .. 61). The GEMM of tile 2 begins with the end of its own fetch, so its chain is:
 * dispatch 3, read 17, read 17, fetch 8, compute 16 = 61. Had the first GEMM ended after 45, the
 * second would have waited for the engine, and would have taken over the chain of the first:
 * explain_stations.c.
 */
#include "explain/router_paths.h"
#include "explain/spans.h"
#include "kernels/flight.h"
#include <stdlib.h>

/*
 * Of its operands that it has waited for, the one that was made last, of several the one with the
 * larger id. NULL: it has started at its issue.
 */
static const struct tl_tensor *last_made(const struct command *c)
{
    const struct tl_tensor *last = NULL;

    for (uint32_t i = 0; c->late && i < c->n_operands; i++) {
        const struct tl_tensor *x = c->operand[i];

        if (x && x->made_fs == c->start_fs && flight_orders(c, x) &&
            (!last || x->made_by > last->made_by))
            last = x;
    }
    return last;
}

static void add_operand_wait(struct kb_sim *s, struct chain *chain, const struct command *c)
{
    int64_t wait_fs = c->since_fs - c->op.t_issue_fs;

    if (wait_fs)
        chain_add(s, chain,
                  &(kb_share){.cause = KB_CAUSE_OPERAND_WAIT,
                              .place = place_pe_node(s->topo, c->pe->src, NODE_PE_SCHEDULER),
                              .count = 1,
                              .sum_fs = wait_fs,
                              .longest_fs = wait_fs,
                              .behind = messages_pe(s, c->pe->number),
                              .behind_id = c->maker});
}

/*
 * An accumulator is an operand, too: a command whose turn comes behind its own FETCH goes on from
 * the end of the one before it on the accumulator, which ends now.
 */
static void follow_turn(uint64_t t, struct command *c, uint32_t ended)
{
    if (c->task != TASK_ACC || ended != c->acc_before || (int64_t)t == c->since_fs)
        return;
    c->since_fs = (int64_t)t;
    c->maker = ended;
}

/*
 * The chain with which a stage begins. It follows from the stage of its command that ends now;
 * after a wait for another PE, from what ended there; or, if a tile could not enter while the tiles
 * of another composite took all room, from the start of its command. Before that lies the wait for
 * its operands.
 */
static void begin_chain(struct kb_sim *s, uint64_t t, struct progress *at, struct command *c)
{
    const struct leaving *from = &spans_of(s)->leaving;
    int64_t waited_fs;
    bool starts;

    follow_turn(t, c, from->chain.command);
    waited_fs = (int64_t)t - c->since_fs;
    starts = c->late && waited_fs == 0 && c->piece <= 1;
    chain_begin(s, &at->chain, c);
    add_operand_wait(s, &at->chain, c);
    if (c->task == TASK_RECV)
        messages_received(s, t, &at->chain, c);
    else if (c->task == TASK_SEND && !starts)
        messages_sent(s, t, &at->chain, c);
    else if (from->chain.command == c->op.id)
        chain_copy(s, &at->chain, &from->chain);
    else if (c->task != TASK_SEND)
        chain_add(s, &at->chain,
                  &(kb_share){.cause = KB_CAUSE_ENGINE_WAIT,
                              .place = place_pe_node(s->topo, c->pe->src, NODE_PE_SCHEDULER),
                              .count = 1,
                              .sum_fs = waited_fs,
                              .longest_fs = waited_fs,
                              .behind = messages_pe(s, c->pe->number),
                              .behind_id = from->chain.command});
}

bool commands_stage(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct progress *at;

    if (!spans_room(s, slot) || (spans_of(s)->net && !net_begin(s, slot)))
        return false;
    at = &spans_of(s)->slots[slot];
    at->open = false;
    at->chain.command = KB_NO_ID;
    at->issue_fs = (int64_t)t;
    at->told_fs = at->wire_fs = at->overhead_fs = 0;
    if (sim_has_kernels(s))
        begin_chain(s, t, at, work_at(s, slot)->command);
    return true;
}

/* -- kernels and commands ---------------------------------------------------------------------- */

static struct cause_of_call *cause_of(struct kb_sim *s, const struct tl_ctx *pe)
{
    struct spans *w = spans_of(s);

    if (!w->pes)
        w->pes = calloc(s->kernels->n_pes, sizeof *w->pes);
    if (!w->pes)
        spans_stop(s, KB_NO_MEMORY);
    return w->pes ? &w->pes[pe->number] : NULL;
}

/* Does the call return when the last piece is issued? */
static bool waits_for_slots(const struct command *c)
{
    return c->task == TASK_SEND && !c->overlaps;
}

/* Of a command that is issued; its call follows from the last thing the PE's kernel waited for. */
static kb_command command_of(struct kb_sim *s, const struct command *c)
{
    const struct cause_of_call *cause = cause_of(s, c->pe);

    return (kb_command){.id = c->op.id,
                        .pe = c->pe->number,
                        .call = c->call,
                        .name = spans_command_name(c),
                        .kernel = c->pe->launch->request.name,
                        .region = c->op.region,
                        .file = c->here.file,
                        .line = c->here.line,
                        .async = c->async,
                        .composite = c->op.composite && !op_of_acc(&c->op),
                        .call_fs = c->call_fs,
                        .issue_fs = c->op.t_issue_fs,
                        .start_fs = -1,
                        .end_fs = -1,
                        .after = cause ? cause->after : KB_NO_ID,
                        .after_end = cause && cause->after_end,
                        .return_fs = c->async && !waits_for_slots(c) ? c->op.t_issue_fs : -1,
                        .return_stretch = KB_NO_ID,
                        .end_stretch = KB_NO_ID,
                        .maker = KB_NO_ID};
}

void commands_start(struct kb_sim *s, struct tl_ctx *pe, uint64_t t)
{
    struct cause_of_call *cause = cause_of(s, pe);
    kb_kernel_run run = {.launch = pe->launch->number,
                         .pe = pe->number,
                         .kernel = pe->launch->request.name,
                         .start_fs = (int64_t)t,
                         .end_fs = -1,
                         .after = KB_NO_ID,
                         .end_stretch = KB_NO_ID};

    if (cause)
        *cause =
            (struct cause_of_call){.after = KB_NO_ID, .room = KB_NO_ID, .start_fs = (int64_t)t};
    TELL(spans_of(s), start, &run);
}

/* The stretch that has made room for a command that is issued now, while its kernel waited for
 * nothing else: at its issue, or before its call. */
static void take_room(struct kb_sim *s, struct command *c)
{
    struct cause_of_call *cause = cause_of(s, c->pe);

    c->room = cause ? cause->room : KB_NO_ID;
    if (c->room == KB_NO_ID)
        return;
    c->room_end_fs = cause->room_end_fs;
    cause->room = KB_NO_ID;
}

/* From the end of the wait for room to the issue; without that wait there is none. */
static uint32_t issue_stretch(struct kb_sim *s, const struct command *c)
{
    struct chain x = {.shares = {0}};
    uint32_t number = c->room;

    if (c->room == KB_NO_ID || c->room_end_fs == c->op.t_issue_fs)
        return number;
    chain_begin(s, &x, c);
    number = messages_stretch(s, &x, c->op.t_issue_fs);
    chain_free(&x);
    return number;
}

void commands_issue(struct kb_sim *s, struct command *c)
{
    kb_command command = command_of(s, c);

    c->after = command.after;
    c->after_end = command.after_end;
    c->maker = KB_NO_ID;
    c->since_fs = c->op.t_issue_fs;
    c->launch_fs = c->pe->paid.launch_fs;
    c->collective_fs = c->pe->paid.collective_fs;
    c->talk = (struct talk){
        .since_fs = c->op.t_issue_fs, .behind_id = KB_NO_ID, .return_fs = -1, .stretch = KB_NO_ID};
    take_room(s, c);
    command.return_stretch = issue_stretch(s, c);
    TELL(spans_of(s), issue, &command);
}

/* A command starts later than it was issued. */
void commands_late(struct command *c)
{
    const struct tl_tensor *last = last_made(c);

    c->maker = last ? last->made_by : KB_NO_ID;
    c->since_fs = c->talk.since_fs = c->start_fs;
}

/* Of a command that goes on, or has ended. */
static kb_command command_now(struct kb_sim *s, const struct command *c)
{
    kb_command command = command_of(s, c);

    command.after = c->after;
    command.after_end = c->after_end;
    if (waits_for_slots(c)) {
        command.return_fs = c->talk.return_fs;
        command.return_stretch = c->talk.stretch;
    }
    command.start_fs = c->since_fs;
    command.maker = c->maker;
    return command;
}

void commands_resume(struct kb_sim *s, struct tl_ctx *pe, uint32_t id, bool ended)
{
    struct cause_of_call *cause = cause_of(s, pe);

    if (!cause)
        return;
    cause->after = id;
    cause->after_end = ended;
    cause->room = KB_NO_ID;
}

void commands_room(struct kb_sim *s, struct tl_ctx *pe, uint64_t t)
{
    struct cause_of_call *cause = cause_of(s, pe);

    if (!cause || spans_of(s)->leaving.chain.command == KB_NO_ID)
        return;
    cause->room = messages_leaving(s);
    cause->room_end_fs = (int64_t)t;
}

/* A send that has waited returns when the credit of its last piece has come. */
void commands_go_on(struct kb_sim *s, uint64_t t, struct command *c)
{
    struct leaving *from = &spans_of(s)->leaving;
    kb_command command;

    c->talk.return_fs = (int64_t)t;
    if (from->chain.command != KB_NO_ID) {
        struct chain x = {.before = messages_leaving(s), .since_fs = from->end_fs};

        x.command = c->op.id;
        x.pe = c->pe->number;
        messages_add_way(s, &x.since, messages_way(s, from->chain.pe, x.pe), x.pe);
        c->talk.stretch = messages_stretch(s, &x, (int64_t)t);
        chain_free(&x);
    }
    commands_resume(s, c->pe, c->op.id, false);
    command = command_now(s, c);
    TELL(spans_of(s), go_on, &command);
}

/* The shares of a command are those that led to the end of its last stage, and its dispatch. */
void commands_finish(struct kb_sim *s, uint64_t t, struct command *c)
{
    struct leaving *from = &spans_of(s)->leaving;
    struct shares *shares = &from->chain.shares;
    kb_command command = command_now(s, c);
    uint32_t n = shares->n;
    int64_t sum_fs;

    messages_end_wait(s, t, c);
    if (from->chain.before != KB_NO_ID) {
        from->end_fs = (int64_t)t;
        command.end_stretch = messages_leaving(s);
    }
    messages_dispatch(s, &from->chain, shares);
    sum_fs = shares_sum_fs(shares);
    if (from->chain.command != c->op.id || sum_fs != (int64_t)t - command.call_fs)
        spans_inconsistent(s, "command", c->op.id, sum_fs, (int64_t)t - command.call_fs);
    command.end_fs = (int64_t)t;
    if (command.return_fs < 0)
        command.return_fs = (int64_t)t;
    command.share = shares->row;
    command.n_shares = shares->n;
    TELL(spans_of(s), finish, &command);
    shares->n = n;
}

void commands_stop(struct kb_sim *s, struct tl_ctx *pe, uint64_t t)
{
    const struct cause_of_call *cause = cause_of(s, pe);
    kb_kernel_run run = {.launch = pe->launch->number,
                         .pe = pe->number,
                         .kernel = pe->launch->request.name,
                         .start_fs = cause ? cause->start_fs : 0,
                         .end_fs = (int64_t)t,
                         .after = cause ? cause->after : KB_NO_ID,
                         .after_end = cause && cause->after_end,
                         .end_stretch = cause ? cause->room : KB_NO_ID};

    TELL(spans_of(s), leave, &run);
}
