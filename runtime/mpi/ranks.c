/*
 * ranks.c -- parallel runs over the ranks of an MPI job.
 *
 * Every rank runs the same command line. All of them come to the same parallel_run(); there rank 0
 * hands out numbered blocks, does blocks itself on a thread, and takes all results in order; the
 * others serve: they do the blocks that they are given, and send back what pack() makes of them.
 * What is printed is therefore that of one process, byte for byte. Ranks other than 0 have their
 * standard output in /dev/null, and write no files. Their standard error is a file in memory, which
 * is lost unless the rank fails.
 *
 * Messages, all between rank 0 and one other:
 *
 *     BLOCKS   0 -> r   the numbers of some blocks; none: this run has ended
 *     RESULTS  r -> 0   for each of them: number, bytes, and what pack() made
 *     FAILED   r -> 0   its exit code, and what it has said since its last block began
 *     END      0 -> r   rank 0 has ended, and may never have come to a run
 *
 * A rank is given a batch, and a second one while it does the first, so that it need not wait for
 * an answer. A batch is a sixteenth of its share of the blocks that are left, at most BATCH_MOST:
 * large at first, so that messages are few, single blocks at the end, so that all ranks end
 * together, also if blocks last unequally long. Example: 1,000 blocks on 4 ranks: batches begin
 * with 15 blocks and end with 1; each rank sends about 60 messages.
 *
 * A rank that fails tells rank 0 why, and waits for the end. Rank 0 says it, and ends,
 * keeping what is complete, as after Ctrl-C, but with the exit code of the rank that failed. So
 * the cause has arrived before anything ends. What rank 0 says of itself has been read by mpirun
 * before it ends the job, since MPI_Abort() may lose it otherwise. A rank that is killed can tell
 * nothing: MPI ends rank 0 by SIGTERM then. All calls of MPI are made by the main thread.
 */
#include "mpi/ranks.h"
#include "base/parallel.h"
#include "cli/out/stop.h"
#include <fcntl.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TAG_BLOCKS = 1, TAG_RESULTS, TAG_FAILED, TAG_END };
enum { BATCH_MOST = 64, BATCHES_AHEAD = 2, SHARE_PARTS = 16, LEAVE_MS = 300 };
enum { READ_MS = 2000, SAID_BYTES = 4096 };

/* FAILED: of `text` there is as much as was said, without a final 0. */
struct failure {
    int code;
    char text[SAID_BYTES];
};

/* What is under way to or in another rank. */
struct rank {
    unsigned batches;
};

static struct {
    int me, n;
    struct rank *rank; /* owned; on rank 0 */
    uint64_t handed;   /* blocks, of this run */
    uint64_t messages, bytes;
    bool ended; /* END has come */
    int code;   /* of the first rank that has failed; 0: none has */
    off_t said; /* in a rank other than 0: where in its standard error its last block began */
    bool left;  /* a rank is busy with a block that a run that was stopped does not wait for */
} job;

/* -- what failed ---------------------------------------------------------------------------- */

/* Waits until mpirun has read what was said: the pipe to it is empty, and it has had time to print
 * it. */
static void wait_until_read(void)
{
    int left = 0;

    fflush(NULL);
    for (int ms = 0; ms < READ_MS && ioctl(STDERR_FILENO, FIONREAD, &left) == 0 && left > 0; ms++)
        usleep(1000);
    usleep(LEAVE_MS * 1000);
}

/* What this rank has said since its last block began. */
static int read_said(char *text)
{
    ssize_t n = pread(STDERR_FILENO, text, SAID_BYTES, job.said);

    return n > 0 ? (int)n : 0;
}

