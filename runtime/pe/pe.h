/* pe.h -- the state of one PE, which is also what a kernel is given as its tl_ctx. */
#ifndef PE_H
#define PE_H
#include "kernels/co.h"
#include "kernels/gaps.h"
#include "kernels/kernels_command.h"

enum pe_state {
    PE_IDLE,       /* takes no part in the launch, or has ended */
    PE_BEGINS,     /* its kernel starts with its next event */
    PE_ISSUES,     /* called; its command is issued with its next event */
    PE_WAITS,      /* for the end of a command */
    PE_WAITS_ALL,  /* for the end of all commands */
    PE_WAITS_ROOM, /* for room in its TCM: to issue its command, or to go on if it has called none
                    */
    PE_PAYS,       /* a cost of software; goes on with its next event */
    PE_WAKES,      /* goes on with its next event */
    PE_RETURNED    /* commands are under way */
};

/* What a kernel has waited for costs of software, up to `end_fs`; the command that it calls then
 * counts it as its own time. */
struct paid {
    int64_t launch_fs, collective_fs;
    int64_t end_fs;
    bool counted; /* by the last command */
};

/* Room that slots of queues have taken at the end of a memory: it is free again with the last. */
struct slot_room {
    uint64_t bytes;
    uint32_t queues;
};

/* The memory in which the last address of a call was found, and where that begins. */
struct found_memory {
    uint64_t begin, nbytes; /* nbytes 0: none yet */
    uint32_t dst;
};

/*
 * Each blank line is a new line of the cache: a load touches the first five. With thousands of PEs
 * none of them is there, and prefetch_neighbours() of pe_cpu.c fetches them ahead.
 */
struct tl_ctx {
    _Alignas(64) struct kb_sim *sim;
    struct kernels *kernels;
    struct co *co;
    struct command *current; /* called, not yet ended; async: not yet issued */
    int64_t waited_fs;       /* until then some piece of a message has waited for a channel */
    const struct tl_tensor *awaited; /* PE_WAITS for an asynchronous one; NULL: for `current` */
    const char *stack;               /* of `co`, from its lowest byte */
    uint32_t number;                 /* over all SIPs and cubes: cube * pes + pe */
    uint32_t src;                    /* packed as cost.h has it */
    uint32_t outstanding;            /* commands issued and not ended */
    uint32_t inside;                 /* of them, those that may come to its ports and engines */
    uint8_t state;
    bool issued;               /* a command, in this launch */
    bool overlaps, overlapped; /* tl_async(true): now; before, in this launch */
    struct command *readers;   /* under way, whose operands count them as users */
    struct command *updates;   /* that wait for such */
    uint32_t give_backs;       /* dead tensors whose room is yet to come back */
    uint64_t filled_fs;        /* tl_filled_fs() */
    /* How long tl_alloc() has waited for room just before `room_end_fs`. */
    int64_t room_fs, room_end_fs;

    size_t stack_bytes;
    const char *call; /* the last, and where it stands */
    tl_here here;
    const char *region;
    struct tl_tensor *newest;
    uint64_t tensors;            /* made so far */
    struct persisted *persisted; /* owned: kept from launch to launch */
    char *not_kept;              /* owned: the last name that tl_persisted() did not find; NULL */
    struct launch *launch;       /* borrowed: the last that set out to it */

    struct found_memory found;
    uint64_t tcm_address;       /* of the first byte of its TCM, and its number as a memory */
    struct slot_room slot_room; /* of the TCM: slots of queues to this PE */
    uint64_t held_for_slots;    /* tl_hold_for_slots() */
    uint32_t tcm;
    uint32_t next_buffer; /* for the next token */
    int64_t atomic;       /* what was there before the last tl_atomic_add() */

    struct known_cost cost[2]; /* of its last DMA_READ and DMA_WRITE */

    struct mem_again again; /* what its last load found */
    struct view value;      /* what tl_value() has fetched; owned until it takes it */
    struct command *kept;   /* of a load that has ended, for the next of its shape; NULL: none */

    struct memory_station port[N_PORTS];
    uint64_t port_bytes[N_PORTS]; /* of services that have ended; of engines 0 */
    uint32_t port_count[N_PORTS]; /* of them */

    /* composites, in order of issue */
    struct command *composites, *last_composite;
    struct tl_acc *accs;         /* accumulators, the newest first */
    uint64_t acc_bytes;          /* of them */
    uint32_t n_accs, acc_stores; /* made so far; under way */
    uint8_t *buffer_taken;       /* [tile_buffers]; owned; NULL until a composite is issued */
    struct host_bytes *host_bytes;
    struct paid paid;
    int64_t idle_begin_fs, idle_end_fs; /* of its last tl_idle() */
    int64_t met_fs;                     /* since that: tl_met_fs() */

    struct tcm_block room; /* ranges of the TCM that are taken: before the first, behind the last */
    struct gaps gaps;      /* between them */
    const struct tcm_block *unread; /* the kernel waits until no reader is left of it */
};

#endif
