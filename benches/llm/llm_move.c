/*
 * llm_move.c -- what moves bytes and computes nothing: between ranks, and of a rank alone.
 *
 * Each PE of a rank moves its own part, to and from the PEs of its index in other ranks. What is
 * scattered becomes a matrix of so many times less rows, of whose part in a PE the pieces of all
 * ranks are again that of the whole; what is gathered, one of as many times more.
 *
 * Example: 32 rows of 512 columns on 8 ranks, grid 1 x 8. A PE has 32 x 64 of them; after a
 * reduce_scatter 4 x 64, sums of its index in all ranks; after an all_gather 32 x 64 again.
 */
#include "benches/llm/llm_place.h"

kb_group llm_same_index(const struct llm_pe *me)
{
    uint32_t ranks = me->s->ranks / me->s->copies, first = me->rank - me->rank % ranks;
    uint32_t *pes = tl_alloc_host(me->tl, ranks * sizeof *pes);

    for (uint32_t i = 0; i < ranks; i++)
        pes[i] = me->s->pe_of[(first + i) * me->s->pes + me->index];
    return kb_group_list(me->tl, pes, ranks);
}

static int64_t own_elements(const struct llm_pe *me, const struct llm_matrix *m)
{
    struct llm_part part = own_part(me, m);

    return part.rows * part.cols;
}

/* -- between all ranks ------------------------------------------------------------------------ */

static kb_coll coll_of(const struct llm_pe *me, const struct llm_op *op)
{
    const struct llm_matrix *whole = op->kind == LLM_GATHER ? &op->y : &op->x;

    return (kb_coll){.in = room_of(me, me->index, op->x.at),
                     .out = room_of(me, me->index, op->y.at),
                     .count = own_elements(me, whole),
                     .dtype = op->x.dtype,
                     .op = TL_ADD,
                     .root = op->root};
}

static void between_all(const struct llm_pe *me, const struct llm_op *op)
{
    kb_group group = llm_same_index(me);
    kb_coll coll = coll_of(me, op);

    if (coll.count == 0)
        return;
    if (op->kind == LLM_SCATTER)
        kb_reduce_scatter_at(TL_HERE, me->tl, group, coll);
    else if (op->kind == LLM_GATHER)
        kb_all_gather_at(TL_HERE, me->tl, group, coll);
    else
        kb_broadcast_at(TL_HERE, me->tl, group, coll);
}

/* -- between two ranks ------------------------------------------------------------------------ */

/* The sender first, on either side. */
static void between_two(const struct llm_pe *me, const struct llm_op *op)
{
    int64_t from = op->kind == LLM_TAKE ? op->peer : op->root;
    int64_t to = op->kind == LLM_TAKE ? op->root : op->peer;
    bool sends = me->rank == from && (op->kind == LLM_GIVE || op->both);
    bool takes = me->rank == to && (op->kind == LLM_TAKE || op->both);
    uint32_t *pes = tl_alloc_host(me->tl, 2 * sizeof *pes);
    kb_coll coll = coll_of(me, op);

    pes[0] = me->s->pe_of[from * me->s->pes + me->index];
    pes[1] = me->s->pe_of[to * me->s->pes + me->index];
    if (coll.count > 0 && sends)
        kb_send_at(TL_HERE, me->tl, kb_group_list(me->tl, pes, 2), 1, coll);
    if (coll.count > 0 && takes)
        kb_recv_at(TL_HERE, me->tl, kb_group_list(me->tl, pes, 2), 0, coll);
}

void llm_between(const struct llm_pe *me, const struct llm_op *op)
{
    llm_in_order(me, true);
    (op->kind == LLM_GIVE || op->kind == LLM_TAKE ? between_two : between_all)(me, op);
    llm_in_order(me, false);
}

/* -- of a rank -------------------------------------------------------------------------------- */

/* Each PE loads or stores its share of the bytes, from and to its own slice. */
static void move_own(const struct llm_pe *me, const struct llm_op *op)
{
    int64_t block = me->s->tcm_bytes / 8, n;
    int64_t bytes =
        share(op->bytes, me->index + 1, me->s->pes) - share(op->bytes, me->index, me->s->pes);

    for (int64_t i = 0; i < bytes; i += n) {
        uint64_t mark = tl_mark(me->tl), at = room_of(me, me->index, op->z.at) + (uint64_t)i;

        n = least(block, bytes - i);
        if (op->stores)
            tl_store(me->tl, at, tl_alloc(me->tl, KB_U8, KB_SHAPE(n)));
        else
            tl_load(me->tl, at, KB_U8, KB_SHAPE(n));
        tl_release(me->tl, mark);
    }
}

void llm_move(const struct llm_pe *me, const struct llm_op *op)
{
    if (op->of_host)
        tl_idle(me->tl, op->idle_fs);
    else
        move_own(me, op);
}
