/* mem.c -- the MemoryStore: versions of bytes, and for each memory a map from ranges to them.
 *
 * While kernels run, most bytes are not known: results are computed in Phase 2, after the run. And
 * a load must keep the bytes that it saw, whatever is stored there later. So the store copies no
 * bytes. It keeps *versions*, which never change, and for each memory (*area*) a map from ranges of
 * addresses to parts of versions (*views*). A store changes the map; a load takes a reference. This
 * is register renaming, for bytes: only true dependencies are left.
 *
 * A version is known bytes, or the pending result of an operation, or *pieces*: parts of other
 * versions that a load found side by side. Known bytes need not exist yet: those of a *fill* are a
 * function of a seed, and are made when something first asks for them by version_bytes(). A run
 * without Phase 2, whose kernels look at no data, makes none: `run gemm M=2048 N=2048 K=2048
 * dtype=f32` would spend more than half of its time on 32 MiB of inputs that it never reads.
 *
 * Example. Op 3 makes a result A of 256 bytes, op 7 a result B of 256 bytes.
 *   store A at 0       [0, 256) -> A from 0
 *   store B at 128     [0, 128) -> A from 0,  [128, 384) -> B from 0
 *   load 64 at 32      a view: A from 32. No new version; the load depends on op 3.
 *   load 256 at 64     pieces: 64 bytes of A from 64, then 192 of B from 0. It depends on 3 and 7.
 *   store C at 0, 384  [0, 384) -> C. Both loads keep what they saw: A and B live on in them.
 *
 * Invariants:
 *   - Pieces are flat: no piece is itself a part of a version of pieces (gather_flat()). So a
 *     version is ready if all its pieces are, and no join of graph.c waits for another join.
 *   - Of equal pieces there is one version, unless they are few (shared.c).
 *   - Parts that continue each other are one part (gather_add()): a matrix that was stored in rows
 *     and is loaded as a whole becomes one view again.
 *   - Reference counts are not atomic: Phase 2 changes them under its lock.
 *   - Phase 2 finds no fill that is not made: they are made at once, or before it begins (host.c).
 *
 * The map is an area (mem_area.c): sorted ranges, found by binary search.
 *
 * A load that reads what its PE has read before need not look at all (mem_read_again()): the reader
 * keeps the view, and the memory counts its changes. One that was made of pieces is not kept, for
 * it may be gathered better once they are ready.
 *
 * Where only times are asked nothing need be kept (mem_forget()): all reads find one version. A
 * tile of 512 x 32 elements is 512 pieces; to gather these took half of the time of a prefill.
 *
 * Small pieces of known bytes are copied into a new version (version_of_flat()): a piece takes 32
 * bytes, so for elements of 4 bytes the pieces would take eight times their bytes. Of a fill that
 * is not made only the smallest are, since that makes all of it.
 */
#include "data/mem.h"
#include "machine/tile.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "data/mem_parts.h"

/* -- memories ------------------------------------------------------------------------------- */

struct memory {
    struct area *area; /* owned; NULL: nothing written */
    uint64_t changes;  /* how often it was written or cleared */
};

struct mem {
    uint32_t n_areas, first_space;
    struct memory *areas; /* owned */
    char **names;         /* owned, also each name; of areas from first_space on */
    struct shared *shared;
    struct version *blank; /* owned; not NULL: what every read finds, and writes leave nothing */
};

struct mem *mem_new(uint32_t n_areas)
{
    struct mem *m = calloc(1, sizeof *m);

    if (!m)
        return NULL;
    m->n_areas = m->first_space = n_areas;
    m->areas = calloc(n_areas ? n_areas : 1, sizeof *m->areas);
    m->shared = shared_new();
    if (m->areas && m->shared)
        return m;
    shared_release(m->shared);
    free(m->areas);
    free(m);
    return NULL;
}

void mem_free(struct mem *m)
{
    if (!m)
        return;
    for (uint32_t i = 0; i < m->n_areas; i++)
        mem_area_free(m->areas[i].area);
    for (uint32_t i = m->first_space; i < m->n_areas; i++)
        free(m->names[i - m->first_space]);
    free(m->names);
    free(m->areas);
    shared_release(m->shared);
    version_drop(m->blank);
    free(m);
}

