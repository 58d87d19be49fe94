/* oplog.c -- the op log: records in chunks, the oldest of them in a file.
 *
 * The log has one record for each command, and one for each stage of a tile, in the order in which
 * their services end. A run may make a hundred million records, so an append has to be cheap, and
 * memory must not grow with the run unless the user wants it to.
 *
 * A chunk is a piece of memory, of 2 MiB if there is no limit. Records of 64 bytes, a cache line,
 * grow from its front; what does not fit into a record (shapes, dependencies, regions, operands),
 * its parameters, grow from its end. The chunk is full when they meet:
 *
 *     | record 0 | record 1 | ...            free            ... | params 1 | params 0 |
 *
 * For example, a DMA read of a 32x64 matrix takes 80 bytes: its record, and 16 bytes of parameters
 * for two extents, the maker of the bytes and one dependency. About 26,000 of them fill a chunk.
 *
 * With a limit L a chunk is a quarter of it, rounded down to pages, at least one and at most 2 MiB.
 * Before a new chunk would exceed the limit, the oldest is written to an unlinked temporary file,
 * which is mapped. Readers need not know where a chunk lies: chunk_bytes() gives its bytes.
 * Offsets inside a chunk, not pointers, connect records and parameters.
 *
 * If the log is kept for Phase 2, the parameters of a GEMM or MATH also hold references to the
 * versions of its operands and its result. They are pointers, and remain valid in the file, which
 * is only read by this process. op_log_computes() finds the operations once and sorts them by id:
 * records are in the order of their ends, but an operation may depend only on lower ids.
 * op_log_computed() gives the references back, so that memory falls while Phase 2 advances.
 *
 * Invariants: a record, once written, does not change; only the last chunk takes records; chunks
 * [0, n_spilled) are in the file. After a failure the log takes no more records (`status`).
 *
 * Measured on an EPYC: 13 ns for a record in memory, 15 ns if it is spilled. Huge pages
 * halve the time of an append: the page faults of small pages cost more than the records.
 */
#include "record/record.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "machine/endpoint.h"

enum {
    PAGE = 4096,
    HUGE_PAGE = 2 << 20,
    CHUNK_FIRST = 64 << 10, /* most simulations are small */
    CHUNKS_PER_LIMIT = 4,
    WORD = 8, /* parameters begin at multiples of it */
};

#define MAP_FIRST (UINT64_C(64) << 20)

