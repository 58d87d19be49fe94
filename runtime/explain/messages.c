/* messages.c -- what PEs wait for of each other: messages, credits, barriers.
 *
 * A chain of shares leads from the issue of a command to its end, on one PE. Where a command waits
 * for another PE the chain would have to go on there. So what another PE did is told as a
 * *stretch*: a part of a command of that PE, from where it could begin to the moment that let this
 * one go on. Each stretch has a number and, in `before`, the stretch that let it begin.
 *
 * Example: PE 1 waits in tl_recv() from 100 ns. PE 0 issues its tl_send() at 150 (called at 147),
 * and the piece is in the slot of PE 1 at 170. Then
 *
 *   - a stretch is told: send of PE 0, from its call at 147 to 170, before = KB_NO_ID;
 *   - the chain of the receive begins with a queue wait of 70 ns behind the send, with `before` set
 *     to that stretch and since_fs = 170.
 *
 * If the send itself had waited for a free slot, its stretch would begin where the credit of PE 1
 * set out, and its `before` would be the stretch of PE 1 that took the piece out of the slot.
 * explain/critical_path.c walks these numbers backwards. A barrier has one stretch for all: the
 * last member's command up to the moment its word is with the lowest member.
 *
 * A stretch is also made where a command has waited for a channel or an engine that another one of
 * its PE had, or for the room of another's operand: the path goes on there, too (stations_follow(),
 * commands_room()).
 *
 * A stretch is made only when something follows from it, and once: `leaving` holds the stage that
 * ends right now, and all that begins before left() is a consequence of it.
 */
#include "explain/spans.h"

/* -- stretches ------------------------------------------------------------------------------ */

static uint32_t put_stretch(struct kb_sim *s, kb_stretch *x)
{
    x->number = spans_of(s)->n_stretches++;
    TELL(spans_of(s), stretch, x);
    return x->number;
}

static kb_place node_of_pe(const struct kb_sim *s, uint32_t pe, enum node_kind kind)
{
    return place_pe_node(s->topo, s->kernels->pes[pe].src, kind);
}

/* From the call to the issue: costs of software, for room, and dispatch. */
void messages_dispatch(struct kb_sim *s, const struct chain *x, struct shares *shares)
{
    int64_t least_fs = pe_issue_fs(&s->kernels->pes[x->pe]) + x->collective_fs;
    int64_t room_fs = x->issue_fs - x->call_fs - least_fs - x->launch_fs;
    kb_share launch = {.cause = KB_CAUSE_LAUNCH,
                       .place = node_of_pe(s, x->pe, NODE_PE_CPU),
                       .count = 1,
                       .sum_fs = x->launch_fs,
                       .behind_id = KB_NO_ID};
    kb_share room = {.cause = KB_CAUSE_ROOM_WAIT,
                     .place = node_of_pe(s, x->pe, NODE_PE_TCM),
                     .count = 1,
                     .sum_fs = room_fs,
                     .longest_fs = room_fs,
                     .behind = messages_pe(s, x->pe),
                     .behind_id = KB_NO_ID};
    kb_share dispatch = {.cause = KB_CAUSE_DISPATCH,
                         .place = node_of_pe(s, x->pe, NODE_PE_CPU),
                         .count = 1,
                         .sum_fs = least_fs,
                         .behind_id = KB_NO_ID};

    if (launch.sum_fs)
        shares_add(s, shares, &launch);
    if (room.sum_fs)
        shares_add(s, shares, &room);
    if (dispatch.sum_fs)
        shares_add(s, shares, &dispatch);
}

/* It follows from what has made room for the command: the call, or the issue, came behind that.
 * Costs of software were paid before the wait, or behind it. */
static void begin_with_room(struct kb_sim *s, struct chain *chain, const struct command *c)
{
    struct chain called = *chain;

    called.call_fs = c->room_end_fs;
    if (c->room_end_fs + pe_issue_fs(c->pe) == chain->issue_fs)
        called.launch_fs = called.collective_fs = 0;
    chain_follow(chain, c->room, c->room_end_fs);
    if (c->room_end_fs < chain->issue_fs)
        messages_dispatch(s, &called, &chain->since);
}

