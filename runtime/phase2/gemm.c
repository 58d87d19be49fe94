/* gemm.c -- products of matrices by the inner loops of BLIS, on operands packed once. */
#include "phase2/gemm.h"
#include "data/cast.h"
#include "phase2/math_op.h"
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#if defined(__x86_64__) && !defined(KB_NO_BLIS)
#define WITH_BLIS 1
#include <blis-serial/blis.h>
#else
#define WITH_BLIS 0
#endif

/*
 * Only the innermost loops of BLIS are called, its "micro-kernels": a tile of C that fits the
 * registers, from a panel of each operand. The loops around them and the packing are ours: so
 * operands stay packed while they are used again, small products do not pay for BLIS's interface,
 * nothing is set up at the start, and the configuration is that of the processor, by its features
 * (BLIS 0.9 goes by brand strings).                                            limits.md, section 6
 */

/* K is cut into blocks of this many. The same everywhere: results depend on it. */
enum { KC = 256 };

/* -- tiles ---------------------------------------------------------------------------------- */

/*
 * One tile: c[i * rs + j * cs] = sum over k of x[k * mr + i] * y[k * nr + j], added to c if `add`;
 * i < m <= mr, j < n <= nr. `x_next`, `y_next`: panels that are likely to be next.
 */
struct tile {
    int64_t m, n, k;
    const void *x, *y, *x_next, *y_next;
    bool add;
    void *c;
    int64_t rs, cs;
};

/* How tiles are computed on this processor. */
struct kernel {
    void (*run)(const struct tile *t);
    uint16_t mr, nr;  /* widths of panels */
    uint16_t x_block; /* panels of x that stay in the second-level cache, with their block of K */
    bool turned;      /* x is the right operand: registers lie along the rows of C */
};

/* Plain loops: integers always, floats where there is no BLIS. The columns of a tile are a vector.
 */
enum { PLAIN_MR = 6, VECTOR = 64 };
typedef uint32_t u32_vector __attribute__((vector_size(VECTOR)));
typedef uint64_t u64_vector __attribute__((vector_size(VECTOR)));

static void put_tile(const struct tile *t, const void *sums, size_t row_bytes, size_t bytes)
{
    for (int64_t i = 0; i < t->m; i++)
        for (int64_t j = 0; j < t->n; j++)
            memcpy((char *)t->c + (i * t->rs + j * t->cs) * (int64_t)bytes,
                   (const char *)sums + (size_t)i * row_bytes + (size_t)j * bytes, bytes);
}

#define INTEGER_TILE(NAME, T)                                                                      \
    static inline __attribute__((always_inline)) void NAME##_body(const struct tile *t)            \
    {                                                                                              \
        T##_vector sums[PLAIN_MR] = {{0}};                                                         \
        const T##_vector *y = t->y;                                                                \
        const T *x = t->x;                                                                         \
                                                                                                   \
        for (int64_t k = 0; k < t->k; k++, x += PLAIN_MR, y++)                                     \
            for (int i = 0; i < PLAIN_MR; i++)                                                     \
                sums[i] += x[i] * *y;                                                              \
        if (t->add)                                                                                \
            for (int64_t i = 0; i < t->m; i++)                                                     \
                for (int64_t j = 0; j < t->n; j++)                                                 \
                    sums[i][j] += ((const T *)t->c)[i * t->rs + j * t->cs];                        \
        put_tile(t, sums, VECTOR, sizeof(T));                                                      \
    }                                                                                              \
    static void NAME(const struct tile *t)                                                         \
    {                                                                                              \
        NAME##_body(t);                                                                            \
    }

typedef uint32_t u32;
typedef uint64_t u64;
INTEGER_TILE(tile_u32, u32)
INTEGER_TILE(tile_u64, u64)

