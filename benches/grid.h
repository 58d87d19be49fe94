/* grid.h -- how a product is cut: a grid of PEs, blocks, steps, and what of it there is room for.
 */
#ifndef GRID_H
#define GRID_H
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "bench_tile.h"

/* A PE has buffers for tiles that others send; it begins to load so many steps ahead; so many of
 * what it has loaded are under way. */
enum { BUFFERS = 3, AHEAD = 2, RING = 4 };

/* How the product is cut; the same for all PEs. */
struct cut {
    int64_t m, n, k, rows, cols; /* of c and of the grid */
    int64_t bm, bn, bk;
    int64_t passes_m, passes_n, steps_k; /* passes over the largest part, steps of one */
    kb_dtype dtype, dtype_c;
    bool multicast;
};

/* What there is room for in a PE, in bytes. */
struct room {
    int64_t tcm, acc;
};

/* How the machine's memories are reached. */
struct reach {
    bool shared;       /* a granule of addresses in each slice of the SIP */
    bool no_multicast; /* behind routers, and over nodes that are components */
};

static inline struct room room_of(const kb_topology *topo)
{
    return (struct room){(int64_t)memory_bytes_of_pes(topo, KB_TCM),
                         (int64_t)kb_pe_acc_bytes(topo, 0)};
}

static inline void take_key(void *arg, const kb_key *key)
{
    struct reach *reach = arg;

    if (strcmp(key->path, "addressing.over") == 0)
        reach->shared = strcmp(key->text, "sip") == 0;
    else if (strcmp(key->path, "contention.links") == 0)
        reach->no_multicast |= strcmp(key->text, "router") == 0;
    else if (strstr(key->path, ".impl") && !strstr(key->path, ".pe."))
        reach->no_multicast |= strcmp(key->text, "builtin") != 0;
}

/* By its keys: this takes as long as to read the machine, so it is for setup(), not for kernels. */
static inline struct reach reach_of(const kb_topology *topo)
{
    struct reach reach = {0};
    kb_endpoint pe = memory_of_pe(topo, KB_PE, 0);

    kb_cube_keys(topo, pe.sip, pe.cube, take_key, &reach);
    return reach;
}

/* Over `pes` PEs in x->rows rows: passes and steps, of what is chosen. */
static inline void count_steps(struct cut *x, int64_t pes)
{
    x->cols = pes / x->rows;
    x->passes_m = parts(parts(x->m, x->rows), x->bm);
    x->passes_n = parts(parts(x->n, x->cols), x->bn);
    x->steps_k = parts(x->k, x->bk);
}

/* How many tiles of an operand a TCM has at once: those that were loaded ahead and are sent, and
 * one that is still read; and where there are others the buffers. */
static inline int64_t tiles_of(int64_t members)
{
    return RING + 1 + (members > 1 ? BUFFERS : 0);
}

static inline int64_t rounded_up(int64_t nbytes)
{
    return parts(nbytes, 64) * 64;
}

/* What tiles and blocks take of a TCM, and the sums of a block of the accumulators. */
static inline struct room needed(const struct cut *x, int64_t bm, int64_t bn, int64_t bk)
{
    int64_t size = (int64_t)kb_dtype_bytes(x->dtype), c = (int64_t)kb_dtype_bytes(x->dtype_c);

    return (struct room){.tcm = tiles_of(x->cols) * rounded_up(bm * bk * size) +
                                tiles_of(x->rows) * rounded_up(bk * bn * size) +
                                2 * rounded_up(bm * bn * c),
                         .acc = bm * bn * (int64_t)kb_dtype_bytes(sum_dtype(x->dtype))};
}

static inline bool fits(const struct cut *x, struct room room, int64_t bm, int64_t bn, int64_t bk)
{
    struct room need = needed(x, bm, bn, bk);

    return need.tcm <= room.tcm && need.acc <= room.acc;
}

/* The largest BK up to `most` that fits; 0: not even 1. */
static inline int64_t most_k(const struct cut *x, struct room room, int64_t most)
{
    int64_t low = 0;

    while (low < most) {
        int64_t middle = (low + most + 1) / 2;

        if (fits(x, room, x->bm, x->bn, middle))
            low = middle;
        else
            most = middle - 1;
    }
    return low;
}

/* The rows of the grid for which a PE has the least of a and b to take. */
static inline int64_t rows_for(const struct cut *x, int64_t pes)
{
    int64_t best = 1, least_sum = INT64_MAX;

    for (int64_t rows = 1; rows <= pes; rows++) {
        int64_t sum = parts(x->m, rows) + parts(x->n, pes / rows);

        if (pes % rows || sum >= least_sum)
            continue;
        best = rows;
        least_sum = sum;
    }
    return best;
}

/* As few blocks of a part as can be, of equal size. */
static inline int64_t even_blocks(int64_t part, int64_t most)
{
    return parts(part, parts(part, most < 1 ? 1 : most));
}

/* A step has so many bytes of both operands, if K has. */
enum { STEP_BYTES = 65536 };

