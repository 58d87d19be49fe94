/* events.h -- one ordered set of events, for both of the judge's simulations. */
#ifndef JUDGE_EVENTS_H
#define JUDGE_EVENTS_H
#include "judge.h"

/* docs/model.md "Order of events" */
enum judge_class {
    JUDGE_DONE,
    JUDGE_HOP,
    JUDGE_ARRIVAL,
    JUDGE_ISSUE,
    JUDGE_START,
    JUDGE_ARBITRATION /* of an output port, or of a channel with banks; `id` is its number */
};

/*
 * An event in the order (time, class, id) of docs/model.md. One transaction may give back several
 * links at one instant. `step` orders even those, though nothing can depend on it: no event
 * records them, and the transactions that go on because of them have later classes.
 */
struct judge_event {
    int64_t fs;
    enum judge_class class;
    uint64_t id;
    uint64_t part;   /* of a transaction that is split, from 0; of a child its number */
    uint64_t packet; /* that comes to a node */
    size_t step; /* JUDGE_DONE: what is given back; JUDGE_ARRIVAL: where; of banks the channel */
    struct judge_banks *banks; /* JUDGE_ARBITRATION */
};

/* All zero is an empty set; give `heap` back with free(). */
struct judge_events {
    struct judge_event *heap;
    size_t n, room;
};

void judge_post(struct judge_events *set, struct judge_event e);

/* Takes the smallest of a set that is not empty. */
struct judge_event judge_next(struct judge_events *set);

/* A fingerprint with one more record. */
uint64_t judge_fingerprint(uint64_t fingerprint, const struct judge_event *e);
#define JUDGE_NO_EVENTS UINT64_C(0xcbf29ce484222325) /* the fingerprint of none */

/* Sum, and llround(nbytes * 1e6 / gbs). Past 2^63 fs: INT64_MAX, and *too_late is set. */
int64_t judge_add_fs(int64_t a, int64_t b, bool *too_late);
int64_t judge_transfer_fs(uint64_t nbytes, double gbs, bool *too_late);

/* The bandwidth of a memory alone. */
double judge_own_gbs(const struct judge_topo *t, const struct judge_end *at, bool write);

/* How long a transaction, of which it moves so many bytes, holds memory `at`, of a TCM the port
 * that it takes: the overhead, and the drain of the route or the memory's own. */
int64_t judge_held_fs(const struct judge_topo *t, const struct judge_end *at, uint64_t nbytes,
                      bool write, int64_t overhead_fs, int64_t drain_fs, bool *too_late);

/* Channels of a pe_dma, engines of an m_cpu and ports of a pe_tcm, for reads or for writes; 1 of
 * other nodes. */
uint32_t judge_servers(const struct judge_topo *t, const struct judge_node *node, bool write);

void judge_add_wait(struct judge_waits *list, const struct judge_wait *wait);

/* What a wait was for: a link in the direction of its data; a node, and which part of it. */
void judge_name_link(const struct judge_topo *t, size_t from, size_t to,
                     char text[2 * JUDGE_NAME_BYTES]);
void judge_name_station(const struct judge_topo *t, size_t node, const char *way,
                        char text[2 * JUDGE_NAME_BYTES]);
#endif
