/*
 * oplog.c -- what a record of the op log takes: ns and bytes of an append.
 *
 * A load of a tile, with one dependency; the GEMM stage and the DMA_READ stage of a token. In
 * processor time, memory that is touched for the first time included, and again with a limit,
 * beyond which the log goes to a file.
 *
 * usage: oplog RECORDS ROUNDS; samples go to stdout (bench.h)
 */
#include "bench.h"
#include "cube8.h"
#include "record/oplog.h"
#include <stdlib.h>

enum { LIMIT = 64 << 20 };

static void must(bool ok)
{
    if (ok)
        return;
    fprintf(stderr, "oplog: a record was refused\n");
    exit(1);
}

static void add_reads(struct op_log *log, uint32_t n)
{
    struct op op = {.kind = OP_DMA_READ, .n_in = 1};

    op.in[0].dtype = KB_F16;
    op.in[0].shape = (struct dims){2, {32, 64}};
    op.in[0].maker = OP_NONE;
    op.out.space = SPACE_TCM;
    op.depends.n = 1;
    for (uint32_t i = 0; i < n; i++) {
        op.id = op.depends.few[0] = i;
        op.pe = i % 64;
        op.t_issue_fs = i;
        op.in[0].address = (uint64_t)i * 4096;
        must(op_log_add(log, &op, i, i + INT64_C(21085000)));
    }
}

static void add_tokens(struct op_log *log, uint8_t stage, uint32_t n)
{
    struct op_token t = {.stage = stage, .m = 32, .k = 64, .n = 32, .nbytes = 4096};

    for (uint32_t i = 0; i < n; i++) {
        t.id = t.token = t.tile[1] = i;
        t.pe = i % 64;
        must(op_log_add_token(log, &t, i, i + INT64_C(16000000)));
    }
}

static void add_gemm_tokens(struct op_log *log, uint32_t n)
{
    add_tokens(log, STAGE_GEMM, n);
}

static void add_dma_tokens(struct op_log *log, uint32_t n)
{
    add_tokens(log, STAGE_DMA_READ, n);
}

static void measure(const char *name, void (*add)(struct op_log *log, uint32_t n), uint32_t n,
                    uint64_t limit_bytes, int round)
{
    struct op_log *log = op_log_new(&cube8_topology, limit_bytes, false);
    double begin;

    if (!log)
        exit(5);
    begin = bench_processor_ns();
    add(log, n);
    bench_sample(name, limit_bytes ? "append spilled" : "append", "ns", round,
                 (bench_processor_ns() - begin) / n);
    if (!limit_bytes)
        bench_sample(name, "record", "bytes", round, (double)op_log_bytes(log) / n);
    op_log_free(log);
}

int main(int argc, char **argv)
{
    uint32_t n;

    if (argc != 3) {
        fprintf(stderr, "usage: oplog RECORDS ROUNDS\n");
        return 2;
    }
    n = (uint32_t)atoi(argv[1]);
    for (int round = 1; round <= atoi(argv[2]); round++) {
        for (uint64_t limit = 0; limit <= LIMIT; limit += LIMIT) {
            measure("dma_read", add_reads, n, limit, round);
            measure("token gemm", add_gemm_tokens, n, limit, round);
            measure("token dma", add_dma_tokens, n, limit, round);
        }
    }
    return 0;
}
