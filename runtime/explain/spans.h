/* spans.h -- what the hop engine tells of a run, cut into pieces of time: shared by its files. */
#ifndef SPANS_H
#define SPANS_H
#include "engine/observer.h"
#include "explain/breakdown.h"
#include "explain/visitors.h"
#include "kernels/kernels.h"
#include "machine/place.h"

/* -- data ----------------------------------------------------------------------------------- */

/* The time of a command, or of a part of it, by cause and place. */
struct shares {
    kb_share *row; /* owned */
    uint32_t n, cap;
};

/* How a stage of a command came to where it is: its shares since the issue, which are one chain. */
struct chain {
    uint32_t command, pe; /* op_id; KB_NO_ID: no kernel's */
    int64_t call_fs, issue_fs;
    int64_t launch_fs, collective_fs; /* costs of software, paid before the issue */
    uint32_t maker;                   /* kb_stretch.maker, .start_fs */
    int64_t start_fs;
    struct shares shares;
    /* If another PE or command let it begin: that one's stretch, since when, and the shares from
     * there on. */
    uint32_t before; /* KB_NO_ID: none, and the rest means nothing */
    int64_t since_fs;
    struct shares since;
};

/* The transaction or stage in a slot: its open piece of time, and the sums of those before. */
struct progress {
    int64_t begin_fs; /* of the piece */
    kb_place place, behind;
    uint32_t behind_id;
    uint8_t cause;
    bool open;
    int64_t issue_fs, told_fs, wire_fs, overhead_fs;
    int64_t engine_since_fs, memory_since_fs; /* taken; a channel: issue_fs + txn.wait_fs */
    struct chain chain;
    int64_t end_fs;   /* a word: when it set out */
    uint32_t stretch; /* a credit: what has taken the piece */
};

/* A stage that has just ended, or a word that has come, and its chain. */
struct leaving {
    struct chain chain;
    int64_t end_fs;
    uint32_t stretch; /* the number under which it was told; KB_NO_ID: not yet */
};

/* The command that a PE's kernel has last waited for, or issued: its next call follows from it. */
struct cause_of_call {
    uint32_t after;
    bool after_end;
    uint32_t room; /* the stretch that has made room for what comes; KB_NO_ID: none has since */
    int64_t start_fs, room_end_fs;
};

struct net;
struct visits;

struct spans {
    struct observer calls; /* first: kb_sim.observer points to it */
    struct kb_observer to[KB_OBSERVERS_MAX];
    int n;
    int n_by_pieces;              /* of these, those that hear of pieces, not of commands alone */
    int n_by_visits;              /* of those, how many visits will do for: 1 or 0 */
    int n_by_places;              /* those that hear of pieces, or of shares and where they are */
    bool opens, closes, services; /* an observer hears of them */
    bool hop_asked;               /* the options named the hop engine */
    struct visits *visits;        /* borrowed; of a breakdown; NULL: none */
    struct progress *slots;       /* owned; [slot] */
    uint32_t n_slots;
    uint32_t *channel_id, *engine_id; /* owned; the transaction that took it last */
    struct visitors *links, *early;   /* owned; of links, if fifo, and of s->early */
    struct visitors *ports;           /* owned; of ports of TCMs that are free early */
    size_t n_links, n_early, n_ports;
    struct net *net; /* owned; links router: router_paths.c; else NULL */
    struct leaving leaving;
    uint32_t n_stretches;      /* told */
    struct cause_of_call *pes; /* owned; [number]; NULL: no kernels */
    bool failed;
    kb_error error;
};

static inline struct spans *spans_of(const struct kb_sim *s)
{
    return (struct spans *)s->observer;
}

/* Calls `function` of each kb_observer that has one. */
#define TELL(w, function, what)                                                                    \
    do {                                                                                           \
        for (int i_ = 0; i_ < (w)->n; i_++)                                                        \
            if ((w)->to[i_].function)                                                              \
                (w)->to[i_].function((w)->to[i_].arg, what);                                       \
    } while (0)

