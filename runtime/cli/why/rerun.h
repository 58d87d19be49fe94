/* rerun.h -- what `why` runs again and again: a bench, a file of transactions, traffic, or a
 * language model. */
#ifndef RERUN_H
#define RERUN_H
#include "cli/command.h"
#include "base/packed.h"
#include "cli/in/in_pattern.h"
#include "cli/vary/explained.h"

enum scenario { SCENARIO_BENCH, SCENARIO_FILE, SCENARIO_LOAD, SCENARIO_LLM };

struct rerun {
    const struct cli *cli;
    enum scenario scenario;
    const kb_bench *bench;
    char **words; /* owned: the arguments of the first run, with what it has chosen */
    struct pattern asked;
    /* Sees the simulation of the first run when it has ended. May be NULL. */
    void (*look)(void *arg, const kb_sim *sim);
    void *arg;
    const struct explained *explained; /* borrowed: of runs that are; NULL: none is */
};

/* The result of a run. Fields that a scenario lacks are not set. */
struct outcome {
    kb_status status;
    kb_error why;
    bool ended;
    enum exit_code code; /* after a message */
    kb_bench_run *stuck; /* owned: its kernels are deadlocked; or NULL */
    uint64_t events;     /* about so many, of the first run */
    int64_t end_fs, kernel_fs, mean_fs, p99_fs;
    double accepted_gbs;
    bool steady;
    struct run_explained *explained; /* borrowed: where its causes go; NULL: nowhere */
};

/* A bench by its name, the words load or llm, or a file: what the operands of `cli` name. */
enum exit_code rerun_find(struct rerun *r, const struct cli *cli);
void rerun_free(struct rerun *r);

/* The first run, of the machine as it is: mistakes in the input are reported here only. */
void rerun_first(struct rerun *r, struct outcome *o);

/* Another one, on any thread: on `topo`, without the costs of `costs_off`. */
void rerun_again(const struct rerun *r, const kb_topology *topo, unsigned costs_off,
                 struct outcome *o);

/* The exit code of a run, after a message. */
enum exit_code rerun_code(const struct rerun *r, const struct outcome *o);

/* The time by which runs are compared: of the kernels, of a token or a prompt, or the mean latency.
 */
int64_t rerun_judged_fs(const struct rerun *r, const struct outcome *o);

/* "of the time of the kernels" and the like, for notes. */
void rerun_note(const struct rerun *r, char *note, size_t size);

/* Latencies of traffic that never settles depend on how long it goes on. */
void rerun_say_unsteady(const struct rerun *r, const struct outcome *first);

/* --dry-run: how many runs there are at most, as `most_runs` says of the first one, and how long
 * they take if all are as that. */
enum exit_code rerun_estimate(struct rerun *r,
                              uint64_t (*most_runs)(void *arg, const struct outcome *first),
                              void *arg);

/* The result of a run as bytes, if it has ended well, and from them. */
void rerun_pack(const struct outcome *o, struct packed *to);
void rerun_unpack(struct outcome *o, struct packed *from);

/* The cases of `why`. */
enum exit_code why_limits(struct rerun *r);
enum exit_code why_keys(struct rerun *r, double factor);

#endif