bool mem_forget(struct mem *m)
{
    if (!m->blank)
        m->blank = version_new_result(INT64_MAX, OP_NONE);
    return m->blank;
}

static enum mem_err read_blank(struct mem *m, struct view *out)
{
    *out = (struct view){version_keep(m->blank), 0};
    return MEM_OK;
}

void mem_clear(struct mem *m, uint32_t area)
{
    mem_area_free(m->areas[area].area);
    m->areas[area].area = NULL;
    m->areas[area].changes++;
}

/* Room for the area and the name of one more space. */
static bool spaces_grow(struct mem *m)
{
    size_t spaces = m->n_areas - m->first_space;
    struct memory *areas = realloc(m->areas, (m->n_areas + (size_t)1) * sizeof *areas);
    char **names;

    if (!areas)
        return false;
    m->areas = areas;
    names = realloc(m->names, (spaces + 1) * sizeof *names);
    if (names)
        m->names = names;
    return names;
}

uint32_t mem_space(struct mem *m, const char *name)
{
    uint32_t i = m->first_space;
    size_t nbytes = strlen(name) + 1;
    char *copy;

    while (i < m->n_areas && strcmp(m->names[i - m->first_space], name) != 0)
        i++;
    if (i < m->n_areas)
        return i;
    copy = spaces_grow(m) ? malloc(nbytes) : NULL;
    if (!copy)
        return UINT32_MAX;
    m->names[i - m->first_space] = memcpy(copy, name, nbytes);
    m->areas[i] = (struct memory){0};
    m->n_areas++;
    return i;
}

/* The area, made if there is none; NULL without memory. */
static struct area *area_to_write(struct mem *m, uint32_t area)
{
    assert(area < m->n_areas);
    if (!m->areas[area].area)
        m->areas[area].area = mem_area_new();
    return m->areas[area].area;
}

enum mem_err mem_reserve(struct mem *m, uint32_t area, uint64_t address)
{
    struct area *a = area_to_write(m, area);
    struct place p;

    if (!a)
        return MEM_NO_MEMORY;
    p = find(a, address);
    return mem_area_make_room(a, &p) ? MEM_OK : MEM_NO_MEMORY;
}

enum mem_err mem_write(struct mem *m, uint32_t area, uint64_t address, uint64_t nbytes,
                       struct view from, uint32_t writer)
{
    if (m->blank)
        return MEM_OK;
    struct range r = {address, address + nbytes, from, writer};
    struct area *a = area_to_write(m, area);

    assert(nbytes && nbytes <= UINT64_MAX - address);
    assert(from.offset <= from.v->nbytes && nbytes <= from.v->nbytes - from.offset);
    m->areas[area].changes++;
    return a && mem_area_write(a, &r) ? MEM_OK : MEM_NO_MEMORY;
}

/* Reads [begin, end) if one range holds all of it. */
static bool read_one(struct area *a, uint64_t begin, uint64_t end, struct view *out,
                     uint32_t *writer)
{
    const struct range *r = range_at(a, find_near(a, begin));

    if (!r || r->begin > begin || r->end < end)
        return false;
    *out = (struct view){version_keep(r->part.v), r->part.offset + (begin - r->begin)};
    *writer = r->writer;
    return true;
}

/*
 * Strided elements as contiguous runs of bytes, in order. The innermost axes without gaps are one
 * run: a block of 16 rows and 32 columns of f16 in a larger matrix is 16 runs of 64 bytes.
 */
struct runs {
    uint64_t address, nbytes; /* of the run */
    uint32_t rank;
    const struct strided *s;
    int64_t at[KB_RANK_MAX];
};

static void runs_init(struct runs *w, uint64_t address, const struct strided *s)
{
    *w = (struct runs){.address = address, .nbytes = s->elem_bytes, .rank = s->rank, .s = s};
    while (w->rank && (s->dim[w->rank - 1] == 1 || s->stride[w->rank - 1] == (int64_t)w->nbytes))
        w->nbytes *= (uint64_t)s->dim[--w->rank];
}

