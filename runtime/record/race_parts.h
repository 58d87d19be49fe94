/* race_parts.h -- what the files of the race detector share. */
#ifndef RECORD_RACE_PARTS_H
#define RECORD_RACE_PARTS_H
#include "data/host_spans.h"
#include "record/race.h"

enum { HASH_ROWS = 4096, OPEN_ROWS = 16, N_SITES = 256 };

/* `seen` of a PE at a send or a receive, which ends before piece `end` of the channel. */
struct seen {
    uint64_t end;
    struct vclock *seen; /* owned */
    struct seen *next;
};

/* Oldest first. */
struct seen_list {
    struct seen *first, *last;
};

/* A queue from one PE to another: pieces are counted from 0. */
struct channel {
    uint32_t from, to, tag;
    uint64_t sent, received;   /* pieces of all calls so far */
    struct seen_list sends;    /* of which the receiver has not yet learned */
    struct seen_list receives; /* whose slots the sender may still need */
    struct channel *next;      /* of the same hash */
};

/* One round of a barrier. Reference-counted. */
struct meeting {
    const void *key;
    uint32_t refs;
    size_t arrived;
    struct vclock *all;    /* owned; what its members have seen together */
    struct vclock *before; /* owned; `met` of the first member */
    struct meeting *next;
};

/* An element that atomics add to. */
struct element {
    uint64_t address, nbytes;
    struct vclock *seen; /* owned */
    struct element *next;
};

/* The accesses of an asynchronous command, until it is waited for. */
struct open {
    uint32_t pe;
    uint64_t command;
    uint64_t *makers; /* owned; commands that it follows */
    size_t n_makers, makers_cap;
    struct access *access; /* owned; a list by `beside` */
    struct channel *from;  /* of a receive; else NULL */
    uint64_t end;          /* of a receive: its pieces end before this one */
    struct open *next;
};

/* A launch that has ended, and does not happen before all that is to come. */
struct ended {
    uint32_t number;
    uint32_t pe, clock;  /* what has seen this clock of this PE comes after it */
    struct vclock *seen; /* owned; what its PEs have seen together */
    struct ended *next;
};

/* A PE. */
struct race_pe {
    const char *kernel;  /* of its launch */
    struct vclock *seen; /* owned; its own entry is its last clock that it gave away */
    struct vclock *met;  /* owned; `seen` as its last barrier left it */
    bool learned;        /* `seen` has changed since, beside its own entry */
    uint32_t clock;      /* of its present accesses */
    bool touches;        /* it has had accesses */
    /* The synchronous command that has not returned: its PE learns from it when it does. */
    struct channel *sends, *receives; /* pieces before `end` */
    uint64_t end;
    struct meeting *meets; /* holds a reference */
};

/* Two lines of kernels that race, by ascending site and kind, and how that was first found. */
struct pair {
    struct kb_race race;
    uint32_t site[2];
    enum access_kind kind[2];
    uint64_t last; /* number of the access that was last counted */
    struct pair *next;
};

struct race {
    const struct kb_topology *topo;
    uint32_t n_pes, n_memories, level;
    size_t n_running; /* PEs of the launch; 0: others may run beside it */
    size_t under_way; /* launches */
    struct ended *ended;
    struct race_pe *pes;      /* owned; [PE] */
    struct shadow **memories; /* owned; [packed] */
    struct vclock *floor;     /* owned; what all PEs of the launch have seen */
    uint64_t floors;          /* how often it has changed */

    struct channel *channels[HASH_ROWS];
    struct meeting *meetings[HASH_ROWS]; /* which lack members */
    struct element *elements[HASH_ROWS];
    struct open *opens[HASH_ROWS]; /* those of a PE are in OPEN_ROWS of them */

    struct site *sites[N_SITES];
    uint32_t n_sites;
    struct pair *pairs[N_SITES];
    struct pair **found; /* owned; in order of discovery */
    size_t n_found, found_cap;
    uint64_t n_accesses;
    bool no_memory; /* a pair was lost */

    struct host_spans spans; /* of the launch */
    struct beyond *beyond;   /* owned; in order of discovery */
};

uint32_t race_hash(uint64_t a, uint64_t b);

void race_meeting_drop(struct meeting *m);
void race_channel_free(struct channel *c);

/* Forgets everything except the races that were found. */
void race_forget(struct race *r);

bool race_seen_add(struct seen_list *l, uint64_t end, struct vclock *seen);

/* Drops entries that end at or before piece `i`. */
void race_seen_skip(struct seen_list *l, uint64_t i);

/* Brings p->seen up to date, for others to learn from, and advances the clock of the PE. */
bool race_publish(struct race *r, uint32_t pe);

/* What `seen` holds happens before all that the PE does from now on. */
bool race_learn(struct race_pe *p, struct vclock *seen);

/* NULL: no memory. */
struct channel *race_find_channel(struct race *r, uint32_t from, uint32_t to, uint32_t tag);

/* Slots of a queue to `pe`: its own keys decide. */
uint32_t race_slots_of(const struct race *r, uint32_t pe);

/* A receive of the pieces before `end` returns: learns from the send of the last of them. If later
 * pieces have been received already, that entry is gone, and the first one left is later. */
bool race_receive_returned(struct race_pe *p, struct channel *c, uint64_t end);

/* NULL: no memory. */
const struct site *race_find_site(struct race *r, const char *call, tl_here here);

/* The access that is being entered. */
struct entered {
    struct race *race;
    struct access *access;
};

void race_meets(void *arg, const struct access *before, uint64_t first, uint64_t end);

/* A strided access as contiguous pieces: the innermost axes without gaps are one piece. */
struct pieces {
    uint32_t rank; /* of the remaining axes */
    uint64_t nbytes;
};

struct pieces race_pieces_of(const struct strided *s);

kb_race_access race_public_access(const struct access *x);

/*
 * Calls `piece` for each contiguous piece, in order of elements, until it returns false: the bytes
 * between the pieces are not accessed. A PE that stores the even rows of a matrix does not race
 * with one that stores the odd ones.
 */
bool race_each_piece(uint64_t address, const struct strided *s,
                     bool (*piece)(void *arg, uint64_t first, uint64_t end), void *arg);

/* Notes an access that reaches from one tensor into another. False: no memory.  race_beyond.c */
bool race_bounds(struct race *r, const struct touch *touch, const struct access *access);
void race_beyond_free(struct race *r);

#endif
