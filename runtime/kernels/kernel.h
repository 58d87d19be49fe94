/* kernel.h -- all that changes while kernels run: PEs, their commands, tiles and tensors. */
#ifndef KERNEL_H
#define KERNEL_H
#include "machine/address.h"
#include "record/oplog.h"
#include "kernels/co.h"
#include "engine/state.h"
#include "kernels/wakes.h"

/* -- tensors of a kernel -------------------------------------------------------------------- */

enum tensor_kind {
    TENSOR_FREE,   /* given back */
    TENSOR_SCALAR, /* a number */
    TENSOR_PLACE,  /* whatever its address holds: tl_ref(), tl_alloc(), a composite's result */
    TENSOR_VALUE,  /* loaded or computed: keeps the version it has */
};

/* Where the command that makes a tensor stands. */
enum tensor_wait {
    WAIT_NONE,    /* nothing to wait for */
    WAIT_PENDING, /* the command is under way */
    WAIT_ENDED,   /* it has ended, nobody has waited */
    WAIT_OVER,    /* waited for */
};

/* A range of a PE's TCM, shared by a tensor and its views. */
struct tcm_block {
    uint64_t offset, nbytes;
    uint32_t refs;
    struct tcm_block *next; /* by offset */
};

struct tl_tensor {
    uint8_t kind, wait, dtype, space;
    bool loads;     /* made by an asynchronous load: no operand before it was waited for */
    bool hidden;    /* in the TCM, but the MemoryStore does not know, see tcm_show() */
    uint32_t maker; /* op_id; OP_NONE */
    uint32_t owner; /* the PE, by number */
    uint64_t address, nbytes;
    struct dims shape;
    double scalar;
    struct view view;        /* owned; TENSOR_VALUE */
    struct tcm_block *block; /* NULL: takes no room in the TCM */
    uint64_t number;         /* by which tl_release() knows what is younger */
    struct tl_tensor *older, *newer;
};

/* -- commands ------------------------------------------------------------------------------- */

/* A service: what the slot of a transaction is used for in a run of kernels. */
struct work {
    struct memory_station *station;
    struct command *command;
    struct token *token; /* NULL: a command's own stage */
    uint8_t stage;       /* enum op_stage */
    uint8_t operand;     /* DMA_READ of a token: which */
    bool data_op;        /* its service is logged */
    bool port;           /* `station` is one of a PE's */
    uint32_t id;         /* of its record */
    int64_t start_fs;    /* its service has begun */
};

static inline bool work_is_dma(const struct work *w)
{
    return w->stage <= STAGE_DMA_WRITE;
}

/* What a command is, where its operation does not tell. */
enum task { TASK_PLAIN, TASK_SEND, TASK_RECV, TASK_BARRIER, TASK_ATOMIC };

struct queue;
struct barrier;

/* Watched: what a command has waited for another PE so far, and how its kernel went on. */
struct talk {
    uint32_t n_waits, behind_id; /* behind_id: of the longest */
    int64_t since_fs;            /* it waits for a piece, or a slot, or would */
    int64_t wait_fs, longest_fs, wire_fs, overhead_fs;
    int64_t return_fs; /* of a send; < 0: not yet */
    bool waits;        /* for `peer` (a barrier: KB_NO_ID), since since_fs, as piece `id` */
    uint32_t peer, id;
    uint32_t stretch; /* told of its return, or of the last word of a barrier; KB_NO_ID */
};

/* One command of a PE, from its call to its end. */
struct command {
    struct op op;
    struct tl_ctx *pe;
    struct tl_tensor *result; /* borrowed; NULL: none */
    const char *call;         /* "tl_load", for messages */
    tl_here here;
    const struct tl_tensor
        *operand[2 + 2 * TL_EPILOGUES_MAX]; /* to be bound at issue; two for a step */
    uint8_t n_operands;
    bool async;
    uint32_t slot; /* DMA, dot, math: of its transaction or stage */
    uint32_t dst;  /* DMA: the memory, and bytes of it */
    uint64_t nbytes;

    uint8_t task; /* enum task */
    union {
        struct queue *queue; /* send, receive */
        struct barrier *barrier;
        int64_t addend; /* atomic */
    };
    uint32_t pieces, piece, pieces_left; /* in all, to begin next, not ended */

    uint64_t fetch_bytes, store_bytes; /* dot, math */
    int64_t engine_fs;