/* Chooses what is 0. Two blocks of c get at most half of the TCM. */
static inline void choose(struct cut *x, struct room room, int64_t pes)
{
    int64_t c = (int64_t)kb_dtype_bytes(x->dtype_c), m, n, bk = 1;
    int64_t sums =
        least(room.acc / (int64_t)kb_dtype_bytes(sum_dtype(x->dtype)), room.tcm / (4 * c));

    if (x->rows == 0)
        x->rows = rows_for(x, pes);
    x->cols = pes / x->rows;
    m = parts(x->m, x->rows);
    n = parts(x->n, x->cols);
    if (x->bm == 0 && x->bn == 0) {
        int64_t side = (int64_t)sqrt((double)sums);

        x->bm = even_blocks(m, side == 0 || n >= side ? side : sums / n);
    }
    if (x->bm == 0)
        x->bm = even_blocks(m, sums / x->bn);
    if (x->bn == 0)
        x->bn = even_blocks(n, sums / x->bm);
    if (x->bk > 0)
        return;
    while (bk < x->k &&
           2 * bk * (x->bm + x->bn) * (int64_t)kb_dtype_bytes(x->dtype) <= STEP_BYTES &&
           fits(x, room, x->bm, x->bn, 2 * bk))
        bk *= 2;
    x->bk = least(bk, x->k);
}

/* "BK=16 fits", or if nothing does what else would, or that nothing does. */
static inline void say_what_fits(char text[64], const char *name, int64_t fit, const char *others,
                                 bool least_fits)
{
    if (fit > 0)
        snprintf(text, 64, "%s=%lld fits", name, (long long)fit);
    else if (least_fits)
        snprintf(text, 64, "no %s fits, smaller ones of %s do", name, others);
    else
        snprintf(text, 64, "not even a block of 1 x 1 fits");
}

/* What does not fit, and what would. */
static inline void refuse(kb_bench_run *run, const char *bench, const struct cut *x,
                          struct room room)
{
    struct room need = needed(x, x->bm, x->bn, x->bk);
    bool least_fits = fits(x, room, 1, 1, 1);
    char text[320], fits_text[64];

    if (need.acc > room.acc) {
        say_what_fits(fits_text, "BM", room.acc / (need.acc / x->bm), "BN", least_fits);
        snprintf(text, sizeof text,
                 "%s: a block of %lld x %lld needs %lld bytes of accumulators, and "
                 "a PE has %lld (cube.pe.pe_gemm.acc_kb): %s",
                 bench, (long long)x->bm, (long long)x->bn, (long long)need.acc,
                 (long long)room.acc, fits_text);
    } else {
        say_what_fits(fits_text, "BK", most_k(x, room, x->bk), "BM and BN", least_fits);
        snprintf(text, sizeof text,
                 "%s: blocks of %lld x %lld in steps of %lld need %lld bytes of a TCM, "
                 "which has %lld: %s",
                 bench, (long long)x->bm, (long long)x->bn, (long long)x->bk, (long long)need.tcm,
                 (long long)room.tcm, fits_text);
    }
    kb_bench_refuse(run, text);
}

/* -- benches of one product ------------------------------------------------------------------ */

enum { SEND_AUTO, SEND_MULTICAST, SEND_EACH };

#define CHOSEN_ARG(name, help)                                                                     \
    {                                                                                              \
        name, KB_ARG_INT, "0", 0, 65536, NULL, help "; 0: chosen"                                  \
    }
#define SEND_ARG                                                                                   \
    {                                                                                              \
        "send", KB_ARG_CHOICE, "auto", 0, 0, "auto multicast each",                                \
            "how a tile goes to all others"                                                        \
    }

/* What the arguments say of a product on `rows` rows of PEs. */
static inline struct cut cut_of(const kb_bench_run *run, int64_t rows)
{
    kb_dtype dtype = kb_bench_dtype(run, "dtype");

    return (struct cut){.m = kb_bench_int(run, "M"),
                        .n = kb_bench_int(run, "N"),
                        .k = kb_bench_int(run, "K"),
                        .rows = rows,
                        .bm = kb_bench_int(run, "BM"),
                        .bn = kb_bench_int(run, "BN"),
                        .bk = kb_bench_int(run, "BK"),
                        .dtype = dtype,
                        .dtype_c = product_dtype(dtype),
                        .multicast = kb_bench_choice(run, "send") == SEND_MULTICAST};
}

static inline void set(kb_bench_run *run, const char *name, int64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%lld", (long long)value);
    kb_bench_set(run, name, text);
}

/* Chooses and sets what the arguments leave open. False: it is refused. */
static inline bool settle(kb_bench_run *run, const char *bench, struct cut *x)
{
    struct room room = room_of(kb_bench_topology(run));
    uint32_t pes = kb_pe_count(kb_bench_topology(run));

    choose(x, room, pes);
    if (!fits(x, room, x->bm, x->bn, x->bk)) {
        refuse(run, bench, x, room);
        return false;
    }
    set(run, "BM", x->bm);
    set(run, "BN", x->bn);
    set(run, "BK", x->bk);
    if (kb_bench_choice(run, "send") == SEND_AUTO)
        kb_bench_set(run, "send",
                     reach_of(kb_bench_topology(run)).no_multicast ? "each" : "multicast");
    return true;
}

static inline void reference_of_product(const kb_bench_run *run, double *const *t)
{
    kb_reference_product(t[0], t[1], t[2], kb_bench_int(run, "M"), kb_bench_int(run, "N"),
                         kb_bench_int(run, "K"));
}

#endif
