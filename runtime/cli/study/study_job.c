/*
 * study_job.c -- a job of a study in a process of its own, which ends when ours does.
 */
#include "cli/study/study_job.h"
#include "base/parallel.h"
#include "cli/out/memory.h"
#include "cli/out/stop.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REASON_BYTES = 4096 };

/* In the new process: it must not touch what is ours, and leaves without giving anything back. */
_Noreturn static void run_job(const struct study_job *job, const struct study *s)
{
    stop_forget();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    dup2(job->said, STDERR_FILENO);
    parallel_ranks = NULL;
    study_run_one(s, job->number / s->n_commands, job->number % s->n_commands, job->out);
    stop_remove();
    _exit(0);
}

bool study_job_begin(struct study_job *job, const struct study *s, size_t number)
{
    job->number = number;
    job->said = memfd_create("said", MFD_CLOEXEC);
    if (job->said < 0)
        return false;
    *job->out = (struct study_outcome){.state = STUDY_WAITS};
    fflush(NULL);
    job->pid = fork();
    if (job->pid == 0)
        run_job(job, s);
    if (job->pid > 0)
        return true;
    close(job->said);
    job->pid = 0;
    return false;
}

static char *said_by(const struct study_job *job)
{
    char *said = memory_new(REASON_BYTES + 1, 1);

    return pread(job->said, said, REASON_BYTES, 0) >= 0 ? said : memory_resize(said, 1, 1);
}

bool study_job_ended(struct study_job *job, struct study_outcome *o, char **said)
{
    int status;

    if (waitpid(job->pid, &status, WNOHANG) != job->pid)
        return false;
    bool ended = WIFEXITED(status) && WEXITSTATUS(status) == 0;

    *o = *job->out;
    if (!ended || o->state == STUDY_WAITS) {
        o->state = STUDY_FAILED;
        o->code = ended ? o->code : WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_INTERNAL;
    }
    if (o->state == STUDY_FAILED && (o->code == EXIT_INTERRUPTED || stop_asked())) {
        o->state = STUDY_WAITS;
    } else if (o->state == STUDY_FAILED) {
        o->code = o->code ? o->code : EXIT_INTERNAL;
        *said = said_by(job);
    }
    close(job->said);
    job->pid = 0;
    return true;
}

void study_job_stop(const struct study_job *job)
{
    kill(job->pid, SIGTERM);
}

void study_job_kill(const struct study_job *job)
{
    kill(job->pid, SIGKILL);
}
