/* vary_run.h -- a run of --vary: what the machines in work and those that take their rows share. */
#ifndef VARY_RUN_H
#define VARY_RUN_H
#include "cli/command.h"
#include "cli/gate.h"
#include "cli/out/say.h"
#include "cli/vary/all_rows.h"
#include <stdatomic.h>

enum { VARY_SAID_MOST = 100 }; /* machines whose failure is told on stderr */

/* One machine in work, or done and not given yet. */
struct slot {
    const kb_topology *topo; /* owned; NULL: freed already */
    kb_info info;
    struct cell keys[VARY_KEYS_MAX];
    struct captured rows, stats;
    struct sink text; /* of the rows */
    struct said said;
    char program[VARY_LABEL_BYTES + 64];
    struct gates gates; /* of its command */
    enum exit_code code;
    size_t held; /* bytes, since it is done */
};

struct vary {
    const struct cli *cli;
    enum exit_code (*start)(const struct cli *cli);
    struct variants variants;
    struct column columns[VARY_KEYS_MAX];
    const kb_topology *base; /* what the machines are variants of; borrowed, or */
    const kb_topology *own;  /* owned: that, if it had to be made; else NULL */
    uint64_t stride;         /* from one machine to the next, modulo their number */
    unsigned threads;        /* machines at a time, */
    unsigned jobs;           /* and for each as many threads or processes */
    uint64_t window;
    struct slot *slot;      /* owned; machine i is at i % window */
    atomic_size_t held;     /* bytes, by machines that wait for their turn */
    struct sink sink, *out; /* where rows go; NULL: a dry run */
    struct all_rows all;    /* for a table */
    struct sink notes;      /* below it */
    uint64_t first, n;      /* machines of this part, which is mostly the whole */
    bool routers, ideal;    /* some machine has; some has such links */
    bool begun, any_row;    /* the head is written; a row is */
    uint64_t n_done, n_failed;
    double end_s;            /* of a dry run */
    bool different, lacks;   /* a machine has; one lacked memory, or a file */
    enum exit_code failed;   /* of the first machine that has failed */
    struct all_rows stats;   /* of --stats */
    struct wide head;        /* the columns of the first machine that did not fail */
    struct failure *failure; /* owned: those before any that did not, */
    size_t n_failures, failures_room;
};

struct failure {
    uint64_t machine;
    char *why; /* owned */
};

/* -- vary_machine.c: one machine, as an item of a plan; `arg` is a struct vary ------------------
 */

void vary_do_machine(void *arg, unsigned thread, uint64_t i);
void vary_pack_machine(void *arg, uint64_t i, struct packed *to);
void vary_unpack_machine(void *arg, uint64_t i, struct packed *from);
void vary_machine_died(void *arg, uint64_t i, enum exit_code code, const char *why,
                       const char *said);

/* Would another run have its result, too? What lacked memory or a file could run the next time. */
bool vary_is_final(void *arg, uint64_t i);

/* Do the machines that wait for their turn hold so much that no other may be begun? */
bool vary_holds_enough(void *arg);

bool vary_is_complete(const struct slot *s);
bool vary_is_cut(const struct slot *s); /* was it ended, and not by its machine? */
void vary_free_slot(struct vary *v, struct slot *s);

/* The tables of machine `i` to `s`; messages are kept. */
enum exit_code vary_make_machine(const struct vary *v, struct slot *s, uint64_t i);

/* The combination that item `i` is. */
uint64_t vary_number(const struct vary *v, uint64_t i);

/* A row of a struct captured, which is never the first of all. */
bool vary_slot_row(void *arg, uint64_t i, struct cell *cells);

/* Do rows go to a program that runs commands itself? Else, are they printed as they come? */
bool vary_is_asked_by_program(const struct vary *v);
bool vary_is_streamed(const struct vary *v);

/* -- vary_give.c: what becomes of it, in order ----------------------------------------------------
 */

bool vary_give_machine(void *arg, uint64_t i);

/* The end of a part of --shard whose machines have all failed: rows of their keys alone. */
void vary_give_bare_part(struct vary *v);

/* Do the runs of one machine keep all workers busy? Its rows then have a note of their own. */
bool vary_spreads(const struct cli *cli);

/* The origin that rows tell. */
struct origin vary_origin(const struct vary *v);

#endif
