/*
 * test_mem.c -- the MemoryStore against a model that keeps a version and a writer for each byte.
 *
 * link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=free
 */
#include "support/failing.h"
#include "support/rig.h"
#include "data/mem.h"

/* -- the model ------------------------------------------------------------------------------ */

enum { SIZE = 6000, VERSIONS = 256, SNAPSHOTS = 64 };

/* The content of one byte: a byte of a version that is not made of pieces. */
struct cell {
    struct version *v; /* NULL: never written */
    uint64_t offset;
    uint32_t writer;
};

/* A view that was read, and what was to be seen then. Both own their versions. */
struct snapshot {
    struct view view;
    uint64_t n;
    struct cell *cells;
};

struct model {
    struct mem *mem;
    uint32_t area;
    struct cell cells[SIZE];
    struct version *versions[VERSIONS]; /* some to write parts of; owned */
    struct snapshot kept[SNAPSHOTS];
    uint32_t next_writer;
    uint64_t dice;
    struct mem_again again; /* of a reader that reads the same bytes again and again */
    uint64_t again_address, again_bytes;
    uint64_t n_pieces, n_absent, n_views, n_copies; /* what reads came to */
};

static uint64_t below(struct model *m, uint64_t n)
{
    return draw(&m->dice) % n;
}

static void cell_set(struct cell *c, struct cell to)
{
    if (to.v)
        version_keep(to.v);
    version_drop(c->v);
    *c = to;
}

/* The byte of a version that byte `offset` of `v` is. */
static struct cell resolve(struct version *v, uint64_t offset)
{
    if (v->kind != VERSION_PIECES)
        return (struct cell){v, offset, 0};
    for (uint32_t i = 0; i < v->n_pieces; i++) {
        const struct piece *p = &v->pieces[i];

        assert_true(p->part.v->kind != VERSION_PIECES && p->nbytes > 0);
        if (offset - p->at < p->nbytes)
            return (struct cell){p->part.v, p->part.offset + (offset - p->at), 0};
    }
    fail_msg("pieces end before their version does");
    return (struct cell){0};
}

static unsigned char *random_bytes(struct model *m, uint64_t n)
{
    unsigned char *bytes = malloc(n);

    assert_non_null(bytes);
    for (uint64_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)draw(&m->dice);
    return bytes;
}

static struct version *random_version(struct model *m, uint64_t nbytes)
{
    struct version *v;

    if (below(m, 3) == 0)
        return version_new_result(nbytes, m->next_writer);
    v = version_new_bytes(nbytes);
    assert_non_null(v);
    for (uint64_t i = 0; i < nbytes; i++)
        v->bytes[i] = (unsigned char)draw(&m->dice);
    return v;
}

/* A result of long ago is computed. */
static void compute(struct model *m, struct version *v)
{
    if (v && v->kind == VERSION_RESULT && !v->ready)
        version_set_bytes(v, random_bytes(m, v->nbytes));
}

/* -- what is read --------------------------------------------------------------------------- */

static void check_ready(struct version *v, uint64_t offset, uint64_t n)
{
    bool ready = true;

    for (uint64_t i = 0; v->kind == VERSION_PIECES && i < v->n_pieces; i++)
        ready = ready && v->pieces[i].part.v->ready;
    if (v->kind != VERSION_PIECES)
        ready = v->ready;
    assert_true(version_ready(v) == ready);
    assert_true(offset + n <= v->nbytes);
}

/* Every byte of a view is the very one of the model, or a copy of it. */
static void check_view(struct view view, const struct cell *cells, uint64_t n)
{
    check_ready(view.v, view.offset, n);
    for (uint64_t i = 0; i < n; i++) {
        struct cell got = resolve(view.v, view.offset + i);

        if (got.v == cells[i].v && got.offset == cells[i].offset)
            continue;
        assert_true(got.v->kind == VERSION_BYTES && got.v->op == OP_NONE);
        assert_true(cells[i].v->ready);
        assert_int_equal(got.v->bytes[got.offset], cells[i].v->bytes[cells[i].offset]);
    }
    if (version_ready(view.v)) {
        const unsigned char *bytes = version_bytes(view.v) + view.offset;

        for (uint64_t i = 0; i < n; i++)
            assert_int_equal(bytes[i], cells[i].v->bytes[cells[i].offset]);
    }
}