static uint64_t round_up(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

/* Several chunks within the limit, so that there is always one to be written. */
static uint32_t chunk_bytes_for(uint64_t limit)
{
    uint64_t bytes = limit / CHUNKS_PER_LIMIT / PAGE * PAGE;

    if (limit == 0 || bytes > HUGE_PAGE)
        return HUGE_PAGE;
    return bytes < PAGE ? PAGE : (uint32_t)bytes;
}

struct op_log *op_log_new(const struct kb_topology *topo, uint64_t limit_bytes, bool keep)
{
    struct op_log *log = calloc(1, sizeof *log);

    if (!log)
        return NULL;
    log->topo = topo;
    log->limit_bytes = limit_bytes;
    log->chunk_bytes = chunk_bytes_for(limit_bytes);
    log->keep = keep;
    log->fd = -1;
    return log;
}

/* From now on the log takes no more records. Returns false. */
static bool fail(struct op_log *log, kb_status status, const char *what)
{
    log->status = status;
    endpoint_error(&log->why, "op log: %s", what);
    return false;
}

static bool fail_file(struct op_log *log, const char *what)
{
    log->status = KB_FILE_ERROR;
    endpoint_error(&log->why, "op log: cannot %s a temporary file: %s", what, strerror(errno));
    return false;
}

kb_status op_log_error(const struct op_log *log, kb_error *why)
{
    if (log->status != KB_OK && why)
        *why = log->why;
    return log->status;
}

uint64_t op_log_count(const struct op_log *log)
{
    return log->n_records;
}

uint64_t op_log_bytes(const struct op_log *log)
{
    return log->n_records * sizeof(struct record) + log->params_bytes;
}

/* -- the file ------------------------------------------------------------------------------- */

/* A file without a name; -1: errno tells why. */
static int open_unnamed(const char *folder)
{
    static const char name[] = "/kernbench-oplog-XXXXXX";
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    size_t n = strlen(folder);
    char *path;

    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return fd;
    path = malloc(n + sizeof name);
    if (!path)
        return -1;
    memcpy(path, folder, n);
    memcpy(path + n, name, sizeof name);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    free(path);
    return fd;
}

static bool file_open(struct op_log *log)
{
    const char *folder = getenv("TMPDIR");

    if (log->fd < 0)
        log->fd = open_unnamed(folder && *folder ? folder : "/tmp");
    return log->fd >= 0 || fail_file(log, "make");
}

static bool file_write(struct op_log *log, const unsigned char *bytes, size_t n, uint64_t at)
{
    while (n > 0) {
        ssize_t wrote = pwrite(log->fd, bytes, n, (off_t)at);

        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return fail_file(log, "write");
        bytes += wrote;
        at += (uint64_t)wrote;
        n -= (size_t)wrote;
    }
    return true;
}

/*
 * Maps the whole file, and room for it to grow, so that it is rarely mapped again: 64 MiB at first,
 * then twice as much each time. Only pages of the file may be touched.
 */
static bool file_map(struct op_log *log, uint64_t bytes)
{
    uint64_t room = log->map_bytes ? log->map_bytes : MAP_FIRST;
    void *map;

    if (bytes <= log->map_bytes)
        return true;
    while (room < bytes)
        room *= 2;
    map = mmap(NULL, room, PROT_READ, MAP_SHARED | MAP_NORESERVE, log->fd, 0);
    if (map == MAP_FAILED)
        return fail_file(log, "map");
    if (log->map)
        munmap(log->map, log->map_bytes);
    log->map = map;
    log->map_bytes = room;
    return true;
}

/* Writes the oldest chunk in memory to the file, in which its unused middle is a hole. */
static bool spill(struct op_log *log)
{
    struct chunk *c = &log->chunks[log->n_spilled];
    uint64_t at = log->file_bytes;

    if (!file_open(log) || !file_map(log, at + c->bytes) ||
        !file_write(log, c->memory, c->n * sizeof(struct record), at) ||
        !file_write(log, c->memory + c->params, c->bytes - c->params, at + c->params))
        return false;
    c->at = at;
    log->file_bytes = at + c->bytes;
    log->memory_bytes -= c->bytes;
    log->n_spilled++;
    return true;
}

/* -- chunks --------------------------------------------------------------------------------- */

static unsigned char *chunk_alloc(uint32_t bytes)
{
    bool huge = bytes % HUGE_PAGE == 0;
    unsigned char *memory = huge ? aligned_alloc(HUGE_PAGE, bytes) : aligned_alloc(PAGE, bytes);

    if (memory && huge)
        madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

/* Spills chunks until `bytes` more stay within the limit. *memory becomes that of a spilled chunk
 * of the same size, if there is one. */
static bool make_room(struct op_log *log, uint32_t bytes, unsigned char **memory)
{
    while (log->limit_bytes > 0 && log->n_spilled < log->n_chunks &&
           log->memory_bytes + bytes > log->limit_bytes) {
        struct chunk *c = &log->chunks[log->n_spilled];

        if (!spill(log))
            return false;
        if (c->bytes == bytes && !*memory)
            *memory = c->memory;
        else
            free(c->memory);
        c->memory = NULL;
    }
    return true;
}

static bool chunks_grow(struct op_log *log)
{
    uint32_t cap = log->chunks_cap ? 2 * log->chunks_cap : 16;
    struct chunk *moved;

    if (log->n_chunks < log->chunks_cap)
        return true;
    moved = realloc(log->chunks, cap * sizeof *moved);
    if (!moved)
        return fail(log, KB_NO_MEMORY, "out of memory");
    log->chunks = moved;
    log->chunks_cap = cap;
    return true;
}

/* Begins a chunk in which a record with so many bytes of parameters fits. */
static bool next_chunk(struct op_log *log, uint64_t params_bytes)
{
    bool small = log->n_chunks == 0 && log->chunk_bytes > CHUNK_FIRST;
    uint64_t bytes = small ? CHUNK_FIRST : log->chunk_bytes;
    uint64_t needed = round_up(sizeof(struct record) + params_bytes, PAGE);
    unsigned char *memory = NULL;

    if (needed > bytes)
        bytes = needed;
    if (bytes > UINT32_MAX)
        return fail(log, KB_NO_MEMORY, "an operation has too many dependencies");
    if (!chunks_grow(log) || !make_room(log, (uint32_t)bytes, &memory)) {
        free(memory);
        return false;
    }
    if (!memory)
        memory = chunk_alloc((uint32_t)bytes);
    if (!memory)
        return fail(log, KB_NO_MEMORY, "out of memory");
    log->chunks[log->n_chunks++] = (struct chunk){.memory = memory,
                                                  .bytes = (uint32_t)bytes,
                                                  .params = (uint32_t)bytes,
                                                  .first_fs = INT64_MAX};
    log->memory_bytes += bytes;
    return true;
}

static inline bool fits(const struct op_log *log, uint64_t params_bytes)
{
    const struct chunk *c;

    if (log->n_chunks == 0)
        return false;
    c = &log->chunks[log->n_chunks - 1];
    return c->params - c->n * sizeof(struct record) >= sizeof(struct record) + params_bytes;
}

/* A zeroed record, and room for so many bytes of parameters. NULL: see `status`. */
static inline struct record *reserve(struct op_log *log, uint64_t bytes, unsigned char **params)
{
    uint64_t words = round_up(bytes, WORD);
    struct chunk *c;
    struct record *r;

    if (log->status != KB_OK || (!fits(log, words) && !next_chunk(log, words)))
        return NULL;
    c = &log->chunks[log->n_chunks - 1];
    c->params -= (uint32_t)words;
    *params = c->memory + c->params;
    if (words > bytes)
        memset(*params + words - WORD, 0, WORD); /* the bytes that rounding adds */
    r = (struct record *)(void *)c->memory + c->n++;
    memset(r, 0, sizeof *r);
    r->params = c->params;
    log->n_records++;
    log->params_bytes += words;
    return r;
}

static inline void set_times(struct op_log *log, struct record *r, int64_t start_fs, int64_t end_fs)
{
    struct chunk *c = &log->chunks[log->n_chunks - 1];

    r->start_fs = start_fs;
    r->end_fs = end_fs;
    if (start_fs < c->first_fs)
        c->first_fs = start_fs;
}

static void keep_view(const struct op_tensor *t)
{
    if (!t->is_scalar && t->view.v)
        version_keep(t->view.v);
}

bool op_log_add(struct op_log *log, const struct op *op, int64_t start_fs, int64_t end_fs)
{
    unsigned char *params;
    struct record *r = reserve(log, op_packed_bytes(op, log->keep), &params);

    if (!r)
        return false;
    set_times(log, r, start_fs, end_fs);
    op_pack(op, log->keep, r, params);
    if (r->flags & REC_KEEPS)
        op_each_tensor(op, keep_view);
    return true;
}

bool op_log_add_token(struct op_log *log, const struct op_token *token, int64_t start_fs,
                      int64_t end_fs)
{
    unsigned char *params;
    struct record *r = reserve(log, op_token_packed_bytes(token), &params);

    if (!r)
        return false;
    set_times(log, r, start_fs, end_fs);
    op_token_pack(token, r, params);
    return true;
}

/* -- finding -------------------------------------------------------------------------------- */

const struct record *op_log_find(const struct op_log *log, uint32_t id, const unsigned char **chunk)
{
    const struct record *found = NULL;

    for (uint32_t c = 0; c < log->n_chunks; c++) {
        const struct record *r = chunk_records(log, &log->chunks[c]);

        for (uint32_t i = 0; i < log->chunks[c].n; i++, r++) {
            bool last = id == UINT32_MAX && !record_is_token(r) && (!found || r->id > found->id);

            if (r->id != id && !last)
                continue;
            found = r;
            *chunk = chunk_bytes(log, &log->chunks[c]);
        }
    }
    return found;
}

/* -- notes ---------------------------------------------------------------------------------- */

bool op_log_note(struct op_log *log, const struct op *op, const char *kernel, const char *file,
                 int line)
{
    uint64_t cap = log->notes_cap ? 2 * log->notes_cap : 256;
    const struct op_tensor *moved = op->kind == OP_DMA_READ    ? &op->out
                                    : op->kind == OP_DMA_WRITE ? &op->in[0]
                                                               : NULL;
    struct op_note *more;

    if (log->n_notes == log->notes_cap) {
        more = realloc(log->notes, cap * sizeof *more);
        if (!more)
            return fail(log, KB_NO_MEMORY, "out of memory");
        log->notes = more;
        log->notes_cap = cap;
    }
    log->notes[log->n_notes] = (struct op_note){
        .id = op->id, .line = line, .file = file, .kernel = kernel, .message = OP_NONE};
    if (moved && moved->view.v) {
        log->notes[log->n_notes].moved = moved->view;
        version_keep(moved->view.v);
    }
    log->n_notes++;
    log->notes_sorted = false;
    return true;
}

bool op_log_note_recv(struct op_log *log, const struct op *op, uint32_t message)
{
    if (!op_log_note(log, op, NULL, NULL, 0))
        return false;
    log->notes[log->n_notes - 1].message = message;
    return true;
}

static int by_note_id(const void *a, const void *b)
{
    uint32_t x = ((const struct op_note *)a)->id, y = ((const struct op_note *)b)->id;

    return x < y ? -1 : x > y;
}

const struct op_note *op_log_note_of(struct op_log *log, uint32_t id)
{
    const struct op_note key = {.id = id};

    if (log->n_notes == 0)
        return NULL;
    if (!log->notes_sorted)
        qsort(log->notes, log->n_notes, sizeof *log->notes, by_note_id);
    log->notes_sorted = true;
    return bsearch(&key, log->notes, log->n_notes, sizeof key, by_note_id);
}

static void drop_notes(struct op_log *log)
{
    for (uint64_t i = 0; i < log->n_notes; i++)
        version_drop(log->notes[i].moved.v);
    free(log->notes);
}

void op_log_free(struct op_log *log)
{
    if (!log)
        return;
    if (log->keep)
        op_log_drop_computes(log);
    drop_notes(log);
    for (uint32_t i = log->n_spilled; i < log->n_chunks; i++)
        free(log->chunks[i].memory);
    if (log->map)
        munmap(log->map, log->map_bytes);
    if (log->fd >= 0)
        close(log->fd);
    free(log->computes);
    free(log->chunks);
    free(log);
}
