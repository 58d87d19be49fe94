/*
 * workers.c -- processes that do the blocks of a parallel run, for parallel.c.
 *
 * A worker is a copy of the process as the run began. It reads numbers of blocks from a pipe, does
 * each, and writes number, length and bytes of the result to another. So that it need not wait for
 * an answer it is handed two blocks: one is in work, one in the pipe. Its standard error is a file
 * without a name, cleared before each block.
 *
 * A worker that dies, by a signal or by exit(), leaves the block in work without a result: died()
 * is told its status and what it said, another worker is started in its place, and the block in the
 * pipe goes back to be handed out first. A death that comes from outside, as by the kernel for want
 * of memory, or by a batch system that ends all processes of a job and us in a moment, says nothing
 * about the block: it is done once more, after a pause. If we die workers read the end of their
 * pipes, or are ended by the kernel.
 *
 * Example: 4 blocks, 2 workers, block 1 crashes. A has 0 and 2, B has 1 and 3. B dies: 1 has died,
 * 3 goes back, C is started, and gets 3.
 */
#include "base/workers.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { AHEAD = 2, SAID_BYTES = 4096, PAUSE_MS = 300 };

struct worker {
    pid_t pid; /* 0: none */
    int to, from;
    int said;              /* its standard error */
    uint64_t block[AHEAD]; /* in its hands, the oldest first */
    unsigned n_blocks;
};

struct workers {
    struct parallel b;
    struct worker *worker; /* owned */
    struct pollfd *poll;   /* owned */
    unsigned n;
    uint64_t *back; /* owned: blocks to be handed out again */
    unsigned n_back;
    uint64_t *again; /* owned: blocks that were ended from outside once */
    size_t n_again;
};

/* -- in a worker ------------------------------------------------------------------------------ */

/* All of it; false: the other end is gone. */
static bool write_all(int fd, const void *bytes, size_t n)
{
    for (const char *at = bytes; n > 0;) {
        ssize_t done = write(fd, at, n);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        at += done;
        n -= (size_t)done;
    }
    return true;
}

static bool read_all(int fd, void *bytes, size_t n)
{
    for (char *at = bytes; n > 0;) {
        ssize_t done = read(fd, at, n);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        at += done;
        n -= (size_t)done;
    }
    return true;
}

static _Noreturn void do_blocks(const struct parallel *b, const struct worker *w, unsigned number)
{
    struct packed result = {0};
    bool handed = true; /* the last result */
    uint64_t i;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(w->said, STDERR_FILENO);
    b->enter(b->arg);
    while (handed && read_all(w->from, &i, sizeof i)) {
        if (lseek(STDERR_FILENO, 0, SEEK_SET) == 0 && ftruncate(STDERR_FILENO, 0) != 0)
            break;
        b->work(b->arg, number, i);
        result.n = 0;
        b->pack(b->arg, i, &result);
        handed = !result.lost && write_all(w->to, &i, sizeof i) &&
                 write_all(w->to, &result.n, sizeof result.n) &&
                 write_all(w->to, result.bytes, result.n);
    }
    if (!handed)
        dprintf(STDERR_FILENO, "the result of a run could not be handed over: %s\n",
                result.lost ? "out of memory" : strerror(errno));
    _exit(handed ? 0 : WORKER_FAILED);
}

/* -- its life --------------------------------------------------------------------------------- */

/* The ends that the other workers hold are not for a new one: it would keep their pipes open. */
static void close_others(const struct workers *w)
{
    for (unsigned k = 0; k < w->n; k++)
        if (w->worker[k].pid) {
            close(w->worker[k].to);
            close(w->worker[k].from);
            close(w->worker[k].said);
        }
}

static bool begin_worker(struct workers *w, unsigned number)
{
    struct worker *one = &w->worker[number];
    int down[2] = {-1, -1}, up[2] = {-1, -1}, said = memfd_create("said", MFD_CLOEXEC);
    bool ok = said >= 0 && pipe2(down, O_CLOEXEC) == 0 && pipe2(up, O_CLOEXEC) == 0;
    pid_t pid = ok ? fork() : -1;

    if (pid == 0) {
        close(down[1]);
        close(up[0]);
        close_others(w);
        do_blocks(&w->b, &(struct worker){.from = down[0], .to = up[1], .said = said}, number);
    }
    close(down[0]);
    close(up[1]);
    if (pid < 0) {
        close(down[1]);
        close(up[0]);
        close(said);
        return false;
    }
    *one = (struct worker){.pid = pid, .to = down[1], .from = up[0], .said = said};
    return true;
}

