/* llm_bed.h -- a few operations of a model on numbers: rooms are filled, the kernel runs, and what
 * it leaves is read. */
#ifndef LLM_BED_H
#define LLM_BED_H
#include "support/any_limits.h"
#include "support/any_topology.h"
#include "support/rig.h"

#include "base/rng.h"
#include "benches/llm/llm_place.h"
#include "cli/llm/run.h"
#include <stdio.h>
#include <string.h>

static inline float *random_floats(struct rng *r, int64_t n)
{
    float *x = calloc((size_t)n + 1, sizeof *x);

    assert_non_null(x);
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)(rng_unit(r) - 0.5);
    return x;
}

struct bed {
    const void *of; /* what the test fills it with */
    struct graph g;
    struct shape s;
    struct chip chip;
    struct llm_step step;
    char *bytes; /* of the rooms of all PEs */
};

static inline const struct llm_op *op_of(const struct graph *g, const char *id)
{
    for (size_t i = 0; i < g->n; i++)
        if (strcmp(g->op[i].id, id) == 0)
            return &g->op[i];
    fail_msg("there is no operation %s", id);
    return NULL;
}

/* The operations of a layer from one to another, without that. */
static inline void take_ops(struct graph *g, const char *from, const char *to)
{
    size_t first = (size_t)(op_of(g, from) - g->op), n = 0;

    while (strcmp(g->op[first + n].id, to) != 0)
        n++;
    memmove(g->op, g->op + first, n * sizeof *g->op);
    g->n = n;
    g->layers = 1;
    for (size_t i = 0; i < n; i++)
        g->op[i].tile = (struct llm_tile){3, 5, 1000};
}

/* The byte of the room of PE (r, c) of a rank, as numbers. */
static inline float *room_at(const struct bed *b, int64_t rank, int64_t r, int64_t c, uint64_t at)
{
    uint32_t pe = b->step.pe_of[rank * b->step.pes + r * b->step.q + c];

    return (float *)(void *)(b->bytes + pe * b->g.room + at);
}

/* Calls `fill` for each PE. */
static inline void each_pe(struct bed *b,
                           void (*fill)(struct bed *b, int64_t rank, int64_t r, int64_t c))
{
    for (int64_t rank = 0; rank < b->step.ranks; rank++)
        for (int64_t r = 0; r < b->step.p; r++)
            for (int64_t c = 0; c < b->step.q; c++)
                fill(b, rank, r, c);
}

/* Part (r, c) of a matrix of all tokens. */
static inline void fill_rows(struct bed *b, const struct llm_matrix *m, const float *from,
                             int64_t rank, int64_t r, int64_t c)
{
    float *to = room_at(b, rank, r, c, m->at);

    for (int64_t i = share(m->rows, r, b->step.p); i < share(m->rows, r + 1, b->step.p); i++)
        for (int64_t k = share(m->cols, c, b->step.q); k < share(m->cols, c + 1, b->step.q); k++)
            *to++ = from[i * m->cols + k];
}

/* Runs and computes the operations; `bytes` become those that are left. */
static inline void run_bed(struct bed *b)
{
    static const kb_placement by_rows = {KB_ROW_WISE, KB_ROW_WISE};
    size_t n = (size_t)b->step.ranks * b->step.pes * (llm_sending(&b->step) ? 2 : 1);
    uint32_t *pes = calloc(n, sizeof *pes), n_pes = 0;
    kb_error why = {""};
    kb_tensor *room;
    kb_sim *sim = new_sim(b->chip.topo, (kb_options){.phase2 = true});

    assert_non_null(pes);
    assert_int_equal(kb_tensor_new(sim, "room", KB_U8,
                                   KB_SHAPE(kb_pe_count(b->chip.topo), (int64_t)b->g.room), by_rows,
                                   &room, &why),
                     KB_OK);
    assert_int_equal(kb_tensor_write(room, b->bytes, &why), KB_OK);
    b->step.room = room;
    for (uint32_t pe = 0; pe < kb_pe_count(b->chip.topo); pe++)
        for (size_t i = 0; i < n; i++)
            if (b->step.pe_of[i] == pe)
                pes[n_pes++] = pe;
    if (kb_launch(sim,
                  &(kb_launch_request){.name = "llm",
                                       .kernel = llm_kernel,
                                       .args = {.tensors = &room, .n_tensors = 1, .user = &b->step},
                                       .pes = pes,
                                       .n_pes = n_pes},
                  &why) != KB_OK ||
        kb_sim_run(sim, 0, &why) != KB_OK ||
        kb_compute(sim, &(kb_compute_options){.verify_ops = true}, &why) != KB_OK ||
        kb_tensor_read(room, b->bytes, &why) != KB_OK)
        fail_msg("%s", why.text);
    kb_sim_free(sim);
    free(pes);
}

/* The bed of a graph that is placed, in pages of 16. */
static inline void make_bed(struct bed *b, int64_t tp, int64_t p)
{
    static int64_t layers_done;
    static bool wrong;
    static size_t n_done;
    size_t done = b->g.n * (size_t)tp * b->chip.unit_pes;

    b->step = (struct llm_step){.op = b->g.op,
                                .n_ops = b->g.n,
                                .layers = 1,
                                .ranks = (uint32_t)tp,
                                .copies = 1,
                                .pes = b->chip.unit_pes,
                                .p = (uint32_t)p,
                                .q = b->chip.unit_pes / (uint32_t)p,
                                .pe_of = b->chip.order,
                                .kv_at = b->g.kv_at,
                                .kv_bytes = b->g.kv_bytes,
                                .kv_dtype = KB_F32,
                                .page = 16,
                                .acc_bytes = b->chip.acc_bytes,
                                .tcm_bytes = b->chip.tcm_bytes,
                                .layers_done = &layers_done,
                                .done = &n_done,
                                .is_wrong = &wrong};
    b->step.end_fs = calloc(done, sizeof *b->step.end_fs);
    b->step.came_fs = calloc(done, sizeof *b->step.came_fs);
    b->step.quiet_fs = calloc(done, sizeof *b->step.quiet_fs);
    b->step.got_fs = calloc((size_t)tp * b->chip.unit_pes, sizeof *b->step.got_fs);
    b->step.agrees = calloc(2, 1);
    b->bytes = malloc(kb_pe_count(b->chip.topo) * b->g.room);
    assert_true(b->step.end_fs && b->step.came_fs && b->step.quiet_fs && b->step.got_fs &&
                b->step.agrees && b->bytes);
    memset(b->bytes, 0x41, kb_pe_count(b->chip.topo) * b->g.room); /* that no one has written */
}

static inline void free_bed(struct bed *b)
{
    free(b->step.end_fs);
    free(b->step.came_fs);
    free(b->step.quiet_fs);
    free(b->step.got_fs);
    free(b->step.agrees);
    free(b->bytes);
    chip_free(&b->chip);
}

#endif
