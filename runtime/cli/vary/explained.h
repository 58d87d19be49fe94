/* explained.h -- --breakdown and --stats of a command that runs several times: rows of each run,
 * behind what names it. */
#ifndef EXPLAINED_H
#define EXPLAINED_H
#include "cli/rows/utilization_rows.h"
#include "cli/vary/all_rows.h"

/* Of one run. All zero is none. */
struct run_explained {
    kb_breakdown *breakdown; /* owned; NULL: not wanted, or taken */
    struct captured causes, stats;
};

/* Of all runs, in the order in which they were given. */
struct explained {
    const struct cli *cli;
    struct all_rows causes, stats;
    char *note; /* owned: below the causes of the first run */
    uint64_t n; /* runs whose causes were given */
};

/* `names` gives the cells of `columns` for run `i`; with no columns rows are those of the command
 * alone. Columns are borrowed, and end with explained_free(). */
void explained_begin(struct explained *e, const struct cli *cli, const struct column *columns,
                     size_t n_columns, all_rows_names *names, void *arg);
void explained_free(struct explained *e);

static inline bool explained_is_wanted(const struct cli *cli)
{
    return cli->opts.breakdown || cli->opts.stats;
}

/* Has `sim`, which has not begun, watched if --breakdown asks for it. */
kb_status explained_watch(const struct explained *e, kb_sim *sim, struct run_explained *run,
                          kb_error *why);

/* Takes the rows of a run that is over, on any thread. EXIT_OK, or another code after a message. */
enum exit_code explained_take(const struct explained *e, const kb_sim *sim,
                              struct run_explained *run);

/* Takes those of --stats alone, of what a run has used, if they are asked for. */
void explained_take_use(const struct explained *e, struct utilization_rows *used,
                        struct run_explained *run);

/* Takes causes that are there, as a page is told them. */
void explained_take_causes(const struct explained *e, const struct rows *causes,
                           struct run_explained *run);

/* What was taken as bytes, and from them. */
void explained_pack(const struct run_explained *run, struct packed *to);
void explained_unpack(const struct explained *e, struct run_explained *run, struct packed *from);

/* Adds them as those of run `i`; nothing of `run` is left. */
void explained_give(struct explained *e, uint64_t i, struct run_explained *run);
void explained_drop(struct run_explained *run);

/* Prints the causes of all runs. */
enum exit_code explained_print(struct explained *e, struct sink *s);

/* Writes the file of --stats, if it is asked for, after the command's own output, which ended with
 * `code`. Returns `code`, or another one after a message. */
enum exit_code explained_write(struct explained *e, enum exit_code code);

#endif