/* False: there are no more. */
static bool runs_next(struct runs *w)
{
    for (uint32_t i = w->rank; i-- > 0;) {
        w->address += (uint64_t)w->s->stride[i];
        if (++w->at[i] < w->s->dim[i])
            return true;
        w->address -= (uint64_t)w->s->stride[i] * (uint64_t)w->s->dim[i];
        w->at[i] = 0;
    }
    return false;
}

/* Runs are read one after the other: mostly the next lies in the range in which the last ended. */
struct reading {
    struct area *a;        /* NULL: nothing written */
    const struct range *r; /* its writer is known; NULL: none yet */
    struct gather *g;
    struct op_ids *writers; /* NULL: nothing asks for them */
};

/* Gathers [begin, end). */
static inline enum mem_err read_run(struct reading *x, uint64_t begin, uint64_t end,
                                    uint64_t absent[2])
{
    const struct range *r = x->r;
    enum mem_err err;

    if (r && r->begin <= begin && begin < end && end <= r->end)
        return mem_gather_add(x->g, (struct view){r->part.v, r->part.offset + (begin - r->begin)},
                              end - begin)
                   ? MEM_OK
                   : MEM_NO_MEMORY;
    absent[0] = begin;
    absent[1] = end;
    if (!x->a || end < begin)
        return MEM_ABSENT;
    err = mem_area_gather(x->a, begin, end, x->g, x->writers, absent);
    x->r = range_at(x->a, x->a->hint);
    return err;
}

/* Gathers all runs, or those before the first that fails. */
static enum mem_err gather_runs(struct area *a, struct runs *w, struct gather *g,
                                struct op_ids *writers, uint64_t absent[2])
{
    struct reading x = {.a = a, .g = g, .writers = writers};
    enum mem_err err;

    do
        err = read_run(&x, w->address, w->address + w->nbytes, absent);
    while (err == MEM_OK && runs_next(w));
    return err;
}

enum mem_err mem_read_strided(struct mem *m, uint32_t area, uint64_t address,
                              const struct strided *s, struct view *out, struct op_ids *writers,
                              uint64_t absent[2])
{
    struct gather g;
    struct runs w;
    uint64_t missing[2];
    enum mem_err err;

    assert(area < m->n_areas);
    if (m->blank)
        return read_blank(m, out);
    mem_gather_init(&g);
    runs_init(&w, address, s);
    err = gather_runs(m->areas[area].area, &w, &g, writers, missing);
    if (err == MEM_OK)
        err = mem_gather_finish(&g, m->shared, out);
    mem_gather_free(&g);
    if (err == MEM_ABSENT && absent)
        memcpy(absent, missing, sizeof missing);
    return err;
}

enum mem_err mem_view_strided(struct mem *m, struct view of, const struct strided *s,
                              struct view *out)
{
    struct gather g;
    struct runs w;
    bool ok;

    if (m->blank)
        return read_blank(m, out);
    mem_gather_init(&g);
    runs_init(&w, of.offset, s);
    do
        ok = mem_gather_add(&g, (struct view){of.v, w.address}, w.nbytes);
    while (ok && runs_next(&w));
    if (ok)
        ok = mem_gather_finish(&g, m->shared, out) == MEM_OK;
    mem_gather_free(&g);
    return ok ? MEM_OK : MEM_NO_MEMORY;
}

enum mem_err mem_read_list(struct mem *m, const struct run *runs, uint32_t n, struct view *out,
                           struct op_ids *writers, uint32_t *area, uint64_t absent[2])
{
    enum mem_err err = MEM_OK;
    struct reading x;
    struct gather g;

    if (m->blank)
        return read_blank(m, out);
    mem_gather_init(&g);
    mem_gather_expect(&g, n);
    for (uint32_t i = 0; i < n && err == MEM_OK; i++) {
        if (i == 0 || runs[i].area != *area) {
            *area = runs[i].area;
            x = (struct reading){.a = m->areas[*area].area, .g = &g, .writers = writers};
        }
        err = read_run(&x, runs[i].at, runs[i].at + runs[i].nbytes, absent);
    }
    if (err == MEM_OK)
        err = mem_gather_finish(&g, m->shared, out);
    mem_gather_free(&g);
    return err;
}