static void check_writers(const struct op_ids *got, const struct cell *cells, uint64_t n)
{
    const uint32_t *ids = op_ids_list(got);

    for (uint64_t i = 0; i < n; i++) {
        bool found = cells[i].writer == OP_NONE;

        for (uint32_t k = 0; k < got->n && !found; k++)
            found = ids[k] == cells[i].writer;
        assert_true(found);
    }
    for (uint32_t k = 0; k < got->n; k++) {
        bool found = false;

        assert_true(k == 0 || ids[k - 1] < ids[k]);
        for (uint64_t i = 0; i < n && !found; i++)
            found = cells[i].writer == ids[k];
        assert_true(found);
    }
}

static void keep_snapshot(struct model *m, struct view view, struct cell *cells, uint64_t n)
{
    struct snapshot *s = &m->kept[below(m, SNAPSHOTS)];

    if (s->view.v)
        check_view(s->view, s->cells, s->n);
    for (uint64_t i = 0; i < s->n; i++)
        version_drop(s->cells[i].v);
    version_drop(s->view.v);
    free(s->cells);
    *s = (struct snapshot){view, n, cells};
    for (uint64_t i = 0; i < n; i++)
        version_keep(cells[i].v);
}

static void count_read(struct model *m, const struct version *v, const struct cell *cells)
{
    if (v->kind == VERSION_PIECES)
        m->n_pieces++;
    else if (v == cells[0].v)
        m->n_views++;
    else
        m->n_copies++;
}

/* Cells of elements in order; false: byte `*missing` was never written. */
static bool model_read(const struct model *m, uint64_t address, const struct strided *s,
                       struct cell *out, uint64_t *missing)
{
    int64_t at[KB_RANK_MAX] = {0};

    for (bool more = true; more;) {
        uint64_t a = address;

        for (uint32_t i = 0; i < s->rank; i++)
            a += (uint64_t)(at[i] * s->stride[i]);
        for (uint64_t k = 0; k < s->elem_bytes; k++, a++) {
            *missing = a;
            *out = m->cells[a];
            if (!out++->v)
                return false;
        }
        more = false;
        for (uint32_t i = s->rank; i-- > 0 && !more;) {
            more = ++at[i] < s->dim[i];
            if (!more)
                at[i] = 0;
        }
    }
    return true;
}

static uint64_t strided_bytes(const struct strided *s)
{
    uint64_t n = s->elem_bytes;

    for (uint32_t i = 0; i < s->rank; i++)
        n *= (uint64_t)s->dim[i];
    return n;
}

/* By one of the ways to read what lies side by side. */
static enum mem_err read_whole(struct model *m, uint64_t address, uint64_t n, struct view *view,
                               struct op_ids *writers, uint64_t absent[2])
{
    if (below(m, 2) == 0)
        return mem_read(m->mem, m->area, address, n, view, writers, absent);
    m->again_address = address;
    m->again_bytes = n;
    return mem_read_again(m->mem, m->area, address, n, &m->again, view, writers, absent);
}

static void check_read(struct model *m, uint64_t address, const struct strided *s, bool whole)
{
    uint64_t n = strided_bytes(s), missing, absent[2] = {1, 0};
    struct cell *cells = calloc(n, sizeof *cells);
    struct op_ids writers = {0};
    struct view view = {0};
    enum mem_err err = whole
                           ? read_whole(m, address, n, &view, &writers, absent)
                           : mem_read_strided(m->mem, m->area, address, s, &view, &writers, absent);

    assert_non_null(cells);
    if (model_read(m, address, s, cells, &missing)) {
        assert_int_equal(err, MEM_OK);
        check_view(view, cells, n);
        check_writers(&writers, cells, n);
        count_read(m, view.v, cells);
        keep_snapshot(m, view, cells, n);
    } else {
        uint64_t end = missing;

        assert_int_equal(err, MEM_ABSENT);
        assert_true(absent[0] == missing);
        assert_true(absent[1] > absent[0]);
        while (end < (whole ? address + n : absent[1]) && !m->cells[end].v)
            end++;
        assert_true(absent[1] == end);
        m->n_absent++;
        free(cells);
    }
    op_ids_clear(&writers);
}

/* -- what is written ------------------------------------------------------------------------ */

