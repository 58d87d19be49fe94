/* watch.h -- what the hop engine tells of a run: where each transaction is, what each station does.
 */
#ifndef WATCH_H
#define WATCH_H
#include "engine/state.h"

struct command;
struct tl_ctx;

/* Stations, as the engine comes to them. */
enum watch_station { WATCH_CHANNEL, WATCH_ENGINE, WATCH_LINK, WATCH_MEMORY };

void watch_free(struct watch *w);

/* Of who is in `slot`: each ends the piece of time before, and begins the next. */

/* A transaction is issued, or a stage begins. False: no memory, the run ends; so watch_late(). */
bool watch_issue(struct kb_sim *s, uint64_t t, uint32_t slot);
/* It was issued at `t`, before now, and waits for its channel since then. */
bool watch_late(struct kb_sim *s, uint64_t t, uint32_t slot);
/* It comes to a node, crosses a NoC, or takes the wire of the edge behind the node. */
void watch_node(struct kb_sim *s, uint64_t t, uint32_t slot);
void watch_cross(struct kb_sim *s, uint64_t t, uint32_t slot);
void watch_wire(struct kb_sim *s, uint64_t t, uint32_t slot);
/* It comes to a station, which may be taken; and has it from `t` on. */
void watch_come(struct kb_sim *s, uint64_t t, uint32_t slot, enum watch_station station);
void watch_take(struct kb_sim *s, uint64_t t, uint32_t slot, enum watch_station station)
    LINKED(watch_take);
/* Its service has ended: what is begun before watch_left() follows from that. */
void watch_leave(struct kb_sim *s, uint64_t t, uint32_t slot);
void watch_release(struct kb_sim *s, uint64_t t, uint32_t slot, enum watch_station station);
/* It has ended: data at `t`, the response at `end`. */
void watch_end(struct kb_sim *s, uint64_t t, uint64_t end, uint32_t slot);
void watch_left(struct kb_sim *s);

/* A PE begins its kernel, issues a command, ends one, ends its kernel. */
void watch_start(struct tl_ctx *pe, uint64_t t);
void watch_command(struct kb_sim *s, struct command *c);
void watch_finish(struct kb_sim *s, uint64_t t, struct command *c);
void watch_stop(struct tl_ctx *pe, uint64_t t);
/* The kernel goes on: its command `id` was issued, or has ended. */
void watch_resume(struct tl_ctx *pe, uint32_t id, bool ended);

/* What has taken a piece out of a slot, for who waits for that slot. */
struct taken {
    uint32_t stretch, command;
    int64_t at_fs;
};

struct taken watch_taken(struct kb_sim *s);
/* Credits, words of a barrier: one sets out in `slot`, is there. False: no memory, the run ends. */
bool watch_credit(struct kb_sim *s, uint32_t slot, uint32_t receiver, const struct taken *taken);
bool watch_release_word(struct kb_sim *s, int64_t there_fs, uint32_t slot, struct command *last,
                        uint32_t lowest);
void watch_word(struct kb_sim *s, uint32_t slot); /* as watch_leave(); watch_left() follows */
/* A command begins to wait for another PE, as the piece `id`; for one that is not known: KB_NO_ID.
 */
void watch_wait(struct kb_sim *s, struct command *c, uint32_t id, uint32_t peer);
/* The last piece of a send is issued. */
void watch_go_on(struct kb_sim *s, uint64_t t, struct command *c);

/* Why a check of the pieces has failed; KB_INTERNAL. */
kb_status watch_error(const struct watch *w, kb_error *why);

#endif
