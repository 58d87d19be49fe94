/* gemm_pack.c -- operands of products, packed once for all products that use them.
 *
 * Packing converts the elements and puts them into the order in which tiles read them. The packed
 * form hangs on the version of the operand, in a tree by its key: one version may be packed in
 * several ways, for example as a left operand and, transposed, as a right one. Threads add to the
 * tree by compare-and-swap and never remove from it, so that finding needs no lock.
 *
 * A packed operand is made of strips of about 128 rows of one block of K. All threads that need it
 * take strips by an atomic counter, and wait until the last is done. For 1024x1024 in panels of 12
 * that is 9 strips of up to 120 rows for each of 4 blocks of K.
 *
 * Invariants: a packed form never changes once its last strip is done; two products share it
 * exactly if its whole key is equal (place in the version, extents, strides, types, width of a
 * panel); it is freed after the last product that multiplies the version (graph.c counts them), or
 * when all of them take more than PACKED_BYTES (exec.c): a product that needs it packs it again.
 */
#include "phase2/gemm_pack.h"
#include "data/cast.h"
#include "data/dtype.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* -- memory for it -------------------------------------------------------------------------- */

enum { HUGE_PAGE = 2 << 20, POOL_BLOCKS = 64, POOL_BYTES = 256 << 20, PACKED_BYTES = 192 << 20 };

struct gemm_pool {
    pthread_mutex_t lock;
    uint32_t n;
    size_t nbytes, taken;             /* in it; in packed operands */
    struct block blocks[POOL_BLOCKS]; /* owned; the oldest first */
};

struct gemm_pool *gemm_pool_new(void)
{
    struct gemm_pool *pool = calloc(1, sizeof *pool);

    if (pool)
        pthread_mutex_init(&pool->lock, NULL);
    return pool;
}