/* Where the processor multiplies and adds with one rounding, results are those of BLIS. */
#define FLOAT_TILE(NAME, T, NR, MULTIPLY_ADD)                                                      \
    static void NAME(const struct tile *t)                                                         \
    {                                                                                              \
        T sums[PLAIN_MR][NR] = {{0}};                                                              \
        const T *x = t->x, *y = t->y;                                                              \
                                                                                                   \
        for (int64_t k = 0; k < t->k; k++, x += PLAIN_MR, y += NR)                                 \
            for (int i = 0; i < PLAIN_MR; i++)                                                     \
                for (int j = 0; j < NR; j++)                                                       \
                    sums[i][j] = MULTIPLY_ADD(x[i], y[j], sums[i][j]);                             \
        if (t->add)                                                                                \
            for (int64_t i = 0; i < t->m; i++)                                                     \
                for (int64_t j = 0; j < t->n; j++)                                                 \
                    sums[i][j] += ((const T *)t->c)[i * t->rs + j * t->cs];                        \
        put_tile(t, sums, sizeof sums[0], sizeof(T));                                              \
    }

#ifdef FP_FAST_FMA
#define MULTIPLY_ADD_F64(x, y, z) fma(x, y, z)
#else
#define MULTIPLY_ADD_F64(x, y, z) ((x) * (y) + (z))
#endif
#ifdef FP_FAST_FMAF
#define MULTIPLY_ADD_F32(x, y, z) fmaf(x, y, z)
#else
#define MULTIPLY_ADD_F32(x, y, z) ((x) * (y) + (z))
#endif
FLOAT_TILE(tile_f32, float, 16, MULTIPLY_ADD_F32)
FLOAT_TILE(tile_f64, double, 8, MULTIPLY_ADD_F64)

#ifdef __x86_64__
#define AVX2   __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f,avx512dq")))

AVX2 static void tile_u32_avx2(const struct tile *t)
{
    tile_u32_body(t);
}

AVX2 static void tile_u64_avx2(const struct tile *t)
{
    tile_u64_body(t);
}

AVX512 static void tile_u32_avx512(const struct tile *t)
{
    tile_u32_body(t);
}

AVX512 static void tile_u64_avx512(const struct tile *t)
{
    tile_u64_body(t);
}
#endif

#if WITH_BLIS
#define BLIS_TILE(NAME, T, CALL)                                                                   \
    static void NAME(const struct tile *t)                                                         \
    {                                                                                              \
        T one = 1, beta = t->add;                                                                  \
        auxinfo_t next = {.a_next = (void *)(uintptr_t)t->x_next,                                  \
                          .b_next = (void *)(uintptr_t)t->y_next};                                 \
                                                                                                   \
        CALL(t->m, t->n, t->k, &one, (void *)(uintptr_t)t->x, (void *)(uintptr_t)t->y, &beta,      \
             t->c, t->rs, t->cs, &next, NULL);                                                     \
    }

BLIS_TILE(tile_f32_skx, float, bli_sgemm_skx_asm_32x12_l2)
BLIS_TILE(tile_f64_skx, double, bli_dgemm_skx_asm_16x14)
BLIS_TILE(tile_f32_haswell, float, bli_sgemm_haswell_asm_6x16)
BLIS_TILE(tile_f64_haswell, double, bli_dgemm_haswell_asm_6x8)
#endif

/* -- which of them -------------------------------------------------------------------------- */

#ifdef __x86_64__
enum level { LEVEL_PLAIN, LEVEL_AVX2, LEVEL_AVX512 };

/* By what the processor can do; under valgrind that is less than it can. */
static enum level level(void)
{
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return LEVEL_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return LEVEL_AVX2;
    return LEVEL_PLAIN;
}
#endif

const char *kb_compute_backend(void)
{
#if WITH_BLIS
    static const char *const names[] = {"plain loops", "BLIS 0.9.0 haswell", "BLIS 0.9.0 skx"};

    return names[level()];
#else
    return "plain loops";
#endif
}

static struct kernel float_kernel(bool is_f64)
{
#if WITH_BLIS
    static const struct kernel skx[] = {{tile_f32_skx, 32, 12, 15, true},
                                        {tile_f64_skx, 16, 14, 15, true}};
    static const struct kernel haswell[] = {{tile_f32_haswell, 6, 16, 28, false},
                                            {tile_f64_haswell, 6, 8, 12, false}};

    if (level() == LEVEL_AVX512)
        return skx[is_f64];
    if (level() == LEVEL_AVX2)
        return haswell[is_f64];
#endif
    return is_f64 ? (struct kernel){tile_f64, PLAIN_MR, 8, 12, false}
                  : (struct kernel){tile_f32, PLAIN_MR, 16, 24, false};
}

