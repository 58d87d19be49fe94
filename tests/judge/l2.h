/* l2.h -- the cache of a cube, between its PEs and all slices, by docs/model.md "An L2"; and that
 * of a slice before banks, which waits for its children as well. */
#ifndef JUDGE_L2_FILE_H
#define JUDGE_L2_FILE_H
#include "cache.h"

/* What an L2 asks of a slice: it sets out at `depart_fs`. What a slice's cache asks is there then.
 */
struct judge_l2_child {
    uint64_t id, part; /* its own; `maker` is the part that it is of */
    uint64_t maker;
    bool write;
    int64_t depart_fs;
    struct judge_piece piece; /* its bytes; its runs are the own of what is told */
    uint64_t asked;
    size_t number; /* of a read child; 0: a write */
};

struct judge_l2_user {
    void *arg;
    void (*child)(void *arg, struct judge_l2_child *child);
    /* part `part` of transaction `id` was looked up at begin_fs, and is done at done_fs */
    void (*done)(void *arg, uint64_t id, uint64_t part, int64_t begin_fs, int64_t done_fs);
};

struct judge_l2;

/* `at` is a slice, or in the cube of the L2. Give it back with judge_l2_free(). */
struct judge_l2 *judge_l2_new(const struct judge_topo *t, const struct judge_end *at,
                              const struct judge_l2_user *user);
void judge_l2_free(struct judge_l2 *l2);

/* An access, whose runs are addresses, comes to it now. */
void judge_l2_arrive(struct judge_l2 *l2, const struct judge_access *access, bool *too_late);

/* It is known when read child `number` of part `maker` of transaction `id` ends. */
void judge_l2_child_ends(struct judge_l2 *l2, uint64_t id, uint64_t maker, size_t number,
                         int64_t end_fs, int64_t drain_fs, bool *too_late);

/* A launch begins: what is there is dropped, if the L2 is one that drops. */
void judge_l2_launch(struct judge_l2 *l2);

const struct judge_cache *judge_l2_cache(const struct judge_l2 *l2);

/* Does what `pe` moves to or from `memory` go to the L2 of its cube? */
bool judge_goes_to_l2(const struct judge_topo *t, const struct judge_end *pe,
                      const struct judge_end *memory);

/* Parts of what `pe` moves, all of which go to its L2: by packets. Its runs lie in `memory`, or if
 * that is NULL are at addresses. 0: a run leaves its memory, or its addresses. */
size_t judge_cut_to_l2(const struct judge_topo *t, const struct judge_end *pe,
                       const struct judge_end *memory, const struct judge_stretch *runs,
                       size_t n_runs, struct judge_piece **parts);

/* Has the L2 that `part` goes to a way of a net to each slice where the part's bytes are? */
bool judge_l2_has_ways(const struct judge_topo *t, enum judge_op op,
                       const struct judge_piece *part);

/* For how long a child drains: over both legs, and its memory moves whole lines. */
int64_t judge_child_drain_fs(const struct judge_topo *t, const struct judge_end *l2,
                             const struct judge_l2_child *child, double gbs, bool *too_late);

/* done - arrival of an access that comes alone to an empty L2, and the wires behind it in that. */
int64_t judge_l2_alone_fs(const struct judge_topo *t, const struct judge_end *at,
                          const struct judge_access *access, uint32_t plane, int64_t *wire_fs,
                          bool *too_late);
#endif