enum mem_err mem_write_list(struct mem *m, const struct run *runs, uint32_t n, struct view from,
                            uint32_t writer)
{
    enum mem_err err = MEM_OK;

    for (uint32_t i = 0; i < n && err == MEM_OK && !m->blank; i++) {
        err = mem_write(m, runs[i].area, runs[i].at, runs[i].nbytes, from, writer);
        from.offset += runs[i].nbytes;
    }
    return err;
}

/* Reads what lies in several ranges, or is absent; not inline, so that mem_read() stays short. */
static __attribute__((noinline)) enum mem_err read_many(struct mem *m, uint32_t area,
                                                        uint64_t address, uint64_t nbytes,
                                                        struct view *out, struct op_ids *writers,
                                                        uint64_t absent[2])
{
    struct strided whole = {.rank = 1, .elem_bytes = 1, .dim = {(int64_t)nbytes}, .stride = {1}};

    return mem_read_strided(m, area, address, &whole, out, writers, absent);
}

static void drop_view(struct view *view)
{
    version_drop(view->v);
    view->v = NULL; /* the caller may drop it, too */
}

enum mem_err mem_read(struct mem *m, uint32_t area, uint64_t address, uint64_t nbytes,
                      struct view *out, struct op_ids *writers, uint64_t absent[2])
{
    struct area *a;
    uint32_t writer;

    if (m->blank)
        return read_blank(m, out);
    assert(area < m->n_areas && nbytes && nbytes <= INT64_MAX);
    a = m->areas[area].area;
    if (!a || !read_one(a, address, address + nbytes, out, &writer))
        return read_many(m, area, address, nbytes, out, writers, absent);
    if (mem_hides_ready(out->v, nbytes)) {
        drop_view(out);
        return read_many(m, area, address, nbytes, out, writers, absent);
    }
    if (!writers || op_ids_add(writers, writer))
        return MEM_OK;
    drop_view(out);
    return MEM_NO_MEMORY;
}

/* Looks where one range holds all of it, which is not of pieces: those may be gathered better
 * later.
 */
static bool look_again(const struct memory *memory, uint64_t address, uint64_t nbytes,
                       struct mem_again *again)
{
    struct area *a = memory->area;
    const struct range *r = a ? range_at(a, find_near(a, address)) : NULL;

    if (!r || r->begin > address || r->end < address + nbytes || r->part.v->kind == VERSION_PIECES)
        return false;
    again->address = address;
    again->nbytes = nbytes;
    again->changes = memory->changes;
    again->view = (struct view){r->part.v, r->part.offset + (address - r->begin)};
    again->writer = r->writer;
    return true;
}

enum mem_err mem_read_again(struct mem *m, uint32_t area, uint64_t address, uint64_t nbytes,
                            struct mem_again *again, struct view *out, struct op_ids *writers,
                            uint64_t absent[2])
{
    if (m->blank)
        return read_blank(m, out);
    const struct memory *memory = &m->areas[area];
    bool same = again->address == address && again->nbytes == nbytes && again->area == area &&
                again->changes == memory->changes;

    if (!same && !look_again(memory, address, nbytes, again))
        return mem_read(m, area, address, nbytes, out, writers, absent);
    again->area = area;
    *out = (struct view){version_keep(again->view.v), again->view.offset};
    if (!writers || op_ids_add(writers, again->writer))
        return MEM_OK;
    drop_view(out);
    return MEM_NO_MEMORY;
}

enum mem_err mem_write_strided(struct mem *m, uint32_t area, uint64_t address,
                               const struct strided *s, struct view from, uint32_t writer)
{
    enum mem_err err;
    struct runs w;

    if (m->blank)
        return MEM_OK;
    runs_init(&w, address, s);
    do {
        err = mem_write(m, area, w.address, w.nbytes, from, writer);
        from.offset += w.nbytes;
    } while (err == MEM_OK && runs_next(&w));
    return err;
}
