/* kernel.h -- kernels in time, slow and obvious: what the product's kernels are held to.
 */
#ifndef JUDGE_KERNEL_H
#define JUDGE_KERNEL_H
#include "judge.h"

/*
 * A program says, for each PE that is launched, which commands its kernel calls one after the
 * other. There is no data, only sizes, addresses and times:
 *
 *     struct judge_program p = {0};
 *     struct judge_run run;
 *     size_t pe = judge_add_kernel(&p, &end);        or judge_all_kernels(t, &p)
 *     judge_add_command(&p, pe, &(struct judge_command){.kind = JUDGE_LOAD, ...});
 *     if (judge_kernels(t, &p, &run)) ... run.kernels[pe].commands[i].end_fs ...
 *     judge_run_clear(&run), judge_program_clear(&p);
 *
 * Fields marked "hint" have no effect on time. They tell a test that runs the same program on
 * the product which tensors and which functions make a command of just these sizes.
 */

#define JUDGE_NONE SIZE_MAX /* no command, no record */

/* -- programs ------------------------------------------------------------------------------- */

enum judge_command_kind {
    JUDGE_LOAD,
    JUDGE_STORE,
    JUDGE_DOT,
    JUDGE_MATH,
    JUDGE_COMPOSITE_GEMM,
    JUDGE_COMPOSITE_MATH,
    JUDGE_WAIT,
    JUDGE_WAIT_ALL,
    JUDGE_SEND,
    JUDGE_RECV,
    JUDGE_BARRIER,
    JUDGE_ATOMIC,
    JUDGE_ACC_DOT,
    JUDGE_ACC_SCALE,
    JUDGE_ACC_STORE,
    JUDGE_VALUE,
    JUDGE_UPDATE, /* of operands[0] by operands[1]: the same tensor as before, from now on `from` */
    JUDGE_KINDS
};

/* Of i4 two elements lie in a byte, and what moves is so many bytes. */
enum judge_dtype { JUDGE_I4, JUDGE_I8, JUDGE_I32, JUDGE_F16, JUDGE_F32, JUDGE_F64 };

/*
 * How many cycles a vector of `lanes` elements takes: 1, special_cycles, 3 + 2*special_cycles. A
 * topk goes through each of its m rows of n once for every topk_width of its k, and a sort l (l +
 * 1) / 2 times, where 2^l is the least power of 2 that is not below n. By index: index_cycles. Of a
 * fused command the cycles of all its steps, of which each is plain or special.
 */
enum judge_class_of_math {
    JUDGE_PLAIN,
    JUDGE_SPECIAL,
    JUDGE_SOFTMAX,
    JUDGE_TOPK,
    JUDGE_SCAN,
    JUDGE_RANDOM,
    JUDGE_SORT,
    JUDGE_INDEX,
    JUDGE_STEPS
};

/* A step of a fused command, which stays in the engine. */
struct judge_step {
    const char *op; /* hint: add, mul, div, exp, sum */
    bool special, reduces;
    uint64_t elements; /* what its cycles count */
    int x, y;          /* hint: an operand of the command; below 0: -1 - the step before */
    bool stored;       /* hint: as f16 */
};

/* Where a tensor is, row-major. In the PE's own TCM it needs no DMA; a scalar needs nothing. */
struct judge_operand {
    enum { JUDGE_SCALAR, JUDGE_OWN_TCM, JUDGE_AT } where;
    struct judge_end at; /* JUDGE_AT: a slice, an SRAM or another PE's TCM; and the offset in it */
    uint64_t offset;
    size_t from; /* hint, of JUDGE_OWN_TCM: the command of this PE that made it */
};

/* What an epilogue's FETCH takes for a tile [m, n]: nothing, n, m or m*n elements. */
enum judge_part { JUDGE_NO_PART, JUDGE_ROW, JUDGE_COLUMN, JUDGE_FULL };

struct judge_epilogue {
    const char *op; /* hint: add, mul, maximum (with the scalar 0), exp, tanh */
    bool special;
    enum judge_part part; /* its tensor operand, in TCM: none, [N], [M,1], [M,N] */
    uint32_t element_bytes;
    size_t from; /* hint, as judge_operand's */
};

