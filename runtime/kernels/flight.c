/* flight.c -- results in flight: what commands under way make, and the commands that need it.
 *
 * The call of an asynchronous command returns at its issue, with a result that is *in flight* until
 * the command ends: tensor->making. Under tl_async(true) every command is asynchronous, and an
 * operand may be in flight. The command then *starts* at
 *
 *     max(issue, ends of the commands that make its operands)
 *
 * where its operands are bound, what it writes becomes visible, and its first stage begins. One
 * whose operands are all there starts at its issue. For a synchronous command the kernel waits, and
 * nothing else differs.
 *
 * A command waits for one maker at a time. flight_waits() puts it into the list of the first
 * operand that is in flight; at that end it asks again (pe/pe_cpu.c). Waiters of one command start
 * in the order of their ids.
 *
 * Writing over. tl_update() gives a tensor new content where it lies, so it starts only when the
 * commands that were called before and read these bytes have fetched them: pe->readers has all
 * commands under way that count as users, and c->readers how many of them an update waits for. What
 * the handle stood for so far, its maker included, goes to a handle of its own, the update's first
 * operand (flight_leave_past()).
 *
 * Giving back. A kernel may give back a tensor while commands still need it: the one that makes it,
 * and those that read it, each until its FETCH has ended (a store, send or composite: until it has
 * ended). Such a tensor is `dead`: no call takes it any more, but its row and its room stay until
 * the last of these, which frees it (bury()). A command that finds no room in the TCM waits as long
 * as there are dead tensors: pe->give_backs.
 *
 * Example, in ns: a = load (issued at 3, ends at 21), b = load (6, 39), c = dot(a, b) (9). The dot
 * has a and b as operands in flight: it joins the load of a, at 21 that of b, and starts at 39. If
 * the kernel gives a back at 9, its room comes back when the FETCH of the dot has ended, at 55.
 */
#include "kernels/error.h"
#include "kernels/flight.h"
#include "kernels/observe.h"
#include "kernels/pool.h"
#include <string.h>

void flight_room(struct tl_ctx *pe, uint64_t t)
{
    if (pe->state != PE_WAITS_ROOM)
        return;
    if (pe->sim->observer)
        observe_room(pe, t);
    pe->state = pe->current ? PE_ISSUES : PE_WAKES;
    wakes_add(&pe->kernels->wakes, t, pe->number);
}

/* Frees a dead tensor that no command needs any more. */
static void bury(struct kb_sim *s, uint64_t t, struct tl_tensor *tensor)
{
    struct tl_ctx *pe = &s->kernels->pes[tensor->owner];

    if (!tensor->dead || tensor->making || tensor->users)
        return;
    pe->give_backs--;
    tensor_free(pe, tensor);
    flight_room(pe, t);
}

void flight_give_back(struct kernels *k, struct tl_tensor *tensor)
{
    tensor->dead = true;
    k->pes[tensor->owner].give_backs++;
}

bool flight_has_past(const struct tl_tensor *x)
{
    return x->making && op_updates(&x->making->op) && !x->making->op.out.view.v;
}

bool view_take(struct kernels *k, struct tl_tensor *view, const struct tl_tensor *of)
{
    struct strided s = tensor_elements(view);
    struct view from = of->view;

    if (!from.v || flight_has_past(of))
        return true;
    if (!view->cut) {
        view->view = from;
        version_keep(from.v);
        return true;
    }
    memcpy(s.stride, view->cut_stride, sizeof s.stride);
    from.offset += view->cut_offset;
    return mem_view_strided(k->mem, from, &s, &view->view) == MEM_OK;
}

/* The maker of `view` has ended. What it is a view of comes first. */
static bool take_content(struct kernels *k, struct tl_tensor *view)
{
    if (view->view.v || !view->parent)
        return true;
    return take_content(k, view->parent) && view_take(k, view, view->parent);
}

void flight_view(struct tl_tensor *tensor, struct tl_tensor *view)
{
    view->parent = tensor;
    view->loads = tensor->loads;
    view->wait = tensor->wait;
    view->made_by = tensor->made_by;
    view->made_fs = tensor->made_fs;
    view->viewed = tensor->viewed = true;
    view->making = tensor->making;
    if (!tensor->making)
        return;
    view->beside = tensor->making->result->beside;
    tensor->making->result->beside = view;
}

void flight_read(struct command *c)
{
    struct tl_ctx *pe = c->pe;

    c->reads = true;
    c->last_reader = NULL;
    c->next_reader = pe->readers;
    if (pe->readers)
        pe->readers->last_reader = c;
    pe->readers = c;
    for (uint32_t i = 0; i < c->n_operands; i++)
        if (c->operand[i])
            c->operand[i]->users++;
}

static void leave_readers(struct command *c)
{
    if (c->last_reader)
        c->last_reader->next_reader = c->next_reader;
    else
        c->pe->readers = c->next_reader;
    if (c->next_reader)
        c->next_reader->last_reader = c->last_reader;
}