static void model_write(struct model *m, uint64_t address, uint64_t n, struct view from)
{
    for (uint64_t i = 0; i < n; i++) {
        struct cell c = resolve(from.v, from.offset + i);

        c.writer = m->next_writer;
        cell_set(&m->cells[address + i], c);
    }
}

/* The model keeps few versions to write again; they come and go. */
static struct version *version_to_write(struct model *m, uint64_t nbytes, uint64_t *offset)
{
    struct version **slot = &m->versions[below(m, VERSIONS)];
    const struct snapshot *s = &m->kept[below(m, SNAPSHOTS)];

    *offset = 0;
    if (below(m, 4) == 0 && s->view.v && s->n >= nbytes) { /* what was read is stored */
        *offset = s->view.offset + below(m, s->n - nbytes + 1);
        return s->view.v;
    }
    if (!*slot || (*slot)->nbytes < nbytes || below(m, 3) == 0) {
        version_drop(*slot);
        *slot = random_version(m, nbytes + below(m, 40));
    }
    *offset = below(m, (*slot)->nbytes - nbytes + 1);
    return *slot;
}

static void check_write(struct model *m, uint64_t address, const struct strided *s, bool whole)
{
    uint64_t n = strided_bytes(s), offset;
    struct version *v = version_to_write(m, n, &offset);
    struct view from = {v, offset};
    int64_t at[2] = {0};

    m->next_writer = below(m, 10) == 0 ? OP_NONE : (uint32_t)below(m, 1000);
    if (whole) {
        assert_int_equal(mem_write(m->mem, m->area, address, n, from, m->next_writer), MEM_OK);
        model_write(m, address, n, from);
        return;
    }
    assert_int_equal(mem_write_strided(m->mem, m->area, address, s, from, m->next_writer), MEM_OK);
    for (at[0] = 0; at[0] < s->dim[0]; at[0]++) {
        for (at[1] = 0; at[1] < s->dim[1]; at[1]++) {
            uint64_t to = address + (uint64_t)(at[0] * s->stride[0] + at[1] * s->stride[1]);

            model_write(m, to, s->elem_bytes, from);
            from.offset += s->elem_bytes;
        }
    }
}

/* Two axes with any order and sign of strides, inside the model. */
static struct strided random_strided(struct model *m, uint64_t *address)
{
    static const uint32_t sizes[] = {1, 2, 4, 8};
    struct strided s = {.rank = 2, .elem_bytes = sizes[below(m, LENGTH(sizes))]};
    int64_t low = 0, high = s.elem_bytes;

    for (int i = 0; i < 2; i++) {
        s.dim[i] = (int64_t)below(m, 12) + 1;
        s.stride[i] = (int64_t)below(m, 100) - 20;
    }
    if (below(m, 3) == 0) /* rows whose elements lie side by side */
        s.stride[1] = s.elem_bytes;
    if (s.stride[1] <= 8 && below(m, 2) == 0) /* and the rows, too */
        s.stride[0] = s.stride[1] * s.dim[1];
    for (int i = 0; i < 2; i++) {
        int64_t reach = (s.dim[i] - 1) * s.stride[i];

        *(reach < 0 ? &low : &high) += reach;
    }
    *address = below(m, (uint64_t)(SIZE - (high - low))) + (uint64_t)-low;
    return s;
}

static void one_step(struct model *m, uint64_t longest)
{
    uint64_t kind = below(m, 100), address = below(m, SIZE), n = below(m, longest) + 1;
    struct strided s = {.rank = 1, .elem_bytes = 1, .stride = {1}};

    if (below(m, 200) == 0)
        n = below(m, SIZE) + 1;
    if (n > SIZE - address)
        n = SIZE - address;
    if (m->again_bytes && kind >= 60 && kind < 80) {
        address = m->again_address;
        n = m->again_bytes;
    }
    s.dim[0] = (int64_t)n;
    if (kind < 40)
        check_write(m, address, &s, true);
    else if (kind < 80)
        check_read(m, address, &s, true);
    else {
        s = random_strided(m, &address);
        (kind < 90 ? check_write : check_read)(m, address, &s, false);
    }
    if (below(m, 2) == 0)
        compute(m, m->versions[below(m, VERSIONS)]);
}

