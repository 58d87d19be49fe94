/* plan.h -- many runs of one command: points, machines, rates, variants of a study. */
#ifndef PLAN_H
#define PLAN_H
#include "base/parallel.h"
#include "cli/command.h"
#include "cli/out/progress.h"
#include "cli/plan/journal.h"

/*
 * Items 0 to n - 1. Any worker does them, ahead of the first that is not given by less than
 * `window`, and the caller's thread is given them in order. Item `i` uses slot i % window of what
 * `arg` leads to from work() or unpack() until give() returns.
 */
struct plan {
    const struct cli *cli;
    const char *things; /* "machines": a constant */
    uint64_t n;
    unsigned threads; /* see plan_threads() */
    uint64_t window;
    bool apart; /* in processes, as it runs what may bring its process down: pack() and died() */
    uint64_t first; /* the number of item 0 in the journal */
    void (*work)(void *arg, unsigned thread, uint64_t i);
    /* Takes item `i`, in order. False: no more. */
    bool (*give)(void *arg, uint64_t i);
    /* Is its result what another run would have, too? NULL: it always is. */
    bool (*is_final)(void *arg, uint64_t i);
    /* Its result as bytes, and the same result from them. NULL: it cannot be kept. */
    void (*pack)(void *arg, uint64_t i, struct packed *to);
    void (*unpack)(void *arg, uint64_t i, struct packed *from);
    /* Its process has died with `code`, after it said `said`: that is its result. `why` is what
     * that does not tell; both may be "". */
    void (*died)(void *arg, uint64_t i, enum exit_code code, const char *why, const char *said);
    bool (*have)(void *arg, uint64_t i); /* as struct parallel has it; may be NULL */
    bool (*full)(void *arg);             /* the same */
    uint64_t total;                      /* in progress; 0: n items */
    uint64_t (*done)(void *arg);         /* of these */
    const struct provenance *of; /* of the journal, if the command's is not enough; may be NULL */
    bool part_is_journal;        /* the file of a part of --shard has results, and no rows */
    void *arg;

    uint64_t n_given;
    struct packed from, to; /* owned: of the journal */
    struct progress progress;
    bool *taken; /* owned: [i % window]: it came from the journal */
};

/*
 * Runs all, and gives them until give() is false, or stop_asked(). With --resume results are in a
 * journal beside the output, and those that are there already are given and not done.
 *
 * returns  EXIT_OK, also if it was stopped; another code after a message
 */
enum exit_code plan_run(struct plan *p);

/* The threads that -j asks for. */
unsigned plan_threads(const struct cli *cli);

/* The items of this part of --shard, of `total`: the first, and how many. */
static inline uint64_t plan_first(const struct cli *cli, uint64_t total)
{
    return shard_first(&cli->opts.shard, total);
}

static inline uint64_t plan_count(const struct cli *cli, uint64_t total)
{
    return shard_count(&cli->opts.shard, total);
}

#endif
