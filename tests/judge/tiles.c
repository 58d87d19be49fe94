/* tiles.c -- transactions of several runs: how they are cut, and what their memory moves, after
 * docs/model.md "Tiles". */
#include "l2.h"
#include "events.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that lie together, until they have a part. */
struct stretch {
    struct judge_end memory;
    uint64_t offset, nbytes, address;
};

/* The part of a packet in a memory, or a new one at the end. */
static struct judge_piece *part_for(struct judge_piece **parts, size_t *n, uint64_t packet,
                                    const struct stretch *at)
{
    for (size_t i = 0; i < *n; i++) {
        struct judge_piece *part = &(*parts)[i];

        if (part->packet == packet && part->memory.kind == at->memory.kind &&
            part->memory.sip == at->memory.sip && part->memory.cube == at->memory.cube &&
            part->memory.unit == at->memory.unit)
            return part;
    }
    *parts = judge_grow(*parts, *n + 1, sizeof **parts);
    (*parts)[*n] = (struct judge_piece){
        .memory = at->memory, .offset = at->offset, .packet = packet, .lowest = at->address};
    return &(*parts)[(*n)++];
}

static void add_stretch(struct judge_piece *part, const struct stretch *at, uint64_t nbytes)
{
    part->runs = judge_grow(part->runs, part->n_runs + 1, sizeof *part->runs);
    part->runs[part->n_runs++] = (struct judge_stretch){at->offset, nbytes};
    part->nbytes += nbytes;
    if (at->address < part->lowest)
        part->lowest = at->address;
}

/* A stretch goes to parts, cut where a packet is full. */
static void cut_stretch(struct judge_piece **parts, size_t *n, uint64_t packet, uint64_t *done,
                        struct stretch at)
{
    while (at.nbytes > 0) {
        uint64_t number = packet ? *done / packet : 0, bytes = at.nbytes;

        if (packet && packet - *done % packet < bytes)
            bytes = packet - *done % packet;
        add_stretch(part_for(parts, n, number, &at), &at, bytes);
        at.offset += bytes;
        at.address += bytes;
        at.nbytes -= bytes;
        *done += bytes;
    }
}

static int by_packet_and_address(const void *a, const void *b)
{
    const struct judge_piece *x = a, *y = b;

    if (x->packet != y->packet)
        return x->packet < y->packet ? -1 : 1;
    return x->lowest < y->lowest ? -1 : x->lowest > y->lowest;
}

/* All stretches of a run. False: it leaves its memory, or its addresses. */
static bool cut_run(const struct judge_topo *t, const struct judge_end *memory, uint64_t packet,
                    struct judge_stretch run, uint64_t *done, struct judge_piece **parts, size_t *n)
{
    struct judge_piece *of = NULL;
    uint64_t address = run.at;
    size_t n_of = 0;

    if (memory && run.at + run.nbytes > judge_memory_bytes(t, memory))
        return false;
    if (memory) {
        cut_stretch(parts, n, packet, done, (struct stretch){*memory, run.at, run.nbytes, run.at});
        return true;
    }
    n_of = judge_split(t, run.at, run.nbytes, &of);
    for (size_t i = 0; i < n_of; i++) {
        cut_stretch(parts, n, packet, done,
                    (struct stretch){of[i].memory, of[i].offset, of[i].nbytes, address});
        address += of[i].nbytes;
    }
    free(of);
    return n_of > 0;
}

size_t judge_cut_runs(const struct judge_topo *t, const struct judge_end *pe,
                      const struct judge_end *memory, const struct judge_stretch *runs,
                      size_t n_runs, struct judge_piece **parts)
{
    uint64_t packet = judge_packet_bytes(t, pe), done = 0;
    size_t n = 0;

    *parts = NULL;
    for (size_t i = 0; i < n_runs; i++) {
        struct judge_stretch run = runs[i];

        while (i + 1 < n_runs && runs[i + 1].at == run.at + run.nbytes)
            run.nbytes += runs[++i].nbytes;
        if (!cut_run(t, memory, packet, run, &done, parts, &n)) {
            judge_free_parts(*parts, n);
            *parts = NULL;
            return 0;
        }
    }
    qsort(*parts, n, sizeof **parts, by_packet_and_address);
    return n;
}