void chain_begin(struct kb_sim *s, struct chain *chain, const struct command *c)
{
    chain->command = c->op.id;
    chain->pe = c->pe->number;
    chain->call_fs = c->call_fs;
    chain->issue_fs = c->op.t_issue_fs;
    chain->launch_fs = c->launch_fs;
    chain->collective_fs = c->collective_fs;
    chain->maker = c->maker;
    chain->start_fs = c->since_fs;
    chain->before = KB_NO_ID;
    chain->shares.n = chain->since.n = 0;
    if (c->room != KB_NO_ID && c->maker == KB_NO_ID)
        begin_with_room(s, chain, c);
}

/* The chain up to `end_fs`, from where another PE let it begin, or from the call on. */
uint32_t messages_stretch(struct kb_sim *s, struct chain *chain, int64_t end_fs)
{
    bool called = chain->before == KB_NO_ID;
    struct shares *shares = called ? &chain->shares : &chain->since;
    uint32_t n = shares->n, number;

    if (called)
        messages_dispatch(s, chain, shares);
    number = put_stretch(s, &(kb_stretch){.command = chain->command,
                                          .pe = chain->pe,
                                          .begin_fs = called ? chain->call_fs : chain->since_fs,
                                          .end_fs = end_fs,
                                          .share = shares->row,
                                          .n_shares = shares->n,
                                          .before = chain->before,
                                          .maker = called ? chain->maker : KB_NO_ID,
                                          .start_fs = chain->start_fs});
    shares->n = n;
    return number;
}

/* Something follows from the stage that has just ended: its stretch. */
uint32_t messages_leaving(struct kb_sim *s)
{
    struct leaving *from = &spans_of(s)->leaving;

    if (from->stretch == KB_NO_ID)
        from->stretch = messages_stretch(s, &from->chain, from->end_fs);
    return from->stretch;
}

/* -- waits for other PEs ----------------------------------------------------------------------- */

kb_place messages_pe(const struct kb_sim *s, uint32_t pe)
{
    return place_of(KB_AT_PE, s->kernels->pes[pe].src);
}

/* The wait for another PE of which a command's talk tells. */
static kb_span wait_span(const struct kb_sim *s, const struct command *c, int64_t end_fs)
{
    const struct talk *talk = &c->talk;
    bool barrier = c->task == TASK_BARRIER;
    uint32_t first = c->op.id + (c->task == TASK_RECV);

    return (kb_span){.id = talk->id,
                     .command = c->op.id,
                     .token = barrier ? KB_NO_ID : talk->id - first,
                     .what = spans_command_name(c),
                     .source = messages_pe(s, c->pe->number),
                     .cause = barrier ? KB_CAUSE_BARRIER_WAIT : KB_CAUSE_QUEUE_WAIT,
                     .place = place_pe_node(s->topo, c->pe->src, NODE_PE_SCHEDULER),
                     .behind = talk->peer == KB_NO_ID ? KB_NOWHERE : messages_pe(s, talk->peer),
                     .behind_id = KB_NO_ID,
                     .message = KB_NO_ID,
                     .begin_fs = talk->since_fs,
                     .end_fs = end_fs};
}

void messages_wait(struct kb_sim *s, struct command *c, uint32_t id, uint32_t peer)
{
    kb_span span;

    c->talk.waits = true;
    c->talk.id = id;
    c->talk.peer = peer;
    if (!spans_of(s)->opens)
        return;
    span = wait_span(s, c, -1);
    TELL(spans_of(s), open, &span);
}

void messages_end_wait(struct kb_sim *s, uint64_t t, struct command *c)
{
    kb_span span;

    if (c->talk.waits && spans_of(s)->closes) {
        span = wait_span(s, c, (int64_t)t);
        TELL(spans_of(s), close, &span);
    }
    c->talk.waits = false;
}