/* -- what is written over -----------------------------------------------------------------------
 */

static bool reads_block(const struct command *c, const struct tcm_block *block)
{
    for (uint32_t i = 0; i < c->n_operands; i++)
        if (c->operand[i] && c->operand[i]->block == block)
            return true;
    return false;
}

void flight_overwrite(struct command *c)
{
    struct tl_ctx *pe = c->pe;
    struct command **link = &pe->updates;

    c->operand[0]->users--; /* it was kept for the time from the call on */
    for (const struct command *r = pe->readers; r; r = r->next_reader)
        c->readers += reads_block(r, c->result->block);
    if (c->readers == 0)
        return;
    while (*link)
        link = &(*link)->next_update;
    c->next_update = NULL;
    *link = c;
}

bool flight_is_read(const struct tl_ctx *pe, const struct tcm_block *block)
{
    for (const struct command *r = pe->readers; r; r = r->next_reader)
        if (reads_block(r, block))
            return true;
    return false;
}

/* A reader has fetched. */
static void count_down(const struct command *c)
{
    for (struct command *u = c->pe->updates; u; u = u->next_update)
        u->readers -= u->op.id > c->op.id && reads_block(c, u->result->block);
}

struct command *flight_update(struct tl_ctx *pe)
{
    struct command **link = &pe->updates, *u;

    while ((u = *link)) {
        if (u->readers > 0) {
            link = &u->next_update;
            continue;
        }
        *link = u->next_update;
        if (!u->joined)
            return u;
    }
    return NULL;
}

/* `was` takes the place of `x` among what `maker` makes. */
static void replace_made(struct command *maker, struct tl_tensor *x, struct tl_tensor *was)
{
    if (maker->result == x)
        maker->result = was;
    for (struct tl_tensor *view = maker->result; view; view = view->beside) {
        if (view->beside == x)
            view->beside = was;
        if (view->parent == x)
            view->parent = was;
    }
}

struct tl_tensor *flight_leave_past(struct tl_ctx *pe, struct tl_tensor *x)
{
    struct tl_tensor *was = tensor_new(pe, (enum tensor_kind)x->kind), place;

    if (!was)
        return NULL;
    place = *was;
    *was = *x;
    was->older = place.older;
    was->newer = place.newer;
    was->number = place.number;
    was->hidden = was->kept = false;
    was->viewed = true;
    was->block->refs++;
    if (was->view.v)
        version_keep(was->view.v);
    if (x->making)
        replace_made(x->making, x, was);
    for (struct command *r = pe->readers; r; r = r->next_reader)
        for (uint32_t i = 0; i < r->n_operands; i++)
            if (r->operand[i] == x)
                r->operand[i] = was;
    x->users = 0;
    x->making = NULL;
    x->parent = NULL;
    x->loads = x->cut = false;
    x->wait = WAIT_NONE;
    x->made_by = OP_NONE;
    return was;
}

void flight_fetched(struct kb_sim *s, uint64_t t, struct command *c)
{
    c->reads = false;
    leave_readers(c);
    count_down(c);
    for (uint32_t i = 0; i < c->n_operands; i++)
        if (c->operand[i] && --c->operand[i]->users == 0)
            bury(s, t, c->operand[i]);
    if (c->pe->unread && !flight_is_read(c->pe, c->pe->unread))
        flight_room(c->pe, t);
}

static void join(struct command *maker, struct command *c)
{
    struct command **link = &maker->waiters;

    if (!maker->waited)
        maker->waiters = NULL;
    maker->waited = true;
    if (maker->waiters &&
        maker->last_waiter->op.id < c->op.id) /* mostly: they are called in order */
        link = &maker->last_waiter->next_waiter;
    while (*link && (*link)->op.id < c->op.id)
        link = &(*link)->next_waiter;
    if (!*link)
        maker->last_waiter = c;
    c->next_waiter = *link;
    *link = c;
}

bool flight_waits(struct command *c)
{
    for (uint32_t i = 0; i < c->n_operands; i++) {
        struct tl_tensor *tensor = c->operand[i];

        if (!tensor || !tensor->making || !flight_orders(c, tensor))
            continue;
        c->late = c->joined = true;
        join(tensor->making, c);
        return true;
    }
    c->joined = false;
    c->late = c->late || c->readers > 0;
    return c->readers > 0;
}

void flight_end(struct kb_sim *s, uint64_t t, struct command *c)
{
    struct tl_tensor *result = c->result, *next = result->beside;

    for (struct tl_tensor *view = next; view; view = view->beside) {
        if (!take_content(s->kernels, view))
            kernel_no_memory(&s->kernels->pes[view->owner]);
        view->hidden = result->hidden && !view->sliced;
        view->maker = result->maker;
    }
    for (struct tl_tensor *tensor = result; tensor; tensor = next) {
        next = tensor->beside;
        tensor->making = NULL;
        tensor->parent = NULL;
        tensor->wait = WAIT_ENDED;
        tensor->made_fs = (int64_t)t;
        bury(s, t, tensor);
    }
}
