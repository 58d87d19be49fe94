/* race.h -- finds data races: accesses of PEs to the same bytes that nothing orders. */
#ifndef RACE_H
#define RACE_H
#include "data/host.h"
#include "record/shadow.h"
#include "tl.h"

/*
 * The kernels report accesses and synchronisation of a launch in the order of simulated time. The
 * method is described in race.c. Functions that return a bool return false without memory.
 */
struct race;

struct race *race_new(const struct kb_topology *topo); /* NULL: no memory */
void race_free(struct race *r);

/* A launch that sets out. All is borrowed, `kernel` and `host` until the race is freed. */
struct race_launch {
    uint32_t number;
    const char *kernel;
    const uint32_t *pes; /* NULL: 0..n-1 */
    size_t n;
    const uint32_t *before; /* numbers of launches that it has waited for */
    size_t n_before;
    bool alone;              /* none runs beside it, and all later ones wait for it */
    const struct host *host; /* its tensors; may be NULL */
};

/* A launch sets out: those that it has waited for, directly or not, happen before it. */
bool race_launch_begins(struct race *r, const struct race_launch *l);
bool race_launch_ends(struct race *r, const struct race_launch *l);

/* One access. */
struct touch {
    enum access_kind kind;
    uint32_t pe;
    const char *call;
    tl_here here;
    uint32_t op;
    int64_t issue_fs;
    uint32_t memory; /* packed */
    uint64_t address, nbytes;
    const struct strided *strided; /* NULL: one piece of nbytes */
};

/*
 * An access. It lasts until the PE waits for its command number `command`; RACE_AT_ONCE: it ends at
 * once.
 */
#define RACE_AT_ONCE UINT64_MAX
bool race_touch(struct race *r, const struct touch *x, uint64_t command);

/* The PE's last synchronous command has returned. Called before anything else that the PE does. */
bool race_goes_on(struct race *r, uint32_t pe);

/* The PE has waited for a command, and so for all that it follows; or, RACE_ALL, for each. */
#define RACE_ALL UINT64_MAX
bool race_waited(struct race *r, uint32_t pe, uint64_t command);
/* Of all commands it has waited until they have fetched what they read in [first, end). */
void race_fetched(struct race *r, uint32_t pe, uint64_t first, uint64_t end);
/* Its command begins after `maker` has ended, which may not have been waited for. */
bool race_follows(struct race *r, uint32_t pe, uint64_t command, uint64_t maker);

/* A send and a receive of so many pieces; `command` of a receive as for race_touch(). */
bool race_send(struct race *r, uint32_t from, uint32_t to, uint32_t tag, uint32_t pieces);
bool race_receive(struct race *r, uint32_t from, uint32_t to, uint32_t tag, uint32_t pieces,
                  uint64_t command);

/* The PE comes to a barrier of `n` PEs; `key` identifies the barrier. */
bool race_meet(struct race *r, uint32_t pe, const void *key, size_t n);

/* An atomic takes effect. */
bool race_atomic(struct race *r, const struct touch *x);

/* Calls `each` for every race found, in that order; and how many races, accesses and PEs there
 * were. */
void race_each(const struct race *r, void (*each)(void *arg, const kb_race *race), void *arg);
kb_race_counts race_counts(const struct race *r);

/* The same for every line that has gone beyond the end of a tensor. */
void race_each_beyond(const struct race *r, void (*each)(void *arg, const kb_beyond *beyond),
                      void *arg);

#endif
