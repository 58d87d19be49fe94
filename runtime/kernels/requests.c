/* requests.c -- PEs give work to the engine: transactions, stages, words.
 *
 * Apart from engine.c, which handles events and calls the boxes of PEs in turn: so a box calls the
 * engine only downwards.
 */
#include "kernels/requests.h"
#include "kernels/steps.h"

static __attribute__((noinline)) void issue_watched(struct kb_sim *s, int how, uint64_t t,
                                                    uint32_t slot)
{
    issue(s, how, t, slot);
}

void engine_issue(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    if (s->kernels->watched)
        issue_watched(s, how_watched(s), t, slot);
    else
        issue(s, HOW_KERNELS | HOW_CALLED, t, slot);
}

void engine_arrive(struct kb_sim *s, uint64_t t, enum txn_stage stage, uint32_t slot)
{
    s->txns[slot].stage = stage;
    if (s->observer && !observe_issue(s, t, slot))
        return;
    post(s, t, EV_ARRIVE, slot);
}

void engine_send_word(struct kb_sim *s, uint64_t t, int64_t way_fs, uint32_t slot)
{
    s->txns[slot].stage = TXN_CREDIT;
    post(s, after(t, way_fs), EV_HOP, slot);
}

void engine_fail(struct kb_sim *s, kb_status status)
{
    fail(s, status);
}
