/*
 * server.h -- a memory that chooses: it decides by itself what it serves when.
 *
 * Whatever brings a part of a transaction to its memory, the memory hears the same of it, and says
 * the same:
 *
 *     arrive   the head of a part has come                                     server_arrive()
 *     wake     the time that the memory has asked for, behind all arrivals     server_wake()
 *     done     an event of class 0 in the row of the transaction, at its end   server_leave()
 *
 * A part is a whole transaction or, behind routers, a packet of a write, or a read. There each part
 * says when it has its end, and network/router_end.c when that of the transaction is.
 *
 * Banks (network/banks.c) and components that queue (network/network_queueing.c) are such memories,
 * each a struct memory_server: of those that a machine may have built in machine/models.def has the
 * rows. A memory that serves in order of arrival needs none of this, as its end is known when it is
 * come to (engine/inorder.c). A memory has one wake at most, that of all its channels.
 *
 * What one takes alone is what tables say of the server in its place, unless machine/alone.h knows
 * better; its wait is the rest, from its arrival to its end.
 *
 * Servers may stand in a chain: a cache before banks, a component before either. The one in front
 * asks the one behind it, server_ask(), and hears of the end, server_tell(), unless it is known at
 * once. All that comes to a memory behind comes from the one in front, in order of time.
 *
 * Wakes are in the queue of the simulation, whatever engine runs. An end is in the queue, too, but
 * in a run of engine/inorder.h, which has it told as soon as it is known. This is one object code
 * for all of them, so `how` is no constant here.
 */
#ifndef NETWORK_SERVER_H
#define NETWORK_SERVER_H
#include "engine/delivery.h"
#include "engine/how.h"
#include "engine/serving.h"
#include "machine/pieces.h"

/* All of a transaction. */
static inline struct delivery whole_delivery(const struct txn *txn)
{
    return (struct delivery){.nbytes = txn->nbytes, .parcel = NO_PARCEL};
}

/* What a server asks of the memory behind it, for a transaction that has come to it. */
struct behind_asked {
    uint64_t t_fs;    /* it comes there: now, or later */
    int64_t drain_fs; /* of what is wanted of it */
    uint64_t number;  /* by which its maker knows it */
    uint64_t part;    /* its own among those of the transaction */
    uint32_t slot;    /* of the transaction, which may end before it */
    bool writes;
    struct moved bytes;
    const struct pieces *of; /* borrowed; where they lie; NULL: it was not asked for */
};

/* Such a request ends. */
struct behind_ended {
    uint64_t t_fs, number, part;
    uint32_t id; /* of the transaction that it was asked for */
};

/* What a component is asked by it, which stands behind a cache. */
struct kb_request behind_request(const struct kb_sim *s, uint32_t dst,
                                 const struct behind_asked *asked);

/* One kind of them. What may be NULL does nothing, or false. */
struct memory_server {
    /* Makes what all of a run share, kb_sim.NAME. False without memory. */
    bool (*begin)(struct kb_sim *s);
    void (*end)(struct kb_sim *s); /* may be NULL, as those below but arrive and wake */
    /* Room for as many rows. False without memory. */
    bool (*room)(struct kb_sim *s, uint32_t n);
    /* Memory `dst` is idle again, and time begins at 0. */
    void (*clear)(struct kb_sim *s, uint32_t dst);
    /* As the functions below. */
    void (*arrive)(struct kb_sim *s, int how, uint64_t t, uint32_t slot,
                   const struct delivery *part);
    bool (*expects)(struct kb_sim *s, uint64_t t, int64_t drain_fs, uint32_t slot);
    void (*wake)(struct kb_sim *s, int how, uint64_t t, uint32_t dst);
    /* Of one that may stand behind another, and of one that may stand in front. */
    int64_t (*ask)(struct kb_sim *s, int how, uint32_t dst, const struct behind_asked *asked);
    void (*hears)(struct kb_sim *s, int how, uint32_t dst, const struct behind_ended *ended);
};

/* Of all kinds that the machine of `s` has. */
bool servers_begin(struct kb_sim *s);
void servers_end(struct kb_sim *s);
bool servers_room(struct kb_sim *s, uint32_t n);
void server_clear(struct kb_sim *s, uint32_t dst);

/* The head of `part` has come at `t`, by an event. Its hold_fs says what it drains for, on its way.
 */
void server_arrive(struct kb_sim *s, int how, uint64_t t, uint32_t slot,
                   const struct delivery *part);

/*
 * Its head will come at `t`, draining for `drain`, and nothing is counted: need there be no event?
 * Then the memory has it.
 */
bool server_expects(struct kb_sim *s, uint64_t t, int64_t drain_fs, uint32_t slot);

/* What stands first in memory `dst` asks the next. Returns when that ends; NOT_YET: it will hear.
 */
static inline int64_t server_ask(struct kb_sim *s, int how, uint32_t dst,
                                 const struct behind_asked *asked)
{
    return s->servers[cost_memory(s->topo, dst, asked->writes)->behind]->ask(s, how, dst, asked);
}

/* What stands before `model` in memory `dst` hears of it. */
static inline void server_tell(struct kb_sim *s, int how, uint32_t dst, unsigned model,
                               const struct behind_ended *ended)
{
    const struct memory_row *memory = cost_memory(s->topo, dst, false);
    unsigned front = memory->behind == model ? memory->model : memory->behind;

    s->servers[front]->hears(s, how, dst, ended);
}

/* The wake of memory `dst` at `t`; nothing, if it was asked for an earlier one since. */
void server_wake(struct kb_sim *s, int how, uint64_t t, uint32_t dst);

/* Its service has ended at `t`. */
void server_leave(struct kb_sim *s, uint64_t t, uint32_t slot);

#endif