    /* composite */
    struct work service; /* from its issue to its end */
    bool in_hbm[3];      /* operands that DMA reads, and from which memory */
    uint32_t in_dst[3];
    uint32_t tiles[3];      /* M, K, N */
    uint32_t next_id;       /* of the next token's first stage */
    uint64_t next_token;    /* to enter */
    uint64_t writes_left;   /* DMA_WRITEs that have not ended */
    struct command *behind; /* the next composite of the PE; or in the list of free ones */
    struct command *made;   /* the one made before */
    bool live;

    uint32_t after; /* watched: kb_command.after */
    bool after_end;
    struct talk talk;
};

/* A tile on its way through the stages of a composite. */
struct token {
    struct command *command;
    uint32_t number, i, j, k;
    uint32_t rows, depth, columns; /* of the tile: M, K, N */
    uint32_t next_id;
    uint64_t fetch_bytes;
    uint8_t reads_left, epilogue; /* DMA_READs; the epilogue step at work */
    bool in_epilogue;
    bool last;     /* in K: its output tile is complete */
    uint32_t room; /* of the PE's tile buffers */
    struct token *next_free;

    struct queue *queue; /* of a piece, or a credit */
};

/* -- PEs ------------------------------------------------------------------------------------ */

enum pe_state {
    PE_IDLE,    /* takes no part in the launch, or has ended */
    PE_BEGINS,  /* its kernel starts with its next event */
    PE_ISSUES,  /* called; its command is issued with its next event */
    PE_WAITS,   /* for the end of a command */
    PE_WAKES,   /* goes on with its next event */
    PE_RETURNED /* commands are under way */
};

struct tl_ctx {
    struct memory_station port[N_PORTS];
    uint64_t port_bytes[N_PORTS]; /* of services that have ended; of engines 0 */
    struct kb_sim *sim;
    struct kernels *kernels;
    struct co *co;
    const char *stack; /* of `co`, from its lowest byte */
    size_t stack_bytes;
    uint32_t number; /* over all SIPs and cubes: cube * pes + pe */
    uint32_t src;    /* packed as cost.h has it */
    uint8_t state;
    bool issued;                     /* a command, in this launch */
    struct command *current;         /* called, not yet ended; async: not yet issued */
    const struct tl_tensor *awaited; /* PE_WAITS for an asynchronous one; NULL: for `current` */
    uint32_t outstanding;            /* commands issued and not ended */
    const char *call;                /* the last, and where it stands */
    tl_here here;
    const char *region;
    int64_t atomic;      /* what was there before the last tl_atomic_add() */
    uint64_t ring_bytes; /* of the TCM, at its end: slots of queues to this PE */

    /* composites, in order of issue */
    struct command *composites, *last_composite;
    uint32_t tokens_entered; /* modulo 2^32, as their numbers */
    uint32_t room;           /* for the next token */
    uint8_t *room_taken;     /* [tile_buffers]; owned; NULL until a composite is issued */

    uint32_t tcm; /* its number as a memory, and the address of its first byte */
    uint64_t tcm_address;
    struct tcm_block *blocks; /* by offset */
    struct tl_tensor *newest;
    uint64_t tensors; /* made so far */
    struct host_bytes *host_bytes;
};

/* -- a run of kernels ----------------------------------------------------------------------- */

struct launch {
    struct kb_launch_request request; /* pes owned */
    struct kb_launch_result result;
    bool done;
};

struct kernels {
    struct tl_ctx *pes; /* owned; [cube over all * pes + pe] */
    uint32_t n_pes;
    struct mem *mem; /* borrowed from the host's side */
    struct co_pool *stacks;

    struct launch *launches;                 /* owned */
    size_t n_launches, launches_cap, launch; /* launch: that runs, or will be next */
    bool launched;                           /* it runs */
    uint32_t running;                        /* PEs that have not ended */
    struct tl_ctx *on;                       /* whose kernel is on its stack; NULL: none */

    struct wakes wakes;
    uint32_t ahead;        /* events that a kernel may still run itself, see engine_until() */
    int64_t issue_fs;      /* from a call to the issue of its command */
    int64_t *least_way_fs; /* [unit]: no transaction reaches it sooner; < 0: not known. Owned */

    uint64_t now_fs;
    uint64_t next_id; /* the counter of design 1 */

    struct work *work; /* owned; [slot] */
    uint32_t n_slots, slots_cap, free_slot;

    struct ipcq *ipcq; /* queues and barriers; owned */