static void model_clear(struct model *m)
{
    mem_clear(m->mem, m->area);
    for (int i = 0; i < SIZE; i++)
        cell_set(&m->cells[i], (struct cell){0});
}

static void model_free(struct model *m)
{
    mem_free(m->mem);
    for (int i = 0; i < SIZE; i++)
        cell_set(&m->cells[i], (struct cell){0});
    for (int i = 0; i < VERSIONS; i++)
        version_drop(m->versions[i]);
    for (int i = 0; i < SNAPSHOTS; i++) {
        for (uint64_t k = 0; k < m->kept[i].n; k++)
            version_drop(m->kept[i].cells[k].v);
        version_drop(m->kept[i].view.v);
        free(m->kept[i].cells);
    }
    free(m);
}

static void random_steps_do_as_the_model(uint64_t seed, uint64_t longest, int steps)
{
    int64_t before = owned;
    struct model *m = calloc(1, sizeof *m);

    assert_non_null(m);
    m->dice = seed;
    m->mem = mem_new(3);
    m->area = (uint32_t)(seed % 3);
    assert_non_null(m->mem);
    for (int i = 0; i < steps; i++) {
        one_step(m, longest);
        if (below(m, 4000) == 0)
            model_clear(m);
    }
    assert_true(m->n_pieces > 20 && m->n_absent > 20 && m->n_views > 20 && m->n_copies > 20);
    model_free(m);
    assert_true(owned == before);
}

static void any_writes_and_reads_do_as_the_model(void **state)
{
    (void)state;
    random_steps_do_as_the_model(1, 6, 12000);
    random_steps_do_as_the_model(2, 20, 12000);
    random_steps_do_as_the_model(3, 200, 12000);
    random_steps_do_as_the_model(4, 3000, 4000);
}

/* -- by hand -------------------------------------------------------------------------------- */

static struct version *bytes_of(const char *text)
{
    struct version *v = version_new_bytes(strlen(text));

    assert_non_null(v);
    memcpy(v->bytes, text, strlen(text));
    return v;
}

/* Writes `text`, and keeps nothing. */
static void put(struct mem *m, uint64_t address, const char *text, uint32_t writer)
{
    struct version *v = bytes_of(text);

    assert_int_equal(mem_write(m, 0, address, strlen(text), (struct view){v, 0}, writer), MEM_OK);
    version_drop(v);
}

static struct view get(struct mem *m, uint64_t address, uint64_t n)
{
    struct view view;

    assert_int_equal(mem_read(m, 0, address, n, &view, NULL, NULL), MEM_OK);
    return view;
}

static void assert_holds(struct view view, const char *text)
{
    const unsigned char *bytes = version_bytes(view.v);

    assert_non_null(bytes);
    assert_memory_equal(bytes + view.offset, text, strlen(text));
}

static void assert_reads(struct mem *m, uint64_t address, const char *text)
{
    struct view view = get(m, address, strlen(text));

    assert_holds(view, text);
    version_drop(view.v);
}

/* docs/kernels.md "Two phases": a loaded tensor keeps the version that it saw. */
static void a_reader_keeps_what_it_saw(void **state)
{
    struct mem *m = mem_new(1);
    struct view seen;

    (void)state;
    put(m, 100, "abcdef", 1);
    seen = get(m, 102, 3);
    put(m, 100, "ABCDEF", 2);
    put(m, 103, "-", 3);
    mem_clear(m, 0);
    assert_holds(seen, "cde");
    version_drop(seen.v);
    mem_free(m);
}

/* A partial write leaves the rest with its old version. */
static void a_partial_write_leaves_the_rest(void **state)
{
    struct mem *m = mem_new(1);
    struct op_ids writers = {0};
    struct view view;

    (void)state;
    put(m, 8, "abcdefgh", 7);
    put(m, 10, "XY", 9);
    assert_reads(m, 8, "abXYefgh");
    put(m, 6, "1234", 4);
    assert_reads(m, 6, "1234XYefgh");
    put(m, 14, "5678", 5);
    assert_reads(m, 6, "1234XYef5678");
    assert_int_equal(mem_read(m, 0, 8, 8, &view, &writers, NULL), MEM_OK);
    assert_int_equal(writers.n, 4);
    assert_int_equal(writers.ids ? 0 : writers.few[0], 4);
    assert_int_equal(writers.few[3], 9);
    version_drop(view.v);
    put(m, 0, "abcdefghijklmnopqrstuvwxyz", 1);
    assert_reads(m, 0, "abcdefghijklmnopqrstuvwxyz");
    mem_free(m);
}