struct word_way messages_way(const struct kb_sim *s, uint32_t from, uint32_t to)
{
    const struct tl_ctx *pes = s->kernels->pes;
    struct trip trip;
    struct cost_row c;

    if (from == to)
        return (struct word_way){0, 0};
    trip = walk_trip(s->topo, pes[from].src, pes[to].tcm, 0, false, 0, false);
    c = cost_of_pe(s->topo, &trip);
    return (struct word_way){c.wire_fs & s->mask.wire, c.overhead_fs & s->mask.overhead};
}

/* A word's way counts at the PE where it ends. */
void messages_add_way(struct kb_sim *s, struct shares *shares, struct word_way way, uint32_t to)
{
    kb_share piece = {.place = node_of_pe(s, to, NODE_PE_CPU), .count = 1};

    piece.behind_id = KB_NO_ID;
    piece.cause = KB_CAUSE_WIRE;
    piece.sum_fs = way.wire_fs;
    if (piece.sum_fs)
        shares_add(s, shares, &piece);
    piece.cause = KB_CAUSE_OVERHEAD;
    piece.sum_fs = way.overhead_fs;
    if (piece.sum_fs)
        shares_add(s, shares, &piece);
}

/* The same as a part of the chain. */
static void add_way(struct kb_sim *s, struct chain *chain, struct word_way way, uint32_t to)
{
    messages_add_way(s, &chain->shares, way, to);
    if (chain->before != KB_NO_ID)
        messages_add_way(s, &chain->since, way, to);
}

/* Counts a wait for another PE, which has ended. */
static void add_wait(struct talk *talk, int64_t fs, uint32_t behind_id)
{
    if (fs <= 0)
        return;
    talk->n_waits++;
    talk->wait_fs += fs;
    if (fs > talk->longest_fs) {
        talk->longest_fs = fs;
        talk->behind_id = behind_id;
    }
}

/* The next piece of a command follows from all its waits for another PE so far. */
static void begin_with_waits(struct kb_sim *s, struct chain *chain, const struct command *c,
                             uint32_t behind)
{
    const struct talk *talk = &c->talk;

    if (talk->wait_fs)
        shares_add(s, &chain->shares,
                   &(kb_share){.cause = KB_CAUSE_QUEUE_WAIT,
                               .place = place_pe_node(s->topo, c->pe->src, NODE_PE_SCHEDULER),
                               .count = talk->n_waits,
                               .sum_fs = talk->wait_fs,
                               .longest_fs = talk->longest_fs,
                               .behind = messages_pe(s, behind),
                               .behind_id = talk->behind_id});
    messages_add_way(s, &chain->shares, (struct word_way){talk->wire_fs, talk->overhead_fs},
                     c->pe->number);
}

/* A message is there that a receive has waited for. */
void messages_received(struct kb_sim *s, uint64_t t, struct chain *chain, struct command *c)
{
    const struct leaving *from = &spans_of(s)->leaving;

    if (from->chain.command == KB_NO_ID)
        return;
    messages_end_wait(s, t, c);
    add_wait(&c->talk, (int64_t)t - c->talk.since_fs, from->chain.command);
    c->talk.since_fs = (int64_t)t;
    begin_with_waits(s, chain, c, from->chain.pe);
    chain_follow(chain, messages_leaving(s), (int64_t)t);
    if (c->piece < c->pieces) /* the next, perhaps for no time */
        messages_wait(s, c, c->talk.id + 1, c->talk.peer);
}

/* The send waited for the rest of the credit's way; of that the wires come last. */
static void wait_for_credit(struct talk *talk, struct word_way way, int64_t set_out_fs, int64_t t,
                            uint32_t behind_id)
{
    int64_t from_fs = set_out_fs > talk->since_fs ? set_out_fs : talk->since_fs;
    int64_t wire_fs = t - from_fs < way.wire_fs ? t - from_fs : way.wire_fs;

    add_wait(talk, from_fs - talk->since_fs, behind_id);
    talk->wire_fs += wire_fs;
    talk->overhead_fs += t - from_fs - wire_fs;
    talk->since_fs = t;
}