    struct command *free_commands, *commands; /* the last made */
    struct token *free_tokens;
    struct tl_tensor *free_tensors;
    struct tcm_block *free_blocks;
    struct chunk *chunks; /* all memory of these */
    struct region *regions;

    struct kb_error error; /* why the run has ended */
};

/* NULL: no memory. */
struct kernels *kernels_new(struct kb_sim *s);
void kernels_free(struct kernels *k);

/* Runs launches until nothing is left, or for `budget` events. As kb_sim_run(). */
kb_status kernels_run(struct kb_sim *s, uint64_t budget, kb_error *why);

/*
 * What follows is between the files that kernels.c compiles as one, which see it as static, so
 * that what is called once is inlined. Nobody else calls it.
 */
#ifdef KERNELS_UNIT
#define KERNELS_OWN static
#else
#define KERNELS_OWN extern
#endif

/* -- between engine and PEs ----------------------------------------------------------------- */

/* An event of class 4: a kernel starts or goes on, or its command is issued.  launch.c */
KERNELS_OWN void kernel_event(struct kb_sim *s, uint64_t t, uint32_t pe);

/* From the kernel's stack: waits until its current command is issued, or has ended.  launch.c */
KERNELS_OWN void kernel_wait(struct tl_ctx *pe);

/* A word reaches a PE, over no station: a credit, or the end of a barrier.  ipcq.c */
KERNELS_OWN void pe_word_arrived(struct kb_sim *s, uint64_t t, uint32_t slot);

/* What a load has read is known: its last byte has been served.  pe.c */
KERNELS_OWN void pe_bind_load(struct kb_sim *s, struct command *c);
/* The sum of an atomic is formed: its element has been served.  pe.c */
KERNELS_OWN void pe_add(struct kb_sim *s, struct command *c);

static inline void pe_data_arrived(struct kb_sim *s, uint32_t slot)
{
    const struct work *w = &s->kernels->work[slot];

    if (w->stage == STAGE_DMA_READ && !w->token)
        pe_bind_load(s, w->command);
    else if (w->stage == STAGE_DMA_WRITE && w->command->task == TASK_ATOMIC)
        pe_add(s, w->command);
}

/* The service of `slot` has ended, and the slot is free.  pe.c */
KERNELS_OWN void pe_stage_done(struct kb_sim *s, uint64_t t, uint32_t slot);

/* A command's transaction joins its channel at once.  These: engine_kernels.c */
KERNELS_OWN void engine_issue(struct kb_sim *s, uint64_t t, uint32_t slot);
/* A tile's joins its channel, or a stage comes to its port or engine, by an event of its own. */
KERNELS_OWN void engine_arrive(struct kb_sim *s, uint64_t t, enum txn_stage stage, uint32_t slot);
/*
 * Runs events, from a kernel's stack, until that kernel's own is next, and takes it. False: that of
 * another kernel is, or all are counted: the kernel yields.
 */
KERNELS_OWN bool engine_until(struct kb_sim *s, uint32_t pe);
/* A word sets out at `t`. */
KERNELS_OWN void engine_send_word(struct kb_sim *s, uint64_t t, int64_t way_fs, uint32_t slot);
/* Ends the run. */
KERNELS_OWN void engine_fail(struct kb_sim *s, kb_status status);

/* -- commands: tl.c makes them, launch.c has them issued, pe.c does them -------------------- */

KERNELS_OWN void pe_issue(struct tl_ctx *pe, uint64_t t);

/* `pe` is going to read or write memory `dst`: the store must know all of it. False: no memory. */
KERNELS_OWN bool pe_look_at(struct tl_ctx *pe, uint32_t dst);
KERNELS_OWN void pe_command_end(struct kb_sim *s, uint64_t t, struct command *c);

/* NULL: no memory. What a command owns goes with it.  pool.c */
KERNELS_OWN struct command *command_new(struct kernels *k);
KERNELS_OWN void command_free(struct kernels *k, struct command *c);
KERNELS_OWN void commands_free_all(struct kernels *k);
KERNELS_OWN struct token *token_new(struct kernels *k);
KERNELS_OWN void token_free(struct kernels *k, struct token *x);

/* The part of operand `i` that a tile takes, and its part of the result: size, first element. */
KERNELS_OWN uint64_t token_part_bytes(const struct token *x, uint32_t i);
KERNELS_OWN uint64_t token_part_address(const struct token *x, uint32_t i);
KERNELS_OWN uint64_t token_out_bytes(const struct token *x);
KERNELS_OWN uint64_t token_out_address(const struct token *x);

