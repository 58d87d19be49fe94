/* network_router.h -- a network of routers, as engines and memories know it: what goes in, what
 * comes out.
 *
 * An engine gives it transactions, and it brings their parts to their memories: each packet of a
 * write, each read. It has an agenda of its own, of ports that decide (class 5). An engine takes
 * whichever comes first, an event of its rows or an instant of the ports:
 *
 *     router_set_out()       a transaction has its channel, and sets out
 *     router_next_fs()       the first instant at which ports decide
 *     router_run()           all of them decide
 *
 * What leaves it is an event in the row of its transaction, as of any other way to a memory:
 *
 *     EV_ARRIVE, TXN_TO_ENGINE    the first segment of a host's is ready at the m_cpu; when that
 * has an engine, router_go_on() EV_ARRIVE, TXN_TO_MEMORY    a part comes to its memory:
 * router_part() says which. The memory answers when that has its turn, router_serve(), and when its
 * end is known: router_answer() of a read, router_part_ends() of a packet EV_DONE the data are
 * there: router_leave()
 *
 * A transaction has at most one of these at a time. Where no row has room for one, as in
 * engine/hop.c, it lies in the queue of events; so does one that stands for the whole agenda. Of a
 * kernel's read the end of its service is an event of its own, which lies there in any engine.
 */
#ifndef NETWORK_ROUTER_H
#define NETWORK_ROUTER_H
#include "engine/delivery.h"
#include "engine/how.h"
#include "engine/router.h"

/* Events of class 1 of the queue whose id is this are notes by themselves: no transaction has it.
 */
#define NOTE_ID UINT32_MAX

#define NO_CHANNEL UINT32_MAX

/* It leaves its channel at `t`; a host's, its pcie_ep. */
void router_set_out(struct kb_sim *s, uint64_t t, uint32_t slot);

/* A host's has its engine at `t`. */
void router_go_on(struct kb_sim *s, uint64_t t, uint32_t slot);

/* When ports decide next; ROUTER_NEVER: nothing waits for that. */
static inline uint64_t router_next_fs(struct router *r)
{
    return ev_time_fs(agenda_first(&r->agenda)->key);
}

/*
 * All ports decide that were asked to at `t`, which is the next instant. Where channels of banks
 * decide in one row with them (router_ask_as()), it stops at one, and returns its index: the caller
 * lets it decide, and goes on. NO_CHANNEL: it has come to the end, of the instant or of the run.
 */
uint32_t router_run(struct kb_sim *s, uint64_t t);

/* The same of all instants before `until`, where nothing else decides and nothing is counted:
 * `most` decisions at most, and none behind an event that they post. Returns how many there were.
 */
uint64_t router_run_until(struct kb_sim *s, uint64_t until, uint64_t most);

/* What has the place `order` among all that decide at `t` is asked to: a channel of banks. */
void router_ask_as(struct kb_sim *s, uint64_t t, uint64_t order, uint32_t index);

/* An event of class 1 that is in the queue. */
void router_take_note(struct kb_sim *s, ev e);

/* -- memories ------------------------------------------------------------------------------- */

/* The turn of a part at a memory, and what comes of it. */
struct turn {
    uint64_t start_fs, hold_fs; /* when it begins, and for how long it keeps others away */
    double gbs;        /* its last bytes take it at that pace: their room comes back then */
    uint64_t end_fs;   /* the data of a read leave, a packet of a write is served; ROUTER_NEVER */
    int64_t behind_fs; /* the write is not done before so long behind its last tail */
};

/* The one that comes now. */
struct delivery router_part(struct kb_sim *s, uint32_t slot);

/* Its room comes back as its turn goes on. Of a part with a parcel. */
void router_serve(struct kb_sim *s, const struct delivery *part, const struct turn *turn);

/* The data of a read begin their way back. False: no memory, the run ends. */
bool router_turn_back(struct kb_sim *s, uint32_t slot);

/* They all do, at `t`. */
void router_answer(struct kb_sim *s, uint64_t t, uint32_t slot);

/* The same burst by burst: segment `number` of them will be ready at `t`. `*parcel` is that of the
 * segment before, of the same packet. */
void router_send(struct kb_sim *s, uint64_t t, uint32_t slot, uint32_t number, uint32_t *parcel);

/*
 * A packet of a write has been served, or it is known when it will have been: the write is done
 * `behind_fs` after its last tail, but not before `end_fs`. ROUTER_NEVER: never.
 */
void router_part_ends(struct kb_sim *s, uint32_t slot, uint64_t end_fs, int64_t behind_fs);

/* It is done: it needs its way no more. */
static inline void router_leave(struct kb_sim *s, uint32_t slot)
{
    router_leave_way(s->router->flights[slot].way);
    s->router->flights[slot].way = NULL;
}

#endif
