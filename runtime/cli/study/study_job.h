/* study_job.h -- a job of a study: a command on a variant, in a process of its own. */
#ifndef STUDY_JOB_H
#define STUDY_JOB_H
#include "cli/study/study.h"
#include <sys/types.h>

struct study_job {
    pid_t pid; /* 0: none */
    size_t number;
    int said;                  /* its stderr: a file without a name */
    struct study_outcome *out; /* borrowed: memory that it shares with us */
};

/* Begins job `number` of `s`; false: there cannot be another process now. */
bool study_job_begin(struct study_job *job, const struct study *s, size_t number);

/*
 * Has it ended? Then `outcome` is what became of it, and `said`, if it failed, what it has said,
 * owned. STUDY_WAITS: it was stopped.
 */
bool study_job_ended(struct study_job *job, struct study_outcome *outcome, char **said);

/* Asks it to end as Ctrl-C asks; ends it. */
void study_job_stop(const struct study_job *job);
void study_job_kill(const struct study_job *job);

#endif
