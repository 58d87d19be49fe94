/* race.h -- accesses of PEs to the same bytes that nothing orders: who has seen what, and races. */
#ifndef RACE_H
#define RACE_H
#include "data/mem.h"
#include "record/shadow.h"
#include "tl.h"

/*
 * What a PE does in a launch, as far as it touches memory or meets others, is told in the order of
 * simulated time. It is one counted step after the other: what comes between two of its calls that
 * others can see has one clock. Functions that return a bool are false without memory.
 */
struct race;

struct race *race_new(const struct kb_topology *topo); /* NULL: no memory */
void race_free(struct race *r);

/* A launch on `n` PEs begins: all before it comes before it. `kernel` is borrowed. */
void race_launch(struct race *r, const char *kernel, size_t n);

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

/* Accesses go on until the PE waits for tensor number `tensor` of its own; or they end at once. */
#define RACE_AT_ONCE UINT64_MAX
bool race_touch(struct race *r, const struct touch *x, uint64_t tensor);

/* The PE goes on: its last synchronous command has ended. Before anything else that it does. */
bool race_goes_on(struct race *r, uint32_t pe);

/* It has waited for a tensor. */
bool race_waited(struct race *r, uint32_t pe, uint64_t tensor);

/* A send, and a receive, of so many pieces; the receive as the accesses of race_touch(). */
bool race_send(struct race *r, uint32_t from, uint32_t to, uint32_t tag, uint32_t pieces);
bool race_receive(struct race *r, uint32_t from, uint32_t to, uint32_t tag, uint32_t pieces,
                  uint64_t tensor);

/* It comes to a barrier of `n` PEs, which `key` tells from others. */
bool race_meet(struct race *r, uint32_t pe, const void *key, size_t n);

/* An atomic takes effect. */
bool race_atomic(struct race *r, const struct touch *x);

/* Calls `each` for every race found, in that order; and how many races, accesses and PEs there were. */
void race_each(const struct race *r, void (*each)(void *arg, const kb_race *race), void *arg);
kb_race_counts race_counts(const struct race *r);

#endif
