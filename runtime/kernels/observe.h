/* observe.h -- what PEs tell the observer: kernels, commands, messages, barriers. */
#ifndef KERNELS_OBSERVE_H
#define KERNELS_OBSERVE_H
#include "engine/observer.h"
#include "kernels/kernels.h"

/* Each of these asks s->observer, which must not be NULL. */

/* A PE begins its kernel, issues a command, ends one, ends its kernel. */
static inline void observe_start(struct tl_ctx *pe, uint64_t t)
{
    pe->sim->observer->start(pe->sim, pe, t);
}

static inline void observe_command(struct kb_sim *s, struct command *c)
{
    s->observer->command(s, c);
}

/* The operands that it has waited for are there: it starts. */
static inline void observe_operands(struct command *c)
{
    c->pe->sim->observer->operands(c);
}

static inline void observe_finish(struct kb_sim *s, uint64_t t, struct command *c)
{
    s->observer->finish(s, t, c);
}

static inline void observe_stop(struct tl_ctx *pe, uint64_t t)
{
    pe->sim->observer->stop(pe->sim, pe, t);
}

/* The kernel goes on: its command `id` was issued, or has ended. */
static inline void observe_resume(struct tl_ctx *pe, uint32_t id, bool ended)
{
    pe->sim->observer->resume(pe->sim, pe, id, ended);
}

/* What ends now has made room in the TCM or among accumulators, which the kernel has waited for. */
static inline void observe_room(struct tl_ctx *pe, uint64_t t)
{
    pe->sim->observer->room(pe->sim, pe, t);
}

/* The piece that has left its slot; the credit tells the sender. */
static inline struct taken observe_taken(struct kb_sim *s)
{
    return s->observer->taken(s);
}

/* A credit sets out in `slot`. False: no memory, the run ends; so observe_release_word(). */
static inline bool observe_credit(struct kb_sim *s, uint32_t slot, uint32_t receiver,
                                  const struct taken *taken)
{
    return s->observer->credit(s, slot, receiver, taken);
}

/*
 * The word that releases a member of a barrier sets out in `slot`, at `there_fs`: the word of
 * `last`, the member that came last, is then with the lowest member.
 */
static inline bool observe_release_word(struct kb_sim *s, int64_t there_fs, uint32_t slot,
                                        struct command *last, uint32_t lowest)
{
    return s->observer->release_word(s, there_fs, slot, last, lowest);
}

/* A word has arrived: as leave(), and left() follows. */
static inline void observe_word(struct kb_sim *s, uint32_t slot)
{
    s->observer->word(s, slot);
}

/* A command begins to wait for the PE `peer`, as the piece `id`; KB_NO_ID: which one is not known.
 */
static inline void observe_wait(struct kb_sim *s, struct command *c, uint32_t id, uint32_t peer)
{
    s->observer->wait(s, c, id, peer);
}

/* The last piece of a send is issued. */
static inline void observe_go_on(struct kb_sim *s, uint64_t t, struct command *c)
{
    s->observer->go_on(s, t, c);
}

#endif