static int end_worker(struct worker *one)
{
    int status = 0;

    while (waitpid(one->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    close(one->to);
    close(one->from);
    close(one->said);
    one->pid = 0;
    return status;
}

/* Was it ended from outside, for the first time at this block? */
static bool is_worth_another(struct workers *w, uint64_t block, int status)
{
    int by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    uint64_t *again;

    if (by != SIGKILL && by != SIGTERM && by != SIGHUP)
        return false;
    for (size_t i = 0; i < w->n_again; i++)
        if (w->again[i] == block)
            return false;
    again = realloc(w->again, (w->n_again + 1) * sizeof *again);
    if (!again)
        return false;
    w->again = again;
    w->again[w->n_again++] = block;
    usleep(PAUSE_MS * 1000);
    return true;
}

/* Its pipe has ended, or cannot be read: then it is ended, too. The oldest block died with it, the
 * others go back. */
static void bury(struct workers *w, unsigned number, void (*put)(void *run, uint64_t i), void *run)
{
    struct worker *one = &w->worker[number];
    char said[SAID_BYTES + 1] = "";
    ssize_t n = pread(one->said, said, SAID_BYTES, 0);
    int status;

    kill(one->pid, SIGKILL); /* nothing to one that has ended */
    status = end_worker(one);
    said[n > 0 ? n : 0] = '\0';
    for (unsigned k = 1; k < one->n_blocks; k++)
        w->back[w->n_back++] = one->block[k];
    if (one->n_blocks > 0 && is_worth_another(w, one->block[0], status)) {
        w->back[w->n_back++] = one->block[0];
    } else if (one->n_blocks > 0) {
        w->b.died(w->b.arg, one->block[0], status, said);
        put(run, one->block[0]);
    }
    begin_worker(w, number);
}

/* -- the run ---------------------------------------------------------------------------------- */

struct workers *workers_begin(const struct parallel *b)
{
    struct workers *w = calloc(1, sizeof *w);
    unsigned n = b->threads < b->n ? b->threads : (unsigned)b->n;

    if (!w)
        return NULL;
    *w = (struct workers){.b = *b,
                          .worker = calloc(n, sizeof *w->worker),
                          .poll = calloc(n, sizeof *w->poll),
                          .back = calloc(n, AHEAD * sizeof *w->back)};
    while (w->worker && w->poll && w->back && w->n < n && begin_worker(w, w->n))
        w->n++;
    if (w->n > 0)
        return w;
    workers_end(w);
    return NULL;
}

/* To every worker as many as it may have, first one to each. */
void workers_hand_out(struct workers *w, bool (*take)(void *run, uint64_t *i), void *run)
{
    for (unsigned ahead = 0; ahead < AHEAD; ahead++)
        for (unsigned k = 0; k < w->n; k++) {
            struct worker *one = &w->worker[k];
            uint64_t i;

            if (!one->pid || one->n_blocks > ahead)
                continue;
            if (w->n_back > 0)
                i = w->back[--w->n_back];
            else if (!take(run, &i))
                return;
            one->block[one->n_blocks++] = i;
            if (!write_all(one->to, &i, sizeof i))
                kill(one->pid, SIGKILL); /* it would wait; its other pipe says that it has died */
        }
}

/* A result, whose first bytes are there. False: the worker has died. */
static bool receive(struct workers *w, struct worker *one, struct packed *result)
{
    uint64_t i;
    size_t n;

    if (!read_all(one->from, &i, sizeof i) || !read_all(one->from, &n, sizeof n))
        return false;
    if (n > result->room) {
        char *bytes = realloc(result->bytes, n);

        if (!bytes)
            return false;
        result->bytes = bytes;
        result->room = n;
    }
    result->n = n;
    result->at = 0;
    if (!read_all(one->from, result->bytes, n))
        return false;
    w->b.unpack(w->b.arg, i, result);
    return true;
}

bool workers_receive(struct workers *w, void (*put)(void *run, uint64_t i), void *run, int ms)
{
    struct packed result = {0};
    unsigned alive = 0;

    for (unsigned k = 0; k < w->n; k++) {
        bool busy = w->worker[k].pid && w->worker[k].n_blocks > 0;

        w->poll[k] = (struct pollfd){.fd = busy ? w->worker[k].from : -1, .events = POLLIN};
    }
    if (poll(w->poll, w->n, ms) < 0)
        return true; /* a signal */
    for (unsigned k = 0; k < w->n; k++) {
        struct worker *one = &w->worker[k];

        if (w->poll[k].revents && receive(w, one, &result)) {
            uint64_t i = one->block[0];

            one->n_blocks--;
            memmove(one->block, one->block + 1, one->n_blocks * sizeof *one->block);
            put(run, i);
        } else if (w->poll[k].revents) {
            bury(w, k, put, run);
        } else if (!one->pid) {
            begin_worker(w, k);
        }
        alive += one->pid != 0;
    }
    packed_free(&result);
    return alive > 0;
}

void workers_end(struct workers *w)
{
    for (unsigned k = 0; k < w->n; k++)
        if (w->worker[k].pid)
            kill(w->worker[k].pid, SIGKILL);
    for (unsigned k = 0; k < w->n; k++)
        if (w->worker[k].pid)
            end_worker(&w->worker[k]);
    free(w->worker);
    free(w->poll);
    free(w->back);
    free(w->again);
    free(w);
}