static struct kernel integer_kernel(bool is_u64)
{
    struct kernel k = is_u64 ? (struct kernel){tile_u64, PLAIN_MR, 8, 12, false}
                             : (struct kernel){tile_u32, PLAIN_MR, 16, 24, false};

#ifdef __x86_64__
    if (level() == LEVEL_AVX512)
        k.run = is_u64 ? tile_u64_avx512 : tile_u32_avx512;
    else if (level() == LEVEL_AVX2)
        k.run = is_u64 ? tile_u64_avx2 : tile_u32_avx2;
#endif
    return k;
}

static struct kernel kernel_of(kb_dtype lane)
{
    if (dtype_is_float(lane))
        return float_kernel(lane == KB_F64);
    return integer_kernel(lane == KB_U64);
}

/* -- memory for it -------------------------------------------------------------------------- */

/* ALIGN: a cache line, and what tiles may expect. */
enum { ALIGN = 64, HUGE_PAGE = 2 << 20, POOL_BLOCKS = 64, POOL_BYTES = 256 << 20 };

struct block {
    void *at;
    size_t nbytes;
};

struct gemm_pool {
    pthread_mutex_t lock;
    uint32_t n;
    size_t nbytes;
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

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static struct block block_new(size_t nbytes)
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

/* Of the latest, whose bytes may still be cached, one that is not twice too large. */
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
    return b.at ? b : block_new(nbytes);
}