/* A slot is free that a send has waited for. */
void messages_sent(struct kb_sim *s, uint64_t t, struct chain *chain, struct command *c)
{
    const struct leaving *from = &spans_of(s)->leaving;
    struct word_way way;

    if (from->chain.command == KB_NO_ID)
        return;
    messages_end_wait(s, t, c);
    way = messages_way(s, from->chain.pe, c->pe->number);
    wait_for_credit(&c->talk, way, from->end_fs, (int64_t)t, from->chain.command);
    begin_with_waits(s, chain, c, from->chain.pe);
    chain_follow(chain, messages_leaving(s), from->end_fs);
    messages_add_way(s, &chain->since, way, c->pe->number);
}

/* -- words: credits, barriers ------------------------------------------------------------------ */

struct taken messages_taken(struct kb_sim *s)
{
    const struct leaving *from = &spans_of(s)->leaving;

    return (struct taken){messages_leaving(s), from->chain.command, from->end_fs};
}

bool messages_credit(struct kb_sim *s, uint32_t slot, uint32_t receiver, const struct taken *taken)
{
    struct progress *at;

    if (!spans_room(s, slot))
        return false;
    at = &spans_of(s)->slots[slot];
    at->chain.command = taken->command;
    at->chain.pe = receiver;
    at->chain.shares.n = at->chain.since.n = 0;
    at->end_fs = taken->at_fs;
    at->stretch = taken->stretch;
    return true;
}

/* The last member's command, from its call until its word is with the lowest. */
static uint32_t last_stretch(struct kb_sim *s, struct command *last, struct word_way way,
                             int64_t there_fs, uint32_t lowest)
{
    struct chain x = {.shares = {0}};

    if (last->talk.stretch != KB_NO_ID)
        return last->talk.stretch;
    chain_begin(s, &x, last);
    add_way(s, &x, way, lowest);
    last->talk.stretch = messages_stretch(s, &x, there_fs);
    chain_free(&x);
    return last->talk.stretch;
}

/* A member that was not the last has waited for the last one's word. */
static void wait_for_last(struct kb_sim *s, struct chain *chain, const struct command *c,
                          const struct command *last, int64_t there_fs)
{
    int64_t wait_fs = there_fs - c->op.t_issue_fs;

    chain_add(s, chain,
              &(kb_share){.cause = KB_CAUSE_BARRIER_WAIT,
                          .place = place_pe_node(s->topo, c->pe->src, NODE_PE_SCHEDULER),
                          .count = 1,
                          .sum_fs = wait_fs,
                          .longest_fs = wait_fs,
                          .behind = messages_pe(s, last->pe->number),
                          .behind_id = last->op.id});
}

bool messages_release_word(struct kb_sim *s, int64_t there_fs, uint32_t slot, struct command *last,
                           uint32_t lowest)
{
    const struct command *c = work_at(s, slot)->command;
    struct word_way to = messages_way(s, last->pe->number, lowest);
    struct word_way back = messages_way(s, lowest, c->pe->number);
    struct chain *chain;

    if (!spans_room(s, slot))
        return false;
    chain = &spans_of(s)->slots[slot].chain;
    spans_of(s)->slots[slot].end_fs = there_fs;
    spans_of(s)->slots[slot].stretch = KB_NO_ID;
    chain_begin(s, chain, c);
    if (c == last) {
        add_way(s, chain, to, lowest);
    } else {
        wait_for_last(s, chain, c, last, there_fs);
        chain_follow(chain, last_stretch(s, last, to, there_fs, lowest), there_fs);
    }
    add_way(s, chain, back, c->pe->number);
    return true;
}

void messages_word(struct kb_sim *s, uint32_t slot)
{
    struct leaving *to = &spans_of(s)->leaving;
    struct progress *at = &spans_of(s)->slots[slot];

    chain_swap(&to->chain, &at->chain);
    to->end_fs = at->end_fs;
    to->stretch = at->stretch;
}