/* A version that was cut is one view again if its parts are read in their order. */
static void parts_of_one_version_need_no_new_one(void **state)
{
    struct mem *m = mem_new(1);
    struct version *v = bytes_of("abcdefgh");
    struct view view;

    (void)state;
    assert_int_equal(mem_write(m, 0, 0, 4, (struct view){v, 0}, 1), MEM_OK);
    assert_int_equal(mem_write(m, 0, 4, 4, (struct view){v, 4}, 2), MEM_OK);
    view = get(m, 1, 6);
    assert_true(view.v == v && view.offset == 1);
    assert_true(v->refs == 4);
    version_drop(view.v);
    mem_free(m);
    assert_true(v->refs == 1);
    version_drop(v);
}

/* Reference semantics: what is large is not copied, even where several parts meet. */
static void large_pieces_are_shared(void **state)
{
    struct mem *m = mem_new(1);
    struct version *v = version_new_bytes(4096);
    struct view view;

    (void)state;
    assert_int_equal(mem_write(m, 0, 4096, 4096, (struct view){v, 0}, 1), MEM_OK);
    assert_int_equal(mem_write(m, 0, 0, 4096, (struct view){v, 0}, 2), MEM_OK);
    view = get(m, 0, 8192);
    assert_int_equal(view.v->kind, VERSION_PIECES);
    assert_true(v->refs == 5);
    version_drop(view.v);
    version_drop(v);
    mem_free(m);
}

/* A gather of ready and pending pieces is pending. */
static void pieces_are_ready_with_the_last(void **state)
{
    struct mem *m = mem_new(1);
    struct version *result = version_new_result(4, 17);
    struct view view, part;

    (void)state;
    put(m, 0, "abcd", 1);
    assert_int_equal(mem_write(m, 0, 4, 4, (struct view){result, 0}, 17), MEM_OK);
    view = get(m, 2, 5);
    part = get(m, 4, 2);
    assert_int_equal(view.v->kind, VERSION_PIECES);
    assert_false(version_ready(view.v));
    assert_false(version_ready(part.v));
    version_set_bytes(result, (unsigned char *)strcpy(malloc(5), "wxyz"));
    assert_true(version_ready(view.v));
    assert_holds(view, "cdwxy");
    assert_holds(part, "wx");
    version_drop(part.v);
    version_drop(view.v);
    version_drop(result);
    mem_free(m);
}

/* -- equal pieces --------------------------------------------------------------------------- */

enum { PIECES = 20, PIECE_BYTES = 8, VARIANTS = 3 * PIECES };

/* Two results for each piece, of 32 bytes that are all different. */
struct results {
    struct version *v[2][PIECES];
};

static void results_make(struct results *r)
{
    for (uint32_t i = 0; i < 2 * PIECES; i++)
        r->v[i / PIECES][i % PIECES] = version_new_result(32, i);
}

static unsigned char result_byte(uint32_t set, uint32_t piece, uint64_t offset)
{
    return (unsigned char)((set * PIECES + piece) * 5 + offset * 41);
}

static void results_compute(struct results *r)
{
    for (uint32_t i = 0; i < 2 * PIECES; i++) {
        unsigned char *bytes = malloc(32);

        for (uint64_t k = 0; k < 32; k++)
            bytes[k] = result_byte(i / PIECES, i % PIECES, k);
        version_set_bytes(r->v[i / PIECES][i % PIECES], bytes);
    }
}

static void results_drop(struct results *r)
{
    for (uint32_t i = 0; i < 2 * PIECES; i++)
        version_drop(r->v[i / PIECES][i % PIECES]);
}

/* Which bytes a piece has: of a result of one of the sets, from `offset` on. */
struct part {
    uint32_t set;
    uint64_t offset, nbytes;
};

static void list_write(struct mem *m, uint32_t area, const struct results *r,
                       const struct part *list)
{
    uint64_t at = 0;

    for (uint32_t i = 0; i < PIECES; i++) {
        struct view from = {r->v[list[i].set][i], list[i].offset};

        assert_int_equal(mem_write(m, area, at, list[i].nbytes, from, i), MEM_OK);
        at += list[i].nbytes;
    }
}

