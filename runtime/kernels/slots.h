/* slots.h -- a stage of a command takes a slot of the engine while it waits and is served. */
#ifndef SLOTS_H
#define SLOTS_H
#include "kernels/kernels.h"

/* A stage that begins: of which command, and the id of its record. */
struct stage {
    struct command *command;
    struct token *token; /* NULL: the command's own */
    enum op_stage stage;
    uint32_t id;
    uint8_t operand;
    bool data_op;
};

/* A slot for a stage; TXN_NONE: no memory. */
KERNELS_OWN uint32_t slot_new(struct kb_sim *s, const struct stage *stage,
                              struct memory_station *station, bool port);
/* One for what an L2 makes, for the stage in `maker`, that comes to memory `dst`. */
KERNELS_OWN uint32_t slot_of_child(struct kb_sim *s, uint32_t maker, uint32_t dst);
KERNELS_OWN void slot_free(struct kb_sim *s, uint32_t slot);

/*
 * A stage comes to a port or an engine, which it will take for `hold_fs`; bytes go through ports.
 * Returns its slot; TXN_NONE: no memory.
 */
KERNELS_OWN uint32_t stage_begin(struct kb_sim *s, uint64_t t, const struct stage *stage,
                                 enum port port, int64_t hold_fs, uint64_t nbytes);

/*
 * FETCH of a command comes to the read port at *t, and its end is known now: no other stage of its
 * PE can begin before, as it keeps its kernel waiting. Then it needs no slot, and *t is its end.
 * False: events have to tell, by stage_begin().
 */
KERNELS_OWN bool stage_passes(struct kb_sim *s, uint64_t *t, const struct command *c,
                              int64_t hold_fs);

/* What an engine has to do: a product of m x k and k x n, or m elements (k and n are 1). */
struct engine_work {
    int64_t overhead_fs, cycles_fs;
    uint64_t cycles;
    uint32_t m, k, n;
    uint8_t dtype_a, dtype_b, dtype_acc; /* of a product */
};

/* A stage comes to pe_gemm or pe_math. */
KERNELS_OWN void engine_begin(struct kb_sim *s, uint64_t t, const struct stage *stage,
                              const struct engine_work *work);

#endif
