/* observer.h -- what the hop engine tells of a run: where each transaction is, what each station does.
 */
#ifndef OBSERVER_H
#define OBSERVER_H
#include "engine/state.h"

struct command;
struct tl_ctx;

/* Stations, as the engine comes to them. */
enum watch_station { WATCH_CHANNEL, WATCH_ENGINE, WATCH_LINK, WATCH_MEMORY };

void observe_free(struct watch *w);

/* Of who is in `slot`: each ends the piece of time before, and begins the next. */

/* A transaction is issued, or a stage begins. False: no memory, the run ends; so observe_late(). */
bool observe_issue(struct kb_sim *s, uint64_t t, uint32_t slot);
/* It was issued at `t`, before now, and waits for its channel since then. */
bool observe_late(struct kb_sim *s, uint64_t t, uint32_t slot);
/* It comes to a node, crosses a NoC, or takes the wire of the edge behind the node. */
void observe_node(struct kb_sim *s, uint64_t t, uint32_t slot);
void observe_cross(struct kb_sim *s, uint64_t t, uint32_t slot);
void observe_wire(struct kb_sim *s, uint64_t t, uint32_t slot);
/* It comes to a station, which may be taken; and has it from `t` on. */
void observe_come(struct kb_sim *s, uint64_t t, uint32_t slot, enum watch_station station);
void observe_take(struct kb_sim *s, uint64_t t, uint32_t slot, enum watch_station station)
    LINKED(observe_take);
/* Its service has ended: what is begun before observe_left() follows from that. */
void observe_leave(struct kb_sim *s, uint64_t t, uint32_t slot);
void observe_release(struct kb_sim *s, uint64_t t, uint32_t slot, enum watch_station station);
/* It has ended: data at `t`, the response at `end`. */
void observe_end(struct kb_sim *s, uint64_t t, uint64_t end, uint32_t slot);
void observe_left(struct kb_sim *s);

/* A PE begins its kernel, issues a command, ends one, ends its kernel. */
void observe_start(struct tl_ctx *pe, uint64_t t);
void observe_command(struct kb_sim *s, struct command *c);
void observe_finish(struct kb_sim *s, uint64_t t, struct command *c);
void observe_stop(struct tl_ctx *pe, uint64_t t);
/* The kernel goes on: its command `id` was issued, or has ended. */
void observe_resume(struct tl_ctx *pe, uint32_t id, bool ended);

/* What has taken a piece out of a slot, for who waits for that slot. */
struct taken {
    uint32_t stretch, command;
    int64_t at_fs;
};

struct taken observe_taken(struct kb_sim *s);
/* Credits, words of a barrier: one sets out in `slot`, is there. False: no memory, the run ends. */
bool observe_credit(struct kb_sim *s, uint32_t slot, uint32_t receiver, const struct taken *taken);
bool observe_release_word(struct kb_sim *s, int64_t there_fs, uint32_t slot, struct command *last,
                        uint32_t lowest);
void observe_word(struct kb_sim *s, uint32_t slot); /* as observe_leave(); observe_left() follows */
/* A command begins to wait for another PE, as the piece `id`; for one that is not known: KB_NO_ID.
 */
void observe_wait(struct kb_sim *s, struct command *c, uint32_t id, uint32_t peer);
/* The last piece of a send is issued. */
void observe_go_on(struct kb_sim *s, uint64_t t, struct command *c);

/* Why a check of the pieces has failed; KB_INTERNAL. */
kb_status observe_error(const struct watch *w, kb_error *why);

#endif