enum {
    JUDGE_MOST_OPERANDS = 3,
    JUDGE_MOST_EPILOGUES = 4,
    JUDGE_TAGS = 16,
    JUDGE_MOST_TARGETS = 6,
    JUDGE_MOST_AFTER = 4
};
enum { JUDGE_MOST_STEPS = 16 };

struct judge_command {
    enum judge_command_kind kind;
    const char *op;         /* hint, of math: neg add mul exp div fma softmax sum full topk
                               cumsum sort random take, of k rows of [M,N] by the second operand;
                               fused, of [M,N] and, if there is a second operand, [M,1] */
    enum judge_dtype in;    /* of operands: of a product it has the rate; hint: of what a load or a
                               store moves; of a send or a recv it says where pieces are cut; of an
                               atomic its wrap */
    bool mixed;             /* a product whose second operand is of another type, ... */
    enum judge_dtype other; /* ... this one */
    uint32_t batch;         /* dot: so many products [M,K] x [K,N] in one command; 0: one */
    bool one_b;             /* hint: all by the same second operand */
    enum judge_dtype out;   /* hint: of the result; of the first acc_dot, of the accumulator */
    bool async;             /* load, store, recv: returns at issue; a composite always does */
    bool overlaps;       /* under tl_async(true): then `from` is no hint, but what it waits for */
    struct judge_end at; /* load: source; store: destination; a composite: output; atomic: its
                            slice or SRAM; send, recv: the other PE */
    uint64_t offset;     /* in that memory */
    uint32_t rows;       /* load, store: of so many rows, `stride` bytes apart; 0: it is none */
    uint64_t stride;
    bool listed;      /* hint: as a list of pieces */
    size_t n_targets; /* load, store: a multicast, of these memories; 0: it is none */
    struct judge_end targets[JUDGE_MOST_TARGETS]; /* `at` and `offset` are those of the first */
    uint64_t offsets[JUDGE_MOST_TARGETS];
    uint64_t nbytes;        /* load, store, atomic: of the transaction; dot, math: of the result;
                               send, recv: of all pieces together */
    uint64_t operand_bytes; /* dot, math: of all tensor operands together, as stored; value,
                               update: what is fetched of its operand */
    uint64_t elements;      /* math: what its cycles count */
    uint32_t m, k, n;       /* dot, composite_gemm: [M,K] x [K,N]; composite_math: [M,N], where
                               the rows of higher ranks are multiplied out and [N] is [1,N].
                               Hint, of math: the operands' shape [M,N]; no hint of a topk */
    uint32_t in_bytes;      /* composites: of an element of the operands, if not mixed */
    uint32_t out_bytes;     /* composites: of an element of the output */
    enum judge_class_of_math class;
    size_t n_operands; /* composites; composite_gemm: 2. Hint for dot and math: `from` */
    struct judge_operand operands[JUDGE_MOST_OPERANDS];
    size_t n_epilogues; /* composite_gemm */
    struct judge_epilogue epilogues[JUDGE_MOST_EPILOGUES];
    size_t n_steps; /* math, fused: of class JUDGE_STEPS */
    struct judge_step steps[JUDGE_MOST_STEPS];
    size_t from;   /* hint, of a store or a send: the command that made its tensor */
    size_t target; /* wait: the earlier command that it waits for */
    uint32_t tag;  /* send, recv */
    size_t group;  /* barrier: index into the program's groups */
    int64_t value; /* atomic: is added */
    size_t acc;    /* acc_...: the number of the accumulator in its kernel; its commands have one
                      shape [m,n], the first is an acc_dot, the last an acc_store */
};

/* The kernel of one PE. */
struct judge_kernel {
    struct judge_end pe;
    size_t launch; /* 0.. */
    struct judge_command *commands;
    size_t n, room;
};

/* PEs that wait for each other, in any order; the same ones are the same group. */
struct judge_group {
    struct judge_end *pes;
    size_t n;
};

/* What a launch waits for: the one before it in its stream, those in `after`, and all before it on
 * its PEs. */
struct judge_launch {
    size_t stream, after[JUDGE_MOST_AFTER], n_after;
};