/* Ends the run. */
static inline void spans_stop(struct kb_sim *s, kb_status status)
{
    if (s->status == KB_OK)
        s->status = status;
    s->stop_fs = 0;
}

static inline const struct work *work_at(const struct kb_sim *s, uint32_t slot)
{
    return &s->kernels->work[slot];
}

/* Is it a stage on a port or an engine of a PE? */
static inline bool is_inside(const struct kb_sim *s, uint32_t slot)
{
    return sim_has_kernels(s) && !work_is_dma(work_at(s, slot));
}

/* -- explain_shares.c
 * ------------------------------------------------------------------------------- */

bool shares_room(struct shares *x, uint32_t n);
void shares_copy(struct kb_sim *s, struct shares *to, const struct shares *from);
void shares_add(struct kb_sim *s, struct shares *x, const kb_share *piece);
int64_t shares_sum_fs(const struct shares *x);
/* From `since_fs` on it follows from the stretch `before`, and from nothing else so far. */
void chain_follow(struct chain *x, uint32_t before, int64_t since_fs);
void chain_copy(struct kb_sim *s, struct chain *to, const struct chain *from);
void chain_free(struct chain *x);
void chain_swap(struct chain *a, struct chain *b);
void chain_add(struct kb_sim *s, struct chain *x, const kb_share *piece);

/* -- spans.c: the piece of time of each slot ------------------------------------------------ */

/*
 * A piece that is known afterwards, `fs` long, which may be negative: for sums, and for those that
 * follow pieces only when they have ended.
 */
void spans_piece(struct kb_sim *s, uint32_t slot, kb_cause cause, kb_place place, int64_t begin_fs,
                 int64_t fs);

void spans_piece_behind(struct kb_sim *s, uint32_t slot, kb_cause cause, kb_place place,
                        int64_t begin_fs, int64_t fs, kb_place behind, uint32_t behind_id);

/* Counts pieces, for sums and for the chain. No observer hears of them by this. */
void spans_passed(struct kb_sim *s, uint32_t slot, const kb_share *pieces);

/* The same time for those that follow pieces as they begin: one, with its end; -1: it begins. */
void spans_show(struct kb_sim *s, uint32_t slot, kb_place place, int64_t begin_fs, int64_t end_fs);

void spans_inconsistent(struct kb_sim *s, const char *what, uint32_t id, int64_t is_fs,
                        int64_t should_fs);
const char *spans_op_name(uint32_t op);
kb_place spans_source(const struct txn *x);
const char *spans_command_name(const struct command *c);
kb_place spans_memory(const struct kb_sim *s, uint32_t slot);
kb_place spans_link(const struct kb_sim *s, uint32_t slot);
kb_span spans_make(const struct kb_sim *s, uint32_t slot, int64_t end_fs);
kb_service spans_service(const struct kb_sim *s, uint32_t slot, kb_place place, int64_t begin_fs,
                         int64_t end_fs);
void spans_close(struct kb_sim *s, uint64_t t, uint32_t slot);
void spans_open(struct kb_sim *s, uint64_t t, uint32_t slot, kb_cause cause, kb_place place);
void spans_open_wait(struct kb_sim *s, uint64_t t, uint32_t slot, kb_cause cause, kb_place place,
                     kb_place behind, uint32_t behind_id);
bool spans_room(struct kb_sim *s, uint32_t slot);
void spans_split(struct kb_sim *s, uint32_t whole, uint32_t part);
void spans_node(struct kb_sim *s, uint64_t t, uint32_t slot);
void spans_cross(struct kb_sim *s, uint64_t t, uint32_t slot);
void spans_wire(struct kb_sim *s, uint64_t t, uint32_t slot);
void spans_end(struct kb_sim *s, uint64_t t, uint64_t end, uint32_t slot);