/*
 * Ends the run as a mistake of the kernel: "kernel gemm on c0.pe3: tl_load at file:12: ...". It
 * returns; whoever runs on the kernel's stack then calls kernel_leave().
 */
KERNELS_OWN void kernel_error(struct tl_ctx *pe, const char *call, tl_here here, const char *format,
                              ...) __attribute__((format(printf, 4, 5)));
KERNELS_OWN void kernel_no_memory(struct tl_ctx *pe);
KERNELS_OWN _Noreturn void kernel_leave(struct tl_ctx *pe);

/* -- queues between PEs, barriers: ipcq.c --------------------------------------------------- */

/* Sets a command's queue and pieces, or its barrier. False after a message. */
KERNELS_OWN bool ipcq_find_queue(struct command *c, uint32_t sender, uint32_t receiver, int tag);
KERNELS_OWN bool ipcq_find_barrier(struct command *c, const tl_group *group);

KERNELS_OWN void ipcq_send(struct kb_sim *s, uint64_t t, struct command *c);
KERNELS_OWN void ipcq_receive(struct kb_sim *s, uint64_t t, struct command *c);
KERNELS_OWN void ipcq_join(struct kb_sim *s, uint64_t t, struct command *c);
/* A piece is in its slot, or has been taken out of it. */
KERNELS_OWN void ipcq_piece_done(struct kb_sim *s, uint64_t t, const struct work *w);
/* The record of a piece. */
KERNELS_OWN struct op ipcq_record(const struct work *w);
/* What the record of a FETCH or DMA_READ out of a slot has beside its stage. */
KERNELS_OWN void ipcq_set_moved(struct op_token *r, const struct token *x);
/* Messages that are in their slots for ever. */
KERNELS_OWN void ipcq_count_unreceived(const struct kernels *k, kb_launch_result *r);
/* Queues and barriers are gone, and the room that they had in memories. */
KERNELS_OWN void ipcq_clear(struct kernels *k);
KERNELS_OWN void ipcq_free(struct kernels *k);

/* -- what is told to who looks for races: touch.c ------------------------------------------- */

/* A command of the PE has just been issued; an atomic has taken effect. */
KERNELS_OWN void touch_issued(struct tl_ctx *pe, struct command *c);
KERNELS_OWN void touch_atomic(struct kb_sim *s, struct command *c);
/* The kernel has waited for a tensor; it looks at bytes of one in the TCM. */
KERNELS_OWN void touch_waited(struct tl_ctx *pe, const struct tl_tensor *x);
KERNELS_OWN void touch_data(struct tl_ctx *pe, const char *call, tl_here here, uint64_t address,
                            uint64_t nbytes);

/* Nothing is pending, and kernels have not ended: says who waits for whom.  deadlock.c */
KERNELS_OWN kb_status deadlock(struct kb_sim *s);

/* -- tensors and TCM: pool.c ---------------------------------------------------------------- */

KERNELS_OWN struct tl_tensor *tensor_new(struct tl_ctx *pe,
                                         enum tensor_kind kind); /* NULL: no memory */
KERNELS_OWN void tensor_free(struct tl_ctx *pe, struct tl_tensor *x);

enum tcm_result { TCM_OK, TCM_FULL, TCM_NO_MEMORY };
/* The lowest range of `nbytes` that fits, 64-byte aligned; sets x->block and x->address. */
KERNELS_OWN enum tcm_result tcm_alloc(struct tl_ctx *pe, struct tl_tensor *x);
/* The message of TCM_FULL. */
KERNELS_OWN void tcm_say_full(struct tl_ctx *pe, const char *call, tl_here here, uint64_t nbytes);
KERNELS_OWN void tensors_free_all(struct tl_ctx *pe);

/*
 * A PE's own results are in its TCM, but who would look there? Only when another PE comes, and
 * when the kernel ends, are those written to the MemoryStore that have not been. What tl_free()
 * gave back before is gone. False: no memory.
 */
KERNELS_OWN bool tcm_show(struct tl_ctx *pe);

/* Names that tl_region() has kept.  tl.c */
KERNELS_OWN void regions_free(struct kernels *k);

/* All that the pools have made.  pool.c */
KERNELS_OWN void pool_free(struct kernels *k);

/* Zeroed memory that is freed with the PE; NULL: no memory.  launch.c */
KERNELS_OWN void *launch_host_bytes(struct tl_ctx *pe, size_t nbytes);

#endif