/* All zero is an empty one. Without `launches` each is in a stream of its own, and waits for none.
 */
struct judge_program {
    struct judge_kernel *kernels;
    size_t n, room;
    struct judge_group *groups;
    size_t n_groups, groups_room;
    struct judge_launch *launches;
    size_t n_launches;
};

/* Adds a PE that does nothing yet, and returns its index; adds all PEs, in global order. */
size_t judge_add_kernel(struct judge_program *p, const struct judge_end *pe);
void judge_all_kernels(const struct judge_topo *t, struct judge_program *p);

/* Copies `c` to the end of a kernel; returns its index there. */
size_t judge_add_command(struct judge_program *p, size_t kernel, const struct judge_command *c);

/* Copies a list of PEs, each of them once; returns the group's index. */
size_t judge_add_group(struct judge_program *p, const struct judge_end *pes, size_t n);

/* The next launch, in order of their numbers: a program with one has all of them. */
void judge_add_launch(struct judge_program *p, const struct judge_launch *launch);

void judge_program_clear(struct judge_program *p);

/* The program as text, a line for each command. */
void judge_print_program(FILE *out, const struct judge_program *p);

/* sip * cubes * pes + cube * pes + unit */
uint64_t judge_global_pe(const struct judge_topo *t, const struct judge_end *pe);

/* docs/kernels.md "Where data lie": the global address of an offset in a slice, an SRAM or a TCM */
uint64_t judge_address(const struct judge_topo *t, const struct judge_end *memory, uint64_t offset);

/* -- runs ----------------------------------------------------------------------------------- */

enum judge_component {
    JUDGE_PE_DMA,
    JUDGE_PE_FETCH_STORE,
    JUDGE_PE_GEMM,
    JUDGE_PE_MATH,
    JUDGE_PE_SCHEDULER,
    JUDGE_NOWHERE, /* the log has no record of this id: a recv as a whole, a barrier */
};

enum judge_stage {
    JUDGE_COMMAND, /* the record of the command itself */
    JUDGE_DMA_READ,
    JUDGE_DMA_WRITE,
    JUDGE_FETCH,
    JUDGE_STORED, /* STORE */
    JUDGE_GEMM_STAGE,
    JUDGE_MATH_STAGE,
    JUDGE_COPY, /* ipcq_copy: a piece of a send */
};

/*
 * One record of the op log: a service at a component. Every id that is drawn has exactly one, so
 * that records[i] is op i; those at JUDGE_NOWHERE are none of the log's. Fields that a record does
 * not use are 0; parent is JUDGE_NONE in that of a command.
 *
 * command      load, store: its transaction at pe_dma. dot, math: its time on the engine.
 *              composites: from issue to the end of the last token, at pe_scheduler. A send has
 *              only its pieces, one JUDGE_COPY each; the first has the command's id.
 * TileToken    the rest. FETCH and STORE of a dot or a math command are token 0, tile 0, 0, 0;
 *              the FETCHes or DMA_READs of a recv have the pieces' numbers.
 */
struct judge_op_record {
    uint64_t op_id, parent;
    size_t kernel, command; /* indices into the program */
    enum judge_component component;
    enum judge_stage stage;
    int64_t t_issue, t_start, t_end; /* in fs; t_issue: the command's; t_start: server taken */
    uint32_t token;                  /* counts the tokens of one command */
    uint32_t tile[3];  /* [i, j, k]: of M, N, K; composite_math: of rows, columns, 0 */
    uint32_t operand;  /* DMA_READ: 0 a, 1 b, ... */
    uint64_t address;  /* global: what a DMA reads or writes in the memory; of a piece, its slot */
    uint64_t nbytes;   /* DMA, FETCH, STORE */
    uint32_t m, k, n;  /* GEMM */
    uint64_t elements; /* MATH */
    /* What let it come to its first station: the end of this op; JUDGE_NONE: its command's issue */
    uint64_t after;
    uint64_t order; /* of its end, among all ends and returns */
};