void gemm_pool_free(struct gemm_pool *pool)
{
    if (!pool)
        return;
    for (uint32_t i = 0; i < pool->n; i++)
        free(pool->blocks[i].at);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

bool gemm_pool_is_full(struct gemm_pool *pool)
{
    return __atomic_load_n(&pool->taken, __ATOMIC_RELAXED) > PACKED_BYTES;
}

/* Its blocks are counted when they are taken and when they are given back. */
static void pool_count(struct gemm_pool *pool, size_t nbytes)
{
    if (pool)
        __atomic_add_fetch(&pool->taken, nbytes, __ATOMIC_RELAXED);
}

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

struct block gemm_block_new(size_t nbytes)
{
    size_t align = nbytes >= HUGE_PAGE / 2 ? HUGE_PAGE : ALIGN;
    struct block b = {.nbytes = round_up(nbytes, align)};

    b.at = aligned_alloc(align, b.nbytes);
#ifdef MADV_HUGEPAGE
    if (b.at && align == HUGE_PAGE)
        madvise(b.at, b.nbytes, MADV_HUGEPAGE); /* a hint; it may be refused */
#endif
    return b;
}

static struct block pool_remove(struct gemm_pool *pool, uint32_t i)
{
    struct block b = pool->blocks[i];

    pool->n--;
    pool->nbytes -= b.nbytes;
    memmove(&pool->blocks[i], &pool->blocks[i + 1], (pool->n - i) * sizeof b);
    return b;
}

/* Takes the latest block that is large enough, and not twice too large: it may still be cached. */
static struct block pool_take(struct gemm_pool *pool, size_t nbytes)
{
    struct block b = {NULL, 0};

    if (pool) {
        pthread_mutex_lock(&pool->lock);
        for (uint32_t i = pool->n; i-- > 0 && !b.at;)
            if (pool->blocks[i].nbytes >= nbytes && pool->blocks[i].nbytes / 2 < nbytes + HUGE_PAGE)
                b = pool_remove(pool, i);
        pthread_mutex_unlock(&pool->lock);
    }
    if (!b.at)
        b = gemm_block_new(nbytes);
    pool_count(pool, b.at ? b.nbytes : 0);
    return b;
}

static void pool_give(struct gemm_pool *pool, struct block b)
{
    struct block out = {NULL, 0};

    if (!pool) {
        free(b.at);
        return;
    }
    pool_count(pool, 0 - b.nbytes);
    pthread_mutex_lock(&pool->lock);
    if (pool->n == POOL_BLOCKS || pool->nbytes + b.nbytes > POOL_BYTES)
        out = pool->n ? pool_remove(pool, 0) : out;
    if (pool->nbytes + b.nbytes <= POOL_BYTES) {
        pool->blocks[pool->n++] = b;
        pool->nbytes += b.nbytes;
        b.at = NULL;
    }
    pthread_mutex_unlock(&pool->lock);
    free(out.at);
    free(b.at);
}

/* -- packed operands ------------------------------------------------------------------------ */

enum {
    READ_AHEAD =
        512,     /* tiles load a little of the next panel before they know that there is none */
    STRIP = 128, /* rows that a thread packs at a time */
    WIDEST = 32,
    ROWS_AHEAD = 8,
};

static uint32_t strip_panels(const struct pack_key *key)
{
    return STRIP / key->width;
}

static uint32_t strips_of_block(const struct pack_key *key)
{
    return (panels(key) + strip_panels(key) - 1) / strip_panels(key);
}

static void packed_free(struct version_packed *self)
{
    struct packed *p = (struct packed *)self;

    if (!p)
        return;
    for (int i = 0; i < 4; i++)
        packed_free(p->child[i]);
    pool_give(p->pool, (struct block){p, p->nbytes});
}

static struct packed *packed_new(const struct pack_key *key, struct gemm_pool *pool)
{
    size_t head = round_up(sizeof(struct packed), ALIGN);
    size_t lanes = (size_t)panels(key) * key->width * key->k * lane_bytes(key);
    struct block block = pool_take(pool, head + lanes + READ_AHEAD);
    struct packed *p = block.at;

    if (!p)
        return NULL;
    *p = (struct packed){.head.free = packed_free, .key = *key};
    p->pool = pool;
    p->nbytes = block.nbytes;
    p->n_strips = strips_of_block(key) * ((key->k + KC - 1) / KC);
    p->lanes = (unsigned char *)p + head;
    memset(p->lanes + lanes, 0, READ_AHEAD);
    return p;
}

static bool same_key(const struct pack_key *a, const struct pack_key *b)
{
    return a->offset == b->offset && a->extent == b->extent && a->k == b->k &&
           a->stride == b->stride && a->k_stride == b->k_stride && a->dtype == b->dtype &&
           a->lane == b->lane && a->width == b->width;
}

static uint64_t key_hash(const struct pack_key *key)
{
    uint64_t h = key->offset + key->extent * UINT64_C(0x9e3779b97f4a7c15) +
                 key->k * UINT64_C(0xbf58476d1ce4e5b9) + key->lane;

    h = (h ^ h >> 29) * UINT64_C(0x94d049bb133111eb);
    return h ^ h >> 32;
}

/* The place of `key` in the tree, found or empty: two bits of the hash choose a child. */
static struct version_packed **packed_place(struct version_packed **place,
                                            const struct pack_key *key, uint64_t *hash)
{
    struct packed *p;

    while ((p = (struct packed *)__atomic_load_n(place, __ATOMIC_ACQUIRE)) &&
           !same_key(&p->key, key)) {
        place = &p->child[*hash & 3];
        *hash = *hash >> 2 | *hash << 62;
    }
    return place;
}

/*
 * The entry of `key`, made if there is none; NULL: no memory. Another thread may make the same
 * entry at the same time: the first to put it into the tree wins, and the others free theirs.
 */
static struct packed *packed_of(struct version *v, const struct pack_key *key,
                                struct gemm_pool *pool)
{
    uint64_t hash = key_hash(key);
    struct version_packed **place = packed_place(&v->packed, key, &hash);
    struct version_packed *found = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    struct packed *own = found ? NULL : packed_new(key, pool);

    while (own && !found) {
        if (__atomic_compare_exchange_n(place, &found, &own->head, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            return own;
        place = packed_place(place, key, &hash);
        found = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    }
    if (own)
        packed_free(&own->head);
    return (struct packed *)found;
}

void gemm_forget(struct version *v)
{
    if (v->packed)
        v->packed->free(v->packed);
    v->packed = NULL;
}

/* -- packing -------------------------------------------------------------------------------- */

/* Some panels of one block of K, to be packed. */
struct strip {
    const struct pack_key *key;
    const unsigned char *from; /* element (0, 0) of the strip */
    unsigned char *to;
    uint32_t rows; /* of the matrix, in all panels */
    uint32_t kc;
};

typedef uint32_t four __attribute__((vector_size(16), aligned(4), may_alias));

/* Transposes four rows of four. */
static inline __attribute__((always_inline)) void turn_4x4(unsigned char *to, size_t to_row,
                                                           const uint32_t *const from[4], size_t k)
{
    four a = *(const four *)(from[0] + k), b = *(const four *)(from[1] + k);
    four c = *(const four *)(from[2] + k), d = *(const four *)(from[3] + k);
    four ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    four ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    four cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    four cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);

    *(four *)to = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
    *(four *)(to + to_row) = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
    *(four *)(to + 2 * to_row) = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
    *(four *)(to + 3 * to_row) = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}

static inline void turn_scalar(unsigned char *to, uint32_t width, const uint32_t *from, uint32_t k,
                               uint32_t end)
{
    for (; k < end; k++)
        memcpy(to + (size_t)k * width * 4, &from[k], 4);
}

/* Prefetches: rows of a large matrix lie pages apart, which the processor does not do by itself. */
static void fetch(const unsigned char *at, size_t nbytes)
{
    for (size_t i = 0; i < nbytes; i += ALIGN)
        __builtin_prefetch(at + i);
}

/* One panel of 4-byte lanes from rows along k, four rows at a time. */
static inline __attribute__((always_inline)) void
turn_panel_4(unsigned char *to, const void *const *rows, uint32_t width, uint32_t kc)
{
    uint32_t whole = kc & ~3u, i = 0;

    for (; i + 4 <= width; i += 4) {
        const uint32_t *from[4] = {rows[i], rows[i + 1], rows[i + 2], rows[i + 3]};

        for (uint32_t k = 0; k < whole; k += 4)
            turn_4x4(to + ((size_t)k * width + i) * 4, (size_t)width * 4, from, k);
        for (uint32_t j = 0; j < 4; j++)
            turn_scalar(to + (size_t)(i + j) * 4, width, from[j], whole, kc);
    }
    for (; i < width; i++)
        turn_scalar(to + (size_t)i * 4, width, rows[i], 0, kc);
}

static void turn_panel_8(unsigned char *to, const void *const *rows, uint32_t width, uint32_t kc)
{
    for (uint32_t i = 0; i < width; i++)
        for (uint32_t k = 0; k < kc; k++)
            memcpy(to + ((size_t)k * width + i) * 8, (const uint64_t *)rows[i] + k, 8);
}

static void turn_panel(unsigned char *to, const void *const *rows, uint32_t width, uint32_t kc,
                       size_t bytes)
{
    if (bytes == 8)
        turn_panel_8(to, rows, width, kc);
    else if (width == 32)
        turn_panel_4(to, rows, 32, kc);
    else if (width == 12)
        turn_panel_4(to, rows, 12, kc);
    else if (width == 16)
        turn_panel_4(to, rows, 16, kc);
    else
        turn_panel_4(to, rows, width, kc);
}

/* Of i4, whose rows are whole bytes, a stride is even. */
static int64_t stride_bytes(const struct pack_key *key, int64_t stride)
{
    return (int64_t)dtype_size(key->dtype, (uint64_t)stride);
}

/*
 * Packs a matrix whose elements along k are contiguous: it must be transposed. The rows of a panel
 * are converted to lanes first, if they must be, into a buffer that stays cached; missing rows of
 * the last panel are zeros. The rows of the next panel are prefetched meanwhile.
 */
static void pack_along_k(const struct strip *s)
{
    const struct pack_key *key = s->key;
    int64_t row_bytes = stride_bytes(key, key->stride);
    size_t bytes = lane_bytes(key);
    static const uint64_t zeros[KC];
    _Alignas(ALIGN) uint64_t converted[WIDEST][KC];
    const void *rows[WIDEST];

    for (uint32_t done = 0; done < s->rows; done += key->width) {
        for (uint32_t i = 0; i < key->width; i++) {
            const unsigned char *row = s->from + (int64_t)(done + i) * row_bytes;
            rows[i] = done + i >= s->rows ? (const void *)zeros : row;
            if (done + i + key->width < s->rows)
                fetch(row + (int64_t)key->width * row_bytes, dtype_size(key->dtype, s->kc));
            if (done + i < s->rows && key->dtype != key->lane) {
                cast_elements((kb_dtype)key->lane, converted[i], (kb_dtype)key->dtype, row, s->kc);
                rows[i] = converted[i];
            }
        }
        turn_panel(s->to + (size_t)done * s->kc * bytes, rows, key->width, s->kc, bytes);
    }
}

/* Copies 16 bytes at a time. For a constant `n` there is neither a loop nor a call. */
static inline __attribute__((always_inline)) void copy_row(unsigned char *to,
                                                           const unsigned char *from, size_t n)
{
    size_t i = 0;

    for (; i + sizeof(four) <= n; i += sizeof(four))
        *(four *)(to + i) = *(const four *)(from + i);
    memcpy(to + i, from + i, n - i);
}

/* Distributes `n` bytes of one k over the panels. */
static inline __attribute__((always_inline)) void
deal(unsigned char *to, const unsigned char *row, size_t n, size_t panel_bytes, size_t row_bytes)
{
    for (; n >= row_bytes; n -= row_bytes, row += row_bytes, to += panel_bytes)
        copy_row(to, row, row_bytes);
    if (n) {
        memcpy(to, row, n);
        memset(to + n, 0, row_bytes - n);
    }
}

/*
 * Packs a matrix whose elements of one k are contiguous: each k is converted and cut into pieces of
 * the width of a panel. Common widths have code of their own, in which copies have constant
 * lengths.
 */
static void pack_across_k(const struct strip *s)
{
    const struct pack_key *key = s->key;
    int64_t line_bytes = stride_bytes(key, key->k_stride);
    size_t bytes = lane_bytes(key);
    size_t n = s->rows * bytes, row_bytes = key->width * bytes, panel_bytes = s->kc * row_bytes;
    _Alignas(ALIGN) uint64_t converted[STRIP];

    for (uint32_t k = 0; k < s->kc; k++) {
        const unsigned char *row = s->from + (int64_t)k * line_bytes;
        unsigned char *to = s->to + k * row_bytes;

        if (k + ROWS_AHEAD < s->kc)
            fetch(row + ROWS_AHEAD * line_bytes, dtype_size(key->dtype, s->rows));
        if (key->dtype != key->lane) {
            cast_elements((kb_dtype)key->lane, converted, (kb_dtype)key->dtype, row, s->rows);
            row = (const unsigned char *)converted;
        }
        if (row_bytes == 128)
            deal(to, row, n, panel_bytes, 128);
        else if (row_bytes == 64)
            deal(to, row, n, panel_bytes, 64);
        else if (row_bytes == 48)
            deal(to, row, n, panel_bytes, 48);
        else
            deal(to, row, n, panel_bytes, row_bytes);
    }
}

static void pack_strip(struct packed *p, const unsigned char *matrix, uint32_t number)
{
    const struct pack_key *key = &p->key;
    uint32_t k = number / strips_of_block(key) * KC;
    uint32_t panel = number % strips_of_block(key) * strip_panels(key);
    uint32_t first = panel * key->width, most = strip_panels(key) * key->width;
    int64_t element = (int64_t)first * key->stride + (int64_t)k * key->k_stride;
    struct strip s = {
        .key = key,
        .from = matrix + dtype_size(key->dtype, (uint64_t)element),
        .to = panel_at(p, panel, k),
        .rows = key->extent - first < most ? key->extent - first : most,
        .kc = key->k - k < KC ? key->k - k : KC,
    };

    if (key->k_stride == 1)
        pack_along_k(&s);
    else
        pack_across_k(&s);
}

/* Packs, together with other threads; returns when all strips are done. */
static void pack(struct packed *p, const unsigned char *matrix)
{
    uint32_t number;

    if (__atomic_load_n(&p->strips_done, __ATOMIC_ACQUIRE) == p->n_strips)
        return;
    while ((number = __atomic_fetch_add(&p->strip, 1, __ATOMIC_RELAXED)) < p->n_strips) {
        pack_strip(p, matrix, number);
        __atomic_fetch_add(&p->strips_done, 1, __ATOMIC_RELEASE);
    }
    while (__atomic_load_n(&p->strips_done, __ATOMIC_ACQUIRE) < p->n_strips)
        sched_yield();
}

struct packed *gemm_pack(struct version *v, const struct pack_key *key, struct gemm_pool *pool)
{
    struct packed *p = packed_of(v, key, pool);

    if (p)
        pack(p, v->bytes + key->offset);
    return p;
}