/* -- explain_stations.c: waits and services
 * --------------------------------------------------------- */

/* The cause of a wait for a station at `place`. */
kb_cause stations_wait(kb_place place, enum station_kind station);

/* The overhead of a stage inside a PE; `cause`: of the rest of its service. */
int64_t stations_inside(const struct kb_sim *s, uint32_t slot, kb_cause *cause);

/* Is its memory or port, at `place`, free again before what it serves is done, so that nothing
 * waits for an end? */
bool stations_free_early(const struct kb_sim *s, uint32_t slot, kb_place place);

/* Has it come to a memory that chooses? */
bool stations_chooses(const struct kb_sim *s, uint32_t slot);

/* Its service has ended: what begins now may follow from its chain. */
void stations_leaves(struct kb_sim *s, uint64_t t, uint32_t slot);
/* The wait of `slot` has ended at `t`, perhaps by what leaves then; `own`: for what serves its PE
 * alone. */
void stations_follow(struct kb_sim *s, uint64_t t, uint32_t slot, bool own);
void stations_come(struct kb_sim *s, uint64_t t, uint32_t slot, enum station_kind station);
void stations_take(struct kb_sim *s, uint64_t t, uint32_t slot, enum station_kind station);
void stations_leave(struct kb_sim *s, uint64_t t, uint32_t slot);
void stations_left(struct kb_sim *s);
void stations_release(struct kb_sim *s, uint64_t t, uint32_t slot, enum station_kind station);

/* -- messages.c: what PEs wait for of each other -------------------------------------------- */

/* The parts of a word's way from one PE to another. */
struct word_way {
    int64_t wire_fs, overhead_fs;
};

void messages_dispatch(struct kb_sim *s, const struct chain *x, struct shares *shares);
uint32_t messages_stretch(struct kb_sim *s, struct chain *x, int64_t end_fs);
uint32_t messages_leaving(struct kb_sim *s);
kb_place messages_pe(const struct kb_sim *s, uint32_t pe);
void messages_wait(struct kb_sim *s, struct command *c, uint32_t id, uint32_t peer);
void messages_end_wait(struct kb_sim *s, uint64_t t, struct command *c);
struct word_way messages_way(const struct kb_sim *s, uint32_t from, uint32_t to);
/* At the call of its command, or at what made room for that. */
void chain_begin(struct kb_sim *s, struct chain *x, const struct command *c);
void messages_add_way(struct kb_sim *s, struct shares *x, struct word_way way, uint32_t to);
void messages_received(struct kb_sim *s, uint64_t t, struct chain *x, struct command *c);
void messages_sent(struct kb_sim *s, uint64_t t, struct chain *x, struct command *c);
struct taken messages_taken(struct kb_sim *s);
bool messages_credit(struct kb_sim *s, uint32_t slot, uint32_t receiver, const struct taken *taken);
bool messages_release_word(struct kb_sim *s, int64_t there_fs, uint32_t slot, struct command *last,
                           uint32_t lowest);
void messages_word(struct kb_sim *s, uint32_t slot);

/* -- commands.c: stages, commands and kernels ----------------------------------------------- */

bool commands_stage(struct kb_sim *s, uint64_t t, uint32_t slot);
void commands_start(struct kb_sim *s, struct tl_ctx *pe, uint64_t t);
void commands_issue(struct kb_sim *s, struct command *c);
void commands_late(struct command *c);
void commands_resume(struct kb_sim *s, struct tl_ctx *pe, uint32_t id, bool ended);
void commands_room(struct kb_sim *s, struct tl_ctx *pe, uint64_t t);
void commands_go_on(struct kb_sim *s, uint64_t t, struct command *c);
void commands_finish(struct kb_sim *s, uint64_t t, struct command *c);
void commands_stop(struct kb_sim *s, struct tl_ctx *pe, uint64_t t);

#endif