static void assert_list(struct view view, const struct part *list)
{
    const unsigned char *bytes = version_bytes(view.v);

    for (uint32_t i = 0; i < PIECES; i++)
        for (uint64_t k = 0; k < list[i].nbytes; k++)
            assert_int_equal(*bytes++, result_byte(list[i].set, i, list[i].offset + k));
}

/* As many pieces and bytes as the plain list, and all of its pieces but one: that is of another
 * result, or begins elsewhere in it, or is longer than the next. */
static void list_differs(struct part *list, uint32_t variant)
{
    uint32_t i = variant % PIECES, next = (i + 1) % PIECES;

    for (uint32_t k = 0; k < PIECES; k++)
        list[k] = (struct part){0, 0, PIECE_BYTES};
    if (variant / PIECES == 0) {
        list[i].set = 1;
    } else if (variant / PIECES == 1) {
        list[i].offset = 1;
    } else {
        list[i].nbytes++;
        list[next].nbytes--;
    }
}

static struct view get_from(struct mem *m, uint32_t area)
{
    struct view view;

    assert_int_equal(mem_read(m, area, 0, PIECES * PIECE_BYTES, &view, NULL, NULL), MEM_OK);
    assert_int_equal(view.v->kind, VERSION_PIECES);
    assert_int_equal(view.v->n_pieces, PIECES);
    return view;
}

/* shared.c: of equal pieces there is one version, as long as it is read. */
static void equal_pieces_are_gathered_once(void **state)
{
    int64_t before = owned;
    struct mem *m = mem_new(2);
    struct part list[PIECES];
    struct results r;
    struct view a, b;

    (void)state;
    results_make(&r);
    list_differs(list, 7);
    list_write(m, 0, &r, list);
    list_write(m, 1, &r, list);
    a = get_from(m, 0);
    b = get_from(m, 1);
    assert_ptr_equal(a.v, b.v);
    assert_int_equal(a.v->refs, 2);
    version_drop(a.v);
    version_drop(b.v);
    a = get_from(m, 1); /* another one */
    assert_int_equal(a.v->refs, 1);
    mem_free(m);
    results_compute(&r);
    assert_list(a, list); /* a reader may outlive the store */
    version_drop(a.v);
    results_drop(&r);
    assert_true(owned == before);
}

static void other_pieces_are_not_taken_for_them(void **state)
{
    struct mem *m = mem_new(VARIANTS);
    struct part lists[VARIANTS][PIECES];
    struct view views[VARIANTS];
    struct results r;

    (void)state;
    results_make(&r);
    for (uint32_t i = 0; i < VARIANTS; i++) {
        list_differs(lists[i], i);
        list_write(m, i, &r, lists[i]);
        views[i] = get_from(m, i);
    }
    results_compute(&r);
    for (uint32_t i = 0; i < VARIANTS; i++) {
        assert_list(views[i], lists[i]);
        version_drop(views[i].v);
    }
    mem_free(m);
    results_drop(&r);
}

static void assert_absent(struct mem *m, uint64_t address, uint64_t n, uint64_t begin, uint64_t end)
{
    uint64_t absent[2];
    struct view view;

    assert_int_equal(mem_read(m, 0, address, n, &view, NULL, absent), MEM_ABSENT);
    assert_true(absent[0] == begin && absent[1] == end);
}

static void what_was_never_written_is_told(void **state)
{
    struct mem *m = mem_new(1);

    (void)state;
    assert_absent(m, 5, 10, 5, 15);
    put(m, 10, "abcd", 1);
    put(m, 20, "efgh", 1);
    assert_absent(m, 5, 10, 5, 10);
    assert_absent(m, 10, 12, 14, 20);
    assert_absent(m, 12, 4, 14, 16);
    assert_absent(m, 22, 100, 24, 122);
    assert_absent(m, 0, 10, 0, 10);
    mem_free(m);
}