/* In a rank other than 0, whose caller ends: the process does, when rank 0 has heard it. */
static _Noreturn void tell_failure(int code)
{
    struct failure failure = {.code = code};
    int n = read_said(failure.text);

    MPI_Send(&failure, (int)offsetof(struct failure, text) + n, MPI_BYTE, 0, TAG_FAILED,
             MPI_COMM_WORLD);
    while (!job.ended) {
        uint64_t blocks[BATCH_MOST];
        MPI_Status status;

        MPI_Recv(blocks, BATCH_MOST, MPI_UINT64_T, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        job.ended = status.MPI_TAG == TAG_END;
    }
    MPI_Finalize();
    _exit(0);
}

/* This process ends at once. On rank 0 this may be any thread. */
static int leave(int code)
{
    if (job.me != 0)
        tell_failure(code);
    wait_until_read();
    return job.code ? job.code : code;
}

static _Noreturn void give_up(const char *why)
{
    fprintf(stderr, "kernbench-mpi: %s\n", why);
    leave(5);
    MPI_Abort(MPI_COMM_WORLD, 5);
    abort();
}

/* -- rank 0 --------------------------------------------------------------------------------- */

static void hand_out(const uint64_t *blocks, int n, int to)
{
    job.messages++;
    job.bytes += (uint64_t)n * sizeof *blocks;
    MPI_Send(blocks, n, MPI_UINT64_T, to, TAG_BLOCKS, MPI_COMM_WORLD);
}

static int batch_size(const struct parallel *b)
{
    uint64_t left = b->n - job.handed, n = left / (uint64_t)job.n / SHARE_PARTS;
    uint64_t room = b->window / (uint64_t)job.n / BATCHES_AHEAD;

    n = n < room ? n : room;
    return n < 1 ? 1 : n > BATCH_MOST ? BATCH_MOST : (int)n;
}

/* A batch for every rank that has less than it may have. */
static void hand_out_all(const struct parallel *b, struct parallel_run *r)
{
    uint64_t blocks[BATCH_MOST];

    for (unsigned ahead = 0; ahead < BATCHES_AHEAD; ahead++)
        for (int to = 1; to < job.n; to++) {
            int n = 0, most = batch_size(b);

            if (job.rank[to].batches > ahead)
                continue;
            while (n < most && parallel_take(r, &blocks[n]))
                n++;
            if (n == 0)
                return;
            job.handed += (uint64_t)n;
            job.rank[to].batches++;
            hand_out(blocks, n, to);
        }
}

/* The results of one batch, if one has come; false: none. */
static bool receive(struct packed *results)
{
    MPI_Status status;
    int here, n;

    MPI_Iprobe(MPI_ANY_SOURCE, TAG_RESULTS, MPI_COMM_WORLD, &here, &status);
    if (!here)
        return false;
    MPI_Get_count(&status, MPI_BYTE, &n);
    results->bytes = malloc((size_t)n + 1);
    if (!results->bytes)
        give_up("out of memory");
    results->n = (size_t)n;
    MPI_Recv(results->bytes, n, MPI_BYTE, status.MPI_SOURCE, TAG_RESULTS, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    job.rank[status.MPI_SOURCE].batches--;
    job.messages++;
    job.bytes += (uint64_t)n;
    return true;
}

/* Has a rank failed? The first one's cause is said, and ends the run. */
static void hear_failures(void)
{
    struct failure failure;
    MPI_Status status;
    int here, n;

    for (;;) {
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_FAILED, MPI_COMM_WORLD, &here, &status);
        if (!here)
            return;
        MPI_Recv(&failure, sizeof failure, MPI_BYTE, status.MPI_SOURCE, TAG_FAILED, MPI_COMM_WORLD,
                 &status);
        MPI_Get_count(&status, MPI_BYTE, &n);
        job.rank[status.MPI_SOURCE].batches = 0;
        if (job.code)
            continue;
        job.code = failure.code;
        fwrite(failure.text, 1, (size_t)n - offsetof(struct failure, text), stderr);
        stop_ask();
    }
}

static void poll_ranks(const struct parallel *b, struct parallel_run *r)
{
    struct packed results = {0};

    hear_failures();
    while (receive(&results)) {
        while (results.at < results.n) {
            uint64_t i, n;

            PACKED_TAKE(&results, i);
            PACKED_TAKE(&results, n);
            struct packed one = {.bytes = results.bytes + results.at, .n = n};
            b->unpack(b->arg, i, &one);
            if (one.lost)
                give_up("a result cannot be taken: out of memory");
            results.at += n;
            parallel_put(r, i);
        }
        packed_free(&results);
    }
    hand_out_all(b, r);
}

static void begin_run(const struct parallel *b)
{
    (void)b;
    job.handed = 0;
}

/* Ends the run in the other ranks, after what they have in hand, which is not needed any more. */
static void end_run(const struct parallel *b)
{
    struct packed results = {0};
    int waited_ms = 0;

    for (int to = 1; to < job.n; to++)
        hand_out(NULL, 0, to);
    for (int to = 1; to < job.n && !job.left;)
        if (job.rank[to].batches == 0) {
            to++;
        } else if (receive(&results)) {
            packed_free(&results);
        } else {
            usleep(1000);
            hear_failures();
            job.left = b->stop && b->stop() && waited_ms++ > LEAVE_MS;
        }
}

/* -- the other ranks ------------------------------------------------------------------------ */

static void do_block(const struct parallel *b, uint64_t i, struct packed *results)
{
    struct packed one = {0};
    uint64_t n;

    job.said = lseek(STDERR_FILENO, 0, SEEK_CUR);
    b->work(b->arg, 0, i);
    b->pack(b->arg, i, &one);
    n = one.n;
    PACKED_PUT(results, i);
    PACKED_PUT(results, n);
    packed_put(results, one.bytes, one.n);
    if (one.lost || results->lost || results->n > INT32_MAX)
        give_up("a result cannot be sent: out of memory");
    packed_free(&one);
}

static enum parallel_end serve(const struct parallel *b)
{
    uint64_t blocks[BATCH_MOST];
    MPI_Status status;
    int n;

    for (;;) {
        struct packed results = {0};

        MPI_Recv(blocks, BATCH_MOST, MPI_UINT64_T, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_UINT64_T, &n);
        job.ended = status.MPI_TAG == TAG_END;
        if (n == 0)
            return PARALLEL_ENDED;
        for (int k = 0; k < n; k++)
            do_block(b, blocks[k], &results);
        MPI_Send(results.bytes, (int)results.n, MPI_BYTE, 0, TAG_RESULTS, MPI_COMM_WORLD);
        packed_free(&results);
    }
}

/* -- the job -------------------------------------------------------------------------------- */

void ranks_begin(int *argc, char ***argv)
{
    static struct parallel_ranks ranks;
    int level;

    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &job.me);
    MPI_Comm_size(MPI_COMM_WORLD, &job.n);
    job.rank = calloc((size_t)job.n, sizeof *job.rank);
    if (!job.rank)
        give_up("out of memory");
    ranks = (struct parallel_ranks){(unsigned)job.n, begin_run, poll_ranks,
                                    end_run,         leave,     job.me == 0 ? NULL : serve};
    parallel_ranks = &ranks;
    if (job.me != 0) {
        dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
        dup2(memfd_create("said", MFD_CLOEXEC), STDERR_FILENO);
    }
}

/* In ranks other than 0. */
static void wait_for_end(void)
{
    uint64_t blocks[BATCH_MOST];
    MPI_Status status;
    int n;

    while (!job.ended) {
        MPI_Recv(blocks, BATCH_MOST, MPI_UINT64_T, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_UINT64_T, &n);
        job.ended = status.MPI_TAG == TAG_END;
        if (n > 0)
            give_up("a rank has failed where rank 0 has not");
    }
}

int ranks_end(int code)
{
    if (job.me == 0 && getenv("KB_MPI_COUNTS"))
        fprintf(stderr, "kernbench-mpi: %d ranks, %llu messages, %llu bytes\n", job.n,
                (unsigned long long)job.messages, (unsigned long long)job.bytes);
    fflush(NULL);
    if (job.left)
        MPI_Abort(MPI_COMM_WORLD, leave(code));
    for (int to = 1; to < job.n && job.me == 0; to++)
        MPI_Send(NULL, 0, MPI_UINT64_T, to, TAG_END, MPI_COMM_WORLD);
    if (job.me != 0)
        wait_for_end();
    MPI_Finalize();
    return job.me != 0 ? 0 : job.code ? job.code : code;
}