bool judge_is_tile(const struct judge_row *row)
{
    return row->rows >= 2 && row->stride != row->nbytes / row->rows;
}

size_t judge_cut_row(const struct judge_topo *t, const struct judge_row *row,
                     struct judge_piece **parts)
{
    bool host = row->op == JUDGE_H2D || row->op == JUDGE_D2H;
    bool addresses =
        row->by_address && judge_count(t, "addressing.granule") > 0 && row->dst.kind == JUDGE_SLICE;
    struct judge_piece whole = {.memory = row->dst, .offset = row->offset, .nbytes = row->nbytes};
    struct judge_stretch *runs;
    size_t n;

    if (row->n_targets) {
        *parts = judge_alloc(row->n_targets, sizeof **parts);
        for (size_t i = 0; i < row->n_targets; i++)
            (*parts)[i] = (struct judge_piece){
                .memory = row->targets[i], .offset = row->offset, .nbytes = row->nbytes};
        return row->n_targets;
    }
    if (judge_goes_to_l2(t, &row->src, &row->dst) && !host) {
        bool by_address = row->by_address && addresses;
        size_t n_rows = judge_is_tile(row) ? row->rows : 1;

        runs = judge_alloc(n_rows, sizeof *runs);
        for (size_t i = 0; i < n_rows; i++)
            runs[i] = (struct judge_stretch){
                (by_address ? row->address : row->offset) + i * row->stride, row->nbytes / n_rows};
        n = judge_cut_to_l2(t, &row->src, by_address ? NULL : &row->dst, runs, n_rows, parts);
        free(runs);
        return n;
    }
    if (!judge_is_tile(row))
        return judge_cut(t, host ? NULL : &row->src, &whole, row->by_address ? &row->address : NULL,
                         parts);
    runs = judge_alloc(row->rows, sizeof *runs);
    for (uint32_t i = 0; i < row->rows; i++)
        runs[i] = (struct judge_stretch){(addresses ? row->address : row->offset) + i * row->stride,
                                         row->nbytes / row->rows};
    n = judge_cut_runs(t, &row->src, addresses ? NULL : &row->dst, runs, row->rows, parts);
    free(runs);
    return n;
}

void judge_free_parts(struct judge_piece *parts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(parts[i].runs);
    free(parts);
}

uint64_t judge_moved_bytes(const struct judge_topo *t, const struct judge_piece *part)
{
    const struct judge_end *at = &part->memory;
    const struct judge_stretch one = {part->offset, part->nbytes};
    uint64_t block = 0, blocks = 0, last = UINT64_MAX;

    if (at->kind == JUDGE_SLICE)
        block = judge_cube_count(t, at->sip, at->cube, "cube.hbm.access_bytes");
    if (block == 0)
        return part->nbytes;
    for (size_t i = 0; i < part->n_runs || i == 0; i++) {
        struct judge_stretch run = part->n_runs ? part->runs[i] : one;

        for (uint64_t b = run.at / block; b * block < run.at + run.nbytes; b++) {
            blocks += b != last;
            last = b;
        }
    }
    return blocks * block;
}

int64_t judge_drain_fs(const struct judge_topo *t, const struct judge_end *pe, bool write,
                       const struct judge_piece *part, double gbs, bool *too_late)
{
    int64_t fs = judge_transfer_fs(part->nbytes, gbs, too_late), other;
    bool to_l2 = part->memory.kind == JUDGE_L2;
    size_t n_runs = to_l2 ? part->n_own : part->n_runs;

    if (pe && n_runs > 1) {
        double run_ns = judge_cube_number(t, pe->sip, pe->cube, "cube.pe.pe_dma.run_ns");

        other = judge_transfer_fs(to_l2 ? part->last_own : part->runs[part->n_runs - 1].nbytes, gbs,
                                  too_late);
        if (run_ns > 0)
            other += (int64_t)(n_runs - 1) * llround(run_ns * 1e6);
        fs = other > fs ? other : fs;
    }
    if (part->memory.kind != JUDGE_SLICE ||
        judge_cube_count(t, part->memory.sip, part->memory.cube, "cube.hbm.access_bytes") == 0 ||
        judge_has_cache(t, &part->memory))
        return fs;
    other = judge_transfer_fs(judge_moved_bytes(t, part), judge_own_gbs(t, &part->memory, write),
                              too_late);
    return other > fs ? other : fs;
}