static void named_spaces_are_areas_of_their_own(void **state)
{
    struct mem *m = mem_new(5);
    struct version *v = bytes_of("spm");
    struct view view;
    uint32_t spm = mem_space(m, "spm"), reg = mem_space(m, "reg");

    (void)state;
    assert_int_equal(spm, 5);
    assert_int_equal(reg, 6);
    assert_int_equal(mem_space(m, "spm"), 5);
    assert_int_equal(mem_write(m, spm, 0, 3, (struct view){v, 0}, 1), MEM_OK);
    assert_int_equal(mem_read(m, reg, 0, 3, &view, NULL, NULL), MEM_ABSENT);
    assert_int_equal(mem_read(m, spm, 0, 3, &view, NULL, NULL), MEM_OK);
    assert_holds(view, "spm");
    version_drop(view.v);
    version_drop(v);
    mem_free(m);
}

static void assert_again(struct mem *m, uint32_t area, struct mem_again *again, const char *text)
{
    struct view view;

    assert_int_equal(mem_read_again(m, area, 0, strlen(text), again, &view, NULL, NULL), MEM_OK);
    assert_holds(view, text);
    version_drop(view.v);
}

/* Both areas were written once, at the same address. */
static void a_reader_goes_on_in_another_area(void **state)
{
    struct mem *m = mem_new(2);
    struct version *one = bytes_of("one"), *two = bytes_of("two");
    struct mem_again again = {0};

    (void)state;
    assert_int_equal(mem_write(m, 0, 0, 3, (struct view){one, 0}, 1), MEM_OK);
    assert_int_equal(mem_write(m, 1, 0, 3, (struct view){two, 0}, 1), MEM_OK);
    assert_again(m, 0, &again, "one");
    assert_again(m, 0, &again, "one");
    assert_again(m, 1, &again, "two");
    assert_int_equal(mem_write(m, 1, 0, 3, (struct view){one, 0}, 1), MEM_OK);
    assert_again(m, 1, &again, "one");
    assert_int_equal(mem_write(m, 1, 3, 3, (struct view){two, 0}, 1), MEM_OK);
    assert_again(m, 1, &again, "one");
    assert_again(m, 1, &again, "onetwo"); /* longer than what it has read */
    version_drop(one);
    version_drop(two);
    mem_free(m);
}

/* More ids than fit without a list, in an order that inserts everywhere. */
static void ids_of_writers_come_in_order_and_once(void **state)
{
    struct op_ids set = {0};

    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        assert_true(op_ids_add(&set, i * 7 % 101));
        assert_true(op_ids_add(&set, OP_NONE));
    }
    assert_int_equal(set.n, 101);
    for (uint32_t i = 0; i < 101; i++)
        assert_int_equal(op_ids_list(&set)[i], i);
    op_ids_clear(&set);
    assert_int_equal(set.n, 0);
}

/* -- sizes ---------------------------------------------------------------------------------- */

/* Written from below, from above and in no order; each is read back. */
static void many_ranges_fit_into_one_area(void **state)
{
    enum { N = 300000, STEP = 77773 }; /* STEP and N have no common factor */
    struct mem *m = mem_new(3);
    struct version *v = version_new_bytes(1);

    (void)state;
    for (uint64_t i = 0; i < N; i++) {
        struct view from = {v, 0};

        assert_int_equal(mem_write(m, 0, 2 * i, 1, from, 0), MEM_OK);
        assert_int_equal(mem_write(m, 1, 2 * (N - i), 1, from, 0), MEM_OK);
        assert_int_equal(mem_write(m, 2, 2 * (i * STEP % N), 1, from, 0), MEM_OK);
    }
    assert_true(v->refs == 3 * N + 1);
    for (uint64_t i = 0; i < N; i++) {
        struct view view;

        assert_int_equal(mem_read(m, 2, 2 * i, 1, &view, NULL, NULL), MEM_OK);
        version_drop(view.v);
        assert_int_equal(mem_read(m, 2, 2 * i, 2, &view, NULL, NULL), MEM_ABSENT);
    }
    mem_free(m);
    assert_true(v->refs == 1);
    version_drop(v);
}

/* -- memory that is lacking ----------------------------------------------------------------- */

/* Writes and reads; false when one had no memory, which has then changed nothing. */
static bool write_all(struct model *m)
{
    static const uint64_t longest[] = {3, 40, 3, 900, 9};
    struct version *v = version_new_bytes(1000);

    for (int i = 0; v && i < 600; i++) {
        uint64_t n = below(m, longest[i / 120]) + 1, address = below(m, SIZE - n);
        struct view from = {v, below(m, 1000 - n)};

        m->next_writer = (uint32_t)i;
        if (mem_write(m->mem, 0, address, n, from, m->next_writer) != MEM_OK)
            break;
        model_write(m, address, n, from);
        if (i == 599) {
            version_drop(v);
            return true;
        }
    }
    version_drop(v);
    return false;
}