struct judge_command_times {
    int64_t call_fs;
    int64_t issue_fs;  /* wait: the call */
    int64_t return_fs; /* when the kernel goes on */
    int64_t end_fs;    /* wait: the return */
    uint64_t op_id;    /* wait: JUDGE_NONE */
    uint32_t tokens;   /* of a composite */
    uint64_t order;    /* of its end, as in records */
    bool blocked;      /* wait: the end had not come */
    int64_t start_fs;  /* max(issue, ends of what makes its operands) */
    int64_t before;    /* atomic: the sum of all that was added to this integer before */
};

struct judge_kernel_times {
    int64_t arrive_fs;                    /* its launch, at pe_cpu */
    int64_t launch_fs;                    /* its launch sets out */
    int64_t start_fs;                     /* it, and all others of its launch */
    int64_t return_fs;                    /* from the kernel */
    uint64_t return_order;                /* as in records */
    int64_t end_fs;                       /* that, or the end of its last command */
    int64_t response_fs;                  /* that is back at the host */
    struct judge_command_times *commands; /* as many as its kernel has */
};

struct judge_run {
    int64_t start_fs;                   /* the first kernels', counted from the launch at 0 */
    int64_t kernel_fs;                  /* last end_fs - start_fs */
    int64_t total_fs;                   /* last response_fs */
    struct judge_kernel_times *kernels; /* in the program's order */
    size_t n_kernels;
    struct judge_op_record *records; /* by op_id */
    size_t n_records;
    struct judge_use *uses; /* stations that were taken: of TCMs and engines, too */
    size_t n_uses;
    struct judge_waits waits; /* of every job at every station, in order of their ends */
    uint64_t fingerprint;     /* arrivals and completions of stations, transactions' done */
};

/*
 * Runs `p` on `t`. False after a message: a transaction without a route, a wait for what cannot
 * be waited for, a tensor without elements, a PE twice, bytes received that are not those sent, a
 * deadlock, or a time past 2^63 fs. Give `out` back with judge_run_clear(), also
 * then.
 */
bool judge_kernels(const struct judge_topo *t, const struct judge_program *p,
                   struct judge_run *out);
void judge_run_clear(struct judge_run *run);

/* All times of a run as text: of each kernel, each command, each record. */
void judge_print_run(FILE *out, const struct judge_program *p, const struct judge_run *run);

/* -- random programs (random_kernel.c) ------------------------------------------------------ */

/* All addresses in slices are below. Where slices are interleaved, slice n of a program means the
 * addresses of its cube from n * JUDGE_WINDOW on. */
enum { JUDGE_WINDOW = 65536 };

/*
 * judge_random_topo(), except that all slices start at multiples of 64 of the global address too (a
 * sixth of a GB does not).
 */
void judge_random_kernel_topo(FILE *out, uint64_t seed);

/*
 * Adds kernels for some or all PEs of `t`, in any order; the same seed gives the same ones. A
 * kernel may be run as it stands if the first JUDGE_WINDOW bytes of every slice that is read have
 * been written: what it reads in an SRAM or in another's TCM, it has stored there itself before
 * (a TCM's upper half); what it computes with or stores, it has loaded (and waited for) or made,
 * whole, as many elements of that dtype. Its tensors take less than half of a 16 MB TCM. All
 * addresses are multiples of 64. dtypes: dot and composite_gemm take i8 to i32, f16 to f16 or f32,
 * f32, f64, an epilogue's tensor is of the output's; math takes f16, f32, f64. sum and softmax go
 * over the last axis; sum's result has M elements; full's has M*N.
 */
void judge_random_program(const struct judge_topo *t, uint64_t seed, struct judge_program *p);

/*
 * The same with sends, receives, barriers and atomics between the other commands; there is no
 * deadlock. Atomics are of i32 in the first JUDGE_CELLS bytes of slices and of i8 in as many
 * behind them; those of an SRAM at JUDGE_CELLS_AT are copies of a slice's first bytes. Nothing else
 * writes to the lower half of the window.
 */
enum { JUDGE_CELLS = 128, JUDGE_CELLS_AT = 1 << 17 };
void judge_random_talk(const struct judge_topo *t, uint64_t seed, struct judge_program *p);

/* Either of these, with stretches of commands under tl_async(true) and without. */
void judge_random_overlap(const struct judge_topo *t, uint64_t seed, bool talks,
                          struct judge_program *p);
#endif
