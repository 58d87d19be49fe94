/* oplog_order.c -- the records of the log in order of time.
 *
 * Records are appended when a service ends, but exported in the order of their starts. They are
 * nearly sorted: within a chunk of 26,000 records only neighbours in time are out of place. A log
 * may be much larger than memory, so it is not sorted as a whole: chunks are sorted and merged,
 * with few of them in memory at once.
 *
 * Why ends are no order of starts: a service that takes long is appended late. In `run gemm M=64
 * N=64 K=64` on cube8, op 408 reads from 47.421250 to 59.096250 ns; the FETCH that is op 449
 * begins later, at 55.736250, and ends before it, at 56.236250. So 449 is appended first and
 * exported second.
 *
 * Invariants: every record is given exactly once; the order is that of (start, end, id), for any
 * size of chunks and any limit on memory, so a run has the same records with and without
 * --oplog-limit; two records that are equal in all three stay as they were appended.
 *
 * Cost: a log of 100 million records has about 3850 chunks, so a record sinks at most 12 levels in
 * the heap, and none at all while its chunk still has the earliest one.
 */
#include "record/record.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* The next record of a chunk, as far as the order needs it. */
struct head {
    int64_t start_fs, end_fs;
    uint32_t id, chunk;
};

/*
 * Chunks are merged by a heap of their next records. A chunk is sorted only when the merge reaches
 * its earliest start, and forgotten after its last record. So only the few chunks whose times
 * overlap need memory, 4 bytes for each of their records.
 */
struct merge {
    struct op_log *log;
    struct head *heap; /* owned */
    uint32_t **order;  /* owned, [chunk]: its records in order; NULL: not sorted yet, or done */
    uint32_t *next;    /* owned, [chunk] */
    uint32_t n;
};

static bool head_before(const struct head *a, const struct head *b)
{
    if (a->start_fs != b->start_fs)
        return a->start_fs < b->start_fs;
    if (a->end_fs != b->end_fs)
        return a->end_fs < b->end_fs;
    return a->id != b->id ? a->id < b->id : a->chunk < b->chunk;
}

static int by_time(const void *a, const void *b, void *arg)
{
    const struct record *records = arg;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct record *x = &records[i], *y = &records[j];

    if (x->start_fs != y->start_fs)
        return x->start_fs < y->start_fs ? -1 : 1;
    if (x->end_fs != y->end_fs)
        return x->end_fs < y->end_fs ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return i < j ? -1 : i > j;
}

/* Restores the heap after its first entry has become a later one. */
static void sift(struct merge *m)
{
    struct head moved = m->heap[0];
    uint32_t i = 0;

    for (uint32_t child = 1; child < m->n; child = 2 * i + 1) {
        if (child + 1 < m->n && head_before(&m->heap[child + 1], &m->heap[child]))
            child++;
        if (!head_before(&m->heap[child], &moved))
            break;
        m->heap[i] = m->heap[child];
        i = child;
    }
    m->heap[i] = moved;
}

/* Puts a head for each chunk into the heap, which comes before all its records. */
static bool merge_begin(struct merge *m, struct op_log *log)
{
    uint32_t n = log->n_chunks ? log->n_chunks : 1;

    *m = (struct merge){.log = log};
    m->heap = malloc(n * sizeof *m->heap);
    m->order = calloc(n, sizeof *m->order);
    m->next = calloc(n, sizeof *m->next);
    if (!m->heap || !m->order || !m->next)
        return false;
    for (uint32_t i = 0; i < log->n_chunks; i++) {
        struct head new = {log->chunks[i].first_fs, INT64_MIN, 0, i};
        uint32_t at = m->n++;

        for (; at > 0 && head_before(&new, &m->heap[(at - 1) / 2]); at = (at - 1) / 2)
            m->heap[at] = m->heap[(at - 1) / 2];
        m->heap[at] = new;
    }
    return true;
}

static void merge_end(struct merge *m)
{
    for (uint32_t i = 0; m->order && i < m->log->n_chunks; i++)
        free(m->order[i]);
    free(m->order);
    free(m->next);
    free(m->heap);
}

static bool sort_chunk(struct merge *m, uint32_t chunk)
{
    const struct chunk *c = &m->log->chunks[chunk];
    uint32_t *order = malloc(c->n * sizeof *order);

    if (!order)
        return false;
    for (uint32_t i = 0; i < c->n; i++)
        order[i] = i;
    qsort_r(order, c->n, sizeof *order, by_time, (void *)(uintptr_t)chunk_records(m->log, c));
    m->order[chunk] = order;
    return true;
}

/* The pages of a chunk in the file need not stay in memory. */
static void forget_chunk(struct merge *m, uint32_t chunk)
{
    const struct chunk *c = &m->log->chunks[chunk];
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), from = (c->at + page - 1) / page * page;

    free(m->order[chunk]);
    m->order[chunk] = NULL;
    if (!c->memory && c->at + c->bytes > from)
        madvise(m->log->map + from, c->at + c->bytes - from, MADV_DONTNEED);
}

/*
 * Replaces the first of the heap by the next record of its chunk, if there is one. A chunk that
 * has not been sorted yet has a head with its earliest start and the least end: it comes before
 * all its records, so the chunk is sorted just before the first of them is needed.
 */
static void advance(struct merge *m)
{
    uint32_t chunk = m->heap[0].chunk;
    const struct chunk *c = &m->log->chunks[chunk];

    if (m->next[chunk] < c->n) {
        const struct record *r = &chunk_records(m->log, c)[m->order[chunk][m->next[chunk]]];

        m->heap[0] = (struct head){r->start_fs, r->end_fs, r->id, chunk};
    } else {
        forget_chunk(m, chunk);
        m->heap[0] = m->heap[--m->n];
    }
    sift(m);
}

/* Calls `each` for every record until it returns false. False: that, or no memory. */
static bool merge_run(struct merge *m, op_log_each *each, void *arg)
{
    while (m->n > 0) {
        uint32_t chunk = m->heap[0].chunk;
        const struct chunk *c = &m->log->chunks[chunk];

        if (m->order[chunk]) {
            uint32_t i = m->order[chunk][m->next[chunk]++];

            if (!each(arg, &chunk_records(m->log, c)[i], chunk_bytes(m->log, c)))
                return false;
        } else if (!sort_chunk(m, chunk)) {
            return false;
        }
        advance(m);
    }
    return true;
}

bool op_log_in_order(struct op_log *log, op_log_each *each, void *arg)
{
    struct merge m;
    bool ok = merge_begin(&m, log) && merge_run(&m, each, arg);

    merge_end(&m);
    return ok;
}