/* The store holds what the model does. */
static void check_all(struct model *m)
{
    struct view view;

    for (uint64_t i = 0; i < SIZE; i++) {
        struct op_ids writers = {0};
        enum mem_err err = mem_read(m->mem, 0, i, 1, &view, &writers, NULL);

        assert_int_equal(err, m->cells[i].v ? MEM_OK : MEM_ABSENT);
        if (err != MEM_OK)
            continue;
        assert_true(view.v == m->cells[i].v && view.offset == m->cells[i].offset);
        assert_int_equal(writers.few[0], m->cells[i].writer);
        version_drop(view.v);
    }
}

static void a_write_without_memory_changes_nothing(void **state)
{
    bool done = false;
    uint64_t n = 0;

    (void)state;
    for (; !done; n++) {
        int64_t before = owned;
        struct model *m = calloc(1, sizeof *m);

        m->dice = 5;
        blocks_left = n;
        m->mem = mem_new(1);
        done = m->mem && write_all(m);
        blocks_left = UINT64_MAX;
        if (m->mem)
            check_all(m);
        model_free(m);
        assert_true(owned == before);
    }
    assert_true(n > 20); /* mem_new 3, version 2, area 3, then leaves and directories */
}

static void a_read_without_memory_leaves_nothing(void **state)
{
    struct mem *m = mem_new(1);
    struct strided s = {.rank = 1, .elem_bytes = 1, .dim = {64}, .stride = {2}};
    struct version *pending = version_new_result(200, 1);
    uint64_t n = 0;
    int64_t before;

    (void)state;
    for (uint32_t i = 0; i < 200; i++)
        put(m, i, "x", i / 10);
    assert_int_equal(mem_write(m, 0, 60, 20, (struct view){pending, 0}, 500), MEM_OK);
    before = owned;
    for (enum mem_err err = MEM_NO_MEMORY; err != MEM_OK; n++) {
        struct op_ids writers = {0};
        struct view view;

        blocks_left = n;
        err = mem_read_strided(m, 0, 3, &s, &view, &writers, NULL);
        blocks_left = UINT64_MAX;
        op_ids_clear(&writers);
        if (err == MEM_OK)
            version_drop(view.v);
        else
            assert_int_equal(err, MEM_NO_MEMORY);
        assert_true(owned == before);
    }
    assert_true(n >= 6); /* pieces twice, their version 2, ids */
    version_drop(pending);
    mem_free(m);
}

static void a_space_without_memory_is_not_made(void **state)
{
    struct mem *m = mem_new(2);
    uint64_t n = 0;

    (void)state;
    for (uint32_t area = UINT32_MAX; area == UINT32_MAX; n++) {
        blocks_left = n;
        area = mem_space(m, "spm");
        blocks_left = UINT64_MAX;
        assert_true(area == UINT32_MAX || area == 2);
    }
    assert_int_equal(n, 4);
    mem_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_writes_and_reads_do_as_the_model),
        cmocka_unit_test(a_reader_keeps_what_it_saw),
        cmocka_unit_test(a_partial_write_leaves_the_rest),
        cmocka_unit_test(parts_of_one_version_need_no_new_one),
        cmocka_unit_test(large_pieces_are_shared),
        cmocka_unit_test(pieces_are_ready_with_the_last),
        cmocka_unit_test(equal_pieces_are_gathered_once),
        cmocka_unit_test(other_pieces_are_not_taken_for_them),
        cmocka_unit_test(what_was_never_written_is_told),
        cmocka_unit_test(named_spaces_are_areas_of_their_own),
        cmocka_unit_test(a_reader_goes_on_in_another_area),
        cmocka_unit_test(ids_of_writers_come_in_order_and_once),
        cmocka_unit_test(many_ranges_fit_into_one_area),
        cmocka_unit_test(a_write_without_memory_changes_nothing),
        cmocka_unit_test(a_read_without_memory_leaves_nothing),
        cmocka_unit_test(a_space_without_memory_is_not_made),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
