/* banks.h -- a slice with `model: banks`, by docs/model.md "Memories with banks": scans of lists,
 * no shortcut. */
#ifndef JUDGE_BANKS_H
#define JUDGE_BANKS_H
#include "events.h"

/* A transaction, or a part of one, at a slice. */
struct judge_access {
    uint64_t id;
    uint64_t part;
    bool write;
    int64_t arrive_fs, drain_fs;
    uint64_t offset, nbytes;
    uint64_t packet, from;      /* behind routers; bytes of the transaction before it */
    struct judge_stretch *runs; /* of a tile; else NULL */
    size_t n_runs;
};

struct judge_banks;

/* What a slice tells. Only granted() may be called more than once for an access. */
struct judge_banks_user {
    void *arg;
    /* the channel wants judge_banks_decide() at this time, later than now */
    void (*wake)(void *arg, struct judge_banks *b, const struct judge_end *slice, uint32_t channel,
                 int64_t fs);
    void (*granted)(void *arg, const struct judge_access *access);
    void (*done)(void *arg, const struct judge_access *access, int64_t done_fs);
    /* burst `number` of the slice ends; NULL: not asked for */
    void (*burst)(void *arg, const struct judge_access *access, uint64_t number, int64_t end_fs);
};

/* Does this memory have banks? */
bool judge_has_banks(const struct judge_topo *t, const struct judge_end *memory);

/* `refreshed` false: as if there were no refresh. Give it back with judge_banks_free(). */
struct judge_banks *judge_banks_new(const struct judge_topo *t, const struct judge_end *slice,
                                    bool refreshed, const struct judge_banks_user *user);
void judge_banks_free(struct judge_banks *b);

/* The access comes to the slice at its arrive_fs, which is now. */
void judge_banks_arrive(struct judge_banks *b, const struct judge_access *access);

/* The class 5 event of a channel; a second one at the same time does nothing. */
void judge_banks_decide(struct judge_banks *b, uint32_t channel, int64_t now_fs);

/* done - arrival of an access alone at 0, on closed banks without refresh. */
int64_t judge_banks_alone_fs(const struct judge_topo *t, const struct judge_end *slice,
                             const struct judge_access *access);

/* `n` accesses, which come to closed banks without refresh, each at its arrive_fs, in that order.
 */
void judge_banks_alone(const struct judge_topo *t, const struct judge_end *slice,
                       const struct judge_access *accesses, size_t n,
                       const struct judge_banks_user *user);

/* What was used: completes the last row of a list, which is the slice's, and adds those of its
 * channels that have served something. */
void judge_banks_add_uses(const struct judge_banks *b, struct judge_use **uses, size_t *n);

/* Channels of different slices decide in the order of these numbers. */
uint64_t judge_channel_number(const struct judge_topo *t, const struct judge_end *slice,
                              uint32_t channel);
#endif