static void pool_give(struct gemm_pool *pool, struct block b)
{
    struct block out = {NULL, 0};

    if (!pool) {
        free(b.at);
        return;
    }
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

/*
 * A matrix as tiles take it: for each block of K, panels of `width` along the other extent, in
 * each panel the elements of one k side by side; zeros beyond the last.
 */
struct pack_key {
    uint64_t offset; /* in the version */
    uint32_t extent, k;
    int64_t stride, k_stride; /* elements; one of them is 1 */
    uint8_t dtype, lane;      /* kb_dtype: as stored, as packed */
    uint16_t width;
};

struct packed {
    struct version_packed head;      /* first */
    struct version_packed *child[4]; /* owned: others of the same version, see packed_place() */
    struct gemm_pool *pool;          /* borrowed: where its memory goes back to */
    size_t nbytes;                   /* of its allocation */
    struct pack_key key;
    uint32_t n_strips;
    uint32_t strip, strips_done; /* atomic: the next one to be packed; how many are */
    unsigned char *lanes;        /* in the same allocation */
};

enum {
    READ_AHEAD =
        512,     /* tiles load a little of the next panel before they know that there is none */
    STRIP = 128, /* a thread packs so many rows at a time */
    WIDEST = 32,
    ROWS_AHEAD = 8,
};

static size_t lane_bytes(const struct pack_key *key)
{
    return kb_dtype_bytes((kb_dtype)key->lane);
}

static uint32_t panels(const struct pack_key *key)
{
    return (key->extent + key->width - 1) / key->width;
}

static uint32_t strip_panels(const struct pack_key *key)
{
    return STRIP / key->width;
}

static uint32_t strips_of_block(const struct pack_key *key)
{
    return (panels(key) + strip_panels(key) - 1) / strip_panels(key);
}

/* Panel `panel` of the block that begins at `k`. */
static unsigned char *panel_at(const struct packed *p, uint32_t panel, uint32_t k)
{
    uint32_t kc = p->key.k - k < KC ? p->key.k - k : KC;
    size_t lanes = ((size_t)panels(&p->key) * k + (size_t)panel * kc) * p->key.width;

    return p->lanes + lanes * lane_bytes(&p->key);
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

/*
 * The place of `key` among what is packed of a version, or where it is to be put. It is a tree:
 * at each level two bits of the hash say which way. Nothing is taken out, so threads need no lock.
 */
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

/* What is packed of `v`, made if there is none; another thread may be making it too. */
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

/* Some panels of one block of K, on their way from a matrix into what is packed. */
struct strip {
    const struct pack_key *key;
    const unsigned char *from; /* element (0, 0) of the strip */
    unsigned char *to;
    uint32_t rows; /* of the matrix, in all panels */
    uint32_t kc;
};

typedef uint32_t four __attribute__((vector_size(16), aligned(4), may_alias));

/* Four rows of four become four columns. */
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

/* Rows of a large matrix lie pages apart, which the processor does not follow by itself. */
static void fetch(const unsigned char *at, size_t nbytes)
{
    for (size_t i = 0; i < nbytes; i += ALIGN)
        __builtin_prefetch(at + i);
}

/* One panel of 4-byte lanes, from rows along k: columns of the panel by fours. */
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

/* From rows whose elements lie side by side along k. */
static void pack_along_k(const struct strip *s)
{
    const struct pack_key *key = s->key;
    size_t from_bytes = kb_dtype_bytes((kb_dtype)key->dtype), bytes = lane_bytes(key);
    static const uint64_t zeros[KC];
    _Alignas(ALIGN) uint64_t converted[WIDEST][KC];
    const void *rows[WIDEST];

    for (uint32_t done = 0; done < s->rows; done += key->width) {
        for (uint32_t i = 0; i < key->width; i++) {
            const unsigned char *row =
                s->from + (int64_t)(done + i) * key->stride * (int64_t)from_bytes;
            rows[i] = done + i >= s->rows ? (const void *)zeros : row;
            if (done + i + key->width < s->rows)
                fetch(row + (int64_t)key->width * key->stride * (int64_t)from_bytes,
                      s->kc * from_bytes);
            if (done + i < s->rows && key->dtype != key->lane) {
                cast_elements((kb_dtype)key->lane, converted[i], (kb_dtype)key->dtype, row, s->kc);
                rows[i] = converted[i];
            }
        }
        turn_panel(s->to + (size_t)done * s->kc * bytes, rows, key->width, s->kc, bytes);
    }
}

/* By sixteens, as long as there are; a length that is known needs no loop and no call. */
static inline __attribute__((always_inline)) void copy_row(unsigned char *to,
                                                           const unsigned char *from, size_t n)
{
    size_t i = 0;

    for (; i + sizeof(four) <= n; i += sizeof(four))
        *(four *)(to + i) = *(const four *)(from + i);
    memcpy(to + i, from + i, n - i);
}

/* `n` bytes of one k into as many panels as they reach. */
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

/* From columns: the elements of one k lie side by side. */
static void pack_across_k(const struct strip *s)
{
    const struct pack_key *key = s->key;
    size_t from_bytes = kb_dtype_bytes((kb_dtype)key->dtype), bytes = lane_bytes(key);
    size_t n = s->rows * bytes, row_bytes = key->width * bytes, panel_bytes = s->kc * row_bytes;
    _Alignas(ALIGN) uint64_t converted[STRIP];

    for (uint32_t k = 0; k < s->kc; k++) {
        const unsigned char *row = s->from + (int64_t)k * key->k_stride * (int64_t)from_bytes;
        unsigned char *to = s->to + k * row_bytes;

        if (k + ROWS_AHEAD < s->kc)
            fetch(row + ROWS_AHEAD * key->k_stride * (int64_t)from_bytes, s->rows * from_bytes);
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
        .from = matrix + element * (int64_t)kb_dtype_bytes((kb_dtype)key->dtype),
        .to = panel_at(p, panel, k),
        .rows = key->extent - first < most ? key->extent - first : most,
        .kc = key->k - k < KC ? key->k - k : KC,
    };

    if (key->k_stride == 1)
        pack_along_k(&s);
    else
        pack_across_k(&s);
}

/* Returns when all is packed, by this thread and others. */
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

static struct packed *packed_operand(const struct op_tensor *t, struct pack_key *key,
                                     struct gemm_pool *pool)
{
    struct packed *p;

    key->offset = t->view.offset;
    key->dtype = t->dtype;
    p = packed_of(t->view.v, key, pool);
    if (p)
        pack(p, t->view.v->bytes + t->view.offset);
    return p;
}

/* -- a product ------------------------------------------------------------------------------ */

static struct gemm_lie lie(bool transposed, bool column_major, uint32_t rows, uint32_t columns)
{
    struct gemm_lie stored = {transposed ? rows : columns, 1};

    if (column_major)
        stored = (struct gemm_lie){1, transposed ? columns : rows};
    return transposed ? (struct gemm_lie){stored.column, stored.row} : stored;
}

void gemm_lies(const struct op *op, struct gemm_lie *a, struct gemm_lie *b, struct gemm_lie *out)
{
    *a = lie(op->transpose_a, op->col_a, op->m, op->k);
    *b = lie(op->transpose_b, op->col_b, op->k, op->n);
    *out = lie(false, op->col_out, op->m, op->n);
}

kb_dtype gemm_lane(const struct op *op)
{
    kb_dtype in = (kb_dtype)op->in[0].dtype, acc = (kb_dtype)op->dtype_acc;

    if (dtype_is_float(in))
        return in == KB_F64 || acc == KB_F64 ? KB_F64 : KB_F32;
    if (dtype_is_float((kb_dtype)op->out.dtype) || kb_dtype_bytes(acc) == 8)
        return KB_U64;
    return kb_dtype_bytes((kb_dtype)op->out.dtype) == 8 ? KB_U64 : KB_U32;
}

/* Rows and columns of the result as it lies: a column-major one is computed transposed. */
struct product {
    const struct op *op;
    kb_dtype lane;
    struct kernel kernel;
    uint32_t rows, columns;
    const struct op_tensor *left, *right;
    struct pack_key left_key, right_key;
};

static struct pack_key pack_key(kb_dtype lane, uint32_t extent, uint32_t k, int64_t stride,
                                int64_t k_stride)
{
    return (struct pack_key){.lane = (uint8_t)lane,
                             .extent = extent,
                             .k = k,
                             .stride = k_stride == 1 ? stride : 1,
                             .k_stride = k_stride};
}

static struct product product_of(const struct op *op)
{
    struct product p = {.op = op, .lane = gemm_lane(op)};
    struct gemm_lie a, b, out;
    struct pack_key a_key, b_key;

    gemm_lies(op, &a, &b, &out);
    a_key = pack_key(p.lane, op->m, op->k, a.row, a.column);
    b_key = pack_key(p.lane, op->n, op->k, b.column, b.row);
    p.kernel = kernel_of(p.lane);
    p.rows = op->col_out ? op->n : op->m;
    p.columns = op->col_out ? op->m : op->n;
    p.left = &op->in[op->col_out];
    p.right = &op->in[!op->col_out];
    p.left_key = op->col_out ? b_key : a_key;
    p.right_key = op->col_out ? a_key : b_key;
    p.left_key.width = p.kernel.turned ? p.kernel.nr : p.kernel.mr;
    p.right_key.width = p.kernel.turned ? p.kernel.mr : p.kernel.nr;
    return p;
}

/* Parts have about this many multiplications, and at least so many rows: the right operand is read
 * for each. */
enum { PART_WORK = 1 << 24, PART_ROWS = 192 };

static uint32_t n_parts(const struct product *p)
{
    uint64_t row_work = (uint64_t)p->columns * p->op->k;
    uint64_t rows = PART_WORK / row_work > PART_ROWS ? PART_WORK / row_work : PART_ROWS;

    return (uint32_t)((p->rows + rows - 1) / rows);
}

uint32_t gemm_parts(const struct op *op)
{
    struct product p = product_of(op);

    return n_parts(&p);
}

/* Where part `part` of `n` begins: parts are whole panels, as even as can be. */
static uint32_t part_begin(const struct product *p, uint32_t part, uint32_t n)
{
    uint64_t row = (uint64_t)part * panels(&p->left_key) / n * p->left_key.width;

    return row < p->rows ? (uint32_t)row : p->rows;
}

/* Panels [first, end) of both operands, and where their tiles go. */
struct range {
    const struct packed *x, *y;
    uint32_t x_first, x_end, y_first, y_end;
    unsigned char *c; /* of the tile of the first panels */
    int64_t rs, cs;   /* elements */
    struct gemm_room *room;
};

/* As much as comes from memory while a tile of a small product is computed. */
enum { AHEAD_BYTES = 4096 };

static void fetch_ahead(struct gemm_room *room)
{
    size_t most = AHEAD_BYTES;

    for (int i = 0; i < 3; i++)
        for (struct gemm_ahead *a = &room->ahead[i]; a->at < a->end && most; most -= ALIGN) {
            __builtin_prefetch(a->at, 0, 2);
            a->at += ALIGN;
        }
}

static uint32_t at_most(uint32_t n, uint32_t most)
{
    return n < most ? n : most;
}

/* One block of K times some panels of x that stay cached while all of y passes. */
static void multiply_block(const struct kernel *kernel, const struct range *r, uint32_t k,
                           uint32_t x_first, uint32_t x_end)
{
    const struct pack_key *xk = &r->x->key, *yk = &r->y->key;
    size_t bytes = lane_bytes(xk), x_panel, y_panel;
    struct tile t = {.k = at_most(xk->k - k, KC), .add = k > 0, .rs = r->rs, .cs = r->cs};

    x_panel = (size_t)t.k * xk->width * bytes;
    y_panel = (size_t)t.k * yk->width * bytes;
    for (uint32_t j = r->y_first; j < r->y_end; j++) {
        t.y = panel_at(r->y, j, k);
        t.n = at_most(yk->extent - j * yk->width, yk->width);
        for (uint32_t i = x_first; i < x_end; i++) {
            t.x = panel_at(r->x, i, k);
            t.m = at_most(xk->extent - i * xk->width, xk->width);
            t.x_next =
                i + 1 < x_end ? (const unsigned char *)t.x + x_panel : panel_at(r->x, x_first, k);
            t.y_next =
                i + 1 < x_end || j + 1 == r->y_end ? t.y : (const unsigned char *)t.y + y_panel;
            t.c = r->c + ((int64_t)(i - r->x_first) * xk->width * r->rs +
                          (int64_t)(j - r->y_first) * yk->width * r->cs) *
                             (int64_t)bytes;
            fetch_ahead(r->room);
            kernel->run(&t);
        }
    }
}

/* K innermost: the part of C that a block of x makes stays cached while it is added to. */
static void multiply(const struct kernel *kernel, const struct range *r)
{
    for (uint32_t i = r->x_first; i < r->x_end; i += kernel->x_block)
        for (uint32_t k = 0; k < r->x->key.k; k += KC)
            multiply_block(kernel, r, k, i, at_most(r->x_end, i + kernel->x_block));
}

/* Rows [first, end) of the result, into lanes at `c`, row-major. */
static void multiply_rows(const struct product *p, const struct packed *left,
                          const struct packed *right, uint32_t first, uint32_t end, void *c,
                          struct gemm_room *room)
{
    uint32_t left_first = first / left->key.width;
    uint32_t left_end = (end + left->key.width - 1) / left->key.width;
    struct range r = {
        .x = left,
        .y = right,
        .x_first = left_first,
        .x_end = left_end,
        .y_end = panels(&right->key),
        .c = c,
        .rs = p->columns,
        .cs = 1,
    };

    if (p->kernel.turned)
        r = (struct range){
            .x = right,
            .y = left,
            .x_end = panels(&right->key),
            .y_first = left_first,
            .y_end = left_end,
            .c = c,
            .rs = 1,
            .cs = p->columns,
        };
    r.room = room;
    multiply(&p->kernel, &r);
}

/* -- after the product ---------------------------------------------------------------------- */

/* What the sums are, before epilogues: unsigned lanes hold integers of the accumulator's sign. */
static kb_dtype sums_dtype(const struct product *p)
{
    kb_dtype acc = (kb_dtype)p->op->dtype_acc;

    if (dtype_is_float(p->lane))
        return p->lane;
    if (!dtype_is_float(acc) && kb_dtype_bytes(acc) == kb_dtype_bytes(p->lane))
        return acc;
    if (p->lane == KB_U64)
        return dtype_is_signed((kb_dtype)p->op->in[0].dtype) ? KB_I64 : KB_U64;
    return dtype_is_signed((kb_dtype)p->op->in[0].dtype) ? KB_I32 : KB_U32;
}

/* The lanes are the result. */
static bool is_plain(const struct product *p)
{
    return !p->op->n_epilogues && sums_dtype(p) == (kb_dtype)p->op->out.dtype;
}

/* The part of an epilogue's operand that meets one row of the result as it lies. */
static struct math_lane epilogue_lane(const struct product *p, const struct op_tensor *t,
                                      uint32_t row)
{
    struct math_lane lane = {.dtype = (kb_dtype)t->dtype, .scalar = t->scalar};
    uint32_t rank = t->shape.rank;
    uint32_t last = rank > 0 ? t->shape.dim[rank - 1] : 1;
    int64_t down = rank > 1 && t->shape.dim[rank - 2] > 1 ? last : 0, along = last > 1;

    if (t->is_scalar)
        return lane;
    lane.stride = p->op->col_out ? down : along;
    lane.at = t->view.v->bytes + t->view.offset +
              (size_t)row * (size_t)(p->op->col_out ? along : down) * kb_dtype_bytes(lane.dtype);
    return lane;
}

/* Into a type of no more bytes; what is read is ahead of what is written. */
static void cast_in_place(kb_dtype to, kb_dtype from, unsigned char *at, size_t n)
{
    size_t to_bytes = kb_dtype_bytes(to), from_bytes = kb_dtype_bytes(from), chunk;
    uint64_t copy[64];

    for (size_t i = 0; i < n; i += chunk) {
        chunk = n - i < 64 ? n - i : 64;
        memcpy(copy, at + i * from_bytes, chunk * from_bytes);
        cast_elements(to, at + i * to_bytes, from, copy, chunk);
    }
}

static void epilogues(const struct product *p, kb_dtype dtype, unsigned char *sums, uint32_t row)
{
    for (uint32_t e = 0; e < p->op->n_epilogues; e++) {
        const struct op_epilogue *ep = &p->op->epilogue[e];
        struct math_lane in[3] = {{.at = sums, .stride = 1, .dtype = dtype}};

        for (uint32_t i = 0; i < ep->n_operands; i++)
            in[1 + i] = epilogue_lane(p, &ep->operand[i], row);
        math_elements((enum tl_op)ep->math, dtype, in, dtype, sums, p->columns);
    }
}

/* Rows of lanes become rows of the result, rounded once; `sums` is used up. */
static void finish_rows(const struct product *p, unsigned char *sums, uint32_t first, uint32_t end,
                        unsigned char *out)
{
    kb_dtype lanes = sums_dtype(p), acc = (kb_dtype)p->op->dtype_acc;
    kb_dtype to = (kb_dtype)p->op->out.dtype;
    size_t bytes = kb_dtype_bytes(p->lane), to_bytes = kb_dtype_bytes(to);
    bool in_acc = p->op->n_epilogues && acc != lanes;

    for (uint32_t row = first; row < end; row++) {
        unsigned char *sum = sums + (size_t)(row - first) * p->columns * bytes;
        unsigned char *place = out + (size_t)row * p->columns * to_bytes;

        if (in_acc)
            cast_in_place(acc, lanes, sum, p->columns);
        epilogues(p, in_acc ? acc : lanes, sum, row);
        cast_elements(to, place, in_acc ? acc : lanes, sum, p->columns);
    }
}

/* -- parts ---------------------------------------------------------------------------------- */

static bool room_for(struct gemm_room *room, size_t nbytes)
{
    struct block b;

    if (room->nbytes >= nbytes)
        return true;
    b = block_new(nbytes);
    if (!b.at)
        return false;
    free(room->bytes);
    room->bytes = b.at;
    room->nbytes = b.nbytes;
    return true;
}

void gemm_room_free(struct gemm_room *room)
{
    free(room->bytes);
    room->bytes = NULL;
    room->nbytes = 0;
}

bool gemm_part(const struct op *op, uint32_t part, unsigned char *out, struct gemm_room *room)
{
    struct product p = product_of(op);
    uint32_t n = n_parts(&p), first = part_begin(&p, part, n), end = part_begin(&p, part + 1, n);
    size_t bytes = kb_dtype_bytes(p.lane);
    struct packed *left = packed_operand(p.left, &p.left_key, room->pool);
    struct packed *right = left ? packed_operand(p.right, &p.right_key, room->pool) : NULL;

    if (!right)
        return false;
    if (is_plain(&p)) {
        multiply_rows(&p, left, right, first, end, out + (size_t)first * p.columns * bytes, room);
        return true;
    }
    if (!room_for(room, (size_t)(end - first) * p.columns * bytes))
        return false;
    multiply_rows(&p, left, right, first, end, room->bytes, room);
    finish_rows(&p, room->bytes, first, end, out);
    return true;
}
